//! Where a footpoint stands: on its feature, and its direction in the polar.
//!
//! # Source
//! BREP §4.4, MATH §2.

use super::bands::faces_away;
use super::polar::{Polar, test_vertex};
use super::trim::{InDomain, Located, locate_on_edge, locate_on_face, on_face};
use crate::api::contact::{FeatureKind, FeatureRef};
use crate::api::tolerance::Tolerances;
use crate::body::edge_normals::edge_normals;
use crate::body::outward_normal;
use crate::body::side::Which;
use crate::query::Context;
use feeler_geom::contact::{SecondOrder, SideShape, second_order};
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature};

/// A footpoint that passed trims and polars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub located: Located,
    pub polar: Polar,
    pub shape: SideShape,
}

/// The second-order test, with a threshold in length over the `extent` (mm) of the smaller feature.
pub(crate) fn definiteness(ctx: &Context<'_>, a: &Side, b: &Side, distance: f64, extent: f64) -> SecondOrder {
    second_order(&a.shape, &b.shape, distance, extent, flatness(ctx, extent))
}

/// The threshold of second orders in length (mm) over an extent (mm).
pub(crate) fn flatness(ctx: &Context<'_>, extent: f64) -> f64 {
    ctx.tol.tol.min(FLAT_ANGLE * extent)
}

/// Turn of the normal (rad) over the extent of a feature above which the feature is not flat, however small
/// it is.
const FLAT_ANGLE: f64 = 1e-6;

/// A footpoint to be looked at, frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foot<'a> {
    pub p: &'a P3,
    /// Outward direction.
    pub n: V3,
    /// Basis of the plane across the direction, the same for both sides.
    pub basis: (V3, V3),
    /// Parameters, where they are known.
    pub hint: Option<P2>,
    /// Its place in the trimmed domain of its face, where this is known.
    pub in_domain: Option<InDomain>,
    /// How far (mm) beyond a concave edge a footpoint counts as on its face: as far as it is pressed.
    pub beside: f64,
}

/// One side of a pair, when the footpoint is on its feature with the direction in its polar.
pub(crate) fn side(
    ctx: &Context<'_>,
    which: Which,
    feature: Feature,
    foot: &Foot<'_>,
    tol: &Tolerances,
) -> Option<Side> {
    let body = ctx.body(which);
    // Into the solid's own frame.
    let Foot { p, n, basis, hint, in_domain, beside } = *foot;
    let (p, n, basis) = match which {
        Which::A => (*p, n, basis),
        Which::B => (ctx.pose_ba * p, ctx.pose_ba * n, (ctx.pose_ba * basis.0, ctx.pose_ba * basis.1)),
    };
    let data = body.data(feature);
    // Brute force is to know nothing of bounds.
    let is_bounded = ctx.cull.is_some();
    if is_bounded && !data.bounds.inflated(data.deviation + tol.trim + tol.same + beside).contains(&p) {
        return None;
    }
    match feature {
        Feature::Face(i) => {
            let located = locate_on_face(body, i, (&p, &n), (hint, in_domain), beside, tol)?;
            let face = body.face(i);
            let uv = P2::new(located.place.uv[0], located.place.uv[1]);
            let shape = SideShape::face(&face.surface, uv, face.outward, &basis)?;
            Some(Side { located, polar: Polar::Exact, shape })
        }
        Feature::Edge(i) => {
            let located = locate_on_edge(body, i, &p, hint.map(|h| h.x), tol)?;
            let t = located.place.uv[0];
            // Most are told by the cone of the polars near by.
            let mut areas = body.areas_of(data).iter().map(|&area| (body, area));
            let holds = |area: AreaId| {
                let rect = &body.area(area).rect;
                rect.u0 <= t && t <= rect.u1
            };
            let around = areas.find(|(_, area)| holds(*area)).filter(|_| is_bounded);
            if around.is_some_and(|area| faces_away(ctx, area, &-n, tol.angle + tol.critical)) {
                return None;
            }
            let normals = edge_normals(body, i, t)?;
            if normals.tangent.dot(&n).abs() > tol.critical {
                return None;
            }
            let polar = normals.test(&n, tol.angle, ctx.quasi_angle);
            if polar == Polar::Outside {
                return None;
            }
            let d = body.edge(i).curve.derivs(t);
            let speed_sq = d.d1.norm_squared();
            let k = (d.d2 - normals.tangent * normals.tangent.dot(&d.d2)) / speed_sq;
            let k = if k.norm().is_finite() { k } else { V3::zeros() };
            Some(Side { located, polar, shape: SideShape::edge(&normals.tangent, &k, &n, &basis) })
        }
        Feature::Vertex(i) => {
            let vertex = body.vertex(i);
            if (vertex.point - p).norm() > tol.trim {
                return None;
            }
            let polar = test_vertex(vertex, &n, tol.angle, ctx.quasi_angle);
            if polar == Polar::Outside {
                return None;
            }
            let place =
                FeatureRef { kind: FeatureKind::Vertex, index: i.0, source: vertex.source, uv: [0.0, 0.0] };
            let located = Located { place, slack: vertex.deviation, border: false, is_beside: false };
            Some(Side { located, polar, shape: SideShape::Vertex })
        }
    }
}

/// Parameters of a point (frame of A) that lies on the surface of a face with this outward normal, inside its
/// trims or not; `None` if the point or the normal differs by more than `length` (mm) or `angle` (rad).
pub(crate) fn on_surface(
    ctx: &Context<'_>,
    (which, face): (Which, FaceId),
    (p, n): (&P3, &V3),
    (angle, length): (f64, f64),
) -> Option<P2> {
    let (p, n) = match which {
        Which::A => (*p, *n),
        Which::B => (ctx.pose_ba * p, ctx.pose_ba * n),
    };
    let data = ctx.body(which).face(face);
    let uv = data.surface.invert(&p, None, None);
    let is_there =
        (data.surface.point(uv) - p).norm() <= length && (outward_normal(data, uv) - n).norm() <= angle;
    is_there.then_some(uv)
}

/// Whether a footpoint (frame of A) lies on a feature with the given outward direction: the criterion of
/// members of a conformal set.
pub(crate) fn lies_on(
    ctx: &Context<'_>,
    which: Which,
    feature: Feature,
    p: &P3,
    n: &V3,
    angle: f64,
    length: f64,
) -> bool {
    let body = ctx.body(which);
    let tol = Tolerances { trim: length, angle, ..ctx.tol };
    if let Feature::Face(i) = feature {
        let uv = on_surface(ctx, (which, i), (p, n), (angle, length));
        return uv.is_some_and(|uv| on_face(body.face(i), uv, body.data(feature).deviation, &tol));
    }
    let (p, n) = match which {
        Which::A => (*p, *n),
        Which::B => (ctx.pose_ba * p, ctx.pose_ba * n),
    };
    match feature {
        Feature::Face(_) => false,
        Feature::Edge(i) => locate_on_edge(body, i, &p, None, &tol).is_some_and(|l| {
            edge_normals(body, i, l.place.uv[0]).is_some_and(|e| e.test(&n, angle, 0.0) == Polar::Exact)
        }),
        Feature::Vertex(i) => (body.vertex(i).point - p).norm() <= length,
    }
}
