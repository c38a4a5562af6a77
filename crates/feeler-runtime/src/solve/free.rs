//! Two free-form features: two curves, or two patches.
//!
//! Two curves have a common perpendicular where half their squared distance is critical, which is regular
//! at distance 0 unless they are parallel. Two patches are solved by the signed distance of one from the
//! other ([`super::signed`]).
//!
//! # Source
//! MATH §8 (Newton on the full Hessian), BREP Algorithm 12.
//!
//! # Deviations
//! Instead of one guess from corner tetrahedra, Newton's method starts from every point of a grid over the
//! smaller leaf whose distance from the other leaf is not exceeded by a neighbour's, together with its
//! foot there, and from every cell of the grid whose derivatives allow a minimum. Flatness does not
//! guarantee one minimum per pair of leaves (BREP §1.5.1.3), and the closest pair of two grids depends on
//! where their points happen to lie.

use super::Solved;
use super::leaf::Leaf;
use super::newton::{Eval, Outcome as Ended, minimise};
use super::patch::{VALUE_ROUNDING, along, before_poles, border_margin, squared_goal};
use super::signed::{self, Place};
use crate::api::contact::Stats;
use crate::body::ids::AreaPair;
use crate::body::outward_normal;
use crate::body::samples::{COLLAPSED, GRID_POINTS, Grid, MARGIN};
use crate::body::side::Which;
use crate::query::{Candidate, Context};
use arrayvec::ArrayVec;
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::{AreaId, Feature};
use nalgebra::{Matrix2, Vector2};

/// Maximum number of Newton runs for a pair of leaves. A smaller number misses minima of waving leaves.
const MAX_STARTS: usize = 24;
/// Assumed upper bound (rad) of the error of the normals at footpoints that are interpolated on grids. A
/// larger value gives more starts; a smaller one misses starts.
const GRID_ANGLE_ERROR: f64 = 2e-3;

/// Meridians of a leaf on which Newton runs start near its collapsed side (pole), as fractions of the
/// width of the leaf.
const MERIDIANS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Distance of starts from a collapsed side, as a fraction of the distance to the middle of the leaf. A
/// smaller value starts too close to the singular point.
const MERIDIAN_START: f64 = 0.25;

/// Start of a Newton run: unit-box parameters in the leaf whose points are searched, then those in the
/// other leaf.
type Start = ([f64; 2], [f64; 2]);

/// Adds all minima found between two free-form areas, both of edges or both of faces.
pub(crate) fn solve(ctx: &Context<'_>, area_a: AreaId, area_b: AreaId, out: &mut Solved, stats: &mut Stats) {
    match ctx.a.area(area_a).feature {
        Feature::Face(_) => patches(ctx, (area_a, area_b), out, stats),
        _ => curves(ctx, (area_a, area_b), out, stats),
    }
}

/// One of the two areas of a pair, with its grid and leaf.
struct Half<'a> {
    /// Body of the area.
    which: Which,
    area: AreaId,
    grid: &'a Grid,
    /// The area, evaluated in the frame of the body that [`Half::new`] was given.
    leaf: Leaf<'a>,
    /// Distance outside the unit box, for each parameter, up to which a solution belongs to the leaf.
    border: [f64; 2],
}

impl<'a> Half<'a> {
    /// The area `area` of the body `which` as one half of a pair of areas, evaluated in the frame of the
    /// body `frame`.
    fn new(ctx: &'a Context<'a>, which: Which, area: AreaId, frame: Which) -> Self {
        let body = ctx.body(which);
        let pose = (which != frame).then(|| ctx.pose_to_other(which));
        let grid = body.grid_of(area);
        let deviation = body.data(body.area(area).feature).deviation;
        let border = border_margin(ctx, deviation, &grid.lengths);
        Self { which, area, grid, leaf: Leaf::new(body, area, pose), border }
    }

    /// Whether a solution at unit-box parameters `x` belongs to the leaf.
    fn contains(&self, x: &[f64; 2]) -> bool {
        (0..self.leaf.dim()).all(|k| -self.border[k] <= x[k] && x[k] <= 1.0 + self.border[k])
    }

    fn uv(&self, x: &[f64; 2]) -> (AreaId, P2) {
        (self.area, self.leaf.uv(&x[..self.leaf.dim()]))
    }
}

/// Returns both areas of a pair, evaluated in the frame of the second one's body. The points of the
/// first area are searched for minima of their distance from the second one. The order does not depend
/// on which body is A and which is B.
fn halves<'a>(ctx: &'a Context<'a>, (area_a, area_b): AreaPair) -> [Half<'a>; 2] {
    let grids = [ctx.a.grid_of(area_a), ctx.b.grid_of(area_b)];
    let poles = grids.map(|g| g.has_pole);
    // Points of the smaller leaf have their feet on the larger one. The signed distance from a leaf with a
    // pole is avoided, because its descent follows meridians into the pole.
    let order = poles[1].cmp(&poles[0]).then_with(|| grids[0].radius.total_cmp(&grids[1].radius));
    let over = match order {
        std::cmp::Ordering::Less => Which::A,
        std::cmp::Ordering::Greater => Which::B,
        std::cmp::Ordering::Equal => ctx.first(),
    };
    let area = |which: Which| if which == Which::A { area_a } else { area_b };
    [over, over.other()].map(|which| Half::new(ctx, which, area(which), over.other()))
}

/// Adds the minima between two areas of free-form faces, by the signed distance of the points of one from
/// the other.
fn patches(ctx: &Context<'_>, pair: AreaPair, out: &mut Solved, stats: &mut Stats) {
    let [over, onto] = halves(ctx, pair);
    let mut found: ArrayVec<[P3; 2], MAX_STARTS> = ArrayVec::new();
    let starts = patch_starts(ctx, &over, &onto);
    let fan = |(x, y): Start| {
        let fan = beside_collapsed(&over.leaf, x);
        std::iter::once((x, y)).chain(fan.into_iter().flatten().map(move |x| (x, y)))
    };
    for start in starts.into_iter().flat_map(fan) {
        let Some(Place::At(x, y)) = descent([&over, &onto], start, MARGIN, ctx.tol.eps, stats) else {
            continue;
        };
        let [x, y] = [(&over, x), (&onto, y)].map(|(half, x)| {
            let tangents = |x: &[f64; 2]| {
                let first = half.leaf.jet(x).first;
                [first[0], first[1]]
            };
            if half.contains(&x) { before_poles(x, tangents) } else { x }
        });
        // A minimum outside the leaf counts, too, because the neighbouring pair may have no start that
        // leads to it.
        let points = [over.leaf.point(&x), onto.leaf.point(&y)];
        let near = |p: &P3, q: &P3| (p - q).norm() < ctx.tol.same;
        if found.iter().any(|f| near(&f[0], &points[0]) && near(&f[1], &points[1])) || found.is_full() {
            continue;
        }
        found.push(points);
        report_halves(ctx, (&over, x), (&onto, y), out);
    }
}

/// Finds the minimum of the signed distance of the points of `over` from `onto`, starting at the unit-box
/// parameters `x` and `y`. If this search does not converge, the points of `onto` are searched for the
/// minimum of their distance from `over`. `margin` is the distance outside the unit box that the search
/// may reach, `eps` (mm) the rounding of a footpoint. `None` if neither search converges.
fn descent(
    [over, onto]: [&Half<'_>; 2],
    (x, y): Start,
    margin: f64,
    eps: f64,
    stats: &mut Stats,
) -> Option<Place> {
    let run = |over: &Half<'_>, x: [f64; 2], onto: &Half<'_>, y: [f64; 2], stats: &mut Stats| {
        if onto.leaf.dim() < 2 {
            return None;
        }
        match over.leaf.dim() {
            1 => signed::minimum::<1>((&over.leaf, &x[..1]), (&onto.leaf, y), (margin, eps), stats),
            _ => signed::minimum::<2>((&over.leaf, &x), (&onto.leaf, y), (margin, eps), stats),
        }
    };
    run(over, x, onto, y, stats).or_else(|| match run(onto, y, over, x, stats)? {
        Place::At(y, x) => Some(Place::At(x, y)),
        Place::Outside => Some(Place::Outside),
    })
}

fn report_halves(
    ctx: &Context<'_>,
    (over, x): (&Half<'_>, [f64; 2]),
    (onto, y): (&Half<'_>, [f64; 2]),
    out: &mut Solved,
) {
    let (of_over, of_onto) = (over.uv(&x), onto.uv(&y));
    let (of_a, of_b) = if over.which == Which::A { (of_over, of_onto) } else { (of_onto, of_over) };
    report(ctx, of_a, of_b, false, out);
}

/// Returns unit-box parameters of points on the [`MERIDIANS`] near the point `x` on a collapsed side of a
/// patch; `None` if `x` is not on such a side. All meridians intersect in the pole, and a saddle there is
/// a minimum along some of them.
fn beside_collapsed(a: &Leaf<'_>, x: [f64; 2]) -> Option<[[f64; 2]; MERIDIANS.len()]> {
    let len: ArrayVec<f64, 2> = a.jet(&x).first.iter().map(|t| t.norm()).collect();
    let turns = (0..2).find(|&k| len[k] <= COLLAPSED * len[1 - k])?;
    let aside = x[1 - turns] + (0.5 - x[1 - turns]) * MERIDIAN_START;
    Some(MERIDIANS.map(|along| if turns == 0 { [along, aside] } else { [aside, along] }))
}

/// Returns the starts for two patches; empty if all grid points are out of reach or their normals cannot
/// be opposite.
fn patch_starts(ctx: &Context<'_>, over: &Half<'_>, onto: &Half<'_>) -> ArrayVec<Start, MAX_STARTS> {
    let pose = ctx.pose_to_other(over.which);
    let normals_over = ctx.body(over.which).normals_of(over.area);
    let normals_onto = ctx.body(onto.which).normals_of(onto.area);
    let (over, onto) = (over.grid, onto.grid);
    let (rotation, translation) = (pose.rotation.to_rotation_matrix(), pose.translation.vector);
    let mut values = [f64::INFINITY; GRID_POINTS];
    let mut offsets = [f64::INFINITY; GRID_POINTS];
    let mut slopes = [[f64::NAN; 2]; GRID_POINTS];
    let mut feet = [[0.0; 2]; GRID_POINTS];
    let mut beyond = [[0.0; 2]; GRID_POINTS];
    // The normals at a minimum are opposite, up to the user's quasi-angle.
    let mut sums = [V3::zeros(); GRID_POINTS];
    for (k, (p, n)) in over.points().iter().zip(normals_over.vectors()).enumerate() {
        let foot = onto.foot(&(rotation * p + translation));
        let normal = onto.normal(normals_onto, &foot);
        (feet[k], beyond[k]) = (foot.params, foot.beyond);
        values[k] = -foot.offset.dot(&normal);
        offsets[k] = foot.offset.norm();
        slopes[k] = over.slopes(k, &rotation.inverse_transform_vector(&normal));
        sums[k] = rotation * n + normal;
    }
    let mut out: ArrayVec<Start, MAX_STARTS> = ArrayVec::new();
    let open = normals_over.spread + normals_onto.spread + 2.0 * ctx.quasi_angle + GRID_ANGLE_ERROR;
    let reach = ctx.reach() + over.radius;
    let near = |k: usize| offsets[k] <= reach;
    let possible = |k: usize| {
        near(k)
            && (!onto.finds_feet(offsets[k]) || over.may_face(&beyond, k) && over.may_vanish(&sums, k, open))
    };
    if !(0..over.len()).any(possible) {
        return out;
    }
    let lowest = (0..over.len()).filter(|&k| near(k) && over.is_minimum(&values, k));
    for k in lowest {
        let _ = out.try_push((over.params(k), feet[k]));
    }
    for x in over.cells_with_minimum(&slopes) {
        let k = over.nearest_to(x);
        if near(k) {
            let _ = out.try_push((x, feet[k]));
        }
    }
    out
}

/// Adds the minima between two areas of free-form edges: their common perpendiculars.
fn curves(ctx: &Context<'_>, pair: AreaPair, out: &mut Solved, stats: &mut Stats) {
    let [over, onto] = halves(ctx, pair);
    let mut found: ArrayVec<[P3; 2], MAX_STARTS> = ArrayVec::new();
    for (x, y) in curve_starts(ctx, &over, &onto) {
        let (at, undecided) = match perpendicular([&over, &onto], (x, y), MARGIN, ctx, stats) {
            Ended::Minimum(at) => (at, false),
            Ended::Outside => continue,
            Ended::Stalled(at) => (at, true),
        };
        let (x, y) = ([at[0], 0.0], [at[1], 0.0]);
        if !(over.contains(&x) && onto.contains(&y)) {
            continue;
        }
        let points = [over.leaf.point(&x[..1]), onto.leaf.point(&y[..1])];
        let near = |p: &P3, q: &P3| (p - q).norm() < ctx.tol.same;
        if (points[1] - points[0]).norm() > ctx.reach()
            || found.iter().any(|f| near(&f[0], &points[0]) && near(&f[1], &points[1]))
            || found.is_full()
        {
            continue;
        }
        found.push(points);
        stats.effort.stalled += u64::from(undecided);
        let (of_over, of_onto) = (over.uv(&x), onto.uv(&y));
        let (of_a, of_b) = if over.which == Which::A { (of_over, of_onto) } else { (of_onto, of_over) };
        report(ctx, of_a, of_b, undecided, out);
    }
}

/// Minimises half the squared distance of two edges by Newton's method from the unit-box parameters `x`
/// and `y`. `margin` is the distance outside the unit box that it may reach.
fn perpendicular(
    [over, onto]: [&Half<'_>; 2],
    (x, y): Start,
    margin: f64,
    ctx: &Context<'_>,
    stats: &mut Stats,
) -> Ended<2> {
    let mut eval = |x: &Vector2<f64>| squared_distance(&over.leaf, &onto.leaf, x, ctx.tol.eps);
    minimise(&mut eval, Vector2::new(x[0], y[0]), margin, squared_goal(ctx), stats)
}

/// Returns the starts for two edges; empty if all grid points are out of reach or their polars cannot
/// contain opposite directions.
fn curve_starts(ctx: &Context<'_>, over: &Half<'_>, onto: &Half<'_>) -> ArrayVec<Start, MAX_STARTS> {
    let pose = ctx.pose_to_other(over.which);
    let normals_over = ctx.body(over.which).normals_of(over.area);
    let normals_onto = ctx.body(onto.which).normals_of(onto.area);
    let (over, onto) = (over.grid, onto.grid);
    let (rotation, translation) = (pose.rotation.to_rotation_matrix(), pose.translation.vector);
    let mut values = [f64::INFINITY; GRID_POINTS];
    let mut feet = [[0.0; 2]; GRID_POINTS];
    let mut beyond = [[0.0; 2]; GRID_POINTS];
    // The normals at a minimum are opposite, up to the polars of edges and the user's quasi-angle.
    let mut sums = [V3::zeros(); GRID_POINTS];
    for (k, (p, n)) in over.points().iter().zip(normals_over.vectors()).enumerate() {
        let foot = onto.foot(&(rotation * p + translation));
        (feet[k], beyond[k]) = (foot.params, foot.beyond);
        values[k] = foot.offset.norm();
        sums[k] = rotation * n + onto.normal(normals_onto, &foot);
    }
    let mut out: ArrayVec<Start, MAX_STARTS> = ArrayVec::new();
    let open = normals_over.spread + normals_onto.spread + 2.0 * ctx.quasi_angle + GRID_ANGLE_ERROR;
    let reach = ctx.reach() + over.radius;
    let near = |k: usize| values[k] <= reach;
    let possible = |k: usize| {
        near(k)
            && (!onto.finds_feet(values[k]) || over.may_face(&beyond, k) && over.may_vanish(&sums, k, open))
    };
    if (0..over.len()).any(possible) {
        out.extend(
            (0..over.len())
                .filter(|&k| near(k) && over.is_minimum(&values, k))
                .map(|k| (over.params(k), feet[k])),
        );
    }
    out
}

/// Finds the minimum of the distance between two areas, starting at unit-box parameters of both. Returns
/// the parameters of the minimum on the curves or surfaces of A and B. `margin` is the distance outside
/// the unit box that the search may reach. `None` if the search does not converge inside.
pub(crate) fn descend(
    ctx: &Context<'_>,
    (area_a, in_a): (AreaId, [f64; 2]),
    (area_b, in_b): (AreaId, [f64; 2]),
    margin: f64,
    stats: &mut Stats,
) -> Option<(P2, P2)> {
    let (a, b) = (Half::new(ctx, Which::A, area_a, Which::A), Half::new(ctx, Which::B, area_b, Which::A));
    let (x, y) = if a.leaf.dim() == 1 && b.leaf.dim() == 1 {
        match perpendicular([&a, &b], (in_a, in_b), margin, ctx, stats) {
            Ended::Minimum(x) => ([x[0], 0.0], [x[1], 0.0]),
            Ended::Outside | Ended::Stalled(_) => return None,
        }
    } else {
        match descent([&a, &b], (in_a, in_b), margin, ctx.tol.eps, stats)? {
            Place::At(x, y) => (x, y),
            Place::Outside => return None,
        }
    };
    Some((a.uv(&x).1, b.uv(&y).1))
}

/// Adds a minimum at parameters `uv_a` and `uv_b` of the features of two areas, unless its distance is out
/// of range or the connection of the points is not normal to a face.
pub(crate) fn report(
    ctx: &Context<'_>,
    (area_a, uv_a): (AreaId, P2),
    (area_b, uv_b): (AreaId, P2),
    undecided: bool,
    out: &mut Solved,
) {
    let (a, b) = (Leaf::new(ctx.a, area_a, None), Leaf::new(ctx.b, area_b, Some(&ctx.pose_ab)));
    let (p_a, p_b) = (a.point_at(uv_a), b.point_at(uv_b));
    let (fa, fb) = (ctx.a.area(area_a).feature, ctx.b.area(area_b).feature);
    for n in directions(ctx, (fa, uv_a), (fb, uv_b), &p_a, &p_b) {
        let (distance, n) = along(ctx, &(p_b - p_a), n);
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

/// Possible unit directions from A to B at a critical pair (points and results in the frame of A). If a
/// feature is a face, its normal is the only direction. Two edges that are apart have the direction
/// between the footpoints and, if they may be pressed, the opposite one. Two touching edges have both
/// directions perpendicular to their tangents.
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
                // Pressed edges are apart in the opposite direction.
                out.extend(n.filter(|_| delta.norm() <= -ctx.least).map(|n| -n));
            } else {
                let s = ctx.a.edge(e).curve.tangent(uv_a.x);
                let t = ctx.b.edge(g).curve.tangent(uv_b.x).map(|t| ctx.pose_ab * t);
                let n = s.zip(t).and_then(|(s, t)| s.cross(&t).try_normalize(1e-6));
                out.extend(n.into_iter().flat_map(|n| [n, -n]));
                if out.is_empty() {
                    // The tangents are parallel: the filter searches for a direction in both polars.
                    out.push(delta.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(V3::x));
                }
            }
        }
        _ => {}
    }
    out.into_iter()
}

/// Half the squared distance (mm²) of the points of two edges at unit-box parameters `x`, with derivatives
/// by them. `eps` (mm) is the rounding of a footpoint. `None` if the value is not finite.
fn squared_distance(a: &Leaf<'_>, b: &Leaf<'_>, x: &Vector2<f64>, eps: f64) -> Option<Eval<2>> {
    let (ja, jb) = (a.jet(&[x[0]]), b.jet(&[x[1]]));
    let delta = jb.p - ja.p;
    let (s, t) = (ja.first[0], jb.first[0]);
    let len = Vector2::new(s.norm(), t.norm());
    let floor = 1e-6 * len.max();
    let mixed = -s.dot(&t);
    let eval = Eval {
        f: 0.5 * delta.norm_squared(),
        grad: Vector2::new(-delta.dot(&s), delta.dot(&t)),
        hess: Matrix2::new(
            s.norm_squared() - delta.dot(&ja.second[0]),
            mixed,
            mixed,
            t.norm_squared() + delta.dot(&jb.second[0]),
        ),
        len: len.map(|l: f64| l.max(floor)),
        noise: VALUE_ROUNDING * eps * (delta.norm() + eps),
    };
    eval.f.is_finite().then_some(eval)
}
