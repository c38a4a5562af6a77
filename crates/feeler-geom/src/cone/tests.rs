use super::revolution::angle;
use super::*;
use crate::frame::{complete_basis, unit};
use crate::{V3, math};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::{FRAC_PI_2, PI};

fn direction(rng: &mut SmallRng) -> V3 {
    loop {
        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if v.norm_squared() > 0.01 && v.norm_squared() <= 1.0 {
            return v.normalize();
        }
    }
}

/// A direction at `angle` from `axis` with a random azimuth.
fn off_axis(rng: &mut SmallRng, axis: &V3, angle: f64) -> V3 {
    let (x, y) = complete_basis(axis);
    let (s, c) = math::sin_cos(rng.random_range(0.0..6.3));
    let (sa, ca) = math::sin_cos(angle);
    (axis * ca + (x * c + y * s) * sa).normalize()
}

fn in_cap(rng: &mut SmallRng, axis: &V3, half: f64) -> V3 {
    let a = half * rng.random_range(0.0_f64..1.0).sqrt();
    off_axis(rng, axis, a)
}

/// Returns a set of directions of a random relevant shape, from tiny to wide: a single direction, equal
/// directions, an arc, an almost flat arc, a circle of latitude, a patch or a cloud.
fn directions(rng: &mut SmallRng) -> Vec<V3> {
    let axis = direction(rng);
    let (x, y) = complete_basis(&axis);
    let half = [1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.25, 0.8, 1.4][rng.random_range(0..8)];
    let n = rng.random_range(1..20);
    let along = |a: f64, b: f64| {
        let (s, c) = math::sin_cos(a);
        axis * c + x * s + y * b
    };
    let mut out: Vec<V3> = match rng.random_range(0..7) {
        0 => vec![axis],
        1 => vec![axis; n],
        2 => (0..n).map(|_| along(rng.random_range(-half..half), 0.0)).collect(),
        3 => (0..n)
            .map(|_| along(rng.random_range(-half..half), half * rng.random_range(-1e-8..1e-8)))
            .collect(),
        4 => (0..n).map(|_| off_axis(rng, &axis, half)).collect(),
        5 => {
            (0..n).map(|_| along(rng.random_range(-half..half), half * rng.random_range(-0.1..0.1))).collect()
        }
        _ => (0..n).map(|_| in_cap(rng, &axis, half)).collect(),
    };
    for d in &mut out {
        *d *= [1.0, 1e-3, 1e4][rng.random_range(0..3)];
    }
    out
}

/// Returns a random direction of the conical hull of the vectors `g`, often on its boundary.
fn member(rng: &mut SmallRng, g: &[V3]) -> V3 {
    let mut v = V3::zeros();
    let count = rng.random_range(1..4);
    for _ in 0..count {
        v += g[rng.random_range(0..g.len())].normalize() * rng.random_range(0.0..1.0) + V3::zeros();
    }
    unit(v).unwrap_or_else(|| g[0].normalize())
}

#[test]
fn hull_is_convex_and_contains_all_directions_with_margin() {
    let mut rng = SmallRng::seed_from_u64(11);
    for _ in 0..4000 {
        let dirs = directions(&mut rng);
        let cone = PolyCone::hull(&dirs).unwrap_or_else(|| panic!("{dirs:?}"));
        assert!((3..=4).contains(&cone.generators.len()) && cone.is_convex(), "{cone:?}");
        assert!(cone.generators.iter().all(|g| (g.norm() - 1.0).abs() < 1e-15), "unit");
        for _ in 0..10 {
            let v = member(&mut rng, &dirs);
            // The dilation is a margin: members are inside by part of it.
            assert!(cone.contains(&v, -0.2 * HULL_DILATION), "{dirs:?} {cone:?} {v:?}");
        }
        // A rectangle around the projection fits inside the square around the smallest cap.
        let round = RevolutionCone::around(&dirs).dilated(3.0 * HULL_DILATION);
        let square = PolyCone::from_revolution(&round).unwrap();
        assert!(cone.solid_angle() <= 1.001 * square.solid_angle(), "{cone:?} {square:?}: loose");
    }
}

#[test]
fn hull_is_tight_for_known_cones() {
    // The hull of an arc of a meridian is as thin as the dilation.
    let arc: Vec<V3> =
        (0..9).map(|i| math::sin_cos(0.1 * f64::from(i))).map(|(s, c)| V3::new(c, s, 0.0)).collect();
    let cone = PolyCone::hull(&arc).unwrap();
    assert!(cone.solid_angle() < 5.0 * HULL_DILATION, "{}", cone.solid_angle());
    // An octant is its own hull, with three or four sides.
    let octant = PolyCone::hull(&[V3::x(), V3::y(), V3::z()]).unwrap();
    assert!((octant.solid_angle() - FRAC_PI_2).abs() < 1e-4, "{}", octant.solid_angle());
    let t = 0.3;
    let square = [V3::new(t, t, 1.0), V3::new(-t, t, 1.0), V3::new(-t, -t, 1.0), V3::new(t, -t, 1.0)];
    let exact = PolyCone { generators: square.iter().map(|g| g.normalize()).collect() };
    let cone = PolyCone::hull(&square).unwrap();
    assert!((cone.solid_angle() / exact.solid_angle() - 1.0).abs() < 1e-4, "square");
    assert!(
        (exact.solid_angle() - 4.0 * math::asin(t * t / (1.0 + t * t))).abs() < 1e-14,
        "closed form of a pyramid"
    );
    // For a round cap, a circumscribed square of the projection is optimal.
    let ring: Vec<V3> = (0..64)
        .map(|i| math::sin_cos(f64::from(i) * PI / 32.0))
        .map(|(s, c)| V3::new(t * c, t * s, 1.0))
        .collect();
    let cone = PolyCone::hull(&ring).unwrap();
    assert!(
        cone.solid_angle() < 1.01 * exact.solid_angle(),
        "{} {}",
        cone.solid_angle(),
        exact.solid_angle()
    );
}

#[test]
fn hull_rejects_directions_beyond_a_half_space() {
    assert!(PolyCone::hull(&[]).is_none(), "empty");
    assert!(PolyCone::hull(&[V3::zeros(); 3]).is_none(), "zero");
    assert!(PolyCone::hull(&[V3::x(), V3::new(f64::NAN, 0.0, 0.0)]).is_none(), "not finite");
    assert!(PolyCone::hull(&[V3::x(), -V3::x()]).is_none(), "opposite");
    let flat = [V3::x(), V3::new(-0.5, 0.8, 0.0), V3::new(-0.5, -0.8, 0.0)];
    assert!(PolyCone::hull(&flat).is_none(), "whole plane");
    let with_zero = PolyCone::hull(&[V3::zeros(), V3::y()]).unwrap();
    assert!(with_zero.contains(&V3::y(), 0.0) && !with_zero.contains(&V3::x(), 0.1), "zero among others");
}

#[test]
fn dilation_contains_all_directions_within_its_angle() {
    let mut rng = SmallRng::seed_from_u64(12);
    let mut done = 0;
    for _ in 0..4000 {
        let dirs = directions(&mut rng);
        let cone = PolyCone::hull(&dirs).unwrap();
        let alpha = [1e-9, 1e-6, 1e-3, 0.02, 0.2][rng.random_range(0..5)];
        let Some(dilated) = cone.dilated(alpha) else { continue };
        done += 1;
        assert!(dilated.is_convex(), "{dilated:?}");
        for _ in 0..20 {
            let v = member(&mut rng, &cone.generators);
            let w = off_axis(&mut rng, &v, alpha);
            assert!(dilated.contains(&w, 0.0), "{cone:?} {alpha} {v:?} {w:?}");
        }
    }
    assert!(done > 3000, "{done}");
    // No pointed cone contains more than a half-space.
    let wide = PolyCone::from_revolution(&RevolutionCone { axis: V3::x(), half_angle: 1.5 }).unwrap();
    assert!(wide.dilated(0.2).is_none(), "too wide");
    assert!(PolyCone::all().dilated(0.1).unwrap().is_all(), "the cone of all directions is unchanged");
}

#[test]
fn unions_and_conversions_contain_their_parts() {
    let mut rng = SmallRng::seed_from_u64(13);
    for _ in 0..1000 {
        let (a, b) =
            (PolyCone::hull(&directions(&mut rng)).unwrap(), PolyCone::hull(&directions(&mut rng)).unwrap());
        let u = a.union(&b);
        let round = a.revolution();
        for g in a.generators.iter().chain(&b.generators) {
            assert!(u.contains(g, 0.0), "union");
        }
        let v = member(&mut rng, &a.generators);
        assert!(round.contains(&v, 0.0), "cone of revolution");
        let half = rng.random_range(0.0..1.57);
        let c = RevolutionCone { axis: v, half_angle: half };
        let square = PolyCone::from_revolution(&c).unwrap();
        let w = off_axis(&mut rng, &v, half);
        assert!(square.contains(&w, 0.0) && square.is_convex(), "square pyramid");
    }
    assert!(PolyCone::from_revolution(&RevolutionCone::all()).is_none(), "all directions");
    assert!(PolyCone::all().contains(&V3::x(), 0.0) && PolyCone::all().revolution().is_all(), "all");
    assert!(PolyCone::all().union(&PolyCone::hull(&[V3::x()]).unwrap()).is_all(), "union with all");
}

/// Returns two cones A and B with opposite directions, `v` in A and −v in B before any dilation. The
/// directions are inside the cones, on an edge or on a generator.
fn antipodal_cones(rng: &mut SmallRng) -> (PolyCone, PolyCone) {
    let a_dirs = directions(rng);
    let v = member(rng, &a_dirs);
    let mut b_dirs = directions(rng);
    // Rotate B's directions so that one of its members is opposite to v.
    let w = member(rng, &b_dirs);
    let turn = nalgebra::Rotation3::rotation_between(&w, &-v);
    let Some(turn) = turn else { return antipodal_cones(rng) };
    for d in &mut b_dirs {
        *d = turn * *d;
    }
    (PolyCone::hull(&a_dirs).unwrap(), PolyCone::hull(&b_dirs).unwrap())
}

#[test]
fn never_separated_when_a_direction_is_opposite() {
    let mut rng = SmallRng::seed_from_u64(14);
    for _ in 0..20000 {
        let (a, b) = antipodal_cones(&mut rng);
        let hint = rng.random_range(0..=255);
        for sin_alpha in [0.0, 1e-9, 0.01] {
            let plane = separated(&a.generators, &b.generators, sin_alpha, hint);
            assert!(plane.is_none(), "{a:?} {b:?} {sin_alpha} {plane:?}");
        }
        assert!(a.revolution().may_be_antipodal(&b.revolution(), 0.0), "cones of revolution");
        assert!(a.revolution().cap(0.0).may_be_antipodal(&b.revolution().cap(0.0)), "caps");
    }
}

#[test]
fn never_separated_when_borders_coincide() {
    // The cones have no dilation as margin and share an edge or a generator up to the sign.
    let mut rng = SmallRng::seed_from_u64(15);
    for _ in 0..20000 {
        let axis = direction(&mut rng);
        let size = [1e-5, 1e-3, 0.3, 1.2][rng.random_range(0..4)];
        let g: Vec<V3> = (0..3).map(|_| in_cap(&mut rng, &axis, size)).collect();
        let away = direction(&mut rng);
        let h: Vec<V3> = (0..3).map(|_| in_cap(&mut rng, &away, size)).collect();
        let a = sorted([g[0], g[1], g[2]]);
        let b = match rng.random_range(0..4) {
            0 => sorted([-g[0], h[0], h[1]]),
            1 => sorted([-g[0], -g[1], h[0]]),
            // Exactly the opposite directions.
            2 => sorted([-g[0], -g[1], -g[2]]),
            _ => sorted([-unit(g[0] + g[1]).unwrap(), h[0], h[1]]),
        };
        if !a.is_convex() || !b.is_convex() {
            continue;
        }
        // The midpoint of the last case is rounded and may lie outside by an ulp, in which case
        // separation would be correct.
        assert!(separated(&a.generators, &b.generators, 0.0, 0).is_none(), "{a:?} {b:?}");
        assert!(separated(&a.generators, &b.generators, 1e-3, 0).is_none(), "{a:?} {b:?}");
    }
}

fn sorted(g: [V3; 3]) -> PolyCone {
    let [a, b, c] = g;
    let turn = if a.dot(&b.cross(&c)) > 0.0 { [a, b, c] } else { [a, c, b] };
    PolyCone { generators: turn.into_iter().collect() }
}

#[test]
fn never_separated_within_the_users_angle() {
    let mut rng = SmallRng::seed_from_u64(16);
    for _ in 0..10000 {
        let (a, b) = antipodal_cones(&mut rng);
        let alpha: f64 = [1e-6, 1e-3, 0.05, 0.3][rng.random_range(0..4)];
        // Both polars are dilated by alpha, so a rotation by up to twice alpha must not separate them.
        let (x, _) = complete_basis(&direction(&mut rng));
        let turn = nalgebra::Rotation3::from_scaled_axis(x * (1.999 * alpha));
        let b = b.rotated(turn.matrix());
        assert!(
            separated(&a.generators, &b.generators, math::sin(alpha), 0).is_none(),
            "{a:?} {b:?} {alpha}"
        );
        assert!(a.revolution().may_be_antipodal(&b.revolution(), 2.0 * alpha), "cones of revolution");
        assert!(a.revolution().cap(alpha).may_be_antipodal(&b.revolution().cap(alpha)), "caps");
    }
}

#[test]
fn separated_whenever_a_plane_clears_both() {
    let mut rng = SmallRng::seed_from_u64(17);
    let mut seen = 0;
    for round in 0..20000 {
        let alpha = [0.0, 1e-6, 0.01, 0.2][round % 4];
        let n = direction(&mut rng);
        // All generators are within a cap around −n that leaves the margin; a smaller one makes the case
        // harder.
        let spare = [1e-6, 1e-3, 0.1][rng.random_range(0..3)];
        let reach = FRAC_PI_2 - alpha - spare;
        let make = |rng: &mut SmallRng| {
            let mut dirs = Vec::new();
            let axis = in_cap(rng, &-n, reach);
            let size = [0.02, 0.3, 1.5][rng.random_range(0..3)];
            while dirs.len() < 4 {
                let d = in_cap(rng, &axis, size);
                if angle(&d, &-n) <= reach {
                    dirs.push(d);
                }
            }
            PolyCone::hull(&dirs).unwrap()
        };
        let (a, b) = (make(&mut rng), make(&mut rng));
        // The reduction to four generators may leave the cap; such a case is skipped.
        if !a.generators.iter().chain(&b.generators).all(|g| angle(g, &-n) <= FRAC_PI_2 - alpha - 0.5 * spare)
        {
            continue;
        }
        seen += 1;
        let sin_alpha = math::sin(alpha);
        let plane = separated(&a.generators, &b.generators, sin_alpha, rng.random_range(0..=255));
        assert!(plane.is_some(), "{a:?} {b:?} {alpha} {spare}");
        assert_eq!(
            separated(&a.generators, &b.generators, sin_alpha, plane.unwrap()),
            plane,
            "the hint is tried first"
        );
        assert!(separated(&b.generators, &a.generators, sin_alpha, 0).is_some(), "swapped");
    }
    assert!(seen > 5000, "{seen}");
}

#[test]
fn unbounded_and_incomplete_cones_are_never_separated() {
    let a = PolyCone::hull(&[V3::x()]).unwrap();
    assert!(separated(&a.generators, &[], 0.0, 0).is_none(), "all directions");
    assert!(separated(&a.generators, &[V3::x(), V3::y()], 0.0, 0).is_none(), "two generators");
    assert!(separated(&a.generators, &a.generators, 0.0, 0).is_some(), "equal directions are not opposite");
    let nan = [V3::repeat(f64::NAN); 3];
    assert!(separated(&a.generators, &nan, 0.0, 0).is_none(), "not finite");
    assert!(separated(&a.generators, &nan, 0.1, 9).is_none(), "not finite, dilated");
}

#[test]
fn smallest_cap_matches_brute_force() {
    let mut rng = SmallRng::seed_from_u64(18);
    for _ in 0..2000 {
        let dirs = directions(&mut rng);
        let cone = RevolutionCone::around(&dirs);
        assert!(dirs.iter().all(|d| cone.contains(d, 0.0)), "contains");
        // The smallest cap has two or three of the directions on its border.
        let u: Vec<V3> = dirs.iter().map(|d| d.normalize()).collect();
        let mut best = f64::INFINITY;
        let mut offer = |axis: V3| {
            best = best.min(u.iter().fold(0.0, |m: f64, d| m.max(angle(&axis, d))));
        };
        offer(u[0]);
        for (i, a) in u.iter().enumerate() {
            for (j, b) in u.iter().enumerate().skip(i + 1) {
                offer((a + b).normalize());
                for c in u.iter().skip(j + 1) {
                    if let Some(n) = unit((b - a).cross(&(c - a))) {
                        offer(if n.dot(a) < 0.0 { -n } else { n });
                    }
                }
            }
        }
        assert!(cone.half_angle <= best * (1.0 + 1e-8) + 2e-12, "{} {best}", cone.half_angle);
    }
    assert!(
        RevolutionCone::around(&[]).is_all() && RevolutionCone::around(&[V3::zeros()]).is_all(),
        "no directions"
    );
    assert!(RevolutionCone::around(&[V3::x(), -V3::x()]).half_angle > FRAC_PI_2 - 1e-9, "opposite");
}

#[test]
fn revolution_unions_contain_and_stay_small() {
    let mut rng = SmallRng::seed_from_u64(19);
    for _ in 0..20000 {
        let half = |rng: &mut SmallRng| {
            [0.0, 1e-9, 0.3, 1.0, 2.0][rng.random_range(0..5)] * rng.random_range(0.5..1.0)
        };
        let a = RevolutionCone { axis: direction(&mut rng), half_angle: half(&mut rng) };
        let near = [0.0, 1e-9, 1e-3, 1.0, PI - 1e-9, PI][rng.random_range(0..6)];
        let b = RevolutionCone { axis: off_axis(&mut rng, &a.axis, near), half_angle: half(&mut rng) };
        let u = a.union(&b);
        for c in [&a, &b] {
            let v = off_axis(&mut rng, &c.axis, c.half_angle);
            assert!(u.contains(&v, 1e-14), "{a:?} {b:?} {u:?}");
        }
        let exact = (0.5 * (angle(&a.axis, &b.axis) + a.half_angle + b.half_angle))
            .max(a.half_angle)
            .max(b.half_angle);
        // For opposite axes rounding determines the direction of the turn.
        let slack = if near > 3.0 { 1e-6 } else { 1e-11 };
        assert!(u.half_angle <= (exact + slack).min(PI), "{a:?} {b:?} {u:?} {exact}");
        let cap = a.cap(0.0).may_be_antipodal(&b.cap(0.0));
        assert!(cap || !a.may_be_antipodal(&b, 0.0), "{a:?} {b:?}");
        // Cosines resolve angles near 0 and π to about 1e-7.
        assert!(!cap || a.may_be_antipodal(&b, 2e-7), "{a:?} {b:?}");
    }
    assert!(RevolutionCone::union_of(&[]).is_none(), "no cones");
    let opposite =
        RevolutionCone::of_direction(V3::x()).may_be_antipodal(&RevolutionCone::of_direction(-V3::x()), 0.0);
    assert!(opposite, "exactly opposite");
    let aside = V3::new(-1.0, 1e-6, 0.0);
    assert!(
        !RevolutionCone::of_direction(V3::x()).may_be_antipodal(&RevolutionCone::of_direction(aside), 0.0),
        "aside"
    );
    assert!(
        RevolutionCone::of_direction(V3::x()).may_be_antipodal(&RevolutionCone::of_direction(aside), 2e-6),
        "slack"
    );
    assert!(
        RevolutionCone::all().cap(0.0).may_be_antipodal(&RevolutionCone::of_direction(V3::x()).cap(0.0)),
        "all"
    );
}

#[test]
fn large_sets_give_their_caps() {
    let mut rng = SmallRng::seed_from_u64(20);
    for half in [1e-3, 0.2, 1.0, 1.5] {
        let axis = direction(&mut rng);
        let mut dirs: Vec<V3> = (0..2000).map(|_| in_cap(&mut rng, &axis, half)).collect();
        dirs.extend((0..500).map(|_| off_axis(&mut rng, &axis, half)));
        let cone = RevolutionCone::around(&dirs);
        assert!(
            cone.half_angle <= half + 2e-12 && cone.half_angle > half * 0.999,
            "{} {half}",
            cone.half_angle
        );
        assert!(dirs.iter().all(|d| cone.contains(d, 0.0)), "contains");
        assert!(
            PolyCone::hull(&dirs).is_some_and(|c| dirs.iter().all(|d| c.contains(d, 0.0))),
            "hull of {half}"
        );
    }
    let everywhere: Vec<V3> = (0..3000).map(|_| direction(&mut rng)).collect();
    assert!(PolyCone::hull(&everywhere).is_none(), "no half-space");
    assert!(RevolutionCone::around(&everywhere).half_angle > FRAC_PI_2, "more than a half-space");
}

/// Solid angle of the cone around `dirs` between the supporting great circles whose normals, seen along
/// `axis`, have the angles `turns` (rad); infinite if they do not enclose a cone.
fn enclosed(dirs: &[V3], axis: &V3, turns: &[f64; 4]) -> f64 {
    let (x, y) = complete_basis(axis);
    let flat = |d: &V3| [d.dot(&x) / d.dot(axis), d.dot(&y) / d.dot(axis)];
    let lines = turns.map(|t| {
        let (s, c) = math::sin_cos(t);
        let h = dirs.iter().map(flat).fold(f64::NEG_INFINITY, |h, q| h.max(c * q[0] + s * q[1]));
        [c, s, h]
    });
    let mut g = [V3::zeros(); 4];
    for i in 0..4 {
        let ([a, b, h], [c, d, k]) = (lines[i], lines[(i + 1) % 4]);
        let det = a * d - b * c;
        if det < 1e-9 {
            return f64::INFINITY;
        }
        g[i] = (axis + x * ((h * d - k * b) / det) + y * ((a * k - c * h) / det)).normalize();
    }
    PolyCone { generators: g.into_iter().collect() }.solid_angle()
}

#[test]
fn four_sides_are_within_two_percent_of_the_smallest() {
    let mut rng = SmallRng::seed_from_u64(31);
    let (mut worst, mut sum, mut count) = (0.0_f64, 0.0, 0.0);
    for round in 0..150 {
        let axis = direction(&mut rng);
        let half = [0.05, 0.2, 0.4, 0.8][round % 4];
        let (x, y) = complete_basis(&axis);
        let dirs: Vec<V3> = match round % 3 {
            // A cloud, a ring, and a patch of a sphere or torus.
            0 => (0..rng.random_range(5..16)).map(|_| in_cap(&mut rng, &axis, half)).collect(),
            1 => (0..rng.random_range(5..16)).map(|_| off_axis(&mut rng, &axis, half)).collect(),
            _ => {
                let (w, v0, h) = (rng.random_range(0.2..1.0), rng.random_range(-1.0..1.0), half);
                let at = |i: u32| half * (f64::from(i) / 3.0 - 1.0) * w;
                let turn = |u: f64, v: f64| {
                    let ((su, cu), (sv, cv)) = (math::sin_cos(u), math::sin_cos(v));
                    axis * (cu * cv) + x * (su * cv) + y * sv
                };
                (0..7).flat_map(|i| [turn(at(i), v0), turn(at(i), v0 + h)]).collect()
            }
        };
        let middle = RevolutionCone::around(&dirs).axis;
        let ours = PolyCone::hull(&dirs).unwrap().solid_angle();
        let mut best = f64::INFINITY;
        for _ in 0..60 {
            let mut turns = [0; 4].map(|_| rng.random_range(0.0..2.0 * PI));
            turns.sort_by(f64::total_cmp);
            let mut here = enclosed(&dirs, &middle, &turns);
            let mut step = 0.5;
            while step > 1e-4 {
                let mut better = false;
                for k in 0..4 {
                    for d in [-step, step] {
                        let mut t = turns;
                        t[k] += d;
                        let there = enclosed(&dirs, &middle, &t);
                        if there < here {
                            (turns, here, better) = (t, there, true);
                        }
                    }
                }
                if !better {
                    step *= 0.5;
                }
            }
            best = best.min(here);
        }
        assert!(best.is_finite(), "the search found a cone");
        let ratio = ours / best;
        assert!(ratio < 1.02, "{ratio}: {ours} for {best} around {dirs:?}");
        worst = worst.max(ratio);
        sum += ratio;
        count += 1.0;
    }
    assert!(sum / count < 1.003, "mean ratio {}, worst {worst}", sum / count);
}

#[test]
fn a_plane_that_separates_with_an_angle_is_recognised() {
    let mut rng = SmallRng::seed_from_u64(45);
    let mut kept = 0;
    for _ in 0..2000 {
        let cone = |rng: &mut SmallRng| {
            let axis = V3::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize();
            let (x, y) = complete_basis(&axis);
            let w = rng.random_range(0.05..0.8);
            [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
                .map(|(s, t)| (axis + (x * s + y * t) * w).normalize())
        };
        let (a, b) = (cone(&mut rng), cone(&mut rng));
        let Some(code) = separated(&a, &b, 1e-9, u8::MAX) else { continue };
        assert!(separated_along(&a, &b, 1e-9, code), "the plane that was found");
        if separated_along(&a, &b, 0.1, code) {
            kept += 1;
            assert!(separated(&a, &b, 0.1, u8::MAX).is_some(), "found by the full search too");
            // The cones stay separated after a rotation by less than the angle.
            let turn =
                nalgebra::UnitQuaternion::from_scaled_axis(V3::from_fn(|_, _| rng.random_range(-0.05..0.05)));
            let turned = b.map(|g| turn * g);
            assert!(separated(&a, &turned, 1e-9, u8::MAX).is_some(), "{turn}");
        }
    }
    assert!(kept > 300, "{kept}");
}
