//! Minima between deformable curves, and of curves with themselves, compared with a brute-force search
//! that shares no code with feeler-curves ([`feeler_tests::curves`]): no minimum is missing, invented or
//! duplicated, and footpoints are right to 1e-12 of the size. The benchmark program `curves` checks many
//! more.

use feeler_curves::{CurveMinimum, CurveOptions, CurvePair};
use feeler_tests::curves::cases::{LOOPS, PAIRS, itself, pair, raised, split};
use feeler_tests::curves::compare::{Shape, Verdict, compare, compare_itself};
use nalgebra::{Rotation3, Vector3};
use rayon::prelude::*;

type V3 = Vector3<f64>;

/// Sums of minima that agree and of degenerate ones; panics with the numbers of the cases that have
/// faults.
fn sum(names: &[&str], verdicts: &[(u64, Verdict)]) -> [usize; 2] {
    let wrong: Vec<String> = verdicts
        .iter()
        .filter(|(_, v)| !v.is_right())
        .map(|(n, v)| {
            let name = names[usize::try_from(*n).expect("few cases") % names.len()];
            format!(
                "{n} ({name}): lost, invented, twice, wrong, missed by the brute force {:?}: {v:?}",
                v.counts()
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} cases\n{}", wrong.len(), verdicts.len(), wrong.join("\n"));
    [verdicts.iter().map(|(_, v)| v.agreed).sum(), verdicts.iter().map(|(_, v)| v.degenerate).sum()]
}

#[test]
fn minima_between_curves_are_those_of_the_brute_force() {
    let verdicts: Vec<_> = (0..25 * PAIRS.len() as u64)
        .into_par_iter()
        .map(|n| {
            let (a, b, options) = pair(n);
            (n, compare(&a, &b, &options))
        })
        .collect();
    let [agreed, degenerate] = sum(&PAIRS, &verdicts);
    assert!(agreed > 1000 && degenerate < agreed / 50, "{agreed} minima, {degenerate} nearly degenerate");
}

#[test]
fn minima_of_curves_with_themselves_are_those_of_the_brute_force() {
    let verdicts: Vec<_> = (0..25 * LOOPS.len() as u64)
        .into_par_iter()
        .map(|n| {
            let (a, options) = itself(n);
            (n, compare_itself(&a, &options))
        })
        .collect();
    let [agreed, degenerate] = sum(&LOOPS, &verdicts);
    assert!(agreed > 500 && degenerate < agreed / 50, "{agreed} minima, {degenerate} nearly degenerate");
}

fn minima_of(a: &Shape, b: Option<&Shape>, options: &CurveOptions) -> Vec<[V3; 2]> {
    let mut pair = CurvePair::new();
    let found = match b {
        Some(b) => pair.query(&a.curve(), &b.curve(), options),
        None => pair.query_itself(&a.curve(), options),
    };
    let points = |m: &CurveMinimum| m.points.map(|p| p.coords);
    found.iter().map(points).collect()
}

/// Whether both sets have the same pairs of points. With `may_turn`, for curves with themselves, the
/// points of a pair may be swapped, because a footpoint at the start of a ring may be reported at its
/// end.
fn is_one_set(p: &[[V3; 2]], q: &[[V3; 2]], tolerance: f64, may_turn: bool) -> bool {
    let mut is_used = vec![false; q.len()];
    let is_near = |p: &[V3; 2], q: &[V3; 2]| {
        let off = |i: usize, j: usize| (p[i] - q[j]).norm() <= tolerance;
        off(0, 0) && off(1, 1) || may_turn && off(0, 1) && off(1, 0)
    };
    p.len() == q.len()
        && p.iter().all(|p| {
            let hit = (0..q.len()).find(|&j| !is_used[j] && is_near(p, &q[j]));
            hit.is_some_and(|j| !std::mem::replace(&mut is_used[j], true))
        })
}

/// Moved curves have moved minima; splitting a piece or raising its degree does not change the curve.
#[test]
fn minima_are_those_of_the_shape() {
    let rotation = Rotation3::from_scaled_axis(V3::new(0.7, -1.1, 0.4));
    let check = |n: u64, is_pair: bool| -> Vec<String> {
        let (a, b, options) = if is_pair {
            let (a, b, options) = pair(n);
            (a, Some(b), options)
        } else {
            let (a, options) = itself(n);
            (a, None, options)
        };
        let verdict = b.as_ref().map_or_else(|| compare_itself(&a, &options), |b| compare(&a, b, &options));
        if verdict.weak + verdict.degenerate + verdict.in_sets > 0 || verdict.is_open {
            return Vec::new();
        }
        let base = minima_of(&a, b.as_ref(), &options);
        let size = a.points.iter().chain(b.iter().flat_map(|b| &b.points)).map(V3::norm).fold(0.0, f64::max);
        let motion = |p: V3| rotation * p + V3::new(0.3, -0.5, 0.2) * size;
        let moved: Vec<[V3; 2]> = base.iter().map(|p| p.map(motion)).collect();
        let at = 0.37 + (n % a.n() as u64) as f64;
        let mut variants = vec![
            (
                "moved",
                minima_of(&a.mapped(motion), b.as_ref().map(|b| b.mapped(motion)).as_ref(), &options),
                moved,
            ),
            ("cut", minima_of(&split(&a, at), b.as_ref(), &options), base.clone()),
        ];
        if a.degree < 5 {
            variants.push(("raised", minima_of(&raised(&a), b.as_ref(), &options), base.clone()));
        }
        if let Some(b) = &b {
            let turned = base.iter().map(|p| [p[1], p[0]]).collect();
            variants.push(("exchanged", minima_of(b, Some(&a), &options), turned));
        }
        variants
            .iter()
            .filter(|(_, now, expected)| !is_one_set(now, expected, 1e-7 * size, !is_pair))
            .map(|(name, now, expected)| {
                format!(
                    "{n} of {}, {name}: {now:?} instead of {expected:?}",
                    if is_pair { "pairs" } else { "loops" }
                )
            })
            .collect()
    };
    let wrong: Vec<String> = (1000..1280_u64)
        .into_par_iter()
        .flat_map_iter(|n| [true, false].into_iter().flat_map(move |is_pair| check(n, is_pair)))
        .collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// Checks the brute-force search itself on two pairs that can be computed by hand.
#[test]
fn the_brute_force_search_finds_known_minima() {
    use feeler_tests::curves::{Chain, minima, minima_itself};
    let chain = |points: &[[f64; 3]], is_closed: bool| {
        let points: Vec<V3> = points.iter().map(|p| V3::from(*p)).collect();
        Chain::new(1, &points, is_closed)
    };
    let a = chain(&[[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]], false);
    let b = chain(&[[1.0, -3.0, 2.0], [1.0, 1.0, 2.0]], false);
    let found = minima(&a, &b, 10).minima;
    assert_eq!(found.len(), 1, "{found:?}");
    let off = (found[0].u[0] - 0.25).abs() + (found[0].u[1] - 0.75).abs() + (found[0].distance - 2.0).abs();
    assert!(off < 1e-14, "{found:?}");
    // A bow tie crosses itself once; its free ends have no contacts.
    let tie = chain(&[[0.0, 0.0, 0.0], [2.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]], false);
    let found = minima_itself(&tie, 50).minima;
    let crossing = found.iter().find(|m| m.distance < 1e-12).expect("a crossing");
    assert!((crossing.u[0] - 0.5).abs() + (crossing.u[1] - 2.5).abs() < 1e-12, "{found:?}");
}
