//! The pairs of nodes that a walk down two trees met, kept from query to query.
//!
//! The front is the list of pairs below which nothing was opened. Each that was culled carries the summed motion up to which
//! it stays culled: the next walk passes over the list and tests only pairs whose time has come and the pairs of leaves that
//! are not culled. The first one starts from a front of one pair.
//!
//! # Source
//! BREP §4.5.1 (front tracking: one array; descend, and prune partially).
//!
//! # Deviations
//! The reference tests every pair of the front at every step, with its last separating axis first. Here a pair that cannot
//! have changed is not tested. The array is not kept sorted, the pairs above the front are kept as a tree: pruning
//! looks at two siblings, and at each only in one walk of [`PRUNE_EVERY`].

use super::motion::Motion;
use crate::body::index;

/// A pair of nodes.
type Nodes = (u32, u32);

/// What a walk asks about pairs of nodes.
pub(crate) trait Pairs {
    /// Whether what is at and below a pair needs no look in this walk: it gets one in the next.
    fn settled(&mut self, pair: Nodes) -> bool;
    /// What a pair is.
    fn test(&mut self, pair: Nodes) -> Verdict;
    /// For how long an open pair is culled, both of whose children are.
    fn prune(&mut self, pair: Nodes) -> Option<Motion>;
    /// The pairs below one that is not of two leaves.
    fn children(&self, pair: Nodes) -> [Nodes; 2];
}

/// Outcome of the test of a pair.
pub(crate) enum Verdict {
    /// Nothing here and below until B has moved this far.
    Culled(Motion),
    /// Two leaves that are to be looked at.
    Active,
    /// The children tell.
    Open,
}

/// A pair in the tree. Two siblings stand side by side, the first one at an odd index; the root is at 0.
#[derive(Clone, Copy, Debug)]
struct PairNode {
    nodes: Nodes,
    parent: u32,
    /// Its place in the front; of an open pair nothing that counts.
    place: u32,
    /// Whether it is in the front and culled.
    culled: bool,
}

/// A pair in the front.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// Summed motion up to which nothing changes here and below.
    expiry: Motion,
    /// Its index in the tree, or [`GONE`].
    pair: u32,
}

/// Marks an item that is no pair any more.
const GONE: u32 = u32::MAX;

/// Walks after which a pair that stays culled is tried to be pruned with its sibling: a test that fails more often than not.
const PRUNE_EVERY: u32 = 8;

/// The tree and its front.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairTree {
    pairs: Vec<PairNode>,
    /// First ones of unused siblings.
    free: Vec<u32>,
    front: Vec<Item>,
    gone: usize,
    /// Places of second siblings of pairs that were just opened.
    stack: Vec<u32>,
    walks: u32,
}

impl PairTree {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
        self.free.clear();
        self.front.clear();
        (self.gone, self.walks) = (0, 0);
    }

    /// Tests all pairs of the front that can have changed, and what they open: `moved` is the summed motion.
    pub(crate) fn walk(&mut self, moved: Motion, pairs: &mut impl Pairs) {
        if self.pairs.is_empty() {
            self.pairs.push(PairNode { nodes: (0, 0), parent: GONE, place: 0, culled: false });
            self.front.push(Item { expiry: Motion::NONE, pair: 0 });
        }
        self.walks = self.walks.wrapping_add(1);
        // What is opened goes behind and is looked at at once.
        for place in 0..self.front.len() {
            let item = &self.front[place];
            if !moved.is_within(item.expiry) && item.pair != GONE {
                self.look(place, moved, pairs);
            }
        }
        if self.gone > self.front.len() / 8 {
            self.close_up();
        }
    }

    /// Tests the pair at a place of the front and all that it opens, first children first.
    fn look(&mut self, place: usize, moved: Motion, pairs: &mut impl Pairs) {
        let mut place = place;
        loop {
            let k = self.front[place].pair;
            let nodes = self.pairs[k as usize].nodes;
            let verdict = if pairs.settled(nodes) { Verdict::Active } else { pairs.test(nodes) };
            match verdict {
                Verdict::Open => {
                    self.open(k, place, pairs.children(nodes));
                    continue;
                }
                Verdict::Culled(margin) => {
                    self.pairs[k as usize].culled = true;
                    self.front[place].expiry = moved.plus(margin);
                    if (self.walks.wrapping_add(k)).is_multiple_of(PRUNE_EVERY) {
                        self.prune(place, moved, pairs);
                    }
                }
                Verdict::Active => {
                    self.pairs[k as usize].culled = false;
                    self.front[place].expiry = Motion::NONE;
                }
            }
            match self.stack.pop() {
                Some(next) => place = next as usize,
                None => return,
            }
        }
    }

    /// Puts the children of pair `k` into the front: the first one in its place, the second one behind and on the stack.
    fn open(&mut self, k: u32, place: usize, children: [Nodes; 2]) {
        let places = [index(place), index(self.front.len())];
        let pair = |c: usize| PairNode { nodes: children[c], parent: k, place: places[c], culled: false };
        let first = if let Some(first) = self.free.pop() {
            self.pairs[first as usize] = pair(0);
            self.pairs[first as usize + 1] = pair(1);
            first
        } else {
            let first = index(self.pairs.len());
            self.pairs.extend([pair(0), pair(1)]);
            // All of them can become unused: no surprise then.
            self.free.reserve(self.pairs.capacity() / 2 - self.free.len());
            first
        };
        self.pairs[k as usize].culled = false;
        self.front[place] = Item { expiry: Motion::NONE, pair: first };
        self.front.push(Item { expiry: Motion::NONE, pair: first + 1 });
        self.stack.push(places[1]);
    }

    /// Replaces a culled pair and its sibling by the pair above, as far up as these are culled.
    fn prune(&mut self, place: usize, moved: Motion, pairs: &mut impl Pairs) {
        loop {
            let k = self.front[place].pair;
            let parent = self.pairs[k as usize].parent;
            if parent == GONE {
                return;
            }
            let sibling = if k % 2 == 1 { k + 1 } else { k - 1 };
            let PairNode { place: other, culled, .. } = self.pairs[sibling as usize];
            if !culled {
                return;
            }
            let Some(margin) = pairs.prune(self.pairs[parent as usize].nodes) else { return };
            self.front[other as usize] = Item { expiry: Motion::ANY, pair: GONE };
            self.gone += 1;
            self.free.push(k.min(sibling));
            let above = &mut self.pairs[parent as usize];
            (above.place, above.culled) = (index(place), true);
            self.front[place] = Item { expiry: moved.plus(margin), pair: parent };
        }
    }

    /// Removes what is gone from the front.
    fn close_up(&mut self) {
        self.front.retain(|i| i.pair != GONE);
        for (place, item) in self.front.iter().enumerate() {
            self.pairs[item.pair as usize].place = index(place);
        }
        self.gone = 0;
    }
}

/// The children of a pair: those of the larger node, each with the other. A node is given by its index, the first of its
/// children and its radius.
pub(crate) fn opened((i, a, r): (u32, Option<u32>, f64), (j, b, q): (u32, Option<u32>, f64)) -> [Nodes; 2] {
    match (a, b) {
        (Some(l), other) if other.is_none() || r > q => [(l, j), (l + 1, j)],
        (_, Some(l)) => [(i, l), (i, l + 1)],
        (Some(l), None) => [(l, j), (l + 1, j)],
        (None, None) => unreachable!("two leaves are not opened"),
    }
}
