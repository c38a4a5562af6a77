//! Which of many moving convex bodies are near each other.
//!
//! # Source
//! DIST §3.3, Algorithm 6: a lower bound of every pair's distance, lowered by what the bodies have moved
//! (3.14), computed again by GJK only when it has run out.
//!
//! # Deviations
//! - (3.14) adds up the lengths of both bodies' displacements. Here a bound is lowered by how far the two
//!   centres have moved against each other since it was computed, and by the displacements of points turning
//!   about them: bodies that fall together keep their bounds.
//! - Pairs are kept only where boxes around the bodies, wide enough for some steps, overlap; all others are
//!   proven to be further apart than asked. The boxes are compared in a tree: along one axis, N bodies spread
//!   in space have about N^(5/3) overlapping intervals.
//! - A pair that is near is reported without another computation until it has moved by a margin.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

mod overlaps;

use crate::support::{Moved, Support};
use crate::{Outcome, Request, Start, distance};
use feeler_geom::{P3, Pose, V3};
use overlaps::{Bounds, overlaps};

/// What [`BroadPhase`] is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BroadPhaseRequest {
    /// Pairs up to this distance (mm) are near.
    pub d_max: f64,
    /// Near pairs may be reported up to this much further apart (mm): the larger, the fewer distances are
    /// computed. Zero computes one whenever a near pair has moved.
    pub margin: f64,
}

/// Why a step has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BroadPhaseError {
    /// More bodies than numbers for them.
    #[error("more than 2³² bodies")]
    TooManyBodies,
    /// A limit that is negative or not finite.
    #[error("d_max and margin must be finite and not negative")]
    Request,
    /// A shape with a support point that is not finite or beyond 1e150 mm, or with a radius that is negative
    /// or not finite.
    #[error("body {0} has no finite extent")]
    Shape(usize),
    /// Not one pose for each body.
    #[error("{given} poses for {bodies} bodies")]
    Count {
        /// Number of poses.
        given: usize,
        /// Number of bodies.
        bodies: usize,
    },
    /// A pose with a number that is not finite or beyond 1e150.
    #[error("the pose of body {0} is not finite")]
    Pose(usize),
}

/// What the steps have cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadPhaseCounts {
    /// Steps.
    pub steps: u64,
    /// Distances computed.
    pub distances: u64,
    /// Steps that have compared all boxes.
    pub rebuilds: u64,
    /// Pairs with overlapping boxes, now.
    pub pairs: usize,
}

/// The near pairs of bodies that move from step to step. Bodies come and go; each has a number, and that of
/// one that has gone is given to the next that comes.
#[derive(Debug)]
pub struct BroadPhase<S> {
    request: BroadPhaseRequest,
    /// By number; `None` where no body has it.
    shapes: Vec<Option<S>>,
    bodies: Vec<Body>,
    /// Numbers without a body; the last one is given first.
    free: Vec<u32>,
    /// Whether the boxes must be compared in the next step: bodies have come, or the request has changed.
    stale: bool,
    pairs: Vec<Pair>,
    near: Vec<(u32, u32)>,
    counts: BroadPhaseCounts,
}

#[derive(Clone, Debug)]
struct Body {
    /// Whether it has had a pose.
    placed: bool,
    /// Middle of the shape's box, in its own frame.
    middle: P3,
    /// No point of the shape is further from there (mm).
    reach: f64,
    pose: Pose,
    /// The middle, now.
    center: P3,
    /// Way of a point at `reach` turning about the middle, in all steps so far (mm).
    turned: f64,
    /// When boxes were last compared: `center` and `turned`, and how far any point may move until they are
    /// again.
    built: (P3, f64),
    allowed: f64,
    /// Way of the fastest point in the last step.
    displacement: f64,
}

#[derive(Clone, Copy, Debug)]
struct Pair {
    bodies: (u32, u32),
    /// Lower bound of the distance when it was computed (mm).
    bound: f64,
    near: bool,
    /// From the middle of the first to that of the second, then.
    apart: V3,
    /// Sum of both bodies' `turned`, then.
    turned: f64,
    /// From the first to the second at the closest points; zero when unknown.
    direction: V3,
}

/// Steps for which boxes are made wide enough, at the speed of the last step. With fewer, boxes are compared
/// too often; with more, too many pairs are kept (`benches/src/bin/broad_phase.rs`).
const STEPS_AHEAD: f64 = 32.0;

/// Coordinates from here on are as good as infinite (mm): their squares still are numbers.
const FAR: f64 = 1e150;

/// Rounding of centres and distances, relative to the coordinates.
const ROUNDING: f64 = 1e-13;

impl<S: Support> BroadPhase<S> {
    /// Bodies by their shapes, numbered in this order.
    ///
    /// # Errors
    /// See [`BroadPhaseError`].
    pub fn new(shapes: Vec<S>, request: BroadPhaseRequest) -> Result<Self, BroadPhaseError> {
        let mut empty = Self {
            request: checked(request)?,
            shapes: Vec::new(),
            bodies: Vec::new(),
            free: Vec::new(),
            stale: true,
            pairs: Vec::new(),
            near: Vec::new(),
            counts: BroadPhaseCounts::default(),
        };
        shapes.into_iter().try_for_each(|shape| empty.insert(shape).map(drop))?;
        Ok(empty)
    }

    /// Another body; its number. The next step compares all boxes.
    ///
    /// # Errors
    /// [`BroadPhaseError::Shape`], [`BroadPhaseError::TooManyBodies`]; nothing is added then.
    pub fn insert(&mut self, shape: S) -> Result<u32, BroadPhaseError> {
        let number = self.free.last().map_or(self.shapes.len(), |i| *i as usize);
        let numbered = u32::try_from(number).map_err(|_| BroadPhaseError::TooManyBodies)?;
        let body = Body::new(&shape).ok_or(BroadPhaseError::Shape(number))?;
        if self.free.pop().is_some() {
            self.shapes[number] = Some(shape);
            self.bodies[number] = body;
        } else {
            self.shapes.push(Some(shape));
            self.bodies.push(body);
        }
        self.stale = true;
        Ok(numbered)
    }

    /// Takes a body away, and its pairs. Nothing where no body has this number.
    pub fn remove(&mut self, number: u32) {
        if self.shapes.get_mut(number as usize).and_then(Option::take).is_some() {
            self.free.push(number);
            self.pairs.retain(|p| p.bodies.0 != number && p.bodies.1 != number);
        }
    }

    /// Asks something else from the next step on.
    ///
    /// # Errors
    /// [`BroadPhaseError::Request`]; the old request stays then.
    pub fn set_request(&mut self, request: BroadPhaseRequest) -> Result<(), BroadPhaseError> {
        self.stale |= checked(request)? != self.request;
        self.request = request;
        Ok(())
    }

    /// How many numbers there are, those without a body too: as many poses a step takes.
    #[must_use]
    pub fn numbers(&self) -> usize {
        self.shapes.len()
    }

    /// The pairs (i, j), i < j, ascending, of bodies in these poses that may be near: all pairs up to `d_max`
    /// apart, none that is further than `d_max + margin` (by more than 0.1 %). Depends on earlier steps only
    /// in which of the pairs in between it tells.
    ///
    /// Poses are those of all numbers; where no body has one, its pose is not read.
    ///
    /// # Errors
    /// Not one finite pose for each body; the step is then as if it had not been.
    pub fn step(&mut self, poses: &[Pose]) -> Result<&[(u32, u32)], BroadPhaseError> {
        if poses.len() != self.bodies.len() {
            return Err(BroadPhaseError::Count { given: poses.len(), bodies: self.bodies.len() });
        }
        let finite =
            |p: &Pose| p.translation.vector.iter().chain(p.rotation.coords.iter()).all(|c| c.is_finite());
        let there = |i: usize| self.shapes[i].is_some();
        if let Some(i) = (0..poses.len()).find(|i| there(*i) && !finite(&poses[*i])) {
            return Err(BroadPhaseError::Pose(i));
        }
        self.counts.steps += 1;
        let mut stale = std::mem::take(&mut self.stale);
        for ((body, shape), pose) in self.bodies.iter_mut().zip(&self.shapes).zip(poses) {
            if shape.is_some() {
                body.advance(pose);
                stale |= body.has_left();
            }
        }
        if stale {
            self.rebuild();
        }
        self.near.clear();
        let mut pairs = std::mem::take(&mut self.pairs);
        for pair in &mut pairs {
            self.renew(pair);
            if pair.near {
                self.near.push(pair.bodies);
            }
        }
        self.pairs = pairs;
        Ok(&self.near)
    }

    /// What the steps have cost so far.
    #[must_use]
    pub fn counts(&self) -> BroadPhaseCounts {
        BroadPhaseCounts { pairs: self.pairs.len(), ..self.counts }
    }

    /// Computes a pair's bound again if it has run out.
    fn renew(&mut self, pair: &mut Pair) {
        let (i, j) = (pair.bodies.0 as usize, pair.bodies.1 as usize);
        let (a, b) = (&self.bodies[i], &self.bodies[j]);
        let apart = b.center - a.center;
        let turned = a.turned + b.turned;
        let moved = (apart - pair.apart).norm() + (turned - pair.turned);
        // Coordinates may be large and distances small.
        let rounding = ROUNDING * (a.size() + b.size());
        let lasts = if pair.near {
            moved <= self.request.margin
        } else {
            pair.bound - moved - rounding > self.request.d_max
        };
        if lasts {
            return;
        }
        let request =
            Request { rel_tol: 1e-3, start: Start::Direction(pair.direction), ..Request::default() };
        let moved = |k: usize, body: &Body| Moved::new(self.shapes[k].as_ref()?, &body.pose).ok();
        let (bound, direction) = match (moved(i, a), moved(j, b)) {
            (Some(a), Some(b)) => {
                let answer = distance(&a, &b, &request);
                // What is not known is near.
                let known = answer.outcome != Outcome::Invalid;
                (if known { answer.lower_bound } else { 0.0 }, answer.direction)
            }
            _ => (0.0, V3::zeros()),
        };
        self.counts.distances += 1;
        let near = bound - rounding <= self.request.d_max;
        *pair = Pair { bodies: pair.bodies, bound, near, apart, turned, direction };
    }

    /// Compares boxes around all bodies, wide enough for the next steps.
    fn rebuild(&mut self) {
        self.counts.rebuilds += 1;
        let d_max = self.request.d_max;
        let mut tight = Vec::with_capacity(self.bodies.len());
        let mut wide = Vec::with_capacity(self.bodies.len());
        let mut numbers = Vec::with_capacity(self.bodies.len());
        for ((body, shape), number) in self.bodies.iter_mut().zip(&self.shapes).zip(0_u32..) {
            let Some(shape) = shape else { continue };
            let ball =
                Bounds { lo: body.center - V3::repeat(body.reach), hi: body.center + V3::repeat(body.reach) };
            let own = Moved::new(shape, &body.pose).ok().and_then(|s| bounds(&s)).unwrap_or(ball);
            body.built = (body.center, body.turned);
            // A little for bodies at rest, which may be hit.
            body.allowed = (STEPS_AHEAD * body.displacement).max(0.1 * body.reach).max(0.5 * d_max);
            let by = V3::repeat(0.5 * d_max + body.allowed + ROUNDING * body.size());
            numbers.push(number);
            tight.push(own);
            wide.push(Bounds { lo: own.lo - by, hi: own.hi + by });
        }
        let mut old = std::mem::take(&mut self.pairs).into_iter().peekable();
        for (k, l) in overlaps(&wide) {
            let (k, l) = (k as usize, l as usize);
            // Numbers ascend, and so do their pairs.
            let bodies = (numbers[k], numbers[l]);
            while old.next_if(|p| p.bodies < bodies).is_some() {}
            let pair = old.next_if(|p| p.bodies == bodies).unwrap_or_else(|| {
                let (i, j) = (bodies.0 as usize, bodies.1 as usize);
                let (a, b) = (&self.bodies[i], &self.bodies[j]);
                // The boxes' distance will do as a first bound.
                let apart = b.center - a.center;
                let turned = a.turned + b.turned;
                Pair { bodies, bound: tight[k].gap(&tight[l]), near: false, apart, turned, direction: apart }
            });
            self.pairs.push(pair);
        }
    }
}

impl Body {
    /// `None` for a shape without a finite extent.
    fn new<S: Support>(shape: &S) -> Option<Self> {
        let bounds = bounds(shape)?;
        let half = (bounds.hi - bounds.lo) * 0.5;
        let middle = bounds.lo + half;
        let size = middle.coords.amax() + half.amax();
        Some(Self {
            placed: false,
            middle,
            reach: half.norm() + ROUNDING * size,
            pose: Pose::identity(),
            center: middle,
            turned: 0.0,
            built: (middle, 0.0),
            allowed: -1.0,
            displacement: 0.0,
        })
    }

    fn advance(&mut self, pose: &Pose) {
        let center = pose * self.middle;
        if std::mem::replace(&mut self.placed, true) {
            // Twice the sine of half the angle: the chord of a point at distance 1 from the axis.
            let chord = 2.0 * self.pose.rotation.rotation_to(&pose.rotation).imag().norm();
            let turned = chord * self.reach * (1.0 + 1e-9);
            self.turned += turned;
            self.displacement = (center - self.center).norm() + turned;
        }
        self.center = center;
        self.pose = *pose;
    }

    /// Whether a point may have left the box that was made for it.
    fn has_left(&self) -> bool {
        let (center, turned) = self.built;
        !((self.center - center).norm() + (self.turned - turned) <= self.allowed)
    }

    /// Largest coordinate of its points, about; and what has been added up.
    fn size(&self) -> f64 {
        self.center.coords.amax() + self.reach + self.turned * 1e-3
    }
}

fn checked(request: BroadPhaseRequest) -> Result<BroadPhaseRequest, BroadPhaseError> {
    let limit = |x: f64| (0.0..FAR).contains(&x);
    if limit(request.d_max) && limit(request.margin) { Ok(request) } else { Err(BroadPhaseError::Request) }
}

/// The box of a shape; `None` when it is not finite.
fn bounds<S: Support>(shape: &S) -> Option<Bounds> {
    let radius = shape.radius();
    let along = |k: usize, sign: f64| shape.support(&V3::ith(k, sign)).point[k] + sign * radius;
    let corner = |sign: f64| P3::new(along(0, sign), along(1, sign), along(2, sign));
    let out = Bounds { lo: corner(-1.0), hi: corner(1.0) };
    let finite = out.lo.iter().chain(out.hi.iter()).all(|c| c.abs() < FAR);
    (finite && radius >= 0.0).then_some(out)
}

#[cfg(test)]
mod tests;
