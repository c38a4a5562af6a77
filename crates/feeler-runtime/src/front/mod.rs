//! Step (a) of BREP Figure 4.1: which pairs of leaves may hold a minimum.
//!
//! # Source
//! BREP §4.2.1 (Algorithms 8 and 9), §4.5.1 (front tracking, see [`pair_tree`]).
//!
//! # Deviations
//! Of two nodes the one with the larger radius is opened: flat boxes have no volume.
//!
//! # Guarantees
//! Culling never depends on earlier queries in what it may lose: a pair that stays culled by its margin holds no minimum at the
//! pose of the query. The order of the output does not matter to what follows, which sorts it.

pub(crate) mod brute;
pub(crate) mod cull;
pub(crate) mod motion;
pub(crate) mod pair_tree;

use crate::body::solved_whole;
use crate::tree::{PairTable, PlacedRounds, PlacedTree, TreeNode};
use crate::{Body, Stats};
use cull::CullContext;
use feeler_geom::Pose;
use motion::Motion;
use pair_tree::{PairTree, Pairs, Verdict, opened};

/// A pair of areas that may hold a minimum.
pub(crate) type LeafPair = (u32, u32);

/// The pairs of nodes of one pair of bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Front {
    tree: PairTree,
    placed: PlacedTree<TreeNode>,
    /// What culling depends on beside the pose: reach, angle.
    valid_for: Option<[f64; 2]>,
    /// Pairs of features that closed forms tell about as a whole.
    wholes: PairTable<Whole>,
    rounds: PlacedRounds,
}

/// What a query knows of two features that closed forms tell about as a whole.
#[derive(Clone, Copy, Debug, Default)]
enum Whole {
    /// A pair of their areas may hold a minimum: one is enough.
    Chosen,
    /// Their polars hold no opposite directions until B has moved this far.
    Averse(Motion),
    /// Neither.
    #[default]
    Open,
}

impl Front {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.tree.clear();
    }

    /// All pairs of leaves that pass the culling tests at `pose_ab`, into `out`; of two features that are solved as wholes at
    /// least one pair. `moved` is how far B has moved in all.
    pub(crate) fn update(
        &mut self,
        (a, b): (&Body, &Body),
        (pose_ab, moved): (&Pose, Motion),
        (cull, alpha): (&CullContext, f64),
        out: &mut Vec<LeafPair>,
        stats: &mut Stats,
    ) {
        out.clear();
        if a.tree().is_empty() || b.tree().is_empty() {
            return;
        }
        self.placed.restart(b.tree());
        self.wholes.restart();
        self.rounds.restart(b);
        let key = Some([cull.reach, alpha]);
        if self.valid_for != key {
            self.tree.clear();
            self.valid_for = key;
        }
        let Self { tree, placed, wholes, rounds, .. } = self;
        tree.walk(moved, &mut Walk { a, b, cull, pose_ab, placed, wholes, rounds, out, stats });
        stats.leaf_pairs += out.len() as u64;
    }
}

/// One query's walk.
struct Walk<'a> {
    a: &'a Body,
    b: &'a Body,
    cull: &'a CullContext,
    pose_ab: &'a Pose,
    placed: &'a mut PlacedTree<TreeNode>,
    wholes: &'a mut PairTable<Whole>,
    rounds: &'a mut PlacedRounds,
    out: &'a mut Vec<LeafPair>,
    stats: &'a mut Stats,
}

impl Walk<'_> {
    /// The features below two nodes that are solved as wholes.
    fn whole(&self, (i, j): (u32, u32)) -> Option<(u32, u32)> {
        let (a, b) = (self.a, self.b);
        let whole = a.tree()[i as usize].whole().zip(b.tree()[j as usize].whole());
        whole.filter(|w| {
            self.cull.solves_whole_features()
                && solved_whole(&a.features()[w.0 as usize], &b.features()[w.1 as usize])
        })
    }
}

impl Pairs for Walk<'_> {
    fn settled(&mut self, pair: (u32, u32)) -> bool {
        self.whole(pair).is_some_and(|w| matches!(self.wholes.get(w), Some(Whole::Chosen)))
    }

    fn test(&mut self, pair: (u32, u32)) -> Verdict {
        self.stats.bvtt_nodes += 1;
        let (a, b, cull) = (self.a, self.b, self.cull);
        let whole = self.whole(pair);
        let node_a = &a.tree()[pair.0 as usize];
        let node_b = self.placed.get(b.tree(), &cull.pose, pair.1);
        let averse = match whole.map(|w| (w, self.wholes.get(w))) {
            Some((_, Some(Whole::Averse(margin)))) => Some(margin),
            Some((w, None)) => {
                let zone = |body: &Body, f: u32| body.features()[f as usize].zone;
                let margin = cull.zones((&zone(a, w.0), node_a), (&zone(b, w.1), node_b));
                self.wholes.set(w, margin.map_or(Whole::Open, Whole::Averse));
                margin
            }
            _ => None,
        };
        let margin = averse.or_else(|| cull.nodes(node_a, node_b)).or_else(|| {
            let (p, off) = node_a.whole().and_then(|f| a.round(f))?;
            cull.off_primitive((p, off), (node_a, node_b), &node_b.obb)
        });
        let margin = margin.or_else(|| {
            let (p, off) = node_b.whole().and_then(|f| self.rounds.get(b, self.pose_ab, f))?;
            cull.off_primitive((p, *off), (node_a, node_b), &node_a.obb)
        });
        if let Some(margin) = margin {
            return Verdict::Culled(margin);
        }
        let (Some(i), Some(j)) = (node_a.area(), node_b.area()) else { return Verdict::Open };
        if let Some(margin) = cull.leaves(node_a, node_b, &a.area(i).cone, &b.area(j).cone) {
            return Verdict::Culled(margin);
        }
        self.out.push((i, j));
        if let Some(w) = whole {
            self.wholes.set(w, Whole::Chosen);
        }
        Verdict::Active
    }

    fn prune(&mut self, (i, j): (u32, u32)) -> Option<Motion> {
        self.stats.bvtt_nodes += 1;
        let node_b = self.placed.get(self.b.tree(), &self.cull.pose, j);
        self.cull.nodes(&self.a.tree()[i as usize], node_b)
    }

    fn children(&self, (i, j): (u32, u32)) -> [(u32, u32); 2] {
        let (a, b) = (&self.a.tree()[i as usize], &self.b.tree()[j as usize]);
        opened((i, a.children(), a.radius), (j, b.children(), b.radius))
    }
}
