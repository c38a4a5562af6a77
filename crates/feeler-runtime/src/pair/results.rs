//! Results of a query in world coordinates.

use super::derivatives::gap_gradient;
use crate::accept::identities::ContactIds;
use crate::api::contact::{Contact, FeatureRef};
use crate::api::options::QueryOptions;
use crate::api::verdict::{Status, UndecidedPoint, Verdict, WidenedPoint, Witness};
use crate::body::Body;
use crate::body::ids::FacePair;
use crate::certify::OpenContact;
use crate::footpoint::trim::{place_on, place_on_face, with_source};
use crate::query::{Accepted, Context};
use crate::verdict::{self, Finding};
use feeler_geom::{P2, P3, Pose, V3};
use feeler_hierarchy::Feature;

/// Writes the verdict in world coordinates to `out`. `near` is whether the smallest distance of a minimum,
/// quasi-minima excluded, is at most the tolerance [`Tolerances::tol`](crate::Tolerances::tol).
pub(super) fn build_verdict(
    ctx: &Context<'_>,
    finding: &Finding,
    near: bool,
    (decision, open_contacts): (&verdict::Scratch, &[OpenContact]),
    pose_a: &Pose,
    out: &mut Verdict,
) {
    out.clear();
    let faces_at = |p: &P3, faces: FacePair| {
        let [a, b] = faces;
        (place_on_face(ctx.a, a, p), place_on_face(ctx.b, b, &(ctx.pose_ba * p)))
    };
    out.status = match finding {
        Finding::Meet(_) => Status::Interfering,
        Finding::Undecided => Status::Undecided,
        Finding::Touch => Status::Touching,
        Finding::Apart if near => Status::Touching,
        Finding::Apart => Status::Separated,
    };
    if let Finding::Meet(witness) = finding {
        let [inside_a, inside_b] = witness.inside;
        out.witness = Some(Witness { point: pose_a * witness.p, inside_a, inside_b });
        out.crossing = witness.faces.map(|faces| faces_at(&witness.at, faces));
    } else {
        out.widened
            .extend(decision.widened().iter().map(|(p, by)| WidenedPoint { point: pose_a * p, by: *by }));
    }
    if *finding == Finding::Undecided {
        // A point of a solid is at most half an edge of the solid's box away from the boundary.
        let possible = [ctx.a, ctx.b].map(|body| 0.5 * (body.bounds().max - body.bounds().min).min());
        let deepest = possible[0].min(possible[1]);
        out.undecided.extend(decision.undecided().iter().map(|place| {
            let (feature_a, feature_b) = faces_at(&place.p, place.faces);
            UndecidedPoint {
                feature_a,
                feature_b,
                point: pose_a * place.p,
                depth_bound: place.depth.min(deepest),
            }
        }));
        // Contacts are searched for only if the search for crossings has ended without a witness.
        out.undecided.extend(open_contacts.iter().map(|open| {
            let [a, b] = open.features;
            UndecidedPoint {
                feature_a: place_on(ctx.a, a, &open.p),
                feature_b: place_on(ctx.b, b, &(ctx.pose_ba * open.p)),
                point: pose_a * open.p,
                depth_bound: verdict::depth_without_witness(&ctx.tol, decision.has_failed()).min(deepest),
            }
        }));
    }
}

/// Appends the minima `kept` to `out` as contacts in world coordinates, with their identities.
pub(super) fn report(
    ctx: &Context<'_>,
    kept: &[Accepted],
    contact_ids: &ContactIds,
    pose_a: &Pose,
    options: &QueryOptions,
    out: &mut Vec<Contact>,
) {
    out.extend(kept.iter().enumerate().map(|(i, k)| {
        let identity = contact_ids.identity(i);
        let local_b = ctx.pose_ba * k.p_b;
        let gap = k.distance - options.dilation_a - options.dilation_b;
        Contact {
            distance: k.distance,
            gap,
            point_a: pose_a * k.p_a,
            point_b: pose_a * k.p_b,
            local_a: k.p_a,
            local_b,
            normal: pose_a * k.n,
            local_normal: k.n,
            gap_rate: gap_gradient(&k.n, &k.p_b),
            curvature_a: curvature(ctx.a, k.feature_a, &k.place_a, &k.n),
            curvature_b: curvature(ctx.b, k.feature_b, &k.place_b, &(ctx.pose_ba * -k.n)),
            kind: k.kind,
            id: identity.id,
            age: identity.age,
            is_active: gap <= 0.0,
            is_fixed: [false; 2],
            feature_a: with_source(ctx.a, &k.place_a),
            feature_b: with_source(ctx.b, &k.place_b),
            undecided: k.undecided,
        }
    }));
}

/// Smallest and largest normal curvature (1/mm) of a feature at the footpoint `place`, positive where the
/// solid is convex and infinite across an edge and at a vertex. `n` is the outward direction there, in the
/// frame of `body`.
pub(crate) fn curvature(body: &Body, feature: Feature, place: &FeatureRef, n: &V3) -> [f64; 2] {
    let sorted = |x: f64, y: f64| if x <= y { [x, y] } else { [y, x] };
    match feature {
        Feature::Face(f) => {
            let face = body.face(f);
            let [k1, k2] = face.surface.curvatures(P2::new(place.uv[0], place.uv[1]));
            let sign = if face.outward { 1.0 } else { -1.0 };
            sorted(sign * k1, sign * k2)
        }
        Feature::Edge(e) => {
            let d = body.edge(e).curve.derivs(place.uv[0]);
            sorted(-n.dot(&d.d2) / d.d1.norm_squared(), f64::INFINITY)
        }
        Feature::Vertex(_) => [f64::INFINITY; 2],
    }
}
