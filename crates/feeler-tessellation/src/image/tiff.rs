//! TIFF files: all slices in one file, or one file for each slice.
//!
//! The crate `tiff` belongs to the project `image-rs` and decodes what segmentation programs write, including
//! strips, tiles, and compression by LZW and deflate. Its decoders of JPEG and fax are not enabled, because
//! they do not preserve labels.

use super::{ImageProblem, VoxelImage, labels, voxel_count, whole};
use feeler_geom::{P3, V3};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult};

/// Slices read so far.
#[derive(Default)]
struct Stack {
    size: Option<(u32, u32)>,
    slices: usize,
    labels: Vec<u32>,
}

pub(super) fn read_file(path: &Path) -> Result<VoxelImage, ImageProblem> {
    let mut stack = Stack::default();
    stack.add_file(path)?;
    stack.finish()
}

pub(super) fn read_folder(folder: &Path) -> Result<VoxelImage, ImageProblem> {
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(ImageProblem::Read)? {
        let path = entry.map_err(ImageProblem::Read)?.path();
        let is_slice =
            path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tif") || e.eq_ignore_ascii_case("tiff"));
        if is_slice {
            files.push(path);
        }
    }
    files.sort();
    let mut stack = Stack::default();
    for file in &files {
        stack.add_file(file).map_err(|e| match e {
            ImageProblem::Tiff(text) => {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                ImageProblem::Tiff(format!("{name}: {text}"))
            }
            other => other,
        })?;
    }
    stack.finish()
}

impl Stack {
    fn add_file(&mut self, path: &Path) -> Result<(), ImageProblem> {
        let not_tiff = |e: tiff::TiffError| ImageProblem::Tiff(e.to_string());
        let file = File::open(path).map_err(ImageProblem::Read)?;
        let mut decoder = Decoder::new(BufReader::new(file)).map_err(not_tiff)?;
        loop {
            let slice = self.slices + 1;
            let (x, y) = decoder.dimensions().map_err(not_tiff)?;
            let (a, b) = *self.size.get_or_insert((x, y));
            if (a, b) != (x, y) {
                return Err(ImageProblem::SliceSize(slice, x, y, a, b));
            }
            voxel_count([x.into(), y.into(), slice as u64])?;
            if !matches!(decoder.colortype().map_err(not_tiff)?, ColorType::Gray(_)) {
                return Err(ImageProblem::Colours(slice));
            }
            let decoded = decoder.read_image().map_err(not_tiff)?;
            let start = self.labels.len();
            let found = slice_labels(decoded).map_err(|e| match e {
                ImageProblem::Label(k, value) => ImageProblem::Label(start + k, value),
                other => other,
            })?;
            let (found_len, expected) = (found.len() as u64, u64::from(x) * u64::from(y));
            if found_len != expected {
                return Err(ImageProblem::Tiff(format!(
                    "slice {slice} has {found_len} values instead of {expected}; \
                     save it with 8, 16 or 32 bits"
                )));
            }
            self.labels.extend(found);
            self.slices = slice;
            if !decoder.more_images() {
                return Ok(());
            }
            decoder.next_image().map_err(not_tiff)?;
        }
    }

    fn finish(self) -> Result<VoxelImage, ImageProblem> {
        let (x, y) = self.size.ok_or(ImageProblem::NoSlices)?;
        let size = [x, y].map(|n| n as usize);
        Ok(VoxelImage {
            size: [size[0], size[1], self.slices],
            spacing: V3::repeat(1.0),
            origin: P3::origin(),
            labels: self.labels,
        })
    }
}

fn slice_labels(values: DecodingResult) -> Result<Vec<u32>, ImageProblem> {
    match values {
        DecodingResult::U8(v) => labels(v.into_iter(), |x| Some(x.into())),
        DecodingResult::I8(v) => labels(v.into_iter(), |x| x.try_into().ok()),
        DecodingResult::U16(v) => labels(v.into_iter(), |x| Some(x.into())),
        DecodingResult::I16(v) => labels(v.into_iter(), |x| x.try_into().ok()),
        DecodingResult::U32(v) => Ok(v),
        DecodingResult::I32(v) => labels(v.into_iter(), |x| x.try_into().ok()),
        DecodingResult::U64(v) => labels(v.into_iter(), |x| x.try_into().ok()),
        DecodingResult::I64(v) => labels(v.into_iter(), |x| x.try_into().ok()),
        DecodingResult::F32(v) => labels(v.into_iter(), |x| whole(x.into())),
        DecodingResult::F64(v) => labels(v.into_iter(), whole),
        DecodingResult::F16(_) => Err(ImageProblem::Tiff(
            "16-bit floating-point values are not supported; save whole numbers".into(),
        )),
    }
}
