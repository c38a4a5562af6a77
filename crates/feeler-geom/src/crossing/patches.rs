//! Crossings of curves and patches with patches that have no closed form of the distance: cells of both
//! the curve or patch and the other patch are subdivided.

use super::{Arc, Local, Patch, Search, Side, halves};
use crate::{P2, P3, Rect, V3};
use arrayvec::ArrayVec;
use nalgebra::Matrix3;

/// Patch whose points are all displaced by the same length against the outward normals there, into the
/// material.
#[derive(Clone, Copy, Debug)]
pub struct Shifted<'a> {
    /// Patch before the displacement.
    pub patch: Patch<'a>,
    /// Length (mm) by which each point is displaced against its outward normal.
    pub by: f64,
    /// Distance (mm, positive) within which a whole cell counts as a crossing, like
    /// [`Level::slack`](super::Level::slack).
    pub slack: f64,
}

/// Cell of a shifted patch: the displaced middle `p`, the outward unit normal `n` there, and an upper
/// bound `turn` (sine, at most 1) of the angle between `n` and the patch's normals over the cell.
struct ShiftedCell {
    local: Local,
    p: P3,
    n: V3,
    turn: f64,
}

impl Shifted<'_> {
    fn cell_at(&self, rect: &Rect) -> ShiftedCell {
        let local = self.patch.local(rect);
        let (cross, aside) = local.normal();
        let len = cross.norm();
        let sign = if self.patch.outward { 1.0 } else { -1.0 };
        let (axis, sine) = self.patch.cone;
        let (n, turn) = if aside < sine * len {
            (cross * (sign / len), aside / len)
        } else {
            (self.patch.pose.map_or(axis, |pose| pose * axis), sine)
        };
        ShiftedCell { p: local.p - n * self.by, n, turn, local }
    }
}

impl ShiftedCell {
    /// Bounds of the components of the displaced cell's points along a unit direction (mm), relative to
    /// the displaced middle. They include the variation of the displacement, of length `by`, over the
    /// cell.
    fn range(&self, w: &V3, by: f64) -> [f64; 2] {
        let [lo, hi] = self.local.range(w);
        let variation = by * 1.5 * self.turn;
        [lo - variation, hi + variation]
    }

    /// Returns unit directions along which the cell may be separated from another one; the first is the
    /// cell's normal.
    fn axes(&self) -> [V3; 3] {
        let t = self.local.du.try_normalize(0.0).unwrap_or_else(V3::zeros);
        [self.n, t, self.n.cross(&t)]
    }
}

/// Maximum number of pending pairs of cells of two patches, enough for 60 cuts in each of the four
/// parameters. Beyond it the search ends as if its budget were exhausted; a larger value needs more
/// memory.
const MAX_PENDING_PAIRS: usize = 240;
/// Maximum number of pending pairs of a curve's cell and a patch's cell. Beyond it the search ends as if
/// its budget were exhausted; a larger value needs more memory.
const MAX_PENDING: usize = 160;

/// Reports to `found` the parameters of a curve and of a patch at which the curve passes through the
/// shifted patch or comes within its slack, at least one for each passage. The search stops if `found`
/// returns `true`. `budget` is the number of pairs of cells that may still be evaluated, and is reduced
/// by those used.
pub fn curve_through_patch<F: Fn(f64) -> (P3, V3)>(
    arc: &Arc<F>,
    target: &Shifted<'_>,
    budget: &mut u32,
    found: &mut impl FnMut(f64, P2) -> bool,
) -> Search {
    let mut stack = [(arc.range, target.patch.rect); MAX_PENDING];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let ([a, b], rect) = stack[top];
        if *budget == 0 {
            let left = stack[..=top].iter().map(|([a, b], rect)| {
                let cell = target.cell_at(rect);
                let (p, _) = (arc.eval)(0.5 * (a + b));
                arc.speed * 0.5 * (b - a) + cell.range(&cell.n, target.by)[1] - (p - cell.p).dot(&cell.n)
            });
            return Search::BudgetExhausted(left.fold(0.0, f64::max));
        }
        *budget -= 1;
        let (m, h) = (0.5 * (a + b), 0.5 * (b - a));
        let (p, d) = (arc.eval)(m);
        let bow = 0.5 * arc.bend * h * h;
        let cell = target.cell_at(&rect);
        let apart = p - cell.p;
        // Interval of the vector from the cell to the curve along a direction.
        let between = |w: &V3| {
            let (of_curve, [lo, hi]) =
                ((d.dot(w).abs() * h + bow).min(arc.speed * h), cell.range(w, target.by));
            let middle = apart.dot(w);
            [middle - of_curve - hi, middle + of_curve - lo]
        };
        let to = apart.try_normalize(0.0).unwrap_or(cell.n);
        let [n, t, s] = cell.axes();
        let is_separated = |[lo, hi]: [f64; 2]| lo > 0.0 || hi < 0.0;
        let [low, high] = between(&n);
        if is_separated([low, high])
            || is_separated(between(&to))
            || is_separated(between(&t))
            || is_separated(between(&s))
        {
            continue;
        }
        if cell.turn < 0.5 && -low <= target.slack && high <= target.slack {
            if found(m, rect.center()) {
                return Search::Stopped;
            }
            continue;
        }
        // The curve passes through the cell steeply, so there is at most one crossing, which Newton's
        // method finds.
        if d.dot(&n).abs() > 1.2 * (arc.bend * h + arc.speed * cell.turn)
            && let Some(at) = crossing_by_newton(arc, target, (m, rect.center()), ([a, b], &rect))
        {
            if let Some((s, uv)) = at
                && found(s, uv)
            {
                return Search::Stopped;
            }
            continue;
        }
        if top + 2 > MAX_PENDING {
            return Search::BudgetExhausted((-low).max(0.0));
        }
        let (of_curve, of_u, of_v) =
            (arc.speed * h, cell.local.su * cell.local.hu, cell.local.sv * cell.local.hv);
        let can_cut = a < m && m < b;
        if can_cut && of_curve >= of_u.max(of_v) {
            stack[top] = ([m, b], rect);
            stack[top + 1] = ([a, m], rect);
        } else {
            let [first, second] = halves(&rect, of_u >= of_v);
            stack[top] = ([a, b], second);
            stack[top + 1] = ([a, b], first);
        }
        top += 2;
    }
    Search::Complete
}

/// Computes the crossing of a curve and a shifted patch by Newton's method, over a range of the curve
/// and a rectangle of the patch that contain at most one. The start is the curve's parameter with those
/// of the patch. The inner `None` means that the crossing is outside the range or rectangle, the outer
/// one that the method does not converge.
#[expect(clippy::option_option, reason = "the search has three outcomes")]
fn crossing_by_newton<F: Fn(f64) -> (P3, V3)>(
    arc: &Arc<F>,
    target: &Shifted<'_>,
    (mut s, mut uv): (f64, P2),
    (range, rect): ([f64; 2], &Rect),
) -> Option<Option<(f64, P2)>> {
    let (ws, wu, wv) = (range[1] - range[0], rect.width(), rect.height());
    for _ in 0..12 {
        let (p, d) = (arc.eval)(s);
        let (q, du, dv) = target.patch.first(uv);
        let n = du.cross(&dv).try_normalize(0.0)? * if target.patch.outward { 1.0 } else { -1.0 };
        let r = q - n * target.by - p;
        if r.norm() <= 1e-2 * target.slack {
            let slack = 1e-9;
            let inside = (range[0] - slack * ws..=range[1] + slack * ws).contains(&s)
                && (rect.u0 - slack * wu..=rect.u1 + slack * wu).contains(&uv.x)
                && (rect.v0 - slack * wv..=rect.v1 + slack * wv).contains(&uv.y);
            return Some(inside.then_some((s, uv)));
        }
        let step = Matrix3::from_columns(&[du, dv, -d]).try_inverse()? * r;
        (uv, s) = (P2::new(uv.x - step.x, uv.y - step.y), s - step.z);
        // The bounds of the cell are not valid farther away.
        let beside = |x: f64, lo: f64, w: f64| x < lo - w || x > lo + 2.0 * w;
        if beside(s, range[0], ws) || beside(uv.x, rect.u0, wu) || beside(uv.y, rect.v0, wv) {
            return None;
        }
    }
    None
}

/// Reports to `found` the parameters on both patches of points in which the first patch passes through
/// the shifted second one or comes within its slack. At least one point is reported of every crossing
/// curve that reaches the boundary of neither patch. The search stops if `found` returns `true`.
/// `budget` is the number of pairs of cells that may still be evaluated, and is reduced by those used.
pub fn patch_through_patch(
    patch: &Patch<'_>,
    target: &Shifted<'_>,
    budget: &mut u32,
    found: &mut impl FnMut(P2, P2) -> bool,
) -> Search {
    let own = Shifted { patch: *patch, by: 0.0, slack: target.slack };
    let mut stack: ArrayVec<(Rect, Rect), MAX_PENDING_PAIRS> = ArrayVec::new();
    stack.push((patch.rect, target.patch.rect));
    while let Some((first, second)) = stack.pop() {
        if *budget == 0 {
            stack.push((first, second));
            let left = stack.iter().map(|(first, second)| {
                let (a, b) = (own.cell_at(first), target.cell_at(second));
                b.range(&b.n, target.by)[1] - a.range(&b.n, 0.0)[0] - (a.p - b.p).dot(&b.n)
            });
            return Search::BudgetExhausted(left.fold(0.0, f64::max));
        }
        *budget -= 1;
        let (a, b) = (own.cell_at(&first), target.cell_at(&second));
        let apart = a.p - b.p;
        // Interval of the vector from the second cell to the first one along a direction.
        let between = |w: &V3| {
            let ([lo_a, hi_a], [lo_b, hi_b]) = (a.range(w, 0.0), b.range(w, target.by));
            let middle = apart.dot(w);
            [middle + lo_a - hi_b, middle + hi_a - lo_b]
        };
        let is_separated = |[lo, hi]: [f64; 2]| lo > 0.0 || hi < 0.0;
        let to = apart.try_normalize(0.0).unwrap_or(b.n);
        let [low, high] = between(&b.n);
        if is_separated([low, high])
            || is_separated(between(&to))
            || a.axes().iter().chain(&b.axes()[1..]).any(|w| is_separated(between(w)))
        {
            continue;
        }
        // No two normals are parallel, in either sense, so no closed crossing curve lies inside both
        // cells.
        let sine = a.n.cross(&b.n).norm();
        if a.turn < 0.7 && b.turn < 0.7 && sine > a.turn + b.turn {
            match borders(patch, &first, &a, target, &second, &b, budget, found) {
                Search::Complete => continue,
                other => return other,
            }
        }
        if b.turn < 0.5 && -low <= target.slack && high <= target.slack {
            if found(first.center(), second.center()) {
                return Search::Stopped;
            }
            continue;
        }
        if stack.len() + 2 > MAX_PENDING_PAIRS {
            return Search::BudgetExhausted((-low).max(0.0));
        }
        // Cut the cell that bulges or turns more.
        let (of_a, of_b) = (a.local.radius() * a.turn, b.local.radius() * b.turn);
        let cut_a = of_a > of_b || (of_a >= of_b && a.local.radius() >= b.local.radius());
        let across_u = |l: &Local| {
            let (u, v) = ((l.suu * l.sv + l.su * l.suv) * l.hu, (l.suv * l.sv + l.su * l.svv) * l.hv);
            l.across_u(u, v)
        };
        if cut_a {
            let [x, y] = halves(&first, across_u(&a.local));
            stack.push((y, second));
            stack.push((x, second));
        } else {
            let [x, y] = halves(&second, across_u(&b.local));
            stack.push((first, y));
            stack.push((first, x));
        }
    }
    Search::Complete
}

/// Searches for the crossings of the sides of each cell of a pair at its smallest u and its smallest v
/// with the other cell, and reports them to `found`. `first` and `a` are the rectangle and the bounds of
/// the cell of `patch`, `second` and `b` those of the cell of `target`.
#[expect(clippy::too_many_arguments, reason = "two cells with what is known of them")]
fn borders(
    patch: &Patch<'_>,
    first: &Rect,
    a: &ShiftedCell,
    target: &Shifted<'_>,
    second: &Rect,
    b: &ShiftedCell,
    budget: &mut u32,
    found: &mut impl FnMut(P2, P2) -> bool,
) -> Search {
    let to_second = Shifted { patch: target.patch.over(*second), ..*target };
    for (side, range, speed, bend) in patch.sides(first, &a.local) {
        let arc = Arc { eval: |s: f64| patch.eval_side(side, s), range, speed, bend };
        match curve_through_patch(&arc, &to_second, budget, &mut |s, uv| found(side.at(s), uv)) {
            Search::Complete => {}
            other => return other,
        }
    }
    // In the reverse search the first patch is not displaced, but the sides of the second one are.
    let to_first = Shifted { patch: patch.over(*first), by: 0.0, slack: target.slack };
    let sign = if target.patch.outward { 1.0 } else { -1.0 };
    for (side, range, speed, bend) in target.patch.sides(second, &b.local) {
        let eval = |s: f64| {
            let (p, du, dv) = target.patch.first(side.at(s));
            let n = du.cross(&dv).try_normalize(0.0).unwrap_or_else(V3::zeros) * sign;
            (p - n * target.by, if matches!(side, Side::AtU(_)) { dv } else { du })
        };
        let arc = Arc { eval, range, speed, bend };
        match curve_through_patch(&arc, &to_first, budget, &mut |s, uv| found(uv, side.at(s))) {
            Search::Complete => {}
            other => return other,
        }
    }
    Search::Complete
}
