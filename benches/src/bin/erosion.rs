//! A plug that was eroded and is dilated again (BREP 5.1.1), compared with the original one: gaps and
//! minima at the same poses, by the kinds of their features.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin erosion \
//!     -- s1.json s1-eroded.json RUN.csv [--every N]
//! ```
//!
//! The second scenario contains the dilation (`tools/models/make_eroded.py`). Poses are each Nth (20) of
//! a run that `insertions --record` wrote. Both plugs are queried for minima within twice the clearance,
//! which are matched by their footpoints on the receptacle.
//!
//! Exit status 1 if the gaps of a matched minimum on a face with a closed form differ by more than 1e-4
//! mm.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use feeler_benches::record::Recording;
use feeler_benches::{Fallible, cpu_seconds, exit_code, number_after, spread};
use feeler_runtime::{Contact, ContactPair, FeatureKind, QueryOptions};
use feeler_tests::insertion::Insertion;
use std::path::Path;
use std::process::ExitCode;

/// Maximum difference (mm) of gaps on faces with closed forms.
const MAX_GAP_DIFFERENCE: f64 = 1e-4;
/// Maximum distance of the footpoints of matched minima, relative to the dilation; points of rounded
/// edges move by up to this distance. Larger values match different minima.
const MAX_MATCH_DISTANCE: f64 = 2.0;

/// Matched minima of one kind of feature.
#[derive(Debug, Default)]
struct Kind {
    found: usize,
    /// Gap of the dilated plug minus that of the original one (mm).
    differences: Vec<f64>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    exit_code(run(&args))
}

fn run(args: &[String]) -> Fallible<bool> {
    let [true_file, eroded_file, run, ..] = args else {
        return Err("three arguments are needed: the scenario, the scenario with the eroded \
                    plug, and the table of a run"
            .to_owned());
    };
    let load = |file: &String| Insertion::load(Path::new(file), feeler_import::DEFAULT_FLATNESS);
    let (plug, eroded) = (load(true_file)?, load(eroded_file)?);
    let steps = Recording::read(Path::new(run))?.steps;
    let dilation_b = eroded.scenario.dilation;
    let reach = plug.d_max();
    let mut pairs = [&plug, &eroded].map(|i| ContactPair::new(i.a.0.clone(), i.b.0.clone()));
    let options = [
        QueryOptions::within(reach),
        QueryOptions { dilation_b, ..QueryOptions::within(reach + dilation_b) },
    ];
    let mut kinds: [Kind; 3] = Default::default();
    let (mut extra, mut counts, mut nearest) = (0, [0_usize; 2], Vec::new());
    let mut times = [Vec::new(), Vec::new()];
    let mut poses = 0;
    for step in steps.iter().step_by(number_after(args, "--every").unwrap_or(20).max(1)) {
        poses += 1;
        for k in 0..2 {
            let begin = cpu_seconds();
            pairs[k].query(&plug.a.1, &step.pose, &options[k]).map_err(|e| e.to_string())?;
            times[k].push(1e3 * (cpu_seconds() - begin));
        }
        let [all, other] =
            [0, 1].map(|k| pairs[k].contacts().iter().filter(|l| l.gap <= reach).collect::<Vec<_>>());
        counts = [counts[0] + all.len(), counts[1] + other.len()];
        let min_gap = |l: &[&Contact]| l.iter().map(|l| l.gap).fold(f64::INFINITY, f64::min);
        if min_gap(&all).is_finite() && min_gap(&other).is_finite() {
            nearest.push(min_gap(&other) - min_gap(&all));
        }
        let mut taken = vec![false; other.len()];
        let kind_of = |l: &Contact| match l.feature_b.kind {
            FeatureKind::Face => {
                let surface = &plug.b.0.hierarchy().faces[l.feature_b.index as usize].surface;
                usize::from(!surface.is_canonical())
            }
            FeatureKind::Edge | FeatureKind::Vertex => 2,
        };
        for l in all {
            let kind = &mut kinds[kind_of(l)];
            kind.found += 1;
            let distance = |m: &Contact| match m.feature_b.kind == l.feature_b.kind {
                true => (m.point_a - l.point_a).norm(),
                false => f64::INFINITY,
            };
            let same = (0..other.len())
                .filter(|&k| {
                    !taken[k]
                        && distance(other[k]) < MAX_MATCH_DISTANCE * dilation_b
                        && other[k].normal.dot(&l.normal) > 0.99
                })
                .min_by(|&j, &k| distance(other[j]).total_cmp(&distance(other[k])));
            if let Some(k) = same {
                taken[k] = true;
                kind.differences.push(other[k].gap - l.gap);
            }
        }
        extra += taken.iter().filter(|t| !**t).count();
    }
    println!("{}: eroded and dilated by {dilation_b} mm, {poses} poses, gaps up to {reach} mm", plug.name);
    println!("minima of the plug where it  number  matched  gap differs by mm: median, largest");
    let mut is_right = true;
    for (k, name) in
        ["is a face of closed form", "is a spline face", "is an edge or a vertex"].iter().enumerate()
    {
        let sizes: &mut Vec<f64> = &mut kinds[k].differences.iter().map(|d| d.abs()).collect();
        let [median, _, max] = spread(sizes);
        println!("{name:27}  {:6}  {:7}  {median:.2e}, {max:.2e}", kinds[k].found, sizes.len());
        is_right &= k > 0 || (!sizes.is_empty() && max <= MAX_GAP_DIFFERENCE);
    }
    let [low, high] = [f64::min, f64::max].map(|f| nearest.iter().copied().fold(0.0, f));
    println!("minima: {} of the plug, {} of the dilated one, {extra} of them new", counts[0], counts[1]);
    println!("smallest gap of a pose: {low:.2e} to {high:.2e} mm larger");
    let [a, b] = times.each_mut().map(|t| spread(t));
    println!("query ms, median and 95 %: {:.3}, {:.3} and dilated {:.3}, {:.3}", a[0], a[1], b[0], b[1]);
    Ok(is_right)
}
