//! Proofs that the solves have found every minimum: the certified mode.
//!
//! Culling is by bounds and pairs of canonical features have closed forms; the solves with a free-form side
//! start Newton's method from grids, which proves nothing. Here every such pair of areas is searched by
//! branch and bound, after the solves: cells of its parameters are dropped when distance, directions, trims,
//! the equations of a critical pair or the second order leave no minimum in them, and accepted when they hold
//! one critical pair at most and the solver has found it. What the solver has missed is found here and added.
//!
//! # Source
//! MATH §8 (Krawczyk tests in the reduced unknowns); BREP §1.5.1.3, conclusion.
//!
//! # Guarantees
//! A pair that is not undecided has no local minimum within `d_max` beside the candidates, but for two that
//! are nearer than what makes two of them (`Tolerances::same`), and those that only the tolerances of trims
//! accept beyond the border of both the area and its neighbours. Bounds are those of exact arithmetic widened
//! by explicit terms for rounding: derivatives by 1e-13 of themselves and the rounding of a footpoint
//! (`Tolerances::eps`, some hundred operations on the coordinates, and evaluation takes fewer), every sum by
//! the same; the rest is outward by a few ulps.
//!
//! # Deviations
//! - Bounds are Taylor forms with balls around third derivatives instead of intervals: on cells they are
//!   tighter and cheaper, one evaluation each.
//! - With a patch on one of two free-form sides the equations are regular at distance 0 (`free`): the four
//!   unknowns do not drown in clearance contacts.

mod band;
mod free;
mod leaf;
mod potential;
mod reduced;
mod search;

#[cfg(test)]
mod tests;

pub(crate) use band::{OpenContact, Scratch as BandScratch, missed_contacts};

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

/// Cells that are looked at for a pair, by the number of unknowns: of those that are decided at all nearly
/// all need less than a tenth of it.
const BUDGET: [u64; 4] = [1_000, 4_000, 8_000, 10_000];
/// Longest side (mm, of [`Tolerances::same`](crate::Tolerances)) of a cell that is not cut any more: all
/// footpoints in it are those of one minimum.
const SMALLEST: f64 = 0.25;
/// How far outside the unit box known minima may lie: the solver's margin and rounding.
const OUTSIDE: f64 = crate::body::samples::MARGIN + 1e-6;

/// What is to be certified.
#[derive(Clone, Debug)]
enum Job {
    /// A free-form area against the areas `partners` (of all that are listed) of a canonical feature.
    Reduced { free: Which, area: AreaId, feature: Feature, partners: std::ops::Range<usize> },
    /// Two areas of free-form features, or of an edge and a free-form face.
    Free(AreaId, AreaId),
}

/// Proves or completes what the solves have found. `pairs` are those of areas as the solves have left them:
/// sorted by features.
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

/// The certificates of jobs, given the candidates of the solves.
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
    // Only minima count as known: where areas touch, solves may end a little off.
    let sound: Vec<bool> = candidates.iter().map(|c| !c.undecided && filter(ctx, c).is_some()).collect();
    let given = Given { candidates, sound: &sound, of_features: &of_features };
    let one = |job: &Job| certify_one(ctx, job, partners, &given);
    if parallel { jobs.par_iter().map(one).collect() } else { jobs.iter().map(one).collect() }
}

/// All pairs of areas, of which culling leaves a minimum possible, of the pairs of features with a free-form
/// side among `pairs`: a solve may need no more than one pair of areas for two features.
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

/// What the solver has found.
#[derive(Clone, Copy)]
struct Given<'a> {
    candidates: &'a [Candidate],
    /// Whether they are minima, to rounding.
    sound: &'a [bool],
    /// Those of a pair of features.
    of_features: &'a (dyn Fn(Feature, Feature) -> &'a [usize] + Sync),
}

impl Given<'_> {
    /// Candidates of a pair of features in or about the unit box, and where the sound ones are.
    fn about<const N: usize>(
        &self,
        fa: Feature,
        fb: Feature,
        place: impl Fn(&Candidate) -> Option<SVector<f64, N>>,
    ) -> (Vec<usize>, Vec<SVector<f64, N>>) {
        let inside = |x: &SVector<f64, N>| x.iter().all(|c| -OUTSIDE <= *c && *c <= 1.0 + OUTSIDE);
        let all = (self.of_features)(fa, fb).iter();
        let there = all.filter_map(|&k| Some((k, place(&self.candidates[k]).filter(inside)?)));
        let there: Vec<(usize, SVector<f64, N>)> = there.collect();
        let sound = there.iter().filter(|(k, _)| self.sound[*k]).map(|(_, x)| *x).collect();
        (there.into_iter().map(|(k, _)| k).collect(), sound)
    }
}

/// What became of a job.
struct Certificate {
    outcome: Outcome,
    /// Candidates of the pair that the solver has found.
    known: Vec<usize>,
    /// Minima that it has missed.
    found: Vec<Candidate>,
}

/// Jobs of sorted pairs, and the areas that they name.
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
            // The signed distance from the face is regular at 0, that from the edge is not.
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

fn certify_one(ctx: &Context<'_>, job: &Job, partners: &[AreaId], given: &Given<'_>) -> Certificate {
    match *job {
        Job::Reduced { free, area, feature, partners: ref range } => {
            let leaf = Leaf::new(ctx, free, area, None);
            let request = reduced::Request { free, leaf, feature, partners: &partners[range.clone()] };
            if leaf.is_patch() {
                reduced::<2>(ctx, request, given)
            } else {
                reduced::<1>(ctx, request, given)
            }
        }
        Job::Free(i, j) => {
            let (a, b) = (Leaf::new(ctx, Which::A, i, None), Leaf::new(ctx, Which::B, j, Some(ctx.pose_ab)));
            match a.dim() + b.dim() {
                2 => between::<2>(ctx, (a, b), given),
                3 => between::<3>(ctx, (a, b), given),
                _ => between::<4>(ctx, (a, b), given),
            }
        }
    }
}

fn reduced<const N: usize>(
    ctx: &Context<'_>,
    request: reduced::Request<'_>,
    given: &Given<'_>,
) -> Certificate {
    let reduced::Request { free, leaf, feature, .. } = request;
    let (fa, fb) = if free == Which::A { (leaf.feature, feature) } else { (feature, leaf.feature) };
    let place = |c: &Candidate| {
        let uv = if free == Which::A { c.hint_a } else { c.hint_b }?;
        let x = leaf.unit(&uv);
        Some(SVector::<f64, N>::from_fn(|i, _| x[i]))
    };
    let (known, at) = given.about(fa, fb, place);
    let mut found = Solved::default();
    let Some(mut pair) = reduced::Pair::<N>::new(ctx, request, at, &mut found) else {
        unreachable!("the other side is canonical")
    };
    let outcome = run(ctx, &mut pair, &leaf.border[..N]);
    Certificate { outcome, known, found: found.candidates }
}

fn between<const N: usize>(
    ctx: &Context<'_>,
    (a, b): (Leaf<'_>, Leaf<'_>),
    given: &Given<'_>,
) -> Certificate {
    let place = |c: &Candidate| {
        let (x, y) = (a.unit(&c.hint_a?), b.unit(&c.hint_b?));
        Some(SVector::<f64, N>::from_fn(|i, _| if i < a.dim() { x[i] } else { y[i - a.dim()] }))
    };
    let (known, at) = given.about(a.feature, b.feature, place);
    let mut found = Solved::default();
    let mut pair = free::Pair::<N>::new(ctx, (a, b), at, &mut found);
    let border: ArrayVec<f64, 4> = a.border[..a.dim()].iter().chain(&b.border[..b.dim()]).copied().collect();
    let outcome = run(ctx, &mut pair, &border);
    Certificate { outcome, known, found: found.candidates }
}

fn run<const N: usize>(ctx: &Context<'_>, system: &mut impl System<N>, border: &[f64]) -> Outcome {
    let lo = SVector::<f64, N>::from_fn(|i, _| -border[i]);
    let hi = SVector::<f64, N>::from_fn(|i, _| 1.0 + border[i]);
    search(system, &lo, &hi, SMALLEST * ctx.tol.same, BUDGET[N - 1])
}
