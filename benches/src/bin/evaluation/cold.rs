//! First queries of pairs that have no results of earlier ones: in sequence and on several threads.

use crate::Settings;
use crate::detection::{FNV, STAGES, folded};
use crate::output::Output;
use feeler_benches::Fallible;
use feeler_geom::Pose;
use feeler_runtime::{Body, ContactPair, QueryOptions};
use feeler_tests::insertion::Insertion;
use std::sync::Arc;
use std::time::Instant;

/// Two bodies at poses, with the reach (mm) of the query.
struct Case {
    name: String,
    bodies: [Arc<Body>; 2],
    poses: [Pose; 2],
    d_max: f64,
}

/// Number of repetitions of each query, of which the smallest time counts.
const REPEATS: u32 = 7;

/// Writes the table of the scenarios in place and of pairs of free-form solids. Returns whether the results
/// do not depend on the number of threads.
pub(crate) fn run(scenes: &[Insertion], settings: &Settings, output: &mut Output) -> Fallible<bool> {
    let mut cases = Vec::new();
    for scene in scenes {
        let in_place = scene.phase("inplace")?;
        cases.push(Case {
            name: format!("{}, in place", scene.name),
            bodies: [scene.a.0.clone(), scene.b.0.clone()],
            poses: [scene.a.1, scene.poses[usize::midpoint(in_place.start, in_place.end)]],
            d_max: scene.d_max(),
        });
    }
    for [a, b] in [["loft", "loft"], ["wave", "wave"], ["loft", "wave"]] {
        cases.push(free_form(a, b)?);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build();
    let pool = pool.map_err(|e| e.to_string())?;
    let threads = format!("{} threads ms", settings.threads);
    let head = ["first query", "minima", "in sequence ms", &threads, "ratio", "equal"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows[0].extend(STAGES.map(str::to_owned));
    let mut is_right = true;
    for case in &cases {
        let mut ms = [f64::INFINITY; 2];
        let mut found: [Option<(usize, u64)>; 2] = [None; 2];
        let mut stages = [f64::INFINITY; 4];
        for _ in 0..REPEATS {
            for (k, parallel) in [false, true].into_iter().enumerate() {
                let work = || query(case, parallel);
                let (time, of_stages, result) = if parallel { pool.install(work) } else { work() }?;
                ms[k] = ms[k].min(time);
                if !parallel {
                    stages = std::array::from_fn(|i| stages[i].min(of_stages[i]));
                }
                is_right &= found[k].is_none_or(|earlier| earlier == result);
                found[k] = Some(result);
            }
        }
        let equal = found[0] == found[1];
        is_right &= equal;
        rows.push(vec![
            case.name.clone(),
            found[0].map_or(0, |f| f.0).to_string(),
            format!("{:.2}", ms[0]),
            format!("{:.2}", ms[1]),
            format!("{:.2}", ms[0] / ms[1]),
            if equal { "yes" } else { "NO" }.to_owned(),
        ]);
        rows.last_mut().expect("a row").extend(stages.map(|ms| format!("{ms:.2}")));
    }
    output.heading("First queries");
    output.table(&rows);
    Ok(is_right)
}

/// Gap (mm) at which the free-form solids are placed.
const GAP: f64 = 0.1;

/// Two solids of `data`, the second one rotated and moved beside the first one.
fn free_form(a: &str, b: &str) -> Fallible<Case> {
    let bodies = [a, b].map(|name| feeler_tests::model(name).body);
    let rotation = Pose::rotation(feeler_geom::V3::new(0.3, 0.5, 0.2));
    let far = Pose::translation(bodies[0].size() + bodies[1].size(), 0.0, 0.0) * rotation;
    let mut pair = ContactPair::new(bodies[0].clone(), bodies[1].clone());
    let failed = |e: feeler_runtime::QueryError| format!("{a}, {b}: {e}");
    let reach = pair.nearest_distance(&Pose::identity(), &far, &QueryOptions::default()).map_err(failed)?;
    let reach = 1.01 * reach.ok_or("the pair has no minimum")?;
    pair.query(&Pose::identity(), &far, &QueryOptions::within(reach)).map_err(failed)?;
    let nearest = pair.contacts().iter().min_by(|p, q| p.distance.total_cmp(&q.distance));
    let nearest = nearest.ok_or("the pair has no minimum")?;
    let moved = nearest.normal * (GAP - nearest.distance);
    let near = Pose::translation(moved.x, moved.y, moved.z) * far;
    Ok(Case { name: format!("{a} beside {b}"), bodies, poses: [Pose::identity(), near], d_max: 1.0 })
}

/// Time (ms) of the first query of a new pair, times of its stages, and the number of minima with their hash.
fn query(case: &Case, parallel: bool) -> Fallible<(f64, [f64; 4], (usize, u64))> {
    let options = QueryOptions { parallel, ..QueryOptions::within(case.d_max) };
    let mut pair = ContactPair::new(case.bodies[0].clone(), case.bodies[1].clone());
    let clock = Instant::now();
    pair.query(&case.poses[0], &case.poses[1], &options).map_err(|e| format!("{}: {e}", case.name))?;
    let ms = clock.elapsed().as_secs_f64() * 1e3;
    let t = pair.phase_times();
    let stages = [t.traversal, t.solves, t.filtering, t.interference].map(|t| t.as_secs_f64() * 1e3);
    Ok((ms, stages, (pair.contacts().len(), pair.contacts().iter().fold(FNV, folded))))
}
