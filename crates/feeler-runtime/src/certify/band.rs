//! Proves that the solves have missed no contact: no critical pair at a distance within the tolerance `tol`
//! of the query.
//!
//! The search for crossings begins one tolerance inside the material, and minima with a free-form feature
//! come from solves that prove nothing. Solids without a crossing and without a minimum within the
//! tolerance are separated only if no pair of areas contains a critical pair within the tolerance.
//!
//! # Source
//! MATH §8, §15.
//!
//! # Deviations
//! Solves of edges count as proofs ([`is_proven`]). Two free-form faces whose solves find a minimum at a
//! distance above the tolerance are not searched, because nearly parallel patches need more cells than the
//! budget allows. A second, smaller minimum of the same two faces that the solves miss is not found then.

use super::{Job, KnownCandidates, certify_one};
use crate::accept::filter::filter;
use crate::api::contact::Stats;
use crate::api::options::QueryOptions;
use crate::body::FeatureData;
use crate::body::ids::AreaPair;
use crate::body::side::Which;
use crate::body::tree::{SolveClass, TreeNode};
use crate::cull::node_pair::CullContext;
use crate::query::{Candidate, Context};
use crate::solve::{Solved, free, is_screwed, solve_waves};
use feeler_geom::skeleton::{Primitive, range_over_box};
use feeler_geom::{Obb, P3};
use feeler_hierarchy::{AreaId, Feature};

/// How two areas are shown to be apart by more than the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separation {
    /// By a result of the search for crossings.
    Known,
    /// By the difference of the patches of two free-form areas, which is computed for it.
    ByDifference,
    /// By a search for points of a free-form area at the distance `tol` from a canonical feature.
    ByLevel,
}

/// Two features between which a contact is not excluded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenContact {
    /// Features of A and B.
    pub features: [Feature; 2],
    /// Point near the possible contact of the two features, in the frame of A: the centre of the box of
    /// the smaller one of two areas.
    pub p: P3,
}

/// Scratch buffers and result of [`missed_contacts`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Pairs of areas (of A and of B) that may be in contact.
    near: Vec<AreaPair>,
    /// Scratch buffer: critical pairs of one pair of free-form faces, or of features with ignored waves.
    of_faces: Solved,
    /// Features between which the last search has not excluded a contact.
    pub open: Vec<OpenContact>,
}

/// Searches all pairs of areas with a free-form feature for critical pairs at distances within the
/// tolerance `tol` of the query. They are added to the candidates in `solved`; features that remain
/// undecided are stored in [`Scratch::open`]. `pairs` are the pairs of areas that were solved, sorted by
/// features. `are_apart` returns whether two areas are shown to be apart by more than `tol`.
pub(crate) fn missed_contacts(
    ctx: &Context<'_>,
    pairs: &[AreaPair],
    are_apart: &mut impl FnMut(AreaPair, Separation) -> bool,
    solved: &mut Solved,
    scratch: &mut Scratch,
) {
    let Scratch { near, open, of_faces } = scratch;
    open.clear();
    near.clear();
    let d_max = ctx.tol.tol;
    let options = QueryOptions { quasi_angle: ctx.quasi_angle, ..QueryOptions::within(d_max) };
    let cull = CullContext::new(&ctx.pose_ab, &ctx.tol, &options);
    let ctx = &Context { d_max, cull: Some(cull), ..*ctx };
    of_faces.clear();
    solve_waves(ctx, pairs, of_faces, &mut Stats::default());
    solved.candidates.extend(of_faces.candidates.iter().filter(|c| c.distance <= d_max));
    areas_in_contact(ctx, &cull, pairs, near);
    near.retain(|&pair| !are_apart(pair, Separation::Known));
    // The solves have found no candidate within the tolerance.
    let known = KnownCandidates { candidates: &[], is_minimum: &[], of_features: &|_, _| &[] };
    let features = |&(i, j): &AreaPair| (ctx.a.area(i).feature, ctx.b.area(j).feature);
    for group in near.chunk_by(|p, q| features(p) == features(q)) {
        let are_free = are_free_faces(ctx, features(&group[0]));
        if are_free && has_minimum(ctx, group, &solved.candidates, of_faces) {
            continue;
        }
        for &pair in group {
            if are_free && are_apart(pair, Separation::ByDifference) {
                continue;
            }
            let (job, partner) = job_of(ctx, pair);
            let result = certify_one(ctx, &job, &[partner], &known);
            // At a tip, where the normals of a patch are not bounded, its distance is.
            let is_undecided = result.outcome.undecided > 0 && result.found.is_empty();
            if is_undecided && !are_apart(pair, Separation::ByLevel) {
                open.push(open_contact(ctx, pair));
            }
            solved.candidates.extend(result.found);
        }
    }
}

/// Maximum distance, relative to the size of the larger solid, up to which minima of two free-form faces
/// are searched for. If they exist and all are above the tolerance, the faces count as apart without a
/// proof. A larger value takes more solves before a proof; a smaller one takes proofs that are not
/// needed.
const MAX_MINIMUM_DISTANCE: f64 = 1e-2;

/// Whether both features are faces without a closed form.
fn are_free_faces(ctx: &Context<'_>, (fa, fb): (Feature, Feature)) -> bool {
    let is_free = |data: &FeatureData| matches!(data.feature, Feature::Face(_)) && data.primitive.is_none();
    is_free(ctx.a.data(fa)) && is_free(ctx.b.data(fb))
}

/// Whether two features have a minimum and all their minima are at distances above the tolerance. The
/// minima are those among the candidates `known` of the query or, if there are none, those of new solves
/// of `pairs` up to the distance [`MAX_MINIMUM_DISTANCE`].
fn has_minimum(ctx: &Context<'_>, pairs: &[AreaPair], known: &[Candidate], solved: &mut Solved) -> bool {
    let wide = &Context { d_max: MAX_MINIMUM_DISTANCE * ctx.tol.size, cull: None, ..*ctx };
    let Some(&(i, j)) = pairs.first() else { return false };
    let (fa, fb) = (ctx.a.area(i).feature, ctx.b.area(j).feature);
    solved.candidates.clear();
    solved.candidates.extend(known.iter().filter(|c| (c.feature_a, c.feature_b) == (fa, fb)));
    if solved.candidates.is_empty() {
        for &(i, j) in pairs {
            free::solve(wide, i, j, solved, &mut Stats::default());
        }
    }
    let accepted = solved.candidates.iter().filter_map(|c| filter(wide, c));
    let least = accepted.map(|x| x.distance).min_by(f64::total_cmp);
    least.is_some_and(|d| d > ctx.tol.tol)
}

/// Returns the job that certifies a pair of areas, and the only entry of the list of areas to which the
/// `partners` of the job refer: the area of the canonical feature. For two free-form areas, that entry
/// is not used.
fn job_of(ctx: &Context<'_>, (i, j): AreaPair) -> (Job, AreaId) {
    let (fa, fb) = (ctx.a.area(i).feature, ctx.b.area(j).feature);
    let reduced =
        |free: Which, area: AreaId, feature: Feature| Job::Reduced { free, area, feature, partners: 0..1 };
    if ctx.a.data(fa).primitive.is_some() {
        (reduced(Which::B, j, fa), i)
    } else if ctx.b.data(fb).primitive.is_some() {
        (reduced(Which::A, i, fb), j)
    } else {
        (Job::Free(i, j), j)
    }
}

/// Collects in `out` the pairs of areas with a free-form feature whose boxes and cones do not exclude a
/// contact. Pairs of features whose solves count as proofs are omitted. `pairs` are the pairs of areas
/// that were solved, sorted by features.
fn areas_in_contact(ctx: &Context<'_>, cull: &CullContext, pairs: &[AreaPair], out: &mut Vec<AreaPair>) {
    let features = |&(i, j): &AreaPair| (ctx.a.area(i).feature, ctx.b.area(j).feature);
    for group in pairs.chunk_by(|p, q| features(p) == features(q)) {
        let (fa, fb) = features(&group[0]);
        let (of_a, of_b) = (ctx.a.data(fa), ctx.b.data(fb));
        // Flanks of threads are solved section by section, because cells of nearly parallel patches decide
        // nothing.
        if is_proven(of_a, of_b) || is_screwed(ctx, group[0]) {
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
            // `group` contains one pair of areas only, which stands for all of them.
            for &j in ctx.b.areas_of(of_b) {
                let node = cull.placed(ctx.b, j);
                let all = ctx.a.areas_of(of_a).iter().map(|&i| (i, j));
                out.extend(all.filter(|&pair| may_touch(pair, &node)));
            }
        } else {
            out.extend(group.iter().copied().filter(|&(i, j)| may_touch((i, j), &cull.placed(ctx.b, j))));
        }
    }
}

/// Whether the solve of a pair of features counts as a proof by itself. This holds for two features that
/// are canonical or follow a canonical one, because closed forms find their minima; those that the query
/// ignores are solved by [`solve_waves`]. It also holds if one feature is an edge and not both are free-form
/// edges, because minima along an edge are searched for by bounds. For edges it is a convention: short
/// intervals are tested by the cubic through the derivatives at their ends.
fn is_proven(a: &FeatureData, b: &FeatureData) -> bool {
    let is_closed = |f: &FeatureData| matches!(f.form(), SolveClass::Canonical | SolveClass::Near);
    let is_edge = |f: &FeatureData| matches!(f.feature, Feature::Edge(_));
    let are_free_edges = is_edge(a) && is_edge(b) && a.primitive.is_none() && b.primitive.is_none();
    is_closed(a) && is_closed(b) || (is_edge(a) || is_edge(b)) && !are_free_edges
}

/// Returns the features of a pair of areas, and a point near both.
fn open_contact(ctx: &Context<'_>, (i, j): AreaPair) -> OpenContact {
    let features = [ctx.a.area(i).feature, ctx.b.area(j).feature];
    let (a, b) = (&ctx.a.node(ctx.a.leaf_of_area(i)).obb, &ctx.b.node(ctx.b.leaf_of_area(j)).obb);
    // The smaller area is nearer to the contact.
    let p = if a.radius() <= b.radius() { a.center } else { ctx.pose_ab * b.center };
    OpenContact { features, p }
}
