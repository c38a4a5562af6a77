//! Splines in other parameters, surfaces with poles, and rolled sheets whose layers are near each other.

use super::*;
use crate::bezier::BezierSpline;
use crate::crossing::follow::tests::{Graph, TOL, bezier, patch, rect};
use crate::testing::rng;
use crate::{Pose, SurfaceDerivs, math};
use rand::Rng;

/// Depths between which crossings count.
const DEPTH: [f64; 2] = [1.9 * TOL, 3.0 * TOL];

/// Upper bound of the distance of a whole patch of `a`, placed by `pose`, from `b`, and the images.
fn distance(a: &Surface, pose: &Pose, whole: Rect, b: &Surface) -> (Option<f64>, Vec<Rect>) {
    let placed = Patch { pose: Some(pose), ..patch(a, whole) };
    let mut images = Vec::new();
    let bound = distance_from_surface(
        &[placed],
        (b, &SurfaceBounds::default()),
        None,
        distance_on_one_surface(DEPTH),
        &mut images,
        &mut { MAX_FACE_CELLS },
    );
    (bound, images)
}

/// Patches over the Bézier patches of a surface, each divided into n × n parts, with cones around sampled
/// normals.
fn patches(surface: &Surface, n: usize) -> Vec<Patch<'_>> {
    let Surface::Bezier(spline) = surface else { return Vec::new() };
    let (nu, nv) = spline.n_patches();
    let part = |(i, k): (usize, usize)| {
        let whole = spline.patch_rect((i / n, k / n));
        let (wu, wv) = (whole.width() / n as f64, whole.height() / n as f64);
        let (u0, v0) = (whole.u0 + wu * (i % n) as f64, whole.v0 + wv * (k % n) as f64);
        let axis = surface.normal(P2::new(u0 + 0.5 * wu, v0 + 0.5 * wv));
        let sine = |a: usize, b: usize| {
            let [a, b] = [a, b].map(|a| 0.01 + 0.098 * a as f64);
            axis.cross(&surface.normal(P2::new(u0 + wu * a, v0 + wv * b))).norm()
        };
        let samples = (0..=10).flat_map(|a| (0..=10).map(move |b| (a, b)));
        let largest = samples.map(|(a, b)| sine(a, b)).fold(0.0, f64::max);
        let cone = (axis, (1.1 * largest + 0.01).min(1.0));
        Patch { cone, ..patch(surface, rect(u0, u0 + wu, v0, v0 + wv)) }
    };
    (0..nu * n).flat_map(|i| (0..nv * n).map(move |k| (i, k))).map(part).collect()
}

/// One polynomial surface in two parametrisations: reversed, exchanged, of higher degree, and of a larger
/// part. The bound is the displacement of one of them along z; larger displacements have no bound. A
/// smaller part of the surface does not contain the other one.
#[test]
fn distances_of_one_surface_in_other_parameters() {
    let mut r = rng(31);
    let pose = Pose::new(V3::new(30.0, -4.0, 11.0), V3::new(0.3, 1.0, -2.0));
    let whole = rect(-2.0, 2.0, -2.0, 2.0);
    for k in 0..20 {
        let graph = Graph::random(&mut r);
        let a = bezier([3, 3], whole, |u, v| V3::new(u, v, graph.at(u, v))).transformed(&pose.inverse());
        for (shift, is_near) in [(0.0, true), (3e-7, true), (-3.5e-7, true), (2e-6, false), (1e-3, false)] {
            let z = |x: f64, y: f64| V3::new(x, y, graph.at(x, y) - shift);
            let others = [
                bezier([3, 3], whole, |u, v| z(-u, v)),
                bezier([3, 3], whole, |u, v| z(v, -u)),
                bezier([5, 4], whole, z),
                bezier([3, 3], whole, |u, v| z(1.2 * u - 0.3, 1.1 * v + 0.1)),
            ];
            for (i, b) in others.iter().enumerate() {
                let (bound, images) = distance(&a, &pose, whole, b);
                assert_eq!(bound.is_some(), is_near, "{k} {i} {shift}: {bound:?}");
                let Some(bound) = bound else { continue };
                // Normals are tilted against z by up to about 50 degrees.
                let (least, most) = (0.6 * shift.abs(), 1.01 * shift.abs() + 2.0 * MAX_EXCESS * TOL);
                assert!(least <= bound && bound <= most, "{k} {i}: {bound}");
                let area: f64 = images.iter().map(|image| image.width() * image.height()).sum();
                let expected = if i == 3 { 16.0 / (1.2 * 1.1) } else { 16.0 };
                assert!((area - expected).abs() <= 1e-5, "{k} {i}: {area}");
            }
            let smaller = bezier([3, 3], whole, |u, v| z(0.9 * u, v));
            assert_eq!(distance(&a, &pose, whole, &smaller).0, None, "{k} {shift}");
        }
    }
}

/// A spline that is not the same surface: random bumps. No sampled point is farther than the bound.
#[test]
fn distances_of_surfaces_with_bumps() {
    let mut r = rng(32);
    let (mut near, mut far) = (0, 0);
    for k in 0..100 {
        let (graph, bump) = (Graph::random(&mut r), Graph::random(&mut r));
        let size = math::powf(10.0, r.random_range(-9.0..-5.0));
        let whole = rect(-2.0, 2.0, -2.0, 2.0);
        let a = bezier([3, 3], whole, |u, v| V3::new(u, v, graph.at(u, v)));
        let b = bezier([4, 4], rect(-2.1, 2.1, -2.1, 2.1), |u, v| {
            V3::new(u, v, graph.at(u, v) + size * bump.at(u, v))
        });
        let (bound, _) = distance(&a, &Pose::identity(), whole, &b);
        let samples = (0..200).map(|_| {
            let p = a.point(P2::new(r.random_range(-2.0..2.0), r.random_range(-2.0..2.0)));
            (b.point(b.invert(&p, None, None)) - p).norm()
        });
        let largest = samples.fold(0.0, f64::max);
        match bound {
            Some(bound) => assert!(largest <= bound + 1e-12, "{k}: {largest:e} {bound:e}"),
            None => assert!(largest > 0.2 * TOL, "{k}: {largest:e}"),
        }
        if bound.is_some() { near += 1 } else { far += 1 }
    }
    assert!(near > 30 && far > 10, "{near} {far}");
}

/// Random surface of revolution about z with two poles, or with one if `is_open`, with a waist or a belly.
fn with_poles(r: &mut impl Rng, is_open: bool, turn: f64) -> Surface {
    let (a, b, bulge) = (r.random_range(1.0..20.0), r.random_range(1.0..20.0), r.random_range(-0.3..0.3));
    // The tangents of the meridian at the poles are radial.
    let at = |t: f64| {
        let (s, c) = math::sin_cos(t);
        let radius = 1.0 + bulge * math::cos(2.0 * t) - bulge;
        P3::new(a * radius * s, 0.0, b * c)
    };
    let h = 1e-6;
    let samples: Vec<_> = (0..=if is_open { 9 } else { 12 })
        .map(|i| {
            let t = std::f64::consts::PI * f64::from(i) / 12.0;
            (t, at(t), (at(t + h) - at(t - h)) / (2.0 * h))
        })
        .collect();
    let profile = BezierSpline::hermite(&samples);
    Surface::Bezier(BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, turn))
}

/// Ellipsoids and other surfaces of revolution with one or two poles do not come near themselves.
#[test]
fn surfaces_with_poles_are_clear_of_themselves() {
    let mut r = rng(33);
    for k in 0..6 {
        let surface = with_poles(&mut r, k % 2 == 1, if k < 4 { std::f64::consts::TAU } else { 4.0 });
        assert!(is_clear_of_itself(&patches(&surface, 1), None, DEPTH, &SurfaceBounds::default()), "{k}");
    }
}

/// Surfaces with poles that are moved, also along and about their axis: the parameters of both are turned
/// against each other beside the poles. No sampled point is farther than the bound, and motions clearly below
/// the limit have one.
#[test]
fn distances_of_moved_surfaces_with_poles() {
    let mut r = rng(37);
    for k in 0..20 {
        let surface = with_poles(&mut r, false, std::f64::consts::TAU);
        let size = TOL * math::powf(10.0, r.random_range(-2.0..1.0));
        let mut shift = V3::from_fn(|_, _| r.random_range(-1.0..1.0));
        if k % 3 == 0 {
            shift.x = 0.0;
            shift.y = 0.0;
        }
        let shift = shift.normalize() * size;
        let turn = if k % 2 == 0 { V3::z() * r.random_range(-3.0..3.0) } else { V3::zeros() };
        let pose = Pose::new(shift, turn);
        let Surface::Bezier(spline) = &surface else { unreachable!("a spline") };
        let (nu, nv) = spline.n_patches();
        let parts = (0..nu * nv).map(|i| spline.patch_rect((i / nv, i % nv)));
        let parts: Vec<_> = parts.map(|part| Patch { pose: Some(&pose), ..patch(&surface, part) }).collect();
        let mut images = Vec::new();
        let limit = distance_on_one_surface(DEPTH);
        let bound = distance_from_surface(
            &parts,
            (&surface, &SurfaceBounds::default()),
            None,
            limit,
            &mut images,
            &mut { MAX_FACE_CELLS },
        );
        let domain = spline.domain();
        let samples = (0..100).map(|_| {
            let uv = P2::new(r.random_range(domain.u0..domain.u1), r.random_range(domain.v0..domain.v1));
            let p = pose * surface.point(uv);
            (surface.point(surface.invert(&p, None, None)) - p).norm()
        });
        let largest = samples.fold(0.0, f64::max);
        match bound {
            Some(bound) => assert!(largest <= bound + 1e-12 && bound <= limit, "{k}: {size:e} {bound:e}"),
            None => assert!(size > 0.7 * limit, "{k}: {shift:?} {largest:e}"),
        }
    }
}

/// A rolled sheet whose layers are a distance apart. If the distance is between the depths, a point of one
/// layer is behind a point of the other one; if it is larger than all of them, none is.
#[test]
fn layers_of_a_rolled_sheet() {
    let mut r = rng(34);
    let tau = std::f64::consts::TAU;
    let mut decided = 0;
    for k in 0..60 {
        let gap = TOL * math::powf(10.0, r.random_range(-0.7..3.0));
        let (radius, turns) = (r.random_range(0.5..5.0), r.random_range(1.1..1.9));
        let sheet = |p: P2| {
            let (s, c) = math::sin_cos(p.x);
            let (rho, slope) = (radius + gap * p.x / tau, gap / tau);
            SurfaceDerivs {
                p: P3::new(rho * c, rho * s, p.y),
                du: V3::new(slope * c - rho * s, slope * s + rho * c, 0.0),
                dv: V3::z(),
                duu: V3::new(-2.0 * slope * s - rho * c, 2.0 * slope * c - rho * s, 0.0),
                duv: V3::zeros(),
                dvv: V3::zeros(),
            }
        };
        let us: Vec<f64> = (0..=40).map(|i| turns * tau * f64::from(i) / 40.0).collect();
        let surface = Surface::Bezier(BezierSurface::hermite(&us, &[0.0, 2.0], sheet));
        let is_clear = is_clear_of_itself(&patches(&surface, 1), None, DEPTH, &SurfaceBounds::default());
        let (shallow, deep, limit) = (DEPTH[0], DEPTH[1], distance_on_one_surface(DEPTH));
        if gap > shallow - limit && gap < deep + limit {
            assert!(!is_clear, "{k}: gap {gap:e}");
        } else if gap > 1.5 * (deep + limit) {
            assert!(is_clear, "{k}: gap {gap:e}");
            decided += 1;
        }
        // One layer alone is always clear.
        let one: Vec<Rect> = us.windows(2).take(18).map(|w| rect(w[0], w[1], 0.0, 2.0)).collect();
        let starts: Vec<_> =
            patches(&surface, 1).into_iter().filter(|p| p.rect.u1 < 0.45 * turns * tau).collect();
        assert!(is_clear_of_itself(&starts, Some(&one), DEPTH, &SurfaceBounds::default()), "{k}");
    }
    assert!(decided > 20, "{decided}");
}

/// Two layers of one spline without a common border, whose derivatives are equal: the second one is behind
/// the first one by a distance between the depths. Without this distance, and shifted along the layer, they
/// are one plane.
#[test]
fn gaps_between_pieces_count() {
    for (gap, back, expected) in [(2.0 * TOL, 5.0, false), (0.0, 0.0, true), (10.0 * TOL, 5.0, true)] {
        let row =
            |x: f64, z: f64| [(0.0, x, z), (3.0, x, z)].map(|(y, x, z)| crate::bezier::H4::new(x, y, z, 1.0));
        let control = [row(0.0, 0.0), row(10.0, 0.0), row(10.0 - back, -gap), row(20.0 - back, -gap)];
        let surface = Surface::Bezier(BezierSurface {
            u_degree: 1,
            v_degree: 1,
            u_breaks: vec![0.0, 1.0, 2.0],
            v_breaks: vec![0.0, 1.0],
            control: control.concat(),
            u_periodic: false,
            v_periodic: false,
        });
        assert_eq!(
            is_clear_of_itself(&patches(&surface, 2), None, DEPTH, &SurfaceBounds::default()),
            expected,
            "{gap:e}"
        );
    }
}

/// Surfaces of revolution whose circles are divided into three and into four rational arcs, which differ by
/// more than rounding between the breaks only in their parameters: the bound is small. Scaled by 1e-4 they
/// are not one surface.
#[test]
fn circles_of_other_arcs_are_one_surface() {
    let mut r = rng(35);
    let tau = std::f64::consts::TAU;
    for k in 0..6 {
        let (radius, bend) = (r.random_range(2.0..20.0), r.random_range(-2.0..2.0));
        let samples: Vec<_> = (0..=8)
            .map(|i| {
                let t = f64::from(i) / 4.0;
                (t, P3::new(radius + bend * t * t, 0.0, 4.0 * t), V3::new(2.0 * bend * t, 0.0, 4.0))
            })
            .collect();
        let profile = BezierSpline::hermite(&samples);
        let turned = |u0: f64, turn: f64| {
            Surface::Bezier(BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), u0, u0 + turn))
        };
        // A fraction of a turn has narrower arcs.
        let (part, whole) = (turned(0.3, 0.61 * tau), turned(0.0, tau));
        let limit = distance_on_one_surface(DEPTH);
        let mut images = Vec::new();
        let mut of = |surface: &Surface| {
            distance_from_surface(
                &patches(&part, 2),
                (surface, &SurfaceBounds::default()),
                None,
                limit,
                &mut images,
                &mut { MAX_FACE_CELLS },
            )
        };
        let bound = of(&whole);
        assert!(bound.is_some_and(|bound| bound <= 0.51 * limit), "{k}: {bound:?}");
        let larger = whole.transformed(&Pose::translation(0.0, 0.0, 1e-4));
        assert_eq!(of(&larger), None, "{k}");
        // The nearest points are in the images.
        for _ in 0..200 {
            let p = part.point(P2::new(0.3 + r.random_range(0.0..0.61) * tau, r.random_range(0.0..2.0)));
            let uv = whole.invert(&p, None, None);
            let near = |x: f64, low: f64, high: f64| low - 1e-9 <= x && x <= high + 1e-9;
            let contains = |image: &Rect| near(uv.x, image.u0, image.u1) && near(uv.y, image.v0, image.v1);
            assert!(images.iter().any(contains), "{k}: {uv}");
        }
    }
}
