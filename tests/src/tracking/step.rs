//! One step: the set of contacts, the motion that obeys it, and the depth at its end.

use super::project::{LinearGap, Projection, Twist, project};
use super::start::{Start, is_free, status};
use super::{
    ROTATIONS, SMALL, STEPS_PER_START, Scene, TRANSLATIONS, direction, is_minimum, named, named_contact,
};
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{Contact, ContactKind, ContactPair, ContactTracker, QueryOptions, Status, StepBound};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::fmt::Write as _;
use std::time::Instant;

/// Maximum number of updates for one step.
const MAX_ROUNDS: usize = 5;
/// Number of poses on a straight path that are checked.
const PATH_POSES: u32 = 8;
/// Maximum difference of the gaps of equal contacts, relative to the size of the larger body.
const SAME_GAP: f64 = 1e-9;
/// Maximum violation (mm) of a linear gap for a motion to count as obeying it.
const OBEYED: f64 = 1e-7;

/// Results of one step.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether translation and rotation of the free twist are small.
    pub is_small: bool,
    /// Number of contacts, and of active contacts, of the set that the motion obeys.
    pub sizes: [usize; 2],
    /// Whether the first set did not cover the actual motion.
    pub is_updated_again: bool,
    /// Whether the last set covers the motion and its linear gaps are obeyed.
    pub is_accepted: bool,
    /// Penetration depth (mm) at the end of the step.
    pub depth: f64,
    /// Maximum depth (mm) that the guarantee allows.
    pub allowed: f64,
    /// Whether the straight path of the free twist is free of interference.
    pub is_path_free: bool,
    /// Length (mm) by which the motion is shortened although its straight path is free.
    pub shortened: f64,
    /// Whether extended contacts are the only reason why the motion is shortened.
    pub is_by_extension: bool,
}

/// Sums over the steps of a scene.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Results of all steps.
    pub outcomes: Vec<Outcome>,
    /// Number of starts that were not found.
    pub no_starts: u64,
    /// Wall times (ms) of updates, except those after a jump.
    pub times: Vec<f64>,
    /// Steps whose end is deeper than allowed, with their numbers for repetition.
    pub exceptions: Vec<String>,
    /// Motions that are shortened although their straight paths are free.
    pub shortened: Vec<String>,
    /// Number of strict contacts that fresh queries report.
    pub strict: u64,
    /// Number of strict contacts that a contact on a neighbouring feature or a sample replaces.
    pub replaced: u64,
    /// Strict contacts of a fresh query that the tracker lacks, and vice versa.
    pub disagreements: Vec<String>,
    /// Number of slow motions.
    pub motions: u64,
    /// Number of updates of slow motions.
    pub updates: u64,
    /// Faults of slow motions.
    pub discontinuities: Vec<String>,
}

/// Query pairs and tracker for the steps of one start.
struct Bench<'a> {
    scene: &'a Scene,
    start: Start,
    tracker: ContactTracker,
    verdicts: ContactPair,
    contacts: ContactPair,
}

impl Scene {
    /// Runs the steps with these numbers.
    ///
    /// # Panics
    /// If a query fails.
    pub fn run(&self, seed: u64, numbers: std::ops::Range<u64>, tally: &mut Tally) {
        let mut bench: Option<(u64, Option<Bench<'_>>)> = None;
        for number in numbers {
            let of = number / STEPS_PER_START;
            if bench.as_ref().is_none_or(|(n, _)| *n != of) {
                let found = self.start(seed, of);
                tally.no_starts += u64::from(found.is_none());
                bench = Some((of, found.map(|start| Bench::new(self, start, of, tally))));
            }
            if let Some((_, Some(bench))) = &mut bench {
                bench.step(seed, number, tally);
            }
        }
    }

    /// Linear gap of a contact as a function of twists of B about the centre of its box.
    pub(super) fn step_gap(&self, c: &Contact, pose: &Pose) -> LinearGap {
        let [x, y, z, u, v, w] = c.gap_rate;
        let n = V3::new(x, y, z);
        // Convert the derivative from a twist at A's origin to one at the centre of B's box.
        let m = (V3::new(u, v, w) - self.center(pose).coords.cross(&n)) / self.lever();
        (c.gap, Twist::new(n.x, n.y, n.z, m.x, m.y, m.z))
    }

    /// Motion nearest to the free twist that obeys the linear gaps of a set of contacts.
    pub(super) fn obeying<'a>(
        &self,
        set: impl Iterator<Item = &'a Contact>,
        pose: &Pose,
        free: &Twist,
    ) -> Projection {
        let gaps: Vec<LinearGap> = set.map(|c| self.step_gap(c, pose)).collect();
        project(&gaps, free, 0.0)
    }

    /// Free twist of a step, and its translation (mm) and rotation (rad). Nine consecutive steps cover
    /// all pairs of thirds of both ranges.
    fn free_twist(&self, seed: u64, number: u64) -> (Twist, f64, f64) {
        let mut rng = SmallRng::seed_from_u64(self.key() ^ seed.wrapping_mul(0x85eb_ca6b) ^ (number << 24));
        let mut size = |[from, to]: [f64; 2], third: u64| {
            let at = (third as f64 + rng.random_range(0.0..1.0)) / 3.0;
            from * math::exp(at * math::ln(to / from))
        };
        let t = size(TRANSLATIONS, number % 3);
        let w = size(ROTATIONS, (number % 3 + number / 3) % 3);
        let (v, r) = (direction(&mut rng) * t, direction(&mut rng) * (w * self.lever()));
        (Twist::new(v.x, v.y, v.z, r.x, r.y, r.z), t, w)
    }
}

impl<'a> Bench<'a> {
    fn new(scene: &'a Scene, start: Start, number: u64, tally: &mut Tally) -> Self {
        let new_pair = || ContactPair::new(scene.a.clone(), scene.b.clone());
        let mut bench = Self {
            scene,
            start,
            tracker: ContactTracker::new(scene.a.clone(), scene.b.clone(), scene.options()),
            verdicts: new_pair(),
            contacts: new_pair(),
        };
        let bound = StepBound { rotation: 1e-4, displacement: 0.01 };
        bench.tracker.update(&Pose::identity(), &start.pose, bound).expect("valid");
        bench.compare(number, tally);
        bench
    }

    /// Compares the strict contacts of the tracker at the start with those of a fresh query.
    fn compare(&self, number: u64, tally: &mut Tally) {
        let options = self.tracker.options();
        let size = self.scene.a.size().max(self.scene.b.size());
        let query = QueryOptions {
            conformal_spacing: Some(size),
            load_bearing: true,
            ..self.scene.contact_options(options.reach)
        };
        let mut pair = ContactPair::new(self.scene.a.clone(), self.scene.b.clone());
        let fresh = pair.query(&Pose::identity(), &self.start.pose, &query).expect("valid");
        let fresh: Vec<&Contact> = fresh.iter().filter(|l| is_minimum(l)).collect();
        let is_same = |l: &Contact, c: &Contact| {
            c.kind.is_minimum()
                && c.features() == l.features()
                && (c.gap - l.distance).abs() <= SAME_GAP * size
        };
        // Rounding decides at the limits of the range.
        let limit = options.reach - SAME_GAP * size;
        let near = self.tracker.bound().map_or(0.0, |b| b.displacement) + SAME_GAP * size;
        let replaces = |l: &Contact, c: &Contact| {
            let apart = (l.local_a - c.local_a).norm().min((l.local_b - c.local_b).norm());
            (c.gap - l.distance).abs() <= options.gap_error && apart <= near
        };
        let set = self.tracker.contacts();
        for l in fresh.iter().filter(|l| l.distance <= limit) {
            tally.strict += 1;
            if set.iter().any(|c| is_same(l, c)) {
            } else if set.iter().any(|c| replaces(l, c)) {
                tally.replaced += 1;
            } else {
                tally.disagreements.push(format!(
                    "{}, start {number}: missing {}",
                    self.scene.name,
                    named(l)
                ));
            }
        }
        for c in set.iter().filter(|c| c.kind.is_minimum() && c.gap <= limit) {
            if !fresh.iter().any(|l| is_same(l, c) || replaces(l, c)) {
                let text =
                    format!("{}, start {number}: not in a query {}", self.scene.name, named_contact(c));
                tally.disagreements.push(text);
            }
        }
    }

    fn step(&mut self, seed: u64, number: u64, tally: &mut Tally) {
        let (scene, pose) = (self.scene, self.start.pose);
        let (free, t, w) = scene.free_twist(seed, number);
        let mut bound = StepBound::of_motion([&scene.a, &scene.b], &pose, &scene.moved(&pose, &free));
        let mut rounds = 0;
        let (made, end, motion, is_covered) = loop {
            let clock = Instant::now();
            self.tracker.update(&Pose::identity(), &pose, bound).expect("valid");
            tally.times.push(1e3 * clock.elapsed().as_secs_f64());
            rounds += 1;
            let made = scene.obeying(self.tracker.active(), &pose, &free);
            let end = scene.moved(&pose, &made.twist);
            let motion = StepBound::of_motion([&scene.a, &scene.b], &pose, &end);
            let is_covered = self.tracker.covers(&Pose::identity(), &end).expect("finite");
            if is_covered || rounds == MAX_ROUNDS {
                break (made, end, motion, is_covered);
            }
            bound = bound.max(&motion);
        };
        let gap_error = self.tracker.options().gap_error;
        let arm = 0.5 * (scene.b.bounds().max - scene.b.bounds().min).norm();
        let (turn, slide) = (motion.rotation, motion.displacement);
        let (depth, deepest) = self.depth(&end);
        let mut outcome = Outcome {
            is_small: t < SMALL[0] && w < SMALL[1],
            sizes: [self.tracker.contacts().len(), self.tracker.active().count()],
            is_updated_again: rounds > 1,
            is_accepted: is_covered && made.violation <= OBEYED,
            depth,
            allowed: 2.0 * gap_error + turn * slide + 0.5 * turn * turn * arm,
            is_path_free: self.is_path_free(&free),
            shortened: 0.0,
            is_by_extension: false,
        };
        if outcome.is_accepted && depth > outcome.allowed {
            let head = format!(
                "{} --from {number}: {:?} start, deep by {:.2} um (allowed {:.2}), turn {turn:.2e}, \
                 displacement {slide:.4}, rounds {rounds}",
                scene.name,
                self.start.kind,
                1e3 * depth,
                1e3 * outcome.allowed
            );
            tally.exceptions.push(head + &self.explanation(deepest.as_ref(), &end, &made.twist));
        }
        if outcome.is_path_free {
            outcome.shortened = free.norm() - made.twist.norm();
            if outcome.shortened > gap_error {
                let is_other = |c: &&Contact| c.kind != ContactKind::Extended;
                let without = scene.obeying(self.tracker.active().filter(is_other), &pose, &free);
                outcome.is_by_extension = free.norm() - without.twist.norm() <= gap_error;
                let mut text = format!(
                    "{} --from {number}: {:?} start, shortened by {:.2} of {:.2} um, turn {turn:.2e}",
                    scene.name,
                    self.start.kind,
                    1e3 * outcome.shortened,
                    1e3 * free.norm()
                );
                let pushing = self.tracker.active().zip(&made.multipliers).filter(|(_, m)| **m > 1e-6);
                for (c, multiplier) in pushing {
                    let gap = c.gap + scene.step_gap(c, &pose).1.dot(&free);
                    let _ = write!(
                        text,
                        "\n      {} n {:.4?}, free linear gap {gap:+.6}, multiplier {multiplier:.6}",
                        named_contact(c),
                        c.normal.as_slice()
                    );
                }
                tally.shortened.push(text);
            }
        }
        tally.outcomes.push(outcome);
    }

    /// Depth (mm) at a pose of B, and the deepest contact; if no contact exists, the depth of a
    /// witness.
    fn depth(&mut self, pose: &Pose) -> (f64, Option<Contact>) {
        if matches!(status(&mut self.verdicts, pose), Status::Separated | Status::Touching) {
            return (0.0, None);
        }
        self.contacts.forget();
        let options = self.scene.contact_options(0.1);
        let all = self.contacts.query(&Pose::identity(), pose, &options).expect("valid");
        let deepest = all.iter().filter(|l| is_minimum(l)).min_by(|l, m| l.distance.total_cmp(&m.distance));
        match deepest.filter(|l| l.distance < 0.0) {
            Some(l) => (-l.distance, Some(*l)),
            None => {
                let witness = self.verdicts.verdict().and_then(|v| v.witness.as_ref());
                (witness.map_or(0.0, |w| w.inside_a + w.inside_b), None)
            }
        }
    }

    fn is_path_free(&mut self, free: &Twist) -> bool {
        (1..=PATH_POSES).rev().all(|k| {
            let part = f64::from(k) / f64::from(PATH_POSES);
            is_free(&mut self.verdicts, &self.scene.moved(&self.start.pose, &(free * part)))
        })
    }

    /// Describes the deepest contact at the end of a step, and the contacts of the set near it.
    fn explanation(&self, deepest: Option<&Contact>, end: &Pose, made: &Twist) -> String {
        let pose = &self.start.pose;
        let values = |p: &Pose| (p.translation.vector.data.0[0], p.rotation.coords.data.0[0]);
        let mut text = format!("\n      pose {:?}, twist {:?}", values(pose), made.as_slice());
        let Some(l) = deepest else { return text + "\n      no contact has this depth" };
        // Material points of the deepest contact, with B posed as at the start.
        let between = pose * l.local_b - l.local_a;
        let _ = write!(
            text,
            "\n      end: {} n {:.4?} at {:.4?}; its points at the start: {:.6} apart, {:+.6} along n",
            named(l),
            l.normal.as_slice(),
            l.local_a.coords.as_slice(),
            between.norm(),
            between.dot(&l.normal)
        );
        let apart =
            |c: &Contact| (c.local_a - l.local_a).norm().max((P3::from(c.local_b.coords) - l.local_b).norm());
        let mut set: Vec<&Contact> = self.tracker.contacts().iter().collect();
        set.sort_by(|c, d| apart(c).total_cmp(&apart(d)));
        let is_same = |c: &&&Contact| c.features() == l.features();
        let same = set.iter().filter(is_same).take(3);
        let near = set.iter().filter(|c| c.features() != l.features()).take(3);
        let _ = write!(text, "; {} of its features in the set", set.iter().filter(is_same).count());
        for c in same.chain(near) {
            let gap = c.gap + self.scene.step_gap(c, pose).1.dot(made);
            let true_gap = (end * c.local_b - c.local_a).dot(&c.normal);
            let _ = write!(
                text,
                "\n      set: {} n {:.4?}, {:.4} away, end: linear gap {gap:+.6}, of points {true_gap:+.6}",
                named_contact(c),
                c.normal.as_slice(),
                apart(c)
            );
        }
        text
    }
}
