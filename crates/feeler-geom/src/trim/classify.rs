//! Queries of a trimmed domain: classification of points and rectangles, nearest boundary points,
//! interior samples and boundary polylines.
//!
//! # Source
//! BREP §2.4.1 (rectangles outside the domain), §4.4.1 (points).

use super::cells::{extent, winding_step};
use super::piece::solve_monotone;
use super::tree::{self, UvBox};
use super::{TrimCells, TrimPiece};
use crate::{P2, Rect, V2, math};

/// Position of a point relative to a trimmed domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The point is inside the domain.
    Inside,
    /// The point is outside the domain.
    Outside,
}

/// Distance outside the base rectangle of the domain, relative to the largest coordinate of its sides,
/// within which a point counts as on its side. With a larger value outer points count as inside; with a
/// smaller one points on the sides are lost to rounding.
const BORDER_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Returns `x` clamped to `[lo, hi]`, or `None` if it is outside by more than [`BORDER_ROUNDING`]
/// allows.
fn clamped(x: f64, lo: f64, hi: f64) -> Option<f64> {
    let eps = BORDER_ROUNDING * lo.abs().max(hi.abs()).min(f64::MAX);
    (lo - eps <= x && x <= hi + eps).then(|| x.max(lo).min(hi))
}

/// Strip of the parameter plane between two parallels to the chord of a curve: the points whose
/// coordinate along `normal`, measured from `start`, is between `lowest` and `highest`. Unlike a strip
/// of [`TrimCells`], it can have any direction.
#[derive(Clone, Copy, Debug)]
struct Strip {
    start: P2,
    normal: V2,
    lowest: f64,
    highest: f64,
}

impl Strip {
    /// Returns the strip that contains all points within `beside.x` in u and `beside.y` in v of a point
    /// of the curve `part`. Returns `None` if the ends of the curve coincide.
    fn around(part: &TrimPiece, beside: V2) -> Option<Self> {
        let [start, .., end] = part.control;
        let chord = (end - start).try_normalize(f64::MIN_POSITIVE)?;
        let normal = V2::new(-chord.y, chord.x);
        let off = part.control.map(|p| normal.dot(&(p - start)));
        let half_width = normal.x.abs() * beside.x + normal.y.abs() * beside.y;
        let (lowest, highest) = range(off);
        Some(Self { start, normal, lowest: lowest - half_width, highest: highest + half_width })
    }

    /// Whether the strip, moved by `shift`, may contain a point of the monotone boundary piece `piece`
    /// within the rectangle `r`. `false` proves that it contains none. `slack` contains upper bounds of
    /// the rounding errors of boundary points in u and in v.
    fn meets(&self, piece: &TrimPiece, r: &Rect, shift: V2, slack: [f64; 2]) -> bool {
        // The parameters at which the piece enters and leaves the rectangle, by v or by u, whichever
        // range is longer.
        let (us, vs) = (piece.us(), piece.vs());
        let by_v = (vs[3] - vs[0]).abs() * (r.u1 - r.u0) >= (us[3] - us[0]).abs() * (r.v1 - r.v0);
        let (c, lo, hi) = if by_v { (vs, r.v0, r.v1) } else { (us, r.u0, r.u1) };
        let at = [lo, hi].map(|x| solve_monotone(c, x));
        let (from, to) = (at[0].min(at[1]) - PARAMETER_SLACK, at[0].max(at[1]) + PARAMETER_SLACK);
        let inside = piece.part(from.max(0.0), to.min(1.0));
        let start = self.start + shift;
        let (lowest, highest) = range(inside.control.map(|p| self.normal.dot(&(p - start))));
        let slack = self.normal.x.abs() * slack[0] + self.normal.y.abs() * slack[1];
        lowest <= self.highest + slack && self.lowest - slack <= highest
    }
}

/// Amount by which the interval of a piece's parameter (in [0, 1]) over which the piece is inside a
/// rectangle is extended at both ends. With a larger value more of the piece beyond the rectangle is
/// tested; with a smaller one crossings at the sides of rectangles are missed.
const PARAMETER_SLACK: f64 = 1e-9;

fn range(values: [f64; 4]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(*x), hi.max(*x)))
}

impl TrimCells {
    /// Returns `uv` shifted by whole periods into the base rectangle `rect`. Returns `None` if it is
    /// outside the rectangle in a parameter without a period.
    pub(super) fn wrapped(&self, uv: P2) -> Option<P2> {
        let r = &self.rect;
        let u = self.u_period.map_or(uv.x, |p| math::wrap(uv.x, r.u0, p));
        let v = self.v_period.map_or(uv.y, |p| math::wrap(uv.y, r.v0, p));
        Some(P2::new(clamped(u, r.u0, r.u1)?, clamped(v, r.v0, r.v1)?))
    }

    /// Returns the index of the strip of the base rectangle that contains `v`: the strip between two
    /// neighbouring values of [`TrimCells::rows`].
    pub(super) fn strip(&self, v: f64) -> usize {
        self.strip_v.partition_point(|s| *s <= v).clamp(1, self.n_strips()) - 1
    }

    /// Returns the winding number of the boundary around a point of the base rectangle; it is positive
    /// inside the domain. It is computed along the line of constant v from the left side of the
    /// rectangle (small u) to the point. A piece through the point counts as crossed, so the point
    /// counts as being on the side of larger u of that piece.
    pub(super) fn winding(&self, uv: P2) -> i32 {
        let strip = self.strip(uv.y);
        let mut w = self.strip_base[strip];
        for &node in self.nodes(strip) {
            let (first, groups) = self.node(node);
            let g = groups.partition_point(|g| g.hi < uv.x).min(groups.len() - 1);
            w += groups[g].before;
            if groups[g].lo <= uv.x && g + 1 < groups.len() {
                let members = groups[g].first as usize..self.groups[first + g + 1].first as usize;
                for &m in &self.members[members] {
                    let p = &self.pieces[m as usize];
                    if p.u_at_v(uv.y) <= uv.x {
                        w += winding_step(p);
                    }
                }
            }
        }
        w
    }

    /// Classifies a point of the parameter plane, which is first shifted by whole periods into the base
    /// rectangle. The cost is two binary searches and at most a few bisections.
    #[must_use]
    pub fn classify(&self, uv: P2) -> Side {
        match self.wrapped(uv) {
            Some(uv) if self.winding(uv) > 0 => Side::Inside,
            _ => Side::Outside,
        }
    }

    /// Returns all crossings of the line of constant `v` with boundary pieces that are not horizontal.
    /// Each entry is the u of the crossing and the change of the winding number there; the entries are
    /// sorted by increasing u.
    pub(super) fn crossings(&self, v: f64) -> Vec<(f64, i32)> {
        let strip = self.strip(v);
        let mut out: Vec<(f64, i32)> = Vec::new();
        for &node in self.nodes(strip) {
            let (first, groups) = self.node(node);
            let end = self.groups[first + groups.len() - 1].first as usize;
            let begin = groups[0].first as usize;
            out.extend(self.members[begin..end].iter().map(|&m| {
                let p = &self.pieces[m as usize];
                (p.u_at_v(v), winding_step(p))
            }));
        }
        out.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        out
    }

    /// Returns the intervals of u over which the line of constant `v` is inside the domain, in the base
    /// rectangle and by increasing u. The list is empty if the line is outside the base rectangle.
    #[must_use]
    pub fn inside_on_row(&self, v: f64) -> Vec<(f64, f64)> {
        let mut out: Vec<(f64, f64)> = Vec::new();
        let Some(v) = clamped(v, self.rect.v0, self.rect.v1) else { return out };
        let (mut winding, mut u) = (self.strip_base[self.strip(v)], self.rect.u0);
        for (next, change) in self.crossings(v).into_iter().chain([(self.rect.u1, 0)]) {
            if winding > 0 && u < next {
                match out.last_mut() {
                    Some(last) if last.1 >= u => last.1 = next,
                    _ => out.push((u, next)),
                }
            }
            (winding, u) = (winding + change, u.max(next));
        }
        out
    }

    /// Returns increasing values of v; all lines of constant v between two neighbouring values intersect
    /// the same boundary pieces.
    #[must_use]
    pub fn rows(&self) -> &[f64] {
        &self.strip_v
    }

    /// Whether a rectangle, which may extend beyond the base rectangle by whole periods, may intersect
    /// the domain. `false` proves that it is wholly outside: the decision uses bounds of the boundary
    /// pieces, not samples.
    #[must_use]
    pub fn may_touch(&self, rect: &Rect) -> bool {
        self.images(rect).into_iter().any(|r| {
            // A rectangle without boundary is uniform, so one point decides.
            self.boundary_in_image(&r)
                || self.winding(P2::new(0.5 * r.u0 + 0.5 * r.u1, 0.5 * r.v0 + 0.5 * r.v1)) > 0
        })
    }

    /// Whether a rectangle, which may extend beyond the base rectangle by whole periods, may contain a
    /// point of the domain's boundary. `false` proves that it contains none.
    #[must_use]
    pub fn has_boundary_in(&self, rect: &Rect) -> bool {
        self.images(rect).iter().any(|r| self.boundary_in_image(r))
    }

    /// Whether a point of the domain's boundary may be near the curve `part`, that is, within `beside.x`
    /// in u and `beside.y` in v of a point of it. `false` proves that no boundary point is that near. If
    /// the curve runs along the boundary, this test is sharper than that of a rectangle, because both are
    /// enclosed between parallels to the curve's chord.
    #[must_use]
    pub fn has_boundary_beside(&self, part: &TrimPiece, beside: V2) -> bool {
        let box_of = part.bounds();
        let rect = Rect {
            u0: box_of.u0 - beside.x,
            u1: box_of.u1 + beside.x,
            v0: box_of.v0 - beside.y,
            v1: box_of.v1 + beside.y,
        };
        let strip = Strip::around(part, beside);
        let images = self.images(&rect);
        // A rectangle across the end of a period has several images.
        let [image] = &images[..] else { return images.iter().any(|r| self.boundary_in_image(r)) };
        let shift = V2::new(image.u0 - rect.u0, image.v0 - rect.v0);
        let slack = self.rounding();
        let is_whole = (image.u1 - rect.u1 - shift.x).abs() <= 4.0 * slack[0]
            && (image.v1 - rect.v1 - shift.y).abs() <= 4.0 * slack[1];
        self.boundary_in(image, |piece| {
            !is_whole || strip.is_none_or(|strip| strip.meets(piece, image, shift, slack))
        })
    }

    fn boundary_in_image(&self, r: &Rect) -> bool {
        self.boundary_in(r, |_| true)
    }

    /// Whether a boundary piece satisfies `condition`. Only pieces that may have a point in the
    /// rectangle `r`, which lies in the base rectangle, are tested.
    fn boundary_in(&self, r: &Rect, condition: impl Fn(&TrimPiece) -> bool) -> bool {
        let pad = self.rounding();
        let (u0, u1, v0, v1) = (r.u0 - pad[0], r.u1 + pad[0], r.v0 - pad[1], r.v1 + pad[1]);
        let meets = |b: &UvBox| b[0] <= u1 && u0 <= b[1] && b[2] <= v1 && v0 <= b[3];
        tree::visit(&self.boxes, self.pieces.len(), meets, |i| {
            let p = &self.pieces[i];
            let b = tree::piece_box(p);
            // The part of a monotone piece at these v spans the u of its ends.
            meets(&b)
                && {
                    let (a, c) = (p.u_at_v(v0.max(b[2])), p.u_at_v(v1.min(b[3])));
                    // In a nearly horizontal piece rounding of v changes u arbitrarily, so its whole box
                    // counts.
                    (b[3] - b[2] <= 4.0 * pad[1]) || (a.min(c) <= u1 && u0 <= a.max(c))
                }
                && condition(p)
        })
    }

    /// Upper bounds of the rounding errors of the u and the v of a boundary point.
    pub(super) fn rounding(&self) -> [f64; 2] {
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let (r, size) = (&self.rect, extent(&self.rect));
        let eps =
            |a: f64, b: f64, s: f64| 4.0 * BORDER_ROUNDING * finite(a).abs().max(finite(b).abs()).max(s);
        [eps(r.u0, r.u1, size[0]), eps(r.v0, r.v1, size[1])]
    }

    /// Returns the parts of the base rectangle that a rectangle covers after shifts by whole periods,
    /// with their sides rounded outward. There are at most two along each parameter, and none for a
    /// rectangle outside.
    pub(super) fn images(&self, rect: &Rect) -> arrayvec::ArrayVec<Rect, 4> {
        let pad = self.rounding();
        let base = &self.rect;
        let us = spans((rect.u0, rect.u1), (base.u0, base.u1), self.u_period, pad[0]);
        let vs = spans((rect.v0, rect.v1), (base.v0, base.v1), self.v_period, pad[1]);
        us.iter().flat_map(|u| vs.iter().map(|v| Rect { u0: u.0, u1: u.1, v0: v.0, v1: v.1 })).collect()
    }

    /// Returns a point of the domain inside a rectangle, which may extend beyond the base rectangle by
    /// whole periods: the centre of the rectangle, or else a point in the middle of a large part of the
    /// domain. The returned point lies in the base rectangle. Returns `None` if no point is found.
    #[must_use]
    pub fn sample_inside(&self, rect: &Rect) -> Option<P2> {
        let images = self.images(rect);
        for r in &images {
            let c = P2::new(0.5 * r.u0 + 0.5 * r.u1, 0.5 * r.v0 + 0.5 * r.v1);
            if c.x.is_finite() && c.y.is_finite() && self.winding(c) > 0 && !self.is_near_boundary(c, r) {
                return Some(c);
            }
        }
        // The pieces are monotone within strips, so inside parts are visible in the middle or near an
        // end.
        [0.5, 0.02, 0.98, 1e-4, 1.0 - 1e-4].iter().find_map(|f| self.sample_strips(&images, *f))
    }

    /// Searches for a point of the domain in the rectangles `images`, parts of the base rectangle. Each
    /// strip is intersected with the line of constant v at the fraction `f` of the height that the strip
    /// and the rectangle have in common. The result is the middle of the interval inside the domain
    /// whose width or the strip's height, whichever is smaller, is largest. `None` if no line has such
    /// an interval.
    fn sample_strips(&self, images: &[Rect], f: f64) -> Option<P2> {
        let size = extent(&self.rect);
        let mut best: Option<(f64, P2)> = None;
        for r in images {
            let (first, last) = (self.strip(r.v0), self.strip(r.v1));
            // Very many strips are sampled evenly.
            let stride = (last - first) / 512 + 1;
            for k in (first..=last).step_by(stride) {
                let (v0, v1) = (self.strip_v[k].max(r.v0), self.strip_v[k + 1].min(r.v1));
                let v = (1.0 - f) * v0 + f * v1;
                if v0 >= v1 || !v.is_finite() {
                    continue;
                }
                let (mut w, mut u) = (self.strip_base[k], self.rect.u0);
                for (next, d) in self.crossings(v).into_iter().chain([(self.rect.u1, 0)]) {
                    let (a, b) = (u.max(r.u0), next.min(r.u1));
                    let cell_size = ((b - a) / size[0]).min((v1 - v0) / size[1]);
                    if w > 0 && a < b && best.is_none_or(|(x, _)| cell_size > x) {
                        best = Some((cell_size, P2::new(0.5 * a + 0.5 * b, v)));
                    }
                    (w, u) = (w + d, next);
                }
            }
        }
        best.map(|(_, p)| p).filter(|p| self.classify(*p) == Side::Inside)
    }

    /// Whether a point of the domain's boundary may be within 1 % of the width of the rectangle `r` in
    /// u, and 1 % of its height in v, of the point `p`. `false` proves that no boundary point is that
    /// near.
    fn is_near_boundary(&self, p: P2, r: &Rect) -> bool {
        let (du, dv) = (0.01 * (r.u1 - r.u0), 0.01 * (r.v1 - r.v0));
        self.boundary_in_image(&Rect { u0: p.x - du, u1: p.x + du, v0: p.y - dv, v1: p.y + dv })
    }

    /// Returns the boundary point nearest to `uv` in the metric `[e, f, g]`, in which lengths (mm) are
    /// `√(e du² + 2 f du dv + g dv²)`, usually the first fundamental form of the surface at `uv`. The
    /// result is the index of the boundary piece, the boundary point shifted by whole periods near `uv`,
    /// and the distance (mm). Returns `None` if no boundary point is nearer than `max_dist` (mm). Images
    /// of the boundary shifted by one period are considered.
    #[must_use]
    pub fn nearest(&self, uv: P2, metric: [f64; 3], max_dist: f64) -> Option<(usize, P2, f64)> {
        let [e, f, g] = metric;
        let sane = e >= 0.0 && g >= 0.0 && [e, f, g, uv.x, uv.y].iter().all(|x| x.is_finite());
        if !sane || max_dist.is_nan() || max_dist <= 0.0 || self.pieces.is_empty() {
            return None;
        }
        let metric = Metric { e, f, g };
        let base = P2::new(
            self.u_period.map_or(uv.x, |p| math::wrap(uv.x, self.rect.u0, p)),
            self.v_period.map_or(uv.y, |p| math::wrap(uv.y, self.rect.v0, p)),
        );
        let turns = |p: Option<f64>| if p.is_some() { [0.0, -1.0, 1.0].as_slice() } else { &[0.0] };
        let (pu, pv) = (self.u_period.unwrap_or(0.0), self.v_period.unwrap_or(0.0));
        let mut best = Nearest { sq: max_dist * max_dist, piece: usize::MAX, at: uv };
        for ku in turns(self.u_period) {
            for kv in turns(self.v_period) {
                // Instead of the boundary's image the point is moved, in the opposite direction.
                let from = P2::new(base.x + ku * pu, base.y + kv * pv);
                let mut found = Nearest { sq: best.sq, piece: usize::MAX, at: from };
                self.nearest_from(from, &metric, &mut found);
                if found.piece != usize::MAX {
                    best = Nearest { at: uv + (found.at - from), ..found };
                }
            }
        }
        (best.piece != usize::MAX).then(|| (best.piece, best.at, best.sq.sqrt()))
    }

    /// Updates `best` with the boundary point nearest to `from`, by a depth-first traversal of the box
    /// tree that visits the nearer child first.
    #[expect(clippy::cast_possible_truncation, reason = "tree nodes fit u32")]
    fn nearest_from(&self, from: P2, metric: &Metric, best: &mut Nearest) {
        let leaves = self.boxes.len() / 2;
        // Most boxes are out of reach; the box test rejects them faster than the exact bound.
        let reach = metric.reach(from, best.sq);
        let bound = |b: &UvBox| if meets(&reach, b) { metric.box_sq(from, b) } else { f64::INFINITY };
        let of_all = bound(&self.boxes[1]);
        if of_all >= best.sq {
            return;
        }
        let mut stack = [(0.0_f64, 0_u32); 40];
        let mut top = 1;
        stack[0] = (of_all, 1);
        while top > 0 {
            top -= 1;
            let (least, k) = stack[top];
            if least >= best.sq {
                continue;
            }
            let k = k as usize;
            if k >= leaves {
                for i in tree::range(k, self.pieces.len()) {
                    let p = &self.pieces[i];
                    if bound(&tree::piece_box(p)) < best.sq {
                        nearest_on_piece(p, i, from, metric, best);
                    }
                }
            } else {
                let (a, b) = (2 * k, 2 * k + 1);
                let (da, db) = (bound(&self.boxes[a]), bound(&self.boxes[b]));
                let (near, far) = if da <= db { ((da, a), (db, b)) } else { ((db, b), (da, a)) };
                stack[top] = (far.0, far.1 as u32);
                stack[top + 1] = (near.0, near.1 as u32);
                top += 2;
            }
        }
    }

    /// Returns the domain's boundary as polylines that deviate from it by at most `chord_tol`, a
    /// distance in the parameter plane. The domain is on the left of each polyline. The last point of a
    /// closed polyline equals its first one; polylines that end at the end of a period, at a pole or at
    /// a gap are open.
    #[must_use]
    pub fn polylines(&self, chord_tol: f64) -> Vec<Vec<P2>> {
        // Consecutive pieces share their ends exactly.
        let by_point = |a: P2, b: P2| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x));
        let clean = |p: P2| P2::new(p.x + 0.0, p.y + 0.0);
        let start = |i: usize| clean(self.pieces[i].start());
        let mut starts: Vec<usize> = (0..self.pieces.len()).collect();
        starts.sort_by(|&a, &b| by_point(start(a), start(b)).then(a.cmp(&b)));
        let mut ends: Vec<P2> = self.pieces.iter().map(|p| clean(p.end())).collect();
        ends.sort_by(|a, b| by_point(*a, *b));
        let no_end = |p: P2| ends.binary_search_by(|e| by_point(*e, p)).is_err();
        // Open chains come first, from their true beginning.
        let (open, closed): (Vec<usize>, Vec<usize>) =
            (0..self.pieces.len()).partition(|&i| no_end(start(i)));
        let mut used = vec![false; self.pieces.len()];
        let mut out = Vec::new();
        for first in open.into_iter().chain(closed) {
            if used[first] {
                continue;
            }
            let mut line = vec![self.pieces[first].start()];
            let mut next = Some(first);
            while let Some(i) = next {
                used[i] = true;
                let p = &self.pieces[i];
                let n = p.chord_steps(chord_tol);
                let t = |k: usize| super::integrate::as_f64(k) / super::integrate::as_f64(n);
                line.extend((1..=n).map(|k| p.eval(t(k))));
                let end = clean(p.end());
                if by_point(end, start(first)).is_eq() {
                    break;
                }
                let from = starts.partition_point(|&j| by_point(start(j), end).is_lt());
                let here = starts[from..].iter().copied().take_while(|&j| by_point(start(j), end).is_eq());
                next = here.into_iter().find(|&j| !used[j]);
            }
            out.push(line);
        }
        out
    }
}

/// Returns the parts of `[lo, hi]` that the interval from `a` to `b` covers after shifts by whole
/// periods, with the margin `pad` for rounding. If there is a period, `[lo, hi]` is one period long.
fn spans(
    (a, b): (f64, f64),
    (lo, hi): (f64, f64),
    period: Option<f64>,
    pad: f64,
) -> arrayvec::ArrayVec<(f64, f64), 2> {
    let mut out = arrayvec::ArrayVec::new();
    if a.is_nan() || b.is_nan() {
        out.push((lo, hi));
        return out;
    }
    let (a, b) = (a.min(b), a.max(b));
    match period {
        Some(p) if b - a >= p - 2.0 * pad => out.push((lo, hi)),
        Some(p) => {
            let start = math::wrap(a, lo, p);
            let end = start + (b - a);
            if end <= hi {
                out.push((start, end));
                // On a period's border both sides are covered.
                if start <= lo + pad {
                    out.push((hi - pad, hi));
                } else if end >= hi - pad {
                    out.push((lo, lo + pad));
                }
            } else {
                out.push((start, hi));
                out.push((lo, (end - p).max(lo)));
            }
        }
        None => {
            if !(b < lo - pad || hi + pad < a) {
                out.push((a.max(lo).min(hi), b.min(hi).max(lo)));
            }
        }
    }
    out
}

/// Metric `e du² + 2 f du dv + g dv²` of the parameter plane.
struct Metric {
    e: f64,
    f: f64,
    g: f64,
}

/// Nearest boundary point found so far: its squared distance (mm²), the index of its piece, and its
/// parameters in the base rectangle.
struct Nearest {
    sq: f64,
    piece: usize,
    at: P2,
}

impl Metric {
    fn dot(&self, a: [f64; 2], b: [f64; 2]) -> f64 {
        self.e * a[0] * b[0] + self.f * (a[0] * b[1] + a[1] * b[0]) + self.g * a[1] * b[1]
    }

    fn sq(&self, a: [f64; 2]) -> f64 {
        self.dot(a, a).max(0.0)
    }

    /// Returns a box around all points whose squared distance from `p` is at most `sq` (mm²).
    fn reach(&self, p: P2, sq: f64) -> UvBox {
        let det = self.e * self.g - self.f * self.f;
        let half = |diagonal: f64, x: f64| {
            // If the tangents are parallel or one is zero, points far away in the parameter plane can be
            // near.
            let half =
                if det > 1e-6 * self.e * self.g { (sq * diagonal / det).sqrt() } else { f64::INFINITY };
            half * (1.0 + 1e-9) + 8.0 * f64::EPSILON * x.abs()
        };
        let (u, v) = (half(self.g, p.x), half(self.e, p.y));
        [p.x - u, p.x + u, p.y - v, p.y + v]
    }

    /// Lower bound of the squared distance (mm²) between a point and a box; infinite for the empty box.
    fn box_sq(&self, p: P2, b: &UvBox) -> f64 {
        let (x0, x1, y0, y1) = (b[0] - p.x, b[1] - p.x, b[2] - p.y, b[3] - p.y);
        if x0 > x1 {
            return f64::INFINITY;
        }
        if x0 <= 0.0 && 0.0 <= x1 && y0 <= 0.0 && 0.0 <= y1 {
            return 0.0;
        }
        // The minimum is on a side; along each side the squared distance is a parabola.
        let along = |x: f64, diagonal: f64, lo: f64, hi: f64| {
            let y = -self.f * x / diagonal;
            if y.is_finite() { y.clamp(lo, hi) } else { lo }
        };
        let u_side = |x: f64| self.sq([x, along(x, self.g, y0, y1)]);
        let v_side = |y: f64| self.sq([along(y, self.e, x0, x1), y]);
        let min = u_side(x0).min(u_side(x1)).min(v_side(y0)).min(v_side(y1));
        // Subtract the rounding of the products, relative to their size.
        let reach = [x0.abs().max(x1.abs()), y0.abs().max(y1.abs())];
        min - 1e-14 * (self.e * reach[0] * reach[0] + self.g * reach[1] * reach[1])
    }
}

/// Whether two boxes have a common point.
fn meets(a: &UvBox, b: &UvBox) -> bool {
    a[0] <= b[1] && b[0] <= a[1] && a[2] <= b[3] && b[2] <= a[3]
}

/// Updates `best` with the point of one boundary piece nearest to `from`, if that is nearer. The search
/// is global: the smallest Bernstein coefficient of the squared distance over a part of the piece is a
/// lower bound, and a single sign change among the coefficients of its derivative means a single
/// minimum.
fn nearest_on_piece(piece: &TrimPiece, index: usize, from: P2, metric: &Metric, best: &mut Nearest) {
    let r = piece.control.map(|c| [c.x - from.x, c.y - from.y]);
    let mut offer = |t: f64| {
        let p = piece.eval(t);
        let sq = metric.sq([p.x - from.x, p.y - from.y]);
        if sq < best.sq {
            *best = Nearest { sq, piece: index, at: p };
        }
        best.sq
    };
    let mut limit = offer(0.0).min(offer(1.0));
    // On a straight piece with constant speed the foot is a projection.
    if let Some(along) = piece.straight() {
        let along = [along.x, along.y];
        let (speed_sq, start) = (metric.sq(along), r[0]);
        let t = -metric.dot(start, along) / speed_sq;
        if 0.0 < t && t < 1.0 {
            offer(t);
        }
        return;
    }
    let c = piece.squared_distance(&from, |a, b| metric.dot([a.x, a.y], [b.x, b.y]));
    let rounding = 1e-14 * c.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut stack: arrayvec::ArrayVec<(f64, f64, [f64; 7]), 64> = arrayvec::ArrayVec::new();
    stack.push((0.0, 1.0, c));
    while let Some((t0, t1, c)) = stack.pop() {
        if c.iter().fold(f64::INFINITY, |m, x| m.min(*x)) - rounding >= limit {
            continue;
        }
        let d: [f64; 6] = std::array::from_fn(|i| c[i + 1] - c[i]);
        let changes = d.windows(2).filter(|w| (w[0] < 0.0) != (w[1] < 0.0)).count();
        if changes == 0 || (changes == 1 && d[0] >= 0.0) {
            continue; // the minimum is at an end, and both ends are already tested
        }
        if changes == 1 {
            limit = limit.min(offer(t0 + (t1 - t0) * root5(&d)));
        } else if t1 - t0 > 1e-12 && !stack.is_full() {
            let (a, b) = halves6(c);
            let mid = 0.5 * (t0 + t1);
            limit = limit.min(offer(mid));
            stack.push((mid, t1, b));
            stack.push((t0, mid, a));
        }
    }
}

/// Splits a Bernstein polynomial of degree 6 at the middle of its range into two.
fn halves6(c: [f64; 7]) -> ([f64; 7], [f64; 7]) {
    let (mut row, mut a, mut b) = (c, c, c);
    for k in 0..7 {
        a[k] = row[0];
        b[6 - k] = row[6 - k];
        for i in 0..6 - k {
            row[i] = 0.5 * (row[i] + row[i + 1]);
        }
    }
    (a, b)
}

/// Returns the single root in [0, 1] of a Bernstein polynomial of degree 5 that increases through zero,
/// by Newton's method in a bracket.
fn root5(d: &[f64; 6]) -> f64 {
    let eval = |t: f64| {
        let mut row = *d;
        for k in 1..5 {
            for i in 0..6 - k {
                row[i] += t * (row[i + 1] - row[i]);
            }
        }
        (row[0] + t * (row[1] - row[0]), 5.0 * (row[1] - row[0]))
    };
    let (mut a, mut b) = (0.0_f64, 1.0_f64);
    let mut t = 0.5;
    let mut last = f64::INFINITY;
    for _ in 0..80 {
        let (y, dy) = eval(t);
        if y < 0.0 {
            a = t;
        } else {
            b = t;
        }
        let mut next = t - y / dy;
        if !(a < next && next < b) || y.abs() > 0.5 * last {
            next = 0.5 * (a + b);
        }
        last = y.abs();
        if (next - t).abs() <= f64::EPSILON * t || b - a <= f64::EPSILON * b {
            return next;
        }
        t = next;
    }
    t
}
