//! Pairs of nodes visited by a traversal of two trees, kept between queries. A *pair* in this module is
//! a node of A's tree and a node of B's.
//!
//! The front is the list of pairs at which the traversal stopped. Each culled pair has a deadline: the
//! value of a component of the accumulated motion at which it must be tested again. Later traversals test
//! only pairs whose deadline has passed and, once in a few traversals, the pairs of leaves that are not
//! culled. The whole list is scanned only once in a few traversals, for pairs that may be due in the next
//! ones. The first traversal starts from a front of one pair.
//!
//! # Source
//! BREP §4.5.1 (front tracking: one array; descend, and prune partially).
//!
//! # Deviations
//! BREP tests every pair of the front at every step, with its last separating axis first. In this
//! module, a pair that cannot have changed is not tested. The array is not kept sorted, and the pairs
//! above the front are kept as a tree. Pruning tries to replace two siblings by their parent, for each
//! of them in only one of [`PRUNE_EVERY`] traversals.

mod upcoming;

use crate::body::ids::NodePair;
use crate::body::index;
use crate::cull::motion::{AccumulatedMotion, Deadline, Margin};
use feeler_hierarchy::NodeId;
use upcoming::{Deadlines, PREFETCHED, UpcomingQueue};

/// Tests and data of pairs of nodes that a traversal uses.
pub(crate) trait Pairs {
    /// Data that is stored with each pair and passed to the tests of the pair in later traversals.
    type Note: Copy;

    /// Computes the data that is stored with a pair.
    fn note(&mut self, pair: NodePair) -> Self::Note;
    /// Index of the group to which pairs with this note belong; `None` without a group. One active pair
    /// represents all pairs of its group, so that the others need not be tested.
    fn group(&self, note: Self::Note) -> Option<u32>;
    /// Whether the pairs of this group, and the pairs below them, need not be tested in this traversal.
    fn resolved(&self, group: u32) -> bool;
    /// Tests a pair. `hint` is a value that the test may change; it is passed to the next test of the
    /// pair, and is [`NO_HINT`] before the first test.
    fn test(&mut self, pair: NodePair, note: Self::Note, hint: &mut u8) -> Verdict;
    /// Reads a word of each cache line of both nodes, which loads them into the cache. The returned
    /// value is meaningless.
    fn touch(&self, pair: NodePair) -> u64;
    /// Keeps a pair active, without a test, that was active in the last traversal. Returns `false` if it
    /// must be tested instead.
    fn keep(&mut self, pair: NodePair, note: Self::Note) -> bool;
    /// Tests a pair whose children are both culled. Returns its margin if it is culled itself, so that
    /// it can replace them; `None` otherwise.
    fn prune(&mut self, pair: NodePair) -> Option<Margin>;
    /// Children of a pair that does not consist of two leaves.
    fn children(&self, pair: NodePair) -> [NodePair; 2];
}

/// Initial hint of a pair that was not tested yet.
pub(crate) const NO_HINT: u8 = u8::MAX;

/// Result of the culling test of a pair of nodes.
pub(crate) enum Verdict {
    /// The pair cannot contain a minimum until B has moved by the margin.
    Culled(Margin),
    /// The pair consists of two leaves that may contain a minimum.
    Active,
    /// The pair may contain a minimum, and its children must be tested.
    Open,
}

/// A pair in the tree. Siblings are adjacent, the first one at an odd index; the root is at 0.
#[derive(Clone, Copy, Debug)]
struct PairNode<T> {
    nodes: NodePair,
    note: T,
    parent: u32,
    /// Index of the pair in the front; meaningless for an open pair.
    place: u32,
    state: State,
    hint: u8,
    /// Previous and next pair in the list of resolved pairs of a group ([`Deferred`]).
    list: [u32; 2],
}

/// State of a pair after its last test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The pair is open (its children are in the tree), or was not tested yet.
    Other,
    Active,
    Culled,
    /// The group of the pair was resolved, so that the pair need not be tested.
    Resolved,
}

/// Marks the absence of a pair: of a parent, of a neighbour in a list, or of a removed pair in the
/// front.
const GONE: u32 = u32::MAX;

/// Number of traversals after which an active pair is tested again. Most such pairs are still active,
/// and the others only cost a solve without result. A larger value solves more pairs, a smaller one
/// tests more.
const TEST_EVERY: u32 = 16;
/// Period, in traversals, of the attempts to replace a culled pair and its culled sibling by their
/// parent. They are rare because the parent fails the test more often than not. A larger value keeps
/// longer fronts, a smaller one tests more. Resolved pairs are replaced at once.
const PRUNE_EVERY: u32 = 8;

/// Resolved pairs of each group, as linked lists through the pairs, so that they need no memory of their
/// own. List 0 contains the pairs that are about to be tested, list `g + 1` those of group `g`.
#[derive(Clone, Debug, Default)]
struct Deferred {
    /// First pair of each list, or [`GONE`], and whether the group of the list is among `groups`.
    lists: Vec<(u32, bool)>,
    /// Indices of the groups whose lists may contain pairs.
    groups: Vec<u32>,
}

impl Deferred {
    /// Tag of a list number, which the first pair of a list stores instead of a predecessor.
    const LIST: u32 = 1 << 31;

    fn clear(&mut self) {
        self.lists.fill((GONE, false));
        self.groups.clear();
    }

    fn add<T>(&mut self, pairs: &mut [PairNode<T>], group: u32, k: u32) {
        let list = group + 1;
        if self.lists.len() <= list as usize {
            self.lists.resize(list as usize + 1, (GONE, false));
            self.groups.reserve(self.lists.capacity() - self.groups.len());
        }
        let (first, is_listed) = &mut self.lists[list as usize];
        if !std::mem::replace(is_listed, true) {
            self.groups.push(group);
        }
        if *first != GONE {
            pairs[*first as usize].list[0] = k;
        }
        pairs[k as usize].list = [Self::LIST | list, *first];
        *first = k;
    }

    /// Removes pair `k` from the list of resolved pairs that contains it.
    fn remove<T>(&mut self, pairs: &mut [PairNode<T>], k: u32) {
        let [before, behind] = pairs[k as usize].list;
        if before & Self::LIST == 0 {
            pairs[before as usize].list[1] = behind;
        } else {
            self.lists[(before & !Self::LIST) as usize].0 = behind;
        }
        if behind != GONE {
            pairs[behind as usize].list[0] = before;
        }
    }

    /// Moves all pairs of a group to the list of pairs that are about to be tested.
    fn take_group<T>(&mut self, pairs: &mut [PairNode<T>], group: u32) {
        let first = std::mem::replace(&mut self.lists[group as usize + 1].0, GONE);
        self.lists[0].0 = first;
        if first != GONE {
            pairs[first as usize].list[0] = Self::LIST;
        }
    }

    /// Removes the next pair from the list of pairs that are about to be tested, and returns its index;
    /// `None` if the list is empty.
    fn next_taken<T>(&mut self, pairs: &mut [PairNode<T>]) -> Option<u32> {
        let k = self.lists.first().map(|l| l.0).filter(|k| *k != GONE)?;
        self.remove(pairs, k);
        Some(k)
    }

    fn forget_empty_groups(&mut self) {
        let lists = &mut self.lists;
        self.groups.retain(|g| {
            let (first, is_listed) = &mut lists[*g as usize + 1];
            *is_listed = *first != GONE;
            *is_listed
        });
    }
}

/// Tree of the pairs that traversals have visited, and its front.
#[derive(Clone, Debug)]
pub(crate) struct PairTree<T> {
    pairs: Vec<PairNode<T>>,
    /// Indices in `pairs` of unused siblings: of each two, the index of the first one.
    free: Vec<u32>,
    /// Indices in `pairs` of the pairs at which the traversal stopped; removed ones are replaced by
    /// [`GONE`].
    front: Vec<u32>,
    /// Deadline of each pair of the front. Active pairs have none, because `active` lists them.
    due: Deadlines,
    upcoming: UpcomingQueue,
    /// Indices in the front of the pairs that this traversal tests.
    now: Vec<u32>,
    /// Indices in `pairs` of the active pairs, which consist of two leaves that may contain a minimum:
    /// first those that this traversal has found, then those of the previous traversal until they have
    /// been visited again.
    active: [Vec<u32>; 2],
    deferred: Deferred,
    gone: usize,
    /// Indices in the front of the second children of pairs that were opened, which are still to be
    /// tested.
    stack: Vec<u32>,
    walks: u32,
}

impl<T> Default for PairTree<T> {
    fn default() -> Self {
        Self {
            pairs: vec![],
            free: vec![],
            front: vec![],
            due: Deadlines::default(),
            upcoming: UpcomingQueue::default(),
            now: vec![],
            active: [vec![], vec![]],
            deferred: Deferred::default(),
            gone: 0,
            stack: vec![],
            walks: 0,
        }
    }
}

impl<T: Copy> PairTree<T> {
    /// Discards all pairs, so that the next traversal starts from the roots of both trees.
    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
        self.free.clear();
        self.front.clear();
        self.due.truncate(0);
        self.upcoming.clear();
        self.active.iter_mut().for_each(Vec::clear);
        self.deferred.clear();
        (self.gone, self.walks) = (0, 0);
    }

    /// Reserves memory in `list` for as many active pairs as there can be before the front grows. Which
    /// pairs count as active depends on earlier traversals, and another pass over the same poses may
    /// find more of them.
    pub(crate) fn reserve_active<P>(&self, list: &mut Vec<P>) {
        list.reserve(self.front.capacity().saturating_sub(list.len()));
    }

    /// Tests all pairs of the front that may have changed and all pairs that they open. `moved` is the
    /// accumulated motion.
    pub(crate) fn walk(&mut self, moved: &AccumulatedMotion, pairs: &mut impl Pairs<Note = T>) {
        if self.pairs.is_empty() {
            self.pairs.push(PairNode {
                nodes: <_>::default(),
                note: pairs.note(<_>::default()),
                parent: GONE,
                place: 0,
                state: State::Other,
                hint: NO_HINT,
                list: [GONE; 2],
            });
            self.push(0);
        }
        self.walks = self.walks.wrapping_add(1);
        self.visit_active(moved, pairs);
        let reached = moved.accumulated();
        // Opened pairs are appended and tested at once.
        let mut now = std::mem::take(&mut self.now);
        self.upcoming.renew(moved, &self.due);
        self.upcoming.take_due(reached, &mut now);
        for places in now.chunks(PREFETCHED) {
            self.touch(places, pairs);
            for &place in places {
                if self.front[place as usize] != GONE {
                    self.visit(place as usize, moved, pairs);
                }
            }
        }
        self.now = now;
        for i in 0..self.deferred.groups.len() {
            let group = self.deferred.groups[i];
            if !pairs.resolved(group) {
                self.test_deferred(group, moved, pairs);
            }
        }
        self.deferred.forget_empty_groups();
        // A further series of queries at the same poses may find a few more pairs, depending on earlier
        // queries.
        let more = self.front.len() / 4;
        self.front.reserve(more);
        self.due.accumulated.reserve(more);
        self.due.at.reserve(more);
        self.pairs.reserve(self.pairs.len() / 4);
        // All pairs of the front can be due in one traversal; this avoids a later allocation.
        for places in [&mut self.now, &mut self.active[1]] {
            places.clear();
            places.reserve(self.front.capacity());
        }
        let UpcomingQueue { soon, is_listed, .. } = &mut self.upcoming;
        soon.reserve(self.front.capacity() - soon.len());
        is_listed.reserve(self.front.capacity() - is_listed.len());
        if self.gone > self.front.len() / 8 {
            self.compact();
        }
    }

    /// Loads the data of the pairs at these indices of the front into the cache. The loads are
    /// independent, so the cache misses overlap instead of following each other.
    fn touch(&self, places: &[u32], pairs: &impl Pairs<Note = T>) {
        let read = places.iter().fold(0, |read, &place| {
            let k = self.front[place as usize];
            let of_pair = self.pairs.get(k as usize).map_or(0, |pair| pairs.touch(pair.nodes));
            read ^ of_pair ^ u64::from(self.due.accumulated[place as usize])
        });
        std::hint::black_box(read);
    }

    /// Appends a pair to the front; it is due in the current traversal.
    fn push(&mut self, pair: u32) {
        self.front.push(pair);
        self.due.push(Deadline::NOW);
        self.upcoming.is_listed.push(false);
    }

    /// Stores the deadline of the pair at an index of the front, given its margin from now on.
    fn set_margin(&mut self, place: usize, moved: &AccumulatedMotion, margin: Margin) {
        let due = moved.due(margin);
        self.due.set(place, due);
        self.upcoming.add(place, due);
    }

    /// Keeps the pairs active that were active in the previous traversal, except those that must be
    /// tested again. Active pairs are visited before all others, because the others of their groups then
    /// need no test.
    fn visit_active(&mut self, moved: &AccumulatedMotion, pairs: &mut impl Pairs<Note = T>) {
        self.active.swap(0, 1);
        for i in 0..self.active[1].len() {
            let k = self.active[1][i];
            let PairNode { nodes, note, place, .. } = self.pairs[k as usize];
            let is_tested = self.walks.wrapping_add(k).is_multiple_of(TEST_EVERY);
            if is_tested || pairs.group(note).is_some_and(|g| pairs.resolved(g)) || !pairs.keep(nodes, note) {
                self.visit(place as usize, moved, pairs);
            } else {
                self.active[0].push(k);
            }
        }
        self.active[1].clear();
    }

    /// Tests the deferred pairs of a group that is not resolved any more.
    fn test_deferred(&mut self, group: u32, moved: &AccumulatedMotion, pairs: &mut impl Pairs<Note = T>) {
        // Pairs that are deferred again go to the list of the group.
        self.deferred.take_group(&mut self.pairs, group);
        while let Some(k) = self.deferred.next_taken(&mut self.pairs) {
            self.visit(self.pairs[k as usize].place as usize, moved, pairs);
        }
    }

    /// Whether this traversal tries to replace the culled pair with this index (in `pairs`) and its
    /// sibling by their parent. It does for each pair once in [`PRUNE_EVERY`] traversals.
    fn is_pruned_in_this_walk(&self, pair: u32) -> bool {
        self.walks.wrapping_add(pair).is_multiple_of(PRUNE_EVERY)
    }

    /// Tests the pair at an index of the front and, if it is open, the pairs below it in depth-first
    /// order.
    fn visit(&mut self, place: usize, moved: &AccumulatedMotion, pairs: &mut impl Pairs<Note = T>) {
        let mut place = place;
        loop {
            let k = self.front[place];
            let note = self.pairs[k as usize].note;
            let group = pairs.group(note);
            let (state, margin) = if group.is_some_and(|g| pairs.resolved(g)) {
                (State::Resolved, Margin::ANY)
            } else {
                let pair = &mut self.pairs[k as usize];
                let nodes = pair.nodes;
                match pairs.test(nodes, note, &mut pair.hint) {
                    Verdict::Open => {
                        let children = pairs.children(nodes);
                        let notes = children.map(|c| pairs.note(c));
                        self.open(k, place, children, notes);
                        continue;
                    }
                    Verdict::Culled(margin) => (State::Culled, margin),
                    Verdict::Active => {
                        self.active[0].push(k);
                        // Active pairs have no deadline.
                        (State::Active, Margin::ANY)
                    }
                }
            };
            self.pairs[k as usize].state = state;
            let tries_pruning = match (state, group) {
                (State::Resolved, Some(group)) => {
                    self.deferred.add(&mut self.pairs, group, k);
                    true
                }
                _ => state == State::Culled && self.is_pruned_in_this_walk(k),
            };
            let margin = if tries_pruning { self.prune(place, (state, margin), pairs) } else { margin };
            self.set_margin(place, moved, margin);
            match self.stack.pop() {
                Some(next) => place = next as usize,
                None => return,
            }
        }
    }

    /// Replaces pair `k` in the front by its children. The first one takes its index, the second one is
    /// appended, and its index is pushed on the stack.
    fn open(&mut self, k: u32, place: usize, children: [NodePair; 2], notes: [T; 2]) {
        let places = [index(place), index(self.front.len())];
        let pair = |c: usize| PairNode {
            nodes: children[c],
            note: notes[c],
            parent: k,
            place: places[c],
            state: State::Other,
            hint: NO_HINT,
            list: [GONE; 2],
        };
        let first = if let Some(first) = self.free.pop() {
            self.pairs[first as usize] = pair(0);
            self.pairs[first as usize + 1] = pair(1);
            first
        } else {
            let first = index(self.pairs.len());
            self.pairs.extend([pair(0), pair(1)]);
            // All siblings can become unused; this avoids a later allocation.
            self.free.reserve(self.pairs.capacity() / 2 - self.free.len());
            first
        };
        self.pairs[k as usize].state = State::Other;
        self.front[place] = first;
        self.push(first + 1);
        self.stack.push(places[1]);
    }

    /// Replaces the pair at index `place` of the front and its sibling by their parent, repeatedly while
    /// both are culled or both are resolved. Returns the margin of the pair that is then at this index.
    fn prune(
        &mut self,
        place: usize,
        (state, mut margin): (State, Margin),
        pairs: &mut impl Pairs<Note = T>,
    ) -> Margin {
        loop {
            let k = self.front[place];
            let parent = self.pairs[k as usize].parent;
            if parent == GONE {
                return margin;
            }
            let sibling = if k % 2 == 1 { k + 1 } else { k - 1 };
            let PairNode { place: other, state: of_sibling, .. } = self.pairs[sibling as usize];
            if of_sibling != state {
                return margin;
            }
            let PairNode { nodes, note, .. } = self.pairs[parent as usize];
            margin = match state {
                State::Resolved => match pairs.group(note).filter(|g| pairs.resolved(*g)) {
                    Some(group) => {
                        // Both children belong to the same group as the parent.
                        self.deferred.remove(&mut self.pairs, k);
                        self.deferred.remove(&mut self.pairs, sibling);
                        self.deferred.add(&mut self.pairs, group, parent);
                        Margin::ANY
                    }
                    None => return margin,
                },
                State::Culled => match pairs.prune(nodes) {
                    Some(margin) => margin,
                    None => return margin,
                },
                State::Other | State::Active => return margin,
            };
            self.due.at[other as usize] = f64::INFINITY;
            self.front[other as usize] = GONE;
            self.gone += 1;
            self.free.push(k.min(sibling));
            let above = &mut self.pairs[parent as usize];
            (above.place, above.state) = (index(place), state);
            self.front[place] = parent;
        }
    }

    /// Removes from the front the entries of removed pairs ([`GONE`]).
    fn compact(&mut self) {
        let mut place = 0;
        for k in 0..self.front.len() {
            if self.front[k] != GONE {
                self.front[place] = self.front[k];
                self.due.set(place, self.due.get(k));
                place += 1;
            }
        }
        self.front.truncate(place);
        self.due.truncate(place);
        for (place, pair) in self.front.iter().enumerate() {
            self.pairs[*pair as usize].place = index(place);
        }
        self.gone = 0;
        self.upcoming.clear();
    }
}

/// A node that may be opened: its id, its children (`None` for a leaf) and its radius (mm).
pub(crate) type Opening = (NodeId, Option<[NodeId; 2]>, f64);

/// Children of a pair that is opened: the children of the larger node, each paired with the other node.
/// A leaf is not opened.
pub(crate) fn opened((i, a, r): Opening, (j, b, q): Opening) -> [NodePair; 2] {
    match (a, b) {
        (Some(children), other) if other.is_none() || r > q => children.map(|c| (c, j)),
        (_, Some(children)) => children.map(|c| (i, c)),
        (Some(children), None) => children.map(|c| (c, j)),
        (None, None) => unreachable!("a pair of leaves has no children"),
    }
}

#[cfg(test)]
mod tests;
