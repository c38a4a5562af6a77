//! Triangle meshes and their checks.

use crate::error::PiecesError;
use feeler_geom::P3;
use std::collections::HashMap;

/// A closed triangle mesh.
#[derive(Clone, Copy, Debug)]
pub struct TriangleMesh<'a> {
    /// Points of the mesh (mm). Points with equal coordinates count as one.
    pub points: &'a [P3],
    /// Triangles as indices of points, counter-clockwise from outside.
    pub triangles: &'a [[u32; 3]],
}

/// Checks a mesh and returns its triangles with equal points replaced by the first of them.
pub(crate) fn welded(mesh: &TriangleMesh<'_>) -> Result<Vec<[u32; 3]>, PiecesError> {
    if mesh.triangles.is_empty() {
        return Err(PiecesError::EmptyMesh);
    }
    if let Some(i) = mesh.points.iter().position(|p| !p.coords.iter().all(|c| c.is_finite())) {
        return Err(PiecesError::NotFinite(i));
    }
    let mut first: HashMap<[u64; 3], u32> = HashMap::new();
    // Adding 0 turns −0 into 0.
    let key = |p: &P3| [p.x, p.y, p.z].map(|c| (c + 0.0).to_bits());
    let numbers: Vec<u32> = (0..).zip(mesh.points).map(|(i, p)| *first.entry(key(p)).or_insert(i)).collect();
    let count = numbers.len();
    let number = |(triangle, corners): (usize, &[u32; 3])| -> Result<[u32; 3], PiecesError> {
        let mut out = [0; 3];
        for (corner, point) in out.iter_mut().zip(corners) {
            let found = numbers.get(*point as usize);
            *corner = *found.ok_or(PiecesError::UnknownPoint { triangle, point: *point, count })?;
        }
        Ok(out)
    };
    mesh.triangles.iter().enumerate().map(number).collect()
}

/// Checks that each edge of a mesh has exactly one neighbour in the opposite direction. Triangles with
/// two equal corners are ignored.
pub(crate) fn check_closed(triangles: &[[u32; 3]]) -> Result<(), PiecesError> {
    let is_proper = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    let mut uses: HashMap<(u32, u32), usize> = HashMap::new();
    for t in triangles.iter().filter(|t| is_proper(t)) {
        for k in 0..3 {
            *uses.entry((t[k], t[(k + 1) % 3])).or_insert(0) += 1;
        }
    }
    for (triangle, t) in triangles.iter().enumerate().filter(|(_, t)| is_proper(t)) {
        for k in 0..3 {
            let (from, to) = (t[k], t[(k + 1) % 3]);
            let count = uses.get(&(to, from)).copied().unwrap_or(0);
            if count != 1 {
                return Err(PiecesError::OpenMesh { triangle, from, to, count });
            }
        }
    }
    Ok(())
}
