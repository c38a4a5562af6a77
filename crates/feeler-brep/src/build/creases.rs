//! Splits faces at the creases of their surfaces into smaller faces that share an edge.
//!
//! A spline surface that is only continuous at a knot has two normals along a whole parameter line,
//! because the multiplicity of the knot equals the degree or because of its control points. Minima of the
//! distance on such a line are in the polar of neither side, so the line becomes an edge with a polar of
//! its own.
//!
//! Each face is cut along all creases of one parameter direction, then along those of the other
//! direction. First, the edges of the face are cut where they cross the parameter lines of the creases.
//! A *corner* is a vertex at which a loop passes from one side of a line to the other. Along a line,
//! corners at which it enters the face alternate with corners at which it leaves the face. The corners
//! bound the *chords*, which become the new edges. The loops of the new faces consist of the old edges
//! and of chords.
//!
//! # Source
//! MATH §4 (edges), §6 (trimmed domains).

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "lines and strips are few, and numbers within a period are not negative"
)]

use std::ops::Range;

use feeler_geom::bezier::{BezierSpline, BezierSurface};
use std::collections::BTreeSet;

use feeler_geom::count::index;
use feeler_geom::{Curve, P2, P3, Surface, math};

use super::draft::{Draft, Edge, Face, Use, Vertex};
use super::edges::{Disguised, parameter};
use super::host::Host;
use super::loops::{self, Tolerances};
use super::pcurve::Pcurve;
use super::problem::Report;
use super::{BuildOptions, singular};

/// Maximum distance in space of a point from a crease line (a line of constant u or v) that counts as on
/// the line, relative to the solid's size. A larger value drops short pieces of faces; with a smaller
/// one, faces with inexact edges are not split.
const ON_LINE: f64 = 1e-6;

/// Splits all faces with creases along them. All uses have pcurves before and after the call. A face
/// whose loops are inconsistent at a crease is not split; `report` receives a warning. The parts of
/// faces in `patches` (entity ids) are not replaced by canonical surfaces.
pub(super) fn split(
    draft: &mut Draft,
    patches: &BTreeSet<u64>,
    tol: &Tolerances,
    options: &BuildOptions,
    report: &mut Report,
) {
    let mut disguised = Disguised::default();
    let canonical_tol = options.canonical_tolerance * draft.size;
    close_whole_faces(draft);
    for of_u in [false, true] {
        let lines: Vec<Vec<usize>> = draft
            .faces
            .iter()
            .map(|f| match &f.surface {
                Surface::Bezier(s) => {
                    let [us, vs] = s.creases(options.crease_angle);
                    if of_u { us } else { vs }
                }
                _ => Vec::new(),
            })
            .collect();
        if lines.iter().all(Vec::is_empty) {
            continue;
        }
        cut_edges(draft, &lines, of_u);
        loops::fit_all(draft, tol, report);
        for (f, joints) in lines.iter().enumerate().filter(|(_, joints)| !joints.is_empty()) {
            match Parts::new(draft, f, joints, of_u) {
                Some(parts) => {
                    let stays = patches.contains(&draft.faces[f].id);
                    let canonical_tol = if stays { 0.0 } else { canonical_tol };
                    parts.put_into(draft, f, &mut disguised, canonical_tol);
                }
                None => report.warn(
                    draft.faces[f].id,
                    format!(
                        "face #{} has a crease but inconsistent loops there: it is not split, and contacts \
                         at the crease may be missed",
                        draft.faces[f].id
                    ),
                ),
            }
        }
        loops::fit_all(draft, tol, report);
    }
    disguised.tell(options.coincidence_tol(draft.size), report);
}

/// Makes surfaces of faces without edges periodic in each direction in which they close on themselves at an
/// angle, as a closed profile with a corner at its start does when it is revolved. The joint at which such a
/// surface closes then counts as a crease. A face with edges has a seam there.
fn close_whole_faces(draft: &mut Draft) {
    for f in draft.faces.iter_mut().filter(|f| f.loops.is_empty()) {
        if let Surface::Bezier(surface) = &mut f.surface {
            let [u, v] = surface.closes();
            surface.u_periodic |= u;
            surface.v_periodic |= v;
        }
    }
}

/// The crease lines of a face in one direction: all are lines of constant u if `of_u`, otherwise lines
/// of constant v.
struct Lines<'a> {
    host: &'a Host<'a>,
    of_u: bool,
    /// The constant parameter (u if `of_u`, otherwise v) of each line within one period, increasing.
    at: Vec<f64>,
    /// Period of the parameter that is constant along the lines; `None` if it is not periodic.
    period: Option<f64>,
    /// Period of the parameter that varies along the lines; `None` if it is not periodic.
    along_period: Option<f64>,
    /// Maximum distance (mm) of a point from a line that counts as on the line.
    tol: f64,
}

impl<'a> Lines<'a> {
    fn new(host: &'a Host<'a>, joints: &[usize], of_u: bool, size: f64) -> Self {
        let breaks: &[f64] = match host.surface {
            Surface::Bezier(s) if of_u => &s.u_breaks,
            Surface::Bezier(s) => &s.v_breaks,
            _ => &[],
        };
        let (period, along_period) =
            if of_u { (host.u_period, host.v_period) } else { (host.v_period, host.u_period) };
        let at = joints.iter().map(|&k| breaks[k]).collect();
        Self { host, of_u, at, period, along_period, tol: ON_LINE * size }
    }

    /// Returns the parameter of a point that is constant along the lines.
    fn across(&self, uv: P2) -> f64 {
        if self.of_u { uv.x } else { uv.y }
    }

    /// Returns the parameter of a point that varies along the lines.
    fn along(&self, uv: P2) -> f64 {
        if self.of_u { uv.y } else { uv.x }
    }

    /// Returns the constant parameter of line `k`. The numbers continue through the periods: a line one
    /// period higher has a number larger by the number of lines in one period.
    fn line(&self, k: i64) -> f64 {
        let n = self.at.len() as i64;
        self.at[k.rem_euclid(n) as usize] + self.period.map_or(0.0, |p| k.div_euclid(n) as f64 * p)
    }

    /// Returns the number of the strip that contains the value `x` of the parameter that is constant
    /// along the lines: strip `k` is between line `k - 1` and line `k`.
    fn strip(&self, x: f64) -> i64 {
        let n = self.at.len() as i64;
        let turns = self.period.map_or(0.0, |p| ((x - self.at[0]) / p).floor());
        let x = x - self.period.map_or(0.0, |p| turns * p);
        turns as i64 * n + self.at.partition_point(|c| *c < x) as i64
    }

    /// Returns the number of the line nearest to a point, and the signed distance (mm) of the point from
    /// it, positive if the constant parameter of the line is smaller than that of the point.
    fn nearest(&self, uv: P2) -> (i64, f64) {
        let x = self.across(uv);
        let k = self.strip(x);
        let (du, dv) = self.host.jacobian(uv);
        let speed = if self.of_u { du.norm() } else { dv.norm() };
        let last = self.at.len() as i64 - 1;
        let candidates = [k - 1, k].into_iter().filter(|k| self.period.is_some() || (0..=last).contains(k));
        candidates
            .map(|k| (k, (x - self.line(k)) * speed))
            .min_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
            .unwrap_or((0, f64::INFINITY))
    }

    /// Returns the number of the line within `self.tol` (mm) of a point; `None` if no line is that near.
    fn on(&self, uv: P2) -> Option<i64> {
        let (k, off) = self.nearest(uv);
        (off.abs() <= self.tol).then_some(k)
    }

    /// Returns the index in `at` of the line with the number `k`, which may be in any period.
    fn kind(&self, k: i64) -> usize {
        k.rem_euclid(self.at.len() as i64) as usize
    }
}

/// Cuts edges where they cross the crease lines of their faces: lines of constant u if `of_u`, otherwise
/// of constant v. `joints` lists, for each face, the indices of the breaks of that parameter at which
/// its surface has creases.
fn cut_edges(draft: &mut Draft, joints: &[Vec<usize>], of_u: bool) {
    let mut cuts: Vec<Vec<f64>> = vec![Vec::new(); draft.edges.len()];
    for (face, joints) in draft.faces.iter().zip(joints).filter(|(_, joints)| !joints.is_empty()) {
        let host = loops::host(draft, face);
        let lines = Lines::new(&host, joints, of_u, draft.size);
        for u in face.loops.iter().flatten() {
            let edge = &draft.edges[u.edge as usize];
            if let Some(pcurve) = &u.pcurve {
                cuts[u.edge as usize].extend(crossings(&lines, edge, pcurve));
            }
        }
    }
    for (edge, cuts) in draft.edges.iter().zip(&mut cuts) {
        cuts.sort_by(f64::total_cmp);
        // Both faces of an edge can have a crease at the same point.
        let [start, end] = [edge.range.0, edge.range.1].map(|t| edge.curve.point(t));
        let mut last = start;
        cuts.retain(|t| {
            let p = edge.curve.point(*t);
            let apart = |q: P3| (p - q).norm() > 0.5 * ON_LINE * draft.size;
            let keep = apart(last) && apart(end);
            if keep {
                last = p;
            }
            keep
        });
    }
    draft.split(&cuts);
}

/// Returns the curve parameters at which an edge, with the given pcurve, crosses any of `lines`.
fn crossings(lines: &Lines<'_>, edge: &Edge, pcurve: &Pcurve) -> Vec<f64> {
    let mut out = Vec::new();
    let mut before: Option<(f64, i64)> = None;
    for ends in pcurve.joints.windows(2) {
        for i in 0..=STEPS {
            let t = ends[0] + (ends[1] - ends[0]) * f64::from(i) / f64::from(STEPS);
            let uv = pcurve.guess(t);
            if lines.on(uv).is_some() {
                continue;
            }
            let strip = lines.strip(lines.across(uv));
            if let Some((from, was)) = before {
                let passed = if was < strip { was..strip } else { strip..was };
                out.extend(passed.map(|k| {
                    let value = |t: f64| {
                        let uv = lines.host.invert(&edge.curve.point(t), pcurve.guess(t), pcurve.expected());
                        lines.across(uv) - lines.line(k)
                    };
                    bisected(&value, from, t, was < strip)
                }));
            }
            before = Some((t, strip));
        }
    }
    out
}

/// Number of steps into which each piece of a pcurve is divided to detect crossings of crease lines
/// between consecutive steps. A larger value takes more time, a smaller one misses double crossings.
const STEPS: u32 = 8;

/// Computes the zero of a function between `a` and `b` by bisection, down to adjacent floating-point
/// numbers. `rises`: whether the function increases from `a` to `b`.
fn bisected(value: &dyn Fn(f64) -> f64, mut a: f64, mut b: f64, rises: bool) -> f64 {
    loop {
        let mid = 0.5 * (a + b);
        if !(a < mid && mid < b) {
            return mid;
        }
        if (value(mid) < 0.0) == rises {
            a = mid;
        } else {
            b = mid;
        }
    }
}

/// A use, identified by the index of its loop and its index in the loop.
type At = (usize, usize);

/// A corner at which a loop passes from one side of a crease line to the other.
#[derive(Clone, Copy, Debug)]
struct Corner {
    /// The uses before and after the corner.
    uses: [At; 2],
    vertex: u32,
    /// Position of the corner on the line: the value of the parameter that varies along the line.
    at: f64,
    /// Whether the chord begins at the corner, in the direction of increasing parameter along the line;
    /// otherwise the chord ends there.
    opens: bool,
}

/// A new edge along a crease line.
#[derive(Debug)]
struct Chord {
    /// Index of the crease line in [`Lines::at`].
    line: usize,
    /// Values of the parameter along the line at the start and at the end of the chord.
    range: (f64, f64),
    /// The corners at the start and at the end of the chord; `None` if the chord is a whole closed line.
    corners: Option<[Corner; 2]>,
}

/// A use of an edge by a loop, in the direction of the loop.
struct Walk {
    /// Number of the strip that contains the use; for a use along a line, that of the strip on the side
    /// where the face is.
    strip: i64,
    /// Numbers of the lines that contain the start and the end of the use; `None` for an end that is on
    /// no line.
    lines: [Option<i64>; 2],
    /// Surface parameters at samples of the use, in the direction of the loop.
    points: Vec<P2>,
}

impl Walk {
    fn new(lines: &Lines<'_>, face: &Face, u: &Use, left_is_up: bool) -> Option<Self> {
        let mut pcurve = u.pcurve.clone()?;
        loops::choose_side(lines.host, &mut pcurve, u.forward == face.outward);
        let mut points = vec![pcurve.start()];
        for ends in pcurve.joints.windows(2) {
            let t = |i: u32| ends[0] + (ends[1] - ends[0]) * f64::from(i) / f64::from(STEPS);
            points.extend((1..=STEPS).map(|i| pcurve.guess(t(i))));
        }
        if !u.forward {
            points.reverse();
        }
        let [start, end] = [points[0], points[points.len() - 1]];
        let off = |uv: &P2| lines.nearest(*uv).1.abs();
        let farthest = points.iter().max_by(|a, b| off(a).total_cmp(&off(b)))?;
        let strip = match lines.on(*farthest) {
            // A use along a line is in the strip on the side of the material.
            Some(k) => k + i64::from((lines.along(end) > lines.along(start)) == left_is_up),
            None => lines.strip(lines.across(*farthest)),
        };
        Some(Self { strip, lines: [start, end].map(|uv| lines.on(uv)), points })
    }

    fn end(&self) -> P2 {
        self.points[self.points.len() - 1]
    }
}

impl Lines<'_> {
    /// Returns the chords between the corners of one line. Returns `None` if the loops are inconsistent:
    /// corners at which a chord begins and corners at which one ends do not alternate along the line.
    fn chords(&self, corners: &mut [Corner], line: usize) -> Option<Vec<Chord>> {
        let scale = match self.along_period {
            Some(period) => period,
            None => corners.iter().fold(0.0, |m: f64, c| m.max(c.at.abs())),
        };
        let same = 1e-9 * scale;
        if let Some(period) = self.along_period {
            let natural = self.host.natural;
            let lo = if self.of_u { natural.v0 } else { natural.u0 };
            for c in corners.iter_mut() {
                c.at = math::wrap(c.at, lo, period);
                if c.at > lo + period - same {
                    c.at = lo;
                }
            }
        }
        corners.sort_by(|a, b| a.at.total_cmp(&b.at));
        // If two chords share a point, the first one must end before the second one begins.
        for k in 1..corners.len() {
            if corners[k].at - corners[k - 1].at <= same && corners[k - 1].opens && !corners[k].opens {
                corners.swap(k - 1, k);
            }
        }
        let n = corners.len();
        let alternate = (0..n).all(|k| corners[k].opens != corners[(k + 1) % n].opens);
        if !alternate || (self.along_period.is_none() && !corners[0].opens) {
            return None;
        }
        let opening = (0..n).filter(|k| corners[*k].opens);
        let chord = |k: usize| {
            let (start, end) = (corners[k], corners[(k + 1) % n]);
            let is_whole_turn = end.at <= start.at + same;
            let turn = if is_whole_turn { self.along_period.unwrap_or(0.0) } else { 0.0 };
            Chord { line, range: (start.at, end.at + turn), corners: Some([start, end]) }
        };
        Some(opening.map(chord).collect())
    }

    /// Returns the chord along a whole closed line that no loop crosses; `None` if the line is open or
    /// outside the face. `rings` are the loops of the face; `left_is_up` is that of [`Parts`].
    fn closed_chord(&self, rings: &[Vec<Walk>], line: usize, left_is_up: bool) -> Option<Chord> {
        let period = self.along_period?;
        let natural = self.host.natural;
        let start = if self.of_u { natural.v0 } else { natural.u0 };
        let chord = Chord { line, range: (start, start + period), corners: None };
        // Winding numbers of the loops along the line (positive if the face is above the loop), and the
        // parameters of the loops relative to the line.
        let turns = |ring: &[Walk]| {
            let way: f64 = ring.iter().map(|w| self.along(w.end()) - self.along(w.points[0])).sum();
            (way / period).round() * if left_is_up { 1.0 } else { -1.0 }
        };
        let mut around: Vec<(f64, f64)> = rings
            .iter()
            .map(|ring| {
                let x = self.across(ring[0].points[0]) - self.at[line];
                (self.period.map_or(x, |p| math::wrap(x, -p, p)), turns(ring))
            })
            .filter(|(_, turns)| *turns != 0.0)
            .collect();
        around.sort_by(|a, b| a.0.total_cmp(&b.0));
        let below = around.iter().rev().find(|(x, _)| *x < 0.0).map(|(_, turns)| *turns > 0.0);
        let above = || around.iter().find(|(x, _)| *x > 0.0).map(|(_, turns)| *turns < 0.0);
        let is_inside = below.or_else(above).unwrap_or_else(|| {
            // If no loop winds around, all loops are outlines of islands, or all are holes of a closed
            // surface.
            let area: f64 = rings.iter().map(|ring| self.area(ring)).sum();
            let is_outward = left_is_up != self.of_u;
            (area <= 0.0) == is_outward
        });
        (is_inside || rings.is_empty()).then_some(chord)
    }

    /// Computes the signed area, in the (u, v) plane, of a loop that does not wind around a period;
    /// positive for a counter-clockwise loop.
    fn area(&self, ring: &[Walk]) -> f64 {
        let mut points: Vec<P2> = Vec::new();
        for walk in ring {
            let shift = points.last().map_or(P2::origin() - P2::origin(), |at: &P2| {
                self.host.unwrapped(walk.points[0], *at) - walk.points[0]
            });
            points.extend(walk.points.iter().map(|p| p + shift));
        }
        let Some(first) = points.first() else { return 0.0 };
        0.5 * points.windows(2).map(|p| (p[0] - first).perp(&(p[1] - first))).sum::<f64>()
    }
}

/// A transition from one use of an old loop to another one along a chord, in a loop of a new face.
struct Turn {
    /// The use of the old loops that precedes the chord.
    from: At,
    chord: usize,
    forward: bool,
    /// The use of the old loops that follows the chord.
    to: At,
}

/// Division of a face into new faces along the crease lines of one direction.
struct Parts {
    /// For each crease line within one period, the index of its break of the surface (`u_breaks` if
    /// `of_u`, otherwise `v_breaks`).
    joints: Vec<usize>,
    of_u: bool,
    is_periodic: bool,
    chords: Vec<Chord>,
    turns: Vec<Turn>,
    /// Number of the strip that contains each use: `strips[loop][index in the loop]`.
    strips: Vec<Vec<i64>>,
    /// Whether the material to the left of a crease line is in the strip above it, where the constant
    /// parameter is larger. The line is traversed in the direction of its increasing parameter and seen
    /// from outside.
    left_is_up: bool,
}

impl Parts {
    /// Divides the face with the index `f`, whose edges end wherever they meet a crease line; `None` if
    /// its loops are inconsistent.
    fn new(draft: &Draft, f: usize, joints: &[usize], of_u: bool) -> Option<Self> {
        let face = &draft.faces[f];
        let host = loops::host(draft, face);
        let lines = Lines::new(&host, joints, of_u, draft.size);
        // Loops have the material on their left, seen from outside. It follows whether material on the
        // left of a line, in its direction, is above the line.
        let left_is_up = face.outward != of_u;
        let walks = |ring: &Vec<Use>| -> Option<Vec<Walk>> {
            ring.iter().map(|u| Walk::new(&lines, face, u, left_is_up)).collect()
        };
        let rings: Vec<Vec<Walk>> = face.loops.iter().map(walks).collect::<Option<_>>()?;
        let mut corners: Vec<Vec<Corner>> = vec![Vec::new(); joints.len()];
        for (r, ring) in rings.iter().enumerate() {
            for (k, before) in ring.iter().enumerate() {
                let next = (k + 1) % ring.len();
                let after = &ring[next];
                let (Some(line), Some(line_after)) = (before.lines[1], after.lines[0]) else { continue };
                // The side of each use is below (0) or above (1) the line, each counted in its own
                // period.
                let (from, to) = (before.strip - line, after.strip - line_after);
                if !(0..=1).contains(&from) || !(0..=1).contains(&to) {
                    return None;
                }
                if from != to {
                    corners[lines.kind(line)].push(Corner {
                        uses: [(r, k), (r, next)],
                        vertex: draft.ends(&face.loops[r][k]).1,
                        at: lines.along(before.end()),
                        opens: (to < from) == left_is_up,
                    });
                }
            }
        }
        let mut chords = Vec::new();
        for (line, corners) in corners.iter_mut().enumerate() {
            if corners.is_empty() {
                chords.extend(lines.closed_chord(&rings, line, left_is_up));
            } else {
                chords.extend(lines.chords(corners, line)?);
            }
        }
        // If there are loops on both sides of a line, they belong to one face only if the face contains a
        // part of the line.
        let all = || rings.iter().flatten().map(|w| w.strip);
        let (lowest, highest) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        let is_cut = |line: i64| chords.iter().any(|c| c.line == lines.kind(line));
        if lines.period.is_none() && !(lowest..highest).all(is_cut) {
            return None;
        }
        let mut turns = Vec::new();
        for (chord, corners) in chords.iter().enumerate().filter_map(|(k, c)| c.corners.map(|c| (k, c))) {
            let [start, end] = corners;
            turns.push(Turn { from: start.uses[0], chord, forward: true, to: end.uses[1] });
            turns.push(Turn { from: end.uses[0], chord, forward: false, to: start.uses[1] });
        }
        let strips = rings.iter().map(|ring| ring.iter().map(|w| w.strip).collect()).collect();
        let is_periodic = lines.period.is_some();
        Some(Self { joints: joints.to_vec(), of_u, is_periodic, chords, turns, strips, left_is_up })
    }

    /// Returns the index of the part to which a strip belongs, which is the number of the strip within
    /// one period.
    fn part(&self, strip: i64) -> usize {
        let n = self.joints.len() as i64;
        (if self.is_periodic { strip.rem_euclid(n) } else { strip.clamp(0, n) }) as usize
    }

    /// Replaces the face with the index `f` by its parts, and appends the chords as new edges. The first
    /// part keeps the index; the others are appended. Uses of the parts have no pcurves. A part or a
    /// chord is replaced by a canonical shape that is within `canonical_tol` (mm) of it; `disguised`
    /// counts these.
    ///
    /// A vertex that is a loop of the face remains if it is a singular point of a part. It is removed
    /// otherwise, because it can lie on a chord.
    fn put_into(self, draft: &mut Draft, f: usize, disguised: &mut Disguised, canonical_tol: f64) {
        let Surface::Bezier(surface) = &draft.faces[f].surface else { return };
        if self.chords.is_empty() {
            return;
        }
        let surface = surface.clone();
        let (n_u, n_v) = surface.n_patches();
        let n = if self.of_u { n_u } else { n_v };
        let id = draft.faces[f].id;
        let mut edges = Vec::with_capacity(self.chords.len());
        for chord in &self.chords {
            edges.push(index(draft.edges.len()));
            let line = surface.joint(self.of_u, self.joints[chord.line]);
            let edge = new_edge(
                draft,
                line.restricted(chord.range.0, chord.range.1),
                chord,
                id,
                disguised,
                canonical_tol,
            );
            draft.edges.push(edge);
        }
        let loops = self.loops_of_parts(&draft.faces[f], &edges);
        let whole = draft.faces[f].clone();
        let vertex_parts: Vec<usize> = whole
            .vertex_loops
            .iter()
            .map(|v| self.part_of_point(&surface, &draft.vertices[*v as usize]))
            .collect();
        let mut is_first = true;
        for (part, loops) in loops.into_iter().enumerate() {
            let at_vertices = whole.vertex_loops.iter().zip(&vertex_parts).filter(|(_, p)| **p == part);
            let vertex_loops: Vec<u32> = at_vertices.map(|(v, _)| *v).collect();
            if loops.is_empty() {
                continue;
            }
            let range = self.patches_of(part, n);
            let (us, vs) = if self.of_u { (range, 0..n_v) } else { (0..n_u, range) };
            let mut part = surface.part(us, vs);
            // A single crease cuts a periodic direction without dividing the face.
            let is_periodic = if self.of_u { &mut part.u_periodic } else { &mut part.v_periodic };
            *is_periodic = false;
            let surface = Surface::Bezier(part);
            let mut new = Face { surface, loops, vertex_loops, ..whole.clone() };
            disguised.surface(&mut new, canonical_tol);
            new.singular = singular::singular_points(&new.surface, draft.size);
            let at_singular_point = |v: &u32| {
                let p = draft.vertices[*v as usize].point;
                new.singular.iter().any(|s| (s.point - p).norm() <= ON_LINE * draft.size)
            };
            new.vertex_loops.retain(at_singular_point);
            if is_first {
                draft.faces[f] = new;
            } else {
                draft.faces.push(new);
            }
            is_first = false;
        }
    }

    /// Returns the loops of each part. Their uses have no pcurves. `edges` lists the indices of the new
    /// edges, parallel to the chords.
    fn loops_of_parts(&self, face: &Face, edges: &[u32]) -> Vec<Vec<Vec<Use>>> {
        let n_parts = self.joints.len() + usize::from(!self.is_periodic);
        let mut loops: Vec<Vec<Vec<Use>>> = vec![Vec::new(); n_parts];
        let chord_use = |chord: usize, forward: bool| Use { edge: edges[chord], forward, pcurve: None };
        for (k, chord) in self.chords.iter().enumerate().filter(|(_, c)| c.corners.is_none()) {
            for forward in [true, false] {
                let strip = chord.line as i64 + i64::from(forward == self.left_is_up);
                loops[self.part(strip)].push(vec![chord_use(k, forward)]);
            }
        }
        let mut is_done: Vec<Vec<bool>> = face.loops.iter().map(|ring| vec![false; ring.len()]).collect();
        for (r, ring) in face.loops.iter().enumerate() {
            for first in 0..ring.len() {
                let mut at = (r, first);
                let mut walk = Vec::new();
                while !is_done[at.0][at.1] {
                    is_done[at.0][at.1] = true;
                    walk.push(Use { pcurve: None, ..face.loops[at.0][at.1].clone() });
                    at = match self.turns.iter().find(|turn| turn.from == at) {
                        Some(turn) => {
                            walk.push(chord_use(turn.chord, turn.forward));
                            turn.to
                        }
                        None => (at.0, (at.1 + 1) % face.loops[at.0].len()),
                    };
                }
                if !walk.is_empty() {
                    loops[self.part(self.strips[r][first])].push(walk);
                }
            }
        }
        loops
    }

    /// Returns the range of the patches that belong to a part, in the direction across the crease lines,
    /// in which the surface has `n` patches. The end of the range may exceed `n` if that direction is
    /// periodic.
    fn patches_of(&self, part: usize, n: usize) -> Range<usize> {
        let start = match (part, self.is_periodic) {
            (0, true) => self.joints[self.joints.len() - 1],
            (0, false) => 0,
            _ => self.joints[part - 1],
        };
        let end = match part {
            0 if self.is_periodic => self.joints[0] + n,
            _ => self.joints.get(part).copied().unwrap_or(n),
        };
        start..end
    }

    /// Returns the index of the part that contains a vertex loop.
    fn part_of_point(&self, surface: &BezierSurface, vertex: &Vertex) -> usize {
        let uv = surface.invert(&vertex.point, None, None);
        let (x, breaks) = if self.of_u { (uv.x, &surface.u_breaks) } else { (uv.y, &surface.v_breaks) };
        self.part(self.joints.partition_point(|&k| breaks[k] < x) as i64)
    }
}

/// Creates the edge of a chord, with a canonical curve if its spline agrees with one within
/// `canonical_tol` (mm), and with a new vertex if the chord is a closed line. `id` is the entity id of
/// the face that is split.
fn new_edge(
    draft: &mut Draft,
    line: BezierSpline,
    chord: &Chord,
    id: u64,
    disguised: &mut Disguised,
    canonical_tol: f64,
) -> Edge {
    let line = Curve::Bezier(line);
    let ends = [chord.range.0, chord.range.1].map(|t| line.point(t));
    let vertices = match chord.corners {
        Some([start, end]) => (start.vertex, end.vertex),
        None => {
            let v = index(draft.vertices.len());
            draft.vertices.push(Vertex { id, point: ends[0], gap: 0.0 });
            (v, v)
        }
    };
    for (v, end) in [(vertices.0, ends[0]), (vertices.1, ends[1])] {
        let vertex = &mut draft.vertices[v as usize];
        vertex.gap = vertex.gap.max((vertex.point - end).norm());
    }
    let Some((curve, curve_deviation)) = disguised.curve(&line, canonical_tol) else {
        return Edge { source: id, curve: line, curve_deviation: 0.0, range: chord.range, vertices };
    };
    let t0 = parameter(&curve, &ends[0]);
    let t1 = match curve.period() {
        Some(period) if vertices.0 == vertices.1 => t0 + period,
        Some(period) => math::wrap(parameter(&curve, &ends[1]), t0, period),
        None => parameter(&curve, &ends[1]),
    };
    Edge { source: id, curve, curve_deviation, range: (t0, t1), vertices }
}
