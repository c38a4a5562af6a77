//! Mechanisms with round parts: a bolt in its nut, and a pin that rolls or slides in a race.
#![allow(clippy::unwrap_used, reason = "test code")]

use feeler_dynamics::{Coupling, RigidBody, World, WorldSettings};
use feeler_geom::{Pose, V3, math};
use feeler_runtime::Body;
use std::f64::consts::TAU;
use std::path::Path;
use std::sync::Arc;

const STEEL: f64 = 7_850.0;

fn solid(name: &str) -> Arc<Body> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/{name}.step"));
    Arc::new(Body::from_model(&feeler_import::prepare_step(&file).unwrap(), 0).unwrap())
}

/// A bolt in a nut, which only a rotational spring about its axis holds, sinks by its axial play, and by
/// the lead times the angle by which its weight turns it back.
#[test]
fn a_bolt_rests_on_its_thread() {
    let mut world = World::new(WorldSettings::default());
    world.add(RigidBody::fixed(solid("thread/nut"), Pose::identity()));
    let start = Pose::translation(0.0, 0.0, -3.0);
    let id = world.add(RigidBody::of_density(solid("thread/bolt"), start, STEEL).unwrap());
    let mass = world.body(id).mass().unwrap();
    let held = Coupling::critical(id, start, mass, 3.0, 0.004);
    let stiffness = held.turning_stiffness;
    world.couplings.push(Coupling { stiffness: 0.0, damping: 0.0, ..held });
    for k in 0..60 {
        let report = world.step(1e-3).unwrap();
        assert!(!report.interferes && !report.unsolved, "{k}: {report:?}");
        assert!(report.smallest_gap >= -2e-6 && report.contacts <= 70, "{k}: {report:?}");
    }
    let lead = 1.0 / TAU;
    let back = mass * 9_810.0 * lead / stiffness;
    let play = 0.05 / math::cos(TAU / 12.0);
    let pose = world.body(id).pose;
    let turned = pose.rotation.scaled_axis();
    assert!((turned.z + back).abs() < 0.01 * back, "{turned} for {back}");
    assert!((pose.translation.z + 3.0 + play + lead * back).abs() < 1e-4, "{pose} {play} {back}");
    assert!(turned.xy().norm() < 1e-5 && pose.translation.vector.xy().norm() < 1e-4, "{pose}");
}

/// The centre of a pin in a race swings like a pendulum; the effective mass of a rolling pin is larger
/// by half.
#[test]
fn a_pin_rolls_or_slides_in_a_race() {
    let (length, released) = (14.0 - 9.95, 0.05_f64);
    for (friction, inertia) in [(0.0, 1.0), (0.3, 1.5)] {
        let settings =
            WorldSettings { gravity: V3::new(0.0, -9_810.0, 0.0), friction, ..WorldSettings::default() };
        let mut world = World::new(settings);
        world.add(RigidBody::fixed(solid("race"), Pose::identity()));
        let (sin, cos) = math::sin_cos(released);
        let start = Pose::translation(length * sin, -length * cos, 0.0);
        let id = world.add(RigidBody::of_density(solid("pin-short"), start, STEEL).unwrap());
        let begin = world.energy();
        let (h, mut t, mut last) = (5e-4, 0.0, start.translation.x);
        let mut crossings = Vec::new();
        while crossings.len() < 3 {
            world.step(h).unwrap();
            t += h;
            assert!(t < 1.0, "{crossings:?}");
            assert!(world.energy() <= begin + 1e-9 * begin.abs(), "{t}: energy grows");
            let x = world.body(id).center().x;
            if (x > 0.0) != (last > 0.0) {
                crossings.push(t - h * x / (x - last));
            }
            last = x;
        }
        let period = TAU * (length * inertia / 9_810.0).sqrt() * (1.0 + released * released / 16.0);
        let found = crossings[2] - crossings[0];
        assert!((found / period - 1.0).abs() < 2e-3, "{friction}: {found} s, not {period}");
        // A rolling pin turns backwards by the arc lengths on its rim; a sliding pin does not turn.
        let turned = world.body(id).spin.z;
        let rolling = -world.body(id).velocity.x / 9.95 * f64::from(u8::from(friction > 0.0));
        assert!(
            (turned - rolling).abs() < 0.02 * world.body(id).velocity.norm() / 9.95 + 1e-6,
            "{turned} {rolling}"
        );
    }
}
