//! Signed distance from a free-form patch: the objective of every pair with a free-form face.
//!
//! A point `p` has the footpoint `q` on the patch with `p = q + d n`, `n` the outward normal there. Half the
//! squared distance vanishes to second order where `d` does; `d` itself is as smooth at contact, and on both
//! sides of it, as anywhere else.
//!
//! # Source
//! MATH §8 (signed distance, regular at d = 0), with the footpoint by Newton's method instead of a closed
//! form; §2: the Hessian is the Schur complement of the four-parameter form over d.

use super::leaf::Leaf;
use super::newton::{Eval, Goal, Outcome, minimise};
use super::patch::{ACCEPT_SINE, DONE_SINE, VALUE_ROUNDING};
use crate::api::contact::Stats;
use feeler_geom::{P3, V3};
use nalgebra::{Matrix2, SMatrix, SVector, Vector2};

/// Maximum number of Newton steps to a footpoint. A smaller number misses footpoints near centres of
/// curvature.
const FOOT_STEPS: usize = 20;
/// Longest Newton step to a footpoint, in the unit box of its leaf. With a larger value, footpoints jump;
/// a smaller one takes more steps.
const MAX_FOOT_STEP: f64 = 0.5;
/// Distance outside the leaf, as a multiple of the width and height of its rectangle, up to which
/// footpoints are searched for, because the path to a minimum may leave the leaf. A larger value finds
/// footpoints of neighbouring leaves; with a smaller one, runs end at the border of the leaf.
pub(super) const MAX_OUTSIDE_LEAF: f64 = 1.0;
/// Length of a Newton step, in roundings of a footpoint, up to which a footpoint has converged if steps stop
/// shrinking. A larger value gives inexact footpoints; with a smaller one, footpoints do not converge.
const STALLED_STEP: f64 = 100.0;
/// Length of a Newton step, in roundings of a footpoint, up to which a footpoint has converged in any case.
/// A larger value gives inexact footpoints; a smaller one wastes steps.
const CONVERGED_STEP: f64 = 0.1;
/// Fraction of the path to the middle of its leaf by which a footpoint leaves a collapsed side, on which
/// the normal is undefined.
const COLLAPSED_SIDE_STEP: f64 = 1e-3;
/// Squared sine of the angle between the two tangents of a patch below which the patch has no normal at
/// the point. A larger value rejects slim patches; with a smaller one, rounding determines normals.
const MIN_TANGENT_SINE_SQ: f64 = 1e-12;

/// Footpoint of a point on a patch, with the derivatives of the signed distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foot {
    /// Unit-box parameters of the footpoint in the leaf of the patch.
    pub at: Vector2<f64>,
    /// Signed distance (mm) of the point from the patch, along the outward normal.
    pub distance: f64,
    /// Unit outward normal of the patch at the footpoint.
    pub normal: V3,
    /// Derivatives of the patch by both unit-box parameters at the footpoint.
    tangents: [V3; 2],
    /// Matrix M of the second derivative of the signed distance. For displacements v and w of the point,
    /// the derivative is a · M b, where the vectors a and b contain the scalar products of v and of w
    /// with both `tangents`.
    bending: Matrix2<f64>,
    /// Matrix M of the derivative of the footpoint's unit-box parameters. A displacement of the point
    /// changes them by M a, where the vector a contains its scalar products with both `tangents`.
    travel: Matrix2<f64>,
}

impl Foot {
    /// Computes the footpoint of `p` on the patch `onto` by Newton's method from the unit-box parameters
    /// `start`. `None` if the method leaves the neighbourhood of the leaf or does not converge, or if the
    /// distance has no minimum at the footpoint. `eps` is the rounding of a footpoint (mm).
    pub(super) fn of(onto: &Leaf<'_>, start: Vector2<f64>, p: &P3, eps: f64) -> Option<Self> {
        let mut y = start;
        let mut last = f64::INFINITY;
        for _ in 0..FOOT_STEPS {
            let jet = onto.jet(y.as_slice());
            let tangents = [jet.first[0], jet.first[1]];
            let off = p - jet.p;
            let first = Matrix2::from_fn(|i, j| tangents[i].dot(&tangents[j]));
            if first.determinant() <= MIN_TANGENT_SINE_SQ * first[(0, 0)] * first[(1, 1)] {
                // Next to a collapsed side the tangents are independent again.
                y += (Vector2::repeat(0.5) - y) * COLLAPSED_SIDE_STEP;
                continue;
            }
            let slope = Vector2::new(off.dot(&tangents[0]), off.dot(&tangents[1]));
            let full = first - Matrix2::from_fn(|i, j| off.dot(&jet.second[i + j]));
            let step = full.cholesky().or_else(|| first.cholesky())?.solve(&slope);
            let moved = (tangents[0] * step.x + tangents[1] * step.y).norm();
            if moved <= CONVERGED_STEP * eps || (moved <= STALLED_STEP * eps && moved >= 0.5 * last) {
                let normal = tangents[0].cross(&tangents[1]).normalize() * onto.outward();
                let distance = off.dot(&normal);
                let second = Matrix2::from_fn(|i, j| -normal.dot(&jet.second[i + j]));
                // Beyond a centre of curvature the footpoint is not the nearest one.
                let inverse = (first + second * distance).cholesky()?.inverse();
                let bending = inverse * second * first.try_inverse()?;
                let bending = (bending + bending.transpose()) * 0.5;
                return Some(Self { at: y, distance, normal, tangents, bending, travel: inverse });
            }
            last = moved;
            y += step * (MAX_FOOT_STEP / step.amax()).min(1.0);
            if y.iter().any(|c| !(-MAX_OUTSIDE_LEAF..=1.0 + MAX_OUTSIDE_LEAF).contains(c)) {
                return None;
            }
        }
        None
    }

    /// Scalar products of the vector `v` with both tangents of the patch at the footpoint.
    fn along(&self, v: &V3) -> Vector2<f64> {
        Vector2::new(self.tangents[0].dot(v), self.tangents[1].dot(v))
    }

    /// First derivative of the signed distance for a motion of the point with velocity `v`.
    pub(super) fn slope(&self, v: &V3) -> f64 {
        self.normal.dot(v)
    }

    /// Derivative of the footpoint's unit-box parameters for a motion of the point with velocity `v`.
    pub(super) fn travel(&self, v: &V3) -> Vector2<f64> {
        self.travel * self.along(v)
    }

    /// Second derivative of the signed distance for motions of the point in the directions `v` and `w`.
    pub(super) fn bend(&self, v: &V3, w: &V3) -> f64 {
        self.along(v).dot(&(self.bending * self.along(w)))
    }
}

/// Evaluator of the signed distance (mm) of a point of the leaf `over` from the patch `onto`, as a
/// function of the point's unit-box parameters. The distance is positive on the outward side of `onto`.
/// The footpoint may lie beyond the border of `onto`, by up to [`MAX_OUTSIDE_LEAF`].
struct Signed<'a> {
    over: &'a Leaf<'a>,
    onto: &'a Leaf<'a>,
    /// Unit-box parameters in `onto` of the previous footpoint, from which the next one is searched for.
    foot: Vector2<f64>,
    /// Rounding (mm) of a footpoint.
    eps: f64,
}

impl Signed<'_> {
    fn eval<const N: usize>(&mut self, x: &SVector<f64, N>) -> Option<Eval<N>> {
        let jet = self.over.jet(x.as_slice());
        let foot = Foot::of(self.onto, self.foot, &jet.p, self.eps)?;
        self.foot = foot.at;
        let len = SVector::<f64, N>::from_fn(|i, _| jet.first[i].norm());
        let floor = 1e-6 * len.max();
        let eval = Eval {
            f: foot.distance,
            grad: SVector::from_fn(|i, _| foot.slope(&jet.first[i])),
            hess: SMatrix::from_fn(|i, j| {
                foot.bend(&jet.first[i], &jet.first[j]) + foot.normal.dot(&jet.second[i + j])
            }),
            len: len.map(|l: f64| l.max(floor)),
            noise: VALUE_ROUNDING * self.eps,
        };
        eval.f.is_finite().then_some(eval)
    }
}

/// Location of a minimum of the signed distance.
pub(super) enum Place {
    /// Unit-box parameters of the point on the curve or patch that is searched, then those of its footpoint
    /// on the other patch.
    At([f64; 2], [f64; 2]),
    /// The minimum lies outside the leaf whose points are searched.
    Outside,
}

/// Computes the minimum of the signed distance of the points of `over` from the patch `onto`, starting at
/// unit-box parameters `of_over` and `of_onto`. `margin` is the distance outside the unit box of `over` that
/// the search may reach, `eps` (mm) the rounding of a footpoint. `None` if the search does not converge.
pub(super) fn minimum<const N: usize>(
    (over, of_over): (&Leaf<'_>, &[f64]),
    (onto, of_onto): (&Leaf<'_>, [f64; 2]),
    (margin, eps): (f64, f64),
    stats: &mut Stats,
) -> Option<Place> {
    let mut signed = Signed { over, onto, foot: Vector2::from(of_onto), eps };
    let start = SVector::<f64, N>::from_fn(|i, _| of_over[i]);
    let goal = Goal { accept: ACCEPT_SINE, done: DONE_SINE };
    match minimise(&mut |x| signed.eval(x), start, margin, goal, stats) {
        Outcome::Minimum(x) => {
            signed.eval(&x)?;
            Some(Place::At([x[0], x.get(1).copied().unwrap_or(0.0)], signed.foot.into()))
        }
        Outcome::Outside => Some(Place::Outside),
        Outcome::Stalled(_) => None,
    }
}
