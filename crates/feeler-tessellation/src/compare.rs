//! Comparison of tessellations and of labelled images.

use crate::domain::Site;
use crate::image::as_float;
use crate::tessellation::{Neighbour, Tessellation};
use std::collections::HashMap;

/// Distances from the facets of a tessellation to the planes of other sites.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FacetErrors {
    /// Number of facets.
    pub count: usize,
    /// Root mean square over the facets, weighted by area. The error of a facet is the root mean square of
    /// the distances of its vertices.
    pub rms: f64,
    /// Error of a facet that 95 % of the total area does not exceed.
    pub percentile_95: f64,
    /// Largest error of a facet.
    pub max: f64,
}

/// Compares each facet between two cells with the radical plane of the same two of `sites`. Facets with an
/// area of at most `min_area` are skipped.
#[must_use]
pub fn facet_errors(exact: &Tessellation, sites: &[Site], min_area: f64) -> FacetErrors {
    let mut errors: Vec<(f64, f64)> = Vec::new();
    for (k, cell) in exact.cells.iter().enumerate() {
        let Some(cell) = cell else { continue };
        for face in &cell.faces {
            let Neighbour::Cell { index, .. } = face.neighbour else { continue };
            let area = cell.area_vector(face).norm();
            if index as usize <= k || area <= min_area {
                continue;
            }
            let [a, b] = [sites[k], sites[index as usize]];
            let squares = face.vertices.iter().map(|v| {
                let p = cell.vertices[*v as usize];
                let from_a = exact.domain.nearest_offset(&(p - a.position));
                let from_b = exact.domain.nearest_offset(&(p - b.position));
                let power = from_a.norm_squared() - a.weight - from_b.norm_squared() + b.weight;
                let s = power / (2.0 * (from_a - from_b).norm());
                s * s
            });
            let mean = squares.sum::<f64>() / as_float(face.vertices.len());
            errors.push((mean.sqrt(), area));
        }
    }
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let area: f64 = errors.iter().map(|(_, a)| a).sum();
    let mut out = FacetErrors { count: errors.len(), ..FacetErrors::default() };
    let mut seen = 0.0;
    for (error, a) in &errors {
        out.rms += error * error * a / area;
        if seen < 0.95 * area {
            out.percentile_95 = *error;
        }
        seen += a;
        out.max = *error;
    }
    out.rms = out.rms.sqrt();
    out
}

/// Returns the Rand index of two labellings of the same voxels: the fraction of pairs of voxels that are in
/// one grain in both labellings, or in different grains in both. Voxels with the label 0 in `a` are skipped.
///
/// # Panics
/// The labellings have different lengths.
#[must_use]
pub fn rand_index(a: &[u32], b: &[u32]) -> f64 {
    assert_eq!(a.len(), b.len(), "labellings of different images");
    let mut both: HashMap<(u32, u32), usize> = HashMap::new();
    for (a, b) in a.iter().zip(b).filter(|(a, _)| **a != 0) {
        *both.entry((*a, *b)).or_default() += 1;
    }
    let (mut of_a, mut of_b): (HashMap<u32, usize>, HashMap<u32, usize>) = Default::default();
    for ((a, b), n) in &both {
        *of_a.entry(*a).or_default() += n;
        *of_b.entry(*b).or_default() += n;
    }
    // Whole numbers, so the order of summation has no effect.
    let pairs = |n: &usize| (*n as u128) * (n.saturating_sub(1) as u128) / 2;
    let count: usize = of_a.values().sum();
    let total = pairs(&count);
    let same: u128 = both.values().map(pairs).sum();
    let apart: u128 = of_a.values().map(pairs).sum::<u128>() + of_b.values().map(pairs).sum::<u128>();
    if total == 0 {
        return 1.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    let ratio = (total + 2 * same - apart) as f64 / total as f64;
    ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rand_index_counts_pairs() {
        let (a, b) = ([1, 1, 2, 2, 3, 3, 0], [5, 5, 5, 6, 6, 7, 9]);
        let mut agree = 0;
        for i in 0..6 {
            for j in i + 1..6 {
                agree += usize::from((a[i] == a[j]) == (b[i] == b[j]));
            }
        }
        assert!((rand_index(&a, &b) - agree as f64 / 15.0).abs() < 1e-15);
        assert!((rand_index(&a, &[8, 8, 1, 1, 2, 2, 2]) - 1.0).abs() < 1e-15, "names do not matter");
    }
}
