//! The walls of a simulation: their laws and loads, and their forces on one collider.

use super::Load;
use super::contact_history::{ColliderHistory, ContactScratch};
use super::error::SimulationError;
use super::force::BodyKinematics;
use super::ids::WallId;
use super::pair_queries::PairQueries;
use super::shape::PosedShape;
use super::slider::Slider;
use super::wall::Wall;
use super::wall_contacts;
use crate::contact::WallContact;
use crate::exact::{ProximityCache, WallContacts, WallError};
use crate::law::Law;
use crate::sphere::Sphere;
use feeler_geom::V3;
use feeler_grains::convex::Placed;
use feeler_runtime::QueryError;

/// Walls of a simulation with the laws of their contacts.
#[derive(Debug, Default)]
pub(super) struct Walls {
    pub(super) list: Vec<Wall>,
    laws: Vec<Law>,
    /// For each wall, whether it is enabled; particles pass through disabled walls.
    pub(super) enabled: Vec<bool>,
    /// Load on each wall in the last step.
    pub(super) loads: Vec<Load>,
    /// Sliders of the walls that react to forces; `None` for walls with a prescribed motion.
    pub(super) sliders: Vec<Option<Slider>>,
    exact_contacts: Vec<ExactContacts>,
    spheres: Vec<Sphere>,
}

/// Contacts of all colliders with one exact wall in this step, and the caches of the colliders for it.
/// It is empty for other walls.
#[derive(Debug, Default)]
struct ExactContacts {
    caches: Vec<ProximityCache>,
    found: WallContacts,
}

impl Walls {
    pub(super) fn add(&mut self, wall: Wall, law: Law) -> Result<WallId, SimulationError> {
        law.check().map_err(|error| SimulationError::Law { what: "a wall", error })?;
        self.list.push(wall);
        self.laws.push(law);
        self.enabled.push(true);
        self.loads.push(Load::default());
        self.sliders.push(None);
        self.exact_contacts.push(ExactContacts::default());
        Ok(WallId::new(self.list.len() - 1))
    }

    /// Moves all walls by their motions over a time (s).
    pub(super) fn advance(&mut self, time: f64) -> Result<(), SimulationError> {
        for (k, wall) in self.list.iter_mut().enumerate() {
            wall.advance(time).map_err(|error| SimulationError::Wall { wall: WallId::new(k), error })?;
        }
        Ok(())
    }

    /// Changes the velocities of sliding walls by gravity (mm/s², world), their constant forces and the
    /// loads of the present step, which last for a time (s).
    pub(super) fn kick(&mut self, gravity: &V3, time: f64) -> Result<(), SimulationError> {
        for ((wall, slider), load) in self.list.iter_mut().zip(&self.sliders).zip(&self.loads) {
            if let Some(slider) = slider {
                slider.kick(wall, load, gravity, time)?;
            }
        }
        Ok(())
    }

    /// Computes the contacts of all enabled exact walls with all spheres (world) and stores them by
    /// wall. For an index at which `grain` returns a grain, the contacts are those of that grain, which
    /// the sphere bounds.
    ///
    /// # Errors
    /// Returns the index among `spheres` of a sphere that is not finite or out of range.
    pub(super) fn find_exact_contacts<'g>(
        &mut self,
        spheres: impl Iterator<Item = Sphere>,
        grain: impl Fn(usize) -> Option<Placed<'g>> + Sync,
    ) -> Result<(), usize> {
        if !self.list.iter().any(|w| matches!(w, Wall::Exact(_))) {
            return Ok(());
        }
        self.spheres.clear();
        self.spheres.extend(spheres);
        for ((wall, contacts), enabled) in self.list.iter().zip(&mut self.exact_contacts).zip(&self.enabled) {
            let Wall::Exact(solid) = wall else { continue };
            if !enabled {
                continue;
            }
            let ExactContacts { caches, found } = contacts;
            solid.exact.contacts_with_grains(&self.spheres, &grain, 0.0, caches, found).map_err(
                |e| match e {
                    WallError::Position { index }
                    | WallError::Radius { index, .. }
                    | WallError::Coordinates { index, .. } => index,
                    _ => 0,
                },
            )?;
        }
        Ok(())
    }

    /// Removes the caches of the sphere with the index `position` among the spheres of
    /// [`find_exact_contacts`](Self::find_exact_contacts), because the next search will be without that
    /// sphere.
    pub(super) fn remove_sphere(&mut self, position: usize) {
        for contacts in &mut self.exact_contacts {
            if position < contacts.caches.len() {
                contacts.caches.remove(position);
            }
        }
    }

    /// Reorders the caches of spheres: the sphere at position `k` was at `order[k]` in the previous
    /// search, or is new if that is `None`. Caches affect only the speed.
    pub(super) fn reorder(&mut self, order: &[Option<u32>]) {
        for contacts in &mut self.exact_contacts {
            let old = std::mem::take(&mut contacts.caches);
            let of = |k: &Option<u32>| k.and_then(|k| old.get(k as usize).copied()).unwrap_or_default();
            contacts.caches = order.iter().map(of).collect();
        }
    }

    /// Computes the loads of all walls on one collider, and of the collider on each wall, and stores
    /// them in the collider's history, which is updated over a step of `time` (s). `position` is the
    /// index of the collider among the spheres of [`find_exact_contacts`](Self::find_exact_contacts),
    /// and `bounding` is the sphere with that index. `body` is the particle to which the collider
    /// belongs.
    ///
    /// # Errors
    /// The position of a solid is out of range.
    pub(super) fn act_on(
        &self,
        (position, bounding): (usize, &Sphere),
        shape: &PosedShape<'_>,
        body: &BodyKinematics,
        history: &mut ColliderHistory,
        queries: &mut PairQueries,
        time: f64,
    ) -> Result<(), QueryError> {
        history.load = Load::default();
        let ColliderHistory { walls: histories, load, scratch: ContactScratch { contacts, previous } } =
            history;
        for (k, wall) in self.list.iter().enumerate() {
            let history = &mut histories[k];
            history.load = Load::default();
            if !self.enabled[k] {
                continue;
            }
            let is_exact = matches!(wall, Wall::Exact(_));
            let exact: &[WallContact] =
                if is_exact { self.exact_contacts[k].found.of(position) } else { &[] };
            contacts.clear();
            wall_contacts::find(wall, shape, bounding, exact, history, queries, contacts)?;
            if contacts.is_empty() && history.shear.is_empty() {
                continue;
            }
            history.begin_step(wall, previous);
            if is_exact && !matches!(shape, PosedShape::Solid(_)) {
                previous.relabel(wall, contacts, bounding.radius);
            }
            for contact in contacts.iter() {
                let mut state = history.shear_state(previous, contact);
                let force = body.wall_force(&self.laws[k], shape, contact, &mut state, time);
                history.store(wall, contact, state);
                load.force += force;
                load.moment += (contact.acts_at - body.center).cross(&force);
                history.load.force -= force;
                history.load.moment -= (contact.acts_at - wall.reference()).cross(&force);
            }
        }
        Ok(())
    }

    /// Computes the load on each wall as the sum over all colliders, in the order of the histories.
    pub(super) fn add_up<'m>(&mut self, histories: impl Iterator<Item = &'m ColliderHistory>) {
        self.loads.fill(Load::default());
        for history in histories {
            for (sum, part) in self.loads.iter_mut().zip(&history.walls) {
                sum.force += part.load.force;
                sum.moment += part.load.moment;
            }
        }
    }
}
