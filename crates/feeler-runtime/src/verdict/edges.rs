//! Edges of one solid through faces of the other one.

use super::overlap::SeparationCache;
use super::rooms::{Known, Open, Question, Room, off_areas};
use super::{BESIDE, Decision, Evidence, SLACK, closed_form, patch_of};
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

/// What an edge is searched for crossings with.
#[derive(Clone, Copy)]
enum Target {
    /// A face with a closed form.
    Face(FaceId),
    /// An area of another face.
    Area(AreaId),
}

impl Target {
    /// Marks faces among areas.
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

/// Finds where edges of `own` pass through faces of the other solid; whether the search may end.
pub(super) fn through_faces(
    decision: &mut Decision<'_>,
    own: Which,
    overlaps: &[AreaPair],
    mut memory: Option<&mut (&mut SeparationCache, MotionChannels<'_>)>,
    meetings: &mut Vec<u64>,
) -> bool {
    let ctx = decision.ctx;
    let other = own.other();
    let (body, facing) = (ctx.body(own), ctx.body(other));
    // An arc against a face with a closed form as a whole, or against an area: both in one number, which is
    // quick to sort.
    meetings.clear();
    let to_own = &PoseMatrix::from(ctx.pose_to_other(other));
    // Pairs of an area of A follow each other, and so do the arcs of a face.
    let mut placed: Option<(AreaId, Obb)> = None;
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
        let slack = BESIDE * ctx.tol.tol + facing.features()[face.index()].deviation;
        for &(i, j) in group {
            let (area, theirs) = if own == Which::A { (i, j) } else { (j, i) };
            let target = if whole.is_some() { Target::Face(face) } else { Target::Area(theirs) };
            let place = || (theirs, facing.node(facing.leaf_of_area(theirs)).obb.placed(to_own));
            let (_, obb) = *match &mut placed {
                Some(last) if last.0 == theirs => last,
                last => last.insert(place()),
            };
            let near = body.edge_arcs().of_area(area).iter().filter(|ball| {
                if open.as_ref().is_some_and(|open| !open.contains(&ball.arc)) {
                    return false;
                }
                let Some((apart, channels)) = memory.as_mut() else { return true };
                if is_off(&obb, &ball.center, ball.radius + slack) {
                    return false;
                }
                // An edge is on both its faces, up to what it is off them.
                let arc = &body.edge_arcs().list[ball.arc as usize];
                apart.spare(ctx, channels, ordered(own, arc.beside, face), arc.off).is_none()
            });
            meetings.extend(near.map(|ball| (u64::from(ball.arc) << 32) | u64::from(target.number())));
        }
    }
    // Room for other poses: what is allocated must not depend on the step.
    meetings.reserve(meetings.len());
    meetings.sort_unstable();
    meetings.dedup();
    meetings.iter().any(|&m| {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let (t, target) = ((m >> 32) as u32, m as u32);
        through_face(decision, own, &body.edge_arcs().list[t as usize], Target::of_number(target))
    })
}

/// Arcs of edges of a face that may cross the surface of one of the other solid, if all others are known not
/// to.
fn open_arcs(
    decision: &mut Decision<'_>,
    own: Which,
    faces: FacePair,
    primitive: &Primitive,
) -> Option<Open> {
    let question = Question::Edges(own);
    match decision.known(question, faces) {
        Known::Clear(open) => return Some(open),
        Known::Unlikely => return None,
        Known::Open => {}
    }
    let ctx = decision.ctx;
    let [mine, face] = faces;
    let (body, facing) = (ctx.body(own), ctx.body(own.other()));
    let tol = ctx.tol.tol;
    let primitive = primitive.transformed(ctx.pose_to_other(own.other()));
    let level = Level { primitive: &primitive, at: -decision.level, slack: SLACK * tol };
    // What is nearer is open.
    let least = LEAST_ROOM * tol;
    let mut room = Room::ALL;
    let mut open = Open::new();
    for t in body.edge_arcs().of_face(mine) {
        let arc = &body.edge_arcs().list[t as usize];
        let (center, radius) = (ctx.pose_to_other(own) * arc.middle(), arc.radius());
        // Most are far from all of the face.
        let far = facing.features()[face.index()].bounds.distance_sq(&center).sqrt() - radius;
        if far > FAR * facing.size() {
            room.areas = room.areas.min(far);
            continue;
        }
        let curve = arc.curve(body);
        let mut surface = f64::INFINITY;
        let mut budget = ROOM_BUDGET;
        let search = curve_through_level(&curve, &level, Some(&mut surface), &mut budget, &mut |_| true);
        let clear = if search == Search::Complete { surface } else { 0.0 };
        if clear > least {
            room.surface = room.surface.min(clear);
            continue;
        }
        let off = off_areas(facing, face, &center, radius, 0.0);
        if off > least {
            room.areas = room.areas.min(off);
        } else if open.try_push(t).is_err() {
            room.surface = 0.0;
            break;
        }
    }
    decision.keep(question, faces, (room, open.clone()));
    match decision.known(question, faces) {
        Known::Clear(open) => Some(open),
        _ => None,
    }
}

/// Room (in tolerances) with which an arc is clear of a surface.
const LEAST_ROOM: f64 = 32.0;
/// Distance from a face, in sizes of its solid, from which on an arc need not be told from its surface.
const FAR: f64 = 0.02;
/// Cells that one arc may take for it.
const ROOM_BUDGET: u32 = 64;

/// Whether an axis of a box tells a ball from it.
fn is_off(obb: &Obb, center: &P3, radius: f64) -> bool {
    let from = center - obb.center;
    let [x, y, z] = [0, 1, 2].map(|k| obb.axes[k].dot(&from).abs() > obb.half[k] + radius);
    // All of them at once: which one tells follows no pattern.
    x | y | z
}

/// One arc through one face or area.
fn through_face(decision: &mut Decision<'_>, own: Which, arc: &EdgeArc, target: Target) -> bool {
    let ctx = decision.ctx;
    let (body, facing) = (ctx.body(own), ctx.body(own.other()));
    let tol = ctx.tol.tol;
    let curve = arc.curve(body);
    let given = decision.take(1);
    let mut left = given;
    let pose = ctx.pose_to_other(own.other());
    let (face, search) = match target {
        Target::Area(area) => {
            let Some((f, patch)) = patch_of(facing, area, Some(pose)) else { return false };
            let shifted = Shifted { patch, by: decision.level, slack: SLACK * tol };
            let search = curve_through_patch(&curve, &shifted, &mut left, &mut |s, uv| {
                crossing(decision, own, arc, s, (f, Some(uv)))
            });
            (f, search)
        }
        Target::Face(f) => {
            let Some(primitive) = closed_form(facing, f) else { return false };
            let primitive = primitive.transformed(pose);
            let level = Level { primitive: &primitive, at: -decision.level, slack: SLACK * tol };
            let search = curve_through_level(&curve, &level, None, &mut left, &mut |s| {
                crossing(decision, own, arc, s, (f, None))
            });
            (f, search)
        }
    };
    decision.settle(given, left, search, || (ctx.in_a(own, &arc.middle()), ordered(own, arc.face, face)))
}

/// Faces of A and B.
pub(super) fn ordered(own: Which, mine: FaceId, theirs: FaceId) -> FacePair {
    if own == Which::A { [mine, theirs] } else { [theirs, mine] }
}

/// A crossing of an arc with the surface of a face: evidence when it is in the trims.
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
    decision.weigh(&Evidence {
        p: ctx.in_a(own, &p),
        faces: ordered(own, arc.face, face),
        along: d.try_normalize(0.0).map(turned),
        deviation: deviation.max(arc.off),
    })
}

/// Returns, for a point near a face's surface that is inside the trims or beside them within their deviation,
/// the distance (mm) by which the borders of both faces miss each other at the edge that it lies on, 0 in the
/// interior; `None` outside. The point is in the solid's frame; `uv` are its parameters where they are known.
pub(super) fn on_face(ctx: &Context<'_>, which: Which, face: FaceId, p: &P3, uv: Option<P2>) -> Option<f64> {
    let body: &Body = ctx.body(which);
    let data = body.face(face);
    let uv = uv.unwrap_or_else(|| foot_on_face(body, face, p));
    let d = data.surface.derivs(uv);
    let beside = BESIDE * ctx.tol.tol;
    // On another nappe or sheet the point's parameters are those of another place.
    if (d.p - p).norm() > beside {
        return None;
    }
    let metric = [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
    let most = body.data(Feature::Face(face)).deviation + beside;
    let near = data
        .trim
        .nearest(uv, metric, most)
        .map(|(piece, _, distance)| (&data.trim.pieces[piece], distance))
        .filter(|(piece, distance)| *distance <= piece.deviation + beside);
    match near {
        Some((piece, _)) => Some(body.edge_arcs().gap_beside(piece)),
        None => (data.trim.classify(uv) == Side::Inside).then_some(0.0),
    }
}
