//! Stretches of level distance, joined to sets, and told by samples where they are long enough.

use crate::solve::{Places, Stretch};
use crate::tree::whole;

/// Ends of stretches that are nearer than this part of the size are one.
const JOINED: f64 = 1e-7;

/// What two places of a stretch are places of.
pub(crate) trait Pairing {
    /// How far apart two places are (mm): of the distances on both sides the larger one.
    fn apart(&self, p: &Places, q: &Places) -> f64;
    /// The place nearest across from what the parameter `along` fixes.
    fn across(&self, places: Places, along: usize) -> Places;
    /// Whether nothing goes on beyond a place.
    fn is_end(&self, places: &Places) -> bool;
}

/// Samples of one set, and single minima that short stretches come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    /// Places with the number of their set.
    pub samples: Vec<(Places, u32)>,
    pub minima: Vec<Places>,
    /// Stretches that belong to a set: minima on them are told by its samples.
    pub kept: Vec<Stretch>,
    chain: Vec<(Stretch, f64)>,
    rest: Vec<Stretch>,
    n_sets: u32,
}

/// How sets are told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    pub size: f64,
    /// Length (mm) from which on a chain is a set, and the distance between its samples.
    pub length: f64,
    pub most: usize,
}

impl Sets {
    pub(crate) fn clear(&mut self) {
        self.samples.clear();
        self.minima.clear();
        self.kept.clear();
        self.n_sets = 0;
    }

    /// Joins stretches to chains and tells each.
    pub(crate) fn join(&mut self, pairing: &impl Pairing, stretches: &[Stretch], sampling: &Sampling) {
        self.rest.clear();
        self.rest.extend_from_slice(stretches);
        while let Some(first) = self.rest.pop() {
            self.chain.clear();
            self.chain.push((first, 0.0));
            // On from its end, then back from its start.
            let near = |p: &Places, q: &Places| pairing.apart(p, q) <= JOINED * sampling.size;
            for side in [1, 0] {
                loop {
                    let end = if side == 1 { self.chain[self.chain.len() - 1].0 } else { self.chain[0].0 };
                    let place = end.ends[side];
                    let Some(next) = self.rest.iter().position(|s| s.ends.iter().any(|e| near(e, &place)))
                    else {
                        break;
                    };
                    let mut next = self.rest.swap_remove(next);
                    if !near(&next.ends[1 - side], &place) {
                        next.ends.reverse();
                        next.outward.reverse();
                    }
                    if pairing.apart(&next.ends[0], &next.ends[1]) <= JOINED * sampling.size {
                        continue;
                    }
                    let at = if side == 1 { self.chain.len() } else { 0 };
                    self.chain.insert(at, (next, 0.0));
                }
            }
            self.tell(pairing, sampling);
        }
    }

    fn tell(&mut self, pairing: &impl Pairing, sampling: &Sampling) {
        let mut sum = 0.0;
        for (stretch, until) in &mut self.chain {
            sum += pairing.apart(&stretch.ends[0], &stretch.ends[1]);
            *until = sum;
        }
        let (first, last) = (self.chain[0].0, self.chain[self.chain.len() - 1].0);
        let is_closed =
            self.chain.len() > 1 && pairing.apart(&first.ends[0], &last.ends[1]) <= JOINED * sampling.size;
        let rises = |outward: f64, place: &Places| outward >= 0.0 || pairing.is_end(place);
        let is_minimum =
            is_closed || rises(first.outward[0], &first.ends[0]) && rises(last.outward[1], &last.ends[1]);
        if !is_minimum {
            return;
        }
        if sum < sampling.length {
            self.minima.push(self.sample(pairing, 0.5 * sum));
            return;
        }
        let n = (whole(sum / sampling.length) + 2).clamp(2, sampling.most.max(2));
        let intervals = if is_closed { n } else { n - 1 };
        for k in 0..n {
            let places = self.sample(pairing, sum * k as f64 / intervals as f64);
            self.samples.push((places, self.n_sets));
        }
        self.n_sets += 1;
        self.kept.extend(self.chain.iter().map(|(stretch, _)| *stretch));
    }

    /// The place at a length along the chain.
    fn sample(&self, pairing: &impl Pairing, length: f64) -> Places {
        let k = self.chain.iter().position(|(_, until)| length <= *until).unwrap_or(self.chain.len() - 1);
        let (stretch, until) = self.chain[k];
        let before = if k == 0 { 0.0 } else { self.chain[k - 1].1 };
        let t = if until > before { ((length - before) / (until - before)).clamp(0.0, 1.0) } else { 0.5 };
        let [p, q] = stretch.ends;
        let places = [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])];
        // The place across is interpolated no better than the stretch is short.
        let across = 1 - stretch.along;
        #[expect(clippy::float_cmp, reason = "a place that stays where it is, to the bit")]
        let stays = p[across] == q[across];
        if stays { places } else { pairing.across(places, stretch.along) }
    }

    /// Whether a minimum is on a stretch of a set.
    pub(crate) fn holds(&self, pairing: &impl Pairing, places: &Places, size: f64) -> bool {
        let on = |stretch: &Stretch| {
            let [p, q] = stretch.ends;
            let is_between = |k: usize| p[k].min(q[k]) <= places[k] && places[k] <= p[k].max(q[k]);
            let is_at = |e: &Places| pairing.apart(e, places) <= JOINED * size;
            is_between(0) && is_between(1) || is_at(&p) || is_at(&q)
        };
        self.kept.iter().any(on)
    }
}
