//! Random pairs of solids at a set distance from contact, and checks of what queries report there.
//!
//! [`solids`] loads the solids of a folder, [`contact`] moves a random pair to a contact, [`check`]
//! compares queries at a set gap from it, and [`passing`] examines a motion through or past it. The
//! programs `near_contact` and `free_motions` use them.

pub mod check;
pub mod contact;
pub mod passing;
pub mod solids;
