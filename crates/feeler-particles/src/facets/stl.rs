//! Walls from STL files, binary and ASCII.

use super::error::FacetError;
use super::wall::FacetWall;
use std::path::Path;

impl FacetWall {
    /// Reads a wall from an STL file. Coordinates are multiplied by `scale`, the length of the file's unit
    /// in mm: STL files do not store a unit.
    ///
    /// # Errors
    /// The file cannot be read, is not an STL file, or its triangles are not a valid wall. The error names
    /// the file.
    pub fn read_stl(file: &Path, scale: f64) -> Result<Self, FacetError> {
        let stl = |problem: String| FacetError::Stl { file: file.to_path_buf(), problem };
        if !(scale.is_finite() && scale > 0.0) {
            return Err(FacetError::Setting("the scale of an STL file must be above 0"));
        }
        let bytes = std::fs::read(file).map_err(|e| stl(e.to_string()))?;
        let (points, triangles) = feeler_stl::read(bytes, scale).map_err(|e| stl(e.to_string()))?;
        Self::new(&points, &triangles)
            .map_err(|error| FacetError::InFile { file: file.to_path_buf(), error: Box::new(error) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::P3;

    const ASCII: &str = "solid two facets\n\
        facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n\
        facet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\n\
        endsolid two facets\n";

    fn binary(header: &[u8]) -> Vec<u8> {
        let mut out = vec![b' '; 80];
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
    fn binary_and_ascii_files_give_the_same_wall() {
        let ascii = read(ASCII.as_bytes(), 1000.0).unwrap();
        assert_eq!((ascii.facets(), ascii.vertices().len()), (2, 4));
        assert!((ascii.bounds().max - P3::new(1000.0, 1000.0, 0.0)).norm() < 1e-12, "scaled");
        // The header of a binary file may begin like an ASCII file.
        for header in ["made by hand", "solid made by hand"] {
            let binary = read(&binary(header.as_bytes()), 1000.0).unwrap();
            assert_eq!(binary.vertices(), ascii.vertices(), "{header}");
            assert_eq!(binary.corners(1), ascii.corners(1), "{header}");
        }
    }

    #[test]
    fn errors_name_what_is_wrong_with_a_file() {
        let error_of = |bytes: &[u8]| read(bytes, 1.0).unwrap_err().to_string();
        assert!(error_of(b"").contains("wall.stl: the file is empty"), "{}", error_of(b""));
        assert!(error_of(b"PK not stl at all").contains("neither ascii"), "a file of another kind");
        let cut = &binary(b"")[..150];
        assert!(error_of(cut).contains("does not match its facet count"), "{}", error_of(cut));
        let broken = ASCII.replace("vertex 1 1 0", "vertex 1 one 0");
        assert!(error_of(broken.as_bytes()).contains("facet 1"), "{}", error_of(broken.as_bytes()));
        let nan = ASCII.replace("vertex 1 1 0", "vertex 1 nan 0");
        assert!(error_of(nan.as_bytes()).contains("facet 1: "), "{}", error_of(nan.as_bytes()));
        let line = ASCII.replace("vertex 1 1 0", "vertex 0.5 0.5 0");
        assert!(
            error_of(line.as_bytes()).contains("facet 1 are on one line"),
            "{}",
            error_of(line.as_bytes())
        );
        let empty = "solid nothing\nendsolid nothing\n";
        assert!(
            error_of(empty.as_bytes()).contains("no facet with an area"),
            "{}",
            error_of(empty.as_bytes())
        );
        let missing = FacetWall::read_stl(Path::new("no/such.stl"), 1.0).unwrap_err().to_string();
        assert!(missing.contains("no/such.stl"), "{missing}");
        assert!(matches!(read(ASCII.as_bytes(), 0.0), Err(FacetError::Setting(_))), "a scale of 0");
    }
}
