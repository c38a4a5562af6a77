//! Chains of capsules compared with exact curves: number of capsules for a chord error, number of
//! contacts, error of the smallest gap, and time of a step.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin capsules [-- --cycles N]
//! ```
//!
//! The spring has pitches from 2.5 to 2.05 mm, and the cable 100 cubics with a loop (wire radius 1 mm,
//! gaps of at most 2 mm). Each cubic becomes n = L √(κ/8e) segments of equal parameter steps, for its
//! length L, largest curvature κ and the chord error e. The boxes of the capsules are refitted in the
//! tree of parry3d-f64, which finds near pairs; parry computes the distances of segments. Pairs that are
//! near each other along the chain must be excluded explicitly: here, pairs less than half a turn of the
//! tightest bend apart. A step is the refit and all distances, without computing the points of the
//! chain; for exact curves it is `update` and `query_itself`. Times are medians of the processor time of
//! the thread.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program that reports"
)]

use feeler_benches::{Fallible, cpu_seconds, number_after, spread};
use feeler_curves::reference::shapes::{looped_cable, spring};
use feeler_curves::{Curve, CurveOptions, CurvePair, P3, V3};
use feeler_geom::math::powi;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::{Pose, Vector};
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use parry3d_f64::query::details::distance_segment_segment;
use parry3d_f64::shape::Segment;
use std::process::ExitCode;

/// Radius (mm) of the wire.
const RADIUS: f64 = 1.0;
/// Maximum gap (mm) of contacts.
const D_MAX: f64 = 2.0;
/// Chord errors (mm) for which chains are made.
const CHORDS: [f64; 4] = [1e-1, 1e-2, 1e-3, 1e-4];
/// Number of shapes in a cycle of the motion.
const FRAMES: u32 = 20;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let cycles = number_after(&args, "--cycles").unwrap_or(10_usize).max(1);
    let springs = (0..FRAMES).map(|k| spring(2.5 - 0.45 * f64::from(k) / f64::from(FRAMES - 1))).collect();
    let cables = (0..FRAMES).map(|k| lifted(&looped_cable(100), f64::from(k))).collect();
    for (name, shapes) in [("spring", springs), ("cable with a loop", cables)] {
        if let Err(e) = run(name, shapes, cycles) {
            eprintln!("{e}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn lifted(points: &[P3], k: f64) -> Vec<P3> {
    points.iter().map(|p| p + V3::new(0.0, 0.0, 1e-3 * k * p.y)).collect()
}

fn run(name: &str, shapes: Vec<Vec<P3>>, cycles: usize) -> Fallible<()> {
    let curves: Result<Vec<Curve>, _> = shapes.iter().map(|p| Curve::new(3, p, RADIUS, false)).collect();
    let curves = curves.map_err(|e| e.to_string())?;
    println!(
        "| {name} | parts | contacts, mean | with all but neighbours | error of the smallest gap (mm), max \
            | µs a step |"
    );
    println!("|---|---|---|---|---|---|");
    let exact = exact(&shapes, cycles)?;
    println!(
        "| exact | {} cubics | {:.1} minima | | | {:.1} |",
        curves[0].n_pieces(),
        exact.contacts,
        exact.us
    );
    for chord in CHORDS {
        let chain = chained(&curves, chord, cycles);
        let gaps = exact.gaps.iter().zip(&chain.gaps);
        let off = gaps.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!(
            "| capsules, chord error {chord:.0e} ({:.1e}) | {} | {:.1} | {:.0} | {off:.1e} | {:.1} |",
            chain.chord, chain.capsules, chain.contacts, chain.all, chain.us
        );
    }
    println!();
    Ok(())
}

struct Exact {
    /// Mean number of contacts of a frame.
    contacts: f64,
    /// Smallest gap of each frame.
    gaps: Vec<f64>,
    us: f64,
}

fn exact(shapes: &[Vec<P3>], cycles: usize) -> Fallible<Exact> {
    let mut curve = Curve::new(3, &shapes[0], RADIUS, false).map_err(|e| e.to_string())?;
    let mut pair = CurvePair::new();
    let options = CurveOptions { d_max: D_MAX, ..CurveOptions::default() };
    let (mut us, mut gaps, mut contacts) = (Vec::new(), Vec::new(), 0);
    for cycle in 0..cycles {
        for points in shapes {
            let begin = cpu_seconds();
            curve.update(points).map_err(|e| e.to_string())?;
            let minima = pair.query_itself(&curve, &options);
            us.push(1e6 * (cpu_seconds() - begin));
            if cycle == 0 {
                contacts += minima.len();
                gaps.push(minima.iter().map(|m| m.gap).fold(f64::INFINITY, f64::min));
            }
        }
    }
    Ok(Exact { contacts: contacts as f64 / shapes.len() as f64, gaps, us: spread(&mut us)[0] })
}

/// Parameters of the curve at the joints of a chain with the chord error `chord` (mm).
fn joints(curve: &Curve, chord: f64) -> Vec<f64> {
    const SAMPLES: usize = 64;
    let mut out = vec![0.0];
    for piece in 0..curve.n_pieces() {
        let (mut length, mut curvature) = (0.0, 0.0_f64);
        for i in 0..SAMPLES {
            let u = piece as f64 + (i as f64 + 0.5) / SAMPLES as f64;
            let [d, dd] = curve.derivatives(u);
            length += d.norm() / SAMPLES as f64;
            curvature = curvature.max(d.cross(&dd).norm() / powi(d.norm(), 3));
        }
        let n = ((length * (curvature / (8.0 * chord)).sqrt()).ceil() as usize).max(1);
        out.extend((1..=n).map(|i| piece as f64 + i as f64 / n as f64));
    }
    out
}

struct Chain {
    capsules: usize,
    /// Measured chord error (mm) of the chain.
    chord: f64,
    contacts: f64,
    all: f64,
    gaps: Vec<f64>,
    us: f64,
}

fn chained(curves: &[Curve], chord: f64, cycles: usize) -> Chain {
    // All frames have the number of segments that the first one needs.
    let joints = joints(&curves[0], chord);
    let chains: Vec<Vec<P3>> = curves.iter().map(|c| joints.iter().map(|&u| c.point(u)).collect()).collect();
    let bend = curves.iter().map(max_curvature).fold(0.0, f64::max);
    let window = std::f64::consts::PI / bend;
    let capsules = joints.len() - 1;
    let mut bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes(&chains[0]));
    let mut workspace = BvhWorkspace::default();
    let mut along = Vec::new();
    let (mut us, mut gaps) = (Vec::new(), Vec::new());
    let (mut contacts, mut all) = (0, 0);
    for cycle in 0..cycles {
        for points in &chains {
            let begin = cpu_seconds();
            let found = step(&mut bvh, &mut workspace, &mut along, points, window);
            us.push(1e6 * (cpu_seconds() - begin));
            if cycle == 0 {
                contacts += found.contacts;
                gaps.push(found.gap);
                // Not timed: count again with the pairs that are near along the chain, except neighbours.
                all += step(&mut bvh, &mut workspace, &mut along, points, 0.0).contacts;
            }
        }
    }
    let n = curves.len() as f64;
    Chain {
        capsules,
        chord: curves.iter().zip(&chains).map(|(c, p)| measured_chord(c, &joints, p)).fold(0.0, f64::max),
        contacts: contacts as f64 / n,
        all: all as f64 / n,
        gaps,
        us: spread(&mut us)[0],
    }
}

/// Largest curvature (1/mm) of a curve, from many samples.
fn max_curvature(curve: &Curve) -> f64 {
    let n = 64 * curve.n_pieces();
    let of = |i: usize| {
        let [d, dd] = curve.derivatives((i as f64 + 0.5) / 64.0);
        d.cross(&dd).norm() / powi(d.norm(), 3)
    };
    (0..n).map(of).fold(0.0, f64::max)
}

/// Largest distance (mm) of the middle of a segment of a chain from the curve.
fn measured_chord(curve: &Curve, joints: &[f64], points: &[P3]) -> f64 {
    let off = |k: usize| {
        let chord = points[k + 1] - points[k];
        let w = curve.point(0.5 * (joints[k] + joints[k + 1])) - points[k];
        w.cross(&chord).norm() / chord.norm()
    };
    (0..points.len() - 1).map(off).fold(0.0, f64::max)
}

fn vector(p: &P3) -> Vector {
    Vector::new(p.x, p.y, p.z)
}

/// Boxes of the capsules, which overlap if the capsules are at most `D_MAX` apart.
fn boxes(points: &[P3]) -> Vec<Aabb> {
    points.windows(2).map(|p| around(&p[0], &p[1])).collect()
}

fn around(p: &P3, q: &P3) -> Aabb {
    let margin = V3::repeat(RADIUS + 0.5 * D_MAX);
    let (min, max) = (p.inf(q) - margin, p.sup(q) + margin);
    Aabb::new(vector(&min), vector(&max))
}

struct Found {
    contacts: usize,
    gap: f64,
}

/// Makes a step of a chain. Pairs less than `window` apart along the chain are excluded, and neighbours
/// always.
fn step(
    bvh: &mut Bvh,
    workspace: &mut BvhWorkspace,
    along: &mut Vec<f64>,
    points: &[P3],
    window: f64,
) -> Found {
    along.clear();
    let mut length = 0.0;
    for (k, p) in points.windows(2).enumerate() {
        bvh.insert_or_update_partially(around(&p[0], &p[1]), k as u32, 0.0);
        let each = (p[1] - p[0]).norm();
        along.push(length + 0.5 * each);
        length += each;
    }
    bvh.refit(workspace);
    let mut found = Found { contacts: 0, gap: f64::INFINITY };
    let segment = |i: u32| {
        let i = i as usize;
        Segment::new(vector(&points[i]), vector(&points[i + 1]))
    };
    bvh.traverse_bvtt_single_tree::<false>(workspace, &mut |i, j| {
        if i.abs_diff(j) <= 1 || (along[i as usize] - along[j as usize]).abs() < window {
            return;
        }
        let gap = distance_segment_segment(&Pose::IDENTITY, &segment(i), &segment(j)) - 2.0 * RADIUS;
        if gap <= D_MAX {
            found.contacts += 1;
            found.gap = found.gap.min(gap);
        }
    });
    found
}
