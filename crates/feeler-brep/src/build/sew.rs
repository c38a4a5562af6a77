//! Sews faces that share no edges: ends of open edges at one point become one vertex.
//!
//! Coincident edges between the same vertices are paired up afterwards, with everything else that is written
//! twice (`repair::pair_up_edges`).

use std::collections::BTreeMap;

use feeler_geom::P3;

use super::edges::root;
use crate::source::{LoopSource, SolidSource};

/// Minimum distance, relative to the size of the solid, within which ends of open edges are one point, if the
/// file states a smaller uncertainty.
const SEWN: f64 = 1e-6;
/// Maximum distance, relative to the size of the solid, within which ends of open edges are one point, if the
/// file states a larger uncertainty.
const MAX_SEWN: f64 = 1e-5;

/// Distance (mm) within which open edges are sewn.
pub(super) fn tolerance(source: &SolidSource, size: f64) -> f64 {
    source.uncertainty.clamp(SEWN * size, MAX_SEWN * size)
}

/// Merges vertices at the ends of edges that one face alone uses; returns how many are gone.
pub(super) fn merge_ends(source: &SolidSource, merged: &mut [u32], size: f64) -> usize {
    let mut uses = vec![0_u32; source.edges.len()];
    for l in source.faces.iter().flat_map(|f| &f.loops) {
        if let LoopSource::Edges(walk) = l {
            walk.iter().for_each(|(e, _)| uses[*e as usize] += 1);
        }
    }
    let open = source.edges.iter().zip(&uses).filter(|(_, n)| **n == 1);
    let mut ends: Vec<u32> = open.flat_map(|(e, _)| [e.start, e.end]).map(|v| root(merged, v)).collect();
    ends.sort_unstable();
    ends.dedup();
    let tol = tolerance(source, size);
    if ends.is_empty() || !tol.is_normal() {
        return 0;
    }
    let point = |v: u32| source.vertices[v as usize].point;
    let cell = |p: &P3| {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "coordinates are at most 1e6 tolerances of the size"
        )]
        let of = |x: f64| (x / (2.0 * tol)).floor() as i64;
        [of(p.x), of(p.y), of(p.z)]
    };
    let mut seen: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
    let mut gone = 0;
    for v in ends {
        let p = point(v);
        let [x, y, z] = cell(&p);
        let around = |d: i64| [d.saturating_sub(1), d, d.saturating_add(1)];
        let near = around(x).into_iter().flat_map(|x| around(y).map(|y| (x, y)));
        let known = near
            .flat_map(|(x, y)| around(z).map(|z| [x, y, z]))
            .filter_map(|c| seen.get(&c))
            .flatten()
            .copied()
            .find(|w| (point(*w) - p).norm() <= tol);
        if let Some(w) = known {
            let (a, b) = (root(merged, v), root(merged, w));
            if a != b {
                merged[a.max(b) as usize] = a.min(b);
                gone += 1;
            }
        } else {
            seen.entry([x, y, z]).or_default().push(v);
        }
    }
    gone
}
