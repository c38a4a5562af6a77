//! Particles against exact walls, compared with a brute-force search ([`feeler_tests::particle_walls`]).
//! The benchmark program `particle_walls` does this for a million points.
#![expect(clippy::print_stdout, reason = "the test reports the numbers of compared minima")]

use feeler_brep::fixtures::SourceBuilder;
use feeler_brep::source::{LoopSource, SolidSource};
use feeler_geom::{Curve, Frame, P3, Surface, V3, math};
use feeler_runtime::{Boundary, PointMinima};
use feeler_tests::membership::Rays;
use feeler_tests::particle_walls::{Tally, check};
use feeler_tests::{data_dir, part, part_of};
use rayon::prelude::*;

/// Parts with planes, cylinders, cones, tori, splines, blends and concave corners.
const PARTS: [&str; 11] = [
    "socket.step",
    "plug.step",
    "bayonet-socket.step",
    "stepped-seat.step",
    "torus-nurbs.step",
    "wave.step",
    "loft.step",
    "void.step",
    "half-cone.step",
    "blind-bore.step",
    "race.step",
];

#[test]
fn minima_of_points_are_those_of_the_brute_force() {
    let files: Vec<_> = PARTS.iter().map(|name| data_dir().join(name)).collect();
    let tally = files
        .par_iter()
        .map(|file| {
            let part = part(file, 0);
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let reach = 0.03 * part.body.size();
            check(&name, &part, reach, 100, 5)
        })
        .reduce(Tally::default, Tally::and);
    let Tally { points, agreed, undecided, samples, several, sideless, wrong } = tally;
    println!(
        "{points:?} points: {agreed} agreed, {undecided} undecided, {samples} samples, {several} several"
    );
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    assert_eq!(sideless, 0, "none of these parts passes through itself");
    assert!(agreed > 600 && several > 0, "{agreed} agreed, {undecided} undecided, {several} several");
}

/// A side of an outline that is an arc: its index, its centre, and whether the material is inside the
/// circle.
type ArcSide = (usize, [f64; 2], bool);

/// A prism of height 4 mm over an outline (counter-clockwise), some sides of which are arcs.
fn prism(outline: &[[f64; 2]], arcs: &[ArcSide]) -> SolidSource {
    let mut b = SourceBuilder::new();
    let at = |x: f64, y: f64, z: f64| Frame { origin: P3::new(x, y, z), ..Frame::identity() };
    let heights = [0.0, 4.0];
    let rings = heights.map(|z| outline.iter().map(|[x, y]| b.vertex(*x, *y, z)).collect::<Vec<u32>>());
    let n = outline.len();
    let radius = |i: usize, [x, y]: [f64; 2]| math::hypot(outline[i][0] - x, outline[i][1] - y);
    let mut rims: [Vec<(u32, bool)>; 2] = [Vec::new(), Vec::new()];
    for i in 0..n {
        let j = (i + 1) % n;
        let arc = arcs.iter().find(|arc| arc.0 == i);
        for (k, ring) in rings.iter().enumerate() {
            rims[k].push(match arc {
                Some((_, c, bulges)) => {
                    let curve = Curve::Circle { frame: at(c[0], c[1], heights[k]), radius: radius(i, *c) };
                    let (from, to) = if *bulges { (i, j) } else { (j, i) };
                    (b.edge(curve, ring[from], ring[to]), *bulges)
                }
                None => b.line(ring[i], ring[j]),
            });
        }
        let (from, to) = (b.line(rings[0][i], rings[1][i]), b.line(rings[0][j], rings[1][j]));
        let reversed = |(e, forward): (u32, bool)| (e, !forward);
        let walk = vec![rims[0][i], to, reversed(rims[1][i]), reversed(from)];
        match arc {
            Some((_, c, bulges)) => {
                let side = Surface::Cylinder { frame: at(c[0], c[1], 0.0), radius: radius(i, *c) };
                b.face(side, *bulges, vec![LoopSource::Edges(walk)]);
            }
            None => {
                b.polygon(&[&[rings[0][i], rings[0][j], rings[1][j], rings[1][i]]]);
            }
        }
    }
    let [low, high] = rims;
    let low = low.into_iter().rev().map(|(e, forward)| (e, !forward)).collect();
    for (z, outward, rim) in [(heights[0], false, low), (heights[1], true, high)] {
        b.face(Surface::Plane { frame: at(0.0, 0.0, z) }, outward, vec![LoopSource::Edges(rim)]);
    }
    b.finish("prism")
}

/// A block with a slit from y = 2 down to the z axis. Below y = 0.6 the slit is between two cylinders of
/// radius 1 about x = ±1, which touch at the z axis. The edge there has no angle and is surrounded by
/// material.
fn slit() -> SolidSource {
    // (1 − 0.8, 0.6) is on the right circle.
    let outline = [
        [0.0, 0.0],
        [-0.2, 0.6],
        [-0.2, 2.0],
        [-4.0, 2.0],
        [-4.0, -3.0],
        [4.0, -3.0],
        [4.0, 2.0],
        [0.2, 2.0],
        [0.2, 0.6],
    ];
    prism(&outline, &[(0, [-1.0, 0.0], true), (8, [1.0, 0.0], true)])
}

/// The end of the slit is the nearest boundary point from below. From the axes of its cylinders their
/// whole sides are nearest, and so is the end as seen from the opposite side; rays decide that such
/// points are inside.
#[test]
fn ends_of_slits_are_nearest_to_points_inside() {
    let part = part_of(&slit(), feeler_import::DEFAULT_FLATNESS);
    let (boundary, rays) = (Boundary::new(part.body.clone()), Rays::new(part.body.hierarchy()));
    let mut query = PointMinima::new();
    for (p, distance) in [
        (P3::new(0.0, -0.3, 2.0), 0.3),
        (P3::new(0.05, -0.4, 1.9), 0.1625_f64.sqrt()),
        (P3::new(-0.02, -1e-3, 2.1), 0.000_401_f64.sqrt()),
        (P3::new(1.0, 0.0, 2.0), 1.0),
        (P3::new(-1.0, 0.0, 1.7), 1.0),
        (P3::new(1.0, -1e-3, 2.0), 1.000_001_f64.sqrt()),
        (P3::new(1.0, 1e-3, 2.0), 0.998_801_f64.sqrt()),
    ] {
        assert_eq!(rays.contains(&p), Some(true), "{p}");
        let found = query.query(&boundary, &p, 5.0);
        let [only] = found else { panic!("{} minima for the inner point {p}", found.len()) };
        let far = (only.distance + distance).abs();
        assert!(far <= 1e-9, "{p}: {} instead of −{distance}", only.distance);
    }
}

/// Radii of a self-intersecting torus, as in a screw's head.
const SPINDLE: [f64; 2] = [8.25, 54.87];

/// A tube whose top is a ring of the inner sheet of a spindle torus, in two halves.
fn domed_tube() -> SolidSource {
    let mut b = SourceBuilder::new();
    let [major, minor] = SPINDLE;
    let radii = [2.0_f64, 5.0];
    let heights = radii.map(|r| (minor * minor - (r + major) * (r + major)).sqrt());
    let bottom = heights[1] - 2.0;
    let at = |z: f64| Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() };
    // Indices: inner and outer rim, then corner at x > 0 and at x < 0, or half at y > 0 and at y < 0.
    let corners = [0, 1].map(|k| [radii[k], -radii[k]].map(|x| b.vertex(x, 0.0, heights[k])));
    let rims = [0, 1].map(|k| {
        let curve = Curve::Circle { frame: at(heights[k]), radius: radii[k] };
        [b.edge(curve.clone(), corners[k][0], corners[k][1]), b.edge(curve, corners[k][1], corners[k][0])]
    });
    // The tube's circle centred on the opposite side of the ring, from the outer rim to the inner one.
    let across = [(0, 1.0), (1, -1.0)].map(|(side, sign)| {
        let (x, y) = (V3::new(sign, 0.0, 0.0), V3::z());
        let frame = Frame { origin: P3::new(-sign * major, 0.0, 0.0), x, y, z: x.cross(&y) };
        b.edge(Curve::Circle { frame, radius: minor }, corners[1][side], corners[0][side])
    });
    let torus = Surface::Torus { frame: Frame::identity(), major, minor };
    for half in [0, 1] {
        let walk = vec![
            (rims[1][half], true),
            (across[1 - half], true),
            (rims[0][half], false),
            (across[half], false),
        ];
        b.face(torus.clone(), false, vec![LoopSource::Edges(walk)]);
    }
    let below = radii.map(|r| {
        let v = b.vertex(0.0, r, bottom);
        b.circle(at(bottom), r, v)
    });
    let top = |k: usize, forward: bool| {
        let halves = if forward { [0, 1] } else { [1, 0] };
        LoopSource::Edges(halves.iter().map(|h| (rims[k][*h], forward)).collect())
    };
    let low = |k: usize, forward: bool| LoopSource::Edges(vec![(below[k], forward)]);
    let side = |radius: f64| Surface::Cylinder { frame: Frame::identity(), radius };
    b.face(side(radii[1]), true, vec![low(1, true), top(1, false)]);
    b.face(side(radii[0]), false, vec![low(0, false), top(0, true)]);
    b.face(Surface::Plane { frame: at(bottom) }, false, vec![low(1, false), low(0, true)]);
    b.finish("domed tube")
}

/// The outer sheet of the same torus is nearer to some of the points, but the face is on the inner sheet.
#[test]
fn feet_on_spindle_tori_are_on_the_sheet_of_the_face() {
    let part = part_of(&domed_tube(), feeler_import::DEFAULT_FLATNESS);
    let boundary = Boundary::new(part.body.clone());
    let mut query = PointMinima::new();
    let [major, minor] = SPINDLE;
    for off in [0.1, 0.7, 1.2, 2.0] {
        for angle in [0.4, 2.0, 3.3, 5.0] {
            let rho = 3.5 + major;
            let height = (minor * minor - rho * rho).sqrt();
            let (s, c) = math::sin_cos(angle);
            let from_axis = rho * (1.0 + off / minor) - major;
            let p = P3::new(from_axis * c, from_axis * s, height * (1.0 + off / minor));
            let found = query.query(&boundary, &p, 3.0);
            assert!(
                found.iter().any(|m| (m.distance - off).abs() <= 1e-9),
                "no minimum at {off} mm, angle {angle}: {found:?}"
            );
        }
    }
    let Tally { points, agreed, wrong, .. } = check("domed tube", &part, 2.0, 200, 3);
    assert!(wrong.is_empty() && agreed > 150, "{points:?}, {agreed} agreed\n{}", wrong.join("\n"));
}

/// A bay whose end consists of two arcs, of radii 1 and 1.5, which join in a corner of the rim. From
/// above the bay, in the plane between the arcs, the direction to the corner is orthogonal to both.
/// Beyond both centres it is the farthest point of either arc, not the nearest.
#[test]
fn ends_of_edges_are_minima_by_their_second_derivatives() {
    let outline = [
        [4.0, 1.0],
        [4.0, 3.0],
        [-4.0, 3.0],
        [-4.0, -3.0],
        [4.0, -3.0],
        [4.0, -1.5],
        [1.5, -1.5],
        [0.0, 0.0],
        [1.0, 1.0],
    ];
    let source = prism(&outline, &[(6, [1.5, 0.0], false), (7, [1.0, 0.0], false)]);
    let part = part_of(&source, feeler_import::DEFAULT_FLATNESS);
    let boundary = Boundary::new(part.body.clone());
    let mut query = PointMinima::new();
    let corner = P3::new(0.0, 0.0, 4.0);
    for (x, expected) in [(0.5, true), (0.9, true), (1.6, false), (2.5, false)] {
        let p = P3::new(x, 0.0, 5.0);
        let found = query.query(&boundary, &p, 4.0);
        let is_there = found.iter().any(|m| (m.point - corner).norm() <= 1e-9);
        assert_eq!(is_there, expected, "from x = {x}: {found:?}");
    }
}
