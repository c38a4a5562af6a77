//! Triangle meshes and their checks.

use crate::error::PiecesError;
use feeler_geom::P3;
use std::collections::HashMap;

/// A closed triangle mesh.
#[derive(Clone, Copy, Debug)]
pub struct TriangleMesh<'a> {
    /// Points of the mesh (mm). Points that differ by less than 1e-10 of the size in each coordinate count as
    /// one, because meshers compute some points, such as poles, several times.
    pub points: &'a [P3],
    /// Triangles as indices of points, counter-clockwise from outside.
    pub triangles: &'a [[u32; 3]],
}

/// Checks a mesh and returns its triangles with points closer than `tol` (mm) replaced by the first of them.
pub(crate) fn welded(mesh: &TriangleMesh<'_>, tol: f64) -> Result<Vec<[u32; 3]>, PiecesError> {
    if mesh.triangles.is_empty() {
        return Err(PiecesError::EmptyMesh);
    }
    if let Some(i) = mesh.points.iter().position(|p| !p.coords.iter().all(|c| c.is_finite())) {
        return Err(PiecesError::NotFinite(i));
    }
    let numbers = first_near(mesh.points, tol);
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

/// Index, for each point, of the point that replaces it: an earlier one within `tol` (mm) along each axis
/// that is not replaced itself, or the point itself.
fn first_near(points: &[P3], tol: f64) -> Vec<u32> {
    // Cells several tolerances wide, so that the neighbourhood of most points is in one of them. Adding 0
    // turns −0 into 0. With the tolerance 0, the cells are the coordinates.
    let width = 16.0 * tol;
    let cell = |c: f64| (if width > 0.0 { (c / width).floor() } else { c } + 0.0).to_bits();
    let mut firsts: HashMap<[u64; 3], Vec<u32>> = HashMap::new();
    let mut out = Vec::with_capacity(points.len());
    for (i, p) in (0..).zip(points) {
        let ends = [p.x, p.y, p.z].map(|c| [cell(c - tol), cell(c + tol)]);
        let is_near = |j: &u32| (points[*j as usize] - p).amax() <= tol;
        let corners = (0..8).map(|k| [0, 1, 2].map(|axis| ends[axis][k >> axis & 1]));
        let near = corners.filter_map(|key| firsts.get(&key)).flatten().copied().filter(is_near).min();
        if near.is_none() {
            firsts.entry([p.x, p.y, p.z].map(cell)).or_default().push(i);
        }
        out.push(near.unwrap_or(i));
    }
    out
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
