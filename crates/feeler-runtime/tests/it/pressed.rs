//! Contacts at negative distances: closed forms, penetration depth of convex solids, swapped solids,
//! motions through contact.

use crate::common::{body, random_rotation};
use feeler_brep::fixtures;

use feeler_convex::{
    Ball, Cuboid, Moved, PenetrationOutcome, PenetrationRequest, Polytope, Support, penetration,
};
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{Body, Contact, ContactPair, QueryError, QueryOptions, Status};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::Arc;

fn pressed(penetration: f64) -> QueryOptions {
    QueryOptions { penetration, ..QueryOptions::within(0.1) }
}

/// Returns the minima of a new pair after checking that footpoints, normals and distances are
/// consistent.
fn minima(
    a: &Arc<Body>,
    b: &Arc<Body>,
    pose_a: &Pose,
    pose_b: &Pose,
    options: &QueryOptions,
) -> Vec<Contact> {
    let mut pair = ContactPair::new(a.clone(), b.clone());
    let found = pair.query(pose_a, pose_b, options).expect("finite poses and options").to_vec();
    for l in &found {
        let gap = l.point_b - l.point_a - l.normal * l.distance;
        assert!(gap.norm() < 1e-9 * a.size().max(b.size()), "{l:?}");
    }
    found
}

fn moved(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

/// Balls pressed into faces of all kinds, edges and vertices, with known distances of the centre.
#[test]
fn balls_pressed_into_all_features() {
    let ball = body(&fixtures::sphere(1.0));
    let (pi4, root) = (std::f64::consts::FRAC_PI_4, std::f64::consts::FRAC_1_SQRT_2);
    let block = body(&fixtures::block([-3.0; 3], [3.0; 3]));
    let cylinder = body(&fixtures::cylinder(2.0, 6.0));
    let torus = body(&fixtures::torus(5.0, 1.5));
    let cone = body(&fixtures::cone(3.0, 3.0));
    let hollow = body(&fixtures::hollow_sphere(6.0, 4.0));
    let apple = body(&fixtures::apple(2.0, 3.0));
    for depth in [1e-3, 0.05, 0.3, 0.9] {
        let out = 1.0 - depth;
        // Solid, centre of the ball, and unit direction from the solid to the centre.
        let cases: [(&Arc<Body>, V3, V3); 8] = [
            (&block, V3::new(0.3, -0.8, 3.0 + out), V3::z()),
            (&block, V3::new(3.0, 0.2, 3.0) + V3::new(root, 0.0, root) * out, V3::new(root, 0.0, root)),
            (&block, V3::repeat(3.0 + out / 3.0_f64.sqrt()), V3::repeat(1.0 / 3.0_f64.sqrt())),
            (&cylinder, V3::new(0.0, 2.0 + out, 3.0), V3::y()),
            (&torus, V3::new(5.0, 0.0, 1.5 + out), V3::z()),
            // The point is half-way up a cone of 45 degrees.
            (&cone, V3::new(1.5 + out * root, 0.0, 1.5 + out * root), V3::new(root, 0.0, root)),
            // In a cavity.
            (&hollow, V3::new(4.0 - out, 0.0, 0.0), -V3::x()),
            (
                &apple,
                V3::new(math::cos(pi4), 0.0, math::sin(pi4)) * (3.0 + out) + V3::x() * 2.0,
                V3::new(root, 0.0, root),
            ),
        ];
        for (k, (solid, center, n)) in cases.into_iter().enumerate() {
            let pose = Pose::translation(center.x, center.y, center.z);
            let options = pressed(0.95);
            let found = minima(solid, &ball, &Pose::identity(), &pose, &options);
            let first = found.first().unwrap_or_else(|| panic!("case {k}, {depth}: no contact"));
            assert!((first.distance + depth).abs() < 1e-12 * 12.0, "case {k}: {} of {depth}", first.distance);
            assert!((first.normal - n).norm() < 1e-9, "case {k}: {:?}", first.normal);
            let swapped = minima(&ball, solid, &pose, &Pose::identity(), &options);
            assert_eq!(swapped.len(), found.len(), "case {k}, {depth}: {found:#?} {swapped:#?}");
            assert!((swapped[0].normal + n).norm() < 1e-9 && (swapped[0].distance + depth).abs() < 1e-11);
            // Without the option, pressed solids have no minima.
            assert!(minima(solid, &ball, &Pose::identity(), &pose, &pressed(0.0)).is_empty(), "case {k}");
        }
    }
}

/// The smallest magnitude of a negative distance of convex solids is their penetration depth.
#[test]
fn negative_distances_of_convex_solids_are_penetration_depths() {
    let mut rng = SmallRng::seed_from_u64(61);
    let pentagon: Vec<[f64; 2]> =
        (0..5).map(f64::from).map(|k| [math::cos(1.1 * k), math::sin(1.1 * k)]).collect();
    let prism: Vec<P3> =
        pentagon.iter().flat_map(|p| [P3::new(p[0], p[1], 0.0), P3::new(p[0], p[1], 1.5)]).collect();
    let solids: [(Arc<Body>, Box<dyn Support>); 4] = [
        (
            body(&fixtures::block([-1.0, -0.7, -1.2], [1.0, 0.7, 1.2])),
            Box::new(Cuboid::new(V3::new(1.0, 0.7, 1.2)).expect("a box")),
        ),
        (
            body(&fixtures::block([-2.0, -0.3, -0.5], [2.0, 0.3, 0.5])),
            Box::new(Cuboid::new(V3::new(2.0, 0.3, 0.5)).expect("a box")),
        ),
        (body(&fixtures::sphere(0.8)), Box::new(Ball::new(P3::origin(), 0.8).expect("a ball"))),
        (body(&fixtures::prism(&pentagon, 1.5)), Box::new(Polytope::new(&prism).expect("a prism"))),
    ];
    let (mut compared, mut edges) = (0, 0);
    for k in 0..400 {
        let (i, j) = (k % 4, k / 4 % 4);
        let ((a, shape_a), (b, shape_b)) = (&solids[i], &solids[j]);
        let rotation = random_rotation(&mut rng);
        let toward = V3::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize();
        let deep = [1e-4, 1e-3, 1e-2, 0.1][rng.random_range(0..4)] * rng.random_range(0.5..1.5);
        let at = |s: f64| Pose::from_parts(Translation3::from(toward * s), rotation);
        let request = PenetrationRequest { rel_tol: 1e-12, ..PenetrationRequest::default() };
        let depth = |s: f64| {
            let found = penetration(&**shape_a, &Moved::new(&**shape_b, &at(s)).expect("a pose"), &request);
            if found.outcome == PenetrationOutcome::Separated { 0.0 } else { found.depth }
        };
        let (mut near, mut far) = (0.0, 6.0);
        for _ in 0..40 {
            let s = 0.5 * (near + far);
            if depth(s) > deep { near = s } else { far = s }
        }
        let (pose, expected) = (at(near), depth(near));
        if (expected - deep).abs() > 0.1 * deep {
            continue;
        }
        let options = pressed(0.25);
        let found = minima(a, b, &Pose::identity(), &pose, &options);
        let least =
            found.iter().filter(|l| l.distance < 0.0).max_by(|x, y| x.distance.total_cmp(&y.distance));
        let least =
            least.unwrap_or_else(|| panic!("{k}: {i} {j} {expected} no pressed contact in {found:#?}"));
        assert!((least.distance + expected).abs() < 1e-8, "{k}: {i} {j} {expected}, but {found:#?}");
        compared += 1;
        edges += usize::from(least.curvature_a[1] == f64::INFINITY && least.curvature_b[1] == f64::INFINITY);
        let swapped = minima(b, a, &pose, &Pose::identity(), &options);
        let mut both = [&found, &swapped].map(|l| l.iter().map(|l| l.distance).collect::<Vec<_>>());
        both.iter_mut().for_each(|d| d.sort_by(f64::total_cmp));
        assert_eq!(both[0].len(), both[1].len(), "{k}: {found:#?} {swapped:#?}");
        assert!(both[0].iter().zip(&both[1]).all(|(x, y)| (x - y).abs() < 1e-9), "{k}: {both:?}");
    }
    assert!(compared > 300 && edges > 20, "{compared} {edges}");
}

/// From a gap to a depth and back, the contact keeps its identity, and its distance equals the gap.
#[test]
fn contacts_keep_their_identity() {
    let mut rng = SmallRng::seed_from_u64(62);
    let block = body(&fixtures::block([-3.0; 3], [3.0; 3]));
    let cylinder = body(&fixtures::cylinder(1.0, 2.0));
    let torus = body(&fixtures::torus(2.0, 0.6));
    for (k, other) in [&block, &cylinder, &torus].into_iter().cycle().take(60).enumerate() {
        let rotation = random_rotation(&mut rng);
        let at = |z: f64| Pose::from_parts(Translation3::new(0.2, -0.1, z), rotation);
        // Move the solid down to the block until they touch.
        let mut pair = ContactPair::new(block.clone(), other.clone());
        let mut z = 12.0;
        for _ in 0..60 {
            pair.query(&Pose::identity(), &at(z), &QueryOptions::within(20.0)).expect("finite");
            z -= pair.min_distance().expect("something within reach");
        }
        let depth = 0.05;
        let mut pair = ContactPair::new(block.clone(), other.clone());
        let mut first = None;
        let steps = 100;
        for i in (0..=steps).chain((0..=steps).rev()) {
            let gap = depth * (1.0 - 2.0 * f64::from(i) / f64::from(steps));
            let found = pair.query(&Pose::identity(), &at(z + gap), &pressed(0.06)).expect("finite");
            let id = *first.get_or_insert_with(|| found[0].id);
            let l = found
                .iter()
                .find(|l| l.id == id)
                .unwrap_or_else(|| panic!("{k}: ended at {gap}: {found:#?}"));
            // One feature is a plane, and for motions along its normal the distance equals the gap.
            if l.normal.z.abs() > 1.0 - 1e-12 {
                assert!((l.distance - gap).abs() < 1e-9, "{k}: {} at {gap}", l.distance);
            }
        }
    }
}

/// A tip pressed into a concave edge has contacts with both faces, although its footpoints on them are
/// beyond the edge.
#[test]
fn tips_in_concave_edges_touch_both_faces() {
    let corner = body(&fixtures::l_prism(6.0, 2.0, 4.0));
    let cone = body(&fixtures::cone(1.0, 2.5));
    let down = V3::new(-1.0, -1.0, 0.0).normalize();
    let turn = UnitQuaternion::rotation_between(&V3::z(), &down).expect("not opposite");
    let mut pair = ContactPair::new(corner.clone(), cone.clone());
    for gap in [0.01, 0.001, 1e-5, -1e-5, -0.001, -0.01, -0.1, -0.19] {
        // The faces of the prism intersect in the z axis.
        let tip = V3::new(gap, gap + 0.003, 2.0);
        let pose = Pose::from_parts(Translation3::from(tip - down * 2.5), turn);
        let cold = minima(&corner, &cone, &Pose::identity(), &pose, &pressed(0.2));
        let warm = pair.query(&Pose::identity(), &pose, &pressed(0.2)).expect("finite").to_vec();
        for (found, what) in [(cold, "cold"), (warm, "warm")] {
            for (n, expected) in [(V3::x(), gap), (V3::y(), gap + 0.003)] {
                // Behind one face, the other one ends before the tip reaches it.
                if expected > 0.0 && gap < 0.0 {
                    continue;
                }
                let l = found.iter().find(|l| (l.normal - n).norm() < 1e-6);
                let l = l.unwrap_or_else(|| panic!("{what} {n:?} at {gap}: {found:#?}"));
                assert!((l.distance - expected).abs() < 1e-9, "{} at {gap}", l.distance);
            }
        }
    }
}

#[test]
fn invalid_depths_are_rejected() {
    let ball = body(&fixtures::sphere(1.0));
    let mut pair = ContactPair::new(ball.clone(), ball);
    for depth in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = pair.query(&Pose::identity(), &moved(1.9, 0.0, 0.0), &pressed(depth));
        assert!(matches!(refused, Err(QueryError::Penetration(_))), "{depth}: {refused:?}");
    }
    pair.query(&Pose::identity(), &moved(1.9, 0.0, 0.0), &pressed(0.5)).expect("a valid depth");
    assert_eq!(pair.status(), Some(Status::Interfering));
}

/// Pressed contacts end when the solids are proven apart, even after a step that is as long as they were
/// deep: two blocks meet at edges and vertices and jump about.
#[test]
fn contacts_do_not_outlive_the_interference() {
    let mut rng = SmallRng::seed_from_u64(61);
    let (a, b) = (body(&fixtures::block([-2.0; 3], [2.0; 3])), body(&fixtures::block([-1.0; 3], [1.0; 3])));
    let mut pair = ContactPair::new(a.clone(), b.clone());
    let (mut ended, mut continued) = (0, 0);
    for _ in 0..4000 {
        let rotation = random_rotation(&mut rng);
        // The border of the upper face.
        let foot = V3::new(2.0 + rng.random_range(-2e-3..2e-3), rng.random_range(-2.0..2.002), 2.0);
        // Lowest corner of B.
        let lowest = rotation * (rotation.inverse() * V3::z()).map(|x| -x.signum());
        let mut offset = foot - lowest - V3::z() * rng.random_range(0.0..2e-3);
        for _ in 0..6 {
            let pose = Pose::from_parts(Translation3::from(offset), rotation);
            let found = pair.query(&Pose::identity(), &pose, &pressed(0.05)).expect("finite poses");
            let deepest = found.first().map_or(0.0, |l| l.distance);
            let is_apart = pair.status() != Some(Status::Interfering);
            let limit = pair.tolerances().min_distance_apart();
            assert!(!is_apart || deepest >= limit, "{:?} at {deepest}: {pose}", pair.status());
            ended += u32::from(is_apart);
            continued += u32::from(!is_apart && deepest < 0.0);
            let mut step = || rng.random_range(-1.5e-3..1.5e-3);
            offset += V3::new(step(), step(), step());
        }
    }
    assert!(ended > 1000 && continued > 1000, "{ended} {continued}");
}

/// A corner that is pressed slightly into a steep flank is not in contact with the face above, whose plane
/// continues below a narrow step and leaves the solid again at the flank.
#[test]
fn a_plane_that_leaves_the_solid_beyond_a_concave_edge_has_no_contact() {
    // A face that falls to a concave edge at the origin, a step of 0.1 mm, and a steep flank.
    let profile = [[-20.0, 6.0], [-20.0, -20.0], [2.1, -20.0], [0.1, 0.0], [0.0, 0.0]];
    let slope = body(&fixtures::prism(&profile, 40.0));
    let falling = V3::new(0.3, 1.0, 0.0).normalize();
    let tool = body(&fixtures::prism(&[[0.0, 0.0], [10.0, -1.0], [4.0, 20.0]], 10.0));
    let flank = V3::new(10.0, 1.0, 0.0).normalize();
    let depth = 1e-3;
    for height in [0.04, 0.06, 0.1, 0.15] {
        // The corner with the lowest z is pressed into the flank, because the tool leans away from it.
        let corner = P3::new(0.1 + 0.1 * height, -height, 20.0) - flank * depth;
        let lean =
            UnitQuaternion::from_axis_angle(&nalgebra::Unit::new_normalize(flank.cross(&V3::z())), -0.1);
        let pose = Pose::from_parts(Translation3::from(corner.coords), lean);
        for swap in [false, true] {
            let id = Pose::identity();
            let found = if swap {
                minima(&tool, &slope, &pose, &id, &pressed(0.2))
            } else {
                minima(&slope, &tool, &id, &pose, &pressed(0.2))
            };
            let deep: Vec<_> = found.iter().filter(|l| l.distance < -1e-6).collect();
            let of_flank = |l: &&&Contact| l.normal.dot(&flank).abs() > 0.999;
            assert!(deep.iter().any(|l| of_flank(&l)), "{height}: {found:#?}");
            let false_contact = deep.iter().find(|l| l.normal.dot(&falling).abs() > 0.999);
            assert!(false_contact.is_none(), "{height}: {false_contact:#?}");
        }
    }
}
