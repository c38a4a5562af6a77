//! Results over time: scenes of many bodies, contacts of a pair of bodies for a step of a simulator,
//! contacts tracked without queries, and the time of contact of a motion.

pub(crate) mod follow;
pub(crate) mod scene;
pub(crate) mod time_of_contact;
pub(crate) mod tracker;
