//! Tests of one side of a pair of footpoints: whether the footpoint lies on its feature, and the outward
//! direction in the polar at that point.
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

/// A footpoint that passed the tests of trims and polars, with the data for the second-order test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub located: Located,
    pub polar: Polar,
    pub shape: SideShape,
}

/// Second-order test of a pair of footpoints at a signed `distance` (mm). The threshold is a change of
/// the distance over the `extent` (mm) of the smaller feature ([`flatness`]).
pub(crate) fn definiteness(ctx: &Context<'_>, a: &Side, b: &Side, distance: f64, extent: f64) -> SecondOrder {
    second_order(&a.shape, &b.shape, distance, extent, flatness(ctx, extent))
}

/// Change of the distance (mm) over the extent (mm) of a feature below which the second-order test
/// counts a direction as flat.
pub(crate) fn flatness(ctx: &Context<'_>, extent: f64) -> f64 {
    ctx.tol.tol.min(FLAT_ANGLE * extent)
}

/// Change of the distance over the extent of a feature, as a fraction of the extent, above which a
/// direction is not flat, however small the feature is. With a larger value, isolated minima of small
/// features become samples; with a smaller one, sets of small features become isolated minima.
const FLAT_ANGLE: f64 = 1e-6;

/// A footpoint to be tested. Points and directions are in the frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foot<'a> {
    pub p: &'a P3,
    /// Unit vector from the footpoint out of its solid, along the connection of the footpoints.
    pub n: V3,
    /// Orthonormal basis of the plane across `n`, the same for both footpoints of a pair.
    pub basis: (V3, V3),
    /// Parameters of the footpoint on its feature; `None` if they are not known yet.
    pub hint: Option<P2>,
    /// Location of the footpoint in the trimmed domain of its face; `None` if it is not known yet.
    pub in_domain: Option<InDomain>,
    /// Largest distance (mm) beyond a concave edge at which the footpoint still counts as on its face;
    /// positive only for pressed pairs and in the steps of a simulator.
    pub beside: f64,
    /// Largest distance (mm) beyond an end of its edge at which the footpoint still counts as on the edge, if
    /// the solid continues there; positive only in the steps of a simulator.
    pub beyond: f64,
}

/// Tests one footpoint of a pair; `None` if it does not lie on its feature or its direction is not in
/// the polar, dilated by the quasi angle of `ctx`.
pub(crate) fn side(
    ctx: &Context<'_>,
    which: Which,
    feature: Feature,
    foot: &Foot<'_>,
    tol: &Tolerances,
) -> Option<Side> {
    let body = ctx.body(which);
    // The footpoint is converted to the frame of the solid.
    let Foot { p, n, basis, hint, in_domain, beside, beyond } = *foot;
    let (p, n, basis) = match which {
        Which::A => (*p, n, basis),
        Which::B => (ctx.pose_ba * p, ctx.pose_ba * n, (ctx.pose_ba * basis.0, ctx.pose_ba * basis.1)),
    };
    let data = body.data(feature);
    // Brute force must not depend on bounds, because it is the reference for them.
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
            let located = locate_on_edge(body, i, &p, hint.map(|h| h.x), beyond, tol)?;
            let t = located.place.uv[0];
            // The cone of the polars of the area around the point excludes most directions.
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

/// Parameters of a point `p` (frame of A) on the surface of a face, whether or not it is inside the
/// trims. Returns `None` if `p` is farther than `length` (mm) from the surface, or if the outward normal
/// there differs from `n` (frame of A) by more than `angle` (rad).
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
    let matches =
        (data.surface.point(uv) - p).norm() <= length && (outward_normal(data, uv) - n).norm() <= angle;
    matches.then_some(uv)
}

/// Whether a point `p` lies on a feature, within `length` (mm), and the outward direction `n` in the
/// polar there, within `angle` (rad). This is the criterion for members of a conformal set. `p` and `n`
/// are in the frame of A.
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
        Feature::Edge(i) => locate_on_edge(body, i, &p, None, 0.0, &tol).is_some_and(|l| {
            edge_normals(body, i, l.place.uv[0]).is_some_and(|e| e.test(&n, angle, 0.0) == Polar::Exact)
        }),
        Feature::Vertex(i) => (body.vertex(i).point - p).norm() <= length,
    }
}
