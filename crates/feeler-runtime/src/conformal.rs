//! Samples of conformal sets.

use crate::QueryOptions;
use crate::filter::Accepted;
use crate::solve::{Context, Solved};

/// Reused memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {}

/// Adds samples.
pub(crate) fn sample(
    _ctx: &Context<'_>,
    _solved: &Solved,
    _leaf_pairs: &[(u32, u32)],
    _options: &QueryOptions,
    _scratch: &mut Scratch,
    _accepted: &mut Vec<Accepted>,
) {
}
