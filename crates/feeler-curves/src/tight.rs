//! Places where a tube is bent more than its radius allows: it overlaps itself there without a minimum.

use crate::part::Part;
use crate::piece::{at, bend_bound};
use crate::tree::Skeleton;

/// Halvings of a leaf on the way to a place; after the first ones a place that is found is enough.
const HALVINGS: u32 = 16;
const FINE: u32 = 4;

/// A stretch of a curve that is bent too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TightBend {
    /// The parameters between which the curvature was found to be too large.
    pub range: [f64; 2],
    /// Where it was found to be largest, and how large (1/mm); infinite at a cusp.
    pub u: f64,
    /// The curvature there.
    pub curvature: f64,
}

/// All stretches where radius times curvature is 1 or more. Nothing is missed that is longer than 2⁻¹⁶ of a
/// leaf of the curve's tree.
pub(crate) fn tight_bends<const N: usize>(s: &Skeleton<N>, radius: f64, out: &mut Vec<TightBend>) {
    out.clear();
    if radius > 0.0 {
        for leaf in &s.leaves {
            look(&Part::of_leaf(leaf), 1.0 / radius, 0, out);
        }
    }
}

fn look<const N: usize>(part: &Part<N>, limit: f64, depth: u32, out: &mut Vec<TightBend>) {
    if bend_bound(&part.control) < limit {
        return;
    }
    let middle = at(&part.control, 0.5);
    let speed = middle.d.norm();
    let curvature = middle.d.cross(&middle.dd).norm() / (speed * speed * speed);
    // A cusp has no curvature, and is one.
    let is_tight = curvature >= limit || curvature.is_nan();
    if depth == HALVINGS || is_tight && depth >= FINE {
        if is_tight {
            let curvature = if curvature.is_nan() { f64::INFINITY } else { curvature };
            add(TightBend { range: [part.at(0.0), part.at(1.0)], u: part.at(0.5), curvature }, out);
        }
        return;
    }
    for half in part.halves(false) {
        look(&half, limit, depth + 1, out);
    }
}

/// Adds a stretch to the one that ends where it begins.
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
