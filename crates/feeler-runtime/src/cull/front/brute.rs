//! All pairs of leaves: the reference for the traversal.

use super::LeafPair;
use crate::api::contact::Stats;
use crate::body::Body;

/// Writes all pairs of an area of A and an area of B to `out`. Features that can carry quasi-minima only
/// are skipped unless `with_quasi`.
pub(crate) fn all_pairs(a: &Body, b: &Body, with_quasi: bool, out: &mut Vec<LeafPair>, stats: &mut Stats) {
    out.clear();
    for fa in a.features().iter().filter(|f| with_quasi || !f.quasi_only) {
        for fb in b.features().iter().filter(|f| with_quasi || !f.quasi_only) {
            for &i in a.areas_of(fa) {
                out.extend(b.areas_of(fb).iter().map(|&j| (i, j)));
            }
        }
    }
    stats.leaf_pairs += out.len() as u64;
}
