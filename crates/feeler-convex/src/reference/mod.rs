//! Reference implementations for comparison: sub-algorithms of GJK, GJK as printed, exact distances and
//! test cases, for tests and benches only (feature `reference`).

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN must take the conservative branch")]

mod algorithm_5;
pub mod cases;
mod drop;
pub mod exact;
mod johnson;
mod voronoi;

pub use algorithm_5::{Plain, algorithm_5};
pub use drop::Drop;
pub use johnson::{Backup, Johnson, JohnsonWithBackup};
pub use voronoi::Voronoi;
