//! Which pairs of a front can be due soon.

use crate::body::index;
use crate::cull::motion::{AccumulatedMotion, Deadline};

/// The pairs of a front that can be due in the next walks. Most others stay what they are for long: the front
/// is passed over as a whole once in a few walks.
#[derive(Clone, Debug, Default)]
pub(super) struct UpcomingQueue {
    pub(super) soon: Vec<Upcoming>,
    /// Whether each place is among them.
    pub(super) is_listed: Vec<bool>,
    /// What the components tell when anything else can be due.
    until: Vec<f64>,
    /// What they reached in the last walk.
    last: Vec<f64>,
}

/// A place in the front and when it is due, so that those that are not yet are passed over side by side. A
/// place that is listed keeps that until it is taken out, unless it is gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upcoming {
    at: f64,
    place: u32,
    component: u16,
}

/// Steps like the last one for which the front is not passed over again: with twice as many, or half, queries
/// of inserted parts take as many operations but for one part in a hundred.
const STEPS_AHEAD: f64 = 4.0;
/// The shortest step by any component that is reckoned with, in steps of B as a whole.
const LEAST_STEP: f64 = 0.1;

/// Places of the front that are passed over side by side.
const BLOCK: usize = 64;
/// Places that are touched before they are looked at: a few kilobytes.
pub(super) const TOUCHED: usize = 16;

impl UpcomingQueue {
    /// Forgets everything: the next walk passes over the front.
    pub(super) fn clear(&mut self) {
        self.soon.clear();
        self.is_listed.clear();
        self.until.clear();
    }

    /// Passes over the front, given by when its pairs are due, if more can be due than what is listed.
    // One loop over a long list: what is around the call is not to change how it is compiled.
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
            // What has stood still may begin to move.
            let least = |component: usize| LEAST_STEP * moved.step_of_whole(component);
            until.clear();
            until.extend((0..reached.len()).map(|k| reached[k] + STEPS_AHEAD * step(k).max(least(k))));
            soon.clear();
            is_listed.clear();
            is_listed.resize(front.at.len(), false);
            // Which ones are listed follows no pattern: the place of each is written, and the count tells
            // whether it stays.
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

    /// Moves the places that are due to `out`.
    // See above.
    #[inline(never)]
    pub(super) fn take_due(&mut self, reached: &[f64], out: &mut Vec<u32>) {
        let Self { soon, is_listed, .. } = self;
        // Which ones are due follows no pattern: all are written to both lists, and the counts tell what
        // stays.
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

    /// Takes in the pair at a place if it can be due soon.
    pub(super) fn add(&mut self, place: usize, Deadline { component, at }: Deadline) {
        let is_soon = self.until.get(usize::from(component)).is_some_and(|until| at <= *until);
        if is_soon && !std::mem::replace(&mut self.is_listed[place], true) {
            self.soon.push(Upcoming { at, place: index(place), component });
        }
    }
}

/// When the pairs of a front are due: all that most walks read of most of them.
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
