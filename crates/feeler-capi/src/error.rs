//! Results and messages of calls.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Outcome of a call. [`feeler_last_error`] returns the message of a failed call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerResult {
    /// The call succeeded.
    Ok = 0,
    /// Invalid argument: a pointer is NULL that must not be, a string is not UTF-8, an index or a size
    /// is out of range, or `struct_size` is not set.
    Argument = 1,
    /// A file or its bytes cannot be read, prepared or written.
    File = 2,
    /// A solid cannot be queried, or the model has no solid with the given index.
    Body = 3,
    /// Invalid options, poses or curves; coordinates so large that their rounding exceeds a tenth of the
    /// tolerance; or solids that are too thin for the options.
    Query = 4,
    /// A body or a curve is not in the scene, or the scene does not accept the operation.
    Scene = 5,
    /// A panic, which is a bug in the library; please report it. The handle that was passed to the call
    /// is unusable: free it.
    Panic = 6,
}

/// Result and message of a failed call.
pub(crate) struct Failure {
    pub(crate) result: FeelerResult,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(result: FeelerResult, text: impl Display) -> Self {
        Self { result, text: text.to_string() }
    }

    pub(crate) fn argument(text: impl Display) -> Self {
        Self::new(FeelerResult::Argument, text)
    }

    /// Returns a function, for `map_err`, that converts an error to a failure with this result and the
    /// error's message.
    pub(crate) fn of<E: Display>(result: FeelerResult) -> impl Fn(E) -> Self {
        move |e| Self::new(result, e)
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

fn remember(text: &str) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = text);
}

/// Runs the body of a C function and returns its result. The message of a failure is stored for
/// [`feeler_last_error`]. A panic becomes [`FeelerResult::Panic`] and does not unwind into C.
pub(crate) fn enter(body: impl FnOnce() -> Result<(), Failure>) -> FeelerResult {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => FeelerResult::Ok,
        Ok(Err(failure)) => {
            remember(&failure.text);
            failure.result
        }
        Err(payload) => {
            let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            remember(&format!("bug in the library, please report it: {}", text.unwrap_or_default()));
            FeelerResult::Panic
        }
    }
}

/// Returns the message of the last call of this thread that did not return `FEELER_RESULT_OK`, or "" if
/// every call has succeeded. The string is never NULL, must not be freed, and is valid until the next
/// failed call of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn feeler_last_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn panics_do_not_cross_the_border() {
        assert_eq!(enter(|| panic!("of {}", "ours")), FeelerResult::Panic);
        // SAFETY: never NULL.
        let text = unsafe { CStr::from_ptr(feeler_last_error()) };
        assert_eq!(text.to_str(), Ok("bug in the library, please report it: of ours"));
        assert_eq!(enter(|| Err(Failure::argument("a\0b"))), FeelerResult::Argument);
        // SAFETY: as above.
        assert_eq!(unsafe { CStr::from_ptr(feeler_last_error()) }.to_str(), Ok("a b"));
        assert_eq!(enter(|| Ok(())), FeelerResult::Ok);
    }
}
