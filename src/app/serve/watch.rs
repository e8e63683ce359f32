//! [`Watch`]: what signals and changed files act on.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot};

use crate::app::error::AppError;
use crate::app::serve::ending::Ending;
use crate::app::serve::notify;
use crate::app::serve::signals::Signals;
use crate::app::serve::source::ConfigSource;
use crate::app::serve::watched::Files;
use crate::app::services::Services;
use crate::app::tls_files::tls_files;
use crate::app::{master, table};
use crate::config::{CompiledRules, Config, restart_only};
use crate::gateway::listen::{ConnectionLimit, ListenError, ListenerTls, Renewed, ShutdownMode, Sockets};
use crate::gateway::route::RouteTable;
use crate::telemetry::flush_log;

const TARGET: &str = "portcullis::app";

/// What tells a process that it is a successor.
const UPGRADE: &str = "--upgrade";

/// What signals and changed files act on.
pub(super) struct Watch {
    pub(super) source: ConfigSource,
    /// What the process was started with.
    pub(super) started: Config,
    /// The rules of the running configuration.
    pub(super) known: CompiledRules,
    /// Whether it has any routes.
    pub(super) has_routes: bool,
    pub(super) files: Files,
    pub(super) parts: Arc<Services>,
    pub(super) routes: Arc<ArcSwap<RouteTable>>,
    /// What listeners show and ask for, by their addresses as the file has them.
    pub(super) tls: Vec<(SocketAddr, Arc<ListenerTls>)>,
    pub(super) sockets: Sockets,
    /// Connections to each kind of listener.
    pub(super) connections: Vec<ConnectionLimit>,
    pub(super) drain: Duration,
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
    pub(super) async fn run(mut self, mut signals: Signals, stop: oneshot::Sender<ShutdownMode>) {
        let handed_over = loop {
            tokio::select! {
                _ = signals.hangup.recv() => self.reload("a signal").await,
                () = self.files.changed() => self.reload("a changed file").await,
                _ = signals.quit.recv() => self.succeed(),
                () = taken(&mut self.taken) => break true,
                _ = signals.terminate.recv() => break false,
                _ = signals.interrupt.recv() => break false,
            }
        };
        // Nobody can take over any more.
        self.taken.close();
        if !handed_over {
            // The successor is asked at the same address, and is ready.
            self.parts.ready.end();
            notify::tell("STOPPING=1");
        }
        let Self { parts, sockets, connections, drain, .. } = self;
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

    /// Goes on with another master key, if one took over.
    async fn follow(&self, config: &Config) {
        let records = self.parts.opened.records.as_ref();
        if let Err(error) = master::follow(&self.parts.vault, records, config).await {
            tracing::error!(target: TARGET, "the master key that took over cannot be used: {error}");
        }
    }

    async fn reload(&mut self, why: &'static str) {
        let began = self.parts.opened.clock.now();
        let (read, files) = tokio::task::block_in_place(|| self.source.reload(&self.known));
        let outcome = match read {
            Ok(config) => self.take(config, why).await,
            Err(error) => Err(error),
        };
        // Also of what could not be used: once it is mended, it is read again.
        self.files.read(files, began);
        let metrics = &self.parts.metrics.work;
        match outcome {
            Ok(rules_kept) => {
                tracing::info!(target: TARGET, why, rules_kept, "reloaded routes and rules");
            }
            Err(error) => {
                metrics.not_loaded();
                self.parts.console.refused(&error, why, began);
                tracing::error!(target: TARGET, why, "not reloaded, the running configuration stays: {error}");
            }
        }
    }

    /// Reads the files that the configuration names now for each listener that runs. One that is not in it any more, or not
    /// with TLS, stays as it is until the restart that it takes.
    fn read_tls(&self, config: &Config) -> Result<Vec<(Arc<ListenerTls>, Renewed)>, ListenError> {
        let mut read = Vec::new();
        for (n, (address, running)) in self.tls.iter().enumerate() {
            // Several may have port 0, which is another port each time.
            let before = self.tls.iter().take(n).filter(|(other, _)| other == address).count();
            let mut secured = config.tls().filter(|(other, _)| other == address);
            let Some((_, tls)) = secured.nth(before) else { continue };
            read.push((Arc::clone(running), ListenerTls::read(&tls_files(tls))?));
        }
        Ok(read)
    }

    /// Goes on with another configuration. Returns whether its rules are those that were there.
    async fn take(&mut self, config: Config, why: &'static str) -> Result<bool, AppError> {
        // A file that was emptied, or not written to its end, is a configuration too.
        if config.routes.is_empty() && self.has_routes {
            return Err(AppError::NoRoutes);
        }
        self.follow(&config).await;
        let renewed = self.read_tls(&config)?;
        let table = table::build(&config, &self.parts).await?;
        // From here on nothing fails: all of it changes, or nothing does.
        renewed.into_iter().for_each(|(tls, renewed)| tls.show(renewed));
        self.routes.store(Arc::new(table));
        self.parts.loaded(&config, Some(why));
        let differing = restart_only(&self.started, &config);
        if !differing.is_empty() {
            tracing::warn!(target: TARGET, settings = %differing.join(", "), "these change with a restart only");
        }
        let rules_kept = config.known.is_same(&self.known);
        self.files.setting = config.reload.clone();
        self.has_routes = !config.routes.is_empty();
        self.drain = config.limits.drain.get();
        self.known = config.known;
        Ok(rules_kept)
    }
}
