use rand::Rng;
use rand::rngs::SmallRng;

use super::*;
use crate::testing::{nurbs_curve, nurbs_surface, point, rng};

/// Value at `t` of B-spline basis function `i` of degree `p`, by the Cox–de Boor recursion.
fn basis(i: usize, p: usize, k: &[f64], t: f64) -> f64 {
    if p == 0 {
        return if k[i] <= t && t < k[i + 1] { 1.0 } else { 0.0 };
    }
    let term = |num: f64, den: f64, b: f64| if den > 0.0 { num / den * b } else { 0.0 };
    term(t - k[i], k[i + p] - k[i], basis(i, p - 1, k, t))
        + term(k[i + p + 1] - t, k[i + p + 1] - k[i + 1], basis(i + 1, p - 1, k, t))
}

fn curve_point(c: &NurbsCurve, t: f64) -> P3 {
    let mut sum = H4::zeros();
    for (i, p) in c.points.iter().enumerate() {
        let w = c.weights.get(i).copied().unwrap_or(1.0);
        sum += homogeneous(p, w) * basis(i, c.degree as usize, &c.knots, t);
    }
    P3::from(sum.xyz() / sum.w)
}

fn surface_point(s: &NurbsSurface, u: f64, v: f64) -> P3 {
    let mut sum = H4::zeros();
    for (k, p) in s.points.iter().enumerate() {
        let w = s.weights.get(k).copied().unwrap_or(1.0);
        let b = basis(k / s.n_v, s.u_degree as usize, &s.u_knots, u);
        sum += homogeneous(p, w) * (b * basis(k % s.n_v, s.v_degree as usize, &s.v_knots, v));
    }
    P3::from(sum.xyz() / sum.w)
}

#[test]
fn curves_agree_with_the_definition() {
    let mut r = rng(11);
    for _ in 0..300 {
        let c = nurbs_curve(&mut r);
        let s = c.to_bezier().unwrap();
        let (t0, t1) = s.range();
        assert!((t0 - c.knots[c.degree as usize]).abs() < 1e-15, "domain");
        for _ in 0..10 {
            let t = r.random_range(t0..t1);
            let gap = (s.derivs(t).p - curve_point(&c, t)).norm();
            assert!(gap < 1e-12, "{gap} at {t} of {c:?}");
        }
    }
}

#[test]
fn surfaces_agree_with_the_definition() {
    let mut r = rng(12);
    for _ in 0..150 {
        let c = nurbs_surface(&mut r);
        let s = c.to_bezier().unwrap();
        let d = s.domain();
        for _ in 0..10 {
            let (u, v) = (r.random_range(d.u0..d.u1), r.random_range(d.v0..d.v1));
            let gap = (s.derivs(P2::new(u, v)).p - surface_point(&c, u, v)).norm();
            assert!(gap < 1e-12, "{gap} at {u}, {v} of {c:?}");
        }
    }
}

#[test]
fn neighbouring_pieces_share_control_points() {
    let mut r = rng(13);
    for _ in 0..50 {
        let s = nurbs_surface(&mut r).to_bezier().unwrap();
        let (n_u, n_v) = s.n_patches();
        let (p, q) = (s.u_degree as usize, s.v_degree as usize);
        for i in 0..n_u {
            for j in 0..n_v {
                let c = s.patch_control((i, j));
                if i + 1 < n_u {
                    assert_eq!(c[p * (q + 1)..], s.patch_control((i + 1, j))[..=q], "along u");
                }
                if j + 1 < n_v {
                    let next = s.patch_control((i, j + 1));
                    (0..=p).for_each(|a| assert_eq!(c[a * (q + 1) + q], next[a * (q + 1)], "along v"));
                }
            }
        }
    }
}

/// Returns a closed cubic curve with uniform unclamped knots, whose first control points are repeated at
/// the end.
fn closed(r: &mut SmallRng) -> NurbsCurve {
    let ring: Vec<P3> = (0..6)
        .map(|i| {
            let a = f64::from(i);
            P3::new(5.0 * crate::math::cos(a), 5.0 * crate::math::sin(a), 0.0) + point(r, 0.3).coords
        })
        .collect();
    let points: Vec<P3> = ring.iter().chain(&ring[..3]).copied().collect();
    NurbsCurve { degree: 3, knots: (0..13).map(f64::from).collect(), points, weights: vec![] }
}

#[test]
fn periodicity_is_detected() {
    let mut r = rng(14);
    for _ in 0..20 {
        let c = closed(&mut r);
        let s = c.to_bezier().unwrap();
        assert!(s.periodic, "wrapped control points");
        assert_eq!(s.period(), Some(6.0), "six spans");
        // A closed curve with a corner.
        let mut corner = c.clone();
        corner.knots = vec![0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.0, 6.0, 6.0];
        corner.points[8] = corner.points[0];
        let s = corner.to_bezier().unwrap();
        assert!((s.derivs(0.0).p - s.derivs(6.0).p).norm() < 1e-12, "closed");
        assert!(!s.periodic, "a closed curve with a corner is not periodic");
    }
}

#[test]
fn tubes_are_periodic_in_one_direction() {
    let mut r = rng(15);
    let c = closed(&mut r);
    let points = c.points.iter().flat_map(|p| [*p, p + crate::V3::z()]).collect();
    let tube = NurbsSurface {
        u_degree: 3,
        v_degree: 1,
        u_knots: c.knots.clone(),
        v_knots: vec![0.0, 0.0, 1.0, 1.0],
        n_v: 2,
        points,
        weights: vec![],
    };
    let s = tube.to_bezier().unwrap();
    assert!(s.u_periodic && !s.v_periodic, "periodic around the tube, not along it");
}

#[test]
fn invalid_descriptions_are_rejected() {
    let good = NurbsCurve {
        degree: 2,
        knots: vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
        points: vec![P3::origin(), P3::new(1.0, 0.0, 0.0), P3::new(1.0, 1.0, 0.0)],
        weights: vec![1.0, 0.5, 1.0],
    };
    assert!(good.to_bezier().is_ok(), "the valid curve");
    let err = |f: &dyn Fn(&mut NurbsCurve)| {
        let mut c = good.clone();
        f(&mut c);
        c.to_bezier().unwrap_err()
    };
    assert_eq!(err(&|c| c.degree = 0), NurbsError::Degree, "degree 0");
    assert_eq!(err(&|c| c.degree = 99), NurbsError::Degree, "degree 99");
    assert_eq!(err(&|c| c.degree = 3), NurbsError::Counts, "too few");
    assert_eq!(err(&|c| c.knots.push(1.0)), NurbsError::Counts, "too many");
    assert_eq!(err(&|c| c.knots[1] = 0.5), NurbsError::DecreasingKnots, "decreasing");
    assert_eq!(err(&|c| c.knots = vec![0.0; 6]), NurbsError::EmptyDomain, "empty");
    assert_eq!(err(&|c| c.knots[0] = f64::NAN), NurbsError::NotFinite, "NaN knot");
    assert_eq!(err(&|c| c.points[1].y = f64::INFINITY), NurbsError::NotFinite, "infinite point");
    assert_eq!(err(&|c| c.weights[1] = 0.0), NurbsError::NonPositiveWeight, "weight 0");
    assert_eq!(err(&|c| c.weights.truncate(2)), NurbsError::Counts, "weights");
    let empty = NurbsSurface {
        u_degree: 1,
        v_degree: 1,
        u_knots: vec![],
        v_knots: vec![],
        n_v: 0,
        points: vec![],
        weights: vec![],
    };
    assert_eq!(empty.to_bezier().unwrap_err(), NurbsError::Counts, "nothing");
}

#[test]
fn nearly_equal_knots_are_merged() {
    let c = NurbsCurve {
        degree: 1,
        knots: vec![0.0, 1e-16, 1.0, 1.0 + 1e-15, 2.0, 2.0],
        points: (0..4).map(|i| P3::new(f64::from(i.min(2)), f64::from(i), 0.0)).collect(),
        weights: vec![],
    };
    let s = c.to_bezier().unwrap();
    assert_eq!(s.breaks, vec![0.0, 1.0, 2.0], "no span of 1e-15");
}
