//! Shared reference data: global distances from an independent kernel and complete sets of minima from an
//! independent brute-force search. The tests are skipped unless the shared corpus is beside the
//! repository.
#![expect(clippy::print_stdout, reason = "the test reports the comparison of each pair")]

use feeler_geom::{P3, Pose};
use feeler_runtime::{Contact, ContactKind, QueryOptions};
use feeler_tests::corpus::{Facts, boundary_distance, find_part};
use feeler_tests::{Part, part, pose_of_matrix, query, shared_dir};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
struct Pairs {
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    id: String,
    #[serde(rename = "A")]
    a: Side,
    #[serde(rename = "B")]
    b: Side,
    poses: Vec<PairPose>,
}

#[derive(Deserialize)]
struct Side {
    file: String,
    facts: Facts,
}

#[derive(Deserialize)]
#[expect(non_snake_case, reason = "names of the file's keys")]
struct PairPose {
    pose_B: [[f64; 4]; 4],
    ocp_distance: f64,
}

#[derive(Deserialize)]
struct Set {
    case: String,
    a: String,
    b: String,
    pose_b: [[f64; 4]; 4],
    d_max: f64,
    #[serde(rename = "lmds")]
    contacts: Vec<Known>,
    near_misses: Vec<Known>,
}

#[derive(Clone, Deserialize)]
struct Known {
    distance: f64,
    point_a: [f64; 3],
    point_b: [f64; 3],
    feature_a: KnownFeature,
    feature_b: KnownFeature,
    borderline: Vec<String>,
    model_deviation: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct KnownFeature {
    kind: String,
    #[serde(rename = "type")]
    ty: String,
}

/// Lines `case: reason` of the list of known differences; `#` starts a comment.
fn known_differences() -> BTreeMap<String, String> {
    include_str!("../../known-differences.txt")
        .lines()
        .filter(|l| !l.trim().is_empty() && !l.starts_with('#'))
        .map(|l| {
            let (case, why) = l.split_once(": ").expect("lines are `case: reason`");
            (case.to_owned(), why.to_owned())
        })
        .collect()
}

/// Compares failures with the list of known differences. The list may only shrink: a listed case that
/// agrees fails the test as well.
fn check_failures(what: &str, prefix: &str, failures: &BTreeMap<String, String>) {
    let known = known_differences();
    let new: Vec<_> =
        failures.iter().filter(|(k, _)| !known.contains_key(*k)).map(|(k, v)| format!("{k}: {v}")).collect();
    let gone: Vec<_> = known.keys().filter(|k| k.starts_with(prefix) && !failures.contains_key(*k)).collect();
    assert!(new.is_empty(), "{} new differences in {what}:\n{}", new.len(), new.join("\n"));
    assert!(gone.is_empty(), "listed differences that agree now, remove them from the list: {gone:?}");
}

fn parts(dir: &Path, pair: &Pair) -> (Part, Part) {
    let side = |s: &Side| find_part(&dir.join("models").join(&s.file), &s.facts);
    (side(&pair.a), side(&pair.b))
}

fn sizes(a: &Part, b: &Part) -> (f64, f64) {
    let size = a.solid.bounds.diagonal().max(b.solid.bounds.diagonal());
    (size, a.body.hierarchy().info.max_trim_deviation + b.body.hierarchy().info.max_trim_deviation)
}

#[test]
fn smallest_distances() {
    let Some(dir) = shared_dir() else { return println!("no shared corpus beside the repository: skipped") };
    let pairs: Pairs =
        serde_json::from_str(&std::fs::read_to_string(dir.join("oracle/pairs.json")).unwrap()).unwrap();
    let mut failures = BTreeMap::new();
    for pair in &pairs.pairs {
        let (a, b) = parts(&dir, pair);
        let (size, deviation) = sizes(&a, &b);
        let (mut equal, mut smaller) = (0, 0);
        for (i, pose) in pair.poses.iter().enumerate() {
            let m = pose_of_matrix(&pose.pose_B);
            let options = QueryOptions { d_max: pose.ocp_distance * 1.2, ..QueryOptions::default() };
            let result = query(&a, &b, &Pose::identity(), &m, &options);
            let key = format!("distance {}-{i}", pair.id);
            let Some(l) = result.contacts().first() else {
                failures.insert(key, format!("nothing found, expected {:.9}", pose.ocp_distance));
                continue;
            };
            let tol = 1e-7 * size;
            let difference = l.distance - pose.ocp_distance;
            if difference.abs() <= tol + deviation {
                equal += 1;
                continue;
            }
            let off = boundary_distance(&a.solid, &(a.pose.inverse() * l.point_a))
                .max(boundary_distance(&b.solid, &((m * b.pose).inverse() * l.point_b)));
            if difference < 0.0 && off <= tol + deviation {
                smaller += 1;
                println!(
                    "{key}: {:.9} is below the other kernel's {:.9}; footpoints {:?} {:?} are on the solids \
                        to {off:.1e}",
                    l.distance, pose.ocp_distance, l.point_a, l.point_b
                );
            } else {
                failures.insert(
                    key,
                    format!(
                        "{:.9}, expected {:.9}, {:?} #{} / {:?} #{}, footpoints off by {off:.1e}",
                        l.distance,
                        pose.ocp_distance,
                        l.feature_a.kind,
                        l.feature_a.source,
                        l.feature_b.kind,
                        l.feature_b.source
                    ),
                );
            }
        }
        println!("{}: {equal} equal, {smaller} smaller, of {}", pair.id, pair.poses.len());
    }
    check_failures("the global distances", "distance ", &failures);
}

#[test]
fn complete_sets() {
    let Some(dir) = shared_dir() else { return println!("no shared corpus beside the repository: skipped") };
    let pairs: Pairs =
        serde_json::from_str(&std::fs::read_to_string(dir.join("oracle/pairs.json")).unwrap()).unwrap();
    let sets: Vec<Set> =
        serde_json::from_str(&std::fs::read_to_string(dir.join("oracle/lmd_sets.json")).unwrap()).unwrap();
    let mut failures = BTreeMap::new();
    let mut cache: BTreeMap<String, (Part, Part)> = BTreeMap::new();
    for set in &sets {
        let group = set.case.rsplit_once('-').expect("cases are named pair-number").0.to_owned();
        let (a, b) =
            cache.entry(group.clone()).or_insert_with(|| match pairs.pairs.iter().find(|p| p.id == group) {
                Some(pair) => parts(&dir, pair),
                None => (
                    part(&dir.join("scenarios").join(&set.a), 0),
                    part(&dir.join("scenarios").join(&set.b), 0),
                ),
            });
        let (size, _) = sizes(a, b);
        let options = QueryOptions { d_max: set.d_max, ..QueryOptions::default() };
        let result = query(a, b, &Pose::identity(), &pose_of_matrix(&set.pose_b), &options);
        let matches = |k: &Known, l: &Contact| {
            // The distance is compared tightly, the points loosely, because footpoints of minima with
            // small curvature gaps are ill-conditioned along the flat direction.
            let tol = 1e-7 * size + k.model_deviation;
            (k.distance - l.distance).abs() <= tol
                && (P3::from(k.point_a) - l.point_a).norm() <= 2e-5 * size + 20.0 * tol
                && (P3::from(k.point_b) - l.point_b).norm() <= 2e-5 * size + 20.0 * tol
        };
        let mut wrong = Vec::new();
        for k in set.contacts.iter().filter(|k| k.borderline.is_empty()) {
            if !result.contacts().iter().any(|l| matches(k, l)) {
                let why = explain(result.contacts(), k);
                wrong.push(format!(
                    "missing {:.9} {} {} / {} {} at {:?} ({why})",
                    k.distance, k.feature_a.kind, k.feature_a.ty, k.feature_b.kind, k.feature_b.ty, k.point_a
                ));
            }
        }
        for l in result.contacts().iter().filter(|l| l.kind == ContactKind::Strict) {
            if !set.contacts.iter().chain(&set.near_misses).any(|k| matches(k, l)) {
                wrong.push(format!(
                    "not a minimum: {:.9} {:?} #{} / {:?} #{} at {:?}",
                    l.distance,
                    l.feature_a.kind,
                    l.feature_a.source,
                    l.feature_b.kind,
                    l.feature_b.source,
                    l.point_a
                ));
            }
        }
        println!(
            "{}: {} reference minima, {} found, {} differences",
            set.case,
            set.contacts.len(),
            result.contacts().len(),
            wrong.len()
        );
        if !wrong.is_empty() {
            failures.insert(format!("set {}", set.case), wrong.join("; "));
        }
    }
    check_failures("the complete sets", "set ", &failures);
}

/// Nearest result of the query, for the message.
fn explain(contacts: &[Contact], k: &Known) -> String {
    contacts
        .iter()
        .map(|l| ((P3::from(k.point_a) - l.point_a).norm() + (P3::from(k.point_b) - l.point_b).norm(), l))
        .min_by(|x, y| x.0.total_cmp(&y.0))
        .map_or_else(
            || "nothing found".to_owned(),
            |(off, l)| {
                format!(
                    "nearest is {:.9}, off by {off:.1e}, {:?}/{:?}",
                    l.distance, l.feature_a.kind, l.feature_b.kind
                )
            },
        )
}
