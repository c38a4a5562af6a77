//! Scenes of many bodies, compared with queries of all their pairs.

use crate::common::{body, random_pose};
use feeler_brep::fixtures;
use feeler_geom::Pose;
use feeler_runtime::{
    Body, BodyId, BodyOptions, Contact, ContactPair, ContactTracker, EventKind, PairOptions, QueryError,
    QueryOptions, Scene, SceneError, Status, StepBound, TrackedStatus, TrackerOptions,
};
use nalgebra::{Translation3, UnitQuaternion, Vector3};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::Arc;

fn bodies() -> Vec<Arc<Body>> {
    let kinds = [
        body(&fixtures::block([-1.0, -0.8, -0.5], [1.0, 0.8, 0.5])),
        body(&fixtures::torus_with_seams(1.2, 0.4)),
        body(&fixtures::cone(0.8, 1.5)),
        body(&fixtures::sphere(0.3)),
    ];
    (0..20).map(|i| kinds[i % kinds.len()].clone()).collect()
}

/// A scene of these bodies, and their identifiers.
fn scene_of(bodies: &[Arc<Body>], options: QueryOptions) -> (Scene, Vec<BodyId>) {
    let mut scene = Scene::new(options).expect("options of a scene");
    let ids =
        bodies.iter().map(|b| scene.add(b.clone(), Pose::identity()).expect("solids with faces")).collect();
    (scene, ids)
}

/// Updates a scene at these poses.
fn step(scene: &mut Scene, ids: &[BodyId], poses: &[Pose]) -> Result<(), SceneError> {
    ids.iter().zip(poses).for_each(|(id, pose)| scene.set_pose(*id, *pose).expect("finite poses"));
    scene.update()
}

/// Poses with constant velocities and rotation rates.
struct Drift {
    poses: Vec<Pose>,
    steps: Vec<Pose>,
}

impl Drift {
    fn new(n: usize, seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let poses = (0..n).map(|_| random_pose(&mut rng, 3.2)).collect();
        let mut v = |s: f64| Vector3::from_fn(|_, _| rng.random_range(-s..s));
        let steps = (0..n).map(|_| {
            Pose::from_parts(Translation3::from(v(0.05)), UnitQuaternion::from_scaled_axis(v(0.03)))
        });
        Self { poses, steps: steps.collect() }
    }

    fn advance(&mut self) {
        for (p, s) in self.poses.iter_mut().zip(&self.steps) {
            *p = Pose::from_parts(
                Translation3::from(p.translation.vector + s.translation.vector),
                s.rotation * p.rotation,
            );
        }
    }
}

/// Copies of contacts without the members that depend on earlier queries.
fn without_history(l: &[Contact]) -> Vec<Contact> {
    l.iter().map(|l| Contact { id: 0, age: 0, ..*l }).collect()
}

#[test]
fn near_pairs_contain_all_contacts() {
    let bodies = bodies();
    let options = QueryOptions::within(0.4);
    let (mut scene, ids) = scene_of(&bodies, options);
    let mut drift = Drift::new(bodies.len(), 5);
    let (mut found, mut interfering, mut aged) = (0, 0, 0);
    for _ in 0..25 {
        step(&mut scene, &ids, &drift.poses).unwrap();
        let near: Vec<_> = scene.near().collect();
        for j in 0..20 {
            for i in 0..j {
                let mut pair = ContactPair::new(bodies[i].clone(), bodies[j].clone());
                let expected = pair
                    .query(&drift.poses[i], &drift.poses[j], &options)
                    .expect("finite poses and options")
                    .to_vec();
                match near.iter().find(|n| n.bodies == [ids[i], ids[j]]) {
                    Some(n) => {
                        assert!(
                            without_history(n.contacts.contacts()) == without_history(&expected),
                            "{i} {j}"
                        );
                        assert_eq!(n.contacts.status(), pair.status(), "{i} {j}");
                        assert_eq!(scene.status(ids[j], ids[i]), Ok(pair.status()), "{i} {j}");
                        aged += n.contacts.contacts().iter().filter(|l| l.age > 0).count();
                    }
                    None => {
                        assert!(
                            expected.is_empty() && pair.status() == Some(Status::Separated),
                            "{i} {j} missed"
                        );
                    }
                }
                found += usize::from(!expected.is_empty());
                interfering += usize::from(pair.status() == Some(Status::Interfering));
            }
        }
        assert!(near.is_sorted_by_key(|n| n.bodies));
        let listed: Vec<Contact> = scene.contacts().iter().map(|c| c.contact).collect();
        let of_pairs: Vec<Contact> =
            near.iter().flat_map(|n| n.contacts.contacts().iter().copied()).collect();
        assert!(listed == of_pairs, "contacts are those of the near pairs");
        drift.advance();
    }
    assert!(found > 100 && interfering > 10 && aged > 50, "{found} {interfering} {aged}");
    let counts = scene.counts();
    assert!(counts.distances < 25 * 190 / 4, "{counts:?}");
}

/// Bodies drift and are replaced at random. Results are bitwise the same for any number of threads, and
/// minima equal those of new pairs.
#[test]
fn any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let kinds = bodies();
            let mut rng = SmallRng::seed_from_u64(8);
            let mut drift = Drift::new(kinds.len(), 6);
            let (mut scene, mut ids) = scene_of(&kinds, QueryOptions::within(0.5));
            let mut all = Vec::new();
            for _ in 0..40 {
                let k = rng.random_range(0..ids.len());
                scene.remove(ids[k]).unwrap();
                ids[k] = scene.add(kinds[k].clone(), drift.poses[k]).unwrap();
                step(&mut scene, &ids, &drift.poses).unwrap();
                all.push((scene.contacts().to_vec(), scene.events().to_vec()));
                for near in scene.near() {
                    let pose = |id| drift.poses[ids.iter().position(|x| *x == id).unwrap()];
                    let [a, b] = near.bodies.map(pose);
                    let [body_a, body_b] = [near.contacts.body_a(), near.contacts.body_b()];
                    let mut cold = ContactPair::new(body_a.clone(), body_b.clone());
                    let cold = cold.query(&a, &b, &QueryOptions::within(0.5)).unwrap();
                    assert!(
                        without_history(cold) == without_history(near.contacts.contacts()),
                        "{:?}",
                        near.bodies
                    );
                }
                drift.advance();
            }
            all
        })
    };
    let one = run(1);
    assert!(one.iter().map(|(c, _)| c.len()).sum::<usize>() > 200);
    assert!(one == run(2) && one == run(7), "results depend on the number of threads");
}

#[test]
fn given_pairs_and_invalid_ones() {
    let bodies = bodies();
    let drift = Drift::new(bodies.len(), 7);
    let (mut scene, ids) = scene_of(&bodies, QueryOptions::within(100.0));
    ids.iter().zip(&drift.poses).for_each(|(id, pose)| scene.set_pose(*id, *pose).unwrap());
    let pair = |i: usize, j: usize| [ids[i], ids[j]];
    scene.update_pairs(&[pair(3, 1), pair(0, 2), pair(1, 3)]).unwrap();
    let near: Vec<_> = scene.near().map(|n| n.bodies).collect();
    assert_eq!(near, [pair(0, 2), pair(1, 3)]);
    assert!(
        scene
            .near()
            .all(|n| !n.contacts.contacts().is_empty() || n.contacts.status() == Some(Status::Interfering))
    );
    let missing = BodyId(20);
    assert_eq!(scene.update_pairs(&[pair(4, 4)]), Err(SceneError::NoPair(ids[4])));
    assert_eq!(scene.update_pairs(&[[ids[4], missing]]), Err(SceneError::NoBody(missing)));
    let mut bad = drift.poses[3];
    bad.translation.vector.x = f64::NAN;
    assert_eq!(scene.set_pose(ids[3], bad), Err(SceneError::Pose(ids[3])));
    assert_eq!(scene.add_compound(Vec::new(), Pose::identity()), Err(SceneError::NoParts));
    assert_eq!(scene.add(bodies[0].clone(), bad), Err(SceneError::Pose(missing)));
    assert_eq!(scene.near().count(), 2, "the results of the last step remain");
    scene.update().unwrap();
    assert_eq!(scene.near().count(), 190, "all pairs are within 100 mm");
    for id in &ids[1..] {
        scene.set_pair_options(ids[0], *id, PairOptions { ignored: true, ..PairOptions::default() }).unwrap();
    }
    scene.update().unwrap();
    assert!(scene.near().all(|n| n.bodies[0] != ids[0]), "ignored");
    scene.remove(ids[5]).unwrap();
    assert_eq!(scene.remove(ids[5]), Err(SceneError::NoBody(ids[5])), "identifiers are not reused");
    assert!(scene.add(bodies[5].clone(), Pose::identity()).unwrap() > ids[19]);
    assert!(
        matches!(Scene::new(QueryOptions::within(f64::INFINITY)), Err(SceneError::DMax(_))),
        "an infinite d_max"
    );
    assert!(matches!(Scene::new(QueryOptions::within(-1.0)), Err(SceneError::Options(_))));
    let mut none = Scene::new(QueryOptions::within(1.0)).unwrap();
    none.update().unwrap();
    assert_eq!(none.near().count(), 0);
}

/// Errors name the first pair that failed, and all other pairs have results.
#[test]
fn errors_of_pairs() {
    let thin = body(&fixtures::block([0.0; 3], [5.0, 5.0, 0.1]));
    let thick = body(&fixtures::block([0.0; 3], [5.0, 5.0, 5.0]));
    let options = QueryOptions { penetration: 1.0, ..QueryOptions::within(1.0) };
    let mut scene = Scene::new(options).unwrap();
    let pose = |z: f64| Pose::translation(0.0, 0.0, z);
    let ids = [(&thick, 0.0), (&thick, 5.5), (&thin, 11.0), (&thin, 11.5)]
        .map(|(body, z)| scene.add(body.clone(), pose(z)).unwrap());
    let error = scene.update().unwrap_err();
    assert!(matches!(error, SceneError::Query { bodies, .. } if bodies == [ids[2], ids[3]]), "{error}");
    assert_eq!(scene.update(), Err(error), "the error persists");
    assert!(scene.contacts().iter().any(|c| c.bodies == [ids[0], ids[1]]));
    scene.remove(ids[3]).unwrap();
    scene.update().unwrap();
}

/// A ball between two blocks at a given gap from each.
#[test]
fn distances_and_dilations_of_bodies_and_pairs() {
    let block = body(&fixtures::block([-5.0, -5.0, -1.0], [5.0, 5.0, 0.0]));
    let ball = body(&fixtures::sphere(1.0));
    let mut scene = Scene::new(QueryOptions::within(0.1)).unwrap();
    let floor = scene.add(block.clone(), Pose::identity()).unwrap();
    let roof = scene.add(block, Pose::translation(0.0, 0.0, 4.0)).unwrap();
    let ball = scene.add(ball, Pose::translation(0.0, 0.0, 1.5)).unwrap();
    let gaps = |scene: &mut Scene| -> Vec<([BodyId; 2], f64)> {
        scene.update().unwrap();
        scene.contacts().iter().map(|c| (c.bodies, (c.contact.gap * 1e9).round() / 1e9)).collect()
    };
    assert_eq!(gaps(&mut scene), []);
    let default = BodyOptions::default();
    scene.set_body_options(ball, BodyOptions { d_max: Some(0.6), ..default }).unwrap();
    assert_eq!(gaps(&mut scene), [([floor, ball], 0.5), ([roof, ball], 0.5)]);
    // With dilations, `d_max` limits the gap.
    scene.set_body_options(ball, BodyOptions { d_max: None, dilation: 0.3, fixed: false }).unwrap();
    scene.set_body_options(floor, BodyOptions { dilation: 0.15, ..default }).unwrap();
    assert_eq!(gaps(&mut scene), [([floor, ball], 0.05)]);
    let pair = PairOptions { d_max: Some(0.3), dilation: Some([0.2, 0.1]), ignored: false };
    scene.set_pair_options(ball, roof, pair).unwrap();
    assert_eq!(gaps(&mut scene), [([floor, ball], 0.05), ([roof, ball], 0.2)]);
    let roof_first = scene.contacts()[1].contact;
    assert!((roof_first.distance - 0.5).abs() < 1e-12, "{roof_first:?}");
    scene.set_pair_options(roof, ball, PairOptions { ignored: true, ..PairOptions::default() }).unwrap();
    assert_eq!(gaps(&mut scene), [([floor, ball], 0.05)]);
    scene.set_body_options(floor, BodyOptions { fixed: true, dilation: 0.15, ..default }).unwrap();
    scene.set_body_options(ball, BodyOptions { fixed: true, dilation: 0.3, ..default }).unwrap();
    assert_eq!(gaps(&mut scene), [], "pairs of fixed bodies are not queried");
    let bad = |options| Err(options);
    let endless = BodyOptions { d_max: Some(f64::INFINITY), ..default };
    assert_eq!(scene.set_body_options(ball, endless), bad(SceneError::DMax(f64::INFINITY)));
    let thick = BodyOptions { dilation: f64::INFINITY, ..default };
    assert_eq!(scene.set_body_options(ball, thick), bad(SceneError::Dilation(f64::INFINITY)));
}

/// Pairs without relative motion reuse their minima, and bodies that move together have the same minima,
/// moved with them.
#[test]
fn standing_still_and_moving_as_one() {
    let bodies = bodies();
    let (mut scene, ids) = scene_of(&bodies, QueryOptions::within(0.5));
    let drift = Drift::new(bodies.len(), 9);
    step(&mut scene, &ids, &drift.poses).unwrap();
    let first = scene.contacts().to_vec();
    assert!(first.len() > 10 && scene.events().iter().all(|e| e.kind == EventKind::Began));
    let solves = |scene: &Scene| scene.near().map(|n| n.contacts.stats().leaf_pairs).sum::<u64>();
    assert!(solves(&scene) > 0);
    scene.update().unwrap();
    assert!(scene.events().iter().all(|e| e.kind == EventKind::Persisted && e.contact.is_some()));
    let aged = first.iter().map(|c| Contact { age: 1, ..c.contact });
    assert!(aged.eq(scene.contacts().iter().map(|c| c.contact)), "equal apart from their age");
    // A new distant body does not affect other pairs.
    scene.add(bodies[0].clone(), Pose::translation(1e3, 0.0, 0.0)).unwrap();
    scene.update().unwrap();
    assert_eq!(solves(&scene), 0, "no pair was computed again");
    let aged = first.iter().map(|c| Contact { age: 2, ..c.contact });
    assert!(aged.eq(scene.contacts().iter().map(|c| c.contact)));
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -0.2, 0.9));
    let along = Pose::from_parts(Translation3::new(5.0, -7.0, 2.0), turn);
    let poses: Vec<Pose> = drift.poses.iter().map(|p| along * p).collect();
    step(&mut scene, &ids, &poses).unwrap();
    assert_eq!(solves(&scene), 0, "no pair was computed again after a common motion");
    for (was, is) in first.iter().zip(scene.contacts()) {
        assert_eq!((was.bodies, was.contact.id, 3), (is.bodies, is.contact.id, is.contact.age));
        assert!((is.contact.distance - was.contact.distance).abs() == 0.0);
        assert!((along * was.contact.point_b - is.contact.point_b).norm() < 1e-13);
        assert!((along * was.contact.normal - is.contact.normal).norm() < 1e-14);
    }
}

/// Each step is within rounding, but their sum is much larger.
#[test]
fn slow_motions_are_detected() {
    let block = body(&fixtures::block([-5.0, -5.0, -1.0], [5.0, 5.0, 0.0]));
    let ball = body(&fixtures::sphere(1.0));
    let options = QueryOptions::within(1.0);
    let mut pair = ContactPair::new(block, ball);
    let mut z = 1.5;
    let mut worst: f64 = 0.0;
    for _ in 0..100_000 {
        z += 4e-15;
        let found = pair.query(&Pose::identity(), &Pose::translation(0.0, 0.0, z), &options).unwrap();
        worst = worst.max((found[0].distance - (z - 1.0)).abs());
    }
    assert!(z > 1.5 + 3e-10);
    assert!(worst < 4e-12, "{worst:e}");
}

/// Two blocks as one body; a ball falls past them.
#[test]
fn compound_bodies_and_events() {
    let block = body(&fixtures::block([0.0; 3], [2.0, 2.0, 2.0]));
    let ball = body(&fixtures::sphere(0.5));
    let mut scene = Scene::new(QueryOptions::within(0.3)).unwrap();
    // Two blocks side by side with a gap of 1.4, which leaves 0.2 on each side of the ball.
    let poses = [Pose::identity(), Pose::translation(3.4, 0.0, 0.0)];
    let parts = poses.map(|p| (block.clone(), p)).to_vec();
    let gate = scene.add_compound(parts, Pose::translation(0.0, 0.0, 7.0)).unwrap();
    let ball = scene.add(ball, Pose::identity()).unwrap();
    let (mut began, mut ended, mut most) = (0, 0, 0);
    for k in 0..100 {
        let z = 12.0 - 0.1 * f64::from(k);
        scene.set_pose(ball, Pose::translation(2.7, 1.0, z)).unwrap();
        scene.update().unwrap();
        let of = |kind| scene.events().iter().filter(|e| e.kind == kind).count();
        (began, ended) = (began + of(EventKind::Began), ended + of(EventKind::Ended));
        most = most.max(scene.contacts().len());
        for c in scene.contacts() {
            assert_eq!(c.bodies, [gate, ball]);
            let expected = if c.parts[0] == 0 { 2.0 } else { 3.4 };
            assert!((c.contact.point_a.x - expected).abs() < 1e-12, "{c:?}");
        }
        if (8.0..8.5).contains(&z) {
            assert_eq!(scene.status(gate, ball), Ok(Some(Status::Separated)));
            assert_eq!(scene.contacts().len(), 2, "one contact on each side");
            assert!(scene.contacts().iter().all(|c| (c.contact.distance - 0.2).abs() < 1e-12));
        }
    }
    assert!(most == 2 && began >= 2 && ended == began, "{most} {began} {ended}");
    // Moving the gate moves both blocks.
    scene.set_pose(gate, Pose::translation(0.1, 0.0, 1.2)).unwrap();
    scene.update().unwrap();
    let mut distances: Vec<f64> = scene.contacts().iter().map(|c| c.contact.distance).collect();
    distances.sort_by(f64::total_cmp);
    assert!((distances[0] - 0.1).abs() < 1e-12 && (distances[1] - 0.3).abs() < 1e-12, "{distances:?}");
    scene.remove(gate).unwrap();
    scene.update().unwrap();
    assert!(scene.contacts().is_empty());
    assert!(scene.events().len() == 2 && scene.events().iter().all(|e| e.kind == EventKind::Ended));
    scene.update().unwrap();
    assert!(scene.events().is_empty());
}

#[test]
fn caches_of_distant_pairs_are_removed() {
    let ball = body(&fixtures::sphere(1.0));
    let mut scene = Scene::new(QueryOptions::within(0.1)).unwrap();
    let still = scene.add(ball.clone(), Pose::identity()).unwrap();
    let other = scene.add(ball, Pose::translation(2.05, 0.0, 0.0)).unwrap();
    scene.update().unwrap();
    assert_eq!((scene.held_pairs(), scene.contacts().len()), (1, 1));
    for k in 0..64 {
        scene.set_pose(other, Pose::translation(50.0 + f64::from(k), 0.0, 0.0)).unwrap();
        scene.update().unwrap();
        assert_eq!((scene.held_pairs(), scene.contacts().len()), (1, 0));
        assert_eq!(scene.status(still, other), Ok(None));
    }
    scene.set_pose(other, Pose::translation(70.0, 0.0, 0.0)).unwrap();
    scene.update().unwrap();
    assert_eq!(scene.held_pairs(), 0);
    scene.set_pose(other, Pose::translation(2.05, 0.0, 0.0)).unwrap();
    scene.update().unwrap();
    assert_eq!((scene.held_pairs(), scene.contacts()[0].contact.age), (1, 0));
    assert_eq!(scene.events()[0].kind, EventKind::Began);
}

/// Upper bound of the motion of a body of [`Drift`] in a step.
const DRIFT: StepBound = StepBound { rotation: 0.06, displacement: 0.3 };

/// Contacts of all near pairs after each of some tracked steps of drifting bodies.
fn tracked_contacts(threads: usize) -> Vec<Vec<([BodyId; 2], Vec<Contact>)>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let bodies = bodies();
    let (mut scene, ids) = scene_of(&bodies, QueryOptions::within(0.1));
    let mut drift = Drift::new(bodies.len(), 47);
    let of_step =
        |scene: &Scene| scene.tracked().map(|pair| (pair.bodies, pair.tracker.contacts().to_vec())).collect();
    let step = |_| {
        ids.iter().zip(&drift.poses).for_each(|(id, pose)| scene.set_pose(*id, *pose).expect("finite poses"));
        pool.install(|| scene.track(&TrackerOptions::default(), |_| DRIFT)).expect("finite bounds");
        drift.advance();
        of_step(&scene)
    };
    (0..6).map(step).collect()
}

/// Contacts of a step of a scene equal those of individual trackers of all pairs, for any number of threads.
#[test]
fn tracked_pairs_are_those_of_trackers() {
    let steps = tracked_contacts(1);
    assert_eq!(format!("{steps:?}"), format!("{:?}", tracked_contacts(3)));
    let bodies = bodies();
    let mut drift = Drift::new(bodies.len(), 47);
    let mut trackers: Vec<ContactTracker> = (0..bodies.len() * bodies.len())
        .map(|k| {
            let [a, b] = [k / bodies.len(), k % bodies.len()].map(|i| bodies[i].clone());
            ContactTracker::new(a, b, TrackerOptions::default())
        })
        .collect();
    let bound = DRIFT.plus(&DRIFT).rounded_up();
    let mut total = 0;
    for step in &steps {
        for a in 0..bodies.len() {
            for b in a + 1..bodies.len() {
                let tracker = &mut trackers[a * bodies.len() + b];
                let pose_ab = drift.poses[a].inv_mul(&drift.poses[b]);
                tracker.update(&Pose::identity(), &pose_ab, bound).unwrap();
                let pair = [a, b].map(|i| BodyId(u32::try_from(i).unwrap()));
                let found = step.iter().find(|(bodies, _)| *bodies == pair).map_or(&[][..], |(_, c)| c);
                let gaps = |contacts: &[Contact]| {
                    let mut gaps: Vec<f64> = contacts.iter().map(|c| c.gap).collect();
                    gaps.sort_unstable_by(f64::total_cmp);
                    gaps
                };
                let (in_scene, alone) = (gaps(found), gaps(tracker.contacts()));
                let same = in_scene.iter().zip(&alone).all(|(x, y)| (x - y).abs() < 1e-12);
                assert!(in_scene.len() == alone.len() && same, "{pair:?}: {in_scene:?} {alone:?}");
                total += alone.len();
            }
        }
        drift.advance();
    }
    assert!(total > 100, "{total}");
}

/// A ball above a block: when the pair is near, which motions its bound covers, and which input is rejected.
#[test]
fn tracking_takes_what_steps_can_close() {
    let block = body(&fixtures::block([-5.0, -5.0, -1.0], [5.0, 5.0, 0.0]));
    let ball = body(&fixtures::sphere(1.0));
    let mut scene = Scene::new(QueryOptions::within(0.01)).unwrap();
    let floor = scene.add(block, Pose::identity()).unwrap();
    let ball = scene.add(ball, Pose::translation(0.0, 0.0, 2.0)).unwrap();
    let options = TrackerOptions { reach: 0.05, ..TrackerOptions::default() };
    let slow = |_| StepBound { rotation: 0.0, displacement: 0.01 };
    scene.track(&options, slow).unwrap();
    assert_eq!(scene.tracked().count(), 0, "not near");
    scene.track(&options, |_| StepBound { rotation: 0.0, displacement: 0.6 }).unwrap();
    let gap = |scene: &Scene| scene.tracked().next().map(|pair| pair.tracker.contacts()[0].gap);
    assert!((gap(&scene).unwrap() - 1.0).abs() < 1e-12, "the step can close it");
    scene.set_pose(ball, Pose::translation(0.0, 0.0, 1.04)).unwrap();
    scene.track(&options, slow).unwrap();
    assert!((gap(&scene).unwrap() - 0.04).abs() < 1e-12, "within the reach");
    assert!(scene.covers().unwrap());
    scene.set_pose(ball, Pose::translation(0.015, 0.0, 1.03)).unwrap();
    assert!(scene.covers().unwrap(), "0.018 mm");
    scene.set_pose(ball, Pose::translation(0.0, 0.0, 0.99)).unwrap();
    assert!(!scene.covers().unwrap(), "0.05 mm");
    scene.track(&options, slow).unwrap();
    let pair = scene.tracked().next().unwrap();
    assert!(matches!(pair.tracker.status(), TrackedStatus::Pressed(depth) if (depth - 0.01).abs() < 1e-12));
    assert_eq!((scene.tracker_counts().updates, scene.tracker_counts().uncovered), (3, 1));
    let thick = BodyOptions { dilation: 0.2, ..BodyOptions::default() };
    scene.set_body_options(floor, thick).unwrap();
    scene.track(&options, slow).unwrap();
    assert!((gap(&scene).unwrap() + 0.21).abs() < 1e-12, "the dilation is subtracted");
    let refused = scene.track(&options, |_| StepBound { rotation: f64::NAN, displacement: 0.0 });
    let is_bound =
        |e: &SceneError| matches!(e, SceneError::Query { error: QueryError::StepBound { .. }, .. });
    assert!(refused.is_err_and(|e| is_bound(&e)));
    assert_eq!(scene.tracked().count(), 0);
    // Invalid options change nothing.
    for reach in [f64::INFINITY, f64::NAN, -1.0] {
        let refused = scene.track(&TrackerOptions { reach, ..options }, slow);
        assert!(refused.is_err_and(|e| e.to_string().contains("reach")), "{reach}");
    }
    scene.track(&options, slow).unwrap();
    assert_eq!(scene.tracked().count(), 1);
    // Queries are not affected.
    scene.update().unwrap();
    assert_eq!(scene.status(floor, ball), Ok(Some(Status::Interfering)));
    let updates = scene.tracker_counts().updates;
    scene.remove(ball).unwrap();
    assert_eq!((scene.tracked().count(), scene.tracker_counts().updates), (0, updates));
}
