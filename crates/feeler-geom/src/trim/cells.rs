//! Construction of the structure that classifies points of a parameter plane as inside or outside of a
//! trimmed domain.
//!
//! The pieces are cut to be monotone, and the v of their ends divide the domain into strips. From left
//! to right in a strip, a piece that goes up is a right border of the domain (the *winding* decreases by
//! one), and a piece that goes down a left border (it increases by one). A strip stores the winding at
//! its left border. A *node* stores groups, disjoint in u, of pieces that all extend over one range of
//! strips, with the sum of the windings before each group. The winding of a point is that of its strip's
//! border, plus the sums of the nodes of its strip (mostly one), plus exact tests of the pieces in the
//! point's group. A positive winding is inside.
//!
//! # Source
//! BREP §4.4.1 (after Schollmeyer et al.).
//!
//! # Deviations
//! - Boxes are not split until they are disjoint, because that does not terminate for curves tangent at
//!   a vertex. A group contains several pieces, and all of them are tested.
//! - If the number of strips × pieces is large (a rotated grid of holes), the strips become the leaves
//!   of a segment tree, and a piece is listed at O(log n) of its nodes instead of in each of its strips.
//! - Inside and outside come from the orientation of the pieces, not from even–odd counting (MATH §6).

#![expect(clippy::cast_possible_truncation, reason = "counts of pieces are below 2³¹")]

mod labels;

use super::tree::{self, UvBox};
use super::{TrimDomain, TrimPiece};
use crate::{P2, Rect};
use labels::Labels;

/// Trimmed domain prepared for the classification of points (BREP §4.4.1). It is divided into strips in
/// v. Within a strip, pieces do not begin or end, and they divide it into cells in u.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TrimCells {
    /// Parameter rectangle of the domain.
    pub rect: Rect,
    /// Period in u; `None` if u is not periodic.
    pub u_period: Option<f64>,
    /// Period in v; `None` if v is not periodic.
    pub v_period: Option<f64>,
    /// All boundary pieces, cut so that each is monotone in u and in v, in the order of the tree of
    /// `boxes`.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub pieces: Vec<TrimPiece>,
    /// Values of v at the borders of the strips, increasing. Strip `k` extends from entry `k` to entry
    /// `k + 1`.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub(super) strip_v: Vec<f64>,
    /// Winding number at the left side of `rect` (smallest u), for each strip.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub(super) strip_base: Vec<i32>,
    /// Index in `node_refs` of the first node of each strip, followed by the length of `node_refs`.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub(super) strip_nodes: Vec<u32>,
    /// Nodes of all strips, strip by strip, as positions in `node_groups`. The nodes of a strip together
    /// list all pieces that cross it. A node can belong to several strips.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub(super) node_refs: Vec<u32>,
    /// Index in `groups` of the first group of each node, followed by the length of `groups`.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub(super) node_groups: Vec<u32>,
    /// Groups of all nodes, node by node and by increasing u. The last group of each node is a sentinel
    /// without pieces, whose `lo` and `hi` are `f64::MAX`.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub(super) groups: Vec<Group>,
    /// Indices in `pieces` of the pieces of all groups, group by group.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub(super) members: Vec<u32>,
    /// Boxes of the nodes of the bounding volume tree over `pieces`: node 1 is the root, and the
    /// children of node `k` are `2k` and `2k + 1`.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub(super) boxes: Vec<UvBox>,
}

/// Pieces of one node whose intervals of u, over the node's range of v, form one connected interval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Group {
    /// Smallest u of the group's pieces over the node's range of v.
    pub(super) lo: f64,
    /// Largest u of the group's pieces over the node's range of v.
    pub(super) hi: f64,
    /// Change of the winding number across all pieces of the node to the left of this group (at smaller
    /// u).
    pub(super) before: i32,
    /// Index in `members` of the group's first piece. The group ends before the `first` of the next
    /// group.
    pub(super) first: u32,
}

#[cfg(feature = "serde")]
crate::record!(Group { lo: f64, hi: f64, before: i32, first: u32 });

/// Region of the parameter plane that is inside the domain according to some boundary pieces and outside
/// according to others.
#[derive(Clone, Debug, PartialEq)]
pub struct Inconsistent {
    /// Point of the region, in the parameter plane.
    pub at: P2,
    /// Tags ([`TrimPiece::edge`]) of the edges beside the region.
    pub edges: Vec<u32>,
    /// Width or height of the region's rectangle, each relative to that of the domain, whichever is
    /// smaller. It is infinite if the region is unbounded or its size has not been determined.
    pub thickness: f64,
}

/// Maximum mean number of strips that a piece crosses at which each strip lists its pieces directly;
/// beyond it, a segment tree is stored. A larger value uses more memory, a smaller one builds a segment
/// tree for simple domains.
const MAX_FLAT_ENTRIES_PER_PIECE: usize = 6;
/// Maximum thickness of a cell, relative to the larger extent of the edges beside it, at which it counts
/// as a gap or overlap of inexact curves and not as a contradiction. Strips lower than this fraction of
/// the whole height are also ignored in decisions about the sides of a rectangle. With a larger value
/// real contradictions are accepted; with a smaller one valid domains are rejected.
const MAX_SLIVER: f64 = 1e-3;

/// Change of the winding number from left to right (towards larger u) across a piece that is not
/// horizontal: −1 if v increases along the piece, else 1.
pub(super) fn winding_step(p: &TrimPiece) -> i32 {
    if p.end().y > p.start().y { -1 } else { 1 }
}

/// For each side of a rectangle, whether the domain continues beyond it. `u0` and `u1` are the sides of
/// smallest and largest u, `v0` and `v1` those of smallest and largest v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four sides of a box")]
pub(super) struct Beyond {
    pub(super) u0: bool,
    pub(super) u1: bool,
    pub(super) v0: bool,
    pub(super) v1: bool,
}

impl TrimCells {
    /// Whether the domain is a disc by its boundary: the pieces form one closed loop in the parameter plane,
    /// with the domain inside. `true` is certain.
    #[must_use]
    pub fn is_disc(&self) -> bool {
        let Some(first) = self.pieces.first() else { return false };
        let order = |p: P2, q: P2| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y));
        let mut by_start: Vec<&TrimPiece> = self.pieces.iter().collect();
        by_start.sort_unstable_by(|p, q| order(p.start(), q.start()));
        if by_start.windows(2).any(|w| w[0].start() == w[1].start()) {
            return false;
        }
        let (mut at, mut length) = (first.end(), 1);
        while at != first.start() {
            let next = by_start.binary_search_by(|piece| order(piece.start(), at));
            let Ok(next) = next else { return false };
            (at, length) = (by_start[next].end(), length + 1);
            // A chain that leads into a loop without its start would never end.
            if length > self.pieces.len() {
                return false;
            }
        }
        let parts = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];
        let doubled_area = self.pieces.iter().flat_map(|piece| {
            let points = parts.map(|t| piece.eval(t) - first.start());
            [0, 1, 2].map(|k| points[k].perp(&points[k + 1]))
        });
        length == self.pieces.len() && doubled_area.sum::<f64>() > 0.0
    }

    /// Builds the structure for a domain. If orientations of pieces contradict each other, the majority
    /// by length decides whether a region is inside. The second value lists the contradictions, for the
    /// caller to report.
    #[must_use]
    pub fn build(domain: &TrimDomain) -> (Self, Vec<Inconsistent>) {
        let rect = domain.rect;
        let mut pieces: Vec<TrimPiece> = Vec::with_capacity(domain.pieces.len() + domain.pieces.len() / 4);
        for p in domain.pieces.iter().filter(|p| p.is_finite()) {
            pieces.extend(p.monotone_parts().into_iter().filter(|p| p.start() != p.end()));
        }
        let boxes = tree::build(&mut pieces, extent(&rect));
        let mut cells = Self {
            rect,
            u_period: domain.u_period,
            v_period: domain.v_period,
            strip_v: strip_borders(&rect, &pieces),
            strip_base: Vec::new(),
            strip_nodes: vec![0],
            node_refs: Vec::new(),
            node_groups: vec![0],
            groups: Vec::new(),
            members: Vec::new(),
            pieces,
            boxes,
        };
        let spans = cells.spans();
        let entries: usize = spans.iter().map(|(a, b)| b - a).sum();
        let reports = Labels::new(&cells, domain).run(&spans);
        cells.strip_base = reports.0;
        if entries <= MAX_FLAT_ENTRIES_PER_PIECE * cells.pieces.len() + 256 {
            cells.store_flat(&spans);
        } else {
            cells.store_tree(&spans);
        }
        (cells, reports.1)
    }

    /// Number of strips.
    pub(super) fn n_strips(&self) -> usize {
        self.strip_v.len() - 1
    }

    /// Returns, for each piece, the half-open range of the indices of the strips that it crosses. The
    /// range is empty for a horizontal piece.
    fn spans(&self) -> Vec<(usize, usize)> {
        let last = self.n_strips();
        self.pieces
            .iter()
            .map(|p| {
                let (a, b) = (p.start().y.min(p.end().y), p.start().y.max(p.end().y));
                let a = self.strip_v.partition_point(|v| *v < a).min(last);
                (a, self.strip_v.partition_point(|v| *v < b).min(last).max(a))
            })
            .collect()
    }

    /// Stores one node for each strip that pieces cross; the node lists all of these pieces.
    fn store_flat(&mut self, spans: &[(usize, usize)]) {
        // The pieces of each strip are counted first, so that one list is enough for all strips.
        let mut ends = vec![0_usize; self.n_strips() + 1];
        for &(a, b) in spans {
            ends[a + 1..=b].iter_mut().for_each(|n| *n += 1);
        }
        for k in 0..self.n_strips() {
            ends[k + 1] += ends[k];
        }
        let mut here = vec![0_u32; ends[self.n_strips()]];
        let mut next = ends.clone();
        for (i, &(a, b)) in spans.iter().enumerate() {
            for n in &mut next[a..b] {
                here[*n] = i as u32;
                *n += 1;
            }
        }
        for k in 0..self.n_strips() {
            let pieces = &here[ends[k]..ends[k + 1]];
            if !pieces.is_empty() {
                self.node_refs.push(self.node_groups.len() as u32 - 1);
                self.store_node(self.strip_v[k], self.strip_v[k + 1], pieces);
            }
            self.strip_nodes.push(self.node_refs.len() as u32);
        }
    }

    /// Stores a segment tree over the strips, in which each piece is listed at O(log n) nodes.
    fn store_tree(&mut self, spans: &[(usize, usize)]) {
        let m = self.n_strips();
        let size = m.next_power_of_two();
        let mut at: Vec<Vec<u32>> = vec![Vec::new(); 2 * size];
        for (i, &(a, b)) in spans.iter().enumerate() {
            let (mut l, mut r) = (a + size, b + size);
            while l < r {
                if l & 1 == 1 {
                    at[l].push(i as u32);
                    l += 1;
                }
                if r & 1 == 1 {
                    r -= 1;
                    at[r].push(i as u32);
                }
                l >>= 1;
                r >>= 1;
            }
        }
        let mut id = vec![u32::MAX; 2 * size];
        for (node, pieces) in at.iter().enumerate() {
            if !pieces.is_empty() {
                let width = size >> node.ilog2();
                let first = (node - (1 << node.ilog2())) * width;
                id[node] = self.node_groups.len() as u32 - 1;
                self.store_node(self.strip_v[first.min(m)], self.strip_v[(first + width).min(m)], pieces);
            }
        }
        for k in 0..m {
            let mut node = k + size;
            while node > 0 {
                if id[node] != u32::MAX {
                    self.node_refs.push(id[node]);
                }
                node >>= 1;
            }
            self.strip_nodes.push(self.node_refs.len() as u32);
        }
    }

    /// Adds a node for the pieces with the indices `pieces`, all of which extend at least from `v0` to
    /// `v1`.
    fn store_node(&mut self, v0: f64, v1: f64, pieces: &[u32]) {
        let big = self.rect.u0.abs().max(self.rect.u1.abs());
        let pad = if big.is_finite() { 8.0 * f64::EPSILON * big } else { 0.0 };
        let mut spans: Vec<(f64, f64, u32)> = pieces
            .iter()
            .map(|&i| {
                let p = &self.pieces[i as usize];
                let (a, b) = (p.u_at_v(v0), p.u_at_v(v1));
                (a.min(b) - pad, a.max(b) + pad, i)
            })
            .collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        let mut before = 0;
        let mut open: Option<Group> = None;
        for (lo, hi, i) in spans {
            match &mut open {
                Some(g) if lo <= g.hi => g.hi = g.hi.max(hi),
                _ => {
                    self.groups.extend(open);
                    open = Some(Group { lo, hi, before, first: self.members.len() as u32 });
                }
            }
            self.members.push(i);
            before += winding_step(&self.pieces[i as usize]);
        }
        self.groups.extend(open);
        self.groups.push(Group { lo: f64::MAX, hi: f64::MAX, before, first: self.members.len() as u32 });
        self.node_groups.push(self.groups.len() as u32);
    }

    /// Returns the index in `groups` of a node's first group, and all groups of the node, sentinel
    /// included.
    pub(super) fn node(&self, node: u32) -> (usize, &[Group]) {
        let (a, b) = (self.node_groups[node as usize] as usize, self.node_groups[node as usize + 1] as usize);
        (a, &self.groups[a..b])
    }

    /// Returns the nodes of a strip, which together list all pieces that cross the strip.
    pub(super) fn nodes(&self, strip: usize) -> &[u32] {
        &self.node_refs[self.strip_nodes[strip] as usize..self.strip_nodes[strip + 1] as usize]
    }

    /// Returns the winding number of a strip at the right side of `rect` (largest u).
    pub(super) fn right_winding(&self, strip: usize) -> i32 {
        let all = |node: &u32| self.node(*node).1.last().map_or(0, |g| g.before);
        self.strip_base[strip] + self.nodes(strip).iter().map(all).sum::<i32>()
    }

    /// Returns, for each side of `hull`, whether the domain continues beyond it. `hull` is the rectangle
    /// around all pieces.
    pub(super) fn inside_beyond(&self, hull: &Rect) -> Beyond {
        let mut out = Beyond { u0: false, u1: false, v0: false, v1: false };
        for k in 0..self.n_strips() {
            let (a, b) = (self.strip_v[k], self.strip_v[k + 1]);
            let mid = 0.5 * a + 0.5 * b; // the box is rounded outward
            if mid <= hull.v0 {
                out.v0 |= self.strip_base[k] > 0;
            } else if mid >= hull.v1 {
                out.v1 |= self.strip_base[k] > 0;
            } else if (b - a) > MAX_SLIVER * (hull.v1 - hull.v0) {
                out.u0 |= self.strip_base[k] > 0;
                out.u1 |= self.right_winding(k) > 0;
            }
        }
        out
    }

    /// Whether all indices are in range, lists have consistent lengths and order, and numbers are
    /// finite. A loader must check this before any other use.
    #[must_use]
    pub fn check(&self) -> bool {
        fn offsets(o: &[u32], n: usize, total: usize) -> bool {
            o.len() == n + 1 && o[0] == 0 && o[n] as usize == total && o.windows(2).all(|w| w[0] <= w[1])
        }
        let n_nodes = self.node_groups.len().wrapping_sub(1);
        let n_strips = self.strip_base.len();
        let period = |p: Option<f64>| p.is_none_or(|p| p.is_finite() && p > 0.0);
        // NaN fails these comparisons.
        let numbers = self.rect.u0 <= self.rect.u1
            && self.rect.v0 <= self.rect.v1
            && period(self.u_period)
            && period(self.v_period)
            && self.pieces.iter().all(TrimPiece::is_finite)
            && self.boxes.len() == tree::n_boxes(self.pieces.len())
            && self.boxes.iter().all(|b| (b[0] <= b[1] && b[2] <= b[3]) || *b == tree::EMPTY);
        let lists = n_strips > 0
            && self.strip_v.len() == n_strips + 1
            && self.strip_v.windows(2).all(|w| w[0] <= w[1])
            && offsets(&self.strip_nodes, n_strips, self.node_refs.len())
            && !self.node_groups.is_empty()
            && offsets(&self.node_groups, n_nodes, self.groups.len())
            && self.node_refs.iter().all(|n| (*n as usize) < n_nodes)
            && self.members.iter().all(|m| (*m as usize) < self.pieces.len());
        if !numbers || !lists {
            return false;
        }
        let in_order = self.groups.windows(2).all(|w| w[0].first <= w[1].first)
            && self.groups.first().is_none_or(|g| g.first == 0)
            && self.groups.last().is_none_or(|g| g.first as usize == self.members.len());
        in_order
            && (0..n_nodes as u32).all(|node| {
                let groups = self.node(node).1;
                groups.last().is_some_and(|g| g.hi >= f64::MAX)
                    && groups.iter().all(|g| g.lo <= g.hi)
                    && groups.windows(2).all(|w| w[0].hi <= w[1].lo)
            })
    }
}

/// Returns width and height of a rectangle, to which tolerances are relative. A side without a finite,
/// positive length counts as 1.
pub(super) fn extent(rect: &Rect) -> [f64; 2] {
    let ok = |x: f64| if x.is_finite() && x > 0.0 { x } else { 1.0 };
    [ok(rect.u1 - rect.u0), ok(rect.v1 - rect.v0)]
}

/// Returns the borders of the strips, increasing: the v of the rectangle's lower and upper side, and
/// those of all ends of pieces between them.
fn strip_borders(rect: &Rect, pieces: &[TrimPiece]) -> Vec<f64> {
    let inside = |v: &f64| rect.v0 < *v && *v < rect.v1;
    let mut v: Vec<f64> = pieces.iter().flat_map(|p| [p.start().y, p.end().y]).filter(inside).collect();
    v.push(rect.v0);
    v.push(rect.v1);
    v.sort_by(f64::total_cmp);
    v.dedup();
    if v.len() == 1 {
        v.push(v[0]);
    }
    v
}
