//! Crossings of curves and patches with a level of a surface whose signed distance has a closed form.
//! The signed distance is a function of the one or two parameters of the curve or patch.

use super::{Arc, Local, Patch, Search, Side, halves};
use crate::skeleton::{Primitive, signed_distance_form, signed_distance_with_clear_radius};
use crate::{P2, P3, Rect, V3};

/// Level set of the signed distance from a surface with a closed form.
#[derive(Clone, Copy, Debug)]
pub struct Level<'a> {
    /// Surface from which the distance is measured, in the frame of the search.
    pub primitive: &'a Primitive,
    /// Signed distance (mm) of the level, negative inside the material.
    pub at: f64,
    /// Distance (mm, positive) from the level within which a cell of parameters is not subdivided
    /// further: if the whole cell is that near, its middle counts as a crossing.
    pub slack: f64,
}

/// Maximum number of cells of one search for which the clearance (a lower bound of the distance from the
/// level) is computed. With a larger value searches without a useful clearance take longer; with a
/// smaller one clearances are given up too soon.
const MAX_CLEARANCE_CELLS: u32 = 2000;

/// Minimum ratio of the clearance of a cell to the distance of its middle from the level; cells with less
/// clearance are subdivided. With a larger value more cells are needed; with a smaller one clearances are
/// so small that a small motion of the solids uses them up.
const MIN_CLEARANCE_PART: f64 = 0.4;

/// Lowers the clearance of the search, if one is requested, to the clearance `spare` (mm) of one cell.
fn lower_clearance(clearance: Option<&mut f64>, spare: f64) {
    if let Some(clearance) = clearance {
        *clearance = clearance.min(spare);
    }
}

/// Maximum number of pending cells of a curve, and thus of halvings of its parameter range: 2⁻⁶⁰ of the
/// range is below rounding. Patches may have twice as many pending cells. With a smaller value searches
/// end early; a larger one adds cells without effect.
const MAX_DEPTH: usize = 60;

impl Level<'_> {
    /// Returns three values at a point (frame of the search): its signed distance minus that of the
    /// level (mm), the gradient of the signed distance, and the radius (mm) of a ball around the point
    /// in which the gradient exists.
    fn value(&self, p: &P3) -> (f64, V3, f64) {
        let (value, gradient, clear_radius) = signed_distance_with_clear_radius(self.primitive, p);
        (value - self.at, gradient, clear_radius)
    }

    /// Whether a cell does not reach the level: `value` is the signed distance (mm) of its middle from
    /// the level, and `reach` is an upper bound of its change over the cell. If a clearance is
    /// requested, it is lowered to the remaining distance, which must be at least the fraction
    /// [`MIN_CLEARANCE_PART`] of the value; cells with less are cut once more.
    fn is_clear_of_level(value: f64, reach: f64, clearance: Option<&mut f64>) -> bool {
        let spare = value.abs() - reach;
        let is_clear = spare > if clearance.is_some() { MIN_CLEARANCE_PART * value.abs() } else { 0.0 };
        if is_clear {
            lower_clearance(clearance, spare);
        }
        is_clear
    }
}

/// Reports to `found` the parameters at which a curve passes through a level or comes within the level's
/// slack, at least one for each passage. The search stops if `found` returns `true`. `budget` is the
/// number of cells that may still be evaluated, and is reduced by those used.
///
/// If no crossing is reported, the optional `clearance` is lowered to a lower bound of the curve's
/// distance from the level (mm), or to 0 if no bound was found.
pub fn curve_through_level<F: Fn(f64) -> (P3, V3)>(
    arc: &Arc<F>,
    level: &Level<'_>,
    mut clearance: Option<&mut f64>,
    budget: &mut u32,
    found: &mut impl FnMut(f64) -> bool,
) -> Search {
    let mut cells_left = MAX_CLEARANCE_CELLS;
    let mut stack = [[0.0; 2]; MAX_DEPTH];
    let mut top = 1;
    stack[0] = arc.range;
    while top > 0 {
        top -= 1;
        let [a, b] = stack[top];
        if *budget == 0 {
            let left = stack[..=top]
                .iter()
                .map(|[a, b]| arc.speed * 0.5 * (b - a) - level.value(&(arc.eval)(0.5 * (a + b)).0).0);
            return Search::BudgetExhausted(left.fold(0.0, f64::max));
        }
        *budget -= 1;
        if let Some(bound) = clearance.as_deref_mut() {
            cells_left = cells_left.saturating_sub(1);
            if cells_left == 0 {
                *bound = 0.0;
                clearance = None;
            }
        }
        let (m, h) = (0.5 * (a + b), 0.5 * (b - a));
        let (p, d) = (arc.eval)(m);
        let (value, gradient, clear_radius) = level.value(&p);
        let radius = arc.speed * h;
        if Level::is_clear_of_level(value, radius, clearance.as_deref_mut()) {
            continue;
        }
        let mut reach = radius;
        if radius < 0.5 * clear_radius {
            let slope = gradient.dot(&d);
            let across = speed_across(level.primitive, &d, arc.speed, arc.bend * h);
            let second = arc.bend + across * across / (clear_radius - radius);
            reach = reach.min(slope.abs() * h + 0.5 * second * h * h);
            if Level::is_clear_of_level(value, reach, clearance.as_deref_mut()) {
                continue;
            }
            if slope.abs() > second * h {
                let at = |s: f64| level.value(&(arc.eval)(s).0).0;
                let (fa, fb) = (at(a), at(b));
                lower_clearance(clearance.as_deref_mut(), fa.abs().min(fb.abs()));
                if (fa < 0.0) != (fb < 0.0) && found(root(at, (a, fa), (b, fb), 1e-3 * level.slack)) {
                    return Search::Stopped;
                }
                continue;
            }
        } else if Level::is_clear_of_level(value, reach, clearance.as_deref_mut()) {
            continue;
        }
        if value.abs() + reach <= level.slack {
            if found(m) {
                return Search::Stopped;
            }
            continue;
        }
        if top + 2 > MAX_DEPTH || !(a < m && m < b) {
            return Search::BudgetExhausted((radius - value).max(0.0));
        }
        stack[top] = [m, b];
        stack[top + 1] = [a, m];
        top += 2;
    }
    Search::Complete
}

/// Returns a root of a monotone function between `lo` and `hi`, each an argument with its value; the
/// values have different signs. The iteration ends as soon as the function's magnitude is at most
/// `noise`.
fn root(f: impl Fn(f64) -> f64, mut lo: (f64, f64), mut hi: (f64, f64), noise: f64) -> f64 {
    let mut last = 0.5 * (lo.0 + hi.0);
    for k in 0..80 {
        // The secant method, with a bisection in every third step so that the bracket shrinks.
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

/// Reports to `found` the parameters of points in which a patch passes through a level or comes within
/// the level's slack. At least one point is reported of every crossing curve that does not reach the
/// boundary of the patch, and some points of other crossing curves. For each `joined` parameter (u and
/// v) the first side of the patch is searched as well, for curves that continue at the last side or in
/// another patch. Cells are skipped if `relevant` returns `false` for a ball around them (centre in the
/// frame of the search, radius in mm). The search stops if `found` returns `true`. `budget` is the
/// number of cells that may still be evaluated, and is reduced by those used.
///
/// If no crossing is reported, the optional `clearance` is lowered to a lower bound of the distance of
/// all cells that were not skipped from the level (mm), or to 0 if no bound was found.
pub fn patch_through_level(
    (patch, joined): (&Patch<'_>, [bool; 2]),
    level: &Level<'_>,
    mut clearance: Option<&mut f64>,
    relevant: &mut impl FnMut(&P3, f64) -> bool,
    budget: &mut u32,
    found: &mut impl FnMut(P2) -> bool,
) -> Search {
    let mut cells_left = MAX_CLEARANCE_CELLS;
    let mut stack = [patch.rect; 2 * MAX_DEPTH];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let rect = stack[top];
        if *budget == 0 {
            let left = stack[..=top].iter().map(|rect| {
                let local = patch.local(rect);
                local.radius() - level.value(&local.p).0
            });
            return Search::BudgetExhausted(left.fold(0.0, f64::max));
        }
        *budget -= 1;
        if let Some(bound) = clearance.as_deref_mut() {
            cells_left = cells_left.saturating_sub(1);
            if cells_left == 0 || *bound <= 0.0 {
                *bound = 0.0;
                clearance = None;
            }
        }
        let local = patch.local(&rect);
        let (value, gradient, clear_radius) = level.value(&local.p);
        let radius = local.radius();
        if Level::is_clear_of_level(value, radius, clearance.as_deref_mut()) || !relevant(&local.p, radius) {
            continue;
        }
        let mut reach = radius;
        let mut across_u = local.su * local.hu >= local.sv * local.hv;
        if radius < 0.5 * clear_radius {
            let focal = 1.0 / (clear_radius - radius);
            let (fu, fv) = (gradient.dot(&local.du), gradient.dot(&local.dv));
            let [fuu, fuv, fvv] = second_derivatives(&local, &gradient, level.primitive, focal);
            let (hu, hv) = (local.hu, local.hv);
            let bow = 0.5 * (fuu * hu * hu + 2.0 * fuv * hu * hv + fvv * hv * hv);
            reach = reach.min(fu.abs() * hu + fv.abs() * hv + bow);
            if Level::is_clear_of_level(value, reach, clearance.as_deref_mut()) {
                continue;
            }
            let along_u = fu.abs() > fuu * hu + fuv * hv;
            if along_u || fv.abs() > fuv * hu + fvv * hv {
                if let Some(clearance) = clearance.as_deref_mut().filter(|clearance| **clearance > 0.0) {
                    *clearance = clearance.min(clearance_of_sides(patch, &rect, &local, along_u, level));
                }
                match sides((patch, joined), &rect, &local, level, budget, found) {
                    Search::Complete => continue,
                    other => return other,
                }
            }
            // Cut along the direction that prevents the distance from being monotone.
            across_u = local.across_u(fuu * hu * hu, fvv * hv * hv);
        } else if Level::is_clear_of_level(value, reach, clearance.as_deref_mut()) {
            continue;
        }
        if value.abs() + reach <= level.slack {
            if found(rect.center()) {
                return Search::Stopped;
            }
            continue;
        }
        if top + 2 > stack.len() {
            return Search::BudgetExhausted((radius - value).max(0.0));
        }
        for half in halves(&rect, across_u) {
            stack[top] = half;
            top += 1;
        }
    }
    Search::Complete
}

/// Upper bound of the third derivatives of a signed distance, multiplied by the square of the radius in
/// which it is smooth. It is 3 for the distance from a point or a line, and less than 8 for the distance
/// from a circle. With a larger value more cells are needed; with a smaller one the proofs do not hold.
const THIRD_DERIVATIVE_BOUND: f64 = 8.0;

/// Upper bound of the part of a derivative along which the signed distance has curvature: for a cylinder
/// or cone, the component along the axis does not count. `d` is the derivative in the middle of a cell,
/// which changes by at most `change` over the cell, and `speed` is an upper bound of its length.
fn speed_across(primitive: &Primitive, d: &V3, speed: f64, change: f64) -> f64 {
    match primitive {
        Primitive::Line { dir, .. } => speed.min((d - dir * d.dot(dir)).norm() + change),
        _ => speed,
    }
}

/// Returns upper bounds of the second derivatives uu, uv, vv of the signed distance over a cell of a
/// patch. Each is the smaller of two bounds. One follows from the curvatures of both surfaces, the other
/// from the difference of the curvatures in the middle and from third derivatives; for surfaces that
/// almost coincide the second bound is tiny. `focal` is an upper bound of the curvature (1/mm) of the
/// distance's level sets.
fn second_derivatives(local: &Local, gradient: &V3, primitive: &Primitive, focal: f64) -> [f64; 3] {
    let Local { suu, suv, svv, hu, hv, du, dv, .. } = *local;
    let su = speed_across(primitive, &du, local.su, suu * hu + suv * hv);
    let sv = speed_across(primitive, &dv, local.sv, suv * hu + svv * hv);
    let by_curvatures = [suu + su * su * focal, suv + su * sv * focal, svv + sv * sv * focal];
    let Some(form) = signed_distance_form(primitive, &local.p) else { return by_curvatures };
    let bending = form.bending.matrix();
    let (k, l) = (focal, THIRD_DERIVATIVE_BOUND * focal * focal);
    let [t0, t1, t2, t3] = local.third;
    let uuu = t0 + 3.0 * suu * su * k + su * su * su * l;
    let uuv = t1 + (2.0 * suv * su + suu * sv) * k + su * su * sv * l;
    let uvv = t2 + (2.0 * suv * sv + svv * su) * k + su * sv * sv * l;
    let vvv = t3 + 3.0 * svv * sv * k + sv * sv * sv * l;
    let middle = |second: &V3, x: &V3, y: &V3| (gradient.dot(second) + x.dot(&(bending * y))).abs();
    let by_difference = [
        middle(&local.duu, &du, &du) + uuu * hu + uuv * hv,
        middle(&local.duv, &du, &dv) + uuv * hu + uvv * hv,
        middle(&local.dvv, &dv, &dv) + uvv * hu + vvv * hv,
    ];
    std::array::from_fn(|i| by_curvatures[i].min(by_difference[i]))
}

/// Searches for the crossings on the two sides of a cell at its smallest u and its smallest v, and
/// reports them to `found`. The distance is monotone along u or v in the cell, so every crossing curve
/// reaches a side. Sides on the boundary of the patch are skipped unless they are `joined`.
fn sides(
    (patch, joined): (&Patch<'_>, [bool; 2]),
    rect: &Rect,
    local: &Local,
    level: &Level<'_>,
    budget: &mut u32,
    found: &mut impl FnMut(P2) -> bool,
) -> Search {
    // No crossing curve enters over the border of the patch, except at joined sides.
    let inner = [rect.u0 > patch.rect.u0, rect.v0 > patch.rect.v0];
    let is_searched: [bool; 2] = std::array::from_fn(|k| inner[k] || joined[k]);
    for ((side, range, speed, bend), _) in
        patch.sides(rect, local).into_iter().zip(is_searched).filter(|(_, w)| *w)
    {
        let arc = Arc { eval: |s: f64| patch.eval_side(side, s), range, speed, bend };
        match curve_through_level(&arc, level, None, budget, &mut |s| found(side.at(s))) {
            Search::Complete => {}
            other => return other,
        }
    }
    Search::Complete
}

/// Maximum number of cells that [`clearance_of_sides`] may evaluate. With a larger value each side may
/// cost more; with a smaller one clearances are 0 more often.
const CLEARANCE_BUDGET: u32 = 256;

/// Returns a lower bound of the distance (mm) from the level of a cell over which the signed distance is
/// monotone along u (if `along_u`) or v. It is the smallest distance of the two sides across that
/// parameter if the signed distance has the same sign on both, and 0 otherwise.
fn clearance_of_sides(
    patch: &Patch<'_>,
    rect: &Rect,
    local: &Local,
    along_u: bool,
    level: &Level<'_>,
) -> f64 {
    let at = |u: f64, v: f64| level.value(&patch.first(P2::new(u, v)).0).0;
    let (first, last) =
        (at(rect.u0, rect.v0), if along_u { at(rect.u1, rect.v0) } else { at(rect.u0, rect.v1) });
    let mut clearance = first.abs().min(last.abs());
    if (first < 0.0) != (last < 0.0) {
        return 0.0;
    }
    let Rect { u0, u1, v0, v1 } = *rect;
    let across = if along_u {
        [Side::AtU(u0), Side::AtU(u1)].map(|side| (side, [v0, v1], local.sv, local.svv))
    } else {
        [Side::AtV(v0), Side::AtV(v1)].map(|side| (side, [u0, u1], local.su, local.suu))
    };
    let mut budget = CLEARANCE_BUDGET;
    for (side, range, speed, bend) in across {
        let arc = Arc { eval: |s: f64| patch.eval_side(side, s), range, speed, bend };
        if curve_through_level(&arc, level, Some(&mut clearance), &mut budget, &mut |_| true)
            != Search::Complete
        {
            return 0.0;
        }
    }
    clearance
}
