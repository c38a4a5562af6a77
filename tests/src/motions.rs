//! Contacts of moving solids against closed forms: the guarantees of [`ContactTracker`].
//!
//! Two solids of simple shape are placed near contact (flush, aligned, tangent, nested or in general
//! position, with tilts up to 0.01 rad), are displaced a little, and then move at constant speed. The
//! tracker is updated at every pose with the bound of the motion to the next one, with either solid as A
//! and at a random common pose in the world. The reference computes the signed distance of any point to
//! either solid and has dense samples of their boundaries ([`Shape`]). It has its own integration of mass
//! and inertia, motion of the solids and solution for impulses.
//!
//! Demands on every update:
//!
//! - *open*: the gap of a strict contact or a sample is at least the distance of the solids at the
//!   contact, up to [`ERROR`]: the distances of both footpoints to the other solid, and twice that of
//!   the midpoint, are at most the gap. Near a contact with a negative gap the solids have common
//!   points;
//! - *once*: two contacts with equal footpoints and normals occur only if one of them is a sample.
//!
//! Demands on the last update, if the solids continue, in [`SUBSTEPS`] parts of the step:
//!
//! - *closing*: if the boundaries overlap by more than the error of linear gaps ([`Case::slack`]), the linear
//!   gap of a contact closes, and [`GapPrediction`] reports a negative gap;
//! - *held*: contacts keep linear gaps open as a solver does, in a step that is repeated with a wider
//!   bound until the bound covers it; then the overlap of the solids grows by at most [`Case::slack`].
//!   Exceptions are counted ([`Seen::deeper`]) and limited to [`MAX_DEEPER_SHARE`] of the motions.

use crate::conformal::Fault;
use crate::conformal::shapes::{Shape, cylinder, tube, turned};
use crate::part_of;
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{Body, Contact, ContactKind, ContactTracker, GapPrediction, StepBound, TrackerOptions};
use nalgebra::{Matrix3, Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

/// Maximum rounding error (mm) of a gap.
pub const ERROR: f64 = 1e-6;
/// Maximum fraction of the motions whose overlap is larger than the contacts should allow.
pub const MAX_DEEPER_SHARE: f64 = 0.005;
/// Maximum number of updates, each with a wider bound, until the bound covers a step.
const MAX_UPDATES: u32 = 8;
/// Number of intervals of a step, at whose ends the reference measures.
pub const SUBSTEPS: u32 = 200;
/// Maximum displacement (mm) of a point in a step.
const MAX_DISPLACEMENT: f64 = 1.75;

/// A solid in closed form and as a prepared body.
#[derive(Debug)]
struct Solid {
    shape: Shape,
    body: Arc<Body>,
    /// Points of the boundary in the solid's frame, including corners and sharp circles.
    points: Vec<P3>,
    volume: f64,
    center: P3,
    /// Inverse of the inertia per mass (1/mm²), in the solid's frame.
    softness: Matrix3<f64>,
    /// Largest distance (mm) of a point of the solid from its centre of mass.
    radius: f64,
}

impl Solid {
    fn new(shape: Shape) -> Self {
        let body = part_of(&shape.source(), feeler_import::DEFAULT_FLATNESS).body;
        let mut points = shape.boundary(1.5);
        for [r, z] in shape.rims() {
            points.extend((0..720).map(|k| {
                let (s, c) = math::sin_cos(f64::from(k) * PI / 360.0);
                P3::new(r * c, r * s, z)
            }));
        }
        let (low, high) = points.iter().fold((points[0], points[0]), |(l, h), p| (l.inf(p), h.sup(p)));
        // Sums over the midpoints of 32³ cells: accurate to half a percent.
        let n = 32;
        let cell = (high - low) / f64::from(n);
        let inside: Vec<P3> = (0..n * n * n)
            .map(|k| [k % n, k / n % n, k / n / n].map(|i| f64::from(i) + 0.5))
            .map(|at| low + cell.component_mul(&V3::from(at)))
            .filter(|p| shape.distance(p) < 0.0)
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "the count is in the thousands")]
        let count = inside.len() as f64;
        let center = P3::from(inside.iter().map(|p| p.coords).sum::<V3>() / count);
        let about = |p: &P3| {
            let r = p - center;
            Matrix3::identity() * r.norm_squared() - r * r.transpose()
        };
        let inertia = inside.iter().map(about).sum::<Matrix3<f64>>() / count;
        Self {
            volume: count * cell.product(),
            softness: inertia.try_inverse().expect("solids have inertia"),
            radius: points.iter().map(|p| (p - center).norm()).fold(0.0, f64::max),
            shape,
            body,
            points,
            center,
        }
    }
}

/// Options of the trackers.
const OPTIONS: TrackerOptions = TrackerOptions {
    reach: 0.05,
    max_depth: 1.0,
    max_step: StepBound { rotation: 0.5, displacement: 10.0 },
    gap_error: 1e-3,
    max_contacts: usize::MAX,
    dilations: [0.0; 2],
};

/// The solids of all test cases.
#[derive(Debug)]
pub struct Rig {
    solids: Vec<Solid>,
}

const BOX: usize = 0;
const BLOCK: usize = 1;
const BALL: usize = 2;
const CYLINDER: usize = 3;
const CONE: usize = 4;
const TORUS: usize = 5;
const CUP: usize = 6;
const PIN: usize = 7;
const TUBE: usize = 8;

impl Default for Rig {
    fn default() -> Self {
        let shapes = [
            Shape::Box { half: [20.0, 15.0, 10.0], fillet: 0.0 },
            Shape::Box { half: [8.0, 6.0, 5.0], fillet: 0.0 },
            Shape::Ball(9.5),
            cylinder(10.0, 20.0),
            turned(&[[0.0, 0.0], [12.0, 0.0], [0.0, 30.0]]),
            Shape::Torus { major: 20.0, minor: 5.0 },
            turned(&[[0.0, -20.0], [25.0, -20.0], [25.0, 20.0], [10.0, 20.0], [10.0, -10.0], [0.0, -10.0]]),
            cylinder(9.95, 30.0),
            tube(10.0, 25.0, 20.0),
        ];
        Self { solids: shapes.into_iter().map(Solid::new).collect() }
    }
}

/// Poses and motion of two solids.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the configuration.
    pub name: &'static str,
    /// Indices of the two solids in the rig; the first one is at the origin.
    solids: [usize; 2],
    /// Whether the second solid is A of the tracker.
    is_swapped: bool,
    /// Index of the moving solid, which is the lighter one.
    mover: usize,
    /// Poses of both solids in the world at the last update.
    poses: [Pose; 2],
    /// Displacement (mm) and rotation vector (rad) of the mover in a step, about its centre.
    motion: [V3; 2],
    /// Small displacements (mm, rad) of the mover before the motion begins.
    wobbles: Vec<[V3; 2]>,
}

/// Statistics of the checked motions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Number of checked motions.
    pub cases: u32,
    /// Number of updates.
    pub updates: u32,
    /// Numbers of strict contacts, quasi-minima, samples and extended contacts of all updates.
    pub contacts: [u32; 4],
    /// Number of last steps of motions in which a gap would close.
    pub closing: u32,
    /// Number of steps restricted by contacts at whose end the solids overlap by more than
    /// [`Case::slack`].
    pub deeper: u32,
    /// Largest overlap (mm) beyond [`Case::slack`].
    pub deepest: f64,
    /// Number of steps whose motion is not covered by the bound after `MAX_UPDATES` updates.
    pub uncovered: u32,
}

impl Seen {
    /// Adds the statistics of `other`.
    pub fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.updates += other.updates;
        for (n, m) in self.contacts.iter_mut().zip(other.contacts) {
            *n += m;
        }
        self.closing += other.closing;
        self.deeper += other.deeper;
        self.uncovered += other.uncovered;
        self.deepest = self.deepest.max(other.deepest);
    }
}

fn any(random: &mut SmallRng, size: f64) -> V3 {
    V3::from_fn(|_, _| random.random_range(-1.0..1.0)) * size
}

/// A random number with a uniform logarithm between two powers of ten.
fn scale(random: &mut SmallRng, powers: std::ops::Range<f64>) -> f64 {
    math::powf(10.0, random.random_range(powers))
}

fn turn(w: V3) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(w)
}

impl Rig {
    /// Case number `seed`; `None` if the solids overlap by more than 0.01 mm.
    #[must_use]
    pub fn case(&self, seed: u64) -> Option<Case> {
        let mut random = SmallRng::seed_from_u64(seed);
        let r = &mut random;
        let any_yaw = r.random_range(-PI..PI);
        let yaw = [0.0, FRAC_PI_2, any_yaw][r.random_range(0..3)];
        let (x, y) = (r.random_range(-21.0..21.0), r.random_range(-16.0..16.0));
        // Some offsets are such that sides of the solids are aligned.
        let (x, y) = match r.random_range(0..3) {
            0 => (12.0, 9.0),
            1 => (12.0, y),
            _ => (x, y),
        };
        let up = V3::z() * yaw;
        let lying = turn(up) * turn(V3::x() * FRAC_PI_2);
        let slope = math::atan2(12.0, 30.0);
        let play = r.random_range(0.0..0.05);
        let (sin, cos) = math::sin_cos(any_yaw);
        let beside = [play * cos, play * sin];
        let tilted = turn(any(r, 3.0));
        let high = r.random_range(-9.0..9.0);
        let z = 10.0;
        // Solids, position and rotation of the second solid, which is lowered, and whether it is nested.
        let (name, solids, at, rotation, is_nested) = match r.random_range(0..17) {
            0 => ("ball on box", [BOX, BALL], [x, y, z + 9.5], turn(up), false),
            1 => ("block on box", [BOX, BLOCK], [x, y, z + 5.0], turn(up), false),
            2 => ("box on box", [BOX, BOX], [x, y, z + 10.0], turn(up), false),
            3 => ("block on box, tilted", [BOX, BLOCK], [x, y, z + 5.0], tilted, false),
            4 => ("upright cylinder", [BOX, CYLINDER], [x, y, z + 20.0], turn(up), false),
            5 => ("lying cylinder", [BOX, CYLINDER], [x, y, z + 10.0], lying, false),
            6 => ("upright cone", [BOX, CONE], [x, y, z], turn(up), false),
            7 => ("cone on its tip", [BOX, CONE], [x, y, z + 30.0], turn(V3::x() * PI), false),
            8 => {
                let down = turn(up) * turn(V3::y() * (FRAC_PI_2 + slope));
                ("lying cone", [BOX, CONE], [x, y, z + 12.0 * math::cos(slope)], down, false)
            }
            9 => ("flat ring", [BOX, TORUS], [x, y, z + 5.0], turn(up), false),
            10 => ("upright ring", [BOX, TORUS], [x, y, z + 25.0], lying, false),
            11 => ("pin on its bottom", [CUP, PIN], [beside[0], beside[1], 20.0], turn(up), true),
            12 => ("pin in a bore", [TUBE, PIN], [beside[0], beside[1], high], turn(up), true),
            13 => {
                ("ball in a bore", [CUP, BALL], [10.0 * beside[0], 10.0 * beside[1], -0.5], turn(up), false)
            }
            14 => ("ball on ball", [BALL, BALL], [0.2 * x, 0.2 * y, 19.0], turn(up), false),
            15 => ("cylinder on cylinder", [CYLINDER, CYLINDER], [0.2 * x, 0.0, 20.0], lying, false),
            _ => ("ball on a ring", [TORUS, BALL], [0.5 * x, 0.5 * y, 14.0], turn(up), false),
        };
        let mut poses = [Pose::identity(), Pose::from_parts(Translation3::from(at), rotation)];
        if name == "cylinder on cylinder" {
            poses[0] = Pose::from_parts(Translation3::identity(), turn(V3::x() * FRAC_PI_2));
        }
        let moved = &self.solids[solids[1]];
        if r.random_bool(0.7) {
            let max_power = if is_nested { -3.0 } else { -1.7 };
            let tilt = any(r, 1.0) * scale(r, -6.0..max_power);
            poses[1] = displaced(&poses[1], &moved.center, &[V3::zeros(), tilt], 1.0);
        }
        // Lower the second solid to a small gap.
        let gap = if r.random_bool(0.2) { 0.0 } else { scale(r, -5.0..-0.4) };
        let at_height = |h: f64| Translation3::new(0.0, 0.0, h) * poses[1];
        if name == "pin on its bottom" {
            poses[1] = at_height(gap);
        } else if !is_nested {
            let mut h = 0.0;
            for _ in 0..12 {
                h += gap - self.smallest(solids, &[poses[0], at_height(h)]);
            }
            poses[1] = at_height(h);
        }
        if self.smallest(solids, &poses) < -0.01 {
            return None;
        }
        let mover = usize::from(self.solids[solids[1]].volume <= self.solids[solids[0]].volume);
        let down = if mover == 1 { -V3::z() } else { V3::z() };
        let radius = self.solids[solids[mover]].radius;
        let speed = scale(r, -3.5..-0.3);
        let mut motion = match r.random_range(0..5) {
            0 => [down * speed, V3::zeros()],
            1 => [any(r, 1.0) * speed, V3::zeros()],
            2 => [V3::zeros(), any(r, speed / radius)],
            // Rolling.
            3 => {
                let along = any(r, speed).component_mul(&V3::new(1.0, 1.0, 0.0));
                [along, down.cross(&along) / -9.5]
            }
            _ => [down * speed + any(r, 0.3 * speed), any(r, speed / radius)],
        };
        if is_nested {
            motion[1] *= 0.1;
        }
        let size = solids.map(|k| self.solids[k].body.size()).into_iter().fold(f64::INFINITY, f64::min);
        let fast = (motion[0].norm() + motion[1].norm() * size) / MAX_DISPLACEMENT;
        motion = motion.map(|v| v / fast.max(1.0));
        let size = scale(r, -5.0..-1.5);
        let wobbles = (0..3).map(|_| [any(r, size), any(r, size / radius)]).collect();
        Some(Case { name, solids, is_swapped: r.random_bool(0.5), mover, poses, motion, wobbles })
    }

    /// Smallest signed distance (mm) from a boundary point of either solid to the other solid.
    fn smallest(&self, solids: [usize; 2], poses: &[Pose; 2]) -> f64 {
        let ab = poses[0].inv_mul(&poses[1]);
        let [a, b] = solids.map(|s| &self.solids[s]);
        let of_b = b.points.iter().map(|p| a.shape.distance(&(ab * p)));
        let of_a = a.points.iter().map(|p| b.shape.distance(&ab.inverse_transform_point(p)));
        of_b.chain(of_a).fold(f64::INFINITY, f64::min)
    }

    /// Checks a case; returns the violated demands and the statistics of the case.
    #[must_use]
    pub fn check(&self, case: &Case) -> (Vec<Fault>, Seen) {
        let mut faults = Vec::new();
        let mut seen = Seen { cases: 1, ..Seen::default() };
        let [a, b] = if case.is_swapped { [1, 0] } else { [0, 1] };
        let bodies = [a, b].map(|k| self.solids[case.solids[k]].body.clone());
        let [body_a, body_b] = bodies;
        let mut tracker = ContactTracker::new(body_a, body_b, OPTIONS);
        let mut world = SmallRng::seed_from_u64(7);
        let center = &self.solids[case.solids[case.mover]].center;
        let place = |motion: &[V3; 2], from: &[Pose; 2], s: f64| {
            let mut poses = *from;
            poses[case.mover] = displaced(&poses[case.mover], center, motion, s);
            poses
        };
        let before = place(&case.motion, &case.poses, -1.0);
        let mut path: Vec<[Pose; 2]> = case.wobbles.iter().map(|w| place(w, &before, 1.0)).collect();
        path.extend([before, case.poses, place(&case.motion, &case.poses, 1.0)]);
        let relative = |poses: &[Pose; 2]| poses[a].inv_mul(&poses[b]);
        let bound_of = |tracker: &ContactTracker, from: &[Pose; 2], to: &[Pose; 2]| {
            let bodies = tracker.bodies().map(|body| body.as_ref());
            // Add the rounding of the poses in the world.
            let motion = StepBound::of_motion(bodies, &relative(from), &relative(to));
            StepBound { rotation: motion.rotation + 1e-9, displacement: motion.displacement + 1e-9 }
        };
        for (poses, next) in path.iter().zip(&path[1..]) {
            let common = Pose::new(any(&mut world, 100.0), any(&mut world, 3.0));
            let [pose_a, pose_b] = [a, b].map(|k| common * poses[k]);
            let bound = bound_of(&tracker, poses, next);
            if let Err(e) = tracker.update(&pose_a, &pose_b, bound) {
                faults.push(Fault { demand: "update", text: e.to_string() });
                return (faults, seen);
            }
            seen.updates += 1;
            let update = Update { rig: self, case, poses, tracker: &tracker };
            update.open(&mut faults, &mut seen);
            update.once(&mut faults);
        }
        let update = Update { rig: self, case, poses: &case.poses, tracker: &tracker };
        update.closing(&relative(&before), &mut faults, &mut seen);
        // The step is repeated with a wider bound until the bound covers it.
        for k in 1.. {
            let held = Update { rig: self, case, poses: &case.poses, tracker: &tracker }.held();
            let made = bound_of(&tracker, &case.poses, &place(&held, &case.poses, 1.0));
            let Some(bound) = tracker.bound() else { break };
            if bound.contains(&made) {
                let update = Update { rig: self, case, poses: &case.poses, tracker: &tracker };
                update.overlap(&held, &bound, &mut seen);
                break;
            }
            let [pose_a, pose_b] = [a, b].map(|k| case.poses[k]);
            if k == MAX_UPDATES || tracker.update(&pose_a, &pose_b, bound.max(&made.times(1.1))).is_err() {
                seen.uncovered += 1;
                break;
            }
        }
        (faults, seen)
    }
}

/// Pose after the fraction `part` of a displacement (mm) and a rotation (rad) about a point of the
/// solid.
fn displaced(pose: &Pose, center: &P3, [shift, spin]: &[V3; 2], part: f64) -> Pose {
    let c = (pose * center).coords;
    let about = Translation3::from(c + shift * part) * turn(spin * part) * Translation3::from(-c);
    about * pose
}

impl Case {
    /// Maximum error (mm) of linear gaps in a step within a bound, for a solid of the given radius (mm):
    /// the accepted error and terms of second order.
    #[must_use]
    pub fn slack(&self, bound: &StepBound, radius: f64) -> f64 {
        let StepBound { rotation, displacement } = *bound;
        let accepted = OPTIONS.gap_error.max(0.01 * displacement);
        2.0 * accepted + rotation * displacement + 0.5 * rotation * rotation * radius + ERROR
    }
}

/// State of the tracker after an update.
#[derive(Debug)]
struct Update<'a> {
    rig: &'a Rig,
    case: &'a Case,
    poses: &'a [Pose; 2],
    tracker: &'a ContactTracker,
}

impl Update<'_> {
    /// Indices of the solids that are A and B of the tracker.
    fn sides(&self) -> [usize; 2] {
        if self.case.is_swapped { [1, 0] } else { [0, 1] }
    }

    fn solid(&self, k: usize) -> &Solid {
        &self.rig.solids[self.case.solids[k]]
    }

    /// Footpoints and normal of a contact in the world.
    fn placed(&self, c: &Contact) -> (P3, P3, V3) {
        let [a, b] = self.sides().map(|k| &self.poses[k]);
        (a * c.local_a, b * c.local_b, a * c.local_normal)
    }

    fn distance(&self, k: usize, p: &P3) -> f64 {
        self.solid(k).shape.distance(&self.poses[k].inverse_transform_point(p))
    }

    fn open(&self, faults: &mut Vec<Fault>, seen: &mut Seen) {
        let [a, b] = self.sides();
        let mut random = SmallRng::seed_from_u64(3);
        for c in self.tracker.contacts() {
            let (p_a, p_b, _) = self.placed(c);
            let kind = match c.kind {
                ContactKind::Strict | ContactKind::Conformal => 0,
                ContactKind::Quasi => 1,
                ContactKind::Sample => 2,
                ContactKind::Extended => 3,
            };
            seen.contacts[kind] += 1;
            let is_distance = c.kind.is_minimum() || c.kind == ContactKind::Sample;
            if !is_distance && c.gap > -ERROR {
                // The gap is the distance along the normal, which is less than the distance of the
                // footpoints.
                continue;
            }
            let middle = nalgebra::center(&p_a, &p_b);
            let depth = |p: &P3| self.distance(a, p).max(self.distance(b, p));
            let truth = self.distance(a, &p_b).min(self.distance(b, &p_a)).min(2.0 * depth(&middle));
            // If edges penetrate each other, neither footpoint is in the other solid.
            let mut beside = (0..2_000).map(|_| middle + any(&mut random, 2.0 * c.gap.abs()));
            let is_open = truth > c.gap + ERROR && self.nearest(&p_b) > c.gap.max(0.0) + ERROR;
            if is_open && (c.gap > -ERROR || beside.all(|p| depth(&p) >= 0.0)) {
                faults.push(Fault {
                    demand: "open",
                    text: format!("the distance is {truth} mm, larger than the gap: {c:?}"),
                });
            }
        }
    }

    /// Local minimum of the distance (mm) between both solids, by moving a point from `from` onto each
    /// of them in turn.
    fn nearest(&self, from: &P3) -> f64 {
        let (mut p, mut distance) = (*from, f64::INFINITY);
        for k in 0..400 {
            let d = self.distance(k % 2, &p);
            let by = |v: V3| self.distance(k % 2, &(p + v)) - self.distance(k % 2, &(p - v));
            let away = V3::from_fn(|i, _| by(V3::ith(i, 1e-6)));
            distance = d.min(distance);
            p -= away.try_normalize(0.0).unwrap_or_default() * d.max(0.0);
        }
        distance
    }

    fn once(&self, faults: &mut Vec<Fault>) {
        let contacts = self.tracker.contacts();
        for (k, c) in contacts.iter().enumerate() {
            for d in &contacts[..k] {
                let apart = (c.local_a - d.local_a).norm().max((c.local_b - d.local_b).norm());
                // A sample at fixed parameters may be at a minimum.
                let is_sample = [c, d].iter().any(|c| c.kind == ContactKind::Sample);
                if !is_sample && apart < 1e-4 && (c.local_normal - d.local_normal).norm() < 1e-3 {
                    faults.push(Fault { demand: "once", text: format!("reported twice: {c:?} and {d:?}") });
                }
            }
        }
    }

    /// Change (mm) of a contact's gap by a displacement of the mover, to first order.
    fn rate(&self, c: &Contact, [shift, spin]: &[V3; 2]) -> f64 {
        let (p_a, p_b, n) = self.placed(c);
        let is_b = self.sides()[1] == self.case.mover;
        let (p, n) = if is_b { (p_b, n) } else { (p_a, -n) };
        n.dot(&(shift + spin.cross(&(p - self.center()))))
    }

    fn center(&self) -> P3 {
        self.poses[self.case.mover] * self.solid(self.case.mover).center
    }

    /// Function of the smallest distance (mm) between the boundaries after a fraction of a motion whose
    /// points move by at most `farthest` (mm).
    fn overlaps(&self, farthest: f64) -> impl Fn(&[V3; 2], f64) -> f64 {
        let mover = self.solid(self.case.mover);
        // All points that can reach the other solid.
        let near: Vec<(usize, P3)> = [0, 1]
            .into_iter()
            .flat_map(|k| self.solid(k).points.iter().map(move |p| (k, *p)))
            .filter(|(k, p)| self.distance(1 - k, &(self.poses[*k] * p)) < 2.0 * farthest + 1e-3)
            .collect();
        move |motion: &[V3; 2], s: f64| {
            let mut poses = *self.poses;
            let k = self.case.mover;
            poses[k] = displaced(&poses[k], &mover.center, motion, s);
            let of = |(k, p): &(usize, P3)| {
                let p = poses[1 - k].inverse_transform_point(&(poses[*k] * p));
                self.solid(1 - k).shape.distance(&p)
            };
            near.iter().map(of).fold(f64::INFINITY, f64::min)
        }
    }

    /// Largest displacement (mm) of a point of the mover.
    fn farthest(&self, [shift, spin]: &[V3; 2]) -> f64 {
        shift.norm() + spin.norm() * self.solid(self.case.mover).radius
    }

    fn closing(&self, before: &Pose, faults: &mut Vec<Fault>, seen: &mut Seen) {
        let motion = &self.case.motion;
        let Some(bound) = self.tracker.bound() else { return };
        let slack = self.case.slack(&bound, self.solid(self.case.mover).radius);
        let smallest = self.overlaps(self.farthest(motion));
        let now = smallest(motion, 0.0);
        let parts = (1..=SUBSTEPS).map(|k| f64::from(k) / f64::from(SUBSTEPS));
        let deepest = parts.map(|s| (smallest(motion, s), s)).min_by(|p, q| p.0.total_cmp(&q.0));
        let Some((gap, s)) = deepest else { return };
        if gap < now.min(0.0) - slack {
            seen.closing += 1;
            let mut prediction = GapPrediction::default();
            let ahead = prediction.gaps(self.tracker, [Some(before), None], true);
            let contacts = self.tracker.contacts();
            let is_closing = contacts.iter().any(|c| c.gap + s * self.rate(c, motion) < 0.0);
            // The prediction refers to the end of the step.
            let is_closed = smallest(motion, 1.0) < now.min(0.0) - slack;
            if !is_closing || (is_closed && !ahead.iter().any(|gap| *gap < 0.0)) {
                let text = format!(
                    "gap {gap} mm after {s} steps, {now} mm before, slack {slack} mm: {ahead:?} {contacts:?}"
                );
                faults.push(Fault { demand: "closing", text });
            }
        }
    }

    /// Measures the overlap at the end of the motion `held`, which obeys the bound and all linear gaps.
    fn overlap(&self, held: &[V3; 2], bound: &StepBound, seen: &mut Seen) {
        let smallest = self.overlaps(self.farthest(held));
        let slack = self.case.slack(bound, self.solid(self.case.mover).radius);
        let deeper = smallest(held, 0.0).min(0.0) - slack - smallest(held, 1.0);
        seen.deepest = seen.deepest.max(deeper);
        seen.deeper += u32::from(deeper > 0.0);
    }

    /// Motion that the contacts allow, computed by sequential impulses that keep open gaps open.
    fn held(&self) -> [V3; 2] {
        let mover = self.solid(self.case.mover);
        let axes = self.poses[self.case.mover].rotation.to_rotation_matrix();
        let softness = axes.matrix() * mover.softness * axes.matrix().transpose();
        let is_b = self.sides()[1] == self.case.mover;
        let push = |c: &Contact| {
            let (p_a, p_b, n) = self.placed(c);
            let (p, n) = if is_b { (p_b, n) } else { (p_a, -n) };
            [n, softness * (p - self.center()).cross(&n)]
        };
        let contacts = self.tracker.contacts();
        let pushes: Vec<[V3; 2]> = contacts.iter().map(push).collect();
        let mut motion = self.case.motion;
        let mut loads = vec![0.0_f64; pushes.len()];
        for _ in 0..2_000 {
            for ((c, push), load) in contacts.iter().zip(&pushes).zip(&mut loads) {
                let gap = c.gap.max(0.0) + self.rate(c, &motion);
                let more = (-gap / self.rate(c, push)).max(-*load);
                *load += more;
                motion[0] += push[0] * more;
                motion[1] += push[1] * more;
            }
        }
        motion
    }
}
