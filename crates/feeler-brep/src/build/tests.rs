//! Whole solids from the hand-written sources, against closed forms.

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

/// `[real vertices, smooth ones, empty polars]`.
fn vertex_kinds(solid: &Solid) -> [usize; 3] {
    let count = |f: &dyn Fn(&VertexInfo) -> bool| solid.vertices.iter().filter(|v| f(v)).count();
    [
        count(&|v| !v.smooth && v.polar != VertexPolar::Empty),
        count(&|v| v.smooth),
        count(&|v| !v.smooth && v.polar == VertexPolar::Empty),
    ]
}

#[test]
fn every_fixture_has_its_area_volume_and_box() {
    let s = 5.0_f64.sqrt();
    let spindle = {
        // Apple of major 1, minor 2: Pappus over the outer sheet |v| < a, cos a = -1/2.
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
        assert!(solid.warnings.is_empty(), "{}: {:?}", source.name, solid.warnings);
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
fn edges_have_their_status() {
    for (source, expected) in [
        (fixtures::block([0.0; 3], [1.0; 3]), [12, 0, 0, 0]),
        (fixtures::l_prism(3.0, 1.0, 2.0), [17, 1, 0, 0]),
        (fixtures::notched_cube(2.0), [18, 3, 0, 0]),
        (fixtures::cylinder(2.0, 5.0), [2, 0, 0, 1]),
        (fixtures::cylinder_without_seam(2.0, 5.0), [2, 0, 0, 0]),
        (fixtures::cylinder_halves(2.0, 5.0), [4, 0, 2, 0]),
        (fixtures::sphere_with_seam(3.0), [0, 0, 0, 1]),
        (fixtures::hemisphere(3.0), [1, 0, 0, 0]),
        (fixtures::torus_with_seams(5.0, 2.0), [0, 0, 0, 2]),
        (fixtures::cone(1.0, 2.0), [1, 0, 0, 0]),
        (fixtures::cone_with_seam(1.0, 2.0), [1, 0, 0, 1]),
        (fixtures::half_cone(1.0, 2.0), [4, 0, 0, 0]),
        (fixtures::block_with_hole(3.0, 4.0, 1.0), [14, 0, 0, 0]),
        (fixtures::stadium(4.0, 1.0, 3.0), [8, 0, 4, 0]),
        (fixtures::ball_wedge(3.0, 1.0), [3, 0, 0, 0]),
        (fixtures::ball_wedge(3.0, 5.0), [2, 1, 0, 0]),
    ] {
        let solid = built(&source);
        assert_eq!(statuses(&solid), expected, "{}", source.name);
    }
    let solid = built(&fixtures::half_cone(1.0, 2.0));
    // A ruling of the cut: the plane meets the cone at a right angle.
    assert!(solid.edges.iter().any(|e| (e.dihedral.0 - FRAC_PI_2).abs() < 1e-9), "{:?}", solid.edges);
}

#[test]
fn vertices_have_their_kind() {
    for (source, expected) in [
        (fixtures::block([0.0; 3], [1.0; 3]), [8, 0, 0]),
        // At the ends of a concave edge the polar is the normal of the third face.
        (fixtures::l_prism(3.0, 1.0, 2.0), [12, 0, 0]),
        (fixtures::notched_cube(2.0), [13, 0, 1]),
        (fixtures::cylinder(2.0, 5.0), [0, 2, 0]),
        (fixtures::cylinder_without_seam(2.0, 5.0), [0, 2, 0]),
        (fixtures::cylinder_halves(2.0, 5.0), [4, 0, 0]),
        (fixtures::sphere_with_seam(3.0), [0, 2, 0]),
        (fixtures::hemisphere(3.0), [0, 1, 0]),
        (fixtures::torus_with_seams(5.0, 2.0), [0, 1, 0]),
        (fixtures::cone(1.0, 2.0), [1, 1, 0]),
        (fixtures::cone_with_seam(1.0, 2.0), [1, 1, 0]),
        (fixtures::half_cone(1.0, 2.0), [3, 0, 0]),
        (fixtures::block_with_hole(3.0, 4.0, 1.0), [8, 2, 0]),
        // The dimples are pits.
        (fixtures::apple(1.0, 2.0), [0, 0, 2]),
        (fixtures::ball_wedge(3.0, 1.0), [2, 0, 0]),
        (fixtures::ball_wedge(3.0, 5.0), [2, 0, 0]),
    ] {
        let solid = built(&source);
        assert_eq!(vertex_kinds(&solid), expected, "{}: {:?}", source.name, solid.vertices);
    }
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

#[test]
fn polars_of_convex_vertices_are_those_of_the_definition() {
    // Cube corner: the octant.
    let cube = built(&fixtures::block([0.0; 3], [1.0; 3]));
    let corner = vertex_at(&cube, [1.0, 1.0, 1.0]);
    assert!(matches!(&corner.polar, VertexPolar::Constraints(c) if c.len() == 3), "{:?}", corner.polar);
    // Cone of half-angle φ, tan φ = 1/2: within π/2 - φ of the axis.
    let cone = built(&fixtures::cone(1.0, 2.0));
    let tip = vertex_at(&cone, [0.0, 0.0, 2.0]);
    let seamed = built(&fixtures::cone_with_seam(1.0, 2.0));
    let seamed = vertex_at(&seamed, [0.0, 0.0, 2.0]);
    // Half of it, cut by y = 0: constraints of the rulings with y ≥ 0 only.
    let half = built(&fixtures::half_cone(1.0, 2.0));
    let half = vertex_at(&half, [0.0, 0.0, 2.0]);
    let phi = math::atan2(1.0, 2.0);
    for d in random_directions(1, 4000) {
        assert_eq!(accepts(&corner.polar, &d), d.x >= 0.0 && d.y >= 0.0 && d.z >= 0.0, "cube: {d}");
        let margin = FRAC_PI_2 - phi - math::acos(d.z);
        if margin.abs() > 2e-3 {
            assert_eq!(accepts(&tip.polar, &d), margin > 0.0, "cone tip: {d}");
            assert_eq!(accepts(&seamed.polar, &d), margin > 0.0, "cone tip with a seam: {d}");
        }
        // Support of the half disc at z = 2 - 1 under d: max over rulings (c, s, -2), s ≥ 0.
        let most = if d.y >= 0.0 { math::hypot(d.x, d.y) } else { d.x.abs() };
        let margin = 2.0 * d.z - most;
        if margin.abs() > 5e-3 {
            assert_eq!(accepts(&half.polar, &d), margin > 0.0, "half cone: {d}");
        }
    }
}

#[test]
fn a_vertex_in_the_middle_of_a_plane_or_of_an_edge_is_kept() {
    // A square prism whose top has a vertex in the middle of one side and whose front is two coplanar faces.
    let mut b = SourceBuilder::new();
    let p = |b: &mut SourceBuilder, x: f64, y: f64, z: f64| b.vertex(x, y, z);
    let low: Vec<u32> = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
        .iter()
        .map(|q| p(&mut b, q.0, q.1, 0.0))
        .collect();
    let high: Vec<u32> = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
        .iter()
        .map(|q| p(&mut b, q.0, q.1, 2.0))
        .collect();
    let mid = b.vertex(1.0, 0.0, 1.0);
    let side = b.vertex(0.0, 0.0, 1.0);
    b.polygon(&[&low.iter().rev().copied().collect::<Vec<_>>()]);
    b.polygon(&[&high]);
    b.polygon(&[&[low[0], low[1], mid, side]]);
    b.polygon(&[&[side, mid, high[1], high[0]]]);
    b.polygon(&[&[low[1], low[2], high[2], high[1], mid]]);
    b.polygon(&[&[low[2], low[3], high[3], high[2]]]);
    b.polygon(&[&[low[3], low[4], high[4], high[3]]]);
    b.polygon(&[&[low[4], low[0], side, high[0], high[4]]]);
    let solid = built(&b.finish("split front"));
    assert_close(solid.volume, 8.0, "volume");
    let flat = vertex_at(&solid, [1.0, 0.0, 1.0]);
    let on_edge = vertex_at(&solid, [0.0, 0.0, 1.0]);
    assert!(accepts(&flat.polar, &-V3::y()), "the normal ray stays: {:?}", flat.polar);
    assert!(!flat.smooth && !on_edge.smooth, "three edges meet there");
    for d in random_directions(2, 2000) {
        assert!(!accepts(&flat.polar, &d), "only the normal ray: {d}");
    }
    for k in 0..=10 {
        let (s, c) = math::sin_cos(FRAC_PI_2 * f64::from(k) / 10.0);
        assert!(accepts(&on_edge.polar, &V3::new(-c, -s, 0.0)), "the edge's normals");
        assert!(!accepts(&on_edge.polar, &V3::new(c + 0.1, s, 0.0)), "not the opposite ones");
        assert!(!accepts(&on_edge.polar, &V3::new(-c, -s, 0.01)), "not out of their plane");
    }
}

/// Brute force: `d` is in the polar of the material's tangent cone when no direction that starts inside the material
/// makes an acute angle with it.
#[test]
fn polars_agree_with_the_tangent_cone_of_the_material() {
    type Inside = fn(&V3) -> bool;
    let cases: Vec<(SolidSource, [f64; 3], Inside)> = vec![
        // Directions from the pit / from a rim vertex of the notch that start inside the material.
        (fixtures::notched_cube(2.0), [1.0, 1.0, 1.0], |d| d.x < 0.0 || d.y < 0.0 || d.z < 0.0),
        (fixtures::notched_cube(2.0), [2.0, 1.0, 1.0], |d| d.x < 0.0 && (d.y < 0.0 || d.z < 0.0)),
        (fixtures::notched_cube(2.0), [2.0, 2.0, 1.0], |d| d.x < 0.0 && d.y < 0.0 && d.z < 0.0),
        (fixtures::l_prism(3.0, 1.0, 2.0), [0.0, 0.0, 2.0], |d| d.z < 0.0 && (d.x < 0.0 || d.y < 0.0)),
        (fixtures::l_prism(3.0, 1.0, 2.0), [3.0, 0.0, 2.0], |d| d.z < 0.0 && d.x < 0.0 && d.y < 0.0),
        (fixtures::ball_wedge(3.0, 1.0), [0.0, 0.0, 3.0], |d| {
            d.z < 0.0 && d.y > 0.0 && d.x * math::sin(1.0) > d.y * math::cos(1.0)
        }),
        (fixtures::ball_wedge(3.0, 5.0), [0.0, 0.0, 3.0], |d| {
            d.z < 0.0 && math::turn(math::atan2(d.y, d.x)) < 5.0
        }),
        (fixtures::half_cone(1.0, 2.0), [0.0, 0.0, 2.0], |d| {
            d.y > 0.0 && d.z < 0.0 && math::hypot(d.x, d.y) < -0.5 * d.z
        }),
    ];
    let material = random_directions(3, 20_000);
    for (source, at, inside) in cases {
        let solid = built(&source);
        let polar = &vertex_at(&solid, at).polar;
        let material: Vec<&V3> = material.iter().filter(|d| inside(d)).collect();
        for d in random_directions(4, 500) {
            let worst = material.iter().map(|m| m.dot(&d)).fold(f64::NEG_INFINITY, f64::max);
            // The samples leave gaps of about 0.02 rad.
            if worst.abs() > 0.04 {
                assert_eq!(accepts(polar, &d), worst < 0.0, "{} at {at:?}: {d} ({worst})", source.name);
            }
        }
    }
}

/// A horn between the circles of radius 1 and 2 that touch at the origin, cut off at `x = 1`, as a plate of height 1
/// or as a hole in a square plate.
fn horn(hole: bool) -> SolidSource {
    let mut b = SourceBuilder::new();
    let rim = |b: &mut SourceBuilder, z: f64| {
        let [tip, inner, outer] =
            [b.vertex(0.0, 0.0, z), b.vertex(1.0, 1.0, z), b.vertex(1.0, 3.0_f64.sqrt(), z)];
        let circle = |r: f64| Curve::Circle {
            frame: Frame { origin: P3::new(r, 0.0, z), ..Frame::identity() },
            radius: r,
        };
        // Counter-clockwise: along the large circle to the tip, back along the small one, up the cut.
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
fn cusps_are_empty_or_full_sectors() {
    // Under the large arc minus under the small one, over 0 ≤ x ≤ 1.
    let area = (2.0 * PI / 3.0 - 3.0_f64.sqrt() / 2.0) - FRAC_PI_2 / 2.0;
    let plate = built(&horn(false));
    assert_close(plate.volume, area, "volume of the horn");
    let tip = vertex_at(&plate, [0.0, 0.0, 1.0]);
    // Material directions at the tip: the quarter plane x = 0, y ≥ 0, z ≤ 0.
    for d in random_directions(5, 2000) {
        assert_eq!(accepts(&tip.polar, &d), d.y <= 0.0 && d.z >= 0.0, "horn: {d} {:?}", tip.polar);
    }
    let pierced = built(&horn(true));
    assert_close(pierced.volume, 9.0 - area, "volume of the plate");
    let tip = vertex_at(&pierced, [0.0, 0.0, 1.0]);
    // All of the lower half-space but a slit.
    assert!(accepts(&tip.polar, &V3::z()), "{:?}", tip.polar);
    for d in random_directions(6, 2000) {
        assert!(!accepts(&tip.polar, &d), "horn hole: {d}");
    }
    let razor = |s: &Solid| s.edges.iter().map(|e| e.dihedral).find(|d| d.0.abs() > 3.0);
    assert!(razor(&plate).is_some_and(|d| d.0 > 3.1), "a razor is convex");
    assert!(razor(&pierced).is_some_and(|d| d.1 < -3.1), "a slit is concave");
}

#[test]
fn domains_agree_with_the_solid() {
    // A block with a hole: points of the top are inside iff outside the circle.
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
fn senses_are_honoured() {
    let source = fixtures::cylinder_halves(2.0, 5.0);
    let reference = built(&source);
    let mut turned = source.clone();
    for e in &mut turned.edges {
        // The same edge on the reversed curve.
        e.same_sense = false;
        match &mut e.curve {
            Curve::Line { dir, .. } => *dir = -*dir,
            Curve::Circle { frame, .. } => {
                (frame.y, frame.z) = (-frame.y, -frame.z);
            }
            _ => unreachable!("lines and circles only"),
        }
    }
    let solid = built(&turned);
    assert_close(solid.volume, reference.volume, "volume");
    assert_close(solid.area, reference.area, "area");
    for (e, edge) in solid.shell.edges.iter().zip(&solid.edges) {
        assert!(edge.range.0 < edge.range.1, "ranges increase");
        let ends = (e.curve.point(edge.range.0), e.curve.point(edge.range.1));
        assert!((ends.0 - solid.shell.vertices[e.vertices.0]).norm() < 1e-12, "starts at the first vertex");
        assert!((ends.1 - solid.shell.vertices[e.vertices.1]).norm() < 1e-12, "ends at the second vertex");
    }
}

#[test]
fn broken_solids_are_refused_with_all_their_problems() {
    let mut open = fixtures::block([0.0; 3], [1.0; 3]);
    open.faces.pop();
    let error = build_solid(&open, &BuildOptions::default()).unwrap_err();
    assert_eq!(error.problems.len(), 4, "{error}");
    assert!(error.problems.iter().all(|p| matches!(p, Problem::OpenShell { .. })), "{error}");

    let mut far = fixtures::block([0.0; 3], [1.0; 3]);
    far.vertices[0].point.x = 0.1;
    assert!(build_solid(&far, &BuildOptions::default()).is_err(), "a vertex is off its edges");
    far.vertices[0].point.x = f64::NAN;
    let error = build_solid(&far, &BuildOptions::default()).unwrap_err();
    assert_eq!(error.problems, vec![Problem::BadNumber { entity: far.vertices[0].id }]);

    let mut nowhere = fixtures::block([0.0; 3], [1.0; 3]);
    nowhere.faces[2].loops.push(LoopSource::Edges(vec![(99, true)]));
    let error = build_solid(&nowhere, &BuildOptions::default()).unwrap_err();
    assert_eq!(error.problems, vec![Problem::BadIndex { entity: nowhere.faces[2].id }]);

    let mut none = fixtures::sphere(1.0);
    none.faces.clear();
    let error = build_solid(&none, &BuildOptions::default()).unwrap_err();
    assert_eq!(error.problems, vec![Problem::NoFaces]);
}

#[test]
fn a_loop_that_runs_the_wrong_way_is_turned_round() {
    let mut source = fixtures::block_with_hole(3.0, 4.0, 1.0);
    let reference = built(&source);
    // The hole in the top.
    let LoopSource::Edges(walk) = &mut source.faces[5].loops[1] else { unreachable!("edges") };
    walk[0].1 = !walk[0].1;
    let solid = built(&source);
    assert_close(solid.volume, reference.volume, "volume");
    assert_eq!(solid.warnings.len(), 1, "{:?}", solid.warnings);
}

#[test]
fn a_solid_inside_out_is_turned_round() {
    for source in [
        fixtures::block([0.0; 3], [1.0; 3]),
        fixtures::half_cone(1.0, 2.0),
        fixtures::hollow_sphere(3.0, 1.0),
    ] {
        let reference = built(&source);
        let mut inverted = source.clone();
        for f in &mut inverted.faces {
            f.outward = !f.outward;
            for l in &mut f.loops {
                if let LoopSource::Edges(walk) = l {
                    walk.reverse();
                    walk.iter_mut().for_each(|u| u.1 = !u.1);
                }
            }
        }
        let solid = built(&inverted);
        assert_close(solid.volume, reference.volume, "volume");
        assert_eq!(statuses(&solid), statuses(&reference), "statuses");
        assert_eq!(vertex_kinds(&solid), vertex_kinds(&reference), "vertices");
        assert!(!solid.warnings.is_empty(), "the repair is reported");
    }
}

#[test]
fn a_full_meridian_is_split_at_the_poles() {
    // Two half balls that meet at a disc x = 0: the rim passes through both poles of each half's surface.
    let mut b = SourceBuilder::new();
    let v = b.vertex(0.0, 3.0, 0.0);
    let frame = Frame { origin: P3::origin(), x: V3::y(), y: V3::z(), z: V3::x() };
    let rim = b.circle(frame, 3.0, v);
    let whole = |along: bool| vec![LoopSource::Edges(vec![(rim, along)])];
    b.face(Surface::Sphere { frame: Frame::identity(), radius: 3.0 }, true, whole(true));
    b.face(Surface::Plane { frame }, false, whole(false));
    let solid = built(&b.finish("half ball"));
    assert_close(solid.volume, 18.0 * PI, "volume");
    assert_close(solid.area, 27.0 * PI, "area");
    assert_eq!(solid.edges.len(), 3, "split at two poles");
    assert_eq!(vertex_kinds(&solid), [0, 3, 0], "no vertex is a feature");
}

#[test]
fn an_edge_is_split_where_it_turns_from_convex_to_concave() {
    // A ruled top z = x y / 2 over [-1, 1] × [-1, 1] as a bilinear patch, over a flat bottom with straight sides:
    // no edge changes. Its mirror image glued along y = 0 … instead: two patches meet along the x axis with slopes
    // ± x / 2 in y: a ridge for x < 0, a valley for x > 0.
    use feeler_geom::bezier::{BezierSurface, homogeneous};
    let mut b = SourceBuilder::new();
    let z = |x: f64, y: f64| 2.0 + 0.5 * x * y.abs();
    let top: Vec<u32> = [(-1.0, -1.0), (1.0, -1.0), (1.0, 0.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, 0.0)]
        .iter()
        .map(|p| b.vertex(p.0, p.1, z(p.0, p.1)))
        .collect();
    let low: Vec<u32> = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .iter()
        .map(|p| b.vertex(p.0, p.1, 0.0))
        .collect();
    b.polygon(&[&[low[3], low[2], low[1], low[0]]]);
    b.polygon(&[&[low[0], low[1], top[1], top[0]]]);
    b.polygon(&[&[low[1], low[2], top[3], top[2], top[1]]]);
    b.polygon(&[&[low[2], low[3], top[4], top[3]]]);
    b.polygon(&[&[low[3], low[0], top[0], top[5], top[4]]]);
    let mut patch = |x: [f64; 2], y: [f64; 2], ring: &[u32]| {
        let mut control = vec![];
        for a in x {
            for c in y {
                control.push(homogeneous(&P3::new(a, c, z(a, c)), 1.0));
            }
        }
        let surface = BezierSurface {
            u_degree: 1,
            v_degree: 1,
            u_breaks: vec![0.0, 1.0],
            v_breaks: vec![0.0, 1.0],
            control,
            u_periodic: false,
            v_periodic: false,
        };
        let ring = b.ring(ring);
        b.face(Surface::Bezier(surface), true, vec![ring]);
    };
    patch([-1.0, 1.0], [-1.0, 0.0], &[top[0], top[1], top[2], top[5]]);
    patch([-1.0, 1.0], [0.0, 1.0], &[top[5], top[2], top[3], top[4]]);
    let solid = built(&b.finish("ridge and valley"));
    assert_close(solid.volume, 8.0, "volume");
    let [convex, concave, smooth, seam] = statuses(&solid);
    assert_eq!([concave, smooth, seam], [1, 0, 0], "one half is a valley");
    assert_eq!(convex, 12 + 3, "the other half is a ridge");
    let cut = vertex_at(&solid, [0.0, 0.0, 2.0]);
    assert!(cut.smooth, "the cut is no feature of its own");
}

#[test]
fn faces_that_run_against_their_neighbours_are_turned_round() {
    // A side of a block, given from behind.
    let mut source = fixtures::block([0.0; 3], [1.0, 2.0, 3.0]);
    let f = &mut source.faces[2];
    f.outward = !f.outward;
    for l in &mut f.loops {
        let LoopSource::Edges(walk) = l else { unreachable!("edges") };
        walk.reverse();
        walk.iter_mut().for_each(|u| u.1 = !u.1);
    }
    let solid = built(&source);
    assert_close(solid.volume, 6.0, "volume");
    assert_eq!(solid.warnings.len(), 1, "{:?}", solid.warnings);

    // Only the normal of a side is wrong.
    let mut source = fixtures::cylinder_halves(2.0, 5.0);
    source.faces[1].outward = false;
    let solid = built(&source);
    assert_close(solid.volume, 20.0 * PI, "volume");
    assert_eq!(solid.warnings.len(), 1, "{:?}", solid.warnings);
}

#[test]
fn senses_that_do_not_connect_come_from_the_vertices() {
    let mut source = fixtures::block([0.0; 3], [1.0, 2.0, 3.0]);
    for f in &mut source.faces {
        let LoopSource::Edges(walk) = &mut f.loops[0] else { unreachable!("edges") };
        walk.iter_mut().for_each(|u| u.1 = true);
    }
    let solid = built(&source);
    assert_close(solid.volume, 6.0, "volume");
    assert_close(solid.area, 22.0, "area");
}

#[test]
fn edges_that_exist_twice_are_joined() {
    // Every face of a block with edges of its own.
    let mut source = fixtures::block([0.0; 3], [1.0, 2.0, 3.0]);
    let mut used = vec![false; source.edges.len()];
    let mut edges = source.edges.clone();
    for f in &mut source.faces {
        let LoopSource::Edges(walk) = &mut f.loops[0] else { unreachable!("edges") };
        for u in walk {
            if std::mem::replace(&mut used[u.0 as usize], true) {
                let mut copy = edges[u.0 as usize].clone();
                copy.id += 1000;
                u.0 = draft::index(edges.len());
                edges.push(copy);
            }
        }
    }
    source.edges = edges;
    let solid = built(&source);
    assert_close(solid.volume, 6.0, "volume");
    assert_eq!(solid.edges.len(), 12, "each edge once");
}

#[test]
fn two_blocks_that_touch_at_an_edge_are_two_wedges() {
    // Diagonal neighbours share the upright edge at the origin, which four faces use.
    let mut b = SourceBuilder::new();
    let ring = |b: &mut SourceBuilder, z: f64, shared: Option<[u32; 2]>, s: f64| {
        let o = shared.map_or_else(|| b.vertex(0.0, 0.0, z), |v| v[usize::from(z > 0.5)]);
        [o, b.vertex(s, 0.0, z), b.vertex(s, s, z), b.vertex(0.0, s, z)]
    };
    let mut shared = None;
    for s in [1.0, -1.0] {
        let low = ring(&mut b, 0.0, shared, s);
        let high = ring(&mut b, 1.0, shared, s);
        shared = Some([low[0], high[0]]);
        let mut bottom = low;
        bottom.reverse();
        b.polygon(&[&bottom]);
        b.polygon(&[&high]);
        for i in 0..4 {
            let j = (i + 1) % 4;
            b.polygon(&[&[low[i], low[j], high[j], high[i]]]);
        }
    }
    let source = b.finish("diagonal blocks");
    assert_eq!(source.edges.len(), 23, "one edge is shared");
    let solid = built(&source);
    assert_close(solid.volume, 2.0, "volume");
    assert_eq!(solid.edges.len(), 24, "one edge for each block");
    assert_eq!(statuses(&solid), [24, 0, 0, 0], "each wedge is convex");
}

#[test]
fn flat_faces_and_dead_ends_are_left_out() {
    let mut source = fixtures::block([0.0; 3], [1.0, 2.0, 3.0]);
    // A sliver between an edge and its copy, and an edge from a corner into nowhere in two loops.
    let id = 1000;
    let LoopSource::Edges(walk) = source.faces[0].loops[0].clone() else { unreachable!("edges") };
    let (e, along) = walk[0];
    let copy = crate::source::EdgeSource { id, ..source.edges[e as usize].clone() };
    let copy_index = draft::index(source.edges.len());
    source.edges.push(copy);
    let LoopSource::Edges(first) = &mut source.faces[0].loops[0] else { unreachable!("edges") };
    first[0].0 = copy_index;
    let mut flat = source.faces[0].clone();
    flat.id = id + 1;
    flat.loops = vec![LoopSource::Edges(vec![(e, along), (copy_index, !along)])];
    source.faces.push(flat);
    let corner = source.edges[e as usize].start;
    source.vertices.push(crate::source::VertexSource { id: id + 2, point: P3::new(0.1, 0.0, 0.0) });
    let spur = crate::source::EdgeSource {
        id: id + 3,
        curve: Curve::Line { origin: P3::origin(), dir: V3::x() },
        range: None,
        start: corner,
        end: draft::index(source.vertices.len() - 1),
        same_sense: true,
    };
    source.vertices[corner as usize].point = P3::origin();
    source.edges.push(spur);
    let spur = draft::index(source.edges.len() - 1);
    let LoopSource::Edges(walk) = &mut source.faces[1].loops[0] else { unreachable!("edges") };
    walk.insert(0, (spur, true));
    let solid = built(&source);
    assert_close(solid.volume, 6.0, "volume");
    assert_eq!(solid.edges.len(), 12, "no more edges than a block has");
    assert_eq!(solid.shell.faces.len(), 6, "no more faces than a block has");
    assert_eq!(solid.warnings.len(), 2, "{:?}", solid.warnings);
}

/// Largest distance from dense samples of a pcurve to the edge's curve by brute force.
fn sampled_deviation(solid: &Solid, edge: usize, side: &EdgeSide) -> f64 {
    let curve = &solid.shell.edges[edge].curve;
    let surface = &solid.shell.faces[side.face as usize].surface;
    let mut worst: f64 = 0.0;
    for (piece, t) in side.pcurve.iter().zip(side.joints.windows(2)) {
        for k in 0..=20 {
            let s = f64::from(k) / 20.0;
            let p = surface.point(pcurve::cubic(&piece.control, s).0);
            let q = curve.project(&p, t[0], t[1]);
            worst = worst.max((curve.point(q) - p).norm());
        }
    }
    worst
}

#[test]
fn trimming_curves_are_as_near_as_they_say_and_not_more_pieces_than_needed() {
    for (source, most) in [
        (fixtures::block_with_hole(3.0, 4.0, 1.0), 16),
        (fixtures::stadium(4.0, 1.0, 3.0), 8),
        (fixtures::ball_wedge(3.0, 1.0), 16),
        (horn(true), 8),
    ] {
        let solid = built(&source);
        let tol = 1e-8 * solid.bounds.diagonal();
        for (i, e) in solid.edges.iter().enumerate() {
            for side in &e.sides {
                assert!(side.pcurve.len() <= most, "{}: {} pieces", source.name, side.pcurve.len());
                let sampled = sampled_deviation(&solid, i, side);
                assert!(
                    sampled <= 1.05 * side.deviation + 1e-13,
                    "{}: {sampled} {}",
                    source.name,
                    side.deviation
                );
                assert!(side.deviation <= 2.0 * tol, "{}: {}", source.name, side.deviation);
            }
        }
    }
}

/// A cylinder of radius 1 cut off at the bottom by `z = 0` and on top by `z = 2 + slope x`.
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

#[test]
fn an_ellipse_on_a_cylinder_is_fitted_and_a_loose_edge_only_measured() {
    let solid = built(&oblique_cylinder(0.5, 0.0));
    assert_close(solid.volume, 2.0 * PI, "volume");
    assert_close(solid.area, 4.0 * PI + PI + PI * math::hypot(1.0, 0.5), "area");
    let exact = &solid.edges[1].sides;
    assert!(exact.iter().all(|s| s.deviation < 1e-7), "{exact:?}");
    // The same edge 1e-4 off its plane, along its normal: as many pieces, a deviation of just that.
    let loose = built(&oblique_cylinder(0.5, 1e-4));
    for (a, b) in exact.iter().zip(&loose.edges[1].sides) {
        assert_eq!(a.pcurve.len(), b.pcurve.len(), "the distance drives no pieces");
    }
    let off = 1e-4 / math::hypot(1.0, 0.5);
    let on_plane = &loose.edges[1].sides[1];
    assert!(
        off <= on_plane.deviation && on_plane.deviation < 1.06 * off,
        "{} is not {off}",
        on_plane.deviation
    );
    assert_eq!(statuses(&loose), [2, 0, 0, 0], "still convex");
}

/// A drop-shaped prism whose side is one spline face that meets itself in a sharp edge.
fn drop_prism(close_smoothly: bool) -> SolidSource {
    use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};
    let mut b = SourceBuilder::new();
    // Counter-clockwise from the tip at the origin; the smooth variant leaves and arrives along one line.
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

#[test]
fn a_face_may_meet_itself_in_a_sharp_edge() {
    let area_of = |source: &SolidSource| {
        let Curve::Bezier(s) = &source.edges[0].curve else { unreachable!("a spline") };
        // ½ ∮ x dy - y dx by a fine polygon.
        let n = 200_000;
        let at = |k: i32| Curve::Bezier(s.clone()).point(f64::from(k) / f64::from(n));
        (0..n).map(|k| 0.5 * (at(k).x * at(k + 1).y - at(k).y * at(k + 1).x)).sum::<f64>()
    };
    let sharp = drop_prism(false);
    let solid = built(&sharp);
    assert_close(solid.volume, area_of(&sharp), "volume of the drop");
    assert_eq!(statuses(&solid), [3, 0, 0, 0], "the seam is a real edge");
    let seam = &solid.edges[2];
    let us: Vec<f64> = seam.sides.iter().map(|s| s.pcurve[0].control[0].x).collect();
    assert_eq!(seam.sides[0].face, seam.sides[1].face, "one face on both sides");
    assert!((us[0] - us[1]).abs() > 0.999, "on two sides of the parameter plane: {us:?}");
    assert_eq!(vertex_kinds(&solid), [2, 0, 0], "its ends are real vertices");

    let smooth = drop_prism(true);
    let solid = built(&smooth);
    assert_close(solid.volume, area_of(&smooth), "volume of the smooth drop");
    assert_eq!(statuses(&solid), [2, 0, 0, 1], "the seam is none");
    assert_eq!(vertex_kinds(&solid), [0, 2, 0], "nor are its ends vertices");
    let seam = &solid.edges[2];
    let us: Vec<f64> = seam.sides.iter().map(|s| s.pcurve[0].control[0].x).collect();
    assert!(((us[0] - us[1]).abs() - 1.0).abs() < 1e-9, "one period apart: {us:?}");
}

#[test]
fn splines_are_split_at_kinks_and_closed_ones_started_anywhere() {
    use feeler_geom::bezier::{BezierSpline, homogeneous};
    // A square outline as one closed spline of degree 1 and as one that starts in the middle of a side.
    let corners = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [0.0, 0.0]];
    for start in [[0.0, 0.0], [1.0, 0.0]] {
        let mut b = SourceBuilder::new();
        let mut rim = |z: f64| {
            let control = corners
                .windows(2)
                .flat_map(|w| [w[0], w[1]])
                .map(|p| homogeneous(&P3::new(p[0], p[1], z), 1.0))
                .collect();
            let breaks = (0..5).map(f64::from).collect();
            let spline = BezierSpline { degree: 1, breaks, control, periodic: false };
            let v = b.vertex(start[0], start[1], z);
            b.edge(Curve::Bezier(spline), v, v)
        };
        let (bottom, top) = (rim(0.0), rim(3.0));
        let level =
            |z: f64| Surface::Plane { frame: Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() } };
        b.face(level(0.0), false, vec![LoopSource::Edges(vec![(bottom, false)])]);
        b.face(level(3.0), true, vec![LoopSource::Edges(vec![(top, true)])]);
        let mut source = b.finish("outlines");
        // No sides: the shell is open, but both outlines are split.
        let options = BuildOptions::default();
        let mut report = Report::default();
        let mut draft = edges::draft(&source, &options, &mut report).unwrap();
        split_at_kinks(&mut draft, &options);
        let expected = if start[0] > 0.5 { 10 } else { 8 };
        assert_eq!(draft.edges.len(), expected, "{start:?}");
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        adjacency::check(&draft, &draft.uses(), &mut report);
        assert!(
            report.problems.iter().all(|p| matches!(p, Problem::OpenShell { .. })),
            "{:?}",
            report.problems
        );
        source.faces.pop();
    }
}

#[test]
fn patches_with_sides_that_are_points_close() {
    use feeler_geom::bezier::{BezierSurface, homogeneous};
    // A wedge of a cone over a quarter disc as a patch whose side u = 0 is the apex at (0, 0, 2); v turns.
    let w = 0.5_f64.sqrt();
    let arc = [([1.0, 0.0], 1.0), ([1.0, 1.0], w), ([0.0, 1.0], 1.0)];
    let apex = P3::new(0.0, 0.0, 2.0);
    let mut control: Vec<_> = arc.iter().map(|(_, w)| homogeneous(&apex, *w)).collect();
    control.extend(arc.iter().map(|(p, w)| homogeneous(&P3::new(p[0], p[1], 0.0), *w)));
    let surface = BezierSurface {
        u_degree: 1,
        v_degree: 2,
        u_breaks: vec![0.0, 1.0],
        v_breaks: vec![0.0, 1.0],
        control,
        u_periodic: false,
        v_periodic: false,
    };
    let mut b = SourceBuilder::new();
    let [o, x, y, tip] =
        [b.vertex(0.0, 0.0, 0.0), b.vertex(1.0, 0.0, 0.0), b.vertex(0.0, 1.0, 0.0), b.vertex(0.0, 0.0, 2.0)];
    let rim = b.edge(Curve::Circle { frame: Frame::identity(), radius: 1.0 }, x, y);
    let ((up_x, _), (up_y, _)) = (b.line(x, tip), b.line(y, tip));
    // u runs down, v to the right: the natural normal points outwards.
    b.face(
        Surface::Bezier(surface),
        true,
        vec![LoopSource::Edges(vec![(rim, true), (up_y, true), (up_x, false)])],
    );
    let (from_o, along) = b.line(o, x);
    let (to_o, back) = b.line(y, o);
    let base = LoopSource::Edges(vec![(to_o, !back), (rim, false), (from_o, !along)]);
    b.face(Surface::Plane { frame: Frame::identity() }, false, vec![base]);
    b.polygon(&[&[o, x, tip]]);
    b.polygon(&[&[o, tip, y]]);
    let solid = built(&b.finish("quarter cone"));
    assert_close(solid.volume, PI / 6.0, "volume");
    assert_eq!(statuses(&solid), [6, 0, 0, 0], "all convex");
    let tip = vertex_at(&solid, [0.0, 0.0, 2.0]);
    for d in random_directions(9, 2000) {
        let most = if d.x >= 0.0 && d.y >= 0.0 { math::hypot(d.x, d.y) } else { d.x.max(d.y) };
        let margin = (2.0 * d.z - most.max(0.0)).min(d.z);
        if margin.abs() > 5e-3 {
            assert_eq!(accepts(&tip.polar, &d), margin > 0.0, "{d}");
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
    let n_edges = draft::index(s.edges.len());
    let n_vertices = draft::index(s.vertices.len());
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
