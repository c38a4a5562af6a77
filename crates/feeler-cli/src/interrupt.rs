//! Handlers of Ctrl-C and other signals: finished files remain, temporary files are removed.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status of a program that a signal has interrupted, by the convention of shells.
const INTERRUPTED: i32 = 130;

/// Makes SIGINT, SIGTERM and SIGHUP end the process without leaving temporary files. Call once.
pub(crate) fn tidy_up_on_interrupt() {
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
/// once.
pub(crate) fn ask_on_interrupt() {
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

/// Ends the process with a message and the exit status of an interruption.
pub(crate) fn end(err: &mut dyn std::io::Write, message: &str) -> ! {
    let _ = writeln!(err, "\nfeeler: {message}");
    std::process::exit(INTERRUPTED);
}
