//! Free-form shapes with small waves about canonical ones, larger than rounding. The solution by closed
//! forms gives the same minima as the solution of each area.

use feeler_geom::bezier::H4;
use feeler_geom::{Aabb, Curve, P3, Pose, Surface, V3, math};
use feeler_import::DEFAULT_FLATNESS;
use feeler_runtime::diagnostics::Savings;
use feeler_runtime::{
    Body, Contact, ContactKind, ContactPair, ContactTracker, FeatureKind, QueryOptions, StepBound,
    TrackerOptions,
};
use feeler_tests::tracking::{Scene, Tally};
use feeler_tests::{Part, data_dir, model, part_of, random_pose};
use std::sync::Arc;

/// Height of the waves relative to the size: too large for the recognition as canonical, small enough for
/// the approximation by a canonical shape.
const HEIGHT: f64 = 1e-6;

/// Moves points by `waves` waves over the length `size` (mm) of the solid.
fn waved(p: &P3, size: f64, waves: f64) -> P3 {
    let k = 2.0 * std::f64::consts::PI * waves / size;
    let wave = V3::new(math::sin(k * p.y + 1.0), math::sin(k * p.z + 2.0), math::sin(k * p.x + 3.0));
    p + wave * (HEIGHT * size)
}

fn wave(control: &mut [H4], size: f64, waves: f64) {
    for h in control {
        let p = waved(&P3::from(h.xyz() / h.w), size, waves);
        *h = H4::new(p.x * h.w, p.y * h.w, p.z * h.w, h.w);
    }
}

/// A part with waves on all its surfaces and curves, two over its size.
fn with_waves(name: &str) -> Part {
    with_more_waves(name, 2.0)
}

/// A part with `waves` waves over its size on all its surfaces and curves.
fn with_more_waves(name: &str, waves: f64) -> Part {
    with_waves_and_scale(name, waves, (1.0, DEFAULT_FLATNESS))
}

/// A part with `waves` waves over its size on all its surfaces and curves, enlarged by `scale` before, and
/// divided into areas of the flatness `flatness`.
fn with_waves_and_scale(name: &str, waves: f64, (scale, flatness): (f64, f64)) -> Part {
    let import = feeler_step::read_step(&data_dir().join(format!("{name}-nurbs.step")));
    let import = import.expect("a model of the data folder");
    let mut source = import.solids[0].clone();
    let size = Aabb::of_points(source.vertices.iter().map(|v| &v.point)).diagonal().max(20.0);
    let scaled = |control: &mut [H4]| {
        for h in control {
            *h = H4::new(scale * h.x, scale * h.y, scale * h.z, h.w);
        }
    };
    for f in &mut source.faces {
        if let Surface::Bezier(grid) = &mut f.surface {
            scaled(&mut grid.control);
            wave(&mut grid.control, size, waves);
        }
    }
    for e in &mut source.edges {
        if let Curve::Bezier(spline) = &mut e.curve {
            scaled(&mut spline.control);
            wave(&mut spline.control, size, waves);
        }
    }
    for v in &mut source.vertices {
        v.point = waved(&(v.point * scale), size, waves);
    }
    part_of(&source, flatness)
}

fn strict(pair: &ContactPair) -> Vec<Contact> {
    pair.contacts().iter().filter(|l| l.kind == ContactKind::Strict).copied().collect()
}

/// Compares the strict minima of features with those of their areas at random poses about `base`; returns
/// all of them.
fn compare(
    a: &Arc<Body>,
    b: &Arc<Body>,
    options: &QueryOptions,
    (base, shift, turn): (&Pose, f64, f64),
) -> Vec<Contact> {
    let size = a.size().max(b.size());
    let mut compared = Vec::new();
    for seed in 0..12 {
        let pose = random_pose(seed, base, shift, turn);
        let by_area = options.with_savings(Savings { supermaximal: false, ..Savings::default() });
        let find = |options: &QueryOptions| {
            let mut pair = ContactPair::new(a.clone(), b.clone());
            pair.query(&Pose::identity(), &pose, options).expect("finite poses and options");
            (pair.status(), strict(&pair))
        };
        let ((x_status, x), (y_status, y)) = (find(options), find(&by_area));
        assert_eq!(x_status, y_status, "{seed}");
        for (ours, others) in [(&x, &y), (&y, &x)] {
            for l in ours {
                let off = others.iter().map(|o| {
                    let points = (o.point_a - l.point_a).norm().max((o.point_b - l.point_b).norm());
                    points.max((o.distance - l.distance).abs())
                });
                let off = off.fold(f64::INFINITY, f64::min);
                assert!(off <= 1e-8 * size, "pose {seed}: no minimum within {off:e} mm of {l:?}");
                compared.push(*l);
            }
        }
    }
    compared
}

#[test]
fn waves_have_the_minima_of_their_areas() {
    let partner = model("box");
    let mut n = 0;
    for name in ["cylinder", "cone", "sphere", "torus", "shaft"] {
        let part = with_waves(name);
        let h = part.body.hierarchy();
        let near = h.faces.iter().filter(|f| f.canonical_approximation.is_some()).count()
            + h.edges.iter().filter(|e| e.canonical_approximation.is_some()).count();
        assert!(near > 0, "{name}: no feature is near a canonical shape");
        for (a, place, d_max) in [(&partner.body, 45.0, 30.0), (&part.body, 60.0, 40.0)] {
            let poses = (&Pose::translation(place, 10.0, 5.0), 0.3 * a.size().max(part.body.size()), 3.0);
            n += compare(a, &part.body, &QueryOptions::within(d_max), poses).len();
        }
    }
    assert!(n > 100, "only {n} minima compared");
}

/// Nearly circular rims pressed into each other and into circles: side by side, and end to end with
/// offset axes.
#[test]
fn pressed_rims_have_the_minima_of_their_areas() {
    let part = with_waves("cylinder");
    let rims =
        part.body.hierarchy().edges.iter().filter_map(|e| match e.canonical_approximation.as_ref()?.shape {
            Curve::Circle { frame, radius } => Some((frame.origin.z, radius)),
            _ => None,
        });
    let [(top, radius), (bottom, _)] = rims.collect::<Vec<_>>()[..] else { panic!("two rims near circles") };
    let height = (top - bottom).abs();
    let options = QueryOptions {
        detect_interference: false,
        penetration: 0.05 * radius,
        ..QueryOptions::within(0.05 * radius)
    };
    let mut pressed = [0, 0];
    let canonical = model("cylinder");
    let end_to_end = [0.4, 0.8, 1.2, 1.5, 1.7, 1.8].map(|across| (across * radius, height));
    let side_by_side = [(2.0 * radius, 0.0), (1.9 * radius, 0.99 * height)];
    for (across, along) in end_to_end.into_iter().chain(side_by_side) {
        let poses = (&Pose::translation(across, 0.0, along), 0.02 * radius, 0.05);
        for (n, a) in pressed.iter_mut().zip([&part.body, &canonical.body]) {
            let found = compare(a, &part.body, &options, poses);
            let is_rim = |l: &&Contact| {
                l.distance < 0.0 && [l.feature_a, l.feature_b].iter().all(|f| f.kind == FeatureKind::Edge)
            };
            *n += found.iter().filter(is_rim).count();
        }
    }
    assert!(pressed.iter().all(|n| *n > 20), "only {pressed:?} pressed minima of rims");
}

/// Rims above each other, whose radii differ by 0.05 mm, at offsets of the axes of 1e-6 to 0.03 mm with tilts
/// of the same order: from waves that have many minima, to a valley with one. All critical pairs within 45°
/// of the polars are those of the areas, also where one rim has many short areas and waves beside a long
/// area.
#[test]
fn rims_along_each_other_have_the_minima_of_their_areas() {
    let (mut compared, mut solved, mut solved_by_area) = (0, 0, 0);
    let flatness = [DEFAULT_FLATNESS, 1.5, 0.05];
    for (waves, others, [of_a, of_b]) in [
        (2.0, 3.0, [0, 0]),
        (5.0, 2.0, [0, 0]),
        (9.0, 7.0, [0, 0]),
        (0.0, 0.0, [0, 0]),
        (0.0, 30.0, [1, 2]),
        (20.0, 1.0, [1, 2]),
        (1.0, 12.0, [2, 1]),
    ] {
        let a = with_waves_and_scale("cylinder", waves, (1.0, flatness[of_a]));
        let b = with_waves_and_scale("cylinder", others, (1.005, flatness[of_b]));
        let height = 1.0025 * (a.solid.bounds.max.z - a.solid.bounds.min.z) + 0.1;
        for seed in 0..12_u32 {
            let off = 1e-6 * math::powf(3e4, f64::from(seed) / 11.0);
            let (sin, cos) = math::sin_cos(f64::from(seed));
            let (shift, tilt) =
                (V3::new(off * cos, off * sin, height), V3::new(-sin, cos, 0.0) * (0.02 * off));
            // The rims are turned against each other.
            let turned = Pose::new(V3::zeros(), V3::new(0.0, 0.0, 0.37 * f64::from(seed)));
            let pose = Pose::new(shift, tilt) * turned;
            let options = QueryOptions {
                detect_interference: false,
                quasi_angle: std::f64::consts::FRAC_PI_4,
                ..QueryOptions::within(0.3)
            };
            let by_area = options.with_savings(Savings { supermaximal: false, ..Savings::default() });
            let find = |options: &QueryOptions| {
                let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
                pair.query(&Pose::identity(), &pose, options).expect("finite poses and options");
                let is_edge =
                    |l: &&Contact| [l.feature_a, l.feature_b].iter().all(|f| f.kind == FeatureKind::Edge);
                let found: Vec<Contact> = pair.contacts().iter().filter(is_edge).copied().collect();
                (found, pair.stats().exact_solves)
            };
            let ((x, of_x), (y, of_y)) = (find(&options), find(&by_area));
            for (ours, theirs) in [(&x, &y), (&y, &x)] {
                for l in ours {
                    let off = theirs.iter().map(|o| (o.point_a - l.point_a).norm());
                    let off = off.fold(f64::INFINITY, f64::min);
                    assert!(off <= 1e-6, "{waves}, {others}, {seed}: none within {off:e} mm of {l:?}");
                }
            }
            compared += x.len();
            // Along waves that are steeper than the tilt, many areas may have a minimum.
            if seed >= 8 {
                solved += of_x;
                solved_by_area += of_y;
            }
        }
    }
    assert!(compared > 60, "{compared}");
    assert!(2 * solved < solved_by_area, "{solved} {solved_by_area}");
}

/// A ring around a pin with 0.05 mm of play, both with less than a wave, their axes apart by 1e-6 to 1e-3 mm
/// in all directions: the minimum is that of the areas, on the side where the gap is narrow.
#[test]
fn rings_around_pins_have_the_minima_of_their_areas() {
    let a = with_waves_and_scale("cylinder", 0.2, (1.0, DEFAULT_FLATNESS));
    let ring = model("torus");
    let (tube, outer) = (ring.solid.bounds.max.z, ring.solid.bounds.max.x);
    let radius = a.solid.bounds.max.x;
    let scale = (radius + 0.05) / (outer - 2.0 * tube);
    let b = with_waves_and_scale("torus", 0.3, (scale, DEFAULT_FLATNESS));
    for part in [&a, &b] {
        let faces = &part.body.hierarchy().faces;
        assert!(faces.iter().any(|f| f.canonical_approximation.is_some()), "no face is near a canonical one");
    }
    let middle = 0.5 * (a.solid.bounds.max.z + a.solid.bounds.min.z);
    for seed in 0..48_u32 {
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        let options = QueryOptions { detect_interference: false, ..QueryOptions::within(0.3) };
        let off = 1e-6 * math::powf(1e3, f64::from(seed % 8) / 7.0);
        let (sin, cos) = math::sin_cos(1.05 * f64::from(seed));
        let pose = Pose::translation(off * cos, off * sin, middle);
        let by_area = options.with_savings(Savings { supermaximal: false, ..Savings::default() });
        let mut least = |options: &QueryOptions| {
            pair.query(&Pose::identity(), &pose, options).expect("finite poses and options");
            pair.contacts().iter().map(|c| c.distance).fold(f64::INFINITY, f64::min)
        };
        let (ours, by_area) = (least(&options), least(&by_area));
        assert!(by_area < 0.06, "{seed}: {by_area}");
        assert!((ours - by_area).abs() <= 2.0 * off + 1e-9, "{seed}: {ours} {by_area}");
    }
}

/// Base rims of cones side by side in one plane, at a gap of 0 up to the waves. The sign of the critical
/// pair of the approximating circles depends on rounding.
#[test]
fn rims_that_touch_are_found() {
    let part = with_waves("cone");
    let rim =
        part.body.hierarchy().edges.iter().find_map(|e| match e.canonical_approximation.as_ref()?.shape {
            Curve::Circle { frame, radius } => Some((frame, radius)),
            _ => None,
        });
    let (frame, radius) = rim.expect("a rim near a circle");
    for seed in 0..24 {
        let placed = random_pose(seed, &Pose::identity(), 100.0, 3.0);
        let angle = f64::from(u32::try_from(seed).expect("a small number"));
        let beside = frame.vector(math::cos(angle), math::sin(angle), 0.0) * (2.0 * radius);
        let pose = placed * Pose::translation(beside.x, beside.y, beside.z);
        let mut pair = ContactPair::new(part.body.clone(), part.body.clone());
        let options =
            QueryOptions { detect_interference: false, penetration: 0.01, ..QueryOptions::within(1.0) };
        pair.query(&placed, &pose, &options).expect("finite poses and options");
        let smallest = pair.contacts().iter().map(|l| l.distance.abs()).fold(f64::INFINITY, f64::min);
        // The bound includes the waves of both solids.
        assert!(smallest < 4.0 * HEIGHT * 40.0, "{seed}: {smallest}");
    }
}

/// Rings and cylinders on each other, their axes 1e-4 to 0.3 mm apart and tilted by a tenth of that over 1
/// mm, at gaps of 0 to 5 µm. Every minimum of their areas has a contact of the step with the same normal that
/// is higher by at most a quarter of the accepted error, and no contact is lower than the lowest minimum.
/// Fewer pairs of areas are solved than with a smaller accepted error.
#[test]
fn steps_have_one_contact_of_minima_that_waves_separate() {
    let options = TrackerOptions { reach: 0.01, ..TrackerOptions::default() };
    let bound = StepBound { rotation: 1e-3, displacement: 0.01 };
    let (mut compared, mut solved, mut solved_exactly) = (0, 0, 0);
    for (name, waves) in
        [("torus", 2.0), ("torus", 5.0), ("cylinder", 2.0), ("cylinder", 5.0), ("shaft", 3.0)]
    {
        let part = with_more_waves(name, waves);
        let size = part.body.size();
        for seed in 0..10 {
            let off = 1e-4 * math::powf(3e3, f64::from(seed) / 9.0);
            let (sin, cos) = math::sin_cos(f64::from(seed));
            let (off, axis) =
                (V3::new(off * cos, off * sin, 0.0), V3::new(-0.1 * off * sin, 0.1 * off * cos, 0.0));
            let above = |height: f64| Pose::new(off + V3::new(0.0, 0.0, height), axis);
            let mut pair = ContactPair::new(part.body.clone(), part.body.clone());
            let mut find = |pose: &Pose, d_max: f64| {
                let all = QueryOptions { detect_interference: false, ..QueryOptions::within(d_max) };
                let by_area = all.with_savings(Savings { supermaximal: false, ..Savings::default() });
                pair.query(&Pose::identity(), pose, &by_area).expect("finite poses and options");
                strict(&pair)
            };
            let lowest = |all: &[Contact]| all.iter().map(|c| c.distance).fold(f64::INFINITY, f64::min);
            let mut height = 2.0 * size;
            for _ in 0..3 {
                height -= lowest(&find(&above(height), 4.0 * size)) - 1e-3 * f64::from(seed % 6);
            }
            let pose = above(height);
            let minima = find(&pose, 0.01);
            let track = |options: TrackerOptions| {
                let mut tracker = ContactTracker::new(part.body.clone(), part.body.clone(), options);
                tracker.update(&Pose::identity(), &pose, bound).expect("finite poses and options");
                tracker
            };
            let mut tracker = track(options);
            let exact = track(TrackerOptions { gap_error: 1e-6, ..options });
            let error = 0.25 * options.gap_error;
            for x in &minima {
                let is_near =
                    |c: &&Contact| (c.normal - x.normal).norm() < 1e-3 && c.gap <= x.distance + error;
                assert!(tracker.contacts().iter().any(|c| is_near(&c)), "{name}, {seed}: {x:?}");
            }
            let of_verdict = tracker.verdict().map(|v| v.status);
            pair.query(&Pose::identity(), &pose, &QueryOptions::within(0.01)).expect("finite poses");
            assert_eq!(of_verdict, pair.status(), "{name}, {seed}");
            let least = tracker.min_distance().expect("a contact within reach");
            assert!(least > lowest(&minima) - 1e-9 * size, "{name}, {seed}: {least}");
            compared += minima.len();
            solved += tracker.stats().exact_solves;
            solved_exactly += exact.stats().exact_solves;
        }
    }
    assert!(compared >= 50, "{compared}");
    assert!(solved < solved_exactly, "{solved}, exactly {solved_exactly}");
}

/// Rings with waves that stand on a block or on each other: steps that obey the linear gaps of the sets end
/// as they do without waves.
#[test]
fn steps_of_parts_with_waves_obey_their_sets() {
    let part = with_more_waves("torus", 5.0);
    let block = model("box");
    let heights = [&block, &part].map(|a| a.solid.bounds.max.z - part.solid.bounds.min.z + 0.02);
    for (a, height) in [&block, &part].into_iter().zip(heights) {
        let scene = Scene {
            name: "ring with waves".to_owned(),
            a: a.body.clone(),
            b: part.body.clone(),
            poses: [0.0, 0.05].map(|x| Pose::translation(x, 0.0, height)).to_vec(),
            jitter: [0.01, 1e-4],
        };
        let mut tally = Tally::default();
        scene.run(1, 0..45, &mut tally);
        let n = tally.outcomes.len();
        assert!(n > 20, "{n} steps");
        assert!(tally.exceptions.is_empty(), "{:#?}", tally.exceptions);
        assert!(tally.disagreements.is_empty(), "{:#?}", tally.disagreements);
    }
}
