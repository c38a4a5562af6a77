//! Exact forms of every kind are recognised to rounding, perturbed ones within the tolerance only,
//! free-form ones never.

use std::f64::consts::TAU;

use rand::Rng;

use super::*;
use crate::bezier::{BezierSpline, BezierSurface};
use crate::testing::{frame, nurbs_curve, nurbs_surface, rng, unit};
use crate::{Frame, P2, P3, V3, math};

/// A section of a meridian revolved through a fraction of a turn, with the shape that it represents.
fn free_form_of(kind: usize, r: &mut rand::rngs::SmallRng) -> (BezierSurface, Surface) {
    let f: Frame = frame(r);
    let scale = math::powf(10.0, r.random_range(-1.0..2.0));
    let u0 = r.random_range(0.0..TAU);
    let u1 = if r.random_bool(0.3) { u0 + TAU } else { u0 + r.random_range(0.4..TAU) };
    let meridian = Frame { origin: f.origin, x: f.x, y: f.z, z: f.x.cross(&f.z) };
    let segment = |a: (f64, f64), b: (f64, f64)| {
        BezierSpline::segment(&f.point(a.0, 0.0, a.1), &f.point(b.0, 0.0, b.1), 0.0, 1.0)
    };
    let (profile, shape) = match kind {
        0 => {
            let (a, b) = (r.random_range(0.1..1.0) * scale, r.random_range(1.2..2.0) * scale);
            (segment((a, 0.0), (b, 0.0)), Surface::Plane { frame: f })
        }
        1 => {
            let radius = r.random_range(0.5..2.0) * scale;
            let h = r.random_range(0.5..3.0) * scale;
            (segment((radius, -h), (radius, h)), Surface::Cylinder { frame: f, radius })
        }
        2 => {
            let half_angle = r.random_range(0.05..1.4);
            let (a, b) = (r.random_range(0.2..0.9) * scale, r.random_range(1.0..2.0) * scale);
            let k = math::tan(half_angle);
            (segment((a * k, a), (b * k, b)), Surface::Cone { frame: f, half_angle })
        }
        3 => {
            let radius = r.random_range(0.5..2.0) * scale;
            let whole = r.random_bool(0.4);
            let (a, b) = if whole {
                (-TAU / 4.0, TAU / 4.0)
            } else {
                (r.random_range(-1.2..0.0), r.random_range(0.3..1.4))
            };
            (BezierSpline::arc(&meridian, radius, radius, a, b), Surface::Sphere { frame: f, radius })
        }
        _ => {
            let (major, minor) = (r.random_range(1.2..3.0) * scale, r.random_range(0.2..1.0) * scale);
            let tube = Frame { origin: f.point(major, 0.0, 0.0), ..meridian };
            let a = r.random_range(0.0..TAU);
            let b = if r.random_bool(0.3) { a + TAU } else { a + r.random_range(0.5..TAU) };
            (BezierSpline::arc(&tube, minor, minor, a, b), Surface::Torus { frame: f, major, minor })
        }
    };
    (BezierSurface::revolution(&profile, &f.origin, &f.z, u0, u1), shape)
}

fn near(a: f64, b: f64, tol: f64) -> bool {
    (a - b).abs() <= tol
}

#[test]
fn exact_forms_are_found_to_round_off() {
    let mut r = rng(5);
    for case in 0..400 {
        let (grid, shape) = free_form_of(case % 5, &mut r);
        let size = crate::Aabb::of_points(grid.points().iter()).diagonal();
        let found = grid.recognised(1e-8 * size).unwrap_or_else(|| panic!("{case} {shape:?}"));
        // Shape parameters have a looser tolerance, because a distant axis or apex is poorly determined
        // by a patch.
        assert!(found.deviation <= 1e-12 * size, "{case} {:e}", found.deviation / size);
        let tol = 1e-8 * size;
        let same = match (&found.shape, &shape) {
            (Surface::Plane { frame: a }, Surface::Plane { frame: b }) => a.z.cross(&b.z).norm() < 1e-10,
            (Surface::Cylinder { radius: a, .. }, Surface::Cylinder { radius: b, .. })
            | (Surface::Sphere { radius: a, .. }, Surface::Sphere { radius: b, .. }) => near(*a, *b, tol),
            (Surface::Cone { half_angle: a, .. }, Surface::Cone { half_angle: b, .. }) => near(*a, *b, 1e-8),
            (Surface::Torus { major: a, minor: c, .. }, Surface::Torus { major: b, minor: d, .. }) => {
                near(*a, *b, tol) && near(*c, *d, tol)
            }
            _ => false,
        };
        assert!(same, "{case} {:?} {shape:?}", found.shape);
        for _ in 0..10 {
            let d = grid.domain();
            let uv = P2::new(r.random_range(d.u0..d.u1), r.random_range(d.v0..d.v1));
            let (p, n) = (grid.derivs(uv).p, grid.normal(uv));
            let foot = found.shape.invert(&p, None, None);
            assert!((found.shape.point(foot) - p).norm() <= 2e-12 * size, "{case}");
            let same = found.shape.normal(foot).dot(&n);
            assert!(near(same, if found.same_normal { 1.0 } else { -1.0 }, 1e-6), "{case} {same}");
        }
    }
}

#[test]
fn perturbed_forms_are_found_within_the_tolerance_only() {
    let mut r = rng(6);
    for case in 0..100 {
        let (mut grid, shape) = free_form_of(case % 5, &mut r);
        let size = crate::Aabb::of_points(grid.points().iter()).diagonal();
        let bump = 1e-4 * size;
        // Move an inner control point off the surface.
        let inner = grid.control.len() / 2;
        let p = crate::bezier::dehomogenized(&grid.control[inner]);
        let n = shape.normal(shape.invert(&p, None, None));
        let w = grid.control[inner].w;
        grid.control[inner] = crate::bezier::homogeneous(&(p + n * bump), w);
        assert!(grid.recognised(1e-7 * size).is_none(), "{case} {shape:?}");
        if let Some(found) = grid.recognised(1e-3 * size) {
            assert!(found.deviation <= 1e-3 * size && found.deviation > 1e-7 * size, "{case}");
        }
    }
}

#[test]
fn free_form_grids_are_not_recognised() {
    let mut r = rng(7);
    for _ in 0..200 {
        let grid = nurbs_surface(&mut r).to_bezier().unwrap();
        let size = crate::Aabb::of_points(grid.points().iter()).diagonal();
        assert!(grid.recognised(1e-6 * size).is_none());
    }
    // Nearly canonical shapes: an elliptical cylinder, a revolved parabola.
    let f = Frame::identity();
    let arc = BezierSpline::arc(&f, 1.0, 1.0 + 1e-4, 0.0, 2.0);
    assert!(BezierSurface::extrusion(&arc, &V3::z(), 0.0, 1.0).recognised(1e-6).is_none());
    let parabola = Curve::Parabola { frame: Frame { x: f.z, y: f.x, z: f.y, ..f }, focal: 0.5 };
    let profile = BezierSpline::of_curve(&parabola, 0.2, 1.0);
    assert!(
        BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, 3.0).recognised(1e-6).is_none()
    );
}

#[test]
fn curves_are_found_with_their_direction() {
    let mut r = rng(8);
    for case in 0..400 {
        let f = frame(&mut r);
        let scale = math::powf(10.0, r.random_range(-1.0..2.0));
        let t0 = r.random_range(-3.0..3.0);
        let t1 = if r.random_bool(0.3) { t0 + TAU } else { t0 + r.random_range(0.3..6.0) };
        let semi = scale * r.random_range(0.2..0.9);
        let curve = match case % 3 {
            0 => Curve::Line { origin: f.origin, dir: unit(&mut r) },
            1 => Curve::Circle { frame: f, radius: scale },
            _ => Curve::Ellipse { frame: f, semi_x: scale, semi_y: semi },
        };
        let spline = BezierSpline::of_curve(&curve, t0, t1).elevated(if case % 2 == 0 { 3 } else { 2 });
        let size = crate::Aabb::of_points(spline.points().iter()).diagonal();
        let found = spline.recognised(1e-8 * size).unwrap_or_else(|| panic!("{case} {curve:?} {t0} {t1}"));
        assert!(found.deviation <= 2e-11 * size, "{case} {:e}", found.deviation / size);
        let same = match (&found.shape, &curve) {
            (Curve::Line { .. }, Curve::Line { .. }) => true,
            (Curve::Circle { radius: a, .. }, Curve::Circle { radius: b, .. }) => near(*a, *b, 1e-8 * scale),
            (Curve::Ellipse { semi_x: a, semi_y: c, .. }, Curve::Ellipse { semi_x: b, semi_y: d, .. }) => {
                let (a, c) = (a.max(*c), a.min(*c));
                near(a, *b, 1e-6 * scale) && near(c, *d, 1e-6 * scale)
            }
            _ => false,
        };
        assert!(same, "{case} {:?} {curve:?}", found.shape);
        for k in 1..20 {
            let d = spline.derivs(t0 + (t1 - t0) * f64::from(k) / 20.0);
            let t = match &found.shape {
                Curve::Line { origin, dir } => (d.p - origin).dot(dir),
                s => s.project(&d.p, 0.0, TAU),
            };
            let e = found.shape.derivs(t);
            assert!((e.p - d.p).norm() <= 3e-11 * size, "{case}");
            assert!(e.d1.dot(&d.d1) > 0.0, "{case}: the curve has the opposite direction");
        }
    }
}

#[test]
fn other_curves_are_not_recognised() {
    let mut r = rng(9);
    for _ in 0..200 {
        let spline = nurbs_curve(&mut r).to_bezier().unwrap();
        let size = crate::Aabb::of_points(spline.points().iter()).diagonal();
        // A spline of one piece of degree 1 or 2 may be a line or an ellipse.
        assert!(spline.recognised(1e-6 * size).is_none() || (spline.n_pieces() == 1 && spline.degree <= 2));
    }
    // A spline that runs back on itself, and one that runs around more than once.
    let p = |x: f64| crate::bezier::homogeneous(&P3::new(x, 0.0, 0.0), 1.0);
    let back = BezierSpline {
        degree: 2,
        breaks: vec![0.0, 1.0],
        control: vec![p(0.0), p(3.0), p(1.0)],
        periodic: false,
    };
    assert!(back.recognised(1e-6).is_none());
    let f = Frame::identity();
    let (a, b) = (BezierSpline::arc(&f, 1.0, 1.0, 0.0, 4.0), BezierSpline::arc(&f, 1.0, 1.0, 4.0, 8.0));
    let mut twice = a.clone();
    twice.breaks.extend(&b.breaks[1..]);
    twice.control.extend(&b.control);
    assert!(twice.recognised(1e-6).is_none() && a.recognised(1e-6).is_some());
}

/// A line with rounded ends, of which a fraction is flat, is extruded or revolved; control points have
/// noise. A recognised shape is near the patch, at distances measured from the origin of the shape.
#[test]
fn flat_profiles_with_rounded_ends_are_no_absurd_shapes() {
    let mut r = rng(77);
    let (mut n_found, mut n_curves) = (0, 0);
    for round in 0..600 {
        let f: Frame = frame(&mut r);
        let size = math::powf(10.0, r.random_range(-1.0..2.0));
        let flat = r.random_range(0.5..0.99);
        // Height of the rounded ends; the smallest ones are within the tolerance `tol` of a plane.
        let rise = math::powf(10.0, r.random_range(-9.0..-0.5)) * size;
        let noise = math::powf(10.0, r.random_range(-17.0..-12.0)) * size;
        let degree = r.random_range(3..6_u32);
        let end = 0.5 * (1.0 - flat);
        let breaks = vec![0.0, end, 1.0 - end, 1.0];
        let n = degree as usize;
        let mut control = Vec::new();
        for piece in 0..3 {
            let (a, b) = (breaks[piece], breaks[piece + 1]);
            for k in 0..=n {
                let s = k as f64 / n as f64;
                let bend = match piece {
                    0 if k + 2 <= n => rise * (1.0 - s) * (1.0 - s),
                    2 if k >= 2 => rise * s * s,
                    _ => 0.0,
                };
                let mut noisy = || r.random_range(-noise..noise);
                let (x, z) = ((a + (b - a) * s) * size + noisy(), bend + noisy());
                control.push(crate::bezier::homogeneous(&f.point(x, 0.0, z), 1.0));
            }
        }
        let profile = BezierSpline { degree, breaks, control, periodic: false };
        let tol = 1e-7 * size * math::powf(10.0, r.random_range(0.0..3.0));
        if let Some(found) = profile.recognised(tol) {
            n_curves += 1;
            for k in 0..=60 {
                let p = profile.derivs(f64::from(k) / 60.0).p;
                let foot = found.shape.point(found.shape.project(&p, -1e3 * size, 1e3 * size));
                let at = format!("curve {round}: {:?}", found.shape);
                assert!((foot - p).norm() <= 1.01 * tol, "{at}");
            }
        }
        let grid = if round % 2 == 0 {
            let length = f.y * (size * r.random_range(0.1..2.0));
            BezierSurface::extrusion(&profile, &length, 0.0, 1.0)
        } else {
            let far = size * math::powf(10.0, r.random_range(0.0..6.0));
            let axis = f.point(-far, 0.0, r.random_range(-1.0..1.0) * far);
            BezierSurface::revolution(&profile, &axis, &f.z, 0.0, (size / far).min(1.0))
        };
        let Some(found) = grid.recognised(tol) else { continue };
        n_found += 1;
        for (i, j) in (0..=20).flat_map(|i| (0..=20).map(move |j| (i, j))) {
            let rect = grid.domain();
            let (s, t) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
            let p = grid.derivs(P2::new(rect.u0 + rect.width() * s, rect.v0 + rect.height() * t)).p;
            let foot = found.shape.point(found.shape.invert(&p, None, None));
            assert!((foot - p).norm() <= 1.01 * tol, "{round}: {:e} {:?}", (foot - p).norm(), found.shape);
        }
    }
    assert!(n_found > 50 && n_curves > 50, "{n_found} {n_curves}");
}
