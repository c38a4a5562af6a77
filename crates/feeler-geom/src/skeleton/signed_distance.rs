//! Signed distance from a point to a primitive, with first and second derivatives.

use super::Primitive;
use crate::{P3, V3};
use nalgebra::Matrix3;

/// Signed distance from a point to a primitive, positive outside the material, with its gradient and
/// Hessian as a function of the point. Iterative solvers minimise it over the parameters of the other
/// feature (MATH §8).
///
/// A cone is continued smoothly through its apex: behind the apex, value and derivatives are those of
/// the continuation, and the foot lies on the unused nappe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistance {
    /// Signed distance (mm), positive outside the material.
    pub value: f64,
    /// Unit gradient, which is the outward normal at `foot`.
    pub gradient: V3,
    /// Matrix of second derivatives (1/mm).
    pub hessian: Matrix3<f64>,
    /// Footpoint on the primitive: the nearest point at which the outward normal is the gradient.
    pub foot: P3,
}

/// Computes the [`SignedDistance`] of `p`. Returns `None` on the focal set of the primitive (the axis,
/// the centre, the circle), where the gradient has no direction to rounding.
#[must_use]
pub fn signed_distance(primitive: &Primitive, p: &P3) -> Option<SignedDistance> {
    let SignedDistanceForm { value, gradient, bending, .. } = signed_distance_form(primitive, p)?;
    Some(SignedDistance { value, gradient, hessian: bending.matrix(), foot: p - gradient * value })
}

/// Like [`SignedDistance`], with the Hessian as a quadratic form: cheaper if second derivatives are
/// needed along one direction or not at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistanceForm {
    /// Signed distance (mm), positive outside the material.
    pub value: f64,
    /// Unit gradient, which is the outward normal at the footpoint.
    pub gradient: V3,
    /// Second derivatives (1/mm) as a quadratic form.
    pub bending: Bending,
}

/// The quadratic form `k (|d|² - (n·d)² - (t·d)²) + l (t·d)²` of a vector d, with orthogonal unit
/// vectors n and t, or t = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bending {
    /// Unit vector n along which the quadratic form is zero, or the zero vector for a form without such
    /// a direction. In a [`SignedDistanceForm`] it is the gradient or the opposite; for a cone, it
    /// points from the axis to the queried point instead.
    pub n: V3,
    /// Unit direction along which the second derivative is `l`; zero if `k` is that of all directions
    /// orthogonal to `n`.
    pub t: V3,
    /// Second derivative (1/mm) in the direction orthogonal to `n` and `t`, or in all directions orthogonal
    /// to `n` if `t` is zero.
    pub k: f64,
    /// Second derivative (1/mm) along `t`.
    pub l: f64,
}

impl Bending {
    /// Returns the second derivative along a vector `d`, which grows with the square of its length.
    #[must_use]
    pub fn along(&self, d: &V3) -> f64 {
        let (n, t) = (self.n.dot(d), self.t.dot(d));
        self.k * (d.norm_squared() - n * n - t * t) + self.l * t * t
    }

    /// Returns the symmetric matrix of the quadratic form.
    #[must_use]
    pub fn matrix(&self) -> Matrix3<f64> {
        let (nn, tt) = (self.n * self.n.transpose(), self.t * self.t.transpose());
        (Matrix3::identity() - nn - tt) * self.k + tt * self.l
    }
}

/// Like [`signed_distance`], but returns the Hessian as a quadratic form and no footpoint. Returns `None`
/// on the focal set of the primitive (the axis, the centre, the circle).
#[must_use]
pub fn signed_distance_form(primitive: &Primitive, p: &P3) -> Option<SignedDistanceForm> {
    signed_distance_within(primitive, primitive.reach(), p)
}

/// Like [`signed_distance_form`], for callers that have computed the primitive's
/// [`reach`](Primitive::reach) already.
// Callers evaluate many points and use only part of the result: inlining removes the rest.
#[inline(always)]
#[must_use]
pub fn signed_distance_within(primitive: &Primitive, reach: f64, p: &P3) -> Option<SignedDistanceForm> {
    // Differences of coordinates shorter than this have no reliable direction.
    let rounding = 4.0 * f64::EPSILON * (p.coords.amax() + reach);
    let direction = |v: &V3| {
        let len = v.norm();
        (len > rounding && len.is_finite()).then(|| (len, v / len))
    };
    let form = |value: f64, gradient: V3, bending: Bending| SignedDistanceForm { value, gradient, bending };
    match *primitive {
        Primitive::Plane { origin, normal } => {
            let flat = Bending { n: normal, t: V3::zeros(), k: 0.0, l: 0.0 };
            Some(form((p - origin).dot(&normal), normal, flat))
        }
        Primitive::Point { center, sigma } => {
            let side = sheet(sigma);
            let (len, r) = direction(&(p - center))?;
            let round = Bending { n: r, t: V3::zeros(), k: side / len, l: 0.0 };
            Some(form(side * len - sigma, r * side, round))
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
            Some(form(value, gradient, round))
        }
        Primitive::Circle { frame, radius, sigma } => {
            let side = sheet(sigma);
            let x = p - frame.origin;
            let height = x.dot(&frame.z);
            let (rho, e_r) = direction(&across(&x, &frame.z))?;
            let (len, n) = direction(&(e_r * (rho - radius) + frame.z * height))?;
            let around =
                Bending { n, t: frame.z.cross(&e_r), k: side / len, l: side * (rho - radius) / (len * rho) };
            Some(form(side * len - sigma, n * side, around))
        }
    }
}

/// Returns +1 for spheres of signed radius `sigma` with the material inside, also for edges and vertices
/// (`sigma` = 0), and -1 for spheres with the material outside.
pub(super) fn sheet(sigma: f64) -> f64 {
    if sigma < 0.0 { -1.0 } else { 1.0 }
}

/// Returns the component of `x` orthogonal to the unit vector `dir`. It is projected twice, so that it
/// is orthogonal up to rounding even if it is much shorter than `x`.
pub(super) fn across(x: &V3, dir: &V3) -> V3 {
    let once = x - dir * x.dot(dir);
    once - dir * once.dot(dir)
}
