//! Effect of each optimisation of a query.

use crate::Settings;
use crate::detection::times;
use crate::output::Output;
use feeler_benches::lines::{Curve, Panel};
use feeler_benches::{Fallible, cpu_seconds, spread};
use feeler_runtime::diagnostics::Savings;
use feeler_runtime::{ContactPair, QueryOptions};
use feeler_tests::insertion::Insertion;
use std::time::Instant;

/// A set of optimisations.
struct Variant {
    label: String,
    savings: Savings,
    parallel: bool,
}

/// Name of an optimisation, and its switch.
type Switch = (&'static str, fn(&mut Savings) -> &mut bool);

/// Optimisations in the order in which they are added to masks and boxes, and the switch of each.
const ADDED: [Switch; 7] = [
    ("cones of revolution", |s| &mut s.cones_of_revolution),
    ("polyhedral cones", |s| &mut s.polyhedral_cones),
    ("boxes along normals", |s| &mut s.boxes_along_normals),
    ("supermaximal features", |s| &mut s.supermaximal),
    ("front", |s| &mut s.front),
    ("deadlines", |s| &mut s.deadlines),
    ("cached axes", |s| &mut s.cached_axes),
];

/// Masks and boxes, which every variant of the first table has.
const FIRST: [Switch; 2] = [("masks", |s| &mut s.masks), ("boxes", |s| &mut s.boxes)];

/// Number of poses from one pose to the next whose results and times are reported for all variants. A
/// variant that does not use earlier queries is computed at these poses only.
const STRIDE: usize = 5;
/// Largest total time (ms) of the reported queries of a variant that is repeated; slower ones run once.
const MAX_REPEATED_MS: f64 = 3_000.0;
/// Largest difference (mm) of the distances of equal minima of two variants, relative to the size of the
/// larger solid.
const ACCURACY: f64 = 1e-9;

/// Variants of the first table (one optimisation more in each row) and of the second table (one less than
/// all).
fn variants() -> [Vec<Variant>; 2] {
    let mut savings = Savings::LEAST;
    let variant = |label: String, savings: Savings| Variant { label, savings, parallel: false };
    let mut added = vec![variant("masks and boxes".to_owned(), savings)];
    for (label, switch) in ADDED {
        *switch(&mut savings) = true;
        added.push(variant(format!("+ {label}"), savings));
    }
    added.push(Variant { label: "+ threads".to_owned(), savings, parallel: true });
    let mut left_out = vec![variant("all".to_owned(), Savings::default())];
    for (label, switch) in FIRST.into_iter().chain(ADDED) {
        let mut savings = Savings::default();
        *switch(&mut savings) = false;
        left_out.push(variant(format!("without {label}"), savings));
    }
    [added, left_out]
}

/// Times and results of a variant at the reported poses. Times are processor times of the thread, wall times
/// of the parallel variant.
#[derive(Default)]
struct Pass {
    ms: Vec<f64>,
    nodes: Vec<f64>,
    leaf_pairs: Vec<f64>,
    solves: Vec<f64>,
    /// Distances of the minima, pose by pose, in ascending order.
    minima: Vec<Vec<f64>>,
}

/// Writes both tables and the figure. Returns whether all variants find the same minima.
pub(crate) fn run(scene: &Insertion, settings: &Settings, output: &mut Output) -> Fallible<bool> {
    let name = &scene.name;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build();
    let pool = pool.map_err(|e| e.to_string())?;
    let (mut curves, mut reference, mut is_right) = (Vec::new(), None, true);
    let in_place = scene.phase("inplace")?;
    for (k, variants) in variants().iter().enumerate() {
        let head = ["mean ms", "median ms", "95 %", "worst", "in place: median ms"];
        let counts = ["node pairs", "leaf pairs", "solves", "poses with other minima"];
        let mut rows = vec![vec![["one more in each row", "each one left out alone"][k].to_owned()]];
        rows[0].extend(head.into_iter().chain(counts).map(str::to_owned));
        // Alternating repetitions, because the speed of the machine varies.
        let mut passes: Vec<Pass> = Vec::new();
        for repeat in 0..settings.repeats.max(1) {
            for (v, variant) in variants.iter().enumerate() {
                if passes.get(v).is_some_and(|p| p.ms.iter().sum::<f64>() > MAX_REPEATED_MS) {
                    continue;
                }
                let work = || pass(scene, variant);
                let now = if variant.parallel { pool.install(work) } else { work() }?;
                if repeat == 0 {
                    passes.push(now);
                } else {
                    let times = passes[v].ms.iter_mut().zip(now.ms);
                    times.for_each(|(least, ms)| *least = least.min(ms));
                }
            }
        }
        for (variant, mut pass) in variants.iter().zip(passes) {
            let reference = reference.get_or_insert_with(|| pass.minima.clone());
            let limit = ACCURACY * scene.a.0.size().max(scene.b.0.size());
            let equal = |(a, b): &(&Vec<f64>, &Vec<f64>)| {
                a.len() == b.len() && a.iter().zip(*b).all(|(x, y)| (x - y).abs() <= limit)
            };
            let other = reference.iter().zip(&pass.minima).filter(|pair| !equal(pair)).count();
            is_right &= other == 0;
            let mean = pass.ms.iter().sum::<f64>() / pass.ms.len().max(1) as f64;
            let placed = |i: &usize| in_place.contains(&(i * STRIDE));
            let mut in_place: Vec<f64> = (0..pass.ms.len()).filter(placed).map(|i| pass.ms[i]).collect();
            let [placed_median, ..] = spread(&mut in_place);
            if k == 0 {
                let all = times(scene.poses.len());
                curves.push(Curve {
                    label: variant.label.clone(),
                    times: all.into_iter().step_by(STRIDE).collect(),
                    values: vec![pass.ms.clone()],
                });
            }
            let [median, high, worst] = spread(&mut pass.ms);
            let mut row = vec![variant.label.clone()];
            row.extend([mean, median, high, worst, placed_median].map(|ms| format!("{ms:.3}")));
            let counts = [&mut pass.nodes, &mut pass.leaf_pairs, &mut pass.solves];
            row.extend(counts.map(|n| format!("{:.1}", n.iter().sum::<f64>() / n.len().max(1) as f64)));
            row.push(other.to_string());
            rows.push(row);
        }
        output.table(&rows);
    }
    let panels =
        [Panel { label: "time of a query for the minima (ms)", floor: 1e-3, floor_label: "≤ 0.001" }];
    let title = format!("{name}: optimisations added in turn");
    output.chart(&format!("{name}-contributions"), &title, &panels, &curves, scene)?;
    Ok(is_right)
}

/// Queries the minima of all poses, or of the reported ones if the variant does not use earlier queries.
fn pass(scene: &Insertion, variant: &Variant) -> Fallible<Pass> {
    let options = QueryOptions {
        parallel: variant.parallel,
        detect_interference: false,
        ..QueryOptions::within(scene.d_max())
    };
    let options = options.with_savings(variant.savings);
    let mut out = Pass::default();
    let mut pair = ContactPair::new(scene.a.0.clone(), scene.b.0.clone());
    let stride = if variant.savings.front { 1 } else { STRIDE };
    for (i, pose) in scene.poses.iter().enumerate().step_by(stride) {
        let (clock, begin) = (Instant::now(), cpu_seconds());
        pair.query(&scene.a.1, pose, &options).map_err(|e| format!("pose {i}: {e}"))?;
        let (wall, processor) = (clock.elapsed().as_secs_f64(), cpu_seconds() - begin);
        if !i.is_multiple_of(STRIDE) {
            continue;
        }
        out.ms.push(1e3 * if variant.parallel { wall } else { processor });
        let stats = pair.stats();
        out.nodes.push(stats.bvtt_nodes as f64);
        out.leaf_pairs.push(stats.leaf_pairs as f64);
        out.solves.push(stats.exact_solves as f64);
        let mut minima: Vec<f64> = pair.contacts().iter().map(|l| l.distance).collect();
        minima.sort_by(f64::total_cmp);
        out.minima.push(minima);
    }
    Ok(out)
}
