//! Filters that are made of a route's settings alone: who may call it by address, what browsers are told, which headers
//! change, and which answers are compressed.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use crate::config::settings::{self, AddressBlock, ContentCoding, Route};
use crate::config::{Spanned, Supplied};
use crate::gateway::filter::Filter;
use crate::gateway::filters::{
    AnswerHeaderFilter, ClientAddressFilter, CompressFilter, CorsFilter, CorsParts, HeaderRules,
    RequestHeaderFilter,
};
use crate::stream::codec::Coding;

/// Those that a route has wherever it ends, also at our own endpoints.
pub(super) fn wherever_it_ends(route: &Route) -> Result<Vec<Arc<dyn Filter>>, String> {
    let mut filters: Vec<Arc<dyn Filter>> = Vec::new();
    let Route { allow_clients, deny_clients, .. } = route;
    if allow_clients.is_some() || deny_clients.is_some() {
        let blocks =
            |blocks: &Spanned<Vec<AddressBlock>>| blocks.iter().map(|block| block.0).collect::<Vec<_>>();
        let (allow, deny) = (allow_clients.as_ref().map(blocks), deny_clients.as_ref().map(blocks));
        filters.push(Arc::new(ClientAddressFilter::new(allow, deny.unwrap_or_default())));
    }
    if let Some(setting) = &route.compression {
        filters.push(Arc::new(compress(setting)));
    }
    if let Some(setting) = &route.cors {
        filters.push(Arc::new(cors(setting)?));
    }
    // Behind the one before, so that it sees answers first: what they vary by is added to what is set here.
    if let Some(setting) = &route.answer_headers {
        filters.push(Arc::new(AnswerHeaderFilter::new(header_rules(setting)?)));
    }
    Ok(filters)
}

/// Which answers are compressed.
fn compress(setting: &settings::Compression) -> CompressFilter {
    let coding = |coding: &Spanned<ContentCoding>| match **coding {
        ContentCoding::Zstd => Coding::Zstd,
        ContentCoding::Br => Coding::Br,
        ContentCoding::Gzip => Coding::Gzip,
    };
    CompressFilter::new(setting.codings.iter().map(coding).collect(), setting.min.bytes())
}

/// What becomes of headers on their way to the upstream.
pub(super) fn request_headers(setting: &settings::HeaderRules) -> Result<RequestHeaderFilter, String> {
    header_rules(setting).map(RequestHeaderFilter::new)
}

fn header_rules(setting: &settings::HeaderRules) -> Result<HeaderRules, String> {
    let field = |(name, value): (&Spanned<String>, &Spanned<Supplied>)| {
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
fn cors(setting: &settings::Cors) -> Result<CorsFilter, String> {
    let names = |names: &Option<Spanned<Vec<Spanned<String>>>>| {
        let names = names.as_ref().map(|names| names.iter().map(|name| header(name)).collect());
        names.transpose()
    };
    let methods = setting.methods.as_ref();
    Ok(CorsFilter::new(CorsParts {
        origins: setting.origins.iter().map(|rule| (**rule).clone()).collect(),
        methods: methods.map(|methods| methods.iter().map(|method| method.0.clone()).collect()),
        headers: names(&setting.headers)?,
        expose: setting.expose.iter().map(|name| header(name)).collect::<Result<_, _>>()?,
        credentials: *setting.credentials,
        max_age: setting.max_age.get(),
    }))
}

/// The name of a header that a setting says.
pub(super) fn header(name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| "a header's name is wrong".to_owned())
}
