//! Queries of solids that are far apart, and of solids with a large common offset: they must be right or
//! refused.
//!
//! ```text
//! cargo run --release -p feeler-benches --bin far [-- NAME]
//! ```
//!
//! Each pair of models of `data/` (with NAME: the pairs with this model) is placed at 10^k mm, k = 3 …
//! 300, along an axis and along an oblique direction, with a `d_max` of 1 mm and an infinite one: first B
//! alone is moved, then both. The program prints for each k the numbers of queries that were right,
//! refused and wrong. Exit status 1 if one was wrong. `feeler_tests::far` documents the comparison.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use feeler_benches::Fallible;
use feeler_geom::{Pose, V3, math};
use feeler_runtime::{Body, ContactPair, QueryOptions};
use feeler_tests::far::{Outcome, far_apart, far_from_the_origin};
use feeler_tests::{data_dir, model};
use nalgebra::UnitQuaternion;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

/// Maximum power of ten of the offsets (mm).
const MAX_POWER: i32 = 300;
/// Power of ten of an offset (mm) above which rounding removes the distance between the solids.
const ALL_ROUNDED: i32 = 18;

#[derive(Default)]
struct Counts {
    /// Numbers of right, refused and wrong queries by power of ten, with B alone moved and with both
    /// solids moved.
    by_power: [BTreeMap<i32, [u32; 3]>; 2],
    wrong: u32,
}

fn main() -> ExitCode {
    match run(std::env::args().nth(1).as_deref()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(e) => {
            println!("{e}");
            ExitCode::from(2)
        }
    }
}

fn run(wanted: Option<&str>) -> Fallible<u32> {
    let mut names = Vec::new();
    for file in std::fs::read_dir(data_dir()).map_err(|e| e.to_string())? {
        let path = file.map_err(|e| e.to_string())?.path();
        if path.extension().is_some_and(|e| e == "step") {
            names.extend(path.file_stem().map(|s| s.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    let models: Vec<(&String, Arc<Body>)> = names.iter().map(|n| (n, model(n).body)).collect();
    let mut counts = Counts::default();
    let mut pairs = 0;
    for (i, (name_a, a)) in models.iter().enumerate() {
        for (name_b, b) in &models[i..] {
            if wanted.is_none_or(|w| w == name_a.as_str() || w == name_b.as_str()) {
                counts.add_pair(&format!("{name_a} {name_b}"), a, b);
                pairs += 1;
            }
        }
    }
    for (what, by_power) in ["B alone", "both"].iter().zip(&counts.by_power) {
        println!("{what}, {pairs} pairs\n\n| k | right | refused | wrong |\n|---|---|---|---|");
        let mut rows = by_power.iter().peekable();
        while let Some((first, numbers)) = rows.next() {
            // Consecutive rows with equal values are merged.
            let mut last = first;
            while let Some((k, _)) = rows.next_if(|(_, next)| *next == numbers) {
                last = k;
            }
            let range = if first == last { first.to_string() } else { format!("{first} to {last}") };
            let [right, refused, wrong] = numbers;
            println!("| {range} | {right} | {refused} | {wrong} |");
        }
        println!();
    }
    println!("{} wrong", counts.wrong);
    Ok(counts.wrong)
}

impl Counts {
    fn add_pair(&mut self, names: &str, a: &Arc<Body>, b: &Arc<Body>) {
        let turned = UnitQuaternion::from_scaled_axis(V3::new(0.4, -1.1, 0.7));
        let turned = Pose::from_parts(V3::zeros().into(), turned);
        let beside = Pose::from_parts((V3::z() * a.size().max(b.size())).into(), turned.rotation);
        let mut pair = ContactPair::new(a.clone(), b.clone());
        for k in 3..=MAX_POWER {
            let distance = math::powf(10.0, f64::from(k));
            for direction in [V3::x(), V3::new(0.48, -0.6, 0.64)] {
                for d_max in [1.0, f64::INFINITY] {
                    let options = QueryOptions::within(d_max);
                    for rotation in [Pose::identity(), turned] {
                        let outcome = far_apart(&mut pair, (&rotation, &direction, distance), &options);
                        self.add(0, (names, k, d_max), outcome);
                    }
                    // At larger offsets the relative pose no longer changes.
                    if k <= ALL_ROUNDED || k % 50 == 0 {
                        let poses = [&turned, &beside];
                        let outcome = far_from_the_origin(&mut pair, poses, (&direction, distance), &options);
                        self.add(1, (names, k, d_max), outcome);
                    }
                }
            }
        }
    }

    fn add(&mut self, table: usize, (names, k, d_max): (&str, i32, f64), outcome: Result<Outcome, String>) {
        let column = match outcome {
            Ok(Outcome::Right) => 0,
            Ok(Outcome::Refused) => 1,
            Err(why) => {
                println!("{names}, 1e{k} mm, d_max {d_max}: {why}");
                self.wrong += 1;
                2
            }
        };
        self.by_power[table].entry(k).or_default()[column] += 1;
    }
}
