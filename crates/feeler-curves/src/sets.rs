//! Joins *stretches*, intervals of a curve over which the distance is constant, to *chains* of stretches
//! that follow one another. Chains that are long enough are *sets*, which are reported as samples;
//! shorter ones are reported as one minimum.

use crate::solve::{ParamPair, Stretch};

/// Distance below which ends of stretches coincide, as a fraction of the size of the pair's larger
/// object. With a larger value, separate sets are joined; with a smaller one, sets are split.
const JOIN_TOLERANCE: f64 = 1e-7;

/// Slope of the distance with length (mm per mm) that rounding leaves at the ends of stretches. With a
/// larger value, stretches beyond which the distance decreases become sets; with a smaller one, sets are
/// lost.
const SLOPE_ROUNDING: f64 = 1e-12;

/// Geometry of the pair that stretches belong to: two curves, or a curve and a feature of a solid.
pub(crate) trait Pairing {
    /// Distance (mm) between two pairs of parameters: the larger one of the distances between their
    /// points on the first and on the second object.
    fn separation(&self, p: &ParamPair, q: &ParamPair) -> f64;
    /// Returns `params` after the parameter of the other object is replaced by that of its point nearest
    /// to the point at the parameter with index `along`, which stays fixed. A solid has no parameter, so
    /// `params` is unchanged.
    fn across(&self, params: ParamPair, along: usize) -> ParamPair;
    /// Whether one of the curves has a free end at these parameters.
    fn is_end(&self, params: &ParamPair) -> bool;
    /// Whether the distance increases, at `params`, when the parameter along which `stretch` runs
    /// increases.
    fn rises(&self, params: &ParamPair, stretch: &Stretch) -> bool;
}

/// Pair of parameters on a stretch, at which a minimum is reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub params: ParamPair,
    /// If the minimum is on a free-form face: index, in the solid's hierarchy, of the area with the
    /// footpoint. Unused for other features.
    pub area: u32,
    /// Number, from 0, of the set that the sample belongs to; meaningless for a single minimum.
    pub set: u32,
}

/// Samples of sets, and single minima that represent short stretches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    pub samples: Vec<Sample>,
    pub minima: Vec<Sample>,
    /// Stretches that belong to a set. Minima on them are dropped, because the samples represent them.
    pub set_stretches: Vec<Stretch>,
    chain: Vec<(Stretch, f64)>,
    rest: Vec<Stretch>,
    n_sets: u32,
}

/// Parameters that determine which chains are sets and how many samples a set has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    pub size: f64,
    /// Length (mm) from which a chain is a set; also the approximate minimum distance between the
    /// samples of a set.
    pub length: f64,
    pub max_samples: usize,
}

impl Sets {
    pub(crate) fn clear(&mut self) {
        self.samples.clear();
        self.minima.clear();
        self.set_stretches.clear();
        self.n_sets = 0;
    }

    /// Joins stretches to chains. For each chain that is a minimum, adds the samples of a set or, if the
    /// chain is short, one minimum. Other chains are dropped.
    pub(crate) fn join(&mut self, pairing: &impl Pairing, stretches: &[Stretch], sampling: &Sampling) {
        self.rest.clear();
        self.rest.extend_from_slice(stretches);
        while let Some(first) = self.rest.pop() {
            self.chain.clear();
            self.chain.push((first, 0.0));
            // Extend the chain from its end, then from its start.
            let near =
                |p: &ParamPair, q: &ParamPair| pairing.separation(p, q) <= JOIN_TOLERANCE * sampling.size;
            for side in [1, 0] {
                loop {
                    let end = if side == 1 { self.chain[self.chain.len() - 1].0 } else { self.chain[0].0 };
                    let point = end.ends[side];
                    let Some(next) = self.rest.iter().position(|s| s.ends.iter().any(|e| near(e, &point)))
                    else {
                        break;
                    };
                    let mut next = self.rest.swap_remove(next);
                    if !near(&next.ends[1 - side], &point) {
                        next.ends.reverse();
                        next.outward.reverse();
                    }
                    let at = if side == 1 { self.chain.len() } else { 0 };
                    if pairing.separation(&next.ends[0], &next.ends[1]) <= JOIN_TOLERANCE * sampling.size {
                        // The stretch is too short to have a direction, so it is merged into its
                        // neighbour.
                        let last = &mut self.chain[at.saturating_sub(1)].0;
                        let along = |params: &ParamPair| params[last.along];
                        let from = along(&last.ends[1 - side]);
                        if (along(&next.ends[side]) - from).abs() > (along(&last.ends[side]) - from).abs() {
                            (last.ends[side], last.outward[side]) = (next.ends[side], next.outward[side]);
                        }
                        continue;
                    }
                    self.chain.insert(at, (next, 0.0));
                }
            }
            self.add_chain(pairing, sampling);
        }
    }

    fn add_chain(&mut self, pairing: &impl Pairing, sampling: &Sampling) {
        let mut sum = 0.0;
        for (stretch, until) in &mut self.chain {
            sum += pairing.separation(&stretch.ends[0], &stretch.ends[1]);
            *until = sum;
        }
        let (first, last) = (self.chain[0].0, self.chain[self.chain.len() - 1].0);
        let is_closed = self.chain.len() > 1
            && pairing.separation(&first.ends[0], &last.ends[1]) <= JOIN_TOLERANCE * sampling.size;
        let rises = |outward: f64, point: &ParamPair| outward >= -SLOPE_ROUNDING || pairing.is_end(point);
        let is_minimum =
            is_closed || rises(first.outward[0], &first.ends[0]) && rises(last.outward[1], &last.ends[1]);
        if !is_minimum {
            return;
        }
        if sum < sampling.length {
            let lowest = self.lowest(pairing, sum);
            self.minima.push(lowest);
            return;
        }
        self.add_samples(pairing, sampling, sum, is_closed);
        self.n_sets += 1;
        self.set_stretches.extend(self.chain.iter().map(|(stretch, _)| *stretch));
    }

    /// Adds samples of the current chain of stretches, which has the length `sum` (mm): both ends unless
    /// the chain is closed and, between them, the points at which the parameter along the stretch is a
    /// multiple of a spacing. The spacing is a power of two, so that these points stay at fixed points
    /// of the curve while the ends of the chain move.
    fn add_samples(&mut self, pairing: &impl Pairing, sampling: &Sampling, sum: f64, is_closed: bool) {
        let set = self.n_sets;
        let extent = |s: &Stretch| (s.ends[1][s.along] - s.ends[0][s.along]).abs();
        let total: f64 = self.chain.iter().map(|(s, _)| extent(s)).sum();
        let n_ends = if is_closed { 0 } else { 2 };
        // A closed chain has at least two samples.
        let is_enough = |n: usize| n + n_ends <= sampling.max_samples && (!is_closed || n >= 2);
        let part = (sampling.length / sum).max(1.0 / sampling.max_samples.max(2) as f64);
        let mut spacing = (total * part).log2().ceil().exp2();
        // The spacing is doubled if there are too many samples with the ends, and halved if a closed
        // chain has only one multiple.
        for _ in 0..4 {
            let n = self.count(spacing);
            spacing *= if n + n_ends > sampling.max_samples {
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
        if is_enough(self.count(spacing)) {
            for k in 0..self.chain.len() {
                let stretch = self.chain[k].0;
                for i in multiples(&stretch, spacing) {
                    let t = (i as f64 * spacing - stretch.ends[0][stretch.along])
                        / (stretch.ends[1][stretch.along] - stretch.ends[0][stretch.along]);
                    let params = interpolated(pairing, &stretch, t);
                    self.samples.push(Sample { params, area: stretch.area, set });
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

    /// Finds the point of the current chain with the smallest distance; the middle of the chain if the
    /// distances differ only by rounding. `sum` is the length of the chain (mm).
    fn lowest(&self, pairing: &impl Pairing, sum: f64) -> Sample {
        let outward = [self.chain[0].0.outward[0], self.chain[self.chain.len() - 1].0.outward[1]];
        let length = match outward.map(|slope| slope > SLOPE_ROUNDING) {
            [true, true] => self.lowest_length(pairing, sum),
            [true, false] => sum,
            [false, true] => 0.0,
            [false, false] => 0.5 * sum,
        };
        self.sample(pairing, length)
    }

    /// Finds the length (mm) along the current chain, from its start, at which the distance starts to
    /// increase. `sum` is the length of the chain.
    fn lowest_length(&self, pairing: &impl Pairing, sum: f64) -> f64 {
        let (mut lo, mut hi) = (0.0, sum);
        for _ in 0..52 {
            let middle = 0.5 * (lo + hi);
            let stretch = self.at(middle).0;
            let along = stretch.along;
            let is_forward = stretch.ends[0][along] <= stretch.ends[1][along];
            if pairing.rises(&self.sample(pairing, middle).params, &stretch) == is_forward {
                hi = middle;
            } else {
                lo = middle;
            }
        }
        0.5 * (lo + hi)
    }

    /// Returns the stretch of the current chain at a length (mm) along the chain, and the fraction of
    /// the stretch that lies before that length.
    fn at(&self, length: f64) -> (Stretch, f64) {
        let k = self.chain.iter().position(|(_, until)| length <= *until).unwrap_or(self.chain.len() - 1);
        let (stretch, until) = self.chain[k];
        let before = if k == 0 { 0.0 } else { self.chain[k - 1].1 };
        let t = if until > before { ((length - before) / (until - before)).clamp(0.0, 1.0) } else { 0.5 };
        (stretch, t)
    }

    /// Returns the sample at a length (mm) along the current chain.
    fn sample(&self, pairing: &impl Pairing, length: f64) -> Sample {
        let (stretch, t) = self.at(length);
        Sample { params: interpolated(pairing, &stretch, t), area: stretch.area, set: 0 }
    }

    /// Whether a minimum with these parameters lies on a stretch that belongs to a set. `size` (mm) is
    /// that of the pair's larger object.
    pub(crate) fn contains(&self, pairing: &impl Pairing, params: &ParamPair, size: f64) -> bool {
        let on = |stretch: &Stretch| {
            let [p, q] = stretch.ends;
            let is_between = |k: usize| p[k].min(q[k]) <= params[k] && params[k] <= p[k].max(q[k]);
            let is_at = |e: &ParamPair| pairing.separation(e, params) <= JOIN_TOLERANCE * size;
            is_between(0) && is_between(1) || is_at(&p) || is_at(&q)
        };
        self.set_stretches.iter().any(on)
    }
}

/// Interpolates the parameters of a stretch at the fraction `t` of it.
fn interpolated(pairing: &impl Pairing, stretch: &Stretch, t: f64) -> ParamPair {
    let [p, q] = stretch.ends;
    let params = [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])];
    // The interpolated parameter of the other object is inaccurate on a long stretch, so it is refined.
    let across = 1 - stretch.along;
    #[expect(clippy::float_cmp, reason = "detects a constant parameter, exact to the bit")]
    let stays = p[across] == q[across];
    if stays { params } else { pairing.across(params, stretch.along) }
}

/// Integers i for which the parameter i · `spacing` is on a stretch, in the direction of the stretch.
/// The end with the larger parameter belongs to the next stretch.
fn multiples(stretch: &Stretch, spacing: f64) -> impl Iterator<Item = i64> {
    let [p, q] = stretch.ends.map(|e| e[stretch.along] / spacing);
    let (first, end) = (p.min(q).ceil(), p.max(q).ceil());
    #[expect(clippy::cast_possible_truncation, reason = "parameters are small numbers of spacings")]
    let (first, end) = (first as i64, end as i64);
    let is_forward = p <= q;
    (first..end).map(move |i| if is_forward { i } else { first + end - 1 - i })
}
