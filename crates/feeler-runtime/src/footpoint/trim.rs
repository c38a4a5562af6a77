//! Location of footpoints on their features: parameters of a point, trimmed domains, spans.
//!
//! A point counts as on the feature if it is inside the feature's border, or outside by at most the
//! measured deviation of the trim there plus rounding. A footpoint in the gap between a face and its
//! edge is thus found by the face, by the edge, or by both, and deduplication keeps one of them.
//!
//! # Source
//! BREP §4.4.1, MATH §6.

use crate::api::contact::{FeatureKind, FeatureRef};
use crate::api::tolerance::Tolerances;
use crate::body::edge_normals::{EdgeNormals, edge_normals};
use crate::body::{Body, outward_normal};
use crate::nearest::foot_on_face;
use feeler_geom::trim::{Side as TrimSide, TrimCells};
use feeler_geom::{Curve, P2, P3, Surface, SurfaceDerivs, V3, math};
use feeler_hierarchy::{Edge, EdgeId, Face, FaceId, Feature, Span};
use nalgebra::Vector2;

/// A footpoint that lies on its feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Located {
    /// Feature and parameters of the footpoint. For a face, the source is not set yet ([`with_source`]
    /// sets it).
    pub place: FeatureRef,
    /// Deviation (mm) of the trim of a face, of the span of an edge, or of the vertex on which the
    /// footpoint lies; the footpoint is uncertain by it. It is 0 in the interior of a face.
    pub slack: f64,
    /// Whether the footpoint lies on a trim of its face; `false` on edges and vertices.
    pub border: bool,
    /// Whether the footpoint lies beyond a concave edge of its face, or beyond an end of its edge.
    pub is_beside: bool,
}

/// Location of a footpoint in the trimmed domain of its face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InDomain {
    /// Deviation (mm) of the trim that the footpoint lies on; 0 in the interior of the face.
    pub slack: f64,
    /// Whether the footpoint lies on a trim.
    pub border: bool,
}

impl InDomain {
    /// Location of a footpoint in the interior of the domain.
    pub(crate) const INSIDE: Self = Self { slack: 0.0, border: false };
}

/// Locates the footpoint `p` (frame of the solid) on a face. `n` is the outward normal that the face
/// must have there. `hint` are the parameters of `p`, and `known` is its location in the domain, if they
/// are known.
///
/// Returns `None` if the point is off the surface, on the wrong sheet, or outside the trims. Footpoints
/// beyond a concave edge by at most `beside` (mm) count as on the face, because a part that is pressed into
/// a corner is pressed into both of its faces.
pub(crate) fn locate_on_face(
    body: &Body,
    face: FaceId,
    (p, n): (&P3, &V3),
    (hint, known): (Option<P2>, Option<InDomain>),
    beside: f64,
    tol: &Tolerances,
) -> Option<Located> {
    let data = body.face(face);
    let uv = hint.unwrap_or_else(|| data.surface.invert(&beside_apex(&data.surface, p, n, tol), None, None));
    // On another nappe or sheet of the same surface, the inverted point is elsewhere or has the opposite
    // normal. A pair whose face has a different normal is not critical.
    let derivs = data.surface.derivs(uv);
    if (derivs.p - p).norm() > tol.trim {
        return None;
    }
    let normal = outward_normal(data, uv);
    if (normal - n).norm() > tol.critical {
        return None;
    }
    let metric = metric(&derivs);
    let in_domain = || domain_slack(data, uv, &metric, body.data(Feature::Face(face)).deviation, tol);
    let inside = known.or_else(in_domain);
    if inside.is_none() && !is_in_corner(body, face, uv, metric, beside) {
        return None;
    }
    let InDomain { slack, border } = inside.unwrap_or(InDomain::INSIDE);
    let place = FeatureRef { kind: FeatureKind::Face, index: face.0, source: 0, uv: [uv.x, uv.y] };
    Some(Located { place, slack, border, is_beside: inside.is_none() })
}

/// Returns a point of a surface next to its point `p` at which the surface has the normal `n` and a finite
/// curvature. It is `p` itself, except at the apex of a cone, where all rulings end: there it is the point
/// of the ruling with this normal, at half of `tol.trim` from the apex.
fn beside_apex(surface: &Surface, p: &P3, n: &V3, tol: &Tolerances) -> P3 {
    let Surface::Cone { frame, .. } = surface else { return *p };
    if (p - frame.origin).norm() > 0.5 * tol.trim {
        return *p;
    }
    let ruling = (frame.z - n * n.dot(&frame.z)).try_normalize(f64::MIN_POSITIVE);
    ruling.map_or(*p, |ruling| frame.origin + ruling * (0.5 * tol.trim))
}

/// Adds the source face to a reference to a footpoint. [`locate_on_face`] omits it because finding it
/// searches all sources of a face.
pub(crate) fn with_source(body: &Body, place: &FeatureRef) -> FeatureRef {
    match place.kind {
        FeatureKind::Face => {
            let source = source_of(body.face(FaceId(place.index)), P2::new(place.uv[0], place.uv[1]));
            FeatureRef { source, ..*place }
        }
        FeatureKind::Edge | FeatureKind::Vertex => *place,
    }
}

/// Reference to a face with the parameters of its point nearest to `p` (frame of the solid).
pub(crate) fn place_on_face(body: &Body, face: FaceId, p: &P3) -> FeatureRef {
    let uv = foot_on_face(body, face, p);
    let source = source_of(body.face(face), uv);
    FeatureRef { kind: FeatureKind::Face, index: face.0, source, uv: [uv.x, uv.y] }
}

/// Reference to a feature with the parameters of its point nearest to `p` (frame of the solid).
pub(crate) fn place_on(body: &Body, feature: Feature, p: &P3) -> FeatureRef {
    match feature {
        Feature::Face(face) => place_on_face(body, face, p),
        Feature::Edge(edge) => {
            let data = body.edge(edge);
            let distance = |t: f64| (data.curve.point(t) - p).norm();
            let feet = data.spans.iter().map(|s| (data.curve.project(p, s.t0, s.t1), s.source));
            let (t, source) = feet.min_by(|x, y| distance(x.0).total_cmp(&distance(y.0))).unwrap_or_default();
            FeatureRef { kind: FeatureKind::Edge, index: edge.0, source, uv: [t, 0.0] }
        }
        Feature::Vertex(vertex) => {
            let source = body.vertex(vertex).source;
            FeatureRef { kind: FeatureKind::Vertex, index: vertex.0, source, uv: [0.0; 2] }
        }
    }
}

/// First fundamental form of a surface: the products du·du, du·dv and dv·dv of its first derivatives.
fn metric(d: &SurfaceDerivs) -> [f64; 3] {
    [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()]
}

/// Locates the parameters `uv` in the trimmed domain of a face. They lie on a trim if their distance
/// from it is at most `tol.trim` plus the deviation of the trim (mm). Returns `None` if they are outside
/// the domain and on no trim. `metric` is the first fundamental form of the face's surface at `uv`
/// ([`metric`]), and `deviation` (mm) the largest deviation of the face's trims.
fn domain_slack(
    face: &Face,
    uv: P2,
    metric: &[f64; 3],
    deviation: f64,
    tol: &Tolerances,
) -> Option<InDomain> {
    let cells = &face.trim;
    let near = cells
        .nearest(uv, *metric, deviation + tol.trim)
        .map(|(piece, _, dist)| (cells.pieces[piece].deviation, dist))
        .filter(|(dev, dist)| *dist <= dev + tol.trim);
    match near {
        Some((slack, _)) => Some(InDomain { slack, border: true }),
        None => (cells.classify(uv) == TrimSide::Inside).then_some(InDomain::INSIDE),
    }
}

/// Whether parameters outside the trims of a face are beyond a concave edge, by at most `beside` (mm).
/// `metric` is the first fundamental form of the face's surface there ([`metric`]).
fn is_in_corner(body: &Body, face: FaceId, uv: P2, metric: [f64; 3], beside: f64) -> bool {
    let cells = &body.face(face).trim;
    beside > 0.0 && cells.nearest(uv, metric, beside).is_some_and(|(piece, ..)| body.is_concave(face, piece))
}

/// Whether parameters are inside the trims of a face, or on a trim within `tol.trim` (mm) plus the
/// deviation of that trim. `deviation` (mm) is the largest deviation of the face's trims.
pub(crate) fn on_face(face: &Face, uv: P2, deviation: f64, tol: &Tolerances) -> bool {
    domain_slack(face, uv, &metric(&face.surface.derivs(uv)), deviation, tol).is_some()
}

/// Whether the point of a feature with the parameters `uv` is inside the trims of the face or between the
/// ends of the edge, up to their deviations and rounding. Always `true` for a vertex.
pub(crate) fn is_in_trims(body: &Body, feature: Feature, uv: P2, tol: &Tolerances) -> bool {
    match feature {
        Feature::Face(i) => on_face(body.face(i), uv, body.data(feature).deviation, tol),
        Feature::Edge(i) => span_at(body.edge(i), uv.x, tol).is_some(),
        Feature::Vertex(_) => true,
    }
}

/// Parameters of the foot of a point `p` (frame of the solid) on the surface or curve of a feature, which may
/// be outside its trims and outside the domain of a spline. It is computed by [`FOOT_STEPS`] Gauss–Newton
/// steps from the parameters `near` of a point beside it. `None` if the steps do not converge, and for a
/// vertex.
pub(crate) fn foot_beside(body: &Body, feature: Feature, p: &P3, near: P2) -> Option<P2> {
    let (mut at, mut last) = (near, f64::INFINITY);
    for _ in 0..FOOT_STEPS {
        let (step, length) = match feature {
            Feature::Face(i) => {
                let d = body.face(i).surface.derivs(at);
                let off = p - d.p;
                let ([e, f, g], of_u, of_v) = (metric(&d), d.du.dot(&off), d.dv.dot(&off));
                let step = Vector2::new(g * of_u - f * of_v, e * of_v - f * of_u) / (e * g - f * f);
                (step, (d.du * step.x + d.dv * step.y).norm())
            }
            Feature::Edge(i) => {
                let d = body.edge(i).curve.derivs(at.x);
                let step = d.d1.dot(&(p - d.p)) / d.d1.norm_squared();
                (Vector2::new(step, 0.0), (d.d1 * step).norm())
            }
            Feature::Vertex(_) => return None,
        };
        let converges = length <= MAX_STEP_RATIO * last;
        if !converges {
            return None;
        }
        (at, last) = (at + step, length);
    }
    Some(at)
}

/// Number of Gauss–Newton steps to a foot from a point beside it. With two, the error is of the fourth
/// order of their distance in radii of curvature. More steps cost evaluations; a single step misplaces feet.
const FOOT_STEPS: usize = 2;
/// Largest length of a Gauss–Newton step to a foot, as a multiple of the step before, at which the steps
/// count as convergent. A larger value misplaces feet; a smaller one finds no foot at some distance.
const MAX_STEP_RATIO: f64 = 0.1;

/// Whether a footpoint on a face or edge is inside the trims or ends by more than rounding. It always is
/// on a vertex.
pub(crate) fn is_within(body: &Body, feature: Feature, place: &FeatureRef, tol: &Tolerances) -> bool {
    match feature {
        Feature::Face(i) => {
            let face = body.face(i);
            let uv = P2::new(place.uv[0], place.uv[1]);
            let metric = metric(&face.surface.derivs(uv));
            face.trim.classify(uv) == TrimSide::Inside && face.trim.nearest(uv, metric, tol.trim).is_none()
        }
        Feature::Edge(i) => {
            let edge = body.edge(i);
            let t = place.uv[0];
            let speed = edge.curve.derivs(t).d1.norm();
            edge.closed || edge.spans.iter().any(|s| (t - s.t0).min(s.t1 - t) * speed > tol.trim)
        }
        Feature::Vertex(_) => true,
    }
}

/// Distance (mm, to first order) from a point `p` of a feature to the nearest trim of the face or end of
/// the edge, but at most `max` (mm), which is also the result for a vertex. `p` is in the frame of the
/// solid.
pub(crate) fn clearance_on(body: &Body, feature: Feature, p: &P3, max: f64) -> f64 {
    match feature {
        Feature::Face(i) => {
            let face = body.face(i);
            let uv = face.surface.invert(p, None, None);
            face.trim.nearest(uv, metric(&face.surface.derivs(uv)), max).map_or(max, |(_, _, d)| d)
        }
        Feature::Edge(i) => {
            let edge = body.edge(i);
            if edge.closed {
                return max;
            }
            let ends = edge.spans.iter().flat_map(|s| [s.t0, s.t1]);
            ends.map(|t| (edge.curve.point(t) - p).norm()).fold(max, f64::min)
        }
        Feature::Vertex(_) => max,
    }
}

/// Entity number of the input face, among those merged into this one, that contains the point at `uv`.
fn source_of(face: &Face, uv: P2) -> u64 {
    let holds = |cells: &Option<TrimCells>| cells.as_ref().is_none_or(|c| c.classify(uv) == TrimSide::Inside);
    face.sources
        .iter()
        .find(|(_, cells)| holds(cells))
        .or_else(|| face.sources.first())
        .map_or(0, |(id, _)| *id)
}

/// Parameter of the point of an unbounded line or a whole circle nearest to `p`; `None` for other
/// curves.
fn canonical_parameter(curve: &Curve, p: &P3) -> Option<f64> {
    match curve {
        Curve::Line { origin, dir } => Some(dir.dot(&(p - origin))),
        Curve::Circle { frame, .. } => {
            let q = frame.local(p);
            Some(math::atan2(q.y, q.x))
        }
        _ => None,
    }
}

/// Locates the footpoint `p` on an edge; `hint` is its parameter if it is known. The point may lie up to
/// `beyond` (mm) beyond an end at which the solid continues on both sides ([`continued_ends`]). Returns
/// `None` if the point is off the curve or outside all spans.
pub(crate) fn locate_on_edge(
    body: &Body,
    edge: EdgeId,
    p: &P3,
    hint: Option<f64>,
    beyond: f64,
    tol: &Tolerances,
) -> Option<Located> {
    let data = body.edge(edge);
    let t = hint.or_else(|| canonical_parameter(&data.curve, p)).or_else(|| {
        let nearest = data.spans.iter().map(|s| data.curve.project(p, s.t0, s.t1));
        nearest.min_by(|s, t| (data.curve.point(*s) - p).norm().total_cmp(&(data.curve.point(*t) - p).norm()))
    })?;
    if (data.curve.point(t) - p).norm() > tol.trim {
        return None;
    }
    let on_span = span_at(data, t, tol);
    let (span, t) =
        on_span.or_else(|| if beyond > 0.0 { beyond_span(body, edge, t, beyond) } else { None })?;
    let span = &data.spans[span];
    let place = FeatureRef { kind: FeatureKind::Edge, index: edge.0, source: span.source, uv: [t, 0.0] };
    Some(Located { place, slack: span.deviation, border: false, is_beside: on_span.is_none() })
}

/// Index of the span of an edge beyond whose end the parameter `t` is by at most `beside` (mm), if the solid
/// continues there, and `t` shifted by whole periods to that span.
fn beyond_span(body: &Body, edge: EdgeId, t: f64, beside: f64) -> Option<(usize, f64)> {
    let data = body.edge(edge);
    let period = data.curve.period();
    let continued = body.continued_ends(edge, continued_ends);
    let beyond = data.spans.iter().zip(continued).enumerate().filter_map(|(i, (span, continued))| {
        let t = period.map_or(t, |p| math::unwrap_near(t, 0.5 * (span.t0 + span.t1), p));
        let (end, is_continued) = if t < span.t0 { (span.t0, continued[0]) } else { (span.t1, continued[1]) };
        let outside = (t - end).abs() * data.curve.derivs(end).d1.norm();
        (is_continued && outside <= beside).then_some((i, t, outside))
    });
    beyond.min_by(|x, y| x.2.total_cmp(&y.2)).map(|(i, t, _)| (i, t))
}

/// Distance from the end of an edge, as a fraction of the length of its span, at which [`continues_beyond`]
/// tests whether the solid continues. With a larger value, other edges near the end determine the result;
/// with a smaller one, the deviations of trims do.
const BEYOND_END: f64 = 1e-3;

/// Whether the solid continues beyond the start and the end of each span of each edge ([`continues_beyond`]).
fn continued_ends(body: &Body) -> Vec<Box<[[bool; 2]]>> {
    let tol = Tolerances::of_lengths(body.size().max(f64::MIN_POSITIVE), body.reach(), None);
    let edges = &body.hierarchy().edges;
    let of_edge = |(edge, data): (EdgeId, &Edge)| {
        let of_span = |span: &Span| {
            [(span.t0, -1.0), (span.t1, 1.0)].map(|(end, sign)| {
                let beyond = BEYOND_END * (span.t1 - span.t0);
                let outside = beyond * data.curve.derivs(end).d1.norm();
                !data.closed && continues_beyond(body, edge, end + sign * beyond, outside, &tol)
            })
        };
        data.spans.iter().map(of_span).collect()
    };
    (0..).map(EdgeId).zip(edges).map(of_edge).collect()
}

/// Whether the wedge between the faces of an edge continues as a part of the solid beyond the edge's end, as
/// at the corners of the rim of a polygonal hole: each face continues there, or ends at a concave edge,
/// beyond which its surface continues in the solid's own material. The point with the parameter `t` is
/// `outside` (mm) beyond the end. Always `false` beside free-form faces.
fn continues_beyond(body: &Body, edge: EdgeId, t: f64, outside: f64, tol: &Tolerances) -> bool {
    let data = body.edge(edge);
    if !data.sides.iter().all(|side| body.face(side.face).surface.is_canonical()) {
        return false;
    }
    let Some(EdgeNormals { tangent, normals: [left, right] }) = edge_normals(body, edge, t) else {
        return false;
    };
    let p = data.curve.point(t);
    let left_first = data.sides[0].forward || !data.sides[1].forward;
    // Directions from the edge into the faces to its left and right.
    let into = [left.cross(&tangent), tangent.cross(&right)];
    let into = if left_first { into } else { [into[1], into[0]] };
    let mut ends = false;
    let continues = data.sides.iter().zip(into).all(|(side, into)| {
        let face = body.face(side.face);
        // The surface across the edge, as far from it as from its end: on the edge, two trims are equally
        // near.
        let uv = face.surface.invert(&(p + into * outside), None, None);
        let is_inside = on_face(face, uv, body.data(Feature::Face(side.face)).deviation, tol);
        ends |= !is_inside;
        let metric = metric(&face.surface.derivs(uv));
        is_inside || is_in_corner(body, side.face, uv, metric, 2.0 * outside)
    });
    continues && ends
}

/// Index of the span of an edge that contains `t`, and `t` shifted by whole periods into that span.
/// Parameters beyond an end by at most the deviation and rounding count as inside; `None` otherwise.
pub(crate) fn span_at(edge: &Edge, t: f64, tol: &Tolerances) -> Option<(usize, f64)> {
    let period = edge.curve.period();
    let mut best: Option<(f64, usize, f64)> = None;
    for (i, span) in edge.spans.iter().enumerate() {
        let near = |x: f64| period.map_or(x, |p| math::unwrap_near(x, 0.5 * (span.t0 + span.t1), p));
        let t = near(t);
        let beyond = (span.t0 - t).max(t - span.t1).max(0.0);
        if edge.closed || beyond <= 0.0 {
            return Some((i, t));
        }
        let speed = edge.curve.derivs(t.clamp(span.t0, span.t1)).d1.norm();
        let outside = beyond * speed;
        if outside <= span.deviation + tol.trim && best.is_none_or(|(o, ..)| outside < o) {
            best = Some((outside, i, t));
        }
    }
    best.map(|(_, i, t)| (i, t))
}
