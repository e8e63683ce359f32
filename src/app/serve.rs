//! The running process: it listens, reloads on SIGHUP, and drains on SIGTERM and SIGINT.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::api::token::NewToken;
use crate::app::parts::{AppError, Parts, builtin};
use crate::app::{admin, files, master, table, upkeep};
use crate::base::budget::Budget;
use crate::base::secret::Secret;
use crate::config::{Config, Known, Options, ProcessEnv, embedded, load, reload};
use crate::gateway::listen::{
    self, Certificate, Limits, Listen, ListenError, Places, Serving, Sockets, Stop,
};
use crate::gateway::proxy::{Bounds, Gateway, InFlight};
use crate::gateway::route::RouteTable;
use crate::telemetry::{LogFormat, start_log};

/// How often a draining process looks whether anything is still under way.
const LOOK: Duration = Duration::from_millis(20);

/// A caller that says nothing for this long in the middle of its request is cut off.
const CALLER_SILENCE: Duration = Duration::from_secs(60);

/// Connections to the listener for metrics and health.
const ADMIN_CONNECTIONS: usize = 256;

/// Where the configuration comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// This file; read again on SIGHUP.
    File(PathBuf),
    /// The command line.
    Options(Options),
}

impl Source {
    /// Loads and checks it.
    ///
    /// # Errors
    /// Every problem, with its place.
    pub fn load(&self) -> Result<Config, AppError> {
        let rules = builtin()?;
        Ok(match self {
            Self::File(path) => load(path, &ProcessEnv, &rules)?,
            Self::Options(options) => embedded(options, &ProcessEnv, &rules)?,
        })
    }

    /// The same while a configuration with the rules `known` runs.
    fn reload(&self, known: &Known) -> Result<Config, AppError> {
        match self {
            Self::File(path) => Ok(reload(path, &ProcessEnv, &builtin()?, known)?),
            Self::Options(_) => self.load(),
        }
    }
}

/// Told to whoever started the process, once it can serve.
pub struct Announce {
    /// The first token, if one had to be made; shown once.
    pub first_token: Option<Secret<String>>,
    /// Where requests are taken.
    pub listen: Vec<SocketAddr>,
    /// Where metrics and health are.
    pub admin: Option<SocketAddr>,
    /// The data folder.
    pub data: PathBuf,
}

/// Serves until the process is told to stop. Blocks.
///
/// # Errors
/// Anything that keeps the process from serving; nothing has been served then.
pub fn serve(source: &Source, announce: impl FnOnce(Announce)) -> Result<(), AppError> {
    let config = source.load()?;
    start_log(log_format(&config), log_level(&config));
    let parts = Arc::new(Parts::new(&config)?);
    let routes = Arc::new(ArcSwap::from_pointee(parts.opened.io.block_on(table::build(&config, &parts))?));
    let first_token = first_token(&parts)?;
    // Made now and not by the first request that encrypts: there may be no room for it by then.
    if let Err(error) = parts.opened.io.block_on(parts.vault.default_fpe_key()) {
        tracing::warn!(target: "portcullis::app", "the key for encryption cannot be had yet: {error}");
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = config.threads.map_or(processors, usize::from);
    let in_flight = parts.in_flight.clone();
    let mut servings = vec![Serving {
        gateway: gateway(&config, &parts, (Arc::clone(&routes), in_flight.clone())),
        listen: config.listen.iter().map(|listen| listen_of(listen)).collect::<Result<_, _>>()?,
        threads,
        places: Places::new(config.limits.connections.get(), config.limits.connections_per_address.get()),
        limits: limits(&config),
    }];
    if let Some(admin) = &config.admin {
        let listen = Listen { address: *admin.address, tls: None, h2c: false };
        let table = Arc::new(ArcSwap::from_pointee(admin::table(&parts)?));
        let gateway = gateway(&config, &parts, (table, InFlight::default()));
        let places = Places::new(ADMIN_CONNECTIONS, ADMIN_CONNECTIONS);
        servings.push(Serving { gateway, listen: vec![listen], threads: 1, places, limits: limits(&config) });
    }
    let (stop, stopped) = oneshot::channel();
    let watch = Watch {
        source: source.clone(),
        known: config.known.clone(),
        parts: Arc::clone(&parts),
        routes,
        in_flight,
        drain: config.limits.drain.get(),
    };
    let signals = watch.signals().map_err(|error| AppError::Io(format!("signals: {error}")))?;
    parts.opened.io.spawn(watch.run(signals, stop));
    parts.opened.io.spawn(files::sweep(Arc::clone(&parts), config.blobs.passing.get()));
    if let Some(writer) = parts.opened.tokens.record_uses() {
        parts.opened.io.spawn(writer);
    }
    parts.opened.io.spawn(upkeep::keep(Arc::clone(&parts), config.clone()));
    let addresses: Vec<SocketAddr> = config.listen.iter().map(|listen| *listen.address).collect();
    // Bound, they take connections: what comes before the server runs waits in their queues.
    let sockets = Sockets::default();
    {
        let _runtime = parts.opened.io.enter();
        let all = servings.iter().flat_map(|serving| &serving.listen).map(|listen| listen.address);
        sockets.open(&all.collect::<Vec<_>>())?;
    }
    parts.ready.begin();
    announce(Announce {
        first_token,
        listen: addresses,
        admin: config.admin.as_ref().map(|admin| *admin.address),
        data: config.data.to_path_buf(),
    });
    listen::serve(servings, &sockets, config.limits.drain.get(), stopped)?;
    parts.opened.io.block_on(parts.opened.records.close());
    Ok(())
}

fn log_format(config: &Config) -> LogFormat {
    match config.log.format {
        crate::config::settings::Format::Text => LogFormat::Text,
        crate::config::settings::Format::Json => LogFormat::Json,
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
fn first_token(parts: &Parts) -> Result<Option<Secret<String>>, AppError> {
    parts.opened.io.block_on(async {
        if parts.opened.tokens.any().await? {
            return Ok(None);
        }
        let new =
            NewToken { name: "first".to_owned(), services: Vec::new(), configs: Vec::new(), expires: None };
        let (_, token) = parts.opened.tokens.create(new).await?;
        Ok(Some(token))
    })
}

fn gateway(
    config: &Config,
    parts: &Parts,
    (routes, in_flight): (Arc<ArcSwap<RouteTable>>, InFlight),
) -> Gateway {
    let limits = &config.limits;
    let bounds = Bounds {
        head: limits.head.bytes(),
        per_request: limits.per_request.bytes(),
        read: CALLER_SILENCE,
        write: CALLER_SILENCE,
    };
    let budget: Budget = parts.budget.clone();
    Gateway::new(routes, budget, bounds, (Arc::clone(&parts.opened.clock), in_flight))
}

fn limits(config: &Config) -> Limits {
    Limits { head_time: config.limits.head_time.get() }
}

fn listen_of(setting: &crate::config::settings::Listen) -> Result<Listen, ListenError> {
    let tls = setting.tls.as_ref().map(|tls| {
        let certificate = Certificate::load(tls.certificate.to_path_buf(), tls.key.to_path_buf());
        certificate.map(Arc::new)
    });
    Ok(Listen { address: *setting.address, tls: tls.transpose()?, h2c: *setting.h2c })
}

/// What signals act on.
struct Watch {
    source: Source,
    /// The rules of the running configuration.
    known: Known,
    parts: Arc<Parts>,
    routes: Arc<ArcSwap<RouteTable>>,
    in_flight: InFlight,
    drain: Duration,
}

struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Watch {
    fn signals(&self) -> std::io::Result<Signals> {
        let _runtime = self.parts.opened.io.enter();
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn run(mut self, mut signals: Signals, stop: oneshot::Sender<Stop>) {
        loop {
            tokio::select! {
                _ = signals.hangup.recv() => self.reload().await,
                _ = signals.terminate.recv() => break,
                _ = signals.interrupt.recv() => break,
            }
        }
        self.parts.ready.end();
        tracing::info!(target: "portcullis::app", under_way = self.in_flight.count(), "draining");
        let again = async {
            tokio::select! {
                _ = signals.terminate.recv() => {}
                _ = signals.interrupt.recv() => {}
            }
        };
        let idle = async {
            while self.in_flight.count() > 0 {
                tokio::time::sleep(LOOK).await;
            }
        };
        if stop.send(Stop::Drain).is_err() {
            return;
        }
        tokio::select! {
            () = again => {}
            () = idle => {}
            () = tokio::time::sleep(self.drain) => {}
        }
        let left = self.in_flight.count();
        self.parts.opened.records.close().await;
        tracing::info!(target: "portcullis::app", cut_off = left, "stopped");
        // Pingora would sleep out its whole grace period though nothing is left to wait for.
        std::process::exit(0);
    }

    /// Goes on with another master key, if one took over.
    async fn follow(&self, config: &Config) {
        let records = self.parts.opened.records.as_ref();
        if let Err(error) = master::follow(&self.parts.vault, records, config).await {
            tracing::error!(target: "portcullis::app", "the master key that took over cannot be used: {error}");
        }
    }

    async fn reload(&mut self) {
        let built = match self.source.reload(&self.known) {
            Ok(config) => {
                self.follow(&config).await;
                table::build(&config, &self.parts).await.map(|table| (table, config.known))
            }
            Err(error) => Err(error),
        };
        match built {
            Ok((table, known)) => {
                self.routes.store(Arc::new(table));
                let rules_kept = known.is_same(&self.known);
                self.known = known;
                tracing::info!(target: "portcullis::app", rules_kept, "reloaded routes and rules");
            }
            Err(error) => {
                tracing::error!(target: "portcullis::app", "not reloaded, the running configuration stays: {error}");
            }
        }
    }
}
