//! Contacts moved through distance 0: checks that each query reports the minimum at each gap from +1e-2
//! mm to −1e-2 mm, for each kind of surface with faces, edges and vertices.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin contact_ladder \
//!     -- FOLDER [--contacts N] [--seed S] [--pairs N] [--svg OUT.svg]
//! ```
//!
//! Random pairs of the STEP solids of a folder, for example those of `tools/models/make_csg.py`, are
//! brought to contacts, until `--contacts` (10) of each combination of a kind of surface with a face, an
//! edge and a vertex are found or `--pairs` (20,000) pairs have been tried. Each contact is moved along
//! its normal through 29 gaps: 0 and ±1e-9 to ±1e-2 mm, two per decade. At each gap the queries of
//! `near_contact` are made, in both orders of the solids; a query that reports no minimum within 1e-9 of
//! the size of the gap is a hole. Queries without penetration guarantee minima down to two tolerances, or
//! to an interference.
//!
//! The table gives for each combination the numbers of contacts, queries and holes, and the largest error
//! of a distance. The figure shows found distances over set gaps, and holes as red crosses. Exit status 1
//! if there is a hole.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use feeler_benches::near_contact::check::Trial;
use feeler_benches::near_contact::contact::{RandomContact, size_of};
use feeler_benches::near_contact::solids::{Folder, feature_name};
use feeler_benches::{Fallible, exit_code, number_after};
use feeler_geom::{math, pose};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use rayon::prelude::*;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Kinds of surfaces: rows of the table and columns of the figure.
const SURFACES: [&str; 6] = ["plane", "cylinder", "cone", "sphere", "torus", "free"];
/// Kinds of features in contact with the surfaces of [`SURFACES`].
const OTHERS: [&str; 3] = ["face", "edge", "vertex"];
/// Decimal exponents of the smallest and the largest gap (mm).
const EXPONENTS: [i32; 2] = [-9, -2];
/// Number of pairs searched for contacts in parallel.
const BATCH: u64 = 64;

/// Results of the queries for one combination of a surface and a feature.
#[derive(Default)]
struct Cell {
    contacts: u64,
    /// For each query: set gap (mm), nearest reported distance (mm), and whether that is the set gap.
    rungs: Vec<(f64, Option<f64>, bool)>,
}

/// Set gaps (mm) in descending order.
fn gaps() -> Vec<f64> {
    let halves = (2 * EXPONENTS[0]..=2 * EXPONENTS[1]).rev();
    let positive: Vec<f64> = halves.map(|k| math::powf(10.0, 0.5 * f64::from(k))).collect();
    let negative = positive.iter().rev().map(|g| -g);
    positive.iter().copied().chain([0.0]).chain(negative).collect()
}

/// Combinations (surface, other feature) to which a contact belongs: two for two faces of different kinds.
fn cells_of(kinds: &[String; 2]) -> Vec<[usize; 2]> {
    let kind = |name: &str| name.split(' ').next().map(str::to_owned).unwrap_or_default();
    let mut cells = Vec::new();
    for (face, other) in [(0, 1), (1, 0)] {
        let surface = kinds[face].strip_prefix("face ").and_then(|s| SURFACES.iter().position(|x| *x == s));
        let other = OTHERS.iter().position(|x| *x == kind(&kinds[other]));
        if let (Some(surface), Some(other)) = (surface, other) {
            cells.push([surface, other]);
        }
    }
    cells.dedup();
    cells
}

/// Files of a pair, its contact and the kinds of both features in contact.
type Found = ([usize; 2], RandomContact, [String; 2]);

/// Random contact number `number`; `None` if no contact of the pair is found.
fn contact(solids: &Folder, seed: u64, number: u64) -> Option<Found> {
    let mut rng = SmallRng::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number);
    let files = [0; 2].map(|_| rng.random_range(0..solids.len()));
    let (a, b) = (solids.solid(files[0])?, solids.solid(files[1])?);
    let contact = RandomContact::random(a, b, &mut rng).ok()?;
    let kinds = [feature_name(&a.body, &contact.feature_a), feature_name(&b.body, &contact.feature_b)];
    Some((files, contact, kinds))
}

/// Moves a contact through all gaps and prints holes. Returns for each query the set gap (mm), the
/// nearest reported distance (mm), and whether that is the set gap.
fn climb(solids: &Folder, (files, contact, kinds): &Found) -> Vec<(f64, Option<f64>, bool)> {
    let [Some(a), Some(b)] = files.map(|i| solids.solid(i)) else { return Vec::new() };
    let size = size_of(a, b);
    let mut rungs = Vec::new();
    for gap in gaps() {
        let trial = Trial::new(a, b, contact, gap);
        for (query, distance, is_found) in trial.distances_at_gap(contact, size) {
            if !is_found {
                let values = pose::to_values(&trial.pose_b).map(|x| x.to_string()).join(",");
                println!(
                    "{} {} --pose-b {values} gap {gap:e} ({}): {query} {distance:?}",
                    a.name,
                    b.name,
                    kinds.join(" / ")
                );
            }
            rungs.push((gap, distance, is_found));
        }
    }
    rungs
}

/// Draws reported distances over set gaps; both axes are logarithmic away from 0.
fn figure(cells: &[[Cell; 3]; 6]) -> String {
    const SIDE: f64 = 150.0;
    const LEFT: f64 = 70.0;
    const TOP: f64 = 60.0;
    const STEP: f64 = 172.0;
    let decades = f64::from(EXPONENTS[1] - EXPONENTS[0]) + 1.0;
    // Position in [-1, 1]: 0 below a tenth of the smallest gap.
    let place = |x: f64| {
        let log = x.abs().log10() - f64::from(EXPONENTS[0]) + 1.0;
        (log.max(0.0) / decades).min(1.1).copysign(x)
    };
    let (width, height) = (LEFT + 6.0 * STEP, TOP + 3.0 * STEP + 30.0);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"
viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">
<rect width="{width}" height="{height}" fill="white"/>
<text x="{LEFT}" y="20" font-weight="bold" font-size="14">Found distance over set gap,
+1e-2 to -1e-2 mm (logarithmic from 1e-9 mm on)</text>
"#
    );
    for (i, row) in cells.iter().enumerate() {
        for (j, cell) in row.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "small indices")]
            let (x0, y0) = (LEFT + STEP * i as f64, TOP + STEP * j as f64);
            let (x, y) =
                (|v: f64| x0 + 0.5 * SIDE * (1.0 + place(v)), |v: f64| y0 + 0.5 * SIDE * (1.0 - place(v)));
            let _ = writeln!(
                svg,
                r##"<rect x="{x0}" y="{y0}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#888"/>
<path d="M{x0} {:.1}h{SIDE}M{:.1} {y0}v{SIDE}" stroke="#ddd"/>
<text x="{x0}" y="{:.1}">{} with {} ({})</text>"##,
                y(0.0),
                x(0.0),
                y0 - 5.0,
                SURFACES[i],
                OTHERS[j],
                cell.contacts
            );
            // Equal dots are drawn once.
            let mut drawn = std::collections::BTreeSet::new();
            for (gap, distance, is_found) in &cell.rungs {
                let dot = match distance {
                    Some(d) if *is_found => {
                        format!(r##"<circle cx="{:.1}" cy="{:.1}" r="2" fill="#1f5fa8"/>"##, x(*gap), y(*d))
                    }
                    _ => format!(
                        r##"<path d="M{:.1} {:.1}l6 6m0 -6l-6 6" stroke="#c92a2a"/>"##,
                        x(*gap) - 3.0,
                        y(distance.unwrap_or(0.0)) - 3.0
                    ),
                };
                if drawn.insert(dot.clone()) {
                    svg.push_str(&dot);
                }
            }
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn run(args: &[String]) -> Fallible<bool> {
    let folder = args
        .first()
        .filter(|a| !a.starts_with("--"))
        .ok_or("an argument is needed: the folder of the STEP files")?;
    let wanted: u64 = number_after(args, "--contacts").unwrap_or(10);
    let seed: u64 = number_after(args, "--seed").unwrap_or(1);
    let pairs: u64 = number_after(args, "--pairs").unwrap_or(20_000);
    let out: Option<String> = number_after(args, "--svg");
    let solids = Folder::new(Path::new(folder))?;
    let mut cells: [[Cell; 3]; 6] = Default::default();
    let mut first = 0;
    while first < pairs && cells.iter().flatten().any(|c| c.contacts < wanted) {
        let last = (first + BATCH).min(pairs);
        let found: Vec<_> = (first..last).into_par_iter().map(|k| contact(&solids, seed, k)).collect();
        let mut chosen = Vec::new();
        for found in found.into_iter().flatten() {
            let mut into = cells_of(&found.2);
            into.retain(|[i, j]| cells[*i][*j].contacts < wanted);
            into.iter().for_each(|[i, j]| cells[*i][*j].contacts += 1);
            if !into.is_empty() {
                chosen.push((into, found));
            }
        }
        let rungs: Vec<_> = chosen.par_iter().map(|(_, found)| climb(&solids, found)).collect();
        for ((into, _), rungs) in chosen.iter().zip(rungs) {
            into.iter().for_each(|[i, j]| cells[*i][*j].rungs.extend_from_slice(&rungs));
        }
        first = last;
    }
    solids.refused().iter().for_each(|message| println!("skipped: {message}"));
    println!("\n{first} pairs tried\nsurface  feature  contacts  queries   holes  largest error (mm)");
    let mut holes = 0;
    for (i, row) in cells.iter().enumerate() {
        for (j, cell) in row.iter().enumerate() {
            let lost = cell.rungs.iter().filter(|r| !r.2).count();
            let errors = cell.rungs.iter().filter(|r| r.2).filter_map(|r| Some((r.1? - r.0).abs()));
            let error = errors.fold(0.0, f64::max);
            println!(
                "{:8} {:8} {:8} {:8} {lost:7}  {error:.1e}",
                SURFACES[i],
                OTHERS[j],
                cell.contacts,
                cell.rungs.len()
            );
            holes += lost;
        }
    }
    if let Some(out) = out {
        std::fs::write(&out, figure(&cells)).map_err(|e| format!("{out}: {e}"))?;
    }
    println!("{holes} holes");
    Ok(holes == 0)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    exit_code(run(&args))
}
