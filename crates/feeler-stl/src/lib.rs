//! Reads triangles of STL files, binary and ascii.

use feeler_geom::P3;
use std::io::Cursor;

/// Reason why bytes are not a valid STL file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StlError(String);

/// Reads the points (in mm; `scale` is the unit of the file in mm) and triangles of an STL file. Each
/// triangle has three points of its own.
///
/// # Errors
/// The scale is not positive, or the bytes are not a valid STL file.
pub fn read(mut bytes: Vec<u8>, scale: f64) -> Result<(Vec<P3>, Vec<[u32; 3]>), StlError> {
    if !(scale.is_finite() && scale > 0.0) {
        return Err(StlError("the scale of an STL file must be positive and finite".to_owned()));
    }
    if bytes.is_empty() {
        return Err(StlError("the file is empty; give a binary or ascii STL file".to_owned()));
    }
    // Some programs begin binary files with the keyword of ascii files.
    if is_binary(&bytes) {
        bytes[..HEADER].fill(0);
    } else if !bytes.trim_ascii_start().starts_with(b"solid") {
        let message = "it is neither ascii (it does not begin with 'solid') nor binary (its length does not \
                       match its facet count); give a binary or ascii STL file";
        return Err(StlError(message.to_owned()));
    }
    let mut reader = Cursor::new(bytes);
    let facets = stl_io::create_stl_reader(&mut reader).map_err(|e| StlError(e.to_string()))?;
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for (k, facet) in facets.enumerate() {
        let facet = facet.map_err(|e| StlError(format!("facet {k}: {e}")))?;
        let from = u32::try_from(points.len())
            .map_err(|_| StlError("it has too many facets; split the mesh".to_owned()))?;
        points.extend(facet.vertices.iter().map(|v| P3::from(v.0.map(|c| f64::from(c) * scale))));
        triangles.push([from, from + 1, from + 2]);
    }
    Ok((points, triangles))
}

/// Returns whether a file is binary: its length matches its facet count.
fn is_binary(bytes: &[u8]) -> bool {
    let Some(count) = bytes.get(HEADER..HEADER + 4) else { return false };
    let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]);
    bytes.len() as u64 == (HEADER + 4) as u64 + u64::from(count) * FACET
}

/// Number of bytes before the facet count of a binary file.
const HEADER: usize = 80;
/// Number of bytes of a facet.
const FACET: u64 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_must_be_lengths() {
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(read(b"solid".to_vec(), scale).is_err(), "{scale}");
        }
    }
}
