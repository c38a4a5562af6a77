//! Contacts of a pair of bodies over the steps of a simulator.
//!
//! # Guarantees
//! [`ContactTracker::update`] returns a set of contacts that suffices for the step to come: a motion of B
//! relative to A that keeps the stated bound and every linear gap of the set ends with no gap below about
//! minus [`TrackerOptions::gap_error`], up to terms of second order: θ·d + ½·θ²·ρ with the rotation θ, the
//! displacement d and the lever arm ρ. [`ContactTracker::covers`] tells whether a motion keeps the bound.
//!
//! The status follows from the signed gaps, which are continuous functions of the pose. It is proven at the
//! first update and after a jump; in between a verdict is computed only where continuity does not explain a
//! negative gap: where a contact begins deeper than the motion since the last update allows, and where one
//! ends that was pressed deeper than that. A solid that passes through another one within one step is noticed
//! only if the step is a jump, or larger than what the thinner wall allows.
//!
//! # Source
//! BREP §1.3.1.4, §3.4 (quasi-LMDs near conformal contacts); MATH §16, §23.

mod bound;

pub use bound::StepBound;

use crate::coordinates::relative_pose;
use crate::pair::curvature;
use crate::query::Accepted;
use crate::side::Which;
use crate::step_set::{Sample, Widening};
use crate::tolerance::power_of_two;
use crate::{
    Body, ContactPair, FeatureKind, Lmd, LmdClass, QueryError, QueryOptions, Status, Tolerances, Verdict,
};
use feeler_geom::{P3, Pose, V3};
use std::sync::Arc;

/// Options of a [`ContactTracker`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrackerOptions {
    /// Gap (mm) up to which contacts are reported, beside those that the step can close.
    pub reach: f64,
    /// Depth (mm) down to which contacts are followed, as far as the walls of the bodies separate their sides
    /// ([`Body::wall`]).
    pub max_depth: f64,
    /// Largest motion between two updates that continues a motion; a larger one is a jump.
    pub max_step: StepBound,
    /// Wanted error ε (mm) of a gap at the end of a step; at least a hundredth of the step's displacement.
    pub gap_error: f64,
    /// Whether nearly conformal pairs are sampled; without samples the guarantee holds for other pairs only.
    pub samples: bool,
    /// Largest number of contacts; those with the largest gaps are dropped, never a negative one.
    pub max_contacts: usize,
    /// Dilations (mm) of A and of B, which gaps take into account.
    pub dilations: [f64; 2],
}

impl Default for TrackerOptions {
    fn default() -> Self {
        Self {
            reach: 0.05,
            max_depth: f64::INFINITY,
            max_step: StepBound { rotation: 0.1, displacement: 1.0 },
            gap_error: 1e-3,
            samples: true,
            max_contacts: usize::MAX,
            dilations: [0.0; 2],
        }
    }
}

/// Why a contact belongs to the set of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepContactKind {
    /// A local minimum, or a corner of a conformal set.
    Strict,
    /// A minimum with polars dilated by what the step can turn them.
    Quasi,
    /// A point at fixed parameters of one of two nearly conformal features.
    Sample,
    /// A quasi-minimum beyond a concave edge of a face.
    Extended,
}

/// A contact of the set of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepContact {
    /// Identity: increases from contact to contact and is never assigned twice. A contact keeps it while it
    /// stays on its features, a sample while it is in the set.
    pub number: u64,
    /// Footpoint in A's own coordinates.
    pub local_a: P3,
    /// Footpoint in B's own coordinates.
    pub local_b: P3,
    /// A's outward direction there, unit, in A's own coordinates.
    pub normal: V3,
    /// Signed gap (mm) along the normal, less the dilations.
    pub gap: f64,
    /// Smallest and largest normal curvature (1/mm) of A at its footpoint, positive where it bulges; infinite
    /// across an edge and at a vertex.
    pub curvature_a: [f64; 2],
    /// The same of B.
    pub curvature_b: [f64; 2],
    /// Features of A and of B.
    pub features: [(FeatureKind, u32); 2],
    /// Parameters of the footpoints: `(u, v)` of a face, `(t, 0)` of an edge, zeros of a vertex.
    pub uv: [[f64; 2]; 2],
    /// Kind.
    pub kind: StepContactKind,
}

impl StepContact {
    /// First derivative of the gap by a twist of B at A's origin, in A's frame: translation (mm), then
    /// rotation (rad). `pose_ab` takes B's coordinates to A's.
    #[must_use]
    pub fn gap_rate(&self, pose_ab: &Pose) -> [f64; 6] {
        let n = self.normal;
        let moment = (pose_ab * self.local_b).coords.cross(&n);
        [n.x, n.y, n.z, moment.x, moment.y, moment.z]
    }
}

/// How the bodies stand to each other, by the signed gaps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrackedStatus {
    /// Every gap is above the tolerance.
    Separated,
    /// The smallest gap is within the tolerance.
    Touching,
    /// A contact is pressed; depth (mm) of the deepest one. Of concave solids that is not the depth of
    /// penetration.
    Pressed(f64),
    /// A contact is pressed deeper than [`TrackerOptions::max_depth`] (mm); it is kept.
    Deep(f64),
    /// The bodies interfere, and no contact within the largest depth shows it.
    Interfering,
}

/// What an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// The motion since the last update was a jump, or there was none: everything was searched anew.
    pub jumped: bool,
    /// A verdict was computed.
    pub decided: bool,
    /// Contacts that [`TrackerOptions::max_contacts`] dropped.
    pub dropped: usize,
}

/// Sums over all updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackerCounts {
    /// Updates.
    pub updates: u64,
    /// Updates after a jump, the first one included.
    pub jumps: u64,
    /// Verdicts that were computed.
    pub decisions: u64,
    /// Motions that the bound of the update before did not cover.
    pub uncovered: u64,
    /// Contacts that were dropped.
    pub dropped: u64,
}

/// The contacts of two bodies for the steps of a simulator.
#[derive(Debug)]
pub struct ContactTracker {
    pair: ContactPair,
    options: TrackerOptions,
    contacts: Vec<StepContact>,
    before: Vec<Known>,
    known: Vec<Known>,
    next: u64,
    last: Option<Last>,
    status: TrackedStatus,
    counts: TrackerCounts,
}

/// The last update.
#[derive(Clone, Copy, Debug)]
struct Last {
    pose_ab: Pose,
    bound: StepBound,
    /// Depth (mm) of the deepest contact.
    depth: f64,
}

/// A contact by what identifies it from update to update.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    key: Key,
    number: u64,
    gap: f64,
}

/// What identifies a contact from update to update.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Key {
    /// [`Lmd::id`].
    Minimum(u64),
    /// Features, the side whose point is fixed, and its parameters.
    Sample([(FeatureKind, u32); 2], bool, [u64; 2]),
}

/// Error of a gap in parts of the displacement of a step, below which samples would add contacts and no
/// accuracy: terms of second order are larger.
const FINEST: f64 = 0.01;
/// Depth (mm) down to which contacts are searched first.
const SHALLOW: f64 = 0.05;
/// Part of the sum of both walls down to which contacts are followed, and of the thinner wall that one step
/// may move.
const WALLS: f64 = 0.45;

impl ContactTracker {
    /// A tracker of two bodies.
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
        }
    }

    /// The bodies.
    #[must_use]
    pub fn bodies(&self) -> [&Arc<Body>; 2] {
        [self.pair.body_a(), self.pair.body_b()]
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &TrackerOptions {
        &self.options
    }

    /// Changes the options; the next update searches anew.
    pub fn set_options(&mut self, options: TrackerOptions) {
        if self.options != options {
            self.options = options;
            self.clear();
        }
    }

    /// Contacts of the last update, those with gaps up to the reach or up to what the step can close, in
    /// ascending order of numbers.
    #[must_use]
    pub fn contacts(&self) -> &[StepContact] {
        &self.contacts
    }

    /// Contacts that the step can close, whose linear gaps a solver keeps open: with gaps up to the
    /// displacement of its bound.
    pub fn active(&self) -> impl Iterator<Item = &StepContact> {
        let most = self.last.map_or(0.0, |last| last.bound.displacement);
        self.contacts.iter().filter(move |c| c.gap <= most)
    }

    /// Status of the last update.
    #[must_use]
    pub fn status(&self) -> TrackedStatus {
        self.status
    }

    /// Sums over all updates.
    #[must_use]
    pub fn counts(&self) -> TrackerCounts {
        self.counts
    }

    /// Checks coordinates (mm) of composed poses as [`ContactPair::check_coordinates`] does.
    ///
    /// # Errors
    /// [`QueryError::CoordinatesTooLarge`].
    pub fn check_coordinates(&self, coordinates: f64) -> Result<(), QueryError> {
        self.pair.check_coordinates(coordinates, &QueryOptions::default())
    }

    /// Forgets the motion: the next update searches anew. Numbers continue.
    pub fn clear(&mut self) {
        self.pair.forget();
        self.last = None;
        self.contacts.clear();
        self.known.clear();
    }

    /// The bound of the last update.
    #[must_use]
    pub fn bound(&self) -> Option<StepBound> {
        self.last.map(|last| last.bound)
    }

    /// Whether the contacts suffice for the motion from the poses of the last update to these.
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

    /// The motion of B relative to A since the last update; `None` before the first one.
    ///
    /// # Errors
    /// [`QueryError`] if a pose is not finite.
    pub fn motion_to(&self, pose_a: &Pose, pose_b: &Pose) -> Result<Option<StepBound>, QueryError> {
        let pose_ab = relative_pose(pose_a, pose_b)?;
        let bodies = self.bodies().map(Arc::as_ref);
        Ok(self.last.map(|last| StepBound::of_motion(bodies, &last.pose_ab, &pose_ab)))
    }

    /// The contacts for a step from these poses that keeps the bound. The poses take each solid's own
    /// coordinates to the world.
    ///
    /// # Errors
    /// As [`ContactPair::query`], and for a bound that is not finite or negative; there are no contacts then,
    /// and the next update searches anew.
    pub fn update(&mut self, pose_a: &Pose, pose_b: &Pose, bound: StepBound) -> Result<Update, QueryError> {
        self.try_update(pose_a, pose_b, bound).inspect_err(|_| self.clear())
    }

    fn try_update(&mut self, pose_a: &Pose, pose_b: &Pose, bound: StepBound) -> Result<Update, QueryError> {
        if !bound.is_valid() {
            return Err(QueryError::StepBound { rotation: bound.rotation, displacement: bound.displacement });
        }
        let pose_ab = relative_pose(pose_a, pose_b)?;
        let bodies = self.bodies().map(Arc::as_ref);
        let motion = self.last.map(|last| StepBound::of_motion(bodies, &last.pose_ab, &pose_ab));
        let jumped = !motion.is_some_and(|motion| self.options.max_step.contains(&motion));
        self.counts.updates += 1;
        self.counts.jumps += u64::from(jumped);
        if jumped {
            self.pair.forget();
            self.known.clear();
        } else if let (Some(motion), Some(last)) = (&motion, &self.last) {
            self.counts.uncovered += u64::from(!last.bound.contains(motion));
        }
        std::mem::swap(&mut self.before, &mut self.known);
        let moved = motion.filter(|_| !jumped).map_or(0.0, |motion| motion.displacement);
        let depth_before = self.last.filter(|_| !jumped).map_or(0.0, |last| last.depth);
        let limit = self.depth_limit();
        // Twice the depth to come, in powers of two: results depend on it only where contacts are deeper.
        let wanted = 2.0 * (depth_before + moved + bound.displacement);
        let depth = (2.0 * power_of_two(wanted.max(SHALLOW))).min(limit);
        self.search(pose_a, pose_b, &bound, depth)?;
        let tol = self.pair.tolerances();
        let mut update = Update { jumped, ..Update::default() };
        let thinnest = self.bodies().map(|b| b.wall()).into_iter().fold(f64::INFINITY, f64::min);
        let is_long = thinnest > 0.0 && moved > WALLS * thinnest;
        let mut hidden = false;
        if jumped || is_long || !self.is_continuous(moved, &tol) {
            update.decided = true;
            self.counts.decisions += 1;
            let is_interfering = |pair: &mut ContactPair| {
                pair.decide().is_some_and(|verdict| verdict.status == Status::Interfering)
            };
            if is_interfering(&mut self.pair) && self.deepest(&tol) <= 0.0 {
                self.search(pose_a, pose_b, &bound, limit)?;
                hidden = self.deepest(&tol) <= 0.0;
            }
        }
        self.identify();
        update.dropped = self.drop_farthest();
        self.counts.dropped += update.dropped as u64;
        self.status = self.status_of_gaps(hidden, &tol);
        let depth = self.contacts.iter().map(|c| -c.gap).fold(0.0, f64::max);
        self.last = Some(Last { pose_ab, bound, depth });
        Ok(update)
    }

    /// Depth (mm) down to which contacts can be followed.
    fn depth_limit(&self) -> f64 {
        let [a, b] = self.bodies().map(|b| b.wall());
        let walls = WALLS * (a + b);
        if walls > 0.0 { self.options.max_depth.min(walls) } else { self.options.max_depth.min(SHALLOW) }
    }

    /// Searches the set of a step, into `contacts` with keys in `known`, without numbers.
    fn search(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        bound: &StepBound,
        depth: f64,
    ) -> Result<(), QueryError> {
        let [dilation_a, dilation_b] = self.options.dilations;
        let dilation = dilation_a + dilation_b;
        let size = self.pair.body_a().size().max(self.pair.body_b().size());
        let tolerance = Tolerances::before_rounding(size, None);
        // In powers of two: what is known of pairs of areas depends on the distance that is searched.
        let beyond = (self.options.reach + bound.displacement + dilation).max(tolerance);
        let options = QueryOptions {
            penetration: depth,
            dilation_a,
            dilation_b,
            // Of a contact along a line or an area the corners carry all loads.
            conformal_spacing: Some(size),
            load_bearing: true,
            ..QueryOptions::within(2.0 * power_of_two(beyond))
        };
        let step = Widening {
            rotation: bound.rotation,
            displacement: bound.displacement,
            closed: if self.options.samples { bound.displacement + dilation } else { f64::NEG_INFINITY },
            gap_error: self.options.gap_error.max(FINEST * bound.displacement),
        };
        let found = self.pair.query_step(pose_a, pose_b, &options, step)?;
        self.contacts.clear();
        self.known.clear();
        let most = self.options.reach.max(bound.displacement);
        let turn = pose_a.rotation.inverse();
        for (lmd, kept) in found.lmds.iter().zip(found.kept).filter(|(lmd, _)| lmd.gap <= most) {
            self.known.push(Known { key: Key::Minimum(lmd.id), number: 0, gap: lmd.gap });
            self.contacts.push(of_minimum(lmd, kept, turn * lmd.normal));
        }
        let pose_ba = pose_a.inv_mul(pose_b).inverse();
        for sample in found.samples {
            let contact = of_sample(found.bodies, sample, &pose_ba, dilation);
            if contact.gap <= most {
                let at = [0, 1].map(|i| {
                    #[expect(clippy::cast_precision_loss, reason = "few steps")]
                    let parameter = sample.key.1[i] as f64 * sample.step[i];
                    parameter.to_bits()
                });
                let key = Key::Sample(contact.features, sample.key.0 == Which::A, at);
                self.known.push(Known { key, number: 0, gap: contact.gap });
                self.contacts.push(contact);
            }
        }
        Ok(())
    }

    /// Depth (mm) of the deepest contact below the tolerance, 0 where none is pressed.
    fn deepest(&self, tol: &Tolerances) -> f64 {
        let depths = self.contacts.iter().filter(|c| c.kind != StepContactKind::Sample).map(|c| -c.gap);
        depths.filter(|d| *d > tol.tol).fold(0.0, f64::max)
    }

    /// Whether every negative gap is one that the motion (mm) explains, and every one that ended, too.
    fn is_continuous(&self, moved: f64, tol: &Tolerances) -> bool {
        let allowed = moved + 2.0 * tol.tol;
        let is_known = |known: &Known| self.before.iter().any(|b| b.key == known.key);
        let begins_deep = |known: &Known| known.gap < -allowed && !is_known(known);
        let is_gone = |known: &Known| !self.known.iter().any(|k| k.key == known.key);
        let ends_deep =
            |known: &Known| matches!(known.key, Key::Minimum(_)) && known.gap < -allowed && is_gone(known);
        // What is as deep explains how the solids stand.
        let deepest = self.known.iter().map(|k| k.gap).fold(f64::INFINITY, f64::min);
        let deepest_before = self.before.iter().map(|k| k.gap).fold(f64::INFINITY, f64::min);
        let begins = deepest_before >= -allowed && self.known.iter().any(begins_deep);
        let ends = deepest > -tol.tol && self.before.iter().any(ends_deep);
        !begins && !ends
    }

    /// Gives the contacts their numbers, and sorts them by these.
    fn identify(&mut self) {
        for (known, contact) in self.known.iter_mut().zip(&mut self.contacts) {
            let same = self.before.iter().find(|before| before.key == known.key);
            known.number = same.map_or_else(
                || {
                    self.next += 1;
                    self.next - 1
                },
                |before| before.number,
            );
            contact.number = known.number;
        }
        self.known.sort_unstable_by_key(|k| k.number);
        self.contacts.sort_unstable_by_key(|c| c.number);
    }

    /// Drops the contacts with the largest gaps beyond the largest number; returns how many.
    fn drop_farthest(&mut self) -> usize {
        let most = self.options.max_contacts;
        if self.contacts.len() <= most {
            return 0;
        }
        let mut gaps: Vec<f64> = self.contacts.iter().map(|c| c.gap).collect();
        gaps.sort_unstable_by(f64::total_cmp);
        let limit = gaps[most.saturating_sub(1)].max(0.0);
        let before = self.contacts.len();
        let mut room = most.saturating_sub(gaps.iter().filter(|g| **g < limit).count());
        self.contacts.retain(|c| {
            let stays = c.gap < limit || (c.gap <= limit && room > 0);
            if c.gap >= limit && stays {
                room -= 1;
            }
            stays || c.gap < 0.0
        });
        before - self.contacts.len()
    }

    fn status_of_gaps(&self, hidden: bool, tol: &Tolerances) -> TrackedStatus {
        let is_minimum = |c: &&StepContact| c.kind == StepContactKind::Strict;
        let least = self.contacts.iter().filter(is_minimum).map(|c| c.gap).fold(f64::INFINITY, f64::min);
        match -least {
            _ if hidden => TrackedStatus::Interfering,
            depth if depth > self.options.max_depth => TrackedStatus::Deep(depth),
            depth if depth > tol.tol => TrackedStatus::Pressed(depth),
            depth if depth >= -tol.tol => TrackedStatus::Touching,
            _ => TrackedStatus::Separated,
        }
    }

    /// The proven verdict at the poses of the last update, computed on demand; `None` before the first one.
    ///
    /// # Errors
    /// As [`ContactPair::query`].
    pub fn verdict(&mut self) -> Result<Option<&Verdict>, QueryError> {
        if self.last.is_none() {
            return Ok(None);
        }
        self.counts.decisions += 1;
        Ok(self.pair.decide())
    }
}

impl Clone for ContactTracker {
    /// What searches remember is not copied: it is found again. Contacts keep their numbers.
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
        }
    }
}

fn of_minimum(lmd: &Lmd, kept: &Accepted, normal: V3) -> StepContact {
    let kind = match lmd.class {
        LmdClass::Strict | LmdClass::Conformal => StepContactKind::Strict,
        LmdClass::Quasi if kept.is_extended => StepContactKind::Extended,
        LmdClass::Quasi => StepContactKind::Quasi,
    };
    StepContact {
        number: 0,
        local_a: lmd.local_a,
        local_b: lmd.local_b,
        normal,
        gap: lmd.gap,
        curvature_a: lmd.curvature_a,
        curvature_b: lmd.curvature_b,
        features: [lmd.feature_a, lmd.feature_b].map(|f| (f.kind, f.index)),
        uv: [lmd.feature_a.uv, lmd.feature_b.uv],
        kind,
    }
}

fn of_sample([a, b]: [&Body; 2], sample: &Sample, pose_ba: &Pose, dilation: f64) -> StepContact {
    let pair = &sample.pair;
    StepContact {
        number: 0,
        local_a: pair.p_a,
        local_b: pose_ba * pair.p_b,
        normal: pair.n,
        gap: pair.distance - dilation,
        curvature_a: curvature(a, pair.feature_a, &pair.place_a, &pair.n),
        curvature_b: curvature(b, pair.feature_b, &pair.place_b, &(pose_ba * -pair.n)),
        features: [pair.place_a, pair.place_b].map(|f| (f.kind, f.index)),
        uv: [pair.place_a.uv, pair.place_b.uv],
        kind: StepContactKind::Sample,
    }
}
