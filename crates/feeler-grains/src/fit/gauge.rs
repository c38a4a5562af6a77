//! Residuals of a fit: distances of points from the surface of a poly-superellipsoid, with their
//! derivatives by the variables.
//!
//! With p = 2/ε the surface is `M = ‖(m, u_z)‖ = 1`, `m = ‖(u_x, u_y)‖`, for coordinates u relative to
//! the semi-axes. M grows linearly along rays, so (M − 1) times the distance from the centre
//! approximates the distance from the surface. With the shares X, Y of m and O, Z of M, the derivative
//! of ln M is −O X by ln rₓ, −½ O (X ln X + Y ln Y) by ε₁ and −½ (O ln O + Z ln Z) by ε₂.

use super::solve::{Residuals, VARIABLES};
use feeler_geom::V3;
use feeler_geom::math::{exp, ln, powf};
use nalgebra::{Matrix3, UnitQuaternion};

/// Residuals of a fit: the approximate distances of `points` from the surface of a shape that 14
/// variables describe. These are the logarithms of the semi-axes +x, +y, +z, −x, −y, −z, an unbounded
/// variable for each of the two exponents ([`variable_of`]), the centre, and the vector of a rotation
/// that is applied after the rotation `base` of the start.
#[derive(Clone, Debug)]
pub(super) struct Gauge<'p> {
    pub points: &'p [V3],
    pub base: UnitQuaternion<f64>,
}

/// Lower bound of fitted exponents. Boxes are fitted worse with a larger value; powers overflow with a
/// smaller one.
const MIN_EXPONENT: f64 = 0.1;
/// Upper bound of fitted exponents. Powers overflow with a larger value; octahedra are fitted worse with
/// a smaller one.
const MAX_EXPONENT: f64 = 1.9;

/// Shape and its pose: `center` and `rotation` map coordinates of the shape to those of the points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posed {
    /// Semi-axes: +x, +y, +z, −x, −y, −z.
    pub semi: [f64; 6],
    pub exponents: [f64; 2],
    pub center: V3,
    pub rotation: UnitQuaternion<f64>,
}

/// Maps an exponent between [`MIN_EXPONENT`] and [`MAX_EXPONENT`] to its unbounded variable.
pub(super) fn variable_of(exponent: f64) -> f64 {
    let part = (exponent - MIN_EXPONENT) / (MAX_EXPONENT - MIN_EXPONENT);
    ln(part / (1.0 - part))
}

/// Maps an unbounded variable to its exponent, and to the exponent's derivative by the variable.
fn exponent_of(variable: f64) -> (f64, f64) {
    let part = 1.0 / (1.0 + exp(-variable));
    let range = MAX_EXPONENT - MIN_EXPONENT;
    (MIN_EXPONENT + range * part, range * part * (1.0 - part))
}

impl Gauge<'_> {
    pub(super) fn posed(&self, v: &[f64; VARIABLES]) -> Posed {
        Posed {
            semi: std::array::from_fn(|i| exp(v[i])),
            exponents: [exponent_of(v[6]).0, exponent_of(v[7]).0],
            center: V3::new(v[8], v[9], v[10]),
            rotation: UnitQuaternion::from_scaled_axis(V3::new(v[11], v[12], v[13])) * self.base,
        }
    }
}

/// Returns x ln x for x > 0, and 0 otherwise.
fn entropy(x: f64) -> f64 {
    if x > 0.0 { x * ln(x) } else { 0.0 }
}

/// Returns the norm (a^p + b^p)^(1/p) of two non-negative numbers, and the shares of a^p and b^p in the
/// sum.
fn norm(a: f64, b: f64, p: f64) -> (f64, [f64; 2]) {
    let large = a.max(b);
    if large <= 0.0 {
        return (0.0, [1.0, 0.0]);
    }
    let (s, t) = (powf(a / large, p), powf(b / large, p));
    (large * powf(s + t, 1.0 / p), [s / (s + t), t / (s + t)])
}

/// Value of M (see the top of this file) at a point, with its derivatives. `gradient` is the gradient of
/// M by the point, in the shape's axes; `shares` are X, Y, O and Z. `sides` is, for each axis, the index
/// in [`Posed::semi`] of the semi-axis on whose side the point is.
pub(super) struct Value {
    pub m: f64,
    pub gradient: V3,
    shares: [f64; 4],
    sides: [usize; 3],
}

impl Posed {
    pub(super) fn value(&self, local: &V3) -> Value {
        let sides: [usize; 3] = std::array::from_fn(|i| if local[i] < 0.0 { i + 3 } else { i });
        let u = V3::from_fn(|i, _| local[i].abs() / self.semi[sides[i]]);
        let p = self.exponents.map(|e| 2.0 / e);
        let (around, [x, y]) = norm(u.x, u.y, p[0]);
        let (m, [o, z]) = norm(around, u.z, p[1]);
        let parts = [o * x, o * y, z];
        let slope = |i: usize| if local[i].abs() > 0.0 { m * parts[i] / local[i] } else { 0.0 };
        Value { m, gradient: V3::new(slope(0), slope(1), slope(2)), shares: [x, y, o, z], sides }
    }

    pub(super) fn local(&self, point: &V3) -> V3 {
        self.rotation.inverse_transform_vector(&(point - self.center))
    }
}

impl Residuals for Gauge<'_> {
    fn count(&self) -> usize {
        self.points.len()
    }

    fn evaluate(&self, v: &[f64; VARIABLES], write: &mut dyn FnMut(usize, f64, &[f64; VARIABLES])) {
        let posed = self.posed(v);
        let slopes = [exponent_of(v[6]).1, exponent_of(v[7]).1];
        // A change of the rotation vector is the same rotation about the axes of the points only if the
        // vector is short.
        let about = left_jacobian(&V3::new(v[11], v[12], v[13]));
        for (i, point) in self.points.iter().enumerate() {
            let arm = point - posed.center;
            let local = posed.rotation.inverse_transform_vector(&arm);
            let value = posed.value(&local);
            let [x, y, o, z] = value.shares;
            // Points are at a distance of about 1 from the origin, so the distance of each point is the
            // scale of its residual.
            let scale = point.norm();
            let mut row = [0.0; VARIABLES];
            for (side, part) in value.sides.into_iter().zip([o * x, o * y, z]) {
                row[side] = -value.m * part;
            }
            row[6] = -0.5 * value.m * o * (entropy(x) + entropy(y)) * slopes[0];
            row[7] = -0.5 * value.m * (entropy(o) + entropy(z)) * slopes[1];
            let gradient = posed.rotation * value.gradient;
            let turn = about.tr_mul(&gradient.cross(&arm));
            for k in 0..3 {
                row[8 + k] = -gradient[k];
                row[11 + k] = turn[k];
            }
            write(i, (value.m - 1.0) * scale, &row.map(|d| d * scale));
        }
    }
}

/// Returns the matrix that maps a small change of the rotation vector `w` to the additional rotation, as
/// a rotation vector in the axes of the points, which is applied after the rotation of `w`.
fn left_jacobian(w: &V3) -> Matrix3<f64> {
    let angle = w.norm();
    let cross = w.cross_matrix();
    let (a, b) = if angle < 1e-4 {
        (0.5, 1.0 / 6.0)
    } else {
        let (s, c) = feeler_geom::math::sin_cos(angle);
        ((1.0 - c) / (angle * angle), (angle - s) / (angle * angle * angle))
    };
    Matrix3::identity() + cross * a + cross * cross * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    #[test]
    fn derivatives_are_those_of_differences() {
        let mut rng = SmallRng::seed_from_u64(4);
        for _ in 0..200 {
            let points: Vec<V3> = (0..20).map(|_| V3::from_fn(|_, _| rng.random_range(-1.0..1.0))).collect();
            let base = UnitQuaternion::from_euler_angles(1.0, rng.random_range(0.0..3.0), 2.0);
            let gauge = Gauge { points: &points, base };
            let v: [f64; VARIABLES] = std::array::from_fn(|_| rng.random_range(-0.5..0.5));
            let mut rows = Vec::new();
            gauge.evaluate(&v, &mut |_, _, row| rows.push(*row));
            let at = |v: &[f64; VARIABLES]| {
                let mut out = Vec::new();
                gauge.evaluate(v, &mut |_, r, _| out.push(r));
                out
            };
            for k in 0..VARIABLES {
                let h = 1e-6;
                let (mut ahead, mut behind) = (v, v);
                ahead[k] += h;
                behind[k] -= h;
                for (i, (a, b)) in at(&ahead).iter().zip(at(&behind)).enumerate() {
                    let known = (a - b) / (2.0 * h);
                    assert!(
                        (rows[i][k] - known).abs() < 1e-5 * (1.0 + known.abs()),
                        "{i} {k}: {} {known}",
                        rows[i][k]
                    );
                }
            }
        }
    }
}
