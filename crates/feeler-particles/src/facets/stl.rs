//! Walls from STL files, binary and ascii; the only place that sees `stl_io`.

use super::error::FacetError;
use super::wall::FacetWall;
use feeler_geom::P3;
use std::io::Cursor;
use std::path::Path;

impl FacetWall {
    /// A wall from an STL file, whose coordinates are multiplied by `scale` (mm of one of its units: STL has
    /// none).
    ///
    /// # Errors
    /// A file that cannot be read, is no STL, or whose triangles are no wall; told with its name.
    pub fn read_stl(file: &Path, scale: f64) -> Result<Self, FacetError> {
        let stl = |problem: String| FacetError::Stl { file: file.to_path_buf(), problem };
        if !(scale.is_finite() && scale > 0.0) {
            return Err(FacetError::Setting("the scale of an STL file must be above 0"));
        }
        let bytes = std::fs::read(file).map_err(|e| stl(e.to_string()))?;
        let (points, triangles) = triangles(bytes, scale).map_err(stl)?;
        Self::new(&points, &triangles)
            .map_err(|error| FacetError::InFile { file: file.to_path_buf(), error: Box::new(error) })
    }
}

/// Points and triangles of an STL file's bytes, three points for each.
fn triangles(mut bytes: Vec<u8>, scale: f64) -> Result<(Vec<P3>, Vec<[u32; 3]>), String> {
    if bytes.is_empty() {
        return Err("the file is empty".to_owned());
    }
    // Some programs begin binary files with the word that ascii files begin with.
    if is_binary(&bytes) {
        bytes[..HEADER].fill(0);
    } else if !bytes.trim_ascii_start().starts_with(b"solid") {
        return Err(
            "it is neither ascii, which begins with 'solid', nor as long as a binary file says".to_owned()
        );
    }
    let mut reader = Cursor::new(bytes);
    let facets = stl_io::create_stl_reader(&mut reader).map_err(|e| e.to_string())?;
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for (k, facet) in facets.enumerate() {
        let facet = facet.map_err(|e| format!("facet {k}: {e}"))?;
        let from = u32::try_from(points.len()).map_err(|_| "it has too many facets".to_owned())?;
        points.extend(facet.vertices.iter().map(|v| P3::from(v.0.map(|c| f64::from(c) * scale))));
        triangles.push([from, from + 1, from + 2]);
    }
    Ok((points, triangles))
}

/// Whether a file is as long as the count of its binary header says.
fn is_binary(bytes: &[u8]) -> bool {
    let Some(count) = bytes.get(HEADER..HEADER + 4) else { return false };
    let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]);
    bytes.len() as u64 == (HEADER + 4) as u64 + u64::from(count) * FACET
}

/// Bytes before the count of a binary file, and bytes of a facet.
const HEADER: usize = 80;
const FACET: u64 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    const ASCII: &str = "solid two facets\n\
        facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n\
        facet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\n\
        endsolid two facets\n";

    fn binary(header: &[u8]) -> Vec<u8> {
        let mut out = vec![b' '; HEADER];
        out[..header.len()].copy_from_slice(header);
        out.extend(2_u32.to_le_bytes());
        for corners in [[[0, 0], [1, 0], [0, 1]], [[1, 0], [1, 1], [0, 1]]] {
            [0.0_f32, 0.0, 1.0].iter().for_each(|c| out.extend(c.to_le_bytes()));
            for [x, y] in corners {
                [x as f32, y as f32, 0.0].iter().for_each(|c| out.extend(c.to_le_bytes()));
            }
            out.extend([0, 0]);
        }
        out
    }

    fn read(bytes: &[u8], scale: f64) -> Result<FacetWall, FacetError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wall.stl");
        std::fs::write(&file, bytes).unwrap();
        FacetWall::read_stl(&file, scale)
    }

    #[test]
    fn both_forms_are_the_same_wall() {
        let ascii = read(ASCII.as_bytes(), 1000.0).unwrap();
        assert_eq!((ascii.facets(), ascii.vertices().len()), (2, 4));
        assert!((ascii.bounds().max - P3::new(1000.0, 1000.0, 0.0)).norm() < 1e-12, "scaled");
        // Also where the header of a binary file begins like an ascii one.
        for header in ["made by hand", "solid made by hand"] {
            let binary = read(&binary(header.as_bytes()), 1000.0).unwrap();
            assert_eq!(binary.vertices(), ascii.vertices(), "{header}");
            assert_eq!(binary.corners(1), ascii.corners(1), "{header}");
        }
    }

    #[test]
    fn bad_files_are_told_with_what_is_wrong() {
        let told = |bytes: &[u8]| read(bytes, 1.0).unwrap_err().to_string();
        assert!(told(b"").contains("wall.stl: the file is empty"), "{}", told(b""));
        assert!(told(b"PK not stl at all").contains("neither ascii"), "another file");
        let cut = &binary(b"")[..150];
        assert!(told(cut).contains("nor as long as"), "{}", told(cut));
        let broken = ASCII.replace("vertex 1 1 0", "vertex 1 one 0");
        assert!(told(broken.as_bytes()).contains("facet 1"), "{}", told(broken.as_bytes()));
        let nan = ASCII.replace("vertex 1 1 0", "vertex 1 nan 0");
        assert!(told(nan.as_bytes()).contains("facet 1: "), "{}", told(nan.as_bytes()));
        let line = ASCII.replace("vertex 1 1 0", "vertex 0.5 0.5 0");
        assert!(told(line.as_bytes()).contains("facet 1 are on one line"), "{}", told(line.as_bytes()));
        let empty = "solid nothing\nendsolid nothing\n";
        assert!(told(empty.as_bytes()).contains("no facet with an area"), "{}", told(empty.as_bytes()));
        let missing = FacetWall::read_stl(Path::new("no/such.stl"), 1.0).unwrap_err().to_string();
        assert!(missing.contains("no/such.stl"), "{missing}");
        assert!(matches!(read(ASCII.as_bytes(), 0.0), Err(FacetError::Setting(_))), "no scale");
    }
}
