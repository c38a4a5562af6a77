//! Loops in the parameter plane: the pcurves of each loop form one continuous curve, unwrapped over the
//! periods and with closed corners.

use feeler_geom::{P2, V2};

use super::draft::{Draft, Edge, Face, Use};
use super::host::{Host, push};
use super::pcurve::{FitLimits, Known, Pcurve, fit, measure};
use super::{BuildOptions, Problem, Report};

/// Tolerances for the construction of one solid, in mm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerances {
    pub(super) fit: FitLimits,
    /// Maximum gap at a corner of a loop, and maximum distance of an edge from its surface (mm).
    pub(super) gap: f64,
}

impl Tolerances {
    pub(super) fn new(size: f64, uncertainty: f64, options: &BuildOptions) -> Self {
        let gap = options.gap_tol(size, uncertainty);
        let fit = FitLimits {
            tol: options.fit_tolerance * size,
            singular_tol: 1e-7 * size,
            // `f64::clamp` would panic without a number.
            weak_tol: uncertainty.max(1e-7 * size).min(MAX_WEAK * size),
            seam_tol: gap,
            max_depth: options.max_fit_depth,
        };
        Self { fit, gap }
    }
}

/// Upper limit of the length of parameter lines that count as points for edges that end there
/// ([`FitLimits::weak_tol`]), relative to the solid's size. With a larger value edges lose their
/// parameters near real short sides; with a smaller one parameters are noise where a patch nearly
/// collapses.
const MAX_WEAK: f64 = 1e-5;

/// Creates the host of a face.
pub(super) fn host<'a>(draft: &Draft, face: &'a Face) -> Host<'a> {
    host_of(&draft.edges, face, &face.loops, draft.size)
}

fn host_of<'a>(edges: &[Edge], face: &'a Face, loops: &[Vec<Use>], size: f64) -> Host<'a> {
    let near = || {
        let at = |u: &Use| {
            let e = &edges[u.edge as usize];
            [0.125, 0.5, 0.875].map(|s| e.curve.point(e.range.0 + (e.range.1 - e.range.0) * s))
        };
        loops.iter().flatten().flat_map(at).collect()
    };
    Host::new(&face.surface, &face.singular, face.outer_sheet, &near, size)
}

/// Fits a pcurve to every use that does not have one yet. Edges farther than the gap tolerance from a
/// surface are added to `report` as problems.
pub(super) fn fit_all(draft: &mut Draft, tol: &Tolerances, report: &mut Report) {
    let mut faces = std::mem::take(&mut draft.faces);
    for face in &mut faces {
        if face.loops.iter().flatten().all(|u| u.pcurve.is_some()) {
            continue;
        }
        let mut loops = std::mem::take(&mut face.loops);
        let host = host_of(&draft.edges, face, &loops, draft.size);
        for ring in &mut loops {
            for k in 0..ring.len() {
                if ring[k].pcurve.is_some() {
                    continue;
                }
                let known = end_before(ring, k);
                let u = &mut ring[k];
                let e = &draft.edges[u.edge as usize];
                let pcurve = fit(&host, &e.curve, e.range, known, &tol.fit);
                if pcurve.off_surface.is_nan() || pcurve.off_surface > tol.gap {
                    let distance = pcurve.off_surface;
                    report.fail(Problem::EdgeOffSurface { edge: e.source, face: face.id, distance });
                }
                u.pcurve = Some(pcurve);
            }
        }
        face.loops = loops;
    }
    draft.faces = faces;
}

/// Returns the surface parameters at the start of the `k`-th use of a loop, which are those at the end
/// of the previous use. Returns `None` for the first use, and if the previous use has no pcurve.
fn end_before(ring: &[Use], k: usize) -> Option<Known> {
    let before = &ring[k.checked_sub(1)?];
    let p = before.pcurve.as_ref()?;
    let uv = if before.forward { p.end() } else { p.start() };
    Some(Known { upper: !ring[k].forward, uv, off: p.off_surface })
}

/// Joins the pcurves of every loop into a continuous curve, closes the corners and measures the
/// deviations from the edges.
pub(super) fn assemble(draft: &mut Draft, tol: &Tolerances, report: &mut Report) {
    let mut faces = std::mem::take(&mut draft.faces);
    for face in &mut faces {
        assemble_face(&draft.edges, face, draft.size, tol, report);
    }
    draft.faces = faces;
}

/// Performs [`assemble`] for one face. `size` (mm) is the solid's size.
pub(super) fn assemble_face(
    edges: &[Edge],
    face: &mut Face,
    size: f64,
    tol: &Tolerances,
    report: &mut Report,
) {
    let mut loops = std::mem::take(&mut face.loops);
    let host = host_of(edges, face, &loops, size);
    for ring in &mut loops {
        for u in ring.iter_mut() {
            let Some(p) = u.pcurve.as_mut() else { continue };
            choose_side(&host, p, u.forward == face.outward);
        }
        place(&host, ring);
        for k in 0..ring.len() {
            let next = (k + 1) % ring.len();
            let ids = (edges[ring[k].edge as usize].source, edges[ring[next].edge as usize].source);
            match close_corner(&host, ring, k, next, tol) {
                Corner::Closed => {}
                Corner::Jump(gap) if gap <= tol.fit.weak_tol => {}
                Corner::Jump(gap) => report.warn(face.id, format!(
                    "a loop of face #{} jumps by {gap:.1e} mm between edges #{} and #{}, where the surface \
                        nearly collapses",
                    face.id, ids.0, ids.1
                )),
                Corner::Open(distance) => {
                    report.fail(Problem::LoopGap { face: face.id, edges: ids, distance });
                }
            }
        }
        for u in ring.iter_mut() {
            let e = &edges[u.edge as usize];
            if let Some(p) = u.pcurve.as_mut() {
                measure(&host, &e.curve, e.range, tol.fit.tol, p);
                let distance = p.deviation();
                if distance.is_nan() || distance > tol.gap {
                    report.fail(Problem::EdgeOffSurface { edge: e.source, face: face.id, distance });
                }
            }
        }
    }
    face.loops = loops;
}

/// If the pcurve `p` runs along the seam of a closed surface without a period, moves it to that one of
/// the two sides of the parameter rectangle on which the material is to its left. Other pcurves do not
/// change. `along`: whether the loop, seen from the natural normal, follows the pcurve.
pub(super) fn choose_side(host: &Host<'_>, p: &mut Pcurve, along: bool) {
    let r = host.natural;
    let [a, b] = [p.start(), p.end()];
    let walk = if along { b - a } else { a - b };
    let on = |x: f64, side: f64, span: f64| (x - side).abs() <= 1e-7 * span;
    let (w, h) = (r.u1 - r.u0, r.v1 - r.v0);
    if host.u_closed && a.x.to_bits() == b.x.to_bits() {
        let side = if walk.y > 0.0 { r.u1 } else { r.u0 };
        if on(a.x, r.u0, w) || on(a.x, r.u1, w) {
            p.shift(V2::new(side - a.x, 0.0));
        }
    }
    if host.v_closed && a.y.to_bits() == b.y.to_bits() {
        let side = if walk.x > 0.0 { r.v0 } else { r.v1 };
        if on(a.y, r.v0, h) || on(a.y, r.v1, h) {
            p.shift(V2::new(0.0, side - a.y));
        }
    }
}

/// Shifts every pcurve of a loop by whole periods so that it starts where the previous one ends.
fn place(host: &Host<'_>, ring: &mut [Use]) {
    let mut at: Option<P2> = None;
    for u in ring {
        let forward = u.forward;
        let Some(p) = u.pcurve.as_mut() else { continue };
        let start = if forward { p.start() } else { p.end() };
        if let Some(at) = at {
            let near = host.unwrapped(start, at);
            // Shifts are whole periods; the sheet of a spindle torus has no period in v.
            let dv = if host.v_period.is_some() { near.y - start.y } else { 0.0 };
            p.shift(V2::new(near.x - start.x, dv));
        }
        at = Some(if forward { p.end() } else { p.start() });
    }
}

/// Result of joining the end of one edge and the start of the next one.
enum Corner {
    /// The two points were moved to one point.
    Closed,
    /// The two points were left this distance (mm) apart, because they are on a side of the surface that
    /// is nearly a point in space.
    Jump(f64),
    /// The two points are this distance (mm) apart, which is too far to close.
    Open(f64),
}

/// Maximum displacement in space of the middle of a piece when a corner is closed, relative to the gap
/// that is closed at its end (or to the fit tolerance, if that is larger). A larger value tilts edges, a
/// smaller one leaves jumps at corners that could be closed.
const TILT: f64 = 8.0;

/// Closes a corner of a loop: moves the pcurves at the end of the use `k` and at the start of the use
/// `next` to one point, up to whole periods. The corner is left as it is if the points are farther apart
/// than twice `tol.gap` ([`Corner::Open`]) or if the displacement would tilt an edge too much
/// ([`Corner::Jump`], [`TILT`]).
fn close_corner(host: &Host<'_>, ring: &mut [Use], k: usize, next: usize, tol: &Tolerances) -> Corner {
    let (k_at_end, next_at_end) = (ring[k].forward, !ring[next].forward);
    let end_of = |u: &Use, at_end: bool| {
        let p = u.pcurve.as_ref()?;
        let piece = if at_end { &p.pieces[p.pieces.len() - 1] } else { &p.pieces[0] };
        let (uv, tip) = if at_end { (p.end(), 1) } else { (p.start(), 0) };
        let c = &piece.control;
        let constant = |a: f64, b: f64| piece.straight && a.to_bits() == b.to_bits();
        Some((uv, p.singular[tip], constant(c[0].x, c[3].x), constant(c[0].y, c[3].y)))
    };
    let (Some(end), Some(start)) = (end_of(&ring[k], k_at_end), end_of(&ring[next], next_at_end)) else {
        return Corner::Closed;
    };
    let (e, e_singular, e_u, e_v) = end;
    let (s, s_singular, s_u, s_v) = start;
    let (to_e, to_s);
    if let Some(i) = e_singular.or(s_singular) {
        // Each pcurve keeps its own limit of the free parameter. If two sides share the point (the tips
        // of a horn torus), each pcurve also stays on its own side.
        let side = |own: Option<usize>| &host.singular[own.unwrap_or(i)];
        (to_e, to_s) = (side(e_singular).snapped(e), side(s_singular).snapped(s));
    } else {
        let shift = host.unwrapped(s, e) - s;
        let gap = s + shift - e;
        let distance = push(&host.jacobian(e), gap).norm();
        // Each end may be off the common vertex by the gap tolerance.
        if distance.is_nan() || distance > 2.0 * tol.gap {
            return Corner::Open(distance);
        }
        // In the parameter plane, the middle of a piece moves by half as much as its end.
        let spread = |u: &Use, at_end: bool| {
            u.pcurve.as_ref().map_or(0.0, |p| {
                let piece = if at_end { &p.pieces[p.pieces.len() - 1] } else { &p.pieces[0] };
                0.5 * push(&host.jacobian(super::pcurve::cubic(&piece.control, 0.5).0), gap).norm()
            })
        };
        if spread(&ring[k], k_at_end).max(spread(&ring[next], next_at_end)) > TILT * distance.max(tol.fit.tol)
        {
            for (at, end) in [(k, k_at_end), (next, next_at_end)] {
                if let Some(p) = ring[at].pcurve.as_mut() {
                    p.jump[usize::from(end)] = Some(distance);
                }
            }
            return Corner::Jump(distance);
        }
        let pick = |a: f64, b: f64, a_fixed: bool, b_fixed: bool| match (a_fixed, b_fixed) {
            (true, false) => a,
            (false, true) => b,
            _ => 0.5 * (a + b),
        };
        let s_near = s + shift;
        to_e = P2::new(pick(e.x, s_near.x, e_u, s_u), pick(e.y, s_near.y, e_v, s_v));
        to_s = to_e - shift;
    }
    if let Some(p) = ring[k].pcurve.as_mut() {
        p.move_end(k_at_end, to_e);
    }
    if let Some(p) = ring[next].pcurve.as_mut() {
        p.move_end(next_at_end, to_s);
    }
    Corner::Closed
}
