//! Intersections of a line with surfaces and with boxes.

use crate::frame::complete_basis;
use crate::roots::poly_roots;
use crate::surface::Surface;
use crate::{Frame, P2, P3, Rect, V3, math};
use arrayvec::ArrayVec;
use nalgebra::{Matrix2, Vector2};

/// Discriminant of a quadratic equation, relative to its terms, below which the line is almost tangent. A
/// larger value discards more lines, a smaller one accepts inaccurate roots.
const MIN_DISCRIMINANT: f64 = 1e-10;

/// Component of a direction along an axis of a box below which the line is parallel to the faces. A larger
/// value treats oblique lines as parallel, a smaller one divides by numbers close to 0.
const MIN_COMPONENT: f64 = 1e-12;

impl Surface {
    /// Parameters `t` of all points `origin + t dir` of a line on a canonical surface, on both nappes and
    /// sheets; `dir` has length 1. `None` if the line is almost tangent, if it is parallel to a plane up to
    /// an angle of sine `min_sine`, or if the surface is not canonical.
    #[must_use]
    pub fn line_parameters(&self, origin: &P3, dir: &V3, min_sine: f64) -> Option<ArrayVec<f64, 4>> {
        let local = |frame: &Frame| (frame.local(origin), frame.local_vector(dir));
        match self {
            Self::Plane { frame } => {
                let (o, d) = local(frame);
                (d.z.abs() > min_sine).then(|| [-o.z / d.z].into_iter().collect())
            }
            Self::Cylinder { frame, radius } => {
                let (o, d) = local(frame);
                let (o, d) = (o.xy(), d.xy());
                quadratic(d.norm_squared(), o.dot(&d), o.norm_squared() - radius * radius)
            }
            Self::Sphere { frame, radius } => {
                let (o, d) = local(frame);
                quadratic(1.0, o.dot(&d), o.norm_squared() - radius * radius)
            }
            Self::Cone { frame, half_angle } => {
                let (o, d) = local(frame);
                let k = math::tan(*half_angle);
                let product = |p: &V3, q: &V3| p.x * q.x + p.y * q.y - k * k * p.z * q.z;
                quadratic(product(&d, &d), product(&o, &d), product(&o, &o))
            }
            Self::Torus { frame, major, minor } => {
                let (o, d) = local(frame);
                // The quartic is written about the point of the line nearest to the centre, in units of
                // the major radius, so that it is well scaled.
                let t0 = -o.dot(&d);
                let o = (o + d * t0) / *major;
                let r = minor / major;
                // (t² + m)² = 4 (A t² + 2 B t + C), m = |o|² + 1 − r².
                let m = o.norm_squared() + 1.0 - r * r;
                let (a, b, c) = (d.xy().norm_squared(), o.xy().dot(&d.xy()), o.xy().norm_squared());
                let roots = poly_roots(&[m * m - 4.0 * c, -8.0 * b, 2.0 * m - 4.0 * a, 0.0, 1.0])?;
                Some(roots.iter().map(|t| t0 + t * major).collect())
            }
            Self::Bezier(_) => None,
        }
    }

    /// Computes the crossing of the line `origin + t dir` with the part of the surface over `rect`, by
    /// Newton's method. `dir` has length 1. Seen along the line, the part must be a graph, so that it has
    /// at most one crossing. Returns the parameters of the crossing and its `t` (mm). The inner `None`
    /// means that the part has no crossing, the outer one that the method does not converge within `tol`
    /// (mm). A crossing on the border of two adjacent parts is found in both.
    #[must_use]
    pub fn graph_crossing(
        &self,
        rect: &Rect,
        (origin, dir): (&P3, &V3),
        tol: f64,
    ) -> Option<Option<(P2, f64)>> {
        let (e, g) = complete_basis(dir);
        let (wu, wv) = (rect.width(), rect.height());
        let mut uv = rect.center();
        for _ in 0..20 {
            let (p, du, dv) = self.first_derivs(uv);
            let r = Vector2::new(e.dot(&(p - origin)), g.dot(&(p - origin)));
            let step = Matrix2::new(e.dot(&du), e.dot(&dv), g.dot(&du), g.dot(&dv)).try_inverse()? * r;
            // A crossing of the part is not far outside it, but the iteration may return from slightly
            // outside.
            let next = P2::new(
                (uv.x - step.x).clamp(rect.u0 - 0.2 * wu, rect.u1 + 0.2 * wu),
                (uv.y - step.y).clamp(rect.v0 - 0.2 * wv, rect.v1 + 0.2 * wv),
            );
            let moved = (du * (next.x - uv.x) + dv * (next.y - uv.y)).norm();
            uv = next;
            if moved <= 1e-3 * tol {
                break;
            }
        }
        let d = self.point(uv) - origin;
        let t = d.dot(dir);
        let (x, y) = ((uv.x - rect.u0) / wu, (uv.y - rect.v0) / wv);
        let inside = x.min(1.0 - x).min(y).min(1.0 - y);
        // If the iteration ends off the line, it is inconclusive. A crossing on a border is found by both
        // areas beside it and kept once.
        let is_on_line = (d - dir * t).norm() <= tol;
        is_on_line.then(|| (inside >= -1e-7).then_some((uv, t)))
    }

    /// Returns the halves of a parameter rectangle, cut across the parameter along which it is longer in
    /// space.
    #[must_use]
    pub fn halves(&self, r: &Rect) -> [Rect; 2] {
        let (m_u, m_v) = (0.5 * (r.u0 + r.u1), 0.5 * (r.v0 + r.v1));
        let at = |u: f64, v: f64| self.point(P2::new(u, v));
        let m = at(m_u, m_v);
        let along_u = (at(r.u0, m_v) - m).norm() + (at(r.u1, m_v) - m).norm();
        let along_v = (at(m_u, r.v0) - m).norm() + (at(m_u, r.v1) - m).norm();
        if along_u >= along_v {
            [Rect { u1: m_u, ..*r }, Rect { u0: m_u, ..*r }]
        } else {
            [Rect { v1: m_v, ..*r }, Rect { v0: m_v, ..*r }]
        }
    }
}

/// Range of the parameters of a line inside a box; `None` if the line does not intersect the box. Each
/// axis of the box gives three numbers: the coordinate of the box's centre along the axis relative to
/// the line's origin, the component of the line's direction, and the half-width of the box.
#[must_use]
pub fn line_in_slabs(slabs: [(f64, f64, f64); 3]) -> Option<(f64, f64)> {
    let (mut lo, mut hi) = (f64::NEG_INFINITY, f64::INFINITY);
    for (c, v, half) in slabs {
        if v.abs() < MIN_COMPONENT {
            if c.abs() > half {
                return None;
            }
            continue;
        }
        let (s, t) = ((c - half) / v, (c + half) / v);
        (lo, hi) = (lo.max(s.min(t)), hi.min(s.max(t)));
    }
    (lo <= hi).then_some((lo, hi))
}

/// Roots of `a t² + 2 b t + c`; the list is empty without real roots. `None` if the roots almost
/// coincide.
fn quadratic(a: f64, b: f64, c: f64) -> Option<ArrayVec<f64, 4>> {
    let disc = b * b - a * c;
    if disc.abs() <= MIN_DISCRIMINANT * (b * b).max((a * c).abs()) {
        return None;
    }
    if disc < 0.0 {
        return Some(ArrayVec::new());
    }
    let q = -(b + disc.sqrt().copysign(b));
    // With a = 0 (a line parallel to a ruling of a cone) one crossing is at infinity.
    Some([q / a, c / q].into_iter().filter(|t| t.is_finite()).collect())
}
