//! Pairs of face areas whose crossing is not excluded by boxes, surfaces and lower bounds of their
//! distance.
//!
//! A pair is excluded if all of one face is in front of the other face (outside its material) or at most
//! [`MAX_SHALLOW_DEPTH`] tolerances behind it. Touching faces, such as those of a bolt and its hole, are
//! therefore not searched for crossings.

use super::{LEVEL_SLACK, LEVELS, MAX_BESIDE_TRIM, closed_form, ordered, patch_of};
use crate::body::Body;
use crate::body::edge_arcs::EdgeArc;
use crate::body::face_tree::FaceNode;
use crate::body::ids::{AreaPair, FacePair, NodePair};
use crate::body::side::Which;
use crate::cull::motion::{AccumulatedMotion, Margin, Motion, MotionChannels};
use crate::cull::pair_tree::{PairTree, Pairs, Verdict, opened};
use crate::cull::placed::{PairTable, PlacedEnvelopes, PlacedTree};
use crate::nearest::foot_on_face_within;
use crate::profile::RevolvedFace;
use crate::profile::apart::{Apart, apart};
use crate::profile::helical::{self, Band};
use crate::query::Context;
use feeler_geom::crossing::{
    FollowLimits, FollowScratch, MAX_FACE_CELLS, Patch, SurfaceBounds, clearance_of_following,
    distance_from_surface, distance_on_one_surface, is_clear_of_itself,
};
use feeler_geom::obb::{PoseMatrix, SAT_AXES, gap_along, gap_in_frame};
use feeler_geom::skeleton::{Primitive, range_over_box};
use feeler_geom::trim::Side;
use feeler_geom::{Obb, P2, P3, Pose, Rect, Surface};
use feeler_hierarchy::{AreaId, FaceId, Feature};
use std::collections::BTreeMap;

/// Result and scratch buffers of the search for pairs of areas that may intersect.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlaps {
    pub pairs: Vec<AreaPair>,
    pub keys: Vec<u128>,
    placed: PlacedTree<FaceNode>,
    envelopes: PlacedEnvelopes,
    pub apart: SeparationCache,
    tree: PairTree<()>,
    /// Tolerance (mm) with which `tree` and `apart` were computed.
    valid_for: Option<f64>,
}

impl Overlaps {
    /// Clears the results of earlier queries.
    pub(super) fn clear(&mut self) {
        self.tree.clear();
        self.apart.clear();
    }
}

/// Maximum depth (in tolerances) of a face behind the surface of another face at which the pair is
/// excluded as touching. A witness, which is deeper than one tolerance inside both solids, needs two faces
/// that overlap by two tolerances. A larger value misses interference; a smaller one searches contacts.
pub(super) const MAX_SHALLOW_DEPTH: f64 = 1.9;
/// Depth (in tolerances) of a face behind another face beyond which crossings of the two faces are
/// excluded, because it is deeper than all levels. A larger value takes more searches; a smaller one
/// misses crossings.
const MIN_DEEP_DEPTH: f64 = LEVELS[1] + LEVEL_SLACK;

/// Returns the depth (mm) up to which touching faces are excluded ([`MAX_SHALLOW_DEPTH`]) and the depth
/// beyond which faces do not cross ([`MIN_DEEP_DEPTH`]).
fn limits(ctx: &Context<'_>) -> [f64; 2] {
    [MAX_SHALLOW_DEPTH, MIN_DEEP_DEPTH].map(|l| l * ctx.tol.tol)
}

/// Collects all pairs of face areas in `scratch.pairs`.
pub(super) fn all_faces(ctx: &Context<'_>, scratch: &mut Overlaps) {
    let areas = |body: &Body| {
        body.features()
            .iter()
            .filter(|data| matches!(data.feature, Feature::Face(_)))
            .flat_map(|data| body.areas_of(data).iter().copied())
            .collect::<Vec<_>>()
    };
    let (of_a, of_b) = (areas(ctx.a), areas(ctx.b));
    scratch.pairs.clear();
    scratch.pairs.extend(of_a.iter().flat_map(|i| of_b.iter().map(move |j| (*i, *j))));
}

/// Collects the pairs of face areas that may intersect in `scratch.pairs`: their boxes overlap, neither
/// surface is clear of the box of the other area, and the two faces are not known to be separated. `moved`
/// is the accumulated motion of B in the frame of A.
pub(super) fn overlapping_faces(ctx: &Context<'_>, moved: &AccumulatedMotion, scratch: &mut Overlaps) {
    scratch.pairs.clear();
    if ctx.a.faces().is_empty() || ctx.b.faces().is_empty() {
        return;
    }
    scratch.placed.restart(ctx.b.faces());
    scratch.envelopes.restart(ctx.b);
    scratch.apart.begin();
    if scratch.valid_for != Some(ctx.tol.tol) {
        scratch.tree.clear();
        scratch.apart.clear();
        scratch.valid_for = Some(ctx.tol.tol);
    }
    let Overlaps { tree, pairs, placed, envelopes, apart, .. } = scratch;
    let pose = PoseMatrix::from(&ctx.pose_ab);
    let channels = MotionChannels::new(ctx.b, moved);
    tree.walk(moved, &mut OverlapWalk { ctx, pose, channels, pairs, placed, envelopes, apart });
    tree.reserve_active(pairs);
}

/// Traversal of the trees of faces of both solids in one query.
struct OverlapWalk<'a> {
    ctx: &'a Context<'a>,
    pose: PoseMatrix,
    channels: MotionChannels<'a>,
    pairs: &'a mut Vec<AreaPair>,
    placed: &'a mut PlacedTree<FaceNode>,
    envelopes: &'a mut PlacedEnvelopes,
    apart: &'a mut SeparationCache,
}

/// Motion bounds of separated pairs of faces, and of pairs of free-form areas that follow each other without
/// crossing, kept from query to query.
#[derive(Clone, Debug, Default)]
pub(super) struct SeparationCache {
    entries: PairTable<CachedSeparation>,
    /// Pairs of free-form faces that are parts of one surface; their displacement is that of the whole solid.
    on_surfaces: PairTable<CachedSeparation>,
    /// Pairs of areas; their displacement is that of the whole solid.
    areas: PairTable<CachedSeparation>,
    /// Areas whose points are near the boundary of the other solid, by their numbers and solids.
    covered: PairTable<CachedSeparation>,
    /// Arcs of edges in such areas, by their indices and solids.
    covered_arcs: PairTable<CachedSeparation>,
    /// Pairs of faces with areas that follow each other, since the cache was cleared.
    followed: Vec<FacePair>,
    scratch: FollowScratch,
    /// Number of nodes that were evaluated in this query to prove that areas follow each other.
    evaluated: usize,
    /// Free-form faces whose surface was tested, and whether it does not come near the face elsewhere
    /// ([`is_clear_of_itself`]).
    clear_of_themselves: Vec<((Which, FaceId), bool)>,
    /// Bounds of the surfaces of free-form faces.
    bounds: BTreeMap<(Which, FaceId), SurfaceBounds>,
    /// Number of queries since the cache was cleared.
    queries: u32,
    /// Whether faces or areas were searched in this query without a test, because it failed in an earlier
    /// query.
    has_deferred: bool,
}

/// Cached result for a pair of faces or areas.
#[derive(Clone, Copy, Debug, Default)]
struct CachedSeparation {
    /// Value of the channel's accumulated displacement (mm) up to which the faces stay separated.
    until: f64,
    /// Motion channel whose displacement counts.
    channel: u8,
    /// Number of the query that computed the result.
    query: u32,
    /// Number of the query from which on a pair of faces that is not separated is tested again.
    retry_at: u32,
}

impl CachedSeparation {
    /// Result of a test in the query with the given number, when the solids had moved by `moved` (mm): faces
    /// stay separated for a further displacement `spare` (mm) of the whole solid, or are not separated.
    fn new(spare: Option<f64>, moved: f64, query: u32) -> Self {
        Self {
            until: moved + spare.unwrap_or(0.0),
            channel: MotionChannels::WHOLE,
            query,
            retry_at: query + if spare.is_some() { 1 } else { RETRY_INTERVAL },
        }
    }
}

/// Number of queries for which two faces that are not separated are not tested again. Most of them stay
/// close, and a wrong guess only causes superfluous searches. A larger value searches separated faces for
/// longer; a smaller one repeats tests in vain.
pub(super) const RETRY_INTERVAL: u32 = 8;

impl SeparationCache {
    fn clear(&mut self) {
        self.entries.restart();
        self.on_surfaces.restart();
        self.areas.restart();
        self.covered.restart();
        self.covered_arcs.restart();
        self.followed.clear();
        self.clear_of_themselves.clear();
        self.bounds.clear();
        self.queries = 0;
    }

    /// Starts a query: increases the number of queries before the pairs of faces are tested.
    fn begin(&mut self) {
        if self.queries > u32::MAX - 2 * RETRY_INTERVAL {
            self.clear();
        }
        self.queries += 1;
        self.evaluated = 0;
        self.has_deferred = false;
    }

    /// Whether faces or areas were searched in this query that may be separated: their tests failed in an
    /// earlier query, at another pose, and were not repeated.
    pub(super) fn has_deferred(&self) -> bool {
        self.has_deferred
    }

    /// Returns the further displacement (mm) in a motion channel up to which two faces stay separated,
    /// even if they deviate by `distance` (mm) from their surfaces, and the number of this channel.
    /// `None` if the faces are not known to be separated.
    pub(super) fn remaining_motion(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        faces: FacePair,
        distance: f64,
    ) -> Option<(f64, u8)> {
        let left = |known: &CachedSeparation| {
            (known.until - channels.displacement(known.channel) - distance, known.channel)
        };
        if let Some(known) = self.entries.get(faces.map(|f| f.0)) {
            let (spare, channel) = left(&known);
            if spare > 0.0 {
                return Some((spare, channel));
            }
            if self.queries < known.retry_at {
                self.has_deferred |= known.query != self.queries;
                return None;
            }
        }
        let sides = RevolvedFace::of(ctx, Which::A, faces[0]).zip(RevolvedFace::of(ctx, Which::B, faces[1]));
        let Apart { spare, turned } = sides.map_or(Apart::default(), |(a, b)| apart(&a, &b, limits(ctx)));
        let [of_a, of_b] = [(Which::A, faces[0]), (Which::B, faces[1])].map(|(which, face)| {
            let feature = ctx.body(which).data(Feature::Face(face));
            channels.of_form(Motion::of_displacement(spare), which, feature, MotionChannels::WHOLE)
        });
        let mut channel = if turned[Which::B as usize] { of_b } else { of_a };
        let mut spare = spare;
        let threads = if spare > 0.0 { None } else { threads(ctx, faces) };
        if let Some(by_turns) = threads.and_then(|[a, b]| helical::apart(a, b, &ctx.pose_ab, limits(ctx))) {
            // Threads are invariant under a screw motion but not under a rotation, so channels about an
            // axis do not apply.
            (spare, channel) = (by_turns.max(0.0), MotionChannels::WHOLE);
        }
        // Flanks in contact are rarely separated, and their search for crossings is expensive, so they are
        // tested in every query.
        let retry_at = self.queries + if spare > 0.0 || threads.is_some() { 1 } else { RETRY_INTERVAL };
        let until = channels.displacement(channel) + spare;
        let known = CachedSeparation { until, channel, query: self.queries, retry_at };
        self.entries.set(faces.map(|f| f.0), known);
        Some(left(&known)).filter(|left| left.0 > 0.0)
    }
}

impl SeparationCache {
    /// Returns the further displacement (mm) up to which two faces do not cross because they are parts of one
    /// free-form surface, even if they deviate by `distance` (mm) from it. `None` if this is not known.
    pub(super) fn remaining_on_one_surface(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        faces: FacePair,
        distance: f64,
    ) -> Option<f64> {
        let key = faces.map(|f| f.0);
        let moved = channels.displacement(MotionChannels::WHOLE);
        let known = match self.known(|cache| &cache.on_surfaces, key, moved + distance) {
            Some(known) => known,
            None => {
                let spare = self.clearance_on_one_surface(ctx, faces);
                let known = CachedSeparation::new(spare, moved, self.queries);
                self.on_surfaces.set(key, known);
                known
            }
        };
        Some(known.until - moved - distance).filter(|spare| *spare > 0.0)
    }

    /// Returns the cached result for a key of one of the tables, if it is valid up to the displacement
    /// `moved` (mm) or is not computed again in this query.
    fn known(
        &mut self,
        table: impl Fn(&Self) -> &PairTable<CachedSeparation>,
        key: [u32; 2],
        moved: f64,
    ) -> Option<CachedSeparation> {
        let known = table(self).get(key)?;
        if known.until > moved {
            return Some(known);
        }
        let is_deferred = self.queries < known.retry_at;
        // A result of this query is not computed again either.
        self.has_deferred |= is_deferred && known.query != self.queries;
        is_deferred.then_some(known)
    }

    /// Returns the further displacement (mm) up to which two free-form areas do not cross because they follow
    /// each other, even if they deviate by `distance` (mm) from their surfaces. `None` if this is not known.
    fn remaining_following(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        (i, j): AreaPair,
        distance: f64,
    ) -> Option<f64> {
        let key = [i.0, j.0];
        let moved = channels.displacement(MotionChannels::WHOLE);
        if let Some(known) = self.known(|cache| &cache.areas, key, moved + distance) {
            return Some(known.until - moved - distance).filter(|spare| *spare > 0.0);
        }
        if self.evaluated >= MAX_EVALUATIONS {
            // The next query tests them.
            return None;
        }
        let spare = self.clearance_of_areas(ctx, (i, j), limits(ctx));
        let faces = [ctx.a.face_of(i), ctx.b.face_of(j)];
        if spare.is_some() && !self.followed.contains(&faces) {
            self.followed.push(faces);
        }
        self.areas.set(key, CachedSeparation::new(spare, moved, self.queries));
        spare.map(|spare| spare - distance).filter(|spare| *spare > 0.0)
    }

    /// Whether some areas of two faces are excluded because they follow each other, and others are among the
    /// `pairs` that are searched. Such areas may be deep although no crossing reaches their borders.
    pub(super) fn is_partly_followed(&self, ctx: &Context<'_>, pairs: &[AreaPair]) -> bool {
        !self.followed.is_empty()
            && pairs.iter().any(|&(i, j)| self.followed.contains(&[ctx.a.face_of(i), ctx.b.face_of(j)]))
    }

    /// Returns the displacement (mm) of one of two free-form faces up to which they do not cross because they
    /// are parts of one surface, which does not come near itself. `None` if this is not proved.
    fn clearance_on_one_surface(&mut self, ctx: &Context<'_>, [a, b]: FacePair) -> Option<f64> {
        if closed_form(ctx.a, a).is_some() || closed_form(ctx.b, b).is_some() {
            return None;
        }
        // The solids, not their roles, determine which face is tried first.
        [ctx.first(), ctx.first().other()].into_iter().find_map(|own| {
            let (mine, theirs) = if own == Which::A { (a, b) } else { (b, a) };
            self.clearance_on_surface_of(ctx, (own, mine), theirs)
        })
    }

    /// [`SeparationCache::clearance_on_one_surface`] for the face `mine` of `own` and the surface of the face
    /// `theirs` of the other solid.
    fn clearance_on_surface_of(
        &mut self,
        ctx: &Context<'_>,
        (own, mine): (Which, FaceId),
        theirs: FaceId,
    ) -> Option<f64> {
        let (body, facing) = (ctx.body(own), ctx.body(own.other()));
        let surface = &facing.face(theirs).surface;
        let depth = limits(ctx);
        let limit = distance_on_one_surface(depth);
        let (of_mine, of_theirs) = (areas_of(body, mine), areas_of(facing, theirs));
        let pose = ctx.pose_to_other(own);
        // Some points reject most other pairs of faces.
        let step = of_mine.len() / NUM_PROBES + 1;
        let mut probes = of_mine.iter().step_by(step).filter_map(|&area| patch_of(body, area, None));
        let is_near = |p: P3| {
            of_theirs.iter().any(|&area| {
                facing.node(facing.leaf_of_area(area)).obb.distance_to(&p) <= limit
                    && descend(surface, &p, facing.area(area).rect.center()).is_some_and(|d| d <= limit)
            })
        };
        if !probes.any(|(_, patch)| is_near(pose * patch.surface.point(patch.rect.center()))) {
            return None;
        }
        let mut images = Vec::new();
        let patches = patches_of(body, of_mine, Some(pose))?;
        let key = (own.other(), theirs);
        let bounds = &*self.bounds.entry(key).or_default();
        let mut left = MAX_FACE_CELLS;
        let distance =
            distance_from_surface(&patches, (surface, bounds), None, limit, &mut images, &mut left)?;
        let starts = patches_of(facing, of_theirs, None)?;
        let known = self.clear_of_themselves.iter().find(|(face, _)| *face == key);
        let is_clear = known.map(|(_, is_clear)| *is_clear).unwrap_or_else(|| {
            let is_clear = is_clear_of_itself(&starts, None, depth, bounds);
            self.clear_of_themselves.push((key, is_clear));
            is_clear
        });
        // The surface can come near itself outside both faces.
        let is_proved = is_clear || is_clear_of_itself(&starts, Some(&images), depth, bounds);
        is_proved.then_some(limit - distance).filter(|length| *length > 0.0)
    }

    /// Returns the further displacement (mm) up to which a free-form area of `own` does not have to be
    /// searched for crossings with the other solid, because all of its points are near the boundary of that
    /// solid, even if they deviate by `distance` (mm) from their surface. `None` if this is not known. The
    /// area is still a target of the edges and areas of the other solid.
    pub(super) fn remaining_cover(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        (own, area): (Which, AreaId),
        distance: f64,
    ) -> Option<f64> {
        let key = [area.0, own as u32];
        let moved = channels.displacement(MotionChannels::WHOLE);
        let known = match self.known(|cache| &cache.covered, key, moved) {
            Some(known) => known,
            None if self.evaluated >= MAX_EVALUATIONS => return None,
            None => {
                let cover = self.cover(ctx, (own, area));
                if let Some((_, face)) = cover {
                    let faces = ordered(own, ctx.body(own).face_of(area), face);
                    if !self.followed.contains(&faces) {
                        self.followed.push(faces);
                    }
                }
                let known = CachedSeparation::new(cover.map(|(spare, _)| spare), moved, self.queries);
                self.covered.set(key, known);
                known
            }
        };
        Some(known.until - moved - distance).filter(|spare| *spare > 0.0)
    }

    /// Returns the displacement (mm) of the other solid up to which all points of a free-form area of `own`
    /// are within the distance of [`distance_on_one_surface`] from one free-form face of the other solid,
    /// trims included, with the opposite normal; and that face. `None` if this is not proved.
    fn cover(&mut self, ctx: &Context<'_>, (own, area): (Which, AreaId)) -> Option<(f64, FaceId)> {
        let (body, facing) = (ctx.body(own), ctx.body(own.other()));
        // The sides of a sheet are on each other's boundary.
        if body.is_sheet() || facing.is_sheet() || closed_form(body, body.face_of(area)).is_some() {
            return None;
        }
        let limit = distance_on_one_surface(limits(ctx));
        let beside = MAX_BESIDE_COVER * ctx.tol.tol;
        let (_, patch) = patch_of(body, area, Some(ctx.pose_to_other(own)))?;
        let (p, du, dv) = patch.surface.first_derivs(patch.rect.center());
        let (p, n) = (ctx.pose_to_other(own) * p, ctx.pose_to_other(own) * du.cross(&dv));
        let sign = |outward: bool| if outward == patch.outward { 1.0 } else { -1.0 };
        let mut images = Vec::new();
        facing.features().iter().find_map(|data| {
            let Feature::Face(face) = data.feature else { return None };
            if data.primitive.is_some() || data.bounds.distance_sq(&p) > limit * limit {
                return None;
            }
            let (surface, trim) = (&facing.face(face).surface, &facing.face(face).trim);
            let foot = foot_on_face_within(facing, face, &p, limit)?;
            let (q, du, dv) = surface.first_derivs(foot);
            let is_opposite = du.cross(&dv).dot(&n) * sign(facing.face(face).outward) < 0.0;
            if !is_opposite || (q - p).norm() > limit || trim.classify(foot) != Side::Inside {
                return None;
            }
            images.clear();
            let mut left = MAX_COVER_CELLS;
            let bounds = &*self.bounds.entry((own.other(), face)).or_default();
            let distance =
                distance_from_surface(&[patch], (surface, bounds), Some(foot), limit, &mut images, &mut left);
            self.evaluated += MAX_COVER_CELLS - left;
            let spare = limit - distance? - 2.0 * beside;
            let is_inside =
                |rect: &Rect| !trim.has_boundary_in(rect) && trim.classify(rect.center()) == Side::Inside;
            let is_on_face = |image: &Rect| {
                if is_inside(image) {
                    return true;
                }
                let third = surface.third_derivatives(image).map(|balls| balls.map(|ball| ball.norm()));
                third.is_some_and(|third| {
                    let image = Patch { surface, rect: *image, third, pose: None, ..patch };
                    // One step along each parameter leads from a point of an image into its inner part.
                    is_inside(&image.within(beside))
                })
            };
            (spare > 0.0 && images.iter().all(is_on_face)).then_some((spare, face))
        })
    }

    /// Whether the arc of `own` with this index does not have to be searched for crossings with the other
    /// solid, because all areas beside the arc, of one of its faces, are near the boundary of that solid.
    pub(super) fn is_covered(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        (own, index): (Which, u32),
    ) -> bool {
        let body = ctx.body(own);
        let arc = &body.edge_arcs().list[index as usize];
        // Most solids have few free-form faces.
        if [arc.face, arc.beside].iter().all(|face| closed_form(body, *face).is_some()) {
            return false;
        }
        let key = [index, own as u32];
        let moved = channels.displacement(MotionChannels::WHOLE);
        if let Some(known) = self.known(|cache| &cache.covered_arcs, key, moved) {
            return known.until > moved;
        }
        let spare = self
            .remaining_cover_beside(ctx, channels, (own, arc), (arc.face, 0.0))
            .or_else(|| self.remaining_cover_beside(ctx, channels, (own, arc), (arc.beside, arc.off)));
        self.covered_arcs.set(key, CachedSeparation::new(spare, moved, self.queries));
        spare.is_some()
    }

    /// Smallest result of [`SeparationCache::remaining_cover`] for the areas of one of the faces of an arc
    /// that the arc passes; the arc deviates from the face by at most `off` (mm).
    fn remaining_cover_beside(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        (own, arc): (Which, &EdgeArc),
        (face, off): (FaceId, f64),
    ) -> Option<f64> {
        let body = ctx.body(own);
        if closed_form(body, face).is_some() {
            return None;
        }
        let (center, radius) = (arc.middle(), arc.radius() + off);
        // Without an area beside it, nothing is known about the arc.
        let mut smallest = None;
        for &area in areas_of(body, face) {
            if body.node(body.leaf_of_area(area)).obb.distance_to(&center) <= radius {
                let spare = self.remaining_cover(ctx, channels, (own, area), off)?;
                smallest = Some(smallest.map_or(spare, |smallest: f64| smallest.min(spare)));
            }
        }
        smallest
    }

    /// Returns the displacement (mm) of one of two free-form areas up to which no point of one of them
    /// is between the depths `shallow` and `deep` (mm, negative in front) behind the other one. `None`
    /// if this is not proved.
    pub(super) fn clearance_of_areas(
        &mut self,
        ctx: &Context<'_>,
        (i, j): AreaPair,
        [shallow, deep]: [f64; 2],
    ) -> Option<f64> {
        // The solids, not their roles, determine which one follows the other.
        let own = ctx.first();
        let (mine, theirs) = if own == Which::A { (i, j) } else { (j, i) };
        let pose = ctx.pose_to_other(own.other());
        let (_, first) = patch_of(ctx.body(own), mine, None)?;
        let (face, second) = patch_of(ctx.body(own.other()), theirs, Some(pose))?;
        let deviation = ctx.body(own.other()).data(Feature::Face(face)).deviation;
        let limits = FollowLimits { shallow, deep, beside: MAX_BESIDE_TRIM * ctx.tol.tol + deviation };
        let clearance = clearance_of_following(&first, &second, &limits, &mut self.scratch);
        self.evaluated += self.scratch.num_evaluated();
        clearance
    }

    /// Whether an arc of `own` cannot cross the free-form area `area` of the other solid because all areas
    /// beside the arc, of the face on its other side, are apart from that area or follow it.
    pub(super) fn follows_beside(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        (own, arc): (Which, &EdgeArc),
        area: AreaId,
    ) -> bool {
        let (body, facing) = (ctx.body(own), ctx.body(own.other()));
        let is_free = |body: &Body, face: FaceId| closed_form(body, face).is_none();
        if !is_free(body, arc.beside) || !is_free(facing, facing.face_of(area)) {
            return false;
        }
        let (center, radius) = (arc.middle(), arc.radius() + arc.off);
        let pose = PoseMatrix::from(ctx.pose_to_other(own.other()));
        let theirs = facing.node(facing.leaf_of_area(area)).obb.placed(&pose);
        let reach = arc.off + MAX_BESIDE_TRIM * ctx.tol.tol;
        let all = body.areas_of(body.data(Feature::Face(arc.beside))).iter();
        let mut near = all
            .filter(|&&mine| body.node(body.leaf_of_area(mine)).obb.distance_to(&center) <= radius)
            .peekable();
        // Without an area beside it, nothing is known about the arc.
        near.peek().is_some()
            && near.all(|&mine| {
                let obb = &body.node(body.leaf_of_area(mine)).obb;
                let pair = if own == Which::A { (mine, area) } else { (area, mine) };
                gap_in_frame(obb, &theirs, reach).is_some()
                    || self.remaining_following(ctx, channels, pair, arc.off).is_some()
            })
    }
}

/// Width (in tolerances) of the strip along the sides of an image that may be beside the trims of the face
/// on which it lies: rounding of the trims, and of those of the area. A larger value leaves less of the
/// accepted distance; a smaller one does not recognise areas at edges.
const MAX_BESIDE_COVER: f64 = 0.2;
/// Maximum number of cells of one area that are examined for their distance from the face on which it lies. A
/// larger value takes longer for areas that are partly beside the face; with a smaller one areas with other
/// parameters than the face are not recognised.
const MAX_COVER_CELLS: usize = 300;

/// Maximum number of nodes that one query evaluates to prove that free-form areas follow each other; further
/// areas are searched for crossings. With a larger value, undecided parts with thousands of areas take
/// longer; with a smaller one more of them are undecided.
const MAX_EVALUATIONS: usize = 4_000_000;

/// Number of areas of a face whose middles are tested before all are. With a larger value faces apart take
/// longer; with a smaller one faces of one surface that overlap in a small part are not recognised.
const NUM_PROBES: usize = 16;

/// Distance (mm) of `p` from its nearest point on a spline surface near the parameters `hint`; `None` if it
/// is not found.
fn descend(surface: &Surface, p: &P3, hint: P2) -> Option<f64> {
    let Surface::Bezier(spline) = surface else { return None };
    spline.descend(p, hint).map(|(_, distance)| distance)
}

/// Areas of a face.
fn areas_of(body: &Body, face: FaceId) -> &[AreaId] {
    body.areas_of(body.data(Feature::Face(face)))
}

/// Patches over areas of faces, transformed by `pose` as in [`patch_of`].
fn patches_of<'a>(body: &'a Body, areas: &[AreaId], pose: Option<&'a Pose>) -> Option<Vec<Patch<'a>>> {
    areas.iter().map(|&area| Some(patch_of(body, area, pose)?.1)).collect()
}

/// Returns the bands (ranges of helical orbits) of two faces if both are faces of threads, otherwise
/// `None`.
fn threads<'a>(ctx: &Context<'a>, faces: FacePair) -> Option<[&'a Band; 2]> {
    let band = |body: &'a Body, face: FaceId| body.data(Feature::Face(face)).band.as_deref();
    Some([band(ctx.a, faces[0])?, band(ctx.b, faces[1])?])
}

/// Number of tests of [`OverlapWalk::margin_by_test`], by which a pair of nodes can be culled in
/// addition to the test of their boxes. A hint, kept for each pair of nodes, is the number of the test
/// that culled the pair last, or stands for a separating axis of the boxes.
const NUM_TESTS: u8 = 6;
/// First hint that stands for a separating axis of the boxes; the following hints stand for the other
/// axes.
const FIRST_AXIS: u8 = NUM_TESTS;
/// End (exclusive) of the hints that stand for separating axes.
const END_OF_AXES: u8 = FIRST_AXIS + SAT_AXES;

impl OverlapWalk<'_> {
    /// Distance (mm) between the boxes of two faces up to which the faces can cross. A crossing is a
    /// point of one face on a level of the other one, and levels are at most this distance behind their
    /// face.
    fn crossing_distance(&self) -> f64 {
        limits(self.ctx)[1]
    }

    /// Returns a separating axis of the boxes of two nodes, and the margin: the motion of B up to which
    /// the boxes stay farther apart than the crossing distance. `None` if no axis separates them.
    fn box_margin(&mut self, (i, j): NodePair) -> Option<(u8, Margin)> {
        let distance = self.crossing_distance();
        let node_b = self.placed.get(self.ctx.b.faces(), &self.pose, j);
        let (axis, gap) = gap_in_frame(&self.ctx.a.faces()[i.index()].obb, &node_b.obb, distance)?;
        Some((axis, Motion::of_displacement(gap - distance).by(node_b.region)))
    }

    /// Margin along one axis: the motion of B up to which the boxes of two nodes stay farther apart than
    /// the crossing distance along this axis. `None` if the axis does not separate them. Axes are
    /// counted from [`FIRST_AXIS`].
    fn box_margin_along(&self, (i, j): NodePair, axis: u8) -> Option<Margin> {
        let (node_a, node_b) = (&self.ctx.a.faces()[i.index()], &self.ctx.b.faces()[j.index()]);
        let gap = gap_along(&node_a.obb, &node_b.obb, &self.pose, axis - FIRST_AXIS);
        let spare = gap - self.crossing_distance();
        (spare > 0.0).then(|| Motion::of_displacement(spare).by(node_b.region))
    }

    /// Margin of one test: the motion of B up to which the faces of a pair of nodes cannot cross. The
    /// tests are ordered by cost: 0, the surface of A's face against the box of B's node; 1, the surface
    /// of B's face against the box of A's node; 2, the two faces as wholes; for areas of free-form faces 3,
    /// both areas are near the boundary of the other solid; 4, their faces are parts of one surface; 5, the
    /// areas follow each other. `None` if the test does not separate them.
    fn margin_by_test(&mut self, pair: NodePair, test: u8) -> Option<Margin> {
        let (ctx, channels) = (self.ctx, &self.channels);
        let (node_a, node_b) = (&ctx.a.faces()[pair.0.index()], &ctx.b.faces()[pair.1.index()]);
        // Margin by the closed form of a feature.
        let by_form = |which: Which, face: FaceId, spare: f64| {
            let data = ctx.body(which).data(Feature::Face(face));
            let motion = Motion::of_displacement(spare);
            (spare > 0.0).then(|| motion.by(channels.of_form(motion, which, data, node_b.region)))
        };
        let misses = |(primitive, off): (&Primitive, f64), other: &Obb| {
            let [lo, hi] = range_over_box(primitive, other);
            let [shallow, deep] = limits(ctx);
            (lo + shallow).max(-hi - deep) - off
        };
        match test {
            0 => {
                let face = node_a.face()?;
                let other = &self.placed.get(ctx.b.faces(), &self.pose, pair.1).obb;
                by_form(Which::A, face, misses(ctx.a.sphere_envelope(face.into())?, other))
            }
            1 => {
                let face = node_b.face()?;
                let (p, off) = self.envelopes.get(ctx.b, &ctx.pose_ab, face.into())?;
                by_form(Which::B, face, misses((p, *off), &node_a.obb))
            }
            3..=5 => {
                let areas = (node_a.area()?, node_b.area()?);
                let faces = [node_a.face()?, node_b.face()?];
                if closed_form(ctx.a, faces[0]).is_some() || closed_form(ctx.b, faces[1]).is_some() {
                    return None;
                }
                let mut cover = |side| self.apart.remaining_cover(ctx, channels, side, 0.0);
                let spare = match test {
                    // Neither of two covered areas is searched for crossings with the other one.
                    3 => cover((Which::A, areas.0))?.min(cover((Which::B, areas.1))?),
                    4 => self.apart.remaining_on_one_surface(ctx, channels, faces, 0.0)?,
                    _ => {
                        let own = ctx.first();
                        let mine = if own == Which::A { areas.0 } else { areas.1 };
                        // Only edges of the other solid are searched; to bound the distance takes longer.
                        if cover((own, mine)).is_some() {
                            return None;
                        }
                        self.apart.remaining_following(ctx, channels, areas, 0.0)?
                    }
                };
                Some(Motion::of_displacement(spare).by(MotionChannels::WHOLE))
            }
            _ => {
                let faces = [node_a.face()?, node_b.face()?];
                let (spare, channel) = self.apart.remaining_motion(ctx, channels, faces, 0.0)?;
                Some(Motion::of_displacement(spare).by(channel))
            }
        }
    }
}

impl Pairs for OverlapWalk<'_> {
    type Note = ();

    fn note(&mut self, _: NodePair) {}

    fn group(&self, (): ()) -> Option<u32> {
        None
    }

    fn resolved(&self, _: u32) -> bool {
        false
    }

    /// Tests whether the faces below two nodes can cross. The test that culled the pair last, whose
    /// number or axis is in `hint`, is tried first; `hint` is updated if another one culls the pair. A
    /// pair of leaves that no test culls is added to `pairs`.
    fn test(&mut self, pair: NodePair, (): (), hint: &mut u8) -> Verdict {
        let first = *hint;
        let again = match first {
            0..NUM_TESTS => self.margin_by_test(pair, first),
            FIRST_AXIS..END_OF_AXES => self.box_margin_along(pair, first),
            _ => None,
        };
        if let Some(margin) = again {
            return Verdict::Culled(margin);
        }
        if let Some((axis, margin)) = self.box_margin(pair) {
            *hint = FIRST_AXIS + axis;
            return Verdict::Culled(margin);
        }
        for test in (0..NUM_TESTS).filter(|test| *test != first) {
            if let Some(margin) = self.margin_by_test(pair, test) {
                *hint = test;
                return Verdict::Culled(margin);
            }
        }
        let (node_a, node_b) = (&self.ctx.a.faces()[pair.0.index()], &self.ctx.b.faces()[pair.1.index()]);
        let Some(areas) = node_a.area().zip(node_b.area()) else { return Verdict::Open };
        self.pairs.push(areas);
        Verdict::Active
    }

    fn touch(&self, (i, j): NodePair) -> u64 {
        let (a, b) = (&self.ctx.a.faces()[i.index()], &self.ctx.b.faces()[j.index()]);
        a.touch() ^ b.touch()
    }

    fn keep(&mut self, (i, j): NodePair, (): ()) -> bool {
        let areas = self.ctx.a.faces()[i.index()].area().zip(self.ctx.b.faces()[j.index()].area());
        self.pairs.extend(areas);
        true
    }

    fn prune(&mut self, pair: NodePair) -> Option<Margin> {
        self.box_margin(pair).map(|(_, margin)| margin)
    }

    fn children(&self, (i, j): NodePair) -> [NodePair; 2] {
        let (a, b) = (&self.ctx.a.faces()[i.index()], &self.ctx.b.faces()[j.index()]);
        opened((i, a.children(), a.radius), (j, b.children(), b.radius))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::options::QueryOptions;
    use crate::api::tolerance::Tolerances;
    use crate::api::verdict::Status;
    use crate::certify::tests::{HALF as RIDGE_HALF, ridge};
    use crate::nearest::{NearScratch, nearest};
    use crate::pair::ContactPair;
    use crate::query::Waves;
    use feeler_brep::build::{BuildOptions, build_solid};
    use feeler_brep::fixtures::{SourceBuilder, bump};
    use feeler_brep::source::{LoopSource, SolidSource};
    use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};
    use feeler_geom::{Curve, Frame, V3};
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
        let (bottom, right, left) =
            (b.line(low[0], low[1]), b.line(low[1], high[1]), b.line(high[0], low[0]));
        let surface = plane(&b, low[0], -V3::y());
        b.face(surface, true, edges(vec![bottom, right, (front, false), left]));
        let (bottom, left, right) =
            (b.line(low[2], low[3]), b.line(low[3], high[3]), b.line(high[2], low[2]));
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
        let borders = prism
            .features()
            .iter()
            .flat_map(|data| prism.areas_of(data))
            .map(|&area| prism.area(area).rect.v1);
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
}
