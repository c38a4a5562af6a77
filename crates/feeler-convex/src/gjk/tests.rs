use super::*;
use crate::support::PointSet;
use feeler_geom::P3;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn points(rng: &mut SmallRng, n: usize) -> Vec<P3> {
    let mut p: Vec<P3> = (0..n).map(|_| P3::from(V3::from_fn(|_, _| rng.random_range(-1.0..1.0)))).collect();
    match rng.random_range(0..8) {
        0 => p.iter_mut().for_each(|v| v.z = 0.0),
        1 => p.iter_mut().for_each(|v| *v = P3::new(v.x, 2.0 * v.x, -v.x)),
        2 => p[n - 1] = p[0],
        3 => p.iter_mut().for_each(|v| v.z *= 1e-9),
        4 => p.iter_mut().for_each(|v| v.coords = v.coords.map(|c| (c * 2.0).round())),
        5 => p.iter_mut().for_each(|v| *v = P3::new(v.x * 1e-3, v.y * 1e-6, v.z)),
        _ => {}
    }
    p
}

fn combine(points: &[P3], weights: &[f64]) -> P3 {
    P3::from(points.iter().zip(weights).fold(V3::zeros(), |s, (p, w)| s + p.coords * *w))
}

/// Checks an answer by duality: points of both sets (weights) bound the distance from above, the gap along their
/// difference from below.
fn certify(a: &[P3], b: &[P3], answer: &Answer, size: f64) -> f64 {
    let (set_a, set_b) = (PointSet::new(a).unwrap(), PointSet::new(b).unwrap());
    let check = |w: &Witness| {
        let (wa, wb) = (w.weights_a::<8>(), w.weights_b::<8>());
        assert!(wa.iter().chain(&wb).all(|w| *w >= 0.0), "weights {wa:?} {wb:?}");
        assert!((wa.iter().sum::<f64>() - 1.0).abs() < 1e-13, "sum of weights");
        assert!((combine(a, &wa) - w.point_a).norm() < 1e-13 * size, "weights of A");
        assert!((combine(b, &wb) - w.point_b).norm() < 1e-13 * size, "weights of B");
        w.point_b - w.point_a
    };
    let n = check(&answer.witness);
    let distance = answer.distance;
    match answer.outcome {
        Outcome::Separated => {
            assert!((n.norm() - distance).abs() < 1e-13 * size, "distance of the witnesses");
            let n = answer.direction;
            assert!((n.norm() - 1.0).abs() < 1e-14, "unit");
            let gap = set_b.support(&-n).point.coords.dot(&n) - set_a.support(&n).point.coords.dot(&n);
            // The direction is known to about half the digits where the simplex is a needle.
            assert!(
                distance - gap < 1e-12 * size + 1e-14 * size * size / distance,
                "{a:?} {b:?}: {gap} {distance}"
            );
            distance
        }
        Outcome::Touching | Outcome::Overlapping => {
            assert!(n.norm() < 1e-13 * size, "{a:?} {b:?}: {:?}", n.norm());
            0.0
        }
        _ => panic!("{a:?} {b:?} {answer:?}"),
    }
}

#[test]
fn small_sets_are_certified_by_duality() {
    let mut rng = SmallRng::seed_from_u64(32);
    let mut counts = [0; 2];
    for _ in 0..60_000 {
        let (na, nb) = (rng.random_range(1..5), rng.random_range(1..5));
        let (mut a, mut b) = (points(&mut rng, na), points(&mut rng, nb));
        let shift =
            V3::from_fn(|_, _| rng.random_range(-1.0..1.0)) * [0.0, 0.5, 3.0, 100.0][rng.random_range(0..4)];
        b.iter_mut().for_each(|p| *p += shift);
        let far = [0.0, 10.0, 1000.0][rng.random_range(0..3)];
        a.iter_mut().chain(&mut b).for_each(|p| p.x += far);
        let request = Request {
            start: if rng.random_range(0..2) == 0 { Start::Cold } else { Start::Direction(V3::x()) },
            ..Request::default()
        };
        let outcome = distance(&PointSet::new(&a).unwrap(), &PointSet::new(&b).unwrap(), &request);
        let size = 4.0 + far + shift.norm();
        let d = certify(&a, &b, &outcome, size);
        counts[usize::from(d > 0.0)] += 1;
        let swapped = distance(&PointSet::new(&b).unwrap(), &PointSet::new(&a).unwrap(), &request);
        let e = certify(&b, &a, &swapped, size);
        assert!((d - e).abs() < 1e-10 * size, "swapped: {d} {e}");
    }
    assert!(counts[0] > 2000 && counts[1] > 10_000, "{counts:?}");
}

#[test]
fn agrees_with_enumeration() {
    let mut rng = SmallRng::seed_from_u64(33);
    for _ in 0..150 {
        let (na, nb) = (rng.random_range(1..4), rng.random_range(1..4));
        let (a, b) = (points(&mut rng, na), points(&mut rng, nb));
        let outcome = distance(&PointSet::new(&a).unwrap(), &PointSet::new(&b).unwrap(), &Request::default());
        let d = certify(&a, &b, &outcome, 4.0);
        // The hull of all differences; by Carathéodory four of them suffice.
        let diff: Vec<V3> = a.iter().flat_map(|p| b.iter().map(move |q| q - p)).collect();
        let mut exact = f64::INFINITY;
        let n = diff.len();
        for i in 0..n {
            for j in i..n {
                for k in j..n {
                    for l in k..n {
                        let s = [diff[i], diff[j], diff[k], diff[l]];
                        exact = exact.min(crate::nearest_to_origin(&s).unwrap().point().norm());
                    }
                }
            }
        }
        assert!((d - exact).abs() < 1e-10, "{a:?} {b:?}: {d} {exact}");
    }
}

#[test]
fn known_cases() {
    let square =
        [P3::new(0.0, 0.0, 0.0), P3::new(1.0, 0.0, 0.0), P3::new(1.0, 1.0, 0.0), P3::new(0.0, 1.0, 0.0)];
    let above = square.map(|p| p + V3::new(0.25, 0.25, 2.0));
    let (a, b) = (PointSet::new(&square).unwrap(), PointSet::new(&above).unwrap());
    let answer = distance(&a, &b, &Request::default());
    assert_eq!(answer.outcome, Outcome::Separated, "apart");
    let (d, witness) = (answer.distance, answer.witness);
    assert!((d - 2.0).abs() < 1e-15, "parallel squares: {d}");
    assert!((witness.point_b - witness.point_a - V3::new(0.0, 0.0, 2.0)).norm() < 1e-14, "{witness:?}");
    let near = Request { max_distance: 1.5, ..Request::default() };
    let answer = distance(&a, &b, &near);
    assert!(answer.outcome == Outcome::Beyond && answer.lower_bound > 1.5, "limit");
    assert_eq!(
        distance(&a, &a, &Request::default()).outcome,
        Outcome::Touching,
        "flat: no interiors to meet"
    );
    let line = [P3::new(-1.0, 0.5, -1.0), P3::new(2.0, 0.5, 1.0)];
    let line = PointSet::new(&line).unwrap();
    assert_eq!(distance(&a, &line, &Request::default()).outcome, Outcome::Overlapping, "pierced");
    let one = Request { max_iterations: 0, ..Request::default() };
    assert_eq!(distance(&a, &b, &one).outcome, Outcome::Stalled, "no iterations");
    assert!(PointSet::new(&[]).is_err(), "no points");
    assert!(PointSet::new(&[P3::new(f64::NAN, 0.0, 0.0)]).is_err(), "not finite");
}

/// Sizes at which squares and cubes of coordinates leave the range of numbers, and sizes that differ.
#[test]
fn scales() {
    let cube = |size: f64, at: f64| -> Vec<P3> {
        (0..8)
            .map(|i: i32| P3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)) * size)
            .map(|p| p + V3::x() * (at * size))
            .collect()
    };
    for size in [1e-300, 1e-200, 1e-100, 1e-41, 1e-12, 1.0, 1e12, 1e41, 1e100, 1e200, 1e300] {
        let (a, b) = (cube(size, 0.0), cube(size, 2.5));
        let (a, b) = (PointSet::new(&a).unwrap(), PointSet::new(&b).unwrap());
        let answer = distance(&a, &b, &Request::default());
        assert_eq!(answer.outcome, Outcome::Separated, "{size}");
        assert!((answer.distance / (1.5 * size) - 1.0).abs() < 1e-15, "{size}: {answer:?}");
        assert_eq!(distance(&a, &a, &Request::default()).outcome, Outcome::Overlapping, "{size}");
    }
    let (small, large) = (cube(1e-150, 0.0), cube(1e150, 1.0));
    let (a, b) = (PointSet::new(&small).unwrap(), PointSet::new(&large).unwrap());
    let answer = distance(&a, &b, &Request::default());
    assert!((answer.distance / 1e150 - 1.0).abs() < 1e-15, "{answer:?}");
}

/// The next search from the last answer: the same result in fewer steps.
#[test]
fn warm_starts() {
    use crate::support::{Moved, Polytope};
    let mut rng = SmallRng::seed_from_u64(35);
    let mut steps = [0; 3];
    for _ in 0..200 {
        let on_ball = |rng: &mut SmallRng| -> Vec<P3> {
            (0..60).map(|_| P3::from(V3::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize())).collect()
        };
        let (p, q) = (on_ball(&mut rng), on_ball(&mut rng));
        let (a, b) = (Polytope::new(&p).unwrap(), Polytope::new(&q).unwrap());
        let pose = |t: f64| feeler_geom::Pose::new(V3::new(2.2 + t, 0.3 - t, t), V3::new(t, 0.5, 2.0 * t));
        let at = |t: f64| Moved::new(&b, &pose(t)).unwrap();
        let first = distance(&a, &at(0.0), &Request::default());
        let ask = |start| distance(&a, &at(1e-4), &Request { start, ..Request::default() });
        let answers = [Start::Cold, Start::Direction(first.direction), Start::Warm(first.warm())].map(ask);
        for (answer, steps) in answers.iter().zip(&mut steps) {
            assert_eq!(answer.outcome, Outcome::Separated, "apart");
            assert!((answer.distance - answers[0].distance).abs() < 1e-14, "{answers:?}");
            *steps += answer.iterations;
        }
    }
    assert!(steps[1] < steps[0] && 2 * steps[2] < steps[0], "{steps:?}");
}

#[test]
fn radii_and_what_touching_means() {
    use crate::support::{Ball, Capsule, Cuboid, Ellipsoid, Moved};
    let ball = |x: f64, r: f64| Ball::new(P3::new(x, 0.0, 0.0), r).unwrap();
    let ask = |x: f64| distance(&ball(0.0, 1.0), &ball(x, 0.5), &Request::default());
    let apart = ask(2.0);
    assert!(apart.outcome == Outcome::Separated && (apart.distance - 0.5).abs() < 1e-16, "{apart:?}");
    assert_eq!(apart.witness.point_a, P3::new(1.0, 0.0, 0.0), "on the surface");
    assert_eq!(apart.witness.point_b, P3::new(1.5, 0.0, 0.0), "on the surface");
    assert_eq!(ask(1.5).outcome, Outcome::Touching, "touching");
    assert_eq!(ask(1.5 + 1e-13).outcome, Outcome::Separated, "just apart");
    assert_eq!(ask(1.5 - 1e-13).outcome, Outcome::Overlapping, "just overlapping");
    assert_eq!(ask(0.0).outcome, Outcome::Overlapping, "one centre");
    let loose = Request { touch_tol: 1e-12, ..Request::default() };
    assert_eq!(
        distance(&ball(0.0, 1.0), &ball(1.5 + 1e-13, 0.5), &loose).outcome,
        Outcome::Touching,
        "asked for"
    );
    let capsule = Capsule::new([P3::new(-1.0, 0.0, 3.0), P3::new(1.0, 0.0, 3.0)], 0.5).unwrap();
    let cube = Cuboid::new(V3::repeat(1.0)).unwrap();
    let answer = distance(&cube, &capsule, &Request::default());
    assert!(
        (answer.distance - 1.5).abs() < 1e-15 && (answer.direction - V3::z()).norm() < 1e-15,
        "{answer:?}"
    );
    // Boxes face to face, edge to edge and corner to corner, a hair before and behind touching.
    let turn = |v: V3| feeler_geom::Pose::new(V3::zeros(), v);
    let q = std::f64::consts::FRAC_PI_4;
    for (rotation, half) in [(V3::zeros(), 1.0), (V3::z() * q, 2.0_f64.sqrt())] {
        for (hair, expected) in
            [(1e-13, Outcome::Separated), (0.0, Outcome::Touching), (-1e-13, Outcome::Overlapping)]
        {
            let mut pose = turn(rotation);
            pose.translation.vector = V3::new(1.0 + half + hair, 0.0, 0.0);
            let answer = distance(&cube, &Moved::new(cube, &pose).unwrap(), &Request::default());
            assert_eq!(answer.outcome, expected, "{rotation:?} {hair}: {answer:?}");
        }
    }
    // A smooth pair in closed form.
    let a = Ellipsoid::new(V3::new(1.0, 1.0, 1.0)).unwrap();
    let pose = feeler_geom::Pose::translation(0.3, -1.2, 2.5);
    let answer = distance(&a, &Moved::new(a, &pose).unwrap(), &Request::default());
    let exact = pose.translation.vector.norm() - 2.0;
    assert!((answer.distance - exact).abs() < 1e-14, "{answer:?} {exact}");
    assert_eq!(answer.outcome, Outcome::Separated, "round");
}

/// Every kind of hard pair, each answer checked by proof; the long campaign is `benches/src/bin/convex_campaign.rs`.
#[test]
fn hard_pairs_against_exact_distances() {
    use crate::reference::cases::{KINDS, Random, hard_pair, judge};
    let mut rng = Random(36);
    for round in 0..30_000 {
        let kind = round % KINDS.len();
        let (a, b) = hard_pair(&mut rng, kind);
        let answer = distance(&PointSet::new(&a).unwrap(), &PointSet::new(&b).unwrap(), &Request::default());
        let verdict = judge(&a, &b, &answer).unwrap_or_else(|e| panic!("{}: {e} {a:?} {b:?}", KINDS[kind]));
        // Below the rounding of a coordinate no relative error can be asked for.
        let fine = verdict.relative < 1e-12 || verdict.to_size < f64::EPSILON;
        assert!(fine, "{}: {verdict:?} {a:?} {b:?}", KINDS[kind]);
    }
}

/// Pairs on which earlier versions failed.
#[test]
fn worst_cases() {
    use crate::reference::cases::judge;
    // The weights of the needle's vertices once ended a search at 2e-9.
    let a = [
        [0.938088719470223, -0.453404366730102, 0.17334220534923261],
        [-0.40527722185486126, -0.07728013512779475, 0.48411285148720284],
        [-0.8287570850024961, -0.479206254377039, -0.49924396485777045],
    ];
    let b = [
        [-0.7247400494521695, -0.38048335815805445, -0.25770741863353863],
        [-0.7247400539889951, -0.38048335772137, -0.2577074315465929],
        [-0.7247400652446249, -0.38048333849193283, -0.25770741959494636],
        [-0.7247400475094682, -0.38048334485160074, -0.2577074202992504],
        [-0.724740065959726, -0.3804833600002955, -0.2577074319832333],
    ];
    let (a, b) = (a.map(P3::from), b.map(P3::from));
    let cases: Vec<(&[P3], &[P3])> = vec![(&a, &b)];
    for (a, b) in cases {
        let answer = distance(&PointSet::new(a).unwrap(), &PointSet::new(b).unwrap(), &Request::default());
        let verdict = judge(a, b, &answer).unwrap();
        assert!(verdict.relative < 1e-12 || verdict.to_size < f64::EPSILON, "{verdict:?} {answer:?}");
    }
}
