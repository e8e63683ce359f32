//! [`serve`]: from a configuration to a process that serves.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{mpsc, oneshot, watch};

use crate::api::token::NewToken;
use crate::app::error::AppError;
use crate::app::process::DescriptorShares;
use crate::app::serve::data_lock::DataLock;
use crate::app::serve::front;
use crate::app::serve::handover::{self, Predecessor};
use crate::app::serve::notify;
use crate::app::serve::reload::{Reloader, ReloaderParts, RunningTls};
use crate::app::serve::signals::Signals;
use crate::app::serve::source::ConfigSource;
use crate::app::serve::watch::Watch;
use crate::app::serve::watched::{ConfigFiles, WatchedFiles};
use crate::app::services::Services;
use crate::app::{files, metering, process, table, traces, upkeep};
use crate::base::clock::{Clock, SystemClock};
use crate::base::secret::Secret;
use crate::config::{Config, shown_certificates};
use crate::crypto::random;
use crate::gateway::listen::{self, ServerBounds, Serving, Sockets};
use crate::telemetry::{LogWay, start_log};

/// How often it is looked whether connections are accepted.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Pingora's own grace: [`Ending`] ends the process, by the time that the file said last, and once all is written.
///
/// [`Ending`]: crate::app::serve::ending::Ending
const NEVER_FIRST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Told to whoever started the process, once it can serve.
pub struct Announce {
    /// The first token, if one had to be made; shown once.
    pub first_token: Option<Secret<String>>,
    /// Where requests are taken.
    pub listen: Vec<SocketAddr>,
    /// Where metrics and health are.
    pub admin: Option<SocketAddr>,
    /// Where the console is.
    pub console: Option<String>,
    /// The data folder.
    pub data: PathBuf,
}

impl Announce {
    fn of(config: &Config, first_token: Option<Secret<String>>, data: PathBuf) -> Self {
        Self {
            first_token,
            listen: config.listen.iter().map(|listen| *listen.address).collect(),
            admin: config.admin.as_ref().map(|admin| *admin.address),
            console: console_url(config),
            data,
        }
    }
}

/// Where the console is, if it is anywhere.
fn console_url(config: &Config) -> Option<String> {
    let admin = config.admin.as_ref().filter(|admin| cfg!(feature = "console") && admin.has_console())?;
    let scheme = if admin.tls.is_some() { "https" } else { "http" };
    Some(format!("{scheme}://{}/", *admin.address))
}

/// How many connections there may be: what the configuration says, as far as there are descriptors for them.
fn shares(config: &Config) -> DescriptorShares {
    let descriptors = process::take_descriptors().unwrap_or_else(|error| {
        tracing::warn!(target: "portcullis::app", "{error}");
        None
    });
    DescriptorShares::of(descriptors, config.limits.connections.get())
}

/// Says that there are fewer connections than the configuration has.
fn say_fewer(connections: usize, config: &Config) {
    let wanted = config.limits.connections.get();
    if connections < wanted {
        let why = "there are file descriptors (`ulimit -n`) for fewer connections than limits.connections";
        tracing::info!(target: "portcullis::app", connections, wanted, "{why}");
    }
}

/// Makes sure that no other process serves from the data folder.
fn alone(lock: &DataLock, place: &handover::HandoverPaths) -> Result<(), AppError> {
    lock.take()?;
    // One of a version that knew of no lock.
    place.ensure_free()
}

/// Serves until the process is told to stop. Blocks. With `upgrade` it takes the listening sockets of the process that
/// serves from the same data folder, and that one drains once this one accepts connections.
///
/// # Errors
/// Anything that keeps the process from serving; nothing has been served then, and a predecessor goes on.
pub fn serve(source: &ConfigSource, upgrade: bool, announce: impl FnOnce(Announce)) -> Result<(), AppError> {
    let signals = Signals::caught()?;
    process::private_files();
    let began = SystemClock.now();
    // Whoever needs random bits first seeds their generator, if not even this thread can be had.
    let _seeding = std::thread::Builder::new().name("seed".to_owned()).spawn(random::seed);
    // Whoever reads the log reads also why there is none.
    let config = source.load().inspect_err(|_| start_log(source.log_format(), "info", LogWay::Queued))?;
    let watched = WatchedFiles::new(config.files.clone(), began);
    start_log(config.log.format, log_level(&config), LogWay::Queued);
    let shares = shares(&config);
    let parts = Arc::new(Services::new(&config)?.divided(shares));
    parts.loaded(&config, &shown_certificates(&config), None);
    let routes = Arc::new(ArcSwap::from_pointee(parts.opened.io.block_on(table::build(&config, &parts))?));
    // Made now and not by the first request that encrypts: there may be no room for it by then.
    if let Err(error) = parts.opened.io.block_on(parts.vault.default_fpe_key()) {
        tracing::warn!(target: "portcullis::app", "the key for encryption cannot be had yet: {error}");
    }
    let servings = front::servings(&config, &parts, &routes)?;
    let place = handover::HandoverPaths::of(&config);
    let (sockets, predecessor) = match upgrade {
        true => Predecessor::meet(&place).map(|(predecessor, sockets)| (sockets, Some(predecessor)))?,
        false => (Sockets::default(), None),
    };
    // Bound, they take connections: what comes before the server runs waits in their queues.
    let all = servings.iter().flat_map(|serving| &serving.listen).map(|listen| listen.address);
    {
        let _runtime = parts.opened.io.enter();
        sockets.open(&all.collect::<Vec<_>>())?;
    }
    let lock = DataLock::of(&config);
    if !upgrade {
        alone(&lock, &place)?;
    }
    let (stop, stopped) = oneshot::channel();
    let (takes, taken) = mpsc::channel(1);
    let (drain, drained) = watch::channel(config.limits.drain.get());
    let reloader = ReloaderParts {
        source: source.clone(),
        started: config.clone(),
        files: ConfigFiles::new(config.reload.clone(), watched),
        parts: Arc::clone(&parts),
        routes,
        tls: running_tls(&servings),
        drain,
    };
    let watch = Watch {
        parts: Arc::clone(&parts),
        connections: servings.iter().map(|serving| serving.connections.clone()).collect(),
        sockets: sockets.clone(),
        drain: drained,
        lock: lock.clone(),
        taken,
        successor: Arc::default(),
    };
    signals.heeded();
    let io = &parts.opened.io;
    io.spawn(watch.run(Reloader::from(reloader), signals, stop));
    io.spawn(files::sweep(Arc::clone(&parts), config.blobs.passing.get()));
    if let Some(writer) = parts.opened.tokens.record_uses() {
        io.spawn(writer);
    }
    if let Some(exporter) = traces::exporter(&config, parts.take_spans(), &parts.metrics)? {
        io.spawn(exporter);
    }
    parts.copy_audit_log(&config)?;
    io.spawn(upkeep::keep(Arc::clone(&parts), config.clone()));
    io.spawn(metering::keep(Arc::clone(&parts)));
    let (begins, serving) = (AfterStart { place, predecessor, takes, lock }, sockets.clone());
    io.spawn(begins.run(Arc::clone(&parts), serving));
    say_fewer(shares.connections, &config);
    // Not before what may fail has not: it is shown once.
    let first_token = first_token(&parts)?;
    announce(Announce::of(&config, first_token, config.data.to_path_buf()));
    let bounds = ServerBounds { drain: NEVER_FIRST, kept: shares.kept / 2 };
    listen::serve(servings, &sockets, bounds, stopped);
    parts.opened.io.block_on(parts.opened.records.close());
    Ok(())
}

/// What listeners show and ask for.
fn running_tls(servings: &[Serving]) -> Vec<RunningTls> {
    let all = servings.iter().flat_map(|serving| &serving.listen);
    all.filter_map(|listen| Some(RunningTls { address: listen.address, tls: listen.tls.clone()? })).collect()
}

/// What happens once connections are accepted.
struct AfterStart {
    place: handover::HandoverPaths,
    predecessor: Option<Predecessor>,
    takes: mpsc::Sender<()>,
    lock: DataLock,
}

impl AfterStart {
    async fn run(self, parts: Arc<Services>, sockets: Sockets) {
        while !sockets.are_served() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        parts.ready.begin();
        if let Some(predecessor) = self.predecessor {
            predecessor.relieve();
            tokio::spawn(self.lock.follow());
            tracing::info!(target: "portcullis::app", "took over from the process before");
        }
        self.place.sign();
        // Whoever supervises follows the process that serves now.
        notify::tell(&format!("READY=1\nMAINPID={}", std::process::id()));
        handover::offer(self.place, sockets, self.takes).await;
    }
}

fn log_level(config: &Config) -> &'static str {
    use crate::config::settings::Level;
    match config.log.level {
        Level::Error => "error",
        Level::Warn => "warn",
        Level::Info => "info",
        Level::Debug => "debug",
        Level::Trace => "trace",
    }
}

/// Makes the first API token, unless one was ever made: a gateway nobody can call would be of no use.
fn first_token(parts: &Services) -> Result<Option<Secret<String>>, AppError> {
    parts.opened.io.block_on(async {
        if parts.opened.tokens.any().await? {
            return Ok(None);
        }
        let new = NewToken { name: "first".to_owned(), ..NewToken::default() };
        let (_, token) = parts.opened.tokens.create(new).await?;
        Ok(Some(token))
    })
}
