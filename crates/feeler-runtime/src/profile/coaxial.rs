//! Nearly coaxial faces of revolution that plainly do not meet, by their profiles.
//!
//! About its axis a cylinder or cone is a segment, a torus an arc of the half-plane of radius and height, and
//! the signed distance from another such face with the same axis is that from its line or circle there. What
//! the axes are off each other moves points of that half-plane by a bounded displacement, and signed
//! distances change by no more than that.
//!
//! # Guarantees
//! As of [`mod@super::apart`].

use super::{Place, RevolvedFace, nearest_of};
use crate::profile::ring::Ring;
use feeler_geom::math;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{P3, V3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

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
    /// Points at angles from the first for the given sweep, about the centre; signed radius.
    Arc { center: Place, sigma: f64, from: f64, sweep: f64 },
}

/// Bounds of the signed distance from the surface of `from` over a face, when both are of revolution.
pub(super) fn range(from: &RevolvedFace, face: &RevolvedFace) -> Option<[f64; 2]> {
    let (g, f) = profiles(from, face)?;
    let (outline, displacement) = f.seen_from(&g);
    let [lo, hi] = match g.outline {
        Outline::Segment { normal, at, .. } => outline.extent(&normal).map(|v| v - at),
        Outline::Arc { center, sigma, .. } => {
            let [near, far] = outline.distances(&center);
            let side = if sigma < 0.0 { -1.0 } else { 1.0 };
            let (x, y) = (side * near - sigma, side * far - sigma);
            [x.min(y), x.max(y)]
        }
    };
    Some([lo - displacement, hi + displacement])
}

/// A distance (mm) that two faces of revolution have at least: that of their profiles less what the axes are
/// off each other.
pub(super) fn distance(a: &RevolvedFace, b: &RevolvedFace) -> Option<f64> {
    let (g, f) = profiles(a, b)?;
    let (outline, displacement) = f.seen_from(&g);
    Some(g.outline.distance(&outline) - displacement)
}

fn profiles(a: &RevolvedFace, b: &RevolvedFace) -> Option<(Profile, Profile)> {
    let (of_a, of_b) = (axis(a), axis(b));
    Some((profile(a, &of_b.or(of_a)?)?, profile(b, &of_a.or(of_b)?)?))
}

/// The axis of a face that has one.
fn axis(face: &RevolvedFace) -> Option<V3> {
    match face.primitive {
        Primitive::Line { dir, .. } => Some(dir),
        Primitive::Circle { frame, .. } => Some(frame.z),
        Primitive::Plane { normal, .. } => face.ring.map(|_| normal),
        Primitive::Point { .. } => None,
    }
}

/// The profile of a face; spheres are of revolution about any axis, so about `other`.
fn profile(face: &RevolvedFace, other: &V3) -> Option<Profile> {
    match face.primitive {
        Primitive::Line { origin, dir, sigma, slope } => {
            // Points of the surface about the ends of the axis.
            let side = super::side_of(sigma, slope);
            let cos = (1.0 - slope * slope).sqrt();
            let normal = Place::new(side * cos, -slope);
            let end = |h: f64| Place::new((sigma + slope * h).abs() / cos, h);
            let ends = face.along.map(end);
            Some(Profile { origin, axis: dir, outline: Outline::Segment { ends, normal, at: sigma } })
        }
        Primitive::Circle { frame, radius, sigma } => {
            let [from, sweep] = face.part;
            let outline = Outline::Arc { center: Place::new(radius, 0.0), sigma, from, sweep };
            Some(Profile { origin: frame.origin, axis: frame.z, outline })
        }
        Primitive::Plane { normal, .. } => {
            let Ring { center, radii } = face.ring?;
            let ends = radii.map(|r| Place::new(r, 0.0));
            let outline = Outline::Segment { ends, normal: Place::y(), at: 0.0 };
            Some(Profile { origin: center, axis: normal, outline })
        }
        Primitive::Point { center, sigma } => {
            let outline = Outline::Arc { center: Place::zeros(), sigma, from: -FRAC_PI_2, sweep: PI };
            Some(Profile { origin: center, axis: *other, outline })
        }
    }
}

impl Profile {
    /// The outline in the half-plane about another axis, and how far (mm) points of the face can be from
    /// there.
    fn seen_from(&self, g: &Self) -> (Outline, f64) {
        let f = self;
        let cos = f.axis.dot(&g.axis);
        let (sign, sin) = (if cos < 0.0 { -1.0 } else { 1.0 }, f.axis.cross(&g.axis).norm());
        // Of a square, not of a difference from 1.
        let bent = sin * sin / (1.0 + cos.abs());
        let x = f.origin - g.origin;
        let height = x.dot(&g.axis);
        let [lowest, highest] = f.outline.heights();
        let across = |h: f64| {
            let y = x + f.axis * h;
            (y - g.axis * y.dot(&g.axis)).norm()
        };
        let off = across(lowest).max(across(highest));
        let radius = f.outline.radius();
        let displacement =
            math::hypot(off + radius * bent, radius * sin + lowest.abs().max(highest.abs()) * bent);
        (f.outline.moved(sign, height), displacement)
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
            Self::Arc { center, sigma, from, sweep } => {
                let from = if sign < 0.0 { -(from + sweep) } else { from };
                Self::Arc { center: place(&center), sigma, from, sweep }
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
            Self::Arc { center, sigma, from, sweep } => {
                let (middle, size) = (center.dot(along), along.norm() * sigma.abs());
                let towards = math::atan2(along.y, along.x);
                let [lo, hi] = cosines(from - towards, sweep);
                [middle + size * lo, middle + size * hi]
            }
        }
    }

    /// Range of the distance from a place.
    fn distances(&self, place: &Place) -> [f64; 2] {
        match *self {
            Self::Segment { ends, .. } => {
                let far = ends.iter().fold(0.0, |m: f64, e| m.max((e - place).norm()));
                [(nearest_of(&ends, place) - place).norm(), far]
            }
            Self::Arc { center, sigma, from, sweep } => {
                // |δ + r e(a)|² = δ² + r² + 2 δ r cos(a − angle of δ).
                let (delta, r) = (center - place, sigma.abs());
                let [lo, hi] = cosines(from - math::atan2(delta.y, delta.x), sweep);
                let size = delta.norm();
                // (δ − r)² + 2 δ r (1 + cos) keeps its digits.
                let of = |cos: f64| ((size - r) * (size - r) + 2.0 * size * r * (1.0 + cos)).max(0.0).sqrt();
                [of(lo), of(hi)]
            }
        }
    }
}

impl Outline {
    /// Smallest distance of two outlines.
    fn distance(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Segment { ends: e, .. }, Self::Segment { ends: f, .. }) => {
                if cross(e, f) {
                    return 0.0;
                }
                let to = |s: &[Place; 2], p: &Place| (p - nearest_of(s, p)).norm();
                to(e, &f[0]).min(to(e, &f[1])).min(to(f, &e[0])).min(to(f, &e[1]))
            }
            (Self::Segment { ends, .. }, arc @ Self::Arc { center, sigma, .. })
            | (arc @ Self::Arc { center, sigma, .. }, Self::Segment { ends, .. }) => {
                // A smallest distance is at an end of the segment, at an end of the arc, along the normal of
                // the segment through the centre, or 0 where they meet.
                let foot = nearest_of(ends, center);
                let at_ends = ends.iter().fold(f64::INFINITY, |m, e| m.min(arc.to_point(e)));
                let of_arc =
                    arc.ends().iter().fold(f64::INFINITY, |m, e| m.min((e - nearest_of(ends, e)).norm()));
                let meets = on_circle(ends, center, sigma.abs()).iter().flatten().any(|p| arc.looks_at(p));
                if meets { 0.0 } else { at_ends.min(of_arc).min(arc.to_point(&foot)) }
            }
            (Self::Arc { center, sigma, .. }, Self::Arc { center: c, sigma: s, .. }) => {
                let ends =
                    |of: &Self, to: &Self| of.ends().iter().fold(f64::INFINITY, |m, e| m.min(to.to_point(e)));
                let (d, r, q) = (c - center, sigma.abs(), s.abs());
                let len = d.norm();
                let mut least = ends(self, other).min(ends(other, self));
                // Along the line of the centres; concentric circles are at one distance everywhere.
                let dir = if len > 0.0 { d / len } else { Place::x() };
                for (i, j) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                    let (p, t) = (center + dir * (i * r), c + dir * (j * q));
                    if len <= f64::EPSILON * (r + q) || (self.looks_at(&p) && other.looks_at(&t)) {
                        least = least.min((p - t).norm());
                    }
                }
                let meet = (r - q).abs() <= len && len <= r + q && len > 0.0;
                if meet {
                    let x = (len * len + r * r - q * q) / (2.0 * len);
                    let y = (r * r - x * x).max(0.0).sqrt();
                    for y in [y, -y] {
                        let p = center + dir * x + Place::new(-dir.y, dir.x) * y;
                        if self.looks_at(&p) && other.looks_at(&p) {
                            return 0.0;
                        }
                    }
                }
                least
            }
        }
    }

    /// Of an arc: whether a place is in the directions that it covers from its centre.
    fn looks_at(&self, p: &Place) -> bool {
        let Self::Arc { center, from, sweep, .. } = self else { return false };
        let d = p - center;
        // A little over: a place beyond an end by rounding is as far as the end.
        (math::atan2(d.y, d.x) - from + ANGLE_SLACK).rem_euclid(TAU) <= sweep + 2.0 * ANGLE_SLACK
    }

    /// Of an arc: its distance from a place.
    fn to_point(&self, p: &Place) -> f64 {
        let Self::Arc { center, sigma, .. } = self else { return 0.0 };
        if self.looks_at(p) {
            return ((p - center).norm() - sigma.abs()).abs();
        }
        self.ends().iter().fold(f64::INFINITY, |m, e| m.min((p - e).norm()))
    }

    /// Of an arc: its ends.
    fn ends(&self) -> [Place; 2] {
        match *self {
            Self::Segment { ends, .. } => ends,
            Self::Arc { center, sigma, from, sweep } => [from, from + sweep].map(|a| {
                let (s, c) = math::sin_cos(a);
                center + Place::new(c, s) * sigma.abs()
            }),
        }
    }
}

/// Rounding of an angle.
const ANGLE_SLACK: f64 = 1e-12;

/// Whether two segments meet in one place.
fn cross([a, b]: &[Place; 2], [c, d]: &[Place; 2]) -> bool {
    let (e, f) = (b - a, d - c);
    let sides = |o: &Place, e: &Place, p: &Place, q: &Place| e.perp(&(p - o)) * e.perp(&(q - o));
    sides(a, &e, c, d) <= 0.0 && sides(c, &f, a, b) <= 0.0
        // Parallel ones have distances of their ends.
        && e.perp(&f) != 0.0
}

/// Where a segment meets a circle.
fn on_circle([a, b]: &[Place; 2], center: &Place, radius: f64) -> [Option<Place>; 2] {
    let (d, x) = (b - a, a - center);
    let (p, q, r) = (d.norm_squared(), x.dot(&d), x.norm_squared() - radius * radius);
    let disc = q * q - p * r;
    let inside = |t: f64| (0.0..=1.0).contains(&t).then(|| a + d * t);
    if disc < 0.0 || p <= 0.0 {
        return [None; 2];
    }
    let root = disc.sqrt();
    [inside((-q - root) / p), inside((-q + root) / p)]
}

/// Range of the cosine over angles from `from` for `sweep`.
fn cosines(from: f64, sweep: f64) -> [f64; 2] {
    let start = from.rem_euclid(TAU);
    let passes = |angle: f64| {
        let to = (angle - start).rem_euclid(TAU);
        to <= sweep
    };
    let ends = [math::cos(start), math::cos(start + sweep)];
    [
        if passes(PI) { -1.0 } else { ends[0].min(ends[1]) },
        if passes(0.0) { 1.0 } else { ends[0].max(ends[1]) },
    ]
}
