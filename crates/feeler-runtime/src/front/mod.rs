//! Step (a) of BREP Figure 4.1: which pairs of leaves may hold a minimum.
//!
//! The pairs of nodes that a traversal met are kept as a tree. Each pair that was culled carries the summed motion up
//! to which it stays culled, each inner one the smallest of those below: the next query walks only to pairs whose time has
//! come and to the pairs of leaves that are not culled. A cold query is the same walk from a tree of one pair.
//!
//! # Source
//! BREP §4.2.1 (Algorithms 8 and 9), §4.5.1 (front tracking: descend, and prune partially).
//!
//! # Deviations
//! The reference keeps the front as one sorted array and tests every pair of it at every step, with its last separating
//! axis first. Here a pair that cannot have changed is not looked at. Of two nodes the one with the larger radius is
//! opened: flat boxes have no volume.
//!
//! # Guarantees
//! Culling never depends on earlier queries in what it may lose: a pair that stays culled by its margin holds no minimum at the
//! pose of the query. The order of the output does not matter to what follows, which sorts it.

pub(crate) mod brute;
pub(crate) mod cull;
pub(crate) mod motion;

use crate::tree::{PairTable, PlacedRounds, PlacedTree, TreeNode};
use crate::{Body, Stats};
use cull::CullContext;
use feeler_geom::Pose;
use motion::Odometer;

/// A pair of areas that may hold a minimum.
pub(crate) type LeafPair = (u32, u32);

/// A pair of nodes.
#[derive(Clone, Copy, Debug)]
struct PairNode {
    a: u32,
    b: u32,
    state: State,
    /// Summed motion (mm) up to which nothing changes here and below.
    expiry: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not tested yet.
    New,
    /// Holds no minimum.
    Culled,
    /// Two leaves that may hold a minimum.
    Active,
    /// Opened: the index of the first of two adjacent children.
    Open(u32),
}

/// The tree of pairs of one pair of bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Front {
    pairs: Vec<PairNode>,
    /// Unused pairs of adjacent entries.
    free: Vec<u32>,
    placed: PlacedTree,
    odometer: Odometer,
    /// What culling depends on beside the pose: reach, angle.
    valid_for: Option<[f64; 2]>,
    stack: Vec<Visit>,
    /// Pairs of features that closed forms are to solve as a whole: one of their pairs of areas is enough.
    chosen: PairTable<()>,
    rounds: PlacedRounds,
}

#[derive(Clone, Copy, Debug)]
enum Visit {
    Down(u32),
    /// Again, after everything below, when the pair was just opened.
    Opened(u32),
    /// Again, after everything below, when the pair was open before.
    Up(u32),
}

/// Motion in one step, relative to the size of B, beyond which starting again at the roots is quicker.
const BIG_JUMP: f64 = 0.1;

impl Front {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
        self.free.clear();
        self.valid_for = None;
    }

    /// All pairs of leaves that pass the culling tests at `pose_ab`, into `out`; of two features that closed forms solve as
    /// a whole (canonical ones and such as follow them) at least one pair.
    pub(crate) fn update(
        &mut self,
        (a, b): (&Body, &Body),
        pose_ab: &Pose,
        (cull, alpha): (&CullContext, f64),
        out: &mut Vec<LeafPair>,
        stats: &mut Stats,
    ) {
        out.clear();
        if a.tree().is_empty() || b.tree().is_empty() {
            return;
        }
        self.placed.restart(b.tree());
        self.chosen.restart();
        self.rounds.restart(b);
        let key = Some([cull.reach, alpha]);
        if self.valid_for != key {
            self.clear();
            self.valid_for = key;
            self.odometer = Odometer::new(b, cull.arm);
        }
        let step = self.odometer.advance(pose_ab);
        if step > BIG_JUMP * b.size() {
            self.pairs.clear();
            self.free.clear();
            // Long ways would swallow the small steps after them.
            self.odometer.restart();
        }
        if self.pairs.is_empty() {
            self.pairs.push(PairNode { a: 0, b: 0, state: State::New, expiry: f64::NEG_INFINITY });
        }
        self.stack.clear();
        self.stack.push(Visit::Down(0));
        while let Some(visit) = self.stack.pop() {
            match visit {
                Visit::Down(k) => self.down(k, (a, b), (cull, pose_ab), out, stats),
                Visit::Opened(k) => self.pairs[k as usize].expiry = self.expiry_below(k),
                Visit::Up(k) => self.up(k, (a, b), cull, stats),
            }
        }
        stats.leaf_pairs += out.len() as u64;
    }

    fn down(
        &mut self,
        k: u32,
        (a, b): (&Body, &Body),
        (cull, pose_ab): (&CullContext, &Pose),
        out: &mut Vec<LeafPair>,
        stats: &mut Stats,
    ) {
        let pair = self.pairs[k as usize];
        if self.odometer.total() < pair.expiry {
            return;
        }
        let node_a = &a.tree()[pair.a as usize];
        let of_b = b.tree()[pair.b as usize].whole();
        let whole = if cull.solves_whole_features() { node_a.whole().zip(of_b) } else { None };
        if whole.is_some_and(|w| self.chosen.get(w).is_some()) {
            // What is below needs no look now, and has to be looked at the next time.
            let state = if let State::Open(_) = pair.state { pair.state } else { State::Active };
            self.pairs[k as usize] = PairNode { state, expiry: f64::NEG_INFINITY, ..pair };
            return;
        }
        if let State::Open(first) = pair.state {
            self.stack.extend([Visit::Up(k), Visit::Down(first + 1), Visit::Down(first)]);
            return;
        }
        stats.bvtt_nodes += 1;
        let node_b = self.placed.get(b.tree(), &cull.pose, pair.b);
        let mut margin = cull.nodes(node_a, node_b);
        if margin.is_none()
            && let Some((p, off)) = node_a.whole().and_then(|f| a.round(f))
        {
            margin = cull.off_primitive((p, off), (node_a, node_b), &node_b.obb);
        }
        if margin.is_none()
            && let Some((p, off)) = of_b.and_then(|f| self.rounds.get(b, pose_ab, f))
        {
            margin = cull.off_primitive((p, *off), (node_a, node_b), &node_a.obb);
        }
        if margin.is_none()
            && let (Some(i), Some(j)) = (node_a.area(), node_b.area())
        {
            margin = cull.leaves(node_a, node_b, &a.area(i).cone, &b.area(j).cone);
            if margin.is_none() {
                out.push((i, j));
                if let Some(w) = whole {
                    self.chosen.set(w, ());
                }
                self.pairs[k as usize] = PairNode { state: State::Active, expiry: f64::NEG_INFINITY, ..pair };
                return;
            }
        }
        if let Some(margin) = margin {
            self.pairs[k as usize] =
                PairNode { state: State::Culled, expiry: self.odometer.total() + margin, ..pair };
            return;
        }
        let children = opened((pair.a, node_a), (pair.b, node_b));
        let first = self.allocate(children);
        self.pairs[k as usize] = PairNode { state: State::Open(first), expiry: f64::NEG_INFINITY, ..pair };
        self.stack.extend([Visit::Opened(k), Visit::Down(first + 1), Visit::Down(first)]);
    }

    /// Prunes where both children are culled and so is the pair.
    fn up(&mut self, k: u32, (a, b): (&Body, &Body), cull: &CullContext, stats: &mut Stats) {
        let pair = self.pairs[k as usize];
        let State::Open(first) = pair.state else { return };
        let mut next = PairNode { expiry: self.expiry_below(k), ..pair };
        if [first, first + 1].iter().all(|&c| self.pairs[c as usize].state == State::Culled) {
            stats.bvtt_nodes += 1;
            let node_b = self.placed.get(b.tree(), &cull.pose, pair.b);
            if let Some(margin) = cull.nodes(&a.tree()[pair.a as usize], node_b) {
                self.free.push(first);
                next = PairNode { state: State::Culled, expiry: self.odometer.total() + margin, ..pair };
            }
        }
        self.pairs[k as usize] = next;
    }

    fn expiry_below(&self, k: u32) -> f64 {
        match self.pairs[k as usize].state {
            State::Open(first) => {
                self.pairs[first as usize].expiry.min(self.pairs[first as usize + 1].expiry)
            }
            _ => self.pairs[k as usize].expiry,
        }
    }

    fn allocate(&mut self, children: [(u32, u32); 2]) -> u32 {
        let nodes = children.map(|(a, b)| PairNode { a, b, state: State::New, expiry: f64::NEG_INFINITY });
        if let Some(first) = self.free.pop() {
            self.pairs[first as usize..first as usize + 2].copy_from_slice(&nodes);
            return first;
        }
        let first = crate::body::index(self.pairs.len());
        self.pairs.extend(nodes);
        // All of them can become unused: no surprise then.
        self.free.reserve(self.pairs.capacity() / 2 - self.free.len());
        first
    }
}

/// The children of a pair: those of the larger node, each with the other.
fn opened((i, a): (u32, &TreeNode), (j, b): (u32, &TreeNode)) -> [(u32, u32); 2] {
    match (a.children(), b.children()) {
        (Some(l), other) if other.is_none() || a.radius > b.radius => [(l, j), (l + 1, j)],
        (_, Some(l)) => [(i, l), (i, l + 1)],
        (Some(l), None) => [(l, j), (l + 1, j)],
        (None, None) => unreachable!("two leaves are not opened"),
    }
}
