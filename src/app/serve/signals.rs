//! [`Signals`]: what the process is told from outside, heard from before it reads anything, by a thread that does nothing
//! else: whatever the rest of the process waits for, it can be told to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::error::AppError;

/// How long the process may take to end by itself once it is told a second time.
const FORCED_EXIT_AFTER: Duration = Duration::from_secs(1);

/// `SIGXFSZ`, on Linux and the systems of BSD.
const FILE_SIZE: i32 = 25;

/// Signals, caught from the moment this is made.
pub(super) struct Signals {
    pub(super) hangup: Signal,
    pub(super) quit: Signal,
    pub(super) terminate: Signal,
    pub(super) interrupt: Signal,
    heeded: Arc<AtomicBool>,
}

/// What ends the process, and what would if nobody caught it.
struct CaughtSignals {
    terminate: Signal,
    interrupt: Signal,
    /// Whether somebody acts on the first of them.
    heeded: Arc<AtomicBool>,
}

impl Signals {
    /// Catches them. Until [`Signals::heeded`] the first that ends the process does so at once; then the second does.
    ///
    /// # Errors
    /// What the operating system says.
    pub(super) fn caught() -> Result<Self, AppError> {
        let failed = |error: std::io::Error| AppError::Io(format!("signals: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (signals, heard) = {
            let _within = runtime.enter();
            Self::all().map_err(failed)?
        };
        let named = std::thread::Builder::new().name("signals".to_owned());
        named.spawn(move || runtime.block_on(heard.end())).map_err(failed)?;
        Ok(signals)
    }

    fn all() -> std::io::Result<(Self, CaughtSignals)> {
        // Caught, they do nothing; else they would kill.
        signal(SignalKind::user_defined1()).map(drop)?;
        signal(SignalKind::user_defined2()).map(drop)?;
        // A file that may not grow any more is a write that fails (`RLIMIT_FSIZE` of setrlimit(2)).
        signal(SignalKind::from_raw(FILE_SIZE)).map(drop)?;
        let heeded = Arc::new(AtomicBool::new(false));
        let heard = CaughtSignals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            heeded: Arc::clone(&heeded),
        };
        let signals = Self {
            hangup: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            heeded,
        };
        Ok((signals, heard))
    }

    /// Somebody acts on them from now on.
    pub(super) fn heeded(&self) {
        self.heeded.store(true, Ordering::Release);
    }
}

impl CaughtSignals {
    async fn end(mut self) {
        let mut told = false;
        loop {
            tokio::select! {
                _ = self.terminate.recv() => {}
                _ = self.interrupt.recv() => {}
            }
            match (self.heeded.load(Ordering::Acquire), told) {
                (false, _) => std::process::exit(0),
                (true, false) => told = true,
                (true, true) => {
                    tokio::time::sleep(FORCED_EXIT_AFTER).await;
                    std::process::exit(0);
                }
            }
        }
    }
}
