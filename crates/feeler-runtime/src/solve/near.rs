//! Free-form faces and edges that follow a canonical one: closed forms tell where minima are, Newton finds
//! them on the geometry as it is.
//!
//! Modellers write fillets and their borders as splines that wave about a torus and its circles by little
//! more than rounding. Their normals are off those of the canonical surface by an angle θ, their curvatures
//! by κ, both measured when the solid was prepared. A minimum of the free-form feature is then a place where
//! the gradient of the canonical distance is at most θ; beside a critical pair whose smallest relative
//! curvature λ is clearly above κ there is exactly one, within θ / λ, and beside one with λ clearly below −κ
//! there is none.
//!
//! # Source
//! MATH §3 (closed forms), §8 (Newton).
//!
//! # Deviations
//! Where this does not decide, the pairs of leaves are solved as those of any free-form feature: within 2 θ
//! / |λ| of a critical pair that is flat to within κ, and all of them for a family to within θ over the
//! features' extent, or where Newton does not come back from close by. Not looked for are minima that the
//! waves make where the gradient of the canonical distance falls to θ without a zero: it does so within a
//! range of poses as narrow as θ. Critical pairs with no direction near them in both polars are left out
//! unsolved ([`polar_range`]).
//!
//! Edges that follow nothing are solved by pairs of leaves too, but where the derivative of the distance to a
//! plane or a line that the other feature follows stays off zero by more than what is between the two
//! ([`open_pairs`]).

mod polar_range;

use super::canonical::order;
use super::newton::{Eval, Outcome, minimise};
use super::reduced::Reduced;
use super::{ReducedPair, Solved, curve, free, patch};
use crate::api::contact::Stats;
use crate::body::ids::AreaPair;
use crate::body::samples::at;
use crate::body::side::Which;
use crate::body::tree::{SolveClass, TreeNode};
use crate::body::{Body, Near};
use crate::query::Context;
use arrayvec::ArrayVec;
use feeler_geom::contact::SecondOrder;
use feeler_geom::skeleton::{Critical, Primitive, critical_pairs_between};
use feeler_geom::{Curve, P2, P3, Rect};
use feeler_hierarchy::{AreaId, Feature};
use nalgebra::{Matrix1, SVector, Vector1, Vector2};

/// How clearly relative curvatures must be above those of the waves.
const CLEARLY: f64 = 2.0;
/// How far (of the areas' rectangles) Newton may run outside them.
const MARGIN: f64 = 0.5;
/// What else may be between a critical pair of the canonical features and that of the free-form ones, in ways
/// θ / λ.
const DISPLACEMENTS: f64 = 2.0;
/// Feet are looked for in boxes that a point is this far outside of, relative to their size.
const BESIDE: f64 = 0.01;
/// Half of the smallest eigenvalue of ½ distance² that the second order tells from zero.
const LEAST_ORDER: f64 = 5e-5;
/// Largest radius about a flat critical pair, relative to the extent of the features, within which other
/// minima are looked for.
const WIDE: f64 = 0.25;

/// One side of a pair.
struct Shape {
    feature: Feature,
    /// Frame of A.
    primitive: Primitive,
    near: Option<Near>,
}

/// Solves a pair of features as what they follow; the pairs of areas for which this does not decide where
/// minima are go into `rest`: those that [`open_pairs`] leaves unless one or both features follow a canonical
/// one and the others are canonical.
pub(crate) fn solve(
    ctx: &Context<'_>,
    group: &[AreaPair],
    rest: &mut Vec<AreaPair>,
    out: &mut Solved,
    stats: &mut Stats,
) {
    let (fa, fb) = (ctx.a.area(group[0].0).feature, ctx.b.area(group[0].1).feature);
    let forms = [ctx.a.data(fa).form(), ctx.b.data(fb).form()];
    let follows = forms.contains(&SolveClass::Near)
        && !forms.iter().any(|f| matches!(f, SolveClass::Free | SolveClass::FreeEdge));
    let shapes = follows.then(|| shape(ctx, Which::A, fa).zip(shape(ctx, Which::B, fb))).flatten();
    let Some((a, b)) = shapes else {
        open_pairs(ctx, group, (&mut out.areas, &mut out.open), rest);
        return;
    };
    let (first, counted) = (out.candidates.len(), *stats);
    match decided(ctx, (&a, &b), out, stats) {
        Some(spots) if spots.is_empty() => {}
        spots => {
            if spots.is_none() {
                out.candidates.truncate(first);
                *stats = counted;
            }
            areas_in(ctx, (fa, fb), spots.as_deref(), &mut out.beside, rest);
        }
    }
}

/// Pairs of areas of two features, in their order; of an edge that follows nothing, against what follows a
/// plane or a line, those only whose area of the edge leaves room for a minimum. `areas` and `open` are
/// reused memory.
///
/// A minimum is a direction between footpoints d apart that is normal to the edge and, to the angle θ, to the
/// plane or the line; from the line itself it is seen up to the deviation δ elsewhere. So along the edge, to
/// its arc length, the derivative of the distance to the plane is at most θ there, that of half the square of
/// the distance to the line at most θ d + δ.
fn open_pairs(
    ctx: &Context<'_>,
    group: &[AreaPair],
    (areas, open): (&mut Vec<AreaId>, &mut Vec<AreaId>),
    rest: &mut Vec<AreaPair>,
) {
    let (fa, fb) = (ctx.a.area(group[0].0).feature, ctx.b.area(group[0].1).feature);
    let straight = |which: Which, edge: Feature, other: Feature| {
        let data = ctx.body(which).data(edge);
        let near = ctx.body(which.other()).data(other).near?;
        let is_straight = match near.primitive {
            Primitive::Plane { .. } => true,
            Primitive::Line { .. } => Reduced::new(&near.primitive).squared,
            _ => false,
        };
        match edge {
            Feature::Edge(e) if is_straight && data.primitive.is_none() && data.near.is_none() => {
                Some((which, e, near))
            }
            _ => None,
        }
    };
    let found = straight(Which::A, fa, fb).or_else(|| straight(Which::B, fb, fa));
    let Some((which, edge, near)) = found.filter(|_| ctx.cull.is_some()) else {
        rest.extend_from_slice(group);
        return;
    };
    let of_edge = |&(i, j): &AreaPair| if which == Which::A { i } else { j };
    areas.clear();
    areas.extend(group.iter().map(of_edge));
    areas.sort_unstable();
    areas.dedup();
    // In the frame of the edge.
    let objective = Reduced::new(&near.primitive.transformed(ctx.pose_to_other(which.other())));
    // With what filters accept; twice, for tangents between the samples may be longer than at them.
    let angle = near.angle + ctx.tol.critical;
    let off =
        2.0 * if objective.squared { angle * ctx.reach() + near.deviation + ctx.tol.tol } else { angle };
    let body = ctx.body(which);
    let slack = body.data(Feature::Edge(edge)).deviation + ctx.tol.trim;
    open.clear();
    open.reserve(areas.len());
    curve::each_segment(body, &objective, (edge, areas), slack, &|_| false, &mut |area, _, derivatives| {
        if !derivatives.is_plain(off) {
            open.push(area);
        }
    });
    rest.extend(group.iter().filter(|pair| open.binary_search(&of_edge(pair)).is_ok()));
}

/// Pairs of areas of two features that may hold a minimum, in one of the spots when there are some.
fn areas_in(
    ctx: &Context<'_>,
    (fa, fb): (Feature, Feature),
    spots: Option<&[Spot]>,
    beside: &mut Beside,
    out: &mut Vec<AreaPair>,
) {
    // Which spots an area comes near, as bits.
    let near = |body: &Body, area: AreaId, place: fn(&Spot) -> &P3| {
        spots.map_or(u16::MAX, |spots| {
            let bits = spots.iter().enumerate().map(|(k, z)| u16::from(z.meets(body, area, place(z))) << k);
            bits.fold(0, |all, bit| all | bit)
        })
    };
    beside.clear();
    beside.reserve(ctx.b.areas_of(ctx.b.data(fb)).len());
    for &j in ctx.b.areas_of(ctx.b.data(fb)) {
        let bits = near(ctx.b, j, |z| &z.p_b);
        if bits != 0 {
            beside.push((j, bits, ctx.cull.map(|cull| cull.placed(ctx.b, j))));
        }
    }
    for &i in ctx.a.areas_of(ctx.a.data(fa)) {
        let bits = near(ctx.a, i, |z| &z.p_a);
        let node_a = &ctx.a.tree()[ctx.a.leaf_of_area(i).index()];
        let partners = beside.iter().filter(|(_, of_b, node_b)| {
            let is_culled = |node_b| ctx.cull.is_some_and(|cull| cull.nodes(node_a, node_b).is_some());
            // Polyhedral cones exclude few further pairs and cost half a solve.
            bits & of_b != 0 && !node_b.as_ref().is_some_and(is_culled)
        });
        out.extend(partners.map(|(j, ..)| (i, *j)));
    }
}

/// Areas of B with the spots that they come near, as bits, and their leaves in the frame of A where pairs are
/// culled.
pub(super) type Beside = Vec<(AreaId, u16, Option<TreeNode>)>;

/// Where minima may be beside a flat critical pair.
struct Spot {
    /// Footpoints, each in its solid's own frame.
    p_a: P3,
    p_b: P3,
    /// Distance (mm) from them.
    radius: f64,
}

impl Spot {
    /// Whether an area comes near one of the footpoints.
    fn meets(&self, body: &Body, area: AreaId, p: &P3) -> bool {
        let obb = &body.node(body.leaf_of_area(area)).obb;
        let from = p - obb.center;
        (0..3).all(|k| obb.axes[k].dot(&from).abs() <= obb.half[k] + self.radius)
    }
}

/// Critical pairs of two primitives at most: one a bit.
const MOST: usize = u16::BITS as usize;

fn shape(ctx: &Context<'_>, which: Which, feature: Feature) -> Option<Shape> {
    if let Some(primitive) = ctx.primitive(which, feature) {
        return Some(Shape { feature, primitive, near: None });
    }
    let near = ctx.body(which).data(feature).near?;
    let primitive = match which {
        Which::A => near.primitive,
        Which::B => near.primitive.transformed(&ctx.pose_ab),
    };
    Some(Shape { feature, primitive, near: Some(near) })
}

/// Takes in the minima beside clear ones of the canonical features; returns where others may be, `None` when
/// anywhere.
fn decided(
    ctx: &Context<'_>,
    (a, b): (&Shape, &Shape),
    out: &mut Solved,
    stats: &mut Stats,
) -> Option<ArrayVec<Spot, MOST>> {
    let off = |of: fn(&Near) -> f64| a.near.as_ref().map_or(0.0, of) + b.near.as_ref().map_or(0.0, of);
    let (deviation, angle, curvature) = (off(|n| n.deviation), off(|n| n.angle), off(|n| n.curvature));
    let extent = ctx.extent(a.feature, b.feature);
    stats.exact_solves += 1;
    let reach = ctx.d_max + deviation;
    let flat = ctx.tol.tol.max(deviation + angle * extent);
    let is_edge = |s: &Shape| matches!(s.feature, Feature::Edge(_));
    // Each critical pair of two edges occurs with both signs of normal and distance, in contact maybe with
    // one. The second order is the same for both, so that negative distances are left out.
    let unsigned = is_edge(a) && is_edge(b);
    let depth = ctx.least - deviation;
    let range = if unsigned { [-flat, reach.max(-depth)] } else { [depth.min(-flat), reach] };
    let found = critical_pairs_between(&a.primitive, &b.primitive, range, flat, extent);
    if found.family.is_some() || found.isolated.is_full() {
        return None;
    }
    // A length over the extent, as second orders are judged.
    let bend = CLEARLY * curvature * extent * extent + ctx.tol.tol;
    let mut spots = ArrayVec::new();
    for c in &found.isolated {
        if unsigned && c.distance < -ctx.tol.tol {
            continue;
        }
        let is_pressed = c.distance < ctx.tol.least_distance();
        let c = &Critical { distance: if is_pressed { c.distance } else { c.distance.max(0.0) }, ..*c };
        // Second orders that are no second derivatives of the distance are told apart to this only.
        if curvature * c.distance > LEAST_ORDER {
            return None;
        }
        let (strict, min_eig) =
            match order((a.feature, &a.primitive), (b.feature, &b.primitive), c, extent, bend)? {
                SecondOrder::Indefinite => continue,
                SecondOrder::Semidefinite { min_eig } => (false, min_eig.abs()),
                SecondOrder::Strict { min_eig } => (true, min_eig),
            };
        let radius = DISPLACEMENTS * angle / min_eig + deviation + ctx.tol.same;
        if radius.is_nan() {
            return None;
        }
        let (p_a, p_b) = (c.p_a, ctx.pose_ba * c.p_b);
        let beside = |body: &Body, feature, p: &P3| {
            let data = body.data(feature);
            data.bounds.inflated(radius + data.deviation).contains(p)
        };
        if !(beside(ctx.a, a.feature, &p_a) && beside(ctx.b, b.feature, &p_b)) {
            continue;
        }
        if ctx.cull.is_some() {
            let may_face = |c: &Critical| polar_range::may_hold(ctx, (a, b), c, radius);
            let may_be_pressed = unsigned && c.distance <= flat.max(-depth);
            let pressed = Critical { n: -c.n, distance: -c.distance, ..*c };
            if !(may_face(c) || may_be_pressed && may_face(&pressed)) {
                continue;
            }
        }
        if !strict {
            // Beyond, the second order says nothing about the gradient.
            if radius > WIDE * extent {
                return None;
            }
            spots.push(Spot { p_a, p_b, radius });
            continue;
        }
        let expected = Expected { at: c, within: radius };
        // Along an edge the signed distance from a face is minimised, whatever is canonical.
        let is_edge_on_face =
            |s: &Shape, o: &Shape| is_edge(s) && o.near.is_some() && matches!(o.feature, Feature::Face(_));
        match (a.near.is_some(), b.near.is_some()) {
            (true, true) => both(ctx, (a, b), expected, out, stats)?,
            _ if is_edge_on_face(a, b) || is_edge_on_face(b, a) => both(ctx, (a, b), expected, out, stats)?,
            (true, false) => one(ctx, (Which::A, a), b, expected, out, stats)?,
            _ => one(ctx, (Which::B, b), a, expected, out, stats)?,
        }
    }
    Some(spots)
}

/// Of the areas of a feature the one with the foot nearest to a point (frame of A), and the unit-box
/// parameters of that foot; none when the point is farther from all their boxes than `within` and what grids
/// are off.
fn start(
    ctx: &Context<'_>,
    which: Which,
    feature: Feature,
    p: &P3,
    within: f64,
) -> Option<(AreaId, [f64; 2])> {
    let p = if which == Which::A { *p } else { ctx.pose_ba * p };
    let body = ctx.body(which);
    let mut best: Option<(f64, AreaId, [f64; 2])> = None;
    for &area in body.areas_of(body.data(feature)) {
        let obb = &body.node(body.leaf_of_area(area)).obb;
        let from = p - obb.center;
        let slack = within + BESIDE * obb.half.max();
        if (0..3).any(|k| obb.axes[k].dot(&from).abs() > obb.half[k] + slack) {
            continue;
        }
        let foot = body.grid_of(area).foot(&p);
        let distance = foot.offset.norm();
        if best.is_none_or(|b| distance < b.0) {
            best = Some((distance, area, foot.params));
        }
    }
    best.map(|(_, area, params)| (area, params))
}

/// A critical pair of the canonical features, and how far (mm) from it the minimum may be.
#[derive(Clone, Copy)]
struct Expected<'a> {
    at: &'a Critical,
    within: f64,
}

/// The minimum next to a critical pair, one side being canonical; nothing where none of the areas is, `None`
/// when it is not found.
fn one(
    ctx: &Context<'_>,
    (which, free): (Which, &Shape),
    canonical: &Shape,
    expected: Expected<'_>,
    out: &mut Solved,
    stats: &mut Stats,
) -> Option<()> {
    let Expected { at: c, within } = expected;
    let p = if which == Which::A { c.p_a } else { c.p_b };
    let Some((area, params)) = start(ctx, which, free.feature, &p, within) else { return Some(()) };
    let body = ctx.body(which);
    let rect = &body.area(area).rect;
    let own = match which {
        Which::A => canonical.primitive,
        Which::B => canonical.primitive.transformed(&ctx.pose_ba),
    };
    let objective = Reduced::new(&own);
    let pair = ReducedPair { canonical: canonical.feature, objective: &objective, free: which };
    let goal = patch::goal(ctx, &objective);
    match free.feature {
        Feature::Face(face) => {
            let surface = &body.face(face).surface;
            let mut eval = |x: &Vector2<f64>| patch::evaluate(&objective, surface, rect, x, ctx.tol.eps);
            let x = minimum(minimise(&mut eval, Vector2::from(params), MARGIN, goal, stats))?;
            let uv = at(rect, x[0], x[1]);
            close(ctx, which, &surface.point(uv), &p, within)?;
            patch::report(ctx, &pair, (face, uv), false, out, stats);
        }
        Feature::Edge(edge) => {
            let along = &body.edge(edge).curve;
            let mut eval = |x: &Vector1<f64>| on_curve(&objective, along, rect, x, ctx.tol.eps);
            let x = minimum(minimise(&mut eval, Vector1::new(params[0]), MARGIN, goal, stats))?;
            let t = at(rect, x[0], 0.0).x;
            close(ctx, which, &along.point(t), &p, within)?;
            curve::report(ctx, &pair, edge, t, out);
        }
        Feature::Vertex(_) => return None,
    }
    Some(())
}

/// The objective over an interval of a curve.
fn on_curve(objective: &Reduced, curve: &Curve, rect: &Rect, x: &Vector1<f64>, eps: f64) -> Option<Eval<1>> {
    let d = curve.derivs(at(rect, x[0], 0.0).x);
    let q = objective.probe(&d.p)?;
    let w = rect.u1 - rect.u0;
    Some(Eval {
        f: q.f,
        grad: Vector1::new(q.grad.dot(&d.d1) * w),
        hess: Matrix1::new((q.bending.along(&d.d1) + q.grad.dot(&d.d2)) * w * w),
        len: Vector1::new(d.d1.norm() * w),
        noise: patch::NOISE * eps * if objective.squared { q.grad.norm() + eps } else { 1.0 },
    })
}

/// The minimum next to a critical pair of two features, none of them a canonical face or a vertex.
fn both(
    ctx: &Context<'_>,
    (a, b): (&Shape, &Shape),
    expected: Expected<'_>,
    out: &mut Solved,
    stats: &mut Stats,
) -> Option<()> {
    let Expected { at: c, within } = expected;
    let Some(in_a) = start(ctx, Which::A, a.feature, &c.p_a, within) else { return Some(()) };
    let Some(in_b) = start(ctx, Which::B, b.feature, &c.p_b, within) else { return Some(()) };
    if ctx.a.grid_of(in_a.0).has_pole || ctx.b.grid_of(in_b.0).has_pole {
        return None;
    }
    let (uv_a, uv_b) = free::descend(ctx, in_a, in_b, MARGIN, stats)?;
    close(ctx, Which::A, &point(ctx, Which::A, in_a.0, uv_a), &c.p_a, within)?;
    close(ctx, Which::B, &point(ctx, Which::B, in_b.0, uv_b), &c.p_b, within)?;
    free::report(ctx, (in_a.0, uv_a), (in_b.0, uv_b), false, out);
    Some(())
}

/// A point of the feature of an area, in the solid's own frame.
fn point(ctx: &Context<'_>, which: Which, area: AreaId, uv: P2) -> P3 {
    let body = ctx.body(which);
    match body.area(area).feature {
        Feature::Face(f) => body.face(f).surface.point(uv),
        Feature::Edge(e) => body.edge(e).curve.point(uv.x),
        Feature::Vertex(v) => body.vertex(v).point,
    }
}

fn minimum<const N: usize>(outcome: Outcome<N>) -> Option<SVector<f64, N>> {
    match outcome {
        Outcome::Minimum(x) => Some(x),
        Outcome::Outside | Outcome::Stalled(_) => None,
    }
}

/// Whether Newton has come to a place (the solid's own frame) no farther than it should be.
fn close(ctx: &Context<'_>, which: Which, found: &P3, p: &P3, within: f64) -> Option<()> {
    ((ctx.in_a(which, found) - p).norm() <= 2.0 * within).then_some(())
}
