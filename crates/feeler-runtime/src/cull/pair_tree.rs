//! The pairs of nodes that a walk down two trees met, kept from query to query.
//!
//! The front is the list of pairs below which nothing was opened. Each that was culled carries what a
//! component tells when it may be culled no longer: the next walks test only pairs whose time has come and,
//! once in a few walks, the pairs of leaves that are not culled. The list as a whole is passed over once in a
//! few walks, for what may be due in the next ones. The first walk starts from a front of one pair.
//!
//! # Source
//! BREP §4.5.1 (front tracking: one array; descend, and prune partially).
//!
//! # Deviations
//! The reference tests every pair of the front at every step, with its last separating axis first. Here a
//! pair that cannot have changed is not tested. The array is not kept sorted, the pairs above the front are
//! kept as a tree: pruning looks at two siblings, and at each only in one walk of [`PRUNE_EVERY`].

mod upcoming;

use crate::body::ids::NodePair;
use crate::body::index;
use crate::cull::motion::{AccumulatedMotion, Deadline, Margin};
use feeler_hierarchy::NodeId;
use upcoming::{Deadlines, TOUCHED, UpcomingQueue};

/// What a walk asks about pairs of nodes.
pub(crate) trait Pairs {
    /// Something about a pair that is kept for later walks.
    type Note: Copy;

    /// Makes the note of a pair.
    fn note(&mut self, pair: NodePair) -> Self::Note;
    /// Number of the group of pairs with this note, of which one active pair stands for all; `None` without a
    /// group.
    fn group(&self, note: Self::Note) -> Option<u32>;
    /// Whether what is at and below a pair of this group needs no look in this walk.
    fn resolved(&self, group: u32) -> bool;
    /// What a pair is. `hint` is what the last test of the pair has left there, [`NO_HINT`] before the first
    /// one.
    fn test(&mut self, pair: NodePair, note: Self::Note, hint: &mut u8) -> Verdict;
    /// Reads something of each line of memory that both nodes are in; what it tells is of no use.
    fn touch(&self, pair: NodePair) -> u64;
    /// Takes a pair that was active in the last walk for active again, unless it is to be tested.
    fn keep(&mut self, pair: NodePair, note: Self::Note) -> bool;
    /// For how long an open pair is culled, both of whose children are.
    fn prune(&mut self, pair: NodePair) -> Option<Margin>;
    /// The pairs below one that is not of two leaves.
    fn children(&self, pair: NodePair) -> [NodePair; 2];
}

/// No last test.
pub(crate) const NO_HINT: u8 = u8::MAX;

/// Outcome of the test of a pair.
pub(crate) enum Verdict {
    /// Nothing here and below until B has moved this far.
    Culled(Margin),
    /// Two leaves that are to be looked at.
    Active,
    /// The children tell.
    Open,
}

/// A pair in the tree. Two siblings stand side by side, the first one at an odd index; the root is at 0.
#[derive(Clone, Copy, Debug)]
struct PairNode<T> {
    nodes: NodePair,
    note: T,
    parent: u32,
    /// Its place in the front; of an open pair nothing that counts.
    place: u32,
    state: State,
    hint: u8,
    /// Before and behind it in a list of resolved pairs: see [`Deferred`].
    list: [u32; 2],
}

/// What a pair was when it was looked at last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Opened, or not looked at yet.
    Other,
    Active,
    Culled,
    /// In no need of a look.
    Resolved,
}

/// No pair; in the front, one that is there no more.
const GONE: u32 = u32::MAX;

/// Walks after which a pair that was active is tested again: most are still active, and those that are not do
/// no harm.
const TEST_EVERY: u32 = 16;
/// Walks after which a pair that stays culled is tried to be pruned with its sibling: a test that fails more
/// often than not. (Those that are resolved are tried at once.)
const PRUNE_EVERY: u32 = 8;

/// The resolved pairs of each group, as lists through the pairs, which cost no memory of their own. List 0 is
/// that of pairs which are about to be looked at, list `g + 1` that of group `g`.
#[derive(Clone, Debug, Default)]
struct Deferred {
    /// Of each list the first pair, or [`GONE`], and whether it is among `groups`.
    lists: Vec<(u32, bool)>,
    /// Groups whose lists may have pairs.
    groups: Vec<u32>,
}

impl Deferred {
    /// Tags the number of a list, which stands for what is before its first pair.
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

    /// Takes a pair out of the list that it is in.
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

    /// Makes all pairs of a group those that are about to be looked at.
    fn take_out<T>(&mut self, pairs: &mut [PairNode<T>], group: u32) {
        let first = std::mem::replace(&mut self.lists[group as usize + 1].0, GONE);
        self.lists[0].0 = first;
        if first != GONE {
            pairs[first as usize].list[0] = Self::LIST;
        }
    }

    /// The next pair to be looked at, taken out of its list.
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

/// The tree and its front.
#[derive(Clone, Debug)]
pub(crate) struct PairTree<T> {
    pairs: Vec<PairNode<T>>,
    /// First ones of unused siblings.
    free: Vec<u32>,
    /// Pairs below which nothing was opened, and [`GONE`] ones.
    front: Vec<u32>,
    /// When each of them is to be looked at again; active ones have a list of their own.
    due: Deadlines,
    upcoming: UpcomingQueue,
    /// Places that a walk looks at.
    now: Vec<u32>,
    /// The active pairs, and those of the last walk.
    active: [Vec<u32>; 2],
    deferred: Deferred,
    gone: usize,
    /// Places of second siblings of pairs that were just opened.
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
    /// Forgets everything.
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

    /// Makes room for as many pairs of leaves as there can be before the front grows: which ones are taken
    /// for active depends on earlier walks, and another pass over the same poses may meet more of them.
    pub(crate) fn reserve_active<P>(&self, list: &mut Vec<P>) {
        list.reserve(self.front.capacity().saturating_sub(list.len()));
    }

    /// Tests all pairs of the front that can have changed, and what they open: `moved` is the summed motion.
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
        self.look_at_active(moved, pairs);
        let reached = moved.accumulated();
        // What is opened goes behind and is looked at at once.
        let mut now = std::mem::take(&mut self.now);
        self.upcoming.renew(moved, &self.due);
        self.upcoming.take_due(reached, &mut now);
        for places in now.chunks(TOUCHED) {
            self.touch(places, pairs);
            for &place in places {
                if self.front[place as usize] != GONE {
                    self.look(place as usize, moved, pairs);
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
        // Another pass over the same poses may meet a few more, by what was known before.
        let more = self.front.len() / 4;
        self.front.reserve(more);
        self.due.accumulated.reserve(more);
        self.due.at.reserve(more);
        self.pairs.reserve(self.pairs.len() / 4);
        // All of them can be due at once: no surprise then.
        for places in [&mut self.now, &mut self.active[1]] {
            places.clear();
            places.reserve(self.front.capacity());
        }
        let UpcomingQueue { soon, is_listed, .. } = &mut self.upcoming;
        soon.reserve(self.front.capacity() - soon.len());
        is_listed.reserve(self.front.capacity() - is_listed.len());
        if self.gone > self.front.len() / 8 {
            self.close_up();
        }
    }

    /// Reads something of what will be read at these places, side by side: far apart in memory as it is, each
    /// would be waited for.
    fn touch(&self, places: &[u32], pairs: &impl Pairs<Note = T>) {
        let read = places.iter().fold(0, |read, &place| {
            let k = self.front[place as usize];
            let of_pair = self.pairs.get(k as usize).map_or(0, |pair| pairs.touch(pair.nodes));
            read ^ of_pair ^ u64::from(self.due.accumulated[place as usize])
        });
        std::hint::black_box(read);
    }

    /// Puts a pair behind the others that is due at once.
    fn push(&mut self, pair: u32) {
        self.front.push(pair);
        self.due.push(Deadline::NOW);
        self.upcoming.is_listed.push(false);
    }

    /// Notes for how long the pair at a place stays what it is.
    fn set_margin(&mut self, place: usize, moved: &AccumulatedMotion, margin: Margin) {
        let due = moved.due(margin);
        self.due.set(place, due);
        self.upcoming.add(place, due);
    }

    /// Takes the active pairs for active again but for those whose turn it is to be tested. They come first
    /// in a walk: others of their groups need no look then.
    fn look_at_active(&mut self, moved: &AccumulatedMotion, pairs: &mut impl Pairs<Note = T>) {
        self.active.swap(0, 1);
        for i in 0..self.active[1].len() {
            let k = self.active[1][i];
            let PairNode { nodes, note, place, .. } = self.pairs[k as usize];
            let is_tested = self.walks.wrapping_add(k).is_multiple_of(TEST_EVERY);
            if is_tested || pairs.group(note).is_some_and(|g| pairs.resolved(g)) || !pairs.keep(nodes, note) {
                self.look(place as usize, moved, pairs);
            } else {
                self.active[0].push(k);
            }
        }
        self.active[1].clear();
    }

    /// Tests the pairs of a group that are resolved no more.
    fn test_deferred(&mut self, group: u32, moved: &AccumulatedMotion, pairs: &mut impl Pairs<Note = T>) {
        // What is deferred again goes to the list of the group.
        self.deferred.take_out(&mut self.pairs, group);
        while let Some(k) = self.deferred.next_taken(&mut self.pairs) {
            self.look(self.pairs[k as usize].place as usize, moved, pairs);
        }
    }

    /// Whether it is a pair's turn to be tried to be pruned.
    fn is_pruned_in_this_walk(&self, pair: u32) -> bool {
        self.walks.wrapping_add(pair).is_multiple_of(PRUNE_EVERY)
    }

    /// Tests the pair at a place of the front and all that it opens, first children first.
    fn look(&mut self, place: usize, moved: &AccumulatedMotion, pairs: &mut impl Pairs<Note = T>) {
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
                        // No motion tells when it is to be looked at.
                        (State::Active, Margin::ANY)
                    }
                }
            };
            self.pairs[k as usize].state = state;
            let is_tried = match (state, group) {
                (State::Resolved, Some(group)) => {
                    self.deferred.add(&mut self.pairs, group, k);
                    true
                }
                _ => state == State::Culled && self.is_pruned_in_this_walk(k),
            };
            let margin = if is_tried { self.prune(place, (state, margin), pairs) } else { margin };
            self.set_margin(place, moved, margin);
            match self.stack.pop() {
                Some(next) => place = next as usize,
                None => return,
            }
        }
    }

    /// Puts the children of pair `k` into the front: the first one in its place, the second one behind and on
    /// the stack.
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
            // All of them can become unused: no surprise then.
            self.free.reserve(self.pairs.capacity() / 2 - self.free.len());
            first
        };
        self.pairs[k as usize].state = State::Other;
        self.front[place] = first;
        self.push(first + 1);
        self.stack.push(places[1]);
    }

    /// Replaces a pair and its sibling by the pair above, as far up as all of them are culled, or resolved;
    /// for how long the last one is.
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
                        // The two are of this group, too.
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

    /// Removes what is gone from the front.
    fn close_up(&mut self) {
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

/// A node that may be opened: its number, its children and its radius.
pub(crate) type Opening = (NodeId, Option<[NodeId; 2]>, f64);

/// The children of a pair: those of the larger node, each with the other.
pub(crate) fn opened((i, a, r): Opening, (j, b, q): Opening) -> [NodePair; 2] {
    match (a, b) {
        (Some(children), other) if other.is_none() || r > q => children.map(|c| (c, j)),
        (_, Some(children)) => children.map(|c| (i, c)),
        (Some(children), None) => children.map(|c| (c, j)),
        (None, None) => unreachable!("two leaves are not opened"),
    }
}

#[cfg(test)]
mod tests;
