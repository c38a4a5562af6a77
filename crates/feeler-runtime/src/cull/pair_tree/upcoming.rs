//! Pairs of a front that may be due soon.

use crate::body::index;
use crate::cull::motion::{AccumulatedMotion, Deadline};

/// Pairs of the front (the pairs of nodes at which the last traversal stopped) that may be due in the next
/// traversals. A pair is due, and must be tested again, when the accumulated motion has reached its deadline.
/// Most pairs have distant deadlines, so the whole front is scanned only once in a few traversals.
#[derive(Clone, Debug, Default)]
pub(super) struct UpcomingQueue {
    pub(super) soon: Vec<Upcoming>,
    /// Whether the pair at each index of the front is listed in `soon`.
    pub(super) is_listed: Vec<bool>,
    /// For each component of the accumulated motion, the value up to which no pair is due that is not
    /// listed in `soon`.
    until: Vec<f64>,
    /// For each component of the accumulated motion, its value in the last traversal.
    last: Vec<f64>,
}

/// The index of a pair in the front (`place`) and its deadline, stored together so that entries that are
/// not due are skipped fast. An entry keeps its deadline until it is due, even if its pair has been
/// removed from the front since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upcoming {
    at: f64,
    place: u32,
    component: u16,
}

/// Number of steps like the last one for which the list of upcoming pairs is made to last, so that the
/// front is not scanned again. Half or twice this value changes the number of operations by less than 1
/// % in queries of inserted parts.
const STEPS_AHEAD: f64 = 4.0;
/// Smallest assumed step of a component, as a fraction of the step of B as a whole, because a component
/// at rest may start to move. It affects speed only.
const MIN_STEP: f64 = 0.1;

/// Number of pairs of the front that are scanned as one block. It affects speed only.
const BLOCK: usize = 64;
/// Number of pairs of the front whose data (a few kilobytes) is prefetched before they are tested. It
/// affects speed only.
pub(super) const PREFETCHED: usize = 16;

impl UpcomingQueue {
    /// Discards all entries, so that the next traversal scans the front.
    pub(super) fn clear(&mut self) {
        self.soon.clear();
        self.is_listed.clear();
        self.until.clear();
    }

    /// Scans the front, given by its deadlines, if pairs that are not listed may be due at the
    /// accumulated motion `moved`.
    // Not inlined: the code around the call must not change how this loop over a long list is compiled.
    #[inline(never)]
    pub(super) fn renew(&mut self, moved: &AccumulatedMotion, front: &Deadlines) {
        let Self { soon, is_listed, until, last } = self;
        let reached = moved.accumulated();
        let is_known = until.len() == reached.len();
        if !is_known || reached.iter().zip(&*until).any(|(reached, until)| reached > until) {
            let step = |component: usize| {
                let last = last.get(component).copied().unwrap_or(f64::INFINITY);
                (reached[component] - last).max(0.0)
            };
            // A component at rest may start to move.
            let min_step = |component: usize| MIN_STEP * moved.step_of_whole(component);
            until.clear();
            until.extend((0..reached.len()).map(|k| reached[k] + STEPS_AHEAD * step(k).max(min_step(k))));
            soon.clear();
            is_listed.clear();
            is_listed.resize(front.at.len(), false);
            // The pattern of listed positions is irregular, so each position is written and the count
            // decides whether it stays.
            let mut places = [0; BLOCK];
            let blocks =
                front.at.chunks(BLOCK).zip(front.accumulated.chunks(BLOCK)).zip(is_listed.chunks_mut(BLOCK));
            for (block, ((at, accumulated), is_listed)) in blocks.enumerate() {
                let mut n = 0;
                for (k, ((at, component), is_listed)) in at.iter().zip(accumulated).zip(is_listed).enumerate()
                {
                    *is_listed = *at <= until[usize::from(*component)];
                    places[n] = k;
                    n += usize::from(*is_listed);
                }
                let item = |k: usize| Upcoming {
                    at: at[k],
                    place: index(block * BLOCK + k),
                    component: accumulated[k],
                };
                soon.extend(places[..n].iter().map(|k| item(*k)));
            }
        }
        last.clear();
        last.extend_from_slice(reached);
    }

    /// Removes the entries that are due at the accumulated values `reached`, and replaces the content of
    /// `out` by the indices of their pairs in the front.
    // Not inlined, like `renew`.
    #[inline(never)]
    pub(super) fn take_due(&mut self, reached: &[f64], out: &mut Vec<u32>) {
        let Self { soon, is_listed, .. } = self;
        // The pattern of due positions is irregular, so all are written to both lists and the counts decide
        // which stay.
        out.clear();
        out.resize(soon.len(), 0);
        let (mut kept, mut taken) = (0, 0);
        for k in 0..soon.len() {
            let item = soon[k];
            let is_due = reached[usize::from(item.component)] >= item.at;
            soon[kept] = item;
            out[taken] = item.place;
            kept += usize::from(!is_due);
            taken += usize::from(is_due);
        }
        soon.truncate(kept);
        out.truncate(taken);
        out.iter().for_each(|place| is_listed[*place as usize] = false);
    }

    /// Adds the pair at an index of the front if it may be due in the next traversals.
    pub(super) fn add(&mut self, place: usize, Deadline { component, at }: Deadline) {
        let is_soon = self.until.get(usize::from(component)).is_some_and(|until| at <= *until);
        if is_soon && !std::mem::replace(&mut self.is_listed[place], true) {
            self.soon.push(Upcoming { at, place: index(place), component });
        }
    }
}

/// Deadlines of the pairs of a front: component (`accumulated`) and value (`at`). They are stored
/// separately because most traversals read nothing else of most pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadlines {
    pub(super) accumulated: Vec<u16>,
    pub(super) at: Vec<f64>,
}

impl Deadlines {
    pub(super) fn get(&self, place: usize) -> Deadline {
        Deadline { component: self.accumulated[place], at: self.at[place] }
    }

    pub(super) fn set(&mut self, place: usize, due: Deadline) {
        (self.accumulated[place], self.at[place]) = (due.component, due.at);
    }

    pub(super) fn push(&mut self, due: Deadline) {
        self.accumulated.push(due.component);
        self.at.push(due.at);
    }

    pub(super) fn truncate(&mut self, n: usize) {
        self.accumulated.truncate(n);
        self.at.truncate(n);
    }
}
