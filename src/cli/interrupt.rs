//! What is not cut in the middle where a command is told to end: files under their own names are whole.

use std::sync::{Mutex, PoisonError};

use crate::app::{AppError, ending_by_signal};
use crate::cli::progress;

/// Held while a file is written.
static WRITING: Mutex<()> = Mutex::new(());

/// From now on the process ends between two files: its exit code is 128 and the signal's number, as shells have it.
///
/// # Errors
/// What the operating system says.
pub(super) fn end_between_files() -> Result<(), AppError> {
    ending_by_signal(|signal| {
        let _between = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        progress::clear();
        std::process::exit(128 + i32::from(signal));
    })
}

/// Does something that is not cut in the middle.
pub(super) fn whole<T>(act: impl FnOnce() -> T) -> T {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    act()
}
