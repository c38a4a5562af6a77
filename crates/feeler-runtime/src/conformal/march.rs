//! Marching along the trims of faces and along one-dimensional families, to sample conformal sets.

use super::image::{Faces, Image, Linear};
use super::outline::Outline;
use super::{FamilySet, Member, OnTrim, Sample, Seeds};
use crate::api::options::QueryOptions;
use crate::body::side::Which;
use crate::footpoint::trim::{InDomain, clearance_on};
use feeler_geom::skeleton::Critical;
use feeler_geom::{P2, P3, V3, math};
use std::f64::consts::TAU;

/// Smallest step along a curve, as a fraction of its length or, for load-bearing samples, of the smaller
/// feature's extent if that is longer. A larger value skips narrow sets; a smaller one takes more work.
pub(crate) const MIN_STEP: f64 = 1.0 / 64.0;
/// Smallest step along a trim that coincides with a trim of the other solid, as a fraction of the trim's
/// length or, for load-bearing samples, of the smaller feature's extent if that is longer. A larger value
/// skips narrow sets; a smaller one takes more work.
const SHARED_STEP: f64 = 1.0 / 8.0;
/// Length of a step as a fraction of the distance to the nearest trim. It is below 1 because surfaces bend
/// and their metric changes along the step. A larger value steps over trims; a smaller one takes more
/// work.
const CLEARANCE_STEP: f64 = 0.5;
/// Maximum number of seeds (points near which members are searched for) that locate the branches of a
/// one-dimensional family. A branch is one connected line or circle of members. The first number is for
/// families with an edge, the second for two faces, whose near and far branches may be at about equal
/// distances. A larger number takes more work; a smaller one misses branches.
const MAX_SEEDS: [usize; 2] = [16, 64];
/// Smallest turn (rad) of a curve between two stations, the fixed parameters at which it is sampled: an
/// eighth of a circle, to rounding. A larger value gives samples that move with the pose; a smaller one
/// gives more samples.
const STATION_TURN: f64 = 0.25 * std::f64::consts::PI * (1.0 + 1e-6);
/// Maximum number of intervals between the stations of a curve. A larger number gives more samples of curves
/// that wind; a smaller one gives fewer samples of a circle.
const MAX_STATIONS: u32 = 8;
/// Smallest step along a trim that has an image on the other face, as a fraction of the trim. A larger
/// value misses small common areas; a smaller one tests more boxes.
const MIN_TRIM_STEP: f64 = 1.0 / 65536.0;
/// Distance before a crossing of trims, as a fraction of the trim, that is excluded from the test whether
/// the trim crosses no other one before. With a larger value, steps before crossings are tested one by
/// one; with a smaller one, the test fails near flat crossings.
const BEFORE_CROSSING: f64 = 2.0 * MIN_TRIM_STEP;
/// Maximum number of bisections of a crossing of a trim; two steps of linear interpolation precede each.
/// Only curves longer than 10¹⁰ tolerances reach it.
const BISECTIONS: u32 = 40;
/// Width, as a fraction of the tolerance, at which the bisection of a crossing of a trim ends. A larger value
/// gives less exact corners. With a value below about five times [`Tolerances::trim`], the points beside the
/// zero of the interpolated gaps are on the same side, because points on a trim count as inside, and the
/// bisection takes three times as many steps.
///
/// [`Tolerances::trim`]: crate::Tolerances::trim
const CROSSING_WIDTH: f64 = 0.1;

/// Scratch buffers reused between queries.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Members of a family, each with the number of its seed.
    members: Vec<(usize, Critical)>,
    /// Footpoints of the members of one branch.
    points: Vec<P3>,
    outline: Outline,
}

/// Adds samples of a one-dimensional family along its own lines or circles.
pub(crate) fn along_family(
    set: &FamilySet<'_>,
    seeds: &Seeds,
    options: &QueryOptions,
    Scratch { members, points, .. }: &mut Scratch,
    out: &mut Vec<Sample>,
) {
    members.clear();
    members.extend(
        set.points_on_branches().iter().enumerate().filter_map(|(i, point)| Some((i, set.pair(point)?))),
    );
    if members.is_empty() {
        // A branch is a whole line or circle, so a few seeds suffice to find it. The stride between seeds is
        // not a whole number, because a whole stride could select points of one row of each area's grid
        // only.
        let [with_edge, of_faces] = MAX_SEEDS;
        let count = seeds.len().min(if set.has_edge() { with_edge } else { of_faces });
        members.extend(
            (0..count)
                .map(|i| (i, seeds.point(set.ctx, i * seeds.len() / count).1))
                .filter_map(|(i, seed)| Some((i, set.pair(&seed)?))),
        );
    }
    // Branches (the near and the far ruling of two tubes) differ in distance.
    members.sort_unstable_by(|(i, x), (j, y)| x.distance.total_cmp(&y.distance).then_with(|| i.cmp(j)));
    let same = 10.0 * set.ctx.tol.tol;
    for branch in members.chunk_by_mut(|x, y| y.1.distance - x.1.distance <= same) {
        let d = branch[0].1.distance;
        if d < set.ctx.least - same || d > set.ctx.d_max + same {
            continue;
        }
        // In a hole with hardly any play, the branches have equal distances and are distinguished by their
        // normals.
        let normal = branch[0].1.n;
        let is_far = |m: &(usize, Critical)| set.is_of_lines() && m.1.n.dot(&normal) < 0.0;
        // Members are not ordered by distance: among about equal distances, rounding would choose the
        // start of the track.
        branch.sort_unstable_by_key(|m| (is_far(m), m.0));
        for side in branch.chunk_by(|x, y| is_far(x) == is_far(y)) {
            let leading = set.leading_side();
            points.clear();
            points.extend(side.iter().map(|m| if leading == Which::A { m.1.p_a } else { m.1.p_b }));
            let curve = FamilyCurve::through(points, set.is_of_lines(), set.ctx.tol.same);
            match curve {
                FamilyCurve::Point(p) => {
                    out.extend(set.member(&p).and_then(|m| set.sample(&m, (leading, true))))
                }
                FamilyCurve::Line { origin, dir } => {
                    let (lo, hi) = set.range_along(&origin, &dir);
                    let point = |s: f64| origin + dir * s;
                    if set.faces_away(leading, &point(0.5 * (lo + hi)))
                        || set.stays_outside(leading, [point(lo), point(hi)])
                    {
                        continue;
                    }
                    let along = Path { set, point: &point, leader: Leader::Family(leading), ends_only: true };
                    // The ends of a line carry its loads, unless the line is pressed and one solid ends
                    // there.
                    if options.load_bearing && d >= set.ctx.tol.min_distance() {
                        let before = out.len();
                        walk(&along, (lo, hi), options, out);
                        if out.len() > before {
                            walk(&along, (hi, lo), options, out);
                        }
                    } else {
                        walk(&Path { ends_only: false, ..along }, (lo, hi), options, out);
                    }
                }
                FamilyCurve::Circle { center, x, y } => {
                    let point = |s| center + x * math::cos(s) + y * math::sin(s);
                    let along =
                        Path { set, point: &point, leader: Leader::Family(leading), ends_only: false };
                    walk(&along, (0.0, TAU), options, out);
                }
            }
        }
    }
}

/// Adds samples of a two-dimensional family at the seeds.
pub(crate) fn at_seeds(set: &FamilySet<'_>, seeds: &Seeds, out: &mut Vec<Sample>) {
    for (which, seed) in seeds.points(set.ctx).filter(|s| set.may_face(&s.1, 0.0)) {
        out.extend(set.member_at(which, &seed).and_then(|m| set.sample(&m, (which, false))));
    }
}

/// Adds samples of a two-dimensional family along the trims of both faces. If only load-bearing samples are
/// requested of two planes, the pieces of the trims that cannot hold one are skipped; no corner is
/// farther than `corner_loss` (mm) outside the polygon of the samples.
pub(crate) fn along_trims(
    set: &FamilySet<'_>,
    options: &QueryOptions,
    corner_loss: f64,
    scratch: &mut Scratch,
    out: &mut Vec<Sample>,
) {
    let faces = [Which::A, Which::B].map(|which| Faces::of(set, which));
    let [Some(a), Some(b)] = faces else { return };
    let mut walks = [a, b].map(TrimWalk::new);
    if options.load_bearing && scratch.outline.start(set, [&a, &b], corner_loss) {
        while let Some((which, piece)) = scratch.outline.next_piece(out) {
            let walk = &mut walks[which as usize];
            // The previous piece of the loop may be skipped.
            walk.steps = ImageSteps::default();
            walk.follow(set, piece, options, out);
        }
        scratch.outline.sort(out);
        return;
    }
    for walk in &mut walks {
        for piece in 0..walk.faces.from.trim.pieces.len() {
            walk.follow(set, piece, options, out);
        }
    }
}

/// State of a walk along the pieces of the trims of one face.
struct TrimWalk<'a> {
    faces: Faces<'a>,
    /// Linear part of the map to the parameters of the other face, computed at the first piece that needs
    /// it.
    linear: Option<Linear>,
    /// Step lengths, which are carried over from piece to piece, because pieces follow each other around a
    /// loop.
    steps: ImageSteps,
    /// End of the previous piece.
    end: Option<P2>,
}

impl<'a> TrimWalk<'a> {
    fn new(faces: Faces<'a>) -> Self {
        Self { faces, linear: None, steps: ImageSteps::default(), end: None }
    }

    /// Adds the samples along the piece with the index `piece`.
    fn follow(&mut self, set: &FamilySet<'a>, piece: usize, options: &QueryOptions, out: &mut Vec<Sample>) {
        let Self { faces, linear, steps, end } = self;
        let (which, face) = (faces.own, faces.from);
        let piece = &face.trim.pieces[piece];
        if end.replace(piece.end()) != Some(piece.start()) {
            *steps = ImageSteps::default();
        }
        let point = |s: f64| set.ctx.in_a(which, &face.surface.point(piece.eval(s)));
        // A monotone piece does not wind: its points are at most three times the longer half chord away
        // from its middle.
        let (a, m, b) = (point(0.0), point(0.5), point(1.0));
        let may_face = set.may_face(&m, 3.0 * (a - m).norm().max((b - m).norm()));
        if may_face {
            *linear = linear.or_else(|| Linear::at(set, faces, piece.start()));
        }
        let mut image = linear.filter(|_| may_face).and_then(|linear| Image::of(set, faces, &linear, piece));
        if !may_face || image.as_ref().is_some_and(Image::is_outside) {
            *steps = ImageSteps::default();
            return;
        }
        if let Some(image) = &mut image {
            image.find_crossings();
        }
        let trim = |s: f64| OnTrim { uv: piece.eval(s), deviation: piece.deviation };
        let leader = Leader::Trim(which, &trim, image.as_ref());
        let path = Path { set, point: &point, leader, ends_only: false };
        walk_on(&path, (0.0, 1.0), options, steps, out);
    }
}

/// Kind of a path along which members of a set are sampled.
#[derive(Clone, Copy)]
enum Leader<'a> {
    /// The line or circle of a one-dimensional family; members have their footpoint on the feature of this
    /// body nearest to the path.
    Family(Which),
    /// A piece of a trim of the face of this body: its points by the parameter (0 to 1), and its image on
    /// the other face, if there is one.
    Trim(Which, &'a dyn Fn(f64) -> OnTrim, Option<&'a Image<'a>>),
}

/// Curve along which members of a set are sampled.
#[derive(Clone, Copy)]
struct Path<'a> {
    set: &'a FamilySet<'a>,
    /// Returns the point of the curve at a parameter, in the frame of A.
    point: &'a dyn Fn(f64) -> P3,
    leader: Leader<'a>,
    /// Whether the walk along the path ends at the first member that is found.
    ends_only: bool,
}

impl Path<'_> {
    /// Returns the member at the parameter `s` of the path. `on_other` is the location of its footpoint
    /// in the domain of the face whose trim is not followed, if it is known. `None` if the path's point
    /// has no unique nearest point on the other feature.
    fn member(&self, s: f64, on_other: Option<InDomain>) -> Option<Member> {
        let p = (self.point)(s);
        match self.leader {
            Leader::Trim(which, trim, _) => self.set.member_on_trim(which, &p, trim(s), on_other),
            Leader::Family(which) => self.set.member_beside(which, &p),
        }
    }
}

/// Lengths of steps along a piece of a trim that has an image on the other face. All lengths and
/// parameters are fractions of the piece.
#[derive(Clone, Copy, Debug)]
struct ImageSteps {
    /// Length, as a fraction of the piece, of the next step that is tested for crossings with trims of
    /// the other face.
    ahead: f64,
    /// Length, as a fraction of the piece, of the next step across a trim of the other face.
    across: f64,
    /// Whether the previous point was on a trim of the other face.
    was_shared: bool,
    /// Parameter up to which the piece is known not to cross trims of the other face (to be *free*), from
    /// the point at which it was tested.
    free_until: f64,
    /// Parameter up to which the piece was tested for crossings.
    tested_until: f64,
}

impl Default for ImageSteps {
    fn default() -> Self {
        Self { ahead: 1.0, across: MIN_TRIM_STEP, was_shared: false, free_until: 0.0, tested_until: 0.0 }
    }
}

impl ImageSteps {
    /// Returns the parameter of the end of the step from the point at `s`, at most `max_end`, and whether
    /// the step is free of crossings with trims of the other face. Steps are halved down to
    /// [`MIN_TRIM_STEP`] until they are free. Steps across a trim begin at this length and double up to
    /// `longest_across`, so that corners of small common areas are found. `shared` is whether the point is
    /// on a trim of the other face; if the previous one was, too, the step has the length
    /// `longest_across`.
    fn end_of_step(
        &mut self,
        image: &Image<'_>,
        s: f64,
        max_end: f64,
        (shared, longest_across): (bool, f64),
    ) -> (f64, bool) {
        let is_along = std::mem::replace(&mut self.was_shared, shared) && shared;
        let crossing = image.crossing_beyond(s);
        self.prove_free(image, s, crossing);
        while self.ahead >= MIN_TRIM_STEP && image.border.is_none() {
            let end = (s + self.ahead).min(max_end);
            // The test fails for steps across a known crossing.
            let is_before = crossing.is_none_or(|crossing| end < crossing);
            if end <= self.free_until || (is_before && image.is_free(s, end)) {
                (self.ahead, self.across) = ((2.0 * self.ahead).min(1.0), MIN_TRIM_STEP);
                return (end, true);
            }
            self.ahead *= 0.5;
        }
        let across = if is_along { longest_across } else { self.across.min(longest_across) };
        (self.ahead, self.across) = (MIN_TRIM_STEP, 2.0 * across);
        ((s + across).min(max_end), false)
    }

    /// Tests whether the piece is free from the parameter `s` to the next known crossing, or to its end.
    /// One test replaces a test of each step. Nothing is done if `s` lies in a part that was tested
    /// before.
    fn prove_free(&mut self, image: &Image<'_>, s: f64, crossing: Option<f64>) {
        let end = crossing.map_or(1.0, |crossing| crossing - BEFORE_CROSSING);
        if s >= self.tested_until && s + MIN_TRIM_STEP < end && image.border.is_none() {
            self.tested_until = end;
            if image.is_free(s, end) {
                self.free_until = end;
            }
        }
    }
}

/// Follows a path between two parameters and adds samples on both solids: members along the path, and the
/// last member before each crossing of a trim.
fn walk(path: &Path<'_>, range: (f64, f64), options: &QueryOptions, out: &mut Vec<Sample>) {
    walk_on(path, range, options, &mut ImageSteps::default(), out);
}

/// Follows a path like [`walk`], with the lengths of steps at which the walk along the previous path ended.
fn walk_on(
    path: &Path<'_>,
    (s0, s1): (f64, f64),
    options: &QueryOptions,
    steps: &mut ImageSteps,
    out: &mut Vec<Sample>,
) {
    let Path { set, point, leader, ends_only } = *path;
    let width = s1 - s0;
    let (own, image) = match leader {
        Leader::Trim(which, _, image) => (Some(which), image),
        Leader::Family(_) => (None, None),
    };
    let (Leader::Trim(moving, ..) | Leader::Family(moving)) = leader;
    (steps.free_until, steps.tested_until) = (0.0, 0.0);
    let border = image.and_then(|image| image.border);
    let at = |s: f64| path.member(s0 + width * s, border);
    let (length, turn) = extent_of(&|s| point(s0 + width * s));
    if length <= 0.0 || !length.is_finite() {
        out.extend(at(0.0).and_then(|m| set.sample(&m, (moving, false))));
        return;
    }
    // All loads are carried by the ends of straight pieces and by their crossings with other trims.
    let straight = (0.0625 * STATION_TURN / turn).clamp(0.25, 1.0);
    let most = if options.load_bearing && own.is_some() { straight } else { 0.25 };
    let longest =
        options.conformal_spacing.map_or(most, |spacing| (spacing / length).min(most)).max(MIN_STEP * 0.0625);
    // Members are sampled at the ends and, on a bent curve, in between.
    let stations = (1..=MAX_STATIONS).find(|n| turn <= f64::from(*n) * STATION_TURN).unwrap_or(MAX_STATIONS);
    let station = |k: u32| f64::from(k) / f64::from(stations);
    let mut next = 0;
    let mut s = 0.0;
    let mut last: Option<(f64, bool)> = None;
    // Member at the last point, if it was computed.
    let mut last_member: Option<Member> = None;
    // Whether no trim of the other face intersects the last step.
    let mut is_free = false;
    let mut sampled = f64::NEG_INFINITY;
    // For loads, the outline of the whole feature suffices; the pieces of finely divided trims are short.
    let scale = if options.load_bearing { (set.extent / length).max(1.0) } else { 1.0 };
    loop {
        // Steps outside the trims may skip stations.
        while station(next) < s {
            next += 1;
        }
        let is_station = s >= station(next);
        // A free step stays on one side of the border. Members are needed at stations, and at half the
        // longest spacing.
        let is_needed = is_station || s - sampled >= 0.5 * longest;
        let (member, inside) = match last {
            Some((_, was)) if is_free && !(was && is_needed) => (None, was),
            _ => {
                let is_known = is_free && last.is_some();
                let inside = InDomain::INSIDE;
                let member = if is_known { path.member(s0 + width * s, Some(inside)) } else { at(s) };
                let inside = is_inside(member.as_ref());
                (member, inside)
            }
        };
        if member.is_some() {
            sampled = s;
        }
        if let Some((before, was)) = last
            && was != inside
        {
            let (from, to) = ((before, last_member.or_else(|| at(before))), (s, member.or_else(|| at(s))));
            let (inner, outer) = if was { (from, to) } else { (to, from) };
            let corner = last_inside((set, own), &at, inner, outer, length);
            out.extend(corner.and_then(|m| set.sample(&m, (moving, true))));
        }
        next += u32::from(is_station);
        out.extend(member.as_ref().and_then(|m| set.sample(m, (moving, is_station))));
        if s >= 1.0 || (ends_only && inside) {
            return;
        }
        (last, last_member) = (Some((s, inside)), member);
        // A point on a trim of the other face has no clearance.
        let shared = member.as_ref().is_some_and(|m| m.is_on_trim_of_other(own));
        if let Some(image) = image {
            // Inside, steps end at stations; outside, the rest of the path may be free.
            let most = if inside { (s + longest).min(station(next)) } else { 1.0 };
            let longest_across = (if shared { SHARED_STEP } else { MIN_STEP } * scale).min(longest);
            (s, is_free) = steps.end_of_step(image, s, most, (shared, longest_across));
            if !inside && is_free && s >= 1.0 {
                return;
            }
            continue;
        }
        // Inside, this is the longest step; outside, the rest of the path may be free.
        let most = if inside { longest } else { 1.0 - s } * length / CLEARANCE_STEP;
        let free = member.filter(|_| !shared).map_or(0.0, |m| clearance(set, &m, own, most));
        if !inside && CLEARANCE_STEP * free >= (1.0 - s) * length * (1.0 - 1e-9) {
            return;
        }
        let smallest = if shared || free <= set.ctx.tol.same { SHARED_STEP } else { MIN_STEP };
        let smallest = smallest * scale;
        s = (s + (CLEARANCE_STEP * free / length).clamp(smallest.min(longest), longest)).min(station(next));
    }
}

/// Bisects between a point inside the trims and one outside, down to a fraction of the tolerance, and
/// returns the last member inside. The points are given by their parameters, as fractions of a curve of
/// the length `length` (mm), and their members. `at` returns the member at a parameter; `own` is the body
/// whose trim is followed, if any. `None` if no member at the inner point exists.
fn last_inside(
    (set, own): (&FamilySet<'_>, Option<Which>),
    at: &dyn Fn(f64) -> Option<Member>,
    (mut inner, mut last): (f64, Option<Member>),
    (mut outer, of_outer): (f64, Option<Member>),
    length: f64,
) -> Option<Member> {
    let most = 2.0 * (inner - outer).abs() * length;
    let gap = |m: Option<&Member>| m.map_or(0.0, |m| clearance(set, m, own, most));
    let (mut gap_inside, mut gap_outside) = (gap(last.as_ref()), gap(of_outer.as_ref()));
    for k in 0..3 * BISECTIONS {
        let narrow = CROSSING_WIDTH * set.ctx.tol.tol / ((inner - outer).abs() * length);
        if narrow >= 1.0 {
            break;
        }
        // Steps alternate between slightly before and slightly behind the zero of the linearly
        // interpolated gaps, and the middle.
        let interpolated = gap_inside / (gap_inside + gap_outside);
        let part = match k % 3 {
            0 if interpolated.is_finite() => interpolated - 0.4 * narrow,
            1 if interpolated.is_finite() => interpolated + 0.4 * narrow,
            _ => 0.5,
        };
        let mid = inner + part.clamp(0.4 * narrow, 1.0 - 0.4 * narrow) * (outer - inner);
        let member = at(mid);
        let gap_at_mid = gap(member.as_ref());
        if is_inside(member.as_ref()) {
            (inner, gap_inside, last) = (mid, gap_at_mid, member);
        } else {
            (outer, gap_outside) = (mid, gap_at_mid);
        }
    }
    last
}

/// Returns whether a member is inside the trims of both solids.
fn is_inside(member: Option<&Member>) -> bool {
    member.is_some_and(|m| m.sides.is_some())
}

/// Length (mm) and turn (rad) of a curve over the parameters from 0 to 1, approximated by a polygon, which
/// is accurate enough to choose steps.
fn extent_of(point: &dyn Fn(f64) -> P3) -> (f64, f64) {
    /// Number of chords. Steps need the length to about one percent only.
    const CHORDS: i32 = 8;
    let (mut length, mut turn) = (0.0, 0.0);
    let mut last: Option<(P3, V3)> = None;
    for i in 0..=CHORDS {
        let p = point(f64::from(i) / f64::from(CHORDS));
        let Some((from, before)) = last else {
            last = Some((p, V3::zeros()));
            continue;
        };
        let chord = p - from;
        length += chord.norm();
        if before != V3::zeros() {
            turn += math::atan2(before.cross(&chord).norm(), before.dot(&chord));
        }
        last = Some((p, chord));
    }
    // The chords measure the turn between their middles; the whole curve turns by an eighth more.
    (length, turn * f64::from(CHORDS) / f64::from(CHORDS - 1))
}

impl Member {
    /// Whether the footpoint on the other face is on a trim, too, if the member is on a trim of the body
    /// `own`.
    fn is_on_trim_of_other(&self, own: Option<Which>) -> bool {
        self.sides.as_ref().is_some_and(|(a, b)| match own {
            Some(Which::A) => b.located.border,
            Some(Which::B) => a.located.border,
            None => false,
        })
    }
}

/// Distance (mm, at most `max`) by which the member `m` can move without crossing a trim. If it moves
/// along a trim of the body `own`, only trims of the other body count.
fn clearance(set: &FamilySet<'_>, m: &Member, own: Option<Which>, max: f64) -> f64 {
    let of = |which, feature, p: &P3| {
        if own == Some(which) {
            return max;
        }
        let p = if which == Which::A { *p } else { set.ctx.pose_ba * p };
        clearance_on(set.ctx.body(which), feature, &p, max)
    };
    let a = of(Which::A, set.feature_a, &m.pair.p_a);
    let b = of(Which::B, set.feature_b, &m.pair.p_b);
    a.min(b)
}

/// Curve of the footpoints of a one-dimensional family: an orbit of a translation or of a rotation (frame
/// of A). `dir` is a unit vector; `x` and `y` are perpendicular radius vectors (mm).
#[derive(Clone, Copy, Debug)]
enum FamilyCurve {
    Point(P3),
    Line { origin: P3, dir: V3 },
    Circle { center: P3, x: V3, y: V3 },
}

impl FamilyCurve {
    /// Returns the point, line or circle through three of the given points that are far apart. `points` must
    /// not be empty; points closer than `tol` (mm) count as one. With `straight`, the result is never a
    /// circle: a family of lines that is only approximate has slightly bent rows of points.
    fn through(points: &[P3], straight: bool, tol: f64) -> Self {
        let first = points[0];
        let far = |measure: &dyn Fn(&P3) -> f64| {
            points.iter().max_by(|p, q| measure(p).total_cmp(&measure(q))).copied().unwrap_or(first)
        };
        let second = far(&|p| (p - first).norm());
        let Some(dir) = (second - first).try_normalize(tol) else { return Self::Point(first) };
        let off = |p: &P3| {
            let d = p - first;
            (d - dir * d.dot(&dir)).norm()
        };
        let third = far(&off);
        if straight || off(&third) <= tol + 1e-9 * (second - first).norm() {
            return Self::Line { origin: first, dir };
        }
        // Circumcircle.
        let (u, v) = (second - first, third - first);
        let w = u.cross(&v);
        let to_center =
            (v.cross(&w) * -u.norm_squared() - w.cross(&u) * v.norm_squared()) / (-2.0 * w.norm_squared());
        let center = first + to_center;
        let x = first - center;
        Self::Circle { center, x, y: w.normalize().cross(&x) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circle_through_points() {
        let at = |t: f64| P3::new(1.0 + 2.0 * math::cos(t), -3.0, 0.5 + 2.0 * math::sin(t));
        let points: Vec<P3> = [0.1, 0.9, 2.0, 3.3, 5.0].map(at).to_vec();
        match FamilyCurve::through(&points, false, 1e-9) {
            FamilyCurve::Circle { center, x, y } => {
                assert!((center - P3::new(1.0, -3.0, 0.5)).norm() < 1e-13, "{center}");
                for p in &points {
                    let d = p - center;
                    let q = center + x * (d.dot(&x) / 4.0) + y * (d.dot(&y) / 4.0);
                    assert!((p - q).norm() < 1e-13, "on the circle");
                }
            }
            other => panic!("{other:?}"),
        }
        let line: Vec<P3> = [0.0, 2.0, -1.0].map(|t| P3::new(t, 2.0 * t, 1.0)).to_vec();
        match FamilyCurve::through(&line, false, 1e-9) {
            FamilyCurve::Line { dir, .. } => {
                assert!(dir.cross(&V3::new(1.0, 2.0, 0.0)).norm() < 1e-14, "{dir}");
            }
            other => panic!("{other:?}"),
        }
    }
}
