//! Load-bearing samples of conformal sets: flush and aligned poses of generated solids, whose common area
//! is known in closed form.

use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{Contact, ContactKind, ContactPair, FeatureKind, QueryOptions, Status};
use feeler_tests::conformal::shapes::{Shape, cylinder, tube};
use feeler_tests::{model, part_of};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::sync::Arc;

/// Maximum error of footpoints relative to the size of the larger solid: ten tolerances.
const MAX_ERROR: f64 = 1e-6;
/// Part of the radius of a round border that may be cut off. Samples are 2.8° apart, and each of 12
/// directions 30° apart keeps one: 1 - cos 16.4°. Sets that penetrate more deeply have 32 samples, one of
/// them in the middle: up to 22.5° apart, 1 - cos 26.3°.
const SAGITTA: [f64; 2] = [0.0407, 0.1032];

/// The common area: a convex outline in the frame of A.
enum Area {
    /// Corners of a polygon, or the ends of a line.
    Corners(Vec<P3>),
    /// A circle in a plane z = const.
    Disc(P3, f64),
}

impl Area {
    fn support(&self, d: &V3) -> f64 {
        match self {
            Self::Corners(all) => all.iter().map(|p| d.dot(&p.coords)).fold(f64::NEG_INFINITY, f64::max),
            Self::Disc(c, r) => d.dot(&c.coords) + r * d.xy().norm(),
        }
    }

    fn lack(&self, status: Status) -> f64 {
        match self {
            Self::Corners(_) => 0.0,
            Self::Disc(_, r) => r * SAGITTA[usize::from(status == Status::Interfering)],
        }
    }

    /// Extent, for relative errors.
    fn size(&self) -> f64 {
        [V3::x(), V3::y(), V3::z()].map(|d| self.support(&d) + self.support(&-d)).into_iter().sum()
    }
}

struct Case {
    name: &'static str,
    shapes: [Shape; 2],
    /// Pose of the second solid in the frame of the first one, in contact.
    pose: Pose,
    /// Direction in which the second solid is pressed into the first one.
    down: V3,
    area: Area,
}

/// Corners of the intersection of two rectangles along x and y.
fn overlap(a: [[f64; 2]; 2], b: [[f64; 2]; 2], z: f64) -> Area {
    let range = |k: usize| [a[0][k].max(b[0][k]), a[1][k].min(b[1][k])];
    let (x, y) = (range(0), range(1));
    Area::Corners([(0, 0), (1, 0), (1, 1), (0, 1)].map(|(i, j)| P3::new(x[i], y[j], z)).to_vec())
}

fn case(random: &mut SmallRng) -> Case {
    let mut any = |low: f64, high: f64| random.random_range(low..high);
    let half = [any(8.0, 20.0), any(8.0, 20.0), any(4.0, 10.0)];
    let small = [any(3.0, 12.0), any(3.0, 12.0), any(3.0, 8.0)];
    let block = |half: [f64; 3]| Shape::Box { half, fillet: 0.0 };
    let upright = UnitQuaternion::from_scaled_axis(V3::z() * any(-PI, PI));
    let (x, y) = (any(-15.0, 15.0), any(-15.0, 15.0));
    let kind = random.random_range(0..6);
    let mut any = |low: f64, high: f64| random.random_range(low..high);
    let top = half[2];
    let at = |x: f64, y: f64, z: f64| Pose::translation(x, y, z);
    let sides = |h: [f64; 3], x: f64, y: f64| [[x - h[0], y - h[1]], [x + h[0], y + h[1]]];
    let down = -V3::z();
    match kind {
        // Blocks with some common area, half of them with aligned sides.
        0 | 1 => {
            let within = |k: usize, x: f64| x.clamp(1.0 - half[k] - small[k], half[k] + small[k] - 1.0);
            let (mut x, y) = (within(0, x), within(1, y));
            if kind == 1 {
                x = half[0] - small[0];
            }
            let area = overlap(sides(half, 0.0, 0.0), sides(small, x, y), top);
            let name = "block on block";
            Case { name, shapes: [half, small].map(block), pose: at(x, y, top + small[2]), down, area }
        }
        // Blocks with equal footprints.
        2 => {
            let other = [half[0], half[1], small[2]];
            let area = overlap(sides(half, 0.0, 0.0), sides(half, 0.0, 0.0), top);
            let pose = at(0.0, 0.0, top + small[2]);
            Case { name: "one footprint", shapes: [half, other].map(block), pose, down, area }
        }
        // An upright cylinder whose bottom is entirely on the block.
        3 => {
            let r = any(3.0, 7.0);
            let (x, y) = (x * (half[0] - r) / 15.0, y * (half[1] - r) / 15.0);
            let pose = Pose::from_parts(Translation3::new(x, y, top + small[2]), upright);
            let area = Area::Disc(P3::new(x, y, top), r);
            Case { name: "upright cylinder", shapes: [block(half), cylinder(r, small[2])], pose, down, area }
        }
        // A cylinder along x on the block, which may overhang.
        4 => {
            let (r, length) = (any(3.0, 7.0), any(4.0, 25.0));
            let x = x.clamp(1.0 - half[0] - length, half[0] + length - 1.0);
            let y = y * half[1] / 16.0;
            let lying = UnitQuaternion::from_scaled_axis(V3::y() * FRAC_PI_2);
            let pose = Pose::from_parts(Translation3::new(x, y, top + r), lying);
            let ends = [(x - length).max(-half[0]), (x + length).min(half[0])];
            let area = Area::Corners(ends.map(|x| P3::new(x, y, top)).to_vec());
            Case { name: "lying cylinder", shapes: [block(half), cylinder(r, length)], pose, down, area }
        }
        // A pin along z on the side of its bore.
        _ => {
            let (r, play, long, deep) = (any(3.0, 7.0), any(0.01, 0.5), any(5.0, 15.0), any(5.0, 15.0));
            let (sin, cos) = math::sin_cos(any(-PI, PI));
            let side = V3::new(cos, sin, 0.0);
            let z = any(-4.0, 4.0);
            let pose = Pose::from_parts(Translation3::from(side * play + V3::z() * z), upright);
            let ends = [(z - long).max(-deep), (z + long).min(deep)];
            let area = Area::Corners(ends.map(|z| P3::from(side * (r + play) + V3::z() * z)).to_vec());
            let shapes = [tube(r + play, r + 8.0, deep), cylinder(r, long)];
            Case { name: "pin in a bore", shapes, pose, down: side, area }
        }
    }
}

/// Largest component, along a direction of wrenches (force, torque about a point), of unit forces along
/// the normals of contacts.
fn strongest(contacts: &[Contact], about: &P3, [force, torque]: &[V3; 2]) -> f64 {
    let of = |l: &Contact| l.normal.dot(force) + (l.local_a - about).cross(&l.normal).dot(torque);
    contacts.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn load_bearing_samples_span_all_wrenches() {
    let mut random = SmallRng::seed_from_u64(11);
    let mut names = std::collections::BTreeMap::new();
    for number in 0..400 {
        let case = case(&mut random);
        let [a, b] =
            case.shapes.each_ref().map(|s| part_of(&s.source(), feeler_import::DEFAULT_FLATNESS).body);
        let size = a.size().max(b.size());
        let is_swapped = number % 2 == 1;
        // Touching, pressed by less than the tolerance, or pressed deeper.
        let (pressed, status) = match number % 3 {
            0 => (0.0, Status::Touching),
            1 => (random.random_range(0.0..1e-7) * size, Status::Touching),
            _ => (random.random_range(0.001..0.02), Status::Interfering),
        };
        let pose_b = Translation3::from(case.down * pressed) * case.pose;
        let text = format!("{} {number}, swapped {is_swapped}, pressed {pressed}", case.name);
        let somewhere = Pose::new(V3::new(3.0, -2.0, 1.0), V3::new(0.3, 0.2, -0.4));
        let query = |load_bearing: bool| -> Vec<Contact> {
            // Options of contacts for physics engines.
            let conformal_spacing = Some(size);
            let within = QueryOptions::within(0.2);
            let options = QueryOptions { load_bearing, conformal_spacing, penetration: 0.05, ..within };
            let [one, two] = [(&a, somewhere), (&b, somewhere * pose_b)];
            let [one, two] = if is_swapped { [two, one] } else { [one, two] };
            let mut pair = ContactPair::new(Arc::clone(one.0), Arc::clone(two.0));
            let found = pair.query(&one.1, &two.1, &options).unwrap().to_vec();
            assert_eq!(pair.status(), Some(status), "{text}");
            // In the frame of the first solid, with its outward normal.
            found
                .into_iter()
                .filter(|l| (l.distance + pressed).abs() < MAX_ERROR * size)
                .map(|l| {
                    let (local, normal) =
                        if is_swapped { (l.local_b, -l.normal) } else { (l.local_a, l.normal) };
                    Contact { local_a: local, normal: somewhere.inverse_transform_vector(&normal), ..l }
                })
                .collect()
        };
        let (all, kept) = (query(false), query(true));
        let is_set = |l: &&Contact| l.kind == ContactKind::Conformal;
        assert!(kept.iter().any(|l| is_set(&l)), "{text}: {kept:?}");
        assert!(kept.len() <= 13, "{text}: {}", kept.len());
        let (off, lack) = (MAX_ERROR * size, case.area.lack(status));
        let directions: Vec<V3> = (0..60)
            .map(|_| V3::from_fn(|_, _| random.random_range(-1.0..1.0)).normalize())
            .chain((0..24).map(|k| {
                let (sin, cos) = math::sin_cos(TAU * f64::from(k) / 24.0);
                V3::new(cos, sin, 0.0)
            }))
            .collect();
        // All samples are in the common area and extend to its border.
        for d in &directions {
            let reach = |contacts: &[Contact]| {
                contacts.iter().map(|l| d.dot(&l.local_a.coords)).fold(f64::NEG_INFINITY, f64::max)
            };
            let (whole, reached) = (case.area.support(d), reach(&kept));
            assert!(reached <= whole + off, "{text}: {reached} exceeds {whole}: {kept:?}");
            assert!(reached >= whole - lack - off, "{text}: {reached} of {whole}: {kept:?}");
            assert!(reached >= reach(&all) - lack - off, "{text}: {reached} is less than with all samples");
        }
        for l in &kept {
            assert!(l.normal.dot(&-case.down) > 1.0 - 1e-9, "{text}: {l:?}");
        }
        // They span the same wrenches, with torques relative to the area's size.
        let middle = P3::from(kept.iter().map(|l| l.local_a.coords).sum::<V3>() / kept.len() as f64);
        let extent = case.area.size();
        for pair in directions.windows(2) {
            let wrench = [pair[0], pair[1] / extent];
            let lost = strongest(&all, &middle, &wrench) - strongest(&kept, &middle, &wrench);
            assert!(lost <= (lack + off) / extent + 1e-9, "{text}: {lost}");
        }
        *names.entry(case.name).or_insert(0) += 1;
    }
    assert!(names.len() == 5 && names.values().all(|n| *n > 20), "{names:?}");
}

/// Maximum distance of a query (mm).
const REACH: f64 = 0.5;

/// Flush blocks pressed into each other keep the corners of their common area. The points of the border
/// are not inside both blocks, but points next to them are.
#[test]
fn pressed_sets_keep_samples_that_are_contacts() {
    let mut pair = ContactPair::new(model("box").body, model("box").body);
    for depth in [0.0005, 0.02] {
        let pose = Pose::translation(0.0, 0.0, 20.0 - depth);
        let options = QueryOptions { load_bearing: true, penetration: 0.05, ..QueryOptions::within(REACH) };
        let contacts = pair.query(&Pose::identity(), &pose, &options).unwrap();
        let is_corner =
            |l: &&Contact| (l.local_a.x.abs() - 20.0).abs() + (l.local_a.y.abs() - 15.0).abs() < 1e-6;
        let pressed = contacts.iter().filter(|l| (l.gap + depth).abs() < 1e-9 && l.normal.z > 0.9);
        assert!(pressed.clone().count() <= 13, "{depth}: {contacts:?}");
        assert_eq!(pressed.filter(is_corner).count(), 4, "{depth}: {contacts:?}");
    }
}

/// Load-bearing samples are on both solids, the nearest sample is among them, and dense samples do not
/// extend much farther in any direction of the plane.
#[test]
fn load_bearing_samples_are_outermost() {
    // A cylinder of radius 10 on the edge of a block of 40 mm, and the pin on the bottom of its bore.
    let pairs = [
        ("box", "cylinder", Pose::translation(-15.0, 0.0, 10.0), 10.0),
        ("blind-bore", "pin", Pose::translation(0.05, 0.0, 20.0), 9.95),
    ];
    for (a, b, pose, radius) in pairs {
        let mut pair = ContactPair::new(model(a).body, model(b).body);
        let dense = QueryOptions { conformal_spacing: Some(0.5), ..QueryOptions::within(REACH) };
        let all = pair.query(&Pose::identity(), &pose, &dense).unwrap().to_vec();
        let few = QueryOptions { load_bearing: true, ..dense };
        let few = pair.query(&Pose::identity(), &pose, &few).unwrap().to_vec();
        assert!((few[0].distance - all[0].distance).abs() < 1e-9, "{a} {b}");
        let level = |contacts: &[Contact]| -> Vec<Contact> {
            let is_level = |l: &&Contact| l.kind == ContactKind::Conformal && l.normal.z > 0.9;
            contacts.iter().filter(is_level).copied().collect()
        };
        let (all, few) = (level(&all), level(&few));
        assert!(all.len() > 100 && (3..=13).contains(&few.len()), "{a} {b}: {} of {}", few.len(), all.len());
        for l in &few {
            assert!(l.local_b.coords.xy().norm() < radius + 1e-6 && l.local_a.x > -20.0 - 1e-6, "{l:?}");
        }
        let reach = |contacts: &[Contact], d: &V3| {
            contacts.iter().map(|l| d.dot(&l.local_a.coords)).fold(f64::NEG_INFINITY, f64::max)
        };
        // Corners are at most an eighth of the circle from each other.
        let sagitta = radius * (1.0 - math::cos(std::f64::consts::FRAC_PI_8));
        for k in 0..360 {
            let (sin, cos) = math::sin_cos(f64::from(k).to_radians());
            let d = V3::new(cos, sin, 0.0);
            let (whole, kept) = (reach(&all, &d), reach(&few, &d));
            assert!(kept >= whole - sagitta - 1e-6, "{a} {b} {k}: {kept} of {whole}");
        }
    }
}

/// Two plates with a hundred holes each, shifted and turned in their common plane and tilted by less than the
/// tolerance: pieces of trims that are skipped hold neither the lowest sample nor one of the outermost.
#[test]
fn skipped_trims_hold_no_load_bearing_samples() {
    let plate = model("perforated-plate").body;
    let (low, high) = (plate.bounds().min, plate.bounds().max);
    let (middle, half) = (nalgebra::center(&low, &high), 0.5 * (high - low));
    let size = plate.size();
    let mut random = SmallRng::seed_from_u64(62);
    let mut compared = 0;
    for number in 0..18 {
        let mut any = |x: f64| random.random_range(-x..=x);
        let turn = [0.0, 1e-3, any(PI)][number % 3];
        // Over the plate, the distances differ by up to 0, 0.02, 1 and 5 tolerances.
        let tilt = [0.0, 2e-9, 1e-7, 5e-7][number % 4];
        let shift = [V3::zeros(), V3::new(any(half.x), any(half.y), 0.0)][usize::from(number > 2)];
        // About the middle of the plate, and from its top.
        let rotation = UnitQuaternion::from_scaled_axis(V3::new(tilt, -0.5 * tilt, turn));
        let to_middle = Translation3::from(middle.coords);
        let up = V3::z() * (high.z - low.z);
        let pose = Translation3::from(shift + up) * to_middle * rotation * to_middle.inverse();
        let mut pair = ContactPair::new(plate.clone(), plate.clone());
        let options = QueryOptions {
            conformal_spacing: Some(size),
            penetration: 0.05,
            detect_interference: false,
            ..QueryOptions::within(REACH)
        };
        let all = pair.query(&Pose::identity(), &pose, &options).unwrap().to_vec();
        let options = QueryOptions { load_bearing: true, ..options };
        let few = pair.query(&Pose::identity(), &pose, &options).unwrap().to_vec();
        let text = format!("{number}: {turn} {tilt} {shift}");
        let lowest = |contacts: &[Contact]| contacts.first().map_or(f64::INFINITY, |c| c.distance);
        assert!((lowest(&few) - lowest(&all)).abs() < 1e-9 * size, "{text}");
        // Rims of holes are sets of their own if the planes are tilted by more than the tolerance.
        let level = |contacts: &[Contact]| -> Vec<P3> {
            let are_faces =
                |l: &Contact| [l.feature_a, l.feature_b].iter().all(|f| f.kind == FeatureKind::Face);
            let is_level = |l: &&Contact| l.kind == ContactKind::Conformal && l.normal.z.abs() > 0.9;
            contacts.iter().filter(is_level).filter(|l| are_faces(l)).map(|l| l.local_a).collect()
        };
        let (all, few) = (level(&all), level(&few));
        assert_eq!(all.is_empty(), few.is_empty(), "{text}");
        assert!(few.len() <= 14, "{text}: {}", few.len());
        if all.is_empty() {
            continue;
        }
        compared += 1;
        let reach =
            |points: &[P3], d: &V3| points.iter().map(|p| d.dot(&p.coords)).fold(f64::NEG_INFINITY, f64::max);
        // The directions in which samples of a plane across z are selected.
        for k in 0..12 {
            let (sin, cos) = math::sin_cos(0.137 + TAU * f64::from(k) / 12.0);
            let d = V3::new(-sin, cos, 0.0);
            assert!(reach(&few, &d) >= reach(&all, &d) - 1e-6, "{text}, {k}");
        }
    }
    assert!(compared > 8, "{compared}");
}
