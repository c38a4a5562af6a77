//! Crossing curves of two faces that reach no edge.

use super::edges::{on_face, ordered};
use super::{BESIDE, Decision, Evidence, SLACK, closed_form, patch_of};
use crate::solve::{Context, Which};
use feeler_geom::crossing::{Level, Shifted, patch_through_level, patch_through_patch};
use feeler_geom::skeleton::Primitive;
use feeler_geom::{P2, P3};
use feeler_hierarchy::Feature;

/// Finds a point of every closed crossing curve of two faces; whether the search may end. Pairs of areas are sorted by features.
pub(super) fn search(decision: &mut Decision<'_>, overlaps: &[(u32, u32)]) -> bool {
    let ctx = decision.ctx;
    let faces = |&(i, j): &(u32, u32)| (ctx.a.feature_of(i), ctx.b.feature_of(j));
    overlaps.chunk_by(|p, q| faces(p) == faces(q)).any(|group| {
        let (fa, fb) = faces(&group[0]);
        let (form_a, form_b) = (closed_form(ctx.a, fa), closed_form(ctx.b, fb));
        let is_plane = |p: Option<&Primitive>| matches!(p, Some(Primitive::Plane { .. }));
        match (form_a, form_b) {
            // Two planes cross in a line.
            _ if is_plane(form_a) && is_plane(form_b) => false,
            (Some(a), b) if is_plane(form_a) || b.is_none() => of_areas(decision, Which::B, group, (fa, a)),
            (_, Some(b)) => of_areas(decision, Which::A, group, (fb, b)),
            _ => group.iter().any(|pair| of_pair(decision, *pair)),
        }
    })
}

/// The areas of `own` in a group through the surface of one face of the other solid.
fn of_areas(
    decision: &mut Decision<'_>,
    own: Which,
    group: &[(u32, u32)],
    (face, primitive): (u32, &Primitive),
) -> bool {
    let ctx = decision.ctx;
    let tol = ctx.tol.tol;
    let primitive = primitive.transformed(ctx.pose_to_other(own.other()));
    let level = Level { primitive: &primitive, at: -decision.level, slack: SLACK * tol };
    let slack = BESIDE * tol + ctx.body(own.other()).data(Feature::Face(face)).deviation;
    let area_of = |pair: &(u32, u32)| if own == Which::A { pair.0 } else { pair.1 };
    group.iter().enumerate().any(|(k, pair)| {
        let area = area_of(pair);
        // An area comes once for every area of the other face.
        if group[..k].iter().any(|earlier| area_of(earlier) == area) {
            return false;
        }
        let Some((mine, patch)) = patch_of(ctx.body(own), area, None) else { return false };
        let given = decision.take();
        let mut left = given;
        // Beyond the areas of the other face only its surface goes on.
        let (other, to_other) = (ctx.body(own.other()), ctx.pose_to_other(own));
        let relevant = |p: &P3, radius: f64| {
            let (q, reach) = (to_other * p, radius + slack);
            group[k..].iter().filter(|pair| area_of(pair) == area).any(|pair| {
                let theirs = if own == Which::A { pair.1 } else { pair.0 };
                other.node(other.leaf_of_area(theirs)).obb.distance_to(&q) <= reach
            })
        };
        let search = patch_through_level(&patch, &level, &relevant, &mut left, &mut |uv| {
            let p = patch.surface.point(uv);
            crossing(decision, own, (mine, uv, p), (face, None))
        });
        let place = || middle(ctx, own, mine, &patch.surface.point(patch.rect.center()), face);
        decision.settle(given, left, search, place)
    })
}

/// Two areas without closed form.
fn of_pair(decision: &mut Decision<'_>, (i, j): (u32, u32)) -> bool {
    let ctx = decision.ctx;
    let tol = ctx.tol.tol;
    let (Some((fa, patch)), Some((fb, target))) =
        (patch_of(ctx.a, i, None), patch_of(ctx.b, j, Some(&ctx.pose_ab)))
    else {
        return false;
    };
    let shifted = Shifted { patch: target, by: decision.level, slack: SLACK * tol };
    let given = decision.take();
    let mut left = given;
    let search = patch_through_patch(&patch, &shifted, &mut left, &mut |uv, other| {
        crossing(decision, Which::A, (fa, uv, patch.surface.point(uv)), (fb, Some(other)))
    });
    let place = || middle(ctx, Which::A, fa, &patch.surface.point(patch.rect.center()), fb);
    decision.settle(given, left, search, place)
}

fn middle(ctx: &Context<'_>, own: Which, mine: u32, p: &P3, theirs: u32) -> (P3, [u32; 2]) {
    (ctx.in_a(own, p), ordered(own, mine, theirs))
}

/// A point of a face of `own` (its parameters and its place, own frame) on the surface of a face of the other solid.
fn crossing(
    decision: &mut Decision<'_>,
    own: Which,
    (mine, uv, p): (u32, P2, P3),
    (face, other_uv): (u32, Option<P2>),
) -> bool {
    let ctx = decision.ctx;
    debug_assert!(
        matches!(ctx.body(own).features()[mine as usize].feature, Feature::Face(_)),
        "faces come first"
    );
    let Some(here) = on_face(ctx, own, mine, &p, Some(uv)) else { return false };
    let there = on_face(ctx, own.other(), face, &(ctx.pose_to_other(own) * p), other_uv);
    let Some(there) = there else { return false };
    decision.weigh(&Evidence {
        p: ctx.in_a(own, &p),
        faces: ordered(own, mine, face),
        along: None,
        deviation: here.max(there),
    })
}
