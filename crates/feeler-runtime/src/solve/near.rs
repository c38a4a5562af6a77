//! Free-form faces and edges that follow a canonical one: closed forms locate the minima, and Newton's
//! method finds them on the actual geometry.
//!
//! Modellers write fillets and their borders as splines that wave about a torus and its circles by little
//! more than rounding. Their normals differ from those of the canonical surface by at most an angle θ,
//! their curvatures by at most κ (1/mm), both measured during preparation. At a minimum of the free-form
//! feature, the gradient of the canonical distance is then at most θ. Let λ be the smallest relative
//! curvature of a critical pair. If λ is clearly above κ, exactly one minimum lies near the pair, within
//! the distance θ / λ. If λ is clearly below −κ, no minimum lies near it.
//!
//! # Source
//! MATH §3 (closed forms), §8 (Newton).
//!
//! # Deviations
//! If λ decides neither, the pairs of leaves within 2 θ / |λ| of the critical pair are solved like those of
//! any free-form feature. All pairs of leaves are solved if the canonical features have a family of critical
//! pairs to within θ over their extent, or if Newton's method does not converge near the expected minimum.
//! Minima that the waves produce where the gradient of the canonical distance falls to θ without a zero are
//! not searched for, because such poses are in a range as narrow as θ. Critical pairs with no direction near
//! them in both polars are skipped unsolved ([`polar_range`]).
//!
//! A step of a simulator that accepts an error of gaps larger than the waves ([`Waves`](crate::query::Waves))
//! needs one minimum of a face and another feature next to each strict minimum of the canonical distance
//! (MATH §23, *Waves of splines*).
//!
//! Free-form edges that follow no canonical curve are solved by pairs of leaves, too. Skipped are pairs in
//! which the other feature follows a plane or a line, and the derivative of the distance to it differs from
//! zero by more than its deviation explains ([`open_pairs`]).

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
use crate::footpoint::trim::{foot_beside, is_in_trims};
use crate::query::{Candidate, Context};
use arrayvec::ArrayVec;
use feeler_geom::contact::SecondOrder;
use feeler_geom::skeleton::{Critical, Primitive, critical_pairs_between};
use feeler_geom::{Aabb, Curve, P2, P3, Rect};
use feeler_hierarchy::{AreaId, Feature};
use nalgebra::{Matrix1, SVector, Vector1, Vector2};

/// Factor by which the relative curvature λ of a critical pair must exceed the bound κ of the curvature
/// differences (see the module) for the pair to have exactly one minimum near it, or none. With a larger
/// value, more pairs of leaves are solved like those of other free-form features; with a smaller one, a
/// minimum due to the waves of a spline is missed.
const CURVATURE_FACTOR: f64 = 2.0;
/// Distance outside the parameter rectangle of an area that Newton's method may reach, as a fraction of
/// the width or height of the rectangle. A larger value wastes steps; a smaller one loses minima.
const RECT_MARGIN: f64 = 0.5;
/// Largest displacement of the minimum of the free-form features from the critical pair of the canonical
/// ones, in units of θ / λ (angle between normals over relative curvature; see the module). With a larger
/// value, duplicates have to be removed; with a smaller one, converged minima are rejected.
const MAX_DISPLACEMENT: f64 = 2.0;
/// Distance of a point from the box of an area, relative to the size of the box, up to which the foot of the
/// point is searched for in the area. A larger value takes more work; a smaller one loses feet.
const BOX_SLACK: f64 = 0.01;
/// Largest product of the distance of a critical pair (mm) and the bound κ (1/mm) of the curvature
/// differences (see the module) at which the second order of the pair is used. It is half of the
/// smallest eigenvalue of the Hessian of ½ distance² that counts as different from zero. With a larger
/// value, saddles count as minima; with a smaller one, all pairs of leaves are solved more often.
const MIN_ORDER: f64 = 5e-5;
/// Largest radius of the neighbourhood ([`Spot`]) of a flat critical pair in which minima are searched
/// for, as a fraction of the extent of the features; if a larger radius is needed, all pairs of leaves
/// are solved. A larger value searches in larger neighbourhoods; a smaller one solves all pairs of
/// leaves more often.
const MAX_SPOT_RADIUS: f64 = 0.25;

/// A feature of A or B that is canonical or follows a canonical one.
struct Shape {
    feature: Feature,
    /// Primitive of the canonical feature, in the frame of A.
    primitive: Primitive,
    /// Differences of the feature from the canonical one; `None` if it is canonical itself.
    near: Option<Near>,
}

/// Solves a pair of features by the canonical features that they follow. `group` are the pairs of areas of
/// the features. Pairs of areas that may contain further minima are added to `rest`. Unless at least one
/// feature follows a canonical one and the other is canonical or follows one, too, `rest` gets the pairs
/// that [`open_pairs`] does not exclude.
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

/// Copies pairs of areas of two features from `group` to `rest`, in their order. If one feature is an edge
/// that follows no canonical curve and the other follows a plane or a line, only pairs whose area of the
/// edge may have a minimum are copied. `areas` and `open` are scratch buffers.
///
/// At a minimum, the direction between the footpoints, d apart, is normal to the edge and, up to the angle
/// θ, to the plane or the line; a line itself may be displaced by the deviation δ. Along the edge, by its
/// arc length, the derivative of the distance to the plane is therefore at most θ there, and that of half
/// the squared distance to the line at most θ d + δ.
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
    // The objective is in the frame of the edge.
    let objective = Reduced::new(&near.primitive.transformed(ctx.pose_to_other(which.other())));
    // The tolerance of the filters is added. The factor 2 covers tangents between the samples that are
    // longer than at them.
    let angle = near.angle + ctx.tol.critical;
    let off =
        2.0 * if objective.squared { angle * ctx.reach() + near.deviation + ctx.tol.tol } else { angle };
    let body = ctx.body(which);
    let slack = body.data(Feature::Edge(edge)).deviation + ctx.tol.trim;
    open.clear();
    open.reserve(areas.len());
    curve::each_segment(body, &objective, (edge, areas), slack, &|_| false, &mut |area, _, derivatives| {
        if !derivatives.excludes_minimum(off) {
            open.push(area);
        }
    });
    rest.extend(group.iter().filter(|pair| open.binary_search(&of_edge(pair)).is_ok()));
}

/// Adds to `out` the pairs of areas of two features that may have a minimum; with `spots` (neighbourhoods of
/// flat critical pairs), only pairs whose areas both intersect one of them. `beside` is a scratch buffer.
fn areas_in(
    ctx: &Context<'_>,
    (fa, fb): (Feature, Feature),
    spots: Option<&[Spot]>,
    beside: &mut Beside,
    out: &mut Vec<AreaPair>,
) {
    // Spots near an area, each as one bit.
    let near = |body: &Body, area: AreaId, place: fn(&Spot) -> &P3| {
        spots.map_or(u16::MAX, |spots| {
            let bits =
                spots.iter().enumerate().map(|(k, z)| u16::from(z.intersects(body, area, place(z))) << k);
            bits.fold(0, |all, bit| all | bit)
        })
    };
    beside.of_b(ctx, fb, |j| near(ctx.b, j, |z| &z.p_b));
    for &i in ctx.a.areas_of(ctx.a.data(fa)) {
        let bits = near(ctx.a, i, |z| &z.p_a);
        if bits == 0 {
            continue;
        }
        let node_a = &ctx.a.tree()[ctx.a.leaf_of_area(i).index()];
        let first = out.len();
        let partners = beside.within_reach(ctx, node_a).iter().filter(|other| {
            let is_culled = |node_b| ctx.cull.is_some_and(|cull| cull.nodes(node_a, node_b).is_some());
            // Polyhedral cones are not tested: they exclude few further pairs and cost half a solve.
            bits & other.spots != 0 && !other.node.as_ref().is_some_and(is_culled)
        });
        out.extend(partners.map(|other| (i, other.area)));
        out[first..].sort_unstable();
    }
}

/// Areas of a feature of B, sorted by the position of their boxes along one axis.
#[derive(Debug, Default)]
pub(super) struct Beside {
    areas: Vec<PlacedArea>,
    /// Index of the axis of A's frame along which the centres of the boxes extend farthest.
    axis: usize,
    /// Upper bound (mm) of the reach of the areas beyond the centres of their boxes: radius and allowance.
    reach: f64,
}

/// An area of B in [`Beside`].
#[derive(Debug)]
struct PlacedArea {
    area: AreaId,
    /// The [`Spot`]s whose neighbourhood on B the area intersects (bit k for spot k; all bits without spots).
    spots: u16,
    /// Leaf of the area in the frame of A; `None` if the query does not cull pairs.
    node: Option<TreeNode>,
}

impl Beside {
    /// Replaces the areas by those of the feature `feature` of B for which `spots` is not 0.
    fn of_b(&mut self, ctx: &Context<'_>, feature: Feature, spots: impl Fn(AreaId) -> u16) {
        let all = ctx.b.areas_of(ctx.b.data(feature));
        self.areas.clear();
        self.areas.reserve(all.len());
        let placed = |&area: &AreaId| PlacedArea {
            area,
            spots: spots(area),
            node: ctx.cull.map(|cull| cull.placed(ctx.b, area)),
        };
        self.areas.extend(all.iter().map(placed).filter(|placed| placed.spots != 0));
        let centers =
            || self.areas.iter().filter_map(|placed| placed.node.as_ref()).map(|node| &node.obb.center);
        let bounds = Aabb::of_points(centers());
        self.axis = (bounds.max - bounds.min).imax();
        self.reach = 0.0;
        for node in self.areas.iter().filter_map(|placed| placed.node.as_ref()) {
            self.reach = self.reach.max(node.obb.radius() + f64::from(node.allowance.length));
        }
        let axis = self.axis;
        self.areas.sort_unstable_by(|x, y| center_along(x, axis).total_cmp(&center_along(y, axis)));
    }

    /// Areas whose boxes may be within reach of the box of the node `a` of A, and possibly others.
    fn within_reach(&self, ctx: &Context<'_>, a: &TreeNode) -> &[PlacedArea] {
        let Some(reach) = ctx.cull.and_then(|cull| cull.reach_of_boxes(a)) else { return &self.areas };
        let (center, reach) = (a.obb.center[self.axis], a.obb.radius() + reach + self.reach);
        let start = self.areas.partition_point(|b| center_along(b, self.axis) < center - reach);
        let end = self.areas.partition_point(|b| center_along(b, self.axis) <= center + reach);
        &self.areas[start..end]
    }
}

/// Coordinate (mm) of the centre of an area's box along an axis of A's frame; 0 without a leaf.
fn center_along(placed: &PlacedArea, axis: usize) -> f64 {
    placed.node.as_ref().map_or(0.0, |node| node.obb.center[axis])
}

/// Neighbourhood of a critical pair whose second order does not decide how many minima lie near it (a
/// flat one): two balls of equal radius that can contain footpoints of minima.
struct Spot {
    /// Footpoint of the critical pair on A, in the frame of A.
    p_a: P3,
    /// Footpoint of the critical pair on B, in the frame of B.
    p_b: P3,
    /// Largest distance (mm) of a minimum's footpoints from those of the critical pair.
    radius: f64,
}

impl Spot {
    /// Whether the box of an area intersects the neighbourhood of the footpoint `p`, both in the frame of
    /// `body`.
    fn intersects(&self, body: &Body, area: AreaId, p: &P3) -> bool {
        let obb = &body.node(body.leaf_of_area(area)).obb;
        let from = p - obb.center;
        (0..3).all(|k| obb.axes[k].dot(&from).abs() <= obb.half[k] + self.radius)
    }
}

/// Maximum number of critical pairs of two primitives, because each one is a bit of a mask.
const MAX_CRITICAL_PAIRS: usize = u16::BITS as usize;

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

/// Adds to `out` the minima near those critical pairs of the canonical features that clearly have exactly one
/// minimum of the actual features nearby. Returns the neighbourhoods of the flat critical pairs, which may
/// contain further minima; an empty list means that all minima have been added, up to ignored waves. `None`
/// if minima may be anywhere, so that all pairs of areas have to be solved.
fn decided(
    ctx: &Context<'_>,
    (a, b): (&Shape, &Shape),
    out: &mut Solved,
    stats: &mut Stats,
) -> Option<ArrayVec<Spot, MAX_CRITICAL_PAIRS>> {
    let off = |of: fn(&Near) -> f64| a.near.as_ref().map_or(0.0, of) + b.near.as_ref().map_or(0.0, of);
    let (deviation, angle, curvature) = (off(|n| n.deviation), off(|n| n.angle), off(|n| n.curvature));
    let extent = ctx.extent(a.feature, b.feature);
    stats.exact_solves += 1;
    let reach = ctx.d_max + deviation;
    let flat = ctx.tol.tol.max(deviation + angle * extent);
    let is_edge = |s: &Shape| matches!(s.feature, Feature::Edge(_));
    // Each critical pair of two edges occurs with both signs of normal and distance, in contact possibly
    // with one sign only. The second order is the same for both signs, so negative distances are skipped.
    let unsigned = is_edge(a) && is_edge(b);
    let depth = ctx.least - deviation;
    let range = if unsigned { [-flat, reach.max(-depth)] } else { [depth.min(-flat), reach] };
    let found = critical_pairs_between(&a.primitive, &b.primitive, range, flat, extent);
    // Change of the distance (mm), over a displacement by `extent`, below which the second order of a
    // canonical critical pair counts as zero. The curvatures of the actual features differ from the canonical
    // ones by at most `curvature`, so smaller changes do not determine the sign.
    let bend = CURVATURE_FACTOR * curvature * extent * extent + ctx.tol.tol;
    let order_of = |c: &Critical, threshold: f64| {
        order((a.feature, &a.primitive), (b.feature, &b.primitive), c, extent, threshold)
    };
    if found.family.is_some() || found.isolated.is_full() {
        let range = [depth.min(-flat) - deviation, reach.max(-depth)];
        // The second order decides across the family only: along it, the distance varies by at most `flat`, a
        // cosine of the angle.
        let may_be_minimum = |c: &Critical, radius: f64| {
            let along = polar_range::bend_along(flat, extent, radius);
            curvature * c.distance.abs() > MIN_ORDER
                || order_of(c, bend + along) != Some(SecondOrder::Indefinite)
        };
        let is_excluded = found.family.is_some()
            && ctx.cull.is_some()
            && !polar_range::may_hold_family(ctx, (a, b), range, &may_be_minimum);
        return is_excluded.then(ArrayVec::new);
    }
    // Two edges have no samples, which cover what the step changes along the waves.
    let ignores_waves = !unsigned && ctx.waves.include(a.near.as_ref(), b.near.as_ref());
    let mut spots = ArrayVec::new();
    for c in &found.isolated {
        if unsigned && c.distance < -ctx.tol.tol {
            continue;
        }
        let is_pressed = c.distance < ctx.tol.min_distance();
        let c = &Critical { distance: if is_pressed { c.distance } else { c.distance.max(0.0) }, ..*c };
        // The second order of a distance above this cannot be distinguished from zero.
        if curvature * c.distance > MIN_ORDER {
            return None;
        }
        let (nearby, min_eig) = match order_of(c, bend)? {
            SecondOrder::Indefinite => continue,
            SecondOrder::Strict { min_eig } => (Nearby::One, min_eig),
            SecondOrder::Semidefinite { min_eig } if ignores_waves => match order_of(c, ctx.tol.tol)? {
                SecondOrder::Indefinite => continue,
                SecondOrder::Strict { .. } => (Nearby::OneOfWaves, min_eig.abs()),
                SecondOrder::Semidefinite { .. } => (Nearby::Unknown, min_eig.abs()),
            },
            SecondOrder::Semidefinite { min_eig } => (Nearby::Unknown, min_eig.abs()),
        };
        let radius = MAX_DISPLACEMENT * angle / min_eig + deviation + ctx.tol.same;
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
        // At larger radii, the second order does not bound the gradient.
        let spot = || (radius <= MAX_SPOT_RADIUS * extent).then_some(Spot { p_a, p_b, radius });
        if nearby == Nearby::Unknown {
            spots.push(spot()?);
            continue;
        }
        let first = out.candidates.len();
        let expected = Expected { at: c, within: radius };
        // For an edge and a face, the signed distance from the face is minimised along the edge, whether the
        // edge or the face is canonical.
        let is_edge_on_face =
            |s: &Shape, o: &Shape| is_edge(s) && o.near.is_some() && matches!(o.feature, Feature::Face(_));
        let found = match (a.near.is_some(), b.near.is_some()) {
            (true, true) => both(ctx, (a, b), expected, out, stats),
            _ if is_edge_on_face(a, b) || is_edge_on_face(b, a) => both(ctx, (a, b), expected, out, stats),
            (true, false) => one(ctx, (Which::A, a), b, expected, out, stats),
            _ => one(ctx, (Which::B, b), a, expected, out, stats),
        };
        match nearby {
            Nearby::OneOfWaves if found.is_none() || leaves_trims(ctx, c, &out.candidates[first..]) => {
                out.candidates.truncate(first);
                spots.push(spot()?);
            }
            _ => found?,
        }
    }
    Some(spots)
}

/// Minima of the actual features near a critical pair of the canonical ones, by the second order of the pair.
#[derive(Clone, Copy, PartialEq)]
enum Nearby {
    /// Exactly one.
    One,
    /// One or several that differ by waves only ([`Waves`](crate::query::Waves)), so that one is enough.
    OneOfWaves,
    /// Any number.
    Unknown,
}

/// Whether a footpoint of a candidate is outside the trims of its feature, although that of the critical pair
/// `c` of the canonical features is inside or not known. Another minimum, separated from the candidate by
/// waves, can then be inside.
fn leaves_trims(ctx: &Context<'_>, c: &Critical, candidates: &[Candidate]) -> bool {
    let leaves = |which, feature, found: Option<P2>, expected: &P3| {
        let body = ctx.body(which);
        let is_inside = |uv| is_in_trims(body, feature, uv, &ctx.tol);
        let expected = |found| foot_beside(body, feature, &ctx.in_own(which, expected), found);
        found.is_some_and(|found| !is_inside(found) && expected(found).is_none_or(is_inside))
    };
    candidates.iter().any(|x| {
        leaves(Which::A, x.feature_a, x.hint_a, &c.p_a) || leaves(Which::B, x.feature_b, x.hint_b, &c.p_b)
    })
}

/// Returns the area of a feature that contains the foot nearest to the point `p` (frame of A), and the
/// unit-box parameters of that foot, which is approximate because it is computed on grids. `None` if the
/// point is farther from the box of each area than `within` (mm) plus the fraction [`BOX_SLACK`] of the
/// box.
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
        let slack = within + BOX_SLACK * obb.half.max();
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

/// A critical pair of the canonical features that has exactly one minimum of the actual features near it.
#[derive(Clone, Copy)]
struct Expected<'a> {
    at: &'a Critical,
    /// Largest distance (mm) of the footpoints of the minimum from those of the critical pair.
    within: f64,
}

/// Adds the minimum next to a critical pair of a free-form and a canonical feature; `which` is the body of
/// the free-form one. If no area of it is near the critical pair, adds nothing and returns `Some`. `None` if
/// Newton's method does not find the minimum there.
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
            let x = minimum(minimise(&mut eval, Vector2::from(params), RECT_MARGIN, goal, stats))?;
            let uv = at(rect, x[0], x[1]);
            check_distance(ctx, which, &surface.point(uv), &p, within)?;
            patch::report(ctx, &pair, (face, uv), false, out, stats);
        }
        Feature::Edge(edge) => {
            let along = &body.edge(edge).curve;
            let mut eval = |x: &Vector1<f64>| on_curve(&objective, along, rect, x, ctx.tol.eps);
            let x = minimum(minimise(&mut eval, Vector1::new(params[0]), RECT_MARGIN, goal, stats))?;
            let t = at(rect, x[0], 0.0).x;
            check_distance(ctx, which, &along.point(t), &p, within)?;
            curve::report(ctx, &pair, edge, t, out);
        }
        Feature::Vertex(_) => return None,
    }
    Some(())
}

/// Evaluates the objective at the point of `curve` with the unit-box parameter `x`, whose values from 0
/// to 1 are the range of u of `rect`. The derivatives are by `x`. `eps` (mm), the rounding error of a
/// footpoint, determines the rounding error of the value (`noise`). `None` where the objective has no
/// derivatives: see [`Reduced::probe`].
fn on_curve(objective: &Reduced, curve: &Curve, rect: &Rect, x: &Vector1<f64>, eps: f64) -> Option<Eval<1>> {
    let d = curve.derivs(at(rect, x[0], 0.0).x);
    let q = objective.probe(&d.p)?;
    let w = rect.u1 - rect.u0;
    Some(Eval {
        f: q.f,
        grad: Vector1::new(q.grad.dot(&d.d1) * w),
        hess: Matrix1::new((q.bending.along(&d.d1) + q.grad.dot(&d.d2)) * w * w),
        len: Vector1::new(d.d1.norm() * w),
        noise: patch::VALUE_ROUNDING * eps * if objective.squared { q.grad.norm() + eps } else { 1.0 },
    })
}

/// Adds the minimum next to a critical pair of two features, neither of which is a canonical face or a
/// vertex. If an area of either is missing near the critical pair, adds nothing and returns `Some`. `None` if
/// the minimum is not found there, or if an area has a pole.
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
    let (uv_a, uv_b) = free::descend(ctx, in_a, in_b, RECT_MARGIN, stats)?;
    check_distance(ctx, Which::A, &point(ctx, Which::A, in_a.0, uv_a), &c.p_a, within)?;
    check_distance(ctx, Which::B, &point(ctx, Which::B, in_b.0, uv_b), &c.p_b, within)?;
    free::report(ctx, (in_a.0, uv_a), (in_b.0, uv_b), false, out);
    Some(())
}

/// Returns the point at parameters `uv` of the feature of an area, in the solid's own frame.
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

/// Returns `Some` if the converged point `found` (in the solid's own frame) is within `2 · within` of the
/// expected point `p` (in the frame of A).
fn check_distance(ctx: &Context<'_>, which: Which, found: &P3, p: &P3, within: f64) -> Option<()> {
    ((ctx.in_a(which, found) - p).norm() <= 2.0 * within).then_some(())
}
