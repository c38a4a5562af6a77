//! Canonical against canonical: closed forms on the skeletons, once a pair of supermaximal features.
//!
//! # Source
//! BREP §4.2.3 (one solve a pair of supermaximal features), MATH §3.

use super::{Candidate, Context, FamilyPair, Solved};
use feeler_geom::skeleton::{Primitive, critical_pairs};
use feeler_hierarchy::Feature;

/// All critical pairs of two primitives, both in the frame of A.
pub(crate) fn solve(ctx: &Context<'_>, a: (Feature, &Primitive), b: (Feature, &Primitive), out: &mut Solved) {
    let found = critical_pairs(a.1, b.1, ctx.d_max, ctx.tol.tol, ctx.extent(a.0, b.0));
    for c in &found.isolated {
        out.candidates.push(Candidate {
            feature_a: a.0,
            feature_b: b.0,
            p_a: c.p_a,
            p_b: c.p_b,
            n: c.n,
            distance: c.distance,
            hint_a: None,
            hint_b: None,
            undecided: false,
        });
    }
    if let Some(family) = found.family {
        out.families.push(FamilyPair { feature_a: a.0, feature_b: b.0, family });
    }
}
