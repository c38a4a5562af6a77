//! Contacts of particles with walls, as laws of forces need them.

use feeler_geom::{P3, V3};

/// Contact of a particle with a wall, or a small gap between them. Points and normals are in the frame
/// in which the position of the particle was given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallContact {
    /// Identity of the contact, which persists from step to step. Shear states are stored under it.
    pub id: u64,
    /// Contact point on the wall's surface (mm). It is the point of the wall nearest to the particle or,
    /// if the two overlap, the point of the wall deepest inside the particle.
    pub point: P3,
    /// Unit normal from the wall to the particle.
    pub normal: V3,
    /// Distance (mm) between the two surfaces along the normal; negative if they overlap.
    pub gap: f64,
    /// Principal curvatures of the wall at `point` (1/mm), the larger one first. They are positive where
    /// the wall bulges towards the particle. One is infinite on an edge, both are infinite at a vertex.
    pub curvatures: [f64; 2],
}
