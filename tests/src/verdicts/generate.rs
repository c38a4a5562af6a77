//! Random pairs of generated solids in poses near contact.

use super::judge::{Forms, common_box, deepest};
use super::{Model, Pool};
use crate::membership::Spec;
use feeler_geom::{P3, Pose, V3};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::f64::consts::FRAC_PI_2;
use std::rc::Rc;

/// Configuration of a pair of solids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Random orientation, moved until the solids touch.
    Generic,
    /// Two coincident boundary points with opposite normals.
    Tangent,
    /// Quarter turns, with planes, axes and outlines aligned.
    Aligned,
    /// Common axis.
    Coaxial,
    /// Common centre.
    Concentric,
    /// Two copies of one solid.
    Copies,
    /// Rods in holes and through holes.
    Holes,
    /// Tips in holes.
    Tips,
    /// Rings through rings.
    Interlocked,
    /// A solid in a void, a hole or a bay.
    Inside,
    /// Rods through shells.
    Shells,
}

impl Category {
    /// All categories.
    pub const ALL: [Self; 11] = [
        Self::Generic,
        Self::Tangent,
        Self::Aligned,
        Self::Coaxial,
        Self::Concentric,
        Self::Copies,
        Self::Holes,
        Self::Tips,
        Self::Interlocked,
        Self::Inside,
        Self::Shells,
    ];
}

/// Two solids in their poses near contact.
#[derive(Clone, Debug)]
pub struct Case {
    /// Configuration of the pair.
    pub category: Category,
    /// Solid A.
    pub a: Rc<Model>,
    /// Solid B.
    pub b: Rc<Model>,
    /// Pose of A in the world.
    pub pose_a: Pose,
    /// Pose of B in the world.
    pub pose_b: Pose,
    /// Maximum distance of the query (mm).
    pub d_max: f64,
}

/// Lengths (mm) from which dimensions are chosen. They are few, so that many dimensions are equal.
const LENGTHS: [f64; 5] = [1.0, 1.5, 2.0, 3.0, 4.0];

fn pick<T: Copy>(rng: &mut SmallRng, from: &[T]) -> T {
    from[rng.random_range(0..from.len())]
}

fn sign(rng: &mut SmallRng) -> f64 {
    if rng.random_bool(0.5) { 1.0 } else { -1.0 }
}

/// Computes 0.1 to the power `n`.
fn tenth_to(n: u32) -> f64 {
    (0..n).fold(1.0, |x, _| 0.1 * x)
}

/// Zero, or a power of ten from 1e-12 to 0.1 of either sign.
pub(super) fn small(rng: &mut SmallRng) -> f64 {
    if rng.random_bool(0.15) { 0.0 } else { sign(rng) * tenth_to(rng.random_range(1..=12)) }
}

fn unit(rng: &mut SmallRng) -> V3 {
    loop {
        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if (0.01..1.0).contains(&v.norm_squared()) {
            return v.normalize();
        }
    }
}

pub(super) fn turn(rng: &mut SmallRng) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(unit(rng) * rng.random_range(0.0..3.2))
}

fn quarter_turns(rng: &mut SmallRng) -> UnitQuaternion<f64> {
    let about = |axis: V3, n: u32| UnitQuaternion::from_scaled_axis(axis * (FRAC_PI_2 * f64::from(n)));
    let tip = match rng.random_range(0..6) {
        n @ 0..4 => about(V3::x(), n),
        4 => about(V3::y(), 1),
        _ => about(V3::y(), 3),
    };
    tip * about(V3::z(), rng.random_range(0..4))
}

/// A random solid of moderate dimensions times `scale`.
fn any(rng: &mut SmallRng, scale: f64) -> Spec {
    // The seed limits the number of different solids, because each is prepared once.
    let mut rng = SmallRng::seed_from_u64(rng.random_range(0..500));
    let rng = &mut rng;
    let mut l = || scale * pick(rng, &LENGTHS);
    let (x, y, z) = (l(), l(), l());
    let (r, h) = (x, y + z);
    let thin = r * if z > 2.0 * scale { 0.5 } else { 0.75 };
    match rng.random_range(0..36) {
        0 => Spec::Block { x, y, z },
        1 => Spec::Cylinder { r, h },
        2 => Spec::CylinderWithSeam { r, h },
        3 => Spec::CylinderHalves { r, h },
        4 => Spec::Cone { r, h },
        5 => Spec::ConeWithSeam { r, h },
        6 => Spec::HalfCone { r, h },
        7 => Spec::Frustum { low: r, high: thin, h },
        8 => Spec::DoubleCone { r, h },
        9 => Spec::Ball { r },
        10 => Spec::BallWithSeam { r },
        11 => Spec::BallWedge { r, angle: pick(rng, &[0.5, FRAC_PI_2, 2.0, 4.0, 5.5]) },
        12 => Spec::HalfBall { r },
        13 => Spec::Bullet { r, h },
        14 => Spec::Torus { major: r, minor: 0.5 * thin },
        15 => Spec::TorusWithSeams { major: r, minor: 0.5 * thin },
        16 => Spec::Apple { major: 0.5 * thin, minor: r },
        17 => Spec::Tube { outer: r, inner: thin, h },
        18 => Spec::Countersunk { outer: r, inner: 0.5 * thin, h: z },
        19 => Spec::Cup { outer: r, inner: thin, h, floor: 0.25 * y },
        20 => Spec::SteppedPin { low: r, high: thin, h },
        21 => Spec::SharpPin { r: 0.5 * r, h, tip: z },
        22 => Spec::Spool { flange: r, core: 0.5 * r, h },
        23 => Spec::HollowBall { outer: r, inner: thin },
        24 => Spec::HollowCan { r, h, wall: 0.2 * r.min(h) },
        25 => Spec::HollowBox { x, y, z, wall: 0.2 * x.min(y).min(z) },
        26 => Spec::BallInBox { a: r, r: thin },
        27 => Spec::Drilled { a: r, h: y, r: thin },
        28 => Spec::Blind { a: r, h: y, r: thin, floor: 0.25 * y },
        29 => Spec::Plate { pitch: x, r: 0.25 * x, h: 0.5 * y, columns: rng.random_range(1..4), rows: 2 },
        30 => Spec::LPrism { leg: x, t: 0.5 * y, h: z },
        31 => Spec::Channel { a: x, wall: 0.25 * x, h },
        32 => Spec::Notched { a: x },
        33 => Spec::Stadium { length: x, r: 0.5 * y, h: z },
        34 => Spec::Hexagon { r, h: z },
        _ => Spec::Wedge { x, y, h: z },
    }
}

/// A solid of revolution about z with the radius `r` (mm).
fn rod(rng: &mut SmallRng, r: f64) -> Spec {
    let h = pick(rng, &[0.5, 1.0, 2.0, 4.0, 8.0]);
    match rng.random_range(0..10) {
        0 | 1 => Spec::Cylinder { r, h },
        2 => Spec::CylinderWithSeam { r, h },
        3 => Spec::CylinderHalves { r, h },
        4 => Spec::Bullet { r, h },
        5 => Spec::SharpPin { r, h, tip: r },
        6 => Spec::Tube { outer: r, inner: 0.5 * r, h },
        7 => Spec::SteppedPin { low: r, high: 0.5 * r, h },
        8 => Spec::SteppedPin { low: 0.5 * r, high: r, h },
        _ => Spec::Frustum { low: r, high: 0.75 * r, h },
    }
}

/// A solid with a hole around the z axis.
fn holed(rng: &mut SmallRng) -> Spec {
    let (r, h) = (pick(rng, &[0.5, 1.0, 1.5]), pick(rng, &[0.5, 1.0, 2.0]));
    match rng.random_range(0..7) {
        0 => Spec::Drilled { a: 2.0 * r, h, r },
        1 => Spec::Blind { a: 2.0 * r, h, r, floor: 0.25 * h },
        2 => Spec::Plate { pitch: 3.0 * r, r, h, columns: 2, rows: 2 },
        3 => Spec::Tube { outer: 2.0 * r, inner: r, h },
        4 => Spec::Cup { outer: 2.0 * r, inner: r, h, floor: 0.25 * h },
        5 => Spec::Countersunk { outer: 3.0 * r, inner: r, h },
        _ => Spec::Torus { major: 2.0 * r, minor: r },
    }
}

fn hollow(rng: &mut SmallRng) -> Spec {
    let (x, y) = (pick(rng, &[3.0, 4.0, 6.0]), pick(rng, &[3.0, 4.0, 6.0]));
    let wall = pick(rng, &[0.2, 0.5, 1.0]);
    match rng.random_range(0..10) {
        0 | 1 => Spec::HollowBall { outer: x, inner: x - wall },
        2 | 3 => Spec::HollowBox { x, y, z: 4.0, wall },
        4 => Spec::HollowCan { r: x, h: y, wall },
        5 => Spec::BallInBox { a: x, r: x - wall },
        6 => Spec::Cup { outer: x, inner: x - wall, h: y, floor: wall },
        7 => Spec::Tube { outer: x, inner: x - wall, h: y },
        8 => Spec::Channel { a: x, wall, h: y },
        _ => Spec::Blind { a: x, h: y, r: x - wall, floor: wall },
    }
}

fn ring(rng: &mut SmallRng) -> Spec {
    let r = pick(rng, &LENGTHS);
    match rng.random_range(0..6) {
        0 => Spec::Torus { major: r, minor: 0.25 * r },
        1 => Spec::TorusWithSeams { major: r, minor: 0.4 * r },
        2 => Spec::Tube { outer: 1.25 * r, inner: 0.75 * r, h: 0.5 * r },
        3 => Spec::Drilled { a: 1.25 * r, h: 0.5 * r, r: 0.75 * r },
        4 => Spec::Countersunk { outer: 1.5 * r, inner: 0.5 * r, h: 0.5 * r },
        _ => Spec::Tube { outer: r, inner: 0.9 * r, h: 3.0 * r },
    }
}

fn tip(rng: &mut SmallRng) -> Spec {
    let (r, h) = (pick(rng, &LENGTHS), pick(rng, &LENGTHS));
    match rng.random_range(0..8) {
        0 => Spec::Cone { r, h },
        1 => Spec::ConeWithSeam { r, h },
        2 => Spec::HalfCone { r, h },
        3 => Spec::SharpPin { r, h, tip: 0.5 * h },
        4 => Spec::Bullet { r, h },
        5 => Spec::DoubleCone { r, h },
        6 => Spec::Ball { r },
        _ => Spec::Frustum { low: r, high: 0.5 * r, h },
    }
}

/// Pose of B at which its boundary point `q` coincides with the point `p` of A and the outward
/// directions `n` of A and `m` of B are opposite.
pub(super) fn against(rng: &mut SmallRng, (p, n): (P3, V3), (q, m): (P3, V3)) -> Pose {
    let turn = UnitQuaternion::rotation_between(&m, &-n).unwrap_or_else(|| {
        let (side, _) = feeler_geom::frame::complete_basis(&m);
        UnitQuaternion::from_scaled_axis(side * std::f64::consts::PI)
    });
    let spin = if rng.random_bool(0.5) { 0.0 } else { rng.random_range(0.0..6.3) };
    let turn = UnitQuaternion::from_scaled_axis(n * spin) * turn;
    Pose::from_parts(Translation3::from(p - turn * q), turn)
}

pub(super) fn placed(t: V3, turn: UnitQuaternion<f64>) -> Pose {
    Pose::from_parts(Translation3::from(t), turn)
}

/// Characteristic coordinates of a solid along the axes after quarter turns.
fn turned_marks(m: &Model, turn: &UnitQuaternion<f64>) -> [Vec<f64>; 3] {
    let r = turn.to_rotation_matrix();
    [0, 1, 2].map(|k| {
        let j = r.matrix().row(k).transpose().iamax();
        let s = r.matrix()[(k, j)].signum();
        m.shape.marks[j].iter().map(|x| s * x).collect()
    })
}

/// Moves B along `along`, by at most `length` (mm), from a pose at which it is free of A until they
/// touch, as accurately as the samples allow.
fn dropped(a: &Model, b: &Model, start: &Pose, along: &V3, length: f64) -> Pose {
    let at = |t: f64| Translation3::from(along * t) * start;
    let every = (a.samples.len() / 60).max(1);
    let intersects = |t: f64| {
        let pose = at(t);
        let back = pose.inverse();
        a.samples.iter().step_by(every).any(|(p, _)| b.shape.form.depth(&(back * p)) > 0.0)
            || b.samples.iter().step_by(every).any(|(p, _)| a.shape.form.depth(&(pose * p)) > 0.0)
    };
    let steps = 24;
    let step = length / f64::from(steps);
    let Some(mut high) = (1..=steps).map(|i| step * f64::from(i)).find(|t| intersects(*t)) else {
        return at(length);
    };
    let mut low = high - step;
    for _ in 0..44 {
        let mid = 0.5 * (low + high);
        if intersects(mid) { high = mid } else { low = mid }
    }
    // Points between the samples may have touched earlier.
    backed(a, b, at(low), &-along)
}

/// Moves B along `along` out of A, in steps of their mutual depth, until they touch or a maximum number
/// of steps is reached.
fn backed(a: &Model, b: &Model, mut pose: Pose, along: &V3) -> Pose {
    for _ in 0..12 {
        let forms = Forms { a: &a.shape.form, b: &b.shape.form, pose_ba: pose.inverse() };
        let deep = deepest(&forms, common_box(a, b, &pose), &[], 1, f64::INFINITY).depth;
        if deep < 1e-12 * a.size() {
            break;
        }
        pose = Translation3::from(along * (2.0 * deep)) * pose;
    }
    pose
}

impl Case {
    /// Pair with a given number.
    #[must_use]
    pub fn new(seed: u64, pool: &mut Pool) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let rng = &mut rng;
        let category = pick(rng, &Category::ALL);
        let (a, b, pose) = Self::relative(category, rng, pool);
        let size = a.size().max(b.size());
        let mut pose = pose;
        // Separate the solids, then move B slightly along the same direction.
        let near = [Category::Generic, Category::Tangent, Category::Tips].contains(&category);
        if !near && rng.random_bool(0.35) {
            let other = unit(rng);
            let along = pick(rng, &[V3::x(), -V3::y(), V3::z(), -V3::z(), other]);
            let sink = along * (size * small(rng));
            pose = Translation3::from(sink) * backed(&a, &b, pose, &along);
        }
        // Perturb the pose slightly.
        if rng.random_bool(0.3) {
            let axis = if rng.random_bool(0.5) { unit(rng) } else { pick(rng, &[V3::x(), V3::y(), V3::z()]) };
            let angle = tenth_to(rng.random_range(3..=12));
            pose *= UnitQuaternion::from_scaled_axis(axis * angle);
        }
        if rng.random_bool(0.4) {
            let axis = if rng.random_bool(0.3) { unit(rng) } else { pick(rng, &[V3::x(), V3::y(), V3::z()]) };
            pose = Translation3::from(axis * (size * small(rng))) * pose;
        }
        // The common pose is random or the identity.
        let pose_a = if rng.random_bool(0.5) {
            Pose::identity()
        } else {
            placed(unit(rng) * (size * rng.random_range(0.0..10.0)), turn(rng))
        };
        let d_max = size * pick(rng, &[0.02, 0.2, 1.0]);
        Self { category, a, b, pose_b: pose_a * pose, pose_a, d_max }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each category")]
    fn relative(category: Category, rng: &mut SmallRng, pool: &mut Pool) -> (Rc<Model>, Rc<Model>, Pose) {
        let scales = [1.0, 1.0, 0.3, 3.0];
        let mut two = |rng: &mut SmallRng| {
            let scale = pick(rng, &scales);
            (pool.get(&any(rng, 1.0)), pool.get(&any(rng, scale)))
        };
        match category {
            Category::Generic => {
                let (a, b) = two(rng);
                let (turn, along) = (turn(rng), unit(rng));
                let aim = pick(rng, &a.samples).0 - turn * pick(rng, &b.samples).0;
                let length = a.size() + b.size();
                let pose = dropped(&a, &b, &placed(aim - along * length, turn), &along, 2.0 * length);
                let sink = along * (a.size().max(b.size()) * small(rng));
                (a, b, Translation3::from(sink) * pose)
            }
            Category::Tangent => {
                let (a, b) = two(rng);
                let (p, q) = (pick(rng, &a.samples), pick(rng, &b.samples));
                let pose = against(rng, p, q);
                let off = p.1 * (a.size().max(b.size()) * small(rng));
                (a, b, Translation3::from(off) * pose)
            }
            Category::Aligned => {
                let (a, b) = two(rng);
                let turn = quarter_turns(rng);
                let marks = turned_marks(&b, &turn);
                let t = V3::from_fn(|k, _| {
                    let (x, y) = (pick(rng, &a.shape.marks[k]), pick(rng, &marks[k]));
                    let off = if rng.random_bool(0.3) { rng.random_range(-1.0..1.0) } else { 0.0 };
                    x - y + off
                });
                (a, b, placed(t, turn))
            }
            Category::Coaxial => {
                let (a, b) = two(rng);
                let about = UnitQuaternion::from_scaled_axis(V3::z() * rng.random_range(0.0..6.3));
                let flip = if rng.random_bool(0.5) {
                    UnitQuaternion::from_scaled_axis(V3::x() * (2.0 * FRAC_PI_2))
                } else {
                    UnitQuaternion::identity()
                };
                let turn = about * flip;
                let marks = turned_marks(&b, &flip);
                let z = pick(rng, &a.shape.marks[2]) - pick(rng, &marks[2]);
                let off = if rng.random_bool(0.4) { rng.random_range(-2.0..2.0) } else { 0.0 };
                (a, b, placed(V3::z() * (z + off), turn))
            }
            Category::Concentric => {
                let (a, b) = two(rng);
                let middle = |m: &Model| m.body.bounds().center();
                let centers = |m: &Model, rng: &mut SmallRng| match m.shape.pockets.first() {
                    Some(p) if rng.random_bool(0.5) => *p,
                    _ => middle(m),
                };
                let turn = if rng.random_bool(0.5) { turn(rng) } else { quarter_turns(rng) };
                let (p, q) = (centers(&a, rng), middle(&b));
                (a, b, placed(p - turn * q, turn))
            }
            Category::Copies => {
                let a = pool.get(&any(rng, 1.0));
                let other = unit(rng);
                let axis = pick(rng, &[V3::x(), V3::y(), V3::z(), other]);
                let shift =
                    a.size() * if rng.random_bool(0.7) { small(rng) } else { rng.random_range(-1.0..1.0) };
                let turn = if rng.random_bool(0.7) { UnitQuaternion::identity() } else { quarter_turns(rng) };
                (a.clone(), a, placed(axis * shift, turn))
            }
            Category::Holes => {
                let a = pool.get(&holed(rng));
                let [x, y, r] = pick(rng, &a.shape.axes);
                let factor = pick(
                    rng,
                    &[
                        1.0,
                        1.0,
                        1.0,
                        0.5,
                        0.9,
                        1.1,
                        0.999,
                        1.001,
                        1.0 - 1e-5,
                        1.0 + 1e-5,
                        1.0 - 1e-6,
                        1.0 + 1e-6,
                    ],
                );
                let b = pool.get(&rod(rng, r * factor));
                let z = pick(rng, &a.shape.marks[2]) - pick(rng, &b.shape.marks[2]);
                let z = z + if rng.random_bool(0.6) { rng.random_range(-2.0..2.0) } else { 0.0 };
                // Move the rod to the wall of a wider hole.
                let side = r * (1.0 - factor);
                let (s, c) = feeler_geom::math::sin_cos(rng.random_range(0.0..6.3));
                let side = if rng.random_bool(0.4) { V3::new(c, s, 0.0) * side } else { V3::zeros() };
                (a, b, placed(V3::new(x, y, z) + side, UnitQuaternion::identity()))
            }
            Category::Tips => {
                let (a, b) = (pool.get(&holed(rng)), pool.get(&tip(rng)));
                let [x, y, _] = pick(rng, &a.shape.axes);
                let down = UnitQuaternion::from_scaled_axis(V3::x() * (2.0 * FRAC_PI_2));
                let high = a.body.bounds().max.z + b.size() + 1.0;
                let aside = if rng.random_bool(0.6) { V3::zeros() } else { unit(rng) * 0.3 };
                let start = placed(V3::new(x, y, high) + aside, down);
                let pose = dropped(&a, &b, &start, &-V3::z(), high + b.size() + 1.0);
                let sink = if rng.random_bool(0.7) { small(rng) } else { -rng.random_range(0.0..0.3) };
                let off = V3::z() * (sink * b.size());
                (a, b, Translation3::from(off) * pose)
            }
            Category::Interlocked => {
                let (a, b) = (pool.get(&ring(rng)), pool.get(&ring(rng)));
                let turn = if rng.random_bool(0.6) {
                    UnitQuaternion::from_scaled_axis(V3::x() * FRAC_PI_2)
                } else {
                    turn(rng)
                };
                let reach = |m: &Model| m.shape.axes.iter().map(|x| x[2]).fold(0.0, f64::max);
                let offset = reach(&a).max(reach(&b)) * pick(rng, &[1.0, 0.8, 0.5, 1.2]);
                let middle = b.body.bounds().center();
                let to = a.body.bounds().center() - turn * middle + V3::x() * offset;
                let to = to
                    + if rng.random_bool(0.5) { unit(rng) * rng.random_range(0.0..0.5) } else { V3::zeros() };
                (a, b, placed(to, turn))
            }
            Category::Inside => {
                let scale = pick(rng, &[0.3, 0.1, 1.0]);
                let (a, b) = (pool.get(&hollow(rng)), pool.get(&any(rng, scale)));
                let pocket = a.shape.pockets[0];
                let free = rng.random_bool(0.25);
                let facing: Vec<(P3, V3)> =
                    a.samples.iter().filter(|(p, n)| n.dot(&(pocket - p)) > 1e-3).copied().collect();
                if free || facing.is_empty() {
                    let turn = if rng.random_bool(0.5) { turn(rng) } else { quarter_turns(rng) };
                    let to = pocket - turn * b.body.bounds().center().coords;
                    (a, b, placed(to.coords, turn))
                } else {
                    let (p, q) = (pick(rng, &facing), pick(rng, &b.samples));
                    let pose = against(rng, p, q);
                    let off = p.1 * (a.size() * small(rng));
                    (a, b, Translation3::from(off) * pose)
                }
            }
            Category::Shells => {
                let r = pick(rng, &[0.05, 0.2, 0.5, 1.0]);
                let (a, b) = (pool.get(&hollow(rng)), pool.get(&rod(rng, r)));
                let turn = if rng.random_bool(0.5) { turn(rng) } else { quarter_turns(rng) };
                let p = pick(rng, &a.samples).0;
                let bounds = b.body.bounds();
                let z = bounds.min.z + rng.random_range(0.0..1.0) * (bounds.max.z - bounds.min.z);
                (a, b, placed(p - turn * P3::new(0.0, 0.0, z), turn))
            }
        }
    }
}
