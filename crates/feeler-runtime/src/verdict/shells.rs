//! Shells of one solid inside the other one, where no boundaries cross.

use super::separation::MAX_SHALLOW_DEPTH;
use super::{Decision, witness};
use crate::body::side::Which;
use crate::nearest::membership::contains;
use crate::nearest::nearest;
use feeler_geom::P3;

/// For each solid (A, B) and each of its shells, a ball outside the other solid, in the frame of the other
/// solid: center and radius (mm). While the tested point of the shell is in its ball, it is outside the
/// other solid. `None` if no ball is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Outside([Vec<Option<(P3, f64)>>; 2]);

impl Outside {
    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }
}

/// Tests one point of each shell for interference. There is a witness if the point is inside the other
/// solid, or on or near the boundary of it with points inside both solids behind it. The second case is
/// needed for coincident solids, which have no boundary point inside each other. `known` contains the balls
/// of earlier queries in which a point is outside ([`Outside`]); new balls replace them. Returns whether a
/// witness was found.
pub(super) fn inside(decision: &mut Decision<'_>, mut known: Option<&mut Outside>) -> bool {
    let ctx = decision.ctx;
    for own in [decision.first, decision.first.other()] {
        let (body, other) = (ctx.body(own), ctx.body(own.other()));
        // Faces that overlap by less are excluded from the search for crossings, so that the shells of nearly
        // coincident solids may be this far outside.
        let beside = MAX_SHALLOW_DEPTH * ctx.tol.tol;
        let bounds = other.bounds().inflated(beside);
        if let Some(Outside(balls)) = known.as_mut() {
            balls[own as usize].resize(body.shell_points().len(), None);
        }
        for (k, (p, n)) in body.shell_points().iter().enumerate() {
            let q = ctx.pose_to_other(own) * p;
            if !bounds.contains(&q) {
                continue;
            }
            let ball = known.as_mut().map(|Outside(balls)| &mut balls[own as usize][k]);
            if let Some(Some((center, radius))) = ball.as_ref().map(|b| **b)
                && (q - center).norm() < radius
            {
                continue;
            }
            match contains(other, &q, ctx.tol.tol, &mut decision.probe.rays) {
                Some(false) => {
                    let limit = other.size();
                    let near = nearest(other, &q, limit, &mut decision.probe.near);
                    let radius = near.map_or(limit, |n| n.distance) - beside;
                    if radius <= 0.0 {
                        let n = if own == Which::A { *n } else { ctx.pose_ab * n };
                        decision.witness = witness::behind(ctx, &ctx.in_a(own, p), &n, decision.probe);
                        if decision.witness.is_some() {
                            return true;
                        }
                    }
                    if let Some(ball) = ball {
                        *ball = (radius > 0.0).then_some((q, radius));
                    }
                }
                _ => {
                    let n = if own == Which::A { *n } else { ctx.pose_ab * n };
                    decision.witness = witness::behind(ctx, &ctx.in_a(own, p), &n, decision.probe);
                    if decision.witness.is_some() {
                        return true;
                    }
                    decision.touched |= witness::touch(ctx, &ctx.in_a(own, p), decision.probe);
                }
            }
        }
    }
    false
}
