//! Tests that valid solids pass the check, and that shapes that only resemble solids are rejected.

use super::{Unsound, check};
use crate::{PrepareError, prepare_solid};
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::fixtures::{self, SourceBuilder};
use feeler_brep::sheet::both_sides;
use feeler_brep::source::LoopSource;
use feeler_brep::{Solid, SolidSource};
use feeler_geom::bezier::{BezierSpline, BezierSurface};
use feeler_geom::{Curve, Frame, P3, Surface, V3};
use feeler_hierarchy::{Hierarchy, Options};
use std::f64::consts::TAU;

fn prepared(source: &SolidSource) -> (Solid, Result<Hierarchy, PrepareError>) {
    let solid = build_solid(source, &BuildOptions::default()).unwrap();
    let hierarchy = prepare_solid(&solid, &Options { flatness: 0.8 });
    (solid, hierarchy)
}

fn refused(source: &SolidSource) -> Unsound {
    match prepared(source).1 {
        Err(PrepareError::Unsound(e)) => e,
        other => panic!("{}: {:?}", source.name, other.map(|h| h.info.volume)),
    }
}

/// Combines two sources, the second one shifted, in one solid.
fn together(mut a: SolidSource, b: SolidSource, shift: V3) -> SolidSource {
    let index = |n: usize| u32::try_from(n).unwrap();
    let (v, e) = (index(a.vertices.len()), index(a.edges.len()));
    for mut vertex in b.vertices {
        vertex.point += shift;
        a.vertices.push(vertex);
    }
    for mut edge in b.edges {
        let Curve::Line { origin, .. } = &mut edge.curve else { panic!("blocks only") };
        *origin += shift;
        (edge.start, edge.end) = (edge.start + v, edge.end + v);
        a.edges.push(edge);
    }
    for mut face in b.faces {
        let Surface::Plane { frame } = &mut face.surface else { panic!("blocks only") };
        frame.origin += shift;
        face.id += 1000;
        for l in &mut face.loops {
            let LoopSource::Edges(uses) = l else { continue };
            uses.iter_mut().for_each(|u| u.0 += e);
        }
        a.faces.push(face);
    }
    a
}

fn block() -> SolidSource {
    fixtures::block([0.0; 3], [4.0, 3.0, 2.0])
}

/// Returns a solid whose surface is a conic revolved by a full turn about its own axis of symmetry,
/// which covers the surface twice. The surface is optionally closed by a disc, given by its radius and
/// height.
fn turned_twice(conic: &Curve, range: (f64, f64), disc: Option<(f64, f64)>) -> SolidSource {
    let profile = BezierSpline::of_curve(conic, range.0, range.1);
    let grid = BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, TAU);
    let mut b = SourceBuilder::new();
    let mut loops = vec![];
    if let Some((radius, z)) = disc {
        let v = b.vertex(radius, 0.0, z);
        let frame = Frame::from_z(P3::new(0.0, 0.0, z), V3::z(), Some(V3::x())).unwrap();
        let ring = b.circle(frame, radius, v);
        b.face(Surface::Plane { frame }, true, vec![LoopSource::Edges(vec![(ring, true)])]);
        loops.push(LoopSource::Edges(vec![(ring, false)]));
    }
    b.face(Surface::Bezier(grid), true, loops);
    b.finish("turned twice")
}

#[test]
fn solids_of_all_kinds_pass() {
    let thin = fixtures::block([0.0; 3], [1000.0, 1000.0, 1e-3]);
    let apart = together(block(), block(), V3::new(9.0, 0.0, 0.0));
    // A common wall is a slit, not an overlap.
    let side_by_side = together(block(), block(), V3::new(4.0, 0.0, 0.0));
    for source in [
        thin,
        apart,
        side_by_side,
        fixtures::hollow_sphere(3.0, 2.0),
        fixtures::torus(5.0, 1.0),
        fixtures::apple(2.0, 3.0),
        fixtures::half_cone(2.0, 3.0),
        fixtures::stadium(9.0, 1.0, 0.01),
        fixtures::block_with_hole(4.0, 2.0, 3.9),
    ] {
        let (_, h) = prepared(&source);
        assert!(h.is_ok(), "{}: {:?}", source.name, h.err());
    }
}

#[test]
fn sheets_are_not_checked() {
    let mut tub = block();
    tub.faces.pop();
    let (_, h) = prepared(&both_sides(tub).unwrap().solid);
    assert!(h.unwrap().info.volume.abs() < 1e-9, "a sheet has no volume");
}

#[test]
fn self_covering_surfaces_are_rejected() {
    assert!(
        matches!(refused(&together(block(), block(), V3::zeros())), Unsound::Box { .. }),
        "two equal blocks at the same position"
    );
    let overlap = together(block(), block(), V3::new(2.0, 1.0, 0.5));
    match refused(&overlap) {
        // The overlap is 2 · 2 · 1.5 of 2 · 24 − 6.
        Unsound::Covered { percent, .. } => assert!((5.0..40.0).contains(&percent), "{percent} %"),
        other => panic!("{other}"),
    }
    let upright = |o: f64, x: V3| Frame::from_z(P3::new(0.0, 0.0, o), -V3::y(), Some(x)).unwrap();
    let ellipse = Curve::Ellipse { frame: upright(0.0, V3::x()), semi_x: 10.0, semi_y: 6.0 };
    assert!(
        matches!(refused(&turned_twice(&ellipse, (0.0, TAU), None)), Unsound::Volume { .. }),
        "a doubly covered spheroid has no valid volume"
    );
    let parabola = Curve::Parabola { frame: upright(-1.0, V3::z()), focal: 2.0 };
    let cup = turned_twice(&parabola, (-2.0, 2.0), Some((6.0, 3.5)));
    assert!(
        matches!(refused(&cup), Unsound::Open { .. } | Unsound::Covered { .. }),
        "a cup that covers itself"
    );
}

#[test]
fn inconsistent_numbers_and_reversed_faces_are_rejected() {
    let (solid, h) = prepared(&fixtures::block_with_hole(4.0, 2.0, 1.0));
    let h = h.unwrap();
    assert_eq!(check(&solid, &h), Ok(None));
    let with = |change: &dyn Fn(&mut Hierarchy)| {
        let mut h = h.clone();
        change(&mut h);
        check(&solid, &h)
    };
    let volume = with(&|h| h.info.volume = -h.info.volume);
    assert!(matches!(volume, Err(Unsound::Volume { .. })), "negative volume: {volume:?}");
    let volume = with(&|h| h.info.area *= 0.1);
    assert!(matches!(volume, Err(Unsound::Volume { .. })), "less area than a ball: {volume:?}");
    let volume = with(&|h| h.info.volume = 8.0 * 8.0 * 2.01);
    assert!(matches!(volume, Err(Unsound::Box { .. })), "more volume than the box: {volume:?}");
    for k in 0..h.faces.len() {
        let open = with(&|h| h.faces[k].outward = !h.faces[k].outward);
        assert!(matches!(open, Err(Unsound::Open { .. })), "a reversed face: {open:?}");
    }
}

/// A block with a fin without thickness on one of its edges, as in a part that was written with too few
/// digits: the face below the fin continues its outer side, and its upper end is one line.
fn block_with_fin(w: f64, d: f64, h: f64, fin: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let quad = |b: &mut SourceBuilder, z: f64| {
        [(0.0, 0.0), (w, 0.0), (w, d), (0.0, d)].map(|(x, y)| b.vertex(x, y, z))
    };
    let (low, high) = (quad(&mut b, 0.0), quad(&mut b, h));
    let tip = [b.vertex(w, 0.0, h + fin), b.vertex(w, d, h + fin)];
    b.polygon(&[&[low[0], low[3], low[2], low[1]]]);
    b.polygon(&[&[high[0], high[1], high[2], high[3]]]);
    b.polygon(&[&[low[0], high[0], high[3], low[3]]]);
    // The outer side goes to the tip, the inner side from the top to the tip.
    b.polygon(&[&[low[1], low[2], tip[1], tip[0]]]);
    b.polygon(&[&[high[1], tip[0], tip[1], high[2]]]);
    // The loops of front and back go up and down beside the fin.
    b.polygon(&[&[low[0], low[1], tip[0], high[1], high[0]]]);
    b.polygon(&[&[low[2], low[3], high[3], high[2], tip[1]]]);
    b.finish("fin")
}

#[test]
fn parts_without_thickness_do_not_condemn_a_solid() {
    for fin in [0.02, 0.3, 2.0, 20.0, 200.0] {
        let (w, d, h) = (3.0, 2.0, 1.0);
        let (solid, prepared) = prepared(&block_with_fin(w, d, h, fin));
        let prepared = prepared.unwrap_or_else(|e| panic!("{fin}: {e}"));
        assert!((prepared.info.volume - w * d * h).abs() < 1e-9, "{fin}: {}", prepared.info.volume);
        let area = 2.0 * (w * d + d * h + w * h) + 2.0 * d * fin;
        assert!((prepared.info.area - area).abs() < 1e-9 * area, "{fin}: {} {area}", prepared.info.area);
        // Most lines meet a large fin; that is a warning.
        if fin >= 20.0 {
            let fault = check(&solid, &prepared).unwrap();
            assert!(fault.is_some_and(|f| f.empty > 0.5 && f.to_string().contains("back to back")), "{fin}");
        }
    }
}

#[test]
fn overlaps_are_measured_by_volume() {
    // A small block of many faces reaches into a large one.
    let large = || fixtures::block([0.0; 3], [10.0, 10.0, 10.0]);
    let outline: Vec<[f64; 2]> = (0..24)
        .map(|k| {
            let (s, c) = feeler_geom::math::sin_cos(TAU * f64::from(k) / 24.0);
            [c, s]
        })
        .collect();
    let area = 12.0 * feeler_geom::math::sin(TAU / 24.0);
    for (depth, height) in [(0.003, 0.5), (0.05, 0.5), (0.5, 1.0), (3.0, 4.0), (8.0, 9.0)] {
        let source = together(large(), fixtures::prism(&outline, height), V3::new(5.0, 5.0, 10.0 - depth));
        let share = area * depth / (1000.0 + area * (height - depth));
        let (_, h) = prepared(&source);
        assert!(h.is_ok(), "{:.3} %: {:?}", 100.0 * share, h.err());
    }
    for inside in [0.2, 0.4, 0.7] {
        let source = together(large(), large(), V3::new(10.0 * (1.0 - inside), 0.37, 0.21));
        let found = refused(&source);
        assert!(matches!(found, Unsound::Covered { .. } | Unsound::Box { .. }), "{inside}: {found}");
    }
}

#[test]
fn a_wrong_face_of_a_hundredth_of_the_area_is_refused() {
    for n in [12, 20, 30] {
        let outline: Vec<[f64; 2]> = (0..n)
            .map(|k| {
                let (s, c) = feeler_geom::math::sin_cos(TAU * f64::from(k) / f64::from(n));
                [4.0 * c, 4.0 * s]
            })
            .collect();
        let (solid, h) = prepared(&fixtures::prism(&outline, 6.0));
        let h = h.unwrap();
        let area = |f: usize| feeler_geom::mass::vector_area(&h.faces[f].surface, &h.faces[f].trim).1;
        let large: Vec<usize> = (0..h.faces.len()).filter(|k| area(*k) >= 0.01 * h.info.area).collect();
        let mut refused = 0;
        for k in &large {
            let mut wrong = h.clone();
            wrong.faces[*k].outward = !wrong.faces[*k].outward;
            let found = check(&solid, &wrong);
            // A fault that lines find is never small. Few of them start on one of very many faces.
            assert!(!matches!(found, Ok(Some(_))), "{n} {k}: {found:?}");
            refused += usize::from(found.is_err());
        }
        assert!(2 * refused >= large.len(), "{n}: {refused} of {}", large.len());
    }
}
