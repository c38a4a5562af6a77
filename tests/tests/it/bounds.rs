//! Boxes, extents and hulls contain their solid, and are as tight as documented.
#![expect(clippy::print_stdout, reason = "the test reports the compared values")]

use feeler_geom::trim::Side;
use feeler_geom::{Aabb, P2, P3, Pose, Rect, V3};
use feeler_hierarchy::{Hierarchy, extent, placed_box};
use feeler_tests::{Part, data_dir, part, part_of, random_pose, shared_dir};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

/// Random points of all faces, equally many from each.
fn samples(h: &Hierarchy, count: usize, rng: &mut SmallRng) -> Vec<P3> {
    let per_face = count / h.faces.len() + 1;
    let mut out = Vec::new();
    for face in &h.faces {
        let r = face.trim.rect;
        let mut found = 0;
        for _ in 0..50 * per_face {
            let uv = P2::new(rng.random_range(r.u0..=r.u1), rng.random_range(r.v0..=r.v1));
            if face.trim.classify(uv) == Side::Inside {
                out.push(face.surface.point(uv));
                found += 1;
            }
            if found == per_face {
                break;
            }
        }
    }
    out
}

/// Whether a point is on a vertex, an edge, or a face inside its trims.
fn is_on(h: &Hierarchy, p: &P3, near: f64) -> bool {
    let on_face = |f: &feeler_hierarchy::Face| {
        let uv = f.surface.invert(p, None, Some(&f.trim.rect));
        let r = Rect { u0: uv.x - 1e-6, u1: uv.x + 1e-6, v0: uv.y - 1e-6, v1: uv.y + 1e-6 };
        (f.surface.point(uv) - p).norm() <= near && f.trim.may_touch(&r)
    };
    let on_edge = |e: &feeler_hierarchy::Edge| {
        e.spans.iter().any(|s| (e.curve.point(e.curve.project(p, s.t0, s.t1)) - p).norm() <= near)
    };
    h.vertices.iter().any(|v| (v.point - p).norm() <= near)
        || h.edges.iter().any(on_edge)
        || h.faces.iter().any(on_face)
}

fn direction(rng: &mut SmallRng) -> V3 {
    loop {
        let v =
            V3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
        if let Some(v) = v.try_normalize(0.1) {
            return v;
        }
    }
}

fn width(b: &Aabb, k: usize) -> f64 {
    b.max[k] - b.min[k]
}

fn check(name: &str, part: &Part, count: usize, rng: &mut SmallRng) -> f64 {
    let h = part.body.hierarchy();
    let points = samples(h, count, rng);
    assert!(points.len() > count / 4, "{name}: {} points", points.len());
    let tight = Aabb { min: h.info.bbox_min.into(), max: h.info.bbox_max.into() };
    let size = tight.diagonal();
    // Trimming curves that are fitted to edges may exceed them by this deviation.
    let fitted = h.info.max_trim_deviation.min(1e-7 * size) + 1e-13 * size;
    let outside =
        |b: &Aabb, p: &P3| (0..3).map(|k| (b.min[k] - p[k]).max(p[k] - b.max[k])).fold(0.0, f64::max);
    let off = points.iter().map(|p| outside(&tight, p)).fold(0.0, f64::max);
    assert!(off <= fitted, "{name}: a point is {off} mm outside the box");
    let mut directions: Vec<V3> = (0..3).flat_map(|k| [V3::ith(k, 1.0), -V3::ith(k, 1.0)]).collect();
    directions.extend((0..6).map(|_| direction(rng)));
    directions.extend(h.faces.iter().take(4).map(|f| {
        f.surface
            .normal(P2::new(0.5 * (f.trim.rect.u0 + f.trim.rect.u1), 0.5 * (f.trim.rect.v0 + f.trim.rect.v1)))
    }));
    let mut looseness: f64 = 0.0;
    for d in &directions {
        let e = extent(h, d, 1e-8 * size).expect("it has nodes");
        let farthest = points.iter().map(|p| d.dot(&p.coords)).fold(f64::NEG_INFINITY, f64::max);
        assert!(
            farthest <= e.upper + fitted,
            "{name} along {d:?}: a point at {farthest} exceeds the bound {}",
            e.upper
        );
        assert!(
            is_on(h, &e.point, fitted + 1e-9 * size),
            "{name} along {d:?}: {:?} is not on the solid",
            e.point
        );
        assert!((d.dot(&e.point.coords) - e.lower).abs() <= 1e-12 * size + 1e-14 * e.lower.abs(), "{name}");
        looseness = looseness.max((e.upper - e.lower) / size);
    }
    for _ in 0..3 {
        let pose = random_pose(rng.random(), &Pose::identity(), 3.0 * size, 3.0);
        let exact = placed_box(h, &pose);
        let quick = part.body.posed_bounds(&pose);
        for p in &points {
            assert!(outside(&exact, &(pose * p)) <= fitted, "{name}: a point is outside the placed box");
            assert!(outside(&quick, &(pose * p)) <= fitted, "{name}: a point is outside the posed bounds");
        }
        for k in 0..3 {
            assert!(
                width(&quick, k) <= 1.0101 * width(&exact, k) + 1e-6 * size,
                "{name}: {quick:?} is wider than {exact:?}"
            );
        }
    }
    looseness
}

#[test]
fn boxes_of_the_models_are_tight() {
    let mut rng = SmallRng::seed_from_u64(7);
    let mut files: Vec<_> = std::fs::read_dir(data_dir())
        .expect("the folder of the models")
        .map(|f| f.expect("an entry").path())
        .filter(|f| f.extension().is_some_and(|e| e == "step"))
        .collect();
    files.sort();
    assert!(files.len() > 30);
    for file in files {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let part = part(&file, 0);
        let looseness = check(&name, &part, 10_000, &mut rng);
        println!(
            "{name}: looseness {looseness:.1e}, {} points of the hull",
            part.body.hierarchy().hull.len()
        );
        assert!(looseness <= 1e-6, "{name}: the bounds are loose by {looseness:.1e} of the size");
    }
}

#[test]
fn boxes_of_real_parts_are_tight() {
    let Some(shared) = shared_dir() else { return };
    let mut rng = SmallRng::seed_from_u64(8);
    for name in ["bearing-623zz", "curved-extrude", "leg-fork-odri", "beam-coupling-5mm", "tube", "shaft"] {
        let path = shared.join(format!("models/{name}.step"));
        let import = feeler_step::read_step(&path).expect("a file of the corpus");
        for source in import.solids.iter().take(2) {
            let part = part_of(source, 0.5);
            let looseness = check(name, &part, 10_000, &mut rng);
            let info = &part.body.hierarchy().info;
            let size = part.body.size();
            println!(
                "{name}: looseness {looseness:.1e}, {} points of the hull",
                part.body.hierarchy().hull.len()
            );
            // Gaps of the file do not count as looseness.
            let gaps = if info.max_trim_deviation > 1e-7 * size { info.max_trim_deviation } else { 0.0 };
            assert!(
                looseness <= 1e-6 + gaps / size,
                "{name}: the bounds are loose by {looseness:.1e} of the size"
            );
        }
    }
}

#[test]
fn closed_forms() {
    let around = |name: &str| {
        let h = part(&data_dir().join(format!("{name}.step")), 0).body.hierarchy().clone();
        (h.info.bbox_min, h.info.bbox_max)
    };
    for (name, min, max) in [
        ("box", [-20.0, -15.0, -10.0], [20.0, 15.0, 10.0]),
        ("cylinder", [-10.0, -10.0, 0.0], [10.0, 10.0, 40.0]),
        ("cone", [-12.0, -12.0, 0.0], [12.0, 12.0, 30.0]),
        ("half-cone", [-12.0, 0.0, 0.0], [12.0, 12.0, 30.0]),
        ("sphere", [-10.0; 3], [10.0; 3]),
        ("torus", [-25.0, -25.0, -5.0], [25.0, 25.0, 5.0]),
        ("torus-without-edges", [-16.0, -16.0, -4.0], [16.0, 16.0, 4.0]),
    ] {
        let (low, high) = around(name);
        for k in 0..3 {
            let tol = 1e-12 * 40.0;
            assert!((low[k] - min[k]).abs() <= tol && low[k] <= min[k], "{name}: {low:?}");
            assert!((high[k] - max[k]).abs() <= tol && high[k] >= max[k], "{name}: {high:?}");
        }
    }
    // Support of a torus: R + r along directions in its plane, r along its axis, √(1 - a²) R + r between.
    let torus = part(&data_dir().join("torus.step"), 0);
    let mut rng = SmallRng::seed_from_u64(9);
    for _ in 0..200 {
        let d = direction(&mut rng);
        let exact = 20.0 * (d.x * d.x + d.y * d.y).sqrt() + 5.0;
        let e = extent(torus.body.hierarchy(), &d, 1e-9).expect("it has nodes");
        assert!(exact <= e.upper && e.upper <= exact + 1e-9, "{} is not {exact}", e.upper);
    }
}
