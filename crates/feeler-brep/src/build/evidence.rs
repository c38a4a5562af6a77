//! Evidence for one of the two domains that the loops of a face bound on a closed surface.
//!
//! Both domains are consistent: with the other normal, the loops enclose the complement, and every edge
//! is still used once in each direction. Neither winding numbers nor the orientation of the shell
//! distinguish the domains. Three properties do: a seam that the loops traverse in both directions lies
//! in the domain; the domain is connected; and a face continues its tangent neighbours instead of
//! folding back on them. [`vector_area`] checks a quantity that is the same for both domains.

use std::collections::BTreeSet;

use feeler_geom::trim::TrimCells;
use feeler_geom::{Curve, P3, Surface, V3};

use super::domain::{self, FaceDomain};
use super::draft::{Draft, Face, Use, UseAt};
use super::host::Host;
use super::loops::{self, Tolerances};
use super::pcurve::Pcurve;
use super::{Report, status};
use crate::solid::{EdgeInfo, EdgeStatus, Solid};
use feeler_geom::mass;

/// Minimum cosine of the angle between the outward normals of two faces that count as tangent at their
/// edge. With a larger value inexact tangent faces give no evidence; with a smaller one sharp edges
/// count as tangent.
const TANGENT_COS: f64 = 1.0 - 1e-3;
/// Maximum number of rows of a domain (lines `v = const` that divide it into strips) for which the
/// connected parts are counted. A domain with more rows counts as connected. A larger value takes more
/// time.
const MAX_STRIPS: usize = 4000;
/// Maximum difference between the vector areas of a face and of its edges due to quadrature, relative to
/// the area of the face. A larger value misses wrong domains; a smaller one rejects correct ones.
const VECTOR_AREA_SHARE: f64 = 1e-5;
/// Allowed difference of the vector areas of a face and of its edges, relative to the sum of the
/// deviations of the edges from the face times the lengths of the edges. A larger value misses wrong
/// domains; a smaller one rejects correct ones.
const GAP_MULTIPLE: f64 = 4.0;

/// Maximum difference between the vector areas of a reversed face and of its edges, relative to that of the
/// face with the normal of the file, at which the face is reversed. A larger value reverses faces without
/// evidence; with a smaller one, inexact faces are not reversed.
const MUCH_SMALLER: f64 = 1e-2;

/// Result of testing the guessed outward normal of one face.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guess {
    /// Entity id of the face.
    pub(super) face: u64,
    /// Whether the guess is wrong and the face must be reversed.
    pub(super) turn: bool,
    /// Evidence that the guess is wrong; empty if it is right.
    pub(super) reason: String,
}

/// Returns whether a set of loops on this surface always bounds two domains that could both be a face.
/// This requires that neither of the domains is unbounded or reaches a border of the surface.
pub(super) fn is_closed(host: &Host<'_>) -> bool {
    match host.surface {
        Surface::Plane { .. } | Surface::Cylinder { .. } | Surface::Cone { .. } => false,
        Surface::Sphere { .. } | Surface::Torus { .. } => true,
        Surface::Bezier(b) => !host.singular.is_empty() || (b.u_periodic && b.v_periodic),
    }
}

/// Number of connected parts of a domain; parts that share only a pole count as one.
pub(super) fn num_parts(host: &Host<'_>, cells: &TrimCells) -> usize {
    let rows = cells.rows();
    if rows.len() < 2 || rows.len() > MAX_STRIPS {
        return 1;
    }
    let mut of: Vec<usize> = Vec::new();
    // Intervals inside the domain at the lower and the upper border of each strip, with the numbers of
    // the connected intervals.
    let mut strips: Vec<[Vec<(f64, f64, usize)>; 2]> = Vec::new();
    for w in rows.windows(2) {
        let at = |s: f64| cells.inside_on_row(w[0] + (w[1] - w[0]) * s);
        let middle = at(0.5);
        let first = of.len();
        of.extend(first..first + middle.len());
        let numbered = |row: Vec<(f64, f64)>| -> Vec<(f64, f64, usize)> {
            // Pieces do not cross within a strip, so the intervals keep their order.
            let same = row.len() == middle.len();
            let nearest = |x: f64| {
                let off = |i: &usize| {
                    let (a, b): (f64, f64) = middle[*i];
                    (a - x).max(x - b)
                };
                (0..middle.len()).min_by(|i, j| off(i).total_cmp(&off(j)))
            };
            let number = |(k, (a, b)): (usize, (f64, f64))| {
                let i = if same { Some(k) } else { nearest(0.5 * (a + b)) };
                i.map(|i| (a, b, first + i))
            };
            row.into_iter().enumerate().filter_map(number).collect()
        };
        strips.push([numbered(at(1e-6)), numbered(at(1.0 - 1e-6))]);
        if let (Some(period), Some(a), Some(b)) = (host.u_period, middle.first(), middle.last()) {
            let r = &cells.rect;
            if a.0 - r.u0 <= 1e-9 * period && r.u1 - b.1 <= 1e-9 * period {
                join(&mut of, first, first + middle.len() - 1);
            }
        }
    }
    for w in strips.windows(2) {
        join_rows(&mut of, &w[0][1], &w[1][0]);
    }
    if let (Some(_), Some(last), Some(first)) = (host.v_period, strips.last(), strips.first()) {
        join_rows(&mut of, &last[1], &first[0]);
    }
    for s in host.singular.iter().filter(|s| s.u_free) {
        let (strip, v) =
            if s.low { (strips.first(), rows[0]) } else { (strips.last(), rows[rows.len() - 1]) };
        let Some(row) = strip.map(|strip| &strip[usize::from(!s.low)]) else { continue };
        if (v - s.value).abs() <= 1e-9 {
            row.windows(2).for_each(|w| join(&mut of, w[0].2, w[1].2));
        }
    }
    (0..of.len()).filter(|i| root(&of, *i) == *i).count()
}

fn join_rows(of: &mut [usize], below: &[(f64, f64, usize)], above: &[(f64, f64, usize)]) {
    for a in below {
        for b in above.iter().filter(|b| a.0.max(b.0) < a.1.min(b.1)) {
            join(of, a.2, b.2);
        }
    }
}

fn root(of: &[usize], mut i: usize) -> usize {
    while of[i] != i {
        i = of[i];
    }
    i
}

fn join(of: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(of, a), root(of, b));
    of[a.max(b)] = a.min(b);
}

/// Returns a copy of the face with the index `face`, with the opposite outward normal, and the domain of
/// the copy; `None` if its loops are inconsistent with that normal.
fn reversed(draft: &Draft, face: usize, tol: &Tolerances) -> Option<(Face, FaceDomain)> {
    let mut f = draft.faces[face].clone();
    f.outward = !f.outward;
    let mut report = Report::default();
    loops::assemble_face(&draft.edges, &mut f, draft.size, tol, &mut report);
    let d = domain::domain(&f, &loops::host(draft, &f));
    (report.problems.is_empty() && d.is_consistent()).then_some((f, d))
}

/// Whether the loops of a face, given by its index, are consistent with the opposite outward normal, and its
/// seams lie inside of it.
pub(super) fn is_consistent_reversed(draft: &Draft, face: usize, tol: &Tolerances) -> bool {
    reversed(draft, face, tol).is_some()
}

/// Tests the outward normals of the faces for whose entity ids `is_guess` returns true. Evidence is the
/// number of connected parts of the domain, and whether the face continues its tangent neighbours or
/// folds back on them. The list contains only faces with evidence for or against the guess.
pub(super) fn of_guesses(
    draft: &Draft,
    hosts: &[Host<'_>],
    uses: &[Vec<UseAt>],
    domains: &[FaceDomain],
    is_guess: &dyn Fn(u64) -> bool,
    tol: &Tolerances,
) -> Vec<Guess> {
    let mut out = vec![];
    for (i, face) in draft.faces.iter().enumerate().filter(|(_, f)| is_guess(f.id)) {
        let n_loops = face.loops.len();
        if n_loops > 1 && is_closed(&hosts[i]) {
            let parts = num_parts(&hosts[i], &domains[i].cells);
            let other =
                reversed(draft, i, tol).map_or(0, |(f, d)| num_parts(&loops::host(draft, &f), &d.cells));
            if parts > 1 && other == 1 {
                let reason = format!(
                    "a side was chosen, because with the other one the face would be {parts} separate \
                     regions between its loops"
                );
                out.push(Guess { face: face.id, turn: true, reason });
                continue;
            }
            if parts == 1 && other > 1 {
                out.push(Guess { face: face.id, turn: false, reason: String::new() });
                continue;
            }
        }
        let Neighbours { continued, folded } =
            neighbours(draft, (hosts, uses), i, &|other| is_guess(draft.faces[other].id));
        match (continued, folded.first().map(|(_, edge)| draft.edges[*edge as usize].source)) {
            (0, Some(edge)) => {
                let reason = format!(
                    "a side was chosen, because with the other one the face would fold back on its tangent \
                     neighbour at edge #{edge}"
                );
                out.push(Guess { face: face.id, turn: true, reason });
            }
            (1.., None) => out.push(Guess { face: face.id, turn: false, reason: String::new() }),
            _ => {}
        }
    }
    out
}

/// Tangent neighbours of a face.
struct Neighbours {
    /// Number of edges at which the face continues its neighbour.
    continued: usize,
    /// Neighbours on which the face folds back, by their index in the draft, each with the index of the edge.
    folded: Vec<(usize, u32)>,
}

/// Finds the tangent neighbours of the face with the index `i`, without those for whose index `is_open`
/// returns true.
fn neighbours(
    draft: &Draft,
    (hosts, uses): (&[Host<'_>], &[Vec<UseAt>]),
    i: usize,
    is_open: &dyn Fn(usize) -> bool,
) -> Neighbours {
    let mut out = Neighbours { continued: 0, folded: vec![] };
    for u in draft.faces[i].loops.iter().flatten() {
        let Ok([a, b]) = <[UseAt; 2]>::try_from(uses[u.edge as usize].as_slice()) else { continue };
        let other = if a.face == i { b.face } else { a.face };
        if other == i || is_open(other) {
            continue;
        }
        let e = &draft.edges[u.edge as usize];
        let cosine = |t: f64| {
            let n = |at: UseAt| status::outward_normal(draft, &hosts[at.face], at, t);
            Some(n(a)?.dot(&n(b)?))
        };
        let (t0, t1) = e.range;
        let cosines: Vec<f64> = [0.25, 0.5, 0.75].iter().filter_map(|s| cosine(t0 + (t1 - t0) * s)).collect();
        if cosines.len() == 3 && cosines.iter().all(|c| *c >= TANGENT_COS) {
            out.continued += 1;
        } else if cosines.len() == 3 && cosines.iter().all(|c| *c <= -TANGENT_COS) {
            out.folded.push((other, u.edge));
        }
    }
    out
}

/// Face on a closed surface that folds back on tangent neighbours and continues none. Its loops are
/// consistent with both outward normals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FoldedFace {
    /// Entity id of the face.
    pub(super) face: u64,
    /// Entity id of an edge at which it folds back.
    pub(super) edge: u64,
    /// Whether the neighbours contradict its outward normal because they are on at least two different
    /// surfaces. One neighbour is not enough: a spherical cup in a cylinder of its radius ends in an edge
    /// without thickness.
    pub(super) is_contradicted: bool,
}

/// Returns the faces on closed surfaces that fold back on tangent neighbours and continue none. Neighbours on
/// closed surfaces do not count.
pub(super) fn folded_back(
    draft: &Draft,
    hosts: &[Host<'_>],
    uses: &[Vec<UseAt>],
    tol: &Tolerances,
) -> Vec<FoldedFace> {
    let mut out = vec![];
    let found = of_closed(draft, hosts, uses);
    for (i, face) in draft.faces.iter().enumerate() {
        let Some(Neighbours { folded, .. }) = &found[i] else { continue };
        let Some((first, edge)) = folded.first() else { continue };
        let surface = &draft.faces[*first].surface;
        let is_on_first = |e: u32| {
            let e = &draft.edges[e as usize];
            let p = e.curve.point(0.5 * (e.range.0 + e.range.1));
            (surface.point(surface.invert(&p, None, None)) - p).norm() <= ONE_SURFACE * draft.size
        };
        // Parts of one face of the source have one normal.
        let continues = |k: usize| found[k].as_ref().is_some_and(|n| n.continued > 0);
        let is_continued = (0..draft.faces.len()).any(|k| draft.faces[k].id == face.id && continues(k));
        if !is_continued && reversed(draft, i, tol).is_some() {
            let is_contradicted = folded.iter().any(|(_, e)| !is_on_first(*e));
            out.push(FoldedFace { face: face.id, edge: draft.edges[*edge as usize].source, is_contradicted });
        }
    }
    // A part of a face whose normal is contradicted comes first.
    out.sort_unstable_by_key(|f| (f.face, !f.is_contradicted, f.edge));
    out.dedup_by_key(|f| f.face);
    out
}

/// Finds, for each face on a closed surface, its tangent neighbours on surfaces that are not closed.
fn of_closed(draft: &Draft, hosts: &[Host<'_>], uses: &[Vec<UseAt>]) -> Vec<Option<Neighbours>> {
    let is_open = |other: usize| is_closed(&hosts[other]);
    let found = |i: usize| is_closed(&hosts[i]).then(|| neighbours(draft, (hosts, uses), i, &is_open));
    (0..draft.faces.len()).map(found).collect()
}

/// Returns the entity ids of the faces with loops on closed surfaces that continue no tangent neighbour on a
/// surface that is not closed.
pub(super) fn unconfirmed(draft: &Draft, hosts: &[Host<'_>], uses: &[Vec<UseAt>]) -> BTreeSet<u64> {
    let found = of_closed(draft, hosts, uses);
    let has = |is_such: &dyn Fn(&Face, &Neighbours) -> bool| -> BTreeSet<u64> {
        let with = draft.faces.iter().zip(&found).filter(|(f, n)| n.as_ref().is_some_and(|n| is_such(f, n)));
        with.map(|(f, _)| f.id).collect()
    };
    // Parts of one face of the source have one normal.
    let confirmed = has(&|_, n| n.continued > 0);
    &has(&|f, _| !f.loops.is_empty()) - &confirmed
}

/// Maximum distance of the middle of an edge from a surface on which it counts as lying, relative to the size
/// of the solid. With a larger value, faces that continue each other at a shallow angle count as one
/// surface; with a smaller one, inexact parts of one surface count as two.
const ONE_SURFACE: f64 = 1e-5;

/// Returns the entity ids of those of `faces` (entity ids) that fold back on a neighbour, that is lie
/// back to back with it at some edge, and do not continue a neighbour smoothly at any edge.
pub(super) fn folded(solid: &Solid, faces: &[u64]) -> Vec<u64> {
    let at = |id: u64, is_such: &dyn Fn(&EdgeInfo) -> bool| {
        solid
            .edges
            .iter()
            .any(|e| is_such(e) && e.sides.iter().any(|s| solid.faces[s.face as usize].source == id))
    };
    let folds = |e: &EdgeInfo| e.dihedral.0 <= -status::RAZOR || e.dihedral.1 >= status::RAZOR;
    let continues = |e: &EdgeInfo| e.status == EdgeStatus::Smooth;
    faces.iter().copied().filter(|id| at(*id, &folds) && !at(*id, &continues)).collect()
}

/// Contribution of a face to the volume (mm³), computed about `reference`, if its outward normal were
/// the opposite one; `None` if its loops are inconsistent with that normal.
pub(super) fn reversed_volume(
    draft: &Draft,
    face: usize,
    tol: &Tolerances,
    reference: &P3,
    rel_tol: f64,
) -> Option<f64> {
    let (f, d) = reversed(draft, face, tol)?;
    let edge = |e: u32| draft.edges.get(e as usize).map(|e| (&e.curve, e.range));
    let sums = mass::face_integrals(&f.surface, f.outward, &d.cells, &edge, reference, rel_tol);
    Some(sums.volume + super::strips::to_edges(draft, &f, reference, 2.0 * tol.fit.tol).volume)
}

/// A face whose vector area differs from that of its edges by more than the deviations of the edges
/// allow.
#[derive(Clone, Debug)]
pub(super) struct WrongArea {
    /// Entity id of the face.
    pub(super) face: u64,
    /// Index of the face in the draft.
    pub(super) index: usize,
    /// Magnitude (mm²) of the difference of the two vector areas. It exceeds `allowed` (mm²), the
    /// largest difference that gaps and quadrature explain.
    pub(super) off: f64,
    pub(super) allowed: f64,
}

/// Compares the vector area of a face, `∫ n dA`, with that of its edges, `½ ∮ r × dr`: by Stokes's
/// theorem the two are equal for every surface between the edges. Returns `None` if they agree within
/// rounding and the gaps of the edges, or if the edges have no finite vector area.
/// `index` is the index of the face in the draft.
pub(super) fn vector_area(
    draft: &Draft,
    (index, face): (usize, &Face),
    d: &FaceDomain,
    tol: &Tolerances,
) -> Option<WrongArea> {
    let (off, allowed) = area_difference(draft, face, d, tol)?;
    // NaN counts as wrong.
    let is_right = off <= allowed;
    (!is_right).then_some(WrongArea { face: face.id, index, off, allowed })
}

/// Returns the magnitude (mm²) of the difference between the vector areas of a face and of its edges, and
/// the largest difference (mm²) that gaps and quadrature explain; `None` if the edges have no finite vector
/// area.
fn area_difference(draft: &Draft, face: &Face, d: &FaceDomain, tol: &Tolerances) -> Option<(f64, f64)> {
    let of_edges = edges_vector_area(draft, face)?;
    let (of_face, area) = mass::vector_area(&face.surface, &d.cells);
    let of_face = if face.outward { of_face } else { -of_face };
    let mut gaps = 0.0;
    for u in face.loops.iter().flatten() {
        let e = &draft.edges[u.edge as usize];
        let length = e.curve.bounds(e.range.0, e.range.1).diagonal();
        let off =
            u.pcurve.as_ref().map_or(0.0, Pcurve::deviation) + face.surface_deviation + e.curve_deviation;
        gaps += length * (off + tol.fit.tol);
    }
    Some(((of_face - of_edges).norm(), GAP_MULTIPLE * gaps + VECTOR_AREA_SHARE * area))
}

/// Whether the face described by `wrong` has the vector area of its edges with the opposite outward
/// normal. The difference must also be much smaller than with the normal of the file ([`MUCH_SMALLER`]): on
/// a closed surface, the difference is the same with both normals, and the larger side allows more of it.
pub(super) fn fits_reversed(draft: &Draft, wrong: &WrongArea, tol: &Tolerances) -> bool {
    let other = reversed(draft, wrong.index, tol).filter(|(_, d)| !d.cells.rows().is_empty());
    let difference = other.and_then(|(f, d)| area_difference(draft, &f, &d, tol));
    difference.is_some_and(|(off, allowed)| off <= allowed && off <= MUCH_SMALLER * wrong.off)
}

/// Computes `½ ∮ r × dr` (mm²) along the loops, with the face on the left. Gaps at corners are closed by
/// straight lines. Returns `None` if the result is not finite.
fn edges_vector_area(draft: &Draft, face: &Face) -> Option<V3> {
    let mut sum = V3::zeros();
    for ring in &face.loops {
        let Some(first) = ring.first() else { continue };
        let o = end(draft, first, false);
        let mut at = o;
        for u in ring {
            let e = &draft.edges[u.edge as usize];
            let start = end(draft, u, false);
            sum += (at - o).cross(&(start - o));
            let swept = twice_swept(&e.curve, e.range, &o);
            sum += if u.forward { swept } else { -swept };
            at = end(draft, u, true);
        }
    }
    sum.iter().all(|x| x.is_finite()).then_some(0.5 * sum)
}

fn end(draft: &Draft, u: &Use, at_end: bool) -> P3 {
    let e = &draft.edges[u.edge as usize];
    e.curve.point(if u.forward == at_end { e.range.1 } else { e.range.0 })
}

/// Computes `∫ (r − o) × dr` (mm²) along a curve from `t0` to `t1`: twice the vector area that the ray
/// from `o` sweeps.
fn twice_swept(curve: &Curve, (t0, t1): (f64, f64), o: &P3) -> V3 {
    let (a, b) = (curve.point(t0), curve.point(t1));
    match curve {
        Curve::Line { .. } => (a - o).cross(&(b - o)),
        Curve::Circle { frame, radius } => {
            (frame.origin - o).cross(&(b - a)) + frame.z * (radius * radius * (t1 - t0))
        }
        Curve::Ellipse { frame, semi_x, semi_y } => {
            (frame.origin - o).cross(&(b - a)) + frame.z * (semi_x * semi_y * (t1 - t0))
        }
        _ => {
            let mut cuts = vec![t0];
            cuts.extend(curve.breaks(t0, t1));
            cuts.push(t1);
            let rule = feeler_geom::trim::gauss_legendre(8);
            let mut sum = V3::zeros();
            for w in cuts.windows(2) {
                for (x, weight) in &rule {
                    let d = curve.derivs(w[0] + (w[1] - w[0]) * x);
                    sum += (d.p - o).cross(&d.d1) * (weight * (w[1] - w[0]));
                }
            }
            sum
        }
    }
}

#[cfg(test)]
mod tests {
    use feeler_geom::Frame;

    use super::*;
    use crate::build::{BuildOptions, edges, singular};
    use crate::fixtures::SourceBuilder;
    use crate::source::LoopSource;

    /// A small face of a large ball whose edge does not fit it is not reversed: the rest of the ball allows
    /// the difference of the vector areas, but this difference is as large as that of the small face.
    #[test]
    fn a_face_on_a_ball_is_not_reversed_because_the_rest_of_the_ball_allows_more() {
        let (ball, rim) = (100.0_f64, 10.0_f64);
        let height = (ball * ball - rim * rim).sqrt();
        let mut b = SourceBuilder::new();
        let v = b.vertex(rim, 0.0, height);
        let frame = Frame { origin: P3::new(0.0, 0.0, height), ..Frame::identity() };
        let ring = b.circle(frame, rim, v);
        let loops = |forward: bool| vec![LoopSource::Edges(vec![(ring, forward)])];
        b.face(Surface::Sphere { frame: Frame::identity(), radius: ball }, true, loops(true));
        b.face(Surface::Plane { frame }, false, loops(false));
        let (options, mut report) = (BuildOptions::default(), Report::default());
        let mut draft =
            edges::draft(&b.finish("cap"), &BTreeSet::new(), &options, &mut report).expect("a draft");
        let tol = Tolerances::new(draft.size, 0.0, &options);
        for f in &mut draft.faces {
            f.singular = singular::singular_points(&f.surface, draft.size);
        }
        loops::fit_all(&mut draft, &tol, &mut report);
        loops::assemble(&mut draft, &tol, &mut report);
        assert!(report.problems.is_empty());
        let d = domain::domain(&draft.faces[0], &loops::host(&draft, &draft.faces[0]));
        assert!(vector_area(&draft, (0, &draft.faces[0]), &d, &tol).is_none());
        // The edge moves away from the face, and the face does not state it.
        let Curve::Circle { radius, .. } = &mut draft.edges[0].curve else { panic!("a circle") };
        *radius += 1e-3;
        let wrong = vector_area(&draft, (0, &draft.faces[0]), &d, &tol).expect("a difference");
        let (f, rest) = reversed(&draft, 0, &tol).expect("the rest of the ball");
        let (off, allowed) = area_difference(&draft, &f, &rest, &tol).expect("a difference");
        assert!(wrong.off > wrong.allowed && off <= allowed, "{wrong:?}, {off}, {allowed}");
        assert!(!fits_reversed(&draft, &wrong, &tol), "{wrong:?}, {off}, {allowed}");
    }
}
