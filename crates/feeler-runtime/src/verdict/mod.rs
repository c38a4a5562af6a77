//! Whether the interiors of the two solids meet: decided, not searched for.
//!
//! If they do, then an edge of one passes through a face of the other one, or two faces cross in a closed
//! curve inside both, or a shell of one lies inside the other solid. All crossings are found
//! ([`feeler_geom::crossing`]), at a level a little inside the material so that faces that only touch make
//! none. Each is evidence; a [`Witness`], a point farther than the tolerance inside both solids, confirms it.
//!
//! # Guarantees
//! [`Finding::Meet`] comes with its witness. [`Finding::Apart`] means that there is no evidence,
//! [`Finding::Touch`] that all of it is shallower than about twice the tolerance or within the deviation of
//! the trims that it lies on, or that no point nearby is inside both solids. What the budget of cells has not
//! decided is [`Finding::Undecided`].
//!
//! # Source
//! MATH §15.
//!
//! # Deviations
//! Coincidence is not classified piece by piece: the level takes the place of it, and points beside each
//! crossing that of samples of the pieces.

mod closed_curves;
mod deepen;
mod depth;
mod edges;
mod overlap;
mod rooms;
mod shells;
mod witness;

use crate::api::contact::ContactKind;
use crate::body::Body;
use crate::body::ids::{AreaPair, FacePair};
use crate::body::side::Which;
use crate::cull::motion::{AccumulatedMotion, MotionChannels};
use crate::nearest::NearScratch;
use crate::nearest::membership::RayScratch;
use crate::query::{Accepted, Context, sort_by_features};
use feeler_geom::crossing::{Patch, Search, third_of_closed_form};
use feeler_geom::obb::separated_in_frame;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Obb, P3, Pose, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature};
use overlap::Overlaps;
use rooms::{Known, Open, Question, Room, Rooms};

/// Depths (in tolerances) of the levels at which crossings are looked for: at the second one where those at
/// the first have no witness. What is inside both by more than the tolerance may hang together with what is
/// so by less, and reach the first level only there.
const LEVELS: [f64; 2] = [1.0, 2.5];
/// How far (in tolerances) from the level what counts as a crossing may be.
const SLACK: f64 = 0.5;
/// How far (in tolerances) from a trim a crossing still counts as on the face.
const BESIDE: f64 = 4.0;
/// Cells that one query may take.
const BUDGET: u32 = 1_000_000;
/// Cells that one pair of a curve or area and a face may take.
const PAIR_BUDGET: u32 = 200_000;

/// Distance (relative to the size) from a crossing without a witness below which another one of the same
/// faces is passed over.
const SAME_PLACE: f64 = 1e-3;

/// What the decision has found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Finding {
    /// No evidence of crossing.
    Apart,
    /// Evidence, none of it deeper than the tolerances.
    Touch,
    /// A point inside both.
    Meet(Witness),
    /// The budget ran out about some places: [`Scratch::undecided`].
    Undecided,
}

/// A point inside both solids, frame of A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Witness {
    pub p: P3,
    /// Distances (mm) to the boundaries of A and B.
    pub inside: [f64; 2],
    /// The faces that cross, of A and B; none where a shell lies inside.
    pub faces: Option<FacePair>,
    /// Where they cross, or the point of the shell.
    pub at: P3,
}

/// Where something is undecided, frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub p: P3,
    /// Faces of A and B.
    pub faces: FacePair,
    /// No penetration there is deeper (mm).
    pub depth: f64,
}

/// A crossing of the boundaries, frame of A.
#[derive(Clone, Copy, Debug)]
struct Evidence {
    p: P3,
    /// Faces of A and B.
    faces: FacePair,
    /// Unit direction along the edge that crosses.
    along: Option<V3>,
    /// Largest distance (mm) by which the borders of both faces at an edge miss each other, if the crossing
    /// lies on a border; 0 otherwise.
    deviation: f64,
}

/// Reused memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    overlaps: Overlaps,
    rooms: Rooms,
    meetings: Vec<u64>,
    shells: shells::Outside,
    probe: Probe,
    places: Vec<Place>,
    widened: Vec<(P3, f64)>,
    /// Evidence that no witness confirms: faces and place.
    failed: Vec<(FacePair, P3)>,
}

/// What asking about points needs.
#[derive(Debug, Default)]
struct Probe {
    rays: RayScratch,
    near: NearScratch,
}

impl Scratch {
    /// Forgets earlier queries.
    pub(crate) fn clear(&mut self) {
        self.overlaps.clear();
        self.rooms.clear();
        self.shells.clear();
    }

    /// Whether the last decision has shown that the areas of a free-form and of a canonical face are apart by
    /// more than the tolerance.
    pub(crate) fn are_apart(&self, ctx: &Context<'_>, (i, j): AreaPair) -> bool {
        let (Feature::Face(fa), Feature::Face(fb)) = (ctx.a.area(i).feature, ctx.b.area(j).feature) else {
            return false;
        };
        match (closed_form(ctx.a, fa), closed_form(ctx.b, fb)) {
            (Some(_), None) => self.rooms.is_clear(ctx, Question::Area(Which::B, j), [fb, fa]),
            (None, Some(_)) => self.rooms.is_clear(ctx, Question::Area(Which::A, i), [fa, fb]),
            _ => false,
        }
    }

    /// Places of the last decision about which the budget ran out.
    pub(crate) fn undecided(&self) -> &[Place] {
        &self.places
    }

    /// Places (frame of A) of the last decision where a common point is inside by no more than the tolerance
    /// and the deviation (mm) of a trim there.
    pub(crate) fn widened(&self) -> &[(P3, f64)] {
        &self.widened
    }
}

/// The course of one decision.
struct Decision<'a> {
    ctx: &'a Context<'a>,
    /// The solid that is looked at first.
    first: Which,
    probe: &'a mut Probe,
    places: &'a mut Vec<Place>,
    widened: &'a mut Vec<(P3, f64)>,
    failed: &'a mut Vec<(FacePair, P3)>,
    /// What earlier queries have shown; none where all is looked at.
    rooms: Option<&'a mut Rooms>,
    /// Depth (mm) of the level.
    level: f64,
    budget: u32,
    touched: bool,
    witness: Option<Witness>,
}

impl Decision<'_> {
    /// Takes in evidence; whether the search may end.
    fn weigh(&mut self, evidence: &Evidence) -> bool {
        let tol = self.ctx.tol.tol;
        // One crossing curve is met in many points: what is beside a point without a witness is tried less,
        // and less the more there are.
        let (mut beside, mut known) = (f64::INFINITY, 0);
        for (_, p) in self.failed.iter().filter(|(faces, _)| *faces == evidence.faces) {
            beside = beside.min((p - evidence.p).norm());
            known += 1;
        }
        let reach = SAME_PLACE * f64::from(1 << (known / 8).min(8)) * self.ctx.tol.size;
        if beside <= reach {
            return false;
        }
        let thorough = beside > 20.0 * reach;
        self.failed.push((evidence.faces, evidence.p));
        let need = tol + evidence.deviation;
        self.witness = witness::confirm(self.ctx, self.first, evidence, (need, thorough), self.probe);
        if self.witness.is_none() {
            if evidence.deviation > 0.0
                && let Some(shallow) =
                    witness::confirm(self.ctx, self.first, evidence, (tol, false), self.probe)
            {
                self.widened.push((shallow.p, evidence.deviation));
                self.touched = true;
            }
            self.touched |= witness::touch(self.ctx, &evidence.p, self.probe);
        }
        self.witness.is_some()
    }

    /// What earlier queries have shown of a face of a question's solid and one of the other solid.
    fn known(&mut self, question: Question, faces: FacePair) -> Known {
        let ctx = self.ctx;
        self.rooms.as_mut().map_or(Known::Unlikely, |rooms| rooms.known(ctx, question, faces))
    }

    /// Keeps it for later ones.
    fn keep(&mut self, question: Question, faces: FacePair, found: (Room, Open)) {
        let ctx = self.ctx;
        if let Some(rooms) = &mut self.rooms {
            rooms.keep(ctx, question, faces, found);
        }
    }

    /// A budget for a number of pairs.
    fn take(&self, pairs: usize) -> u32 {
        PAIR_BUDGET.saturating_mul(u32::try_from(pairs).unwrap_or(u32::MAX)).min(self.budget)
    }

    /// Gives back what is left of a pair's budget; whether the search may end.
    fn settle(&mut self, given: u32, left: u32, search: Search, place: impl Fn() -> (P3, FacePair)) -> bool {
        self.budget -= given - left;
        if let Search::Spent(beyond) = search {
            let (p, faces) = place();
            self.places.push(Place { p, faces, depth: self.level + beyond });
        }
        search == Search::Stopped
    }
}

/// Decides whether the interiors meet. `moved` is how far B has moved in all; without it all pairs of areas
/// are looked at, whatever their boxes and earlier queries say.
pub(crate) fn decide(ctx: &Context<'_>, moved: Option<&AccumulatedMotion>, scratch: &mut Scratch) -> Finding {
    let Scratch { overlaps, rooms, meetings, shells, probe, places, widened, failed } = scratch;
    places.clear();
    failed.clear();
    widened.clear();
    let (box_a, box_b) = (ctx.a.bounds(), ctx.b.bounds());
    if box_a.is_empty() || box_b.is_empty() {
        return Finding::Apart;
    }
    let placed = Obb::from_aabb(box_b).transformed(&ctx.pose_ab);
    if separated_in_frame(&Obb::from_aabb(box_a), &placed, 0.0, u8::MAX).is_some() {
        return Finding::Apart;
    }
    let level = LEVELS[0] * ctx.tol.tol;
    let first = ctx.first();
    rooms.begin(ctx.tol.tol);
    let mut decision = Decision {
        ctx,
        first,
        probe,
        places,
        widened,
        failed,
        rooms: moved.map(|_| rooms),
        level,
        budget: BUDGET,
        touched: false,
        witness: None,
    };
    let mut done = shells::inside(&mut decision, moved.map(|_| shells));
    if !done {
        match moved {
            Some(moved) => overlap::overlapping_faces(ctx, moved, overlaps),
            None => overlap::all_faces(ctx, overlaps),
        }
        let Overlaps { pairs, apart, keys, .. } = overlaps;
        sort_by_features(ctx, first, pairs, keys);
        let mut memory = moved.map(|moved| (apart, MotionChannels::new(ctx.b, moved)));
        for level in LEVELS {
            decision.level = level * ctx.tol.tol;
            decision.failed.clear();
            done = edges::through_faces(&mut decision, first, pairs, memory.as_mut(), meetings)
                || edges::through_faces(&mut decision, first.other(), pairs, memory.as_mut(), meetings)
                || closed_curves::search(&mut decision, pairs);
            if done || decision.failed.is_empty() {
                break;
            }
        }
    }
    debug_assert_eq!(done, decision.witness.is_some(), "only a witness ends the search");
    match decision.witness {
        Some(witness) => Finding::Meet(witness),
        None if !decision.places.is_empty() => Finding::Undecided,
        None if decision.touched => Finding::Touch,
        None => Finding::Apart,
    }
}

/// Searches for a common point beside contacts that are deeper than twice the tolerance, where [`decide`] has
/// found crossings and no point inside both solids: in a thin lens the search from a crossing may end early.
pub(crate) fn confirm_contacts(
    ctx: &Context<'_>,
    contacts: &[Accepted],
    scratch: &mut Scratch,
) -> Option<Witness> {
    contacts
        .iter()
        .filter(|x| x.kind != ContactKind::Quasi && x.distance < -2.0 * ctx.tol.tol)
        .find_map(|x| witness::between_footpoints(ctx, x, &mut scratch.probe))
}

/// Pairs of face areas that may cross, sorted by features.
pub(crate) fn meeting_areas<'s>(
    ctx: &Context<'_>,
    moved: &AccumulatedMotion,
    scratch: &'s mut Scratch,
) -> &'s [AreaPair] {
    overlap::overlapping_faces(ctx, moved, &mut scratch.overlaps);
    let Overlaps { pairs, keys, .. } = &mut scratch.overlaps;
    sort_by_features(ctx, Which::A, pairs, keys);
    pairs
}

/// The closed form of a face's surface in the solid's frame.
fn closed_form(body: &Body, face: FaceId) -> Option<&Primitive> {
    body.features()[face.index()].primitive.as_ref()
}

/// A face area as a patch, in a frame that `pose` takes the solid's coordinates to.
pub(crate) fn patch_of<'a>(
    body: &'a Body,
    area: AreaId,
    pose: Option<&'a Pose>,
) -> Option<(FaceId, Patch<'a>)> {
    let data = body.area(area);
    let Feature::Face(f) = data.feature else { return None };
    let face = body.face(f);
    let rect = data.rect;
    let third = if face.surface.is_canonical() {
        third_of_closed_form(&face.surface, &rect)
    } else {
        let (wu, wv) = (rect.width(), rect.height());
        let [a, b, c, d] = body.third_derivatives_of(area).each_ref().map(feeler_geom::Ball::norm);
        [a / (wu * wu * wu), b / (wu * wu * wv), c / (wu * wv * wv), d / (wv * wv * wv)]
    };
    let cap = &body.tree()[body.leaf_of_area(area).index()].cap;
    let cone = if cap.cos > 0.0 { (cap.axis, cap.sin) } else { (cap.axis, 1.0) };
    Some((f, Patch { surface: &face.surface, outward: face.outward, pose, rect, third, cone }))
}
