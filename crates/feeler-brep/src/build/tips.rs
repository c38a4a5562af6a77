//! Vertices at tips: the apices of cones, the tips of spindle tori and of patches of revolution. A tip is
//! a feature of the solid only if it has a vertex.

use feeler_geom::trim::Side;
use feeler_geom::{Curve, P3};

use super::Report;
use super::domain;
use super::draft::{Draft, Edge, Face, Vertex};
use super::host::Host;
use super::loops::{self, Tolerances};
use super::singular::Singular;
use crate::remark::shown_length;
use feeler_geom::count::index;

/// Moves vertices that lie beside a tip of a face onto the tip, each with a warning. All edges that end at
/// such a vertex pass through the tip, or the vertex is a loop of the face, so that the vertex can only be
/// the tip. The edges then end at the tip. Vertices farther than the gap tolerance from the tip are not
/// moved, nor is any vertex if the tip already has one.
pub(super) fn move_vertices(draft: &mut Draft, tol: &Tolerances, report: &mut Report) {
    let mut moved = vec![false; draft.vertices.len()];
    for face in 0..draft.faces.len() {
        let f = &draft.faces[face];
        let tips: Vec<P3> = f.singular.iter().filter(|s| !s.smooth).map(|s| s.point).collect();
        for tip in tips {
            let Some((v, distance)) = nearest(draft, vertices_of(draft, face), &tip) else { continue };
            let is_beside = distance > tol.fit.singular_tol && distance <= tol.gap;
            if !is_beside || moved[v as usize] || has_vertex(draft, &tip, tol) {
                continue;
            }
            let Some(ends) = ends_at(draft, v, &tip, tol) else { continue };
            for (edge, at_end, t) in ends {
                let range = &mut draft.edges[edge].range;
                *(if at_end { &mut range.1 } else { &mut range.0 }) = t;
            }
            draft.vertices[v as usize].point = tip;
            moved[v as usize] = true;
            let (id, face) = (draft.vertices[v as usize].id, draft.faces[face].id);
            report.warn(
                id,
                format!(
                    "vertex #{id} was moved by {} to the tip of face #{face}, where its edges meet",
                    shown_length(distance)
                ),
            );
        }
    }
}

/// Returns the indices of the vertices of a face.
fn vertices_of(draft: &Draft, face: usize) -> Vec<u32> {
    let f = &draft.faces[face];
    let of_edges = f.loops.iter().flatten().flat_map(|u| <[u32; 2]>::from(draft.ends(u)));
    of_edges.chain(f.vertex_loops.iter().copied()).collect()
}

/// Returns the index of that vertex of `vertices` that is nearest to `p`, and its distance (mm).
fn nearest(draft: &Draft, vertices: impl IntoIterator<Item = u32>, p: &P3) -> Option<(u32, f64)> {
    let off = |v: u32| (v, (draft.vertices[v as usize].point - p).norm());
    vertices.into_iter().map(off).min_by(|a, b| a.1.total_cmp(&b.1))
}

fn has_vertex(draft: &Draft, tip: &P3, tol: &Tolerances) -> bool {
    draft.vertices.iter().any(|v| (v.point - tip).norm() <= tol.fit.singular_tol)
}

/// Returns the ends of edges at the vertex `v`: the index of the edge, whether it is the end of its range,
/// and the parameter at which its curve passes through `tip`. Returns `None` if one of the curves does not
/// pass through `tip`, or if one of the edges has both ends within the gap tolerance of the tip.
fn ends_at(draft: &Draft, v: u32, tip: &P3, tol: &Tolerances) -> Option<Vec<(usize, bool, f64)>> {
    let mut out = Vec::new();
    for (i, e) in draft.edges.iter().enumerate() {
        for (own, other, at_end) in [(e.vertices.0, e.vertices.1, false), (e.vertices.1, e.vertices.0, true)]
        {
            if own != v {
                continue;
            }
            if (draft.vertices[other as usize].point - tip).norm() <= tol.gap {
                return None;
            }
            out.push((i, at_end, passes_through(e, at_end, tip, tol)?));
        }
    }
    Some(out)
}

/// Returns the parameter near the start of an edge's range, or near its end if `at_end`, at which its curve
/// passes through `tip`; `None` if it does not.
fn passes_through(e: &Edge, at_end: bool, tip: &P3, tol: &Tolerances) -> Option<f64> {
    let end = if at_end { e.range.1 } else { e.range.0 };
    let speed = e.curve.derivs(end).d1.norm();
    // The tip is within twice the gap tolerance of the end. A slow curve may need a longer interval.
    let reach = (4.0 * tol.gap / speed).min(0.5 * (e.range.1 - e.range.0));
    let (lo, hi) = match &e.curve {
        Curve::Bezier(b) if !b.periodic => b.range(),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    let t = e.curve.project(tip, (end - reach).max(lo), (end + reach).min(hi));
    ((e.curve.point(t) - tip).norm() <= tol.fit.singular_tol).then_some(t)
}

/// Adds a vertex at each tip that a face surrounds and for which the source has none: the apex of a cone or
/// the tip of a patch of revolution whose face is bounded by its rim only. If a vertex of any face is near
/// the tip, but not on it, no vertex is added, and `report` receives a warning.
pub(super) fn add(draft: &mut Draft, tol: &Tolerances, report: &mut Report) {
    for i in 0..draft.faces.len() {
        let f = &draft.faces[i];
        let on_tip = 10.0 * tol.fit.singular_tol;
        let own = vertices_of(draft, i);
        let has_own = |p: &P3| own.iter().any(|v| (draft.vertices[*v as usize].point - p).norm() <= on_tip);
        let bare: Vec<&Singular> = f.singular.iter().filter(|s| !s.smooth && !has_own(&s.point)).collect();
        if bare.is_empty() || f.loops.is_empty() {
            continue;
        }
        let mut tips = surrounded(f, &loops::host(draft, f), &bare);
        // The two tips of a horn torus coincide in space.
        tips.dedup_by(|a, b| (*a - *b).norm() <= on_tip);
        let id = f.id;
        for point in tips {
            match nearest(draft, 0..index(draft.vertices.len()), &point) {
                // Another face has its tip there.
                Some((v, off)) if off <= tol.fit.singular_tol => draft.faces[i].vertex_loops.push(v),
                Some((v, off)) if off <= tol.gap => {
                    let v = draft.vertices[v as usize].id;
                    report.warn(
                        id,
                        format!(
                            "face #{id}: vertex #{v} is {} beside its tip, which is not a vertex of the \
                            solid; minima at the tip may be missing or at the vertex; repair the face and \
                            export it again",
                            shown_length(off)
                        ),
                    );
                }
                _ => {
                    draft.faces[i].vertex_loops.push(index(draft.vertices.len()));
                    draft.vertices.push(Vertex { id, point, gap: 0.0 });
                    report.note(id, format!("face #{id}: its tip has no vertex in the file; one was added"));
                }
            }
        }
    }
}

/// Returns those of the points `tips` that the face surrounds: its domain covers the whole side of the
/// parameter rectangle that is the tip, and the two ends of this side coincide.
fn surrounded(f: &Face, host: &Host<'_>, tips: &[&Singular]) -> Vec<P3> {
    let cells = domain::domain(f, host).cells;
    let (r, natural) = (cells.rect, host.natural);
    let is_surrounded = |s: &Singular| {
        let (lo, hi, from, to, whole, is_closed) = if s.u_free {
            let is_closed = host.u_period.is_some() || host.u_closed;
            (r.v0, r.v1, r.u0, r.u1, host.u_period.unwrap_or(natural.u1 - natural.u0), is_closed)
        } else {
            let is_closed = host.v_period.is_some() || host.v_closed;
            (r.u0, r.u1, r.v0, r.v1, host.v_period.unwrap_or(natural.v1 - natural.v0), is_closed)
        };
        let step = TIP_STEP * (hi - lo);
        let inner = s.value + if s.low { step } else { -step };
        let n = TIP_SAMPLES;
        let mut samples =
            (0..n).map(|k| s.uv(from + (to - from) * (f64::from(k) + 0.4) / f64::from(n), inner));
        is_closed && to - from >= (1.0 - 1e-9) * whole && samples.all(|uv| cells.classify(uv) == Side::Inside)
    };
    tips.iter().filter(|s| is_surrounded(s)).map(|s| s.point).collect()
}

/// Distance in parameters from a tip at which points must be inside a face that contains the tip, relative to
/// the range of the face. A larger value misses tips near other edges of the face; a smaller one is lost in
/// rounding.
const TIP_STEP: f64 = 1e-6;

/// Number of points around a tip that must be inside a face that surrounds the tip. A larger value takes
/// more time; with a smaller one, a face with a narrow notch at its tip counts as surrounding it.
const TIP_SAMPLES: u32 = 16;
