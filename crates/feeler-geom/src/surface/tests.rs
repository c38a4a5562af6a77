use std::f64::consts::{FRAC_PI_2, PI, TAU};

use rand::Rng;

use crate::bezier::{BezierSpline, BezierSurface};
use crate::testing::{frame, inside, nurbs_curve, nurbs_surface, point, rng, surfaces, unit};
use crate::{Aabb, Frame, P2, P3, Pose, Rect, Surface, V3, math};

fn reach(p: &P3) -> f64 {
    p.coords.amax() + 1.0
}

#[test]
fn derivatives_agree_with_finite_differences() {
    let mut r = rng(21);
    for _ in 0..100 {
        for (s, rect) in surfaces(&mut r) {
            let uv = inside(&mut r, &rect);
            let h = 1e-4;
            let around = Rect { u0: uv.x - h, u1: uv.x + h, v0: uv.y - h, v1: uv.y + h };
            let (bu, bv) = s.breaks(&around);
            // Skip samples across a joint.
            if !bu.is_empty() || !bv.is_empty() {
                continue;
            }
            let at = |a: f64, b: f64| s.derivs(P2::new(uv.x + a, uv.y + b));
            let d = s.derivs(uv);
            let (e, w, n, o) = (at(h, 0.0), at(-h, 0.0), at(0.0, h), at(0.0, -h));
            let scale = reach(&d.p) + d.du.norm() + d.dv.norm() + d.duu.norm() + d.duv.norm() + d.dvv.norm();
            let close = |x: V3, y: V3, tol: f64| (x - y).norm() < tol * scale;
            assert!(close((e.p - w.p) / (2.0 * h), d.du, 2e-5), "∂u of {s:?} at {uv}");
            assert!(close((n.p - o.p) / (2.0 * h), d.dv, 2e-5), "∂v of {s:?} at {uv}");
            assert!(close((e.du - w.du) / (2.0 * h), d.duu, 2e-4), "∂uu of {s:?} at {uv}");
            assert!(close((n.du - o.du) / (2.0 * h), d.duv, 2e-4), "∂uv of {s:?} at {uv}");
            assert!(close((e.dv - w.dv) / (2.0 * h), d.duv, 2e-4), "∂vu of {s:?} at {uv}");
            assert!(close((n.dv - o.dv) / (2.0 * h), d.dvv, 2e-4), "∂vv of {s:?} at {uv}");
        }
    }
}

#[test]
fn normals_are_crossed_derivatives() {
    let mut r = rng(22);
    for _ in 0..200 {
        for (s, rect) in surfaces(&mut r) {
            let uv = inside(&mut r, &rect);
            let d = s.derivs(uv);
            let cross = d.du.cross(&d.dv);
            let n = s.normal(uv);
            assert!((n.norm() - 1.0).abs() < 1e-12, "unit");
            if cross.norm() > 1e-6 * d.du.norm() * d.dv.norm() && d.du.norm() > 1e-6 {
                assert!((cross.normalize() - n).norm() < 1e-8, "{s:?} at {uv}");
            }
        }
    }
}

/// The normal at the nearest point, computed without parameters, agrees with that from parameters, for
/// points on the surface, off it and beyond its centre.
#[test]
fn normals_beside_points() {
    let mut r = rng(27);
    let mut singular = 0;
    for _ in 0..200 {
        for (s, rect) in surfaces(&mut r) {
            let uv = inside(&mut r, &rect);
            for off in [0.0, r.random_range(-5.0..5.0)] {
                let p = s.point(uv) + s.normal(uv) * off;
                let foot = s.invert(&p, None, None);
                let error = (s.normal_beside(&p, None) - s.normal(foot)).norm();
                // Longitudes lose digits near the axis.
                singular += usize::from(error > 1e-12);
                assert!(error < 1e-9, "{error} for {s:?} at {uv}, {off} off");
            }
            // On the axis the longitude is that of the hint.
            if let Surface::Cylinder { frame, .. } | Surface::Sphere { frame, .. } = &s {
                let hint = P2::new(1.0, 0.25);
                let axis = frame.origin;
                let of_hint = s.normal(s.invert(&axis, Some(hint), None));
                assert!((s.normal_beside(&axis, Some(hint)) - of_hint).norm() < 1e-12, "{s:?}");
            }
        }
    }
    assert!(singular < 20, "{singular}");
}

/// Compares principal curvatures with finite differences of the normal along their directions.
#[test]
fn principal_curvatures_agree_with_the_normal() {
    let mut r = rng(23);
    let mut count = 0;
    for _ in 0..150 {
        for (s, rect) in surfaces(&mut r) {
            let uv = rect.center();
            let d = s.derivs(uv);
            let h = 1e-5;
            let around = Rect { u0: uv.x - h, u1: uv.x + h, v0: uv.y - h, v1: uv.y + h };
            let (bu, bv) = s.breaks(&around);
            let area = d.du.cross(&d.dv).norm();
            if !bu.is_empty() || !bv.is_empty() || area < 0.05 * d.du.norm() * d.dv.norm() || area < 1e-2 {
                continue;
            }
            let k = s.principal(uv);
            let n = s.normal(uv);
            assert!(k.k1 <= k.k2, "order");
            let alone = s.curvatures(uv);
            assert!(
                (alone[0] - k.k1).abs() + (alone[1] - k.k2).abs() < 1e-12,
                "curvatures without directions"
            );
            assert!(k.dir1.dot(&k.dir2).abs() < 1e-9 && k.dir1.dot(&n).abs() < 1e-9, "orthogonal");
            assert!(k.dir2.dot(&n).abs() < 1e-9 && (k.dir2.norm() - 1.0).abs() < 1e-9, "unit tangents");
            for (kappa, dir) in [(k.k1, k.dir1), (k.k2, k.dir2)] {
                // Parameter step along the direction.
                let [e, f, g] = s.metric(uv);
                let (a, b) = (dir.dot(&d.du), dir.dot(&d.dv));
                let det = e * g - f * f;
                let step = nalgebra::Vector2::new(g * a - f * b, e * b - f * a) / det;
                let step = step * (h / step.amax());
                let by = (s.point(uv + step) - s.point(uv - step)).dot(&dir);
                let turn = (s.normal(uv + step) - s.normal(uv - step)).dot(&dir) / by;
                let scale = 1.0 + k.k1.abs() + k.k2.abs();
                assert!((turn - kappa).abs() < 1e-4 * scale * scale, "{turn} {kappa} of {s:?}");
            }
            count += 1;
        }
    }
    assert!(count > 700, "{count}");
}

#[test]
fn known_curvatures() {
    let f = Frame::identity();
    let k = Surface::Sphere { frame: f, radius: 2.0 }.principal(P2::new(0.3, 0.4));
    assert_eq!((k.k1, k.k2), (0.5, 0.5), "sphere");
    assert!(k.is_convex(0.0) && k.flipped().is_concave(0.0) && !k.is_saddle(0.0), "convex");
    let torus = Surface::Torus { frame: f, major: 3.0, minor: 1.0 };
    let k = torus.principal(P2::new(0.0, 0.0));
    assert!((k.k1 - 0.25).abs() < 1e-15 && (k.k2 - 1.0).abs() < 1e-15, "outer equator");
    let k = torus.principal(P2::new(0.0, PI));
    assert!((k.k1 + 0.5).abs() < 1e-15 && (k.k2 - 1.0).abs() < 1e-15, "inner equator");
    assert!(k.is_saddle(0.1), "saddle");
    // The curvature at distance r from the axis is cos φ / r.
    let cone = Surface::Cone { frame: f, half_angle: 0.5 };
    let k = cone.principal(P2::new(1.0, 2.0 / math::tan(0.5)));
    assert!(k.k1.abs() < 1e-15 && (k.k2 - math::cos(0.5) / 2.0).abs() < 1e-15, "cone");
    // The normal of the inner sheet of a spindle torus points to its inside.
    let spindle = Surface::Torus { frame: f, major: 1.0, minor: 2.0 };
    let k = spindle.principal(P2::new(0.0, PI));
    assert!((k.k1 + 1.0).abs() < 1e-15 && (k.k2 + 0.5).abs() < 1e-15, "{k:?}");
}

#[test]
fn canonical_inversion_is_the_inverse_of_evaluation() {
    let mut r = rng(24);
    for _ in 0..300 {
        for (s, rect) in surfaces(&mut r) {
            if !s.is_canonical() {
                continue;
            }
            let uv = inside(&mut r, &rect);
            let p = s.point(uv);
            let back = s.invert(&p, None, None);
            assert!((s.point(back) - p).norm() < 1e-12 * reach(&p), "{s:?} at {uv}: {back}");
            assert!(s.u_period().is_none() || (0.0..TAU).contains(&back.x), "u in a turn: {}", back.x);
            // The outer sheet of a spindle torus has a rectangle about v = 0, the inner one about v = π.
            let from = match s {
                Surface::Torus { major, minor, .. }
                    if major < minor && major + minor * math::cos(back.y) > 0.0 =>
                {
                    -PI
                }
                _ => 0.0,
            };
            let turn = from..from + TAU;
            assert!(s.v_period().is_none() || turn.contains(&back.y), "v in a turn: {}", back.y);
            // For a point off the surface no sample is nearer.
            let q = point(&mut r, 60.0);
            let d = (s.point(s.invert(&q, None, None)) - q).norm();
            let whole = s.natural_domain();
            let whole = Rect { v0: whole.v0.max(-99.0), v1: whole.v1.min(99.0), ..whole };
            let whole = Rect { u0: whole.u0.max(-99.0), u1: whole.u1.min(99.0), ..whole };
            for _ in 0..200 {
                let other = (s.point(inside(&mut r, &whole)) - q).norm();
                assert!(d <= other + 1e-12 * reach(&q), "{d} against {other} for {s:?}");
            }
        }
    }
}

#[test]
fn points_on_the_axis_take_the_hint() {
    let f = Frame { origin: P3::new(0.1, 0.2, 0.3), ..Frame::identity() };
    let p = f.point(0.0, 0.0, 5.0);
    let hint = Some(P2::new(2.0, 0.5));
    for s in [
        Surface::Cylinder { frame: f, radius: 1.0 },
        Surface::Cone { frame: f, half_angle: 0.5 },
        Surface::Sphere { frame: f, radius: 1.0 },
        Surface::Torus { frame: f, major: 2.0, minor: 1.0 },
    ] {
        assert!(s.invert(&p, None, None).x.abs() < 1e-15, "{s:?}");
        assert!((s.invert(&p, hint, None).x - 2.0).abs() < 1e-15, "{s:?}");
    }
    let below = Surface::Cone { frame: f, half_angle: 0.5 }.invert(&f.point(0.1, 0.0, -3.0), None, None);
    assert!(below.y.abs() < 1e-15, "below the apex");
}

#[test]
fn spindle_sheets_follow_the_range() {
    let s = Surface::Torus { frame: Frame::identity(), major: 1.0, minor: 2.0 };
    // Both sheets contain the tip on the axis; the range selects one of them.
    let tip = s.point(P2::new(0.0, math::acos(-0.5)));
    let p = tip + V3::new(1e-7, 0.0, 0.0);
    let inner = Rect { u0: 0.0, u1: TAU, v0: math::acos(-0.5), v1: TAU - math::acos(-0.5) };
    let outer = Rect { v0: -math::acos(-0.5), v1: math::acos(-0.5), ..inner };
    let on_inner = s.invert(&p, None, Some(&inner));
    let on_outer = s.invert(&p, None, Some(&outer));
    assert!(math::cos(on_inner.y) < -0.5 && (on_inner.x - PI).abs() < 1e-6, "{on_inner}");
    assert!(math::cos(on_outer.y) > -0.5 && on_outer.x.abs() < 1e-6, "{on_outer}");
}

/// A point nearest to a tip has the parameters of the tip on the sheet that the range selects, with the sign
/// of the normal on that sheet for every ratio of the radii.
#[test]
fn normals_at_tips_have_the_sign_of_their_sheet() {
    for ratio in [1.0 - 1e-12, 0.999, 0.5, 0.28, 0.25, 1.0 / 3.0, 0.01, 1e-12] {
        let s = Surface::Torus { frame: Frame::identity(), major: ratio, minor: 1.0 };
        let tip = math::acos(-ratio);
        for sign in [1.0, -1.0] {
            let p = P3::new(0.0, 0.0, sign * 2.0 * (1.0 - ratio * ratio).sqrt());
            let outer = Rect { u0: 0.0, u1: TAU, v0: -tip, v1: tip };
            let on_outer = s.invert(&p, None, Some(&outer));
            assert!((s.point(on_outer) - p).norm() <= 0.5 * p.z.abs() + 1e-9, "{ratio}: {on_outer}");
            assert!(s.normal(on_outer).z * sign >= 0.0, "{ratio}, outer sheet");
            let inner = Rect { v0: tip, v1: TAU - tip, ..outer };
            let on_inner = s.invert(&p, None, Some(&inner));
            assert!((s.point(on_inner) - p).norm() <= 0.5 * p.z.abs() + 1e-9, "{ratio}: {on_inner}");
            assert!(s.normal(on_inner).z * sign <= 0.0, "{ratio}, inner sheet");
        }
    }
}

#[test]
fn grid_inversion_is_the_inverse_of_evaluation() {
    let mut r = rng(25);
    for _ in 0..60 {
        for (s, rect) in surfaces(&mut r) {
            let Surface::Bezier(grid) = &s else { continue };
            let uv = inside(&mut r, &grid.domain());
            let d = s.derivs(uv);
            let p = d.p;
            let back = s.invert(&p, None, None);
            let gap = (s.point(back) - p).norm();
            assert!(gap < 1e-11 * reach(&p), "{gap} for {s:?} at {uv}: {back}");
            // A near hint gives the same point.
            let hint =
                uv + nalgebra::Vector2::new(0.01 * grid.domain().width(), -0.01 * grid.domain().height());
            let near = s.invert(&p, Some(hint), None);
            // A hint beyond a crease may give a point there.
            let same = grid.patch(uv) == grid.patch(hint);
            assert!(
                !same || (s.point(near) - p).norm() < 1e-11 * reach(&p),
                "{s:?} from a hint at {uv}: {near}"
            );
            // For a point on the normal, at less than the radius of curvature, the footpoint is exact to
            // rounding.
            let k = s.principal(uv);
            let inner = Rect { u0: grid.domain().u0 + 1e-6, u1: grid.domain().u1 - 1e-6, ..grid.domain() };
            let area = d.du.cross(&d.dv).norm();
            if area > 0.1 && area > 0.1 * d.du.norm() * d.dv.norm() && inner.contains(uv) {
                let h = 0.2 / (1.0 + k.k1.abs().max(k.k2.abs()));
                let q = p + s.normal(uv) * h;
                let foot = s.invert(&q, Some(uv), None);
                // Another sheet beyond a crease may be nearer.
                let nearer = (s.point(foot) - q).norm() < h * (1.0 - 1e-9);
                assert!(nearer || (s.point(foot) - p).norm() < 1e-9 * reach(&p), "{s:?} off {uv}: {foot}");
            }
            // `within` restricts the search to a rectangle.
            let p = s.point(inside(&mut r, &rect));
            let back = s.invert(&p, None, Some(&rect));
            assert!(rect.contains(back), "{back} in {rect:?}");
            assert!((s.point(back) - p).norm() < 1e-11 * reach(&p), "{s:?} in {rect:?}: {back}");
        }
    }
}

#[test]
fn grid_inversion_is_global() {
    let mut r = rng(26);
    for _ in 0..40 {
        for (s, rect) in surfaces(&mut r) {
            if s.is_canonical() {
                continue;
            }
            for (area, within) in [(s.natural_domain(), None), (rect, Some(&rect))] {
                let q = point(&mut r, 60.0);
                let d = (s.point(s.invert(&q, None, within)) - q).norm();
                let n = 60;
                for i in 0..=n {
                    for j in 0..=n {
                        let u = area.u0 + area.width() * f64::from(i) / f64::from(n);
                        let v = area.v0 + area.height() * f64::from(j) / f64::from(n);
                        let other = (s.point(P2::new(u, v)) - q).norm();
                        assert!(d <= other + 1e-9 * reach(&q), "{d} against {other} for {s:?} from {q}");
                    }
                }
            }
        }
    }
}

/// Whether `d` may be in the conical hull of `generators`: none of many tested planes through the origin
/// has all generators on one side and `d` on the other. For few generators all relevant planes are
/// tested.
fn in_hull(d: &V3, generators: &[V3], tol: f64) -> bool {
    let g: Vec<V3> = generators.iter().filter_map(|g| crate::frame::unit(*g)).collect();
    // All generators are in one open half-space; project them centrally onto the plane normal to its
    // axis.
    let axis = crate::RevolutionCone::around(&g).axis;
    let (e1, e2) = crate::frame::complete_basis(&axis);
    let flat = |v: &V3| P2::new(v.dot(&e1), v.dot(&e2)) / v.dot(&axis);
    if d.dot(&axis) <= 0.0 {
        return false;
    }
    let q = flat(d);
    let pts: Vec<P2> = g.iter().map(flat).collect();
    let mut dirs: Vec<nalgebra::Vector2<f64>> = Vec::new();
    for i in 0..64 {
        let (s, c) = math::sin_cos(TAU * f64::from(i) / 64.0);
        dirs.push(nalgebra::Vector2::new(c, s));
    }
    if pts.len() <= 12 {
        for e in pts.iter().flat_map(|a| pts.iter().map(move |b| b - a)).filter(|e| e.norm() > 1e-9) {
            dirs.extend([nalgebra::Vector2::new(e.y, -e.x).normalize(), e.normalize()]);
        }
    }
    dirs.iter().all(|e| {
        let top = pts.iter().map(|p| p.coords.dot(e)).fold(f64::NEG_INFINITY, f64::max);
        q.coords.dot(e) <= top + tol * (1.0 + q.coords.norm_squared() + top * top)
    })
}

#[test]
fn boxes_hulls_and_cones_contain_the_surface() {
    let mut r = rng(27);
    let mut cones = [[0_u32; 2]; 10];
    for _ in 0..120 {
        for (kind, (s, rect)) in surfaces(&mut r).into_iter().enumerate() {
            let b = s.bounds(&rect);
            let hull = s.hull_points(&rect);
            let cone = s.normal_cone(&rect);
            let generators = s.normal_generators(&rect);
            cones[kind][usize::from(cone.is_some())] += 1;
            let poly = s.normal_poly_cone(&rect);
            let supports: Vec<(V3, f64)> = (0..8)
                .map(|_| {
                    let d = unit(&mut r);
                    (d, hull.iter().map(|p| p.coords.dot(&d)).fold(f64::NEG_INFINITY, f64::max))
                })
                .collect();
            for k in 0..24 {
                let uv = inside(&mut r, &rect);
                let p = s.point(uv);
                assert!(b.contains(&p), "{p} outside {b:?} of {s:?} {rect:?}");
                for (d, top) in &supports {
                    assert!(p.coords.dot(d) <= top + 1e-12 * reach(&p), "{s:?} outside its hull, {rect:?}");
                }
                let n = s.normal(uv);
                if let Some(cone) = &cone {
                    assert!(cone.contains(&n, 1e-9), "{n} outside {cone:?} of {s:?} {rect:?} at {uv}");
                }
                if k < 12
                    && let Some(g) = &generators
                {
                    assert!(in_hull(&n, g, 1e-8), "{n} outside generators of {s:?} {rect:?} at {uv}: {g:?}");
                }
                if let Some(poly) = &poly {
                    assert!(poly.contains(&n, 1e-9), "{n} outside {poly:?} of {s:?} {rect:?}");
                }
            }
        }
    }
    for (kind, [without_cone, some]) in cones.into_iter().enumerate() {
        assert!(some > 40, "kind {kind}: {some} cones, {without_cone} without");
    }
}

#[test]
fn cones_contain_normals_far_from_the_origin() {
    let mut r = rng(34);
    for _ in 0..40 {
        for (s, rect) in surfaces(&mut r) {
            let far = Pose::translation(3000.0, -2000.0, 1000.0);
            let s = s.transformed(&far);
            let c = rect.center();
            let (w, h) = (0.5e-4 * rect.width(), 0.5e-4 * rect.height());
            let small = Rect { u0: c.x - w, u1: c.x + w, v0: c.y - h, v1: c.y + h };
            // A rectangle at a pole of the sphere.
            let pole = Rect { u0: 0.3, u1: 0.4, v0: FRAC_PI_2 - 1e-3, v1: FRAC_PI_2 };
            for rect in [rect, small, pole] {
                if !s.natural_domain().contains(rect.center()) {
                    continue;
                }
                let (cone, b) = (s.normal_cone(&rect), s.bounds(&rect));
                for _ in 0..10 {
                    let uv = inside(&mut r, &rect);
                    assert!(b.contains(&s.point(uv)), "{s:?} {rect:?}");
                    if let Some(cone) = &cone {
                        // Near a pole the error of the normal is the rounding divided by the distance
                        // from the pole.
                        assert!(cone.contains(&s.normal(uv), 1e-6), "{s:?} {rect:?} {uv} {cone:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn bounds_shrink_with_the_rectangle() {
    let mut r = rng(28);
    for _ in 0..60 {
        for (s, rect) in surfaces(&mut r) {
            let uv = rect.center();
            let d = s.derivs(uv);
            if d.du.cross(&d.dv).norm() < 0.05 * d.du.norm() * d.dv.norm() || d.du.norm() < 0.05 {
                continue;
            }
            let h = 1e-4;
            let small = Rect { u0: uv.x - h, u1: uv.x + h, v0: uv.y - h, v1: uv.y + h };
            let size = 2.0 * h * (d.du.norm() + d.dv.norm());
            let box_size = s.bounds(&small).diagonal();
            assert!(box_size < 2.0 * size, "{box_size} against {size} of {s:?}");
            if s.is_canonical() {
                let k = s.principal(uv);
                let turn = size * k.k1.abs().max(k.k2.abs());
                let cone = s.normal_cone(&small).unwrap();
                assert!(cone.half_angle < turn + 1e-6, "{} against {turn} of {s:?}", cone.half_angle);
            } else if s.breaks(&small).0.is_empty() && s.breaks(&small).1.is_empty() {
                let cone = s.normal_cone(&small).unwrap();
                assert!(cone.half_angle < 0.05, "{} of {s:?}", cone.half_angle);
            }
        }
    }
}

#[test]
fn canonical_boxes_and_cones_are_tight() {
    let mut r = rng(29);
    for _ in 0..60 {
        for (s, rect) in surfaces(&mut r) {
            if !s.is_canonical() {
                continue;
            }
            let b = s.bounds(&rect);
            let mut seen = Aabb::empty();
            let cone = s.normal_cone(&rect);
            let mut widest = 0.0_f64;
            let n = 100;
            for i in 0..=n {
                for j in 0..=n {
                    let u = rect.u0 + rect.width() * f64::from(i) / f64::from(n);
                    let v = rect.v0 + rect.height() * f64::from(j) / f64::from(n);
                    seen.insert(&s.point(P2::new(u, v)));
                    if let Some(c) = &cone {
                        let n = s.normal(P2::new(u, v));
                        widest = widest.max(math::atan2(n.cross(&c.axis).norm(), n.dot(&c.axis)));
                    }
                }
            }
            let slack = b.diagonal() - seen.diagonal();
            assert!(slack < 2e-3 * seen.diagonal() + 1e-10, "{slack} of {s:?} {rect:?}");
            if let Some(c) = &cone {
                assert!(c.half_angle < 1.05 * widest + 1e-6, "{} {widest} of {s:?} {rect:?}", c.half_angle);
            }
        }
    }
}

#[test]
fn whole_domains_have_no_cone() {
    let f = Frame::identity();
    for s in [
        Surface::Cylinder { frame: f, radius: 1.0 },
        Surface::Sphere { frame: f, radius: 1.0 },
        Surface::Torus { frame: f, major: 2.0, minor: 1.0 },
    ] {
        let d = s.natural_domain();
        assert_eq!(s.normal_cone(&d), None, "{s:?}");
        assert_eq!(s.normal_generators(&d), None, "{s:?}");
    }
    // Normals of a whole flat cone fit a half-space: a half-angle of 80° gives normals 10° from the
    // axis.
    let flat = Surface::Cone { frame: f, half_angle: 80_f64.to_radians() };
    let c = flat.normal_cone(&Rect { u0: 0.0, u1: TAU, v0: 1.0, v1: 2.0 }).unwrap();
    assert!((c.half_angle.to_degrees() - 10.0).abs() < 1e-6, "{c:?}");
    // Infinite sides give infinite boxes without NaN.
    let b = Surface::Cylinder { frame: f, radius: 2.0 }
        .bounds(&Surface::Cylinder { frame: f, radius: 2.0 }.natural_domain());
    assert!(b.max.z.is_infinite() && (b.max.x - 2.0).abs() < 1e-12 && (b.min.y + 2.0).abs() < 1e-12, "{b:?}");
    let b = Surface::Plane { frame: f }.bounds(&Surface::Plane { frame: f }.natural_domain());
    assert!(b.max.x.is_infinite() && b.max.z.abs() < 1e-12, "{b:?}");
}

#[test]
fn torus_over_its_top_circle() {
    let s = Surface::Torus { frame: Frame::identity(), major: 3.0, minor: 1.0 };
    let rect = Rect { u0: 0.2, u1: 0.5, v0: FRAC_PI_2 - 0.2, v1: FRAC_PI_2 + 0.3 };
    let cone = s.normal_cone(&rect).unwrap();
    assert!(cone.half_angle < 0.3, "{cone:?}");
    let g = s.normal_generators(&rect).unwrap();
    for i in 0..=10 {
        for j in 0..=10 {
            let uv = P2::new(0.2 + 0.03 * f64::from(i), rect.v0 + 0.05 * f64::from(j));
            assert!(in_hull(&s.normal(uv), &g, 1e-12), "{uv}");
            assert!(cone.contains(&s.normal(uv), 0.0), "{uv}");
        }
    }
}

#[test]
fn poles_and_collapsed_sides_have_normals() {
    // A sphere of revolution: the normal at the pole is the axis.
    let half = BezierSpline::arc(&Frame::identity(), 3.0, 3.0, -FRAC_PI_2, FRAC_PI_2);
    let ball = Surface::Bezier(BezierSurface::revolution(&half, &P3::origin(), &V3::y(), 0.0, TAU));
    let sign = ball.normal(P2::new(0.3, 0.1)).dot(&(ball.point(P2::new(0.3, 0.1)).coords / 3.0));
    for u in [0.0, 0.4, 2.0, TAU] {
        for (v, y) in [(-FRAC_PI_2, -1.0), (FRAC_PI_2, 1.0)] {
            let n = ball.normal(P2::new(u, v));
            assert!((n - V3::y() * (y * sign)).norm() < 1e-9, "{n} at {u}, {v}");
            let k = ball.principal(P2::new(u, v));
            assert!(
                (k.k1 * sign - 1.0 / 3.0).abs() < 1e-3 && (k.k2 * sign - 1.0 / 3.0).abs() < 1e-3,
                "{k:?}"
            );
        }
    }
    // Far away the collapsed side is a point only up to rounding, which must not widen the cones next to
    // it.
    let far = ball.transformed(&Pose::new(V3::new(3000.0, -2000.0, 900.0), V3::new(0.5, 0.1, -2.0)));
    for h in [1e-1, 1e-2, 1e-3, 1e-4] {
        let cap = Rect { u0: 0.3, u1: 0.3 + h, v0: FRAC_PI_2 - h, v1: FRAC_PI_2 };
        let cone = far.normal_cone(&cap).unwrap();
        assert!(cone.half_angle < h, "{} at {h}", cone.half_angle);
        for uv in cap.corners() {
            assert!(cone.contains(&far.normal(uv), 1e-7), "{uv} {cone:?}");
        }
    }
    // A plane triangular patch, with one side collapsed to a point.
    let a = P3::new(0.0, 0.0, 1.0);
    let t =
        Surface::Bezier(BezierSurface::bilinear([[a, a], [P3::new(1.0, 0.0, 1.0), P3::new(1.0, 1.0, 1.0)]]));
    for v in [0.0, 0.5, 1.0] {
        assert!((t.normal(P2::new(0.0, v)) - V3::z()).norm() < 1e-12, "collapsed side at {v}");
    }
    assert!(
        t.normal_cone(&t.natural_domain()).unwrap().half_angle < 1e-9,
        "flat in spite of the collapsed side"
    );
}

#[test]
fn extrusions_and_revolutions_are_exact() {
    let mut r = rng(30);
    for _ in 0..30 {
        let f = frame(&mut r);
        let profile = nurbs_curve(&mut r).to_bezier().unwrap();
        let (t0, t1) = profile.range();
        let w = unit(&mut r) * 4.0;
        let ext = BezierSurface::extrusion(&profile, &w, -1.0, 3.0);
        let rev = BezierSurface::revolution(&profile, &f.origin, &f.z, 0.5, 4.0);
        assert!(!rev.u_periodic, "not a full turn");
        assert!(
            BezierSurface::revolution(&profile, &f.origin, &f.z, 0.5, 0.5 + TAU).u_periodic,
            "a full turn"
        );
        for _ in 0..10 {
            let (t, v) = (r.random_range(t0..=t1), r.random_range(-1.0..=3.0));
            let p = profile.derivs(t).p;
            assert!((ext.derivs(P2::new(t, v)).p - (p + w * v)).norm() < 1e-11, "extrusion");
            // A revolution keeps height and distance from the axis.
            let u = r.random_range(0.5..=4.0);
            let (q, l) = (f.local(&rev.derivs(P2::new(u, t)).p), f.local(&p));
            assert!((q.z - l.z).abs() < 1e-11, "height");
            assert!((math::hypot(q.x, q.y) - math::hypot(l.x, l.y)).abs() < 1e-11, "distance");
        }
        // At the breaks the parameter is the angle.
        let p = profile.derivs(t0).p;
        for u in &rev.u_breaks {
            let axis = nalgebra::Unit::new_normalize(f.z);
            let rotation = nalgebra::UnitQuaternion::from_axis_angle(&axis, *u);
            let turn = about(rotation, f.origin);
            assert!((rev.derivs(P2::new(*u, t0)).p - turn * p).norm() < 1e-11, "angle at a break");
        }
    }
}

/// Returns the rotation about the point `p` as a pose.
fn about(rotation: nalgebra::UnitQuaternion<f64>, p: P3) -> Pose {
    Pose::from_parts((p - rotation * p).into(), rotation)
}

#[test]
fn ruled_surfaces_join_their_curves() {
    let mut r = rng(31);
    for _ in 0..30 {
        let (a, b) = (nurbs_curve(&mut r).to_bezier().unwrap(), nurbs_curve(&mut r).to_bezier().unwrap());
        let s = BezierSurface::ruled(&a, &b);
        let ((a0, a1), (b0, b1)) = (a.range(), b.range());
        for _ in 0..10 {
            let x = r.random_range(0.0..=1.0);
            let (pa, pb) = (a.derivs(a0 + (a1 - a0) * x).p, b.derivs(b0 + (b1 - b0) * x).p);
            let at = |v: f64| s.derivs(P2::new(a0 + (a1 - a0) * x, v)).p;
            assert!((at(0.0) - pa).norm() < 1e-10 && (at(1.0) - pb).norm() < 1e-10, "sides");
            let off = (at(0.4) - pa).cross(&(pb - pa)).norm() / (pb - pa).norm();
            assert!(off < 1e-10, "straight between");
        }
    }
}

#[test]
fn hermite_interpolation_is_of_fourth_order_and_of_sixth_for_surfaces() {
    let f = |t: f64| {
        let (s, c) = math::sin_cos(t);
        (t, P3::new(c, s, t), V3::new(-s, c, 1.0))
    };
    let error = |n: u32| {
        let samples: Vec<_> = (0..=n).map(|i| f(f64::from(i) / f64::from(n))).collect();
        let s = BezierSpline::hermite(&samples);
        (0..500).map(|i| f64::from(i) / 500.0).map(|t| (s.derivs(t).p - f(t).1).norm()).fold(0.0, f64::max)
    };
    assert!(error(4) < 2e-5 && error(8) < error(4) / 14.0, "{} {}", error(4), error(8));
    let torus = Surface::Torus { frame: Frame::identity(), major: 3.0, minor: 1.0 };
    let error = |n: u32| {
        let us: Vec<f64> = (0..=n).map(|i| f64::from(i) / f64::from(n)).collect();
        let s = BezierSurface::hermite(&us, &us, |uv| torus.derivs(uv));
        let mut worst = 0.0_f64;
        for i in 0..40 {
            for j in 0..40 {
                let uv = P2::new(f64::from(i) / 40.0, f64::from(j) / 40.0);
                worst = worst.max((s.derivs(uv).p - torus.point(uv)).norm());
            }
        }
        worst
    };
    assert!(error(2) < 2e-5 && error(4) < error(2) / 50.0, "{} {}", error(2), error(4));
}

#[test]
fn poses_and_scales_move_points() {
    let mut r = rng(32);
    let pose = Pose::new(V3::new(1.0, -2.0, 3.0), V3::new(0.3, 0.4, -1.0));
    for (s, rect) in surfaces(&mut r) {
        let moved = s.transformed(&pose);
        let scaled = s.scaled(25.4);
        for _ in 0..10 {
            let uv = inside(&mut r, &rect);
            let p = s.point(uv);
            assert!((moved.point(uv) - pose * p).norm() < 1e-12 * reach(&p), "moved {s:?}");
            assert!((moved.normal(uv) - pose * s.normal(uv)).norm() < 1e-7, "normal of {s:?}");
            let at = match &s {
                Surface::Plane { .. } => uv * 25.4,
                Surface::Cylinder { .. } | Surface::Cone { .. } => P2::new(uv.x, 25.4 * uv.y),
                _ => uv,
            };
            assert!((scaled.point(at) - p * 25.4).norm() < 1e-11 * reach(&p), "scaled {s:?}");
        }
    }
}

#[test]
fn invalid_arguments_do_not_panic() {
    let mut r = rng(33);
    let nan = f64::NAN;
    for (s, _) in surfaces(&mut r) {
        let bad = P3::new(nan, 0.0, f64::INFINITY);
        let _ = s.invert(&bad, None, None);
        let _ = s.invert(&bad, Some(P2::new(nan, nan)), Some(&Rect { u0: 1.0, u1: 0.0, v0: nan, v1: 0.0 }));
        let _ = s.normal(P2::new(nan, 1e300));
        let _ = s.bounds(&Rect { u0: nan, u1: 1.0, v0: 0.0, v1: 1e300 });
        let _ = s.breaks(&Rect { u0: -1e300, u1: 1e300, v0: nan, v1: 1e17 });
        let _ = s.normal_cone(&Rect { u0: 1.0, u1: 1.0, v0: 1.0, v1: 1.0 });
        let _ = s.normal_generators(&Rect { u0: 2.0, u1: 1.0, v0: 2.0, v1: -1.0 });
    }
    let _ = nurbs_surface(&mut r).to_bezier().unwrap().parts(&Rect { u0: 5.0, u1: 5.0, v0: 9.0, v1: 9.0 });
}
