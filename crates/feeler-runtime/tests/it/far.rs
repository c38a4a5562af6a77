//! Large coordinates: an offset that both bodies share cancels, and other results are either correct or
//! rejected.

use crate::common::{at, body, turned};
use feeler_brep::fixtures;
use feeler_geom::{P3, Pose, Twist, V3, math};
use feeler_runtime::{
    Body, BodyId, ContactFollower, ContactPair, ContactTracker, FollowOptions, PassageOptions,
    PassageOutcome, Path, PointQuery, QueryError, QueryOptions, Scene, SceneError, Status, StepBound,
    TrackerOptions, time_of_contact,
};
use std::sync::Arc;

fn ball() -> Arc<Body> {
    body(&fixtures::sphere(1.0))
}

fn cube() -> Arc<Body> {
    body(&fixtures::block([-1.0; 3], [1.0; 3]))
}

fn everything() -> QueryOptions {
    QueryOptions::within(f64::INFINITY)
}

fn limit_of(error: QueryError) -> f64 {
    match error {
        QueryError::CoordinatesTooLarge { limit, coordinates, .. } => {
            assert!(coordinates > limit, "{error}");
            limit
        }
        other => panic!("another error: {other}"),
    }
}

/// Pose with an additional translation `offset` (mm) in world coordinates.
fn with_offset(pose: Pose, offset: V3) -> Pose {
    Pose::from_parts((pose.translation.vector + offset).into(), pose.rotation)
}

/// Offsets with exact sums: whole numbers of ulps.
const OFFSETS: [f64; 3] = [67_108_864.0, 4_503_599_627_370_496.0, 1.329_227_995_784_916e36];

#[test]
fn the_limit_is_that_of_the_tolerance() {
    let a = ball();
    let mut pair = ContactPair::new(a.clone(), a.clone());
    let here = Pose::identity();
    let refused = pair.query(&here, &at(1e13, 0.0, 0.0), &everything()).expect_err("too far");
    let limit = limit_of(refused);
    let expected = 0.1 * 1e-7 * a.size() / f64::EPSILON;
    assert!((limit / expected - 1.0).abs() < 1e-12, "{limit:e} {expected:e}");
    let text = refused.to_string();
    assert!(text.contains(&format!("{limit:.3e}")) && text.contains("1.000e13"), "{text}");
    let corner = 3_f64.sqrt();
    for (distance, is_refused) in [(limit - corner - 1.0, false), (limit - corner + 1.0, true)] {
        let found = pair.query(&here, &at(0.0, distance, 0.0), &everything());
        assert_eq!(found.is_err(), is_refused, "{distance:e}");
        if let Ok(found) = found {
            assert!((found[0].distance - (distance - 2.0)).abs() < 1e-15 * distance, "{found:?}");
        }
    }
    // A larger tolerance allows larger coordinates.
    let coarse = QueryOptions { tolerance: Some(0.1), ..everything() };
    let found = pair.query(&here, &at(1e13, 0.0, 0.0), &coarse).expect("within the tolerance");
    assert!((found[0].distance - 1e13).abs() < 3.0, "{found:?}");
    // The limit grows with the size of the solids.
    for large in [fixtures::sphere(1e11), fixtures::block([-1e11; 3], [1e11; 3])].map(|s| body(&s)) {
        let mut pair = ContactPair::new(large.clone(), large);
        let found = pair.query(&here, &at(0.0, 0.0, 1e18), &everything()).expect("near for its size");
        assert!((found[0].distance - (1e18 - 2e11)).abs() < 1e3, "{found:?}");
    }
    // A tolerance below rounding counts as 1e-9 of the size.
    let fine = QueryOptions { tolerance: Some(1e-300), ..everything() };
    let limit = limit_of(pair.query(&here, &at(1e13, 0.0, 0.0), &fine).expect_err("too far"));
    assert!((limit / (0.01 * expected) - 1.0).abs() < 1e-12, "{limit:e}");
}

#[test]
fn solids_farther_apart_than_d_max_are_separated_at_any_distance() {
    let (a, b) = (cube(), ball());
    let mut pair = ContactPair::new(a.clone(), b.clone());
    let near = at(2.5, 0.0, 0.0);
    let expected = pair.query(&Pose::identity(), &near, &QueryOptions::within(1.0)).expect("near").to_vec();
    for k in 3..=300 {
        let far = at(0.0, -power_of_ten(k), 0.5 * power_of_ten(k));
        for d_max in [0.0, 1.0, 500.0] {
            let found = pair.query(&Pose::identity(), &far, &QueryOptions::within(d_max)).expect("separated");
            assert!(found.is_empty() && pair.status() == Some(Status::Separated), "1e{k} {d_max}");
        }
        assert!(
            pair.contact_regions(&Pose::identity(), &far, &QueryOptions::default()).expect("none").is_empty()
        );
        let none = pair.crossing_faces(&Pose::identity(), &far, &QueryOptions::default()).expect("none");
        assert!(none.is_empty(), "1e{k}");
        // The result is not certain if the distance can be within d_max.
        let uncertain = QueryOptions::within(2.0 * power_of_ten(k));
        let refused = pair.query(&Pose::identity(), &far, &uncertain).is_err();
        assert_eq!(refused, k > 8, "1e{k}");
        assert!(pair.nearest_distance(&Pose::identity(), &far, &everything()).is_err() == (k > 8), "1e{k}");
    }
    // Earlier queries at large distances have no effect.
    let again = pair.query(&Pose::identity(), &near, &QueryOptions::within(1.0)).expect("near").to_vec();
    assert_eq!(again, expected);
}

#[test]
fn shared_offsets_do_not_hide_motions() {
    let (a, b) = (cube(), ball());
    for offset in OFFSETS.map(|x| V3::new(x, -x, 0.5 * x)) {
        let mut pair = ContactPair::new(a.clone(), b.clone());
        let mut scene = Scene::new(QueryOptions::within(5.0)).expect("a scene");
        let mut ids = Vec::new();
        for (i, gap) in [1.0, 3.0, 2.0, 4.0].into_iter().enumerate() {
            // The largest offset rounds the gap to 0, so the solids interfere.
            let [pose_a, pose_b] =
                [at(0.0, 0.0, 0.0), at(2.0 + gap, 0.0, 0.0)].map(|p| with_offset(p, offset));
            let left = pose_b.translation.vector.x - pose_a.translation.vector.x;
            let found = pair.query(&pose_a, &pose_b, &QueryOptions::within(5.0)).expect("near");
            if left > 0.0 {
                assert!((found[0].distance - (left - 2.0)).abs() < 1e-12, "{offset}: {found:?}");
                assert!((found[0].local_a - P3::new(1.0, 0.0, 0.0)).norm() < 1e-9, "{found:?}");
                assert!((found[0].local_b - P3::new(-1.0, 0.0, 0.0)).norm() < 1e-9, "{found:?}");
                let rounding = f64::EPSILON * offset.amax();
                assert!((found[0].point_a - pose_a * found[0].local_a).norm() <= rounding, "{found:?}");
            }
            let status = if left > 2.0 { Status::Separated } else { Status::Interfering };
            assert_eq!(pair.status(), Some(status), "{offset} {gap}");
            if i == 0 {
                ids =
                    vec![scene.add(a.clone(), pose_a).expect("a"), scene.add(b.clone(), pose_b).expect("b")];
            }
            scene.set_pose(ids[1], pose_b).expect("finite");
            scene.update().expect("near");
            assert_eq!(scene.status(ids[0], ids[1]), Ok(Some(status)), "{offset} {gap}");
            let of_scene: Vec<f64> = scene.contacts().iter().map(|c| c.contact.distance).collect();
            let of_pair: Vec<f64> = pair.contacts().iter().map(|l| l.distance).collect();
            assert_eq!(of_scene, of_pair, "{offset} {gap}");
        }
    }
}

/// A compound whose solids are not at its origin; the product of both poses would be rounded.
#[test]
fn poses_in_a_compound_are_not_rounded() {
    let (a, b) = (cube(), ball());
    for x in OFFSETS {
        let offset = V3::new(x, 0.0, -x);
        let mut scene = Scene::new(QueryOptions::within(1.0)).expect("a scene");
        let local = turned(2.3, 0.1, 0.2, 0.0, 0.0, 90.0);
        let two = vec![(a.clone(), local), (a.clone(), at(0.0, 40.0, 0.0))];
        let compound = scene.add_compound(two, with_offset(Pose::identity(), offset)).expect("two solids");
        let other = scene.add(b.clone(), with_offset(Pose::identity(), offset)).expect("a ball");
        scene.update().expect("near");
        let distances: Vec<f64> = scene.contacts().iter().map(|c| c.contact.distance).collect();
        assert!(distances.len() == 1 && (distances[0] - 0.3).abs() < 1e-12, "{x:e}: {distances:?}");
        assert_eq!(scene.status(compound, other), Ok(Some(Status::Separated)));
    }
}

#[test]
fn a_scene_with_a_body_far_away() {
    let (a, b) = (cube(), ball());
    for k in [13, 100, 155, 300] {
        let mut scene = Scene::new(QueryOptions::within(1.0)).expect("a scene");
        scene.add(a.clone(), Pose::identity()).expect("a");
        scene.add(b.clone(), at(2.5, 0.0, 0.0)).expect("b");
        let far = scene.add(b.clone(), at(power_of_ten(k), 3.0, 0.0)).expect("far away");
        for _ in 0..3 {
            scene.update().unwrap_or_else(|e| panic!("1e{k}: {e}"));
            assert_eq!(scene.contacts().len(), 1, "1e{k}");
            scene.set_pose(far, at(3.0, power_of_ten(k), 0.0)).expect("finite");
        }
    }
    let mut scene = Scene::new(QueryOptions::within(1e14)).expect("a scene");
    scene.add(a, Pose::identity()).expect("a");
    scene.add(b, at(1e13, 0.0, 0.0)).expect("b");
    let refused = scene.update().expect_err("within d_max, too far for the tolerance");
    let SceneError::Query { bodies, error } = refused else { panic!("{refused}") };
    assert_eq!(bodies, [BodyId(0), BodyId(1)]);
    limit_of(error);
}

#[test]
fn reports_with_an_offset_that_both_share() {
    let a = cube();
    let pair = ContactPair::new(a.clone(), a.clone());
    let options = QueryOptions::within(1.0);
    let world = [turned(0.0, 0.0, 0.0, 0.0, 0.0, 0.0), turned(1.5, 0.5, 0.0, 0.0, 0.0, 0.0)];
    for x in [0.0, OFFSETS[0], math::powf(2.0, 51.0)] {
        let [pose_a, pose_b] = world.map(|p| with_offset(p, V3::new(x, x, -x)));
        let t = pair.separating_translation(&pose_a, &pose_b, &options).expect("near").expect("interfering");
        assert!((t - V3::new(0.5, 0.0, 0.0)).norm() < 1e-5, "{x:e}: {t}");
        let beside = with_offset(at(2.0, 0.5, 0.0), V3::new(x, x, -x));
        let contacts = pair.contact_regions(&pose_a, &beside, &options).expect("near");
        assert!(
            contacts.len() == 1 && (contacts[0].area.expect("an area") - 3.0).abs() < 1e-9,
            "{contacts:?}"
        );
        let above = with_offset(at(0.0, 0.0, 500.0), V3::new(x, x, -x));
        let distance = pair.nearest_distance(&pose_a, &above, &options).expect("near");
        assert!((distance.expect("a distance") - 498.0).abs() < 1e-9, "{x:e}: {distance:?}");
        let crossings = pair.crossing_curves(&pose_a, &pose_b, &options, 1e-3).expect("near");
        assert!(!crossings.curves.is_empty(), "{x:e}");
    }
}

#[test]
fn motions() {
    let (a, b) = (cube(), ball());
    let mut pair = ContactPair::new(a, b);
    let options = PassageOptions::default();
    let still = |offset: V3| Path::still(with_offset(Pose::identity(), offset));
    let fall = |offset: V3, from: f64| {
        let speed = Twist::translation(V3::new(-2.0 * from, 0.0, 0.0));
        Path::screw(with_offset(at(from, 0.0, 0.0), offset), speed, 1.0).expect("a path")
    };
    for x in [0.0, OFFSETS[0], math::powf(2.0, 51.0)] {
        let offset = V3::new(0.0, x, x);
        let passage =
            time_of_contact(&mut pair, &still(offset), &fall(offset, 10.0), &options).expect("near");
        let PassageOutcome::Contact(first) = passage.outcome else { panic!("{x:e}: {passage:?}") };
        assert!((first.time - 0.4).abs() < 1e-9, "{x:e}: {first:?}");
        let point = P3::from(V3::new(1.0, 0.0, 0.0) + offset);
        assert!((first.minimum.point_a - point).norm() <= 1e-9 + f64::EPSILON * x, "{x:e}: {first:?}");
        // A parallel motion does not reach the cube.
        let beside = fall(offset + V3::new(0.0, 0.0, 2.5), 10.0);
        let passage = time_of_contact(&mut pair, &still(offset), &beside, &options).expect("near");
        assert_eq!(passage.outcome, PassageOutcome::Free, "{x:e}");
        // A rotation about a distant axis is rounded.
        let spin = Twist::rotation(&P3::from(offset), V3::new(0.0, 0.0, 1.0));
        let turning = Path::screw(with_offset(at(5.0, 0.0, 0.0), offset), spin, 1.0).expect("a path");
        let passage = time_of_contact(&mut pair, &still(offset), &turning, &options);
        match passage {
            Ok(passage) => assert!(x < 1e10 && passage.outcome == PassageOutcome::Free, "{x:e}: {passage:?}"),
            Err(error) => assert!(x > 1e10 && limit_of(error) > 0.0, "{x:e}: {error}"),
        }
    }
    for k in 3..=300 {
        let passage =
            time_of_contact(&mut pair, &still(V3::zeros()), &fall(V3::zeros(), power_of_ten(k)), &options);
        match passage.map(|p| p.outcome) {
            Ok(PassageOutcome::Contact(first)) => {
                let expected = 0.5 - power_of_ten(-k);
                assert!(k <= 7 && (first.time - expected).abs() < 1e-12, "1e{k}: {first:?}");
            }
            Ok(other) => panic!("1e{k}: {other:?}"),
            Err(error) => assert!(k >= 7 && limit_of(error) > 0.0, "1e{k}: {error}"),
        }
    }
}

#[test]
fn followed_contacts() {
    let a = cube();
    let mut pair = ContactPair::new(a.clone(), a.clone());
    let options = FollowOptions { reach: 0.5, penetration: 0.0, stride: 0.1 };
    for k in 3..=300 {
        let far = at(0.0, 0.0, power_of_ten(k));
        let mut following = ContactFollower::default();
        following.query(&mut pair, &Pose::identity(), &far, &options).expect("separated");
        assert!(following.contacts().is_empty(), "1e{k}");
        // This motion is larger than the stride.
        let here = turned(2.3, 0.0, 0.0, 10.0, 20.0, 0.0);
        assert_eq!(following.follow(&a, &a, &Pose::identity(), &here, &options), Ok(false), "1e{k}");
        let [pose_a, pose_b] = [Pose::identity(), here].map(|p| with_offset(p, far.translation.vector));
        following.query(&mut pair, &pose_a, &pose_b, &options).expect("near");
        assert_eq!(following.contacts().len(), 1, "1e{k}");
        let wide = FollowOptions { reach: 2e300, ..options };
        let result = following.query(&mut pair, &Pose::identity(), &far, &wide);
        assert_eq!(result.is_err(), k > 8, "1e{k}");
        for (reach, is_refused) in [(0.05, false), (2e300, k > 8)] {
            let options = TrackerOptions { reach, ..TrackerOptions::default() };
            let mut tracker = ContactTracker::new(a.clone(), a.clone(), options);
            let updated = tracker.update(&Pose::identity(), &far, StepBound::default());
            assert_eq!(updated.is_err(), is_refused, "1e{k}");
            assert!(tracker.contacts().is_empty() || reach > 1.0, "1e{k}");
        }
    }
}

#[test]
fn points() {
    let (a, mut points) = (cube(), PointQuery::new());
    for k in 3..=300 {
        let x = power_of_ten(k);
        let p = P3::new(x, 0.0, 0.25);
        assert_eq!(points.contains(&a, &p, 1e-6), Ok(Some(false)), "1e{k}");
        assert_eq!(points.nearest(&a, &p, 1.0), Ok(None), "1e{k}");
        match points.nearest(&a, &p, f64::INFINITY) {
            Ok(found) => {
                let found = found.expect("a nearest point");
                assert!(k <= 8 && (found.distance - (x - 1.0)).abs() <= f64::EPSILON * x, "1e{k}: {found:?}");
                assert!((found.foot - P3::new(1.0, 0.0, 0.25)).norm() < 1e-9, "1e{k}: {found:?}");
            }
            Err(error) => assert!(k >= 8 && limit_of(error) > 0.0, "1e{k}: {error}"),
        }
    }
    let nowhere = P3::new(0.0, f64::NAN, 0.0);
    assert_eq!(points.nearest(&a, &nowhere, 1.0), Err(QueryError::Point));
    assert_eq!(points.contains(&a, &nowhere, 1.0), Err(QueryError::Point));
}

fn power_of_ten(k: i32) -> f64 {
    math::powf(10.0, f64::from(k))
}
