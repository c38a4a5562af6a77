//! Motions with known solutions.
#![allow(clippy::unwrap_used, reason = "test code")]

use feeler_dynamics::{Coupling, RigidBody, RigidBodyId, World, WorldSettings};
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::Body;
use nalgebra::UnitQuaternion;
use std::path::Path;
use std::sync::Arc;

const STEEL: f64 = 7_850.0;

fn solid(name: &str) -> Arc<Body> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/{name}.step"));
    Arc::new(Body::from_model(&feeler_import::prepare_step(&file).unwrap(), 0).unwrap())
}

fn dropped(name: &str, pose: Pose, settings: WorldSettings) -> (World, RigidBodyId) {
    let mut world = World::new(settings);
    world.add(RigidBody::fixed(solid("box"), Pose::translation(0.0, 0.0, -10.0)));
    let body = RigidBody::of_density(solid(name), pose, STEEL).unwrap();
    let id = world.add(body);
    (world, id)
}

/// Half the height of the box of data/, whose top is at z = 0 in these worlds.
#[test]
fn the_floor_is_where_it_is_said_to_be() {
    let block = solid("box");
    assert!((block.bounds().max.z - 10.0).abs() < 1e-6, "{:?}", block.bounds());
}

#[test]
fn a_ball_falls_freely_and_comes_to_rest() {
    let ball = solid("ball");
    let radius = 0.5 * (ball.bounds().max.z - ball.bounds().min.z);
    let middle = nalgebra::center(&ball.bounds().min, &ball.bounds().max);
    let start = Pose::translation(-middle.x, -middle.y, 5.0 + radius - middle.z);
    let (mut world, id) = dropped("ball", start, WorldSettings::default());
    let (h, mut t) = (1e-3, 0.0);
    let begin = world.energy();
    while t < 0.5 {
        let report = world.step(h).unwrap();
        t += h;
        assert!(report.smallest_gap >= -1e-6 && !report.interferes && !report.unsolved, "{t}: {report:?}");
        assert!(world.energy() <= begin * (1.0 + 1e-9) + 1e-6, "{t}: energy grows");
        let fallen = 5.0 - (world.body(id).center().z - radius);
        // The time stepping is of first order.
        let free = 0.5 * 9_810.0 * t * (t + h);
        if free < 4.9 {
            assert!((fallen - free).abs() < 1e-6, "{t}: {fallen} of {free}");
        }
    }
    let body = world.body(id);
    assert!((body.center().z - radius).abs() < 2e-6, "{}", body.center());
    assert!(body.velocity.norm() < 1e-3, "{}", body.velocity);
    assert_eq!(world.contacts().len(), 1);
}

#[test]
fn a_block_on_a_slope_sticks_or_slides_as_it_must() {
    // The slope is a component of gravity: tan = 0.4. At 0.5 the cylinder, which is twice as high as
    // wide, would tip.
    let [sin, cos] = [2.0 / 29.0_f64.sqrt(), 5.0 / 29.0_f64.sqrt()];
    let gravity = 9_810.0 * V3::new(sin, 0.0, -cos);
    for friction in [0.0, 0.2, 0.6] {
        let settings = WorldSettings { gravity, friction, ..WorldSettings::default() };
        let (mut world, id) = dropped("cylinder", Pose::identity(), settings);
        let bottom = world.body(id).body().bounds().min.z;
        world.body_mut(id).pose = Pose::translation(-10.0, 0.0, -bottom);
        let (h, steps) = (5e-4, 100);
        for k in 0..steps {
            let report = world.step(h).unwrap();
            assert!(report.smallest_gap >= -1e-6 && !report.unsolved, "{friction}, {k}: {report:?}");
        }
        let along = 9_810.0 * (sin - friction * cos).max(0.0);
        let speed = world.body(id).velocity.x;
        let wanted = along * h * f64::from(steps);
        assert!(
            (speed - wanted).abs() < 1e-3 * 9_810.0 * h * f64::from(steps),
            "{friction}: {speed} of {wanted}"
        );
    }
}

/// A brick that slides without friction over the seam of two flush blocks keeps its speed and does not tilt.
#[test]
fn a_brick_slides_over_the_seam_of_flush_blocks() {
    let (block, brick) = (solid("box"), solid("contact/brick"));
    let [half_block, half_brick] = [&block, &brick].map(|body| (body.bounds().max - body.bounds().min) * 0.5);
    let [middle_block, middle_brick] =
        [&block, &brick].map(|body| nalgebra::center(&body.bounds().min, &body.bounds().max).coords);
    // Orientation (rad), velocity across and along the seam (mm/s).
    for (turned, speed, drift) in
        [(0.0, 100.0, 7.0), (0.3, 100.0, 7.0), (-0.7, 60.0, -20.0), (1.57, 37.0, 3.0), (2.2, 150.0, 11.0)]
    {
        let (sin, cos) = math::sin_cos(turned);
        let half_length = half_brick.x * cos.abs() + half_brick.y * sin.abs();
        let begin = -(half_length + 1.0);
        let mut world = World::new(WorldSettings { friction: 0.0, ..WorldSettings::default() });
        for side in [-1.0, 1.0] {
            let at = V3::new(side * half_block.x, 0.0, -half_block.z) - middle_block;
            world.add(RigidBody::fixed(Arc::clone(&block), Pose::translation(at.x, at.y, at.z)));
        }
        let turn = UnitQuaternion::from_scaled_axis(V3::z() * turned);
        let at = V3::new(begin, 0.4, half_brick.z) - turn * middle_brick;
        let pose = Pose::from_parts(at.into(), turn);
        let id = world.add(RigidBody::of_density(Arc::clone(&brick), pose, STEEL).unwrap());
        let velocity = V3::new(speed, drift, 0.0);
        world.body_mut(id).velocity = velocity;
        let mut steps = 0;
        while world.body(id).center().x < half_length + 1.0 {
            let report = world.step(1e-3).unwrap();
            assert!(!report.interferes && !report.unsolved, "{turned}, {steps}: {report:?}");
            let body = world.body(id);
            let tilt = (body.pose.rotation * V3::z()).cross(&V3::z()).norm();
            assert!(
                (body.velocity - velocity).norm() <= 1e-3 * velocity.norm(),
                "{turned}: {}",
                body.velocity
            );
            assert!(tilt <= 1e-5, "{turned}, {steps}: {tilt}");
            steps += 1;
        }
        assert!(steps > 100, "{steps}");
    }
}

#[test]
fn bodies_in_free_fall_keep_their_momentum_when_they_meet() {
    let mut world = World::new(WorldSettings { gravity: V3::zeros(), ..WorldSettings::default() });
    let size = solid("ball").size();
    let a = world.add(RigidBody::of_density(solid("ball"), Pose::identity(), STEEL).unwrap());
    let b = world
        .add(RigidBody::of_density(solid("spool"), Pose::translation(60.0 + size, 3.0, 1.0), STEEL).unwrap());
    world.body_mut(a).velocity = V3::new(800.0, 0.0, 0.0);
    let momentum = |w: &World| {
        let one = |id| {
            let body = w.body(id);
            body.velocity * body.mass().unwrap()
        };
        one(a) + one(b)
    };
    let start = momentum(&world);
    let mut met = false;
    for _ in 0..400 {
        let report = world.step(1e-3).unwrap();
        met |= report.loaded > 0;
        assert!(report.smallest_gap >= -1e-6, "{report:?}");
        assert!((momentum(&world) - start).norm() < 1e-7 * start.norm());
    }
    assert!(met && world.body(b).velocity.norm() > 1.0, "the bodies do not collide");
}

#[test]
fn a_target_is_reached_as_its_damper_says() {
    let mut world = World::new(WorldSettings { gravity: V3::zeros(), ..WorldSettings::default() });
    let turn = UnitQuaternion::from_scaled_axis(V3::new(0.2, 0.1, -0.3));
    let target = Pose::from_parts(V3::new(5.0, -3.0, 2.0).into(), turn);
    let id = world.add(RigidBody::of_density(solid("plug"), Pose::identity(), STEEL).unwrap());
    let mass = world.body(id).mass().unwrap();
    world.couplings.push(Coupling::critical(id, target, mass, 10.0, 0.02));
    for _ in 0..1500 {
        world.step(1e-3).unwrap();
    }
    let off = world.body(id).pose.inverse() * target;
    assert!(off.translation.vector.norm() < 1e-5 && off.rotation.angle() < 1e-5, "{off}");
}

/// Pin with a radial play of 0.05 mm, released tilted and to one side.
#[test]
fn a_pin_stays_in_its_bore() {
    let run = || {
        let mut world = World::new(WorldSettings {
            gravity: V3::new(3_000.0, -1_000.0, -2_000.0),
            ..WorldSettings::default()
        });
        world.add(RigidBody::fixed(solid("bore"), Pose::identity()));
        let tilt = UnitQuaternion::from_scaled_axis(V3::new(5e-4, -3e-4, 0.0));
        let pose = Pose::from_parts(V3::new(0.01, -0.02, 0.0).into(), tilt);
        let id = world.add(RigidBody::of_density(solid("pin"), pose, STEEL).unwrap());
        let begin = world.energy();
        let pin = world.body(id);
        let most_energy =
            begin + 1e-4 * pin.mass().unwrap() * world.settings.gravity.norm() * pin.body().size();
        let mut most = 0;
        for k in 0..300 {
            let report = world.step(1e-3).unwrap();
            assert!(
                report.smallest_gap >= -1e-6 && !report.interferes && !report.unsolved,
                "{k}: {report:?}"
            );
            assert!(report.contacts <= 50, "{k}: {report:?}");
            assert!(world.energy() <= most_energy, "{k}: energy grows");
            most = most.max(report.loaded);
        }
        assert!(most > 0, "the pin never touches the bore");
        world.body(id).clone()
    };
    let (first, second) = (run(), run());
    assert_eq!(first.pose, second.pose, "two runs differ");
}

/// A flat end nearly parallel to a flat bottom has one minimum, on one side; the other side touches
/// later without a minimum.
#[test]
fn a_pin_strikes_the_bottom_of_its_bore_flat() {
    let gravity = 9_810.0 * V3::new(0.3, -0.1, -1.0).normalize();
    let mut world = World::new(WorldSettings { gravity, ..WorldSettings::default() });
    world.add(RigidBody::fixed(solid("blind-bore"), Pose::identity()));
    let pin = RigidBody::of_density(solid("pin"), Pose::translation(0.0, 0.0, 21.0), STEEL).unwrap();
    let id = world.add(pin);
    for k in 0..60 {
        let report = world.step(1e-3).unwrap();
        assert!(report.smallest_gap >= -1e-6 && !report.interferes && !report.unsolved, "{k}: {report:?}");
    }
    // The end of the pin is 30 mm below its centre, and the bottom of the bore is 10 mm below the centre
    // of the block.
    let pin = world.body(id);
    assert!((pin.pose.translation.z - 20.0).abs() < 1e-5, "{}", pin.pose);
    assert!(pin.velocity.norm() < 1e-3, "{}", pin.velocity);
}

/// A ball with a layer of 2 mm on a floor with a layer of 0.5 mm rests higher by both, and rolls like a
/// larger ball.
#[test]
fn dilated_bodies_touch_where_their_layers_do() {
    let ball = solid("ball");
    let radius = 0.5 * (ball.bounds().max.z - ball.bounds().min.z);
    let middle = nalgebra::center(&ball.bounds().min, &ball.bounds().max);
    let start = Pose::translation(-5.0 - middle.x, -middle.y, 2.5 + radius + 1e-3 - middle.z);
    let (mut world, id) = dropped("ball", start, WorldSettings { friction: 0.5, ..WorldSettings::default() });
    world.body_mut(id).dilation = 2.0;
    world.body_mut(RigidBodyId(0)).dilation = 0.5;
    world.body_mut(id).velocity = V3::new(50.0, 0.0, 0.0);
    for k in 0..60 {
        let report = world.step(1e-3).unwrap();
        assert!(report.smallest_gap >= -1e-6 && !report.interferes && !report.unsolved, "{k}: {report:?}");
    }
    let body = world.body(id);
    assert!((body.center().z - radius - 2.5).abs() < 2e-6, "{}", body.center());
    let rolling = body.velocity.x / (radius + 2.0);
    assert!(rolling > 1.0 && (body.spin.y / rolling - 1.0).abs() < 1e-6, "{} of {rolling}", body.spin);
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert!(RigidBody::of_density(solid("ball"), Pose::identity(), 0.0).is_err());
    let (mut world, _) = dropped("ball", Pose::translation(0.0, 0.0, 50.0), WorldSettings::default());
    for time in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(world.step(time).is_err());
    }
    world.settings.friction = -0.1;
    assert!(world.step(1e-3).unwrap_err().to_string().contains("friction"));
    world.settings.friction = 0.0;
    for dilation in [-0.1, f64::NAN, f64::INFINITY] {
        world.body_mut(RigidBodyId(1)).dilation = dilation;
        assert!(world.step(1e-3).unwrap_err().to_string().contains("dilation of body 1"));
    }
    let center: P3 = world.body(RigidBodyId(1)).center();
    assert!(center.z > 40.0, "the body has moved");
}

/// Positions are in world coordinates: a step is refused if their rounding is too large for bodies that
/// may touch.
#[test]
fn bodies_far_from_the_origin() {
    for (x, is_refused) in [(0.0, false), (1e6, false), (1e13, true), (1e155, true), (1e300, true)] {
        let mut world = World::new(WorldSettings::default());
        let ball = solid("ball");
        let low = V3::new(0.0, 0.0, ball.bounds().min.z) + ball.bounds().center().coords.xy().push(0.0);
        let pose = Pose::from_parts((V3::x() * x - low).into(), UnitQuaternion::identity());
        world.add(RigidBody::fixed(solid("box"), Pose::translation(x, 0.0, -10.0)));
        world.add(RigidBody::of_density(ball, pose, STEEL).unwrap());
        let stepped = world.step(1e-3);
        assert_eq!(stepped.is_err(), is_refused, "{x:e}: {stepped:?}");
        if let Err(error) = stepped {
            let text = error.to_string();
            assert!(text.contains("bodies 0 and 1") && text.contains("allows at most"), "{text}");
        }
    }
}
