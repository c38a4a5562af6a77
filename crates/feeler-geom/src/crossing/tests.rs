use super::*;
use crate::skeleton::{Primitive, signed_distance_value};
use crate::testing::{frame, rng};
use crate::{Frame, math};
use rand::Rng;
use rand::rngs::SmallRng;

fn patch<'a>(surface: &'a Surface, rect: Rect) -> Patch<'a> {
    Patch {
        surface,
        outward: true,
        pose: None,
        rect,
        third: third_of_closed_form(surface, &rect),
        cone: (V3::zeros(), 1.0),
    }
}

fn surfaces(r: &mut SmallRng) -> (Surface, Rect) {
    let f = {
        let f = frame(r);
        Frame { origin: f.origin * r.random_range(0.0..0.2), ..f }
    };
    let full = std::f64::consts::TAU;
    match r.random_range(0..5) {
        0 => (Surface::Plane { frame: f }, Rect { u0: -2.0, u1: 2.0, v0: -2.0, v1: 2.0 }),
        1 => (
            Surface::Cylinder { frame: f, radius: r.random_range(0.2..1.5) },
            Rect { u0: 0.0, u1: full, v0: -2.0, v1: 2.0 },
        ),
        2 => (
            Surface::Cone { frame: f, half_angle: r.random_range(0.2..1.2) },
            Rect { u0: 0.0, u1: full, v0: 0.1, v1: 2.0 },
        ),
        3 => (
            Surface::Sphere { frame: f, radius: r.random_range(0.2..1.5) },
            Rect { u0: 0.0, u1: full, v0: -1.2, v1: 1.2 },
        ),
        _ => (
            Surface::Torus { frame: f, major: r.random_range(0.8..1.5), minor: r.random_range(0.2..0.7) },
            Rect { u0: 0.0, u1: full, v0: 0.0, v1: full },
        ),
    }
}

/// Reported points are within the slack of the level. If the values on a dense grid of a patch have both
/// signs, nearly always a crossing is reported.
#[test]
fn patches_through_levels() {
    let mut r = rng(31);
    let (mut crossed, mut missed) = (0, 0);
    for _ in 0..1500 {
        let (s, rect) = surfaces(&mut r);
        let (g, _) = surfaces(&mut r);
        let primitive = Primitive::of_surface(&g, r.random_bool(0.5)).unwrap();
        let level = Level { primitive: &primitive, at: -1e-3, slack: 5e-4 };
        let mut budget = 1_000_000;
        let mut points = Vec::new();
        let end = patch_through_level(
            (&patch(&s, rect), [true; 2]),
            &level,
            None,
            &mut |_, _| true,
            &mut budget,
            &mut |uv| {
                points.push(uv);
                false
            },
        );
        assert_eq!(end, Search::Complete);
        for uv in &points {
            let value = signed_distance_value(&primitive, &s.point(*uv)).unwrap();
            assert!((value + 1e-3).abs() <= 5e-4, "{value} is not within the slack of the level");
        }
        let n = 60;
        let values: Vec<f64> = (0..=n * n)
            .map(|k| {
                let (i, j) = (f64::from(k % n) / f64::from(n), f64::from(k / n) / f64::from(n));
                let uv = P2::new(rect.u0 + i * rect.width(), rect.v0 + j * rect.height());
                signed_distance_value(&primitive, &s.point(uv)).unwrap() + 1e-3
            })
            .collect();
        let (lo, hi) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        if lo < -1e-3 && hi > 1e-3 {
            // On a patch with borders the curve may leave through them without intersecting the side of
            // a cell.
            crossed += usize::from(!points.is_empty());
            missed += usize::from(points.is_empty());
        } else if points.is_empty() {
            continue;
        }
    }
    assert!(crossed > 150, "{crossed}");
    assert!(missed < 60, "{missed} open curves in one cell");
}

/// A pin that is slightly eccentric in its hole, both as long as wide, and a level closer than the play:
/// the pin is proven clear of the level with cuts around the axis only.
#[test]
fn pins_in_holes_take_few_cells() {
    let frame = Frame { origin: P3::new(3e-7, 2e-7, 0.0), x: V3::x(), y: V3::y(), z: V3::z() };
    let pin = Surface::Cylinder { frame, radius: 0.5 };
    let rect = Rect { u0: 0.0, u1: std::f64::consts::TAU, v0: -1.0, v1: 1.0 };
    let hole = Primitive::Line { origin: P3::origin(), dir: V3::z(), sigma: -(0.5 + 5e-7), slope: 0.0 };
    for at in [-3e-7, 1.2e-6] {
        let level = Level { primitive: &hole, at, slack: 1e-7 };
        let mut budget = 20_000;
        let (mut all, mut none) = (|_: &P3, _: f64| true, |_: P2| panic!("the pin is between the levels"));
        let end = patch_through_level(
            (&patch(&pin, rect), [true; 2]),
            &level,
            None,
            &mut all,
            &mut budget,
            &mut none,
        );
        assert_eq!(end, Search::Complete, "{at}: {budget} left");
    }
}

/// The search along circles and lines finds at least the crossings that dense sampling shows.
#[test]
fn curves_through_levels() {
    let mut r = rng(32);
    let mut roots = 0;
    for _ in 0..3000 {
        let (g, _) = surfaces(&mut r);
        let primitive = Primitive::of_surface(&g, r.random_bool(0.5)).unwrap();
        let f = Frame { origin: frame(&mut r).origin * 0.1, ..frame(&mut r) };
        let radius = r.random_range(0.1..2.0);
        let eval = |t: f64| {
            let (s, c) = math::sin_cos(t);
            (f.point(radius * c, radius * s, 0.0), f.vector(-radius * s, radius * c, 0.0))
        };
        let arc = Arc { eval, range: [0.0, std::f64::consts::TAU], speed: radius, bend: radius };
        let level = Level { primitive: &primitive, at: -1e-6, slack: 5e-7 };
        let mut found = 0;
        let mut budget = 100_000;
        let end = curve_through_level(&arc, &level, None, &mut budget, &mut |_| {
            found += 1;
            false
        });
        assert_eq!(end, Search::Complete);
        let signs: Vec<bool> = (0..4000)
            .map(|k| {
                signed_distance_value(&primitive, &eval(f64::from(k) * arc.range[1] / 4000.0).0).unwrap()
                    < -1e-6
            })
            .collect();
        let changes = (0..4000).filter(|&k| signs[k] != signs[(k + 1) % 4000]).count();
        assert!(found >= changes, "{found} of {changes}");
        roots += changes;
    }
    assert!(roots > 200, "{roots}");
}

/// For closed-form patches, the search by cells of both patches finds crossings if the search by levels
/// does.
#[test]
fn patches_through_patches() {
    let mut r = rng(33);
    let mut both = 0;
    for _ in 0..600 {
        let (s, rect) = surfaces(&mut r);
        let ball = Surface::Sphere {
            frame: Frame { origin: frame(&mut r).origin * 0.1, ..frame(&mut r) },
            radius: r.random_range(0.2..1.0),
        };
        let ball_rect = Rect { u0: 0.0, u1: std::f64::consts::TAU, v0: -1.2, v1: 1.2 };
        let primitive = Primitive::of_surface(&ball, true).unwrap();
        let (mut x, mut y) = (0, 0);
        let level = Level { primitive: &primitive, at: -1e-3, slack: 5e-4 };
        let mut budget = 10_000_000;
        let _ = patch_through_level(
            (&patch(&s, rect), [true; 2]),
            &level,
            None,
            &mut |_, _| true,
            &mut budget,
            &mut |_| {
                x += 1;
                false
            },
        );
        let target = Shifted { patch: patch(&ball, ball_rect), by: 1e-3, slack: 5e-4 };
        let mut budget = 1_000_000;
        let end = patch_through_patch(&patch(&s, rect), &target, &mut budget, &mut |uv, q| {
            let gap = (s.point(uv) - ball.point(q)).norm();
            assert!((gap - 1e-3).abs() < 1e-3, "{gap}");
            y += 1;
            true
        });
        assert!(!matches!(end, Search::BudgetExhausted(_)), "{s:?} {ball:?}");
        if x > 0 {
            both += 1;
            assert!(y > 0, "{s:?} {ball:?}");
        }
    }
    assert!(both > 10, "{both}");
}

/// The clearance of a search is a lower bound of the distance at every point of the patch.
#[test]
fn clearances_are_lower_bounds() {
    let mut r = rng(34);
    let mut positive = 0;
    for _ in 0..3000 {
        let (s, rect) = surfaces(&mut r);
        let (g, _) = surfaces(&mut r);
        let primitive = Primitive::of_surface(&g, r.random_bool(0.5)).unwrap();
        let level = Level { primitive: &primitive, at: -1e-3, slack: 5e-4 };
        let (mut budget, mut clearance, mut clear) = (1_000_000, f64::INFINITY, true);
        let joined = [r.random_bool(0.5), r.random_bool(0.5)];
        // A part of the surface, because whole surfaces cross in closed curves.
        let mut part = |lo: f64, hi: f64| {
            let (a, b) = (r.random_range(0.0..0.8), r.random_range(0.05..0.2));
            (lo + a * (hi - lo), lo + (a + b) * (hi - lo))
        };
        let ((u0, u1), (v0, v1)) = (part(rect.u0, rect.u1), part(rect.v0, rect.v1));
        let rect = Rect { u0, u1, v0, v1 };
        let end = patch_through_level(
            (&patch(&s, rect), joined),
            &level,
            Some(&mut clearance),
            &mut |_, _| true,
            &mut budget,
            &mut |_| {
                clear = false;
                false
            },
        );
        if end != Search::Complete || !clear || clearance <= 0.0 {
            continue;
        }
        positive += 1;
        let n = 40;
        for k in 0..=n * n {
            let (i, j) = (f64::from(k % n) / f64::from(n - 1), f64::from(k / n) / f64::from(n));
            let uv = P2::new(rect.u0 + i * rect.width(), rect.v0 + j * rect.height());
            let value = signed_distance_value(&primitive, &s.point(uv)).unwrap() + 1e-3;
            assert!(
                value.abs() > clearance - 1e-12,
                "{value} within {clearance}: {s:?} {rect:?} {primitive:?}"
            );
        }
    }
    assert!(positive > 1500, "{positive}");
}
