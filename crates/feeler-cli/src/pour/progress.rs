//! Progress bar over the rows of the series of a run.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Creates a progress bar on stderr for a run whose time series will have `rows` rows, `done` of which
/// were computed by earlier calls of the program. The bar is hidden unless `is_wanted` is set and stderr
/// is a terminal.
pub(super) fn bar(rows: u64, done: u64, is_wanted: bool) -> ProgressBar {
    if !(is_wanted && std::io::stderr().is_terminal()) {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(rows), ProgressDrawTarget::stderr());
    let template = "{wide_bar} {msg}, {left} left";
    // If the template is rejected, the default style is used.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.with_key("left", |s: &ProgressState, w: &mut dyn std::fmt::Write| {
        // A value that cannot be written is not displayed.
        let _ = write!(w, "{}", indicatif::HumanDuration(s.eta()));
    }));
    bar.set_position(done);
    bar.reset_eta();
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}
