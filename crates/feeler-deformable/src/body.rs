//! Bodies of a simulation.

use crate::deformable::DeformableBody;
use crate::error::DeformableError;
use crate::rigid::RigidBody;
use crate::shape::SmoothShape;
use crate::state::{NodalForces, NodeState, ShapeForces};
use feeler_geom::{P3, V3};

/// Deformable or rigid body.
#[derive(Clone, Debug)]
pub enum Body {
    /// Body of finite elements.
    Deformable(Box<DeformableBody>),
    /// Body with 6 degrees of freedom or a prescribed motion.
    Rigid(Box<RigidBody>),
}

impl From<DeformableBody> for Body {
    fn from(body: DeformableBody) -> Self {
        Self::Deformable(Box::new(body))
    }
}

impl From<RigidBody> for Body {
    fn from(body: RigidBody) -> Self {
        Self::Rigid(Box::new(body))
    }
}

impl Body {
    pub(crate) fn nodes(&self) -> &NodeState {
        match self {
            Self::Deformable(b) => &b.nodes,
            Self::Rigid(b) => &b.nodes,
        }
    }

    /// Node indices of the boundary triangles; empty for spheres.
    #[must_use]
    pub fn facets(&self) -> &[[u32; 3]] {
        match self {
            Self::Deformable(b) => b.facets(),
            Self::Rigid(b) => b.facets(),
        }
    }

    /// Distance of the contact surface from the triangles, or the radius of a sphere (mm).
    #[must_use]
    pub fn skin(&self) -> f64 {
        match self {
            Self::Deformable(b) => b.skin(),
            Self::Rigid(b) => b.skin(),
        }
    }

    /// Kinetic energy (mJ); 0 for a rigid body with a prescribed motion.
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        match self {
            Self::Deformable(b) => b.kinetic_energy(),
            Self::Rigid(b) => b.kinetic_energy(),
        }
    }

    /// Strain energy (mJ); 0 for a rigid body.
    #[must_use]
    pub fn strain_energy(&self) -> f64 {
        match self {
            Self::Deformable(b) => b.strain_energy(),
            Self::Rigid(_) => 0.0,
        }
    }

    /// Linear momentum (N·s); 0 for a rigid body with a prescribed motion.
    #[must_use]
    pub fn momentum(&self) -> V3 {
        match self {
            Self::Deformable(b) => b.momentum(),
            Self::Rigid(b) => b.momentum(),
        }
    }

    /// Angular momentum about the origin (N·mm·s); 0 for a rigid body with a prescribed motion.
    #[must_use]
    pub fn angular_momentum(&self) -> V3 {
        match self {
            Self::Deformable(b) => b.angular_momentum(),
            Self::Rigid(b) => b.angular_momentum(),
        }
    }

    /// Potential energy of gravity (mJ), 0 at the origin; 0 for a rigid body with a prescribed motion.
    pub(crate) fn gravity_energy(&self, gravity: &V3) -> f64 {
        match self {
            Self::Deformable(b) => -b.mass() * gravity.dot(&b.center_of_mass().coords),
            Self::Rigid(b) => -b.mass().unwrap_or(0.0) * gravity.dot(&b.center().coords),
        }
    }

    /// Smooth shapes of a rigid body; `None` for bodies with a surface of facets and spheres.
    pub(crate) fn shapes(&self) -> Option<&[Box<dyn SmoothShape>]> {
        match self {
            Self::Deformable(_) => None,
            Self::Rigid(b) => b.shapes(),
        }
    }

    /// Numbers of nodes, facets and smooth shapes, which must not change within a simulation.
    pub(crate) fn sizes(&self) -> [usize; 3] {
        let shapes = self.shapes().map_or(0, <[_]>::len);
        [self.nodes().positions.len(), self.facets().len(), shapes]
    }

    /// Transforms a point of the common frame into the frame of the smooth shape of a rigid body.
    pub(crate) fn to_shape(&self, p: &P3) -> P3 {
        match self {
            Self::Deformable(_) => *p,
            Self::Rigid(b) => b.to_shape(p),
        }
    }

    /// Rotates a vector in the frame of the smooth shape of a rigid body into the common frame.
    pub(crate) fn rotate_from_shape(&self, v: &V3) -> V3 {
        match self {
            Self::Deformable(_) => *v,
            Self::Rigid(b) => b.rotation() * v,
        }
    }

    pub(crate) fn is_fixed(&self) -> bool {
        match self {
            Self::Deformable(_) => false,
            Self::Rigid(b) => b.is_fixed(),
        }
    }

    pub(crate) fn max_eigenvalue(&self) -> f64 {
        match self {
            Self::Deformable(b) => b.max_eigenvalue(),
            Self::Rigid(_) => 0.0,
        }
    }

    pub(crate) fn contact_rate(&self) -> f64 {
        match self {
            Self::Deformable(b) => b.contact_rate(),
            Self::Rigid(b) => b.contact_rate(),
        }
    }

    pub(crate) fn unit_contact_rate(&self) -> f64 {
        match self {
            Self::Deformable(b) => b.unit_contact_rate(),
            Self::Rigid(b) => b.unit_contact_rate(),
        }
    }

    pub(crate) fn kick_and_drift(&mut self, step: f64) {
        match self {
            Self::Deformable(b) => b.kick_and_drift(step),
            Self::Rigid(b) => b.kick_and_drift(step),
        }
    }

    pub(crate) fn kick(&mut self, step: f64) {
        match self {
            Self::Deformable(b) => b.kick(step),
            Self::Rigid(b) => b.kick(step),
        }
    }

    /// Computes all forces except those of contacts. `body` is the index of this body, for errors.
    pub(crate) fn compute_forces(&mut self, gravity: &V3, body: usize) -> Result<(), DeformableError> {
        match self {
            Self::Deformable(b) => {
                b.compute_forces(gravity).map_err(|element| DeformableError::Inverted { body, element })
            }
            Self::Rigid(b) => {
                b.reset_forces(gravity);
                Ok(())
            }
        }
    }

    /// First node whose force is NaN or infinite; node 0 for the resultant of a rigid body.
    pub(crate) fn node_with_infinite_force(&self) -> Option<usize> {
        match self {
            Self::Deformable(b) => b.forces().iter().position(|f| !f.iter().all(|c| c.is_finite())),
            Self::Rigid(b) => (!b.has_finite_forces()).then_some(0),
        }
    }

    pub(crate) fn add_contact(&mut self, contact: &NodalForces<'_>) {
        match self {
            Self::Deformable(b) => b.add_contact(contact),
            Self::Rigid(b) => b.add_contact(contact),
        }
    }

    pub(crate) fn add_smooth_contact(&mut self, contact: &ShapeForces) {
        match self {
            Self::Deformable(_) => {}
            Self::Rigid(b) => b.add_smooth_contact(contact),
        }
    }

    /// Velocity (mm/s) of the point of contact `at` with the given nodes and weights.
    pub(crate) fn velocity_at(&self, nodes: &[u32], weights: &[f64], at: &P3) -> V3 {
        match self {
            Self::Deformable(b) => {
                let weighted = nodes.iter().zip(weights);
                weighted.fold(V3::zeros(), |sum, (&n, w)| sum + b.nodes.velocities[n as usize] * *w)
            }
            Self::Rigid(b) => b.velocity_at(at),
        }
    }
}
