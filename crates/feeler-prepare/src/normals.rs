//! Encloses the outward normals of a face along a piece of an edge.
//!
//! # Source
//! BREP §3.3.3 (cone of an edge: the hull of both faces' normals), MATH §4 and §7.
//!
//! The normal of a sphere, a cylinder or a cone at a surface point is, up to a positive factor, a
//! *linear* function of the point. Points whose convex hull contains the piece of the edge therefore also
//! give the normals, without the parameters of the edge on the face. Tori and patches use a parameter
//! rectangle around the edge.

use feeler_brep::{EdgeSide, Solid};
use feeler_geom::trim::TrimPiece;
use feeler_geom::{Curve, P2, P3, Rect, Surface, V2, V3, math};
use std::f64::consts::{FRAC_PI_2, PI};

use crate::group::{EdgeGroup, FaceGroup};

/// Bound of the outward normals of one face along a piece of an edge.
#[derive(Clone, Debug)]
pub(crate) struct SideNormals {
    /// Directions whose conical hull contains the outward normals, up to `slack`. `None` if the normals
    /// fit no half-space, or if the surface is singular there, so that any direction is possible.
    pub(crate) generators: Option<Vec<V3>>,
    /// Angle (rad) by which normals may lie outside the hull because the edge deviates from its face.
    pub(crate) slack: f64,
}

/// Piece of a supermaximal edge: the interval from `t0` to `t1` of the parameter of its curve.
/// `deviation` is the distance (mm) of the edge from its faces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieceOfEdge<'a> {
    pub(crate) solid: &'a Solid,
    pub(crate) edge: &'a EdgeGroup,
    /// Points whose convex hull contains the piece of the edge.
    pub(crate) hull: &'a [P3],
    pub(crate) t0: f64,
    pub(crate) t1: f64,
    pub(crate) deviation: f64,
}

/// Maximum of [`SideNormals::slack`] (rad), of the order of the flatness of an area. It limits the slack
/// if the deviation of the edge is as large as the face itself, when both are noise. A larger value
/// gives looser cones; with a smaller one normals of inexact edges lie outside.
const MAX_SLACK: f64 = 0.05;

/// Encloses the outward normals of `face` along a piece of an edge. The face is on side `side` of the
/// edge.
pub(crate) fn side_normals(piece: &PieceOfEdge<'_>, face: &FaceGroup, side: usize) -> SideNormals {
    let (hull, off) = (piece.hull, piece.deviation);
    let slack_at = |radius: f64| if off > 0.0 { (off / radius).min(MAX_SLACK) } else { 0.0 };
    let (mut generators, slack) = match &face.surface {
        Surface::Plane { frame } => (Some(vec![frame.z]), 0.0),
        Surface::Cylinder { frame, radius } => {
            let across = |p: &P3| {
                let r = p - frame.origin;
                r - frame.z * r.dot(&frame.z)
            };
            (Some(hull.iter().map(across).collect()), slack_at(*radius))
        }
        Surface::Sphere { frame, radius } => {
            (Some(hull.iter().map(|p| p - frame.origin).collect()), slack_at(*radius))
        }
        Surface::Cone { frame, half_angle } => {
            let (s, c) = math::sin_cos(*half_angle);
            let normal = |p: &P3| {
                let r = p - frame.origin;
                let height = r.dot(&frame.z);
                // cos φ ρ - sin φ |ρ| z with |ρ| = tan φ height.
                (r - frame.z * height) * c - frame.z * (s * s / c * height)
            };
            let radius =
                hull.iter().map(|p| (p - frame.origin).dot(&frame.z) * s / c).fold(f64::INFINITY, f64::min);
            (Some(hull.iter().map(normal).collect()), slack_at(radius.max(off)))
        }
        Surface::Torus { minor, .. } => {
            let rect = torus_rect(face, &piece.edge.curve, (piece.t0, piece.t1), hull);
            (rect.and_then(|r| face.surface.normal_generators(&r)), slack_at(*minor))
        }
        Surface::Bezier(_) => (patch_generators(piece, &face.surface, side), 0.0),
    };
    if !face.outward {
        for g in generators.iter_mut().flatten() {
            *g = -*g;
        }
    }
    SideNormals { generators, slack }
}

/// Computes a parameter rectangle on a torus that contains the points of the curve from `t0` to `t1`.
/// `hull` contains points whose convex hull contains that part of the curve. Returns `None` if the hull
/// may surround the axis or the core circle of the torus.
fn torus_rect(face: &FaceGroup, curve: &Curve, (t0, t1): (f64, f64), hull: &[P3]) -> Option<Rect> {
    let Surface::Torus { frame, major, minor } = &face.surface else { return None };
    // On the inner sheet of a spindle torus the centre of the tube is beyond the axis.
    let inner = face.cells.on_inner_sheet(&face.surface);
    let local: Vec<V3> = hull.iter().map(|p| frame.local(p)).collect();
    let mean = local.iter().sum::<V3>();
    let m = math::hypot(mean.x, mean.y);
    let (mx, my) = (mean.x / m, mean.y / m);
    let mut rect =
        Rect { u0: f64::INFINITY, u1: f64::NEG_INFINITY, v0: f64::INFINITY, v1: f64::NEG_INFINITY };
    let (mut lo, mut hi) = (V3::repeat(f64::INFINITY), V3::repeat(f64::NEG_INFINITY));
    for p in &local {
        let (along, across) = (p.x * mx + p.y * my, p.y * mx - p.x * my);
        // A direction more than a right angle from the mean, or undefined, admits no bound.
        if along <= 0.0 || !along.is_finite() {
            return None;
        }
        let angle = math::atan2(across, along);
        rect.u0 = rect.u0.min(angle);
        rect.u1 = rect.u1.max(angle);
        // Over the hull the distance from the axis is at most that of a vertex, and at least the
        // component along the mean direction.
        hi.x = hi.x.max(math::hypot(p.x, p.y));
        lo.x = lo.x.min(along);
        lo.z = lo.z.min(p.z);
        hi.z = hi.z.max(p.z);
    }
    if let Curve::Circle { frame: c, radius } = curve {
        let center = frame.local(&c.origin);
        let off = math::hypot(center.x, center.y) + radius * c.z.cross(&frame.z).norm();
        if off <= 1e-6 * minor && t1 - t0 < PI {
            // A parallel of the torus: its distance from the axis is constant.
            (lo.x, hi.x) = (radius - off, radius + off);
        }
    }
    let (turn, sign) = if inner { (math::atan2(-my, -mx), -1.0) } else { (math::atan2(my, mx), 1.0) };
    (rect.u0, rect.u1) = (rect.u0 + turn, rect.u1 + turn);
    let corners =
        [(lo.x, lo.z), (hi.x, lo.z), (lo.x, hi.z), (hi.x, hi.z)].map(|(r, z)| (sign * r - major, z));
    let (cx, cz) = corners.iter().fold((0.0, 0.0), |c, p| (c.0 + 0.25 * p.0, c.1 + 0.25 * p.1));
    let middle = math::atan2(cz, cx);
    for (x, z) in corners {
        let angle = math::atan2(z * cx - x * cz, x * cx + z * cz);
        if angle.abs() >= FRAC_PI_2 || angle.is_nan() {
            return None;
        }
        rect.v0 = rect.v0.min(middle + angle);
        rect.v1 = rect.v1.max(middle + angle);
    }
    Some(rect)
}

/// Returns directions whose conical hull contains the natural normals of a free-form surface along a
/// piece of an edge, over parameter rectangles around the edge's pcurve. Returns `None` if the normals
/// fit no half-space, the surface is singular there, or no part of a pcurve belongs to the piece.
fn patch_generators(piece: &PieceOfEdge<'_>, surface: &Surface, side: usize) -> Option<Vec<V3>> {
    let mut out = Vec::new();
    for rect in patch_rects(piece, surface, side) {
        out.extend(normals_over(surface, &rect)?);
    }
    (!out.is_empty()).then_some(out)
}

/// Returns directions whose conical hull contains all natural normals of a surface over a parameter
/// rectangle, or `None` if the normals fit no half-space or the surface is singular there. A very narrow
/// rectangle of a free form is widened first, because derivatives across it would be lost in rounding.
pub(crate) fn normals_over(surface: &Surface, rect: &Rect) -> Option<Vec<V3>> {
    let Surface::Bezier(_) = surface else { return surface.normal_generators(rect) };
    let natural = surface.natural_domain();
    let widened = |a: f64, b: f64, lo: f64, hi: f64, wraps: bool| {
        let missing = 0.5 * (MIN_WIDTH * (hi - lo) - (b - a));
        if missing <= 0.0 {
            return (a, b);
        }
        let (a, b) = (a - missing, b + missing);
        if wraps { (a, b) } else { (a.max(lo), b.min(hi)) }
    };
    let (u0, u1) = widened(rect.u0, rect.u1, natural.u0, natural.u1, surface.u_period().is_some());
    let (v0, v1) = widened(rect.v0, rect.v1, natural.v0, natural.v1, surface.v_period().is_some());
    let mut rect = Rect { u0, u1, v0, v1 };
    let (us, vs) = surface.breaks(&rect);
    let end = |a: f64, b: f64, inner: &[f64], border: [f64; 2]| {
        let near = 1e-3 * MIN_WIDTH * (border[1] - border[0]);
        let at = |x: f64| inner.iter().chain(&border).copied().find(|y| (y - x).abs() <= near).unwrap_or(x);
        (at(a), at(b))
    };
    // A sliver of the neighbouring patch is due to rounding of the border of this patch and has the same
    // problem.
    (rect.u0, rect.u1) = end(u0, u1, &us, [natural.u0, natural.u1]);
    (rect.v0, rect.v1) = end(v0, v1, &vs, [natural.v0, natural.v1]);
    surface.normal_generators(&rect)
}

/// Minimum width of a parameter rectangle over which the normals of a free-form surface are bounded,
/// relative to the surface's natural domain. A larger value gives looser cones; with a smaller one,
/// rounding determines the bounds.
const MIN_WIDTH: f64 = 1e-4;

fn patch_rects(piece: &PieceOfEdge<'_>, surface: &Surface, side: usize) -> Vec<Rect> {
    let period = piece.edge.curve.period();
    let mut out = Vec::new();
    for &(e, map) in &piece.edge.members {
        let info = &piece.solid.edges[e as usize];
        let (a, b) = (map.apply(info.range.0), map.apply(info.range.1));
        let (a, b) = (a.min(b), a.max(b));
        // The parameters of the member may differ by whole turns.
        let shift = period.map_or(0.0, |p| ((0.5 * (piece.t0 + piece.t1 - a - b)) / p).round() * p);
        for turn in [0.0, -1.0, 1.0] {
            let shift = shift + turn * period.unwrap_or(0.0);
            let (lo, hi) = (piece.t0.max(a + shift), piece.t1.min(b + shift));
            if lo < hi {
                let ends = [map.invert(lo - shift), map.invert(hi - shift)];
                let range = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                if let Some(s) = own_side(info, piece, side, map.reverses()) {
                    side_rects(&piece.solid.shell.edges[e as usize].curve, s, surface, range, &mut out);
                }
            }
            if period.is_none() {
                break;
            }
        }
    }
    out
}

/// Returns the side of the source edge `info` that became side `side` of the supermaximal edge.
/// `reversed` is whether the curves of both run in opposite directions.
fn own_side<'a>(
    info: &'a feeler_brep::EdgeInfo,
    piece: &PieceOfEdge<'_>,
    side: usize,
    reversed: bool,
) -> Option<&'a EdgeSide> {
    let forward = piece.edge.sides[side].1 != reversed;
    info.sides.iter().find(|s| s.forward == forward).or_else(|| info.sides.get(side))
}

/// Appends parameter rectangles of `surface` that contain the pcurve of a source edge, over the interval
/// `range` of the parameter of its curve.
fn side_rects(curve: &Curve, side: &EdgeSide, surface: &Surface, range: (f64, f64), out: &mut Vec<Rect>) {
    let natural = surface.natural_domain();
    for (k, p) in side.pcurve.iter().enumerate() {
        let (Some(&j0), Some(&j1)) = (side.joints.get(k), side.joints.get(k + 1)) else { continue };
        let (a, b) = (range.0.max(j0), range.1.min(j1));
        if a >= b {
            continue;
        }
        // The piece runs monotonically along the curve but with another parametrisation, so that its
        // parameters are looked up.
        let s_of = |t: f64| {
            let linear = (t - j0) / (j1 - j0);
            if linear <= 0.0 || linear >= 1.0 {
                return linear.clamp(0.0, 1.0);
            }
            let guess = p.eval(linear);
            let uv = unwrapped(surface, surface.invert(&curve.point(t), Some(guess), None), guess);
            nearest_parameter(p, surface, uv, linear)
        };
        let (s0, s1) = (s_of(a), s_of(b));
        let (s0, s1) = (s0.min(s1), s0.max(s1));
        let margin = PIECE_MARGIN * (s1 - s0);
        let (s0, s1) = ((s0 - margin).max(0.0), (s1 + margin).min(1.0));
        if s0 >= s1 {
            continue;
        }
        let mut r = p.part(s0, s1).bounds();
        let d = surface.derivs(p.eval(0.5 * (s0 + s1)));
        let off = p.deviation.max(side.deviation);
        let margin = |speed: f64, width: f64| (off / speed).min(0.01 * width);
        let (mu, mv) =
            (margin(d.du.norm(), natural.u1 - natural.u0), margin(d.dv.norm(), natural.v1 - natural.v0));
        r = Rect { u0: r.u0 - mu, u1: r.u1 + mu, v0: r.v0 - mv, v1: r.v1 + mv };
        if surface.u_period().is_none() {
            (r.u0, r.u1) = (r.u0.max(natural.u0), r.u1.min(natural.u1));
        }
        if surface.v_period().is_none() {
            (r.v0, r.v1) = (r.v0.max(natural.v0), r.v1.min(natural.v1));
        }
        if r.u0 <= r.u1 && r.v0 <= r.v1 {
            out.push(r);
        }
    }
}

/// Length by which the part of a pcurve's piece that corresponds to an interval of the edge is extended
/// at both ends, relative to the part. It is far above the error of the computed ends, which is the
/// square of the error of the fitted piece. A larger value gives looser cones; with a smaller one
/// normals can lie outside.
const PIECE_MARGIN: f64 = 0.02;

/// Number of intervals between the samples from which [`nearest_parameter`] starts. A larger value takes
/// longer; with a smaller one Newton's method can converge to another point.
const SEARCH_SAMPLES: u32 = 32;

/// Returns the parameter in [0, 1] of the point of a pcurve's piece nearest to `uv`, measured by the
/// metric of the surface at `uv`. The nearest sample, or `guess` if that is nearer, is refined by
/// Newton's method between the neighbouring samples.
fn nearest_parameter(piece: &TrimPiece, surface: &Surface, uv: P2, guess: f64) -> f64 {
    let [e, f, g] = surface.metric(uv);
    let dot = |a: V2, b: V2| e * a.x * b.x + f * (a.x * b.y + a.y * b.x) + g * a.y * b.y;
    let off = |s: f64| {
        let d = piece.eval(s) - uv;
        dot(d, d)
    };
    let samples = (0..=SEARCH_SAMPLES).map(|k| f64::from(k) / f64::from(SEARCH_SAMPLES)).chain([guess]);
    let best = samples.min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(guess);
    let width = 1.0 / f64::from(SEARCH_SAMPLES);
    let (lo, hi) = ((best - width).max(0.0), (best + width).min(1.0));
    let mut s = best;
    // Newton converges quadratically from within a thirty-second of a cubic. If it does not improve, the
    // best sample is returned.
    for _ in 0..8 {
        let d = piece.derivative(s);
        let slope = dot(piece.eval(s) - uv, d);
        let next = (s - slope / dot(d, d)).clamp(lo, hi);
        if !next.is_finite() || (next - s).abs() <= 1e-13 {
            break;
        }
        s = next;
    }
    if off(s) <= off(best) { s } else { best }
}

/// Returns `uv` shifted by whole periods of the surface's parameters to be as near to `near` as
/// possible.
pub(crate) fn unwrapped(surface: &Surface, uv: P2, near: P2) -> P2 {
    let one = |x: f64, n: f64, p: Option<f64>| p.map_or(x, |p| math::unwrap_near(x, n, p));
    P2::new(one(uv.x, near.x, surface.u_period()), one(uv.y, near.y, surface.v_period()))
}
