//! Damaged files cause no panic, do not hang and do not need much memory: a few hundred here, many more
//! in the program `mutations`.
#![allow(clippy::unwrap_used, reason = "test code")]

use feeler_benches::endure::{Cases, Kind, Meter, watch_panics};
use feeler_benches::prepare;
use peak_alloc::PeakAlloc;
use std::path::Path;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

const METER: Meter = Meter {
    reset: || ALLOCATED.reset_peak_usage(),
    current: || ALLOCATED.current_usage(),
    peak: || ALLOCATED.peak_usage(),
};

/// A single test, because memory is counted for the whole process.
#[test]
fn damaged_files_are_refused_in_good_order() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data");
    let names =
        ["box", "half-cone", "ring", "bore", "inch-bracket", "swept", "assemblies/hands", "assemblies/frame"];
    let step: Vec<Vec<u8>> =
        names.iter().map(|n| std::fs::read(data.join(n).with_extension("step")).unwrap()).collect();
    let feeler = names[..6].iter().map(|n| {
        feeler_hierarchy::file::encode(&prepare(&data.join(n).with_extension("step")).unwrap()).unwrap()
    });
    let feeler = feeler.collect();
    watch_panics();
    let mut failures = Vec::new();
    for (kind, good, count) in [(Kind::Feeler, feeler, 2000), (Kind::Step, step, 120)] {
        let cases = Cases::new(kind, good, 7);
        let mut read = 0;
        for number in 0..count {
            match cases.run(number, &METER) {
                Ok(cost) => read += u64::from(cost.read),
                Err(e) => failures.push(e),
            }
        }
        // If all files or no files are rejected, the damage tests nothing.
        assert!(read > 0 && read < count, "{read} of {count} {kind:?} files could be read");
    }
    let _ = std::panic::take_hook();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
