//! Motions in contact whose result follows from closed forms: sliders, hinges, rails, balls, wheels, rings,
//! cams, gears, cycloidal discs.
//!
//! Each motion consists of joints with constant speeds, applied to one or both solids during a unit of time.
//! Either the solids are in contact and never penetrate, or the depth of penetration is a known function of
//! time.

use crate::passages::Joint;
use crate::{Part, model, part_of};
use feeler_brep::fixtures::{
    block, block_with_hole, cylinder, hollow_sphere, hollow_torus, prism, sphere, torus,
};
use feeler_geom::{P3, Pose, V3, math};
use feeler_import::DEFAULT_FLATNESS;
use feeler_runtime::{
    ContactPair, Path, PathPiece, PenetrationOptions, PenetrationOutcome, PenetrationPassage,
    first_penetration,
};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::f64::consts::{FRAC_PI_2, TAU};

/// Names of the families of motions.
pub const FAMILIES: [&str; 27] = [
    "slider",
    "slider against a wall",
    "pin in its bore",
    "pin tilted in its bore",
    "ball in a larger hollow",
    "ball in its hollow",
    "ball against a hollow",
    "ball on a plate",
    "ball into a plate",
    "friction wheels",
    "wheel in a bore",
    "block tipped on its edge",
    "ring on a plate",
    "spline ball on a plate",
    "ball in a tube",
    "block over a groove",
    "block between walls",
    "cam that lifts a plate",
    "cam against a plate",
    "tilted knife into a plate",
    "gears without backlash",
    "gears that lose step",
    "gears that approach",
    "pinion on a rack",
    "cam with a flat follower",
    "cam with a roller",
    "cycloidal disc among pins",
];

/// Depth of penetration (mm) as a function of time; at most 0 before the first penetration.
pub type Depth = Box<dyn Fn(f64) -> f64 + Send + Sync>;

/// A motion of two solids in contact.
pub struct ContactMotionCase {
    /// Name of the family.
    pub family: &'static str,
    /// Solids A and B.
    pub parts: [Part; 2],
    /// Poses of A and B in the world at the start.
    pub start: [Pose; 2],
    /// Joints of A and of B, starting at the ground.
    pub joints: [Vec<Joint>; 2],
    /// Depth of penetration; `None` if the solids never penetrate.
    pub depth: Option<Depth>,
}

impl std::fmt::Debug for ContactMotionCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContactMotionCase").field("family", &self.family).finish_non_exhaustive()
    }
}

/// Random numbers of one motion.
pub(crate) struct Draw(SmallRng);

impl Draw {
    pub(crate) fn range(&mut self, from: f64, to: f64) -> f64 {
        self.0.random_range(from..to)
    }

    /// Rounds a length to a tenth of a millimetre, so that parts touch exactly.
    pub(crate) fn length(&mut self, from: f64, to: f64) -> f64 {
        (10.0 * self.range(from, to)).round() / 10.0
    }

    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.range(0.0, 1.0) < p
    }

    pub(crate) fn sign(&mut self) -> f64 {
        if self.chance(0.5) { 1.0 } else { -1.0 }
    }

    fn direction(&mut self) -> V3 {
        loop {
            let v = V3::from_fn(|_, _| self.range(-1.0, 1.0));
            if v.norm() > 0.1 && v.norm() < 1.0 {
                return v.normalize();
            }
        }
    }
}

pub(crate) fn slide(direction: V3, length: f64) -> Joint {
    Joint { point: P3::origin(), axis: direction, turn: 0.0, shift: length }
}

pub(crate) fn turn(point: P3, axis: V3, angle: f64) -> Joint {
    Joint { point, axis, turn: angle, shift: 0.0 }
}

pub(crate) fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

/// A pose that rotates the y axis into the z axis, so that profiles of prisms are in the plane of x and z.
fn upright() -> Pose {
    let up = UnitQuaternion::from_scaled_axis(V3::x() * FRAC_PI_2);
    Pose::from_parts(Translation3::identity(), up)
}

/// A pose that rotates the z axis into the x axis, so that upright fixtures lie on their side.
fn on_its_side() -> Pose {
    Pose::from_parts(Translation3::identity(), UnitQuaternion::from_scaled_axis(V3::y() * FRAC_PI_2))
}

impl ContactMotionCase {
    /// Motion number `seed` of the family with this index in [`FAMILIES`].
    ///
    /// # Panics
    /// If a solid cannot be built.
    #[must_use]
    pub fn new(family: usize, seed: u64) -> Self {
        let mut draw = Draw(SmallRng::seed_from_u64(seed.wrapping_mul(64) + family as u64));
        let case = Self::in_place(family, &mut draw);
        // Results must not depend on the frame. A quarter of the motions stay aligned with the axes.
        if draw.chance(0.25) {
            return case;
        }
        let turned = UnitQuaternion::from_scaled_axis(draw.direction() * draw.range(0.0, 3.0));
        let frame = Pose::from_parts(Translation3::from(draw.direction() * draw.range(0.0, 100.0)), turned);
        let moved = |j: &Joint| Joint { point: frame * j.point, axis: frame * j.axis, ..*j };
        Self {
            start: case.start.map(|pose| frame * pose),
            joints: case.joints.each_ref().map(|joints| joints.iter().map(moved).collect()),
            ..case
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table of families")]
    fn in_place(family: usize, draw: &mut Draw) -> Self {
        let name = FAMILIES[family];
        if let Some(case) = crate::conjugate::case(name, draw) {
            return case;
        }
        let body = |source| part_of(&source, DEFAULT_FLATNESS);
        let (r, h) = (draw.length(2.0, 12.0), draw.length(3.0, 15.0));
        let plate = |r: f64| body(block([-6.0 * r, -6.0 * r, -3.0], [6.0 * r, 6.0 * r, 0.0]));
        let heading = draw.range(0.0, TAU);
        let (sin, cos) = math::sin_cos(heading);
        let along = V3::new(cos, sin, 0.0);
        let spin = draw.range(-6.0, 6.0);
        let case = |parts, start, joints, depth| Self { family: name, parts, start, joints, depth };
        match name {
            "slider" => {
                // Some blocks slide beyond the end of the plate.
                let b = body(block([-r, -h, 0.0], [r, h, 5.0]));
                let length = draw.range(0.5, 8.0) * r;
                let joints = if draw.chance(0.5) {
                    vec![slide(along, length)]
                } else {
                    vec![slide(along, length), turn(P3::origin(), V3::z(), spin)]
                };
                case([plate(r), b], [at(0.0, 0.0, 0.0), at(0.0, 0.0, 0.0)], [vec![], joints], None)
            }
            "slider against a wall" => {
                let (l, t) = (6.0 * r, draw.length(0.5, 3.0));
                let profile = [[0.0, -4.0], [l + t, -4.0], [l + t, h], [l, h], [l, 0.0], [0.0, 0.0]];
                let a = body(prism(&profile, 40.0));
                let b = body(block([0.0, -10.0, 0.0], [r, 10.0, 5.0]));
                let start = draw.range(0.1, 2.0) * r;
                let (gap, length) = (l - r - start, draw.range(3.5, 5.5) * r);
                let depth: Depth = Box::new(move |time| length * time - gap);
                let poses = [upright(), at(start, -20.0, 0.0)];
                let is_reached = length > gap;
                let joints = [vec![], vec![slide(V3::x(), length)]];
                case([a, b], poses, joints, is_reached.then_some(depth))
            }
            "pin in its bore" => {
                let a = body(block_with_hole(r + 4.0, h, r));
                let b = body(cylinder(r, 2.0 * h));
                let axis = turn(P3::origin(), V3::z(), spin);
                let joint = Joint { shift: draw.range(-1.0, 1.0) * h, ..axis };
                case([a, b], [at(0.0, 0.0, 0.0), at(0.0, 0.0, -0.3 * h)], [vec![], vec![joint]], None)
            }
            "pin tilted in its bore" => {
                let a = body(block_with_hole(r + 4.0, h, r));
                let b = body(cylinder(r, 4.0 * h));
                let angle = draw.range(0.05, 0.2);
                let depth: Depth = Box::new(move |time| {
                    let tilt = angle * time;
                    0.5 * h * math::sin_cos(tilt).0 - r * (1.0 - math::sin_cos(tilt).1)
                });
                let joint = turn(P3::new(0.0, 0.0, 0.5 * h), V3::x(), angle);
                case([a, b], [at(0.0, 0.0, 0.0), at(0.0, 0.0, -1.5 * h)], [vec![], vec![joint]], Some(depth))
            }
            "ball in a larger hollow" | "ball in its hollow" => {
                let hollow = if name == "ball in its hollow" { r } else { r * draw.range(1.02, 3.0) };
                let a = body(hollow_sphere(hollow + 5.0, hollow));
                let b = body(sphere(r));
                let to = draw.direction() * (hollow - r);
                let about = draw.direction();
                let joints = vec![
                    turn(P3::origin(), about, spin),
                    turn(P3::from(to), draw.direction(), draw.range(-6.0, 6.0)),
                ];
                let start = [at(0.0, 0.0, 0.0), Pose::translation(to.x, to.y, to.z)];
                case([a, b], start, [vec![], joints], None)
            }
            "ball against a hollow" => {
                let hollow = r * draw.range(1.1, 3.0);
                let a = body(hollow_sphere(hollow + 5.0, hollow));
                let to = draw.direction() * draw.range(0.0, 1.0) * (hollow - r);
                let (way, length) = (draw.direction(), 2.2 * (hollow - r));
                let depth: Depth = Box::new(move |time| (to + way * (length * time)).norm() + r - hollow);
                let start = [at(0.0, 0.0, 0.0), Pose::translation(to.x, to.y, to.z)];
                case([a, body(sphere(r))], start, [vec![], vec![slide(way, length)]], Some(depth))
            }
            "ball on a plate" => {
                let joints = vec![
                    slide(along, draw.range(0.2, 8.0) * r),
                    turn(P3::new(0.0, 0.0, r), draw.direction(), spin),
                ];
                let start = [at(0.0, 0.0, 0.0), at(0.0, 0.0, r)];
                case([plate(r), body(sphere(r))], start, [vec![], joints], None)
            }
            "ball into a plate" => {
                // From steep to nearly tangential.
                let fall = math::powf(10.0, draw.range(-4.0, 0.0));
                let gap = fall * r * draw.range(0.1, 0.9);
                let way = along * r - V3::z() * (fall * r);
                let depth: Depth = Box::new(move |time| fall * r * time - gap);
                let start = [at(0.0, 0.0, 0.0), at(0.0, 0.0, r + gap)];
                let joint = slide(way.normalize(), way.norm());
                case([plate(r), body(sphere(r))], start, [vec![], vec![joint]], Some(depth))
            }
            "friction wheels" => {
                let (ra, rb) = (r, draw.length(2.0, 12.0));
                let parts = [body(cylinder(ra, h)), body(cylinder(rb, draw.length(3.0, 15.0)))];
                let center = V3::new(ra + rb, 0.0, 0.0);
                let own = turn(P3::from(center), V3::z(), -spin * ra / rb);
                let joints = if draw.chance(0.5) {
                    [vec![turn(P3::origin(), V3::z(), spin)], vec![own]]
                } else {
                    [vec![], vec![turn(P3::origin(), V3::z(), spin), own]]
                };
                let start = [at(0.0, 0.0, 0.0), at(center.x, 0.0, draw.length(-2.0, 2.0))];
                case(parts, start, joints, None)
            }
            "wheel in a bore" => {
                let bore = r * draw.range(1.01, 2.0);
                let a = body(block_with_hole(bore + 4.0, h, bore));
                let b = body(cylinder(r, 2.0 * h));
                let center = P3::new(bore - r, 0.0, -0.4 * h);
                let own = turn(center, V3::z(), -spin * bore / r);
                let joints = vec![turn(P3::origin(), V3::z(), spin), own];
                case([a, b], [at(0.0, 0.0, 0.0), at(center.x, 0.0, center.z)], [vec![], joints], None)
            }
            "block tipped on its edge" => {
                let b = body(block([0.0, -h, 0.0], [r, h, 5.0]));
                // Positive angles about y lower the block.
                let (angle, side) = (draw.range(0.01, 0.2), draw.sign());
                let depth: Depth = Box::new(move |time| r * math::sin_cos(angle * time).0);
                let joint = turn(P3::origin(), V3::y(), angle * side);
                let start = [at(0.0, 0.0, 0.0), at(0.0, 0.0, 0.0)];
                case([plate(r), b], start, [vec![], vec![joint]], (side > 0.0).then_some(depth))
            }
            "ring on a plate" => {
                let tube = draw.length(0.5, 1.5);
                let b = body(torus(r + 2.0, tube));
                let length = draw.range(0.0, 2.0) * r;
                let (start, axis) = if draw.chance(0.5) {
                    (at(0.0, 0.0, tube), V3::z())
                } else {
                    (at(0.0, 0.0, r + 2.0 + tube) * on_its_side(), V3::x())
                };
                let center = P3::from(start.translation.vector);
                let joints = vec![slide(along, length), turn(center, axis, spin)];
                case([plate(r), b], [at(0.0, 0.0, 0.0), start], [vec![], joints], None)
            }
            "ball in a tube" => {
                let major = 3.0 * r;
                let a = body(hollow_torus(major, r + 3.0, r));
                let ball = if draw.chance(0.5) { r } else { r * draw.range(0.3, 0.95) };
                let (sin, cos) = math::sin_cos(draw.range(0.0, TAU));
                let center = V3::new(major + (r - ball) * cos, 0.0, (r - ball) * sin);
                let joints = vec![
                    turn(P3::origin(), V3::z(), spin),
                    turn(P3::from(center), draw.direction(), draw.range(-6.0, 6.0)),
                ];
                let start = [at(0.0, 0.0, 0.0), at(center.x, 0.0, center.z)];
                case([a, body(sphere(ball))], start, [vec![], joints], None)
            }
            "block over a groove" => {
                let (l, g) = (8.0 * r, draw.range(0.1, 0.8) * r);
                let profile = [[-l, -6.0], [l, -6.0], [l, 0.0], [g, 0.0]];
                let groove = [[g, -3.0], [-g, -3.0], [-g, 0.0], [-l, 0.0]];
                let a = body(prism(&[profile, groove].concat(), 40.0));
                let b = body(block([-r, -h, 0.0], [r, h, 5.0]));
                let from = V3::new(-4.0 * r, -20.0, 0.0);
                let mut joints = vec![slide(V3::x(), draw.range(4.0, 8.0) * r)];
                if draw.chance(0.5) {
                    joints.push(turn(P3::from(from), V3::z(), spin));
                }
                case([a, b], [upright(), at(from.x, from.y, from.z)], [vec![], joints], None)
            }
            "block between walls" => {
                let (w, half) = (r + 3.0, h);
                let outside = [[-w, 5.0], [-w, -4.0], [w, -4.0], [w, 5.0]];
                let inside = [[r, 5.0], [r, 0.0], [-r, 0.0], [-r, 5.0]];
                let a = body(prism(&[outside, inside].concat(), 80.0));
                let b = body(block([-r, -half, 0.0], [r, half, 5.0]));
                let start = [upright(), at(0.0, -40.0, 0.0)];
                if draw.chance(0.5) {
                    let joint = slide(V3::y(), draw.sign() * draw.range(1.0, 25.0));
                    return case([a, b], start, [vec![], vec![joint]], None);
                }
                let angle = draw.range(0.05, 0.2);
                let depth: Depth = Box::new(move |time| {
                    let (sin, cos) = math::sin_cos(angle * time);
                    half * sin - r * (1.0 - cos)
                });
                let joint = turn(P3::new(0.0, -40.0, 0.0), V3::z(), draw.sign() * angle);
                case([a, b], start, [vec![], vec![joint]], Some(depth))
            }
            "cam that lifts a plate" => {
                // The plate rests on an eccentric disc, and stays parallel to itself.
                let pivot = P3::from(along * (draw.range(0.1, 0.8) * r));
                let b = body(block([-3.0 * r, r, -2.0], [3.0 * r, r + 4.0, h + 2.0]));
                let cam = turn(pivot, V3::z(), spin);
                let joints = [vec![cam], vec![cam, turn(P3::origin(), V3::z(), -spin)]];
                case([body(cylinder(r, h)), b], [at(0.0, 0.0, 0.0), at(0.0, 0.0, 0.0)], joints, None)
            }
            "cam against a plate" => {
                let pivot = along * (draw.range(0.1, 0.8) * r);
                let gap = draw.range(0.0, 1.5) * pivot.norm();
                let a = body(block([-6.0 * r, 0.0, -2.0], [6.0 * r, 4.0, h + 2.0]));
                let depth: Depth = Box::new(move |time| {
                    let (sin, cos) = math::sin_cos(spin * time);
                    pivot.y - (sin * pivot.x + cos * pivot.y) - gap
                });
                let start = [at(0.0, r + gap, 0.0), at(0.0, 0.0, 0.0)];
                let joint = turn(P3::from(pivot), V3::z(), spin);
                case([a, body(cylinder(r, h))], start, [vec![], vec![joint]], Some(depth))
            }
            "tilted knife into a plate" => {
                let half = draw.range(0.03, 0.3);
                let tilt = draw.sign() * draw.range(0.0, FRAC_PI_2 - half - 0.1);
                let (sin, cos) = math::sin_cos(half);
                let b = body(prism(&[[0.0, 0.0], [r * sin, r * cos], [-r * sin, r * cos]], h));
                let tilted = UnitQuaternion::from_scaled_axis(V3::y() * tilt);
                let gap = draw.range(0.0, 0.5);
                let over = Translation3::new(0.0, 0.5 * h, gap);
                let start = [at(0.0, 0.0, 0.0), Pose::from_parts(over, tilted) * upright()];
                let (fall, way) = (draw.range(0.6, 3.0), draw.range(-1.0, 1.0));
                let depth: Depth = Box::new(move |time| fall * time - gap);
                let joint = slide(V3::new(way, 0.0, -fall), 1.0);
                case([plate(r), b], start, [vec![], vec![joint]], Some(depth))
            }
            _ => {
                let b = model("sphere-nurbs");
                let bounds = b.body.bounds();
                let (center, radius) = (bounds.center(), 0.5 * (bounds.max.x - bounds.min.x));
                let start = Pose::from(V3::new(0.0, 0.0, radius) - center.coords);
                let joints = vec![
                    slide(along, draw.range(0.0, 2.0) * radius),
                    turn(P3::new(0.0, 0.0, radius), draw.direction(), spin),
                ];
                case([plate(radius), b], [at(0.0, 0.0, 0.0), start], [vec![], joints], None)
            }
        }
    }

    /// Pose of B in the frame of A at a time, by the joints one after the other.
    #[must_use]
    pub fn relative_pose(&self, time: f64) -> Pose {
        let placed = |k: usize| {
            let moved = self.joints[k].iter().map(|joint| joint.pose(time));
            moved.fold(Pose::identity(), |all, motion| all * motion) * self.start[k]
        };
        placed(0).inverse() * placed(1)
    }

    /// Computes the first penetration of the motion.
    ///
    /// # Errors
    /// If a path is invalid, or a query fails.
    pub fn run(&self, options: &PenetrationOptions) -> Result<PenetrationPassage, String> {
        let [a, b] = &self.parts;
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        let path = |k: usize| {
            let twists = self.joints[k].iter().map(Joint::twist).collect();
            let piece = PathPiece { pose: self.start[k], twists, duration: 1.0 };
            Path::of_pieces(vec![piece]).map_err(|e| e.to_string())
        };
        first_penetration(&mut pair, &path(0)?, &path(1)?, options).map_err(|e| e.to_string())
    }

    /// Difference between a result and the closed form; `None` if they agree or the result is undecided.
    #[must_use]
    pub fn fault(&self, found: &PenetrationPassage) -> Option<String> {
        let limit = found.limit;
        let is_deep = |time: f64, limit: f64| self.depth.as_ref().is_some_and(|depth| depth(time) > limit);
        let first_deeper =
            |limit: f64| (0..=4000).map(|i| f64::from(i) / 4000.0).find(|t| is_deep(*t, limit));
        match found.outcome {
            PenetrationOutcome::Free => {
                let missed = first_deeper(1.01 * limit)?;
                Some(format!("proven free of penetration, but deeper than the limit at {missed}"))
            }
            PenetrationOutcome::Undecided(until) => {
                let missed = first_deeper(1.01 * limit).filter(|t| *t < until - 1e-9)?;
                Some(format!("proven until {until}, but deeper than the limit at {missed}"))
            }
            PenetrationOutcome::Penetration(p) => {
                let Some(depth) = &self.depth else {
                    let (time, depth, contact) = (p.time, p.depth, p.contact);
                    return Some(format!(
                        "{depth:e} mm deep at {time}, but the solids only touch: {contact:?}"
                    ));
                };
                // A pin tilted in its bore is as deep as stated only to first order.
                let (lo, hi) = (depth(p.time - 1e-9), depth(p.time + 1e-9));
                let agrees = lo <= 1.05 * limit && hi >= 0.95 * limit;
                (!agrees)
                    .then(|| format!("penetration at {}, where the depth is {hi:e}, limit {limit:e}", p.time))
            }
        }
    }
}
