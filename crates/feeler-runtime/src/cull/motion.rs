//! Motion of B in the frame of A, accumulated over the queries of a pair.
//!
//! The result of a culling test with a margin is valid until B has moved by the margin. Displacements of
//! points and rotation angles are accumulated separately, so that a rotation uses up a length margin
//! only by the displacements that it causes. Motion is accumulated in several channels: one for B as a
//! whole; one for each region of B, because regions near the axis of a rotation move little; and one for
//! each axis of features of revolution of B and of A, because their surfaces stay in place as the solid
//! rotates about the axis. For an axis of A, the channel contains the motion of A as seen from B.

use crate::body::side::Which;
use crate::body::{Axis, Body, FeatureData, MAX_AXES, REGIONS};
use feeler_geom::{P3, Pose, V3, math};

/// A motion of B in the frame of A, or the largest motion for which the result of a test remains valid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Motion {
    /// Largest displacement (mm) of a point of the moving item: B, a region of B, or a surface of
    /// revolution, for which rotations about its own axis do not count.
    pub displacement: f64,
    /// Rotation angle (rad) of B, or, for a surface of revolution, of its axis.
    pub rotation: f64,
}

impl Motion {
    /// No motion.
    pub(crate) const ZERO: Self = Self { displacement: 0.0, rotation: 0.0 };
    /// Unbounded motion.
    pub(crate) const ANY: Self = Self { displacement: f64::INFINITY, rotation: f64::INFINITY };
    /// Unbounded rotation with displacements up to this value (mm).
    pub(crate) fn of_displacement(displacement: f64) -> Self {
        Self { displacement, ..Self::ANY }
    }

    /// Unbounded displacement with rotations up to this value (rad).
    pub(crate) fn of_rotation(rotation: f64) -> Self {
        Self { rotation, ..Self::ANY }
    }

    /// Index of the component of a channel that measures a margin of this form: `DISPLACEMENT`,
    /// `ROTATION`, or `COMBINED` if both values are finite.
    fn component(self) -> usize {
        if self.rotation == f64::INFINITY {
            DISPLACEMENT
        } else if self.displacement == f64::INFINITY {
            ROTATION
        } else {
            COMBINED
        }
    }

    /// Margin that is used up when the motion in the given channel exceeds this motion.
    pub(crate) fn by(self, channel: u8) -> Margin {
        Margin { motion: self, channel }
    }
}

#[cfg(test)]
impl Motion {
    /// Bound of two successive motions: the sums of their displacements and rotations.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            displacement: self.displacement + other.displacement,
            rotation: self.rotation + other.rotation,
        }
    }

    /// Whether displacement and rotation are both smaller than those of `other`.
    pub(crate) fn is_within(self, other: Self) -> bool {
        self.displacement < other.displacement && self.rotation < other.rotation
    }
}

/// Largest motion for which the result of a test remains valid, and the number of the channel that
/// measures the motion ([`MotionChannels`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Margin {
    pub motion: Motion,
    pub channel: u8,
}

impl Margin {
    /// Margin that is never used up.
    pub(crate) const ANY: Self = Self { motion: Motion::ANY, channel: MotionChannels::WHOLE };
}

/// Channel numbers of a pair of bodies: 0 for B as a whole, then the regions of B ([`Body::regions`]),
/// the axes of B, and the axes of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MotionChannels<'a> {
    /// Channel numbers of the first axis of A and of the first axis of B.
    first: [usize; 2],
    moved: &'a AccumulatedMotion,
}

// Channel numbers fit in a `u8`. There are two trees of regions and the axes of two bodies.
const _: () = assert!(1 + 2 * REGIONS + 2 * MAX_AXES <= MAX_CHANNELS, "too many channels");

impl<'a> MotionChannels<'a> {
    /// Channel of B as a whole.
    pub(crate) const WHOLE: u8 = 0;

    /// Channels of pairs with this B, with the motion accumulated in each of them.
    pub(crate) fn new(b: &Body, moved: &'a AccumulatedMotion) -> Self {
        let of_b = 1 + b.regions().len();
        Self { first: [of_b + b.axes().len(), of_b], moved }
    }

    /// Accumulated displacement (mm) of a channel.
    pub(crate) fn displacement(&self, channel: u8) -> f64 {
        self.moved.of(channel).displacement
    }

    /// Returns the channel for a margin that depends on the surface of a feature only: the channel of
    /// the feature's axis, or `other` if the feature has no axis, or if its axis has moved more in the
    /// last step than `other`. `motion` is the margin, and `which` is the solid of the feature.
    #[expect(clippy::cast_possible_truncation, reason = "at most MAX_CHANNELS channels")]
    pub(crate) fn of_form(&self, motion: Motion, which: Which, feature: &FeatureData, other: u8) -> u8 {
        let Some(axis) = feature.axis else { return other };
        let channel = (self.first[which as usize] + usize::from(axis)) as u8;
        let step = |channel: u8| self.moved.steps[usize::from(channel)][motion.component()];
        if step(channel) <= step(other) { channel } else { other }
    }
}

/// Accumulates the motion of all [`MotionChannels`] from pose to pose.
#[derive(Clone, Debug, Default)]
pub(crate) struct MotionTracker {
    last: Option<Pose>,
    /// Sum of the largest coordinates (mm) of both bodies, each in its own frame.
    reach: f64,
    /// Largest distance (mm) of a point of B outside the boxes of its nodes.
    deviation: f64,
    /// Centres and radii (mm) of the regions of B, in its own frame.
    regions: Vec<(P3, f64)>,
    /// Axes of B and of A, in their own frames.
    axes: [Vec<Axis>; 2],
    total: AccumulatedMotion,
}

/// Length that a rotation by one radian adds to the combined component, in sizes of B. It is about the
/// displacement of a point when a slim solid rotates about its axis, as a plug does in its socket. It
/// affects speed only.
const LEVER: f64 = 0.2;

/// Maximum number of motion channels of a pair, so that channel numbers fit in a `u8`.
const MAX_CHANNELS: usize = 256;

/// Number of components of a channel.
const COMPONENTS: usize = 3;
/// Index of the component of displacement (mm).
const DISPLACEMENT: usize = 0;
/// Index of the component of rotation (rad).
const ROTATION: usize = 1;
/// Index of the component that combines displacement and rotation (mm): displacement + lever · rotation.
const COMBINED: usize = 2;

/// Motion of B since the accumulation started.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccumulatedMotion {
    /// Accumulated motion (mm or rad) by channel and component. It never decreases until the accumulation
    /// restarts.
    accumulated: Vec<[f64; COMPONENTS]>,
    /// Motion (mm or rad) of the last step, from the previous pose to the last one, by channel and
    /// component.
    steps: Vec<[f64; COMPONENTS]>,
    /// Length (mm) that a rotation by one radian adds to the combined component.
    lever: f64,
}

/// Expiry of a margin: the margin is used up as soon as the accumulated value of `component`, numbered
/// over all channels, reaches `at` (mm or rad).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Deadline {
    pub component: u16,
    pub at: f64,
}

impl Deadline {
    /// A deadline that has already expired.
    pub(crate) const NOW: Self = Self { component: 0, at: f64::NEG_INFINITY };
}

impl AccumulatedMotion {
    fn new(channels: usize, lever: f64) -> Self {
        Self {
            accumulated: vec![[0.0; COMPONENTS]; channels],
            steps: vec![[0.0; COMPONENTS]; channels],
            lever,
        }
    }

    /// Accumulated motion in one channel; channel 0 is B as a whole.
    pub(crate) fn of(&self, channel: u8) -> Motion {
        let accumulated = &self.accumulated[usize::from(channel)];
        Motion { displacement: accumulated[DISPLACEMENT], rotation: accumulated[ROTATION] }
    }

    /// Accumulated values of all components, channel by channel.
    pub(crate) fn accumulated(&self) -> &[f64] {
        self.accumulated.as_flattened()
    }

    /// Motion of B as a whole in the last step (the combined component), in the unit (mm or rad) of the
    /// component with this number.
    pub(crate) fn step_of_whole(&self, component: usize) -> f64 {
        let sum = self.steps[usize::from(MotionChannels::WHOLE)][COMBINED];
        if component % COMPONENTS == ROTATION && self.lever > 0.0 { sum / self.lever } else { sum }
    }

    /// Deadline of a margin that starts now. A margin of both displacement and rotation may expire early.
    #[expect(clippy::cast_possible_truncation, reason = "at most MAX_CHANNELS channels")]
    pub(crate) fn due(&self, margin: Margin) -> Deadline {
        let Margin { motion, channel } = margin;
        let Motion { displacement, rotation } = motion;
        let component = motion.component();
        let so_far = self.accumulated[usize::from(channel)][component];
        let at = match component {
            DISPLACEMENT => so_far + displacement,
            ROTATION => so_far + rotation,
            // The deadline is slightly earlier, because sums are rounded differently from their terms.
            _ => {
                so_far - 8.0 * f64::EPSILON * so_far + (1.0 - 1e-6) * displacement.min(self.lever * rotation)
            }
        };
        Deadline { component: (usize::from(channel) * COMPONENTS + component) as u16, at }
    }

    /// Adds a motion to a channel and stores it as the last step of the channel.
    fn add(&mut self, channel: usize, motion: Motion) {
        let sum = motion.displacement + self.lever * motion.rotation;
        self.steps[channel] = [motion.displacement, motion.rotation, sum];
        let accumulated = &mut self.accumulated[channel];
        accumulated[DISPLACEMENT] += motion.displacement;
        accumulated[ROTATION] += motion.rotation;
        accumulated[COMBINED] = accumulated[DISPLACEMENT] + self.lever * accumulated[ROTATION];
    }

    /// Accumulated motion after one step with the given motion of each channel.
    #[cfg(test)]
    pub(crate) fn by_channels(motions: &[Motion]) -> Self {
        let mut moved = Self::new(motions.len(), 1.0);
        motions.iter().enumerate().for_each(|(channel, motion)| moved.add(channel, *motion));
        moved
    }
}

impl MotionTracker {
    /// Tracker of the motion of B relative to A.
    pub(crate) fn new(a: &Body, b: &Body) -> Self {
        let regions = b.regions().to_vec();
        let axes = [b, a].map(|body| body.axes().to_vec());
        let channels = 1 + regions.len() + axes[0].len() + axes[1].len();
        let total = AccumulatedMotion::new(channels, LEVER * b.size());
        Self { last: None, reach: a.reach() + b.reach(), deviation: b.deviation(), regions, axes, total }
    }

    /// Motion of B relative to A, accumulated since the last [`MotionTracker::restart`].
    pub(crate) fn total(&self) -> &AccumulatedMotion {
        &self.total
    }

    /// Resets the motion of B accumulated in each channel to zero. Deadlines computed before are not valid
    /// afterwards.
    pub(crate) fn restart(&mut self) {
        self.total.accumulated.fill([0.0; COMPONENTS]);
    }

    /// Sets the next relative pose. Returns the motion of B as a whole since the previous one, which is
    /// unbounded for the first pose.
    pub(crate) fn advance(&mut self, pose_ab: &Pose) -> Motion {
        let last = self.last.replace(*pose_ab);
        let Some(last) = last else { return Motion::ANY };
        let by = last.rotation.rotation_to(&pose_ab.rotation);
        // The arc cosine would lose small angles.
        let rotation = 2.0 * math::atan2(by.imag().norm(), by.w.abs()) + 16.0 * f64::EPSILON;
        // Centres of axes are at most a few sizes from the solids.
        let rounding = 32.0 * f64::EPSILON * (pose_ab.translation.vector.norm() + 4.0 * self.reach);
        let spare = rounding + self.deviation * rotation;
        let matrix = |pose: &Pose| pose.rotation.to_rotation_matrix().into_inner();
        let (now, before) = (matrix(pose_ab), matrix(&last));
        let rotated = now - before;
        let shifted = pose_ab.translation.vector - last.translation.vector;
        // A non-finite pose counts as unbounded motion.
        if !(rotated.sum() + shifted.sum() + rotation).is_finite() {
            return Motion::ANY;
        }
        let mut displacement = 0.0_f64;
        for (channel, (center, radius)) in (1..).zip(&self.regions) {
            // A region moves by the displacement of its centre plus radius times rotation angle.
            let of_region = (rotated * center.coords + shifted).norm() + radius * rotation + spare;
            self.total.add(channel, Motion { displacement: of_region, rotation });
            displacement = displacement.max(of_region);
        }
        let step = Motion { displacement, rotation };
        self.total.add(usize::from(MotionChannels::WHOLE), step);
        // Seen from B, A moves in the opposite direction.
        let back =
            now.transpose() * pose_ab.translation.vector - before.transpose() * last.translation.vector;
        let [of_b, of_a] = &self.axes;
        let rotated_a = rotated.transpose();
        let moved_b = of_b.iter().map(|x| (x, rotated * x.center.coords + shifted, rotated * x.direction));
        let moved_a = of_a.iter().map(|x| (x, rotated_a * x.center.coords - back, rotated_a * x.direction));
        for (channel, (axis, center, direction)) in (1 + self.regions.len()..).zip(moved_b.chain(moved_a)) {
            self.total.add(channel, of_axis(axis, center, direction, (rotation, rounding)));
        }
        step
    }
}

/// Upper bound of the motion of the features that share an axis. The centre of the axis moves by
/// `center` (mm), and its unit direction changes by `direction`. `rotation` (rad) is that of the solid,
/// and `rounding` (mm) is added to the displacement.
fn of_axis(axis: &Axis, center: V3, direction: V3, (rotation, rounding): (f64, f64)) -> Motion {
    let tilt = direction.norm();
    let displacement = center.norm() + axis.radius * tilt + axis.off[0] * rotation + rounding;
    let chord = tilt + axis.off[1] * rotation + 16.0 * f64::EPSILON;
    // Upper bound of an angle of at most half a turn by its chord.
    Motion { displacement, rotation: rotation.min(chord + 0.15 * chord * chord * chord) }
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

    /// Random pose close to the identity, with a length of one of several orders of magnitude: a motion
    /// in any direction, or one along or about the vertical.
    fn step(rng: &mut SmallRng) -> Pose {
        let scale = [1.0, 1e-3, 1e-9][rng.random_range(0..3)];
        let rotation = [vector(rng, 0.02), V3::z() * rng.random_range(-0.5..0.5)][rng.random_range(0..2)];
        Pose::new(vector(rng, 0.1 * scale), rotation * scale)
    }

    fn motion_tracker(regions: Vec<(P3, f64)>, axes: [Vec<Axis>; 2], lever: f64) -> MotionTracker {
        let total = AccumulatedMotion::new(1 + regions.len() + axes[0].len() + axes[1].len(), lever);
        MotionTracker { last: None, reach: 10.0, deviation: 0.0, regions, axes, total }
    }

    /// An item is due no later than when its margin is used up, and displacements of regions bound those of
    /// their points.
    #[test]
    fn margins_expire_in_time() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut saved = 0;
        for _ in 0..200 {
            let regions: Vec<(P3, f64)> =
                (0..3).map(|_| (P3::from(vector(&mut rng, 5.0)), rng.random_range(0.1..1.0))).collect();
            let lever = rng.random_range(0.0..10.0);
            let mut motion_tracker = motion_tracker(regions, [vec![], vec![]], lever);
            let mut pose = Pose::identity();
            assert_eq!(motion_tracker.advance(&pose), Motion::ANY, "no previous pose");
            let mut items: Vec<(Margin, Motion, Deadline)> = Vec::new();
            for _ in 0..50 {
                let before = (pose, motion_tracker.total.clone());
                pose = step(&mut rng) * pose;
                let whole = motion_tracker.advance(&pose);
                let total = motion_tracker.total();
                for (i, (center, radius)) in (1_u8..).zip(&motion_tracker.regions) {
                    let displacement = total.of(i).displacement - before.1.of(i).displacement;
                    for _ in 0..8 {
                        let v = vector(&mut rng, 1.0);
                        let p = center + v * (radius / v.norm());
                        let moved = (pose * p - before.0 * p).norm();
                        assert!(moved <= displacement + 1e-13, "{moved} {displacement}");
                        assert!(
                            displacement < moved + 2.0 * radius * whole.rotation + 1e-11,
                            "{moved} {displacement}"
                        );
                    }
                    assert!(displacement <= whole.displacement + 1e-12, "{displacement} {whole:?}");
                }
                for (margin, expiry, Deadline { component, at }) in &items {
                    let expired = !total.of(margin.channel).is_within(*expiry);
                    let component = usize::from(*component);
                    let is_due = total.accumulated()[component] >= *at;
                    let is_of_both =
                        margin.motion.displacement.is_finite() && margin.motion.rotation.is_finite();
                    assert!(expired == is_due || is_of_both && is_due, "{expiry:?} {at}");
                    saved += usize::from(!expired && total.accumulated()[component % COMPONENTS] >= *at);
                }
                let channel = rng.random_range(0..4);
                let [displacement, rotation] = [rng.random_range(0.0..1.0), rng.random_range(0.0..0.1)];
                let (displacement, rotation) =
                    [(displacement, f64::INFINITY), (f64::INFINITY, rotation), (displacement, rotation)]
                        [rng.random_range(0..3)];
                let margin = Motion { displacement, rotation }.by(channel);
                items.push((margin, total.of(channel).plus(margin.motion), total.due(margin)));
            }
        }
        assert!(saved > 100, "regions outlast the whole body: {saved}");
        let not_finite = Pose::translation(f64::NAN, 0.0, 0.0);
        let mut motion_tracker =
            MotionTracker { last: Some(not_finite), ..motion_tracker(vec![], [vec![], vec![]], 1.0) };
        assert_eq!(motion_tracker.advance(&Pose::identity()), Motion::ANY, "a pose that is not finite");
        assert!(motion_tracker.total.of(0).rotation < 1e-12, "an unbounded motion is not accumulated");
    }

    /// The distance from a feature of revolution about an axis, of A or of B, changes by at most the
    /// displacement in the channel of the axis, and its direction by at most the rotation there, even if
    /// the feature's own axis deviates a little. Rotations about the axis alone do not count.
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
            // Within the radius of the axis, tube included.
            let frame =
                Frame::from_z(origin, if k % 3 == 0 { -own } else { own }, None).expect("a direction");
            let sigma = rng.random_range(-0.5..0.5);
            let ring = Primitive::Circle { frame, radius: rng.random_range(0.5..1.5), sigma };
            let mut pose = Pose::new(vector(&mut rng, 1.0), vector(&mut rng, 1.0));
            let of_b = k % 5 < 3;
            let mut motion_tracker =
                motion_tracker(vec![], if of_b { [vec![axis], vec![]] } else { [vec![], vec![axis]] }, 1.0);
            let outside = P3::from(vector(&mut rng, 10.0));
            // The ring's distance and direction as seen from the other solid.
            let seen = |pose: &Pose| {
                let view = if of_b { *pose } else { pose.inverse() };
                (signed_distance(&ring.transformed(&view), &outside).map(|d| d.value), view * frame.z)
            };
            motion_tracker.advance(&pose);
            let before = seen(&pose);
            let by = step(&mut rng);
            let spin = Pose::rotation(direction * rng.random_range(-0.1..0.1));
            let about = Pose::from(center.coords) * spin * Pose::from(-center.coords);
            pose = match (k % 7 == 0, of_b) {
                (true, true) => pose * about,
                (true, false) => about * pose,
                (false, _) => by * pose,
            };
            let whole = motion_tracker.advance(&pose);
            let after = seen(&pose);
            let moved = motion_tracker.total().of(1);
            let rotated = (after.1 - before.1).norm();
            assert!(rotated <= moved.rotation, "{rotated} {moved:?}");
            let (Some(before), Some(after)) = (before.0, after.0) else { continue };
            let displacement = (after - before).abs();
            assert!(displacement <= moved.displacement, "{displacement} {moved:?} in step {k}");
            assert!(moved.rotation <= whole.rotation * (1.0 + 1e-12), "{moved:?} {whole:?}");
            if k % 7 == 0 {
                slow += 1;
                assert!(moved.displacement <= 10.0 * off * whole.rotation + 1e-12, "{moved:?} {whole:?}");
            }
        }
        assert!(slow > 1000, "{slow}");
    }
}
