//! Code shared by all pairs of skeletons: evaluation of a skeleton, the Newton iteration that refines a
//! pair, and the collection of results without duplicates.
//!
//! The unknowns are the skeletons' parameters `s`, `t` (mm of arc length) and the unit normal `n`. The
//! equations are `w - (w·n) n = 0`, `n·c_a' + σ_a' = 0`, `n·c_b' - σ_b' = 0` (MATH §3). They are regular
//! at distance 0 because the constant parts of the radii do not enter. They are regular at `h = 0`
//! because, for vanishing slopes, the determinant of the system is minus that of the Hessian of `½|w|²`.

use super::simple::Undecided;
use super::{Critical, Criticals, Family, Primitive};
use crate::frame::complete_basis;
use crate::{P3, V3, math};
use arrayvec::ArrayVec;

/// Sphere at a point of a skeleton, with derivatives of its centre and radius by the arc length of the
/// skeleton.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Centre of the sphere.
    pub(super) c: P3,
    /// Unit tangent of the skeleton; zero for a point.
    pub(super) d1: V3,
    /// Curvature vector of the skeleton (1/mm).
    pub(super) d2: V3,
    /// Signed radius of the sphere (mm).
    pub(super) sigma: f64,
    /// Derivative of the signed radius by the arc length.
    pub(super) slope: f64,
}

impl Sample {
    /// Creates the sphere about a point of a circle or about a vertex, with zeros for the derivatives of
    /// its centre.
    pub(super) fn of_point(c: P3, sigma: f64) -> Self {
        Self { c, d1: V3::zeros(), d2: V3::zeros(), sigma, slope: 0.0 }
    }
}

/// Returns the sphere at arc length `t` (mm) of a primitive's skeleton. A plane has no skeleton; its
/// origin is returned as a placeholder that no caller uses.
pub(super) fn sample(p: &Primitive, t: f64) -> Sample {
    match *p {
        Primitive::Plane { origin: c, .. } => {
            Sample { c, d1: V3::zeros(), d2: V3::zeros(), sigma: 0.0, slope: 0.0 }
        }
        Primitive::Point { center: c, sigma } => {
            Sample { c, d1: V3::zeros(), d2: V3::zeros(), sigma, slope: 0.0 }
        }
        Primitive::Line { origin, dir, sigma, slope } => {
            Sample { c: origin + dir * t, d1: dir, d2: V3::zeros(), sigma: sigma + slope * t, slope }
        }
        Primitive::Circle { frame, radius, sigma } => {
            let (sin, cos) = math::sin_cos(t / radius);
            let e_r = frame.x * cos + frame.y * sin;
            Sample {
                c: frame.origin + e_r * radius,
                d1: frame.y * cos - frame.x * sin,
                d2: e_r * (-1.0 / radius),
                sigma,
                slope: 0.0,
            }
        }
    }
}

/// Whether a sphere of a cone belongs to the nappe of which the cone consists: the one on which the signed
/// radius has the sign of its slope. Because of rounding at the apex, radii of the opposite sign are
/// accepted up to the magnitude `slack` (mm). `true` for other primitives, whose slope is 0.
pub(super) fn on_nappe(x: &Sample, slack: f64) -> bool {
    x.slope == 0.0 || x.sigma * x.slope.signum() >= -slack
}

/// Pair of skeleton points with a normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// Arc length (mm) on A's skeleton.
    pub(super) s: f64,
    /// Arc length (mm) on B's skeleton.
    pub(super) t: f64,
    /// Unit normal of the pair: A's outward normal, and the opposite of B's.
    pub(super) n: V3,
}

/// Residuals of the four equations of a critical pair and their Jacobian by the unknowns `(s / len, t /
/// len, n·e1, n·e2)`, with all lengths divided by `len`.
pub(super) struct System {
    /// Residuals (dimensionless) of the four equations of a critical pair.
    pub(super) r: [f64; 4],
    /// Jacobian of the residuals, row by row.
    pub(super) j: [[f64; 4]; 4],
    /// Orthonormal basis `(e1, e2)` of the plane orthogonal to the pair's normal.
    pub(super) basis: (V3, V3),
}

/// Evaluates the equations of a critical pair at the pair `x`, scaled by the length `len` (mm).
pub(super) fn system(a: &Primitive, b: &Primitive, x: &Pair, len: f64) -> System {
    let (sa, sb) = (sample(a, x.s), sample(b, x.t));
    let w = sb.c - sa.c;
    let h = w.dot(&x.n) / len;
    let (e1, e2) = complete_basis(&x.n);
    let (a1, a2) = (sa.d1.dot(&e1), sa.d1.dot(&e2));
    let (b1, b2) = (sb.d1.dot(&e1), sb.d1.dot(&e2));
    System {
        r: [w.dot(&e1) / len, w.dot(&e2) / len, x.n.dot(&sa.d1) + sa.slope, x.n.dot(&sb.d1) - sb.slope],
        j: [
            [-a1, b1, -h, 0.0],
            [-a2, b2, 0.0, -h],
            [x.n.dot(&sa.d2) * len, 0.0, a1, a2],
            [0.0, x.n.dot(&sb.d2) * len, b1, b2],
        ],
        basis: (e1, e2),
    }
}

/// Solves `j x = r` with full pivoting. Returns the solution, the sign of the determinant, and the ratio
/// of the smallest pivot to the largest one (0 for a singular matrix). Unknowns of vanishing pivots are
/// zero; if `short` is true, the unknown of the smallest pivot is zero, too.
fn solve4(mut j: [[f64; 4]; 4], mut r: [f64; 4], short: bool) -> ([f64; 4], f64, f64) {
    let mut column = [0, 1, 2, 3];
    let mut sign = 1.0;
    let (mut first, mut last) = (0.0, 0.0);
    let mut rank = 0;
    for k in 0..4 {
        let (mut pr, mut pc, mut best) = (k, k, 0.0);
        for (i, row) in j.iter().enumerate().skip(k) {
            for (c, &v) in row.iter().enumerate().skip(k) {
                if v.abs() > best {
                    (pr, pc, best) = (i, c, v.abs());
                }
            }
        }
        last = best;
        if best == 0.0 {
            break;
        }
        if pr != k {
            j.swap(pr, k);
            r.swap(pr, k);
            sign = -sign;
        }
        if pc != k {
            for row in &mut j {
                row.swap(pc, k);
            }
            column.swap(pc, k);
            sign = -sign;
        }
        if k == 0 {
            first = best;
        }
        rank = k + 1;
        let pivot_row = j[k];
        sign *= pivot_row[k].signum();
        for i in k + 1..4 {
            let f = j[i][k] / pivot_row[k];
            for c in k..4 {
                j[i][c] -= f * pivot_row[c];
            }
            r[i] -= f * r[k];
        }
    }
    let mut y = [0.0; 4];
    let solved = if short { rank.min(3) } else { rank };
    for k in (0..solved).rev() {
        let tail: f64 = (k + 1..4).map(|c| j[k][c] * y[c]).sum();
        y[k] = (r[k] - tail) / j[k][k];
    }
    let mut x = [0.0; 4];
    for k in 0..4 {
        x[column[k]] = y[k];
    }
    (x, sign, if rank == 4 { last / first } else { 0.0 })
}

/// Critical pair as refined by Newton's iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refined {
    /// The refined pair.
    pub(super) pair: Pair,
    /// Sign of the determinant of the Jacobian, which is minus the index of the critical point.
    pub(super) sign: f64,
    /// Ratio of the smallest to the largest pivot, a measure of how isolated the pair is.
    pub(super) isolation: f64,
    /// Residual (dimensionless) that rounding can cause for this pair.
    pub(super) accept: f64,
}

impl Refined {
    /// Estimate of the largest error of the pair due to rounding, in units of the length scale of the
    /// system.
    fn position_error(&self) -> f64 {
        (4.0 * self.accept / self.isolation).min(0.1)
    }

    /// Whether rounding prevents the pair from being distinguished from a member of a continuous family.
    fn is_degenerate(&self) -> bool {
        self.isolation < 1e3 * self.accept
    }
}

/// Returns the pair `x` moved by a step of the unknowns of [`System`], with the same `basis` and length
/// scale `len` (mm).
pub(super) fn moved(x: &Pair, step: &[f64; 4], basis: &(V3, V3), len: f64) -> Pair {
    Pair {
        s: x.s + step[0] * len,
        t: x.t + step[1] * len,
        n: (x.n + basis.0 * step[2] + basis.1 * step[3]).normalize(),
    }
}

/// Returns the largest magnitude of the residuals (dimensionless); NaN if one of them is NaN.
pub(super) fn max_residual(r: &[f64; 4]) -> f64 {
    r.iter().fold(0.0, |m: f64, v| if v.abs() >= m { v.abs() } else { m })
}

/// Refines the pair `start` by Newton's iteration; both primitives must be lines or circles. `len` (mm)
/// is the length scale of the equations. The iteration stops when the residual no longer decreases,
/// after at most 40 steps (convergence to multiple solutions is linear). Returns `None` unless the
/// smallest residual is at most `accept`, the residual (dimensionless) that rounding can cause.
pub(super) fn refine(a: &Primitive, b: &Primitive, start: Pair, len: f64, accept: f64) -> Option<Refined> {
    let mut x = start;
    let mut best: Option<(f64, Refined)> = None;
    let mut steps_without_progress = 0;
    for k in 0..40 {
        let sys = system(a, b, &x, len);
        let size = max_residual(&sys.r);
        if !size.is_finite() {
            return None;
        }
        // Near a family a full step goes far along it and leaves an error of third order. The next step
        // omits that direction and removes the error.
        let nearly_singular = best.is_some_and(|(_, f)| f.isolation < 1e-5);
        let short = nearly_singular && k % 2 == 1;
        let better = size <= accept && best.is_none_or(|(smallest, _)| size < smallest);
        steps_without_progress = if better { 0 } else { steps_without_progress + 1 };
        if best.is_some() && steps_without_progress > if nearly_singular { 4 } else { 0 } {
            break;
        }
        let (step, sign, isolation) = solve4(sys.j, sys.r.map(|v| -v), short);
        if better {
            best = Some((size, Refined { pair: x, sign, isolation, accept }));
        }
        // Far from the solution a full step in n is not meaningful, so it is damped.
        let turn = math::hypot(step[2], step[3]);
        let damp = if turn > 0.5 { 0.5 / turn } else { 1.0 };
        x = moved(&x, &step.map(|v| v * damp), &sys.basis, len);
    }
    best.map(|(_, f)| f)
}

/// A query for the critical pairs of two primitives, with the results found so far. A and B are ordered
/// by kind.
pub(super) struct Job<'a> {
    /// First primitive, A.
    pub(super) a: &'a Primitive,
    /// Second primitive, B.
    pub(super) b: &'a Primitive,
    /// Minimum and maximum signed distance (mm) of the pairs to be returned.
    range: [f64; 2],
    /// Maximum variation (mm) of the distance along a family, over `extent`.
    pub(super) tol: f64,
    /// Size of the features (mm), which lie within about this length of the origins of their lines.
    pub(super) extent: f64,
    /// Sum of the magnitudes of the coordinates and radii of both primitives (mm).
    reach: f64,
    /// Bound of the rounding errors of lengths (mm).
    pub(super) noise: f64,
    /// Results found so far.
    pub(super) out: &'a mut Criticals,
    /// Skeleton points and normals of the isolated results, used to detect duplicates.
    found: ArrayVec<(P3, P3, V3), 16>,
}

impl<'a> Job<'a> {
    /// Creates a query; results are added to `out`, which must be empty.
    pub(super) fn new(
        a: &'a Primitive,
        b: &'a Primitive,
        range: [f64; 2],
        tol: f64,
        extent: f64,
        out: &'a mut Criticals,
    ) -> Self {
        let reach = a.reach() + b.reach();
        let noise = 16.0 * f64::EPSILON * reach;
        Self { a, b, range, tol, extent, reach, noise, out, found: ArrayVec::new() }
    }

    /// Whether the interval of distances from `lo` to `hi` (mm) intersects the requested range.
    pub(super) fn in_range(&self, lo: f64, hi: f64) -> bool {
        lo <= self.range[1] && hi >= self.range[0]
    }

    /// Returns a length (mm) that is given relative to the coordinates and radii of both primitives.
    pub(super) fn scaled_length(&self, relative: f64) -> f64 {
        relative * self.reach
    }

    /// Whether a critical pair may be in the requested range if its distance (mm) is uncertain by
    /// `slack` (mm) and by the effect of its refinement.
    pub(super) fn may_be_in_range(&self, distance: f64, slack: f64) -> bool {
        let margin = REFINEMENT_MARGIN * self.reach + slack;
        self.in_range(distance - margin, distance + margin)
    }

    /// Whether a sphere may belong to the used nappe of a cone after refinement.
    pub(super) fn may_be_on_nappe(&self, x: &Sample) -> bool {
        on_nappe(x, REFINEMENT_MARGIN * self.reach)
    }

    /// Records a family with distances from `lo` to `hi` (mm), unless they are outside the requested
    /// range.
    pub(super) fn add_family(&mut self, family: Family, lo: f64, hi: f64) {
        if self.in_range(lo, hi) {
            self.out.family = self.out.family.max(Some(family));
        }
    }

    /// Adds an isolated pair to the results, unless its distance is outside the requested range, it is
    /// not on the used nappe of a cone, or it is a duplicate.
    pub(super) fn add(&mut self, x: &Pair) {
        self.add_between(&sample(self.a, x.s), &sample(self.b, x.t), x.n);
    }

    /// Like [`Job::add`], with the normal of the pair and with the opposite normal, which also makes a
    /// critical pair if both slopes vanish.
    pub(super) fn add_both(&mut self, x: &Pair) {
        let (sa, sb) = (sample(self.a, x.s), sample(self.b, x.t));
        self.add_between(&sa, &sb, x.n);
        self.add_between(&sa, &sb, -x.n);
    }

    /// Like [`Job::add`], for A's sphere `sa`, B's sphere `sb` and the normal `n`.
    pub(super) fn add_between(&mut self, sa: &Sample, sb: &Sample, n: V3) {
        let distance = (sb.c - sa.c).dot(&n) - sa.sigma - sb.sigma;
        if !(distance.is_finite() && self.in_range(distance, distance)) {
            return;
        }
        if !(on_nappe(sa, self.noise) && on_nappe(sb, self.noise)) {
            return;
        }
        let near = SAME_SOLUTION * self.reach;
        let is_duplicate = |f: &(P3, P3, V3)| {
            (f.0 - sa.c).norm() <= near && (f.1 - sb.c).norm() <= near && (f.2 - n).norm() <= SAME_SOLUTION
        };
        if self.found.iter().any(is_duplicate) || self.found.is_full() {
            return;
        }
        self.found.push((sa.c, sb.c, n));
        let (p_a, p_b) = (sa.c + n * sa.sigma, sb.c - n * sb.sigma);
        self.out.isolated.push(Critical { p_a, p_b, n, distance });
    }
}

/// All isolated solutions of the system at any distance, without duplicates.
pub(super) struct Solutions<'a> {
    a: &'a Primitive,
    b: &'a Primitive,
    /// Whether the radii of both primitives are constant. If so, every solution exists with two opposite
    /// normals and is stored once.
    has_both_normals: bool,
    reach: f64,
    noise: f64,
    len: f64,
    list: ArrayVec<Refined, 24>,
    /// Simple solutions that need no refinement: the spheres and the normal.
    exact: ArrayVec<([Sample; 2], V3), 24>,
}

impl<'a> Solutions<'a> {
    /// Creates an empty set of solutions. `len` (mm) is the length scale of the equations.
    pub(super) fn new(job: &Job<'a>, len: f64) -> Self {
        let has_both_normals =
            [job.a, job.b].iter().all(|p| !matches!(p, Primitive::Line { slope, .. } if *slope != 0.0));
        let (list, exact) = (ArrayVec::new(), ArrayVec::new());
        Self { a: job.a, b: job.b, has_both_normals, reach: job.reach, noise: job.noise, len, list, exact }
    }

    /// Refines the pair `start` and stores the solution to which it converges, if any. Starts with a
    /// residual (dimensionless) above `max_start_residual` are skipped.
    pub(super) fn try_start(&mut self, start: Pair, max_start_residual: f64) {
        if max_start_residual == f64::INFINITY
            || max_residual(&system(self.a, self.b, &start, self.len).r) <= max_start_residual
        {
            // A start that does not converge is skipped.
            let _ = self.refine_simple(start);
        }
    }

    /// Refines the pair `start`, which must be next to a solution, and stores the solution. Returns an
    /// error if the iteration does not converge.
    pub(super) fn refine_simple(&mut self, start: Pair) -> Result<(), Undecided> {
        let len = self.len;
        let travel = 16.0 * f64::EPSILON * (start.s.abs() + start.t.abs());
        let accept = 16.0 * f64::EPSILON + 0.5 * (self.noise + travel) / len;
        let refined = refine(self.a, self.b, start, len, accept).ok_or(Undecided)?;
        self.store(refined);
        Ok(())
    }

    /// Stores a simple solution that needs no refinement.
    pub(super) fn add_exact(&mut self, spheres: [Sample; 2], n: V3) {
        let _ = self.exact.try_push((spheres, n));
    }

    /// Removes all solutions.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.exact.clear();
    }

    fn store(&mut self, found: Refined) {
        let (ca, cb) = (sample(self.a, found.pair.s).c, sample(self.b, found.pair.t).c);
        let duplicate = self.list.iter().position(|f| {
            let near =
                (SAME_SOLUTION * self.reach).max(self.len * f.position_error().max(found.position_error()));
            let turn = SAME_SOLUTION.max(f.position_error()).max(found.position_error());
            let turned = self.has_both_normals && (f.pair.n + found.pair.n).norm() <= turn;
            (sample(self.a, f.pair.s).c - ca).norm() <= near
                && (sample(self.b, f.pair.t).c - cb).norm() <= near
                && (turned || (f.pair.n - found.pair.n).norm() <= turn)
        });
        match duplicate {
            None => {
                let _ = self.list.try_push(found);
            }
            // Of two copies of a solution the more isolated one is kept.
            Some(i) if found.isolation > self.list[i].isolation => self.list[i] = found,
            Some(_) => {}
        }
    }

    /// Whether the indices of the solutions add up to zero, as those of all critical points of a
    /// function on a torus (or on a cylinder, growing at both ends) must. If they do not, a solution is
    /// missing. Nearly multiple solutions have no reliable index; with one of them the result is `true`.
    pub(super) fn balanced(&self) -> bool {
        self.list.iter().any(|f| f.isolation < 1e-7)
            || self.list.iter().map(|f| f.sign).sum::<f64>().abs() < 0.5
    }

    /// Adds the solutions to the results of the query.
    pub(super) fn finish(&self, job: &mut Job<'a>) {
        for ([a, b], n) in &self.exact {
            job.add_between(a, b, *n);
            if self.has_both_normals {
                job.add_between(a, b, -n);
            }
        }
        // If the pair has a family, solutions that are not isolated from it to rounding are its members.
        let beside_family = job.out.family.is_some();
        for f in self.list.iter().filter(|f| !(beside_family && f.is_degenerate())) {
            if self.has_both_normals { job.add_both(&f.pair) } else { job.add(&f.pair) }
        }
    }
}

/// Maximum difference of two copies of one solution: of the skeleton points, relative to the coordinates
/// and radii of the primitives, and of the normals (rad). A nearly double root is exact only to the
/// square root of rounding. With a larger value distinct minima merge; with a smaller one a minimum is
/// returned twice.
const SAME_SOLUTION: f64 = 3e-8;

/// Maximum change of a simple (non-multiple) solution by its refinement, relative to the coordinates and
/// radii of the primitives; the actual change is much smaller. Solutions that are outside the requested range
/// of distances by less than this are refined, too. With a larger value solutions are refined needlessly;
/// with a smaller one a solution in the range is skipped.
const REFINEMENT_MARGIN: f64 = 1e-6;
