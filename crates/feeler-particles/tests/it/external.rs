//! Forces of grains for an external program, compared with the simulation's own steps.

use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex::Grain;
use feeler_particles::{Law, Particle, ParticleId, PlaneWall, Simulation, SimulationSettings, WallId};
use nalgebra::{Translation3, UnitQuaternion};

const STEP: f64 = 1e-5;

fn id(particle: usize) -> ParticleId {
    ParticleId::new(particle)
}

fn wall_id(wall: usize) -> WallId {
    WallId::new(wall)
}

/// Two grains that overlap, the lower one overlapping a floor, without spin.
fn world() -> Simulation {
    let law = Law::Linear { normal: 1e3, shear: 5e2, restitution: 0.5, friction: 0.3 };
    let mut world = Simulation::new(SimulationSettings { gravity: V3::zeros(), between: Some(law) })
        .expect("good numbers");
    world
        .add_wall(PlaneWall::new(P3::origin(), V3::z()).expect("good numbers").into(), law)
        .expect("good numbers");
    let grain = Grain::new(V3::new(2.0, 1.6, 1.4), V3::new(1.5, 1.0, 1.8), [0.8, 1.2]).expect("good numbers");
    for (z, x, v) in [(1.7, 0.0, 30.0), (4.7, 0.3, -80.0)] {
        let turn = UnitQuaternion::from_scaled_axis(V3::new(0.1, 0.2, x));
        let pose = Pose::from_parts(Translation3::new(x, 0.0, z), turn);
        let particle = Particle::grain(&grain, 2_500.0).expect("good numbers");
        world.add(particle, &pose, V3::new(v, 0.5 * v, v), V3::zeros()).expect("good numbers");
    }
    world
}

#[test]
fn loads_are_those_of_a_step() {
    let (mut own, mut external) = (world(), world());
    for k in 0..2 {
        let m = *external.motion(id(k)).unwrap();
        // A step computes its forces at this position; grains without spin have not rotated.
        let middle = m.center + m.velocity * (0.5 * STEP);
        external.set_motion(id(k), middle, m.rotation(), m.velocity, m.momentum).unwrap();
    }
    let before: Vec<_> = (0..2).map(|k| *own.motion(id(k)).unwrap()).collect();
    own.step(STEP).unwrap();
    let loads = external.contact_loads(STEP).unwrap().to_vec();
    assert_eq!(
        (external.contact_count(), own.contact_count()),
        (2, 2),
        "grains with each other, and one with the floor"
    );
    for (k, load) in loads.iter().enumerate() {
        let after = own.motion(id(k)).unwrap();
        let force = (after.velocity - before[k].velocity) * (own.mass(id(k)).unwrap() / STEP);
        let moment = after.momentum / STEP;
        assert!(force.norm() > 10.0 && (load.force - force).norm() < 1e-9 * force.norm(), "{k}: {force}");
        assert!(moment.norm() > 1.0 && (load.moment - moment).norm() < 1e-9 * moment.norm(), "{k}: {moment}");
    }
    let [ours, theirs] = [&own, &external].map(|w| w.wall_load(wall_id(0)).unwrap().force);
    assert!(ours.norm() > 10.0 && (ours - theirs).norm() < 1e-9 * ours.norm(), "{ours} {theirs}");
    // A time of 0 does not advance friction; another step does.
    assert_eq!(external.contact_loads(0.0).unwrap(), loads);
    assert_ne!(external.contact_loads(STEP).unwrap(), loads);
}

#[test]
fn invalid_times_and_positions_are_refused() {
    let mut world = world();
    for time in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(world.contact_loads(time).is_err(), "{time}");
    }
    let (turn, far) = (UnitQuaternion::identity(), V3::repeat(f64::INFINITY));
    assert!(world.set_motion(id(0), P3::from(far), turn, V3::zeros(), V3::zeros()).is_err());
    assert!(world.set_motion(id(0), P3::origin(), turn, V3::zeros(), far).is_err());
}
