//! [`OwnThread`]: files are read on a thread of its own, which may take for ever, as where a server of files is gone: whoever waits
//! for it waits no longer than it is told to.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::app::error::AppError;

/// Works for whoever waits, once at a time.
pub(super) struct OwnThread<T> {
    /// What the thread is called.
    name: &'static str,
    /// How long is waited.
    patience: Duration,
    /// What nobody waits for any more, and has not come to its end.
    late: Option<oneshot::Receiver<T>>,
}

impl<T: Send + 'static> OwnThread<T> {
    pub(super) const fn new(name: &'static str, patience: Duration) -> Self {
        Self { name, patience, late: None }
    }

    /// What `work` makes.
    ///
    /// # Errors
    /// It takes too long, or what took too long before still does.
    pub(super) async fn run(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, AppError> {
        let Self { name, patience, late } = self;
        if late.is_some() {
            return Err(AppError::Io(format!("{name}: a file is still waited for, since the last time")));
        }
        let (done, mut coming) = oneshot::channel();
        let thread = std::thread::Builder::new().name((*name).to_owned()).spawn(move || {
            // Whoever waited may have given up.
            let _heard = done.send(work());
        });
        thread.map_err(|error| AppError::Io(format!("{name}: no thread: {error}")))?;
        match timeout(*patience, &mut coming).await {
            Ok(made) => made.map_err(|_| AppError::Io(format!("{name}: its thread ended early"))),
            Err(_) => {
                *late = Some(coming);
                let seconds = patience.as_secs();
                Err(AppError::Io(format!("{name}: files took longer than {seconds} s to be read")))
            }
        }
    }

    /// Returns once what was late has come to its end; never, if nothing was. What it made is dropped.
    pub(super) async fn ended(&mut self) {
        match &mut self.late {
            Some(coming) => drop(coming.await),
            None => std::future::pending().await,
        }
        self.late = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn what_never_comes_is_not_waited_for_and_ends_nothing_else() {
        let mut thread = OwnThread::new("reload", SHORT);
        let (file, opened) = channel();
        let stuck = thread.run(move || opened.recv().unwrap()).await.unwrap_err().to_string();
        assert!(stuck.contains("took longer"), "{stuck}");
        // Not one thread more each time.
        let again = thread.run(|| 2).await.unwrap_err().to_string();
        assert!(again.contains("still waited for"), "{again}");
        assert!(timeout(SHORT, thread.ended()).await.is_err());
        file.send(1).unwrap();
        timeout(LONG, thread.ended()).await.unwrap();
        thread.patience = LONG;
        assert_eq!(thread.run(|| 3).await.unwrap(), 3);
        assert!(timeout(SHORT, thread.ended()).await.is_err());
    }

    #[tokio::test]
    async fn a_thread_that_ends_early_is_an_error() {
        let mut thread = OwnThread::<u8>::new("reload", LONG);
        // No panic, whose text would be among those of the tests that fail.
        assert!(thread.run(|| std::panic::resume_unwind(Box::new("gone"))).await.is_err());
        assert_eq!(thread.run(|| 4).await.unwrap(), 4);
    }
}
