//! Covered areas against sampled points, and verdicts of solids with flush faces against closed forms.

use super::*;
use crate::api::options::QueryOptions;
use crate::api::tolerance::Tolerances;
use crate::api::verdict::Status;
use crate::body::Body;
use crate::certify::tests::{HALF as RIDGE_HALF, ridge};
use crate::nearest::{NearScratch, nearest};
use crate::pair::ContactPair;
use crate::query::Waves;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::fixtures::{SourceBuilder, bump};
use feeler_brep::source::{LoopSource, SolidSource};
use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};
use feeler_geom::{Curve, Frame, P2, P3, Pose, Surface, V3};
use nalgebra::UnitQuaternion;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;

/// Half the length (mm) of the bumps.
const HALF: f64 = 3.0;
/// Height (mm) of the middle control points of ridges.
const RISE: f64 = 2.0;

fn body(source: &SolidSource) -> Body {
    let solid = build_solid(source, &BuildOptions::default()).expect("a fixture");
    let options = feeler_hierarchy::Options { flatness: 0.05 };
    Body::new(feeler_prepare::prepare_solid(&solid, &options).expect("a fixture")).expect("a fixture")
}

fn context<'a>(a: &'a Body, b: &'a Body, pose_ab: Pose) -> Context<'a> {
    let tol = Tolerances::new(a, b, &pose_ab, None);
    Context {
        a,
        b,
        pose_ab,
        pose_ba: pose_ab.inverse(),
        tol,
        d_max: 1.0,
        least: 0.0,
        penetration: 0.0,
        quasi_angle: 0.0,
        waves: Waves::NONE,
        step: None,
        cull: None,
    }
}

/// Areas of the free-form faces of a solid.
fn free_areas(body: &Body) -> Vec<AreaId> {
    let faces = body.features().iter().filter(|data| matches!(data.feature, Feature::Face(_)));
    let free = faces.filter(|data| data.primitive.is_none());
    free.flat_map(|data| body.areas_of(data)).copied().collect()
}

/// Statuses of a pair in both orders.
fn statuses(a: &Arc<Body>, b: &Arc<Body>, pose_ab: &Pose) -> [Option<Status>; 2] {
    [(a, b, *pose_ab), (b, a, pose_ab.inverse())].map(|(first, second, pose)| {
        let mut pair = ContactPair::new(first.clone(), second.clone());
        pair.query(&Pose::identity(), &pose, &QueryOptions::within(1.0)).expect("finite");
        pair.status()
    })
}

/// A block of height 2 above a patch: the block into which `bump` fits.
fn mould(bump: &SolidSource) -> SolidSource {
    let mut b = SourceBuilder::new();
    let corners = [(-HALF, -HALF), (HALF, -HALF), (HALF, HALF), (-HALF, HALF)];
    let low = corners.map(|(x, y)| b.vertex(x, y, 0.0));
    let high = corners.map(|(x, y)| b.vertex(x, y, 2.0));
    for k in 0..4 {
        let next = (k + 1) % 4;
        b.polygon(&[&[low[k], low[next], high[next], high[k]]]);
    }
    b.polygon(&[&high]);
    let patch = bump.faces.iter().find(|face| matches!(face.surface, Surface::Bezier(_)));
    let ring = b.ring(&[low[3], low[2], low[1], low[0]]);
    b.face(patch.expect("a bump").surface.clone(), false, vec![ring]);
    b.finish("mould")
}

/// Edge along a parabola with the given control points.
fn parabola(b: &mut SourceBuilder, control: [P3; 3], from: u32, to: u32) -> u32 {
    let control = control.map(|p| homogeneous(&p, 1.0)).to_vec();
    let curve = BezierSpline { degree: 2, breaks: vec![0.0, 1.0], control, periodic: false };
    b.edge(Curve::Bezier(curve), from, to)
}

/// Parabolic cylinder along y: control points (x, z) of the parabola.
fn cylinder(parabola: [[f64; 2]; 3], [y0, y1]: [f64; 2]) -> Surface {
    let row = |[x, z]: [f64; 2]| [y0, y1].map(|y| homogeneous(&P3::new(x, y, z), 1.0));
    Surface::Bezier(BezierSurface {
        u_degree: 2,
        v_degree: 1,
        u_breaks: vec![0.0, 1.0],
        v_breaks: vec![0.0, 1.0],
        control: parabola.into_iter().flat_map(row).collect(),
        u_periodic: false,
        v_periodic: false,
    })
}

fn plane(b: &SourceBuilder, vertex: u32, normal: V3) -> Surface {
    Surface::Plane { frame: Frame::from_z(b.point(vertex), normal, None).expect("a direction") }
}

/// Prism along y. The profile (x, z) is counter-clockwise as seen from negative y; a second point of an
/// entry is the middle control point of a parabola to the next entry.
fn prism(profile: &[([f64; 2], Option<[f64; 2]>)], ys: [f64; 2]) -> SolidSource {
    let mut b = SourceBuilder::new();
    let n = profile.len();
    let ends = ys.map(|y| profile.iter().map(|([x, z], _)| b.vertex(*x, y, *z)).collect::<Vec<_>>());
    let mut sides = [Vec::new(), Vec::new()];
    for k in 0..n {
        let next = (k + 1) % n;
        let edges = [0, 1].map(|end| {
            let (from, to) = (ends[end][k], ends[end][next]);
            match profile[k].1 {
                Some([x, z]) => {
                    let control = [b.point(from), P3::new(x, ys[end], z), b.point(to)];
                    (parabola(&mut b, control, from, to), true)
                }
                None => b.line(from, to),
            }
        });
        edges.iter().zip(&mut sides).for_each(|(edge, side)| side.push(*edge));
    }
    let up = |(e, forward): (u32, bool)| (e, !forward);
    for k in 0..n {
        let next = (k + 1) % n;
        let (from, to) = (b.line(ends[0][k], ends[1][k]), b.line(ends[1][next], ends[0][next]));
        let ring = vec![LoopSource::Edges(vec![from, sides[1][k], to, up(sides[0][k])])];
        let (start, end) = (profile[k].0, profile[next].0);
        match profile[k].1 {
            Some(middle) => b.face(cylinder([start, middle, end], ys), false, ring),
            None => {
                let normal = V3::new(end[1] - start[1], 0.0, start[0] - end[0]);
                let surface = plane(&b, ends[0][k], normal);
                b.face(surface, true, ring)
            }
        };
    }
    let surface = plane(&b, ends[0][0], -V3::y());
    b.face(surface, true, vec![LoopSource::Edges(sides[0].clone())]);
    let surface = plane(&b, ends[1][0], V3::y());
    let ring = sides[1].iter().rev().map(|edge| up(*edge)).collect();
    b.face(surface, true, vec![LoopSource::Edges(ring)]);
    b.finish("prism")
}

/// A ridge, as [`ridge`], that ends at `x`, where a peg rises to the height 3 beside its border. The
/// front of the peg leans over the ridge by `lean` (tangent of the angle).
fn ridge_with_peg(x: f64, lean: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let r = RIDGE_HALF;
    let end = (x + r) / (2.0 * r);
    // Polar form of the parabola's height.
    let height = |s: f64, t: f64| RISE * (s + t - 2.0 * s * t);
    let z = height(end, end);
    let corners = [(-r, -r, 0.0), (x, -r, z), (x, r, z), (-r, r, 0.0)];
    let low = corners.map(|(x, y, _)| b.vertex(x, y, -1.0));
    let high = corners.map(|(x, y, z)| b.vertex(x, y, z));
    let [front, back] = [(-r, high[0], high[1]), (r, high[3], high[2])].map(|(y, from, to)| {
        let middle = P3::new(0.5 * (x - r), y, height(0.0, end));
        let control = [b.point(from), middle, b.point(to)];
        parabola(&mut b, control, from, to)
    });
    let sides = [-0.5, 0.5];
    let foot = sides.map(|y| b.vertex(x, y, -0.5));
    let border = sides.map(|y| b.vertex(x, y, z));
    let top = sides.map(|y| b.vertex(x - lean * (3.0 - z), y, 3.0));
    let [far_foot, far_top] = [-0.5, 3.0].map(|z| sides.map(|y| b.vertex(x + 1.0, y, z)));
    b.polygon(&[&[low[0], low[3], low[2], low[1]]]);
    b.polygon(&[&[low[0], high[0], high[3], low[3]]]);
    b.polygon(&[&[low[1], low[2], high[2], border[1], foot[1], foot[0], border[0], high[1]]]);
    let edges = |list: Vec<(u32, bool)>| vec![LoopSource::Edges(list)];
    let (bottom, right, left) = (b.line(low[0], low[1]), b.line(low[1], high[1]), b.line(high[0], low[0]));
    let surface = plane(&b, low[0], -V3::y());
    b.face(surface, true, edges(vec![bottom, right, (front, false), left]));
    let (bottom, left, right) = (b.line(low[2], low[3]), b.line(low[3], high[3]), b.line(high[2], low[2]));
    let surface = plane(&b, low[2], V3::y());
    b.face(surface, true, edges(vec![bottom, left, (back, true), right]));
    let along = [high[1], border[0], border[1], high[2]];
    let mut ring = vec![(front, true)];
    ring.extend(along.windows(2).map(|ends| b.line(ends[0], ends[1])));
    ring.extend([(back, false), b.line(high[3], high[0])]);
    b.face(cylinder([[-r, 0.0], [0.0, RISE], [r, 0.0]], [-r, r]), true, edges(ring));
    b.polygon(&[&[border[0], top[0], top[1], border[1]]]);
    b.polygon(&[&[foot[0], foot[1], far_foot[1], far_foot[0]]]);
    b.polygon(&[&[far_foot[0], far_foot[1], far_top[1], far_top[0]]]);
    b.polygon(&[&[top[0], far_top[0], far_top[1], top[1]]]);
    b.polygon(&[&[foot[1], border[1], top[1], far_top[1], far_foot[1]]]);
    b.polygon(&[&[foot[0], far_foot[0], far_top[0], top[0], border[0]]]);
    b.finish("ridge with peg")
}

/// Sampled points of an area that is on the boundary of the other solid are as near to that boundary as
/// is claimed, and areas that are moved farther away than the accepted distance are never recognised.
#[test]
fn covered_areas_are_near_the_boundary() {
    let mut rng = SmallRng::seed_from_u64(52);
    let (mut covered, mut open) = (0, 0);
    for k in 0..24 {
        let mut heights = [[0.0; 2]; 3];
        heights.iter_mut().flatten().for_each(|h| *h = rng.random_range(-1.5..1.5));
        let rows: Vec<&[f64]> = heights.iter().map(|row| &row[..]).collect();
        let weight = if k % 2 == 0 { 1.0 } else { rng.random_range(0.5..2.0) };
        let source = bump(HALF, &rows, weight);
        // Of two equal bumps, no area counts, because both are on the same side.
        let is_copy = k % 8 == 4;
        let (a, b) = (body(&source), body(&if is_copy { source } else { mould(&source) }));
        let tol = Tolerances::new(&a, &b, &Pose::identity(), None);
        let mut random = |size: f64| V3::from_fn(|_, _| size * rng.random_range(-1.0..1.0));
        let size = [0.0, 0.2, 0.5, 4.0][k % 4] * tol.tol;
        let mut shift = random(size);
        if k % 4 == 3 {
            // The tops, which face upwards, are apart.
            shift.z = size;
        }
        let turn = UnitQuaternion::from_scaled_axis(random(0.1 * size));
        let ctx = context(&a, &b, Pose::from_parts(shift.into(), turn));
        let limit = distance_on_one_surface(limits(&ctx));
        for area in free_areas(&a) {
            let Some((spare, face)) = SeparationCache::default().cover(&ctx, (Which::A, area)) else {
                open += 1;
                continue;
            };
            covered += 1;
            assert!(k % 4 != 3 && !is_copy, "{k}: apart by {size:e}");
            assert!(closed_form(&b, face).is_none(), "{k}: {face:?}");
            let Rect { u0, u1, v0, v1 } = a.area(area).rect;
            let surface = &a.face(a.face_of(area)).surface;
            for i in 0..49 {
                let (s, t) = (f64::from(i / 7) / 6.0, f64::from(i % 7) / 6.0);
                let p = surface.point(P2::new(u0 + s * (u1 - u0), v0 + t * (v1 - v0)));
                let near = nearest(&b, &(ctx.pose_ba * p), f64::INFINITY, &mut NearScratch::default());
                let distance = near.expect("a body with faces").distance;
                assert!(distance <= limit - spare + tol.eps, "{k}: {distance:e} {limit:e} {spare:e}");
            }
        }
    }
    assert!(covered > 100 && open > 10, "{covered} {open}");
}

/// A peg that rises into the mould of a ridge beside the border of the ridge interferes, wherever that
/// border is relative to the border of an area of the mould that is flush with the ridge.
#[test]
fn pegs_beside_flush_areas_interfere() {
    let r = RIDGE_HALF;
    let a = Arc::new(body(&prism(
        &[([-r, 0.0], Some([0.0, RISE])), ([r, 0.0], None), ([r, 4.0], None), ([-r, 4.0], None)],
        [-r, r],
    )));
    let borders = free_areas(&a).into_iter().map(|area| a.area(area).rect.u1);
    let mut borders: Vec<f64> = borders.map(|u| r * (2.0 * u - 1.0)).filter(|x| x.abs() < 0.9).collect();
    borders.sort_by(f64::total_cmp);
    borders.dedup();
    assert!(borders.len() > 1, "{borders:?}");
    let borders = [borders[0], borders[borders.len() - 1]];
    let tol = Tolerances::new(&a, &a, &Pose::identity(), None).tol;
    let mut beside = 0;
    for x in borders {
        for lean in [0.0, 0.5, -0.3] {
            for offset in [0.0, 1e-9, 0.1 * tol, tol].into_iter().flat_map(|d| [d, -d]) {
                let b = Arc::new(body(&ridge_with_peg(x + offset, lean)));
                let ctx = context(&a, &b, Pose::identity());
                let ends_here = |area: &AreaId| (r * (2.0 * a.area(*area).rect.u1 - 1.0) - x).abs() < tol;
                let mut cache = SeparationCache::default();
                let areas = free_areas(&a).into_iter().filter(ends_here);
                beside += areas.filter(|area| cache.cover(&ctx, (Which::A, *area)).is_some()).count();
                let found = statuses(&a, &b, &Pose::identity());
                assert_eq!(found, [Some(Status::Interfering); 2], "{x} {offset:e} {lean}");
            }
        }
    }
    // The areas before the border are flush, or all but a strip of a tenth of the tolerance.
    assert!(beside >= 20, "{beside}");
}

/// A bar that fits into a dovetail slot between curved walls interferes if it is deeper than the slot.
#[test]
fn deep_bars_in_dovetail_slots_interfere() {
    let slot = |ys| {
        prism(
            &[
                ([-4.0, -2.0], None),
                ([4.0, -2.0], None),
                ([4.0, 2.0], None),
                ([1.0, 2.0], Some([1.3, 1.0])),
                ([2.0, 0.0], None),
                ([-2.0, 0.0], Some([-1.3, 1.0])),
                ([-1.0, 2.0], None),
                ([-4.0, 2.0], None),
            ],
            ys,
        )
    };
    let bar = |deep: f64, ys| {
        let low = [([-2.0, -deep], None), ([2.0, -deep], None)];
        let high = [
            ([2.0, 0.0], Some([1.3, 1.0])),
            ([1.0, 2.0], None),
            ([-1.0, 2.0], Some([-1.3, 1.0])),
            ([-2.0, 0.0], None),
        ];
        prism(&[&low[if deep > 0.0 { 0 } else { 2 }..], &high[..]].concat(), ys)
    };
    let a = Arc::new(body(&slot([-2.0, 2.0])));
    let mut flush = 0;
    for ys in [[-1.0, 1.0], [-2.0, 2.0], [-3.0, 1.0]] {
        for deep in [0.0, 1.0] {
            let b = Arc::new(body(&bar(deep, ys)));
            let tol = Tolerances::new(&a, &b, &Pose::identity(), None).tol;
            for offset in [0.0, 1e-9, 0.1 * tol, tol].into_iter().flat_map(|d| [d, -d]) {
                let pose = Pose::translation(0.0, 0.0, offset);
                let ctx = context(&a, &b, pose);
                let mut cache = SeparationCache::default();
                let sides = [(Which::A, &a), (Which::B, &b)];
                let areas = sides
                    .into_iter()
                    .flat_map(|(own, body)| free_areas(body).into_iter().map(move |area| (own, area)));
                flush += areas.filter(|&side| cache.cover(&ctx, side).is_some()).count();
                let expected = if deep > 0.0 { Status::Interfering } else { Status::Touching };
                let found = statuses(&a, &b, &pose);
                assert_eq!(found, [Some(expected); 2], "{ys:?} {deep} {offset:e}");
            }
        }
    }
    assert!(flush > 100, "{flush}");
}

/// Copies of a prism with a free-form side that are moved along it interfere, also where borders of areas
/// of one are on the end of the other one.
#[test]
fn prisms_with_a_common_side_interfere() {
    let prism = Arc::new(body(&ridge(2.0)));
    let borders =
        prism.features().iter().flat_map(|data| prism.areas_of(data)).map(|&area| prism.area(area).rect.v1);
    let borders: Vec<f64> = borders.filter(|v| 0.0 < *v && *v < 1.0).collect();
    for share in [0.5, 0.25, 0.75, 0.3, 1e-3].into_iter().chain(borders) {
        for sense in [-1.0, 1.0] {
            let moved = Pose::translation(0.0, sense * share * 2.0 * RIDGE_HALF, 0.0);
            let mut pair = ContactPair::new(prism.clone(), prism.clone());
            let options = QueryOptions::within(1.0);
            pair.query(&Pose::identity(), &moved, &options).expect("finite");
            assert_eq!(pair.status(), Some(Status::Interfering), "{share} {sense}");
        }
    }
}
