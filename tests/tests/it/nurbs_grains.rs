//! Contacts of grains bounded by one closed NURBS surface, against references that do not use patches.

use feeler_brep::build::BuildOptions;
use feeler_geom::{P2, P3, Pose, V3, math};
use feeler_grains::nurbs::{Along, ControlNet, NurbsGrain, polished};
use feeler_import::{prepare_grain, prepare_grain_with};
use feeler_runtime::{Body, Contact, ContactKind, ContactPair, QueryOptions, Status};
use nalgebra::{Matrix2, Matrix3, UnitQuaternion, Vector2};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Body of a grain; with `exactly`, spheres and tori remain splines as well.
fn body(grain: &NurbsGrain, exactly: bool) -> Arc<Body> {
    let default = BuildOptions::default();
    let canonical_tolerance = if exactly { 0.0 } else { default.canonical_tolerance };
    let options = BuildOptions { canonical_tolerance, ..default };
    let model = prepare_grain_with("grain", grain.surface(), &options).expect("a grain");
    assert!(model.remarks.is_empty(), "{:?}", model.remarks);
    Arc::new(Body::from_model(&model, 0).expect("a body"))
}

fn direction(rng: &mut StdRng) -> V3 {
    loop {
        let d =
            V3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
        if let Some(d) = d.try_normalize(0.1) {
            return d;
        }
    }
}

fn turned(rng: &mut StdRng) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(direction(rng) * rng.random_range(0.0..3.0))
}

/// A fiftieth of the size, or less if the minimum thickness requires it. The thickness of an exact torus
/// as a spline is unknown.
fn depth(pair: &ContactPair) -> f64 {
    let [a, b] = [pair.body_a(), pair.body_b()];
    (0.02 * a.size().min(b.size())).min(0.49 * (a.min_thickness() + b.min_thickness()))
}

/// Strict minima of a query with this penetration depth.
fn minima(pair: &mut ContactPair, a: &Pose, b: &Pose, reach: f64) -> Vec<Contact> {
    let options = QueryOptions { penetration: depth(pair), ..QueryOptions::within(reach) };
    pair.query(a, b, &options).expect("a query").to_vec()
}

/// Signed distance of two ellipsoids: the largest gap between supporting planes, by Newton's method over
/// directions from the best of many samples. Support functions of ellipsoids are closed forms.
fn ellipsoids_apart(a: &[f64; 3], b: &[f64; 3], pose_a: &Pose, pose_b: &Pose) -> f64 {
    let shape = |axes: &[f64; 3], pose: &Pose| {
        let turn = pose.rotation.to_rotation_matrix();
        let squares = Matrix3::from_diagonal(&V3::from_iterator(axes.iter().map(|a| a * a)));
        turn.matrix() * squares * turn.matrix().transpose()
    };
    let (q_a, q_b) = (shape(a, pose_a), shape(b, pose_b));
    let c = pose_b.translation.vector - pose_a.translation.vector;
    let gap = |n: &V3| n.dot(&c) - n.dot(&(q_a * n)).sqrt() - n.dot(&(q_b * n)).sqrt();
    let mut best = c.normalize();
    for k in 0..2000 {
        let z = 1.0 - (2.0 * f64::from(k) + 1.0) / 2000.0;
        let (s, co) = math::sin_cos(f64::from(k) * TAU * 0.618_033_988_749_895);
        let r = (1.0 - z * z).sqrt();
        let n = V3::new(r * co, r * s, z);
        if gap(&n) > gap(&best) {
            best = n;
        }
    }
    for _ in 0..40 {
        // Gradient and Hessian of a function of degree one, in the plane orthogonal to n.
        let n = best;
        let x = n.cross(&if n.x.abs() < 0.5 { V3::x() } else { V3::y() }).normalize();
        let y = n.cross(&x);
        let part = |q: &Matrix3<f64>| {
            let h = n.dot(&(q * n)).sqrt();
            let g = q * n / h;
            (g, (q - g * g.transpose()) / h)
        };
        let ((g_a, h_a), (g_b, h_b)) = (part(&q_a), part(&q_b));
        let g = c - g_a - g_b;
        let h = -(h_a + h_b) - Matrix3::identity() * gap(&n);
        let gradient = Vector2::new(x.dot(&g), y.dot(&g));
        let hessian = Matrix2::new(x.dot(&(h * x)), x.dot(&(h * y)), y.dot(&(h * x)), y.dot(&(h * y)));
        let step = hessian.try_inverse().map_or(gradient, |i| -(i * gradient));
        let mut share = (0.3 / step.norm()).min(1.0);
        while share > 1e-6 && gap(&(n + (x * step.x + y * step.y) * share).normalize()) < gap(&n) - 1e-15 {
            share *= 0.5;
        }
        best = (n + (x * step.x + y * step.y) * share).normalize();
    }
    gap(&best)
}

/// Moves B along a direction until the reference distance is the given gap.
fn placed(gap: f64, far: f64, dir: &V3, turn: UnitQuaternion<f64>, reference: impl Fn(&Pose) -> f64) -> Pose {
    let at = |t: f64| Pose::from_parts((dir * t).into(), turn);
    let (mut lo, mut hi) = (0.2 * far, 2.0 * far);
    for _ in 0..30 {
        let mid = 0.5 * (lo + hi);
        if reference(&at(mid)) < gap { lo = mid } else { hi = mid }
    }
    at(0.5 * (lo + hi))
}

fn nearest_to(minima: &[Contact], distance: f64) -> f64 {
    minima.iter().map(|l| (l.distance - distance).abs()).fold(f64::INFINITY, f64::min)
}

#[test]
fn distances_of_spheres_follow_from_their_centres() {
    let mut rng = StdRng::seed_from_u64(11);
    for exactly in [false, true] {
        let [small, large] = [1.5, 2.0].map(|r| body(&NurbsGrain::sphere(r).unwrap(), exactly));
        let mut pair = ContactPair::new(small.clone(), large.clone());
        let mut worst = 0.0_f64;
        // Start with poles and seams: z and x.
        let fixed = [V3::z(), -V3::z(), V3::x(), -V3::x(), V3::y(), V3::new(1.0, 1.0, 0.0).normalize()];
        let random: Vec<V3> = (0..60).map(|_| direction(&mut rng)).collect();
        for dir in fixed.iter().chain(&random) {
            for gap in [0.4, 1e-3, 0.0, -1e-6, -0.02] {
                let turns = [UnitQuaternion::identity(), turned(&mut rng)];
                for turn in turns {
                    let b = Pose::from_parts((dir * (3.5 + gap)).into(), turn);
                    let found = minima(&mut pair, &Pose::identity(), &b, 1.0);
                    assert_eq!(found.len(), 1, "splines {exactly}: {dir} {gap} {turn}: {found:?}");
                    worst = worst.max((found[0].distance - gap).abs());
                    let radius = (found[0].point_a.coords - dir * 1.5).norm();
                    assert!(radius < 2e-6, "{dir} {gap}: footpoint off by {radius:e}");
                    assert!((found[0].normal - dir).norm() < 2e-6);
                }
            }
        }
        assert!(worst < 1e-12 * large.size(), "splines {exactly}: {worst:e}");
    }
}

#[test]
fn distances_of_ellipsoids_follow_from_supporting_planes() {
    let mut rng = StdRng::seed_from_u64(12);
    let (a, b) = ([3.0, 2.0, 1.5], [1.0, 2.5, 2.0]);
    let bodies = [a, b].map(|axes| body(&NurbsGrain::ellipsoid(axes).unwrap(), false));
    let mut pair = ContactPair::new(bodies[0].clone(), bodies[1].clone());
    let size = bodies[0].size();
    let mut worst = 0.0_f64;
    // Closed forms along the axes, including poles and seams.
    for k in 0..3 {
        for sign in [1.0, -1.0] {
            for gap in [0.5, 0.0, -0.05] {
                let dir = V3::ith(k, sign);
                let pose = Pose::translation(0.0, 0.0, 0.0);
                let moved = Pose::from_parts((dir * (a[k] + b[k] + gap)).into(), pose.rotation);
                let found = minima(&mut pair, &pose, &moved, 1.0);
                let off = nearest_to(&found, gap);
                assert!(off < 1e-12 * size, "axis {k} {sign} at {gap}: {off:e}");
            }
        }
    }
    for case in 0..100 {
        let gap = [0.3, 0.02, 1e-6, -1e-6, -0.01, -0.08][case % 6];
        let pose_a = Pose::from_parts(V3::zeros().into(), turned(&mut rng));
        let reference = |pose: &Pose| ellipsoids_apart(&a, &b, &pose_a, pose);
        let pose_b = placed(gap, 5.0, &direction(&mut rng), turned(&mut rng), reference);
        let expected = reference(&pose_b);
        let found = minima(&mut pair, &pose_a, &pose_b, 0.5);
        let off = nearest_to(&found, expected);
        assert!(off < 1e-12 * size, "case {case} at {gap}: {off:e} of {found:?}");
        worst = worst.max(off);
    }
    assert!(worst > 0.0, "the reference is not independent of the program");
}

/// Minima at and near a pole, where meridians intersect, are found like others.
#[test]
fn minima_at_poles_are_found() {
    let mut rng = StdRng::seed_from_u64(21);
    let axes = [[3.0, 2.0, 1.5], [1.0, 2.5, 2.0]];
    let bodies = axes.map(|axes| body(&NurbsGrain::ellipsoid(axes).unwrap(), false));
    // The boundary point with a given outward normal.
    let farthest = |axes: &[f64; 3], n: &V3| {
        let s = V3::new(axes[0] * axes[0] * n.x, axes[1] * axes[1] * n.y, axes[2] * axes[2] * n.z);
        s / n.dot(&s).sqrt()
    };
    for beside in [0.0, 1e-3, 1e-2, 0.1] {
        for case in 0..60 {
            let gap = [0.4, 0.01, -0.02][case % 3];
            let (one, other) = if case % 2 == 0 { (0, 1) } else { (1, 0) };
            let (s, c) = math::sin_cos(rng.random_range(0.0..TAU));
            let pole = if case % 4 < 2 { 1.0 } else { -1.0 };
            let n = V3::new(beside * c, beside * s, pole).normalize();
            let turn = turned(&mut rng);
            let p_a = farthest(&axes[one], &n);
            let p_b = turn * farthest(&axes[other], &(turn.inverse() * -n));
            let pose = Pose::from_parts((p_a + n * gap - p_b).into(), turn);
            let mut pair = ContactPair::new(bodies[one].clone(), bodies[other].clone());
            let options = QueryOptions { penetration: 0.03, ..QueryOptions::within(1.0) };
            let found = pair.query(&Pose::identity(), &pose, &options).expect("a query");
            let off = nearest_to(found, gap);
            assert!(off < 1e-12 * 8.0, "{beside} from a pole, case {case}, gap {gap}: {off:e}");
        }
    }
}

/// All local minima of the distance of two circles about the z axes of their poses, by Newton's method
/// over both angles from a grid.
fn circles_apart(radius: [f64; 2], poses: [&Pose; 2]) -> Vec<f64> {
    let at = |k: usize, t: f64| {
        let (s, c) = math::sin_cos(t);
        let r = radius[k];
        let turn = poses[k].rotation;
        let p = poses[k] * P3::new(r * c, r * s, 0.0);
        (p, turn * V3::new(-r * s, r * c, 0.0), turn * V3::new(-r * c, -r * s, 0.0))
    };
    let mut out: Vec<f64> = Vec::new();
    let n = 12;
    for i in 0..n {
        for j in 0..n {
            let mut t = [i, j].map(|k| TAU * f64::from(k) / f64::from(n));
            let mut last = None;
            for _ in 0..40 {
                let ((p, p1, p2), (q, q1, q2)) = (at(0, t[0]), at(1, t[1]));
                let w = p - q;
                let g = Vector2::new(w.dot(&p1), -w.dot(&q1));
                let mixed = -p1.dot(&q1);
                let h = Matrix2::new(p1.dot(&p1) + w.dot(&p2), mixed, mixed, q1.dot(&q1) - w.dot(&q2));
                let definite = h[(0, 0)] > 0.0 && h.determinant() > 0.0;
                last = definite.then_some((w.norm(), g.norm()));
                let step = if definite { -h.try_inverse().expect("definite") * g } else { -g / h.norm() };
                t = [t[0] + step.x.clamp(-0.2, 0.2), t[1] + step.y.clamp(-0.2, 0.2)];
            }
            if let Some((d, g)) = last
                && g < 1e-10
                && out.iter().all(|other| (other - d).abs() > 1e-9)
            {
                out.push(d);
            }
        }
    }
    out.sort_by(f64::total_cmp);
    out
}

#[test]
fn distances_of_tori_follow_from_their_circles() {
    let mut rng = StdRng::seed_from_u64(13);
    let ([r_a, t_a], [r_b, t_b]) = ([3.0, 1.0], [2.5, 0.7]);
    for exactly in [false, true] {
        let a = body(&NurbsGrain::torus(r_a, t_a).unwrap(), exactly);
        let b = body(&NurbsGrain::torus(r_b, t_b).unwrap(), exactly);
        let mut pair = ContactPair::new(a.clone(), b);
        let (mut pressed, mut several) = (0, 0);
        for case in 0..40 {
            // Exact tori as splines can lose penetrating contacts in a flat valley: docs/NURBS.md.
            let gap = [0.3, 0.02, 1e-6, if exactly { 0.1 } else { -1e-3 }, if exactly { 0.0 } else { -0.05 }]
                [case % 5];
            let reference = |pose: &Pose| circles_apart([r_a, r_b], [&Pose::identity(), pose])[0] - t_a - t_b;
            let pose = placed(gap, 5.0, &direction(&mut rng), turned(&mut rng), reference);
            let expected = circles_apart([r_a, r_b], [&Pose::identity(), &pose]);
            let found = minima(&mut pair, &Pose::identity(), &pose, 0.5);
            let strict: Vec<f64> =
                found.iter().filter(|l| l.kind == ContactKind::Strict).map(|l| l.distance).collect();
            // Contacts deeper than the queried penetration are not compared.
            let max_depth = if exactly { 1e-7 } else { depth(&pair).min(0.06) + 1e-12 };
            let near: Vec<f64> =
                expected.iter().map(|d| d - t_a - t_b).filter(|d| (-max_depth..0.49).contains(d)).collect();
            for d in &near {
                let off = strict.iter().map(|s| (s - d).abs()).fold(f64::INFINITY, f64::min);
                assert!(
                    off < 1e-12 * a.size(),
                    "case {case}: {d} is missing, the nearest is {off:e} off: {strict:?}"
                );
            }
            for s in &strict {
                let off = expected.iter().map(|d| (d - t_a - t_b - s).abs()).fold(f64::INFINITY, f64::min);
                assert!(off < 1e-12 * a.size(), "case {case}: {s} is not a minimum: {near:?}");
            }
            pressed += u32::from(near.first().is_some_and(|d| *d < 0.0));
            several += u32::from(near.len() > 1);
        }
        assert!((exactly || pressed >= 10) && several >= 2, "{pressed} {several}");
    }
}

#[test]
fn roles_may_be_swapped() {
    let mut rng = StdRng::seed_from_u64(14);
    let (mut worst, mut polish) = ([0.0_f64; 4], [0.0_f64; 4]);
    let mut compared = 0;
    for seed in 0..6 {
        let grains = [seed, seed + 100].map(|s| NurbsGrain::random(s, 1.0, 0.6).unwrap());
        let [a, b] = [0, 1].map(|k| body(&grains[k], false));
        let (mut ab, mut ba) = (ContactPair::new(a.clone(), b.clone()), ContactPair::new(b, a));
        for _ in 0..10 {
            let pose_a = Pose::from_parts((direction(&mut rng) * 0.3).into(), turned(&mut rng));
            let dir = direction(&mut rng);
            // Move B outwards until the solids no longer interfere deeply.
            let pose_b = (0..60)
                .map(|k| Pose::from_parts((dir * (1.0 + 0.03 * f64::from(k))).into(), pose_a.rotation))
                .find(|p| {
                    let found = minima(&mut ab, &pose_a, p, 0.1);
                    ab.status() != Some(Status::Interfering) || found.iter().any(|l| l.distance < 0.0)
                })
                .expect("far enough");
            let there = minima(&mut ab, &pose_a, &pose_b, 0.3);
            let back = minima(&mut ba, &pose_b, &pose_a, 0.3);
            assert_eq!(there.len(), back.len(), "{there:?} {back:?}");
            for (x, y) in there.iter().zip(&back) {
                compared += 1;
                let offs = [
                    (x.distance - y.distance).abs(),
                    (x.normal + y.normal).norm(),
                    (x.point_a - y.point_b).norm(),
                    (x.point_b - y.point_a).norm(),
                ];
                worst.iter_mut().zip(offs).for_each(|(w, o)| *w = w.max(o));
                // Polished results agree to the last digits in either order of the solids.
                let [uv_a, uv_b] = [x.feature_a, x.feature_b].map(|f| P2::from(f.uv));
                let [back_b, back_a] = [y.feature_a, y.feature_b].map(|f| P2::from(f.uv));
                let there =
                    polished((&grains[0], &pose_a, uv_a), (&grains[1], &pose_b, uv_b)).expect("a contact");
                let back = polished((&grains[1], &pose_b, back_b), (&grains[0], &pose_a, back_a))
                    .expect("a contact");
                assert!((there.gap - x.distance).abs() < 1e-14);
                let offs = [
                    (there.gap - back.gap).abs(),
                    (there.normal + back.normal).norm(),
                    (there.point_a - back.point_b).norm(),
                    (there.point_b - back.point_a).norm(),
                ];
                polish.iter_mut().zip(offs).for_each(|(w, o)| *w = w.max(o));
            }
        }
    }
    assert!(polish.iter().all(|o| *o < 1e-14), "{polish:?}");
    assert!(worst[0] < 1e-15 * 3.0 && worst[1] < 1e-12 && worst[2].max(worst[3]) < 3e-13, "{worst:?}");
    assert!(compared >= 50, "{compared}");
}

/// A ring with a tube that is thicker in places.
fn ring() -> NurbsGrain {
    let (n_u, n_v) = (12, 8);
    let mut points = Vec::new();
    for i in 0..n_u {
        for j in 0..n_v {
            let (u, v) = (f64::from(i) / f64::from(n_u), f64::from(j) / f64::from(n_v));
            let ((su, cu), (sv, cv)) = (math::sin_cos(TAU * u), math::sin_cos(TAU * v));
            let tube = 1.0 + 0.2 * math::sin(2.0 * TAU * u) + 0.1 * math::cos(3.0 * TAU * u + TAU * v);
            let r = 3.0 + tube * cv;
            points.push(P3::new(r * cu, r * su, 0.8 * tube * sv));
        }
    }
    let (u, v) = (Along::Wrapped(3), Along::Wrapped(3));
    NurbsGrain::of_net(&ControlNet { u, v, n_v: 8, points, weights: vec![] }).expect("a ring")
}

#[test]
fn rings_have_a_thickness() {
    let ring = body(&ring(), false);
    assert!(0.9 < ring.min_thickness() && ring.min_thickness() < 1.5, "{}", ring.min_thickness());
    // Rings linked like a chain are separated, and neither is inside the other.
    let mut pair = ContactPair::new(ring.clone(), ring);
    let turn = UnitQuaternion::from_scaled_axis(V3::x() * std::f64::consts::FRAC_PI_2);
    let linked = Pose::from_parts(V3::new(3.0, 0.0, 0.0).into(), turn);
    let found = minima(&mut pair, &Pose::identity(), &linked, 2.0);
    assert_eq!(pair.status(), Some(Status::Separated), "{found:?}");
    assert!(!found.is_empty(), "the tubes pass each other");
}

#[test]
fn grains_are_stored_like_parts() {
    let grain = NurbsGrain::random(1, 2.0, 0.5).unwrap();
    let model = prepare_grain("pebble", grain.surface()).unwrap();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pebble.feeler");
    model.write(&file).expect("written");
    let read = feeler_hierarchy::Model::read(&file).expect("read");
    assert_eq!(read, model);
    let info = &read.solids[0].info;
    assert!((info.volume - grain.mass().volume).abs() < 1e-9 * info.volume);
    let inertia = info.inertia.as_ref().expect("a solid");
    for (i, row) in inertia.tensor.iter().enumerate() {
        for (j, x) in row.iter().enumerate() {
            let expected = grain.mass().tensor[(i, j)];
            assert!((x - expected).abs() < 1e-9 * grain.mass().tensor.trace(), "{i} {j}: {x} {expected}");
        }
    }
    let mut broken = grain.surface().clone();
    broken.weights = vec![1.0; broken.points.len()];
    broken.weights[3] = 0.0;
    let error = prepare_grain("pebble", &broken).unwrap_err().to_string();
    assert!(error.contains("'pebble'") && error.contains("weight"), "{error}");
}
