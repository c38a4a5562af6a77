//! What faces are made of, before their surfaces are known.

use crate::geometry::NearEdge;
use feeler_brep::source::{EdgeSource, LoopSource, VertexSource};
use feeler_geom::{Curve, Frame, P3, V3};

/// The edges of a face's loops.
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

/// Points around a curve, the ends of unbounded ones excepted.
pub(super) fn curve_hull(curve: &Curve, points: &mut Vec<P3>) {
    let mut box_of = |f: &Frame, a: f64, b: f64| {
        points.extend([(a, b), (-a, b), (-a, -b), (a, -b)].map(|(x, y)| f.point(x, y, 0.0)));
    };
    match curve {
        Curve::Line { .. } => {}
        Curve::Circle { frame, radius } => box_of(frame, *radius, *radius),
        Curve::Ellipse { frame, semi_x, semi_y } => box_of(frame, *semi_x, *semi_y),
        // Its ends and its vertex bound such a curve well enough.
        Curve::Parabola { frame, .. } => points.push(frame.origin),
        Curve::Hyperbola { frame, semi, .. } => points.push(frame.origin + frame.x * *semi),
        Curve::Bezier(spline) => points.extend(spline.points()),
    }
}

/// The loop walked the other way.
pub(super) fn reversed(l: LoopSource) -> LoopSource {
    match l {
        LoopSource::Edges(uses) => LoopSource::Edges(uses.into_iter().rev().map(|(e, f)| (e, !f)).collect()),
        LoopSource::Vertex(v) => LoopSource::Vertex(v),
    }
}

/// The plane that polygons run around counter-clockwise, holes clockwise.
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
