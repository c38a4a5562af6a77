//! Proofs that the solves have found every minimum: the certified mode.
//!
//! Culling uses bounds, and pairs of canonical features have closed forms. Solves with a free-form feature
//! start Newton's method from grids, which proves nothing. This module searches every such pair of areas
//! by branch and bound, after the solves. A cell is a box in the space of the unknown parameters. It is
//! dropped if distance, directions, trims, the equations of a critical pair or the second order exclude a
//! minimum in it. It is accepted if it contains at most one critical pair and the solver has found that
//! pair. Minima that the solver missed are added.
//!
//! # Source
//! MATH §8 (Krawczyk tests in the reduced unknowns); BREP §1.5.1.3, conclusion.
//!
//! # Guarantees
//! A pair of areas that is not undecided has no local minimum within `d_max` other than the candidates.
//! There are two exceptions: two minima closer than `Tolerances::same` count as one, and minima beyond the
//! borders of an area and its neighbours, which only the tolerances of trims accept, can be missed. Bounds
//! are those of exact arithmetic, widened by explicit terms for rounding. Derivatives are widened by a
//! relative 1e-13 and the rounding of a footpoint (`Tolerances::eps`, some hundred operations on the
//! coordinates, of which evaluation needs fewer), and so is every sum; other values are rounded outwards
//! by a few ulps.
//!
//! # Deviations
//! - Bounds are Taylor forms with balls around third derivatives instead of intervals: on cells they are
//!   tighter and cheaper, with one evaluation each.
//! - If one of two free-form features is a face, the equations are regular at distance 0 (`free`), so that
//!   searches in four unknowns do not need more cells for contacts with small gaps.

mod band;
mod free;
mod leaf;
mod potential;
mod reduced;
mod search;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use band::{OpenContact, Scratch as BandScratch, Separation, missed_contacts};

use crate::accept::filter::filter;
use crate::api::contact::Stats;
use crate::api::options::QueryOptions;
use crate::body::ids::AreaPair;
use crate::body::side::Which;
use crate::query::{Candidate, Context};
use crate::solve::Solved;
use arrayvec::ArrayVec;
use feeler_hierarchy::{AreaId, Feature};
use leaf::Leaf;
use nalgebra::SVector;
use rayon::prelude::*;
use search::{Outcome, System, search};

/// Maximum number of cells (boxes of unit-box parameters) examined for one pair of areas, for 1, 2, 3 and
/// 4 unknowns. Nearly all pairs that are decided at all need less than a tenth of it. A larger budget
/// takes longer for pairs that stay undecided; a smaller one leaves more pairs undecided.
const CELL_BUDGET: [u64; 4] = [1_000, 4_000, 8_000, 10_000];
/// Longest side (in space) of a cell that is not halved any more, as a fraction of
/// [`Tolerances::same`](crate::Tolerances): all footpoints in such a cell belong to one minimum. A larger
/// value leaves more cells undecided; a smaller one takes more cells.
const MIN_CELL_SIDE: f64 = 0.25;
/// Maximum distance of the solver's minima from the unit box of an area, in unit-box parameters: the
/// solver's margin and rounding. With a smaller value, minima that the solver has found count as missing.
const MAX_OUTSIDE: f64 = crate::body::samples::MARGIN + 1e-6;

/// A pair of areas, or of an area and a canonical feature, to be certified.
#[derive(Clone, Debug)]
enum Job {
    /// An area of a free-form feature of the body `free`, against areas of the canonical feature `feature`
    /// of the other body. `partners` is the range of those areas in the list that [`jobs`] returns.
    Reduced { free: Which, area: AreaId, feature: Feature, partners: std::ops::Range<usize> },
    /// Two areas of free-form features, or of an edge and a free-form face.
    Free(AreaId, AreaId),
}

/// Proves that the solves have found all minima, or adds the missing ones to the candidates in `solved`.
/// Candidates of pairs for which the proof fails are marked as undecided. `pairs` are the pairs of areas
/// that were solved, sorted by features.
pub(crate) fn certify(
    ctx: &Context<'_>,
    pairs: &[AreaPair],
    options: &QueryOptions,
    solved: &mut Solved,
    stats: &mut Stats,
) {
    let (jobs, partners) = jobs(ctx, &all_areas(ctx, pairs));
    let results = certificates(ctx, (&jobs, &partners), &solved.candidates, options.parallel);
    let mut unproven = Vec::new();
    let mut found = Vec::new();
    for r in results {
        stats.certified_pairs += 1;
        stats.effort.certified_cells += r.outcome.cells;
        stats.undecided_pairs += u64::from(r.outcome.undecided > 0);
        if r.outcome.undecided > 0 {
            unproven.extend(r.known);
        }
        let undecided = r.outcome.undecided > 0;
        found.extend(r.found.into_iter().map(|c| Candidate { undecided, ..c }));
    }
    for k in unproven {
        solved.candidates[k].undecided = true;
    }
    stats.effort.certified_added += found.len() as u64;
    stats.effort.candidates += found.len() as u64;
    solved.candidates.append(&mut found);
}

/// Computes the certificates of all jobs; `candidates` are those that the solves have found.
fn certificates(
    ctx: &Context<'_>,
    (jobs, partners): (&[Job], &[AreaId]),
    candidates: &[Candidate],
    parallel: bool,
) -> Vec<Certificate> {
    let key = |c: &Candidate| (ctx.a.dense(c.feature_a), ctx.b.dense(c.feature_b));
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|&k| key(&candidates[k]));
    let of_features = |fa: Feature, fb: Feature| {
        let wanted = (ctx.a.dense(fa), ctx.b.dense(fb));
        let first = order.partition_point(|&k| key(&candidates[k]) < wanted);
        let behind = order.partition_point(|&k| key(&candidates[k]) <= wanted);
        &order[first..behind]
    };
    // Only minima count as known: where areas touch, solves may end slightly off.
    let is_minimum: Vec<bool> = candidates.iter().map(|c| !c.undecided && filter(ctx, c).is_some()).collect();
    let known = KnownCandidates { candidates, is_minimum: &is_minimum, of_features: &of_features };
    let one = |job: &Job| certify_one(ctx, job, partners, &known);
    if parallel { jobs.par_iter().map(one).collect() } else { jobs.iter().map(one).collect() }
}

/// Returns all pairs of areas that culling does not exclude, for every pair of features in `pairs` that
/// are not both canonical. `pairs` may contain one pair of areas only for two features all of whose areas
/// were covered by one solve.
fn all_areas(ctx: &Context<'_>, pairs: &[AreaPair]) -> Vec<AreaPair> {
    let Some(cull) = &ctx.cull else { return pairs.to_vec() };
    let features = |&(i, j): &AreaPair| (ctx.a.area(i).feature, ctx.b.area(j).feature);
    let mut out = Vec::new();
    for group in pairs.chunk_by(|p, q| features(p) == features(q)) {
        let (fa, fb) = features(&group[0]);
        let (of_a, of_b) = (ctx.a.data(fa), ctx.b.data(fb));
        if of_a.primitive.is_some() && of_b.primitive.is_some() {
            continue;
        }
        for &i in ctx.a.areas_of(of_a) {
            let all = ctx.b.areas_of(of_b).iter().map(|&j| (i, j));
            out.extend(all.filter(|&(i, j)| cull.areas((ctx.a, i), (ctx.b, j), &cull.placed(ctx.b, j))));
        }
    }
    out
}

/// Candidates that the solver has found.
#[derive(Clone, Copy)]
struct KnownCandidates<'a> {
    candidates: &'a [Candidate],
    /// Whether each candidate has converged and is a minimum.
    is_minimum: &'a [bool],
    /// Returns the indices, in `candidates`, of those between a feature of A and a feature of B.
    of_features: &'a (dyn Fn(Feature, Feature) -> &'a [usize] + Sync),
}

impl KnownCandidates<'_> {
    /// Returns the indices of the candidates of two features in or near the unit box of a pair of areas,
    /// and the unit-box parameters of those that are minima. `parameters` computes the unit-box parameters
    /// of a candidate; `None` if they are unknown.
    fn near_unit_box<const N: usize>(
        &self,
        fa: Feature,
        fb: Feature,
        parameters: impl Fn(&Candidate) -> Option<SVector<f64, N>>,
    ) -> (Vec<usize>, Vec<SVector<f64, N>>) {
        let inside = |x: &SVector<f64, N>| x.iter().all(|c| -MAX_OUTSIDE <= *c && *c <= 1.0 + MAX_OUTSIDE);
        let all = (self.of_features)(fa, fb).iter();
        let near = all.filter_map(|&k| Some((k, parameters(&self.candidates[k]).filter(inside)?)));
        let near: Vec<(usize, SVector<f64, N>)> = near.collect();
        let minima = near.iter().filter(|(k, _)| self.is_minimum[*k]).map(|(_, x)| *x).collect();
        (near.into_iter().map(|(k, _)| k).collect(), minima)
    }
}

/// Result of a job.
struct Certificate {
    outcome: Outcome,
    /// Indices of the candidates that the solver found in or near the areas of the job. They become
    /// undecided if the proof fails.
    known: Vec<usize>,
    /// Minima that the solver missed.
    found: Vec<Candidate>,
}

/// Divides `pairs`, pairs of areas that are sorted by their features, into jobs. Returns the jobs, and
/// the list of areas of canonical features of which each [`Job::Reduced`] has a range. Pairs of areas of
/// two canonical features get no job.
fn jobs(ctx: &Context<'_>, pairs: &[AreaPair]) -> (Vec<Job>, Vec<AreaId>) {
    let features = |&(i, j): &AreaPair| (ctx.a.area(i).feature, ctx.b.area(j).feature);
    let mut jobs = Vec::new();
    let mut partners = Vec::new();
    for group in pairs.chunk_by(|p, q| features(p) == features(q)) {
        let (fa, fb) = features(&group[0]);
        let canonical = [ctx.a.data(fa).primitive.is_some(), ctx.b.data(fb).primitive.is_some()];
        let is_edge_on_face =
            |edge: Feature, face: Feature| matches!((edge, face), (Feature::Edge(_), Feature::Face(_)));
        let (free, feature) = match canonical {
            [true, true] => continue,
            // The signed distance from the face is regular at 0, the distance from the edge is not.
            [true, false] if is_edge_on_face(fa, fb) => {
                jobs.extend(group.iter().map(|&(i, j)| Job::Free(i, j)));
                continue;
            }
            [false, true] if is_edge_on_face(fb, fa) => {
                jobs.extend(group.iter().map(|&(i, j)| Job::Free(i, j)));
                continue;
            }
            [true, false] => (Which::B, fa),
            [false, true] => (Which::A, fb),
            [false, false] => {
                jobs.extend(group.iter().map(|&(i, j)| Job::Free(i, j)));
                continue;
            }
        };
        let mut sorted: Vec<AreaPair> =
            group.iter().map(|&(i, j)| if free == Which::A { (i, j) } else { (j, i) }).collect();
        sorted.sort_unstable();
        for same in sorted.chunk_by(|p, q| p.0 == q.0) {
            let start = partners.len();
            partners.extend(same.iter().map(|p| p.1));
            jobs.push(Job::Reduced { free, area: same[0].0, feature, partners: start..partners.len() });
        }
    }
    (jobs, partners)
}

fn certify_one(
    ctx: &Context<'_>,
    job: &Job,
    partners: &[AreaId],
    candidates: &KnownCandidates<'_>,
) -> Certificate {
    match *job {
        Job::Reduced { free, area, feature, partners: ref range } => {
            let leaf = Leaf::new(ctx, free, area, None);
            let request = reduced::Request { free, leaf, feature, partners: &partners[range.clone()] };
            if leaf.is_patch() {
                reduced::<2>(ctx, request, candidates)
            } else {
                reduced::<1>(ctx, request, candidates)
            }
        }
        Job::Free(i, j) => {
            let (a, b) = (Leaf::new(ctx, Which::A, i, None), Leaf::new(ctx, Which::B, j, Some(ctx.pose_ab)));
            match a.dim() + b.dim() {
                2 => between::<2>(ctx, (a, b), candidates),
                3 => between::<3>(ctx, (a, b), candidates),
                _ => between::<4>(ctx, (a, b), candidates),
            }
        }
    }
}

fn reduced<const N: usize>(
    ctx: &Context<'_>,
    request: reduced::Request<'_>,
    candidates: &KnownCandidates<'_>,
) -> Certificate {
    let reduced::Request { free, leaf, feature, .. } = request;
    let (fa, fb) = if free == Which::A { (leaf.feature, feature) } else { (feature, leaf.feature) };
    let parameters = |c: &Candidate| {
        let uv = if free == Which::A { c.hint_a } else { c.hint_b }?;
        let x = leaf.unit(&uv);
        Some(SVector::<f64, N>::from_fn(|i, _| x[i]))
    };
    let (known, minima) = candidates.near_unit_box(fa, fb, parameters);
    let mut found = Solved::default();
    let Some(mut pair) = reduced::Pair::<N>::new(ctx, request, minima, &mut found) else {
        unreachable!("the other side of a reduced job is canonical")
    };
    let outcome = run(ctx, &mut pair, &leaf.border[..N]);
    Certificate { outcome, known, found: found.candidates }
}

fn between<const N: usize>(
    ctx: &Context<'_>,
    (a, b): (Leaf<'_>, Leaf<'_>),
    candidates: &KnownCandidates<'_>,
) -> Certificate {
    let parameters = |c: &Candidate| {
        let (x, y) = (a.unit(&c.hint_a?), b.unit(&c.hint_b?));
        Some(SVector::<f64, N>::from_fn(|i, _| if i < a.dim() { x[i] } else { y[i - a.dim()] }))
    };
    let (known, minima) = candidates.near_unit_box(a.feature, b.feature, parameters);
    let mut found = Solved::default();
    let mut pair = free::Pair::<N>::new(ctx, (a, b), minima, &mut found);
    let border: ArrayVec<f64, 4> = a.border[..a.dim()].iter().chain(&b.border[..b.dim()]).copied().collect();
    let outcome = run(ctx, &mut pair, &border);
    Certificate { outcome, known, found: found.candidates }
}

fn run<const N: usize>(ctx: &Context<'_>, system: &mut impl System<N>, border: &[f64]) -> Outcome {
    let lo = SVector::<f64, N>::from_fn(|i, _| -border[i]);
    let hi = SVector::<f64, N>::from_fn(|i, _| 1.0 + border[i]);
    search(system, &lo, &hi, MIN_CELL_SIDE * ctx.tol.same, CELL_BUDGET[N - 1])
}
