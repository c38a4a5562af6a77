//! Progress bar of `feeler preprocess`, weighted by the sizes of the files.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Progress bar on stderr, hidden unless stderr is a terminal and there are several inputs.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    done: usize,
    total: usize,
}

impl Progress {
    /// Creates a bar for inputs whose sizes (bytes) are `sizes`. The remaining time is estimated from
    /// the sizes.
    pub(super) fn new(sizes: &[u64], is_wanted: bool) -> Self {
        let shown = is_wanted && sizes.len() > 1 && std::io::stderr().is_terminal();
        let bar = if shown {
            let bytes = sizes.iter().map(|s| weight(*s)).sum();
            let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
            let template = "{wide_bar} {msg}, {binary_bytes_per_sec}, {left} left";
            // If the template is rejected, the default style is used.
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.with_key("left", |s: &ProgressState, w: &mut dyn std::fmt::Write| {
                // A failed write affects only the bar.
                let _ = write!(w, "{}", indicatif::HumanDuration(s.eta()));
            }));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        } else {
            ProgressBar::hidden()
        };
        let progress = Self { bar, done: 0, total: sizes.len() };
        progress.count();
        progress
    }

    /// Counts a finished input of `size` bytes.
    pub(super) fn done(&mut self, size: u64) {
        self.done += 1;
        self.count();
        self.bar.inc(weight(size));
    }

    /// Hides the bar while a function writes to stderr.
    pub(super) fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        self.bar.suspend(f)
    }

    fn count(&self) {
        self.bar.set_message(format!("{}/{} files", self.done, self.total));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Part of the bar for a file, in bytes: its size, but at least 4096 because small files take time as
/// well.
fn weight(size: u64) -> u64 {
    size.max(1 << 12)
}
