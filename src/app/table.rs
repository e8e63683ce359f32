//! A configuration's routes, built from the parts. Built anew on every reload.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, StatusCode};

use crate::api::openapi::{Descriptions, OPENAPI_PATH, ServeDocument};
use crate::api::sanitize::Documents;
use crate::api::scope::AccessTarget;
use crate::api::{Endpoints, Mount};
use crate::app::error::AppError;
use crate::app::metering::SpendRules;
use crate::app::policy::{RoutePolicy, actions, urls};
use crate::app::services::Services;
use crate::app::{
    admin, analyzers, callers_tokens, cleaning, client_certificates, credentials, endpoints, guardrails,
    metering, pools, route_filters, sign,
};
use crate::base::rate::Rate;
use crate::config::settings::{
    Answers, Auth as AuthSetting, Direct, Endpoint, Host, Media as MediaSetting, PathMatch as PathSetting,
    ProtocolSetting, Provider as ProviderSetting, RateBy, Redact as RedactSetting, Route as RouteSetting,
    Terminal as TerminalSetting, TweakScopeSetting as TweakSetting, WebSocket,
};
use crate::config::{Config, Spanned};
use crate::crypto::random;
use crate::gateway::bounds::SessionLimits;
use crate::gateway::filter::Filter;
use crate::gateway::filters::{
    Allowance, AnswerMode, AuthFilter, FilePolicy, HeadValues, Invented, ModelFilter, ProviderUrlFilter,
    RateFilter, RateSubject, RedactFilter, RedactParts, RememberPolicy, StripTokensFilter, TweakScope,
    UsageFilter,
};
use crate::gateway::layer::UnscannedPolicy;
use crate::gateway::llm::{CompiledProtocol, ProtocolChoice, Provider};
use crate::gateway::path_rewrite::PathRewrite;
use crate::gateway::route::{EndpointRoutes, Match, PathMatch, Route, RouteParts, RouteTable, TableParts};
use crate::gateway::route_info::{PolicyIdentity, RouteInfo};
use crate::gateway::terminal::{StaticAnswer, Terminal};
use crate::gateway::upstream::Upstream;
use crate::redact::{FindingsCache, Redactor};
use crate::telemetry::Direction;

/// Builds the table that a configuration describes.
///
/// # Errors
/// A route that cannot be built, by name; a key that the vault does not have.
pub(super) async fn build(config: &Config, parts: &Services) -> Result<RouteTable, AppError> {
    Ok(prepare(config, parts).await?.begin(config, parts))
}

/// The same, without anything that runs being changed by it.
///
/// # Errors
/// As of [`build`].
pub(super) async fn prepare(config: &Config, parts: &Services) -> Result<PreparedTable, AppError> {
    sign::proved(config, parts).await?;
    credentials::proved(config, parts).await?;
    built(config, parts)
}

/// A table that may take the place of the one that is in use.
pub(super) struct PreparedTable {
    table: RouteTable,
    upstreams: BTreeMap<String, Arc<Upstream>>,
}

impl PreparedTable {
    /// It is used from now on: its upstreams are looked after, and work is done beside its names model.
    pub(super) fn begin(self, config: &Config, parts: &Services) -> RouteTable {
        parts.use_names_model(config.catalogue.names_model());
        for (name, setting) in &config.upstreams {
            if let Some(upstream) = self.upstreams.get(name.as_str()) {
                pools::begin(name, setting, upstream, parts);
            }
        }
        self.table
    }
}

fn built(config: &Config, parts: &Services) -> Result<PreparedTable, AppError> {
    let mut upstreams = BTreeMap::new();
    for (name, setting) in &config.upstreams {
        upstreams.insert(
            name.to_string(),
            pools::upstream(name, setting, config.limits.collected.bytes(), parts)?,
        );
    }
    let analyzers = analyzers::all(config, parts)?;
    let protocols = CompiledProtocol::all().map_err(|error| AppError::Rules(error.to_string()))?;
    let mut endpoints = Endpoints::default();
    if config.api.enabled
        || config
            .routes
            .iter()
            .any(|route| matches!(route.terminal(), TerminalSetting::Endpoint(Endpoint::Api)))
    {
        let asked = analyzers::of_api(config, &analyzers);
        endpoints::add(&mut endpoints, config, asked, parts)?;
    }
    let shed: Arc<dyn Filter> = Arc::new(parts.shed(&config.limits));
    let mut native = Vec::new();
    for (mount, handler) in endpoints.handlers() {
        native.push(endpoint_route(mount, Terminal::Native(handler), parts, vec![Arc::clone(&shed)])?);
    }
    let led = led_routes(&endpoints, config, parts, &shed)?;
    let common = (config.detect.clone(), config.analyzers.clone(), config.known.clone());
    let from = RouteInputs {
        config,
        common: &PolicyIdentity::of(common),
        parts,
        protocols: &protocols,
        upstreams: &upstreams,
        analyzers: &analyzers,
        findings: &findings_cache(config, parts)?,
        shed: &shed,
        spending: &SpendRules::of(config),
    };
    let (mut routes, mut processed) = (Vec::new(), Vec::new());
    for setting in &config.routes {
        let wrong = |why: String| AppError::Route(setting.name.to_string(), why);
        let terminal = match setting.terminal() {
            TerminalSetting::Upstream(name) => {
                let upstream =
                    upstreams.get(name).ok_or_else(|| wrong("its upstream is not there".to_owned()))?;
                Terminal::Upstream(Arc::clone(upstream))
            }
            TerminalSetting::Respond(respond) => {
                let status =
                    StatusCode::from_u16(*respond.status).map_err(|error| wrong(error.to_string()))?;
                let body = Bytes::from(respond.body.clone());
                let media_type = "text/plain; charset=utf-8";
                Terminal::Fixed(StaticAnswer { status, media_type, body })
            }
            // The table of endpoints is matched by its exact paths, before any route: see `led_routes`.
            TerminalSetting::Endpoint(Endpoint::Api) => continue,
            TerminalSetting::Endpoint(endpoint) if endpoint.is_guardrail() => {
                Terminal::Native(guardrails::handler(endpoint, setting, config, parts).map_err(wrong)?)
            }
            TerminalSetting::Endpoint(Endpoint::Host) if parts.embedded => Terminal::Host,
            TerminalSetting::Endpoint(Endpoint::ExtProc) => {
                processed.push(Arc::new(route(setting, Terminal::Host, &from)?));
                continue;
            }
            TerminalSetting::Endpoint(_) => {
                return Err(wrong("there is no server that embeds this one".to_owned()));
            }
        };
        routes.push(Arc::new(route(setting, terminal, &from)?));
    }
    let nothing = Terminal::Fixed(admin::not_found(""));
    let unmatched = admin::native(parts, "-", nothing, vec![parts.audited_log()])?;
    let mut probes = admin::probes(parts)?;
    probes.extend(sign::public_keys(config, parts)?);
    if !endpoints.is_empty() {
        probes.push((OPENAPI_PATH, described(&endpoints, &probes, parts)?));
    }
    let table = TableParts { endpoints, native, led, probes, routes, processed, unmatched, shed: Some(shed) };
    Ok(PreparedTable { table: table.into(), upstreams })
}

/// The description of what is served.
fn described(
    endpoints: &Endpoints,
    probes: &[(&'static str, Arc<Route>)],
    parts: &Services,
) -> Result<Arc<Route>, AppError> {
    let mut served: HashSet<String> =
        endpoints.handlers().map(|(mount, _)| Descriptions::name(mount)).collect();
    served.extend(probes.iter().map(|(path, _)| format!("GET {path}")));
    served.insert(format!("GET {OPENAPI_PATH}"));
    let handler = Terminal::Native(Arc::new(ServeDocument::new(served)));
    admin::native(parts, OPENAPI_PATH, handler, vec![parts.log()])
}

/// What requests pass that routes of the configuration lead to endpoints of ours.
fn led_routes(
    endpoints: &Endpoints,
    config: &Config,
    parts: &Services,
    shed: &Arc<dyn Filter>,
) -> Result<Vec<EndpointRoutes>, AppError> {
    let leads =
        |route: &&Spanned<RouteSetting>| matches!(route.terminal(), TerminalSetting::Endpoint(Endpoint::Api));
    let led = |setting: &Spanned<RouteSetting>| {
        let route = |(mount, handler)| {
            let mut filters = route_filters::wherever_it_ends(setting)
                .map_err(|why| AppError::Route(setting.name.to_string(), why))?;
            filters.push(Arc::clone(shed));
            endpoint_route(mount, Terminal::Native(handler), parts, filters)
        };
        let native = endpoints.handlers().map(route).collect::<Result<_, AppError>>()?;
        Ok(EndpointRoutes { matches: matches(setting), native })
    };
    config.routes.iter().filter(leads).map(led).collect()
}

/// The route of an endpoint of ours, which has these filters besides its own: a token, always.
fn endpoint_route(
    mount: &Mount,
    terminal: Terminal,
    parts: &Services,
    mut filters: Vec<Arc<dyn Filter>>,
) -> Result<Arc<Route>, AppError> {
    let path = mount.path;
    filters.push(parts.audited_log());
    if let Some(target) = mount.target() {
        filters.push(Arc::new(AuthFilter::new(Arc::clone(&parts.opened.tokens), target)));
        filters.push(Arc::new(
            RateFilter::of_tokens(Arc::clone(&parts.token_rates)).shared(parts.shared_rates.clone()),
        ));
    }
    admin::bounded(parts, path, terminal, filters, mount.limit)
}

/// What routes are built from, besides their own settings.
struct RouteInputs<'a> {
    config: &'a Config,
    /// What all routes that redact go by.
    common: &'a PolicyIdentity,
    parts: &'a Services,
    protocols: &'a [Arc<CompiledProtocol>],
    upstreams: &'a BTreeMap<String, Arc<Upstream>>,
    analyzers: &'a analyzers::AnalyzersByName,
    findings: &'a Arc<FindingsCache>,
    shed: &'a Arc<dyn Filter>,
    spending: &'a SpendRules,
}

fn route(setting: &RouteSetting, terminal: Terminal, from: &RouteInputs<'_>) -> Result<Route, AppError> {
    let RouteInputs { config, parts, upstreams, shed, .. } = *from;
    let name = setting.name.to_string();
    let wrong = |why: String| AppError::Route(name.clone(), why);
    let mut filters = route_filters::wherever_it_ends(setting).map_err(wrong)?;
    filters.extend([parts.audited_log(), Arc::clone(shed)]);
    let ours = Arc::clone(&parts.opened.tokens);
    filters.push(match setting.auth() {
        AuthSetting::Token => {
            let auth = AuthFilter::new(ours, AccessTarget::Route(name.clone()));
            let auth = auth.or_signed(parts.aws_secrets.clone(), config.limits.collected.bytes());
            Arc::new(match setting.guardrail().is_some_and(Endpoint::takes_token_in_path) {
                true => auth.or_in_path(setting.prefix()),
                false => auth,
            })
        }
        AuthSetting::Certificate | AuthSetting::Introspection | AuthSetting::None => {
            Arc::new(StripTokensFilter::new(ours))
        }
    });
    filters.extend(client_certificates::filter(setting, config, parts).map_err(wrong)?);
    filters.extend(callers_tokens::filters(setting, parts, upstreams).map_err(wrong)?);
    // Before what is signed: that is put over what these say.
    if let Some(rules) = &setting.request_headers {
        filters.push(Arc::new(route_filters::request_headers(rules).map_err(wrong)?));
    }
    if let Some(sign) = &setting.sign {
        filters.push(Arc::new(sign::filter(sign, parts).map_err(wrong)?));
    }
    filters.extend(bounds(setting, from).map_err(wrong)?);
    if let Some(redact) = setting.redact.as_ref().filter(|_| setting.guardrail().is_none()) {
        // First here is last to see an answer: what it writes is not looked through again.
        let public = setting.public_url.as_ref().or(config.api.public_url.as_ref());
        let secure = !config.listen.is_empty() && config.listen.iter().all(|listen| listen.tls.is_some());
        filters.push(Arc::new(ProviderUrlFilter::new(public.map(|url| url.as_str()), secure)));
        filters.push(Arc::new(redaction(redact, &name, from).map_err(wrong)?));
    }
    let protocols = spoken(setting);
    let metrics = parts.metrics.route(&name, &[]).shown();
    let max_body = setting.max_body.as_ref().map(|size| size.bytes());
    let websocket = sessions(&setting.websocket);
    let info = RouteInfo {
        protocols,
        rewrite: rewrite(setting),
        max_body,
        websocket,
        policy: PolicyIdentity::of((setting.clone(), setting.redact.as_ref().map(|_| from.common.clone()))),
        ..RouteInfo::generic(&name, terminal, metrics)
    };
    Route::new(RouteParts { matches: matches(setting), filters, info })
        .map_err(|error| wrong(error.to_string()))
}

/// What becomes of the beginning of a path. Checking has made sure that only one of the two says it.
fn rewrite(setting: &RouteSetting) -> PathRewrite {
    let put = setting.replace_prefix.as_ref().map(|put| put.as_str());
    let changed = setting.path.as_ref().filter(|_| *setting.strip_prefix || put.is_some());
    let strip = changed.map_or(0, |_| setting.prefix());
    PathRewrite { strip, put: put.unwrap_or_default().into() }
}

/// Which requests take a route.
fn matches(setting: &RouteSetting) -> Match {
    Match {
        hosts: setting.host.iter().map(|host| host_pattern(host)).collect(),
        path: match setting.path() {
            PathSetting::Prefix(prefix) => PathMatch::Prefix(prefix.to_owned()),
            PathSetting::Pattern(pattern) => PathMatch::Pattern(pattern.regex().clone()),
        },
        methods: setting.method.iter().map(|method| method.0.clone()).collect(),
    }
}

/// The filters that bound what callers of a route may ask and spend; none where nothing can bound it.
fn bounds(setting: &RouteSetting, from: &RouteInputs<'_>) -> Result<Vec<Arc<dyn Filter>>, String> {
    let RouteInputs { config, parts, upstreams, spending, .. } = *from;
    let mut filters: Vec<Arc<dyn Filter>> = Vec::new();
    let by_tokens = setting.auth() == AuthSetting::Token;
    let mut limits = RateFilter::of_tokens(Arc::clone(&parts.token_rates)).shared(parts.shared_rates.clone());
    if let Some(rate) = &setting.rate {
        let whose = match *rate.by {
            RateBy::Address => RateSubject::Address,
            RateBy::Token => RateSubject::Token,
            RateBy::Certificate => RateSubject::Certificate,
        };
        let allowance = Allowance { rate: Rate { times: rate.requests.get(), per: rate.per.get() }, whose };
        limits = limits.and(allowance, parts.buckets(setting.name.as_str()));
    }
    if by_tokens || setting.rate.is_some() {
        filters.push(Arc::new(limits));
    }
    if !setting.models.is_empty() {
        let aliases = metering::aliases(setting, config, upstreams)?;
        filters.push(Arc::new(ModelFilter::new(aliases, config.limits.collected.bytes())));
    }
    let usage = metering::usage(setting, config, parts, spending);
    if setting.forwards() && (by_tokens || usage.counts_all || !usage.budgets.is_empty()) {
        filters.push(Arc::new(UsageFilter::new(usage)));
    }
    Ok(filters)
}

/// What WebSocket sessions may take up.
fn sessions(setting: &WebSocket) -> SessionLimits {
    let WebSocket { message, idle, longest } = setting;
    SessionLimits { message: message.bytes(), idle: idle.get(), longest: longest.get() }
}

/// What is spoken on a route. Checking has made sure that only one of the two says it.
fn spoken(setting: &RouteSetting) -> ProtocolChoice {
    match (*setting.provider, setting.redact.as_ref().map(|redact| *redact.protocol)) {
        (ProviderSetting::Generic, _) | (_, Some(ProtocolSetting::Generic)) => ProtocolChoice::Generic,
        (_, Some(ProtocolSetting::OpenAi)) => ProtocolChoice::OPENAI,
        (named, _) => Provider::named(named.name()).map_or(ProtocolChoice::Auto, ProtocolChoice::Of),
    }
}

fn host_pattern(host: &Host) -> String {
    match host {
        Host::Exact(name) => name.clone(),
        Host::Suffix(suffix) => format!("*.{suffix}"),
    }
}

fn redaction(setting: &RedactSetting, route: &str, from: &RouteInputs<'_>) -> Result<RedactFilter, String> {
    let RouteInputs { config, parts, protocols, analyzers, findings, .. } = *from;
    let rules = &config.catalogue;
    let policy = RoutePolicy::new(setting, rules, &config.allow)?;
    let policy = policy.with_analyzer_rules(analyzers::of_route(setting, config));
    let requests = policy.requests()?.map(|redactor| redactor.with_findings_cache(Arc::clone(findings)));
    let hears = requests.as_ref().is_some_and(Redactor::hears);
    let asked = hears.then(|| analyzers::asked(&setting.analyzers, analyzers, policy.floors())).flatten();
    let answers = match (setting.answers(), policy.answers()?) {
        (Answers::Restore, _) => AnswerMode::Restore(
            policy.invented()?.map(|redactor| Invented { redactor, everywhere: setting.invented.is_some() }),
        ),
        (_, Some(redactor)) => AnswerMode::Redact(redactor),
        (_, None) => AnswerMode::Off,
    };
    let counts =
        |way, redactor: Option<&Redactor>| parts.policy_counts(route, way, rules, actions(redactor, rules));
    let (request_counts, answer_counts) =
        (counts(Direction::Request, requests.as_ref()), counts(Direction::Answer, answers.redactor()));
    let tweak = match *setting.tweak {
        TweakSetting::Route => TweakScope::Route,
        TweakSetting::Caller => TweakScope::Caller,
        TweakSetting::Conversation => {
            let header =
                setting.conversation_header.as_ref().map(|name| HeaderName::from_bytes(name.as_bytes()));
            TweakScope::Conversation { header: header.transpose().map_err(|_| "a header's name is wrong")? }
        }
    };
    let named = setting.headers.iter().map(|name| HeaderName::from_bytes(name.as_bytes()));
    let headers = named.collect::<Result<_, _>>().map_err(|_| "a header's name is wrong")?;
    let cookies = setting.cookies.iter().map(|name| name.to_string()).collect();
    let files = FilePolicy {
        media: match setting.media {
            MediaSetting::Pass => UnscannedPolicy::Pass,
            MediaSetting::Refuse => UnscannedPolicy::Refuse,
        },
        files: setting.files(),
    };
    let limits = &config.sanitize.limits;
    let sandbox = cleaning::sandbox(&config.sanitize).counted(parts.metrics.work.clone());
    let redact = RedactFilter::new(RedactParts {
        requests,
        findings: Arc::clone(findings),
        analyzers: asked,
        answers,
        urls: urls(setting),
        encrypts: setting.needs_key(),
        unknown: setting.unknown,
        direct: setting.direct == Direct::Pass,
        protocols: protocols.to_vec(),
        collected: config.limits.collected.bytes(),
        counts: request_counts,
        rules: rules.names().map(str::to_owned).collect(),
        answer_counts,
        findings_header: setting.findings_header,
        head: HeadValues { query: setting.query, headers, cookies },
        exhausted: setting.exhausted,
        vault: Arc::clone(&parts.vault),
        tweak,
        remember: remember(setting, parts),
        distinct: parts.distinct(&config.limits),
        cpu: parts.cpu.clone(),
        files,
        documents: Documents::new(
            sandbox,
            limits.file.bytes(),
            cleaning::release_policy(&config.sanitize).unread,
        ),
    });
    redact.map_err(|error| error.to_string())
}

/// What all routes keep of what was found in texts before.
fn findings_cache(config: &Config, parts: &Services) -> Result<Arc<FindingsCache>, AppError> {
    let key = random::bytes().map_err(|error| AppError::Limits(error.to_string()))?;
    let (bytes, counts) = (config.limits.findings_cache.bytes(), Arc::clone(&parts.look_ups));
    Ok(Arc::new(FindingsCache::new(&key, bytes, counts)))
}

/// What a route remembers of the surrogates that it issues.
fn remember(setting: &RedactSetting, parts: &Services) -> Option<RememberPolicy> {
    setting.remember().map(|time| RememberPolicy { memory: Arc::clone(&parts.memory), time })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    fn setting(name: &str) -> Result<ProviderSetting, String> {
        let read = ProviderSetting::deserialize(StrDeserializer::<Error>::new(name));
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn the_configuration_and_the_gateway_name_the_same_providers() {
        for provider in Provider::all() {
            let named = setting(provider.name).unwrap_or_else(|error| panic!("{}: {error}", provider.name));
            assert_eq!(named.name(), provider.name);
        }
        // Whoever is told of a wrong name reads all that there are.
        let listed = setting("nobody").expect_err("no name");
        let names: Vec<&str> = listed.split('`').skip(3).step_by(2).collect();
        assert!(names.len() >= 12, "{listed}");
        for name in names {
            let choice = matches!(name, "auto" | "generic");
            assert!(choice || Provider::named(name).is_some(), "{name} would be taken as auto");
        }
    }
}
