//! Contacts of superellipsoids and poly-superellipsoids.

mod contact;
mod eroded;
mod inner;
mod placed;
mod retract;
mod second;
mod shape;
mod solve;

pub use contact::{GrainContact, Proximity, contact, proximity};
pub use eroded::Eroded;
pub use placed::Placed;
pub use shape::Grain;

#[cfg(test)]
mod tests;
