//! Images of known tessellations, for tests and examples.

use super::{VoxelImage, as_float};
use crate::tessellation::SiteIndex;
use feeler_geom::{P3, V3};
use rayon::prelude::*;

impl VoxelImage {
    /// Draws the cells of a tessellation: the label of a voxel is 1 + the index of the site whose cell
    /// contains its centre. The first axis has `size[0]` voxels along the domain, and so on.
    #[must_use]
    pub fn of_tessellation(sites: &SiteIndex, size: [usize; 3]) -> Self {
        let spacing = sites.domain().lengths.component_div(&V3::from(size.map(as_float)));
        let mut image = Self { size, spacing, origin: P3::origin(), labels: vec![0; size.iter().product()] };
        let centers = Self { labels: Vec::new(), ..image };
        image.labels.par_iter_mut().enumerate().for_each(|(k, label)| {
            *label = sites.nearest(&centers.center(centers.voxel(k))) + 1;
        });
        image
    }

    /// Adds noise of a segmentation: a voxel at a boundary takes the label of one of its neighbours with the
    /// given probability. Equal seeds give equal images.
    #[must_use]
    pub fn with_noise(&self, probability: f64, periodic: [bool; 3], seed: u64) -> Self {
        let mut out = self.clone();
        out.labels.par_iter_mut().enumerate().for_each(|(k, label)| {
            let mut others: Vec<u32> = Vec::new();
            self.for_neighbours(k, periodic, |other| others.push(self.labels[other]));
            others.retain(|l| l != label && *l != 0);
            let random = mixed(seed ^ mixed(k as u64));
            if !others.is_empty() && unit(random) < probability {
                #[expect(clippy::cast_possible_truncation, reason = "the remainder is at most 5")]
                let chosen = (mixed(random) % others.len() as u64) as usize;
                *label = others[chosen];
            }
        });
        out
    }

    /// Calls a function with the position of each voxel that shares a face with a voxel.
    pub(super) fn for_neighbours(&self, position: usize, periodic: [bool; 3], mut f: impl FnMut(usize)) {
        let at = self.voxel(position);
        for axis in 0..3 {
            if let Some(next) = self.next(position, axis, periodic[axis]) {
                f(next);
            }
            let stride = [1, self.size[0], self.size[0] * self.size[1]][axis];
            if at[axis] > 0 {
                f(position - stride);
            } else if periodic[axis] {
                f(position + stride * (self.size[axis] - 1));
            }
        }
    }
}

/// Mixes the bits of a number (`SplitMix64`: Steele, Lea and Flood, 2014). Voxels are mixed independently, so
/// the image does not depend on the number of threads.
const fn mixed(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
const fn unit(x: u64) -> f64 {
    (x >> 11) as f64 / (1_u64 << 53) as f64
}
