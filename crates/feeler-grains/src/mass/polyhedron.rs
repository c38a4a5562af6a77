//! Mass properties of polyhedra by sums over tetrahedra.

use super::MassProperties;
use crate::GrainError;
use feeler_convex::Polytope;
use feeler_geom::{P3, V3};
use nalgebra::Matrix3;
use std::collections::BTreeMap;

/// Mass properties of the convex hull of points.
///
/// # Errors
/// Returns an error if a point is not finite, or if all points lie in one plane.
pub fn hull(points: &[P3]) -> Result<MassProperties, GrainError> {
    let polytope = Polytope::new(points)?;
    polyhedron(points, polytope.facets())
}

/// Mass properties of a polyhedron, convex or not, given by its triangles, counter-clockwise from
/// outside.
///
/// # Errors
/// Returns an error if a vertex is not finite or an index is out of range, if an edge does not have a
/// triangle on either side, or if the volume is not positive.
pub fn polyhedron(vertices: &[P3], triangles: &[[u32; 3]]) -> Result<MassProperties, GrainError> {
    let corner = |i: u32| vertices.get(i as usize).filter(|p| p.iter().all(|c| c.is_finite()));
    let mut edges: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    let mut middle = V3::zeros();
    for t in triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            let p = corner(a).ok_or(GrainError::Polyhedron(
                "has a vertex that is not finite, or an index of a vertex that does not exist",
            ))?;
            middle += p.coords;
            *edges.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
        }
    }
    if triangles.is_empty() {
        return Err(GrainError::Polyhedron("has no volume: give points that do not lie in one plane"));
    }
    if edges.values().any(|n| *n != 0) {
        return Err(GrainError::Polyhedron("is not closed: every edge needs a triangle on either side"));
    }
    // Integrals are computed relative to the mean of the corners, because coordinates far from the
    // origin would lose digits.
    #[expect(clippy::cast_precision_loss, reason = "the number of corners is below 2^53")]
    let middle = middle / (3 * triangles.len()) as f64;
    let (mut volume, mut first, mut second) = (0.0, V3::zeros(), Matrix3::zeros());
    for t in triangles {
        let [a, b, c] = t.map(|i| vertices[i as usize].coords - middle);
        let six = a.dot(&b.cross(&c));
        let sum = a + b + c;
        volume += six / 6.0;
        first += sum * (six / 24.0);
        let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
        second += (squares + sum * sum.transpose()) * (six / 120.0);
    }
    if volume > 0.0 {
        let about = MassProperties::of_integrals(volume, first, &second);
        Ok(MassProperties { centroid: about.centroid + middle, ..about })
    } else {
        Err(GrainError::Polyhedron(
            "has a volume of 0 or less: triangles must be counter-clockwise from outside",
        ))
    }
}
