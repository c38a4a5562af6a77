//! Pairs of solids that can touch along a line, a circle or a surface.

use super::shapes::{Corner, Shape, cylinder, tube, turned};
use Effect::{First, Second};
use feeler_geom::{P3, Pose, V3, math};
use nalgebra::{Translation3, UnitQuaternion};
use std::f64::consts::TAU;

/// An axis about which B is tilted.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Name of the axis for reports.
    pub name: &'static str,
    /// Unit direction of the axis.
    pub dir: V3,
    /// Effect of the tilt on the contact.
    pub effect: Effect,
}

/// Change of the distances over the contact when B is tilted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The distances do not change.
    None,
    /// The change is proportional to the tilt.
    First,
    /// The change is proportional to the square of the tilt.
    Second,
}

/// A function of the pose of B.
pub type OfPose<T> = Box<dyn Fn(&Pose) -> T + Send + Sync>;

/// A pair of solids, the tilts of B against A, and the expected contact. Everything is in the frame of A.
pub struct Scenario {
    /// Name of the scenario for reports.
    pub name: &'static str,
    /// The fixed solid.
    pub a: Shape,
    /// The tilted solid.
    pub b: Shape,
    /// Pose of B without tilt, in the frame of A.
    pub base: Pose,
    /// Point about which B is tilted.
    pub pivot: P3,
    /// Axes about which B is tilted.
    pub axes: Vec<Axis>,
    /// Direction in which B is moved until the smallest distance is the gap, and the rate at which the
    /// distance grows; `None` if the gap is the play between nested solids, which a tilt decreases.
    pub settle: Option<(V3, f64)>,
    /// Smallest distance (mm) at a pose of B, computed without the program under test; negative if the
    /// solids overlap.
    pub lowest: OfPose<f64>,
    /// Points of B whose hull contains the whole contact of an untilted B, dense enough to contain the
    /// contact of a tilted one approximately.
    pub overlap: OfPose<Vec<P3>>,
    /// Radius (mm) of the round border of the contact; 0 if the hull of the contact has only corners.
    pub round: f64,
    /// Whether flat faces of B with corners lie on a flat face of A: all their corners stay in contact
    /// if α exceeds the tilt.
    pub polygon: bool,
}

impl std::fmt::Debug for Scenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scenario").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Scenario {
    /// Pose of B that is tilted by `tilt` (rad) about `axis` and moved to the smallest distance `gap`
    /// (mm).
    #[must_use]
    pub fn place(&self, axis: &V3, tilt: f64, gap: f64) -> Pose {
        let turn = UnitQuaternion::from_scaled_axis(axis.normalize() * tilt);
        let about = Translation3::from(self.pivot.coords);
        let mut pose = Pose::from_parts(about, turn)
            * Pose::from_parts(about.inverse(), UnitQuaternion::identity())
            * self.base;
        if let Some((dir, rate)) = self.settle {
            for _ in 0..5 {
                let missing = gap - (self.lowest)(&pose);
                pose =
                    Pose::from_parts(Translation3::from(dir * (missing / rate)), UnitQuaternion::identity())
                        * pose;
            }
        }
        pose
    }
}

fn axis(name: &'static str, dir: V3, effect: Effect) -> Axis {
    Axis { name, dir, effect }
}

/// The three coordinate axes with their effects, and an oblique axis.
fn axes(x: Effect, y: Effect, z: Effect, oblique: Effect) -> Vec<Axis> {
    vec![
        axis("x", V3::x(), x),
        axis("y", V3::y(), y),
        axis("z", V3::z(), z),
        axis("oblique", V3::new(0.6, 0.75, 0.1), oblique),
    ]
}

/// Axes of tilt for contacts that are invariant to rotation about z.
fn upright() -> Vec<Axis> {
    axes(First, First, Effect::None, First)
}

/// All scenarios with the given gap (mm).
#[must_use]
pub fn all(gap: f64) -> Vec<Scenario> {
    vec![
        box_on_plane(gap),
        box_over_a_corner(gap),
        filleted_box_on_plane(gap),
        upright_cylinder(gap),
        lying_cylinder(gap),
        ball_in_race(gap),
        pin_in_bore("long pin in a bore", gap, 5.0, 8.0),
        pin_in_bore("short pin in a bore", gap, 5.0, 3.0),
        pin_in_bore("pin as long as its bore", gap, 5.0, 5.0),
        sphere_in_cone(gap),
        ring_on_shaft(gap),
        torus_on_shaft(gap),
        plug_in_seat("long plug in a conical seat", gap, 3.0, 4.5),
        plug_in_seat("short plug in a conical seat", gap, 3.0, 2.0),
        rolling_cones(gap),
    ]
}

fn plate() -> Shape {
    Shape::Box { half: [20.0, 16.0, 2.0], fillet: 0.0 }
}

/// Height (mm) of the plate's upper face.
const TOP: f64 = 2.0;

fn grid(n: i32) -> impl Iterator<Item = f64> + Clone {
    (0..=n).map(move |i| f64::from(i) / f64::from(n))
}

/// Points of the border of a rectangle at height `z` (mm), including its corners.
fn rectangle([x0, x1]: [f64; 2], [y0, y1]: [f64; 2], z: f64) -> Vec<P3> {
    let mix = |a: f64, b: f64, s: f64| if s < 1.0 { a + (b - a) * s } else { b };
    grid(40)
        .flat_map(|s| {
            let (x, y) = (mix(x0, x1, s), mix(y0, y1, s));
            [P3::new(x, y0, z), P3::new(x, y1, z), P3::new(x0, y, z), P3::new(x1, y, z)]
        })
        .collect()
}

fn circle(radius: f64, z: f64) -> impl Iterator<Item = P3> {
    (0..360).map(move |i| {
        let (s, c) = math::sin_cos(TAU * f64::from(i) / 360.0);
        P3::new(radius * c, radius * s, z)
    })
}

fn moved(points: Vec<P3>) -> OfPose<Vec<P3>> {
    Box::new(move |pose| points.iter().map(|p| pose * p).collect())
}

const SIGNS: [[f64; 3]; 8] = [
    [-1.0, -1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, 1.0, 1.0],
    [1.0, -1.0, -1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, -1.0],
    [1.0, 1.0, 1.0],
];

fn box_on_plane(gap: f64) -> Scenario {
    let half = [4.0, 3.0, 2.5];
    Scenario {
        name: "box on a plane",
        a: plate(),
        b: Shape::Box { half, fillet: 0.0 },
        base: Pose::translation(1.0, -2.0, TOP + half[2] + gap),
        pivot: P3::new(1.0, -2.0, TOP),
        axes: upright(),
        settle: Some((V3::z(), 1.0)),
        lowest: Box::new(move |pose| lowest_corner(pose, half) - TOP),
        overlap: moved(rectangle([-half[0], half[0]], [-half[1], half[1]], -half[2])),
        round: 0.0,
        polygon: true,
    }
}

fn lowest_corner(pose: &Pose, half: [f64; 3]) -> f64 {
    let z = |s: &[f64; 3]| (pose * P3::new(s[0] * half[0], s[1] * half[1], s[2] * half[2])).z;
    SIGNS.iter().map(z).fold(f64::INFINITY, f64::min)
}

/// The border of the plate cuts the overlap. The corners of the overlap are a vertex of each solid and
/// two crossings of their edges.
fn box_over_a_corner(gap: f64) -> Scenario {
    let half = [4.0, 3.0, 2.5];
    let (x, y) = (18.0, 14.5);
    let lowest = move |pose: &Pose| {
        // The bottom of B as a plane, then as two edges.
        let n = pose * -V3::z();
        let corner = pose * P3::new(-half[0], -half[1], -half[2]);
        let plate_corner = P3::new(20.0, 16.0, TOP);
        let mut smallest = (corner.z - TOP).min((corner - plate_corner).dot(&-n));
        for (edge, own) in [(V3::x(), V3::y()), (V3::y(), V3::x())] {
            // The edge of B that crosses over an edge of A.
            let across = (pose * own).cross(&edge).normalize();
            let up = if across.z > 0.0 { across } else { -across };
            smallest = smallest.min((corner - plate_corner).dot(&up));
        }
        smallest
    };
    Scenario {
        name: "box over the corner of a plate",
        a: plate(),
        b: Shape::Box { half, fillet: 0.0 },
        base: Pose::translation(x, y, TOP + half[2] + gap),
        pivot: P3::new(x, y, TOP),
        axes: upright(),
        settle: Some((V3::z(), 1.0)),
        lowest: Box::new(lowest),
        overlap: Box::new(move |pose| {
            // Point of B's bottom above a point of the plate.
            let (n, corner) = (pose * V3::z(), pose * P3::new(-half[0], -half[1], -half[2]));
            let above = |x: f64, y: f64| {
                P3::new(x, y, corner.z - ((x - corner.x) * n.x + (y - corner.y) * n.y) / n.z)
            };
            let along = |own: V3, s: f64| (pose * own) * s;
            // Lengths of B's edges from the corner to the border of the plate.
            let (u, v) = (along(V3::x(), 1.0), along(V3::y(), 1.0));
            let (to_x, to_y) = ((20.0 - corner.x) / u.x, (16.0 - corner.y) / v.y);
            let ends =
                [corner, corner + along(V3::x(), to_x), above(20.0, 16.0), corner + along(V3::y(), to_y)];
            (0..4)
                .flat_map(|k| grid(40).map(move |s| (k, s)))
                .map(|(k, s)| ends[k] + (ends[(k + 1) % 4] - ends[k]) * s)
                .collect()
        }),
        round: 0.0,
        polygon: true,
    }
}

fn filleted_box_on_plane(gap: f64) -> Scenario {
    let (half, fillet) = ([4.0, 3.0, 2.5], 0.5);
    let core = half.map(|h| h - fillet);
    Scenario {
        name: "filleted box on a plane",
        a: plate(),
        b: Shape::Box { half, fillet },
        base: Pose::translation(1.0, -2.0, TOP + half[2] + gap),
        pivot: P3::new(1.0, -2.0, TOP),
        axes: upright(),
        settle: Some((V3::z(), 1.0)),
        lowest: Box::new(move |pose| lowest_corner(pose, core) - fillet - TOP),
        // The lowest points of the corner spheres touch, tilted or not.
        overlap: Box::new(move |pose| {
            let down = V3::z() * -fillet;
            rectangle([-core[0], core[0]], [-core[1], core[1]], -core[2])
                .iter()
                .map(|p| pose * p + down)
                .collect()
        }),
        round: 0.0,
        polygon: true,
    }
}

fn upright_cylinder(gap: f64) -> Scenario {
    let (radius, half) = (3.0, 4.0);
    Scenario {
        name: "cylinder upright on a plane",
        a: plate(),
        b: cylinder(radius, half),
        base: Pose::translation(1.0, -2.0, TOP + half + gap),
        pivot: P3::new(1.0, -2.0, TOP),
        axes: upright(),
        settle: Some((V3::z(), 1.0)),
        lowest: Box::new(move |pose| lowest_of_cylinder(pose, radius, half) - TOP),
        overlap: moved(circle(radius, -half).collect()),
        round: radius,
        polygon: false,
    }
}

fn lowest_of_cylinder(pose: &Pose, radius: f64, half: f64) -> f64 {
    let u = pose * V3::z();
    pose.translation.vector.z - half * u.z.abs() - radius * math::hypot(u.x, u.y)
}

fn lying_cylinder(gap: f64) -> Scenario {
    let (radius, half) = (1.5, 5.0);
    let lay = UnitQuaternion::from_scaled_axis(V3::x() * -std::f64::consts::FRAC_PI_2);
    Scenario {
        name: "cylinder lying on a plane",
        a: plate(),
        b: cylinder(radius, half),
        base: Pose::from_parts(Translation3::new(1.0, -2.0, TOP + radius + gap), lay),
        pivot: P3::new(1.0, -2.0, TOP),
        axes: axes(First, Effect::None, Effect::None, First),
        settle: Some((V3::z(), 1.0)),
        lowest: Box::new(move |pose| lowest_of_cylinder(pose, radius, half) - TOP),
        overlap: Box::new(move |pose| {
            let u = pose * V3::z();
            let down = (u * u.z - V3::z()).normalize() * radius;
            grid(80)
                .map(|s| P3::from(pose.translation.vector + u * (half * (2.0 * s - 1.0)) + down))
                .collect()
        }),
        round: 0.0,
        polygon: false,
    }
}

fn ball_in_race(gap: f64) -> Scenario {
    let (major, minor, cut) = (6.0, 2.0, 1.6);
    let radius = minor - gap;
    let neck = major - (minor * minor - cut * cut).sqrt();
    // Corners around the axis: bottom, outer side, groove.
    let groove = Corner { at: [neck, -cut], around: Some([major, 0.0]) };
    let a = Shape::Revolved(vec![
        Corner { at: [0.0, -cut], around: None },
        groove,
        Corner { at: [neck, cut], around: None },
        Corner { at: [0.0, cut], around: None },
    ]);
    let race = a.clone();
    Scenario {
        name: "ball in a bearing race",
        a,
        b: Shape::Ball(radius),
        base: Pose::translation(major, 0.0, 0.0),
        pivot: P3::origin(),
        axes: axes(Effect::None, First, Effect::None, First),
        settle: None,
        lowest: Box::new(move |pose| race.distance(&P3::from(pose.translation.vector)) - radius),
        overlap: Box::new(move |pose| {
            let center = pose.translation.vector;
            let out = V3::new(center.x, center.y, 0.0).normalize();
            let widest = math::asin(cut / minor);
            grid(80)
                .map(|s| {
                    let (sin, cos) = math::sin_cos(widest * (2.0 * s - 1.0));
                    P3::from(center + (V3::z() * sin - out * cos) * radius)
                })
                .collect()
        }),
        round: radius,
        polygon: false,
    }
}

fn pin_in_bore(name: &'static str, gap: f64, bore: f64, pin: f64) -> Scenario {
    let radius = 2.0;
    let inner = radius - gap;
    let ends = bore.min(pin);
    let lowest = move |pose: &Pose| {
        let u = pose * V3::z();
        let (s, c) = (math::hypot(u.x, u.y), u.z.abs());
        let mut smallest = f64::INFINITY;
        if pin > bore {
            // Rims of the bore against the side of the pin.
            smallest = radius * c - bore * s - inner;
        }
        if pin <= bore {
            smallest = smallest.min(radius - pin * s - inner * c);
        }
        smallest
    };
    Scenario {
        name,
        a: tube(radius, 6.0, bore),
        b: cylinder(inner, pin),
        base: Pose::identity(),
        pivot: P3::origin(),
        axes: upright(),
        settle: None,
        lowest: Box::new(lowest),
        overlap: moved(circle(inner, -ends).chain(circle(inner, ends)).collect()),
        round: radius,
        polygon: false,
    }
}

fn sphere_in_cone(gap: f64) -> Scenario {
    // Wall of the seat: distance from the axis = low + slope · height.
    let (low, slope, height, outer) = (1.0, 0.7, 6.0, 9.0);
    let radius = 2.5;
    let half_angle = math::atan2(slope, 1.0);
    let (sin, cos) = math::sin_cos(half_angle);
    // The distance is linear in the distance of the centre from the axis and in its height.
    let lowest = move |pose: &Pose| {
        let c = pose.translation.vector;
        (low + slope * c.z - math::hypot(c.x, c.y)) * cos - radius
    };
    let z = ((radius + gap) / cos - low) / slope;
    Scenario {
        name: "sphere in a cone",
        a: turned(&[[low, 0.0], [outer, 0.0], [outer, height], [low + slope * height, height]]),
        b: Shape::Ball(radius),
        base: Pose::translation(0.0, 0.0, z),
        pivot: P3::origin(),
        axes: upright(),
        settle: Some((V3::z(), sin)),
        lowest: Box::new(lowest),
        overlap: Box::new(move |pose| {
            let center = P3::from(pose.translation.vector);
            circle(1.0, 0.0).map(|e| center + (e.coords * cos - V3::z() * sin) * radius).collect()
        }),
        round: radius * cos,
        polygon: false,
    }
}

fn ring_on_shaft(gap: f64) -> Scenario {
    let (radius, half, shaft) = (3.0, 1.5, 8.0);
    let inner = radius + gap;
    Scenario {
        name: "ring on a shaft",
        a: cylinder(radius, shaft),
        b: tube(inner, 5.0, half),
        base: Pose::translation(0.0, 0.0, 2.0),
        pivot: P3::new(0.0, 0.0, 2.0),
        axes: upright(),
        settle: None,
        lowest: Box::new(move |pose| {
            let u = pose * V3::z();
            inner * u.z.abs() - half * math::hypot(u.x, u.y) - radius
        }),
        overlap: moved(circle(inner, -half).chain(circle(inner, half)).collect()),
        round: inner,
        polygon: false,
    }
}

fn torus_on_shaft(gap: f64) -> Scenario {
    let (radius, minor, shaft) = (3.0, 0.8, 8.0);
    let major = radius + minor + gap;
    // A profile of four quarter arcs: a torus whose edges are circles.
    let torus = Shape::Revolved(vec![
        Corner { at: [major, -minor], around: Some([major, 0.0]) },
        Corner { at: [major + minor, 0.0], around: Some([major, 0.0]) },
        Corner { at: [major, minor], around: Some([major, 0.0]) },
        Corner { at: [major - minor, 0.0], around: Some([major, 0.0]) },
    ]);
    Scenario {
        name: "torus on a shaft",
        a: cylinder(radius, shaft),
        b: torus,
        base: Pose::translation(0.0, 0.0, 2.0),
        pivot: P3::new(0.0, 0.0, 2.0),
        axes: axes(Second, Second, Effect::None, Second),
        settle: None,
        lowest: Box::new(move |pose| major * (pose * V3::z()).z.abs() - minor - radius),
        overlap: moved(circle(major - minor, 0.0).collect()),
        round: radius,
        polygon: false,
    }
}

/// Minimum of a convex function over an interval, and its argument, by golden section.
fn golden_section(f: &impl Fn(f64) -> f64, (mut a, mut b): (f64, f64)) -> (f64, f64) {
    let golden = 0.618_033_988_749_894_9;
    for _ in 0..45 {
        let (x, y) = (b - golden * (b - a), a + golden * (b - a));
        if f(x) < f(y) { b = y } else { a = x }
    }
    let x = 0.5 * (a + b);
    (f(x), x)
}

/// Minimum of a function over an interval, and its argument, by samples and golden sections around the
/// smallest samples.
fn min_around(f: impl Fn(f64) -> f64, (from, to): (f64, f64), samples: i32) -> (f64, f64) {
    let step = (to - from) / f64::from(samples);
    let at = |i: i32| f(from + step * f64::from(i));
    let values: Vec<f64> = (-1..=samples + 1).map(at).collect();
    let mut smallest = (f64::INFINITY, from);
    let lower = |x: (f64, f64), y: (f64, f64)| if y.0 < x.0 { y } else { x };
    for (i, w) in (0..).zip(values.windows(3)) {
        smallest = lower(smallest, (w[1], from + step * f64::from(i)));
        if w[1] <= w[0] && w[1] <= w[2] {
            let (a, b) = (from + step * f64::from(i - 1), from + step * f64::from(i + 1));
            smallest = lower(smallest, golden_section(&f, (a, b)));
        }
    }
    smallest
}

fn plug_in_seat(name: &'static str, gap: f64, seat: f64, plug: f64) -> Scenario {
    let (radius, slope) = (4.0, 0.4);
    let (sin, cos) = math::sin_cos(math::atan2(slope, 1.0));
    let at = move |z: f64| radius + slope * z;
    // Distance of a point from the conical wall that surrounds it.
    let to_wall = move |p: &P3| (at(p.z) - math::hypot(p.x, p.y)) * cos;
    let lowest = move |pose: &Pose| {
        let inverse = pose.inverse();
        let over = |r: f64, z: f64, f: &dyn Fn(&P3) -> f64| {
            let point = |s: f64| {
                let (sin, cos) = math::sin_cos(s);
                f(&P3::new(r * cos, r * sin, z))
            };
            min_around(point, (0.0, TAU), 32).0
        };
        // Rims of the shorter solid against the wall of the longer one.
        [-1.0, 1.0]
            .map(|end| {
                if plug < seat {
                    over(at(end * plug), end * plug, &|p| to_wall(&(pose * p)))
                } else {
                    over(at(end * seat), end * seat, &|p| -to_wall(&(inverse * p)))
                }
            })
            .into_iter()
            .fold(f64::INFINITY, f64::min)
    };
    // The contact in the frame of B.
    let rise = gap / sin;
    let ends = if plug < seat { [-plug, plug] } else { [-seat, seat] };
    let on_plug = if plug < seat { ends } else { ends.map(|z| z - gap / sin + gap * sin) };
    Scenario {
        name,
        a: turned(&[[at(-seat), -seat], [8.0, -seat], [8.0, seat], [at(seat), seat]]),
        b: turned(&[[0.0, -plug], [at(-plug), -plug], [at(plug), plug], [0.0, plug]]),
        base: Pose::translation(0.0, 0.0, rise),
        pivot: P3::origin(),
        axes: upright(),
        settle: Some((V3::z(), sin)),
        lowest: Box::new(lowest),
        overlap: moved(on_plug.iter().flat_map(|z| circle(at(*z), *z)).collect()),
        // The smaller rim has the larger curvature.
        round: at(ends[0]),
        polygon: false,
    }
}

/// Two cones with a common apex touch along a ruling, as bevel gears do.
fn rolling_cones(gap: f64) -> Scenario {
    let [slope_a, slope_b] = [0.5, 0.8];
    let [angle_a, angle_b] = [slope_a, slope_b].map(|s| math::atan2(s, 1.0));
    // Range along the rulings: the whole length of B touches.
    let (near, far) = (4.5, 9.5);
    let cone = |angle: f64, near: f64, far: f64| {
        let (s, c) = math::sin_cos(angle);
        turned(&[[0.0, near * c], [near * s, near * c], [far * s, far * c], [0.0, far * c]])
    };
    let (a, b) = (cone(angle_a, 4.0, 10.0), cone(angle_b, near, far));
    let (sin, cos) = math::sin_cos(angle_a);
    // Ruling of A in the plane of x and z, and its normal.
    let (ruling, normal) = (V3::new(sin, 0.0, cos), V3::new(cos, 0.0, -sin));
    // The axis of B leans to the other side of the ruling; the ruling of B towards -x touches.
    let lean = UnitQuaternion::from_scaled_axis(V3::y() * (angle_a + angle_b));
    let base = Pose::from_parts(Translation3::from(normal * gap), lean);
    let (sin_b, cos_b) = math::sin_cos(angle_b);
    let own_ruling = move |phi: f64| {
        let (s, c) = math::sin_cos(phi);
        V3::new(-sin_b * c, -sin_b * s, cos_b)
    };
    let fixed = a.clone();
    let lowest = move |pose: &Pose| {
        // Distances to a convex solid are convex along a line.
        let along = |phi: f64| {
            let dir = own_ruling(phi);
            let f = |t: f64| fixed.distance(&(pose * P3::from(dir * t)));
            let inner = golden_section(&f, (near, far)).0;
            inner.min(f(near)).min(f(far))
        };
        min_around(along, (-0.3, 0.3), 12).0
    };
    let fixed = a.clone();
    // Nearest point to A on every circle of B.
    let overlap = move |pose: &Pose| {
        grid(80)
            .map(|s| {
                let t = near + (far - near) * s;
                let at = |phi: f64| pose * P3::from(own_ruling(phi) * t);
                at(min_around(|phi| fixed.distance(&at(phi)), (-0.1, 0.1), 4).1)
            })
            .collect()
    };
    Scenario {
        name: "two cones along a ruling",
        a,
        b,
        base,
        pivot: P3::from(ruling * 7.0),
        axes: vec![
            axis("lift", V3::y(), First),
            axis("yaw", normal, Second),
            axis("roll", ruling, Second),
            axis("oblique", ruling + normal * 0.7 + V3::y() * 0.8, First),
        ],
        settle: Some((normal, 1.0)),
        lowest: Box::new(lowest),
        overlap: Box::new(overlap),
        round: 0.0,
        polygon: false,
    }
}
