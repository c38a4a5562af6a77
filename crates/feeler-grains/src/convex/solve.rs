//! The direction along which two grains are farthest apart, or least deep: Newton's method.
//!
//! For a unit normal n from A to B, `d(n) = b(−n) − a(n)` joins the support points and `g(n) = ⟨d, n⟩` is
//! how far B is beyond A along n. The part of d across n is the gradient of g on the sphere and `−(H + g I)`
//! its second derivative, with H = Hᴬ + Hᴮ the derivatives of the support points. A zero with H + g I ≻ 0
//! is a local maximum.
//!
//! # Source
//! POLY §3.5.5.3, (3.40) to (3.42).
//! # Deviations
//! POLY minimises |d| by Levenberg–Marquardt over two angles with differences. Here g is maximised, which has
//! the same contacts for solutions and d instead of its square in its second derivative: convergence is
//! quadratic however deep the grains are. Marquardt's shift is added where H + g I is not positive definite.
//! Steps are taken on the sphere, which has no poles, or in powers where grains are flat (`retract.rs`).

use super::placed::Placed;
use super::second::Second;
use feeler_geom::V3;
use feeler_geom::frame::complete_basis;

/// The search ends when a step promises less than this part of the smaller size.
const GAIN: f64 = 1e-14;
/// The same after [`PATIENCE`] evaluations, and where rounding allows no step: between flat faces the points
/// move by more than a normal's rounding tells.
const GAIN_LATE: f64 = 1e-11;
const PATIENCE: u32 = 6;
/// Largest promise of a step that is taken without being evaluated.
const GAIN_LAST: f64 = 1e-9;
/// Largest relative change of a flat coordinate in a plain step.
const BENT: f64 = 0.1;
/// Grains that are smaller beside the other one than this part of the sizes share its accuracy.
const FINEST: f64 = 0.02;
/// Most evaluations.
const STEPS: u32 = 40;
/// Longest step of a normal (rad).
const LONGEST_STEP: f64 = 0.7;
/// Rounding of g, as a part of the sizes.
const GAP_ROUNDING: f64 = 8.0 * f64::EPSILON;
/// What Marquardt's shift leaves of the smallest eigenvalue, as a part of the sizes.
const LEAST_BEND: f64 = 1e-10;

/// What is known at a normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub n: V3,
    /// Cores, without layers.
    pub gap: f64,
    /// Points about their grains' origins.
    pub points: [V3; 2],
    pub seconds: [Second; 2],
    /// The tangent basis, and the derivatives of both points and the gradient in it.
    basis: [V3; 2],
    bend: [[f64; 3]; 2],
    slope: [f64; 2],
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Converged,
    /// Proven to be farther apart than asked.
    Beyond,
    /// The steps ran out.
    Nowhere,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub at: At,
    pub evaluations: u32,
    pub end: End,
}

pub(super) struct Pair<'p> {
    pub a: &'p Placed<'p>,
    pub b: &'p Placed<'p>,
    /// From A's origin to B's.
    pub offset: V3,
    pub size: f64,
    /// What accuracies are parts of: twice the smaller size, though not less than rounding of the larger one
    /// allows.
    pub fine: f64,
}

impl<'p> Pair<'p> {
    pub(super) fn new(a: &'p Placed<'p>, b: &'p Placed<'p>) -> Self {
        let (far_a, far_b) = (a.grain.far, b.grain.far);
        let size = far_a + far_b;
        Self { a, b, offset: b.origin - a.origin, size, fine: (2.0 * far_a.min(far_b)).max(FINEST * size) }
    }

    #[inline]
    pub(super) fn at(&self, n: V3) -> At {
        let (sa, sb) = (self.a.second(&n), self.b.second(&-n));
        let points = [self.a.rotation * sa.point, self.b.rotation * sb.point];
        let d = self.offset + (points[1] - points[0]);
        let (e, f) = complete_basis(&n);
        let bend = |of: &Placed<'_>, s: &Second| {
            let (e, f) = (of.rotation.tr_mul(&e), of.rotation.tr_mul(&f));
            let (ve, vf, ke, kf) = (s.v.dot(&e), s.v.dot(&f), s.k.dot(&e), s.k.dot(&f));
            [ve * ve + ke * ke, ve * vf + ke * kf, vf * vf + kf * kf]
        };
        At {
            n,
            gap: self.offset.dot(&n) - (sa.height + sb.height),
            points,
            seconds: [sa, sb],
            basis: [e, f],
            bend: [bend(self.a, &sa), bend(self.b, &sb)],
            slope: [d.dot(&e), d.dot(&f)],
        }
    }

    /// The normal after a step, in powers where the flatter of the two grains asks for it, and how much the
    /// second derivatives change by it, relative.
    #[inline]
    fn moved(&self, at: &At, x: f64, y: f64) -> (V3, f64) {
        let step = at.basis[0] * x + at.basis[1] * y;
        let push = |m: &[f64; 3]| {
            let (u, v) = (m[0] * x + m[1] * y, m[1] * x + m[2] * y);
            u * u + v * v
        };
        let local = [self.a, self.b].map(|of| (of.rotation.tr_mul(&at.n), of.rotation.tr_mul(&step)));
        let sides = [(local[0].0, local[0].1), (-local[1].0, -local[1].1)];
        let [change_a, change_b] =
            [self.a.grain.change(&sides[0].0, &sides[0].1), self.b.grain.change(&sides[1].0, &sides[1].1)];
        let bent = [change_a.flat > BENT, change_b.flat > BENT];
        if bent[0] || bent[1] {
            // Equal pushes, as of equal grains in line: the grain whose normal points to the positive side,
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

    /// Climbs from a unit direction until a step promises nothing more and d is along the normal up to
    /// `across` (mm). Ends early where grains are proven to be farther apart than `reach`.
    pub(super) fn climb(&self, start: V3, reach: f64, across: f64) -> Found {
        let mut at = self.at(start);
        let mut evaluations = 1;
        loop {
            if at.gap > reach {
                return Found { at, evaluations, end: End::Beyond };
            }
            let (x, y, gain) = at.step(self.size);
            let (to, change) = self.moved(&at, x, y);
            // On the axes of flat grains the model promises too little: the step in powers goes farther.
            let promised = gain.abs().max(at.promise(&to)) / self.fine;
            let is_late = evaluations >= PATIENCE;
            let is_along = at.across() <= across;
            if promised <= if is_late { GAIN_LATE } else { GAIN } && (is_along || evaluations >= PATIENCE) {
                return Found { at, evaluations, end: End::Converged };
            }
            // The last step needs no evaluation where the model holds along it.
            if is_along && promised * change <= GAIN && promised <= GAIN_LAST {
                return Found { at: at.after(to, x, y, gain), evaluations, end: End::Converged };
            }
            let (mut part, mut to) = (1.0, to);
            at = loop {
                if evaluations >= STEPS {
                    return Found { at, evaluations, end: End::Nowhere };
                }
                let next = self.at(to);
                evaluations += 1;
                if next.gap >= at.gap - GAP_ROUNDING * self.size {
                    break next;
                }
                if promised <= GAIN_LATE && change.is_finite() {
                    return Found { at, evaluations, end: End::Converged };
                }
                part *= 0.25;
                to = self.moved(&at, x * part, y * part).0;
            };
        }
    }
}

impl At {
    /// Length of the part of d across the normal.
    #[inline]
    pub(super) fn across(&self) -> f64 {
        (self.slope[0] * self.slope[0] + self.slope[1] * self.slope[1]).sqrt()
    }

    /// What the model says of the next normal.
    fn after(&self, n: V3, x: f64, y: f64, gain: f64) -> Self {
        let shift =
            |m: &[f64; 3]| self.basis[0] * (m[0] * x + m[1] * y) + self.basis[1] * (m[1] * x + m[2] * y);
        let (a, b) = (shift(&self.bend[0]), shift(&self.bend[1]));
        let points = [self.points[0] + a, self.points[1] - b];
        // At the maximum of the model d is along the normal.
        Self { n, gap: self.gap + gain, points, slope: [0.0; 2], ..*self }
    }

    /// How much more the slope promises at another normal.
    #[inline]
    fn promise(&self, to: &V3) -> f64 {
        let step = to - self.n;
        0.5 * (step.dot(&self.basis[0]) * self.slope[0] + step.dot(&self.basis[1]) * self.slope[1]).abs()
    }

    /// The step to the maximum of the second-order model, at most [`LONGEST_STEP`], and how much the model
    /// promises; infinite where it has no maximum.
    #[inline]
    fn step(&self, size: f64) -> (f64, f64, f64) {
        let [a, b] = &self.bend;
        let (xx, xy, yy) = (a[0] + b[0] + self.gap, a[1] + b[1], a[2] + b[2] + self.gap);
        let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
        let radius = (half * half + xy * xy).sqrt();
        // The smaller eigenvalue without cancellation: the determinant by the larger one.
        let large = mean + radius;
        let det = xx * yy - xy * xy;
        let small = if large > 0.0 { det / large } else { mean - radius };
        let least = LEAST_BEND * size;
        let shift = if small < least { (0.5 * small.abs()).max(least) - small } else { 0.0 };
        let (xx, yy) = (xx + shift, yy + shift);
        let det = if shift > 0.0 { xx * yy - xy * xy } else { det };
        let [u, v] = self.slope;
        let (x, y) = ((yy * u - xy * v) / det, (xx * v - xy * u) / det);
        let gain = 0.5 * (x * u + y * v);
        let length = (x * x + y * y).sqrt();
        let part = if length > LONGEST_STEP { LONGEST_STEP / length } else { 1.0 };
        let slope = u.abs().max(v.abs());
        // A shifted model promises nothing, unless there is nothing to gain.
        let gain = if shift > 0.0 && slope > GAP_ROUNDING * size { f64::INFINITY } else { gain };
        (x * part, y * part, gain)
    }
}
