//! Second derivatives of gaps against differences of gaps, and against closed forms.

use feeler_geom::{Pose, V3, math};
use feeler_runtime::{Contact, ContactKind, ContactTracker, StepBound, TrackerOptions};
use feeler_tests::model;
use feeler_tests::tracking::Scene;
use nalgebra::{Matrix4, Translation3, UnitQuaternion, Vector6};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bound of the steps whose sets are examined; the differences stay within it.
const BOUND: StepBound = StepBound { rotation: 1e-3, displacement: 0.02 };
/// Step of the differences, as a part of the twist.
const STEP: f64 = 2e-5;

/// Exponential of a twist (v, ω).
fn exponential(twist: &Vector6<f64>) -> Pose {
    let (v, w) = (V3::new(twist[0], twist[1], twist[2]), V3::new(twist[3], twist[4], twist[5]));
    let mut generator = Matrix4::zeros();
    generator.fixed_view_mut::<3, 3>(0, 0).copy_from(&w.cross_matrix());
    generator.fixed_view_mut::<3, 1>(0, 3).copy_from(&v);
    // The series of the translation; twists are small.
    let mut term = Matrix4::identity();
    let mut sum = Matrix4::identity();
    for k in 1..8 {
        term = term * generator / f64::from(k);
        sum += term;
    }
    let shift = Translation3::new(sum[(0, 3)], sum[(1, 3)], sum[(2, 3)]);
    Pose::from_parts(shift, UnitQuaternion::from_scaled_axis(w))
}

fn scene(name: &str, models: [&str; 2], poses: Vec<Pose>) -> Scene {
    let [a, b] = models.map(|m| model(m).body);
    Scene { name: name.to_owned(), a, b, poses, jitter: [0.02, 1e-3] }
}

fn scenes() -> Vec<Scene> {
    vec![
        scene("race and ball", ["race", "ball"], vec![Pose::translation(13.0, 0.0, 0.0)]),
        scene("cone and torus", ["cone", "torus"], vec![]),
        scene("spool and ball", ["spool", "ball"], vec![]),
        scene("box and cylinder", ["box", "cylinder"], vec![]),
        scene("boxes", ["box", "box"], vec![]),
        scene("wave and torus", ["wave", "torus-nurbs"], vec![]),
        scene("loft and cone", ["loft", "cone"], vec![]),
        scene("pin in bore", ["blind-bore", "pin"], vec![Pose::translation(0.0, 0.0, 21.0)]),
    ]
}

/// Gap of the same contact (by identity, features and kind) after an update at another pose.
fn gap_at(tracker: &ContactTracker, pose: &Pose, of: &Contact) -> Option<f64> {
    let mut tracker = tracker.clone();
    tracker.update(&Pose::identity(), pose, BOUND).expect("valid");
    let same = |c: &&Contact| c.id == of.id && c.features() == of.features() && c.kind == of.kind;
    tracker.contacts().iter().find(same).map(|c| c.gap)
}

#[test]
fn hessians_agree_with_differences() {
    let mut compared: BTreeMap<(String, ContactKind), usize> = BTreeMap::new();
    let mut rng = SmallRng::seed_from_u64(47);
    let mut skipped = 0;
    for scene in scenes() {
        for number in 0..30 {
            let Some(start) = scene.start(3, number) else { continue };
            let options = TrackerOptions { reach: 0.1, ..TrackerOptions::default() };
            let mut tracker = ContactTracker::new(Arc::clone(&scene.a), Arc::clone(&scene.b), options);
            tracker.update(&Pose::identity(), &start.pose, BOUND).expect("valid");
            for contact in tracker.contacts() {
                let Some(hessian) = tracker.gap_hessian(contact) else { continue };
                let rate = Vector6::from(contact.gap_rate);
                // Translations are in mm; rotations move points at a distance of the size by as much.
                let size = scene.b.size();
                let twist: Vector6<f64> = Vector6::from_fn(|i, _| {
                    rng.random_range(-1.0..1.0) * if i < 3 { 1.0 } else { 1.0 / size }
                });
                let at = |s: f64| gap_at(&tracker, &(exponential(&(twist * s)) * start.pose), contact);
                // First and second difference, with one step and with half of it.
                let differences = |step: f64| {
                    let (after, before) = (at(step)?, at(-step)?);
                    Some([
                        (after - before) / (2.0 * step),
                        (after + before - 2.0 * contact.gap) / (step * step),
                    ])
                };
                let (Some(wide), Some([first, second])) = (differences(2.0 * STEP), differences(STEP)) else {
                    continue;
                };
                let expected = twist.dot(&(hessian * twist));
                let scale = 1.0 + hessian.norm() * twist.norm_squared();
                if (wide[1] - second).abs() > 2e-3 * scale || (wide[0] - first).abs() > 1e-7 {
                    // Terms of third order, or another contact.
                    skipped += 1;
                    continue;
                }
                assert!((first - rate.dot(&twist)).abs() <= 1e-6, "{}: {contact:?} {first}", scene.name);
                assert!(
                    (second - expected).abs() <= 4e-3 * scale,
                    "{} {number}: {contact:?}\n{second} {expected} {scale}",
                    scene.name
                );
                let mut kinds = contact.features().map(|(kind, _)| format!("{kind:?}"));
                kinds.sort();
                *compared.entry((kinds.join(" "), contact.kind)).or_default() += 1;
            }
        }
    }
    let total: usize = compared.values().sum();
    assert!(skipped <= total / 4, "{skipped} skipped, {total} compared");
    for features in ["Face Face", "Edge Face", "Face Vertex", "Edge Edge"] {
        let count: usize =
            compared.iter().filter(|((kinds, _), _)| kinds == features).map(|(_, count)| count).sum();
        assert!(count >= 5, "{features}: {compared:?}");
    }
    assert!(compared.iter().any(|((_, kind), _)| *kind == ContactKind::Sample), "{compared:?}");
}

/// A ball over a plane: the gap is the height of its centre minus its radius.
#[test]
fn a_ball_over_a_plane_has_the_hessian_of_its_centre() {
    let (plate, ball) = (model("box").body, model("ball").body);
    let top = plate.bounds().max;
    let radius = 0.5 * (ball.bounds().max.z - ball.bounds().min.z);
    for gap in [0.0, 1e-3] {
        let middle = ball.bounds().min + (ball.bounds().max - ball.bounds().min) * 0.5;
        let center = nalgebra::Point3::new(top.x - 4.0, top.y - 6.0, top.z + radius + gap);
        let shift = center - middle;
        let pose = Pose::translation(shift.x, shift.y, shift.z);
        let mut tracker = ContactTracker::new(plate.clone(), ball.clone(), TrackerOptions::default());
        tracker.update(&Pose::identity(), &pose, BOUND).expect("valid");
        let contact = tracker.contacts().iter().find(|c| c.kind.is_minimum()).expect("one");
        let hessian = tracker.gap_hessian(contact).expect("isolated");
        // z component of ω × (ω × c + v).
        let c = center.coords;
        for k in 0..20 {
            let angle = f64::from(k);
            let twist = Vector6::from_fn(|i, _| {
                math::sin(angle * (1.0 + 0.7 * f64::from(u32::try_from(i).expect("small"))))
            });
            let (v, w) = (V3::new(twist[0], twist[1], twist[2]), V3::new(twist[3], twist[4], twist[5]));
            let expected = w.cross(&(w.cross(&c) + v)).z;
            let found = twist.dot(&(hessian * twist));
            assert!((found - expected).abs() <= 1e-9 * c.norm(), "{gap} {k}: {found} {expected}");
        }
    }
}
