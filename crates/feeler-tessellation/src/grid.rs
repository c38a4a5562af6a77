//! Grid of bins that finds the sites around a point, ring by ring.

use crate::domain::{Domain, Site};
use feeler_geom::{P3, V3, math};

/// Mean number of sites in a bin. With a larger value, more sites are examined for each cell; with a smaller
/// one, more empty bins are visited.
const SITES_PER_BIN: f64 = 2.0;

/// Maximum number of bins along an axis, which limits memory if sites are clustered.
const MAX_BINS: f64 = 512.0;

/// Sites sorted into bins.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    lower: P3,
    bin: V3,
    counts: [i32; 3],
    /// For each bin, the start of its sites in `sites`; one entry more than bins.
    starts: Vec<u32>,
    sites: Vec<u32>,
}

#[expect(clippy::cast_sign_loss, reason = "indices of bins are not negative")]
const fn flat(counts: [i32; 3], at: [i32; 3]) -> usize {
    (at[0] as usize * counts[1] as usize + at[1] as usize) * counts[2] as usize + at[2] as usize
}

impl Grid {
    pub(crate) fn new(domain: &Domain, sites: &[Site]) -> Self {
        let (mut lower, mut upper) = (P3::origin(), P3::from(domain.lengths));
        for k in (0..3).filter(|k| !domain.periodic[*k]) {
            let x = || sites.iter().map(|s| s.position[k]);
            lower[k] = x().fold(f64::INFINITY, f64::min);
            upper[k] = x().fold(f64::NEG_INFINITY, f64::max);
        }
        let largest = domain.lengths.max();
        // Sites on one plane need one bin across it.
        let size = (upper - lower).map(|x| x.max(1e-3 * largest));
        #[expect(clippy::cast_precision_loss, reason = "fewer than 2³² sites")]
        let bins = sites.len() as f64 / SITES_PER_BIN;
        let edge = math::powf(size.x * size.y * size.z / bins, 1.0 / 3.0);
        #[expect(clippy::cast_possible_truncation, reason = "clamped")]
        let counts = [0, 1, 2].map(|k| (size[k] / edge).round().clamp(1.0, MAX_BINS) as i32);
        let bin = V3::from([0, 1, 2].map(|k| size[k] / f64::from(counts[k])));
        let mut out = Self { lower, bin, counts, starts: Vec::new(), sites: vec![0; sites.len()] };
        let total = counts.iter().map(|c| c.unsigned_abs() as usize).product::<usize>();
        out.starts = vec![0; total + 1];
        let bins: Vec<usize> = sites.iter().map(|s| flat(counts, out.bin_of(&s.position))).collect();
        for b in &bins {
            out.starts[*b + 1] += 1;
        }
        for b in 0..total {
            out.starts[b + 1] += out.starts[b];
        }
        let mut fill = out.starts.clone();
        for (k, b) in bins.iter().enumerate() {
            #[expect(clippy::cast_possible_truncation, reason = "fewer than 2³² sites")]
            let number = k as u32;
            out.sites[fill[*b] as usize] = number;
            fill[*b] += 1;
        }
        out
    }

    fn bin_of(&self, p: &P3) -> [i32; 3] {
        #[expect(clippy::cast_possible_truncation, reason = "clamped")]
        [0, 1, 2].map(|k| {
            let x = ((p[k] - self.lower[k]) / self.bin[k]).floor();
            x.clamp(0.0, f64::from(self.counts[k] - 1)) as i32
        })
    }

    /// Returns the range of bins of a ring along an axis, and whether it ends there.
    fn range(&self, domain: &Domain, at: i32, axis: usize, ring: i32) -> (i32, i32) {
        let n = self.counts[axis];
        // The image of a site farther than one domain away is farther than another one for the whole cell.
        let limit = if domain.periodic[axis] { (at - n - 1, at + n + 1) } else { (0, n - 1) };
        ((at - ring).max(limit.0), (at + ring).min(limit.1))
    }

    /// Returns a lower bound of the distance from a point to the sites in a ring of bins and beyond; `None`
    /// if they contain no site.
    pub(crate) fn beyond(&self, domain: &Domain, p: &P3, ring: i32) -> Option<f64> {
        if ring == 0 {
            return Some(0.0);
        }
        let at = self.bin_of(p);
        let mut near = f64::INFINITY;
        for axis in 0..3 {
            let (low, high) = self.range(domain, at[axis], axis, ring);
            // The ring has bins at its lower or upper end, which are not cut off by the limits.
            if low == at[axis] - ring {
                near = near.min(p[axis] - self.lower[axis] - f64::from(low + 1) * self.bin[axis]);
            }
            if high == at[axis] + ring {
                near = near.min(self.lower[axis] + f64::from(high) * self.bin[axis] - p[axis]);
            }
        }
        (near < f64::INFINITY).then_some(near)
    }

    /// Calls a function with each site in a ring of bins around a point and with the shift of its image.
    pub(crate) fn for_ring(&self, domain: &Domain, p: &P3, ring: i32, mut visit: impl FnMut(u32, [i32; 3])) {
        let at = self.bin_of(p);
        let [x, y, z] = [0, 1, 2].map(|axis| self.range(domain, at[axis], axis, ring));
        for i in x.0..=x.1 {
            for j in y.0..=y.1 {
                let is_side = (i - at[0]).abs() == ring || (j - at[1]).abs() == ring;
                let mut k = z.0;
                while k <= z.1 {
                    if is_side || (k - at[2]).abs() == ring {
                        self.visit_bin([i, j, k], &mut visit);
                        k += 1;
                    } else {
                        // Inside the ring: continue at its upper end.
                        k = (at[2] + ring).max(k + 1);
                    }
                }
            }
        }
    }

    fn visit_bin(&self, bin: [i32; 3], visit: &mut impl FnMut(u32, [i32; 3])) {
        let shift = [0, 1, 2].map(|k| bin[k].div_euclid(self.counts[k]));
        let inside = [0, 1, 2].map(|k| bin[k].rem_euclid(self.counts[k]));
        let b = flat(self.counts, inside);
        for s in &self.sites[self.starts[b] as usize..self.starts[b + 1] as usize] {
            visit(*s, shift);
        }
    }
}
