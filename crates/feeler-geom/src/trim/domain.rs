//! Normalisation of raw boundary loops to pieces in one parameter rectangle: cuts pieces at the ends of
//! periods, closes gaps between pieces, and finds the rectangle.
//!
//! # Source
//! MATH §6 (periodic domains in one form).
//!
//! # Deviations
//! Artificial cuts along a seam get no pieces, because the orientation of the true pieces determines the
//! inside.

use std::cmp::Ordering;

use super::{TrimCells, TrimDomain, TrimPiece};
use crate::{P2, Rect, V2};

/// Distance from either end of the period, relative to the period, within which a coordinate is set to
/// that end exactly. With a larger value pieces move; with a smaller one slivers remain at the seam.
const MAX_SNAP: f64 = 1e-11;
/// Maximum difference, relative to the domain's size, between two pieces of opposite direction that
/// count as the two sides of one cut and are removed. With a larger value thin slots vanish; with a
/// smaller one seams become boundaries.
const MAX_CUT_DIFFERENCE: f64 = 1e-9;
/// Maximum gaps between the ends of pieces, relative to the domain's size, that are closed by moving
/// both ends together. The tolerances are used one after the other, so that the smallest gaps are closed
/// first. With larger values the boundary moves; with smaller ones such gaps are bridged instead.
const WELDED_GAPS: [f64; 3] = [1e-13, 1e-10, 1e-7];
/// Maximum gaps between the ends of pieces, relative to the domain's size, that are closed by an
/// additional straight piece, smallest gaps first. With larger values broken loops are accepted; with
/// smaller ones solids of inexact files are rejected.
const BRIDGED_GAPS: [f64; 2] = [1e-5, 1e-3];

impl TrimDomain {
    /// Builds a domain from raw oriented pieces in an *unwrapped* parameter plane, where a loop may
    /// extend over several periods. If a parameter has a period, pieces are cut at the ends of the
    /// periods and shifted into the rectangle that starts at `origin`. If it has none, the rectangle is
    /// the bounding box of the pieces, or `natural` if `pieces` is empty. A side of the bounding box
    /// beyond which the domain continues (a cap around a pole) is moved to the finite side of `natural`.
    ///
    /// Ends of pieces that miss each other by up to 1e-7 of the domain's size are moved together, and
    /// gaps of up to 1e-3 of the size are bridged by straight pieces. Pairs of coinciding pieces with
    /// opposite directions and pieces with non-finite numbers are dropped.
    #[must_use]
    pub fn new(
        pieces: &[TrimPiece],
        natural: Rect,
        u_period: Option<f64>,
        v_period: Option<f64>,
        origin: P2,
    ) -> Self {
        let positive = |p: &f64| p.is_finite() && *p > 0.0;
        let (u_period, v_period) = (u_period.filter(positive), v_period.filter(positive));
        let plane = Periods { lo: [origin.x, origin.y], period: [u_period, v_period] };
        let mut pieces: Vec<TrimPiece> = pieces.iter().filter(|p| p.is_finite()).copied().collect();
        pieces = plane.cut(pieces);

        let hull = hull(&pieces);
        let scale = size(hull.as_ref(), &natural, u_period, v_period);
        cancel_opposite(&mut pieces, &plane, scale);
        let bridges = close_gaps(&mut pieces, &plane, scale);
        pieces.extend(plane.cut(bridges));

        // The domain may reach a finite side of `natural` without pieces, so the rectangle starts with
        // all such sides and shrinks afterwards.
        let mut rect = natural;
        if let Some(h) = hull {
            rect = Rect {
                u0: if natural.u0.is_finite() { natural.u0.min(h.u0) } else { h.u0 },
                u1: if natural.u1.is_finite() { natural.u1.max(h.u1) } else { h.u1 },
                v0: if natural.v0.is_finite() { natural.v0.min(h.v0) } else { h.v0 },
                v1: if natural.v1.is_finite() { natural.v1.max(h.v1) } else { h.v1 },
            };
        }
        if let Some(p) = u_period {
            (rect.u0, rect.u1) = (origin.x, origin.x + p);
        }
        if let Some(p) = v_period {
            (rect.v0, rect.v1) = (origin.y, origin.y + p);
        }
        let mut domain = Self { rect, natural, u_period, v_period, pieces };
        let Some(hull) = self::hull(&domain.pieces) else { return domain };
        // The rectangle cannot extend beyond the pieces if every non-periodic side is infinite.
        let ends =
            |period: Option<f64>, lo: f64, hi: f64| period.is_none() && (lo.is_finite() || hi.is_finite());
        if !ends(u_period, natural.u0, natural.u1) && !ends(v_period, natural.v0, natural.v1) {
            return domain;
        }
        let (cells, _) = TrimCells::build(&domain);
        let beyond = cells.inside_beyond(&hull);
        if u_period.is_none() {
            domain.rect.u0 = if beyond.u0 { rect.u0 } else { hull.u0 };
            domain.rect.u1 = if beyond.u1 { rect.u1 } else { hull.u1 };
        }
        if v_period.is_none() {
            domain.rect.v0 = if beyond.v0 { rect.v0 } else { hull.v0 };
            domain.rect.v1 = if beyond.v1 { rect.v1 } else { hull.v1 };
        }
        domain
    }
}

/// Returns the bounding box of pieces, or `None` if `pieces` is empty.
fn hull(pieces: &[TrimPiece]) -> Option<Rect> {
    pieces.iter().map(TrimPiece::bounds).reduce(|a, b| Rect {
        u0: a.u0.min(b.u0),
        u1: a.u1.max(b.u1),
        v0: a.v0.min(b.v0),
        v1: a.v1.max(b.v1),
    })
}

/// Returns the sizes of the domain in u and v, to which tolerances are relative: the period, or the size
/// of `hull` (the pieces' bounding box), or that of `natural`.
fn size(hull: Option<&Rect>, natural: &Rect, u_period: Option<f64>, v_period: Option<f64>) -> [f64; 2] {
    let pick = |period: Option<f64>, span: f64, natural: f64| {
        let positive = |x: &f64| x.is_finite() && *x > 0.0;
        period.or(Some(span).filter(positive)).or(Some(natural).filter(positive)).unwrap_or(1.0)
    };
    let (w, h) = hull.map_or((0.0, 0.0), |r| (r.u1 - r.u0, r.v1 - r.v0));
    [pick(u_period, w, natural.u1 - natural.u0), pick(v_period, h, natural.v1 - natural.v0)]
}

/// Periodicity of the parameter plane, with entries for u and v: `lo` is the start of the base
/// rectangle, `period` the length of the period, `None` for a parameter without a period.
struct Periods {
    lo: [f64; 2],
    period: [Option<f64>; 2],
}

impl Periods {
    /// Cuts pieces at the ends of all periods and shifts the parts into the base rectangle.
    fn cut(&self, mut pieces: Vec<TrimPiece>) -> Vec<TrimPiece> {
        for (axis, period) in self.period.iter().enumerate() {
            if let Some(period) = *period {
                let mut out = Vec::with_capacity(pieces.len());
                for p in &pieces {
                    cut_axis(p, axis, self.lo[axis], period, &mut out);
                }
                pieces = out;
            }
        }
        pieces
    }

    /// Returns the point `p` with each coordinate at the upper end of the period replaced by the lower
    /// end, which is the same point of the surface.
    #[expect(clippy::float_cmp, reason = "cutting puts points exactly on borders")]
    fn canonical(&self, p: P2) -> P2 {
        let mut q = p;
        for axis in 0..2 {
            if self.period[axis].is_some_and(|period| q[axis] == self.lo[axis] + period) {
                q[axis] = self.lo[axis];
            }
            q[axis] += 0.0; // one zero only: ends are compared bit for bit
        }
        q
    }

    /// Returns `d` with whole periods added to each component so that its magnitude is smallest.
    fn shortest(&self, d: V2) -> V2 {
        let mut d = d;
        for axis in 0..2 {
            if let Some(period) = self.period[axis] {
                d[axis] -= (d[axis] / period).round() * period;
            }
        }
        d
    }
}

/// Cuts one piece at all lines on which its coordinate `axis` (0 for u, 1 for v) is `lo` plus a multiple
/// of `period`. Shifts the parts into `[lo, lo + period]` and appends them to `out`.
fn cut_axis(piece: &TrimPiece, axis: usize, lo: f64, period: f64, out: &mut Vec<TrimPiece>) {
    let eps = MAX_SNAP * period;
    let snap = |x: f64| {
        let border = lo + ((x - lo) / period).round() * period;
        if (x - border).abs() <= eps { border } else { x }
    };
    let mut piece = *piece;
    for c in &mut piece.control {
        c[axis] = snap(c[axis]);
    }
    let coefficients = piece.control.map(|c| c[axis]);
    let bounds = piece.bounds();
    let (min, max) = if axis == 0 { (bounds.u0, bounds.u1) } else { (bounds.v0, bounds.v1) };
    let (first, last) = (((min - lo) / period).floor() + 1.0, ((max - lo) / period).ceil() - 1.0);
    let mut cuts: Vec<(f64, f64)> = Vec::new();
    // A piece over thousands of periods is invalid. It stays in one part and is reported as
    // inconsistent.
    if first <= last && last - first < 1024.0 {
        let monotone = piece.monotone_cuts();
        let stops: Vec<f64> = [0.0].into_iter().chain(monotone).chain([1.0]).collect();
        let mut k = first;
        while k <= last {
            let border = lo + k * period;
            for w in stops.windows(2) {
                let part = piece.part(w[0], w[1]).control.map(|c| c[axis]);
                if (part[0] - border) * (part[3] - border) < 0.0 {
                    let t = w[0] + (w[1] - w[0]) * super::piece::solve_monotone(part, border);
                    cuts.push((t, border));
                }
            }
            // A turning point exactly on the border needs no cut, but a passage through the border at
            // such a point does.
            for (i, &t) in stops.iter().enumerate().skip(1).take(stops.len() - 2) {
                let at = |t: f64| super::piece::bernstein3(coefficients, t) - border;
                if at(t) == 0.0 && at(0.5 * (stops[i - 1] + t)) * at(0.5 * (t + stops[i + 1])) < 0.0 {
                    cuts.push((t, border));
                }
            }
            k += 1.0;
        }
        cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
        cuts.dedup_by(|a, b| a.0 - b.0 < 1e-14);
        cuts.retain(|c| 0.0 < c.0 && c.0 < 1.0);
    }
    let mut parts = piece.split_at(&cuts.iter().map(|c| c.0).collect::<Vec<_>>());
    for (i, c) in cuts.iter().enumerate() {
        parts[i].control[3][axis] = c.1;
        parts[i + 1].control[0][axis] = c.1;
    }
    for mut part in parts {
        let mid = part.eval(0.5)[axis];
        let shift = ((mid - lo) / period).floor() * period;
        for c in &mut part.control {
            // Shifting a coordinate on a border may round it off the border.
            let x = c[axis] - shift;
            c[axis] = if (x - lo).abs() <= eps {
                lo
            } else if (x - (lo + period)).abs() <= eps {
                lo + period
            } else {
                x
            };
        }
        out.push(part);
    }
}

/// Drops pairs of coinciding pieces with opposite directions: they are the two sides of a cut and do not
/// bound the domain. `scale` is the domain's size in u and v.
fn cancel_opposite(pieces: &mut Vec<TrimPiece>, plane: &Periods, scale: [f64; 2]) {
    let low = |p: &TrimPiece| {
        let (a, b) = (plane.canonical(p.start()), plane.canonical(p.end()));
        a.y.min(b.y)
    };
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&a, &b| low(&pieces[a]).total_cmp(&low(&pieces[b])).then(a.cmp(&b)));
    let same = |a: P2, b: P2| {
        let d = plane.shortest(a - b);
        d.x.abs() <= MAX_CUT_DIFFERENCE * scale[0] && d.y.abs() <= MAX_CUT_DIFFERENCE * scale[1]
    };
    let tiny = |p: &TrimPiece| same(p.start(), p.end()) && same(p.start(), p.control[1]);
    let mut dropped = vec![false; pieces.len()];
    for (i, &a) in order.iter().enumerate() {
        if dropped[a] || tiny(&pieces[a]) {
            continue;
        }
        let reach = low(&pieces[a]) + MAX_CUT_DIFFERENCE * scale[1];
        for &b in &order[i + 1..] {
            if low(&pieces[b]) > reach {
                break;
            }
            let other = pieces[b].reversed();
            if !dropped[b] && (0..4).all(|k| same(pieces[a].control[k], other.control[k])) {
                (dropped[a], dropped[b]) = (true, true);
                break;
            }
        }
    }
    let mut keep = dropped.iter().map(|g| !g);
    pieces.retain(|_| keep.next().unwrap_or(true));
}

/// Start of a piece at which no other piece ends, or end of a piece at which no other piece starts.
/// `used` is whether a gap at it has been closed already.
struct LooseEnd {
    piece: usize,
    at: P2,
    used: bool,
}

/// Returns two lists: the ends of pieces at which no piece starts, and the starts at which no piece
/// ends. Each list is sorted by v.
fn loose_ends(pieces: &[TrimPiece], plane: &Periods) -> (Vec<LooseEnd>, Vec<LooseEnd>) {
    // (point, is an end, piece)
    let mut all: Vec<(P2, bool, usize)> = pieces
        .iter()
        .enumerate()
        .flat_map(|(i, p)| [(plane.canonical(p.start()), false, i), (plane.canonical(p.end()), true, i)])
        .collect();
    let by_point = |a: &P2, b: &P2| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x));
    all.sort_by(|a, b| by_point(&a.0, &b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let (mut ends, mut starts) = (Vec::new(), Vec::new());
    for group in all.chunk_by(|a, b| by_point(&a.0, &b.0) == Ordering::Equal) {
        let n_starts = group.iter().filter(|g| !g.1).count();
        let paired = n_starts.min(group.len() - n_starts);
        let loose = |g: &(P2, bool, usize)| LooseEnd { piece: g.2, at: g.0, used: false };
        starts.extend(group[..n_starts].iter().skip(paired).map(loose));
        ends.extend(group[n_starts..].iter().skip(paired).map(loose));
    }
    (ends, starts)
}

/// Closes gaps between loose ends and loose starts of pieces, smallest gaps first. Ends up to
/// [`WELDED_GAPS`] apart are moved together in `pieces`. Straight pieces over larger gaps, up to
/// [`BRIDGED_GAPS`], are returned. Still larger gaps remain. `scale` is the domain's size in u and v.
fn close_gaps(pieces: &mut [TrimPiece], plane: &Periods, scale: [f64; 2]) -> Vec<TrimPiece> {
    let mut bridges = Vec::new();
    let (mut ends, mut starts) = loose_ends(pieces, plane);
    for tol in WELDED_GAPS {
        let mut welded = false;
        for e in &ends {
            if let Some(k) = nearest_start(e, &starts, plane, scale, tol) {
                starts[k].used = true;
                weld(pieces, e.piece, starts[k].piece, plane);
                welded = true;
            }
        }
        if welded {
            (ends, starts) = loose_ends(pieces, plane);
        }
    }
    for tol in BRIDGED_GAPS {
        for e in ends.iter_mut().filter(|e| !e.used) {
            let Some(k) = nearest_start(e, &starts, plane, scale, tol) else { continue };
            (e.used, starts[k].used) = (true, true);
            let from = pieces[e.piece].end();
            let gap = plane.shortest(pieces[starts[k].piece].start() - from);
            let deviation = pieces[e.piece].deviation.max(pieces[starts[k].piece].deviation);
            let line = TrimPiece::line(from, from + gap, pieces[e.piece].edge);
            bridges.push(TrimPiece { deviation, ..line });
        }
    }
    bridges
}

/// Returns the index in `starts` of the loose start nearest to the loose end `end`, up to whole periods,
/// among those that are not used. Returns `None` if none of them is within `tol`, relative to the
/// domain's size `scale`.
fn nearest_start(
    end: &LooseEnd,
    starts: &[LooseEnd],
    plane: &Periods,
    scale: [f64; 2],
    tol: f64,
) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    let period = plane.period[1].unwrap_or(0.0);
    let shifts: &[f64] = if plane.period[1].is_some() { &[0.0, -1.0, 1.0] } else { &[0.0] };
    for shift in shifts {
        let v = end.at.y + shift * period;
        let first = starts.partition_point(|s| s.at.y < v - tol * scale[1]);
        for (k, s) in starts.iter().enumerate().skip(first) {
            if s.at.y > v + tol * scale[1] {
                break;
            }
            let d = plane.shortest(s.at - end.at);
            let d = (d.x / scale[0]).abs().max((d.y / scale[1]).abs());
            if !s.used && d <= tol && best.is_none_or(|(b, _)| d < b) {
                best = Some((d, k));
            }
        }
    }
    best.map(|(_, k)| k)
}

/// Moves the end of the piece with the index `end` and the start of the piece with the index `start` to
/// their midpoint, and keeps both derivatives there. At the border of a period, each of them moves to
/// the border on its own side.
#[expect(clippy::float_cmp, reason = "borders are exact")]
fn weld(pieces: &mut [TrimPiece], end: usize, start: usize, plane: &Periods) {
    let (e, s) = (pieces[end].end(), pieces[start].start());
    let gap = plane.shortest(s - e);
    let (mut to_e, mut to_s) = (e, s);
    for axis in 0..2 {
        let mid = e[axis] + 0.5 * gap[axis];
        (to_e[axis], to_s[axis]) = (mid, mid);
        let Some(period) = plane.period[axis] else { continue };
        let (lo, hi) = (plane.lo[axis], plane.lo[axis] + period);
        let border = |x: f64| x == lo || x == hi;
        let across = (s[axis] - e[axis] - gap[axis]).abs() > 0.5 * period;
        if border(e[axis]) || border(s[axis]) || across {
            // Each end stays on its own side of the border.
            let nearest = |x: f64| if x - lo < hi - x { lo } else { hi };
            (to_e[axis], to_s[axis]) = (nearest(e[axis]), nearest(s[axis]));
        }
    }
    let (de, ds) = (to_e - e, to_s - s);
    pieces[end].control[2] += de;
    pieces[end].control[3] = to_e;
    pieces[start].control[1] += ds;
    pieces[start].control[0] = to_s;
}
