//! Planar faces about a point, as rings: what a step of a turned part is.

use super::nearest_of;
use feeler_geom::trim::{Side, TrimPiece};
use feeler_geom::{P2, P3, Surface};
use feeler_hierarchy::Face;

/// All points of a planar face are at these distances (mm, the smallest and the largest) from a point of its
/// plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ring {
    /// The point, the solid's frame.
    pub center: P3,
    /// The distances.
    pub radii: [f64; 2],
}

/// Border pieces of a face above which it is taken for no ring.
const MOST_PIECES: usize = 256;
/// Centres of border arcs that are tried.
const MOST_CENTERS: usize = 4;
/// Halvings of a piece: bounds of its distances get four times as tight with each.
const HALVINGS: u32 = 6;

/// The face about the centre of one of its border's arcs, that with the widest hole; `None` for others than
/// planes and without arcs.
pub(crate) fn ring(face: &Face) -> Option<Ring> {
    if !matches!(face.surface, Surface::Plane { .. }) || face.trim.pieces.len() > MOST_PIECES {
        return None;
    }
    let mut centers: Vec<P2> = Vec::new();
    for c in face.trim.pieces.iter().filter_map(center) {
        if centers.len() < MOST_CENTERS
            && !centers.iter().any(|d| (c - d).norm() < 1e-6 * (1.0 + c.coords.norm()))
        {
            centers.push(c);
        }
    }
    let about = |c: P2| {
        let radii = face.trim.pieces.iter().fold([f64::INFINITY, 0.0_f64], |[lo, hi], p| {
            let [a, b] = distances(p, &c, HALVINGS);
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

/// The centre of the circle that a piece is an arc of.
fn center(piece: &TrimPiece) -> Option<P2> {
    let [a, b, c] = [0.0, 0.5, 1.0].map(|t| piece.eval(t));
    let (x, y) = (b - a, c - a);
    let cross = x.perp(&y);
    // Flatter than this it is as good as straight.
    if cross.abs() < 1e-3 * x.norm() * y.norm() {
        return None;
    }
    let (p, q) = (x.norm_squared(), y.norm_squared());
    let d = nalgebra::Vector2::new(y.y * p - x.y * q, x.x * q - y.x * p) / (2.0 * cross);
    let (center, radius) = (a + d, d.norm());
    let off = [0.25, 0.75].map(|t| ((piece.eval(t) - center).norm() - radius).abs());
    (off[0].max(off[1]) <= 1e-5 * radius).then_some(center)
}

/// Bounds of the distances of the points of a piece from a point, to the square of the length of its parts.
fn distances(piece: &TrimPiece, c: &P2, halvings: u32) -> [f64; 2] {
    if halvings > 0 {
        let (first, second) = piece.split(0.5);
        let ([a, b], [d, e]) = (distances(&first, c, halvings - 1), distances(&second, c, halvings - 1));
        return [a.min(d), b.max(e)];
    }
    // In the hull of its control points, which is no farther from the chord than they are.
    let [a, p, q, b] = piece.control;
    let to_chord = |p: &P2| (nearest_of(&[a.coords, b.coords], &p.coords) - p.coords).norm();
    let lo = to_chord(c) - to_chord(&p).max(to_chord(&q));
    [lo, piece.control.iter().fold(0.0, |m: f64, p| m.max((p - c).norm()))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::math;

    fn arc(center: P2, radius: f64, from: f64, to: f64) -> TrimPiece {
        // The cubic with the arc's ends and tangents that meets it in the middle.
        let k = 4.0 / 3.0 * math::tan(0.25 * (to - from));
        let at = |a: f64, along: f64| {
            let (s, c) = math::sin_cos(a);
            center + nalgebra::Vector2::new(c - along * s, s + along * c) * radius
        };
        TrimPiece { control: [at(from, 0.0), at(from, k), at(to, -k), at(to, 0.0)], edge: 0, deviation: 0.0 }
    }

    /// Centres of arcs, none of straight pieces, and distances that hold the samples tightly.
    #[test]
    fn centers_and_distances() {
        let c = P2::new(3.0, -1.0);
        for k in 0..12 {
            let from = 0.5 * f64::from(k);
            let piece = arc(c, 2.0, from, from + 0.7);
            assert!((center(&piece).expect("an arc") - c).norm() < 1e-4, "{k}");
            for from in [c, P2::new(3.0, 0.5), P2::origin()] {
                let [lo, hi] = distances(&piece, &from, HALVINGS);
                let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
                for i in 0..=200 {
                    let d = (piece.eval(f64::from(i) / 200.0) - from).norm();
                    assert!(lo <= d && d <= hi, "{d} not in [{lo}, {hi}]");
                    (least, most) = (least.min(d), most.max(d));
                }
                assert!(least - lo < 1e-4 && hi - most < 1e-4, "[{lo}, {hi}] about [{least}, {most}]");
            }
        }
        let p = |x: f64| P2::new(x, 2.0 * x);
        let straight = TrimPiece { control: [p(0.0), p(1.0), p(2.0), p(3.0)], edge: 0, deviation: 0.0 };
        assert!(center(&straight).is_none(), "straight");
    }
}
