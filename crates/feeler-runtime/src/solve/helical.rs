//! Minima of two features that are invariant under one screw motion, such as a bolt and its nut.
//!
//! Along the orbits of such a pair, the distance is constant, or varies slowly if the axes are apart or
//! tilted. The splines deviate from true helicoids, and each ripple of them has a minimum of its own.
//! Minima are therefore found from stations: at fixed angles about the axis of one of the two features,
//! the nearest pair in the section at that angle (a point of an edge, or the lowest point across a face,
//! with its footpoint on the spline of the other feature). A local minimum of the stations' distances
//! counts if it is deeper than ripples can be. A minimum wider than a quarter of a turn is a conformal
//! set, which is reported by its lowest member and by samples at stations. Narrower minima are strict and
//! are reported at the minimum of a smooth function through the neighbouring stations, so that they do
//! not jump from ripple to ripple.
//!
//! # Source
//! MATH §9 (sets of equal minima, screw motions).
//!
//! # Guarantees
//! Footpoints are on both splines, and gaps are the distances between them to rounding. Each minimum is
//! found that is wider than a twelfth of a turn and deeper than the saddles on both sides of it by more
//! than the spread: twice the deviations of both features and twice the tolerance. The lowest member of a
//! set is the lowest point between the neighbours of its lowest station; ripples elsewhere are lower by
//! at most the deviations of both features. For a tracker, only the samples, which are within the spread,
//! are members of a set. The results are deterministic, and samples do not depend on culling.

use super::Solved;
use crate::api::contact::{ContactKind, Stats};
use crate::body::edge_normals::edge_normals;
use crate::body::side::Which;
use crate::body::{Body, Helix, outward_normal};
use crate::footpoint::polar::Polar;
use crate::footpoint::side::{Foot, side};
use crate::profile::helical::{SCREWED_BESIDE, SCREWED_LEAD, SCREWED_TILT};
use crate::query::{Accepted, Context};
use feeler_geom::frame::complete_basis;
use feeler_geom::obb::PoseMatrix;
use feeler_geom::{P2, P3, Surface, V3, math};
use feeler_hierarchy::{EdgeId, FaceId, Feature};
use nalgebra::{Matrix5, Vector5};
use std::f64::consts::TAU;

/// Number of stations per turn, such that three consecutive ones enclose the minimum of a cosine. A larger
/// number is slower; a smaller one misses narrow minima.
const STATIONS_PER_TURN: f64 = 12.0;
/// Number of stations from one sample of a conformal set to the next. A larger number makes samples sparser;
/// a smaller one makes the steps of a simulator slower.
const STATIONS_PER_SAMPLE: i64 = 4;
/// Maximum number of samples of conformal sets along a whole feature; longer features have fewer samples per
/// turn. A larger number makes the steps of a simulator slower; a smaller one makes samples of long threads
/// sparser.
const MAX_SAMPLES: i64 = 16;
/// Minimum number of consecutive stations that form a conformal set: a quarter of a turn. Their
/// distances exceed the smallest one by at most the limit [`Orbit::spread`]. With a larger number, flat
/// minima are reported as strict; with a smaller one, strict minima are sampled.
const MIN_SET_STATIONS: usize = 4;
/// Largest angle (rad) between the connection of a point with its foot and the normal at the foot. At
/// larger angles, the point lies beyond the end of the other feature. With a larger value, points beyond
/// the ends count; with a smaller one, rounding ends rows of stations.
const MAX_OFFSET_ANGLE: f64 = 1e-6;
/// Largest angle (rad) between the normals of two faces at a minimum that ripples of the splines can
/// explain. With a smaller value, minima of coarse splines are lost.
const MAX_RIPPLE_ANGLE: f64 = 1e-3;
/// Largest change of the distance of two faces per length across the orbits (mm/mm) at which the faces
/// count as parallel in that direction, so that their edges have the minima. With a larger value,
/// shallow minima across the orbits are reported at the edges; with a smaller one, ripples across the
/// orbits count as minima.
const MAX_LEVEL_SLOPE: f64 = 1e-5;
/// Largest difference, in pitches of the thread, between the distance of a tracker's sample and the
/// smallest distance of its row of stations. A larger value gives more contacts; with a smaller one,
/// tilting bolts lose contacts.
const MAX_SAMPLE_EXCESS: f64 = 0.02;
/// Largest angle (rad) between the flanks of the two threads at a tracker's samples. A larger value
/// accepts samples that are not contacts; with a smaller one, tilting bolts lose contacts.
const MAX_FLANK_ANGLE: f64 = 0.02;
/// Minimum length, as a fraction of the tolerance, by which the distance of a set's lowest member must
/// be below the distances of its samples for the member to be reported in addition to them. A larger
/// value gives less exact smallest distances; a smaller one reports members that equal a sample.
const MIN_LOWERING: f64 = 0.01;
/// Number of intervals between the neighbours of the lowest station of a set, at whose ends the lowest
/// member of the set is searched for. A larger number is slower; a smaller one misses the lowest ripple.
const RIPPLE_INTERVALS: u32 = 16;
/// Number of bisections that locate the end of a row of stations. A smaller number places the last station
/// less exactly.
const END_BISECTIONS: usize = 16;
/// Maximum number of steps of the search for the point with the smallest distance from the other feature
/// in one section of a helical face. A smaller number gives less exact points.
const MAX_STEPS_ACROSS: usize = 60;
/// Number of steps of a golden-section search along the orbit, which reduces its interval by a factor of 10⁸.
const GOLDEN_STEPS: usize = 40;
/// Angle (rad) from the end of a row within which a minimum counts as lying at the end and is dropped,
/// because the next feature has it. With a larger value, minima close to ends are lost; with a smaller
/// one, a minimum at an end is reported twice.
const ROW_END_ANGLE: f64 = 1e-6;

/// Scratch buffer: the stations of one row, which is a sequence of stations without gaps.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    row: Vec<Station>,
}

/// Nearest pair of two threads in the section at one angle about the axis of the own feature (see the
/// module documentation).
#[derive(Clone, Copy, Debug)]
struct Station {
    /// Angle (rad) of the section about the axis of the own feature, continued over turns.
    angle: f64,
    /// The angle divided by the step between the fixed angles ([`STATIONS_PER_TURN`]); `None` for a
    /// station that is not at a fixed angle.
    number: Option<i64>,
    /// Parameters of the point on the own feature (see [`Orbit`]).
    own: P2,
    /// Parameters of the footpoint on the other face.
    foot: P2,
    /// Signed distance (mm) of the own feature's point from the other face.
    distance: f64,
}

/// Search for the minima of two features along their orbits. The sections of one of them, the own feature,
/// define the stations; the other one is a face on which the footpoints lie.
struct Orbit<'a> {
    ctx: &'a Context<'a>,
    /// Body of the own feature, whose sections define the stations.
    own: Which,
    /// Features of A and B.
    features: [Feature; 2],
    own_helix: &'a Helix,
    other_helix: &'a Helix,
    /// Maps coordinates of the own feature's body to those of the other body.
    to_other: PoseMatrix,
    other_face: FaceId,
    /// Edge or face that is the own feature.
    kind: Own,
    /// Number of turns of the thread, with its sign, by which the footpoint is searched for away from
    /// the turn of the other face that is nearest to the point; 0 for the nearest turn.
    turns: f64,
    /// Whether the minima are computed for a tracker. Stations of nearly conformal sets are then
    /// reported as samples, too.
    loads: bool,
}

#[derive(Clone, Copy)]
enum Own {
    Edge(EdgeId),
    Face(FaceId),
}

/// Returns whether two features, at least one of them a face, are invariant under nearly the same screw
/// motion at the current pose, such as the threads of a bolt and its nut.
pub(super) fn is_pair(ctx: &Context<'_>, a: Feature, b: Feature) -> bool {
    let is_edge = |f| matches!(f, Feature::Edge(_));
    let (Some(of_a), Some(of_b)) = (ctx.a.helix(a), ctx.b.helix(b)) else { return false };
    if is_edge(a) && is_edge(b) {
        return false;
    }
    let (fa, fb) = (&of_a.shape.frame, &of_b.shape.frame);
    let dir = ctx.pose_ab * fb.z;
    let origin = ctx.pose_ab * fb.origin;
    let (lead_a, lead_b) = (of_a.shape.lead, of_b.shape.lead);
    // Distance of the axes at the middle of the shorter feature.
    let at = if ctx.a.data(a).extent < ctx.b.data(b).extent { fa.origin } else { origin };
    let off = |o: &P3, d: &V3| (at - o) - d * d.dot(&(at - o));
    let beside = (off(&fa.origin, &fa.z) - off(&origin, &dir)).norm();
    fa.z.cross(&dir).norm() <= SCREWED_TILT
        && (lead_a - lead_b).abs() <= SCREWED_LEAD * lead_a.abs()
        && beside <= SCREWED_BESIDE * of_a.radius.min(of_b.radius)
}

/// Computes the minima of two features for which [`is_pair`] holds.
///
/// With `loads`, the minima are computed for a tracker: stations of nearly conformal sets are reported
/// as samples, too.
pub(super) fn solve(
    ctx: &Context<'_>,
    (a, b): (Feature, Feature),
    loads: bool,
    out: &mut Solved,
    stats: &mut Stats,
) {
    let (Some(of_a), Some(of_b)) = (ctx.a.helix(a), ctx.b.helix(b)) else { return };
    // The sections are those of the edge or, for two faces, of the face of A.
    let (own, kind, other_face) = match (a, b) {
        (Feature::Edge(e), Feature::Face(f)) => (Which::A, Own::Edge(e), f),
        (Feature::Face(f), Feature::Edge(e)) => (Which::B, Own::Edge(e), f),
        (Feature::Face(f), Feature::Face(g)) => (Which::A, Own::Face(f), g),
        _ => return,
    };
    let (own_helix, other_helix) = if own == Which::A { (of_a, of_b) } else { (of_b, of_a) };
    let mut scratch = std::mem::take(&mut out.helical);
    // Points are at most half a pitch above or below the nearest turn, and at least that far from all
    // other turns.
    let pitch = own_helix.shape.pitch();
    let beyond = 0.5 * pitch / other_helix.steepness();
    let max_turns = if ctx.reach() < beyond { 0.0 } else { (2.0 * ctx.reach() / pitch).ceil().min(64.0) };
    let mut turns = -max_turns;
    while turns <= max_turns {
        let to_other = PoseMatrix::from(ctx.pose_to_other(own));
        let features = [a, b];
        let orbit =
            Orbit { ctx, own, features, own_helix, other_helix, to_other, other_face, kind, turns, loads };
        orbit.minima(&mut scratch, out, stats);
        turns += 1.0;
    }
    out.helical = scratch;
}

impl Orbit<'_> {
    fn body(&self, which: Which) -> &Body {
        self.ctx.body(which)
    }

    fn minima(&self, scratch: &mut Scratch, out: &mut Solved, stats: &mut Stats) {
        let [lo, hi] = self.own_helix.ends();
        let step = TAU / STATIONS_PER_TURN;
        #[expect(clippy::cast_possible_truncation, reason = "angles of a few thousand turns at most")]
        let (first, last) = ((lo / step).ceil() as i64, (hi / step).floor() as i64);
        let row = &mut scratch.row;
        row.clear();
        // The ends of the feature are stations without numbers.
        let mut before = None;
        let numbered = (first..=last).map(|k| {
            #[expect(clippy::cast_precision_loss, reason = "a few thousand turns at most")]
            let angle = k as f64 * step;
            (angle, Some(k))
        });
        for (angle, number) in std::iter::once((lo, None)).chain(numbered).chain(std::iter::once((hi, None)))
        {
            let here = self.station(angle, number, stats);
            match (&here, before) {
                (Some(_), Some((missed, None))) => {
                    row.extend(self.border(angle, missed, stats));
                }
                (None, Some((held, Some(())))) => {
                    row.extend(self.border(held, angle, stats));
                    self.minima_of_row(row, out, stats);
                    row.clear();
                }
                _ => {}
            }
            row.extend(here);
            before = Some((angle, here.map(|_| ())));
        }
        self.minima_of_row(row, out, stats);
    }

    /// Bisects between the angle `inside`, where a station exists, and the angle `outside`, where no
    /// station exists. Returns the last station found, which is nearest to the end of the row; `None` if
    /// there is no station at any of the bisected angles.
    fn border(&self, mut inside: f64, mut outside: f64, stats: &mut Stats) -> Option<Station> {
        let mut found = None;
        for _ in 0..END_BISECTIONS {
            let middle = 0.5 * (inside + outside);
            match self.station(middle, None, stats) {
                Some(s) => (found, inside) = (Some(s), middle),
                None => outside = middle,
            }
        }
        found
    }

    /// Adds the minima along a row of consecutive stations.
    fn minima_of_row(&self, row: &[Station], out: &mut Solved, stats: &mut Stats) {
        if row.is_empty() {
            return;
        }
        let spread = self.spread();
        let nearly = self.nearly_a_set(row, out);
        // A minimum ends with a rise by more than the spread, a maximum with a fall by more than the
        // spread.
        let (mut lowest, mut highest, mut falls) = (0, 0, true);
        for k in 1..=row.len() {
            let d = row.get(k).map(|s| s.distance);
            if falls {
                if d.is_none_or(|d| d > row[lowest].distance + spread) {
                    self.minimum(row, lowest, nearly, out, stats);
                    (falls, highest) = (false, k);
                } else if d.is_some_and(|d| d < row[lowest].distance) {
                    lowest = k;
                }
            } else if let Some(d) = d {
                if d < row[highest].distance - spread {
                    (falls, lowest) = (true, k);
                } else if d > row[highest].distance {
                    highest = k;
                }
            }
        }
    }

    /// Limit (mm) by which the distances of the members of one conformal set may exceed the smallest
    /// one. It is also the rise or fall of the distance that separates two minima of a row.
    fn spread(&self) -> f64 {
        2.0 * (self.own_helix.shape.deviation + self.other_helix.shape.deviation + self.ctx.tol.tol)
    }

    /// For a tracker, adds to `out` those samples of a row of stations whose distances exceed the row's
    /// smallest distance by at most [`MAX_SAMPLE_EXCESS`] pitches. Without them, a tilt beyond the spread
    /// would remove the contacts that support a thread. Returns the distance (mm) up to which samples were
    /// added; -∞ without a tracker, or if the whole row is out of range.
    fn nearly_a_set(&self, row: &[Station], out: &mut Solved) -> f64 {
        let smallest = row.iter().fold(f64::INFINITY, |d, s| d.min(s.distance));
        if !self.loads || smallest > self.ctx.d_max {
            return f64::NEG_INFINITY;
        }
        let max_distance = smallest + MAX_SAMPLE_EXCESS * self.own_helix.shape.pitch();
        let is_sample = |s: &&Station| s.distance <= max_distance && self.is_sample(s);
        out.orbits
            .extend(row.iter().filter(is_sample).filter_map(|s| self.accepted(s, ContactKind::Conformal)));
        max_distance
    }

    /// Returns whether a station is at one of the fixed angles, a whole number of steps apart, at which
    /// conformal sets have a sample.
    fn is_sample(&self, s: &Station) -> bool {
        let [lo, hi] = self.own_helix.ends();
        #[expect(clippy::cast_possible_truncation, reason = "a few thousand turns at most")]
        let whole = ((hi - lo) * STATIONS_PER_TURN / TAU).ceil() as i64;
        // The division rounds up.
        let every = STATIONS_PER_SAMPLE
            * (1 + (whole - STATIONS_PER_SAMPLE - 1).max(0) / (STATIONS_PER_SAMPLE * MAX_SAMPLES));
        s.number.is_some_and(|k| k.rem_euclid(every) == 0)
    }

    /// Adds to `out` the minimum at the station with the index `lowest` in `row`, unless its distance is
    /// out of range. If at least [`MIN_SET_STATIONS`] stations around it exceed its distance by at most
    /// [`Self::spread`], the samples of this conformal set are added instead. Samples with distances of
    /// at most `sampled` (mm) are omitted, because [`Self::nearly_a_set`] has added them.
    fn minimum(&self, row: &[Station], lowest: usize, sampled: f64, out: &mut Solved, stats: &mut Stats) {
        let most = row[lowest].distance + self.spread();
        if row[lowest].distance > self.ctx.d_max || most < self.ctx.least {
            return;
        }
        let is_in = |s: &&Station| s.distance <= most;
        let before = row[..lowest].iter().rev().take_while(is_in).count();
        let after = row[lowest..].iter().take_while(is_in).count();
        let set = &row[lowest - before..lowest + after];
        if set.iter().filter(|s| s.number.is_some()).count() >= MIN_SET_STATIONS {
            let n = out.orbits.len();
            let conformal = |s: &Station| self.accepted(s, ContactKind::Conformal);
            let has_known = set.iter().any(|s| s.distance <= sampled && self.is_sample(s));
            let more = set.iter().filter(|s| s.distance > sampled && self.is_sample(s));
            out.orbits.extend(more.filter_map(conformal));
            if out.orbits.len() == n && !has_known {
                out.orbits.extend(set.iter().filter(|s| s.number.is_some()).filter_map(conformal));
            }
            // A tracker's contacts stay at stations: they are within the spread of the lowest member.
            if !self.loads {
                let least = out.orbits[n..].iter().map(|x| x.distance).fold(f64::INFINITY, f64::min);
                let lowest = self.lowest_of_ripples(row, lowest, stats);
                let lower = lowest.filter(|s| s.distance < least - MIN_LOWERING * self.ctx.tol.tol);
                out.orbits.extend(lower.and_then(|s| conformal(&s)));
            }
            return;
        }
        out.orbits.extend(
            self.lowest_beside(row, lowest, stats)
                // A minimum at the end of a row belongs to the next feature.
                .filter(|s| {
                    let is_at_end = lowest == 0 || lowest + 1 == row.len();
                    !is_at_end || (s.angle - row[lowest].angle).abs() > ROW_END_ANGLE
                })
                .and_then(|s| self.accepted(&s, ContactKind::Strict)),
        );
    }

    /// Finds the pair with the smallest distance between the neighbours of the station `lowest` of a row.
    /// `None` if the row has one station only or if a station in between does not exist.
    fn lowest_beside(&self, row: &[Station], lowest: usize, stats: &mut Stats) -> Option<Station> {
        let [before, after] = [lowest.saturating_sub(1), (lowest + 1).min(row.len() - 1)];
        if before == after {
            return None;
        }
        let between = [row[before].angle, row[after].angle];
        let is_inside = |x: f64| between[0] < x && x < between[1];
        smooth_minimum(row, lowest)
            .filter(|x| is_inside(*x))
            .and_then(|x| self.station(x, None, stats))
            .filter(|s| s.distance <= row[lowest].distance + self.spread())
            .or_else(|| self.searched(between, stats))
    }

    /// Finds the pair with the smallest distance between the neighbours of the lowest station of a
    /// conformal set. It depends on the ripples of both splines, so several intervals are searched. `None`
    /// if there are no stations in between.
    fn lowest_of_ripples(&self, row: &[Station], lowest: usize, stats: &mut Stats) -> Option<Station> {
        let [from, to] = [lowest.saturating_sub(1), (lowest + 1).min(row.len() - 1)].map(|k| row[k].angle);
        let step = (to - from) / f64::from(RIPPLE_INTERVALS);
        let angles = (0..=RIPPLE_INTERVALS).map(|k| from + f64::from(k) * step);
        let stations = angles.filter_map(|angle| self.station(angle, None, stats));
        let low = stations.min_by(|x, y| x.distance.total_cmp(&y.distance))?;
        let between = [(low.angle - step).max(from), (low.angle + step).min(to)];
        let found = self.searched(between, stats).into_iter();
        found.chain([low, row[lowest]]).min_by(|x, y| x.distance.total_cmp(&y.distance))
    }

    /// Finds the pair with the smallest distance between the angles `lo` and `hi` (rad) by golden-section
    /// search; `None` if a station at a searched angle does not exist.
    fn searched(&self, [mut lo, mut hi]: [f64; 2], stats: &mut Stats) -> Option<Station> {
        let part = 0.381_966_011_250_105;
        let mut at = |x: f64| self.station(x, None, stats);
        let (mut x, mut y) = (lo + part * (hi - lo), hi - part * (hi - lo));
        let (mut of_x, mut of_y) = (at(x)?, at(y)?);
        for _ in 0..GOLDEN_STEPS {
            if of_x.distance <= of_y.distance {
                (hi, y, of_y) = (y, x, of_x);
                x = lo + part * (hi - lo);
                of_x = at(x)?;
            } else {
                (lo, x, of_x) = (x, y, of_y);
                y = hi - part * (hi - lo);
                of_y = at(y)?;
            }
        }
        Some(if of_x.distance <= of_y.distance { of_x } else { of_y })
    }

    /// Computes the nearest pair in the section at an angle (rad); `None` if the point on the own feature
    /// has no footpoint on the other face. `number` is stored in the station.
    fn station(&self, angle: f64, number: Option<i64>, stats: &mut Stats) -> Option<Station> {
        stats.exact_solves += 1;
        match self.kind {
            Own::Edge(e) => {
                let curve = &self.body(self.own).edge(e).curve;
                let t = self.edge_parameter(e, angle);
                let (foot, distance, _) = self.foot(&curve.point(t))?;
                Some(Station { angle, number, own: P2::new(t, 0.0), foot, distance })
            }
            Own::Face(f) => self.across(f, angle, number),
        }
    }

    /// Parameter of an edge at an angle (rad) about the axis of the own feature, by Newton's method.
    fn edge_parameter(&self, edge: EdgeId, angle: f64) -> f64 {
        let curve = &self.body(self.own).edge(edge).curve;
        let shape = &self.own_helix.shape;
        let mut t = self.own_helix.parameter(angle);
        for _ in 0..4 {
            let d = curve.derivs(t);
            let c = shape.cylindrical(&d.p);
            let arm = d.p - shape.frame.origin;
            let rate = shape.frame.z.cross(&arm).dot(&d.d1) / (c.radius * c.radius);
            let off = math::unwrap_near(c.angle, angle, TAU) - angle;
            let step = off / rate;
            if !step.is_finite() || step.abs() <= 4.0 * f64::EPSILON * t.abs() {
                break;
            }
            t -= step;
        }
        t
    }

    /// Footpoint on the other face of a point `p` of the own feature (coordinates of its body). Returns
    /// the parameters of the footpoint, the signed distance (mm) of the point, and the face's outward
    /// normal (coordinates of the other body). `None` if the point lies beyond the ends of the face.
    fn foot(&self, p: &P3) -> Option<(P2, f64, V3)> {
        let p = self.to_other.point(p);
        let face = self.body(self.own.other()).face(self.other_face);
        let Surface::Bezier(grid) = &face.surface else { return None };
        let (uv, _) = grid.descend(&p, self.other_helix.foot_near(&p, self.turns)?)?;
        let n = outward_normal(face, uv);
        let delta = p - grid.derivs(uv).p;
        let distance = delta.dot(&n);
        let is_across =
            (delta - n * distance).norm() <= MAX_OFFSET_ANGLE * distance.abs() + self.ctx.tol.trim;
        is_across.then_some((uv, distance, n))
    }

    /// Finds the point with the smallest distance in the section of a face at an angle (rad). `None` if it
    /// lies on the border of the face, so that the minimum belongs to the edge, or if a point has no
    /// footpoint.
    fn across(&self, face: FaceId, angle: f64, number: Option<i64>) -> Option<Station> {
        let surface = &self.body(self.own).face(face).surface;
        let along = self.own_helix.parameter(angle);
        let to_other = self.ctx.pose_to_other(self.own).rotation;
        // Station at the parameter `s` across the face, and the slope of the distance there.
        let at = |s: f64| {
            let own = self.own_helix.uv(along, s);
            let (p, du, dv) = surface.first_derivs(own);
            let (foot, distance, n) = self.foot(&p)?;
            let across = to_other * self.own_helix.across_of(du, dv);
            Some((Station { angle, number, own, foot, distance }, n.dot(&across) / across.norm()))
        };
        let [lo, hi] = self.own_helix.across;
        let (mut from, mut below) = (lo, at(lo)?.1);
        // The minima of flanks that are parallel, apart from ripples, are at their edges.
        if below.abs() <= MAX_LEVEL_SLOPE && at(hi)?.1.abs() <= MAX_LEVEL_SLOPE {
            return None;
        }
        for part in [0.5, 1.0] {
            let mut to = lo + part * (hi - lo);
            let mut above = at(to)?.1;
            if below <= 0.0 && above >= 0.0 {
                // Illinois' regula falsi.
                let mut best = None;
                for _ in 0..MAX_STEPS_ACROSS {
                    let s = (from * above - to * below) / (above - below);
                    let s = if from < s && s < to { s } else { 0.5 * (from + to) };
                    let (station, slope) = at(s)?;
                    best = Some(station);
                    if slope.abs() <= 1e-13 {
                        break;
                    }
                    if slope < 0.0 {
                        (from, below, above) = (s, slope, 0.5 * above);
                    } else {
                        (to, above, below) = (s, slope, 0.5 * below);
                    }
                }
                return best;
            }
            (from, below) = (to, above);
        }
        None
    }

    /// Converts a station to a minimum of the kind `kind`, or to a quasi-minimum if its direction lies
    /// only in a dilated polar. `None` if a footpoint is outside its trims, the direction outside a polar,
    /// or the distance out of range.
    fn accepted(&self, s: &Station, kind: ContactKind) -> Option<Accepted> {
        let ctx = self.ctx;
        let (own, other) = (self.own, self.own.other());
        let face = self.body(other).face(self.other_face);
        let foot = ctx.in_a(other, &face.surface.point(s.foot));
        let outward = outward_normal(face, s.foot);
        let outward = if other == Which::A { outward } else { ctx.pose_ab * outward };
        let p = match self.kind {
            Own::Edge(e) => self.body(own).edge(e).curve.point(s.own.x),
            Own::Face(f) => self.body(own).face(f).surface.point(s.own),
        };
        let p = ctx.in_a(own, &p);
        let distance = (p - foot).dot(&outward);
        if !(ctx.least <= distance && distance <= ctx.d_max) {
            return None;
        }
        // The normal points from A to B.
        let (p_a, p_b, n) = match own {
            Which::A => (p, foot, -outward),
            Which::B => (foot, p, outward),
        };
        let basis = complete_basis(&n);
        let beside = ctx.beside(distance);
        // Ripples may incline the own feature along its orbit.
        let across = self.own_direction(s, &-outward, kind)?;
        let of = |which: Which, feature: Feature| {
            let (p, n, hint) = if which == own { (&p, across, s.own) } else { (&foot, outward, s.foot) };
            side(
                ctx,
                which,
                feature,
                &Foot { p, n, basis, hint: Some(hint), in_domain: None, beside, beyond: 0.0 },
                &ctx.tol,
            )
        };
        let (a, b) = (of(Which::A, self.features[0])?, of(Which::B, self.features[1])?);
        let quasi = [(&a, Which::A, self.features[0]), (&b, Which::B, self.features[1])]
            .iter()
            .any(|(side, which, f)| side.polar == Polar::Dilated || ctx.body(*which).data(*f).quasi_only);
        Some(Accepted {
            feature_a: self.features[0],
            feature_b: self.features[1],
            p_a,
            p_b,
            n,
            distance,
            kind: if quasi { ContactKind::Quasi } else { kind },
            place_a: a.located.place,
            place_b: b.located.place,
            slack_a: a.located.slack,
            slack_b: b.located.slack,
            is_extended: false,
            is_slid: false,
            undecided: false,
        })
    }

    /// Outward unit direction of the own feature at a station nearest to the direction `n` (both in the
    /// frame of A). For an edge it is perpendicular to the tangent; for a face it is the normal. Samples
    /// of nearly conformal sets may be inclined across the orbit, too. `None` if ripples do not explain
    /// the angle between the normal and `n`.
    fn own_direction(&self, s: &Station, n: &V3, kind: ContactKind) -> Option<V3> {
        let body = self.body(self.own);
        let in_a = |v: V3| if self.own == Which::A { v } else { self.ctx.pose_ab * v };
        match self.kind {
            Own::Edge(e) if self.loads && kind == ContactKind::Conformal => {
                let beside = edge_normals(body, e, s.own.x)?;
                let t = in_a(beside.tangent);
                let n = (n - t * t.dot(n)).try_normalize(0.5)?;
                let (middle, half) = beside.middle();
                let inward = in_a(middle) - n * n.dot(&in_a(middle));
                let Some(inward) = inward.try_normalize(MAX_RIPPLE_ANGLE) else { return Some(n) };
                let (sin, cos) = math::sin_cos(MAX_FLANK_ANGLE.min(half));
                Some(n * cos + inward * sin)
            }
            Own::Edge(e) => {
                let t = in_a(body.edge(e).curve.tangent(s.own.x)?);
                (n - t * t.dot(n)).try_normalize(0.5)
            }
            Own::Face(f) => {
                let own = in_a(outward_normal(body.face(f), s.own));
                ((own - n).norm() <= MAX_RIPPLE_ANGLE).then_some(own)
            }
        }
    }
}

/// Angle (rad) of the minimum near the lowest station of a row, of a smooth function through five
/// stations. The distance along the orbit of two screws whose axes are slightly apart and tilted is a
/// linear combination of five functions of the angle x: 1, cos x, sin x, x cos x and x sin x. `None` if
/// the row has fewer stations or the function has no minimum nearby.
fn smooth_minimum(row: &[Station], lowest: usize) -> Option<f64> {
    if row.len() < 5 {
        return None;
    }
    let first = lowest.saturating_sub(2).min(row.len() - 5);
    let five = &row[first..first + 5];
    let middle = row[lowest].angle;
    let of = |x: f64| {
        let (sin, cos) = math::sin_cos(x);
        Vector5::new(1.0, cos, sin, x * cos, x * sin)
    };
    let mut system = Matrix5::zeros();
    let mut right = Vector5::zeros();
    for (k, s) in five.iter().enumerate() {
        system.set_row(k, &of(s.angle - middle).transpose());
        right[k] = s.distance - row[lowest].distance;
    }
    let c = system.lu().solve(&right)?;
    let mut x = 0.0;
    for _ in 0..30 {
        let (sin, cos) = math::sin_cos(x);
        let slope = -c[1] * sin + c[2] * cos + c[3] * (cos - x * sin) + c[4] * (sin + x * cos);
        let bend = -c[1] * cos - c[2] * sin - c[3] * (2.0 * sin + x * cos) + c[4] * (2.0 * cos - x * sin);
        if bend <= 0.0 {
            return None;
        }
        let step = slope / bend;
        x -= step;
        if x.is_nan() || x.abs() >= TAU / STATIONS_PER_TURN {
            return None;
        }
        if step.abs() < 1e-15 {
            break;
        }
    }
    Some(middle + x)
}
