//! Many bodies against all their pairs.

mod common;

use common::{body, random_pose};
use feeler_brep::fixtures;
use feeler_geom::Pose;
use feeler_runtime::{Body, ContactPair, Lmd, QueryOptions, Scene, SceneError, Status};
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

/// Poses that drift and turn.
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

/// What does not depend on the past.
fn timeless(l: &[Lmd]) -> Vec<Lmd> {
    l.iter().map(|l| Lmd { id: 0, age: 0, ..*l }).collect()
}

#[test]
fn near_pairs_are_all_pairs_that_matter() {
    let bodies = bodies();
    let options = QueryOptions::within(0.4);
    let mut scene = Scene::new(bodies.clone(), options).unwrap();
    let mut drift = Drift::new(bodies.len(), 5);
    let (mut found, mut met, mut aged) = (0, 0, 0);
    for _ in 0..25 {
        scene.step(&drift.poses, |_, _| false).unwrap();
        let near: Vec<_> = scene.near().collect();
        for j in 0..20_u32 {
            for i in 0..j {
                let mut pair = ContactPair::new(bodies[i as usize].clone(), bodies[j as usize].clone());
                let expected = pair
                    .query(&drift.poses[i as usize], &drift.poses[j as usize], &options)
                    .expect("finite poses and options")
                    .to_vec();
                match near.iter().find(|n| n.bodies == (i, j)) {
                    Some(n) => {
                        assert!(timeless(n.contacts.lmds()) == timeless(&expected), "{i} {j}");
                        assert_eq!(n.contacts.status(), pair.status(), "{i} {j}");
                        aged += n.contacts.lmds().iter().filter(|l| l.age > 0).count();
                    }
                    None => {
                        assert!(
                            expected.is_empty() && pair.status() == Some(Status::Separated),
                            "{i} {j} missed"
                        );
                    }
                }
                found += usize::from(!expected.is_empty());
                met += usize::from(pair.status() == Some(Status::Interfering));
            }
        }
        assert!(near.is_sorted_by_key(|n| n.bodies));
        drift.advance();
    }
    assert!(found > 100 && met > 10 && aged > 50, "{found} {met} {aged}");
    let counts = scene.counts();
    assert!(counts.distances < 25 * 190 / 4, "{counts:?}");
}

#[test]
fn any_number_of_threads() {
    let run = |threads: usize| -> Vec<Vec<Lmd>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let bodies = bodies();
            let mut drift = Drift::new(bodies.len(), 6);
            let mut scene = Scene::new(bodies, QueryOptions::within(0.5)).unwrap();
            let mut all = Vec::new();
            for _ in 0..10 {
                scene.step(&drift.poses, |_, _| false).unwrap();
                all.extend(scene.near().map(|n| n.contacts.lmds().to_vec()));
                drift.advance();
            }
            all
        })
    };
    let one = run(1);
    assert!(one.iter().map(Vec::len).sum::<usize>() > 50);
    assert!(one == run(2) && one == run(7), "threads change bits");
}

#[test]
fn chosen_pairs_and_bad_ones() {
    let bodies = bodies();
    let drift = Drift::new(bodies.len(), 7);
    let mut scene = Scene::new(bodies, QueryOptions::within(100.0)).unwrap();
    scene.step_pairs(&drift.poses, &[(3, 1), (0, 2), (1, 3)]).unwrap();
    let near: Vec<_> = scene.near().map(|n| n.bodies).collect();
    assert_eq!(near, [(0, 2), (1, 3)]);
    assert!(
        scene
            .near()
            .all(|n| !n.contacts.lmds().is_empty() || n.contacts.status() == Some(Status::Interfering))
    );
    assert_eq!(scene.step_pairs(&drift.poses, &[(4, 4)]), Err(SceneError::NoPair(4, 4)));
    assert_eq!(scene.step_pairs(&drift.poses, &[(4, 20)]), Err(SceneError::NoPair(4, 20)));
    assert!(matches!(scene.step(&drift.poses[1..], |_, _| false), Err(SceneError::BroadPhase(_))));
    let mut bad = drift.poses.clone();
    bad[3].translation.vector.x = f64::NAN;
    assert!(matches!(scene.step(&bad, |_, _| false), Err(SceneError::BroadPhase(_))));
    assert_eq!(scene.near().len(), 2, "the last step stays");
    scene.step(&drift.poses, |i, _| i == 0).unwrap();
    assert!(scene.near().all(|n| n.bodies.0 != 0), "ignored");
    assert!(Scene::new(Vec::new(), QueryOptions::within(f64::INFINITY)).is_err(), "no limit");
    let mut none = Scene::new(Vec::new(), QueryOptions::within(1.0)).unwrap();
    none.step(&[], |_, _| false).unwrap();
    assert_eq!(none.near().len(), 0);
}
