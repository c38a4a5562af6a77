//! Tests of the status of edges, the kinds of vertices and their polars.

use super::*;

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
    // At a ruling of the cut, the plane meets the cone at a right angle.
    assert!(solid.edges.iter().any(|e| (e.dihedral.0 - FRAC_PI_2).abs() < 1e-9), "{:?}", solid.edges);
}

#[test]
fn vertices_have_their_kind() {
    for (source, expected) in [
        (fixtures::block([0.0; 3], [1.0; 3]), [8, 0, 0]),
        // At the ends of a concave edge the polar consists of the normal of the third face.
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

#[test]
fn polars_of_convex_vertices_are_those_of_the_definition() {
    // The polar of a cube's corner is the octant.
    let cube = built(&fixtures::block([0.0; 3], [1.0; 3]));
    let corner = vertex_at(&cube, [1.0, 1.0, 1.0]);
    assert!(matches!(&corner.polar, VertexPolar::Constraints(c) if c.len() == 3), "{:?}", corner.polar);
    // The polar of a cone with half-angle φ, tan φ = 1/2, contains the directions within π/2 - φ of the
    // axis.
    let cone = built(&fixtures::cone(1.0, 2.0));
    let tip = vertex_at(&cone, [0.0, 0.0, 2.0]);
    let seamed = built(&fixtures::cone_with_seam(1.0, 2.0));
    let seamed = vertex_at(&seamed, [0.0, 0.0, 2.0]);
    // The polar of half of the cone, cut by y = 0, has only the constraints of rulings with y ≥ 0.
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
        // Support of the half disc at z = 2 - 1 in direction d: the maximum over rulings (c, s, -2), s ≥
        // 0.
        let most = if d.y >= 0.0 { math::hypot(d.x, d.y) } else { d.x.abs() };
        let margin = 2.0 * d.z - most;
        if margin.abs() > 5e-3 {
            assert_eq!(accepts(&half.polar, &d), margin > 0.0, "half cone: {d}");
        }
    }
}

#[test]
fn a_vertex_in_the_middle_of_a_plane_or_of_an_edge_is_kept() {
    // A square prism whose top has a vertex in the middle of one side and whose front consists of three
    // coplanar faces.
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

/// Brute-force reference: a direction is in the polar of the material's tangent cone if it makes no
/// acute angle with any direction that starts inside the material.
#[test]
fn polars_agree_with_the_tangent_cone_of_the_material() {
    type Inside = fn(&V3) -> bool;
    let cases: Vec<(SolidSource, [f64; 3], Inside)> = vec![
        // Directions from the pit (or from a rim vertex) of the notch that start inside the material.
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

#[test]
fn cusps_are_empty_or_full_sectors() {
    // The area under the large arc minus that under the small one, over 0 ≤ x ≤ 1.
    let area = (2.0 * PI / 3.0 - 3.0_f64.sqrt() / 2.0) - FRAC_PI_2 / 2.0;
    let plate = built(&horn(false));
    assert_close(plate.volume, area, "volume of the horn");
    let tip = vertex_at(&plate, [0.0, 0.0, 1.0]);
    // The directions into the material at the tip are the quarter plane x = 0, y ≥ 0, z ≤ 0.
    for d in random_directions(5, 2000) {
        assert_eq!(accepts(&tip.polar, &d), d.y <= 0.0 && d.z >= 0.0, "horn: {d} {:?}", tip.polar);
    }
    let pierced = built(&horn(true));
    assert_close(pierced.volume, 9.0 - area, "volume of the plate");
    let tip = vertex_at(&pierced, [0.0, 0.0, 1.0]);
    // The material is the lower half-space except a slit.
    assert!(accepts(&tip.polar, &V3::z()), "{:?}", tip.polar);
    for d in random_directions(6, 2000) {
        assert!(!accepts(&tip.polar, &d), "horn hole: {d}");
    }
    let razor = |s: &Solid| s.edges.iter().map(|e| e.dihedral).find(|d| d.0.abs() > 3.0);
    assert!(razor(&plate).is_some_and(|d| d.0 > 3.1), "a razor is convex");
    assert!(razor(&pierced).is_some_and(|d| d.1 < -3.1), "a slit is concave");
}
