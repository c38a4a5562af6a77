//! Search for a deeper witness: a point inside both solids whose distances from both boundaries have a
//! large sum.
//!
//! The sum is not smooth where several boundary points are equally near: in the middle of a block, or on
//! the axis of a pin. Steps uphill (to larger sums) from one nearest point of each boundary stop at such
//! ridges, far below the maximum. Therefore the directions away from the boundaries are collected from all
//! sampled points nearby, and the next step follows the shortest vector in the sum of the convex hulls of
//! both solids' directions, which leads uphill for all of them. A shortest vector of length zero means
//! that no direction leads uphill from the sampled points.
//!
//! # Source
//! A. A. Goldstein, *Optimization of Lipschitz continuous functions*, 1977; C. Lemaréchal's null steps. MATH
//! §15.

use super::depth::{depth, depth_in};
use super::{Probe, Witness};
use crate::query::Context;
use arrayvec::ArrayVec;
use feeler_convex::nearest_to_origin;
use feeler_geom::{P3, V3};

/// Maximum number of points at which the search for a deeper witness computes depths: for queries without and
/// with contacts at negative distances, which state the depth, too. A larger number takes longer; a smaller
/// one gives shallower witnesses along curved common volumes.
const MAX_SAMPLES_TO_DEEPEN: [u32; 2] = [1000, 100];
/// Maximum number of points at which the search for a point inside both solids computes depths. A larger
/// number takes longer at contacts; a smaller one misses points inside both solids in sharp tips.
const MAX_SAMPLES_TO_REACH: u32 = 48;
/// Number of samples whose directions are stored; older ones are replaced. A larger number takes longer
/// for each step; with a smaller one, directions that are needed at a ridge are forgotten.
const STORED_SAMPLES: usize = 32;
/// Slope of [`DepthSample::value`] (change per mm) below which no direction counts as leading to larger
/// values. A larger value ends the ascent early; with a smaller one, rounding determines the directions of
/// steps.
const MIN_SLOPE: f64 = 1e-4;
/// Minimum rise of [`DepthSample::value`] in an accepted step, as a fraction of the rise that the slope
/// predicts. A larger value takes shorter steps; a smaller one accepts endless small rises.
const MIN_RISE: f64 = 0.1;
/// Length of the step, relative to the size of the larger solid, below which the search ends. A larger
/// value gives shallower witnesses; a smaller one takes more steps.
const MIN_STEP: f64 = 1e-9;

/// Weight in [`DepthSample::value`] of a sample's shortfall, which is the wanted minimum depth minus the
/// smaller of its two depths, if that is positive. Above 2, the largest slope of the sum of the depths,
/// the shortfall outweighs any gain of the sum.
const SHORTFALL_WEIGHT: f64 = 3.0;

/// A point with its depths in both solids.
#[derive(Clone, Copy, Debug)]
struct DepthSample {
    /// The point, in the frame of A.
    p: P3,
    /// Depths (mm, negative outside) in A and B.
    inside: [f64; 2],
    /// Value (mm) that the ascent increases: the sum of both depths times [`AscentOptions::sum_weight`],
    /// minus the shortfall times [`SHORTFALL_WEIGHT`]. The shortfall is the length by which the smaller
    /// depth is below [`AscentOptions::min_depth`].
    value: f64,
    /// Gradients of the terms of the value (frame of A): depth in A, depth in B, shortfall.
    uphill: [V3; 3],
}

/// Moves a witness to increase the sum of its depths in both solids; it remains deeper than `need` (mm) in
/// both. Between convex solids the depths are concave, so the search ends near the global maximum of the
/// sum, otherwise near a local one. The witness is returned unchanged if no deeper one is found.
pub(super) fn deepened(ctx: &Context<'_>, start: Witness, need: f64, probe: &mut Probe) -> Witness {
    if ctx.a.is_sheet() || ctx.b.is_sheet() {
        return start;
    }
    let min_depth = start.inside[0].min(start.inside[1]).min(2.0 * need);
    let step = start.inside[0].max(start.inside[1]);
    let max_samples = MAX_SAMPLES_TO_DEEPEN[usize::from(ctx.presses())];
    let options = AscentOptions { min_depth, sum_weight: 1.0, step, max_samples };
    let accepts =
        |best: &DepthSample, next: &DepthSample, probe: &mut Probe| is_inside(ctx, best, next, need, probe);
    let best = ascend(ctx, &start.p, &options, accepts, |_| false, probe);
    let [a, b] = best.inside;
    if a.min(b) > need && a + b > start.inside[0] + start.inside[1] {
        Witness { p: best.p, inside: best.inside, ..start }
    } else {
        start
    }
}

/// Searches for a point that is deeper than `need` (mm) inside both solids, starting at the point `p` near
/// a crossing (frame of A). It is for sharp tips, in which no step along a normal reaches such a point.
/// `None` if no such point is found.
pub(super) fn reached(ctx: &Context<'_>, p: &P3, need: f64, probe: &mut Probe) -> Option<Witness> {
    // In a sharp tip both depths grow together only where their sum shrinks.
    let options = AscentOptions {
        min_depth: 2.0 * need,
        sum_weight: 0.0,
        step: 4.0 * need,
        max_samples: MAX_SAMPLES_TO_REACH,
    };
    let is_inside_both = |sample: &DepthSample| sample.inside[0].min(sample.inside[1]) > 1.01 * need;
    let best = ascend(ctx, p, &options, |_, _, _| true, is_inside_both, probe);
    if is_inside_both(&best) { depth(ctx, &best.p, need, probe) } else { None }
}

/// Start values and limits of [`ascend`].
#[derive(Clone, Copy, Debug)]
struct AscentOptions {
    /// Wanted depth (mm) in both solids.
    min_depth: f64,
    /// Weight of the sum of both depths in [`DepthSample::value`]; the shortfall has [`SHORTFALL_WEIGHT`].
    sum_weight: f64,
    /// Length (mm) of the first step. A step is 4 times as long as the previous one if that was accepted, and
    /// a quarter of it if that was too long.
    step: f64,
    /// Maximum number of points at which the ascent computes depths.
    max_samples: u32,
}

/// Increases [`DepthSample::value`] step by step from the point `start` (frame of A) and returns the
/// sample with the largest value. A sample replaces the current one only if `accepts(current, sample,
/// probe)` holds; the first one that satisfies `is_sufficient` ends the search.
fn ascend(
    ctx: &Context<'_>,
    start: &P3,
    options: &AscentOptions,
    mut accepts: impl FnMut(&DepthSample, &DepthSample, &mut Probe) -> bool,
    is_sufficient: impl Fn(&DepthSample) -> bool,
    probe: &mut Probe,
) -> DepthSample {
    let AscentOptions { mut step, max_samples: mut left, .. } = *options;
    let mut best = sample_depth(ctx, start, options, probe);
    let mut samples: ArrayVec<DepthSample, STORED_SAMPLES> = ArrayVec::new();
    samples.push(best);
    let mut oldest = 0;
    while left > 0 && step > MIN_STEP * ctx.tol.size && !is_sufficient(&best) {
        let up = shortest(&samples, &best.p, 2.0 * step);
        let slope = up.norm();
        if slope < MIN_SLOPE {
            step *= 0.25;
            continue;
        }
        left -= 1;
        let next = sample_depth(ctx, &(best.p + up * (step / slope)), options, probe);
        if samples.is_full() {
            samples[oldest] = next;
            oldest = (oldest + 1) % STORED_SAMPLES;
        } else {
            samples.push(next);
        }
        let onward: f64 = next.uphill.iter().map(|d| d.dot(&up)).sum();
        let rises = next.value - best.value > MIN_RISE * slope * step;
        if rises && accepts(&best, &next, probe) {
            best = next;
            step *= 4.0;
        } else if rises || onward > 0.5 * slope * slope {
            // The step is too long: the sample adds no new direction.
            step *= 0.25;
        }
    }
    best
}

/// Whether the sample `next` is deeper than `need` (mm) inside both solids. `best` is a sample inside
/// both: the balls about it with its depths as radii are inside, too. Outside these balls, rays confirm
/// the depths, because where faces extend beyond their trims, the nearest face may show the wrong side.
fn is_inside(
    ctx: &Context<'_>,
    best: &DepthSample,
    next: &DepthSample,
    need: f64,
    probe: &mut Probe,
) -> bool {
    let [a, b] = best.inside;
    let [c, d] = next.inside;
    c.min(d) > need && ((next.p - best.p).norm() < a.min(b) || depth(ctx, &next.p, need, probe).is_some())
}

fn sample_depth(ctx: &Context<'_>, p: &P3, options: &AscentOptions, probe: &mut Probe) -> DepthSample {
    let (a, out_a) = depth_in(ctx, ctx.a, p, probe);
    let (b, out_b) = depth_in(ctx, ctx.b, &(ctx.pose_ba * p), probe);
    let (in_a, in_b) = (-out_a, -(ctx.pose_ab * out_b));
    let short = (a.min(b) - options.min_depth).min(0.0);
    let back = match short {
        0.0 => V3::zeros(),
        _ if a < b => in_a,
        _ => in_b,
    };
    let value = options.sum_weight * (a + b) + SHORTFALL_WEIGHT * short;
    let uphill = [in_a * options.sum_weight, in_b * options.sum_weight, back * SHORTFALL_WEIGHT];
    DepthSample { p: *p, inside: [a, b], value, uphill }
}

/// Computes the shortest vector in the sum of the convex hulls of the three kinds of gradients
/// ([`DepthSample::uphill`]) of the samples within `radius` (mm) of the point `p`, by GJK. Its direction
/// leads to larger values, and its length is the slope in that direction.
fn shortest(samples: &[DepthSample], p: &P3, radius: f64) -> V3 {
    let near: ArrayVec<&DepthSample, STORED_SAMPLES> =
        samples.iter().filter(|a| (a.p - p).norm() <= radius).collect();
    let lowest = |which: usize, v: &V3| {
        let along = |a: &&&DepthSample| a.uphill[which].dot(v);
        near.iter().min_by(|x, y| along(x).total_cmp(&along(y))).map_or_else(V3::zeros, |a| a.uphill[which])
    };
    let mut v = near.first().map_or_else(V3::zeros, |a| a.uphill.iter().sum());
    let mut simplex: ArrayVec<V3, 4> = ArrayVec::new();
    simplex.push(v);
    for _ in 0..32 {
        let w = lowest(0, &v) + lowest(1, &v) + lowest(2, &v);
        if v.norm_squared() - v.dot(&w) <= 1e-12 || simplex.is_full() || simplex.contains(&w) {
            break;
        }
        simplex.push(w);
        let Some(nearest) = nearest_to_origin(&simplex) else { break };
        v = nearest.point();
        simplex = nearest.vertices().iter().map(|i| simplex[*i]).collect();
    }
    v
}
