//! Step (a) of BREP Figure 4.1: which pairs of leaves may hold a minimum.
//!
//! # Source
//! BREP §4.2.1 (Algorithms 8 and 9), §4.5.1 (front tracking, see [`pair_tree`](crate::cull::pair_tree)).
//!
//! # Deviations
//! Of two nodes the one with the larger radius is opened: flat boxes have no volume. Leaves of two features
//! that are solved as wholes are not asked about their polyhedral cones: one solve costs as much as telling a
//! few pairs of leaves apart.
//!
//! # Guarantees
//! Culling never depends on earlier queries in what it may lose: a pair that stays culled by its margin holds
//! no minimum at the pose of the query. The order of the output does not matter to what follows, which sorts
//! it.

pub(crate) mod brute;

use crate::api::contact::Stats;
use crate::body::Body;
use crate::body::ids::{AreaPair, FeaturePair, NodePair};
use crate::body::side::Which;
use crate::body::tree::TreeNode;
use crate::cull::dilations::Dilations;
use crate::cull::motion::{AccumulatedMotion, Margin, MotionChannels};
use crate::cull::node_pair::CullContext;
use crate::cull::pair_tree::{PairTree, Pairs, Verdict, opened};
use crate::cull::placed::{PlacedEnvelopes, PlacedTree};
use feeler_geom::Pose;
use std::collections::BTreeMap;

/// A pair of areas that may hold a minimum.
pub(crate) type LeafPair = AreaPair;

/// What a query asks of the front.
pub(crate) struct Request<'a> {
    pub a: &'a Body,
    pub b: &'a Body,
    pub pose_ab: &'a Pose,
    /// How far B has moved in all.
    pub moved: &'a AccumulatedMotion,
    pub cull: &'a CullContext,
}

/// The pairs of nodes of one pair of bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Front {
    tree: PairTree<u32>,
    placed: PlacedTree<TreeNode>,
    valid_for: Parameters,
    /// Pairs of features that are solved as wholes.
    wholes: Wholes,
    envelopes: PlacedEnvelopes,
}

/// Parameters of culling beside the pose.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parameters {
    /// Reach and distance beside faces (mm); NaN, which equals nothing, before the first query.
    lengths: [f64; 2],
    dilations: Dilations,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { lengths: [f64::NAN; 2], dilations: Dilations::uniform(0.0) }
    }
}

/// Pairs of features that are solved as wholes, by numbers.
#[derive(Clone, Debug, Default)]
struct Wholes {
    numbers: BTreeMap<FeaturePair, u32>,
    /// The query in which it was found, and what.
    found: Vec<(u32, Whole)>,
    query: u32,
}

/// Pairs of features above which their numbers are forgotten with the tree.
const MANY_WHOLES: usize = 1 << 16;

/// No pair of features that is solved as a whole.
const NONE: u32 = u32::MAX;

/// What a query knows of two features that are solved as a whole.
#[derive(Clone, Copy, Debug)]
enum Whole {
    /// A pair of their areas may hold a minimum: one is enough.
    Chosen,
    /// Their polars hold no opposite directions until B has moved this far.
    Incompatible(Margin),
    /// Neither.
    Open,
}

impl Wholes {
    /// Forgets what was found.
    fn restart(&mut self) {
        if self.query == u32::MAX {
            self.query = 0;
            self.found.iter_mut().for_each(|f| f.0 = 0);
        }
        self.query += 1;
    }

    fn number(&mut self, features: FeaturePair) -> u32 {
        let next = crate::body::index(self.found.len());
        let number = *self.numbers.entry(features).or_insert(next);
        if number == next {
            self.found.push((0, Whole::Open));
        }
        number
    }

    fn get(&self, number: u32) -> Option<Whole> {
        let (query, whole) = *self.found.get(number as usize)?;
        (query == self.query).then_some(whole)
    }

    fn set(&mut self, number: u32, whole: Whole) {
        self.found[number as usize] = (self.query, whole);
    }
}

impl Front {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.tree.clear();
        // Only the tree knows their numbers. A few are kept, with their memory.
        if self.wholes.found.len() > MANY_WHOLES {
            self.wholes = Wholes::default();
        }
    }

    /// All pairs of leaves that pass the culling tests, and some that did a few queries ago, into `out`; of
    /// two features that are solved as wholes at least one pair.
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
        tree.walk(moved, &mut Walk { a, b, cull, channels, pose_ab, placed, wholes, envelopes, out, stats });
        stats.leaf_pairs += out.len() as u64;
        tree.reserve_active(out);
    }
}

/// One query's walk.
struct Walk<'a> {
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

impl<'a> Pairs for Walk<'a> {
    /// Number of the features below that are solved as wholes, or [`NONE`].
    type Note = u32;

    fn note(&mut self, (i, j): NodePair) -> u32 {
        let whole = self.a.tree()[i.index()].whole_with(&self.b.tree()[j.index()]);
        whole.map_or(NONE, |features| self.wholes.number(features))
    }

    fn group(&self, note: u32) -> Option<u32> {
        (note != NONE).then_some(note)
    }

    fn resolved(&self, group: u32) -> bool {
        self.cull.solves_whole_features() && matches!(self.wholes.get(group), Some(Whole::Chosen))
    }

    fn test(&mut self, pair: NodePair, note: u32, hint: &mut u8) -> Verdict {
        self.stats.bvtt_nodes += 1;
        let (a, b, cull) = (self.a, self.b, self.cull);
        let whole = note != NONE && cull.solves_whole_features();
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
                    // About their axes zones may turn.
                    let by_a = self.channels.of_form(motion, Which::A, of_a, MotionChannels::WHOLE);
                    Some(motion.by(self.channels.of_form(motion, Which::B, of_b, by_a)))
                });
                self.wholes.set(note, margin.map_or(Whole::Open, Whole::Incompatible));
                margin
            }
            _ => None,
        };
        let at_once = || {
            let facing = cull.facing(node_a, node_b, || cull.pose.rotation * node_b.cap.axis);
            Some(facing.or_else(|| cull.boxes_along(node_a, node_b, *hint))?.by(node_b.region))
        };
        if let Some(margin) = incompatible.or_else(at_once) {
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
            // One pair of leaves is enough: see above.
            self.wholes.set(note, Whole::Chosen);
        } else if let Some(margin) = cull.leaves((a, i), (b, j, node_b), hint) {
            return Verdict::Culled(margin.by(node_b.region));
        }
        self.out.push((i, j));
        Verdict::Active
    }

    fn touch(&self, (i, j): NodePair) -> u64 {
        self.a.tree()[i.index()].touch() ^ self.b.tree()[j.index()].touch()
    }

    fn keep(&mut self, (i, j): NodePair, note: u32) -> bool {
        let areas = self.a.tree()[i.index()].area().zip(self.b.tree()[j.index()].area());
        self.out.extend(areas);
        if note != NONE && self.cull.solves_whole_features() {
            self.wholes.set(note, Whole::Chosen);
        }
        true
    }

    fn prune(&mut self, (i, j): NodePair) -> Option<Margin> {
        self.stats.bvtt_nodes += 1;
        let node_b = self.placed.get(self.b.tree(), &self.cull.pose, j);
        Some(self.cull.nodes(&self.a.tree()[i.index()], node_b)?.by(node_b.region))
    }

    fn children(&self, (i, j): NodePair) -> [NodePair; 2] {
        let (a, b) = (&self.a.tree()[i.index()], &self.b.tree()[j.index()]);
        opened((i, a.children(), a.obb.radius()), (j, b.children(), b.obb.radius()))
    }
}
