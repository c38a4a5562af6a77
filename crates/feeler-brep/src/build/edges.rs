//! Creates the draft from the source topology: parameter ranges from the vertices, directions along the
//! curves, removal of edges without length.

use std::collections::{BTreeMap, BTreeSet};

use feeler_geom::count::index;
use feeler_geom::{Aabb, Curve, P3, Surface, V3, math};

use super::draft::{Draft, Edge, Face, Use, Vertex};
use super::sew;
use super::validate::{is_good_curve, is_good_point, is_good_surface};
use super::vertices;
use super::{BuildOptions, Problem, Report};
use crate::remark::{Severity, shown_length};
use crate::source::{EdgeSource, LoopSource, SolidSource};

/// Creates a draft from the source: edges get parameter ranges, and free-form shapes are replaced by
/// canonical ones where these agree. Problems of single entities are added to `report`. Returns `None`
/// if the source has an invalid index or number, or no faces.
///
/// `patches`: entity ids of faces whose patches are not replaced by canonical surfaces.
pub(super) fn draft(
    source: &SolidSource,
    patches: &BTreeSet<u64>,
    options: &BuildOptions,
    report: &mut Report,
) -> Option<Draft> {
    if !is_well_formed(source, report) {
        return None;
    }
    let size = extent(source);
    let mut vertices: Vec<Vertex> =
        source.vertices.iter().map(|v| Vertex { id: v.id, point: v.point, gap: 0.0 }).collect();
    let mut edges = Vec::with_capacity(source.edges.len());
    // New edges of every source edge, in the direction of the *source* edge, each with whether it runs
    // along that direction.
    let mut parts: Vec<Vec<(u32, bool)>> = Vec::with_capacity(source.edges.len());
    let mut merged: Vec<u32> = (0..index(vertices.len())).collect();
    let mut disguised = Disguised::default();
    let straight = lines_beside_their_vertices(source, size, options, report);
    let whole = whole_curves(source, options.coincidence_tol(size));
    for (e, is_whole) in source.edges.iter().zip(whole) {
        let beside = straight.get(&e.id).map(|curve| EdgeSource { curve: curve.clone(), ..e.clone() });
        let e = beside.as_ref().unwrap_or(e);
        let recognised = disguised.curve(&e.curve, options.canonical_tolerance * size);
        // The file's parameters refer to the spline, not to the canonical curve that replaces it.
        let range = if recognised.is_some() { None } else { e.range };
        let (curve, curve_deviation) = recognised.unwrap_or_else(|| (e.curve.clone(), 0.0));
        let e = EdgeSource { curve, range, ..*e };
        match ranges(&e, is_whole, source, size, options, report) {
            Ranges::Nothing => {
                let (a, b) = (sew::root(&merged, e.start), sew::root(&merged, e.end));
                if a != b {
                    merged[a.max(b) as usize] = a.min(b);
                }
                report.note(e.id, format!("edge #{} has no length and was left out", e.id));
                parts.push(vec![]);
            }
            Ranges::One { range, forward } => {
                let ends = if forward { (e.start, e.end) } else { (e.end, e.start) };
                parts.push(vec![(index(edges.len()), forward)]);
                edges.push(Edge { source: e.id, curve: e.curve, curve_deviation, range, vertices: ends });
            }
            Ranges::Two { first, second, forward } => {
                let (from, to) = if forward { (e.start, e.end) } else { (e.end, e.start) };
                let joint = index(vertices.len());
                vertices.push(Vertex { id: e.id, point: e.curve.point(first.1), gap: 0.0 });
                let k = index(edges.len());
                edges.push(Edge {
                    source: e.id,
                    curve: e.curve.clone(),
                    curve_deviation,
                    range: first,
                    vertices: (from, joint),
                });
                edges.push(Edge {
                    source: e.id,
                    curve: e.curve,
                    curve_deviation,
                    range: second,
                    vertices: (joint, to),
                });
                let mut both = vec![(k, forward), (k + 1, forward)];
                if !forward {
                    both.reverse();
                }
                parts.push(both);
            }
        }
    }
    let joined = sew::join_loops(source, &mut merged, options.coincidence_tol(size));
    if joined > 0 {
        let message =
            format!("loops pass over {joined} pairs of vertices at the same point, which are merged");
        report.remark(Severity::Note, None, message);
    }
    merged.resize(vertices.len(), 0);
    for (i, m) in merged.iter_mut().enumerate().skip(source.vertices.len()) {
        *m = index(i);
    }
    for e in &mut edges {
        e.vertices = (sew::root(&merged, e.vertices.0), sew::root(&merged, e.vertices.1));
    }
    let sewn = sew::merge_ends(source, &mut merged, size);
    if sewn > 0 {
        for e in &mut edges {
            e.vertices = (sew::root(&merged, e.vertices.0), sew::root(&merged, e.vertices.1));
        }
        let message = format!(
            "the shell's faces share no edges: coincident vertices of open edges are merged ({sewn} fewer \
            vertices), and coincident edges are sewn"
        );
        report.remark(Severity::Warning, None, message);
    }
    vertices::check(&edges, &mut vertices, source, options.gap_tol(size, source.uncertainty), report);
    let mut faces: Vec<Face> = source.faces.iter().map(|f| face(f, &parts, &merged)).collect();
    for f in faces.iter_mut().filter(|f| !patches.contains(&f.id)) {
        disguised.surface(f, options.canonical_tolerance * size);
    }
    disguised.tell(options.coincidence_tol(size), report);
    Some(Draft { vertices, edges, faces, size })
}

/// Returns a corrected line for each straight edge, by entity id, whose LINE is beside its vertices although
/// the vertices lie on the planes of all adjacent faces. The corrected line passes through the vertices.
/// `report` receives a warning for each line that is farther from its vertices than the gap tolerance, and
/// one for all others.
fn lines_beside_their_vertices(
    source: &SolidSource,
    size: f64,
    options: &BuildOptions,
    report: &mut Report,
) -> BTreeMap<u64, Curve> {
    let gap = options.gap_tol(size, source.uncertainty);
    let within = source.uncertainty.max(ON_PLANE * size).min(gap);
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); source.edges.len()];
    for (i, f) in source.faces.iter().enumerate() {
        for l in &f.loops {
            let LoopSource::Edges(walk) = l else { continue };
            walk.iter().for_each(|(e, _)| users[*e as usize].push(i));
        }
    }
    let mut out = BTreeMap::new();
    // Number of lines within the gap tolerance, the largest distance (mm), and the edge with that distance.
    let mut slight = (0_u32, 0.0, 0);
    for (e, users) in source.edges.iter().zip(&users) {
        let Curve::Line { origin, dir } = &e.curve else { continue };
        let ends = [e.start, e.end].map(|v| source.vertices[v as usize].point);
        let off = |p: &P3| (p - origin - dir * (p - origin).dot(dir)).norm();
        let miss = off(&ends[0]).max(off(&ends[1]));
        // Largest distance of the vertices from a surface; infinite for surfaces other than planes.
        let off_surface = |surface: &Surface| match surface {
            Surface::Plane { frame } => {
                ends.iter().map(|p| (p - frame.origin).dot(&frame.z).abs()).fold(0.0, f64::max)
            }
            _ => f64::INFINITY,
        };
        let off_planes = users.iter().map(|f| off_surface(&source.faces[*f].surface)).fold(0.0, f64::max);
        if users.is_empty() || off_planes > within {
            continue;
        }
        let inexact = (BESIDE * off_planes.max(ON_PLANE * size)).min(gap);
        let (Some(chord), true) = ((ends[1] - ends[0]).try_normalize(inexact), miss > inexact) else {
            continue;
        };
        if miss > gap {
            report.warn(
                e.id,
                format!(
                    "edge #{}: its LINE is {miss:.3} mm beside its vertices, which lie on the planes of its \
                    faces; the line between the vertices is used",
                    e.id
                ),
            );
        } else {
            let is_farthest = miss > slight.1;
            slight = (slight.0 + 1, slight.1.max(miss), if is_farthest { e.id } else { slight.2 });
        }
        let dir = if e.same_sense { chord } else { -chord };
        out.insert(e.id, Curve::Line { origin: ends[0], dir });
    }
    if let (n @ 1.., miss, id) = slight {
        report.warn(
            id,
            format!(
                "lines beside their vertices, which lie on the planes of the faces: {n}; the lines between \
                the vertices are used; the farthest one is edge #{id}, by {}",
                shown_length(miss)
            ),
        );
    }
    out
}

/// Minimum distance of a LINE from its vertices at which it is replaced by the line between them, relative to
/// the distance of the vertices from the planes (at least [`ON_PLANE`]). Lines beyond the gap tolerance are
/// replaced in any case. With a larger value lines stay beside exact vertices; with a smaller one lines are
/// replaced because of rounding.
const BESIDE: f64 = 10.0;

/// Maximum distance of a vertex from a plane that counts as on the plane, relative to the solid's size
/// (or the file's uncertainty, if that is larger). A larger value moves correct edges; with a smaller
/// one, misplaced lines are not corrected.
const ON_PLANE: f64 = 1e-6;

/// Counts of free-form curves and surfaces that were replaced by canonical shapes.
#[derive(Debug, Default)]
pub(super) struct Disguised {
    n_curves: usize,
    n_surfaces: usize,
    /// Largest deviation (mm) of a canonical shape from the curve or surface that it replaces.
    deviation: f64,
}

impl Disguised {
    /// Adds a remark on the replacements to `report` if their largest deviation exceeds `rounding` (mm).
    pub(super) fn tell(&self, rounding: f64, report: &mut Report) {
        if self.n_curves + self.n_surfaces > 0 && self.deviation > rounding {
            report.remark(Severity::Note, None, self.in_words());
        }
    }

    fn in_words(&self) -> String {
        let counted = |n: usize, what: &str| (n > 0).then(|| format!("{what} ({n})"));
        let found = [counted(self.n_surfaces, "free-form faces"), counted(self.n_curves, "splines")];
        let found: Vec<String> = found.into_iter().flatten().collect();
        let deviation = self.deviation;
        format!(
            "replaced by canonical shapes: {}; the largest deviation is {deviation:.1e} mm",
            found.join(" and ")
        )
    }

    /// Returns the canonical curve that is within `tol` (mm) of the spline `curve`, with its deviation
    /// (mm) from the spline, and counts the replacement. Returns `None` if no such canonical curve
    /// exists or `curve` is not a spline.
    pub(super) fn curve(&mut self, curve: &Curve, tol: f64) -> Option<(Curve, f64)> {
        let Curve::Bezier(spline) = curve else { return None };
        let found = spline.recognised(tol)?;
        self.n_curves += 1;
        self.deviation = self.deviation.max(found.deviation);
        Some((found.shape, found.deviation))
    }

    /// Replaces the free-form surface of a face by a canonical one if one is within `tol` (mm) of it,
    /// and counts the replacement.
    pub(super) fn surface(&mut self, f: &mut Face, tol: f64) {
        let Surface::Bezier(grid) = &f.surface else { return };
        let Some(found) = grid.recognised(tol) else { return };
        // A face without edges is the whole patch. A spindle torus in its place would have two sheets,
        // and no edges to select one.
        let is_spindle = super::singular::spindle_angle(&found.shape).is_some();
        if f.loops.is_empty() && is_spindle {
            return;
        }
        self.n_surfaces += 1;
        self.deviation = self.deviation.max(found.deviation);
        f.surface = found.shape;
        f.surface_deviation += found.deviation;
        f.outward = f.outward == found.same_normal;
    }
}

fn face(f: &crate::source::FaceSource, parts: &[Vec<(u32, bool)>], merged: &[u32]) -> Face {
    let mut loops = vec![];
    let mut vertex_loops = vec![];
    for l in &f.loops {
        match l {
            LoopSource::Vertex(v) => vertex_loops.push(sew::root(merged, *v)),
            LoopSource::Edges(walk) => {
                let mut ring = vec![];
                for (e, along) in walk {
                    let mut uses: Vec<Use> = parts[*e as usize]
                        .iter()
                        .map(|(edge, forward)| Use { edge: *edge, forward: *along == *forward, pcurve: None })
                        .collect();
                    if !along {
                        uses.reverse();
                    }
                    ring.append(&mut uses);
                }
                if !ring.is_empty() {
                    loops.push(ring);
                }
            }
        }
    }
    Face {
        id: f.id,
        joined: Vec::new(),
        shell: f.shell,
        surface: f.surface.clone(),
        surface_deviation: f.surface_deviation,
        outward: f.outward,
        outer_sheet: f.outer_sheet,
        loops,
        vertex_loops,
        singular: vec![],
    }
}

fn is_well_formed(source: &SolidSource, report: &mut Report) -> bool {
    let before = report.problems.len();
    if source.faces.is_empty() {
        report.fail(Problem::NoFaces);
    }
    for v in &source.vertices {
        if !is_good_point(&v.point) {
            report.fail(Problem::BadNumber { entity: v.id });
        }
    }
    let n_vertices = source.vertices.len();
    for e in &source.edges {
        if e.start as usize >= n_vertices || e.end as usize >= n_vertices {
            report.fail(Problem::BadIndex { entity: e.id });
        }
        if !is_good_curve(&e.curve) {
            report.fail(Problem::BadNumber { entity: e.id });
        }
    }
    for f in &source.faces {
        let bad = f.loops.iter().any(|l| match l {
            LoopSource::Edges(walk) => walk.iter().any(|(e, _)| *e as usize >= source.edges.len()),
            LoopSource::Vertex(v) => *v as usize >= n_vertices,
        });
        if bad {
            report.fail(Problem::BadIndex { entity: f.id });
        }
        if !is_good_surface(&f.surface) {
            report.fail(Problem::BadNumber { entity: f.id });
        }
    }
    report.problems.len() == before
}

/// Returns the diagonal (mm) of the box of the vertices and of points on closed curves and surfaces,
/// which is the scale of tolerances.
pub(super) fn extent(source: &SolidSource) -> f64 {
    let mut bounds = Aabb::of_points(source.vertices.iter().map(|v| &v.point));
    for e in source.edges.iter().filter(|e| e.start == e.end) {
        match &e.curve {
            Curve::Circle { frame, radius: r } | Curve::Ellipse { frame, semi_x: r, .. } => {
                for d in [frame.x, frame.y, -frame.x, -frame.y] {
                    bounds.insert(&(frame.origin + d * *r));
                }
            }
            Curve::Bezier(b) => {
                let (t0, t1) = b.range();
                for k in 0..8 {
                    bounds.insert(&e.curve.point(t0 + (t1 - t0) * f64::from(k) / 8.0));
                }
            }
            _ => {}
        }
    }
    for f in source.faces.iter().filter(|f| !f.loops.iter().any(|l| matches!(l, LoopSource::Edges(_)))) {
        let r = f.surface.natural_domain();
        if [r.u0, r.u1, r.v0, r.v1].iter().all(|x| x.is_finite()) {
            bounds = bounds.union(&f.surface.bounds(&r));
        }
    }
    bounds.diagonal()
}

enum Ranges {
    /// The edge has no length and is dropped.
    Nothing,
    /// The edge covers one range of curve parameters; `forward` states whether it runs in the direction
    /// of increasing parameter.
    One { range: (f64, f64), forward: bool },
    /// The edge passes over the start of a closed curve without a period, so it has two parts, listed in
    /// the curve's direction.
    Two { first: (f64, f64), second: (f64, f64), forward: bool },
}

/// Returns for each edge whether its two vertices are different but at one point (within `tol`, mm), and it
/// must be the whole closed curve. Modellers write such edges where a circle touches other edges at a
/// point. The edge is whole if a loop without all such edges has no other edges, or only seams, which it
/// passes in both directions.
fn whole_curves(source: &SolidSource, tol: f64) -> Vec<bool> {
    let point = |v: u32| source.vertices[v as usize].point;
    let may_be_whole: Vec<bool> = source
        .edges
        .iter()
        .map(|e| {
            let is_curved = !matches!(e.curve, Curve::Line { .. });
            e.start != e.end && is_curved && (point(e.start) - point(e.end)).norm() <= tol
        })
        .collect();
    let mut out = vec![false; source.edges.len()];
    for l in source.faces.iter().flat_map(|f| &f.loops) {
        let LoopSource::Edges(walk) = l else { continue };
        let is_seam = |e: u32| walk.contains(&(e, true)) && walk.contains(&(e, false));
        if walk.iter().all(|(e, _)| may_be_whole[*e as usize] || is_seam(*e)) {
            walk.iter().for_each(|(e, _)| out[*e as usize] |= may_be_whole[*e as usize]);
        }
    }
    out
}

/// Computes the range of an edge on its curve. If `is_whole`, the vertices are at one point and the edge is
/// the whole curve ([`whole_curves`]).
fn ranges(
    e: &EdgeSource,
    is_whole: bool,
    source: &SolidSource,
    size: f64,
    options: &BuildOptions,
    report: &mut Report,
) -> Ranges {
    let tol = options.coincidence_tol(size);
    let point = |v: u32| source.vertices[v as usize].point;
    let forward = e.same_sense;
    let (a, b) = if forward { (point(e.start), point(e.end)) } else { (point(e.end), point(e.start)) };
    let closed = e.start == e.end;
    let curve = &e.curve;
    if let Some(period) = curve.period() {
        let t0 = parameter(curve, &a);
        if closed {
            return Ranges::One { range: (t0, t0 + period), forward };
        }
        let mut t1 = math::wrap(parameter(curve, &b), t0, period);
        let stated = e.range.map(|(s, t)| (t - s).abs());
        // If the two vertices (almost) coincide, the edge is either empty or the whole curve.
        if (a - b).norm() <= tol {
            let nearly_all = stated.map_or(t1 - t0 > 0.5 * period, |s| s > 0.5 * period);
            t1 = if nearly_all || is_whole { t0 + period } else { t0 };
        }
        return if t1 > t0 { Ranges::One { range: (t0, t1), forward } } else { Ranges::Nothing };
    }
    let (mut t0, mut t1) = (parameter(curve, &a), parameter(curve, &b));
    if let Curve::Bezier(spline) = curve {
        let (lo, hi) = spline.range();
        let joint = curve.point(lo);
        if (joint - curve.point(hi)).norm() <= tol.max(1e-6 * size) {
            let at_joint = |p: &P3| (p - joint).norm() <= tol.max(1e-6 * size);
            if at_joint(&a) {
                t0 = lo;
            }
            if at_joint(&b) {
                t1 = hi;
            }
            if t0 >= t1 {
                return Ranges::Two { first: (t0, hi), second: (lo, t1), forward };
            }
            return Ranges::One { range: (t0, t1), forward };
        }
    }
    if closed || has_no_length(curve, t0, t1, tol) {
        return Ranges::Nothing;
    }
    if t0 > t1 {
        report.note(e.id, format!("edge #{} runs against its stated sense; the vertex order is used", e.id));
        return Ranges::One { range: (t1, t0), forward: !forward };
    }
    Ranges::One { range: (t0, t1), forward }
}

fn has_no_length(curve: &Curve, t0: f64, t1: f64, tol: f64) -> bool {
    let p = curve.point(t0);
    (0..=4).all(|k| (curve.point(t0 + (t1 - t0) * f64::from(k) / 4.0) - p).norm() <= tol)
}

/// Computes the parameter of the curve point nearest to `p`, which lies on the curve within tolerances.
pub(super) fn parameter(curve: &Curve, p: &P3) -> f64 {
    let local = |frame: &feeler_geom::Frame| -> V3 { frame.local(p) };
    match curve {
        Curve::Line { origin, dir } => (p - origin).dot(dir),
        Curve::Circle { frame, .. } => {
            let l = local(frame);
            math::atan2(l.y, l.x)
        }
        Curve::Ellipse { frame, semi_x, semi_y } => {
            let l = local(frame);
            polish(curve, p, math::atan2(l.y / semi_y, l.x / semi_x))
        }
        Curve::Parabola { frame, focal } => polish(curve, p, local(frame).y / (2.0 * focal)),
        Curve::Hyperbola { frame, semi_imag, .. } => {
            polish(curve, p, math::asinh(local(frame).y / semi_imag))
        }
        Curve::Bezier(b) => {
            let (lo, hi) = b.range();
            curve.project(p, lo, hi)
        }
    }
}

/// Refines the parameter `start`, which is near the point nearest to `p`, by Newton's method on the
/// squared distance.
fn polish(curve: &Curve, p: &P3, start: f64) -> f64 {
    let mut t = start;
    for _ in 0..8 {
        let d = curve.derivs(t);
        let off = d.p - p;
        let step = off.dot(&d.d1) / (d.d1.norm_squared() + off.dot(&d.d2));
        if !step.is_finite() || step.abs() > 0.1 {
            return start;
        }
        t -= step;
        if step.abs() <= 1e-15 * (1.0 + t.abs()) {
            break;
        }
    }
    t
}
