//! Closed crossing curves of two faces, which do not reach an edge.

use super::clearance_bounds::{CachedResult, ClearanceBound, CrossingQuery, OpenArcs, distance_to_areas};
use super::edges::on_face;
use super::separation::SeparationCache;
use super::{Decision, Evidence, LEVEL_SLACK, MAX_BESIDE_TRIM, closed_form, ordered, patch_of};
use crate::body::Body;
use crate::body::ids::{AreaPair, FacePair};
use crate::body::side::Which;
use crate::cull::motion::MotionChannels;
use crate::footpoint::bands::faces_away;
use crate::query::Context;
use feeler_geom::crossing::{
    Level, Patch, Search, Shifted, patch_through_level, patch_through_patch, third_of_closed_form,
};
use feeler_geom::skeleton::{Primitive, gradient_over_ball};
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature};
use std::cmp::Ordering;

/// Finds a point of every closed crossing curve of two faces, for the pairs of face areas `overlaps`,
/// which are sorted by features. `separation` are the cached separations (`None` if all pairs are searched).
/// Returns whether a witness was found, so that the search may end.
pub(super) fn search(
    decision: &mut Decision<'_>,
    overlaps: &[AreaPair],
    mut separation: Option<&mut (&mut SeparationCache, MotionChannels<'_>)>,
) -> bool {
    let ctx = decision.ctx;
    let mut is_covered = |own: Which, area: AreaId| {
        separation
            .as_mut()
            .is_some_and(|(apart, channels)| apart.remaining_cover(ctx, channels, (own, area), 0.0).is_some())
    };
    let faces = |&(i, j): &AreaPair| (ctx.a.face_of(i), ctx.b.face_of(j));
    overlaps.chunk_by(|p, q| faces(p) == faces(q)).any(|group| {
        let (fa, fb) = faces(&group[0]);
        let (form_a, form_b) = (closed_form(ctx.a, fa), closed_form(ctx.b, fb));
        let is_plane = |p: Option<&Primitive>| matches!(p, Some(Primitive::Plane { .. }));
        match (form_a, form_b) {
            // Two planes cross in a line.
            _ if is_plane(form_a) && is_plane(form_b) => false,
            (Some(a), _) if has_exact_edges(ctx, fa, fb) && has_no_closed_curve(ctx, Which::B, fb, a) => {
                false
            }
            (_, Some(b)) if has_exact_edges(ctx, fa, fb) && has_no_closed_curve(ctx, Which::A, fa, b) => {
                false
            }
            // Heights above a plane have the tightest bounds; otherwise the smaller face takes fewer
            // cells.
            (Some(a), Some(b)) => {
                let extent = |body: &Body, face: FaceId| body.features()[face.index()].extent;
                let b_is_smaller = match extent(ctx.b, fb).total_cmp(&extent(ctx.a, fa)) {
                    Ordering::Less => true,
                    Ordering::Equal => decision.first == Which::B,
                    Ordering::Greater => false,
                };
                if is_plane(form_a) || (b_is_smaller && !is_plane(form_b)) {
                    of_face(decision, Which::B, fb, Target { face: fa, primitive: a })
                } else {
                    of_face(decision, Which::A, fa, Target { face: fb, primitive: b })
                }
            }
            (Some(a), None) => {
                of_areas(decision, Which::B, group, Target { face: fa, primitive: a }, &mut is_covered)
            }
            (None, Some(b)) => {
                of_areas(decision, Which::A, group, Target { face: fb, primitive: b }, &mut is_covered)
            }
            (None, None) => group.iter().any(|&(i, j)| {
                // The areas of the first solid are searched, also for crossings with covered areas.
                let own = decision.first;
                let mine = if own == Which::A { i } else { j };
                !is_covered(own, mine) && of_pair(decision, (i, j))
            }),
        }
    })
}

/// Whether the trims of both faces deviate from their edges by no more than the tolerance. Otherwise, points
/// of open crossing curves, which the search for closed ones reports as well, are better evidence than
/// crossings of edges.
fn has_exact_edges(ctx: &Context<'_>, fa: FaceId, fb: FaceId) -> bool {
    let deviation = |body: &Body, face: FaceId| body.data(Feature::Face(face)).deviation;
    deviation(ctx.a, fa).max(deviation(ctx.b, fb)) <= ctx.tol.tol
}

/// Whether the face `mine` of `own` has no closed curve in common with any level of the signed distance from
/// `primitive` (frame of the other solid), which also excludes points in which it touches a level. `true` is
/// certain.
///
/// A closed curve on a disc surrounds a point in which the signed distance is critical, so that its gradient
/// is parallel to the normal of the face. No area of the face contains both directions if it has none.
fn has_no_closed_curve(ctx: &Context<'_>, own: Which, mine: FaceId, primitive: &Primitive) -> bool {
    let body = ctx.body(own);
    let data = body.data(Feature::Face(mine));
    if ctx.cull.is_none() || !data.is_disc {
        return false;
    }
    let primitive = primitive.transformed(ctx.pose_to_other(own.other()));
    body.areas_of(data).iter().all(|&area| {
        let node = &body.tree()[body.leaf_of_area(area).index()];
        let radius = node.obb.radius() + f64::from(node.allowance.length);
        gradient_over_ball(&primitive, &node.obb.center, radius).is_some_and(|(_, gradient, turn)| {
            [gradient, -gradient].iter().all(|direction| faces_away(ctx, (body, area), direction, turn))
        })
    })
}

/// Searches the face `mine` of `own`, which has a closed form, for crossings with the face `target` of the
/// other solid. Returns whether a witness was found, so that the search may end.
fn of_face(decision: &mut Decision<'_>, own: Which, mine: FaceId, target: Target<'_>) -> bool {
    let ctx = decision.ctx;
    let body = ctx.body(own);
    let data = body.data(Feature::Face(mine));
    let rect = data.rect;
    let surface = &body.face(mine).surface;
    let third = third_of_closed_form(surface, &rect);
    let patch = Patch { surface, outward: true, pose: None, rect, third, cone: (V3::zeros(), 1.0) };
    // Curves continue beyond a side of the rectangle where the face is closed and where the side is one
    // point.
    let is_closed = |width: f64, period: Option<f64>| period.is_some_and(|p| width > 0.999 * p);
    let (_, along_u, _) = surface.first_derivs(P2::new(rect.u0, rect.v0));
    let is_point = along_u.norm() * rect.width() <= ctx.tol.tol;
    let joined = [
        is_closed(rect.width(), surface.u_period()),
        is_point || is_closed(rect.height(), surface.v_period()),
    ];
    let sheet = Sheet { face: mine, patch: &patch, joined, areas: data.areas.len() };
    through_level(decision, CrossingQuery::Face(own), &sheet, target)
}

/// Searches areas of a free-form face of `own` for crossings with the face `target` of the other solid;
/// `group` are the pairs of areas of both faces. Areas for which `is_covered` is true are skipped. Returns
/// whether a witness was found, so that the search may end.
fn of_areas(
    decision: &mut Decision<'_>,
    own: Which,
    group: &[AreaPair],
    target: Target<'_>,
    is_covered: &mut impl FnMut(Which, AreaId) -> bool,
) -> bool {
    let ctx = decision.ctx;
    let area_of = |pair: &AreaPair| if own == Which::A { pair.0 } else { pair.1 };
    group.iter().enumerate().any(|(k, pair)| {
        let area = area_of(pair);
        // An area occurs once for every area of the other face.
        if group[..k].iter().any(|earlier| area_of(earlier) == area) || is_covered(own, area) {
            return false;
        }
        let Some((mine, patch)) = patch_of(ctx.body(own), area, None) else { return false };
        let sheet = Sheet { face: mine, patch: &patch, joined: [true; 2], areas: 1 };
        through_level(decision, CrossingQuery::Area(own, area), &sheet, target)
    })
}

/// A face, whose surface has a closed form, with which crossings are searched for.
#[derive(Clone, Copy)]
struct Target<'a> {
    face: FaceId,
    /// Closed form of the surface, in the frame of the face's solid.
    primitive: &'a Primitive,
}

/// A patch of a face that is searched for crossings.
struct Sheet<'a> {
    face: FaceId,
    patch: &'a Patch<'a>,
    /// Whether crossing curves may continue beyond the sides of constant u, and beyond those of constant
    /// v, because the face is closed, the side is a point, or an area is adjacent.
    joined: [bool; 2],
    /// Number of areas of the face that the patch covers.
    areas: usize,
}

/// Searches a patch for crossings with the face `target` of the other solid. Returns whether a witness was
/// found, so that the search may end.
fn through_level(
    decision: &mut Decision<'_>,
    query: CrossingQuery,
    sheet: &Sheet<'_>,
    target: Target<'_>,
) -> bool {
    let ctx = decision.ctx;
    let &Sheet { face: mine, patch, joined, areas } = sheet;
    let Target { face, primitive } = target;
    let own = query.own();
    let cached = decision.cached(query, [mine, face]);
    if matches!(cached, CachedResult::Clear(_)) {
        return false;
    }
    let tol = ctx.tol.tol;
    let primitive = primitive.transformed(ctx.pose_to_other(own.other()));
    let level = Level { primitive: &primitive, at: -decision.level, slack: LEVEL_SLACK * tol };
    let given = decision.budget_for(areas);
    let mut left = given;
    let (other, to_other) = (ctx.body(own.other()), ctx.pose_to_other(own));
    let slack = MAX_BESIDE_TRIM * tol + other.data(Feature::Face(face)).deviation;
    let mut bound = ClearanceBound::UNBOUNDED;
    // Crossings count only near the areas of the other face, because its surface extends beyond the face.
    let wants_bound = matches!(cached, CachedResult::Unknown);
    // Position of the area that the last relevant cell may intersect: the next one often does, too.
    let mut near = 0;
    let mut relevant = |p: &P3, radius: f64| {
        // If a bound is wanted, it must be positive.
        let reach = if wants_bound { slack + radius } else { slack };
        let distance = distance_to_areas(other, face, (&(to_other * p), radius), reach, &mut near);
        if distance > reach {
            bound.areas = bound.areas.min(distance);
        }
        distance <= reach
    };
    let surface_bound = wants_bound.then_some(&mut bound.surface);
    let mut clear = true;
    let search =
        patch_through_level((patch, joined), &level, surface_bound, &mut relevant, &mut left, &mut |uv| {
            clear = false;
            crossing(decision, own, (mine, patch, uv), (face, None))
        });
    if wants_bound {
        bound.surface = if clear && search == Search::Complete { bound.surface } else { 0.0 };
        decision.store(query, [mine, face], (bound, OpenArcs::new()));
    }
    let place = || middle(ctx, own, mine, &patch.surface.point(patch.rect.center()), face);
    decision.charge_budget(given, left, search, place)
}

/// Searches the area of the first solid, of two areas of free-form faces, for crossings with the other one.
/// Returns whether a witness was found, so that the search may end.
fn of_pair(decision: &mut Decision<'_>, (i, j): AreaPair) -> bool {
    let ctx = decision.ctx;
    let tol = ctx.tol.tol;
    let own = decision.first;
    let (mine, theirs) = if own == Which::A { (i, j) } else { (j, i) };
    let pose = ctx.pose_to_other(own.other());
    let (Some((face, patch)), Some((other, target))) =
        (patch_of(ctx.body(own), mine, None), patch_of(ctx.body(own.other()), theirs, Some(pose)))
    else {
        return false;
    };
    let shifted = Shifted { patch: target, by: decision.level, slack: LEVEL_SLACK * tol };
    let given = decision.budget_for(1);
    let mut left = given;
    let search = patch_through_patch(&patch, &shifted, &mut left, &mut |uv, other_uv| {
        crossing(decision, own, (face, &patch, uv), (other, Some(other_uv)))
    });
    let place = || middle(ctx, own, face, &patch.surface.point(patch.rect.center()), other);
    decision.charge_budget(given, left, search, place)
}

fn middle(ctx: &Context<'_>, own: Which, mine: FaceId, p: &P3, theirs: FaceId) -> (P3, FacePair) {
    (ctx.in_a(own, p), ordered(own, mine, theirs))
}

/// Adds a crossing of the face `mine` of `own` with the face `face` of the other solid as evidence, if it
/// is inside the trims of both. `uv` are its parameters on `mine`, `other_uv` those on `face` if they are
/// known. Returns whether a witness was found, so that the search may end.
fn crossing(
    decision: &mut Decision<'_>,
    own: Which,
    (mine, patch, uv): (FaceId, &Patch<'_>, P2),
    (face, other_uv): (FaceId, Option<P2>),
) -> bool {
    let ctx = decision.ctx;
    let p = patch.surface.point(uv);
    let Some(here) = on_face(ctx, own, mine, &p, Some(uv)) else { return false };
    let there = on_face(ctx, own.other(), face, &(ctx.pose_to_other(own) * p), other_uv);
    let Some(there) = there else { return false };
    decision.add_evidence(&Evidence {
        p: ctx.in_a(own, &p),
        faces: ordered(own, mine, face),
        along: None,
        deviation: here.max(there),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::options::QueryOptions;
    use crate::api::tolerance::Tolerances;
    use crate::cull::node_pair::CullContext;
    use crate::query::Waves;
    use feeler_brep::build::{BuildOptions, build_solid};
    use feeler_brep::fixtures;
    use feeler_geom::skeleton::signed_distance;
    use feeler_geom::{Frame, Pose};
    use nalgebra::UnitQuaternion;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// A face that is excluded has no point, on a grid over its areas, in which its normal is parallel to the
    /// gradient of the signed distance.
    #[test]
    fn excluded_faces_have_no_critical_point() {
        let mut rng = SmallRng::seed_from_u64(4);
        let (mut excluded, mut kept, mut discs) = (0, 0, 0);
        let sources = [
            fixtures::block([-1.0, -0.8, -0.6], [1.0, 0.8, 0.6]),
            fixtures::stadium(2.0, 0.7, 1.0),
            fixtures::cylinder_halves(0.8, 1.5),
            fixtures::half_cone(0.8, 1.5),
            fixtures::hemisphere(1.0),
            fixtures::block_with_hole(2.0, 1.0, 0.4),
        ];
        for source in sources {
            let solid = build_solid(&source, &BuildOptions::default()).expect("a fixture");
            let options = feeler_hierarchy::Options { flatness: 0.05 };
            let body = Body::new(feeler_prepare::prepare_solid(&solid, &options).expect("a fixture"));
            let body = body.expect("a fixture");
            for k in 0..60 {
                let mut random = |scale: f64| V3::from_fn(|_, _| scale * rng.random_range(-1.0..1.0));
                // Half of the poses are aligned.
                let turn = if k % 2 == 0 { random(3.0) } else { V3::zeros() };
                let pose = Pose::from_parts(random(2.0).into(), UnitQuaternion::from_scaled_axis(turn));
                let frame = Frame::identity();
                let primitive = match k % 5 {
                    0 => Primitive::Plane { origin: frame.origin, normal: frame.z },
                    1 => Primitive::Line { origin: frame.origin, dir: frame.z, sigma: 0.5, slope: 0.0 },
                    2 => Primitive::Line { origin: frame.origin, dir: frame.z, sigma: -0.5, slope: 0.3 },
                    3 => Primitive::Point { center: frame.origin, sigma: 0.4 },
                    _ => Primitive::Circle { frame, radius: 1.5, sigma: 0.2 },
                };
                let tol = Tolerances::new(&body, &body, &pose, None);
                let ctx = Context {
                    a: &body,
                    b: &body,
                    pose_ab: pose,
                    pose_ba: pose.inverse(),
                    tol,
                    d_max: 1.0,
                    least: 0.0,
                    penetration: 0.0,
                    quasi_angle: 0.0,
                    waves: Waves::NONE,
                    step: None,
                    cull: Some(CullContext::new(&pose, &tol, &QueryOptions::within(1.0))),
                };
                for data in body.features() {
                    let Feature::Face(face) = data.feature else { continue };
                    discs += u32::from(data.is_disc);
                    if !has_no_closed_curve(&ctx, Which::A, face, &primitive) {
                        kept += 1;
                        continue;
                    }
                    excluded += 1;
                    let moved = primitive.transformed(&pose);
                    let (surface, n) = (&body.face(face).surface, 20);
                    for &area in body.areas_of(data) {
                        let rect = &body.area(area).rect;
                        for i in 0..=n * n {
                            let (i, j) = (f64::from(i / n) / f64::from(n), f64::from(i % n) / f64::from(n));
                            let uv = P2::new(rect.u0 + i * rect.width(), rect.v0 + j * rect.height());
                            let Some(at) = signed_distance(&moved, &surface.point(uv)) else { continue };
                            let (_, du, dv) = surface.first_derivs(uv);
                            let Some(normal) = du.cross(&dv).try_normalize(1e-9) else { continue };
                            let sine = normal.cross(&at.gradient).norm();
                            assert!(sine > 1e-9, "{primitive:?} {face:?} {uv}");
                        }
                    }
                }
            }
        }
        assert!(excluded > 200 && kept > 300 && discs > 600, "{excluded} {kept} {discs}");
    }
}
