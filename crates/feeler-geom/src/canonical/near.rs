//! Differences between a spline or grid and a canonical shape: in position, direction and curvature.
//!
//! If the normals of two surfaces differ by at most an angle, their critical pairs with a third surface
//! are at the same points up to that angle divided by the relative curvature (of one of them and the
//! third surface). If the relative curvature exceeds the difference of the curvatures of the two
//! surfaces, both have the same number of critical pairs. The closed forms of the canonical surface
//! therefore give the number and the approximate positions of the minima of the grid. The same holds for
//! curves.

use super::sample_parameters;
use crate::bezier::{BezierSpline, BezierSurface};
use crate::contact::shape_operator;
use crate::frame::{complete_basis, unit};
use crate::{Curve, P2, Surface, V3};
use nalgebra::SymmetricEigen;
use std::f64::consts::TAU;

/// A canonical shape that a free-form one follows, with their differences. The differences are measured
/// at samples on every piece and multiplied by 1.5.
#[derive(Clone, Debug)]
pub struct Nearly<T> {
    /// Canonical shape; a curve has the direction of the spline.
    pub shape: T,
    /// Whether the natural normal of the surface is that of the grid; `true` for curves.
    pub same_normal: bool,
    /// Largest distance (mm) between the canonical and the free-form shape.
    pub deviation: f64,
    /// Largest angle (rad) between normals, or between tangents of curves, of both shapes at nearest
    /// points.
    pub angle: f64,
    /// Largest difference (1/mm) of the normal curvatures of both shapes in one direction, or of the
    /// curvature vectors of curves.
    pub curvature: f64,
}

/// Minimum distance of samples from the ends of a piece, relative to the length of the piece, because
/// the next piece may have other derivatives. With a larger value the ends are not sampled; a smaller
/// one may evaluate the next piece.
const END_OFFSET: f64 = 1e-6;

pub(super) fn nearly_surface(grid: &BezierSurface, tol: f64) -> Option<Nearly<Surface>> {
    let found = grid.recognised(tol)?;
    let surface = Surface::Bezier(grid.clone());
    let (n_u, n_v) = grid.n_patches();
    let (mut angle, mut curvature) = (0.0_f64, 0.0_f64);
    for patch in (0..n_u).flat_map(|i| (0..n_v).map(move |j| (i, j))) {
        let r = grid.patch_rect(patch);
        for (s, t) in sample_parameters(grid.u_degree)
            .flat_map(|s| sample_parameters(grid.v_degree).map(move |t| (s, t)))
        {
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
    let (angle, curvature) = (super::DEVIATION_MARGIN * angle, super::DEVIATION_MARGIN * curvature);
    (angle.is_finite() && curvature.is_finite()).then_some(Nearly {
        shape: found.shape,
        same_normal: found.same_normal,
        deviation: found.deviation,
        angle,
        curvature,
    })
}

/// Clamps a relative parameter to the inside of a piece, at least [`END_OFFSET`] from its ends.
fn within(s: f64) -> f64 {
    s.clamp(END_OFFSET, 1.0 - END_OFFSET)
}

pub(super) fn nearly_curve(spline: &BezierSpline, tol: f64) -> Option<Nearly<Curve>> {
    let found = spline.recognised(tol)?;
    let (mut angle, mut curvature) = (0.0_f64, 0.0_f64);
    for ends in spline.breaks.windows(2) {
        for s in sample_parameters(spline.degree) {
            let t = ends[0] + (ends[1] - ends[0]) * within(s);
            let d = spline.derivs(t);
            let (tangent, bend) = tangent_and_curvature(&d.d1, &d.d2)?;
            let foot = match found.shape {
                Curve::Line { .. } => found.shape.derivs(0.0),
                Curve::Circle { .. } => found.shape.derivs(found.shape.project(&d.p, 0.0, TAU)),
                _ => return None,
            };
            let (their_tangent, their_bend) = tangent_and_curvature(&foot.d1, &foot.d2)?;
            angle = angle.max((tangent - their_tangent).norm());
            curvature = curvature.max((bend - their_bend).norm());
        }
    }
    let (angle, curvature) = (super::DEVIATION_MARGIN * angle, super::DEVIATION_MARGIN * curvature);
    (angle.is_finite() && curvature.is_finite()).then_some(Nearly {
        shape: found.shape,
        same_normal: true,
        deviation: found.deviation,
        angle,
        curvature,
    })
}

/// Unit tangent and curvature vector (1/mm) from the first two derivatives of a curve; `None` if the
/// first derivative is zero.
fn tangent_and_curvature(d1: &V3, d2: &V3) -> Option<(V3, V3)> {
    let tangent = unit(*d1)?;
    Some((tangent, (d2 - tangent * tangent.dot(d2)) / d1.norm_squared()))
}
