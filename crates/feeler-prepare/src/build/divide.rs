//! Where a set of leaves is divided in two.
//!
//! A traversal of two hierarchies goes below a node when boxes come near and cones may face each other. The chance
//! of the first grows with the surface of the box, the chance of the second with the solid angle of the cone, and
//! what it costs with the number of leaves below: a division is the better the smaller the sum of these products.
//!
//! # Source
//! BREP §2.4.4 divides at the median along the direction of largest spread. The surface-area cost is the usual one of
//! ray tracing, evaluated in bins.
//!
//! # Deviations
//! Measured on the insertion scenarios, the cost with cones visits 9,000 pairs of nodes where the median visits 18,400
//! (s1), 21,700 where it visits 33,100 (s2); more bins change that by a few percent either way. Directions as a further key to sort by, or the leaves' principal axis
//! beside the three of the coordinates, gain nothing; leaving the cones out of the cost loses a tenth.

use feeler_geom::V3;

use crate::bound::Leaf;

/// Bins along each coordinate, at most; small sets get two a leaf.
const BINS: usize = 32;

/// What a cone adds to the cost: the weight of a set with one direction only, relative to one with all.
const FLAT_WEIGHT: f64 = 1.0;

/// The smaller part holds at least this share of the leaves, which bounds the depth of the tree and the time to build
/// it; without the bound 1 % fewer nodes are visited.
const MIN_SHARE: usize = 8;

/// What the division needs to know of a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    center: V3,
    extent: Extent,
}

impl Item {
    pub(super) fn new(leaf: &Leaf) -> Self {
        let (b, c) = (&leaf.obb, &leaf.cone);
        let reach = b.axes[0].abs() * b.half.x + b.axes[1].abs() * b.half.y + b.axes[2].abs() * b.half.z;
        let spread = if c.half_angle < 1.5 { feeler_geom::math::sin(c.half_angle) } else { 2.0 };
        let extent = Extent {
            lo: b.center.coords - reach,
            hi: b.center.coords + reach,
            dir_lo: c.axis.add_scalar(-spread),
            dir_hi: c.axis.add_scalar(spread),
            n: 1,
        };
        Self { center: b.center.coords, extent }
    }
}

/// A box around leaves and one around their directions.
#[derive(Clone, Copy, Debug)]
struct Extent {
    lo: V3,
    hi: V3,
    dir_lo: V3,
    dir_hi: V3,
    n: usize,
}

impl Extent {
    const EMPTY: Self = Self {
        lo: V3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        hi: V3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
        dir_lo: V3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        dir_hi: V3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
        n: 0,
    };

    fn join(&mut self, other: &Self) {
        for k in 0..3 {
            self.lo[k] = if other.lo[k] < self.lo[k] { other.lo[k] } else { self.lo[k] };
            self.hi[k] = if other.hi[k] > self.hi[k] { other.hi[k] } else { self.hi[k] };
            self.dir_lo[k] = if other.dir_lo[k] < self.dir_lo[k] { other.dir_lo[k] } else { self.dir_lo[k] };
            self.dir_hi[k] = if other.dir_hi[k] > self.dir_hi[k] { other.dir_hi[k] } else { self.dir_hi[k] };
        }
        self.n += other.n;
    }

    /// Expected work below; the number of leaves times chances up to a common factor.
    fn cost(&self) -> f64 {
        let e = self.hi - self.lo;
        let area = e.x * e.y + e.y * e.z + e.z * e.x;
        // Half the squared chord of half the spread is 1 - cos of the half-angle, the share of the sphere.
        let cap = (0.125 * (self.dir_hi - self.dir_lo).norm_squared()).min(2.0);
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let n = self.n as f64;
        n * area * (FLAT_WEIGHT + cap)
    }
}

/// Puts one part of `order` before the other and returns the number of the first. At least two items; `halve` asks
/// for halves of equal number.
pub(super) fn divide(items: &[Item], order: &mut [u32], halve: bool, scratch: &mut Vec<u32>) -> usize {
    let n = order.len();
    if n == 2 {
        return 1;
    }
    let Some(best) = best_cut(items, order).filter(|_| !halve) else { return median(items, order) };
    scratch.clear();
    let mut kept = 0;
    for at in 0..n {
        let i = order[at];
        if best.bin(&items[i as usize]) < best.at {
            order[kept] = i;
            kept += 1;
        } else {
            scratch.push(i);
        }
    }
    order[kept..].copy_from_slice(scratch);
    kept
}

/// Halves along the longest side: where all centres are in one place, or a few far away.
fn median(items: &[Item], order: &mut [u32]) -> usize {
    let mid = order.len().div_ceil(2);
    let [lo, hi] = centers(items, order);
    let axis = (hi - lo).imax();
    let key = |i: u32| items[i as usize].center[axis];
    // Ties by index: the tree must not depend on the order of equals.
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

/// A cut between two bins.
#[derive(Clone, Copy, Debug)]
struct Cut {
    axis: usize,
    lo: f64,
    scale: f64,
    bins: usize,
    at: usize,
}

impl Cut {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and BINS")]
    fn bin(&self, item: &Item) -> usize {
        (((item.center[self.axis] - self.lo) * self.scale) as usize).min(self.bins - 1)
    }
}

fn best_cut(items: &[Item], order: &[u32]) -> Option<Cut> {
    let [lo, hi] = centers(items, order);
    let n_bins = (2 * order.len()).min(BINS);
    let least = (order.len() / MIN_SHARE).max(1);
    let mut best: Option<(f64, Cut)> = None;
    for axis in 0..3 {
        #[expect(clippy::cast_precision_loss, reason = "32")]
        let scale = n_bins as f64 / (hi[axis] - lo[axis]);
        if !scale.is_finite() {
            continue;
        }
        let cut = Cut { axis, lo: lo[axis], scale, bins: n_bins, at: 0 };
        let mut bins = [Extent::EMPTY; BINS];
        let bins = &mut bins[..n_bins];
        for &i in order {
            let item = &items[i as usize];
            bins[cut.bin(item)].join(&item.extent);
        }
        let mut above = [(0.0, 0); BINS];
        let mut part = Extent::EMPTY;
        for k in (1..n_bins).rev() {
            part.join(&bins[k]);
            above[k] = (part.cost(), part.n);
        }
        part = Extent::EMPTY;
        for at in 1..n_bins {
            let added = bins[at - 1].n > 0;
            part.join(&bins[at - 1]);
            // After an empty bin the parts are those of the cut before.
            if !added || above[at].1 == 0 {
                continue;
            }
            let smaller = part.n.min(above[at].1);
            let cut = Cut { at, ..cut };
            let cost = part.cost() + above[at].0;
            if smaller >= least && best.is_none_or(|b| cost < b.0) {
                best = Some((cost, cut));
            }
        }
    }
    best.map(|b| b.1)
}
