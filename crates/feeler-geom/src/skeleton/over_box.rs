//! Signed distance from a primitive without second derivatives, and its bounds over boxes and balls.

use super::Primitive;
use super::signed_distance::{across, sheet};
use crate::{Obb, P3, V3};

/// Returns the value and the gradient of the signed distance at `p`, and a lower bound of the distance
/// (mm) from `p` to the nearest point at which the gradient does not exist.
fn middle(primitive: &Primitive, p: &P3) -> (f64, V3, f64) {
    match *primitive {
        Primitive::Plane { origin, normal } => ((p - origin).dot(&normal), normal, f64::INFINITY),
        Primitive::Point { center, sigma } => {
            let (side, x) = (sheet(sigma), p - center);
            let len = x.norm();
            (side * len - sigma, x * (side / len), len)
        }
        Primitive::Line { origin, dir, sigma, slope } => {
            let side = if slope == 0.0 { sheet(sigma) } else { sheet(slope) };
            let cos = (1.0 - slope * slope).sqrt();
            let x = p - origin;
            let along = x.dot(&dir);
            let radial = across(&x, &dir);
            let len = radial.norm();
            let value = side * cos * len - sigma - slope * along;
            (value, radial * (side * cos / len) - dir * slope, len)
        }
        Primitive::Circle { frame, radius: major, sigma } => {
            let side = sheet(sigma);
            let x = p - frame.origin;
            let height = x.dot(&frame.z);
            let radial = across(&x, &frame.z);
            let rho = radial.norm();
            let to = radial * ((rho - major) / rho) + frame.z * height;
            let len = to.norm();
            (side * len - sigma, to * (side / len), len.min(rho))
        }
    }
}

/// Returns the value (mm) of [`signed_distance`](super::signed_distance()) without its derivatives.
/// Returns `None` on a circle's axis.
#[must_use]
pub fn signed_distance_value(primitive: &Primitive, p: &P3) -> Option<f64> {
    Some(middle(primitive, p).0).filter(|value| value.is_finite())
}

/// Returns the value (mm) and the gradient of [`signed_distance`](super::signed_distance()) at `p`, and
/// a radius `r` (mm) of a ball around `p` in which the gradient exists. At a distance `x < r` from `p`,
/// the second derivatives are at most `1 / (r - x)`. If the gradient does not exist at `p` itself, the
/// radius and the gradient are zero.
#[must_use]
pub fn signed_distance_with_clear_radius(primitive: &Primitive, p: &P3) -> (f64, V3, f64) {
    let (value, gradient, clear_radius) = middle(primitive, p);
    if value.is_finite() && gradient.x.is_finite() && !clear_radius.is_nan() {
        return (value, gradient, clear_radius);
    }
    // On an axis the distance is still defined; it is evaluated at a point just beside the axis.
    let beside =
        p + V3::new(1.0, 1.0, 1.0) * (f64::EPSILON * (1.0 + p.coords.amax() + primitive.reach()) * 64.0);
    (middle(primitive, &beside).0, V3::zeros(), 0.0)
}

/// Returns the value (mm) and the gradient of [`signed_distance`](super::signed_distance()) at `p`
/// without the Hessian. `reach` is the primitive's [`reach`](Primitive::reach). Returns `None` if the
/// gradient does not exist at `p`, up to rounding.
#[must_use]
pub fn signed_distance_gradient(primitive: &Primitive, reach: f64, p: &P3) -> Option<(f64, V3)> {
    let (value, gradient, clear_radius) = middle(primitive, p);
    let rounding = 4.0 * f64::EPSILON * (p.coords.amax() + reach);
    (clear_radius > rounding && value.is_finite()).then_some((value, gradient))
}

/// Returns a lower and an upper bound (mm) of [`signed_distance`](super::signed_distance()) over an
/// oriented box, valid up to rounding. They are exact for a plane. Otherwise the tighter of two bounds
/// is returned: the linear expansion at the centre with a curvature term, or the Lipschitz bound from
/// the box's radius.
#[must_use]
pub fn range_over_box(primitive: &Primitive, b: &Obb) -> [f64; 2] {
    let radius = b.half.norm();
    let (value, gradient, clear_radius) = middle(primitive, &b.center);
    let variation = if clear_radius > 0.0 && clear_radius.is_finite() && clear_radius <= radius {
        // The gradient may not exist somewhere in the box.
        radius
    } else {
        let linear = (0..3).fold(0.0, |s, k| s + b.half[k] * b.axes[k].dot(&gradient).abs());
        let bend =
            if clear_radius.is_finite() { 0.5 * radius * radius / (clear_radius - radius) } else { 0.0 };
        // `min` replaces the NaN that results on the skeleton itself.
        (linear + bend).min(radius)
    };
    [value - variation, value + variation]
}

/// Returns the value (mm) and the gradient of [`signed_distance`](super::signed_distance()) at `center`,
/// and an upper bound (rad) of the angle between that gradient and the gradients at points within
/// `radius` (mm) of `center`. Returns `None` if that ball may contain points without a gradient.
#[must_use]
pub fn gradient_over_ball(primitive: &Primitive, center: &P3, radius: f64) -> Option<(f64, V3, f64)> {
    let (value, gradient, clear_radius) = middle(primitive, center);
    // The second derivatives are at most the inverse distance from the points without a gradient.
    let turn = if clear_radius.is_finite() { radius / (clear_radius - radius) } else { 0.0 };
    (radius < clear_radius).then_some((value, gradient, turn))
}

#[cfg(test)]
mod tests {
    use super::super::signed_distance;
    use super::*;
    use crate::testing::{frame, rng, unit};
    use rand::Rng;

    /// Value and gradient of [`signed_distance_gradient`] at a point agree with those of [`signed_distance`].
    #[test]
    fn values_with_gradients() {
        let mut r = rng(13);
        for _ in 0..2000 {
            let (f, sigma) = (frame(&mut r), r.random_range(-1.0..1.0));
            let p = f.origin + unit(&mut r) * r.random_range(0.0..3.0);
            for primitive in [
                Primitive::Plane { origin: f.origin, normal: f.z },
                Primitive::Point { center: f.origin, sigma },
                Primitive::Line { origin: f.origin, dir: f.z, sigma, slope: 0.0 },
                Primitive::Line { origin: f.origin, dir: f.z, sigma, slope: 0.3 },
                Primitive::Circle { frame: f, radius: 1.5, sigma },
            ] {
                let whole = signed_distance(&primitive, &p).unwrap();
                let (value, gradient) = signed_distance_gradient(&primitive, primitive.reach(), &p).unwrap();
                let error = (value - whole.value).abs() + (gradient - whole.gradient).norm();
                assert!(error < 1e-12, "{error} of {primitive:?} at {p}");
            }
        }
        let axis = Primitive::Line { origin: P3::origin(), dir: V3::z(), sigma: 1.0, slope: 0.0 };
        for x in [0.0, 1e-16] {
            let p = P3::new(x, 0.0, 2.0);
            assert_eq!(signed_distance_gradient(&axis, axis.reach(), &p), None, "on the axis");
        }
    }

    /// Gradients at points of a ball deviate from the gradient at its centre by at most the angle of
    /// [`gradient_over_ball`], also for cones of any slope and for points far above circles.
    #[test]
    fn gradients_stay_within_the_angle() {
        let mut r = rng(12);
        let mut tested = 0;
        for _ in 0..40_000 {
            let f = frame(&mut r);
            let sigma = r.random_range(-1.0..1.0);
            let primitive = match r.random_range(0..4) {
                0 => Primitive::Plane { origin: f.origin, normal: f.z },
                1 => Primitive::Point { center: f.origin, sigma },
                2 => Primitive::Line {
                    origin: f.origin,
                    dir: f.z,
                    sigma: 0.0,
                    slope: [-0.99, -0.5, 0.2, 0.9, 0.99][r.random_range(0..5)],
                },
                _ => Primitive::Circle { frame: f, radius: 1.0, sigma },
            };
            let (near, far) = (r.random_range(0.0..1.5), [0.3, 2.0, 10.0][r.random_range(0..3)]);
            let center: P3 = f.origin + unit(&mut r) * near + f.z * far;
            let radius = r.random_range(0.0..1.2);
            let Some((_, gradient, turn)) = gradient_over_ball(&primitive, &center, radius) else { continue };
            tested += 1;
            for _ in 0..20 {
                let p = center + unit(&mut r) * (radius * r.random_range(0.0..=1.0));
                let Some(d) = signed_distance(&primitive, &p) else { continue };
                let alone = signed_distance_value(&primitive, &p).unwrap();
                assert!((alone - d.value).abs() < 1e-13 * far, "{alone} {}", d.value);
                let angle = crate::math::atan2(gradient.cross(&d.gradient).norm(), gradient.dot(&d.gradient));
                assert!(angle <= turn + 1e-9, "{angle} > {turn}: {primitive:?}, {center}, {radius}");
            }
        }
        assert!(tested > 10_000, "{tested}");
    }

    #[test]
    fn ranges_hold_and_are_tight() {
        let mut r = rng(11);
        let (mut widest, mut n) = (0.0_f64, 0);
        for _ in 0..30_000 {
            let f = frame(&mut r);
            let sign = if r.random_bool(0.5) { 1.0 } else { -1.0 };
            let primitive = match r.random_range(0..5) {
                0 => Primitive::Plane { origin: f.origin, normal: f.z },
                1 => Primitive::Point { center: f.origin, sigma: sign * r.random_range(0.0..2.0) },
                2 => Primitive::Line {
                    origin: f.origin,
                    dir: f.z,
                    sigma: sign * r.random_range(0.0..2.0),
                    slope: 0.0,
                },
                3 => Primitive::Line {
                    origin: f.origin,
                    dir: f.z,
                    sigma: 0.0,
                    slope: sign * r.random_range(0.01..0.9),
                },
                _ => Primitive::Circle { frame: f, radius: 2.0, sigma: sign * r.random_range(0.0..1.5) },
            };
            let g = frame(&mut r);
            let size = [1e-3, 0.1, 1.0][r.random_range(0..3)];
            let half = V3::from_fn(|_, _| size * r.random_range(0.0..1.0));
            let center: P3 = f.origin + unit(&mut r) * r.random_range(0.0..4.0);
            let b = Obb { center, axes: [g.x, g.y, g.z], half };
            let [lo, hi] = range_over_box(&primitive, &b);
            for _ in 0..20 {
                let q = half.map(|h| h * [-1.0, 1.0, r.random_range(-1.0..1.0)][r.random_range(0..3)]);
                let p = center + g.x * q.x + g.y * q.y + g.z * q.z;
                let Some(d) = signed_distance(&primitive, &p) else { continue };
                assert!(
                    lo - 1e-12 <= d.value && d.value <= hi + 1e-12,
                    "{} not in [{lo}, {hi}]: {primitive:?}",
                    d.value
                );
            }
            if size < 0.01 {
                let at = signed_distance(&primitive, &center).expect("off the focal set");
                let linear: f64 = (0..3).map(|k| half[k] * b.axes[k].dot(&at.gradient).abs()).sum();
                widest = widest.max(0.5 * (hi - lo) / linear.max(1e-6));
                n += 1;
            }
        }
        assert!(n > 5000 && widest < 200.0, "wide ranges: {widest} over {n} boxes");
    }
}
