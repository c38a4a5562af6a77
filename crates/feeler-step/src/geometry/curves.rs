//! Reads curves of every kind.

use feeler_geom::bezier::{BezierSpline, homogeneous};
use feeler_geom::{Curve, P3, math};

use super::{Geometry, splines};
use crate::entities::{Record, Res, bad};

/// Result of reading a curve.
#[derive(Clone, Debug)]
pub(crate) struct ReadCurve {
    /// Curve as read, with lengths in mm and angles in radians.
    pub(crate) curve: Curve,
    /// Whether `curve` runs in the direction of the curve in the file.
    pub(crate) forward: bool,
    /// Factor from a curve parameter of the file to the parameter of `curve`.
    pub(crate) parameter_scale: f64,
}

impl Geometry<'_> {
    /// Reads the curve `id`, to which the entity `by` refers. For a trimmed curve the basis curve is
    /// returned, because the vertices of an edge determine its ends.
    pub(crate) fn curve(&mut self, id: u64, by: u64) -> Res<ReadCurve> {
        self.deeper(id, |g| g.curve_here(id, by))
    }

    fn curve_here(&mut self, id: u64, by: u64) -> Res<ReadCurve> {
        let r = self.entities.get(id, by)?;
        if splines::is_curve(&r) {
            let spline = self.spline_curve(&r)?;
            return Ok(ReadCurve { curve: Curve::Bezier(spline), forward: true, parameter_scale: 1.0 });
        }
        let r = r.flattened();
        let mut parameter_scale = 1.0;
        let curve = match r.name {
            "LINE" => {
                let origin = self.point(r.reference(1, "pnt")?, id)?;
                let (direction, magnitude) = self.vector(r.reference(2, "dir")?, id)?;
                let dir = direction / direction.norm();
                if magnitude == 0.0 {
                    // An edge needs only the direction of the line.
                    parameter_scale = self.units.mm;
                } else {
                    parameter_scale = magnitude.abs();
                }
                Curve::Line { origin, dir: if magnitude < 0.0 { -dir } else { dir } }
            }
            "CIRCLE" => {
                parameter_scale = self.units.rad;
                let frame = self.placement(r.reference(1, "position")?, id)?;
                Curve::Circle { frame, radius: self.positive_length(&r, 2, "radius")? }
            }
            "ELLIPSE" => {
                parameter_scale = self.units.rad;
                let frame = self.placement(r.reference(1, "position")?, id)?;
                let semi_x = self.positive_length(&r, 2, "semi_axis_1")?;
                let semi_y = self.positive_length(&r, 3, "semi_axis_2")?;
                if (semi_x - semi_y).abs() <= 1e-12 * semi_x {
                    Curve::Circle { frame, radius: semi_x }
                } else {
                    Curve::Ellipse { frame, semi_x, semi_y }
                }
            }
            "PARABOLA" => {
                let frame = self.placement(r.reference(1, "position")?, id)?;
                Curve::Parabola { frame, focal: self.positive_length(&r, 2, "focal_dist")? }
            }
            "HYPERBOLA" => {
                let frame = self.placement(r.reference(1, "position")?, id)?;
                let semi = self.positive_length(&r, 2, "semi_axis")?;
                Curve::Hyperbola { frame, semi, semi_imag: self.positive_length(&r, 3, "semi_imag_axis")? }
            }
            "TRIMMED_CURVE" => {
                let mut basis = self.curve(r.reference(1, "basis_curve")?, id)?;
                if r.logical(4) == Some(false) {
                    basis.forward = !basis.forward;
                }
                return Ok(basis);
            }
            "SURFACE_CURVE" | "SEAM_CURVE" | "INTERSECTION_CURVE" | "BOUNDED_SURFACE_CURVE" => {
                return self.curve(r.reference(1, "curve_3d")?, id);
            }
            "POLYLINE"
            | "COMPOSITE_CURVE"
            | "COMPOSITE_CURVE_ON_SURFACE"
            | "BOUNDARY_CURVE"
            | "OUTER_BOUNDARY_CURVE" => Curve::Bezier(self.bounded(id, by)?),
            _ => {
                return bad(
                    id,
                    format!("is a {}, which is not supported as a curve; export it as a B-spline", r.label()),
                );
            }
        };
        Ok(ReadCurve { curve, forward: true, parameter_scale })
    }

    /// Reads a bounded curve as exact Bézier pieces from its start to its end.
    pub(super) fn bounded(&mut self, id: u64, by: u64) -> Res<BezierSpline> {
        self.deeper(id, |g| {
            let r = g.entities.get(id, by)?;
            if splines::is_curve(&r) {
                return g.spline_curve(&r);
            }
            let r = r.flattened();
            match r.name {
                "TRIMMED_CURVE" => g.trimmed(&r),
                "POLYLINE" => g.polyline(&r),
                "COMPOSITE_CURVE"
                | "COMPOSITE_CURVE_ON_SURFACE"
                | "BOUNDARY_CURVE"
                | "OUTER_BOUNDARY_CURVE" => g.composite(&r),
                "CIRCLE" | "ELLIPSE" => {
                    let read = g.curve(id, by)?;
                    Ok(BezierSpline::of_curve(&read.curve, 0.0, std::f64::consts::TAU))
                }
                "SURFACE_CURVE" | "SEAM_CURVE" | "INTERSECTION_CURVE" | "BOUNDED_SURFACE_CURVE" => {
                    g.bounded(r.reference(1, "curve_3d")?, id)
                }
                _ => bad(
                    id,
                    format!("is a {}; a bounded curve is needed here (referenced by #{by})", r.label()),
                ),
            }
        })
    }

    fn polyline(&mut self, r: &Record<'_>) -> Res<BezierSpline> {
        let mut points = self.points(&r.references(1, "points")?, r.id)?;
        points.dedup();
        if points.len() < 2 {
            return bad(r.id, "is a POLYLINE with fewer than two different points");
        }
        #[expect(clippy::cast_precision_loss, reason = "the counts are small")]
        let breaks = (0..points.len()).map(|i| i as f64).collect();
        let control = points.windows(2).flatten().map(|p| homogeneous(p, 1.0)).collect();
        // A closed polyline would be periodic only without a corner at its start, which practically never
        // occurs.
        Ok(BezierSpline { degree: 1, breaks, control, periodic: false })
    }

    fn trimmed(&mut self, r: &Record<'_>) -> Res<BezierSpline> {
        let basis = self.curve(r.reference(1, "basis_curve")?, r.id)?;
        let by_parameter = r.enumeration(5).as_deref() == Some("PARAMETER");
        let mut ends = [0.0; 2];
        for (k, end) in ends.iter_mut().enumerate() {
            let point = r.any_references(2 + k).next();
            let parameter = r.any_numbers(2 + k).first().copied();
            *end = match (point, parameter) {
                (_, Some(t)) if by_parameter || point.is_none() => t * basis.parameter_scale,
                (Some(p), _) => {
                    let p = self.point(p, r.id)?;
                    parameter_near(&basis.curve, &p)
                }
                (None, _) => return bad(r.id, "is a TRIMMED_CURVE without trimming points"),
            };
        }
        // If the basis curve as read runs against that of the file, only trimming points can be used,
        // not parameters.
        let sense = r.logical(4) != Some(false);
        let [a, b] = if sense { ends } else { [ends[1], ends[0]] };
        let piece = match basis.curve.period() {
            // The curve runs from a to b in the direction of increasing parameters, over a whole period
            // if they are equal.
            Some(period) => {
                let span = math::wrap(b - a, 0.0, period);
                let span = if span <= 1e-12 * period { period } else { span };
                BezierSpline::of_curve(&basis.curve, a, a + span)
            }
            None if a < b => BezierSpline::of_curve(&basis.curve, a, b),
            None if b < a => {
                return Ok(oriented(BezierSpline::of_curve(&basis.curve, b, a), sense != basis.forward));
            }
            None => return bad(r.id, "is a TRIMMED_CURVE without length"),
        };
        Ok(oriented(piece, sense == basis.forward))
    }

    fn composite(&mut self, r: &Record<'_>) -> Res<BezierSpline> {
        let mut pieces = Vec::new();
        for segment_id in r.references(1, "segments")? {
            let segment = self.entities.get(segment_id, r.id)?.flattened();
            let piece = self.bounded(segment.reference(2, "parent_curve")?, segment_id)?;
            pieces.push(oriented(piece, segment.logical(1) != Some(false)));
        }
        let Some(degree) = pieces.iter().map(|p| p.degree).max() else {
            return bad(r.id, "is a COMPOSITE_CURVE without segments");
        };
        let mut joined = BezierSpline { degree, breaks: vec![0.0], control: Vec::new(), periodic: false };
        let mut gap = 0.0_f64;
        for piece in &pieces {
            let piece = piece.elevated(degree);
            if let (Some(last), Some(first)) = (joined.control.last(), piece.control.first()) {
                let ends = [last, first].map(feeler_geom::bezier::dehomogenized);
                gap = gap.max((ends[1] - ends[0]).norm());
            }
            // Every segment covers one unit of the joined parameter.
            let (t0, t1) = piece.range();
            let start = joined.breaks[joined.breaks.len() - 1];
            joined.breaks.extend(piece.breaks[1..].iter().map(|t| start + (t - t0) / (t1 - t0)));
            joined.control.extend(piece.control);
        }
        if gap > 1e-2_f64.max(self.units.uncertainty) {
            return bad(
                r.id,
                format!("is a COMPOSITE_CURVE whose segments are {} apart", feeler_brep::shown_length(gap)),
            );
        }
        joined.periodic = joined.closes_smoothly();
        Ok(joined)
    }
}

/// Returns the spline if `forward`, otherwise the reversed spline over the same parameter range.
fn oriented(spline: BezierSpline, forward: bool) -> BezierSpline {
    if forward {
        return spline;
    }
    let (t0, t1) = spline.range();
    let mut breaks: Vec<f64> = spline.breaks.iter().rev().map(|t| t0 + t1 - t).collect();
    // The ends are set exactly, without rounding.
    let last = breaks.len() - 1;
    (breaks[0], breaks[last]) = (t0, t1);
    BezierSpline { breaks, control: spline.control.iter().rev().copied().collect(), ..spline }
}

/// Returns the parameter of the point of `curve` nearest to `p`, by closed forms or a global search for
/// splines.
pub(super) fn parameter_near(curve: &Curve, p: &P3) -> f64 {
    match curve {
        Curve::Line { origin, dir } => (p - origin).dot(dir),
        Curve::Circle { frame, .. } => {
            let q = frame.local(p);
            math::turn(math::atan2(q.y, q.x))
        }
        Curve::Ellipse { .. } => curve.project(p, 0.0, std::f64::consts::TAU),
        Curve::Parabola { frame, focal } => {
            let t = frame.local(p).y / (2.0 * focal);
            let w = 1.0 + t.abs();
            curve.project(p, t - w, t + w)
        }
        Curve::Hyperbola { frame, semi_imag, .. } => {
            let t = math::asinh(frame.local(p).y / semi_imag);
            curve.project(p, t - 1.0, t + 1.0)
        }
        Curve::Bezier(spline) => {
            let (t0, t1) = spline.range();
            curve.project(p, t0, t1)
        }
    }
}
