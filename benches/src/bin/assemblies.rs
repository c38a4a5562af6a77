//! Verdicts (apart, touching, interfering) of neighbours in assemblies, compared with those of an
//! independent kernel:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin assemblies \
//!     -- FOLDER ANSWERS.jsonl [--d-max MM] [--only FILE]
//! ```
//!
//! FOLDER contains the STEP files, and ANSWERS.jsonl is the output of `tools/oracle/assemblies.py`. The
//! program prints for each assembly the number of near pairs, the number of equal verdicts and the times
//! of the queries, each with a new pair; then each difference with both verdicts. Pairs that the other
//! kernel marks as doubtful are queried and listed separately, but not counted. Exit status 1 if verdicts
//! differ, or a file cannot be prepared.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::{Fallible, number_after, prepare, spread};
use feeler_geom::Pose;
use feeler_hierarchy::Instance;
use feeler_runtime::{Body, ContactPair, QueryOptions};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// A line of the answers, for a pair or for a file without verdicts.
#[derive(Deserialize)]
struct Line {
    file: String,
    /// Index of the solid in feeler's list; `None` if feeler has no such solid.
    a: Option<usize>,
    b: Option<usize>,
    /// Longer diagonal of the two boxes (mm).
    size: Option<f64>,
    /// Distance (mm) of the two solids; `None` if the other kernel failed.
    distance: Option<f64>,
    /// Volume (mm³) common to the two solids; `None` if the other kernel failed.
    common: Option<f64>,
    verdict: Option<String>,
    /// Reason why the answer of the other kernel is unreliable, if any.
    marked: Option<String>,
}

/// Distance, as a fraction of the size, up to which the other kernel reports `touching`.
const TOUCHING_REL: f64 = 1e-6;

/// Results of the pairs of one assembly.
#[derive(Default)]
struct Tally {
    pairs: usize,
    agree: usize,
    undecided: usize,
    /// Number of pairs whose answer the other kernel marks as doubtful; they are not counted elsewhere.
    marked: usize,
    /// Number of pairs that are not queried, because one of their solids is missing in feeler's list.
    lost: usize,
    /// Number of pairs that are apart in both kernels, at different distances.
    distances: usize,
    /// Times (ms) of the queries.
    times: Vec<f64>,
    differences: Vec<String>,
    doubted: Vec<String>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, answers, ..] = args.as_slice() else {
        eprintln!(
            "two arguments are needed: the folder of the STEP files, and the file of answers (ANSWERS.jsonl)"
        );
        return ExitCode::from(2);
    };
    let d_max = number_after(&args, "--d-max").unwrap_or(0.1);
    let only: Option<String> = number_after(&args, "--only");
    let text = match std::fs::read_to_string(answers) {
        Ok(text) => text,
        Err(e) => {
            eprintln!("{answers}: {e}");
            return ExitCode::from(2);
        }
    };
    let mut of_file: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for (n, line) in text.lines().enumerate() {
        match serde_json::from_str::<Line>(line) {
            Ok(l) => of_file.entry(l.file.clone()).or_default().push(l),
            Err(e) => eprintln!("{answers}:{}: {e}", n + 1),
        }
    }
    of_file.retain(|file, _| only.as_ref().is_none_or(|o| o == file));
    let mut tallies = Vec::new();
    for (file, lines) in &of_file {
        match run(&Path::new(folder).join(file), lines, d_max) {
            Ok(tally) => tallies.push((file.as_str(), tally)),
            Err(e) => eprintln!("{file}: {e}"),
        }
    }
    println!(
        "| assembly | near pairs | agree | differ | undecided | distances differ | doubted | lost | query \
            median ms | p95 | max |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut sum = Tally::default();
    for (file, t) in &mut tallies {
        row(file, t);
        sum.pairs += t.pairs;
        sum.agree += t.agree;
        sum.undecided += t.undecided;
        sum.marked += t.marked;
        sum.lost += t.lost;
        sum.distances += t.distances;
        sum.times.extend(&t.times);
        sum.differences.append(&mut t.differences);
        sum.doubted.append(&mut t.doubted);
    }
    row("all", &mut sum);
    for (title, lines) in [("Differences", &sum.differences), ("Doubted by the other kernel", &sum.doubted)] {
        println!("\n{title}: {}", lines.len());
        for line in lines {
            println!("- {line}");
        }
    }
    ExitCode::from(u8::from(!sum.differences.is_empty() || tallies.len() < of_file.len()))
}

fn row(name: &str, t: &mut Tally) {
    let [median, p95, max] = spread(&mut t.times);
    let Tally { pairs, agree, undecided, marked, lost, distances, differences, .. } = t;
    println!(
        "| {name} | {pairs} | {agree} | {} | {undecided} | {distances} | {marked} | {lost} | {median:.3} | \
            {p95:.3} | {max:.3} |",
        differences.len(),
    );
}

/// Queries all pairs of an assembly.
fn run(path: &Path, lines: &[Line], d_max: f64) -> Fallible<Tally> {
    let model = prepare(path)?;
    let bodies = model
        .solids
        .into_iter()
        .map(|h| Body::new(h).map(Arc::new).map_err(|e| e.to_string()))
        .collect::<Fallible<Vec<_>>>()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut t = Tally::default();
    for line in lines {
        let Some(expected) = &line.verdict else { continue };
        t.pairs += 1;
        let place = |i: Option<usize>| i.and_then(|i| model.instances.get(i));
        let (Some(a), Some(b)) = (place(line.a), place(line.b)) else {
            t.lost += 1;
            continue;
        };
        let [body_a, body_b] = [a, b].map(|i| &bodies[i.solid as usize]);
        let clock = Instant::now();
        let mut pair = ContactPair::new(Arc::clone(body_a), Arc::clone(body_b));
        pair.query(&pose(a), &pose(b), &QueryOptions::within(d_max)).expect("finite poses and options");
        t.times.push(1e3 * clock.elapsed().as_secs_f64());
        let status = pair.status().map_or_else(String::new, |s| format!("{s:?}").to_lowercase());
        let d = pair.min_distance();
        let deviation: f64 = [body_a, body_b].iter().map(|b| b.hierarchy().info.max_trim_deviation).sum();
        let close = TOUCHING_REL * line.size.unwrap_or(0.0) + deviation;
        let show = |x: Option<f64>, unit: &str| {
            x.map_or_else(|| "unknown".to_owned(), |x| format!("{x:.6e} {unit}"))
        };
        let both = format!(
            "{name} {} / {} ({}, {}): {status}, distance {}; other kernel {expected}, distance {}, common \
                volume {}",
            line.a.unwrap_or_default(),
            line.b.unwrap_or_default(),
            a.name,
            b.name,
            show(d, "mm"),
            show(line.distance, "mm"),
            show(line.common, "mm³"),
        );
        // The other kernel reports `touching` up to a larger gap; at such a gap `separated` is right as
        // well.
        let as_good = expected == "touching" && status == "separated" && d.is_some_and(|d| d <= close);
        if let Some(why) = &line.marked {
            t.marked += 1;
            t.doubted.push(format!("{both} ({why})"));
        } else if status == "undecided" {
            t.undecided += 1;
        } else if status == *expected || as_good {
            t.agree += 1;
            let theirs = line.distance.filter(|x| *x <= d_max && status == "separated");
            if theirs.is_some_and(|x| d.is_none_or(|d| (d - x).abs() > close)) {
                t.distances += 1;
                println!("distance: {both}");
            }
        } else {
            t.differences.push(both);
        }
    }
    Ok(t)
}

fn pose(instance: &Instance) -> Pose {
    let [x, y, z, w] = instance.rotation;
    Pose::from_parts(
        Translation3::from(instance.translation),
        UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
    )
}
