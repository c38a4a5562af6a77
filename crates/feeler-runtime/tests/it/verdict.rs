//! Witnesses of verdicts, and poses between touching and interfering.

use crate::common::{at, body, random_pose, turned};
use feeler_brep::fixtures;
use feeler_brep::sheet::both_sides;
use feeler_geom::{P3, Pose};
use feeler_runtime::{Body, ContactPair, QueryOptions, Status, Verdict, Witness};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use std::sync::Arc;

fn verdict(a: &Arc<Body>, b: &Arc<Body>, pose_b: &Pose) -> Verdict {
    let mut pair = ContactPair::new(a.clone(), b.clone());
    pair.query(&Pose::identity(), pose_b, &QueryOptions::within(0.1)).expect("finite poses and options");
    let found = pair.verdict().expect("a verdict").clone();
    let mut swapped = ContactPair::new(b.clone(), a.clone());
    swapped.query(pose_b, &Pose::identity(), &QueryOptions::within(0.1)).expect("finite poses and options");
    assert_eq!(Some(found.status), swapped.status(), "swapped at {pose_b}");
    found
}

fn witness(a: &Arc<Body>, b: &Arc<Body>, pose_b: &Pose) -> Witness {
    let found = verdict(a, b, pose_b);
    assert_eq!(found.status, Status::Interfering, "at {pose_b}");
    found.witness.expect("an interfering verdict has a witness")
}

/// The distances of the witness of two balls are exact and add up to the depth.
#[test]
fn witnesses_of_balls() {
    let (large, small) = (body(&fixtures::sphere(2.0)), body(&fixtures::sphere(1.0)));
    for x in [2.99, 2.5, 2.0, 1.5] {
        let found = witness(&large, &small, &at(0.6 * x, 0.8 * x, 0.0));
        let depth = 3.0 - x;
        let sum = found.inside_a + found.inside_b;
        assert!((sum - depth).abs() < 1e-6 * depth, "{sum} instead of {depth}");
        assert!((found.inside_a - (2.0 - found.point.coords.norm())).abs() < 1e-9, "{found:?}");
        let center = P3::new(0.6 * x, 0.8 * x, 0.0);
        assert!((found.inside_b - (1.0 - (found.point - center).norm())).abs() < 1e-9, "{found:?}");
    }
}

/// The sum of the distances of the witness of two blocks is within a twentieth of the overlap.
#[test]
fn witnesses_of_blocks() {
    let block = body(&fixtures::block([-1.0; 3], [1.0; 3]));
    for overlap in [1e-4, 1e-2, 0.4] {
        let found = witness(&block, &block, &at(2.0 - overlap, 0.1, 0.2));
        let sum = found.inside_a + found.inside_b;
        assert!(sum > 0.95 * overlap && sum < overlap * (1.0 + 1e-9), "{sum} of {overlap}");
    }
}

/// A bolt driven into a hole that is too narrow: no edge passes through a face.
#[test]
fn a_bolt_in_a_narrow_hole() {
    let block = body(&fixtures::block_with_hole(6.0, 8.0, 3.3));
    for radius in [3.301, 3.5, 4.0] {
        let bolt = body(&fixtures::cylinder(radius, 20.0));
        let found = witness(&block, &bolt, &at(0.0, 0.0, -5.0));
        let rho = found.point.xy().coords.norm();
        assert!(rho > 3.3 && rho < radius, "{found:?}");
    }
}

/// Solids pressed in by at most two tolerances touch, deeper ones interfere.
#[test]
fn from_touching_to_interfering() {
    let plate = body(&fixtures::block([-10.0; 3], [10.0, 10.0, 0.0]));
    let tol = 1e-7 * plate.size();
    for solid in [fixtures::sphere(1.0), fixtures::block([-1.0; 3], [1.0; 3]), fixtures::torus(2.0, 1.0)] {
        let solid = body(&solid);
        let status = |depth: f64| verdict(&plate, &solid, &at(0.3, 0.2, 1.0 - depth * tol)).status;
        assert_eq!(status(-1.5), Status::Separated);
        for depth in [-0.9, 0.0, 0.9, 1.5, 1.9] {
            assert_eq!(status(depth), Status::Touching, "{depth} tolerances");
        }
        for depth in [3.0, 10.0, 1e3] {
            assert_eq!(status(depth), Status::Interfering, "{depth} tolerances");
        }
    }
}

/// A shallow contact of a plate with a peg that is deep in the material.
#[test]
fn a_deep_peg_below_a_shallow_plate() {
    let block = body(&fixtures::block([-10.0, -10.0, -10.0], [10.0, 0.0, 10.0]));
    let polygon = [
        [-5.0, 0.0],
        [-1.0, 0.0],
        [-1.0, -3.0],
        [1.0, -3.0],
        [1.0, 0.0],
        [5.0, 0.0],
        [5.0, 1.0],
        [-5.0, 1.0],
    ];
    let pegged = body(&fixtures::prism(&polygon, 4.0));
    let tol = 1e-7 * block.size();
    for depth in [0.0, 0.5, 1.2, 1.7, 2.2, 5.0] {
        let found = verdict(&block, &pegged, &at(0.3, -depth * tol, -2.0));
        assert_eq!(found.status, Status::Interfering, "{depth} tolerances");
    }
}

/// Sheets have no inside. They interfere with solids that contain or intersect them, and touch solids
/// that they lie on.
#[test]
fn sheets() {
    let mut open = fixtures::block([0.0, 0.0, 0.0], [2.0, 3.0, 4.0]);
    open.faces.pop();
    let sheet = body(&both_sides(open).expect("two sides").solid);
    let block = body(&fixtures::block([-9.0; 3], [9.0, 9.0, 0.0]));
    let status = |z: f64| verdict(&block, &sheet, &at(0.1, 0.2, z)).status;
    assert_eq!(status(0.5), Status::Separated, "above");
    assert_eq!(status(0.0), Status::Touching, "on the block");
    assert_eq!(status(-1.0), Status::Interfering, "through the top");
    assert_eq!(status(-6.0), Status::Interfering, "inside");
    let small = body(&fixtures::block([0.5; 3], [1.0; 3]));
    assert_eq!(verdict(&small, &sheet, &at(0.0, 0.0, 0.0)).status, Status::Separated, "in the box of sheets");
    assert_eq!(verdict(&small, &sheet, &at(0.75, 0.0, 0.0)).status, Status::Interfering, "through a wall");
    assert_eq!(verdict(&sheet, &sheet, &turned(0.7, 0.4, 0.3, 10.0, 20.0, 30.0)).status, Status::Interfering);
    assert_eq!(verdict(&sheet, &sheet, &at(0.0, 0.0, 9.0)).status, Status::Separated);
}

/// Verdicts are equal for both orders of the solids, for cold and warm queries, and by brute force.
#[test]
fn verdicts_do_not_depend_on_order_and_history() {
    let mut rng = SmallRng::seed_from_u64(7);
    let solids = [
        fixtures::block_with_hole(3.0, 4.0, 2.0),
        fixtures::notched_cube(3.0),
        fixtures::hollow_sphere(3.0, 2.0),
        fixtures::cone(2.0, 3.0),
        fixtures::torus_with_seams(2.0, 0.7),
    ]
    .map(|s| body(&s));
    let mut interfering = 0;
    for k in 0..60 {
        let (a, b) = (&solids[k % 5], &solids[(k / 5) % 5]);
        let mut warm = ContactPair::new(a.clone(), b.clone());
        for _ in 0..4 {
            let pose = random_pose(&mut rng, 4.0);
            let cold = verdict(a, b, &pose);
            warm.query(&Pose::identity(), &pose, &QueryOptions::within(0.1)).expect("finite");
            assert_eq!(warm.verdict(), Some(&cold), "warm");
            let all = QueryOptions::within(0.1).brute_force();
            warm.query(&Pose::identity(), &pose, &all).expect("finite");
            assert_eq!(warm.status(), Some(cold.status), "brute force");
            interfering += usize::from(cold.status == Status::Interfering);
        }
    }
    assert!(interfering > 60, "{interfering}");
}
