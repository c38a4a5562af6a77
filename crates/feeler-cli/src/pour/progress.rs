//! The progress bar.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;

/// A bar on stderr over the rows, where stderr is a terminal.
pub(super) fn bar(rows: u64, done: u64, is_wanted: bool) -> ProgressBar {
    if !(is_wanted && std::io::stderr().is_terminal()) {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(rows), ProgressDrawTarget::stderr());
    let template = "{wide_bar} {msg}, {left} left";
    // A bar in the default style is still a bar.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.with_key("left", |s: &ProgressState, w: &mut dyn std::fmt::Write| {
        // Whatever cannot be written is not shown.
        let _ = write!(w, "{}", indicatif::HumanDuration(s.eta()));
    }));
    bar.set_position(done);
    bar.reset_eta();
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}
