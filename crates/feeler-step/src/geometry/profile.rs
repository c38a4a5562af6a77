//! Selects the part of a profile that crosses its axis of revolution.
//!
//! ISO 10303-42 does not allow such profiles, but some writers drop the trims of arcs: a whole ellipse
//! revolved about its own axis covers the ellipsoid twice. The profile is cut where it crosses the axis,
//! and the part on which the face lies is kept. If two halves are mirror images, the face lies on both,
//! and they differ in the side of the normal. The half is then the one in whose parameters the file gives
//! the edges of the face, or else the one that contains an edge in the plane of the profile (a seam).

use std::f64::consts::TAU;

use feeler_geom::{Curve, P3, V2, V3, math};

use super::Geometry;
use super::curves::{ReadCurve, parameter_near};
use super::surfaces::{Near, NearEdge};
use crate::units::Units;

/// Tolerance of lengths, relative to the size of the profile. With a larger value half profiles are
/// mistaken for whole ones; with a smaller one halves of conics are not distinguished.
const LENGTH_TOL: f64 = 1e-6;
/// Number of samples per piece of a profile between which crossings of the axis are searched for.
const SAMPLES: u32 = 16;

/// Profile in one plane with its axis.
struct Plane<'a> {
    profile: &'a ReadCurve,
    origin: P3,
    axis: V3,
    /// Unit vector away from the axis.
    across: V3,
    size: f64,
}

/// Part of the profile on one side of the axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) t0: f64,
    pub(super) t1: f64,
    /// Sign of the side: 1 or −1, a factor of `Plane::across`.
    side: f64,
    /// Whether another part fits as well.
    pub(super) is_guess: bool,
}

impl<'a> Plane<'a> {
    /// Returns `None` if the profile is not in one plane with the axis.
    fn new(profile: &'a ReadCurve, range: (f64, f64), origin: &P3, axis: &V3) -> Option<Self> {
        let radial = |p: &P3| (p - origin) - axis * (p - origin).dot(axis);
        let points: Vec<P3> = samples(&profile.curve, range).map(|t| profile.curve.point(t)).collect();
        let far = points.iter().max_by(|p, q| radial(p).norm().total_cmp(&radial(q).norm()))?;
        let across = radial(far).try_normalize(0.0)?;
        let size = points.iter().map(|p| (p - origin).norm()).fold(0.0, f64::max);
        let normal = axis.cross(&across);
        let flat = points.iter().all(|p| (p - origin).dot(&normal).abs() <= 1e-9 * size);
        flat.then_some(Self { profile, origin: *origin, axis: *axis, across, size })
    }

    /// Signed distance from the axis along `across` (mm).
    fn offset(&self, t: f64) -> f64 {
        (self.profile.curve.point(t) - self.origin).dot(&self.across)
    }

    /// Parts between crossings of the axis; empty if there are no crossings.
    fn parts(&self, range: (f64, f64)) -> Vec<Part> {
        let mut cuts = vec![];
        let mut last: Option<(f64, f64)> = None;
        let (period, curve) = (self.profile.curve.period(), &self.profile.curve);
        // The samples run once around a closed profile and on to the first sample off the axis.
        let mut ts: Vec<f64> = samples(curve, range).collect();
        ts.retain(|t| self.offset(*t).abs() > 1e-9 * self.size);
        if let (Some(period), Some(first)) = (period, ts.first().copied()) {
            ts.push(first + period);
        }
        for t in ts {
            let x = self.offset(t);
            if let Some((s, y)) = last
                && (x > 0.0) != (y > 0.0)
            {
                cuts.push(self.crossing(s, t));
            }
            last = Some((t, x));
        }
        let mut ends = cuts.clone();
        match (period, cuts.first()) {
            (_, None) => return vec![],
            (Some(period), Some(first)) => ends.push(first + period),
            (None, Some(_)) => {
                ends.insert(0, range.0);
                ends.push(range.1);
            }
        }
        let part = |w: &[f64]| Part {
            t0: w[0],
            t1: w[1],
            side: self.offset(0.5 * (w[0] + w[1])).signum(),
            is_guess: false,
        };
        ends.windows(2).filter(|w| w[1] > w[0]).map(part).collect()
    }

    fn crossing(&self, mut a: f64, mut b: f64) -> f64 {
        let at_a = self.offset(a) > 0.0;
        // 60 halvings exhaust the digits of the parameter.
        for _ in 0..60 {
            let m = 0.5 * (a + b);
            if (self.offset(m) > 0.0) == at_a { a = m } else { b = m }
        }
        0.5 * (a + b)
    }

    /// Returns the parameter of the profile point from which `p` was revolved, and the remaining distance
    /// (mm).
    fn foot(&self, part: &Part, p: &P3) -> (f64, f64) {
        let height = (p - self.origin).dot(&self.axis);
        let radius = (p - self.origin - self.axis * height).norm();
        let q = self.origin + self.axis * height + self.across * (part.side * radius);
        let t = self.profile.curve.project(&q, part.t0, part.t1);
        (t, (self.profile.curve.point(t) - q).norm())
    }
}

/// Sample parameters over the whole curve, including its ends.
fn samples(curve: &Curve, (t0, t1): (f64, f64)) -> impl Iterator<Item = f64> + use<> {
    let mut ends = vec![t0];
    ends.extend(curve.breaks(t0, t1));
    ends.push(t1);
    let between = move |w: [f64; 2]| {
        (0..SAMPLES).map(move |k| w[0] + (w[1] - w[0]) * (f64::from(k) / f64::from(SAMPLES)))
    };
    let pairs: Vec<[f64; 2]> = ends.windows(2).map(|w| [w[0], w[1]]).collect();
    pairs.into_iter().flat_map(between).chain([t1])
}

impl Geometry<'_> {
    /// Returns the part of the profile that is revolved, if the profile crosses the axis within `range`.
    ///
    /// `middle` is a point of a trimmed profile, `surface` is the entity id of the surface of revolution.
    pub(super) fn part_turned(
        &self,
        profile: &ReadCurve,
        range: (f64, f64),
        (origin, axis): (&P3, &V3),
        middle: Option<P3>,
        (surface, near): (u64, Near<'_>),
    ) -> Option<Part> {
        let plane = Plane::new(profile, range, origin, axis)?;
        let mut parts = plane.parts(range);
        if parts.is_empty() {
            return None;
        }
        if let Some(m) = middle {
            let off = |p: &Part| (profile.curve.point(profile.curve.project(&m, p.t0, p.t1)) - m).norm();
            return parts.into_iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        }
        let points: Vec<P3> = near.edges.iter().flat_map(NearEdge::points).collect();
        let off = |part: &Part| points.iter().map(|p| plane.foot(part, p).1).fold(0.0, f64::max);
        let min_distance = parts.iter().map(off).fold(f64::INFINITY, f64::min);
        parts.retain(|p| off(p) <= min_distance + LENGTH_TOL * plane.size);
        let in_file: Vec<f64> =
            parts.iter().map(|p| self.distance_from_pcurves(&plane, p, surface, near)).collect();
        let min_distance = in_file.iter().copied().fold(f64::INFINITY, f64::min);
        let mut keep = in_file.iter().map(|off| *off <= min_distance + 1e-3 * plane.size);
        parts.retain(|_| keep.next().unwrap_or(true));
        let side = seam_side(&plane, near);
        // Without any evidence the side on which writers usually begin is taken: that of the first axis
        // of an ellipse if it points across, or else that of the second axis of the conic, along which
        // the curve rises.
        let begins = match &profile.curve {
            Curve::Ellipse { frame, .. } if frame.x.dot(&plane.across).abs() > 0.5 => frame.x,
            Curve::Ellipse { frame, .. } | Curve::Parabola { frame, .. } | Curve::Hyperbola { frame, .. } => {
                frame.y
            }
            _ => plane.across,
        };
        let wanted = if side == 0.0 { begins.dot(&plane.across) } else { side };
        let is_guess = side == 0.0 && parts.len() > 1;
        let best = parts.iter().find(|p| p.side * wanted > 0.0).or_else(|| parts.first())?;
        Some(Part { is_guess, ..*best })
    }

    /// Sum of the distances (mm) between points of the edges of the face and the pcurves that the file
    /// gives for these edges, assuming that the face is on this part of the profile.
    fn distance_from_pcurves(&self, plane: &Plane<'_>, part: &Part, surface: u64, near: Near<'_>) -> f64 {
        let profile_side = plane.across * part.side;
        let mut sum = 0.0;
        for edge in near.edges {
            let curves = self.parameter_curves(edge.id, &[surface, near.surface]);
            if curves.is_empty() {
                continue;
            }
            for p in edge.points() {
                let (t, _) = plane.foot(part, &p);
                let speed = plane.profile.curve.derivs(t).d1.norm();
                let radial = (p - plane.origin) - plane.axis * (p - plane.origin).dot(&plane.axis);
                let radius = radial.norm();
                if radius <= LENGTH_TOL * plane.size {
                    continue;
                }
                // The angle is zero on the profile as written.
                let u = math::atan2(radial.dot(&plane.axis.cross(&profile_side)), radial.dot(&profile_side));
                // Factors from the parameters of the file to ours, and to lengths.
                let scale = V2::new(self.units.rad, plane.profile.parameter_scale);
                let lengths = scale.component_mul(&V2::new(radius, speed));
                let period = V2::new(TAU, plane.profile.curve.period().unwrap_or(0.0)).component_div(&scale);
                let at = V2::new(u, t).component_div(&scale);
                let off =
                    curves.iter().map(|c| off_curve(c, at, period, lengths)).fold(f64::INFINITY, f64::min);
                sum += off.min(plane.size);
            }
        }
        sum
    }

    /// Pcurves that the file gives for an edge on one of these surfaces; unreadable ones are skipped.
    fn parameter_curves(&self, edge: u64, surfaces: &[u64]) -> Vec<Curve> {
        let read = |pcurve: u64| {
            let r = self.entities.find(pcurve)?.flattened();
            let on = r.name.ends_with("PCURVE") && surfaces.contains(&r.maybe_reference(1)?);
            let holder = self.entities.find(r.maybe_reference(2).filter(|_| on)?)?.flattened();
            // Coordinates in the parameter plane have no length unit.
            let plain = Units { mm: 1.0, rad: self.units.rad, ..Units::default() };
            let read = Geometry::new(self.entities, plain).curve(holder.any_references(1).next()?, holder.id);
            read.ok().map(|c| c.curve)
        };
        let of_edge = || {
            let geometry = self.entities.find(edge)?.flattened().maybe_reference(3)?;
            let r = self.entities.find(geometry)?.flattened();
            Some(std::iter::once(geometry).chain(r.any_references(2)).filter_map(read).collect())
        };
        of_edge().unwrap_or_default()
    }
}

/// Distance (mm) of a point of a parameter plane, shifted by up to two periods, from a curve; `lengths`
/// (mm) are those of one unit of each parameter.
fn off_curve(curve: &Curve, at: V2, period: V2, lengths: V2) -> f64 {
    let turns = [-2.0, -1.0, 0.0, 1.0, 2.0];
    let mut min_distance = f64::INFINITY;
    for (i, j) in turns.into_iter().flat_map(|i| turns.map(|j| (i, j))) {
        let q = P3::new(at.x + i * period.x, at.y + j * period.y, 0.0);
        let off = curve.point(parameter_near(curve, &q)) - q;
        min_distance = min_distance.min(math::hypot(off.x * lengths.x, off.y * lengths.y));
    }
    min_distance
}

/// Side of the axis on which edges in the plane of the profile lie: the sum of their signed distances, or
/// 0 if there are none or both sides balance.
fn seam_side(plane: &Plane<'_>, near: Near<'_>) -> f64 {
    let normal = plane.axis.cross(&plane.across);
    let mut sum = 0.0;
    for edge in near.edges {
        let points = edge.points();
        if points.iter().all(|p| (p - plane.origin).dot(&normal).abs() <= LENGTH_TOL * plane.size) {
            sum += points.iter().map(|p| (p - plane.origin).dot(&plane.across)).sum::<f64>();
        }
    }
    if sum.abs() <= LENGTH_TOL * plane.size { 0.0 } else { sum }
}
