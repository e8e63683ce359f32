//! What outlives a reload: the runtime for our own work, the store, the vault, tokens, rules, metrics, and the tables
//! that requests leave traces in.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use dashmap::DashMap;
use tokio::runtime::Runtime;
use tokio::task::AbortHandle;

use crate::api::pending::WorkGate;
use crate::api::share::link::LinkRates;
use crate::api::token::Tokens;
use crate::api::{Bound, Caller, CpuPool, Distinct, DistinctLimit, Ready};
use crate::app::{master, traces};
use crate::base::budget::Budget;
use crate::base::clock::{SharedClock, SystemClock};
use crate::base::id::ItemId;
use crate::base::rate::Buckets;
use crate::base::secret::Secret;
use crate::config::Config;
use crate::config::settings::{self, Format, Level, Limits, Settings, Store, StoreTls};
use crate::detect::{Catalogue, Rule};
use crate::gateway::filter::Filter;
use crate::gateway::filters::{LoadShed, LoadShedParts, Log, QueueDelay};
use crate::gateway::in_flight::InFlight;
use crate::gateway::upstream::{Breaker, PeerHealth, Upstream};
use crate::redact::Counts;
use crate::store::postgres::{self, Database};
use crate::store::{Blobs, EmbeddedRecords, PostgresRecords, Records, StoreError, Timed, private};
use crate::telemetry::trace::{Spans, Tracer};
use crate::telemetry::{AccessLog, AccessTo, Addresses, Direction, Levels, Metrics, MetricsError};
use crate::vault::items::Items;
use crate::vault::{Vault, VaultError};

/// Why the process cannot do what it is told to.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The configuration.
    #[error("{0}")]
    Config(#[from] crate::config::Problems),
    /// The store.
    #[error("{}", located(.path, .error))]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: StoreError,
    },
    /// The store, where it is a database: its address may hold a password, so only the setting is named.
    #[error("store.url: {0}")]
    Database(StoreError),
    /// The bucket for files.
    #[error("blobs.s3: the bucket `{bucket}`: {error}")]
    Bucket {
        /// What it is called.
        bucket: String,
        /// What is wrong with it.
        error: StoreError,
    },
    /// The vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The rules.
    #[error("rules: {0}")]
    Rules(String),
    /// Whom sanitizing asks.
    #[error("sanitize: {0}")]
    Sanitize(String),
    /// Tokens.
    #[error(transparent)]
    Token(#[from] crate::api::token::TokenError),
    /// Sockets.
    #[error(transparent)]
    Listen(#[from] crate::gateway::listen::ListenError),
    /// The description of the API.
    #[error(transparent)]
    Described(#[from] crate::api::openapi::Malformed),
    /// Metrics.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// A route cannot be built as configured; which, and why.
    #[error("route {0}: {1}")]
    Route(String, String),
    /// A key cannot be shown; which, and why.
    #[error("jwks: {0} {1}")]
    PublicKeys(ItemId, &'static str),
    /// Reading or writing.
    #[error("{0}")]
    Io(String),
    /// Another process cannot be succeeded.
    #[error("upgrade: {0}")]
    Upgrade(String),
    /// The command line names something that is not there.
    #[error("{0}")]
    Usage(String),
    /// Whoever reads our output has had enough.
    #[error("the reader left")]
    Pipe,
    /// Text cannot be redacted or restored.
    #[error("{0}")]
    Redact(String),
}

/// An error of the store with its path, once.
fn located(path: &Path, error: &StoreError) -> String {
    match error {
        StoreError::File { .. } => error.to_string(),
        other => format!("{}: {other}", path.display()),
    }
}

/// The embedded store's file, in the data folder.
const EMBEDDED: &str = "portcullis.sqlite";

/// The store and what lies in it.
pub struct Opened {
    /// For everything of ours that waits; outlives the server.
    pub io: Runtime,
    /// Reads time.
    pub clock: SharedClock,
    /// Rows.
    pub records: Arc<dyn Records>,
    /// API tokens.
    pub tokens: Arc<Tokens>,
    /// Metrics.
    pub metrics: Arc<Metrics>,
}

impl Opened {
    /// Opens the store: the configured database, or the file in the data folder. The folder is made if it is not
    /// there.
    ///
    /// # Errors
    /// A folder, a file or a database that cannot be used.
    pub fn at(settings: &Settings) -> Result<Self, AppError> {
        let clock: SharedClock = Arc::new(SystemClock);
        let io = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("io")
            .enable_all()
            .build();
        let io = io.map_err(|error| AppError::Io(format!("the runtime: {error}")))?;
        let data: &Path = &settings.data;
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| AppError::Store { path, error }
        };
        private::folder(data).map_err(at(data))?;
        let records: Arc<dyn Records> = match database(&settings.store) {
            Some(database) => {
                let opened = io.block_on(PostgresRecords::open(&database, Arc::clone(&clock)));
                Arc::new(opened.map_err(AppError::Database)?)
            }
            None => {
                let path = data.join(EMBEDDED);
                let opened = io.block_on(EmbeddedRecords::open(&path, Arc::clone(&clock)));
                Arc::new(opened.map_err(at(&path))?)
            }
        };
        let metrics = Arc::new(Metrics::new()?);
        let records: Arc<dyn Records> =
            Arc::new(Timed::new(records, metrics.work.clone(), Arc::clone(&clock)));
        let tokens = Arc::new(Tokens::new(Arc::clone(&records), Arc::clone(&clock)));
        Ok(Self { io, clock, records, tokens, metrics })
    }

    /// Opens a store that is there: for whoever looks at what is in it, a new one would only hide that its place is
    /// mistyped.
    ///
    /// # Errors
    /// As [`Opened::at`]; also if there is none yet.
    pub fn existing(settings: &Settings) -> Result<Self, AppError> {
        let path = settings.data.join(EMBEDDED);
        if settings.store.url.is_none() && !path.exists() {
            let why =
                "there is no store here; name its folder with --data, or the file that names it with -c";
            return Err(AppError::Io(format!("{}: {why}", settings.data.display())));
        }
        Self::at(settings)
    }

    /// Opens the vault that lies in the store.
    ///
    /// # Errors
    /// A master key that is missing, unreadable, or another store's.
    pub fn vault(&self, config: &Config) -> Result<Vault, AppError> {
        let records = Arc::clone(&self.records);
        let clock = Arc::clone(&self.clock);
        Ok(match master::is_own(config) {
            true => self.io.block_on(Vault::open_with_file(records, &master::file(config), clock))?,
            false => self.io.block_on(async {
                let keys = master::keys(records.as_ref(), config).await?;
                Vault::open_with_any(records, &keys, clock).await
            })?,
        })
    }
}

/// The database that the settings name, if they name one.
fn database(store: &Store) -> Option<Database> {
    let tls = match store.tls {
        StoreTls::Disable => postgres::Tls::Disable,
        StoreTls::Require => postgres::Tls::Require,
        StoreTls::VerifyCa => postgres::Tls::VerifyCa,
        StoreTls::VerifyFull => postgres::Tls::VerifyFull,
    };
    store.url.as_ref().map(|url| Database {
        url: url.value().clone(),
        tls,
        ca: store.ca.as_deref().cloned(),
        connections: store.connections.get(),
        timeout: store.timeout.get(),
    })
}

/// The rules that are built in.
///
/// # Errors
/// Rules that do not load, which would be a bug in their data.
pub fn builtin() -> Result<Catalogue, AppError> {
    Catalogue::builtin().map_err(|error| AppError::Rules(error.to_string()))
}

/// The access log as the settings say.
fn access(config: &Config, metrics: &Arc<Metrics>) -> Result<AccessLog, AppError> {
    let log = &config.log;
    let to = match (&log.access_file, log.format) {
        _ if !log.access => AccessTo::Off,
        (Some(path), _) => AccessTo::File(path.to_path_buf()),
        (None, _) if log.level < Level::Info => AccessTo::Off,
        (None, Format::Text) => AccessTo::Log,
        (None, Format::Json) => AccessTo::JsonLog,
    };
    let addresses = match log.addresses {
        settings::Addresses::Whole => Addresses::Whole,
        settings::Addresses::Network => Addresses::Network,
        settings::Addresses::Off => Addresses::Off,
    };
    let lost = metrics.lines_lost.clone();
    let opened = AccessLog::open(to, addresses, move || lost.inc());
    let file = log.access_file.as_deref().map(|path| format!(" {}", path.display())).unwrap_or_default();
    opened.map_err(|error| AppError::Io(format!("log.access_file{file}: {error}")))
}

/// Counts of a route's findings, and the rules they are of.
struct Counted {
    way: Direction,
    rules: Catalogue,
    /// What is done with each rule's findings, if that is the same in all requests.
    actions: Option<Arc<[&'static str]>>,
    counts: Arc<Counts>,
}

/// Everything that routes are built from.
pub struct Parts {
    /// The store.
    pub opened: Opened,
    /// Keys.
    pub vault: Arc<Vault>,
    /// Callers' keys and secrets.
    pub items: Items,
    /// Files.
    pub blobs: Arc<dyn Blobs>,
    /// What upload and download URLs are signed with.
    pub grant_root: Secret<[u8; 32]>,
    /// Metrics.
    pub metrics: Arc<Metrics>,
    /// What all requests may hold.
    pub budget: Budget,
    held_limit: usize,
    /// Requests under way.
    pub in_flight: InFlight,
    /// The access log.
    pub access: Arc<AccessLog>,
    /// Makes spans.
    pub tracer: Tracer,
    /// Takes them, until somebody sends them.
    pub(super) spans: Mutex<Option<Spans>>,
    /// Places for long work.
    pub cpu: CpuPool,
    /// Whether traffic is taken.
    pub ready: Ready,
    /// Whether this process takes work that outlives a call.
    pub work_gate: WorkGate,
    /// Findings by route; they outlive a reload.
    counts: DashMap<String, Vec<Counted>>,
    /// Rates by route; they outlive a reload.
    pub(super) buckets: DashMap<String, Arc<Buckets<Caller>>>,
    /// How often what is done about shared links; it outlives a reload.
    pub(super) link_rates: Arc<LinkRates>,
    /// Different values by caller; they outlive a reload.
    distinct: Arc<Distinct>,
    /// What is known of upstreams' peers, by upstream and peer; it outlives a reload.
    pub(super) health: DashMap<(String, String), Arc<PeerHealth>>,
    /// Upstreams' breakers by name; they outlive a reload.
    pub(super) breakers: DashMap<String, Arc<Breaker>>,
    /// Upstreams by name, to be looked at.
    pub(super) pools: DashMap<String, Weak<Upstream>>,
    /// What asks their peers how they are.
    pub(super) checks: DashMap<String, AbortHandle>,
    /// How long work waits for a thread.
    pub(super) queue: Arc<QueueDelay>,
    /// Whether routes may end at a server that embeds this one.
    pub(super) embedded: bool,
}

impl Parts {
    /// Opens and builds everything that the configuration names once for all.
    ///
    /// # Errors
    /// The first part that cannot be had.
    pub fn new(config: &Config) -> Result<Self, AppError> {
        let opened = Opened::at(config)?;
        let vault = Arc::new(opened.vault(config)?);
        let blobs = opened.files(config)?;
        let grant_root = opened.io.block_on(vault.grant_root())?;
        let places = std::thread::available_parallelism().map_or(1, usize::from);
        let clock = Arc::clone(&opened.clock);
        let metrics = Arc::clone(&opened.metrics);
        let (tracer, spans) = traces::tracer(config, &opened.clock, &metrics);
        let access = Arc::new(access(config, &metrics)?);
        let distinct = Arc::new(Distinct::new(Arc::clone(&clock), metrics.front.clone()));
        Ok(Self {
            opened,
            blobs,
            grant_root,
            items: Items::new(Arc::clone(&vault)),
            vault,
            metrics,
            budget: Budget::process(config.limits.held.bytes()),
            held_limit: config.limits.held.bytes(),
            in_flight: InFlight::default(),
            access,
            tracer,
            spans: Mutex::new(spans),
            cpu: CpuPool::new(places, Arc::clone(&clock)),
            ready: Ready::default(),
            work_gate: WorkGate::default(),
            counts: DashMap::new(),
            buckets: DashMap::new(),
            link_rates: Arc::default(),
            distinct,
            health: DashMap::new(),
            breakers: DashMap::new(),
            pools: DashMap::new(),
            checks: DashMap::new(),
            queue: Arc::new(QueueDelay::new(clock)),
            embedded: false,
        })
    }

    /// The counts of a route's findings in bodies that go this way, with these rules. After a reload requests under way still count in those of
    /// the rules before.
    pub(super) fn counts(&self, route: &str, way: Direction, rules: &Catalogue) -> Arc<Counts> {
        self.counted(route, way, rules, None)
    }

    /// The same of a route that does with each rule's findings what `actions` say, in the order of the rules.
    pub(super) fn policy_counts(
        &self,
        route: &str,
        way: Direction,
        rules: &Catalogue,
        actions: Arc<[&'static str]>,
    ) -> Arc<Counts> {
        self.counted(route, way, rules, Some(actions))
    }

    fn counted(
        &self,
        route: &str,
        way: Direction,
        rules: &Catalogue,
        actions: Option<Arc<[&'static str]>>,
    ) -> Arc<Counts> {
        self.gather();
        let mut kept = self.counts.entry(route.to_owned()).or_default();
        let same = |known: &&Counted| known.way == way && known.actions == actions && known.rules.is(rules);
        if let Some(known) = kept.iter().find(same) {
            return Arc::clone(&known.counts);
        }
        let counts = Arc::new(Counts::new(rules.rules().count()));
        kept.push(Counted { way, rules: rules.clone(), actions, counts: Arc::clone(&counts) });
        counts
    }

    /// Brings what was counted into the metrics: findings are counted where they are made, in plain atomics.
    pub(super) fn gather(&self) {
        for mut entry in self.counts.iter_mut() {
            let (route, kept) = entry.pair_mut();
            for Counted { way, rules, actions, counts } in kept.iter() {
                let drained = counts.drain();
                if drained.is_empty() {
                    continue;
                }
                let metrics = self.metrics.rules(rules.names(), *way);
                for (rule, count) in drained {
                    let family = rules.rule(rule).map_or("", |rule| rule.family().name());
                    metrics.add(rule.index(), count);
                    if let Some(action) = actions.as_ref().and_then(|actions| actions.get(rule.index())) {
                        let name = rules.rule(rule).map_or("", Rule::name);
                        self.metrics.acted(name, *way, action, count);
                    }
                    self.metrics.route(route, &[family]).findings(0, count);
                }
            }
            // The last ones are in use, or will be.
            let recent = kept.len().saturating_sub(2);
            let mut at = 0..;
            kept.retain(|counted| at.next() >= Some(recent) || Arc::strong_count(&counted.counts) > 1);
        }
    }

    /// A configuration is in use from now on; `first`, at the start of the process.
    pub(super) fn loaded(&self, first: bool) {
        // What is known of peers outlives a reload, but not their last mention.
        self.health.retain(|_, health| Arc::strong_count(health) > 1);
        self.breakers.retain(|_, breaker| Arc::strong_count(breaker) > 1);
        self.metrics.work.loaded(self.opened.clock.now().as_millis() / 1000, first);
    }

    /// Sees requests end.
    pub(super) fn log(&self) -> Arc<dyn Filter> {
        Arc::new(Log(Arc::clone(&self.access)))
    }

    /// The exposition of the metrics, brought up to date.
    ///
    /// # Errors
    /// The encoder's.
    pub(super) fn exposition(&self) -> Result<Vec<u8>, MetricsError> {
        self.gather();
        self.checks.retain(|_, check| !check.is_finished());
        self.pools.retain(|_, pool| pool.upgrade().map(|pool| pool.show()).is_some());
        self.metrics.expose(Levels {
            held: self.budget.used(),
            held_limit: self.held_limit,
            tokens: self.opened.tokens.active(),
            in_flight: self.in_flight.count(),
        })
    }

    /// What refuses requests before anything is spent on them.
    pub(super) fn shed(&self, limits: &Limits) -> LoadShed {
        LoadShed::new(LoadShedParts {
            in_flight: self.in_flight.clone(),
            most: limits.in_flight.get(),
            budget: self.budget.clone(),
            held: self.held_limit / 8 * 7,
            queue: Arc::clone(&self.queue),
            wait: limits.queue.get(),
            metrics: self.metrics.front.clone(),
        })
    }

    /// How many different values callers may have encrypted.
    pub(super) fn distinct(&self, limits: &Limits) -> DistinctLimit {
        let Limits { distinct_values: values, distinct_per: per, .. } = limits;
        let bound = Bound { values: *values, per: per.get() };
        DistinctLimit { counts: Arc::clone(&self.distinct), bound: (*values > 0).then_some(bound) }
    }

    /// The rates of a route's callers.
    pub(super) fn buckets(&self, route: &str) -> Arc<Buckets<Caller>> {
        Arc::clone(&self.buckets.entry(route.to_owned()).or_default())
    }
}
