//! Distances of hard pairs of small hulls, each verified by a proof.
//!
//! `convex_campaign [PAIRS]`: PAIRS pairs (10⁷ by default) of all kinds. Prints for each kind the largest
//! errors and the largest number of steps, and wrong results and errors above 1e-12 (relative, and above
//! the rounding of a coordinate) with their points. Exit status 1 if there is one.

use feeler_convex::reference::cases::{CaseRandom, KINDS, compare_with_exact, hard_pair};
use feeler_convex::{DistanceOutcome, DistanceRequest, PointSet, distance};
use std::process::ExitCode;

#[derive(Clone, Copy, Default)]
struct Row {
    pairs: u64,
    apart: u64,
    touching: u64,
    relative_far: f64,
    relative: f64,
    to_size: f64,
    above: u64,
    steps: u32,
}

#[expect(clippy::print_stdout, reason = "a program that prints a table")]
fn main() -> ExitCode {
    let n: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(10_000_000);
    let mut rows = [Row::default(); KINDS.len()];
    let (mut wrong, mut beyond) = (0, 0);
    let mut rng = CaseRandom(2017);
    for round in 0..n {
        #[expect(clippy::cast_possible_truncation, reason = "below nine")]
        let kind = (round % KINDS.len() as u64) as usize;
        let (a, b) = hard_pair(&mut rng, kind);
        let (Ok(set_a), Ok(set_b)) = (PointSet::new(&a), PointSet::new(&b)) else { continue };
        let answer = distance(&set_a, &set_b, &DistanceRequest::default());
        let row = &mut rows[kind];
        row.pairs += 1;
        row.apart += u64::from(answer.outcome == DistanceOutcome::Separated);
        row.touching += u64::from(answer.outcome == DistanceOutcome::Touching);
        row.steps = row.steps.max(answer.iterations);
        match compare_with_exact(&a, &b, &answer) {
            Ok(v) => {
                if answer.outcome == DistanceOutcome::Separated {
                    row.to_size = row.to_size.max(v.to_size);
                }
                if v.gap > 1e-3 {
                    row.relative_far = row.relative_far.max(v.relative);
                }
                if v.to_size >= f64::EPSILON {
                    row.relative = row.relative.max(v.relative);
                    if v.relative > 1e-12 {
                        beyond += 1;
                        if beyond <= 20 {
                            println!("{}: {v:?}\n  {a:?}\n  {b:?}\n  {answer:?}", KINDS[kind]);
                        }
                    }
                }
                row.above += u64::from(v.relative > 1e-12);
            }
            Err(e) => {
                wrong += 1;
                if wrong <= 20 {
                    println!("{}: {e}\n  {a:?}\n  {b:?}\n  {answer:?}", KINDS[kind]);
                }
            }
        }
    }
    println!(
        "| kind | pairs | apart | touching | max steps | relative error, gap > 1e-3 | error / size | \
            relative error above 1e-12 | of these, error ≥ 2.2e-16 size: largest |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (r, kind) in rows.iter().zip(KINDS) {
        println!(
            "| {kind} | {} | {} | {} | {} | {:.1e} | {:.1e} | {} | {:.1e} |",
            r.pairs, r.apart, r.touching, r.steps, r.relative_far, r.to_size, r.above, r.relative
        );
    }
    println!("wrong: {wrong}; relative error above 1e-12 and error above 2.2e-16 of the size: {beyond}");
    ExitCode::from(u8::from(wrong + beyond > 0))
}
