//! Lengths and times of separating translations.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin separations \
//!     -- [--pairs N] [--seed S] [--list] [A.step B.step ...]
//! ```
//!
//! Pairs of files, or of the verdict generator, in contact or interfering. With `--list` prints for each pair
//! that interferes: its name, the times (ms) of the first query and of
//! [`ContactPair::separating_translation`], the length of the translation (mm), and the depth of the verdict
//! (mm), which is a lower bound of that length. Two versions of the library are compared by their lists. The
//! summary has the median, 95th percentile and maximum of the times, in processor time, the number of pairs
//! without a translation, and the depths as fractions of the lengths.

#![expect(clippy::print_stdout, reason = "a program that reports")]

use feeler_benches::{Fallible, cpu_seconds, exit_code, first_body, number_after, prepare, spread};
use feeler_geom::Pose;
use feeler_runtime::{Body, ContactPair, QueryOptions, Status};
use feeler_tests::verdicts::Pool;
use feeler_tests::verdicts::generate::Case;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Times of the first query and of the search for a translation, for pairs that interfere.
#[derive(Default)]
struct Tally {
    query: Vec<f64>,
    search: Vec<f64>,
    /// Depth as a fraction of the length of the translation, which is at least as long.
    share: Vec<f64>,
    list: bool,
}

impl Tally {
    fn add(&mut self, name: &str, bodies: [&Arc<Body>; 2], poses: [&Pose; 2], d_max: f64) -> Fallible<()> {
        let options = QueryOptions::within(d_max);
        let mut pair = ContactPair::new(Arc::clone(bodies[0]), Arc::clone(bodies[1]));
        let start = cpu_seconds();
        pair.query(poses[0], poses[1], &options).map_err(|e| format!("{name}: {e}"))?;
        let query = 1e3 * (cpu_seconds() - start);
        if pair.status() != Some(Status::Interfering) {
            return Ok(());
        }
        let depth = pair.verdict().and_then(|verdict| verdict.depth(None)).unwrap_or(0.0);
        let start = cpu_seconds();
        let found = pair.separating_translation(poses[0], poses[1], &options);
        let search = 1e3 * (cpu_seconds() - start);
        let found = found.map_err(|e| format!("{name}: {e}"))?;
        let length = found.map_or(f64::NAN, |t| t.norm());
        if self.list {
            println!("{name} {query:.2} {search:.2} {length:.9e} {depth:.9e}");
        }
        self.query.push(query);
        self.search.push(search);
        self.share.extend(found.map(|_| depth / length));
        Ok(())
    }
}

fn main() -> ExitCode {
    exit_code(run())
}

fn run() -> Fallible<bool> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let pairs: u64 = number_after(&args, "--pairs").unwrap_or(2_000);
    let seed: u64 = number_after(&args, "--seed").unwrap_or(1);
    let mut tally = Tally { list: args.iter().any(|a| a == "--list"), ..Tally::default() };
    let files: Vec<&Path> = args
        .iter()
        .map(Path::new)
        .filter(|p| p.extension().is_some_and(|e| e == "step" || e == "stp"))
        .collect();
    for [a, b] in files.as_chunks().0 {
        let (body_a, pose_a) = first_body(&prepare(a)?)?;
        let (body_b, pose_b) = first_body(&prepare(b)?)?;
        let name = a.file_stem().unwrap_or_default().to_string_lossy();
        tally.add(&name, [&body_a, &body_b], [&pose_a, &pose_b], 1.0)?;
    }
    let mut pool = Pool::default();
    for number in (seed << 32)..(seed << 32) + if files.is_empty() { pairs } else { 0 } {
        let c = Case::new(number, &mut pool);
        let name = format!("{number}");
        tally.add(&name, [&c.a.body, &c.b.body], [&c.pose_a, &c.pose_b], c.d_max)?;
    }
    let n = tally.query.len();
    let [query, search] = [spread(&mut tally.query), spread(&mut tally.search)];
    println!("{n} interfering pairs, {} without a translation", n - tally.share.len());
    println!("query, ms: median {:.2}, 95 % {:.1}, worst {:.0}", query[0], query[1], query[2]);
    println!("translation, ms: median {:.2}, 95 % {:.1}, worst {:.0}", search[0], search[1], search[2]);
    tally.share.sort_by(f64::total_cmp);
    let share = |part: usize| tally.share.get(tally.share.len() * part / 100).copied().unwrap_or(0.0);
    let shares = [0, 5, 25, 50].map(share);
    let [least, p5, p25, median] = shares;
    println!("depth / length: least {least:.3}, 5 % {p5:.3}, 25 % {p25:.3}, median {median:.3}");
    Ok(true)
}
