//! Convex polygons in the parameter plane, and hulls of the part of a trimmed domain inside a polygon.

use feeler_geom::trim::{Side, TrimCells, TrimPiece};
use feeler_geom::{P2, Rect, V2};

/// Fraction of the way to the middle of a polygon by which a corner is moved before it is classified,
/// because a corner on the domain's boundary belongs to the polygon only if the domain continues inside.
/// With a larger value narrow parts of the domain are lost; with a smaller one rounding decides.
const CORNER_NUDGE: f64 = 1e-10;

/// Number of parts into which a curved boundary piece is divided; the control polygons of all parts are
/// clipped. With a larger value hulls are tighter, with a smaller one faster.
const PARTS: u32 = 8;

/// Largest distance of control points from the chord, relative to the window, at which a boundary piece is
/// not divided. With a larger value hulls are looser, with a smaller one trims of many pieces take longer.
const MAX_BEND: f64 = 1e-3;

/// Points `p` with `normal · p ≤ offset`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfPlane {
    /// Normal, which need not have unit length; it points away from the half-plane.
    pub(crate) normal: V2,
    /// Product of the normal and the points of the boundary.
    pub(crate) offset: f64,
    /// Products that exceed `offset` by at most this count as being on the boundary.
    pub(crate) tol: f64,
}

impl HalfPlane {
    fn excess(&self, p: &P2) -> f64 {
        self.normal.dot(&p.coords) - self.offset
    }

    /// Whether a point is farther inside than the tolerance.
    fn is_inside(&self, p: &P2) -> bool {
        self.excess(p) < -self.tol
    }
}

/// Computes the convex hull of points, counter-clockwise (Andrew's monotone chain). Points on the sides
/// are dropped.
pub(crate) fn convex_polygon(points: &[P2]) -> Vec<P2> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let turn = |a: &P2, b: &P2, c: &P2| (b - a).perp(&(c - a));
    let mut hull: Vec<P2> = Vec::with_capacity(sorted.len() + 1);
    for pass in 0..2 {
        let base = hull.len();
        let points: &mut dyn Iterator<Item = &P2> =
            if pass == 0 { &mut sorted.iter() } else { &mut sorted.iter().rev() };
        for p in points {
            while hull.len() >= base + 2 && turn(&hull[hull.len() - 2], &hull[hull.len() - 1], p) <= 0.0 {
                hull.pop();
            }
            hull.push(*p);
        }
        hull.pop();
    }
    hull
}

/// Clips a convex polygon, which may be a segment or a point, by a half-plane. The result is empty if no
/// point is farther inside than the tolerance.
pub(crate) fn clipped(polygon: &[P2], half: &HalfPlane) -> Vec<P2> {
    if !polygon.iter().any(|p| half.is_inside(p)) {
        return Vec::new();
    }
    let mut out = Vec::with_capacity(polygon.len() + 2);
    for (k, a) in polygon.iter().enumerate() {
        let b = &polygon[(k + 1) % polygon.len()];
        let (x, y) = (half.excess(a), half.excess(b));
        if x <= half.tol {
            out.push(*a);
        }
        if (x < 0.0 && y > 0.0) || (x > 0.0 && y < 0.0) {
            out.push(a + (b - a) * (x / (x - y)));
        }
    }
    convex_polygon(&out)
}

/// Returns the corners of a rectangle, counter-clockwise.
pub(crate) fn corners(rect: &Rect) -> Vec<P2> {
    rect.corners().to_vec()
}

/// Returns the smallest rectangle around points.
pub(crate) fn bounds(points: &[P2]) -> Rect {
    let empty = Rect { u0: f64::INFINITY, u1: f64::NEG_INFINITY, v0: f64::INFINITY, v1: f64::NEG_INFINITY };
    points.iter().fold(empty, |r, p| Rect {
        u0: r.u0.min(p.x),
        u1: r.u1.max(p.x),
        v0: r.v0.min(p.y),
        v1: r.v1.max(p.y),
    })
}

/// Returns the half-planes whose intersection is a convex, counter-clockwise polygon.
fn sides(polygon: &[P2], tol: f64) -> Vec<HalfPlane> {
    let n = polygon.len();
    (0..n)
        .map(|k| {
            let along = polygon[(k + 1) % n] - polygon[k];
            let normal = V2::new(along.y, -along.x) / along.norm();
            HalfPlane { normal, offset: normal.dot(&polygon[k].coords), tol }
        })
        .collect()
}

/// Computes a convex polygon that contains the part of a trimmed domain inside the convex polygon
/// `window`, up to the tolerance `tol` of parameters; it lies inside the window. It is the hull of the
/// boundary inside the window and of the window's corners inside the domain: the part's other points
/// are not extreme. Boundary pieces that only touch a side of the window are not contained; they belong
/// to the window on the other side. The result is empty if the domain does not reach into the window.
pub(crate) fn trimmed(trim: &TrimCells, window: &[P2], tol: f64) -> Vec<P2> {
    if window.len() < 3 {
        return Vec::new();
    }
    let rect = bounds(window);
    if !trim.may_touch(&rect) {
        return Vec::new();
    }
    let share = 1.0 / f64::from(u32::try_from(window.len()).unwrap_or(u32::MAX));
    let middle = P2::from(window.iter().fold(V2::zeros(), |sum, p| sum + p.coords * share));
    let nudged = |p: &P2| p + (middle - p) * CORNER_NUDGE;
    let mut points: Vec<P2> =
        window.iter().filter(|p| trim.classify(nudged(p)) == Side::Inside).copied().collect();
    if trim.has_boundary_in(&rect) {
        let sides = sides(window, tol);
        for piece in &trim.pieces {
            add_boundary(piece, &rect, &sides, &mut points);
        }
    }
    convex_polygon(&points)
}

/// Appends points whose hull contains the part of a boundary piece inside the intersection of `sides`,
/// which lies in `rect`.
fn add_boundary(piece: &TrimPiece, rect: &Rect, sides: &[HalfPlane], points: &mut Vec<P2>) {
    if bounds(&piece.control).intersection(rect).is_empty() {
        return;
    }
    // A piece that follows a side of the window belongs to the other window.
    if sides.iter().any(|side| !piece.control.iter().any(|p| side.is_inside(p))) {
        return;
    }
    if sides.iter().any(|side| piece.control.iter().all(|p| side.excess(p) > side.tol)) {
        return;
    }
    let is_short = bend(piece) <= MAX_BEND * rect.width().max(rect.height());
    let parts = if is_short { 1 } else { PARTS };
    for k in 0..parts {
        let part = piece.part(f64::from(k) / f64::from(parts), f64::from(k + 1) / f64::from(parts));
        if sides.iter().all(|side| part.control.iter().all(|p| side.excess(p) <= side.tol)) {
            points.extend(part.control);
            continue;
        }
        let mut polygon = convex_polygon(&part.control);
        for side in sides {
            // The part may touch the side although the piece does not.
            polygon = clipped_or_touching(&polygon, side);
        }
        points.extend(polygon);
    }
}

/// Like [`clipped`], but keeps points within the tolerance of the boundary.
fn clipped_or_touching(polygon: &[P2], half: &HalfPlane) -> Vec<P2> {
    let kept = clipped(polygon, half);
    if kept.is_empty() {
        polygon.iter().filter(|p| half.excess(p) <= half.tol).copied().collect()
    } else {
        kept
    }
}

/// Largest distance of the inner control points from the chord.
fn bend(piece: &TrimPiece) -> f64 {
    let [a, b, c, d] = piece.control;
    let chord = d - a;
    let off = |p: P2| (p - a).perp(&chord).abs() / chord.norm();
    let off = off(b).max(off(c));
    // A piece whose ends coincide has no chord.
    if off.is_nan() { f64::INFINITY } else { off }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::trim::TrimDomain;

    fn l_shape() -> TrimCells {
        let corners = [(0.0, 0.0), (3.0, 0.0), (3.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0)];
        let corners = corners.map(|(u, v)| P2::new(u, v));
        let sides: Vec<TrimPiece> =
            (0..6).map(|k| TrimPiece::line(corners[k], corners[(k + 1) % 6], 0)).collect();
        let rect = Rect { u0: 0.0, u1: 3.0, v0: 0.0, v1: 3.0 };
        TrimCells::build(&TrimDomain::new(&sides, rect, None, None, P2::origin())).0
    }

    #[test]
    fn part_of_an_l_shape_on_each_side_of_its_inner_corner() {
        let trim = l_shape();
        let whole = corners(&trim.rect);
        assert_eq!(trimmed(&trim, &whole, 1e-12).len(), 5, "the hull of an L is a pentagon");
        let half = |sign: f64| HalfPlane { normal: V2::new(0.0, sign), offset: sign, tol: 1e-12 };
        let upper = trimmed(&trim, &clipped(&whole, &half(-1.0)), 1e-12);
        let lower = trimmed(&trim, &clipped(&whole, &half(1.0)), 1e-12);
        assert_eq!(bounds(&upper), Rect { u0: 0.0, u1: 1.0, v0: 1.0, v1: 3.0 }, "the upper leg");
        assert_eq!(bounds(&lower), Rect { u0: 0.0, u1: 3.0, v0: 0.0, v1: 1.0 }, "the lower leg");
        assert_eq!([upper.len(), lower.len()], [4, 4], "two rectangles");
    }

    #[test]
    fn hull_of_the_part_of_a_disc_in_a_window_contains_its_points() {
        let r = 2.0;
        let k = 4.0 / 3.0 * (std::f64::consts::SQRT_2 - 1.0) * r;
        let quarter = |a: f64, b: f64| {
            // From (a, b) r to (−b, a) r, counter-clockwise.
            let at = |x: f64, y: f64| P2::new(x, y);
            let (p, q) = (at(a * r, b * r), at(-b * r, a * r));
            TrimPiece::new([p, p + V2::new(-b, a) * k, q + V2::new(a, b) * k, q], 0)
        };
        let pieces = [quarter(1.0, 0.0), quarter(0.0, 1.0), quarter(-1.0, 0.0), quarter(0.0, -1.0)];
        let rect = Rect { u0: -r, u1: r, v0: -r, v1: r };
        let trim = TrimCells::build(&TrimDomain::new(&pieces, rect, None, None, P2::origin())).0;
        let window = corners(&Rect { u0: 0.5, u1: 3.0, v0: -0.3, v1: 3.0 });
        let hull = trimmed(&trim, &window, 1e-12);
        let around = sides(&hull, 0.0);
        let mut inside = 0;
        for (i, j) in (0..60).flat_map(|i| (0..60).map(move |j| (i, j))) {
            let p = P2::new(0.5 + 0.04 * f64::from(i), -0.3 + 0.04 * f64::from(j));
            if trim.classify(p) == Side::Inside {
                inside += 1;
                assert!(around.iter().all(|side| side.excess(&p) < 1e-12), "{p:?} is outside the hull");
            }
        }
        assert!(inside > 1000, "{inside} points");
        assert!(hull.iter().all(|p| p.coords.norm() < 1.02 * r), "tight");
    }
}
