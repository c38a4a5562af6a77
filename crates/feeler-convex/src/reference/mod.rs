//! Other sub-algorithms, to compare with: for tests and benches only (feature `reference`).

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

pub mod cases;
pub mod exact;
mod johnson;
mod voronoi;

pub use johnson::Johnson;
pub use voronoi::Voronoi;
