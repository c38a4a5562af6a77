//! Detects bends tighter than the radius of the tube, at which the tube overlaps itself without a
//! minimum.

use crate::part::Part;
use crate::piece::{at, bend_bound};
use crate::tree::CurveTree;

/// Maximum number of bisections of a leaf in the search for tight bends. With a larger value, cusps are
/// slower; with a smaller one, short bends and cusps are lost.
const MAX_BISECTIONS: u32 = 16;
/// Minimum number of bisections of a leaf before a part of it is reported as a tight bend. A larger
/// value is slower; a smaller one locates the tightest point less accurately.
const MIN_BISECTIONS: u32 = 4;

/// Interval of a curve that is bent too tightly for the radius of its tube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TightBend {
    /// Parameters of the ends of the interval.
    pub range: [f64; 2],
    /// Parameter of the curve at which the largest curvature in the interval was found.
    pub u: f64,
    /// Curvature at `u` (1/mm); infinite at a cusp.
    pub curvature: f64,
}

/// Replaces the content of `out` by the intervals of the curve on which its curvature (1/mm) is at least
/// 1 / `radius`, with `radius` in mm. The list is empty if `radius` is 0. No interval longer than 2⁻¹⁶
/// of the parameter range of a leaf is missed. The ends of the listed intervals are accurate to 2⁻⁴ of
/// that range.
pub(crate) fn tight_bends<const N: usize>(s: &CurveTree<N>, radius: f64, out: &mut Vec<TightBend>) {
    out.clear();
    if radius > 0.0 {
        for leaf in &s.leaves {
            search(&Part::of_leaf(leaf), 1.0 / radius, 0, out);
        }
    }
}

fn search<const N: usize>(part: &Part<N>, limit: f64, depth: u32, out: &mut Vec<TightBend>) {
    if bend_bound(&part.control) < limit {
        return;
    }
    let middle = at(&part.control, 0.5);
    let speed = middle.d.norm();
    let curvature = middle.d.cross(&middle.dd).norm() / (speed * speed * speed);
    // At a cusp the curvature is undefined; it counts as tight.
    let is_tight = curvature >= limit || curvature.is_nan();
    if depth == MAX_BISECTIONS || is_tight && depth >= MIN_BISECTIONS {
        if is_tight {
            let curvature = if curvature.is_nan() { f64::INFINITY } else { curvature };
            add(TightBend { range: [part.at(0.0), part.at(1.0)], u: part.at(0.5), curvature }, out);
        }
        return;
    }
    for half in part.halves(false) {
        search(&half, limit, depth + 1, out);
    }
}

/// Appends a bend to `out`, or merges it with the last one of the list if the two are adjacent.
fn add(bend: TightBend, out: &mut Vec<TightBend>) {
    match out.last_mut() {
        Some(last) if bend.range[0] <= last.range[1] => {
            last.range[1] = bend.range[1];
            if bend.curvature > last.curvature {
                (last.u, last.curvature) = (bend.u, bend.curvature);
            }
        }
        _ => out.push(bend),
    }
}
