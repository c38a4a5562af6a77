//! Status of solids: separated, touching or interfering.

use crate::common::{at, body, random_pose, turned};
use feeler_brep::fixtures;
use feeler_geom::Pose;
use feeler_runtime::{Body, ContactPair, QueryOptions, Status};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use std::sync::Arc;

fn status(a: &Arc<Body>, b: &Arc<Body>, pose: &Pose) -> Status {
    let mut pair = ContactPair::new(a.clone(), b.clone());
    pair.query(&Pose::identity(), pose, &QueryOptions::within(0.1)).expect("finite poses and options");
    let found = pair.status();
    let mut swapped = ContactPair::new(b.clone(), a.clone());
    swapped.query(pose, &Pose::identity(), &QueryOptions::within(0.1)).expect("finite poses and options");
    assert_eq!(found, swapped.status(), "swapped at {pose}");
    found.expect("a status")
}

#[test]
fn contained_and_in_voids() {
    let (block, ball) = (body(&fixtures::block([-5.0; 3], [5.0; 3])), body(&fixtures::sphere(1.0)));
    assert_eq!(status(&block, &ball, &at(0.5, 0.3, 0.1)), Status::Interfering, "fully inside");
    assert_eq!(
        status(&block, &ball, &at(5.5, 0.3, 0.1)),
        Status::Interfering,
        "through a face, no edge near"
    );
    assert_eq!(status(&block, &ball, &at(5.999, 0.3, 0.1)), Status::Interfering, "barely through a face");
    assert_eq!(status(&block, &ball, &at(6.0, 0.3, 0.1)), Status::Touching, "touching");
    assert_eq!(status(&block, &ball, &at(6.001, 0.3, 0.1)), Status::Separated, "apart");
    let hollow = body(&fixtures::hollow_sphere(5.0, 3.0));
    assert_eq!(status(&hollow, &ball, &at(1.0, 0.0, 0.0)), Status::Separated, "in the void");
    assert_eq!(status(&hollow, &ball, &at(0.0, 2.5, 0.0)), Status::Interfering, "in the wall from the void");
    assert_eq!(status(&hollow, &ball, &at(0.0, 0.0, 4.0)), Status::Interfering, "in the wall");
    let nested = body(&fixtures::hollow_sphere(4.0, 2.0));
    assert_eq!(status(&hollow, &nested, &at(0.0, 0.0, 0.0)), Status::Interfering, "interleaved shells");
    let small = body(&fixtures::hollow_sphere(2.9, 2.0));
    assert_eq!(status(&hollow, &small, &at(0.0, 0.0, 0.0)), Status::Separated, "shell in the void");
}

#[test]
fn crossing_bars_and_flush_faces() {
    let bar = body(&fixtures::block([-5.0, -0.5, -0.5], [5.0, 0.5, 0.5]));
    for angle in [10.0, 45.0, 90.0] {
        assert_eq!(
            status(&bar, &bar, &turned(0.3, 0.2, 0.1, 0.0, 0.0, angle)),
            Status::Interfering,
            "{angle}"
        );
        assert_eq!(
            status(&bar, &bar, &turned(0.3, 0.2, 0.9999, 0.0, 0.0, angle)),
            Status::Interfering,
            "{angle}"
        );
        assert_eq!(status(&bar, &bar, &turned(0.3, 0.2, 1.0, 0.0, 0.0, angle)), Status::Touching, "{angle}");
        assert_eq!(
            status(&bar, &bar, &turned(0.3, 0.2, 1.001, 0.0, 0.0, angle)),
            Status::Separated,
            "{angle}"
        );
    }
    assert_eq!(status(&bar, &bar, &at(0.0, 0.0, 0.0)), Status::Interfering, "identical solids");
    // Solids with flush faces, then a peg that fills its hole.
    assert_eq!(status(&bar, &bar, &at(10.0, 0.0, 0.0)), Status::Touching, "end to end");
    assert_eq!(status(&bar, &bar, &at(3.0, 1.0, 0.0)), Status::Touching, "side by side");
    assert_eq!(status(&bar, &bar, &at(3.0, 0.9, 0.0)), Status::Interfering, "overlapping");
    let (block, peg) =
        (body(&fixtures::block_with_hole(5.0, 4.0, 2.0)), body(&fixtures::cylinder(2.0, 10.0)));
    assert_eq!(status(&block, &peg, &at(0.0, 0.0, -3.0)), Status::Touching, "filling");
    assert_eq!(status(&block, &peg, &at(0.01, 0.0, -3.0)), Status::Interfering, "off-centre");
    let thin = body(&fixtures::cylinder(1.9, 10.0));
    assert_eq!(status(&block, &thin, &at(0.0, 0.0, -3.0)), Status::Separated, "in the hole");
    assert_eq!(status(&block, &thin, &at(0.2, 0.0, -3.0)), Status::Interfering, "into the wall");
    assert_eq!(status(&block, &thin, &turned(0.0, 0.0, -3.0, 0.0, 20.0, 0.0)), Status::Interfering, "tilted");
}

/// Compares the status with grid points inside both solids.
#[test]
fn random_poses_against_points() {
    type Inside = fn(f64, f64, f64) -> f64;
    // Depth (mm) of a point in each solid, positive inside: exact or a lower bound.
    let solids: [(Arc<Body>, Inside); 4] = [
        (body(&fixtures::block([-1.0, -0.8, -0.5], [1.0, 0.8, 0.5])), |x, y, z| {
            (1.0 - x.abs()).min(0.8 - y.abs()).min(0.5 - z.abs())
        }),
        (body(&fixtures::sphere(0.9)), |x, y, z| 0.9 - (x * x + y * y + z * z).sqrt()),
        (body(&fixtures::torus(1.2, 0.4)), |x, y, z| {
            let ring = (x * x + y * y).sqrt() - 1.2;
            0.4 - (ring * ring + z * z).sqrt()
        }),
        (body(&fixtures::cylinder(0.7, 1.5)), |x, y, z| (0.7 - (x * x + y * y).sqrt()).min(z).min(1.5 - z)),
    ];
    let mut rng = SmallRng::seed_from_u64(5);
    let mut seen = [0; 2];
    for (i, (a, inside_a)) in solids.iter().enumerate() {
        for (b, inside_b) in &solids[i..] {
            for _ in 0..12 {
                let pose = random_pose(&mut rng, 1.5);
                let n = 30;
                let deepest = (0..n * n * n)
                    .map(|k| {
                        let g = |i: i32| 3.4 * (f64::from(i) + 0.5) / f64::from(n) - 1.7;
                        let (x, y, z) = (g(k % n), g(k / n % n), g(k / n / n));
                        let q = pose.inverse_transform_point(&feeler_geom::P3::new(x, y, z));
                        inside_a(x, y, z).min(inside_b(q.x, q.y, q.z))
                    })
                    .fold(f64::NEG_INFINITY, f64::max);
                let found = status(a, b, &pose);
                // Grid points are 0.11 apart, so a common part without a grid point is at most 0.1 deep.
                if deepest > 0.0 {
                    assert_eq!(
                        found,
                        Status::Interfering,
                        "{:?} {:?} {pose}: {deepest}",
                        a.hierarchy().info.name,
                        b.hierarchy().info.name
                    );
                    seen[0] += 1;
                } else if deepest < -0.1 {
                    assert_eq!(found, Status::Separated, "{pose}: {deepest}");
                    seen[1] += 1;
                }
            }
        }
    }
    assert!(seen[0] > 20 && seen[1] > 10, "{seen:?}");
}

/// Two faces that intersect in one small closed curve near the apex of a cone.
#[test]
fn a_cone_dips_into_a_ring() {
    use nalgebra::{Quaternion, Translation3, UnitQuaternion};
    let (ring, cone) = (body(&fixtures::torus_with_seams(1.2, 0.4)), body(&fixtures::cone(0.8, 1.5)));
    let turn = Quaternion::new(0.65044974954050, 0.39068130861462, -0.38344948489273, -0.52654508919689);
    let pose = Pose::from_parts(
        Translation3::new(1.27397122496456, 1.67369440189248, -0.86904019771626),
        UnitQuaternion::from_quaternion(turn),
    );
    // Depth (mm) of points of the cone in the tube of the ring.
    let hypot = feeler_geom::math::hypot;
    let depth = |p: feeler_geom::P3| 0.4 - hypot(hypot(p.x, p.y) - 1.2, p.z);
    let deepest = (0..720 * 150).map(|k| {
        let (angle, h) = (f64::from(k % 720) * std::f64::consts::TAU / 720.0, 0.01 * f64::from(k / 720));
        let r = 0.8 * (1.0 - h / 1.5);
        let (sin, cos) = feeler_geom::math::sin_cos(angle);
        depth(pose * feeler_geom::P3::new(r * cos, r * sin, h))
    });
    assert!((deepest.fold(f64::MIN, f64::max) - 0.014).abs() < 1e-3, "the cone dips into the ring by 0.014");
    assert_eq!(status(&ring, &cone, &pose), Status::Interfering);
}

/// Along paths through contact and interference, a pair that reuses earlier queries reports the same
/// status as a new pair.
#[test]
fn status_along_paths_equals_that_of_new_pairs() {
    use rand::Rng as _;
    let plate = body(&fixtures::block_with_hole(4.0, 2.0, 2.0));
    let ring = body(&fixtures::torus_with_seams(2.5, 0.45));
    let rounds = [
        body(&fixtures::cylinder(1.95, 3.0)),
        body(&fixtures::cylinder_halves(1.95, 3.0)),
        body(&fixtures::stadium(1.9, 0.98, 3.0)),
        body(&fixtures::cone(2.5, 4.0)),
    ];
    let mut rng = SmallRng::seed_from_u64(6);
    let mut seen = [0, 0];
    for (k, (a, b)) in
        [&plate, &ring].into_iter().flat_map(|a| rounds.iter().map(move |b| (a, b))).enumerate()
    {
        let mut pair = ContactPair::new(a.clone(), b.clone());
        let options = QueryOptions::within(0.1);
        let (mut position, mut turn) = ([0.0; 3], 0.0);
        for step in 0..250 {
            // Large rotations about the axis and small displacements near the fit.
            for (x, middle) in position.iter_mut().zip([0.0, 0.0, -0.9]) {
                *x += 0.1 * (middle - *x) + rng.random_range(-0.03..0.03);
            }
            turn += rng.random_range(-2.0..4.0);
            // Occasionally, the motion jumps or starts anew.
            match step % 50 {
                20 => position[0] += 1.5,
                21 => position[0] -= 1.5,
                35 => turn += 90.0,
                45 => pair.forget(),
                _ => {}
            }
            let pose =
                turned(position[0], position[1], position[2], position[0] * 8.0, position[1] * 8.0, turn);
            pair.query(&Pose::identity(), &pose, &options).expect("finite poses and options");
            let mut fresh = ContactPair::new(a.clone(), b.clone());
            fresh.query(&Pose::identity(), &pose, &options).expect("finite poses and options");
            assert_eq!(pair.status(), fresh.status(), "pair {k}, step {step}, {pose}");
            seen[usize::from(fresh.status() == Some(Status::Interfering))] += 1;
        }
    }
    assert!(seen.iter().all(|n| *n > 400), "{seen:?}");
}

#[test]
fn a_rod_through_a_plate() {
    let rod = body(&fixtures::cylinder_without_seam(0.3, 10.0));
    let plate = body(&fixtures::block([-2.0, -2.0, -0.2], [2.0, 2.0, 0.2]));
    for z in [-5.0, -3.3, -1.0] {
        assert_eq!(status(&plate, &rod, &at(0.1, 0.2, z)), Status::Interfering, "{z}");
    }
}
