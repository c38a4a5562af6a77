//! Worked examples, properties and errors of convex pieces.

use feeler_convex::{DistanceRequest, Hull, distance};
use feeler_geom::trim::Side;
use feeler_geom::{P2, P3, Pose, V3};
use feeler_grains::nurbs::NurbsGrain;
use feeler_hierarchy::Hierarchy;
use feeler_import::{MeshOptions, prepare_grain, prepare_mesh, prepare_step};
use feeler_pieces::{
    Pieces, PiecesError, PiecesOptions, TriangleMesh, decompose, distance_bound, hull_quality,
};
use feeler_runtime::{Body, ContactPair, QueryOptions};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::path::PathBuf;
use std::sync::Arc;

fn solid(name: &str) -> Hierarchy {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name);
    prepare_step(&path).expect("a prepared file").solids.remove(0)
}

fn pieces_of(body: &Hierarchy, convexity: f64) -> Pieces {
    decompose(body, &PiecesOptions::with_convexity(convexity)).expect("pieces")
}

/// An L-shaped prism: legs of length 3 and width 1, height 2.
fn l_prism() -> (Vec<P3>, Vec<[u32; 3]>) {
    let outline = [(0.0, 0.0), (3.0, 0.0), (3.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0)];
    let at = |z: f64| outline.map(|(x, y)| P3::new(x, y, z));
    let points = at(0.0).into_iter().chain(at(2.0)).collect();
    let mut triangles = Vec::new();
    for [a, b, c] in [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]] {
        triangles.extend([[a, c, b], [a + 6, b + 6, c + 6]]);
    }
    for k in 0..6 {
        let next = (k + 1) % 6;
        triangles.extend([[k, next, next + 6], [k, next + 6, k + 6]]);
    }
    (points, triangles)
}

/// Random points of all faces of a solid, each with the index of its face.
fn surface_points(h: &Hierarchy, per_face: usize, rng: &mut SmallRng) -> Vec<(u32, P3)> {
    let mut out = Vec::new();
    for (i, face) in (0..).zip(&h.faces) {
        let r = face.trim.rect;
        for _ in 0..per_face {
            let (s, t) = (rng.random_range(0.0..=1.0), rng.random_range(0.0..=1.0));
            let uv = P2::new(r.u0 + s * r.width(), r.v0 + t * r.height());
            if face.trim.classify(uv) == Side::Inside {
                out.push((i, face.surface.point(uv)));
            }
        }
        for piece in &face.trim.pieces {
            out.push((i, face.surface.point(piece.eval(rng.random_range(0.0..=1.0)))));
        }
    }
    out
}

/// Distance of a point from the nearest piece that contains a part of the face `source`.
fn distance_to_pieces(pieces: &Pieces, source: u32, p: &P3) -> f64 {
    let point = Hull::new([*p]).expect("finite");
    let of_face = pieces.pieces().iter().filter(|piece| piece.sources.contains(&source));
    of_face
        .map(|piece| distance(&piece.hull, &point, &DistanceRequest::default()).distance)
        .fold(f64::INFINITY, f64::min)
}

fn random_pose(rng: &mut SmallRng, range: f64) -> Pose {
    let mut any = || V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    let (turn, shift) = (any() * 3.0, any() * range);
    Pose::new(shift, turn)
}

#[test]
fn box_is_one_piece_with_its_corners() {
    let h = solid("box.step");
    let pieces = pieces_of(&h, 1e-3);
    assert_eq!(pieces.len(), 1, "pieces of a box");
    let piece = &pieces.pieces()[0];
    assert_eq!(piece.sources, [0, 1, 2, 3, 4, 5], "faces");
    assert!(piece.convexity <= 0.0, "{}", piece.convexity);
    let (lo, hi) = (h.info.bbox_min, h.info.bbox_max);
    let corners = piece.hull.vertices();
    assert_eq!(corners.len(), 8, "{corners:?}");
    for p in corners {
        for k in 0..3 {
            assert!((p[k] - lo[k]).abs().min((p[k] - hi[k]).abs()) < 1e-9, "{p:?} is not a corner");
        }
    }
}

#[test]
fn l_prism_is_two_boxes() {
    let (points, triangles) = l_prism();
    let options = PiecesOptions::with_convexity(1e-2);
    let mesh = TriangleMesh { points: &points, triangles: &triangles };
    let of_mesh = decompose(&mesh, &options).expect("pieces");
    let model = prepare_mesh("l", &points, &triangles, MeshOptions::default()).expect("a solid");
    for pieces in [of_mesh, pieces_of(&model.solids[0], 1e-2)] {
        assert_eq!(pieces.len(), 2, "legs");
        assert!(pieces.convexity() <= 1e-2, "{}", pieces.convexity());
        let volume: f64 = pieces.pieces().iter().map(|p| p.obb.volume()).sum();
        assert!((volume - 10.0).abs() < 1e-6, "the two boxes of the legs have the volume {volume}");
    }
    let whole = decompose(&mesh, &PiecesOptions::with_convexity(2.0)).expect("pieces");
    assert_eq!(whole.len(), 1, "the hull is accepted");
    assert!((whole.convexity() - 2.0).abs() < 1e-9, "(3.11) of an L with legs of 2: {}", whole.convexity());
}

#[test]
fn torus_has_fewer_pieces_at_larger_convexity() {
    let h = solid("torus.step");
    let counts = [8.0, 4.0, 2.0].map(|convexity| {
        let pieces = pieces_of(&h, convexity);
        assert!(pieces.convexity() <= convexity, "{} > {convexity}", pieces.convexity());
        pieces.len()
    });
    assert!(counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
    let options = PiecesOptions { max_pieces: 5, ..PiecesOptions::with_convexity(0.5) };
    let few = decompose(&h, &options).expect("pieces");
    assert!(few.len() <= 5 && few.convexity() > 0.5, "{} pieces of {} mm", few.len(), few.convexity());
}

/// A plate of thickness 2 with a square hole of width 2 in the middle is four bars.
#[test]
fn hole_stays_open() {
    let ring = |half: f64, z: f64| {
        [(-half, -half), (half, -half), (half, half), (-half, half)].map(|(x, y)| P3::new(x, y, z))
    };
    let points: Vec<P3> = [(5.0, 0.0), (1.0, 0.0), (5.0, 2.0), (1.0, 2.0)].map(|(h, z)| ring(h, z)).concat();
    let mut triangles = Vec::new();
    for k in 0..4_u32 {
        let n = (k + 1) % 4;
        let (outer, inner, above, hole) = ([k, n], [k + 4, n + 4], [k + 8, n + 8], [k + 12, n + 12]);
        let quads = [
            [outer[1], outer[0], inner[0], inner[1]],
            [above[0], above[1], hole[1], hole[0]],
            [outer[0], outer[1], above[1], above[0]],
            [inner[1], inner[0], hole[0], hole[1]],
        ];
        for [a, b, c, d] in quads {
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let mesh = TriangleMesh { points: &points, triangles: &triangles };
    let pieces = decompose(&mesh, &PiecesOptions::with_convexity(0.1)).expect("pieces");
    assert_eq!(pieces.len(), 4, "bars around the hole");
    let corners = [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)];
    let corners = corners.map(|(x, y, z)| P3::new(x, y, z + 1.0));
    let tip = TriangleMesh { points: &corners, triangles: &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]] };
    let tip = decompose(&tip, &PiecesOptions::with_convexity(0.1)).expect("pieces");
    let bound = distance_bound(&pieces, &tip, &Pose::identity());
    assert!((bound - 0.9).abs() < 1e-6, "{bound} from the tip in the middle of the hole to its wall");
}

#[test]
fn quality_of_given_hulls() {
    let (points, triangles) = l_prism();
    let mesh = TriangleMesh { points: &points, triangles: &triangles };
    let options = PiecesOptions::with_convexity(0.1);
    let whole = hull_quality(&mesh, std::slice::from_ref(&points), &options).expect("a quality");
    assert!((whole.convexity - 2.0).abs() < 0.01 && whole.uncovered < 1e-12, "{whole:?}");
    let lower: Vec<P3> = points.iter().filter(|p| p.y < 2.0).copied().collect();
    let half = hull_quality(&mesh, &[lower], &options).expect("a quality");
    assert!(half.convexity <= 0.0 && (half.uncovered - 5.0_f64.sqrt()).abs() < 1e-12, "{half:?}");
}

#[test]
fn pieces_contain_the_surface() {
    let mut rng = SmallRng::seed_from_u64(7);
    let names =
        ["plug.step", "bore.step", "stepped-cone.step", "torus.step", "torus-nurbs.step", "wave.step"];
    for name in names.into_iter().chain(["perforated-plate.step", "half-cone.step", "void.step"]) {
        let h = solid(name);
        let size = h.nodes[0].obb.radius();
        let pieces = pieces_of(&h, 0.1 * size);
        let points = surface_points(&h, 100, &mut rng);
        assert!(points.len() >= 100, "{name}: {} points", points.len());
        for (face, p) in points {
            let off = distance_to_pieces(&pieces, face, &p);
            assert!(off <= pieces.allowance(), "{name}: {p:?} of face {face} is {off} outside");
        }
    }
}

#[test]
fn pieces_of_grains_contain_the_surface() {
    let mut rng = SmallRng::seed_from_u64(8);
    let grains = [NurbsGrain::torus(5.0, 2.0), NurbsGrain::random(3, 1.0, 0.8)];
    for grain in grains.map(|g| g.expect("a grain")) {
        let pieces = decompose(&grain, &PiecesOptions::with_convexity(0.1 * grain.size())).expect("pieces");
        let r = grain.grid().domain();
        for _ in 0..500 {
            let (s, t) = (rng.random_range(0.0..=1.0), rng.random_range(0.0..=1.0));
            let p = grain.at(P2::new(r.u0 + s * r.width(), r.v0 + t * r.height())).0;
            assert!(distance_to_pieces(&pieces, 0, &p) <= pieces.allowance(), "{p:?} is outside");
        }
    }
}

#[test]
fn pieces_of_a_mesh_contain_the_surface() {
    let mut rng = SmallRng::seed_from_u64(9);
    let (points, triangles) = l_prism();
    let mesh = TriangleMesh { points: &points, triangles: &triangles };
    let pieces = decompose(&mesh, &PiecesOptions::with_convexity(0.5)).expect("pieces");
    for (i, t) in (0..).zip(&triangles) {
        let [a, b, c] = t.map(|k| points[k as usize]);
        for _ in 0..50 {
            let (s, t) = (rng.random_range(0.0..=1.0), rng.random_range(0.0..=1.0));
            let (s, t) = if s + t > 1.0 { (1.0 - s, 1.0 - t) } else { (s, t) };
            let p = a + (b - a) * s + (c - a) * t;
            assert!(distance_to_pieces(&pieces, i, &p) <= pieces.allowance(), "{p:?} is outside");
        }
    }
}

#[test]
fn points_that_differ_by_rounding_count_as_one() {
    let (points, triangles) = l_prism();
    let mut rng = SmallRng::seed_from_u64(14);
    // Every triangle has corners of its own.
    let mut apart = |by: f64| -> Vec<P3> {
        let corners = triangles.iter().flatten().map(|i| points[*i as usize]);
        corners.map(|p| p + V3::from_fn(|_, _| rng.random_range(-by..by))).collect()
    };
    let own: Vec<[u32; 3]> = (0..).zip(&triangles).map(|(k, _)| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let options = PiecesOptions::with_convexity(0.1);
    let welded = decompose(&TriangleMesh { points: &apart(1e-11), triangles: &own }, &options).unwrap();
    let shared = decompose(&TriangleMesh { points: &points, triangles: &triangles }, &options).unwrap();
    assert_eq!(welded.len(), shared.len(), "pieces");
    assert!((welded.convexity() - shared.convexity()).abs() < 1e-9, "convexity");
    let open = decompose(&TriangleMesh { points: &apart(1e-6), triangles: &own }, &options);
    assert!(matches!(open, Err(PiecesError::OpenMesh { .. })), "points that are apart: {open:?}");
}

#[test]
fn bounds_do_not_exceed_distances() {
    let mut rng = SmallRng::seed_from_u64(10);
    let mut hierarchies: Vec<Hierarchy> =
        ["plug.step", "bore.step", "torus.step", "wave.step", "stepped-seat.step"]
            .into_iter()
            .map(solid)
            .collect();
    let grain = NurbsGrain::random(5, 8.0, 0.6).expect("a grain");
    hierarchies.push(prepare_grain("grain", grain.surface()).expect("a solid").solids.remove(0));
    let bodies: Vec<(Arc<Body>, Pieces, f64)> = hierarchies
        .into_iter()
        .map(|h| {
            let size = h.nodes[0].obb.radius();
            let pieces = pieces_of(&h, 0.1 * size);
            (Arc::new(Body::new(h).expect("a body")), pieces, size)
        })
        .collect();
    let options = QueryOptions::within(0.0);
    let mut apart = 0;
    for _ in 0..150 {
        let [i, j] = [(); 2].map(|()| rng.random_range(0..bodies.len()));
        let ((a, pieces_a, size_a), (b, pieces_b, size_b)) = (&bodies[i], &bodies[j]);
        let pose = random_pose(&mut rng, size_a + size_b);
        let bound = distance_bound(pieces_a, pieces_b, &pose);
        let pair = ContactPair::new(Arc::clone(a), Arc::clone(b));
        let found = pair.nearest_distance(&Pose::identity(), &pose, &options).expect("a query");
        let Some(d) = found else { continue };
        assert!(bound <= d.abs(), "pair {i} {j}: bound {bound}, distance {d}, pose {pose:?}");
        apart += usize::from(bound > 0.0);
    }
    assert!(apart > 40, "{apart} pairs are apart");
}

#[test]
fn bound_is_near_the_distance_of_convex_bodies() {
    let h = solid("box.step");
    let pieces = pieces_of(&h, 1e-3);
    let wide = h.info.bbox_max[0] - h.info.bbox_min[0];
    let bound = distance_bound(&pieces, &pieces, &Pose::translation(wide + 2.5, 0.0, 0.0));
    assert!((bound - 2.5).abs() < 1e-6, "{bound}");
    assert!(distance_bound(&pieces, &pieces, &Pose::translation(0.5 * wide, 0.0, 0.0)) <= 0.0, "overlap");
    let nowhere = Pose::translation(f64::NAN, 0.0, 0.0);
    assert!(distance_bound(&pieces, &pieces, &nowhere) <= 0.0, "a pose that is not finite");
}

#[test]
fn results_are_the_same_to_the_bit() {
    let h = solid("plug.step");
    let points =
        |p: &Pieces| -> Vec<P3> { p.pieces().iter().flat_map(|p| p.hull.vertices().to_vec()).collect() };
    let [a, b] = [(); 2].map(|()| points(&pieces_of(&h, 1.0)));
    assert!(!a.is_empty() && a == b, "two runs");
}

#[test]
fn errors_state_the_cause() {
    let (points, triangles) = l_prism();
    let of = |points: &[P3], triangles: &[[u32; 3]], options: &PiecesOptions| {
        decompose(&TriangleMesh { points, triangles }, options).expect_err("an error")
    };
    let fine = PiecesOptions::with_convexity(0.1);
    for convexity in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = of(&points, &triangles, &PiecesOptions::with_convexity(convexity));
        assert!(error.to_string().contains("finite length above 0"), "{error}");
    }
    let none = PiecesOptions { max_pieces: 0, ..fine };
    assert_eq!(of(&points, &triangles, &none), PiecesError::NoPieces);
    assert_eq!(of(&points, &[], &fine), PiecesError::EmptyMesh);
    let error = of(&points, &triangles[1..], &fine);
    assert!(matches!(error, PiecesError::OpenMesh { count: 0, .. }), "{error}");
    assert!(error.to_string().contains("close holes"), "{error}");
    let error = of(&points[..5], &triangles, &fine);
    assert!(matches!(error, PiecesError::UnknownPoint { count: 5, .. }), "{error}");
    let mut bad = points.clone();
    bad[3].y = f64::NAN;
    assert_eq!(of(&bad, &triangles, &fine), PiecesError::NotFinite(3));
    let faceless = Hierarchy { faces: Vec::new(), ..solid("box.step") };
    assert_eq!(decompose(&faceless, &fine).expect_err("an error"), PiecesError::NoFaces);
    let error = decompose(&solid("sphere.step"), &PiecesOptions::with_convexity(1e-6)).expect_err("an error");
    assert!(matches!(error, PiecesError::TooManyCells { .. }), "{error}");
}
