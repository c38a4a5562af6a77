//! Ctrl-C: what was finished stays, what was being written goes.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status of an interrupted program, as shells have it.
const INTERRUPTED: i32 = 130;

/// Makes SIGINT, SIGTERM and SIGHUP end the process without temporary files left behind. Call once.
pub(crate) fn tidy_up_on_interrupt() {
    // Without a handler the process ends all the same, and the next run tidies up.
    let _ = ctrlc::set_handler(|| {
        let halt = feeler_hierarchy::whole::halt_writers();
        let message =
            "\nfeeler: interrupted; finished files are whole, and the same command goes on with the rest";
        let _ = writeln!(std::io::stderr(), "{message}");
        // The process ends while the writers are halted.
        let _halt = halt;
        std::process::exit(INTERRUPTED);
    });
}

/// Whether somebody wants the process to end.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Makes SIGINT, SIGTERM and SIGHUP ask for an end, which [`is_wanted`] tells from then on; the second one
/// ends the process at once, without temporary files left behind. Call once.
pub(crate) fn ask_on_interrupt() {
    // Without a handler the process ends all the same.
    let _ = ctrlc::set_handler(|| {
        if WANTED.swap(true, Ordering::Relaxed) {
            let _halt = feeler_hierarchy::whole::halt_writers();
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Whether an end is asked for.
pub(crate) fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// Ends the process as an interrupted one, with a message.
pub(crate) fn end(err: &mut dyn std::io::Write, message: &str) -> ! {
    let _ = writeln!(err, "\nfeeler: {message}");
    std::process::exit(INTERRUPTED);
}
