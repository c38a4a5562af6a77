//! Progress bar over the rows of the series of a run.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Progress bar on stderr of a run with `rows` rows, `done` of which exist already. It is hidden unless
/// stderr is a terminal and the bar is wanted.
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
