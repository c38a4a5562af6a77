//! The walls that particles may meet.

use super::error::StepError;
use super::plane::frame;
use crate::contact::WallContact;
use crate::exact::{ExactWall, WallError};
use crate::facets::{FacetContact, FacetError, FacetWall, WallMotion};
use crate::rotation::moved_on;
use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex::Placed;

/// How a rigid wall moves. It obeys no equations of motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidMotion {
    /// Velocity of the reference point (mm/s).
    pub velocity: V3,
    /// Angular velocity (rad/s).
    pub spin: V3,
    /// The reference point (world), which moves along with `velocity`.
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

/// A plane with the material behind it: what facets are compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneWall {
    /// In the wall's coordinates.
    local: (P3, V3),
    /// From coordinates in which it is z = 0 to the wall's.
    flat: Pose,
    /// In the world.
    point: P3,
    normal: V3,
    pub(super) pose: Pose,
    pub(super) motion: Option<RigidMotion>,
}

impl PlaneWall {
    /// Through a point (mm), with a normal away from the material, of any length; at rest.
    ///
    /// # Errors
    /// No direction, numbers that are not finite.
    pub fn new(point: P3, normal: V3) -> Result<Self, StepError> {
        let length = normal.norm();
        if !(length > 0.0 && length.is_finite() && point.iter().all(|c| c.is_finite())) {
            return Err(StepError::Particle("a plane needs a finite point and a normal"));
        }
        let normal = normal / length;
        let flat = frame(&point, &normal);
        Ok(Self { local: (point, normal), flat, point, normal, pose: Pose::identity(), motion: None })
    }

    /// From coordinates in which it is z = 0 to the world.
    pub(super) fn frame(&self) -> Pose {
        // Not made of the normal in the world: the basis across a normal jumps where the normal turns.
        self.pose * self.flat
    }

    /// How far a point is in front of it (mm).
    pub(super) fn height(&self, point: &P3) -> f64 {
        self.normal.dot(&(point - self.point))
    }

    /// The contact of a ball.
    pub(super) fn contact(&self, center: &P3, radius: f64) -> Option<WallMeeting> {
        let height = self.height(center);
        self.met(height - radius, center - self.normal * height)
    }

    /// The contact of a grain that a ball of a radius (mm) holds.
    pub(super) fn grain_contact(&self, grain: &Placed<'_>, radius: f64) -> Option<WallMeeting> {
        if self.height(&grain.origin()) >= radius {
            return None;
        }
        let (deepest, _) = grain.surface(&-self.normal);
        let gap = self.height(&deepest);
        self.met(gap, deepest - self.normal * gap)
    }

    /// The contact with what is nearest to it, or in it, above a point of the plane.
    fn met(&self, gap: f64, point: P3) -> Option<WallMeeting> {
        if gap >= 0.0 {
            return None;
        }
        let contact = WallContact { id: 0, point, normal: self.normal, gap, curvatures: [0.0; 2] };
        let at = point + self.normal * (0.5 * gap);
        let (velocity, spin) = moving(&self.motion, &at);
        Some(WallMeeting { contact, at, velocity, spin, radius: None })
    }

    pub(super) fn set_pose(&mut self, pose: Pose) {
        (self.pose, self.point, self.normal) = (pose, pose * self.local.0, pose.rotation * self.local.1);
    }
}

/// A solid as it is, without triangles, that moves as a rigid body.
#[derive(Clone, Debug)]
pub struct SolidWall {
    pub(super) wall: ExactWall,
    pub(super) motion: Option<RigidMotion>,
}

pub(super) fn moving(motion: &Option<RigidMotion>, at: &P3) -> (V3, V3) {
    motion.map_or((V3::zeros(), V3::zeros()), |m| m.velocity_at(at))
}

/// Contacts with triangles, and how these move there.
pub(super) fn facets_met(wall: &FacetWall, found: &[FacetContact], out: &mut Vec<WallMeeting>) {
    for found in found {
        let at = found.contact.point + found.contact.normal * (0.5 * found.contact.gap);
        let (velocity, spin) = wall.velocity_at(found.facet, &at);
        out.push(WallMeeting { contact: found.contact, at, velocity, spin, radius: None });
    }
}

impl SolidWall {
    /// What it has answered, as far as it is pressed.
    pub(super) fn met(&self, asked: &[WallContact], out: &mut Vec<WallMeeting>) {
        for contact in asked.iter().filter(|c| c.gap < 0.0) {
            let at = contact.point + contact.normal * (0.5 * contact.gap);
            let (velocity, spin) = moving(&self.motion, &at);
            out.push(WallMeeting { contact: *contact, at, velocity, spin, radius: None });
        }
    }
}

/// A wall of a simulation.
#[derive(Clone, Debug)]
pub enum Wall {
    /// Triangles.
    Facets(Box<FacetWall>),
    /// A solid without triangles.
    Exact(Box<SolidWall>),
    /// A plane.
    Plane(Box<PlaneWall>),
}

/// A contact with a wall, and how the wall moves there.
#[derive(Clone, Copy, Debug)]
pub(super) struct WallMeeting {
    pub(super) contact: WallContact,
    /// Where forces act: in the middle of the overlap.
    pub(super) at: P3,
    pub(super) velocity: V3,
    pub(super) spin: V3,
    /// Effective radius (mm), where it is not that of a ball or grain on the wall.
    pub(super) radius: Option<f64>,
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
    fn from(wall: ExactWall) -> Self {
        Self::Exact(Box::new(SolidWall { wall, motion: None }))
    }
}

impl Wall {
    /// Where it is: from its coordinates to the world's.
    #[must_use]
    pub fn pose(&self) -> &Pose {
        match self {
            Self::Facets(wall) => wall.pose(),
            Self::Exact(solid) => solid.wall.pose(),
            Self::Plane(wall) => &wall.pose,
        }
    }

    /// Puts it somewhere else.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn set_pose(&mut self, pose: Pose) -> Result<(), StepError> {
        let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
        if !numbers.copied().all(f64::is_finite) {
            return Err(StepError::Particle("the pose of a wall must be finite"));
        }
        match self {
            Self::Facets(wall) => wall.set_pose(pose),
            Self::Exact(solid) => {
                solid
                    .wall
                    .set_pose(&pose)
                    .map_err(|_: WallError| StepError::Particle("the pose of a wall must be finite"))?;
            }
            Self::Plane(wall) => wall.set_pose(pose),
        }
        Ok(())
    }

    /// Chooses how it moves from now on, as a rigid body; none: not at all.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn set_motion(&mut self, motion: Option<RigidMotion>) -> Result<(), StepError> {
        if motion.is_some_and(|m| !m.is_finite()) {
            return Err(StepError::Particle("velocities of walls must be finite"));
        }
        match self {
            Self::Facets(wall) => {
                let motion = motion.map_or(WallMotion::Still, |m| WallMotion::Rigid {
                    velocity: m.velocity,
                    spin: m.spin,
                    center: m.center,
                });
                wall.set_motion(motion)
                    .map_err(|_| StepError::Particle("velocities of walls must be finite"))?;
            }
            Self::Exact(solid) => solid.motion = motion,
            Self::Plane(wall) => wall.motion = motion,
        }
        Ok(())
    }

    /// Moves on by a time (s).
    pub(super) fn advance(&mut self, time: f64) -> Result<(), FacetError> {
        match self {
            Self::Facets(wall) => wall.advance(time)?,
            Self::Exact(solid) => {
                if let Some(m) = &mut solid.motion {
                    let pose = moved_on(solid.wall.pose(), &m.velocity, &m.spin, &mut m.center, time);
                    let lost = |_| FacetError::Setting("the wall has left all finite places");
                    solid.wall.set_pose(&pose).map_err(lost)?;
                }
            }
            Self::Plane(wall) => {
                if let Some(mut m) = wall.motion {
                    wall.set_pose(moved_on(&wall.pose, &m.velocity, &m.spin, &mut m.center, time));
                    wall.motion = Some(m);
                }
            }
        }
        Ok(())
    }

    /// Where moments are told about (world).
    #[must_use]
    pub fn reference(&self) -> P3 {
        match self {
            Self::Facets(wall) => wall.reference(),
            Self::Exact(solid) => {
                solid.motion.map_or_else(|| solid.wall.pose().translation.vector.into(), |m| m.center)
            }
            Self::Plane(wall) => wall.motion.map_or(wall.point, |m| m.center),
        }
    }
}
