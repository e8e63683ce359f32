//! Filters that are made of a route's settings alone: who may call it by address and by signed tokens, what browsers
//! are told, and which headers change.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use crate::app::services::Services;
use crate::config::settings::{self, AddressBlock, JwkSource, Route, TokenPlace};
use crate::config::{At, Supplied};
use crate::gateway::filter::Filter;
use crate::gateway::filters::{
    AnswerHeaders, ClientAddresses, Cors, CorsParts, HeaderRules, Jwt, JwtParts, Place, RequestHeaders,
};
use crate::gateway::keys::{Ages, KeySet, Keys};
use crate::gateway::upstream::Upstream;
use crate::vault::jwt::{Audience, Policy};

/// Those that a route has wherever it ends, also at our own endpoints.
pub(super) fn wherever_it_ends(route: &Route) -> Result<Vec<Arc<dyn Filter>>, String> {
    let mut filters: Vec<Arc<dyn Filter>> = Vec::new();
    let Route { allow_clients, deny_clients, .. } = route;
    if allow_clients.is_some() || deny_clients.is_some() {
        let blocks = |blocks: &At<Vec<AddressBlock>>| blocks.iter().map(|block| block.0).collect::<Vec<_>>();
        let (allow, deny) = (allow_clients.as_ref().map(blocks), deny_clients.as_ref().map(blocks));
        filters.push(Arc::new(ClientAddresses::new(allow, deny.unwrap_or_default())));
    }
    if let Some(setting) = &route.cors {
        filters.push(Arc::new(cors(setting)?));
    }
    // Behind the one before, so that it sees answers first: what they vary by is added to what is set here.
    if let Some(setting) = &route.answer_headers {
        filters.push(Arc::new(AnswerHeaders::new(header_rules(setting)?)));
    }
    Ok(filters)
}

/// What becomes of headers on their way to the upstream.
pub(super) fn request_headers(setting: &settings::HeaderRules) -> Result<RequestHeaders, String> {
    header_rules(setting).map(RequestHeaders::new)
}

fn header_rules(setting: &settings::HeaderRules) -> Result<HeaderRules, String> {
    let field = |(name, value): (&At<String>, &At<Supplied>)| {
        let value = HeaderValue::from_str(value.value().expose());
        Ok((header(name)?, value.map_err(|_| "a header's value is wrong".to_owned())?))
    };
    Ok(HeaderRules {
        remove: setting.remove.iter().map(|name| header(name)).collect::<Result<_, _>>()?,
        set: setting.set.iter().map(field).collect::<Result<_, String>>()?,
        add: setting.add.iter().map(field).collect::<Result<_, String>>()?,
    })
}

/// What browsers are told of which pages may call.
fn cors(setting: &settings::Cors) -> Result<Cors, String> {
    let names = |names: &Option<At<Vec<At<String>>>>| {
        let names = names.as_ref().map(|names| names.iter().map(|name| header(name)).collect());
        names.transpose()
    };
    let methods = setting.methods.as_ref();
    Ok(Cors::new(CorsParts {
        origins: setting.origins.iter().map(|rule| (**rule).clone()).collect(),
        methods: methods.map(|methods| methods.iter().map(|method| method.0.clone()).collect()),
        headers: names(&setting.headers)?,
        expose: setting.expose.iter().map(|name| header(name)).collect::<Result<_, _>>()?,
        credentials: *setting.credentials,
        max_age: setting.max_age.get(),
    }))
}

fn header(name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| "a header's name is wrong".to_owned())
}

/// The filter that lets only bearers of good tokens pass.
pub(super) fn jwt(
    setting: &settings::Jwt,
    parts: &Services,
    upstreams: &BTreeMap<String, Arc<Upstream>>,
) -> Result<Jwt, String> {
    let JwkSource { file, upstream, path } = &*setting.keys;
    let clock = Arc::clone(&parts.opened.clock);
    let keys = match (file, upstream, path) {
        (Some(file), _, _) => Keys::fixed(KeySet::file(file)?),
        (None, Some(name), Some(path)) => {
            let upstream = upstreams.get(name.as_str()).ok_or("the upstream of its keys is not there")?;
            Keys::remote(Arc::clone(upstream), path.to_string(), Ages::default(), Arc::clone(&clock))
        }
        _ => return Err("its keys are nowhere".to_owned()),
    };
    let header = |name: &str| HeaderName::from_bytes(name.as_bytes()).map_err(|_| "a header's name is wrong");
    let TokenPlace { header: named, cookie, query } = &*setting.token;
    let place = match (named, cookie, query) {
        (Some(name), _, _) if name.eq_ignore_ascii_case("authorization") => Place::Bearer,
        (Some(name), _, _) => Place::Header(header(name)?),
        (None, Some(name), _) => Place::Cookie(name.clone()),
        (None, None, Some(name)) => Place::Query(name.clone()),
        (None, None, None) => Place::Bearer,
    };
    let mut headers = Vec::new();
    for (claim, name) in &setting.headers {
        headers.push((claim.clone(), header(name)?));
    }
    let policy = Policy {
        issuers: setting.issuers.clone(),
        audience: match setting.audiences.is_empty() {
            true => Audience::Any,
            false => Audience::OneOf(setting.audiences.clone()),
        },
        expires: setting.expires,
        leeway: setting.leeway.get().as_secs(),
        required: setting.required.clone(),
        scopes: setting.scopes.clone(),
    };
    Ok(Jwt::new(JwtParts { keys, policy, place, headers, forward: setting.forward, clock }))
}
