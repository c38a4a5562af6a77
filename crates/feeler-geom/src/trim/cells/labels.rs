//! Determines which cells of each strip of a trimmed domain are inside, and finds contradictions. The
//! *base* of a strip is the winding number of the cell at its left border.
//!
//! # Source
//! MATH §6 (inside and outside come from the orientation of the pieces).

use super::{Inconsistent, MAX_SLIVER, TrimCells, extent, winding_step};
use crate::P2;
use crate::trim::tree::{self, UvBox};
use crate::trim::{TrimDomain, TrimPiece};
use std::cell::Cell;
use std::cmp::Ordering;

/// Maximum number of crossings that are checked for contradictions, as a mean per piece. If there are
/// more, only every k-th strip is checked among those whose base is already known. A larger value is
/// slower, a smaller one may miss contradictions.
const MAX_CHECKED_PER_PIECE: usize = 48;
/// Minimum width of a cell, relative to the width of the domain, at which its label counts. A larger
/// value ignores real cells; with a smaller one rounding decides labels.
const MIN_LABEL_WIDTH: f64 = 1e-12;
/// Number of columns in which the pieces above and below a strip vote for its label. A larger value is
/// slower; with a smaller one a few inexact pieces can win the vote.
const NUM_COLUMNS: u32 = 16;
/// Maximum number of reported contradictions. Further ones add no information for the user.
const MAX_REPORTS: usize = 32;

/// Returns the extent of each edge, which is the larger one of its extents in u and in v relative to the
/// domain's `size`, sorted by tag.
fn edge_extents(pieces: &[TrimPiece], size: [f64; 2]) -> Vec<(u32, f64)> {
    let mut all: Vec<(u32, UvBox)> = pieces.iter().map(|p| (p.edge, tree::piece_box(p))).collect();
    all.sort_by_key(|a| a.0);
    all.chunk_by(|a, b| a.0 == b.0)
        .map(|same| {
            let b = same.iter().map(|s| s.1).fold(tree::EMPTY, tree::joined);
            (same[0].0, ((b[1] - b[0]) / size[0]).max((b[3] - b[2]) / size[1]))
        })
        .collect()
}

/// Computation of the base of every strip: the winding number at its left border.
pub(super) struct Labels<'a> {
    cells: &'a TrimCells,
    domain: &'a TrimDomain,
    size: [f64; 2],
    /// Tags of the edges with their extents relative to the domain's size, sorted by tag.
    edges: Vec<(u32, f64)>,
    reports: Vec<Inconsistent>,
}

/// Crossing of a piece with the middle line of a strip, at the parameter `u`; `piece` is the index among
/// the pieces of the domain.
#[derive(Clone, Copy)]
struct Crossing {
    u: f64,
    piece: u32,
}

impl<'a> Labels<'a> {
    pub(super) fn new(cells: &'a TrimCells, domain: &'a TrimDomain) -> Self {
        let size = extent(&cells.rect);
        Self { cells, domain, size, edges: edge_extents(&cells.pieces, size), reports: Vec::new() }
    }

    /// Returns the base of every strip, and the contradictions. `spans` contains for each piece the
    /// range of strips that it crosses: the index of the first one and the index after the last one.
    pub(super) fn run(mut self, spans: &[(usize, usize)]) -> (Vec<i32>, Vec<Inconsistent>) {
        let n = self.cells.n_strips();
        if self.cells.pieces.is_empty() {
            return (vec![1; n], self.reports);
        }
        let mut starting: Vec<Vec<u32>> = vec![Vec::new(); n];
        // Change of the winding number over the whole width of the domain, from each strip to the next
        // one.
        let mut change = vec![0_i32; n + 1];
        for (i, &(a, b)) in spans.iter().enumerate() {
            if a < b {
                starting[a].push(i as u32);
                let step = winding_step(&self.cells.pieces[i]);
                change[a] += step;
                change[b] -= step;
            }
        }
        let at_border = self.strips_at_left_border(spans);
        // If the base of a strip is known in advance and there are many strips, only a sample of them is
        // checked for contradictions.
        let entries: usize = spans.iter().map(|(a, b)| b - a).sum();
        let stride = entries / (MAX_CHECKED_PER_PIECE * self.cells.pieces.len()) + 1;
        let mut bases: Vec<Option<i32>> = Vec::with_capacity(n);
        let mut sides: Vec<f64> = Vec::with_capacity(n);
        let mut active: Vec<Crossing> = Vec::new();
        let mut pending: Vec<u32> = Vec::new();
        let mut total = 0;
        for (k, starting) in starting.iter().enumerate() {
            total += change[k];
            pending.extend(starting);
            if k % stride != 0 {
                // Without a piece at the left border, the winding there is that of the previous strip.
                let previous = bases.last().copied().flatten().filter(|_| !at_border[k]);
                if let Some(base) = self.forced_base(|| total).or(previous) {
                    bases.push(Some(base));
                    sides.push(sides.last().copied().unwrap_or(0.0));
                    continue;
                }
            }
            active.retain(|c| spans[c.piece as usize].1 > k);
            let started = pending.drain(..).filter(|piece| spans[*piece as usize].1 > k);
            active.extend(started.map(|piece| Crossing { u: 0.0, piece }));
            let v = self.mid(k);
            for c in &mut active {
                c.u = self.cells.pieces[c.piece as usize].u_at_v(v);
            }
            // A stable sort is fast for almost sorted input.
            active.sort_by(|a, b| a.u.total_cmp(&b.u));
            let base = self.base_of_crossings(k, v, &active);
            bases.push(base);
            sides.push(self.inside_share(base.unwrap_or(0), &active));
        }
        for (k, base) in bases.iter_mut().enumerate() {
            if base.is_none() {
                *base = self.base_of_votes(k);
            }
        }
        // A strip without pieces above and below (a gap at a pole) takes the label of the majority of
        // the nearest labelled strips.
        for k in 0..n {
            if bases[k].is_none() {
                let near = (1..n)
                    .flat_map(|d| [k.checked_sub(d), Some(k + d).filter(|j| *j < n)])
                    .flatten()
                    .find(|j| bases[*j].is_some());
                bases[k] = Some(
                    near.map_or(1, |j| i32::from(sides[j] > 0.5 || (sides[j] < 0.0 && bases[j] > Some(0)))),
                );
            }
        }
        self.check_infinite_sides();
        (bases.into_iter().map(|b| b.unwrap_or(1)).collect(), self.reports)
    }

    /// Returns the base of a strip if u is unbounded on one side: no domain extends to infinity, so the
    /// strip is outside there. Otherwise returns `None`. `total` returns the change of the winding
    /// number over the width of the strip.
    fn forced_base(&self, total: impl Fn() -> i32) -> Option<i32> {
        if self.domain.u_period.is_some() {
            None
        } else if self.domain.natural.u0 == f64::NEG_INFINITY {
            Some(0)
        } else if self.domain.natural.u1 == f64::INFINITY {
            Some(-total())
        } else {
            None
        }
    }

    /// Returns for each strip whether a piece starts or ends at the left border of the domain between
    /// this strip and the previous one, so that the winding number there may change.
    fn strips_at_left_border(&self, spans: &[(usize, usize)]) -> Vec<bool> {
        let cells = self.cells;
        let mut out = vec![false; cells.n_strips() + 1];
        let border = cells.rect.u0 + MIN_LABEL_WIDTH * self.size[0];
        for (p, &(a, b)) in cells.pieces.iter().zip(spans) {
            if p.start().x.min(p.end().x) <= border {
                (out[a], out[b]) = (true, true);
            }
        }
        out
    }

    fn mid(&self, k: usize) -> f64 {
        let v = &self.cells.strip_v;
        0.5 * v[k] + 0.5 * v[k + 1]
    }

    /// Returns the fraction of the strip's width that is inside with the given base; negative without
    /// crossings.
    fn inside_share(&self, base: i32, active: &[Crossing]) -> f64 {
        if active.is_empty() {
            return -1.0;
        }
        let (mut w, mut u, mut sum) = (base, self.cells.rect.u0, 0.0);
        for c in active {
            if w > 0 {
                sum += c.u - u;
            }
            w += winding_step(&self.cells.pieces[c.piece as usize]);
            u = c.u;
        }
        if w > 0 {
            sum += self.cells.rect.u1 - u;
        }
        sum / self.size[0]
    }

    /// Returns the base for which the winding numbers of all cells of a strip are 0 or 1, and reports
    /// cells for which they are not. If there are contradictions, it is the base for which this is true
    /// for the largest width. `None` if the crossings do not determine the inside. `k` is the index of
    /// the strip, `v` the parameter of its middle line.
    fn base_of_crossings(&mut self, k: usize, v: f64, active: &[Crossing]) -> Option<i32> {
        let rect = self.cells.rect;
        // Winding number relative to the base, and width, of each cell.
        let mut w = 0;
        let mut u = rect.u0;
        let (mut min, mut max) = (i32::MAX, i32::MIN);
        let mut tally: Vec<(i32, f64)> = Vec::with_capacity(active.len() + 1);
        for i in 0..=active.len() {
            let next = active.get(i).map_or(rect.u1, |c| c.u);
            let width = (next - u) / self.size[0];
            if width > MIN_LABEL_WIDTH {
                (min, max) = (min.min(w), max.max(w));
            }
            tally.push((w, width.max(0.0)));
            if let Some(c) = active.get(i) {
                w += winding_step(&self.cells.pieces[c.piece as usize]);
                u = c.u;
            }
        }
        let total = w;
        let u_free = self.domain.u_period.is_none();
        let base = match self.forced_base(|| total) {
            Some(b) => b,
            None if max <= min => {
                // All crossings are on the borders of the domain, or cuts. Pieces on the borders
                // determine on which side the domain is.
                let m = if max < min { 0 } else { min };
                let label = if m != 0 {
                    i32::from(m > 0)
                } else if total != 0 {
                    i32::from(total < 0)
                } else {
                    return None;
                };
                label - m
            }
            None => {
                // Ties are resolved in favour of the smaller base, which is outside.
                let share = |b: i32| -> f64 {
                    tally.iter().filter(|(w, _)| (0..=1).contains(&(b + w))).map(|(_, d)| d).sum()
                };
                (-max..=1 - min)
                    .map(|b| (b, share(b)))
                    .fold((0, -1.0), |a, b| if b.1 > a.1 { b } else { a })
                    .0
            }
        };
        let height = (self.cells.strip_v[k + 1] - self.cells.strip_v[k]) / self.size[1];
        if height > MIN_LABEL_WIDTH {
            for (i, (w, width)) in tally.iter().enumerate() {
                if !(0..=1).contains(&(base + w)) {
                    self.report_cell(v, active, i, width.min(height));
                }
            }
            let open = if u_free {
                (self.domain.natural.u1 == f64::INFINITY && base + total != 0)
                    || (self.domain.natural.u0 == f64::NEG_INFINITY && base != 0)
            } else {
                total != 0
            };
            if open && height > MAX_SLIVER {
                let ends = [active.first(), active.last()];
                let edges = ends.into_iter().flatten().map(|c| self.cells.pieces[c.piece as usize].edge);
                let edges = edges.collect();
                self.report(P2::new(rect.u1, v), edges, f64::INFINITY);
            }
        }
        Some(base)
    }

    /// Reports the cell left of crossing number `i` of a strip (right of the last crossing for the
    /// largest `i`) as a contradiction, unless it is a sliver between inexact curves: its `thickness` is
    /// small relative to the extents of the edges beside it. `v` is the parameter of the strip's middle
    /// line.
    fn report_cell(&mut self, v: f64, active: &[Crossing], i: usize, thickness: f64) {
        let edge = |c: &Crossing| self.cells.pieces[c.piece as usize].edge;
        let left = i.checked_sub(1).and_then(|j| active.get(j));
        let right = active.get(i);
        let length = |e: u32| self.edges.binary_search_by_key(&e, |x| x.0).map_or(0.0, |k| self.edges[k].1);
        let beside = [left, right].into_iter().flatten().map(|c| length(edge(c))).fold(0.0, f64::max);
        if thickness <= MAX_SLIVER * beside {
            return;
        }
        let (a, b) = (left.map_or(self.cells.rect.u0, |c| c.u), right.map_or(self.cells.rect.u1, |c| c.u));
        let edges = [left, right].into_iter().flatten().map(edge).collect();
        self.report(P2::new(0.5 * a + 0.5 * b, v), edges, thickness);
    }

    /// Adds a contradiction at parameters `at`. If several regions are beside the same `edges`, only the
    /// thickest one is kept. The list contains at most [`MAX_REPORTS`] contradictions; further ones are
    /// dropped.
    fn report(&mut self, at: P2, mut edges: Vec<u32>, thickness: f64) {
        edges.sort_unstable();
        edges.dedup();
        let full = self.reports.len() >= MAX_REPORTS;
        match self.reports.iter_mut().find(|r| r.edges == edges) {
            Some(r) if thickness > r.thickness => *r = Inconsistent { at, edges, thickness },
            None if !full => self.reports.push(Inconsistent { at, edges, thickness }),
            _ => {}
        }
    }

    /// Returns the u coordinates of the columns for votes: evenly spaced, away from round numbers.
    fn columns(&self) -> impl Iterator<Item = f64> + use<> {
        let rect = self.cells.rect;
        (0..NUM_COLUMNS).map(move |i| {
            let f = (f64::from(i) + 0.5) * 0.618_033_988_749_895;
            rect.u0 + (f - f.floor()) * (rect.u1 - rect.u0)
        })
    }

    /// Returns the pieces that intersect the column `u`, by increasing v: (v, whether the domain is
    /// above the piece, edge tag).
    fn column(&self, u: f64) -> Vec<(f64, bool, u32)> {
        let cells = self.cells;
        let mut out = Vec::new();
        let hits = |b: &UvBox| b[0] <= u && u <= b[1];
        tree::visit(&cells.boxes, cells.pieces.len(), hits, |i| {
            let p = &cells.pieces[i];
            let (a, b) = (p.start().x, p.end().x);
            if a.min(b) <= u && u < a.max(b) {
                out.push((p.v_at_u(u), b > a, p.edge));
            }
            false
        });
        out.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        out
    }

    /// Returns the base of strip `k` as decided by votes, 1 for inside and 0 for outside. The nearest
    /// piece above the strip and the nearest one below it vote in each column. Contradicting votes are
    /// reported. `None` without votes.
    fn base_of_votes(&mut self, k: usize) -> Option<i32> {
        let v = self.mid(k);
        let (mut votes, mut against) = ([0_usize; 2], [None, None]);
        for u in self.columns() {
            let hits = self.column(u);
            let n = hits.partition_point(|h| h.0 < v);
            let (mut below, mut above) = (n.checked_sub(1).map(|i| hits[i]), hits.get(n).copied());
            if self.domain.v_period.is_some() {
                below = below.or(hits.last().copied());
                above = above.or(hits.first().copied());
            }
            for (inside, edge) in
                [below.map(|h| (h.1, h.2)), above.map(|h| (!h.1, h.2))].into_iter().flatten()
            {
                votes[usize::from(inside)] += 1;
                against[usize::from(inside)] = Some((u, edge));
            }
        }
        let height = (self.cells.strip_v[k + 1] - self.cells.strip_v[k]) / self.size[1];
        let (outside, inside) = (votes[0], votes[1]);
        if outside.min(inside) >= 2 && height > MAX_SLIVER {
            let loser = usize::from(inside < outside);
            if let (Some((u, a)), Some((_, b))) = (against[loser], against[1 - loser]) {
                self.report(P2::new(u, v), vec![a, b], f64::INFINITY);
            }
        }
        (outside + inside > 0).then(|| i32::from(inside > outside))
    }

    /// Returns the highest piece (if `top`) or the lowest one that intersects the column `u`: (v,
    /// whether the domain is above the piece, edge tag); `None` if no piece does. The intersection is
    /// computed only for pieces that may be higher or lower than the best one found.
    fn outermost(&self, u: f64, top: bool) -> Option<(f64, bool, u32)> {
        let cells = self.cells;
        let beats = |v: f64, edge: u32, best: &Option<(f64, bool, u32)>| {
            best.is_none_or(|b| match v.total_cmp(&b.0) {
                Ordering::Equal => (edge > b.2) == top,
                order => (order == Ordering::Greater) == top,
            })
        };
        let best = Cell::new(None);
        let enter = |b: &UvBox| {
            let reach = if top { b[3] } else { b[2] };
            b[0] <= u && u <= b[1] && beats(reach, if top { u32::MAX } else { 0 }, &best.get())
        };
        tree::visit(&cells.boxes, cells.pieces.len(), enter, |i| {
            let p = &cells.pieces[i];
            let (a, b) = (p.start().x, p.end().x);
            if a.min(b) <= u && u < a.max(b) && enter(&tree::piece_box(p)) {
                let v = p.v_at_u(u);
                if beats(v, p.edge, &best.get()) {
                    best.set(Some((v, b > a, p.edge)));
                }
            }
            false
        });
        best.get()
    }

    /// Reports pieces beyond which the domain would extend to infinity in v.
    fn check_infinite_sides(&mut self) {
        if self.domain.v_period.is_some() || !self.reports.is_empty() {
            return;
        }
        let natural = self.domain.natural;
        for (top, infinite) in [(false, natural.v0 == f64::NEG_INFINITY), (true, natural.v1 == f64::INFINITY)]
        {
            if !infinite {
                continue;
            }
            let (mut far, mut left) = (Vec::new(), NUM_COLUMNS as usize);
            for u in self.columns() {
                left -= 1;
                if let Some((v, above, edge)) = self.outermost(u, top)
                    && above == top
                {
                    far.push((P2::new(u, v), edge));
                }
                // A majority is no longer possible.
                if 2 * (far.len() + left) < NUM_COLUMNS as usize {
                    break;
                }
            }
            if 2 * far.len() >= NUM_COLUMNS as usize {
                self.report(far[0].0, far.iter().map(|f| f.1).collect(), f64::INFINITY);
            }
        }
    }
}
