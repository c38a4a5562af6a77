//! Certificates on small solids with known minima, and against the solver.

use crate::accept::filter::filter;
use crate::api::contact::{Contact, ContactKind};
use crate::api::tolerance::Tolerances;
use crate::body::Body;
use crate::body::ids::AreaPair;
use crate::certify::*;
use crate::cull::front::brute::all_pairs;
use crate::pair::ContactPair;
use crate::query::{Accepted, Waves};
use crate::solve::{Solved, solve_all};
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::fixtures::{self, SourceBuilder};
use feeler_brep::source::{LoopSource, SolidSource};
use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};
use feeler_geom::{Curve, P3, Pose, Surface, V3};
use feeler_hierarchy::EdgeId;
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;

fn body(source: &SolidSource, flatness: f64) -> Arc<Body> {
    let solid = build_solid(source, &BuildOptions::default()).unwrap();
    let hierarchy = feeler_prepare::prepare_solid(&solid, &feeler_hierarchy::Options { flatness }).unwrap();
    Arc::new(Body::new(hierarchy).unwrap())
}

/// Half the side (mm) of the solids of these tests.
pub(crate) const HALF: f64 = 2.0;

/// A block with a parabolic ridge along y: its crest is a straight line at the height 0.5 `rise`.
pub(crate) fn ridge(rise: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let corners = [(-HALF, -HALF), (HALF, -HALF), (HALF, HALF), (-HALF, HALF)];
    let low = corners.map(|(x, y)| b.vertex(x, y, -1.0));
    let high = corners.map(|(x, y)| b.vertex(x, y, 0.0));
    let row =
        |y: f64| [(-HALF, 0.0), (0.0, rise), (HALF, 0.0)].map(|(x, z)| homogeneous(&P3::new(x, y, z), 1.0));
    let [front, back] = [(-HALF, high[0], high[1]), (HALF, high[3], high[2])].map(|(y, from, to)| {
        let curve =
            BezierSpline { degree: 2, breaks: vec![0.0, 1.0], control: row(y).to_vec(), periodic: false };
        b.edge(Curve::Bezier(curve), from, to)
    });
    let (left, right) = (b.line(high[3], high[0]), b.line(high[1], high[2]));
    let down = |b: &mut SourceBuilder, k: usize| b.line(high[k], low[k]);
    let sides = [0, 1, 2, 3].map(|k| down(&mut b, k));
    let bottom = [0, 1, 2, 3].map(|k| b.line(low[k], low[(k + 1) % 4]));
    let up = |(e, forward): (u32, bool)| (e, !forward);
    let plane = |b: &SourceBuilder, k: u32, z: V3| Surface::Plane {
        frame: feeler_geom::Frame::from_z(b.point(k), z, None).unwrap(),
    };
    let edges = |list: [(u32, bool); 4]| vec![LoopSource::Edges(list.to_vec())];
    let surface = plane(&b, low[0], -V3::y());
    b.face(surface, true, edges([bottom[0], up(sides[1]), (front, false), sides[0]]));
    let surface = plane(&b, low[1], V3::x());
    b.face(surface, true, edges([bottom[1], up(sides[2]), up(right), sides[1]]));
    let surface = plane(&b, low[2], V3::y());
    b.face(surface, true, edges([bottom[2], up(sides[3]), (back, true), sides[2]]));
    let surface = plane(&b, low[3], -V3::x());
    b.face(surface, true, edges([bottom[3], up(sides[0]), up(left), sides[3]]));
    let surface = plane(&b, low[0], -V3::z());
    b.face(surface, true, edges([up(bottom[3]), up(bottom[2]), up(bottom[1]), up(bottom[0])]));
    let control = (0..3).flat_map(|i| [row(-HALF)[i], row(HALF)[i]]).collect();
    let patch = BezierSurface {
        u_degree: 2,
        v_degree: 1,
        u_breaks: vec![0.0, 1.0],
        v_breaks: vec![0.0, 1.0],
        control,
        u_periodic: false,
        v_periodic: false,
    };
    b.face(Surface::Bezier(patch), true, edges([(front, true), right, (back, false), left]));
    b.finish("ridge")
}

/// Minima that the solver accepts, that solver and certificate accept together, and that the certificate
/// accepts without the solver's minima.
struct Sets {
    solver: Vec<Accepted>,
    both: Vec<Accepted>,
    alone: Vec<Accepted>,
    stats: Stats,
    same: f64,
}

/// Minima of A and B up to the distance `d_max` (mm) in which at least one feature is free-form.
fn sets(a: &Body, b: &Body, pose_ab: &Pose, d_max: f64) -> Sets {
    let ctx = Context {
        a,
        b,
        pose_ab: *pose_ab,
        pose_ba: pose_ab.inverse(),
        tol: Tolerances::new(a, b, pose_ab, None),
        d_max,
        least: -1e-6,
        penetration: 0.0,
        quasi_angle: 0.0,
        waves: Waves::NONE,
        step: None,
        cull: None,
    };
    let options = QueryOptions::within(d_max);
    let mut pairs = Vec::new();
    let mut stats = Stats::default();
    all_pairs(a, b, false, &mut pairs, &mut stats);
    let mut solved = Solved::default();
    solve_all(&ctx, &mut pairs, &options, &mut solved, &mut stats);
    let features = |&(i, j): &AreaPair| (a.feature_of(i), b.feature_of(j));
    let mut groups: Vec<_> =
        pairs.chunk_by(|p, q| features(p) == features(q)).map(|group| features(&group[0])).collect();
    let many = groups.len();
    groups.sort_unstable();
    groups.dedup();
    assert_eq!(groups.len(), many, "pairs of the same features follow each other");
    let is_canonical = |c: &Candidate| {
        ctx.a.data(c.feature_a).primitive.is_some() && ctx.b.data(c.feature_b).primitive.is_some()
    };
    let minima = |solved: &Solved| -> Vec<Accepted> {
        let mut out: Vec<Accepted> = Vec::new();
        for c in solved.candidates.iter().filter(|c| !is_canonical(c)) {
            if let Some(m) = filter(&ctx, c)
                && !has(&out, &m, ctx.tol.same)
            {
                out.push(m);
            }
        }
        out
    };
    let solver = minima(&solved);
    let mut alone = Solved::default();
    alone.candidates.extend(solved.candidates.iter().filter(|c| is_canonical(c)));
    let mut counted = Stats::default();
    certify(&ctx, &pairs, &options, &mut solved, &mut counted);
    certify(&ctx, &pairs, &options, &mut alone, &mut stats);
    Sets { solver, both: minima(&solved), alone: minima(&alone), stats: counted, same: ctx.tol.same }
}

fn has(set: &[Accepted], m: &Accepted, same: f64) -> bool {
    set.iter()
        .any(|x| (x.p_a - m.p_a).norm() <= same && (x.p_b - m.p_b).norm() <= same && x.n.dot(&m.n) > 0.0)
}

fn faces(set: &[Accepted]) -> Vec<&Accepted> {
    let is_face = |f: Feature| matches!(f, Feature::Face(_));
    set.iter().filter(|m| is_face(m.feature_a) && is_face(m.feature_b)).collect()
}

fn above(z: f64) -> Pose {
    Pose::translation(0.0, 0.0, z)
}

fn slab() -> Arc<Body> {
    body(&fixtures::block([-5.0, -5.0, 0.0], [5.0, 5.0, 1.0]), 0.5)
}

#[test]
fn a_paraboloid_under_a_plane() {
    for (weight, flatness) in [(1.0, 1.5), (1.0, 0.1), (2.5, 0.5)] {
        let dome = body(&fixtures::bump(HALF, &[&[0.4]], weight), flatness);
        let s = sets(&dome, &slab(), &above(0.3), 0.5);
        // The middle of the patch: the mean with the weights 1 and w, of 3/4 and 1/4.
        let top = 0.4 * weight / (3.0 + weight);
        for set in [&s.both, &s.alone] {
            let found = faces(set);
            assert_eq!(found.len(), 1, "{weight} {flatness}: {found:?}");
            assert!((found[0].distance - (0.3 - top)).abs() < 1e-12, "{found:?}");
            assert!(found[0].p_a.x.abs() < 1e-7 && found[0].p_a.y.abs() < 1e-7, "{found:?}");
        }
        assert_eq!(s.stats.undecided_pairs, 0, "{:?}", s.stats);
        assert!(s.stats.certified_pairs > 0, "{:?}", s.stats);
    }
}

/// Two tops on one area with a saddle between them.
#[test]
fn two_minima_of_one_area() {
    let row: &[f64] = &[0.02];
    let none: &[f64] = &[-0.03];
    let camel = body(&fixtures::bump(HALF, &[row, row, none, row, row], 1.0), 1.5);
    let patches =
        camel.features().iter().filter(|f| f.primitive.is_none()).map(|f| f.areas.len()).sum::<usize>();
    assert_eq!(patches, 1, "one area");
    let s = sets(&camel, &slab(), &above(0.1), 0.5);
    for set in [&s.both, &s.alone] {
        let found = faces(set);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            (found[0].distance - found[1].distance).abs() < 1e-12,
            "both tops are equally high: {found:?}"
        );
        assert!((found[0].p_a.x + found[1].p_a.x).abs() < 1e-6 && found[0].p_a.x.abs() > 0.1, "{found:?}");
    }
    assert_eq!(s.stats.undecided_pairs, 0, "{:?}", s.stats);
    // A pit between them is not a minimum; a ball in it may be.
    let ball = body(&fixtures::sphere(0.5), 0.5);
    let s = sets(&camel, &ball, &above(0.6), 0.2);
    assert_eq!((faces(&s.alone).len(), s.stats.undecided_pairs), (faces(&s.both).len(), 0), "{:?}", s.stats);
}

/// A top at the common corner of four areas is found, and one on the border of the solid belongs to its
/// edge.
#[test]
fn minima_on_borders() {
    let dome = body(&fixtures::bump(HALF, &[&[1.5, 1.5], &[1.5, 1.5]], 1.0), 0.5);
    let areas = dome.features().iter().map(|f| f.areas.len()).max().unwrap();
    assert!(areas > 4, "several areas: {areas}");
    let s = sets(&dome, &slab(), &above(1.0), 0.5);
    assert_eq!((faces(&s.both).len(), faces(&s.alone).len()), (1, 1), "{:?} {:?}", s.both, s.alone);
    assert_eq!(s.stats.undecided_pairs, 0, "{:?}", s.stats);
    // Tilted so that the nearest point is on an edge, which is straight: the patch has no minimum.
    let flat = body(&fixtures::bump(HALF, &[&[0.02]], 1.0), 0.5);
    let tilt = UnitQuaternion::from_axis_angle(&V3::y_axis(), 0.2);
    let pose = Pose::from_parts(Translation3::new(0.0, 0.0, 0.6), tilt);
    let s = sets(&flat, &slab(), &pose, 2.0);
    assert_eq!((s.both.len(), s.alone.len(), s.stats.undecided_pairs), (0, 0, 0), "{:?}", s.stats);
}

#[test]
fn touching_is_proven() {
    let dome = body(&fixtures::bump(HALF, &[&[0.4, 0.5], &[0.3, 0.6]], 1.0), 0.5);
    // Lowered by the height of the top.
    let far = sets(&dome, &slab(), &above(1.0), 1.0);
    let gap = faces(&far.both)[0].distance;
    let s = sets(&dome, &slab(), &above(1.0 - gap), 0.1);
    for set in [&s.both, &s.alone] {
        assert_eq!(faces(set).len(), 1, "{set:?}");
        assert!(faces(set)[0].distance.abs() < 1e-12, "{set:?}");
    }
    assert_eq!(s.stats.undecided_pairs, 0, "{:?}", s.stats);
    // Two free-form sides that touch in a point.
    let other = Pose::from_parts(
        Translation3::new(0.1, 0.05, 1.5),
        UnitQuaternion::from_axis_angle(&V3::x_axis(), std::f64::consts::PI),
    );
    let far = sets(&dome, &dome, &other, 2.0);
    let (first, n) = (faces(&far.both)[0].distance, faces(&far.both)[0].n);
    let down = Pose::from_parts(Translation3::from(other.translation.vector - n * first), other.rotation);
    let s = sets(&dome, &dome, &down, 0.05);
    assert!(faces(&s.alone).iter().any(|m| m.distance.abs() < 1e-9), "{:?}", s.alone);
    assert_eq!(faces(&s.both).len(), faces(&s.alone).len(), "{:?} {:?}", s.both, s.alone);
    assert_eq!(s.stats.undecided_pairs, 0, "{:?}", s.stats);
}

/// A ridge parallel to a plane has a line of minima, which cannot be proven to be a finite number of
/// points; a tilted ridge has one minimum.
#[test]
fn lines_of_minima_are_undecided() {
    let ridge = body(&ridge(0.6), 0.5);
    let slab = slab();
    let s = sets(&ridge, &slab, &above(0.5), 0.4);
    assert!(s.stats.undecided_pairs > 0, "{:?}", s.stats);
    let mut pair = ContactPair::new(ridge.clone(), slab.clone());
    let options = QueryOptions { certified: true, ..QueryOptions::within(0.4) };
    let found =
        pair.query(&Pose::identity(), &above(0.5), &options).expect("finite poses and options").to_vec();
    assert!(!found.is_empty(), "the ordinary samples");
    assert!(found.iter().any(|l| l.undecided), "{found:?}");
    assert!(pair.stats().undecided_pairs > 0, "{:?}", pair.stats());
    for angle in [1e-3, 0.1] {
        let tilt = UnitQuaternion::from_axis_angle(&V3::x_axis(), angle);
        let pose = Pose::from_parts(Translation3::new(0.0, 0.0, 0.6), tilt);
        let s = sets(&ridge, &slab, &pose, 0.8);
        assert_eq!(s.stats.undecided_pairs, 0, "{angle}: {:?}", s.stats);
        assert_eq!((s.solver.len(), s.both.len(), s.alone.len()), (1, 1, 1), "{angle}: {:?}", s.both);
    }
}

fn random_bump(rng: &mut SmallRng) -> SolidSource {
    let (nu, nv) = (rng.random_range(1..5), rng.random_range(1..4));
    let rows: Vec<Vec<f64>> =
        (0..nu).map(|_| (0..nv).map(|_| rng.random_range(-0.7..1.2)).collect()).collect();
    let weight = if rng.random_bool(0.5) { 1.0 } else { rng.random_range(0.5..2.0) };
    fixtures::bump(HALF, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>(), weight)
}

/// The certificate without the solver's minima finds everything that the solver finds, and no more than
/// the certificate with the solver's minima: those that it accepts on the solver's word are right.
#[test]
fn certificates_find_what_the_solver_finds() {
    let mut rng = SmallRng::seed_from_u64(61);
    let others = [
        body(&fixtures::sphere(0.8), 0.5),
        body(&fixtures::cylinder(0.5, 1.5), 0.5),
        body(&fixtures::cone(0.7, 1.2), 0.5),
        body(&fixtures::torus(0.9, 0.35), 0.5),
        body(&fixtures::block_with_hole(1.2, 0.8, 0.7), 0.5),
        body(&ridge(0.5), 0.5),
    ];
    let (mut minima, mut pairs, mut undecided) = (0, 0, 0);
    for round in 0..60 {
        let a = body(&random_bump(&mut rng), [0.3, 0.5, 1.0][round % 3]);
        let b =
            if round % 2 == 0 { others[round / 2 % 6].clone() } else { body(&random_bump(&mut rng), 0.5) };
        let turn = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let flip = if round % 2 == 0 { V3::zeros() } else { V3::x() * std::f64::consts::PI };
        let turn = UnitQuaternion::from_scaled_axis(turn * if round % 2 == 0 { 3.0 } else { 0.4 })
            * UnitQuaternion::from_scaled_axis(flip);
        let place = Translation3::new(
            rng.random_range(-1.0..1.0),
            rng.random_range(-1.0..1.0),
            rng.random_range(1.2..2.6),
        );
        let s = sets(&a, &b, &Pose::from_parts(place, turn), 1.5);
        let what = format!("round {round}: {:?}", s.stats);
        for m in &s.solver {
            assert!(has(&s.both, m, s.same), "lost by the certificate, {what}: {m:?}");
        }
        undecided += s.stats.undecided_pairs;
        pairs += s.stats.certified_pairs;
        if s.stats.undecided_pairs > 0 {
            continue;
        }
        minima += s.both.len();
        for m in &s.both {
            assert!(has(&s.alone, m, 2.0 * s.same), "not found without the solver, {what}: {m:?}");
        }
        for m in &s.alone {
            assert!(has(&s.both, m, 2.0 * s.same), "wrongly accepted as known, {what}: {m:?}");
        }
    }
    assert!(minima > 30 && pairs > 1000, "{minima} minima, {pairs} pairs");
    assert!(undecided * 200 <= pairs, "{undecided} of {pairs} undecided");
}

/// Certified queries return identical bits on one thread and on several, and contain the minima of
/// ordinary queries.
#[test]
fn threads_change_nothing() {
    let mut rng = SmallRng::seed_from_u64(62);
    let a = body(&random_bump(&mut rng), 0.4);
    let b = body(&random_bump(&mut rng), 0.4);
    let mut seen = 0;
    for k in 0..6 {
        let turn = UnitQuaternion::from_axis_angle(&V3::x_axis(), std::f64::consts::PI + 0.05 * f64::from(k));
        let pose = Pose::from_parts(Translation3::new(0.1, 0.2, 1.4), turn);
        let query = |certified: bool, parallel: bool| -> Vec<Contact> {
            let options =
                QueryOptions { certified, parallel, detect_interference: false, ..QueryOptions::within(1.5) };
            ContactPair::new(a.clone(), b.clone())
                .query(&Pose::identity(), &pose, &options)
                .expect("finite poses and options")
                .to_vec()
        };
        let (plain, one, many) = (query(false, false), query(true, false), query(true, true));
        assert_eq!(one, many, "{k}");
        let same = |l: &Contact, m: &Contact| (l.point_a - m.point_a).norm() < 1e-5 && l.kind == m.kind;
        for l in plain.iter().filter(|l| l.kind == ContactKind::Strict) {
            assert!(one.iter().any(|m| same(l, m)), "{k}: {l:?} is not in {one:?}");
        }
        seen += one.len();
    }
    assert!(seen > 5, "{seen}");
}

/// Segments of free edges: their balls contain the areas, and only consecutive areas are joined.
#[test]
fn segments_hold_their_areas() {
    let body = body(&ridge(3.0), 0.5);
    let (mut areas, mut joined) = (0, 0);
    for (e, edge) in (0..).map(EdgeId).zip(&body.hierarchy().edges) {
        let Curve::Bezier(_) = &edge.curve else { continue };
        let segments = body.segments_of(e);
        let of_edge = body.areas_of(body.data(Feature::Edge(e)));
        assert_eq!(segments.len(), of_edge.len());
        let mut end = None;
        for (segment, &area) in segments.iter().zip(of_edge) {
            let rect = body.area(area).rect;
            for k in 0..=100 {
                let p = edge.curve.point(rect.u0 + rect.width() * f64::from(k) / 100.0);
                assert!((p - segment.middle.p).norm() <= segment.radius, "area {area} reaches out at {k}");
            }
            let samples = body.curve_samples_of(area);
            assert_eq!(segment.is_joined, end == Some(samples[0]));
            assert_eq!(
                (segment.middle, segment.last),
                (samples[samples.len() / 2], samples[samples.len() - 1])
            );
            end = Some(segment.last);
            areas += 1;
            joined += usize::from(segment.is_joined);
        }
    }
    assert!(areas > 4 && joined > 0, "{areas} areas, {joined} joined");
}

/// Free parabolas beside edges that follow lines, in both orders: skipped areas contain no minimum.
#[test]
fn free_edges_have_their_minima_beside_almost_straight_ones() {
    let (free, straight) = (body(&ridge(3.0), 0.5), body(&ridge(1e-4), 0.5));
    let h = straight.hierarchy();
    assert!(h.edges.iter().any(|e| e.canonical_approximation.is_some()));
    let mut rng = SmallRng::seed_from_u64(64);
    let mut minima = 0;
    for k in 0..400 {
        let mut random = |most: f64| rng.random_range(-most..most);
        // Upside down or on its side, over the middle or over a border.
        let over = UnitQuaternion::from_axis_angle(
            &V3::x_axis(),
            std::f64::consts::PI * if k % 3 == 0 { 0.5 } else { 1.0 },
        );
        let tilt = UnitQuaternion::from_scaled_axis(V3::from_fn(|_, _| random(0.4)));
        let middle =
            Translation3::new(random(2.5), random(4.5), if k % 3 == 0 { 2.4 } else { 1.9 } + random(0.2));
        let pose = Pose::from_parts(middle, tilt * over);
        let (a, b, pose) =
            if k % 2 == 0 { (&straight, &free, pose) } else { (&free, &straight, pose.inverse()) };
        let find = |supermaximal: bool| {
            let savings = crate::diagnostics::Savings { supermaximal, ..<_>::default() };
            let options = QueryOptions { detect_interference: false, ..QueryOptions::within(1.0) }
                .with_savings(savings);
            let mut pair = ContactPair::new(a.clone(), b.clone());
            let strict = |l: &&Contact| l.kind == ContactKind::Strict;
            let found: Vec<Contact> = pair
                .query(&Pose::identity(), &pose, &options)
                .expect("finite poses and options")
                .iter()
                .filter(strict)
                .copied()
                .collect();
            found
        };
        let (whole, by_area) = (find(true), find(false));
        assert_eq!(whole.len(), by_area.len(), "{k}: {whole:?} and {by_area:?}");
        for l in &by_area {
            let same =
                |m: &Contact| (m.point_a - l.point_a).norm() < 1e-7 && (m.distance - l.distance).abs() < 1e-9;
            assert!(whole.iter().any(same), "{k}: {l:?} is not in {whole:?}");
        }
        minima += by_area.len();
    }
    assert!(minima > 200, "{minima} minima");
}

/// Equal parabolas in parallel planes are proved to be apart, although they are much longer than their
/// distance; nearer than the tolerance, they are not.
#[test]
fn free_edges_that_follow_each_other_are_apart() {
    let body = body(&ridge(2.0), 0.5);
    let tol = Tolerances::new(&body, &body, &Pose::identity(), None);
    let free_edges = |y: f64| {
        let data = body.features().iter().filter(|data| matches!(data.feature, Feature::Edge(_)));
        let free = data.filter(|data| data.primitive.is_none());
        let middle = |area: AreaId| body.node(body.leaf_of_area(area)).obb.center;
        free.flat_map(|data| body.areas_of(data).iter().copied())
            .filter(|area| (middle(*area).y - y).abs() < 1e-9)
            .collect::<Vec<_>>()
    };
    let (front, back) = (free_edges(-HALF), free_edges(HALF));
    assert!(!front.is_empty() && !back.is_empty(), "both borders are parabolas");
    let known = KnownCandidates { candidates: &[], is_minimum: &[], of_features: &|_, _| &[] };
    for (gap, is_apart) in [(1e3 * tol.tol, true), (50.0 * tol.tol, true), (0.5 * tol.tol, false)] {
        let pose_ab =
            Pose::from_parts(V3::new(0.0, -2.0 * HALF - gap, 0.0).into(), UnitQuaternion::identity());
        let ctx = Context {
            a: &body,
            b: &body,
            pose_ab,
            pose_ba: pose_ab.inverse(),
            tol,
            d_max: tol.tol,
            least: -tol.tol,
            penetration: 0.0,
            quasi_angle: 0.0,
            waves: Waves::NONE,
            step: None,
            cull: None,
        };
        let mut open = 0;
        for &i in &front {
            for &j in &back {
                let result = certify_one(&ctx, &Job::Free(i, j), &[j], &known);
                open += result.outcome.undecided + result.found.len() as u64;
            }
        }
        assert_eq!(open == 0, is_apart, "{gap:e}: {open}");
    }
}

/// Normal curvatures at points of free-form areas are within the bounds of the area, and so are the centres
/// of curvature.
#[test]
fn curvature_bounds_hold() {
    let mut rng = SmallRng::seed_from_u64(45);
    let mut tight = 0;
    for case in 0..40 {
        let mut height = || rng.random_range(-1.0..1.0);
        let rows: Vec<Vec<f64>> = (0..3).map(|_| (0..3).map(|_| height()).collect()).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let body = body(&fixtures::bump(HALF, &rows, if case % 2 == 0 { 1.0 } else { 1.4 }), 0.5);
        for index in 0..body.hierarchy().areas.len() {
            let area = AreaId(u32::try_from(index).unwrap());
            let Feature::Face(f) = body.area(area).feature else { continue };
            let face = body.face(f);
            if face.surface.is_canonical() {
                continue;
            }
            let (bounds, rect) = (body.curvature_bounds_of(area), body.area(area).rect);
            let [inner, outer] = bounds.focal_range();
            let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
            for _ in 0..20 {
                let uv =
                    crate::body::samples::at(&rect, rng.random_range(0.0..1.0), rng.random_range(0.0..1.0));
                let mut k = face.surface.curvatures(uv).map(|k| if face.outward { k } else { -k });
                k.sort_by(f64::total_cmp);
                let slack = 1e-9 * (1.0 + k[1].abs() + k[0].abs());
                assert!(bounds.min <= k[0] + slack && k[1] <= bounds.max + slack, "{k:?} {bounds:?}");
                assert!(k[0] >= 0.0 || outer >= -1.0 / k[0] - 1e-9, "{k:?} {bounds:?}");
                assert!(k[1] <= 0.0 || inner <= -1.0 / k[1] + 1e-9, "{k:?} {bounds:?}");
                (lowest, highest) = (lowest.min(k[0]), highest.max(k[1]));
            }
            tight += usize::from(bounds.max - bounds.min < 4.0 * (highest - lowest) + 0.5);
        }
    }
    assert!(tight > 100, "{tight}");
}
