//! Signed distance from a point to a primitive, with two derivatives.

use super::Primitive;
use crate::{P3, V3};
use nalgebra::Matrix3;

/// Signed distance from a point to a primitive (positive outside the material), with gradient and Hessian by
/// the point: what iterative solvers minimise over the other side's parameters (MATH §8). The foot is the
/// nearest one of the sheet whose outward normal has the gradient's direction.
///
/// A cone is continued through its apex: behind it, value and derivatives are those of the smooth continuation,
/// and the foot lies on the unused nappe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistance {
    /// Signed distance.
    pub value: f64,
    /// Unit gradient: the outward normal at the foot.
    pub gradient: V3,
    /// Hessian.
    pub hessian: Matrix3<f64>,
    /// Footpoint on the primitive.
    pub foot: P3,
}

/// [`SignedDistance`] of `p`; `None` on the skeleton's focal set (the axis, the centre, the circle), where it has no
/// direction, to rounding.
#[must_use]
pub fn signed_distance(primitive: &Primitive, p: &P3) -> Option<SignedDistance> {
    // Below this length a difference of the coordinates has no direction.
    let rounding = 4.0 * f64::EPSILON * (p.coords.amax() + primitive.reach());
    let direction = |v: &V3| {
        let len = v.norm();
        (len > rounding && len.is_finite()).then(|| (len, v / len))
    };
    let made = |value: f64, gradient: V3, hessian: Matrix3<f64>| SignedDistance {
        value,
        gradient,
        hessian,
        foot: p - gradient * value,
    };
    match *primitive {
        Primitive::Plane { origin, normal } => {
            Some(made((p - origin).dot(&normal), normal, Matrix3::zeros()))
        }
        Primitive::Point { center, sigma } => {
            let side = sheet(sigma);
            let (len, r) = direction(&(p - center))?;
            let hessian = (Matrix3::identity() - r * r.transpose()) * (side / len);
            Some(made(side * len - sigma, r * side, hessian))
        }
        Primitive::Line { origin, dir, sigma, slope } => {
            let side = if slope == 0.0 { sheet(sigma) } else { sheet(slope) };
            let cos_phi = (1.0 - slope * slope).sqrt();
            let x = p - origin;
            let along = x.dot(&dir);
            let (len, e) = direction(&across(&x, &dir))?;
            let gradient = e * (side * cos_phi) - dir * slope;
            let projector = Matrix3::identity() - dir * dir.transpose() - e * e.transpose();
            let value = side * cos_phi * len - sigma - slope * along;
            Some(made(value, gradient, projector * (side * cos_phi / len)))
        }
        Primitive::Circle { frame, radius, sigma } => {
            let side = sheet(sigma);
            let x = p - frame.origin;
            let height = x.dot(&frame.z);
            let (rho, e_r) = direction(&across(&x, &frame.z))?;
            let (len, n) = direction(&(e_r * (rho - radius) + frame.z * height))?;
            let e_phi = frame.z.cross(&e_r);
            let meridian = e_phi.cross(&n);
            let hessian = (meridian * meridian.transpose()) * (side / len)
                + (e_phi * e_phi.transpose()) * (side * (rho - radius) / (len * rho));
            Some(made(side * len - sigma, n * side, hessian))
        }
    }
}

/// +1 where the material is inside the spheres (edges and vertices too), -1 where it is outside.
pub(super) fn sheet(sigma: f64) -> f64 {
    if sigma < 0.0 { -1.0 } else { 1.0 }
}

/// The part of `x` orthogonal to the unit vector `dir`, projected twice to be orthogonal to rounding even when
/// it is much shorter than `x`.
pub(super) fn across(x: &V3, dir: &V3) -> V3 {
    let once = x - dir * x.dot(dir);
    once - dir * once.dot(dir)
}
