//! One report for each minimum.
//!
//! Two results are the same LMD when both footpoints agree within the tolerance, widened by what the model
//! leaves open where they lie on different features of a solid (a face and the edge beside it), and for
//! quasi-LMDs by what their angle makes of the distance. The one on features of the higher dimension stays.
//!
//! # Source
//! MATH §2, §10: keys and sorting, never the order of arrival.

use crate::query::Accepted;
use crate::query::Context;
use crate::{FeatureKind, LmdClass};
use std::cmp::Ordering;

/// Sorts by distance and removes duplicates.
pub(crate) fn dedupe(ctx: &Context<'_>, all: &mut [Accepted], kept: &mut Vec<Accepted>) {
    all.sort_unstable_by(|x, y| priority(x).cmp(&priority(y)).then_with(|| by_place(x, y)));
    kept.clear();
    for x in all.iter() {
        if !kept.iter().any(|y| same(ctx, x, y)) {
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
    (x.class == LmdClass::Quasi, lost, x.undecided, x.class == LmdClass::Conformal)
}

/// A total order by features, then distance and parameters.
fn by_place(x: &Accepted, y: &Accepted) -> Ordering {
    (x.feature_a, x.feature_b)
        .cmp(&(y.feature_a, y.feature_b))
        .then_with(|| x.distance.total_cmp(&y.distance))
        .then_with(|| {
            let key = |z: &Accepted| [z.place_a.uv[0], z.place_a.uv[1], z.place_b.uv[0], z.place_b.uv[1]];
            let (k, l) = (key(x), key(y));
            k.iter().zip(&l).map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        })
        .then_with(|| {
            x.p_a
                .coords
                .iter()
                .zip(&y.p_a.coords)
                .map(|(a, b)| a.total_cmp(b))
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal)
        })
}

/// Same LMD? `y` comes first in the order in which results are kept.
fn same(ctx: &Context<'_>, x: &Accepted, y: &Accepted) -> bool {
    let open_a = if x.feature_a == y.feature_a { 0.0 } else { x.slack_a + y.slack_a };
    let open_b = if x.feature_b == y.feature_b { 0.0 } else { x.slack_b + y.slack_b };
    // A footpoint that moves by a gap on one solid moves its partner about as far.
    // What holds up to an angle only holds up to that angle times the distance beside it.
    let quasi = if x.class == LmdClass::Quasi { ctx.alpha * x.distance.abs() } else { 0.0 };
    let near = ctx.tol.same + 2.0 * (open_a + open_b) + quasi;
    (x.p_a - y.p_a).norm() <= near && (x.p_b - y.p_b).norm() <= near && x.n.dot(&y.n) > 0.0
}
