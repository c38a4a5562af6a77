//! Grains of an image: their voxels, boundaries and interfaces.

use super::{ImageProblem, VoxelImage, as_float};
use crate::domain::Domain;
use feeler_geom::{P3, V3, math};
use std::collections::HashMap;
use std::f64::consts::PI;

/// Middle of the face between two voxels of different grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterfacePoint {
    /// Indices of both grains, the lower one first.
    pub grains: [u32; 2],
    /// Position relative to the lower corner of the image.
    pub position: P3,
}

/// Grains of an image, in the order of their labels.
#[derive(Clone, Debug)]
pub struct Grains {
    /// Box of the image, with its lower corner at the origin.
    pub domain: Domain,
    /// Label of each grain.
    pub labels: Vec<u32>,
    /// Number of voxels of each grain.
    pub voxels: Vec<usize>,
    /// Volume of a voxel.
    pub voxel_volume: f64,
    /// Smallest edge length of a voxel.
    pub voxel_edge: f64,
    /// Centre of mass of each grain. Along periodic axes it may be outside the image.
    pub centroids: Vec<P3>,
    /// For each grain, the centres of its boundary voxels: those with a face towards another grain.
    pub boundary: Vec<Vec<P3>>,
    /// For each pair of adjacent voxels of different grains, the middle of their common face.
    pub interface: Vec<InterfacePoint>,
}

impl Grains {
    /// Finds the grains of an image. Along `periodic` axes, the last voxel is adjacent to the first one. A
    /// grain that is wider than half of a periodic axis is not supported: its centre is not defined.
    ///
    /// # Errors
    /// No voxel has a label above 0.
    pub fn new(image: &VoxelImage, periodic: [bool; 3]) -> Result<Self, ImageProblem> {
        let mut labels: Vec<u32> = image.labels.iter().copied().filter(|l| *l != 0).collect();
        labels.sort_unstable();
        labels.dedup();
        if labels.is_empty() {
            return Err(ImageProblem::NoGrains);
        }
        #[expect(clippy::cast_possible_truncation, reason = "labels are 32-bit numbers, so fewer grains")]
        let index: HashMap<u32, u32> = labels.iter().enumerate().map(|(k, l)| (*l, k as u32)).collect();
        let n = labels.len();
        let lengths = image.lengths();
        let mut out = Self {
            domain: Domain { lengths, periodic },
            labels,
            voxels: vec![0; n],
            voxel_volume: image.spacing.product(),
            voxel_edge: image.spacing.min(),
            centroids: vec![P3::origin(); n],
            boundary: vec![Vec::new(); n],
            interface: Vec::new(),
        };
        let mut first: Vec<Option<P3>> = vec![None; n];
        let mut sums = vec![V3::zeros(); n];
        for (position, label) in image.labels.iter().enumerate().filter(|(_, l)| **l != 0) {
            let grain = index[label] as usize;
            let center = image.center(image.voxel(position));
            let from = *first[grain].get_or_insert(center);
            sums[grain] += out.domain.nearest_offset(&(center - from));
            out.voxels[grain] += 1;
            let mut is_boundary = false;
            image.for_neighbours(position, periodic, |other| {
                let l = image.labels[other];
                is_boundary |= l != 0 && l != *label;
            });
            if is_boundary {
                out.boundary[grain].push(center);
            }
            for axis in 0..3 {
                let Some(next) = image.next(position, axis, periodic[axis]) else { continue };
                let l = image.labels[next];
                if l != 0 && l != *label {
                    let mut point = center;
                    point[axis] += 0.5 * image.spacing[axis];
                    let (a, b) = (index[label], index[&l]);
                    out.interface.push(InterfacePoint { grains: [a.min(b), a.max(b)], position: point });
                }
            }
        }
        for k in 0..n {
            out.centroids[k] = first[k].unwrap_or_default() + sums[k] / as_float(out.voxels[k]);
        }
        Ok(out)
    }

    /// Returns the diameter of the ball whose volume is that of a grain.
    #[must_use]
    pub fn diameter(&self, grain: usize) -> f64 {
        math::powf(6.0 / PI * as_float(self.voxels[grain]) * self.voxel_volume, 1.0 / 3.0)
    }

    /// Returns the mean of [`Self::diameter`] over all grains.
    #[must_use]
    pub fn mean_diameter(&self) -> f64 {
        let n = self.labels.len();
        (0..n).map(|k| self.diameter(k)).sum::<f64>() / as_float(n)
    }

    /// Returns the number of boundary voxels of all grains.
    #[must_use]
    pub fn boundary_count(&self) -> usize {
        self.boundary.iter().map(Vec::len).sum()
    }
}
