//! A point (sphere, vertex) and a point, line or circle.

use super::signed_distance::across;
use super::solve::{Job, Pair, on_nappe, sample};
use super::{Family, Primitive};
use crate::frame::complete_basis;
use crate::{P3, V3, math};

/// Adds the critical pairs of a point A, given by the centre and the signed radius of its sphere, and a
/// point, line or circle B.
pub(super) fn solve(job: &mut Job<'_>, center: &P3, sigma: f64, other: &Primitive) {
    match *other {
        Primitive::Plane { .. } => {}
        Primitive::Point { center: c_b, sigma: sigma_b } => {
            let w = c_b - center;
            let h = w.norm();
            let mid = -sigma - sigma_b;
            let vertices = sigma == 0.0 && sigma_b == 0.0;
            if 2.0 * h <= job.tol && !vertices {
                job.add_family(Family::Two, mid - h, mid + h);
            }
            if h > job.noise {
                job.add_both(&Pair { s: 0.0, t: 0.0, n: w / h });
            } else if vertices {
                job.add(&Pair { s: 0.0, t: 0.0, n: V3::z() });
            }
        }
        Primitive::Line { origin, dir, sigma: sigma_b, slope } => {
            let q = origin - center;
            let q_across = across(&q, &dir);
            let dist = q_across.norm();
            let cos_phi = (1.0 - slope * slope).sqrt();
            let foot = -q.dot(&dir);
            let vertex_edge = sigma == 0.0 && sigma_b == 0.0 && slope == 0.0;
            let b = sample(job.b, foot);
            if 2.0 * dist <= job.tol && !vertex_edge && on_nappe(&b, job.tol) {
                let mid = -sigma - b.sigma;
                job.add_family(Family::One, mid - dist, mid + dist);
            }
            if dist > job.noise {
                for side in [1.0, -1.0] {
                    let n = q_across * (side * cos_phi / dist) + dir * slope;
                    job.add(&Pair { s: 0.0, t: foot + side * dist / cos_phi * slope, n: n.normalize() });
                }
            } else if vertex_edge {
                job.add(&Pair { s: 0.0, t: foot, n: complete_basis(&dir).0 });
            } else if slope != 0.0 && b.sigma.abs() <= job.tol {
                // At the apex the circle of footpoints is a point, which the samples of the family omit.
                let apex = foot - b.sigma / slope;
                let (x, y) = complete_basis(&dir);
                for across in [x, -x, y, -y] {
                    job.add(&Pair { s: 0.0, t: apex, n: across * cos_phi + dir * slope });
                }
            }
        }
        Primitive::Circle { frame, radius, sigma: sigma_b } => {
            let x = center - frame.origin;
            let height = x.dot(&frame.z);
            let x_across = across(&x, &frame.z);
            let rho = x_across.norm();
            let to_circle = math::hypot(rho - radius, height);
            let vertex_edge = sigma == 0.0 && sigma_b == 0.0;
            let mid = -sigma - sigma_b;
            if 2.0 * rho <= job.tol {
                // On the axis all points of the circle have the same distance, with either normal.
                for h in [to_circle, -to_circle] {
                    job.add_family(Family::One, mid + h - rho, mid + h + rho);
                }
            }
            if 2.0 * to_circle <= job.tol && !vertex_edge {
                // On the circle all normals of one cross-section of the tube are critical.
                job.add_family(Family::One, mid - to_circle, mid + to_circle);
            }
            if rho <= job.noise {
                // Where the tube passes through the axis, the circle of footpoints is a point.
                if sigma == 0.0 && to_circle > job.noise && (to_circle - sigma_b.abs()).abs() <= job.tol {
                    for quarter in [0.0, 0.5, 1.0, 1.5] {
                        let theta = quarter * std::f64::consts::PI;
                        let (sin, cos) = math::sin_cos(theta);
                        let w = (frame.x * cos + frame.y * sin) * radius - frame.z * height;
                        job.add_both(&Pair { s: 0.0, t: theta * radius, n: w / w.norm() });
                    }
                }
                return;
            }
            let e_r = x_across / rho;
            let theta = math::atan2(e_r.dot(&frame.y), e_r.dot(&frame.x));
            for (side, angle) in [(1.0, theta), (-1.0, theta + std::f64::consts::PI)] {
                let w = e_r * (side * radius - rho) - frame.z * height;
                let h = w.norm();
                if h > job.noise {
                    job.add_both(&Pair { s: 0.0, t: angle * radius, n: w / h });
                } else if vertex_edge {
                    job.add(&Pair { s: 0.0, t: angle * radius, n: frame.z });
                }
            }
        }
    }
}
