//! Invariances of results, and their continuity along a motion (MATH §14.4–5).
#![expect(clippy::print_stdout, reason = "the test reports the numbers of compared minima")]

use feeler_geom::{P3, Pose};
use feeler_runtime::{Contact, ContactKind, ContactPair, FeatureKind, QueryOptions, Status};
use feeler_tests::moving_pairs::{MovingPair, moving_pairs_of};
use feeler_tests::{Part, data_dir, model, part_with, query, random_pose};
use nalgebra::{Translation3, UnitQuaternion, Vector3};

/// Pairs whose results must not depend on the frame.
fn pairs() -> Vec<MovingPair> {
    moving_pairs_of(&["socket", "stepped-seat", "bayonet-socket", "box", "race", "perforated-plate", "wave"])
}

fn decided(pair: &ContactPair) -> Vec<Contact> {
    pair.contacts().iter().filter(|l| l.kind == ContactKind::Strict).copied().collect()
}

/// Asserts that every strict minimum of one set is in the other, with the points mapped by `map`. Minima
/// close to `d_max` may be missing from either set.
fn assert_same(
    what: &str,
    x: &[Contact],
    y: &[Contact],
    map: impl Fn(&Contact) -> (P3, P3),
    tol: f64,
    d_max: f64,
) {
    let inner = |l: &&Contact| l.distance < d_max - 10.0 * tol;
    for l in x.iter().filter(inner) {
        let (a, b) = map(l);
        let off = y
            .iter()
            .map(|o| (o.point_a - a).norm().max((o.point_b - b).norm()))
            .fold(f64::INFINITY, f64::min);
        assert!(
            off < 100.0 * tol,
            "{what}: {:.9} {:?}/{:?} at {:?} has no partner ({off:.1e} away)",
            l.distance,
            l.feature_a,
            l.feature_b,
            l.point_a
        );
    }
    let (m, n) = (x.iter().filter(inner).count(), y.iter().filter(inner).count());
    assert_eq!(m, n, "{what}: {m} against {n} minima");
}

fn for_each_pose(count: u64, mut check: impl FnMut(&str, &Part, &Part, Pose, QueryOptions, f64)) {
    for (i, (a, b, t, dt, dr, d_max)) in pairs().iter().enumerate() {
        let (pa, pb) = (model(a), model(b));
        let size = pa.solid.bounds.diagonal().max(pb.solid.bounds.diagonal());
        for k in 0..count {
            let pose = random_pose(77 * i as u64 + k, &Pose::translation(t[0], t[1], t[2]), *dt, *dr);
            check(&format!("{a}/{b} seed {k}"), &pa, &pb, pose, QueryOptions::within(*d_max), 1e-7 * size);
        }
    }
}

#[test]
fn hierarchies_lose_nothing() {
    let mut compared = 0;
    for_each_pose(6, |what, a, b, pose, options, _| {
        let culled = query(a, b, &Pose::identity(), &pose, &options);
        let all = query(a, b, &Pose::identity(), &pose, &options.brute_force());
        assert_eq!(culled.status(), all.status(), "{what}");
        // The same solves from the same areas give the same bits.
        let key = |p: &ContactPair| {
            p.contacts()
                .iter()
                .map(|l| (l.distance.to_bits(), l.feature_a.index, l.feature_b.index))
                .collect::<Vec<_>>()
        };
        if culled.contacts().iter().all(|l| l.kind == ContactKind::Strict) {
            assert_eq!(key(&culled), key(&all), "{what}");
            compared += 1;
        }
    });
    assert!(compared >= 30, "only {compared} poses had no other minima than strict ones");
}

#[test]
fn a_common_motion_changes_nothing() {
    let motion = Pose::from_parts(
        Translation3::new(310.0, -120.0, 45.0),
        UnitQuaternion::from_scaled_axis(Vector3::new(1.1, -0.4, 2.0)),
    );
    for_each_pose(4, |what, a, b, pose, options, tol| {
        let here = query(a, b, &Pose::identity(), &pose, &options);
        let there = query(a, b, &motion, &(motion * pose), &options);
        assert_eq!(here.status(), there.status(), "{what}");
        if here.status() == Some(Status::Separated) {
            assert_same(
                what,
                &decided(&here),
                &decided(&there),
                |l| (motion * l.point_a, motion * l.point_b),
                tol,
                options.d_max,
            );
        }
    });
}

#[test]
fn swapping_the_solids_swaps_the_footpoints() {
    for_each_pose(4, |what, a, b, pose, options, tol| {
        let ab = query(a, b, &Pose::identity(), &pose, &options);
        let ba = query(b, a, &pose, &Pose::identity(), &options);
        assert_eq!(ab.status(), ba.status(), "{what}");
        if ab.status() == Some(Status::Separated) {
            assert_same(what, &decided(&ab), &decided(&ba), |l| (l.point_b, l.point_a), tol, options.d_max);
        }
    });
}

#[test]
fn another_splitting_gives_the_same_minima() {
    for (i, (a, b, t, dt, dr, d_max)) in pairs().iter().enumerate() {
        let load = |name: &str, f: f64| part_with(&data_dir().join(format!("{name}.step")), 0, f);
        let (a1, b1, a2, b2) = (load(a, 0.5), load(b, 0.5), load(a, 0.17), load(b, 0.9));
        let tol = 1e-7 * a1.solid.bounds.diagonal().max(b1.solid.bounds.diagonal());
        for k in 0..4 {
            let pose = random_pose(77 * i as u64 + k, &Pose::translation(t[0], t[1], t[2]), *dt, *dr);
            let options = QueryOptions::within(*d_max);
            let coarse = query(&a1, &b1, &Pose::identity(), &pose, &options);
            let fine = query(&a2, &b2, &Pose::identity(), &pose, &options);
            if coarse.status() == Some(Status::Separated) {
                assert_same(
                    &format!("{a}/{b} seed {k}"),
                    &decided(&coarse),
                    &decided(&fine),
                    |l| (l.point_a, l.point_b),
                    tol,
                    *d_max,
                );
            }
        }
    }
}

#[test]
fn the_same_query_gives_the_same_bits_again() {
    for_each_pose(2, |what, a, b, pose, options, _| {
        let mut pair = query(a, b, &Pose::identity(), &pose, &options);
        let first: Vec<_> = pair.contacts().to_vec();
        // A query at another pose must not affect the result.
        pair.query(&Pose::identity(), &Pose::translation(5.0, 1.0, 40.0), &options)
            .expect("finite poses and options");
        pair.query(&(Pose::identity() * a.pose), &(pose * b.pose), &options)
            .expect("finite poses and options");
        assert_eq!(first, pair.contacts(), "{what}");
        // Brute force gives enough pairs of features for several threads.
        let all = options.brute_force();
        let one_thread = query(a, b, &Pose::identity(), &pose, &all).contacts().to_vec();
        for threads in [2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let parallel = QueryOptions { parallel: true, ..all };
            let several =
                pool.install(|| query(a, b, &Pose::identity(), &pose, &parallel).contacts().to_vec());
            assert_eq!(one_thread, several, "{what}: {threads} threads");
        }
    });
}

/// Along a smooth motion a tracked minimum moves continuously, also across edges between faces; the
/// smallest distance is 1-Lipschitz in the motion of B.
#[test]
fn minima_move_continuously() {
    let mut tracked = 0usize;
    for (a, b, from, to, tilt, d_max) in [
        ("socket", "plug", [0.01, 0.0, 0.3], [0.0, 0.02, 0.05], 3e-4, 0.4),
        ("box", "sphere", [-30.0, 4.0, 22.0], [30.0, -9.0, 24.0], 0.3, 15.0),
        ("box", "torus", [-30.0, 4.0, 38.0], [30.0, -9.0, 40.0], 0.9, 34.0),
        ("shaft", "ring", [0.02, 0.01, 30.0], [0.05, -0.04, 46.0], 0.01, 0.6),
    ] {
        let (pa, pb) = (model(a), model(b));
        let steps = 200;
        let reach = pb.solid.bounds.diagonal();
        let options = QueryOptions::within(d_max);
        let mut before: Option<(Pose, Vec<Contact>, Option<f64>)> = None;
        for i in 0..=steps {
            let s = f64::from(i) / f64::from(steps);
            let t = Vector3::from(from).lerp(&Vector3::from(to), s);
            let pose = Pose::from_parts(
                Translation3::from(t),
                UnitQuaternion::from_scaled_axis(Vector3::new(tilt * s, -tilt * 0.7 * s, 0.2 * tilt)),
            );
            let pair = query(&pa, &pb, &Pose::identity(), &pose, &options);
            assert_eq!(pair.status(), Some(Status::Separated), "{a}/{b} step {i}");
            let now = decided(&pair);
            if let Some((old_pose, old, old_min)) = &before {
                // Maximum displacement of the points of B.
                let change = old_pose.inverse() * pose;
                let moved = change.translation.vector.norm() + change.rotation.angle() * reach;
                match (*old_min, pair.min_distance()) {
                    (Some(x), Some(y)) => {
                        assert!(
                            (x - y).abs() <= moved * (1.0 + 1e-9) + 1e-9,
                            "{a}/{b} step {i}: the distance changes from {x} to {y} in a motion of {moved}"
                        );
                    }
                    (Some(x), None) | (None, Some(x)) => {
                        assert!(
                            x >= d_max - moved - 1e-9,
                            "{a}/{b} step {i}: the distance {x} appears or vanishes below d_max"
                        )
                    }
                    (None, None) => {}
                }
                // The distance of a minimum that is alone on its pair of features, before and now, must
                // not jump. Footpoints may move faster than the motion, where the contact is flat.
                for l in &now {
                    let key = |m: &Contact| {
                        (m.feature_a.kind, m.feature_a.index, m.feature_b.kind, m.feature_b.index)
                    };
                    let mut same = old.iter().filter(|o| key(o) == key(l));
                    let alone = now.iter().filter(|m| key(m) == key(l)).count() == 1;
                    if let (Some(o), None) = (same.next(), same.next())
                        && alone
                        && l.feature_a.kind != FeatureKind::Edge
                    {
                        let jump = (o.distance - l.distance).abs();
                        assert!(jump <= moved + 1e-9, "{a}/{b} step {i}: {} to {}", o.distance, l.distance);
                        tracked += 1;
                    }
                }
            }
            before = Some((pose, now, pair.min_distance()));
        }
    }
    println!("{tracked} steps of single minima");
    assert!(tracked > 300, "only {tracked} steps were tracked");
}

/// A pair that is queried repeatedly along a motion with small steps, pauses and jumps finds the same
/// minima as a new pair.
#[test]
fn warm_and_cold_pairs_find_the_same_minima() {
    let (mut compared, mut max_reused) = (0, 0.0_f64);
    for (i, (a, b, t, dt, dr, d_max)) in pairs().iter().enumerate() {
        let (pa, pb) = (model(a), model(b));
        let size = pa.solid.bounds.diagonal().max(pb.solid.bounds.diagonal());
        let base = Pose::translation(t[0], t[1], t[2]);
        let (from, to) =
            (random_pose(i as u64, &base, *dt, *dr), random_pose(i as u64 + 100, &base, *dt, *dr));
        let mut warm = ContactPair::new(pa.body.clone(), pb.body.clone());
        for k in 0..40_u32 {
            // Steps of many sizes: B swings between two poses, and every tenth pose is elsewhere.
            let s = 0.5 - 0.5 * feeler_geom::math::cos(f64::from(k * k) * 0.004);
            let jump = k % 10 == 9;
            let pose =
                if jump { random_pose(u64::from(k) + 7, &base, *dt, *dr) } else { from.lerp_slerp(&to, s) };
            let options =
                QueryOptions { d_max: if k == 25 { 0.5 * d_max } else { *d_max }, ..QueryOptions::default() };
            let (status, cold) = {
                let mut cold = ContactPair::new(pa.body.clone(), pb.body.clone());
                cold.query(&Pose::identity(), &pose, &options).expect("finite poses and options");
                max_reused =
                    max_reused.max(to_f64(cold.stats().bvtt_nodes) - to_f64(warm.stats().bvtt_nodes));
                (cold.status(), decided(&cold))
            };
            warm.query(&Pose::identity(), &pose, &options).expect("finite poses and options");
            let what = format!("{a}/{b} step {k}");
            assert_eq!(warm.status(), status, "{what}");
            let own = |l: &Contact| (l.point_a, l.point_b);
            assert_same(&what, &cold, &decided(&warm), own, 1e-9 * size, options.d_max);
            compared += cold.len();
        }
    }
    println!("{compared} minima compared");
    assert!(compared > 300 && max_reused > 100.0, "{compared} {max_reused}");
}

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn to_f64(n: u64) -> f64 {
    n as f64
}

/// Cases found by `benches/src/bin/continuity.rs`: a minimum that was present before and after this pose,
/// and an apex that had entered a cylinder through its side.
#[test]
fn faults_found_by_small_steps() {
    let pose = |p: [f64; 7]| {
        let q = nalgebra::Quaternion::new(p[6], p[3], p[4], p[5]);
        Pose::from_parts(Translation3::new(p[0], p[1], p[2]), UnitQuaternion::from_quaternion(q))
    };
    let (loft, swept) = (model("loft"), model("swept"));
    let at = pose([
        64.896_080_843,
        3.202_354_364,
        2.576_999_580,
        -0.495_975_002,
        -0.350_416_342,
        0.408_250_120,
        0.681_578_333,
    ]);
    let pair = query(&loft, &swept, &Pose::identity(), &at, &QueryOptions::within(20.0));
    assert!(pair.min_distance().is_some_and(|d| (d - 17.712_121).abs() < 1e-5), "{:?}", pair.min_distance());

    let (cone, cylinder) = (model("cone"), model("cylinder"));
    let at = pose([
        5.860_826_789,
        -0.250_474_292,
        38.286_575_979,
        0.028_877_002,
        -0.539_442_411,
        -0.241_906_255,
        0.806_008_293,
    ]);
    let pair = query(&cone, &cylinder, &Pose::identity(), &at, &QueryOptions::within(20.0));
    assert_eq!(pair.status(), Some(Status::Interfering), "the apex is inside");
}

/// Found by the completeness test with other poses: two minima on one spline that are closer than the
/// grid of starts.
#[test]
fn two_minima_of_one_area() {
    let (loft, torus) = (model("loft"), model("torus"));
    let at = random_pose(115_007, &Pose::translation(0.0, 0.0, 34.0), 8.0, std::f64::consts::PI);
    let pair = query(&loft, &torus, &Pose::identity(), &at, &QueryOptions::within(8.0));
    let found: Vec<f64> = pair.contacts().iter().map(|l| l.distance).collect();
    assert!(found.len() == 2 && (found[0] - 2.927_803).abs() < 1e-5, "{found:?}");
    assert!((found[1] - 3.170_488).abs() < 1e-5, "{found:?}");
}
