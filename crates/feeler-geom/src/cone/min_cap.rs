//! Smallest spherical cap around a set of directions.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the conservative branch")]

use crate::V3;
use crate::frame::unit;
use arrayvec::ArrayVec;

/// Returns the directions as unit vectors, without zero vectors. Returns `None` if a vector is not
/// finite.
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

/// Returns the unit axis of a small cap around the unit directions `dirs` (not empty), with the
/// direction farthest from the axis and the squared length of the chord between the two. The cap is the
/// smallest one, up to rounding, if the directions fit an open half-space. The caller computes the
/// radius and rounds it outward.
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

/// A spherical cap, given by its unit axis and the squared chord from the axis to a direction on the
/// cap's boundary circle. Chords resolve small caps better than cosines.
#[derive(Clone, Copy)]
struct ChordCap {
    axis: V3,
    chord_sq: f64,
}

impl ChordCap {
    fn contains(&self, d: &V3) -> bool {
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
        // The circumcentre of the triangle is on the axis. It is far better conditioned than the normal
        // of the triangle for small caps, and worse for half-spaces, where it approaches the origin.
        let center = a + (n.cross(&p) * q.norm_squared() + q.cross(&n) * p.norm_squared()) / (2.0 * n_sq);
        let axis = if center.norm_squared() > 0.1 { center } else { n * n.dot(&a).signum() };
        Some(Self::through(unit(axis)?, &[a, b, c]))
    }
}

/// Returns the direction of `dirs` (not empty) farthest from a unit axis, and the squared length of the
/// chord between the two.
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

/// Maximum number of steps in which a cap grows by one direction; a few are usual. A larger value only
/// costs time in degenerate cases, a smaller one returns caps that are not the smallest.
const MAX_GROWTH_STEPS: usize = 64;

/// Returns the axis of the smallest cap around `dirs`, if they fit an open half-space. Otherwise, or if
/// rounding or [`MAX_GROWTH_STEPS`] ends the growth, returns the axis of a cap that may miss directions.
/// A cap grows, starting from `first`, by the direction farthest from its axis until it contains all
/// directions. It is always the smallest cap around the two or three directions on its boundary, so it
/// never exceeds the smallest cap around all directions. Each step enlarges the cap, so no set of boundary
/// directions repeats.
fn grown(dirs: &[V3], first: V3) -> V3 {
    let mut support: ArrayVec<V3, 4> = ArrayVec::new();
    support.push(first);
    let mut cap = ChordCap { axis: first, chord_sq: 0.0 };
    for _ in 0..MAX_GROWTH_STEPS {
        let (d, _) = farthest(dirs, &cap.axis);
        if cap.contains(&d) {
            break;
        }
        support.push(d);
        let Some((next, border)) = smallest(&support) else { break };
        // A chord of √2 spans a half-space, so no smaller cap exists. A cap that does not grow is
        // limited by rounding.
        if next.chord_sq >= 2.0 || next.chord_sq <= cap.chord_sq {
            break;
        }
        (cap, support) = (next, border);
    }
    cap.axis
}

/// Returns the smallest cap around two to four directions, and the directions on its boundary. The last
/// direction must be outside the smallest cap around the others, so it is on the boundary. Returns
/// `None` if rounding leaves no cap that contains all of them.
fn smallest(dirs: &[V3]) -> Option<(ChordCap, ArrayVec<V3, 4>)> {
    let (last, others) = dirs.split_last()?;
    let mut best: Option<(ChordCap, ArrayVec<V3, 4>)> = None;
    let mut offer = |cap: ChordCap, border: &[V3]| {
        if dirs.iter().all(|d| cap.contains(d)) && best.as_ref().is_none_or(|b| cap.chord_sq < b.0.chord_sq) {
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
