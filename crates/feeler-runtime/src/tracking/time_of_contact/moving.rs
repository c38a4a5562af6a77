//! Motion of B in the frame of A, with bounds of the change of its velocity.
//!
//! The relative pose is a product of the motions of several joints, exp(τ ξ₁) … exp(τ ξₖ) · pose. The field
//! ξ₁ is constant in the frame of A, and ξₖ in that of B; the fields in between change at most as fast as
//! their Lie brackets, which are bounded for the duration of a piece of the path. Since the distance of a
//! minimum changes at the rate n · v, the first joints can be seen from A and the others from B
//! ([`MotionSplit`]).

use super::path::Path;
use crate::body::Body;
use crate::body::coordinates::farthest_corner;
use crate::body::side::Which;
use feeler_geom::{P3, Pose, Twist, V3};

/// Motion of B in the frame of A at one time, with bounds for a duration after it. The unit of time is
/// that of the paths.
#[derive(Clone, Debug)]
pub(crate) struct Moving {
    /// Pose of B in the frame of A at this time.
    pub pose_ab: Pose,
    /// Velocity field of B relative to A, in the frame of A.
    pub in_a: Twist,
    /// Velocity field of B relative to A, in the frame of B.
    pub in_b: Twist,
    /// Upper bound of the rate of change (mm per squared unit of time) of the velocity field `in_a` at
    /// points of A, and of `in_b` at points of B.
    pub change: f64,
    /// The joints between the solids, divided into those seen from A and those seen from B in each possible
    /// way: the first division has none seen from A, the last one none seen from B.
    pub splits: Vec<MotionSplit>,
    /// Upper bound of the speed (mm per unit of time) of points of B relative to A.
    pub speed: f64,
    /// Upper bound of the acceleration (mm per squared unit of time) of points of B in the frame of A.
    pub acceleration: f64,
    /// Upper bound of the angular velocity (rad per unit of time) of B relative to A.
    pub rotation: f64,
    /// Upper bound of the rate of change (rad per squared unit of time) of the angular velocity.
    pub angular_change: f64,
    /// Fields of the joints in the frame of A, the first one next to A, and in the frame of B, the first one
    /// next to B.
    pub twists: [Vec<Twist>; 2],
    /// Duration, from this time on, for which the bounds are valid.
    pub lasts: f64,
}

/// Division of the joints between two solids into those seen from A and those seen from B. The velocity of B
/// relative to A is the sum of both fields. A minimum with the normal n and the footpoints p and q has
/// n · F(p) = n · F(q) for every field F, since q − p is parallel to n. The rate of its distance is therefore
/// bounded by that of the first field at the area of A, plus that of the second field at the area of B.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MotionSplit {
    /// Sum of the fields of the first joints, in the frame of A.
    pub in_a: Twist,
    /// Sum of the fields of the other joints, in the frame of B.
    pub in_b: Twist,
    /// Upper bound of the rate of change (mm per squared unit of time) of the first field at points of A plus
    /// that of the second one at points of B.
    pub change: f64,
}

impl Moving {
    /// Motion at the time `time`, with bounds that are valid until the current piece of a path ends, but
    /// at most until the time `end`.
    pub(crate) fn at(
        (a, path_a): (&Body, &Path),
        (b, path_b): (&Body, &Path),
        (time, end): (f64, f64),
    ) -> Self {
        let (of_a, of_b) = (path_a.state(time), path_b.state(time));
        let to_a = of_a.pose.inverse();
        let pose_ab = of_a.pose.inv_mul(&of_b.pose);
        let lasts = (of_a.until.min(of_b.until).min(end) - time).max(0.0);
        // Joints that move both solids cause no relative motion.
        let shared = of_a.twists.iter().zip(&of_b.twists).take_while(|(x, y)| x == y).count();
        let back = of_a.twists[shared..].iter().rev().map(|t| -*t);
        let twists: Vec<Twist> =
            back.chain(of_b.twists[shared..].iter().copied()).map(|t| t.moved(&to_a)).collect();
        let to_b = pose_ab.inverse();
        let backwards: Vec<Twist> = twists.iter().rev().map(|t| t.moved(&to_b)).collect();
        let k = twists.len();
        let (far_a, far_b) = (farthest_point(a), farthest_point(b));
        let (seen_from_a, seen_from_b) =
            (partial_fields(&twists, far_a, lasts), partial_fields(&backwards, far_b, lasts));
        let split = |i: usize| MotionSplit {
            in_a: seen_from_a[i].0,
            in_b: seen_from_b[k - i].0,
            change: seen_from_a[i].1 + seen_from_b[k - i].1,
        };
        let splits: Vec<MotionSplit> = (0..=k).map(split).collect();
        let (in_a, in_b) = (splits[k].in_a, splits[0].in_b);
        let change = splits[k].change.max(splits[0].change);
        let rotation = twists.iter().map(|t| t.w.norm()).sum::<f64>();
        let speed = speeds(&backwards, far_b, lasts).iter().sum::<f64>();
        let acceleration = splits[0].change + rotation * speed;
        let angular_change = (0..k).map(|i| rate_of_change(&twists[..i], &twists[i], lasts).w).sum();
        Self {
            pose_ab,
            in_a,
            in_b,
            change,
            splits,
            speed,
            acceleration,
            rotation,
            angular_change,
            twists: [twists, backwards],
            lasts,
        }
    }

    /// Bound, for the duration `lasts`, of the speed of points up to `reach` (mm) from the origin of the
    /// solid `which` relative to the other one.
    pub(crate) fn speed_within(&self, which: Which, (reach, lasts): (f64, f64)) -> f64 {
        let twists = &self.twists[which as usize];
        let far = reach + lasts * twists.iter().map(|t| t.v.norm()).sum::<f64>();
        twists.iter().map(|t| t.v.norm() + t.w.norm() * far).sum()
    }

    /// Bound, for the duration `lasts`, of the speed along n of points up to `reach` (mm) from the origin of
    /// the solid `which`, if the unit direction n turns at most at `rate` (rad per unit of time) in its
    /// frame. The bound is 0 for motions in planes orthogonal to n.
    pub(crate) fn speed_along(&self, which: Which, n: &V3, rate: f64, (reach, lasts): (f64, f64)) -> f64 {
        let twists = &self.twists[which as usize];
        let far = reach + lasts * twists.iter().map(|t| t.v.norm()).sum::<f64>();
        let across = |t: &Twist| n.cross(&t.w).norm();
        // The direction n in the frames of the joints.
        let tilt = (lasts * (rate + twists.iter().map(across).sum::<f64>())).min(2.0);
        let along = |t: &Twist| n.dot(&t.v).abs() + across(t) * far;
        twists.iter().map(along).sum::<f64>() + tilt * self.speed_within(which, (reach, lasts))
    }

    /// Speed (mm per unit of time) at which the distance of a critical pair decreases. `p` is the
    /// footpoint on B, `n` the unit direction from A to B, both in A's frame.
    pub(crate) fn closing(&self, p: &P3, n: &V3) -> f64 {
        -n.dot(&self.in_a.at(p))
    }
}

/// Upper bound of the distance (mm) of the points of a body from the origin of its frame.
pub(crate) fn farthest_point(body: &Body) -> f64 {
    farthest_corner(body) + body.deviation()
}

/// Upper bounds of the speed (mm per unit of time) that each twist gives to points that are at first up to
/// `reach` (mm) from the origin. The translations of the preceding twists increase this distance during
/// the time `time`.
fn speeds(twists: &[Twist], reach: f64, time: f64) -> Vec<f64> {
    let mut reach = reach;
    let speed = |t: &Twist| {
        let fastest = t.v.norm() + t.w.norm() * reach;
        // A rotation about the origin does not change the distance from it.
        reach += t.v.norm() * time;
        fastest
    };
    twists.iter().map(speed).collect()
}

/// Sums of the first 0, 1, …, k fields of a chain of k joints, with upper bounds of the rates (mm per squared
/// unit of time) at which the sums change at points up to `reach` (mm) from the origin during the time
/// `time`.
fn partial_fields(twists: &[Twist], reach: f64, time: f64) -> Vec<(Twist, f64)> {
    let mut sums = vec![(Twist::default(), 0.0)];
    for i in 0..twists.len() {
        let (sum, change) = sums[i];
        let Size { v, w } = rate_of_change(&twists[..i], &twists[i], time);
        sums.push((sum + twists[i], change + v + w * reach));
    }
    sums
}

/// Upper bound of a velocity field.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    /// Bound of the velocity at the origin.
    v: f64,
    /// Bound of the angular velocity.
    w: f64,
}

impl Size {
    fn plus(self, other: Self) -> Self {
        Self { v: self.v + other.v, w: self.w + other.w }
    }
}

/// Bound, for the time `time`, of the derivative of a field that is moved by the joints `before`:
/// Ad(exp(τ ξ₁) … exp(τ ξₗ)) η by τ.
fn rate_of_change(before: &[Twist], field: &Twist, time: f64) -> Size {
    let Some((first, rest)) = before.split_first() else { return Size::default() };
    // The first joint sees the field that the others have moved, which differs from η by at most `time` times
    // its own rate.
    let inner = rate_of_change(rest, field, time);
    let Twist { v, w } = first.bracket(field);
    let (first_v, first_w) = (first.v.norm(), first.w.norm());
    let bracket = Size {
        v: v.norm() + time * (first_w * inner.v + first_v * inner.w),
        w: w.norm() + time * first_w * inner.w,
    };
    let Size { v, w } = bracket.plus(inner);
    // The first joint moves the point that is at the origin now.
    Size { v: v + w * first_v * time, w }
}

/// Time T such that a speed of `closing`, which grows at most at the rate `change`, does not exceed
/// `length` / T before T. If this holds for all pairs of areas, a minimum that passes from one pair to
/// another one does not decrease by more than `length` (mm) in this time.
pub(crate) fn closing_time(length: f64, closing: f64, change: f64) -> f64 {
    travel_time(length, closing, 2.0 * change)
}

/// Shortest time in which a motion with the given initial speed and maximum acceleration (at least 0)
/// covers a length above 0; infinite if it never does.
pub(crate) fn travel_time(length: f64, speed: f64, acceleration: f64) -> f64 {
    let root = (speed * speed + 2.0 * acceleration * length).sqrt();
    let sum = speed + root;
    if length == f64::INFINITY || sum <= 0.0 { f64::INFINITY } else { 2.0 * length / sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn point(r: &mut SmallRng, size: f64) -> P3 {
        P3::from(V3::from_fn(|_, _| r.random_range(-size..size)))
    }

    /// A random point up to `reach` from the origin.
    fn point_within(r: &mut SmallRng, reach: f64) -> P3 {
        let p = point(r, 1.0).coords;
        P3::from(p * (reach / p.norm().max(1.0)))
    }

    fn unit(r: &mut SmallRng) -> V3 {
        loop {
            if let Some(n) = point(r, 1.0).coords.try_normalize(0.1) {
                return n;
            }
        }
    }

    /// Random fields of up to four joints. Some share an axis, a plane or a direction, so that they commute.
    fn joints(r: &mut SmallRng) -> Vec<Twist> {
        let (axis, center) = (unit(r), point(r, 5.0));
        let joint = |r: &mut SmallRng| match r.random_range(0..4) {
            0 => Twist { v: point(r, 3.0).coords, w: point(r, 2.0).coords },
            1 => Twist::rotation(&center, axis * r.random_range(-3.0..3.0)),
            2 => Twist::rotation(&point(r, 5.0), axis * r.random_range(-3.0..3.0)),
            _ => Twist::translation(axis.cross(&point(r, 3.0).coords)),
        };
        (0..r.random_range(1..5)).map(|_| joint(r)).collect()
    }

    /// Field of the first joints after the time `time`, in the frame of A.
    fn field_after(twists: &[Twist], time: f64) -> Twist {
        let mut moved = Pose::identity();
        let mut sum = Twist::default();
        for t in twists {
            sum = sum + t.moved(&moved);
            moved *= t.times(time).exp();
        }
        sum
    }

    #[test]
    fn partial_fields_change_at_most_at_their_bounds() {
        let mut r = SmallRng::seed_from_u64(11);
        let (mut largest, mut constant) = (0.0_f64, 0);
        for _ in 0..4000 {
            let twists = joints(&mut r);
            let time = [1e-3, 1e-2, 0.1, 1.0][r.random_range(0..4)];
            let reach = 4.0;
            let fields = partial_fields(&twists, reach, time);
            for (k, (field, change)) in fields.iter().enumerate() {
                let q = point_within(&mut r, reach);
                let tau = time * r.random_range(0.0..1.0);
                let actual = (field_after(&twists[..k], tau).at(&q) - field.at(&q)).norm();
                assert!(actual <= change * tau + 1e-12, "{k}: {actual} {change} {tau} {twists:?}");
                if *change > 1e-9 {
                    largest = largest.max(actual / (change * tau));
                } else {
                    constant += 1;
                }
            }
        }
        // The bounds are reached, and joints that commute have none.
        assert!(largest > 0.9 && constant > 4000, "{largest} {constant}");
    }

    #[test]
    fn speeds_along_a_direction_are_bounded() {
        let mut r = SmallRng::seed_from_u64(12);
        let mut planar = 0;
        for _ in 0..4000 {
            let twists = joints(&mut r);
            let lasts = [1e-3, 1e-2, 0.1, 1.0][r.random_range(0..4)];
            let n = if r.random_bool(0.5) { twists[0].w } else { unit(&mut r) };
            let Some(n) = n.try_normalize(1e-9) else { continue };
            let axis = unit(&mut r);
            let rate = if r.random_bool(0.5) { 0.0 } else { r.random_range(0.0..0.5) };
            let (reach, tau) = (4.0, lasts * r.random_range(0.0..1.0));
            let moving = of_twists(twists, lasts);
            let bound = moving.speed_along(Which::A, &n, rate, (reach, lasts));
            let turned = Twist { v: V3::zeros(), w: axis * (rate * tau) }.exp() * n;
            let q = point_within(&mut r, reach);
            let actual = turned.dot(&field_after(&moving.twists[0], tau).at(&q)).abs();
            assert!(actual <= bound + 1e-12, "{actual} {bound} {moving:?}");
            planar += u32::from(bound < 1e-12);
        }
        assert!(planar > 20, "{planar}");
    }

    fn of_twists(twists: Vec<Twist>, lasts: f64) -> Moving {
        let (zero, field) = (Twist::default(), field_after(&twists, 0.0));
        Moving {
            pose_ab: Pose::identity(),
            in_a: field,
            in_b: zero,
            change: 0.0,
            splits: vec![],
            speed: 0.0,
            acceleration: 0.0,
            rotation: 0.0,
            angular_change: 0.0,
            twists: [twists, vec![]],
            lasts,
        }
    }
}
