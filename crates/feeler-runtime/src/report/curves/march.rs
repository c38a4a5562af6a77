//! Tracing of the intersection curve of two surfaces between the trims of two faces.
//!
//! Points are corrected in space, by Newton's method on the signed distances from both surfaces and from a
//! plane perpendicular to the direction of the step. This method does not use parameters, so poles and
//! seams are ordinary points.

use super::seed::Seed;
use crate::body::ids::FacePair;
use crate::body::side::Which;
use crate::footpoint::trim::on_face;
use crate::query::Context;
use feeler_geom::skeleton::{Primitive, signed_distance_form};
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::{FaceId, Feature};

/// Sine of the angle between the surfaces below which they count as tangent. With a larger value, curves
/// end early; with a smaller one, rounding determines the curves.
const TANGENT_SINE: f64 = 1e-6;
/// Length of a step of Newton's method, as a fraction of the size of the larger solid, at which a point
/// counts as on both surfaces. A larger value is less exact; with a smaller one, Newton's method does not
/// converge.
const CONVERGED_STEP: f64 = 1e-12;
/// Sine of the angle between the surfaces below which the curve may turn by only a small angle in one
/// step ([`MIN_TURN_COS_AT_SMALL_SINE`]), because points of a neighbouring curve are then nearly on both
/// surfaces. A larger value is slower; with a smaller one, the tracing jumps to another curve.
const SMALL_SINE: f64 = 0.02;
/// Smallest accepted ratio of the smallest to the largest sine of the angle between the surfaces at the
/// points measured on one segment; below it, the segment is shortened, because another curve may be
/// near. A larger value is slower; with a smaller one, the tracing jumps to another curve.
const MIN_SINE_RATIO: f64 = 0.4;
/// Sine of the angle between the surfaces below which curves count as crossing each other, so that
/// [`MIN_SINE_RATIO`] does not apply. With a larger value, curves that nearly touch are joined; with a
/// smaller one, the intersection of two equal cylinders ends at their double points.
const CROSSING_SINE: f64 = 4e-5;
/// Maximum number of steps of Newton's method for one point of a curve. A larger value takes longer to
/// detect that no point exists; a smaller one loses points at which the surfaces intersect at small
/// angles.
const MAX_NEWTON_STEPS: usize = 24;
/// Cosine of the largest change of the curve's direction in one step. A larger value takes smaller steps,
/// a smaller one coarser ones.
const MIN_TURN_COS: f64 = 0.85;
/// Replaces [`MIN_TURN_COS`] where the sine of the angle between the surfaces is below [`SMALL_SINE`]. A
/// larger value takes smaller steps; with a smaller one, the tracing jumps to another curve.
const MIN_TURN_COS_AT_SMALL_SINE: f64 = 0.998;
/// Largest deviation of the curve from a segment at the measured points, as a fraction of the accepted
/// chord error. With a larger value, the chord error can be exceeded between these points; a smaller one
/// adds vertices.
const MAX_MEASURED_DEVIATION: f64 = 0.8;
/// Length as a fraction of the size of the larger solid: the tracing ends as tangent if steps become
/// shorter than a tenth of it, and a seed is tested at this distance in each direction of its curve.
/// With a larger value, parts of curves are omitted; a smaller one is slower.
const MIN_STEP: f64 = 1e-6;
/// Distance, as a fraction of the size of the larger solid, below which points of a curve are the same.
/// With a larger value, curves close early; with a smaller one, they never close.
const SAME_POINT_DISTANCE: f64 = 1e-8;

/// One of the two faces, with the closed form of its surface.
struct Sheet {
    which: Which,
    face: FaceId,
    /// Closed form of the face's surface in the frame of A, if it has one.
    primitive: Option<Primitive>,
}

/// Two faces that can intersect.
pub(crate) struct Faces<'a> {
    pub ctx: &'a Context<'a>,
    /// Faces of A and of B.
    pub numbers: FacePair,
    sheets: [Sheet; 2],
    /// Largest step (mm) along a traced curve.
    pub max_step: f64,
}

/// A point of the curve, in the frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub p: P3,
    /// Unit tangent of the curve at the point, in one of its two directions.
    pub t: V3,
    /// Sine of the angle between the two surfaces at the point.
    pub sine: f64,
    /// Parameters of the point on both surfaces, the starting values for nearby points. They are kept for
    /// free-form surfaces only.
    pub uv: [P2; 2],
}

/// Start of the tracing of a curve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    at: Point,
    /// Unit tangent at `at`, in the direction in which the curve is inside both faces.
    t: V3,
    /// A point of the curve inside both faces, near `at` in the direction `t`.
    pub beside: P3,
    /// Whether the curve is inside both faces in the opposite direction, too.
    both: bool,
}

/// Reason why the tracing of a curve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The curve returned to its first point.
    Closed,
    /// The curve reached a trim of one of the faces.
    Trim,
    /// The surfaces are tangent, or the curve could not be followed.
    Tangent,
    /// The maximum number of vertices was reached.
    Full,
}

/// Polyline of a curve in the frame of A. A closed polyline ends with its first point.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    pub points: Vec<Point>,
    pub closed: bool,
    /// Largest distance (mm) of the curve from the polyline at the points where it was measured.
    sag: f64,
}

impl Trace {
    /// Whether `start`, which was found from another seed of the same faces, lies on this curve.
    pub(super) fn contains(&self, faces: &Faces<'_>, start: &Start) -> bool {
        let p = &start.beside;
        let size = faces.ctx.tol.size;
        let near = 1.5 * self.sag + SAME_POINT_DISTANCE * size;
        self.points.windows(2).any(|w| {
            let (from, to) = (w[0].p, w[1].p);
            let d = to - from;
            let s = ((p - from).dot(&d) / d.norm_squared()).clamp(0.0, 1.0);
            let on = from + d * s;
            // Another curve can be within the chord error of the polyline, so the point must be on this
            // curve. Near tangent points all curves count as one.
            (p - on).norm() <= near
                && ((p - on).norm() <= SAME_POINT_DISTANCE * size
                    || start.at.sine < SMALL_SINE
                    || faces
                        .onto(&on, Some(&d), [P2::origin(); 2])
                        .is_none_or(|q| (q.p - p).norm() <= 10.0 * SAME_POINT_DISTANCE * size))
        })
    }
}

impl<'a> Faces<'a> {
    pub(super) fn new(ctx: &'a Context<'a>, numbers: FacePair) -> Self {
        let sheet = |which: Which, face: FaceId| Sheet {
            which,
            face,
            primitive: ctx.primitive(which, Feature::Face(face)),
        };
        let extent = |which: Which, face: FaceId| ctx.body(which).data(Feature::Face(face)).extent;
        let [a, b] = numbers;
        Self {
            ctx,
            numbers,
            sheets: [sheet(Which::A, a), sheet(Which::B, b)],
            max_step: 0.25 * extent(Which::A, a).min(extent(Which::B, b)),
        }
    }

    fn size(&self) -> f64 {
        self.ctx.tol.size
    }

    /// Returns the signed distance (mm) of the point `p` (frame of A) from a surface, the unit normal at
    /// its footpoint, and the parameters of the footpoint. For surfaces with a closed form, the given
    /// parameters `uv` are returned. `None` on the focal set of the surface.
    fn distance(&self, sheet: &Sheet, p: &P3, uv: P2) -> Option<(f64, V3, P2)> {
        if let Some(primitive) = &sheet.primitive {
            let form = signed_distance_form(primitive, p)?;
            return Some((form.value, form.gradient, uv));
        }
        let ctx = self.ctx;
        let is_a = sheet.which == Which::A;
        let q = if is_a { *p } else { ctx.pose_ba * p };
        let surface = &ctx.body(sheet.which).face(sheet.face).surface;
        let uv = surface.invert(&q, Some(uv).filter(|uv| *uv != P2::origin()), None);
        let n = surface.normal(uv);
        let value = (q - surface.point(uv)).dot(&n);
        Some((value, if is_a { n } else { ctx.pose_ab * n }, uv))
    }

    /// Returns a point of the intersection curve near the point `p` (frame of A). With `along` the point is
    /// in the plane through `p` perpendicular to `along`; without it, Newton's steps are the shortest
    /// possible, so the point is close to the nearest one. `uv` are the start parameters. `None` if Newton's
    /// method fails or the surfaces are tangent there.
    pub(crate) fn onto(&self, p: &P3, along: Option<&V3>, mut uv: [P2; 2]) -> Option<Point> {
        let (mut q, mut last) = (*p, f64::INFINITY);
        for _ in 0..MAX_NEWTON_STEPS {
            let (fa, na, ua) = self.distance(&self.sheets[0], &q, uv[0])?;
            let (fb, nb, ub) = self.distance(&self.sheets[1], &q, uv[1])?;
            uv = [ua, ub];
            let cross = na.cross(&nb);
            let sine = cross.norm();
            if sine < TANGENT_SINE {
                return None;
            }
            let t = along.and_then(|d| d.try_normalize(0.0)).unwrap_or(cross / sine);
            let det = t.dot(&cross);
            if det.abs() < 1e-3 * sine {
                return None;
            }
            if last <= CONVERGED_STEP * self.size() {
                return Some(Point { p: q, t: cross / sine, sine, uv });
            }
            let back = along.map_or(0.0, |_| (p - q).dot(&t));
            let step = (nb.cross(&t) * -fa + t.cross(&na) * -fb + cross * back) / det;
            q += step;
            last = step.norm();
            if !last.is_finite() || (q - p).norm() > self.size() {
                return None;
            }
        }
        None
    }

    /// Whether a point of the curve is inside or on the trims of both faces.
    fn inside(&self, at: &Point) -> bool {
        let ctx = self.ctx;
        self.sheets.iter().zip(at.uv).all(|(sheet, hint)| {
            let q = if sheet.which == Which::A { at.p } else { ctx.pose_ba * at.p };
            let face = ctx.body(sheet.which).face(sheet.face);
            let hint = Some(hint).filter(|_| sheet.primitive.is_none());
            let uv = face.surface.invert(&q, hint, Some(&face.trim.rect));
            (face.surface.point(uv) - q).norm() <= ctx.tol.trim && on_face(face, uv, 0.0, &ctx.tol)
        })
    }

    /// Returns the starts of the tracing from a seed: one for each direction in which the curve is inside
    /// both faces, or a single one for both directions if the seed itself is inside.
    pub(super) fn starts(&self, seed: &Seed) -> Vec<Start> {
        let Some(at) = self.onto(&seed.p, None, seed.uv) else { return Vec::new() };
        let reach = MIN_STEP * self.size();
        let mut out = Vec::new();
        for t in [at.t, -at.t] {
            let Some(beside) = self.onto(&(at.p + t * reach), Some(&t), at.uv) else { continue };
            if self.inside(&beside) {
                // The distance of a seed from its trim grows if the surfaces are almost parallel.
                let first = if self.inside(&at) { at } else { self.border(&beside, &at.p) };
                out.push(Start { at: first, t, beside: beside.p, both: false });
            }
        }
        if out.len() == 2 && self.inside(&at) {
            out.truncate(1);
            out[0].both = true;
        }
        out
    }

    /// Traces the curve from `start`, in both directions if [`Start::both`] is set. Returns the
    /// polyline, and the reason for the end of the tracing in each direction that was traced. `stops`
    /// are points at which edges pass through the other face, and `chord` (mm) is the accepted distance
    /// of the curve from the polyline. `left` is the number of vertices that may still be added, which
    /// is reduced by those added here.
    pub(super) fn trace(
        &self,
        start: &Start,
        stops: &[P3],
        chord: f64,
        left: &mut usize,
    ) -> (Trace, Vec<End>) {
        let mut trace = Trace { points: vec![start.at], closed: false, sag: 0.0 };
        let mut ends = vec![self.follow(start, start.t, stops, chord, left, &mut trace)];
        trace.closed = ends[0] == End::Closed;
        if start.both && !trace.closed {
            trace.points.reverse();
            let end = self.follow(start, -start.t, stops, chord, left, &mut trace);
            trace.points.reverse();
            ends.push(end);
        }
        (trace, ends)
    }

    /// Traces the curve from a start in the direction `direction`, appends its points to `trace`, and
    /// returns the reason for the end. The other arguments are those of [`Faces::trace`].
    fn follow(
        &self,
        start: &Start,
        direction: V3,
        stops: &[P3],
        chord: f64,
        left: &mut usize,
        trace: &mut Trace,
    ) -> End {
        let (mut at, mut t) = (start.at, direction);
        let mut step = self.max_step.min(4.0 * chord.max(MIN_STEP * self.size()));
        let first = trace.points.len();
        loop {
            if *left == 0 {
                return End::Full;
            }
            let Some(segment) = self.segment(&at, &t, step, chord) else {
                step *= 0.5;
                if step < 0.1 * MIN_STEP * self.size() {
                    return End::Tangent;
                }
                continue;
            };
            trace.sag = trace.sag.max(segment.sag);
            if let Some(end) = self.exit(&segment, stops) {
                if (end.p - at.p).norm() > 0.0 {
                    trace.points.push(end);
                }
                return End::Trim;
            }
            // The curve is closed if the segment passes through the start.
            let d = segment.end.p - at.p;
            let s = (start.at.p - at.p).dot(&d) / d.norm_squared();
            let begins = trace.points.len() > first || first > 1;
            if begins && s > 1e-9 && s <= 1.0 + 1e-9 {
                let on = self.onto(&(at.p + d * s), Some(&d), at.uv);
                if on.is_some_and(|on| (on.p - start.at.p).norm() <= SAME_POINT_DISTANCE * self.size()) {
                    trace.points.push(start.at);
                    return End::Closed;
                }
            }
            trace.points.push(segment.end);
            *left -= 1;
            at = segment.end;
            t = segment.t;
            // The deviation grows with the square of the step.
            let grow = (0.8 * MAX_MEASURED_DEVIATION * chord / segment.sag).sqrt();
            step = (step * grow.clamp(0.3, 2.0)).min(self.max_step);
        }
    }

    /// Returns the segment of the polyline from the point `from` in the direction `t` over about the
    /// length `step` (mm). `None` if the curve changes its direction too much over it, or if its distance
    /// from the segment exceeds the accepted chord error `chord` (mm).
    fn segment(&self, from: &Point, t: &V3, step: f64, chord: f64) -> Option<Segment> {
        let to = from.p + t * step;
        let end = self.onto(&to, Some(t), from.uv)?;
        let d = end.p - from.p;
        let onward = if end.t.dot(&d) < 0.0 { -end.t } else { end.t };
        let unit = d.try_normalize(0.0)?;
        let turn =
            if from.sine.min(end.sine) < SMALL_SINE { MIN_TURN_COS_AT_SMALL_SINE } else { MIN_TURN_COS };
        if (end.p - to).norm() > 0.5 * step
            || onward.dot(t) < turn
            || unit.dot(t) < turn
            || unit.dot(&onward) < turn
        {
            return None;
        }
        let mut sag = 0.0_f64;
        let [mut min_sine, mut max_sine] = [from.sine.min(end.sine), from.sine.max(end.sine)];
        for s in [0.25, 0.5, 0.75] {
            let on = from.p + d * s;
            let between = self.onto(&on, Some(&d), from.uv)?;
            sag = sag.max((between.p - on).norm());
            if between.t.dot(&unit).abs() < turn {
                return None;
            }
            min_sine = min_sine.min(between.sine);
            max_sine = max_sine.max(between.sine);
        }
        if min_sine > CROSSING_SINE && min_sine < MIN_SINE_RATIO * max_sine {
            return None;
        }
        (sag <= MAX_MEASURED_DEVIATION * chord).then_some(Segment { from: *from, end, t: onward, sag })
    }

    /// Bisects for the point at which the curve leaves one of the faces, between the point `inside` of
    /// both faces and the point `beyond` outside (frame of A).
    fn border(&self, inside: &Point, beyond: &P3) -> Point {
        let d = beyond - inside.p;
        let (mut best, mut low, mut high) = (*inside, 0.0, 1.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            match self.onto(&(inside.p + d * middle), Some(&d), inside.uv).filter(|p| self.inside(p)) {
                Some(p) => (best, low) = (p, middle),
                None => high = middle,
            }
        }
        best
    }

    /// Returns the point (frame of A) at which the curve leaves one of the faces within a segment; `None`
    /// if it does not. `stops` are points at which edges pass through the other face.
    fn exit(&self, segment: &Segment, stops: &[P3]) -> Option<Point> {
        let d = segment.end.p - segment.from.p;
        let at = |s: f64| self.onto(&(segment.from.p + d * s), Some(&d), segment.from.uv);
        let mut samples = vec![0.25, 0.5, 0.75, 1.0];
        // Samples before and after each point at which an edge passes.
        let near = 2.0 * segment.sag + 10.0 * SAME_POINT_DISTANCE * self.size();
        let mut cuts: Vec<f64> = stops
            .iter()
            .map(|p| ((p - segment.from.p).dot(&d) / d.norm_squared(), p))
            .filter(|(s, p)| *s > 0.0 && *s < 1.0 && (segment.from.p + d * *s - **p).norm() <= near)
            .map(|(s, _)| s)
            .collect();
        cuts.extend([0.0, 1.0]);
        cuts.sort_by(f64::total_cmp);
        samples.extend(cuts.windows(2).map(|w| 0.5 * (w[0] + w[1])));
        samples.sort_by(f64::total_cmp);
        let mut inside = 0.0;
        for s in samples {
            if at(s).is_some_and(|p| self.inside(&p)) {
                inside = s;
                continue;
            }
            let last = at(inside).unwrap_or(segment.from);
            return Some(self.border(&last, &(segment.from.p + d * s)));
        }
        None
    }
}

/// Segment of a polyline.
struct Segment {
    from: Point,
    end: Point,
    /// Unit tangent of the curve at the end of the segment.
    t: V3,
    /// Largest distance (mm) of the curve from the segment at the points where it was measured.
    sag: f64,
}
