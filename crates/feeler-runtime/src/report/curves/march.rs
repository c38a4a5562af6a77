//! Following a curve of two surfaces, between the trims of two faces.
//!
//! Points are corrected in space: Newton's method on the signed distances from both surfaces and a plane
//! across the way. It needs no parameters, and a pole or a seam is like any other place.

use super::seed::Seed;
use crate::body::ids::FacePair;
use crate::body::side::Which;
use crate::footpoint::trim::on_face;
use crate::query::Context;
use feeler_geom::skeleton::{Primitive, signed_distance_form};
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::{FaceId, Feature};

/// Sine of the angle between the surfaces below which they are tangent.
const TANGENT: f64 = 1e-6;
/// Distance (relative to the size) at which a point is on both surfaces.
const ON_BOTH: f64 = 1e-12;
/// Sine of that angle below which curves nearby are not told apart.
const BLURRED: f64 = 0.02;
/// Curves that come near each other are told apart by small steps: over a side that sine changes by no more
/// than this factor, unless it falls below the limit at which they are taken to meet.
const SINE_CHANGE: f64 = 0.4;
const MEETING: f64 = 4e-5;
/// Steps of Newton's method.
const NEWTON: usize = 24;
/// Largest turn of the direction in one step (cosine).
const TURN: f64 = 0.85;
/// The same where curves may meet.
const TURN_NEAR: f64 = 0.998;
/// Part of the chord error that the measured places of a side may have.
const MEASURED: f64 = 0.8;
/// Smallest step, and the way from a seed at which a side of it is looked at, relative to the size.
const LEAST_STEP: f64 = 1e-6;
/// Distance (relative to the size) of points of one curve that are one.
const SAME: f64 = 1e-8;

/// A surface with its face.
struct Sheet {
    which: Which,
    face: FaceId,
    /// The closed form in the frame of A, if there is one.
    primitive: Option<Primitive>,
}

/// Two faces that may cross.
pub(super) struct Faces<'a> {
    pub ctx: &'a Context<'a>,
    /// Of A and of B.
    pub numbers: FacePair,
    sheets: [Sheet; 2],
    /// Longest step (mm).
    pub most: f64,
}

/// A point of the curve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub p: P3,
    /// Unit tangent, in either sense.
    pub t: V3,
    /// Sine of the angle between the surfaces.
    pub sine: f64,
    /// Parameters on both surfaces, to start from nearby.
    uv: [P2; 2],
}

/// Where to follow a curve from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    at: Point,
    /// Into both faces.
    t: V3,
    /// A point of the curve inside both, a little from there.
    pub beside: P3,
    /// It goes on the other way, too.
    both: bool,
}

/// How a curve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Closed,
    Trim,
    Tangent,
    Full,
}

/// A polyline, frame of A; a closed one ends with its first point.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub points: Vec<P3>,
    pub closed: bool,
    /// Largest measured distance (mm) of the curve from it.
    sag: f64,
}

impl Trace {
    /// Whether a point of some curve of the same faces is on this one.
    pub(super) fn holds(&self, faces: &Faces<'_>, start: &Start) -> bool {
        let p = &start.beside;
        let size = faces.ctx.tol.size;
        let near = 1.5 * self.sag + SAME * size;
        self.points.windows(2).any(|w| {
            let d = w[1] - w[0];
            let s = ((p - w[0]).dot(&d) / d.norm_squared()).clamp(0.0, 1.0);
            let on = w[0] + d * s;
            // Another curve may be as near as the chord error allows; but where curves meet in a tangent
            // point all are one.
            (p - on).norm() <= near
                && ((p - on).norm() <= SAME * size
                    || start.at.sine < BLURRED
                    || faces
                        .onto(&on, Some(&d), [P2::origin(); 2])
                        .is_none_or(|q| (q.p - p).norm() <= 10.0 * SAME * size))
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
            most: 0.25 * extent(Which::A, a).min(extent(Which::B, b)),
        }
    }

    fn size(&self) -> f64 {
        self.ctx.tol.size
    }

    /// Signed distance from a surface, unit normal and parameters (those given where none are needed).
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

    /// The point of both surfaces near `p`: in the plane across `along` through `p`, or the nearest one.
    pub(super) fn onto(&self, p: &P3, along: Option<&V3>, mut uv: [P2; 2]) -> Option<Point> {
        let (mut q, mut last) = (*p, f64::INFINITY);
        for _ in 0..NEWTON {
            let (fa, na, ua) = self.distance(&self.sheets[0], &q, uv[0])?;
            let (fb, nb, ub) = self.distance(&self.sheets[1], &q, uv[1])?;
            uv = [ua, ub];
            let cross = na.cross(&nb);
            let sine = cross.norm();
            if sine < TANGENT {
                return None;
            }
            let t = along.and_then(|d| d.try_normalize(0.0)).unwrap_or(cross / sine);
            let det = t.dot(&cross);
            if det.abs() < 1e-3 * sine {
                return None;
            }
            if last <= ON_BOTH * self.size() {
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

    /// Whether a point of the curve is on both faces; on a trim counts.
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

    /// Ways from a seed into both faces.
    pub(super) fn starts(&self, seed: &Seed) -> Vec<Start> {
        let Some(at) = self.onto(&seed.p, None, seed.uv) else { return Vec::new() };
        let reach = LEAST_STEP * self.size();
        let mut out = Vec::new();
        for t in [at.t, -at.t] {
            let Some(beside) = self.onto(&(at.p + t * reach), Some(&t), at.uv) else { continue };
            if self.inside(&beside) {
                // What a seed is off its trim grows where the surfaces are almost parallel.
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

    /// The curve from a start. `stops` are where edges pass, `left` the vertices that may still be made.
    pub(super) fn trace(
        &self,
        start: &Start,
        stops: &[P3],
        chord: f64,
        left: &mut usize,
    ) -> (Trace, Vec<End>) {
        let mut trace = Trace { points: vec![start.at.p], closed: false, sag: 0.0 };
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
        let mut step = self.most.min(4.0 * chord.max(LEAST_STEP * self.size()));
        let first = trace.points.len();
        loop {
            if *left == 0 {
                return End::Full;
            }
            let Some(side) = self.side(&at, &t, step, chord) else {
                step *= 0.5;
                if step < 0.1 * LEAST_STEP * self.size() {
                    return End::Tangent;
                }
                continue;
            };
            trace.sag = trace.sag.max(side.sag);
            if let Some(end) = self.exit(&side, stops) {
                if (end - at.p).norm() > 0.0 {
                    trace.points.push(end);
                }
                return End::Trim;
            }
            // Round to where it began.
            let d = side.end.p - at.p;
            let s = (start.at.p - at.p).dot(&d) / d.norm_squared();
            let begins = trace.points.len() > first || first > 1;
            if begins && s > 1e-9 && s <= 1.0 + 1e-9 {
                let on = self.onto(&(at.p + d * s), Some(&d), at.uv);
                if on.is_some_and(|on| (on.p - start.at.p).norm() <= SAME * self.size()) {
                    trace.points.push(start.at.p);
                    return End::Closed;
                }
            }
            trace.points.push(side.end.p);
            *left -= 1;
            at = side.end;
            t = side.t;
            // The error grows with the square of the step.
            let grow = (0.8 * MEASURED * chord / side.sag).sqrt();
            step = (step * grow.clamp(0.3, 2.0)).min(self.most);
        }
    }

    /// A side of the polyline, when the curve turns little over it and stays within the chord error.
    fn side(&self, from: &Point, t: &V3, step: f64, chord: f64) -> Option<Side> {
        let to = from.p + t * step;
        let end = self.onto(&to, Some(t), from.uv)?;
        let d = end.p - from.p;
        let onward = if end.t.dot(&d) < 0.0 { -end.t } else { end.t };
        let unit = d.try_normalize(0.0)?;
        let turn = if from.sine.min(end.sine) < BLURRED { TURN_NEAR } else { TURN };
        if (end.p - to).norm() > 0.5 * step
            || onward.dot(t) < turn
            || unit.dot(t) < turn
            || unit.dot(&onward) < turn
        {
            return None;
        }
        let mut sag = 0.0_f64;
        let [mut least, mut most] = [from.sine.min(end.sine), from.sine.max(end.sine)];
        for s in [0.25, 0.5, 0.75] {
            let on = from.p + d * s;
            let between = self.onto(&on, Some(&d), from.uv)?;
            sag = sag.max((between.p - on).norm());
            if between.t.dot(&unit).abs() < turn {
                return None;
            }
            least = least.min(between.sine);
            most = most.max(between.sine);
        }
        if least > MEETING && least < SINE_CHANGE * most {
            return None;
        }
        (sag <= MEASURED * chord).then_some(Side { from: *from, end, t: onward, sag })
    }

    /// Where the curve leaves one of the faces on the way from a point of both to one beyond.
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

    /// Where the curve leaves one of the faces on the way along a side.
    fn exit(&self, side: &Side, stops: &[P3]) -> Option<P3> {
        let d = side.end.p - side.from.p;
        let at = |s: f64| self.onto(&(side.from.p + d * s), Some(&d), side.from.uv);
        let mut places = vec![0.25, 0.5, 0.75, 1.0];
        // Beyond and before each edge that passes.
        let near = 2.0 * side.sag + 10.0 * SAME * self.size();
        let mut cuts: Vec<f64> = stops
            .iter()
            .map(|p| ((p - side.from.p).dot(&d) / d.norm_squared(), p))
            .filter(|(s, p)| *s > 0.0 && *s < 1.0 && (side.from.p + d * *s - **p).norm() <= near)
            .map(|(s, _)| s)
            .collect();
        cuts.extend([0.0, 1.0]);
        cuts.sort_by(f64::total_cmp);
        places.extend(cuts.windows(2).map(|w| 0.5 * (w[0] + w[1])));
        places.sort_by(f64::total_cmp);
        let mut inside = 0.0;
        for s in places {
            if at(s).is_some_and(|p| self.inside(&p)) {
                inside = s;
                continue;
            }
            let last = at(inside).unwrap_or(side.from);
            return Some(self.border(&last, &(side.from.p + d * s)).p);
        }
        None
    }
}

/// One side of a polyline.
struct Side {
    from: Point,
    end: Point,
    /// Unit direction at its end.
    t: V3,
    /// Largest measured distance of the curve from it.
    sag: f64,
}
