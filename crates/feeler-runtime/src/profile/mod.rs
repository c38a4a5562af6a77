//! Faces with a closed form as wholes: bounds of the distance between two of them.

pub(crate) mod apart;
mod coaxial;
pub(crate) mod ring;
