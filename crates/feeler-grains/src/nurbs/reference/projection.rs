//! Projection onto a curve or surface by Newton's method, from a guess by GJK's weights of the control
//! points.
//!
//! # Source
//! DIST §4.7.3, (4.10), (4.11), Algorithm 7.
//!
//! # Deviations
//! Line 10 of Algorithm 7 has P − S where the derivatives need S − P: as printed, the step leads away.
//! The guess of the text uses the knots as the positions of the control points. [`Guess::Middles`] uses
//! the Greville abscissae instead.

use feeler_convex::{DistanceRequest, PointSet, distance};
use feeler_geom::bezier::{BezierSpline, BezierSurface};
use feeler_geom::nurbs::NurbsCurve;
use feeler_geom::{P2, P3};

/// Kind of the curve parameter that represents a control point in the start value of (4.11) of DIST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// Knot with the index of the control point.
    Knots,
    /// Greville abscissa: the mean of the inner knots of the control point's support.
    Middles,
}

/// Projection of a point onto a curve or surface by Newton's method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projected<T> {
    /// Parameter (curve) or parameters (surface) of the last point.
    pub at: T,
    /// Distance (mm) of the last point from the projected point.
    pub distance: f64,
    /// Number of steps of Newton's method.
    pub steps: u32,
    /// Number of evaluations of the curve or surface, including those of the guess.
    pub evaluations: u64,
}

/// Number of samples on each side of the parameter of (4.11), including that parameter itself: n of DIST
/// §4.7.3.
const SAMPLES: u32 = 5;
/// Maximum number of steps of Newton's method.
const MAX_STEPS: u32 = 50;

/// Returns a start value for the projection of `q` onto a curve: the parameter of the sample nearest to
/// `q`, among n samples from the start of the curve to the parameter of (4.11) and n from there to its
/// end, with n = 5. Also returns the number of evaluations.
#[must_use]
pub fn guess(curve: &NurbsCurve, spline: &BezierSpline, q: &P3, kind: Guess) -> (f64, u64) {
    let (points, query) = (PointSet::new(&curve.points), [*q]);
    let weights = match (points, PointSet::new(&query)) {
        (Ok(hull), Ok(point)) => Some(distance(&hull, &point, &DistanceRequest::default()).witness),
        _ => None,
    };
    let p = curve.degree as usize;
    let knot = |i: usize| match kind {
        Guess::Knots => curve.knots[i],
        Guess::Middles => curve.knots[i + 1..=i + p].iter().sum::<f64>() / p as f64,
    };
    let (first, last) = spline.range();
    let middle = weights.map_or(0.5 * (first + last), |w| {
        w.vertices.iter().map(|v| v.weight * knot(v.a.index as usize)).sum::<f64>().clamp(first, last)
    });
    let below = (0..SAMPLES).map(|k| first + (middle - first) * f64::from(k) / f64::from(SAMPLES - 1));
    let above = (1..SAMPLES).map(|k| middle + (last - middle) * f64::from(k) / f64::from(SAMPLES - 1));
    let off = |t: &f64| (spline.derivs(*t).p - q).norm_squared();
    let best = below.chain(above).min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(middle);
    (best, u64::from(2 * SAMPLES - 1))
}

/// Projects `q` onto a curve by Algorithm 7 from the parameter `start`. `tolerance` is both of its
/// limits: ε₁ for distances and steps (mm), ε₂ for the cosine of the angle between the tangent and the
/// vector to `q`.
#[must_use]
pub fn on_curve(spline: &BezierSpline, q: &P3, start: f64, tolerance: f64) -> Projected<f64> {
    let (first, last) = spline.range();
    let mut t = start;
    let mut evaluations = 0;
    for steps in 0..MAX_STEPS {
        let d = spline.derivs(t);
        evaluations += 1;
        let r = d.p - q;
        let f = r.dot(&d.d1);
        let done = Projected { at: t, distance: r.norm(), steps, evaluations };
        if r.norm() <= tolerance || f.abs() <= tolerance * r.norm() * d.d1.norm() {
            return done;
        }
        let next = (t - f / (d.d1.norm_squared() + r.dot(&d.d2))).clamp(first, last);
        if !next.is_finite() || (d.d1 * (next - t)).norm() <= tolerance {
            return done;
        }
        t = next;
    }
    Projected {
        at: t,
        distance: (spline.derivs(t).p - q).norm(),
        steps: MAX_STEPS,
        evaluations: evaluations + 1,
    }
}

/// Projects `q` onto a surface by Algorithm 7 from the parameters `start`. `tolerance` is both of its
/// limits: ε₁ for distances and steps (mm), ε₂ for the cosines of the angles between the tangents and
/// the vector to `q`. Parameters are clamped to the domain.
#[must_use]
pub fn on_surface(grid: &BezierSurface, q: &P3, start: P2, tolerance: f64) -> Projected<P2> {
    let domain = grid.domain();
    let mut uv = start;
    let mut evaluations = 0;
    for steps in 0..MAX_STEPS {
        let s = grid.derivs(uv);
        evaluations += 1;
        let r = s.p - q;
        let f = nalgebra::Vector2::new(r.dot(&s.du), r.dot(&s.dv));
        let done = Projected { at: uv, distance: r.norm(), steps, evaluations };
        let across = |f: f64, length: f64| f.abs() <= tolerance * r.norm() * length;
        if r.norm() <= tolerance || across(f.x, s.du.norm()) && across(f.y, s.dv.norm()) {
            return done;
        }
        let mixed = s.du.dot(&s.dv) + r.dot(&s.duv);
        let j = nalgebra::Matrix2::new(
            s.du.norm_squared() + r.dot(&s.duu),
            mixed,
            mixed,
            s.dv.norm_squared() + r.dot(&s.dvv),
        );
        let Some(step) = j.lu().solve(&-f) else { return done };
        let next =
            P2::new((uv.x + step.x).clamp(domain.u0, domain.u1), (uv.y + step.y).clamp(domain.v0, domain.v1));
        let moved = s.du * (next.x - uv.x) + s.dv * (next.y - uv.y);
        if !(next.x.is_finite() && next.y.is_finite()) || moved.norm() <= tolerance {
            return done;
        }
        uv = next;
    }
    Projected {
        at: uv,
        distance: (grid.derivs(uv).p - q).norm(),
        steps: MAX_STEPS,
        evaluations: evaluations + 1,
    }
}
