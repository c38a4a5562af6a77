//! Pairs of face areas whose crossing is not excluded by boxes, surfaces and lower bounds of their
//! distance.
//!
//! A pair is excluded if all of one face is in front of the other face (outside its material) or at most
//! [`MAX_SHALLOW_DEPTH`] tolerances behind it. Touching faces, such as those of a bolt and its hole, are
//! therefore not searched for crossings.

use super::{LEVEL_SLACK, LEVELS, MAX_BESIDE_TRIM, closed_form, patch_of};
use crate::body::Body;
use crate::body::edge_arcs::EdgeArc;
use crate::body::face_tree::FaceNode;
use crate::body::ids::{AreaPair, FacePair, NodePair};
use crate::body::side::Which;
use crate::cull::motion::{AccumulatedMotion, Margin, Motion, MotionChannels};
use crate::cull::pair_tree::{PairTree, Pairs, Verdict, opened};
use crate::cull::placed::{PairTable, PlacedEnvelopes, PlacedTree};
use crate::profile::RevolvedFace;
use crate::profile::apart::{Apart, apart};
use crate::profile::helical::{self, Band};
use crate::query::Context;
use feeler_geom::crossing::{
    FollowLimits, FollowScratch, Patch, clearance_of_following, distance_from_surface,
    distance_on_one_surface, is_clear_of_itself,
};
use feeler_geom::obb::{PoseMatrix, SAT_AXES, gap_along, gap_in_frame};
use feeler_geom::skeleton::{Primitive, range_over_box};
use feeler_geom::{Obb, P2, P3, Pose, Surface};
use feeler_hierarchy::{AreaId, FaceId, Feature};

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
    /// Pairs of areas; their displacement is that of the whole solid.
    areas: PairTable<CachedSeparation>,
    /// Pairs of faces with areas that follow each other, since the cache was cleared.
    followed: Vec<FacePair>,
    scratch: FollowScratch,
    /// Number of nodes that were evaluated in this query to prove that areas follow each other.
    evaluated: usize,
    /// Free-form faces whose surface was tested, and whether it does not come near the face elsewhere
    /// ([`is_clear_of_itself`]).
    clear_of_themselves: Vec<((Which, FaceId), bool)>,
    /// Number of queries since the cache was cleared.
    queries: u32,
}

/// Cached result for a pair of faces or areas.
#[derive(Clone, Copy, Debug, Default)]
struct CachedSeparation {
    /// Value of the channel's accumulated displacement (mm) up to which the faces stay separated.
    until: f64,
    /// Motion channel whose displacement counts.
    channel: u8,
    /// Number of the query from which on a pair of faces that is not separated is tested again.
    retry_at: u32,
}

/// Number of queries for which two faces that are not separated are not tested again. Most of them stay
/// close, and a wrong guess only causes superfluous searches. A larger value searches separated faces for
/// longer; a smaller one repeats tests in vain.
const RETRY_INTERVAL: u32 = 8;

impl SeparationCache {
    fn clear(&mut self) {
        self.entries.restart();
        self.areas.restart();
        self.followed.clear();
        self.clear_of_themselves.clear();
        self.queries = 0;
    }

    /// Starts a query: increases the number of queries before the pairs of faces are tested.
    fn begin(&mut self) {
        if self.queries > u32::MAX - 2 * RETRY_INTERVAL {
            self.clear();
        }
        self.queries += 1;
        self.evaluated = 0;
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
        } else if spare <= 0.0
            && let Some(length) = self.clearance_on_one_surface(ctx, faces)
        {
            (spare, channel) = (length, MotionChannels::WHOLE);
        }
        // Flanks in contact are rarely separated, and their search for crossings is expensive, so they are
        // tested in every query.
        let retry_at = self.queries + if spare > 0.0 || threads.is_some() { 1 } else { RETRY_INTERVAL };
        let known = CachedSeparation { until: channels.displacement(channel) + spare, channel, retry_at };
        self.entries.set(faces.map(|f| f.0), known);
        Some(left(&known)).filter(|left| left.0 > 0.0)
    }
}

impl SeparationCache {
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
        if let Some(known) = self.areas.get(key) {
            let spare = known.until - moved - distance;
            if spare > 0.0 || self.queries < known.retry_at {
                return Some(spare).filter(|spare| *spare > 0.0);
            }
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
        let retry_at = self.queries + if spare.is_some() { 1 } else { RETRY_INTERVAL };
        let until = moved + spare.unwrap_or(0.0);
        self.areas.set(key, CachedSeparation { until, channel: MotionChannels::WHOLE, retry_at });
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
        let distance = distance_from_surface(&patches, surface, limit, &mut images)?;
        let starts = patches_of(facing, of_theirs, None)?;
        let key = (own.other(), theirs);
        let known = self.clear_of_themselves.iter().find(|(face, _)| *face == key);
        let is_clear = known.map(|(_, is_clear)| *is_clear).unwrap_or_else(|| {
            let is_clear = is_clear_of_itself(&starts, None, depth);
            self.clear_of_themselves.push((key, is_clear));
            is_clear
        });
        // The surface can come near itself outside both faces.
        let is_proved = is_clear || is_clear_of_itself(&starts, Some(&images), depth);
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

/// Number of tests of [`OverlapWalk::margin_by_test`], by which a pair of nodes can be culled in
/// addition to the test of their boxes. A hint, kept for each pair of nodes, is the number of the test
/// that culled the pair last, or stands for a separating axis of the boxes.
const NUM_TESTS: u8 = 4;
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
    /// of B's face against the box of A's node; 2, the two faces as wholes; 3, two free-form areas. `None`
    /// if the test does not separate them.
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
            3 => {
                let areas = (node_a.area()?, node_b.area()?);
                let free = |body: &Body, face: FaceId| closed_form(body, face).is_none();
                let both_free = free(ctx.a, node_a.face()?) && free(ctx.b, node_b.face()?);
                let spare =
                    both_free.then(|| self.apart.remaining_following(ctx, channels, areas, 0.0))??;
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
    use crate::api::verdict::Status;
    use crate::certify::tests::{HALF as RIDGE_HALF, ridge};
    use crate::pair::ContactPair;
    use feeler_brep::build::{BuildOptions, build_solid};
    use feeler_brep::source::SolidSource;
    use std::sync::Arc;

    fn body(source: &SolidSource) -> Body {
        let solid = build_solid(source, &BuildOptions::default()).expect("a fixture");
        let options = feeler_hierarchy::Options { flatness: 0.05 };
        Body::new(feeler_prepare::prepare_solid(&solid, &options).expect("a fixture")).expect("a fixture")
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
