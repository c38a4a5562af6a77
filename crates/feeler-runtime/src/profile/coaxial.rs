//! Bounds of the distance between nearly coaxial faces of revolution, by their profiles.
//!
//! The profile of a cylinder or cone in the half-plane of radius and height is a segment, that of a
//! torus an arc. If two such faces have the same axis, the signed distance from one of them equals the
//! signed distance in the half-plane from the line or circle of its profile. A deviation of the axes
//! moves points in the half-plane by a bounded displacement, and signed distances change by at most this
//! displacement.
//!
//! # Guarantees
//! A bound is certain up to rounding and, for faces that follow a canonical one, up to the accuracy of
//! their measured deviation.

use super::{ProfilePoint, RevolvedFace, nearest_of};
use crate::profile::ring::Ring;
use feeler_geom::math;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{P3, V3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Profile of a face of revolution: its outline by radius and height about the axis, with heights
/// measured from `origin`, a point of the axis, along the unit direction `axis` (frame of A).
struct Profile {
    origin: P3,
    axis: V3,
    outline: Outline,
}

/// Profile of a face of revolution in the half-plane of radius and height (mm). Normals point out of the
/// material.
enum Outline {
    /// A segment. `at` is the product of each of its points with the outward unit normal.
    Segment { ends: [ProfilePoint; 2], normal: ProfilePoint, at: f64 },
    /// Points at angles from `from` to `from + sweep` (rad) about the centre. `sigma` is the signed
    /// radius, positive where the face is convex.
    Arc { center: ProfilePoint, sigma: f64, from: f64, sweep: f64 },
}

/// Returns bounds (mm) of the signed distance of the points of `face` from the surface of `from`,
/// positive outside its material. The axes need not coincide: their deviation widens the bounds. `None`
/// if neither face has a unique axis (two spheres), or if a planar face has no `ring`.
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

/// Returns a lower bound (mm) of the distance between two faces of revolution: the distance of their
/// profiles minus the displacement that the deviation of the axes causes. Any deviation is allowed; it
/// loosens the bound. `None` if neither face has a unique axis, or if a planar face has no `ring`.
pub(super) fn distance(a: &RevolvedFace, b: &RevolvedFace) -> Option<f64> {
    let (g, f) = profiles(a, b)?;
    let (outline, displacement) = f.seen_from(&g);
    Some(g.outline.distance(&outline) - displacement)
}

/// Profiles of both faces, each about its own axis; a sphere takes the direction of the other axis.
/// `None` if neither face has a unique axis, or if a planar face has no ring.
fn profiles(a: &RevolvedFace, b: &RevolvedFace) -> Option<(Profile, Profile)> {
    let (of_a, of_b) = (axis(a), axis(b));
    Some((profile(a, &of_b.or(of_a)?)?, profile(b, &of_a.or(of_b)?)?))
}

/// Direction of the axis of a face; `None` for a sphere or a planar face without a ring, which have no
/// unique axis.
fn axis(face: &RevolvedFace) -> Option<V3> {
    match face.primitive {
        Primitive::Line { dir, .. } => Some(dir),
        Primitive::Circle { frame, .. } => Some(frame.z),
        Primitive::Plane { normal, .. } => face.ring.map(|_| normal),
        Primitive::Point { .. } => None,
    }
}

/// Profile of a face; `None` for a planar face without a ring. The profile of a sphere is about the
/// direction `other`, because a sphere is of revolution about any axis.
fn profile(face: &RevolvedFace, other: &V3) -> Option<Profile> {
    match face.primitive {
        Primitive::Line { origin, dir, sigma, slope } => {
            // Points of the surface at both ends of the range along the axis.
            let side = super::side_of(sigma, slope);
            let cos = (1.0 - slope * slope).sqrt();
            let normal = ProfilePoint::new(side * cos, -slope);
            let end = |h: f64| ProfilePoint::new((sigma + slope * h).abs() / cos, h);
            let ends = face.along.map(end);
            Some(Profile { origin, axis: dir, outline: Outline::Segment { ends, normal, at: sigma } })
        }
        Primitive::Circle { frame, radius, sigma } => {
            let [from, sweep] = face.part;
            let outline = Outline::Arc { center: ProfilePoint::new(radius, 0.0), sigma, from, sweep };
            Some(Profile { origin: frame.origin, axis: frame.z, outline })
        }
        Primitive::Plane { normal, .. } => {
            let Ring { center, radii } = face.ring?;
            let ends = radii.map(|r| ProfilePoint::new(r, 0.0));
            let outline = Outline::Segment { ends, normal: ProfilePoint::y(), at: 0.0 };
            Some(Profile { origin: center, axis: normal, outline })
        }
        Primitive::Point { center, sigma } => {
            let outline = Outline::Arc { center: ProfilePoint::zeros(), sigma, from: -FRAC_PI_2, sweep: PI };
            Some(Profile { origin: center, axis: *other, outline })
        }
    }
}

impl Profile {
    /// Returns the outline moved to the half-plane about the axis of `g`, and the largest distance (mm)
    /// in this half-plane between a point of the face and its image on the outline, because the axes
    /// deviate.
    fn seen_from(&self, g: &Self) -> (Outline, f64) {
        let f = self;
        let cos = f.axis.dot(&g.axis);
        let (sign, sin) = (if cos < 0.0 { -1.0 } else { 1.0 }, f.axis.cross(&g.axis).norm());
        // Computed from a square, because a difference from 1 loses digits.
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
    /// Copy of the outline whose heights are multiplied by `sign` and then increased by `shift` (mm).
    fn moved(&self, sign: f64, shift: f64) -> Self {
        let place = |p: &ProfilePoint| ProfilePoint::new(p.x, sign * p.y + shift);
        match *self {
            Self::Segment { ends, normal, at } => Self::Segment {
                ends: [place(&ends[0]), place(&ends[1])],
                normal: ProfilePoint::new(normal.x, sign * normal.y),
                at: at + sign * shift * normal.y,
            },
            Self::Arc { center, sigma, from, sweep } => {
                let from = if sign < 0.0 { -(from + sweep) } else { from };
                Self::Arc { center: place(&center), sigma, from, sweep }
            }
        }
    }

    fn heights(&self) -> [f64; 2] {
        self.extent(&ProfilePoint::y())
    }

    /// Largest distance (mm) of the outline from the axis.
    fn radius(&self) -> f64 {
        self.extent(&ProfilePoint::x())[1].max(0.0)
    }

    /// Smallest and largest scalar product of a point of the outline with `along`.
    fn extent(&self, along: &ProfilePoint) -> [f64; 2] {
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

    /// Range of the distances (mm) between the points of the outline and a point of the half-plane.
    fn distances(&self, place: &ProfilePoint) -> [f64; 2] {
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
                // The form (δ − r)² + 2 δ r (1 + cos) does not lose digits.
                let of = |cos: f64| ((size - r) * (size - r) + 2.0 * size * r * (1.0 + cos)).max(0.0).sqrt();
                [of(lo), of(hi)]
            }
        }
    }
}

impl Outline {
    /// Smallest distance (mm) between two outlines; 0 if they intersect.
    fn distance(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Segment { ends: e, .. }, Self::Segment { ends: f, .. }) => {
                if cross(e, f) {
                    return 0.0;
                }
                let to = |s: &[ProfilePoint; 2], p: &ProfilePoint| (p - nearest_of(s, p)).norm();
                to(e, &f[0]).min(to(e, &f[1])).min(to(f, &e[0])).min(to(f, &e[1]))
            }
            (Self::Segment { ends, .. }, arc @ Self::Arc { center, sigma, .. })
            | (arc @ Self::Arc { center, sigma, .. }, Self::Segment { ends, .. }) => {
                // The smallest distance is at an end of the segment, at an end of the arc, along the normal
                // of the segment through the centre, or 0 if they intersect.
                let foot = nearest_of(ends, center);
                let at_ends = ends.iter().fold(f64::INFINITY, |m, e| m.min(arc.to_point(e)));
                let of_arc =
                    arc.ends().iter().fold(f64::INFINITY, |m, e| m.min((e - nearest_of(ends, e)).norm()));
                let intersects = on_circle(ends, center, sigma.abs()).iter().flatten().any(|p| arc.covers(p));
                if intersects { 0.0 } else { at_ends.min(of_arc).min(arc.to_point(&foot)) }
            }
            (Self::Arc { center, sigma, .. }, Self::Arc { center: c, sigma: s, .. }) => {
                let ends =
                    |of: &Self, to: &Self| of.ends().iter().fold(f64::INFINITY, |m, e| m.min(to.to_point(e)));
                let (d, r, q) = (c - center, sigma.abs(), s.abs());
                let len = d.norm();
                let mut min_distance = ends(self, other).min(ends(other, self));
                // Points on the line through both centres. The distance of concentric circles is
                // constant.
                let dir = if len > 0.0 { d / len } else { ProfilePoint::x() };
                for (i, j) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                    let (p, t) = (center + dir * (i * r), c + dir * (j * q));
                    if len <= f64::EPSILON * (r + q) || (self.covers(&p) && other.covers(&t)) {
                        min_distance = min_distance.min((p - t).norm());
                    }
                }
                let intersect = (r - q).abs() <= len && len <= r + q && len > 0.0;
                if intersect {
                    let x = (len * len + r * r - q * q) / (2.0 * len);
                    let y = (r * r - x * x).max(0.0).sqrt();
                    for y in [y, -y] {
                        let p = center + dir * x + ProfilePoint::new(-dir.y, dir.x) * y;
                        if self.covers(&p) && other.covers(&p) {
                            return 0.0;
                        }
                    }
                }
                min_distance
            }
        }
    }

    /// Whether the direction from the centre of an arc to a point is among those of the arc's points;
    /// `false` for a segment.
    fn covers(&self, p: &ProfilePoint) -> bool {
        let Self::Arc { center, from, sweep, .. } = self else { return false };
        let d = p - center;
        // The slack accepts points that are beyond an end by rounding.
        (math::atan2(d.y, d.x) - from + ANGLE_SLACK).rem_euclid(TAU) <= sweep + 2.0 * ANGLE_SLACK
    }

    /// Distance (mm) of a point `p` of the half-plane from the arc; 0 for a segment.
    fn to_point(&self, p: &ProfilePoint) -> f64 {
        let Self::Arc { center, sigma, .. } = self else { return 0.0 };
        if self.covers(p) {
            return ((p - center).norm() - sigma.abs()).abs();
        }
        self.ends().iter().fold(f64::INFINITY, |m, e| m.min((p - e).norm()))
    }

    /// The two end points of the segment or arc.
    fn ends(&self) -> [ProfilePoint; 2] {
        match *self {
            Self::Segment { ends, .. } => ends,
            Self::Arc { center, sigma, from, sweep } => [from, from + sweep].map(|a| {
                let (s, c) = math::sin_cos(a);
                center + ProfilePoint::new(c, s) * sigma.abs()
            }),
        }
    }
}

/// Rounding of an angle (rad). A larger value gives looser bounds; with a smaller one, rounding violates
/// them.
const ANGLE_SLACK: f64 = 1e-12;

/// Whether two segments intersect in a single point.
fn cross([a, b]: &[ProfilePoint; 2], [c, d]: &[ProfilePoint; 2]) -> bool {
    let (e, f) = (b - a, d - c);
    let sides = |o: &ProfilePoint, e: &ProfilePoint, p: &ProfilePoint, q: &ProfilePoint| {
        e.perp(&(p - o)) * e.perp(&(q - o))
    };
    sides(a, &e, c, d) <= 0.0 && sides(c, &f, a, b) <= 0.0
        // Parallel segments are covered by the distances of their ends.
        && e.perp(&f) != 0.0
}

/// Points in which the segment from `a` to `b` intersects a circle; `None` in place of each missing point.
fn on_circle([a, b]: &[ProfilePoint; 2], center: &ProfilePoint, radius: f64) -> [Option<ProfilePoint>; 2] {
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

/// Range of the cosine over the angles from `from` to `from + sweep` (rad).
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
