//! Reproduces the evaluation of BREP chapter 5 on insertion scenarios: times, numbers of contacts, stages,
//! threads, triangles beside exact solids, and the effect of every optimisation, over whole motions.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin evaluation \
//!     -- [SCENARIOS] [--out FOLDER] [--scenario NAME] [--repeats N] [--threads N] [--triangles-every N]
//!     [--quick]
//! ```
//!
//! SCENARIOS is a folder of scenarios (`data/evaluation`). FOLDER (`target/evaluation`) receives each curve
//! as CSV and SVG, and a page `index.html` with all of them:
//!
//! - *detection*: time of the search for contacts, number of contacts, smallest distance, with the exact
//!   solids (in sequence, and in parallel on 1 to N threads (2)) and with triangles (Figures 5.5, 5.6, 5.8,
//!   5.17, 5.18);
//! - *stages*: traversal, exact solves, acceptance, verdict (Figures 5.9 to 5.11);
//! - *steps*: time of a step of feeler-dynamics in which a spring pulls the plug along the motion
//!   (Figures 5.7, 5.19);
//! - *contributions*: the optimisations added in turn, and each one left out alone (Figures 5.12, 5.13);
//! - *first queries* of the scenarios in place and of pairs of free-form solids, on one and N threads;
//! - *curves*: pairs of sections that six methods of culling leave (Figures 5.21, 5.22).
//!
//! Triangles have chord errors of the clearance and of a quarter of it. *parry* computes contact manifolds;
//! *polyhedral minima* are those of feeler for the polyhedra. They are computed at every Nth pose (25);
//! poses at which the polyhedra interfere are counted and left out. Times are the minimum of N runs
//! (`--repeats`, 3). All queries search for distances up to twice the clearance. With `--quick`, every
//! curve is computed in one run and triangles are left out.
//!
//! Every fifth pose (20 poses if a solid has more than 500 faces) is compared with brute force: the same
//! minima to 1e-9 of the size. The printed hash of the minima must be the same for every run, for every
//! number of threads.
//!
//! Exit status 1 if minima are missing, or differ between runs, numbers of threads or optimisations.
#![expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a program that reports")]

mod cold;
mod contributions;
mod detection;
mod output;
mod triangles;

use detection::{Detection, Threading};
use feeler_benches::drive::Target;
use feeler_benches::lines::{Curve, Panel};
use feeler_benches::{Fallible, curve_culling, exit_code, inserted, number_after, scenarios, spread};
use feeler_dynamics::WorldSettings;
use feeler_geom::V3;
use feeler_tests::insertion::Insertion;
use output::{Output, shown};
use std::path::PathBuf;
use std::process::ExitCode;

/// Step (s) of the simulation that is drawn for each scenario.
const STEP: f64 = 1e-3;
/// Number of faces of a solid above which brute force is compared at few poses only.
const MANY_FACES: u32 = 500;

/// Options of the command line.
struct Settings {
    repeats: u32,
    threads: usize,
    triangles_every: usize,
    quick: bool,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    exit_code(run(&args))
}

fn run(args: &[String]) -> Fallible<bool> {
    let quick = args.iter().any(|a| a == "--quick");
    let settings = Settings {
        repeats: number_after(args, "--repeats").unwrap_or(if quick { 1 } else { 3 }),
        threads: number_after(args, "--threads").unwrap_or(2),
        triangles_every: number_after(args, "--triangles-every").unwrap_or(25).max(1),
        quick,
    };
    let mut folder = args.to_vec();
    if args.first().is_none_or(|a| a.starts_with("--")) {
        folder.insert(0, feeler_tests::data_dir().join("evaluation").to_string_lossy().into_owned());
    }
    let scenes = scenarios(&folder)?;
    let out = number_after::<PathBuf>(args, "--out").unwrap_or_else(|| PathBuf::from("target/evaluation"));
    let mut output = Output::new(out)?;
    let mut is_right = true;
    for scene in &scenes {
        is_right &= evaluate(scene, &settings, &mut output)?;
    }
    is_right &= cold::run(&scenes, &settings, &mut output)?;
    output.heading("Curves");
    let culling = curve_culling::compute(if quick { 50 } else { 200 }, 0.25)?;
    output.write("curve-culling.csv", &culling.csv())?;
    for (name, svg) in culling.charts() {
        output.figure(name, "Pairs of sections of a spring that culling leaves", &svg)?;
    }
    is_right &= culling.lost == 0;
    output.finish()?;
    Ok(is_right)
}

/// Computes all figures of a scenario. Returns whether all comparisons agree.
fn evaluate(scene: &Insertion, settings: &Settings, output: &mut Output) -> Fallible<bool> {
    let name = scene.name.clone();
    output.heading(&name);
    output.table(&counts(scene));
    let mut is_right = detections(scene, settings, output)?;
    is_right &= contributions::run(scene, settings, output)?;
    steps(scene, output)?;
    let stride = if faces(scene).iter().any(|n| *n > MANY_FACES) { scene.poses.len() / 20 } else { 5 };
    let missing = detection::compare_with_brute_force(scene, stride.max(1))?;
    output.paragraph(&format!(
        "Minima compared with brute force at every {stride}th pose: {} of {} poses differ.",
        missing.differing, missing.compared
    ));
    Ok(is_right && missing.differing == 0)
}

fn faces(scene: &Insertion) -> [u32; 2] {
    [&scene.a.0, &scene.b.0].map(|body| body.hierarchy().info.source_counts[0])
}

/// Table of the numbers of entities (BREP Tables 5.1, 5.2).
fn counts(scene: &Insertion) -> Vec<Vec<String>> {
    let mut rows =
        vec![["", "faces", "supermaximal faces", "edges", "supermaximal edges"].map(str::to_owned).to_vec()];
    for (file, body) in [(&scene.scenario.a, &scene.a.0), (&scene.scenario.b, &scene.b.0)] {
        let info = &body.hierarchy().info;
        let ([faces, edges, _], [of_faces, of_edges]) = (info.source_counts, info.supermaximal);
        let cells = [faces, of_faces, edges, of_edges];
        rows.push(std::iter::once(file.clone()).chain(cells.map(|n| n.to_string())).collect());
    }
    rows
}

/// Figures of detection and of the stages. Returns whether the minima of all threadings are the same.
fn detections(scene: &Insertion, settings: &Settings, output: &mut Output) -> Fallible<bool> {
    let name = &scene.name;
    let mut threadings = vec![Threading::Sequence];
    threadings.extend((1..=settings.threads).map(Threading::Threads));
    let mut all = Vec::new();
    for threading in threadings {
        all.push(Detection::run(scene, threading, settings.repeats)?);
    }
    let hash = all[0].hash;
    let same = all.iter().all(|d| d.hash == hash && d.is_reproduced);
    output.paragraph(&format!(
        "Hash of the minima of all {} poses: {hash:016x}{}.",
        scene.poses.len(),
        if same { ", in sequence and in parallel" } else { "; OTHER MINIMA IN A REPETITION OR IN PARALLEL" }
    ));
    let mut rows = vec![
        ["contact detection", "median ms", "95 %", "worst", "in place: median ms", "contacts", "in place"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let in_place = scene.phase("inplace")?;
    for d in &all {
        rows.push(d.row("minima", &d.minima_ms, &in_place));
        rows.push(d.row("minima and verdict", &d.whole_ms, &in_place));
    }
    let mut curves: Vec<Curve> = all.iter().map(|d| d.curve(d.threading.label(), &d.minima_ms)).collect();
    if !settings.quick {
        let peers = triangles::run(scene, settings.triangles_every)?;
        rows.extend(peers.iter().map(|p| p.row(scene, &all[0], &in_place)));
        curves.extend(peers.iter().map(triangles::Peer::curve));
        output.paragraph(&detection::seated(scene)?);
        for peer in &peers {
            output.paragraph(&peer.sentence());
        }
    }
    output.table(&rows);
    let panels = [
        Panel { label: "time of contact detection (ms)", floor: 1e-3, floor_label: "≤ 0.001" },
        Panel { label: "number of contacts", floor: 0.5, floor_label: "0" },
        Panel { label: "smallest distance (mm)", floor: 1e-5, floor_label: "≤ 1e-5" },
    ];
    output.chart(
        &format!("{name}-detection"),
        &format!("{name}: contact detection"),
        &panels,
        &curves,
        scene,
    )?;
    let stages: Vec<Curve> = all.iter().map(Detection::stages).collect();
    let panels = detection::STAGES.map(|label| Panel { label, floor: 1e-3, floor_label: "≤ 0.001" });
    output.chart(
        &format!("{name}-stages"),
        &format!("{name}: stages of a query"),
        &panels,
        &stages,
        scene,
    )?;
    let mut rows = vec![vec!["worst ms of a stage".to_owned()]];
    rows[0].extend(detection::STAGES.map(|s| s.replace(" (ms)", "")));
    for d in &all {
        let mut row = vec![d.threading.label()];
        row.extend(d.stages_ms.iter().map(|ms| format!("{:.3}", spread(&mut ms.clone())[2])));
        rows.push(row);
    }
    output.table(&rows);
    Ok(same)
}

/// Figure of the time of a step in feeler-dynamics.
fn steps(scene: &Insertion, output: &mut Output) -> Fallible<()> {
    let name = &scene.name;
    let target = Target::new(scene, 0.5)?;
    let world = WorldSettings { gravity: V3::zeros(), friction: 0.0, ..WorldSettings::default() };
    let run = inserted::insert(scene, &target, STEP, world, |_, _| {})?;
    let column =
        |value: fn(&feeler_benches::record::Step) -> f64| run.steps.iter().map(value).collect::<Vec<f64>>();
    let (step_ms, query_ms) = (column(|s| s.step_ms), column(|s| s.query_ms));
    let contacts = column(|s| s.contacts as f64);
    let mut rows = vec![
        ["simulated steps", "median ms", "95 %", "worst", "smallest gap mm"].map(str::to_owned).to_vec(),
    ];
    for (label, values) in [("whole step", &step_ms), ("contact detection of the step", &query_ms)] {
        let [median, high, worst] = spread(&mut values.clone());
        let gap = run.steps.iter().map(|s| s.smallest_gap).fold(f64::INFINITY, f64::min);
        rows.push(vec![
            label.to_owned(),
            format!("{median:.3}"),
            format!("{high:.3}"),
            format!("{worst:.3}"),
            format!("{gap:.1e}"),
        ]);
    }
    output.table(&rows);
    let curve = |label: &str, ms: Vec<f64>| Curve {
        label: label.to_owned(),
        times: column(|s| s.time),
        values: vec![ms, contacts.clone()],
    };
    let curves = [curve("whole step", step_ms), curve("contact detection", query_ms)];
    let panels = [
        Panel { label: "time of a step (ms)", floor: 1e-2, floor_label: "≤ 0.01" },
        Panel { label: "contacts of the solver", floor: 0.5, floor_label: "0" },
    ];
    let phases = run.phases().into_iter().map(|(n, a, b)| (shown(&n), a, b)).collect::<Vec<_>>();
    output.chart_with(
        &format!("{name}-steps"),
        &format!("{name}: steps of feeler-dynamics"),
        &panels,
        &curves,
        &phases,
    )
}
