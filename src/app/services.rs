//! What outlives a reload: the runtime for our own work, the store, the vault, tokens, rules, metrics, and the tables
//! that requests leave traces in.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use dashmap::DashMap;
use tokio::task::AbortHandle;

use crate::api::changes::ChangeLog;
use crate::api::pending::WorkGate;
use crate::api::share::link::LinkRates;
use crate::api::token_signers::AwsSecrets;
use crate::api::{Bound, Caller, CpuPool, Distinct, DistinctLimit, Ready};
use crate::app::audit_copies::AuditCopies;
use crate::app::audited;
use crate::app::console_state::ConsoleState;
use crate::app::error::AppError;
use crate::app::master;
use crate::app::open_store::OpenStore;
use crate::app::process::DescriptorShares;
use crate::app::traces;
use crate::base::budget::MemoryBudget;
use crate::base::rate::Buckets;
use crate::base::secret::Secret;
use crate::config::settings::{Level, Limits};
use crate::config::{Config, ShownCertificate};
use crate::crypto::kdf::MacKey;
use crate::crypto::random;
use crate::detect::{Catalogue, NamesModel, NamesStats, Rule};
use crate::gateway::filter::Filter;
use crate::gateway::filters::{AuditTrail, LoadShedFilter, LoadShedParts, LogFilter, QueueDelay};
use crate::gateway::in_flight::InFlight;
use crate::gateway::memory::Memory;
use crate::gateway::upstream::{Breaker, PeerHealth, Upstream, UpstreamSockets};
use crate::rates::SharedRates;
use crate::redact::{LookUpCounts, LookUpStats, RedactionCounts};
use crate::store::Blobs;
use crate::telemetry::trace::{Spans, Tracer};
use crate::telemetry::{
    AccessLog, AccessTo, Direction, FindingsRead, Levels, LogFormat, Metrics, MetricsError, NamesRead,
};
use crate::usage::{Ledger, SharedBudgets};
use crate::valkey::{Valkey, ValkeyParts};
use crate::vault::Vault;
use crate::vault::items::Items;

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
        (None, LogFormat::Text) => AccessTo::Log,
        (None, LogFormat::Json) => AccessTo::JsonLog,
    };
    let lost = metrics.lines_lost.clone();
    let opened =
        AccessLog::open(to, log.addresses, move || lost.inc()).map(|log| log.counting(metrics.faults()));
    let file = log.access_file.as_deref().map(|path| format!(" {}", path.display())).unwrap_or_default();
    opened.map_err(|error| AppError::Io(format!("log.access_file{file}: {error}")))
}

/// The vault. With a key that the configuration names nobody can tell a new store from one that was lost.
fn vault(opened: &OpenStore, config: &Config) -> Result<Vault, AppError> {
    let begun = opened.io.block_on(Vault::is_begun(opened.records.as_ref()))?;
    let vault = opened.vault(config)?;
    if !begun && !master::is_own(config) {
        tracing::warn!(
            target: "portcullis::vault",
            "the store was empty and begins anew under the master key that the configuration names; if there was one, restore it from a copy"
        );
    }
    Ok(vault)
}

/// Counts of a route's findings, and the rules they are of.
struct FindingCounts {
    way: Direction,
    rules: Catalogue,
    /// What is done with each rule's findings, if that is the same in all requests.
    actions: Option<Arc<[&'static str]>>,
    counts: Arc<RedactionCounts>,
}

/// Everything that routes are built from.
pub struct Services {
    /// The store.
    pub opened: OpenStore,
    /// Keys.
    pub vault: Arc<Vault>,
    /// What was issued to callers.
    pub memory: Arc<Memory>,
    /// Callers' keys and secrets.
    pub items: Items,
    /// Files.
    pub blobs: Arc<dyn Blobs>,
    /// What upload and download URLs are signed with.
    pub grant_root: Secret<[u8; 32]>,
    /// What keys of AWS are made with that stand for tokens.
    pub(super) aws_secrets: AwsSecrets,
    /// Metrics.
    pub metrics: Arc<Metrics>,
    /// What all requests may hold.
    pub budget: MemoryBudget,
    held_limit: usize,
    /// Requests under way.
    pub in_flight: InFlight,
    /// The access log.
    pub access: Arc<AccessLog>,
    /// The audit log.
    pub(super) audit: Option<AuditTrail>,
    /// How far copies of it have come.
    pub(super) audit_copies: AuditCopies,
    /// Makes spans.
    pub tracer: Tracer,
    /// Takes them, until somebody sends them.
    spans: Mutex<Option<Spans>>,
    /// Places for long work.
    pub cpu: CpuPool,
    /// The names model of the configuration that is in use, for its counts.
    names_model: Mutex<Option<Arc<NamesModel>>>,
    /// What routes looked up of what was found in texts before.
    pub(super) look_ups: Arc<LookUpCounts>,
    /// Whether traffic is taken.
    pub ready: Ready,
    /// Whether this process takes work that outlives a call.
    pub work_gate: WorkGate,
    /// Findings by route; they outlive a reload.
    counts: DashMap<String, Vec<FindingCounts>>,
    /// Rates by route; they outlive a reload.
    pub(super) buckets: DashMap<String, Arc<Buckets<Caller>>>,
    /// The rates of tokens that have one of their own; they outlive a reload.
    pub(super) token_rates: Arc<Buckets<Caller>>,
    /// Rates that nodes share.
    pub(super) shared_rates: Option<Arc<SharedRates>>,
    /// What was spent.
    pub(super) ledger: Arc<Ledger>,
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
    /// What file descriptors go to.
    pub(super) shares: DescriptorShares,
    /// Connections to all upstreams; they are counted on over a reload.
    pub(super) sockets: UpstreamSockets,
    /// How long work waits for a thread.
    pub(super) queue: Arc<QueueDelay>,
    /// Whether routes may end at a server that embeds this one.
    pub(super) embedded: bool,
    /// What the console is told.
    pub(super) console: ConsoleState,
}

impl Services {
    /// Opens and builds everything that the configuration names once for all.
    ///
    /// # Errors
    /// The first part that cannot be had.
    pub fn new(config: &Config) -> Result<Self, AppError> {
        let opened = OpenStore::at(config)?;
        let vault = Arc::new(vault(&opened, config)?);
        let blobs = opened.files(config)?;
        let grant_root = opened.io.block_on(vault.grant_root())?;
        let places = std::thread::available_parallelism().map_or(1, usize::from);
        let clock = Arc::clone(&opened.clock);
        let node = random::bytes::<8>().map_err(|error| AppError::Limits(error.to_string()))?;
        let node = data_encoding::HEXLOWER.encode(&node);
        let valkey = valkey(config, &opened, &grant_root, &node)?;
        let metrics = Arc::clone(&opened.metrics);
        let (tracer, spans) = traces::tracer(config, &opened.clock, &metrics);
        let access = Arc::new(access(config, &metrics)?);
        let audit = config.audit.as_ref();
        let audit =
            audit.map(|setting| audited::open(setting, config.log.addresses, &metrics)).transpose()?;
        let memory = Memory::new(Arc::clone(&opened.records), Arc::clone(&vault), Arc::clone(&clock));
        let ledger = Ledger::new(Arc::clone(&opened.records), Arc::clone(&clock), &node)
            .shared(valkey.clone().map(SharedBudgets::new));
        let distinct = Arc::new(Distinct::new(Arc::clone(&clock), metrics.front.clone()));
        Ok(Self {
            opened,
            blobs,
            grant_root,
            aws_secrets: aws_secrets(&vault),
            memory: Arc::new(memory),
            items: Items::new(Arc::clone(&vault)),
            vault,
            metrics,
            budget: MemoryBudget::process(config.limits.held.bytes()),
            held_limit: config.limits.held.bytes(),
            in_flight: InFlight::default(),
            access,
            audit,
            audit_copies: AuditCopies::new(config.audit.as_ref()),
            tracer,
            spans: Mutex::new(spans),
            cpu: CpuPool::new(places, Arc::clone(&clock)),
            names_model: Mutex::default(),
            look_ups: Arc::default(),
            ready: Ready::default(),
            work_gate: WorkGate::default(),
            counts: DashMap::new(),
            buckets: DashMap::new(),
            token_rates: Arc::default(),
            shared_rates: valkey.map(|valkey| Arc::new(SharedRates::new(valkey))),
            ledger: Arc::new(ledger),
            link_rates: Arc::default(),
            distinct,
            health: DashMap::new(),
            breakers: DashMap::new(),
            pools: DashMap::new(),
            checks: DashMap::new(),
            shares: DescriptorShares::of(None, config.limits.connections.get()),
            sockets: UpstreamSockets::default(),
            queue: Arc::new(QueueDelay::new(clock)),
            embedded: false,
            console: ConsoleState::default(),
        })
    }

    /// Divides the process's file descriptors so.
    #[must_use]
    pub(super) fn divided(self, shares: DescriptorShares) -> Self {
        Self { sockets: UpstreamSockets::at_most(shares.upstreams), shares, ..self }
    }

    /// The finished spans, for whoever sends them; `None` the second time, or where nobody does.
    pub(super) fn take_spans(&self) -> Option<Spans> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The counts of a route's findings in bodies that go this way, with these rules. After a reload requests under way still count in those of
    /// the rules before.
    pub(super) fn counts(&self, route: &str, way: Direction, rules: &Catalogue) -> Arc<RedactionCounts> {
        self.counted(route, way, rules, None)
    }

    /// The same of a route that does with each rule's findings what `actions` say, in the order of the rules.
    pub(super) fn policy_counts(
        &self,
        route: &str,
        way: Direction,
        rules: &Catalogue,
        actions: Arc<[&'static str]>,
    ) -> Arc<RedactionCounts> {
        self.counted(route, way, rules, Some(actions))
    }

    fn counted(
        &self,
        route: &str,
        way: Direction,
        rules: &Catalogue,
        actions: Option<Arc<[&'static str]>>,
    ) -> Arc<RedactionCounts> {
        self.gather();
        let mut kept = self.counts.entry(route.to_owned()).or_default();
        let same =
            |known: &&FindingCounts| known.way == way && known.actions == actions && known.rules.is(rules);
        if let Some(known) = kept.iter().find(same) {
            return Arc::clone(&known.counts);
        }
        let counts = Arc::new(RedactionCounts::new(rules.rules().count()));
        kept.push(FindingCounts { way, rules: rules.clone(), actions, counts: Arc::clone(&counts) });
        counts
    }

    /// Work is done beside this names model from now on, or beside none.
    pub(super) fn use_names_model(&self, model: Option<&Arc<NamesModel>>) {
        // It takes milliseconds for a sentence.
        self.cpu.set_slow(model.is_some());
        self.metrics.work.names_model(model.map(|model| model.digest()).as_deref());
        self.gather_names();
        self.ready.find_names_by_model(model.is_some());
        *self.names_model.lock().unwrap_or_else(PoisonError::into_inner) = model.cloned();
    }

    fn gather_names(&self) {
        let model = self.names_model.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = model.as_ref() {
            let NamesStats { tokens, remembered, beyond } = model.drain_stats();
            self.metrics.work.names_tokens.add(NamesRead::New, tokens);
            self.metrics.work.names_tokens.add(NamesRead::Remembered, remembered);
            self.metrics.work.names_beyond.inc_by(beyond);
        }
    }

    /// Brings what was counted into the metrics: findings are counted where they are made, in plain atomics.
    pub(super) fn gather(&self) {
        self.gather_names();
        let LookUpStats { new, remembered } = self.look_ups.drain();
        self.metrics.work.findings_looked_up.add(FindingsRead::New, new);
        self.metrics.work.findings_looked_up.add(FindingsRead::Remembered, remembered);
        for mut entry in self.counts.iter_mut() {
            let (route, kept) = entry.pair_mut();
            for FindingCounts { way, rules, actions, counts } in kept.iter() {
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

    /// This configuration is in use from now on with these certificates, for this reason; `None` at the start of the process.
    pub(super) fn loaded(
        &self,
        config: &Config,
        certificates: &[ShownCertificate],
        why: Option<&'static str>,
    ) {
        // What is known of peers outlives a reload, but not their last mention.
        self.health.retain(|_, health| Arc::strong_count(health) > 1);
        self.breakers.retain(|_, breaker| Arc::strong_count(breaker) > 1);
        let now = self.opened.clock.now();
        self.metrics.work.loaded(now.as_millis() / 1000, why.is_none());
        self.console.loaded(config, why.unwrap_or("start"), now);
        self.metrics.front.no_certificates();
        for certificate in certificates {
            if let Some(doubt) = certificate.doubt(now) {
                tracing::warn!(target: "portcullis::listen", "{doubt}");
            }
            if let Some(subject) = &certificate.subject {
                let end = subject.not_after.as_millis() / 1000;
                self.metrics.front.certificate(&certificate.at, &certificate.file, end);
            }
        }
    }

    /// Copies lines of the audit log to where the configuration wants them, from now on.
    ///
    /// # Errors
    /// A client that cannot be had.
    pub(super) fn copy_audit_log(&self, config: &Config) -> Result<(), AppError> {
        match (&config.audit, &self.audit) {
            (Some(setting), Some(trail)) => self.audit_copies.start(setting, trail, &self.opened),
            _ => Ok(()),
        }
    }

    /// Where administrative acts are written down.
    pub(super) fn changes(&self) -> ChangeLog {
        let audit = self.audit.as_ref().map(|audit| Arc::clone(&audit.log));
        ChangeLog { audit, clock: Arc::clone(&self.opened.clock) }
    }

    /// Sees requests end.
    pub(super) fn log(&self) -> Arc<dyn Filter> {
        Arc::new(LogFilter { access: Arc::clone(&self.access), audit: None })
    }

    /// Sees requests end that are in the audit log, if there is one.
    pub(super) fn audited_log(&self) -> Arc<dyn Filter> {
        Arc::new(LogFilter { access: Arc::clone(&self.access), audit: self.audit.clone() })
    }

    /// The exposition of the metrics, brought up to date.
    ///
    /// # Errors
    /// The encoder's.
    pub(super) fn exposition(&self) -> Result<Vec<u8>, MetricsError> {
        self.metrics.expose(self.levels())
    }

    /// Brings up to date what is counted elsewhere, and looks at the rest.
    pub(super) fn levels(&self) -> Levels {
        self.gather();
        self.checks.retain(|_, check| !check.is_finished());
        self.pools.retain(|_, pool| pool.upgrade().map(|pool| pool.show()).is_some());
        Levels {
            held: self.budget.used(),
            held_limit: self.held_limit,
            tokens: self.opened.tokens.active(),
            in_flight: self.in_flight.count(),
            waiting: self.cpu.waiting(),
        }
    }

    /// What refuses requests before anything is spent on them.
    pub(super) fn shed(&self, limits: &Limits) -> LoadShedFilter {
        LoadShedFilter::new(LoadShedParts {
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

/// What keys of AWS are made with that stand for tokens: the same in every process on the store.
pub fn aws_secrets(vault: &Vault) -> AwsSecrets {
    AwsSecrets::new(&vault.derived_key("portcullis/token/aws/1"))
}

/// The engine in which nodes count together, if one is named.
fn valkey(
    config: &Config,
    opened: &OpenStore,
    root: &Secret<[u8; 32]>,
    node: &str,
) -> Result<Option<Arc<Valkey>>, AppError> {
    let Some(setting) = &config.limits.shared else { return Ok(None) };
    let parts = ValkeyParts {
        node: node.to_owned(),
        timeout: setting.timeout.get(),
        nodes: setting.nodes.get(),
        key: MacKey::new(root.expose()),
        metrics: opened.metrics.shared_limits()?,
        clock: Arc::clone(&opened.clock),
    };
    let url = setting.url.value().expose();
    let _within = opened.io.enter();
    let valkey = Valkey::new(url, parts).map_err(|error| AppError::Limits(error.to_string()))?;
    Ok(Some(Arc::new(valkey)))
}
