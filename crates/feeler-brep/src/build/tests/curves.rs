//! Tests of curves in parameter planes.

use super::*;

/// Returns the largest distance (mm) from dense samples of a pcurve, mapped to the surface, to the
/// edge's curve, by brute force.
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

#[test]
fn an_ellipse_on_a_cylinder_is_fitted_and_a_loose_edge_only_measured() {
    let solid = built(&oblique_cylinder(0.5, 0.0));
    assert_close(solid.volume, 2.0 * PI, "volume");
    assert_close(solid.area, 4.0 * PI + PI + PI * math::hypot(1.0, 0.5), "area");
    let exact = &solid.edges[1].sides;
    assert!(exact.iter().all(|s| s.deviation < 1e-7), "{exact:?}");
    // The edge is lifted by 1e-4 along z: the number of pieces does not grow, and the deviation is the
    // edge's distance from the plane.
    let loose = built(&oblique_cylinder(0.5, 1e-4));
    for (a, b) in exact.iter().zip(&loose.edges[1].sides) {
        assert!(b.pcurve.len() <= a.pcurve.len(), "the distance drives no pieces");
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

#[test]
fn patches_with_sides_that_are_points_close() {
    use feeler_geom::bezier::{BezierSurface, homogeneous};
    // A wedge of a cone over a quarter disc, as a patch whose side u = 0 is the apex at (0, 0, 2); v runs
    // around.
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
    // u runs down and v to the right, so the natural normal points outwards.
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
