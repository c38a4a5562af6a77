//! Motion bounds of faces and areas that do not cross, kept from query to query: faces that are in front of
//! each other, parts of one free-form surface, and free-form areas that follow each other.
//!
//! A pair of faces is excluded from the search for crossings if all of one face is in front of the other face
//! (outside its material) or at most [`MAX_SHALLOW_DEPTH`] tolerances behind it. Touching faces, such as
//! those of a bolt and its hole, are therefore not searched.

mod covers;

use super::{LEVEL_SLACK, LEVELS, MAX_BESIDE_TRIM, closed_form, patch_of};
use crate::body::Body;
use crate::body::edge_arcs::EdgeArc;
use crate::body::ids::{AreaPair, FacePair};
use crate::body::side::Which;
use crate::cull::motion::{Motion, MotionChannels};
use crate::cull::placed::PairTable;
use crate::profile::RevolvedFace;
use crate::profile::apart::{Apart, apart};
use crate::profile::helical::{self, Band};
use crate::query::Context;
use feeler_geom::crossing::{
    FollowLimits, FollowScratch, MAX_FACE_CELLS, Patch, SurfaceBounds, clearance_of_following,
    distance_from_surface, distance_on_one_surface, is_clear_of_itself,
};
use feeler_geom::obb::{PoseMatrix, gap_in_frame};
use feeler_geom::{P2, P3, Pose, Surface};
use feeler_hierarchy::{AreaId, FaceId, Feature};
use std::collections::BTreeMap;

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
pub(super) fn limits(ctx: &Context<'_>) -> [f64; 2] {
    [MAX_SHALLOW_DEPTH, MIN_DEEP_DEPTH].map(|l| l * ctx.tol.tol)
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
    pub(super) fn clear(&mut self) {
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
    pub(super) fn begin(&mut self) {
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
    pub(super) fn remaining_following(
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
