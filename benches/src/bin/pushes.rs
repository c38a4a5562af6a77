//! Contacts while solids penetrate: solids are pushed into each other from a gap to a depth, and each
//! contact is tracked.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin pushes -- data [--pushes N] [--seed S]
//! ```
//!
//! A contact may begin and end where its distance is at the ends of the range, and where it passes to a
//! neighbouring feature. Deeper than the tolerance it may also begin or end where it merges with a
//! saddle (*folds*), or where the common volume beside it ends (*gone*, *born*). Its signed distance
//! must change by at most the motion, otherwise it *jumps*, and no contact at a positive gap or at zero
//! may be *lost*. Exit status 1 if a contact jumps or is lost.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::number_after;
use feeler_tests::part;
use feeler_tests::pushes::{Push, Tally};
use std::path::Path;
use std::process::ExitCode;

/// Pairs of models of `data` that are pushed.
const PAIRS: [(&str, &str); 22] = [
    ("box", "box"),
    ("box", "cylinder"),
    ("box", "sphere"),
    ("box", "torus"),
    ("box", "cone"),
    ("cylinder", "cylinder"),
    ("cylinder", "torus"),
    ("cone", "sphere"),
    ("cone", "half-cone"),
    ("torus", "ring"),
    ("torus", "torus-without-edges"),
    ("spool", "spool"),
    ("shaft", "ring"),
    ("perforated-plate", "pin-short"),
    ("inch-bracket", "pin"),
    ("socket", "plug"),
    ("bayonet-socket", "bayonet-plug"),
    ("stepped-seat", "stepped-cone"),
    ("wave", "torus"),
    ("loft", "swept"),
    ("torus-nurbs", "wave"),
    ("cylinder-nurbs", "box-nurbs"),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(dir) = args.first().map(Path::new) else {
        eprintln!("an argument is needed: the folder of the models (data)");
        return ExitCode::from(2);
    };
    let pushes: u64 = number_after(&args, "--pushes").unwrap_or(100_000);
    let seed: u64 = number_after(&args, "--seed").unwrap_or(1);
    let mut wrong = 0;
    println!(
        "{:32} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6} {:>6} {:>6} {:>6}",
        "pair",
        "pushes",
        "steps",
        "crossed",
        "same id",
        "passed",
        "at ends",
        "folds",
        "gone",
        "born",
        "lost",
        "jumps"
    );
    for (i, (a, b)) in (0..).zip(PAIRS) {
        let [part_a, part_b] = [a, b].map(|name| part(&dir.join(format!("{name}.step")), 0));
        let mut t = Tally::default();
        let name = format!("{a} / {b}");
        for k in 0..pushes / PAIRS.len() as u64 {
            let number = (seed << 40) + (i << 32) + k;
            if let Some(push) = Push::new(&name, (&part_a.body, &part_a.pose), &part_b.body, number) {
                push.run(&mut t);
            }
        }
        println!(
            "{name:32} {:7} {:8} {:8} {:8} {:8} {:8} {:6} {:6} {:6} {:6} {:6}",
            t.pushes,
            t.steps,
            t.crossed,
            t.same,
            t.passed_on,
            t.at_ends,
            t.folded,
            t.gone_inside,
            t.born_inside,
            t.lost.len(),
            t.jumps.len()
        );
        t.lost.iter().take(3).for_each(|l| println!("    lost: {l}"));
        t.jumps.iter().take(3).for_each(|l| println!("    jump: {l}"));
        wrong += t.lost.len() + t.jumps.len();
    }
    println!("{wrong} failures");
    ExitCode::from(u8::from(wrong > 0))
}
