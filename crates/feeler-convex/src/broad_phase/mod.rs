//! Broad phase: detects which of many moving convex bodies are near each other.
//!
//! # Source
//! DIST §3.3, Algorithm 6: a lower bound of every pair's distance is reduced by the motion of the bodies
//! (3.14), and recomputed by GJK only when it no longer excludes the pair.
//!
//! # Deviations
//! - (3.14) adds the lengths of both bodies' displacements. Here a bound is reduced by the relative
//!   displacement of the two centres since it was computed, and by the displacements of points rotating
//!   about the centres. Bodies that fall together keep their bounds.
//! - Pairs are stored only if the bodies' boxes, enlarged by the motion expected for some steps,
//!   overlap; all other pairs are proven to be farther apart than `d_max`. The boxes are compared in a
//!   tree, because along one axis, N bodies spread in space have about N^(5/3) overlapping intervals.
//! - A near pair is reported without computing its distance again until its bodies have moved relative
//!   to each other by the margin.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN must take the conservative branch")]

mod overlaps;

use crate::support::{Moved, Support};
use crate::{DistanceOutcome, DistanceRequest, Start, distance};
use feeler_geom::{P3, Pose, V3};
use overlaps::{Bounds, overlaps};

/// Options of [`BroadPhase`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BroadPhaseRequest {
    /// Distance up to which a pair of bodies is near (mm).
    pub d_max: f64,
    /// Tolerance (mm) of the limit `d_max`: pairs between `d_max` and `d_max + margin` apart may be
    /// reported, too. With a larger margin, fewer distances are computed; with zero, one is computed
    /// whenever a near pair has moved.
    pub margin: f64,
}

/// Error of creating or updating a [`BroadPhase`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BroadPhaseError {
    /// The number of bodies exceeds that of 32-bit numbers.
    #[error("more than 2³² bodies")]
    TooManyBodies,
    /// A length of the request is negative or not finite.
    #[error("d_max and margin must be finite and not negative")]
    Request,
    /// A shape has a support point with a coordinate that is not finite or beyond 1e150 mm, or a radius
    /// that is negative or not finite. Contains the number of the body.
    #[error("body {0} has no finite extent")]
    Shape(usize),
    /// The number of poses differs from [`BroadPhase::numbers`].
    #[error("{given} poses given, but {bodies} needed: one for each body number, removed bodies included")]
    Count {
        /// Number of poses given.
        given: usize,
        /// Number of poses needed, which is the result of [`BroadPhase::numbers`].
        bodies: usize,
    },
    /// A pose is not finite. Contains the number of the body.
    #[error("the pose of body {0} is not finite")]
    Pose(usize),
}

/// Numbers of steps of a [`BroadPhase`] and of their costly operations so far, and the current number of
/// stored pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadPhaseCounts {
    /// Number of successful calls of [`BroadPhase::step`].
    pub steps: u64,
    /// Number of distances between two bodies that were computed by GJK.
    pub distances: u64,
    /// Number of steps in which the enlarged boxes of all bodies were compared.
    pub rebuilds: u64,
    /// Current number of stored pairs: those whose enlarged boxes overlapped when they were compared
    /// most recently.
    pub pairs: usize,
}

/// Near pairs of moving bodies, updated step by step. Bodies can be inserted and removed. Each body has
/// a number; the number of a removed body is reused by a later insertion.
#[derive(Debug)]
pub struct BroadPhase<S> {
    request: BroadPhaseRequest,
    /// Shapes, indexed by the number of the body; `None` if no body has the number.
    shapes: Vec<Option<S>>,
    bodies: Vec<Body>,
    /// Numbers of removed bodies, which inserted bodies get again. The last number of the list is used
    /// first.
    free: Vec<u32>,
    /// Whether the next step must compare all boxes, because bodies were inserted or the request has
    /// changed.
    stale: bool,
    pairs: Vec<Pair>,
    near: Vec<(u32, u32)>,
    counts: BroadPhaseCounts,
}

#[derive(Clone, Debug)]
struct Body {
    /// Whether a step has given the body a pose.
    placed: bool,
    /// Centre of the shape's bounding box, in the shape's frame.
    middle: P3,
    /// Maximum distance (mm) of a point of the shape from `middle`, the centre of its bounding box.
    reach: f64,
    pose: Pose,
    /// Current position in the world of the body's `middle`, the centre of its shape's bounding box.
    center: P3,
    /// Upper bound (mm) of the length of the path that any point of the body has covered by rotation
    /// about `middle`, summed over all steps.
    rotation_path: f64,
    /// `center` and `rotation_path` at the most recent comparison of boxes.
    at_rebuild: (P3, f64),
    allowed_motion: f64,
    /// Upper bound (mm) of the displacement of any point of the body in the most recent step.
    displacement: f64,
}

#[derive(Clone, Copy, Debug)]
struct Pair {
    bodies: (u32, u32),
    /// Lower bound (mm) of the distance of the two bodies at the time of its most recent computation.
    bound: f64,
    near: bool,
    /// Vector (mm, world) from the `center` of the first body to that of the second one when `bound` was
    /// computed.
    center_offset: V3,
    /// Sum (mm) of the `rotation_path` of both bodies when `bound` was computed.
    rotation_path: f64,
    /// Direction (world) from the first to the second body at their closest points when `bound` was
    /// computed; zero if unknown. The next computation starts with it.
    direction: V3,
}

/// Number of further steps during which a body should stay inside its enlarged box, at the speed of the
/// most recent step. With a smaller value, boxes are compared too often; with a larger one, too many
/// pairs are stored (`benches/src/bin/broad_phase.rs`).
const STEPS_AHEAD: f64 = 32.0;

/// Maximum coordinate (mm) of a shape; shapes with larger ones are rejected like infinite ones, because
/// squares of coordinates may overflow.
const MAX_COORDINATE: f64 = 1e150;

/// Bound of the rounding errors of centres and distances, relative to the coordinates. With a larger
/// value, more distances are computed; with a smaller one, near pairs may be missed.
const COORDINATE_ROUNDING: f64 = 1e-13;

impl<S: Support> BroadPhase<S> {
    /// Creates one body from each shape; the bodies are numbered from 0 in the order of the shapes.
    ///
    /// # Errors
    /// [`BroadPhaseError::Request`], [`BroadPhaseError::Shape`], [`BroadPhaseError::TooManyBodies`].
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

    /// Inserts a body and returns its number. The next step compares all boxes.
    ///
    /// # Errors
    /// [`BroadPhaseError::Shape`], [`BroadPhaseError::TooManyBodies`]; the body is not inserted then.
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

    /// Removes a body and its pairs. Does nothing if no body has this number.
    pub fn remove(&mut self, number: u32) {
        if self.shapes.get_mut(number as usize).and_then(Option::take).is_some() {
            self.free.push(number);
            self.pairs.retain(|p| p.bodies.0 != number && p.bodies.1 != number);
        }
    }

    /// Changes the options from the next step on.
    ///
    /// # Errors
    /// [`BroadPhaseError::Request`]; the previous options are kept then.
    pub fn set_request(&mut self, request: BroadPhaseRequest) -> Result<(), BroadPhaseError> {
        self.stale |= checked(request)? != self.request;
        self.request = request;
        Ok(())
    }

    /// Returns the number of poses that [`Self::step`] takes: one more than the largest number that a
    /// body has ever had.
    #[must_use]
    pub fn numbers(&self) -> usize {
        self.shapes.len()
    }

    /// Updates the poses and returns the near pairs (i, j), i < j, of numbers of bodies, in ascending
    /// order. The result contains all pairs up to `d_max` apart, and no pair farther apart than `d_max +
    /// margin` (by more than 0.1 %). Which pairs between these two distances are returned depends on
    /// earlier steps.
    ///
    /// `poses` has one entry for each number; entries of numbers without a body are ignored.
    ///
    /// # Errors
    /// [`BroadPhaseError::Count`], [`BroadPhaseError::Pose`]; the step then has no effect.
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
            self.update_bound(pair);
            if pair.near {
                self.near.push(pair.bodies);
            }
        }
        self.pairs = pairs;
        Ok(&self.near)
    }

    /// Returns the accumulated cost of all steps.
    #[must_use]
    pub fn counts(&self) -> BroadPhaseCounts {
        BroadPhaseCounts { pairs: self.pairs.len(), ..self.counts }
    }

    /// Updates whether a pair is near. Its bound is computed anew only if the motion of the two bodies
    /// since the last computation makes the bound inconclusive.
    fn update_bound(&mut self, pair: &mut Pair) {
        let (i, j) = (pair.bodies.0 as usize, pair.bodies.1 as usize);
        let (a, b) = (&self.bodies[i], &self.bodies[j]);
        let center_offset = b.center - a.center;
        let rotation_path = a.rotation_path + b.rotation_path;
        let moved = (center_offset - pair.center_offset).norm() + (rotation_path - pair.rotation_path);
        // Coordinates may be large relative to distances.
        let rounding = COORDINATE_ROUNDING * (a.size() + b.size());
        let is_valid = if pair.near {
            moved <= self.request.margin
        } else {
            pair.bound - moved - rounding > self.request.d_max
        };
        if is_valid {
            return;
        }
        let request = DistanceRequest {
            rel_tol: 1e-3,
            start: Start::Direction(pair.direction),
            ..DistanceRequest::default()
        };
        let moved = |k: usize, body: &Body| Moved::new(self.shapes[k].as_ref()?, &body.pose).ok();
        let (bound, direction) = match (moved(i, a), moved(j, b)) {
            (Some(a), Some(b)) => {
                let answer = distance(&a, &b, &request);
                // If the distance is unknown, the pair counts as near.
                let known = answer.outcome != DistanceOutcome::Invalid;
                (if known { answer.lower_bound } else { 0.0 }, answer.direction)
            }
            _ => (0.0, V3::zeros()),
        };
        self.counts.distances += 1;
        let near = bound - rounding <= self.request.d_max;
        *pair = Pair { bodies: pair.bodies, bound, near, center_offset, rotation_path, direction };
    }

    /// Compares the boxes of all bodies, enlarged by the motion expected for the next steps, and stores
    /// the pairs that overlap. Pairs that were stored before keep their bounds of the distance; the first
    /// bound of a new pair is the distance between its boxes before they are enlarged.
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
            body.at_rebuild = (body.center, body.rotation_path);
            // A minimum size is added for bodies at rest, which may be hit.
            body.allowed_motion = (STEPS_AHEAD * body.displacement).max(0.1 * body.reach).max(0.5 * d_max);
            let by = V3::repeat(0.5 * d_max + body.allowed_motion + COORDINATE_ROUNDING * body.size());
            numbers.push(number);
            tight.push(own);
            wide.push(Bounds { lo: own.lo - by, hi: own.hi + by });
        }
        let mut old = std::mem::take(&mut self.pairs).into_iter().peekable();
        for (k, l) in overlaps(&wide) {
            let (k, l) = (k as usize, l as usize);
            // Numbers ascend, and so do the pairs.
            let bodies = (numbers[k], numbers[l]);
            while old.next_if(|p| p.bodies < bodies).is_some() {}
            let pair = old.next_if(|p| p.bodies == bodies).unwrap_or_else(|| {
                let (i, j) = (bodies.0 as usize, bodies.1 as usize);
                let (a, b) = (&self.bodies[i], &self.bodies[j]);
                // The distance between the boxes is the first bound.
                let center_offset = b.center - a.center;
                let rotation_path = a.rotation_path + b.rotation_path;
                Pair {
                    bodies,
                    bound: tight[k].gap(&tight[l]),
                    near: false,
                    center_offset,
                    rotation_path,
                    direction: center_offset,
                }
            });
            self.pairs.push(pair);
        }
    }
}

impl Body {
    /// Creates a body without a pose. Returns `None` if the shape has no finite extent.
    fn new<S: Support>(shape: &S) -> Option<Self> {
        let bounds = bounds(shape)?;
        let half = (bounds.hi - bounds.lo) * 0.5;
        let middle = bounds.lo + half;
        let size = middle.coords.amax() + half.amax();
        Some(Self {
            placed: false,
            middle,
            reach: half.norm() + COORDINATE_ROUNDING * size,
            pose: Pose::identity(),
            center: middle,
            rotation_path: 0.0,
            at_rebuild: (middle, 0.0),
            allowed_motion: -1.0,
            displacement: 0.0,
        })
    }

    fn advance(&mut self, pose: &Pose) {
        let center = pose * self.middle;
        if std::mem::replace(&mut self.placed, true) {
            // Twice the sine of half the angle: the chord of a point at distance 1 from the axis.
            let chord = 2.0 * self.pose.rotation.rotation_to(&pose.rotation).imag().norm();
            let rotation_path = chord * self.reach * (1.0 + 1e-9);
            self.rotation_path += rotation_path;
            self.displacement = (center - self.center).norm() + rotation_path;
        }
        self.center = center;
        self.pose = *pose;
    }

    /// Returns whether a point of the body may have left the body's enlarged box since the boxes were
    /// compared.
    fn has_left(&self) -> bool {
        let (center, rotation_path) = self.at_rebuild;
        !((self.center - center).norm() + (self.rotation_path - rotation_path) <= self.allowed_motion)
    }

    /// Returns the length (mm) that is multiplied by [`COORDINATE_ROUNDING`] to bound the rounding of
    /// the body's position: approximately the largest coordinate of its points, plus a thousandth of the
    /// accumulated rotation path.
    fn size(&self) -> f64 {
        self.center.coords.amax() + self.reach + self.rotation_path * 1e-3
    }
}

fn checked(request: BroadPhaseRequest) -> Result<BroadPhaseRequest, BroadPhaseError> {
    let limit = |x: f64| (0.0..MAX_COORDINATE).contains(&x);
    if limit(request.d_max) && limit(request.margin) { Ok(request) } else { Err(BroadPhaseError::Request) }
}

/// Computes the bounding box of a shape. Returns `None` if the box is not finite, a coordinate exceeds
/// [`MAX_COORDINATE`], or the radius is negative.
fn bounds<S: Support>(shape: &S) -> Option<Bounds> {
    let radius = shape.radius();
    let along = |k: usize, sign: f64| shape.support(&V3::ith(k, sign)).point[k] + sign * radius;
    let corner = |sign: f64| P3::new(along(0, sign), along(1, sign), along(2, sign));
    let out = Bounds { lo: corner(-1.0), hi: corner(1.0) };
    let finite = out.lo.iter().chain(out.hi.iter()).all(|c| c.abs() < MAX_COORDINATE);
    (finite && radius >= 0.0).then_some(out)
}

#[cfg(test)]
mod tests;
