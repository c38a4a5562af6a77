//! Signed Volumes against Johnson's sub-algorithm, its backup procedure and the Voronoi search: DIST §4.8.1
//! and §4.8.2, Figures 4.28 to 4.32.
//!
//! `sub_algorithms [--pairs N] [--out FOLDER]` prints the time of a call for each region of a simplex;
//! then, for polygonal balls of 24 to 1,000 vertices, the time of all calls of a query (Algorithm 5 of
//! DIST), and the time of the query by tolerance and number of vertices, both with and without hill
//! climbing. FOLDER receives the values as CSV and the figures as SVG. Times are those of the processor.

#![allow(clippy::print_stdout, reason = "a program that prints tables")]

use clap::Parser;
use feeler_benches::bars::{self, Group};
use feeler_benches::plot::{self, Axis, Chart, ColorMap, Series};
use feeler_benches::{Fallible, cpu_seconds, exit_code};
use feeler_convex::reference::cases::CaseRandom;
use feeler_convex::reference::{Backup, Johnson, JohnsonWithBackup, Voronoi, algorithm_5};
use feeler_convex::{
    DistanceRequest, Nearest, PointSet, Polytope, SignedVolumes, Signs, SubAlgorithm, Support, distance,
};
use feeler_geom::{P3, V3};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Times of sub-algorithms of GJK.
#[derive(Debug, Parser)]
struct Arguments {
    /// Number of pairs of balls of each kind.
    #[arg(long, default_value_t = 40)]
    pairs: usize,
    /// Folder for CSV and SVG files.
    #[arg(long)]
    out: Option<PathBuf>,
}

const PLAIN: SignedVolumes = SignedVolumes { signs: Signs::Double };
const ADAPTIVE: SignedVolumes = SignedVolumes { signs: Signs::Adaptive };

/// Names and gaps of the configurations, relative to balls of radius 1.
const CONFIGURATIONS: [(&str, f64); 3] = [("distant", 1.0), ("close", 1e-4), ("overlapping", -0.3)];
/// Numbers of vertices of a ball. Hulls of fewer than 24 vertices have no hill climbing.
const VERTICES: [usize; 6] = [24, 50, 100, 200, 500, 1000];
/// Tolerances of Algorithm 5: relative decrease of the squared distance, and distance relative to the
/// simplex.
const TOLERANCES: [f64; 7] = [1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14];

/// Number of repetitions of a measurement, of which the shortest counts.
const ROUNDS: usize = 5;

fn nanoseconds(n: u32, mut call: impl FnMut()) -> f64 {
    let mut round = || {
        let start = cpu_seconds();
        for _ in 0..n {
            call();
        }
        1e9 * (cpu_seconds() - start) / f64::from(n)
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// Simplices whose nearest face has `kept` vertices, including the newest one, as in a search.
fn simplices(rng: &mut CaseRandom, n: usize, kept: usize) -> Vec<Vec<V3>> {
    let mut out = Vec::new();
    while out.len() < 256 {
        let shift = rng.vector() * rng.between(0.0, 2.0);
        let s: Vec<V3> = (0..n).map(|_| rng.vector() + shift).collect();
        let (Some(old), Some(all)) =
            (feeler_convex::nearest_to_origin(&s[..n - 1]), feeler_convex::nearest_to_origin(&s))
        else {
            continue;
        };
        let reached = old.vertices().len() == n - 1;
        let beyond = s[n - 1].dot(&old.point()) < old.point().norm_squared();
        if reached && beyond && all.vertices().len() == kept {
            out.push(s);
        }
    }
    out
}

fn time<S: SubAlgorithm>(sub_algorithm: &S, simplices: &[Vec<V3>]) -> f64 {
    let all = nanoseconds(40, || {
        for s in simplices {
            black_box(sub_algorithm.nearest(black_box(s)));
        }
    });
    all / 256.0
}

fn primitives(out: Option<&Path>) -> Fallible<()> {
    println!(
        "Time of one call (ns), by vertices of the simplex and of the face that contains the nearest point:\n"
    );
    println!("| simplex, face | Signed Volumes | adaptive signs | Johnson | and backup | backup | Voronoi |");
    println!("|---|---|---|---|---|---|---|");
    let mut rng = CaseRandom(3);
    let mut csv =
        String::from("simplex,face,signed_volumes,adaptive_signs,johnson,johnson_backup,backup,voronoi\n");
    let mut groups = Vec::new();
    for (n, kept) in [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (4, 3), (4, 4)] {
        let s = simplices(&mut rng, n, kept);
        let times = [
            time(&PLAIN, &s),
            time(&ADAPTIVE, &s),
            time(&Johnson, &s),
            time(&JohnsonWithBackup, &s),
            time(&Backup, &s),
            time(&Voronoi, &s),
        ];
        let cells = |separator: &str| times.map(|t| format!("{t:.1}")).join(separator);
        println!("| {n}, {kept} | {} |", cells(" | "));
        // Writing to a string does not fail.
        let _ = writeln!(csv, "{n},{kept},{}", cells(","));
        let bar = |name: &str, k: usize| (name.to_owned(), times[k]);
        groups.push(Group {
            title: format!("simplex of {n} points, nearest point on {kept}"),
            bars: vec![bar("Signed Volumes", 0), bar("Johnson", 2), bar("backup", 4), bar("Voronoi", 5)],
        });
    }
    write(out, "primitives.csv", &csv)?;
    write(out, "primitives.svg", &bars::chart(&groups, "time of one call (ns)"))
}

fn write(folder: Option<&Path>, name: &str, text: &str) -> Fallible<()> {
    let Some(folder) = folder else { return Ok(()) };
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|e| format!("{}: cannot be written: {e}", path.display()))
}

fn ball(rng: &mut CaseRandom, n: usize) -> Vec<P3> {
    (0..n).map(|_| P3::from(rng.vector().normalize())).collect()
}

/// Pairs of balls with a gap, each as the vertices of both.
fn pairs(n: usize, gap: f64, count: usize) -> Vec<[Vec<P3>; 2]> {
    let mut rng = CaseRandom(4);
    let mut out = Vec::new();
    while out.len() < count {
        let (p, q) = (ball(&mut rng, n), ball(&mut rng, n));
        let away = rng.vector().normalize() * 3.0;
        let far: Vec<P3> = q.iter().map(|p| p + away).collect();
        let (Ok(a), Ok(b)) = (Polytope::new(&p), Polytope::new(&far)) else { continue };
        let first = distance(&a, &b, &DistanceRequest::default());
        let near = far.iter().map(|p| p - first.direction * (first.distance - gap)).collect();
        out.push([p, near]);
    }
    out
}

/// Sub-algorithm that records the simplices of its calls.
struct Recorder<'a, S> {
    inner: &'a S,
    calls: RefCell<Vec<Vec<V3>>>,
}

impl<S: SubAlgorithm> SubAlgorithm for Recorder<'_, S> {
    fn nearest(&self, s: &[V3]) -> Option<Nearest> {
        self.calls.borrow_mut().push(s.to_vec());
        self.inner.nearest(s)
    }
}

/// Means over pairs of one measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    /// Time of all calls of the sub-algorithm in a query (ns).
    calls: f64,
    /// Time of a query (ns).
    query: f64,
    iterations: f64,
    failures: usize,
}

fn measure<A: Support, S: SubAlgorithm>(shapes: &[[A; 2]], sub_algorithm: &S, tolerance: f64) -> Mean {
    let mut out = Mean::default();
    let tolerances = (tolerance, tolerance);
    for [a, b] in shapes {
        let recorder = Recorder { inner: sub_algorithm, calls: RefCell::new(Vec::new()) };
        let found = algorithm_5(a, b, &recorder, tolerances);
        let calls = recorder.calls.into_inner();
        out.iterations += f64::from(found.iterations);
        out.failures += usize::from(found.failed);
        out.calls += nanoseconds(20, || {
            for s in &calls {
                black_box(sub_algorithm.nearest(black_box(s)));
            }
        });
        out.query += nanoseconds(10, || {
            black_box(algorithm_5(black_box(a), b, sub_algorithm, tolerances));
        });
    }
    #[expect(clippy::cast_precision_loss, reason = "few pairs")]
    let n = shapes.len() as f64;
    Mean { calls: out.calls / n, query: out.query / n, iterations: out.iterations / n, ..out }
}

/// Names of the sub-algorithms of DIST §4.8.2.
const NAMES: [&str; 4] = ["Johnson and backup (JB)", "Johnson (JH)", "backup (BK)", "Signed Volumes (SV)"];

fn measure_all<A: Support>(shapes: &[[A; 2]], tolerance: f64) -> [Mean; 4] {
    [
        measure(shapes, &JohnsonWithBackup, tolerance),
        measure(shapes, &Johnson, tolerance),
        measure(shapes, &Backup, tolerance),
        measure(shapes, &PLAIN, tolerance),
    ]
}

/// Means by tolerance and sub-algorithm of one kind of pairs.
struct Kind {
    configuration: &'static str,
    vertices: usize,
    climbs: bool,
    means: Vec<[Mean; 4]>,
}

fn kinds(count: usize) -> Fallible<Vec<Kind>> {
    let mut out = Vec::new();
    for (configuration, gap) in CONFIGURATIONS {
        for vertices in VERTICES {
            let points = pairs(vertices, gap, count);
            let with: Result<Vec<[Polytope; 2]>, _> =
                points.iter().map(|[a, b]| Ok([Polytope::new(a)?, Polytope::new(b)?])).collect();
            let without: Result<Vec<[PointSet<'_>; 2]>, _> =
                points.iter().map(|[a, b]| Ok([PointSet::new(a)?, PointSet::new(b)?])).collect();
            let failed = |e: feeler_convex::ConvexShapeError| e.to_string();
            let (with, without) = (with.map_err(failed)?, without.map_err(failed)?);
            let means = TOLERANCES.map(|t| measure_all(&with, t)).to_vec();
            out.push(Kind { configuration, vertices, climbs: true, means });
            let means = TOLERANCES.map(|t| measure_all(&without, t)).to_vec();
            out.push(Kind { configuration, vertices, climbs: false, means });
        }
    }
    Ok(out)
}

fn climbing(climbs: bool) -> &'static str {
    if climbs { "with hill climbing" } else { "without" }
}

/// Figures 4.29 and 4.30: time of all calls of the sub-algorithm in a query.
fn calls(kinds: &[Kind], out: Option<&Path>) -> Fallible<()> {
    println!("\nTime of all calls of the sub-algorithm in a query (ns; failed queries in brackets):\n");
    println!("| tolerance, balls | vertices | {} |\n|---|---|---|---|---|---|", NAMES.join(" | "));
    let mut charts = Vec::new();
    for (k, tolerance) in [(0, TOLERANCES[0]), (TOLERANCES.len() - 1, TOLERANCES[TOLERANCES.len() - 1])] {
        for climbs in [true, false] {
            for (configuration, _) in CONFIGURATIONS {
                let of = |kind: &&Kind| kind.configuration == configuration && kind.climbs == climbs;
                let own: Vec<&Kind> = kinds.iter().filter(of).collect();
                for kind in own.iter().filter(|kind| [24, 100, 1000].contains(&kind.vertices)) {
                    let cells = kind.means[k].map(|m| format!("{:.0} ({})", m.calls, m.failures));
                    println!(
                        "| {tolerance:e}, {configuration}, {} | {} | {} |",
                        climbing(climbs),
                        kind.vertices,
                        cells.join(" | ")
                    );
                }
                let series = NAMES.iter().enumerate().map(|(i, name)| Series {
                    label: (*name).to_owned(),
                    #[expect(clippy::cast_precision_loss, reason = "few vertices")]
                    points: own.iter().map(|kind| [kind.vertices as f64, kind.means[k][i].calls]).collect(),
                });
                charts.push(Chart {
                    title: format!("{configuration}, {}, tolerance {tolerance:e}", climbing(climbs)),
                    x: Axis { label: "vertices of a ball", is_log: true },
                    y: Axis { label: "time of all calls (ns)", is_log: false },
                    series: series.collect(),
                });
            }
        }
    }
    write(out, "calls.svg", &plot::charts("Sub-algorithms in a query (DIST Figures 4.29, 4.30)", &charts, 3))
}

/// Figures 4.31 and 4.32: time of a query by tolerance and number of vertices.
fn queries(kinds: &[Kind], out: Option<&Path>) -> Fallible<()> {
    println!("\nTime of a query (ns), tolerances 1e-8 and 1e-14, Johnson with backup and Signed Volumes:\n");
    println!("| balls | vertices | JB 1e-8 | SV 1e-8 | JB 1e-14 | SV 1e-14 |\n|---|---|---|---|---|---|");
    let mut csv = String::from(
        "configuration,hill_climbing,vertices,tolerance,sub_algorithm,calls_ns,query_ns,\
         iterations,failures\n",
    );
    for kind in kinds {
        for (tolerance, means) in TOLERANCES.iter().zip(&kind.means) {
            for (name, m) in ["JB", "JH", "BK", "SV"].iter().zip(means) {
                // Writing to a string does not fail.
                let _ = writeln!(
                    csv,
                    "{},{},{},{tolerance:e},{name},{:.1},{:.1},{:.2},{}",
                    kind.configuration,
                    kind.climbs,
                    kind.vertices,
                    m.calls,
                    m.query,
                    m.iterations,
                    m.failures
                );
            }
        }
        let (first, last) = (&kind.means[0], &kind.means[TOLERANCES.len() - 1]);
        println!(
            "| {}, {} | {} | {:.0} | {:.0} | {:.0} | {:.0} |",
            kind.configuration,
            climbing(kind.climbs),
            kind.vertices,
            first[0].query,
            first[3].query,
            last[0].query,
            last[3].query
        );
    }
    write(out, "queries.csv", &csv)?;
    for (climbs, name, figure) in
        [(false, "queries-linear.svg", "4.31"), (true, "queries-climbing.svg", "4.32")]
    {
        let mut maps = Vec::new();
        for (configuration, _) in CONFIGURATIONS {
            for i in [0, 3] {
                let own: Vec<&Kind> = kinds
                    .iter()
                    .filter(|kind| kind.configuration == configuration && kind.climbs == climbs)
                    .collect();
                maps.push(ColorMap {
                    title: format!("{configuration}: {}", NAMES[i]),
                    columns: own.iter().map(|kind| kind.vertices.to_string()).collect(),
                    rows: TOLERANCES.iter().map(|t| format!("{t:e}")).collect(),
                    values: (0..TOLERANCES.len())
                        .map(|t| own.iter().map(|kind| kind.means[t][i].query).collect())
                        .collect(),
                });
            }
        }
        let title = format!(
            "Time of a query (ns) by tolerance and vertices, {} (DIST Figure {figure})",
            if climbs { "with hill climbing" } else { "without hill climbing" }
        );
        write(out, name, &plot::color_maps(&title, &maps, 2))?;
    }
    Ok(())
}

fn run(arguments: &Arguments) -> Fallible<bool> {
    let out = arguments.out.as_deref();
    if let Some(folder) = out {
        std::fs::create_dir_all(folder)
            .map_err(|e| format!("{}: cannot be created: {e}", folder.display()))?;
    }
    primitives(out)?;
    let kinds = kinds(arguments.pairs)?;
    calls(&kinds, out)?;
    queries(&kinds, out)?;
    Ok(true)
}

fn main() -> ExitCode {
    exit_code(run(&Arguments::parse()))
}
