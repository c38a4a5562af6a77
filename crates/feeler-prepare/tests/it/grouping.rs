//! Tests of supermaximal features of solids whose pieces have different frames.
#![expect(clippy::unwrap_used, reason = "test helpers")]

use crate::common::Checker;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::fixtures::{self, SourceBuilder};
use feeler_brep::source::LoopSource;
use feeler_brep::{Solid, SolidSource};
use feeler_geom::trim::Side;
use feeler_geom::{Curve, Frame, P2, P3, Surface, V3, math};
use feeler_hierarchy::{Hierarchy, Instance, Options};
use feeler_prepare::{prepare_model, prepare_solid};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::TAU;

fn prepared(source: &SolidSource) -> (Solid, Hierarchy) {
    let solid = build_solid(source, &BuildOptions::default()).unwrap();
    let h = prepare_solid(&solid, &Options { flatness: 0.5 }).unwrap();
    Checker::new(&solid, &h, 2000).all();
    (solid, h)
}

fn counts(h: &Hierarchy) -> [usize; 3] {
    [h.faces.len(), h.edges.len(), h.vertices.len()]
}

fn random_unit(rng: &mut SmallRng) -> V3 {
    loop {
        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if (0.1..1.0).contains(&v.norm()) {
            return v.normalize();
        }
    }
}

#[test]
fn coplanar_faces_and_collinear_edges_of_a_channel() {
    let u = [[0.0, 0.0], [9.0, 0.0], [9.0, 5.0], [6.0, 5.0], [6.0, 2.0], [3.0, 2.0], [3.0, 5.0], [0.0, 5.0]];
    let (_, h) = prepared(&fixtures::prism(&u, 4.0));
    // Two of the ten faces (the rims) merge. Two of the 24 edges are concave, and the outer edges of the
    // rims lie on two lines.
    assert_eq!(counts(&h), [9, 20, 16], "features");
    let two: Vec<_> = h.edges.iter().filter(|e| e.spans.len() == 2).collect();
    assert_eq!(two.len(), 2, "two lines have two spans");
    for e in two {
        assert!(e.spans[0].t1 < e.spans[1].t0, "disjoint and in order: {:?}", e.spans);
        let length: f64 = e.spans.iter().map(|s| s.t1 - s.t0).sum();
        assert!((length - 6.0).abs() < 1e-12, "two rims of 3 mm each");
    }
    let rim = h.faces.iter().find(|f| f.sources.len() == 2).expect("no face has two sources");
    assert!(rim.sources.iter().all(|s| s.1.is_some()), "each source keeps its own domain");
}

/// Block whose top consists of two faces; the frame of the second one is mirrored, so that its natural
/// normal points down.
fn block_with_split_top() -> SolidSource {
    let mut b = SourceBuilder::new();
    let (l, w, h) = (6.0, 3.0, 2.0);
    let low = [b.vertex(0.0, 0.0, 0.0), b.vertex(l, 0.0, 0.0), b.vertex(l, w, 0.0), b.vertex(0.0, w, 0.0)];
    let high = [b.vertex(0.0, 0.0, h), b.vertex(l, 0.0, h), b.vertex(l, w, h), b.vertex(0.0, w, h)];
    let (front, back) = (b.vertex(2.0, 0.0, h), b.vertex(2.0, w, h));
    b.polygon(&[&[low[3], low[2], low[1], low[0]]]);
    b.polygon(&[&[low[0], low[1], high[1], front, high[0]]]);
    b.polygon(&[&[low[1], low[2], high[2], high[1]]]);
    b.polygon(&[&[low[2], low[3], high[3], back, high[2]]]);
    b.polygon(&[&[low[3], low[0], high[0], high[3]]]);
    b.polygon(&[&[high[0], front, back, high[3]]]);
    let down = Frame::from_z(P3::new(5.0, 1.0, h), -V3::z(), Some(V3::new(0.6, 0.8, 0.0))).unwrap();
    let ring = b.ring(&[front, high[1], high[2], back]);
    b.face(Surface::Plane { frame: down }, false, vec![ring]);
    b.finish("split top")
}

#[test]
fn a_mirrored_frame_and_a_joined_line() {
    let (_, h) = prepared(&block_with_split_top());
    assert_eq!(counts(&h), [6, 12, 8], "the merged block has the features of a plain block");
    assert!(h.edges.iter().all(|e| e.spans.len() == 1), "the halves of the long edges are joined");
    let mut lengths: Vec<f64> = h.edges.iter().map(|e| e.spans[0].t1 - e.spans[0].t0).collect();
    lengths.sort_by(f64::total_cmp);
    assert!((lengths[11] - 6.0).abs() < 1e-12 && (lengths[8] - 6.0).abs() < 1e-12, "{lengths:?}");
}

/// Cylinder of two halves; the second half and its circles have frames that are reversed, shifted and
/// rotated.
fn halves_with_own_frames() -> SolidSource {
    let (r, height) = (3.0, 5.0);
    let at = |z: f64| Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() };
    let turned =
        |z: f64| Frame::from_z(P3::new(0.0, 0.0, z), -V3::z(), Some(V3::new(0.8, -0.6, 0.0))).unwrap();
    let mut b = SourceBuilder::new();
    let [low_0, low_1] = [b.vertex(r, 0.0, 0.0), b.vertex(-r, 0.0, 0.0)];
    let [high_0, high_1] = [b.vertex(r, 0.0, height), b.vertex(-r, 0.0, height)];
    let circle = |frame| Curve::Circle { frame, radius: r };
    // The reversed circles run clockwise seen from above, from vertex 0 to vertex 1 along negative y.
    let [bottom_0, bottom_1] =
        [b.edge(circle(at(0.0)), low_0, low_1), b.edge(circle(turned(0.0)), low_0, low_1)];
    let [top_0, top_1] =
        [b.edge(circle(at(height)), high_0, high_1), b.edge(circle(turned(height)), high_0, high_1)];
    let ((line_0, _), (line_1, _)) = (b.line(low_0, high_0), b.line(low_1, high_1));
    let side = |frame| Surface::Cylinder { frame, radius: r };
    let edges = |e: &[(u32, bool)]| vec![LoopSource::Edges(e.to_vec())];
    b.face(side(at(0.0)), true, edges(&[(bottom_0, true), (line_1, true), (top_0, false), (line_0, false)]));
    b.face(
        side(turned(17.0)),
        true,
        edges(&[(bottom_1, false), (line_0, true), (top_1, true), (line_1, false)]),
    );
    b.face(Surface::Plane { frame: at(0.0) }, false, edges(&[(bottom_1, true), (bottom_0, false)]));
    b.face(Surface::Plane { frame: at(height) }, true, edges(&[(top_0, true), (top_1, false)]));
    b.finish("halves")
}

#[test]
fn half_cylinders_and_half_circles_with_opposite_axes() {
    let (_, h) = prepared(&halves_with_own_frames());
    assert_eq!(counts(&h), [3, 2, 0], "a barrel, two discs, two circles");
    for e in &h.edges {
        assert!(e.closed && e.spans.len() == 1, "closed: {:?}", e.spans);
        assert!((e.spans[0].t1 - e.spans[0].t0 - TAU).abs() < 1e-12, "a full turn");
    }
}

/// Ball of eight octants, or the upper four and a disc, each on a sphere with a different axis.
fn octants(rng: &mut SmallRng, whole: bool) -> SolidSource {
    let r = 4.0;
    let mut b = SourceBuilder::new();
    let axes = [V3::x(), V3::y(), V3::z(), -V3::x(), -V3::y(), -V3::z()];
    let n = if whole { 6 } else { 5 };
    let vertices: Vec<u32> = axes[..n].iter().map(|a| b.vertex(r * a.x, r * a.y, r * a.z)).collect();
    let mut arcs: Vec<(usize, usize, u32)> = vec![];
    let mut arc = |b: &mut SourceBuilder, i: usize, j: usize| -> (u32, bool) {
        if let Some(a) = arcs.iter().find(|a| (a.0, a.1) == (i, j) || (a.1, a.0) == (i, j)) {
            return (a.2, a.0 == i);
        }
        let frame = Frame::from_z(P3::origin(), axes[i].cross(&axes[j]), Some(axes[i])).unwrap();
        let e = b.edge(Curve::Circle { frame, radius: r }, vertices[i], vertices[j]);
        arcs.push((i, j, e));
        (e, true)
    };
    let mut equator = vec![];
    for k in 0..4 {
        let (i, j) = ([0, 1, 3, 4][k], [1, 3, 4, 0][k]);
        for pole in if whole { vec![2, 5] } else { vec![2] } {
            let (i, j) = if pole == 2 { (i, j) } else { (j, i) };
            let ring = vec![arc(&mut b, i, j), arc(&mut b, j, pole), arc(&mut b, pole, i)];
            let frame = Frame::from_z(P3::origin(), random_unit(rng), Some(random_unit(rng))).unwrap();
            b.face(Surface::Sphere { frame, radius: r }, true, vec![LoopSource::Edges(ring)]);
        }
        equator.push(arc(&mut b, i, j));
    }
    if !whole {
        let ring = equator.into_iter().rev().map(|(e, forward)| (e, !forward)).collect();
        b.face(Surface::Plane { frame: Frame::identity() }, false, vec![LoopSource::Edges(ring)]);
    }
    b.finish("octants")
}

#[test]
fn spheres_with_own_axes_become_one() {
    let mut rng = SmallRng::seed_from_u64(3);
    for _ in 0..5 {
        let (_, h) = prepared(&octants(&mut rng, true));
        assert_eq!(counts(&h), [1, 0, 0], "a whole sphere");
        assert_eq!(h.faces[0].sources.len(), 8, "the sphere has eight source faces");
        let (_, h) = prepared(&octants(&mut rng, false));
        assert_eq!(counts(&h), [2, 1, 0], "a dome, a disc and a circle");
        assert!(h.edges[0].closed, "the circle is closed");
        // Each point of the dome is in one octant, except on their borders.
        let dome = h.faces.iter().find(|f| f.sources.len() == 4).expect("no face has four sources");
        for _ in 0..500 {
            let p = P3::from(random_unit(&mut rng) * 4.0);
            let uv = dome.surface.invert(&p, None, None);
            let n =
                dome.sources.iter().filter(|s| s.1.as_ref().unwrap().classify(uv) == Side::Inside).count();
            let near_border = [p.x, p.y, p.z].iter().any(|c| c.abs() < 1e-6);
            assert!(near_border || n == usize::from(p.z > 0.0), "{p:?} is in {n} octants");
        }
    }
}

#[test]
fn nested_faces_of_one_plane() {
    // Square rim around a square pit with an island as high as the rim.
    let mut b = SourceBuilder::new();
    let ring = |b: &mut SourceBuilder, s: f64, z: f64| {
        [[-s, -s], [s, -s], [s, s], [-s, s]].map(|p| b.vertex(p[0], p[1], z))
    };
    let (foot, rim, inner) = (ring(&mut b, 9.0, -4.0), ring(&mut b, 9.0, 0.0), ring(&mut b, 6.0, 0.0));
    let (floor, island_foot, island) =
        (ring(&mut b, 6.0, -2.0), ring(&mut b, 2.0, -2.0), ring(&mut b, 2.0, 0.0));
    let reversed = |r: [u32; 4]| [r[3], r[2], r[1], r[0]];
    b.polygon(&[&reversed(foot)]);
    b.polygon(&[&rim, &reversed(inner)]);
    b.polygon(&[&floor, &reversed(island_foot)]);
    b.polygon(&[&island]);
    for k in 0..4 {
        let j = (k + 1) % 4;
        b.polygon(&[&[foot[k], foot[j], rim[j], rim[k]]]);
        b.polygon(&[&[floor[j], floor[k], inner[k], inner[j]]]);
        b.polygon(&[&[island_foot[k], island_foot[j], island[j], island[k]]]);
    }
    let (_, h) = prepared(&b.finish("pit"));
    assert_eq!(h.faces.len(), 3 + 12, "rim and island are one face");
    let top = h.faces.iter().find(|f| f.sources.len() == 2).expect("rim and island are not merged");
    let at = |x: f64, y: f64| top.trim.classify(top.surface.invert(&P3::new(x, y, 0.0), None, None));
    assert_eq!(
        [at(0.0, 1.0), at(4.0, 0.0), at(7.0, 7.0)],
        [Side::Inside, Side::Outside, Side::Inside],
        "nested"
    );
}

#[test]
fn equal_radii_on_other_axes_stay_apart() {
    let plate = {
        let mut b = SourceBuilder::new();
        let hole = |b: &mut SourceBuilder, x: f64| {
            let frame = move |z: f64| Frame { origin: P3::new(x, 0.0, z), ..Frame::identity() };
            let (low, high) = (b.vertex(x + 1.0, 0.0, 0.0), b.vertex(x + 1.0, 0.0, 3.0));
            (frame, b.circle(frame(0.0), 1.0, low), b.circle(frame(3.0), 1.0, high))
        };
        let corners = [[-9.0, -4.0], [9.0, -4.0], [9.0, 4.0], [-9.0, 4.0]];
        let low = corners.map(|p| b.vertex(p[0], p[1], 0.0));
        let high = corners.map(|p| b.vertex(p[0], p[1], 3.0));
        let holes = [hole(&mut b, -4.0), hole(&mut b, 4.0 + 1e-5), hole(&mut b, 0.0)];
        let mut bottom = vec![b.ring(&[low[3], low[2], low[1], low[0]])];
        let mut top = vec![b.ring(&high)];
        for (frame, c0, c1) in holes {
            let loops = vec![LoopSource::Edges(vec![(c0, false)]), LoopSource::Edges(vec![(c1, true)])];
            b.face(Surface::Cylinder { frame: frame(0.0), radius: 1.0 }, false, loops);
            bottom.push(LoopSource::Edges(vec![(c0, true)]));
            top.push(LoopSource::Edges(vec![(c1, false)]));
        }
        b.face(Surface::Plane { frame: Frame::identity() }, false, bottom);
        b.face(
            Surface::Plane { frame: Frame { origin: P3::new(0.0, 0.0, 3.0), ..Frame::identity() } },
            true,
            top,
        );
        for k in 0..4 {
            let j = (k + 1) % 4;
            b.polygon(&[&[low[k], low[j], high[j], high[k]]]);
        }
        b.finish("plate")
    };
    let (_, h) = prepared(&plate);
    assert_eq!(counts(&h), [9, 12 + 6, 8], "three bores");
}

#[test]
fn a_model_of_two_solids() {
    let solids: Vec<Solid> = [fixtures::sphere(2.0), fixtures::block([0.0; 3], [1.0; 3])]
        .iter()
        .map(|s| build_solid(s, &BuildOptions::default()).unwrap())
        .collect();
    let instance = |solid: u32, x: f64| Instance {
        solid,
        name: format!("part {solid}"),
        path: format!("root/part {solid}"),
        translation: [x, 0.0, 0.0],
        rotation: [0.0, 0.0, 0.0, 1.0],
    };
    let instances = vec![instance(0, 0.0), instance(1, 5.0), instance(0, -7.0)];
    let model = prepare_model("two.step", 7, &solids, instances, &Options { flatness: 0.5 }).unwrap();
    assert_eq!((model.solids.len(), model.instances.len()), (2, 3), "numbers of solids and instances");
    feeler_hierarchy::validate::check_well_formed(&model).unwrap();
    let again =
        prepare_model("two.step", 7, &solids, model.instances.clone(), &Options { flatness: 0.5 }).unwrap();
    let bytes = |m| feeler_hierarchy::file::encode(m);
    assert_eq!(bytes(&model).unwrap(), bytes(&again).unwrap(), "equal inputs give equal bytes");
    let p = model.solids[0].faces[0].surface.point(P2::new(0.3, 0.2));
    assert!((math::hypot(math::hypot(p.x, p.y), p.z) - 2.0).abs() < 1e-12, "the sphere keeps its radius");
}
