//! How far B has moved in the frame of A, summed over a pair's queries.
//!
//! A culling test that has held with a margin holds for as long as B has moved less than the margin. Ways of points and
//! angles are summed apart: what distance tells does not run out by turning. Ways are summed for parts of B: those near the axis
//! of a turn move little.

use crate::Body;
use feeler_geom::{P3, Pose, math};

/// A motion of B, or what a test leaves for one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Motion {
    /// Largest way (mm) of a point of B, or of a part of it.
    pub way: f64,
    /// Angle (rad).
    pub turn: f64,
}

impl Motion {
    /// None at all.
    pub(crate) const ZERO: Self = Self { way: 0.0, turn: 0.0 };
    /// Any motion: nothing depends on it.
    pub(crate) const ANY: Self = Self { way: f64::INFINITY, turn: f64::INFINITY };
    /// Less than none: what has run out.
    pub(crate) const NONE: Self = Self { way: f64::NEG_INFINITY, turn: f64::NEG_INFINITY };

    /// Any turn, but points no farther than this.
    pub(crate) fn of_way(way: f64) -> Self {
        Self { way, ..Self::ANY }
    }

    /// Any way, but no farther round than this.
    pub(crate) fn of_turn(turn: f64) -> Self {
        Self { turn, ..Self::ANY }
    }

    /// Both, one after the other.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { way: self.way + other.way, turn: self.turn + other.turn }
    }

    /// What is left of it after another one.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self { way: self.way - other.way, turn: self.turn - other.turn }
    }

    /// Whether the way and the turn are both less.
    pub(crate) fn is_within(self, other: Self) -> bool {
        self.way < other.way && self.turn < other.turn
    }
}

/// The summed motion, of B as a whole and of its regions ([`Body::regions`]).
#[derive(Clone, Debug, Default)]
pub(crate) struct Odometer {
    last: Option<Pose>,
    size: f64,
    /// Largest distance (mm) of a point of B from the boxes.
    deviation: f64,
    /// Centres and radii of the regions.
    regions: Vec<(P3, f64)>,
    total: Travelled,
}

/// [`Travelled::sum`]'s length of a turn by one radian, in sizes of B: about what a point moves when a slim solid turns about its
/// axis, as it does in what it is plugged into.
const LEVER: f64 = 0.2;

/// How far B has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Travelled {
    turn: f64,
    /// Largest ways (mm), of all B first, then by regions.
    ways: Vec<f64>,
    /// Length (mm) of a turn by one radian in sums of turns and ways.
    lever: f64,
}

impl Travelled {
    /// Of a region; 0 for B as a whole.
    pub(crate) fn of(&self, region: u8) -> Motion {
        Motion { way: self.ways[usize::from(region)], turn: self.turn }
    }

    /// A single number for all motion (mm): see [`Travelled::due`].
    pub(crate) fn sum(&self) -> f64 {
        self.ways[0] + self.lever * self.turn
    }

    /// The [`sum`](Travelled::sum) up to which no motion by as much as `margin` can have happened, in any region.
    pub(crate) fn due(&self, margin: Motion) -> f64 {
        // A little less, for sums are rounded otherwise than their terms.
        let sum = self.sum();
        sum - 8.0 * f64::EPSILON * sum + (1.0 - 1e-6) * margin.way.min(self.lever * margin.turn)
    }

    /// Of one region alone, as a whole.
    #[cfg(test)]
    pub(crate) fn uniformly(motion: Motion) -> Self {
        Self { turn: motion.turn, ways: vec![motion.way], lever: 1.0 }
    }
}

impl Odometer {
    /// For pairs whose B is `b`.
    pub(crate) fn new(b: &Body) -> Self {
        let regions = b.regions().to_vec();
        let total = Travelled { turn: 0.0, ways: vec![0.0; regions.len() + 1], lever: LEVER * b.size() };
        Self { last: None, size: b.size(), deviation: b.deviation(), regions, total }
    }

    /// Motion so far.
    pub(crate) fn total(&self) -> &Travelled {
        &self.total
    }

    /// Counts from zero again.
    pub(crate) fn restart(&mut self) {
        self.total.turn = 0.0;
        self.total.ways.fill(0.0);
    }

    /// Takes the next relative pose; returns the motion of B as a whole since the last one, infinite at the first.
    pub(crate) fn advance(&mut self, pose_ab: &Pose) -> Motion {
        let last = self.last.replace(*pose_ab);
        let Some(last) = last else { return Motion::ANY };
        let by = last.rotation.rotation_to(&pose_ab.rotation);
        // Not the arc cosine, which loses small angles.
        let turn = 2.0 * math::atan2(by.imag().norm(), by.w.abs()) + 16.0 * f64::EPSILON;
        let scale = pose_ab.translation.vector.norm() + 2.0 * self.size;
        let spare = 16.0 * f64::EPSILON * scale + self.deviation * turn;
        let matrix = |pose: &Pose| pose.rotation.to_rotation_matrix().into_inner();
        let turned = matrix(pose_ab) - matrix(&last);
        let shifted = pose_ab.translation.vector - last.translation.vector;
        // What is no number anywhere is none here.
        if !(turned.sum() + shifted.sum() + turn).is_finite() {
            return Motion::ANY;
        }
        let mut whole = 0.0_f64;
        for ((center, radius), total) in self.regions.iter().zip(&mut self.total.ways[1..]) {
            // About its centre a region turns by no more than the angle.
            let way = (turned * center.coords + shifted).norm() + radius * turn + spare;
            *total += way;
            whole = whole.max(way);
        }
        self.total.ways[0] += whole;
        self.total.turn += turn;
        Motion { way: whole, turn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::V3;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// Whatever is left of a margin in a region, an item is due no later than when nothing is left.
    #[test]
    fn nothing_is_due_too_late() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut spared = 0;
        for _ in 0..200 {
            let regions: Vec<(P3, f64)> = (0..3)
                .map(|_| {
                    let c = V3::from_fn(|_, _| rng.random_range(-5.0..5.0));
                    (P3::from(c), rng.random_range(0.1..1.0))
                })
                .collect();
            let total = Travelled { turn: 0.0, ways: vec![0.0; 4], lever: rng.random_range(0.0..10.0) };
            let mut odometer = Odometer { last: None, size: 10.0, deviation: 0.0, regions, total };
            let mut pose = Pose::identity();
            assert_eq!(odometer.advance(&pose), Motion::ANY, "nothing to compare with");
            let mut items: Vec<(u8, Motion, f64)> = Vec::new();
            for _ in 0..50 {
                let before = (pose, odometer.total.clone());
                let step = V3::from_fn(|_, _| rng.random_range(-0.1..0.1));
                let turn = V3::from_fn(|_, _| rng.random_range(-0.02..0.02));
                pose = Pose::new(step, turn) * pose;
                let whole = odometer.advance(&pose);
                let total = odometer.total();
                for (i, (center, radius)) in (1_u8..).zip(&odometer.regions) {
                    let way = total.of(i).way - before.1.of(i).way;
                    for _ in 0..8 {
                        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
                        let p = center + v * (radius / v.norm());
                        let moved = (pose * p - before.0 * p).norm();
                        assert!(moved <= way + 1e-13, "{moved} {way}");
                        assert!(way < moved + 2.0 * radius * whole.turn + 1e-11, "{moved} {way}");
                    }
                    assert!(way <= whole.way + 1e-12, "{way} {whole:?}");
                }
                for (region, expiry, due) in &items {
                    let expired = !total.of(*region).is_within(*expiry);
                    assert!(!expired || total.sum() >= *due, "{expiry:?} {due}");
                    spared += usize::from(!expired && total.sum() >= *due);
                }
                let region = rng.random_range(0..4);
                let way = rng.random_range(0.0..1.0);
                let turn = [f64::INFINITY, rng.random_range(0.0..0.1)][rng.random_range(0..2)];
                let margin = Motion { way, turn };
                items.push((region, total.of(region).plus(margin), total.due(margin)));
            }
        }
        assert!(spared > 100, "regions tell more than the whole: {spared}");
        let no_number = Pose::translation(f64::NAN, 0.0, 0.0);
        let mut odometer = Odometer { last: Some(no_number), ..Odometer::default() };
        assert_eq!(odometer.advance(&Pose::identity()), Motion::ANY, "no number");
        assert!(odometer.total.turn < 1e-12, "nothing is added");
    }
}
