//! Support points with their derivative.
//!
//! The support function of a poly-superellipsoid is a norm of ν = r∘n, in each octant with its semi-axes r:
//! `h = ‖(ρ, ν_z)‖` in the norm of exponent q₂, `ρ = ‖(ν_x, ν_y)‖` in that of q₁, with q = 2/(2 − ε). Its
//! gradient is the support point, its second derivative how that moves with the direction: the inverse of the
//! curvature. Of a norm ‖(x, y)‖ = ρ with shares X = (x/ρ)^q and Y = 1 − X it is
//! `(q − 1)/ρ · XY · v vᵀ`, v = (ρ/x, −ρ/y), so that of h is a sum of two dyads.
//!
//! # Source
//! POLY (3.31), (3.36); the norms are those that are dual to the equation of the surface.
//! # Deviations
//! POLY's Jacobian is one of finite differences; this one costs four powers, as many as the point itself.

use super::shape::Grain;
use feeler_geom::V3;
use feeler_geom::math::powf;

/// A support point, in the grain's coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Second {
    pub point: V3,
    /// ⟨point, n⟩.
    pub height: f64,
    /// The second derivative of the support function by a unit direction is `v vᵀ + k kᵀ`.
    pub v: V3,
    pub k: V3,
    /// Shares of the first two coordinates in ρ, and of ρ and the third in h; each pair has the sum 1.
    pub shares: [[f64; 2]; 2],
}

/// Where a coordinate of ν is a smaller part of the largest one than this, its second derivative is taken as
/// there: on the axes of flat grains it is infinite.
pub(super) const FLOOR: f64 = 1e-13;

/// ‖(a, b)‖ for a, b ≥ 0 and the shares of both.
#[inline]
fn norm(a: f64, b: f64, q: f64) -> (f64, [f64; 2]) {
    let (large, small) = if a < b { (b, a) } else { (a, b) };
    if large <= 0.0 {
        return (0.0, [1.0, 0.0]);
    }
    let r = small / large;
    // Ellipsoids are frequent, and cheap.
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

/// A share divided by its coordinate's part of the norm: the power q − 1 of that part. 0 of nothing.
#[inline]
fn slope(share: f64, part: f64) -> f64 {
    if part > 0.0 { share / part } else { 0.0 }
}

/// The vector √(XY) (1/a, −1/b) for the parts a, b of a norm and their shares: finite where a part is 0.
#[inline]
fn across(parts: [f64; 2], shares: [f64; 2], q: f64) -> [f64; 2] {
    let [a, b] = parts;
    if a > FLOOR && b > FLOOR {
        let root = (shares[0] * shares[1]).sqrt();
        return [root / a, -root / b];
    }
    // √(XY)/a = a^(q/2 − 1) next to the other axis.
    let steep = powf(FLOOR, 0.5 * q - 1.0);
    if a > b { [steep * FLOOR, -steep] } else { [steep, -steep * FLOOR] }
}

impl Grain {
    /// The support point of the shape along a unit direction, without its layer.
    #[inline]
    pub(super) fn second(&self, n: &V3) -> Second {
        let semi = self.semi(n);
        let nu = n.component_mul(&semi).abs();
        let [q1, q2] = self.dual;
        let (rho, inner) = norm(nu.x, nu.y, q1);
        let (h, outer) = norm(rho, nu.z, q2);
        // Zeros of either sign are on the positive side: grains seen from the other one are the same grains.
        let sign = n.map(|x| if x < 0.0 { -1.0 } else { 1.0 });
        let (around, up) = (rho / h, nu.z / h);
        let tiny = FLOOR * h;
        // On the z axis, where ν_x and ν_y tell nothing, as midway between x and y.
        let (parts, inner) =
            if rho > tiny { ([nu.x / rho, nu.y / rho], inner) } else { ([powf(0.5, 1.0 / q1); 2], [0.5; 2]) };
        let gradient = [slope(inner[0], parts[0]), slope(inner[1], parts[1])];
        let radial = slope(outer[0], around);
        let u = V3::new(radial * gradient[0], radial * gradient[1], slope(outer[1], up));
        // Of the inner norm: (q₁ − 1)/ρ · dyad, times ∂h/∂ρ = (ρ/h)^(q₂ − 1).
        let v = across(parts, inner, q1);
        let bend = if rho > tiny {
            (radial * (q1 - 1.0) / rho).sqrt()
        } else {
            (powf(FLOOR, q2 - 2.0) * (q1 - 1.0) / h).sqrt()
        };
        let k = across([around, up], outer, q2);
        let lift = ((q2 - 1.0) / h).sqrt();
        let side = sign.component_mul(&semi);
        Second {
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
