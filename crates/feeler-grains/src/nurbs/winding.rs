//! Self-intersections of closed surfaces, detected by winding numbers around points next to the surface.
//!
//! Just inside a surface without self-intersections the winding number is 1. It is the sum of the solid
//! angles of the triangles of a closed mesh of the surface, so it is an integer up to rounding.
//!
//! # Source
//! Van Oosterom & Strackee, *The solid angle of a plane triangle*, 1983.

use super::{NurbsGrain, NurbsGrainError};
use feeler_geom::{P2, P3, V3, math};
use std::f64::consts::TAU;

/// Number of cells of the mesh along each parameter. A larger value is slower, a smaller one needs
/// thicker grains.
const MESH_CELLS: u32 = 48;
/// Distance between neighbouring tested points, in cells of the mesh. A larger value misses more, a
/// smaller one is slower.
const SAMPLE_STRIDE: u32 = 2;
/// Distance of the tested points from the surface, relative to the deviation of the mesh from the
/// surface. Thin grains count as self-intersecting with a larger value; the deviation of the mesh
/// matters with a smaller one.
const DISTANCE_FACTOR: f64 = 3.0;

impl NurbsGrain {
    /// Searches for self-intersections by the winding numbers on both sides of the surface at 576
    /// samples. This takes about 0.1 s. It is not a proof: features smaller than the distance between
    /// samples are missed.
    ///
    /// # Errors
    /// Returns [`NurbsGrainError::Crossing`] if the surface intersects itself, or if the grain or a gap in it
    /// is thinner than the reported depth.
    pub fn check_embedded(&self) -> Result<(), NurbsGrainError> {
        crossing(self).map_or(Ok(()), |(at, depth)| Err(NurbsGrainError::Crossing { at, depth }))
    }
}

/// Searches for a point of the surface next to which a winding number is wrong. Returns the point, and
/// the distance (mm) of the tested points from the surface, inwards and outwards. `None` if all winding
/// numbers are right.
fn crossing(grain: &NurbsGrain) -> Option<(P3, f64)> {
    let domain = grain.grid().domain();
    let at = |i: f64, j: f64| {
        let [s, t] = [i, j].map(|k| k / f64::from(MESH_CELLS));
        P2::new(domain.u0 + s * domain.width(), domain.v0 + t * domain.height())
    };
    let point = |i: u32, j: u32| grain.grid().derivs(at(f64::from(i), f64::from(j))).p;
    let mut triangles = Vec::new();
    let mut off = 0.0_f64;
    for i in 0..MESH_CELLS {
        for j in 0..MESH_CELLS {
            // The last row equals the first one, to the bit.
            let wrapped = |i: u32, j: u32| {
                let j = if grain.grid().v_periodic { j % MESH_CELLS } else { j };
                point(if grain.grid().u_periodic { i % MESH_CELLS } else { i }, j)
            };
            let [a, b, c, d] = [wrapped(i, j), wrapped(i + 1, j), wrapped(i + 1, j + 1), wrapped(i, j + 1)];
            let middle = grain.grid().derivs(at(f64::from(i) + 0.5, f64::from(j) + 0.5)).p;
            off = off.max((nalgebra::center(&a, &c) - middle).norm());
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let depth = DISTANCE_FACTOR * off;
    for i in (0..MESH_CELLS).step_by(SAMPLE_STRIDE as usize) {
        for j in (0..MESH_CELLS).step_by(SAMPLE_STRIDE as usize) {
            let (p, n) = grain.at(at(f64::from(i) + 0.5, f64::from(j) + 0.5));
            let around = [-depth, depth].map(|d| winding(&triangles, &(p + n * d)));
            if (around[0] - 1.0).abs() > 0.5 || around[1].abs() > 0.5 {
                return Some((p, depth));
            }
        }
    }
    None
}

/// Winding number of a closed mesh of triangles around the point `x`: 1 inside and 0 outside, up to
/// rounding, if the mesh does not intersect itself.
fn winding(triangles: &[[P3; 3]], x: &P3) -> f64 {
    let angle = |t: &[P3; 3]| {
        let [a, b, c]: [V3; 3] = t.map(|p| p - x);
        let [l, m, n] = [a.norm(), b.norm(), c.norm()];
        math::atan2(a.dot(&b.cross(&c)), l * m * n + a.dot(&b) * n + b.dot(&c) * l + c.dot(&a) * m)
    };
    // The sum of half solid angles, divided by half of the full solid angle.
    triangles.iter().map(angle).sum::<f64>() / TAU
}
