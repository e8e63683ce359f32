//! [`Watch`]: what signals act on. It waits for nothing else, so that they are heeded whatever the rest of the process waits for.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::{mpsc, oneshot, watch};

use crate::app::serve::data_lock::DataLock;
use crate::app::serve::ending::Ending;
use crate::app::serve::notify;
use crate::app::serve::reload::Reloader;
use crate::app::serve::signals::Signals;
use crate::app::services::Services;
use crate::gateway::listen::{ConnectionLimit, ShutdownMode, Sockets};
use crate::telemetry::flush_log;

const TARGET: &str = "portcullis::app";

/// What tells a process that it is a successor.
const UPGRADE: &str = "--upgrade";

/// What signals act on.
pub(super) struct Watch {
    pub(super) parts: Arc<Services>,
    pub(super) sockets: Sockets,
    /// Connections to each kind of listener.
    pub(super) connections: Vec<ConnectionLimit>,
    /// How long requests under way are waited for at the end, as the configuration says that runs.
    pub(super) drain: watch::Receiver<Duration>,
    /// That no other process serves from the data folder.
    pub(super) lock: DataLock,
    /// Says that a successor has taken over.
    pub(super) taken: mpsc::Receiver<()>,
    /// Whether one was started, and is not ready yet.
    pub(super) successor: Arc<AtomicBool>,
}

/// Returns once a successor has taken over; never, if none can any more.
async fn taken(taken: &mut mpsc::Receiver<()>) {
    if taken.recv().await.is_none() {
        std::future::pending().await
    }
}

impl Watch {
    pub(super) async fn run(
        mut self,
        reloader: Reloader,
        mut signals: Signals,
        stop: oneshot::Sender<ShutdownMode>,
    ) {
        // One that waits stands for all: it reads what is there by then.
        let (reload, asked) = mpsc::channel(1);
        let reloading = tokio::spawn(reloader.run(asked));
        let handed_over = loop {
            tokio::select! {
                _ = signals.hangup.recv() => {
                    let _one_waits = reload.try_send(());
                }
                _ = signals.quit.recv() => self.succeed(),
                () = taken(&mut self.taken) => break true,
                _ = signals.terminate.recv() => break false,
                _ = signals.interrupt.recv() => break false,
            }
        };
        // What it waits for may never come.
        reloading.abort();
        // Nobody can take over any more, and whoever is started now need not.
        self.taken.close();
        self.lock.release();
        if !handed_over {
            // The successor is asked at the same address, and is ready.
            self.parts.ready.end();
            notify::tell("STOPPING=1");
        }
        let Self { parts, sockets, connections, drain, .. } = self;
        let drain = *drain.borrow();
        let ending = Ending { parts, sockets, connections, drain };
        let again = async move {
            tokio::select! {
                _ = signals.terminate.recv() => {}
                _ = signals.interrupt.recv() => {}
            }
        };
        if stop.send(ShutdownMode::Drain).is_err() {
            return;
        }
        // A task of its own: the process ends whatever becomes of it.
        drop(tokio::spawn(ending.run(again)).await);
        flush_log();
        // Pingora sleeps until then.
        std::process::exit(0);
    }

    /// Starts this program anew with the same arguments, to take over.
    fn succeed(&self) {
        if self.successor.swap(true, Ordering::AcqRel) {
            return tracing::warn!(target: TARGET, "a successor is on its way already");
        }
        let mut arguments = std::env::args_os();
        let program = arguments.next().unwrap_or_default();
        // Not what `/proc` calls it: a link may lead to another version by now.
        let mut command = Command::new(program);
        command.args(arguments.filter(|argument| argument != UPGRADE)).arg(UPGRADE);
        let (under_way, started) = (Arc::clone(&self.successor), command.stdin(Stdio::null()).spawn());
        self.parts.opened.io.spawn(async move {
            let ended = match started {
                Ok(mut child) => child.wait().await.map(|status| status.to_string()),
                Err(error) => Err(error),
            };
            let why = ended.unwrap_or_else(|error| error.to_string());
            under_way.store(false, Ordering::Release);
            tracing::error!(target: TARGET, why, "the successor did not take over, this process goes on");
        });
    }
}
