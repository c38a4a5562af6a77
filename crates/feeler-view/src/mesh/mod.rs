//! Triangle meshes of prepared solids.
//!
//! Each face is triangulated in its parameter plane by a Delaunay triangulation that is constrained to
//! the trims. Its points are along the trims and on a grid, spaced so that triangles deviate from the
//! surface by at most the chord error. Faces that share an edge share its points, so the mesh is closed
//! if the solid is.
//!
//! Meshes are for display, and for engines that need a mesh in addition to exact contacts. They are not
//! used for measurements.

mod edges;
mod face;
mod grid;
mod weld;

use feeler_geom::{P3, V3};
use feeler_hierarchy::Hierarchy;
use std::collections::BTreeMap;

/// Reason why a mesh could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// The chord error is NaN, infinite, 0 or negative.
    #[error("the chord error is {0}; give a finite length above 0 mm")]
    Chord(f64),
    /// The width or the height of the parameter rectangle of a face is not finite, or is not above 0.
    #[error(
        "face {face}: the width or height of its parameter rectangle is not a finite number above 0; repair \
         the face in the CAD model, and prepare the model again"
    )]
    Endless {
        /// Index of the face in [`Hierarchy::faces`].
        face: usize,
    },
    /// A face could not be triangulated.
    #[error("face {face}: {reason}")]
    Face {
        /// Index of the face in [`Hierarchy::faces`].
        face: usize,
        /// Reason why the face could not be triangulated.
        reason: String,
    },
}

/// Triangles, counter-clockwise from outside, in the solid's own coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertices (mm), each a corner of at least one triangle. Each face has its own vertices, for its
    /// normals; common vertices of adjacent faces are equal to the bit.
    pub points: Vec<P3>,
    /// Outward unit normals of the surfaces at the vertices.
    pub normals: Vec<V3>,
    /// For each vertex, the index in `points` of the first vertex at the same position.
    pub welded: Vec<u32>,
    /// Corners of the triangles, as indices in `points`.
    pub triangles: Vec<[u32; 3]>,
    /// For each triangle, the index in [`Hierarchy::faces`] of the face that it is on.
    pub faces: Vec<u32>,
    /// Largest measured distance of a triangle from its surface (mm), at its centre and at the midpoints
    /// of its sides.
    pub deviation: f64,
    /// Number of chords of trims that were left out because they cross others: 0 unless a solid is
    /// thinner than the chord error or its edges are far from its faces.
    pub crossings: usize,
}

/// Maximum number of meshes that are computed until one is within the chord error; each has denser grids
/// on the faces whose deviation was too large. A larger value is slower; with a smaller one, more meshes
/// exceed the chord error.
const ATTEMPTS: usize = 3;
/// Factor, in addition to the ratio of the permitted and the measured deviation, by which the chord
/// error of a face is reduced whose deviation is too large. A larger value needs another attempt, a
/// smaller one gives more triangles.
const CHORD_REDUCTION: f64 = 0.8;
/// Lower limit of the chord error for which the grid of a single face is computed, as a fraction of the
/// chord error of the mesh. A face that deviates too much gets a denser grid, down to this limit; if it
/// still deviates too much, the reason is its edges and not its grid. With a larger value, faces stay
/// too far from the surface; with a smaller one, faces whose edges are far from them get very dense
/// grids in vain.
const MIN_CHORD_RATIO: f64 = 0.2;
/// Largest distance of points at poles and seams that count as one point, relative to the size of the
/// solid. Small features vanish with a larger value; the mesh has cracks with a smaller one.
const WELD_TOLERANCE: f64 = 1e-9;

/// Computes a mesh within `chord` (mm) of the solid. [`Mesh::deviation`] is the measured distance. It
/// exceeds `chord` only if a spline bends within a triangle more than anywhere else, or if edges are far
/// from their faces.
///
/// # Errors
/// Returns [`MeshError`] if the chord error is not valid or a face cannot be triangulated.
pub fn mesh(solid: &Hierarchy, chord: f64) -> Result<Mesh, MeshError> {
    if !(chord.is_finite() && chord > 0.0) {
        return Err(MeshError::Chord(chord));
    }
    let mut face_chords = vec![chord; solid.faces.len()];
    let (mut out, mut off) = attempt(solid, chord, &face_chords)?;
    for _ in 1..ATTEMPTS {
        let far = face_chords
            .iter_mut()
            .zip(&off)
            .filter(|(c, off)| **off > chord && **c > MIN_CHORD_RATIO * chord);
        let mut any = false;
        for (face_chord, off) in far {
            *face_chord = (*face_chord * CHORD_REDUCTION * chord / off).max(MIN_CHORD_RATIO * chord);
            any = true;
        }
        if !any {
            break;
        }
        (out, off) = attempt(solid, chord, &face_chords)?;
    }
    out.deviation = off.into_iter().fold(0.0, f64::max);
    out.welded = weld::weld(&out.points, WELD_TOLERANCE * size(solid));
    Ok(out)
}

/// Computes a mesh once, and the deviation (mm) of each face. `chord` is the chord error of edges,
/// `face_chords` are those of the grids of the faces (mm).
fn attempt(solid: &Hierarchy, chord: f64, face_chords: &[f64]) -> Result<(Mesh, Vec<f64>), MeshError> {
    let grids = solid.faces.iter().zip(face_chords).enumerate().map(|(face, (f, face_chord))| {
        let (rect, finite) = (&f.trim.rect, |x: f64| x > 0.0 && x.is_finite());
        if finite(rect.width()) && finite(rect.height()) {
            Ok(grid::axes(&f.surface, rect, *face_chord))
        } else {
            Err(MeshError::Endless { face })
        }
    });
    let grids = grids.collect::<Result<Vec<_>, _>>()?;
    let lines = edges::lines(solid, &grids, chord);
    let (mut out, mut off) = (Mesh::default(), Vec::new());
    for (i, (face, grid)) in solid.faces.iter().zip(&grids).enumerate() {
        let added = face::add(&mut out, (i, face), grid, &lines[i]);
        off.push(added.map_err(|reason| MeshError::Face { face: i, reason })?);
    }
    Ok((out, off))
}

/// Diagonal of the solid's bounding box (mm).
fn size(solid: &Hierarchy) -> f64 {
    (P3::from(solid.info.bbox_max) - P3::from(solid.info.bbox_min)).norm()
}

impl Mesh {
    /// Positions of the corners of a triangle (mm).
    #[must_use]
    pub fn corners(&self, triangle: [u32; 3]) -> [P3; 3] {
        triangle.map(|i| self.points[i as usize])
    }

    /// Sum of the areas of all triangles (mm²).
    #[must_use]
    pub fn area(&self) -> f64 {
        let one = |[a, b, c]: [P3; 3]| 0.5 * (b - a).cross(&(c - a)).norm();
        self.triangles.iter().map(|t| one(self.corners(*t))).sum()
    }

    /// Volume that the triangles enclose (mm³); meaningless for an open mesh.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let o = self.points.first().copied().unwrap_or_else(P3::origin);
        let one = |[a, b, c]: [P3; 3]| (a - o).dot(&(b - o).cross(&(c - o))) / 6.0;
        self.triangles.iter().map(|t| one(self.corners(*t))).sum()
    }

    /// Number of sides of triangles that are not used once in each direction, with coinciding vertices
    /// merged. It is 0 for a closed mesh.
    #[must_use]
    pub fn open_sides(&self) -> usize {
        let mut balance: BTreeMap<(u32, u32), i64> = BTreeMap::new();
        for t in &self.triangles {
            let t = t.map(|i| self.welded[i as usize]);
            // A side between merged vertices has no length.
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])].into_iter().filter(|(a, b)| a != b) {
                *balance.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
            }
        }
        balance.values().filter(|n| **n != 0).count()
    }
}

#[cfg(test)]
mod tests;
