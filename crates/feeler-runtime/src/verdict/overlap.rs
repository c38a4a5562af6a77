//! Pairs of face areas whose crossing is not ruled out by boxes, surfaces and closed bounds of their
//! distance.
//!
//! A pair is left out when one face stays above the other one, at the most [`SHALLOW`] tolerances behind it:
//! faces that touch, as those of a bolt and its hole, never get to the search for crossings.

use super::{LEVELS, SLACK};
use crate::body::Body;
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
use feeler_geom::Obb;
use feeler_geom::obb::{PoseMatrix, SAT_AXES, gap_along, gap_in_frame};
use feeler_geom::skeleton::{Primitive, range_over_box};
use feeler_hierarchy::{FaceId, Feature};

/// What the search for pairs of areas that may meet uses and finds.
#[derive(Debug, Default)]
pub(super) struct Overlaps {
    pub pairs: Vec<AreaPair>,
    pub keys: Vec<u128>,
    placed: PlacedTree<FaceNode>,
    envelopes: PlacedEnvelopes,
    pub apart: SeparationCache,
    tree: PairTree<()>,
    /// The tolerance that the tree was made with.
    valid_for: Option<f64>,
}

impl Overlaps {
    /// Forgets earlier queries.
    pub(super) fn clear(&mut self) {
        self.tree.clear();
        self.apart.clear();
    }
}

/// How far (in tolerances) behind another face a face may stay that is above it: a point inside both by more
/// than the tolerance needs two.
const SHALLOW: f64 = 1.9;
/// How far (in tolerances) behind another face a face is that does not cross it: farther than any crossing
/// that is looked for.
const DEEP: f64 = LEVELS[1] + SLACK;

/// Both in mm.
fn limits(ctx: &Context<'_>) -> [f64; 2] {
    [SHALLOW, DEEP].map(|l| l * ctx.tol.tol)
}

/// All pairs of face areas.
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

/// Pairs of face areas that may meet, into the scratch memory: their boxes overlap, the surface of neither
/// passes by the box of the other one, and the faces are not plainly apart.
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
    tree.walk(moved, &mut Meetings { ctx, pose, channels, pairs, placed, envelopes, apart });
    tree.reserve_active(pairs);
}

/// One query's walk down the faces of both solids.
struct Meetings<'a> {
    ctx: &'a Context<'a>,
    pose: PoseMatrix,
    channels: MotionChannels<'a>,
    pairs: &'a mut Vec<AreaPair>,
    placed: &'a mut PlacedTree<FaceNode>,
    envelopes: &'a mut PlacedEnvelopes,
    apart: &'a mut SeparationCache,
}

/// By how much pairs of faces are plainly apart as wholes, kept from query to query.
#[derive(Debug, Default)]
pub(super) struct SeparationCache {
    known: PairTable<CachedSeparation>,
    queries: u32,
}

/// What is known of a pair of faces.
#[derive(Clone, Copy, Debug, Default)]
struct CachedSeparation {
    /// Way by a channel at which they may meet.
    until: f64,
    channel: u8,
    /// The query from which on it is worth to look again.
    again: u32,
}

/// Queries in which two faces that were not plainly apart are taken as not apart without a look: most stay
/// so, and it costs tests only.
const LOOK_EVERY: u32 = 8;

impl SeparationCache {
    fn clear(&mut self) {
        self.known.restart();
        self.queries = 0;
    }

    /// Begins a query.
    fn begin(&mut self) {
        if self.queries > u32::MAX - 2 * LOOK_EVERY {
            self.clear();
        }
        self.queries += 1;
    }

    /// How far (mm) B may move by a channel until the faces can be within `room` (mm) and the tolerance, and
    /// that channel; `None` where they are not known to be apart.
    pub(super) fn spare(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        faces: FacePair,
        room: f64,
    ) -> Option<(f64, u8)> {
        let left = |known: &CachedSeparation| {
            (known.until - channels.displacement(known.channel) - room, known.channel)
        };
        if let Some(known) = self.known.get(faces) {
            let (spare, channel) = left(&known);
            if spare > 0.0 {
                return Some((spare, channel));
            }
            if self.queries < known.again {
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
            // What the screw motion leaves where it is a rotation does not.
            (spare, channel) = (by_turns.max(0.0), MotionChannels::WHOLE);
        }
        // Flanks in contact are not apart for a query now and then, and a search for crossings is dear.
        let again = self.queries + if spare > 0.0 || threads.is_some() { 1 } else { LOOK_EVERY };
        let known = CachedSeparation { until: channels.displacement(channel) + spare, channel, again };
        self.known.set(faces, known);
        Some(left(&known)).filter(|left| left.0 > 0.0)
    }
}

/// The bands of two faces of threads.
fn threads<'a>(ctx: &Context<'a>, faces: FacePair) -> Option<[&'a Band; 2]> {
    let band = |body: &'a Body, face: FaceId| body.data(Feature::Face(face)).band.as_deref();
    Some([band(ctx.a, faces[0])?, band(ctx.b, faces[1])?])
}

/// Number of the tests that can cull a pair beside that of the boxes.
const TESTS: u8 = 3;
/// From here on the numbers are axes of that one.
const AXES: u8 = TESTS;
const END: u8 = AXES + SAT_AXES;

impl Meetings<'_> {
    /// How far (mm) apart the boxes of faces may be that cross: the levels are as far behind the faces.
    fn room(&self) -> f64 {
        limits(self.ctx)[1]
    }

    /// How far B may move until the boxes of two nodes can meet, and the axis that tells it.
    fn boxes(&mut self, (i, j): NodePair) -> Option<(u8, Margin)> {
        let room = self.room();
        let node_b = self.placed.get(self.ctx.b.faces(), &self.pose, j);
        let (axis, gap) = gap_in_frame(&self.ctx.a.faces()[i.index()].obb, &node_b.obb, room)?;
        Some((axis, Motion::of_displacement(gap - room).by(node_b.region)))
    }

    /// The same along one axis, which is counted from [`AXES`].
    fn boxes_along(&self, (i, j): NodePair, axis: u8) -> Option<Margin> {
        let (node_a, node_b) = (&self.ctx.a.faces()[i.index()], &self.ctx.b.faces()[j.index()]);
        let gap = gap_along(&node_a.obb, &node_b.obb, &self.pose, axis - AXES);
        let spare = gap - self.room();
        (spare > 0.0).then(|| Motion::of_displacement(spare).by(node_b.region))
    }

    /// How far B may move until a pair can meet by one of the tests, from cheap to dear: by the surface of A
    /// or of B and the box of the other, by the faces as wholes.
    fn culled(&mut self, pair: NodePair, test: u8) -> Option<Margin> {
        let (ctx, channels) = (self.ctx, &self.channels);
        let (node_a, node_b) = (&ctx.a.faces()[pair.0.index()], &ctx.b.faces()[pair.1.index()]);
        // By the form of a feature.
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
            _ => {
                let faces = [node_a.face()?, node_b.face()?];
                let (spare, channel) = self.apart.spare(ctx, channels, faces, 0.0)?;
                Some(Motion::of_displacement(spare).by(channel))
            }
        }
    }
}

impl Pairs for Meetings<'_> {
    type Note = ();

    fn note(&mut self, _: NodePair) {}

    fn group(&self, (): ()) -> Option<u32> {
        None
    }

    fn resolved(&self, _: u32) -> bool {
        false
    }

    /// `hint` tells which test has culled the pair last.
    fn test(&mut self, pair: NodePair, (): (), hint: &mut u8) -> Verdict {
        let first = *hint;
        let again = match first {
            0..TESTS => self.culled(pair, first),
            AXES..END => self.boxes_along(pair, first),
            _ => None,
        };
        if let Some(margin) = again {
            return Verdict::Culled(margin);
        }
        if let Some((axis, margin)) = self.boxes(pair) {
            *hint = AXES + axis;
            return Verdict::Culled(margin);
        }
        for test in (0..TESTS).filter(|test| *test != first) {
            if let Some(margin) = self.culled(pair, test) {
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
        self.boxes(pair).map(|(_, margin)| margin)
    }

    fn children(&self, (i, j): NodePair) -> [NodePair; 2] {
        let (a, b) = (&self.ctx.a.faces()[i.index()], &self.ctx.b.faces()[j.index()]);
        opened((i, a.children(), a.radius), (j, b.children(), b.radius))
    }
}
