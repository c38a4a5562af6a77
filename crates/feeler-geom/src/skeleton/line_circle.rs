//! Placeholder.

use super::solve::Job;

/// Nothing yet.
pub(super) fn solve(_job: &mut Job<'_>) {}
