//! Intervals rounded outward.
