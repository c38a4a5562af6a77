//! From candidates to contacts: which of them are local minima, which are pressed, which are duplicates, and
//! which continue a contact of an earlier query.

pub(crate) mod dedupe;
pub(crate) mod filter;
pub(crate) mod identities;
pub(crate) mod pressed;
