//! Step (c) of BREP Figure 4.1: decides which critical pairs are local minima of the solids. The solves of
//! canonical features have removed clear saddles and maxima; see [`canonical`](crate::solve::canonical).
//!
//! # Source
//! BREP §4.4, MATH §2.

use crate::api::contact::ContactKind;
use crate::body::side::Which;
use crate::footpoint::bands::in_zone;
use crate::footpoint::polar::Polar;
use crate::footpoint::side::{Foot, definiteness, side};
use crate::footpoint::touching;
use crate::query::{Accepted, Candidate, Context};
use feeler_geom::contact::SecondOrder;
use feeler_geom::frame::complete_basis;
use feeler_hierarchy::Feature;

/// Converts a critical pair to a minimum. Returns `None` if the distance is out of range, a footpoint is
/// outside its trims, the direction is not in both polars, or the pair is a saddle or a maximum.
pub(crate) fn filter(ctx: &Context<'_>, c: &Candidate) -> Option<Accepted> {
    filter_beside(ctx, c, ctx.beside(c.distance), 0.0)
}

/// Converts a critical pair to a minimum like [`filter`], but accepts footpoints up to `beside` (mm)
/// beyond the concave edges of their faces, and up to `beyond` (mm) beyond the ends of their edges where the
/// solid continues. `None` if the pair is not a minimum.
pub(crate) fn filter_beside(ctx: &Context<'_>, c: &Candidate, beside: f64, beyond: f64) -> Option<Accepted> {
    if !(ctx.least <= c.distance && c.distance <= ctx.d_max) || is_impossible(ctx, c) {
        return None;
    }
    let (n, distance) = touching::direction(ctx, c).unwrap_or((c.n, c.distance));
    let c = &Candidate { n, distance, ..*c };
    // A brute-force query must not use bounds.
    if ctx.cull.is_some()
        && !(in_zone(ctx, (Which::A, c.feature_a), &c.n, 0.0)
            && in_zone(ctx, (Which::B, c.feature_b), &-c.n, 0.0))
    {
        return None;
    }
    let basis = complete_basis(&c.n);
    let foot = |p, n, hint| Foot { p, n, basis, hint, in_domain: None, beside, beyond };
    let of_a = || side(ctx, Which::A, c.feature_a, &foot(&c.p_a, c.n, c.hint_a), &ctx.tol);
    let of_b = || side(ctx, Which::B, c.feature_b, &foot(&c.p_b, -c.n, c.hint_b), &ctx.tol);
    // Features of lower dimension are rejected more often and at lower cost, so they are tested first.
    let dimension = |f: Feature| match f {
        Feature::Vertex(_) => 0,
        Feature::Edge(_) => 1,
        Feature::Face(_) => 2,
    };
    let (a, b) = if dimension(c.feature_b) < dimension(c.feature_a) {
        let b = of_b()?;
        (of_a()?, b)
    } else {
        (of_a()?, of_b()?)
    };
    let extent = ctx.extent(c.feature_a, c.feature_b);
    let kind = match definiteness(ctx, &a, &b, c.distance, extent) {
        SecondOrder::Indefinite => return None,
        SecondOrder::Semidefinite { .. } => ContactKind::Conformal,
        SecondOrder::Strict { .. } => ContactKind::Strict,
    };
    let quasi = a.polar == Polar::Dilated
        || b.polar == Polar::Dilated
        || ctx.a.data(c.feature_a).quasi_only
        || ctx.b.data(c.feature_b).quasi_only;
    Some(Accepted {
        feature_a: c.feature_a,
        feature_b: c.feature_b,
        p_a: c.p_a,
        p_b: c.p_b,
        n: c.n,
        distance: c.distance,
        kind: if quasi { ContactKind::Quasi } else { kind },
        place_a: a.located.place,
        place_b: b.located.place,
        slack_a: a.located.slack,
        slack_b: b.located.slack,
        is_extended: a.located.is_beside || b.located.is_beside,
        is_slid: false,
        undecided: c.undecided,
    })
}

/// Whether the distance of a candidate is more negative than touching solids explain although neither
/// feature is a face and one is a vertex. Such features are never pressed into each other.
pub(crate) fn is_impossible(ctx: &Context<'_>, c: &Candidate) -> bool {
    let has = |is: fn(&Feature) -> bool| is(&c.feature_a) || is(&c.feature_b);
    c.distance < ctx.tol.min_distance()
        && has(|f| matches!(f, Feature::Vertex(_)))
        && !has(|f| matches!(f, Feature::Face(_)))
}
