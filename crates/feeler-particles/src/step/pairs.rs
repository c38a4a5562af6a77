//! Pairs of particles: the broad phase, contacts of spheres and grains, and their forces.

use super::error::SimulationError;
use super::force::{PairContact, ParticleStates};
use super::search::{PairSearch, SearchBounds};
use super::shape::{ParticleShape, PosedShape};
use super::solid_pair::SolidPair;
use super::{Collider, Load, MIN_PARALLEL, MIN_TASK, Simulation};
use crate::law::ShearState;
use crate::sphere::Sphere;
use feeler_convex::{Ball, BroadPhase, BroadPhaseError, BroadPhaseRequest};
use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex::{Grain, Placed, Proximity, proximity};
use nalgebra::{Translation3, UnitQuaternion};
use rayon::prelude::*;

/// Pair of colliders that are spheres or grains, with the contact history that persists from step to
/// step.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConvexPair {
    pub(super) colliders: (u32, u32),
    pub(super) status: PairStatus,
    /// Shear state of the contact. The search for the contact of grains in the next step starts from its
    /// normal.
    pub(super) state: ShearState,
    /// Force (mN) on the first collider.
    pub(super) force: V3,
    /// Point (mm, world) at which the force acts.
    pub(super) acts_at: P3,
    /// Lower bound (mm) of the distance of a pair that is apart; otherwise 0.
    pub(super) distance: f64,
}

/// Status of the contact of a pair whose bounding spheres overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairStatus {
    Touching,
    /// At least one shape is a grain, and the contact has not been computed yet in this step.
    Unresolved {
        /// Whether the pair was touching in the previous step.
        was_touching: bool,
    },
    Apart,
    /// A bound excludes the pair, but it is computed nevertheless, without an effect on the results, and
    /// becomes [`PairStatus::Missed`] if it overlaps.
    Excluded,
    Missed,
}

impl ConvexPair {
    /// Computes the contact of the pair; `None` if the shapes do not overlap. The status of an
    /// unresolved pair becomes `Touching` or `Apart`.
    fn contact(&mut self, states: &ParticleStates<'_>) -> Option<PairContact> {
        if self.status == PairStatus::Excluded {
            let [a, b] = [self.colliders.0, self.colliders.1].map(|k| states.posed(k));
            let found = convex_proximity(&a, &b, None);
            if matches!(found, Some(Proximity::Contact(found)) if found.gap < 0.0) {
                self.status = PairStatus::Missed;
            }
            return None;
        }
        let PairStatus::Unresolved { was_touching } = self.status else {
            let [a, b] = [self.colliders.0, self.colliders.1].map(|k| &states.colliders[k as usize]);
            let [x, y] = [a, b].map(|c| c.center(&states.motions[c.particle as usize]));
            let (distance, normal) = distance_and_normal(&x, &y);
            let (r, q) = (a.sphere.radius, b.sphere.radius);
            let radius = r * q / (r + q);
            return Some(PairContact { overlap: r + q - distance, normal, acts_at: self.acts_at, radius });
        };
        let [a, b] = [self.colliders.0, self.colliders.1].map(|k| states.posed(k));
        let found = match convex_proximity(&a, &b, was_touching.then_some(self.state.normal)) {
            Some(Proximity::Contact(found)) if found.gap < 0.0 => found,
            other => {
                self.status = PairStatus::Apart;
                self.distance = if let Some(Proximity::Apart(distance)) = other { distance } else { 0.0 };
                return None;
            }
        };
        self.status = PairStatus::Touching;
        if !was_touching {
            self.state = ShearState::new(-found.normal);
        }
        self.acts_at = found.point;
        let (r, q) = (a.radius_at(&found.normal), b.radius_at(&-found.normal));
        let radius = r * q / (r + q);
        Some(PairContact { overlap: -found.gap, normal: -found.normal, acts_at: found.point, radius })
    }
}

/// Returns the distance (mm) of the centres `x` and `y`, and the unit normal from `y` to `x`, which is
/// the z axis if they coincide.
fn distance_and_normal(x: &P3, y: &P3) -> (f64, V3) {
    let difference = x - y;
    let distance = difference.norm();
    (distance, if distance > 0.0 { difference / distance } else { V3::z() })
}

/// Computes the contact of two spheres or grains, or a lower bound of their distance; `None` for solids.
/// `previous_normal` is the contact normal of the previous step, from the second shape to the first; the
/// normal of the result leads from the first to the second.
fn convex_proximity(
    a: &PosedShape<'_>,
    b: &PosedShape<'_>,
    previous_normal: Option<V3>,
) -> Option<Proximity> {
    let (mut sphere_a, mut sphere_b) = (None, None);
    let (a, b) = (as_grain(a, &mut sphere_a)?, as_grain(b, &mut sphere_b)?);
    Some(proximity(&a, &b, 0.0, previous_normal.map(|n| -n)))
}

/// Returns the shape as a grain; `None` for a solid. A sphere is converted to a grain that is stored in
/// `sphere`.
fn as_grain<'g>(shape: &PosedShape<'g>, sphere: &'g mut Option<Grain>) -> Option<Placed<'g>> {
    match shape {
        PosedShape::Grain(grain) => Some(grain.placed),
        PosedShape::Solid(_) => None,
        PosedShape::Sphere(Sphere { center, radius }) => {
            let grain = Grain::superellipsoid(V3::repeat(*radius), [1.0, 1.0]).ok()?;
            let pose = Pose::from_parts(Translation3::from(center.coords), UnitQuaternion::identity());
            Placed::new(sphere.insert(grain), &pose).ok()
        }
    }
}

impl Simulation {
    /// Computes the forces of all pairs of particles, and updates shear states over a step of `time`
    /// (s).
    pub(super) fn update_pairs(&mut self, time: f64) -> Result<(), SimulationError> {
        std::mem::swap(&mut self.pairs, &mut self.previous_pairs);
        std::mem::swap(&mut self.solid_pairs, &mut self.previous_solid_pairs);
        self.pairs.clear();
        self.solid_pairs.clear();
        let Some(law) = self.settings.between else { return Ok(()) };
        if self.present.len() < 2 {
            return Ok(());
        }
        let (has_grains, has_solids) = self.list_pairs()?;
        let Self { pairs, solid_pairs, colliders, motions, particles, driven, spins, pool, bounds, .. } =
            self;
        let states = ParticleStates { colliders, particles, motions, spins, driven };
        let update = |pair: &mut ConvexPair| {
            if let Some(contact) = pair.contact(&states) {
                pair.force = states.pair_force(&law, pair.colliders, &contact, &mut pair.state, time);
            }
        };
        if pairs.len() < MIN_PARALLEL {
            pairs.iter_mut().for_each(update);
        } else {
            pairs.par_iter_mut().with_min_len(MIN_TASK).for_each(update);
        }
        if has_grains {
            let is_apart = |pair: &&ConvexPair| pair.status == PairStatus::Apart;
            bounds.add(pairs.iter().filter(is_apart).map(|pair| (pair.colliders, pair.distance)));
            if let Some(meter) = &pool.meter {
                let missed = pairs.iter().filter(|pair| pair.status == PairStatus::Missed);
                missed.for_each(|_| meter.add(PairSearch::Missed));
            }
            pairs.retain(|pair| pair.status == PairStatus::Touching);
        }
        if has_solids {
            solid_pairs.par_iter_mut().try_for_each_init(
                || pool.take(),
                |taken, pair| {
                    pair.update(&states, &law, &mut taken.queries, time).map_err(|_| {
                        SimulationError::Lost(states.colliders[pair.colliders.0 as usize].particle_id())
                    })
                },
            )?;
        }
        Ok(())
    }

    /// Replaces `pairs` and `solid_pairs` by the pairs of colliders of different particles whose spheres
    /// or bounding spheres overlap, with their contact histories. Returns whether there are grains among
    /// the pairs, and whether there are solids.
    fn list_pairs(&mut self) -> Result<(bool, bool), SimulationError> {
        let Self { poses, colliders, motions, present, .. } = self;
        poses.clear();
        poses.extend(present.iter().map(|k| {
            let c = &colliders[*k as usize];
            let center = c.center(&motions[c.particle as usize]);
            Pose::from_parts(Translation3::from(center.coords), UnitQuaternion::identity())
        }));
        if self.broad_phase.is_none() {
            let radii = || self.present.iter().map(|k| self.colliders[*k as usize].sphere.radius);
            let largest = radii().fold(0.0, f64::max);
            let balls: Result<Vec<Ball>, _> = radii().map(|r| Ball::new(P3::origin(), r)).collect();
            let request = BroadPhaseRequest { d_max: 0.0, margin: BROAD_PHASE_MARGIN * largest };
            let broad_phase = balls.ok().and_then(|balls| BroadPhase::new(balls, request).ok());
            self.broad_phase =
                Some(broad_phase.ok_or(SimulationError::Particle("radii of particles are out of range"))?);
        }
        let Some(broad_phase) = &mut self.broad_phase else { return Ok((false, false)) };
        let near = broad_phase.step(&self.poses).map_err(|e| match e {
            BroadPhaseError::Pose(k) => {
                SimulationError::Lost(self.colliders[self.present[k] as usize].particle_id())
            }
            _ => SimulationError::Particle("radii of particles are out of range"),
        })?;
        let is_solid = |c: &Collider| {
            let shape = &self.particles[c.particle as usize].shape;
            c.is_bounding && shape.as_deref().is_some_and(ParticleShape::is_solid)
        };
        let (mut has_grains, mut has_solids) = (false, false);
        self.bounds.advance(&self.colliders, &self.motions);
        let mut bounds = self.bounds.cursor();
        let meter = self.pool.meter.as_deref();
        let mut known_solids = self.previous_solid_pairs.drain(..).peekable();
        let mut known_pairs = self.previous_pairs.iter().peekable();
        for (i, j) in near {
            // Numbers of colliders increase with their positions in `present`, so all lists of pairs have the
            // same order.
            let [a, b] = [i, j].map(|k| self.present[*k as usize]);
            let (s, t) = (&self.colliders[a as usize], &self.colliders[b as usize]);
            if s.particle == t.particle {
                continue;
            }
            let [x, y] = [i, j].map(|k| P3::from(self.poses[*k as usize].translation.vector));
            let (distance, normal) = distance_and_normal(&x, &y);
            if distance >= s.sphere.radius + t.sphere.radius {
                continue;
            }
            if is_solid(s) || is_solid(t) {
                has_solids = true;
                while known_solids.next_if(|p| p.colliders < (a, b)).is_some() {}
                let known = known_solids.next_if(|p| p.colliders == (a, b));
                self.solid_pairs.push(known.unwrap_or_else(|| SolidPair::new((a, b))));
                continue;
            }
            while known_pairs.next_if(|p| p.colliders < (a, b)).is_some() {}
            let known = known_pairs.next_if(|p| p.colliders == (a, b));
            let state = known.map_or_else(|| ShearState::new(normal), |p| p.state);
            let acts_at = y + normal * (0.5 * (distance + t.sphere.radius - s.sphere.radius));
            let are_spheres = !(s.is_bounding || t.is_bounding);
            let is_apart = !are_spheres && bounds.is_apart((a, b));
            if let Some(meter) = meter.filter(|_| !are_spheres) {
                meter.add(if is_apart { PairSearch::Excluded } else { PairSearch::Searched });
            }
            let is_computed = !is_apart || meter.is_some_and(|m| m.bounds == SearchBounds::Ignored);
            if !is_computed {
                continue;
            }
            has_grains |= !are_spheres;
            let status = if is_apart {
                PairStatus::Excluded
            } else if are_spheres {
                PairStatus::Touching
            } else {
                PairStatus::Unresolved { was_touching: known.is_some() }
            };
            let force = V3::zeros();
            self.pairs.push(ConvexPair { colliders: (a, b), status, state, force, acts_at, distance: 0.0 });
        }
        Ok((has_grains, has_solids))
    }

    /// Adds the forces of pairs to the loads of their particles, in the order of the pairs.
    pub(super) fn add_up_pairs(&mut self) {
        let Self { pairs, solid_pairs, colliders, motions, loads, .. } = self;
        let mut add = |pair: (u32, u32), force: &V3, acts_at: &P3| {
            let [i, j] = [pair.0, pair.1].map(|k| colliders[k as usize].particle as usize);
            for (k, force) in [(i, *force), (j, -force)] {
                let load: &mut Load = &mut loads[k];
                load.force += force;
                load.moment += (acts_at - motions[k].center).cross(&force);
            }
        };
        pairs.iter().for_each(|pair| add(pair.colliders, &pair.force, &pair.acts_at));
        for pair in solid_pairs.iter() {
            pair.forces.iter().for_each(|(force, acts_at)| add(pair.colliders, force, acts_at));
        }
    }
}

/// Distance between bounding spheres up to which the broad phase lists pairs in advance, as a multiple
/// of the largest radius. With a larger margin it lists more pairs in vain; with a smaller one it
/// computes more distances.
const BROAD_PHASE_MARGIN: f64 = 0.1;
