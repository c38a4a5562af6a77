//! The smallest cap of the sphere around directions.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use crate::V3;
use crate::frame::unit;

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

/// Unit axis of a small cap around unit `dirs` (not empty): the smallest one, up to rounding, where they fit an open
/// half-space. Elsewhere any axis. The radius is left to the caller, to round it outward.
pub(super) fn min_cap_axis(dirs: &[V3]) -> V3 {
    let first = dirs[0];
    let mean = unit(dirs.iter().sum()).unwrap_or(first);
    let exact = incremental(&shuffled(dirs));
    let spread = |axis: &V3| dirs.iter().fold(0.0, |m: f64, d| m.max((d - axis).norm_squared()));
    if spread(&exact) <= spread(&mean) { exact } else { mean }
}

/// Cap by its axis and the squared chord from the axis to its border: chords tell small caps apart where cosines
/// no longer do.
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
        Self { axis, chord_sq: points.iter().fold(0.0, |m: f64, p| m.max((p - axis).norm_squared())) }
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
        // The circumcentre of the chords' triangle is on the axis. For small caps it is far better conditioned than
        // the triangle's normal, for half-spaces (where it comes to the origin) worse.
        let center = a + (n.cross(&p) * q.norm_squared() + q.cross(&n) * p.norm_squared()) / (2.0 * n_sq);
        let axis = if center.norm_squared() > 0.1 { center } else { n * n.dot(&a).signum() };
        Some(Self::through(unit(axis)?, &[a, b, c]))
    }
}

/// Randomised incremental construction: a direction outside the cap of those before it is on the border of the next
/// cap. Expected linear time in random order.
fn incremental(dirs: &[V3]) -> V3 {
    let mut cap = ChordCap { axis: dirs[0], chord_sq: 0.0 };
    for (i, a) in dirs.iter().enumerate() {
        if cap.holds(a) {
            continue;
        }
        cap = ChordCap { axis: *a, chord_sq: 0.0 };
        for (j, b) in dirs[..i].iter().enumerate() {
            if cap.holds(b) {
                continue;
            }
            cap = ChordCap::two(*a, *b);
            for c in &dirs[..j] {
                if !cap.holds(c) {
                    cap = ChordCap::three(*a, *b, *c).unwrap_or(cap);
                }
            }
        }
    }
    cap.axis
}

/// The same shuffle every time.
fn shuffled(dirs: &[V3]) -> Vec<V3> {
    let mut out = dirs.to_vec();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for i in (1..out.len()).rev() {
        // The multiplier of Knuth's MMIX generator; the high bits are the good ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let j = ((state >> 33) % (i as u64 + 1)) as usize;
        out.swap(i, j);
    }
    out
}
