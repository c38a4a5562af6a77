//! Reads edges that a file gives only in the parameter plane of a surface, by fitting them in space.
//!
//! # Source
//! ISO 10303-42 (`pcurve`); piecewise cubic Hermite interpolation of `S(c(t))` with derivatives by the chain
//! rule.

use feeler_geom::bezier::BezierSpline;
use feeler_geom::{Curve, P2, P3, Surface, V2, V3, math};

use super::{Geometry, Near, ReadCurve};
use crate::entities::{Record, Res, bad};
use crate::units::Units;

/// Target deviation of fitted edges (mm). A larger value gives less exact edges; a smaller one more
/// pieces.
const TARGET_DEVIATION: f64 = 1e-7;
/// Maximum accepted deviation (mm) if the target needs more than [`MAX_SAMPLES`]. A larger value admits
/// inexact edges; a smaller one refuses more of them.
const MAX_DEVIATION: f64 = 1e-3;
/// Maximum number of samples to which a PCURVE is fitted in space. A larger value fits longer curves to
/// the target, in more time.
const MAX_SAMPLES: u32 = 4096;
/// Maximum distance by which a 3D curve may miss the ends of its edge, relative to the distance between
/// these ends; ten times the uncertainty of the file is allowed if that is more. With a larger value
/// wrong curves are used; with a smaller one pcurves are fitted in vain.
const MAX_END_GAP: f64 = 1e-3;

/// Affine map from the parameters of a surface in the file to those of the surface as read.
struct ParameterMap {
    scale: V2,
    shift: V2,
}

impl ParameterMap {
    fn apply(&self, p: &P3) -> P2 {
        P2::new(p.x * self.scale.x + self.shift.x, p.y * self.scale.y + self.shift.y)
    }

    fn apply_vector(&self, d: &V3) -> V2 {
        V2::new(d.x * self.scale.x, d.y * self.scale.y)
    }
}

impl Geometry<'_> {
    /// Reads the curve of an edge between two points (mm). Among a 3D curve and pcurves, the one that
    /// fits the points is returned.
    pub(crate) fn edge_curve(&mut self, id: u64, by: u64, ends: [P3; 2]) -> Res<ReadCurve> {
        let r = self.entities.get(id, by)?.flattened();
        match r.name {
            "PCURVE" | "BOUNDED_PCURVE" | "DEGENERATE_PCURVE" => self.pcurve(&r, ends),
            "SURFACE_CURVE" | "SEAM_CURVE" | "INTERSECTION_CURVE" | "BOUNDED_SURFACE_CURVE" => {
                match r.maybe_reference(1) {
                    Some(in_space) => {
                        let read = self.deeper(id, |g| g.edge_curve(in_space, id, ends))?;
                        Ok(self.better_pcurve(&r, &read, ends).unwrap_or(read))
                    }
                    // Without a 3D curve, the first pcurve is used.
                    None => match r.any_references(2).next() {
                        Some(pcurve) => self.deeper(id, |g| g.edge_curve(pcurve, id, ends)),
                        None => bad(id, format!("is a {} without any curve", r.label())),
                    },
                }
            }
            _ => self.curve(id, by),
        }
    }

    /// Returns a pcurve fitted in space if the 3D curve misses the ends of the edge by more than
    /// [`MAX_END_GAP`] and the pcurve does not.
    fn better_pcurve(&mut self, r: &Record<'_>, read: &ReadCurve, ends: [P3; 2]) -> Option<ReadCurve> {
        let miss = miss(&read.curve, &ends);
        let allowed = (10.0 * self.units.uncertainty).max(MAX_END_GAP * (ends[1] - ends[0]).norm());
        if miss <= allowed {
            return None;
        }
        let ids: Vec<u64> = r.any_references(2).collect();
        let n_notes = self.notes.len();
        let tried = |g: &mut Self, pcurve: u64| -> Option<ReadCurve> {
            let other = g.deeper(r.id, |g| g.edge_curve(pcurve, r.id, ends)).ok()?;
            (self::miss(&other.curve, &ends) <= allowed.min(0.1 * miss)).then_some(other)
        };
        let found = ids.into_iter().find_map(|id| Some((id, tried(self, id)?)));
        self.notes.truncate(n_notes);
        let (id, other) = found?;
        self.note(
            r.id,
            format!("has a 3D curve that misses its ends by {miss:.1e} mm; PCURVE #{id} is used instead"),
        );
        Some(other)
    }

    fn pcurve(&mut self, r: &Record<'_>, ends: [P3; 2]) -> Res<ReadCurve> {
        let surface_id = r.reference(1, "basis_surface")?;
        let (surface, map) = self.parametrised(surface_id, r.id, &ends)?;
        let holder_id = r.reference(2, "reference_to_curve")?;
        let holder = self.entities.get(holder_id, r.id)?.flattened();
        let Some(curve_id) = holder.any_references(1).next() else {
            return bad(holder_id, "contains no curve for the PCURVE that refers to it");
        };
        // Coordinates in the parameter plane have no length unit; that of the surface is applied after
        // reading.
        let plain = Units { mm: 1.0, rad: self.units.rad, ..Units::default() };
        let mut plane = Geometry::new(self.entities, plain);
        let read = plane.curve(curve_id, holder_id)?;
        let (t0, t1) = match plane.bounded(curve_id, holder_id) {
            // The basis of a trimmed spline has the same parameters but not always the same range.
            Ok(spline) if matches!(read.curve, Curve::Bezier(_)) => spline.range(),
            // The whole curve is used; the vertices determine the part.
            _ if matches!(read.curve, Curve::Circle { .. } | Curve::Ellipse { .. }) => {
                (0.0, std::f64::consts::TAU)
            }
            _ => parameters_at(&surface, &map, &read.curve, ends),
        };
        if !(t1 - t0).is_normal() {
            return bad(r.id, "is a PCURVE whose ends cannot be determined; export the edge with a 3D curve");
        }
        let (lo, hi) = (t0.min(t1), t0.max(t1));
        let at = |t: f64| {
            let c = read.curve.derivs(t);
            let s = surface.derivs(map.apply(&c.p));
            let d = map.apply_vector(&c.d1);
            (s.p, s.du * d.x + s.dv * d.y)
        };
        let mut n = 16;
        loop {
            let sample = |i: u32| lo + (hi - lo) * (f64::from(i) / f64::from(n));
            let samples: Vec<(f64, P3, V3)> = (0..=n)
                .map(|i| {
                    let t = sample(i);
                    let (p, d) = at(t);
                    (t, p, d)
                })
                .collect();
            let spline = BezierSpline::hermite(&samples);
            let deviation = (0..4 * n)
                .map(|i| {
                    let t = lo + (hi - lo) * ((f64::from(i) + 0.5) / f64::from(4 * n));
                    (spline.derivs(t).p - at(t).0).norm()
                })
                .fold(0.0, |worst, d| if d <= worst { worst } else { d });
            if deviation <= TARGET_DEVIATION || n >= MAX_SAMPLES {
                // NaN is refused as well.
                if !matches!(deviation.partial_cmp(&MAX_DEVIATION), Some(std::cmp::Ordering::Less)) {
                    return bad(
                        r.id,
                        format!(
                            "is a PCURVE that can only be fitted to {deviation:.1e} mm; export the edge with \
                                a 3D curve"
                        ),
                    );
                }
                self.note(
                    r.id,
                    format!(
                        "is the curve of an edge as a PCURVE only; fitted to {deviation:.1e} mm in space"
                    ),
                );
                return Ok(ReadCurve {
                    curve: Curve::Bezier(spline),
                    forward: read.forward,
                    parameter_scale: 1.0,
                });
            }
            n *= 2;
        }
    }

    /// Reads a surface for a face around the points `near`, and returns it with the map from the
    /// parameters of the file to its own.
    fn parametrised(&mut self, id: u64, by: u64, near: &[P3]) -> Res<(Surface, ParameterMap)> {
        let read = self.surface(id, by, Near { points: near, margin: 0.0, edges: &[], surface: id })?;
        let (mm, rad) = (self.units.mm, self.units.rad);
        let r = self.entities.get(id, by)?.flattened();
        let map =
            |u: f64, v: f64, shift: f64| ParameterMap { scale: V2::new(u, v), shift: V2::new(0.0, shift) };
        let map = match (&read.surface, r.name) {
            (Surface::Plane { .. }, "PLANE") => map(mm, mm, 0.0),
            (Surface::Cylinder { .. }, "CYLINDRICAL_SURFACE") => map(rad, mm, 0.0),
            (Surface::Sphere { .. }, "SPHERICAL_SURFACE") => map(rad, rad, 0.0),
            (Surface::Torus { .. }, "TOROIDAL_SURFACE" | "DEGENERATE_TOROIDAL_SURFACE")
                if read.same_normal =>
            {
                map(rad, rad, 0.0)
            }
            (Surface::Cone { frame, half_angle }, "CONICAL_SURFACE") => {
                let written = self.placement(r.reference(1, "position")?, id)?;
                let radius = self.length(&r, 2, "radius")?;
                if written.z.dot(&frame.z) < 0.0 {
                    return bad(
                        by,
                        "is a PCURVE on the far nappe of a cone; export the edge with a 3D curve",
                    );
                }
                map(rad, mm, radius / math::tan(*half_angle))
            }
            (Surface::Bezier(_), _) if super::splines::is_surface(&self.entities.get(id, by)?) => {
                map(1.0, 1.0, 0.0)
            }
            (Surface::Bezier(_), "OFFSET_SURFACE")
                if super::splines::is_surface(&self.entities.get(r.reference(1, "basis_surface")?, id)?) =>
            {
                map(1.0, 1.0, 0.0)
            }
            _ => {
                return bad(by, format!("is a PCURVE on a {}; export the edge with a 3D curve", r.label()));
            }
        };
        Ok((read.surface, map))
    }
}

/// Larger one of the distances (mm) of the two ends of an edge from the curve.
fn miss(curve: &Curve, ends: &[P3; 2]) -> f64 {
    let off = |p: &P3| (curve.point(super::curves::parameter_near(curve, p)) - p).norm();
    off(&ends[0]).max(off(&ends[1]))
}

/// Returns the parameters, on a line or conic in a parameter plane, of the ends of its edge (mm, in
/// space).
fn parameters_at(surface: &Surface, map: &ParameterMap, curve: &Curve, ends: [P3; 2]) -> (f64, f64) {
    let periods = [surface.u_period(), surface.v_period()];
    let shifts = |period: Option<f64>| period.map_or(vec![0.0], |p| vec![0.0, -p, p]);
    let at = |p: &P3| {
        let uv = surface.invert(p, None, None);
        let mut best = (f64::INFINITY, 0.0);
        for du in shifts(periods[0]) {
            for dv in shifts(periods[1]) {
                let w = (uv + V2::new(du, dv) - map.shift).coords.component_div(&map.scale);
                let q = P3::new(w.x, w.y, 0.0);
                let t = super::curves::parameter_near(curve, &q);
                let off = (curve.point(t) - q).norm();
                // Among equally near candidates the first (unshifted) one is kept.
                if off < best.0 - 1e-9 {
                    best = (off, t);
                }
            }
        }
        best.1
    };
    let (t0, mut t1) = (at(&ends[0]), at(&ends[1]));
    if ends[0] == ends[1]
        && let Curve::Line { dir, .. } = curve
    {
        // The line of a closed edge covers one period.
        let along = map.apply_vector(dir);
        let [u, v] = periods.map(|p| p.unwrap_or(f64::INFINITY));
        t1 = t0 + (u / along.x.abs()).min(v / along.y.abs());
    }
    (t0, t1)
}
