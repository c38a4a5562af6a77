//! Decides whether the interiors of the two solids intersect.
//!
//! If they do, then an edge of one solid passes through a face of the other one, or two faces cross in a
//! closed curve inside both, or a shell of one solid lies inside the other solid. All crossings are found
//! ([`feeler_geom::crossing`]) at a level: the surface of a face, offset into the material by one
//! tolerance. Faces that only touch do not cross there. Each crossing is evidence; a [`Witness`], a point
//! deeper than the tolerance inside both solids, confirms it.
//!
//! # Guarantees
//! [`Finding::Meet`] contains its witness. [`Finding::Apart`] means that no evidence was found.
//! [`Finding::Touch`] means that all evidence is shallower than about twice the tolerance or within the
//! deviation of the trims that it lies on, or that no point near it is inside both solids.
//! [`Finding::Undecided`] means that the budget of cells (rectangles or intervals of parameters that the
//! searches examine) was exhausted.
//!
//! # Source
//! MATH §15.
//!
//! # Deviations
//! Coincident faces are not classified piece by piece: the level replaces this classification, and points
//! near each crossing replace samples of the pieces.

mod clearance_bounds;
mod closed_curves;
mod deepen;
mod depth;
mod edges;
mod overlap;
mod separation;
mod shells;
mod witness;

use crate::api::contact::ContactKind;
use crate::api::tolerance::Tolerances;
use crate::body::Body;
use crate::body::ids::{AreaPair, FacePair};
use crate::body::side::Which;
use crate::cull::motion::{AccumulatedMotion, MotionChannels};
use crate::nearest::membership::RayScratch;
use crate::nearest::{NearScratch, faces_around};
use crate::query::{Accepted, Context, sort_by_features};
use clearance_bounds::{CachedResult, ClearanceBound, ClearanceCache, CrossingQuery, OpenArcs};
use feeler_geom::crossing::{Level, Patch, Search, patch_through_level, third_of_closed_form};
use feeler_geom::obb::separated_in_frame;
use feeler_geom::skeleton::{Primitive, signed_distance};
use feeler_geom::{Obb, P3, Pose, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature};
use overlap::Overlaps;
use separation::RETRY_INTERVAL;

/// Depths (in tolerances) below the surfaces of the levels at which crossings are searched for. The second
/// level is searched if the crossings at the first one have no witness, or if areas beside the searched
/// ones are excluded although they may reach the first level. It is needed for a common volume
/// deeper than the tolerance that reaches the first level only where a shallower volume joins it. At
/// larger depths, shallow interference is missed; at smaller ones, contacts produce crossings by rounding.
const LEVELS: [f64; 2] = [1.0, 2.5];
/// Maximum distance (in tolerances) of a crossing from its level. A larger value accepts evidence from
/// contacts; a smaller one takes more cells and leaves more verdicts undecided.
const LEVEL_SLACK: f64 = 0.5;
/// Maximum distance (in tolerances) outside the trims of a face at which a crossing counts as on the face.
/// It closes the gap between the levels of two faces at a re-entrant edge. A larger value gives more
/// evidence without a witness; a smaller one misses interference at concave edges.
const MAX_BESIDE_TRIM: f64 = 4.0;
/// Maximum number of cells (rectangles or intervals of parameters) that the searches of one query examine.
/// A larger value takes longer for contacts of nearly coincident faces; a smaller one leaves more verdicts
/// undecided.
const BUDGET: u32 = 1_000_000;
/// Maximum number of cells (rectangles or intervals of parameters) that the search for crossings of one
/// edge arc, or one area, with one face examines. A larger value lets one search use up [`BUDGET`]; a
/// smaller one leaves more verdicts undecided.
const PAIR_BUDGET: u32 = 200_000;

/// Distance from a crossing without a witness, relative to the size of the larger solid, within which
/// other crossings of the same faces are skipped. At a larger distance, a deep common volume may be
/// skipped; a smaller one repeats searches for witnesses.
const SAME_CROSSING_DISTANCE: f64 = 1e-3;

/// Distance between points of incomplete searches, relative to the size of the larger solid, within which
/// only one is examined for a witness. At a larger distance, interference may remain undecided; a smaller one
/// takes longer.
const SAME_PLACE_DISTANCE: f64 = 0.02;
/// Maximum number of points of incomplete searches that are examined for a witness. A larger value takes
/// longer; with a smaller one interference may remain undecided.
const MAX_TRIED_PLACES: usize = 16;

/// Result of the decision whether the interiors of two solids intersect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Finding {
    /// No evidence was found that the interiors intersect: no crossing of the boundaries, and no shell of one
    /// solid inside the other.
    Apart,
    /// All evidence is shallower than about twice the tolerance, or has no witness: see the guarantees of the
    /// module.
    Touch,
    /// The interiors intersect: the witness is deeper than the tolerance inside both solids.
    Meet(Witness),
    /// The budget of cells was exhausted before interference was found or excluded everywhere.
    /// [`Scratch::undecided`] returns the points at which a search was incomplete.
    Undecided,
}

/// A point inside both solids, in the frame of A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Witness {
    pub p: P3,
    /// Distances (mm) of the point from the boundaries of A and B.
    pub inside: [f64; 2],
    /// Crossing faces of A and B; `None` if a shell lies inside the other solid.
    pub faces: Option<FacePair>,
    /// Point (frame of A) at which the faces cross, or the tested point of the shell that lies inside the
    /// other solid.
    pub at: P3,
}

/// Point near which a search ended without a result because the budget of cells was exhausted, in the frame
/// of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub p: P3,
    /// Faces of A and B between which crossings were searched for.
    pub faces: FacePair,
    /// Upper bound (mm) of the depth of common interior points near `p`.
    pub depth: f64,
}

/// A crossing of the boundaries of the solids, in the frame of A.
#[derive(Clone, Copy, Debug)]
struct Evidence {
    p: P3,
    /// Crossing faces of A and B.
    faces: FacePair,
    /// Unit direction along the edge that crosses the face; `None` for two faces that cross.
    along: Option<V3>,
    /// If the crossing lies on an edge, the largest distance (mm) between the borders of the two faces
    /// that the edge joins; 0 otherwise.
    deviation: f64,
}

/// Scratch buffers and results reused between queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    overlaps: Overlaps,
    clearances: ClearanceCache,
    arc_targets: Vec<u64>,
    shells: shells::Outside,
    probe: Probe,
    places: Vec<Place>,
    widened: Vec<(P3, f64)>,
    /// Evidence of the current decision that has no witness or is being confirmed: faces of A and B, and
    /// point in the frame of A. Evidence of the same faces near such a point is skipped.
    failed: Vec<(FacePair, P3)>,
    /// Whether evidence of the last decision, at any level, had no witness.
    has_failed: bool,
    /// Points (frame of A) of incomplete searches near which the current decision has searched for a witness.
    tried: Vec<P3>,
    repetition: Repetition,
}

/// Scratch buffers of point queries.
#[derive(Clone, Debug, Default)]
struct Probe {
    rays: RayScratch,
    near: NearScratch,
}

impl Scratch {
    /// Clears the results of earlier queries.
    pub(crate) fn clear(&mut self) {
        self.overlaps.clear();
        self.clearances.clear();
        self.shells.clear();
    }

    /// Whether the last decision proved that the areas of a free-form and of a canonical face are apart by
    /// more than the tolerance.
    pub(crate) fn are_apart(&self, ctx: &Context<'_>, (i, j): AreaPair) -> bool {
        let (Feature::Face(fa), Feature::Face(fb)) = (ctx.a.area(i).feature, ctx.b.area(j).feature) else {
            return false;
        };
        match (closed_form(ctx.a, fa), closed_form(ctx.b, fb)) {
            (Some(_), None) => self.clearances.is_clear(ctx, CrossingQuery::Area(Which::B, j), [fb, fa]),
            (None, Some(_)) => self.clearances.is_clear(ctx, CrossingQuery::Area(Which::A, i), [fa, fb]),
            _ => false,
        }
    }

    /// Whether two free-form areas are apart by more than the tolerance because they follow each other at a
    /// larger distance.
    pub(crate) fn follow_apart(&mut self, ctx: &Context<'_>, pair: AreaPair) -> bool {
        let tol = ctx.tol.tol;
        self.overlaps.apart.clearance_of_areas(ctx, pair, [-tol, LEVELS[1] * tol]).is_some()
    }

    /// Whether the last decision found evidence, at any level, without a witness.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Points at which the searches of the last decision exhausted the budget of cells.
    pub(crate) fn undecided(&self) -> &[Place] {
        &self.places
    }

    /// Common points (frame of A) found by the last decision that are inside both solids by at most the
    /// tolerance plus the deviation (mm) of a trim there, with that deviation.
    pub(crate) fn widened(&self) -> &[(P3, f64)] {
        &self.widened
    }
}

/// State of one decision whether the interiors intersect.
struct Decision<'a> {
    ctx: &'a Context<'a>,
    /// The solid that is processed first.
    first: Which,
    probe: &'a mut Probe,
    places: &'a mut Vec<Place>,
    widened: &'a mut Vec<(P3, f64)>,
    failed: &'a mut Vec<(FacePair, P3)>,
    /// Whether evidence, at any level, had no witness.
    has_failed: &'a mut bool,
    tried: &'a mut Vec<P3>,
    /// Cached results of earlier queries; `None` if all pairs are searched.
    clearances: Option<&'a mut ClearanceCache>,
    /// Depth (mm) below the surfaces at which crossings are currently searched for (the level).
    level: f64,
    /// Number of cells that the searches of this query may still examine.
    budget: u32,
    /// Whether evidence without a witness was found at which the solids touch up to the tolerance, so
    /// that the result is at least [`Finding::Touch`].
    touched: bool,
    witness: Option<Witness>,
}

impl Decision<'_> {
    /// Searches for a witness near a crossing, and stores it, or the fact that the solids touch there.
    /// Returns whether a witness was found, so that the search may end.
    fn add_evidence(&mut self, evidence: &Evidence) -> bool {
        let tol = self.ctx.tol.tol;
        // One crossing curve is intersected at many points. Points beside one without a witness are
        // skipped within a distance that grows with their number.
        let (mut nearest, mut count) = (f64::INFINITY, 0);
        for (_, p) in self.failed.iter().filter(|(faces, _)| *faces == evidence.faces) {
            nearest = nearest.min((p - evidence.p).norm());
            count += 1;
        }
        let reach = SAME_CROSSING_DISTANCE * f64::from(1 << (count / 8).min(8)) * self.ctx.tol.size;
        if nearest <= reach {
            return false;
        }
        let thorough = nearest > 20.0 * reach;
        self.failed.push((evidence.faces, evidence.p));
        let need = tol + evidence.deviation;
        self.witness = witness::confirm(self.ctx, self.first, evidence, (need, thorough), self.probe);
        if self.witness.is_none() {
            *self.has_failed = true;
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

    /// Returns the cached result of a search; `faces` are the searched face of the query's solid and the
    /// face of the other solid.
    fn cached(&mut self, query: CrossingQuery, faces: FacePair) -> CachedResult {
        let ctx = self.ctx;
        self.clearances.as_mut().map_or(CachedResult::NotWorthwhile, |cache| cache.get(ctx, query, faces))
    }

    /// Stores the result of a search for later queries. `faces` are the searched face of the query's solid
    /// and the face of the other solid. `found` contains the distances by which one face may move before
    /// crossings are possible, and the edge arcs that may cross nevertheless.
    fn store(&mut self, query: CrossingQuery, faces: FacePair, found: (ClearanceBound, OpenArcs)) {
        let ctx = self.ctx;
        if let Some(cache) = &mut self.clearances {
            cache.store(ctx, query, faces, found);
        }
    }

    /// Returns the number of cells that `pairs` searches, each of one edge arc or area with one face, may
    /// use together: at most [`PAIR_BUDGET`] each, and those that remain for the query.
    fn budget_for(&self, pairs: usize) -> u32 {
        PAIR_BUDGET.saturating_mul(u32::try_from(pairs).unwrap_or(u32::MAX)).min(self.budget)
    }

    /// Charges the cells that a search has used, `given - left`, to the budget of the query. If the search
    /// exhausted the cells given to it, records the point and the faces that `place` returns, and searches
    /// for a witness there. Returns whether a witness was found, by the search or there.
    fn charge_budget(
        &mut self,
        given: u32,
        left: u32,
        search: Search,
        place: impl Fn() -> (P3, FacePair),
    ) -> bool {
        self.budget -= given - left;
        if let Search::BudgetExhausted(beyond) = search {
            let (p, faces) = place();
            self.places.push(Place { p, faces, depth: self.level + beyond });
            return self.confirm_place(p, faces);
        }
        search == Search::Stopped
    }

    /// Searches for a witness near a point (frame of A) of a boundary at which a search was incomplete: faces
    /// that follow each other at a depth have few crossings, or none. Points near earlier ones are skipped.
    /// Returns whether a witness was found.
    fn confirm_place(&mut self, p: P3, faces: FacePair) -> bool {
        let (ctx, apart) = (self.ctx, SAME_PLACE_DISTANCE * self.ctx.tol.size);
        // Crossings of two sheets are not recognised at points at which they do not cross.
        if ctx.a.is_sheet() && ctx.b.is_sheet() {
            return false;
        }
        if self.tried.len() >= MAX_TRIED_PLACES || self.tried.iter().any(|q| (p - q).norm() <= apart) {
            return false;
        }
        self.tried.push(p);
        let evidence = Evidence { p, faces, along: None, deviation: 0.0 };
        let found = witness::confirm(ctx, self.first, &evidence, (ctx.tol.tol, true), self.probe);
        // Between the borders at an edge, which deviate from each other, the boundary is undetermined.
        let need = ctx.tol.tol + largest_gap_at_edges([ctx.a, ctx.b]);
        let found = found.filter(|witness| {
            let mut is_beside_edge =
                |body: &Body, q: &P3| faces_around(body, q, need, &mut self.probe.near).len() > 1;
            witness.inside.iter().all(|depth| *depth > need)
                || !is_beside_edge(ctx.a, &witness.p) && !is_beside_edge(ctx.b, &(ctx.pose_ba * witness.p))
        });
        // The faces may not cross.
        self.witness = found.map(|witness| Witness { faces: None, ..witness });
        self.witness.is_some()
    }
}

/// Upper bound (mm) of the distance between the borders of two faces at an edge of one of the solids.
fn largest_gap_at_edges(bodies: [&Body; 2]) -> f64 {
    // Each border deviates from the edge by at most the deviation of the solid.
    bodies.iter().fold(0.0, |largest: f64, body| largest.max(2.0 * body.deviation()))
}

/// Decides whether the interiors of the solids intersect. `moved` is the accumulated motion of B in the
/// frame of A; without it, all pairs of face areas are searched, regardless of their boxes and of earlier
/// queries.
pub(crate) fn decide(ctx: &Context<'_>, moved: Option<&AccumulatedMotion>, scratch: &mut Scratch) -> Finding {
    let finding = decide_once(ctx, moved, scratch);
    if finding != Finding::Undecided {
        scratch.repetition = Repetition::default();
    } else if scratch.overlaps.apart.has_deferred() && scratch.repetition.is_due() {
        // Tests that failed at earlier poses may separate the faces at this one.
        scratch.overlaps.clear();
        return decide_once(ctx, moved, scratch);
    }
    finding
}

/// Queries after which an undecided decision is repeated without the results of earlier tests: all at first,
/// then half as often after each repetition, down to the frequency of other tests that failed.
#[derive(Clone, Copy, Debug, Default)]
struct Repetition {
    /// Number of queries until the next repetition.
    left: u32,
    /// Number of queries between the last two repetitions.
    interval: u32,
}

impl Repetition {
    /// Counts an undecided query, and returns whether it is repeated.
    fn is_due(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.left = self.interval;
        self.interval = (2 * self.interval + 1).min(RETRY_INTERVAL);
        true
    }
}

/// [`decide`] with the results of tests of earlier queries, also of those that failed.
fn decide_once(ctx: &Context<'_>, moved: Option<&AccumulatedMotion>, scratch: &mut Scratch) -> Finding {
    let Scratch {
        overlaps,
        clearances,
        arc_targets,
        shells,
        probe,
        places,
        widened,
        failed,
        has_failed,
        tried,
        ..
    } = scratch;
    places.clear();
    tried.clear();
    failed.clear();
    *has_failed = false;
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
    clearances.begin(ctx.tol.tol);
    let mut decision = Decision {
        ctx,
        first,
        probe,
        places,
        widened,
        failed,
        has_failed,
        tried,
        clearances: moved.map(|_| clearances),
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
        let is_partly_followed = moved.is_some() && apart.is_partly_followed(ctx, pairs);
        let mut separation = moved.map(|moved| (apart, MotionChannels::new(ctx.b, moved)));
        for level in LEVELS {
            decision.level = level * ctx.tol.tol;
            decision.failed.clear();
            done = edges::through_faces(&mut decision, first, pairs, separation.as_mut(), arc_targets)
                || edges::through_faces(
                    &mut decision,
                    first.other(),
                    pairs,
                    separation.as_mut(),
                    arc_targets,
                )
                || closed_curves::search(&mut decision, pairs, separation.as_mut());
            if done || decision.failed.is_empty() && !is_partly_followed {
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

/// Bound (mm) of the depth of common points of solids for which [`decide`] finds no witness
/// ([`Finding::Apart`]). Without evidence, it is half the depth up to which faces that overlap are excluded
/// from the search (MATH §15, "Contacts that are not excluded"); with evidence that has no witness, the
/// tolerance within which such evidence is ignored.
pub(crate) fn depth_without_witness(tol: &Tolerances, has_failed: bool) -> f64 {
    if has_failed { MAX_IGNORED_DEPTH * tol.tol } else { 0.5 * separation::MAX_SHALLOW_DEPTH * tol.tol }
}

/// Depth, in tolerances, up to which evidence without a witness is ignored. A smaller value understates the
/// depth of undecided contacts; with a larger one, more motions in contact are undecided.
const MAX_IGNORED_DEPTH: f64 = 2.0;

/// Searches for a point inside both solids near contacts deeper than twice the tolerance. It is for the
/// case that [`decide`] has found crossings but no such point, because in a thin lens-shaped common
/// volume the search from a crossing may end early. `None` if no such point is found.
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

/// Returns the pairs of face areas that may cross at the current pose, sorted by features. `moved` is the
/// accumulated motion of B in the frame of A.
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

/// Maximum number of cells (rectangles of parameters) with which [`is_in_front`] examines an area. A larger
/// value takes longer at contacts; a smaller one leaves more verdicts undecided.
const FRONT_BUDGET: u32 = 2000;

/// Whether it is proved that all points of a free-form area are outside the surface of a canonical feature of
/// the other solid, at distances above the tolerance. `false` also for two canonical or two free-form
/// features.
pub(crate) fn is_in_front(ctx: &Context<'_>, (i, j): AreaPair) -> bool {
    let (of_a, of_b) = (ctx.a.data(ctx.a.area(i).feature), ctx.b.data(ctx.b.area(j).feature));
    let (own, area, primitive) = match (of_a.primitive, of_b.primitive) {
        (None, Some(form)) => (Which::A, i, form.transformed(&ctx.pose_ab)),
        (Some(form), None) => (Which::B, j, form.transformed(&ctx.pose_ba)),
        _ => return false,
    };
    let Some((_, patch)) = patch_of(ctx.body(own), area, None) else { return false };
    let tol = ctx.tol.tol;
    let center = patch.surface.point(patch.rect.center());
    if !signed_distance(&primitive, &center).is_some_and(|s| s.value > tol) {
        return false;
    }
    // The clearance is positive only if no point of the patch is at the level.
    let level = Level { primitive: &primitive, at: tol, slack: LEVEL_SLACK * tol };
    let (mut clearance, mut left) = (f64::INFINITY, FRONT_BUDGET);
    let search = patch_through_level(
        (&patch, [true; 2]),
        &level,
        Some(&mut clearance),
        &mut |_, _| true,
        &mut left,
        &mut |_| true,
    );
    search == Search::Complete && clearance > 0.0
}

/// Returns a face of `own` and a face of the other solid in the order A, B.
fn ordered(own: Which, mine: FaceId, theirs: FaceId) -> FacePair {
    if own == Which::A { [mine, theirs] } else { [theirs, mine] }
}

/// Closed form of a face's surface, in the solid's frame; `None` for a free-form face.
fn closed_form(body: &Body, face: FaceId) -> Option<&Primitive> {
    body.features()[face.index()].primitive.as_ref()
}

/// Returns the face of an area and its patch over the area, transformed by `pose` (`None` for the solid's
/// own frame). `None` if the area is not one of a face.
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
        let [a, b, c, d] = body.third_derivatives_of(area).each_ref().map(feeler_geom::VectorBall::norm);
        [a / (wu * wu * wu), b / (wu * wu * wv), c / (wu * wv * wv), d / (wv * wv * wv)]
    };
    let cap = &body.tree()[body.leaf_of_area(area).index()].cap;
    let cone = if cap.cos > 0.0 { (cap.axis, cap.sin) } else { (cap.axis, 1.0) };
    Some((f, Patch { surface: &face.surface, outward: face.outward, pose, rect, third, cone }))
}
