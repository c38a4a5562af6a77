//! Cold queries on insertion scenarios:
//!
//! ```text
//! cargo run --release -p feeler-benches --bin scenarios -- FOLDER [--every N] [--flatness RAD] [--warm]
//! ```
//!
//! With `--warm` one pair of bodies goes through all poses of a phase, else every query gets a new one. FOLDER holds
//! `s1.json`, `s2.json` and their models. One thread; `d_max` = 2 × clearance.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::{Fallible, first_body, number_after, prepare_with, spread};
use feeler_geom::Pose;
use feeler_runtime::{ContactPair, QueryOptions};
use serde::Deserialize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

#[derive(Deserialize)]
struct Scenario {
    clearance: f64,
    a: String,
    b: String,
    phases: Vec<(String, usize, usize)>,
    poses_b: Vec<[f64; 7]>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let every = number_after(&args, "--every").unwrap_or(1);
    let flatness = number_after(&args, "--flatness").unwrap_or(feeler_cli::import::DEFAULT_FLATNESS);
    let warm = args.iter().any(|a| a == "--warm");
    let Some(dir) = args.first() else {
        eprintln!("give the folder of the scenarios");
        return ExitCode::from(2);
    };
    for name in ["s1", "s2"] {
        if let Err(e) = run(Path::new(dir), name, (every, warm), flatness) {
            eprintln!("{name}: {e}");
            return ExitCode::from(1);
        }
    }
    ExitCode::SUCCESS
}

fn run(dir: &Path, name: &str, (every, warm): (usize, bool), flatness: f64) -> Fallible<()> {
    let text = std::fs::read_to_string(dir.join(format!("{name}.json"))).map_err(|e| e.to_string())?;
    let s: Scenario = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let mut bodies = Vec::new();
    for file in [&s.a, &s.b] {
        let clock = Instant::now();
        let model = prepare_with(&dir.join(file), flatness)?;
        let prepared = clock.elapsed().as_secs_f64();
        let bytes = feeler_hierarchy::file::encode(&model).map_err(|e| e.to_string())?;
        let clock = Instant::now();
        let model = feeler_hierarchy::file::decode(&bytes).map_err(|e| e.to_string())?;
        let loaded = clock.elapsed().as_secs_f64();
        println!(
            "{name}: {file}: prepared in {prepared:.3} s, {} bytes, loaded in {:.3} ms, {} leaves",
            bytes.len(),
            loaded * 1e3,
            model.solids[0].areas.len()
        );
        bodies.push(first_body(&model)?);
    }
    let ((a, pose_a), (b, own_b)) = (bodies[0].clone(), bodies[1].clone());
    let options = QueryOptions { d_max: 2.0 * s.clearance, ..QueryOptions::default() };
    for (phase, from, to) in &s.phases {
        let (mut ms, mut count, mut nodes, mut pairs, mut solves) = (vec![], vec![], vec![], vec![], vec![]);
        let mut pair = ContactPair::new(a.clone(), b.clone());
        for p in s.poses_b[*from..*to].iter().step_by(every) {
            let pose = Pose::from_parts(
                nalgebra::Translation3::new(p[0], p[1], p[2]),
                nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(p[6], p[3], p[4], p[5])),
            );
            if !warm {
                pair = ContactPair::new(a.clone(), b.clone());
            }
            let clock = Instant::now();
            pair.query(&pose_a, &(pose * own_b), &options);
            ms.push(clock.elapsed().as_secs_f64() * 1e3);
            count.push(f64::from(u32::try_from(pair.lmds().len()).unwrap_or(u32::MAX)));
            let st = pair.stats();
            nodes.push(to_f64(st.bvtt_nodes));
            pairs.push(to_f64(st.leaf_pairs));
            solves.push(to_f64(st.exact_solves));
        }
        let [median, p95, max] = spread(&mut ms);
        println!(
            "{name} {phase:12} {:3} poses: median {median:8.3} ms, p95 {p95:8.3}, max {max:8.3}; LMDs {:.0} (max {:.0}); nodes {:.0}, leaf pairs {:.0}, solves {:.0} (medians)",
            ms.len(),
            spread(&mut count)[0],
            spread(&mut count)[2],
            spread(&mut nodes)[0],
            spread(&mut pairs)[0],
            spread(&mut solves)[0]
        );
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts in a report")]
fn to_f64(n: u64) -> f64 {
    n as f64
}
