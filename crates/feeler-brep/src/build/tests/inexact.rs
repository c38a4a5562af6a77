//! Tests of inexact geometry: edges off their faces, edges that cross near their common vertex.

use super::*;
use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};

/// A block with the given side lengths whose planes are moved by `by` (mm) along their outward normals,
/// while its edges are unchanged.
fn loose_block(lengths: [f64; 3], by: [f64; 6]) -> SolidSource {
    let mut source = fixtures::block([0.0; 3], lengths);
    for (f, by) in source.faces.iter_mut().zip(by) {
        let Surface::Plane { frame } = &mut f.surface else { unreachable!("planes only") };
        frame.origin += frame.z * if f.outward { by } else { -by };
    }
    source
}

#[test]
fn gaps_along_edges_are_closed_for_the_volume() {
    let lengths = [3.0, 5.0, 2.0];
    let all = 3.0 * 5.0 * 2.0;
    for moved in 0..6 {
        let mut by = [0.0; 6];
        by[moved] = 4e-3;
        let source = loose_block(lengths, by);
        let Surface::Plane { frame } = &source.faces[moved].surface else { unreachable!("planes only") };
        let n = frame.z;
        let area = n.iter().zip(lengths).fold(all, |a, (n, l)| if n.abs() > 0.5 { a / l } else { a });
        // Moving a plane adds a slab, wherever the solid is relative to the origin.
        for shift in [V3::zeros(), V3::new(100.0, -50.0, 20.0)] {
            let mut source = source.clone();
            source.vertices.iter_mut().for_each(|v| v.point += shift);
            for e in &mut source.edges {
                let Curve::Line { origin, .. } = &mut e.curve else { unreachable!("lines only") };
                *origin += shift;
            }
            for f in &mut source.faces {
                let Surface::Plane { frame } = &mut f.surface else { unreachable!("planes only") };
                frame.origin += shift;
            }
            let solid = built(&source);
            let expected = all + 4e-3 * area;
            assert!((solid.volume - expected).abs() < 1e-9, "face {moved}: {} {expected}", solid.volume);
            let c = solid.inertia.as_ref().map_or(P3::origin(), |i| i.centroid) - shift;
            let middle = P3::from(V3::from(lengths) * 0.5);
            assert!((c - middle - n * (n.dot(&(c - middle)))).norm() < 1e-9, "face {moved}: centroid {c}");
        }
    }
}

/// Circles are replaced by curves that leave their faces to either side many times, so that the strips
/// beside them cancel.
#[test]
fn edges_that_wind_about_their_faces_add_nothing() {
    let (radius, height) = (5.0, 200.0);
    let mut source = fixtures::cylinder_halves(radius, height);
    for e in &mut source.edges {
        let Curve::Circle { frame, .. } = e.curve.clone() else { continue };
        // Half a circle, in six cubics that leave it to either side.
        let (from, to) = ([e.start, e.end]).map(|v| frame.local(&source.vertices[v as usize].point)).into();
        let angle = |p: V3| math::atan2(p.y, p.x);
        let (a, b) = (angle(from), angle(to));
        let b = if b <= a { b + TAU } else { b };
        let step = (b - a) / 6.0;
        let k = 4.0 / 3.0 * math::tan(0.25 * step);
        let control = (0..6).flat_map(|i| {
            let at = |t: f64| V3::new(math::cos(t), math::sin(t), 0.0) * radius;
            let turn = |t: f64| V3::new(-math::sin(t), math::cos(t), 0.0) * radius * k;
            let (s, t) = (a + step * f64::from(i), a + step * f64::from(i + 1));
            [at(s), at(s) + turn(s) * 1.01, at(t) - turn(t) * 0.985, at(t)]
        });
        let control = control.map(|p| homogeneous(&frame.point(p.x, p.y, p.z), 1.0)).collect();
        e.curve = Curve::Bezier(BezierSpline {
            degree: 3,
            breaks: (0..=6).map(f64::from).collect(),
            control,
            periodic: false,
        });
    }
    let solid = built(&source);
    let volume = PI * radius * radius * height;
    let deviation = solid.edges.iter().flat_map(|e| &e.sides).fold(0.0, |m: f64, s| m.max(s.deviation));
    assert!(deviation > 1e-4, "{deviation}");
    assert!((solid.volume / volume - 1.0).abs() < 1e-9, "{} {volume}", solid.volume);
}

/// A prism over a pointed profile, which consists of a long straight edge and a curved one that extends
/// below the straight one by `dip` (mm) near the tip.
fn pointed_prism(dip: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let outline = [[0.0, 0.0], [10.0, 0.0], [10.0, 1.0], [3.0, 1.0]];
    let bow = [[3.0, 1.0], [1.5, 0.2], [0.3, -dip], [0.0, 0.0]];
    let at = |p: [f64; 2], z: f64| P3::new(p[0], p[1], z);
    let level = |z: f64| -> BezierSpline {
        BezierSpline {
            degree: 3,
            breaks: vec![0.0, 1.0],
            control: bow.iter().map(|p| homogeneous(&at(*p, z), 1.0)).collect(),
            periodic: false,
        }
    };
    let corners = [0.0, 4.0].map(|z| outline.map(|p| b.vertex(p[0], p[1], z)));
    let bows = [0, 1].map(|k| b.edge(Curve::Bezier(level([0.0, 4.0][k])), corners[k][3], corners[k][0]));
    let rings = [0, 1].map(|k| {
        let mut ring: Vec<(u32, bool)> = (0..3).map(|i| b.line(corners[k][i], corners[k][i + 1])).collect();
        ring.push((bows[k], true));
        ring
    });
    let back = |ring: &[(u32, bool)]| ring.iter().rev().map(|(e, f)| (*e, !f)).collect::<Vec<_>>();
    let plane =
        |z: f64| Surface::Plane { frame: Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() } };
    b.face(plane(0.0), false, vec![LoopSource::Edges(back(&rings[0]))]);
    b.face(plane(4.0), true, vec![LoopSource::Edges(rings[1].clone())]);
    let [low, high] = corners;
    for i in 0..3 {
        b.polygon(&[&[low[i], low[i + 1], high[i + 1], high[i]]]);
    }
    let side = BezierSurface {
        u_degree: 3,
        v_degree: 1,
        u_breaks: vec![0.0, 1.0],
        v_breaks: vec![0.0, 1.0],
        control: bow.iter().flat_map(|p| [0.0, 4.0].map(|z| homogeneous(&at(*p, z), 1.0))).collect(),
        u_periodic: false,
        v_periodic: false,
    };
    let (up, down) = (b.line(low[0], high[0]), b.line(high[3], low[3]));
    b.face(
        Surface::Bezier(side),
        true,
        vec![LoopSource::Edges(vec![(bows[0], true), up, (bows[1], false), down])],
    );
    b.finish("pointed prism")
}

#[test]
fn edges_that_cross_by_a_hair_beside_their_vertex_are_read_with_a_warning() {
    // Area by Green's theorem along the cubic, the corners (10, 0), (10, 1) and (3, 1).
    let area = |dip: f64| {
        let p: [[f64; 2]; 4] = [[3.0, 1.0], [1.5, 0.2], [0.3, -dip], [0.0, 0.0]];
        let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
        let weights = [(0, 1, 0.6), (0, 2, 0.3), (0, 3, 0.1), (1, 2, 0.3), (1, 3, 0.3), (2, 3, 0.6)];
        let bow: f64 = weights.iter().map(|(i, j, w)| w * cross(p[*i], p[*j])).sum();
        0.5 * (bow + 10.0 + 7.0)
    };
    for dip in [0.0, 0.01, 0.03, 0.05] {
        let solid = built(&pointed_prism(dip));
        let volume = 4.0 * area(dip);
        assert!((solid.volume - volume).abs() < 1e-7, "{dip}: {} {volume}", solid.volume);
        let crosses = solid.remarks.iter().filter(|w| w.message.contains("cross by")).count();
        assert_eq!(crosses, if dip > 0.02 { 2 } else { 0 }, "{dip}: {:?}", solid.remarks);
    }
    let error = build_solid(&pointed_prism(0.4), &BuildOptions::default()).unwrap_err();
    assert!(error.problems.iter().any(|p| matches!(p, Problem::LoopsContradict { .. })), "{error}");
}

#[test]
fn the_lone_vertex_of_a_closed_edge_is_moved_onto_it() {
    let exact = built(&fixtures::cylinder_without_seam(0.05, 0.003));
    let off = |by: f64| {
        let mut source = fixtures::cylinder_without_seam(0.05, 0.003);
        source.vertices.iter_mut().for_each(|v| v.point.x -= by);
        build_solid(&source, &BuildOptions::default())
    };
    for by in [1e-7, 1.6e-4, 2e-3] {
        let solid = off(by).unwrap();
        assert_close(solid.volume, exact.volume, "volume");
        assert_close(solid.area, exact.area, "area");
        let moved = solid.remarks.iter().filter(|w| w.message.contains("moved onto")).count();
        assert_eq!(moved, usize::from(by > 1e-5), "{by}: {:?}", solid.remarks);
        let deviation = solid.edges.iter().flat_map(|e| &e.sides).fold(0.0, |m: f64, s| m.max(s.deviation));
        assert!(deviation < 1e-9, "{by}: nothing of the shape is off: {deviation}");
    }
    assert!(off(5e-3).is_err(), "more than a hundredth of the circle");
    // With a seam, the vertex is a corner of the face's loop.
    let mut source = fixtures::cylinder(0.05, 0.003);
    source.vertices[0].point.x -= 1e-3;
    assert!(build_solid(&source, &BuildOptions::default()).is_err(), "a vertex of several edges");
}

#[test]
fn gaps_at_vertices_are_closed_with_a_warning() {
    let block = |by: f64, uncertainty: f64| {
        let mut source = fixtures::block([0.0; 3], [3.0, 5.0, 2.0]);
        source.vertices[0].point += V3::new(by, by, by);
        source.uncertainty = uncertainty;
        build_solid(&source, &BuildOptions::default())
    };
    let warned = |by: f64, uncertainty: f64| {
        let solid = block(by, uncertainty).unwrap();
        assert!((solid.volume - 30.0).abs() < 30.0 * by.max(1e-9), "{by}: {}", solid.volume);
        solid.remarks.iter().any(|w| w.message.contains("closed"))
    };
    assert!(!warned(1e-6, 0.0), "a small share of the edges is never reported");
    assert!(warned(1e-4, 0.0), "a larger gap is reported");
    assert!(!warned(1e-4, 1e-2), "a gap within the stated uncertainty is not reported");
    assert!(warned(1e-3, 0.1), "stated uncertainty is limited");
    assert!(warned(1e-2, 0.0), "a gap above a thousandth of the size is short against edges and faces");
    assert!(block(0.1, 0.0).is_err(), "gaps above a fiftieth of a face are rejected");
}

/// A prism over the triangle (0, 0), (4, 0), (0, 3) under a curved patch. At the first corner, the patch
/// has a side of length `side` (mm), for which the file has one vertex and no edge.
fn under_a_collapsing_patch(side: f64) -> (SolidSource, BezierSurface) {
    let corner = |u: usize| P3::new(0.0, 0.5 * side * u as f64, 2.0);
    let far = |u: usize| P3::new(4.0 - 2.0 * u as f64, 1.5 * u as f64, if u == 1 { 2.8 } else { 2.0 });
    let rows: Vec<[P3; 3]> = (0..3)
        .map(|u| {
            let middle = nalgebra::center(&corner(u), &far(u));
            [corner(u), P3::new(middle.x, middle.y, 2.7), far(u)]
        })
        .collect();
    let surface = BezierSurface {
        u_degree: 2,
        v_degree: 2,
        u_breaks: vec![0.0, 1.0],
        v_breaks: vec![0.0, 1.0],
        control: rows.iter().flatten().map(|p| homogeneous(p, 1.0)).collect(),
        u_periodic: false,
        v_periodic: false,
    };
    let curve = |points: [P3; 3]| {
        Curve::Bezier(BezierSpline {
            degree: 2,
            breaks: vec![0.0, 1.0],
            control: points.iter().map(|p| homogeneous(p, 1.0)).collect(),
            periodic: false,
        })
    };
    let mut b = SourceBuilder::new();
    let low = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]].map(|p| b.vertex(p[0], p[1], 0.0));
    let high = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]].map(|p| b.vertex(p[0], p[1], 2.0));
    let first = b.edge(curve(rows[0]), high[0], high[1]);
    let across = b.edge(curve([rows[0][2], rows[1][2], rows[2][2]]), high[1], high[2]);
    let last = b.edge(curve(rows[2]), high[0], high[2]);
    b.polygon(&[&[low[0], low[2], low[1]]]);
    let top = vec![(first, true), (across, true), (last, false)];
    b.face(Surface::Bezier(surface.clone()), false, vec![LoopSource::Edges(top)]);
    let plane = |b: &SourceBuilder, i: usize, j: usize| {
        let (p, q) = (b.point(low[i]), b.point(low[j]));
        let n = (q - p).cross(&V3::z()).normalize();
        Surface::Plane { frame: Frame::from_z(p, n, None).unwrap_or(Frame::identity()) }
    };
    for (i, j, edge, along) in [(0, 1, first, true), (1, 2, across, true), (2, 0, last, false)] {
        let surface = plane(&b, i, j);
        let ring =
            vec![b.line(low[i], low[j]), b.line(low[j], high[j]), (edge, !along), b.line(high[i], low[i])];
        b.face(surface, true, vec![LoopSource::Edges(ring)]);
    }
    (b.finish("under a collapsing patch"), surface)
}

#[test]
fn sides_that_nearly_collapse_into_a_vertex_keep_their_corners() {
    for side in [1e-5, 1e-3, 4e-3] {
        let (source, patch) = under_a_collapsing_patch(side);
        let solid = built(&source);
        // The volume is the integral of z dx dy over the patch; the integrand has degree 6.
        let n = 400;
        let step = 1.0 / f64::from(n);
        let volume: f64 = (0..n)
            .flat_map(|i| (0..n).map(move |j| (f64::from(i) + 0.5, f64::from(j) + 0.5)))
            .map(|(i, j)| {
                let d = patch.derivs(P2::new(i * step, j * step));
                d.p.z * (d.du.x * d.dv.y - d.du.y * d.dv.x).abs() * step * step
            })
            .sum();
        assert!((solid.volume / volume - 1.0).abs() < 1e-5, "{side}: {} {volume}", solid.volume);
        let deviation = solid.edges.iter().flat_map(|e| &e.sides).fold(0.0, |m: f64, s| m.max(s.deviation));
        assert!(deviation < 1.5 * side, "{side}: edges stay where they are: {deviation}");
        let jumps = solid.remarks.iter().filter(|w| w.message.contains("jumps")).count();
        assert_eq!(jumps, 1, "{side}: {:?}", solid.remarks);
    }
}

/// A prism over a polygon with two short edges at the corner (10, 0). The curve of the first one ends `gap`
/// (mm) beside the corner, after it has crossed the second one above the corner. With a larger `bulge` (mm)
/// it extends farther beyond the second edge.
fn prism_with_a_crossing_corner(gap: f64, bulge: f64) -> SolidSource {
    let outline = [[0.0, 0.0], [9.0, -0.3], [10.0, 0.0], [10.0, 1.0], [9.5, 6.0], [0.0, 6.0]];
    let mut source = fixtures::prism(&outline, 4.0);
    for e in &mut source.edges {
        let [a, b] = [e.start, e.end].map(|v| source.vertices[v as usize].point);
        let is_at = |p: &P3, x: f64, y: f64| (p.x - x).abs() < 1e-9 && (p.y - y).abs() < 1e-9;
        let (from, to) = (is_at(&a, 9.0, -0.3), is_at(&b, 9.0, -0.3));
        if !(from && is_at(&b, 10.0, 0.0) || to && is_at(&a, 10.0, 0.0)) {
            continue;
        }
        let points = [[9.0, -0.3], [9.99, -0.003], [10.0 + bulge, bulge], [10.0 + gap, 0.0]];
        let mut control = points.map(|p| homogeneous(&P3::new(p[0], p[1], a.z), 1.0));
        if to {
            control.reverse();
        }
        e.same_sense = true;
        e.curve = Curve::Bezier(BezierSpline {
            degree: 3,
            breaks: vec![0.0, 1.0],
            control: control.to_vec(),
            periodic: false,
        });
    }
    source
}

/// Edges that cross near a corner, by less than the gap that is closed there, do not invalidate their face;
/// edges that cross by more do.
#[test]
fn edges_that_cross_within_the_gap_of_their_corner_are_read() {
    for (gap, bulge) in [(4e-3, 0.02), (5e-3, 0.025)] {
        let solid = built(&prism_with_a_crossing_corner(gap, bulge));
        let off = (solid.volume - 241.0).abs();
        assert!(off <= 4.0 * bulge * bulge, "{gap}, {bulge}: {off}");
        let crosses = solid.remarks.iter().filter(|r| r.message.contains("edges of a loop cross")).count();
        assert_eq!(crosses, 2, "{gap}, {bulge}: {:?}", solid.remarks);
    }
    for (gap, bulge) in [(1e-4, 0.02), (1e-3, 0.02), (3e-3, 0.02), (3e-3, 0.025)] {
        let error =
            build_solid(&prism_with_a_crossing_corner(gap, bulge), &BuildOptions::default()).unwrap_err();
        let contradicts = |p: &Problem| matches!(p, Problem::LoopsContradict { .. });
        assert!(error.problems.iter().all(contradicts), "{gap}, {bulge}: {error}");
    }
}
