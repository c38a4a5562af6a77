//! A deeper witness: a common point whose distances to both boundaries have a large sum.
//!
//! The sum is not smooth where several boundary points are equally near: in the middle of a block, on the
//! axis of a pin. Directions uphill from one nearest point of each boundary end on such ridges, far below the
//! top. Therefore the directions away from the boundaries are collected from all points asked about nearby,
//! and the next step goes along the shortest vector in the sum of both convex hulls: uphill for all of them
//! at once. A shortest vector of length zero means that there is no way up within the radius.
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

/// Points that the search asks about.
const TRIALS: u32 = 100;
/// The same where one that is inside both is looked for.
const FEW_TRIALS: u32 = 48;
/// Points that are remembered.
const REMEMBERED: usize = 32;
/// A shortest vector below this length is no direction.
const LEVEL_GROUND: f64 = 1e-4;
/// Part of the promised rise that a step must bring.
const ENOUGH: f64 = 0.1;
/// Steps below this part of the size end the search.
const LEAST_STEP: f64 = 1e-9;

/// How much more a point counts that is less than the least depth inside, than one whose distances have a
/// smaller sum.
const INSIDE_FIRST: f64 = 3.0;

/// A point asked about.
#[derive(Clone, Copy, Debug)]
struct Asked {
    p: P3,
    /// Depths (mm, negative outside) in A and B.
    inside: [f64; 2],
    /// The sum of the depths, as far as it counts, and what is taken off where one is less than the least
    /// one.
    value: f64,
    /// By how much the parts of the value grow (frame of A): the depth in A, that in B, and what is taken
    /// off.
    uphill: [V3; 3],
}

/// Moves a witness so that the sum of its distances becomes larger. Between convex solids the depths are
/// concave, and the search ends at the largest sum; else at one that is the largest nearby.
pub(super) fn deepened(ctx: &Context<'_>, start: Witness, need: f64, probe: &mut Probe) -> Witness {
    if ctx.a.is_sheet() || ctx.b.is_sheet() {
        return start;
    }
    let least = start.inside[0].min(start.inside[1]).min(2.0 * need);
    let step = start.inside[0].max(start.inside[1]);
    let course = Course { least, sum: 1.0, step, trials: TRIALS };
    let stays = |best: &Asked, next: &Asked, probe: &mut Probe| is_inside(ctx, best, next, need, probe);
    let best = uphill(ctx, &start.p, &course, stays, |_| false, probe);
    let [a, b] = best.inside;
    if a.min(b) > need && a + b > start.inside[0] + start.inside[1] {
        Witness { p: best.p, inside: best.inside, ..start }
    } else {
        start
    }
}

/// A point near a crossing that is inside both solids by more than `need` (mm): in a sharp tip no step along
/// a normal leads there.
pub(super) fn reached(ctx: &Context<'_>, p: &P3, need: f64, probe: &mut Probe) -> Option<Witness> {
    // In a sharp tip both grow together only where the sum shrinks.
    let course = Course { least: 2.0 * need, sum: 0.0, step: 4.0 * need, trials: FEW_TRIALS };
    let is_there = |asked: &Asked| asked.inside[0].min(asked.inside[1]) > 1.01 * need;
    let best = uphill(ctx, p, &course, |_, _, _| true, is_there, probe);
    if is_there(&best) { depth(ctx, &best.p, need, probe) } else { None }
}

/// How a search begins and when it gives up.
#[derive(Clone, Copy, Debug)]
struct Course {
    /// Depth (mm) that a point should have in both.
    least: f64,
    /// How much the sum of the depths counts beside what is missing to it.
    sum: f64,
    /// First step (mm).
    step: f64,
    /// Points to ask about.
    trials: u32,
}

/// The highest point found, and only by points that `stays` accepts; the first one that is `enough` ends the
/// search.
fn uphill(
    ctx: &Context<'_>,
    start: &P3,
    course: &Course,
    mut stays: impl FnMut(&Asked, &Asked, &mut Probe) -> bool,
    enough: impl Fn(&Asked) -> bool,
    probe: &mut Probe,
) -> Asked {
    let Course { mut step, mut trials, .. } = *course;
    let mut best = ask(ctx, start, course, probe);
    let mut asked: ArrayVec<Asked, REMEMBERED> = ArrayVec::new();
    asked.push(best);
    let mut oldest = 0;
    while trials > 0 && step > LEAST_STEP * ctx.tol.size && !enough(&best) {
        let up = shortest(&asked, &best.p, 2.0 * step);
        let slope = up.norm();
        if slope < LEVEL_GROUND {
            step *= 0.25;
            continue;
        }
        trials -= 1;
        let next = ask(ctx, &(best.p + up * (step / slope)), course, probe);
        if asked.is_full() {
            asked[oldest] = next;
            oldest = (oldest + 1) % REMEMBERED;
        } else {
            asked.push(next);
        }
        let onward: f64 = next.uphill.iter().map(|d| d.dot(&up)).sum();
        let rises = next.value - best.value > ENOUGH * slope * step;
        if rises && stays(&best, &next, probe) {
            best = next;
            step *= 4.0;
        } else if rises || onward > 0.5 * slope * slope {
            // It tells nothing new: too far.
            step *= 0.25;
        }
    }
    best
}

/// Whether a point is inside both solids. Within the balls about one that is, it is; else rays may say that
/// it is not, where faces overlap their trims and the nearest one has the wrong side.
fn is_inside(ctx: &Context<'_>, best: &Asked, next: &Asked, need: f64, probe: &mut Probe) -> bool {
    let [a, b] = best.inside;
    let [c, d] = next.inside;
    c.min(d) > need && ((next.p - best.p).norm() < a.min(b) || depth(ctx, &next.p, need, probe).is_some())
}

fn ask(ctx: &Context<'_>, p: &P3, course: &Course, probe: &mut Probe) -> Asked {
    let (a, out_a) = depth_in(ctx, ctx.a, p, probe);
    let (b, out_b) = depth_in(ctx, ctx.b, &(ctx.pose_ba * p), probe);
    let (in_a, in_b) = (-out_a, -(ctx.pose_ab * out_b));
    let short = (a.min(b) - course.least).min(0.0);
    let back = match short {
        0.0 => V3::zeros(),
        _ if a < b => in_a,
        _ => in_b,
    };
    let value = course.sum * (a + b) + INSIDE_FIRST * short;
    let uphill = [in_a * course.sum, in_b * course.sum, back * INSIDE_FIRST];
    Asked { p: *p, inside: [a, b], value, uphill }
}

/// The shortest vector in the sum of the convex hulls of both solids' directions at the points within a
/// radius; by GJK.
fn shortest(asked: &[Asked], p: &P3, radius: f64) -> V3 {
    let near: ArrayVec<&Asked, REMEMBERED> = asked.iter().filter(|a| (a.p - p).norm() <= radius).collect();
    let lowest = |which: usize, v: &V3| {
        let along = |a: &&&Asked| a.uphill[which].dot(v);
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
