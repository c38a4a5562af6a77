//! Stretches of level distance, joined to sets, and told by samples where they are long enough.

use feeler_geom::V3;

use crate::curve::Curve;
use crate::solve::{Places, Stretch};

/// Ends of stretches that are nearer than this part of the size are one.
const JOINED: f64 = 1e-7;

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
    pub(crate) fn join(&mut self, a: &Curve, b: &Curve, stretches: &[Stretch], sampling: &Sampling) {
        self.rest.clear();
        self.rest.extend_from_slice(stretches);
        while let Some(first) = self.rest.pop() {
            self.chain.clear();
            self.chain.push((first, 0.0));
            // On from its end, then back from its start.
            let near = |p: &Places, q: &Places| distance(a, b, p, q) <= JOINED * sampling.size;
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
                    if distance(a, b, &next.ends[0], &next.ends[1]) <= JOINED * sampling.size {
                        continue;
                    }
                    let at = if side == 1 { self.chain.len() } else { 0 };
                    self.chain.insert(at, (next, 0.0));
                }
            }
            self.tell(a, b, sampling);
        }
    }

    fn tell(&mut self, a: &Curve, b: &Curve, sampling: &Sampling) {
        let mut sum = 0.0;
        for (stretch, until) in &mut self.chain {
            sum += distance(a, b, &stretch.ends[0], &stretch.ends[1]);
            *until = sum;
        }
        let (first, last) = (self.chain[0].0, self.chain[self.chain.len() - 1].0);
        let is_closed =
            self.chain.len() > 1 && distance(a, b, &first.ends[0], &last.ends[1]) <= JOINED * sampling.size;
        let rises =
            |outward: f64, place: &Places| outward >= 0.0 || is_end(a, place[0]) || is_end(b, place[1]);
        let is_minimum =
            is_closed || rises(first.outward[0], &first.ends[0]) && rises(last.outward[1], &last.ends[1]);
        if !is_minimum {
            return;
        }
        if sum < sampling.length {
            self.minima.push(self.sample(a, b, 0.5 * sum));
            return;
        }
        let n = ((sum / sampling.length).ceil() as usize + 1).clamp(2, sampling.most.max(2));
        let intervals = if is_closed { n } else { n - 1 };
        for k in 0..n {
            let places = self.sample(a, b, sum * k as f64 / intervals as f64);
            self.samples.push((places, self.n_sets));
        }
        self.n_sets += 1;
        self.kept.extend(self.chain.iter().map(|(stretch, _)| *stretch));
    }

    /// The place at a length along the chain.
    fn sample(&self, a: &Curve, b: &Curve, length: f64) -> Places {
        let k = self.chain.iter().position(|(_, until)| length <= *until).unwrap_or(self.chain.len() - 1);
        let (stretch, until) = self.chain[k];
        let before = if k == 0 { 0.0 } else { self.chain[k - 1].1 };
        let t = if until > before { ((length - before) / (until - before)).clamp(0.0, 1.0) } else { 0.5 };
        let [p, q] = stretch.ends;
        let mut places = [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])];
        // The other place is the nearest one across.
        let across = 1 - stretch.along;
        if p[across] == q[across] {
            return places;
        }
        let curves = [a, b];
        let fixed = curves[stretch.along].point(places[stretch.along]);
        for _ in 0..8 {
            let at = curves[across].at(places[across]);
            let w = at.p - fixed.coords;
            let bend = at.d.norm_squared() + w.dot(&at.dd);
            let step = -w.dot(&at.d) / bend;
            if !step.is_finite() || bend <= 0.0 {
                break;
            }
            places[across] = (places[across] + step).clamp(0.0, curves[across].n_pieces() as f64);
            if step.abs() < 1e-14 {
                break;
            }
        }
        places
    }

    /// Whether a minimum is on a stretch of a set.
    pub(crate) fn holds(&self, a: &Curve, b: &Curve, places: &Places, size: f64) -> bool {
        let on = |stretch: &Stretch| {
            let [p, q] = stretch.ends;
            let is_between = |k: usize| p[k].min(q[k]) <= places[k] && places[k] <= p[k].max(q[k]);
            let is_at = |e: &Places| distance(a, b, e, places) <= JOINED * size;
            is_between(0) && is_between(1) || is_at(&p) || is_at(&q)
        };
        self.kept.iter().any(on)
    }
}

/// How far apart places are: of the distances of their points on both curves the larger one.
pub(crate) fn distance(a: &Curve, b: &Curve, p: &Places, q: &Places) -> f64 {
    let apart = |curve: &Curve, s: f64, t: f64| -> V3 { curve.point(s) - curve.point(t) };
    apart(a, p[0], q[0]).norm().max(apart(b, p[1], q[1]).norm())
}

fn is_end(curve: &Curve, u: f64) -> bool {
    !curve.is_closed() && (u <= 0.0 || u >= curve.n_pieces() as f64)
}
