//! Random shapes of every kind for property tests.

use std::f64::consts::{FRAC_PI_2, TAU};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::bezier::{BezierSpline, BezierSurface};
use crate::nurbs::{NurbsCurve, NurbsSurface};
use crate::{Curve, Frame, P2, P3, Rect, Surface, V3};

pub(crate) fn rng(seed: u64) -> SmallRng {
    SmallRng::seed_from_u64(seed)
}

pub(crate) fn point(r: &mut SmallRng, size: f64) -> P3 {
    P3::from(V3::from_fn(|_, _| r.random_range(-size..size)))
}

pub(crate) fn unit(r: &mut SmallRng) -> V3 {
    loop {
        let v = point(r, 1.0).coords;
        if v.norm() > 0.1 && v.norm() < 1.0 {
            return v.normalize();
        }
    }
}

pub(crate) fn frame(r: &mut SmallRng) -> Frame {
    // One frame in four is aligned with the world, like the parts of real models.
    let origin = point(r, 50.0);
    if r.random_bool(0.25) {
        return Frame { origin, ..Frame::identity() };
    }
    Frame::from_z(origin, unit(r), Some(unit(r))).unwrap()
}

/// Returns `n + p + 1` random knots for `n` control points of degree `p`. Some knots are repeated, and
/// the ends are clamped or not.
fn knots(r: &mut SmallRng, p: usize, n: usize) -> Vec<f64> {
    let clamped = r.random_bool(0.7);
    let mut k = vec![r.random_range(-2.0..2.0)];
    while k.len() < n + p + 1 {
        let i = k.len();
        let last = *k.last().unwrap();
        let run = k.iter().rev().take_while(|x| **x >= last).count();
        let ends = clamped && (i <= p || i > n);
        let repeat = r.random_bool(0.3) && run < p;
        let next =
            if ends || (repeat && i != p + 1 && i != n) { last } else { last + r.random_range(0.2..1.0) };
        k.push(next);
    }
    k
}

pub(crate) fn nurbs_curve(r: &mut SmallRng) -> NurbsCurve {
    let degree = r.random_range(1..=5_u32);
    let n = degree as usize + 1 + r.random_range(0..5);
    let weights =
        if r.random_bool(0.5) { (0..n).map(|_| r.random_range(0.4..2.5)).collect() } else { vec![] };
    let knots = knots(r, degree as usize, n);
    let start = point(r, 20.0);
    // The control points advance in one main direction, so that most tangents are regular.
    let points = (0..n).map(|i| start + V3::new(3.0 * i as f64, 0.0, 0.0) + point(r, 2.0).coords).collect();
    NurbsCurve { degree, knots, points, weights }
}

pub(crate) fn nurbs_surface(r: &mut SmallRng) -> NurbsSurface {
    let (u_degree, v_degree) = (r.random_range(1..=4_u32), r.random_range(1..=3_u32));
    let n_u = u_degree as usize + 1 + r.random_range(0..3);
    let n_v = v_degree as usize + 1 + r.random_range(0..3);
    let n = n_u * n_v;
    let weights =
        if r.random_bool(0.5) { (0..n).map(|_| r.random_range(0.4..2.5)).collect() } else { vec![] };
    let start = point(r, 20.0);
    let (u_knots, v_knots) = (knots(r, u_degree as usize, n_u), knots(r, v_degree as usize, n_v));
    let points = (0..n)
        .map(|k| {
            let (i, j) = ((k / n_v) as f64, (k % n_v) as f64);
            start + V3::new(4.0 * i, 4.0 * j, 0.0) + point(r, 1.2).coords
        })
        .collect();
    NurbsSurface { u_degree, v_degree, u_knots, v_knots, n_v, points, weights }
}

/// Returns one random curve of every kind, each with a parameter range.
pub(crate) fn curves(r: &mut SmallRng) -> Vec<(Curve, f64, f64)> {
    let mut out = Vec::new();
    let f = |r: &mut SmallRng| frame(r);
    let size = |r: &mut SmallRng| r.random_range(0.1..30.0);
    out.push(Curve::Line { origin: point(r, 50.0), dir: unit(r) });
    out.push(Curve::Circle { frame: f(r), radius: size(r) });
    out.push(Curve::Ellipse { frame: f(r), semi_x: size(r), semi_y: size(r) });
    out.push(Curve::Parabola { frame: f(r), focal: size(r) });
    out.push(Curve::Hyperbola { frame: f(r), semi: size(r), semi_imag: size(r) });
    let spline = nurbs_curve(r).to_bezier().unwrap();
    let (a, b) = spline.range();
    out.push(Curve::Bezier(spline));
    let ring = BezierSpline::arc(&f(r), size(r), size(r), 0.5, 0.5 + TAU);
    out.push(Curve::Bezier(ring));
    out.into_iter()
        .map(|c| {
            let (lo, hi) = match &c {
                Curve::Bezier(s) if !s.periodic => (a, b),
                Curve::Parabola { .. } | Curve::Hyperbola { .. } => (-2.0, 2.0),
                _ => (-4.0, 8.0),
            };
            let t0 = r.random_range(lo..hi);
            let t1 = r.random_range(t0..hi).min(t0 + TAU);
            (c, t0, t1.max(t0 + 1e-6))
        })
        .collect()
}

/// Returns one random surface of every kind, each with a rectangle inside its domain.
pub(crate) fn surfaces(r: &mut SmallRng) -> Vec<(Surface, Rect)> {
    let f = |r: &mut SmallRng| frame(r);
    let size = |r: &mut SmallRng| r.random_range(0.1..30.0);
    let mut out = vec![
        Surface::Plane { frame: f(r) },
        Surface::Cylinder { frame: f(r), radius: size(r) },
        Surface::Cone { frame: f(r), half_angle: r.random_range(0.05..1.5) },
        Surface::Sphere { frame: f(r), radius: size(r) },
    ];
    let minor = size(r);
    out.push(Surface::Torus { frame: f(r), major: minor * r.random_range(1.05..4.0), minor });
    out.push(Surface::Torus { frame: f(r), major: minor * r.random_range(0.1..0.95), minor });
    out.push(Surface::Bezier(nurbs_surface(r).to_bezier().unwrap()));
    let profile = nurbs_curve(r).to_bezier().unwrap();
    out.push(Surface::Bezier(BezierSurface::extrusion(&profile, &(unit(r) * 3.0), -1.0, 2.0)));
    // A ring, whose profile stays on one side of the axis.
    let axis = Frame::from_z(P3::new(0.0, 0.0, 60.0), V3::x(), None).unwrap();
    out.push(Surface::Bezier(BezierSurface::revolution(&profile, &axis.origin, &axis.z, -1.0, -1.0 + TAU)));
    // A ball with two poles.
    let half = BezierSpline::arc(&Frame::identity(), 3.0, 3.0, -FRAC_PI_2, FRAC_PI_2);
    out.push(Surface::Bezier(BezierSurface::revolution(&half, &P3::origin(), &V3::y(), 0.0, TAU)));
    out.into_iter().map(|s| rect(r, s)).collect()
}

fn rect(r: &mut SmallRng, s: Surface) -> (Surface, Rect) {
    let whole = s.natural_domain();
    let mut side = |lo: f64, hi: f64, periodic: bool| {
        let (lo, hi) = (lo.max(-20.0), hi.min(20.0));
        let a = r.random_range(lo..hi);
        let end = if periodic { a + (hi - lo) } else { hi };
        // Large and small rectangles.
        let scale = [1.0, 0.3, 0.1, 1e-3][r.random_range(0..4)];
        (a, r.random_range(a..end).min(a + scale * (hi - lo)).max(a + 1e-9))
    };
    let (u0, u1) = side(whole.u0, whole.u1, s.u_period().is_some());
    let (v0, v1) = side(whole.v0, whole.v1, s.v_period().is_some());
    (s, Rect { u0, u1, v0, v1 })
}

pub(crate) fn inside(r: &mut SmallRng, rect: &Rect) -> P2 {
    // Borders and corners are picked often, because they are the critical cases.
    let mut pick = |a: f64, b: f64| match r.random_range(0..6) {
        0 => a,
        1 => b,
        _ => a + (b - a) * r.random_range(0.0..1.0),
    };
    P2::new(pick(rect.u0, rect.u1), pick(rect.v0, rect.v1))
}
