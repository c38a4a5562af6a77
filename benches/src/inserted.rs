//! A plug inserted by forces in feeler-dynamics: a spring pulls it along the target, and only contacts keep
//! it out of the socket.

use crate::drive::{RESPONSE_TIME, STEEL_DENSITY, Target};
use crate::record::{Recording, Step};
use crate::{Fallible, cpu_seconds};
use feeler_dynamics::{Coupling, RigidBody, RigidBodyId, StepReport, World, WorldSettings};
use feeler_geom::Pose;
use feeler_runtime::Body;
use feeler_tests::insertion::Insertion;
use std::sync::Arc;

/// Makes a world with the fixed part `a` and the moving part `b` of steel.
///
/// # Panics
/// `b` has no volume.
#[must_use]
pub fn world(a: (Arc<Body>, Pose), b: (Arc<Body>, Pose), settings: WorldSettings) -> World {
    let mut world = World::new(settings);
    world.clock = Some(cpu_seconds);
    world.add(RigidBody::fixed(a.0, a.1));
    world.add(RigidBody::of_density(b.0, b.1, STEEL_DENSITY).expect("a solid"));
    world
}

/// Inserts the plug of a scenario along a target in steps of `step` (s), and calls `each` after every step.
/// Times are processor times of the thread.
///
/// # Errors
/// A step fails; the message states its time.
pub fn insert(
    insertion: &Insertion,
    target: &Target,
    step: f64,
    settings: WorldSettings,
    mut each: impl FnMut(&Step, &StepReport),
) -> Fallible<Recording> {
    let start = target.pose(0.0);
    let mut world = world(insertion.a.clone(), (insertion.b.0.clone(), start), settings);
    let id = RigidBodyId(1);
    world.body_mut(id).dilation = insertion.scenario.dilation;
    let mass = world.body(id).mass().unwrap_or_default();
    world.couplings.push(Coupling::critical(id, start, mass, 0.3 * target.length, RESPONSE_TIME));
    let mut out = Recording::default();
    let mut t = 0.0;
    while t < target.end_time + 10.0 * RESPONSE_TIME {
        t += step;
        let coupling = &mut world.couplings[0];
        coupling.target = target.pose(t);
        coupling.velocity = target.velocity(t, step);
        let queried = world.query_time();
        let begin = cpu_seconds();
        let report = world.step(step).map_err(|e| format!("{t}: {e}"))?;
        let step = Step {
            time: t,
            phase: target.phase(t).to_owned(),
            step_ms: 1e3 * (cpu_seconds() - begin),
            query_ms: 1e3 * (world.query_time() - queried),
            rounds: report.rounds,
            minima: world.contacts().len(),
            contacts: report.contacts,
            smallest_gap: report.smallest_gap,
            pose: world.body(id).pose,
        };
        each(&step, &report);
        out.steps.push(step);
    }
    Ok(out)
}
