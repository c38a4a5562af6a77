//! Motions in contact: proofs that solids touch only, and times of first penetration, against closed forms.

use feeler_brep::fixtures::block;
use feeler_geom::{Pose, V3};
use feeler_import::DEFAULT_FLATNESS;
use feeler_runtime::{
    Body, ContactPair, FeatureKind, PenetrationOptions, PenetrationOutcome, QueryOptions, Status,
};
use feeler_tests::contact_motions::{ContactMotionCase, FAMILIES};
use feeler_tests::part_of;
use std::sync::Arc;

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

/// Status, tolerance and largest depth bound of two bodies, from a query without earlier ones; `None` if
/// one of the undecided points is between two edges.
fn verdict(a: &Arc<Body>, b: &Arc<Body>, pose_b: &Pose) -> Option<(Status, f64, f64)> {
    let mut pair = ContactPair::new(a.clone(), b.clone());
    pair.query(&Pose::identity(), pose_b, &QueryOptions::within(1.0)).expect("a valid query");
    let verdict = pair.verdict().expect("a verdict");
    let are_edges = |kinds: [FeatureKind; 2]| kinds == [FeatureKind::Edge; 2];
    let has_edges = verdict.undecided.iter().any(|u| are_edges([u.feature_a.kind, u.feature_b.kind]));
    (!has_edges).then(|| (verdict.status, pair.tolerances().tol, verdict.depth_bound()))
}

/// A cam is pressed into its flat follower by depths around the limit. Where a contact of both is neither
/// found nor excluded, it is at most two tolerances deep, twice the stated bound of the depth of common
/// points.
#[test]
fn contacts_that_are_not_excluded_are_shallow() {
    let family = FAMILIES.iter().position(|f| *f == "cam with a flat follower").expect("a family");
    let mut open = 0;
    for seed in [107, 110, 115, 128] {
        let case = ContactMotionCase::new(family, seed);
        let [cam, follower] = case.parts.each_ref().map(|part| &part.body);
        for k in 0..12 {
            let time = 0.01 + 0.01 * f64::from(k);
            // The follower starts in contact; correct motions keep it.
            let at = |t: f64| case.relative_pose(t);
            let lost = case.depth.as_ref().map_or(0.0, |depth| depth(time));
            for tolerances in [-1.0, 0.0, 0.2, 0.4, 0.7, 1.0, 1.4, 1.7, 1.95, 2.1, 3.0, 5.0] {
                let tol = 1e-7 * cam.size().max(follower.size());
                // The follower moves along its own axis y.
                let pressed = at(time) * Pose::from(-V3::y() * (tolerances * tol - lost));
                let found = verdict(cam, follower, &pressed);
                let (status, tol, bound) = found.expect("no contact of two edges");
                match status {
                    Status::Undecided => {
                        assert!(tolerances * tol <= 2.0 * bound, "{seed} {time}: undecided at {tolerances}");
                        assert!(bound <= 1.001 * tol, "{seed} {time}: {bound:e} for {tol:e}");
                        open += 1;
                    }
                    Status::Interfering => assert!(tolerances > 1.5, "{seed} {time}: {tolerances}"),
                    Status::Touching => assert!(tolerances < 2.05, "{seed} {time}: {tolerances}"),
                    Status::Separated => assert!(tolerances < 0.0, "{seed} {time}: {tolerances}"),
                }
            }
        }
        // A block around the whole cam.
        let around = part_of(&block([-60.0, -60.0, -30.0], [60.0, 60.0, 30.0]), DEFAULT_FLATNESS);
        let inside = verdict(cam, &around.body, &Pose::identity());
        assert!(inside.is_some_and(|(status, ..)| status == Status::Interfering), "{seed}: {inside:?}");
    }
    assert!(open > 0, "no contact was left open");
}
