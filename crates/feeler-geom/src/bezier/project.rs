//! Nearest points: on a spline (certified global) and on a grid (global search, then Newton).
//!
//! # Source
//! Piegl & Tiller, *The NURBS Book*, §6.1. Global: branch and bound on control boxes; on a spline the number of
//! sign changes of the squared distance's derivative in Bernstein form tells when a part holds one minimum at most.

use super::{BezierSpline, BezierSurface, H4, bernstein, dehomogenized, eval, subdivide};
use crate::{Aabb, P2, P3, Rect, V2};

/// Parts looked at before the search settles for the best found.
const BUDGET: usize = 20_000;

/// Parts that could improve the squared distance by rounding only are left out.
const PRUNE: f64 = 1.0 - 8.0 * f64::EPSILON;

fn control_box(c: &[H4]) -> Aabb {
    let mut b = Aabb::empty();
    for h in c {
        b.insert(&dehomogenized(h));
    }
    b
}

/// Best so far.
struct Best<T> {
    at: T,
    dist_sq: f64,
}

impl<T> Best<T> {
    fn offer(&mut self, at: T, dist_sq: f64) {
        if dist_sq < self.dist_sq {
            *self = Self { at, dist_sq };
        }
    }
}

/// A part of one piece: `[t0, t1]` in the piece's own parameter.
struct Arc {
    piece: usize,
    t0: f64,
    t1: f64,
    shift: f64,
    control: Vec<H4>,
    lower_sq: f64,
}

impl BezierSpline {
    /// Parameter in `[t0, t1]` of the nearest point to `p`; see [`crate::Curve::project`].
    #[must_use]
    pub fn project(&self, p: &P3, t0: f64, t1: f64) -> f64 {
        let dist_sq = |t: f64| (self.derivs(t).p - p).norm_squared();
        let mut best = Best { at: t0, dist_sq: dist_sq(t0) };
        best.offer(t1, dist_sq(t1));
        let mut stack: Vec<Arc> = Vec::new();
        for part in self.parts(t0, t1) {
            // The whole piece's box costs no subdivision and rules most pieces out.
            if control_box(self.piece_control(part.piece)).distance_sq(p) >= best.dist_sq
                && part.t0 >= self.breaks[part.piece]
                && part.t1 <= self.breaks[part.piece + 1]
            {
                continue;
            }
            let control = self.sub_control(part.piece, part.t0, part.t1);
            let end = &control[control.len() - 1];
            best.offer(part.t0 + part.shift, (dehomogenized(&control[0]) - p).norm_squared());
            best.offer(part.t1 + part.shift, (dehomogenized(end) - p).norm_squared());
            let lower_sq = control_box(&control).distance_sq(p);
            stack.push(Arc {
                piece: part.piece,
                t0: part.t0,
                t1: part.t1,
                shift: part.shift,
                control,
                lower_sq,
            });
        }
        stack.sort_by(|a, b| b.lower_sq.total_cmp(&a.lower_sq));
        let n = self.degree as usize;
        for _ in 0..BUDGET {
            let Some(arc) = stack.pop() else { break };
            if arc.lower_sq >= best.dist_sq * PRUNE {
                continue;
            }
            let g = bernstein::approach(&arc.control, p);
            let mut signs = g.iter().filter(|x| **x != 0.0).map(|x| *x > 0.0);
            let Some(first) = signs.next() else { continue };
            let (mut last, mut changes) = (first, 0);
            for s in signs {
                changes += usize::from(s != last);
                last = s;
            }
            if changes == 0 || (changes == 1 && first) {
                // Monotone, or one maximum: the ends have been offered.
                continue;
            }
            if changes == 1 {
                let t = self.descend(p, &arc);
                best.offer(t + arc.shift, (self.piece_derivs(arc.piece, t).p - p).norm_squared());
                continue;
            }
            let middle = 0.5 * (arc.t0 + arc.t1);
            if arc.t1 - arc.t0 <= 1e-9 * (self.breaks[arc.piece + 1] - self.breaks[arc.piece]) {
                best.offer(middle + arc.shift, (self.piece_derivs(arc.piece, middle).p - p).norm_squared());
                continue;
            }
            let mut halves = [arc.control.clone(), arc.control];
            subdivide::restrict(&mut halves[0], n, 1, 0.0, 0.5);
            subdivide::restrict(&mut halves[1], n, 1, 0.5, 1.0);
            best.offer(middle + arc.shift, (dehomogenized(&halves[1][0]) - p).norm_squared());
            let [left, right] = halves;
            let make = |control: Vec<H4>, t0, t1| {
                let lower_sq = control_box(&control).distance_sq(p);
                Arc { piece: arc.piece, t0, t1, shift: arc.shift, control, lower_sq }
            };
            let (left, right) = (make(left, arc.t0, middle), make(right, middle, arc.t1));
            // The nearer half on top.
            if left.lower_sq <= right.lower_sq {
                stack.extend([right, left]);
            } else {
                stack.extend([left, right]);
            }
        }
        // Not clamp: a reversed range must not panic.
        best.at.min(t1).max(t0)
    }

    /// The one minimum inside an arc at whose ends the distance falls inwards: Newton kept in a bracket.
    fn descend(&self, p: &P3, arc: &Arc) -> f64 {
        let (mut lo, mut hi) = (arc.t0, arc.t1);
        let mut t = 0.5 * (lo + hi);
        for _ in 0..100 {
            let d = self.piece_derivs(arc.piece, t);
            let r = d.p - p;
            let g = r.dot(&d.d1);
            let h = d.d1.norm_squared() + r.dot(&d.d2);
            if g > 0.0 {
                hi = t;
            } else {
                lo = t;
            }
            let newton = t - g / h;
            let next = if h > 0.0 && lo < newton && newton < hi { newton } else { 0.5 * (lo + hi) };
            if (next - t).abs() <= 2.0 * f64::EPSILON * t.abs().max(hi - lo) || g == 0.0 {
                return if g == 0.0 { t } else { next };
            }
            t = next;
        }
        t
    }

    /// Derivatives of piece `i`, extrapolated outside.
    fn piece_derivs(&self, i: usize, t: f64) -> crate::CurveDerivs {
        let (t0, t1) = (self.breaks[i], self.breaks[i + 1]);
        let inv = 1.0 / (t1 - t0);
        let mut h = eval::curve_h(self.piece_control(i), (t - t0) * inv);
        h[1] *= inv;
        h[2] *= inv * inv;
        eval::project_curve(&h)
    }
}

/// A cell of one patch, in the patch's own parameters.
struct Cell {
    patch: (usize, usize),
    rect: Rect,
    shift: V2,
    depth: u32,
    control: Vec<H4>,
    lower_sq: f64,
}

/// Cells this many halvings below their patch are left to Newton.
const DEPTH: u32 = 4;

impl BezierSurface {
    /// Parameters of the nearest point to `p`; see [`crate::Surface::invert`].
    #[must_use]
    pub fn invert(&self, p: &P3, hint: Option<P2>, within: Option<&Rect>) -> P2 {
        let domain = self.domain();
        // Without a range, periodic directions have no ends.
        let inf = f64::INFINITY;
        let (fu, fv) = (self.u_periodic && within.is_none(), self.v_periodic && within.is_none());
        let search = within.copied().unwrap_or(domain);
        let free = Rect {
            u0: if fu { -inf } else { search.u0 },
            u1: if fu { inf } else { search.u1 },
            v0: if fv { -inf } else { search.v0 },
            v1: if fv { inf } else { search.v1 },
        };
        let finish = |uv: P2| if within.is_none() { domain.clamp(self.wrapped(uv)) } else { uv };
        if let Some(uv) = hint
            && let Some((uv, dist_sq)) = self.newton(p, free.clamp(uv), &free)
        {
            // A stop at the border may be the end of a wrong way, unless it is near.
            let inside = free.u0 < uv.x && uv.x < free.u1 && free.v0 < uv.y && uv.y < free.v1;
            let near = 1e-3 * control_box(self.patch_control(self.patch(uv))).diagonal();
            if inside || dist_sq <= near * near {
                return finish(uv);
            }
        }
        finish(self.search(p, &search, &free))
    }

    fn search(&self, p: &P3, rect: &Rect, free: &Rect) -> P2 {
        let start = rect.center();
        let mut best = Best { at: start, dist_sq: (self.derivs(start).p - p).norm_squared() };
        let (nu, nv) = (self.u_degree as usize, self.v_degree as usize);
        let (us, vs) = self.parts(rect);
        let mut stack = Vec::with_capacity(us.len() * vs.len());
        for u in &us {
            for v in &vs {
                let patch = (u.piece, v.piece);
                let inside = u.t0 >= self.u_breaks[u.piece]
                    && u.t1 <= self.u_breaks[u.piece + 1]
                    && v.t0 >= self.v_breaks[v.piece]
                    && v.t1 <= self.v_breaks[v.piece + 1];
                if inside && control_box(self.patch_control(patch)).distance_sq(p) >= best.dist_sq {
                    continue;
                }
                let rect = Rect { u0: u.t0, u1: u.t1, v0: v.t0, v1: v.t1 };
                let shift = V2::new(u.shift, v.shift);
                let control = self.sub_control(patch, &rect);
                stack.push(make_cell(patch, rect, shift, 0, control, nv, p, &mut best));
            }
        }
        stack.sort_by(|a, b| b.lower_sq.total_cmp(&a.lower_sq));
        for _ in 0..BUDGET {
            let Some(cell) = stack.pop() else { break };
            if cell.lower_sq >= best.dist_sq * PRUNE {
                continue;
            }
            if cell.depth >= DEPTH {
                // From the middle over the whole range: cells at a patch's border lead into its neighbours.
                let from = cell.rect.center() + cell.shift;
                if let Some((uv, dist_sq)) = self.newton(p, from, free) {
                    best.offer(uv, dist_sq);
                }
                continue;
            }
            let c = cell.rect.center();
            let mut children = Vec::with_capacity(4);
            for (s, u0, u1) in [(0.0, cell.rect.u0, c.x), (0.5, c.x, cell.rect.u1)] {
                for (t, v0, v1) in [(0.0, cell.rect.v0, c.y), (0.5, c.y, cell.rect.v1)] {
                    let mut control = cell.control.clone();
                    for b in 0..=nv {
                        subdivide::restrict(&mut control[b..], nu, nv + 1, s, s + 0.5);
                    }
                    for row in control.chunks_exact_mut(nv + 1) {
                        subdivide::restrict(row, nv, 1, t, t + 0.5);
                    }
                    let rect = Rect { u0, u1, v0, v1 };
                    let depth = cell.depth + 1;
                    children.push(make_cell(cell.patch, rect, cell.shift, depth, control, nv, p, &mut best));
                }
            }
            children.sort_by(|a, b| b.lower_sq.total_cmp(&a.lower_sq));
            stack.extend(children);
        }
        // The best may still be a cell's corner.
        if let Some((uv, dist_sq)) = self.newton(p, best.at, free) {
            best.offer(uv, dist_sq);
        }
        best.at
    }

    /// Minimum of the squared distance from `uv` downhill inside `rect`: Newton on the full Hessian where it is
    /// positive definite, Gauss–Newton elsewhere, with backtracking; a bound that the descent presses against is
    /// held. `None` when it does not settle.
    fn newton(&self, p: &P3, start: P2, rect: &Rect) -> Option<(P2, f64)> {
        let mut uv = start;
        let mut d = self.derivs(uv);
        let domain = self.domain();
        let tiny = V2::new(
            4.0 * f64::EPSILON * domain.u0.abs().max(domain.u1.abs()),
            4.0 * f64::EPSILON * domain.v0.abs().max(domain.v1.abs()),
        );
        // One patch at most a step.
        #[expect(clippy::cast_precision_loss, reason = "numbers of patches are small")]
        let stride = {
            let (n_u, n_v) = self.n_patches();
            V2::new(domain.width() / n_u as f64, domain.height() / n_v as f64)
        };
        let rounding = 8.0 * f64::EPSILON * (p.coords.amax() + d.p.coords.amax());
        let mut f = (d.p - p).norm_squared();
        for _ in 0..60 {
            let r = d.p - p;
            if !f.is_finite() {
                return None;
            }
            let g = V2::new(r.dot(&d.du), r.dot(&d.dv));
            let at_bound = |x: f64, lo: f64, hi: f64, g: f64| (x <= lo && g > 0.0) || (x >= hi && g < 0.0);
            let hold_u = at_bound(uv.x, rect.u0, rect.u1, g.x);
            let hold_v = at_bound(uv.y, rect.v0, rect.v1, g.y);
            let settled = |hold: bool, g: f64, d: f64| hold || g.abs() <= rounding * d;
            if settled(hold_u, g.x, d.du.norm()) && settled(hold_v, g.y, d.dv.norm()) {
                return Some((uv, f));
            }
            let gauss = [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
            let full = [gauss[0] + r.dot(&d.duu), gauss[1] + r.dot(&d.duv), gauss[2] + r.dot(&d.dvv)];
            let Some(mut step) = descent(full, g, hold_u, hold_v)
                .or_else(|| descent(gauss, g, hold_u, hold_v))
                .or_else(|| gradient_step(gauss, g, hold_u, hold_v))
            else {
                return Some((uv, f));
            };
            let excess = (step.x.abs() / stride.x).max(step.y.abs() / stride.y);
            if excess > 1.0 {
                step /= excess;
            }
            let mut moved = false;
            for _ in 0..30 {
                let next = rect.clamp(uv + step);
                let nd = self.derivs(next);
                let nf = (nd.p - p).norm_squared();
                if nf <= f {
                    let by = next - uv;
                    let in_space = (d.du * by.x + d.dv * by.y).norm();
                    moved = (by.x.abs() > tiny.x || by.y.abs() > tiny.y) && in_space > 0.25 * rounding;
                    (uv, d, f) = (next, nd, nf);
                    break;
                }
                step *= 0.5;
                if step.x.abs() <= tiny.x && step.y.abs() <= tiny.y {
                    break;
                }
            }
            if !moved {
                // No step improves any more: settled to rounding if the gradient is small against its terms.
                let r = d.p - p;
                let slope = |hold: bool, t: &crate::V3| {
                    if hold { 0.0 } else { r.dot(t).abs() / t.norm().max(1e-300) }
                };
                let slack = 1e-7 * r.norm() + 64.0 * rounding;
                let small = slope(hold_u, &d.du) <= slack && slope(hold_v, &d.dv) <= slack;
                return small.then_some((uv, f));
            }
        }
        None
    }
}

#[expect(clippy::too_many_arguments, reason = "a constructor in two places")]
fn make_cell(
    patch: (usize, usize),
    rect: Rect,
    shift: V2,
    depth: u32,
    control: Vec<H4>,
    nv: usize,
    p: &P3,
    best: &mut Best<P2>,
) -> Cell {
    let last = control.len() - 1;
    for (k, uv) in [0, last - nv, last, nv].into_iter().zip(rect.corners()) {
        best.offer(uv + shift, (dehomogenized(&control[k]) - p).norm_squared());
    }
    let lower_sq = control_box(&control).distance_sq(p);
    Cell { patch, rect, shift, depth, control, lower_sq }
}

/// Solution of `H step = -g` in the directions that are not held, where `H = [[a, b], [b, c]]` is positive definite
/// there.
fn descent([a, b, c]: [f64; 3], g: V2, hold_u: bool, hold_v: bool) -> Option<V2> {
    match (hold_u, hold_v) {
        (true, true) => None,
        (true, false) => (c > 0.0).then(|| V2::new(0.0, -g.y / c)),
        (false, true) => (a > 0.0).then(|| V2::new(-g.x / a, 0.0)),
        (false, false) => {
            let det = a * c - b * b;
            (a > 0.0 && c > 0.0 && det > 1e-14 * a * c)
                .then(|| V2::new((b * g.y - c * g.x) / det, (b * g.x - a * g.y) / det))
        }
    }
}

/// Scaled steepest descent, for singular points.
fn gradient_step([a, _, c]: [f64; 3], g: V2, hold_u: bool, hold_v: bool) -> Option<V2> {
    let one = |hold: bool, g: f64, h: f64| if hold || h <= 0.0 { 0.0 } else { -g / h };
    let step = V2::new(one(hold_u, g.x, a), one(hold_v, g.y, c));
    (step != V2::zeros()).then_some(step)
}
