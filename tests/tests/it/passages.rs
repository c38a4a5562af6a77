//! First contacts of motions: closed forms, and some motions of the benchmark program `passages`.

use feeler_brep::fixtures::{block_with_hole, prism};
use feeler_geom::{P3, Pose, Twist, V3, math};
use feeler_import::DEFAULT_FLATNESS;
use feeler_runtime::{
    ContactPair, Passage, PassageOptions, PassageOutcome, Path, PathError, PathPiece, QueryError, Status,
    time_of_contact,
};
use feeler_tests::cases::cases;
use feeler_tests::passages::{Motion, check};
use feeler_tests::{Part, model, part_of};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

fn spheres() -> [Part; 2] {
    ["sphere", "sphere"].map(model)
}

/// Radius of the ball: half the side of its bounding box.
fn radius(part: &Part) -> f64 {
    0.5 * (part.body.bounds().max.x - part.body.bounds().min.x)
}

/// The centre of B moves from `from` by `displacement` in a unit of time, while B rotates about it.
fn pass(parts: &[Part; 2], (from, displacement): (V3, V3), distance: f64) -> Passage {
    let centre = |part: &Part| part.pose * part.body.bounds().center();
    let pose_b = Pose::translation(from.x, from.y, from.z)
        * Pose::from(centre(&parts[0]) - centre(&parts[1]))
        * parts[1].pose;
    // Rotation about its own centre does not change the ball, but the motion is not a pure translation.
    let turn = Twist::rotation(&(centre(&parts[0]) + from), V3::new(0.3, -1.0, 0.5));
    let twists = vec![Twist::translation(displacement), turn];
    let path_b = Path::of_pieces(vec![PathPiece { pose: pose_b, twists, duration: 1.0 }]).expect("a path");
    let mut pair = ContactPair::new(parts[0].body.clone(), parts[1].body.clone());
    let options = PassageOptions { distance, ..PassageOptions::default() };
    time_of_contact(&mut pair, &Path::still(parts[0].pose), &path_b, &options).expect("a passage")
}

/// Time at which the centres are first at a distance of `reach`.
fn first((from, displacement): (V3, V3), reach: f64) -> Option<f64> {
    let (a, b, c) =
        (displacement.norm_squared(), from.dot(&displacement), from.norm_squared() - reach * reach);
    let root = b * b - a * c;
    (root >= 0.0 && b < 0.0).then(|| c / (-b + root.sqrt()))
}

#[test]
fn times_of_contact_of_balls_follow_from_their_centres() {
    let parts = spheres();
    let r = radius(&parts[0]);
    let mut contacts = 0;
    for k in 0..200_u32 {
        let f = f64::from(k);
        let (s, c) = math::sin_cos(0.7 * f);
        // From head-on to a wide miss.
        let off = 2.4 * r * f / 200.0;
        let from = V3::new(-4.0 * r, off * c, off * s);
        let displacement = V3::new(8.0 * r, 0.1 * r, 0.0);
        let limit = if k % 3 == 0 { 0.0 } else { 0.05 * r };
        let expected = first((from, displacement), 2.0 * r + limit);
        match (pass(&parts, (from, displacement), limit).outcome, expected) {
            (PassageOutcome::Free, None) => {}
            (PassageOutcome::Contact(c), Some(t)) => {
                contacts += 1;
                assert!((c.time - t).abs() < 1e-10, "{k}: contact at {} instead of {t}", c.time);
                assert!((c.minimum.distance - limit).abs() < 1e-10 * r);
            }
            other => panic!("{k}: {other:?}"),
        }
    }
    assert!(contacts > 120, "{contacts}");
}

/// Balls that pass each other at a gap around the limit: contact, grazing contact, and free.
#[test]
fn grazing_is_reported() {
    let parts = spheres();
    let r = radius(&parts[0]);
    let at =
        |gap: f64| pass(&parts, (V3::new(-3.0 * r, 2.0 * r + gap, 0.0), V3::new(6.0 * r, 0.0, 0.0)), 0.0);
    let PassageOutcome::Contact(deep) = at(-1e-3 * r).outcome else { panic!("{:?}", at(-1e-3 * r)) };
    assert!(!deep.grazing && deep.closing > 0.0);
    for gap in [0.0, 1e-9 * r] {
        let PassageOutcome::Contact(touch) = at(gap).outcome else { panic!("{:?}", at(gap)) };
        assert!(touch.grazing, "{touch:?}");
        assert!((touch.time - 0.5).abs() < 1e-3, "{touch:?}");
    }
    let free = at(1e-4 * r);
    assert_eq!(free.outcome, PassageOutcome::Free, "{free:?}");
    assert!(free.smallest.is_some_and(|(d, _)| d >= 1e-4 * r * (1.0 - 1e-9)), "{free:?}");
}

/// A start in interference is reported, followed until it ends, and the search starts at its end.
#[test]
fn a_start_in_contact() {
    let parts = spheres();
    let r = radius(&parts[0]);
    let out = pass(&parts, (V3::new(1.0 * r, 0.0, 0.0), V3::new(3.0 * r, 0.0, 0.0)), 0.0);
    assert_eq!((out.start, out.outcome), (Some(Status::Interfering), PassageOutcome::Free));
    assert!(out.left.is_some_and(|t| (t - 1.0 / 3.0).abs() < 1e-6), "{out:?}");
    let never = pass(&parts, (V3::new(0.5 * r, 0.0, 0.0), V3::new(0.5 * r, 0.0, 0.0)), 0.0);
    assert_eq!((never.outcome, never.left), (PassageOutcome::InContact, None));
}

/// A ball moves towards the floor and the wall of a corner. The minimum that is nearest at the start may
/// reach zero after the other one.
#[test]
fn a_faster_minimum_arrives_first() {
    let corner = [[0.0, 0.0], [40.0, 0.0], [40.0, 10.0], [10.0, 10.0], [10.0, 40.0], [0.0, 40.0]];
    let corner = part_of(&prism(&corner, 10.0), DEFAULT_FLATNESS);
    let ball = model("sphere");
    let radius = radius(&ball);
    let center = (ball.pose * ball.body.bounds().center()).coords;
    let mut rng = SmallRng::seed_from_u64(45);
    let mut overtaken = 0;
    for _ in 0..200 {
        let mut any = |from: f64, to: f64| rng.random_range(from..to);
        let (floor, wall, fall, push) = (any(0.01, 0.4), any(0.01, 0.6), any(0.5, 3.0), any(0.5, 5.0));
        overtaken += u32::from((floor < wall) == (wall / push < floor / fall));
        let at = V3::new(10.0 + radius + wall, 10.0 + radius + floor, 5.0) - center;
        let start = Pose::translation(at.x, at.y, at.z) * ball.pose;
        let twists = vec![Twist::translation(V3::new(-push, -fall, 0.0))];
        let path = Path::of_pieces(vec![PathPiece { pose: start, twists, duration: 1.0 }]).expect("a path");
        let mut pair = ContactPair::new(corner.body.clone(), ball.body.clone());
        let options = PassageOptions::default();
        let passage =
            time_of_contact(&mut pair, &Path::still(corner.pose), &path, &options).expect("a passage");
        let expected: f64 = (wall / push).min(floor / fall);
        let PassageOutcome::Contact(first) = passage.outcome else { panic!("{passage:?}") };
        assert!((first.time - expected).abs() < 1e-9, "{floor} {wall} {fall} {push}: {first:?} {expected}");
    }
    assert!(overtaken > 40, "{overtaken}");
}

/// A plate turns about a pin in its hole, which keeps the smallest distance constant, and its corner hits a
/// thin post.
#[test]
fn a_fast_corner_is_not_missed() {
    let (half, height, turn) = (100.0, 5.0, 0.2);
    let plate = part_of(&block_with_hole(half, height, std::f64::consts::SQRT_2 + 0.1), DEFAULT_FLATNESS);
    let posts = [[-1.0, -6.0], [141.0, -6.0], [141.0, 8.0], [140.0, 8.0]];
    let profile = [&posts[..], &[[140.0, -2.0], [1.0, -2.0], [1.0, 8.0], [-1.0, 8.0]]].concat();
    let posts = part_of(&prism(&profile, 2.0), DEFAULT_FLATNESS);
    // The profile is in the plane of x and z, and the prism extends to both sides of it.
    let upright = Twist { v: V3::zeros(), w: V3::x() * std::f64::consts::FRAC_PI_2 }.exp();
    let pose_a = Pose::translation(0.0, 1.0, 0.0) * upright;
    let about_z = |angle: f64| Twist::rotation(&P3::origin(), V3::z() * angle);
    for back in [0.03, 0.0707, 0.1] {
        let start = -std::f64::consts::FRAC_PI_4 - back;
        let path = Path::screw(about_z(start).exp(), about_z(turn), 1.0).expect("a path");
        let mut pair = ContactPair::new(posts.body.clone(), plate.body.clone());
        let options = PassageOptions::default();
        let passage = time_of_contact(&mut pair, &Path::still(pose_a), &path, &options).expect("a passage");
        let PassageOutcome::Contact(first) = passage.outcome else { panic!("{passage:?}") };
        // The post is reached when one of its corners is in the square.
        let is_reached = |time: f64| {
            let pose = about_z(start + turn * time).exp();
            [140.0, 141.0].iter().any(|x| {
                let p = pose.inverse_transform_point(&P3::new(*x, -1.0, 0.0));
                p.x.abs() < half && p.y.abs() < half
            })
        };
        let (before, after) = (first.time - 1e-6, first.time + 1e-6);
        assert!(is_reached(after), "{back}: {first:?}");
        let steps = (0..20_000).map(|i| before * f64::from(i) / 20_000.0);
        assert!(steps.chain([before]).all(|time| !is_reached(time)), "{back}: {first:?}");
    }
}

/// Solids that are moved by the same joint are at rest relative to each other.
#[test]
fn solids_on_one_joint_are_at_rest() {
    let parts = spheres();
    let r = radius(&parts[0]);
    let turn = Twist::rotation(&P3::new(1.0, 2.0, 3.0), V3::new(0.0, 2.0, 1.0));
    let path = |pose: Pose| Path::screw(pose, turn, 1.0).unwrap();
    let path_b = path(Pose::translation(2.1 * r, 0.0, 0.0) * parts[1].pose);
    let mut pair = ContactPair::new(parts[0].body.clone(), parts[1].body.clone());
    let options = PassageOptions::default();
    let passage = time_of_contact(&mut pair, &path(parts[0].pose), &path_b, &options).unwrap();
    assert_eq!((passage.outcome, passage.queries), (PassageOutcome::Free, 1));
}

#[test]
fn invalid_paths_and_limits_are_rejected() {
    let pose = Pose::identity();
    assert_eq!(Path::through(&[], &[]), Err(PathError::Empty));
    assert_eq!(Path::through(&[0.0], &[]), Err(PathError::Counts { times: 1, poses: 0 }));
    assert_eq!(Path::through(&[0.0, 1.0, 1.0], &[pose; 3]), Err(PathError::Times(2)));
    assert_eq!(Path::screw(pose, Twist::default(), 0.0), Err(PathError::Piece(0)));
    let infinite = Twist::translation(V3::new(f64::NAN, 0.0, 0.0));
    assert_eq!(Path::screw(pose, infinite, 1.0), Err(PathError::Piece(0)));
    let [a, b] = spheres();
    let mut pair = ContactPair::new(a.body, b.body);
    let still = Path::still(pose);
    let options = PassageOptions { distance: -1.0, ..PassageOptions::default() };
    assert_eq!(time_of_contact(&mut pair, &still, &still, &options), Err(QueryError::StopDistance(-1.0)));
}

/// A path through poses reaches each of them at its time, and interpolates between them along a screw.
#[test]
fn a_path_goes_through_its_poses() {
    let pose = |k: u32| {
        let f = f64::from(k);
        Twist { v: V3::new(3.0 * f, -f, 1.0), w: V3::new(0.3 * f, 0.1, -0.2 * f) }.exp()
    };
    let poses: Vec<Pose> = (0..6).map(pose).collect();
    let times = [0.0, 1.0, 1.5, 4.0, 4.25, 9.0];
    let path = Path::through(&times, &poses).unwrap();
    let p = P3::new(10.0, -7.0, 2.0);
    for (time, pose) in times.iter().zip(&poses) {
        assert!((path.pose(*time) * p - pose * p).norm() < 1e-12);
        assert!((path.pose(time + 1e-9) * p - pose * p).norm() < 1e-6);
    }
    assert!((path.pose(20.0) * p - poses[5] * p).norm() < 1e-12);
    // Half of a screw, applied twice, is the whole screw.
    let half = path.pose(0.5) * poses[0].inverse();
    assert!((half * half * poses[0] * p - poses[1] * p).norm() < 1e-11);
}

#[test]
fn random_motions() {
    let mut contacts = 0;
    for (i, case) in cases().iter().enumerate() {
        let parts = [model(case.a), model(case.b)];
        for k in 0..12 {
            let motion = Motion::new(case, [&parts[0], &parts[1]], 77_000 + 100 * i as u64 + k);
            let checked = check(&motion, [&parts[0], &parts[1]], 100).unwrap();
            assert_eq!(checked.fault, None, "{} / {}, {k}", case.a, case.b);
            assert!(!matches!(checked.passage.outcome, PassageOutcome::Undecided(_)), "{checked:?}");
            contacts += usize::from(matches!(checked.passage.outcome, PassageOutcome::Contact(_)));
        }
    }
    assert!(contacts >= 40, "{contacts}");
}
