//! How far B has moved in the frame of A, summed over a pair's queries.
//!
//! A culling test that has held with a margin holds for as long as B has moved less than the margin. Ways of points and
//! angles are summed apart: what distance tells does not run out by turning. Motion is told by several clocks: one for B as a
//! whole, one for each of its parts, since those near the axis of a turn move little, and one for each axis of its features of
//! revolution, whose form does not move as the solid turns about it. What is told by the form of a feature of A does not run out
//! as B turns about the axis of that one: seen from B, A moves.

use crate::Body;
use crate::body::{Axis, FeatureData, MOST_AXES, REGIONS};
use crate::side::Which;
use feeler_geom::{P3, Pose, V3, math};

/// A motion of B, or what a test leaves for one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Motion {
    /// Largest way (mm) of a point of B, of a part of it, or of a form but for turns about its axis.
    pub way: f64,
    /// Angle (rad) of B, or of an axis.
    pub turn: f64,
}

impl Motion {
    /// None at all.
    pub(crate) const ZERO: Self = Self { way: 0.0, turn: 0.0 };
    /// Any motion: nothing depends on it.
    pub(crate) const ANY: Self = Self { way: f64::INFINITY, turn: f64::INFINITY };
    /// Any turn, but points no farther than this.
    pub(crate) fn of_way(way: f64) -> Self {
        Self { way, ..Self::ANY }
    }

    /// Any way, but no farther round than this.
    pub(crate) fn of_turn(turn: f64) -> Self {
        Self { turn, ..Self::ANY }
    }

    /// The dial of a clock that tells when it has happened.
    fn dial(self) -> usize {
        if self.turn == f64::INFINITY {
            WAY
        } else if self.way == f64::INFINITY {
            TURN
        } else {
            SUM
        }
    }

    /// As a clock tells it.
    pub(crate) fn by(self, clock: u8) -> Margin {
        Margin { motion: self, clock }
    }
}

#[cfg(test)]
impl Motion {
    /// Both, one after the other.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { way: self.way + other.way, turn: self.turn + other.turn }
    }

    /// Whether the way and the turn are both less.
    pub(crate) fn is_within(self, other: Self) -> bool {
        self.way < other.way && self.turn < other.turn
    }
}

/// What a test leaves for a motion, and the clock that tells it: see [`Clocks`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Margin {
    pub motion: Motion,
    pub clock: u8,
}

impl Margin {
    /// Any motion.
    pub(crate) const ANY: Self = Self { motion: Motion::ANY, clock: Clocks::WHOLE };
}

/// The numbers of a pair's clocks: 0 is that of B as a whole, those of its regions ([`Body::regions`]) have the numbers of these,
/// the axes of B and then those of A follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks<'a> {
    /// Of the first axis of A and of B.
    first: [usize; 2],
    moved: &'a Travelled,
}

// The numbers are bytes. The regions are those of two trees.
const _: () = assert!(1 + 2 * REGIONS + 2 * MOST_AXES <= CLOCKS, "too many clocks");

impl<'a> Clocks<'a> {
    /// That of B as a whole.
    pub(crate) const WHOLE: u8 = 0;

    /// Of pairs whose B is `b` and has `moved` this far.
    pub(crate) fn new(b: &Body, moved: &'a Travelled) -> Self {
        let of_b = 1 + b.regions().len();
        Self { first: [of_b + b.axes().len(), of_b], moved }
    }

    /// How far (mm) what a clock is of has moved in all.
    pub(crate) fn way(&self, clock: u8) -> f64 {
        self.moved.of(clock).way
    }

    /// The clock that tells a motion of the form of a feature: that of its axis, unless the feature has none or the axis has moved more
    /// in the last step than what is on the clock `other` tells.
    #[expect(clippy::cast_possible_truncation, reason = "there are no more than CLOCKS")]
    pub(crate) fn of_form(&self, motion: Motion, which: Which, feature: &FeatureData, other: u8) -> u8 {
        let Some(axis) = feature.axis else { return other };
        let clock = (self.first[which as usize] + usize::from(axis)) as u8;
        let step = |clock: u8| self.moved.steps[usize::from(clock)][motion.dial()];
        if step(clock) <= step(other) { clock } else { other }
    }
}

/// The summed motion by all [`Clocks`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Odometer {
    last: Option<Pose>,
    /// Largest coordinates (mm) of both.
    reach: f64,
    /// Largest distance (mm) of a point of B from the boxes.
    deviation: f64,
    /// Centres and radii of the regions.
    regions: Vec<(P3, f64)>,
    /// Axes of B and of A, in their own frames.
    axes: [Vec<Axis>; 2],
    total: Travelled,
}

/// Length of a turn by one radian in sums of ways and turns, in sizes of B: about what a point moves when a slim solid turns about its
/// axis, as it does in what it is plugged into.
const LEVER: f64 = 0.2;

/// Clocks of a pair, at most.
const CLOCKS: usize = 256;

/// The dials of a clock: what it tells of ways (mm), of turns (rad), and of their sums (mm).
const DIALS: usize = 3;
const WAY: usize = 0;
const TURN: usize = 1;
const SUM: usize = 2;

/// How far B has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Travelled {
    /// By clocks, and for each by its dials: they never go back but when counting starts again.
    dials: Vec<[f64; DIALS]>,
    /// The last step, by clocks and dials.
    steps: Vec<[f64; DIALS]>,
    /// Length (mm) of a turn by one radian in sums of turns and ways.
    lever: f64,
}

/// When a margin has run out: as soon as a dial, given by its number among those of all clocks, tells no less than a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Due {
    pub dial: u16,
    pub at: f64,
}

impl Due {
    /// At once.
    pub(crate) const NOW: Self = Self { dial: 0, at: f64::NEG_INFINITY };
}

impl Travelled {
    fn new(clocks: usize, lever: f64) -> Self {
        Self { dials: vec![[0.0; DIALS]; clocks], steps: vec![[0.0; DIALS]; clocks], lever }
    }

    /// By a clock; 0 for B as a whole.
    pub(crate) fn of(&self, clock: u8) -> Motion {
        let dials = &self.dials[usize::from(clock)];
        Motion { way: dials[WAY], turn: dials[TURN] }
    }

    /// What all dials tell, those of one clock after those of the other.
    pub(crate) fn dials(&self) -> &[f64] {
        self.dials.as_flattened()
    }

    /// The last step of B as a whole, way and turn together, as a dial of any clock would tell it.
    pub(crate) fn step_of_whole(&self, dial: usize) -> f64 {
        let sum = self.steps[usize::from(Clocks::WHOLE)][SUM];
        if dial % DIALS == TURN && self.lever > 0.0 { sum / self.lever } else { sum }
    }

    /// When a margin will have run out if it begins now; where it is one of both, of ways and of turns, maybe earlier.
    #[expect(clippy::cast_possible_truncation, reason = "there are no more than CLOCKS")]
    pub(crate) fn due(&self, margin: Margin) -> Due {
        let Margin { motion, clock } = margin;
        let Motion { way, turn } = motion;
        let dial = motion.dial();
        let so_far = self.dials[usize::from(clock)][dial];
        let at = match dial {
            WAY => so_far + way,
            TURN => so_far + turn,
            // A little less, for sums are rounded otherwise than their terms.
            _ => so_far - 8.0 * f64::EPSILON * so_far + (1.0 - 1e-6) * way.min(self.lever * turn),
        };
        Due { dial: (usize::from(clock) * DIALS + dial) as u16, at }
    }

    /// Takes in a motion by a clock.
    fn add(&mut self, clock: usize, motion: Motion) {
        let sum = motion.way + self.lever * motion.turn;
        self.steps[clock] = [motion.way, motion.turn, sum];
        let dials = &mut self.dials[clock];
        dials[WAY] += motion.way;
        dials[TURN] += motion.turn;
        dials[SUM] = dials[WAY] + self.lever * dials[TURN];
    }

    /// By these clocks.
    #[cfg(test)]
    pub(crate) fn by_clocks(motions: &[Motion]) -> Self {
        let mut travelled = Self::new(motions.len(), 1.0);
        motions.iter().enumerate().for_each(|(clock, motion)| travelled.add(clock, *motion));
        travelled
    }
}

impl Odometer {
    /// For pairs of these two.
    pub(crate) fn new(a: &Body, b: &Body) -> Self {
        let regions = b.regions().to_vec();
        let axes = [b, a].map(|body| body.axes().to_vec());
        let clocks = 1 + regions.len() + axes[0].len() + axes[1].len();
        let total = Travelled::new(clocks, LEVER * b.size());
        Self { last: None, reach: a.reach() + b.reach(), deviation: b.deviation(), regions, axes, total }
    }

    /// Motion so far.
    pub(crate) fn total(&self) -> &Travelled {
        &self.total
    }

    /// Counts from zero again.
    pub(crate) fn restart(&mut self) {
        self.total.dials.fill([0.0; DIALS]);
    }

    /// Takes the next relative pose; returns the motion of B as a whole since the last one, infinite at the first.
    pub(crate) fn advance(&mut self, pose_ab: &Pose) -> Motion {
        let last = self.last.replace(*pose_ab);
        let Some(last) = last else { return Motion::ANY };
        let by = last.rotation.rotation_to(&pose_ab.rotation);
        // Not the arc cosine, which loses small angles.
        let turn = 2.0 * math::atan2(by.imag().norm(), by.w.abs()) + 16.0 * f64::EPSILON;
        // Centres of axes are a few sizes from the solids, no more.
        let rounding = 32.0 * f64::EPSILON * (pose_ab.translation.vector.norm() + 4.0 * self.reach);
        let spare = rounding + self.deviation * turn;
        let matrix = |pose: &Pose| pose.rotation.to_rotation_matrix().into_inner();
        let (now, before) = (matrix(pose_ab), matrix(&last));
        let turned = now - before;
        let shifted = pose_ab.translation.vector - last.translation.vector;
        // What is no number anywhere is none here.
        if !(turned.sum() + shifted.sum() + turn).is_finite() {
            return Motion::ANY;
        }
        let mut way = 0.0_f64;
        for (clock, (center, radius)) in (1..).zip(&self.regions) {
            // About its centre a region turns by no more than the angle.
            let of_region = (turned * center.coords + shifted).norm() + radius * turn + spare;
            self.total.add(clock, Motion { way: of_region, turn });
            way = way.max(of_region);
        }
        let step = Motion { way, turn };
        self.total.add(usize::from(Clocks::WHOLE), step);
        // Seen from B, A moves the other way.
        let back =
            now.transpose() * pose_ab.translation.vector - before.transpose() * last.translation.vector;
        let [of_b, of_a] = &self.axes;
        let turned_a = turned.transpose();
        let moved_b = of_b.iter().map(|x| (x, turned * x.center.coords + shifted, turned * x.direction));
        let moved_a = of_a.iter().map(|x| (x, turned_a * x.center.coords - back, turned_a * x.direction));
        for (clock, (axis, center, direction)) in (1 + self.regions.len()..).zip(moved_b.chain(moved_a)) {
            self.total.add(clock, of_axis(axis, center, direction, (turn, rounding)));
        }
        step
    }
}

/// The motion of what is of revolution about an axis when its centre moves by `center` and its direction by `direction`, as the
/// solid turns by `turn`: lengths (mm) and the angle (rad), and what `rounding` adds (mm).
fn of_axis(axis: &Axis, center: V3, direction: V3, (turn, rounding): (f64, f64)) -> Motion {
    let tilt = direction.norm();
    let way = center.norm() + axis.radius * tilt + axis.off[0] * turn + rounding;
    let chord = tilt + axis.off[1] * turn + 16.0 * f64::EPSILON;
    // An angle of no more than a half turn is no longer than this by its chord.
    Motion { way, turn: turn.min(chord + 0.15 * chord * chord * chord) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::Frame;
    use feeler_geom::skeleton::{Primitive, signed_distance};
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn vector(rng: &mut SmallRng, scale: f64) -> V3 {
        V3::from_fn(|_, _| scale * rng.random_range(-1.0..1.0))
    }

    /// Steps of very different lengths, about the origin and along or about the vertical.
    fn step(rng: &mut SmallRng) -> Pose {
        let scale = [1.0, 1e-3, 1e-9][rng.random_range(0..3)];
        let turn = [vector(rng, 0.02), V3::z() * rng.random_range(-0.5..0.5)][rng.random_range(0..2)];
        Pose::new(vector(rng, 0.1 * scale), turn * scale)
    }

    fn odometer(regions: Vec<(P3, f64)>, axes: [Vec<Axis>; 2], lever: f64) -> Odometer {
        let total = Travelled::new(1 + regions.len() + axes[0].len() + axes[1].len(), lever);
        Odometer { last: None, reach: 10.0, deviation: 0.0, regions, axes, total }
    }

    /// Whatever is left of a margin by a clock, an item is due no later than when nothing is left; ways of regions hold those of their
    /// points.
    #[test]
    fn nothing_is_due_too_late() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut spared = 0;
        for _ in 0..200 {
            let regions: Vec<(P3, f64)> =
                (0..3).map(|_| (P3::from(vector(&mut rng, 5.0)), rng.random_range(0.1..1.0))).collect();
            let lever = rng.random_range(0.0..10.0);
            let mut odometer = odometer(regions, [vec![], vec![]], lever);
            let mut pose = Pose::identity();
            assert_eq!(odometer.advance(&pose), Motion::ANY, "nothing to compare with");
            let mut items: Vec<(Margin, Motion, Due)> = Vec::new();
            for _ in 0..50 {
                let before = (pose, odometer.total.clone());
                pose = step(&mut rng) * pose;
                let whole = odometer.advance(&pose);
                let total = odometer.total();
                for (i, (center, radius)) in (1_u8..).zip(&odometer.regions) {
                    let way = total.of(i).way - before.1.of(i).way;
                    for _ in 0..8 {
                        let v = vector(&mut rng, 1.0);
                        let p = center + v * (radius / v.norm());
                        let moved = (pose * p - before.0 * p).norm();
                        assert!(moved <= way + 1e-13, "{moved} {way}");
                        assert!(way < moved + 2.0 * radius * whole.turn + 1e-11, "{moved} {way}");
                    }
                    assert!(way <= whole.way + 1e-12, "{way} {whole:?}");
                }
                for (margin, expiry, Due { dial, at }) in &items {
                    let expired = !total.of(margin.clock).is_within(*expiry);
                    let dial = usize::from(*dial);
                    let is_due = total.dials()[dial] >= *at;
                    let is_of_both = margin.motion.way.is_finite() && margin.motion.turn.is_finite();
                    assert!(expired == is_due || is_of_both && is_due, "{expiry:?} {at}");
                    spared += usize::from(!expired && total.dials()[dial % DIALS] >= *at);
                }
                let clock = rng.random_range(0..4);
                let [way, turn] = [rng.random_range(0.0..1.0), rng.random_range(0.0..0.1)];
                let (way, turn) =
                    [(way, f64::INFINITY), (f64::INFINITY, turn), (way, turn)][rng.random_range(0..3)];
                let margin = Motion { way, turn }.by(clock);
                items.push((margin, total.of(clock).plus(margin.motion), total.due(margin)));
            }
        }
        assert!(spared > 100, "regions tell more than the whole: {spared}");
        let no_number = Pose::translation(f64::NAN, 0.0, 0.0);
        let mut odometer = Odometer { last: Some(no_number), ..odometer(vec![], [vec![], vec![]], 1.0) };
        assert_eq!(odometer.advance(&Pose::identity()), Motion::ANY, "no number");
        assert!(odometer.total.of(0).turn < 1e-12, "nothing is added");
    }

    /// The distance from what is of revolution about an axis, of A or of B, changes by no more than the way by the clock of the axis,
    /// and its direction by no more than the turn, also where its own axis is a little off; turns about the axis alone are none.
    #[test]
    fn forms_move_with_their_axes() {
        let mut rng = SmallRng::seed_from_u64(2);
        let mut slow = 0;
        for k in 0..20_000 {
            let off = [0.0, 1e-6, 1e-3][rng.random_range(0..3)];
            let direction = if k % 2 == 0 { V3::z() } else { vector(&mut rng, 1.0) };
            let Some(direction) = direction.try_normalize(0.1) else { continue };
            let center = P3::from(if k % 4 == 0 { V3::zeros() } else { vector(&mut rng, 5.0) });
            let mut axis = Axis { center, direction, radius: 3.0, off: [0.0; 2] };
            let own = (direction + vector(&mut rng, off)).normalize();
            let origin = center + vector(&mut rng, off) + own * rng.random_range(-1.0..1.0);
            axis.off = axis.off_of(Some(&origin), &own);
            // Within the radius with its tube.
            let frame =
                Frame::from_z(origin, if k % 3 == 0 { -own } else { own }, None).expect("a direction");
            let sigma = rng.random_range(-0.5..0.5);
            let ring = Primitive::Circle { frame, radius: rng.random_range(0.5..1.5), sigma };
            let mut pose = Pose::new(vector(&mut rng, 1.0), vector(&mut rng, 1.0));
            let of_b = k % 5 < 3;
            let mut odometer =
                odometer(vec![], if of_b { [vec![axis], vec![]] } else { [vec![], vec![axis]] }, 1.0);
            let outside = P3::from(vector(&mut rng, 10.0));
            // What is told of the ring as seen from the other solid.
            let seen = |pose: &Pose| {
                let view = if of_b { *pose } else { pose.inverse() };
                (signed_distance(&ring.transformed(&view), &outside).map(|d| d.value), view * frame.z)
            };
            odometer.advance(&pose);
            let before = seen(&pose);
            let by = step(&mut rng);
            let spin = Pose::rotation(direction * rng.random_range(-0.1..0.1));
            let about = Pose::from(center.coords) * spin * Pose::from(-center.coords);
            pose = match (k % 7 == 0, of_b) {
                (true, true) => pose * about,
                (true, false) => about * pose,
                (false, _) => by * pose,
            };
            let whole = odometer.advance(&pose);
            let after = seen(&pose);
            let moved = odometer.total().of(1);
            let turned = (after.1 - before.1).norm();
            assert!(turned <= moved.turn, "{turned} {moved:?}");
            let (Some(before), Some(after)) = (before.0, after.0) else { continue };
            let way = (after - before).abs();
            assert!(way <= moved.way, "{way} {moved:?} in step {k}");
            assert!(moved.turn <= whole.turn * (1.0 + 1e-12), "{moved:?} {whole:?}");
            if k % 7 == 0 {
                slow += 1;
                assert!(moved.way <= 10.0 * off * whole.turn + 1e-12, "{moved:?} {whole:?}");
            }
        }
        assert!(slow > 1000, "{slow}");
    }
}
