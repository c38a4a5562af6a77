//! The C interface, called as from C: results, NULL, wrong sizes, damaged bytes, and freeing of handles.
#![allow(
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    reason = "calls the C interface as C does"
)]

use feeler_c::*;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

fn data(name: &str) -> CString {
    CString::new(format!("{}/../../data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn error() -> String {
    unsafe { CStr::from_ptr(feeler_last_error()) }.to_str().unwrap().to_owned()
}

fn ok(result: FeelerResult) {
    assert_eq!(result, FeelerResult::Ok, "{}", error());
}

fn model(name: &str) -> *mut FeelerModel {
    let mut model = null_mut();
    ok(unsafe { feeler_prepare_step(data(name).as_ptr(), &raw mut model) });
    model
}

fn body(name: &str) -> *mut FeelerBody {
    let (model, mut body) = (model(name), null_mut());
    unsafe {
        ok(feeler_body_new(model, 0, &raw mut body));
        feeler_model_free(model);
    }
    body
}

fn moved(x: f64, y: f64, z: f64) -> FeelerPose {
    FeelerPose { translation: [x, y, z], rotation: [0.0, 0.0, 0.0, 1.0] }
}

fn options(d_max: f64) -> FeelerQueryOptions {
    let mut options = std::mem::MaybeUninit::uninit();
    unsafe {
        feeler_query_options_init(options.as_mut_ptr());
        FeelerQueryOptions { d_max, ..options.assume_init() }
    }
}

/// Two balls of radius 10 whose centres are 19 mm apart, and two separated ones.
#[test]
fn overlap_of_two_balls_is_a_lens() {
    let ball = body("sphere.step");
    let mut pair = null_mut();
    unsafe {
        ok(feeler_contact_pair_new(ball, ball, &raw mut pair));
        let mut overlap: FeelerOverlap = std::mem::zeroed();
        overlap.struct_size = size_of::<FeelerOverlap>() as u32;
        let mut has_overlap = false;
        let near = moved(19.0, 0.0, 0.0);
        ok(feeler_contact_pair_overlap(pair, null(), &near, null(), &raw mut has_overlap, &raw mut overlap));
        // Two caps of height 0.5.
        let lens = 2.0 * std::f64::consts::PI * 0.25 * (30.0 - 0.5) / 3.0;
        assert!(has_overlap && (overlap.volume - lens).abs() <= 1e-9 && overlap.error <= 1e-6 * lens);
        assert_eq!(overlap.method, FeelerOverlapMethod::Faces);
        let rim = (100.0_f64 - 9.5 * 9.5).sqrt();
        let expected = [
            (overlap.centroid, [9.5, 0.0, 0.0]),
            (overlap.bbox_min, [9.0, -rim, -rim]),
            (overlap.bbox_max, [10.0, rim, rim]),
        ];
        for (found, exact) in expected {
            let is_near = found.iter().zip(exact).all(|(x, y)| (x - y).abs() <= 1e-7);
            assert!(is_near, "{found:?}, exact {exact:?}");
        }
        let far = moved(21.0, 0.0, 0.0);
        ok(feeler_contact_pair_overlap(pair, null(), &far, null(), &raw mut has_overlap, null_mut()));
        assert!(!has_overlap);
        let result =
            feeler_contact_pair_overlap(pair, null(), &near, null(), &raw mut has_overlap, null_mut());
        assert_eq!(result, FeelerResult::Argument, "{}", error());
        feeler_contact_pair_free(pair);
        feeler_body_free(ball);
    }
}

#[test]
fn queries_verdicts_and_facts() {
    let ball = body("sphere.step");
    let (mut pair, mut count) = (null_mut(), 0);
    let mut contacts = [FeelerContact::default(); 4];
    unsafe {
        ok(feeler_contact_pair_new(ball, ball, &raw mut pair));
        let place = moved(22.5, 0.0, 0.0);
        let wide = options(5.0);
        ok(feeler_contact_pair_query(pair, null(), &place, &wide, contacts.as_mut_ptr(), 4, &raw mut count));
        assert_eq!(count, 1);
        assert!((contacts[0].distance - 2.5).abs() < 1e-12);
        assert_eq!(contacts[0].normal, [1.0, 0.0, 0.0]);
        // The number is written even if `out` has no space.
        ok(feeler_contact_pair_query(pair, null(), &place, &wide, null_mut(), 0, &raw mut count));
        assert_eq!(count, 1);
        ok(feeler_contact_pair_contacts(pair, contacts.as_mut_ptr(), 4, &raw mut count));
        assert_eq!((count, contacts[0].age), (1, 1));
        let mut verdict: FeelerVerdict = std::mem::zeroed();
        verdict.struct_size = size_of::<FeelerVerdict>() as u32;
        ok(feeler_contact_pair_verdict(pair, &raw mut verdict));
        assert_eq!(verdict.status, FeelerStatus::Separated);
        ok(feeler_contact_pair_query(pair, null(), null(), null(), null_mut(), 0, &raw mut count));
        ok(feeler_contact_pair_verdict(pair, &raw mut verdict));
        assert_eq!(verdict.status, FeelerStatus::Interfering);
        assert!(verdict.inside_a > 9.0 && verdict.inside_b > 9.0);
        // Pressed by 0.01 mm: the contact explains the interference, so the verdict is computed on demand.
        let pressed = FeelerQueryOptions { penetration: 0.05, verdict_unless_pressed: 1, ..options(0.1) };
        let place = moved(19.99, 0.0, 0.0);
        ok(feeler_contact_pair_query(
            pair,
            null(),
            &place,
            &pressed,
            contacts.as_mut_ptr(),
            4,
            &raw mut count,
        ));
        assert!(count == 1 && (contacts[0].distance + 0.01).abs() < 1e-12);
        ok(feeler_contact_pair_verdict(pair, &raw mut verdict));
        assert_eq!(verdict.status, FeelerStatus::Unknown);
        ok(feeler_contact_pair_decide(pair, &raw mut verdict));
        assert_eq!(verdict.status, FeelerStatus::Interfering);
        ok(feeler_contact_pair_forget(pair));
        let place = moved(22.5, 0.0, 0.0);
        let mut info =
            FeelerBodyInfo { struct_size: size_of::<FeelerBodyInfo>() as u32, ..FeelerBodyInfo::default() };
        ok(feeler_body_info(ball, &raw mut info));
        let volume = 4.0 / 3.0 * std::f64::consts::PI * 1000.0;
        assert!(info.has_mass == 1 && (info.volume - volume).abs() < 1e-9);
        assert!((info.inertia[0] - 0.4 * volume * 100.0).abs() < 1e-6);
        // A caller whose header has the first two members only.
        let mut old = FeelerBodyInfo { struct_size: 8, volume: -1.0, ..FeelerBodyInfo::default() };
        ok(feeler_body_info(ball, &raw mut old));
        assert!(old.has_mass == 1 && old.volume == -1.0 && old.struct_size == 8);
        // A caller with fewer options gets the defaults for the others.
        let older = FeelerQueryOptions { struct_size: 24, ..options(0.5) };
        ok(feeler_contact_pair_query(pair, null(), &place, &older, null_mut(), 0, &raw mut count));
        assert_eq!(count, 0, "d_max is among the first 24 bytes");
        feeler_body_free(ball);
        ok(feeler_contact_pair_query(pair, null(), &place, &wide, null_mut(), 0, &raw mut count));
        feeler_contact_pair_free(pair);
    }
}

fn bound(rotation: f64, displacement: f64) -> FeelerStepBound {
    FeelerStepBound { rotation, displacement }
}

fn tracker_options() -> FeelerTrackerOptions {
    let mut options = std::mem::MaybeUninit::uninit();
    unsafe {
        feeler_tracker_options_init(options.as_mut_ptr());
        options.assume_init()
    }
}

/// Poses of the bore and of the pin in it. Both are rotated and translated, so that own coordinates of
/// the bore differ from world coordinates.
fn bore_and_pin(x: f64, z: f64) -> [FeelerPose; 2] {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    [[0.0; 3], [x, 0.0, z]]
        .map(|p| FeelerPose { translation: [p[0] + 5.0, 7.0 - p[2], p[1]], rotation: [half, 0.0, 0.0, half] })
}

/// A tracker with methods that return results.
struct Tracker(*mut FeelerContactTracker);

impl Tracker {
    fn new(a: *const FeelerBody, b: *const FeelerBody, options: &FeelerTrackerOptions) -> Self {
        let mut tracker = null_mut();
        ok(unsafe { feeler_contact_tracker_new(a, b, options, &raw mut tracker) });
        Self(tracker)
    }

    fn try_update(&self, poses: [&FeelerPose; 2], bound: FeelerStepBound) -> FeelerResult {
        unsafe { feeler_contact_tracker_update(self.0, poses[0], poses[1], &raw const bound, null_mut()) }
    }

    fn update(&self, [a, b]: &[FeelerPose; 2], bound: FeelerStepBound) -> Vec<FeelerContact> {
        ok(self.try_update([a, b], bound));
        self.contacts()
    }

    fn contacts(&self) -> Vec<FeelerContact> {
        let mut count = 0;
        ok(unsafe { feeler_contact_tracker_contacts(self.0, null_mut(), 0, &raw mut count) });
        let mut all = vec![FeelerContact::default(); count];
        ok(unsafe { feeler_contact_tracker_contacts(self.0, all.as_mut_ptr(), count, &raw mut count) });
        assert_eq!(all.len(), count, "both calls return the same number");
        all
    }

    fn status(&self) -> (FeelerTrackedStatus, f64) {
        let (mut status, mut depth) = (FeelerTrackedStatus::Unknown, f64::NAN);
        ok(unsafe { feeler_contact_tracker_status(self.0, &raw mut status, &raw mut depth) });
        (status, depth)
    }

    fn verdict(&self) -> FeelerVerdict {
        unsafe {
            let mut verdict: FeelerVerdict = std::mem::zeroed();
            verdict.struct_size = size_of::<FeelerVerdict>() as u32;
            ok(feeler_contact_tracker_verdict(self.0, &raw mut verdict));
            verdict
        }
    }

    fn counts(&self) -> FeelerTrackerCounts {
        let mut counts = FeelerTrackerCounts {
            struct_size: size_of::<FeelerTrackerCounts>() as u32,
            ..FeelerTrackerCounts::default()
        };
        ok(unsafe { feeler_contact_tracker_counts(self.0, &raw mut counts) });
        counts
    }

    fn gap_hessians(&self, expected: usize) -> Vec<[f64; 36]> {
        let mut hessians = vec![[0.0; 36]; expected];
        let mut count = 0;
        ok(unsafe {
            feeler_contact_tracker_gap_hessians(self.0, hessians.as_mut_ptr(), expected, &raw mut count)
        });
        assert_eq!(count, expected, "one for each contact");
        hessians
    }

    /// Predicted gaps, given poses of B in A's frame.
    fn predicted_gaps(&self, before: [Option<&FeelerPose>; 2], expected: usize) -> Vec<f64> {
        let (mut gaps, mut count) = (vec![0.0; expected], 0);
        let [one, two] = before.map(|pose| pose.map_or(null(), std::ptr::from_ref));
        let out = gaps.as_mut_ptr();
        ok(unsafe {
            feeler_contact_tracker_predicted_gaps(self.0, one, two, true, out, expected, &raw mut count)
        });
        assert_eq!(count, expected, "one for each contact");
        gaps
    }

    fn covers(&self, [a, b]: &[FeelerPose; 2]) -> bool {
        let mut covers = false;
        ok(unsafe { feeler_contact_tracker_covers(self.0, a, b, &raw mut covers) });
        covers
    }

    fn motion_to(&self, [a, b]: &[FeelerPose; 2]) -> FeelerStepBound {
        let mut motion = FeelerStepBound::default();
        ok(unsafe { feeler_contact_tracker_motion_to(self.0, a, b, &raw mut motion) });
        motion
    }

    fn expected(&self, [a, b]: &[FeelerPose; 2], forced: f64, max: f64) -> FeelerStepBound {
        let mut bound = FeelerStepBound::default();
        ok(unsafe { feeler_contact_tracker_expected_bound(self.0, a, b, forced, max, &raw mut bound) });
        bound
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        unsafe { feeler_contact_tracker_free(self.0) };
    }
}

fn is_minimum(c: &FeelerContact) -> bool {
    matches!(c.kind, FeelerContactKind::Strict | FeelerContactKind::Conformal)
}

fn ids(contacts: &[FeelerContact]) -> Vec<u64> {
    contacts.iter().map(|c| c.id).collect()
}

/// A pin in its bore over several steps: ids persist, and the members of a record agree with one another.
#[test]
fn tracked_contacts() {
    let (bore, pin) = (body("blind-bore.step"), body("pin.step"));
    let tracker = Tracker::new(bore, pin, &FeelerTrackerOptions { reach: 0.5, ..tracker_options() });
    unsafe {
        feeler_body_free(bore);
        feeler_body_free(pin);
    }
    assert_eq!(tracker.status(), (FeelerTrackedStatus::Unknown, 0.0));
    assert_eq!(tracker.verdict().status, FeelerStatus::Unknown);
    let (x, z) = (0.03, 20.01);
    let poses = bore_and_pin(x, z);
    assert!(!tracker.covers(&poses) && tracker.motion_to(&poses).displacement.is_infinite());
    let step = bound(1e-4, 0.015);
    let contacts = tracker.update(&poses, step);
    let first = ids(&contacts);
    assert!(first.is_sorted() && !first.is_empty(), "{first:?}");
    let [a, b] = poses.map(|pose| pose.read().unwrap());
    let ab = a.inv_mul(&b);
    for (c, hessian) in contacts.iter().zip(tracker.gap_hessians(contacts.len())) {
        let near = |p: [f64; 3], q: feeler::P3| (feeler::P3::from(p) - q).norm() < 1e-9;
        let (local_a, local_b) = (feeler::P3::from(c.local_a), feeler::P3::from(c.local_b));
        assert!(near(c.point_a, a * local_a) && near(c.point_b, b * local_b), "{c:?}");
        let (normal, local) = (feeler::V3::from(c.normal), feeler::V3::from(c.local_normal));
        assert!((normal - a.transform_vector(&local)).norm() < 1e-12 && c.gap > 0.0, "{c:?}");
        assert_eq!(c.is_active != 0, c.gap <= step.displacement, "{c:?}");
        assert!(c.curvature_a.iter().chain(&c.curvature_b).all(|k| !k.is_nan()), "{c:?}");
        // The derivative with respect to a twist at the bore's origin, compared with a difference.
        let (shift, spin) = (feeler::V3::new(0.3, -0.5, 0.7), feeler::V3::new(-0.2, 0.9, 0.4));
        let moved = |s: f64| feeler::Pose::new(shift * s, spin * s) * (ab * local_b);
        let difference = (moved(1e-6) - moved(-1e-6)).dot(&local) / 2e-6;
        let twist = [shift.x, shift.y, shift.z, spin.x, spin.y, spin.z];
        let rate: f64 = c.gap_rate.iter().zip(twist).map(|(r, t)| r * t).sum();
        assert!((rate - difference).abs() < 1e-7, "{rate} {difference}");
        let symmetric =
            (0..6).all(|i| (0..i).all(|k| (hessian[6 * i + k] - hessian[6 * k + i]).abs() < 1e-9));
        assert!(symmetric || hessian.iter().all(|value| value.is_nan()), "{hessian:?}");
        if is_minimum(c) {
            let between = feeler::P3::from(c.point_b) - feeler::P3::from(c.point_a);
            assert!((between - normal * c.gap).norm() < 1e-9, "{c:?}");
            // The bottom, or the wall: pushed up, or inwards.
            assert!(local.z > 0.999 && (c.gap - 0.01).abs() < 1e-9 || local.z.abs() < 1e-9, "{c:?}");
        }
    }
    // A pin that comes down by 4 µm a step, after 3.5 µm in the last case.
    let higher =
        |dz: f64| FeelerPose::from(&(feeler::Pose::new(feeler::V3::z() * dz, feeler::V3::zeros()) * ab));
    let (one, two) = (higher(0.004), higher(0.0075));
    let steps = [(None, None, 0.0), (Some(&one), None, 0.004), (Some(&one), Some(&two), 0.0045)];
    for (one, two, closed) in steps {
        for (c, gap) in contacts.iter().zip(tracker.predicted_gaps([one, two], contacts.len())) {
            let expected = c.gap - closed * c.local_normal[2].max(0.0);
            assert!((gap - expected).abs() < 1e-9, "{gap} instead of {expected} of {c:?}");
        }
    }
    // The bore's wall bends towards the pin, by its radius.
    let is_wall =
        |c: &&FeelerContact| is_minimum(c) && c.feature_a.kind == 0 && c.local_normal[2].abs() < 1e-9;
    let wall = contacts.iter().find(is_wall).unwrap();
    assert!((wall.gap - 0.02).abs() < 1e-9 && (wall.curvature_a[0] + 0.1).abs() < 1e-9, "{wall:?}");
    // The next step has the same ids. Then a depth of 2 µm, which the set of the second step covers.
    let contacts = tracker.update(&bore_and_pin(x, z - 0.001), step);
    assert_eq!(ids(&contacts), first);
    let pressed = bore_and_pin(x, z - 0.012);
    let motion = tracker.motion_to(&pressed);
    assert!(motion.rotation < 1e-12 && (motion.displacement - 0.011).abs() < 1e-9, "{motion:?}");
    assert!(tracker.covers(&pressed) && !tracker.covers(&bore_and_pin(x, z + 0.1)));
    let expected = tracker.expected(&pressed, 0.001, 0.5);
    assert!((expected.displacement - 0.023).abs() < 1e-9 && expected.rotation > 0.0, "{expected:?}");
    assert_eq!(tracker.expected(&pressed, 0.001, 0.01).displacement, 0.01);
    let contacts = tracker.update(&pressed, step);
    let deepest = contacts.iter().map(|c| c.gap).fold(0.0, f64::min);
    assert!((deepest + 0.002).abs() < 1e-9, "{deepest}");
    let (status, depth) = tracker.status();
    assert!(status == FeelerTrackedStatus::Pressed && (depth - 0.002).abs() < 1e-9, "{status:?} {depth}");
    let verdict = tracker.verdict();
    assert!(verdict.status == FeelerStatus::Interfering && (verdict.min_distance + 0.002).abs() < 1e-9);
    // A copy has the same contacts and continues alone.
    let copy = unsafe {
        let mut copy = null_mut();
        ok(feeler_contact_tracker_clone(tracker.0, &raw mut copy));
        Tracker(copy)
    };
    assert_eq!(copy.contacts(), contacts);
    let next = bore_and_pin(x, z - 0.011);
    assert_eq!(copy.update(&next, step), tracker.update(&next, step));
    // The number is written even if `out` has no space.
    let (mut again, mut total) = ([FeelerContact::default(); 2], 0);
    ok(unsafe { feeler_contact_tracker_contacts(tracker.0, again.as_mut_ptr(), 1, &raw mut total) });
    assert!(total > 1 && again[0].id == tracker.contacts()[0].id && again[1].id == 0);
    // A motion beyond the bound is counted, a jump is reported.
    tracker.update(&bore_and_pin(x, z + 0.1), step);
    let mut report =
        FeelerUpdate { struct_size: size_of::<FeelerUpdate>() as u32, ..FeelerUpdate::default() };
    let [a, b] = bore_and_pin(x, z + 10.0);
    ok(unsafe { feeler_contact_tracker_update(tracker.0, &a, &b, &step, &raw mut report) });
    assert!(report.jumped == 1 && report.decided == 1 && report.dropped == 0, "{report:?}");
    let counts = tracker.counts();
    assert_eq!((counts.updates, counts.jumps, counts.uncovered), (6, 2, 1), "{counts:?}");
    assert_eq!(tracker.status(), (FeelerTrackedStatus::Separated, 0.0));
    ok(unsafe { feeler_contact_tracker_clear(tracker.0) });
    assert!(tracker.contacts().is_empty());
    let contacts = tracker.update(&bore_and_pin(x, z), step);
    assert!(contacts.iter().all(|c| !first.contains(&c.id)), "ids are never reused");
}

/// A scene returns the contacts of a tracker of each near pair, step after step.
#[test]
fn scenes_track_near_pairs() {
    let (bore, pin) = (body("blind-bore.step"), body("pin.step"));
    let options = FeelerTrackerOptions { reach: 0.5, ..tracker_options() };
    let tracker = Tracker::new(bore, pin, &options);
    let (mut scene, mut ids, mut count) = (null_mut(), [0_u32; 3], 0);
    let far = FeelerPose { translation: [500.0, 0.0, 0.0], rotation: [0.0, 0.0, 0.0, 1.0] };
    let [a, b] = bore_and_pin(0.03, 20.01);
    unsafe {
        ok(feeler_scene_new(null(), &raw mut scene));
        for (body, pose, id) in [(bore, &a, 0), (pin, &b, 1), (pin, &far, 2)] {
            ok(feeler_scene_add(scene, body, pose, &raw mut ids[id]));
        }
        feeler_body_free(bore);
        feeler_body_free(pin);
    }
    let step = bound(1.0 / 8192.0, 1.0 / 64.0);
    for z in [20.01, 20.009, 19.998] {
        let poses = bore_and_pin(0.03, z);
        let expected = tracker.update(&poses, step);
        let mut pair = unsafe { std::mem::zeroed::<FeelerTrackedPair>() };
        let mut contacts = vec![FeelerContact::default(); expected.len()];
        let mut covers = [false; 2];
        unsafe {
            ok(feeler_scene_set_poses(scene, ids.as_ptr(), poses.as_ptr(), 2));
            // The bore is not listed: it does not move.
            ok(feeler_scene_track(scene, &raw const options, &raw const ids[1], &raw const step, 1));
            ok(feeler_scene_tracked_pairs(scene, &raw mut pair, 1, &raw mut count));
            assert_eq!(count, 1, "the pin far away is not near");
            ok(feeler_scene_tracked_contacts(scene, contacts.as_mut_ptr(), expected.len(), &raw mut count));
            ok(feeler_scene_covers(scene, &raw mut covers[0]));
            ok(feeler_scene_set_poses(scene, &raw const ids[1], &raw const far, 1));
            ok(feeler_scene_covers(scene, &raw mut covers[1]));
        }
        assert_eq!((pair.bodies, pair.parts, pair.bound), ([ids[0], ids[1]], [0, 0], step), "{z}");
        assert_eq!(covers, [true, false]);
        assert_eq!((count, pair.first_contact, pair.contact_count), (expected.len(), 0, count as u64));
        let (status, depth) = tracker.status();
        assert!(pair.status == status && (pair.depth - depth).abs() < 1e-12, "{pair:?}");
        for (c, e) in contacts.iter().zip(&expected) {
            let feature = |f: &FeelerFeatureRef| (f.kind, f.index);
            assert_eq!(feature(&c.feature_a), feature(&e.feature_a));
            assert_eq!(feature(&c.feature_b), feature(&e.feature_b));
            assert_eq!(c.is_active, e.is_active);
            let off = |p: [f64; 3], q: [f64; 3]| (feeler::P3::from(p) - feeler::P3::from(q)).norm();
            let points = off(c.point_a, e.point_a).max(off(c.point_b, e.point_b));
            assert!(points.max(off(c.normal, e.normal)) < 1e-9 && (c.gap - e.gap).abs() < 1e-12, "{c:?}");
        }
    }
    let mut counts = FeelerTrackerCounts {
        struct_size: size_of::<FeelerTrackerCounts>() as u32,
        ..FeelerTrackerCounts::default()
    };
    unsafe {
        ok(feeler_scene_tracker_counts(scene, &raw mut counts));
        assert_eq!((counts.updates, counts.jumps), (3, 1), "{counts:?}");
        let unknown = feeler_scene_track(scene, null(), &99, &raw const step, 1);
        assert_eq!(unknown, FeelerResult::Scene);
        assert_eq!(feeler_scene_track(scene, null(), null(), null(), 1), FeelerResult::Argument);
        let endless = FeelerTrackerOptions { reach: f64::INFINITY, ..options };
        assert_eq!(feeler_scene_track(scene, &raw const endless, null(), null(), 0), FeelerResult::Query);
        let backwards = bound(0.0, -1.0);
        ok(feeler_scene_set_poses(scene, &raw const ids[1], &raw const b, 1));
        assert_eq!(
            feeler_scene_track(scene, &raw const options, &raw const ids[1], &raw const backwards, 1),
            FeelerResult::Query
        );
        ok(feeler_scene_tracked_pairs(scene, null_mut(), 0, &raw mut count));
        assert_eq!(count, 0, "a pair that failed is left out");
        assert_eq!(feeler_scene_tracked_pairs(null(), null_mut(), 0, &raw mut count), FeelerResult::Argument);
        feeler_scene_free(scene);
    }
}

/// The limit of contacts keeps those with the smallest gaps.
#[test]
fn trackers_drop_the_farthest_contacts() {
    let block = body("box.step");
    let few = FeelerTrackerOptions { max_contacts: 2, ..tracker_options() };
    let tracker = Tracker::new(block, block, &few);
    let (step, pose) = (bound(1e-3, 0.05), moved(1.0, 2.0, 20.01));
    let mut report =
        FeelerUpdate { struct_size: size_of::<FeelerUpdate>() as u32, ..FeelerUpdate::default() };
    ok(unsafe { feeler_contact_tracker_update(tracker.0, null(), &pose, &step, &raw mut report) });
    assert!(tracker.contacts().len() == 2 && report.dropped > 0, "{report:?}");
    assert_eq!(tracker.counts().dropped, report.dropped);
    // A negative gap is never dropped.
    let contacts = tracker.update(&[moved(0.0, 0.0, 0.0), moved(1.0, 2.0, 19.99)], step);
    assert!(contacts.len() >= 4 && contacts.iter().all(|c| c.gap < 0.0), "{contacts:?}");
    unsafe { feeler_body_free(block) };
}

#[test]
fn trackers_refuse_invalid_values() {
    let ball = body("sphere.step");
    let tracker = Tracker::new(ball, ball, &tracker_options());
    let (here, near, nan) = (moved(0.0, 0.0, 0.0), moved(20.01, 0.0, 0.0), f64::NAN);
    let step = bound(1e-3, 0.02);
    let bad = |b: &FeelerPose, step: FeelerStepBound| {
        assert_eq!(tracker.update(&[here, near], bound(1e-3, 0.02)).len(), 1);
        let result = tracker.try_update([&here, b], step);
        assert!(tracker.contacts().is_empty(), "after an error there are no contacts");
        assert_eq!(tracker.status().0, FeelerTrackedStatus::Unknown);
        result
    };
    for step in [bound(nan, 0.02), bound(1e-3, -1.0), bound(1e-3, f64::INFINITY)] {
        assert_eq!(bad(&near, step), FeelerResult::Query);
        assert!(error().contains("bound of the step"), "{}", error());
    }
    assert_eq!(bad(&moved(nan, 0.0, 0.0), step), FeelerResult::Query);
    assert!(error().contains("pose_b"), "{}", error());
    unsafe {
        let mut out = null_mut();
        for (name, options) in [
            ("reach", FeelerTrackerOptions { reach: nan, ..tracker_options() }),
            ("max_depth", FeelerTrackerOptions { max_depth: -1.0, ..tracker_options() }),
            ("max_step", FeelerTrackerOptions { max_step: bound(nan, 1.0), ..tracker_options() }),
            ("gap_error", FeelerTrackerOptions { gap_error: -1e-3, ..tracker_options() }),
            ("dilation", FeelerTrackerOptions { dilation_b: f64::INFINITY, ..tracker_options() }),
        ] {
            assert_eq!(
                feeler_contact_tracker_new(ball, ball, &raw const options, &raw mut out),
                FeelerResult::Query
            );
            assert!(error().contains(name), "{}", error());
        }
        let argument = FeelerResult::Argument;
        let options = FeelerTrackerOptions { struct_size: 2, ..tracker_options() };
        assert_eq!(feeler_contact_tracker_new(ball, ball, &raw const options, &raw mut out), argument);
        assert_eq!(feeler_contact_tracker_new(ball, null(), null(), &raw mut out), argument);
        assert_eq!(feeler_contact_tracker_new(ball, ball, null(), null_mut()), argument);
        assert_eq!(feeler_contact_tracker_update(null_mut(), &here, &near, &step, null_mut()), argument);
        assert_eq!(feeler_contact_tracker_update(tracker.0, &here, &near, null(), null_mut()), argument);
        assert_eq!(feeler_contact_tracker_contacts(tracker.0, null_mut(), 0, null_mut()), argument);
        assert_eq!(feeler_contact_tracker_status(tracker.0, null_mut(), null_mut()), argument);
        assert_eq!(feeler_contact_tracker_covers(tracker.0, &here, &near, null_mut()), argument);
        assert_eq!(feeler_contact_tracker_motion_to(tracker.0, &here, &near, null_mut()), argument);
        assert_eq!(feeler_contact_tracker_counts(null(), null_mut()), argument);
        assert_eq!(feeler_contact_tracker_clone(null(), &raw mut out), argument);
        assert_eq!(feeler_contact_tracker_clear(null_mut()), argument);
        feeler_contact_tracker_free(null_mut());
        // Interference deeper than any contact.
        let deep = Tracker::new(ball, ball, &tracker_options());
        assert!(deep.update(&[here, here], step).iter().all(|c| c.gap >= 0.0));
        assert_eq!(deep.status().0, FeelerTrackedStatus::Interfering);
        assert_eq!(deep.verdict().status, FeelerStatus::Interfering);
        feeler_body_free(ball);
    }
}

/// A steel ball, compared with the formulas; invalid densities.
#[test]
fn masses() {
    let ball = body("sphere.step");
    unsafe {
        let mut mass = FeelerMass { struct_size: size_of::<FeelerMass>() as u32, ..FeelerMass::default() };
        ok(feeler_body_mass(ball, 7850.0, &raw mut mass));
        let kg = 7850e-9 * 4.0 / 3.0 * std::f64::consts::PI * 1000.0;
        assert!((mass.mass - kg).abs() < 1e-12 && (mass.inertia[4] - 0.4 * kg * 100.0).abs() < 1e-10);
        assert!(mass.centroid.iter().all(|c| c.abs() < 1e-9));
        for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(feeler_body_mass(ball, density, &raw mut mass), FeelerResult::Argument);
            assert!(error().contains("density"), "{}", error());
        }
        assert_eq!(feeler_body_mass(null(), 1.0, &raw mut mass), FeelerResult::Argument);
        assert_eq!(feeler_body_mass(ball, 1.0, null_mut()), FeelerResult::Argument);
        mass.struct_size = 1;
        assert_eq!(feeler_body_mass(ball, 1.0, &raw mut mass), FeelerResult::Argument);
        feeler_body_free(ball);
    }
}

#[test]
fn scenes() {
    let (ball, plate) = (body("sphere.step"), body("box.step"));
    let (mut scene, mut ids, mut count) = (null_mut(), [0_u32; 3], 0);
    unsafe {
        ok(feeler_scene_new(&options(1.0), &raw mut scene));
        ok(feeler_scene_add(scene, ball, null(), &raw mut ids[0]));
        ok(feeler_scene_add(scene, ball, &moved(20.5, 0.0, 0.0), &raw mut ids[1]));
        let both: [*const FeelerBody; 2] = [plate, plate];
        let places = [moved(0.0, 0.0, 500.0), moved(0.0, 0.0, 900.0)];
        ok(feeler_scene_add_compound(scene, both.as_ptr(), places.as_ptr(), 2, null(), &raw mut ids[2]));
        ok(feeler_scene_update(scene));
        let mut contacts =
            vec![FeelerSceneContact { bodies: [0; 2], parts: [0; 2], contact: FeelerContact::default() }; 4];
        ok(feeler_scene_contacts(scene, contacts.as_mut_ptr(), 4, &raw mut count));
        assert_eq!(count, 1);
        assert!(contacts[0].bodies == [ids[0], ids[1]] && (contacts[0].contact.distance - 0.5).abs() < 1e-12);
        let mut status = FeelerStatus::Unknown;
        ok(feeler_scene_status(scene, ids[1], ids[0], &raw mut status));
        assert_eq!(status, FeelerStatus::Separated);
        ok(feeler_scene_set_body_options(scene, ids[0], -1.0, 0.25, false));
        ok(feeler_scene_update(scene));
        ok(feeler_scene_contacts(scene, contacts.as_mut_ptr(), 4, &raw mut count));
        assert!((contacts[0].contact.gap - 0.25).abs() < 1e-12);
        ok(feeler_scene_set_pair_options(scene, ids[0], ids[1], -1.0, null(), true));
        ok(feeler_scene_update(scene));
        let mut event = FeelerContactEvent {
            bodies: [0; 2],
            parts: [0; 2],
            id: 0,
            contact: 0,
            kind: FeelerEventKind::Began,
            reserved: 0,
        };
        ok(feeler_scene_events(scene, &raw mut event, 1, &raw mut count));
        assert!(count == 1 && event.kind == FeelerEventKind::Ended && event.contact == -1);
        assert_eq!(feeler_scene_remove(scene, 99), FeelerResult::Scene);
        assert!(error().contains("body 99 does not exist"), "{}", error());
        ok(feeler_scene_remove(scene, ids[0]));
        let place = moved(f64::NAN, 0.0, 0.0);
        assert_eq!(feeler_scene_set_poses(scene, &ids[1], &place, 1), FeelerResult::Query);
        ok(feeler_scene_set_poses(scene, &ids[1], &moved(0.0, 0.0, 0.0), 1));
        feeler_scene_free(scene);
        feeler_body_free(ball);
        feeler_body_free(plate);
    }
}

#[test]
fn invalid_arguments_are_reported() {
    let (ball, mut count) = (body("sphere.step"), 0);
    unsafe {
        let mut out = null_mut();
        assert_eq!(feeler_model_read(null(), &raw mut out), FeelerResult::Argument);
        assert!(error().contains("path is NULL"));
        assert_eq!(feeler_model_read(data("nowhere.feeler").as_ptr(), &raw mut out), FeelerResult::File);
        assert!(error().contains("nowhere.feeler"), "{}", error());
        let latin = CString::new(vec![0xe9, b'.', b's']).unwrap();
        assert_eq!(feeler_model_read(latin.as_ptr(), &raw mut out), FeelerResult::Argument);
        let mut pair = null_mut();
        assert_eq!(feeler_contact_pair_new(ball, null(), &raw mut pair), FeelerResult::Argument);
        assert_eq!(feeler_contact_pair_new(ball, ball, null_mut()), FeelerResult::Argument);
        ok(feeler_contact_pair_new(ball, ball, &raw mut pair));
        let query = |place: &FeelerPose, options: &FeelerQueryOptions, count: *mut usize| {
            feeler_contact_pair_query(pair, null(), place, options, null_mut(), 0, count)
        };
        let (here, near) = (moved(30.0, 0.0, 0.0), options(1.0));
        assert_eq!(query(&moved(f64::INFINITY, 0.0, 0.0), &near, &raw mut count), FeelerResult::Query);
        let turned = FeelerPose { rotation: [0.0; 4], ..here };
        assert_eq!(query(&turned, &near, &raw mut count), FeelerResult::Query);
        assert!(error().contains("pose_b") && error().contains("norm"), "{}", error());
        assert_eq!(query(&here, &options(-1.0), &raw mut count), FeelerResult::Query);
        for far in [1e13, 1e155, 1e300] {
            let everything = options(f64::INFINITY);
            assert_eq!(query(&moved(far, 0.0, 0.0), &everything, &raw mut count), FeelerResult::Query);
            assert!(
                error().contains("the coordinates reach") && error().contains("allows at most"),
                "{}",
                error()
            );
            // Farther than d_max regardless of rounding.
            ok(query(&moved(far, 0.0, 0.0), &near, &raw mut count));
            assert_eq!(count, 0);
        }
        assert_eq!(query(&here, &near, null_mut()), FeelerResult::Argument);
        for struct_size in [0, 3, 100_000] {
            let odd = FeelerQueryOptions { struct_size, ..near };
            assert_eq!(query(&here, &odd, &raw mut count), FeelerResult::Argument);
            assert!(error().contains("struct_size"), "{}", error());
        }
        ok(query(&here, &near, &raw mut count));
        feeler_contact_pair_free(pair);
        let mut mesh = null_mut();
        assert_eq!(feeler_mesh_new(ball, 0.0, &raw mut mesh), FeelerResult::Argument);
        feeler_body_free(ball);
        let (mut scene, mut other) = (null_mut(), null_mut());
        assert_eq!(feeler_scene_new(&options(f64::INFINITY), &raw mut scene), FeelerResult::Query);
        let held = model("sphere.step");
        assert_eq!(feeler_body_new(held, 7, &raw mut other), FeelerResult::Body);
        assert!(error().contains("solid 7 does not exist"), "{}", error());
        feeler_model_free(held);
        feeler_model_free(null_mut());
        feeler_body_free(null_mut());
        feeler_contact_pair_free(null_mut());
        feeler_scene_free(null_mut());
        feeler_mesh_free(null_mut());
    }
}

#[test]
fn meshes() {
    let ball = body("sphere.step");
    unsafe {
        let mut mesh = null_mut();
        ok(feeler_mesh_new(ball, 0.1, &raw mut mesh));
        feeler_body_free(ball);
        let mut data: FeelerMeshData = std::mem::zeroed();
        data.struct_size = size_of::<FeelerMeshData>() as u32;
        ok(feeler_mesh_data(mesh, &raw mut data));
        assert!(data.open_sides == 0 && data.deviation <= 0.1 && data.triangle_count > 100);
        let points = std::slice::from_raw_parts(data.points, 3 * data.point_count);
        let triangles = std::slice::from_raw_parts(data.triangles, 3 * data.triangle_count);
        assert!(triangles.iter().all(|i| (*i as usize) < data.point_count));
        let radius = |p: &[f64]| p.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(points.chunks(3).all(|p| (radius(p) - 10.0).abs() < 1e-9));
        feeler_mesh_free(mesh);
    }
}

/// Damaged bytes give errors, or models whose bodies can be queried; never a crash.
#[test]
fn damaged_bytes() {
    let held = model("bore.step");
    let (mut count, mut again) = (0, 0);
    let mut bytes = Vec::new();
    unsafe {
        ok(feeler_model_to_bytes(held, null_mut(), 0, &raw mut count));
        bytes.resize(count, 0);
        ok(feeler_model_to_bytes(held, bytes.as_mut_ptr(), count, &raw mut again));
        feeler_model_free(held);
    }
    assert_eq!(count, again);
    let step = std::fs::read(data("bore.step").to_str().unwrap()).unwrap();
    let name = CString::new("damaged").unwrap();
    let mut rng = SmallRng::seed_from_u64(3);
    let mut read = 0;
    for k in 0..600 {
        let mut damaged = if k % 3 == 0 { step.clone() } else { bytes.clone() };
        for _ in 0..rng.random_range(1..4) {
            let i = rng.random_range(0..damaged.len());
            damaged[i] = rng.random();
        }
        if rng.random_bool(0.2) {
            damaged.truncate(rng.random_range(0..damaged.len()));
        }
        unsafe {
            let mut out = null_mut();
            let result = if k % 3 == 0 {
                feeler_prepare_bytes(damaged.as_ptr(), damaged.len(), name.as_ptr(), &raw mut out)
            } else {
                feeler_model_from_bytes(damaged.as_ptr(), damaged.len(), &raw mut out)
            };
            if result != FeelerResult::Ok {
                assert!(result == FeelerResult::File && !error().is_empty(), "{result:?} {}", error());
                continue;
            }
            read += 1;
            let mut ball = null_mut();
            if feeler_body_new(out, 0, &raw mut ball) == FeelerResult::Ok {
                let (mut pair, mut n) = (null_mut(), 0);
                ok(feeler_contact_pair_new(ball, ball, &raw mut pair));
                let result = feeler_contact_pair_query(
                    pair,
                    null(),
                    &moved(60.0, 0.0, 0.0),
                    null(),
                    null_mut(),
                    0,
                    &raw mut n,
                );
                assert_ne!(result, FeelerResult::Panic, "{}", error());
                feeler_contact_pair_free(pair);
                feeler_body_free(ball);
            }
            feeler_model_free(out);
        }
    }
    assert!(read > 0);
}
