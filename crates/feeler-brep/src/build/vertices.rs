//! Gaps between vertices and the ends of their edges.
//!
//! # Source
//! MATH §7: the vertex of a closed smooth edge is not a feature.

use super::draft::{Edge, Vertex};
use super::{Problem, Report};
use crate::remark::shown_length;
use crate::source::{LoopSource, SolidSource};

/// Maximum distance of the only vertex of a closed smooth edge from that edge at which the vertex is
/// moved onto the edge, relative to the edge's length. A larger value accepts invalid files, a smaller
/// one rejects inexact ones.
const ALONE: f64 = 1e-2;
/// Maximum gap at a vertex, relative to the shortest edge there, that is never reported, even if the
/// file states a smaller uncertainty. A larger value hides gaps, a smaller one gives warnings about
/// rounding.
const MIN_REPORTED_GAP_RATIO: f64 = 1e-5;
/// Upper limit of the stated uncertainty up to which gaps are not reported, relative to the shortest
/// edge at the vertex: larger uncertainties are reduced to it. A larger value hides gaps, a smaller one
/// gives warnings about gaps that the file states.
const AT_MOST: f64 = 1e-4;

/// Measures the gaps between vertices and the ends of their edges, and stores the largest one of each
/// vertex in [`Vertex::gap`]. The only vertex of a closed smooth edge is moved onto the edge. Gaps
/// larger than `tol` (mm) are added to `report` as problems, smaller ones as warnings if they exceed the
/// uncertainty that the file states.
pub(super) fn check(
    edges: &[Edge],
    vertices: &mut [Vertex],
    source: &SolidSource,
    tol: f64,
    report: &mut Report,
) {
    let lengths: Vec<f64> = edges.iter().map(length).collect();
    let mut shortest = vec![f64::INFINITY; vertices.len()];
    let mut uses = vec![0_u32; vertices.len()];
    for (e, length) in edges.iter().zip(&lengths) {
        for v in [e.vertices.0, e.vertices.1] {
            shortest[v as usize] = shortest[v as usize].min(*length);
            uses[v as usize] += 1;
        }
    }
    for l in source.faces.iter().flat_map(|f| &f.loops) {
        if let LoopSource::Vertex(v) = l {
            uses[*v as usize] += 1;
        }
    }
    // Largest displacement of a moved vertex (mm), the vertex's entity id, and the number of moved vertices.
    let mut moved: (f64, u64, usize) = (0.0, 0, 0);
    let mut healed = moved;
    let count = |sum: &mut (f64, u64, usize), gap: f64, id: u64| {
        *sum = if gap > sum.0 { (gap, id, sum.2 + 1) } else { (sum.0, sum.1, sum.2 + 1) };
    };
    for (e, length) in edges.iter().zip(&lengths) {
        for (v, t) in [(e.vertices.0, e.range.0), (e.vertices.1, e.range.1)] {
            let i = v as usize;
            let end = e.curve.point(t);
            let gap = (end - vertices[i].point).norm();
            let stated =
                source.uncertainty.min(AT_MOST * shortest[i]).max(MIN_REPORTED_GAP_RATIO * shortest[i]);
            let is_alone = e.vertices.0 == e.vertices.1 && uses[i] == 2 && e.curve.period().is_some();
            let v = &mut vertices[i];
            if gap > stated && is_alone && gap <= ALONE * length {
                v.point = end;
                count(&mut moved, gap, v.id);
                continue;
            }
            v.gap = v.gap.max(gap);
            if gap.is_nan() || gap > tol {
                report.fail(Problem::VertexOffCurve { vertex: v.id, edge: e.source, distance: gap });
            } else if gap > stated {
                count(&mut healed, gap, v.id);
            }
        }
    }
    let (gap, id, n) = moved;
    if n > 0 {
        report.warn(
            id,
            format!(
                "vertices moved onto their closed edges: {n}; the farthest one is vertex #{id}, by {}",
                shown_length(gap)
            ),
        );
    }
    let (gap, id, n) = healed;
    if n > 0 {
        report.warn(
            id,
            format!(
                "gaps closed between edges and their vertices: {n}; the largest one is at vertex #{id}, {}",
                shown_length(gap)
            ),
        );
    }
}

/// Approximate length (mm) of an edge, from chords.
fn length(e: &Edge) -> f64 {
    let n = 16;
    let at = |k: i32| e.curve.point(e.range.0 + (e.range.1 - e.range.0) * f64::from(k) / f64::from(n));
    (0..n).map(|k| (at(k + 1) - at(k)).norm()).sum()
}
