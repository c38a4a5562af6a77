//! Free-form against free-form: two curves (2 unknowns), a curve and a patch (3), two patches (4).
//!
//! # Source
//! MATH §8 (Newton on the full Hessian of half the squared distance), BREP Algorithm 12.
//!
//! # Deviations
//! Instead of one guess from corner tetrahedra, Newton starts from every point of a grid over one leaf whose
//! distance from the other leaf no neighbour beats, together with its foot there: flatness does not promise
//! one minimum a pair of leaves (BREP §1.5.1.3), and the closest pair of two grids is an accident of how they
//! meet. Where a leaf is near a patch, its signed distance from the patch is minimised over the leaf alone
//! ([`super::signed`]): half the squared distance is as flat there as the distance is small.

use super::Solved;
use super::leaf::Leaf;
use super::newton::{Eval, Outcome as Ended, minimise};
use super::patch::{NOISE, border_margin, squared_goal};
use super::signed::{self, Place, Signed};
use crate::Stats;
use crate::body::ids::AreaPair;
use crate::body::outward_normal;
use crate::body::samples::GRID_POINTS;
use crate::body::samples::{COLLAPSED, MARGIN};
use crate::query::{Candidate, Context};
use crate::side::Which;
use arrayvec::ArrayVec;
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::{AreaId, Feature};
use nalgebra::{SMatrix, SVector};

/// Newton runs a pair of leaves at most.
const STARTS: usize = 8;
/// What feet and normals on grids are off (rad).
const NORMALS: f64 = 2e-3;

/// Nearer to a patch than this part of a leaf's radius the signed distance is minimised.
const NEAR: f64 = 0.2;

/// Meridians of a leaf that are tried beside its collapsed side, and how far inside they are (towards the
/// middle).
const MERIDIANS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
const ASIDE: f64 = 0.25;

/// Squared distance, unit-box parameters in A and in B.
type Start = (f64, [f64; 2], [f64; 2]);

/// All minima found between two free-form areas.
pub(crate) fn solve(ctx: &Context<'_>, area_a: AreaId, area_b: AreaId, out: &mut Solved, stats: &mut Stats) {
    let a = Leaf::new(ctx.a, area_a, None);
    let b = Leaf::new(ctx.b, area_b, Some(&ctx.pose_ab));
    match (a.dim(), b.dim()) {
        (1, 1) => solve_n::<2>(ctx, (area_a, &a), (area_b, &b), out, stats),
        (2, 2) => solve_n::<4>(ctx, (area_a, &a), (area_b, &b), out, stats),
        _ => solve_n::<3>(ctx, (area_a, &a), (area_b, &b), out, stats),
    }
}

fn solve_n<const N: usize>(
    ctx: &Context<'_>,
    (area_a, a): (AreaId, &Leaf<'_>),
    (area_b, b): (AreaId, &Leaf<'_>),
    out: &mut Solved,
    stats: &mut Stats,
) {
    let split = a.dim();
    let mut eval = |x: &SVector<f64, N>| evaluate(a, b, split, x, ctx.tol.eps);
    let starts = starts(ctx, (area_a, a.dim()), (area_b, b.dim()));
    if starts.is_empty() {
        return;
    }
    let border: ArrayVec<f64, 4> =
        border(ctx, Which::A, area_a).chain(border(ctx, Which::B, area_b)).collect();
    let mut found: ArrayVec<(P3, P3), STARTS> = ArrayVec::new();
    let near = near(ctx, area_a, area_b);
    let poles = [ctx.a.grid_of(area_a).has_pole && N == 4, ctx.b.grid_of(area_b).has_pole && N == 4];
    let runs = starts.into_iter().flat_map(|(square, in_a, in_b)| {
        let is_near = square <= near * near;
        // Over the leaf with a pole, whose meridians half the square runs along in vain.
        let over = if poles == [false, true] { Which::B } else { Which::A };
        let is_signed = is_near || poles.contains(&true);
        let fan_a = if is_near && N == 4 || poles[0] { beside_collapsed(a, in_a) } else { None };
        let fan_b = if poles[1] { beside_collapsed(b, in_b) } else { None };
        let beside_a = fan_a.into_iter().flatten().map(move |in_a| (is_signed, Which::A, in_a, in_b));
        let beside_b = fan_b.into_iter().flatten().map(move |in_b| (is_signed, Which::B, in_a, in_b));
        std::iter::once((is_signed, over, in_a, in_b)).chain(beside_a).chain(beside_b)
    });
    for (is_signed, over, in_a, in_b) in runs {
        let start = SVector::<f64, N>::from_fn(|r, _| if r < split { in_a[r] } else { in_b[r - split] });
        let ended = if is_signed { signed_minimum(ctx, (a, b), over, &start, stats) } else { None };
        let ended = ended.unwrap_or_else(|| minimise(&mut eval, start, MARGIN, squared_goal(ctx), stats));
        let (x, undecided) = match ended {
            Ended::Minimum(x) => (x, false),
            Ended::Outside => continue,
            Ended::Stalled(x) => (x, true),
        };
        if (0..N).any(|r| x[r] < -border[r] || x[r] > 1.0 + border[r]) {
            continue;
        }
        let (xa, xb) = x.as_slice().split_at(split);
        let (p_a, p_b) = (a.point(xa), b.point(xb));
        if (p_b - p_a).norm() > ctx.reach()
            || found.iter().any(|(p, q)| (p - p_a).norm() < ctx.tol.same && (q - p_b).norm() < ctx.tol.same)
            || found.is_full()
        {
            continue;
        }
        found.push((p_a, p_b));
        report(ctx, (area_a, a.uv(xa)), (area_b, b.uv(xb)), undecided, out, stats);
    }
}

/// Places beside one on a collapsed side of a patch, one of them near any meridian: there all meridians meet,
/// and a saddle is a minimum along some of them.
fn beside_collapsed(a: &Leaf<'_>, x: [f64; 2]) -> Option<[[f64; 2]; MERIDIANS.len()]> {
    let len: ArrayVec<f64, 2> = a.jet(&x).first.iter().map(|t| t.norm()).collect();
    let turns = (0..2).find(|&k| len[k] <= COLLAPSED * len[1 - k])?;
    let aside = x[1 - turns] + (0.5 - x[1 - turns]) * ASIDE;
    Some(MERIDIANS.map(|along| if turns == 0 { [along, aside] } else { [aside, along] }))
}

/// The minimum by the signed distance from a patch, which is regular at distance 0; `None` without a patch,
/// and where it tells nothing.
fn signed_minimum<const N: usize>(
    ctx: &Context<'_>,
    (a, b): (&Leaf<'_>, &Leaf<'_>),
    over: Which,
    start: &SVector<f64, N>,
    stats: &mut Stats,
) -> Option<Ended<N>> {
    let split = a.dim();
    let (in_a, in_b) = start.as_slice().split_at(split);
    // Feet on the patch where the other one is a curve.
    let swap = b.dim() < split || b.dim() == split && over == Which::B;
    let (over, onto, of_over, of_onto) = if swap { (b, a, in_b, in_a) } else { (a, b, in_a, in_b) };
    if onto.dim() < 2 {
        return None;
    }
    let found = signed_descent(ctx, (over, of_over), (onto, [of_onto[0], of_onto[1]]), stats)?;
    let Place::At(of_over, of_onto) = found else { return Some(Ended::Outside) };
    let (in_a, in_b) = if swap { (of_onto, of_over) } else { (of_over, of_onto) };
    Some(Ended::Minimum(SVector::from_fn(|i, _| if i < split { in_a[i] } else { in_b[i - split] })))
}

/// The minimum over one leaf of the signed distance from a patch next to a start: unit-box parameters of
/// both.
fn signed_descent(
    ctx: &Context<'_>,
    (over, of_over): (&Leaf<'_>, &[f64]),
    (onto, of_onto): (&Leaf<'_>, [f64; 2]),
    stats: &mut Stats,
) -> Option<Place> {
    let mut signed = Signed::new(over, onto, of_onto, ctx.tol.eps);
    match over.dim() {
        1 => signed::minimum::<1>(&mut signed, of_over, stats),
        _ => signed::minimum::<2>(&mut signed, of_over, stats),
    }
}

/// Minima of the signed distance from a free-form patch, where an edge or another such patch is pressed into
/// it: half the squared distance has none there.
pub(crate) fn solve_pressed(
    ctx: &Context<'_>,
    area_a: AreaId,
    area_b: AreaId,
    out: &mut Solved,
    stats: &mut Stats,
) {
    let both = [(Which::A, area_a, area_b), (Which::B, area_b, area_a)];
    for (over, own, other) in both {
        let is_free = |which: Which, area: AreaId| {
            let body = ctx.body(which);
            body.data(body.area(area).feature).primitive.is_none()
        };
        let feature = ctx.body(over).area(own).feature;
        let onto_patch = matches!(ctx.body(over.other()).area(other).feature, Feature::Face(_));
        let over_fits = match feature {
            Feature::Face(_) => is_free(over, own),
            Feature::Edge(_) => true,
            Feature::Vertex(_) => false,
        };
        if onto_patch && over_fits && is_free(over.other(), other) {
            pressed_over(ctx, over, (own, other), out, stats);
        }
    }
}

/// [`solve_pressed`] over an area of one side, with feet on one of the other side.
fn pressed_over(
    ctx: &Context<'_>,
    which: Which,
    (own, other): AreaPair,
    out: &mut Solved,
    stats: &mut Stats,
) {
    let (body, partner) = (ctx.body(which), ctx.body(which.other()));
    let (grid, onto_grid, onto_normals) =
        (body.grid_of(own), partner.grid_of(other), partner.normals_of(other));
    let to_other = ctx.pose_to_other(which);
    let mut values = [f64::INFINITY; GRID_POINTS];
    let mut feet = [[0.0; 2]; GRID_POINTS];
    for (k, p) in grid.points().iter().enumerate() {
        let foot = onto_grid.foot(&(to_other * p));
        feet[k] = foot.params;
        values[k] = -foot.offset.dot(&onto_grid.normal(onto_normals, &foot));
    }
    let lowest = (0..grid.len()).map(|k| values[k]).fold(f64::INFINITY, f64::min);
    if !(ctx.least - grid.radius <= lowest && lowest <= grid.radius) {
        return;
    }
    let pose = |which: Which| (which == Which::B).then_some(&ctx.pose_ab);
    let over = Leaf::new(body, own, pose(which));
    let onto = Leaf::new(partner, other, pose(which.other()));
    let margins = |which: Which, area: AreaId| border(ctx, which, area).collect::<ArrayVec<f64, 2>>();
    let (of_own, of_other) = (margins(which, own), margins(which.other(), other));
    let inside = |x: &[f64; 2], borders: &[f64]| {
        borders.iter().zip(x).all(|(border, x)| -border <= *x && *x <= 1.0 + border)
    };
    for k in (0..grid.len()).filter(|&k| grid.is_minimum(&values, k)) {
        let start = grid.params(k);
        let found = signed_descent(ctx, (&over, &start[..over.dim()]), (&onto, feet[k]), stats);
        let Some(Place::At(x, y)) = found else { continue };
        if !(inside(&x, &of_own) && inside(&y, &of_other)) {
            continue;
        }
        let (of_own, of_other) = ((own, over.uv(&x)), (other, onto.uv(&y)));
        let (of_a, of_b) = if which == Which::A { (of_own, of_other) } else { (of_other, of_own) };
        report(ctx, of_a, of_b, false, out, stats);
    }
}

/// Takes in a minimum at parameters of two areas.
pub(crate) fn report(
    ctx: &Context<'_>,
    (area_a, uv_a): (AreaId, P2),
    (area_b, uv_b): (AreaId, P2),
    undecided: bool,
    out: &mut Solved,
    stats: &mut Stats,
) {
    let (a, b) = (Leaf::new(ctx.a, area_a, None), Leaf::new(ctx.b, area_b, Some(&ctx.pose_ab)));
    let (p_a, p_b) = (a.point_at(uv_a), b.point_at(uv_b));
    if undecided {
        stats.effort.stalled += 1;
    }
    let (fa, fb) = (ctx.a.area(area_a).feature, ctx.b.area(area_b).feature);
    for n in directions(ctx, (fa, uv_a), (fb, uv_b), &p_a, &p_b) {
        let distance = (p_b - p_a).dot(&n);
        let tangential = (p_b - p_a - n * distance).norm();
        if !(ctx.least <= distance && distance <= ctx.d_max)
            || tangential > ctx.tol.tol.max(1e-6 * distance.abs())
        {
            continue;
        }
        out.candidates.push(Candidate {
            feature_a: fa,
            feature_b: fb,
            p_a,
            p_b,
            n,
            distance,
            hint_a: Some(uv_a),
            hint_b: Some(uv_b),
            undecided,
        });
    }
}

/// The minimum of two areas next to unit-box parameters of theirs: parameters of their curves and surfaces.
pub(crate) fn descend(
    ctx: &Context<'_>,
    (area_a, in_a): (AreaId, [f64; 2]),
    (area_b, in_b): (AreaId, [f64; 2]),
    margin: f64,
    stats: &mut Stats,
) -> Option<(P2, P2)> {
    let (a, b) = (Leaf::new(ctx.a, area_a, None), Leaf::new(ctx.b, area_b, Some(&ctx.pose_ab)));
    let start = (a.point(&in_a[..a.dim()]) - b.point(&in_b[..b.dim()])).norm();
    let is_near = start <= near(ctx, area_a, area_b);
    match (a.dim(), b.dim()) {
        (1, 1) => descend_n::<2>(ctx, (&a, in_a), (&b, in_b), (margin, is_near), stats),
        (2, 2) => descend_n::<4>(ctx, (&a, in_a), (&b, in_b), (margin, is_near), stats),
        _ => descend_n::<3>(ctx, (&a, in_a), (&b, in_b), (margin, is_near), stats),
    }
}

/// Points nearer (mm) than this are looked at by the signed distance.
fn near(ctx: &Context<'_>, area_a: AreaId, area_b: AreaId) -> f64 {
    NEAR * ctx.a.grid_of(area_a).radius.min(ctx.b.grid_of(area_b).radius)
}

fn descend_n<const N: usize>(
    ctx: &Context<'_>,
    (a, in_a): (&Leaf<'_>, [f64; 2]),
    (b, in_b): (&Leaf<'_>, [f64; 2]),
    (margin, is_near): (f64, bool),
    stats: &mut Stats,
) -> Option<(P2, P2)> {
    let split = a.dim();
    let mut eval = |x: &SVector<f64, N>| evaluate(a, b, split, x, ctx.tol.eps);
    let start = SVector::<f64, N>::from_fn(|r, _| if r < split { in_a[r] } else { in_b[r - split] });
    // Where points coincide, the gradient of the square is zero whatever the normals.
    let ended = if is_near { signed_minimum(ctx, (a, b), Which::A, &start, stats) } else { None };
    match ended.unwrap_or_else(|| minimise(&mut eval, start, margin, squared_goal(ctx), stats)) {
        Ended::Minimum(x) => {
            let (xa, xb) = x.as_slice().split_at(split);
            Some((a.uv(xa), b.uv(xb)))
        }
        Ended::Outside | Ended::Stalled(_) => None,
    }
}

/// A's outward direction at a critical pair: a face's normal where there is one, else the difference of the
/// footpoints, else (touching edges) both directions across the tangents.
pub(crate) fn directions(
    ctx: &Context<'_>,
    (fa, uv_a): (Feature, P2),
    (fb, uv_b): (Feature, P2),
    p_a: &P3,
    p_b: &P3,
) -> impl Iterator<Item = V3> {
    let mut out = ArrayVec::<V3, 2>::new();
    let delta = p_b - p_a;
    match (fa, fb) {
        (Feature::Face(f), _) => out.push(outward_normal(ctx.a.face(f), uv_a)),
        (_, Feature::Face(f)) => out.push(ctx.pose_ab * -outward_normal(ctx.b.face(f), uv_b)),
        (Feature::Edge(e), Feature::Edge(g)) => {
            if delta.norm() > ctx.tol.tol {
                let n = delta.try_normalize(f64::MIN_POSITIVE);
                out.extend(n);
                // Pressed edges are apart the other way round.
                out.extend(n.filter(|_| delta.norm() <= -ctx.least).map(|n| -n));
            } else {
                let s = ctx.a.edge(e).curve.tangent(uv_a.x);
                let t = ctx.b.edge(g).curve.tangent(uv_b.x).map(|t| ctx.pose_ab * t);
                let n = s.zip(t).and_then(|(s, t)| s.cross(&t).try_normalize(1e-6));
                out.extend(n.into_iter().flat_map(|n| [n, -n]));
            }
        }
        _ => {}
    }
    out.into_iter()
}

/// How far outside the unit box a solution still counts as the leaf's.
fn border(ctx: &Context<'_>, which: Which, area: AreaId) -> impl Iterator<Item = f64> {
    let body = ctx.body(which);
    let feature = body.area(area).feature;
    let dim = if matches!(feature, Feature::Face(_)) { 2 } else { 1 };
    border_margin(ctx, body.data(feature).deviation, &body.grid_of(area).lengths).into_iter().take(dim)
}

/// Unit-box parameters in A and in B to start from, by increasing distance; none when everything is too far
/// away.
fn starts(
    ctx: &Context<'_>,
    (area_a, dim_a): (AreaId, usize),
    (area_b, dim_b): (AreaId, usize),
) -> ArrayVec<Start, STARTS> {
    let (of_a, of_b) = ((ctx.a, area_a), (ctx.b, area_b));
    // Feet on the patch where the other one is a curve.
    let swap = dim_a > dim_b;
    let (over, onto, pose) = if swap { (of_b, of_a, &ctx.pose_ab) } else { (of_a, of_b, &ctx.pose_ba) };
    let [normals_over, normals_onto] = [over, onto].map(|(body, area)| body.normals_of(area));
    let [over, onto] = [over, onto].map(|(body, area)| body.grid_of(area));
    // In the frame of the larger grid.
    let (rotation, translation) = (pose.rotation.to_rotation_matrix(), pose.translation.vector);
    let mut values = [f64::INFINITY; GRID_POINTS];
    let mut feet = [[0.0; 2]; GRID_POINTS];
    let mut beyond = [[0.0; 2]; GRID_POINTS];
    // The normals of a minimum are opposite, but for what edges and the user's angle leave open.
    let mut sums = [V3::zeros(); GRID_POINTS];
    for (k, (p, n)) in over.points().iter().zip(normals_over.vectors()).enumerate() {
        let foot = onto.foot(&(rotation * p + translation));
        (feet[k], beyond[k]) = (foot.params, foot.beyond);
        values[k] = foot.offset.norm_squared();
        sums[k] = rotation * n + onto.normal(normals_onto, &foot);
    }
    let open = normals_over.spread + normals_onto.spread + 2.0 * ctx.alpha + NORMALS;
    let reach = ctx.d_max + over.radius;
    let mut out: ArrayVec<Start, STARTS> = ArrayVec::new();
    let near = |k: usize| values[k] <= reach * reach;
    let possible = |k: usize| {
        near(k)
            && (!onto.finds_feet(values[k].sqrt())
                || over.may_face(&beyond, k) && over.may_vanish(&sums, k, open))
    };
    if !(0..over.len()).any(possible) {
        return out;
    }
    for k in (0..over.len()).filter(|&k| near(k) && over.is_minimum(&values, k)) {
        let (x, y) = (over.params(k), feet[k]);
        let start = if swap { (values[k], y, x) } else { (values[k], x, y) };
        if out.is_full() {
            let worst = (0..out.len()).max_by(|&i, &j| out[i].0.total_cmp(&out[j].0)).unwrap_or(0);
            if out[worst].0 > start.0 {
                out[worst] = start;
            }
        } else {
            out.push(start);
        }
    }
    out.sort_by(|p, q| p.0.total_cmp(&q.0));
    out
}

/// Half the squared distance of the two points, with derivatives.
fn evaluate<const N: usize>(
    a: &Leaf<'_>,
    b: &Leaf<'_>,
    split: usize,
    x: &SVector<f64, N>,
    eps: f64,
) -> Option<Eval<N>> {
    let (xa, xb) = x.as_slice().split_at(split);
    let (ja, jb) = (a.jet(xa), b.jet(xb));
    let delta = jb.p - ja.p;
    // ∂Δ: minus A's tangents, then B's.
    let tangent = |i: usize| if i < split { -ja.first[i] } else { jb.first[i - split] };
    let second = |i: usize, j: usize| -> f64 {
        match (i < split, j < split) {
            (true, true) => -delta.dot(&ja.second[i + j]),
            (false, false) => delta.dot(&jb.second[i + j - 2 * split]),
            _ => 0.0,
        }
    };
    let len = SVector::<f64, N>::from_fn(|i, _| tangent(i).norm());
    let floor = 1e-6 * len.max();
    let eval = Eval {
        f: 0.5 * delta.norm_squared(),
        grad: SVector::from_fn(|i, _| delta.dot(&tangent(i))),
        hess: SMatrix::from_fn(|i, j| tangent(i).dot(&tangent(j)) + second(i, j)),
        len: len.map(|l: f64| l.max(floor)),
        noise: NOISE * eps * (delta.norm() + eps),
    };
    eval.f.is_finite().then_some(eval)
}
