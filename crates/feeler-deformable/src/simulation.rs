//! Bodies, gravity, time steps and energies.

use crate::body::Body;
use crate::contact::{Contact, ContactSettings, sphere_feature};
use crate::deformable::DeformableBody;
use crate::error::DeformableError;
use crate::hierarchy::{Hierarchy, PairStatus, SearchCounts};
use crate::rigid::RigidBody;
use crate::smooth::{SmoothContact, SmoothSearch};
use crate::surface;
use feeler_geom::{P3, V3};
use nalgebra::UnitQuaternion;

/// Index of a body in a [`Simulation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(crate) usize);

impl BodyId {
    /// Number of bodies that were added earlier, as in [`PairStatus::bodies`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// Energies of all bodies (mJ).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Kinetic energy of bodies whose motion is not prescribed.
    pub kinetic: f64,
    /// Strain energy.
    pub strain: f64,
    /// Potential energy of contacts.
    pub contact: f64,
    /// Potential energy of gravity; 0 at the origin.
    pub gravity: f64,
}

impl Energies {
    /// Sum of all energies (mJ). It changes by the work of friction, damping and prescribed motions only, up
    /// to the error of the time steps.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.kinetic + self.strain + self.contact + self.gravity
    }
}

/// Bodies in contact, which move by explicit central differences.
///
/// A step changes the velocities by half of the accelerations, moves the nodes, computes the forces and
/// changes the velocities by the other half. Velocities and positions refer to the same time. All sums have a
/// fixed order, so a run has the same bits every time.
#[derive(Clone, Debug)]
pub struct Simulation {
    settings: ContactSettings,
    gravity: V3,
    bodies: Vec<Body>,
    /// Numbers of nodes, facets and shapes of each body when it was added.
    sizes: Vec<[usize; 3]>,
    hierarchy: Hierarchy,
    contacts: Vec<Contact>,
    smooth: SmoothSearch,
    smooth_contacts: Vec<SmoothContact>,
    time: f64,
    /// Whether the forces belong to the current positions.
    has_forces: bool,
}

impl Simulation {
    /// Creates a simulation without bodies and gravity.
    ///
    /// # Errors
    /// A setting is outside its range.
    pub fn new(settings: ContactSettings) -> Result<Self, DeformableError> {
        settings.check()?;
        Ok(Self {
            settings,
            gravity: V3::zeros(),
            bodies: Vec::new(),
            sizes: Vec::new(),
            hierarchy: Hierarchy::default(),
            contacts: Vec::new(),
            smooth: SmoothSearch::default(),
            smooth_contacts: Vec::new(),
            time: 0.0,
            has_forces: false,
        })
    }

    /// Sets the acceleration of gravity (mm/s²).
    ///
    /// # Errors
    /// The acceleration is not finite.
    pub fn set_gravity(&mut self, gravity: V3) -> Result<(), DeformableError> {
        if !gravity.iter().all(|c| c.is_finite()) {
            return Err(DeformableError::VelocityNotFinite);
        }
        self.gravity = gravity;
        self.has_forces = false;
        Ok(())
    }

    /// Adds a body, whose surface is one piece of the contact search.
    ///
    /// # Errors
    /// The simulation has more bodies or features than a `u32` can count.
    pub fn add(&mut self, body: impl Into<Body>) -> Result<BodyId, DeformableError> {
        let body = body.into();
        let pieces = vec![0; body.facets().len()];
        self.add_in_pieces(body, &pieces)
    }

    /// Adds a body whose surface is divided into pieces; `pieces` has one index for each of [`Body::facets`].
    /// Contacts do not depend on the pieces. The search is fastest if the pieces are nearly convex.
    ///
    /// # Errors
    /// The number of entries differs from the number of facets, or the simulation has more bodies or features
    /// than a `u32` can count.
    pub fn add_in_pieces(
        &mut self,
        body: impl Into<Body>,
        pieces: &[u32],
    ) -> Result<BodyId, DeformableError> {
        let body = body.into();
        let count = body.facets().len();
        if pieces.len() != count || pieces.iter().any(|&p| p as usize >= count) {
            return Err(DeformableError::Pieces { given: pieces.len(), count });
        }
        let id = self.bodies.len();
        if u32::try_from(id).is_err() {
            return Err(DeformableError::TooLarge);
        }
        let nodes = match &body {
            Body::Deformable(b) => b.reference(),
            Body::Rigid(b) => b.positions(),
        };
        let features = if body.nodes().positions.is_empty() {
            Vec::new()
        } else if body.facets().is_empty() {
            vec![sphere_feature()]
        } else {
            surface::features(nodes, body.facets(), pieces)
        };
        self.smooth.add(id, &body);
        self.sizes.push(body.sizes());
        self.bodies.push(body);
        self.hierarchy.add(&self.bodies, features)?;
        self.has_forces = false;
        Ok(BodyId(id))
    }

    /// All bodies in the order of their addition.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Deformable body with an id; `None` if it does not exist or is rigid.
    #[must_use]
    pub fn deformable(&self, id: BodyId) -> Option<&DeformableBody> {
        match self.bodies.get(id.0)? {
            Body::Deformable(b) => Some(b),
            Body::Rigid(_) => None,
        }
    }

    /// Rigid body with an id; `None` if it does not exist or is deformable.
    #[must_use]
    pub fn rigid(&self, id: BodyId) -> Option<&RigidBody> {
        match self.bodies.get(id.0)? {
            Body::Rigid(b) => Some(b),
            Body::Deformable(_) => None,
        }
    }

    /// Changes the prescribed motions and velocities of a deformable body between steps.
    ///
    /// # Errors
    /// The body does not exist or is rigid, `change` fails, or it replaces the body by one with other numbers
    /// of nodes or facets. After a replacement, steps fail until the numbers are restored.
    pub fn change_deformable(
        &mut self,
        id: BodyId,
        change: impl FnOnce(&mut DeformableBody) -> Result<(), DeformableError>,
    ) -> Result<(), DeformableError> {
        match self.bodies.get_mut(id.0) {
            Some(Body::Deformable(b)) => {
                let changed = change(b);
                // Bounds of distances do not follow positions that are set from outside.
                if b.take_relocated() {
                    self.hierarchy.invalidate(id.0, self.settings.trees);
                    self.smooth.invalidate(id.0);
                }
                self.has_forces = false;
                changed?;
                self.check_size(id.0)
            }
            _ => Err(DeformableError::UnknownBody(id.0)),
        }
    }

    /// Changes the motion of a rigid body between steps. The contact search keeps the exact shapes with which
    /// the body was added.
    ///
    /// # Errors
    /// The body does not exist or is deformable, `change` fails, or it replaces the body by one with other
    /// numbers of nodes, facets or shapes. After a replacement, steps fail until the numbers are restored.
    pub fn change_rigid(
        &mut self,
        id: BodyId,
        change: impl FnOnce(&mut RigidBody) -> Result<(), DeformableError>,
    ) -> Result<(), DeformableError> {
        match self.bodies.get_mut(id.0) {
            Some(Body::Rigid(b)) => {
                let place = |b: &RigidBody| (weighted_sum(b.positions()), b.center(), b.rotation());
                let before = place(b);
                let changed = change(b);
                // Bounds of distances do not follow positions that are set from outside.
                if place(b) != before {
                    self.hierarchy.invalidate(id.0, self.settings.trees);
                    self.smooth.invalidate(id.0);
                }
                self.has_forces = false;
                changed?;
                self.check_size(id.0)
            }
            _ => Err(DeformableError::UnknownBody(id.0)),
        }
    }

    /// Fails if the body has been replaced by one of another kind.
    fn check_size(&self, id: usize) -> Result<(), DeformableError> {
        let is_same = self.bodies[id].sizes() == self.sizes[id];
        if is_same { Ok(()) } else { Err(DeformableError::Replaced(id)) }
    }

    /// Removes the exact shapes of a rigid body, which has no contacts afterwards. The body remains, so that
    /// the indices of other bodies do not change.
    ///
    /// # Errors
    /// The body does not exist, is deformable, or has no exact shape.
    pub fn remove_shapes(&mut self, id: BodyId) -> Result<(), DeformableError> {
        match self.bodies.get_mut(id.0) {
            Some(Body::Rigid(b)) if b.shapes().is_some() => {
                b.remove_shapes();
                self.sizes[id.0] = self.bodies[id.0].sizes();
                self.smooth.remove(id.0);
                self.has_forces = false;
                Ok(())
            }
            _ => Err(DeformableError::UnknownBody(id.0)),
        }
    }

    /// Moves a rigid body along a path that is given step by step: the body reaches the position of its
    /// centre (mm) and the rotation at the end of the next step, with the given velocity (mm/s) and angular
    /// velocity (rad/s) there, and rests there in later steps. The forces at the present positions remain
    /// valid, so this call costs less than [`Simulation::change_rigid`] in every step.
    ///
    /// # Errors
    /// The body does not exist or is deformable, or a number is not finite.
    pub fn move_rigid(
        &mut self,
        id: BodyId,
        center: P3,
        rotation: UnitQuaternion<f64>,
        velocity: V3,
        angular_velocity: V3,
    ) -> Result<(), DeformableError> {
        match self.bodies.get_mut(id.0) {
            Some(Body::Rigid(b)) => b.move_to(center, rotation, velocity, angular_velocity),
            _ => Err(DeformableError::UnknownBody(id.0)),
        }
    }

    /// Time since the start (s).
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Energies after the last step.
    #[must_use]
    pub fn energies(&self) -> Energies {
        let mut out = Energies::default();
        for body in &self.bodies {
            out.kinetic += body.kinetic_energy();
            out.strain += body.strain_energy();
            out.gravity += body.gravity_energy(&self.gravity);
        }
        out.contact = self.contacts.iter().fold(0.0, |sum, c| sum + c.energy);
        out.contact += self.smooth_contacts.iter().fold(0.0, |sum, c| sum + c.energy);
        out
    }

    /// Largest overlap of the skins of two bodies, or of a skin and an exact shape, after the last step (mm);
    /// 0 without contact.
    #[must_use]
    pub fn max_overlap(&self) -> f64 {
        let overlaps = self.contacts.iter().map(|c| c.overlap);
        overlaps.chain(self.smooth_contacts.iter().map(|c| c.overlap)).fold(0.0, f64::max)
    }

    /// Counts of the contact search.
    #[must_use]
    pub fn search_counts(&self) -> SearchCounts {
        SearchCounts { signed_distances: self.smooth.evaluations, ..self.hierarchy.counts }
    }

    /// Status of all pairs of pieces of different bodies, after the last step. Pairs with exact shapes are
    /// not among them.
    pub fn pairs(&self) -> impl Iterator<Item = PairStatus> {
        self.hierarchy.pairs()
    }

    /// Distance of the convex hulls of a pair of pieces minus their skins (mm), computed from the current
    /// positions; `pair` counts in the order of [`Simulation::pairs`]. Returns `None` if the pair does not
    /// exist. The computation does not change [`Simulation::search_counts`].
    #[must_use]
    pub fn exact_distance(&self, pair: usize) -> Option<f64> {
        self.hierarchy.exact_distance(&self.bodies, pair)
    }

    /// Time step (s) that is stable while every surface node has at most `contacts` contacts. Without
    /// contacts the step is 2/ω with the bound of [`DeformableBody::max_eigenvalue`]: it is at most the
    /// largest stable step for small strains. The part of contacts is an estimate. Infinite if the
    /// simulation has neither deformable bodies nor contacts.
    #[must_use]
    pub fn stable_step(&self, contacts: u32) -> f64 {
        let elements = self.bodies.iter().map(Body::max_eigenvalue).fold(0.0, f64::max);
        let unit = self.bodies.iter().map(Body::unit_contact_rate).fold(0.0, f64::max);
        2.0 / (elements + f64::from(contacts) * self.settings.penalty * unit).sqrt()
    }

    /// Advances all bodies by `step` (s). After an error in the middle of a step, the positions are not
    /// usable for further steps.
    ///
    /// # Errors
    /// The step is not positive or exceeds the stable step of the elements and the contacts, an element is
    /// inverted, a number is not finite, or a pair of bodies moves too fast or is pressed too hard for its
    /// skins.
    pub fn step(&mut self, step: f64) -> Result<(), DeformableError> {
        if !(step.is_finite() && step > 0.0) {
            return Err(DeformableError::Step(step));
        }
        (0..self.bodies.len()).try_for_each(|id| self.check_size(id))?;
        if !self.has_forces {
            self.compute_forces(true)?;
        }
        self.check_step(step)?;
        for body in &mut self.bodies {
            body.kick_and_drift(step);
        }
        self.has_forces = false;
        self.compute_forces(false)?;
        for body in &mut self.bodies {
            body.kick(step);
        }
        self.time += step;
        Ok(())
    }

    /// Fails if the step exceeds 2/ω, where ω² is the bound of the elements plus the estimate of the
    /// contacts.
    fn check_step(&self, step: f64) -> Result<(), DeformableError> {
        let elements = self.bodies.iter().map(Body::max_eigenvalue).fold(0.0, f64::max);
        let contacts = self.bodies.iter().map(Body::contact_rate).fold(0.0, f64::max);
        let stable = 2.0 / (elements + contacts).sqrt();
        if step > stable { Err(DeformableError::UnstableStep { step, stable }) } else { Ok(()) }
    }

    /// Computes all forces; `is_start` if the nodes have not moved since the last search.
    fn compute_forces(&mut self, is_start: bool) -> Result<(), DeformableError> {
        let Self { settings, bodies, hierarchy, contacts, smooth, smooth_contacts, gravity, .. } = self;
        for (k, body) in bodies.iter_mut().enumerate() {
            body.compute_forces(gravity, k)?;
        }
        if is_start {
            hierarchy.start(bodies, settings)?;
        } else {
            hierarchy.update(bodies, settings)?;
        }
        hierarchy.contacts(bodies, settings, contacts)?;
        for contact in contacts.iter() {
            let [a, b, ..] = contact.key;
            bodies[a as usize].add_contact(&contact.on_side(0));
            bodies[b as usize].add_contact(&contact.on_side(1));
        }
        smooth.contacts(bodies, settings, smooth_contacts)?;
        for contact in smooth_contacts.iter() {
            let [a, b] = contact.bodies;
            bodies[a].add_contact(&contact.on_surface());
            bodies[b].add_smooth_contact(&contact.on_shape());
        }
        if let Some(node) = bodies.iter().find_map(Body::node_with_infinite_force) {
            return Err(DeformableError::NotFinite { node });
        }
        self.has_forces = true;
        Ok(())
    }
}

/// Sum of positions with different weights, which changes if the nodes are moved.
fn weighted_sum(positions: &[P3]) -> V3 {
    positions.iter().zip(1_u32..).fold(V3::zeros(), |sum, (p, k)| sum + p.coords * f64::from(k))
}
