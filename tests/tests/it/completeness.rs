//! The set of local minimal distances agrees with a brute-force search that shares none of its methods
//! (MATH §14.3).
#![expect(clippy::print_stdout, reason = "the test reports the numbers of compared poses and minima")]

use feeler_geom::Pose;
use feeler_runtime::{Contact, ContactKind, FeatureKind, FeatureRef, QueryOptions, Status};
use feeler_tests::brute_force::{Minimum, all_minima};
use feeler_tests::cases::{Case, cases};
use feeler_tests::{Part, model, part_with, query, random_pose};

/// Number of decided minima, and descriptions of the differences.
fn differences(c: &Case, (a, b): &(Part, Part), seed: u64) -> (usize, Vec<String>) {
    let pose = random_pose(seed, &c.base, c.dt, c.dr);
    let options = QueryOptions { d_max: c.d_max, ..QueryOptions::default() };
    let pair = query(a, b, &Pose::identity(), &pose, &options);
    if pair.status() != Some(Status::Separated) {
        return (usize::MAX, vec![]);
    }
    let pose_b = a.pose.inverse() * pose * b.pose;
    let expected = all_minima(&a.solid, &b.solid, &pose_b, c.d_max);
    let size = a.solid.bounds.diagonal().max(b.solid.bounds.diagonal());
    let tol = 1e-6 * size;
    let to_a = a.pose.inverse();
    let near = |m: &Minimum, l: &Contact| {
        (m.p_a - to_a * l.point_a).norm() < 10.0 * tol && (m.p_b - to_a * l.point_b).norm() < 10.0 * tol
    };
    let mut out = Vec::new();
    for m in expected.iter().filter(|m| m.borderline.is_none()) {
        let n = pair.contacts().iter().filter(|l| near(m, l)).count();
        if n != 1 {
            out.push(format!(
                "{} of {} / {}: d = {:.9}, {} and {}, eigenvalue {:.2e}",
                if n == 0 { "missing".to_owned() } else { format!("{n} duplicates") },
                c.a,
                c.b,
                m.distance,
                m.feature_a,
                m.feature_b,
                m.min_eigenvalue
            ));
        }
    }
    for l in pair.contacts().iter().filter(|l| l.kind == ContactKind::Strict) {
        if !expected.iter().any(|m| near(m, l)) {
            out.push(format!(
                "not a minimum of {} / {}: d = {:.9}, {:?} #{} and {:?} #{} at {:?}",
                c.a,
                c.b,
                l.distance,
                l.feature_a.kind,
                l.feature_a.source,
                l.feature_b.kind,
                l.feature_b.source,
                l.point_a
            ));
        }
    }
    (expected.iter().filter(|m| m.borderline.is_none()).count(), out)
}

/// Half of the poses of each case, which take a minute on two cores; `FEELER_OTHER_POSES=1`, 2, and so on
/// select other random poses.
#[test]
fn every_minimum_is_found_once_and_none_is_invented() {
    let cases = cases();
    let parts: Vec<(Part, Part)> = cases.iter().map(|c| (model(c.a), model(c.b))).collect();
    let other_poses: u64 =
        std::env::var("FEELER_OTHER_POSES").map_or(0, |n| n.parse::<u64>().expect("a number"));
    let jobs: Vec<(usize, u64)> = cases
        .iter()
        .enumerate()
        .flat_map(|(i, c)| (0..c.poses.div_ceil(2)).map(move |k| (i, Case::seed(i, k, other_poses))))
        .collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let results = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                loop {
                    let k = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(&(i, seed)) = jobs.get(k) else { break };
                    let (n, diff) = differences(&cases[i], &parts[i], seed);
                    results.lock().unwrap().push((i, seed, n, diff));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|r| (r.0, r.1));
    let compared: Vec<_> = results.iter().filter(|r| r.2 != usize::MAX).collect();
    let minima: usize = compared.iter().map(|r| r.2).sum();
    println!(
        "{} poses compared ({} interfere), {minima} decided minima",
        compared.len(),
        results.len() - compared.len()
    );
    let wrong: Vec<String> =
        compared.iter().flat_map(|r| r.3.iter().map(move |d| format!("seed {}: {d}", r.1))).collect();
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared.len() >= 150, "only {} poses were apart: choose other base poses", compared.len());
}

/// Long straight edges beside patches that are much smaller than their distance: all minima within a distance
/// of 250 mm, without a search of the edges in intervals of the size of a patch.
#[test]
fn minima_of_long_edges_far_from_small_patches() {
    let parts = (model("swept"), model("box"));
    let (mut minima, mut evaluations) = (0, 0);
    for seed in 0..4 {
        let base = Pose::translation(-200.0, 150.0, 20.0);
        let case = Case { a: "swept", b: "box", base, dt: 20.0, dr: 3.0, d_max: 300.0, poses: 1 };
        let (n, wrong) = differences(&case, &parts, seed);
        assert!(wrong.is_empty(), "seed {seed}: {}", wrong.join("\n"));
        minima += n;
        let pose = random_pose(seed, &case.base, case.dt, case.dr);
        let options = QueryOptions { d_max: case.d_max, ..QueryOptions::default() };
        let pair = query(&parts.0, &parts.1, &Pose::identity(), &pose, &options);
        evaluations += pair.stats().effort().evaluations;
    }
    assert!(minima >= 8 && evaluations < 100_000, "{minima} minima, {evaluations} evaluations");
}

/// Minima of edges with edges, and of faces with edges and vertices, pressed ones included, do not depend on
/// the size of the areas into which faces and edges are divided.
#[test]
fn small_areas_have_the_minima_of_large_ones() {
    let b = model("box");
    let (mut pressed, mut apart) = (0, 0);
    for name in ["loft", "wave"] {
        let path = feeler_tests::data_dir().join(format!("{name}.step"));
        let [large, small] = [0.2, 0.01].map(|flatness| part_with(&path, 0, flatness));
        let reach = 0.5 * (large.solid.bounds.diagonal() + b.solid.bounds.diagonal());
        for seed in 0..40 {
            let turn = random_pose(seed, &Pose::identity(), 0.0, 3.0);
            let direction = turn * feeler_geom::V3::z();
            let centers = large.solid.bounds.center() - turn * b.solid.bounds.center();
            // The box is moved along the direction until it is pressed by 0.8 mm, or 0.2 mm away.
            let at = |s: f64| Pose::from_parts((centers + direction * s).into(), turn.rotation);
            let options = QueryOptions::within(reach);
            let distance = query(&large, &b, &Pose::identity(), &at(reach), &options).min_distance();
            let Some(distance) = distance else { continue };
            let mut s = reach - distance;
            for _ in 0..30 {
                let d = query(&large, &b, &Pose::identity(), &at(s), &options).min_distance();
                s -= d.unwrap_or(0.0).max(0.0);
            }
            for offset in [-0.8, 0.2] {
                let options = QueryOptions { penetration: 1.2, ..QueryOptions::within(2.0) };
                let found = [&large, &small].map(|a| {
                    let pair = query(a, &b, &Pose::identity(), &at(s + offset), &options);
                    let is_face = |f: FeatureRef| f.kind == FeatureKind::Face;
                    let is_chosen = |c: &&Contact| {
                        c.kind == ContactKind::Strict && !(is_face(c.feature_a) && is_face(c.feature_b))
                    };
                    pair.contacts().iter().filter(is_chosen).map(|c| c.distance).collect::<Vec<f64>>()
                });
                assert_eq!(found[0].len(), found[1].len(), "{name} {seed} {offset}: {found:?}");
                let differ = found[0].iter().zip(&found[1]).any(|(x, y)| (x - y).abs() > 1e-7);
                assert!(!differ, "{name} {seed} {offset}: {found:?}");
                pressed += found[0].iter().filter(|d| **d < -0.05).count();
                apart += found[0].iter().filter(|d| **d > 0.05).count();
            }
        }
    }
    assert!(pressed > 20 && apart > 20, "{pressed} {apart}");
}
