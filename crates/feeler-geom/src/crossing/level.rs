//! Curves and patches through a level of a closed-form surface: the signed distance is one function of one or
//! two parameters.

use super::{Arc, Local, Patch, Search, Side, halves};
use crate::skeleton::{Primitive, signed_distance_form, signed_distance_with_room};
use crate::{P2, P3, Rect, V3};

/// A level of the signed distance from a surface with a closed form.
#[derive(Clone, Copy, Debug)]
pub struct Level<'a> {
    /// The surface, in the frame of the search.
    pub primitive: &'a Primitive,
    /// The signed distance (mm), negative inside the material.
    pub at: f64,
    /// A cell that stays within this (mm, positive) of the level is not cut any more: its middle is taken for
    /// a crossing.
    pub slack: f64,
}

/// Cells after which room is asked for no more.
const PATIENCE: u32 = 2000;

/// Part of the distance in the middle of a cell that must be left as room.
const PART: f64 = 0.4;

/// Takes in what one cell has to spare.
fn keep(room: Option<&mut f64>, spare: f64) {
    if let Some(room) = room {
        *room = room.min(spare);
    }
}

/// Cuts of one curve or patch: with 2⁶⁰ pieces rounding has taken over.
const DEPTH: usize = 60;

impl Level<'_> {
    /// Value above the level, and its derivative along `d`, with the length in which there are no places
    /// without derivatives.
    fn value(&self, p: &P3) -> (f64, V3, f64) {
        let (value, gradient, room) = signed_distance_with_room(self.primitive, p);
        (value - self.at, gradient, room)
    }

    /// Whether no value within `reach` of `value` is at the level, and what is to spare. Where that is asked
    /// for it must be a part of the value: cells that have just enough are cut once more.
    fn is_off(value: f64, reach: f64, room: Option<&mut f64>) -> bool {
        let spare = value.abs() - reach;
        let off = spare > if room.is_some() { PART * value.abs() } else { 0.0 };
        if off {
            keep(room, spare);
        }
        off
    }
}

/// Hands over the parameters at which a curve passes through a level or comes within the slack of it, at
/// least one for each passage.
///
/// `room`, where it is asked for, becomes no more than what all of the curve stays away from the level (mm),
/// if nothing is handed over.
pub fn curve_through_level<F: Fn(f64) -> (P3, V3)>(
    arc: &Arc<F>,
    level: &Level<'_>,
    mut room: Option<&mut f64>,
    budget: &mut u32,
    found: &mut impl FnMut(f64) -> bool,
) -> Search {
    let mut patience = PATIENCE;
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
        if let Some(known) = room.as_deref_mut() {
            patience = patience.saturating_sub(1);
            if patience == 0 {
                *known = 0.0;
                room = None;
            }
        }
        let (m, h) = (0.5 * (a + b), 0.5 * (b - a));
        let (p, d) = (arc.eval)(m);
        let (value, gradient, smooth) = level.value(&p);
        let radius = arc.speed * h;
        if Level::is_off(value, radius, room.as_deref_mut()) {
            continue;
        }
        let mut reach = radius;
        if radius < 0.5 * smooth {
            let slope = gradient.dot(&d);
            let across = speed_across(level.primitive, &d, arc.speed, arc.bend * h);
            let second = arc.bend + across * across / (smooth - radius);
            reach = reach.min(slope.abs() * h + 0.5 * second * h * h);
            if Level::is_off(value, reach, room.as_deref_mut()) {
                continue;
            }
            if slope.abs() > second * h {
                let at = |s: f64| level.value(&(arc.eval)(s).0).0;
                let (fa, fb) = (at(a), at(b));
                keep(room.as_deref_mut(), fa.abs().min(fb.abs()));
                if (fa < 0.0) != (fb < 0.0) && found(root(at, (a, fa), (b, fb), 1e-3 * level.slack)) {
                    return Search::Stopped;
                }
                continue;
            }
        } else if Level::is_off(value, reach, room.as_deref_mut()) {
            continue;
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

/// Hands over parameters of points in which a patch passes through a level or comes within the slack of it:
/// at least one of every crossing curve that does not reach the border of the patch; of others some, too. Of
/// `joined` parameters, u and v, the first side of the patch is searched as well, for curves that go on at
/// the last one, or in another patch. Cells in balls (centre, radius) that are not `relevant` are left out.
///
/// `room`, where it is asked for, becomes no more than what all cells that are not left out stay away from
/// the level (mm), if nothing is handed over; 0 where this is not known.
pub fn patch_through_level(
    (patch, joined): (&Patch<'_>, [bool; 2]),
    level: &Level<'_>,
    mut room: Option<&mut f64>,
    relevant: &mut impl FnMut(&P3, f64) -> bool,
    budget: &mut u32,
    found: &mut impl FnMut(P2) -> bool,
) -> Search {
    let mut patience = PATIENCE;
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
        if let Some(known) = room.as_deref_mut() {
            patience = patience.saturating_sub(1);
            if patience == 0 || *known <= 0.0 {
                *known = 0.0;
                room = None;
            }
        }
        let local = patch.local(&rect);
        let (value, gradient, smooth) = level.value(&local.p);
        let radius = local.radius();
        if Level::is_off(value, radius, room.as_deref_mut()) || !relevant(&local.p, radius) {
            continue;
        }
        let mut reach = radius;
        let mut across_u = local.su * local.hu >= local.sv * local.hv;
        if radius < 0.5 * smooth {
            let focal = 1.0 / (smooth - radius);
            let (fu, fv) = (gradient.dot(&local.du), gradient.dot(&local.dv));
            let [fuu, fuv, fvv] = second_derivatives(&local, &gradient, level.primitive, focal);
            let (hu, hv) = (local.hu, local.hv);
            let bow = 0.5 * (fuu * hu * hu + 2.0 * fuv * hu * hv + fvv * hv * hv);
            reach = reach.min(fu.abs() * hu + fv.abs() * hv + bow);
            if Level::is_off(value, reach, room.as_deref_mut()) {
                continue;
            }
            let along_u = fu.abs() > fuu * hu + fuv * hv;
            if along_u || fv.abs() > fuv * hu + fvv * hv {
                if let Some(room) = room.as_deref_mut().filter(|room| **room > 0.0) {
                    *room = room.min(room_of_sides(patch, &rect, &local, along_u, level));
                }
                match sides((patch, joined), &rect, &local, level, budget, found) {
                    Search::Complete => continue,
                    other => return other,
                }
            }
            // What keeps the distance from being monotone.
            across_u = local.across_u(fuu * hu * hu, fvv * hv * hv);
        } else if Level::is_off(value, reach, room.as_deref_mut()) {
            continue;
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

/// Bound of the third derivative of a signed distance, in units of the squared inverse of the length in which
/// it is smooth: 3 for the distance from a point or a line, and less than this for that from a circle.
const THIRD: f64 = 8.0;

/// The part of a speed that the distance bends along: none of it is along the axis of a cylinder or cone. `d`
/// is the derivative in the middle, which changes by no more than `change`.
fn speed_across(primitive: &Primitive, d: &V3, speed: f64, change: f64) -> f64 {
    match primitive {
        Primitive::Line { dir, .. } => speed.min((d - dir * d.dot(dir)).norm() + change),
        _ => speed,
    }
}

/// Bounds of the second derivatives uu, uv, vv of a signed distance over a cell of a patch: by both
/// curvatures, or by their difference in the middle and what third derivatives make of it, whichever is less.
/// Surfaces that almost coincide have almost none.
fn second_derivatives(local: &Local, gradient: &V3, primitive: &Primitive, focal: f64) -> [f64; 3] {
    let Local { suu, suv, svv, hu, hv, du, dv, .. } = *local;
    let su = speed_across(primitive, &du, local.su, suu * hu + suv * hv);
    let sv = speed_across(primitive, &dv, local.sv, suv * hu + svv * hv);
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
    (patch, joined): (&Patch<'_>, [bool; 2]),
    rect: &Rect,
    local: &Local,
    level: &Level<'_>,
    budget: &mut u32,
    found: &mut impl FnMut(P2) -> bool,
) -> Search {
    // No curve comes in over the border.
    let inner = [rect.u0 > patch.rect.u0, rect.v0 > patch.rect.v0];
    let wanted: [bool; 2] = std::array::from_fn(|k| inner[k] || joined[k]);
    for ((side, range, speed, bend), _) in
        patch.sides(rect, local).into_iter().zip(wanted).filter(|(_, w)| *w)
    {
        let arc = Arc { eval: |s: f64| patch.eval_side(side, s), range, speed, bend };
        match curve_through_level(&arc, level, None, budget, &mut |s| found(side.at(s))) {
            Search::Complete => {}
            other => return other,
        }
    }
    Search::Complete
}

/// Cells that [`room_of_sides`] may take.
const ROOM_BUDGET: u32 = 256;

/// How far a cell stays away from the level over which the distance is monotone along u, else v: no farther
/// than on the sides across, if it has the same sign on both; 0 where it has not.
fn room_of_sides(patch: &Patch<'_>, rect: &Rect, local: &Local, along_u: bool, level: &Level<'_>) -> f64 {
    let at = |u: f64, v: f64| level.value(&patch.first(P2::new(u, v)).0).0;
    let (first, last) =
        (at(rect.u0, rect.v0), if along_u { at(rect.u1, rect.v0) } else { at(rect.u0, rect.v1) });
    let mut room = first.abs().min(last.abs());
    if (first < 0.0) != (last < 0.0) {
        return 0.0;
    }
    let Rect { u0, u1, v0, v1 } = *rect;
    let across = if along_u {
        [Side::AtU(u0), Side::AtU(u1)].map(|side| (side, [v0, v1], local.sv, local.svv))
    } else {
        [Side::AtV(v0), Side::AtV(v1)].map(|side| (side, [u0, u1], local.su, local.suu))
    };
    let mut budget = ROOM_BUDGET;
    for (side, range, speed, bend) in across {
        let arc = Arc { eval: |s: f64| patch.eval_side(side, s), range, speed, bend };
        if curve_through_level(&arc, level, Some(&mut room), &mut budget, &mut |_| true) != Search::Complete {
            return 0.0;
        }
    }
    room
}
