//! Motions in contact: proofs that solids touch only, and times of first penetration, against closed forms.

use feeler_runtime::{PenetrationOptions, PenetrationOutcome};
use feeler_tests::contact_motions::{ContactMotionCase, FAMILIES};

/// Number of motions of each family.
const MOTIONS: u64 = 6;
/// Number of motions of each family of gears and cams, which take a hundred queries of splines.
const GEAR_MOTIONS: u64 = 2;

#[test]
fn motions_in_contact_follow_closed_forms() {
    let (mut contacts, mut penetrations) = (0, 0);
    let first_gears = FAMILIES.iter().position(|f| *f == "gears without backlash").expect("a family");
    for (family, name) in FAMILIES.iter().enumerate() {
        for seed in 0..if family < first_gears { MOTIONS } else { GEAR_MOTIONS } {
            let case = ContactMotionCase::new(family, seed);
            let found = case.run(&PenetrationOptions::default()).expect("a valid motion");
            assert_eq!(case.fault(&found), None, "{name} {seed}: {found:?}");
            match found.outcome {
                PenetrationOutcome::Free => contacts += 1,
                PenetrationOutcome::Penetration(p) => {
                    assert!(p.depth > 0.99 * found.limit, "{name} {seed}: {found:?}");
                    penetrations += 1;
                }
                PenetrationOutcome::Undecided(_) => panic!("{name} {seed}: {found:?}"),
            }
        }
    }
    // Both results occur often, so that neither is returned for all motions.
    assert!(contacts >= 60 && penetrations >= 24, "{contacts} contacts, {penetrations} penetrations");
}

#[test]
fn a_larger_depth_delays_the_penetration() {
    let family = FAMILIES.iter().position(|f| *f == "ball into a plate").expect("a family");
    let case = ContactMotionCase::new(family, 3);
    let depth = case.depth.as_ref().expect("a penetration");
    for allowed in [1e-4, 1e-3] {
        let options = PenetrationOptions { depth: allowed, ..PenetrationOptions::default() };
        let found = case.run(&options).expect("a valid motion");
        let PenetrationOutcome::Penetration(p) = found.outcome else { panic!("{found:?}") };
        assert!((depth(p.time) - allowed).abs() <= 0.05 * allowed, "{allowed}: {found:?}");
    }
}

#[test]
fn invalid_depths_are_rejected() {
    let case = ContactMotionCase::new(0, 0);
    for depth in [-1.0, f64::NAN, f64::INFINITY, 1e3] {
        let options = PenetrationOptions { depth, ..PenetrationOptions::default() };
        assert!(case.run(&options).is_err(), "{depth}");
    }
}
