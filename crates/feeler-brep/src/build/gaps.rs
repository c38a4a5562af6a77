//! Closes gaps beyond the gap tolerance that are short compared with the edges and faces around them.
//!
//! The limit of [`BuildOptions::gap_tolerance`] is relative to the whole solid. A gap of 1.1e-3 of the size
//! in a model that is consistent otherwise is the inexactness of its writer; the same gap at an edge that is
//! hardly longer is a missing piece.

use std::f64::consts::{PI, TAU};

use feeler_geom::{Aabb, Curve};

use super::edges::extent;
use super::{BuildOptions, Problem};
use crate::remark::{Remark, Severity, shown_length as mm};
use crate::source::{EdgeSource, FaceSource, LoopSource, SolidSource};

/// Maximum gap at an edge, relative to the extent of the smallest face that uses the edge. A larger
/// value closes gaps that are missing pieces of the model; a smaller one rejects the inexact files of
/// vendors.
const MAX_GAP_OF_FACE: f64 = 2e-2;

/// Maximum gap at an edge, relative to the shortest edge at its vertices, so that closing the gap cannot
/// exchange the ends of that edge. A larger value distorts short edges; a smaller one rejects files
/// whose only fault is a gap at a short edge.
const MAX_GAP_OF_EDGE: f64 = 0.25;

/// New gap tolerance, relative to the largest gap that is to be closed. It exceeds 1 because closing
/// corners moves edges a little farther. With a smaller value the next round may fail by rounding; a
/// larger one closes gaps that were not examined.
const MARGIN: f64 = 1.05;

/// Options with a raised gap tolerance, and the remark that reports it.
pub(super) struct Widened {
    pub(super) options: BuildOptions,
    pub(super) remark: Remark,
}

/// Returns options with a gap tolerance that closes all gaps among `problems`. Returns `None` if a
/// problem is not a gap, or if a gap is too wide for the edges and faces around it.
pub(super) fn widened(source: &SolidSource, options: &BuildOptions, problems: &[Problem]) -> Option<Widened> {
    let size = extent(source);
    let limit = options.gap_tol(size, source.uncertainty);
    let mut largest = (0.0, 0);
    for problem in problems {
        let (edges, distance) = match problem {
            Problem::VertexOffCurve { edge, distance, .. }
            | Problem::EdgeOffSurface { edge, distance, .. } => ([*edge; 2], *distance),
            // The gap between two ends is measured from their vertex.
            Problem::LoopGap { edges, distance, .. } => ([edges.0, edges.1], 0.5 * distance),
            _ => return None,
        };
        let allowed = edges.iter().map(|id| allowed_near(source, *id, size)).fold(f64::INFINITY, f64::min);
        // NaN counts as too wide.
        if distance.is_nan() || distance > allowed {
            return None;
        }
        if distance > largest.0 {
            largest = (distance, edges[0]);
        }
    }
    let (gap, edge) = largest;
    if gap <= 0.0 {
        return None;
    }
    let gap_tolerance = MARGIN * gap.max(limit) / size;
    let message = format!(
        "gaps of up to {}, beyond the limit of {} for a part of this size, were closed, because they are \
        short against the faces and edges there (at edge #{edge}); results are exact to that gap there",
        mm(gap),
        mm(limit)
    );
    let remark = Remark { severity: Severity::Warning, entity: Some(edge), place: None, message };
    Some(Widened { options: BuildOptions { gap_tolerance, ..*options }, remark })
}

/// Returns the maximum gap (mm) to be closed at the edge with entity id `id`: the smaller one of
/// [`MAX_GAP_OF_EDGE`] times the shortest edge at its vertices and [`MAX_GAP_OF_FACE`] times the extent
/// of the smallest face that uses it. Edges without length are ignored. `size` (mm) is the solid's size.
fn allowed_near(source: &SolidSource, id: u64, size: f64) -> f64 {
    let of_id = source.edges.iter().filter(|e| e.id == id);
    let ends: Vec<u32> = of_id.flat_map(|e| [e.start, e.end]).collect();
    let near = source.edges.iter().filter(|e| ends.contains(&e.start) || ends.contains(&e.end));
    let shortest = near.map(|e| length(source, e)).filter(|l| *l > 1e-9 * size).fold(f64::INFINITY, f64::min);
    let edges_of = |f: &FaceSource| -> Vec<u32> {
        let of_loop = |l: &LoopSource| match l {
            LoopSource::Edges(walk) => walk.iter().map(|(e, _)| *e).collect(),
            LoopSource::Vertex(_) => Vec::new(),
        };
        f.loops.iter().flat_map(of_loop).collect()
    };
    let extent_of = |edges: &[u32]| {
        let own = edges.iter().map(|e| &source.edges[*e as usize]);
        let points = own.clone().flat_map(|e| [e.start, e.end]).map(|v| &source.vertices[v as usize].point);
        // A closed edge is as wide as a circle of its length.
        let across = |e: &EdgeSource| length(source, e) / if e.start == e.end { PI } else { 1.0 };
        own.map(across).fold(Aabb::of_points(points).diagonal(), f64::max)
    };
    let faces = source.faces.iter().map(edges_of);
    let faces = faces.filter(|edges| edges.iter().any(|e| source.edges[*e as usize].id == id));
    let smallest = faces.map(|edges| extent_of(&edges)).fold(f64::INFINITY, f64::min);
    (MAX_GAP_OF_EDGE * shortest).min(MAX_GAP_OF_FACE * smallest)
}

/// Approximate length (mm) of an edge: its chord if it is open, otherwise an estimate from its curve.
fn length(source: &SolidSource, e: &EdgeSource) -> f64 {
    let [a, b] = [e.start, e.end].map(|v| source.vertices[v as usize].point);
    match &e.curve {
        _ if e.start != e.end => (b - a).norm(),
        Curve::Circle { radius, .. } => TAU * radius,
        Curve::Ellipse { semi_x, semi_y, .. } => 4.0 * semi_x.max(*semi_y),
        Curve::Bezier(spline) => spline.points().iter().map(|p| (p - a).norm()).fold(0.0, f64::max),
        _ => 0.0,
    }
}
