//! Contacts across flush seams.
//!
//! If two faces lie in one plane, the corner of one solid faces the flank of the other one. The minimum
//! between them has a normal along the slide, which it would obstruct. The normal of an adjacent face
//! separates the solids as well, up to the wanted error.
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

/// Constraints of a polar and normals of the adjacent faces of one side, as directions from A to B in the
/// frame of A.
#[derive(Debug, Default)]
struct Rim {
    constraints: Few,
    normals: Few,
}

/// Largest angle (rad) between flush faces. A larger value replaces normals that obstruct a real motion; a
/// smaller one keeps corners that obstruct a slide.
const MAX_FLUSH_ANGLE: f64 = 0.1;

/// The contact with the normal of an adjacent face, for pressed contacts and those that the step can close.
/// `None` unless both footpoints are within the wanted error of convex edges or vertices and two adjacent
/// faces, one of either side, are flush to the same error. A corner in the plane of another face is not flush
/// if no face of its own lies along that plane, because it can move through the plane.
///
/// If the footpoints are within the wanted error of each other, every flush normal separates the solids
/// equally well. The normal with the smallest component of the last motion is selected, if that component
/// is smaller than the one along the contact's own normal: the solids slide past each other.
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
    // Angle by which faces open by the wanted error between the footpoints, or within the step.
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
        // About the contact's own normal, which is exact for a minimum.
        let is_quasi = contact.kind == ContactKind::Quasi;
        return is_quasi.then(|| Accepted { n, distance: between.dot(&n), is_slid: true, ..*contact });
    }
    // Across another normal, a footpoint of B below the plane, within the error, must not be lifted.
    let distance = between.dot(&n).max(0.0);
    Some(Accepted { n, distance, kind: ContactKind::Quasi, is_slid: true, ..*contact })
}

/// Displacement (mm) of a point of B (frame of A) since the pose before the last motion.
fn last_displacement(ctx: &Context<'_>, step: &Widening, p: &P3) -> Option<V3> {
    step.pose_before.map(|before| p - before * (ctx.pose_ba * p))
}

/// The edge or vertex of one side within a distance (mm) of a footpoint; `None` without one, and for a
/// concave edge.
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

/// The edge of a feature nearest to a point (the solid's frame), within a distance (mm), and its parameter.
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

/// Edges of a face, or the edge itself.
fn edges_of<'a>(body: &'a Body, feature: &'a Feature) -> &'a [EdgeId] {
    match feature {
        Feature::Face(face) => body.edges_of_face(*face),
        Feature::Edge(edge) => std::slice::from_ref(edge),
        Feature::Vertex(_) => &[],
    }
}

/// The vertex nearest to a point (the solid's frame), within a distance (mm) of it.
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
