//! Curves against solids: closed-form expectations.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::sync::Arc;

use feeler_curves::{Curve, CurveLocation, CurveOptions, CurveSolidPair, Obstacle, P3};
use feeler_geom::{Pose, V3};
use feeler_runtime::Body;

fn solid(name: &str) -> Obstacle {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/{name}.step"));
    Obstacle::new(Arc::new(Body::from_model(&feeler_import::prepare_step(&file).unwrap(), 0).unwrap()))
}

/// A straight cable over a box, across it, and pressed into it.
#[test]
fn a_cable_and_a_box() {
    let solid = solid("box");
    let bounds = *solid.body().bounds();
    let (top, middle, size) = (bounds.max.z, bounds.center(), solid.body().size());
    let straight = |from: V3, to: V3| {
        let at = |t: f64| P3::from(from + (to - from) * t);
        Curve::new(3, &[0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0].map(at), 0.5, false).unwrap()
    };
    let options = CurveOptions { d_max: 2.0, ..CurveOptions::default() };
    let mut pair = CurveSolidPair::new();
    let pose = Pose::identity();
    // Above the top face, from the middle to far outside: one set, which ends at the end of the cable
    // and at the edge.
    let above = V3::new(middle.x, middle.y, top + 1.5);
    let cable = straight(above, above + V3::new(size, 0.0, 0.0));
    let found = pair.query(&cable, &solid, &pose, &options).to_vec();
    assert!(!found.is_empty());
    for m in &found {
        assert!((m.gap - 1.0).abs() < 1e-12 && (m.normal - V3::z()).norm() < 1e-12, "{m:?}");
        assert!(m.foot.x <= bounds.max.x + 1e-9);
    }
    let last = found.iter().map(|m| m.foot.x).fold(f64::NEG_INFINITY, f64::max);
    assert!((last - bounds.max.x).abs() < 1e-9, "{found:?}");
    assert_eq!(pair.interferes(&cable, &solid, &pose, 1e-6), Some(false));
    // Upright with its end in the top face: pressed in by less than the radius, then by more.
    for (height, gap) in [(0.2, -0.3), (-0.3, -0.8)] {
        let end = V3::new(middle.x, middle.y, top + height);
        let cable = straight(end, end + V3::new(0.0, 0.0, size));
        let found = pair.query(&cable, &solid, &pose, &options);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0].gap - gap).abs() < 1e-12 && found[0].place == CurveLocation::End);
        assert_eq!(pair.interferes(&cable, &solid, &pose, 1e-6), Some(true));
    }
    // The whole cable inside, far from the faces: no minimum, but it interferes.
    let cable = straight(middle.coords, middle.coords + V3::new(0.01, 0.0, 0.0));
    assert!(pair.query(&cable, &solid, &pose, &options).is_empty());
    assert_eq!(pair.interferes(&cable, &solid, &pose, 1e-6), Some(true));
}

/// A long straight cable over a ring with a round section has a minimum on each side, whatever its
/// length, also in symmetric positions.
#[test]
fn a_long_cable_over_a_ring() {
    let solid = solid("ring");
    let mut pair = CurveSolidPair::new();
    let options = CurveOptions { d_max: 0.2, ..CurveOptions::default() };
    for (from, to) in [(-15.0, 15.0), (-150.0, 150.0), (-2500.0, 2500.0), (-2493.0, 2507.0), (-500.0, 4500.0)]
    {
        // In one piece, and in two pieces with the joint on the ring's axis.
        for joints in [vec![from, to], vec![from, 0.0, to]] {
            let mut points = vec![P3::new(from, 0.0, 2.6)];
            for ends in joints.windows(2) {
                let at = |k: i32| P3::new(ends[0] + (ends[1] - ends[0]) * f64::from(k) / 3.0, 0.0, 2.6);
                points.extend((1..=3).map(at));
            }
            let cable = Curve::new(3, &points, 0.5, false).unwrap();
            let found = pair.query(&cable, &solid, &Pose::identity(), &options);
            let xs: Vec<f64> = found.iter().map(|m| m.point.x).collect();
            let is_right = xs.len() == 2 && (xs[0] + 10.2).abs() < 1e-9 && (xs[1] - 10.2).abs() < 1e-9;
            assert!(is_right && found.iter().all(|m| (m.gap - 0.1).abs() < 1e-9), "{joints:?}: {found:?}");
        }
    }
}

/// A long cable over a narrow face: the level stretch is as long as the face is wide.
#[test]
fn a_long_cable_over_a_narrow_face() {
    let solid = solid("race");
    let mut pair = CurveSolidPair::new();
    let options = CurveOptions { d_max: 0.2, level_length: Some(0.5), ..CurveOptions::default() };
    for length in [50.0, 3000.0] {
        let at = |t: f64| P3::new((t - 0.47) * length, 0.0, 5.6);
        let points: Vec<P3> = (0..=3).map(|k| at(f64::from(k) / 3.0)).collect();
        let cable = Curve::new(3, &points, 0.5, false).unwrap();
        let found = pair.query(&cable, &solid, &Pose::identity(), &options);
        // The upper end face of the ring has radii from 14 to 20 mm.
        assert!(found.iter().all(|m| (m.gap - 0.1).abs() < 1e-9 && m.set.is_some()), "{found:?}");
        for [from, to] in [[-20.0_f64, -14.0], [14.0, 20.0]] {
            let is_there = |m: &&feeler_curves::SolidMinimum| m.foot.x * from.signum() > 0.0;
            let xs: Vec<f64> = found.iter().filter(is_there).map(|m| m.foot.x).collect();
            let (low, high) =
                (xs.iter().copied().fold(99.0, f64::min), xs.iter().copied().fold(-99.0, f64::max));
            assert!((low - from).abs() < 1e-9 && (high - to).abs() < 1e-9, "{length}: {found:?}");
            let sets: std::collections::BTreeSet<_> = found.iter().filter(is_there).map(|m| m.set).collect();
            assert_eq!(sets.len(), 1, "{length}: {found:?}");
        }
    }
}

/// Sets have few samples for any options.
#[test]
fn samples_are_few() {
    let solid = solid("box");
    let bounds = *solid.body().bounds();
    let (top, middle) = (bounds.max.z, bounds.center());
    let mut pair = CurveSolidPair::new();
    for x in [0.0, 0.3, 5.0] {
        let at = |t: f64| P3::new(middle.x + x + 12.0 * (t - 0.5), middle.y, top + 0.6);
        let points: Vec<P3> = (0..=6).map(|k| at(f64::from(k) / 6.0)).collect();
        let cable = Curve::new(3, &points, 0.5, false).unwrap();
        for (length, most) in [(0.0, 2), (0.0, 3), (0.0, 16), (1e-9, 16), (3.0, 16), (11.9, 2)] {
            let options = CurveOptions {
                d_max: 0.2,
                level_length: Some(length),
                max_samples: most,
                ..CurveOptions::default()
            };
            let found = pair.query(&cable, &solid, &Pose::identity(), &options);
            // The ends of the cable may be additional minima.
            assert!((2..=most + 2).contains(&found.len()), "{length} {most}: {found:?}");
            let us: Vec<f64> = found.iter().map(|m| m.u).collect();
            assert!(us[0] < 1e-9 && us[us.len() - 1] > 2.0 - 1e-9, "{length} {most}: {us:?}");
        }
    }
}
