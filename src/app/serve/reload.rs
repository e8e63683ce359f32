//! [`Reloader`]: goes on with another configuration once it is asked to, or files have changed. A task of its own whose files a
//! thread of its own reads: one that never comes keeps neither the process from its end nor the next reload from its turn.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{mpsc, watch};

use crate::app::error::AppError;
use crate::app::serve::own_thread::OwnThread;
use crate::app::serve::source::ConfigSource;
use crate::app::serve::watched::{ConfigFiles, DoubtedFiles, WatchedFiles};
use crate::app::services::Services;
use crate::app::table::PreparedTable;
use crate::app::tls_files::tls_files;
use crate::app::{master, table};
use crate::base::clock::Timestamp;
use crate::config::{Config, ShownCertificate, Weakening, restart_only, shown_certificates, weakened};
use crate::gateway::listen::{ListenError, ListenerTls, Renewed};
use crate::gateway::route::RouteTable;

const TARGET: &str = "portcullis::app";

/// How long the files may take to be read, and routes to be built of them.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a listener shows and asks for, by its address as the file has it.
#[derive(Clone)]
pub(super) struct RunningTls {
    pub(super) address: SocketAddr,
    pub(super) tls: Arc<ListenerTls>,
}

/// What a reload begins with.
pub(super) struct ReloaderParts {
    pub(super) source: ConfigSource,
    /// What the process was started with.
    pub(super) started: Config,
    pub(super) files: ConfigFiles,
    pub(super) parts: Arc<Services>,
    pub(super) routes: Arc<ArcSwap<RouteTable>>,
    pub(super) tls: Vec<RunningTls>,
    /// Is told how long requests under way are waited for at the end.
    pub(super) drain: watch::Sender<Duration>,
}

/// What reloads.
pub(super) struct Reloader {
    from: ReloaderParts,
    /// What runs.
    running: Arc<Config>,
    thread: OwnThread<ReadConfig>,
}

impl From<ReloaderParts> for Reloader {
    fn from(from: ReloaderParts) -> Self {
        Self { running: Arc::new(from.started.clone()), from, thread: OwnThread::new("reload", PATIENCE) }
    }
}

impl Reloader {
    /// Reloads whenever it is `asked` to, or a file has changed, until nobody can ask any more.
    pub(super) async fn run(mut self, mut asked: mpsc::Receiver<()>) {
        loop {
            let why = tokio::select! {
                signal = asked.recv() => match signal {
                    Some(()) => "a signal",
                    None => return,
                },
                () = self.from.files.changed() => "a changed file",
                () = self.thread.ended() => "a file that was slow to come",
            };
            self.reload(why).await;
        }
    }

    async fn reload(&mut self, why: &'static str) {
        let began = self.from.parts.opened.clock.now();
        let reader = ConfigReader {
            source: self.from.source.clone(),
            running: Arc::clone(&self.running),
            parts: Arc::clone(&self.from.parts),
            tls: self.from.tls.clone(),
            began,
            doubted: self.from.files.doubted(),
        };
        let io = self.from.parts.opened.io.handle().clone();
        let outcome = match self.thread.run(move || io.block_on(reader.read())).await {
            Ok(ReadConfig { outcome, watched }) => {
                // Also of what could not be used: once it is mended, it is read again.
                self.from.files.read(watched);
                outcome.map(|prepared| self.go_on_with(prepared, why))
            }
            Err(error) => Err(error),
        };
        match outcome {
            Ok(rules_kept) => {
                tracing::info!(target: TARGET, why, rules_kept, "reloaded routes and rules");
            }
            Err(error) => {
                let parts = &self.from.parts;
                parts.metrics.work.not_loaded();
                parts.console.refused(&error, why, began);
                tracing::error!(target: TARGET, why, "not reloaded, the running configuration stays: {error}");
            }
        }
    }

    /// Goes on with another configuration: nothing fails here. Returns whether its rules are those that were there.
    fn go_on_with(&mut self, prepared: PreparedConfig, why: &'static str) -> bool {
        let PreparedConfig { config, table, renewed, certificates } = prepared;
        let ReloaderParts { started, files, parts, routes, drain, .. } = &mut self.from;
        for Weakening { route, change } in weakened(&self.running, &config) {
            parts.metrics.work.weakened.inc();
            tracing::warn!(target: TARGET, route = route.as_deref(), "this reload takes protection away: {change}");
        }
        renewed.into_iter().for_each(|RenewedTls { listener, renewed }| listener.tls.show(renewed));
        routes.store(Arc::new(table.begin(&config, parts)));
        parts.loaded(&config, &certificates, Some(why));
        let differing = restart_only(started, &config);
        if !differing.is_empty() {
            tracing::warn!(target: TARGET, settings = %differing.join(", "), "these change with a restart only");
        }
        let rules_kept = config.known.is_same(&self.running.known);
        files.setting = config.reload.clone();
        drain.send_replace(config.limits.drain.get());
        self.running = Arc::new(config);
        rules_kept
    }
}

/// A listener, and what it is to show and ask for.
struct RenewedTls {
    listener: RunningTls,
    renewed: Renewed,
}

/// A configuration, and all that is made of it before it is in use.
struct PreparedConfig {
    config: Config,
    table: PreparedTable,
    renewed: Vec<RenewedTls>,
    certificates: Vec<ShownCertificate>,
}

/// What came of reading a configuration, and its files as they were then.
struct ReadConfig {
    outcome: Result<PreparedConfig, AppError>,
    watched: WatchedFiles,
}

/// Reads a configuration, and whatever it names: any of that may take its time.
struct ConfigReader {
    source: ConfigSource,
    running: Arc<Config>,
    parts: Arc<Services>,
    tls: Vec<RunningTls>,
    began: Timestamp,
    doubted: DoubtedFiles,
}

impl ConfigReader {
    async fn read(self) -> ReadConfig {
        let (read, files) = self.source.reload(&self.running.known);
        let outcome = match read {
            Ok(config) => self.prepared(config).await,
            Err(error) => Err(error),
        };
        ReadConfig { outcome, watched: WatchedFiles::again(files, self.began, &self.doubted) }
    }

    async fn prepared(&self, config: Config) -> Result<PreparedConfig, AppError> {
        // A file that was emptied, or not written to its end, is a configuration too.
        if config.routes.is_empty() && !self.running.routes.is_empty() {
            return Err(AppError::NoRoutes);
        }
        self.follow(&config).await;
        let renewed = self.read_tls(&config)?;
        let table = table::prepare(&config, &self.parts).await?;
        let mut certificates = shown_certificates(&config);
        for RenewedTls { listener, renewed } in &renewed {
            let at = listener.address.to_string();
            let here = certificates.iter_mut().filter(|shown| shown.at == at);
            here.for_each(|shown| {
                shown.waits = renewed.kept().any(|file| file.display().to_string() == shown.file)
            });
        }
        Ok(PreparedConfig { config, table, renewed, certificates })
    }

    /// Goes on with another master key, if one took over, and says if the next start would find none that opens the store.
    async fn follow(&self, config: &Config) {
        let Services { vault, opened, .. } = &*self.parts;
        let records = opened.records.as_ref();
        if let Err(error) = master::follow(vault, records, config).await {
            return tracing::error!(target: TARGET, "the master key that took over cannot be used: {error}");
        }
        if let Err(error) = master::ensure_next_start(vault, records, config, &self.running).await {
            tracing::error!(target: TARGET, "this process goes on, but the next start will fail: {error}");
        }
    }

    /// Reads the files that the configuration names now for each listener that runs. One that is not in it any more, or not
    /// with TLS, stays as it is until the restart that it takes.
    fn read_tls(&self, config: &Config) -> Result<Vec<RenewedTls>, ListenError> {
        let mut read = Vec::new();
        for (n, listener) in self.tls.iter().enumerate() {
            // Several may have port 0, which is another port each time.
            let before = self.tls.iter().take(n).filter(|other| other.address == listener.address).count();
            let mut secured = config.tls().filter(|(other, _)| *other == listener.address);
            let Some((_, tls)) = secured.nth(before) else { continue };
            let renewed = listener.tls.read(&tls_files(tls), self.began)?;
            read.push(RenewedTls { listener: listener.clone(), renewed });
        }
        Ok(read)
    }
}
