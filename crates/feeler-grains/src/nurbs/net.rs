//! Control nets of closed surfaces.
//!
//! # Source
//! NURBS §3.1.3, §3.1.4.
//!
//! # Deviations
//! Wrapping at degree p repeats the first p points after the last one, `P[i] = P[n-p+1+i]` for i < p,
//! and the domain is `[u[p], u[m-p]]` with the m + 1 knots u. The source ends the domain at `u[n-p]`,
//! where the curve is not closed. A uniform sequence has m + 1 knots, not n + 1 as in (3.7).

use super::NurbsGrainError;
use super::error::Direction;
use feeler_geom::P3;
use feeler_geom::count::index;
use feeler_geom::nurbs::{NurbsCurve, NurbsSurface};

/// Kind of the knots of a net along one of its directions. The number is the degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Uniform knots, the first points repeated after the last one: closed with `degree - 1` continuous
    /// derivatives. Each point is given once.
    Wrapped(u32),
    /// Uniform knots with clamped ends, from the first point to the last one. The sides must be poles,
    /// which are rows of equal points, or coincide at a smooth seam.
    Clamped(u32),
}

/// Control net of a closed surface; lengths are in mm.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlNet {
    /// Kind of the knots across the rows of the net (u).
    pub u: Along,
    /// Kind of the knots along a row of the net (v).
    pub v: Along,
    /// Number of points in a row. Control point `(i, j)` has the index `i * n_v + j`.
    pub n_v: usize,
    /// Control points (mm), row by row.
    pub points: Vec<P3>,
    /// Weights, all positive; empty for a polynomial surface.
    pub weights: Vec<f64>,
}

impl Along {
    fn degree(self) -> u32 {
        match self {
            Self::Wrapped(p) | Self::Clamped(p) => p,
        }
    }

    /// Returns the knots for `n` given points, and the indices of the given points that the control
    /// points of the surface equal, in the order of the control points.
    fn closed(self, n: usize) -> (Vec<f64>, Vec<usize>) {
        let p = self.degree() as usize;
        match self {
            Self::Wrapped(_) => {
                let knots = (0..=n + 2 * p).map(|k| f64::from(index(k)) - f64::from(index(p)));
                (knots.collect(), (0..n + p).map(|k| k % n).collect())
            }
            Self::Clamped(_) => {
                let last = n - p;
                let knots = (0..=n + p).map(|k| f64::from(index(k.saturating_sub(p).min(last))));
                (knots.collect(), (0..n).collect())
            }
        }
    }

    fn check(self, n: usize, direction: Direction) -> Result<(), NurbsGrainError> {
        let degree = self.degree();
        let min = match self {
            Self::Wrapped(p) => (p as usize + 1).max(3),
            Self::Clamped(p) => p as usize + 1,
        };
        if degree == 0 || n < min {
            return Err(NurbsGrainError::TooFewPoints { direction, points: n, degree, min });
        }
        Ok(())
    }
}

impl ControlNet {
    /// Builds the NURBS surface, in which the first points of wrapped directions are repeated. Wrapped
    /// parameters range from 0 to the number of points, clamped ones from 0 to the number of points
    /// minus the degree.
    ///
    /// # Errors
    /// Returns [`NurbsGrainError::TooFewPoints`] if a direction has too few points, and
    /// [`NurbsGrainError::Net`] if the points or weights do not fill the rows.
    pub fn surface(&self) -> Result<NurbsSurface, NurbsGrainError> {
        let n_v = self.n_v;
        let (n, weights) = (self.points.len(), self.weights.len());
        if n_v == 0 || !n.is_multiple_of(n_v) || !(weights == 0 || weights == n) {
            return Err(NurbsGrainError::Net(feeler_geom::nurbs::NurbsError::Counts));
        }
        let n_u = n / n_v;
        self.u.check(n_u, Direction::U)?;
        self.v.check(n_v, Direction::V)?;
        let ((u_knots, rows), (v_knots, columns)) = (self.u.closed(n_u), self.v.closed(n_v));
        let at = |i: &usize| columns.iter().map(move |j| i * n_v + j).collect::<Vec<_>>();
        let order: Vec<usize> = rows.iter().flat_map(at).collect();
        Ok(NurbsSurface {
            u_degree: self.u.degree(),
            v_degree: self.v.degree(),
            u_knots,
            v_knots,
            n_v: columns.len(),
            points: order.iter().map(|k| self.points[*k]).collect(),
            weights: if weights == 0 { Vec::new() } else { order.iter().map(|k| self.weights[*k]).collect() },
        })
    }
}

/// Builds a curve that is closed by wrapping: uniform knots, the first `degree` points repeated after
/// the last one. Its parameters range from 0 to the number of points.
///
/// # Errors
/// Returns [`NurbsGrainError::TooFewPoints`] if there are too few points, and [`NurbsGrainError::Net`] if
/// the numbers of weights and points differ.
pub fn wrapped_curve(degree: u32, points: &[P3], weights: &[f64]) -> Result<NurbsCurve, NurbsGrainError> {
    let along = Along::Wrapped(degree);
    along.check(points.len(), Direction::U)?;
    if !(weights.is_empty() || weights.len() == points.len()) {
        return Err(NurbsGrainError::Net(feeler_geom::nurbs::NurbsError::Counts));
    }
    let (knots, order) = along.closed(points.len());
    let of = |w: &[f64]| if w.is_empty() { Vec::new() } else { order.iter().map(|k| w[*k]).collect() };
    Ok(NurbsCurve { degree, knots, points: order.iter().map(|k| points[*k]).collect(), weights: of(weights) })
}
