//! Walls: triangles, exact solids and planes, with their rigid motions.

use super::error::SimulationError;
use super::plane_patch::frame;
use crate::contact::WallContact;
use crate::exact::{ExactWall, WallError};
use crate::facets::{FacetError, FacetWall, WallMotion};
use crate::rotation::advanced_pose;
use feeler_geom::{P3, Pose, V3};
use serde::{Deserialize, Serialize};

/// Prescribed motion of a rigid wall, which does not react to forces.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigidMotion {
    /// Velocity of the reference point (mm/s, world).
    pub velocity: V3,
    /// Angular velocity (rad/s, world).
    pub spin: V3,
    /// Reference point (world), which moves with `velocity`.
    pub center: P3,
}

impl RigidMotion {
    fn is_finite(&self) -> bool {
        let numbers = self.velocity.iter().chain(self.spin.iter()).chain(self.center.iter());
        numbers.copied().all(f64::is_finite)
    }

    fn velocity_at(&self, p: &P3) -> (V3, V3) {
        (self.velocity + self.spin.cross(&(p - self.center)), self.spin)
    }
}

/// Returns the velocity (mm/s) of the point `point` of a wall, and the wall's angular velocity (rad/s),
/// all in the world; 0 for a wall without a motion.
#[inline]
pub(super) fn velocity_at(motion: &Option<RigidMotion>, point: &P3) -> (V3, V3) {
    motion.map_or((V3::zeros(), V3::zeros()), |m| m.velocity_at(point))
}

/// Wall that fills a half-space: its material is behind a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneWall {
    /// Point of the plane and its unit normal, in the wall's coordinates.
    local: (P3, V3),
    /// Pose that maps coordinates in which the plane is z = 0 to those of the wall.
    local_frame: Pose,
    /// Point of the plane (world); its unit normal (world) is `normal`.
    point: P3,
    normal: V3,
    pose: Pose,
    motion: Option<RigidMotion>,
}

impl PlaneWall {
    /// Creates a plane at rest through `point` (mm). The normal points away from the material and may
    /// have any length but 0.
    ///
    /// # Errors
    /// The normal is zero, or a number is not finite.
    pub fn new(point: P3, normal: V3) -> Result<Self, SimulationError> {
        let length = normal.norm();
        if !(length > 0.0 && length.is_finite() && point.iter().all(|c| c.is_finite())) {
            return Err(SimulationError::Particle(
                "a plane needs a finite point and a finite normal other than 0",
            ));
        }
        let normal = normal / length;
        let local_frame = frame(&point, &normal);
        Ok(Self { local: (point, normal), local_frame, point, normal, pose: Pose::identity(), motion: None })
    }

    /// Pose that maps coordinates in which the plane is z = 0 to the world.
    pub(super) fn frame(&self) -> Pose {
        // A frame computed from the normal in the world would jump as the normal turns.
        self.pose * self.local_frame
    }

    /// Signed distance (mm) of a point (world) from the plane, positive in front.
    #[inline]
    pub(super) fn height(&self, point: &P3) -> f64 {
        self.normal.dot(&(point - self.point))
    }

    pub(super) fn normal(&self) -> &V3 {
        &self.normal
    }

    pub(super) fn motion(&self) -> &Option<RigidMotion> {
        &self.motion
    }

    fn set_pose(&mut self, pose: Pose) {
        (self.pose, self.point, self.normal) = (pose, pose * self.local.0, pose.rotation * self.local.1);
    }
}

/// Wall that is an exact solid and moves as a rigid body; `None` in `motion` means that it is at rest.
#[derive(Clone, Debug)]
pub struct SolidWall {
    pub(super) exact: ExactWall,
    pub(super) motion: Option<RigidMotion>,
}

/// A wall of a simulation.
#[derive(Clone, Debug)]
pub enum Wall {
    /// A wall of triangles.
    Facets(Box<FacetWall>),
    /// A wall that is an exact solid.
    Exact(Box<SolidWall>),
    /// A half-space behind a plane.
    Plane(Box<PlaneWall>),
}

/// Contact of a collider with a wall (world), with the motion of the wall there.
#[derive(Clone, Copy, Debug)]
pub(super) struct MovingWallContact {
    pub(super) contact: WallContact,
    /// Point (mm, world) at which the contact force acts: the middle of the overlap.
    pub(super) acts_at: P3,
    /// Velocity (mm/s) of the wall at `acts_at`.
    pub(super) velocity: V3,
    /// Angular velocity (rad/s) of the wall.
    pub(super) spin: V3,
    /// Effective radius (mm) for Hertz's law; `None` if it has to be computed from the shape's radius
    /// and the wall's curvatures.
    pub(super) effective_radius: Option<f64>,
}

impl MovingWallContact {
    /// Creates a contact with `effective_radius` `None`. `velocity_at` returns the velocity (mm/s) and
    /// the angular velocity (rad/s) of the wall at a point (world).
    #[inline]
    pub(super) fn new(contact: WallContact, velocity_at: impl FnOnce(&P3) -> (V3, V3)) -> Self {
        let acts_at = contact.point + contact.normal * (0.5 * contact.gap);
        let (velocity, spin) = velocity_at(&acts_at);
        Self { contact, acts_at, velocity, spin, effective_radius: None }
    }
}

impl From<FacetWall> for Wall {
    fn from(wall: FacetWall) -> Self {
        Self::Facets(Box::new(wall))
    }
}

impl From<PlaneWall> for Wall {
    fn from(wall: PlaneWall) -> Self {
        Self::Plane(Box::new(wall))
    }
}

impl From<ExactWall> for Wall {
    fn from(exact: ExactWall) -> Self {
        Self::Exact(Box::new(SolidWall { exact, motion: None }))
    }
}

impl Wall {
    /// Pose of the wall, which maps its coordinates to the world.
    #[must_use]
    pub fn pose(&self) -> &Pose {
        match self {
            Self::Facets(wall) => wall.pose(),
            Self::Exact(solid) => solid.exact.pose(),
            Self::Plane(wall) => &wall.pose,
        }
    }

    /// Sets the pose of the wall. The change is not a motion: contacts receive no velocity from it.
    ///
    /// # Errors
    /// A number is not finite.
    pub fn set_pose(&mut self, pose: Pose) -> Result<(), SimulationError> {
        let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
        if !numbers.copied().all(f64::is_finite) {
            return Err(SimulationError::Particle("the pose of a wall must be finite"));
        }
        match self {
            Self::Facets(wall) => wall.set_pose(pose),
            Self::Exact(solid) => {
                solid
                    .exact
                    .set_pose(&pose)
                    .map_err(|_: WallError| SimulationError::Particle("the pose of a wall must be finite"))?;
            }
            Self::Plane(wall) => wall.set_pose(pose),
        }
        Ok(())
    }

    /// Sets the rigid motion of the wall from now on; with `None` the wall is at rest.
    ///
    /// # Errors
    /// A number is not finite.
    pub fn set_motion(&mut self, motion: Option<RigidMotion>) -> Result<(), SimulationError> {
        if motion.is_some_and(|m| !m.is_finite()) {
            return Err(SimulationError::Particle("velocities of walls must be finite"));
        }
        match self {
            Self::Facets(wall) => {
                let motion = motion.map_or(WallMotion::Still, |m| WallMotion::Rigid {
                    velocity: m.velocity,
                    spin: m.spin,
                    center: m.center,
                });
                wall.set_motion(motion)
                    .map_err(|_| SimulationError::Particle("velocities of walls must be finite"))?;
            }
            Self::Exact(solid) => solid.motion = motion,
            Self::Plane(wall) => wall.motion = motion,
        }
        Ok(())
    }

    /// Moves the wall by its motion over a time (s).
    pub(super) fn advance(&mut self, time: f64) -> Result<(), FacetError> {
        match self {
            Self::Facets(wall) => wall.advance(time)?,
            Self::Exact(solid) => {
                if let Some(m) = &mut solid.motion {
                    let pose = advanced_pose(solid.exact.pose(), &m.velocity, &m.spin, &mut m.center, time);
                    let lost = |_| FacetError::Setting("the wall has left all finite positions");
                    solid.exact.set_pose(&pose).map_err(lost)?;
                }
            }
            Self::Plane(wall) => {
                if let Some(mut m) = wall.motion {
                    wall.set_pose(advanced_pose(&wall.pose, &m.velocity, &m.spin, &mut m.center, time));
                    wall.motion = Some(m);
                }
            }
        }
        Ok(())
    }

    /// Reference point (world) of the moments on the wall: the reference point of its motion. For a wall
    /// at rest it is the origin of the wall's coordinates, for a plane at rest its point.
    #[must_use]
    pub fn reference(&self) -> P3 {
        match self {
            Self::Facets(wall) => wall.reference(),
            Self::Exact(solid) => {
                solid.motion.map_or_else(|| solid.exact.pose().translation.vector.into(), |m| m.center)
            }
            Self::Plane(wall) => wall.motion.map_or(wall.point, |m| m.center),
        }
    }
}
