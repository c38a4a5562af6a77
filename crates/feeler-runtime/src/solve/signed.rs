//! The signed distance from a patch, over the parameters of a curve or another patch.
//!
//! # Source
//! MATH §8 (regular at d = 0) with the foot on the patch by Newton's steps instead of a closed form; §2: its
//! Hessian is the Schur complement of the four-parameter form over d.

use super::leaf::Leaf;
use super::newton::{Eval, Goal, Outcome, minimise};
use super::patch::{ACCEPT_SINE, DONE_SINE, NOISE};
use crate::Stats;
use crate::body::samples::MARGIN;
use feeler_geom::{P3, V3};
use nalgebra::{Matrix2, SMatrix, SVector, Vector2};

/// Newton's steps to a foot: few from the last one.
const FOOT_STEPS: usize = 20;
/// Longest step to a foot in the unit box of its leaf.
const LONGEST: f64 = 0.5;
/// Feet are looked for so far (of the leaf's rectangle) outside the leaf: the path to a minimum may lead
/// there.
const BESIDE: f64 = 1.0;
/// Steps (in roundings of a footpoint) below which a foot has been found, and is as good as it gets.
const FOUND: f64 = 100.0;
const DONE: f64 = 0.1;
/// What a foot on a collapsed side moves towards the middle of its leaf.
const ASIDE: f64 = 1e-3;
/// Square of the sine between tangents below which a patch has no normal.
const SINGULAR: f64 = 1e-12;

/// The signed distance of a leaf's points from a patch.
pub(super) struct Signed<'a> {
    over: &'a Leaf<'a>,
    onto: &'a Leaf<'a>,
    /// The last foot, in the unit box of its leaf.
    foot: Vector2<f64>,
    /// Rounding of a footpoint.
    eps: f64,
}

/// A point's signed distance with what its derivatives are made of.
struct Foot {
    at: Vector2<f64>,
    distance: f64,
    /// Outward normal.
    normal: V3,
    tangents: [V3; 2],
    /// The second derivative of the distance, in products with the tangents.
    bending: Matrix2<f64>,
}

impl<'a> Signed<'a> {
    /// Of the points of `over` from the patch `onto`, with a foot to start from.
    pub(super) fn new(over: &'a Leaf<'a>, onto: &'a Leaf<'a>, foot: [f64; 2], eps: f64) -> Self {
        Self { over, onto, foot: Vector2::from(foot), eps }
    }

    /// The foot of a point, from the last one; `None` where there is none near, or none that is the nearest
    /// near by.
    fn foot(&self, p: &P3) -> Option<Foot> {
        let mut y = self.foot;
        let mut last = f64::INFINITY;
        for _ in 0..FOOT_STEPS {
            let jet = self.onto.jet(y.as_slice());
            let tangents = [jet.first[0], jet.first[1]];
            let off = p - jet.p;
            let first = Matrix2::from_fn(|i, j| tangents[i].dot(&tangents[j]));
            if first.determinant() <= SINGULAR * first[(0, 0)] * first[(1, 1)] {
                // Beside a collapsed side there are directions again.
                y += (Vector2::repeat(0.5) - y) * ASIDE;
                continue;
            }
            let slope = Vector2::new(off.dot(&tangents[0]), off.dot(&tangents[1]));
            let full = first - Matrix2::from_fn(|i, j| off.dot(&jet.second[i + j]));
            let step = full.cholesky().or_else(|| first.cholesky())?.solve(&slope);
            let moved = (tangents[0] * step.x + tangents[1] * step.y).norm();
            if moved <= DONE * self.eps || (moved <= FOUND * self.eps && moved >= 0.5 * last) {
                let normal = tangents[0].cross(&tangents[1]).normalize() * self.onto.outward();
                let distance = off.dot(&normal);
                let second = Matrix2::from_fn(|i, j| -normal.dot(&jet.second[i + j]));
                // Beyond a centre of curvature the foot is the nearest no more.
                let inverse = (first + second * distance).cholesky()?.inverse();
                let bending = inverse * second * first.try_inverse()?;
                let bending = (bending + bending.transpose()) * 0.5;
                return Some(Foot { at: y, distance, normal, tangents, bending });
            }
            last = moved;
            y += step * (LONGEST / step.amax()).min(1.0);
            if y.iter().any(|c| !(-BESIDE..=1.0 + BESIDE).contains(c)) {
                return None;
            }
        }
        None
    }

    fn eval<const N: usize>(&mut self, x: &SVector<f64, N>) -> Option<Eval<N>> {
        let jet = self.over.jet(x.as_slice());
        let foot = self.foot(&jet.p)?;
        self.foot = foot.at;
        let along =
            |i: usize| Vector2::new(foot.tangents[0].dot(&jet.first[i]), foot.tangents[1].dot(&jet.first[i]));
        let bent = |i: usize, j: usize| along(i).dot(&(foot.bending * along(j)));
        let len = SVector::<f64, N>::from_fn(|i, _| jet.first[i].norm());
        let floor = 1e-6 * len.max();
        let eval = Eval {
            f: foot.distance,
            grad: SVector::from_fn(|i, _| foot.normal.dot(&jet.first[i])),
            hess: SMatrix::from_fn(|i, j| bent(i, j) + foot.normal.dot(&jet.second[i + j])),
            len: len.map(|l: f64| l.max(floor)),
            noise: NOISE * self.eps,
        };
        eval.f.is_finite().then_some(eval)
    }
}

/// Where a minimum of the signed distance is.
pub(super) enum Place {
    /// Unit-box parameters of the curve or patch, and of the foot.
    At([f64; 2], [f64; 2]),
    /// Outside the leaf.
    Outside,
}

/// The minimum next to a start; `None` when it is not found.
pub(super) fn minimum<const N: usize>(
    signed: &mut Signed<'_>,
    start: &[f64],
    stats: &mut Stats,
) -> Option<Place> {
    let start = SVector::<f64, N>::from_fn(|i, _| start[i]);
    let goal = Goal { accept: ACCEPT_SINE, done: DONE_SINE };
    match minimise(&mut |x| signed.eval(x), start, MARGIN, goal, stats) {
        Outcome::Minimum(x) => {
            signed.eval(&x)?;
            Some(Place::At([x[0], x.get(1).copied().unwrap_or(0.0)], signed.foot.into()))
        }
        Outcome::Outside => Some(Place::Outside),
        Outcome::Stalled(_) => None,
    }
}
