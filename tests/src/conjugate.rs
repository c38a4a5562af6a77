//! Gears without backlash, racks, and cams with followers: contacts whose footpoints move over both solids.
//!
//! Flanks are splines of degree 5 that follow closed forms within 1e-8 mm. Depths of faulty motions follow
//! from closed forms: a flank of an involute gear that is rotated by an angle is the same flank offset by
//! that angle times the radius of the base circle.

use crate::contact_motions::{ContactMotionCase, Depth, Draw, at, slide, turn};
use crate::part_of;
use crate::passages::Joint;
use crate::profiles::{PlaneJet, Side, prism_over};
use feeler_brep::fixtures::{block, cylinder, prism};
use feeler_brep::source::SolidSource;
use feeler_geom::{P3, Pose, V3, math};
use feeler_import::DEFAULT_FLATNESS;
use nalgebra::{Translation3, UnitQuaternion};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Spur gear with involute flanks, the teeth of half the pitch, without backlash.
#[derive(Clone, Copy, Debug)]
struct Gear {
    module: f64,
    teeth: f64,
    /// Pressure angle (rad).
    angle: f64,
}

fn inv(angle: f64) -> f64 {
    math::tan(angle) - angle
}

impl Gear {
    fn pitch(&self) -> f64 {
        0.5 * self.module * self.teeth
    }

    fn base(&self) -> f64 {
        self.pitch() * math::sin_cos(self.angle).1
    }

    fn tip(&self) -> f64 {
        self.pitch() + self.module
    }

    /// Angle (rad) of the line of action from the base circle to a radius (mm).
    fn roll(&self, radius: f64) -> f64 {
        (radius * radius / (self.base() * self.base()) - 1.0).max(0.0).sqrt()
    }

    /// Lower flank of a tooth on the x axis, the involute of the base circle; the parameter is the roll
    /// angle.
    fn flank(&self, roll: f64) -> PlaneJet {
        let base = self.base();
        let (s, c) = math::sin_cos(roll);
        let involute = PlaneJet {
            p: [base * (c + roll * s), base * (s - roll * c)],
            first: [base * roll * c, base * roll * s],
            second: [base * (c - roll * s), base * (s + roll * c)],
        };
        involute.rotated(-FRAC_PI_2 / self.teeth - inv(self.angle))
    }

    /// A sector with the given teeth (positions in pitches from the x axis, ascending). The flanks begin at
    /// the roll angle `begin`; below them, radial sides lead to the radius `root`.
    fn sector(&self, teeth: &[f64], (begin, root): (f64, f64), height: f64) -> SolidSource {
        let end = self.roll(self.tip());
        let at_root = |p: [f64; 2]| {
            let scale = root / math::hypot(p[0], p[1]);
            [scale * p[0], scale * p[1]]
        };
        let mut sides = vec![];
        for tooth in teeth {
            let lower = |roll: f64| self.flank(roll).rotated(tooth * TAU / self.teeth);
            let upper = |roll: f64| self.flank(roll).mirrored().rotated(tooth * TAU / self.teeth);
            let back = |s: f64| upper(begin + end - s).reversed();
            sides.push(Side::Line(at_root(lower(begin).p)));
            sides.push(Side::Line(lower(begin).p));
            sides.push(Side::through(lower, (begin, end), FLANK_PIECES));
            sides.push(Side::Line(upper(end).p));
            sides.push(Side::through(back, (begin, end), FLANK_PIECES));
            sides.push(Side::Line(at_root(upper(begin).p)));
        }
        sides.push(Side::Line([0.0, 0.0]));
        prism_over(&sides, height)
    }
}

/// Number of pieces of a flank, which follow the involute within 1e-9 mm.
const FLANK_PIECES: u32 = 6;
/// Number of pieces of a cam for a flat follower, which follow its closed form within 1e-8 mm. Cams for
/// rollers have twice as many, because their radius of curvature can be small.
const CAM_PIECES: u32 = 96;

/// Two gears with their axes `distance` apart: the teeth of A face those of B. `phase` is the rotation (rad)
/// of A from the pose in which a tooth is on the line of the axes.
fn meshing(
    draw: &mut Draw,
    gears: [Gear; 2],
    (distance, phase): (f64, f64),
) -> ([SolidSource; 2], [Pose; 2]) {
    let teeth = [[-2.0, -1.0, 0.0, 1.0, 2.0].as_slice(), [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5].as_slice()];
    // Heights of both gears, and of the lower end of B. Ends in one plane are frequent.
    let (height, other) = (draw.length(2.0, 8.0), draw.length(2.0, 8.0));
    let low = draw.range(-0.9, 0.9) * height.min(other);
    let is_level = draw.chance(0.25);
    let (heights, low) = if is_level { ([height; 2], 0.0) } else { ([height, other], low) };
    let solid = |k: usize| {
        let (own, other) = (&gears[k], &gears[1 - k]);
        // The line of action between the axes; the tip of the other gear reaches this roll angle.
        let line = distance * math::sin_cos(own.angle).0 / own.base();
        let begin = line - other.roll(other.tip()) * other.base() / own.base();
        let root = distance - other.tip() - 0.25 * own.module;
        own.sector(teeth[k], (0.9 * begin, root), heights[k])
    };
    let turned = |angle: f64| UnitQuaternion::from_scaled_axis(V3::z() * angle);
    let ratio = gears[0].teeth / gears[1].teeth;
    let start = [
        Pose::from_parts(Translation3::identity(), turned(phase)),
        Pose::from_parts(Translation3::new(distance, 0.0, low), turned(PI - ratio * phase)),
    ];
    ([solid(0), solid(1)], start)
}

fn gear_pair(draw: &mut Draw) -> [Gear; 2] {
    let module = draw.length(0.5, 3.0);
    let angle = draw.range(20.0, 25.0) / 180.0 * PI;
    // Fewer teeth would be undercut.
    [0, 1].map(|_| Gear { module, angle, teeth: draw.range(18.0, 40.0).round() })
}

/// Motion of two gears with the given ratio of their speeds (the correct one times `ratio`), relative to the
/// ground or to the first gear.
fn gear_joints(draw: &mut Draw, gears: &[Gear; 2], turned: f64, ratio: f64) -> [Vec<Joint>; 2] {
    let distance = gears[0].pitch() + gears[1].pitch();
    let far = P3::new(distance, 0.0, 0.0);
    let own = turn(far, V3::z(), -turned * ratio * gears[0].teeth / gears[1].teeth);
    if draw.chance(0.5) {
        [vec![turn(P3::origin(), V3::z(), turned)], vec![own]]
    } else {
        // A carrier moves B around A.
        let carried = turn(P3::origin(), V3::z(), -turned);
        [vec![], vec![carried, own]]
    }
}

/// Case of one of the families of [`crate::contact_motions::FAMILIES`] in this module.
pub(crate) fn case(name: &'static str, draw: &mut Draw) -> Option<ContactMotionCase> {
    let finished = |solids: [SolidSource; 2], start, joints, depth| {
        let parts = solids.map(|s| part_of(&s, DEFAULT_FLATNESS));
        Some(ContactMotionCase { family: name, parts, start, joints, depth })
    };
    match name {
        "gears without backlash" | "gears that lose step" => {
            let gears = gear_pair(draw);
            let pitch = TAU / gears[0].teeth;
            let distance = gears[0].pitch() + gears[1].pitch();
            let phase = draw.range(-0.5, 0.5) * pitch;
            let (solids, start) = meshing(draw, gears, (distance, phase));
            // At least one pair of teeth is in contact during half a pitch.
            let turned = draw.sign() * draw.range(0.05, 0.5) * pitch;
            if name == "gears without backlash" {
                let joints = gear_joints(draw, &gears, turned, 1.0);
                return finished(solids, start, joints, None);
            }
            let error = draw.sign() * math::powf(10.0, draw.range(-5.0, -2.0));
            let joints = gear_joints(draw, &gears, turned, 1.0 + error);
            let lost = gears[0].base() * (turned * error).abs();
            let depth: Depth = Box::new(move |time| lost * time);
            finished(solids, start, joints, Some(depth))
        }
        "gears that approach" => {
            let gears = gear_pair(draw);
            let pitch = TAU / gears[0].teeth;
            let distance = gears[0].pitch() + gears[1].pitch();
            let phase = draw.range(-0.25, 0.25) * pitch;
            let (solids, mut start) = meshing(draw, gears, (distance, phase));
            let (gap, fall) =
                (draw.range(0.0, 0.05) * gears[0].module, draw.range(0.0, 0.1) * gears[0].module);
            start[1] = Pose::translation(gap, 0.0, 0.0) * start[1];
            let turned = draw.sign() * draw.range(0.0, 0.2) * pitch;
            let far = P3::new(distance + gap, 0.0, 0.0);
            let own = turn(far, V3::z(), -turned * gears[0].teeth / gears[1].teeth);
            let joints = [vec![turn(P3::origin(), V3::z(), turned)], vec![slide(-V3::x(), fall), own]];
            let bases = gears[0].base() + gears[1].base();
            let angle = gears[0].angle;
            let depth: Depth = Box::new(move |time| {
                let apart = distance + gap - fall * time;
                bases * (inv(angle) - inv(math::acos(bases / apart)))
            });
            finished(solids, start, joints, Some(depth))
        }
        "pinion on a rack" => {
            let [gear, _] = gear_pair(draw);
            let (pitch, module) = (PI * gear.module, gear.module);
            let height = draw.length(2.0, 8.0);
            let slope = math::tan(gear.angle);
            // The teeth of the rack are below the pitch line y = 0, a space is at x = 0.
            let (half, tip, foot) = (0.25 * pitch, module, -1.25 * module);
            let mut profile = vec![];
            for k in 0..6 {
                let middle = (2.5 - f64::from(k)) * pitch;
                for (x, y) in [(half - slope * foot, foot), (half - slope * tip, tip)] {
                    profile.push([middle + x, y]);
                }
                for (x, y) in [(half - slope * tip, tip), (half - slope * foot, foot)] {
                    profile.push([middle - x, y]);
                }
            }
            profile.push([-4.0 * pitch, foot]);
            profile.push([-4.0 * pitch, foot - 2.0 * module]);
            profile.push([4.0 * pitch, foot - 2.0 * module]);
            profile.push([4.0 * pitch, foot]);
            let rack = prism(&profile, draw.length(2.0, 8.0));
            let radius = gear.pitch();
            let begin = math::tan(gear.angle) - module / (math::sin_cos(gear.angle).0 * gear.base());
            let root = radius - 1.25 * module;
            let pinion = gear.sector(&[-2.0, -1.0, 0.0, 1.0, 2.0], (0.9 * begin, root), height);
            let phase = draw.range(-0.5, 0.5) * TAU / gear.teeth;
            let turned = draw.sign() * draw.range(0.05, 0.5) * TAU / gear.teeth;
            // A tooth of the pinion points down.
            let rotation = UnitQuaternion::from_scaled_axis(V3::z() * (phase - FRAC_PI_2));
            let low = draw.range(-1.0, 1.0);
            let start = [
                at(radius * phase, 0.0, 0.0),
                Pose::from_parts(Translation3::new(0.0, radius, low), rotation),
            ];
            let is_faulty = !draw.chance(0.5);
            let error = if is_faulty { draw.sign() * math::powf(10.0, draw.range(-5.0, -2.0)) } else { 0.0 };
            let way = radius * turned * (1.0 + error);
            let own = turn(P3::new(0.0, radius, 0.0), V3::z(), turned);
            let joints = if draw.chance(0.5) {
                [vec![slide(V3::x(), way)], vec![own]]
            } else {
                [vec![], vec![slide(-V3::x(), way), own]]
            };
            let lost = (gear.base() * turned * error).abs();
            let depth: Depth = Box::new(move |time| lost * time);
            finished([rack, pinion], start, joints, is_faulty.then_some(depth))
        }
        "cam with a flat follower" | "cam with a roller" => Some(cam(name, draw)),
        "cycloidal disc among pins" => Some(crate::cycloidal::case(name, draw)),
        _ => None,
    }
}

/// Point of the curve inside a counter-clockwise curve at a distance from it (mm); `pitch` are a point of
/// that curve and its first three derivatives.
pub(crate) fn parallel_inside([p, q, q1, q2]: [[f64; 2]; 4], distance: f64) -> PlaneJet {
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let outside = |x: [f64; 2]| [x[1], -x[0]];
    let (n, n1, n2) = (outside(q), outside(q1), outside(q2));
    // Derivatives of the inverse of the speed.
    let speed = math::hypot(q[0], q[1]);
    let cube = speed * speed * speed;
    let (i, i1) = (1.0 / speed, -dot(q, q1) / cube);
    let i2 = 3.0 * dot(q, q1) * dot(q, q1) / (cube * speed * speed) - (dot(q1, q1) + dot(q, q2)) / cube;
    let minus = |a: [f64; 2], b: [f64; 2]| [a[0] - distance * b[0], a[1] - distance * b[1]];
    PlaneJet {
        p: minus(p, [n[0] * i, n[1] * i]),
        first: minus(q, [0, 1].map(|k| n1[k] * i + n[k] * i1)),
        second: minus(q1, [0, 1].map(|k| n2[k] * i + 2.0 * n1[k] * i1 + n[k] * i2)),
    }
}

/// Law of a cam: the lift R + e cos(k θ) of the contact at the angle θ from the x axis of the cam.
#[derive(Clone, Copy, Debug)]
struct Law {
    radius: f64,
    lift: f64,
    lobes: f64,
}

impl Law {
    /// Derivative of this order of the lift by the angle.
    fn derivative(&self, angle: f64, order: u32) -> f64 {
        let (s, c) = math::sin_cos(self.lobes * angle);
        let scale = self.lift * math::powi(self.lobes, order.cast_signed());
        match order % 4 {
            0 if order == 0 => self.radius + self.lift * c,
            0 => scale * c,
            1 => -scale * s,
            2 => -scale * c,
            _ => scale * s,
        }
    }

    /// Point of the cam whose support function is the law: its outward normal has the given angle.
    fn supported(&self, angle: f64) -> PlaneJet {
        let [h, h1, h2, h3] = [0, 1, 2, 3].map(|k| self.derivative(angle, k));
        let (s, c) = math::sin_cos(angle);
        let (bend, change) = (h + h2, h1 + h3);
        PlaneJet {
            p: [h * c - h1 * s, h * s + h1 * c],
            first: [-bend * s, bend * c],
            second: [-change * s - bend * c, change * c - bend * s],
        }
    }

    /// Point of the cam inside the pitch curve, whose radius is the law, by the radius of the roller.
    fn offset(&self, angle: f64, roller: f64) -> PlaneJet {
        let [r, r1, r2, r3] = [0, 1, 2, 3].map(|k| self.derivative(angle, k));
        let (s, c) = math::sin_cos(angle);
        let polar = |radial: f64, across: f64| [radial * c - across * s, radial * s + across * c];
        let pitch =
            [polar(r, 0.0), polar(r1, r), polar(r2 - r, 2.0 * r1), polar(r3 - 3.0 * r1, 3.0 * r2 - r)];
        parallel_inside(pitch, roller)
    }
}

/// Joints that move a solid along the y axis by e (cos(rate t + phase) − cos(phase)): three rotations, as
/// in a circle that rolls in one of twice its size.
fn harmonic(lift: f64, rate: f64, phase: f64) -> Vec<Joint> {
    let (s, c) = math::sin_cos(phase);
    let half = 0.5 * lift;
    // i e^(± i phase) in the plane of x and y.
    let a = V3::new(-half * s, half * c, 0.0);
    let b = V3::new(half * s, half * c, 0.0);
    let z = V3::z();
    let origin = P3::origin();
    vec![turn(origin, z, rate), turn(origin + a, z, -2.0 * rate), turn(origin + a + b, z, rate)]
}

/// A cam that turns about the z axis and a follower above it that moves along y, by the law of the cam.
fn cam(name: &'static str, draw: &mut Draw) -> ContactMotionCase {
    let lobes = draw.range(0.5, 3.5).round().max(1.0);
    let radius = draw.length(8.0, 20.0);
    let is_flat = name == "cam with a flat follower";
    // The radius of curvature of convex cams is R + (1 − k²) e cos(k θ).
    let most = if is_flat && lobes > 1.0 { 0.8 * radius / (lobes * lobes - 1.0) } else { 0.3 * radius };
    let law = Law { radius, lift: draw.range(0.05, 1.0) * most.min(0.3 * radius), lobes };
    let roller = draw.length(1.0, 4.0);
    let profile = |angle: f64| if is_flat { law.supported(angle) } else { law.offset(angle, roller) };
    let pieces = if is_flat { CAM_PIECES } else { 2 * CAM_PIECES };
    let sides: Vec<Side> = (0..4)
        .map(|k| {
            let quarter = FRAC_PI_2 * f64::from(k);
            Side::through(profile, (quarter, quarter + FRAC_PI_2), pieces / 4)
        })
        .collect();
    let (height, width) = (draw.length(2.0, 6.0), draw.length(2.0, 6.0));
    let disc = prism_over(&sides, height);
    let start_angle = draw.range(0.0, TAU);
    let spin = draw.sign() * draw.range(0.1, 1.0);
    // The contact is at the angle π/2 − (start + spin t) of the cam.
    let rate = -lobes * spin;
    let correct = lobes * (FRAC_PI_2 - start_angle);
    // A third of the motions each is correct, has an error of phase, and is pushed.
    let (fault, size) = (draw.range(0.0, 3.0), math::powf(10.0, draw.range(-5.0, -2.0)));
    let phase = if (1.0..2.0).contains(&fault) { correct + draw.sign() * size } else { correct };
    let push = if fault >= 2.0 { draw.sign() * size * radius } else { 0.0 };
    let mut joints = harmonic(law.lift, rate, phase);
    joints.push(slide(-V3::y(), push));
    // The follower starts in contact.
    let y = radius + law.lift * math::sin_cos(correct).1;
    let low = draw.range(-0.9, 0.9) * width.min(height);
    let follower = if is_flat {
        let side = law.lift * lobes + 3.0;
        (block([-side, 0.0, 0.0], [side, 4.0, width]), at(0.0, y, low))
    } else {
        (cylinder(roller, width), at(0.0, y, low))
    };
    let rotation = UnitQuaternion::from_scaled_axis(V3::z() * start_angle);
    let start = [Pose::from_parts(Translation3::identity(), rotation), follower.1];
    let depth: Depth = Box::new(move |time| {
        let angle = start_angle + spin * time;
        let lifted = law.lift * (math::sin_cos(rate * time + phase).1 - math::sin_cos(phase).1);
        let position = y + lifted - push * time;
        let direction = FRAC_PI_2 - angle;
        if is_flat {
            return law.derivative(direction, 0) - position;
        }
        // The footpoint of the roller's centre on the pitch curve, in the frame of the cam.
        let (s, c) = math::sin_cos(direction);
        let center = [position * c, position * s];
        let mut foot = direction;
        for _ in 0..30 {
            let [r, r1, r2] = [0, 1, 2].map(|k| law.derivative(foot, k));
            let (s, c) = math::sin_cos(foot);
            let polar = |radial: f64, across: f64| [radial * c - across * s, radial * s + across * c];
            let (p, q, q1) = (polar(r, 0.0), polar(r1, r), polar(r2 - r, 2.0 * r1));
            let d = [p[0] - center[0], p[1] - center[1]];
            let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
            foot -= dot(d, q) / (dot(q, q) + dot(d, q1));
        }
        let (s, c) = math::sin_cos(foot);
        let r = law.derivative(foot, 0);
        let distance = math::hypot(r * c - center[0], r * s - center[1]);
        distance.copysign(law.derivative(direction, 0) - position)
    });
    let parts = [disc, follower.0].map(|s| part_of(&s, DEFAULT_FLATNESS));
    let depth = (fault >= 1.0).then_some(depth);
    ContactMotionCase {
        family: name,
        parts,
        start,
        joints: [vec![turn(P3::origin(), V3::z(), spin)], joints],
        depth,
    }
}
