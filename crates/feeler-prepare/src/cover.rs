//! Covers a trimmed domain with few tight parameter rectangles.
//!
//! Planes are flat whatever their size, so that flatness alone would make one leaf of a disc with 200
//! holes. A rectangle of any surface can contain little of the trimmed domain: the two bearing seats of a
//! shaft are one supermaximal cylinder. A rectangle is therefore shrunk to its content and cut in two,
//! recursively, as long as that saves more area than an additional leaf costs.
//!
//! # Source
//! BREP §2.4.1 (Figure 2.9), MATH §6 "Planes".
//!
//! # Deviations
//! The reference triangulates the domain and takes the bounding boxes of the triangles. These overlap
//! because a triangle fills at most half of its box, and there are as many of them as chords of the
//! boundary. Here the rectangles are disjoint up to the margin of the chords, a rectangular face is one
//! leaf, and nothing depends on a triangulation that fails where chords cross.

mod cut;

use feeler_geom::trim::{Side, TrimCells, TrimPiece};
use feeler_geom::{P2, Rect};
use std::ops::Range;

use cut::{Hull, best_cut, corners, size};

/// Maximum distance of a chord from the arc of the boundary that it replaces, relative to the rectangle
/// to cover. It affects only tightness: a larger value gives looser rectangles, a smaller one more
/// chords.
const CHORD_TOL: f64 = 2e-3;

/// Maximum number of successive cuts of a rectangle: `2^-24` of a rectangle is smaller than any feature
/// worth a leaf.
const MAX_DEPTH: u32 = 24;

/// Bound of the rounding of parameters, relative to the rectangle to cover. A larger value gives looser
/// rectangles; a smaller one can leave points uncovered.
const PARAMETER_ROUNDING: f64 = 1e-9;

/// Fraction of the width of a rectangle that is left out on its right side (at large u) when the area of
/// the domain in it is computed. The value exceeds the rounding of chords; a smaller one lets a boundary
/// along the right side count twice.
const RIGHT_SIDE_MARGIN: f64 = 1e-7;

/// Trimmed domain, prepared for covering.
#[derive(Debug)]
pub(crate) struct Coverage<'a> {
    cells: &'a TrimCells,
    bounds: Vec<Rect>,
    lists: Lists,
}

/// Costs that a cover minimises.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoverCost {
    /// Area, relative to the rectangle to cover, that an additional leaf must save.
    pub(crate) leaf: f64,
    /// Approximate width (along u) over height (along v) of the rectangle in space. If no cut saves
    /// area, the side that is longer in space is cut.
    pub(crate) aspect: f64,
}

/// Buffers reused between rectangles.
#[derive(Debug, Default)]
struct Lists {
    /// Chords near each rectangle on the current path of the recursion, one list after the other.
    chords: Vec<Chord>,
    /// Chords of one rectangle, clipped to it.
    clips: Vec<Chord>,
    /// Values of v at which the boundary crosses the right side of a rectangle.
    crossings: Vec<f64>,
    /// Candidate positions of cuts along one parameter.
    positions: Vec<f64>,
    /// Rectangles of the cover found so far.
    rects: Vec<Rect>,
}

impl<'a> Coverage<'a> {
    pub(crate) fn new(cells: &'a TrimCells) -> Self {
        let bounds = cells.pieces.iter().map(TrimPiece::bounds).collect();
        Self { cells, bounds, lists: Lists::default() }
    }

    /// Returns rectangles within `rect`, disjoint up to a margin, that together contain all points of
    /// the domain in `rect`. They are empty if `rect` contains no point of the domain.
    pub(crate) fn cover(&mut self, rect: &Rect, cost: &CoverCost) -> &[Rect] {
        self.lists.rects.clear();
        if !self.cells.may_touch(rect) {
            return &[];
        }
        self.find_chords(rect);
        let local = Local { cells: self.cells, rect, cost };
        let lists = &mut self.lists;
        let all = 0..lists.chords.len();
        if all.is_empty() {
            lists.rects.push(*rect);
        } else if let Some(part) = local.part(&UNIT, all, 0, lists) {
            local.split(&part, 0, f64::INFINITY, lists);
            for r in &mut lists.rects {
                *r = local.in_domain(r);
            }
        }
        &lists.rects
    }

    /// Returns the smallest rectangle, up to the margin of the chords, that contains all points of the
    /// domain in `rect`. Returns `None` if `rect` contains no point of the domain.
    pub(crate) fn shrink(&mut self, rect: &Rect) -> Option<Rect> {
        if !self.cells.may_touch(rect) {
            return None;
        }
        self.find_chords(rect);
        let local = Local { cells: self.cells, rect, cost: &CoverCost { leaf: f64::INFINITY, aspect: 1.0 } };
        let chords = &self.lists.chords;
        if chords.is_empty() { Some(*rect) } else { local.tight(&UNIT, chords).map(|r| local.in_domain(&r)) }
    }

    /// Replaces the list of chords by those of the boundary that intersect `rect` up to their error, in
    /// coordinates in which `rect` is the unit square.
    fn find_chords(&mut self, rect: &Rect) {
        let (w, h) = (rect.u1 - rect.u0, rect.v1 - rect.v0);
        let out = &mut self.lists.chords;
        out.clear();
        for (piece, b) in self.cells.pieces.iter().zip(&self.bounds) {
            let apart = b.u1 < rect.u0 - PARAMETER_ROUNDING * w
                || b.u0 > rect.u1 + PARAMETER_ROUNDING * w
                || b.v1 < rect.v0 - PARAMETER_ROUNDING * h
                || b.v0 > rect.v1 + PARAMETER_ROUNDING * h;
            if apart {
                continue;
            }
            let unit = piece.mapped(|p| P2::new(ratio(p.x - rect.u0, w), ratio(p.y - rect.v0, h)));
            let n = unit.chord_steps(CHORD_TOL);
            let [a, b, c, d] = unit.control.map(|p| p.coords);
            let bend = (a - b * 2.0 + c).norm().max((b - c * 2.0 + d).norm());
            #[expect(clippy::cast_precision_loss, reason = "at most 4096")]
            let steps = n as f64;
            let error = 0.75 * bend / (steps * steps) + PARAMETER_ROUNDING;
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
    }
}

const UNIT: Rect = Rect { u0: 0.0, u1: 1.0, v0: 0.0, v1: 1.0 };

/// Returns `a / b`, or 0 unless `b`, a length of a rectangle, is positive.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Chord of an arc of the boundary, with the domain on its left, in coordinates in which the rectangle
/// to cover is the unit square.
#[derive(Clone, Copy, Debug)]
struct Chord {
    from: P2,
    to: P2,
    /// Maximum distance of the arc from the chord, in coordinates of the unit square, including rounding.
    error: f64,
    /// Whether `to` is the end of a boundary piece, that is, a corner or an extreme point of the
    /// boundary.
    corner: bool,
}

impl Chord {
    /// Clips the chord to `r`, enlarged by the chord's error. Returns the ends of the clipped chord, or
    /// `None` if the chord does not intersect the enlarged rectangle.
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

/// Rectangle of the recursion, shrunk to the part of the domain in it, in coordinates in which the
/// rectangle to cover is the unit square. Costs are areas in these coordinates plus [`CoverCost::leaf`]
/// for each leaf.
struct Part {
    /// The rectangle after shrinking.
    tight: Rect,
    /// Chords near the rectangle, as a range of the list of chords.
    chords: Range<usize>,
    /// Cost of covering the rectangle by one leaf.
    own: f64,
    /// Lower bound of the cost of any cover of the domain in the rectangle.
    min_cost: f64,
    /// Whether cutting the rectangle can reduce the cost.
    divisible: bool,
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
        // Clamped ends are exact, so that there is no gap between adjacent rectangles.
        let end = |x: f64, at: f64| if x >= 1.0 { at } else { u(x) };
        let end_v = |x: f64, at: f64| if x >= 1.0 { at } else { v(x) };
        Rect { u0: u(r.u0), u1: end(r.u1, f.u1), v0: v(r.v0), v1: end_v(r.v1, f.v1) }
    }

    fn inside(&self, u: f64, v: f64) -> bool {
        let f = self.rect;
        let uv = P2::new(f.u0 + (f.u1 - f.u0) * u, f.v0 + (f.v1 - f.v0) * v);
        self.cells.classify(uv) == Side::Inside
    }

    /// Computes the bounding box of the domain in `r`, which is that of the boundary in `r` and the
    /// corners of `r` that are inside the domain. Returns `None` if `r` contains no point of the domain.
    fn tight(&self, r: &Rect, chords: &[Chord]) -> Option<Rect> {
        let mut hull = Hull::EMPTY;
        for c in chords {
            if let Some((p, q)) = c.clipped(r) {
                hull.add(p, c.error);
                hull.add(q, c.error);
            }
        }
        // Corners that the boundary already encloses need no classification.
        hull.closed(r, corners(r).map(|p| !hull.contains(&p) && self.inside(p.x, p.y)))
    }

    /// Computes the area of the domain in `r`, to the accuracy of the chords. By Green's theorem it is
    /// `∮ (u - u0) dv` along the boundary in `r` and along the part of the right side of `r` that is
    /// inside the domain. A small margin is left out on the right, so that a boundary along the right
    /// side does not count twice.
    fn area(&self, r: &Rect, chords: &[Chord], crossings: &mut Vec<f64>) -> f64 {
        let r = &Rect { u1: r.u1 - RIGHT_SIDE_MARGIN * (r.u1 - r.u0), ..*r };
        let mut area = 0.0;
        crossings.clear();
        crossings.extend([r.v0, r.v1]);
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
            if w[1] - w[0] > 1e-12 && self.inside(r.u1, 0.5 * (w[0] + w[1])) {
                area += (r.u1 - r.u0) * (w[1] - w[0]);
            }
        }
        area
    }

    /// Shrinks `r` to the domain in it and bounds the cost of covering it. `chords` is the range, in the
    /// list of chords, of those near `r`; the ones near the shrunk rectangle are appended to the list.
    /// `depth` is the number of cuts so far. Returns `None` if `r` contains no point of the domain.
    fn part(&self, r: &Rect, chords: Range<usize>, depth: u32, lists: &mut Lists) -> Option<Part> {
        let tight = self.tight(r, &lists.chords[chords.clone()])?;
        let first = lists.chords.len();
        for k in chords {
            let chord = lists.chords[k];
            if chord.clipped(&tight).is_some() {
                lists.chords.push(chord);
            }
        }
        let near = first..lists.chords.len();
        let (area, leaf) = (size(&tight), self.cost.leaf);
        let own = area + leaf;
        let one = Part { tight, chords: near.clone(), own, min_cost: own, divisible: false };
        if depth == MAX_DEPTH || area <= leaf {
            return Some(one);
        }
        let content = self.area(&tight, &lists.chords[near], &mut lists.crossings);
        if area - content <= leaf {
            return Some(one);
        }
        // The bound is that of two leaves without any waste, slightly reduced for rounding.
        Some(Part { min_cost: (content + 2.0 * leaf).min(own) * (1.0 - 1e-9), divisible: true, ..one })
    }

    /// Adds the rectangles that cover `part` to the cover and returns their cost. Returns `None`, and
    /// adds no rectangle, if the cost is not below `limit`.
    fn split(&self, part: &Part, depth: u32, limit: f64, lists: &mut Lists) -> Option<f64> {
        if part.divisible {
            let (n_rects, n_chords) = (lists.rects.len(), lists.chords.len());
            let (a, b) = self.cut(part, lists);
            let halves = [a, b].map(|r| self.part(&r, part.chords.clone(), depth + 1, lists));
            let cost = self.split_both(&halves, depth + 1, part.own.min(limit), lists);
            lists.chords.truncate(n_chords);
            if cost.is_some() {
                return cost;
            }
            lists.rects.truncate(n_rects);
        }
        (part.own < limit).then(|| {
            lists.rects.push(part.tight);
            part.own
        })
    }

    /// Like [`Local::split`], for two halves (`None` for one without a point of the domain) whose costs
    /// are added. It stops as soon as the cost so far and the lower bound of the rest reach the limit.
    fn split_both(
        &self,
        halves: &[Option<Part>; 2],
        depth: u32,
        limit: f64,
        lists: &mut Lists,
    ) -> Option<f64> {
        let [mut cost, min_cost] = halves.each_ref().map(|h| h.as_ref().map_or(0.0, |p| p.min_cost));
        if cost + min_cost >= limit {
            return None;
        }
        let [a, b] = halves;
        if let Some(a) = a {
            cost = self.split(a, depth, limit - min_cost, lists)?;
        }
        if let Some(b) = b {
            cost += self.split(b, depth, limit - cost, lists)?;
        }
        (cost < limit).then_some(cost)
    }

    /// Cuts the rectangle of a part in two and returns both halves, which are not shrunk to the domain
    /// yet. Of all candidate cuts, [`best_cut`] takes the one whose halves have the smallest total area
    /// after they are shrunk.
    fn cut(&self, part: &Part, lists: &mut Lists) -> (Rect, Rect) {
        let Lists { chords, clips, positions, .. } = lists;
        let chords = &chords[part.chords.clone()];
        let clip = |c: &Chord| c.clipped(&part.tight).map(|(from, to)| Chord { from, to, ..*c });
        clips.clear();
        clips.extend(chords.iter().filter_map(clip));
        best_cut(&part.tight, chords, clips, self.cost.aspect, positions, |p| self.inside(p.x, p.y))
    }
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

    /// Circle of four cubic pieces, counter-clockwise, or reversed as a hole.
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

    impl Coverage<'_> {
        fn lists_near(mut self, rect: &Rect) -> Lists {
            self.find_chords(rect);
            self.lists
        }
    }

    fn cover(cells: &TrimCells, leaf: f64) -> Vec<Rect> {
        Coverage::new(cells).cover(&cells.rect, &CoverCost { leaf, aspect: 1.0 }).to_vec()
    }

    #[test]
    fn plain_shapes_need_few_leaves() {
        let rectangle = cells(&polygon(&[[0.0, 0.0], [30.0, 0.0], [30.0, 2.0], [0.0, 2.0]], 0));
        let rects = cover(&rectangle, 0.1);
        assert_eq!(rects, vec![rectangle.rect], "a rectangle covers itself");
        let disc = cells(&circle(3.0, 4.0, 2.0, false));
        assert_eq!(cover(&disc, 0.1).len(), 1, "a disc needs one leaf");
        let triangle = cells(&polygon(&[[0.0, 0.0], [3.0, 0.0], [0.0, 2.0]], 0));
        let rects = cover(&triangle, 0.1);
        assert!((2..=3).contains(&rects.len()), "a triangle: {rects:?}");
        covered(&triangle, &rects, 1);
        let mirrored = cells(&polygon(&[[0.0, 0.0], [3.0, 0.0], [3.0, 2.0]], 0));
        let rects = cover(&mirrored, 0.1);
        assert!((2..=3).contains(&rects.len()), "a triangle's mirror image: {rects:?}");
        let l =
            cells(&polygon(&[[0.0, 0.0], [10.0, 0.0], [10.0, 1.0], [1.0, 1.0], [1.0, 10.0], [0.0, 10.0]], 0));
        let rects = cover(&l, 0.1);
        assert_eq!(rects.len(), 2, "an L needs two rectangles: {rects:?}");
        let (filled, inside) = covered(&l, &rects, 2);
        assert!(filled < 1.02 * inside, "{filled} against {inside}");
    }

    /// Cheapest cover of a part that successive cuts by [`Local::cut`] can give, found by trying both to
    /// cut and not to cut each part. Returns its rectangles and cost.
    fn exhaustive(local: &Local<'_>, part: &Part, depth: u32, lists: &mut Lists) -> (Vec<Rect>, f64) {
        if part.divisible {
            let (a, b) = local.cut(part, lists);
            let halves = [a, b].map(|r| local.part(&r, part.chords.clone(), depth + 1, lists));
            let (mut rects, mut cost) = (vec![], 0.0);
            for half in halves.iter().flatten() {
                let (more, c) = exhaustive(local, half, depth + 1, lists);
                rects.extend(more);
                cost += c;
            }
            if cost < part.own {
                return (rects, cost);
            }
        }
        (vec![part.tight], part.own)
    }

    #[test]
    fn skipped_halves_do_not_improve_the_cover() {
        let mut rng = SmallRng::seed_from_u64(8);
        for _ in 0..60 {
            let mut pieces = circle(0.0, 0.0, 10.0, false);
            if rng.random_bool(0.5) {
                pieces = polygon(&[[-9.0, -8.0], [10.0, -3.0], [10.0, 9.0], [-2.0, 6.0]], 0);
            }
            for _ in 0..rng.random_range(0..6) {
                let (x, y) = (rng.random_range(-4.0..4.0), rng.random_range(-4.0..4.0));
                pieces.extend(circle(x, y, rng.random_range(0.2..1.0), true));
            }
            // Overlapping holes do not form a valid domain, but both searches must still agree.
            let inf = f64::INFINITY;
            let natural = Rect { u0: -inf, u1: inf, v0: -inf, v1: inf };
            let cells = TrimCells::build(&TrimDomain::new(&pieces, natural, None, None, P2::origin())).0;
            for leaf in [0.1, 0.02, 0.005] {
                let cost = CoverCost { leaf, aspect: 1.0 };
                let mut coverage = Coverage::new(&cells);
                let rects = coverage.cover(&cells.rect, &cost).to_vec();
                let local = Local { cells: &cells, rect: &cells.rect, cost: &cost };
                let mut lists = Coverage::new(&cells).lists_near(&cells.rect);
                let all = 0..lists.chords.len();
                let whole = local.part(&UNIT, all, 0, &mut lists).expect("the domain is empty");
                let expected = exhaustive(&local, &whole, 0, &mut lists).0;
                let expected: Vec<Rect> = expected.iter().map(|r| local.in_domain(r)).collect();
                assert_eq!(rects, expected, "leaf {leaf}");
            }
        }
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
