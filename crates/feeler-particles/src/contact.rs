//! What forces need to know of a place where a particle and a wall are near.

use feeler_geom::{P3, V3};

/// One place where a particle and a wall are near: what forces need. In the frame of the particle's position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallContact {
    /// Lasts from step to step as long as the contact does: what friction remembers belongs to it.
    pub id: u64,
    /// The wall's point.
    pub point: P3,
    /// Unit normal from the wall to the particle.
    pub normal: V3,
    /// How far the surfaces are apart along the normal; negative where the particle is pressed in.
    pub gap: f64,
    /// Principal curvatures of the wall at the point (1/mm), the larger one first, positive where the wall
    /// bulges towards the particle; infinite across an edge, and both at a vertex.
    pub curvatures: [f64; 2],
}
