//! The smallest cap of the sphere around directions.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use crate::V3;
use crate::frame::unit;
use arrayvec::ArrayVec;

/// Unit vectors of `directions` without the zero ones; `None` when one is not finite.
pub(super) fn units(directions: &[V3]) -> Option<Vec<V3>> {
    let mut out = Vec::with_capacity(directions.len());
    for d in directions {
        if !d.iter().all(|c| c.is_finite()) {
            return None;
        }
        out.extend(unit(*d));
    }
    Some(out)
}

/// Unit axis of a small cap around unit `dirs` (not empty): the smallest one, up to rounding, where they fit
/// an open half-space, elsewhere any; with it the direction farthest from it and its squared chord. The
/// radius is left to the caller, to round it outward.
pub(super) fn min_cap_axis(dirs: &[V3]) -> (V3, (V3, f64)) {
    let with_farthest = |axis: V3| (axis, farthest(dirs, &axis));
    match dirs {
        [d] => return with_farthest(*d),
        [a, b] => return with_farthest(unit(a + b).unwrap_or(*a)),
        _ => {}
    }
    let mean = with_farthest(unit(dirs.iter().sum()).unwrap_or(dirs[0]));
    let exact = with_farthest(grown(dirs, mean.1.0));
    if exact.1.1 <= mean.1.1 { exact } else { mean }
}

/// Cap by its axis and the squared chord from the axis to its border: chords tell small caps apart where
/// cosines no longer do.
#[derive(Clone, Copy)]
struct ChordCap {
    axis: V3,
    chord_sq: f64,
}

impl ChordCap {
    fn holds(&self, d: &V3) -> bool {
        (d - self.axis).norm_squared() <= self.chord_sq * (1.0 + 1e-9) + 1e-30
    }

    fn through(axis: V3, points: &[V3]) -> Self {
        Self { axis, chord_sq: farthest(points, &axis).1 }
    }

    fn two(a: V3, b: V3) -> Self {
        Self::through(unit(a + b).unwrap_or(a), &[a, b])
    }

    fn three(a: V3, b: V3, c: V3) -> Option<Self> {
        let (p, q) = (b - a, c - a);
        let n = p.cross(&q);
        let n_sq = n.norm_squared();
        if !(n_sq > 0.0) {
            return None;
        }
        // The circumcentre of the chords' triangle is on the axis. For small caps it is far better
        // conditioned than the triangle's normal, for half-spaces (where it comes to the origin) worse.
        let center = a + (n.cross(&p) * q.norm_squared() + q.cross(&n) * p.norm_squared()) / (2.0 * n_sq);
        let axis = if center.norm_squared() > 0.1 { center } else { n * n.dot(&a).signum() };
        Some(Self::through(unit(axis)?, &[a, b, c]))
    }
}

/// The direction farthest from an axis, and its squared chord.
pub(super) fn farthest(dirs: &[V3], axis: &V3) -> (V3, f64) {
    let mut out = (dirs[0], -1.0);
    for d in dirs {
        let chord_sq = (d - axis).norm_squared();
        if chord_sq > out.1 {
            out = (*d, chord_sq);
        }
    }
    out
}

/// Most directions ever taken into the support of a cap; a handful is usual.
const MAX_STEPS: usize = 64;

/// Grows a cap by the direction farthest from its axis until it holds them all. The cap is always the
/// smallest around the two or three directions on its border and therefore never larger than the smallest
/// around all; each step makes it larger, so none comes back. Starts from one of them.
fn grown(dirs: &[V3], first: V3) -> V3 {
    let mut support: ArrayVec<V3, 4> = ArrayVec::new();
    support.push(first);
    let mut cap = ChordCap { axis: first, chord_sq: 0.0 };
    for _ in 0..MAX_STEPS {
        let (d, _) = farthest(dirs, &cap.axis);
        if cap.holds(&d) {
            break;
        }
        support.push(d);
        let Some((next, border)) = smallest(&support) else { break };
        // A chord of √2 spans a half-space: nothing smaller will be found. No growth: rounding has the last
        // word.
        if next.chord_sq >= 2.0 || next.chord_sq <= cap.chord_sq {
            break;
        }
        (cap, support) = (next, border);
    }
    cap.axis
}

/// The smallest cap around two to four directions, and those on its border. The last one is outside the
/// smallest cap around the others, hence on the border.
fn smallest(dirs: &[V3]) -> Option<(ChordCap, ArrayVec<V3, 4>)> {
    let (last, others) = dirs.split_last()?;
    let mut best: Option<(ChordCap, ArrayVec<V3, 4>)> = None;
    let mut offer = |cap: ChordCap, border: &[V3]| {
        if dirs.iter().all(|d| cap.holds(d)) && best.as_ref().is_none_or(|b| cap.chord_sq < b.0.chord_sq) {
            best = Some((cap, border.iter().copied().collect()));
        }
    };
    for (i, a) in others.iter().enumerate() {
        offer(ChordCap::two(*a, *last), &[*a, *last]);
        for b in &others[i + 1..] {
            if let Some(cap) = ChordCap::three(*a, *b, *last) {
                offer(cap, &[*a, *b, *last]);
            }
        }
    }
    best
}
