//! Rings about a point that contain planar faces, such as the shoulder of a turned part.

use feeler_geom::trim::{Side, TrimPiece};
use feeler_geom::{P2, P3, Surface};
use feeler_hierarchy::Face;

/// Range of the distances of all points of a planar face from a point of its plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ring {
    /// Point of the face's plane from which the distances are measured, in the frame of the solid unless
    /// moved by a pose.
    pub center: P3,
    /// Smallest and largest distance (mm) of a point of the face from `center`.
    pub radii: [f64; 2],
}

/// Maximum number of trimming pieces of a face for which a ring is computed. A larger value slows down
/// loading; with a smaller one, more faces have no ring.
const MAX_PIECES: usize = 256;
/// Maximum number of centres of trimming arcs that are tried. A larger value slows down loading; with a
/// smaller one, rings are wider.
const MAX_CENTERS: usize = 4;
/// Maximum number of halvings of a trimming piece, each of which makes the bounds of its distances four
/// times as tight. A larger value slows down loading; a smaller one gives wider rings.
const MAX_HALVINGS: u32 = 6;
/// Relative difference of squared distances up to which bounds are not tightened further. A larger value
/// gives wider rings; a smaller one slows down loading.
const TIGHT_SQUARES: f64 = 1e-6;
/// Rounding of squared distances, relative to the largest one. A larger value gives wider rings; with a
/// smaller one, rings may not contain the face.
const SQUARES_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Returns the ring of a planar face about the centre of one of its trimming arcs. Of the rings about
/// several centres, the one with the largest inner radius is returned. Returns `None` for other faces,
/// for borders without arcs, and for more than [`MAX_PIECES`] trimming pieces.
pub(crate) fn ring(face: &Face) -> Option<Ring> {
    if !matches!(face.surface, Surface::Plane { .. }) || face.trim.pieces.len() > MAX_PIECES {
        return None;
    }
    let mut centers: Vec<P2> = Vec::new();
    for c in face.trim.pieces.iter().filter_map(center) {
        if centers.len() < MAX_CENTERS
            && !centers.iter().any(|d| (c - d).norm() < 1e-6 * (1.0 + c.coords.norm()))
        {
            centers.push(c);
        }
    }
    let about = |c: P2| {
        let mut seen = [f64::INFINITY, 0.0];
        let radii = face.trim.pieces.iter().fold([f64::INFINITY, 0.0_f64], |[lo, hi], p| {
            let [a, b] = distances(p, &c, &mut seen, MAX_HALVINGS);
            [lo.min(a - p.deviation), hi.max(b + p.deviation)]
        });
        let hollow = face.trim.classify(c) == Side::Outside;
        Ring {
            center: face.surface.point(c),
            radii: [if hollow { radii[0].max(0.0) } else { 0.0 }, radii[1]],
        }
    };
    let rings = centers.into_iter().map(about).filter(|r| r.radii[1].is_finite());
    rings.max_by(|r, s| r.radii[0].total_cmp(&s.radii[0]))
}

/// Centre (parameters of the plane) of the circle of which a trimming piece is an arc; `None` for other
/// pieces.
fn center(piece: &TrimPiece) -> Option<P2> {
    let [a, b, c] = [0.0, 0.5, 1.0].map(|t| piece.eval(t));
    let (x, y) = (b - a, c - a);
    let cross = x.perp(&y);
    // Flatter arcs are treated as straight.
    if cross.abs() < 1e-3 * x.norm() * y.norm() {
        return None;
    }
    let (p, q) = (x.norm_squared(), y.norm_squared());
    let d = nalgebra::Vector2::new(y.y * p - x.y * q, x.x * q - y.x * p) / (2.0 * cross);
    let (center, radius) = (a + d, d.norm());
    let off = [0.25, 0.75].map(|t| ((piece.eval(t) - center).norm() - radius).abs());
    (off[0].max(off[1]) <= 1e-5 * radius).then_some(center)
}

/// Bounds (mm) of the distances of the points of a trimming piece from the point `c`. The piece is
/// halved, at most `halvings` times, until the bounds are within [`TIGHT_SQUARES`] of `seen`, the
/// smallest and the largest squared distance (mm²) found so far, which is updated.
///
/// The squared distance is a polynomial of degree 6, between the smallest and the largest of its Bernstein
/// coefficients. For an arc about its centre, these are equal up to the difference of the cubic from the
/// arc.
fn distances(piece: &TrimPiece, c: &P2, seen: &mut [f64; 2], halvings: u32) -> [f64; 2] {
    let from = piece.control.map(|p| p - c);
    let ends = [from[0].norm_squared(), from[3].norm_squared()];
    *seen = [seen[0].min(ends[0]).min(ends[1]), seen[1].max(ends[0]).max(ends[1])];
    let coefficients = piece.squared_distance(c, |a, b| a.dot(&b));
    let bounds = coefficients.iter().fold([f64::INFINITY, 0.0_f64], |[lo, hi], x| [lo.min(*x), hi.max(*x)]);
    let is_tight =
        bounds[0] >= seen[0] * (1.0 - TIGHT_SQUARES) && bounds[1] <= seen[1] * (1.0 + TIGHT_SQUARES);
    // Pieces with NaN are not halved.
    if halvings == 0 || is_tight || !bounds[1].is_finite() {
        let rounding = SQUARES_ROUNDING * from.iter().fold(0.0, |m: f64, v| m.max(v.norm_squared()));
        return [(bounds[0] - rounding).max(0.0).sqrt(), (bounds[1] + rounding).sqrt()];
    }
    let (first, second) = piece.split(0.5);
    let first = distances(&first, c, seen, halvings - 1);
    let second = distances(&second, c, seen, halvings - 1);
    [first[0].min(second[0]), first[1].max(second[1])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::math;

    fn arc(center: P2, radius: f64, from: f64, to: f64) -> TrimPiece {
        // The cubic with the arc's ends and tangents that passes through its midpoint.
        let k = 4.0 / 3.0 * math::tan(0.25 * (to - from));
        let at = |a: f64, along: f64| {
            let (s, c) = math::sin_cos(a);
            center + nalgebra::Vector2::new(c - along * s, s + along * c) * radius
        };
        TrimPiece { control: [at(from, 0.0), at(from, k), at(to, -k), at(to, 0.0)], edge: 0, deviation: 0.0 }
    }

    /// The centre of a piece is found for circular arcs and not for lines. The bounds of the distances of a
    /// piece from a point are tight and contain the distances of all samples.
    #[test]
    fn centers_and_distances() {
        let c = P2::new(3.0, -1.0);
        for k in 0..12 {
            let from = 0.5 * f64::from(k);
            let piece = arc(c, 2.0, from, from + 0.7);
            assert!((center(&piece).expect("an arc") - c).norm() < 1e-4, "{k}");
            for from in [c, P2::new(3.0, 0.5), P2::origin()] {
                let [lo, hi] = distances(&piece, &from, &mut [f64::INFINITY, 0.0], MAX_HALVINGS);
                let (mut min, mut max) = (f64::INFINITY, 0.0_f64);
                for i in 0..=200 {
                    let d = (piece.eval(f64::from(i) / 200.0) - from).norm();
                    assert!(lo <= d && d <= hi, "{d} not in [{lo}, {hi}]");
                    (min, max) = (min.min(d), max.max(d));
                }
                assert!(min - lo < 1e-4 && hi - max < 1e-4, "[{lo}, {hi}] about [{min}, {max}]");
            }
        }
        let p = |x: f64| P2::new(x, 2.0 * x);
        let straight = TrimPiece { control: [p(0.0), p(1.0), p(2.0), p(3.0)], edge: 0, deviation: 0.0 };
        assert!(center(&straight).is_none(), "straight");
    }
}
