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

/// Verifies a result by duality: the distance of two points of the hulls, given by the witness's
/// weights, bounds the distance from above, and the gap along their difference bounds it from below.
fn certify(a: &[P3], b: &[P3], answer: &DistanceResult, size: f64) -> f64 {
    let (set_a, set_b) = (PointSet::new(a).unwrap(), PointSet::new(b).unwrap());
    let check = |w: &ClosestPoints| {
        let (wa, wb) = (w.weights_a::<8>(), w.weights_b::<8>());
        assert!(wa.iter().chain(&wb).all(|w| *w >= 0.0), "weights {wa:?} {wb:?}");
        assert!((wa.iter().sum::<f64>() - 1.0).abs() < 1e-13, "the weights must sum to 1");
        assert!((combine(a, &wa) - w.point_a).norm() < 1e-13 * size, "weights of A");
        assert!((combine(b, &wb) - w.point_b).norm() < 1e-13 * size, "weights of B");
        w.point_b - w.point_a
    };
    let n = check(&answer.witness);
    let distance = answer.distance;
    match answer.outcome {
        DistanceOutcome::Separated => {
            assert!((n.norm() - distance).abs() < 1e-13 * size, "distance of the witnesses");
            let n = answer.direction;
            assert!((n.norm() - 1.0).abs() < 1e-14, "the direction must be a unit vector");
            let gap = set_b.support(&-n).point.coords.dot(&n) - set_a.support(&n).point.coords.dot(&n);
            // With a needle simplex, the direction is accurate to about half of the digits.
            assert!(
                distance - gap < 1e-12 * size + 1e-14 * size * size / distance,
                "{a:?} {b:?}: {gap} {distance}"
            );
            distance
        }
        DistanceOutcome::Touching | DistanceOutcome::Overlapping => {
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
        let request = DistanceRequest {
            start: if rng.random_range(0..2) == 0 { Start::Cold } else { Start::Direction(V3::x()) },
            ..DistanceRequest::default()
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
        let outcome =
            distance(&PointSet::new(&a).unwrap(), &PointSet::new(&b).unwrap(), &DistanceRequest::default());
        let d = certify(&a, &b, &outcome, 4.0);
        // The hull of all differences; by Carathéodory's theorem four of them suffice.
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
    let answer = distance(&a, &b, &DistanceRequest::default());
    assert_eq!(answer.outcome, DistanceOutcome::Separated, "disjoint squares");
    let (d, witness) = (answer.distance, answer.witness);
    assert!((d - 2.0).abs() < 1e-15, "parallel squares: {d}");
    assert!((witness.point_b - witness.point_a - V3::new(0.0, 0.0, 2.0)).norm() < 1e-14, "{witness:?}");
    let near = DistanceRequest { max_distance: 1.5, ..DistanceRequest::default() };
    let answer = distance(&a, &b, &near);
    assert!(answer.outcome == DistanceOutcome::Beyond && answer.lower_bound > 1.5, "limited distance");
    assert_eq!(
        distance(&a, &a, &DistanceRequest::default()).outcome,
        DistanceOutcome::Touching,
        "flat shapes have no interior"
    );
    let line = [P3::new(-1.0, 0.5, -1.0), P3::new(2.0, 0.5, 1.0)];
    let line = PointSet::new(&line).unwrap();
    assert_eq!(
        distance(&a, &line, &DistanceRequest::default()).outcome,
        DistanceOutcome::Overlapping,
        "a line through a square"
    );
    let one = DistanceRequest { max_iterations: 0, ..DistanceRequest::default() };
    assert_eq!(distance(&a, &b, &one).outcome, DistanceOutcome::Stalled, "no iterations");
    assert!(PointSet::new(&[]).is_err(), "no points");
    assert!(PointSet::new(&[P3::new(f64::NAN, 0.0, 0.0)]).is_err(), "not finite");
}

/// Distances are correct for sizes at which squares and cubes of coordinates overflow or underflow, and
/// for pairs of very different sizes.
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
        let answer = distance(&a, &b, &DistanceRequest::default());
        assert_eq!(answer.outcome, DistanceOutcome::Separated, "{size}");
        assert!((answer.distance / (1.5 * size) - 1.0).abs() < 1e-15, "{size}: {answer:?}");
        assert_eq!(
            distance(&a, &a, &DistanceRequest::default()).outcome,
            DistanceOutcome::Overlapping,
            "{size}"
        );
    }
    let (small, large) = (cube(1e-150, 0.0), cube(1e150, 1.0));
    let (a, b) = (PointSet::new(&small).unwrap(), PointSet::new(&large).unwrap());
    let answer = distance(&a, &b, &DistanceRequest::default());
    assert!((answer.distance / 1e150 - 1.0).abs() < 1e-15, "{answer:?}");
}

/// A search started from the previous result finds the same distance in fewer steps.
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
        let first = distance(&a, &at(0.0), &DistanceRequest::default());
        let query = |start| distance(&a, &at(1e-4), &DistanceRequest { start, ..DistanceRequest::default() });
        let answers = [Start::Cold, Start::Direction(first.direction), Start::Warm(first.warm())].map(query);
        for (answer, steps) in answers.iter().zip(&mut steps) {
            assert_eq!(answer.outcome, DistanceOutcome::Separated, "disjoint polytopes");
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
    let query = |x: f64| distance(&ball(0.0, 1.0), &ball(x, 0.5), &DistanceRequest::default());
    let apart = query(2.0);
    assert!(apart.outcome == DistanceOutcome::Separated && (apart.distance - 0.5).abs() < 1e-16, "{apart:?}");
    assert_eq!(apart.witness.point_a, P3::new(1.0, 0.0, 0.0), "the point must be on the surface");
    assert_eq!(apart.witness.point_b, P3::new(1.5, 0.0, 0.0), "the point must be on the surface");
    assert_eq!(query(1.5).outcome, DistanceOutcome::Touching, "touching");
    assert_eq!(query(1.5 + 1e-13).outcome, DistanceOutcome::Separated, "just apart");
    assert_eq!(query(1.5 - 1e-13).outcome, DistanceOutcome::Overlapping, "just overlapping");
    assert_eq!(query(0.0).outcome, DistanceOutcome::Overlapping, "a common centre");
    let loose = DistanceRequest { touch_tol: 1e-12, ..DistanceRequest::default() };
    assert_eq!(
        distance(&ball(0.0, 1.0), &ball(1.5 + 1e-13, 0.5), &loose).outcome,
        DistanceOutcome::Touching,
        "within touch_tol"
    );
    let capsule = Capsule::new([P3::new(-1.0, 0.0, 3.0), P3::new(1.0, 0.0, 3.0)], 0.5).unwrap();
    let cube = Cuboid::new(V3::repeat(1.0)).unwrap();
    let answer = distance(&cube, &capsule, &DistanceRequest::default());
    assert!(
        (answer.distance - 1.5).abs() < 1e-15 && (answer.direction - V3::z()).norm() < 1e-15,
        "{answer:?}"
    );
    // Boxes face to face and edge to face, slightly before, at and beyond touching.
    let turn = |v: V3| feeler_geom::Pose::new(V3::zeros(), v);
    let q = std::f64::consts::FRAC_PI_4;
    for (rotation, half) in [(V3::zeros(), 1.0), (V3::z() * q, 2.0_f64.sqrt())] {
        for (offset, expected) in [
            (1e-13, DistanceOutcome::Separated),
            (0.0, DistanceOutcome::Touching),
            (-1e-13, DistanceOutcome::Overlapping),
        ] {
            let mut pose = turn(rotation);
            pose.translation.vector = V3::new(1.0 + half + offset, 0.0, 0.0);
            let answer = distance(&cube, &Moved::new(cube, &pose).unwrap(), &DistanceRequest::default());
            assert_eq!(answer.outcome, expected, "{rotation:?} {offset}: {answer:?}");
        }
    }
    // A smooth pair with a closed form.
    let a = Ellipsoid::new(V3::new(1.0, 1.0, 1.0)).unwrap();
    let pose = feeler_geom::Pose::translation(0.3, -1.2, 2.5);
    let answer = distance(&a, &Moved::new(a, &pose).unwrap(), &DistanceRequest::default());
    let exact = pose.translation.vector.norm() - 2.0;
    assert!((answer.distance - exact).abs() < 1e-14, "{answer:?} {exact}");
    assert_eq!(answer.outcome, DistanceOutcome::Separated, "disjoint balls");
}

/// The results for every kind of hard pair agree with bounds of the exact distance.
/// `benches/src/bin/convex_campaign.rs` tests many more pairs.
#[test]
fn hard_pairs_against_exact_distances() {
    use crate::reference::cases::{CaseRandom, KINDS, compare_with_exact, hard_pair};
    let mut rng = CaseRandom(36);
    for round in 0..30_000 {
        let kind = round % KINDS.len();
        let (a, b) = hard_pair(&mut rng, kind);
        let answer =
            distance(&PointSet::new(&a).unwrap(), &PointSet::new(&b).unwrap(), &DistanceRequest::default());
        let verdict = compare_with_exact(&a, &b, &answer)
            .unwrap_or_else(|e| panic!("{}: {e} {a:?} {b:?}", KINDS[kind]));
        // Below the rounding of a coordinate, a relative error is meaningless.
        let fine = verdict.relative < 1e-12 || verdict.to_size < f64::EPSILON;
        assert!(fine, "{}: {verdict:?} {a:?} {b:?}", KINDS[kind]);
    }
}

/// Regression tests: pairs on which earlier versions failed.
#[test]
fn worst_cases() {
    use crate::reference::cases::compare_with_exact;
    // The weights of the needle's vertices once ended a search with an error of 2e-9.
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
    // Needles whose direction is wrong by the rounding of their vertices; the distances were once
    // 1.8e-12 and 1.2e-12 too large.
    let boxes = (
        [
            [-0.5614751616011653, 0.004105727276180748, 0.17320335405161855],
            [-0.4297606353789897, -0.391830645708926, 0.08393543535494816],
            [-0.3776950353253742, 0.19568797743538283, -0.40536809411208574],
            [-0.24598050910319855, -0.2002483955497239, -0.49463601280875613],
            [0.24598050910319855, 0.2002483955497239, 0.49463601280875613],
            [0.3776950353253742, -0.19568797743538283, 0.40536809411208574],
            [0.4297606353789897, 0.391830645708926, -0.08393543535494816],
            [0.5614751616011653, -0.004105727276180748, -0.17320335405161855],
        ],
        [
            [0.0025254139797805664, -0.14038612798292505, -0.39645779976827455],
            [0.46310380252220185, -1.5248935309644907, -0.7086092026628634],
            [0.21622892009205863, 0.08238985654579167, -1.0692331945544105],
            [0.6768073086344781, -1.3021175464357775, -1.3813845974489993],
            [0.3801361838407562, -0.04865900703181225, -0.2461381746353375],
            [0.8407145723831775, -1.4331664100133779, -0.5582895775299264],
            [0.5938396899530343, 0.17411697749690447, -0.9189135694214734],
            [1.0544180784954538, -1.2103904254846647, -1.2310649723160623],
        ],
    );
    let flat = (
        [
            [0.027730620940212017, 0.10389282635680332, 0.20355253486644026],
            [0.716025676988445, -0.023619887540648837, 0.40688739907152705],
            [0.8919959117794365, -0.39536695611543954, -0.14881192272703506],
            [-0.43659153024980024, 0.42865192215786824, 0.49415680273844936],
        ],
        [
            [0.004960359135022685, 0.03042493505552102, 0.4439930240025127],
            [-0.4371161373819419, 0.5077037075904194, 0.28555584852831295],
            [-0.9789919938093554, 1.092728800893589, 0.09135126894436318],
            [0.25957454886196274, -0.244464023982772, 0.5352449982056697],
        ],
    );
    let points = |p: &[[f64; 3]]| -> Vec<P3> { p.iter().map(|p| P3::from(*p)).collect() };
    for (a, b) in
        [(points(&a), points(&b)), (points(&boxes.0), points(&boxes.1)), (points(&flat.0), points(&flat.1))]
    {
        let answer =
            distance(&PointSet::new(&a).unwrap(), &PointSet::new(&b).unwrap(), &DistanceRequest::default());
        let verdict = compare_with_exact(&a, &b, &answer).unwrap();
        assert!(verdict.relative < 1e-12 || verdict.to_size < f64::EPSILON, "{verdict:?} {answer:?}");
    }
}

/// Two gear teeth approach until they touch (DIST §4.8.3). Every distance is accurate to the rounding of
/// the coordinates.
#[test]
fn gear_teeth() {
    use crate::reference::exact;
    use feeler_geom::math::{cos, powi, sin};
    let mut a = Vec::new();
    for z in [-2.0, -1.0, 0.0, 1.0, 2.0] {
        for i in 0..8 {
            let t = 1.2 * f64::from(i) / 7.0;
            let (x, y) = (cos(t), 2.0 * sin(t) * (1.0 - 0.01 * z * z));
            a.extend([P3::new(x, y, z), P3::new(-x, y, z)]);
        }
    }
    for tilt in [V3::zeros(), V3::new(0.02, 0.01, 0.1)] {
        let turn = nalgebra::Rotation3::new(tilt) * nalgebra::Rotation3::new(V3::z() * std::f64::consts::PI);
        let b = |gap: f64| -> Vec<P3> { a.iter().map(|p| turn * p + V3::new(0.7, gap, 0.3)).collect() };
        let exact = |gap: f64| exact::distance(&a, &b(gap), &[]).upper.value();
        let (mut lo, mut hi) = (0.0, 6.0);
        for _ in 0..60 {
            let mid = 0.5 * (lo + hi);
            if exact(mid) > 1e-20 { hi = mid } else { lo = mid }
        }
        let mut last = f64::INFINITY;
        for k in 0..50 {
            let gap = hi + powi(0.5, k);
            let (b, exact) = (b(gap), exact(gap));
            let answer = distance(
                &PointSet::new(&a).unwrap(),
                &PointSet::new(&b).unwrap(),
                &DistanceRequest::default(),
            );
            if answer.outcome == DistanceOutcome::Touching {
                assert!(exact < 64.0 * f64::EPSILON * 3.0, "{exact:e}");
            } else {
                assert_eq!(answer.outcome, DistanceOutcome::Separated, "{exact:e}");
                assert!(
                    (answer.distance - exact).abs() <= 1e-12 * exact + f64::EPSILON,
                    "{exact:e} {answer:?}"
                );
                assert!(answer.distance <= last, "monotonic");
                last = answer.distance;
            }
        }
        assert!(last < 128.0 * f64::EPSILON * 3.0, "the smallest measured distance is {last:e}");
    }
}

/// A shape whose support mapping is an arbitrary function.
struct FunctionShape<F: Fn(&V3) -> V3>(F, f64);

impl<F: Fn(&V3) -> V3> Support for FunctionShape<F> {
    fn support(&self, direction: &V3) -> crate::SupportPoint {
        crate::SupportPoint::plain(P3::from((self.0)(direction)))
    }
    fn radius(&self) -> f64 {
        self.1
    }
}

#[test]
fn invalid_shapes_are_reported() {
    use crate::support::{Ball, Cuboid};
    let ball = Ball::new(P3::new(5.0, 0.0, 0.0), 1.0).unwrap();
    let point = |_: &V3| V3::zeros();
    for radius in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let bad = FunctionShape(point, radius);
        assert_eq!(
            distance(&bad, &ball, &DistanceRequest::default()).outcome,
            DistanceOutcome::Invalid,
            "radius {radius}"
        );
        assert_eq!(
            distance(&ball, &bad, &DistanceRequest::default()).outcome,
            DistanceOutcome::Invalid,
            "radius {radius}"
        );
    }
    let cube = Cuboid::new(V3::repeat(1.0)).unwrap();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let always = FunctionShape(move |_: &V3| V3::new(bad, 0.0, 0.0), 0.0);
        let sometimes =
            FunctionShape(move |d: &V3| if d.x < 0.0 { V3::new(0.0, bad, 0.0) } else { V3::x() * 9.0 }, 0.0);
        for answer in [
            distance(&always, &cube, &DistanceRequest::default()),
            distance(&cube, &always, &DistanceRequest::default()),
            distance(&cube, &sometimes, &DistanceRequest::default()),
            distance(&sometimes, &cube, &DistanceRequest::default()),
        ] {
            assert_eq!(answer.outcome, DistanceOutcome::Invalid, "{bad} {answer:?}");
        }
    }
}

/// Searches with contradictory support mappings terminate with some outcome and finite numbers.
#[test]
fn contradictory_shapes_terminate() {
    use std::cell::Cell;
    let mut outcomes = Vec::new();
    for seed in 0..2000 {
        let state = Cell::new(SmallRng::seed_from_u64(seed));
        let contradictory = FunctionShape(
            |_: &V3| {
                let mut rng = state.replace(SmallRng::seed_from_u64(0));
                let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0_f64))
                    * [1.0, 1e9, 1e-9][rng.random_range(0..3)];
                state.set(rng);
                v
            },
            if seed % 2 == 0 { 0.0 } else { 0.5 },
        );
        let point = FunctionShape(|_: &V3| V3::new(0.3, 0.2, 0.1), 0.0);
        let request = DistanceRequest { max_iterations: 300, ..DistanceRequest::default() };
        let answer = distance(&contradictory, &point, &request);
        assert!(answer.iterations <= 2 * 300, "{answer:?}");
        assert!(answer.distance >= 0.0 && answer.lower_bound <= answer.distance, "{answer:?}");
        if !outcomes.contains(&answer.outcome) {
            outcomes.push(answer.outcome);
        }
    }
    assert!(outcomes.len() > 1, "{outcomes:?}");
}

/// Shapes of zero size are points: every pair has the correct distance, and a depth of zero at distance
/// zero.
#[test]
fn shapes_of_no_size() {
    use crate::support::{
        Ball, Capsule, Cone, Cuboid, Cylinder, Dilated, Ellipsoid, Moved, Polytope, Segment, Superellipsoid,
    };
    use crate::{PenetrationOutcome, PenetrationRequest, penetration};
    let o = P3::origin();
    let shapes: Vec<(&str, Box<dyn Support>)> = vec![
        ("ball", Box::new(Ball::new(o, 0.0).unwrap())),
        ("capsule", Box::new(Capsule::new([o, o], 0.0).unwrap())),
        ("cuboid", Box::new(Cuboid::new(V3::zeros()).unwrap())),
        ("cylinder", Box::new(Cylinder::new(0.0, 0.0).unwrap())),
        ("cone", Box::new(Cone::new(0.0, 0.0).unwrap())),
        ("ellipsoid", Box::new(Ellipsoid::new(V3::zeros()).unwrap())),
        ("superellipsoid", Box::new(Superellipsoid::new(V3::zeros(), [0.5, 1.5]).unwrap())),
        ("segment", Box::new(Segment::new([o, o]).unwrap())),
        ("polytope", Box::new(Polytope::new(&[o; 7]).unwrap())),
        ("dilated", Box::new(Dilated::new(Segment::new([o, o]).unwrap(), 0.0).unwrap())),
    ];
    for (name_a, a) in &shapes {
        for (name_b, b) in &shapes {
            let (a, b): (&dyn Support, &dyn Support) = (&**a, &**b);
            let away = Moved::new(b, &feeler_geom::Pose::translation(1.0, 2.0, 2.0)).unwrap();
            let apart = distance(a, &away, &DistanceRequest::default());
            assert_eq!(apart.outcome, DistanceOutcome::Separated, "{name_a} {name_b}");
            assert!((apart.distance - 3.0).abs() < 1e-15, "{name_a} {name_b}: {apart:?}");
            let here = distance(a, b, &DistanceRequest::default());
            assert_eq!(here.outcome, DistanceOutcome::Touching, "{name_a} {name_b}");
            let depth = penetration(a, b, &PenetrationRequest::default());
            assert!(
                matches!(depth.outcome, PenetrationOutcome::Found | PenetrationOutcome::Separated),
                "{name_a} {name_b}: {depth:?}"
            );
            assert!(depth.depth < 1e-300, "{name_a} {name_b}: {depth:?}");
        }
    }
}
