//! Conformal contacts through nearly conformal poses; [`feeler_tests::conformal`] defines the
//! requirements.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin conformal \
//!     [-- --only NAME] [--per-decade N] [--seed N] [--ramps] [--all]
//! ```
//!
//! Each scenario is tilted about several axes, in both directions, from 0 over 1e-12 to 1e-3 rad in N
//! steps a decade (10), at gaps of 0, 0.001 and 0.05 mm, with α = 0 and α = 2e-3 rad, with the default
//! spacing of samples and (for α = 0 and each fifth tilt) a close spacing, first with A at the origin
//! and then at a seeded random pose. `--ramps` prints the numbers of contacts along each ramp, `--all`
//! each fault.
//!
//! Exit status 1 if a requirement is violated.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::number_after;
use feeler_tests::conformal::{RampOptions, Rig, Seen, all, ramp, tilts};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Gaps (mm) between the solids.
const GAPS: [f64; 3] = [0.0, 0.001, 0.05];
/// Angle (rad) by which polars are dilated.
const QUASI_ANGLE: f64 = 2e-3;
/// Close spacing (mm) of samples.
const SPACING: f64 = 0.4;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let per_decade = number_after(&args, "--per-decade").unwrap_or(10_u32).max(1);
    let seed: u64 = number_after(&args, "--seed").unwrap_or(1);
    let only: Option<String> = number_after(&args, "--only");
    let has = |name: &str| args.iter().any(|a| a == name);
    let (ramps, list_all) = (has("--ramps"), has("--all"));
    let tilts = tilts(1e-3, per_decade);
    let names: Vec<&str> = all(0.0).iter().map(|s| s.name).collect();
    println!(
        "| scenario | poses | contacts | max | changes, returns | off the solids | strict | conformal | \
            smallest | lack of span | round | faults |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut bad = 0;
    let mut listed = Vec::new();
    for (i, name) in names.iter().enumerate() {
        if only.as_ref().is_some_and(|o| !name.contains(o.as_str())) {
            continue;
        }
        let mut seen = Seen::default();
        let mut faults: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for gap in GAPS {
            for world in [0, seed] {
                let Some(scenario) = all(gap).into_iter().nth(i) else { continue };
                let rig = Rig::new(scenario, world);
                for axis in rig.scenario.axes.clone() {
                    for sign in [1.0, -1.0] {
                        for (quasi_angle, spacing) in [(0.0, None), (QUASI_ANGLE, None), (0.0, Some(SPACING))]
                        {
                            // Close spacing gives many samples, so fewer tilts are examined.
                            let tilts: Vec<f64> = tilts
                                .iter()
                                .step_by(if spacing.is_some() { 5 } else { 1 })
                                .copied()
                                .collect();
                            let (found, now, counts) =
                                ramp(&rig, &axis, sign, gap, &tilts, &RampOptions { quasi_angle, spacing });
                            seen.add(&now);
                            let of = format!(
                                "{name}, gap {gap}, about {}{}, α {quasi_angle}{}, place {world}",
                                if sign > 0.0 { "" } else { "-" },
                                axis.name,
                                if spacing.is_some() { ", close samples" } else { "" },
                            );
                            if ramps {
                                println!("{of}: {counts:?}");
                            }
                            for f in found {
                                faults.entry(f.demand).or_default().push(format!("{of}: {}", f.text));
                            }
                        }
                    }
                }
            }
        }
        let count: usize = faults.values().map(Vec::len).sum();
        bad += count;
        println!(
            "| {name} | {} | {} | {} | {}, {} | {:.0e} | {:.0e} | {:.0e} | {:.0e} | {:.0e} | {:.3} | \
                {count} |",
            seen.poses,
            seen.contacts,
            seen.max_contacts,
            seen.changes,
            seen.returns,
            seen.off,
            seen.strict,
            seen.conformal,
            seen.minimum,
            seen.lack,
            seen.round_lack
        );
        if seen.contacts == 0 {
            eprintln!("{name}: no contact was found, so nothing was checked");
            return ExitCode::from(2);
        }
        for (demand, texts) in faults {
            listed.push(format!("{demand}: {} times; {name}", texts.len()));
            let shown = if list_all { texts.len() } else { 4 };
            // Print descriptions that are spread over all of them.
            let step = texts.len().div_ceil(shown).max(1);
            listed.extend(texts.iter().step_by(step).map(|t| format!("    {t}")));
        }
    }
    println!("\n{bad} faults");
    for line in listed {
        println!("{line}");
    }
    ExitCode::from(u8::from(bad > 0))
}
