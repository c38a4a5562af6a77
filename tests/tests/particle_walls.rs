//! Particles against exact walls beside a brute force ([`feeler_tests::particle_walls`]). The campaign
//! `particle_walls` of the benches does this for a million points.
#![expect(clippy::print_stdout, reason = "the test reports what it compared")]

use feeler_tests::particle_walls::{Tally, judge};
use feeler_tests::{data_dir, part};
use rayon::prelude::*;

/// Parts with planes, cylinders, cones, tori, splines, blends and concave corners.
const PARTS: [&str; 11] = [
    "socket.step",
    "plug.step",
    "bayonet-socket.step",
    "stepped-seat.step",
    "torus-nurbs.step",
    "wave.step",
    "loft.step",
    "void.step",
    "half-cone.step",
    "blind-bore.step",
    "race.step",
];

#[test]
fn minima_of_points_are_those_of_the_brute_force() {
    let files: Vec<_> = PARTS.iter().map(|name| data_dir().join(name)).collect();
    let tally = files
        .par_iter()
        .map(|file| {
            let part = part(file, 0);
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let reach = 0.03 * part.body.size();
            judge(&name, &part, reach, 100, 5)
        })
        .reduce(Tally::default, Tally::and);
    let Tally { points, agreed, undecided, samples, several, sideless, wrong } = tally;
    println!(
        "{points:?} points: {agreed} agreed, {undecided} undecided, {samples} samples, {several} several"
    );
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    assert_eq!(sideless, 0, "none of these parts passes through itself");
    assert!(agreed > 600 && several > 0, "{agreed} agreed, {undecided} undecided, {several} several");
}
