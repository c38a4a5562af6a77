use super::*;
use crate::support::PointSet;
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
fn certify(a: &[P3], b: &[P3], outcome: &Outcome, size: f64) -> f64 {
    let (set_a, set_b) = (PointSet::new(a).unwrap(), PointSet::new(b).unwrap());
    let check = |w: &Witness| {
        let (wa, wb) = (w.weights_a::<8>(), w.weights_b::<8>());
        assert!(wa.iter().chain(&wb).all(|w| *w >= 0.0), "weights {wa:?} {wb:?}");
        assert!((wa.iter().sum::<f64>() - 1.0).abs() < 1e-13, "sum of weights");
        assert!((combine(a, &wa) - w.point_a).norm() < 1e-13 * size, "weights of A");
        assert!((combine(b, &wb) - w.point_b).norm() < 1e-13 * size, "weights of B");
        w.point_b - w.point_a
    };
    match outcome {
        Outcome::Separated { distance, witness } => {
            let n = check(witness);
            assert!((n.norm() - distance).abs() < 1e-12 * size, "distance of the witnesses");
            let gap = set_b.support(&-n).point.coords.dot(&n) - set_a.support(&n).point.coords.dot(&n);
            let gap = gap / n.norm();
            // The direction of a short n is known only to rounding over its length.
            assert!(
                distance - gap < 1e-11 * size + 1e-14 * size * size / distance,
                "{a:?} {b:?}: {gap} {distance}"
            );
            *distance
        }
        Outcome::Overlapping { witness } => {
            assert!(check(witness).norm() < 1e-13 * size, "{a:?} {b:?}: {:?}", check(witness).norm());
            0.0
        }
        other => panic!("{a:?} {b:?} {other:?}"),
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
            direction: if rng.random_range(0..2) == 0 { V3::zeros() } else { V3::x() },
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
                        exact = exact.min(nearest_to_origin(&s).unwrap().point.norm());
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
    let Outcome::Separated { distance: d, witness } = distance(&a, &b, &Request::default()) else {
        panic!("apart")
    };
    assert!((d - 2.0).abs() < 1e-15, "parallel squares: {d}");
    assert!((witness.point_b - witness.point_a - V3::new(0.0, 0.0, 2.0)).norm() < 1e-14, "{witness:?}");
    let near = Request { max_distance: 1.5, ..Request::default() };
    assert!(matches!(distance(&a, &b, &near), Outcome::Beyond { lower_bound } if lower_bound > 1.5), "limit");
    assert!(matches!(distance(&a, &a, &Request::default()), Outcome::Overlapping { .. }), "itself");
    let line = [P3::new(-1.0, 0.5, -1.0), P3::new(2.0, 0.5, 1.0)];
    let line = PointSet::new(&line).unwrap();
    assert!(matches!(distance(&a, &line, &Request::default()), Outcome::Overlapping { .. }), "pierced");
    let one = Request { max_iterations: 0, ..Request::default() };
    assert!(matches!(distance(&a, &b, &one), Outcome::Stalled { .. }), "no iterations");
    assert!(PointSet::new(&[]).is_none(), "no points");
    assert!(PointSet::new(&[P3::new(f64::NAN, 0.0, 0.0)]).is_none(), "not finite");
}
