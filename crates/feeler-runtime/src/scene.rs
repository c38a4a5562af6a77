//! Many bodies: which pairs are near, and all their minima, in parallel.
//!
//! # Source
//! DIST §3.3 for the near pairs ([`BroadPhase`]), BREP §4 for each of them.
//!
//! # Deviations
//! The hull that stands for a solid in the broad phase is not that of control points: it is stored with the
//! solid, found from its exact extents, and exceeds none of them by more than 1 %.

use crate::pair::is_finite;
use crate::{Body, ContactPair, QueryError, QueryOptions};
use feeler_convex::{
    BroadPhase, BroadPhaseCounts, BroadPhaseError, BroadPhaseRequest, Polytope, Support, SupportPoint,
};
use feeler_geom::{P3, Pose, V3};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why a scene has no answer.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SceneError {
    /// A body without features has no place.
    #[error("body {0} has no faces")]
    Empty(usize),
    /// A pair that names a body which is not there, or one body twice.
    #[error("there is no pair of the bodies {0} and {1}")]
    NoPair(u32, u32),
    /// More or fewer poses than bodies, poses or sizes that are not finite, a `d_max` that is not finite.
    #[error(transparent)]
    BroadPhase(#[from] BroadPhaseError),
    /// Options that make no sense, or poses of two bodies too far apart.
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// Bodies that move together, and what is known of the pairs that are near.
#[derive(Debug)]
pub struct Scene {
    bodies: Vec<Arc<Body>>,
    options: QueryOptions,
    broad: BroadPhase<HullOf>,
    slots: Vec<Slot>,
    slot_of: BTreeMap<(u32, u32), usize>,
    /// Slots of the last step, by ascending pairs.
    active: Vec<usize>,
    wanted: Vec<(u32, u32)>,
}

/// A pair that was near once; its caches are kept for when it is again.
#[derive(Debug)]
struct Slot {
    bodies: (u32, u32),
    pair: ContactPair,
    poses: Option<(Pose, Pose)>,
    active: bool,
}

/// A near pair of a step.
#[derive(Clone, Copy, Debug)]
pub struct NearPair<'a> {
    /// Numbers of the bodies, ascending.
    pub bodies: (u32, u32),
    /// Its minima and, with [`QueryOptions::detect_interference`], its status; A is the body with the smaller
    /// number.
    pub contacts: &'a ContactPair,
}

impl Scene {
    /// Bodies, numbered in this order, and what all queries are asked for. `options.d_max` must be finite.
    ///
    /// # Errors
    /// [`SceneError::Empty`]; [`SceneError::Query`] for options that no query takes;
    /// [`SceneError::BroadPhase`] for an infinite `d_max`.
    pub fn new(bodies: Vec<Arc<Body>>, options: QueryOptions) -> Result<Self, SceneError> {
        let hull_of = |(i, body): (usize, &Arc<Body>)| {
            let hull = body.hull().ok_or(SceneError::Empty(i))?.clone();
            Ok(HullOf { body: Arc::clone(body), hull })
        };
        let shapes = bodies.iter().enumerate().map(hull_of).collect::<Result<_, SceneError>>()?;
        options.check()?;
        let request = BroadPhaseRequest { d_max: options.d_max, margin: options.d_max };
        Ok(Self {
            broad: BroadPhase::new(shapes, request)?,
            bodies,
            options,
            slots: Vec::new(),
            slot_of: BTreeMap::new(),
            active: Vec::new(),
            wanted: Vec::new(),
        })
    }

    /// Finds the near pairs of the bodies in these poses, without those that `ignored` names (i, j), i < j,
    /// and all their minima. Every pair of bodies up to `d_max` apart, or with common interiors, is among
    /// [`Scene::near`] then.
    ///
    /// The same bits for any number of threads.
    ///
    /// # Errors
    /// [`SceneError::BroadPhase`] for anything but one finite pose for each body; the last step stays.
    /// [`SceneError::Query`] where two bodies are too far apart for numbers: their pair has no results.
    pub fn step(&mut self, poses: &[Pose], ignored: impl Fn(u32, u32) -> bool) -> Result<(), SceneError> {
        let near = self.broad.step(poses)?;
        self.wanted.clear();
        self.wanted.extend(near.iter().filter(|(i, j)| !ignored(*i, *j)));
        self.query(poses)
    }

    /// The pairs of [`Scene::step`] without their minima, ascending: for callers that query each pair once,
    /// with a [`ContactPair`] of their own.
    ///
    /// # Errors
    /// [`SceneError::BroadPhase`] for anything but one finite pose for each body.
    pub fn near_bodies(
        &mut self,
        poses: &[Pose],
        ignored: impl Fn(u32, u32) -> bool,
    ) -> Result<Vec<(u32, u32)>, SceneError> {
        let near = self.broad.step(poses)?;
        Ok(near.iter().copied().filter(|(i, j)| !ignored(*i, *j)).collect())
    }

    /// As [`Scene::step`], for pairs that the caller has chosen. A pair named twice is queried once.
    ///
    /// # Errors
    /// [`SceneError::NoPair`], and as [`Scene::step`].
    pub fn step_pairs(&mut self, poses: &[Pose], pairs: &[(u32, u32)]) -> Result<(), SceneError> {
        if poses.len() != self.bodies.len() {
            return Err(BroadPhaseError::Count { given: poses.len(), bodies: self.bodies.len() }.into());
        }
        if let Some(i) = poses.iter().position(|p| !is_finite(p)) {
            return Err(BroadPhaseError::Pose(i).into());
        }
        let there = |i: u32| (i as usize) < self.bodies.len();
        if let Some(&(i, j)) = pairs.iter().find(|(i, j)| i == j || !there(*i) || !there(*j)) {
            return Err(SceneError::NoPair(i, j));
        }
        self.wanted.clear();
        self.wanted.extend(pairs.iter().map(|&(i, j)| (i.min(j), i.max(j))));
        self.wanted.sort_unstable();
        self.wanted.dedup();
        self.query(poses)
    }

    /// The wanted pairs, ascending.
    fn query(&mut self, poses: &[Pose]) -> Result<(), SceneError> {
        self.active.iter().for_each(|&k| self.slots[k].active = false);
        self.active.clear();
        for &bodies in &self.wanted {
            let k = *self.slot_of.entry(bodies).or_insert_with(|| {
                let body = |i: u32| self.bodies[i as usize].clone();
                let pair = ContactPair::new(body(bodies.0), body(bodies.1));
                self.slots.push(Slot { bodies, pair, poses: None, active: false });
                self.slots.len() - 1
            });
            self.slots[k].active = true;
            self.active.push(k);
        }
        let one = |slot: &mut Slot, options: &QueryOptions| -> Result<(), QueryError> {
            let (i, j) = slot.bodies;
            let now = (poses[i as usize], poses[j as usize]);
            // What has not moved has kept its minima.
            if slot.poses != Some(now) {
                slot.poses = None;
                slot.pair.query(&now.0, &now.1, options)?;
                slot.poses = Some(now);
            }
            Ok(())
        };
        // Few pairs share out their own work, many are shared out among themselves.
        let outcome = if let [k] = self.active[..] {
            one(&mut self.slots[k], &self.options)
        } else {
            let options = QueryOptions { parallel: false, ..self.options };
            // Every pair is queried, also after an error.
            let failed =
                self.slots.par_iter_mut().filter(|s| s.active).filter_map(|s| one(s, &options).err());
            failed.reduce_with(|first, _| first).map_or(Ok(()), Err)
        };
        // A pair that comes back finds new minima.
        self.slots.iter_mut().filter(|s| !s.active && s.poses.is_some()).for_each(|s| {
            s.pair.forget();
            s.poses = None;
        });
        Ok(outcome?)
    }

    /// The near pairs of the last step, by ascending bodies: some may have nothing within `d_max`.
    pub fn near(&self) -> impl ExactSizeIterator<Item = NearPair<'_>> {
        self.active.iter().map(|&k| {
            let slot = &self.slots[k];
            NearPair { bodies: slot.bodies, contacts: &slot.pair }
        })
    }

    /// The bodies.
    #[must_use]
    pub fn bodies(&self) -> &[Arc<Body>] {
        &self.bodies
    }

    /// What the broad phase has cost so far.
    #[must_use]
    pub fn counts(&self) -> BroadPhaseCounts {
        self.broad.counts()
    }
}

/// The hull of a body, dilated by what footpoints may be outside of it.
#[derive(Debug)]
struct HullOf {
    body: Arc<Body>,
    /// Of the body, which may have none where it is in no scene.
    hull: Arc<Polytope>,
}

impl Support for HullOf {
    fn support(&self, direction: &V3) -> SupportPoint {
        self.hull.support(direction)
    }
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        self.hull.support_near(direction, start)
    }
    fn radius(&self) -> f64 {
        self.body.deviation() + 1e-6 * self.body.size()
    }
    fn center(&self) -> P3 {
        self.hull.center()
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        self.hull.numbered(index)
    }
}
