//! Depth of a point in both solids.

use super::{Probe, Witness};
use crate::body::Body;
use crate::body::side::Which;
use crate::nearest::membership::contains;
use crate::nearest::nearest;
use crate::query::Context;
use feeler_geom::{P3, V3};

/// Smallest absolute cosine of the angle between the normal at a footpoint and the direction to the point
/// with which the normal decides the side; it is 1 up to rounding where the surface is smooth. A larger value
/// tests more points with rays; with a smaller one, a normal at a tip decides.
const MIN_ALIGNMENT: f64 = 0.999;

/// Distance (mm) of a point from the boundary of a solid, positive inside and negative outside, and the
/// unit direction in which this depth decreases fastest. Point and direction are in the solid's frame.
pub(super) fn depth_in(ctx: &Context<'_>, body: &Body, q: &P3, probe: &mut Probe) -> (f64, V3) {
    let Some(near) = nearest(body, q, f64::INFINITY, &mut probe.near) else {
        return (f64::NEG_INFINITY, V3::zeros());
    };
    let away = (q - near.foot).try_normalize(0.0).unwrap_or_else(V3::zeros);
    // The normal at the tip of a surface is one of many, and may have the wrong sign.
    let normal = near.normal.filter(|n| n.dot(&away).abs() >= MIN_ALIGNMENT);
    let inside = match normal {
        Some(n) => n.dot(&away) < 0.0,
        None => contains(body, q, 0.01 * ctx.tol.tol, &mut probe.rays) == Some(true),
    };
    if inside { (near.distance, -away) } else { (-near.distance, away) }
}

/// Returns a witness at the point `p` (frame of A) if it is deeper than `need` (mm) inside both solids,
/// otherwise `None`. If one body is a sheet, which has no inside, its point nearest to `p` is tested
/// instead, in the other solid only. Two sheets have no witness.
pub(super) fn depth(ctx: &Context<'_>, p: &P3, need: f64, probe: &mut Probe) -> Option<Witness> {
    match (ctx.a.is_sheet(), ctx.b.is_sheet()) {
        (false, false) => {}
        (true, true) => return None,
        (a_is_sheet, _) => {
            let (sheet, solid) = if a_is_sheet { (Which::A, ctx.b) } else { (Which::B, ctx.a) };
            let local = if a_is_sheet { *p } else { ctx.pose_ba * p };
            let foot = nearest(ctx.body(sheet), &local, f64::INFINITY, &mut probe.near)?.foot;
            let (inside, _) = depth_in(ctx, solid, &(ctx.pose_to_other(sheet) * foot), probe);
            let p = ctx.in_a(sheet, &foot);
            let inside_both = if a_is_sheet { [0.0, inside] } else { [inside, 0.0] };
            return (inside > need).then_some(Witness { p, inside: inside_both, faces: None, at: p });
        }
    }
    let q = ctx.pose_ba * p;
    // Near tips and edges all rays are doubtful, and where faces extend beyond their trims the nearest
    // face may show the wrong side. A point is therefore inside if the nearest boundary point shows this
    // and no ray contradicts it.
    let mut deep = |body: &Body, p: &P3| {
        let deep = if body.bounds().contains(p) { depth_in(ctx, body, p, probe).0 } else { 0.0 };
        let mut is_inside = || contains(body, p, 0.01 * ctx.tol.tol, &mut probe.rays) != Some(false);
        (deep > need && is_inside()).then_some(deep)
    };
    let inside_b = deep(ctx.b, &q)?;
    Some(Witness { p: *p, inside: [deep(ctx.a, p)?, inside_b], faces: None, at: *p })
}
