//! The status of queries against the closed forms of generated solids: some pairs of the benchmark
//! program `verdicts`.

use feeler_tests::verdicts::generate::Case;
use feeler_tests::verdicts::judge::check;
use feeler_tests::verdicts::{Pool, query};
use std::collections::BTreeMap;

const PAIRS: u64 = 300;
/// Pairs that were wrong at some time: halves of a shaft in a wall; thin lenses of solids on a common
/// plane; a rim dipped into a cone; sharp tips pressed into a solid; pins with a clearance of one
/// tolerance; lenses slightly deeper than the tolerance, with either role; solids inside an apple, nearest to
/// its tips.
const ONCE_WRONG: [u64; 27] = [
    433_791_760_118,
    433_791_703_492,
    433_791_774_934,
    433_791_758_279,
    433_791_768_162,
    8_589_937_018,
    4_294_999_997,
    4_295_035_244,
    446_676_607_135,
    4_295_024_774,
    446_676_626_516,
    446_676_633_881,
    446_676_655_839,
    446_676_599_374,
    446_676_603_691,
    446_676_606_936,
    446_676_617_266,
    450_971_587_205,
    455_266_534_494,
    455_266_534_770,
    450_971_625_538,
    459_561_556_653,
    38_654_706_630,
    38_654_706_992,
    38_654_708_132,
    38_654_710_591,
    38_654_709_337,
];

/// The list of known failures may only shrink: a listed pair that is right fails the test as well.
#[test]
fn closed_forms_agree() {
    let mut pool = Pool::default();
    let mut failures = BTreeMap::new();
    for number in (0..PAIRS).chain(ONCE_WRONG) {
        let c = Case::new(number, &mut pool);
        let result = query(&c.a.body, &c.b.body, &c.pose_a, &c.pose_b, c.d_max);
        let checked = check(&c.a, &c.b, &c.pose_a, &c.pose_b, c.d_max, &result);
        let what = format!("{:?}: {:?} / {:?}, {:?}", c.category, c.a.spec, c.b.spec, checked.faults);
        let back = query(&c.b.body, &c.a.body, &c.pose_b, &c.pose_a, c.d_max);
        if !checked.faults.is_empty() {
            failures.insert(number, what);
        } else if back.verdict != result.verdict {
            failures.insert(number, format!("{what}, {:?} and {:?} swapped", result.verdict, back.verdict));
        }
    }
    let known: Vec<u64> = include_str!("../../known-verdicts.txt")
        .lines()
        .filter(|l| !l.trim().is_empty() && !l.starts_with('#'))
        .map(|l| l.split(':').next().and_then(|n| n.parse().ok()).expect("lines are `number: reason`"))
        .collect();
    let new: Vec<String> =
        failures.iter().filter(|(n, _)| !known.contains(n)).map(|(n, why)| format!("{n}: {why}")).collect();
    let gone: Vec<&u64> = known.iter().filter(|n| !failures.contains_key(n)).collect();
    assert!(new.is_empty(), "{} new wrong verdicts:\n{}", new.len(), new.join("\n"));
    assert!(gone.is_empty(), "listed pairs that are right now, remove them from the list: {gone:?}");
}
