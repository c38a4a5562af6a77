//! Long computations: on a thread of their own, with progress for a callback, until a signal interrupts them.

use crate::error::FeelerError;
use feeler::assembly::Progress;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Time between two checks for signals. With a larger value, Ctrl-C takes longer; with a smaller one, waiting
/// takes more processor time.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Size (bytes) of the stack of the thread of a computation, which is that of usual main threads. A larger
/// value reserves more address space; with a smaller one, deep recursion overflows the stack.
const STACK_SIZE: usize = 8 << 20;

/// Computes `work` on a new thread, with `threads` threads for its parallel parts (`None`: the global pool of
/// rayon), and waits for it without the GIL. Meanwhile, the calling thread passes the counts of finished and
/// of all units to `callback`, and checks for signals. If a signal handler or `callback` raises an exception,
/// the computation is requested to stop and the exception is raised at once: the computation then ends in the
/// background.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    threads: Option<u16>,
    work: impl FnOnce(&Arc<Progress>) -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    let failed = |e: &dyn std::fmt::Display| FeelerError::new_err(format!("no threads can be started: {e}"));
    let pool = threads.map(|n| rayon::ThreadPoolBuilder::new().num_threads(n.into()).build());
    let pool = pool.transpose().map_err(|e| failed(&e))?;
    let progress = Arc::new(Progress::default());
    let (sender, receiver) = sync_channel(1);
    let shared = progress.clone();
    let compute = move || {
        let all = || match pool {
            Some(pool) => pool.install(|| work(&shared)),
            None => work(&shared),
        };
        // The receiver no longer exists after an interruption.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(all)));
    };
    std::thread::Builder::new().stack_size(STACK_SIZE).spawn(compute).map_err(|e| failed(&e))?;
    let mut reported = (0, 0);
    let mut report = |is_finished: bool| {
        let (done, total) = progress.counts();
        let counts = if is_finished { (total, total) } else { (done.min(total), total) };
        match callback {
            Some(callback) if counts != reported => {
                reported = counts;
                callback.call1(counts).map(drop)
            }
            _ => Ok(()),
        }
    };
    // A receiver cannot be shared, but it can be lent to the function that runs without the GIL.
    let mut receiver = receiver;
    loop {
        let (found, lent) = py.detach(move || {
            let found = receiver.recv_timeout(CHECK_INTERVAL);
            (found, receiver)
        });
        receiver = lent;
        match found {
            Ok(Ok(result)) => {
                let result = result?;
                report(true)?;
                return Ok(result);
            }
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(e) = py.check_signals().and_then(|()| report(false)) {
                    progress.stop();
                    return Err(e);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(stopped()),
        }
    }
}

/// Error of a computation that was stopped. Callers do not see it, because the exception that stops a
/// computation is raised instead.
pub(crate) fn stopped() -> PyErr {
    FeelerError::new_err("the computation was stopped before it was finished")
}
