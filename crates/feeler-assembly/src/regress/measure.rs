//! Results of the queries of a pair of solids.

use super::results::StepFacts;
use crate::assembly::{AssemblyPart, compose_poses};
use crate::compare::MinimumFacts;
use crate::error::AssemblyError;
use crate::names::{contact_kind_name, status_name};
use feeler_geom::Pose;
use feeler_runtime::{Contact, ContactPair, QueryError, QueryOptions};
use std::time::Instant;

/// Queries two parts A and B at several pairs of motions, which move them from their poses in the
/// assembly. Returns the status, depth and minima at each pair of motions, and the duration (s) of all
/// queries together: the shortest one of `repetitions` runs.
///
/// # Errors
/// A query is not possible.
pub fn measure_pair(
    [a, b]: [&AssemblyPart; 2],
    poses: &[(Pose, Pose)],
    options: &QueryOptions,
    repetitions: usize,
) -> Result<(Vec<StepFacts>, f64), AssemblyError> {
    let (mut steps, mut shortest) = (Vec::new(), f64::INFINITY);
    for _ in 0..repetitions.max(1) {
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        steps.clear();
        let mut seconds = 0.0;
        for (k, (motion_a, motion_b)) in poses.iter().enumerate() {
            let named = |error: QueryError| AssemblyError::Query { subject: format!("step {k}"), error };
            let placed = [(*motion_a, a.pose), (*motion_b, b.pose)];
            let [pose_a, pose_b] = compose_poses(&pair, placed, options).map_err(named)?;
            let clock = Instant::now();
            pair.query(&pose_a, &pose_b, options).map_err(named)?;
            seconds += clock.elapsed().as_secs_f64();
            steps.push(step_facts(&pair));
        }
        shortest = shortest.min(seconds);
    }
    Ok((steps, shortest))
}

fn step_facts(pair: &ContactPair) -> StepFacts {
    let minimum = |c: &Contact| MinimumFacts {
        distance: c.distance,
        a: c.local_a.into(),
        b: c.local_b.into(),
        kind: contact_kind_name(c.kind).to_owned(),
    };
    let witness = pair.verdict().and_then(|v| v.witness.as_ref());
    StepFacts {
        status: pair.status().map_or("-", status_name).to_owned(),
        depth: witness.map(|w| w.depth()),
        minima: pair.contacts().iter().map(minimum).collect(),
    }
}
