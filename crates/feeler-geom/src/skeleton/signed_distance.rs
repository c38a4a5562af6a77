//! Signed distance from a point to a primitive, with two derivatives.

use super::Primitive;
use crate::{P3, V3};
use nalgebra::Matrix3;

/// Signed distance from a point to a primitive (positive outside the material), with gradient and Hessian by
/// the point: what iterative solvers minimise over the other side's parameters (MATH §8). The foot is the
/// nearest one of the sheet whose outward normal has the gradient's direction.
///
/// A cone is continued through its apex: behind it, value and derivatives are those of the smooth
/// continuation, and the foot lies on the unused nappe.
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

/// [`SignedDistance`] of `p`; `None` on the skeleton's focal set (the axis, the centre, the circle), where it
/// has no direction, to rounding.
#[must_use]
pub fn signed_distance(primitive: &Primitive, p: &P3) -> Option<SignedDistance> {
    let SignedDistanceForm { value, gradient, bending, .. } = signed_distance_form(primitive, p)?;
    Some(SignedDistance { value, gradient, hessian: bending.matrix(), foot: p - gradient * value })
}

/// [`SignedDistance`] with the Hessian as a form: for those who ask for it in one direction or not at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistanceForm {
    /// Signed distance.
    pub value: f64,
    /// Unit gradient.
    pub gradient: V3,
    /// Second derivatives.
    pub bending: Bending,
}

/// The quadratic form `k (|d|² - (n·d)² - (t·d)²) + l (t·d)²` with unit vectors n and t, or zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bending {
    /// Direction without second derivative.
    pub n: V3,
    /// Direction with its own one.
    pub t: V3,
    /// Second derivative in all other directions.
    pub k: f64,
    /// Second derivative along `t`.
    pub l: f64,
}

impl Bending {
    /// Second derivative along a vector.
    #[must_use]
    pub fn along(&self, d: &V3) -> f64 {
        let (n, t) = (self.n.dot(d), self.t.dot(d));
        self.k * (d.norm_squared() - n * n - t * t) + self.l * t * t
    }

    /// The matrix of the form.
    #[must_use]
    pub fn matrix(&self) -> Matrix3<f64> {
        let (nn, tt) = (self.n * self.n.transpose(), self.t * self.t.transpose());
        (Matrix3::identity() - nn - tt) * self.k + tt * self.l
    }
}

/// [`signed_distance`] as a form.
#[must_use]
pub fn signed_distance_form(primitive: &Primitive, p: &P3) -> Option<SignedDistanceForm> {
    signed_distance_within(primitive, primitive.reach(), p)
}

/// [`signed_distance_form`], given the primitive's [`reach`](Primitive::reach).
// Those who ask for many points need a part of it each.
#[inline(always)]
#[must_use]
pub fn signed_distance_within(primitive: &Primitive, reach: f64, p: &P3) -> Option<SignedDistanceForm> {
    // Below this length a difference of the coordinates has no direction.
    let rounding = 4.0 * f64::EPSILON * (p.coords.amax() + reach);
    let direction = |v: &V3| {
        let len = v.norm();
        (len > rounding && len.is_finite()).then(|| (len, v / len))
    };
    let made = |value: f64, gradient: V3, bending: Bending| SignedDistanceForm { value, gradient, bending };
    match *primitive {
        Primitive::Plane { origin, normal } => {
            let flat = Bending { n: normal, t: V3::zeros(), k: 0.0, l: 0.0 };
            Some(made((p - origin).dot(&normal), normal, flat))
        }
        Primitive::Point { center, sigma } => {
            let side = sheet(sigma);
            let (len, r) = direction(&(p - center))?;
            let round = Bending { n: r, t: V3::zeros(), k: side / len, l: 0.0 };
            Some(made(side * len - sigma, r * side, round))
        }
        Primitive::Line { origin, dir, sigma, slope } => {
            let side = if slope == 0.0 { sheet(sigma) } else { sheet(slope) };
            let cos_phi = (1.0 - slope * slope).sqrt();
            let x = p - origin;
            let along = x.dot(&dir);
            let (len, e) = direction(&across(&x, &dir))?;
            let gradient = e * (side * cos_phi) - dir * slope;
            let value = side * cos_phi * len - sigma - slope * along;
            let round = Bending { n: e, t: dir.cross(&e), k: 0.0, l: side * cos_phi / len };
            Some(made(value, gradient, round))
        }
        Primitive::Circle { frame, radius, sigma } => {
            let side = sheet(sigma);
            let x = p - frame.origin;
            let height = x.dot(&frame.z);
            let (rho, e_r) = direction(&across(&x, &frame.z))?;
            let (len, n) = direction(&(e_r * (rho - radius) + frame.z * height))?;
            let around =
                Bending { n, t: frame.z.cross(&e_r), k: side / len, l: side * (rho - radius) / (len * rho) };
            Some(made(side * len - sigma, n * side, around))
        }
    }
}

/// +1 where the material is inside the spheres (edges and vertices too), -1 where it is outside.
pub(super) fn sheet(sigma: f64) -> f64 {
    if sigma < 0.0 { -1.0 } else { 1.0 }
}

/// The part of `x` orthogonal to the unit vector `dir`, projected twice to be orthogonal to rounding even
/// when it is much shorter than `x`.
pub(super) fn across(x: &V3, dir: &V3) -> V3 {
    let once = x - dir * x.dot(dir);
    once - dir * once.dot(dir)
}
