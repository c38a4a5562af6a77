//! Nearly coaxial faces of revolution that plainly do not meet, by their profiles.
//!
//! About its axis a cylinder or cone is a segment, a torus an arc of the half-plane of radius and height, and the signed
//! distance from another such face with the same axis is that from its line or circle there. What the axes are off each
//! other moves points of that half-plane by a bounded way, and signed distances change by no more than the way.
//!
//! # Guarantees
//! As of [`super::apart()`].

use super::apart::Round;
use feeler_geom::math;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{P3, V3};
use nalgebra::Vector2;
use std::f64::consts::TAU;

/// Radius and height about an axis.
type Place = Vector2<f64>;

/// A face about its axis.
struct Profile {
    origin: P3,
    axis: V3,
    outline: Outline,
}

/// What a face of revolution is in the half-plane; normals are outward.
enum Outline {
    /// Points between both ends; signed distance along the unit normal, which is `at` on all of them.
    Segment { ends: [Place; 2], normal: Place, at: f64 },
    /// Points at angles from the first for the given turn, about the centre; signed radius.
    Arc { center: Place, sigma: f64, from: f64, turn: f64 },
}

/// A meridian's part: angles about the tube's centre from outside up, the first and how far from there.
pub(super) type Part = [f64; 2];

/// All of a meridian.
pub(super) const WHOLE: Part = [0.0, TAU];

/// Bounds of the signed distance from the surface of `from` over a face, when both are of revolution.
pub(super) fn range(from: &Round, face: &Round) -> Option<[f64; 2]> {
    let (g, f) = (profile(from)?, profile(face)?);
    let cos = f.axis.dot(&g.axis);
    let (sign, sin) = (if cos < 0.0 { -1.0 } else { 1.0 }, f.axis.cross(&g.axis).norm());
    // Of a square, not of a difference from 1.
    let bent = sin * sin / (1.0 + cos.abs());
    let x = f.origin - g.origin;
    let height = x.dot(&g.axis);
    let outline = f.outline.moved(sign, height);
    let [lowest, highest] = f.outline.heights();
    let across = |h: f64| {
        let y = x + f.axis * h;
        (y - g.axis * y.dot(&g.axis)).norm()
    };
    let off = across(lowest).max(across(highest));
    let radius = f.outline.radius();
    let way = math::hypot(off + radius * bent, radius * sin + lowest.abs().max(highest.abs()) * bent);
    let [lo, hi] = match g.outline {
        Outline::Segment { normal, at, .. } => outline.extent(&normal).map(|v| v - at),
        Outline::Arc { center, sigma, .. } => {
            let [near, far] = outline.distances(&center);
            let side = if sigma < 0.0 { -1.0 } else { 1.0 };
            let (x, y) = (side * near - sigma, side * far - sigma);
            [x.min(y), x.max(y)]
        }
    };
    Some([lo - way, hi + way])
}

fn profile(round: &Round) -> Option<Profile> {
    match round.primitive {
        Primitive::Line { origin, dir, sigma, slope } => {
            // Points of the surface about the ends of the axis.
            let side = super::apart::side_of(sigma, slope);
            let cos = (1.0 - slope * slope).sqrt();
            let normal = Place::new(side * cos, -slope);
            let end = |h: f64| Place::new((sigma + slope * h).abs() / cos, h);
            let ends = round.along.map(end);
            Some(Profile { origin, axis: dir, outline: Outline::Segment { ends, normal, at: sigma } })
        }
        Primitive::Circle { frame, radius, sigma } => {
            let [from, turn] = round.part;
            let outline = Outline::Arc { center: Place::new(radius, 0.0), sigma, from, turn };
            Some(Profile { origin: frame.origin, axis: frame.z, outline })
        }
        Primitive::Plane { .. } | Primitive::Point { .. } => None,
    }
}

impl Outline {
    /// With heights times a sign, then moved.
    fn moved(&self, sign: f64, by: f64) -> Self {
        let place = |p: &Place| Place::new(p.x, sign * p.y + by);
        match *self {
            Self::Segment { ends, normal, at } => Self::Segment {
                ends: [place(&ends[0]), place(&ends[1])],
                normal: Place::new(normal.x, sign * normal.y),
                at: at + sign * by * normal.y,
            },
            Self::Arc { center, sigma, from, turn } => {
                let from = if sign < 0.0 { -(from + turn) } else { from };
                Self::Arc { center: place(&center), sigma, from, turn }
            }
        }
    }

    fn heights(&self) -> [f64; 2] {
        self.extent(&Place::y())
    }

    /// Largest distance from the axis.
    fn radius(&self) -> f64 {
        self.extent(&Place::x())[1].max(0.0)
    }

    /// Range of a linear function.
    fn extent(&self, along: &Place) -> [f64; 2] {
        match *self {
            Self::Segment { ends, .. } => {
                let v = ends.map(|e| e.dot(along));
                [v[0].min(v[1]), v[0].max(v[1])]
            }
            Self::Arc { center, sigma, from, turn } => {
                let (middle, size) = (center.dot(along), along.norm() * sigma.abs());
                let towards = math::atan2(along.y, along.x);
                let [lo, hi] = cosines(from - towards, turn);
                [middle + size * lo, middle + size * hi]
            }
        }
    }

    /// Range of the distance from a place.
    fn distances(&self, place: &Place) -> [f64; 2] {
        match *self {
            Self::Segment { ends: [a, b], .. } => {
                let (d, x) = (b - a, place - a);
                let d_sq = d.norm_squared();
                let t = if d_sq > 0.0 { (x.dot(&d) / d_sq).clamp(0.0, 1.0) } else { 0.0 };
                [(x - d * t).norm(), x.norm().max((place - b).norm())]
            }
            Self::Arc { center, sigma, from, turn } => {
                // |δ + r e(a)|² = δ² + r² + 2 δ r cos(a − angle of δ).
                let (delta, r) = (center - place, sigma.abs());
                let [lo, hi] = cosines(from - math::atan2(delta.y, delta.x), turn);
                let size = delta.norm();
                // (δ − r)² + 2 δ r (1 + cos) keeps its digits.
                let of = |cos: f64| ((size - r) * (size - r) + 2.0 * size * r * (1.0 + cos)).max(0.0).sqrt();
                [of(lo), of(hi)]
            }
        }
    }
}

/// Range of the cosine over angles from `from` for `turn`.
fn cosines(from: f64, turn: f64) -> [f64; 2] {
    let start = from.rem_euclid(TAU);
    let passes = |angle: f64| {
        let to = (angle - start).rem_euclid(TAU);
        to <= turn
    };
    let ends = [math::cos(start), math::cos(start + turn)];
    [
        if passes(std::f64::consts::PI) { -1.0 } else { ends[0].min(ends[1]) },
        if passes(0.0) { 1.0 } else { ends[0].max(ends[1]) },
    ]
}
