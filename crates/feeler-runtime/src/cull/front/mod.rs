//! Step (a) of BREP Figure 4.1: pairs of leaves that may contain a minimum.
//!
//! # Source
//! BREP §4.2.1 (Algorithms 8 and 9), §4.5.1 (front tracking, see [`pair_tree`](crate::cull::pair_tree)).
//!
//! # Deviations
//! Of two nodes, the one with the larger radius is opened, because flat boxes have no volume. Leaves of two
//! features are not tested with their polyhedral cones if the features are *solved as wholes*: one solve
//! finds the critical pairs of all their areas and costs as much as separating a few pairs of leaves.
//!
//! # Guarantees
//! The completeness of the pairs never depends on earlier queries: a pair of nodes that is not tested
//! again because its margin is not used up has no minimum at the pose of the query. The order of the
//! output is irrelevant, because the pairs are sorted before they are solved.

pub(crate) mod brute;

use crate::api::contact::Stats;
use crate::body::Body;
use crate::body::ids::{AreaPair, FeaturePair, NodePair};
use crate::body::side::Which;
use crate::body::tree::TreeNode;
use crate::cull::dilations::Dilations;
use crate::cull::motion::{AccumulatedMotion, Margin, Motion, MotionChannels};
use crate::cull::node_pair::CullContext;
use crate::cull::pair_tree::{NO_HINT, PairTree, Pairs, Verdict, opened};
use crate::cull::placed::{PlacedEnvelopes, PlacedTree};
use feeler_geom::Pose;
use std::collections::BTreeMap;

/// An area of A and an area of B that may contain a minimum.
pub(crate) type LeafPair = AreaPair;

/// Input of an update of the front.
pub(crate) struct Request<'a> {
    pub a: &'a Body,
    pub b: &'a Body,
    pub pose_ab: &'a Pose,
    /// Motion of B relative to A, accumulated over the queries of the pair of bodies.
    pub moved: &'a AccumulatedMotion,
    pub cull: &'a CullContext,
}

/// Pairs of nodes at which the last traversal of one pair of bodies stopped, kept between queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Front {
    tree: PairTree<u32>,
    placed: PlacedTree<TreeNode>,
    valid_for: Parameters,
    /// Pairs of features for which one solve covers all areas, with their states in this query.
    wholes: Wholes,
    envelopes: PlacedEnvelopes,
}

/// Parameters of culling other than the pose. A front is valid as long as they do not change.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parameters {
    /// Reach of the query, and largest distance beyond concave edges at which footpoints are accepted
    /// (mm). Before the first query they are NaN, which differs from every value.
    lengths: [f64; 2],
    dilations: Dilations,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { lengths: [f64::NAN; 2], dilations: Dilations::uniform(0.0) }
    }
}

/// Pairs of features for which one solve covers all areas, each with an index and a state.
#[derive(Clone, Debug, Default)]
struct Wholes {
    numbers: BTreeMap<FeaturePair, u32>,
    /// For each index, the number of the query that set the state, and the state.
    states: Vec<(u32, Whole)>,
    query: u32,
}

/// Number of pairs of features above which their indices are discarded together with the tree. A larger
/// value uses more memory; a smaller one assigns the indices again more often.
const MAX_KEPT_WHOLES: usize = 1 << 16;

/// Marks a pair of nodes that is not part of a pair of features for which one solve covers all areas.
const NO_WHOLE: u32 = u32::MAX;

/// State, within one query, of a pair of features for which one solve covers all areas.
#[derive(Clone, Copy, Debug)]
enum Whole {
    /// A pair of areas of the two features may contain a minimum, and was added to the output. One such
    /// pair is sufficient.
    Chosen,
    /// The polars of the two features contain no opposite directions until B has moved by the margin.
    Incompatible(Margin),
    /// The polars of the two features contain opposite directions, and no pair of their areas was added
    /// to the output yet.
    Open,
}

impl Wholes {
    /// Discards the states of the previous query.
    fn restart(&mut self) {
        if self.query == u32::MAX {
            self.query = 0;
            self.states.iter_mut().for_each(|f| f.0 = 0);
        }
        self.query += 1;
    }

    fn number(&mut self, features: FeaturePair) -> u32 {
        let next = crate::body::index(self.states.len());
        let number = *self.numbers.entry(features).or_insert(next);
        if number == next {
            self.states.push((0, Whole::Open));
        }
        number
    }

    fn get(&self, number: u32) -> Option<Whole> {
        let (query, whole) = *self.states.get(number as usize)?;
        (query == self.query).then_some(whole)
    }

    fn set(&mut self, number: u32, whole: Whole) {
        self.states[number as usize] = (self.query, whole);
    }
}

impl Front {
    /// Discards all pairs, so that the next update starts from the roots.
    pub(crate) fn clear(&mut self) {
        self.tree.clear();
        // Only the tree uses the indices. A moderate number of them is kept to avoid allocations.
        if self.wholes.states.len() > MAX_KEPT_WHOLES {
            self.wholes = Wholes::default();
        }
    }

    /// Writes to `out` the pairs of areas that may contain a minimum. These are all pairs of leaves that
    /// pass the culling tests, and some that passed them a few queries ago. For two features all of whose
    /// areas one solve covers, `out` contains at least one pair if any pair passes.
    pub(crate) fn update(&mut self, request: &Request<'_>, out: &mut Vec<LeafPair>, stats: &mut Stats) {
        let &Request { a, b, pose_ab, moved, cull } = request;
        out.clear();
        if a.tree().is_empty() || b.tree().is_empty() {
            return;
        }
        self.placed.restart(b.tree());
        self.envelopes.restart(b);
        let parameters = Parameters { lengths: [cull.reach, cull.beside()], dilations: *cull.dilations() };
        if self.valid_for != parameters {
            self.clear();
            self.valid_for = parameters;
        }
        self.wholes.restart();
        let Self { tree, placed, wholes, envelopes, .. } = self;
        let channels = MotionChannels::new(b, moved);
        tree.walk(
            moved,
            &mut Traversal { a, b, cull, channels, pose_ab, placed, wholes, envelopes, out, stats },
        );
        stats.leaf_pairs += out.len() as u64;
        tree.reserve_active(out);
    }
}

/// Traversal of one query.
struct Traversal<'a> {
    a: &'a Body,
    b: &'a Body,
    cull: &'a CullContext,
    channels: MotionChannels<'a>,
    pose_ab: &'a Pose,
    placed: &'a mut PlacedTree<TreeNode>,
    wholes: &'a mut Wholes,
    envelopes: &'a mut PlacedEnvelopes,
    out: &'a mut Vec<LeafPair>,
    stats: &'a mut Stats,
}

impl<'a> Pairs for Traversal<'a> {
    /// Index of the pair of features below two nodes if one solve covers all their areas, or [`NO_WHOLE`].
    type Note = u32;

    fn note(&mut self, (i, j): NodePair) -> u32 {
        let whole = self.a.tree()[i.index()].whole_with(&self.b.tree()[j.index()]);
        whole.map_or(NO_WHOLE, |features| self.wholes.number(features))
    }

    fn group(&self, note: u32) -> Option<u32> {
        (note != NO_WHOLE).then_some(note)
    }

    fn resolved(&self, group: u32) -> bool {
        self.cull.solves_whole_features() && matches!(self.wholes.get(group), Some(Whole::Chosen))
    }

    fn test(&mut self, pair: NodePair, note: u32, hint: &mut u8) -> Verdict {
        self.stats.bvtt_nodes += 1;
        if !self.cull.keeps_hints() {
            *hint = NO_HINT;
        }
        match self.cull_or_open(pair, note, hint) {
            Verdict::Culled(margin) => Verdict::Culled(self.kept(margin)),
            verdict => verdict,
        }
    }

    fn touch(&self, (i, j): NodePair) -> u64 {
        self.a.tree()[i.index()].touch() ^ self.b.tree()[j.index()].touch()
    }

    fn keep(&mut self, (i, j): NodePair, note: u32) -> bool {
        if !self.cull.keeps_deadlines() {
            return false;
        }
        let areas = self.a.tree()[i.index()].area().zip(self.b.tree()[j.index()].area());
        self.out.extend(areas);
        if note != NO_WHOLE && self.cull.solves_whole_features() {
            self.wholes.set(note, Whole::Chosen);
        }
        true
    }

    fn prune(&mut self, (i, j): NodePair) -> Option<Margin> {
        self.stats.bvtt_nodes += 1;
        let node_b = self.placed.get(self.b.tree(), &self.cull.pose, j);
        let margin = self.cull.nodes(&self.a.tree()[i.index()], node_b)?.by(node_b.region);
        Some(self.kept(margin))
    }

    fn children(&self, (i, j): NodePair) -> [NodePair; 2] {
        let (a, b) = (&self.a.tree()[i.index()], &self.b.tree()[j.index()]);
        opened((i, a.children(), a.obb.radius()), (j, b.children(), b.obb.radius()))
    }
}

impl<'a> Traversal<'a> {
    /// Returns the margin of a culled pair; a margin of 0 if pairs are tested in each query
    /// ([`Savings::deadlines`](crate::diagnostics::Savings::deadlines)).
    fn kept(&self, margin: Margin) -> Margin {
        if self.cull.keeps_deadlines() { margin } else { Margin { motion: Motion::ZERO, ..Margin::ANY } }
    }

    /// Applies the culling tests to a pair of nodes, cheapest first.
    fn cull_or_open(&mut self, pair: NodePair, note: u32, hint: &mut u8) -> Verdict {
        let (a, b, cull) = (self.a, self.b, self.cull);
        let whole = note != NO_WHOLE && cull.solves_whole_features();
        let node_a = &a.tree()[pair.0.index()];
        let node_b = &b.tree()[pair.1.index()];
        let incompatible = match self.wholes.get(note) {
            Some(Whole::Incompatible(margin)) => Some(margin),
            None if whole => {
                let feature =
                    |body: &'a Body, node: &TreeNode| node.whole().map(|f| &body.features()[f.index()]);
                let features = feature(a, node_a).zip(feature(b, node_b));
                let margin = features.and_then(|(of_a, of_b)| {
                    let motion = cull.zones((&of_a.zone, node_a), (&of_b.zone, node_b))?;
                    // The directions may rotate about their axes.
                    let by_a = self.channels.of_form(motion, Which::A, of_a, MotionChannels::WHOLE);
                    Some(motion.by(self.channels.of_form(motion, Which::B, of_b, by_a)))
                });
                self.wholes.set(note, margin.map_or(Whole::Open, Whole::Incompatible));
                margin
            }
            _ => None,
        };
        let unplaced = || {
            let facing = cull.facing(node_a, node_b, || cull.pose.rotation * node_b.cap.axis);
            Some(facing.or_else(|| cull.boxes_along(node_a, node_b, *hint))?.by(node_b.region))
        };
        if let Some(margin) = incompatible.or_else(unplaced) {
            return Verdict::Culled(margin);
        }
        let node_b = self.placed.get(b.tree(), &cull.pose, pair.1);
        let by_boxes = cull.boxes(node_a, node_b, hint).map(|motion| motion.by(node_b.region));
        let margin = by_boxes.or_else(|| {
            let feature = node_a.whole()?;
            let motion = cull.off_primitive(a.sphere_envelope(feature)?, (node_a, node_b), &node_b.obb)?;
            let feature = &a.features()[feature.index()];
            Some(motion.by(self.channels.of_form(motion, Which::A, feature, node_b.region)))
        });
        let margin = margin.or_else(|| {
            let feature = node_b.whole()?;
            let (p, off) = self.envelopes.get(b, self.pose_ab, feature)?;
            let motion = cull.off_primitive((p, *off), (node_a, node_b), &node_a.obb)?;
            let feature = &b.features()[feature.index()];
            Some(motion.by(self.channels.of_form(motion, Which::B, feature, node_b.region)))
        });
        if let Some(margin) = margin {
            return Verdict::Culled(margin);
        }
        let (Some(i), Some(j)) = (node_a.area(), node_b.area()) else { return Verdict::Open };
        if whole {
            // One pair of leaves is sufficient for the pair of features.
            self.wholes.set(note, Whole::Chosen);
        } else if let Some(margin) = cull.leaves((a, i), (b, j, node_b), hint) {
            return Verdict::Culled(margin.by(node_b.region));
        }
        self.out.push((i, j));
        Verdict::Active
    }
}
