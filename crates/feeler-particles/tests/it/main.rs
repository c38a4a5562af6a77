//! Tests of contacts and motions of particles, as one program.

mod deformable;
mod display_mesh;
mod exact;
mod external;
mod forces;
mod grains;
mod solids;
mod superellipsoid;
