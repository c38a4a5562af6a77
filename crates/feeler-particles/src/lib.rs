//! Particles among walls: contacts, forces and simulations.
//!
//! A particle is a sphere, a clump of spheres, a grain (superellipsoid or poly-superellipsoid) or a solid.
//! A wall is an exact CAD solid, without triangles, a surface of triangles, whose contacts are those of one
//! surface, or a plane.
//!
//! Exact walls and particles also touch deformable bodies of the crate `feeler-deformable` ([`ExactShape`],
//! [`DeformableCoupling`]).
//!
//! Lengths are in mm, masses in kg, times in s. Forces are then in kg·mm/s² (mN), and stiffnesses of
//! materials in kg/(mm·s²) (kPa).

mod contact;
mod contact_time;
mod deformable;
mod exact;
mod facets;
mod fill;
mod law;
mod rotation;
mod sphere;
mod step;

/// The chapter on deformable bodies, whose programs are compiled and run as tests. One of them needs the
/// shapes of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/DEFORMABLE.md")]
struct DeformableChapter;

pub use contact::WallContact;
pub use deformable::{CouplingError, DeformableCoupling, ExactShape};
pub use exact::{ExactWall, ProximityCache, SuperellipsoidParticle, WallContacts, WallError};
pub use facets::{
    ActiveSides, FacetContact, FacetError, FacetHistory, FacetRegion, FacetRole, FacetWall, OverlappedFacet,
    Resolution, WallMotion,
};
pub use fill::{Amount, Class, Distribution, FillError, FillRegion, Random, deposit, fill};
pub use law::{ContactKinematics, Law, LawError, Material, ShearState};
pub use sphere::Sphere;
pub use step::{
    Load, Particle, ParticleId, ParticleMotion, PlaneWall, RigidMotion, SearchBounds, SearchCounts,
    Simulation, SimulationError, SimulationSettings, Slider, SolidWall, SphereArrays, Wall, WallForces,
    WallId,
};
