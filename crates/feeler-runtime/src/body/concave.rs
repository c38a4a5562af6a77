//! Concave trims of faces: beyond them the surface of the face continues into the solid's own material.

use crate::body::{Body, outward_normal};
use feeler_geom::{P2, P3};
use feeler_hierarchy::Face;
use std::collections::BTreeMap;

/// Smallest sine of the angle between two faces at a concave edge. With a larger value, pressed contacts in
/// corners are missed; with a smaller one, smooth edges count as concave.
const MIN_CONCAVE_SINE: f64 = 1e-3;

/// Whether each trimming piece of each face lies on a concave edge: one list for each face.
pub(crate) fn concave_trims(body: &Body) -> Vec<Box<[bool]>> {
    let faces = &body.hierarchy().faces;
    let mut faces_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (f, face) in faces.iter().enumerate() {
        for piece in &face.trim.pieces {
            let of_edge = faces_of.entry(piece.edge).or_default();
            if of_edge.last() != Some(&f) {
                of_edge.push(f);
            }
        }
    }
    let other = |f: usize, edge: u32| match faces_of.get(&edge).map(Vec::as_slice) {
        // The largest index marks pieces that do not belong to an edge.
        Some(&[g, h]) if edge != u32::MAX => Some(&faces[if g == f { h } else { g }]),
        _ => None,
    };
    let of_face = |(f, face): (usize, &Face)| {
        let pieces = face.trim.pieces.iter().enumerate();
        pieces.map(|(k, piece)| other(f, piece.edge).is_some_and(|g| is_above(face, k, g))).collect()
    };
    faces.iter().enumerate().map(of_face).collect()
}

/// Whether `face`, next to its trimming piece with the index `piece`, lies on the outer side of the face
/// `other` beyond their common edge. The interior of `face` is to the left of the piece.
fn is_above(face: &Face, piece: usize, other: &Face) -> bool {
    let piece = &face.trim.pieces[piece];
    let uv = piece.eval(0.5);
    let derivs = face.surface.derivs(uv);
    let along = piece.derivative(0.5);
    let tangent = derivs.du * along.x + derivs.dv * along.y;
    let into_face = face.surface.normal(uv).cross(&tangent).normalize();
    let hint =
        (!other.surface.is_canonical()).then(|| nearest_on_trim(other, piece.edge, &derivs.p)).flatten();
    let beyond = outward_normal(other, other.surface.invert(&derivs.p, hint, None));
    into_face.dot(&beyond) > MIN_CONCAVE_SINE
}

/// Parameters of the point nearest to `p` among the ends and midpoints of a face's trimming pieces along
/// an edge; `None` if the face has no such pieces.
fn nearest_on_trim(face: &Face, edge: u32, p: &P3) -> Option<P2> {
    let pieces = face.trim.pieces.iter().filter(|piece| piece.edge == edge);
    let points = pieces.flat_map(|piece| [0.0, 0.5, 1.0].map(|t| piece.eval(t)));
    let distance = |uv: P2| (face.surface.point(uv) - p).norm_squared();
    let nearest = points.map(|uv| (distance(uv), uv)).min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map(|(_, uv)| uv)
}
