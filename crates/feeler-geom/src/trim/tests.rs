//! Domains of every form, compared with closed forms and with crossing counts of densely sampled
//! boundaries.

mod beside;

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::integrate::as_f64;
use super::*;
use crate::{P2, Rect, V2, math};

const INF: f64 = f64::INFINITY;
const PLANE: Rect = Rect { u0: -INF, u1: INF, v0: -INF, v1: INF };
const CYLINDER: Rect = Rect { u0: 0.0, u1: TAU, v0: -INF, v1: INF };
const SPHERE: Rect = Rect { u0: 0.0, u1: TAU, v0: -FRAC_PI_2, v1: FRAC_PI_2 };
const TORUS: Rect = Rect { u0: 0.0, u1: TAU, v0: 0.0, v1: TAU };

fn polygon(points: &[(f64, f64)], edge: u32) -> Vec<TrimPiece> {
    let at = |i: usize| P2::new(points[i % points.len()].0, points[i % points.len()].1);
    (0..points.len()).map(|i| TrimPiece::line(at(i), at(i + 1), edge)).collect()
}

fn square(x: f64, y: f64, s: f64, edge: u32) -> Vec<TrimPiece> {
    polygon(&[(x, y), (x + s, y), (x + s, y + s), (x, y + s)], edge)
}

/// Returns Hermite arcs of an ellipse, counter-clockwise from the angle `phase`.
fn ellipse(c: (f64, f64), r: (f64, f64), n: usize, phase: f64, edge: u32) -> Vec<TrimPiece> {
    let h = TAU / as_f64(n);
    let at = |i: usize| {
        let (s, co) = math::sin_cos(phase + h * as_f64(i % n));
        // The tangent length with which the cubic passes through the arc's midpoint.
        let k = 4.0 * math::tan(h / 4.0);
        (P2::new(c.0 + r.0 * co, c.1 + r.1 * s), V2::new(-r.0 * s * k, r.1 * co * k))
    };
    (0..n)
        .map(|i| {
            let ((p0, d0), (p1, d1)) = (at(i), at(i + 1));
            TrimPiece::hermite(p0, d0, p1, d1, edge)
        })
        .collect()
}

fn circle(x: f64, y: f64, r: f64, edge: u32) -> Vec<TrimPiece> {
    ellipse((x, y), (r, r), 16, 0.3, edge)
}

fn reversed(pieces: &[TrimPiece]) -> Vec<TrimPiece> {
    pieces.iter().rev().map(TrimPiece::reversed).collect()
}

fn plane(pieces: &[TrimPiece]) -> TrimCells {
    let (cells, reports) = build(pieces, PLANE, None, None, P2::origin());
    assert!(reports.is_empty(), "{reports:?}");
    cells
}

fn build(
    pieces: &[TrimPiece],
    natural: Rect,
    up: Option<f64>,
    vp: Option<f64>,
    origin: P2,
) -> (TrimCells, Vec<Inconsistent>) {
    let d = TrimDomain::new(pieces, natural, up, vp, origin);
    let (cells, reports) = TrimCells::build(&d);
    assert!(cells.check());
    (cells, reports)
}

fn consistent(pieces: &[TrimPiece], natural: Rect, up: bool, vp: bool, origin: P2) -> TrimCells {
    let (cells, reports) = build(pieces, natural, up.then_some(TAU), vp.then_some(TAU), origin);
    assert!(reports.is_empty(), "{reports:?}");
    cells
}

fn inside(c: &TrimCells, u: f64, v: f64) -> bool {
    c.classify(P2::new(u, v)) == Side::Inside
}

/// Returns the winding number of a boundary around a point. The boundary is approximated by short
/// chords.
fn brute_winding(pieces: &[TrimPiece], p: P2) -> i32 {
    let mut w = 0;
    for piece in pieces {
        let mut a = piece.start();
        for k in 1..=200 {
            let b = piece.eval(f64::from(k) / 200.0);
            let side = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
            if a.y <= p.y && p.y < b.y && side > 0.0 {
                w += 1;
            } else if b.y <= p.y && p.y < a.y && side < 0.0 {
                w -= 1;
            }
            a = b;
        }
    }
    w
}

/// Returns the distance in the parameter plane from a point to the nearest of dense samples of a
/// boundary.
fn brute_distance(pieces: &[TrimPiece], p: P2) -> f64 {
    let mut best = INF;
    for piece in pieces {
        for k in 0..=400 {
            best = best.min((piece.eval(f64::from(k) / 400.0) - p).norm());
        }
    }
    best
}

/// Compares the classification of `n` random points with the winding number of the boundary `raw`.
fn compare(cells: &TrimCells, raw: &[TrimPiece], n: usize, seed: u64) {
    let mut rng = SmallRng::seed_from_u64(seed);
    let r = cells.rect;
    let (w, h) = (r.u1 - r.u0, r.v1 - r.v0);
    for _ in 0..n {
        let p = P2::new(
            rng.random_range(r.u0 - 0.3 * w..r.u1 + 0.3 * w),
            rng.random_range(r.v0 - 0.3 * h..r.v1 + 0.3 * h),
        );
        let expected = brute_winding(raw, p) > 0;
        if (cells.classify(p) == Side::Inside) != expected {
            let d = brute_distance(raw, p);
            assert!(d < 1e-4 * (w + h), "{p} expected {expected}, {d} from the boundary");
        }
    }
}

#[test]
fn square_disc_annulus_and_islands() {
    let raw = square(0.0, 0.0, 1.0, 0);
    let c = plane(&raw);
    assert_eq!(c.rect, Rect { u0: 0.0, u1: 1.0, v0: 0.0, v1: 1.0 });
    assert!(inside(&c, 0.5, 0.5) && !inside(&c, 1.5, 0.5) && !inside(&c, 0.5, -0.1));
    assert!((c.area_uv() - 1.0).abs() < 1e-15);
    compare(&c, &raw, 1000, 1);

    let disc = circle(3.0, -2.0, 2.0, 1);
    let c = plane(&disc);
    assert!((c.area_uv() - 4.0 * PI).abs() < 1e-6);
    compare(&c, &disc, 1000, 2);

    let mut ring = disc;
    ring.extend(reversed(&circle(3.2, -2.1, 1.0, 2)));
    let c = plane(&ring);
    assert!((c.area_uv() - 3.0 * PI).abs() < 1e-6);
    assert!(!inside(&c, 3.2, -2.1));
    compare(&c, &ring, 1000, 3);

    let mut nested = ring;
    nested.extend(square(3.0, -2.3, 0.4, 3));
    let c = plane(&nested);
    assert!((c.area_uv() - 3.0 * PI - 0.16).abs() < 1e-6);
    assert!(inside(&c, 3.2, -2.1));
    compare(&c, &nested, 1000, 4);
}

#[test]
fn circle_of_four_arcs_has_the_area_of_its_cubics() {
    let raw = ellipse((0.0, 0.0), (1.0, 1.0), 4, 0.0, 0);
    // ∮ u dv of cubics, by quadrature that is exact to degree 5.
    let rule = gauss_legendre(3);
    let exact: f64 =
        raw.iter().flat_map(|p| rule.iter().map(|(t, w)| w * p.eval(*t).x * p.derivative(*t).y)).sum();
    let c = plane(&raw);
    assert!((c.area_uv() - exact).abs() < 1e-14);
    assert!((exact - PI).abs() < 1e-3);
}

#[test]
fn cylinder_bands_in_all_forms() {
    let mut rng = SmallRng::seed_from_u64(5);
    for k in 0..24 {
        let (u0, shift) = (rng.random_range(-7.0..7.0), rng.random_range(-9.0..9.0));
        let n = 1 + k % 5;
        let wave = if k % 2 == 0 { 0.0 } else { 0.4 };
        let bottom = |u: f64| wave * math::sin(u);
        let top = |u: f64| 2.0 + wave * math::cos(3.0 * u);
        let slope = |f: &dyn Fn(f64) -> f64, u: f64| (f(u + 1e-5) - f(u - 1e-5)) / 2e-5;
        let winding = |f: &dyn Fn(f64) -> f64, forward: bool, n: usize| {
            let h = TAU / as_f64(n);
            let pieces: Vec<TrimPiece> = (0..n)
                .map(|i| {
                    let (a, b) = (shift + h * as_f64(i), shift + h * as_f64(i + 1));
                    let d = |u: f64| V2::new(h, h * slope(f, u));
                    TrimPiece::hermite(P2::new(a, f(a)), d(a), P2::new(b, f(b)), d(b), 0)
                })
                .collect();
            if forward { pieces } else { reversed(&pieces) }
        };
        let n = if wave > 0.0 { 60 } else { n };
        let mut raw = winding(&bottom, true, n);
        raw.extend(winding(&top, false, n));
        let seam = TrimPiece::line(P2::new(shift, bottom(shift)), P2::new(shift, top(shift)), 9);
        if k % 3 == 1 {
            // The seam is not removed: both uses, one period apart.
            raw.extend([seam.reversed(), seam.translated(V2::new(TAU, 0.0))]);
        }
        let c = consistent(&raw, CYLINDER, true, false, P2::new(u0, 0.0));
        assert!((c.area_uv() - 2.0 * TAU).abs() < 1e-5, "{k}: {}", c.area_uv());
        for _ in 0..300 {
            let (u, v): (f64, f64) = (rng.random_range(-20.0..20.0), rng.random_range(-1.0..3.0));
            if (v - bottom(u)).abs() > 1e-4 && (v - top(u)).abs() > 1e-4 {
                assert_eq!(inside(&c, u, v), bottom(u) < v && v < top(u), "{k}: {u} {v}");
            }
        }
        assert!(!inside(&c, 1.0, 1e9) && !inside(&c, 1.0, -1e9));
    }
}

#[test]
fn sphere_caps_reach_the_pole() {
    for origin in [0.0, 1.0, -PI] {
        let loop_at = |v: f64, from: f64, to: f64| {
            let m = 0.5 * (from + to);
            [(from, m), (m, to)].map(|(a, b)| TrimPiece::line(P2::new(a, v), P2::new(b, v), 0))
        };
        let north = consistent(&loop_at(1.0, 0.5, 0.5 + TAU), SPHERE, true, false, P2::new(origin, 0.0));
        assert_eq!((north.rect.v0, north.rect.v1), (1.0, FRAC_PI_2));
        assert!((north.area_uv() - TAU * (FRAC_PI_2 - 1.0)).abs() < 1e-13);
        assert!(inside(&north, 2.0, FRAC_PI_2) && inside(&north, 9.0, 1.1) && !inside(&north, 2.0, 0.9));
        let south = consistent(&loop_at(1.0, 0.5 + TAU, 0.5), SPHERE, true, false, P2::new(origin, 0.0));
        assert_eq!((south.rect.v0, south.rect.v1), (-FRAC_PI_2, 1.0));
        assert!((south.area_uv() - TAU * (FRAC_PI_2 + 1.0)).abs() < 1e-13);
        assert!(!inside(&south, 2.0, FRAC_PI_2) && inside(&south, 2.0, -FRAC_PI_2));
        // The complement of a hole in a sphere: both poles are inside.
        let hole = reversed(&circle(origin, 0.2, 0.5, 0));
        let c = consistent(&hole, SPHERE, true, false, P2::new(origin, 0.0));
        assert!((c.area_uv() - (TAU * PI - 0.25 * PI)).abs() < 1e-6, "{} {:?}", c.area_uv(), c);
        assert!(inside(&c, 1.0, FRAC_PI_2) && inside(&c, 1.0, -FRAC_PI_2) && !inside(&c, origin, 0.3));
    }
}

#[test]
fn octant_and_lune_have_gaps_at_poles() {
    let p = |u: f64, v: f64| P2::new(u, v);
    let tilt = 1e-8; // a pole inverted with the accuracy of an arc sine
    for top in [FRAC_PI_2, FRAC_PI_2 - tilt] {
        for origin in [0.0, 0.7, FRAC_PI_2] {
            let octant = [
                TrimPiece::line(p(0.0, 0.0), p(FRAC_PI_2, 0.0), 0),
                TrimPiece::line(p(FRAC_PI_2, 0.0), p(FRAC_PI_2, top), 1),
                TrimPiece::line(p(0.0, top), p(0.0, 0.0), 2),
            ];
            let c = consistent(&octant, SPHERE, true, false, p(origin, 0.0));
            assert!((c.area_uv() - FRAC_PI_2 * FRAC_PI_2).abs() < 1e-6);
            assert!(inside(&c, 0.3, 1.5) && !inside(&c, 2.0, 1.5) && !inside(&c, 0.3, -0.1));
            let lune = [
                TrimPiece::line(p(2.0, -top), p(2.0, top), 1),
                TrimPiece::line(p(-1.0, top), p(-1.0, -top), 2),
            ];
            let c = consistent(&lune, SPHERE, true, false, p(origin, 0.0));
            assert!((c.area_uv() - 3.0 * PI).abs() < 1e-6);
            assert!(inside(&c, 0.0, 0.0) && inside(&c, 0.0, 1.5) && !inside(&c, 3.0, 0.0));
        }
    }
}

#[test]
fn closed_faces_without_loops_are_inside() {
    let c = consistent(&[], SPHERE, true, false, P2::origin());
    assert!((c.area_uv() - TAU * PI).abs() < 1e-12);
    assert!(inside(&c, 12.0, FRAC_PI_2) && inside(&c, 0.0, 0.0) && !inside(&c, 0.0, 2.0));
    let c = consistent(&[], TORUS, true, true, P2::new(1.0, 2.0));
    assert!((c.area_uv() - TAU * TAU).abs() < 1e-12);
    assert!(inside(&c, 12.0, -30.0));
    assert!(c.nearest(P2::origin(), [1.0, 0.0, 1.0], INF).is_none());
    assert!(c.may_touch(&Rect { u0: 5.0, u1: 5.1, v0: 100.0, v1: 101.0 }));
    let whole = plane(&[]);
    assert!(inside(&whole, 3.0, 4.0) && whole.area_uv().is_nan());
}

#[test]
fn torus_bands_and_discs_across_both_seams() {
    let p = |u: f64, v: f64| P2::new(u, v);
    for origin in [p(0.0, 0.0), p(1.0, -2.0), p(2.0, 3.0)] {
        // A band between v = 3 and v = 5, around u.
        let band = [
            TrimPiece::line(p(0.4, 3.0), p(0.4 + TAU, 3.0), 0),
            TrimPiece::line(p(0.4 + TAU, 5.0), p(0.4, 5.0), 1),
        ];
        let c = consistent(&band, TORUS, true, true, origin);
        assert!((c.area_uv() - 2.0 * TAU).abs() < 1e-12);
        assert!(inside(&c, 1.0, 4.0) && inside(&c, 1.0, 4.0 + TAU) && !inside(&c, 1.0, 2.0));
        // The complement of that band, with the same two loops.
        let c = consistent(&reversed(&band), TORUS, true, true, origin);
        assert!((c.area_uv() - (TAU - 2.0) * TAU).abs() < 1e-12);
        assert!(!inside(&c, 1.0, 4.0) && inside(&c, 1.0, 2.0) && inside(&c, 1.0, 5.5));
        // A band around v.
        let turned: Vec<TrimPiece> =
            band.iter().map(|t| t.mapped(|q| P2::new(q.y, q.x)).reversed()).collect();
        let c = consistent(&turned, TORUS, true, true, origin);
        assert!((c.area_uv() - 2.0 * TAU).abs() < 1e-12);
        assert!(inside(&c, 4.0, 1.0) && !inside(&c, 2.0, 1.0) && inside(&c, 4.0 - TAU, 1.0 + TAU));
        // Loops that wind once around in both directions.
        let diagonal = [
            TrimPiece::line(p(0.0, 0.0), p(TAU, TAU), 0),
            TrimPiece::line(p(TAU, 1.5 + TAU), p(0.0, 1.5), 1),
        ];
        let c = consistent(&diagonal, TORUS, true, true, origin);
        assert!((c.area_uv() - 1.5 * TAU).abs() < 1e-12);
        assert!(
            inside(&c, 1.0, 2.0) && inside(&c, 6.0, 6.1) && inside(&c, 6.0, 1.0) && !inside(&c, 2.0, 1.0)
        );
        // A disc over a corner, and its complement.
        let disc = ellipse((origin.x, origin.y), (1.0, 0.7), 16, 0.1, 3);
        let c = consistent(&disc, TORUS, true, true, origin);
        assert!((c.area_uv() - 0.7 * PI).abs() < 1e-6);
        assert!(inside(&c, origin.x - 0.5, origin.y + 0.3) && !inside(&c, origin.x + 2.0, origin.y));
        let c = consistent(&reversed(&disc), TORUS, true, true, origin);
        assert!((c.area_uv() - (TAU * TAU - 0.7 * PI)).abs() < 1e-6);
        assert!(!inside(&c, origin.x - 0.5, origin.y + 0.3) && inside(&c, origin.x + 2.0, origin.y));
    }
}

#[test]
fn collapsed_side_of_a_patch_needs_no_piece() {
    let p = |u: f64, v: f64| P2::new(u, v);
    let natural = Rect { u0: 0.0, u1: 1.0, v0: 0.0, v1: 1.0 };
    // The side u = 0 is a single point, so three edges remain.
    let raw = [
        TrimPiece::line(p(0.0, 0.0), p(1.0, 0.0), 0),
        TrimPiece::line(p(1.0, 0.0), p(1.0, 1.0), 1),
        TrimPiece::line(p(1.0, 1.0), p(0.0, 1.0), 2),
    ];
    let (c, reports) = build(&raw, natural, None, None, P2::origin());
    assert!(reports.is_empty() && c.rect == natural);
    assert!((c.area_uv() - 1.0).abs() < 1e-14 && inside(&c, 0.01, 0.5));
    // Rotated: v = 1 is the point, then u = 1.
    for turns in 1..4 {
        let turned = raw.map(|t| (0..turns).fold(t, |t, _| t.mapped(|q| P2::new(1.0 - q.y, q.x))));
        let (c, reports) = build(&turned, natural, None, None, P2::origin());
        assert!(reports.is_empty() && c.rect == natural, "{turns} {reports:?} {:?}", c.rect);
        assert!((c.area_uv() - 1.0).abs() < 1e-14, "{turns} {} {c:?}", c.area_uv());
        assert!(inside(&c, 0.99, 0.99) && inside(&c, 0.01, 0.01));
    }
}

#[test]
fn periodic_in_v_only() {
    let p = |u: f64, v: f64| P2::new(u, v);
    let natural = Rect { u0: 0.0, u1: 1.0, v0: 0.0, v1: 2.0 };
    let up = |u: f64| TrimPiece::line(p(u, 0.3), p(u, 2.3), 0);
    let hole = reversed(&ellipse((0.5, 0.1), (0.1, 0.2), 16, 0.0, 1));
    for origin in [0.0, -0.7, 1.9] {
        let cells = |pieces: &[TrimPiece]| {
            let (c, reports) = build(pieces, natural, None, Some(2.0), p(0.0, origin));
            assert!(reports.is_empty(), "{reports:?}");
            c
        };
        let mut band = vec![up(0.2).reversed(), up(0.8)];
        band.extend(hole.iter().copied());
        let c = cells(&band);
        assert_eq!((c.rect.u0, c.rect.u1), (0.2, 0.8));
        assert!((c.area_uv() - (1.2 - 0.02 * PI)).abs() < 1e-8);
        assert!(inside(&c, 0.3, 7.0) && !inside(&c, 0.5, 4.1) && !inside(&c, 0.1, 1.0));
        // With one loop the domain extends to one of the collapsed sides.
        for pieces in [vec![up(0.8)], vec![up(0.8).reversed()]] {
            let left = pieces[0].end().y > pieces[0].start().y;
            let c = cells(&pieces);
            assert_eq!((c.rect.u0, c.rect.u1), if left { (0.0, 0.8) } else { (0.8, 1.0) });
            assert!((c.area_uv() - if left { 1.6 } else { 0.4 }).abs() < 1e-14);
            assert!(inside(&c, 0.4, 1.0) == left && inside(&c, 0.9, 1.0) != left);
        }
        // With a hole only, the domain extends to both collapsed sides.
        let c = cells(&hole);
        assert_eq!((c.rect.u0, c.rect.u1), (0.0, 1.0));
        assert!((c.area_uv() - (2.0 - 0.02 * PI)).abs() < 1e-8);
        assert!(inside(&c, 0.0, 0.1) && inside(&c, 1.0, 2.1) && !inside(&c, 0.5, 0.1));
    }
}

#[test]
fn loops_that_touch() {
    // Tangent from outside, at a vertex of both loops and at no vertex, and tangent from inside.
    for phase in [0.0, 0.3] {
        let a = ellipse((0.0, 0.0), (1.0, 1.0), 16, phase, 0);
        let mut outer = a.clone();
        outer.extend(ellipse((2.0, 0.0), (1.0, 1.0), 16, phase, 1));
        let c = plane(&outer);
        assert!((c.area_uv() - TAU).abs() < 1e-6);
        compare(&c, &outer, 500, 11);
        let mut vertical = a.clone();
        vertical.extend(ellipse((0.0, 2.0), (1.0, 1.0), 16, phase, 1));
        compare(&plane(&vertical), &vertical, 500, 12);
        let mut inner = a.clone();
        inner.extend(reversed(&ellipse((0.5, 0.0), (0.5, 0.5), 16, phase, 1)));
        let c = plane(&inner);
        assert!((c.area_uv() - 0.75 * PI).abs() < 1e-6);
        compare(&c, &inner, 500, 13);
    }
    // Four squares around a point, two of them inside.
    let mut raw = square(0.0, 0.0, 1.0, 0);
    raw.extend(square(1.0, 1.0, 1.0, 1));
    let c = plane(&raw);
    compare(&c, &raw, 500, 14);
    assert!(c.polylines(1e-3).iter().all(|l| l.first() == l.last()));
}

#[test]
fn loops_that_touch_the_seam() {
    for (c0, origin) in [(1.0, 0.0), (-1.0, 0.0), (1.0, TAU), (3.0, 2.0)] {
        for n in [4, 16] {
            let disc = ellipse((c0, 0.5), (1.0, 1.0), n, 0.0, 0);
            let area = plane(&disc).area_uv();
            let c = consistent(&disc, CYLINDER, true, false, P2::new(origin, 0.0));
            assert!((c.area_uv() - area).abs() < 1e-9);
            assert!(inside(&c, c0 + 0.9, 0.5) && inside(&c, c0 - 0.9, 0.5) && !inside(&c, c0 + 1.1, 0.5));
            let c = consistent(&reversed(&disc), SPHERE, true, false, P2::new(origin, 0.0));
            assert!((c.area_uv() - (TAU * PI - area)).abs() < 1e-9);
            assert!(!inside(&c, c0 + 0.9, 0.5) && inside(&c, c0 + 1.1, 0.5) && inside(&c, c0 + PI, 0.5));
        }
    }
    // A half cylinder whose straight edge runs along the seam, exactly and with noise on either side.
    for noise in [0.0, 1e-15, 1e-13, 1e-7, -1e-7] {
        for shift in [0.0, TAU, -3.0 * TAU] {
            let half = polygon(&[(noise, 0.0), (PI, 0.0), (PI, 1.0), (-noise, 1.0)], 0);
            let moved: Vec<TrimPiece> = half.iter().map(|p| p.translated(V2::new(shift, 0.0))).collect();
            let c = consistent(&moved, CYLINDER, true, false, P2::origin());
            assert!((c.area_uv() - PI).abs() < 1e-6, "{noise} {shift} {}", c.area_uv());
            assert!(inside(&c, 1.0, 0.5) && !inside(&c, -1.0, 0.5) && !inside(&c, 4.0, 0.01));
            let other = polygon(&[(PI, 0.0), (TAU + noise, 0.0), (TAU - noise, 1.0), (PI, 1.0)], 0);
            let moved: Vec<TrimPiece> = other.iter().map(|p| p.translated(V2::new(shift, 0.0))).collect();
            let c = consistent(&moved, CYLINDER, true, false, P2::origin());
            assert!((c.area_uv() - PI).abs() < 1e-6, "{noise} {shift} {}", c.area_uv());
            assert!(!inside(&c, 1.0, 0.5) && inside(&c, -1.0, 0.5) && inside(&c, 4.0, 0.01));
        }
    }
}

fn turned(pieces: &mut [TrimPiece], angle: f64) {
    let (s, c) = math::sin_cos(angle);
    for p in pieces {
        *p = p.mapped(|q| P2::new(c * q.x - s * q.y, s * q.x + c * q.y));
    }
}

#[test]
fn a_plate_with_a_thousand_holes() {
    for angle in [0.0, 0.3] {
        let mut raw = square(0.0, 0.0, 32.0, 0);
        for i in 0..1000_u32 {
            let (x, y) = (f64::from(i % 32) + 0.5, f64::from(i / 32) + 0.5);
            raw.extend(reversed(&ellipse((x, y), (0.3, 0.3), 4, 0.0, i + 1)));
        }
        turned(&mut raw, angle);
        let c = plane(&raw);
        assert!(c.members.len() < 24 * c.pieces.len() + 300, "{} entries", c.members.len());
        let hole = -plane_area(&raw[4..8]);
        assert!((c.area_uv() - (1024.0 - 1000.0 * hole)).abs() < 1e-9);
        let mut rng = SmallRng::seed_from_u64(21);
        let (s, co) = math::sin_cos(angle);
        for _ in 0..5000 {
            let q: (f64, f64) = (rng.random_range(-1.0..33.0), rng.random_range(-1.0..33.0));
            let p = P2::new(co * q.0 - s * q.1, s * q.0 + co * q.1);
            let cell = (q.0.floor(), q.1.floor());
            let r = math::hypot(q.0 - cell.0 - 0.5, q.1 - cell.1 - 0.5);
            let on_plate = 0.0 < q.0 && q.0 < 32.0 && 0.0 < q.1 && q.1 < 32.0;
            let holed = cell.0 + 32.0 * cell.1 < 1000.0;
            if (r - 0.3).abs() > 2e-3 {
                assert_eq!(c.classify(p) == Side::Inside, on_plate && !(holed && r < 0.3), "{q:?}");
            }
            let m = c.nearest(p, [1.0, 0.0, 1.0], INF).map(|n| n.2);
            if on_plate && holed && q.0 < 30.0 && q.1 < 30.0 && q.0 > 2.0 && q.1 > 2.0 && r < 0.45 {
                assert!((m.unwrap() - (r - 0.3).abs()).abs() < 1e-3);
            }
        }
    }
}

fn plane_area(pieces: &[TrimPiece]) -> f64 {
    let rule = gauss_legendre(3);
    pieces.iter().flat_map(|p| rule.iter().map(|(t, w)| w * p.eval(*t).x * p.derivative(*t).y)).sum()
}

/// Returns a random wavy closed curve around a centre.
fn blob(rng: &mut SmallRng, c: (f64, f64), r: f64, n: usize, edge: u32) -> Vec<TrimPiece> {
    let waves: Vec<(f64, f64, f64)> =
        (1..4).map(|k| (f64::from(k), rng.random_range(0.0..0.12), rng.random_range(0.0..TAU))).collect();
    let at = |i: usize| {
        let a = TAU * as_f64(i % n) / as_f64(n);
        let (s, co) = math::sin_cos(a);
        let (mut rad, mut drad) = (r, 0.0);
        for (k, amp, ph) in &waves {
            rad += r * amp * math::cos(k * a + ph);
            drad -= r * amp * k * math::sin(k * a + ph);
        }
        let h = TAU / as_f64(n);
        (P2::new(c.0 + rad * co, c.1 + rad * s), V2::new(drad * co - rad * s, drad * s + rad * co) * h)
    };
    (0..n)
        .map(|i| {
            let ((p, d), (q, e)) = (at(i), at(i + 1));
            TrimPiece::hermite(p, d, q, e, edge)
        })
        .collect()
}

/// An edge that winds about the upper border of a patch has pieces at the same heights everywhere: the number
/// of strips times their pieces is the square of the number of pieces.
#[test]
fn a_border_of_many_waves_is_classified_from_a_sample_of_strips() {
    let natural = Rect { u0: 0.0, u1: 1.0, v0: 0.0, v1: 1.0 };
    let mut rng = SmallRng::seed_from_u64(5);
    for n in [40, 2000] {
        // A zigzag from right to left, then down and back along the lower border.
        let mut points = vec![(0.0, 0.0), (1.0, 0.0)];
        points.extend((0..=n).map(|k| {
            let v = if k % 2 == 0 { rng.random_range(0.70..0.75) } else { rng.random_range(0.85..0.95) };
            (1.0 - as_f64(k) / as_f64(n), v)
        }));
        let upper = points[2..].to_vec();
        for right in [0.0, 0.25] {
            // In the second case no piece is at the left border of the patch.
            let moved: Vec<_> = points.iter().map(|(u, v)| (right + u * (1.0 - right), *v)).collect();
            let (cells, reports) = build(&polygon(&moved, 1), natural, None, None, P2::origin());
            assert!(reports.is_empty(), "{n}: {reports:?}");
            for _ in 0..2000 {
                let (s, v) = (rng.random_range(0.0..1.0), rng.random_range(0.0..1.0));
                let k = upper.partition_point(|p| p.0 > s).clamp(1, n) - 1;
                let f = (upper[k].0 - s) * as_f64(n);
                let top = upper[k].1 * (1.0 - f) + upper[k + 1].1 * f;
                if (v - top).abs() > 1e-9 {
                    assert_eq!(inside(&cells, right + s * (1.0 - right), v), v < top, "{n}: ({s}, {v})");
                }
            }
            assert!(!inside(&cells, 0.5 * right - 1e-9, 0.5), "{n}: left of the domain");
        }
    }
}

#[test]
fn random_domains_agree_with_crossing_counts() {
    let mut rng = SmallRng::seed_from_u64(31);
    for k in 0..30_u32 {
        let n = rng.random_range(3..12);
        let mut raw = blob(&mut rng, (0.0, 0.0), 3.0, n, 0);
        for (i, x, y) in [(1, -1.0, -1.0), (2, 1.0, -1.0), (3, -1.0, 1.0), (4, 1.0, 1.0)] {
            if rng.random_bool(0.7) {
                let n = rng.random_range(3..9);
                let hole = blob(&mut rng, (x, y), 0.6, n, i);
                raw.extend(reversed(&hole));
                if rng.random_bool(0.5) {
                    raw.extend(blob(&mut rng, (x, y), 0.2, 5, i + 10));
                }
            }
        }
        turned(&mut raw, rng.random_range(0.0..TAU));
        let c = plane(&raw);
        compare(&c, &raw, 400, u64::from(k) + 100);
        assert!((c.area_uv() - plane_area(&raw)).abs() < 1e-12);
        // The same domain on a cylinder, scaled down and moved across the seam.
        let small: Vec<TrimPiece> =
            raw.iter().map(|p| p.mapped(|q| P2::new(0.5 * q.x + 50.0, q.y))).collect();
        let origin = P2::new(50.0 + rng.random_range(-2.0..2.0), 0.0);
        let round = consistent(&small, CYLINDER, true, false, origin);
        assert!((round.area_uv() - 0.5 * plane_area(&raw)).abs() < 1e-10);
        for _ in 0..300 {
            let p = P2::new(rng.random_range(-4.0..4.0), rng.random_range(-4.0..4.0));
            let q = P2::new(0.5 * p.x + 50.0 + TAU * f64::from(k % 5) - 2.0 * TAU, p.y);
            if c.classify(p) != round.classify(q) {
                assert!(brute_distance(&raw, p) < 1e-6);
            }
        }
        // The same domain with holes over both seams of a torus.
        let inverse: Vec<TrimPiece> =
            reversed(&raw).iter().map(|p| p.mapped(|q| P2::new(0.5 * q.x, 0.5 * q.y))).collect();
        let origin = P2::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
        let torus = consistent(&inverse, TORUS, true, true, origin);
        assert!((torus.area_uv() - (TAU * TAU - 0.25 * plane_area(&raw))).abs() < 1e-10);
        for _ in 0..300 {
            let p = P2::new(rng.random_range(-4.0..4.0), rng.random_range(-4.0..4.0));
            if c.classify(p) == torus.classify(P2::new(0.5 * p.x + TAU, 0.5 * p.y - TAU)) {
                assert!(brute_distance(&raw, p) < 1e-6);
            }
        }
    }
}

#[test]
fn wrong_orientations_are_reported() {
    let outer = square(0.0, 0.0, 4.0, 0);
    let hole = circle(2.0, 2.0, 1.0, 7);
    let report = |pieces: &[TrimPiece], natural: Rect, up: bool, vp: bool| {
        build(pieces, natural, up.then_some(TAU), vp.then_some(TAU), P2::origin()).1
    };
    let with = |a: &[TrimPiece], b: &[TrimPiece]| [a, b].concat();
    assert!(report(&with(&outer, &reversed(&hole)), PLANE, false, false).is_empty());
    let r = report(&with(&outer, &hole), PLANE, false, false);
    assert!(r.iter().any(|r| r.edges.contains(&7)), "{r:?}");
    assert!(!report(&reversed(&outer), PLANE, false, false).is_empty());
    assert!(!report(&with(&reversed(&outer), &reversed(&hole)), PLANE, false, false).is_empty());
    assert!(!report(&with(&reversed(&outer), &hole), PLANE, false, false).is_empty());
    assert!(!report(&outer[..3], PLANE, false, false).is_empty());

    let winding = |v: f64, forward: bool| {
        let l = TrimPiece::line(P2::new(0.3, v), P2::new(0.3 + TAU, v), 5);
        vec![if forward { l } else { l.reversed() }]
    };
    for (a, b, good) in
        [(true, false, true), (true, true, false), (false, false, false), (false, true, false)]
    {
        let r = report(&with(&winding(1.0, a), &winding(2.0, b)), CYLINDER, true, false);
        assert_eq!(r.is_empty(), good, "{a} {b} {r:?}");
        let r = report(&with(&winding(1.0, a), &winding(2.0, b)), TORUS, true, true);
        assert_eq!(r.is_empty(), a != b, "{a} {b} {r:?}");
    }
    // A hole in a band is accepted in the reversed orientation only.
    let band = with(&winding(0.0, true), &winding(4.0, false));
    assert!(report(&with(&band, &reversed(&hole)), CYLINDER, true, false).is_empty());
    assert!(!report(&with(&band, &hole), CYLINDER, true, false).is_empty());
}

#[test]
fn gaps_and_overlaps_are_tolerated() {
    let mut rng = SmallRng::seed_from_u64(41);
    for noise in [1e-15, 1e-12, 1e-9, 1e-8, 1e-6, 1e-4] {
        for k in 0..4 {
            let mut raw = square(0.0, 0.0, 4.0, 0);
            for i in 0..9_u32 {
                let (x, y) = (f64::from(i % 3) + 1.0, f64::from(i / 3) + 1.0);
                // Adjacent holes touch, up to the noise.
                raw.extend(reversed(&ellipse((x, y), (0.5, 0.5), 8, 0.0, i + 1)));
            }
            for p in &mut raw {
                for c in &mut p.control {
                    *c += V2::new(rng.random_range(-noise..noise), rng.random_range(-noise..noise));
                }
            }
            turned(&mut raw, 0.2 * f64::from(k));
            let c = plane(&raw);
            assert!((c.area_uv() - (16.0 - 9.0 * PI / 4.0)).abs() < 1e-4 + 40.0 * noise);
            let r = c.rect;
            for _ in 0..150 {
                let p = P2::new(rng.random_range(r.u0..r.u1), rng.random_range(r.v0..r.v1));
                if (brute_winding(&raw, p) > 0) != (c.classify(p) == Side::Inside) {
                    // The reference count can leak through the gaps, so it is repeated slightly higher.
                    let q = P2::new(p.x, p.y + 3.0 * noise);
                    let same = (brute_winding(&raw, q) > 0) == (c.classify(p) == Side::Inside);
                    assert!(same || brute_distance(&raw, p) < 2e-3 + 2.0 * noise, "{noise} {p}");
                }
            }
        }
    }
}

#[test]
fn nearest_agrees_with_sampling() {
    let mut rng = SmallRng::seed_from_u64(51);
    for k in 0..20 {
        let mut raw = blob(&mut rng, (0.0, 0.0), 2.0, 5, 0);
        let hole = blob(&mut rng, (0.3, 0.2), 0.7, 4, 1);
        raw.extend(reversed(&hole));
        let periodic = k % 2 == 0;
        let c = if periodic {
            consistent(&raw, CYLINDER, true, false, P2::new(rng.random_range(-3.0..3.0), 0.0))
        } else {
            plane(&raw)
        };
        for _ in 0..100 {
            let uv = P2::new(rng.random_range(-9.0..9.0), rng.random_range(-3.0..3.0));
            let (e, g): (f64, f64) = (rng.random_range(0.1..5.0), rng.random_range(0.1..5.0));
            let f = rng.random_range(-0.9..0.9) * (e * g).sqrt();
            let d = |p: P2| {
                let q = p - uv;
                (e * q.x * q.x + 2.0 * f * q.x * q.y + g * q.y * q.y).sqrt()
            };
            let shifts: &[f64] = if periodic { &[-2.0, -1.0, 0.0, 1.0, 2.0] } else { &[0.0] };
            let mut best = INF;
            for p in &raw {
                for s in shifts {
                    for i in 0..=400 {
                        best = best.min(d(p.eval(f64::from(i) / 400.0) + V2::new(s * TAU, 0.0)));
                    }
                }
            }
            let (piece, at, dist) = c.nearest(uv, [e, f, g], INF).unwrap();
            assert!((d(at) - dist).abs() < 1e-12 * (1.0 + dist));
            assert!(dist <= best + 1e-12 && dist > best - 0.02, "{dist} {best}");
            // The point lies on its piece, and no step along the piece is nearer.
            let p = &c.pieces[piece];
            let here: Vec<V2> = (0..=2000).map(|i| p.eval(f64::from(i) / 2000.0) - at).collect();
            let off =
                here.iter()
                    .map(|x| {
                        if periodic { V2::new(x.x - (x.x / TAU).round() * TAU, x.y).norm() } else { x.norm() }
                    })
                    .fold(INF, f64::min);
            assert!(off < 3e-3, "{off}");
            assert!(c.nearest(uv, [e, f, g], dist * 0.999).is_none());
            assert!(c.nearest(uv, [e, f, g], dist * 1.001).is_some());
        }
    }
    // Exact to round-off on a straight line and on a parabola, and at a pole, where u has no length.
    let c = plane(&square(0.0, 0.0, 1.0, 0));
    let (_, p, d) = c.nearest(P2::new(0.3, 0.7 + 1.0), [1.0, 0.0, 4.0], 10.0).unwrap();
    assert!((d - 1.4).abs() < 1e-15 && (p - P2::new(0.3, 1.0)).norm() < 1e-15);
    let (_, _, d) = c.nearest(P2::new(0.4, 0.5), [0.0, 0.0, 1.0], 10.0).unwrap();
    assert!(d < 1e-15);
    assert!(c.nearest(P2::new(f64::NAN, 0.0), [1.0, 0.0, 1.0], 1.0).is_none());
}

#[test]
fn may_touch_is_conservative_and_sharp() {
    let mut rng = SmallRng::seed_from_u64(61);
    let (mut missed, mut hit) = (0, 0);
    for k in 0..20 {
        let mut raw = blob(&mut rng, (0.0, 0.0), 2.0, 5, 0);
        let hole = blob(&mut rng, (0.3, 0.2), 0.9, 4, 1);
        raw.extend(reversed(&hole));
        let c = if k % 2 == 0 {
            consistent(&raw, CYLINDER, true, false, P2::new(rng.random_range(-3.0..3.0), 0.0))
        } else {
            plane(&raw)
        };
        for _ in 0..100 {
            let (u, v) = (rng.random_range(-4.0..4.0), rng.random_range(-3.0..3.0));
            let (w, h) = (rng.random_range(0.0..0.8), rng.random_range(0.0..0.8));
            let r = Rect { u0: u, u1: u + w, v0: v, v1: v + h };
            let touch = c.may_touch(&r);
            let mut n_inside = 0;
            for i in 0..=24 {
                for j in 0..=24 {
                    n_inside +=
                        usize::from(inside(&c, u + w * f64::from(i) / 24.0, v + h * f64::from(j) / 24.0));
                }
            }
            let any = n_inside > 0;
            assert!(touch || !any, "{r:?}");
            match (touch, any) {
                (true, false) => missed += 1,
                (true, true) => hit += 1,
                _ => {}
            }
            let sample = c.sample_inside(&r);
            if let Some(s) = sample {
                let near = if k % 2 == 0 { math::unwrap_near(s.x, u + 0.5 * w, TAU) } else { s.x };
                assert!(c.classify(s) == Side::Inside);
                assert!(u - 1e-9 <= near && near <= u + w + 1e-9 && v - 1e-9 <= s.y && s.y <= v + h + 1e-9);
            } else {
                assert!(n_inside < 4, "no sample found in {r:?}");
            }
            let shifted = Rect { u0: r.u0 + 3.0 * TAU, u1: r.u1 + 3.0 * TAU, ..r };
            if k % 2 == 0 {
                assert_eq!(c.may_touch(&shifted), touch);
            }
        }
    }
    assert!(missed * 30 < hit, "{missed} of {hit} rectangles were not rejected though outside");
    // A rectangle that touches the border line exactly counts.
    let c = plane(&square(0.0, 0.0, 1.0, 0));
    assert!(c.may_touch(&Rect { u0: 1.0, u1: 2.0, v0: 0.2, v1: 0.4 }));
    assert!(c.may_touch(&Rect { u0: 1.0, u1: 2.0, v0: 1.0, v1: 2.0 }));
    assert!(!c.may_touch(&Rect { u0: 1.0 + 1e-9, u1: 2.0, v0: 0.0, v1: 0.4 }));
    assert!(!c.has_boundary_in(&Rect { u0: 0.2, u1: 0.4, v0: 0.2, v1: 0.4 }));
    assert!(c.has_boundary_in(&Rect { u0: 0.2, u1: 0.4, v0: 0.2, v1: 1.4 }));
}

#[test]
fn polylines_follow_the_boundary() {
    let mut raw = square(0.0, 0.0, 4.0, 0);
    raw.extend(reversed(&circle(2.0, 2.0, 1.0, 1)));
    let c = plane(&raw);
    let lines = c.polylines(1e-4);
    assert_eq!(lines.len(), 2);
    let area = |l: &[P2]| l.windows(2).map(|w| 0.5 * (w[0].x * w[1].y - w[1].x * w[0].y)).sum::<f64>();
    let mut areas: Vec<f64> = lines.iter().map(|l| area(l)).collect();
    areas.sort_by(f64::total_cmp);
    assert!((areas[0] + PI).abs() < 1e-3 && (areas[1] - 16.0).abs() < 1e-12);
    for l in &lines {
        assert_eq!(l.first(), l.last());
        for w in l.windows(2) {
            let m = nalgebra::center(&w[0], &w[1]);
            assert!(c.nearest(m, [1.0, 0.0, 1.0], 1.0).unwrap().2 <= 1e-4);
        }
    }
}

#[test]
fn integrals_agree_with_closed_forms() {
    // Polynomials over a triangle: ∬ u^a v^b = a! b! / (a + b + 2)!
    let c = plane(&polygon(&[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)], 0));
    let exact = [1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 60.0, 1.0 / 180.0];
    let f = |p: P2| [1.0, p.x, p.x * p.y, p.x * p.x * p.y, p.x * p.x * p.y * p.y];
    let (u, big_f) = (1.0, |p: P2| {
        let (u, v) = (p.x, p.y);
        [u, u * u / 2.0, u * u / 2.0 * v, u * u * u / 3.0 * v, u * u * u / 3.0 * v * v]
    });
    assert!(u > 0.0);
    let breaks = [0.2, 0.5, 0.7];
    for (us, vs) in [(&[][..], &[][..]), (&breaks[..], &breaks[..]), (&breaks[..1], &breaks[1..])] {
        let a = c.integrate(&big_f, (us, vs), 1e-12);
        let b = c.integrate_density(&f, (us, vs), 1e-12, [0.0; 5]);
        for k in 0..5 {
            assert!((a[k] - exact[k]).abs() < 1e-14 && (b[k] - exact[k]).abs() < 1e-14, "{a:?} {b:?}");
        }
    }
    // An integrand with a kink at a break, on a ring.
    let mut raw = circle(0.0, 0.0, 2.0, 0);
    raw.extend(reversed(&circle(0.0, 0.0, 1.0, 1)));
    let c = plane(&raw);
    let got = c.integrate_density(&|p| [p.x.abs(), p.y.abs(), p.x * p.y], (&[0.0], &[0.0]), 1e-10, [0.0; 3]);
    // ∬ |x| = 4/3 (R³ - r³)
    assert!((got[0] - 28.0 / 3.0).abs() < 1e-6 && (got[1] - 28.0 / 3.0).abs() < 1e-6 && got[2].abs() < 1e-6);
    // Periodic domains: the complement of a disc over both seams of a torus.
    let origin = P2::new(0.5, 0.25);
    let disc = ellipse((0.5, 0.25), (1.0, 1.0), 32, 0.1, 3);
    let c = consistent(&reversed(&disc), TORUS, true, true, origin);
    let f = |p: P2| [2.0 + math::cos(p.x - 0.5) * math::cos(p.y - 0.25)];
    let u0 = c.rect.u0;
    let big_f = |p: P2| [2.0 * (p.x - u0) + math::sin(p.x - 0.5) * math::cos(p.y - 0.25)];
    let a = c.integrate(&big_f, (&[], &[]), 1e-11)[0];
    let lines: Vec<f64> = (1..6).map(|i| 0.5 + f64::from(i)).collect();
    let b = c.integrate_density(&f, (&lines, &lines), 1e-11, [0.0])[0];
    // ∬ of 2 + cos x cos y over the unit disc by polar quadrature, to be subtracted from the integral
    // over the whole torus.
    let rule = gauss_legendre(20);
    let mut polar = 0.0;
    for i in 0..64 {
        let (s, co) = math::sin_cos(TAU * f64::from(i) / 64.0);
        for (r, w) in &rule {
            polar += TAU / 64.0 * w * r * (2.0 + math::cos(r * co) * math::cos(r * s));
        }
    }
    let exact = 2.0 * TAU * TAU - polar;
    assert!((a - exact).abs() < 1e-7 && (b - exact).abs() < 1e-7 && (a - b).abs() < 1e-9, "{a} {b} {exact}");
}

#[test]
fn invalid_input_is_harmless() {
    let nan = TrimPiece::line(P2::new(f64::NAN, 0.0), P2::new(1.0, 0.0), 0);
    let far = TrimPiece::line(P2::new(0.0, 0.0), P2::new(1e300, 1.0), 0);
    let point = TrimPiece::line(P2::new(0.5, 0.5), P2::new(0.5, 0.5), 0);
    for natural in [PLANE, CYLINDER, SPHERE, TORUS] {
        for (up, vp) in
            [(None, None), (Some(TAU), None), (Some(TAU), Some(TAU)), (Some(f64::NAN), Some(-1.0))]
        {
            let d = TrimDomain::new(&[nan, far, point], natural, up, vp, P2::origin());
            let (c, _) = TrimCells::build(&d);
            assert!(c.classify(P2::new(f64::NAN, 0.0)) == Side::Outside);
            assert!(c.classify(P2::new(0.0, f64::INFINITY)) == Side::Outside || vp.is_none());
            let _ = c.nearest(P2::new(1.0, 2.0), [1.0, 0.0, 1.0], INF);
            let _ = c.may_touch(&Rect { u0: -INF, u1: INF, v0: f64::NAN, v1: 0.0 });
            let _ = c.sample_inside(&Rect { u0: -INF, u1: INF, v0: f64::NAN, v1: 0.0 });
            let _ = c.polylines(0.0);
        }
    }
    let mut c = plane(&square(0.0, 0.0, 1.0, 0));
    c.members[0] = 99;
    assert!(!c.check());
    for side in 0..4 {
        let mut c = plane(&square(0.0, 0.0, 1.0, 0));
        assert!(c.check());
        c.boxes[1][side] = if side % 2 == 0 { 2.0 } else { -2.0 };
        assert!(!c.check(), "a box with exchanged sides must be rejected");
    }
}

#[test]
fn gaps_at_seams_and_around_periods() {
    let mut rng = SmallRng::seed_from_u64(71);
    for noise in [1e-15, 1e-12, 1e-9, 1e-7, 1e-5] {
        for _ in 0..12 {
            let shift: f64 = rng.random_range(-9.0..9.0);
            let n = rng.random_range(1..9_usize);
            let h = TAU / as_f64(n);
            let mut raw: Vec<TrimPiece> = (0..n)
                .map(|i| {
                    let u = shift + h * as_f64(i);
                    TrimPiece::line(P2::new(u, 1.0), P2::new(u + h, 1.0), 0)
                })
                .collect();
            raw.extend(
                reversed(&raw).iter().map(|p| TrimPiece { edge: 1, ..p.translated(V2::new(0.0, 3.0)) }),
            );
            // One hole over the seam, one with an end on the seam, one that touches it.
            let u0: f64 = rng.random_range(-9.0..9.0);
            for (edge, c, phase) in
                [(2, (u0, 2.0), 0.2), (3, (u0, 3.2), FRAC_PI_2), (4, (u0 + 0.4, 2.6), 0.0)]
            {
                raw.extend(reversed(&ellipse(c, (0.4, 0.3), 8, phase, edge)));
            }
            for p in &mut raw {
                for c in &mut p.control {
                    *c += V2::new(rng.random_range(-noise..noise), rng.random_range(-noise..noise));
                }
            }
            for (natural, vp, at) in
                [(CYLINDER, false, 0.0), (TORUS, true, 0.0), (TORUS, true, 2.0), (TORUS, true, 1.0)]
            {
                let c = consistent(&raw, natural, true, vp, P2::new(u0, at));
                let area = 3.0 * TAU - 3.0 * PI * 0.12;
                assert!((c.area_uv() - area).abs() < 1e-4 + 100.0 * noise, "{noise} {} {area}", c.area_uv());
                for _ in 0..200 {
                    let p = P2::new(rng.random_range(-9.0..9.0), rng.random_range(0.0..5.0));
                    let mut margin = (p.y - 1.0).min(4.0 - p.y);
                    for (u, v) in [(u0, 2.0), (u0, 3.2), (u0 + 0.4, 2.6)] {
                        let d = math::hypot((math::unwrap_near(p.x, u, TAU) - u) / 0.4, (p.y - v) / 0.3);
                        margin = margin.min(d - 1.0);
                    }
                    if margin.abs() > 1e-3 + 10.0 * noise {
                        assert_eq!(c.classify(p) == Side::Inside, margin > 0.0, "{noise} {p} {margin}");
                    }
                }
            }
        }
    }
}

/// Domains whose boundary is one closed loop around them are discs, in any order of their pieces; those with
/// holes, islands, or loops around a period are not known to be.
#[test]
fn discs_are_recognised() {
    let unit = square(0.0, 0.0, 1.0, 0);
    let hole = reversed(&circle(0.5, 0.5, 0.2, 1));
    let mut opposite = plane(&unit);
    opposite.pieces.reverse();
    assert!(plane(&unit).is_disc() && plane(&circle(0.0, 0.0, 2.0, 0)).is_disc() && opposite.is_disc());
    let both = |second: &[TrimPiece]| [&unit[..], second].concat();
    assert!(!plane(&both(&hole)).is_disc(), "a hole");
    assert!(!plane(&both(&square(3.0, 0.0, 1.0, 1))).is_disc(), "an island");
    assert!(!plane(&both(&square(1.0, 1.0, 1.0, 1))).is_disc(), "two squares that touch");
    let (outside, _) = build(&reversed(&unit), PLANE, None, None, P2::origin());
    assert!(!outside.is_disc(), "the outside of a square");
    // A band of a cylinder, and a patch of it beside and across the seam.
    let band = [polygon(&[(0.0, 0.0), (TAU, 0.0)], 0), polygon(&[(TAU, 1.0), (0.0, 1.0)], 1)].concat();
    let ring: Vec<TrimPiece> =
        band.iter().filter(|p| (p.start().y - p.end().y).abs() < 1e-12).cloned().collect();
    let (cells, _) = build(&ring, PLANE, Some(TAU), None, P2::origin());
    assert!(!cells.is_disc(), "a band");
    assert!(build(&square(1.0, 0.0, 1.0, 0), PLANE, Some(TAU), None, P2::origin()).0.is_disc());
    assert!(!build(&square(-0.5, 0.0, 1.0, 0), PLANE, Some(TAU), None, P2::origin()).0.is_disc());
    // Natural sides without pieces.
    let natural = Rect { u0: 0.0, u1: 1.0, v0: 0.0, v1: 1.0 };
    assert!(!build(&[], natural, None, None, P2::origin()).0.is_disc());
}
