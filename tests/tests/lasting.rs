//! Contacts for solvers that ask once a step: what is predicted, and which samples they get.
#![allow(clippy::unwrap_used, reason = "test code")]

use feeler_geom::{Pose, V3};
use feeler_runtime::{ContactPair, LastingContact, LastingContacts, Lmd, LmdClass, QueryOptions};
use feeler_tests::model;

const REACH: f64 = 0.5;
const DEPTH: f64 = 1.0;

/// The pin of 19.9 mm in the blind bore of 20 mm, whose bottom it touches at z = 20.
fn pin_in_bore() -> (ContactPair, LastingContacts) {
    let (bore, pin) = (model("blind-bore").body, model("pin").body);
    let lasting = LastingContacts::new(bore.size().min(pin.size()));
    (ContactPair::new(bore, pin), lasting)
}

fn ask(pair: &mut ContactPair, all: &mut LastingContacts, pose: &Pose) -> Vec<LastingContact> {
    let is_explained = all.ask(pair, &Pose::identity(), pose, REACH, DEPTH).unwrap();
    assert!(is_explained, "{pose}");
    all.contacts().to_vec()
}

/// Upwards, as a normal of the bottom.
fn is_of_bottom(c: &&LastingContact) -> bool {
    c.normal.z > 0.9
}

#[test]
fn gaps_ahead_go_on_as_the_solids_do() {
    let (mut pair, mut all) = pin_in_bore();
    let at = |z: f64| Pose::translation(0.0, 0.0, 20.0 + z);
    for (z, ahead) in [
        (0.45, 0.45),
        // From rest: it may have got faster, and go on to.
        (0.40, 0.30),
        (0.35, 0.30),
        // Where it stands, again: the same.
        (0.35, 0.30),
        (0.29, 0.22),
        // Too far for a motion that goes on.
        (2.5, f64::NAN),
        (0.1, 0.1),
    ] {
        let found = ask(&mut pair, &mut all, &at(z));
        let bottom: Vec<_> = found.iter().filter(is_of_bottom).collect();
        assert_eq!(bottom.is_empty(), ahead.is_nan(), "{z}: {found:?}");
        for c in bottom {
            assert!((c.gap - z).abs() < 1e-9 && (c.gap_ahead - ahead).abs() < 1e-9, "{z}: {c:?}");
        }
    }
    // Set there, it has not moved.
    all.halt();
    let found = ask(&mut pair, &mut all, &at(0.05));
    assert!(found.iter().filter(is_of_bottom).all(|c| (c.gap_ahead - 0.05).abs() < 1e-9), "{found:?}");
}

/// It falls on its bottom, tilted by a thousandth: the other end of its rim is no minimum yet.
fn struck() -> Vec<Pose> {
    let tilted = |z: f64| Pose::new(V3::new(0.0, 0.0, 20.0 + z), V3::new(0.0, 1e-3, 0.0));
    [0.85, 0.45, 0.05].map(tilted).to_vec()
}

#[test]
fn the_other_end_of_what_strikes_is_predicted() {
    let (mut pair, mut all) = pin_in_bore();
    let mut last = Vec::new();
    for pose in struck() {
        last = ask(&mut pair, &mut all, &pose);
    }
    let bottom: Vec<_> = last.iter().filter(is_of_bottom).collect();
    let found: Vec<_> = bottom.iter().filter(|c| c.is_found).collect();
    let predicted: Vec<_> = bottom.iter().filter(|c| !c.is_found).collect();
    assert_eq!(found.len(), 1, "{last:?}");
    // At the other end, with its gap: by the tilt over the diameter higher than the first one.
    let far = predicted.iter().find(|c| c.local_b.x * found[0].local_b.x < -50.0);
    let far = far.unwrap_or_else(|| panic!("{last:?}"));
    let higher = 1e-3 * (far.local_b.x - found[0].local_b.x).abs();
    assert!((far.gap - found[0].gap - higher).abs() < 1e-3, "{far:?} {found:?}");
    assert!(far.gap_ahead < 0.0, "{far:?}");
}

#[test]
fn a_new_motion_after_clear_has_the_same_bits() {
    let (mut pair, mut all) = pin_in_bore();
    let bits = |found: Vec<LastingContact>| -> Vec<[u64; 2]> {
        found.iter().map(|c| [c.gap.to_bits(), c.gap_ahead.to_bits()]).collect()
    };
    let runs = [(); 2].map(|()| {
        all.clear();
        pair.forget();
        struck().iter().map(|pose| bits(ask(&mut pair, &mut all, pose))).collect::<Vec<_>>()
    });
    assert_eq!(runs[0], runs[1]);
}

/// Flush blocks pressed into one another: on the border of their set nothing is inside both, but inwards of
/// it.
#[test]
fn pressed_sets_keep_samples_that_are_contacts() {
    let mut pair = ContactPair::new(model("box").body, model("box").body);
    for depth in [0.0005, 0.02] {
        let pose = Pose::translation(0.0, 0.0, 20.0 - depth);
        let options = QueryOptions { load_bearing: true, penetration: 0.05, ..QueryOptions::within(REACH) };
        let lmds = pair.query(&Pose::identity(), &pose, &options).unwrap();
        let is_corner = |l: &&Lmd| (l.local_a.x.abs() - 20.0).abs() + (l.local_a.y.abs() - 15.0).abs() < 1e-6;
        let pressed = lmds.iter().filter(|l| (l.gap + depth).abs() < 1e-9 && l.normal.z > 0.9);
        assert!(pressed.clone().count() <= 13, "{depth}: {lmds:?}");
        assert_eq!(pressed.filter(is_corner).count(), 4, "{depth}: {lmds:?}");
    }
}

/// Samples that carry loads are on both solids, the nearest is among them, and in no direction of the plane
/// do dense samples reach much farther.
#[test]
fn load_bearing_samples_are_outermost() {
    // Of a cylinder of radius 10 on the edge of a block of 40 mm, and of the pin on the bottom of its bore.
    let pairs = [
        ("box", "cylinder", Pose::translation(-15.0, 0.0, 10.0), 10.0),
        ("blind-bore", "pin", Pose::translation(0.05, 0.0, 20.0), 9.95),
    ];
    for (a, b, pose, radius) in pairs {
        let mut pair = ContactPair::new(model(a).body, model(b).body);
        let dense = QueryOptions { conformal_spacing: Some(0.5), ..QueryOptions::within(REACH) };
        let all = pair.query(&Pose::identity(), &pose, &dense).unwrap().to_vec();
        let few = QueryOptions { load_bearing: true, ..dense };
        let few = pair.query(&Pose::identity(), &pose, &few).unwrap().to_vec();
        assert!((few[0].distance - all[0].distance).abs() < 1e-9, "{a} {b}");
        let level = |lmds: &[Lmd]| -> Vec<Lmd> {
            let is_level = |l: &&Lmd| l.class == LmdClass::Conformal && l.normal.z > 0.9;
            lmds.iter().filter(is_level).copied().collect()
        };
        let (all, few) = (level(&all), level(&few));
        assert!(all.len() > 100 && (3..=13).contains(&few.len()), "{a} {b}: {} of {}", few.len(), all.len());
        for l in &few {
            assert!(l.local_b.coords.xy().norm() < radius + 1e-6 && l.local_a.x > -20.0 - 1e-6, "{l:?}");
        }
        let reach = |lmds: &[Lmd], d: &V3| {
            lmds.iter().map(|l| d.dot(&l.local_a.coords)).fold(f64::NEG_INFINITY, f64::max)
        };
        // Corners at least as far apart as eighths of the circle.
        let sagitta = radius * (1.0 - feeler_geom::math::cos(std::f64::consts::FRAC_PI_8));
        for k in 0..360 {
            let (sin, cos) = feeler_geom::math::sin_cos(f64::from(k).to_radians());
            let d = V3::new(cos, sin, 0.0);
            let (whole, kept) = (reach(&all, &d), reach(&few, &d));
            assert!(kept >= whole - sagitta - 1e-6, "{a} {b} {k}: {kept} of {whole}");
        }
    }
}
