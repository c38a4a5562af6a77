use std::f64::consts::{FRAC_PI_2, PI, TAU};

use rand::Rng;

use crate::bezier::{BezierSpline, homogeneous};
use crate::testing::{curves, point, rng, unit};
use crate::{Curve, Frame, P3, Pose, RevolutionCone, V3, math};

/// Length to which rounding errors at the parameter `t` are relative.
fn reach(c: &Curve, t: f64) -> f64 {
    c.point(t).coords.amax() + 1.0
}

#[test]
fn derivatives_agree_with_finite_differences() {
    let mut r = rng(1);
    for _ in 0..100 {
        for (c, t0, t1) in curves(&mut r) {
            let t = r.random_range(t0..t1);
            // Skip samples across a joint.
            let h = 1e-4;
            if !c.breaks(t - 2.0 * h, t + 2.0 * h).is_empty() {
                continue;
            }
            let (a, d, b) = (c.derivs(t - h), c.derivs(t), c.derivs(t + h));
            let scale = reach(&c, t) + d.d1.norm() + d.d2.norm();
            let d1 = (b.p - a.p) / (2.0 * h);
            let d2 = (b.d1 - a.d1) / (2.0 * h);
            assert!((d1 - d.d1).norm() < 2e-5 * scale, "{c:?} at {t}: {d1} {}", d.d1);
            assert!((d2 - d.d2).norm() < 2e-4 * scale, "{c:?} at {t}: {d2} {}", d.d2);
        }
    }
}

#[test]
fn quarter_circle_is_a_circle() {
    let c = 0.5_f64.sqrt();
    let control = [(P3::new(2.0, 0.0, 0.0), 1.0), (P3::new(2.0, 2.0, 0.0), c), (P3::new(0.0, 2.0, 0.0), 1.0)];
    let control = control.iter().map(|(p, w)| homogeneous(p, *w)).collect();
    let q = Curve::Bezier(BezierSpline { degree: 2, breaks: vec![0.0, 1.0], control, periodic: false });
    for i in -2..=12 {
        let d = q.derivs(f64::from(i) / 10.0);
        assert!((d.p.coords.norm() - 2.0).abs() < 1e-14, "extrapolation stays on the circle");
        let curvature = d.d1.cross(&d.d2).norm() / math::powi(d.d1.norm(), 3);
        assert!((curvature - 0.5).abs() < 1e-13, "curvature {curvature}");
    }
}

#[test]
fn exact_conics_lie_on_their_curves() {
    let mut r = rng(2);
    for _ in 0..50 {
        for (c, t0, t1) in curves(&mut r) {
            let s = BezierSpline::of_curve(&c, t0, t1);
            let (b0, b1) = s.range();
            assert!((b0 - t0).abs() < 1e-12 && (b1 - t1).abs() < 1e-12, "same range");
            for t in &s.breaks {
                let gap = (s.derivs(*t).p - c.point(*t)).norm();
                assert!(gap < 1e-11 * reach(&c, *t), "{gap} at a break of {c:?}");
            }
            for _ in 0..10 {
                let q = s.derivs(r.random_range(t0..=t1)).p;
                let residual = match &c {
                    Curve::Circle { frame, radius } => {
                        math::hypot(frame.local(&q).x, frame.local(&q).y) / radius - 1.0
                    }
                    Curve::Ellipse { frame, semi_x, semi_y } => {
                        let l = frame.local(&q);
                        math::hypot(l.x / semi_x, l.y / semi_y) - 1.0
                    }
                    Curve::Parabola { frame, focal } => {
                        let l = frame.local(&q);
                        (l.x - l.y * l.y / (4.0 * focal)) / focal
                    }
                    Curve::Hyperbola { frame, semi, semi_imag } => {
                        let l = frame.local(&q);
                        math::powi(l.x / semi, 2) - math::powi(l.y / semi_imag, 2) - 1.0
                    }
                    _ => 0.0,
                };
                assert!(residual.abs() < 1e-9, "{residual} off {c:?}");
            }
        }
    }
}

#[test]
fn boxes_hulls_and_cones_contain_the_curve() {
    let mut r = rng(3);
    let (mut cones, mut without_cone) = (0, 0);
    for _ in 0..150 {
        for (c, t0, t1) in curves(&mut r) {
            let b = c.bounds(t0, t1);
            let hull = c.hull_points(t0, t1);
            let cone = c.tangent_cone(t0, t1);
            if cone.is_some() {
                cones += 1
            } else {
                without_cone += 1
            }
            let supports: Vec<(V3, f64)> = (0..8)
                .map(|_| {
                    let d = unit(&mut r);
                    (d, hull.iter().map(|p| p.coords.dot(&d)).fold(f64::NEG_INFINITY, f64::max))
                })
                .collect();
            for k in 0..40 {
                let t = if k == 0 {
                    t0
                } else if k == 1 {
                    t1
                } else {
                    r.random_range(t0..=t1)
                };
                let p = c.point(t);
                assert!(b.contains(&p), "{p} outside {b:?} of {c:?}");
                for (d, s) in &supports {
                    assert!(p.coords.dot(d) <= s + 1e-13 * reach(&c, t), "{c:?} outside its hull");
                }
                if let (Some(cone), Some(t)) = (&cone, c.tangent(t)) {
                    assert!(cone.contains(&t, 1e-9), "{t} outside {cone:?} of {c:?}");
                }
            }
        }
    }
    assert!(cones > without_cone, "cones exist: {cones} against {without_cone}");
}

#[test]
fn bounds_shrink_with_the_range() {
    let mut r = rng(4);
    for _ in 0..30 {
        for (c, t0, _) in curves(&mut r) {
            let h = 1e-4;
            let speed = c.derivs(t0).d1.norm().max(c.derivs(t0 + h).d1.norm());
            let d = c.bounds(t0, t0 + h).diagonal();
            assert!(d < 2.0 * speed * h + 1e-10, "{d} for {} of {c:?}", speed * h);
            let cone = c.tangent_cone(t0, t0 + h).unwrap();
            assert!(cone.half_angle < 0.1, "{cone:?} of {c:?}");
        }
    }
}

#[test]
fn canonical_boxes_are_tight() {
    let mut r = rng(5);
    for _ in 0..50 {
        for (c, t0, t1) in curves(&mut r) {
            if matches!(c, Curve::Bezier(_)) {
                continue;
            }
            let b = c.bounds(t0, t1);
            let mut s = crate::Aabb::empty();
            (0..=2000).for_each(|i| s.insert(&c.point(t0 + (t1 - t0) * f64::from(i) / 2000.0)));
            let slack = (b.diagonal() - s.diagonal()).abs();
            assert!(slack <= 1e-5 * s.diagonal() + 1e-12 * reach(&c, t0), "{slack} of {c:?}");
        }
    }
}

#[test]
fn projection_is_the_global_minimum() {
    let mut r = rng(6);
    for _ in 0..60 {
        for (c, t0, t1) in curves(&mut r) {
            // Project an arbitrary point, a point of the curve, and a point of its focal set.
            let on = c.derivs(r.random_range(t0..=t1));
            let center = on.p + on.d2 * (on.d1.norm_squared() / on.d2.norm_squared().max(1e-9));
            for p in [point(&mut r, 60.0), on.p, center] {
                if p.coords.amax() > 1e3 {
                    continue;
                }
                let t = c.project(&p, t0, t1);
                assert!(t0 <= t && t <= t1, "{t} in [{t0}, {t1}]");
                let d = (c.point(t) - p).norm();
                let n = 3000;
                let brute = (0..=n)
                    .map(|i| (c.point(t0 + (t1 - t0) * f64::from(i) / f64::from(n)) - p).norm())
                    .fold(f64::INFINITY, f64::min);
                assert!(d <= brute + 1e-9 * reach(&c, t), "{d} against {brute} for {c:?} from {p}");
                if p == on.p {
                    assert!(d <= 1e-12 * reach(&c, t), "{d} from a point of {c:?}");
                }
            }
        }
    }
}

#[test]
fn tangents_at_singular_ends_are_limits() {
    // The first two control points coincide, so the derivative is zero and the tangent points to the
    // third.
    let p = [P3::origin(), P3::origin(), P3::new(1.0, 1.0, 0.0), P3::new(2.0, 0.0, 0.0)];
    let control = p.iter().map(|p| homogeneous(p, 1.0)).collect();
    let c = Curve::Bezier(BezierSpline { degree: 3, breaks: vec![0.0, 1.0], control, periodic: false });
    let expected = V3::new(1.0, 1.0, 0.0).normalize();
    assert!((c.tangent(0.0).unwrap() - expected).norm() < 1e-12, "limit at the start");
    let near = c.derivs(1e-6).d1.normalize();
    assert!((near - expected).norm() < 1e-5, "the derivative converges to the limit");
    let back: Vec<_> = p.iter().rev().map(|p| homogeneous(p, 1.0)).collect();
    let c = Curve::Bezier(BezierSpline { degree: 3, breaks: vec![0.0, 1.0], control: back, periodic: false });
    assert!((c.tangent(1.0).unwrap() + expected).norm() < 1e-12, "limit at the end");
    let dot = vec![homogeneous(&P3::origin(), 1.0); 3];
    let c = Curve::Bezier(BezierSpline { degree: 2, breaks: vec![0.0, 1.0], control: dot, periodic: false });
    assert_eq!(c.tangent(0.5), None, "a point has no tangent");
    assert_eq!(c.tangent_cone(0.0, 1.0), None, "a point has no tangent cone");
}

#[test]
fn kinks_are_where_the_tangent_jumps() {
    let p = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (2.0, 1.0), (2.01, 2.0)];
    let control =
        p.windows(2).flat_map(|w| [w[0], w[1]]).map(|(x, y)| homogeneous(&P3::new(x, y, 0.0), 1.0)).collect();
    let s = BezierSpline { degree: 1, breaks: vec![0.0, 1.0, 2.0, 3.0, 4.0], control, periodic: false };
    let c = Curve::Bezier(s);
    assert_eq!(c.kinks(0.0, 4.0, 1e-3), vec![2.0, 3.0], "kinks of 90° and of 0.01 rad");
    assert_eq!(c.kinks(0.0, 4.0, 0.1), vec![2.0], "the kink of 90°");
    assert_eq!(c.breaks(0.0, 4.0), vec![1.0, 2.0, 3.0], "all joints");
    assert_eq!(c.kinks(2.5, 4.0, 0.1), Vec::<f64>::new(), "no kink inside the range");
}

#[test]
fn periodic_splines_wrap() {
    let ring = BezierSpline::arc(&Frame::identity(), 2.0, 2.0, 0.0, TAU);
    assert!(ring.closes_smoothly(), "a full circle closes");
    let c = Curve::Bezier(ring);
    assert!((c.period().unwrap() - TAU).abs() < 1e-15, "period");
    for i in -9..9 {
        let t = f64::from(i);
        assert!((c.point(t) - c.point(t + TAU)).norm() < 1e-12, "wraps at {t}");
    }
    let b = c.breaks(-0.1, TAU + 0.1);
    assert_eq!(b.len(), 5, "{b:?}");
    assert!(c.kinks(-0.1, TAU + 0.1, 1e-6).is_empty(), "smooth");
    // The range crosses the seam.
    let t = c.project(&P3::new(5.0, 0.1, 0.0), TAU - 1.0, TAU + 1.0);
    assert!(t > TAU && t < TAU + 0.1, "{t} in the range's own parameters");
}

#[test]
fn lengths() {
    let f = Frame::identity();
    let circle = Curve::Circle { frame: f, radius: 3.0 };
    assert!((circle.arc_length(0.0, PI) - 3.0 * PI).abs() < 1e-14, "half circle");
    let ring = Curve::Bezier(BezierSpline::arc(&f, 3.0, 3.0, 0.0, TAU));
    assert!((ring.arc_length(0.0, TAU) - 6.0 * PI).abs() < 1e-11, "full circle as a spline");
    assert!((ring.length_estimate(0.0, TAU) - 6.0 * PI).abs() < 1e-5, "one quadrature rule per piece");
    // 4 a E(e²) with a = 2, b = 1: 9.688448220547675 (Abramowitz & Stegun 17.3).
    let ellipse = Curve::Ellipse { frame: f, semi_x: 2.0, semi_y: 1.0 };
    assert!((ellipse.arc_length(0.0, TAU) - 9.688_448_220_547_675).abs() < 1e-11, "ellipse");
    // f (t √(1 + t²) + asinh t)
    let parabola = Curve::Parabola { frame: f, focal: 0.5 };
    let exact = 0.5 * (2.0 * 5.0_f64.sqrt() + math::asinh(2.0));
    assert!((parabola.arc_length(0.0, 2.0) - exact).abs() < 1e-12, "parabola");
}

#[test]
fn poses_and_scales_move_points() {
    let mut r = rng(7);
    let pose = Pose::new(V3::new(1.0, -2.0, 3.0), V3::new(0.3, 0.4, -1.0));
    for (c, t0, t1) in curves(&mut r) {
        let moved = c.transformed(&pose);
        let scaled = c.scaled(25.4);
        for _ in 0..10 {
            let t = r.random_range(t0..=t1);
            assert!((moved.point(t) - pose * c.point(t)).norm() < 1e-12 * reach(&c, t), "moved {c:?}");
            let s = if matches!(c, Curve::Line { .. }) { 25.4 * t } else { t };
            assert!((scaled.point(s) - c.point(t) * 25.4).norm() < 1e-11 * reach(&c, t), "scaled {c:?}");
        }
    }
}

#[test]
fn wide_arcs_have_no_cone() {
    let c = Curve::Circle { frame: Frame::identity(), radius: 1.0 };
    assert_eq!(c.tangent_cone(0.0, PI), None, "half a turn");
    let RevolutionCone { axis, half_angle } = c.tangent_cone(0.0, FRAC_PI_2).unwrap();
    assert!((half_angle - 0.5 * FRAC_PI_2).abs() < 1e-9, "half the span");
    assert!((axis - V3::new(-1.0, 1.0, 0.0).normalize()).norm() < 1e-9, "middle");
}
