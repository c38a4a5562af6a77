//! Handlers of Ctrl-C and other signals: finished files remain, temporary files are removed.

use feeler_assembly::Progress;
use std::cell::RefCell;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status of a program that a signal has interrupted, by the convention of shells.
const INTERRUPTED: i32 = 130;

/// Whether commands handle signals.
static IS_ENABLED: AtomicBool = AtomicBool::new(false);

/// Makes commands handle SIGINT, SIGTERM and SIGHUP, which end the process. Call this in a program whose only
/// purpose is to run a command; otherwise signals belong to the program that calls [`run`](crate::run).
pub fn enable() {
    IS_ENABLED.store(true, Ordering::Relaxed);
}

/// Makes SIGINT, SIGTERM and SIGHUP end the process without leaving temporary files, if signals are handled.
/// Call once.
pub(crate) fn tidy_up_on_interrupt() {
    if !IS_ENABLED.load(Ordering::Relaxed) {
        return;
    }
    // Without a handler, the process ends as well, and the next run removes the temporary files.
    let _ = ctrlc::set_handler(|| {
        let halt = feeler_hierarchy::whole::halt_writers();
        let message =
            "\nfeeler: interrupted; finished files are complete, the same command continues with the rest";
        let _ = writeln!(std::io::stderr(), "{message}");
        // The writers stay halted until the process ends.
        let _halt = halt;
        std::process::exit(INTERRUPTED);
    });
}

/// Whether a signal has requested the end of the process.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Makes SIGINT, SIGTERM and SIGHUP request the end of the process; [`is_wanted`] returns whether there
/// was a request. A second signal ends the process immediately, without leaving temporary files. Call
/// once. Without effect if signals are not handled.
pub(crate) fn ask_on_interrupt() {
    if !IS_ENABLED.load(Ordering::Relaxed) {
        return;
    }
    // Without a handler, the process ends at the first signal.
    let _ = ctrlc::set_handler(|| {
        if WANTED.swap(true, Ordering::Relaxed) {
            let _halt = feeler_hierarchy::whole::halt_writers();
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Whether a signal has requested the end of the process, after [`ask_on_interrupt`].
pub(crate) fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

thread_local! {
    /// Progress of the computation of this thread, which another thread may stop.
    static PROGRESS: RefCell<Option<Arc<Progress>>> = const { RefCell::new(None) };
}

/// Runs commands on this thread that end early once `progress` is stopped, as far as they can continue later.
pub fn with_progress<T>(progress: &Arc<Progress>, commands: impl FnOnce() -> T) -> T {
    PROGRESS.set(Some(progress.clone()));
    let result = commands();
    PROGRESS.set(None);
    result
}

/// Progress of the computation of this thread, if [`with_progress`] runs it.
pub(crate) fn progress() -> Option<Arc<Progress>> {
    PROGRESS.with_borrow(Clone::clone)
}

/// Ends the process with a message and the exit status of an interruption, if signals are handled.
///
/// # Errors
/// The message, if signals belong to the calling program.
pub(crate) fn end(err: &mut dyn std::io::Write, message: &str) -> anyhow::Result<()> {
    if !IS_ENABLED.load(Ordering::Relaxed) {
        anyhow::bail!("{message}");
    }
    let _ = writeln!(err, "\nfeeler: {message}");
    std::process::exit(INTERRUPTED);
}
