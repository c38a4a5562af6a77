//! Bounds of the signed distance from a primitive over a box.

use super::Primitive;
use super::signed_distance::{across, sheet};
use crate::{Obb, P3, V3};

/// Value and gradient of the signed distance at a point, and the distance of that point from the places
/// without a gradient.
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

/// The value of [`signed_distance`](super::signed_distance()) alone; `None` on a circle's axis.
#[must_use]
pub fn signed_distance_value(primitive: &Primitive, p: &P3) -> Option<f64> {
    Some(middle(primitive, p).0).filter(|value| value.is_finite())
}

/// Value and gradient of [`signed_distance`](super::signed_distance()) at a point, and a length (mm) within
/// which the gradient exists: in a ball of less than this radius the second derivatives are no larger than
/// the inverse of what is left of it. Where the point has no gradient the length is 0 and the gradient of no
/// use.
#[must_use]
pub fn signed_distance_with_room(primitive: &Primitive, p: &P3) -> (f64, V3, f64) {
    let (value, gradient, room) = middle(primitive, p);
    if value.is_finite() && gradient.x.is_finite() && !room.is_nan() {
        return (value, gradient, room);
    }
    // On an axis: the distance itself is known all the same.
    let beside =
        p + V3::new(1.0, 1.0, 1.0) * (f64::EPSILON * (1.0 + p.coords.amax() + primitive.reach()) * 64.0);
    (middle(primitive, &beside).0, V3::zeros(), 0.0)
}

/// Value and gradient of [`signed_distance`](super::signed_distance()) alone, given the primitive's
/// [`reach`](Primitive::reach); `None` where it has no gradient, to rounding.
#[must_use]
pub fn signed_distance_gradient(primitive: &Primitive, reach: f64, p: &P3) -> Option<(f64, V3)> {
    let (value, gradient, nearest) = middle(primitive, p);
    let rounding = 4.0 * f64::EPSILON * (p.coords.amax() + reach);
    (nearest > rounding && value.is_finite()).then_some((value, gradient))
}

/// Bounds of [`signed_distance`](super::signed_distance()) over an oriented box, to rounding: exact for a
/// plane, else by the value and the gradient in the middle and what curvature makes of them, or by the way
/// alone, whichever is tighter.
#[must_use]
pub fn range_over_box(primitive: &Primitive, b: &Obb) -> [f64; 2] {
    let radius = b.half.norm();
    let (value, gradient, nearest) = middle(primitive, &b.center);
    let by_way = if nearest > 0.0 && nearest.is_finite() && nearest <= radius {
        // No gradient to rely on somewhere in the box.
        radius
    } else {
        let linear = (0..3).fold(0.0, |s, k| s + b.half[k] * b.axes[k].dot(&gradient).abs());
        let bend = if nearest.is_finite() { 0.5 * radius * radius / (nearest - radius) } else { 0.0 };
        // Not a number on the skeleton itself.
        (linear + bend).min(radius)
    };
    [value - by_way, value + by_way]
}

/// Value and gradient of [`signed_distance`](super::signed_distance()) at a point, and an angle (rad) that
/// the gradients at points no farther than `radius` are within; `None` where that ball meets places without a
/// gradient.
#[must_use]
pub fn gradient_over_ball(primitive: &Primitive, center: &P3, radius: f64) -> Option<(f64, V3, f64)> {
    let (value, gradient, nearest) = middle(primitive, center);
    // The second derivatives are no larger than the inverse distance from those places.
    let turn = if nearest.is_finite() { radius / (nearest - radius) } else { 0.0 };
    (radius < nearest).then_some((value, gradient, turn))
}

#[cfg(test)]
mod tests {
    use super::super::signed_distance;
    use super::*;
    use crate::testing::{frame, rng, unit};
    use rand::Rng;

    /// Value and gradient alone are those of the whole.
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
            assert_eq!(signed_distance_gradient(&axis, axis.reach(), &p), None, "no direction");
        }
    }

    /// Gradients in a ball are within the angle, cones of any slope and places far above circles included.
    #[test]
    fn gradients_stay_within_the_angle() {
        let mut r = rng(12);
        let mut told = 0;
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
            told += 1;
            for _ in 0..20 {
                let p = center + unit(&mut r) * (radius * r.random_range(0.0..=1.0));
                let Some(d) = signed_distance(&primitive, &p) else { continue };
                let alone = signed_distance_value(&primitive, &p).unwrap();
                assert!((alone - d.value).abs() < 1e-13 * far, "{alone} {}", d.value);
                let angle = crate::math::atan2(gradient.cross(&d.gradient).norm(), gradient.dot(&d.gradient));
                assert!(angle <= turn + 1e-9, "{angle} > {turn}: {primitive:?}, {center}, {radius}");
            }
        }
        assert!(told > 10_000, "{told}");
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
        assert!(n > 5000 && widest < 200.0, "{widest}");
    }
}
