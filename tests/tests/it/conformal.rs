//! Conformal contact through near-conformal poses. The demands and the scenarios are in
//! [`feeler_tests::conformal`]; the benchmark program `conformal` runs more poses.
#![expect(clippy::print_stdout, reason = "the test reports the numbers of poses and contacts")]

use feeler_brep::fixtures::prism;
use feeler_geom::{P2, P3, Pose, V3, math};
use feeler_runtime::{ContactKind, ContactPair, QueryOptions};
use feeler_tests::conformal::shapes::Shape;
use feeler_tests::conformal::{RampOptions, Rig, Seen, all, ramp, tilts};
use feeler_tests::part_of;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::TAU;

#[test]
fn tilted_contacts() {
    let tilts = tilts(1e-3, 1);
    let mut faults = Vec::new();
    for i in 0..all(0.0).len() {
        let mut seen = Seen::default();
        for (gap, seed) in [(0.0, 1), (0.05, 0)] {
            let rig = Rig::new(all(gap).swap_remove(i), seed);
            for (k, axis) in rig.scenario.axes.iter().enumerate() {
                // Alternate the direction of the tilt.
                let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
                for quasi_angle in [0.0, 2e-3] {
                    let (found, now, _) =
                        ramp(&rig, axis, sign, gap, &tilts, &RampOptions { quasi_angle, spacing: None });
                    seen.add(&now);
                    let of =
                        format!("{}, gap {gap}, about {}, α {quasi_angle}", rig.scenario.name, axis.name);
                    faults.extend(found.into_iter().map(|f| format!("{}: {of}: {}", f.demand, f.text)));
                }
            }
        }
        println!("{}: {} poses, {} contacts", all(0.0)[i].name, seen.poses, seen.contacts);
        assert!(seen.contacts > 2 * seen.poses, "too few contacts");
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Checks the closed forms themselves: boundary points have distance 0, a step along a normal has its
/// length.
#[test]
fn distances_of_the_shapes() {
    for scenario in all(0.05) {
        for shape in [&scenario.a, &scenario.b] {
            let boundary = shape.boundary(0.5);
            let worst = boundary.iter().map(|p| shape.distance(p).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-14 * 50.0, "{}: {worst}", scenario.name);
        }
        // In an untilted pose too, the smallest distance over samples of B's boundary is at least that of
        // the closed form.
        let axis = scenario.axes[0].dir;
        let pose = scenario.place(&axis, 1e-3, 0.05);
        let lowest = (scenario.lowest)(&pose);
        let smallest = scenario
            .b
            .boundary(0.1)
            .iter()
            .map(|p| scenario.a.distance(&(pose * p)).abs())
            .fold(f64::INFINITY, f64::min);
        assert!(
            (-1e-12..2e-3).contains(&(smallest - lowest)),
            "{}: {smallest} over samples, {lowest} in closed form",
            scenario.name
        );
    }
    let block = Shape::Box { half: [2.0, 3.0, 4.0], fillet: 0.5 };
    let corner = P3::new(1.5, 2.5, 3.5) + V3::repeat(1.0);
    assert!(
        (block.distance(&corner) - (3.0_f64.sqrt() - 0.5)).abs() < 1e-15,
        "the distance from a rounded corner is wrong"
    );
}

/// Two prisms over random convex polygons, flush on each other: the corners of the common area are those
/// of the clipped polygon, and all samples are in it.
#[test]
fn corners_of_flush_polygons() {
    let mut random = SmallRng::seed_from_u64(46);
    let mut num_corners = 0;
    for case in 0..200 {
        let mut polygon = |n: usize| -> Vec<[f64; 2]> {
            // Points on an ellipse form a convex polygon.
            let mut angles: Vec<f64> = (0..n).map(|_| random.random_range(0.0..TAU)).collect();
            angles.sort_by(f64::total_cmp);
            angles.dedup_by(|x, y| (*x - *y).abs() < 0.2);
            angles.iter().map(|t| [10.0 * math::cos(*t), 6.0 * math::sin(*t)]).collect()
        };
        let (lower, upper) = (polygon(3 + case % 6), polygon(3 + case % 5));
        if lower.len() < 3 || upper.len() < 3 {
            continue;
        }
        let [a, b] = [&lower, &upper].map(|outline| part_of(&prism(outline, 3.0), 0.25).body);
        let (x, y) = (random.random_range(-4.0..4.0), random.random_range(-4.0..4.0));
        let (sin, cos) = math::sin_cos(random.random_range(0.0..TAU));
        let pose = Pose::new(V3::new(x, y, 3.0), V3::z() * math::atan2(sin, cos));
        let placed: Vec<[f64; 2]> =
            upper.iter().map(|p| [x + cos * p[0] - sin * p[1], y + sin * p[0] + cos * p[1]]).collect();
        let area = clipped(&placed, &lower);
        let mut pair = ContactPair::new(a, b);
        let options = QueryOptions { detect_interference: false, ..QueryOptions::within(1e-3) };
        let found = pair.query(&Pose::identity(), &pose, &options).unwrap();
        let on_top: Vec<P3> =
            found.iter().filter(|l| l.kind == ContactKind::Conformal).map(|l| l.point_a).collect();
        for corner in &area {
            num_corners += 1;
            let apart = on_top.iter().map(|p| (p.xy() - P2::from(*corner)).norm());
            let nearest = apart.fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-5, "{case}: {corner:?} is {nearest:e} from the samples {on_top:?}");
        }
        for p in &on_top {
            let inside = |outline: &[[f64; 2]]| edges(outline).all(|(q, r)| side(q, r, [p.x, p.y]) > -1e-5);
            assert!(inside(&placed) && inside(&lower), "{case}: {p}");
        }
    }
    assert!(num_corners > 300, "{num_corners}");
}

/// Edges of a counter-clockwise polygon.
fn edges(outline: &[[f64; 2]]) -> impl Iterator<Item = ([f64; 2], [f64; 2])> {
    (0..outline.len()).map(|k| (outline[k], outline[(k + 1) % outline.len()]))
}

/// Distance of a point to the left of the line through two others.
fn side(q: [f64; 2], r: [f64; 2], p: [f64; 2]) -> f64 {
    let (dx, dy) = (r[0] - q[0], r[1] - q[1]);
    (dx * (p[1] - q[1]) - dy * (p[0] - q[0])) / math::hypot(dx, dy)
}

/// Intersection of two convex polygons, by clipping one at each edge of the other; empty if it is thin.
fn clipped(outline: &[[f64; 2]], by: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut out = outline.to_vec();
    for (q, r) in edges(by) {
        let from = std::mem::take(&mut out);
        for (s, t) in edges(&from) {
            let (d, e) = (side(q, r, s), side(q, r, t));
            if d >= 0.0 {
                out.push(s);
            }
            if (d > 0.0 && e < 0.0) || (d < 0.0 && e > 0.0) {
                let part = d / (d - e);
                out.push([0, 1].map(|i| s[i] + part * (t[i] - s[i])));
            }
        }
    }
    let thin = out.len() < 3 || edges(&out).any(|(q, r)| math::hypot(r[0] - q[0], r[1] - q[1]) < 0.3);
    if thin { Vec::new() } else { out }
}
