//! Filters that let only bearers of somebody else's tokens pass: signed ones, and those that only their server can read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::app::route_filters::header;
use crate::app::services::Services;
use crate::config::Spanned;
use crate::config::settings::{self, Auth, JwkSource, Route, TokenPlace};
use crate::crypto::random;
use crate::gateway::discovery::Discovery;
use crate::gateway::filter::Filter;
use crate::gateway::filters::{
    ClaimHeaders, IntrospectFilter, IntrospectParts, JwtFilter, JwtParts, TokenPassage, TokenPosition,
};
use crate::gateway::introspection::{AuthorizationServer, Introspector, IntrospectorParts, ServerParts};
use crate::gateway::key_set::KeySet;
use crate::gateway::key_source::{KeySource, UpstreamKeys};
use crate::gateway::keys::{JwtKeys, RefreshIntervals};
use crate::gateway::upstream::Upstream;
use crate::net::{Allow, Client};
use crate::vault::jwt::{Audience, Policy};

/// Upstreams by name.
type Upstreams = BTreeMap<String, Arc<Upstream>>;

/// Those of a route.
pub(super) fn filters(
    route: &Route,
    parts: &Services,
    upstreams: &Upstreams,
) -> Result<Option<Arc<dyn Filter>>, String> {
    if let Some(setting) = &route.jwt {
        return jwt(setting, parts, upstreams).map(|filter| Some(Arc::new(filter) as Arc<dyn Filter>));
    }
    match &route.introspection {
        Some(setting) => introspect(setting, parts).map(|filter| Some(Arc::new(filter) as Arc<dyn Filter>)),
        None if route.auth() == Auth::Introspection => Err("nobody is asked about its tokens".to_owned()),
        None => Ok(None),
    }
}

fn jwt(setting: &settings::Jwt, parts: &Services, upstreams: &Upstreams) -> Result<JwtFilter, String> {
    let JwkSource { file, upstream, path, issuer } = &*setting.keys;
    let clock = Arc::clone(&parts.opened.clock);
    let remote = |source| JwtKeys::remote(source, RefreshIntervals::default(), Arc::clone(&clock));
    let keys = match (file, upstream, path, issuer) {
        (Some(file), _, _, _) => JwtKeys::fixed(KeySet::file(file)?),
        (None, Some(name), Some(path), _) => {
            let upstream = upstreams.get(name.as_str()).ok_or("the upstream of its keys is not there")?;
            let keys = UpstreamKeys::new(Arc::clone(upstream), path.to_string());
            remote(KeySource::Upstream(Box::new(keys)))
        }
        (None, _, _, Some(issuer)) => remote(KeySource::Issuer(Discovery::new(issuer)?)),
        _ => return Err("its keys are nowhere".to_owned()),
    };
    // Keys that were asked for by an issuer's name are good for its tokens only.
    let named = issuer.as_ref().filter(|_| setting.issuers.is_empty()).map(|issuer| issuer.to_string());
    let policy = Policy {
        issuers: setting.issuers.iter().cloned().chain(named).collect(),
        audience: audience(&setting.audiences),
        expires: setting.expires,
        leeway: setting.leeway.get().as_secs(),
        required: setting.required.clone(),
        scopes: setting.scopes.clone(),
    };
    let passage = passage(&setting.token, &setting.headers, setting.forward)?;
    Ok(JwtFilter::new(JwtParts { keys, policy, passage, clock }))
}

fn introspect(setting: &settings::Introspection, parts: &Services) -> Result<IntrospectFilter, String> {
    let clock = Arc::clone(&parts.opened.clock);
    let server = AuthorizationServer::new(ServerParts {
        client: Client::new(Allow::default()).map_err(|error| error.to_string())?,
        endpoint: setting.endpoint.0.clone(),
        id: &setting.client,
        secret: setting.secret.value(),
        timeout: setting.timeout.get(),
    });
    let introspector = Introspector::new(IntrospectorParts {
        server,
        patience: setting.timeout.get(),
        cache_for: setting.cache_for.get(),
        key: random::bytes().map_err(|_| "there is no randomness")?,
        clock: Arc::clone(&clock),
    });
    let policy = Policy {
        issuers: setting.issuers.clone(),
        audience: audience(&setting.audiences),
        expires: setting.expires,
        leeway: setting.leeway.get().as_secs(),
        required: setting.required.clone(),
        scopes: setting.scopes.clone(),
    };
    Ok(IntrospectFilter::new(IntrospectParts {
        introspector,
        policy,
        client_ids: setting.client_ids.clone(),
        passage: passage(&setting.token, &setting.headers, setting.forward)?,
        clock,
    }))
}

fn audience(allowed: &[String]) -> Audience {
    if allowed.is_empty() { Audience::Any } else { Audience::OneOf(allowed.to_vec()) }
}

fn passage(
    token: &TokenPlace,
    headers: &BTreeMap<String, Spanned<String>>,
    forward: bool,
) -> Result<TokenPassage, String> {
    Ok(TokenPassage { place: place(token)?, headers: claim_headers(headers)?, forward })
}

fn place(setting: &TokenPlace) -> Result<TokenPosition, String> {
    let TokenPlace { header: named, cookie, query } = setting;
    Ok(match (named, cookie, query) {
        (Some(name), _, _) if name.eq_ignore_ascii_case("authorization") => TokenPosition::Bearer,
        (Some(name), _, _) => TokenPosition::Header(header(name)?),
        (None, Some(name), _) => TokenPosition::Cookie(name.clone()),
        (None, None, Some(name)) => TokenPosition::Query(name.clone()),
        (None, None, None) => TokenPosition::Bearer,
    })
}

fn claim_headers(setting: &BTreeMap<String, Spanned<String>>) -> Result<ClaimHeaders, String> {
    let headers = setting.iter().map(|(claim, name)| Ok((claim.clone(), header(name)?)));
    headers.collect::<Result<_, String>>().map(ClaimHeaders)
}
