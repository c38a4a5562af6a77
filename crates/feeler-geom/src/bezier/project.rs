//! Nearest points on splines and grids: global search, refined by Newton steps to rounding.
//!
//! # Source
//! Piegl & Tiller, *The NURBS Book*, §6.1. The global search is branch and bound on control boxes. On a
//! spline, an arc contains at most one minimum if the Bernstein coefficients of the derivative of the
//! squared distance change their sign at most once. On a grid, the differences of the control net show
//! whether the squared distance is convex.

use arrayvec::ArrayVec;
use std::collections::BinaryHeap;

use super::{BezierSpline, BezierSurface, H4, bernstein, dehomogenized, subdivide};
use crate::frame::unit;
use crate::{Aabb, P2, P3, Rect, SurfaceDerivs, V2, V3, math};

/// Maximum number of arcs that the search on a spline visits; it then returns the best point found. A
/// larger value costs time on points with many nearest points, a smaller one misses the nearest point.
const MAX_PARTS: usize = 20_000;

/// Factor of the best squared distance found. Arcs and cells whose lower bound exceeds the product are
/// pruned, because they could improve the distance by rounding only. A larger value costs time; with a
/// smaller one nearest points are missed.
const PRUNE_FACTOR: f64 = 1.0 - 8.0 * f64::EPSILON;

fn control_box(c: &[H4]) -> Aabb {
    let mut b = Aabb::empty();
    for h in c {
        b.insert(&dehomogenized(h));
    }
    b
}

/// Lower bound of the squared distance (mm²) from `p` to a curve or patch. It is the squared distance to
/// the nearest plane that is normal to the direction of the control points' mean and has all control
/// points beyond it. The error of the bound is quadratic in the size of the curve or patch; the error of
/// a box is linear.
fn beyond_plane_sq(c: &[H4], p: &P3) -> f64 {
    let mut mean = V3::zeros();
    for h in c {
        mean += h.xyz() / h.w - p.coords;
    }
    let Some(n) = unit(mean) else { return 0.0 };
    let min_height = c.iter().fold(f64::INFINITY, |m: f64, h| m.min((h.xyz() / h.w - p.coords).dot(&n)));
    if min_height > 0.0 { min_height * min_height } else { 0.0 }
}

/// Best candidate until now: parameters and squared distance.
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

/// An arc of a spline: the range `[t0, t1]` of one piece. `t0` and `t1` lie between the breaks of the piece;
/// `shift` is added to them to get parameters of the spline beyond its period.
struct Arc {
    piece: usize,
    t0: f64,
    t1: f64,
    shift: f64,
    control: Vec<H4>,
    lower_sq: f64,
}

impl BezierSpline {
    /// Parameter in `[t0, t1]` of the curve point nearest to `p`; see [`crate::Curve::project`].
    #[must_use]
    pub fn project(&self, p: &P3, t0: f64, t1: f64) -> f64 {
        let dist_sq = |t: f64| (self.derivs(t).p - p).norm_squared();
        let mut best = Best { at: t0, dist_sq: dist_sq(t0) };
        best.offer(t1, dist_sq(t1));
        let mut stack: Vec<Arc> = Vec::new();
        for part in self.parts(t0, t1) {
            // The box of the whole piece needs no subdivision and suffices to exclude most pieces.
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
        for _ in 0..MAX_PARTS {
            let Some(arc) = stack.pop() else { break };
            if arc.lower_sq >= best.dist_sq * PRUNE_FACTOR {
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
                // The distance is monotone or has one maximum on the arc, whose ends are already
                // candidates.
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
            // Put the nearer half on top of the stack.
            if left.lower_sq <= right.lower_sq {
                stack.extend([right, left]);
            } else {
                stack.extend([left, right]);
            }
        }
        // `f64::clamp` would panic for a reversed range.
        best.at.min(t1).max(t0)
    }

    /// Finds the only minimum of the distance from `p` inside an arc at whose ends the distance
    /// decreases inwards, by Newton steps inside a bracket.
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
}

/// The searched rectangle of one patch, in the parameters of that patch.
struct Root {
    patch: (usize, usize),
    rect: Rect,
    shift: V2,
}

/// A cell of the subdivision of a root.
struct Cell {
    root: usize,
    rect: Rect,
    /// Number of halvings of one of both parameters.
    depth: u32,
    /// Whether Newton's method starts from the cell even if the squared distance is not convex there.
    is_trial: bool,
    control: Vec<H4>,
    lower_sq: f64,
}

// The cell with the smallest lower bound is on top of the heap; of two equal ones, the deeper one.
crate::ordered_by!(Cell, |a, b| b.lower_sq.total_cmp(&a.lower_sq).then(a.depth.cmp(&b.depth)));

/// Depth of subdivision from which Newton's method starts once from a cell even if the squared distance is
/// not convex there, to obtain a good upper bound early. A larger value visits more cells before the upper
/// bound is good; with a smaller one more starts fail.
const TRIAL_DEPTH: u32 = 4;
/// Maximum depth of subdivision; deeper cells are not split. A larger value costs time near focal
/// points, a smaller one can miss the nearest point.
const MAX_DEPTH: u32 = 20;
/// Ratio of the size of a cell along one parameter to that along the other one below which only the other
/// one is halved. A larger value gives fewer cells near poles, and more elsewhere.
const MAX_FLATNESS: f64 = 0.5;
/// Maximum number of consecutive cells that do not improve the best distance. The limit is necessary
/// because points on the focal set of a surface have no unique footpoint. A larger value costs time
/// there, a smaller one can miss the nearest point.
const MAX_IDLE_CELLS: usize = 3000;

impl BezierSurface {
    /// Parameters of the surface point nearest to `p`, in the rectangle `within` if it is given; see
    /// [`crate::Surface::invert`].
    #[must_use]
    pub fn invert(&self, p: &P3, hint: Option<P2>, within: Option<&Rect>) -> P2 {
        let domain = self.domain();
        // Without `within`, periodic directions are unbounded.
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
        if let Some(start) = hint
            && let Some((uv, dist_sq)) = self.newton(p, free.clamp(start), &free, &|uv| self.derivs(uv))
        {
            // A result at the border or in another patch (the joint may be a crease) can be a wrong
            // local minimum, unless it is near `p`.
            let inside = free.u0 < uv.x && uv.x < free.u1 && free.v0 < uv.y && uv.y < free.v1;
            let straight = inside && self.patch(uv) == self.patch(start);
            let near = 1e-5 * control_box(self.patch_control(self.patch(uv))).diagonal();
            if straight || dist_sq <= near * near {
                return finish(uv);
            }
            let found = self.search(p, &search);
            let better = (self.derivs(found).p - p).norm_squared() < dist_sq * (1.0 - 1e-9);
            return finish(if better { found } else { uv });
        }
        finish(self.search(p, &search))
    }

    /// Descends from `hint` to a local minimum of the distance from `p` over the whole grid. Returns the
    /// parameters and the distance (mm) of the minimum; another point of the grid may be nearer. `None`
    /// if the descent does not converge.
    #[must_use]
    pub fn descend(&self, p: &P3, hint: P2) -> Option<(P2, f64)> {
        let domain = self.domain();
        let inf = f64::INFINITY;
        let side = |periodic: bool, lo: f64, hi: f64| if periodic { (-inf, inf) } else { (lo, hi) };
        let (u0, u1) = side(self.u_periodic, domain.u0, domain.u1);
        let (v0, v1) = side(self.v_periodic, domain.v0, domain.v1);
        let free = Rect { u0, u1, v0, v1 };
        let (uv, dist_sq) = self.newton(p, free.clamp(hint), &free, &|uv| self.derivs(uv))?;
        Some((uv, dist_sq.sqrt()))
    }

    /// Returns the parameters of the point of `rect` nearest to `p`, by branch and bound. Patches are
    /// split until they are too far away, or until the squared distance is convex on them and Newton's
    /// method finds their only minimum. Patches are searched separately, because a joint may be a
    /// crease.
    fn search(&self, p: &P3, rect: &Rect) -> P2 {
        let start = rect.center();
        let mut best = Best { at: start, dist_sq: (self.derivs(start).p - p).norm_squared() };
        let (nu, nv) = (self.u_degree as usize, self.v_degree as usize);
        let (us, vs) = self.parts(rect);
        // Boxes of whole patches need no subdivision. In the order of their distances most patches are
        // never split.
        let mut near: Vec<(f64, usize, usize)> = Vec::with_capacity(us.len() * vs.len());
        for (i, u) in us.iter().enumerate() {
            for (j, v) in vs.iter().enumerate() {
                let patch = (u.piece, v.piece);
                let whole = self.patch_rect(patch);
                let inside = whole.u0 <= u.t0 && u.t1 <= whole.u1 && whole.v0 <= v.t0 && v.t1 <= whole.v1;
                let lower_sq =
                    if inside { control_box(self.patch_control(patch)).distance_sq(p) } else { 0.0 };
                near.push((lower_sq, i, j));
            }
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut roots = Vec::new();
        let mut heap = BinaryHeap::new();
        for (lower_sq, i, j) in near {
            if lower_sq >= best.dist_sq {
                break;
            }
            let (u, v) = (&us[i], &vs[j]);
            let patch = (u.piece, v.piece);
            let rect = Rect { u0: u.t0, u1: u.t1, v0: v.t0, v1: v.t1 };
            let root = Root { patch, rect, shift: V2::new(u.shift, v.shift) };
            let control = self.sub_control(patch, &rect);
            roots.push(root);
            let root = roots.len() - 1;
            let cell = Cell { root, rect, depth: 0, is_trial: false, control, lower_sq: 0.0 };
            heap.push(offered(cell, &roots, nv, p, &mut best));
        }
        let mut idle = 0;
        while let Some(cell) = heap.pop() {
            let before = best.dist_sq;
            if cell.lower_sq >= before * PRUNE_FACTOR || idle > MAX_IDLE_CELLS {
                break;
            }
            let root = &roots[cell.root];
            let convex = convex_on(&cell.control, nu, nv, p);
            if convex || cell.is_trial || cell.depth >= MAX_DEPTH {
                let reach = if convex { &cell.rect } else { &root.rect };
                let eval = |uv: P2| self.patch_derivs(root.patch, uv);
                if let Some((uv, dist_sq)) = self.newton(p, cell.rect.center(), reach, &eval) {
                    best.offer(uv + root.shift, dist_sq);
                    if convex {
                        idle = 0;
                        continue;
                    }
                }
            }
            idle = if best.dist_sq < before { 0 } else { idle + 1 };
            if cell.depth >= MAX_DEPTH || cell.lower_sq >= best.dist_sq * PRUNE_FACTOR {
                continue;
            }
            // Beside a pole, lengths along one parameter are short.
            let [along_u, along_v] = sizes(&cell.control, nv);
            let is_halved = [along_u < MAX_FLATNESS * along_v, along_v < MAX_FLATNESS * along_u].map(|x| !x);
            let depth = cell.depth + is_halved.iter().map(|x| u32::from(*x)).sum::<u32>();
            let is_trial = cell.depth < TRIAL_DEPTH && depth >= TRIAL_DEPTH;
            let parts = |is_halved: bool, low: f64, high: f64| {
                let middle = 0.5 * (low + high);
                let halves = [(0.0, 0.5, low, middle), (0.5, 1.0, middle, high)];
                if is_halved { ArrayVec::from(halves) } else { ArrayVec::from_iter([(0.0, 1.0, low, high)]) }
            };
            for (s0, s1, u0, u1) in parts(is_halved[0], cell.rect.u0, cell.rect.u1) {
                for (t0, t1, v0, v1) in parts(is_halved[1], cell.rect.v0, cell.rect.v1) {
                    let mut control = cell.control.clone();
                    for b in 0..=nv {
                        subdivide::restrict(&mut control[b..], nu, nv + 1, s0, s1);
                    }
                    for row in control.chunks_exact_mut(nv + 1) {
                        subdivide::restrict(row, nv, 1, t0, t1);
                    }
                    let rect = Rect { u0, u1, v0, v1 };
                    let child = Cell { root: cell.root, rect, depth, is_trial, control, lower_sq: 0.0 };
                    heap.push(offered(child, &roots, nv, p, &mut best));
                }
            }
        }
        best.at
    }

    /// Descends from `start` to a local minimum of the squared distance inside `rect`, and returns its
    /// parameters and its squared distance (mm²). `eval` computes the point and derivatives of the
    /// surface. The steps are Newton steps if the full Hessian is positive definite, otherwise
    /// Gauss–Newton steps, both with backtracking. A parameter at a border of `rect` is fixed if the
    /// descent leads out of the rectangle. `None` if the descent does not converge.
    fn newton(
        &self,
        p: &P3,
        start: P2,
        rect: &Rect,
        eval: &dyn Fn(P2) -> SurfaceDerivs,
    ) -> Option<(P2, f64)> {
        let mut uv = start;
        let mut d = eval(uv);
        let domain = self.domain();
        let tiny = V2::new(
            4.0 * f64::EPSILON * domain.u0.abs().max(domain.u1.abs()),
            4.0 * f64::EPSILON * domain.v0.abs().max(domain.v1.abs()),
        );
        // Limit each step to the size of one patch.
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
            let fixed_u = at_bound(uv.x, rect.u0, rect.u1, g.x);
            let fixed_v = at_bound(uv.y, rect.v0, rect.v1, g.y);
            let is_converged = |fixed: bool, g: f64, d: f64| fixed || g.abs() <= rounding * d;
            if is_converged(fixed_u, g.x, d.du.norm()) && is_converged(fixed_v, g.y, d.dv.norm()) {
                return Some((uv, f));
            }
            let gauss = [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
            let full = [gauss[0] + r.dot(&d.duu), gauss[1] + r.dot(&d.duv), gauss[2] + r.dot(&d.dvv)];
            let Some(mut step) = descent(full, g, fixed_u, fixed_v)
                .or_else(|| descent(gauss, g, fixed_u, fixed_v))
                .or_else(|| gradient_step(gauss, g, fixed_u, fixed_v))
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
                let nd = eval(next);
                let nr = nd.p - p;
                let nf = nr.norm_squared();
                // Near the minimum, distances differ by rounding only, so the gradient decides whether
                // to accept the step.
                let level = nf <= f + 8.0 * (f64::EPSILON * f + rounding * f.sqrt());
                let flatter = || {
                    let slope = |g: f64, t: &V3| g.abs() / t.norm().max(f64::MIN_POSITIVE);
                    let now = slope(nr.dot(&nd.du), &nd.du).max(slope(nr.dot(&nd.dv), &nd.dv));
                    now < 0.5 * slope(g.x, &d.du).max(slope(g.y, &d.dv))
                };
                if nf < f || (level && flatter()) {
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
                // If no step improves the distance, the descent has converged to rounding if the
                // gradient is small relative to its terms.
                let r = d.p - p;
                let slope = |fixed: bool, t: &V3| {
                    if fixed { 0.0 } else { r.dot(t).abs() / t.norm().max(f64::MIN_POSITIVE) }
                };
                let slack = 1e-7 * r.norm() + 64.0 * rounding;
                let small = slope(fixed_u, &d.du) <= slack && slope(fixed_v, &d.dv) <= slack;
                return small.then_some((uv, f));
            }
        }
        None
    }
}

/// Returns the cell with the lower bound of its squared distance from `p`, and offers its corners to
/// `best` as candidates for the nearest point.
fn offered(mut cell: Cell, roots: &[Root], nv: usize, p: &P3, best: &mut Best<P2>) -> Cell {
    let last = cell.control.len() - 1;
    let shift = roots[cell.root].shift;
    for (k, uv) in [0, last - nv, last, nv].into_iter().zip(cell.rect.corners()) {
        best.offer(uv + shift, (dehomogenized(&cell.control[k]) - p).norm_squared());
    }
    cell.lower_sq = control_box(&cell.control).distance_sq(p).max(beyond_plane_sq(&cell.control, p));
    cell
}

/// Lengths (mm) of the longest polygons of a control net along u and along v.
fn sizes(c: &[H4], nv: usize) -> [f64; 2] {
    let n = nv + 1;
    let apart = |k: usize, l: usize| (dehomogenized(&c[l]) - dehomogenized(&c[k])).norm();
    let along_u = (0..n).map(|b| (b + n..c.len()).step_by(n).map(|k| apart(k - n, k)).sum::<f64>());
    let along_v = (0..c.len()).step_by(n).map(|b| (b + 1..b + n).map(|k| apart(k - 1, k)).sum::<f64>());
    [along_u.fold(0.0, f64::max), along_v.fold(0.0, f64::max)]
}

/// Whether the squared distance from `p` is convex over a patch, estimated from the spread of the
/// differences of its control net. For rational patches with nearly equal weights the test is an
/// estimate; other rational patches are not considered convex.
#[expect(clippy::cast_precision_loss, reason = "degrees are small")]
fn convex_on(c: &[H4], nu: usize, nv: usize, p: &P3) -> bool {
    let n = nv + 1;
    let (w_min, w_max) = c.iter().fold((f64::INFINITY, 0.0_f64), |(lo, hi), h| (lo.min(h.w), hi.max(h.w)));
    let uneven = w_max / w_min - 1.0;
    if !(0.0..=0.25).contains(&uneven) {
        return false;
    }
    let x: Vec<V3> = c.iter().map(|h| h.xyz() / h.w - p.coords).collect();
    let along_u = |y: &[V3]| -> Vec<V3> { (0..y.len().saturating_sub(n)).map(|k| y[k + n] - y[k]).collect() };
    let along_v = |y: &[V3], n: usize| -> Vec<V3> {
        y.chunks_exact(n).flat_map(|row| row.windows(2).map(|w| w[1] - w[0])).collect()
    };
    let (du, dv) = (along_u(&x), along_v(&x, n));
    let (fu, fv) = (nu as f64, nv as f64);
    let duu = along_u(&du);
    let duv = along_v(&du, n);
    let dvv = if nv >= 2 { along_v(&dv, nv) } else { Vec::new() };
    let spread = |y: &[V3]| {
        let mean = y.iter().sum::<V3>() / (y.len().max(1) as f64);
        (mean, y.iter().fold(0.0, |m: f64, d| m.max((d - mean).norm())))
    };
    let (r, r_dev) = spread(&x);
    let (u, u_dev) = spread(&du);
    let (v, v_dev) = spread(&dv);
    // Unequal weights change the derivatives by about this fraction of the differences.
    let (u, u_dev) = (u * fu, (u_dev + 2.0 * uneven * u.norm()) * fu);
    let (v, v_dev) = (v * fv, (v_dev + 2.0 * uneven * v.norm()) * fv);
    let (lu, lv) = (u.norm(), v.norm());
    if lu <= 0.0 || lv <= 0.0 {
        return false;
    }
    // Middle and maximum deviation of r·S_xx over the patch, with all lengths in their own units.
    let second = |y: &[V3], f: f64, a: f64, b: f64, bend: f64| {
        let (mean, dev) = spread(y);
        let size = y.iter().fold(0.0, |m: f64, d| m.max(d.norm()));
        let off = (r.norm() + r_dev) * (f * dev + bend) + r_dev * f * size;
        (f * r.dot(&mean) / (a * b), off / (a * b))
    };
    let bend = 2.0 * uneven;
    let (ruu, euu) = second(&duu, fu * (fu - 1.0), lu, lu, bend * lu * fu);
    let (ruv, euv) = second(&duv, fu * fv, lu, lv, bend * (lu * fv + lv * fu));
    let (rvv, evv) = second(&dvv, fv * (fv - 1.0), lv, lv, bend * lv * fv);
    let (pu, pv) = (u_dev / lu, v_dev / lv);
    let (a, b, c) = (1.0 + ruu, u.dot(&v) / (lu * lv) + ruv, 1.0 + rvv);
    let off = (2.0 * pu + pu * pu + euu).max(2.0 * pv + pv * pv + evv) + (pu + pv + pu * pv + euv);
    let min_eigenvalue = 0.5 * (a + c) - math::hypot(0.5 * (a - c), b);
    min_eigenvalue > off
}

/// Solves `H step = -g` for the parameters that are not fixed; `None` unless `H = [[a, b], [b, c]]` is
/// positive definite for these.
fn descent([a, b, c]: [f64; 3], g: V2, fixed_u: bool, fixed_v: bool) -> Option<V2> {
    match (fixed_u, fixed_v) {
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

/// Returns a scaled steepest-descent step for the parameters that are not fixed; used at singular
/// points. `None` if the step is zero.
fn gradient_step([a, _, c]: [f64; 3], g: V2, fixed_u: bool, fixed_v: bool) -> Option<V2> {
    let one = |fixed: bool, g: f64, h: f64| if fixed || h <= 0.0 { 0.0 } else { -g / h };
    let step = V2::new(one(fixed_u, g.x, a), one(fixed_v, g.y, c));
    (step != V2::zeros()).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::rng;
    use rand::Rng;
    use std::f64::consts::{FRAC_PI_2, TAU};

    /// Balls as surfaces of revolution with two poles: the distance of a point is that from the centre minus
    /// the radius, also 1e-9 of the radius beside a pole, on the surface, outside and inside.
    #[test]
    fn nearest_points_beside_poles() {
        let mut r = rng(42);
        // Two quarters of a circle as rational quadratic arcs.
        let w = std::f64::consts::FRAC_1_SQRT_2;
        let at = |x: f64, z: f64, w: f64| H4::new(x * w, 0.0, z * w, w);
        let control = [
            at(0.0, -1.0, 1.0),
            at(1.0, -1.0, w),
            at(1.0, 0.0, 1.0),
            at(1.0, 0.0, 1.0),
            at(1.0, 1.0, w),
            at(0.0, 1.0, 1.0),
        ];
        let profile = BezierSpline {
            degree: 2,
            breaks: vec![0.0, 1.0, 2.0],
            control: control.to_vec(),
            periodic: false,
        };
        let ball = BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, TAU);
        for k in 0..300 {
            let polar = FRAC_PI_2 * math::powf(10.0, r.random_range(-9.0..0.0));
            let (s, c) = math::sin_cos(polar);
            let (su, cu) = math::sin_cos(r.random_range(0.0..TAU));
            let side = if k % 2 == 0 { 1.0 } else { -1.0 };
            let radius = match k % 3 {
                0 => 1.0,
                1 => 1.0 + math::powf(10.0, r.random_range(-9.0..1.0)),
                _ => 1.0 - math::powf(10.0, r.random_range(-9.0..-0.3)),
            };
            let p = P3::new(radius * s * cu, radius * s * su, radius * side * c);
            let foot = ball.derivs(ball.invert(&p, None, None)).p;
            let distance = (foot - p).norm();
            assert!((distance - (radius - 1.0).abs()).abs() < 1e-14, "{k}: {polar:e} {radius} {distance:e}");
        }
    }
}
