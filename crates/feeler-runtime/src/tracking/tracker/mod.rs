//! Contacts of a pair of bodies over the steps of a simulator.
//!
//! # Guarantees
//! [`ContactTracker::update`] computes a set of contacts that suffices for the next step. The linear gap
//! of a contact is its gap plus the first-order change by the motion. Let a motion of B relative to A be
//! within the stated bound and keep every linear gap of the set non-negative. It ends with all gaps above
//! about minus [`TrackerOptions::gap_error`], up to terms of second order: θ·d + ½·θ²·ρ with the rotation
//! θ, the displacement d and the lever arm ρ. [`ContactTracker::covers`] returns whether a motion is
//! within the bound. The program `tracking` of the benches measures the exceptions.
//!
//! The set depends on the poses and the bound alone, up to the following data of earlier updates:
//! - If corners of flush bodies are within [`TrackerOptions::gap_error`] of each other, several normals
//!   separate the bodies, and the last motion selects one of them.
//! - Samples of conformal sets continue while B has moved by at most eight times the accepted error of gaps
//!   since the set was searched. Corners at which trims of both bodies cross are off by at most that motion.
//! - Other samples are searched for a bound larger by an eighth, and continue within the difference.
//! - After a motion of at most 1e-8 of the size, 1/2000 of the accepted error and a sixteenth of the bound,
//!   contacts are *moved*: they keep their footpoints and normals, and their gaps follow the motion. Gaps,
//!   and the poses at which contacts begin and end, are then exact up to that motion.
//!
//! All gaps are those of the current pose, except for moved contacts. [`ContactTracker::clear`] discards
//! these data.
//!
//! The status follows from the signed gaps, which are continuous functions of the pose. A contact with a
//! negative gap is confirmed by a point inside both solids, or continues a contact of the last update. If
//! no gap is negative, a verdict is computed in four cases: at the first update; after a jump or a motion
//! of almost half of the minimum thickness of a body; if a contact has ended that was pressed deeper than
//! the motion; and if the previous verdict was interference without a contact with a negative gap. In
//! other cases, a solid that passes through another one within one step is not detected.
//!
//! # Source
//! BREP §1.3.1.4, §3.4 (quasi-LMDs near conformal contacts); MATH §16, §23.

mod bound;
mod check;
mod closing;
mod expected;
mod hessian;
mod redundant;
mod reuse;

pub use bound::StepBound;
pub use closing::GapPrediction;

use crate::api::contact::{Contact, ContactKind, Stats};
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::tolerance::{Tolerances, power_of_two};
use crate::api::verdict::{Status, Verdict};
use crate::body::Body;
use crate::body::coordinates::relative_pose;
use crate::body::side::Which;
#[cfg(feature = "diagnostics")]
use crate::diagnostics::PhaseTimes;
use crate::footpoint::trim::with_source;
use crate::pair::derivatives::gap_gradient;
use crate::pair::{ContactPair, curvature};
use crate::query::Accepted;
use crate::step_set::{Sample, SampleId, Widening};
use feeler_geom::Pose;
use reuse::LastSearch;
use std::sync::Arc;

/// Options of a [`ContactTracker`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrackerOptions {
    /// Gap (mm) up to which contacts are reported, in addition to those that the step can close.
    pub reach: f64,
    /// Depth (mm) down to which contacts are tracked. [`Body::min_thickness`] limits it further, because
    /// the two sides of a thin wall must be distinguished.
    pub max_depth: f64,
    /// Largest relative motion between two updates up to which contacts continue. A larger motion is a jump:
    /// after it, no contact continues one of the previous update.
    pub max_step: StepBound,
    /// Accepted error (mm) of a gap that a step predicts as a linear function of the motion. A two-hundredth
    /// of the step's displacement is used if that is larger. Of minima that only waves of splines about
    /// canonical features separate, by less than a quarter of this error, one is enough in a step that turns
    /// B by more than twice the waves do; the status and the smallest distance then have that error.
    pub gap_error: f64,
    /// Maximum number of contacts. Contacts with the largest gaps are dropped first, and contacts with
    /// negative gaps never.
    pub max_contacts: usize,
    /// Dilations (mm) of A and of B, positive outwards, which are subtracted from the distances to get
    /// the gaps.
    pub dilations: [f64; 2],
}

impl Default for TrackerOptions {
    fn default() -> Self {
        Self {
            reach: 0.05,
            max_depth: f64::INFINITY,
            max_step: StepBound { rotation: 0.1, displacement: 1.0 },
            gap_error: 1e-3,
            max_contacts: usize::MAX,
            dilations: [0.0; 2],
        }
    }
}

/// Relation of two bodies according to the signed gaps of their minima
/// ([`ContactKind::is_minimum`]), except [`TrackedStatus::Interfering`], which follows from a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrackedStatus {
    /// Every gap exceeds the tolerance of the query ([`ContactTracker::tolerances`]).
    Separated,
    /// The smallest gap is between minus and plus the tolerance of the query.
    Touching,
    /// A contact is pressed. The value is the depth (mm) of the deepest contact, which is not the
    /// penetration depth of concave solids.
    Pressed(f64),
    /// A contact is pressed deeper than [`TrackerOptions::max_depth`]; it remains in the set. The value
    /// is the depth (mm) of the deepest contact.
    Deep(f64),
    /// The verdict is interference, although no minimum within the maximum depth is pressed.
    Interfering,
}

/// Result of [`ContactTracker::update`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Whether the motion since the last update was a jump, or this is the first update. All contacts get
    /// new identities then.
    pub jumped: bool,
    /// Whether a verdict was computed.
    pub decided: bool,
    /// Number of contacts that were dropped because of [`TrackerOptions::max_contacts`].
    pub dropped: usize,
    /// Whether the set of contacts may be incomplete because of limits on the numbers of corners of a flat
    /// area (128) and of samples of curved contacts (1,024 of free-form features). A step within the bound
    /// may then end deeper than guaranteed.
    pub limited: bool,
}

/// Counters of a tracker, summed over all updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackerCounts {
    /// Number of updates.
    pub updates: u64,
    /// Number of updates after a jump, the first one included.
    pub jumps: u64,
    /// Number of computed verdicts.
    pub decisions: u64,
    /// Number of updates before which the motion exceeded the bound of the previous update.
    pub uncovered: u64,
    /// Number of contacts that were dropped because of [`TrackerOptions::max_contacts`].
    pub dropped: u64,
    /// Number of updates whose set of contacts may be incomplete ([`Update::limited`]).
    pub limited: u64,
}

impl TrackerCounts {
    /// Componentwise sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            updates: self.updates + other.updates,
            jumps: self.jumps + other.jumps,
            decisions: self.decisions + other.decisions,
            uncovered: self.uncovered + other.uncovered,
            dropped: self.dropped + other.dropped,
            limited: self.limited + other.limited,
        }
    }
}

/// Contacts of two bodies for the steps of a simulator, tracked from step to step.
///
/// Call [`ContactTracker::update`] in each step with the poses at its beginning and a bound of the
/// relative motion in it. Then solve for a motion that keeps the linear gaps of
/// [`ContactTracker::active`] contacts non-negative; no query within the step is needed.
///
/// # Guarantees
/// A motion within the bound that keeps every linear gap non-negative ends with all gaps above about
/// minus [`TrackerOptions::gap_error`], up to terms of second order in the bound. The set depends on the
/// poses and the bound, and on samples of earlier updates that continue for small motions; the documentation
/// of the module states how. [`ContactTracker::covers`] returns whether a motion is within the bound.
/// The status follows from signed gaps; [`ContactTracker::verdict`] proves it. A solid that passes through
/// another one within one step is detected only by the verdicts that [`Update::decided`] reports.
///
/// # Source
/// BREP §1.3.1.4, §3.4; MATH §16, §23.
#[derive(Debug)]
pub struct ContactTracker {
    pair: ContactPair,
    options: TrackerOptions,
    contacts: Vec<Contact>,
    /// Identities of the contacts of the previous update.
    before: Vec<Identity>,
    /// Identities of the contacts of the last update, in the order in which they were found; `contacts`
    /// has this order only until it is sorted by number.
    known: Vec<Identity>,
    /// Identity of the next new contact.
    next: u64,
    last: Option<Last>,
    status: TrackedStatus,
    counts: TrackerCounts,
    /// Scratch buffer: gaps of the contacts (mm).
    gaps: Vec<f64>,
    /// Gaps (mm) of `contacts` at the last search, in the same order.
    searched_gaps: Vec<f64>,
    redundant: redundant::Scratch,
}

/// Data of the last update.
#[derive(Clone, Copy, Debug)]
struct Last {
    /// Pose of B in A's frame at the last update.
    pose_ab: Pose,
    /// World poses of A and B at the last update.
    poses: [Pose; 2],
    search: LastSearch,
    /// Whether the contacts were moved to these poses without a search.
    is_moved: bool,
    /// Pose of B in A's frame before the last motion; `None` after a jump.
    pose_before: Option<Pose>,
    /// Bound of the step for which the contacts were computed.
    bound: StepBound,
    /// Depth (mm) of the deepest contact at the last update.
    depth: f64,
    /// Whether the verdict was interference although no contact had a negative gap.
    hidden: bool,
}

/// Identity of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Identity {
    key: Key,
    /// [`Contact::id`].
    number: u64,
    /// [`Contact::age`].
    age: u32,
    /// Signed gap (mm) of the contact when it was computed.
    gap: f64,
}

impl Identity {
    /// Identity of a contact that has no number yet.
    fn new(key: Key, gap: f64) -> Self {
        Self { key, number: 0, age: 0, gap }
    }
}

/// Key by which a contact of one update is recognised among those of the next update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// A minimum with its [`Contact::id`].
    Minimum(u64),
    /// A sample with its identity.
    Sample(SampleId),
}

/// Smallest accepted error of a predicted gap, as a fraction of the displacement of a step; it replaces
/// [`TrackerOptions::gap_error`] if that is smaller. Steps of up to 260 times the option then keep the
/// documented error (MATH §23). A larger value gives fewer samples and deeper contacts in fast impacts.
const MIN_RELATIVE_ERROR: f64 = 0.005;
/// Minimum depth of penetration (mm) down to which contacts are searched for, unless the maximum depth is
/// smaller. It is also the maximum depth for bodies without a known minimum thickness. A larger value makes
/// steps slower; a smaller one causes a second search after impacts.
const MIN_SEARCH_DEPTH: f64 = 0.05;
/// Largest depth of contacts, as a fraction of the sum of both minimum thicknesses; also the largest
/// motion without a verdict, as a fraction of the smaller minimum thickness. With a larger value, queries
/// refuse the depth and passages through walls are missed; with a smaller one, deep contacts are missing
/// and more verdicts are computed.
const MAX_WALL_PART: f64 = 0.45;

impl ContactTracker {
    /// Creates a tracker of two bodies without contacts.
    #[must_use]
    pub fn new(a: Arc<Body>, b: Arc<Body>, options: TrackerOptions) -> Self {
        Self {
            pair: ContactPair::new(a, b),
            options,
            contacts: Vec::new(),
            before: Vec::new(),
            known: Vec::new(),
            next: 0,
            last: None,
            status: TrackedStatus::Separated,
            counts: TrackerCounts::default(),
            gaps: Vec::new(),
            searched_gaps: Vec::new(),
            redundant: redundant::Scratch::default(),
        }
    }

    /// Bodies A and B.
    #[must_use]
    pub fn bodies(&self) -> [&Arc<Body>; 2] {
        [self.pair.body_a(), self.pair.body_b()]
    }

    /// Options of the tracker.
    #[must_use]
    pub fn options(&self) -> &TrackerOptions {
        &self.options
    }

    /// Sets the options. If they differ from the current ones, the tracker is cleared.
    pub fn set_options(&mut self, options: TrackerOptions) {
        if self.options != options {
            self.options = options;
            self.clear();
        }
    }

    /// Contacts of the last update, sorted by identity: all with gaps up to [`TrackerOptions::reach`] or
    /// up to the displacement of the bound, whichever is larger. A contact that is not a minimum is omitted
    /// if another contact implies it up to half of [`TrackerOptions::gap_error`], for every motion within
    /// the bound.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Contacts that the step can close: those with gaps up to the displacement of the bound. A solver
    /// must keep their linear gaps (gap plus [`Contact::gap_rate`] times the twist of B) non-negative.
    pub fn active(&self) -> impl Iterator<Item = &Contact> {
        self.contacts.iter().filter(|c| c.is_active)
    }

    /// Relation of the bodies at the last update; `Separated` before the first one.
    #[must_use]
    pub fn status(&self) -> TrackedStatus {
        self.status
    }

    /// Counters summed over all updates.
    #[must_use]
    pub fn counts(&self) -> TrackerCounts {
        self.counts
    }

    /// Checks whether the rounding of numbers as large as `coordinates` (mm) is small enough, like
    /// [`ContactPair::check_coordinates`] with default options.
    ///
    /// # Errors
    /// [`QueryError::CoordinatesTooLarge`].
    pub fn check_coordinates(&self, coordinates: f64) -> Result<(), QueryError> {
        self.pair.check_coordinates(coordinates, &QueryOptions::default())
    }

    /// Removes the contacts and the tracking data, so that the next update searches anew. Identities are
    /// not reused.
    pub fn clear(&mut self) {
        self.pair.forget();
        self.last = None;
        self.contacts.clear();
        self.known.clear();
    }

    /// Bound of the last update; `None` before the first one and after an error.
    #[must_use]
    pub fn bound(&self) -> Option<StepBound> {
        self.last.map(|last| last.bound)
    }

    /// Returns whether the contacts suffice for the motion from the poses of the last update to these,
    /// that is whether the motion is within the bound. `false` before the first update.
    ///
    /// # Errors
    /// [`QueryError`] if a pose is not finite.
    pub fn covers(&self, pose_a: &Pose, pose_b: &Pose) -> Result<bool, QueryError> {
        let pose_ab = relative_pose(pose_a, pose_b)?;
        let bodies = self.bodies().map(Arc::as_ref);
        Ok(self.last.is_some_and(|last| {
            let made = StepBound::of_motion(bodies, &last.pose_ab, &pose_ab);
            last.bound.contains(&made)
        }))
    }

    /// Bounds of the motion of B relative to A from the poses of the last update to these; `None` before
    /// the first update and after an error.
    ///
    /// # Errors
    /// [`QueryError`] if a pose is not finite.
    pub fn motion_to(&self, pose_a: &Pose, pose_b: &Pose) -> Result<Option<StepBound>, QueryError> {
        let pose_ab = relative_pose(pose_a, pose_b)?;
        let bodies = self.bodies().map(Arc::as_ref);
        Ok(self.last.map(|last| StepBound::of_motion(bodies, &last.pose_ab, &pose_ab)))
    }

    /// Computes the contacts for a step that starts at these poses and is within the bound. The poses
    /// take each solid's own coordinates to the world; `bound` limits the motion of B relative to A.
    ///
    /// Contacts are moved, not searched, if the motion since the last search is at most 1e-8 of the larger
    /// solid's size, 1/2000 of [`TrackerOptions::gap_error`] and a sixteenth of the bound: they keep their
    /// footpoints and normals, and their gaps follow the motion. With a bound of zero, contacts are searched
    /// at each new pose.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`]; [`QueryError::StepBound`] for a bound that is negative or not
    /// finite; errors of [`TrackerOptions::check`]. An error clears the tracker.
    pub fn update(&mut self, pose_a: &Pose, pose_b: &Pose, bound: StepBound) -> Result<Update, QueryError> {
        self.try_update(pose_a, pose_b, bound).inspect_err(|_| self.clear())
    }

    fn try_update(&mut self, pose_a: &Pose, pose_b: &Pose, bound: StepBound) -> Result<Update, QueryError> {
        if !bound.is_valid() {
            return Err(QueryError::StepBound { rotation: bound.rotation, displacement: bound.displacement });
        }
        self.options.check()?;
        let pose_ab = relative_pose(pose_a, pose_b)?;
        let bodies = self.bodies().map(Arc::as_ref);
        let motion = self.last.map(|last| StepBound::of_motion(bodies, &last.pose_ab, &pose_ab));
        let moved_since_search =
            self.last.map(|last| StepBound::of_motion(bodies, &last.search.pose_ab, &pose_ab));
        let jumped = !motion.is_some_and(|motion| self.options.max_step.contains(&motion));
        self.counts.updates += 1;
        self.counts.jumps += u64::from(jumped);
        if jumped {
            self.pair.forget_motion();
            self.known.clear();
        } else if let (Some(motion), Some(last)) = (&motion, &self.last) {
            self.counts.uncovered += u64::from(!last.bound.contains(motion));
        }
        let moved = motion.filter(|_| !jumped).map_or(0.0, |motion| motion.displacement);
        let has_moved = moved > Tolerances::before_rounding(self.size(), None);
        let previous = self.last.filter(|_| !jumped);
        let pose_before = previous.and_then(|l| if has_moved { Some(l.pose_ab) } else { l.pose_before });
        let poses = [*pose_a, *pose_b];
        if let Some(last) = previous
            && moved_since_search.is_some_and(|moved| self.move_contacts(&pose_ab, &bound, &moved))
        {
            self.set_last(Last { pose_ab, poses, pose_before, bound, is_moved: true, ..last });
            return Ok(Update { limited: last.search.is_limited, ..Update::default() });
        }
        std::mem::swap(&mut self.before, &mut self.known);
        let moved_since_search = moved_since_search.filter(|_| !jumped).map_or(0.0, |m| m.displacement);
        let depth_before = previous.map_or(0.0, |last| last.depth);
        let limit = self.depth_limit();
        // Culling data is kept while the depth is the same power of two.
        let wanted = 2.0 * (depth_before + moved + bound.displacement);
        let depth = (2.0 * power_of_two(wanted.max(MIN_SEARCH_DEPTH))).min(limit);
        let mut searched_depth = depth;
        let mut is_limited = self.search(pose_a, pose_b, &bound, depth, (pose_before, true))?;
        let tol = self.pair.tolerances();
        let mut update = Update { jumped, ..Update::default() };
        // The thickness of a sheet is 0, and so is an unknown one.
        let walls = self.bodies().map(|b| b.min_thickness()).into_iter().filter(|wall| *wall > 0.0);
        let is_long = moved > MAX_WALL_PART * walls.fold(f64::INFINITY, f64::min);
        let mut hidden = false;
        let was_hidden = self.last.is_some_and(|last| last.hidden);
        let is_unproven = jumped || is_long || was_hidden || self.has_lost_pressed(moved_since_search, &tol);
        if is_unproven && self.max_depth_found(&tol) <= 0.0 {
            update.decided = true;
            self.counts.decisions += 1;
            let verdict = self.pair.decide();
            if verdict.is_some_and(|verdict| verdict.status == Status::Interfering) {
                searched_depth = limit;
                is_limited = self.search(pose_a, pose_b, &bound, limit, (pose_before, false))?;
                hidden = self.max_depth_found(&tol) <= 0.0;
            }
        }
        self.before.sort_unstable_by_key(|before| before.key);
        self.drop_implied(&pose_ab, &bound, self.gap_error(&bound));
        self.identify();
        (update.dropped, update.limited) = (self.drop_farthest(), is_limited);
        self.searched_gaps.clear();
        self.searched_gaps.extend(self.contacts.iter().map(|c| c.gap));
        let dropped = update.dropped;
        let search = LastSearch { pose_ab, bound, depth: searched_depth, dropped, is_limited };
        let is_moved = false;
        self.set_last(Last { pose_ab, poses, search, is_moved, pose_before, bound, depth: 0.0, hidden });
        Ok(update)
    }

    /// Stores the data of this update, with the depth of its contacts, and computes the status and the
    /// members of the contacts that depend on the poses and the bound.
    fn set_last(&mut self, last: Last) {
        let [pose_a, pose_b] = &last.poses;
        for contact in &mut self.contacts {
            contact.point_a = pose_a * contact.local_a;
            contact.point_b = pose_b * contact.local_b;
            contact.normal = pose_a * contact.local_normal;
            contact.gap_rate = gap_gradient(&contact.local_normal, &(last.pose_ab * contact.local_b));
            contact.is_active = contact.gap <= last.bound.displacement;
        }
        let depth = self.contacts.iter().map(|c| -c.gap).fold(0.0, f64::max);
        self.status = self.status_of_gaps(last.hidden, &self.pair.tolerances());
        self.counts.dropped += last.search.dropped as u64;
        self.counts.limited += u64::from(last.search.is_limited);
        self.last = Some(Last { depth, ..last });
    }

    /// Size (mm) of the larger solid.
    fn size(&self) -> f64 {
        self.pair.body_a().size().max(self.pair.body_b().size())
    }

    /// Largest depth (mm) down to which contacts can be tracked: the option, limited by the minimum
    /// thicknesses and the size of the smaller solid.
    fn depth_limit(&self) -> f64 {
        let [a, b] = self.bodies().map(|b| b.min_thickness());
        let walls = MAX_WALL_PART * (a + b);
        // A thickness is infinite if no two walls of the solid face each other.
        let smaller = self.pair.body_a().size().min(self.pair.body_b().size());
        if walls > 0.0 {
            self.options.max_depth.min(walls).min(smaller)
        } else {
            self.options.max_depth.min(MIN_SEARCH_DEPTH)
        }
    }

    /// Accepted error (mm) of a predicted gap for a step with this bound.
    fn gap_error(&self, bound: &StepBound) -> f64 {
        self.options.gap_error.max(MIN_RELATIVE_ERROR * bound.displacement)
    }

    /// Options and widening of the query that searches for the contacts of a step down to the depth `depth`
    /// (mm). `pose_before` is the pose of B in A's frame before the last motion. `ignores_waves`:
    /// [`Widening::ignores_waves`].
    fn request(
        &self,
        bound: &StepBound,
        depth: f64,
        (pose_before, ignores_waves): (Option<Pose>, bool),
    ) -> (QueryOptions, Widening) {
        let [dilation_a, dilation_b] = self.options.dilations;
        let dilation = dilation_a + dilation_b;
        let size = self.size();
        let tolerance = Tolerances::before_rounding(size, None);
        // Culling data is kept while the reach is the same power of two.
        let beyond = (self.options.reach + bound.displacement + dilation).max(tolerance);
        let options = QueryOptions {
            penetration: depth,
            dilation_a,
            dilation_b,
            // The corners of a contact along a line or an area suffice for any load.
            conformal_spacing: Some(size),
            load_bearing: true,
            ..QueryOptions::within(2.0 * power_of_two(beyond))
        };
        let step = Widening {
            rotation: bound.rotation,
            displacement: bound.displacement,
            max_distance: bound.displacement + dilation,
            gap_error: self.gap_error(bound),
            pose_before,
            ignores_waves,
        };
        (options, step)
    }

    /// Searches for the contacts of a step down to the depth `depth` (mm) and stores them in `contacts`, with
    /// their keys in `known`. Numbers are assigned later. `pose_before` is the pose of B in A's frame before
    /// the last motion. `ignores_waves`: [`Widening::ignores_waves`]. Returns whether corners or samples may
    /// be missing because of limits on their numbers.
    fn search(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        bound: &StepBound,
        depth: f64,
        (pose_before, ignores_waves): (Option<Pose>, bool),
    ) -> Result<bool, QueryError> {
        let (options, step) = self.request(bound, depth, (pose_before, ignores_waves));
        let [dilation_a, dilation_b] = self.options.dilations;
        let dilation = dilation_a + dilation_b;
        let found = self.pair.query_step(pose_a, pose_b, &options, step)?;
        self.contacts.clear();
        self.known.clear();
        let most = self.options.reach.max(bound.displacement);
        let pose_ba = pose_a.inv_mul(pose_b).inverse();
        for (minimum, kept) in
            found.contacts.iter().zip(found.kept).filter(|(minimum, _)| minimum.gap <= most)
        {
            self.known.push(Identity::new(Key::Minimum(minimum.id), minimum.gap));
            self.contacts.push(of_minimum(minimum, kept));
        }
        for sample in found.samples {
            let contact = of_sample(found.bodies, sample, (pose_a, &pose_ba), dilation);
            if contact.gap <= most {
                self.known.push(Identity::new(Key::Sample(sample.identity()), contact.gap));
                self.contacts.push(contact);
            }
        }
        Ok(found.is_limited)
    }

    /// Depth (mm) of the deepest minimum in `contacts`; 0 without a minimum deeper than
    /// [`Tolerances::tol`].
    fn max_depth_found(&self, tol: &Tolerances) -> f64 {
        let minima = self.contacts.iter().filter(|c| c.kind.is_minimum());
        minima.map(|c| -c.gap).filter(|depth| *depth > tol.tol).fold(0.0, f64::max)
    }

    /// Whether a minimum of the last search has ended although it was pressed deeper than the motion
    /// `moved` (mm) since then.
    fn has_lost_pressed(&self, moved: f64, tol: &Tolerances) -> bool {
        let is_lost = |before: &Identity| {
            matches!(before.key, Key::Minimum(_))
                && before.gap < -(moved + 2.0 * tol.tol)
                && !self.known.iter().any(|known| known.key == before.key)
        };
        self.before.iter().any(is_lost)
    }

    /// Assigns numbers and ages to the contacts and sorts the contacts by number. `before` is sorted by key.
    fn identify(&mut self) {
        for (known, contact) in self.known.iter_mut().zip(&mut self.contacts) {
            let same = self.before.binary_search_by_key(&known.key, |before| before.key);
            let same = same.ok().map(|i| &self.before[i]);
            known.number = same.map_or(self.next, |before| before.number);
            known.age = same.map_or(0, |before| before.age.saturating_add(1));
            self.next += u64::from(same.is_none());
            (contact.id, contact.age) = (known.number, known.age);
        }
        self.contacts.sort_unstable_by_key(|c| c.id);
    }

    /// Drops contacts with the largest gaps until [`TrackerOptions::max_contacts`] remain, but none with
    /// a negative gap. Returns the number of dropped contacts.
    fn drop_farthest(&mut self) -> usize {
        let most = self.options.max_contacts;
        if self.contacts.len() <= most {
            return 0;
        }
        self.gaps.clear();
        self.gaps.extend(self.contacts.iter().map(|c| c.gap));
        self.gaps.sort_unstable_by(f64::total_cmp);
        let limit = self.gaps[most];
        let before = self.contacts.len();
        let mut at_limit = most - self.gaps.partition_point(|gap| gap.total_cmp(&limit).is_lt());
        self.contacts.retain(|c| {
            let order = c.gap.total_cmp(&limit);
            let is_first = order.is_eq() && at_limit > 0;
            at_limit -= usize::from(is_first);
            order.is_lt() || is_first || c.gap < 0.0
        });
        before - self.contacts.len()
    }

    fn status_of_gaps(&self, hidden: bool, tol: &Tolerances) -> TrackedStatus {
        let is_minimum = |c: &&Contact| c.kind.is_minimum();
        let least = self.contacts.iter().filter(is_minimum).map(|c| c.gap).fold(f64::INFINITY, f64::min);
        match -least {
            _ if hidden => TrackedStatus::Interfering,
            depth if depth > self.options.max_depth => TrackedStatus::Deep(depth),
            depth if depth > tol.tol => TrackedStatus::Pressed(depth),
            depth if depth >= -tol.tol => TrackedStatus::Touching,
            _ => TrackedStatus::Separated,
        }
    }

    /// Smallest distance (mm) of the minima, without dilations; `None` without a minimum.
    #[must_use]
    pub fn min_distance(&self) -> Option<f64> {
        let [dilation_a, dilation_b] = self.options.dilations;
        let minima = self.contacts.iter().filter(|c| c.kind.is_minimum());
        minima.map(|c| c.gap + (dilation_a + dilation_b)).reduce(f64::min)
    }

    /// Counters of the last search of the contacts.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.pair.stats()
    }

    /// Wall-clock times of the phases of the last search of the contacts.
    #[cfg(feature = "diagnostics")]
    #[must_use]
    pub fn phase_times(&self) -> PhaseTimes {
        self.pair.phase_times()
    }

    /// Tolerances that the last update used.
    #[must_use]
    pub fn tolerances(&self) -> Tolerances {
        self.pair.tolerances()
    }

    /// Returns the proven verdict at the poses of the last update, and computes it if necessary. `None`
    /// before the first update, after an error, and in a clone before its own first update.
    pub fn verdict(&mut self) -> Option<&Verdict> {
        if let Some(last) = self.last.filter(|last| last.is_moved) {
            let (options, step) = self.request(&last.bound, last.search.depth, (last.pose_before, false));
            // The result must not depend on whether a caller requests verdicts.
            let [pose_a, pose_b] = &last.poses;
            let query = |pair: &mut ContactPair| pair.query_step(pose_a, pose_b, &options, step).map(|_| ());
            self.pair.without_continuing(query).ok()?;
        }
        self.pair.decide()
    }
}

impl Clone for ContactTracker {
    /// Copies the contacts with their identities and the samples that continue, but not the culling data,
    /// which the next update computes.
    fn clone(&self) -> Self {
        Self {
            pair: self.pair.continued(),
            options: self.options,
            contacts: self.contacts.clone(),
            before: Vec::new(),
            known: self.known.clone(),
            next: self.next,
            last: self.last,
            status: self.status,
            counts: self.counts,
            gaps: Vec::new(),
            searched_gaps: self.searched_gaps.clone(),
            redundant: redundant::Scratch::default(),
        }
    }
}

/// Contact of a step for a minimum `minimum` that a query has reported, and that it has found as `kept`.
fn of_minimum(minimum: &Contact, kept: &Accepted) -> Contact {
    let kind = match minimum.kind {
        ContactKind::Quasi if kept.is_extended => ContactKind::Extended,
        kind => kind,
    };
    Contact { kind, ..*minimum }
}

/// Contact of a step for a sample. `pose_a` is the world pose of A, `pose_ba` that of A in B's frame, and
/// `dilation` the sum of both dilations (mm).
fn of_sample(
    [a, b]: [&Body; 2],
    sample: &Sample,
    (pose_a, pose_ba): (&Pose, &Pose),
    dilation: f64,
) -> Contact {
    let pair = &sample.pair;
    let gap = pair.distance - dilation;
    Contact {
        distance: pair.distance,
        gap,
        point_a: pose_a * pair.p_a,
        point_b: pose_a * pair.p_b,
        local_a: pair.p_a,
        local_b: pose_ba * pair.p_b,
        normal: pose_a * pair.n,
        local_normal: pair.n,
        gap_rate: gap_gradient(&pair.n, &pair.p_b),
        curvature_a: curvature(a, pair.feature_a, &pair.place_a, &pair.n),
        curvature_b: curvature(b, pair.feature_b, &pair.place_b, &(pose_ba * -pair.n)),
        kind: ContactKind::Sample,
        id: 0,
        age: 0,
        is_active: false,
        is_fixed: [Which::A, Which::B].map(|which| sample.key.0 == which),
        feature_a: with_source(a, &pair.place_a),
        feature_b: with_source(b, &pair.place_b),
        undecided: false,
    }
}
