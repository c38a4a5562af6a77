//! Potential of a canonical feature: a function of points that, along the surface or curve of another
//! feature, has its minima where the distance from the canonical feature has them. Its derivatives have
//! bounds over balls.
//!
//! # Source
//! MATH §8: the signed distance of a point `p` from a primitive. Its critical points along a surface or
//! curve are those of `± ½ |p − c|²` about a point `c`, of `± ½ ρ²` at the distance `ρ` from an axis, and
//! of `± ½ ((ρ − R)² + z²)` about a circle of the radius `R`, with the height `z` above its plane. The
//! derivatives of these potentials stay finite on the skeleton. The sign turns minima of the distance
//! into minima of the potential. For planes and cones, the potential is the signed distance.

use feeler_geom::skeleton::Primitive;
use feeler_geom::{P3, V3};
use nalgebra::Matrix3;

/// Norm of the third derivative of ρ, the distance (mm) from an axis, times ρ²: the maximum of 3 cos a
/// sin² a over all angles a, rounded up.
const THIRD_OF_RADIUS: f64 = 1.1548;

/// Derivatives of the potential of a primitive (see the module documentation) at the centre of a ball,
/// and bounds of them in the ball. The potential is a signed distance for planes and cones, otherwise
/// plus or minus half a squared distance (mm²).
#[derive(Clone, Copy, Debug)]
pub(super) struct PotentialBounds {
    /// Unit gradient, at the centre of the ball, of the signed distance from the primitive; zero where
    /// it is not defined.
    pub normal: V3,
    /// Upper bound of the difference between the unit gradient anywhere in the ball and `normal`; at least
    /// 1 if the direction is not bounded.
    pub spread: f64,
    /// Gradient of the potential at the centre of the ball.
    pub gradient: V3,
    /// Hessian of the potential at the centre of the ball.
    pub hessian: Matrix3<f64>,
    /// Upper bound of the norm of the potential's second derivative in the ball.
    pub second: f64,
    /// Upper bound of the norm of the potential's third derivative in the ball.
    pub third: f64,
}

/// Signed distance (mm) of the point `p` from a primitive, positive outside the material. It equals that
/// of `feeler_geom` and is also defined on the focal set.
pub(super) fn distance(primitive: &Primitive, p: &P3) -> f64 {
    match *primitive {
        Primitive::Plane { origin, normal } => (p - origin).dot(&normal),
        Primitive::Point { center, sigma } => sheet_sign(sigma) * (p - center).norm() - sigma,
        Primitive::Line { origin, dir, sigma, slope } => {
            let x = p - origin;
            let z = x.dot(&dir);
            let side = sheet_sign(if slope == 0.0 { sigma } else { slope });
            side * (1.0 - slope * slope).sqrt() * (x - dir * z).norm() - sigma - slope * z
        }
        Primitive::Circle { frame, radius, sigma } => {
            let q = frame.local(p);
            let rho = feeler_geom::math::hypot(q.x, q.y);
            sheet_sign(sigma) * feeler_geom::math::hypot(rho - radius, q.z) - sigma
        }
    }
}

/// Returns the sign of the potential: +1 if minima of the signed distance are minima of the squared
/// distance from the skeleton, −1 if they are maxima of it. `sigma` is the signed radius of the
/// primitive, or the slope of a cone.
fn sheet_sign(sigma: f64) -> f64 {
    if sigma < 0.0 { -1.0 } else { 1.0 }
}

/// Computes the derivatives of the potential at `p`, with bounds over the ball of radius `reach` (mm)
/// about it. `None` if the ball may contain points without derivatives (the axis of a circle or of a
/// cone).
pub(super) fn bounds_near(primitive: &Primitive, p: &P3, reach: f64) -> Option<PotentialBounds> {
    // Unit vectors along x and y differ by at most |x − y| over the shorter length.
    let spread_of = |len: f64| if len > reach { reach / (len - reach) } else { f64::INFINITY };
    let unit = |v: &V3| v.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(V3::zeros);
    let square = |x: V3, side: f64, hessian: Matrix3<f64>| PotentialBounds {
        normal: unit(&x) * side,
        spread: spread_of(x.norm()),
        gradient: x * side,
        hessian: hessian * side,
        second: 1.0,
        third: 0.0,
    };
    let identity = Matrix3::identity();
    Some(match *primitive {
        Primitive::Plane { normal, .. } => PotentialBounds {
            normal,
            spread: 0.0,
            gradient: normal,
            hessian: Matrix3::zeros(),
            second: 0.0,
            third: 0.0,
        },
        Primitive::Point { center, sigma } => square(p - center, sheet_sign(sigma), identity),
        Primitive::Line { origin, dir, sigma, slope: 0.0 } => {
            let x = p - origin;
            square(x - dir * x.dot(&dir), sheet_sign(sigma), identity - dir * dir.transpose())
        }
        Primitive::Line { origin, dir, slope, .. } => {
            let (side, cos) = (sheet_sign(slope), (1.0 - slope * slope).sqrt());
            let x = p - origin;
            let across = x - dir * x.dot(&dir);
            let rho = across.norm();
            let min_rho = rho - reach;
            if min_rho <= 0.0 {
                return None;
            }
            let e = across / rho;
            let around = dir.cross(&e);
            let gradient = e * (side * cos) - dir * slope;
            PotentialBounds {
                normal: gradient,
                spread: cos * reach / min_rho,
                gradient,
                hessian: around * around.transpose() * (side * cos / rho),
                second: cos / min_rho,
                third: THIRD_OF_RADIUS * cos / (min_rho * min_rho),
            }
        }
        Primitive::Circle { frame, radius, sigma } => {
            let side = sheet_sign(sigma);
            let x = p - frame.origin;
            let across = x - frame.z * x.dot(&frame.z);
            let rho = across.norm();
            let min_rho = rho - reach;
            if min_rho <= 0.0 {
                return None;
            }
            let e = across / rho;
            let around = frame.z.cross(&e);
            let gradient = x - e * radius;
            let len = gradient.norm();
            let bend = |rho: f64| (1.0 - radius / rho).abs();
            PotentialBounds {
                normal: unit(&gradient) * side,
                spread: if len > reach {
                    reach * (1.0 / (len - reach)).max(1.0 / min_rho)
                } else {
                    f64::INFINITY
                },
                gradient: gradient * side,
                hessian: (identity - around * around.transpose() * (radius / rho)) * side,
                second: bend(min_rho).max(bend(rho + reach)).max(1.0),
                third: THIRD_OF_RADIUS * radius.abs() / (min_rho * min_rho),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::Frame;
    use feeler_geom::skeleton::signed_distance;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn vector(rng: &mut SmallRng) -> V3 {
        V3::from_fn(|_, _| rng.random_range(-1.0..1.0))
    }

    fn primitives(rng: &mut SmallRng) -> Vec<Primitive> {
        let frame = Frame::from_z(P3::from(vector(rng)), vector(rng), None).unwrap();
        let mut out = vec![Primitive::Plane { origin: frame.origin, normal: frame.z }];
        for sigma in [0.0, 0.4, -0.4] {
            out.push(Primitive::Point { center: frame.origin, sigma });
            out.push(Primitive::Line { origin: frame.origin, dir: frame.z, sigma, slope: 0.0 });
            out.push(Primitive::Circle { frame, radius: 0.9, sigma });
            out.push(Primitive::Circle { frame, radius: -0.3, sigma });
        }
        out.extend([0.3, -0.7].map(|slope| Primitive::Line {
            origin: frame.origin,
            dir: frame.z,
            sigma: 0.0,
            slope,
        }));
        out
    }

    /// Compares values, normals and derivatives with [`signed_distance`] and with finite differences, and
    /// tests the bounds over balls.
    #[test]
    fn bounds_hold() {
        let mut rng = SmallRng::seed_from_u64(31);
        let mut decided = 0;
        for _ in 0..300 {
            for primitive in primitives(&mut rng) {
                let p = P3::from(vector(&mut rng) * 2.0);
                let s = signed_distance(&primitive, &p).unwrap();
                assert!((distance(&primitive, &p) - s.value).abs() < 1e-14, "{primitive:?}");
                let reach = rng.random_range(0.01..0.5);
                let Some(n) = bounds_near(&primitive, &p, reach) else { continue };
                assert!((n.normal - s.gradient).norm() < 1e-12, "{primitive:?}");
                // Along the normal, and with the same tangential Hessian up to the factor.
                let factor = n.gradient.norm();
                assert!((n.gradient - s.gradient * factor).norm() < 1e-12, "{primitive:?}");
                for _ in 0..5 {
                    let d = vector(&mut rng);
                    let q = p + d * (reach / 1.8);
                    let step = (q - p).norm();
                    let Some(m) = bounds_near(&primitive, &q, 0.0) else { continue };
                    if n.spread < 1.0 {
                        assert!((m.normal - n.normal).norm() <= n.spread + 1e-12, "{primitive:?} {n:?}");
                        decided += 1;
                    }
                    let mean = (m.gradient - n.gradient).norm() / step;
                    assert!(mean <= n.second + 1e-12, "{primitive:?}: {mean} {n:?}");
                    let change = (m.hessian - n.hessian).symmetric_eigenvalues().amax() / step;
                    assert!(change <= n.third + 1e-9, "{primitive:?}: {change} {n:?}");
                }
                let h = 1e-6;
                for i in 0..3 {
                    let mut e = V3::zeros();
                    e[i] = h;
                    let (a, b) =
                        (bounds_near(&primitive, &(p - e), 0.0), bounds_near(&primitive, &(p + e), 0.0));
                    let (Some(a), Some(b)) = (a, b) else { continue };
                    let column = (b.gradient - a.gradient) / (2.0 * h);
                    let size = 1.0 + n.third + n.hessian.amax() * n.hessian.amax();
                    assert!(
                        (column - n.hessian.column(i)).norm() < 1e-7 * size,
                        "{primitive:?}: {column} {n:?}"
                    );
                }
            }
        }
        assert!(decided > 3000, "{decided}");
    }
}
