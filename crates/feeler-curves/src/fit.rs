//! Fits curves through measured points to a given tolerance.
//!
//! Cubics with continuous derivatives are fitted by least squares. The first parameters follow the
//! lengths of the chords; then each point's parameter is moved to its footpoint on the curve, and the
//! fit is repeated. The number of pieces is doubled until all points are within the tolerance.

use feeler_geom::{P3, V3};
use nalgebra::{DMatrix, DVector};

use crate::curve::{Curve, CurveError};
use crate::tree::whole;

/// Maximum number of times that the parameters of the points are moved to their footpoints. A larger
/// value is slower; a smaller one fits worse.
const MAX_ROUNDS: usize = 8;

/// Maximum number of pieces of a fitted curve; all pieces are fitted in one dense linear system, so a
/// larger value is slow.
const MAX_PIECES: usize = 256;

/// Fitted curve with its deviation from the measured points.
#[derive(Clone, Debug)]
pub struct FittedCurve {
    /// The fitted curve.
    pub curve: Curve,
    /// Largest distance of a measured point from the curve (mm).
    pub deviation: f64,
}

impl Curve {
    /// Fits cubics to measured points, given in their order along the curve. The number of pieces is the
    /// first of 1, 2, 4, … (from 2 for a closed curve) that brings all points within `tolerance` (mm).
    /// It is limited to one piece for every two points and to 256; [`FittedCurve::deviation`] reports
    /// the deviation that was reached. The direction is continuous at joints, so corners are rounded.
    ///
    /// # Errors
    /// If there are fewer than four points, they all coincide, a coordinate is not finite, or the radius
    /// or tolerance is not valid.
    pub fn fit(
        measured: &[P3],
        tolerance: f64,
        radius: f64,
        closed: bool,
    ) -> Result<FittedCurve, CurveError> {
        if measured.len() < 4 {
            let expected = "give four measured points or more".to_owned();
            return Err(CurveError::Count { given: measured.len(), expected });
        }
        if let Some(i) = measured.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return Err(CurveError::NotFinite(i));
        }
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            return Err(CurveError::Tolerance(tolerance));
        }
        let lengths = chord_lengths(measured, closed);
        let total = lengths[lengths.len() - 1];
        if total == 0.0 {
            return Err(CurveError::NoLength(0));
        }
        let max_pieces = (measured.len() / 2).clamp(1, MAX_PIECES);
        let mut n = if closed { 2.min(max_pieces) } else { 1 };
        loop {
            let fitted = fit_pieces(measured, &lengths[..measured.len()], total, n, radius, closed)?;
            if fitted.deviation <= tolerance || n >= max_pieces {
                return Ok(fitted);
            }
            n = (2 * n).min(max_pieces);
        }
    }
}

/// Returns for each point the length of the chords from the first point to it. For a closed curve, the
/// length of the closed polygon follows as the last entry.
fn chord_lengths(points: &[P3], closed: bool) -> Vec<f64> {
    let mut sum = 0.0;
    let mut lengths = vec![0.0];
    for w in points.windows(2) {
        sum += (w[1] - w[0]).norm();
        lengths.push(sum);
    }
    if closed {
        lengths.push(sum + (points[0] - points[points.len() - 1]).norm());
    }
    lengths
}

fn fit_pieces(
    points: &[P3],
    lengths: &[f64],
    total: f64,
    n: usize,
    radius: f64,
    closed: bool,
) -> Result<FittedCurve, CurveError> {
    let mut u: Vec<f64> = lengths.iter().map(|l| l / total * n as f64).collect();
    let mut best: Option<FittedCurve> = None;
    for _ in 0..MAX_ROUNDS {
        let Some((nodes, slopes)) = least_squares(points, &u, n, closed) else { break };
        let curve = Curve::hermite(&nodes, &slopes, radius, closed)?;
        let mut deviation: f64 = 0.0;
        for (p, u) in points.iter().zip(&mut u) {
            *u = nearest_parameter(&curve, p, *u);
            deviation = deviation.max((curve.point(*u) - p).norm());
        }
        if best.as_ref().is_some_and(|b| b.deviation <= deviation * (1.0 + 1e-3)) {
            break;
        }
        best = Some(FittedCurve { curve, deviation });
    }
    best.ok_or(CurveError::NoLength(0))
}

/// Computes the positions and derivatives at the ends of the `n` pieces for which the curve has the
/// least sum of squared distances between `points` and its points at the parameters `u`. `None` if the
/// linear system is singular.
fn least_squares(points: &[P3], u: &[f64], n: usize, closed: bool) -> Option<(Vec<P3>, Vec<V3>)> {
    let nodes = if closed { n } else { n + 1 };
    let mut a = DMatrix::<f64>::zeros(2 * nodes, 2 * nodes);
    let mut b = [(); 3].map(|()| DVector::<f64>::zeros(2 * nodes));
    for (p, &u) in points.iter().zip(u) {
        let k = whole(u).min(n - 1);
        let t = u - k as f64;
        let (s, next) = (1.0 - t, (k + 1) % nodes);
        // Basis functions of cubic Hermite interpolation: positions, then derivatives.
        let row = [
            (2 * k, s * s * (1.0 + 2.0 * t)),
            (2 * k + 1, s * s * t),
            (2 * next, t * t * (3.0 - 2.0 * t)),
            (2 * next + 1, -t * t * s),
        ];
        for (i, x) in row {
            for (j, y) in row {
                a[(i, j)] += x * y;
            }
            for (k, b) in b.iter_mut().enumerate() {
                b[i] += x * p[k];
            }
        }
    }
    // Unknowns that no point determines are fixed by a small stiffness: the second derivatives at the
    // ends of each piece.
    let stiffness = STIFFNESS * a.diagonal().max();
    for k in 0..n {
        let next = (k + 1) % nodes;
        for row in [
            [(2 * k, -6.0), (2 * k + 1, -4.0), (2 * next, 6.0), (2 * next + 1, -2.0)],
            [(2 * k, 6.0), (2 * k + 1, 2.0), (2 * next, -6.0), (2 * next + 1, 4.0)],
        ] {
            for (i, x) in row {
                for (j, y) in row {
                    a[(i, j)] += stiffness * x * y;
                }
            }
        }
    }
    let solver = a.cholesky()?;
    let [x, y, z] = b.map(|b| solver.solve(&b));
    let at = |i: usize| V3::new(x[i], y[i], z[i]);
    Some(((0..nodes).map(|k| P3::from(at(2 * k))).collect(), (0..nodes).map(|k| at(2 * k + 1)).collect()))
}

/// Weight of the bending of the pieces, relative to the distances of the points. It determines the shape
/// of pieces without points: a larger value makes the curve stiffer, a smaller one leaves the linear
/// system singular.
const STIFFNESS: f64 = 1e-10;

/// Finds the parameter of the point on the curve nearest to `p` by Newton's method, which starts at the
/// parameter `u`.
fn nearest_parameter(curve: &Curve, p: &P3, u: f64) -> f64 {
    let last = curve.n_pieces() as f64;
    let mut u = u.clamp(0.0, last);
    for _ in 0..20 {
        let at = curve.at(u);
        let w = at.p - p.coords;
        let bend = at.d.norm_squared() + w.dot(&at.dd);
        let bend = if bend > 0.0 { bend } else { at.d.norm_squared() };
        let next = (u - (w.dot(&at.d) / bend).clamp(-0.5, 0.5)).clamp(0.0, last);
        if !next.is_finite() || (next - u).abs() < 1e-12 {
            break;
        }
        u = next;
    }
    u
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(n: usize, turns: f64, closed: bool) -> Vec<P3> {
        let last = if closed { n } else { n - 1 };
        let at = |i: usize| {
            let (s, c) = feeler_geom::math::sin_cos(std::f64::consts::TAU * turns * i as f64 / last as f64);
            P3::new(10.0 * c, 10.0 * s, if closed { 0.0 } else { 0.1 * i as f64 })
        };
        (0..n).map(at).collect()
    }

    #[test]
    fn measured_points_are_within_the_tolerance() {
        for (closed, turns) in [(false, 2.0), (true, 1.0)] {
            let points = measured(200, turns, closed);
            let mut before = usize::MAX;
            for tolerance in [1e-5, 1e-3, 1e-1] {
                let fitted = Curve::fit(&points, tolerance, 1.0, closed).unwrap();
                assert!(fitted.deviation <= tolerance, "{closed} {tolerance}: {}", fitted.deviation);
                assert!(fitted.curve.n_pieces() <= before && fitted.curve.is_closed() == closed);
                before = fitted.curve.n_pieces();
                // Joints do not become corners.
                assert_eq!(fitted.curve.vertices().len(), if closed { 0 } else { 2 });
                // The reported deviation agrees with the distance to a dense polyline, which is accurate
                // to 1e-5.
                let (n, last) = (4000, fitted.curve.n_pieces() as f64);
                let line: Vec<P3> =
                    (0..=n).map(|i| fitted.curve.point(last * f64::from(i) / f64::from(n))).collect();
                let to_segment = |p: &P3, w: &[P3]| {
                    let d = w[1] - w[0];
                    let t = ((p - w[0]).dot(&d) / d.norm_squared()).clamp(0.0, 1.0);
                    (w[0] + d * t - p).norm()
                };
                let off = |p: &P3| line.windows(2).map(|w| to_segment(p, w)).fold(f64::INFINITY, f64::min);
                let largest = points.iter().map(off).fold(0.0, f64::max);
                assert!((largest - fitted.deviation).abs() <= 3e-5, "{largest} {}", fitted.deviation);
            }
        }
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let points = measured(10, 1.0, false);
        assert!(matches!(Curve::fit(&points[..3], 0.1, 1.0, false), Err(CurveError::Count { .. })));
        assert!(matches!(Curve::fit(&points, f64::NAN, 1.0, false), Err(CurveError::Tolerance(_))));
        assert!(matches!(Curve::fit(&[points[0]; 5], 0.1, 1.0, false), Err(CurveError::NoLength(0))));
        // Four points determine one cubic through them.
        let few = Curve::fit(&points[..4], 0.0, 1.0, false).unwrap();
        assert!(few.deviation < 1e-3, "{}", few.deviation);
    }
}
