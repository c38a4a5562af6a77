//! Grains of smooth shape, also concave: their mass, their contacts with each other, shapes fitted to points.
//!
//! `convex`: superellipsoids, poly-superellipsoids and polyhedra. [`nurbs`]: grains bounded by one closed
//! free-form surface. Walls and steps in time are those of `feeler-particles`.

pub mod nurbs;
