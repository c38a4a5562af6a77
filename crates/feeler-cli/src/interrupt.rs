//! Ctrl-C: what was finished stays, what was being written goes.

use std::io::Write as _;

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
