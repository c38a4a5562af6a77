//! Contacts across flush seams.
//!
//! Where two faces meet in one plane, the corner of one solid faces the flank of the other one, and the
//! distance between them is a minimum across the motion of a slide. The normal of an adjacent face separates
//! the solids as well, up to the wanted error, and lets them slide.
//!
//! # Source
//! MATH §23.

use super::cone::satisfies;
use super::{Widening, own};
use crate::body::edge_normals::edge_normals;
use crate::footpoint::touching::of_edge;
use crate::query::{Accepted, Context};
use crate::side::Which;
use crate::{Body, FeatureRef, LmdClass};
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::{EdgeId, FaceId, Feature, VertexId};
use smallvec::SmallVec;

/// Constraints of a polar and normals of faces, of one side.
#[derive(Debug, Default)]
struct Rim {
    constraints: SmallVec<[V3; 16]>,
    normals: SmallVec<[V3; 4]>,
}

/// The contact with the normal of an adjacent face, if both footpoints are within the wanted error of convex
/// edges or vertices, they are farther apart along the contact's own normal, and that face is flush with them
/// to the same error.
pub(crate) fn slid_past(ctx: &Context<'_>, step: &Widening, contact: &Accepted) -> Option<Accepted> {
    if contact.distance <= step.gap_error {
        return None;
    }
    let between = contact.p_b - contact.p_a;
    let a = rim(ctx, Which::A, contact.feature_a, &contact.place_a, &contact.p_a, step.gap_error)?;
    let b = rim(ctx, Which::B, contact.feature_b, &contact.place_b, &contact.p_b, step.gap_error)?;
    let is_flush = |n: &&V3| {
        between.dot(n).abs() <= step.gap_error
            && satisfies(n, &a.constraints, step.rotation)
            && satisfies(n, &b.constraints, step.rotation)
    };
    // The flattest one: of several, rounding must not decide.
    let flush = a.normals.iter().chain(&b.normals).filter(is_flush);
    let n = *flush.min_by(|n, m| between.dot(n).abs().total_cmp(&between.dot(m).abs()))?;
    // Below the plane, up to the error: nothing is lifted.
    let distance = between.dot(&n).max(0.0);
    Some(Accepted { n, distance, class: LmdClass::Quasi, is_slid: true, ..*contact })
}

/// The edge or vertex of a side within a distance (mm) of a footpoint: constraints of its polar and normals
/// of its faces, as directions from A to B in the frame of A. `None` where there is none, or a concave one.
fn rim(
    ctx: &Context<'_>,
    which: Which,
    feature: Feature,
    place: &FeatureRef,
    p: &P3,
    near: f64,
) -> Option<Rim> {
    let body = ctx.body(which);
    let mut out = Rim::default();
    let to_a = |v: &V3| if which == Which::A { *v } else { ctx.pose_ab * -v };
    let mut add_edge = |edge: EdgeId, t: f64| {
        let normals = edge_normals(body, edge, t)?;
        out.constraints.extend(of_edge(&normals)?.iter().map(to_a));
        out.normals.extend(normals.normals.iter().map(to_a));
        Some(())
    };
    let reach = near + ctx.tol.same;
    let feature = match feature {
        // Most footpoints are on no border.
        Feature::Face(f) if !is_on_border(body, f, place, near) => return None,
        Feature::Face(_) | Feature::Edge(_) => {
            vertex_beside(body, &own(ctx, which, p), reach).unwrap_or(feature)
        }
        Feature::Vertex(_) => feature,
    };
    match feature {
        Feature::Vertex(v) => {
            let vertex = body.vertex(v);
            // Faces of a vertex: their normals are extreme rays of its polar.
            let unit: SmallVec<[V3; 16]> =
                vertex.constraints.iter().filter_map(|v| v.try_normalize(f64::MIN_POSITIVE)).collect();
            for (i, v) in unit.iter().enumerate() {
                for w in &unit[..i] {
                    let Some(ray) = v.cross(w).try_normalize(1e-9) else { continue };
                    let rays = [ray, -ray].into_iter().filter(|n| satisfies(n, &unit, 0.0));
                    out.normals.extend(rays.map(|n| to_a(&n)));
                }
            }
            out.constraints.extend(unit.iter().map(to_a));
        }
        Feature::Edge(e) => add_edge(e, place.uv[0])?,
        Feature::Face(f) => {
            let (edge, t) = edge_beside(body, f, &own(ctx, which, p), reach)?;
            add_edge(edge, t)?;
        }
    }
    Some(out)
}

/// The edge of a face nearest to a point (the solid's frame), within a distance (mm), and its parameter.
fn edge_beside(body: &Body, face: FaceId, p: &P3, near: f64) -> Option<(EdgeId, f64)> {
    let of_face = (0_u32..).map(EdgeId).zip(&body.hierarchy().edges);
    let of_face = of_face.filter(|(_, edge)| edge.sides.iter().any(|side| side.face == face));
    let feet = of_face.flat_map(|(id, edge)| {
        edge.spans.iter().map(move |s| {
            let t = edge.curve.project(p, s.t0, s.t1);
            ((edge.curve.point(t) - p).norm(), id, t)
        })
    });
    let nearest = feet.min_by(|x, y| x.0.total_cmp(&y.0))?;
    (nearest.0 <= near).then_some((nearest.1, nearest.2))
}

/// Whether a place is within a distance (mm) of the border of its face.
fn is_on_border(body: &Body, face: FaceId, place: &FeatureRef, near: f64) -> bool {
    let face = body.face(face);
    let uv = P2::new(place.uv[0], place.uv[1]);
    let d = face.surface.derivs(uv);
    let metric = [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
    face.trim.nearest(uv, metric, near).is_some()
}

/// The vertex nearest to a point (the solid's frame), within a distance (mm).
fn vertex_beside(body: &Body, p: &P3, near: f64) -> Option<Feature> {
    let vertices = (0_u32..).zip(&body.hierarchy().vertices);
    let apart = vertices.map(|(k, v)| ((v.point - p).norm(), k));
    let (_, k) = apart.filter(|(d, _)| *d <= near).min_by(|x, y| x.0.total_cmp(&y.0))?;
    Some(Feature::Vertex(VertexId(k)))
}
