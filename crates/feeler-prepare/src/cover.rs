//! Covering a trimmed domain with few tight rectangles.
//!
//! Planes are almost flat however large they are, so that something else must keep a disc with 200 holes from being
//! one leaf; and a rectangle of any surface may hold little of the trimmed domain (a shaft's two bearing seats are one
//! supermaximal cylinder). A rectangle is shrunk to its content and cut in two, recursively, as long as that saves
//! more area than the additional leaf is worth.
//!
//! # Source
//! BREP §2.4.1 (Figure 2.9), MATH §6 "Planes".
//!
//! # Deviations
//! The reference triangulates the domain and takes the triangles' bounding boxes. Those overlap (a triangle fills at
//! most half of its box) and their number is that of the boundary's chords; here the rectangles are disjoint (but for
//! the margin of the chords), a rectangular face is one leaf, and nothing depends on a triangulation that fails where
//! chords cross.

use feeler_geom::trim::{Side, TrimCells, TrimPiece};
use feeler_geom::{P2, Rect};

/// Largest distance of a chord from its arc, relative to the rectangle: only the tightness depends on it.
const CHORD: f64 = 2e-3;

/// Cuts at most in a row: `2^-24` of a rectangle is below any feature worth a leaf.
const MAX_DEPTH: u32 = 24;

/// Corners tried as places of a cut, for each direction.
const CANDIDATES: usize = 12;

/// Rounding of parameters, relative to the rectangle.
const ROUND: f64 = 1e-9;

/// A trimmed domain made ready to be covered.
#[derive(Debug)]
pub(crate) struct Coverage<'a> {
    cells: &'a TrimCells,
    bounds: Vec<Rect>,
}

/// How to cover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoverCost {
    /// Area, relative to the rectangle, that an additional leaf must save.
    pub(crate) leaf: f64,
    /// Width in space over height in space of the rectangle, roughly: without any gain the longer side is cut.
    pub(crate) aspect: f64,
}

impl<'a> Coverage<'a> {
    pub(crate) fn new(cells: &'a TrimCells) -> Self {
        Self { cells, bounds: cells.pieces.iter().map(TrimPiece::bounds).collect() }
    }

    /// Disjoint rectangles (but for a margin) within `rect` that together hold all points of the domain in `rect`.
    pub(crate) fn cover(&self, rect: &Rect, cost: &CoverCost) -> Vec<Rect> {
        if !self.cells.may_touch(rect) {
            return vec![];
        }
        let local = Local { cells: self.cells, rect, cost };
        let chords = self.chords(rect);
        if chords.is_empty() {
            return vec![*rect];
        }
        let (mut unit, _) = local.split(&UNIT, &chords, 0).unwrap_or_default();
        for r in &mut unit {
            *r = local.in_domain(r);
        }
        unit
    }

    /// The smallest rectangle within `rect` that holds all points of the domain in it.
    pub(crate) fn shrink(&self, rect: &Rect) -> Option<Rect> {
        if !self.cells.may_touch(rect) {
            return None;
        }
        let local = Local { cells: self.cells, rect, cost: &CoverCost { leaf: f64::INFINITY, aspect: 1.0 } };
        let chords = self.chords(rect);
        if chords.is_empty() { Some(*rect) } else { local.tight(&UNIT, &chords).map(|r| local.in_domain(&r)) }
    }

    /// Chords near `rect`, in coordinates in which it is the unit square.
    fn chords(&self, rect: &Rect) -> Vec<Chord> {
        let (w, h) = (rect.u1 - rect.u0, rect.v1 - rect.v0);
        let mut out = Vec::new();
        for (piece, b) in self.cells.pieces.iter().zip(&self.bounds) {
            let apart = b.u1 < rect.u0 - ROUND * w
                || b.u0 > rect.u1 + ROUND * w
                || b.v1 < rect.v0 - ROUND * h
                || b.v0 > rect.v1 + ROUND * h;
            if apart {
                continue;
            }
            let unit = piece.mapped(|p| P2::new(ratio(p.x - rect.u0, w), ratio(p.y - rect.v0, h)));
            let n = unit.chord_steps(CHORD);
            let [a, b, c, d] = unit.control.map(|p| p.coords);
            let bend = (a - b * 2.0 + c).norm().max((b - c * 2.0 + d).norm());
            #[expect(clippy::cast_precision_loss, reason = "at most 4096")]
            let steps = n as f64;
            let error = 0.75 * bend / (steps * steps) + ROUND;
            let mut from = unit.start();
            for k in 1..=n {
                #[expect(clippy::cast_precision_loss, reason = "at most 4096")]
                let to = if k == n { unit.end() } else { unit.eval(k as f64 / steps) };
                let chord = Chord { from, to, error, corner: k == n };
                if chord.clipped(&UNIT).is_some() {
                    out.push(chord);
                }
                from = to;
            }
        }
        out
    }
}

const UNIT: Rect = Rect { u0: 0.0, u1: 1.0, v0: 0.0, v1: 1.0 };

/// `a / b`, and 0 in a rectangle without extent.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// A chord of the boundary with the domain on its left.
#[derive(Clone, Copy, Debug)]
struct Chord {
    from: P2,
    to: P2,
    /// Distance within which its arc stays.
    error: f64,
    /// Its end is the end of a piece: a corner or an extreme point.
    corner: bool,
}

impl Chord {
    /// The part in `r` enlarged by the chord's error.
    fn clipped(&self, r: &Rect) -> Option<(P2, P2)> {
        let e = self.error;
        let (lo, hi) = (P2::new(r.u0 - e, r.v0 - e), P2::new(r.u1 + e, r.v1 + e));
        let within = |p: &P2| lo.x <= p.x && p.x <= hi.x && lo.y <= p.y && p.y <= hi.y;
        if within(&self.from) && within(&self.to) {
            return Some((self.from, self.to));
        }
        let d = self.to - self.from;
        let (mut s0, mut s1) = (0.0_f64, 1.0_f64);
        for (x, dx, lo, hi) in [(self.from.x, d.x, lo.x, hi.x), (self.from.y, d.y, lo.y, hi.y)] {
            if dx.abs() < 1e-300 {
                if x < lo || x > hi {
                    return None;
                }
                continue;
            }
            let (a, b) = ((lo - x) / dx, (hi - x) / dx);
            s0 = s0.max(a.min(b));
            s1 = s1.min(a.max(b));
        }
        (s0 <= s1).then(|| (self.from + d * s0, self.from + d * s1))
    }
}

struct Local<'a> {
    cells: &'a TrimCells,
    rect: &'a Rect,
    cost: &'a CoverCost,
}

impl Local<'_> {
    fn in_domain(&self, r: &Rect) -> Rect {
        let f = self.rect;
        let u = |x: f64| (f.u0 + (f.u1 - f.u0) * x).clamp(f.u0, f.u1);
        let v = |x: f64| (f.v0 + (f.v1 - f.v0) * x).clamp(f.v0, f.v1);
        // The clamped ends are exact, so that neighbouring rectangles leave no gap.
        let end = |x: f64, at: f64| if x >= 1.0 { at } else { u(x) };
        let end_v = |x: f64, at: f64| if x >= 1.0 { at } else { v(x) };
        Rect { u0: u(r.u0), u1: end(r.u1, f.u1), v0: v(r.v0), v1: end_v(r.v1, f.v1) }
    }

    fn inside(&self, u: f64, v: f64) -> bool {
        let f = self.rect;
        let uv = P2::new(f.u0 + (f.u1 - f.u0) * u, f.v0 + (f.v1 - f.v0) * v);
        self.cells.classify(uv) == Side::Inside
    }

    /// Which corners of a rectangle are inside.
    fn corners(&self, r: &Rect) -> Corners {
        Corners([
            self.inside(r.u0, r.v0),
            self.inside(r.u1, r.v0),
            self.inside(r.u0, r.v1),
            self.inside(r.u1, r.v1),
        ])
    }

    /// Bounding box of the domain in `r`: of the boundary in it and of the corners of `r` that are inside.
    fn tight(&self, r: &Rect, chords: &[Chord]) -> Option<Rect> {
        let mut hull = Hull::EMPTY;
        for c in chords {
            if let Some((p, q)) = c.clipped(r) {
                hull.add(p, c.error);
                hull.add(q, c.error);
            }
        }
        hull.closed(r, &self.corners(r))
    }

    /// Area of the domain in `r` (to the accuracy of the chords), by Green's theorem: `∮ (u - u0) dv` along the
    /// boundary in `r` and along the right side of `r` where that is inside.
    fn area(&self, r: &Rect, chords: &[Chord]) -> f64 {
        let mut area = 0.0;
        let mut crossings = vec![r.v0, r.v1];
        for c in chords {
            let exact = Chord { error: 0.0, ..*c };
            if let Some((p, q)) = exact.clipped(r) {
                area += (0.5 * (p.x + q.x) - r.u0) * (q.y - p.y);
            }
            let d = c.to - c.from;
            if (c.from.x < r.u1) != (c.to.x < r.u1) {
                let v = c.from.y + d.y * ((r.u1 - c.from.x) / d.x);
                if r.v0 < v && v < r.v1 {
                    crossings.push(v);
                }
            }
        }
        crossings.sort_by(f64::total_cmp);
        for w in crossings.windows(2) {
            // A hair inside: on the border itself a boundary may run along.
            if w[1] - w[0] > 1e-12 && self.inside(r.u1 - 1e-9 * (r.u1 - r.u0), 0.5 * (w[0] + w[1])) {
                area += (r.u1 - r.u0) * (w[1] - w[0]);
            }
        }
        area
    }

    /// Rectangles for `r` and their cost, nothing when the domain is not in it.
    fn split(&self, r: &Rect, chords: &[Chord], depth: u32) -> Option<(Vec<Rect>, f64)> {
        let tight = self.tight(r, chords)?;
        let near: Vec<Chord> = chords.iter().filter(|c| c.clipped(&tight).is_some()).copied().collect();
        let area = size(&tight);
        let own = area + self.cost.leaf;
        let leaf = (vec![tight], own);
        if depth == MAX_DEPTH || area <= self.cost.leaf || area - self.area(&tight, &near) <= self.cost.leaf {
            return Some(leaf);
        }
        let (a, b) = self.cut(&tight, &near);
        let parts = [self.split(&a, &near, depth + 1), self.split(&b, &near, depth + 1)];
        let cost: f64 = parts.iter().flatten().map(|p| p.1).sum();
        if cost < own {
            Some((parts.into_iter().flatten().flat_map(|p| p.0).collect(), cost))
        } else {
            Some(leaf)
        }
    }

    /// The two halves of the cut after which the shrunk halves are smallest; of the longer side when none gains.
    fn cut(&self, r: &Rect, chords: &[Chord]) -> (Rect, Rect) {
        let (w, h) = (r.u1 - r.u0, r.v1 - r.v0);
        let halve = |across_u: bool, at: f64| {
            if across_u {
                (Rect { u1: at, ..*r }, Rect { u0: at, ..*r })
            } else {
                (Rect { v1: at, ..*r }, Rect { v0: at, ..*r })
            }
        };
        let clips: Vec<Chord> =
            chords.iter().filter_map(|c| c.clipped(r).map(|(from, to)| Chord { from, to, ..*c })).collect();
        let corners = self.corners(r);
        let mut best = halve(w * self.cost.aspect >= h, 0.0);
        let (mut best_score, mut found) = (size(r) * (1.0 - 1e-6), false);
        for across_u in [true, false] {
            let (lo, len) = if across_u { (r.u0, w) } else { (r.v0, h) };
            // Just beside a corner: a side of the boundary that lies on the cut belongs to one half only.
            let mut places: Vec<f64> = chords
                .iter()
                .filter(|c| c.corner)
                .flat_map(|c| {
                    let x = if across_u { c.to.x } else { c.to.y };
                    [x - 4.0 * c.error, x + 4.0 * c.error]
                })
                .filter(|x| lo + 0.02 * len < *x && *x < lo + 0.98 * len)
                .collect();
            places.sort_by(f64::total_cmp);
            places.dedup_by(|a, b| *a - *b < 1e-12 * len);
            let n = places.len();
            let chosen = (0..n.min(CANDIDATES))
                .map(|k| places[if n <= CANDIDATES { k } else { (2 * k + 1) * n / (2 * CANDIDATES) }]);
            for at in chosen.chain([lo + 0.5 * len]) {
                let (a, b) = halve(across_u, at);
                // Among equal gains the more even cut.
                let score = self.halves((&a, &b), across_u, at, &clips, &corners)
                    + 1e-3 * size(r) * ((at - lo) / len - 0.5).abs();
                if score < best_score {
                    (best, best_score, found) = ((a, b), score, true);
                }
            }
        }
        if !found {
            best = if w * self.cost.aspect >= h {
                halve(true, r.u0 + 0.5 * w)
            } else {
                halve(false, r.v0 + 0.5 * h)
            };
        }
        best
    }

    /// Total size of two halves after both have been shrunk; `clips` are the chords within the whole.
    fn halves(
        &self,
        (a, b): (&Rect, &Rect),
        across_u: bool,
        at: f64,
        clips: &[Chord],
        corners: &Corners,
    ) -> f64 {
        let axis = usize::from(!across_u);
        let (mut low, mut high) = (Hull::EMPTY, Hull::EMPTY);
        for c in clips {
            let (x, y) = (c.from[axis], c.to[axis]);
            let (first, last) = if x <= y { (c.from, c.to) } else { (c.to, c.from) };
            let (x, y) = (first[axis], last[axis]);
            let on = |border: f64| first + (last - first) * ((border - x) / (y - x));
            if x <= at + c.error {
                low.add(first, c.error);
                low.add(if y <= at + c.error { last } else { on(at + c.error) }, c.error);
            }
            if y >= at - c.error {
                high.add(last, c.error);
                high.add(if x >= at - c.error { first } else { on(at - c.error) }, c.error);
            }
        }
        let [k00, k10, k01, k11] = corners.0;
        let (of_low, of_high) = if across_u {
            let (p, q) = (self.inside(at, a.v0), self.inside(at, a.v1));
            ([k00, p, k01, q], [p, k10, q, k11])
        } else {
            let (p, q) = (self.inside(a.u0, at), self.inside(a.u1, at));
            ([k00, k10, p, q], [p, q, k01, k11])
        };
        let shrunk =
            |hull: &Hull, r: &Rect, corners| hull.closed(r, &Corners(corners)).map_or(0.0, |t| size(&t));
        shrunk(&low, a, of_low) + shrunk(&high, b, of_high)
    }
}

/// Which corners of a rectangle are inside the domain: `(u0, v0)`, `(u1, v0)`, `(u0, v1)`, `(u1, v1)`.
#[derive(Clone, Copy, Debug)]
struct Corners([bool; 4]);

/// A growing box.
#[derive(Clone, Copy, Debug)]
struct Hull {
    lo: P2,
    hi: P2,
}

impl Hull {
    const EMPTY: Self =
        Self { lo: P2::new(f64::INFINITY, f64::INFINITY), hi: P2::new(f64::NEG_INFINITY, f64::NEG_INFINITY) };

    /// Grows around everything within `e` of `p`.
    fn add(&mut self, p: P2, e: f64) {
        for k in 0..2 {
            self.lo[k] = if p[k] - e < self.lo[k] { p[k] - e } else { self.lo[k] };
            self.hi[k] = if p[k] + e > self.hi[k] { p[k] + e } else { self.hi[k] };
        }
    }

    /// The box around the boundary's part in `r` (this hull) and the corners of `r` that are inside; all of `r` where
    /// there is no boundary.
    fn closed(mut self, r: &Rect, corners: &Corners) -> Option<Rect> {
        let all = [(r.u0, r.v0), (r.u1, r.v0), (r.u0, r.v1), (r.u1, r.v1)];
        let any = self.lo.x <= self.hi.x;
        for ((u, v), inside) in all.into_iter().zip(corners.0) {
            if inside && !any {
                return Some(*r);
            }
            if inside {
                self.add(P2::new(u, v), 0.0);
            }
        }
        let b = Rect {
            u0: self.lo.x.max(r.u0),
            u1: self.hi.x.min(r.u1),
            v0: self.lo.y.max(r.v0),
            v1: self.hi.y.min(r.v1),
        };
        (b.u0 <= b.u1 && b.v0 <= b.v1).then_some(b)
    }
}

fn size(r: &Rect) -> f64 {
    (r.u1 - r.u0) * (r.v1 - r.v0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::trim::TrimDomain;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn polygon(points: &[[f64; 2]], edge: u32) -> Vec<TrimPiece> {
        (0..points.len())
            .map(|k| {
                let (a, b) = (points[k], points[(k + 1) % points.len()]);
                TrimPiece::line(P2::new(a[0], a[1]), P2::new(b[0], b[1]), edge)
            })
            .collect()
    }

    /// A circle in four cubic pieces, counter-clockwise, or a hole.
    fn circle(x: f64, y: f64, r: f64, hole: bool) -> Vec<TrimPiece> {
        let k = 0.552_284_749_831 * r;
        let q = [(r, 0.0), (0.0, r), (-r, 0.0), (0.0, -r)];
        let t = [(0.0, k), (-k, 0.0), (0.0, -k), (k, 0.0)];
        (0..4)
            .map(|i| {
                let j = (i + 1) % 4;
                let p = |a: (f64, f64), b: (f64, f64), s: f64| P2::new(x + a.0 + s * b.0, y + a.1 + s * b.1);
                let zero = (0.0, 0.0);
                let piece = TrimPiece::new(
                    [p(q[i], zero, 0.0), p(q[i], t[i], 1.0), p(q[j], t[j], -1.0), p(q[j], zero, 0.0)],
                    1,
                );
                if hole { piece.reversed() } else { piece }
            })
            .collect()
    }

    fn cells(pieces: &[TrimPiece]) -> TrimCells {
        let inf = f64::INFINITY;
        let natural = Rect { u0: -inf, u1: inf, v0: -inf, v1: inf };
        let (cells, wrong) = TrimCells::build(&TrimDomain::new(pieces, natural, None, None, P2::origin()));
        assert!(wrong.is_empty(), "{wrong:?}");
        cells
    }

    fn covered(cells: &TrimCells, rects: &[Rect], seed: u64) -> (f64, f64) {
        let mut rng = SmallRng::seed_from_u64(seed);
        let r = cells.rect;
        let within = |p: P2| rects.iter().any(|r| r.u0 <= p.x && p.x <= r.u1 && r.v0 <= p.y && p.y <= r.v1);
        let (mut n_in, mut n) = (0.0, 0.0);
        for _ in 0..20_000 {
            let p = P2::new(rng.random_range(r.u0..r.u1), rng.random_range(r.v0..r.v1));
            n += 1.0;
            if cells.classify(p) == Side::Inside {
                n_in += 1.0;
                assert!(within(p), "{p:?} is inside and not covered");
            }
        }
        for piece in &cells.pieces {
            for k in 0..=20 {
                let p = piece.eval(f64::from(k) / 20.0);
                assert!(within(p), "boundary point {p:?} is not covered");
            }
        }
        let total: f64 = rects.iter().map(size).sum();
        (total / size(&r), n_in / n)
    }

    fn cover(cells: &TrimCells, leaf: f64) -> Vec<Rect> {
        Coverage::new(cells).cover(&cells.rect, &CoverCost { leaf, aspect: 1.0 })
    }

    #[test]
    fn plain_shapes_need_few_leaves() {
        let rectangle = cells(&polygon(&[[0.0, 0.0], [30.0, 0.0], [30.0, 2.0], [0.0, 2.0]], 0));
        let rects = cover(&rectangle, 0.1);
        assert_eq!(rects, vec![rectangle.rect], "a rectangle is itself");
        let disc = cells(&circle(3.0, 4.0, 2.0, false));
        assert_eq!(cover(&disc, 0.1).len(), 1, "a disc is one leaf");
        let triangle = cells(&polygon(&[[0.0, 0.0], [3.0, 0.0], [0.0, 2.0]], 0));
        let rects = cover(&triangle, 0.1);
        assert!((2..=3).contains(&rects.len()), "a triangle: {rects:?}");
        covered(&triangle, &rects, 1);
        let l =
            cells(&polygon(&[[0.0, 0.0], [10.0, 0.0], [10.0, 1.0], [1.0, 1.0], [1.0, 10.0], [0.0, 10.0]], 0));
        let rects = cover(&l, 0.1);
        assert_eq!(rects.len(), 2, "an L is two rectangles: {rects:?}");
        let (filled, inside) = covered(&l, &rects, 2);
        assert!(filled < 1.02 * inside, "{filled} against {inside}");
    }

    #[test]
    fn a_ring_of_thin_material_is_followed() {
        let mut pieces = circle(0.0, 0.0, 10.0, false);
        pieces.extend(circle(0.0, 0.0, 9.5, true));
        let ring = cells(&pieces);
        let rects = cover(&ring, 0.1 / 5.0);
        let (filled, _) = covered(&ring, &rects, 3);
        assert!(filled < 0.5 && rects.len() < 40, "{} rectangles fill {filled}", rects.len());
    }

    #[test]
    fn a_disc_with_200_holes_is_many_leaves() {
        let mut pieces = circle(0.0, 0.0, 100.0, false);
        let mut n = 0_u32;
        'all: for i in -10..=10 {
            for j in -10..=10 {
                let (x, y) = (f64::from(i) * 11.0, f64::from(j) * 11.0);
                if x * x + y * y < 90.0 * 90.0 {
                    pieces.extend(circle(x, y, 4.5, true));
                    n += 1;
                    if n == 200 {
                        break 'all;
                    }
                }
            }
        }
        assert_eq!(n, 200, "holes");
        let disc = cells(&pieces);
        let rects = cover(&disc, 0.1 / (1.0 + 4.0 * 200.0));
        let (filled, inside) = covered(&disc, &rects, 4);
        assert!((200..3000).contains(&rects.len()), "{} leaves", rects.len());
        assert!(filled < 1.5 * inside, "{filled} for {inside}");
    }

    #[test]
    fn random_polygons_are_covered() {
        let mut rng = SmallRng::seed_from_u64(5);
        for round in 0..40 {
            let n = rng.random_range(3..14);
            let points: Vec<[f64; 2]> = (0..n)
                .map(|k| {
                    let a = std::f64::consts::TAU * f64::from(k) / f64::from(n);
                    let r = rng.random_range(0.2..10.0);
                    [r * feeler_geom::math::cos(a), 0.3 * r * feeler_geom::math::sin(a)]
                })
                .collect();
            let shape = cells(&polygon(&points, 0));
            for leaf in [0.1, 0.01, 0.001] {
                let rects = cover(&shape, leaf);
                covered(&shape, &rects, round);
            }
            let part = Rect { u1: 0.5 * (shape.rect.u0 + shape.rect.u1), ..shape.rect };
            let shrunk = Coverage::new(&shape).shrink(&part).unwrap();
            for _ in 0..1000 {
                let p = P2::new(rng.random_range(part.u0..part.u1), rng.random_range(part.v0..part.v1));
                let held = shrunk.u0 <= p.x && p.x <= shrunk.u1 && shrunk.v0 <= p.y && p.y <= shrunk.v1;
                assert!(held || shape.classify(p) == Side::Outside, "{p:?} lost by shrinking");
            }
        }
    }
}
