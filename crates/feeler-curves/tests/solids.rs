//! Curves and solids: closed forms, and random curves against the nearest points of densely sampled ones.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;
use std::sync::Arc;

use feeler_curves::{Curve, CurveOptions, CurveSolidPair, Obstacle, P3, Place};
use feeler_geom::{Pose, V3};
use feeler_runtime::{Body, PointQuery};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn solid(name: &str) -> Obstacle {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/{name}.step"));
    Obstacle::new(Arc::new(Body::from_model(&feeler_import::prepare_step(&file).unwrap(), 0).unwrap()))
}

fn random_pose(rng: &mut SmallRng, shift: f64) -> Pose {
    let axis = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    let at = V3::from_fn(|_, _| rng.random_range(-shift..shift));
    Pose::new(at, axis * 3.0)
}

/// Control points of cubics with a direction that goes on at joints.
fn random_curve(rng: &mut SmallRng, pieces: usize, extent: f64) -> Vec<P3> {
    let mut any = || V3::from_fn(|_, _| rng.random_range(-extent..extent));
    let points: Vec<V3> = (0..=pieces).map(|_| any()).collect();
    let slopes: Vec<V3> = (0..=pieces).map(|_| any()).collect();
    let mut out = vec![P3::from(points[0])];
    for i in 0..pieces {
        out.push((points[i] + slopes[i] / 3.0).into());
        out.push((points[i + 1] - slopes[i + 1] / 3.0).into());
        out.push(points[i + 1].into());
    }
    out
}

/// What the nearest points of a densely sampled curve tell: places where the distance of the curve from the
/// boundary is least, with the distance. Sampled distances are refined by bisections of the golden ratio.
fn sampled_minima(curve: &Curve, body: &Body, into: &Pose, reach: f64) -> Vec<(f64, f64)> {
    let mut points = PointQuery::new();
    let mut distance = |u: f64| {
        points.nearest(body, &(into * curve.point(u)), 2.0 * reach).map_or(2.0 * reach, |n| n.distance)
    };
    let n = 100 * curve.n_pieces();
    let at = |i: usize| curve.n_pieces() as f64 * i as f64 / n as f64;
    let d: Vec<f64> = (0..=n).map(|i| distance(at(i))).collect();
    let mut out = Vec::new();
    for i in 0..=n {
        let before = if i == 0 { f64::INFINITY } else { d[i - 1] };
        let after = if i == n { f64::INFINITY } else { d[i + 1] };
        if d[i] > reach || d[i] > before || d[i] > after || (before <= d[i] && after <= d[i]) {
            continue;
        }
        let (mut lo, mut hi) = (at(i.saturating_sub(1)), at((i + 1).min(n)));
        let g = 0.5 * (5.0_f64.sqrt() - 1.0);
        for _ in 0..60 {
            let (x, y) = (hi - g * (hi - lo), lo + g * (hi - lo));
            if distance(x) < distance(y) {
                hi = y;
            } else {
                lo = x;
            }
        }
        let best =
            [lo, hi, at(i)].map(|u| (u, distance(u))).into_iter().min_by(|p, q| p.1.total_cmp(&q.1)).unwrap();
        out.push(best);
    }
    out
}

/// A straight cable over a box, along and across, and into it.
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
    // Over the top from inside to far outside: one contact of equal distance, ended by the end and by the
    // edge.
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
    // Upright, its end in the top face: pressed in by the radius, then deeper than that.
    for (height, gap) in [(0.2, -0.3), (-0.3, -0.8)] {
        let end = V3::new(middle.x, middle.y, top + height);
        let cable = straight(end, end + V3::new(0.0, 0.0, size));
        let found = pair.query(&cable, &solid, &pose, &options);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0].gap - gap).abs() < 1e-12 && found[0].place == Place::End);
        assert_eq!(pair.interferes(&cable, &solid, &pose, 1e-6), Some(true));
    }
    // All of it inside, far from the faces: no minimum, and yet it interferes.
    let cable = straight(middle.coords, middle.coords + V3::new(0.01, 0.0, 0.0));
    assert!(pair.query(&cable, &solid, &pose, &options).is_empty());
    assert_eq!(pair.interferes(&cable, &solid, &pose, 1e-6), Some(true));
}

#[test]
fn random_curves_about_solids() {
    let names = [
        "box",
        "cylinder",
        "cone",
        "sphere",
        "torus",
        "bore",
        "ring",
        "spool",
        "plug",
        "socket",
        "half-cone",
        "loft",
        "swept",
        "wave",
        "torus-nurbs",
        "cone-nurbs",
        "bayonet-plug",
        "stepped-seat",
        "void",
        "inch-bracket",
    ];
    let mut rng = SmallRng::seed_from_u64(7);
    let (mut n, mut n_checked, mut faults) = (0, 0, Vec::new());
    for name in names {
        let solid = solid(name);
        let body = solid.body().clone();
        let size = body.size();
        let mut pair = CurveSolidPair::new();
        for k in 0..4 {
            let pieces = 1 + k % 3;
            let pose = random_pose(&mut rng, 0.5 * size);
            let curve =
                Curve::new(3, &random_curve(&mut rng, pieces, 0.6 * size), 0.02 * size, false).unwrap();
            let options = CurveOptions { d_max: 0.2 * size, ..CurveOptions::default() };
            let reach = options.d_max + curve.radius();
            let found = pair.query(&curve, &solid, &pose, &options).to_vec();
            let into = pose.inverse();
            let mut points = PointQuery::new();
            for (u, d) in sampled_minima(&curve, &body, &into, reach) {
                // Where the curve passes through the boundary the unsigned distance is 0: no minimum of ours.
                if d < 1e-6 * size || points.contains(&body, &(into * curve.point(u)), 1e-9) != Some(false) {
                    continue;
                }
                n += 1;
                let near = |m: &&feeler_curves::SolidMinimum| {
                    (m.distance - d).abs() < 1e-6 * size && (m.point - curve.point(u)).norm() < 1e-2 * size
                };
                if !found.iter().any(|m| near(&m)) {
                    faults.push(format!("{name} {k}: lost at {u}, distance {d}, found {found:?}"));
                }
            }
            for m in &found {
                let foot = into * m.foot;
                let off = points.nearest(&body, &foot, size).map_or(f64::INFINITY, |n| n.distance);
                let at = into * m.point;
                let nearest = points.nearest(&body, &at, size).map_or(f64::INFINITY, |n| n.distance);
                assert!((m.point - m.foot - m.normal * m.distance).norm() < 1e-9 * size);
                // Trims follow their edges to a measured deviation only.
                let slack = 1e-9 * size + body.hierarchy().info.max_trim_deviation;
                let mut is_right = off <= slack && nearest <= m.distance.abs() + slack;
                if (nearest - m.distance.abs()).abs() < 1e-9 * size {
                    n_checked += 1;
                    // The nearest of all: then it is a minimum of the sampled distance.
                    for h in [1e-3, -1e-3] {
                        let u = (m.u + h).clamp(0.0, curve.n_pieces() as f64);
                        let p = into * curve.point(u);
                        let there = points.nearest(&body, &p, size).map_or(f64::INFINITY, |n| n.distance);
                        let there = if m.distance < 0.0 { -there } else { there };
                        is_right &= there >= m.distance - slack;
                    }
                }
                if m.place == Place::Inside && m.set.is_none() {
                    let t = curve.derivatives(m.u)[0];
                    let is_joint = (m.u - m.u.round()).abs() < 1e-9;
                    is_right &= is_joint || m.normal.dot(&t).abs() < 1e-7 * t.norm();
                }
                if !is_right {
                    faults.push(format!("{name} {k}: wrong {m:?}: foot {off:e} off, nearest {nearest}"));
                }
            }
        }
    }
    assert!(n > 40 && n_checked > 40);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
