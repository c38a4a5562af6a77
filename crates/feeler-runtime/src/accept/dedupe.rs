//! One report for each minimum.
//!
//! Two results are the same LMD when both footpoints agree within the tolerance, widened by what the model
//! leaves open where they lie on different features of a solid (a face and the edge beside it), and for
//! quasi-LMDs by what their angle makes of the distance. The one on features of the higher dimension stays.
//!
//! A footpoint counts as on its face or edge up to the stored gap beyond its border. A strict minimum with
//! such a footpoint is dropped if its partner has one with the edge or vertex there whose direction is that
//! between the footpoints: this direction is in the polar of the edge or vertex, so the nearest point is on
//! it. If the footpoints of the latter coincide, it stays where both distances differ by more than rounding.
//!
//! # Source
//! MATH §2, §10: keys and sorting, never the order of arrival.

use crate::api::contact::{ContactKind, FeatureKind, FeatureRef};
use crate::body::side::Which;
use crate::footpoint::touching::ROUNDINGS;
use crate::footpoint::trim::is_within;
use crate::query::{Accepted, Context};
use feeler_hierarchy::Feature;
use std::cmp::Ordering;

/// Least cosine between the normals of one contact of a step, if a face has the normal.
const SAME_CONTACT_COS: f64 = 0.999;

/// Sorts minima by distance and removes duplicates. If `of_step` is true, contacts of one vertex with
/// several faces of a corner are kept: a step may slide along one of the faces and press into another one.
pub(crate) fn dedupe(ctx: &Context<'_>, of_step: bool, all: &mut [Accepted], kept: &mut Vec<Accepted>) {
    // Which of several stays must not depend on the roles of A and B.
    let first = ctx.first();
    let by_place = |x: &Accepted, y: &Accepted| by_place(first, x, y);
    all.sort_unstable_by(|x, y| priority(x).cmp(&priority(y)).then_with(|| by_place(x, y)));
    kept.clear();
    for x in all.iter() {
        let has_face = dim(x.place_a.kind).max(dim(x.place_b.kind)) == 2;
        let least = if of_step && has_face { SAME_CONTACT_COS } else { ctx.tol.critical };
        if !is_displaced(ctx, x, all) && !kept.iter().any(|y| same(ctx, x, y, least)) {
            kept.push(*x);
        }
    }
    kept.sort_unstable_by(|x, y| x.distance.total_cmp(&y.distance).then_with(|| by_place(x, y)));
}

fn dim(kind: FeatureKind) -> u8 {
    match kind {
        FeatureKind::Face => 2,
        FeatureKind::Edge => 1,
        FeatureKind::Vertex => 0,
    }
}

/// Smaller is kept first: exact before quasi, higher dimensions, converged before stalled.
fn priority(x: &Accepted) -> (bool, u8, bool, bool) {
    let lost = 4 - dim(x.place_a.kind) - dim(x.place_b.kind);
    (x.kind == ContactKind::Quasi, lost, x.undecided, x.kind == ContactKind::Conformal)
}

/// A total order by features, those of the solid `first` first, then distance and parameters.
fn by_place(first: Which, x: &Accepted, y: &Accepted) -> Ordering {
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

/// One side of a minimum.
struct Footing<'a> {
    which: Which,
    feature: Feature,
    partner: Feature,
    place: &'a FeatureRef,
}

/// Feature, partner and place of each side of a minimum.
fn footings(x: &Accepted) -> [Footing<'_>; 2] {
    let of = |which, feature, partner, place| Footing { which, feature, partner, place };
    [of(Which::A, x.feature_a, x.feature_b, &x.place_a), of(Which::B, x.feature_b, x.feature_a, &x.place_b)]
}

/// Whether a strict minimum, one of whose footpoints is on or beyond the border of its feature, is the one of
/// an edge or vertex there with the same partner.
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

/// Whether the direction of a minimum is that between its footpoints, in either sense.
fn is_between(ctx: &Context<'_>, x: &Accepted) -> bool {
    let between = x.p_b - x.p_a;
    let length = between.norm();
    length > ROUNDINGS * ctx.tol.eps && between.cross(&x.n).norm() <= ctx.tol.critical * length
}

/// Same LMD, with a cosine between the directions above `least`? `y` comes first in the order in which
/// results are kept.
fn same(ctx: &Context<'_>, x: &Accepted, y: &Accepted, least: f64) -> bool {
    // Directions at right angles are different, whatever their rounding.
    is_near(ctx, x, y) && x.n.dot(&y.n) > least
}

/// Whether both footpoints of two minima agree within the tolerance and what the model leaves open.
fn is_near(ctx: &Context<'_>, x: &Accepted, y: &Accepted) -> bool {
    let open_a = if x.feature_a == y.feature_a { 0.0 } else { x.slack_a + y.slack_a };
    let open_b = if x.feature_b == y.feature_b { 0.0 } else { x.slack_b + y.slack_b };
    // A footpoint that moves by a gap on one solid moves its partner about as far.
    // What holds up to an angle only holds up to that angle times the distance beside it.
    let quasi = if x.kind == ContactKind::Quasi { ctx.quasi_angle * x.distance.abs() } else { 0.0 };
    let near = ctx.tol.same + 2.0 * (open_a + open_b) + quasi;
    (x.p_a - y.p_a).norm() <= near && (x.p_b - y.p_b).norm() <= near
}
