//! Reference method: contact of NURBS grains as published, for tests and benches only (feature
//! `reference`).
//!
//! [`knots()`] positions points on the slave grain, [`closest`] projects them onto the master by DIRECT
//! and a local search, and [`deepest_gap`] returns the smallest of their gaps. [`projection`] has
//! Newton's method from a guess by GJK. All functions count the evaluations of a surface or curve.
//!
//! # Source
//! NURBS §3.2, Algorithms 2 to 4; DIST §4.7, Algorithm 7.

mod direct;
mod gap;
mod knots;
pub mod projection;

pub use direct::{Closest, DirectOptions, closest};
pub use gap::{Gap, deepest_gap};
pub use knots::{KnotOptions, Knots, knots};

#[cfg(test)]
mod tests;
