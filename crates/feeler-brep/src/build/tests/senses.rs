//! Tests of senses that contradict each other: arcs in the wrong direction, lines beside their vertices.

use super::*;
use crate::build::build_readings;

/// A sector of a cylinder about the z axis: `angle` (rad) from the x axis.
fn sector(radius: f64, height: f64, angle: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let level = |z: f64| Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() };
    let (x, y) = (radius * math::cos(angle), radius * math::sin(angle));
    let [low, high] =
        [0.0, height].map(|z| [b.vertex(0.0, 0.0, z), b.vertex(radius, 0.0, z), b.vertex(x, y, z)]);
    let mut arc = |z: f64, v: [u32; 3]| b.edge(Curve::Circle { frame: level(z), radius }, v[1], v[2]);
    let (bottom, top) = (arc(0.0, low), arc(height, high));
    let mut line = |p: u32, q: u32| b.line(p, q);
    let around =
        |v: [u32; 3], line: &mut dyn FnMut(u32, u32) -> (u32, bool)| [line(v[0], v[1]), line(v[2], v[0])];
    let ([out_0, back_0], [out_1, back_1]) = (around(low, &mut line), around(high, &mut line));
    let up: Vec<(u32, bool)> = (0..3).map(|k| line(low[k], high[k])).collect();
    let turned = |(e, forward): (u32, bool)| (e, !forward);
    let ring = |walk: Vec<(u32, bool)>| vec![LoopSource::Edges(walk)];
    let side = vec![(bottom, true), up[2], (top, false), turned(up[1])];
    b.face(Surface::Cylinder { frame: level(0.0), radius }, true, ring(side));
    let lid = |out, arc, back| vec![out, (arc, true), back];
    let reversed = |walk: Vec<(u32, bool)>| walk.into_iter().rev().map(turned).collect::<Vec<_>>();
    b.face(Surface::Plane { frame: level(height) }, true, ring(lid(out_1, top, back_1)));
    b.face(Surface::Plane { frame: level(0.0) }, false, ring(reversed(lid(out_0, bottom, back_0))));
    b.polygon(&[&[low[0], low[1], high[1], high[0]]]);
    b.polygon(&[&[low[2], low[0], high[0], high[2]]]);
    b.finish("sector")
}

/// Two arcs in the wrong direction make three faces wrong, and are fewer corrections, whether they become
/// the longer or the shorter arcs of their circles.
#[test]
fn arcs_between_wrong_faces_are_reversed() {
    let (radius, height) = (5.0, 3.0);
    for degrees in [20.0_f64, 91.0, 160.0, 179.0, 200.0, 270.0, 340.0] {
        let angle = degrees.to_radians();
        let volume = 0.5 * angle * radius * radius * height;
        let mut source = sector(radius, height, angle);
        let solid = built(&source);
        assert_close(solid.volume, volume, &format!("{degrees}"));
        assert!(solid.remarks.is_empty(), "{degrees}: {:?}", solid.remarks);
        for e in source.edges.iter_mut().filter(|e| matches!(e.curve, Curve::Circle { .. })) {
            e.same_sense = !e.same_sense;
        }
        let readings = build_readings(&source, &BuildOptions::default()).expect("a solid");
        assert_eq!(readings.len(), 1, "{degrees}");
        let solid = &readings[0].solid;
        assert_close(solid.volume, volume, &format!("{degrees}, arcs reversed: {:?}", solid.remarks));
        assert!(!solid.remarks.is_empty(), "{degrees}");
    }
}

/// The stated uncertainty allows gaps as long as the edges, but the vertices lie on their planes exactly, so
/// that the lines are wrong.
#[test]
fn lines_beside_exact_vertices_are_replaced_whatever_the_file_allows() {
    let lengths = [20.0, 10.0, 0.02];
    for uncertainty in [0.0, 1e-3, 0.1, 1.0] {
        for off in [1e-3, 0.02, 0.3, 1.2] {
            let mut source = fixtures::block([0.0; 3], lengths);
            source.uncertainty = uncertainty;
            let mut rng = SmallRng::seed_from_u64(7);
            for e in source.edges.iter_mut().step_by(3) {
                let Curve::Line { origin, .. } = &mut e.curve else { unreachable!("lines only") };
                *origin += V3::from_fn(|_, _| rng.random_range(-off..off));
            }
            let solid = built(&source);
            let volume: f64 = lengths.iter().product();
            assert!((solid.volume - volume).abs() <= 1e-9 * volume, "{uncertainty}, {off}: {}", solid.volume);
            assert!(!solid.remarks.is_empty(), "{uncertainty}, {off}");
        }
    }
}
