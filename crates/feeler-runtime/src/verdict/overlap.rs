//! Pairs of face areas whose crossing is not excluded by boxes, surfaces and lower bounds of their
//! distance.
//!
//! The bounds are those of [`SeparationCache`].

use super::closed_form;
use super::separation::{SeparationCache, limits};
use crate::body::Body;
use crate::body::face_tree::FaceNode;
use crate::body::ids::{AreaPair, NodePair};
use crate::body::side::Which;
use crate::cull::motion::{AccumulatedMotion, Margin, Motion, MotionChannels};
use crate::cull::pair_tree::{PairTree, Pairs, Verdict, opened};
use crate::cull::placed::{PlacedEnvelopes, PlacedTree};
use crate::query::Context;
use feeler_geom::Obb;
use feeler_geom::obb::{PoseMatrix, SAT_AXES, gap_along, gap_in_frame};
use feeler_geom::skeleton::{Primitive, range_over_box};
use feeler_hierarchy::{FaceId, Feature};

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
