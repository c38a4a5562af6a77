//! What is told about two posed solids on request, and costs more than a query.
//!
//! Each of these asks for itself: what earlier queries of the pair have found is neither used nor changed.
//!
//! # Source
//! MATH §15.

mod separate;
