//! Particles against walls: spheres and superellipsoids meet CAD solids exactly, without triangles, and meet
//! triangles as if they were one surface.
//!
//! Lengths are in mm, masses in kg, times in s: forces in kg·mm/s² (mN), stiffnesses of materials in
//! kg/(mm·s²) (kPa).

mod contact;
mod contact_time;
mod exact;
mod facets;
mod fill;
mod law;
mod rotation;
mod step;

pub use contact::WallContact;
pub use exact::{ExactWall, ParticleState, Sphere, Superellipsoid, WallContacts, WallError};
pub use facets::{
    FacetContact, FacetError, FacetMemory, FacetTouch, FacetWall, Region, Resolution, Role, Sides, WallMotion,
};
pub use fill::{Amount, Class, Distribution, FillError, FillRegion, Random, fill};
pub use law::{Law, LawError, Material, Meeting, ShearState};
pub use step::{
    Balls, Load, Motion, Particle, Pebble, PlaneWall, RigidMotion, Settings, Simulation, SolidWall,
    StepError, Wall, WallForces,
};
