//! Points along edges, shared by both faces of an edge.
//!
//! An edge is a trim piece, or several, on each of its two faces. The points of an edge are the ends of
//! all these trim pieces and points between them, as dense as the chord error requires. Each point is
//! then located on every trim piece that it lies on.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of points along one piece"
)]

use super::grid::Axis;
use super::weld::PointGroups;
use feeler_geom::trim::TrimPiece;
use feeler_geom::{P2, P3};
use feeler_hierarchy::{Face, Hierarchy};
use std::collections::BTreeMap;

/// Point of a trim: its parameters on the face, and its position in space (mm), which is that of a point
/// of the edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinePoint {
    pub(super) uv: P2,
    pub(super) point: P3,
}

/// Points of the trim pieces of a solid, by the index of the face and that of the piece among the face's
/// trim pieces; each list leads from the start of the piece to its end.
pub(super) type Lines = Vec<Vec<Vec<LinePoint>>>;

/// Largest distance between ends of trim pieces at which they count as one point, relative to the size
/// of the solid; twice the deviation of edges from their faces is added. Small features vanish with a
/// larger value; the mesh has cracks with a smaller one.
const SAME_POINT_TOLERANCE: f64 = 1e-7;
/// Smallest distance of an added point of an edge from the points that it already has, relative to the
/// spacing of the points of the trim piece from which the point comes. Edges are coarser with a larger
/// value; triangles have short sides with a smaller one.
const MIN_SPACING_RATIO: f64 = 0.4;

/// Trim piece of an edge on one face.
struct Piece<'a> {
    face: usize,
    /// Index of the piece among the trim pieces of the face.
    place: usize,
    surface: &'a feeler_geom::Surface,
    piece: &'a TrimPiece,
    /// Indices of the groups ([`PointGroups`]) that contain the start and the end of the piece; ends of
    /// other pieces at the same point are in the same group.
    ends: [u32; 2],
    /// Number of chords along the piece that the chord error requires.
    steps: usize,
}

impl Piece<'_> {
    fn at(&self, t: f64) -> P3 {
        self.surface.point(self.piece.eval(t))
    }

    /// Parameter in [0, 1] of the point of the trim piece that is nearest to `p`, and the distance (mm)
    /// of that point.
    fn nearest(&self, p: &P3) -> (f64, f64) {
        let n = (4 * self.steps).clamp(16, 4096);
        let off = |t: f64| (self.at(t) - p).norm_squared();
        let best = (0..=n).map(|k| k as f64 / n as f64).min_by(|s, t| off(*s).total_cmp(&off(*t)));
        let best = best.unwrap_or(0.0);
        // Golden-section search around the nearest sample.
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut a, mut b) = ((best - 1.0 / n as f64).max(0.0), (best + 1.0 / n as f64).min(1.0));
        let (mut c, mut d) = (b - golden * (b - a), a + golden * (b - a));
        let (mut fc, mut fd) = (off(c), off(d));
        for _ in 0..40 {
            if fc < fd {
                (b, d, fd) = (d, c, fc);
                c = b - golden * (b - a);
                fc = off(c);
            } else {
                (a, c, fc) = (c, d, fd);
                d = a + golden * (b - a);
                fd = off(d);
            }
        }
        let t = 0.5 * (a + b);
        (t, off(t).sqrt())
    }
}

/// Number of equal steps in the parameter of a trim piece with which each chord deviates from the piece
/// by at most about `chord` (mm) and is not longer than a cell of the face's grid.
fn steps(piece: &TrimPiece, face: &Face, [u, v]: &[Axis; 2], chord: f64) -> usize {
    const PARTS: usize = 16;
    let at = |k: usize| face.surface.point(piece.eval(k as f64 / PARTS as f64));
    let p: Vec<P3> = (0..=PARTS).map(at).collect();
    let bend = p.windows(3).map(|w| (w[0] - w[1] + (w[2] - w[1])).norm()).fold(0.0, f64::max);
    let (a, b) = (piece.start(), piece.end());
    let cells = (u.position(a.x) - u.position(b.x)).abs().max((v.position(a.y) - v.position(b.y)).abs());
    (PARTS as f64 * (bend / (8.0 * chord)).sqrt()).max(cells - 1e-9).ceil().clamp(1.0, 1e4) as usize
}

/// Computes the points of all trim pieces of a solid.
pub(super) fn lines(solid: &Hierarchy, grids: &[[Axis; 2]], chord: f64) -> Lines {
    let same = SAME_POINT_TOLERANCE * super::size(solid) + 2.0 * solid.info.max_trim_deviation;
    let mut ends = PointGroups::new(same);
    let mut edges: BTreeMap<u32, Vec<Piece<'_>>> = BTreeMap::new();
    let mut lines: Lines = Vec::with_capacity(solid.faces.len());
    for (i, (face, grid)) in solid.faces.iter().zip(grids).enumerate() {
        lines.push(vec![Vec::new(); face.trim.pieces.len()]);
        for (place, piece) in face.trim.pieces.iter().enumerate() {
            let group = |uv: P2| ends.group_of(&face.surface.point(uv));
            let ends = [piece.start(), piece.end()].map(group);
            let steps = steps(piece, face, grid, chord);
            let piece = Piece { face: i, place, surface: &face.surface, piece, ends, steps };
            edges.entry(piece.piece.edge).or_default().push(piece);
        }
    }
    for pieces in edges.values() {
        let points = points(pieces, &ends);
        for p in pieces {
            lines[p.face][p.place] = along(p, &points, &ends, same);
        }
    }
    lines
}

/// Points of an edge: the ends of its trim pieces on all faces, and points between them.
fn points(pieces: &[Piece<'_>], ends: &PointGroups) -> Vec<P3> {
    let mut all: Vec<P3> = pieces.iter().flat_map(|p| p.ends).map(|g| ends.first(g)).collect();
    let corners = all.len();
    for p in pieces {
        let at = |k: usize| p.at(k as f64 / p.steps as f64);
        for k in 1..p.steps {
            let (before, here, after) = (at(k - 1), at(k), at(k + 1));
            let near = MIN_SPACING_RATIO * (here - before).norm().min((after - here).norm());
            if all.iter().all(|q| (q - here).norm() > near) {
                all.push(here);
            }
        }
    }
    // The ends of other pieces are included, because a piece may extend past them.
    all[..corners].sort_by(|a, b| (a.x, a.y, a.z).partial_cmp(&(b.x, b.y, b.z)).expect("finite points"));
    all.dedup();
    all
}

/// Returns those points of an edge, among its `points`, that lie on the trim piece `p`, from the start
/// of the piece to its end. `same` is the largest distance (mm) of points that coincide.
fn along(p: &Piece<'_>, points: &[P3], ends: &PointGroups, same: f64) -> Vec<LinePoint> {
    let [first, last] = p.ends.map(|g| ends.first(g));
    let mut inner: Vec<(f64, P3)> = Vec::new();
    for q in points {
        if *q == first || *q == last {
            continue;
        }
        let (t, off) = p.nearest(q);
        if off <= 2.0 * same && t > 1e-9 && t < 1.0 - 1e-9 {
            inner.push((t, *q));
        }
    }
    inner.sort_by(|a, b| a.0.total_cmp(&b.0));
    let point = |t: f64, point: P3| LinePoint { uv: p.piece.eval(t), point };
    let inner = inner.into_iter().map(|(t, q)| point(t, q));
    [point(0.0, first)].into_iter().chain(inner).chain([point(1.0, last)]).collect()
}
