//! Tests of slow motions: gaps change by at most the motion, and identities of contacts do not return
//! after they ended.

use super::project::Twist;
use super::step::Tally;
use super::{Scene, direction, log_uniform, named_contact};
use feeler_geom::{P3, Pose};
use feeler_runtime::{Contact, ContactTracker, StepBound};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use std::collections::{BTreeMap, BTreeSet};

/// Number of updates during which B moves.
const MOVING: u32 = 24;
/// Number of updates during which B is at rest.
const AT_REST: u32 = 6;
/// Range of the displacement (mm) in one update while B moves.
const SPEEDS: [f64; 2] = [1e-5, 5e-3];
/// Displacement (mm) in one update while B is at rest, above that after which contacts are moved without a
/// search.
const TREMBLE: f64 = 1e-6;
/// Maximum displacement (mm) of a footpoint while B is at rest.
const STEADY: f64 = 1e-3;

impl Scene {
    /// Tracks slow motion number `number` twice, and records faults.
    ///
    /// # Panics
    /// If a query fails.
    pub fn follow(&self, seed: u64, number: u64, tally: &mut Tally) {
        let Some(start) = self.start(seed, number) else { return };
        tally.motions += 1;
        let name = format!("{}, start {number}", self.name);
        let first = self.motion(seed, number, &start.pose, &name, tally);
        let mut again = Tally::default();
        if first != self.motion(seed, number, &start.pose, &name, &mut again) {
            tally.discontinuities.push(format!("{name}: another tracker gives different bits"));
        }
    }

    /// Tracks the motion; returns the bits of all contacts of all updates.
    fn motion(&self, seed: u64, number: u64, pose: &Pose, name: &str, tally: &mut Tally) -> Vec<u64> {
        let mut rng = SmallRng::seed_from_u64(self.key() ^ seed ^ (number << 28));
        let mut pose = *pose;
        let mut tracker = ContactTracker::new(self.a.clone(), self.b.clone(), self.options());
        let speed = log_uniform(&mut rng, SPEEDS);
        let (v, w) = (direction(&mut rng), direction(&mut rng));
        let free = Twist::new(v.x, v.y, v.z, w.x, w.y, w.z) * (speed / 2.0_f64.sqrt());
        let bound = StepBound::of_motion([&self.a, &self.b], &pose, &self.moved(&pose, &free)).times(1.5);
        let tol = 1e-7 * self.a.size().max(self.b.size());
        let mut bits = Vec::new();
        let mut before: BTreeMap<u64, Contact> = BTreeMap::new();
        let mut ended: BTreeSet<u64> = BTreeSet::new();
        let mut last = pose;
        for k in 0..MOVING + AT_REST {
            tracker.update(&Pose::identity(), &pose, bound).expect("valid");
            tally.updates += 1;
            // The first update at rest corrects the remaining error of linear gaps.
            let is_at_rest = k > MOVING + 1;
            let moved = StepBound::of_motion([&self.a, &self.b], &last, &pose);
            let now: BTreeMap<u64, Contact> = tracker.contacts().iter().map(|c| (c.id, *c)).collect();
            let mut report = |what: &str, c: &Contact| {
                tally.discontinuities.push(format!("{name}, update {k}: {what}: {}", named_contact(c)));
            };
            for (id, c) in &now {
                bits.extend([*id, c.gap.to_bits(), c.local_a.x.to_bits(), c.local_b.y.to_bits()]);
                if ended.contains(id) {
                    report("identity returns", c);
                }
                if let Some(b) = before.get(id) {
                    let allowed = moved.displacement + moved.rotation * b.gap.abs() + 2.0 * tol;
                    if (c.gap - b.gap).abs() > allowed {
                        report(&format!("gap jumps from {:+.6}, allowed {allowed:.6}", b.gap), c);
                    }
                    let slid = |p: &P3, q: &P3| (p - q).norm() > STEADY;
                    if is_at_rest && (slid(&b.local_a, &c.local_a) || slid(&b.local_b, &c.local_b)) {
                        report("footpoint moves at rest", c);
                    }
                } else if is_at_rest && c.gap <= bound.displacement {
                    report("begins at rest", c);
                }
            }
            for (id, b) in before.iter().filter(|(id, _)| !now.contains_key(id)) {
                ended.insert(*id);
                // At the limit of the range, rounding decides whether a contact is reported.
                if is_at_rest && b.gap <= bound.displacement - 2.0 * tol {
                    report("ends at rest", b);
                }
            }
            before = now;
            last = pose;
            let free = if k < MOVING { free } else { free * (TREMBLE / speed) };
            pose = self.moved(&pose, &self.obeying(tracker.active(), &pose, &free).twist);
        }
        bits
    }
}
