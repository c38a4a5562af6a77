//! Volume, centroid and box of the common part of interfering solids, against closed forms.

use crate::common::{as_bezier, at, body, random_pose, spool, turned};
use feeler_brep::fixtures;
use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{Body, ContactPair, Overlap, OverlapMethod, QueryOptions, RayQuery};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use std::f64::consts::PI;
use std::sync::Arc;

/// Overlap of two bodies, of which the first is at the origin; it is asserted that swapped roles give the
/// same.
fn overlap(a: &Arc<Body>, b: &Arc<Body>, pose: &Pose) -> Option<Overlap> {
    let options = QueryOptions::within(0.1);
    let of = |a: &Arc<Body>, b: &Arc<Body>, p: &Pose, q: &Pose| {
        ContactPair::new(a.clone(), b.clone()).overlap(p, q, &options).expect("finite poses and options")
    };
    let (found, swapped) = (of(a, b, &Pose::identity(), pose), of(b, a, pose, &Pose::identity()));
    assert_eq!(found.is_some(), swapped.is_some(), "swapped at {pose}");
    if let (Some(x), Some(y)) = (&found, &swapped) {
        let allowed = 1e-12 * x.volume + x.error + y.error;
        assert!((x.volume - y.volume).abs() <= allowed, "swapped at {pose}: {x:?}\n{y:?}");
    }
    found
}

/// Asserts a volume (mm³), and that the method is not that by lines.
#[track_caller]
fn check(what: &str, found: Option<Overlap>, volume: f64, method: OverlapMethod) -> Overlap {
    let found = found.unwrap_or_else(|| panic!("{what}: no overlap"));
    let off = (found.volume - volume).abs() / volume;
    assert!(off <= 1e-7, "{what}: {found:?}, expected {volume}");
    assert!((found.volume - volume).abs() <= found.error.max(1e-12 * volume) * 10.0, "{what}: {found:?}");
    assert_eq!(found.method, method, "{what}: {found:?}");
    found
}

#[track_caller]
fn check_box(found: &Overlap, min: [f64; 3], max: [f64; 3]) {
    let off = (found.min - P3::from(min)).amax().max((found.max - P3::from(max)).amax());
    assert!(off < 1e-7, "{found:?}, expected {min:?} to {max:?}");
}

#[track_caller]
fn check_centroid(found: &Overlap, centroid: [f64; 3]) {
    assert!((found.centroid - P3::from(centroid)).norm() < 1e-7, "{found:?}, expected {centroid:?}");
}

#[test]
fn boxes() {
    let cube = body(&fixtures::block([0.0; 3], [1.0; 3]));
    let found =
        check("corner", overlap(&cube, &cube, &at(0.7, 0.6, 0.5)), 0.3 * 0.4 * 0.5, OverlapMethod::Faces);
    check_box(&found, [0.7, 0.6, 0.5], [1.0; 3]);
    check_centroid(&found, [0.85, 0.8, 0.75]);
    // Flush faces: equal normals on one, two and all sides.
    let found = check(
        "one flush side",
        overlap(&cube, &cube, &at(0.7, 0.6, 0.0)),
        0.3 * 0.4,
        OverlapMethod::Displaced,
    );
    check_box(&found, [0.7, 0.6, 0.0], [1.0; 3]);
    check("two flush sides", overlap(&cube, &cube, &at(0.7, 0.0, 0.0)), 0.3, OverlapMethod::Displaced);
    check("equal boxes", overlap(&cube, &cube, &at(0.0, 0.0, 0.0)), 1.0, OverlapMethod::Displaced);
    let small = body(&fixtures::block([0.25; 3], [0.5; 3]));
    check(
        "inside",
        overlap(&cube, &small, &turned(0.1, 0.2, 0.1, 20.0, 10.0, 5.0)),
        1.0 / 64.0,
        OverlapMethod::Faces,
    );
    check(
        "inside, flush",
        overlap(&cube, &small, &at(0.0, 0.0, -0.25)),
        1.0 / 64.0,
        OverlapMethod::Displaced,
    );
    assert!(overlap(&cube, &cube, &at(1.0, 0.2, 0.1)).is_none(), "touching");
    assert!(overlap(&cube, &cube, &at(1.1, 0.2, 0.1)).is_none(), "separated");
    // An edge in a face.
    let bar = body(&fixtures::block([-1.0, -1.0, 0.0], [1.0, 1.0, 0.5]));
    check(
        "edge in a face",
        overlap(&cube, &bar, &turned(0.5, 0.5, 0.5, 0.0, 0.0, 30.0)),
        0.5,
        OverlapMethod::Displaced,
    );
}

#[test]
fn balls() {
    // Lens of two balls at the distance d.
    let (r, s, d) = (2.0_f64, 3.0_f64, 4.0_f64);
    let lens =
        PI * (r + s - d) * (r + s - d) * (d * d + 2.0 * d * (r + s) - 3.0 * (r - s) * (r - s)) / (12.0 * d);
    let (a, b) = (body(&fixtures::sphere(r)), body(&fixtures::sphere_with_seam(s)));
    let along = V3::new(2.0, -1.0, 2.0) * (d / 3.0);
    check("lens", overlap(&a, &b, &at(along.x, along.y, along.z)), lens, OverlapMethod::Faces);
    let found = check("lens along x", overlap(&a, &b, &at(d, 0.0, 0.0)), lens, OverlapMethod::Faces);
    let x = (d * d + r * r - s * s) / (2.0 * d);
    let h = (r * r - x * x).sqrt();
    check_box(&found, [d - s, -h, -h], [r, h, h]);
    check("lens along z", overlap(&a, &b, &at(0.0, 0.0, d)), lens, OverlapMethod::Faces);
    check("ball in a ball", overlap(&a, &b, &at(0.2, 0.3, 0.1)), 4.0 / 3.0 * PI * 8.0, OverlapMethod::Faces);
    check("equal balls", overlap(&a, &a, &at(0.0, 0.0, 0.0)), 4.0 / 3.0 * PI * 8.0, OverlapMethod::Displaced);
    // Cap below a plane.
    let block = body(&fixtures::block([-5.0, -5.0, -5.0], [5.0, 5.0, 0.0]));
    let cap = |h: f64| PI * h * h * (3.0 * r - h) / 3.0;
    for h in [1e-3, 0.5, 1.0, 2.0, 3.5] {
        let found = check("cap", overlap(&block, &a, &at(0.1, 0.2, r - h)), cap(h), OverlapMethod::Faces);
        assert!((found.max.z).abs() < 1e-9 && (found.min.z + h).abs() < 1e-9, "{found:?}");
        check(
            "tilted cap",
            overlap(&block, &a, &turned(0.1, 0.2, r - h, 30.0, 80.0, 10.0)),
            cap(h),
            OverlapMethod::Faces,
        );
    }
}

#[test]
fn cylinders_and_tori() {
    let rod = body(&fixtures::cylinder(1.0, 10.0));
    let found = overlap(&rod, &rod, &turned(0.0, 5.0, 5.0, 90.0, 0.0, 0.0));
    let found = check("Steinmetz", found, 16.0 / 3.0, OverlapMethod::Displaced);
    check_centroid(&found, [0.0, 0.0, 5.0]);
    check_box(&found, [-1.0, -1.0, 4.0], [1.0, 1.0, 6.0]);
    // A pin pressed into a bore.
    let (plate, pin) =
        (body(&fixtures::block_with_hole(5.0, 4.0, 1.0)), body(&fixtures::cylinder(1.01, 3.0)));
    for (z, length) in [(-0.5, 2.5), (0.5, 3.0), (2.0, 2.0)] {
        let annulus = PI * (1.01 * 1.01 - 1.0) * length;
        check("press fit", overlap(&plate, &pin, &at(0.0, 0.0, z)), annulus, OverlapMethod::Faces);
    }
    let annulus = PI * (1.01 * 1.01 - 1.0) * 3.0;
    check("press fit, flush", overlap(&plate, &pin, &at(0.0, 0.0, 0.0)), annulus, OverlapMethod::Displaced);
    let volume = 2.0 * PI * PI * 5.0;
    let torus = body(&fixtures::torus(5.0, 1.0));
    let half = body(&fixtures::block([-10.0, -10.0, -10.0], [10.0, 10.0, 0.0]));
    check("torus, flat half", overlap(&torus, &half, &at(0.0, 0.0, 0.0)), volume / 2.0, OverlapMethod::Faces);
    check(
        "torus, round half",
        overlap(&torus, &half, &turned(0.0, 0.0, 0.0, 90.0, 0.0, 0.0)),
        volume / 2.0,
        OverlapMethod::Displaced,
    );
    let seams = body(&fixtures::torus_with_seams(5.0, 1.0));
    check(
        "torus, tilted half",
        overlap(&seams, &half, &turned(0.0, 0.0, 0.0, 30.0, 20.0, 0.0)),
        volume / 2.0,
        OverlapMethod::Faces,
    );
    let cone = body(&fixtures::cone(1.0, 2.0));
    check(
        "cone",
        overlap(&half, &cone, &turned(0.1, 0.2, 0.5, 180.0, 0.0, 0.0)),
        PI * 2.0 / 3.0 * 0.75 * 0.75 * 0.75,
        OverlapMethod::Faces,
    );
    // A void.
    let (hollow, slab) =
        (body(&fixtures::hollow_sphere(5.0, 3.0)), body(&fixtures::block([-9.0; 3], [9.0, 9.0, 0.0])));
    check(
        "half a shell",
        overlap(&hollow, &slab, &at(0.0, 0.0, 0.0)),
        2.0 / 3.0 * PI * (125.0 - 27.0),
        OverlapMethod::Faces,
    );
    let big = body(&fixtures::block([-9.0; 3], [9.0; 3]));
    check(
        "shell in a box",
        overlap(&hollow, &big, &at(0.0, 0.0, 0.0)),
        4.0 / 3.0 * PI * (125.0 - 27.0),
        OverlapMethod::Faces,
    );
}

/// Splines have the same overlaps as the canonical solids that they represent.
#[test]
fn splines_and_canonical_solids() {
    let sources = [
        fixtures::sphere(1.0),
        fixtures::cylinder(0.8, 2.0),
        fixtures::torus(1.0, 0.4),
        fixtures::block([-0.7, -0.5, -0.9], [0.9, 0.6, 0.4]),
        fixtures::block_with_hole(1.0, 1.5, 0.6),
        fixtures::cone(1.0, 2.0),
    ];
    let canonical: Vec<Arc<Body>> = sources.iter().map(body).collect();
    let free: Vec<Arc<Body>> = sources.into_iter().map(|s| body(&as_bezier(s))).collect();
    let mut rng = SmallRng::seed_from_u64(7);
    let (mut done, mut by_faces) = (0, 0);
    while done < 30 {
        let pose = random_pose(&mut rng, 1.0);
        let (i, j) = (done % 6, (done / 6) % 6);
        let Some(exact) = overlap(&canonical[i], &canonical[j], &pose) else { continue };
        done += 1;
        let spline = overlap(&free[i], &canonical[j], &pose).expect("an overlap");
        by_faces += usize::from(exact.method == OverlapMethod::Faces)
            + usize::from(spline.method == OverlapMethod::Faces);
        assert!(
            (spline.volume - exact.volume).abs() <= 4.0 * (spline.error + exact.error) + 1e-9,
            "{i} {j} at {pose}: {spline:?}\n{exact:?}"
        );
    }
    assert!(by_faces >= 50, "only {by_faces} by faces");
}

/// Lenses of two equal spline balls whose surfaces are almost tangent along the crossing curve, where its
/// points are less exact.
#[test]
fn grazing_spline_balls() {
    let ball = body(&as_bezier(fixtures::sphere(10.0)));
    let direction = V3::new(2.0, -1.0, 2.0) / 3.0;
    for depth in [1e-3, 1e-2, 0.1] {
        let along = direction * (20.0 - depth);
        let pose = turned(along.x, along.y, along.z, 30.0, 80.0, 10.0);
        let pair = ContactPair::new(ball.clone(), ball.clone());
        let found = pair.overlap(&Pose::identity(), &pose, &QueryOptions::within(0.1));
        let found = found.expect("finite poses and options").expect("an overlap");
        let height = 0.5 * depth;
        let lens = 2.0 * PI * height * height * (30.0 - height) / 3.0;
        let off = (found.volume - lens).abs();
        assert!(off <= 1e-6 * lens, "depth {depth}: {found:?}, exact {lens}");
        assert!(found.error <= 1e-6 * lens, "depth {depth}: {found:?}, exact {lens}");
        // Extremes of the ball along the axis of the lens lie inside the faces.
        let radius = (depth * (10.0 - 0.25 * depth)).sqrt();
        let reach = direction.map(|e| height * e.abs() + radius * (1.0 - e * e).sqrt());
        let center = P3::from(along * 0.5);
        assert!((found.centroid - center).norm() <= 1e-3 * radius, "depth {depth}: {found:?}");
        let size = found.max - found.min;
        assert!((0..3).all(|k| size[k] <= 2.0 * reach[k] + 1e-6), "depth {depth}: {found:?}");
    }
}

/// Volume (mm³) of the common part, from the lengths of a grid of lines that are oblique to the faces of A.
fn by_rays(a: &Body, b: &Body, pose: &Pose) -> f64 {
    const N: i32 = 100;
    let dir = V3::new(0.31, 0.43, 0.85).normalize();
    let (e, g) = feeler_geom::frame::complete_basis(&dir);
    let size = a.size();
    let step = size / f64::from(N);
    let start = a.bounds().center() - dir * (2.0 * size);
    let mut rays = RayQuery::new();
    let mut parts = |body: &Body, origin: P3, dir: V3| -> Vec<[f64; 2]> {
        let hits = rays.intersections(body, &origin, &dir).expect("a finite ray");
        hits.chunks_exact(2).map(|w| [w[0].t, w[1].t]).collect()
    };
    let mut sum = 0.0;
    for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))) {
        let [x, y] = [i, j].map(|i| (f64::from(i - N / 2) + 0.5) * step);
        let origin = start + e * x + g * y;
        let own = parts(a, origin, dir);
        if own.is_empty() {
            continue;
        }
        let begin = origin - dir * (8.0 * size);
        let shift = 8.0 * size;
        let other = parts(b, pose.inverse_transform_point(&begin), pose.rotation.inverse() * dir);
        for p in &own {
            let length = |q: &[f64; 2]| (p[1].min(q[1] - shift) - p[0].max(q[0] - shift)).max(0.0);
            sum += other.iter().map(length).sum::<f64>();
        }
    }
    sum * step * step
}

#[test]
fn random_poses_agree_with_rays() {
    let bodies: Vec<Arc<Body>> = [
        spool(3.0, 1.5, 1.2),
        fixtures::l_prism(2.0, 0.7, 1.5),
        fixtures::notched_cube(2.0),
        fixtures::stadium(2.0, 0.8, 1.0),
        fixtures::hollow_sphere(1.5, 1.0),
        fixtures::half_cone(1.5, 2.0),
        fixtures::torus_with_seams(1.5, 0.6),
        fixtures::apple(0.8, 1.0),
    ]
    .iter()
    .map(body)
    .collect();
    let mut rng = SmallRng::seed_from_u64(11);
    let (mut done, mut by_faces) = (0, 0);
    while done < 64 {
        let pose = random_pose(&mut rng, 1.5);
        let (a, b) = (&bodies[done % 8], &bodies[done / 8]);
        let Some(found) = overlap(a, b, &pose) else { continue };
        let expected = by_rays(a, b, &pose);
        let whole = (a.bounds().max - a.bounds().min).product();
        let what = format!("{} {} at {pose}: {found:?}, by rays {expected}", done % 8, done / 8);
        done += 1;
        assert!((found.volume - expected).abs() <= 0.01 * expected + 1e-4 * whole, "{what}");
        let inside = (0..3).all(|k| found.min[k] <= found.centroid[k] && found.centroid[k] <= found.max[k]);
        assert!(inside, "{what}");
        by_faces += usize::from(found.method == OverlapMethod::Faces);
    }
    assert!(by_faces >= 60, "only {by_faces} by faces");
}
