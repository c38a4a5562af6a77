//! Removes duplicate minima, so that each one is reported once.
//!
//! Two results are the same LMD if both footpoints agree within the tolerance `same` of the query. This
//! tolerance is widened by the deviations of trims and edges if the footpoints lie on different features
//! of a solid (a face and an edge on its border), and for quasi-LMDs by the product of the quasi-angle
//! and the distance. The result on features of the higher dimension is kept.
//!
//! A footpoint counts as on its face or edge up to a stored gap beyond the border of the feature. A strict
//! minimum with such a footpoint is dropped if the feature of the other solid has a minimum with the edge
//! or vertex there, in the direction between its footpoints. This direction is in the polar of the edge or
//! vertex, so the nearest point is on the edge or vertex. If the footpoints of the minimum of the edge or
//! vertex coincide, the strict minimum is dropped only if both distances differ by more than rounding.
//!
//! # Source
//! MATH §2, §10. Results are ordered by keys, never by the order of arrival.

use crate::api::contact::{ContactKind, FeatureKind, FeatureRef};
use crate::body::side::Which;
use crate::footpoint::touching::ROUNDINGS;
use crate::footpoint::trim::is_within;
use crate::query::{Accepted, Context};
use feeler_hierarchy::Feature;
use std::cmp::Ordering;

/// Minimum cosine of the angle (2.6°) between the normals of two results of a simulator's step that count
/// as one contact, if one of their features is a face. A larger value reports a contact twice; a smaller
/// one merges contacts of neighbouring faces.
const SAME_CONTACT_COS: f64 = 0.999;

/// Sorts the minima `all` by distance and stores them without duplicates in `kept`. If `of_step` is true,
/// contacts of one vertex with several faces of a corner are kept, because a step of a simulator may slide
/// along one of the faces and press into another one.
pub(crate) fn dedupe(ctx: &Context<'_>, of_step: bool, all: &mut [Accepted], kept: &mut Vec<Accepted>) {
    // The choice among duplicates must not depend on the roles of A and B.
    let first = ctx.first();
    let by_features = |x: &Accepted, y: &Accepted| by_features(first, x, y);
    all.sort_unstable_by(|x, y| priority(x).cmp(&priority(y)).then_with(|| by_features(x, y)));
    kept.clear();
    for x in all.iter() {
        let has_face = dim(x.place_a.kind).max(dim(x.place_b.kind)) == 2;
        let min_cos = if of_step && has_face { SAME_CONTACT_COS } else { ctx.tol.critical };
        if !is_displaced(ctx, x, all) && !kept.iter().any(|y| is_same_contact(ctx, x, y, min_cos)) {
            kept.push(*x);
        }
    }
    kept.sort_unstable_by(|x, y| x.distance.total_cmp(&y.distance).then_with(|| by_features(x, y)));
}

fn dim(kind: FeatureKind) -> u8 {
    match kind {
        FeatureKind::Face => 2,
        FeatureKind::Edge => 1,
        FeatureKind::Vertex => 0,
    }
}

/// Sort key of a result: of two duplicates, the one with the smaller key is kept. Exact minima precede
/// quasi-minima, features of higher dimension those of lower dimension, converged results stalled ones,
/// and isolated minima samples of conformal sets.
fn priority(x: &Accepted) -> (bool, u8, bool, bool) {
    let lost = 4 - dim(x.place_a.kind) - dim(x.place_b.kind);
    (x.kind == ContactKind::Quasi, lost, x.undecided, x.kind == ContactKind::Conformal)
}

/// Total order of results: by the feature of the body `first`, then by that of the other body, distance
/// and parameters of the footpoints.
fn by_features(first: Which, x: &Accepted, y: &Accepted) -> Ordering {
    let in_order = |z: &Accepted| match first {
        Which::A => ((z.feature_a, z.place_a.uv), (z.feature_b, z.place_b.uv)),
        Which::B => ((z.feature_b, z.place_b.uv), (z.feature_a, z.place_a.uv)),
    };
    let by_numbers = |k: &[f64], l: &[f64]| {
        k.iter().zip(l).map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    };
    let ((f, u), (g, v)) = in_order(x);
    let ((h, s), (i, t)) = in_order(y);
    (f, g)
        .cmp(&(h, i))
        .then_with(|| x.distance.total_cmp(&y.distance))
        .then_with(|| by_numbers(&u, &s).then_with(|| by_numbers(&v, &t)))
        .then_with(|| by_numbers(x.p_a.coords.as_slice(), y.p_a.coords.as_slice()))
}

/// Footpoint of a minimum on one of the two bodies.
struct Footing<'a> {
    /// Body on which the footpoint lies.
    which: Which,
    /// Feature of this body in the minimum.
    feature: Feature,
    /// Feature of the other body in the minimum.
    partner: Feature,
    /// Feature that contains the footpoint, with the parameters of the footpoint.
    place: &'a FeatureRef,
}

/// Footpoints of the minimum `x` on A and on B, in this order.
fn footings(x: &Accepted) -> [Footing<'_>; 2] {
    let of = |which, feature, partner, place| Footing { which, feature, partner, place };
    [of(Which::A, x.feature_a, x.feature_b, &x.place_a), of(Which::B, x.feature_b, x.feature_a, &x.place_b)]
}

/// Whether `x` is a strict minimum with a footpoint on or beyond the border of its feature and duplicates
/// a minimum in `all` of an edge or vertex on that border with the same feature of the other body.
fn is_displaced(ctx: &Context<'_>, x: &Accepted, all: &[Accepted]) -> bool {
    x.kind == ContactKind::Strict
        && footings(x).into_iter().zip(0..2).any(|(of_x, side)| {
            dim(of_x.place.kind) > 0
                && all.iter().any(|y| {
                    let of_y = &footings(y)[side];
                    y.kind == ContactKind::Strict
                        && of_x.partner == of_y.partner
                        && dim(of_y.place.kind) < dim(of_x.place.kind)
                        && is_near(ctx, x, y)
                        && (is_between(ctx, y) || (x.distance - y.distance).abs() > ctx.tol.trim)
                })
                && !is_within(ctx.body(of_x.which), of_x.feature, of_x.place, &ctx.tol)
        })
}

/// Whether the direction of a minimum is parallel or opposite to the connection of its footpoints. It is
/// not if the footpoints coincide up to rounding.
fn is_between(ctx: &Context<'_>, x: &Accepted) -> bool {
    let between = x.p_b - x.p_a;
    let length = between.norm();
    length > ROUNDINGS * ctx.tol.eps && between.cross(&x.n).norm() <= ctx.tol.critical * length
}

/// Whether two results are the same LMD: their footpoints agree, and the cosine of the angle between their
/// directions is above `min_cos`. `y` is the one that is already kept.
fn is_same_contact(ctx: &Context<'_>, x: &Accepted, y: &Accepted, min_cos: f64) -> bool {
    // Directions at right angles are different, whatever their rounding.
    is_near(ctx, x, y) && x.n.dot(&y.n) > min_cos
}

/// Whether the footpoints of two minima agree on each solid within the tolerance `same` of the query,
/// the deviations of the trims and edges on which they lie, and the uncertainty of a quasi-minimum `x`.
fn is_near(ctx: &Context<'_>, x: &Accepted, y: &Accepted) -> bool {
    let model_slack_a = if x.feature_a == y.feature_a { 0.0 } else { x.slack_a + y.slack_a };
    let model_slack_b = if x.feature_b == y.feature_b { 0.0 } else { x.slack_b + y.slack_b };
    // If a footpoint on one solid moves by a gap, its partner moves by about as much. The footpoints of a
    // quasi-LMD are uncertain by its angle times the distance.
    let quasi = if x.kind == ContactKind::Quasi { ctx.quasi_angle * x.distance.abs() } else { 0.0 };
    let max_distance = ctx.tol.same + 2.0 * (model_slack_a + model_slack_b) + quasi;
    (x.p_a - y.p_a).norm() <= max_distance && (x.p_b - y.p_b).norm() <= max_distance
}
