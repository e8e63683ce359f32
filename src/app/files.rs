//! The grants under which callers reach the file store, and the sweeping of both.

use std::sync::Arc;
use std::time::Duration;

use http::Method;

use crate::api::configs::{
    Configs, CreateConfig, DeleteConfig, GetConfig, ListConfigs, MAX_BYTES, Settings as RedactSettings,
    UpdateConfig,
};
use crate::api::envelope::DialectChoice;
use crate::api::grant::{self, Grants};
use crate::api::pending::{JobHandler, Jobs, Poll, Polls, Retention, Uploads};
use crate::api::redact::Redaction;
use crate::api::sanitize::{self, Sanitize, SanitizeDrafts, SanitizeSettings, Sanitizer};
use crate::api::share::{
    CreateShareFolder, DeleteShare, Fetcher, GetParts, GetShare, ListBuckets, ListShares, PutShare, PutWork,
    Shares, UpdateShare,
};
use crate::api::token::Service;
use crate::api::{BlobPort, EndpointAccess, Endpoints, Mount};
use crate::app::cleaning;
use crate::app::configured_providers::ConfiguredProviders;
use crate::app::error::AppError;
use crate::app::links::{self, LinkMounts};
use crate::app::services::Services;
use crate::base::clock::Timestamp;
use crate::config::Config;
use crate::net;

/// How often files are swept.
const SWEEP: Duration = Duration::from_secs(300);

/// How long a call that waits, and its answer, are kept.
const KEPT: Duration = Duration::from_secs(3600);

/// How long a fetch for a `source_url` may take.
const FETCH: Duration = Duration::from_secs(30);

/// What a form may have around its file, in bytes.
const FORM: usize = 1 << 20;

/// Adds the share service, the sanitizer, and the paths by which files come and go.
///
/// # Errors
/// No randomness; rules or feeds that cannot be read.
pub(super) fn add(
    endpoints: &mut Endpoints,
    config: &Config,
    parts: &Services,
    redaction: Redaction,
    dialect: DialectChoice,
) -> Result<(), AppError> {
    let clock = || Arc::clone(&parts.opened.clock);
    let (records, blobs) = (&parts.opened.records, &parts.blobs);
    let grants = Grants::new(parts.grant_root.clone(), &public(config), config.blobs.grant.get(), clock());
    let grants = Arc::new(grants);
    let shares = Shares::new(Arc::clone(records), Arc::clone(blobs), clock());
    let work = Arc::new(PutWork::new(shares.clone()));
    let kept = Retention { upload: KEPT, answer: KEPT };
    let jobs =
        Jobs::new(Arc::clone(records), Arc::clone(&parts.vault), clock(), kept, parts.work_gate.clone());
    let jobs = jobs.map_err(|error| AppError::Io(error.to_string()))?;
    let configs = Configs::new(Arc::clone(records), clock());
    let redact_configs = Configs::new(Arc::clone(records), clock());
    let own = SanitizerParts {
        redaction,
        configs: configs.clone(),
        jobs: jobs.clone(),
        grants: Arc::clone(&grants),
        shares: shares.clone(),
    };
    let providers = ConfiguredProviders::new(&config.sanitize, &parts.opened.clock)?;
    let client = providers.client.clone();
    let sanitizer = sanitizer(config, parts, own, providers)?;
    let handlers: Vec<Arc<dyn JobHandler>> = vec![work.clone(), Arc::new(sanitizer.clone())];
    let runtime = parts.opened.io.handle().clone();
    let uploads = Uploads::new(jobs.clone(), Arc::clone(blobs), handlers, runtime);
    let sanitizing = Sanitize { sanitizer, uploads: Arc::clone(&uploads), dialect };
    add_sanitizer(endpoints, config, sanitizing, configs, redact_configs);
    parts.opened.io.spawn(Uploads::tend(Arc::downgrade(&uploads)));
    let file = config.limits.file.bytes();
    let limit = u64::try_from(file).unwrap_or(u64::MAX);
    let form = file.saturating_add(FORM);
    let tokens = Arc::clone(&parts.opened.tokens);
    let port = Arc::new(BlobPort::new(Arc::clone(&grants), tokens, Arc::clone(blobs), uploads, dialect));
    for path in grant::PATHS {
        for method in [Method::GET, Method::HEAD, Method::PUT, Method::POST] {
            let mount =
                Mount { method, below: true, bare: true, guard: EndpointAccess::Open, ..mount(path, form) };
            endpoints.mount(mount, port.clone());
        }
    }
    let located = Arc::clone(&grants);
    let poll = Arc::new(Poll {
        polls: Polls::default(),
        jobs: jobs.clone(),
        dialect,
        located: Arc::new(move |_| Some(located.public().to_owned())),
        // A file that has come has said so.
        resume: Arc::new(|_| Box::pin(std::future::ready(()))),
    });
    for service in Service::ALL {
        let (method, guard) = (Method::GET, EndpointAccess::Owner);
        let mount = Mount { method, service, below: true, guard, ..mount("/request", FORM) };
        endpoints.mount(mount.clone(), poll.clone());
        if service == Service::Sanitize {
            endpoints.mount(Mount { bare: true, ..mount }, poll.clone());
        }
    }
    let fetcher = Fetcher { client, limits: net::FetchLimits { time: FETCH, size: limit } };
    let put = PutShare::new(work, jobs, Arc::clone(&grants), dialect, fetcher);
    endpoints.mount(mount(PutShare::PATH, form), Arc::new(put));
    let get = GetParts { shares: shares.clone(), grants, dialect };
    endpoints.mount(mount(GetShare::OBJECT, FORM), Arc::new(GetShare::object(get.clone())));
    endpoints.mount(mount(GetShare::ARCHIVE, FORM), Arc::new(GetShare::archive(get)));
    endpoints.add(UpdateShare(shares.clone()), dialect, FORM);
    endpoints.add(DeleteShare(shares.clone()), dialect, FORM);
    endpoints.add(CreateShareFolder(shares.clone()), dialect, FORM);
    endpoints.add(ListShares(shares.clone()), dialect, FORM);
    endpoints.add(ListBuckets, dialect, FORM);
    links::add(endpoints, config, parts, LinkMounts { shares, public: &public(config), form, dialect });
    Ok(())
}

/// What the sanitizer shares with the endpoints beside it.
struct SanitizerParts {
    redaction: Redaction,
    configs: Configs<SanitizeSettings>,
    jobs: Jobs,
    grants: Arc<Grants>,
    shares: Shares,
}

fn sanitizer(
    config: &Config,
    parts: &Services,
    own: SanitizerParts,
    providers: ConfiguredProviders,
) -> Result<Sanitizer, AppError> {
    let SanitizerParts { redaction, configs, jobs, grants, shares } = own;
    let ConfiguredProviders { scan, intel, client } = providers;
    let loaded = parts.opened.clock.now().as_millis() / 1000;
    for feed in &config.sanitize.intel.feeds {
        parts.metrics.work.feed_loaded(&feed.display().to_string(), loaded);
    }
    cleaning::enclosed(config.sanitize.sandbox)?;
    let limits = &config.sanitize.limits;
    let most = limits.upload.bytes() as u64;
    Ok(Sanitizer::new(sanitize::SanitizerServices {
        sandbox: cleaning::sandbox(&config.sanitize).counted(parts.metrics.work.clone()),
        clock: Arc::clone(&parts.opened.clock),
        scanners: scan,
        intel,
        client,
        fetch: net::FetchLimits { time: FETCH, size: limits.file.bytes() as u64 },
        blobs: Arc::clone(&parts.blobs),
        grants,
        shares,
        redaction,
        configs,
        jobs,
        max_upload: most,
        max_parsed: limits.file.bytes(),
        policy: cleaning::release_policy(&config.sanitize),
    }))
}

fn add_sanitizer(
    endpoints: &mut Endpoints,
    config: &Config,
    sanitizing: Sanitize,
    configs: Configs<SanitizeSettings>,
    redact_configs: Configs<RedactSettings>,
) {
    let dialect = sanitizing.dialect;
    let limit = config.sanitize.limits.upload.bytes().saturating_add(FORM);
    let mount = Mount { service: Service::Sanitize, bare: true, ..mount("/v1/sanitize", limit) };
    endpoints.mount(mount, Arc::new(sanitizing));
    let limit = config.limits.body.bytes().min(MAX_BYTES);
    endpoints.add(GetConfig::new(configs.clone()), dialect, limit);
    let drafts = || SanitizeDrafts(redact_configs.clone());
    endpoints.add(CreateConfig::new(configs.clone(), drafts()), dialect, limit);
    endpoints.add(UpdateConfig::new(configs.clone(), drafts()), dialect, limit);
    endpoints.add(DeleteConfig::new(configs.clone()), dialect, limit);
    endpoints.add(ListConfigs::new(configs), dialect, limit);
}

/// A mount of the share service's, by POST, with a token.
fn mount(path: &'static str, limit: usize) -> Mount {
    Mount {
        method: Method::POST,
        service: Service::Share,
        path,
        below: false,
        bare: false,
        guard: EndpointAccess::Token,
        limit,
    }
}

/// Where callers reach us: as configured, else the first listener. One that listens everywhere is reached on this
/// machine; whoever wants more says what it is called.
fn public(config: &Config) -> String {
    if let Some(url) = &config.api.public_url {
        return url.to_string();
    }
    let Some(listen) = config.listen.iter().find(|listen| !*listen.ext_proc) else { return String::new() };
    let scheme = if listen.tls.is_some() { "https" } else { "http" };
    let mut address = *listen.address;
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            std::net::SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            std::net::SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("{scheme}://{address}")
}

/// Removes files and rows whose time is over, for as long as the process runs.
pub(super) async fn sweep(parts: Arc<Services>, passing: Duration) {
    let (records, blobs) = (&parts.opened.records, &parts.blobs);
    let clock = &parts.opened.clock;
    let shares = Shares::new(Arc::clone(records), Arc::clone(blobs), Arc::clone(clock));
    loop {
        tokio::time::sleep(SWEEP).await;
        let age = u64::try_from(passing.as_millis()).unwrap_or(u64::MAX);
        let before = Timestamp::from_millis(clock.now().as_millis().saturating_sub(age));
        let swept = async {
            let mut removed = blobs.expire(before).await?;
            removed += records.sweep().await?;
            removed += parts.memory.sweep().await?;
            Ok::<_, crate::api::share::ShareError>(removed + shares.sweep().await?)
        };
        match swept.await {
            Ok(removed) => tracing::debug!(target: "portcullis::app", removed, "swept"),
            Err(error) => tracing::warn!(target: "portcullis::app", %error, "files could not be swept"),
        }
    }
}
