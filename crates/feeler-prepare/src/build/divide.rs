//! Divides a set of leaves in two.
//!
//! A traversal of two hierarchies descends below a pair of nodes if their boxes are near each other and
//! their cones can face each other. The probability that boxes are near grows with the surface of the
//! node's box, and the probability that cones face each other grows with the solid angle of its cone.
//! The cost of descending grows with the number of leaves below. The division minimises the sum of the
//! products of these three over both parts.
//!
//! # Source
//! BREP §2.4.4 divides at the median along the direction of largest spread. The surface-area cost is that
//! of ray tracing, evaluated in bins.
//!
//! # Deviations
//! Measured on the insertion scenarios s1 and s2: the cost with cones visits 9,000 pairs of nodes where
//! the median visits 18,400 (s1), and 21,700 where it visits 33,100 (s2). More bins change these numbers
//! by a few percent in either direction. Sorting by directions as well, or along the principal axis of
//! the leaves in addition to the coordinate axes, gains nothing; a cost without cones visits a tenth
//! more.

use feeler_geom::V3;

use crate::bound::Leaf;

/// Maximum number of bins along each coordinate axis; sets of fewer than 16 leaves get two bins per
/// leaf.
const BINS: usize = 32;

/// Constant that is added, in the cost of a set of leaves, to the solid angle of the set's cone. The
/// solid angle is in hemispheres, so that it is 2 for all directions. The constant keeps the cost of
/// leaves with a single direction above zero; with a larger value, cones affect the division less.
const FLAT_WEIGHT: f64 = 1.0;

/// Divisor of the number of leaves of a set that gives the minimum number of leaves on either side of a
/// cut, which bounds the depth of the tree and the time to build it. Without the bound, 1 % fewer nodes
/// are visited.
const MIN_SHARE: usize = 8;

/// Data of one leaf that the division uses, in the frame of the solid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Centre of the leaf's box (mm), whose coordinates decide on which side of a cut the leaf is.
    center: V3,
    /// Bounds of the points and directions of this one leaf, which determine its contribution to the cost.
    extent: Extent,
}

impl Item {
    pub(super) fn new(leaf: &Leaf) -> Self {
        let (b, c) = (&leaf.obb, &leaf.cone);
        let reach = b.axes[0].abs() * b.half.x + b.axes[1].abs() * b.half.y + b.axes[2].abs() * b.half.z;
        let spread = if c.half_angle < 1.5 { feeler_geom::math::sin(c.half_angle) } else { 2.0 };
        let extent = Extent {
            low: six(b.center.coords - reach, c.axis.add_scalar(-spread)),
            high: six(b.center.coords + reach, c.axis.add_scalar(spread)),
            n: 1,
        };
        Self { center: b.center.coords, extent }
    }
}

fn six(a: V3, b: V3) -> [f64; 6] {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}

/// Bounds of a set of `n` leaves: the smallest (`low`) and the largest (`high`) values of six
/// coordinates. The first three are those of the boxes of the leaves (mm), the last three those of the
/// unit vectors in their cones. All are in the frame of the solid.
#[derive(Clone, Copy, Debug)]
struct Extent {
    low: [f64; 6],
    high: [f64; 6],
    n: usize,
}

impl Extent {
    const EMPTY: Self = Self { low: [f64::INFINITY; 6], high: [f64::NEG_INFINITY; 6], n: 0 };

    fn join(&mut self, other: &Self) {
        for (a, b) in self.low.iter_mut().zip(&other.low) {
            *a = if *b < *a { *b } else { *a };
        }
        for (a, b) in self.high.iter_mut().zip(&other.high) {
            *a = if *b > *a { *b } else { *a };
        }
        self.n += other.n;
    }

    /// Expected cost of traversals below a node with these bounds, up to a factor that all nodes share:
    /// the number of leaves times the probability that the node is visited.
    fn cost(&self) -> f64 {
        let e: [f64; 6] = std::array::from_fn(|k| self.high[k] - self.low[k]);
        let area = e[0] * e[1] + e[1] * e[2] + e[2] * e[0];
        // An eighth of the squared diagonal of the directions approximates 1 - cos of the half-angle,
        // which is proportional to the solid angle.
        let cap = (0.125 * (e[3] * e[3] + e[4] * e[4] + e[5] * e[5])).min(2.0);
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let n = self.n as f64;
        n * area * (FLAT_WEIGHT + cap)
    }
}

/// Buffers reused between divisions.
#[derive(Debug)]
pub(super) struct Scratch {
    bins: [Extent; BINS],
    above: [(f64, usize); BINS],
    moved: Vec<u32>,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self { bins: [Extent::EMPTY; BINS], above: [(0.0, 0); BINS], moved: Vec::new() }
    }
}

/// Divides the items with the indices in `order` in two parts. Reorders `order` so that the first part
/// precedes the second, and returns the number of items of the first part. `order` must contain at least
/// two indices. If `halve` is true, the numbers of items of both parts differ by at most one.
pub(super) fn divide(items: &[Item], order: &mut [u32], halve: bool, scratch: &mut Scratch) -> usize {
    let n = order.len();
    if n == 2 {
        return 1;
    }
    let best = if halve { None } else { best_cut(items, order, scratch) };
    let Some(best) = best else { return median(items, order) };
    let moved = &mut scratch.moved;
    moved.clear();
    let mut kept = 0;
    for at in 0..n {
        let i = order[at];
        if best.bin(&items[i as usize]) < best.at {
            order[kept] = i;
            kept += 1;
        } else {
            moved.push(i);
        }
    }
    order[kept..].copy_from_slice(moved);
    kept
}

/// Halves the set at the median of the centres, along the longest side of the box around the centres.
/// Returns the number of items of the first part. This is used if all centres coincide, if no cut leaves
/// enough leaves on both sides, and at large depths.
fn median(items: &[Item], order: &mut [u32]) -> usize {
    let mid = order.len().div_ceil(2);
    let [lo, hi] = centers(items, order);
    let axis = (hi - lo).imax();
    let key = |i: u32| items[i as usize].center[axis];
    // Ties are broken by index: the tree must not depend on the order of equal keys.
    order.select_nth_unstable_by(mid, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
    mid
}

fn centers(items: &[Item], order: &[u32]) -> [V3; 2] {
    let (mut lo, mut hi) = (V3::repeat(f64::INFINITY), V3::repeat(f64::NEG_INFINITY));
    for &i in order {
        let c = &items[i as usize].center;
        for k in 0..3 {
            lo[k] = if c[k] < lo[k] { c[k] } else { lo[k] };
            hi[k] = if c[k] > hi[k] { c[k] } else { hi[k] };
        }
    }
    [lo, hi]
}

/// Cut of a set along the coordinate axis `axis`: items in bins below `at` form the first part. The
/// `bins` bins start at the coordinate `lo` (mm), and `scale` is their number per mm.
#[derive(Clone, Copy, Debug)]
struct Cut {
    axis: usize,
    lo: f64,
    scale: f64,
    bins: usize,
    at: usize,
}

impl Cut {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is between 0 and BINS"
    )]
    fn bin(&self, item: &Item) -> usize {
        (((item.center[self.axis] - self.lo) * self.scale) as usize).min(self.bins - 1)
    }
}

fn best_cut(items: &[Item], order: &[u32], scratch: &mut Scratch) -> Option<Cut> {
    let [lo, hi] = centers(items, order);
    let n_bins = (2 * order.len()).min(BINS);
    let min_leaves = (order.len() / MIN_SHARE).max(1);
    let mut best: Option<(f64, Cut)> = None;
    for axis in 0..3 {
        #[expect(clippy::cast_precision_loss, reason = "32")]
        let scale = n_bins as f64 / (hi[axis] - lo[axis]);
        if !scale.is_finite() {
            continue;
        }
        let cut = Cut { axis, lo: lo[axis], scale, bins: n_bins, at: 0 };
        let bins = &mut scratch.bins[..n_bins];
        bins.iter_mut().for_each(|b| b.n = 0);
        for &i in order {
            let item = &items[i as usize];
            let bin = &mut bins[cut.bin(item)];
            if bin.n == 0 {
                *bin = item.extent;
            } else {
                bin.join(&item.extent);
            }
        }
        let above = &mut scratch.above;
        let mut part = Extent::EMPTY;
        for k in (1..n_bins).rev() {
            if bins[k].n > 0 {
                part.join(&bins[k]);
                above[k] = (part.cost(), part.n);
            } else {
                above[k] = above.get(k + 1).copied().filter(|_| part.n > 0).unwrap_or((0.0, 0));
            }
        }
        part = Extent::EMPTY;
        for at in 1..n_bins {
            // After an empty bin the parts equal those of the previous cut.
            if bins[at - 1].n == 0 {
                continue;
            }
            part.join(&bins[at - 1]);
            let (cost_above, n_above) = above[at];
            if part.n.min(n_above) < min_leaves {
                continue;
            }
            let cost = part.cost() + cost_above;
            if best.is_none_or(|b| cost < b.0) {
                best = Some((cost, Cut { at, ..cut }));
            }
        }
    }
    best.map(|b| b.1)
}
