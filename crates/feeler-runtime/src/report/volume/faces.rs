//! Volume of the common part of two solids from the parts of their faces that bound it.
//!
//! The boundary of the common part consists of the parts of faces that are inside the other solid. Such a
//! part is bounded, in the parameter plane of its face, by parts of trimming pieces and by crossing curves.
//! Each of these directed pieces contributes to the line integrals of Green's theorem by itself, so that
//! they need not be joined to loops.

use super::path::{Course, CurveSegment, Path, PathIntegral, Sheet};
use crate::body::Body;
use crate::body::side::Which;
use crate::nearest::membership::RayScratch;
use crate::nearest::{NearScratch, signed_foot, tips};
use crate::query::Context;
use crate::report::curves::{FaceCurves, face_curves};
use feeler_geom::mass::{Flux, FluxForm, NUM_FLUX_SUMS};
use feeler_geom::trim::Side;
use feeler_geom::{Aabb, Curve, P2, P3, Surface, V3, math};
use feeler_hierarchy::{Edge, FaceId, Feature, Span};

/// Positions on a path at which it is tested whether the path is inside the other solid; the position
/// farthest from the boundary decides. More of them are slower; with fewer, more paths seem to run along
/// the boundary.
const PROBES: [f64; 5] = [0.5, 0.27, 0.73, 0.08, 0.92];
/// Distance (tolerances) from the boundary of the other solid below which a point counts as on it. With a
/// larger value, more pairs count as flush; with a smaller one, rounding decides.
pub(super) const BOUNDARY_MARGIN: f64 = 4.0;
/// Length of a path, in tolerances, below which it does not matter whether it is inside the other solid.
/// With a larger value, parts of boundaries are lost; with a smaller one, pairs count as flush because of
/// rounding at the end of a curve.
const NEGLIGIBLE_LENGTH: f64 = 100.0;
/// Largest distance of an end of a boundary piece from the start of the next one, as a fraction of the size
/// of the larger solid. With a larger value, wrong boundaries seem closed; with a smaller one, inexact
/// models have no closed boundaries.
const MAX_GAP: f64 = 1e-4;
/// Number of intervals of a path between its samples for the box. A larger value is slower; a smaller one
/// can miss the extreme of a long path.
const BOX_SAMPLES: u32 = 8;
/// Number of samples beside which the extreme of a clipped face is searched. More of them are slower; with
/// fewer, the extreme at the common end of two paths is less exact.
const BOX_CANDIDATES: usize = 4;
/// Number of steps of the search for the extreme of a path, each of which shortens its interval by 0.618.
/// More of them do not improve the box; with fewer, it is less exact.
const BOX_STEPS: u32 = 40;

/// Sums of the integrals over the boundary of the common part, relative to a reference point.
#[derive(Clone, Debug)]
pub(super) struct BoundarySums {
    pub volume: f64,
    /// First moments (mm⁴) along the axes of A.
    pub moment: V3,
    /// Extreme coordinates along the given axes: smallest, then largest.
    pub extremes: [[f64; 3]; 2],
    /// Estimated error (mm³) of the volume.
    pub error: f64,
    /// Whether all parts of the boundary were found, as far as is known. It is not set if faces coincide
    /// or are tangent.
    pub is_sound: bool,
}

/// Integrates over the boundary of the common part of the solids of `ctx`. `reference` is the reference point
/// in the frame of A, `scale` (mm) the diagonal of the overlap's box, and `axes` are the directions (frame of
/// A) along which extremes are computed.
pub(super) fn boundary_sums(ctx: &Context<'_>, reference: &P3, scale: f64, axes: &[V3; 3]) -> BoundarySums {
    let (curves, is_complete) = face_curves(ctx);
    let mut clipper = Clipper {
        ctx,
        curves: &curves,
        reference: *reference,
        scale,
        axes,
        near: NearScratch::default(),
        rays: RayScratch::default(),
        sums: BoundarySums {
            volume: 0.0,
            moment: V3::zeros(),
            extremes: [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]],
            error: 0.0,
            is_sound: is_complete,
        },
        area: V3::zeros(),
    };
    for which in [Which::A, Which::B] {
        for face in 0..ctx.body(which).hierarchy().faces.len() {
            if clipper.clip(which, FaceId::new(face)).is_none() {
                clipper.sums.is_sound = false;
            }
        }
    }
    let Clipper { mut sums, area, .. } = clipper;
    // The vector area of a closed boundary is 0. A missing part of it changes the volume by its vector area
    // times its distance from the reference point, at most half the diagonal.
    sums.error += area.norm() * 0.5 * scale;
    sums.is_sound &= sums.error.is_finite() && sums.volume.is_finite();
    sums
}

struct Clipper<'a> {
    ctx: &'a Context<'a>,
    curves: &'a [FaceCurves<'a>],
    reference: P3,
    scale: f64,
    axes: &'a [V3; 3],
    near: NearScratch,
    rays: RayScratch,
    sums: BoundarySums,
    /// Vector area (mm², frame of A) of the parts so far.
    area: V3,
}

/// End of a directed boundary piece: the point (frame of A) and its parameters on the face.
type PieceEnd = (P3, P2);

/// Directed boundary pieces of a clipped face.
#[derive(Default)]
struct Outline<'a> {
    paths: Vec<Path<'a>>,
    starts: Vec<PieceEnd>,
    ends: Vec<PieceEnd>,
    /// Parameters v at which crossing curves pass the side of the rectangle at the largest u.
    seam: Vec<f64>,
    /// Open ends of crossing curves.
    cuts: Vec<PieceEnd>,
}

impl<'a> Clipper<'a> {
    /// Adds the part of a face inside the other solid. `None` if it cannot be determined.
    fn clip(&mut self, which: Which, f: FaceId) -> Option<()> {
        let ctx = self.ctx;
        let (own, other) = (ctx.body(which), ctx.body(which.other()));
        let sheet = Sheet { ctx, which, face: own.face(f) };
        let slack = ctx.tol.tol + own.deviation();
        let bounds = other.posed_bounds(ctx.pose_to_other(which.other())).inflated(slack);
        if !overlaps(&bounds, &own.data(Feature::Face(f)).bounds) {
            return Some(());
        }
        let mut outline = Outline::default();
        let crossing = self.curves.iter().filter(|c| c.faces.numbers[which as usize] == f);
        let mut is_crossed = false;
        for curves in crossing {
            is_crossed = true;
            let facing = Sheet {
                ctx,
                which: which.other(),
                face: other.face(curves.faces.numbers[which.other() as usize]),
            };
            for trace in &curves.traces {
                outline.add_curve(curves, trace, &sheet, &facing)?;
            }
        }
        if is_crossed {
            self.add_trims(own, &sheet, &mut outline)?;
        } else {
            if !self.is_face_inside(own, &sheet, f)? {
                return Some(());
            }
            for piece in &sheet.face.trim.pieces {
                outline.push(&sheet, Path { course: Course::Trim(piece), range: [0.0, 1.0] })?;
            }
            let u = sheet.rect().u1;
            for (a, b) in sheet.face.trim.right_border() {
                outline.paths.push(Path { course: Course::Side(u), range: [a, b] });
            }
        }
        self.integrate(f, &sheet, &outline)?;
        self.add_extremes(own, &sheet, f, &outline)
    }

    /// Whether a face that no crossing curve passes is inside the other solid. `None` if it seems to be on
    /// the boundary.
    fn is_face_inside(&mut self, own: &Body, sheet: &Sheet<'_>, f: FaceId) -> Option<bool> {
        let areas = own.areas_of(own.data(Feature::Face(f)));
        let samples = areas.iter().filter_map(|&a| sheet.face.trim.sample_inside(&own.area(a).rect));
        for uv in samples.take(PROBES.len()) {
            let p = self.ctx.in_a(sheet.which, &sheet.surface().point(uv));
            if let Some(is_inside) = self.side(sheet.which.other(), &p) {
                return Some(is_inside);
            }
        }
        // Without samples, the face has no area.
        areas.iter().all(|&a| sheet.face.trim.sample_inside(&own.area(a).rect).is_none()).then_some(false)
    }

    /// Signed distance (mm) of a point (frame of A) from the boundary of a solid; negative inside.
    fn signed_distance(&mut self, which: Which, p: &P3) -> f64 {
        let q = self.ctx.in_own(which, p);
        let body = self.ctx.body(which);
        signed_foot(body, &q, &self.ctx.tol, (&mut self.near, &mut self.rays))
            .map_or(f64::INFINITY, |x| x.signed_distance)
    }

    /// Whether a point (frame of A) is inside a solid; `None` if it is on the boundary.
    fn side(&mut self, which: Which, p: &P3) -> Option<bool> {
        let q = self.ctx.in_own(which, p);
        let margin = self.margin(which);
        if !self.ctx.body(which).bounds().inflated(margin).contains(&q) {
            return Some(false);
        }
        let distance = self.signed_distance(which, p);
        (distance.abs() > margin).then_some(distance < 0.0)
    }

    fn margin(&self, which: Which) -> f64 {
        BOUNDARY_MARGIN * self.ctx.tol.tol + self.ctx.body(which).deviation()
    }

    /// Whether a part of a boundary piece is inside the other solid. `None` if it seems to be on the boundary
    /// of it.
    fn is_path_inside(&mut self, sheet: &Sheet<'_>, path: &Path<'_>) -> Option<bool> {
        let [a, b] = path.range;
        for x in PROBES {
            let at = sheet.at(&path.course, a + (b - a) * x)?;
            if let Some(is_inside) = self.side(sheet.which.other(), &at.p) {
                return Some(is_inside);
            }
        }
        let (p, q) = (sheet.at(&path.course, a)?.p, sheet.at(&path.course, b)?.p);
        let m = sheet.at(&path.course, 0.5 * (a + b))?.p;
        let length = (p - m).norm() + (m - q).norm();
        (length <= NEGLIGIBLE_LENGTH * self.margin(sheet.which.other())).then_some(false)
    }

    /// Adds the parts of the trimming pieces and of the seam that are inside the other solid.
    fn add_trims(&mut self, own: &Body, sheet: &Sheet<'a>, outline: &mut Outline<'a>) -> Option<()> {
        let trim = &sheet.face.trim;
        let snap = MAX_GAP * self.ctx.tol.size + own.deviation();
        let mut cuts: Vec<(usize, f64)> =
            outline.cuts.iter().filter_map(|(p, uv)| place_on_trim(sheet, p, *uv, snap)).collect();
        cuts.sort_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)));
        let mut next = 0;
        for (i, piece) in trim.pieces.iter().enumerate() {
            let mut from = 0.0;
            let begin = next;
            while next < cuts.len() && cuts[next].0 == i {
                next += 1;
            }
            for to in cuts[begin..next].iter().map(|c| c.1).chain([1.0]) {
                if to <= from {
                    continue;
                }
                let path = Path { course: Course::Trim(piece), range: [from, to] };
                if self.is_path_inside(sheet, &path)? {
                    outline.push(sheet, path)?;
                }
                from = to;
            }
        }
        let u = sheet.rect().u1;
        outline.seam.sort_by(f64::total_cmp);
        for (a, b) in trim.right_border() {
            let mut from = a;
            let inner: Vec<f64> = outline.seam.iter().copied().filter(|v| a < *v && *v < b).collect();
            for to in inner.into_iter().chain([b]) {
                let path = Path { course: Course::Side(u), range: [from, to] };
                if to > from && self.is_path_inside(sheet, &path)? {
                    outline.paths.push(path);
                }
                from = to;
            }
        }
        Some(())
    }

    /// Integrates along the pieces of an outline, closes the gaps between them, and adds the result to the
    /// sums. `None` if the outline is not closed.
    fn integrate(&mut self, f: FaceId, sheet: &Sheet<'_>, outline: &Outline<'_>) -> Option<()> {
        let reference = self.ctx.in_own(sheet.which, &self.reference);
        let form = FluxForm::new(sheet.surface(), sheet.rect(), &reference);
        let mut integral = PathIntegral {
            sheet: *sheet,
            form: &form,
            scale: self.scale,
            sums: [0.0; NUM_FLUX_SUMS],
            error: 0.0,
        };
        for path in &outline.paths {
            integral.add(path)?;
            if let Some((edge, span)) = edge_of(self.ctx.body(sheet.which), sheet, f, path) {
                let onto_edge = |p: &P3| edge.curve.point(edge.curve.project(p, span.t0, span.t1));
                integral.add_sliver(path, &reference, &onto_edge);
            }
        }
        let max_gap = MAX_GAP * self.ctx.tol.size + self.ctx.body(sheet.which).deviation();
        let gap = close(&mut integral, outline, max_gap);
        let PathIntegral { sums, error, .. } = integral;
        let Flux { volume, moment, area } = form.flux(&sums);
        let sign = if sheet.face.outward { 1.0 } else { -1.0 };
        let turned = |v: V3| sign * if sheet.which == Which::A { v } else { self.ctx.pose_ab * v };
        self.sums.volume += sign * volume;
        self.sums.moment += turned(moment);
        self.area += turned(area);
        // A gap is closed by a straight line, which can deviate from the boundary by its length.
        self.sums.error += error / 3.0 + gap? * self.scale;
        Some(())
    }

    /// Extends the extremes to a point (frame of A).
    fn extend(&mut self, p: &P3) {
        for (k, axis) in self.axes.iter().enumerate() {
            let x = axis.dot(&p.coords);
            let [low, high] = &mut self.sums.extremes;
            (low[k], high[k]) = (low[k].min(x), high[k].max(x));
        }
    }

    /// Extends the extremes to the part of a face with this outline.
    fn add_extremes(
        &mut self,
        own: &Body,
        sheet: &Sheet<'_>,
        f: FaceId,
        outline: &Outline<'_>,
    ) -> Option<()> {
        // Samples of all paths, with the parameters of their neighbours.
        let mut samples: Vec<(P3, &Path<'_>, [f64; 2])> = Vec::new();
        for path in &outline.paths {
            let [a, b] = path.range;
            let at = |i: u32| a + (b - a) * f64::from(i) / f64::from(BOX_SAMPLES);
            for i in 0..=BOX_SAMPLES {
                let range = [at(i.saturating_sub(1)), at((i + 1).min(BOX_SAMPLES))];
                samples.push((sheet.at(&path.course, at(i))?.p, path, range));
            }
        }
        let axes = *self.axes;
        for (k, axis) in axes.iter().flat_map(|e| [*e, -e]).enumerate() {
            // Two paths share their ends, so that the extreme is beside one of the highest samples.
            samples.sort_by(|x, y| axis.dot(&y.0.coords).total_cmp(&axis.dot(&x.0.coords)));
            for (_, path, range) in samples.iter().take(BOX_CANDIDATES) {
                self.extend(&highest(sheet, path, *range, &axis)?);
            }
            for (p, uv) in face_extremes(own, sheet, f, &axis) {
                let [low, high] = &self.sums.extremes;
                let extreme = if k % 2 == 0 { high[k / 2] } else { -low[k / 2] };
                // Most points are below the extreme: spline faces have one in each area.
                if axis.dot(&p.coords) > extreme
                    && is_on_face(sheet, &p, uv)
                    && self.signed_distance(sheet.which.other(), &p) <= self.margin(sheet.which.other())
                {
                    self.extend(&p);
                }
            }
        }
        Some(())
    }
}

fn overlaps(a: &Aabb, b: &Aabb) -> bool {
    (0..3).all(|k| a.min[k] <= b.max[k] && b.min[k] <= a.max[k])
}

impl<'a> Outline<'a> {
    /// Adds a path with its ends.
    fn push(&mut self, sheet: &Sheet<'_>, path: Path<'a>) -> Option<()> {
        let [a, b] = path.range;
        let end = |s: f64| sheet.at(&path.course, s).map(|at| (at.p, at.uv));
        self.starts.push(end(a)?);
        self.ends.push(end(b)?);
        self.paths.push(path);
        Some(())
    }

    /// Adds a traced curve, directed so that the inside of the other solid is on its left, and cut where it
    /// passes the seam of the surface.
    fn add_curve(
        &mut self,
        curves: &'a FaceCurves<'a>,
        trace: &'a crate::report::curves::march::Trace,
        sheet: &Sheet<'a>,
        facing: &Sheet<'a>,
    ) -> Option<()> {
        // Senses at the borders of stretches along which the sense does not change.
        let mut stretches: Vec<(bool, [PieceEnd; 2])> = Vec::new();
        for w in trace.points.windows(2) {
            let segment = CurveSegment { faces: &curves.faces, from: &w[0], to: &w[1] };
            for (range, is_forward) in segment_senses(&segment, sheet, facing)? {
                self.add_segment(&segment, range, is_forward, sheet)?;
                let end = |s: f64| segment.end(s).map(|at| (at.p, sheet.parameters(&at)));
                let to = end(range[1])?;
                match stretches.last_mut() {
                    Some((sense, ends)) if *sense == is_forward => ends[1] = to,
                    _ => stretches.push((is_forward, [end(range[0])?, to])),
                }
            }
        }
        let is_one = stretches.len() == 1;
        for (is_forward, [from, to]) in stretches {
            if trace.closed && is_one {
                continue;
            }
            let (start, end) = if is_forward { (from, to) } else { (to, from) };
            self.starts.push(start);
            self.ends.push(end);
            self.cuts.extend([from, to]);
        }
        Some(())
    }

    /// Adds a part of a segment of a curve, cut where it passes the seam.
    fn add_segment(
        &mut self,
        segment: &CurveSegment<'a>,
        [a, b]: [f64; 2],
        is_forward: bool,
        sheet: &Sheet<'a>,
    ) -> Option<()> {
        let course = Course::Curve(*segment);
        let mut cuts = vec![a];
        if let Some(period) = sheet.face.trim.u_period {
            const STEPS: u32 = 4;
            let at = |s: f64| segment.end(s).map(|p| sheet.parameters(&p));
            let place = |i: u32| a + (b - a) * f64::from(i) / f64::from(STEPS);
            // Just within the ends, which can be on the seam.
            let inner = |i: u32| place(i).clamp(a + 1e-9 * (b - a), b - 1e-9 * (b - a));
            for i in 0..STEPS {
                let (mut lo, mut hi) = (inner(i), inner(i + 1));
                let (u, w) = (at(lo)?, at(hi)?);
                if (u.x - w.x).abs() <= 0.5 * period {
                    continue;
                }
                for _ in 0..50 {
                    let middle = 0.5 * (lo + hi);
                    let m = at(middle)?;
                    if (m.x - u.x).abs() <= 0.5 * period { lo = middle } else { hi = middle }
                }
                cuts.push(hi);
                self.seam.push(at(hi)?.y);
            }
        }
        cuts.push(b);
        for w in cuts.windows(2).filter(|w| w[0] < w[1]) {
            let range = if is_forward { [w[0], w[1]] } else { [w[1], w[0]] };
            self.paths.push(Path { course, range });
        }
        // A curve can also pass the seam at an end of the segment.
        if sheet.face.trim.u_period.is_some() {
            for at in [segment.from, segment.to] {
                let (uv, r) = (sheet.parameters(at), sheet.rect());
                if (uv.x - r.u0).min(r.u1 - uv.x) <= 1e-9 * r.width() {
                    self.seam.push(uv.y);
                }
            }
        }
        Some(())
    }
}

/// Parts of a segment, each with whether the inside of the other solid is on its left. The sense changes
/// where two branches of a crossing curve cross each other.
fn segment_senses(
    segment: &CurveSegment<'_>,
    sheet: &Sheet<'_>,
    facing: &Sheet<'_>,
) -> Option<Vec<([f64; 2], bool)>> {
    const NEAR_END: f64 = 1e-3;
    let sense = |s: f64| segment.sense(sheet, facing, s);
    let (first, last) = (sense(NEAR_END)?, sense(1.0 - NEAR_END)?);
    if (first > 0.0) == (last > 0.0) {
        return Some(vec![([0.0, 1.0], first > 0.0)]);
    }
    let (mut lo, mut hi) = (NEAR_END, 1.0 - NEAR_END);
    for _ in 0..48 {
        let middle = 0.5 * (lo + hi);
        // Without a direction, this is the double point itself.
        let Some(x) = sense(middle) else {
            (lo, hi) = (middle, middle);
            break;
        };
        if (x > 0.0) == (first > 0.0) { lo = middle } else { hi = middle }
    }
    let at = 0.5 * (lo + hi);
    Some(vec![([0.0, at], first > 0.0), ([at, 1.0], last > 0.0)])
}

/// Connects each end of an outline with the nearest free start, and integrates along the connections.
/// Returns the sum of the squares of their lengths (mm²); `None` if a connection is longer than `max_gap`
/// (mm).
fn close(integral: &mut PathIntegral<'_>, outline: &Outline<'_>, max_gap: f64) -> Option<f64> {
    let mut sum = 0.0;
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    let mut order: Vec<usize> = (0..outline.starts.len()).collect();
    order.sort_by(|&i, &j| outline.starts[i].0.x.total_cmp(&outline.starts[j].0.x).then(i.cmp(&j)));
    for (i, (p, _)) in outline.ends.iter().enumerate() {
        let first = order.partition_point(|&j| outline.starts[j].0.x < p.x - max_gap);
        let near = order[first..].iter().take_while(|&&j| outline.starts[j].0.x <= p.x + max_gap);
        pairs.extend(near.map(|&j| ((outline.starts[j].0 - p).norm(), i, j)).filter(|(d, ..)| *d <= max_gap));
    }
    pairs.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    let mut is_free = [vec![true; outline.ends.len()], vec![true; outline.starts.len()]];
    let mut closed = 0;
    for (gap, i, j) in pairs {
        if is_free[0][i] && is_free[1][j] {
            (is_free[0][i], is_free[1][j]) = (false, false);
            integral.add_gap(outline.ends[i].1, outline.starts[j].1);
            sum += gap * gap;
            closed += 1;
        }
    }
    (closed == outline.ends.len() && closed == outline.starts.len()).then_some(sum)
}

/// Edge that a part of a trimming piece approximates, with the span of it, if the surface and the edge have
/// closed forms; `None` for other paths.
fn edge_of<'b>(own: &'b Body, sheet: &Sheet<'_>, f: FaceId, path: &Path<'_>) -> Option<(&'b Edge, Span)> {
    let Course::Trim(piece) = path.course else { return None };
    if !sheet.surface().is_canonical() {
        return None;
    }
    let [a, b] = path.range;
    let p = sheet.surface().point(piece.eval(0.5 * (a + b)));
    let spans = own.edges_of_face(f).iter().map(|&e| own.edge(e)).flat_map(|edge| {
        let is_simple =
            matches!(edge.curve, Curve::Line { .. } | Curve::Circle { .. } | Curve::Ellipse { .. });
        edge.spans.iter().filter(move |_| is_simple).map(move |span| (edge, *span))
    });
    let distance = |(edge, span): &(&Edge, Span)| {
        (edge.curve.point(edge.curve.project(&p, span.t0, span.t1)) - p).norm()
    };
    let near = spans.map(|x| (distance(&x), x)).min_by(|x, y| x.0.total_cmp(&y.0))?;
    (near.0 <= piece.deviation + sheet.ctx.tol.tol).then_some(near.1)
}

/// Trimming piece of a face and its parameter nearest to a point with the parameters `uv`; `None` if all
/// pieces are farther than `snap` (mm).
fn place_on_trim(sheet: &Sheet<'_>, p: &P3, uv: P2, snap: f64) -> Option<(usize, f64)> {
    let trim = &sheet.face.trim;
    let (piece, at, _) = trim.nearest(uv, sheet.surface().metric(uv), snap)?;
    let own = &trim.pieces[piece];
    let middle = own.eval(0.5);
    let shifted = |x: f64, m: f64, period: Option<f64>| period.map_or(x, |t| x - t * ((x - m) / t).round());
    let at = P2::new(shifted(at.x, middle.x, trim.u_period), shifted(at.y, middle.y, trim.v_period));
    // Pieces are monotone, so the coordinate in which the piece is longer in space determines the parameter.
    let [e, _, g] = sheet.surface().metric(uv);
    let d = own.end() - own.start();
    let of_u = e * d.x * d.x >= g * d.y * d.y;
    let (target, rises) = if of_u { (at.x, d.x > 0.0) } else { (at.y, d.y > 0.0) };
    let value = |t: f64| if of_u { own.eval(t).x } else { own.eval(t).y };
    let (mut lo, mut hi) = (0.0, 1.0);
    for _ in 0..52 {
        let t = 0.5 * (lo + hi);
        if (value(t) < target) == rises { lo = t } else { hi = t }
    }
    let t = 0.5 * (lo + hi);
    let q = sheet.ctx.in_a(sheet.which, &sheet.surface().point(own.eval(t)));
    ((q - p).norm() <= 2.0 * snap && t > 1e-12 && t < 1.0 - 1e-12).then_some((piece, t))
}

/// Point of a path (frame of A) that is farthest along `axis`, between two of its parameters, by golden
/// sections.
fn highest(sheet: &Sheet<'_>, path: &Path<'_>, [a, b]: [f64; 2], axis: &V3) -> Option<P3> {
    const RATIO: f64 = 0.618_033_988_749_894_8;
    let at = |s: f64| sheet.at(&path.course, s).map(|at| at.p);
    let height = |p: &P3| axis.dot(&p.coords);
    let (mut a, mut b) = (a, b);
    let mut best = if height(&at(a)?) > height(&at(b)?) { at(a)? } else { at(b)? };
    let (mut s, mut t) = (b - RATIO * (b - a), a + RATIO * (b - a));
    let (mut p, mut q) = (at(s)?, at(t)?);
    for _ in 0..BOX_STEPS {
        if height(&p) > height(&q) {
            (b, t, q) = (t, s, p);
            s = b - RATIO * (b - a);
            p = at(s)?;
        } else {
            (a, s, p) = (s, t, q);
            t = a + RATIO * (b - a);
            q = at(t)?;
        }
        for x in [p, q] {
            if height(&x) > height(&best) {
                best = x;
            }
        }
    }
    Some(best)
}

/// Points (frame of A) of the surface of a face at which its normal is along `axis`: in closed form, or for
/// splines the highest sample of each area, refined, with its parameters. They can be outside the trims.
fn face_extremes(own: &Body, sheet: &Sheet<'_>, f: FaceId, axis: &V3) -> Vec<(P3, Option<P2>)> {
    let e = if sheet.which == Which::A { *axis } else { sheet.ctx.pose_ba * axis };
    let surface = sheet.surface();
    let mut out: Vec<(P3, Option<P2>)> = tips(surface).into_iter().map(|p| (p, None)).collect();
    match surface {
        Surface::Sphere { frame, radius } => out.push((frame.origin + e * *radius, None)),
        Surface::Torus { frame, major, minor } => {
            let local = frame.local_vector(&e);
            let across = math::hypot(local.x, local.y);
            if across > 0.0 {
                let radial = frame.vector(local.x / across, local.y / across, 0.0);
                let circles = [1.0, -1.0].map(|s| frame.origin + radial * (s * *major));
                out.extend(circles.iter().flat_map(|c| [c + e * *minor, c - e * *minor]).map(|p| (p, None)));
            }
        }
        Surface::Bezier(_) => {
            for &area in own.areas_of(own.data(Feature::Face(f))) {
                let (grid, rect) = (own.grid_of(area), own.area(area).rect);
                let at = |k: usize| {
                    let [x, y] = grid.params(k);
                    P2::new(rect.u0 + x * rect.width(), rect.v0 + y * rect.height())
                };
                let height = |uv: P2| e.dot(&surface.point(uv).coords);
                let start = (0..grid.len()).map(at).max_by(|x, y| height(*x).total_cmp(&height(*y)));
                let found = start.and_then(|uv| stationary(surface, uv, &e));
                out.extend(found.map(|uv| (surface.point(uv), Some(uv))));
            }
        }
        _ => {}
    }
    out.into_iter().map(|(p, uv)| (sheet.ctx.in_a(sheet.which, &p), uv)).collect()
}

/// Whether a point (frame of A) of the surface of a face is inside the trims. `uv` are its parameters, if
/// they are known.
fn is_on_face(sheet: &Sheet<'_>, p: &P3, uv: Option<P2>) -> bool {
    let (surface, rect) = (sheet.surface(), sheet.rect());
    let invert = || surface.invert(&sheet.ctx.in_own(sheet.which, p), None, Some(rect));
    let uv = uv.map_or_else(invert, |uv| sheet.wrapped(uv));
    let is_in_rect = rect.u0 <= uv.x && uv.x <= rect.u1 && rect.v0 <= uv.y && uv.y <= rect.v1;
    is_in_rect
        && (sheet.ctx.in_a(sheet.which, &surface.point(uv)) - p).norm() <= sheet.ctx.tol.tol
        && sheet.face.trim.classify(uv) == Side::Inside
}

/// Parameters near `start` at which the normal of a surface is along `e`, by Newton's method; `None` if it
/// does not converge.
fn stationary(surface: &Surface, start: P2, e: &V3) -> Option<P2> {
    let mut uv = start;
    for _ in 0..20 {
        let d = surface.derivs(uv);
        let (gu, gv) = (e.dot(&d.du), e.dot(&d.dv));
        let (a, b, c) = (e.dot(&d.duu), e.dot(&d.duv), e.dot(&d.dvv));
        let det = a * c - b * b;
        let step = P2::new((c * gu - b * gv) / det, (a * gv - b * gu) / det);
        let moved = (d.du * step.x + d.dv * step.y).norm();
        if !moved.is_finite() {
            return None;
        }
        uv = P2::new(uv.x - step.x, uv.y - step.y);
        if moved <= 1e-12 * (1.0 + d.p.coords.norm()) {
            return Some(uv);
        }
    }
    None
}
