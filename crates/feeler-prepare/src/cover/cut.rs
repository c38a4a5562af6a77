//! Where a rectangle is cut in two, and boxes around what chords leave in it.
//!
//! All places of one direction are weighed in one sweep: what lies wholly on one side of a place is on that
//! side of all places beyond, so that each chord is looked at once and not once a place.

use arrayvec::ArrayVec;
use feeler_geom::{P2, Rect};

use super::Chord;

/// Corners tried as places of a cut, for each direction.
const CANDIDATES: usize = 12;

/// Places weighed in one direction: those at corners and the middle.
const PLACES: usize = CANDIDATES + 1;

/// The two halves of the cut of `r` after which the shrunk halves are smallest; of the longer side when none
/// gains. `clips` are the parts in `r` of the `chords` near it, `aspect` is the width of the unit square over
/// its height, and `inside` tells whether a point is in the domain.
pub(super) fn best_cut(
    r: &Rect,
    chords: &[Chord],
    clips: &[Chord],
    aspect: f64,
    places: &mut Vec<f64>,
    inside: impl Fn(P2) -> bool,
) -> (Rect, Rect) {
    let known = corners(r).map(&inside);
    let mut best: Option<(Rect, Rect)> = None;
    let mut best_score = size(r) * (1.0 - 1e-6);
    for axis in 0..2 {
        let (lo, len) = if axis == 0 { (r.u0, r.u1 - r.u0) } else { (r.v0, r.v1 - r.v0) };
        find_places(axis, (lo, len), chords, places);
        let n = places.len();
        let corner = |k: usize| places[if n <= CANDIDATES { k } else { (2 * k + 1) * n / (2 * CANDIDATES) }];
        let middle = lo + 0.5 * len;
        let mut at: ArrayVec<f64, PLACES> = (0..n.min(CANDIDATES)).map(corner).collect();
        let m = at.partition_point(|x| *x < middle);
        at.insert(m, middle);
        let sides = Sides::new(axis, &at, clips);
        // The middle last: among equals a corner is the better place.
        let order = (0..at.len()).filter(|k| *k != m).chain([m]);
        for k in order {
            let (a, b) = halves(r, axis, at[k]);
            // Among equal gains the more even cut.
            let uneven = 1e-3 * size(r) * ((at[k] - lo) / len - 0.5).abs();
            let score = |ends: [bool; 2]| sides.shrunk(k, (&a, &b), known, ends) + uneven;
            // What is inside can only add to it.
            if score([false; 2]) >= best_score {
                continue;
            }
            let ends = if axis == 0 {
                [P2::new(at[k], r.v0), P2::new(at[k], r.v1)]
            } else {
                [P2::new(r.u0, at[k]), P2::new(r.u1, at[k])]
            };
            let score = score(ends.map(&inside));
            if score < best_score {
                (best, best_score) = (Some((a, b)), score);
            }
        }
    }
    best.unwrap_or_else(|| {
        let (w, h) = (r.u1 - r.u0, r.v1 - r.v0);
        if w * aspect >= h { halves(r, 0, r.u0 + 0.5 * w) } else { halves(r, 1, r.v0 + 0.5 * h) }
    })
}

/// Places just beside corners of the boundary, increasing: a side of the boundary that lies on the cut
/// belongs to one half only.
fn find_places(axis: usize, (lo, len): (f64, f64), chords: &[Chord], places: &mut Vec<f64>) {
    places.clear();
    for c in chords.iter().filter(|c| c.corner) {
        let beside = [c.to[axis] - 4.0 * c.error, c.to[axis] + 4.0 * c.error];
        places.extend(beside.into_iter().filter(|x| lo + 0.02 * len < *x && *x < lo + 0.98 * len));
    }
    places.sort_unstable_by(f64::total_cmp);
    places.dedup_by(|a, b| *a - *b < 1e-12 * len);
}

fn halves(r: &Rect, axis: usize, at: f64) -> (Rect, Rect) {
    if axis == 0 {
        (Rect { u1: at, ..*r }, Rect { u0: at, ..*r })
    } else {
        (Rect { v1: at, ..*r }, Rect { v0: at, ..*r })
    }
}

/// Boxes around the chords on both sides of each place.
struct Sides {
    axis: usize,
    low: [Hull; PLACES],
    high: [Hull; PLACES],
}

impl Sides {
    /// `at` ascends and is not empty.
    fn new(axis: usize, at: &[f64], clips: &[Chord]) -> Self {
        let n = at.len();
        // What ends before a place is below all later ones, what begins after it above all earlier ones; what
        // crosses it is cut there.
        let (mut low, mut high) = ([Hull::EMPTY; PLACES], [Hull::EMPTY; PLACES]);
        let (mut low_cut, mut high_cut) = ([Hull::EMPTY; PLACES], [Hull::EMPTY; PLACES]);
        for c in clips {
            let e = c.error;
            let (first, last) = if c.from[axis] <= c.to[axis] { (c.from, c.to) } else { (c.to, c.from) };
            let (x, y) = (first[axis], last[axis]);
            let on = |border: f64| first + (last - first) * ((border - x) / (y - x));
            let begun = at.partition_point(|a| x > a + e);
            let ended = begun + at[begun..].partition_point(|a| y > a + e);
            if begun < n {
                low[begun].add(first, e);
            }
            if ended < n {
                low[ended].add(last, e);
            }
            for k in begun..ended {
                low_cut[k].add(on(at[k] + e), e);
            }
            let ends_at = at.partition_point(|a| y >= a - e);
            let begins_at = at[..ends_at].partition_point(|a| x >= a - e);
            if ends_at > 0 {
                high[ends_at - 1].add(last, e);
            }
            if begins_at > 0 {
                high[begins_at - 1].add(first, e);
            }
            for k in begins_at..ends_at {
                high_cut[k].add(on(at[k] - e), e);
            }
        }
        for k in 1..n {
            low[k] = low[k].joined(&low[k - 1]);
            high[n - 1 - k] = high[n - 1 - k].joined(&high[n - k]);
        }
        for k in 0..n {
            low[k] = low[k].joined(&low_cut[k]);
            high[k] = high[k].joined(&high_cut[k]);
        }
        Self { axis, low, high }
    }

    /// Size of the two halves at place `k` together after both have been shrunk. `known` tells which corners
    /// of the whole are inside, `ends` which ends of the cut.
    fn shrunk(&self, k: usize, (a, b): (&Rect, &Rect), known: [bool; 4], [p, q]: [bool; 2]) -> f64 {
        let [k00, k10, k01, k11] = known;
        let (of_low, of_high) = if self.axis == 0 {
            ([k00, p, k01, q], [p, k10, q, k11])
        } else {
            ([k00, k10, p, q], [p, q, k01, k11])
        };
        let shrunk = |hull: &Hull, r: &Rect, corners| hull.closed(r, corners).map_or(0.0, |t| size(&t));
        shrunk(&self.low[k], a, of_low) + shrunk(&self.high[k], b, of_high)
    }
}

/// The corners of a rectangle, in the order that all lists of them have.
pub(super) fn corners(r: &Rect) -> [P2; 4] {
    [P2::new(r.u0, r.v0), P2::new(r.u1, r.v0), P2::new(r.u0, r.v1), P2::new(r.u1, r.v1)]
}

pub(super) fn size(r: &Rect) -> f64 {
    (r.u1 - r.u0) * (r.v1 - r.v0)
}

/// A growing box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hull {
    lo: P2,
    hi: P2,
}

impl Hull {
    pub(super) const EMPTY: Self =
        Self { lo: P2::new(f64::INFINITY, f64::INFINITY), hi: P2::new(f64::NEG_INFINITY, f64::NEG_INFINITY) };

    /// Grows around everything within `e` of `p`.
    pub(super) fn add(&mut self, p: P2, e: f64) {
        for k in 0..2 {
            self.lo[k] = if p[k] - e < self.lo[k] { p[k] - e } else { self.lo[k] };
            self.hi[k] = if p[k] + e > self.hi[k] { p[k] + e } else { self.hi[k] };
        }
    }

    fn joined(mut self, other: &Self) -> Self {
        for k in 0..2 {
            self.lo[k] = if other.lo[k] < self.lo[k] { other.lo[k] } else { self.lo[k] };
            self.hi[k] = if other.hi[k] > self.hi[k] { other.hi[k] } else { self.hi[k] };
        }
        self
    }

    /// Whether a point is in the box.
    pub(super) fn holds(&self, p: &P2) -> bool {
        self.lo.x <= p.x && p.x <= self.hi.x && self.lo.y <= p.y && p.y <= self.hi.y
    }

    /// The box around the boundary's part in `r` (this hull) and the corners of `r` that are inside; all of
    /// `r` where there is no boundary.
    pub(super) fn closed(mut self, r: &Rect, inside: [bool; 4]) -> Option<Rect> {
        let any = self.lo.x <= self.hi.x;
        for (p, inside) in corners(r).into_iter().zip(inside) {
            if inside && !any {
                return Some(*r);
            }
            if inside {
                self.add(p, 0.0);
            }
        }
        let b = Rect {
            u0: self.lo.x.max(r.u0),
            u1: self.hi.x.min(r.u1),
            v0: self.lo.y.max(r.v0),
            v1: self.hi.y.min(r.v1),
        };
        (b.u0 <= b.u1 && b.v0 <= b.v1).then_some(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// The parts of chords below and above a place, one place at a time.
    fn one_place(axis: usize, at: f64, clips: &[Chord]) -> [Hull; 2] {
        let [mut low, mut high] = [Hull::EMPTY; 2];
        for c in clips {
            let (first, last) = if c.from[axis] <= c.to[axis] { (c.from, c.to) } else { (c.to, c.from) };
            let on = |x: f64| first + (last - first) * ((x - first[axis]) / (last[axis] - first[axis]));
            if first[axis] <= at + c.error {
                low.add(first, c.error);
                low.add(if last[axis] <= at + c.error { last } else { on(at + c.error) }, c.error);
            }
            if last[axis] >= at - c.error {
                high.add(last, c.error);
                high.add(if first[axis] >= at - c.error { first } else { on(at - c.error) }, c.error);
            }
        }
        [low, high]
    }

    #[test]
    fn one_sweep_gives_what_each_place_gives() {
        let mut rng = SmallRng::seed_from_u64(3);
        for _ in 0..300 {
            let clips: Vec<Chord> = (0..rng.random_range(0..12))
                .map(|_| {
                    let mut x = || 0.25 * f64::from(rng.random_range(0..5));
                    let mut p = || P2::new(x(), x());
                    let (from, to) = (p(), p());
                    Chord { from, to, error: rng.random_range(0.0..0.1), corner: true }
                })
                .collect();
            let mut at: Vec<f64> =
                (0..rng.random_range(1..=PLACES)).map(|_| rng.random_range(0.0..1.0)).collect();
            // Ends of chords on places, too.
            at[0] = 0.5;
            at.sort_by(f64::total_cmp);
            for axis in 0..2 {
                let sides = Sides::new(axis, &at, &clips);
                for (k, x) in at.iter().enumerate() {
                    let expected = one_place(axis, *x, &clips);
                    let found = [sides.low[k], sides.high[k]];
                    assert!(
                        found.iter().zip(&expected).all(|(a, b)| a.lo == b.lo && a.hi == b.hi),
                        "{k} of {at:?}"
                    );
                }
            }
        }
    }
}
