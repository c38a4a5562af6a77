//! First penetration of a motion in contact, or a proof that the solids never penetrate deeper than a limit.
//!
//! Solids that slide, turn or roll on each other are in contact all the time, so that a proof of distance
//! ends at the start. A proof of depth continues: the signed distance of the solids is the smallest signed
//! distance of a minimum, negative during penetration, and it changes continuously. Five bounds limit the
//! time for which it stays above minus the allowed depth.
//!
//! 1. The signed distance of a pair of areas decreases at most at their closing speed ([`super::closing`]).
//!    This speed is 0 if a supporting surface (a plane, a cylinder, a surface of revolution) moves into
//!    itself, as in a slider or a hinge. Of several joints, the first ones are seen from A and the others
//!    from B ([`super::moving`]), so that it is also 0 for a wheel that rolls.
//! 2. Near a contact, the areas are halved until their normals vary little ([`super::cells`]).
//! 3. The signed distance of a sphere or vertex from a canonical feature is known, with a bound of its
//!    second derivative ([`super::spheres`]).
//! 4. The direction of a contact between two crossing edges is known, with a bound of its rotation.
//! 5. A contact that moves over both solids, as that of gear teeth or cams, stays above the osculating
//!    quadrics of pieces of their surfaces ([`super::osculating`]).
//!
//! # Source
//! MATH §24.

use super::moving::Moving;
use super::path::Path;
use super::search::{Search, Workspace};
use super::{DEFAULT_MAX_QUERIES, DEFAULT_RANGE, RESOLUTION, distant_origin};
use crate::api::contact::{Contact, ContactKind, FeatureKind, FeatureRef};
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::{Status, UndecidedPoint, Verdict};
use crate::body::Body;
use crate::pair::{ContactPair, NearestRange};
use feeler_geom::Pose;
use std::sync::Arc;

/// Options of [`first_penetration`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenetrationOptions {
    /// Largest depth (mm) that counts as contact, at least 0; 0 selects twice the tolerance, the limit
    /// between [`Status::Touching`] and [`Status::Interfering`].
    pub depth: f64,
    /// Options of the queries. `d_max` (mm) is their range; 0 selects a fiftieth of the sum of both sizes.
    /// `quasi_angle`, `penetration`, the dilations, `detect_interference` and `verdict_unless_pressed` are
    /// ignored.
    pub query: QueryOptions,
    /// Maximum number of queries; the motion after the last query is undecided.
    pub max_queries: u32,
}

impl Default for PenetrationOptions {
    fn default() -> Self {
        let query = QueryOptions { d_max: 0.0, ..QueryOptions::default() };
        Self { depth: 0.0, query, max_queries: DEFAULT_MAX_QUERIES }
    }
}

/// First penetration of a motion that is deeper than [`PenetrationOptions::depth`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstPenetration {
    /// Time from which on the solids penetrate deeper than the limit, in the unit of time of the paths.
    pub time: f64,
    /// Deepest contact at that time, in world coordinates; `None` if the queries report none there.
    pub contact: Option<Contact>,
    /// Largest depth (mm) that was found while the penetration lasts, as defined by [`Verdict::depth`]: a
    /// lower bound of its maximum.
    pub depth: f64,
    /// Time at which this depth was found.
    pub deepest: f64,
}

/// Outcome of a motion in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one outcome per motion")]
pub enum PenetrationOutcome {
    /// The solids are proved to penetrate nowhere deeper than the limit until the end of the motion.
    Free,
    /// The solids penetrate deeper than the limit, and are proved not to do so before.
    Penetration(FirstPenetration),
    /// No penetration deeper than the limit is proved until this time. The rest of the motion could not be
    /// decided, for example because the maximum number of queries was reached.
    Undecided(f64),
}

/// Result of [`first_penetration`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenetrationPassage {
    /// Whether and when the solids penetrate.
    pub outcome: PenetrationOutcome,
    /// Depth (mm) that counts as contact: [`PenetrationOptions::depth`], or its default.
    pub limit: f64,
    /// Time of the first query at which the solids were in contact: not farther apart than the tolerance.
    /// `None` if all queries found them apart, which does not prove that they are apart in between.
    pub touched: Option<f64>,
    /// Smallest signed distance (mm) of all queries until the outcome, and its time; `None` without a
    /// minimum within their range.
    pub smallest: Option<(f64, f64)>,
    /// Number of queries that were computed.
    pub queries: u32,
    /// Number of pairs of nodes that were visited by the searches for safe times, between the queries.
    pub pairs: u64,
}

/// Range of the queries below zero, as a multiple of the depth that counts as contact: contacts up to this
/// depth have exact distances. A larger value is rejected for thinner walls; a smaller one loses the contact
/// beyond the limit, which is needed at the limit itself.
const REPORTED_DEPTH: f64 = 2.0;
/// Remaining way to the limit, as a fraction of the depth that counts as contact, from which on a crossing
/// of the limit is searched for. A larger value searches for crossings that are not the first ones; a
/// smaller one takes more steps towards a crossing.
const CROSSING_CLEARANCE: f64 = 0.02;
/// Multiple of the estimated time to a crossing of the limit at which the solids are expected to penetrate
/// deeper than the limit. With a larger value the step contains a later crossing; with a smaller one the
/// crossing lies beyond it.
const BEYOND_CROSSING: f64 = 4.0;
/// Number of times at which the depth of a penetration is sampled after its start. A larger value costs
/// more queries; a smaller one reports smaller depths.
const DEPTH_SAMPLES: u32 = 64;
/// Part of the limit by which the proven depth may exceed it. With a larger value, the proof is weaker; with
/// a smaller one, motions that stay at the limit take more steps.
const LIMIT_ROUNDING: f64 = 1e-3;
/// Largest ratio of the time that osculating quadrics prove to that without them. A larger value visits more
/// pieces; a smaller one takes more steps.
const MAX_GAIN: f64 = 64.0;
/// Largest ratio of successive steps. A larger value visits more pairs of nodes; a smaller one takes more
/// steps after a short one.
const STEP_GROWTH: f64 = 4.0;
/// Number of times that a step to an undecided pose is halved. Undecided poses are isolated in general, so
/// more halvings would not help; with fewer, a single pose leaves the motion undecided.
const UNDECIDED_HALVINGS: u32 = 4;

/// Computes the first time at which two moving solids penetrate deeper than [`PenetrationOptions::depth`], or
/// proves that they do not do so from time 0 to the end of the longer path. Contact is allowed.
///
/// Each path contains the world poses of its solid. If the coordinates are large, the motion is computed
/// relative to A's position at the start. Earlier queries of `pair` do not affect the result by more than
/// rounding.
///
/// # Guarantees
/// The depth is that of [`Contact::distance`] below 0, for shapes that are convex at the contact the
/// penetration depth. Before the returned time it exceeds the limit by at most a thousandth if queries find
/// all minima within their range, which [`QueryOptions::certified`] proves for free-form features. At the
/// time of each query, the verdict confirms it independently of the minima.
///
/// # Errors
/// [`QueryError`] if an option is out of range, if the depth is not small compared with the thickness of the
/// solids, or if rounding of the coordinates, including the lengths of the paths, exceeds a tenth of the
/// tolerance.
///
/// # Source
/// Conservative advancement (Mirtich 1996; Zhang, Redon, Lee, Kim 2007) with a negative limit; MATH §24.
pub fn first_penetration(
    pair: &mut ContactPair,
    path_a: &Path,
    path_b: &Path,
    options: &PenetrationOptions,
) -> Result<PenetrationPassage, QueryError> {
    options.query.check()?;
    if !(options.depth.is_finite() && options.depth >= 0.0) {
        return Err(QueryError::Penetration(options.depth));
    }
    let Some(origin) = distant_origin(pair, path_a, path_b, &options.query)? else {
        return Advancement::new(pair, (path_a, path_b), options).run();
    };
    let paths = [path_a, path_b].map(|p| p.seen_from(&origin));
    let mut passage = Advancement::new(pair, (&paths[0], &paths[1]), options).run()?;
    if let PenetrationOutcome::Penetration(FirstPenetration { contact: Some(contact), .. }) =
        &mut passage.outcome
    {
        contact.point_a += origin;
        contact.point_b += origin;
    }
    Ok(passage)
}

/// Relation of the solids at one time of the motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// Apart, in contact, or not deeper than the limit.
    Allowed,
    /// Deeper than the limit.
    Penetrates,
    /// The verdict could not be computed.
    Undecided,
}

/// Result of the query at one time of the motion.
#[derive(Clone, Copy, Debug)]
struct DepthSample {
    time: f64,
    relation: Relation,
    /// Smallest signed distance (mm) of a minimum, or `d_max` of the query if it found no minimum.
    distance: f64,
    /// The minimum of that distance in the frame of A, and the speed (mm per unit of time) at which its
    /// distance decreases; `None` if the query found no minimum.
    nearest: Option<(Contact, f64)>,
    /// Depth (mm) that the deepest contact or the verdict proves; 0 without penetration.
    depth: f64,
}

/// Computation of the first penetration of one motion.
struct Advancement<'a> {
    pair: &'a mut ContactPair,
    bodies: [Arc<Body>; 2],
    paths: (&'a Path, &'a Path),
    query: QueryOptions,
    /// Depth (mm) that counts as contact; 0 until the tolerance of the first query is known.
    limit: f64,
    max_queries: u32,
    /// End time of the longer path.
    end: f64,
    passage: PenetrationPassage,
    range: NearestRange,
    work: Workspace,
}

impl<'a> Advancement<'a> {
    fn new(pair: &'a mut ContactPair, paths: (&'a Path, &'a Path), options: &PenetrationOptions) -> Self {
        let bodies = [pair.body_a().clone(), pair.body_b().clone()];
        let range = match options.query.d_max {
            d_max if d_max > 0.0 => d_max,
            _ => DEFAULT_RANGE * (bodies[0].size() + bodies[1].size()),
        };
        let query = QueryOptions {
            d_max: range,
            quasi_angle: 0.0,
            penetration: 0.0,
            dilation_a: 0.0,
            dilation_b: 0.0,
            detect_interference: true,
            verdict_unless_pressed: false,
            ..options.query
        };
        let passage = PenetrationPassage {
            outcome: PenetrationOutcome::Free,
            limit: options.depth,
            touched: None,
            smallest: None,
            queries: 0,
            pairs: 0,
        };
        let end = paths.0.duration().max(paths.1.duration());
        let max_queries = options.max_queries;
        let limit = options.depth;
        Self {
            pair,
            bodies,
            paths,
            query,
            limit,
            max_queries,
            end,
            passage,
            range: NearestRange::new(),
            work: Workspace::default(),
        }
    }

    fn moving(&self, time: f64) -> Moving {
        let [a, b] = &self.bodies;
        Moving::at((a, self.paths.0), (b, self.paths.1), (time, self.end))
    }

    /// Sets the limit if the options leave it to the tolerance, which the first query at time 0 determines.
    fn set_limit(&mut self) -> Result<(), QueryError> {
        if self.limit <= 0.0 {
            let moving = self.moving(0.0);
            let only_contacts = QueryOptions { detect_interference: false, ..self.query };
            self.pair.query(&Pose::identity(), &moving.pose_ab, &only_contacts)?;
            self.limit = -self.pair.tolerances().min_distance();
        }
        self.passage.limit = self.limit;
        self.query.penetration = REPORTED_DEPTH * self.limit;
        Ok(())
    }

    /// Queries the solids at the poses that they have at a time of the motion.
    fn sample(&mut self, time: f64) -> Result<DepthSample, QueryError> {
        let moving = self.moving(time);
        self.passage.queries += 1;
        self.range.query(self.pair, &Pose::identity(), &moving.pose_ab, &self.query)?;
        let status = self.pair.status();
        let mut nearest = deepest(self.pair);
        let is_decided = matches!(status, Some(Status::Separated | Status::Touching));
        if is_decided && nearest.is_some_and(|c| c.distance < self.pair.tolerances().min_distance()) {
            // A contact that continues one of an earlier query is reported although the verdict excludes its
            // depth. When a corner passes from a groove onto the plate, its contact with the wall of the
            // groove continues, but both have only a point in common. A pair without earlier queries confirms
            // each depth by a point inside both solids.
            let [a, b] = &self.bodies;
            let mut fresh = ContactPair::new(a.clone(), b.clone());
            fresh.query(&Pose::identity(), &moving.pose_ab, &self.query)?;
            nearest = deepest(&fresh);
        }
        let nearest = nearest.map(|c| (c, moving.closing(&c.point_b, &c.normal)));
        let distance = nearest.map_or(self.query.d_max, |(c, _)| c.distance);
        let witness = self.pair.verdict().and_then(|v| v.witness);
        let contact_bound = self.pair.verdict().map_or(f64::INFINITY, undecided_depth);
        let proved = witness.map_or(0.0, |w| w.depth());
        let depth = proved.max(-distance).max(0.0);
        let relation = match status {
            _ if distance < -self.limit || proved > self.limit => Relation::Penetrates,
            // The contacts do not explain the interference, so its depth is beyond their range.
            Some(Status::Interfering) if distance > self.pair.tolerances().tol - proved => {
                Relation::Penetrates
            }
            // An interference that cannot be excluded may still be shallow enough.
            Some(Status::Undecided) if contact_bound <= self.limit => Relation::Allowed,
            Some(Status::Undecided) | None => Relation::Undecided,
            _ => Relation::Allowed,
        };
        if relation == Relation::Allowed && status == Some(Status::Undecided) {
            // A contact that was not found can be as deep as that.
            let distance = distance.min(-contact_bound);
            return Ok(DepthSample { time, relation, distance, nearest: None, depth });
        }
        Ok(DepthSample { time, relation, distance, nearest, depth })
    }

    /// Updates the results of the passage by a sample until which no penetration has been found.
    fn record(&mut self, sample: &DepthSample) {
        let is_near = self.pair.status() != Some(Status::Separated);
        if is_near && self.passage.touched.is_none() {
            self.passage.touched = Some(sample.time);
        }
        if sample.nearest.is_some() && self.passage.smallest.is_none_or(|(d, _)| sample.distance < d) {
            self.passage.smallest = Some((sample.distance, sample.time));
        }
    }

    fn run(mut self) -> Result<PenetrationPassage, QueryError> {
        self.set_limit()?;
        self.passage.outcome = self.advance()?;
        self.passage.pairs = self.work.visited;
        Ok(self.passage)
    }

    fn advance(&mut self) -> Result<PenetrationOutcome, QueryError> {
        let mut sample = self.sample(0.0)?;
        self.record(&sample);
        match sample.relation {
            Relation::Penetrates => return self.penetration(sample),
            Relation::Undecided => return Ok(PenetrationOutcome::Undecided(0.0)),
            Relation::Allowed => {}
        }
        let mut longest = f64::INFINITY;
        loop {
            let rest = self.end - sample.time;
            let moving = self.moving(sample.time);
            if rest <= 0.0 {
                return Ok(PenetrationOutcome::Free);
            }
            if self.passage.queries >= self.max_queries {
                return Ok(PenetrationOutcome::Undecided(sample.time));
            }
            if let Some(first) = self.crossing(&sample, &moving)? {
                return self.penetration(first);
            }
            let clearance = self.clearance(&sample);
            let [a, b] = &self.bodies;
            let (distance, depth) = (sample.distance, (1.0 + LIMIT_ROUNDING) * self.limit);
            let tol = self.pair.tolerances();
            let search = Search {
                a,
                b,
                moving: &moving,
                tol,
                distance,
                clearance,
                depth,
                absolute: None,
                longest,
                shortest: 0.0,
            };
            let mut step = search.safe_time(&mut self.work).min(rest);
            if step < rest.min(longest) {
                // Contacts that move over both solids stay above half of the remaining depth, from which the
                // others may decrease to the limit.
                let clearance = 0.5 * clearance.min(depth);
                let longest = longest.min(MAX_GAIN * step);
                let search = Search {
                    clearance,
                    absolute: Some(depth - clearance),
                    longest,
                    shortest: step,
                    ..search
                };
                step = step.max(search.safe_time(&mut self.work).min(rest));
            }
            longest = STEP_GROWTH * step;
            // Solids without relative motion need no second query.
            if step >= rest && moving.speed <= 0.0 {
                return Ok(PenetrationOutcome::Free);
            }
            let after = match self.step_to(&sample, step)? {
                Some(after) => after,
                None => return Ok(PenetrationOutcome::Undecided(sample.time)),
            };
            if after.relation == Relation::Penetrates {
                let first = self.bisect(sample.time, after)?;
                return self.penetration(first);
            }
            sample = after;
            self.record(&sample);
        }
    }

    /// Length (mm) by which the distance at a sample may decrease until it reaches the limit, up to rounding
    /// of the limit.
    fn clearance(&self, sample: &DepthSample) -> f64 {
        (sample.distance + self.limit).max(LIMIT_ROUNDING * self.limit)
    }

    /// Samples the end of a step of this duration after a sample. Steps to undecided poses are shortened.
    /// `None` if all of them are undecided, or if rounding of the time prevents progress.
    fn step_to(&mut self, from: &DepthSample, step: f64) -> Result<Option<DepthSample>, QueryError> {
        let mut step = step;
        for _ in 0..=UNDECIDED_HALVINGS {
            // The last query is exactly at the end, so that the search terminates.
            let next = if step >= self.end - from.time { self.end } else { from.time + step };
            if next <= from.time {
                return Ok(None);
            }
            let after = self.sample(next)?;
            if after.relation != Relation::Undecided {
                return Ok(Some(after));
            }
            step *= 0.5;
        }
        Ok(None)
    }

    /// Searches for a crossing of the limit just after a sample that is close to it. Returns the first
    /// sample beyond the limit; `None` if no crossing is nearby.
    fn crossing(&mut self, from: &DepthSample, moving: &Moving) -> Result<Option<DepthSample>, QueryError> {
        let clearance = self.clearance(from);
        let Some((_, closing)) = from.nearest.filter(|(_, closing)| *closing > 0.0) else { return Ok(None) };
        if clearance > CROSSING_CLEARANCE * self.limit {
            return Ok(None);
        }
        let ahead = (BEYOND_CROSSING * clearance / closing).min(moving.lasts);
        let time = (from.time + ahead).max(from.time.next_up()).min(self.end);
        let beyond = self.sample(time)?;
        match beyond.relation {
            Relation::Penetrates => Ok(Some(self.bisect(from.time, beyond)?)),
            Relation::Allowed | Relation::Undecided => Ok(None),
        }
    }

    /// Bisects between the time `allowed`, at which the depth is at most the limit, and the sample
    /// `beyond` the limit. Returns the earliest sample that was found beyond the limit.
    fn bisect(&mut self, mut allowed: f64, mut beyond: DepthSample) -> Result<DepthSample, QueryError> {
        while beyond.time - allowed > RESOLUTION * self.end {
            let middle = 0.5 * (allowed + beyond.time);
            if middle <= allowed || middle >= beyond.time {
                break;
            }
            let sample = self.sample(middle)?;
            if sample.relation == Relation::Penetrates {
                beyond = sample;
            } else {
                allowed = middle;
            }
        }
        Ok(beyond)
    }

    /// Outcome of a penetration that starts at the sample `first`. Its depth is sampled until the solids are
    /// no deeper than the limit.
    fn penetration(&mut self, first: DepthSample) -> Result<PenetrationOutcome, QueryError> {
        let (mut depth, mut deepest) = (first.depth, first.time);
        let rest = self.end - first.time;
        for i in 1..=DEPTH_SAMPLES {
            let sample = self.sample(first.time + rest * f64::from(i) / f64::from(DEPTH_SAMPLES))?;
            if sample.relation != Relation::Penetrates {
                break;
            }
            if sample.depth > depth {
                (depth, deepest) = (sample.depth, sample.time);
            }
        }
        let pose_a = self.paths.0.pose(first.time);
        let contact = first.nearest.map(|(c, _)| c.transformed(&pose_a));
        Ok(PenetrationOutcome::Penetration(FirstPenetration { time: first.time, contact, depth, deepest }))
    }
}

/// Upper bound (mm) of the depth of a contact at the undecided points of a verdict; infinite if such a
/// contact can be one of edges and vertices. Common points of faces that are pressed into one another are
/// half as deep as the contact of the faces; those of thin edges are less deep (MATH §15).
fn undecided_depth(verdict: &Verdict) -> f64 {
    let is_face = |feature: &FeatureRef| feature.kind == FeatureKind::Face;
    let depth = |u: &UndecidedPoint| {
        if is_face(&u.feature_a) || is_face(&u.feature_b) { 2.0 * u.depth_bound } else { f64::INFINITY }
    };
    verdict.undecided.iter().map(depth).fold(0.0, f64::max)
}

/// Contact of a pair with the smallest signed distance, except quasi-minima.
fn deepest(pair: &ContactPair) -> Option<Contact> {
    let strict = pair.contacts().iter().filter(|c| c.kind != ContactKind::Quasi);
    strict.min_by(|x, y| x.distance.total_cmp(&y.distance)).copied()
}
