//! Culling of pairs of flat sections of a curve: a spring of six cubics that is compressed and released, the
//! numbers of pairs that remain after six methods of culling, and the times.
//!
//! The spring has three turns of radius 10 mm, a wire of radius 1 mm, and a pitch from 8 mm to 2.05 mm
//! and back. Minima with gaps of at most 2 mm are searched, and again without a limit of the gap (only
//! methods with boxes use the limit). Times are processor times of the thread: the culling alone, and with
//! one run of Newton's method for each remaining pair.
//!
//! # Source
//! BREP Figures 5.21 and 5.22.
#![expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "part of programs that report")]

use crate::lines::{self, Panel, chart};
use crate::{Fallible, cpu_seconds, spread};
use feeler_curves::reference::shapes::spring;
use feeler_curves::reference::{Cones, Culling, Method};
use feeler_curves::{Curve, CurveLocation, CurveMinimum, CurveOptions, CurvePair};
use std::fmt::Write as _;

/// Radius (mm) of the wire.
const RADIUS: f64 = 1.0;
/// Maximum gap (mm) of minima.
const D_MAX: f64 = 2.0;
/// Pitches (mm) of the released and the compressed spring.
const PITCHES: [f64; 2] = [8.0, 2.05];

/// Names of the methods.
const NAMES: [&str; 6] = [
    "cones of revolution",
    "cones of revolution and boxes",
    "polyhedral cones",
    "polyhedral cones and boxes",
    "Bernstein signs",
    "Bernstein signs and boxes",
];

const PAIRS: [Panel; 2] = [
    Panel { label: "remaining pairs, gaps of at most 2 mm", floor: 0.5, floor_label: "0" },
    Panel { label: "remaining pairs, no limit of the gap", floor: 0.5, floor_label: "0" },
];

const TIMES: [Panel; 4] = [
    Panel { label: "culling (µs), gaps of at most 2 mm", floor: 1.0, floor_label: "≤ 1" },
    Panel { label: "culling and Newton's method for each pair (µs)", floor: 1.0, floor_label: "≤ 1" },
    Panel { label: "culling (µs), no limit of the gap", floor: 1.0, floor_label: "≤ 1" },
    Panel { label: "culling and Newton's method for each pair (µs)", floor: 1.0, floor_label: "≤ 1" },
];

fn method(k: usize, flatness: f64, reach: f64) -> Method {
    let cones = [Cones::Revolution, Cones::Polyhedral, Cones::Signs][k / 2];
    Method { cones, boxes: k % 2 == 1, flatness, reach }
}

/// Results of one method of culling for one frame.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    pairs: f64,
    tests: f64,
    /// Time (µs) of the culling alone, and with Newton's method.
    us: [f64; 2],
}

/// A frame: its time (s), its pitch (mm), and the results with and without a limit of the gap.
#[derive(Debug)]
struct Frame {
    time: f64,
    pitch: f64,
    minima: usize,
    cells: [[Cell; 6]; 2],
}

/// Numbers of remaining pairs and times of six methods of culling, for each frame of a motion of the spring.
#[derive(Debug)]
pub struct CurveCulling {
    frames: Vec<Frame>,
    /// Number of minima of the spring that are in no remaining pair of a method: 0 if all methods are right.
    pub lost: usize,
}

/// Compresses and releases the spring in `frames` steps, and applies all methods in each frame. A section is
/// flat if its tangents are in a cone of half angle `flatness` (rad).
///
/// # Errors
/// The control points of a frame do not make a curve.
pub fn compute(frames: u32, flatness: f64) -> Fallible<CurveCulling> {
    let n = frames.max(2);
    let (mut frames, mut lost) = (Vec::new(), 0);
    let mut pair = CurvePair::new();
    for i in 0..=n {
        let time = f64::from(i) / f64::from(n);
        let pressed = 1.0 - (2.0 * time - 1.0).abs();
        let pitch = PITCHES[0] + (PITCHES[1] - PITCHES[0]) * pressed;
        let curve = Curve::new(3, &spring(pitch), RADIUS, false).map_err(|e| e.to_string())?;
        let mut frame = Frame { time, pitch, minima: 0, cells: Default::default() };
        for (limit, d_max) in [D_MAX, f64::INFINITY].into_iter().enumerate() {
            // Without a limit of the gap, minima between all turns are reported.
            let options = CurveOptions { d_max: d_max.min(1e3), ..CurveOptions::default() };
            let minima = pair.query_itself(&curve, &options);
            if limit == 0 {
                frame.minima = minima.len();
            }
            for k in 0..6 {
                let method = method(k, flatness, d_max + 2.0 * RADIUS);
                let (cell, culling) = measure(&curve, &method);
                frame.cells[limit][k] = cell;
                lost += minima.iter().filter(|m| is_strict(m) && !is_kept(m, &culling)).count();
            }
        }
        frames.push(frame);
    }
    Ok(CurveCulling { frames, lost })
}

impl CurveCulling {
    /// Prints the numbers of pairs and the times as tables.
    pub fn print(&self) {
        print_tables(&self.frames);
    }

    /// All frames as a table of comma-separated values.
    #[must_use]
    pub fn csv(&self) -> String {
        csv(&self.frames)
    }

    /// Charts as SVG, each with the name of its file: the remaining pairs (BREP Figures 5.21 and 5.22), and
    /// the times.
    #[must_use]
    pub fn charts(&self) -> [(&'static str, String); 2] {
        [("curve-pairs.svg", pairs_chart(&self.frames)), ("curve-times.svg", times_chart(&self.frames))]
    }
}

fn is_strict(m: &CurveMinimum) -> bool {
    m.set.is_none() && m.places == [CurveLocation::Inside; 2]
}

fn is_kept(m: &CurveMinimum, culling: &Culling) -> bool {
    // The border between two sections belongs to both of them.
    let is_in = |[from, to]: [f64; 2], u: f64| from - 1e-9 <= u && u <= to + 1e-9;
    culling.pairs.iter().any(|p| is_in(p[0], m.u[0]) && is_in(p[1], m.u[1]))
}

/// Runs a method several times; the times are the minima of these runs, because other load only
/// increases them.
fn measure(curve: &Curve, method: &Method) -> (Cell, Culling) {
    const TIMES: usize = 5;
    const EACH: usize = 8;
    let mut culling = Culling::default();
    let mut us = [f64::INFINITY; 2];
    for _ in 0..TIMES {
        let begin = cpu_seconds();
        for _ in 0..EACH {
            culling.itself(curve, method);
        }
        let culled = cpu_seconds();
        let solved = (0..EACH).map(|_| culling.solve(curve)).sum::<usize>();
        let end = cpu_seconds();
        std::hint::black_box(solved);
        let scale = 1e6 / EACH as f64;
        us = [us[0].min(scale * (culled - begin)), us[1].min(scale * (end - begin))];
    }
    (Cell { pairs: culling.pairs.len() as f64, tests: culling.n_tests as f64, us }, culling)
}

fn print_tables(frames: &[Frame]) {
    let pressed = &frames[frames.len() / 2];
    let minima: Vec<usize> = frames.iter().map(|f| f.minima).collect();
    println!(
        "{} frames; minima with gaps of at most {D_MAX} mm: {} to {}, {} at a pitch of {} mm\n",
        frames.len(),
        minima.iter().min().unwrap_or(&0),
        minima.iter().max().unwrap_or(&0),
        pressed.minima,
        pressed.pitch
    );
    for (limit, label) in ["gaps of at most 2 mm", "no limit of the gap"].iter().enumerate() {
        println!(
            "| {label} | pairs, mean | max | pressed | tests, mean | culling µs, mean | max | with \
                Newton µs, mean | max |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        for (k, name) in NAMES.iter().enumerate() {
            let of = |value: &dyn Fn(&Cell) -> f64| {
                let mut all: Vec<f64> = frames.iter().map(|f| value(&f.cells[limit][k])).collect();
                (all.iter().sum::<f64>() / all.len() as f64, spread(&mut all)[2])
            };
            let (pairs, tests) = (of(&|c| c.pairs), of(&|c| c.tests));
            let (culling, whole) = (of(&|c| c.us[0]), of(&|c| c.us[1]));
            println!(
                "| {name} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
                pairs.0,
                pairs.1,
                pressed.cells[limit][k].pairs,
                tests.0,
                culling.0,
                culling.1,
                whole.0,
                whole.1
            );
        }
        println!();
    }
}

fn csv(frames: &[Frame]) -> String {
    let mut out = "time_s,pitch_mm,minima,method,limited,pairs,tests,culling_us,with_newton_us\n".to_owned();
    for frame in frames {
        for (limit, cells) in frame.cells.iter().enumerate() {
            for (name, cell) in NAMES.iter().zip(cells) {
                let _ = writeln!(
                    out,
                    "{:.4},{:.4},{},{name},{},{},{},{:.2},{:.2}",
                    frame.time,
                    frame.pitch,
                    frame.minima,
                    limit == 0,
                    cell.pairs,
                    cell.tests,
                    cell.us[0],
                    cell.us[1]
                );
            }
        }
    }
    out
}

/// Returns the value of a frame for a method of culling, to be drawn.
type Shown<'a> = &'a dyn Fn(&Frame, usize) -> f64;

/// Makes a curve for each method of culling, with a panel for each value.
fn curves(frames: &[Frame], panels: &[Shown<'_>]) -> Vec<lines::Curve> {
    let of = |(k, name): (usize, &&str)| lines::Curve {
        label: (*name).to_owned(),
        times: frames.iter().map(|f| f.time).collect(),
        values: panels.iter().map(|value| frames.iter().map(|f| value(f, k)).collect()).collect(),
    };
    NAMES.iter().enumerate().map(of).collect()
}

fn phases() -> [(String, f64, f64); 2] {
    [("compression", 0.0, 0.5), ("release", 0.5, 1.0)].map(|(name, a, b)| (name.to_owned(), a, b))
}

fn pairs_chart(frames: &[Frame]) -> String {
    let curves = curves(frames, &[&|f, k| f.cells[0][k].pairs, &|f, k| f.cells[1][k].pairs]);
    chart("Pairs of flat parts of a spring (BREP, figure 5.21)", &PAIRS, &curves, &phases())
}

fn times_chart(frames: &[Frame]) -> String {
    let us = |limit: usize, whole: usize| move |f: &Frame, k: usize| f.cells[limit][k].us[whole];
    let curves = curves(frames, &[&us(0, 0), &us(0, 1), &us(1, 0), &us(1, 1)]);
    chart("Times of a spring (BREP, figure 5.22)", &TIMES, &curves, &phases())
}
