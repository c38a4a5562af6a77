//! Step (b) of BREP Figure 4.1: exact critical pairs of two features, before trims and polars. For
//! canonical features, only those that may be minima are reported.
//!
//! | | canonical | free curve | Bézier patch |
//! |---|---|---|---|
//! | canonical edge | [`canonical`]: closed form | [`curve`]: 1 unknown | [`edge_face`]: 1 unknown |
//! | other canonical feature | [`canonical`] | [`curve`]: 1 unknown | [`patch`]: 2 unknowns |
//! | free curve | | [`free`]: 2 unknowns | [`edge_face`]: 1 unknown |
//! | Bézier patch | | | [`free`]: 2 unknowns |
//!
//! An edge that is far from a patch, compared with the size of the patch, is solved like other canonical
//! features: by [`patch`].
//!
//! With a face, the unknown distance is signed ([`signed`] and [`reduced`]): contact at distance 0 is as
//! regular as any other distance, and penetration continues it.
//!
//! Patches that follow a canonical surface are first solved by its closed form ([`near`]).
//!
//! # Source
//! BREP §4.3.1, Table 4.1; MATH §3, §8.

pub(crate) mod canonical;
pub(crate) mod curve;
mod edge_edge;
mod edge_face;
pub(crate) mod free;
mod helical;
mod leaf;
pub(crate) mod near;
pub(crate) mod newton;
pub(crate) mod patch;
pub(crate) mod reduced;
mod signed;

use crate::api::contact::Stats;
use crate::api::options::QueryOptions;
use crate::body::Body;
use crate::body::ids::AreaPair;
use crate::body::samples::EdgeSegment;
use crate::body::side::Which;
use crate::body::tree::SolveClass;
use crate::footpoint::bands::faces_away;
use crate::query::{Accepted, Candidate, Context, FamilyPair, Waves, sort_by_features};
use feeler_geom::obb::PoseMatrix;
use feeler_geom::skeleton::{Primitive, gradient_over_ball, signed_distance_form};
use feeler_geom::{Aabb, P2, P3, V3};
use feeler_hierarchy::{AreaId, EdgeId, FaceId, Feature};
use rayon::prelude::*;

/// Output and scratch of the solves.
#[derive(Debug, Default)]
pub(crate) struct Solved {
    pub candidates: Vec<Candidate>,
    pub families: Vec<FamilyPair>,
    /// Minima of pairs of features that one screw motion maps to themselves, such as the flanks of a
    /// bolt and its nut: isolated minima, and samples of conformal sets. A pair of features can have
    /// several. Unlike `candidates`, they have passed the tests of trims and polars.
    pub orbits: Vec<Accepted>,
    helical: helical::Scratch,
    /// Scratch buffer of [`sort_by_features`].
    keys: Vec<u128>,
    /// Scratch buffer: areas of one feature, in ascending order.
    areas: Vec<AreaId>,
    /// Scratch buffer: areas of a free-form edge that may have a minimum.
    open: Vec<AreaId>,
    /// Scratch buffer: pairs of areas of one pair of features that remain for [`solve_areas`], because
    /// the closed forms do not decide all areas of the two features.
    rest: Vec<AreaPair>,
    /// Scratch buffer: areas of a feature of B near critical pairs of canonical features.
    beside: near::Beside,
    /// Scratch buffer: pairs of areas of two free-form edges that may have a common perpendicular.
    along: Vec<AreaPair>,
}

impl Solved {
    pub(crate) fn clear(&mut self) {
        self.candidates.clear();
        self.families.clear();
        self.orbits.clear();
    }

    fn append(&mut self, mut part: Self) {
        self.candidates.append(&mut part.candidates);
        self.families.append(&mut part.families);
        self.orbits.append(&mut part.orbits);
    }
}

/// Number of pairs of free-form areas that one thread takes at a time: some tens of microseconds of work.
/// A larger number balances threads worse; a smaller one takes more synchronization.
const BATCH: usize = 16;
/// Minimum number of pairs of areas for which a query uses several threads. A larger number leaves threads
/// idle; a smaller one takes more synchronization than it saves.
const MIN_PARALLEL: usize = 64;

/// Computes the critical pairs of all pairs of areas, and replaces the results in `out`. `pairs` is sorted by
/// features and deduplicated here.
///
/// The batches of a parallel query, and the order in which their results are joined, do not depend on the
/// number of threads.
pub(crate) fn solve_all(
    ctx: &Context<'_>,
    pairs: &mut Vec<AreaPair>,
    options: &QueryOptions,
    out: &mut Solved,
    stats: &mut Stats,
) {
    out.clear();
    sort_by_features(ctx, Which::A, pairs, &mut out.keys);
    let together = options.diagnostics().savings.supermaximal;
    // Certificates and brute force support isolated minima only.
    let screws = together && !options.certified && ctx.cull.is_some();
    let together = Together { features: together, screws, loads: options.load_bearing };
    let features = |&(i, j): &AreaPair| (ctx.a.feature_of(i), ctx.b.feature_of(j));
    let groups = pairs.chunk_by(|p, q| together.features && features(p) == features(q));
    if options.parallel && pairs.len() >= MIN_PARALLEL {
        let mut batches: Vec<&[AreaPair]> = Vec::new();
        for group in groups {
            stats.effort.feature_pairs += 1;
            // Only pairs of free-form areas are solved one by one.
            let one_by_one = both_free(ctx, group[0])
                && !(together.features && is_solved_whole(ctx, group[0]))
                && !(together.screws && is_screwed(ctx, group[0]));
            batches.extend(group.chunks(if one_by_one { BATCH } else { group.len() }));
        }
        let solved: Vec<(Solved, Stats)> = batches
            .par_iter()
            .map(|batch| {
                let mut part = (Solved::default(), Stats::default());
                solve_group(ctx, batch, together, &mut part.0, &mut part.1);
                part
            })
            .collect();
        for (part, counted) in solved {
            out.append(part);
            stats.add(&counted);
        }
    } else {
        for group in groups {
            stats.effort.feature_pairs += 1;
            solve_group(ctx, group, together, out, stats);
        }
    }
    out.families.dedup_by_key(|f| (f.feature_a, f.feature_b));
    stats.effort.candidates += out.candidates.len() as u64;
    // Another pass over the same poses may solve more pairs.
    out.candidates.reserve(out.candidates.len());
    out.families.reserve(out.families.len());
}

/// Adds to `out` the critical pairs of those features in `pairs`, pairs of areas sorted by features, some of
/// whose minima the query ignores because only waves separate them ([`Waves`]). This search includes them.
pub(crate) fn solve_waves(ctx: &Context<'_>, pairs: &[AreaPair], out: &mut Solved, stats: &mut Stats) {
    let exact = Context { waves: Waves::NONE, ..*ctx };
    let features = |&(i, j): &AreaPair| (ctx.a.feature_of(i), ctx.b.feature_of(j));
    for group in pairs.chunk_by(|p, q| features(p) == features(q)) {
        let (i, j) = group[0];
        let near = |body: &Body, area: AreaId| body.data(body.area(area).feature).near;
        if ctx.waves.include(near(ctx.a, i).as_ref(), near(ctx.b, j).as_ref()) {
            solve_group(&exact, group, Together { features: true, screws: false, loads: false }, out, stats);
        }
    }
}

fn both_free(ctx: &Context<'_>, (i, j): AreaPair) -> bool {
    let free = |body: &Body, area: AreaId| body.data(body.area(area).feature).primitive.is_none();
    free(ctx.a, i) && free(ctx.b, j)
}

/// Whether the features of two areas have types for which one computation finds all minima of both
/// features, so that pairs of their areas need not be solved separately.
fn is_solved_whole(ctx: &Context<'_>, (i, j): AreaPair) -> bool {
    ctx.a.form_of(i).solved_whole_with(ctx.b.form_of(j))
}

/// Options of a query that decide whether all pairs of areas of two features are solved by one
/// computation.
#[derive(Clone, Copy)]
struct Together {
    /// Whether one computation solves two features as wholes if their types allow that; otherwise each
    /// pair of their areas is solved separately.
    features: bool,
    /// Whether two features that one screw motion maps to themselves are solved together along their orbits.
    screws: bool,
    /// Whether two features that are solved along their orbits get samples of nearly conformal sets, too.
    loads: bool,
}

/// Whether the features of two areas, at least one of them a face, are invariant under nearly the same
/// screw motion at the current pose, such as the threads of a bolt and its nut. Their minima are then
/// solved section by section. The limits are those of [`helical::is_pair`].
pub(crate) fn is_screwed(ctx: &Context<'_>, (i, j): AreaPair) -> bool {
    helical::is_pair(ctx, ctx.a.area(i).feature, ctx.b.area(j).feature)
}

/// Solves `group`, pairs of areas that belong to one pair of features.
fn solve_group(
    ctx: &Context<'_>,
    group: &[AreaPair],
    together: Together,
    out: &mut Solved,
    stats: &mut Stats,
) {
    let ctx = &ctx.of_areas(group[0]);
    if together.screws && is_screwed(ctx, group[0]) {
        let (i, j) = group[0];
        let features = (ctx.a.area(i).feature, ctx.b.area(j).feature);
        helical::solve(ctx, features, together.loads, out, stats);
        return;
    }
    let mut rest = std::mem::take(&mut out.rest);
    rest.clear();
    if !together.features {
        rest.extend_from_slice(group);
    } else if let Some(free) = free_edge(ctx, group[0]) {
        let (i, j) = group[0];
        match free {
            Which::A => rest.extend(areas_of(ctx.a, i).iter().map(|&i| (i, j))),
            Which::B => rest.extend(areas_of(ctx.b, j).iter().map(|&j| (i, j))),
        }
    } else {
        near::solve(ctx, group, &mut rest, out, stats);
    }
    if !rest.is_empty() {
        solve_areas(ctx, &rest, out, stats);
    }
    out.rest = rest;
}

/// Returns the body whose feature is a free-form edge of few areas that follows no canonical curve, if the
/// other feature is canonical. All areas of such an edge are solved together. `None` for other pairs.
fn free_edge(ctx: &Context<'_>, (i, j): AreaPair) -> Option<Which> {
    match (ctx.a.form_of(i), ctx.b.form_of(j)) {
        (SolveClass::FreeEdge, SolveClass::Canonical) => Some(Which::A),
        (SolveClass::Canonical, SolveClass::FreeEdge) => Some(Which::B),
        _ => None,
    }
}

fn areas_of(body: &Body, area: AreaId) -> &[AreaId] {
    body.areas_of(body.data(body.area(area).feature))
}

/// Solves `group`, pairs of areas that belong to one pair of features, by the method for the types of the
/// two features.
fn solve_areas(ctx: &Context<'_>, group: &[AreaPair], out: &mut Solved, stats: &mut Stats) {
    let (fa, fb) = (ctx.a.area(group[0].0).feature, ctx.b.area(group[0].1).feature);
    let (pa, pb) = (ctx.a.data(fa).primitive, ctx.primitive(Which::B, fb));
    let is_free_face = |f: Feature, p: &Option<Primitive>| matches!(f, Feature::Face(_)) && p.is_none();
    let is_edge = |f: Feature| matches!(f, Feature::Edge(_));
    if is_edge(fa) && is_free_face(fb, &pb) {
        let primitive = pa.map(|pa| pa.transformed(&ctx.pose_ba));
        edge_and_face(ctx, (Which::A, primitive.as_ref()), group, out, stats);
        return;
    }
    if is_edge(fb) && is_free_face(fa, &pa) {
        edge_and_face(ctx, (Which::B, pb.as_ref()), group, out, stats);
        return;
    }
    match (pa, pb) {
        (Some(pa), Some(pb)) => {
            stats.exact_solves += 1;
            canonical::solve(ctx, (fa, &pa), (fb, &pb), out);
        }
        (Some(pa), None) => {
            // Solved in the frame of the free-form feature, so that its geometry is evaluated as stored.
            let pa = pa.transformed(&ctx.pose_ba);
            let mut areas = std::mem::take(&mut out.areas);
            areas.clear();
            areas.extend(group.iter().map(|p| p.1));
            areas.sort_unstable();
            areas.dedup();
            reduced_solves(ctx, (fa, &pa), Which::B, &areas, out, stats);
            out.areas = areas;
        }
        (None, Some(pb)) => {
            // The group is sorted by A's area already.
            let mut areas = std::mem::take(&mut out.areas);
            areas.clear();
            areas.extend(group.iter().map(|p| p.0));
            areas.dedup();
            reduced_solves(ctx, (fb, &pb), Which::A, &areas, out, stats);
            out.areas = areas;
        }
        (None, None) if is_edge(fa) && is_edge(fb) => {
            let mut along = std::mem::take(&mut out.along);
            edge_edge::open_pairs(ctx, group, &mut along);
            for &(i, j) in &along {
                stats.exact_solves += 1;
                free::solve(ctx, i, j, out, stats);
            }
            out.along = along;
        }
        (None, None) => {
            for &(i, j) in group {
                stats.exact_solves += 1;
                free::solve(ctx, i, j, out, stats);
            }
        }
    }
}

/// Distance between a canonical edge and a patch, as a multiple of the patch's [`Grid::radius`] (about a
/// fifth of its side), from which on points of the patch are searched instead of points of the edge. With a
/// smaller value, the distance may vary within the grid of the patch; with a larger one, more long edges are
/// divided into intervals as short as a small patch.
///
/// [`Grid::radius`]: crate::body::samples::Grid::radius
const REMOTE_DISTANCE: f64 = 16.0;

/// Solves `group`, pairs of areas of an edge of the body `which` and a free-form face of the other one. The
/// primitive of a canonical edge is in the frame of the face's body.
///
/// Only at positive distances, a minimum of the signed distance from the patch along the edge is one of the
/// distance from the edge over the patch. An edge that may be pressed into the patch is therefore not remote.
fn edge_and_face(
    ctx: &Context<'_>,
    (which, primitive): (Which, Option<&Primitive>),
    group: &[AreaPair],
    out: &mut Solved,
    stats: &mut Stats,
) {
    let other = which.other();
    let areas = |&(i, j): &AreaPair| if which == Which::A { (i, j) } else { (j, i) };
    let objective = primitive.map(reduced::Reduced::new);
    for (k, pair) in group.iter().enumerate() {
        let (of_edge, of_face) = areas(pair);
        let remote = primitive.zip(objective.as_ref()).filter(|(primitive, _)| {
            let body = ctx.body(other);
            let node = &body.tree()[body.leaf_of_area(of_face).index()];
            let distance =
                signed_distance_form(primitive, &node.obb.center).map_or(0.0, |form| form.value.abs());
            let reach = node.obb.radius() + f64::from(node.allowance.length);
            distance > REMOTE_DISTANCE * body.grid_of(of_face).radius && distance - reach > -ctx.least
        });
        let (Some((_, objective)), Feature::Face(face)) = (remote, ctx.body(other).area(of_face).feature)
        else {
            edge_face::solve(ctx, which, (of_edge, of_face), out, stats);
            continue;
        };
        // The primitive covers all areas of the edge.
        if group[..k].iter().all(|earlier| areas(earlier).1 != of_face) {
            let canonical = ctx.body(which).area(of_edge).feature;
            stats.exact_solves += 1;
            patch::solve(
                ctx,
                &ReducedPair { canonical, objective, free: other },
                (face, of_face),
                out,
                stats,
            );
        }
    }
}

/// Solves a canonical feature, given with its primitive, against areas of one free-form feature of the body
/// `free`. The primitive is in the frame of that body; `areas` are in ascending order.
fn reduced_solves(
    ctx: &Context<'_>,
    (feature, primitive): (Feature, &Primitive),
    free: Which,
    areas: &[AreaId],
    out: &mut Solved,
    stats: &mut Stats,
) {
    let Some(&first) = areas.first() else { return };
    let body = ctx.body(free);
    let own = body.area(first).feature;
    let reduced = ReducedSolve::new(ctx, (feature, primitive), (free, own));
    match own {
        Feature::Edge(e) => reduced.edge(e, areas, out, stats),
        Feature::Face(f) => reduced.face(f, areas, out, stats),
        Feature::Vertex(_) => {}
    }
}

/// Shared data of the solves of a canonical feature against the areas of one free-form feature.
struct ReducedSolve<'a> {
    ctx: &'a Context<'a>,
    /// The canonical feature.
    feature: Feature,
    /// Primitive of the canonical feature, in the frame of the body `free`.
    primitive: &'a Primitive,
    /// Function that is minimised over the free-form feature: the signed distance from `primitive`, or
    /// half the squared distance.
    objective: reduced::Reduced,
    /// Body of the free-form feature.
    free: Which,
    /// Largest deviation (mm) of the free-form feature: of the trims of a face, or of the spans of an
    /// edge.
    deviation: f64,
    /// Extent (mm) of the free-form feature.
    extent: f64,
    /// Box of the canonical feature, inflated by the reach of the query, in the frame of this feature's
    /// body. Points outside it are out of reach of the feature.
    bounds: Aabb,
    /// Maps coordinates of the body `free` to those of the other body.
    to_other: PoseMatrix,
}

impl<'a> ReducedSolve<'a> {
    fn new(
        ctx: &'a Context<'a>,
        (feature, primitive): (Feature, &'a Primitive),
        (free, own): (Which, Feature),
    ) -> Self {
        let (own, other) = (ctx.body(free).data(own), ctx.body(free.other()).data(feature));
        let open = other.deviation + own.deviation + ctx.tol.tol;
        Self {
            ctx,
            feature,
            primitive,
            objective: reduced::Reduced::new(primitive),
            free,
            deviation: own.deviation,
            extent: own.extent,
            bounds: other.bounds.inflated(ctx.reach() + 2.0 * ctx.tol.same + open),
            to_other: PoseMatrix::from(ctx.pose_to_other(free)),
        }
    }

    fn pair(&self) -> ReducedPair<'_> {
        ReducedPair { canonical: self.feature, objective: &self.objective, free: self.free }
    }

    /// Whether no point of a ball (coordinates of the body `free`, mm) is within reach of the canonical
    /// feature.
    fn is_far(&self, center: &P3, radius: f64) -> bool {
        let is_outside = || !self.bounds.inflated(radius).contains(&self.to_other.point(center));
        self.ctx.cull.is_some() && radius.is_finite() && is_outside()
    }

    /// Whether it is proved that an area of the free-form feature, which lies in the ball of radius
    /// `reach` (mm) about `center`, contains no minimum. The proof is that no polar of the area contains
    /// the direction opposite to the gradient of the distance, or that the distances are out of range.
    /// `around` contains the distance at the centre, the gradient there, and the spread of the gradient
    /// over the ball, if they are known. A signed distance changes by at most the displacement, inside
    /// and outside a solid. The distance from an edge or a vertex has no sign: in a contact that is pressed
    /// into the other solid, the direction is that of the gradient.
    fn has_no_minimum(&self, area: AreaId, center: &P3, reach: f64, around: Option<(f64, V3, f64)>) -> bool {
        let Self { ctx, primitive, objective, free, extent, .. } = self;
        let turned = around.filter(|_| ctx.cull.is_some());
        let value = || Some(signed_distance_form(primitive, center)?.value);
        let face_away = |(distance, gradient, spread): (f64, V3, f64)| {
            let faces_away = |direction| faces_away(ctx, (ctx.body(*free), area), &direction, spread);
            let may_be_pressed = objective.squared && distance - reach <= -ctx.least;
            faces_away(gradient) && (!may_be_pressed || faces_away(-gradient))
        };
        turned.is_some_and(face_away)
            || around
                .map(|g| g.0)
                .or_else(value)
                .is_some_and(|d| d - reach > ctx.d_max || d + reach < ctx.least.min(-extent))
    }

    fn edge(&self, edge: EdgeId, areas: &[AreaId], out: &mut Solved, stats: &mut Stats) {
        let Self { ctx, objective, free, .. } = self;
        let body = ctx.body(*free);
        let is_far = |area: &AreaId| {
            let obb = &body.tree()[body.leaf_of_area(*area).index()].obb;
            self.is_far(&obb.center, obb.radius())
        };
        // Segments are computed on demand, so they are not computed for edges that are out of reach.
        if !body.has_segments(edge) && areas.iter().all(is_far) {
            return;
        }
        let slack = self.deviation + ctx.tol.trim;
        let is_out = |segment: &EdgeSegment| self.is_far(&segment.middle.p, segment.radius);
        curve::each_segment(
            body,
            objective,
            (edge, areas),
            slack,
            &is_out,
            &mut |area, segment, derivatives| {
                if derivatives.excludes_minimum(0.0) {
                    return;
                }
                let (center, reach) = (&segment.middle.p, segment.radius + ctx.tol.tol);
                let around = gradient_over_ball(self.primitive, center, reach);
                if !self.has_no_minimum(area, center, reach, around) {
                    stats.exact_solves += 1;
                    curve::solve(ctx, &self.pair(), derivatives, (edge, area), out);
                }
            },
        );
    }

    fn face(&self, face: FaceId, areas: &[AreaId], out: &mut Solved, stats: &mut Stats) {
        let Self { ctx, free, .. } = self;
        let body = ctx.body(*free);
        for &area in areas {
            let obb = &body.tree()[body.leaf_of_area(area).index()].obb;
            let radius = obb.radius();
            if self.is_far(&obb.center, radius) {
                continue;
            }
            let reach = radius + ctx.tol.tol;
            let around = gradient_over_ball(self.primitive, &obb.center, reach);
            if !self.has_no_minimum(area, &obb.center, reach, around) {
                stats.exact_solves += 1;
                patch::solve(ctx, &self.pair(), (face, area), out, stats);
            }
        }
    }
}

/// A canonical feature of one body, and the body whose free-form feature it is solved against.
#[derive(Clone, Copy)]
pub(crate) struct ReducedPair<'a> {
    pub canonical: Feature,
    /// Function that is minimised over the free-form feature: the signed distance from the canonical
    /// feature, or half the squared distance, in the frame of the body `free`.
    pub objective: &'a reduced::Reduced,
    /// Body of the free-form feature.
    pub free: Which,
}

/// A point of a free-form feature and its foot on the canonical feature, in the frame of the free-form
/// feature's body.
#[derive(Clone, Copy)]
pub(crate) struct FreePoint {
    /// The free-form feature.
    pub feature: Feature,
    /// Parameters of `p` on the free-form feature.
    pub uv: P2,
    /// Point of the free-form feature.
    pub p: P3,
    /// Footpoint on the canonical feature.
    pub foot: P3,
    /// Unit direction out of the canonical feature's solid at `foot`; at a positive distance it points
    /// from `foot` to `p`.
    pub n: V3,
}

/// Creates the candidate of a point of a free-form feature and its foot on the canonical one, in the frame
/// of A.
pub(crate) fn candidate_of(
    ctx: &Context<'_>,
    pair: &ReducedPair<'_>,
    point: &FreePoint,
    undecided: bool,
) -> Candidate {
    let canonical = pair.canonical;
    let FreePoint { feature, uv, p, foot, n } = *point;
    match pair.free {
        Which::A => Candidate {
            feature_a: feature,
            feature_b: canonical,
            p_a: p,
            p_b: foot,
            n: -n,
            distance: (p - foot).dot(&n),
            hint_a: Some(uv),
            hint_b: None,
            undecided,
        },
        Which::B => Candidate {
            feature_a: canonical,
            feature_b: feature,
            p_a: ctx.pose_ab * foot,
            p_b: ctx.pose_ab * p,
            n: ctx.pose_ab * n,
            distance: (p - foot).dot(&n),
            hint_a: None,
            hint_b: Some(uv),
            undecided,
        },
    }
}
