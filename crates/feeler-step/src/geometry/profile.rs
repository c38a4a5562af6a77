//! Selects the part of a profile that generates a face, if the profile crosses its axis of revolution.
//!
//! ISO 10303-42 does not allow such profiles, but some writers drop the trims of arcs: a whole ellipse
//! revolved about its own axis covers the ellipsoid twice. The profile is cut where it crosses the axis,
//! and the part on which the face lies is kept. If two halves are mirror images, the face lies on the
//! surfaces of both, which differ in the side of the normal. The selected half is then the one in whose
//! parameters the file gives the edges of the face, or else the one that contains an edge in the plane
//! of the profile (a seam).

use std::f64::consts::TAU;

use feeler_geom::bezier::BezierSpline;
use feeler_geom::{Curve, P3, V2, V3, math};

use super::Geometry;
use super::curves::{ReadCurve, parameter_near};
use super::surfaces::{Near, NearEdge};
use crate::entities::{Res, bad};
use crate::units::Units;

/// Tolerance of lengths, relative to the size of the profile. With a larger value half profiles are
/// mistaken for whole ones; with a smaller one halves of conics are not distinguished.
const LENGTH_TOL: f64 = 1e-6;
/// Number of intervals per piece of a profile at whose ends crossings of the axis are detected. A larger
/// value takes more time; a smaller one misses double crossings.
const SAMPLES: u32 = 16;

/// The plane that contains a profile and its axis of revolution.
struct Plane<'a> {
    profile: &'a ReadCurve,
    origin: P3,
    axis: V3,
    /// Unit vector in the plane, normal to the axis, towards the profile point that is farthest from it.
    across: V3,
    size: f64,
}

/// Part of the profile on one side of the axis, from parameter `t0` to `t1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) t0: f64,
    pub(super) t1: f64,
    /// Side of the axis: 1 for the side of `Plane::across`, −1 for the other one.
    side: f64,
    /// Whether another part fits the file as well.
    pub(super) is_guess: bool,
}

impl<'a> Plane<'a> {
    /// Returns `None` if the profile is not in one plane with the axis. `range` is its parameter range.
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

    /// Signed distance (mm) of the profile point at `t` from the axis, positive towards `across`.
    fn offset(&self, t: f64) -> f64 {
        (self.profile.curve.point(t) - self.origin).dot(&self.across)
    }

    /// Returns the parts of the profile between its crossings of the axis; empty if there are no
    /// crossings.
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
        // 60 halvings exhaust the digits of a parameter.
        for _ in 0..60 {
            let m = 0.5 * (a + b);
            if (self.offset(m) > 0.0) == at_a { a = m } else { b = m }
        }
        0.5 * (a + b)
    }

    /// Removes the parts on which the trimmed profile does not lie, unless it lies on several parts.
    fn keep_trimmed(&self, parts: &mut Vec<Part>, trim: &BezierSpline) {
        let (t0, t1) = trim.range();
        let mut hits = vec![0_u32; parts.len()];
        for k in 0..SAMPLES {
            let p = trim.derivs(t0 + (t1 - t0) * (f64::from(k) + 0.5) / f64::from(SAMPLES)).p;
            let off = |part: &Part| {
                (self.profile.curve.point(self.profile.curve.project(&p, part.t0, part.t1)) - p).norm()
            };
            let nearest = (0..parts.len()).min_by(|i, j| off(&parts[*i]).total_cmp(&off(&parts[*j])));
            nearest.into_iter().for_each(|i| hits[i] += 1);
        }
        // By rounding, a trimmed profile can extend slightly beyond the axis.
        let most = hits.iter().copied().max().unwrap_or(0);
        if hits.iter().sum::<u32>() - most <= 1 {
            let mut hits = hits.into_iter();
            parts.retain(|_| hits.next() == Some(most));
        }
    }

    /// Returns whether two parts generate the same surface of revolution.
    fn is_mirrored(&self, part: &Part, other: &Part) -> bool {
        (1..SAMPLES).all(|k| {
            let t = part.t0 + (part.t1 - part.t0) * f64::from(k) / f64::from(SAMPLES);
            self.foot(other, &self.profile.curve.point(t)).1 <= LENGTH_TOL * self.size
        })
    }

    /// Returns the parameter of the point of `part` from which `p` was revolved, and the remaining
    /// distance (mm).
    fn foot(&self, part: &Part, p: &P3) -> (f64, f64) {
        let height = (p - self.origin).dot(&self.axis);
        let radius = (p - self.origin - self.axis * height).norm();
        let q = self.origin + self.axis * height + self.across * (part.side * radius);
        let t = self.profile.curve.project(&q, part.t0, part.t1);
        (t, (self.profile.curve.point(t) - q).norm())
    }
}

/// Iterates over sample parameters of the whole curve, including its ends.
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
    /// Returns the part of the profile that generates the face, if the profile crosses the axis
    /// (`origin`, direction) within `range`; otherwise `None`.
    ///
    /// `trim` is the trimmed profile of the file, `surface` the entity id of the surface of revolution.
    ///
    /// # Errors
    /// The surface intersects itself, and the file does not determine which part contains the face.
    pub(super) fn part_turned(
        &self,
        profile: &ReadCurve,
        range: (f64, f64),
        (origin, axis): (&P3, &V3),
        trim: Option<&BezierSpline>,
        (surface, near): (u64, Near<'_>),
    ) -> Res<Option<Part>> {
        let Some(plane) = Plane::new(profile, range, origin, axis) else { return Ok(None) };
        let mut parts = plane.parts(range);
        if let Some(trim) = trim {
            plane.keep_trimmed(&mut parts, trim);
        }
        let points: Vec<P3> = near.edges.iter().flat_map(NearEdge::points).collect();
        let off = |part: &Part| points.iter().map(|p| plane.foot(part, p).1).fold(0.0, f64::max);
        let least = parts.iter().map(off).fold(f64::INFINITY, f64::min);
        parts.retain(|p| off(p) <= least + LENGTH_TOL * plane.size);
        if parts.len() <= 1 {
            return Ok(parts.pop());
        }
        let in_file: Vec<f64> =
            parts.iter().map(|p| self.distance_from_pcurves(&plane, p, surface, near)).collect();
        let min_distance = in_file.iter().copied().fold(f64::INFINITY, f64::min);
        let mut keep = in_file.iter().map(|off| *off <= min_distance + 1e-3 * plane.size);
        parts.retain(|_| keep.next().unwrap_or(true));
        if !parts.iter().all(|p| plane.is_mirrored(p, &parts[0])) {
            return bad(
                surface,
                format!(
                    "is a surface of revolution that passes through itself, because its profile crosses the \
                     axis; the file does not determine which part bounds face #{}, so it is ambiguous; \
                     export it with a trimmed profile",
                    self.part.unwrap_or(surface)
                ),
            );
        }
        let seams: Vec<&NearEdge<'_>> = near.edges.iter().filter(|e| is_seam(e, near)).collect();
        let (of_seams, of_edges) =
            (plane.side_of(&seams), plane.side_of(&near.edges.iter().collect::<Vec<_>>()));
        // Without evidence, the side on which writers usually start is used. For a conic, it is the side
        // of its first axis if that axis points away from the axis of revolution, or else the side of
        // its second axis. For a line, it is the side of its origin.
        let begins = match &profile.curve {
            Curve::Ellipse { frame, .. } | Curve::Circle { frame, .. }
                if frame.x.dot(&plane.across).abs() > 0.5 =>
            {
                frame.x
            }
            Curve::Circle { frame, .. }
            | Curve::Ellipse { frame, .. }
            | Curve::Parabola { frame, .. }
            | Curve::Hyperbola { frame, .. } => frame.y,
            Curve::Line { origin: start, dir } => {
                let offset = (start - origin).dot(&plane.across);
                if offset.abs() > LENGTH_TOL * plane.size { plane.across * offset } else { *dir }
            }
            Curve::Bezier(_) => plane.across,
        };
        let wanted = [of_seams, of_edges, begins.dot(&plane.across)].into_iter().find(|side| *side != 0.0);
        let wanted = wanted.unwrap_or(1.0);
        let is_guess = of_seams == 0.0 && parts.len() > 1;
        let best = parts.iter().find(|p| p.side * wanted > 0.0).or_else(|| parts.first());
        Ok(best.map(|best| Part { is_guess, ..*best }))
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
                // The angle u is zero on the profile as written.
                let u = math::atan2(radial.dot(&plane.axis.cross(&profile_side)), radial.dot(&profile_side));
                // Factors from the parameters of the file to those of the surface, and from these to
                // lengths.
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

    /// Returns the pcurves that the file gives for an edge on one of the surfaces (entity ids);
    /// unreadable ones are skipped.
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

/// Minimum distance (mm) from a curve in a parameter plane to the point `at`, which may be shifted by up
/// to two periods; `lengths` are the lengths (mm) of one unit of each parameter.
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

/// Returns whether the loops of the face use the edge twice.
fn is_seam(edge: &NearEdge<'_>, near: Near<'_>) -> bool {
    near.edges.iter().filter(|e| e.id == edge.id).count() > 1
}

impl Plane<'_> {
    /// Side of the axis on which those of `edges` lie that are in the plane of the profile: the sum of
    /// their signed distances (mm), or 0 if there are none or both sides balance.
    fn side_of(&self, edges: &[&NearEdge<'_>]) -> f64 {
        let normal = self.axis.cross(&self.across);
        let mut sum = 0.0;
        // Closed circles around the axis have their ends and middle in the plane.
        for edge in edges.iter().filter(|e| e.ends[0] != e.ends[1]) {
            let points = edge.points();
            if points.iter().all(|p| (p - self.origin).dot(&normal).abs() <= LENGTH_TOL * self.size) {
                sum += points.iter().map(|p| (p - self.origin).dot(&self.across)).sum::<f64>();
            }
        }
        if sum.abs() <= LENGTH_TOL * self.size { 0.0 } else { sum }
    }
}
