//! What the pairs share: evaluation of a skeleton, the Newton iteration that finishes a pair, and the
//! collection of results without repetitions.
//!
//! Unknowns are the skeletons' parameters `s`, `t` (mm of arc length) and the unit normal `n`; equations are
//! `w - (w·n) n = 0`, `n·c_a' + σ_a' = 0`, `n·c_b' - σ_b' = 0` (MATH §3). The constant parts of the radii do
//! not enter, hence the regularity at distance 0; the determinant of the system is minus that of the Hessian
//! of `½|w|²` when the slopes vanish, hence the regularity at `h = 0`.

use super::simple::Doubt;
use super::{Critical, Criticals, Family, Primitive};
use crate::frame::complete_basis;
use crate::{P3, V3, math};
use arrayvec::ArrayVec;

/// A point of a skeleton with derivatives by its arc length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Centre of the sphere.
    pub(super) c: P3,
    /// Unit tangent; zero for a point.
    pub(super) d1: V3,
    /// Curvature vector.
    pub(super) d2: V3,
    /// Signed radius.
    pub(super) sigma: f64,
    /// Its derivative.
    pub(super) slope: f64,
}

impl Sample {
    /// About a point of a circle, or a point: without the derivatives of its centre.
    pub(super) fn of_point(c: P3, sigma: f64) -> Self {
        Self { c, d1: V3::zeros(), d2: V3::zeros(), sigma, slope: 0.0 }
    }
}

/// The sphere at arc length `t` of a skeleton. A plane has none; its origin stands in and is never asked for.
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

/// Whether the sphere belongs to the used nappe of a cone; `slack` (mm) allows for rounding at the apex.
pub(super) fn on_nappe(x: &Sample, slack: f64) -> bool {
    x.slope == 0.0 || x.sigma * x.slope.signum() >= -slack
}

/// A pair of skeleton points with a normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// Arc length on A.
    pub(super) s: f64,
    /// Arc length on B.
    pub(super) t: f64,
    /// Unit normal from A to B.
    pub(super) n: V3,
}

/// The four equations and their Jacobian by `(s / len, t / len, n·e1, n·e2)`, lengths divided by `len`.
pub(super) struct System {
    /// Residuals.
    pub(super) r: [f64; 4],
    /// Jacobian, row by row.
    pub(super) j: [[f64; 4]; 4],
    /// Basis of the plane orthogonal to `n`.
    pub(super) basis: (V3, V3),
}

/// The system at `x`, scaled by the length `len`.
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

/// Solves `j x = r` with full pivoting. Returns the solution, the sign of the determinant and the ratio of
/// the last pivot to the first. Unknowns of vanishing pivots stay zero, with `short` that of the last pivot
/// too.
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

/// A pair after Newton's iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refined {
    /// The pair.
    pub(super) pair: Pair,
    /// Sign of the system's determinant: minus the index of the critical point.
    pub(super) sign: f64,
    /// Ratio of the smallest to the largest pivot: how isolated the pair is.
    pub(super) isolation: f64,
    /// Residual at rounding level here.
    pub(super) accept: f64,
}

impl Refined {
    /// How far (in units of the length scale) rounding can have moved the pair along its weakest direction.
    fn scatter(&self) -> f64 {
        (4.0 * self.accept / self.isolation).min(0.1)
    }

    /// Whether the pair belongs to a continuous family, as far as can be told.
    fn is_loose(&self) -> bool {
        self.isolation < 1e3 * self.accept
    }
}

/// Moves a pair by a step of the system's unknowns.
pub(super) fn moved(x: &Pair, step: &[f64; 4], basis: &(V3, V3), len: f64) -> Pair {
    Pair {
        s: x.s + step[0] * len,
        t: x.t + step[1] * len,
        n: (x.n + basis.0 * step[2] + basis.1 * step[3]).normalize(),
    }
}

/// Largest residual, dimensionless.
pub(super) fn worst(r: &[f64; 4]) -> f64 {
    r.iter().fold(0.0, |m: f64, v| if v.abs() >= m { v.abs() } else { m })
}

/// Newton's iteration from `start`, both primitives being lines or circles. Stops when the residual no longer
/// decreases, after 40 steps at most (multiple solutions are approached by a constant factor a step); `None`
/// unless the smallest residual is then at rounding (`accept`, dimensionless).
pub(super) fn refine(a: &Primitive, b: &Primitive, start: Pair, len: f64, accept: f64) -> Option<Refined> {
    let mut x = start;
    let mut best: Option<(f64, Refined)> = None;
    let mut idle = 0;
    for k in 0..40 {
        let sys = system(a, b, &x, len);
        let size = worst(&sys.r);
        if !size.is_finite() {
            return None;
        }
        // Nearly a family: a full step goes far along it and leaves an error of third order. A step without
        // that direction after each repairs it.
        let nearly_singular = best.is_some_and(|(_, f)| f.isolation < 1e-5);
        let short = nearly_singular && k % 2 == 1;
        let better = size <= accept && best.is_none_or(|(least, _)| size < least);
        idle = if better { 0 } else { idle + 1 };
        if best.is_some() && idle > if nearly_singular { 4 } else { 0 } {
            break;
        }
        let (step, sign, isolation) = solve4(sys.j, sys.r.map(|v| -v), short);
        if better {
            best = Some((size, Refined { pair: x, sign, isolation, accept }));
        }
        // Far from the solution a full step in n means nothing.
        let turn = math::hypot(step[2], step[3]);
        let damp = if turn > 0.5 { 0.5 / turn } else { 1.0 };
        x = moved(&x, &step.map(|v| v * damp), &sys.basis, len);
    }
    best.map(|(_, f)| f)
}

/// A request and the results found so far; A and B are ordered by kind.
pub(super) struct Job<'a> {
    /// First primitive.
    pub(super) a: &'a Primitive,
    /// Second primitive.
    pub(super) b: &'a Primitive,
    /// Smallest and largest distance.
    range: [f64; 2],
    /// Tolerance (mm).
    pub(super) tol: f64,
    /// Size of the features (mm).
    pub(super) extent: f64,
    /// Sizes and places of both (mm).
    reach: f64,
    /// Rounding errors of lengths here (mm).
    pub(super) noise: f64,
    /// Results.
    pub(super) out: &'a mut Criticals,
    /// Skeleton points and normals of the isolated results.
    found: ArrayVec<(P3, P3, V3), 16>,
}

impl<'a> Job<'a> {
    /// An empty collection; results go to `out`.
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

    /// Whether distances from `lo` to `hi` meet the requested range.
    pub(super) fn in_range(&self, lo: f64, hi: f64) -> bool {
        lo <= self.range[1] && hi >= self.range[0]
    }

    /// A length (mm), relative to the sizes.
    pub(super) fn coarse(&self, relative: f64) -> f64 {
        relative * self.reach
    }

    /// Whether a solution at this distance, give or take `slack` and what its refinement does, may turn out
    /// to be in the range.
    pub(super) fn may_be_in_range(&self, distance: f64, slack: f64) -> bool {
        let margin = MARGIN * self.reach + slack;
        self.in_range(distance - margin, distance + margin)
    }

    /// Whether a sphere belongs to the used nappe of a cone or may turn out to.
    pub(super) fn may_be_on_nappe(&self, x: &Sample) -> bool {
        on_nappe(x, MARGIN * self.reach)
    }

    /// Notes a family with distances from `lo` to `hi`.
    pub(super) fn add_family(&mut self, family: Family, lo: f64, hi: f64) {
        if self.in_range(lo, hi) {
            self.out.family = self.out.family.max(Some(family));
        }
    }

    /// Adds an isolated pair, unless it is out of range, off the nappe of a cone, or there already.
    pub(super) fn add(&mut self, x: &Pair) {
        self.add_between(&sample(self.a, x.s), &sample(self.b, x.t), x.n);
    }

    /// [`Job::add`] for the skeleton points of a pair with its normal and with the opposite one, which makes
    /// a critical pair, too, when both slopes vanish.
    pub(super) fn add_both(&mut self, x: &Pair) {
        let (sa, sb) = (sample(self.a, x.s), sample(self.b, x.t));
        self.add_between(&sa, &sb, x.n);
        self.add_between(&sa, &sb, -x.n);
    }

    /// [`Job::add`] for two spheres and a normal.
    pub(super) fn add_between(&mut self, sa: &Sample, sb: &Sample, n: V3) {
        let distance = (sb.c - sa.c).dot(&n) - sa.sigma - sb.sigma;
        if !(distance.is_finite() && self.in_range(distance, distance)) {
            return;
        }
        if !(on_nappe(sa, self.noise) && on_nappe(sb, self.noise)) {
            return;
        }
        let near = SAME * self.reach;
        let same = |f: &(P3, P3, V3)| {
            (f.0 - sa.c).norm() <= near && (f.1 - sb.c).norm() <= near && (f.2 - n).norm() <= SAME
        };
        if self.found.iter().any(same) || self.found.is_full() {
            return;
        }
        self.found.push((sa.c, sb.c, n));
        let (p_a, p_b) = (sa.c + n * sa.sigma, sb.c - n * sb.sigma);
        self.out.isolated.push(Critical { p_a, p_b, n, distance });
    }
}

/// All isolated solutions of the system, whatever their distance, without repetitions.
pub(super) struct Solutions<'a> {
    a: &'a Primitive,
    b: &'a Primitive,
    /// Whether both slopes vanish: then every solution comes with both normals, and is kept once.
    even: bool,
    reach: f64,
    noise: f64,
    len: f64,
    list: ArrayVec<Refined, 24>,
    /// Simple solutions that need no refinement: the spheres, and the normal.
    exact: ArrayVec<([Sample; 2], V3), 24>,
}

impl<'a> Solutions<'a> {
    /// An empty set; `len` scales lengths.
    pub(super) fn new(job: &Job<'a>, len: f64) -> Self {
        let even =
            [job.a, job.b].iter().all(|p| !matches!(p, Primitive::Line { slope, .. } if *slope != 0.0));
        let (list, exact) = (ArrayVec::new(), ArrayVec::new());
        Self { a: job.a, b: job.b, even, reach: job.reach, noise: job.noise, len, list, exact }
    }

    /// Refines a start and keeps what it leads to. Starts with a residual above `gate` are not worth the
    /// iteration.
    pub(super) fn try_start(&mut self, start: Pair, gate: f64) {
        if gate == f64::INFINITY || worst(&system(self.a, self.b, &start, self.len).r) <= gate {
            // What leads to nothing is no loss.
            let _ = self.refine_simple(start);
        }
    }

    /// Refines a start that is known to be next to a solution.
    pub(super) fn refine_simple(&mut self, start: Pair) -> Result<(), Doubt> {
        let len = self.len;
        let travel = 16.0 * f64::EPSILON * (start.s.abs() + start.t.abs());
        let accept = 16.0 * f64::EPSILON + 0.5 * (self.noise + travel) / len;
        let refined = refine(self.a, self.b, start, len, accept).ok_or(Doubt)?;
        self.keep(refined);
        Ok(())
    }

    /// Keeps a simple solution that needs no refinement.
    pub(super) fn add_exact(&mut self, spheres: [Sample; 2], n: V3) {
        let _ = self.exact.try_push((spheres, n));
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.exact.clear();
    }

    fn keep(&mut self, found: Refined) {
        let (ca, cb) = (sample(self.a, found.pair.s).c, sample(self.b, found.pair.t).c);
        let known = self.list.iter().position(|f| {
            let near = (SAME * self.reach).max(self.len * f.scatter().max(found.scatter()));
            let turn = SAME.max(f.scatter()).max(found.scatter());
            let turned = self.even && (f.pair.n + found.pair.n).norm() <= turn;
            (sample(self.a, f.pair.s).c - ca).norm() <= near
                && (sample(self.b, f.pair.t).c - cb).norm() <= near
                && (turned || (f.pair.n - found.pair.n).norm() <= turn)
        });
        match known {
            None => {
                let _ = self.list.try_push(found);
            }
            // Of a solution met twice the better determined one stays.
            Some(i) if found.isolation > self.list[i].isolation => self.list[i] = found,
            Some(_) => {}
        }
    }

    /// Whether the indices of the solutions add up to zero, as those of all critical points of a function on
    /// a torus (or a cylinder, growing at both ends) must: if they do not, a solution is missing. Nearly
    /// multiple solutions have no index to rely on, and pass.
    pub(super) fn balanced(&self) -> bool {
        self.list.iter().any(|f| f.isolation < 1e-7)
            || self.list.iter().map(|f| f.sign).sum::<f64>().abs() < 0.5
    }

    /// Hands the solutions to the collection of results.
    pub(super) fn finish(&self, job: &mut Job<'a>) {
        for ([a, b], n) in &self.exact {
            job.add_between(a, b, *n);
            if self.even {
                job.add_between(a, b, -n);
            }
        }
        // Beside a family, what is not isolated from it to rounding is one of its members.
        let beside_family = job.out.family.is_some();
        for f in self.list.iter().filter(|f| !(beside_family && f.is_loose())) {
            if self.even { job.add_both(&f.pair) } else { job.add(&f.pair) }
        }
    }
}

/// Two solutions closer than this (relative to the sizes, radians) are one: a nearly double root is exact to
/// the square root of rounding only.
const SAME: f64 = 3e-8;

/// What a simple solution may move by when it is refined, relative to the sizes: many times as much as it
/// does.
const MARGIN: f64 = 1e-6;
