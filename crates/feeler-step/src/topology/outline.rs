//! Collects edges and points of faces before their surfaces are read.

use crate::geometry::NearEdge;
use feeler_brep::source::{EdgeSource, LoopSource, VertexSource};
use feeler_geom::{Curve, Frame, P3, V3};

/// Iterates over the edges of the loops of a face.
pub(super) fn edges_of<'a>(
    loops: &[LoopSource],
    edges: &'a [EdgeSource],
    vertices: &[VertexSource],
) -> Vec<NearEdge<'a>> {
    let near = |(e, _): &(u32, bool)| {
        let edge = &edges[*e as usize];
        let ends = [edge.start, edge.end].map(|v| vertices[v as usize].point);
        NearEdge { id: edge.id, curve: &edge.curve, ends, along: edge.same_sense }
    };
    let uses = loops.iter().filter_map(|l| if let LoopSource::Edges(uses) = l { Some(uses) } else { None });
    uses.flatten().map(near).collect()
}

/// Adds points to `points` whose hull roughly contains the curve. Unbounded curves are not contained: a
/// line adds no point, a parabola or hyperbola its vertex.
pub(crate) fn curve_hull(curve: &Curve, points: &mut Vec<P3>) {
    let mut box_of = |f: &Frame, a: f64, b: f64| {
        points.extend([(a, b), (-a, b), (-a, -b), (a, -b)].map(|(x, y)| f.point(x, y, 0.0)));
    };
    match curve {
        Curve::Line { .. } => {}
        Curve::Circle { frame, radius } => box_of(frame, *radius, *radius),
        Curve::Ellipse { frame, semi_x, semi_y } => box_of(frame, *semi_x, *semi_y),
        // The ends of the edge and the vertex of the conic bound the curve well enough.
        Curve::Parabola { frame, .. } => points.push(frame.origin),
        Curve::Hyperbola { frame, semi, .. } => points.push(frame.origin + frame.x * *semi),
        Curve::Bezier(spline) => points.extend(spline.points()),
    }
}

/// Returns the loop in the opposite direction.
pub(super) fn reversed(l: LoopSource) -> LoopSource {
    match l {
        LoopSource::Edges(uses) => LoopSource::Edges(uses.into_iter().rev().map(|(e, f)| (e, !f)).collect()),
        LoopSource::Vertex(v) => LoopSource::Vertex(v),
    }
}

/// Returns a plane about whose normal outer polygons run counter-clockwise and holes clockwise; `None`
/// if the polygons have no area.
pub(super) fn plane_of_polygons(polygons: &[Vec<P3>]) -> Option<Frame> {
    let origin = *polygons.first()?.first()?;
    let mut normal = V3::zeros();
    for polygon in polygons {
        for (i, p) in polygon.iter().enumerate() {
            let q = polygon[(i + 1) % polygon.len()];
            normal += (p - origin).cross(&(q - origin));
        }
    }
    Frame::from_z(origin, normal, None)
}
