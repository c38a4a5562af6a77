//! A plane and any primitive: `n` is the plane's normal, and the extreme points of the skeleton along it
//! are critical.

use super::solve::{Job, on_nappe, sample};
use super::{Critical, Family, Primitive};
use crate::{P3, V3, math};

/// Adds the critical pairs of a plane A, given by a point and its outward unit normal, and any primitive
/// B.
pub(super) fn solve(job: &mut Job<'_>, origin: P3, normal: V3, other: &Primitive) {
    match *other {
        Primitive::Plane { origin: o_b, normal: n_b } => {
            let d = (o_b - origin).dot(&normal);
            if (normal + n_b).norm() * job.extent <= job.tol {
                job.add_family(Family::Two, d, d);
            }
        }
        Primitive::Point { .. } => add(job, origin, normal, 0.0),
        Primitive::Line { dir, slope, .. } => {
            // The distance along the line is affine with this slope.
            let tilt = normal.dot(&dir) - slope;
            let at = |t: f64| {
                let b = sample(other, t);
                ((b.c - origin).dot(&normal) - b.sigma, on_nappe(&b, job.noise))
            };
            let ends = [at(-job.extent), at(0.0), at(job.extent)];
            if tilt.abs() * job.extent <= job.tol && ends.iter().any(|e| e.1) {
                job.add_family(Family::One, ends[0].0.min(ends[2].0), ends[0].0.max(ends[2].0));
            }
        }
        Primitive::Circle { frame, radius, sigma } => {
            let (nx, ny) = (normal.dot(&frame.x), normal.dot(&frame.y));
            let tilt = math::hypot(nx, ny);
            let mid = (frame.origin - origin).dot(&normal) - sigma;
            if 2.0 * tilt * radius <= job.tol {
                job.add_family(Family::One, mid - tilt * radius, mid + tilt * radius);
            }
            if tilt > 16.0 * f64::EPSILON {
                let far = math::atan2(ny, nx) * radius;
                add(job, origin, normal, far + std::f64::consts::PI * radius);
                add(job, origin, normal, far);
            }
        }
    }
}

/// Adds the critical pair of plane A and B's sphere at arc length `t` (mm), if its distance is in the
/// range. `Job::add` does not support planes.
fn add(job: &mut Job<'_>, origin: P3, normal: V3, t: f64) {
    let b = sample(job.b, t);
    let p_b = b.c - normal * b.sigma;
    let distance = (p_b - origin).dot(&normal);
    if distance.is_finite() && job.in_range(distance, distance) {
        job.out.isolated.push(Critical { p_a: p_b - normal * distance, p_b, n: normal, distance });
    }
}
