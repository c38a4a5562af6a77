//! Proof that no contact within the tolerance has been missed.
//!
//! The search for crossings begins a tolerance inside the material, and minima with a free-form side come from
//! solves that prove nothing by themselves. Solids without a crossing and without a minimum within the
//! tolerance are separated only if no pair of areas holds a critical pair that near.
//!
//! # Source
//! MATH §8, §15.

use super::{Job, certificates, jobs};
use crate::QueryOptions;
use crate::body::FeatureData;
use crate::body::ids::AreaPair;
use crate::body::tree::{SolveClass, TreeNode};
use crate::query::Context;
use crate::side::Which;
use crate::solve::Solved;
use crate::verdict;
use crate::walk::cull::CullContext;
use feeler_geom::skeleton::{Primitive, range_over_box};
use feeler_geom::{Obb, P3};
use feeler_hierarchy::Feature;

/// Two features between which a contact is not excluded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenContact {
    pub features: [Feature; 2],
    /// Point next to it, frame of A.
    pub p: P3,
}

/// Searches all pairs of areas with a free-form side for critical pairs within the tolerance. New ones are
/// added to the candidates; pairs of areas that remain undecided are written to `open`. `pairs` are those of
/// the solves, sorted by features; `decision` has decided about the same poses.
pub(crate) fn missed_contacts(
    ctx: &Context<'_>,
    (pairs, decision): (&[AreaPair], &verdict::Scratch),
    parallel: bool,
    solved: &mut Solved,
    open: &mut Vec<OpenContact>,
) {
    open.clear();
    let d_max = ctx.tol.tol;
    let cull = CullContext::new(
        &ctx.pose_ab,
        &ctx.tol,
        &QueryOptions { alpha: ctx.alpha, ..QueryOptions::within(d_max) },
    );
    let ctx = &Context { d_max, cull: Some(cull), ..*ctx };
    let mut near = areas_in_contact(ctx, &cull, pairs);
    near.retain(|&pair| !decision.are_apart(ctx, pair));
    if near.is_empty() {
        return;
    }
    let (jobs, partners) = jobs(ctx, &near);
    let results = certificates(ctx, (&jobs, &partners), &solved.candidates, parallel);
    for (job, result) in jobs.iter().zip(results) {
        let is_open = result.outcome.undecided > 0 && result.found.is_empty();
        solved.candidates.extend(result.found);
        if is_open {
            open.push(place(ctx, job));
        }
    }
}

/// Pairs of areas with a free-form side whose boxes and cones leave a contact possible.
fn areas_in_contact(ctx: &Context<'_>, cull: &CullContext, pairs: &[AreaPair]) -> Vec<AreaPair> {
    let features = |&(i, j): &AreaPair| (ctx.a.area(i).feature, ctx.b.area(j).feature);
    let mut out = Vec::new();
    for group in pairs.chunk_by(|p, q| features(p) == features(q)) {
        let (fa, fb) = features(&group[0]);
        let (of_a, of_b) = (ctx.a.data(fa), ctx.b.data(fb));
        if is_proven(of_a, of_b) {
            continue;
        }
        let (i, j) = group[0];
        let primitives = (of_a.primitive, ctx.primitive(Which::B, fb));
        let may_touch = |(i, j): AreaPair, node_b: &TreeNode| {
            let node_a = &ctx.a.tree()[ctx.a.leaf_of_area(i).index()];
            let slack =
                f64::from(node_a.allowance.length) + f64::from(node_b.allowance.length) + ctx.tol.same;
            // The box of the free-form area against the surface of the other feature.
            let is_near = |primitive: &Option<Primitive>, obb: &Obb| {
                primitive.is_none_or(|primitive| {
                    let [lo, hi] = range_over_box(&primitive, obb);
                    lo <= ctx.d_max + slack && hi >= ctx.least - slack
                })
            };
            is_near(&primitives.0, &node_b.obb)
                && is_near(&primitives.1, &node_a.obb)
                && cull.areas((ctx.a, i), (ctx.b, j), node_b)
        };
        if cull.solves_whole_features() && ctx.a.form_of(i).solved_whole_with(ctx.b.form_of(j)) {
            // One pair stands for all.
            for &j in ctx.b.areas_of(of_b) {
                let node = cull.placed(ctx.b, j);
                let all = ctx.a.areas_of(of_a).iter().map(|&i| (i, j));
                out.extend(all.filter(|&pair| may_touch(pair, &node)));
            }
        } else {
            out.extend(group.iter().copied().filter(|&(i, j)| may_touch((i, j), &cull.placed(ctx.b, j))));
        }
    }
    out.sort_unstable_by_key(|pair| {
        let (fa, fb) = features(pair);
        (ctx.a.dense(fa), ctx.b.dense(fb), *pair)
    });
    out
}

/// Whether the solve of a pair of features is a proof by itself: closed forms, also of what follows a canonical
/// feature, and edges, along which minima are searched by bounds.
fn is_proven(a: &FeatureData, b: &FeatureData) -> bool {
    let is_closed = |f: &FeatureData| matches!(f.form(), SolveClass::Canonical | SolveClass::Near);
    let is_edge = |f: &FeatureData| matches!(f.feature, Feature::Edge(_));
    let are_free_edges = is_edge(a) && is_edge(b) && a.primitive.is_none() && b.primitive.is_none();
    is_closed(a) && is_closed(b) || (is_edge(a) || is_edge(b)) && !are_free_edges
}

fn place(ctx: &Context<'_>, job: &Job) -> OpenContact {
    match *job {
        Job::Reduced { free, area, feature, .. } => {
            let body = ctx.body(free);
            let own = body.area(area).feature;
            let features = if free == Which::A { [own, feature] } else { [feature, own] };
            OpenContact { features, p: ctx.in_a(free, &body.node(body.leaf_of_area(area)).obb.center) }
        }
        Job::Free(i, j) => {
            let features = [ctx.a.area(i).feature, ctx.b.area(j).feature];
            let (a, b) = (&ctx.a.node(ctx.a.leaf_of_area(i)).obb, &ctx.b.node(ctx.b.leaf_of_area(j)).obb);
            // The smaller area says more.
            let p = if a.radius() <= b.radius() { a.center } else { ctx.pose_ab * b.center };
            OpenContact { features, p }
        }
    }
}
