//! NRRD files, with the voxels in the same file or in another one.
//!
//! # Source
//! *Definition of NRRD file format*, Teem. Encodings raw, gzip and text; three axes. The crates on the
//! registry that read NRRD have no gzip or no detached headers; the header is a list of `name: value` lines.

use super::raw::{self, ByteOrder, RawLayout, VoxelType};
use super::{ImageProblem, VoxelImage, labels, voxel_count, whole};
use feeler_geom::{P3, V3};
use feeler_hierarchy::whole::write_whole;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::path::Path;

/// Maximum length of a header (bytes). With a larger value, a file of another format is read for longer
/// before it is rejected; a smaller one rejects files with many key/value pairs.
const MAX_HEADER: u64 = 1 << 20;

fn wrong(field: &'static str, problem: impl Into<String>) -> ImageProblem {
    ImageProblem::Header { field, problem: problem.into() }
}

/// Fields of the header, with lower-case names.
struct Header(HashMap<String, String>);

impl Header {
    fn get(&self, field: &'static str) -> Option<&str> {
        self.0.get(field).map(String::as_str)
    }

    fn need(&self, field: &'static str) -> Result<&str, ImageProblem> {
        self.get(field).ok_or_else(|| wrong(field, "is missing"))
    }

    fn read(reader: &mut impl BufRead) -> Result<Self, ImageProblem> {
        let mut reader = reader.take(MAX_HEADER);
        let mut line = Vec::new();
        let mut fields = HashMap::new();
        let mut is_first = true;
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(ImageProblem::Read)?;
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end();
            if is_first && !text.starts_with("NRRD000") {
                return Err(wrong("NRRD", "the file does not begin with NRRD000, so it is not an NRRD file"));
            }
            if text.is_empty() {
                let is_cut = read == 0 && reader.limit() == 0;
                return if is_cut { Err(wrong("NRRD", "the header has no end")) } else { Ok(Self(fields)) };
            }
            if !is_first && !text.starts_with('#') && !text.contains(":=") {
                let Some((name, value)) = text.split_once(':') else {
                    return Err(wrong("NRRD", format!("the line '{text}' is not 'name: value'")));
                };
                fields.insert(name.trim().to_lowercase(), value.trim().to_owned());
            }
            is_first = false;
        }
    }
}

fn numbers<T: std::str::FromStr>(field: &'static str, text: &str) -> Result<[T; 3], ImageProblem> {
    let list: Option<Vec<T>> = text.split_whitespace().map(|t| t.parse().ok()).collect();
    let list = list.and_then(|l| <[T; 3]>::try_from(l).ok());
    list.ok_or_else(|| wrong(field, format!("'{text}' is not three numbers; images need three axes")))
}

fn vector(field: &'static str, text: &str) -> Result<V3, ImageProblem> {
    let inner = text.trim().trim_start_matches('(').trim_end_matches(')').replace(',', " ");
    Ok(V3::from(numbers(field, &inner)?))
}

/// Returns the edge lengths of a voxel.
fn spacing(header: &Header) -> Result<V3, ImageProblem> {
    let spacing = if let Some(text) = header.get("space directions") {
        let vectors: Vec<&str> = text.split_inclusive(')').map(str::trim).filter(|s| !s.is_empty()).collect();
        let mut out = V3::zeros();
        if vectors.len() != 3 {
            return Err(wrong("space directions", format!("'{text}' is not three vectors")));
        }
        for (k, v) in vectors.iter().enumerate() {
            let v = vector("space directions", v)?;
            out[k] = v[k];
            if (0..3).any(|j| j != k && v[j] != 0.0) {
                return Err(wrong(
                    "space directions",
                    "axes are not parallel to x, y and z; resample the image",
                ));
            }
        }
        out
    } else if let Some(text) = header.get("spacings") {
        V3::from(numbers("spacings", text)?)
    } else {
        V3::repeat(1.0)
    };
    if spacing.iter().all(|x| *x > 0.0 && x.is_finite()) {
        Ok(spacing)
    } else {
        Err(wrong("spacings", format!("{:?} are not positive", spacing.as_slice())))
    }
}

pub(super) fn read(path: &Path) -> Result<VoxelImage, ImageProblem> {
    let mut reader = BufReader::new(std::fs::File::open(path).map_err(ImageProblem::Read)?);
    let header = Header::read(&mut reader)?;
    let sizes: [u64; 3] = numbers("sizes", header.need("sizes")?)?;
    let voxel_type: VoxelType = header.need("type")?.parse().map_err(|e: String| wrong("type", e))?;
    let order = match header.get("endian") {
        Some("big") => ByteOrder::Big,
        Some("little") => ByteOrder::Little,
        Some(other) => return Err(wrong("endian", format!("'{other}' is not little or big"))),
        None if voxel_type.bytes() == 1 => ByteOrder::Little,
        None if header.get("encoding").is_some_and(is_text) => ByteOrder::Little,
        None => return Err(wrong("endian", "is missing")),
    };
    let layout = RawLayout { size: sizes, voxel_type, order };
    voxel_count(sizes)?;
    for field in ["line skip", "byte skip"] {
        if header.get(field).is_some_and(|v| v != "0") {
            return Err(wrong(field, "is not supported; save the image without a second header"));
        }
    }
    let data = header.get("data file").or_else(|| header.get("datafile"));
    let labels = match data {
        None => read_encoded(reader, &header, &layout)?,
        Some(name) if name.starts_with("LIST") || name.contains('%') => {
            return Err(wrong("data file", "several files are not supported; join them in one"));
        }
        Some(name) => {
            let file = path.parent().unwrap_or(Path::new("")).join(name);
            let opened = std::fs::File::open(&file);
            let opened = opened.map_err(|e| wrong("data file", format!("{name} cannot be read: {e}")))?;
            read_encoded(BufReader::new(opened), &header, &layout)?
        }
    };
    let spacing = spacing(&header)?;
    let mut origin = P3::origin();
    if let Some(text) = header.get("space origin") {
        // The origin of NRRD is the centre of the first voxel.
        origin = P3::from(vector("space origin", text)? - spacing * 0.5);
    }
    if !origin.iter().all(|x| x.is_finite()) {
        return Err(wrong("space origin", "is not finite"));
    }
    let size = sizes.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    Ok(VoxelImage { size, spacing, origin, labels })
}

fn is_text(encoding: &str) -> bool {
    ["ascii", "text", "txt"].contains(&encoding)
}

fn read_encoded(
    mut reader: impl BufRead,
    header: &Header,
    layout: &RawLayout,
) -> Result<Vec<u32>, ImageProblem> {
    match header.need("encoding")? {
        "raw" => raw::read_labels(reader, layout),
        "gzip" | "gz" => raw::read_labels(flate2::bufread::MultiGzDecoder::new(reader), layout),
        encoding if is_text(encoding) => {
            let mut text = String::new();
            reader.read_to_string(&mut text).map_err(ImageProblem::Read)?;
            let found = labels(text.split_whitespace(), |t| t.parse().ok().and_then(whole))?;
            let expected = voxel_count(layout.size)?;
            if found.len() == expected {
                Ok(found)
            } else {
                let count = |n: usize| n as u64 * layout.voxel_type.bytes() as u64;
                Err(ImageProblem::Length { found: count(found.len()), expected: count(expected) })
            }
        }
        other => Err(wrong("encoding", format!("'{other}' is not supported; save it as raw or gzip"))),
    }
}

pub(super) fn write(image: &VoxelImage, path: &Path) -> Result<(), ImageProblem> {
    let [x, y, z] = image.size;
    let (s, o) = (image.spacing, image.origin + image.spacing * 0.5);
    let mut out = format!(
        "NRRD0004\ntype: uint32\ndimension: 3\nspace dimension: 3\nsizes: {x} {y} {z}\nspace directions: \
         ({},0,0) (0,{},0) (0,0,{})\nspace origin: ({},{},{})\nendian: little\nencoding: gzip\n\n",
        s.x, s.y, s.z, o.x, o.y, o.z
    )
    .into_bytes();
    let mut encoder = flate2::write::GzEncoder::new(&mut out, flate2::Compression::fast());
    let bytes: Vec<u8> = image.labels.iter().flat_map(|l| l.to_le_bytes()).collect();
    encoder.write_all(&bytes).and_then(|()| encoder.finish().map(|_| ())).map_err(ImageProblem::Write)?;
    write_whole(path, &out).map_err(|e| ImageProblem::Write(e.source))
}
