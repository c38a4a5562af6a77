//! Witnesses: points inside both solids, deeper than the tolerance.
//!
//! Near a crossing, each solid is to first order a cone bounded by the tangent planes of its faces. A
//! point inside both solids lies in a direction opposite to the normal of a face of each. All such
//! directions are tried at several lengths. A point that is found is moved until the sum of its distances
//! from both boundaries is large, because this sum is a lower bound of the length of every separating
//! translation.

use super::deepen::{deepened, reached};
use super::depth::depth;
use super::depth::depth_in;
use super::{Evidence, MAX_BESIDE_TRIM, Probe, Witness};
use crate::body::side::Which;
use crate::nearest::{Around, faces_around, nearest, outward_of_all};
use crate::query::{Accepted, Context};
use arrayvec::ArrayVec;
use feeler_geom::{P3, V3};
use nalgebra::Matrix3;

/// Distances from a crossing, as multiples of the depth that a witness needs, at which directions are
/// tried, in this order. Thin common volumes need the short distances, common volumes behind inexact trims
/// the long ones.
const TRIAL_LENGTHS: [f64; 6] = [64.0, 1024.0, 16.0, 4.0, 16_384.0, 262_144.0];
/// Maximum number of point queries of an ascent along one boundary. A larger number takes longer at
/// contacts; a smaller one leaves thin common volumes without a witness.
const MAX_ASCENT_QUERIES: u32 = 60;

/// Whether the distances of a point (frame of A) from both solids, which are 0 inside, sum to at most the
/// tolerance `tol` of the query.
pub(super) fn touch(ctx: &Context<'_>, p: &P3, probe: &mut Probe) -> bool {
    let off = |depth: f64| (-depth).max(0.0);
    let off_a = off(depth_in(ctx, ctx.a, p, probe).0);
    off_a + off(depth_in(ctx, ctx.b, &(ctx.pose_ba * p), probe).0) <= 1.01 * ctx.tol.tol
}

/// Searches for a point near a crossing that is deeper than `need` (mm) inside both solids. It tries
/// points in some directions and, with `thorough`, also moves along both boundaries to larger depths.
/// `first` is the body that is processed first. `None` if no such point is found.
pub(super) fn confirm(
    ctx: &Context<'_>,
    first: Which,
    evidence: &Evidence,
    (need, thorough): (f64, bool),
    probe: &mut Probe,
) -> Option<Witness> {
    if ctx.a.is_sheet() && ctx.b.is_sheet() {
        return sheets_cross(ctx, evidence, need, probe);
    }
    let radius = MAX_BESIDE_TRIM * ctx.tol.tol + evidence.deviation;
    let of_a = faces_around(ctx.a, &evidence.p, radius, &mut probe.near);
    let mut of_b = faces_around(ctx.b, &(ctx.pose_ba * evidence.p), radius, &mut probe.near);
    of_b.iter_mut().for_each(|(_, n)| *n = ctx.pose_ab * *n);
    let (one, other) = if first == Which::A { (&of_a, &of_b) } else { (&of_b, &of_a) };
    let directions = directions(one, other, evidence.along);
    let tried = TRIAL_LENGTHS
        .iter()
        .flat_map(|l| directions.iter().map(move |d| d * *l))
        .find_map(|step| depth(ctx, &(evidence.p + step * need), need, probe));
    let mut by_ascent = || {
        [first, first.other()]
            .into_iter()
            .filter(|own| thorough && !ctx.body(own.other()).is_sheet())
            .find_map(|own| ascend(ctx, own, evidence, need, probe))
    };
    let found = tried.or_else(&mut by_ascent)?;
    Some(deepened(ctx, Witness { faces: Some(evidence.faces), at: evidence.p, ..found }, need, probe))
}

/// Searches for a point inside both solids, starting midway between the footpoints of a pressed contact.
/// Its depth must exceed the sum of the tolerance and the trim deviations at the footpoints. `None` if no
/// such point is found, or if a body is a sheet.
pub(super) fn between_footpoints(
    ctx: &Context<'_>,
    contact: &Accepted,
    probe: &mut Probe,
) -> Option<Witness> {
    if ctx.a.is_sheet() || ctx.b.is_sheet() {
        return None;
    }
    let need = ctx.tol.tol + contact.slack_a + contact.slack_b;
    let at = contact.p_a + (contact.p_b - contact.p_a) * 0.5;
    let found = reached(ctx, &at, need, probe)?;
    let radius = 2.0 * contact.distance.abs();
    let [(face_a, _), ..] = faces_around(ctx.a, &at, radius, &mut probe.near)[..] else { return None };
    let in_b = ctx.pose_ba * at;
    let [(face_b, _), ..] = faces_around(ctx.b, &in_b, radius, &mut probe.near)[..] else { return None };
    Some(deepened(ctx, Witness { faces: Some([face_a, face_b]), at, ..found }, need, probe))
}

/// Returns a witness at a crossing of two sheets if one of them continues on both sides of the other one,
/// at an angle of more than 14° to it, by 16 times `need` (mm); otherwise `None`.
fn sheets_cross(ctx: &Context<'_>, evidence: &Evidence, need: f64, probe: &mut Probe) -> Option<Witness> {
    let radius = MAX_BESIDE_TRIM * need;
    let of_a = faces_around(ctx.a, &evidence.p, radius, &mut probe.near);
    let of_b = faces_around(ctx.b, &(ctx.pose_ba * evidence.p), radius, &mut probe.near);
    let normals = [of_a.first()?.1, ctx.pose_ab * of_b.first()?.1];
    let cross = [Which::A, Which::B].into_iter().any(|own| {
        let (n, across) = (normals[own as usize], normals[own.other() as usize]);
        let within = evidence.along.unwrap_or(across - n * across.dot(&n));
        let Some(d) = within.try_normalize(1e-6) else { return false };
        d.dot(&across).abs() > 0.25
            && [d, -d].iter().all(|d| {
                let p = evidence.p + d * (16.0 * need);
                let local = if own == Which::A { p } else { ctx.pose_ba * p };
                nearest(ctx.body(own), &local, 2.0 * need, &mut probe.near).is_some()
            })
    });
    let (p, faces) = (evidence.p, Some(evidence.faces));
    cross.then_some(Witness { p, inside: [0.0; 2], faces, at: p })
}

/// Moves from a crossing along the boundary of `own` to larger depths in the other solid, until a point
/// behind the boundary is deeper than `need` (mm) inside both. From the deepest boundary point reached, it
/// moves on to where the smaller of both depths is largest: in a thin lens-shaped common volume, and
/// behind an edge that dips into a face, such points are not straight behind the boundary. `None` if no
/// point is found.
fn ascend(
    ctx: &Context<'_>,
    own: Which,
    evidence: &Evidence,
    need: f64,
    probe: &mut Probe,
) -> Option<Witness> {
    let (body, other) = (ctx.body(own), ctx.body(own.other()));
    let (to_other, to_own) = (ctx.pose_to_other(own), ctx.pose_to_other(own.other()));
    let place = |p: &P3, probe: &mut Probe| {
        let near = nearest(body, p, f64::INFINITY, &mut probe.near)?;
        Some((near.foot, near.normal))
    };
    let start = if own == Which::A { evidence.p } else { ctx.pose_ba * evidence.p };
    let (mut foot, mut normal) = place(&start, probe)?;
    let (mut deep, mut out) = depth_in(ctx, other, &(to_other * foot), probe);
    let beside = MAX_BESIDE_TRIM * ctx.tol.tol + evidence.deviation;
    // Direction of the edge beside the foot; the edge bends along the path.
    let edge_at = |foot: &P3, probe: &mut Probe| {
        let faces = faces_around(body, foot, beside, &mut probe.near);
        let across = faces.iter().flat_map(|(_, m)| faces.iter().map(move |(_, n)| m.cross(n)));
        across.max_by(|x, y| x.norm_squared().total_cmp(&y.norm_squared())).unwrap_or_else(V3::zeros)
    };
    let mut along = edge_at(&foot, probe);
    let mut step = 8.0 * need;
    let mut left = MAX_ASCENT_QUERIES;
    while left > 0 && step > 0.5 * need {
        let mut moved = false;
        // Step into the other solid; if the foot is in the interior of a face, along that face.
        let into = -(to_own * out);
        let tangent = normal.map_or(V3::zeros(), |n| into - n * into.dot(&n));
        for d in [tangent, into, along, -along].iter().filter_map(|d| d.try_normalize(1e-9)) {
            if left == 0 {
                break;
            }
            left -= 1;
            let (next, on) = place(&(foot + d * step), probe)?;
            let (depth, outward) = depth_in(ctx, other, &(to_other * next), probe);
            if depth > deep + 1e-6 * need {
                (foot, normal, deep, out) = (next, on, depth, outward);
                moved = true;
                break;
            }
        }
        if moved {
            along = edge_at(&foot, probe);
        }
        if moved && deep > 2.0 * need {
            let faces = faces_around(body, &foot, MAX_BESIDE_TRIM * need, &mut probe.near);
            let sum = faces.iter().fold(V3::zeros(), |s, (_, n)| s + n).try_normalize(1e-9);
            for n in sum.into_iter().chain(faces.iter().map(|(_, n)| *n)).chain(outward_of_all(&faces)) {
                let p = ctx.in_a(own, &(foot - n * (0.5 * deep)));
                if let Some(found) = depth(ctx, &p, need, probe) {
                    return Some(found);
                }
            }
        }
        step = if moved { 2.0 * step } else { 0.25 * step };
    }
    // On the boundary itself, the side of the interior is not defined.
    let faces = faces_around(body, &foot, beside, &mut probe.near);
    let out = faces.iter().fold(V3::zeros(), |s, (_, n)| s + n).try_normalize(1e-9)?;
    reached(ctx, &ctx.in_a(own, &(foot - out * (0.5 * deep))), need, probe)
}

/// Searches for a point inside both solids behind the boundary point `p` of a shell with the outward
/// normal `n` (frame of A). `None` if no such point is found.
pub(super) fn behind(ctx: &Context<'_>, p: &P3, n: &V3, probe: &mut Probe) -> Option<Witness> {
    let need = ctx.tol.tol;
    let slope = n.cross(&V3::new(0.3, 0.5, 0.8)).try_normalize(0.0).unwrap_or_else(V3::zeros);
    // The point itself is tried first, for the shell of a sheet.
    [0.0].iter().chain(&TRIAL_LENGTHS).flat_map(|l| [-n, slope - n, -slope - n].map(|d| d * *l)).find_map(
        |step| {
            let found = depth(ctx, &(p + step * need), need, probe)?;
            Some(deepened(ctx, Witness { at: *p, ..found }, need, probe))
        },
    )
}

/// Unit directions that lead into both solids: each is opposite to the normal of at least one face of A
/// and one of B near a crossing. `along` is the direction of the crossing edge.
fn directions(of_a: &Around, of_b: &Around, along: Option<V3>) -> ArrayVec<V3, 40> {
    let mut out: ArrayVec<V3, 40> = ArrayVec::new();
    let enters = |faces: &Around, d: &V3| faces.iter().any(|(_, n)| n.dot(d) < -1e-9);
    let mut add = |d: V3| {
        if let Some(d) = d.try_normalize(1e-9)
            && enters(of_a, &d)
            && enters(of_b, &d)
            && !out.is_full()
            && !out.iter().any(|e| (e - d).norm() < 1e-3)
        {
            out.push(d);
        }
    };
    let sum = |faces: &Around| faces.iter().fold(V3::zeros(), |s, (_, n)| s + n);
    let (sum_a, sum_b) = (sum(of_a), sum(of_b));
    add(-(sum_a + sum_b));
    for (_, a) in of_a {
        for (_, b) in of_b {
            add(-(a + b));
        }
    }
    for (_, a) in of_a {
        add(-(a + sum_b));
    }
    for (_, b) in of_b {
        add(-(b + sum_a));
    }
    for t in along.iter().flat_map(|t| [*t, -*t]) {
        add(t - sum_a - sum_b);
        add(t - (sum_a + sum_b) * 0.1);
    }
    // Directions that lead away from three faces at equal rates. In a thin lens-shaped common volume, no
    // sum of normals leads inside.
    let all: ArrayVec<(bool, V3), 24> =
        of_a.iter().map(|(_, n)| (true, *n)).chain(of_b.iter().map(|(_, n)| (false, *n))).collect();
    for (i, (x, a)) in all.iter().enumerate() {
        for (j, (y, b)) in all.iter().enumerate().skip(i + 1) {
            for (z, c) in &all[j + 1..] {
                if x != z || x != y {
                    let rows = Matrix3::from_rows(&[a.transpose(), b.transpose(), c.transpose()]);
                    rows.try_inverse().into_iter().for_each(|m| add(m * V3::new(-1.0, -1.0, -1.0)));
                }
            }
        }
    }
    out
}
