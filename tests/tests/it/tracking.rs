//! Sets of contact trackers suffice for steps: some steps of the benchmark program `tracking`.

use feeler_brep::fixtures::prism;
use feeler_geom::{Pose, V3};
use feeler_import::DEFAULT_FLATNESS;
use feeler_runtime::{ContactTracker, StepBound, TrackerOptions};
use feeler_tests::tracking::{Scene, Tally};
use feeler_tests::{model, part_of};
use nalgebra::{Translation3, UnitQuaternion};

fn scene(name: &str, [a, b]: [&str; 2], poses: &[Pose], jitter: [f64; 2]) -> Scene {
    let [a, b] = [a, b].map(model);
    let poses = poses.iter().map(|p| a.pose.inverse() * p * b.pose).collect();
    Scene { name: name.to_owned(), a: a.body, b: b.body, poses, jitter }
}

/// Checks sufficiency, mirror, agreement and continuity on the steps of one seed.
fn check(scene: &Scene, steps: u64) {
    let mut tally = Tally::default();
    scene.run(1, 0..steps, &mut tally);
    scene.follow(1, 0, &mut tally);
    let outcomes = &tally.outcomes;
    assert!(outcomes.len() as u64 > steps / 2, "{}: {} of {steps} steps", scene.name, outcomes.len());
    assert!(tally.exceptions.is_empty(), "{:#?}", tally.exceptions);
    assert!(tally.disagreements.is_empty(), "{:#?}", tally.disagreements);
    assert!(tally.discontinuities.is_empty(), "{:#?}", tally.discontinuities);
    let accepted = outcomes.iter().filter(|o| o.is_accepted).count();
    assert!(accepted * 100 >= outcomes.len() * 95, "{}: {accepted} accepted", scene.name);
    let free = outcomes.iter().filter(|o| o.is_path_free).count();
    assert!(
        tally.shortened.len() * 50 <= free,
        "{} of {free}: {:#?}",
        tally.shortened.len(),
        tally.shortened
    );
    assert!(!outcomes.iter().any(|o| o.is_by_extension), "{:#?}", tally.shortened);
}

#[test]
fn flush_boxes() {
    let turn =
        Pose::from_parts(Translation3::new(2.0, 1.0, 20.02), UnitQuaternion::from_scaled_axis(V3::z() * 0.3));
    let poses = [Pose::translation(1.3, 0.7, 20.02), turn];
    check(&scene("flush boxes", ["box", "box"], &poses, [0.01, 5e-4]), 90);
}

#[test]
fn pin_in_its_bore() {
    let poses = [20.1, 25.0].map(|z| Pose::translation(0.0, 0.0, z));
    check(&scene("pin in bore", ["blind-bore", "pin"], &poses, [0.02, 5e-4]), 90);
}

#[test]
fn plug_in_its_socket() {
    let poses = [0.5, 3.0].map(|z| Pose::translation(0.0, 0.0, z));
    check(&scene("peg", ["socket", "plug"], &poses, [0.05, 1e-3]), 90);
}

#[test]
fn ball_in_its_race() {
    let poses = [Pose::translation(13.0, 0.0, 0.0), Pose::translation(9.2, 9.2, 0.0)];
    check(&scene("race and ball", ["race", "ball"], &poses, [0.05, 3.0]), 90);
}

/// Steps that ended deeper than allowed before the sets had
/// - samples along the border of a cone that is not at its contact (peg);
/// - samples for steps of 0.1 to 0.2 mm as dense as the stated error needs (race and ball);
/// - obtuse corners of flush areas (bricks);
/// - contacts of edges beyond their ends in concave corners (hinge leaf);
/// - samples on all turns of a thread, at the curvature that a displacement across the axis causes (thread).
#[test]
fn steps_that_ended_too_deep() {
    let id = Pose::identity();
    let turned = |pose: Pose, axis: V3, angle: f64| {
        pose * Pose::from_parts(Translation3::identity(), UnitQuaternion::from_scaled_axis(axis * angle))
    };
    let at = Pose::translation;
    let brick = at(0.5, 0.3, 10.02);
    let leaf = ["contact/hinge-base", "contact/hinge-leaf"];
    let races = [at(13.0, 0.0, 0.0), at(0.0, 13.0, 0.0), at(9.2, 9.2, 0.0)];
    let bricks = [at(0.0, 0.0, 10.02), brick, turned(brick, V3::z(), 0.0873)];
    let cases = [
        (scene("peg", ["socket", "plug"], &[0.5, 3.0, 8.0].map(|z| at(0.0, 0.0, z)), [0.05, 1e-3]), 473),
        (scene("race and ball", ["race", "ball"], &races, [0.05, 3.0]), 395),
        (scene("bricks", ["contact/brick"; 2], &bricks, [0.005, 2e-4]), 56),
        (scene("hinge leaf", leaf, &[id, turned(id, V3::y(), 0.7)], [0.02, 5e-4]), 148),
        (scene("thread", ["thread/nut", "thread/bolt"], &[id], [0.005, 1e-4]), 23),
    ];
    for (scene, step) in &cases {
        let mut tally = Tally::default();
        scene.run(5, *step..step + 1, &mut tally);
        assert!(tally.outcomes.iter().all(|o| o.is_accepted) && tally.outcomes.len() == 1, "{}", scene.name);
        assert!(tally.exceptions.is_empty(), "{:#?}", tally.exceptions);
    }
}

/// An edge of a leaning block that touches the rims of both flanks of an obtuse corner has a contact with
/// each, although its footpoint on one of them lies beyond the end of the rim.
#[test]
fn leaning_edge_in_an_obtuse_corner() {
    let body = |polygon: &[[f64; 2]], height| part_of(&prism(polygon, height), DEFAULT_FLATNESS).body;
    let (x, y) = (10.0, 10.0 * 3.0_f64.sqrt());
    let flanks = [[-20.0, -10.0], [x + 10.0, -10.0], [x + 10.0, y], [x, y], [0.0, 0.0], [-20.0, 0.0]];
    let block = [[-2.0, 0.0], [0.0, 0.0], [0.0, 2.0], [-2.0, 2.0]];
    let (a, b) = (body(&flanks, 20.0), body(&block, 10.0));
    let normals = [V3::y(), V3::new(-0.5 * 3.0_f64.sqrt(), 0.5, 0.0)];
    // The block leans towards the corner above the rims.
    let lean = UnitQuaternion::from_scaled_axis((normals[0] + normals[1]).cross(&V3::z()) * 0.01);
    let bound = StepBound { rotation: 1e-4, displacement: 0.1 };
    for gap in [1e-5, 1e-3, 1e-2] {
        let middle = Pose::from_parts(Translation3::identity(), lean) * Pose::translation(0.0, 0.0, -5.0);
        let pose = Pose::translation(0.3 * gap, gap, 20.0) * middle;
        let mut tracker = ContactTracker::new(a.clone(), b.clone(), TrackerOptions::default());
        tracker.update(&Pose::identity(), &pose, bound).unwrap();
        for normal in normals {
            let is_there = tracker.active().any(|c| (c.normal - normal).norm() < 0.05);
            assert!(is_there, "gap {gap}: no contact with normal {normal:?}");
        }
    }
}

/// A block's corner that touches both flanks of an obtuse corner has a contact with each.
#[test]
fn block_in_an_obtuse_corner() {
    let body = |polygon: &[[f64; 2]], height| part_of(&prism(polygon, height), DEFAULT_FLATNESS).body;
    let (x, y) = (10.0, 10.0 * 3.0_f64.sqrt());
    let flanks = [[-20.0, -10.0], [x + 10.0, -10.0], [x + 10.0, y], [x, y], [0.0, 0.0], [-20.0, 0.0]];
    let block = [[-2.0, 0.0], [0.0, 0.0], [0.0, 2.0], [-2.0, 2.0]];
    let (a, b) = (body(&flanks, 20.0), body(&block, 10.0));
    let mut tracker = ContactTracker::new(a, b, TrackerOptions::default());
    let bound = StepBound { rotation: 1e-4, displacement: 0.1 };
    for gap in [1e-5, 1e-6, 1e-3] {
        let pose = Pose::translation(-0.5 * gap, gap, 5.0);
        tracker.update(&Pose::identity(), &pose, bound).unwrap();
        for normal in [V3::y(), V3::new(-0.5 * 3.0_f64.sqrt(), 0.5, 0.0)] {
            let is_there = tracker.active().any(|c| (c.normal - normal).norm() < 1e-6);
            assert!(is_there, "gap {gap}: no contact with normal {normal:?}");
        }
    }
}
