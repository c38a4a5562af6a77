//! NURBS curves and surfaces as stored in files, and their exact conversion to rational Bézier pieces.
//!
//! # Source
//! Piegl & Tiller, *The NURBS Book*, chapters 2–5; Ramshaw's blossoms for the conversion: the Bézier
//! points of a knot span are the values of its blossom at the span's ends, which are convex combinations
//! of control points for clamped and unclamped knots.

use std::fmt;

use crate::bezier::{BezierSpline, BezierSurface, H4, MAX_DEGREE, homogeneous};
use crate::{Aabb, P2, P3};

/// A NURBS curve.
#[derive(Clone, Debug, PartialEq)]
pub struct NurbsCurve {
    /// Degree of the curve.
    pub degree: u32,
    /// Non-decreasing knots, each repeated as often as its multiplicity; their number is that of the
    /// points plus the degree plus 1.
    pub knots: Vec<f64>,
    /// Control points of the curve (mm), in order along it.
    pub points: Vec<P3>,
    /// Weights of the control points, all positive; empty for a polynomial curve.
    pub weights: Vec<f64>,
}

/// A NURBS surface.
#[derive(Clone, Debug, PartialEq)]
pub struct NurbsSurface {
    /// Degree of the surface in u.
    pub u_degree: u32,
    /// Degree of the surface in v.
    pub v_degree: u32,
    /// Non-decreasing knots in u, each repeated as often as its multiplicity.
    pub u_knots: Vec<f64>,
    /// Non-decreasing knots in v, each repeated as often as its multiplicity.
    pub v_knots: Vec<f64>,
    /// Number of control points along v. Control point `(i, j)` is at `i * n_v + j`.
    pub n_v: usize,
    /// Control points (mm), in the order that `n_v` states.
    pub points: Vec<P3>,
    /// Weights of the control points, all positive; empty for a polynomial surface.
    pub weights: Vec<f64>,
}

/// Reason why a NURBS curve or surface is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NurbsError {
    /// The degree is 0 or larger than [`MAX_DEGREE`].
    Degree,
    /// The numbers of knots, control points and weights do not fit the degree.
    Counts,
    /// A knot is smaller than the previous one.
    DecreasingKnots,
    /// The parameter domain has no length.
    EmptyDomain,
    /// A weight is zero or negative.
    NonPositiveWeight,
    /// A knot, a coordinate or a weight is not finite.
    NotFinite,
}

impl fmt::Display for NurbsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Degree => "the degree is 0 or above the largest supported one",
            Self::Counts => {
                "the numbers of knots, control points and weights do not match (in each direction, more \
                 control points than the degree, and one knot more than control points plus the degree; \
                 weights for all control points or for none)"
            }
            Self::DecreasingKnots => "a knot is smaller than the previous one",
            Self::EmptyDomain => "the parameter domain is empty: its end knot is not above its start knot",
            Self::NonPositiveWeight => "the weight of a control point is zero or negative",
            Self::NotFinite => "a knot, a control point or a weight is not finite",
        })
    }
}

impl std::error::Error for NurbsError {}

/// Maximum difference of knots that are merged, relative to the length of the domain. A larger value
/// removes short pieces, a smaller one keeps pieces that exist only by rounding.
const KNOT_TOL: f64 = 1e-12;
/// Maximum distance between the ends of a curve, or between opposite sides of a surface, that count as
/// coinciding. It is relative to the diagonal of the control points' box. A larger value closes open
/// curves; with a smaller one seams become boundaries.
const CLOSED_TOL: f64 = 1e-7;
/// Maximum extent of a side of a surface that is collapsed to a point, relative to the diagonal of the
/// control points' box. A larger value removes narrow sides; with a smaller one poles become edges.
const COLLAPSED_TOL: f64 = 1e-8;
/// Maximum angle (rad) between the tangents (or normals) on both sides of a seam at which the seam
/// counts as smooth. A larger value hides creases; with a smaller one smooth seams count as creases.
const SMOOTH_TOL: f64 = 1e-5;

impl NurbsCurve {
    /// Converts the curve exactly to rational Bézier pieces over the domain `[knots[degree], knots[n]]`
    /// (`n` control points). Knot spans without length are dropped. The spline is marked periodic if its
    /// end coincides with its start, within 1e-7 of the diagonal of the control points' box, and has the
    /// same tangent direction; closedness flags of files are not used.
    ///
    /// # Errors
    /// The curve is invalid ([`NurbsError`]).
    pub fn to_bezier(&self) -> Result<BezierSpline, NurbsError> {
        let p = degree(self.degree)?;
        let knots = checked_knots(&self.knots, p, self.points.len())?;
        let points = lifted(&self.points, &self.weights)?;
        let (breaks, control) = spans(p, &knots, &points, 1);
        let mut spline = BezierSpline { degree: self.degree, breaks, control, periodic: false };
        weld(&mut spline.control, p + 1, 1, spline.breaks.len() - 1);
        spline.periodic = spline.closes_smoothly();
        Ok(spline)
    }
}

impl NurbsSurface {
    /// Converts the surface to rational Bézier patches over its domain, like [`NurbsCurve::to_bezier`].
    /// A parameter is periodic if the two sides at its ends coincide, point by point, with common
    /// tangent planes. Nearly degenerate sides are collapsed to exact points
    /// ([`BezierSurface::collapse_sides`]); the rest of the conversion is exact.
    ///
    /// # Errors
    /// The surface is invalid ([`NurbsError`]).
    pub fn to_bezier(&self) -> Result<BezierSurface, NurbsError> {
        let (p, q) = (degree(self.u_degree)?, degree(self.v_degree)?);
        let n_v = self.n_v;
        if n_v == 0 || !self.points.len().is_multiple_of(n_v) {
            return Err(NurbsError::Counts);
        }
        let n_u = self.points.len() / n_v;
        let u_knots = checked_knots(&self.u_knots, p, n_u)?;
        let v_knots = checked_knots(&self.v_knots, q, n_v)?;
        let points = lifted(&self.points, &self.weights)?;
        // Convert along u first, all rows of n_v points at once, then along v in each of the resulting
        // rows.
        let (u_breaks, rows) = spans(p, &u_knots, &points, n_v);
        let n_pu = u_breaks.len() - 1;
        let mut v_breaks = Vec::new();
        let mut columns = Vec::with_capacity(rows.len());
        for row in rows.chunks_exact(n_v) {
            let (breaks, mut control) = spans(q, &v_knots, row, 1);
            weld(&mut control, q + 1, 1, breaks.len() - 1);
            v_breaks = breaks;
            columns.push(control);
        }
        let n_pv = v_breaks.len() - 1;
        let mut control = Vec::with_capacity(columns.len() * columns.first().map_or(0, Vec::len));
        for i in 0..n_pu {
            for j in 0..n_pv {
                for a in 0..=p {
                    control.extend_from_slice(&columns[i * (p + 1) + a][j * (q + 1)..(j + 1) * (q + 1)]);
                }
            }
        }
        // Patches with consecutive i are n_pv patches apart and share the rows a = p and a = 0.
        for i in 1..n_pu {
            for j in 0..n_pv {
                for b in 0..=q {
                    let last = (((i - 1) * n_pv + j) * (p + 1) + p) * (q + 1) + b;
                    let first = ((i * n_pv + j) * (p + 1)) * (q + 1) + b;
                    weld_pair(&mut control, last, first);
                }
            }
        }
        let mut surface = BezierSurface {
            u_degree: self.u_degree,
            v_degree: self.v_degree,
            u_breaks,
            v_breaks,
            control,
            u_periodic: false,
            v_periodic: false,
        };
        surface.collapse_sides();
        surface.detect_periodicity();
        Ok(surface)
    }
}

fn degree(d: u32) -> Result<usize, NurbsError> {
    if (1..=MAX_DEGREE).contains(&d) { Ok(d as usize) } else { Err(NurbsError::Degree) }
}

/// Validates the knots of `n` control points of degree `p`, and makes nearly equal knots equal.
fn checked_knots(knots: &[f64], p: usize, n: usize) -> Result<Vec<f64>, NurbsError> {
    if n < p + 1 || knots.len() != n + p + 1 {
        return Err(NurbsError::Counts);
    }
    if !knots.iter().all(|k| k.is_finite()) {
        return Err(NurbsError::NotFinite);
    }
    let range = knots[n] - knots[p];
    if !(range > 0.0 && range.is_finite()) {
        return Err(NurbsError::EmptyDomain);
    }
    let tol = KNOT_TOL * range;
    let mut out = knots.to_vec();
    for i in 1..out.len() {
        if out[i] < out[i - 1] - tol {
            return Err(NurbsError::DecreasingKnots);
        }
        if out[i] <= out[i - 1] + tol {
            out[i] = out[i - 1];
        }
    }
    if out[n] <= out[p] {
        return Err(NurbsError::EmptyDomain);
    }
    Ok(out)
}

#[expect(clippy::float_cmp, reason = "weights that are exactly equal make a polynomial")]
fn lifted(points: &[P3], weights: &[f64]) -> Result<Vec<H4>, NurbsError> {
    if !weights.is_empty() && weights.len() != points.len() {
        return Err(NurbsError::Counts);
    }
    let finite = points.iter().all(|p| p.coords.iter().all(|c| c.is_finite()));
    if !(finite && weights.iter().all(|w| w.is_finite())) {
        return Err(NurbsError::NotFinite);
    }
    if weights.iter().any(|w| *w <= 0.0) {
        return Err(NurbsError::NonPositiveWeight);
    }
    if weights.iter().all(|w| *w == weights[0]) {
        return Ok(points.iter().map(|p| homogeneous(p, 1.0)).collect());
    }
    Ok(points.iter().zip(weights).map(|(p, w)| homogeneous(p, *w)).collect())
}

/// Computes the Bézier control points of every knot span of positive length. `points` contains rows of
/// `stride` control points; the rows are the control points in the direction of the `knots`, of degree
/// `p`. Returns the ends of the spans, and for each span `p + 1` rows of `stride` points.
fn spans(p: usize, knots: &[f64], points: &[H4], stride: usize) -> (Vec<f64>, Vec<H4>) {
    let n = points.len() / stride;
    let mut breaks = vec![knots[p]];
    let mut control = Vec::new();
    let mut d = vec![H4::zeros(); p + 1];
    for j in p..n {
        let (a, b) = (knots[j], knots[j + 1]);
        if a >= b {
            continue;
        }
        breaks.push(b);
        let start = control.len();
        control.resize(start + (p + 1) * stride, H4::zeros());
        for col in 0..stride {
            for i in 0..=p {
                // De Boor's algorithm for the blossom whose arguments are a, (p − i) times, and b, i
                // times.
                for (k, d) in d.iter_mut().enumerate() {
                    *d = points[(j - p + k) * stride + col];
                }
                for r in 1..=p {
                    let x = if r <= p - i { a } else { b };
                    for k in (r..=p).rev() {
                        let (lo, hi) = (knots[j - p + k], knots[j + 1 + k - r]);
                        let alpha = (x - lo) / (hi - lo);
                        d[k] = d[k - 1] * (1.0 - alpha) + d[k] * alpha;
                    }
                }
                control[start + i * stride + col] = d[p];
            }
        }
    }
    (breaks, control)
}

/// Makes the common ends of `n` neighbouring pieces bitwise equal. Each piece has `piece` rows of
/// `stride` control points.
fn weld(control: &mut [H4], piece: usize, stride: usize, n: usize) {
    for i in 1..n {
        weld_pair(control, (i * piece - 1) * stride, i * piece * stride);
    }
}

fn weld_pair(control: &mut [H4], last: usize, first: usize) {
    let (a, b) = (control[last], control[first]);
    // A real gap (a knot of multiplicity degree + 1) is kept.
    if (a - b).amax() <= 1e-12 * a.amax() {
        control[first] = a;
    }
}

impl BezierSpline {
    /// Whether the end of the spline coincides with its start, within 1e-7 of the diagonal of the
    /// control points' box, and has the same tangent direction.
    #[must_use]
    pub fn closes_smoothly(&self) -> bool {
        let (t0, t1) = self.range();
        // The result does not depend on `periodic`: both ends are breaks, which never wrap.
        let (a, b) = (self.derivs(t0), self.derivs(t1));
        let size = Aabb::of_points(&self.points()).diagonal();
        if (a.p - b.p).norm() > CLOSED_TOL * size {
            return false;
        }
        match (self.tangent(t0), self.tangent(t1)) {
            (Some(x), Some(y)) => (x - y).norm() <= SMOOTH_TOL,
            _ => false,
        }
    }
}

impl BezierSurface {
    /// Sets `u_periodic` to whether the two sides of the surface at the smallest and the largest u
    /// coincide, point by point, with common tangent planes, and `v_periodic` likewise for v.
    pub fn detect_periodicity(&mut self) {
        let size = Aabb::of_points(&self.points()).diagonal();
        (self.u_periodic, self.v_periodic) = (false, false);
        let d = self.domain();
        let (u_samples, v_samples) =
            (samples(&self.u_breaks, self.u_degree), samples(&self.v_breaks, self.v_degree));
        let u = v_samples.iter().all(|v| self.joins(P2::new(d.u1, *v), P2::new(d.u0, *v), true, size));
        let v = u_samples.iter().all(|u| self.joins(P2::new(*u, d.v1), P2::new(*u, d.v0), false, size));
        (self.u_periodic, self.v_periodic) = (u, v);
    }

    /// Returns whether the two sides of the surface at the smallest and the largest u coincide, point by
    /// point, possibly at an angle, and whether those at the smallest and the largest v do.
    #[must_use]
    pub fn closes(&self) -> [bool; 2] {
        let size = Aabb::of_points(&self.points()).diagonal();
        let d = self.domain();
        let coincide = |a: P2, b: P2| (self.derivs(a).p - self.derivs(b).p).norm() <= CLOSED_TOL * size;
        let (us, vs) = (samples(&self.u_breaks, self.u_degree), samples(&self.v_breaks, self.v_degree));
        [
            vs.iter().all(|v| coincide(P2::new(d.u1, *v), P2::new(d.u0, *v))),
            us.iter().all(|u| coincide(P2::new(*u, d.v1), P2::new(*u, d.v0))),
        ]
    }

    /// Collapses each side of the grid whose control points agree within 1e-8 of the diagonal of the
    /// control points' box to a single point, so that normals near a pole do not depend on the number of
    /// digits in a file. The control points are then bitwise equal.
    pub fn collapse_sides(&mut self) {
        let (n_u, n_v) = self.n_patches();
        let (p, q) = (self.u_degree as usize, self.v_degree as usize);
        let at = |i: usize, j: usize, a: usize, b: usize| ((i * n_v + j) * (p + 1) + a) * (q + 1) + b;
        let mut sides: [Vec<usize>; 4] = Default::default();
        for j in 0..n_v {
            for b in 0..=q {
                sides[0].push(at(0, j, 0, b));
                sides[1].push(at(n_u - 1, j, p, b));
            }
        }
        for i in 0..n_u {
            for a in 0..=p {
                sides[2].push(at(i, 0, a, 0));
                sides[3].push(at(i, n_v - 1, a, q));
            }
        }
        let points = self.points();
        let size = Aabb::of_points(&points).diagonal();
        for side in &sides {
            let extent = Aabb::of_points(side.iter().map(|k| &points[*k]));
            if extent.diagonal() <= COLLAPSED_TOL * size {
                for k in side {
                    self.control[*k] = homogeneous(&extent.center(), self.control[*k].w);
                }
            }
        }
    }

    fn joins(&self, end: P2, start: P2, along_u: bool, size: f64) -> bool {
        let (a, b) = (self.derivs(end), self.derivs(start));
        if (a.p - b.p).norm() > CLOSED_TOL * size {
            return false;
        }
        let (ta, tb) = if along_u { (a.du, b.du) } else { (a.dv, b.dv) };
        let (na, nb) = (a.du.cross(&a.dv), b.du.cross(&b.dv));
        let sine = |n: f64, x: f64, y: f64| n <= 1e-8 * x * y;
        let singular = sine(na.norm(), a.du.norm(), a.dv.norm()) || sine(nb.norm(), b.du.norm(), b.dv.norm());
        // At a pole the side has no direction, so the neighbouring samples decide.
        singular || (ta.dot(&tb) > 0.0 && (na.normalize() - nb.normalize()).norm() <= SMOOTH_TOL)
    }
}

/// Returns `2 degree + 1` parameters between each two neighbouring `breaks`. Two rational splines of this
/// degree that agree at these parameters are equal.
fn samples(breaks: &[f64], degree: u32) -> Vec<f64> {
    let k = 2 * degree + 1;
    let mut out = Vec::new();
    for w in breaks.windows(2) {
        for i in 0..k {
            out.push(w[0] + (w[1] - w[0]) * (f64::from(i) + 0.5) / f64::from(k));
        }
    }
    out
}

#[cfg(test)]
mod tests;
