//! Tests of edges that are split, are used by four faces, or have one face on both sides.

use super::*;

#[test]
fn a_full_meridian_is_split_at_the_poles() {
    // A half ball with a disc at x = 0, whose rim passes through both poles of the sphere.
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
    // Two bilinear patches over a flat bottom meet along the x axis, with slopes ± x / 2 in y: a ridge
    // for x < 0, a valley for x > 0.
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
    assert!(cut.smooth, "the cut is not a feature");
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
    assert_eq!(statuses(&solid), [2, 0, 0, 1], "the seam stays a seam");
    assert_eq!(vertex_kinds(&solid), [0, 2, 0], "nor are its ends vertices");
    let seam = &solid.edges[2];
    let us: Vec<f64> = seam.sides.iter().map(|s| s.pcurve[0].control[0].x).collect();
    assert!(((us[0] - us[1]).abs() - 1.0).abs() < 1e-9, "one period apart: {us:?}");
}

#[test]
fn splines_are_split_at_kinks_and_closed_ones_started_anywhere() {
    use feeler_geom::bezier::{BezierSpline, homogeneous};
    // A square outline as one closed spline of degree 1, which starts at a corner or in the middle of a
    // side.
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
        // Without sides the shell is open, but both outlines are split.
        let options = BuildOptions::default();
        let mut report = Report::default();
        let mut draft = edges::draft(&source, &BTreeSet::new(), &options, &mut report).unwrap();
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
