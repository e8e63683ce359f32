//! What the file may say, by topic: plain data, unknown keys refused, every default written once (in `Default`).
//!
//! Names are the field's own. Where a setting can only be judged together with others it is an
//! [`Spanned`], which reads as the value and remembers its place in the file.
//!
//! | module | what |
//! |---|---|
//! | `server` | `[[listen]]`, `[admin]`, `[clients]`, `[api]`: listeners and the native endpoints |
//! | `limits` | `[limits]`: bounds on connections, memory and shutdown; limits that gateways share |
//! | `reload` | `[reload]`: when files are read again |
//! | `upgrade` | `[upgrade]`: the handover to a new process |
//! | `log` | `[log]`: level, format and what is logged of callers |
//! | `audit` | `[audit]`: the audit log and its copies |
//! | `telemetry` | `[telemetry]`: traces to an OTLP collector |
//! | `data` | `[vault]`: the master key |
//! | `store` | `[store]`: the database of records |
//! | `blobs` | `[blobs]`: where files are stored, and how long URLs and uploads last |
//! | `share` | `[share]`: the share service and its mails |
//! | `sanitize` | `[sanitize]`: sandbox, scanners, URL intelligence, what is released |
//! | `detect` | `[detect]`: rule files, the allow-list, the names model |
//! | `analyzer` | `[analyzers.NAME]`: external programs that analyse texts |
//! | `upstream` | `[upstreams.NAME]`: peers, TLS, timeouts, health |
//! | `provider` | the LLM providers that a route can name |
//! | `aws` | `[upstreams.NAME.aws]`: signing of requests to AWS |
//! | `models` | `[models.NAME]`: model aliases and their fallbacks |
//! | `usage` | `[usage]`: prices and budgets of model usage |
//! | `route` | `[[routes]]`: matches, where a route ends, and its filters |
//! | `http_method` | HTTP methods that a route matches |
//! | `address_block` | IP addresses and CIDR blocks |
//! | `certificate` | `[routes.certificate]`: client certificates |
//! | `jwt` | `[routes.jwt]`: signed tokens of callers |
//! | `introspection` | `[routes.introspection]`: opaque tokens of callers |
//! | `cors` | `[routes.cors]`: origins that browsers may call from |
//! | `header_rules` | `[routes.request_headers]`, `[routes.answer_headers]`: headers set, added, removed |
//! | `redact` | `[routes.redact]`: redaction of bodies and heads |
//! | `compression` | `[routes.compression]`: content codings of answers |
//! | `sign` | `[routes.sign]`, `[jwks]`: tokens for upstreams, and public keys |

mod address_block;
mod analyzer;
mod audit;
mod aws;
mod blobs;
mod certificate;
mod compression;
mod cors;
mod data;
mod detect;
mod header_rules;
mod http_method;
mod introspection;
mod jwt;
mod limits;
mod log;
mod models;
mod provider;
mod redact;
mod reload;
mod route;
mod sanitize;
mod server;
mod share;
mod sign;
mod store;
mod telemetry;
mod upgrade;
mod upstream;
mod usage;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroUsize;

use serde::Deserialize;

use crate::config::Spanned;

pub use address_block::AddressBlock;
pub(crate) use analyzer::prefix as analyzer_prefix;
pub use analyzer::{AfterFailure, Analyzer};
pub use audit::{Audit, AuditFailure, AuditOtlp};
pub use aws::Aws;
pub(crate) use aws::{is_region, region_of};
pub use blobs::{Blobs, S3};
pub use certificate::{CertificateHeaders, RouteCertificate, Subject};
pub use compression::{Compression, ContentCoding};
pub use cors::Cors;
pub use data::Vault;
pub use detect::{AllowedValues, Detect, Names};
pub use header_rules::HeaderRules;
pub use http_method::{HttpMethod, HttpMethodError};
pub use introspection::Introspection;
pub use jwt::{JwkSource, Jwt, TokenPlace};
pub use limits::{Limits, SharedLimits};
pub use log::{Level, Log};
pub use models::{FallbackOn, Model, ModelTarget};
pub use provider::Provider;
pub(crate) use redact::MOST_REMEMBERED;
pub use redact::{
    Answers, Direct, Invented, Media, Method, Methods, ProtocolSetting, PublicNames, Redact, Requests,
    SpecialUse, TweakScopeSetting,
};
pub use reload::Reload;
pub use route::{
    Auth, Endpoint, Host, HostPatternError, PathMatch, Pattern, PatternError, Rate, RateBy, Respond, Route,
    Terminal, WebSocket,
};
pub use sanitize::{
    ClamdAddressError, ClamdSocket, FetchPlace, FileLimits, Intel, ProviderEngine, ProviderUrlError,
    RemoteIntel, RemoteUrl, SandboxMode, Sanitize, Scan, ScanAddress, ScriptFiles, UnknownFiles, UnreadFiles,
};
pub use server::{Admin, Api, Certificate, ClientCertificates, Clients, Dialect, Listen, ListenTls};
pub use share::{Mail, Share};
pub use sign::{Jwks, KeyIdError, Sign, VaultKey};
pub(crate) use store::judge as judge_store_url;
pub use store::{Store, UrlError};
pub use telemetry::{Otlp, Telemetry};
pub use upgrade::Upgrade;
pub use upstream::{Balance, Peer, PeerError, Scheme, Upstream, UpstreamTls};
pub use usage::{Budget, BudgetHolderError, CountedRequests, Dollars, Holder, PeriodError, Usage};

/// The whole file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Sockets that take requests. Default: one on 127.0.0.1:8080.
    pub listen: Vec<Spanned<Listen>>,
    /// The listener for metrics and health; none unless the file has the table.
    pub admin: Option<Admin>,
    /// Folder for records, the master key and what else must outlive the process. Loading fills in the default:
    /// `$XDG_DATA_HOME/portcullis`, else `~/.local/share/portcullis`, else `./data`.
    pub data: Spanned<std::path::PathBuf>,
    /// Threads that move bytes, for each kind of listener. `None`: as many as there are processors.
    pub threads: Option<NonZeroUsize>,
    /// The database for records, if it is not a file in the data folder.
    pub store: Store,
    /// Where files live.
    pub blobs: Blobs,
    /// The vault.
    pub vault: Vault,
    /// When all this is read again.
    pub reload: Reload,
    /// Where this process hands over to the next.
    pub upgrade: Upgrade,
    /// Logging.
    pub log: Log,
    /// Who did what; nothing is written unless the file has the table.
    pub audit: Option<Audit>,
    /// Who callers are, behind other proxies.
    pub clients: Clients,
    /// Traces.
    pub telemetry: Telemetry,
    /// Bounds on what callers may make us hold.
    pub limits: Limits,
    /// What is found beside the built-in rules, and what may pass.
    pub detect: Detect,
    /// Programs that are asked what texts hold, by name.
    pub analyzers: BTreeMap<Spanned<String>, Spanned<Analyzer>>,
    /// The native endpoints.
    pub api: Api,
    /// Public keys for whoever asks; none are shown unless the file has the table.
    pub jwks: Option<Jwks>,
    /// Sanitizing files.
    pub sanitize: Sanitize,
    /// Files in folders, and links to them.
    pub share: Share,
    /// What requests to models take, and budgets.
    pub usage: Usage,
    /// Names of models that callers may ask for, and what stands for them.
    pub models: BTreeMap<Spanned<String>, Spanned<Model>>,
    /// Where proxied requests may go, by name.
    pub upstreams: BTreeMap<Spanned<String>, Spanned<Upstream>>,
    /// Tried in the order of the file; the first that matches takes the request.
    pub routes: Vec<Spanned<Route>>,
}

impl Settings {
    /// What listeners show and ask for in TLS, with their addresses; that of the one for metrics and health comes last.
    pub fn tls(&self) -> impl Iterator<Item = (SocketAddr, &ListenTls)> {
        let listen = self.listen.iter().filter_map(|listen| Some((*listen.address, listen.tls.as_ref()?)));
        let admin = self.admin.iter().filter_map(|admin| Some((*admin.address, admin.tls.as_ref()?)));
        listen.chain(admin)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: vec![Spanned::new(Listen::default())],
            admin: None,
            data: Spanned::default(),
            threads: None,
            store: Store::default(),
            blobs: Blobs::default(),
            vault: Vault::default(),
            reload: Reload::default(),
            upgrade: Upgrade::default(),
            log: Log::default(),
            audit: None,
            clients: Clients::default(),
            telemetry: Telemetry::default(),
            limits: Limits::default(),
            detect: Detect::default(),
            analyzers: BTreeMap::new(),
            api: Api::default(),
            jwks: None,
            sanitize: Sanitize::default(),
            share: Share::default(),
            usage: Usage::default(),
            models: BTreeMap::new(),
            upstreams: BTreeMap::new(),
            routes: Vec::new(),
        }
    }
}
