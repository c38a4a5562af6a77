//! Solids prepared for queries against curves: data computed once for each face and edge.

use std::sync::Arc;

use feeler_geom::skeleton::{Primitive, signed_distance_form};
use feeler_geom::{Curve as EdgeCurve, P2, P3, Rect, V3};
use feeler_hierarchy::{Edge, EdgeId, FaceId};
use feeler_runtime::Body;

use crate::piece::Piece;
use crate::tree::CurveTree;

/// Maximum distance of a fitted edge from the true curve, as a fraction of the solid's size. Minima are
/// searched on the fit and polished on the true curve. With a larger value, pairs of minima about to
/// vanish differ between the two; a smaller value needs more pieces.
const MAX_FIT_DEVIATION: f64 = 1e-6;

/// Maximum number of times that a span of an edge is halved to fit quintics to it. A larger value needs
/// more pieces; with a smaller one, strongly bent edges deviate more.
const MAX_SPAN_HALVINGS: u32 = 10;

/// A solid prepared for queries against curves. Share it between pairs with an `Arc`.
#[derive(Clone, Debug)]
pub struct Obstacle {
    pub(crate) body: Arc<Body>,
    pub(crate) faces: Vec<Option<Primitive>>,
    pub(crate) edges: Vec<EdgeShape>,
}

/// Representation of an edge in the search for minima.
#[derive(Clone, Debug)]
pub(crate) enum EdgeShape {
    /// The edge is concave everywhere or smooth, and therefore has no minima.
    Ignored,
    /// The edge lies on a line or a circle.
    Canonical(Primitive),
    /// Quintics fitted to each span of an edge on any other curve.
    Fitted(Vec<Fitted>),
}

/// Quintics fitted to one span of an edge. `t` contains the parameters of the edge's curve at the ends
/// of the quintics, one more than there are quintics.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub tree: CurveTree<6>,
    pub t: Vec<f64>,
}

impl Fitted {
    /// Converts a parameter of the quintics, of which number k covers [k, k + 1], to one of the edge's
    /// curve.
    pub(crate) fn parameter(&self, u: f64) -> f64 {
        let (k, x) = self.tree.locate(u);
        self.t[k] + x * (self.t[k + 1] - self.t[k])
    }
}

impl Obstacle {
    /// Prepares a solid: computes the data of each face and edge that queries against curves need.
    #[must_use]
    pub fn new(body: Arc<Body>) -> Self {
        let h = body.hierarchy();
        // The inner sheet of a spindle torus does not lie on the envelope of its spheres.
        let face = |f: &feeler_hierarchy::Face| {
            let primitive = Primitive::of_surface(&f.surface, f.outward)?;
            let is_spindle =
                matches!(primitive, Primitive::Circle { radius, sigma, .. } if radius < sigma.abs());
            (!is_spindle).then_some(primitive)
        };
        let faces = h.faces.iter().map(face).collect();
        let edges = h.edges.iter().map(|e| edge_shape(e, body.size())).collect();
        Self { faces, edges, body }
    }

    /// Returns the solid that was passed to [`Obstacle::new`].
    #[must_use]
    pub fn body(&self) -> &Arc<Body> {
        &self.body
    }
}

fn edge_shape(edge: &Edge, size: f64) -> EdgeShape {
    if edge.quasi_only {
        return EdgeShape::Ignored;
    }
    if let Some(primitive) = Primitive::of_curve(&edge.curve) {
        return EdgeShape::Canonical(primitive);
    }
    let fitted = edge.spans.iter().map(|span| {
        let mut t = vec![span.t0];
        for x in edge.curve.breaks(span.t0, span.t1) {
            if x > span.t0 && x < span.t1 {
                t.push(x);
            }
        }
        t.push(span.t1);
        let mut ends = vec![span.t0];
        let mut pieces = Vec::new();
        for w in t.windows(2) {
            fit(&edge.curve, w[0], w[1], MAX_FIT_DEVIATION * size, MAX_SPAN_HALVINGS, &mut pieces, &mut ends);
        }
        Fitted { tree: CurveTree::new(pieces, edge.closed), t: ends }
    });
    EdgeShape::Fitted(fitted.collect())
}

/// Fits quintics to an edge's curve over `[t0, t1]`: each has the position and two derivatives of the
/// curve at its ends. The interval is halved, at most `halvings` times, until the deviation is at most
/// `max_deviation` (mm). Appends the quintics to `pieces` and the parameters at their ends to `ends`.
fn fit(
    curve: &EdgeCurve,
    t0: f64,
    t1: f64,
    max_deviation: f64,
    halvings: u32,
    pieces: &mut Vec<Piece<6>>,
    ends: &mut Vec<f64>,
) {
    let h = t1 - t0;
    // The curve is evaluated just inside the interval, because at a break the derivatives may be those
    // of the other side.
    let (a, b) = (curve.derivs(t0 + 1e-12 * h), curve.derivs(t1 - 1e-12 * h));
    let (p, q) = (a.p.coords, b.p.coords);
    let (da, db) = (a.d1 * h / 5.0, b.d1 * h / 5.0);
    let (dda, ddb) = (a.d2 * (h * h / 20.0), b.d2 * (h * h / 20.0));
    let piece = [p, p + da, p + da * 2.0 + dda, q - db * 2.0 + ddb, q - db, q];
    let follows =
        |x: f64| (crate::piece::at(&piece, x).p - curve.point(t0 + x * h).coords).norm() <= max_deviation;
    if halvings > 0 && ![0.25, 0.5, 0.75].iter().all(|&x| follows(x)) {
        let middle = 0.5 * (t0 + t1);
        fit(curve, t0, middle, max_deviation, halvings - 1, pieces, ends);
        fit(curve, middle, t1, max_deviation, halvings - 1, pieces, ends);
        return;
    }
    pieces.push(piece);
    ends.push(t1);
}

/// Signed distance (mm) of a point from a surface or an edge, with its first and second derivatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distance {
    pub value: f64,
    /// Gradient of the distance: a unit vector that points away from the solid.
    pub gradient: V3,
    bending: Bend,
}

#[derive(Clone, Copy, Debug)]
enum Bend {
    Form(feeler_geom::skeleton::Bending),
    Principal([(f64, V3); 2]),
}

impl Distance {
    /// Second derivative of the distance along the vector `d`, which need not have unit length.
    pub(crate) fn bend(&self, d: &V3) -> f64 {
        match &self.bending {
            Bend::Form(form) => form.along(d),
            Bend::Principal(both) => both.iter().map(|(k, dir)| k * dir.dot(d) * dir.dot(d)).sum(),
        }
    }

    /// Largest principal curvature, in magnitude (1/mm), of the parallel surface through the point, that
    /// is, of the surface of all points at the same distance.
    pub(crate) fn max_curvature(&self) -> f64 {
        match &self.bending {
            Bend::Form(form) => form.k.abs().max(form.l.abs()),
            Bend::Principal([(k, _), (l, _)]) => k.abs().max(l.abs()),
        }
    }

    /// Footpoint of `p`, which must be the point for which this distance was computed.
    pub(crate) fn foot(&self, p: &P3) -> P3 {
        p - self.gradient * self.value
    }

    /// Signed distance of the point `p` from a primitive. If `p` is on the primitive's axis or at its
    /// centre, where the direction is undefined, a point beside it replaces `p`, at 1e-9 of the solid's
    /// `size` (mm). `None` if the distance cannot be computed there either.
    pub(crate) fn of_primitive(primitive: &Primitive, p: &P3, size: f64) -> Option<Self> {
        let form = signed_distance_form(primitive, p)
            .or_else(|| signed_distance_form(primitive, &(p + V3::new(0.48, 0.6, 0.64) * (1e-9 * size))))?;
        Some(Self { value: form.value, gradient: form.gradient, bending: Bend::Form(form.bending) })
    }
}

impl Obstacle {
    /// Signed distance of `p` (solid's frame) from a face's surface. Newton's method starts at the
    /// parameters `uv` and updates them to those of the footpoint. Returns `None` if it does not
    /// converge within `rect` extended by half its size, or if the footpoint is not the nearest point of
    /// its neighbourhood.
    pub(crate) fn distance_to_face(&self, f: FaceId, p: &P3, uv: &mut P2, rect: &Rect) -> Option<Distance> {
        let face = &self.body.hierarchy().faces[f.index()];
        let domain = face.surface.natural_domain();
        let (w, h) = (0.5 * rect.width(), 0.5 * rect.height());
        let range = |lo: f64, hi: f64, by: f64, from: f64, to: f64, is_periodic: bool| {
            if is_periodic { (lo - by, hi + by) } else { ((lo - by).max(from), (hi + by).min(to)) }
        };
        let (u0, u1) = range(rect.u0, rect.u1, w, domain.u0, domain.u1, face.surface.u_period().is_some());
        let (v0, v1) = range(rect.v0, rect.v1, h, domain.v0, domain.v1, face.surface.v_period().is_some());
        let mut at = *uv;
        let mut is_found = false;
        for _ in 0..24 {
            let d = face.surface.derivs(at);
            let w = d.p - p;
            let (gu, gv) = (w.dot(&d.du), w.dot(&d.dv));
            let (a, b, c) = (d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared());
            let (fa, fb, fc) = (a + w.dot(&d.duu), b + w.dot(&d.duv), c + w.dot(&d.dvv));
            // Hessian of the squared distance where it is convex, otherwise that of the tangent plane.
            let is_convex = fa > 0.0 && fa * fc > fb * fb;
            let (a, b, c) = if is_convex { (fa, fb, fc) } else { (a, b, c) };
            let det = a * c - b * b;
            let step = [(b * gv - c * gu) / det, (b * gu - a * gv) / det];
            if !step.iter().all(|s| s.is_finite()) {
                return None;
            }
            let next = P2::new((at.x + step[0]).clamp(u0, u1), (at.y + step[1]).clamp(v0, v1));
            let moved = (next - at).norm();
            at = next;
            if moved <= 1e-13 * (1.0 + at.coords.norm()) {
                is_found = true;
                break;
            }
        }
        *uv = at;
        let sign = if face.outward { 1.0 } else { -1.0 };
        let normal = face.surface.normal(at) * sign;
        let w = p - face.surface.point(at);
        let value = w.dot(&normal);
        let principal = face.surface.principal(at);
        let growth = [principal.k1, principal.k2].map(|k| 1.0 + value * sign * k);
        let is_opposite = (w - normal * value).norm() <= 1e-10 * self.body.size();
        // Near a centre of curvature, footpoints jump under small moves.
        if !is_found || !is_opposite || growth.iter().any(|g| *g <= MIN_FOCAL_FACTOR) {
            return None;
        }
        let bend = [principal.k1 * sign / growth[0], principal.k2 * sign / growth[1]];
        let both = [(bend[0], principal.dir1), (bend[1], principal.dir2)];
        Some(Distance { value, gradient: normal, bending: Bend::Principal(both) })
    }

    /// Whether the point of a face's surface at the parameters `uv` is inside the face's trims, or at
    /// most `slack` (mm) outside them.
    pub(crate) fn face_contains(&self, f: FaceId, uv: P2, slack: f64) -> bool {
        let face = &self.body.hierarchy().faces[f.index()];
        face.trim.classify(uv) == feeler_geom::trim::Side::Inside
            || face.trim.nearest(uv, face.surface.metric(uv), slack).is_some()
    }

    /// Whether the direction `w` (of any length) from the point of an edge at the parameter `t` is in the
    /// edge's polar, that is, between the outward normals of its two faces. `false` for concave edges.
    pub(crate) fn is_in_polar(&self, e: EdgeId, t: f64, w: &V3) -> bool {
        let Some((tangent, [left, right])) = self.body.edge_normals(e, t) else { return false };
        // The distance must not decrease along either face away from the edge; concave edges are never
        // accepted.
        let slack = POLAR_SLACK * w.norm();
        let into = [left.cross(&tangent), tangent.cross(&right)];
        let is_convex =
            left.cross(&right).dot(&tangent) > -POLAR_SLACK || left.dot(&right) < -1.0 + POLAR_SLACK;
        is_convex && into.iter().all(|m| w.dot(m) <= slack)
    }

    /// Parameter on an edge's curve of the point nearest to `p`; `None` if `p` is farther than 1e-9 of
    /// the solid's size from every span of the edge.
    pub(crate) fn on_edge(&self, e: EdgeId, p: &P3) -> Option<f64> {
        let edge = &self.body.hierarchy().edges[e.index()];
        edge.spans.iter().find_map(|span| {
            let t = edge.curve.project(p, span.t0, span.t1);
            let off = (edge.curve.point(t) - p).norm();
            (off <= 1e-9 * self.body.size()).then_some(t)
        })
    }
}

/// Minimum of the factor 1 + distance × principal curvature by which lengths on the parallel surface
/// through a point exceed those on the face's surface. Below it, the point is at a centre of curvature,
/// and the distance is not computed. With a smaller value, footpoints jump; with a larger one, minima
/// near such centres are lost.
const MIN_FOCAL_FACTOR: f64 = 1e-6;

/// Sine of the angle by which a direction may lie outside the polar of an edge. With a smaller value,
/// minima at the ends of polars are lost; with a larger one, false minima are accepted.
const POLAR_SLACK: f64 = 1e-9;
