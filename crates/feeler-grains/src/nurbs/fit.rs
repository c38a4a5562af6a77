//! Least-squares fit of a closed net to points all around a grain.
//!
//! The cloud is made round by its second moments. Seen from its centre, the longitude of a point is u
//! and its latitude is v. The net is wrapped along u. Along v it ends at poles, and the control points
//! next to a pole are an ellipse around it in one plane, so that the pole has a tangent plane. Control
//! points are linear in the unknowns, so one least-squares problem yields x, y and z. Then the
//! parameters of the points are moved to their nearest points, and the net is solved for again.
//!
//! # Source
//! Piegl & Tiller, *The NURBS Book*, §9.4 (least squares); Hoschek, *Intrinsic parametrization for
//! approximation*, 1988 (parameter correction).

use super::{Along, ControlNet, NurbsGrain, NurbsGrainError};
use feeler_geom::count::index;
use feeler_geom::{P2, P3, V3, math};
use nalgebra::{Cholesky, DMatrix, Matrix3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Size and smoothness of the fitted net.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitOptions {
    /// Number of control points in each row around the grain, at least 4.
    pub around: usize,
    /// Number of rows of control points from pole to pole, both included, at least 6.
    pub rows: usize,
    /// Weight, at least 0, of the squared second differences of the net relative to the squared
    /// distances of the points: 1e-8 has hardly an effect, 1e-3 smooths noise.
    pub smoothing: f64,
    /// Maximum number of rounds after the first fit. Each round moves the parameters of the points to
    /// those of the nearest points of the surface, and fits the net again. The rounds end early if the
    /// fit does not improve.
    pub rounds: usize,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { around: 12, rows: 10, smoothing: 1e-8, rounds: 3 }
    }
}

/// Fitted grain and the deviation of the points from it.
#[derive(Clone, Debug, PartialEq)]
pub struct NurbsFit {
    /// Fitted grain.
    pub grain: NurbsGrain,
    /// Root mean square of the points' distances from the surface (mm).
    pub rms: f64,
    /// Largest distance of a point from the surface (mm).
    pub largest: f64,
}

/// Computes the grain whose surface has the least sum of squared distances from points (mm) all around
/// the grain. Each ray from the centre of the points must intersect the grain's surface once; dents may
/// be deep. The order of the points affects only the rounding.
///
/// # Errors
/// Returns [`NurbsGrainError::TooFewPoints`], [`NurbsGrainError::Points`], or an error of
/// [`NurbsGrain::new`].
pub fn fit(points: &[P3], options: &FitOptions) -> Result<NurbsFit, NurbsGrainError> {
    let spline = Spline::new(options)?;
    let undetermined = || NurbsGrainError::Points { points: points.len(), unknowns: spline.unknowns() };
    let count = points.len().max(1) as f64;
    let center = points.iter().map(|p| p.coords).sum::<V3>() / count;
    // A long cloud of points is made round first, so that rows around a pole are ellipses with equal
    // steps of longitude.
    let spread = points.iter().map(|p| (p.coords - center) * (p.coords - center).transpose());
    let spread = Cholesky::new(spread.sum::<Matrix3<f64>>() / count).ok_or_else(undetermined)?;
    let round = |p: &P3| spread.l_dirty().solve_lower_triangular(&(p.coords - center));
    let seen = points.iter().map(|p| round(p).map(|d| spline.parameters_of(&d)));
    let mut at = seen.collect::<Option<Vec<P2>>>().ok_or_else(undetermined)?;
    let mut best: Option<NurbsFit> = None;
    for round in 0..=options.rounds {
        let grain = NurbsGrain::of_net(&spline.solve(points, &at, options.smoothing)?)?;
        let (mut sum, mut largest) = (0.0, 0.0_f64);
        for (p, uv) in points.iter().zip(&mut at) {
            let straight = (grain.grid().derivs(*uv).p - p).norm();
            let found = grain.grid().descend(p, *uv).filter(|f| f.1 <= straight);
            let off = found.map_or(straight, |f| f.1);
            if let Some((foot, _)) = found {
                *uv = foot;
            }
            sum += off * off;
            largest = largest.max(off);
        }
        let rms = (sum / points.len() as f64).sqrt();
        if best.as_ref().is_none_or(|b| rms < b.rms) {
            best = Some(NurbsFit { grain, rms, largest });
        } else if round > 0 {
            break;
        }
    }
    best.ok_or_else(undetermined)
}

/// Layout of the bicubic net of a fit, with `around` control points in a row around the grain and `rows`
/// rows from pole to pole: wrapped along u, with smooth poles at the ends of v.
pub(super) struct Spline {
    around: usize,
    rows: usize,
}

/// Linear combination of the unknown vectors of the fit, as pairs of the index of an unknown and its
/// factor.
type Row = Vec<(usize, f64)>;

impl Spline {
    pub(super) fn new(options: &FitOptions) -> Result<Self, NurbsGrainError> {
        let few =
            |direction, points, min| NurbsGrainError::TooFewPoints { direction, points, degree: 3, min };
        if options.around < 4 {
            return Err(few(super::Direction::U, options.around, 4));
        }
        if options.rows < 6 {
            return Err(few(super::Direction::V, options.rows, 6));
        }
        Ok(Self { around: options.around, rows: options.rows })
    }

    /// Number of unknown vectors of the fit: both poles, two vectors that span the ellipse around each
    /// pole, and the control points of the rows between these ellipses.
    fn unknowns(&self) -> usize {
        6 + self.around * (self.rows - 4)
    }

    /// Lengths of the surface's domain in u and v.
    pub(super) fn lengths(&self) -> [f64; 2] {
        [f64::from(index(self.around)), f64::from(index(self.rows - 3))]
    }

    /// Returns the parameters (u, v) that are assigned to a point in the direction `d` from the centre
    /// of the points, after the points have been mapped linearly to a cloud of equal spread in all
    /// directions. u is proportional to the longitude of `d` and v to its latitude.
    pub(super) fn parameters_of(&self, d: &V3) -> P2 {
        let [u, v] = self.lengths();
        let latitude = math::atan2(d.z, math::hypot(d.x, d.y));
        P2::new(math::turn(math::atan2(d.y, d.x)) / TAU * u, (latitude + FRAC_PI_2) / PI * v)
    }

    /// Appends to `out` the control point `i` of row `j`, multiplied by `share`, as a linear combination
    /// of the unknowns of the fit.
    fn control(&self, i: usize, j: usize, share: f64, out: &mut Row) {
        let last = self.unknowns();
        // Longitude of the Greville abscissa of the i-th wrapped control point.
        let angle = (f64::from(index(i)) - 1.0) / f64::from(index(self.around)) * TAU;
        let (sin, cos) = math::sin_cos(angle);
        match j {
            0 => out.push((0, share)),
            1 => out.extend([(0, share), (1, share * cos), (2, share * sin)]),
            j if j == self.rows - 2 => {
                out.extend([(last - 1, share), (last - 2, share * cos), (last - 3, share * sin)]);
            }
            j if j == self.rows - 1 => out.push((last - 1, share)),
            j => out.push((3 + (j - 2) * self.around + i % self.around, share)),
        }
    }

    fn row(&self, at: P2) -> Row {
        let n_u = self.around;
        let [u_end, v_end] = self.lengths();
        let (i, of_u) = cubic(math::wrap(at.x, 0.0, u_end), |k| k, n_u - 1);
        let clamped = |k: f64| k.clamp(0.0, v_end);
        let (j, of_v) = cubic(at.y.clamp(0.0, v_end), clamped, self.rows - 4);
        let mut out = Row::new();
        for (a, x) in of_u.iter().enumerate() {
            for (b, y) in of_v.iter().enumerate() {
                self.control(i + a, j + b, x * y, &mut out);
            }
        }
        out
    }

    pub(super) fn solve(
        &self,
        points: &[P3],
        at: &[P2],
        smoothing: f64,
    ) -> Result<ControlNet, NurbsGrainError> {
        let n = self.unknowns();
        let undetermined = || NurbsGrainError::Points { points: points.len(), unknowns: n };
        if points.len() < n || !points.iter().all(|p| p.coords.iter().all(|c| c.is_finite())) {
            return Err(undetermined());
        }
        let (mut matrix, mut sides) = (DMatrix::<f64>::zeros(n, n), DMatrix::<f64>::zeros(n, 3));
        let mut add = |row: &Row, weight: f64, point: Option<&P3>| {
            for (a, x) in row {
                for (b, y) in row {
                    matrix[(*a, *b)] += weight * x * y;
                }
                if let Some(p) = point {
                    (0..3).for_each(|k| sides[(*a, k)] += weight * x * p[k]);
                }
            }
        };
        points.iter().zip(at).for_each(|(p, at)| add(&self.row(*at), 1.0, Some(p)));
        let weight = smoothing * points.len() as f64 / n as f64;
        for i in 0..self.around {
            for j in 0..self.rows {
                let mut add_second_difference = |parts: [(usize, usize); 3]| {
                    let mut row = Row::new();
                    parts
                        .iter()
                        .zip([1.0, -2.0, 1.0])
                        .for_each(|((i, j), s)| self.control(*i, *j, s, &mut row));
                    add(&row, weight, None);
                };
                add_second_difference([(i, j), (i + 1, j), (i + 2, j)]);
                if j + 2 < self.rows {
                    add_second_difference([(i, j), (i, j + 1), (i, j + 2)]);
                }
            }
        }
        let solved = Cholesky::new(matrix).ok_or_else(undetermined)?.solve(&sides);
        let mut net = Vec::with_capacity(self.around * self.rows);
        for i in 0..self.around {
            for j in 0..self.rows {
                let mut row = Row::new();
                self.control(i, j, 1.0, &mut row);
                let sum = |k: usize| row.iter().map(|(a, x)| x * solved[(*a, k)]).sum::<f64>();
                net.push(P3::new(sum(0), sum(1), sum(2)));
            }
        }
        Ok(ControlNet {
            u: Along::Wrapped(3),
            v: Along::Clamped(3),
            n_v: self.rows,
            points: net,
            weights: Vec::new(),
        })
    }
}

/// Returns the index of the first of the four cubic B-splines that are not 0 at `t`, and the values of
/// the four. Their knots are `knot(0)`, `knot(1)`, …, which are integers apart from clamped ends; `last`
/// is the index of the last interval between knots.
fn cubic(t: f64, knot: impl Fn(f64) -> f64, last: usize) -> (usize, [f64; 4]) {
    let mut span = 0;
    while span < last && f64::from(index(span + 1)) <= t {
        span += 1;
    }
    let k = |offset: f64| knot(f64::from(index(span)) + offset);
    let mut basis = [1.0, 0.0, 0.0, 0.0];
    for degree in 1..=3 {
        let mut carried = 0.0;
        for (r, value) in (1_u32..).zip(&mut basis[..degree]) {
            let right = f64::from(r);
            let (hi, lo) = (k(right), k(right - f64::from(index(degree))));
            let part = *value / (hi - lo);
            *value = carried + (hi - t) * part;
            carried = (t - lo) * part;
        }
        basis[degree] = carried;
    }
    (span, basis)
}
