//! Least-squares fits of signed distances, accurate to rounding.

use nalgebra::{DMatrix, DVector, Rotation3};

use crate::{Frame, P3, V3, math};

/// A surface with an axis or a centre, as the state of a fit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Revolved {
    Sphere { centre: P3, radius: f64 },
    Cylinder { frame: Frame, radius: f64 },
    Cone { frame: Frame, half_angle: f64 },
    Torus { frame: Frame, major: f64, minor: f64 },
}

/// Number of unknowns of a fit: shift of the origin along the axes of the frame, tilt of the frame's z
/// about its x and y, and two shape parameters.
const UNKNOWNS: usize = 7;
/// Maximum number of Gauss–Newton steps of a fit. The fit converges quadratically from guesses with
/// errors of a thousandth, so a larger value changes nothing; a smaller one leaves larger deviations.
const MAX_STEPS: usize = 12;

impl Revolved {
    /// Signed distance (mm) of the point `p` from the surface, positive outside.
    pub(super) fn distance(&self, p: &P3) -> f64 {
        self.row(p, 1.0).0
    }

    /// Signed distance (mm) of `p`, and its derivatives with respect to the unknowns. Angles are in
    /// units of `1 / size`.
    fn row(&self, p: &P3, size: f64) -> (f64, [f64; UNKNOWNS]) {
        // On the axis the radial direction is undefined; zero is used for it.
        let over = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        match self {
            Self::Sphere { centre, radius } => {
                let q = p - centre;
                let d = q.norm();
                (d - radius, [-over(q.x, d), -over(q.y, d), -over(q.z, d), 0.0, 0.0, -1.0, 0.0])
            }
            Self::Cylinder { frame, radius } => {
                let q = frame.local(p);
                let rho = math::hypot(q.x, q.y);
                let (c, s) = (over(q.x, rho), over(q.y, rho));
                (rho - radius, [-c, -s, 0.0, s * q.z / size, -c * q.z / size, -1.0, 0.0])
            }
            Self::Cone { frame, half_angle } => {
                let q = frame.local(p);
                let rho = math::hypot(q.x, q.y);
                let (c, s) = (over(q.x, rho), over(q.y, rho));
                let (sin, cos) = math::sin_cos(*half_angle);
                let row = [
                    -cos * c,
                    -cos * s,
                    sin,
                    (cos * s * q.z + sin * q.y) / size,
                    -(cos * c * q.z + sin * q.x) / size,
                    -(rho * sin + q.z * cos) / size,
                    0.0,
                ];
                (rho * cos - q.z * sin, row)
            }
            Self::Torus { frame, major, minor } => {
                let q = frame.local(p);
                let rho = math::hypot(q.x, q.y);
                let (c, s) = (over(q.x, rho), over(q.y, rho));
                let m = math::hypot(rho - major, q.z);
                let (cr, cz) = (over(rho - major, m), over(q.z, m));
                let row = [
                    -cr * c,
                    -cr * s,
                    -cz,
                    (cr * s * q.z - cz * q.y) / size,
                    (cz * q.x - cr * c * q.z) / size,
                    -cr,
                    -1.0,
                ];
                (m - minor, row)
            }
        }
    }

    fn moved(&self, x: &DVector<f64>, size: f64) -> Option<Self> {
        let turned = |frame: &Frame| {
            let shift = frame.vector(x[0], x[1], x[2]);
            let tilt = frame.vector(x[3] / size, x[4] / size, 0.0);
            let z = Rotation3::from_scaled_axis(tilt) * frame.z;
            Frame::from_z(frame.origin + shift, z, Some(frame.x))
        };
        Some(match self {
            Self::Sphere { centre, radius } => {
                Self::Sphere { centre: centre + V3::new(x[0], x[1], x[2]), radius: radius + x[5] }
            }
            Self::Cylinder { frame, radius } => {
                Self::Cylinder { frame: turned(frame)?, radius: radius + x[5] }
            }
            Self::Cone { frame, half_angle } => {
                Self::Cone { frame: turned(frame)?, half_angle: half_angle + x[5] / size }
            }
            Self::Torus { frame, major, minor } => {
                Self::Torus { frame: turned(frame)?, major: major + x[5], minor: minor + x[6] }
            }
        })
    }

    fn worst(&self, points: &[P3]) -> f64 {
        points.iter().fold(0.0, |m: f64, p| {
            let d = self.distance(p).abs();
            if d.is_nan() { f64::INFINITY } else { m.max(d) }
        })
    }

    /// Returns whether the shape is near its points: its radii and the distance of its origin are at
    /// most [`MAX_RADIUS`] times the `size` of the points, and rounding of these lengths is below `tol`.
    /// If the shape is farther away, rounding dominates the measured distances.
    pub(super) fn is_local(&self, points: &[P3], size: f64, tol: f64) -> bool {
        let (origin, radius) = match self {
            Self::Sphere { centre, radius } => (centre, *radius),
            Self::Cylinder { frame, radius } => (&frame.origin, *radius),
            Self::Cone { frame, .. } => (&frame.origin, 0.0),
            Self::Torus { frame, major, minor } => (&frame.origin, major + minor),
        };
        let far = points.iter().fold(radius, |m, p| m.max((p - origin).norm()));
        is_local(far, origin, size, tol)
    }

    /// Refines a guess by Gauss–Newton steps while the largest distance of the points decreases. Returns
    /// the surface and that distance (mm).
    pub(super) fn fitted(self, points: &[P3], size: f64) -> (Self, f64) {
        let (mut best, mut worst) = (self, self.worst(points));
        for _ in 0..MAX_STEPS {
            let mut rows = DMatrix::zeros(points.len(), UNKNOWNS);
            let mut rest = DVector::zeros(points.len());
            for (i, p) in points.iter().enumerate() {
                let (d, row) = best.row(p, size);
                rest[i] = -d;
                (0..UNKNOWNS).for_each(|k| rows[(i, k)] = row[k]);
            }
            if rows.iter().chain(rest.iter()).any(|x| !x.is_finite()) {
                break;
            }
            // Unknowns that the points do not determine are unchanged.
            let Ok(x) = rows.svd(true, true).solve(&rest, 1e-11) else { break };
            let Some(next) = best.moved(&x, size) else { break };
            let next_worst = next.worst(points);
            if next_worst >= worst {
                break;
            }
            (best, worst) = (next, next_worst);
        }
        (best, worst)
    }
}

/// Maximum radius of a recognised shape, and maximum distance of its origin, relative to the size of the
/// points. With a larger value noise turns nearly plane patches into huge cylinders and cones; with a
/// smaller one slightly curved canonical shapes stay free-form.
const MAX_RADIUS: f64 = 1e4;

/// Whether a length of a shape is at most [`MAX_RADIUS`] times the `size` of the points, and the
/// rounding of the length and of `origin` is below `tol` (mm).
pub(super) fn is_local(length: f64, origin: &P3, size: f64, tol: f64) -> bool {
    let rounding = 16.0 * f64::EPSILON * (length + origin.coords.amax());
    length <= MAX_RADIUS * size && rounding <= tol
}

/// Centre and unit axis of the circle through three points; `None` if they are collinear.
pub(super) fn circle_through([a, b, c]: [P3; 3]) -> Option<(P3, V3)> {
    let (u, v) = (b - a, c - a);
    let n = u.cross(&v);
    let area = n.norm_squared();
    if area.is_nan() || area <= 1e-24 * u.norm_squared() * v.norm_squared() {
        return None;
    }
    let to_centre = (n.cross(&u) * v.norm_squared() + v.cross(&n) * u.norm_squared()) / (2.0 * area);
    Some((a + to_centre, n / area.sqrt()))
}
