//! Contacts at flush faces: faces of both solids that lie nearly in one plane, on which the solids slide.
//!
//! If an edge of each solid bounds such a face, the minimum between the edges can have a normal along the
//! direction of the slide, and would obstruct it. The common normal of the flush faces separates the
//! solids as well, up to the accepted error of gaps.
//!
//! # Source
//! MATH §23.

use super::Widening;
use crate::api::contact::ContactKind;
use crate::body::Body;
use crate::body::edge_normals::edge_normals;
use crate::body::side::Which;
use crate::footpoint::polar::{Few, satisfies};
use crate::footpoint::touching::{extreme_rays, of_edge};
use crate::footpoint::trim::clearance_on;
use crate::query::{Accepted, Context};
use feeler_geom::{P3, V3, math};
use feeler_hierarchy::{EdgeId, Feature, VertexId};

/// Constraints of the polar of an edge or vertex of one body, and normals of its adjacent faces. All are
/// converted to directions from A to B, in the frame of A.
#[derive(Debug, Default)]
struct Rim {
    constraints: Few,
    normals: Few,
}

/// Largest angle (rad) between the normals of flush faces. A larger value replaces normals of contacts
/// that prevent penetration; a smaller one keeps normals of corners that obstruct a slide.
const MAX_FLUSH_ANGLE: f64 = 0.1;

/// Returns the contact with its normal replaced by the normal of an adjacent face, for pressed contacts
/// and for contacts that the step can close. `None` if the normal is not replaced. It is replaced only if
/// both footpoints are within the accepted error of gaps ([`Widening::gap_error`]) of convex edges or
/// vertices, and two adjacent faces, one of A and one of B, are flush to the same error. A corner in the
/// plane of a face of the other solid is not flush if no face of its own solid lies along that plane,
/// because it can move through the plane.
///
/// If the footpoints are within the accepted error of each other, every flush normal separates the solids
/// equally well. The normal with the smallest component of the last motion is selected, if that component
/// is smaller than the one along the contact's own normal, so that the solids can slide past each other.
pub(crate) fn slid_past(ctx: &Context<'_>, step: &Widening, contact: &Accepted) -> Option<Accepted> {
    if contact.distance > step.max_distance {
        return None;
    }
    let is_close = contact.distance.abs() <= step.gap_error;
    let between = contact.p_b - contact.p_a;
    let moved = if is_close { Some(last_displacement(ctx, step, &contact.p_b)?) } else { None };
    let a = rim(ctx, Which::A, contact.feature_a, &contact.p_a, step.gap_error)?;
    let b = rim(ctx, Which::B, contact.feature_b, &contact.p_b, step.gap_error)?;
    let angle = step.rotation + ctx.tol.angle;
    // Angle at which two faces diverge by the accepted error over the distance of the footpoints, or over
    // the displacement of the step.
    let length = if is_close { step.displacement } else { contact.distance.abs() };
    let opening = step.gap_error / length.max(step.gap_error);
    let cos = math::cos((angle + opening).min(MAX_FLUSH_ANGLE));
    let is_parallel = |n: &V3, others: &Few| others.iter().any(|other| other.dot(n) >= cos);
    let is_flush = |n: &&V3| {
        between.dot(n).abs() <= step.gap_error
            && satisfies(n, &a.constraints, angle)
            && satisfies(n, &b.constraints, angle)
            && is_parallel(n, &a.normals)
            && is_parallel(n, &b.normals)
    };
    let flush = a.normals.iter().chain(&b.normals).filter(is_flush);
    let n = match moved {
        Some(moved) => {
            let along = |n: &V3| moved.dot(n).abs();
            let n = flush.min_by(|n, m| along(n).total_cmp(&along(m)))?;
            *Some(n).filter(|n| along(n) < along(&contact.n))?
        }
        None => *flush.min_by(|n, m| between.dot(n).abs().total_cmp(&between.dot(m).abs()))?,
    };
    if n.dot(&contact.n) >= math::cos(MAX_FLUSH_ANGLE) {
        // The new normal is nearly the contact's own one, which is exact for a minimum.
        let is_quasi = contact.kind == ContactKind::Quasi;
        return is_quasi.then(|| Accepted { n, distance: between.dot(&n), is_slid: true, ..*contact });
    }
    // With another normal, a footpoint of B that is below the plane within the error must not be lifted.
    let distance = between.dot(&n).max(0.0);
    Some(Accepted { n, distance, kind: ContactKind::Quasi, is_slid: true, ..*contact })
}

/// Displacement (mm, frame of A) in the last step of the point of B that is now at `p` (frame of A);
/// `None` if the pose before that step is not known.
fn last_displacement(ctx: &Context<'_>, step: &Widening, p: &P3) -> Option<V3> {
    step.pose_before.map(|before| p - before * (ctx.pose_ba * p))
}

/// Returns the polar and the adjacent faces of the edge or vertex of a body that is within `near` (mm) of
/// a footpoint `p` (frame of A) on its feature. `None` if no edge or vertex is near, and for a concave
/// edge.
fn rim(ctx: &Context<'_>, which: Which, feature: Feature, p: &P3, near: f64) -> Option<Rim> {
    let body = ctx.body(which);
    let own = ctx.in_own(which, p);
    let mut out = Rim::default();
    let to_a = |v: &V3| if which == Which::A { *v } else { ctx.pose_ab * -v };
    if let Feature::Face(_) = feature
        && clearance_on(body, feature, &own, near) >= near
    {
        return None;
    }
    let reach = near + ctx.tol.same;
    if let Some(vertex) = vertex_beside(body, feature, &own, reach) {
        let constraints = &body.vertex(vertex).constraints;
        out.constraints.extend(constraints.iter().map(to_a));
        out.normals.extend(extreme_rays(constraints).iter().map(to_a));
        return Some(out);
    }
    let (edge, t) = edge_beside(body, feature, &own, reach)?;
    let normals = edge_normals(body, edge, t)?;
    out.constraints.extend(of_edge(&normals)?.iter().map(to_a));
    out.normals.extend(normals.normals.iter().map(to_a));
    Some(out)
}

/// Returns the edge of a feature nearest to a point (the solid's frame) and the parameter of the nearest
/// point on it; `None` if it is farther than `near` (mm).
fn edge_beside(body: &Body, feature: Feature, p: &P3, near: f64) -> Option<(EdgeId, f64)> {
    let feet = edges_of(body, &feature).iter().flat_map(|&id| {
        let edge = body.edge(id);
        edge.spans.iter().map(move |s| {
            let t = edge.curve.project(p, s.t0, s.t1);
            ((edge.curve.point(t) - p).norm(), id, t)
        })
    });
    let nearest = feet.min_by(|x, y| x.0.total_cmp(&y.0))?;
    (nearest.0 <= near).then_some((nearest.1, nearest.2))
}

/// Edges of a feature: those of a face, or the edge itself; empty for a vertex.
fn edges_of<'a>(body: &'a Body, feature: &'a Feature) -> &'a [EdgeId] {
    match feature {
        Feature::Face(face) => body.edges_of_face(*face),
        Feature::Edge(edge) => std::slice::from_ref(edge),
        Feature::Vertex(_) => &[],
    }
}

/// Returns the vertex of a feature nearest to a point (the solid's frame); `None` if it is farther than
/// `near` (mm).
fn vertex_beside(body: &Body, feature: Feature, p: &P3, near: f64) -> Option<VertexId> {
    if let Feature::Vertex(vertex) = feature {
        return Some(vertex);
    }
    let is_end = |point: &P3| (point - p).norm() <= near;
    let has_end = edges_of(body, &feature).iter().any(|&e| {
        let edge = body.edge(e);
        edge.spans.iter().flat_map(|s| [s.t0, s.t1]).any(|t| is_end(&edge.curve.point(t)))
    });
    if !has_end {
        return None;
    }
    // Vertices lie beside the ends of their edges by up to their stored deviation.
    let apart = (0..).map(VertexId).zip(&body.hierarchy().vertices);
    let apart = apart.map(|(id, v)| ((v.point - p).norm() - v.deviation, id));
    apart.filter(|(d, _)| *d <= near).min_by(|x, y| x.0.total_cmp(&y.0)).map(|(_, id)| id)
}
