//! Prepares STEP files and prints what came out, one line a file: a picture of speed and of the sizes of trees.
//!
//! `cargo run --release -p feeler-prepare --example corpus -- [--check N] FILE...`; with `--check`, N random points a
//! feature, with their normals, are tested against all bounds above them, and the first one outside is reported and
//! ends the program.
#![expect(clippy::print_stdout, reason = "a program for people")]

#[path = "../tests/common/mod.rs"]
mod common;

use feeler_brep::build::{BuildOptions, build_solid};
use feeler_hierarchy::{Feature, Hierarchy, Options};
use std::time::{Duration, Instant};

/// The default of `feeler preprocess`.
const FLATNESS: f64 = 0.8;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut samples = None;
    if args.first().is_some_and(|a| a == "--check") {
        samples = args.get(1).and_then(|n| n.parse::<usize>().ok());
        args.drain(..2);
    }
    println!(
        "{:<36} {:>6} {:>6} {:>6} {:>6} | {:>7} {:>7} {:>7} {:>7} {:>5} | {:>8} {:>8} {:>8}",
        "file",
        "solids",
        "faces",
        "s.face",
        "s.edge",
        "f.leaf",
        "e.leaf",
        "v.leaf",
        "all-dir",
        "depth",
        "read",
        "build",
        "prepare"
    );
    let mut checked = 0_u64;
    for path in &args {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Ok(bytes) = std::fs::read(path) else {
            println!("{name:<36} cannot be read");
            continue;
        };
        let clock = Instant::now();
        let import = match feeler_step::read_step_bytes(name, &bytes) {
            Ok(import) => import,
            Err(e) => {
                println!("{name:<36} {e}");
                continue;
            }
        };
        let read = clock.elapsed();
        let (mut build, mut prepare) = (Duration::ZERO, Duration::ZERO);
        let mut total = Counts::default();
        let mut failures = Vec::new();
        for source in &import.solids {
            let clock = Instant::now();
            let solid = match build_solid(source, &BuildOptions::default()) {
                Ok(solid) => solid,
                Err(e) => {
                    failures.push(e.to_string());
                    continue;
                }
            };
            build += clock.elapsed();
            let clock = Instant::now();
            match feeler_prepare::prepare_solid(&solid, &Options { flatness: FLATNESS }) {
                Ok(h) => {
                    prepare += clock.elapsed();
                    total.add(&h);
                    if let Some(n) = samples {
                        let mut checker = common::Checker::new(&solid, &h, n);
                        checker.all();
                        checked += checker.checked.get();
                    }
                }
                Err(e) => failures.push(e.to_string()),
            }
        }
        let c = total;
        println!(
            "{name:<36} {:>6} {:>6} {:>6} {:>6} | {:>7} {:>7} {:>7} {:>7} {:>5} | {read:>8.1?} {build:>8.1?} {prepare:>8.1?}",
            import.solids.len(),
            c.faces,
            c.super_faces,
            c.super_edges,
            c.leaves[0],
            c.leaves[1],
            c.leaves[2],
            format!("{}/{}/{}", c.unbounded[0], c.unbounded[1], c.unbounded[2]),
            c.depth
        );
        for f in failures.iter().take(2) {
            println!("    {}", f.chars().take(160).collect::<String>());
        }
    }
    if samples.is_some() {
        println!("{checked} points and normals, none outside its boxes or cones");
    }
}

#[derive(Default)]
struct Counts {
    faces: u32,
    super_faces: u32,
    super_edges: u32,
    leaves: [usize; 3],
    unbounded: [usize; 3],
    depth: usize,
}

impl Counts {
    fn add(&mut self, h: &Hierarchy) {
        self.faces += h.info.source_counts[0];
        self.super_faces += h.info.supermaximal[0];
        self.super_edges += h.info.supermaximal[1];
        for a in &h.areas {
            let kind = match a.feature {
                Feature::Face(_) => 0,
                Feature::Edge(_) => 1,
                Feature::Vertex(_) => 2,
            };
            self.leaves[kind] += 1;
            self.unbounded[kind] += usize::from(a.cone.is_all());
        }
        self.depth = self.depth.max(usize::BITS as usize - h.areas.len().leading_zeros() as usize);
    }
}
