//! Signed distance of a point from the boundary of a solid.
//!
//! In the interior of a face, the normal at the nearest boundary point determines the side. On an edge or
//! a vertex, the normals of the faces around it do, if the point is on the same side of all of them: the
//! ball around the point that touches the boundary is on one side of it, and a point inside is behind
//! at least one face. Rays decide in all other cases.

use super::membership::{RayScratch, contains};
use super::{Around, NearScratch, Nearest, faces_around, nearest, tips};
use crate::api::tolerance::Tolerances;
use crate::body::{Body, outward_normal};
use feeler_geom::{P3, V3};
use feeler_hierarchy::FaceId;

/// Smallest component of a direction along the normals of faces, as a fraction of the direction's length,
/// at which the normals determine the side of a point. With a larger value, more points need rays; with a
/// smaller one, rounding of normals determines the side.
const MIN_NORMAL_COMPONENT: f64 = 1e-6;

/// Boundary point of a solid nearest to a given point, in the frame of the solid, with the signed distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundaryPoint {
    /// Distance (mm) of the given point from the boundary, negative inside the solid. A sheet has no
    /// inside.
    pub signed_distance: f64,
    /// Boundary point nearest to the given point.
    pub foot: P3,
    /// Outward unit normal at `foot`, which is the gradient of the signed distance: in the interior of a
    /// face its normal; on edges and vertices the direction between `foot` and the given point, or between
    /// the normals of the faces if that point is on the boundary.
    pub normal: V3,
    /// Face that contains `foot`, in its interior or on its border.
    pub face: FaceId,
}

/// Computes the nearest boundary point and the signed distance of `p` (frame of the solid). A sheet has no
/// inside. `None` for a body without faces.
pub(crate) fn signed_foot(
    body: &Body,
    p: &P3,
    tol: &Tolerances,
    (near, rays): (&mut NearScratch, &mut RayScratch),
) -> Option<BoundaryPoint> {
    let found = nearest(body, p, f64::INFINITY, near)?;
    let away = p - found.foot;
    // The connection of the nearest point in the interior of a face is along the normal. A point to which a
    // border confines the search has a normal, too, but is on an edge.
    let is_along = |n: &V3| {
        found.distance <= tol.tol || n.dot(&away).abs() >= (1.0 - MIN_NORMAL_COMPONENT) * found.distance
    };
    let of_face = found.normal.filter(is_along);
    let (is_inside, normal) = match of_face {
        Some(n) if body.is_sheet() => (false, if n.dot(&away) < 0.0 { -n } else { n }),
        Some(n) => (n.dot(&away) < 0.0, n),
        None => {
            let faces = faces_around(body, &found.foot, tol.trim + 2.0 * body.deviation(), near);
            let is_inside = !body.is_sheet()
                && is_inside_of(body, &faces, (p, &away), tol)
                    .or_else(|| contains(body, p, tol.trim, rays))
                    .unwrap_or_else(|| middle(&faces).is_some_and(|n| n.dot(&away) < 0.0));
            (is_inside, edge_normal(body, &found, (&away, is_inside), &faces, tol))
        }
    };
    let signed_distance = if is_inside { -found.distance } else { found.distance };
    Some(BoundaryPoint { signed_distance, foot: found.foot, normal, face: found.face })
}

/// Whether a point is inside, according to the normals of the faces around its nearest boundary point;
/// `None` if they do not determine it. `away` is the vector from that boundary point to the point `p`.
fn is_inside_of(body: &Body, faces: &Around, (p, away): (&P3, &V3), tol: &Tolerances) -> Option<bool> {
    let foot = p - away;
    // The normal at a tip is one of many.
    let is_at_tip = |f: FaceId| {
        tips(&body.face(f).surface).iter().any(|tip| (tip - foot).norm() <= tol.same + body.deviation())
    };
    if faces.is_empty() || faces.is_full() || faces.iter().any(|(f, _)| is_at_tip(*f)) {
        return None;
    }
    let limit = MIN_NORMAL_COMPONENT * away.norm();
    // Two faces form a wedge. The point is in the polar of its edge, or in the opposite of it, which both are
    // at most a right angle from the middle of the normals.
    if let [(_, n), (_, m)] = faces.as_slice() {
        let component = (n + m).dot(away);
        return (component.abs() > limit).then_some(component < 0.0);
    }
    let beyond = |sign: f64| faces.iter().all(|(_, n)| sign * n.dot(away) > limit);
    if beyond(1.0) {
        Some(false)
    } else if beyond(-1.0) {
        Some(true)
    } else {
        None
    }
}

/// Unit direction in the middle of the normals of faces; `None` without faces or if the normals cancel.
fn middle(faces: &Around) -> Option<V3> {
    faces.iter().map(|(_, n)| n).sum::<V3>().try_normalize(MIN_NORMAL_COMPONENT)
}

/// Gradient of the signed distance at a point whose nearest boundary point is on an edge or a vertex with the
/// given faces around it. `away` is the vector from the boundary point to the point. The gradient has the
/// direction of `away`, or is in the middle of the faces' normals if the point is within the tolerance of
/// the boundary.
fn edge_normal(
    body: &Body,
    found: &Nearest,
    (away, is_inside): (&V3, bool),
    faces: &Around,
    tol: &Tolerances,
) -> V3 {
    if found.distance > tol.tol {
        return if is_inside { -away } else { *away } / found.distance;
    }
    middle(faces).unwrap_or_else(|| {
        let face = body.face(found.face);
        outward_normal(face, face.surface.invert(&found.foot, None, Some(&face.trim.rect)))
    })
}
