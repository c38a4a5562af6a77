//! Contacts of steps: sets, identities, status.

use feeler_brep::fixtures::prism;
use feeler_geom::{P3, Pose, V3, math};
use feeler_import::DEFAULT_FLATNESS;
use feeler_runtime::{
    Contact, ContactKind, ContactPair, ContactTracker, FeatureKind, GapPrediction, QueryError, QueryOptions,
    Status, StepBound, TrackedStatus, TrackerOptions,
};
use feeler_tests::corpus::scenarios;
use feeler_tests::{model, part_of};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::{PI, TAU};

fn bound(rotation: f64, displacement: f64) -> StepBound {
    StepBound { rotation, displacement }
}

fn boxes() -> (ContactTracker, f64) {
    let a = model("box").body;
    let height = a.bounds().max.z - a.bounds().min.z;
    (ContactTracker::new(a.clone(), a, TrackerOptions::default()), height)
}

/// A box on a box: the contacts are the corners of the common area, an octagon, if it is flush. If it is
/// tilted, the lowest corner is a minimum, and the others are quasi-minima with the gaps of their edges.
#[test]
fn a_tilted_box_keeps_its_corners() {
    let (mut tracker, height) = boxes();
    for tilt in [0.0, 1e-5, 1e-4] {
        let pose = Pose::new(V3::new(0.3, 0.2, height + 0.002), V3::new(tilt, 0.5 * tilt, 0.1));
        tracker.update(&Pose::identity(), &pose, bound(1e-3, 0.05)).unwrap();
        let minima = tracker.contacts().iter().filter(|c| c.kind.is_minimum()).count();
        assert!(tracker.contacts().len() >= 4, "{tilt}: {:?}", tracker.contacts());
        assert_eq!(minima, if tilt == 0.0 { 8 } else { 1 }, "{tilt}");
        // The area's corners are crossings of edges; their gaps vary by the tilt over the box.
        let spread = tilt * 50.0 + 1e-9;
        assert!(tracker.contacts().iter().all(|c| (c.gap - 0.002).abs() <= spread), "{tilt}");
    }
}

/// Repeated poses give the same contacts to the bit, except for their age; a clone continues them.
#[test]
fn identities_persist_at_rest_and_in_clones() {
    let (mut tracker, height) = boxes();
    let pose = |z: f64| Pose::new(V3::new(0.3, 0.2, height + z), V3::new(2e-5, 1e-5, 0.1));
    let id = Pose::identity();
    tracker.update(&id, &pose(0.001), bound(1e-3, 0.05)).unwrap();
    let first = tracker.contacts().to_vec();
    for age in 1..=5 {
        tracker.update(&id, &pose(0.001), bound(1e-3, 0.05)).unwrap();
        let expected: Vec<Contact> = first.iter().map(|c| Contact { age, ..*c }).collect();
        assert_eq!(tracker.contacts(), expected);
    }
    let mut copy = tracker.clone();
    for k in 0..5 {
        let next = pose(0.001 - 1e-5 * f64::from(k));
        tracker.update(&id, &next, bound(1e-3, 0.05)).unwrap();
        copy.update(&id, &next, bound(1e-3, 0.05)).unwrap();
        let ids = |t: &ContactTracker| t.contacts().iter().map(|c| c.id).collect::<Vec<_>>();
        assert_eq!(ids(&tracker), ids(&copy));
        assert_eq!(ids(&tracker), first.iter().map(|c| c.id).collect::<Vec<_>>());
    }
}

/// Identities are never reused.
#[test]
fn identities_never_return() {
    let (mut tracker, height) = boxes();
    let id = Pose::identity();
    let at = |z: f64| Pose::new(V3::new(0.3, 0.2, height + z), V3::new(0.0, 0.0, 0.1));
    tracker.update(&id, &at(0.01), bound(1e-3, 0.01)).unwrap();
    let max_id = tracker.contacts().iter().map(|c| c.id).max().unwrap();
    tracker.update(&id, &at(0.5), bound(1e-3, 0.01)).unwrap();
    assert!(tracker.contacts().is_empty());
    tracker.update(&id, &at(0.01), bound(1e-3, 0.01)).unwrap();
    assert!(tracker.contacts().iter().all(|c| c.id > max_id));
}

/// A motion through contact needs only the verdict at its start; a deep start needs a verdict as well.
#[test]
fn gaps_pass_through_zero_without_a_verdict() {
    let (mut tracker, height) = boxes();
    let id = Pose::identity();
    let at = |z: f64| Pose::new(V3::new(0.3, 0.2, height + z), V3::new(0.01, 0.0, 0.1));
    let lift = 0.01 * 15.5;
    let mut seen = Vec::new();
    for k in 0..60 {
        let z = lift + 0.05 - 2e-3 * f64::from(k);
        let update = tracker.update(&id, &at(z), bound(1e-3, 0.01)).unwrap();
        assert_eq!((update.jumped, update.decided), (k == 0, k == 0), "{k}");
        let name = match tracker.status() {
            TrackedStatus::Separated => "separated",
            TrackedStatus::Touching => "touching",
            TrackedStatus::Pressed(depth) => {
                assert!(depth < 0.1);
                "pressed"
            }
            other => panic!("{other:?}"),
        };
        if seen.last() != Some(&name) {
            seen.push(name);
        }
    }
    assert!(seen == ["separated", "pressed"] || seen == ["separated", "touching", "pressed"], "{seen:?}");
    assert_eq!(tracker.counts().decisions, 1);
    // From outside to deep inside is a jump.
    let update = tracker.update(&id, &at(-0.5 * height), bound(1e-3, 0.01)).unwrap();
    assert!(update.jumped);
    assert!(
        matches!(tracker.status(), TrackedStatus::Pressed(_) | TrackedStatus::Interfering),
        "{:?}",
        tracker.status()
    );
}

#[test]
fn motions_are_covered_up_to_the_bound() {
    let (mut tracker, height) = boxes();
    let id = Pose::identity();
    let at = |x: f64, turn: f64| Pose::new(V3::new(x, 0.0, height), V3::new(0.0, 0.0, turn));
    assert!(!tracker.covers(&id, &at(0.0, 0.0)).unwrap());
    tracker.update(&id, &at(0.0, 0.0), bound(1e-3, 0.05)).unwrap();
    for (x, turn, is_covered) in [
        (0.049, 0.0, true),
        (0.051, 0.0, false),
        (0.0, 0.99e-3, true),
        (0.0, 1.01e-3, false),
        (0.049, 0.5e-3, false),
    ] {
        assert_eq!(tracker.covers(&id, &at(x, turn)).unwrap(), is_covered, "{x} {turn}");
        // The frame of the world does not matter.
        let world = Pose::new(V3::new(100.0, 20.0, 3.0), V3::new(0.3, 0.2, 0.1));
        assert_eq!(tracker.covers(&world, &(world * at(x, turn))).unwrap(), is_covered, "{x} {turn}");
    }
}

/// A block slides along one flank of an obtuse concave corner: the other flank bounds the step before its
/// footpoint is on the flank.
#[test]
fn the_other_flank_of_an_obtuse_corner_is_extended() {
    for degrees in [100.0_f64, 120.0, 150.0] {
        let t = (180.0 - degrees).to_radians();
        let (sin, cos) = math::sin_cos(t);
        let (x, y) = (20.0 * cos, 20.0 * sin);
        let outline = [[-20.0, -10.0], [x + 10.0, -10.0], [x + 10.0, y], [x, y], [0.0, 0.0], [-20.0, 0.0]];
        let a = part_of(&prism(&outline, 20.0), 0.25).body;
        let b = part_of(&prism(&[[-2.0, 0.0], [0.0, 0.0], [0.0, 2.0], [-2.0, 2.0]], 10.0), 0.25).body;
        let mut tracker = ContactTracker::new(a, b, TrackerOptions::default());
        let pose = Pose::translation(-0.05, 1e-3, 5.0);
        tracker.update(&Pose::identity(), &pose, bound(1e-3, 0.1)).unwrap();
        let flank = V3::new(-sin, cos, 0.0);
        let found = tracker.contacts().iter().find(|c| c.normal.dot(&flank) > 1.0 - 1e-6);
        let found = found.unwrap_or_else(|| panic!("{degrees}: {:?}", tracker.contacts()));
        assert_eq!(found.kind, ContactKind::Extended);
        let gap = 0.05 * sin + 1e-3 * cos;
        assert!((found.gap - gap).abs() < 1e-9, "{} {gap}", found.gap);
    }
}

/// A corner that slides over the edge of a flush face has no contact against its motion.
#[test]
fn flush_corners_do_not_obstruct() {
    let (mut tracker, height) = boxes();
    // The corners of B are 0.02 mm beyond the edge of A, along x, and flush with the top of A to 0.1 µm.
    let width = 40.0;
    for above in [1e-4, 0.0, -1e-4] {
        let pose = Pose::translation(width + 0.02, 0.0, height + above);
        tracker.update(&Pose::identity(), &pose, bound(1e-4, 0.05)).unwrap();
        for c in tracker.contacts() {
            assert!(c.normal.x.abs() < 1e-6 && (c.gap - above.max(0.0)).abs() < 1e-9, "{above}: {c:?}");
        }
    }
    assert!(tracker.contacts().iter().any(|c| c.normal.z > 0.999), "{:?}", tracker.contacts());
}

/// A box slides onto another one over its edge: above its top, level with it and pressed into it. No
/// contact obstructs the slide at any position. A box that moves down beside the edge has contacts across
/// its motion.
#[test]
fn slides_over_flush_edges_are_not_obstructed() {
    let width = 40.0;
    for above in [1e-4, 1e-7, 0.0, -1e-7, -1e-4] {
        let (mut tracker, height) = boxes();
        for x in [0.05, 0.03, 1e-3, 4e-4, 1e-6, 0.0, -1e-6, -2e-6, -5e-4, -0.01, -0.06, -0.2] {
            let pose = Pose::translation(width + x, 0.3, height + above);
            tracker.update(&Pose::identity(), &pose, bound(1e-4, 0.06)).unwrap();
            // The motion at the first pose is unknown.
            for c in tracker.contacts().iter().filter(|_| x < 0.05) {
                // Normals of near edges may deviate from that of flush faces by up to 0.1 rad.
                assert!(c.normal.x.abs() < 0.1, "{above} {x}: {c:?}");
                assert!(c.gap >= above.min(0.0) - 1e-9, "{above} {x}: {c:?}");
            }
            assert!(tracker.contacts().iter().any(|c| c.normal.z > 0.999), "{above} {x}");
        }
    }
    // Downwards beside the edge, contacts act only along x.
    let (mut tracker, height) = boxes();
    for z in [0.05, 1e-3, 1e-6, 0.0, -1e-6, -1e-3, -0.05] {
        let pose = Pose::translation(width + 1e-4, 0.3, height + z);
        tracker.update(&Pose::identity(), &pose, bound(1e-4, 0.06)).unwrap();
        for c in tracker.contacts().iter().filter(|_| z < 0.05) {
            assert!(c.normal.z.abs() < 0.1, "{z}: {c:?}");
        }
    }
}

/// Strict contacts agree with those of a fresh query.
#[test]
fn strict_contacts_agree_with_a_query() {
    let cases = [("socket", "plug", [0.01, 0.02, 3.0]), ("race", "ball", [13.0, 0.01, 0.0])];
    for (a, b, at) in cases {
        let (a, b) = (model(a).body, model(b).body);
        let mut tracker = ContactTracker::new(a.clone(), b.clone(), TrackerOptions::default());
        for k in 0..20 {
            let s = f64::from(k);
            let pose = Pose::new(
                V3::from(at) + V3::new(1e-3 * s, -5e-4 * s, 0.005 * s),
                V3::new(5e-5 * s, 0.0, 0.0),
            );
            tracker.update(&Pose::identity(), &pose, bound(1e-3, 0.02)).unwrap();
            let options = QueryOptions {
                penetration: 0.05,
                load_bearing: true,
                conformal_spacing: Some(a.size().max(b.size())),
                detect_interference: false,
                ..QueryOptions::within(0.05)
            };
            let mut fresh = ContactPair::new(a.clone(), b.clone());
            let mut expected: Vec<f64> =
                fresh.query(&Pose::identity(), &pose, &options).unwrap().iter().map(|l| l.gap).collect();
            let strict = tracker.contacts().iter().filter(|c| c.kind.is_minimum());
            let mut found: Vec<f64> = strict.map(|c| c.gap).collect();
            expected.sort_by(f64::total_cmp);
            found.sort_by(f64::total_cmp);
            assert_eq!(found.len(), expected.len(), "{k}: {found:?} {expected:?} {:?}", fresh.contacts());
            assert!(found.iter().zip(&expected).all(|(f, e)| (f - e).abs() < 1e-9 * a.size()), "{k}");
        }
    }
}

/// Contacts with the largest gaps are dropped first, and counted.
#[test]
fn many_contacts_are_dropped_by_gap() {
    let a = model("box").body;
    let height = a.bounds().max.z - a.bounds().min.z;
    let options = TrackerOptions { max_contacts: 3, ..TrackerOptions::default() };
    let mut tracker = ContactTracker::new(a.clone(), a, options);
    let pose = Pose::new(V3::new(0.3, 0.2, height + 0.004), V3::new(1e-4, 0.5e-4, 0.1));
    let update = tracker.update(&Pose::identity(), &pose, bound(1e-3, 0.05)).unwrap();
    assert_eq!(tracker.contacts().len(), 3);
    assert!(update.dropped > 0 && tracker.counts().dropped == update.dropped as u64);
}

#[test]
fn bounds_are_checked() {
    let (mut tracker, height) = boxes();
    let pose = Pose::translation(0.0, 0.0, height);
    for (rotation, displacement) in [(f64::NAN, 0.0), (0.0, -1.0), (f64::INFINITY, 0.1)] {
        let rejected = tracker.update(&Pose::identity(), &pose, bound(rotation, displacement));
        assert!(matches!(rejected, Err(QueryError::StepBound { .. })));
        assert!(rejected.unwrap_err().to_string().contains("bound of the step"));
    }
}

/// Along random motions through contact, the status by signed gaps agrees with that of a fresh verdict,
/// and so does the verdict on demand.
#[test]
fn statuses_agree_with_fresh_verdicts() {
    let mut random = SmallRng::seed_from_u64(47);
    let cases = [
        ("box", "box", [0.3, 0.2, 20.0], 4e-3),
        ("socket", "plug", [0.0, 0.0, 3.0], 0.12),
        ("race", "ball", [13.0, 0.0, 0.0], 0.15),
    ];
    for (a, b, at, range) in cases {
        let (a, b) = (model(a).body, model(b).body);
        let mut tracker = ContactTracker::new(a.clone(), b.clone(), TrackerOptions::default());
        let mut any = |size: f64| V3::from_fn(|_, _| random.random_range(-size..size));
        let (mut shift, mut turn) = (V3::zeros(), V3::zeros());
        let mut seen = [0; 2];
        for k in 0..400 {
            let next = shift + any(0.1 * range);
            shift = if next.norm() < range { next } else { next * 0.5 };
            turn = 0.95 * turn + any(1e-5);
            let pose = Pose::new(V3::from(at) + shift, turn);
            tracker.update(&Pose::identity(), &pose, bound(1e-4, 0.2 * range)).unwrap();
            let mut fresh = ContactPair::new(a.clone(), b.clone());
            fresh.query(&Pose::identity(), &pose, &QueryOptions::within(0.05)).unwrap();
            let tol = fresh.tolerances().tol;
            let expected = fresh.status().unwrap();
            let is_near_zero = fresh.min_distance().is_some_and(|d| d.abs() < 4.0 * tol);
            let is_right = match tracker.status() {
                TrackedStatus::Separated => expected == Status::Separated,
                TrackedStatus::Touching => expected == Status::Touching || is_near_zero,
                TrackedStatus::Pressed(depth) => expected == Status::Interfering || depth < 4.0 * tol,
                TrackedStatus::Deep(_) | TrackedStatus::Interfering => false,
            };
            assert!(is_right || is_near_zero, "{k}: {:?} {expected:?} {pose}", tracker.status());
            let on_demand = tracker.verdict().map(|verdict| verdict.status);
            assert!(on_demand == Some(expected) || is_near_zero, "{k}: {on_demand:?} {expected:?}");
            seen[usize::from(expected == Status::Interfering)] += 1;
        }
        assert!(seen.iter().all(|n| *n > 20), "{at:?} {seen:?}");
        // The tracker passed through contact without verdicts after the first one.
        assert!(tracker.counts().decisions <= 1, "{:?}", tracker.counts());
    }
}

/// Bodies that are very far apart are separated, also on demand.
#[test]
fn far_bodies_have_a_verdict() {
    let (mut tracker, height) = boxes();
    tracker.update(&Pose::identity(), &Pose::translation(0.0, 0.0, 1e12), bound(1e-3, 0.01)).unwrap();
    assert_eq!(tracker.status(), TrackedStatus::Separated);
    assert_eq!(tracker.verdict().map(|verdict| verdict.status), Some(Status::Separated));
    tracker.update(&Pose::identity(), &Pose::translation(0.0, 0.0, height), bound(1e-3, 0.01)).unwrap();
    assert_eq!(tracker.verdict().map(|verdict| verdict.status), Some(Status::Touching));
}

/// The pin of 19.9 mm in the blind bore of 20 mm, whose bottom it touches at z = 20.
fn pin_in_bore() -> ContactTracker {
    ContactTracker::new(model("blind-bore").body, model("pin").body, TrackerOptions::default())
}

fn at_height(z: f64) -> Pose {
    Pose::translation(0.0, 0.0, 20.0 + z)
}

/// Predicted gaps continue the motion of the last step and its acceleration.
#[test]
fn predicted_gaps_continue_the_motion() {
    let mut tracker = pin_in_bore();
    let mut prediction = GapPrediction::default();
    let heights = [0.45, 0.40, 0.34, 0.27, 0.26];
    // The prediction repeats the last displacement plus its increase; a decrease is not extrapolated.
    let expected = [0.45, 0.35, 0.27, 0.19, 0.25];
    for (k, (z, ahead)) in heights.into_iter().zip(expected).enumerate() {
        tracker.update(&Pose::identity(), &at_height(z), bound(0.0, 0.5)).unwrap();
        let before = [1, 2].map(|n| k.checked_sub(n).map(|k| at_height(heights[k])));
        let gaps = prediction.gaps(&tracker, before.each_ref().map(Option::as_ref), true);
        let bottom: Vec<_> = tracker.contacts().iter().zip(gaps).filter(|(c, _)| c.normal.z > 0.9).collect();
        assert!(!bottom.is_empty(), "{z}");
        for (c, gap) in bottom {
            assert!((c.gap - z).abs() < 1e-9 && (gap - ahead).abs() < 1e-9, "{z}: {gap} {c:?}");
        }
    }
}

/// The pin falls on the bottom, tilted by 1e-3 rad. The set of the step contains the other end of its
/// rim, and the prediction closes that contact, because the first end stops and rotates the pin.
#[test]
fn the_other_end_of_a_tilted_pin_is_predicted_to_close() {
    let (mut tracker, mut prediction) = (pin_in_bore(), GapPrediction::default());
    // The tilt is possible: the clearance is 0.1 mm and 30 mm of the pin are in the bore.
    let tilted = |z: f64| Pose::new(V3::new(0.0, 0.0, 20.0 + z), V3::new(0.0, 1e-3, 0.0));
    let poses = [0.45, 0.25, 0.05].map(tilted);
    for pose in &poses {
        tracker.update(&Pose::identity(), pose, bound(0.02, 0.4)).unwrap();
    }
    let gaps = prediction.gaps(&tracker, [Some(&poses[1]), Some(&poses[0])], true);
    let bottom: Vec<_> = tracker.contacts().iter().zip(gaps).filter(|(c, _)| c.normal.z > 0.9).collect();
    let (near, _) = bottom.iter().min_by(|p, q| p.0.gap.total_cmp(&q.0.gap)).unwrap();
    let far = bottom.iter().filter(|(c, _)| c.local_b.x * near.local_b.x < -50.0);
    let (far, ahead) = far.max_by(|p, q| p.0.gap.total_cmp(&q.0.gap)).unwrap();
    // The far end is higher by the tilt times the diameter.
    let higher = 1e-3 * (far.local_b.x - near.local_b.x).abs();
    assert!((far.gap - near.gap - higher).abs() < 1e-3, "{far:?} {near:?}");
    assert!(**ahead < 0.0, "{ahead} {far:?}");
}

/// Repeating a motion after `clear` gives the same bits.
#[test]
fn a_new_motion_after_clear_has_the_same_bits() {
    let mut tracker = pin_in_bore();
    let runs = [(); 2].map(|()| {
        tracker.clear();
        let gaps = |z: f64| {
            let pose = Pose::new(V3::new(0.01, 0.0, 20.0 + z), V3::new(0.0, 1e-4, 0.0));
            tracker.update(&Pose::identity(), &pose, bound(1e-3, 0.05)).unwrap();
            tracker.contacts().iter().map(|c| c.gap.to_bits()).collect::<Vec<_>>()
        };
        [0.1, 0.06, 0.03, 0.002, -0.001].map(gaps)
    });
    assert_eq!(runs[0], runs[1]);
}

/// Interference without a contact is reported as long as it lasts.
#[test]
fn hidden_interference_is_reported_until_it_ends() {
    let ball = model("sphere").body;
    let mut tracker = ContactTracker::new(ball.clone(), ball, TrackerOptions::default());
    let mut status = |x: f64| {
        tracker.update(&Pose::identity(), &Pose::translation(x, 0.0, 0.0), bound(1e-3, 0.02)).unwrap();
        tracker.status()
    };
    for k in 0..5 {
        assert_eq!(status(0.01 * f64::from(k)), TrackedStatus::Interfering, "{k}");
    }
    assert_eq!(status(20.01), TrackedStatus::Separated);
}

/// The lower border of a cylinder in a bore is a spline near a circle, next to a fillet. A step can press
/// the cylinder there in any direction, so the set must contain samples on the border.
#[test]
fn round_borders_are_sampled_if_they_are_splines() {
    let Some(scene) = scenarios().into_iter().find(|scene| scene.name == "s2") else { return };
    let pose_b = Pose::from_parts(
        V3::new(-0.018393209428577507, 0.05377062468526829, 0.4439660589541603).into(),
        nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(
            0.9953582304064267,
            -0.0001376402274544875,
            9.185194355558455e-5,
            0.09623910733467572,
        )),
    );
    let mut tracker = ContactTracker::new(scene.a.0.clone(), scene.b.0.clone(), TrackerOptions::default());
    tracker.update(&Pose::identity(), &pose_b, bound(2e-3, 0.2)).expect("the set of a step");
    // The border faces the bore at this height in the frame of A.
    let is_on_border = |c: &&Contact| {
        c.kind == ContactKind::Sample
            && matches!(c.feature_b.kind, FeatureKind::Edge)
            && (c.local_a.z - 26.98).abs() < 0.1
    };
    let border = tracker.contacts().iter().filter(is_on_border);
    let directions: Vec<V3> = border.map(|c| c.normal).collect();
    // Normal of the contact that was pressed at the end of a step of the benchmark program `tracking`.
    let pressed = V3::new(0.8446, -0.5354, 0.0);
    let nearest = directions.iter().map(|n| n.dot(&pressed)).fold(-1.0, f64::max);
    assert!(directions.len() >= 3 && nearest > math::cos(0.3), "{} samples, {nearest}", directions.len());
}

/// After motions of up to a tenth of the tolerance, contacts keep their footpoints, and their gaps follow the
/// motion: gaps of strict contacts are those of a fresh tracker up to the motion.
#[test]
fn tiny_motions_move_the_contacts() {
    let mut random = SmallRng::seed_from_u64(61);
    let cases = [
        ("box", "box", [0.3, 0.2, 20.001], 0.0),
        ("box", "box", [0.3, 0.2, 20.001], 1e-4),
        ("socket", "plug", [0.01, 0.02, 3.0], 1e-4),
        ("race", "ball", [13.0, 0.01, 0.0], 1e-2),
        ("blind-bore", "pin", [0.01, 0.02, 20.002], 1e-4),
    ];
    let mut moved = [0; 5];
    for ((a, b, at, turn), moved) in cases.into_iter().zip(&mut moved) {
        let (a, b) = (model(a).body, model(b).body);
        let size = a.size().max(b.size());
        let id = Pose::identity();
        for k in 0..20 {
            let mut any = |size: f64| V3::from_fn(|_, _| random.random_range(-size..=size));
            let start = Pose::new(V3::from(at) + any(5e-4), any(turn));
            // The rotation is about the middle of B, up to the limit.
            let by = Pose::new(any(1e-9 * size), any(0.5e-8));
            let middle = Pose::from(start.translation.vector);
            let end = middle * by * middle.inverse() * start;
            let options = TrackerOptions { reach: 2.0, ..TrackerOptions::default() };
            let mut tracker = ContactTracker::new(a.clone(), b.clone(), options);
            let mut fresh = tracker.clone();
            tracker.update(&id, &start, bound(1e-3, 0.02)).unwrap();
            let before = tracker.contacts().to_vec();
            let mut copy = tracker.clone();
            tracker.update(&id, &end, bound(1e-3, 0.02)).unwrap();
            copy.update(&id, &end, bound(1e-3, 0.02)).unwrap();
            assert_eq!(tracker.contacts(), copy.contacts());
            assert_eq!(tracker.status(), copy.status());
            let same = |x: &Contact, y: &Contact| x.local_a == y.local_a && x.local_b == y.local_b;
            let after = tracker.contacts();
            let is_moved = before.len() == after.len() && before.iter().zip(after).all(|(x, y)| same(x, y));
            *moved += usize::from(is_moved && !before.is_empty());
            fresh.update(&id, &end, bound(1e-3, 0.02)).unwrap();
            let displacement = StepBound::of_motion([&*a, &*b], &start, &end).displacement;
            let (found, expected) = (tracker.min_distance(), fresh.min_distance());
            assert_eq!(found.is_some(), expected.is_some(), "{at:?} {k}");
            let off = found.zip(expected).map_or(0.0, |(found, expected)| (found - expected).abs());
            assert!(off <= displacement, "{at:?} {k}: {found:?} {expected:?}");
            for c in fresh.contacts().iter().filter(|c| c.kind.is_minimum()) {
                let near = |x: &&Contact| {
                    (x.gap - c.gap).abs() <= displacement && (x.local_a - c.local_a).norm() < 1e-3 * size
                };
                let found = after.iter().filter(near).any(|x| x.normal.dot(&c.normal) > 0.999);
                assert!(found, "{at:?} {k}: {c:?}");
            }
        }
    }
    assert!(moved.iter().all(|n| *n > 5), "{moved:?}");
}

/// The status and the verdict of moved contacts are those of their pose, and the next search continues
/// their identities.
#[test]
fn moved_contacts_have_the_status_of_their_pose() {
    let (mut tracker, height) = boxes();
    let id = Pose::identity();
    let at = |z: f64| Pose::new(V3::new(0.3, 0.2, height + z), V3::new(0.0, 0.0, 0.1));
    let mut update = |z: f64| {
        tracker.update(&id, &at(z), bound(1e-3, 0.02)).unwrap();
        let status = tracker.status();
        let ids: Vec<u64> = tracker.contacts().iter().map(|c| c.id).collect();
        (status, tracker.verdict().map(|verdict| verdict.status), ids)
    };
    // Slightly above and below the tolerance.
    let mut pair = ContactPair::new(model("box").body, model("box").body);
    pair.query(&id, &at(0.0), &QueryOptions::within(0.05)).unwrap();
    let tol = pair.tolerances().tol;
    let (above, below) = (1.03 * tol, 0.97 * tol);
    let (status, verdict, ids) = update(above);
    assert_eq!((status, verdict), (TrackedStatus::Separated, Some(Status::Separated)));
    let (status, verdict, moved) = update(below);
    assert_eq!((status, verdict, &moved), (TrackedStatus::Touching, Some(Status::Touching), &ids));
    let (status, verdict, moved) = update(above);
    assert_eq!((status, verdict, &moved), (TrackedStatus::Separated, Some(Status::Separated), &ids));
    let (status, _, searched) = update(1e-3);
    assert_eq!((status, &searched), (TrackedStatus::Separated, &ids));
}

/// With a bound of zero, the contacts are the minima at each pose, which are always searched.
#[test]
fn without_a_bound_contacts_are_searched() {
    let (a, b) = (model("race").body, model("ball").body);
    let options = TrackerOptions { reach: 2.0, ..TrackerOptions::default() };
    let mut tracker = ContactTracker::new(a, b, options);
    let id = Pose::identity();
    let mut update = |y: f64| {
        tracker.update(&id, &Pose::translation(13.0, y, 0.0), StepBound::default()).unwrap();
        tracker.contacts().iter().map(|c| c.local_b).collect::<Vec<_>>()
    };
    assert_ne!(update(0.01), update(0.01 + 1e-7));
}

/// Contacts that continue without a search suffice like those of a new tracker at each pose of random walks:
/// each minimum that the step can close has its gap, and each contact is implied, up to the accepted error of
/// gaps, by one that continues.
#[test]
fn contacts_that_continue_suffice_like_those_of_a_search() {
    let mut random = SmallRng::seed_from_u64(62);
    let (rotation, displacement) = (1e-3, 0.02);
    let cases = [
        ("box", "box", [0.3, 0.2, 20.001]),
        ("socket", "plug", [0.01, 0.02, 3.0]),
        ("race", "ball", [13.0, 0.01, 0.0]),
        ("blind-bore", "pin", [0.01, 0.02, 20.002]),
        ("bayonet-socket", "bayonet-plug", [0.0, 0.0, 0.0]),
    ];
    let mut compared = 0;
    for (a, b, at) in cases {
        let (a, b) = (model(a).body, model(b).body);
        let size = a.size().max(b.size());
        let id = Pose::identity();
        let options = TrackerOptions { reach: displacement, ..TrackerOptions::default() };
        for step in [1e-6, 1e-5, 1e-4, 1e-3] {
            let mut tracker = ContactTracker::new(a.clone(), b.clone(), options);
            let mut pose = Pose::translation(at[0], at[1], at[2]);
            for k in 0..25 {
                let mut any = |size: f64| V3::from_fn(|_, _| random.random_range(-size..=size));
                let middle = Pose::from(pose.translation.vector);
                pose = middle * Pose::new(any(step), any(step / size)) * middle.inverse() * pose;
                tracker.update(&id, &pose, bound(rotation, displacement)).unwrap();
                let mut fresh = ContactTracker::new(a.clone(), b.clone(), options);
                fresh.update(&id, &pose, bound(rotation, displacement)).unwrap();
                let found = tracker.contacts();
                for c in fresh.active() {
                    let is_same = |x: &Contact| {
                        (x.gap - c.gap).abs() <= 1e-9 * size && x.local_normal.dot(&c.local_normal) > 0.999
                    };
                    let is_strict = c.kind == ContactKind::Strict;
                    assert!(!is_strict || found.iter().any(is_same), "{at:?} {step} {k}: {c:?}");
                    // Motions that keep the gaps of the tracker open do not close those of a search.
                    for _ in 0..20 {
                        let spin = any(rotation / 2.0);
                        let shift = any(displacement / 4.0) - spin.cross(&pose.translation.vector);
                        let rate = |x: &Contact| {
                            let [vx, vy, vz, wx, wy, wz] = x.gap_rate;
                            V3::new(vx, vy, vz).dot(&shift) + V3::new(wx, wy, wz).dot(&spin)
                        };
                        let part = |x: &Contact| if rate(x) < 0.0 { x.gap.max(0.0) / -rate(x) } else { 1.0 };
                        let part = found.iter().map(part).fold(1.0, f64::min);
                        let end = c.gap + part * rate(c);
                        let allowed = options.gap_error + rotation * displacement;
                        assert!(end >= c.gap.min(0.0) - allowed, "{at:?} {step} {k}: {end} {c:?}");
                    }
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1_000, "{compared}");
}

/// A regular polygon prism of `sides` sides on a block, flush: motions that keep the linear gaps of the
/// contacts open keep all corners of the polygon open, up to the stated error of gaps.
#[test]
fn many_sided_flush_areas_keep_the_corners_that_a_step_can_close() {
    let ring = |sides: u32, radius: f64, turn: f64| -> Vec<[f64; 2]> {
        let angle = |k: u32| turn + TAU * f64::from(k) / f64::from(sides);
        (0..sides).map(|k| [radius * math::cos(angle(k)), radius * math::sin(angle(k))]).collect()
    };
    let body = |polygon: &[[f64; 2]]| part_of(&prism(polygon, 4.0), DEFAULT_FLATNESS).body;
    let (radius, gap, rotation) = (12.0, 2e-3, 1e-2);
    let block = body(&[[-30.0, -20.0], [30.0, -20.0], [30.0, 20.0], [-30.0, 20.0]]);
    for sides in [12, 24, 48, 96] {
        let corners = ring(sides, radius, 0.1);
        let prism = body(&corners);
        let other = body(&ring(sides, radius, 0.1 + PI / f64::from(sides)));
        // In the frame of the lower body.
        let common: Vec<P3> = corners.iter().map(|[x, y]| P3::new(*x, *y, 4.0)).collect();
        for (a, outline) in [(&block, &common), (&prism, &common), (&other, &Vec::new())] {
            let mut tracker = ContactTracker::new(a.clone(), prism.clone(), TrackerOptions::default());
            let pose = Pose::translation(0.0, 0.0, 4.0 + gap);
            let update = tracker.update(&Pose::identity(), &pose, bound(rotation, 0.2)).unwrap();
            assert!(!update.limited, "{sides}");
            let error = tracker.options().gap_error;
            let numbers = tracker.contacts().len();
            assert!(numbers <= 4 * sides as usize, "{sides}: {numbers}");
            for k in 0..200 {
                let angle = TAU * f64::from(k) / 200.0;
                let axis = V3::new(math::cos(angle), math::sin(angle), 0.0) * rotation;
                let falls = |p: &V3| axis.cross(p).z;
                let lowest = |points: &mut dyn Iterator<Item = f64>| points.fold(f64::INFINITY, f64::min);
                let of_set = lowest(&mut tracker.active().map(|c| {
                    let [.., u, v, w] = c.gap_rate;
                    c.gap + V3::new(u, v, w).dot(&axis)
                }));
                let of_area = lowest(&mut outline.iter().map(|p| gap + falls(&p.coords)));
                assert!(of_set <= of_area + error, "{sides}: {of_set} > {of_area} at {angle}");
            }
        }
    }
}

/// Outlines with notches and teeth, whose reflex corners are found before the corners of the hull, keep the
/// corners that a step can close, for any bound of the rotation.
#[test]
fn serrated_flush_areas_keep_the_corners_of_their_hull() {
    let body = |polygon: &[[f64; 2]]| part_of(&prism(polygon, 4.0), DEFAULT_FLATNESS).body;
    let block = body(&[[-30.0, -20.0], [30.0, -20.0], [30.0, 20.0], [-30.0, 20.0]]);
    let gap = 2e-3;
    for (teeth, depth) in [(24, 0.2), (36, 0.1), (48, 0.05), (36, 0.02)] {
        let corners: Vec<[f64; 2]> = (0..2 * teeth)
            .map(|k| {
                let (angle, radius) =
                    (0.1 + PI * f64::from(k) / f64::from(teeth), 12.0 - depth * f64::from(k % 2));
                [radius * math::cos(angle), radius * math::sin(angle)]
            })
            .collect();
        let prism = body(&corners);
        for rotation in [1e-3, 0.01, 0.02, 0.2] {
            let mut tracker = ContactTracker::new(block.clone(), prism.clone(), TrackerOptions::default());
            let pose = Pose::translation(0.0, 0.0, 4.0 + gap);
            tracker.update(&Pose::identity(), &pose, bound(rotation, 0.2)).unwrap();
            let error = tracker.options().gap_error;
            for k in 0..100 {
                let angle = TAU * f64::from(k) / 100.0;
                let axis = V3::new(math::cos(angle), math::sin(angle), 0.0) * rotation;
                let lowest = |points: &mut dyn Iterator<Item = f64>| points.fold(f64::INFINITY, f64::min);
                let of_set = lowest(&mut tracker.active().map(|c| {
                    let [.., u, v, w] = c.gap_rate;
                    c.gap + V3::new(u, v, w).dot(&axis)
                }));
                let of_area =
                    lowest(&mut corners.iter().map(|[x, y]| gap + axis.cross(&V3::new(*x, *y, 4.0)).z));
                assert!(of_set <= of_area + error, "{teeth} {depth} {rotation}: {of_set} > {of_area}");
            }
        }
    }
}
