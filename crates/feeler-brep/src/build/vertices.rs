//! How far vertices are off the ends of their edges, and what is done about it.
//!
//! # Source
//! MATH §7: the vertex of a closed smooth edge is no feature.

use super::draft::{Edge, Vertex};
use super::{Problem, Report};
use crate::source::{LoopSource, SolidSource};

/// A vertex on a closed smooth edge, and on nothing else, may be this share of the edge's length off it.
const ALONE: f64 = 1e-2;
/// A vertex belongs to an edge's end within this share of the shortest edge at the vertex, whatever the file
/// states.
const SURELY: f64 = 1e-5;
/// No stated uncertainty makes more than this share of that edge good.
const AT_MOST: f64 = 1e-4;

/// Measures the gaps. Vertices that are no features are moved onto their edges; gaps within `tol` (mm) beyond
/// what the file states are reported, larger ones are problems.
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
    // Gap, entity and how many there are.
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
            let stated = source.uncertainty.min(AT_MOST * shortest[i]).max(SURELY * shortest[i]);
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
            format!("{n} vertices of closed edges were moved onto them, by {gap:.1e} mm at most (#{id})"),
        );
    }
    let (gap, id, n) = healed;
    if n > 0 {
        report.warn(
            id,
            format!("{n} gaps between edges and their vertices were closed, {gap:.1e} mm at most (at #{id})"),
        );
    }
}

/// Length by chords: a scale.
fn length(e: &Edge) -> f64 {
    let n = 16;
    let at = |k: i32| e.curve.point(e.range.0 + (e.range.1 - e.range.0) * f64::from(k) / f64::from(n));
    (0..n).map(|k| (at(k + 1) - at(k)).norm()).sum()
}
