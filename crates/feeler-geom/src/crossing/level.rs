//! Curves and patches through a level of a closed-form surface: the signed distance is one function of one or two parameters.

use super::{Arc, Local, Patch, Search, halves};
use crate::skeleton::{Primitive, signed_distance_form, signed_distance_with_room};
use crate::{P2, P3, Rect, V3};

/// A level of the signed distance from a surface with a closed form.
#[derive(Clone, Copy, Debug)]
pub struct Level<'a> {
    /// The surface, in the frame of the search.
    pub primitive: &'a Primitive,
    /// The signed distance (mm), negative inside the material.
    pub at: f64,
    /// A cell that stays within this (mm, positive) of the level is not cut any more: its middle is taken for a crossing.
    pub slack: f64,
}

/// Cuts of one curve or patch: with 2⁶⁰ pieces rounding has taken over.
const DEPTH: usize = 60;

impl Level<'_> {
    /// Value above the level, and its derivative along `d`, with the length in which there are no places without derivatives.
    fn value(&self, p: &P3) -> (f64, V3, f64) {
        let (value, gradient, room) = signed_distance_with_room(self.primitive, p);
        (value - self.at, gradient, room)
    }

    /// Whether no value within `reach` of `value` is at the level.
    fn is_off(value: f64, reach: f64) -> bool {
        value.abs() > reach
    }
}

/// Hands over the parameters at which a curve passes through a level or comes within the slack of it, at least one for each passage.
pub fn curve_through_level<F: Fn(f64) -> (P3, V3)>(
    arc: &Arc<F>,
    level: &Level<'_>,
    budget: &mut u32,
    found: &mut impl FnMut(f64) -> bool,
) -> Search {
    let mut stack = [[0.0; 2]; DEPTH];
    let mut top = 1;
    stack[0] = arc.range;
    while top > 0 {
        top -= 1;
        let [a, b] = stack[top];
        if *budget == 0 {
            let left = stack[..=top]
                .iter()
                .map(|[a, b]| arc.speed * 0.5 * (b - a) - level.value(&(arc.eval)(0.5 * (a + b)).0).0);
            return Search::Spent(left.fold(0.0, f64::max));
        }
        *budget -= 1;
        let (m, h) = (0.5 * (a + b), 0.5 * (b - a));
        let (p, d) = (arc.eval)(m);
        let (value, gradient, room) = level.value(&p);
        let radius = arc.speed * h;
        if Level::is_off(value, radius) {
            continue;
        }
        let mut reach = radius;
        if radius < 0.5 * room {
            let slope = gradient.dot(&d);
            let second = arc.bend + arc.speed * arc.speed / (room - radius);
            reach = reach.min(slope.abs() * h + 0.5 * second * h * h);
            if Level::is_off(value, reach) {
                continue;
            }
            if slope.abs() > second * h {
                let at = |s: f64| level.value(&(arc.eval)(s).0).0;
                let (fa, fb) = (at(a), at(b));
                if (fa < 0.0) != (fb < 0.0) && found(root(at, (a, fa), (b, fb), 1e-3 * level.slack)) {
                    return Search::Stopped;
                }
                continue;
            }
        }
        if value.abs() + reach <= level.slack {
            if found(m) {
                return Search::Stopped;
            }
            continue;
        }
        if top + 2 > DEPTH || !(a < m && m < b) {
            return Search::Spent((radius - value).max(0.0));
        }
        stack[top] = [m, b];
        stack[top + 1] = [a, m];
        top += 2;
    }
    Search::Complete
}

/// A root of a monotone function between ends of different sign, to a value of less than `noise`.
fn root(f: impl Fn(f64) -> f64, mut lo: (f64, f64), mut hi: (f64, f64), noise: f64) -> f64 {
    let mut last = 0.5 * (lo.0 + hi.0);
    for k in 0..80 {
        // The secant, and every third time the middle, so that the bracket shrinks.
        let part = if k % 3 == 2 { 0.5 } else { lo.1 / (lo.1 - hi.1) };
        let part = if part.is_finite() { part.clamp(0.001, 0.999) } else { 0.5 };
        last = lo.0 + part * (hi.0 - lo.0);
        let value = f(last);
        if value.abs() <= noise {
            break;
        }
        if (value < 0.0) == (lo.1 < 0.0) {
            lo = (last, value);
        } else {
            hi = (last, value);
        }
    }
    last
}

/// Hands over parameters of points in which a patch passes through a level or comes within the slack of it: at least one of every
/// crossing curve that does not reach the border of the patch; of others some, too. Cells in balls (centre, radius) that are not
/// `relevant` are left out.
pub fn patch_through_level(
    patch: &Patch<'_>,
    level: &Level<'_>,
    relevant: &impl Fn(&P3, f64) -> bool,
    budget: &mut u32,
    found: &mut impl FnMut(P2) -> bool,
) -> Search {
    let mut stack = [patch.rect; 2 * DEPTH];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let rect = stack[top];
        if *budget == 0 {
            let left = stack[..=top].iter().map(|rect| {
                let local = patch.local(rect);
                local.radius() - level.value(&local.p).0
            });
            return Search::Spent(left.fold(0.0, f64::max));
        }
        *budget -= 1;
        let local = patch.local(&rect);
        let (value, gradient, room) = level.value(&local.p);
        let radius = local.radius();
        if Level::is_off(value, radius) || !relevant(&local.p, radius) {
            continue;
        }
        let mut reach = radius;
        let mut across_u = local.su * local.hu >= local.sv * local.hv;
        if radius < 0.5 * room {
            let focal = 1.0 / (room - radius);
            let (fu, fv) = (gradient.dot(&local.du), gradient.dot(&local.dv));
            let [fuu, fuv, fvv] = second_derivatives(&local, &gradient, level.primitive, focal);
            let (hu, hv) = (local.hu, local.hv);
            let bow = 0.5 * (fuu * hu * hu + 2.0 * fuv * hu * hv + fvv * hv * hv);
            reach = reach.min(fu.abs() * hu + fv.abs() * hv + bow);
            if Level::is_off(value, reach) {
                continue;
            }
            if fu.abs() > fuu * hu + fuv * hv || fv.abs() > fuv * hu + fvv * hv {
                match sides(patch, &rect, &local, level, budget, found) {
                    Search::Complete => continue,
                    other => return other,
                }
            }
            // What keeps the distance from being monotone.
            across_u = local.across_u(fuu * hu * hu, fvv * hv * hv);
        }
        if value.abs() + reach <= level.slack {
            if found(rect.center()) {
                return Search::Stopped;
            }
            continue;
        }
        if top + 2 > stack.len() {
            return Search::Spent((radius - value).max(0.0));
        }
        for half in halves(&rect, across_u) {
            stack[top] = half;
            top += 1;
        }
    }
    Search::Complete
}

/// Bound of the third derivative of a signed distance, in units of the squared inverse of the length in which it is smooth: 3 for the
/// distance from a point or a line, and less than this for that from a circle.
const THIRD: f64 = 8.0;

/// Bounds of the second derivatives uu, uv, vv of a signed distance over a cell of a patch: by both curvatures, or by their difference in
/// the middle and what third derivatives make of it, whichever is less. Surfaces that almost coincide have almost none.
fn second_derivatives(local: &Local, gradient: &V3, primitive: &Primitive, focal: f64) -> [f64; 3] {
    let Local { su, sv, suu, suv, svv, hu, hv, du, dv, .. } = *local;
    let apart = [suu + su * su * focal, suv + su * sv * focal, svv + sv * sv * focal];
    let Some(form) = signed_distance_form(primitive, &local.p) else { return apart };
    let bending = form.bending.matrix();
    let (k, l) = (focal, THIRD * focal * focal);
    let [t0, t1, t2, t3] = local.third;
    let uuu = t0 + 3.0 * suu * su * k + su * su * su * l;
    let uuv = t1 + (2.0 * suv * su + suu * sv) * k + su * su * sv * l;
    let uvv = t2 + (2.0 * suv * sv + svv * su) * k + su * sv * sv * l;
    let vvv = t3 + 3.0 * svv * sv * k + sv * sv * sv * l;
    let middle = |second: &V3, x: &V3, y: &V3| (gradient.dot(second) + x.dot(&(bending * y))).abs();
    let together = [
        middle(&local.duu, &du, &du) + uuu * hu + uuv * hv,
        middle(&local.duv, &du, &dv) + uuv * hu + uvv * hv,
        middle(&local.dvv, &dv, &dv) + uvv * hu + vvv * hv,
    ];
    std::array::from_fn(|i| apart[i].min(together[i]))
}

/// Crossings on the sides of a cell.
fn sides(
    patch: &Patch<'_>,
    rect: &Rect,
    local: &Local,
    level: &Level<'_>,
    budget: &mut u32,
    found: &mut impl FnMut(P2) -> bool,
) -> Search {
    for (side, range, speed, bend) in patch.sides(rect, local) {
        let arc = Arc { eval: |s: f64| patch.eval_side(side, s), range, speed, bend };
        match curve_through_level(&arc, level, budget, &mut |s| found(side.at(s))) {
            Search::Complete => {}
            other => return other,
        }
    }
    Search::Complete
}
