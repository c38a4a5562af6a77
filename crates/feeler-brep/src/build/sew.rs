//! Sews faces that share no edges: coincident ends of edges that only one face uses become one vertex.
//!
//! Coincident edges between the same vertices are paired up afterwards by `repair::pair_up_edges`,
//! together with other edges that the file contains twice.

use std::collections::BTreeMap;

use feeler_geom::P3;

use crate::source::{LoopSource, SolidSource};

/// Lower limit of the sewing distance, relative to the size of the solid. A larger value merges the ends
/// of short edges; with a smaller one faces with rounded coordinates stay separate.
const SEWN: f64 = 1e-6;
/// Upper limit of the sewing distance, relative to the size of the solid. A larger value merges the ends
/// of short edges in files that state a large uncertainty; with a smaller one inexact faces stay
/// separate.
const MAX_SEWN: f64 = 1e-5;

/// Returns the sewing distance (mm), within which ends of edges are merged: the file's uncertainty, but
/// at least [`SEWN`] and at most [`MAX_SEWN`] times `size` (mm).
pub(super) fn tolerance(source: &SolidSource, size: f64) -> f64 {
    source.uncertainty.clamp(SEWN * size, MAX_SEWN * size)
}

/// Returns the vertex that finally replaces the vertex `v`, after all merges. `merged` maps each vertex
/// to the one that replaced it directly, or to itself.
pub(super) fn root(merged: &[u32], mut v: u32) -> u32 {
    while merged[v as usize] != v {
        v = merged[v as usize];
    }
    v
}

/// Merges the vertices at the joints of loops: the end of an edge and the start of the next one, if they are
/// different vertices at one point (within `tol`, mm). Solids that touch themselves at a point or along
/// an edge have such vertices. Enters in `merged`, for each removed vertex, the vertex that replaces it.
/// Returns the number of removed vertices.
pub(super) fn join_loops(source: &SolidSource, merged: &mut [u32], tol: f64) -> usize {
    let mut gone = 0;
    for l in source.faces.iter().flat_map(|f| &f.loops) {
        let LoopSource::Edges(walk) = l else { continue };
        let ends = |(e, forward): (u32, bool)| {
            let e = &source.edges[e as usize];
            if forward { [e.start, e.end] } else { [e.end, e.start] }
        };
        for (k, here) in walk.iter().enumerate() {
            let next = walk[(k + 1) % walk.len()];
            let (v, w) = (ends(*here)[1], ends(next)[0]);
            let (a, b) = (root(merged, v), root(merged, w));
            let [p, q] = [v, w].map(|v| source.vertices[v as usize].point);
            if a != b && (p - q).norm() <= tol {
                merged[a.max(b) as usize] = a.min(b);
                gone += 1;
            }
        }
    }
    gone
}

/// Merges vertices within the sewing distance of each other, among the ends of edges that only one face
/// uses. Enters in `merged`, for each removed vertex, the vertex that replaces it (see [`root`]).
/// Returns the number of removed vertices.
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
