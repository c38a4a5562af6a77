//! Results that persist from step to step: scenes of many bodies, the contacts of a pair for a step of a
//! simulator, contacts followed without queries, and the time of contact of a motion.

pub(crate) mod follow;
pub(crate) mod scene;
pub(crate) mod time_of_contact;
pub(crate) mod tracker;
