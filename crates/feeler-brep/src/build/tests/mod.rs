//! Tests of whole solids from hand-written sources, against closed forms.

mod creases;
mod curves;
mod defects;
mod domains;
mod horn;
mod inertia;
mod inexact;
mod patch_edges;
mod senses;
mod splitting;
mod status;
mod structure;

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use feeler_geom::trim::{Side, TrimCells};
use feeler_geom::{Curve, Frame, P2, P3, Surface, V3, math};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::fixtures::{self, SourceBuilder};
use crate::source::LoopSource;

fn built(source: &SolidSource) -> Solid {
    build_solid(source, &BuildOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[track_caller]
fn assert_close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-8 * b.abs().max(1.0), "{what}: {a} is not {b}");
}

fn statuses(solid: &Solid) -> [usize; 4] {
    let count = |s: EdgeStatus| solid.edges.iter().filter(|e| e.status == s).count();
    [EdgeStatus::Convex, EdgeStatus::Concave, EdgeStatus::Smooth, EdgeStatus::Seam].map(count)
}

/// Returns the numbers of `[real vertices, smooth vertices, empty polars]`.
fn vertex_kinds(solid: &Solid) -> [usize; 3] {
    let count = |f: &dyn Fn(&VertexInfo) -> bool| solid.vertices.iter().filter(|v| f(v)).count();
    [
        count(&|v| !v.smooth && v.polar != VertexPolar::Empty),
        count(&|v| v.smooth),
        count(&|v| !v.smooth && v.polar == VertexPolar::Empty),
    ]
}

/// A drop-shaped prism, whose side is one spline face that meets itself in a sharp edge.
fn drop_prism(close_smoothly: bool) -> SolidSource {
    use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};
    let mut b = SourceBuilder::new();
    // The outline runs counter-clockwise from the tip at the origin; the smooth variant leaves and
    // arrives along one line.
    let p = if close_smoothly {
        [[0.0, 0.0], [2.0, -1.5], [3.0, 1.0], [1.0, 2.0], [-0.5, 0.375], [0.0, 0.0]]
    } else {
        [[0.0, 0.0], [2.0, -1.5], [3.0, 0.0], [2.0, 1.5], [1.0, 1.0], [0.0, 0.0]]
    };
    let at = |k: usize, z: f64| P3::new(p[k][0], p[k][1], z);
    let spline = |z: f64| BezierSpline {
        degree: 5,
        breaks: vec![0.0, 1.0],
        control: (0..6).map(|k| homogeneous(&at(k, z), 1.0)).collect(),
        periodic: close_smoothly,
    };
    let control =
        (0..6).flat_map(|k| [homogeneous(&at(k, 0.0), 1.0), homogeneous(&at(k, 1.0), 1.0)]).collect();
    let side = BezierSurface {
        u_degree: 5,
        v_degree: 1,
        u_breaks: vec![0.0, 1.0],
        v_breaks: vec![0.0, 1.0],
        control,
        u_periodic: close_smoothly,
        v_periodic: false,
    };
    let (low, high) = (b.vertex(0.0, 0.0, 0.0), b.vertex(0.0, 0.0, 1.0));
    let bottom = b.edge(Curve::Bezier(spline(0.0)), low, low);
    let top = b.edge(Curve::Bezier(spline(1.0)), high, high);
    let (seam, _) = b.line(low, high);
    let ring = vec![LoopSource::Edges(vec![(bottom, true), (seam, true), (top, false), (seam, false)])];
    b.face(Surface::Bezier(side), true, ring);
    let level =
        |z: f64| Surface::Plane { frame: Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() } };
    b.face(level(0.0), false, vec![LoopSource::Edges(vec![(bottom, false)])]);
    b.face(level(1.0), true, vec![LoopSource::Edges(vec![(top, true)])]);
    b.finish("drop")
}

/// A cylinder of radius 1 between `z = 0` and the plane `z = 2 + slope x`. The curve of its upper edge
/// is displaced by `lift` (mm) along z from that plane.
fn oblique_cylinder(slope: f64, lift: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let level = |z: f64| Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() };
    let stretch = math::hypot(1.0, slope);
    let x = V3::new(1.0, 0.0, slope) / stretch;
    let ellipse = Frame { origin: P3::new(0.0, 0.0, 2.0 + lift), x, y: V3::y(), z: x.cross(&V3::y()) };
    let (low, high) = (b.vertex(0.0, 1.0, 0.0), b.vertex(0.0, 1.0, 2.0 + lift));
    let bottom = b.circle(level(0.0), 1.0, low);
    let top = b.edge(Curve::Ellipse { frame: ellipse, semi_x: stretch, semi_y: 1.0 }, high, high);
    let ring = |e: u32, along: bool| LoopSource::Edges(vec![(e, along)]);
    let side = vec![ring(bottom, true), ring(top, false)];
    b.face(Surface::Cylinder { frame: level(0.0), radius: 1.0 }, true, side);
    b.face(Surface::Plane { frame: level(0.0) }, false, vec![ring(bottom, false)]);
    let cut = Frame { origin: P3::new(0.0, 0.0, 2.0), ..ellipse };
    b.face(Surface::Plane { frame: cut }, true, vec![ring(top, true)]);
    b.finish("oblique cylinder")
}

fn accepts(polar: &VertexPolar, d: &V3) -> bool {
    match polar {
        VertexPolar::Empty => false,
        VertexPolar::Constraints(c) => c.iter().all(|v| v.dot(d) <= 1e-9),
    }
}

fn vertex_at(solid: &Solid, p: [f64; 3]) -> &VertexInfo {
    let p = P3::from(p);
    let k = solid.shell.vertices.iter().position(|v| (v - p).norm() < 1e-9).expect("a vertex is there");
    &solid.vertices[k]
}

fn random_directions(seed: u64, n: usize) -> Vec<V3> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut out = vec![];
    while out.len() < n {
        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if v.norm() <= 1.0 {
            out.extend(v.try_normalize(1e-3));
        }
    }
    out
}

/// A horn between the circles of radius 1 and 2 that touch at the origin, cut off at `x = 1`: as a plate
/// of height 1, or as a hole in a square plate.
fn horn(hole: bool) -> SolidSource {
    let mut b = SourceBuilder::new();
    let rim = |b: &mut SourceBuilder, z: f64| {
        let [tip, inner, outer] =
            [b.vertex(0.0, 0.0, z), b.vertex(1.0, 1.0, z), b.vertex(1.0, 3.0_f64.sqrt(), z)];
        let circle = |r: f64| Curve::Circle {
            frame: Frame { origin: P3::new(r, 0.0, z), ..Frame::identity() },
            radius: r,
        };
        // The outline runs counter-clockwise: along the large circle to the tip, back along the small
        // one, up the cut.
        let to_tip = b.edge(circle(2.0), outer, tip);
        let from_tip = b.edge(circle(1.0), inner, tip);
        let (cut, _) = b.line(inner, outer);
        ([tip, inner, outer], [to_tip, from_tip, cut])
    };
    let (low, bottom) = rim(&mut b, 0.0);
    let (high, top) = rim(&mut b, 1.0);
    let up: Vec<u32> = (0..3).map(|k| b.line(low[k], high[k]).0).collect();
    let ring = |walk: &[(u32, bool)]| {
        let mut walk = walk.to_vec();
        if hole {
            walk.reverse();
            walk.iter_mut().for_each(|u| u.1 = !u.1);
        }
        LoopSource::Edges(walk)
    };
    let bore = |r: f64| Surface::Cylinder {
        frame: Frame { origin: P3::new(r, 0.0, 0.0), ..Frame::identity() },
        radius: r,
    };
    b.face(
        bore(2.0),
        !hole,
        vec![ring(&[(bottom[0], true), (up[0], true), (top[0], false), (up[2], false)])],
    );
    b.face(bore(1.0), hole, vec![ring(&[(bottom[1], false), (up[1], true), (top[1], true), (up[0], false)])]);
    let cut = Frame { origin: P3::new(1.0, 0.0, 0.0), x: V3::y(), y: V3::z(), z: V3::x() };
    b.face(
        Surface::Plane { frame: cut },
        !hole,
        vec![ring(&[(bottom[2], true), (up[2], true), (top[2], false), (up[1], false)])],
    );
    let mut under = vec![ring(&[(bottom[2], false), (bottom[1], true), (bottom[0], false)])];
    let mut over = vec![ring(&[(top[0], true), (top[1], false), (top[2], true)])];
    if hole {
        let square = [(-1.0, -1.0), (2.0, -1.0), (2.0, 2.0), (-1.0, 2.0)];
        let low: Vec<u32> = square.iter().map(|p| b.vertex(p.0, p.1, 0.0)).collect();
        let high: Vec<u32> = square.iter().map(|p| b.vertex(p.0, p.1, 1.0)).collect();
        for i in 0..4 {
            let j = (i + 1) % 4;
            b.polygon(&[&[low[i], low[j], high[j], high[i]]]);
        }
        let reversed: Vec<u32> = low.iter().rev().copied().collect();
        under.insert(0, b.ring(&reversed));
        over.insert(0, b.ring(&high));
    }
    let level =
        |z: f64| Surface::Plane { frame: Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() } };
    b.face(level(0.0), false, under);
    b.face(level(1.0), true, over);
    b.finish(if hole { "horn hole" } else { "horn" })
}

#[test]
fn every_fixture_has_its_area_volume_and_box() {
    let s = 5.0_f64.sqrt();
    let spindle = {
        // Apple with major radius 1 and minor radius 2: Pappus over the outer sheet |v| < a, cos a =
        // -1/2.
        let (big, r, a) = (1.0, 2.0, math::acos(-0.5));
        let area = TAU * r * (2.0 * big * a + 2.0 * r * math::sin(a));
        // ∫ π (x²) dz over the profile: x = R + r cos v, z = r sin v.
        let f = |v: f64| {
            let (sn, cs) = math::sin_cos(v);
            big * big * sn + big * r * (v + sn * cs) + r * r * (sn - sn * sn * sn / 3.0)
        };
        (area, PI * r * (f(a) - f(-a)))
    };
    let cases: Vec<(SolidSource, f64, f64)> = vec![
        (fixtures::block([0.0, 1.0, 2.0], [3.0, 5.0, 8.0]), 2.0 * (12.0 + 18.0 + 24.0), 72.0),
        (fixtures::l_prism(3.0, 1.0, 2.0), 2.0 * 7.0 + 16.0 * 2.0, 14.0),
        (fixtures::notched_cube(2.0), 24.0, 7.0),
        (fixtures::cylinder(2.0, 5.0), TAU * 2.0 * 5.0 + TAU * 4.0, PI * 20.0),
        (fixtures::cylinder_without_seam(2.0, 5.0), TAU * 2.0 * 5.0 + TAU * 4.0, PI * 20.0),
        (fixtures::cylinder_halves(2.0, 5.0), TAU * 2.0 * 5.0 + TAU * 4.0, PI * 20.0),
        (fixtures::sphere(3.0), 36.0 * PI, 36.0 * PI),
        (fixtures::sphere_with_seam(3.0), 36.0 * PI, 36.0 * PI),
        (fixtures::hemisphere(3.0), 27.0 * PI, 18.0 * PI),
        (fixtures::torus(5.0, 2.0), 4.0 * PI * PI * 10.0, 2.0 * PI * PI * 20.0),
        (fixtures::torus_with_seams(5.0, 2.0), 4.0 * PI * PI * 10.0, 2.0 * PI * PI * 20.0),
        (fixtures::cone(1.0, 2.0), PI * (s + 1.0), PI * 2.0 / 3.0),
        (fixtures::cone_with_seam(1.0, 2.0), PI * (s + 1.0), PI * 2.0 / 3.0),
        (fixtures::half_cone(1.0, 2.0), 0.5 * PI * (s + 1.0) + 2.0, PI / 3.0),
        (fixtures::block_with_hole(3.0, 4.0, 1.0), 2.0 * (36.0 - PI) + 96.0 + TAU * 4.0, 144.0 - PI * 4.0),
        (fixtures::hollow_sphere(3.0, 1.0), 40.0 * PI, 36.0 * PI - 4.0 / 3.0 * PI),
        (fixtures::stadium(4.0, 1.0, 3.0), 2.0 * (PI + 8.0) + 3.0 * (TAU + 8.0), 3.0 * (PI + 8.0)),
        (fixtures::apple(1.0, 2.0), spindle.0, spindle.1),
        (fixtures::ball_wedge(3.0, 1.0), 18.0 + 9.0 * PI, 18.0),
        (fixtures::ball_wedge(3.0, 5.0), 90.0 + 9.0 * PI, 90.0),
    ];
    for (source, area, volume) in &cases {
        let solid = built(source);
        assert_close(solid.area, *area, &format!("area of {}", source.name));
        assert_close(solid.volume, *volume, &format!("volume of {}", source.name));
        assert!(solid.remarks.is_empty(), "{}: {:?}", source.name, solid.remarks);
        for v in &source.vertices {
            assert!(solid.bounds.contains(&v.point), "{}: a vertex is outside the box", source.name);
        }
        for e in &solid.edges {
            assert_eq!(e.sides.len(), 2, "{}", source.name);
            for side in &e.sides {
                assert_eq!(side.joints.len(), side.pcurve.len() + 1, "{}", source.name);
                assert!(
                    side.deviation <= 2e-8 * solid.bounds.diagonal(),
                    "{}: {}",
                    source.name,
                    side.deviation
                );
            }
        }
    }
}

#[test]
fn domains_agree_with_the_solid() {
    // Points on the top of a block with a hole are inside if and only if they are outside the circle.
    let solid = built(&fixtures::block_with_hole(3.0, 4.0, 1.0));
    let mut rng = SmallRng::seed_from_u64(7);
    for (face, info) in solid.shell.faces.iter().zip(&solid.faces) {
        let (cells, wrong) = TrimCells::build(&info.domain);
        assert!(wrong.is_empty(), "{wrong:?}");
        for _ in 0..500 {
            let (s, t) = (rng.random_range(0.0..1.0), rng.random_range(0.0..1.0));
            let r = info.domain.rect;
            let uv = P2::new(r.u0 + (r.u1 - r.u0) * s, r.v0 + (r.v1 - r.v0) * t);
            let p = face.surface.point(uv);
            let outside = matches!(face.surface, Surface::Plane { frame } if frame.z.z.abs() > 0.5)
                && math::hypot(p.x, p.y) < 1.0;
            assert_eq!(cells.classify(uv) == Side::Outside, outside, "{p}");
        }
    }
}

#[test]
fn nothing_depends_on_place_or_unit() {
    let mut rng = SmallRng::seed_from_u64(11);
    for source in [
        fixtures::block_with_hole(3.0, 4.0, 1.0),
        fixtures::cone_with_seam(1.0, 2.0),
        fixtures::half_cone(1.0, 2.0),
        fixtures::hollow_sphere(3.0, 1.0),
        fixtures::torus_with_seams(5.0, 2.0),
        fixtures::apple(1.0, 2.0),
        fixtures::ball_wedge(3.0, 5.0),
        fixtures::stadium(4.0, 1.0, 3.0),
        oblique_cylinder(0.5, 0.0),
        drop_prism(false),
    ] {
        let reference = built(&source);
        for f in [1e-3, 1.0, 1e3] {
            let mut random = || rng.random_range(-1.0..1.0);
            let axis = V3::new(random(), random(), random());
            let pose = feeler_geom::Pose::new(V3::new(random(), random(), random()) * (20.0 * f), axis * 3.0);
            let mut moved = source.clone();
            for v in &mut moved.vertices {
                v.point = pose * P3::from(v.point.coords * f);
            }
            for e in &mut moved.edges {
                e.curve = e.curve.scaled(f).transformed(&pose);
            }
            for face in &mut moved.faces {
                face.surface = face.surface.scaled(f).transformed(&pose);
            }
            let solid = built(&moved);
            let what = format!("{} × {f}", source.name);
            assert_close(solid.volume / (f * f * f), reference.volume, &what);
            assert_close(solid.area / (f * f), reference.area, &what);
            assert_eq!(statuses(&solid), statuses(&reference), "{what}");
            assert_eq!(vertex_kinds(&solid), vertex_kinds(&reference), "{what}");
        }
    }
}

#[test]
fn nonsense_is_refused_without_a_panic() {
    let fixtures = [
        fixtures::block([0.0; 3], [1.0, 2.0, 3.0]),
        fixtures::block_with_hole(3.0, 4.0, 1.0),
        fixtures::cone_with_seam(1.0, 2.0),
        fixtures::half_cone(1.0, 2.0),
        fixtures::torus_with_seams(5.0, 2.0),
        fixtures::apple(1.0, 2.0),
        fixtures::ball_wedge(3.0, 5.0),
        fixtures::stadium(4.0, 1.0, 3.0),
        drop_prism(false),
        drop_prism(true),
    ];
    let mut rng = SmallRng::seed_from_u64(12);
    let mut refused = 0;
    for round in 0..600 {
        let mut s = fixtures[round % fixtures.len()].clone();
        for _ in 0..rng.random_range(1..4) {
            mutate(&mut s, &mut rng);
        }
        match build_solid(&s, &BuildOptions::default()) {
            Ok(solid) => assert!(solid.volume > 0.0 && solid.volume.is_finite(), "{}", solid.volume),
            Err(e) => {
                refused += 1;
                assert!(!e.problems.is_empty() && e.to_string().len() > 20, "a reason is given: {e}");
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

fn mutate(s: &mut SolidSource, rng: &mut SmallRng) {
    let wild =
        |rng: &mut SmallRng| [0.0, -1.0, 1e-300, 1e300, f64::NAN, f64::INFINITY, 0.7][rng.random_range(0..7)];
    let n_edges = feeler_geom::count::index(s.edges.len());
    let n_vertices = feeler_geom::count::index(s.vertices.len());
    let pick = |n: usize, rng: &mut SmallRng| rng.random_range(0..n.max(1));
    match rng.random_range(0..9) {
        0 if n_vertices > 0 => {
            let (i, k) = (pick(s.vertices.len(), rng), rng.random_range(0..3));
            s.vertices[i].point[k] += wild(rng);
        }
        1 if n_edges > 0 => {
            let i = pick(s.edges.len(), rng);
            s.edges[i].same_sense ^= true;
        }
        2 if n_edges > 0 => {
            let i = pick(s.edges.len(), rng);
            s.edges[i].start = rng.random_range(0..n_vertices + 1);
        }
        3 if n_edges > 0 => {
            let i = pick(s.edges.len(), rng);
            match &mut s.edges[i].curve {
                Curve::Circle { radius, .. } => *radius *= wild(rng),
                Curve::Line { dir, .. } => *dir *= wild(rng),
                Curve::Bezier(b) => {
                    let k = pick(b.control.len(), rng);
                    b.control[k].x = wild(rng);
                }
                _ => {}
            }
        }
        4 if !s.faces.is_empty() => {
            let i = pick(s.faces.len(), rng);
            s.faces[i].outward ^= true;
        }
        5 if !s.faces.is_empty() => {
            let i = pick(s.faces.len(), rng);
            match &mut s.faces[i].surface {
                Surface::Cylinder { radius, .. } | Surface::Sphere { radius, .. } => *radius *= wild(rng),
                Surface::Torus { major, .. } => *major *= wild(rng),
                Surface::Cone { half_angle, .. } => *half_angle *= wild(rng),
                Surface::Plane { frame } => frame.z *= wild(rng),
                Surface::Bezier(b) => {
                    let k = pick(b.control.len(), rng);
                    b.control[k].w = wild(rng);
                }
            }
        }
        6 if !s.faces.is_empty() => {
            let i = pick(s.faces.len(), rng);
            s.faces.remove(i);
        }
        7 if !s.faces.is_empty() => {
            let i = pick(s.faces.len(), rng);
            s.faces[i].loops.pop();
        }
        _ if !s.faces.is_empty() => {
            let i = pick(s.faces.len(), rng);
            if let Some(LoopSource::Edges(walk)) = s.faces[i].loops.first_mut() {
                let k = pick(walk.len(), rng);
                walk[k] = (rng.random_range(0..n_edges + 1), rng.random_range(0..2) == 0);
            }
        }
        _ => {}
    }
}
