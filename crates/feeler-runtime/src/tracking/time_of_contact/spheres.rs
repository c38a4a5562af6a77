//! Bounds of the signed distance of a moving sphere or vertex from a canonical feature.
//!
//! The signed distance of a point c from a canonical feature is s |e| − σ: e is the vector to c from the
//! nearest point of the skeleton (a point, the axis of a cylinder, the circle of a torus), σ the sum of both
//! signed radii, and s = −1 for a sphere inside a hollow. A rotation about the axis of the skeleton does not
//! change it, so only the remaining velocity field V' counts. With the velocity V of c and the rotation w' of
//! V', the second derivative is at least
//!
//! −(|w'| |V| + |V'| |V| / ρ + change), and if s = −1, also −|V'|² / |e|,
//!
//! where ρ is the distance of c from the axis.
//!
//! # Source
//! MATH §24.

use super::moving::{closing_time, travel_time};
use feeler_geom::skeleton::Primitive;
use feeler_geom::{P3, Twist, V3};

/// Motion of the centre of a sphere in the frame of the other feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovingSphere {
    /// Centre (mm) of the sphere.
    pub center: P3,
    /// Signed radius (mm); 0 for a vertex.
    pub sigma: f64,
    /// Velocity field of the sphere's solid in the frame of the other feature.
    pub field: Twist,
    /// Upper bound of the rate of change of the field (mm per squared unit of time).
    pub change: f64,
    /// Duration for which the bounds of the motion are valid.
    pub lasts: f64,
}

/// Fraction of the distance from the skeleton or its axis by which the centre may move while the bounds hold.
/// With a larger value the curvature of the path grows, with a smaller one the bounds hold for less time.
const MAX_RELATIVE_MOTION: f64 = 0.25;

impl MovingSphere {
    /// Time for which the signed distance from `other` is proved to stay above −`depth` (mm). `None` for
    /// cones, and for concentric spheres and hollows, whose distance has no bounded second derivative.
    pub(crate) fn safe_time(&self, other: &Primitive, depth: f64) -> Option<f64> {
        let speed = self.field.at(&self.center).norm() + self.change * self.lasts;
        let Skeleton { offset, sigma, axis, field } = self.skeleton(other)?;
        let sum = self.sigma + sigma;
        if sum == 0.0 && sigma == 0.0 && !matches!(other, Primitive::Plane { .. }) {
            // Two vertices, or a vertex and an edge, have no negative distance.
            return Some(f64::INFINITY);
        }
        let own = field.at(&self.center);
        let mut change = field.w.norm() * speed + self.change;
        let (gap, closing, lasts) = if let Offset::Height(height, normal) = offset {
            (height - sum, -normal.dot(&own), f64::INFINITY)
        } else {
            let Offset::Vector(e) = offset else { return None };
            let length = e.norm();
            let n = e.try_normalize(f64::MIN_POSITIVE)?;
            // At depths of the order of the sum, the inside cannot be distinguished from the outside.
            if sum.abs() <= 4.0 * depth {
                return None;
            }
            let side = sum.signum();
            let radius = axis.unwrap_or(f64::INFINITY);
            let lasts = travel_time(MAX_RELATIVE_MOTION * length.min(radius), own.norm(), change);
            let own_speed = own.norm() + change * lasts.min(self.lasts);
            let shrink = 1.0 / (1.0 - MAX_RELATIVE_MOTION);
            change += shrink * own_speed * speed / radius;
            if side < 0.0 {
                change += shrink * own_speed * own_speed / length;
            }
            (side * length - sum, -side * n.dot(&own), lasts)
        };
        if gap <= -depth {
            return Some(0.0);
        }
        Some(closing_time(gap + depth, closing, change).min(lasts))
    }

    /// Position relative to the skeleton of `other`, its signed radius, and the velocity field without the
    /// motions that map the skeleton to itself.
    fn skeleton(&self, other: &Primitive) -> Option<Skeleton> {
        let about =
            |origin: &P3, dir: &V3| self.field + Twist::rotation(origin, dir * -dir.dot(&self.field.w));
        Some(match other {
            Primitive::Plane { origin, normal } => Skeleton {
                offset: Offset::Height(normal.dot(&(self.center - origin)), *normal),
                sigma: 0.0,
                axis: None,
                field: self.field,
            },
            Primitive::Point { center, sigma } => Skeleton {
                offset: Offset::Vector(self.center - center),
                sigma: *sigma,
                axis: None,
                field: self.field + Twist::rotation(center, -self.field.w),
            },
            Primitive::Line { slope, .. } if *slope != 0.0 => return None,
            Primitive::Line { origin, dir, sigma, .. } => {
                let w = self.center - origin;
                let e = w - dir * dir.dot(&w);
                let field = about(origin, dir);
                let along = Twist::translation(dir * -dir.dot(&field.at(&self.center)));
                Skeleton {
                    offset: Offset::Vector(e),
                    sigma: *sigma,
                    axis: Some(e.norm()),
                    field: field + along,
                }
            }
            Primitive::Circle { frame, radius, sigma } => {
                let w = self.center - frame.origin;
                let height = frame.z.dot(&w);
                let radial = w - frame.z * height;
                let r = radial.try_normalize(f64::MIN_POSITIVE)?;
                Skeleton {
                    offset: Offset::Vector(w - r * *radius),
                    sigma: *sigma,
                    axis: Some(radial.norm()),
                    field: about(&frame.origin, &frame.z),
                }
            }
        })
    }
}

/// Position of a point relative to a skeleton.
enum Offset {
    /// Vector (mm) from the nearest point of the skeleton.
    Vector(V3),
    /// Height (mm) above a plane, and its normal.
    Height(f64, V3),
}

/// A moving point relative to the skeleton of a canonical feature.
struct Skeleton {
    offset: Offset,
    /// Signed radius (mm) of the feature.
    sigma: f64,
    /// Distance (mm) of the point from the axis of rotation of the skeleton; `None` without one.
    axis: Option<f64>,
    /// Velocity field of the point without the motions that map the skeleton to itself.
    field: Twist,
}
