//! Contact of NURBS grains as the literature does it, to compare with: for tests and benches only (feature
//! `reference`).
//!
//! [`knots()`] places points on the slave grain, [`closest`] projects them onto the master by DIRECT and a
//! local search, [`deepest_gap`] takes the least of their gaps. [`projection`] has Newton's steps from a
//! guess that GJK gives. All count how often they evaluate a surface or curve.
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
