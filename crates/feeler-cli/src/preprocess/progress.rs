//! The progress bar.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;

/// A bar on stderr, where stderr is a terminal and there is more than one input.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    done: usize,
    total: usize,
}

impl Progress {
    /// `sizes`: of the inputs, in bytes: the time left is judged by them.
    pub(super) fn new(sizes: &[u64], wanted: bool) -> Self {
        let shown = wanted && sizes.len() > 1 && std::io::stderr().is_terminal();
        let bar = if shown {
            let bytes = sizes.iter().map(|s| weight(*s)).sum();
            let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
            let template = "{wide_bar} {msg}, {binary_bytes_per_sec}, {left} left";
            // A bar in the default style is still a bar.
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.with_key("left", |s: &ProgressState, w: &mut dyn std::fmt::Write| {
                // Whatever cannot be written is not shown.
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

    /// An input of this size is finished.
    pub(super) fn done(&mut self, size: u64) {
        self.done += 1;
        self.count();
        self.bar.inc(weight(size));
    }

    /// Does something that writes to stderr.
    pub(super) fn aside<R>(&self, f: impl FnOnce() -> R) -> R {
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

/// Small files take their time, too.
fn weight(size: u64) -> u64 {
    size.max(1 << 12)
}
