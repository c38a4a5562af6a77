//! Cost of a step of a deformable curve: a spring of six cubics that is compressed and released, the
//! refit of long curves, allocations, and growth with the number of pieces.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin springs [-- --cycles N]
//! ```
//!
//! Times are processor times of the thread. Exit status 1 if a limit is exceeded: 50 µs for a step of the
//! spring (its slowest frame), 60 µs for the refit of 1,000 pieces, no allocation in a warm step, and an
//! exponent of 1.1 for the growth of a step from 10 to 10,000 pieces with the same contacts.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    reason = "a program that reports"
)]

use feeler_benches::{Fallible, cpu_seconds, number_after, spread};
use feeler_curves::reference::shapes::{looped_cable, spring};
use feeler_curves::{Curve, CurveOptions, CurvePair, P3, V3};
use std::process::ExitCode;

/// Radius (mm) of the wire.
const RADIUS: f64 = 1.0;
/// Number of steps of a cycle.
const FRAMES: usize = 200;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(number_after(&args, "--cycles").unwrap_or(50_usize).max(3)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missed) => {
            println!("{missed} limits are exceeded");
            ExitCode::from(1)
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(2)
        }
    }
}

fn run(cycles: usize) -> Fallible<usize> {
    println!("| quantity | value | limit | |\n|---|---|---|---|");
    let mut missed = 0;
    let mut check = |what: &str, value: f64, limit: f64, unit: &str| {
        let is_met = value <= limit;
        missed += usize::from(!is_met);
        println!("| {what} | {value:.2}{unit} | {limit}{unit} | {} |", if is_met { "" } else { "exceeded" });
    };
    let [mean, max] = spring_steps(cycles)?;
    check("step of the spring, mean of a cycle", mean, 50.0, " µs");
    check("step of the spring, slowest frame", max, 50.0, " µs");
    check("allocations in a cycle of warm steps", spring_allocations()?, 0.0, "");
    check("refit of 1,000 pieces", refit(1000, 10 * cycles)?, 60.0, " µs");
    let growth = growth(cycles)?;
    check("exponent of a step, 10 to 10,000 pieces", exponent(&growth, |g| g.step), 1.1, "");
    println!("\n| pieces | minima | pairs visited | refit µs | step µs |\n|---|---|---|---|---|");
    for g in &growth {
        println!("| {} | {} | {} | {:.1} | {:.1} |", g.pieces, g.minima, g.visited, g.refit, g.step);
    }
    if growth.iter().any(|g| g.minima != growth[0].minima) {
        return Err("the number of minima depends on the number of pieces".to_owned());
    }
    Ok(missed)
}

/// Control points of the spring in the frames of a cycle, with pitches from 8 mm to 2.05 mm and back.
fn frames() -> Vec<Vec<P3>> {
    let pressed = |k: usize| 1.0 - (2.0 * k as f64 / FRAMES as f64 - 1.0).abs();
    (0..FRAMES).map(|k| spring(8.0 - 5.95 * pressed(k))).collect()
}

fn options() -> CurveOptions {
    CurveOptions { d_max: 2.0, ..CurveOptions::default() }
}

fn update(curve: &mut Curve, points: &[P3]) -> Fallible<()> {
    curve.update(points).map_err(|e| e.to_string())
}

/// Mean and maximum of the median times (µs) of the frames of a cycle.
fn spring_steps(cycles: usize) -> Fallible<[f64; 2]> {
    let frames = frames();
    let mut curve = Curve::new(3, &frames[0], RADIUS, false).map_err(|e| e.to_string())?;
    let mut pair = CurvePair::new();
    let mut us: Vec<Vec<f64>> = vec![Vec::new(); FRAMES];
    for _ in 0..cycles {
        for (frame, us) in frames.iter().zip(&mut us) {
            let begin = cpu_seconds();
            update(&mut curve, frame)?;
            std::hint::black_box(pair.query_itself(&curve, &options()));
            us.push(1e6 * (cpu_seconds() - begin));
        }
    }
    let mut medians: Vec<f64> = us.iter_mut().map(|us| spread(us)[0]).collect();
    Ok([medians.iter().sum::<f64>() / FRAMES as f64, spread(&mut medians)[2]])
}

fn spring_allocations() -> Fallible<f64> {
    let frames = frames();
    let mut curve = Curve::new(3, &frames[0], RADIUS, false).map_err(|e| e.to_string())?;
    let mut pair = CurvePair::new();
    let mut cycle = || {
        for frame in &frames {
            update(&mut curve, frame)?;
            std::hint::black_box(pair.query_itself(&curve, &options()));
        }
        Ok::<(), String>(())
    };
    cycle()?;
    let mut result = Ok(());
    let counted = allocation_counter::measure(|| result = cycle());
    result?;
    Ok(counted.count_total as f64)
}

/// Control points of a looped cable in two shapes.
fn cables(pieces: u32) -> [Vec<P3>; 2] {
    let points = looped_cable(pieces);
    let lifted = points.iter().map(|p| p + V3::new(0.0, 0.0, 1e-3 * p.y)).collect();
    [points, lifted]
}

/// Median time (µs) of a refit.
fn refit(pieces: u32, times: usize) -> Fallible<f64> {
    let cables = cables(pieces);
    let mut curve = Curve::new(3, &cables[0], RADIUS, false).map_err(|e| e.to_string())?;
    let mut us = Vec::new();
    for k in 0..times {
        let begin = cpu_seconds();
        update(&mut curve, &cables[k % 2])?;
        us.push(1e6 * (cpu_seconds() - begin));
    }
    Ok(spread(&mut us)[0])
}

struct Growth {
    pieces: u32,
    minima: usize,
    visited: usize,
    /// Median times (µs) for one number of pieces.
    refit: f64,
    step: f64,
}

fn growth(cycles: usize) -> Fallible<Vec<Growth>> {
    let mut out = Vec::new();
    for pieces in [10, 30, 100, 300, 1000, 3000, 10_000] {
        let cables = cables(pieces);
        let mut curve = Curve::new(3, &cables[0], RADIUS, false).map_err(|e| e.to_string())?;
        let mut pair = CurvePair::new();
        let mut us = Vec::new();
        for k in 0..4 * cycles {
            let begin = cpu_seconds();
            update(&mut curve, &cables[k % 2])?;
            std::hint::black_box(pair.query_itself(&curve, &options()));
            us.push(1e6 * (cpu_seconds() - begin));
        }
        let stats = pair.stats();
        out.push(Growth {
            pieces,
            minima: pair.minima().len(),
            visited: stats.n_nodes + stats.n_parts,
            refit: refit(pieces, 4 * cycles)?,
            step: spread(&mut us)[0],
        });
    }
    Ok(out)
}

/// Exponent of the growth of a value with the number of pieces: slope of the least-squares line through
/// the logarithms.
#[expect(clippy::disallowed_methods, reason = "logarithms in a report")]
fn exponent(growth: &[Growth], value: impl Fn(&Growth) -> f64) -> f64 {
    let points = growth.iter().map(|g| [f64::from(g.pieces).ln(), value(g).ln()]);
    let n = growth.len() as f64;
    let mean = points.clone().fold([0.0; 2], |m, p| [m[0] + p[0] / n, m[1] + p[1] / n]);
    let (mut xy, mut xx) = (0.0, 0.0);
    for [x, y] in points {
        xy += (x - mean[0]) * (y - mean[1]);
        xx += (x - mean[0]) * (x - mean[0]);
    }
    xy / xx
}
