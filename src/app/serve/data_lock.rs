//! [`DataLock`]: one process serves from a data folder. The lock is the kernel's (flock(2)): it ends with the process that has it,
//! however that ends. Commands that look into the store beside it do not ask for it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::app::error::AppError;
use crate::base::regular_file;
use crate::config::settings::Settings;

const TARGET: &str = "portcullis::app";

/// How often a successor asks for what the process before is about to let go of, and how long.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const TRIES: usize = 1500;

/// The lock on a data folder. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct DataLock {
    path: PathBuf,
    held: Arc<Mutex<Option<File>>>,
}

impl DataLock {
    pub(super) fn of(settings: &Settings) -> Self {
        Self { path: settings.data.join("serve.lock"), held: Arc::default() }
    }

    /// Takes it. Where there are no locks, as on some file systems of networks, that is said.
    ///
    /// # Errors
    /// Another process has it.
    pub(super) fn take(&self) -> Result<(), AppError> {
        match self.tried() {
            Ok(true) => Ok(()),
            Ok(false) => Err(AppError::Io(format!(
                "{}: a process serves from here already; name another data folder, or take over with `--upgrade`",
                self.path.display()
            ))),
            Err(error) => {
                self.say_unlocked(&error.to_string());
                Ok(())
            }
        }
    }

    /// Takes it once the process before lets go of it, which does when it is told that this one is ready.
    pub(super) async fn follow(self) {
        for _ in 0..TRIES {
            match self.tried() {
                Ok(true) => return,
                Ok(false) => tokio::time::sleep(POLL_INTERVAL).await,
                Err(error) => return self.say_unlocked(&error.to_string()),
            }
        }
        self.say_unlocked("another process has it");
    }

    /// Lets go of it: whoever is started now may serve.
    pub(super) fn release(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn say_unlocked(&self, why: &str) {
        let file = self.path.display();
        tracing::warn!(target: TARGET, %file, why, "this process serves without a lock on its data folder");
    }

    /// Whether it is this process's now.
    fn tried(&self) -> io::Result<bool> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_some() {
            return Ok(true);
        }
        let mut options = OpenOptions::new();
        let file = regular_file::open(&self.path, options.append(true).create(true).mode(0o600))?;
        match file.try_lock() {
            Ok(()) => {
                *held = Some(file);
                Ok(true)
            }
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Spanned;

    fn locks(folder: &std::path::Path) -> [DataLock; 2] {
        let settings = Settings { data: Spanned::new(folder.to_owned()), ..Settings::default() };
        [DataLock::of(&settings), DataLock::of(&settings)]
    }

    #[tokio::test]
    async fn one_has_it_until_it_lets_go_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = locks(folder.path());
        first.take().unwrap();
        first.take().unwrap();
        let why = second.take().unwrap_err().to_string();
        assert!(why.contains("a process serves from here already"), "{why}");
        let waiting = tokio::spawn(second.clone().follow());
        tokio::time::sleep(POLL_INTERVAL * 3).await;
        assert!(!waiting.is_finished());
        first.release();
        waiting.await.unwrap();
        assert!(first.take().is_err());
        drop(second);
        first.take().unwrap();
    }

    #[test]
    fn where_there_is_no_lock_the_process_serves() {
        let folder = tempfile::tempdir().unwrap();
        let [first, _] = locks(&folder.path().join("gone"));
        first.take().unwrap();
        std::fs::create_dir(folder.path().join("serve.lock")).unwrap();
        let [second, _] = locks(folder.path());
        second.take().unwrap();
    }
}
