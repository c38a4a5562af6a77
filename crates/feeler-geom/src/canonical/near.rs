//! How closely a spline or a grid follows a canonical shape: in place, in direction and in curvature.
//!
//! Two surfaces whose normals differ by no more than an angle have their critical pairs with a third one in
//! the same places to that angle over the relative curvature; where the relative curvature is larger than the
//! difference of theirs, there are as many of them. So the closed forms of the canonical surface tell where
//! the minima of the grid are, and which of them there are. Curves likewise.

use super::places;
use crate::bezier::{BezierSpline, BezierSurface};
use crate::contact::shape_operator;
use crate::frame::{complete_basis, unit};
use crate::{Curve, P2, Surface, V3};
use nalgebra::SymmetricEigen;
use std::f64::consts::TAU;

/// A canonical shape that a free-form one follows. What it is off is measured at samples on every piece, with
/// a margin of a half.
#[derive(Clone, Debug)]
pub struct Nearly<T> {
    /// The canonical shape. A curve runs the same way as the spline.
    pub shape: T,
    /// Whether a surface's natural normal is that of the grid; `true` for curves.
    pub same_normal: bool,
    /// Largest distance (mm).
    pub deviation: f64,
    /// Largest angle (rad) between normals, of curves between tangents.
    pub angle: f64,
    /// Largest difference (1/mm) of normal curvatures in one direction, of curves that of the curvature
    /// vectors.
    pub curvature: f64,
}

/// Samples stay this part of a piece off its ends, where the neighbour's derivatives may be others.
const INSIDE: f64 = 1e-6;

pub(super) fn nearly_surface(grid: &BezierSurface, tol: f64) -> Option<Nearly<Surface>> {
    let found = grid.recognised(tol)?;
    let surface = Surface::Bezier(grid.clone());
    let (n_u, n_v) = grid.n_patches();
    let (mut angle, mut curvature) = (0.0_f64, 0.0_f64);
    for patch in (0..n_u).flat_map(|i| (0..n_v).map(move |j| (i, j))) {
        let r = grid.patch_rect(patch);
        for (s, t) in places(grid.u_degree).flat_map(|s| places(grid.v_degree).map(move |t| (s, t))) {
            let uv = P2::new(r.u0 + (r.u1 - r.u0) * within(s), r.v0 + (r.v1 - r.v0) * within(t));
            let d = grid.derivs(uv);
            let normal = unit(d.du.cross(&d.dv))?;
            let foot = found.shape.invert(&d.p, None, None);
            let sign = if found.same_normal { 1.0 } else { -1.0 };
            angle = angle.max((found.shape.normal(foot) * sign - normal).norm());
            let basis = complete_basis(&normal);
            let own = shape_operator(&surface, uv, true, &basis)?;
            let theirs = shape_operator(&found.shape, foot, found.same_normal, &basis)?;
            curvature = curvature.max(SymmetricEigen::new(own - theirs).eigenvalues.amax());
        }
    }
    let (angle, curvature) = (super::MARGIN * angle, super::MARGIN * curvature);
    (angle.is_finite() && curvature.is_finite()).then_some(Nearly {
        shape: found.shape,
        same_normal: found.same_normal,
        deviation: found.deviation,
        angle,
        curvature,
    })
}

/// A place in a piece, off its ends.
fn within(s: f64) -> f64 {
    s.clamp(INSIDE, 1.0 - INSIDE)
}

pub(super) fn nearly_curve(spline: &BezierSpline, tol: f64) -> Option<Nearly<Curve>> {
    let found = spline.recognised(tol)?;
    let (mut angle, mut curvature) = (0.0_f64, 0.0_f64);
    for ends in spline.breaks.windows(2) {
        for s in places(spline.degree) {
            let t = ends[0] + (ends[1] - ends[0]) * within(s);
            let d = spline.derivs(t);
            let (tangent, bend) = bent(&d.d1, &d.d2)?;
            let foot = match found.shape {
                Curve::Line { .. } => found.shape.derivs(0.0),
                Curve::Circle { .. } => found.shape.derivs(found.shape.project(&d.p, 0.0, TAU)),
                _ => return None,
            };
            let (their_tangent, their_bend) = bent(&foot.d1, &foot.d2)?;
            angle = angle.max((tangent - their_tangent).norm());
            curvature = curvature.max((bend - their_bend).norm());
        }
    }
    let (angle, curvature) = (super::MARGIN * angle, super::MARGIN * curvature);
    (angle.is_finite() && curvature.is_finite()).then_some(Nearly {
        shape: found.shape,
        same_normal: true,
        deviation: found.deviation,
        angle,
        curvature,
    })
}

/// Unit tangent and curvature vector.
fn bent(d1: &V3, d2: &V3) -> Option<(V3, V3)> {
    let tangent = unit(*d1)?;
    Some((tangent, (d2 - tangent * tangent.dot(d2)) / d1.norm_squared()))
}
