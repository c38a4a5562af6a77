//! Whether a closed surface runs through itself, told by how often it winds around points beside it.
//!
//! Just inside a surface that does not run through itself the winding number is one. It is counted on a mesh
//! of the surface, by the solid angles of its triangles, so the numbers are whole but for rounding.
//!
//! # Source
//! Van Oosterom & Strackee, *The solid angle of a plane triangle*, 1983.

use super::{GrainError, NurbsGrain};
use feeler_geom::{P2, P3, V3, math};
use std::f64::consts::TAU;

/// Steps of the mesh along each parameter.
const STEPS: u32 = 48;
/// Every so many steps a point is asked.
const EVERY: u32 = 2;
/// Points stand off the surface by so many times what the mesh is off it.
const CLEAR: f64 = 3.0;

impl NurbsGrain {
    /// Looks whether the surface runs through itself, by its winding numbers around a point on either side of
    /// each of 576 places. Takes a tenth of a second. No proof: what is smaller than the distance between
    /// places is not seen.
    ///
    /// # Errors
    /// [`GrainError::Crossing`]: it does, or the grain, or a gap in it, is thinner than the length told.
    pub fn check_embedded(&self) -> Result<(), GrainError> {
        crossing(self).map_or(Ok(()), |(at, depth)| Err(GrainError::Crossing { at, depth }))
    }
}

/// A point of the surface beside which it winds otherwise than once, and how far (mm) inside that was seen.
fn crossing(grain: &NurbsGrain) -> Option<(P3, f64)> {
    let domain = grain.grid().domain();
    let at = |i: f64, j: f64| {
        let [s, t] = [i, j].map(|k| k / f64::from(STEPS));
        P2::new(domain.u0 + s * domain.width(), domain.v0 + t * domain.height())
    };
    let point = |i: u32, j: u32| grain.grid().derivs(at(f64::from(i), f64::from(j))).p;
    let mut triangles = Vec::new();
    let mut off = 0.0_f64;
    for i in 0..STEPS {
        for j in 0..STEPS {
            // The last row is the first one, to the bit.
            let wrapped = |i: u32, j: u32| {
                let j = if grain.grid().v_periodic { j % STEPS } else { j };
                point(if grain.grid().u_periodic { i % STEPS } else { i }, j)
            };
            let [a, b, c, d] = [wrapped(i, j), wrapped(i + 1, j), wrapped(i + 1, j + 1), wrapped(i, j + 1)];
            let middle = grain.grid().derivs(at(f64::from(i) + 0.5, f64::from(j) + 0.5)).p;
            off = off.max((nalgebra::center(&a, &c) - middle).norm());
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let depth = CLEAR * off;
    for i in (0..STEPS).step_by(EVERY as usize) {
        for j in (0..STEPS).step_by(EVERY as usize) {
            let (p, n) = grain.at(at(f64::from(i) + 0.5, f64::from(j) + 0.5));
            let around = [-depth, depth].map(|d| winding(&triangles, &(p + n * d)));
            if (around[0] - 1.0).abs() > 0.5 || around[1].abs() > 0.5 {
                return Some((p, depth));
            }
        }
    }
    None
}

/// How often the triangles wind around a point.
fn winding(triangles: &[[P3; 3]], x: &P3) -> f64 {
    let angle = |t: &[P3; 3]| {
        let [a, b, c]: [V3; 3] = t.map(|p| p - x);
        let [l, m, n] = [a.norm(), b.norm(), c.norm()];
        math::atan2(a.dot(&b.cross(&c)), l * m * n + a.dot(&b) * n + b.dot(&c) * l + c.dot(&a) * m)
    };
    // Halves of the angles, over half of the full one.
    triangles.iter().map(angle).sum::<f64>() / TAU
}
