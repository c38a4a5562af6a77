//! Crossings of the edges of one solid with the faces of the other one.

use super::clearance_bounds::{CachedResult, ClearanceBound, CrossingQuery, OpenArcs, distance_to_areas};
use super::separation::SeparationCache;
use super::{Decision, Evidence, LEVEL_SLACK, MAX_BESIDE_TRIM, closed_form, ordered, patch_of};
use crate::body::Body;
use crate::body::edge_arcs::EdgeArc;
use crate::body::ids::{AreaPair, FacePair};
use crate::body::side::Which;
use crate::cull::motion::MotionChannels;
use crate::nearest::foot_on_face;
use crate::query::Context;
use feeler_geom::crossing::{Level, Search, Shifted, curve_through_level, curve_through_patch};
use feeler_geom::obb::PoseMatrix;
use feeler_geom::skeleton::Primitive;
use feeler_geom::trim::Side;
use feeler_geom::{Obb, P2, P3, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature};

/// Face, or area of a face, with which crossings of an edge are searched for.
#[derive(Clone, Copy)]
enum Target {
    /// A whole face with a closed form.
    Face(FaceId),
    /// An area of a free-form face.
    Area(AreaId),
}

impl Target {
    /// Bit that is set in [`Target::number`] for a whole face, and not for an area.
    const FACE: u32 = 1 << 31;

    fn number(self) -> u32 {
        match self {
            Self::Face(face) => Self::FACE | face.0,
            Self::Area(area) => area.0,
        }
    }

    fn of_number(n: u32) -> Self {
        if n & Self::FACE == 0 { Self::Area(AreaId(n)) } else { Self::Face(FaceId(n & !Self::FACE)) }
    }
}

/// Searches for crossings of the edges of `own` with faces of the other solid, for the pairs of face areas
/// `overlaps`. `separation` are the cached separations of pairs of faces (`None` if all are searched);
/// `arc_targets` is a scratch buffer. Returns whether a witness was found, so that the search may end.
pub(super) fn through_faces(
    decision: &mut Decision<'_>,
    own: Which,
    overlaps: &[AreaPair],
    mut separation: Option<&mut (&mut SeparationCache, MotionChannels<'_>)>,
    arc_targets: &mut Vec<u64>,
) -> bool {
    let ctx = decision.ctx;
    let other = own.other();
    let (body, facing) = (ctx.body(own), ctx.body(other));
    // A pair of an arc and its target (a whole face with a closed form, or an area) is one number, so that
    // pairs are sorted quickly.
    arc_targets.clear();
    let to_own = &PoseMatrix::from(ctx.pose_to_other(other));
    // Pairs of one area of A are consecutive, and so are the arcs of a face.
    let mut last_placed: Option<(AreaId, Obb)> = None;
    let faces = |&(i, j): &AreaPair| {
        if own == Which::A {
            [body.face_of(i), facing.face_of(j)]
        } else {
            [body.face_of(j), facing.face_of(i)]
        }
    };
    for group in overlaps.chunk_by(|p, q| faces(p) == faces(q)) {
        let [mine, face] = faces(&group[0]);
        let whole = closed_form(facing, face);
        let open = whole.and_then(|primitive| open_arcs(decision, own, [mine, face], primitive));
        if open.as_ref().is_some_and(|open| open.is_empty()) {
            continue;
        }
        let slack = MAX_BESIDE_TRIM * ctx.tol.tol + facing.features()[face.index()].deviation;
        for &(i, j) in group {
            let (area, theirs) = if own == Which::A { (i, j) } else { (j, i) };
            let target = if whole.is_some() { Target::Face(face) } else { Target::Area(theirs) };
            let placed = || (theirs, facing.node(facing.leaf_of_area(theirs)).obb.placed(to_own));
            let (_, obb) = *match &mut last_placed {
                Some(last) if last.0 == theirs => last,
                last => last.insert(placed()),
            };
            let near = body.edge_arcs().of_area(area).iter().filter(|ball| {
                if open.as_ref().is_some_and(|open| !open.contains(&ball.arc)) {
                    return false;
                }
                let Some((apart, channels)) = separation.as_mut() else { return true };
                if is_separated(&obb, &ball.center, ball.radius + slack) {
                    return false;
                }
                // The edge lies on both its faces up to its deviation.
                let arc = &body.edge_arcs().list[ball.arc as usize];
                let faces = ordered(own, arc.beside, face);
                apart.remaining_motion(ctx, channels, faces, arc.off).is_none()
                    && !apart.is_covered(ctx, channels, (own, ball.arc))
                    && apart.remaining_on_one_surface(ctx, channels, faces, arc.off).is_none()
                    && !apart.follows_beside(ctx, channels, (own, arc), theirs)
            });
            arc_targets.extend(near.map(|ball| (u64::from(ball.arc) << 32) | u64::from(target.number())));
        }
    }
    // Reserves capacity for other poses, because allocations must not depend on the step.
    arc_targets.reserve(arc_targets.len());
    arc_targets.sort_unstable();
    arc_targets.dedup();
    arc_targets.iter().any(|&m| {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half of the number")]
        let (t, target) = ((m >> 32) as u32, m as u32);
        through_face(decision, own, &body.edge_arcs().list[t as usize], Target::of_number(target))
    })
}

/// Returns the edge arcs of a face of `own` that may cross the surface of a face of the other solid; all
/// other arcs of the face are proved not to cross it. `faces` are these two faces, `primitive` is the
/// closed form of the second one. `None` if there are too many such arcs, or if the proof is not worth
/// computing.
fn open_arcs(
    decision: &mut Decision<'_>,
    own: Which,
    faces: FacePair,
    primitive: &Primitive,
) -> Option<OpenArcs> {
    let query = CrossingQuery::Edges(own);
    match decision.cached(query, faces) {
        CachedResult::Clear(open) => return Some(open),
        CachedResult::NotWorthwhile => return None,
        CachedResult::Unknown => {}
    }
    let ctx = decision.ctx;
    let [mine, face] = faces;
    let (body, facing) = (ctx.body(own), ctx.body(own.other()));
    let tol = ctx.tol.tol;
    let primitive = primitive.transformed(ctx.pose_to_other(own.other()));
    let level = Level { primitive: &primitive, at: -decision.level, slack: LEVEL_SLACK * tol };
    // Arcs nearer than this to the surface and to the areas of the face may cross it.
    let min_clearance = MIN_CLEARANCE * tol;
    let mut bound = ClearanceBound::UNBOUNDED;
    let mut open = OpenArcs::new();
    // Position of the area that the last arc may reach.
    let mut near = 0;
    for t in body.edge_arcs().of_face(mine) {
        let arc = &body.edge_arcs().list[t as usize];
        let (center, radius) = (ctx.pose_to_other(own) * arc.middle(), arc.radius());
        // Most arcs are far from the whole face.
        let far = facing.features()[face.index()].bounds.distance_sq(&center).sqrt() - radius;
        if far > FAR_ARC_DISTANCE * facing.size() {
            bound.areas = bound.areas.min(far);
            continue;
        }
        let curve = arc.curve(body);
        let mut surface = f64::INFINITY;
        let mut budget = CLEARANCE_BUDGET;
        let search = curve_through_level(&curve, &level, Some(&mut surface), &mut budget, &mut |_| true);
        let clear = if search == Search::Complete { surface } else { 0.0 };
        if clear > min_clearance {
            bound.surface = bound.surface.min(clear);
            continue;
        }
        let distance = distance_to_areas(facing, face, (&center, radius), 0.0, &mut near);
        if distance > min_clearance {
            bound.areas = bound.areas.min(distance);
        } else if open.try_push(t).is_err() {
            bound.surface = 0.0;
            break;
        }
    }
    decision.store(query, faces, (bound, open.clone()));
    match decision.cached(query, faces) {
        CachedResult::Clear(open) => Some(open),
        _ => None,
    }
}

/// Minimum distance (in tolerances) of an edge arc from a surface at which the arc counts as clear of it.
/// A larger value searches more arcs; a smaller one gives bounds that are used up by small motions.
const MIN_CLEARANCE: f64 = 32.0;
/// Distance of an edge arc from the box of a face, in sizes of the face's solid, beyond which the distance
/// of the arc from the surface is not computed. A larger value takes more searches; a smaller one gives
/// smaller bounds.
const FAR_ARC_DISTANCE: f64 = 0.02;
/// Maximum number of cells (intervals of the parameter) in the search for the distance of one edge arc
/// from a surface. A larger value takes longer; with a smaller one fewer distances are found, and more
/// arcs are searched for crossings in every query.
const CLEARANCE_BUDGET: u32 = 64;

/// Whether an axis of the box `obb` separates a ball from it. `false` does not mean that they intersect.
fn is_separated(obb: &Obb, center: &P3, radius: f64) -> bool {
    let from = center - obb.center;
    let [x, y, z] = [0, 1, 2].map(|k| obb.axes[k].dot(&from).abs() > obb.half[k] + radius);
    // All axes are tested without branches, because the separating one is not predictable.
    x | y | z
}

/// Searches for crossings of one edge arc of `own` with one face or area of the other solid. Returns
/// whether a witness was found, so that the search may end.
fn through_face(decision: &mut Decision<'_>, own: Which, arc: &EdgeArc, target: Target) -> bool {
    let ctx = decision.ctx;
    let (body, facing) = (ctx.body(own), ctx.body(own.other()));
    let tol = ctx.tol.tol;
    let curve = arc.curve(body);
    let given = decision.budget_for(1);
    let mut left = given;
    let pose = ctx.pose_to_other(own.other());
    let (face, search) = match target {
        Target::Area(area) => {
            let Some((f, patch)) = patch_of(facing, area, Some(pose)) else { return false };
            let shifted = Shifted { patch, by: decision.level, slack: LEVEL_SLACK * tol };
            let search = curve_through_patch(&curve, &shifted, &mut left, &mut |s, uv| {
                crossing(decision, own, arc, s, (f, Some(uv)))
            });
            (f, search)
        }
        Target::Face(f) => {
            let Some(primitive) = closed_form(facing, f) else { return false };
            let primitive = primitive.transformed(pose);
            let level = Level { primitive: &primitive, at: -decision.level, slack: LEVEL_SLACK * tol };
            let search = curve_through_level(&curve, &level, None, &mut left, &mut |s| {
                crossing(decision, own, arc, s, (f, None))
            });
            (f, search)
        }
    };
    decision
        .charge_budget(given, left, search, || (ctx.in_a(own, &arc.middle()), ordered(own, arc.face, face)))
}

/// Adds the point of an edge arc at the parameter `s` as evidence of a crossing with a face of the other
/// solid, if the point is inside the trims of that face; `uv` are its parameters there, if known. Returns
/// whether a witness was found, so that the search may end.
fn crossing(
    decision: &mut Decision<'_>,
    own: Which,
    arc: &EdgeArc,
    s: f64,
    (face, uv): (FaceId, Option<P2>),
) -> bool {
    let ctx = decision.ctx;
    let (p, d) = arc.eval(ctx.body(own), s);
    let Some(deviation) = on_face(ctx, own.other(), face, &(ctx.pose_to_other(own) * p), uv) else {
        return false;
    };
    let turned = |v: V3| if own == Which::A { v } else { ctx.pose_ab * v };
    decision.add_evidence(&Evidence {
        p: ctx.in_a(own, &p),
        faces: ordered(own, arc.face, face),
        along: d.try_normalize(0.0).map(turned),
        deviation: deviation.max(arc.off),
    })
}

/// Tests whether the point `p` (in the solid's frame) lies on a face: near the surface, and inside the
/// trims or outside by at most their deviation and [`MAX_BESIDE_TRIM`] tolerances. Returns 0 in the
/// interior of the face, and near a trim the distance (mm) there between the borders of the two faces that
/// the edge joins. `None` if the point is not on the face. `uv` are its parameters if they are known.
pub(super) fn on_face(ctx: &Context<'_>, which: Which, face: FaceId, p: &P3, uv: Option<P2>) -> Option<f64> {
    let body: &Body = ctx.body(which);
    let data = body.face(face);
    let uv = uv.unwrap_or_else(|| foot_on_face(body, face, p));
    let d = data.surface.derivs(uv);
    let beside = MAX_BESIDE_TRIM * ctx.tol.tol;
    // On another nappe or sheet, the parameters are those of another point.
    if (d.p - p).norm() > beside {
        return None;
    }
    let metric = [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
    let max_distance = body.data(Feature::Face(face)).deviation + beside;
    let near = data
        .trim
        .nearest(uv, metric, max_distance)
        .map(|(piece, _, distance)| (&data.trim.pieces[piece], distance))
        .filter(|(piece, distance)| *distance <= piece.deviation + beside);
    match near {
        Some((piece, _)) => Some(body.edge_arcs().gap_beside(piece)),
        None => (data.trim.classify(uv) == Side::Inside).then_some(0.0),
    }
}
