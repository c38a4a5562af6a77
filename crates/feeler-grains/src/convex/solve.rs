//! Direction of the largest gap between two grains, which is the smallest penetration of grains that
//! overlap, by Newton's method.
//!
//! For a unit normal n from A to B, `d(n) = b(−n) − a(n)` connects the support points, and
//! `g(n) = ⟨d, n⟩` is the gap along n. The component of d across n is the gradient of g on the sphere,
//! and `−(H + g I)` is its second derivative, with the sum H = Hᴬ + Hᴮ of the derivatives of the support
//! points. A zero of the gradient with H + g I ≻ 0 is a local maximum.
//!
//! # Source
//! POLY §3.5.5.3, (3.40) to (3.42).
//! # Deviations
//! POLY minimises |d| by Levenberg–Marquardt over two angles with finite differences. Here g is
//! maximised, which has the same contacts as solutions. Its second derivative contains d instead of the
//! square of d, so convergence is quadratic at any depth. Marquardt's shift is added if H + g I is not
//! positive definite. Steps are taken on the sphere, which has no poles, or in powers of the normal's
//! coordinates where grains are flat (`retract.rs`).

use super::placed::Placed;
use super::second::SupportDerivative;
use feeler_geom::V3;
use feeler_geom::frame::complete_basis;

/// Predicted increase of the gap by the next step (the gain), relative to [`Pair::fine`], below which a
/// search has converged. A larger value gives less exact gaps, a smaller one wastes evaluations.
const MIN_GAIN: f64 = 1e-14;
/// Predicted gain, relative to [`Pair::fine`], below which a search has converged after
/// [`EARLY_EVALUATIONS`] evaluations, or if a step decreases the gap: between flat faces, rounding of
/// the normal alone moves the points. A larger value gives less exact gaps, a smaller one causes
/// fallbacks between flat faces.
const MIN_GAIN_LATE: f64 = 1e-11;
/// Number of evaluations from which on [`MIN_GAIN_LATE`] replaces [`MIN_GAIN`], and a search may
/// converge although d, the vector between the support points, is not aligned with the normal.
const EARLY_EVALUATIONS: u32 = 6;
/// Largest predicted gain of the final step of a search, relative to [`Pair::fine`], at which the result
/// of that step is extrapolated instead of evaluated. A larger value gives less exact points, a smaller
/// one costs an evaluation more.
const MAX_UNVERIFIED_GAIN: f64 = 1e-9;
/// Largest change of a coordinate of the normal, relative to the coordinate itself, in a step on the
/// sphere, if the grain is flat in that coordinate. Larger changes are made in a power of the coordinate
/// (`retract.rs`). A larger value steps over axes, a smaller one computes powers needlessly.
const MAX_FLAT_CHANGE: f64 = 0.1;
/// Smallest ratio of [`Pair::fine`] to [`Pair::size`]: it limits the accuracy for a small grain in
/// contact with a much larger one. A larger value gives less exact gaps, with a smaller one rounding
/// decides.
const MIN_SIZE_RATIO: f64 = 0.02;
/// Maximum number of evaluations in a search. A search that needs more ends as not converged, and the
/// caller searches again or uses the fallback.
const MAX_EVALUATIONS: u32 = 40;
/// Longest step of a normal (rad). Longer steps reach other maxima, shorter ones cost more evaluations.
const MAX_STEP: f64 = 0.7;
/// Rounding of the gap g, relative to [`Pair::size`]. A larger value accepts steps that decrease the
/// gap, a smaller one rejects steps that decrease it only by rounding.
const GAP_ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Smallest eigenvalue of H + g I (see the module documentation) after Marquardt's shift, relative to
/// [`Pair::size`]. With a larger value the search takes short steps at tips; with a smaller one its steps are
/// erratic.
const MIN_EIGENVALUE: f64 = 1e-10;

/// Gap, support points and derivatives of two grains A and B at a normal `n` from A to B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evaluation {
    pub n: V3,
    /// Gap along `n` between the shapes of the grains, without their layers (mm).
    pub gap: f64,
    /// Support points of A along `n` and of B along `-n`, relative to their grains' origins, in world
    /// axes (mm).
    pub points: [V3; 2],
    pub seconds: [SupportDerivative; 2],
    /// Two unit vectors e and f perpendicular to `n`. `bend` contains the components ee, ef and ff of
    /// the derivatives of both support points. `slope` contains the components along e and f of the
    /// gradient of the gap, which is the part of d across the normal.
    basis: [V3; 2],
    bend: [[f64; 3]; 2],
    slope: [f64; 2],
}

/// Reason why a search for the direction of the largest gap has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Converged,
    /// The gap is proven to exceed the reach.
    BeyondReach,
    /// The maximum number of evaluations ([`MAX_EVALUATIONS`]) was reached.
    NotConverged,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub at: Evaluation,
    pub evaluations: u32,
    pub end: End,
}

pub(super) struct Pair<'p> {
    pub a: &'p Placed<'p>,
    pub b: &'p Placed<'p>,
    /// Vector from A's origin to B's origin (mm, world).
    pub offset: V3,
    pub size: f64,
    /// Length (mm) to which accuracies are relative: twice the radius ([`Grain::far`](super::Grain)) of
    /// the smaller grain, but at least [`MIN_SIZE_RATIO`] of `size`, because of the rounding of the
    /// larger one.
    pub fine: f64,
}

impl<'p> Pair<'p> {
    pub(super) fn new(a: &'p Placed<'p>, b: &'p Placed<'p>) -> Self {
        let (far_a, far_b) = (a.grain.far, b.grain.far);
        let size = far_a + far_b;
        Self {
            a,
            b,
            offset: b.origin - a.origin,
            size,
            fine: (2.0 * far_a.min(far_b)).max(MIN_SIZE_RATIO * size),
        }
    }

    #[inline]
    pub(super) fn evaluate(&self, n: V3) -> Evaluation {
        let (sa, sb) = (self.a.support_derivative(&n), self.b.support_derivative(&-n));
        let points = [self.a.rotation * sa.point, self.b.rotation * sb.point];
        let d = self.offset + (points[1] - points[0]);
        let (e, f) = complete_basis(&n);
        let bend = |of: &Placed<'_>, s: &SupportDerivative| {
            let (e, f) = (of.rotation.tr_mul(&e), of.rotation.tr_mul(&f));
            let (ve, vf, ke, kf) = (s.v.dot(&e), s.v.dot(&f), s.k.dot(&e), s.k.dot(&f));
            [ve * ve + ke * ke, ve * vf + ke * kf, vf * vf + kf * kf]
        };
        Evaluation {
            n,
            gap: self.offset.dot(&n) - (sa.height + sb.height),
            points,
            seconds: [sa, sb],
            basis: [e, f],
            bend: [bend(self.a, &sa), bend(self.b, &sb)],
            slope: [d.dot(&e), d.dot(&f)],
        }
    }

    /// Returns the unit normal after a step from the normal of `at` with the components `x` and `y`
    /// along `basis`, and the relative change of the second derivatives in the step. If a coordinate in
    /// which a grain is flat changes by more than [`MAX_FLAT_CHANGE`], the step is made in powers of the
    /// normal's coordinates (`retract.rs`), and the returned change is infinite.
    #[inline]
    fn apply_step(&self, at: &Evaluation, x: f64, y: f64) -> (V3, f64) {
        let step = at.basis[0] * x + at.basis[1] * y;
        let push = |m: &[f64; 3]| {
            let (u, v) = (m[0] * x + m[1] * y, m[1] * x + m[2] * y);
            u * u + v * v
        };
        let local = [self.a, self.b].map(|of| (of.rotation.tr_mul(&at.n), of.rotation.tr_mul(&step)));
        let sides = [(local[0].0, local[0].1), (-local[1].0, -local[1].1)];
        let [change_a, change_b] =
            [self.a.grain.change(&sides[0].0, &sides[0].1), self.b.grain.change(&sides[1].0, &sides[1].1)];
        let bent = [change_a.flat > MAX_FLAT_CHANGE, change_b.flat > MAX_FLAT_CHANGE];
        if bent[0] || bent[1] {
            // If both points move equally, as for equal grains in line, the sign of the normal decides,
            // so that the order of the grains does not matter.
            let order = push(&at.bend[0]).total_cmp(&push(&at.bend[1]));
            let points = at.n.iter().find(|x| x.abs() > 0.0).is_some_and(|x| *x > 0.0);
            let is_first = bent[0] && (!bent[1] || order.is_gt() || order.is_eq() && points);
            let (of, (n, local), sign) =
                if is_first { (self.a, sides[0], 1.0) } else { (self.b, sides[1], -1.0) };
            return ((of.rotation * of.grain.retract(&n, &local)) * sign, f64::INFINITY);
        }
        let length = (x * x + y * y).sqrt();
        ((at.n + step).normalize(), length.max(change_a.all).max(change_b.all))
    }

    /// Searches for the normal with the largest gap by Newton's method from the unit normal `start`. The
    /// search has converged when the predicted gain of the next step is negligible and the component of
    /// d across the normal is at most `across` (mm); the second condition is dropped after
    /// [`EARLY_EVALUATIONS`] evaluations. It ends early if a gap, without layers, exceeds `reach` (mm),
    /// and after [`MAX_EVALUATIONS`] evaluations.
    pub(super) fn climb(&self, start: V3, reach: f64, across: f64) -> Found {
        let mut at = self.evaluate(start);
        let mut evaluations = 1;
        loop {
            if at.gap > reach {
                return Found { at, evaluations, end: End::BeyondReach };
            }
            let (x, y, gain) = at.step(self.size);
            let (to, change) = self.apply_step(&at, x, y);
            // On the axes of flat grains the model underestimates the gain, because the step in powers
            // is longer.
            let promised = gain.abs().max(at.predicted_gain(&to)) / self.fine;
            let is_late = evaluations >= EARLY_EVALUATIONS;
            let is_along = at.across() <= across;
            if promised <= if is_late { MIN_GAIN_LATE } else { MIN_GAIN }
                && (is_along || evaluations >= EARLY_EVALUATIONS)
            {
                return Found { at, evaluations, end: End::Converged };
            }
            // The final step needs no evaluation if the model is valid along it.
            if is_along && promised * change <= MIN_GAIN && promised <= MAX_UNVERIFIED_GAIN {
                return Found { at: at.extrapolated(to, x, y, gain), evaluations, end: End::Converged };
            }
            let (mut part, mut to) = (1.0, to);
            at = loop {
                if evaluations >= MAX_EVALUATIONS {
                    return Found { at, evaluations, end: End::NotConverged };
                }
                let next = self.evaluate(to);
                evaluations += 1;
                if next.gap >= at.gap - GAP_ROUNDING * self.size {
                    break next;
                }
                if promised <= MIN_GAIN_LATE && change.is_finite() {
                    return Found { at, evaluations, end: End::Converged };
                }
                part *= 0.25;
                to = self.apply_step(&at, x * part, y * part).0;
            };
        }
    }
}

impl Evaluation {
    /// Length (mm) of the component of d, the vector between the support points, across the normal.
    #[inline]
    pub(super) fn across(&self) -> f64 {
        (self.slope[0] * self.slope[0] + self.slope[1] * self.slope[1]).sqrt()
    }

    /// Returns the result of the final step of a search without evaluating the support points: gap and
    /// points at the maximum of the quadratic model of the gap. `n` is the normal there, `x` and `y` are
    /// the components of the step along `basis`, and `gain` (mm) is the increase of the gap in the
    /// model.
    fn extrapolated(&self, n: V3, x: f64, y: f64, gain: f64) -> Self {
        let shift =
            |m: &[f64; 3]| self.basis[0] * (m[0] * x + m[1] * y) + self.basis[1] * (m[1] * x + m[2] * y);
        let (a, b) = (shift(&self.bend[0]), shift(&self.bend[1]));
        let points = [self.points[0] + a, self.points[1] - b];
        // At the maximum of the model, d is aligned with the normal.
        Self { n, gap: self.gap + gain, points, slope: [0.0; 2], ..*self }
    }

    /// Magnitude of half the increase of the gap (mm) that the gradient predicts for a step to the
    /// normal `to`: the gain if `to` were the maximum of the quadratic model.
    #[inline]
    fn predicted_gain(&self, to: &V3) -> f64 {
        let step = to - self.n;
        0.5 * (step.dot(&self.basis[0]) * self.slope[0] + step.dot(&self.basis[1]) * self.slope[1]).abs()
    }

    /// Computes the step to the maximum of the quadratic model of the gap, shortened to [`MAX_STEP`].
    /// Returns its components along `basis` (rad) and the predicted gain (mm), which is infinite if the
    /// model has no maximum. `size` is [`Pair::size`].
    #[inline]
    fn step(&self, size: f64) -> (f64, f64, f64) {
        let [a, b] = &self.bend;
        let (xx, xy, yy) = (a[0] + b[0] + self.gap, a[1] + b[1], a[2] + b[2] + self.gap);
        let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
        let radius = (half * half + xy * xy).sqrt();
        // The smaller eigenvalue is the quotient of the determinant and the larger one, which avoids
        // cancellation.
        let large = mean + radius;
        let det = xx * yy - xy * xy;
        let small = if large > 0.0 { det / large } else { mean - radius };
        let least = MIN_EIGENVALUE * size;
        let shift = if small < least { (0.5 * small.abs()).max(least) - small } else { 0.0 };
        let (xx, yy) = (xx + shift, yy + shift);
        let det = if shift > 0.0 { xx * yy - xy * xy } else { det };
        let [u, v] = self.slope;
        let (x, y) = ((yy * u - xy * v) / det, (xx * v - xy * u) / det);
        let gain = 0.5 * (x * u + y * v);
        let length = (x * x + y * y).sqrt();
        let part = if length > MAX_STEP { MAX_STEP / length } else { 1.0 };
        let slope = u.abs().max(v.abs());
        // A shifted model predicts no gain, unless the gradient is only rounding.
        let gain = if shift > 0.0 && slope > GAP_ROUNDING * size { f64::INFINITY } else { gain };
        (x * part, y * part, gain)
    }
}
