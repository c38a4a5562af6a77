//! Motions of a solid through, along and past a contact, and their first contact by dense samples.
//!
//! The reference samples the distance by queries with penetration, at 400 times and at the time of the
//! set contact, and bisects. It refines the intervals in which the speed allows a contact between two
//! samples.

use super::check::depth_of;
use super::contact::{RandomContact, center, random_direction, shifted, size_of};
use super::solids::{NamedSolid, feature_name};
use crate::Fallible;
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{
    ContactKind, ContactPair, Passage, PassageOptions, PassageOutcome, QueryOptions, Status, time_of_contact,
};
use feeler_tests::passages::{Joint, Motion};
use rand::Rng as _;
use rand::rngs::SmallRng;

/// Number of samples of a motion, which lasts 1 s.
const SAMPLES: u32 = 400;
/// Number of halvings of an interval between samples without a contact at its ends.
const HALVINGS: u32 = 7;
/// Resolution (s) of the bisection.
const RESOLUTION: f64 = 1e-12;
/// Maximum difference (s) of two contact times that count as equal.
const SAME_TIME: f64 = 1e-6;
/// Maximum distance at which the solids count as in contact, as a fraction of the size.
const SAME_DISTANCE_REL: f64 = 1e-9;
/// Maximum depth, in tolerances, at which a contact counts as grazing.
const MAX_GRAZING_DEPTH: f64 = 2.0;
/// Minimum component of an axis along the normal for which the shift of a screw along the axis is
/// computed. Smaller values allow shifts far larger than the solids.
const MIN_COMPONENT: f64 = 0.2;

/// Family of a motion, by its direction at the set contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// B enters A at the contact.
    Through,
    /// B moves tangentially, with a depth at the contact.
    Graze,
    /// B moves tangentially, with a gap at the contact.
    Past,
}

/// A motion of B for 1 s; A does not move.
#[derive(Clone, Debug)]
pub struct Passing {
    /// Family of the motion.
    pub family: Family,
    /// Whether the motion is a screw motion; otherwise it is a translation.
    pub is_screw: bool,
    /// Signed distance (mm) of the solids at the contact at the time `contact_time`.
    pub gap: f64,
    /// Time (s) of the pose at the set distance.
    pub contact_time: f64,
    /// Names of both features at the set contact.
    pub kinds: [String; 2],
    /// Motion of B.
    pub motion: Motion,
    /// Upper bound of the speed (mm/s) of a point of B.
    speed: f64,
    own_b: Pose,
}

/// How a motion is checked.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// Whether the queries of `time_of_contact` are certified.
    pub certified: bool,
    /// Whether the result is compared with dense samples.
    pub sampled: bool,
}

/// Result of a motion, compared with the reference.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Result of the runtime.
    pub passage: Passage,
    /// Time (s) of the first contact by samples, or of the set contact if B enters A there earlier;
    /// `None` without a contact or without samples.
    pub sampled: Option<f64>,
    /// Whether the result and the reference differ only within the tolerance of a grazing contact.
    pub is_grazing: bool,
    /// Description of the error of the result, if there is one.
    pub fault: Option<String>,
    /// Tolerance (mm) of the queries.
    pub tolerance: f64,
}

impl Passing {
    /// A random motion through, along or past a contact.
    #[must_use]
    pub fn random(a: &NamedSolid, b: &NamedSolid, contact: &RandomContact, rng: &mut SmallRng) -> Self {
        let size = size_of(a, b);
        let family = [Family::Through, Family::Graze, Family::Past][rng.random_range(0..3)];
        let is_screw = rng.random_bool(0.5);
        let offset = math::powf(10.0, rng.random_range(-6.0..-2.0)) * size;
        let gap = match family {
            Family::Through => 0.0,
            Family::Graze => -offset,
            Family::Past => offset,
        };
        let joint = random_joint(family, is_screw, contact, b, size, rng);
        let contact_time = rng.random_range(0.2..0.8);
        let middle = shifted(&contact.pose_b, contact.normal * gap) * b.own;
        let through = |start: Pose| Motion {
            start: [a.own, start],
            joints: [vec![], vec![joint]],
            limit: 0.0,
            d_max: 0.0,
        };
        let motion = through(through(middle).poses(-contact_time)[1]);
        let axis_distance = (center_at(b, &middle) - joint.point).cross(&joint.axis).norm();
        let radius = axis_distance + 0.5 * b.body.size();
        Self {
            family,
            is_screw,
            gap,
            contact_time,
            kinds: [feature_name(&a.body, &contact.feature_a), feature_name(&b.body, &contact.feature_b)],
            motion,
            speed: joint.shift.abs() + joint.turn.abs() * radius,
            own_b: b.own,
        }
    }

    /// Motion of B relative to its pose in the file, at a time (s).
    #[must_use]
    pub fn pose_b(&self, time: f64) -> Pose {
        self.motion.poses(time)[1] * self.own_b.inverse()
    }

    /// Computes the first contact by the runtime and compares it with samples, if `checks` selects them;
    /// `None` if the solids are not apart at the start.
    ///
    /// # Errors
    /// A query fails.
    pub fn check(&self, a: &NamedSolid, b: &NamedSolid, checks: Checks) -> Fallible<Option<Outcome>> {
        let mut samples = Samples::new(self, a, b);
        let start = samples.at(0.0)?;
        if start.is_hit() {
            return Ok(None);
        }
        let [path_a, path_b] = self.motion.paths()?;
        let query = QueryOptions { d_max: 0.0, certified: checks.certified, ..QueryOptions::default() };
        let options = PassageOptions { query, ..PassageOptions::default() };
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        let passage = time_of_contact(&mut pair, &path_a, &path_b, &options).map_err(|e| e.to_string())?;
        let tolerance = samples.pair.tolerances().tol;
        if !checks.sampled {
            return Ok(Some(Outcome { passage, sampled: None, is_grazing: false, fault: None, tolerance }));
        }
        let sampled = samples.first_contact(start)?;
        // The footpoints of the set contact coincide at its time, even if the queries there report no
        // contact.
        let set_contact = (self.family == Family::Through).then_some(self.contact_time);
        let sampled = sampled.into_iter().chain(set_contact).reduce(f64::min);
        let (fault, is_grazing) = samples.compare(&passage, sampled)?;
        Ok(Some(Outcome { passage, sampled, is_grazing, fault, tolerance }))
    }
}

fn center_at(solid: &NamedSolid, pose: &Pose) -> P3 {
    pose * solid.own.inverse() * P3::from(center(solid))
}

/// A random joint that moves B through or along a contact.
fn random_joint(
    family: Family,
    is_screw: bool,
    contact: &RandomContact,
    b: &NamedSolid,
    size: f64,
    rng: &mut SmallRng,
) -> Joint {
    let length = size * rng.random_range(0.3..2.0);
    let normal = contact.normal;
    loop {
        let axis = random_direction(rng);
        let along = axis.dot(&normal);
        let joint = if is_screw {
            let turn = rng.random_range(0.3..2.0) * if rng.random_bool(0.5) { 1.0 } else { -1.0 };
            let reach = 0.5 * b.body.size();
            let point = contact.point + random_direction(rng) * (reach * rng.random_range(0.1..2.0));
            let turning = (axis * turn).cross(&(contact.point - point)).dot(&normal);
            let shift = match family {
                Family::Through => length * rng.random_range(-0.5..0.5),
                _ if along.abs() < MIN_COMPONENT => continue,
                _ => -turning / along,
            };
            Joint { point, axis, turn, shift }
        } else {
            let axis = match family {
                Family::Through => axis,
                _ => match (axis - normal * along).try_normalize(MIN_COMPONENT) {
                    Some(tangent) => tangent,
                    None => continue,
                },
            };
            Joint { point: contact.point, axis, turn: 0.0, shift: length }
        };
        if family != Family::Through {
            return joint;
        }
        let closing = -velocity(&joint, &contact.point).dot(&normal);
        if closing.abs() < 0.1 * length {
            continue;
        }
        let sign = closing.signum();
        return Joint { turn: joint.turn * sign, shift: joint.shift * sign, ..joint };
    }
}

/// Velocity (mm/s) of a point that a joint moves.
fn velocity(joint: &Joint, point: &P3) -> V3 {
    joint.axis * joint.shift + (joint.axis * joint.turn).cross(&(point - joint.point))
}

/// Distance of the solids at a sampled time.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time: f64,
    /// Smallest signed distance (mm), at most the reach of the queries; −∞ if the solids interfere.
    distance: f64,
}

impl Sample {
    fn is_hit(&self) -> bool {
        self.distance <= 0.0
    }
}

/// Queries of the reference at sampled times.
struct Samples<'a> {
    passing: &'a Passing,
    pair: ContactPair,
    options: QueryOptions,
    size: f64,
}

impl<'a> Samples<'a> {
    fn new(passing: &'a Passing, a: &NamedSolid, b: &NamedSolid) -> Self {
        let reach = passing.speed / f64::from(SAMPLES);
        Self {
            passing,
            pair: ContactPair::new(a.body.clone(), b.body.clone()),
            options: QueryOptions { penetration: depth_of(a, b), ..QueryOptions::within(reach) },
            size: size_of(a, b),
        }
    }

    fn at(&mut self, time: f64) -> Fallible<Sample> {
        let [pose_a, pose_b] = self.passing.motion.poses(time);
        self.pair.query(&pose_a, &pose_b, &self.options).map_err(|e| e.to_string())?;
        let min_distance =
            self.pair.contacts().iter().find(|l| l.kind != ContactKind::Quasi).map(|l| l.distance);
        let distance = match self.pair.status() {
            Some(Status::Interfering) => f64::NEG_INFINITY,
            _ => min_distance.unwrap_or(self.options.d_max),
        };
        Ok(Sample { time, distance })
    }

    fn first_contact(&mut self, start: Sample) -> Fallible<Option<f64>> {
        let even = (1..=SAMPLES).map(|i| f64::from(i) / f64::from(SAMPLES));
        let mut times: Vec<f64> = even.chain([self.passing.contact_time]).collect();
        times.sort_by(f64::total_cmp);
        let mut before = start;
        for time in times {
            let after = self.at(time)?;
            if let Some(hit) = self.first_contact_between(before, after, HALVINGS)? {
                return Ok(Some(hit));
            }
            before = after;
        }
        Ok(None)
    }

    /// Time (s) of the first contact in an interval at whose start the solids are apart; `None` without
    /// a contact.
    fn first_contact_between(&mut self, from: Sample, to: Sample, halvings: u32) -> Fallible<Option<f64>> {
        let length = to.time - from.time;
        // A contact is impossible if the sum of the distances at both ends exceeds the path of any point
        // of B.
        if from.distance + to.distance > self.passing.speed * length {
            return Ok(None);
        }
        if halvings == 0 {
            return if to.is_hit() { self.bisect(from, to).map(Some) } else { Ok(None) };
        }
        let middle = self.at(0.5 * (from.time + to.time))?;
        if let Some(hit) = self.first_contact_between(from, middle, halvings - 1)? {
            return Ok(Some(hit));
        }
        self.first_contact_between(middle, to, halvings - 1)
    }

    fn bisect(&mut self, from: Sample, to: Sample) -> Fallible<f64> {
        let (mut before, mut hit) = (from.time, to.time);
        while hit - before > RESOLUTION {
            let middle = self.at(0.5 * (before + hit))?;
            if middle.is_hit() {
                hit = middle.time;
            } else {
                before = middle.time;
            }
        }
        Ok(hit)
    }

    /// Whether the solids penetrate deeper than in a grazing contact at some time of an interval (s). A
    /// set contact at which B enters A is not grazing.
    fn is_deep(&mut self, from: f64, to: f64) -> Fallible<bool> {
        let time = self.passing.contact_time;
        if self.passing.family == Family::Through && from <= time && time + SAME_TIME < to {
            return Ok(true);
        }
        let depth = -MAX_GRAZING_DEPTH * self.pair.tolerances().tol;
        let growing = (0..24).map(|k| from + 1e-7 * f64::from(1_u32 << k));
        let even = (1..SAMPLES).map(|i| f64::from(i) / f64::from(SAMPLES));
        for time in growing.chain(even).chain([self.passing.contact_time]) {
            if time > from && time < to && self.at(time)?.distance < depth {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Description of the error of a result, if there is one, and whether the result differs from the
    /// reference only within the tolerance of a grazing contact.
    fn compare(&mut self, passage: &Passage, sampled: Option<f64>) -> Fallible<(Option<String>, bool)> {
        let tolerance = self.pair.tolerances().tol;
        match (passage.outcome, sampled) {
            (PassageOutcome::Free, None) => Ok((None, false)),
            (PassageOutcome::Free, Some(t)) => {
                let is_deep = self.is_deep(t, f64::INFINITY)?;
                Ok((is_deep.then(|| format!("free, contact at {t}")), !is_deep))
            }
            (PassageOutcome::InContact, _) => Ok((Some("in contact at the start".to_owned()), false)),
            (PassageOutcome::Undecided(end), Some(t)) if t < end - SAME_TIME => {
                let is_deep = self.is_deep(t, end)?;
                Ok((is_deep.then(|| format!("free until {end}, contact at {t}")), !is_deep))
            }
            (PassageOutcome::Undecided(_), _) => Ok((None, false)),
            (PassageOutcome::Contact(c), Some(t)) if (c.time - t).abs() <= SAME_TIME => Ok((None, false)),
            (PassageOutcome::Contact(c), Some(t)) if c.time > t => {
                let is_deep = self.is_deep(t, c.time)?;
                Ok((is_deep.then(|| format!("late: contact at {}, not {t}", c.time)), !is_deep))
            }
            (PassageOutcome::Contact(c), _) => {
                let distance = self.at(c.time)?.distance;
                if distance <= SAME_DISTANCE_REL * self.size {
                    // The samples missed the contact that the runtime reports.
                    return Ok((None, false));
                }
                let is_grazing = c.grazing && distance <= tolerance;
                let fault = format!("early or lost: contact at {}, where a query finds {distance:e}", c.time);
                Ok(((!is_grazing).then_some(fault), is_grazing))
            }
        }
    }
}
