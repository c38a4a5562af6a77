//! First time at which two moving solids come as near as a given distance, or a proof that they never do.
//!
//! A query returns the smallest distance; [`search`] bounds the time for which it stays above the limit, and
//! the next query follows at that time. Where everything near closes, the distance falls only, and its first
//! crossing of the limit is found by Newton's method, because its derivative is `n · v`.
//!
//! No step rests on minima alone. Every query decides whether the interiors meet. A smallest distance cannot
//! grow by more than the solids move: a larger one is a contradiction, which means that a minimum was lost.
//! It is resolved by certified queries and the verdicts, or ends in [`PassageOutcome::Undecided`].
//!
//! # Source
//! Conservative advancement (Mirtich 1996; Zhang, Redon, Lee, Kim 2007).
//!
//! # Deviations
//! Bounds by the directions of both polars instead of speeds: see [`closing`].
//!
//! # Guarantees
//! Free means free at all times if queries find all minima within their reach, which
//! [`QueryOptions::certified`](crate::QueryOptions::certified) proves for free-form features. At the time of
//! each query the interiors do not meet, whatever the minima.

mod closing;
mod moving;
mod path;
mod search;

pub use path::{Path, PathError, PathPiece};

use crate::api::contact::{Contact, ContactKind};
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::Status;
use crate::body::Body;
use crate::body::coordinates::{check_coordinates, farthest_corner};
use crate::pair::ContactPair;
use feeler_geom::{Pose, V3};
use moving::Moving;
use search::{Search, Workspace};

/// What a motion is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassageOptions {
    /// Contact is where the distance falls to this (mm), ≥ 0.
    pub distance: f64,
    /// Options of the queries. Their `d_max` (mm) limits how far queries search: anything farther counts as
    /// being at that distance. 0: a fiftieth of both sizes beyond `distance`. `quasi_angle`, `penetration`, the
    /// dilations and `detect_interference` are ignored: every query decides a verdict.
    pub query: QueryOptions,
    /// After so many queries the rest is undecided.
    pub most_queries: u32,
}

impl Default for PassageOptions {
    fn default() -> Self {
        let query = QueryOptions { d_max: 0.0, ..QueryOptions::default() };
        Self { distance: 0.0, query, most_queries: MOST_QUERIES }
    }
}

/// First contact of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstContact {
    /// When.
    pub time: f64,
    /// The minimum that comes as near, in world coordinates of that moment.
    pub minimum: Contact,
    /// How fast the distance falls there (mm per unit of time).
    pub closing: f64,
    /// The solids only graze: the distance comes within the tolerance and grows again, or it falls by less
    /// than 1e-4 of the speed.
    pub grazing: bool,
}

/// How a motion ends.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one of them a motion")]
pub enum PassageOutcome {
    /// The distance stays above the limit up to the end: proven.
    Free,
    /// The distance falls to the limit, and stays above before.
    Contact(FirstContact),
    /// A start in contact that was not left at any of the times that were looked at.
    InContact,
    /// Free up to this time; what is then was not found out within the queries that were allowed.
    Undecided(f64),
}

/// What is known of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    /// How it ends.
    pub outcome: PassageOutcome,
    /// Status at the start.
    pub start: Option<Status>,
    /// When a start in contact is left: all before was looked at in steps, all after is proven. `None`: the
    /// start was free, or contact was never left.
    pub left: Option<f64>,
    /// The smallest distance (mm) of all queries, and when; none within their reach.
    pub smallest: Option<(f64, f64)>,
    /// Queries that were made.
    pub queries: u32,
    /// Pairs of nodes that were looked at between them.
    pub pairs: u64,
}

/// Queries that a motion may take.
const MOST_QUERIES: u32 = 10_000;
/// How far queries look, in sizes of both solids.
const LOOK: f64 = 0.02;
/// What is left between a proven time and a crossing of the limit, in durations of the motion, for the
/// crossing to be the first one.
const RESOLUTION: f64 = 1e-11;
/// Closing, relative to the largest speed, below which contact is grazing.
const GRAZING: f64 = 1e-4;
/// How far a crossing is beyond what is proven for Newton's method to be tried, in proven times.
const NEAR: f64 = 16.0;
/// How much sooner than a known crossing, in parts of the time up to it, another one is looked for.
const ANOTHER: f64 = 0.9;
/// How far beyond a guess it is asked whether the distance falls only.
const FARTHER: f64 = 1.5;
/// Times at which a start in contact is looked at until it is left.
const STEPS: u32 = 256;
/// Steps of Newton's method, or halvings, for one crossing.
const MOST_STEPS: u32 = 60;

/// First time at which the distance of two moving solids falls to [`PassageOptions::distance`], or a proof
/// that it stays above: from time 0 to the end of the longer path.
///
/// A start in contact is followed until it is left, in steps, and searched from there. An offset that both
/// paths share does not count: if the coordinates are large, the motion is computed relative to A's start.
///
/// # Errors
/// [`QueryError`] if an option is out of range, or if rounding of the coordinates, the lengths of the paths
/// included, exceeds a tenth of the tolerance.
pub fn time_of_contact(
    pair: &mut ContactPair,
    path_a: &Path,
    path_b: &Path,
    options: &PassageOptions,
) -> Result<Passage, QueryError> {
    options.query.check()?;
    let Some(origin) = distant_origin(pair, path_a, path_b, &options.query)? else {
        return Follow::new(pair, (path_a, path_b), options)?.run();
    };
    let paths = [path_a, path_b].map(|p| p.seen_from(&origin));
    let mut passage = Follow::new(pair, (&paths[0], &paths[1]), options)?.run()?;
    if let PassageOutcome::Contact(contact) = &mut passage.outcome {
        contact.minimum.point_a += origin;
        contact.minimum.point_b += origin;
    }
    Ok(passage)
}

/// Origin from which a motion has to be seen for rounding to be at most a tenth of the tolerance: the start
/// of A. `None` if the world's own origin will do.
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

/// How a contradiction between two places ends.
enum Resolved {
    /// The motion is followed from this place on.
    Place(Place),
    Outcome(PassageOutcome),
}

/// A motion that is being followed.
struct Follow<'a> {
    pair: &'a mut ContactPair,
    paths: (&'a Path, &'a Path),
    options: QueryOptions,
    limit: f64,
    most_queries: u32,
    end: f64,
    passage: Passage,
    work: Workspace,
}

/// What a query tells at one time.
#[derive(Clone, Copy, Debug)]
struct Place {
    time: f64,
    /// The smallest distance, or how far was looked.
    distance: f64,
    /// The nearest minimum and how fast it closes.
    nearest: Option<(Contact, f64)>,
    status: Option<Status>,
}

impl Place {
    /// Whether the interiors are known not to meet.
    fn is_apart(&self) -> bool {
        matches!(self.status, Some(Status::Separated | Status::Touching))
    }
}

impl<'a> Follow<'a> {
    fn new(
        pair: &'a mut ContactPair,
        paths: (&'a Path, &'a Path),
        options: &PassageOptions,
    ) -> Result<Self, QueryError> {
        options.query.check()?;
        if !(options.distance.is_finite() && options.distance >= 0.0) {
            return Err(QueryError::Limit(options.distance));
        }
        let look = if options.query.d_max > 0.0 {
            options.query.d_max
        } else {
            LOOK * (pair.body_a().size() + pair.body_b().size())
        };
        let query = QueryOptions {
            d_max: options.distance + look,
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
            most_queries: options.most_queries,
            end,
            passage,
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

    /// Queries at a time.
    fn ask(&mut self, time: f64) -> Result<Place, QueryError> {
        self.ask_with(time, &QueryOptions { detect_interference: true, ..self.options })
    }

    fn ask_with(&mut self, time: f64, options: &QueryOptions) -> Result<Place, QueryError> {
        let moving = self.moving(time);
        self.passage.queries += 1;
        self.pair.query(&Pose::identity(), &moving.pose_ab, options)?;
        let nearest = self.pair.contacts().iter().find(|l| l.kind != ContactKind::Quasi).copied();
        let nearest = nearest.map(|l| (l, moving.closing(&l.point_b, &l.normal)));
        let distance = nearest.map_or(self.options.d_max, |(l, _)| l.distance);
        if nearest.is_some() && self.passage.smallest.is_none_or(|(least, _)| distance < least) {
            self.passage.smallest = Some((distance, time));
        }
        Ok(Place { time, distance, nearest, status: self.pair.status() })
    }

    /// Whether the solids are apart by more than the limit and the tolerance.
    fn is_left(&self, place: &Place) -> bool {
        place.is_apart() && place.distance > self.limit + self.pair.tolerances().tol
    }

    fn run(mut self) -> Result<Passage, QueryError> {
        let mut place = self.ask(0.0)?;
        self.passage.start = place.status;
        if !self.is_left(&place) {
            match self.leave()? {
                Some(left) => place = left,
                None => {
                    self.passage.outcome = PassageOutcome::InContact;
                    return Ok(self.passage);
                }
            }
        }
        self.passage.outcome = self.advance(place)?;
        self.passage.pairs = self.work.looked_at;
        Ok(self.passage)
    }

    /// Follows a start in contact until it is left.
    fn leave(&mut self) -> Result<Option<Place>, QueryError> {
        let mut inside = 0.0;
        for i in 1..=STEPS {
            let time = self.end * f64::from(i) / f64::from(STEPS);
            let mut place = self.ask(time)?;
            if !self.is_left(&place) {
                inside = time;
                continue;
            }
            while place.time - inside > RESOLUTION * self.end {
                let middle = 0.5 * (inside + place.time);
                if middle <= inside || middle >= place.time {
                    break;
                }
                let between = self.ask(middle)?;
                if self.is_left(&between) {
                    place = between;
                } else {
                    inside = middle;
                }
            }
            self.passage.left = Some(place.time);
            return Ok(Some(place));
        }
        Ok(None)
    }

    /// From a place that is free on.
    fn advance(&mut self, mut place: Place) -> Result<PassageOutcome, QueryError> {
        let (a, b) = self.bodies();
        // A crossing that may not be the first one.
        let mut crossing: Option<Place> = None;
        let mut is_touching = false;
        loop {
            let moving = self.moving(place.time);
            let room = place.distance - self.limit;
            let tolerances = self.pair.tolerances();
            let search =
                Search { a: &a, b: &b, moving: &moving, tol: tolerances, distance: place.distance, room };
            let rest = self.end - place.time;
            if rest <= 0.0 && room > 0.0 {
                return Ok(PassageOutcome::Free);
            }
            if room <= tolerances.eps {
                return Ok(self.contact(place));
            }
            let safe = search.safe_time(&mut self.work).min(rest);
            if let Some(c) = crossing
                && c.time - place.time - safe <= RESOLUTION * self.end
            {
                return Ok(self.contact(c));
            }
            if self.passage.queries >= self.most_queries {
                return Ok(PassageOutcome::Undecided(place.time));
            }
            if room <= tolerances.tol && !std::mem::replace(&mut is_touching, true) {
                // It touches; if it comes no nearer than that, or hardly, this is where.
                if let Some(c) = self.cross(place, moving.lasts.min(rest))?
                    && self.is_grazing(&c)
                {
                    return Ok(self.contact(c));
                }
            }
            if let Some((_, closing)) = place.nearest {
                let guess = room / closing;
                // A crossing that is known already is not looked for again.
                let known = crossing.map_or(f64::INFINITY, |c| c.time - place.time);
                let is_near =
                    closing > 0.0 && guess <= moving.lasts.min(ANOTHER * known) && guess <= NEAR * safe;
                if is_near {
                    let horizon = (FARTHER * guess).min(moving.lasts);
                    let falls = is_near && search.only_falls(horizon, &mut self.work);
                    match self.cross(place, moving.lasts.min(rest))? {
                        Some(c) if falls && c.time - place.time <= horizon => return Ok(self.contact(c)),
                        Some(c) if c.time < known + place.time => crossing = Some(c),
                        _ => {}
                    }
                }
            }
            // Solids that stand still to each other need no second query.
            if safe >= rest && moving.speed <= 0.0 {
                return Ok(PassageOutcome::Free);
            }
            // The end exactly, so that the loop ends.
            let next = if safe >= rest { self.end } else { place.time + safe };
            // Two times that differ, at least.
            if next <= place.time {
                return Ok(PassageOutcome::Undecided(place.time));
            }
            let after = self.ask(next)?;
            place = if self.is_consistent(&place, &after, moving.speed) {
                after
            } else {
                match self.resolved(place, after, moving.speed)? {
                    Resolved::Place(place) => place,
                    Resolved::Outcome(outcome) => return Ok(outcome),
                }
            };
        }
    }

    /// Whether a place can follow another one, both apart, by a step that was proven free at this largest
    /// speed: the smallest distance grows by no more than the solids move.
    fn is_consistent(&self, before: &Place, after: &Place, speed: f64) -> bool {
        let tolerance = self.pair.tolerances().tol;
        let most = before.distance + speed * (after.time - before.time) + tolerance;
        let has_grown = before.nearest.is_some() && after.distance > most;
        after.is_apart() && !has_grown && after.distance >= self.limit - tolerance
    }

    /// Resolves a contradiction between a place and the one after a step that was proven free.
    fn resolved(&mut self, before: Place, after: Place, speed: f64) -> Result<Resolved, QueryError> {
        let certified = QueryOptions { certified: true, detect_interference: true, ..self.options };
        let tolerance = self.pair.tolerances().tol;
        // The place before has lost a minimum: a shorter step follows from it.
        let again = self.ask_with(before.time, &certified)?;
        if again.is_apart() && again.distance < before.distance - tolerance {
            return Ok(Resolved::Place(again));
        }
        let again = self.ask_with(after.time, &certified)?;
        if self.is_consistent(&before, &again, speed) {
            return Ok(Resolved::Place(again));
        }
        if again.status == Some(Status::Interfering) || again.distance <= self.limit {
            let last = self.last_apart(before, again.time)?;
            return Ok(Resolved::Outcome(self.contact(last)));
        }
        Ok(Resolved::Outcome(PassageOutcome::Undecided(before.time)))
    }

    /// The last place above the limit before a time at which the limit is passed, by bisection.
    fn last_apart(&mut self, mut apart: Place, mut passed: f64) -> Result<Place, QueryError> {
        for _ in 0..MOST_STEPS {
            let time = 0.5 * (apart.time + passed);
            if time <= apart.time || time >= passed {
                break;
            }
            let place = self.ask(time)?;
            if place.is_apart() && place.distance > self.limit {
                apart = place;
            } else {
                passed = time;
            }
        }
        Ok(apart)
    }

    /// The next crossing of the limit after a place, by Newton's method; where the distance comes within the
    /// tolerance and no nearer, the place where it is smallest.
    fn cross(&mut self, from: Place, lasts: f64) -> Result<Option<Place>, QueryError> {
        let tolerances = self.pair.tolerances();
        let last = from.time + lasts;
        let (mut above, mut below) = (from, None::<Place>);
        for _ in 0..MOST_STEPS {
            let newton = |p: &Place| {
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
            let place = self.ask(time)?;
            let off = place.distance - self.limit;
            // Minima deeper than the tolerance are not reported: another one may be at the limit.
            let meets = place.status == Some(Status::Interfering);
            if off.abs() <= tolerances.eps && !meets {
                return Ok(Some(place));
            }
            if meets || off < 0.0 {
                below = Some(place);
            } else if place.nearest.is_some_and(|(_, c)| c > 0.0) {
                above = place;
            } else {
                // It has turned back in between.
                return self.turn((above, place), tolerances.tol);
            }
        }
        Ok(None)
    }

    /// Where the distance is smallest between a place at which it falls and one at which it grows: if that is
    /// within the tolerance of the limit.
    fn turn(
        &mut self,
        (mut falls, mut grows): (Place, Place),
        tol: f64,
    ) -> Result<Option<Place>, QueryError> {
        for _ in 0..MOST_STEPS {
            let time = 0.5 * (falls.time + grows.time);
            if time <= falls.time || time >= grows.time {
                break;
            }
            let place = self.ask(time)?;
            if place.status == Some(Status::Interfering) {
                return Ok(Some(self.last_apart(falls, time)?));
            }
            if place.distance <= self.limit {
                return Ok(Some(place));
            }
            if place.nearest.is_some_and(|(_, c)| c > 0.0) {
                falls = place;
            } else {
                grows = place;
            }
        }
        Ok((falls.distance <= self.limit + tol).then_some(falls))
    }

    /// Whether the distance hardly falls at a place.
    fn is_grazing(&self, place: &Place) -> bool {
        let speed = self.moving(place.time).speed;
        place.nearest.is_some_and(|(_, closing)| closing <= GRAZING * speed)
    }

    /// A contact at a place.
    fn contact(&self, place: Place) -> PassageOutcome {
        let Some((nearest, closing)) = place.nearest else { return PassageOutcome::Undecided(place.time) };
        let pose_a = self.paths.0.pose(place.time);
        let minimum = Contact {
            point_a: pose_a * nearest.point_a,
            point_b: pose_a * nearest.point_b,
            normal: pose_a * nearest.normal,
            ..nearest
        };
        PassageOutcome::Contact(FirstContact {
            time: place.time,
            minimum,
            closing,
            grazing: self.is_grazing(&place),
        })
    }
}
