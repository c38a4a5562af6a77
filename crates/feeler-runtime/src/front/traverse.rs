//! Pairs of leaves, by simultaneous traversal of both hierarchies or by brute force.
//!
//! # Source
//! BREP §4.2.1, Algorithms 8 and 9.
//!
//! # Deviations
//! A stack instead of recursion; the larger box is the one with the larger radius: flat boxes have no volume.

use super::cull::CullContext;
use crate::{Body, Stats};

/// A pair of areas that may hold a minimum.
pub(crate) type LeafPair = (u32, u32);

/// All pairs of leaves that pass the culling tests, into `out`. `stack` is scratch.
pub(crate) fn traverse(
    a: &Body,
    b: &Body,
    cull: &CullContext,
    with_quasi: bool,
    stack: &mut Vec<(u32, u32)>,
    out: &mut Vec<LeafPair>,
    stats: &mut Stats,
) {
    stack.clear();
    out.clear();
    if a.hierarchy().nodes.is_empty() || b.hierarchy().nodes.is_empty() {
        return;
    }
    stack.push((0, 0));
    while let Some((i, j)) = stack.pop() {
        stats.bvtt_nodes += 1;
        if cull.nodes((a, i), (b, j), with_quasi) {
            continue;
        }
        let (node_a, node_b) = (a.node(i), b.node(j));
        match (node_a.children(), node_b.children()) {
            (None, None) => {
                let pair = (node_a.area().unwrap_or(0), node_b.area().unwrap_or(0));
                if !cull.poly_cones(&a.area(pair.0).cone, &b.area(pair.1).cone) {
                    out.push(pair);
                }
            }
            (Some([l, r]), other) if other.is_none() || node_a.obb.radius() > node_b.obb.radius() => {
                stack.extend([(r, j), (l, j)]);
            }
            (_, Some([l, r])) => stack.extend([(i, r), (i, l)]),
            (Some(_), None) => {}
        }
    }
    stats.leaf_pairs += out.len() as u64;
}

/// All pairs of areas.
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
