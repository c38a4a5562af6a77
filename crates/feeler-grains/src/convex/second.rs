//! Support points and their derivative with respect to the direction.
//!
//! The support function of a poly-superellipsoid is a norm of ν = r∘n, with the semi-axes r of the
//! octant of n: `h = ‖(ρ, ν_z)‖` in the norm of exponent q₂ and `ρ = ‖(ν_x, ν_y)‖` in the norm of
//! exponent q₁, where q = 2/(2 − ε). The gradient of h is the support point. The second derivative of h
//! is the derivative of the support point, which is the inverse of the curvature. A norm ‖(x, y)‖ = ρ
//! with the shares X = (x/ρ)^q and Y = 1 − X has the second derivative `(q − 1)/ρ · XY · v vᵀ` with v =
//! (ρ/x, −ρ/y), so the second derivative of h is a sum of two dyads.
//!
//! # Source
//! POLY (3.31), (3.36); the norms are dual to those in the equation of the surface.
//! # Deviations
//! POLY computes the derivative by finite differences. The closed form costs four powers, which is the
//! cost of the point itself.

use super::shape::Grain;
use feeler_geom::V3;
use feeler_geom::math::powf;

/// Support point, and its derivative with respect to the direction n, in the grain's coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct SupportDerivative {
    pub point: V3,
    /// Value of the support function (mm): ⟨point, n⟩.
    pub height: f64,
    /// Vector v of the derivative of the support point, which is the matrix `v vᵀ + k kᵀ`.
    pub v: V3,
    pub k: V3,
    /// Shares of the first two coordinates in the norm ρ, and shares of ρ and of the third coordinate in
    /// the support function h (see the top of this file); each pair sums to 1.
    pub shares: [[f64; 2]; 2],
}

/// Smallest ratio of a coordinate of ν, the direction multiplied by the semi-axes, to the norm that
/// contains it, at which the second derivative of the support function is evaluated. Below it, the
/// derivative at this ratio is used, because on the axes of flat grains the derivative is infinite. A
/// larger value slows convergence to the axes, a smaller one overflows.
pub(super) const MIN_COORDINATE_RATIO: f64 = 1e-13;

/// Returns the norm ‖(a, b)‖ = (a^q + b^q)^(1/q) of exponent `q` for a, b ≥ 0, and the shares a^q and
/// b^q of the sum, which add up to 1.
#[inline]
fn norm(a: f64, b: f64, q: f64) -> (f64, [f64; 2]) {
    let (large, small) = if a < b { (b, a) } else { (a, b) };
    if large <= 0.0 {
        return (0.0, [1.0, 0.0]);
    }
    let r = small / large;
    // Ellipsoids are frequent and need no powers.
    let is_ellipse = (q - 2.0).abs() < f64::EPSILON;
    let (t, root) = if is_ellipse {
        let t = r * r;
        (t, (1.0 + t).sqrt())
    } else {
        let t = powf(r, q);
        (t, powf(1.0 + t, 1.0 / q))
    };
    let major = 1.0 / (1.0 + t);
    let minor = t * major;
    (large * root, if a < b { [minor, major] } else { [major, minor] })
}

/// Derivative of a norm of exponent q by a coordinate: the quotient of the coordinate's share and
/// `part`, the coordinate's ratio to the norm. It equals the power q − 1 of `part`, and is 0 if `part`
/// is 0.
#[inline]
fn slope(share: f64, part: f64) -> f64 {
    if part > 0.0 { share / part } else { 0.0 }
}

/// Vector √(XY) (1/a, −1/b), where a, b (`parts`) are the ratios of two coordinates to their norm of
/// exponent `q`, and X, Y (`shares`) are their shares in it; finite even if a ratio is 0.
#[inline]
fn across(parts: [f64; 2], shares: [f64; 2], q: f64) -> [f64; 2] {
    let [a, b] = parts;
    if a > MIN_COORDINATE_RATIO && b > MIN_COORDINATE_RATIO {
        let root = (shares[0] * shares[1]).sqrt();
        return [root / a, -root / b];
    }
    // √(XY)/a = a^(q/2 − 1) next to the other axis.
    let steep = powf(MIN_COORDINATE_RATIO, 0.5 * q - 1.0);
    if a > b { [steep * MIN_COORDINATE_RATIO, -steep] } else { [steep, -steep * MIN_COORDINATE_RATIO] }
}

impl Grain {
    /// Computes the support point of the shape, without its layer, along the unit direction `n`, and the
    /// derivative of the point with respect to `n`.
    #[inline]
    pub(super) fn support_derivative(&self, n: &V3) -> SupportDerivative {
        let semi = self.semi(n);
        let nu = n.component_mul(&semi).abs();
        let [q1, q2] = self.dual;
        let (rho, inner) = norm(nu.x, nu.y, q1);
        let (h, outer) = norm(rho, nu.z, q2);
        // A zero of either sign belongs to the positive side, so that exchanging the grains does not
        // change the result.
        let sign = n.map(|x| if x < 0.0 { -1.0 } else { 1.0 });
        let (around, up) = (rho / h, nu.z / h);
        let tiny = MIN_COORDINATE_RATIO * h;
        // On the z axis, ν_x and ν_y do not define a direction: use the one midway between x and y.
        let (parts, inner) =
            if rho > tiny { ([nu.x / rho, nu.y / rho], inner) } else { ([powf(0.5, 1.0 / q1); 2], [0.5; 2]) };
        let gradient = [slope(inner[0], parts[0]), slope(inner[1], parts[1])];
        let radial = slope(outer[0], around);
        let u = V3::new(radial * gradient[0], radial * gradient[1], slope(outer[1], up));
        // Second derivative of the inner norm, (q₁ − 1)/ρ · dyad, times ∂h/∂ρ = (ρ/h)^(q₂ − 1).
        let v = across(parts, inner, q1);
        let bend = if rho > tiny {
            (radial * (q1 - 1.0) / rho).sqrt()
        } else {
            (powf(MIN_COORDINATE_RATIO, q2 - 2.0) * (q1 - 1.0) / h).sqrt()
        };
        let k = across([around, up], outer, q2);
        let lift = ((q2 - 1.0) / h).sqrt();
        let side = sign.component_mul(&semi);
        SupportDerivative {
            point: u.component_mul(&side),
            height: h,
            v: V3::new(bend * v[0] * side.x, bend * v[1] * side.y, 0.0),
            k: V3::new(
                lift * k[0] * gradient[0] * side.x,
                lift * k[0] * gradient[1] * side.y,
                lift * k[1] * side.z,
            ),
            shares: [inner, outer],
        }
    }
}
