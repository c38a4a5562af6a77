//! Contacts of moving solids; the demands are in [`feeler_tests::motions`]. `FEELER_MOTIONS=N` checks N
//! other motions.
#![expect(clippy::print_stdout, reason = "the test reports the statistics of the motions")]

use feeler_tests::motions::{MAX_DEEPER_SHARE, Rig, Seen};
use rayon::prelude::*;

#[test]
fn contacts_suffice_for_steps() {
    let more = std::env::var("FEELER_MOTIONS").ok().map(|n| n.parse::<u64>().expect("a number"));
    let seeds = more.map_or(0..500, |n| 1_000..1_000 + n);
    let rig = Rig::default();
    let checked: Vec<_> = seeds
        .into_par_iter()
        .filter_map(|seed| {
            let case = rig.case(seed)?;
            Some((seed, case.name, rig.check(&case)))
        })
        .collect();
    let mut total = Seen::default();
    let mut names: Vec<&str> = checked.iter().map(|j| j.1).collect();
    names.sort_unstable();
    names.dedup();
    let mut lines = Vec::new();
    for name in names {
        let mut seen = Seen::default();
        for (seed, _, (faults, s)) in checked.iter().filter(|j| j.1 == name) {
            seen.add(s);
            lines.extend(faults.iter().map(|f| format!("{}: {name} {seed}: {}", f.demand, f.text)));
        }
        println!("{name}: {seen:?}");
        total.add(&seen);
    }
    println!("{total:?}");
    assert!(lines.is_empty(), "{} faults:\n{}", lines.len(), lines.join("\n"));
    assert!(f64::from(total.deeper) <= MAX_DEEPER_SHARE * f64::from(total.cases), "{total:?}");
    assert!(total.uncovered == 0 && 5 * total.closing > total.cases, "{total:?}");
    let [strict, quasi, samples, _] = total.contacts;
    assert!(strict > total.updates && 2 * quasi > total.cases && samples > total.cases, "{total:?}");
}
