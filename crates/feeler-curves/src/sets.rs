//! Stretches of level distance, joined to sets, and told by samples where they are long enough.

use crate::solve::{Places, Stretch};

/// Ends of stretches that are nearer than this part of the size are one.
const JOINED: f64 = 1e-7;

/// Slope (of the distance with length) that rounding leaves at the ends of stretches.
const ROUNDING: f64 = 1e-12;

/// What two places of a stretch are places of.
pub(crate) trait Pairing {
    /// How far apart two places are (mm): of the distances on both sides the larger one.
    fn apart(&self, p: &Places, q: &Places) -> f64;
    /// The place nearest across from what the parameter `along` fixes.
    fn across(&self, places: Places, along: usize) -> Places;
    /// Whether nothing goes on beyond a place.
    fn is_end(&self, places: &Places) -> bool;
    /// Whether the distance grows with the parameter that a stretch goes along.
    fn rises(&self, places: &Places, stretch: &Stretch) -> bool;
}

/// A place on a stretch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub places: Places,
    /// What the stretch is opposite to.
    pub of: u32,
    /// The number of the set; 0 for single minima.
    pub set: u32,
}

/// Samples of one set, and single minima that short stretches come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    pub samples: Vec<Sample>,
    pub minima: Vec<Sample>,
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
                    let at = if side == 1 { self.chain.len() } else { 0 };
                    if pairing.apart(&next.ends[0], &next.ends[1]) <= JOINED * sampling.size {
                        // Too short to have a direction: it belongs to the one before.
                        let last = &mut self.chain[at.saturating_sub(1)].0;
                        let along = |places: &Places| places[last.along];
                        let from = along(&last.ends[1 - side]);
                        if (along(&next.ends[side]) - from).abs() > (along(&last.ends[side]) - from).abs() {
                            (last.ends[side], last.outward[side]) = (next.ends[side], next.outward[side]);
                        }
                        continue;
                    }
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
        let rises = |outward: f64, place: &Places| outward >= -ROUNDING || pairing.is_end(place);
        let is_minimum =
            is_closed || rises(first.outward[0], &first.ends[0]) && rises(last.outward[1], &last.ends[1]);
        if !is_minimum {
            return;
        }
        if sum < sampling.length {
            let least = self.least(pairing, sum);
            self.minima.push(least);
            return;
        }
        self.tell_samples(pairing, sampling, sum, is_closed);
        self.n_sets += 1;
        self.kept.extend(self.chain.iter().map(|(stretch, _)| *stretch));
    }

    /// The ends of a chain, and between them places whose parameters are multiples of a power of two: they
    /// stay where they are when the ends move.
    fn tell_samples(&mut self, pairing: &impl Pairing, sampling: &Sampling, sum: f64, is_closed: bool) {
        let set = self.n_sets;
        let extent = |s: &Stretch| (s.ends[1][s.along] - s.ends[0][s.along]).abs();
        let total: f64 = self.chain.iter().map(|(s, _)| extent(s)).sum();
        let n_ends = if is_closed { 0 } else { 2 };
        // A ring is told by two places at least.
        let enough = |n: usize| n + n_ends <= sampling.most && (!is_closed || n >= 2);
        let part = (sampling.length / sum).max(1.0 / sampling.most.max(2) as f64);
        let mut spacing = (total * part).log2().ceil().exp2();
        // Twice that is enough for ends that are told, too; half of it where a ring has one multiple only.
        for _ in 0..4 {
            let n = self.count(spacing);
            spacing *= if n + n_ends > sampling.most {
                2.0
            } else if is_closed && n < 2 {
                0.5
            } else {
                break;
            };
        }
        if !is_closed {
            self.samples.push(Sample { set, ..self.sample(pairing, 0.0) });
        }
        if enough(self.count(spacing)) {
            for k in 0..self.chain.len() {
                let stretch = self.chain[k].0;
                for i in multiples(&stretch, spacing) {
                    let t = (i as f64 * spacing - stretch.ends[0][stretch.along])
                        / (stretch.ends[1][stretch.along] - stretch.ends[0][stretch.along]);
                    let places = placed(pairing, &stretch, t);
                    self.samples.push(Sample { places, of: stretch.of, set });
                }
            }
        }
        if !is_closed {
            self.samples.push(Sample { set, ..self.sample(pairing, sum) });
        }
    }

    fn count(&self, spacing: f64) -> usize {
        self.chain.iter().map(|(stretch, _)| multiples(stretch, spacing).count()).sum()
    }

    /// The lowest place of a chain: its middle where rounding hides which one that is.
    fn least(&self, pairing: &impl Pairing, sum: f64) -> Sample {
        let outward = [self.chain[0].0.outward[0], self.chain[self.chain.len() - 1].0.outward[1]];
        let length = match outward.map(|slope| slope > ROUNDING) {
            [true, true] => self.turn(pairing, sum),
            [true, false] => sum,
            [false, true] => 0.0,
            [false, false] => 0.5 * sum,
        };
        self.sample(pairing, length)
    }

    /// The length along a chain at which the distance begins to rise.
    fn turn(&self, pairing: &impl Pairing, sum: f64) -> f64 {
        let (mut lo, mut hi) = (0.0, sum);
        for _ in 0..52 {
            let middle = 0.5 * (lo + hi);
            let stretch = self.at(middle).0;
            let along = stretch.along;
            let is_forward = stretch.ends[0][along] <= stretch.ends[1][along];
            if pairing.rises(&self.sample(pairing, middle).places, &stretch) == is_forward {
                hi = middle;
            } else {
                lo = middle;
            }
        }
        0.5 * (lo + hi)
    }

    /// The stretch at a length along the chain, and how much of it is passed there.
    fn at(&self, length: f64) -> (Stretch, f64) {
        let k = self.chain.iter().position(|(_, until)| length <= *until).unwrap_or(self.chain.len() - 1);
        let (stretch, until) = self.chain[k];
        let before = if k == 0 { 0.0 } else { self.chain[k - 1].1 };
        let t = if until > before { ((length - before) / (until - before)).clamp(0.0, 1.0) } else { 0.5 };
        (stretch, t)
    }

    /// The place at a length along the chain.
    fn sample(&self, pairing: &impl Pairing, length: f64) -> Sample {
        let (stretch, t) = self.at(length);
        Sample { places: placed(pairing, &stretch, t), of: stretch.of, set: 0 }
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

/// The place of a stretch at a part of it.
fn placed(pairing: &impl Pairing, stretch: &Stretch, t: f64) -> Places {
    let [p, q] = stretch.ends;
    let places = [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])];
    // The place across is interpolated no better than the stretch is short.
    let across = 1 - stretch.along;
    #[expect(clippy::float_cmp, reason = "a place that stays where it is, to the bit")]
    let stays = p[across] == q[across];
    if stays { places } else { pairing.across(places, stretch.along) }
}

/// Multiples of `spacing` on a stretch, in its direction; the higher end belongs to what comes after it.
fn multiples(stretch: &Stretch, spacing: f64) -> impl Iterator<Item = i64> {
    let [p, q] = stretch.ends.map(|e| e[stretch.along] / spacing);
    let (first, end) = (p.min(q).ceil(), p.max(q).ceil());
    #[expect(clippy::cast_possible_truncation, reason = "parameters are small numbers of spacings")]
    let (first, end) = (first as i64, end as i64);
    let is_forward = p <= q;
    (first..end).map(move |i| if is_forward { i } else { first + end - 1 - i })
}
