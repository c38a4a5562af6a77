//! Critical pairs that no method may discard are found independently, by dense sampling and Newton's
//! method on polynomials written out here.

use feeler_geom::{P3, V3};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

use super::shapes::spring;
use super::{Cones, Culling, Method, Segment, along_chord, may_contain_minimum};
use crate::curve::Curve;
use crate::part::Part;
use crate::piece::Piece;
use crate::tree::Leaf;

const CONES: [Cones; 3] = [Cones::Revolution, Cones::Polyhedral, Cones::Signs];

fn methods(reach: f64) -> impl Iterator<Item = Method> {
    let of = move |cones| [false, true].map(|boxes| Method { cones, boxes, flatness: 0.25, reach });
    CONES.into_iter().flat_map(of)
}

fn random_piece(rng: &mut SmallRng, spread: f64) -> Piece<4> {
    let mut at = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    let along = V3::from_fn(|_, _| rng.random_range(-0.6..0.6));
    [0; 4].map(|_| {
        at += along + V3::from_fn(|_, _| spread * rng.random_range(-1.0..1.0));
        at
    })
}

/// Position, first and second derivative of a cubic at `t`, computed from its coefficients in the power
/// basis.
fn jet(c: &Piece<4>, t: f64) -> [V3; 3] {
    let (k1, k2) = ((c[1] - c[0]) * 3.0, (c[2] - c[1] * 2.0 + c[0]) * 3.0);
    let k3 = c[3] - c[2] * 3.0 + c[1] * 3.0 - c[0];
    [c[0] + (k1 + (k2 + k3 * t) * t) * t, k1 + (k2 * 2.0 + k3 * 3.0 * t) * t, k2 * 2.0 + k3 * 6.0 * t]
}

/// Parameters of all critical pairs, also saddles and maxima, that Newton's method finds from a grid of
/// starts.
fn critical(a: &Piece<4>, b: &Piece<4>) -> Vec<[f64; 2]> {
    const GRID: usize = 24;
    let mut out: Vec<[f64; 2]> = Vec::new();
    for k in 0..GRID * GRID {
        let middle = |i: usize| (i as f64 + 0.5) / GRID as f64;
        let (mut s, mut t) = (middle(k / GRID), middle(k % GRID));
        let mut moved = 1.0;
        for _ in 0..30 {
            let ([p, dp, ddp], [q, dq, ddq]) = (jet(a, s), jet(b, t));
            let w = p - q;
            let (fs, ft) = (w.dot(&dp), -w.dot(&dq));
            let (ss, tt, st) = (dp.dot(&dp) + w.dot(&ddp), dq.dot(&dq) - w.dot(&ddq), -dp.dot(&dq));
            let det = ss * tt - st * st;
            let step = [(st * ft - tt * fs) / det, (st * fs - ss * ft) / det];
            (s, t) = (s + step[0], t + step[1]);
            moved = step[0].abs().max(step[1].abs());
            if !moved.is_finite() || s.abs().max(t.abs()) > 3.0 {
                break;
            }
        }
        let is_inside = |x: f64| (1e-9..1.0 - 1e-9).contains(&x);
        let is_known = |p: &[f64; 2]| (p[0] - s).abs().max((p[1] - t).abs()) < 1e-7;
        if moved < 1e-13 && is_inside(s) && is_inside(t) && !out.iter().any(is_known) {
            out.push([s, t]);
        }
    }
    out
}

fn segment(piece: Piece<4>, method: &Method) -> Segment<4> {
    let leaf = Leaf { control: piece, u: [0.0, 1.0], turning: 0.0, turned: [0.0; 2] };
    Segment::new(Part::of_leaf(&leaf), method)
}

#[test]
fn pairs_with_critical_points_are_kept() {
    let mut rng = SmallRng::seed_from_u64(1);
    let (mut n_critical, mut n_discarded) = (0, 0);
    for k in 0..400 {
        let spread = [0.2, 0.7, 2.0][k % 3];
        let (a, b) = (random_piece(&mut rng, spread), random_piece(&mut rng, spread));
        for at in critical(&a, &b) {
            n_critical += 1;
            let distance = (jet(&a, at[0])[0] - jet(&b, at[1])[0]).norm();
            for method in methods(distance * (1.0 + 1e-12)) {
                let mut parts = [segment(a, &method), segment(b, &method)];
                for depth in 0..8 {
                    assert!(
                        may_contain_minimum(&parts[0], &parts[1], &method),
                        "{method:?} {k} {at:?} depth {depth}"
                    );
                    // Keep the halves with the critical pair; count the discarded pairs of other halves.
                    let halves = parts.each_ref().map(|p| p.halves(false, &method));
                    for other in &halves[1] {
                        n_discarded += usize::from(!may_contain_minimum(&halves[0][0], other, &method));
                    }
                    let mut sides = [0, 1].map(|i| usize::from(at[i] >= halves[i][1].part.u)).into_iter();
                    parts = halves.map(|[l, r]| if sides.next() == Some(0) { l } else { r });
                }
            }
        }
    }
    assert!(n_critical > 100 && n_discarded > 1000, "{n_critical} critical pairs, {n_discarded} discarded");
}

#[test]
fn what_wider_bounds_discard_narrower_ones_discard() {
    let mut rng = SmallRng::seed_from_u64(2);
    let mut discarded = [0; 3];
    for k in 0..4000 {
        let spread = [0.1, 0.3, 1.0][k % 3];
        let (a, b) = (random_piece(&mut rng, spread), random_piece(&mut rng, spread));
        let is_discarded = CONES.map(|cones| {
            let method = Method { cones, boxes: false, flatness: 0.25, reach: f64::INFINITY };
            !may_contain_minimum(&segment(a, &method), &segment(b, &method), &method)
        });
        assert!(
            is_discarded[0] <= is_discarded[1] && is_discarded[1] <= is_discarded[2],
            "{k}: {is_discarded:?}"
        );
        for (n, is_discarded) in discarded.iter_mut().zip(is_discarded) {
            *n += usize::from(is_discarded);
        }
    }
    assert!(0 < discarded[0] && discarded[0] < discarded[1] && discarded[1] < discarded[2], "{discarded:?}");
}

/// Algorithm 7 as printed, with its line 3 corrected.
fn algorithm_7(a: &[V3], b: &[V3]) -> bool {
    let d = a[0].dot(&b[0]);
    a.iter().any(|a| b.iter().any(|b| d * a.dot(b) <= 0.0))
}

#[test]
fn polyhedra_are_tested_as_by_algorithm_7() {
    let mut rng = SmallRng::seed_from_u64(3);
    let mut kept = [0; 2];
    for k in 0..4000 {
        let spread = [0.1, 0.3, 1.0][k % 3];
        let (a, b) = (random_piece(&mut rng, spread), random_piece(&mut rng, spread));
        let lines: Vec<V3> = a.iter().flat_map(|a| b.iter().map(move |b| a - b)).collect();
        let tangents = |c: &Piece<4>| -> Vec<V3> { c.windows(2).map(|p| p[1] - p[0]).collect() };
        let expected = algorithm_7(&tangents(&a), &lines) && algorithm_7(&tangents(&b), &lines);
        assert_eq!(super::by_polyhedra(&a, &b), expected, "{k}");
        kept[usize::from(expected)] += 1;
    }
    assert!(kept[0] > 100 && kept[1] > 100, "{kept:?}");
}

#[test]
fn boxes_hold_their_pieces() {
    let mut rng = SmallRng::seed_from_u64(4);
    for k in 0..300 {
        let mut a = random_piece(&mut rng, [0.0, 1e-9, 1.0][k % 3]);
        if k % 7 == 0 {
            a[3] = a[0];
        }
        let obb = along_chord(&a);
        assert!((obb.axes[0].cross(&obb.axes[1]) - obb.axes[2]).norm() < 1e-14, "{k}");
        for i in 0..=50 {
            let p = P3::from(jet(&a, f64::from(i) / 50.0)[0]);
            assert!(obb.contains(&p, 1e-13 * p.coords.norm()), "{k}");
        }
    }
}

#[test]
fn minima_of_a_spring_are_kept() {
    let mut culling = Culling::default();
    for (pitch, n_expected) in [(8.0, 8), (4.0, 12)] {
        let curve = Curve::new(3, &spring(pitch), 1.0, false).unwrap();
        let minima = sampled_minima(&curve);
        assert!(minima.len() >= n_expected, "{minima:?}");
        for method in methods(20.0) {
            culling.itself(&curve, &method);
            assert!(
                culling.pairs.len() < 1000 && culling.solve(&curve) > 0,
                "{method:?}: {}",
                culling.pairs.len()
            );
            for at in &minima {
                let holds = |pair: &[[f64; 2]; 2]| (0..2).all(|k| pair[k][0] <= at[k] && at[k] <= pair[k][1]);
                assert!(culling.pairs.iter().any(holds), "pitch {pitch}, {method:?}: {at:?}");
            }
        }
    }
}

/// Local minima, up to 20 mm, of the distance between two points of the curve that are at least half a
/// piece apart, as pairs of parameters. They are found among samples at evenly spaced parameters and
/// refined by Newton's method.
fn sampled_minima(curve: &Curve) -> Vec<[f64; 2]> {
    const EACH: usize = 150;
    let n = EACH * curve.n_pieces();
    let u = |i: usize| i as f64 / EACH as f64;
    let points: Vec<P3> = (0..=n).map(|i| curve.point(u(i))).collect();
    let d = |i: usize, j: usize| (points[i] - points[j]).norm_squared();
    let mut out = Vec::new();
    for i in 1..n {
        for j in i + EACH / 2..n {
            let is_least =
                [i - 1, i, i + 1].iter().all(|&k| [j - 1, j, j + 1].iter().all(|&l| d(i, j) <= d(k, l)));
            if !is_least || d(i, j) > 400.0 {
                continue;
            }
            let mut at = [u(i), u(j)];
            for _ in 0..20 {
                let [[dp, ddp], [dq, ddq]] = at.map(|u| curve.derivatives(u));
                let w = curve.point(at[0]) - curve.point(at[1]);
                let (fs, ft) = (w.dot(&dp), -w.dot(&dq));
                let (ss, tt, st) = (dp.dot(&dp) + w.dot(&ddp), dq.dot(&dq) - w.dot(&ddq), -dp.dot(&dq));
                let det = ss * tt - st * st;
                at[0] += (st * ft - tt * fs) / det;
                at[1] += (st * fs - ss * ft) / det;
            }
            // Rejects minima at the ends of the curve, from which Newton's method leaves the interval.
            if at.iter().all(|u| (0.0..curve.n_pieces() as f64).contains(u)) {
                out.push(at);
            }
        }
    }
    out
}
