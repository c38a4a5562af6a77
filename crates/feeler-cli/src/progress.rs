//! Progress bars on standard error.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;

/// Progress bar of `count` items, with a template of indicatif. It is hidden if it is not wanted or
/// standard error is not a terminal.
pub(crate) fn bar(count: usize, template: &str, is_wanted: bool) -> ProgressBar {
    if !is_wanted || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
    // If the template is rejected, the default style is used.
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Template of a bar that counts pairs of parts.
pub(crate) const PAIRS: &str = "{wide_bar} {pos}/{len} pairs, {eta} left";

/// Template of a bar that counts the entries of a suite.
pub(crate) const ENTRIES: &str = "{bar:30} {pos}/{len} entries, {eta} left";
