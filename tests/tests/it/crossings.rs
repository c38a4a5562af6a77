//! Crossing curves of interfering solids, against closed forms.

use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{ContactPair, Crossings, QueryOptions, Status};
use feeler_tests::membership::Spec;
use feeler_tests::verdicts::generate::Case;
use feeler_tests::verdicts::{Model, Pool};
use nalgebra::{Translation3, UnitQuaternion};
use std::f64::consts::{FRAC_PI_2, PI};

fn moved(x: f64, y: f64, z: f64) -> Pose {
    Pose::from(Translation3::new(x, y, z))
}

fn turned(axis: V3, angle: f64) -> Pose {
    Pose::from_parts(Translation3::identity(), UnitQuaternion::from_scaled_axis(axis * angle))
}

fn query(a: &Model, b: &Model, pose_a: &Pose, pose_b: &Pose, chord: f64) -> (ContactPair, Crossings) {
    let options = QueryOptions::within(0.0);
    let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
    pair.query(pose_a, pose_b, &options).expect("finite poses, options and shapes");
    let crossings =
        pair.crossing_curves(pose_a, pose_b, &options, chord).expect("finite poses, options and shapes");
    let mut faces: Vec<(u32, u32)> =
        crossings.curves.iter().map(|c| (c.feature_a.index, c.feature_b.index)).collect();
    faces.sort_unstable();
    faces.dedup();
    let mut pairs: Vec<(u32, u32)> = pair
        .crossing_faces(pose_a, pose_b, &options)
        .expect("finite poses, options and shapes")
        .iter()
        .map(|(f, g)| (f.index, g.index))
        .collect();
    pairs.sort_unstable();
    assert_eq!(
        faces, pairs,
        "{:?} {:?}: faces with crossing curves differ from crossing faces",
        a.spec, b.spec
    );
    (pair, crossings)
}

fn length(points: &[P3]) -> f64 {
    points.windows(2).map(|w| (w[1] - w[0]).norm()).sum()
}

/// Lengths of the crossing curves, ascending, and number of closed ones.
fn lengths(a: &Spec, b: &Spec, pose_b: &Pose) -> (Vec<f64>, usize) {
    let mut pool = Pool::default();
    let (a, b) = (pool.get(a), pool.get(b));
    let common = Pose::from_parts(
        Translation3::new(3.0, -5.0, 7.0),
        UnitQuaternion::from_scaled_axis(V3::new(0.3, -0.7, 1.1)),
    );
    let chord = 1e-7 * a.size();
    let (pair, found) = query(&a, &b, &common, &(common * pose_b), chord);
    assert_eq!(pair.status(), Some(Status::Interfering), "{:?} {:?}", a.spec, b.spec);
    assert_eq!(found.left_out, [], "{:?} {:?}", a.spec, b.spec);
    let mut out: Vec<f64> = found.curves.iter().map(|c| length(&c.points)).collect();
    out.sort_by(f64::total_cmp);
    let (_, swapped) = query(&b, &a, &(common * pose_b), &common, chord);
    let total: f64 = swapped.curves.iter().map(|c| length(&c.points)).sum();
    assert!(
        (total - out.iter().sum::<f64>()).abs() < 1e-6 * total,
        "{:?} {:?}: total length {total} after swapping, {out:?} before",
        a.spec,
        b.spec
    );
    (out, found.curves.iter().filter(|c| c.closed).count())
}

#[track_caller]
fn close(found: &(Vec<f64>, usize), right: &[f64], closed: usize) {
    assert_eq!((found.0.len(), found.1), (right.len(), closed), "{found:?}");
    for (f, r) in found.0.iter().zip(right) {
        assert!((f - r).abs() < 1e-6 * r, "{f}, not {r}");
    }
}

/// Circumference of an ellipse, from 4096 points: exact to rounding.
fn ellipse(a: f64, b: f64) -> f64 {
    let n = 4096;
    let speed = |i: i32| {
        let (s, c) = math::sin_cos(2.0 * PI * f64::from(i) / f64::from(n));
        (a * a * s * s + b * b * c * c).sqrt()
    };
    (0..n).map(speed).sum::<f64>() * 2.0 * PI / f64::from(n)
}

#[test]
fn closed_forms() {
    // Balls of radii 2 and 1.5 at a distance of 2.5: a circle of radius 1.2.
    let balls = lengths(&Spec::Ball { r: 2.0 }, &Spec::Ball { r: 1.5 }, &moved(0.0, 1.5, 2.0));
    close(&balls, &[2.0 * PI * 1.2], 1);
    // A pin through a plate, upright and at 30°.
    let plate = Spec::Block { x: 8.0, y: 6.0, z: 1.0 };
    let pin = Spec::Cylinder { r: 0.5, h: 9.0 };
    close(&lengths(&plate, &pin, &moved(0.3, 0.2, -4.0)), &[PI, PI], 2);
    let slanted = moved(0.0, 0.0, 0.5) * turned(V3::x(), PI / 6.0) * moved(0.0, 0.0, -4.5);
    let oval = ellipse(0.5, 0.5 / math::cos(PI / 6.0));
    close(&lengths(&plate, &pin, &slanted), &[oval, oval], 2);
    // A bar through the wall of a block: a rectangle of four sides.
    let bar = Spec::Block { x: 1.0, y: 0.5, z: 9.0 };
    let through = moved(0.0, 0.0, 0.5) * turned(V3::z(), 0.3) * moved(0.0, 0.0, -4.5);
    close(&lengths(&plate, &bar, &through), &[0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0], 0);
    // Equal cylinders at a right angle: two ellipses, which intersect in tangent points.
    let rod = Spec::Cylinder { r: 1.0, h: 6.0 };
    let across = moved(0.0, 3.0, 3.0) * turned(V3::x(), FRAC_PI_2);
    let steinmetz = ellipse(1.0, 2.0_f64.sqrt());
    close(&lengths(&rod, &rod, &across), &[steinmetz, steinmetz], 2);
    // A torus cut by a plane through its axis, then by one across it, half-way up.
    let torus = Spec::Torus { major: 3.0, minor: 1.0 };
    let big = Spec::Block { x: 20.0, y: 20.0, z: 10.0 };
    close(&lengths(&torus, &big, &turned(V3::x(), FRAC_PI_2)), &[2.0 * PI, 2.0 * PI], 2);
    let h = 0.75_f64.sqrt();
    close(&lengths(&torus, &big, &moved(0.0, 0.0, 0.5)), &[2.0 * PI * (3.0 - h), 2.0 * PI * (3.0 + h)], 2);
    // A ball at a block's corner: a quarter circle on each of three sides.
    let ball =
        lengths(&Spec::Block { x: 4.0, y: 4.0, z: 4.0 }, &Spec::Ball { r: 1.0 }, &moved(2.0, 2.0, 4.0));
    close(&ball, &[FRAC_PI_2, FRAC_PI_2, FRAC_PI_2], 0);
}

/// Solids of all kinds: vertices are on both boundaries, no point of a fine polyline is farther from a
/// coarse one than the chord error, and the lengths agree.
#[test]
fn curves_are_on_both_boundaries() {
    let mut pool = Pool::default();
    let (mut n, mut curves, mut left_out) = (0, 0, 0);
    for seed in 0..120 {
        let Case { a, b, pose_a, pose_b, .. } = Case::new(seed, &mut pool);
        let size = a.size().max(b.size());
        let (pair, coarse) = query(&a, &b, &pose_a, &pose_b, 1e-3 * size);
        if pair.status() != Some(Status::Interfering) {
            assert!(coarse.curves.is_empty() && coarse.left_out.is_empty(), "{seed}");
            continue;
        }
        let (_, fine) = query(&a, &b, &pose_a, &pose_b, 1e-5 * size);
        n += 1;
        curves += fine.curves.len();
        left_out += fine.left_out.len();
        let (to_a, to_b) = (pose_a.inverse(), pose_b.inverse());
        // Points may exceed a trim by its deviation from the edge.
        let off_edges = |m: &Model| m.body.hierarchy().info.max_trim_deviation;
        let near = 2e-9 * size + off_edges(&a).max(off_edges(&b));
        for p in coarse.curves.iter().chain(&fine.curves).flat_map(|c| &c.points) {
            let depths = [a.shape.form.depth(&(to_a * p)), b.shape.form.depth(&(to_b * p))];
            assert!(
                depths.iter().all(|d| d.abs() < near),
                "{seed}: {depths:?} {near} {:?} {:?}",
                a.spec,
                b.spec
            );
        }
        // Curves of an unfinished search depend on the chord error.
        if !fine.left_out.is_empty() || !coarse.left_out.is_empty() {
            continue;
        }
        assert_eq!(coarse.curves.len(), fine.curves.len(), "{seed}: {:?} {:?}", a.spec, b.spec);
        for (c, f) in coarse.curves.iter().zip(&fine.curves) {
            assert_eq!(
                (c.closed, c.feature_a.index, c.feature_b.index),
                (f.closed, f.feature_a.index, f.feature_b.index)
            );
            let off = |p: &P3| {
                let sides = c.points.windows(2).map(|w| {
                    let d = w[1] - w[0];
                    let s = ((p - w[0]).dot(&d) / d.norm_squared()).clamp(0.0, 1.0);
                    (w[0] + d * s - p).norm()
                });
                sides.fold(f64::INFINITY, f64::min)
            };
            for p in &f.points {
                assert!(
                    off(p) <= 1e-3 * size,
                    "{seed}: a vertex is {} mm off for {:?} {:?}",
                    off(p),
                    a.spec,
                    b.spec
                );
            }
        }
    }
    assert!(n > 60 && curves > 300 && left_out < 40, "{n} pairs, {curves} curves, {left_out} left out");
}
