//! Data that callers see: contacts, options, verdicts, errors and tolerances.

pub(crate) mod contact;
pub(crate) mod error;
pub(crate) mod options;
pub(crate) mod tolerance;
pub(crate) mod verdict;
