//! What went wrong, for callers without exceptions.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call ended; [`feeler_last_error`] says more.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerResult {
    /// Everything was done.
    Ok = 0,
    /// An argument is NULL that must not be, a text is not UTF-8, a struct has no size.
    Argument = 1,
    /// A file or its bytes cannot be read, prepared or written.
    File = 2,
    /// A solid cannot be queried, or there is none of this number.
    Body = 3,
    /// Options, poses or curves that are not valid, coordinates whose rounding exceeds a tenth of the
    /// tolerance, or solids that are too thin for the options.
    Query = 4,
    /// A body or a curve that is not in the scene, or may not be as asked.
    Scene = 5,
    /// A mistake in the library: please report it. The handle that was used answers no more queries.
    Panic = 6,
}

/// Why a call failed.
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

    /// For `map_err`.
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

/// Runs the body of an entry; nothing unwinds out of it.
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
            remember(&format!("a mistake in the library: {}", text.unwrap_or_default()));
            FeelerResult::Panic
        }
    }
}

/// What went wrong in the last call of this thread that did not return `FEELER_RESULT_OK`; "" before any.
/// Never NULL; valid until the next such call of this thread.
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
        assert_eq!(text.to_str(), Ok("a mistake in the library: of ours"));
        assert_eq!(enter(|| Err(Failure::argument("a\0b"))), FeelerResult::Argument);
        // SAFETY: as above.
        assert_eq!(unsafe { CStr::from_ptr(feeler_last_error()) }.to_str(), Ok("a b"));
        assert_eq!(enter(|| Ok(())), FeelerResult::Ok);
    }
}
