//! The walls that particles may meet.

use super::error::StepError;
use crate::contact::WallContact;
use crate::facets::{FacetMemory, FacetWall};
use feeler_geom::{P3, V3};

/// A plane that stands still, with the material behind it: what facets are compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneWall {
    point: P3,
    normal: V3,
}

impl PlaneWall {
    /// Through a point (mm), with a normal away from the material, of any length.
    ///
    /// # Errors
    /// No direction, numbers that are not finite.
    pub fn new(point: P3, normal: V3) -> Result<Self, StepError> {
        let length = normal.norm();
        if !(length > 0.0 && length.is_finite() && point.iter().all(|c| c.is_finite())) {
            return Err(StepError::Particle("a plane needs a finite point and a normal"));
        }
        Ok(Self { point, normal: normal / length })
    }
}

/// A wall of a simulation.
#[derive(Clone, Debug)]
pub enum Wall {
    /// Triangles.
    Facets(Box<FacetWall>),
    /// A plane.
    Plane(PlaneWall),
}

/// A contact with a wall, and how the wall moves there.
#[derive(Clone, Copy, Debug)]
pub(super) struct WallMeeting {
    pub(super) contact: WallContact,
    /// Where forces act: in the middle of the overlap.
    pub(super) at: P3,
    pub(super) velocity: V3,
    pub(super) spin: V3,
}

impl From<FacetWall> for Wall {
    fn from(wall: FacetWall) -> Self {
        Self::Facets(Box::new(wall))
    }
}

impl Wall {
    /// Contacts of a ball, and which of them have taken others in.
    pub(super) fn contacts(
        &self,
        memory: &mut FacetMemory,
        center: &P3,
        radius: f64,
        out: &mut Vec<WallMeeting>,
    ) {
        out.clear();
        match self {
            Self::Facets(wall) => {
                for found in wall.contacts(memory, center, radius) {
                    let at = found.contact.point + found.contact.normal * (0.5 * found.contact.gap);
                    let (velocity, spin) = wall.velocity_at(found.facet, &at);
                    out.push(WallMeeting { contact: found.contact, at, velocity, spin });
                }
            }
            Self::Plane(wall) => {
                let height = wall.normal.dot(&(center - wall.point));
                let gap = height - radius;
                if gap < 0.0 {
                    let point = center - wall.normal * height;
                    let contact =
                        WallContact { id: 0, point, normal: wall.normal, gap, curvatures: [0.0; 2] };
                    let at = point + wall.normal * (0.5 * gap);
                    out.push(WallMeeting { contact, at, velocity: V3::zeros(), spin: V3::zeros() });
                }
            }
        }
    }

    /// Moves on by a time (s).
    pub(super) fn advance(&mut self, time: f64) -> Result<(), crate::facets::FacetError> {
        match self {
            Self::Facets(wall) => wall.advance(time),
            Self::Plane(_) => Ok(()),
        }
    }

    /// Where moments are told about (world).
    pub(super) fn reference(&self) -> P3 {
        match self {
            Self::Facets(wall) => wall.reference(),
            Self::Plane(wall) => wall.point,
        }
    }
}
