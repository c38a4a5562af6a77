//! Edges in the parameter planes of their faces.
//!
//! An edge becomes one straight piece if it is straight in the parameter plane (lines in planes, rulings,
//! latitudes, meridians, parameter lines of patches), otherwise cubic pieces that are fitted to the
//! *projection* of the edge on the surface. The distance of the edge from the surface does not affect the
//! number of pieces; it is measured afterwards and stored with each piece.
//!
//! # Source
//! MATH §6 "Trimming curves"; cubic Hermite pieces whose two tangent lengths are adjusted by Gauss–Newton
//! (the circle's well-known optimum `4/3 tan(θ/4)` comes out as a special case), error O(h⁶) instead of
//! O(h⁴).

mod hermite;

use std::cell::Cell;

use feeler_geom::{Curve, P2, P3, Surface, V2, V3, math};

use super::host::{Host, pull, push};
use hermite::{Sample, Tangents, adjust};

/// One cubic Bézier piece of a pcurve.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) control: [P2; 4],
    /// Whether the piece is straight, with evenly spaced control points.
    pub(super) straight: bool,
    /// Largest distance (mm) of the piece, mapped to the surface, from the edge, measured at samples and
    /// enlarged by 5 %; 0 before [`measure`].
    pub(super) deviation: f64,
}

/// An edge in a face's parameter plane, in the direction of the edge's curve, unwrapped over the
/// periods.
#[derive(Clone, Debug)]
pub(super) struct Pcurve {
    pub(super) pieces: Vec<Piece>,
    /// Parameters of the edge's curve at the joints of the pieces, one more than the number of pieces.
    pub(super) joints: Vec<f64>,
    /// Largest distance between the edge and the surface (mm).
    pub(super) off_surface: f64,
    /// Samples of the edge from which the pieces were fitted, in order: the parameter of the edge's
    /// curve, and the parameters of the nearest surface point (up to periods).
    pub(super) nodes: Vec<(f64, P2)>,
    /// Indices in [`Host::singular`] of the singular points at the start and at the end of the edge;
    /// `None` for an end that is not a singular point.
    pub(super) singular: [Option<usize>; 2],
    /// Gap (mm, in space) to the adjacent pcurve of the loop at the start and at the end, if the loop
    /// jumps there: the gap is small in space but wide in the parameter plane. `None` if the corner is
    /// closed.
    pub(super) jump: [Option<f64>; 2],
}

impl Pcurve {
    pub(super) fn start(&self) -> P2 {
        self.pieces[0].control[0]
    }

    pub(super) fn end(&self) -> P2 {
        self.pieces[self.pieces.len() - 1].control[3]
    }

    /// Returns surface parameters near the edge's point at curve parameter `t`: the value of the pcurve.
    /// They are approximate because the pieces are not parametrised like the curve.
    pub(super) fn guess(&self, t: f64) -> P2 {
        let k = self.joints.partition_point(|j| *j <= t).clamp(1, self.pieces.len()) - 1;
        let (a, b) = (self.joints[k], self.joints[k + 1]);
        cubic(&self.pieces[k].control, ((t - a) / (b - a)).clamp(0.0, 1.0)).0
    }

    /// Returns the parameters of the nearest surface point if `t` is the curve parameter of a node;
    /// `None` for other `t`.
    pub(super) fn at_node(&self, t: f64) -> Option<P2> {
        let i = self.nodes.partition_point(|n| n.0 < t);
        self.nodes.get(i).filter(|n| n.0 <= t).map(|n| n.1)
    }

    /// Returns the maximum distance (mm) from the surface that is plausible for a point of this edge:
    /// four times the largest measured one.
    pub(super) fn expected(&self) -> f64 {
        4.0 * self.off_surface
    }

    /// Shifts all pieces and nodes by the parameter vector `by`, which consists of whole periods.
    pub(super) fn shift(&mut self, by: V2) {
        let nodes = self.nodes.iter_mut().map(|n| &mut n.1);
        for p in self.pieces.iter_mut().flat_map(|p| &mut p.control).chain(nodes) {
            *p += by;
        }
    }

    /// Moves the end of the pcurve (the start unless `at_end`) to the surface parameters `to`. The first
    /// or last piece changes; it stays straight if it is straight.
    pub(super) fn move_end(&mut self, at_end: bool, to: P2) {
        let last = self.pieces.len() - 1;
        let piece = &mut self.pieces[if at_end { last } else { 0 }];
        let c = &mut piece.control;
        let (end, next) = if at_end { (3, 2) } else { (0, 1) };
        let by = to - c[end];
        c[end] = to;
        c[next] += by;
        if piece.straight {
            *c = straight(c[0], c[3]);
        }
    }

    pub(super) fn deviation(&self) -> f64 {
        self.pieces.iter().fold(self.off_surface, |m, p| m.max(p.deviation))
    }
}

/// Returns the evenly spaced control points of a straight piece from `a` to `b`.
pub(super) fn straight(a: P2, b: P2) -> [P2; 4] {
    // A coordinate that is equal at both ends must stay exactly constant, so that an isoparametric line
    // stays isoparametric.
    let mix = |x: f64, y: f64, s: f64| if x.to_bits() == y.to_bits() { x } else { x + (y - x) * s };
    let at = |s: f64| P2::new(mix(a.x, b.x, s), mix(a.y, b.y, s));
    [a, at(1.0 / 3.0), at(2.0 / 3.0), b]
}

/// Returns the point and the derivative of a cubic with control points `c` at `s` in 0..1.
pub(super) fn cubic(c: &[P2; 4], s: f64) -> (P2, V2) {
    let r = 1.0 - s;
    let p = c[0].coords * (r * r * r)
        + c[1].coords * (3.0 * r * r * s)
        + c[2].coords * (3.0 * r * s * s)
        + c[3].coords * (s * s * s);
    let d = (c[1] - c[0]) * (3.0 * r * r) + (c[2] - c[1]) * (6.0 * r * s) + (c[3] - c[2]) * (3.0 * s * s);
    (P2::from(p), d)
}

/// Limits for the fit of a pcurve.
#[derive(Clone, Copy, Debug)]
pub(super) struct FitLimits {
    /// Maximum distance (mm, in space) between the pieces, mapped to the surface, and the projection of
    /// the edge.
    pub(super) tol: f64,
    /// Maximum distance (mm) of an edge's end from a singular point that counts as at the point.
    pub(super) singular_tol: f64,
    /// Length (mm) below which a parameter line counts as a point for an edge that ends there; it
    /// follows from the uncertainty of the file.
    pub(super) weak_tol: f64,
    /// Maximum distance (mm) of an edge from the seam of a closed patch at which the edge counts as
    /// running along the seam, if both its ends are on the seam.
    pub(super) seam_tol: f64,
    /// Maximum number of times that an interval between two breaks of the curve is halved.
    pub(super) max_depth: u32,
}

/// Tolerance of the fit, relative to the distance between an edge and its surface, if this is larger
/// than the tolerance of exact edges. The projection of an edge beside the border of a patch has
/// corners, and following them exactly takes thousands of pieces. With a larger value trimming curves
/// deviate more from the projections of inexact edges; a smaller one gives more pieces.
const OFF_SHARE: f64 = 1e-2;

/// An end of an edge whose surface parameters `uv` are known from an adjacent edge. `upper` states
/// whether it is the upper end of the edge's parameter range; `off` is the largest distance (mm) of the
/// adjacent edge from the surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) upper: bool,
    pub(super) uv: P2,
    pub(super) off: f64,
}

/// Fits a pcurve, in the parameter plane of `host`, to the part `range` of the space curve `curve`.
/// `known` is an end whose surface parameters are known from an adjacent edge.
pub(super) fn fit(
    host: &Host<'_>,
    curve: &Curve,
    range: (f64, f64),
    known: Option<Known>,
    limits: &FitLimits,
) -> Pcurve {
    let trace = Trace::new(host, curve, range, known, limits);
    let limits = &FitLimits { tol: limits.tol.max(OFF_SHARE * trace.off_surface), ..*limits };
    let mut out = Pcurve {
        pieces: vec![],
        joints: vec![range.0],
        off_surface: trace.off_surface,
        nodes: vec![],
        singular: trace.singular,
        jump: [None; 2],
    };
    if let Some(control) = trace.straight(limits.tol) {
        out.pieces.push(Piece { control, straight: true, deviation: 0.0 });
        out.joints.push(range.1);
    } else {
        let mut spans = vec![range.0];
        spans.extend(curve.breaks(range.0, range.1));
        spans.extend(trace.weak.iter().flatten().map(|w| w.until));
        spans.push(range.1);
        spans.sort_by(f64::total_cmp);
        spans.dedup();
        // A cubic cannot represent an arc of more than a quarter turn, so no fit is attempted for longer
        // arcs.
        let cut =
            if curve.period().is_some() && curve.breaks(range.0, range.1).is_empty() { 8.0 } else { 1.0 };
        let quarter = curve.period().map_or(f64::INFINITY, |p| p / cut);
        for ab in spans.windows(2) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful")]
            let n = ((ab[1] - ab[0]) / quarter).ceil().clamp(1.0, 64.0) as u32;
            let at =
                |k: u32| if k == n { ab[1] } else { ab[0] + (ab[1] - ab[0]) * f64::from(k) / f64::from(n) };
            for k in 0..n {
                let (ta, tb) = (at(k), at(k + 1));
                let ends = [(ta, tb), (tb, ta)].map(|(t, inside)| {
                    let uv = trace.at(t);
                    Joint { t, uv, velocity: trace.velocity(t, uv, inside) }
                });
                trace.fit_span(&ends, [None; 5], limits.max_depth, limits, &mut out);
            }
        }
    }
    out.nodes = trace.nodes;
    debug_assert_eq!(out.joints.len(), out.pieces.len() + 1, "every span gives at least one piece");
    out
}

/// Measures the distance (mm, in space) of every piece of `pcurve`, mapped to the surface, from the edge
/// and stores it in [`Piece::deviation`]. It is called after the ends of the pcurve have been moved.
/// `fit_tol` (mm) is the tolerance of the fit.
pub(super) fn measure(host: &Host<'_>, curve: &Curve, range: (f64, f64), fit_tol: f64, pcurve: &mut Pcurve) {
    let usual = 2.0 * (pcurve.off_surface + fit_tol);
    let joints = &pcurve.joints;
    let nodes = &pcurve.nodes;
    for (k, piece) in pcurve.pieces.iter_mut().enumerate() {
        let (a, b) = (joints[k], joints[k + 1]);
        // Newton's method may leave the parameter range of the piece slightly, but not that of the edge.
        let (lo, hi) = ((a - 0.2 * (b - a)).max(range.0), (b + 0.2 * (b - a)).min(range.1));
        // The distance between two points that move on straight lines is convex, so it is largest at an
        // end. Otherwise, errors of cubics have peaks near a fifth and in between: 17 samples miss less
        // than the margin of 5 %.
        let is_ruling = piece.straight && piece.control[0].x.to_bits() == piece.control[3].x.to_bits();
        let affine = match (curve, host.surface) {
            (Curve::Line { .. }, Surface::Plane { .. }) => piece.straight,
            (Curve::Line { .. }, Surface::Cylinder { .. } | Surface::Cone { .. }) => is_ruling,
            _ => false,
        };
        let n = if affine { 1 } else { 16 };
        piece.deviation = 1.05
            * (0..=n).fold(0.0, |worst: f64, i| {
                let s = f64::from(i) / f64::from(n);
                let p = host.surface.point(cubic(&piece.control, s).0);
                let mut off = distance_to_curve(curve, &p, a + (b - a) * s, lo, hi);
                if off > usual {
                    // The piece is not parametrised like the curve, so over more than a turn the starting
                    // point may be wrong.
                    let inside = nodes.iter().map(|n| n.0).filter(|t| lo <= *t && *t <= hi);
                    off = inside.fold(off, |m, t| m.min(distance_to_curve(curve, &p, t, lo, hi)));
                }
                worst.max(off)
            });
    }
}

/// Returns the distance (mm) from `p` to the nearest curve point around `t` within `[lo, hi]` (curve
/// parameters).
fn distance_to_curve(curve: &Curve, p: &P3, t: f64, lo: f64, hi: f64) -> f64 {
    foot_on_curve(curve, p, t, lo, hi).0
}

/// Returns the distance (mm) from `p` to the nearest curve point around `t` within `[lo, hi]` (curve
/// parameters), and the parameter of that point.
pub(super) fn foot_on_curve(curve: &Curve, p: &P3, mut t: f64, lo: f64, hi: f64) -> (f64, f64) {
    let mut best = (f64::INFINITY, t);
    if let Curve::Line { origin, dir } = curve {
        let t = (p - origin).dot(dir).max(lo).min(hi);
        return ((origin + dir * t - p).norm(), t);
    }
    if let Curve::Circle { frame, radius } = curve {
        let q = frame.local(p);
        let at = math::unwrap_near(math::atan2(q.y, q.x), t, std::f64::consts::TAU);
        if lo <= at && at <= hi {
            return (math::hypot(math::hypot(q.x, q.y) - radius, q.z), at);
        }
    }
    // Newton's method on the squared distance keeps the best value, so a bad step does no harm.
    for _ in 0..8 {
        let d = curve.derivs(t);
        let off = d.p - p;
        let distance = off.norm();
        if distance < best.0 {
            best = (distance, t);
        }
        let speed = d.d1.norm_squared();
        let h = speed + off.dot(&d.d2);
        let step = off.dot(&d.d1) / if h > 0.1 * speed { h } else { speed };
        let next = (t - step).clamp(lo, hi);
        if !next.is_finite() || (next - t).abs() <= 1e-14 * (1.0 + t.abs()) {
            break;
        }
        t = next;
    }
    best
}

/// Samples of an edge in the parameter plane of a surface. They are dense enough to unwrap the
/// parameters and to start every inversion.
struct Trace<'a> {
    host: &'a Host<'a>,
    curve: &'a Curve,
    range: (f64, f64),
    nodes: Vec<(f64, P2)>,
    singular: [Option<usize>; 2],
    /// Weak intervals at the start and at the end of the edge; `None` for an end without one.
    weak: [Option<Weak>; 2],
    /// Values of u and of v at the lower side of the parameter rectangle, if the edge runs along the
    /// seam at which a patch without a period closes in that parameter; otherwise `None`.
    seam: [Option<f64>; 2],
    off_surface: f64,
    /// Maximum plausible distance (mm) of a sample from the surface. It starts at ten times the fit
    /// tolerance and is raised to four times the distances that global searches and the known end give.
    usual: Cell<f64>,
    /// Whether a global search has found a nearer point than the walk along the edge.
    jumped: Cell<bool>,
    /// Number of global searches until now.
    searches: Cell<u32>,
    /// Number of halvings that are still allowed beyond the maximum depth; it starts at
    /// [`MAX_EXTRA_SPLITS`].
    extra_splits: Cell<u32>,
}

/// An interval at an end of an edge on which one surface parameter is not determined, because the
/// surface is nearly a point there. That parameter keeps its value at the inner end of the interval.
#[derive(Clone, Copy, Debug)]
struct Weak {
    /// End of the edge at which the interval is: 0 for the start, 1 for the end.
    end: usize,
    /// Curve parameter at the inner end of the interval.
    until: f64,
    /// Index of the parameter that is not determined (0 for u, 1 for v); `free` is its value.
    k_free: usize,
    free: f64,
}

impl Weak {
    fn contains(&self, t: f64) -> bool {
        if self.end == 0 { t <= self.until } else { t >= self.until }
    }

    fn constrained(&self, mut uv: P2) -> P2 {
        uv[self.k_free] = self.free;
        uv
    }
}

/// Number of halvings of an edge's parameter intervals that are allowed beyond [`FitLimits::max_depth`],
/// for intervals whose error is more than [`FAR_OFF`] times the tolerance of the fit. A larger value
/// allows more pieces of edges with noise, with a smaller one trimming curves deviate near almost
/// collapsed corners.
const MAX_EXTRA_SPLITS: u32 = 100;
/// Minimum error of a cubic, relative to the tolerance of the fit, at which its interval is halved
/// beyond the maximum depth; see [`MAX_EXTRA_SPLITS`]. With a smaller value noise uses up the number of
/// halvings, with a larger one trimming curves deviate more.
const FAR_OFF: f64 = 4.0;
/// Minimum length of an interval that is halved beyond the maximum depth, relative to the edge's
/// parameter range. A larger value leaves errors near almost collapsed corners, a smaller one halves
/// intervals whose ends differ only by rounding.
const MIN_SPAN: f64 = 1e-10;

/// Number of steps of the bisection that finds the inner end of a weak interval ([`Weak`]) between two
/// samples. With a larger value the end is more exact, which has no effect on the fit; with a smaller
/// one the parameter that is not determined in the interval is taken from a point farther inside the
/// edge.
const WEAK_HALVINGS: u32 = 16;

/// Maximum number of global searches along one edge; each takes thousands of times as long as a step of
/// Newton's method. Parametrisations on which that method does not converge (with weights of a million,
/// for example) would need a search for every sample. After this number, samples keep their guesses, and
/// the measured deviation includes the error.
const MAX_SEARCHES: u32 = 200;

impl<'a> Trace<'a> {
    fn new(
        host: &'a Host<'a>,
        curve: &'a Curve,
        range: (f64, f64),
        known: Option<Known>,
        limits: &FitLimits,
    ) -> Self {
        let (t0, t1) = range;
        let at_singular = |t: f64, other: f64| {
            host.singular_at(&curve.point(t), limits.singular_tol, &curve.point(t + 1e-3 * (other - t)))
        };
        let singular = [at_singular(t0, t1), at_singular(t1, t0)];
        let mut ts = vec![t0];
        ts.extend(curve.breaks(t0, t1));
        ts.push(t1);
        let ts: Vec<f64> = ts
            .windows(2)
            .flat_map(|ab| {
                let n = match (curve, host.surface) {
                    // The edge is straight and has constant speed between its ends.
                    (Curve::Line { .. }, Surface::Plane { .. }) => 2,
                    (Curve::Line { .. }, s) if s.is_canonical() => 8,
                    _ if ts.len() > 9 => 4,
                    _ => 16,
                };
                let (a, b) = (ab[0], ab[1]);
                (0..n).map(move |k| a + (b - a) * f64::from(k) / f64::from(n))
            })
            .chain([t1])
            .collect();
        let mut trace = Self {
            host,
            curve,
            range,
            nodes: vec![],
            singular,
            weak: [None; 2],
            seam: [None; 2],
            off_surface: 0.0,
            usual: Cell::new(10.0 * limits.tol),
            jumped: Cell::new(false),
            searches: Cell::new(0),
            extra_splits: Cell::new(MAX_EXTRA_SPLITS),
        };
        let start = known.and_then(|k| trace.at_known_end(&ts, k));
        let from_end = start.is_some();
        trace.follow(&ts, start);
        if from_end && trace.jumped.get() {
            // The known end was on another sheet of the surface, which intersects itself there or nearly
            // does.
            trace.usual.set(10.0 * limits.tol);
            trace.off_surface = 0.0;
            trace.follow(&ts, None);
        }
        trace.seam = [0, 1].map(|k| trace.followed_seam(k, limits));
        if trace.seam.iter().any(Option::is_some) {
            trace.off_surface = 0.0;
            for i in 0..trace.nodes.len() {
                let (t, uv) = trace.nodes[i];
                let uv = trace.on_seam(t, uv);
                trace.note(t, uv);
                trace.nodes[i].1 = uv;
            }
        }
        trace.add_singular_ends();
        let weak_tol = limits.weak_tol.max(trace.off_surface);
        for end in [0, 1] {
            trace.weak[end] = trace.weak_end(end, weak_tol);
            if let Some(w) = trace.weak[end] {
                trace.nodes.iter_mut().filter(|n| w.contains(n.0)).for_each(|n| n.1 = w.constrained(n.1));
            }
        }
        trace
    }

    /// Returns the value of parameter `k` (0 for u, 1 for v) at the lower side of the parameter
    /// rectangle, if the surface closes in that parameter without a period and the whole edge runs along
    /// that seam; otherwise `None`. An edge that changes between both sides, or has both ends on the
    /// seam, may be up to [`FitLimits::seam_tol`] from the seam.
    fn followed_seam(&self, k: usize, limits: &FitLimits) -> Option<f64> {
        let r = &self.host.natural;
        let (closed, lo, hi) =
            if k == 0 { (self.host.u_closed, r.u0, r.u1) } else { (self.host.v_closed, r.v0, r.v1) };
        if !closed {
            return None;
        }
        let is_high = |uv: P2| uv[k] - lo > hi - uv[k];
        let n_high = self.nodes.iter().filter(|n| is_high(n.1)).count();
        let changes = n_high > 0 && n_high < self.nodes.len();
        let near = 4.0 * self.off_surface.max(limits.tol);
        let surface = self.host.surface;
        let off = |uv: P2| {
            let mut on_side = uv;
            on_side[k] = if is_high(uv) { hi } else { lo };
            (surface.point(on_side) - surface.point(uv)).norm()
        };
        let ends_there = [self.nodes.first(), self.nodes.last()].iter().flatten().all(|n| off(n.1) <= near);
        let near = if changes || ends_there { near.max(limits.seam_tol) } else { near };
        let follows = self.nodes.iter().all(|n| off(n.1) <= near);
        // A short edge that touches the seam does not determine whether it follows the seam.
        let first = surface.point(self.nodes[0].1);
        let is_long = self.nodes.iter().any(|n| (surface.point(n.1) - first).norm() > 4.0 * near);
        (follows && is_long).then_some(lo)
    }

    /// Returns `uv`, the surface parameters of the edge's projection at `t`, moved to the nearest point
    /// of the seam along which the edge runs; unchanged if the edge runs along no seam.
    fn on_seam(&self, t: f64, mut uv: P2) -> P2 {
        for k in [0, 1] {
            let Some(side) = self.seam[k] else { continue };
            uv[k] = side;
            let (lo, hi) = {
                let r = self.host.reach();
                if k == 0 { (r.v0, r.v1) } else { (r.u0, r.u1) }
            };
            let p = self.curve.point(t);
            // The start is near the nearest point of the seam, where this converges.
            for _ in 0..4 {
                let (q, du, dv) = self.host.surface.first_derivs(uv);
                let along = if k == 0 { dv } else { du };
                let step = (p - q).dot(&along) / along.norm_squared();
                if step.is_finite() {
                    uv[1 - k] = (uv[1 - k] + step).clamp(lo, hi);
                }
            }
        }
        uv
    }

    /// Returns the weak interval at the start (`end` = 0) or at the end (1) of the edge; `None` if there
    /// the surface is not nearly a point. One parameter line through each point of the interval is
    /// within `tol` (mm) of that point.
    fn weak_end(&self, end: usize, tol: f64) -> Option<Weak> {
        if self.singular[end].is_some() || !matches!(self.host.surface, Surface::Bezier(_)) {
            return None;
        }
        let last = self.nodes.len() - 1;
        let node = |k: usize| self.nodes[if end == 0 { k } else { last - k }];
        let k_free = [0, 1].into_iter().find(|k| self.host.is_short_line(node(0).1, *k, tol))?;
        // An edge that lies wholly in such an interval keeps its own parameters.
        let k = (1..=last).find(|k| !self.host.is_short_line(node(*k).1, k_free, tol))?;
        let ((mut weak, _), (mut strong, mut limit)) = (node(k - 1), node(k));
        for _ in 0..WEAK_HALVINGS {
            let t = 0.5 * (weak + strong);
            let uv = self.at(t);
            if self.host.is_short_line(uv, k_free, tol) {
                weak = t;
            } else {
                (strong, limit) = (t, uv);
            }
        }
        Some(Weak { end, until: strong, k_free, free: limit[k_free] })
    }

    /// Returns the index in `ts` (curve parameters) and the surface parameters of the known end. Returns
    /// `None` if they are not reliable as a start, because the end is on a singular point or a seam, or
    /// is implausibly far from the surface.
    fn at_known_end(&self, ts: &[f64], known: Known) -> Option<(usize, P2)> {
        let Surface::Bezier(b) = self.host.surface else { return None };
        if self.singular[usize::from(known.upper)].is_some() {
            return None;
        }
        let i = if known.upper { ts.len() - 1 } else { 0 };
        let (uv, off) = b.descend(&self.curve.point(ts[i]), known.uv)?;
        if off > self.usual.get().max(4.0 * known.off) || self.host.is_on_closed_side(uv) {
            return None;
        }
        self.usual.set(self.usual.get().max(4.0 * off));
        Some((i, uv))
    }

    /// Computes the nodes at the curve parameters `ts`, walking in both directions from `start` (an
    /// index and its surface parameters), or from the middle without a start.
    fn follow(&mut self, ts: &[f64], start: Option<(usize, P2)>) {
        let (start, uv) = start.unwrap_or_else(|| {
            let mid = ts.len() / 2;
            let p = self.curve.point(ts[mid]);
            let uv = self.host.invert_global(&p);
            self.usual.set(self.usual.get().max(4.0 * (self.host.surface.point(uv) - p).norm()));
            (mid, uv)
        });
        let last = ts.len() - 1;
        let singular = self.singular;
        let inner = |k: usize| !(k == 0 && singular[0].is_some() || k == last && singular[1].is_some());
        self.note(ts[start], uv);
        let mut down = vec![];
        let mut at = (ts[start], uv);
        for k in (0..start).rev().filter(|k| inner(*k)) {
            self.walk(at, ts[k], 0, &mut down);
            at = down[down.len() - 1];
        }
        let mut up = vec![];
        at = (ts[start], uv);
        for k in (start + 1..ts.len()).filter(|k| inner(*k)) {
            self.walk(at, ts[k], 0, &mut up);
            at = up[up.len() - 1];
        }
        self.nodes = down.into_iter().rev().chain([(ts[start], uv)]).chain(up).collect();
    }

    /// Updates `off_surface`, the largest distance of the edge from the surface, with that of the node
    /// with curve parameter `t` and surface parameters `uv`.
    fn note(&mut self, t: f64, uv: P2) {
        let off = (self.host.surface.point(uv) - self.curve.point(t)).norm();
        self.off_surface = if off.is_nan() { off } else { self.off_surface.max(off) };
    }

    /// Appends the nodes after the node `from`, up to curve parameter `t`, to `out`. The interval is
    /// halved while the surface parameters change by more than a fifth of a period, which is too fast
    /// for reliable unwrapping. `depth` is the number of halvings so far.
    fn walk(&mut self, from: (f64, P2), t: f64, depth: u32, out: &mut Vec<(f64, P2)>) {
        let uv = self.near(t, self.predicted(from, t));
        let far = |d: f64, p: Option<f64>| p.is_some_and(|p| d.abs() > 0.2 * p);
        let d = uv - from.1;
        if depth < 24 && (far(d.x, self.host.u_period) || far(d.y, self.host.v_period)) {
            let half = 0.5 * (from.0 + t);
            self.walk(from, half, depth + 1, out);
            let at = out[out.len() - 1];
            self.walk(at, t, depth + 1, out);
            return;
        }
        self.note(t, uv);
        out.push((t, uv));
    }

    /// Returns a guess of the surface parameters at curve parameter `t`: those predicted from the edge's
    /// velocity at the node `from`, or those of `from`, whichever are nearer to the edge in space.
    fn predicted(&self, from: (f64, P2), t: f64) -> P2 {
        if matches!(self.host.surface, Surface::Plane { .. }) {
            return from.1;
        }
        let jacobian = self.host.jacobian(from.1);
        let Some(v) = pull(&jacobian, &self.curve.derivs(from.0).d1) else { return from.1 };
        let r = &self.host.natural;
        let at = from.1 + v * (t - from.0);
        let inside = |x: f64, period: Option<f64>, lo: f64, hi: f64| {
            if period.is_some() { x } else { x.clamp(lo, hi) }
        };
        let at = P2::new(
            inside(at.x, self.host.u_period, r.u0, r.u1),
            inside(at.y, self.host.v_period, r.v0, r.v1),
        );
        let p = self.curve.point(t);
        let off = |uv: P2| (self.host.surface.point(uv) - p).norm();
        if off(at) < off(from.1) { at } else { from.1 }
    }

    /// Returns the surface parameters of the edge's projection at curve parameter `t`, starting from
    /// `hint`. If Newton's method gives no point within `usual` of the edge, the surface is searched,
    /// because the method may have converged to a minimum of the distance that is not the nearest point.
    fn near(&self, t: f64, hint: P2) -> P2 {
        let p = self.curve.point(t);
        if self.host.surface.is_canonical() {
            return self.host.invert(&p, hint, self.usual.get());
        }
        if let Some(uv) = self.host.descend(&p, hint, self.usual.get()) {
            return uv;
        }
        if self.searches.get() >= MAX_SEARCHES {
            return hint;
        }
        self.searches.set(self.searches.get() + 1);
        let uv = self.host.search_near(&p, hint);
        let off = (self.host.surface.point(uv) - p).norm();
        if off <= self.usual.get() {
            return uv;
        }
        let found = self.host.unwrapped(self.host.invert_global(&p), hint);
        let least = (self.host.surface.point(found) - p).norm();
        self.usual.set(self.usual.get().max(4.0 * least));
        if least < 0.5 * off {
            self.jumped.set(true);
            found
        } else {
            uv
        }
    }

    /// Adds nodes at ends that are singular points. The free parameter of such a node is its limit from
    /// inside the edge.
    fn add_singular_ends(&mut self) {
        let (t0, t1) = self.range;
        for (end, t_end) in [(0, t0), (1, t1)] {
            let Some(k) = self.singular[end] else { continue };
            let s = self.host.singular[k];
            let h = (t1 - t0) * if end == 0 { 1e-3 } else { -1e-3 };
            let (far, near) = (self.at(t_end + 2.0 * h), self.at(t_end + h));
            let free = 2.0 * s.free(near) - s.free(far);
            // If the parameter changes fast, extrapolation does not give the limit; the value at the
            // nearer sample is then the better guess.
            let free = if (free - s.free(near)).abs() < 0.1 { free } else { s.free(near) };
            let node = (t_end, s.uv(free, s.value));
            if end == 0 {
                self.nodes.insert(0, node);
            } else {
                self.nodes.push(node);
            }
        }
    }

    /// Returns the surface parameters of the edge's projection at curve parameter `t`.
    fn at(&self, t: f64) -> P2 {
        let i = self.nodes.partition_point(|n| n.0 <= t);
        if let Some(n) = self.nodes[..i].last().filter(|n| n.0 >= t) {
            return n.1;
        }
        let hint = match (i.checked_sub(1).map(|k| self.nodes[k]), self.nodes.get(i)) {
            (Some(a), Some(b)) => a.1 + (b.1 - a.1) * ((t - a.0) / (b.0 - a.0)),
            (Some(a), None) => a.1,
            (None, Some(b)) => b.1,
            (None, None) => P2::origin(),
        };
        let uv = self.on_seam(t, self.near(t, hint));
        self.weak.iter().flatten().find(|w| w.contains(t)).map_or(uv, |w| w.constrained(uv))
    }

    /// Returns the derivative of the edge's surface parameters, which are `uv` at `t`, with respect to
    /// the curve parameter. It is the limit from the side of `inside`, another curve parameter.
    fn velocity(&self, t: f64, uv: P2, inside: f64) -> V2 {
        // The curve is evaluated slightly inside because derivatives jump at its breaks.
        let velocity = self.curve.derivs(t + 1e-9 * (inside - t)).d1;
        let chord = |h: f64| (self.at(t + h * (inside - t)) - uv) / (h * (inside - t));
        let weak = self.weak.iter().flatten().any(|w| w.contains(t));
        let singular = weak || self.singular_end(t);
        match pull(&self.host.jacobian(uv), &velocity).filter(|_| !singular) {
            Some(v) if v.norm() > 1e-6 * chord(1.0).norm() => v,
            _ => chord(1e-3) * 2.0 - chord(2e-3),
        }
    }

    fn length(&self) -> f64 {
        self.range.1 - self.range.0
    }

    fn singular_end(&self, t: f64) -> bool {
        let at = |a: f64| t.to_bits() == a.to_bits();
        (at(self.range.0) && self.singular[0].is_some()) || (at(self.range.1) && self.singular[1].is_some())
    }

    /// Returns the control points of one straight piece if that piece is within `tol` (mm, in space) of
    /// the whole edge; otherwise `None`. A parameter that does not change is made exactly constant.
    fn straight(&self, tol: f64) -> Option<[P2; 4]> {
        let (mut a, mut b) = (self.nodes[0].1, self.nodes[self.nodes.len() - 1].1);
        #[expect(clippy::cast_precision_loss, reason = "a handful of nodes")]
        let n = self.nodes.len() as f64;
        let mean = self.nodes.iter().fold(V2::zeros(), |m, (_, uv)| m + uv.coords / n);
        let jacobians: Vec<(V3, V3)> = self.nodes.iter().map(|(_, uv)| self.host.jacobian(*uv)).collect();
        let constant = |k: usize| {
            let off = |(uv, j): (&(f64, P2), &(V3, V3))| {
                (uv.1[k] - mean[k]).abs() * if k == 0 { j.0.norm() } else { j.1.norm() }
            };
            self.nodes.iter().zip(&jacobians).all(|x| off(x) <= tol)
        };
        for k in [0, 1] {
            if constant(k) {
                (a[k], b[k]) = (mean[k], mean[k]);
                self.snap(k, &mut a, &mut b, tol);
            }
        }
        let dir = b - a;
        let fits = self.nodes.iter().zip(&jacobians).all(|((_, uv), j)| {
            let (along, off) = (push(j, dir), push(j, uv - a));
            let s = off.dot(&along) / along.norm_squared();
            // The chord has no direction where the parametrisation collapses.
            let s = if s.is_finite() { s } else { 0.0 };
            (off - along * s).norm() <= tol
        });
        fits.then(|| straight(a, b))
    }

    /// Moves parameter `k` (0 for u, 1 for v) of `a` and `b`, which is equal in both, exactly onto a
    /// side of the parameter rectangle if it is within `tol` (mm, in space) of that side.
    fn snap(&self, k: usize, a: &mut P2, b: &mut P2, tol: f64) {
        let r = &self.host.natural;
        let sides = if k == 0 { [r.u0, r.u1] } else { [r.v0, r.v1] };
        let (du, dv) = self.host.jacobian(nalgebra::center(a, b));
        let speed = if k == 0 { du.norm() } else { dv.norm() };
        for side in sides {
            if side.is_finite() && (a[k] - side).abs() * speed <= tol {
                (a[k], b[k]) = (side, side);
            }
        }
    }

    /// Fits one cubic between two joints and appends it to `out`, or halves the interval if the error is
    /// too large and `depth` permits it. `known` are the surface parameters at sixths of the interval,
    /// where a larger interval has computed them.
    fn fit_span(
        &self,
        [a, b]: &[Joint; 2],
        known: [Option<P2>; 5],
        depth: u32,
        limits: &FitLimits,
        out: &mut Pcurve,
    ) {
        let h = b.t - a.t;
        let mut samples = [Sample::default(); 5];
        for ((s, k), known) in samples.iter_mut().zip(1..).zip(known) {
            s.fraction = f64::from(k) / 6.0;
            s.s = s.fraction;
            s.uv = known.unwrap_or_else(|| self.at(a.t + h * s.s));
            let (p, du, dv) = self.host.surface.first_derivs(s.uv);
            (s.p, s.jacobian) = (p, (du, dv));
        }
        let (va, most_a) = limited(a.velocity * (h / 3.0), [a, b], &samples, limits.tol);
        let (vb, most_b) = limited(b.velocity * (h / 3.0), [a, b], &samples, limits.tol);
        let tangents = Tangents { a: a.uv, b: b.uv, va, vb, most: [most_a, most_b] };
        let (mut control, mut error) = adjust(&tangents, &self.host.reach(), limits.tol, &mut samples);
        if matches!(self.host.surface, Surface::Bezier(_)) && (error <= limits.tol || depth == 0) {
            error = self.error_in_space(&control, &samples);
        }
        // Beside a side that is nearly a point in space, a parameter may change over a tiny part of the
        // edge.
        let extra = self.extra_splits.get();
        let depth = if depth == 0 && extra > 0 && error > FAR_OFF * limits.tol && h > MIN_SPAN * self.length()
        {
            self.extra_splits.set(extra - 1);
            1
        } else {
            depth
        };
        if depth == 0 && error > limits.tol {
            let chord = straight(a.uv, b.uv);
            let other = self.error_in_space(&chord, &samples.map(|s| Sample { s: s.fraction, ..s }));
            if other < error {
                control = chord;
            }
        }
        if error <= limits.tol || depth == 0 {
            out.pieces.push(Piece { control, straight: false, deviation: 0.0 });
            out.joints.push(b.t);
            return;
        }
        let t = 0.5 * (a.t + b.t);
        let [s1, s2, mid, s4, s5] = samples.map(|s| s.uv);
        let mid = Joint { t, uv: mid, velocity: self.velocity(t, mid, b.t) };
        self.fit_span(&[*a, mid], [None, Some(s1), None, Some(s2), None], depth - 1, limits, out);
        self.fit_span(&[mid, *b], [None, Some(s4), None, Some(s5), None], depth - 1, limits, out);
    }

    /// Returns the largest distance (mm) between a cubic, mapped to the surface, and the samples.
    /// Distances are measured across the curve. For samples that the cubic does not pass in their order,
    /// the full distance counts.
    fn error_in_space(&self, control: &[P2; 4], samples: &[Sample; 5]) -> f64 {
        let length = (self.host.surface.point(control[3]) - self.host.surface.point(control[0])).norm();
        let mut last = 0.0;
        samples.iter().fold(0.0, |worst: f64, q| {
            let (uv, d) = cubic(control, q.s);
            let (p, du, dv) = self.host.surface.first_derivs(uv);
            let along = push(&(du, dv), d);
            let off = q.p - p;
            let slide = along.try_normalize(0.0).map_or(0.0, |t| t.dot(&off));
            let across = (off.norm_squared() - slide * slide).max(0.0).sqrt();
            let in_order = q.s >= last && slide.abs() <= MAX_SLIDE * length;
            last = q.s;
            let error = if in_order { across } else { off.norm() };
            if error.is_nan() { f64::INFINITY } else { worst.max(error) }
        })
    }
}

/// Returns a tangent at an end of a cubic, limited to a plausible length in parameters that hardly move
/// the surface point, and the factor by which it may be multiplied so that it does not leave the range
/// of the samples. A parameter whose change over the cubic moves the surface point by less than `tol`
/// (mm) has no direction of its own: its velocities are differences of noise.
fn limited(mut tangent: V2, [a, b]: [&Joint; 2], samples: &[Sample; 5], tol: f64) -> (V2, f64) {
    let mut most = f64::INFINITY;
    for k in [0, 1] {
        let (lo, hi) = samples
            .iter()
            .map(|s| s.uv[k])
            .chain([b.uv[k]])
            .fold((a.uv[k], a.uv[k]), |(lo, hi), x| (lo.min(x), hi.max(x)));
        let speed = samples
            .iter()
            .fold(0.0, |m: f64, s| m.max(if k == 0 { s.jacobian.0.norm() } else { s.jacobian.1.norm() }));
        let reach = MAX_TANGENT * (hi - lo);
        if (hi - lo) * speed <= tol {
            // Unlike `f64::clamp`, this does not panic for NaN.
            tangent[k] = tangent[k].max(-reach).min(reach);
        } else if tangent[k] != 0.0 {
            most = most.min(reach / tangent[k].abs());
        }
    }
    (tangent, most)
}

/// Largest tangent length of a cubic in either parameter, relative to the range of that parameter over
/// the cubic. A larger value lets cubics leave that range, a smaller one flattens arcs.
const MAX_TANGENT: f64 = 2.0;
/// Maximum distance, along the cubic, of a sample from the nearest point that was found on the cubic,
/// relative to the cubic's chord. A larger value accepts cubics that stop short of their samples; with a
/// smaller one, steps that have not converged count as errors.
const MAX_SLIDE: f64 = 1e-2;

/// An end of an interval to which a cubic is fitted: curve parameter, surface parameters, and the
/// derivative of these with respect to the curve parameter.
#[derive(Clone, Copy, Debug)]
struct Joint {
    t: f64,
    uv: P2,
    velocity: V2,
}
