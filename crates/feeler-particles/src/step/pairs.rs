//! What particles do to each other: pairs that are near, their contacts and forces.

use super::bodies::{Bodies, Touch};
use super::form;
use super::solid::Asker;
use super::solid_pair::SolidPair;
use super::{CHUNK, Load, PARALLEL, Simulation, Sphere, StepError, sphere_center};
use crate::law::ShearState;
use feeler_convex::{Ball, BroadPhase, BroadPhaseError, BroadPhaseRequest};
use feeler_geom::{P3, Pose, V3};
use nalgebra::{Translation3, UnitQuaternion};
use rayon::prelude::*;

/// What lasts of the contact of two spheres, or grains.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairMemory {
    pub(super) spheres: (u32, u32),
    pub(super) stands: Stands,
    /// Its normal is where the contact of grains is looked for in the next step.
    pub(super) state: ShearState,
    /// On the first one, and where.
    pub(super) force: V3,
    pub(super) at: P3,
}

/// How a pair stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// In contact.
    Touching,
    /// Grains whose balls overlap; whether they touched in the step before.
    Near { touched: bool },
    /// Grains that do not touch.
    Apart,
}

impl PairMemory {
    /// Where the pair touches now, if it does.
    fn touch(&mut self, bodies: &Bodies<'_>) -> Option<Touch> {
        let Stands::Near { touched } = self.stands else {
            let [a, b] = [self.spheres.0, self.spheres.1].map(|k| &bodies.spheres[k as usize]);
            let [x, y] = [a, b].map(|s| sphere_center(s, &bodies.motions[s.particle as usize]));
            let apart = x - y;
            let distance = apart.norm();
            let normal = if distance > 0.0 { apart / distance } else { V3::z() };
            let (r, q) = (a.radius, b.radius);
            return Some(Touch { overlap: r + q - distance, normal, at: self.at, radius: r * q / (r + q) });
        };
        let [a, b] = [self.spheres.0, self.spheres.1].map(|k| bodies.form(k));
        let Some(found) = form::touch(&a, &b, touched.then_some(self.state.normal)) else {
            self.stands = Stands::Apart;
            return None;
        };
        self.stands = Stands::Touching;
        if !touched {
            self.state = ShearState::new(-found.normal);
        }
        self.at = found.point;
        let (r, q) = (a.radius_at(&found.normal), b.radius_at(&-found.normal));
        Some(Touch { overlap: -found.gap, normal: -found.normal, at: found.point, radius: r * q / (r + q) })
    }
}

impl Simulation {
    /// Finds what spheres do to each other.
    pub(super) fn meet_particles(&mut self, time: f64) -> Result<(), StepError> {
        std::mem::swap(&mut self.pairs, &mut self.pairs_before);
        std::mem::swap(&mut self.solid_pairs, &mut self.solid_pairs_before);
        self.pairs.clear();
        self.solid_pairs.clear();
        let Some(law) = self.settings.particles else { return Ok(()) };
        if self.present.len() < 2 {
            return Ok(());
        }
        let (grains, solids) = self.find_near()?;
        let Self { pairs, solid_pairs, spheres, motions, particles, driven, spins, .. } = self;
        let bodies = Bodies { spheres, particles, motions, spins, driven };
        let act = |pair: &mut PairMemory| {
            if let Some(touch) = pair.touch(&bodies) {
                pair.force = bodies.force(&law, pair.spheres, &touch, &mut pair.state, time);
            }
        };
        if pairs.len() < PARALLEL {
            pairs.iter_mut().for_each(act);
        } else {
            pairs.par_iter_mut().with_min_len(CHUNK).for_each(act);
        }
        if grains {
            pairs.retain(|pair| pair.stands == Stands::Touching);
        }
        if solids {
            solid_pairs.par_iter_mut().try_for_each_init(Asker::default, |asker, pair| {
                pair.act(&bodies, &law, asker, time)
                    .map_err(|_| StepError::Lost(bodies.spheres[pair.spheres.0 as usize].particle as usize))
            })?;
        }
        Ok(())
    }

    /// Lists the pairs whose balls overlap, with what is known of them: whether there are grains among them,
    /// and whether solids.
    fn find_near(&mut self) -> Result<(bool, bool), StepError> {
        let Self { poses, spheres, motions, present, .. } = self;
        poses.clear();
        poses.extend(present.iter().map(|k| {
            let s = &spheres[*k as usize];
            let at = sphere_center(s, &motions[s.particle as usize]);
            Pose::from_parts(Translation3::from(at.coords), UnitQuaternion::identity())
        }));
        if self.broad.is_none() {
            let radii = || self.present.iter().map(|k| self.spheres[*k as usize].radius);
            let largest = radii().fold(0.0, f64::max);
            let shapes: Result<Vec<Ball>, _> = radii().map(|r| Ball::new(P3::origin(), r)).collect();
            let request = BroadPhaseRequest { d_max: 0.0, margin: MARGIN * largest };
            let broad = shapes.ok().and_then(|shapes| BroadPhase::new(shapes, request).ok());
            self.broad = Some(broad.ok_or(StepError::Particle("radii of particles are out of range"))?);
        }
        let Some(broad) = &mut self.broad else { return Ok((false, false)) };
        let near = broad.step(&self.poses).map_err(|e| match e {
            BroadPhaseError::Pose(k) => {
                StepError::Lost(self.spheres[self.present[k] as usize].particle as usize)
            }
            _ => StepError::Particle("radii of particles are out of range"),
        })?;
        let is_solid = |s: &Sphere| {
            s.is_grain && self.particles[s.particle as usize].shaped.as_ref().is_some_and(|x| x.is_solid())
        };
        let (mut grains, mut solids) = (false, false);
        let mut known_solids = self.solid_pairs_before.drain(..).peekable();
        let mut known_pairs = self.pairs_before.iter().peekable();
        for (i, j) in near {
            // Numbers of spheres increase with their places among those that are there.
            let [a, b] = [i, j].map(|k| self.present[*k as usize]);
            let (s, t) = (&self.spheres[a as usize], &self.spheres[b as usize]);
            if s.particle == t.particle {
                continue;
            }
            let [x, y] = [i, j].map(|k| P3::from(self.poses[*k as usize].translation.vector));
            let apart = x - y;
            let distance = apart.norm();
            if distance >= s.radius + t.radius {
                continue;
            }
            if is_solid(s) || is_solid(t) {
                solids = true;
                while known_solids.next_if(|p| p.spheres < (a, b)).is_some() {}
                let known = known_solids.next_if(|p| p.spheres == (a, b));
                self.solid_pairs.push(known.unwrap_or_else(|| SolidPair::new((a, b))));
                continue;
            }
            let normal = if distance > 0.0 { apart / distance } else { V3::z() };
            while known_pairs.next_if(|p| p.spheres < (a, b)).is_some() {}
            let known = known_pairs.next_if(|p| p.spheres == (a, b));
            let state = known.map_or_else(|| ShearState::new(normal), |p| p.state);
            let (force, at) = (V3::zeros(), y + normal * (0.5 * (distance + t.radius - s.radius)));
            let is_of_balls = !(s.is_grain || t.is_grain);
            grains |= !is_of_balls;
            let stands =
                if is_of_balls { Stands::Touching } else { Stands::Near { touched: known.is_some() } };
            self.pairs.push(PairMemory { spheres: (a, b), stands, state, force, at });
        }
        Ok((grains, solids))
    }

    /// Adds up what particles do to each other, in the order of pairs.
    pub(super) fn add_up_pairs(&mut self) {
        let Self { pairs, solid_pairs, spheres, motions, loads, .. } = self;
        let mut add = |spheres_of: (u32, u32), force: &V3, at: &P3| {
            let [i, j] = [spheres_of.0, spheres_of.1].map(|k| spheres[k as usize].particle as usize);
            for (k, force) in [(i, *force), (j, -force)] {
                let load: &mut Load = &mut loads[k];
                load.force += force;
                load.moment += (at - motions[k].center).cross(&force);
            }
        };
        pairs.iter().for_each(|pair| add(pair.spheres, &pair.force, &pair.at));
        for pair in solid_pairs.iter() {
            pair.acts.iter().for_each(|(force, at)| add(pair.spheres, force, at));
        }
    }
}

/// How far apart spheres may be that are looked at as a pair, as a part of the largest radius.
const MARGIN: f64 = 0.1;
