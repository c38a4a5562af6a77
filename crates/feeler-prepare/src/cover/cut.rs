//! Chooses where a rectangle is cut in two, and computes boxes around the chords in both halves.
//!
//! All positions along one direction are evaluated in one sweep. A chord wholly on one side of a position
//! is on the same side of all positions beyond, so that each chord is visited once and not once per
//! position.

use arrayvec::ArrayVec;
use feeler_geom::{P2, Rect};

use super::Chord;

/// Maximum number of corners of the boundary that are tried as positions of a cut, for each parameter (u
/// and v).
const MAX_CORNERS: usize = 12;

/// Maximum number of positions of a cut that are evaluated for each parameter: corners and the middle.
const MAX_POSITIONS: usize = MAX_CORNERS + 1;

/// Returns the two parts into which the best cut divides `r`: the cut whose parts have the smallest
/// total area after shrinking to the domain. If no cut saves area, cuts the side that is longer in space
/// in the middle. `clips` are the `chords` near `r` clipped to `r`, `positions` is a buffer, `aspect` is
/// the width over the height of the unit square in space, and `inside` decides whether a point is in the
/// domain.
pub(super) fn best_cut(
    r: &Rect,
    chords: &[Chord],
    clips: &[Chord],
    aspect: f64,
    positions: &mut Vec<f64>,
    inside: impl Fn(P2) -> bool,
) -> (Rect, Rect) {
    let corners_inside = corners(r).map(&inside);
    let mut best: Option<(Rect, Rect)> = None;
    let mut best_score = size(r) * (1.0 - 1e-6);
    for axis in 0..2 {
        let (lo, len) = if axis == 0 { (r.u0, r.u1 - r.u0) } else { (r.v0, r.v1 - r.v0) };
        find_positions(axis, (lo, len), chords, positions);
        let n = positions.len();
        let corner =
            |k: usize| positions[if n <= MAX_CORNERS { k } else { (2 * k + 1) * n / (2 * MAX_CORNERS) }];
        let middle = lo + 0.5 * len;
        let mut at: ArrayVec<f64, MAX_POSITIONS> = (0..n.min(MAX_CORNERS)).map(corner).collect();
        let m = at.partition_point(|x| *x < middle);
        at.insert(m, middle);
        let sides = Sides::new(axis, &at, clips);
        // The middle comes last: among equal positions a corner is preferred.
        let order = (0..at.len()).filter(|k| *k != m).chain([m]);
        for k in order {
            let (a, b) = halves(r, axis, at[k]);
            // Among equal gains the more even cut is preferred.
            let uneven = 1e-3 * size(r) * ((at[k] - lo) / len - 0.5).abs();
            let score = |ends: [bool; 2]| sides.shrunk(k, (&a, &b), corners_inside, ends) + uneven;
            // Ends of the cut that are inside can only increase the score.
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

/// Replaces the content of `positions` by candidate positions of cuts across the parameter `axis`, in
/// increasing order: one just below and one just above each corner of the boundary, except near the ends
/// of the rectangle. Because no position is at a corner itself, a straight part of the boundary along a
/// cut belongs to one half only. `lo` and `len` are the start and the length of the rectangle along
/// `axis`.
fn find_positions(axis: usize, (lo, len): (f64, f64), chords: &[Chord], positions: &mut Vec<f64>) {
    positions.clear();
    for c in chords.iter().filter(|c| c.corner) {
        let beside = [c.to[axis] - 4.0 * c.error, c.to[axis] + 4.0 * c.error];
        positions.extend(beside.into_iter().filter(|x| lo + 0.02 * len < *x && *x < lo + 0.98 * len));
    }
    positions.sort_unstable_by(f64::total_cmp);
    positions.dedup_by(|a, b| *a - *b < 1e-12 * len);
}

fn halves(r: &Rect, axis: usize, at: f64) -> (Rect, Rect) {
    if axis == 0 {
        (Rect { u1: at, ..*r }, Rect { u0: at, ..*r })
    } else {
        (Rect { v1: at, ..*r }, Rect { v0: at, ..*r })
    }
}

/// Boxes around the parts of chords below (`low`) and above (`high`) each position of a cut along
/// parameter `axis`.
struct Sides {
    axis: usize,
    low: [Hull; MAX_POSITIONS],
    high: [Hull; MAX_POSITIONS],
}

impl Sides {
    /// Computes the boxes for the positions `at`, which must ascend and not be empty.
    fn new(axis: usize, at: &[f64], clips: &[Chord]) -> Self {
        let n = at.len();
        // A chord that ends before a position is below all later ones, and a chord that begins after it
        // is above all earlier ones. A chord that crosses a position is cut there.
        let (mut low, mut high) = ([Hull::EMPTY; MAX_POSITIONS], [Hull::EMPTY; MAX_POSITIONS]);
        let (mut low_cut, mut high_cut) = ([Hull::EMPTY; MAX_POSITIONS], [Hull::EMPTY; MAX_POSITIONS]);
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

    /// Returns the sum of the areas of the halves `a` and `b`, after both have been shrunk to the
    /// domain, for the cut at the position with the index `k`. `corners_inside` states which corners of
    /// the whole rectangle are inside the domain, and `[p, q]` whether the start and the end of the cut
    /// are.
    fn shrunk(&self, k: usize, (a, b): (&Rect, &Rect), corners_inside: [bool; 4], [p, q]: [bool; 2]) -> f64 {
        let [k00, k10, k01, k11] = corners_inside;
        let (of_low, of_high) = if self.axis == 0 {
            ([k00, p, k01, q], [p, k10, q, k11])
        } else {
            ([k00, k10, p, q], [p, q, k01, k11])
        };
        let shrunk = |hull: &Hull, r: &Rect, corners| hull.closed(r, corners).map_or(0.0, |t| size(&t));
        shrunk(&self.low[k], a, of_low) + shrunk(&self.high[k], b, of_high)
    }
}

/// Corners of a rectangle, in the order that all arrays of corners use: u increases first.
pub(super) fn corners(r: &Rect) -> [P2; 4] {
    [P2::new(r.u0, r.v0), P2::new(r.u1, r.v0), P2::new(r.u0, r.v1), P2::new(r.u1, r.v1)]
}

pub(super) fn size(r: &Rect) -> f64 {
    (r.u1 - r.u0) * (r.v1 - r.v0)
}

/// Bounding box in the parameter plane that grows as points are added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hull {
    lo: P2,
    hi: P2,
}

impl Hull {
    pub(super) const EMPTY: Self =
        Self { lo: P2::new(f64::INFINITY, f64::INFINITY), hi: P2::new(f64::NEG_INFINITY, f64::NEG_INFINITY) };

    /// Enlarges the box to contain the square of half-width `e` around `p`.
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

    /// Returns whether the box contains a point.
    pub(super) fn contains(&self, p: &P2) -> bool {
        self.lo.x <= p.x && p.x <= self.hi.x && self.lo.y <= p.y && p.y <= self.hi.y
    }

    /// Returns the box around this hull, which contains the boundary in `r`, and the corners of `r` that
    /// `inside` marks as inside the domain. Returns `r` itself if it contains no boundary but is inside
    /// the domain, and `None` if it contains no point of the domain.
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

    /// Boxes around the parts of all chords below and above one position, computed chord by chord.
    fn at_one_position(axis: usize, at: f64, clips: &[Chord]) -> [Hull; 2] {
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
    fn the_sweep_agrees_with_single_positions() {
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
                (0..rng.random_range(1..=MAX_POSITIONS)).map(|_| rng.random_range(0.0..1.0)).collect();
            // Some ends of chords are exactly on a position.
            at[0] = 0.5;
            at.sort_by(f64::total_cmp);
            for axis in 0..2 {
                let sides = Sides::new(axis, &at, &clips);
                for (k, x) in at.iter().enumerate() {
                    let expected = at_one_position(axis, *x, &clips);
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
