//! What is not cut in the middle where a command is told to end: files under their own names are whole.

use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use crate::app::{AppError, ending_by_signal};
use crate::cli::progress;

/// Between two looks whether a file is whole.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// So often is looked: a disk that does not answer keeps nobody for ever.
const LOOKS: usize = 250;

/// A terminal that is stopped keeps nobody either.
const TERMINAL: Duration = Duration::from_millis(200);

/// Held while a file is written.
static WRITE_LOCK: Mutex<()> = Mutex::new(());

/// From now on the process ends between two files: its exit code is 128 and the signal's number, as shells have it.
///
/// # Errors
/// What the operating system says.
pub(super) fn end_between_files() -> Result<(), AppError> {
    ending_by_signal(|signal| {
        let _between = (0..LOOKS).find_map(|_| between());
        let (cleared, wait) = channel();
        let clear = move || {
            progress::clear();
            // Nobody waits for it any more.
            let _ = cleared.send(());
        };
        if std::thread::Builder::new().spawn(clear).is_ok() {
            let _ = wait.recv_timeout(TERMINAL);
        }
        std::process::exit(128 + i32::from(signal));
    })
}

fn between() -> Option<MutexGuard<'static, ()>> {
    match WRITE_LOCK.try_lock() {
        Ok(held) => Some(held),
        Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(POLL_INTERVAL);
            None
        }
    }
}

/// Does something that is not cut in the middle.
pub(super) fn whole<T>(act: impl FnOnce() -> T) -> T {
    let _writing = WRITE_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    act()
}
