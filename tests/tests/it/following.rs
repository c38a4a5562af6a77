//! Contacts that are tracked from pose to pose, against queries of each pose and against closed forms.

use feeler_geom::{P3, Pose, V3};
use feeler_grains::nurbs::NurbsGrain;
use feeler_import::{MeshOptions, prepare_grain, prepare_mesh, prepare_step};
use feeler_runtime::{
    Body, ContactFollower, ContactKind, ContactPair, FollowOptions, FollowedContact, QueryOptions,
};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use std::path::Path;
use std::sync::Arc;

fn solid(name: &str) -> Arc<Body> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data").join(name);
    let model = prepare_step(&path).expect("a model of data");
    Arc::new(Body::from_model(&model, 0).expect("a body"))
}

fn grain(surface: &NurbsGrain) -> Arc<Body> {
    let model = prepare_grain("grain", surface.surface()).expect("a grain");
    Arc::new(Body::from_model(&model, 0).expect("a body"))
}

fn direction(rng: &mut StdRng) -> V3 {
    loop {
        let mut part = || rng.random_range(-1.0..1.0);
        if let Some(d) = V3::new(part(), part(), part()).try_normalize(0.1) {
            return d;
        }
    }
}

/// Pose of B at contact with A along a direction, by bisection of the status.
fn near(pair: &mut ContactPair, towards: V3, turn: UnitQuaternion<f64>) -> Pose {
    let far = 2.0 * (pair.body_a().size() + pair.body_b().size());
    let (mut lo, mut hi) = (0.0, far);
    for _ in 0..40 {
        let middle = 0.5 * (lo + hi);
        let pose = Pose::from_parts(Translation3::from(towards * middle), turn);
        pair.query(&Pose::identity(), &pose, &QueryOptions::within(2.0 * far)).expect("a query");
        let is_apart = pair.status() == Some(feeler_runtime::Status::Separated);
        if is_apart { hi = middle } else { lo = middle }
    }
    Pose::from_parts(Translation3::from(towards * hi), turn)
}

/// Strict minima of a fresh query within reach, and whether all minima are strict.
fn queried(pair: &mut ContactPair, pose: &Pose, options: &FollowOptions) -> (Vec<(V3, f64)>, bool) {
    let query = QueryOptions {
        penetration: options.penetration,
        detect_interference: false,
        ..QueryOptions::within(options.reach)
    };
    pair.forget();
    let found = pair.query(&Pose::identity(), pose, &query).expect("a query");
    (
        found.iter().map(|l| (l.local_a.coords, l.distance)).collect(),
        found.iter().all(|l| l.kind == ContactKind::Strict),
    )
}

struct Seen {
    followed: usize,
    updated: usize,
    compared: usize,
}

/// Moves B about A and compares the contacts at each pose with a fresh query; returns the numbers of
/// steps and contacts.
fn walk(a: &Arc<Body>, b: &Arc<Body>, seed: u64) -> Seen {
    let mut rng = StdRng::seed_from_u64(seed);
    let [mut pair, mut reference] = [(); 2].map(|()| ContactPair::new(a.clone(), b.clone()));
    let size = a.size().min(b.size());
    let penetration = (0.01 * size).min(0.4 * (a.min_thickness() + b.min_thickness()));
    let options = FollowOptions { reach: 0.01 * size, penetration, stride: 0.02 * size };
    let mut seen = Seen { followed: 0, updated: 0, compared: 0 };
    for _ in 0..3 {
        let turn = UnitQuaternion::from_scaled_axis(direction(&mut rng) * rng.random_range(0.0..3.0));
        let mut pose = near(&mut reference, direction(&mut rng), turn);
        let mut following = ContactFollower::default();
        let along = direction(&mut rng) * (5e-4 * size);
        for step in 0..40 {
            let shaken = Pose::from_parts(
                Translation3::from(along + direction(&mut rng) * (2e-4 * size)),
                UnitQuaternion::from_scaled_axis(direction(&mut rng) * 1e-3),
            );
            pose = Pose::from_parts(
                Translation3::from(pose.translation.vector + shaken.translation.vector),
                shaken.rotation * pose.rotation,
            );
            if following.follow(a, b, &Pose::identity(), &pose, &options).expect("finite") {
                seen.followed += 1;
            } else {
                following.query(&mut pair, &Pose::identity(), &pose, &options).expect("finite");
                seen.updated += 1;
            }
            let (expected, is_strict) = queried(&mut reference, &pose, &options);
            if !is_strict {
                continue;
            }
            let close = |c: &FollowedContact, (p, d): &(V3, f64)| {
                (c.local_a.coords - p).norm() < 1e-6 * size && (c.distance - d).abs() < 1e-10 * size
            };
            for one in &expected {
                seen.compared += 1;
                let is_there = following.contacts().iter().any(|c| close(c, one));
                // Rounding decides at the limits of reach and depth.
                let is_on_limit =
                    (one.1 - options.reach).abs() < 1e-9 * size || (one.1 + penetration).abs() < 1e-9 * size;
                assert!(
                    is_there || is_on_limit,
                    "seed {seed}, step {step}: {one:?} is not tracked: {:#?}",
                    following.contacts()
                );
            }
            let is_in_range = |d: f64| 1e-9 * size - penetration < d && d < options.reach - 1e-9 * size;
            for c in following.contacts().iter().filter(|c| is_in_range(c.distance)) {
                assert!(
                    expected.iter().any(|one| close(c, one)),
                    "seed {seed}, step {step}: {c:?} is not one of the minima {expected:?}"
                );
            }
        }
    }
    seen
}

#[test]
fn solids_of_all_kinds_have_the_minima_of_queries() {
    let names = ["cylinder.step", "cone.step", "torus.step", "box.step", "wave.step", "half-cone.step"];
    let bodies: Vec<Arc<Body>> = names.iter().map(|n| solid(n)).collect();
    let mut all = Seen { followed: 0, updated: 0, compared: 0 };
    for (i, a) in bodies.iter().enumerate() {
        for (j, b) in bodies.iter().enumerate() {
            let seen = walk(a, b, (i * 10 + j) as u64);
            all.followed += seen.followed;
            all.updated += seen.updated;
            all.compared += seen.compared;
        }
    }
    assert!(
        all.compared > 1_500 && all.followed > 3 * all.updated,
        "{} {} {}",
        all.compared,
        all.followed,
        all.updated
    );
}

#[test]
fn grains_have_the_minima_of_queries() {
    let shapes = [
        NurbsGrain::ellipsoid([3.0, 2.0, 1.5]).unwrap(),
        NurbsGrain::torus(2.0, 0.7).unwrap(),
        NurbsGrain::random(1, 2.0, 0.3).unwrap(),
        NurbsGrain::random(2, 2.0, 0.6).unwrap(),
    ];
    let bodies: Vec<Arc<Body>> = shapes.iter().map(grain).collect();
    let mut all = Seen { followed: 0, updated: 0, compared: 0 };
    for (i, a) in bodies.iter().enumerate() {
        for (j, b) in bodies.iter().enumerate() {
            let seen = walk(a, b, (i * 10 + j) as u64 + 100);
            all.followed += seen.followed;
            all.updated += seen.updated;
            all.compared += seen.compared;
        }
    }
    assert!(
        all.compared > 750 && all.followed > 5 * all.updated,
        "{} {} {}",
        all.compared,
        all.followed,
        all.updated
    );
}

/// A dumbbell of about 2 mm, concave around the waist, as a mesh of 80 facets.
fn dumbbell() -> Arc<Body> {
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut points: Vec<V3> = [(1.0, golden), (-1.0, golden), (1.0, -golden), (-1.0, -golden)]
        .iter()
        .flat_map(|(a, b)| [V3::new(0.0, *a, *b), V3::new(*a, *b, 0.0), V3::new(*b, 0.0, *a)])
        .collect();
    let is_edge = |a: V3, b: V3| ((a - b).norm() - 2.0).abs() < 1e-9;
    let mut triangles = Vec::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                let [a, b, c] = [i, j, k].map(|n| points[n]);
                if is_edge(a, b) && is_edge(b, c) && is_edge(a, c) {
                    let is_outwards = (b - a).cross(&(c - a)).dot(&a) > 0.0;
                    triangles.push(if is_outwards { [i, j, k] } else { [i, k, j] });
                }
            }
        }
    }
    let mut fine = Vec::new();
    for [a, b, c] in triangles {
        let mut between = |i: usize, j: usize| {
            let middle = 0.5 * (points[i] + points[j]);
            let known = points.iter().position(|p| (p - middle).norm() < 1e-9);
            known.unwrap_or_else(|| {
                points.push(middle);
                points.len() - 1
            })
        };
        let (ab, bc, ca) = (between(a, b), between(b, c), between(c, a));
        fine.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    let radial = |p: &V3| {
        let n = p.normalize();
        P3::from(n * (0.35 + 0.65 * n.z * n.z))
    };
    let points: Vec<P3> = points.iter().map(radial).collect();
    let triangles: Vec<[u32; 3]> =
        fine.iter().map(|t| t.map(|k| u32::try_from(k).expect("few points"))).collect();
    let model = prepare_mesh("dumbbell", &points, &triangles, MeshOptions::default()).expect("a mesh");
    Arc::new(Body::from_model(&model, 0).expect("a body"))
}

/// Edges of meshes that overlap can pass each other, so that their contact vanishes and another one appears
/// while the solids still overlap. A query for each pose finds it at once.
#[test]
fn contacts_of_meshes_appear_as_in_queries_of_each_pose() {
    let body = dumbbell();
    let size = body.size();
    let options = FollowOptions { reach: 0.0, penetration: 0.03 * size, stride: 0.02 * size };
    let [mut pair, mut reference] = [(); 2].map(|()| ContactPair::new(body.clone(), body.clone()));
    let (mut overlapping, mut followed, mut late) = (0, 0, 0);
    for seed in 0..60 {
        let mut rng = StdRng::seed_from_u64(seed);
        let turn = UnitQuaternion::from_scaled_axis(direction(&mut rng) * rng.random_range(0.0..3.0));
        let start = near(&mut reference, direction(&mut rng), turn);
        let (along, about) = (direction(&mut rng) * (2e-4 * size), direction(&mut rng) * 2e-3);
        let mut following = ContactFollower::default();
        for step in 0..100 {
            let turned = UnitQuaternion::from_scaled_axis(about * f64::from(step)) * start.rotation;
            let at = start.translation.vector + along * f64::from(step);
            let pose = Pose::from_parts(at.into(), turned);
            if following.follow(&body, &body, &Pose::identity(), &pose, &options).expect("finite") {
                followed += 1;
            } else {
                following.query(&mut pair, &Pose::identity(), &pose, &options).expect("finite");
            }
            let (expected, _) = queried(&mut reference, &pose, &options);
            let overlaps = expected.iter().any(|(_, d)| *d < -1e-9 * size);
            overlapping += u32::from(overlaps);
            late += u32::from(overlaps && following.contacts().iter().all(|c| c.distance >= 0.0));
        }
    }
    assert!(overlapping > 1_000 && followed > 3_000, "{overlapping} {followed}");
    assert_eq!(late, 0, "poses at which all overlaps are overlooked, of {overlapping}");
}

#[test]
fn flush_contacts_are_tracked_at_rest() {
    // A box on a box, rotated about the vertical and pressed by 0.01 mm: contacts are corners and
    // crossings of edges.
    let block = solid("box.step");
    let (bounds, size) = (*block.bounds(), block.size());
    let high = bounds.max.z - bounds.min.z;
    let mut pair = ContactPair::new(block.clone(), block.clone());
    let options = FollowOptions { reach: 0.0, penetration: 0.05, stride: 0.02 * size };
    let here = Pose::identity();
    let mut rng = StdRng::seed_from_u64(26);
    for k in 0..40 {
        let turn = UnitQuaternion::from_axis_angle(&V3::z_axis(), 0.1 * f64::from(k));
        let across = V3::new(rng.random_range(-0.2..0.2), rng.random_range(-0.2..0.2), 0.0) * high;
        let middle = bounds.center().coords;
        let at = middle - turn * middle + across + V3::z() * (high - 0.01);
        let pose = Pose::from_parts(Translation3::from(at), turn);
        let mut following = ContactFollower::default();
        following.query(&mut pair, &here, &pose, &options).expect("a query");
        let first: Vec<u64> = following.contacts().iter().map(|c| c.id).collect();
        assert!(first.len() > 3 && following.contacts().iter().all(|c| c.is_flat), "{k}: {}", first.len());
        assert!(following.contacts().iter().all(|c| (c.distance + 0.01).abs() < 1e-9));
        // After a tiny motion, the depth of each corner is that below the top plane of the lower box.
        let tilt = UnitQuaternion::from_scaled_axis(direction(&mut rng) * 1e-8);
        let by = direction(&mut rng) * (1e-8 * size);
        let moved = Pose::from_parts(Translation3::from(at + by), tilt * turn);
        assert!(following.follow(&block, &block, &here, &moved, &options).expect("a pose"), "{k}");
        for contact in following.contacts() {
            let depth = (moved * contact.local_b).z - bounds.max.z;
            assert!((contact.distance - depth).abs() < 1e-12 * size, "{k}: {} {depth}", contact.distance);
        }
        // After a larger motion a new query is needed; the contacts keep their identities.
        let moved = Pose::from_parts(Translation3::from(at + V3::x() * (1e-5 * size)), turn);
        assert!(!following.follow(&block, &block, &here, &moved, &options).expect("a pose"), "{k}");
        following.query(&mut pair, &here, &moved, &options).expect("a query");
        let mut again: Vec<u64> = following.contacts().iter().map(|c| c.id).collect();
        again.sort_unstable();
        assert_eq!(again, first, "{k}");
    }
}

#[test]
fn sheets_are_pressed_by_solids_and_never_by_sheets() {
    // A ball, pressed through a square sheet from either side: over its middle, its inner edge and its
    // rim.
    let points =
        [(-30.0, -30.0), (30.0, -30.0), (30.0, 30.0), (-30.0, 30.0)].map(|(x, y)| P3::new(x, y, 0.0));
    let open = MeshOptions { open_shells: true, ..MeshOptions::default() };
    let model = prepare_mesh("sheet", &points, &[[0, 1, 2], [0, 2, 3]], open).expect("a sheet");
    let sheet = Arc::new(Body::from_model(&model, 0).expect("a body"));
    let ball = grain(&NurbsGrain::sphere(2.0).expect("a ball"));
    let query = QueryOptions { penetration: 0.3, ..QueryOptions::within(1.0) };
    let smallest =
        |pair: &ContactPair| pair.contacts().iter().map(|l| l.distance).fold(f64::INFINITY, f64::min);
    for (x, y) in [(3.0, -2.0), (4.0, 4.0), (29.9, 1.0), (-30.0, 2.5), (30.2, 3.0)] {
        for depth in [-0.2, 0.05, 0.2] {
            for side in [1.0, -1.0] {
                let pose = Pose::translation(x, y, side * (2.0 - depth));
                for swapped in [false, true] {
                    let bodies = if swapped { [&ball, &sheet] } else { [&sheet, &ball] };
                    let mut pair = ContactPair::new(bodies[0].clone(), bodies[1].clone());
                    let poses = if swapped { [pose, Pose::identity()] } else { [Pose::identity(), pose] };
                    pair.query(&poses[0], &poses[1], &query).expect("a query");
                    // Beyond the rim the nearest point is on the rim.
                    let beside = x.abs().max(30.0) - 30.0;
                    let expected = f64::sqrt((2.0 - depth) * (2.0 - depth) + beside * beside) - 2.0;
                    let found = smallest(&pair);
                    assert!(
                        (found - expected).abs() < 1e-9,
                        "{x} {y} {depth} {side} {swapped}: {found} {expected}"
                    );
                }
            }
        }
    }
    let mut pair = ContactPair::new(sheet.clone(), sheet.clone());
    let crossing = Pose::from_parts(
        Translation3::new(1.0, 2.0, 0.0),
        UnitQuaternion::from_axis_angle(&V3::x_axis(), 0.4),
    );
    pair.query(&Pose::identity(), &crossing, &query).expect("a query");
    assert!(pair.contacts().iter().all(|l| l.distance > -1e-4), "{}", smallest(&pair));
}
