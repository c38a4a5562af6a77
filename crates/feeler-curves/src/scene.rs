//! Curves and solids in one scene: all minima of all near pairs.

use std::collections::BTreeMap;
use std::sync::Arc;

use feeler_geom::{P3, Pose};
use feeler_runtime::{Body, BodyId, Scene, SceneError, Status};
use rayon::prelude::*;
use thiserror::Error;

use crate::curve::{Curve, CurveError};
use crate::minimum::{CurveMinimum, CurveOptions, SolidMinimum};
use crate::obstacle::Obstacle;
use crate::query::CurvePair;
use crate::solid::CurveSolidPair;
use crate::tight::TightBend;

/// Error of a scene of curves.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CurveSceneError {
    /// No curve has this id: it was never assigned, or the curve was removed.
    #[error("there is no curve {} in the scene", .0.0)]
    NoCurve(CurveId),
    /// A curve is not valid with its current control points.
    #[error("curve {}: {error}", curve.0)]
    Curve {
        /// Id of the curve.
        curve: CurveId,
        /// Reason why the curve is not valid.
        error: CurveError,
    },
    /// An option is not valid, as the text states.
    #[error("{0}")]
    Options(String),
    /// Error of the scene of solids.
    #[error(transparent)]
    Solids(#[from] SceneError),
}

/// Id of a curve; never reused in one scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CurveId(pub u32);

/// Minimum of the distance between a curve and another curve, itself or a solid, with their ids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CurveContact {
    /// A minimum between two curves, or between a curve and itself (`b` is `a`).
    Curves {
        /// Smaller one of the two ids.
        a: CurveId,
        /// Larger one of the two ids, or the same id for a curve and itself.
        b: CurveId,
        /// The minimum; its `id` is unique in the scene.
        minimum: CurveMinimum,
    },
    /// A minimum between a curve and a solid.
    Solid {
        /// Id of the curve.
        curve: CurveId,
        /// Id of the body of the solid.
        body: BodyId,
        /// Index of the solid among those of the body, which is a compound if it has more than one.
        part: u32,
        /// The minimum; its `id` is unique in the scene.
        minimum: SolidMinimum,
    },
}

impl CurveContact {
    /// Distance between the tubes, or between the tube and the solid (mm).
    #[must_use]
    pub fn gap(&self) -> f64 {
        match self {
            Self::Curves { minimum, .. } => minimum.gap,
            Self::Solid { minimum, .. } => minimum.gap,
        }
    }

    /// Identity of the minimum. It stays the same between updates of one scene while the minimum moves
    /// continuously.
    #[must_use]
    pub fn id(&self) -> u64 {
        match self {
            Self::Curves { minimum, .. } => minimum.id,
            Self::Solid { minimum, .. } => minimum.id,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Curves(CurveId, CurveId),
    Solid(CurveId, BodyId, u32),
}

#[derive(Debug)]
enum Pair {
    Curves(Box<CurvePair>),
    Solid(Box<CurveSolidPair>, Arc<Obstacle>, Pose),
}

/// Near pair of two curves, of a curve and a solid, or of a curve with itself, with its buffers and
/// results.
#[derive(Debug)]
struct Slot {
    pair: Pair,
    /// Upper 32 bits of the ids of the pair's minima.
    number: u32,
    step: u64,
    /// Interference status of the pair; `None` if the most recent update did not determine it.
    status: Option<Status>,
}

/// A scene of deforming curves and moving solids. It finds all minima between curves, of curves with
/// themselves, and between curves and solids.
///
/// The solids are those of a [`Scene`]. Use [`CurveScene::solids_mut`] to add, move and query them;
/// contacts between solids are reported there. Results are bitwise reproducible for the same calls, for
/// any number of threads.
#[derive(Debug)]
pub struct CurveScene {
    solids: Scene,
    options: CurveOptions,
    /// Curves with their ids, sorted by ascending id.
    curves: Vec<(CurveId, Curve)>,
    next_curve: u32,
    obstacles: Vec<Arc<Obstacle>>,
    slots: BTreeMap<Key, Slot>,
    next_slot: u32,
    step: u64,
    contacts: Vec<CurveContact>,
    bends: Vec<(CurveId, TightBend)>,
    scratch: Vec<TightBend>,
    detects_interference: bool,
    /// `None` if the most recent update did not determine interference. Otherwise, all curves with ids
    /// below the first number and all bodies with ids below the second one were in the scene at that
    /// time.
    decided: Option<[u32; 2]>,
}

impl CurveScene {
    /// Creates a scene of solids, without curves.
    ///
    /// # Errors
    /// [`CurveSceneError::Options`] if an option is not valid ([`CurveOptions::check`]).
    pub fn new(solids: Scene, options: CurveOptions) -> Result<Self, CurveSceneError> {
        options.check().map_err(CurveSceneError::Options)?;
        Ok(Self {
            solids,
            options,
            curves: Vec::new(),
            next_curve: 0,
            obstacles: Vec::new(),
            slots: BTreeMap::new(),
            next_slot: 0,
            step: 0,
            contacts: Vec::new(),
            bends: Vec::new(),
            scratch: Vec::new(),
            detects_interference: false,
            decided: None,
        })
    }

    /// Returns the scene of the solids.
    #[must_use]
    pub fn solids(&self) -> &Scene {
        &self.solids
    }

    /// Returns the scene of the solids, to add and move them.
    pub fn solids_mut(&mut self) -> &mut Scene {
        &mut self.solids
    }

    /// Sets whether updates decide if near curves and solids interfere ([`CurveScene::interferes`]).
    /// Disabled by default.
    pub fn detect_interference(&mut self, detects: bool) {
        self.detects_interference = detects;
    }

    /// Adds a curve and returns its id, which is never reused.
    pub fn add(&mut self, curve: Curve) -> CurveId {
        let id = CurveId(self.next_curve);
        self.next_curve += 1;
        self.curves.push((id, curve));
        id
    }

    /// Removes a curve and returns it.
    ///
    /// # Errors
    /// [`CurveSceneError::NoCurve`].
    pub fn remove(&mut self, id: CurveId) -> Result<Curve, CurveSceneError> {
        let at = self.position(id)?;
        Ok(self.curves.remove(at).1)
    }

    /// The curves with their ids, in ascending order of ids.
    pub fn curves(&self) -> impl ExactSizeIterator<Item = (CurveId, &Curve)> {
        self.curves.iter().map(|(id, curve)| (*id, curve))
    }

    /// Returns the curve with an id.
    ///
    /// # Errors
    /// [`CurveSceneError::NoCurve`].
    pub fn curve(&self, id: CurveId) -> Result<&Curve, CurveSceneError> {
        Ok(&self.curves[self.position(id)?].1)
    }

    /// Moves a curve to new control points ([`Curve::update`]).
    ///
    /// # Errors
    /// [`CurveSceneError::NoCurve`]; [`CurveSceneError::Curve`] if the points are refused. The curve
    /// then keeps its control points.
    pub fn update_curve(&mut self, id: CurveId, points: &[P3]) -> Result<(), CurveSceneError> {
        let at = self.position(id)?;
        self.curves[at].1.update(points).map_err(|error| CurveSceneError::Curve { curve: id, error })
    }

    /// Finds all minima of the curves at the current positions of curves and solids.
    ///
    /// # Errors
    /// [`CurveSceneError::Curve`] if a curve near another object is so far from the origin of the world
    /// that rounding exceeds a tenth of the tolerance ([`CurveError::Coordinates`]). The scene has no
    /// contacts then.
    pub fn update(&mut self) -> Result<(), CurveSceneError> {
        self.step += 1;
        self.decided = None;
        self.find_near()?;
        self.check_coordinates().inspect_err(|_| {
            self.contacts.clear();
            self.bends.clear();
        })?;
        let (options, curves, step) = (&self.options, &self.curves, self.step);
        let detects = self.detects_interference;
        let curve = |id: CurveId| &curves[curves.partition_point(|c| c.0 < id)].1;
        // Each result is stored in its slot, so that the order is the same for any number of threads.
        let near: Vec<(&Key, &mut Slot)> = self.slots.iter_mut().filter(|(_, s)| s.step == step).collect();
        let query_pair = |(key, slot): (&Key, &mut Slot)| match (key, &mut slot.pair) {
            (Key::Curves(a, b), Pair::Curves(pair)) => {
                let found = if a == b {
                    pair.query_itself(curve(*a), options)
                } else {
                    pair.query(curve(*a), curve(*b), options)
                };
                let is_negative = found.iter().any(|m| m.gap < 0.0);
                slot.status = Some(if is_negative { Status::Interfering } else { Status::Separated });
            }
            (Key::Solid(a, ..), Pair::Solid(pair, obstacle, pose)) => {
                pair.query(curve(*a), obstacle, pose, options);
                slot.status = detects.then(|| decide(pair, curve(*a), obstacle, pose));
            }
            _ => {}
        };
        // Starting another thread takes longer than the query of a single small pair.
        if near.len() == 1 {
            near.into_iter().for_each(query_pair);
        } else {
            near.into_par_iter().for_each(query_pair);
        }
        self.collect();
        let next_body = self.solids.bodies().map(|id| id.0 + 1).max().unwrap_or(0);
        self.decided = detects.then_some([self.next_curve, next_body]);
        Ok(())
    }

    /// Minima that the most recent update found, sorted by pair and, within a pair, by parameters.
    #[must_use]
    pub fn contacts(&self) -> &[CurveContact] {
        &self.contacts
    }

    /// Intervals of curves, found in the most recent update, that are bent more than the tube's radius
    /// allows: radius times curvature is at least 1. The tubes overlap themselves there without a
    /// minimum.
    #[must_use]
    pub fn tight_bends(&self) -> &[(CurveId, TightBend)] {
        &self.bends
    }

    /// Whether the tubes of two curves, or of a curve and itself, overlapped in the most recent update:
    /// one of their minima has a negative gap.
    ///
    /// # Errors
    /// [`CurveSceneError::NoCurve`].
    pub fn curves_interfere(&self, a: CurveId, b: CurveId) -> Result<bool, CurveSceneError> {
        self.position(a)?;
        self.position(b)?;
        let slot = self.slots.get(&Key::Curves(a.min(b), a.max(b)));
        Ok(slot.is_some_and(|s| s.step == self.step && s.status == Some(Status::Interfering)))
    }

    /// Whether the tube of a curve and a body had common inner points in the most recent update. `None`
    /// if they touch to rounding, if the status is undecided, or if [`CurveScene::status`] is `None`.
    ///
    /// # Errors
    /// [`CurveSceneError::NoCurve`]; [`CurveSceneError::Solids`] when no such body exists.
    pub fn interferes(&self, curve: CurveId, body: BodyId) -> Result<Option<bool>, CurveSceneError> {
        Ok(match self.status(curve, body)? {
            Some(Status::Separated) => Some(false),
            Some(Status::Interfering) => Some(true),
            _ => None,
        })
    }

    /// Interference status of a curve and a body in the most recent update. `Touching` means that the gap
    /// is zero within rounding. The status is decided by bounds on parts of the curve. If thousands of
    /// bounds are not enough, it is decided by the minima; if they are inconclusive, it is `Undecided`.
    /// `None` if [`CurveScene::detect_interference`] was not enabled, or if one of the two was added
    /// after the update.
    ///
    /// # Errors
    /// Those of [`CurveScene::interferes`].
    pub fn status(&self, curve: CurveId, body: BodyId) -> Result<Option<Status>, CurveSceneError> {
        self.position(curve)?;
        self.solids.pose(body)?;
        if !self.decided.is_some_and(|[curves, bodies]| curve.0 < curves && body.0 < bodies) {
            return Ok(None);
        }
        let of_body = Key::Solid(curve, body, 0)..=Key::Solid(curve, body, u32::MAX);
        let near = self.slots.range(of_body).filter(|(_, s)| s.step == self.step);
        // If no part is near, the status is `Separated`.
        let rank = |status: &Status| match status {
            Status::Separated => 0,
            Status::Touching => 1,
            Status::Undecided => 2,
            Status::Interfering => 3,
        };
        Ok(near.filter_map(|(_, s)| s.status).max_by_key(rank).or(Some(Status::Separated)))
    }

    fn position(&self, id: CurveId) -> Result<usize, CurveSceneError> {
        self.curves.binary_search_by_key(&id, |c| c.0).map_err(|_| CurveSceneError::NoCurve(id))
    }

    /// Updates the list of near pairs: marks every curve with itself and all pairs of curves, and of
    /// curves and solids, whose boxes are near with the number of this update, and drops all other
    /// pairs.
    fn find_near(&mut self) -> Result<(), CurveSceneError> {
        let step = self.step;
        for (i, (a, curve)) in self.curves.iter().enumerate() {
            let (min, max) = curve.bounds();
            for (b, other) in &self.curves[i..] {
                let reach = self.options.d_max + curve.radius() + other.radius();
                let (other_min, other_max) = other.bounds();
                if are_near(&min, &max, &other_min, &other_max, reach) {
                    mark(&mut self.slots, &mut self.next_slot, Key::Curves(*a, *b), step, || {
                        Pair::Curves(Box::default())
                    });
                }
            }
        }
        let bodies: Vec<BodyId> = self.solids.bodies().collect();
        for id in bodies {
            let placed = *self.solids.pose(id)?;
            for (k, (body, local)) in self.solids.parts(id)?.enumerate() {
                let pose = placed * local;
                let bounds = body.posed_bounds(&pose);
                for (a, curve) in &self.curves {
                    let reach = self.options.d_max + curve.radius();
                    let (min, max) = curve.bounds();
                    if !are_near(&min, &max, &bounds.min, &bounds.max, reach) {
                        continue;
                    }
                    let obstacle = obstacle(&mut self.obstacles, body);
                    let part = u32::try_from(k).unwrap_or(u32::MAX);
                    let slot =
                        mark(&mut self.slots, &mut self.next_slot, Key::Solid(*a, id, part), step, || {
                            Pair::Solid(Box::default(), obstacle, pose)
                        });
                    if let Pair::Solid(_, _, at) = &mut slot.pair {
                        *at = pose;
                    }
                }
            }
        }
        self.slots.retain(|_, slot| slot.step == step);
        // Drops the data of solids that are no longer used elsewhere.
        self.obstacles.retain(|o| Arc::strong_count(o.body()) > 1);
        Ok(())
    }

    /// Returns an error for the first near pair in which the coordinates of a curve are too large for
    /// the size of the larger object.
    fn check_coordinates(&self) -> Result<(), CurveSceneError> {
        let curve = |id: CurveId| &self.curves[self.curves.partition_point(|c| c.0 < id)].1;
        let largest = |c: &Curve| {
            let (min, max) = c.bounds();
            min.coords.amax().max(max.coords.amax())
        };
        for (key, slot) in &self.slots {
            let (id, coordinates, size) = match (key, &slot.pair) {
                (Key::Curves(a, b), _) => {
                    let [x, y] = [curve(*a), curve(*b)];
                    (*a, largest(x).max(largest(y)), x.size().max(y.size()))
                }
                (Key::Solid(a, ..), Pair::Solid(_, obstacle, _)) => {
                    (*a, largest(curve(*a)), curve(*a).size().max(obstacle.body().size()))
                }
                _ => continue,
            };
            let limit = (COORDINATES_IN_SIZES * size).min(MAX_COORDINATES);
            if coordinates > limit {
                let error = CurveError::Coordinates { coordinates, limit };
                return Err(CurveSceneError::Curve { curve: id, error });
            }
        }
        Ok(())
    }

    fn collect(&mut self) {
        self.contacts.clear();
        for (key, slot) in &self.slots {
            let number = |id: u64| u64::from(slot.number) << 32 | id;
            match (key, &slot.pair) {
                (Key::Curves(a, b), Pair::Curves(pair)) => {
                    self.contacts.extend(pair.minima().iter().map(|m| {
                        let minimum = CurveMinimum { id: number(m.id), ..*m };
                        CurveContact::Curves { a: *a, b: *b, minimum }
                    }));
                }
                (Key::Solid(curve, body, part), Pair::Solid(pair, ..)) => {
                    self.contacts.extend(pair.minima().iter().map(|m| {
                        let minimum = SolidMinimum { id: number(m.id), ..*m };
                        CurveContact::Solid { curve: *curve, body: *body, part: *part, minimum }
                    }));
                }
                _ => {}
            }
        }
        self.bends.clear();
        for (id, curve) in &self.curves {
            curve.tight_bends(&mut self.scratch);
            self.bends.extend(self.scratch.iter().map(|bend| (*id, *bend)));
        }
    }
}

/// Maximum coordinates of curves, as a multiple of the size of the larger object of a pair: their
/// rounding, 2⁻⁵² of them, is a tenth of 1e-7 of the size. With a larger value, the rounding of minima
/// reaches the tolerance; with a smaller one, more curves are refused.
const COORDINATES_IN_SIZES: f64 = 1e-8 / f64::EPSILON;
/// Maximum coordinates (mm) of curves of any size. Larger ones may overflow in products.
const MAX_COORDINATES: f64 = 1e30;
/// Magnitude of the gap up to which a tube counts as touching a solid, as a fraction of the solid's
/// size. With a larger value, shallow interferences count as touching; with a smaller one, rounding
/// decides.
const TOUCH_TOLERANCE: f64 = 1e-9;

/// Determines the interference status of a curve and a solid, for whose pair the minima have just been
/// found.
fn decide(pair: &mut CurveSolidPair, curve: &Curve, obstacle: &Obstacle, pose: &Pose) -> Status {
    let tolerance = TOUCH_TOLERANCE * obstacle.body().size();
    let gap = pair.minima().iter().map(|m| m.gap).fold(f64::INFINITY, f64::min);
    if gap < -tolerance {
        return Status::Interfering;
    }
    match pair.interferes(curve, obstacle, pose, tolerance) {
        Some(true) => Status::Interfering,
        Some(false) => Status::Separated,
        None if gap <= tolerance => Status::Touching,
        None if gap.is_finite() && pair.stats().n_undecided == 0 => Status::Separated,
        None => Status::Undecided,
    }
}

fn mark<'a>(
    slots: &'a mut BTreeMap<Key, Slot>,
    next: &mut u32,
    key: Key,
    step: u64,
    pair: impl FnOnce() -> Pair,
) -> &'a mut Slot {
    let slot = slots.entry(key).or_insert_with(|| {
        *next += 1;
        Slot { pair: pair(), number: *next, step, status: None }
    });
    slot.step = step;
    slot
}

fn obstacle(cache: &mut Vec<Arc<Obstacle>>, body: &Arc<Body>) -> Arc<Obstacle> {
    if let Some(found) = cache.iter().find(|o| Arc::ptr_eq(o.body(), body)) {
        return found.clone();
    }
    let made = Arc::new(Obstacle::new(body.clone()));
    cache.push(made.clone());
    made
}

fn are_near(min: &P3, max: &P3, other_min: &P3, other_max: &P3, reach: f64) -> bool {
    (0..3).all(|k| min[k] - reach <= other_max[k] && other_min[k] - reach <= max[k])
}
