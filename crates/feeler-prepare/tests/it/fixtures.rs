//! Tests on small solids with known features.
#![expect(clippy::unwrap_used, reason = "test helpers")]

use crate::common::Checker;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::{Solid, SolidSource, fixtures};
use feeler_geom::Surface;
use feeler_hierarchy::{Hierarchy, Options};
use feeler_prepare::{PrepareError, prepare_solid};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn prepared(source: &SolidSource, flatness: f64) -> (Solid, Hierarchy) {
    let solid = build_solid(source, &BuildOptions::default()).unwrap();
    let h = prepare_solid(&solid, &Options { flatness }).unwrap();
    (solid, h)
}

fn counts(h: &Hierarchy) -> [usize; 3] {
    [h.faces.len(), h.edges.len(), h.vertices.len()]
}

#[test]
fn a_block() {
    let (solid, h) = prepared(&fixtures::block([0.0; 3], [1.0, 2.0, 3.0]), 0.5);
    assert_eq!(counts(&h), [6, 12, 8], "features");
    assert_eq!(h.areas.len(), 26, "one leaf per feature, because all are flat");
    assert_eq!(h.info.source_counts, [6, 12, 8], "source counts");
    assert_eq!(h.info.edges_by_status, [12, 0, 0, 0], "all edges are convex");
    Checker::new(&solid, &h, 2000).all();
}

#[test]
fn concave_edges_and_pits_are_not_features() {
    let l = [[0.0, 0.0], [10.0, 0.0], [10.0, 2.0], [2.0, 2.0], [2.0, 10.0], [0.0, 10.0]];
    let (solid, h) = prepared(&fixtures::prism(&l, 5.0), 0.5);
    // The polars at the ends of the concave edge are rays: the normals of top and bottom.
    assert_eq!(counts(&h), [8, 17, 12], "the concave edge is removed");
    assert!(h.areas.iter().all(|a| !a.cone.is_all()), "every polar has a bound");
    Checker::new(&solid, &h, 2000).all();
    let (solid, h) = prepared(&fixtures::notched_cube(10.0), 0.5);
    Checker::new(&solid, &h, 2000).all();
    assert_eq!(counts(&h), [9, 18, 13], "three concave edges and the pit are removed");
}

#[test]
fn the_dialects_of_a_cylinder_agree() {
    for source in [
        fixtures::cylinder(3.0, 5.0),
        fixtures::cylinder_without_seam(3.0, 5.0),
        fixtures::cylinder_halves(3.0, 5.0),
    ] {
        let (solid, h) = prepared(&source, 0.5);
        assert_eq!(counts(&h), [3, 2, 0], "{}: a barrel, two discs, two circles", source.name);
        assert!(h.edges.iter().all(|e| e.closed && e.spans.len() == 1), "{}: closed circles", source.name);
        for e in &h.edges {
            let turn = e.spans[0].t1 - e.spans[0].t0;
            assert!((turn - std::f64::consts::TAU).abs() < 1e-12, "{}: a full turn, {turn}", source.name);
        }
        // There are 2π / 0.5 = 12.6 columns, as many arcs on each circle, and two discs.
        assert_eq!(h.areas.len(), 13 + 2 * 13 + 2, "{}: leaves", source.name);
        Checker::new(&solid, &h, 2000).all();
    }
}

#[test]
fn whole_surfaces() {
    for (source, faces) in [
        (fixtures::sphere(2.0), 1),
        (fixtures::sphere_with_seam(2.0), 1),
        (fixtures::torus(5.0, 2.0), 1),
        (fixtures::torus_with_seams(5.0, 2.0), 1),
        (fixtures::hollow_sphere(3.0, 2.0), 2),
    ] {
        let (solid, h) = prepared(&source, 0.5);
        assert_eq!(counts(&h), [faces, 0, 0], "{}", source.name);
        Checker::new(&solid, &h, 2000).all();
    }
}

#[test]
fn tips_and_poles() {
    for (source, want) in [
        (fixtures::cone(3.0, 4.0), [2, 1, 1]),
        (fixtures::cone_with_seam(3.0, 4.0), [2, 1, 1]),
        (fixtures::half_cone(3.0, 4.0), [3, 4, 3]),
        (fixtures::hemisphere(3.0), [2, 1, 0]),
        (fixtures::ball_wedge(3.0, 1.0), [3, 3, 2]),
    ] {
        let (solid, h) = prepared(&source, 0.5);
        assert_eq!(counts(&h), want, "{}: {:?}", source.name, h.edges);
        Checker::new(&solid, &h, 2000).all();
    }
}

#[test]
fn an_apple_has_one_sheet() {
    let (solid, h) = prepared(&fixtures::apple(1.0, 2.0), 0.5);
    Checker::new(&solid, &h, 2000).all();
    assert!(matches!(h.faces[0].surface, Surface::Torus { .. }), "a spindle torus");
}

#[test]
fn bends_about_their_own_side() {
    for (difference, halved) in [(0.0, true), (4e-16, false), (-4e-16, true), (-1e-10, false)] {
        let (solid, h) = prepared(&fixtures::horn_bend(1.0, difference, 2.0, halved), 0.5);
        assert_eq!(counts(&h)[0], 3, "a bend has a side and two ends");
        Checker::new(&solid, &h, 2000).all();
    }
}

#[test]
fn holes_and_slots() {
    let (solid, h) = prepared(&fixtures::block_with_hole(10.0, 4.0, 3.0), 0.5);
    assert_eq!(counts(&h), [7, 14, 8], "a bore adds a face and two circles");
    Checker::new(&solid, &h, 2000).all();
    let (solid, h) = prepared(&fixtures::stadium(10.0, 3.0, 4.0), 0.5);
    let quasi = h.edges.iter().filter(|e| e.quasi_only).count();
    assert_eq!(quasi, 4, "four smooth edges carry quasi-contacts only");
    Checker::new(&solid, &h, 2000).all();
}

#[test]
fn finer_splitting_bounds_the_same_features() {
    let (solid, h) = prepared(&fixtures::torus(5.0, 2.0), 0.5);
    let (_, fine) = prepared(&fixtures::torus(5.0, 2.0), 0.2);
    assert!(fine.areas.len() > 4 * h.areas.len(), "{} against {}", fine.areas.len(), h.areas.len());
    for (n, flatness) in [(&h, 0.5), (&fine, 0.2)] {
        let leaves = n.nodes.iter().filter(|n| n.area().is_some());
        let widest = leaves.map(|n| n.cone.half_angle).fold(0.0, f64::max);
        assert!(widest < 0.52 * flatness, "half-angle {widest} for flatness {flatness}");
    }
    Checker::new(&solid, &fine, 500).all();
}

#[test]
fn the_same_solid_gives_the_same_bytes() {
    for source in [fixtures::stadium(10.0, 3.0, 4.0), fixtures::half_cone(3.0, 4.0)] {
        let (_, a) = prepared(&source, 0.5);
        let (_, b) = prepared(&source, 0.5);
        assert_eq!(a, b, "{}", source.name);
    }
}

#[test]
fn bad_options_are_refused() {
    let solid = build_solid(&fixtures::sphere(1.0), &BuildOptions::default()).unwrap();
    for flatness in [0.0, -1.0, f64::NAN, 3.0] {
        let e = prepare_solid(&solid, &Options { flatness }).unwrap_err();
        assert!(matches!(e, PrepareError::Flatness(_)), "{e}");
    }
}

/// A free-form face that ends at a break of its surface, up to rounding, has no area without an inside beyond
/// the break.
#[test]
fn faces_that_end_at_a_break_have_no_slivers() {
    let mut rng = SmallRng::seed_from_u64(52);
    for k in 0..60 {
        let mut random = || rng.random_range(-1.0..1.0);
        let (half, heights) = (3.0 + random(), [[random(), random()], [random(), random()]]);
        let mut source = fixtures::bump(half, &[&heights[0], &heights[1]], 1.0);
        let shift = feeler_geom::V3::new(20.0 * random(), 20.0 * random(), 20.0 * random());
        let end = 70.0 + 20.0 * random();
        for vertex in &mut source.vertices {
            vertex.point += shift;
        }
        for edge in &mut source.edges {
            if let feeler_geom::Curve::Line { origin, .. } = &mut edge.curve {
                *origin += shift;
            }
        }
        for face in &mut source.faces {
            match &mut face.surface {
                Surface::Plane { frame } => frame.origin += shift,
                Surface::Bezier(patch) => {
                    for h in &mut patch.control {
                        let moved = shift * h.w;
                        (h.x, h.y, h.z) = (h.x + moved.x, h.y + moved.y, h.z + moved.z);
                    }
                    // The surface continues beyond the face.
                    let (nu, nv) = (patch.u_degree as usize, patch.v_degree as usize);
                    let at = |i: usize, j: usize| i * (nv + 1) + j;
                    for i in 0..=nu {
                        for j in 0..=nv {
                            let h = patch.control[at(i, nv)] * 2.0 - patch.control[at(i, nv - j)];
                            patch.control.push(h);
                        }
                    }
                    patch.v_breaks = vec![0.0, end, 2.0 * end];
                }
                _ => unreachable!("a bump"),
            }
        }
        let (_, h) = prepared(&source, 0.5);
        let areas = h.areas.iter().filter(|area| matches!(area.feature, feeler_hierarchy::Feature::Face(_)));
        for area in areas {
            let (width, height) = (area.rect.width(), area.rect.height());
            assert!(width > 1e-9 && height > 1e-9, "{k}: {:?}", area.rect);
        }
    }
}
