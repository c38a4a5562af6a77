//! First time at which the distance of two moving solids falls to a limit, or a proof that it never does.
//!
//! A query returns the smallest distance, [`search`] bounds the time for which it stays above the limit,
//! and the next query follows at the end of that time. If all nearby pairs of features approach each
//! other, the distance only decreases. Its first crossing of the limit is then found by Newton's method.
//! The derivative of the distance is `n · v`, with the unit normal `n` from A to B and the velocity `v`
//! of B's footpoint relative to A.
//!
//! No step depends on minima alone. Every query decides whether the interiors intersect. The smallest
//! distance cannot grow by more than the displacement of the solids; a larger growth is a contradiction,
//! which means that a minimum was missed. Certified queries and the verdicts resolve it, or the outcome
//! is [`PassageOutcome::Undecided`].
//!
//! # Source
//! Conservative advancement (Mirtich 1996; Zhang, Redon, Lee, Kim 2007).
//!
//! # Deviations
//! Bounds use the directions of both polars instead of speeds: see [`closing`].
//!
//! # Guarantees
//! [`PassageOutcome::Free`] holds for all times if queries find all minima within their reach, which
//! [`QueryOptions::certified`](crate::QueryOptions::certified) proves for free-form features. At the time
//! of each query, the interiors do not intersect, independently of the minima.

mod cells;
mod closing;
mod moving;
mod osculating;
mod path;
mod penetration;
mod search;
mod spheres;

pub use path::{Path, PathError, PathPiece};
pub use penetration::{
    FirstPenetration, PenetrationOptions, PenetrationOutcome, PenetrationPassage, first_penetration,
};

use crate::api::contact::{Contact, ContactKind};
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::Status;
use crate::body::Body;
use crate::body::coordinates::{check_coordinates, farthest_corner};
use crate::pair::{ContactPair, NearestRange};
use feeler_geom::{Pose, V3};
use moving::Moving;
use search::{Search, Workspace};

/// Options of [`time_of_contact`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassageOptions {
    /// Distance (mm) that counts as contact, at least 0.
    pub distance: f64,
    /// Options of the queries. `d_max` (mm) is the range of the queries beyond `distance`; 0 selects a
    /// fiftieth of the sum of both sizes. Solids that are farther apart count as being at the end of the
    /// range. `quasi_angle`, `penetration` and the dilations are ignored. `detect_interference` is
    /// ignored, too, because every query computes a verdict.
    pub query: QueryOptions,
    /// Maximum number of queries; the motion after the last query is undecided.
    pub max_queries: u32,
}

impl Default for PassageOptions {
    fn default() -> Self {
        let query = QueryOptions { d_max: 0.0, ..QueryOptions::default() };
        Self { distance: 0.0, query, max_queries: DEFAULT_MAX_QUERIES }
    }
}

/// First contact of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstContact {
    /// Time of the contact, in the unit of time of the paths.
    pub time: f64,
    /// The minimum whose distance falls to [`PassageOptions::distance`], in world coordinates at that
    /// time.
    pub minimum: Contact,
    /// Speed (mm per unit of time) at which the distance of this minimum decreases at that time.
    pub closing: f64,
    /// Whether the solids only graze each other: the distance comes within the tolerance of the query
    /// ([`Tolerances::tol`](crate::Tolerances::tol)) and grows again, or it decreases at less than 1e-4 of
    /// the largest speed.
    pub grazing: bool,
}

/// Outcome of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one outcome per motion")]
pub enum PassageOutcome {
    /// The distance is proved to stay above [`PassageOptions::distance`] until the end of the motion.
    Free,
    /// The distance falls to [`PassageOptions::distance`], and is proved to stay above it before.
    Contact(FirstContact),
    /// The motion starts in contact and was in contact at all sampled times.
    InContact,
    /// The distance is proved to stay above [`PassageOptions::distance`] until this time. The rest of the
    /// motion could not be decided, for example because the maximum number of queries was reached.
    Undecided(f64),
}

/// Result of [`time_of_contact`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    /// Whether and when the solids come into contact.
    pub outcome: PassageOutcome,
    /// Relation of the solids at time 0; `None` if the query there computed no verdict.
    pub start: Option<Status>,
    /// Time at which the solids leave the contact in which the motion starts. The motion before this time
    /// was sampled, the motion after it is proved. `None` if the motion does not start in contact, or
    /// stays in contact.
    pub left: Option<f64>,
    /// Smallest distance (mm) of all queries and its time; `None` without a minimum within their range.
    pub smallest: Option<(f64, f64)>,
    /// Number of queries that were computed.
    pub queries: u32,
    /// Number of pairs of nodes that were visited by the searches for times free of contact, between the
    /// queries.
    pub pairs: u64,
}

/// Default of [`PassageOptions::max_queries`]. A larger value takes longer before a motion is undecided;
/// a smaller one leaves motions along surfaces undecided.
const DEFAULT_MAX_QUERIES: u32 = 10_000;
/// Default range of queries beyond [`PassageOptions::distance`], as a fraction of the sum of both sizes. A
/// larger value makes queries slower, a smaller one causes more queries.
const DEFAULT_RANGE: f64 = 0.02;
/// Time, as a fraction of the motion's duration, between the end of the time that is proved to be free of
/// contact and a crossing of the limit, below which the crossing counts as the first one. A larger value
/// can miss a contact just before the crossing; a smaller one causes more queries.
const RESOLUTION: f64 = 1e-11;
/// Closing speed at a contact, as a fraction of the largest speed, below which the contact is grazing.
/// With a larger value, flat contacts count as grazing; with a smaller one, grazing contacts do not.
const GRAZING_SPEED: f64 = 1e-4;
/// Largest estimated time from a sample to a crossing of the limit, as a multiple of the time that is
/// proved to be free of contact, for which Newton's method is tried. It affects speed only: a larger value
/// tries crossings that are not the first one, a smaller one takes more steps towards a crossing.
const MAX_CROSSING_ESTIMATE: f64 = 16.0;
/// Fraction of the time to a known crossing of the limit within which an earlier crossing is searched for.
/// It affects speed only: a larger value searches for the known crossing again, a smaller one finds
/// earlier crossings later.
const EARLIER_CROSSING: f64 = 0.9;
/// Time for which it is tried to prove that the distance decreases, as a multiple of the estimated time to
/// a crossing of the limit. It affects speed only: with a larger value, the proof fails more often; with a
/// smaller one, the crossing can lie outside that time.
const MONOTONE_HORIZON: f64 = 1.5;
/// Number of times at which a motion that starts in contact is sampled until the contact is left. A
/// larger value makes more queries; a smaller one misses short separations.
const CONTACT_SAMPLES: u32 = 256;
/// Maximum number of steps of Newton's method, or of bisections, for one crossing of the limit. 60
/// bisections exhaust the digits of a time; a smaller value leaves crossings undecided.
const MAX_CROSSING_STEPS: u32 = 60;

/// Computes the first time at which the distance of two moving solids falls to
/// [`PassageOptions::distance`], or proves that the distance stays above this limit, from time 0 to the
/// end of the longer path.
///
/// Each path contains the world poses of its solid. If the solids are in contact at the start, the motion
/// is sampled until they leave the contact, and searched from then on. If the coordinates are large, the
/// motion is computed relative to A's position at the start. Earlier queries of `pair` do not affect the
/// result by more than rounding.
///
/// # Guarantees
/// The interiors do not intersect at the time of any query before the returned contact. Between queries,
/// separation is proved if queries find all minima within their range, which [`QueryOptions::certified`]
/// proves for free-form features.
///
/// # Errors
/// [`QueryError`] if an option is out of range, or if rounding of the coordinates, including the lengths
/// of the paths, exceeds a tenth of the tolerance.
///
/// # Source
/// Conservative advancement (Mirtich 1996; Zhang, Redon, Lee, Kim 2007), with directions instead of speeds.
pub fn time_of_contact(
    pair: &mut ContactPair,
    path_a: &Path,
    path_b: &Path,
    options: &PassageOptions,
) -> Result<Passage, QueryError> {
    options.query.check()?;
    let Some(origin) = distant_origin(pair, path_a, path_b, &options.query)? else {
        return Advancement::new(pair, (path_a, path_b), options)?.run();
    };
    let paths = [path_a, path_b].map(|p| p.seen_from(&origin));
    let mut passage = Advancement::new(pair, (&paths[0], &paths[1]), options)?.run()?;
    if let PassageOutcome::Contact(contact) = &mut passage.outcome {
        contact.minimum.point_a += origin;
        contact.minimum.point_b += origin;
    }
    Ok(passage)
}

/// Returns the origin (mm, world) relative to which rounding of the motion is at most a tenth of the
/// tolerance: A's position at the start. `None` if rounding relative to the world's origin is small
/// enough.
fn distant_origin(
    pair: &ContactPair,
    path_a: &Path,
    path_b: &Path,
    query: &QueryOptions,
) -> Result<Option<V3>, QueryError> {
    let (a, b) = (pair.body_a(), pair.body_b());
    let size = a.size().max(b.size());
    let coordinates = |path_a: &Path, path_b: &Path| {
        path_a.coordinates(farthest_corner(a)).max(path_b.coordinates(farthest_corner(b)))
    };
    if check_coordinates(coordinates(path_a, path_b), size, query.tolerance).is_ok() {
        return Ok(None);
    }
    let origin = path_a.pose(0.0).translation.vector;
    let [seen_a, seen_b] = [path_a, path_b].map(|p| p.seen_from(&origin));
    let rounded = path_a.rounded_from(&origin).max(path_b.rounded_from(&origin));
    check_coordinates(coordinates(&seen_a, &seen_b) + rounded, size, query.tolerance)?;
    Ok(Some(origin))
}

/// Result of [`Advancement::resolve`], which repeats two contradictory samples.
enum Resolved {
    /// The search continues from this sample.
    Sample(MotionSample),
    /// The search ends with this outcome.
    Outcome(PassageOutcome),
}

/// Computation of the first contact of one motion.
struct Advancement<'a> {
    pair: &'a mut ContactPair,
    paths: (&'a Path, &'a Path),
    options: QueryOptions,
    /// Distance (mm) that counts as contact.
    limit: f64,
    max_queries: u32,
    /// End time of the longer path.
    end: f64,
    passage: Passage,
    range: NearestRange,
    work: Workspace,
}

/// Result of the query at one time of the motion.
#[derive(Clone, Copy, Debug)]
struct MotionSample {
    time: f64,
    /// Smallest distance (mm) of the solids at that time, or `d_max` of the query if it found no minimum.
    distance: f64,
    /// Nearest minimum in the frame of A, and the speed (mm per unit of time) at which its distance
    /// decreases; `None` if the query found no minimum.
    nearest: Option<(Contact, f64)>,
    status: Option<Status>,
}

impl MotionSample {
    /// Whether the verdict of this sample proves that the interiors do not intersect.
    fn is_apart(&self) -> bool {
        matches!(self.status, Some(Status::Separated | Status::Touching))
    }
}

impl<'a> Advancement<'a> {
    fn new(
        pair: &'a mut ContactPair,
        paths: (&'a Path, &'a Path),
        options: &PassageOptions,
    ) -> Result<Self, QueryError> {
        options.query.check()?;
        if !(options.distance.is_finite() && options.distance >= 0.0) {
            return Err(QueryError::StopDistance(options.distance));
        }
        let range = if options.query.d_max > 0.0 {
            options.query.d_max
        } else {
            DEFAULT_RANGE * (pair.body_a().size() + pair.body_b().size())
        };
        let query = QueryOptions {
            d_max: options.distance + range,
            quasi_angle: 0.0,
            penetration: 0.0,
            dilation_a: 0.0,
            dilation_b: 0.0,
            ..options.query
        };
        let passage = Passage {
            outcome: PassageOutcome::Free,
            start: None,
            left: None,
            smallest: None,
            queries: 0,
            pairs: 0,
        };
        let end = paths.0.duration().max(paths.1.duration());
        Ok(Self {
            pair,
            paths,
            options: query,
            limit: options.distance,
            max_queries: options.max_queries,
            end,
            passage,
            range: NearestRange::new(),
            work: Workspace::default(),
        })
    }

    fn bodies(&self) -> (std::sync::Arc<Body>, std::sync::Arc<Body>) {
        (self.pair.body_a().clone(), self.pair.body_b().clone())
    }

    fn moving(&self, time: f64) -> Moving {
        let (a, b) = (self.pair.body_a(), self.pair.body_b());
        Moving::at((a, self.paths.0), (b, self.paths.1), (time, self.end))
    }

    /// Queries the solids at the poses that they have at a time of the motion, and updates the counters
    /// of the passage.
    fn sample(&mut self, time: f64) -> Result<MotionSample, QueryError> {
        self.sample_with(time, &QueryOptions { detect_interference: true, ..self.options })
    }

    fn sample_with(&mut self, time: f64, options: &QueryOptions) -> Result<MotionSample, QueryError> {
        let moving = self.moving(time);
        self.passage.queries += 1;
        self.range.query(self.pair, &Pose::identity(), &moving.pose_ab, options)?;
        let nearest = self.pair.contacts().iter().find(|l| l.kind != ContactKind::Quasi).copied();
        let nearest = nearest.map(|l| (l, moving.closing(&l.point_b, &l.normal)));
        let distance = nearest.map_or(self.options.d_max, |(l, _)| l.distance);
        if nearest.is_some() && self.passage.smallest.is_none_or(|(smallest, _)| distance < smallest) {
            self.passage.smallest = Some((distance, time));
        }
        Ok(MotionSample { time, distance, nearest, status: self.pair.status() })
    }

    /// Whether the solids are apart at a sample, and their distance exceeds the limit by more than the
    /// tolerance.
    fn is_left(&self, sample: &MotionSample) -> bool {
        sample.is_apart() && sample.distance > self.limit + self.pair.tolerances().tol
    }

    fn run(mut self) -> Result<Passage, QueryError> {
        let mut sample = self.sample(0.0)?;
        self.passage.start = sample.status;
        if !self.is_left(&sample) {
            match self.leave()? {
                Some(left) => sample = left,
                None => {
                    self.passage.outcome = PassageOutcome::InContact;
                    return Ok(self.passage);
                }
            }
        }
        self.passage.outcome = self.advance(sample)?;
        self.passage.pairs = self.work.visited;
        Ok(self.passage)
    }

    /// Samples a motion that starts in contact at [`CONTACT_SAMPLES`] times. Bisects the interval before the
    /// first sample at which the contact is left, and returns a sample just after that. Returns `None` if
    /// the contact is left at no sample.
    fn leave(&mut self) -> Result<Option<MotionSample>, QueryError> {
        let mut inside = 0.0;
        for i in 1..=CONTACT_SAMPLES {
            let time = self.end * f64::from(i) / f64::from(CONTACT_SAMPLES);
            let mut sample = self.sample(time)?;
            if !self.is_left(&sample) {
                inside = time;
                continue;
            }
            while sample.time - inside > RESOLUTION * self.end {
                let middle = 0.5 * (inside + sample.time);
                if middle <= inside || middle >= sample.time {
                    break;
                }
                let between = self.sample(middle)?;
                if self.is_left(&between) {
                    sample = between;
                } else {
                    inside = middle;
                }
            }
            self.passage.left = Some(sample.time);
            return Ok(Some(sample));
        }
        Ok(None)
    }

    /// Advances from a sample, whose distance is above the limit, to the first contact, the end of the
    /// motion, or the time from which on it is undecided.
    fn advance(&mut self, mut sample: MotionSample) -> Result<PassageOutcome, QueryError> {
        let (a, b) = self.bodies();
        // A crossing that may not be the first one.
        let mut crossing: Option<MotionSample> = None;
        let mut is_touching = false;
        loop {
            let moving = self.moving(sample.time);
            let clearance = sample.distance - self.limit;
            let tolerances = self.pair.tolerances();
            let search = Search {
                a: &a,
                b: &b,
                moving: &moving,
                tol: tolerances,
                distance: sample.distance,
                clearance,
                depth: 0.0,
                absolute: None,
                longest: f64::INFINITY,
                shortest: 0.0,
            };
            let rest = self.end - sample.time;
            if rest <= 0.0 && clearance > 0.0 {
                return Ok(PassageOutcome::Free);
            }
            if clearance <= tolerances.eps {
                return Ok(self.contact(sample));
            }
            let safe = search.safe_time(&mut self.work).min(rest);
            if let Some(c) = crossing
                && c.time - sample.time - safe <= RESOLUTION * self.end
            {
                return Ok(self.contact(c));
            }
            if self.passage.queries >= self.max_queries {
                return Ok(PassageOutcome::Undecided(sample.time));
            }
            if clearance <= tolerances.tol && !std::mem::replace(&mut is_touching, true) {
                // The distance is within the tolerance. A crossing at a grazing speed counts as the first
                // contact; for a faster one the search continues, because another contact may precede it.
                if let Some(c) = self.cross(sample, moving.lasts.min(rest))?
                    && self.is_grazing(&c)
                {
                    return Ok(self.contact(c));
                }
            }
            if let Some((_, closing)) = sample.nearest {
                let guess = clearance / closing;
                // A known crossing is not searched for again.
                let known = crossing.map_or(f64::INFINITY, |c| c.time - sample.time);
                let is_near = closing > 0.0
                    && guess <= moving.lasts.min(EARLIER_CROSSING * known)
                    && guess <= MAX_CROSSING_ESTIMATE * safe;
                if is_near {
                    let horizon = (MONOTONE_HORIZON * guess).min(moving.lasts);
                    let falls = is_near && search.only_decreases(horizon, &mut self.work);
                    match self.cross(sample, moving.lasts.min(rest))? {
                        Some(c) if falls && c.time - sample.time <= horizon => return Ok(self.contact(c)),
                        Some(c) if c.time < known + sample.time => crossing = Some(c),
                        _ => {}
                    }
                }
            }
            // Solids without relative motion need no second query.
            if safe >= rest && moving.speed <= 0.0 {
                return Ok(PassageOutcome::Free);
            }
            // The last query is exactly at the end, so that the loop terminates.
            let next = if safe >= rest { self.end } else { sample.time + safe };
            // Rounding of the time prevents progress.
            if next <= sample.time {
                return Ok(PassageOutcome::Undecided(sample.time));
            }
            let after = self.sample(next)?;
            sample = if self.is_consistent(&sample, &after, moving.speed) {
                after
            } else {
                match self.resolve(sample, after, moving.speed)? {
                    Resolved::Sample(sample) => sample,
                    Resolved::Outcome(outcome) => return Ok(outcome),
                }
            };
        }
    }

    /// Whether the sample `after` is consistent with the sample `before`, if the time between them was
    /// proved to be free of contact: the solids are apart, the distance is above the limit, and it has
    /// grown by at most the displacement of the solids. `speed` (mm per unit of time) is the largest speed
    /// of B relative to A.
    fn is_consistent(&self, before: &MotionSample, after: &MotionSample, speed: f64) -> bool {
        let tolerance = self.pair.tolerances().tol;
        let max_distance = before.distance + speed * (after.time - before.time) + tolerance;
        let has_grown = before.nearest.is_some() && after.distance > max_distance;
        after.is_apart() && !has_grown && after.distance >= self.limit - tolerance
    }

    /// Resolves a contradiction between two samples, found by [`Self::is_consistent`], by certified
    /// queries. `speed` (mm per unit of time) is the largest speed of B relative to A.
    fn resolve(
        &mut self,
        before: MotionSample,
        after: MotionSample,
        speed: f64,
    ) -> Result<Resolved, QueryError> {
        let certified = QueryOptions { certified: true, detect_interference: true, ..self.options };
        let tolerance = self.pair.tolerances().tol;
        // If the first query missed a minimum, its smaller distance gives a shorter step.
        let again = self.sample_with(before.time, &certified)?;
        if again.is_apart() && again.distance < before.distance - tolerance {
            return Ok(Resolved::Sample(again));
        }
        let again = self.sample_with(after.time, &certified)?;
        if self.is_consistent(&before, &again, speed) {
            return Ok(Resolved::Sample(again));
        }
        if again.status == Some(Status::Interfering) || again.distance <= self.limit {
            let last = self.last_apart(before, again.time)?;
            return Ok(Resolved::Outcome(self.contact(last)));
        }
        Ok(Resolved::Outcome(PassageOutcome::Undecided(before.time)))
    }

    /// Bisects between the sample `apart`, whose distance is above the limit, and the time `passed`, at
    /// which the distance is below it. Returns the latest sample above the limit.
    fn last_apart(&mut self, mut apart: MotionSample, mut passed: f64) -> Result<MotionSample, QueryError> {
        for _ in 0..MAX_CROSSING_STEPS {
            let time = 0.5 * (apart.time + passed);
            if time <= apart.time || time >= passed {
                break;
            }
            let sample = self.sample(time)?;
            if sample.is_apart() && sample.distance > self.limit {
                apart = sample;
            } else {
                passed = time;
            }
        }
        Ok(apart)
    }

    /// Finds the next crossing of the limit after the sample `from` by Newton's method, within the
    /// duration `lasts`. If the distance comes within the tolerance of the limit but does not reach it,
    /// returns the sample at the minimum of the distance. `None` if no crossing is found.
    fn cross(&mut self, from: MotionSample, lasts: f64) -> Result<Option<MotionSample>, QueryError> {
        let tolerances = self.pair.tolerances();
        let last = from.time + lasts;
        let (mut above, mut below) = (from, None::<MotionSample>);
        for _ in 0..MAX_CROSSING_STEPS {
            let newton = |p: &MotionSample| {
                let (_, closing) = p.nearest.filter(|(_, c)| *c > 0.0)?;
                let off = p.distance - self.limit;
                Some((p.time + off / closing, off.abs()))
            };
            let time = match below {
                None => match newton(&above) {
                    Some((time, _)) if time <= last => time,
                    _ => return Ok(None),
                },
                Some(b) => {
                    let nearer = |x: (f64, f64), y: (f64, f64)| if x.1 <= y.1 { x } else { y };
                    let is_nearest = b.status != Some(Status::Interfering) && b.distance <= self.limit;
                    let of_below = newton(&b).filter(|_| is_nearest);
                    let guess = newton(&above).into_iter().chain(of_below).reduce(nearer);
                    let inside = guess.filter(|g| g.0 > above.time && g.0 < b.time);
                    inside.map_or(0.5 * (above.time + b.time), |g| g.0)
                }
            };
            if time <= above.time || below.is_some_and(|b| time >= b.time) {
                return Ok(Some(above));
            }
            let sample = self.sample(time)?;
            let off = sample.distance - self.limit;
            // Minima deeper than the tolerance are not reported, so the minimum at the limit can be
            // another one.
            let interferes = sample.status == Some(Status::Interfering);
            if off.abs() <= tolerances.eps && !interferes {
                return Ok(Some(sample));
            }
            if interferes || off < 0.0 {
                below = Some(sample);
            } else if sample.nearest.is_some_and(|(_, c)| c > 0.0) {
                above = sample;
            } else {
                // The distance has a minimum in between.
                return self.smallest_between((above, sample), tolerances.tol);
            }
        }
        Ok(None)
    }

    /// Bisects for the time at which the distance is smallest, between a sample at which it decreases and
    /// one at which it grows. `None` unless the distance comes within `tol` (mm) of the limit.
    fn smallest_between(
        &mut self,
        (mut falls, mut grows): (MotionSample, MotionSample),
        tol: f64,
    ) -> Result<Option<MotionSample>, QueryError> {
        for _ in 0..MAX_CROSSING_STEPS {
            let time = 0.5 * (falls.time + grows.time);
            if time <= falls.time || time >= grows.time {
                break;
            }
            let sample = self.sample(time)?;
            if sample.status == Some(Status::Interfering) {
                return Ok(Some(self.last_apart(falls, time)?));
            }
            if sample.distance <= self.limit {
                return Ok(Some(sample));
            }
            if sample.nearest.is_some_and(|(_, c)| c > 0.0) {
                falls = sample;
            } else {
                grows = sample;
            }
        }
        Ok((falls.distance <= self.limit + tol).then_some(falls))
    }

    /// Whether the distance decreases at a sample at less than [`GRAZING_SPEED`] times the largest speed.
    fn is_grazing(&self, sample: &MotionSample) -> bool {
        let speed = self.moving(sample.time).speed;
        sample.nearest.is_some_and(|(_, closing)| closing <= GRAZING_SPEED * speed)
    }

    /// Outcome of a first contact at a sample; undecided if the query found no minimum there.
    fn contact(&self, sample: MotionSample) -> PassageOutcome {
        let Some((nearest, closing)) = sample.nearest else { return PassageOutcome::Undecided(sample.time) };
        let minimum = nearest.transformed(&self.paths.0.pose(sample.time));
        PassageOutcome::Contact(FirstContact {
            time: sample.time,
            minimum,
            closing,
            grazing: self.is_grazing(&sample),
        })
    }
}
