//! Triangle meshes of prepared solids.
//!
//! Each face is triangulated in its parameter plane: points along its trims and on a grid, spaced so that
//! chords stay within the chord error, and a Delaunay triangulation constrained to the trims. Faces that
//! share an edge share its points, so that the mesh is as closed as the solid.
//!
//! Nothing is measured on a mesh: it is for looking at, and for engines that want one beside exact contacts.

mod edges;
mod face;
mod grid;
mod weld;

use feeler_geom::{P3, V3};
use feeler_hierarchy::Hierarchy;
use std::collections::BTreeMap;

/// Why there is no mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// The chord error is NaN, infinite, 0 or negative.
    #[error("the chord error is {0}; give a finite length above 0 mm")]
    Chord(f64),
    /// A face whose domain is not finite.
    #[error("face {face}: its domain has no finite size")]
    Endless {
        /// Which.
        face: usize,
    },
    /// A face that could not be triangulated.
    #[error("face {face}: {reason}")]
    Face {
        /// Which.
        face: usize,
        /// Why.
        reason: String,
    },
}

/// Triangles, counter-clockwise from outside, in the solid's own coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertices (mm), each a corner of at least one triangle. Each face has its own, for its normals: where
    /// faces meet they are equal to the bit.
    pub points: Vec<P3>,
    /// Outward unit normals of the surfaces there.
    pub normals: Vec<V3>,
    /// For each vertex the first one in the same place.
    pub welded: Vec<u32>,
    /// Corners.
    pub triangles: Vec<[u32; 3]>,
    /// For each triangle its supermaximal face.
    pub faces: Vec<u32>,
    /// Largest distance (mm) found between a triangle and its surface, at its middle and at those of its
    /// sides.
    pub deviation: f64,
    /// Pieces of trims that were left out because their chords cross others: 0 unless a solid is thinner than
    /// the chord error or its edges are far off its faces.
    pub crossings: usize,
}

/// Meshes that are made, each with denser grids on the faces that were too far off.
const ATTEMPTS: usize = 3;
/// How much less than what a face is too far off is asked of it next.
const SMALLER: f64 = 0.8;
/// The least part of the chord error that is asked of a face: what does not come near by that is off for
/// another reason.
const LEAST: f64 = 0.2;
/// Points this part of the size apart are in the same place up to rounding: at poles and seams.
const ROUNDING: f64 = 1e-9;

/// A mesh no farther than `chord` (mm) from the solid; [`Mesh::deviation`] tells how far, which may be more
/// only where a spline bends within a triangle as it does nowhere else, or where edges are off their faces.
///
/// # Errors
/// [`MeshError`].
pub fn mesh(solid: &Hierarchy, chord: f64) -> Result<Mesh, MeshError> {
    if !(chord.is_finite() && chord > 0.0) {
        return Err(MeshError::Chord(chord));
    }
    let mut asked = vec![chord; solid.faces.len()];
    let (mut out, mut off) = attempt(solid, chord, &asked)?;
    for _ in 1..ATTEMPTS {
        let far = asked.iter_mut().zip(&off).filter(|(asked, off)| **off > chord && **asked > LEAST * chord);
        let mut any = false;
        for (asked, off) in far {
            *asked = (*asked * SMALLER * chord / off).max(LEAST * chord);
            any = true;
        }
        if !any {
            break;
        }
        (out, off) = attempt(solid, chord, &asked)?;
    }
    out.deviation = off.into_iter().fold(0.0, f64::max);
    out.welded = weld::weld(&out.points, ROUNDING * size(solid));
    Ok(out)
}

/// A mesh, and how far each face is off; `asked` of the grids of the faces.
fn attempt(solid: &Hierarchy, chord: f64, asked: &[f64]) -> Result<(Mesh, Vec<f64>), MeshError> {
    let grids = solid.faces.iter().zip(asked).enumerate().map(|(face, (f, asked))| {
        let (rect, finite) = (&f.trim.rect, |x: f64| x > 0.0 && x.is_finite());
        if finite(rect.width()) && finite(rect.height()) {
            Ok(grid::axes(&f.surface, rect, *asked))
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

/// Diagonal of the box.
fn size(solid: &Hierarchy) -> f64 {
    (P3::from(solid.info.bbox_max) - P3::from(solid.info.bbox_min)).norm()
}

impl Mesh {
    /// Corners of a triangle.
    #[must_use]
    pub fn corners(&self, triangle: [u32; 3]) -> [P3; 3] {
        triangle.map(|i| self.points[i as usize])
    }

    /// Area (mm²).
    #[must_use]
    pub fn area(&self) -> f64 {
        let one = |[a, b, c]: [P3; 3]| 0.5 * (b - a).cross(&(c - a)).norm();
        self.triangles.iter().map(|t| one(self.corners(*t))).sum()
    }

    /// Enclosed volume (mm³).
    #[must_use]
    pub fn volume(&self) -> f64 {
        let o = self.points.first().copied().unwrap_or_else(P3::origin);
        let one = |[a, b, c]: [P3; 3]| (a - o).dot(&(b - o).cross(&(c - o))) / 6.0;
        self.triangles.iter().map(|t| one(self.corners(*t))).sum()
    }

    /// Sides of triangles, places taken together, that are not used once in each direction: none in a mesh
    /// that is closed.
    #[must_use]
    pub fn open_sides(&self) -> usize {
        let mut balance: BTreeMap<(u32, u32), i64> = BTreeMap::new();
        for t in &self.triangles {
            let t = t.map(|i| self.welded[i as usize]);
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                *balance.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
            }
        }
        balance.values().filter(|n| **n != 0).count()
    }
}

#[cfg(test)]
mod tests;
