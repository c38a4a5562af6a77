//! Construction of trimmed domains from the assembled loops.

use feeler_geom::trim::{Inconsistent, TrimCells, TrimDomain, TrimPiece};
use feeler_geom::{P2, Surface};

use super::draft::Face;
use super::host::Host;
use super::pcurve::{Pcurve, cubic};

/// Edge index of pieces that belong to no edge: they run along a collapsed side of the parameter
/// rectangle, or bridge a jump of a loop.
pub const NO_EDGE: u32 = u32::MAX;

/// Trimmed domain of a face with the cells that classify its points, and the contradictions of its
/// loops.
pub(super) struct FaceDomain {
    pub(super) domain: TrimDomain,
    pub(super) cells: TrimCells,
    pub(super) inconsistent: Vec<Inconsistent>,
    /// Whether the loops enclose all of an unbounded or open surface except a hole, which cannot be a
    /// face.
    pub(super) reversed: bool,
    /// Index, in the edges of the draft, of a seam edge of the face, if no seam edge of the face has a
    /// sampled point inside the domain. The loops then bound the wrong part of the surface, because a
    /// seam is inside its face. `None` if a sampled point is inside, or if the face has no seam edge.
    pub(super) seam_outside: Option<u32>,
}

impl FaceDomain {
    pub(super) fn is_consistent(&self) -> bool {
        self.inconsistent.is_empty() && !self.reversed && self.seam_outside.is_none()
    }
}

/// Builds the domain of a face whose pcurves are assembled.
pub(super) fn domain(face: &Face, host: &Host<'_>) -> FaceDomain {
    let seam = seam_edges(face, host);
    let mut pieces: Vec<TrimPiece> = Vec::new();
    let mut corners: Vec<P2> = Vec::new();
    for ring in &face.loops {
        for (k, u) in ring.iter().enumerate() {
            let Some(p) = u.pcurve.as_ref() else { continue };
            let next = &ring[(k + 1) % ring.len()];
            if !seam.contains(&u.edge) {
                corners.extend([p.start(), p.end()]);
                oriented(p, u.edge, u.forward == face.outward, &mut pieces);
            }
            if let Some(q) = next.pcurve.as_ref() {
                bridge(face, host, (p, u.forward), (q, next.forward), &mut pieces);
                close_collapsed(face, host, (p, u.forward), (q, next.forward), &mut pieces);
            }
        }
    }
    let reversed = encloses_the_rest(host, &pieces);
    let origin = origin(host, &pieces, &corners);
    let domain = TrimDomain::new(&pieces, host.natural, host.u_period, host.v_period, origin);
    let (cells, inconsistent) = TrimCells::build(&domain);
    let seam_outside = seam_outside(face, &seam, &cells);
    FaceDomain { domain, cells, inconsistent, reversed, seam_outside }
}

/// Returns the index of a seam edge if no sampled point of any seam edge in `seam` (indices of edges) is
/// inside the domain; otherwise, and if `seam` is empty, `None`.
fn seam_outside(face: &Face, seam: &[u32], cells: &TrimCells) -> Option<u32> {
    let mut outside = None;
    for u in face.loops.iter().flatten().filter(|u| seam.contains(&u.edge)) {
        let Some(p) = u.pcurve.as_ref() else { continue };
        let (t0, t1) = (p.joints[0], p.joints[p.joints.len() - 1]);
        let n_inside = [0.25, 0.5, 0.75].iter().filter(|s| is_inside(p, t0 + (t1 - t0) * **s, cells)).count();
        if n_inside > 0 {
            return None;
        }
        outside = Some(u.edge);
    }
    outside
}

fn is_inside(p: &Pcurve, t: f64, cells: &TrimCells) -> bool {
    cells.classify(p.guess(t)) == feeler_geom::trim::Side::Inside
}

/// Returns whether loops with the material on their left enclose an impossible face: all of a surface
/// except a hole, although the surface is unbounded or has open sides. The area `-∮ v du` (on grids
/// periodic in v only `∮ u dv`) is positive for loops on surfaces whose sides no face reaches without
/// edges, also if the loops wind around. On spheres the sign is meaningless, because poles may be
/// inside.
fn encloses_the_rest(host: &Host<'_>, pieces: &[TrimPiece]) -> bool {
    let applies = match host.surface {
        Surface::Plane { .. } | Surface::Cylinder { .. } | Surface::Cone { .. } => true,
        Surface::Sphere { .. } | Surface::Torus { .. } => false,
        Surface::Bezier(b) => host.singular.is_empty() && !(b.u_periodic && b.v_periodic),
    };
    if !applies || pieces.is_empty() {
        return false;
    }
    let by_v = host.v_period.is_some();
    // Gauss–Legendre quadrature with 3 points is exact for products of a cubic and the derivative of a
    // cubic.
    let nodes = [(0.5 - 0.15_f64.sqrt(), 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.5 + 0.15_f64.sqrt(), 5.0 / 18.0)];
    // Coordinates are relative to a point of the pieces, because digits would cancel far from the origin.
    // The v of a cone is measured from its apex, which may be inside the face without pieces.
    let o = if matches!(host.surface, Surface::Cone { .. }) { P2::origin() } else { pieces[0].control[0] };
    let integral = |p: &TrimPiece| {
        nodes.iter().fold(0.0, |sum, (s, w)| {
            let (at, d) = cubic(&p.control, *s);
            sum + w * if by_v { (at.x - o.x) * d.y } else { -(at.y - o.y) * d.x }
        })
    };
    pieces.iter().map(integral).sum::<f64>() < 0.0
}

/// Returns the indices of the seam edges of a face: the edges that it uses in both directions along the
/// same line of its parameter plane. Such edges bound nothing.
pub(super) fn seam_edges(face: &Face, host: &Host<'_>) -> Vec<u32> {
    let uses: Vec<_> = face.loops.iter().flatten().collect();
    let mut order: Vec<usize> = (0..uses.len()).collect();
    order.sort_by_key(|i| (uses[*i].edge, *i));
    let mut out = vec![];
    for pair in order.windows(2) {
        let (a, b) = (uses[pair[0]], uses[pair[1]]);
        if a.edge != b.edge || a.forward == b.forward {
            continue;
        }
        let (Some(p), Some(q)) = (&a.pcurve, &b.pcurve) else { continue };
        let mid = |p: &Pcurve| p.guess(0.5 * (p.joints[0] + p.joints[p.joints.len() - 1]));
        let (p, q) = (mid(p), mid(q));
        let off = host.unwrapped(q, p) - p;
        let (du, dv) = host.jacobian(p);
        // The two sides of a creased closed surface are far apart in the parameter plane.
        if (du * off.x).norm() + (dv * off.y).norm() <= 1e-6 * (1.0 + host_extent(host)) {
            out.push(a.edge);
        }
    }
    out
}

fn host_extent(host: &Host<'_>) -> f64 {
    let r = &host.natural;
    if [r.u0, r.u1, r.v0, r.v1].iter().all(|x| x.is_finite()) {
        host.surface.bounds(r).diagonal()
    } else {
        0.0
    }
}

/// Appends the pieces of the pcurve `p` of an edge to `out`. They are reversed unless `along`, which
/// states that the loop follows the pcurve as seen from the natural normal. The material is then on
/// their left as seen from the natural normal.
fn oriented(p: &Pcurve, edge: u32, along: bool, out: &mut Vec<TrimPiece>) {
    let piece = |control: [P2; 4], deviation: f64| TrimPiece { control, edge, deviation };
    if along {
        out.extend(p.pieces.iter().map(|x| piece(x.control, x.deviation)));
    } else {
        out.extend(p.pieces.iter().rev().map(|x| {
            let [a, b, c, d] = x.control;
            piece([d, c, b, a], x.deviation)
        }));
    }
}

/// Appends a straight piece without an edge to `out` if the loop jumps from the end of the use with
/// pcurve `p` to the start of the next use, with pcurve `q`, over a gap that is small in space but wide
/// in the face's parameter plane.
fn bridge(
    face: &Face,
    host: &Host<'_>,
    (p, p_forward): (&Pcurve, bool),
    (q, q_forward): (&Pcurve, bool),
    out: &mut Vec<TrimPiece>,
) {
    let (Some(gap), Some(_)) = (p.jump[usize::from(p_forward)], q.jump[usize::from(!q_forward)]) else {
        return;
    };
    let from = if p_forward { p.end() } else { p.start() };
    let to = host.unwrapped(if q_forward { q.start() } else { q.end() }, from);
    let (a, b) = if face.outward { (from, to) } else { (to, from) };
    out.push(TrimPiece { control: super::pcurve::straight(a, b), edge: NO_EDGE, deviation: gap });
}

/// Appends a straight piece without an edge to `out` if the uses with pcurves `p` and `q` meet at a side
/// `u = const` of the parameter rectangle that is one point in space, because the loop jumps along v
/// there. (Jumps along u at poles and apices are horizontal and need no piece.)
fn close_collapsed(
    face: &Face,
    host: &Host<'_>,
    (p, p_forward): (&Pcurve, bool),
    (q, q_forward): (&Pcurve, bool),
    out: &mut Vec<TrimPiece>,
) {
    let (Some(i), Some(j)) = (p.singular[usize::from(p_forward)], q.singular[usize::from(!q_forward)]) else {
        return;
    };
    let s = &host.singular[i];
    if i != j || s.u_free {
        return;
    }
    let from = if p_forward { p.end() } else { p.start() };
    let mut to = if q_forward { q.start() } else { q.end() };
    // With the material on the left, the border u = u1 runs upwards and u = u0 downwards.
    let up = s.low != face.outward;
    if let Some(period) = host.v_period {
        let d = (to.y - from.y).rem_euclid(period);
        to.y = if up { from.y + d } else { from.y + d - period };
    }
    let control =
        if face.outward { super::pcurve::straight(from, to) } else { super::pcurve::straight(to, from) };
    out.push(TrimPiece { control, edge: NO_EDGE, deviation: 0.0 });
}

/// Returns the values of u and v at which the periods of the parameters start, so that the cuts there
/// are far from the trims. For each periodic parameter it is the middle of the widest interval that no
/// piece covers, or else of the widest interval without a corner. A parameter that is not periodic
/// starts at the minimum of its natural range.
fn origin(host: &Host<'_>, pieces: &[TrimPiece], corners: &[P2]) -> P2 {
    let axis = |k: usize, period: Option<f64>, natural: f64| {
        let Some(period) = period else { return natural };
        let spans: Vec<(f64, f64)> = pieces
            .iter()
            .map(|p| {
                let (lo, hi) = p
                    .control
                    .iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), c| (lo.min(c[k]), hi.max(c[k])));
                (lo, hi)
            })
            .collect();
        let points: Vec<(f64, f64)> = corners.iter().map(|c| (c[k], c[k])).collect();
        widest_gap(&spans, period)
            .filter(|g| g.1 > 1e-3 * period)
            .or_else(|| widest_gap(&points, period))
            .map_or(natural, |(mid, _)| mid)
    };
    P2::new(axis(0, host.u_period, host.natural.u0), axis(1, host.v_period, host.natural.v0))
}

/// Returns the middle and the width of the widest interval, within one period, that none of `spans`
/// covers; `None` without spans, or if they cover the whole period.
fn widest_gap(spans: &[(f64, f64)], period: f64) -> Option<(f64, f64)> {
    let mut wrapped: Vec<(f64, f64)> = spans
        .iter()
        .map(|(lo, hi)| {
            let start = lo.rem_euclid(period);
            (start, start + (hi - lo))
        })
        .collect();
    wrapped.sort_by(|a, b| a.0.total_cmp(&b.0));
    let first = wrapped.first()?.0;
    // A span that extends beyond the end of the period may cover spans at its start.
    let mut reach = wrapped.iter().fold(f64::NEG_INFINITY, |m, s| m.max(s.1)) - period;
    let mut best: Option<(f64, f64)> = None;
    for (lo, hi) in wrapped.iter().copied().chain([(first + period, first + period)]) {
        if lo > reach && reach.is_finite() && best.is_none_or(|b| lo - reach > b.1) {
            best = Some((0.5 * (lo + reach), lo - reach));
        }
        reach = reach.max(hi);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::widest_gap;

    #[test]
    fn the_widest_gap_is_found_over_the_end_of_the_period() {
        assert_eq!(widest_gap(&[], 1.0), None, "nothing covers nothing");
        assert_eq!(widest_gap(&[(0.0, 1.0)], 1.0), None, "everything is covered");
        let (mid, width) = widest_gap(&[(0.2, 0.5), (0.4, 0.7)], 1.0).unwrap();
        assert!((mid.rem_euclid(1.0) - 0.95).abs() < 1e-12 && (width - 0.5).abs() < 1e-12, "{mid} {width}");
        let (mid, width) = widest_gap(&[(0.9, 1.3), (3.5, 3.6)], 1.0).unwrap();
        assert!((mid.rem_euclid(1.0) - 0.75).abs() < 1e-12 && (width - 0.3).abs() < 1e-12, "{mid} {width}");
        let (mid, width) = widest_gap(&[(0.3, 0.3)], 1.0).unwrap();
        assert!((mid.rem_euclid(1.0) - 0.8).abs() < 1e-12 && (width - 1.0).abs() < 1e-12, "{mid} {width}");
    }
}
