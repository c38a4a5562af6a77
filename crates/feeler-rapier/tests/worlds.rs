//! Worlds with known solutions, and pitfalls of Rapier's defaults.
#![allow(clippy::unwrap_used, reason = "test code")]

use feeler_rapier::{CloseFitParameters, ExactDispatcher, ExactShape};
use feeler_runtime::Body;
use rapier3d_f64::parry::query::{ClosestPoints, QueryDispatcher};
use rapier3d_f64::prelude::*;
use std::path::Path;
use std::sync::Arc;

const STEEL: f64 = 7_850.0;

fn solid(name: &str) -> ExactShape {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/{name}.step"));
    let body = Body::from_model(&feeler_import::prepare_step(&file).unwrap(), 0).unwrap();
    ExactShape::new(Arc::new(body)).unwrap()
}

fn world(gravity: Vector) -> (PhysicsWorld, ExactDispatcher) {
    let (mut world, dispatcher) = (PhysicsWorld::new(), ExactDispatcher::default());
    world.gravity = gravity;
    dispatcher.install(&mut world, &CloseFitParameters::default());
    (world, dispatcher)
}

fn dropped(fixed: &ExactShape, moving: &ExactShape, z: f64, gravity: Vector) -> Dropped {
    let (mut world, dispatcher) = world(gravity);
    world.insert(RigidBodyBuilder::fixed(), fixed.collider().friction(0.0));
    let start = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, z)).can_sleep(false);
    let (body, _) = world.insert(start, moving.collider().density(STEEL).friction(0.0));
    Dropped { world, dispatcher, body }
}

struct Dropped {
    world: PhysicsWorld,
    dispatcher: ExactDispatcher,
    body: RigidBodyHandle,
}

impl Dropped {
    /// Gaps (m) of all contacts, in the order of the solver.
    fn gaps(&self) -> Vec<f64> {
        let pairs = self.world.narrow_phase.contact_pairs();
        pairs.flat_map(|p| p.manifolds()).flat_map(|m| &m.points).map(|p| p.dist).collect()
    }

    fn energy(&self) -> f64 {
        let b = &self.world.bodies[self.body];
        b.kinetic_energy() - b.mass() * self.world.gravity.dot(b.center_of_mass())
    }
}

#[test]
fn masses_are_those_of_the_exact_solid() {
    let (cylinder, mut set) = (solid("cylinder"), RigidBodySet::new());
    let bounds = *cylinder.body().bounds();
    let size = (bounds.max - bounds.min) * 1e-3;
    let mut colliders = ColliderSet::new();
    let body = set.insert(RigidBodyBuilder::dynamic());
    colliders.insert_with_parent(cylinder.collider().density(STEEL), body, &mut set);
    let mut body = set[body].clone();
    body.recompute_mass_properties_from_colliders(&colliders);
    let (r, h) = (0.5 * size.x, size.z);
    let mass = STEEL * std::f64::consts::PI * r * r * h;
    assert!((body.mass() / mass - 1.0).abs() < 1e-12, "{}", body.mass());
    let tensor = body.mass_properties().local_mprops.reconstruct_inertia_matrix();
    let across = mass * (3.0 * r * r + h * h) / 12.0;
    assert!((tensor.z_axis.z / (0.5 * mass * r * r) - 1.0).abs() < 1e-12, "{tensor:?}");
    assert!((tensor.x_axis.x / across - 1.0).abs() < 1e-12, "{tensor:?}");
}

/// Gaps are those of the present step. If Rapier recycled contacts, they would be those of an earlier
/// step.
#[test]
fn contacts_are_those_of_every_step() {
    let (block, ball) = (solid("box"), solid("ball"));
    let low = ball.body().bounds().min.z * 1e-3;
    let top = block.body().bounds().max.z * 1e-3;
    let mut d = dropped(&block, &ball, top - low + 3e-3, Vector::new(0.0, 0.0, -9.81));
    let (mut near, mut deepest) = (0, 0.0_f64);
    for _ in 0..400 {
        let above = d.world.bodies[d.body].translation().z + low - top;
        d.world.step();
        // Next to the minimum there are samples where the ball can roll to.
        let gaps = d.gaps();
        assert!(gaps.iter().all(|gap| *gap >= above - 1e-12), "{gaps:?} {above}");
        if let Some(gap) = gaps.into_iter().min_by(f64::total_cmp) {
            near += 1;
            assert!((gap - above).abs() < 1e-12, "{gap} {above}");
            deepest = deepest.min(gap);
        }
    }
    assert!(near > 300, "{near}");
    // The ball strikes at 0.24 m/s; the penetration of the impact is corrected.
    assert!(d.gaps().iter().all(|gap| *gap > -1e-5), "{:?}", d.gaps());
    assert!(deepest > -2e-4, "{deepest}");
    assert_eq!(d.dispatcher.unexplained() + d.dispatcher.failed(), 0);
}

/// A brick that slides without friction over the seam of two flush blocks keeps its speed and does not tilt.
#[test]
fn a_brick_slides_over_the_seam_of_flush_blocks() {
    let (block, brick) = (solid("box"), solid("contact/brick"));
    let bounds = |shape: &ExactShape| {
        let [min, max] = [shape.body().bounds().min, shape.body().bounds().max].map(|p| p.coords * 1e-3);
        let vector = |v: feeler_geom::V3| Vector::new(v.x, v.y, v.z);
        (vector((max + min) * 0.5), vector((max - min) * 0.5))
    };
    let ((block_middle, block_half), (brick_middle, brick_half)) = (bounds(&block), bounds(&brick));
    // Orientation (rad), velocity across and along the seam (m/s).
    for (turned, speed, drift) in
        [(0.0, 0.1, 0.007), (0.3, 0.1, 0.007), (-0.7, 0.06, -0.02), (1.57, 0.037, 0.003), (2.2, 0.15, 0.011)]
    {
        let (mut world, dispatcher) = world(Vector::new(0.0, 0.0, -9.81));
        for side in [-1.0, 1.0] {
            let at = Vector::new(side * block_half.x, 0.0, -block_half.z) - block_middle;
            world.insert(RigidBodyBuilder::fixed().translation(at), block.collider().friction(0.0));
        }
        let (sin, cos) = feeler_geom::math::sin_cos(turned);
        let begin = brick_half.x * cos.abs() + brick_half.y * sin.abs() + 1e-3;
        let turn = Vector::new(0.0, 0.0, turned);
        let moving = RigidBodyBuilder::dynamic().rotation(turn).can_sleep(false);
        let (body, _) = world.insert(moving, brick.collider().density(STEEL).friction(0.0));
        let velocity = Vector::new(speed, drift, 0.0);
        let rotation = *world.bodies[body].rotation();
        let at = Vector::new(-begin, 4e-4, brick_half.z) - rotation * brick_middle;
        world.bodies[body].set_translation(at, true);
        world.bodies[body].set_linvel(velocity, true);
        let mut steps = 0;
        // Rapier lets resting bodies overlap by a micrometre: the first steps settle.
        while world.bodies[body].center_of_mass().x < begin {
            world.step();
            steps += 1;
            let b = &world.bodies[body];
            let up = *b.rotation() * Vector::new(0.0, 0.0, 1.0);
            let tilt = Vector::new(up.x, up.y, 0.0).length();
            let lost = Vector::new(b.linvel().x - velocity.x, b.linvel().y - velocity.y, 0.0).length();
            assert!(lost <= 1e-3 * velocity.length(), "{turned}, {steps}: {:?}", b.linvel());
            assert!(tilt <= 1e-5, "{turned}, {steps}: {tilt}");
        }
        assert!(steps > 50, "{steps}");
        assert_eq!(dispatcher.unexplained() + dispatcher.failed(), 0);
    }
}

/// Number of steps at the end of a run, in which the pin is at rest.
const AT_REST: usize = 200;

/// Releases a pin of 19.9 mm in a blind bore of 20 mm under tilted gravity. The number of contacts
/// changes constantly, which Rapier supports only with a workspace. Returns the world, the smallest gap
/// (m) and the largest number of contacts.
fn pin_in_bore(steps: usize) -> (Dropped, f64, usize) {
    let down = 9.81 * Vector::new(0.3, -0.1, -1.0).normalize();
    let mut d = dropped(&solid("blind-bore"), &solid("pin"), 0.03, down);
    let begin = d.energy();
    let (mut most, mut deepest, mut counts) = (0, 0.0_f64, std::collections::BTreeSet::new());
    let weight = d.world.bodies[d.body].mass() * 9.81;
    for k in 0..steps {
        d.world.step();
        let gaps = d.gaps();
        counts.insert(gaps.len());
        if k + AT_REST >= steps {
            most = most.max(gaps.len());
        }
        // These contacts are from the start of the last step.
        deepest = gaps.into_iter().fold(deepest, f64::min);
        let excess = (d.energy() - begin) / (weight * 0.05);
        assert!(excess <= 1e-4, "{k}: energy grows by {excess}");
    }
    assert!(counts.len() > 1, "{counts:?}");
    (d, deepest, most)
}

#[test]
fn a_pin_comes_to_rest_in_its_bore_and_does_so_twice() {
    let [(first, deepest, most), (second, ..)] = [pin_in_bore(1500), pin_in_bore(1500)];
    // The pin strikes the bottom at 0.43 m/s, one end first.
    assert!(deepest > -1e-5, "{deepest} m");
    assert!(most <= 50, "{most}");
    assert_eq!(first.dispatcher.unexplained() + first.dispatcher.failed(), 0);
    let [a, b] = [&first, &second].map(|d| *d.world.bodies[d.body].position());
    assert_eq!(a, b);
}

/// A snapshot by clones continues like the original: it keeps impulses and begins new searches.
#[test]
fn a_clone_goes_on() {
    let (mut d, ..) = pin_in_bore(300);
    let w = &d.world;
    let mut copy = PhysicsWorld {
        gravity: w.gravity,
        integration_parameters: w.integration_parameters,
        islands: w.islands.clone(),
        broad_phase: w.broad_phase.clone(),
        narrow_phase: w.narrow_phase.clone(),
        bodies: w.bodies.clone(),
        colliders: w.colliders.clone(),
        impulse_joints: w.impulse_joints.clone(),
        multibody_joints: w.multibody_joints.clone(),
        ..PhysicsWorld::new()
    };
    for _ in 0..100 {
        d.world.step();
        copy.step();
    }
    let [a, b] = [&d.world, &copy].map(|w| w.bodies[d.body].translation());
    assert!((a - b).length() < 1e-6, "{a} {b}");
}

#[test]
fn shapes_of_rapiers_own_meet_the_display_mesh() {
    let block = solid("box");
    let top = block.body().bounds().max.z * 1e-3;
    let (mut world, dispatcher) = world(Vector::new(0.0, 0.0, -9.81));
    world.insert(RigidBodyBuilder::fixed(), block.collider());
    let start = RigidBodyBuilder::dynamic().translation(Vector::new(1e-3, 2e-3, top + 6e-3));
    let (ball, _) = world.insert(start, ColliderBuilder::ball(5e-3).density(STEEL));
    for _ in 0..500 {
        world.step();
    }
    let z = world.bodies[ball].translation().z;
    assert!((z - top - 5e-3).abs() < 1e-5, "{}", z - top);
    assert!(dispatcher.has_met_others());
}

#[test]
fn poses_come_back_from_metres() {
    let pose = feeler_geom::Pose::new([10.0, -2000.0, 0.5].into(), [0.3, -0.7, 1.1].into());
    let there = feeler_rapier::rapier_pose(&pose);
    assert!((there.translation - Vector::new(0.01, -2.0, 0.0005)).length() < 1e-15);
    let point = there.transform_point(Vector::new(1e-3, 2e-3, 3e-3)) * 1e3;
    let direct = pose * nalgebra::Point3::new(1.0, 2.0, 3.0);
    assert!((point - Vector::new(direct.x, direct.y, direct.z)).length() < 1e-12);
    let back = feeler_rapier::exact_pose(&there);
    assert!((back.to_homogeneous() - pose.to_homogeneous()).norm() < 1e-12);
}

#[test]
fn rays_and_single_questions_are_answered() {
    let (block, ball) = (solid("box"), solid("ball"));
    let low = ball.body().bounds().min.z * 1e-3;
    let top = block.body().bounds().max.z * 1e-3;
    let dispatcher = ExactDispatcher::default();
    let at = |gap: f64| Pose::from_translation(Vector::new(0.0, 0.0, top - low + gap));
    for gap in [2e-3, 3.0, -1e-4] {
        let pose = at(gap);
        let meets = dispatcher.intersection_test(&pose, &block, &ball).unwrap().intersecting;
        assert_eq!(meets, gap < 0.0);
        let distance = dispatcher.distance(&pose, &block, &ball).unwrap().distance;
        assert!((distance - gap.max(0.0)).abs() < 1e-12, "{distance}");
    }
    let contact = dispatcher.contact(&at(-1e-4), &block, &ball, 0.0).unwrap().unwrap();
    assert!((contact.dist + 1e-4).abs() < 1e-12 && (contact.normal1.z - 1.0).abs() < 1e-12, "{contact:?}");
    let near = dispatcher.closest_points(&at(1e-3), &block, &ball, 2e-3).unwrap();
    assert!(
        matches!(near, ClosestPoints::WithinMargin(a, b) if (a.z - top).abs() + (b.z - low).abs() < 1e-12)
    );
    let far = dispatcher.closest_points(&at(3e-3), &block, &ball, 2e-3).unwrap();
    assert!(matches!(far, ClosestPoints::Disjoint), "{far:?}");
    let ray = Ray::new(Vector::new(1e-4, 1e-4, 1.0), Vector::new(0.0, 0.0, -1.0));
    let time = RayCast::cast_local_ray(&block, &ray, 10.0, true).unwrap();
    assert!((time - (1.0 - top)).abs() < 1e-12, "{time}");
}
