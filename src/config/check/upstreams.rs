//! Upstreams: their peers, TLS, times and fields.

use std::collections::BTreeMap;

use http::HeaderName;

use crate::config::Period;
use crate::config::check::{fields, prefix};
use crate::config::credential::Credential;
use crate::config::diagnostics::Diagnostics;
use crate::config::places::ValuePlaces;
use crate::config::settings::{Aws, Scheme, Upstream, is_region};
use crate::config::spanned::Spanned;
use crate::config::supplied::SecretSource;
use crate::gateway::upstream::{BreakerLimits, Ejection, Probe, Timeouts};

pub(super) fn all(
    upstreams: &BTreeMap<Spanned<String>, Spanned<Upstream>>,
    places: &ValuePlaces<'_>,
    diagnostics: &mut Diagnostics,
) {
    for (name, upstream) in upstreams {
        let of = |table| UpstreamTable { places, upstream: name, table };
        peers(name, upstream, diagnostics);
        if let Some(base) = &upstream.base {
            prefix::sent("base", base, "/openai", diagnostics);
        }
        tls(upstream, diagnostics);
        timeouts(&upstream.timeouts, &of("timeouts"), diagnostics);
        if let Some(probe) = &upstream.health {
            health(probe, &of("health"), diagnostics);
        }
        outliers(&upstream.outliers, &of("outliers"), diagnostics);
        if let Some(limits) = &upstream.breaker {
            breaker(limits, &of("breaker"), diagnostics);
        }
        headers(&upstream.headers, diagnostics);
        aws(upstream, diagnostics);
    }
}

fn peers(name: &Spanned<String>, upstream: &Spanned<Upstream>, diagnostics: &mut Diagnostics) {
    let Some(first) = upstream.peers.first() else {
        // If there were some once, they have been spoken of.
        if !diagnostics.lost(upstream.span().start, "peers") {
            diagnostics.say(name.span().start, "`peers` names none");
        }
        return;
    };
    for (i, peer) in upstream.peers.iter().enumerate() {
        if peer.scheme() != first.scheme() {
            diagnostics.say(peer.span().start, "all peers of an upstream must have the same scheme");
        }
        if upstream.peers.iter().take(i).any(|other| other == peer) {
            diagnostics.say(peer.span().start, "this peer is named twice");
        }
    }
}

fn tls(upstream: &Upstream, diagnostics: &mut Diagnostics) {
    let Some(tls) = &upstream.tls else { return };
    if upstream.peers.first().is_some_and(|peer| peer.scheme() == Scheme::Http) {
        diagnostics.say(tls.span().start, "`tls` needs peers that begin with https://");
    }
    if let (false, Some(ca)) = (*tls.verify, &tls.ca) {
        diagnostics.say(ca.span().start, "`ca` does nothing while `verify` is false");
    }
    let named = |sni: &&Spanned<String>| {
        !sni.is_empty()
            && sni.parse::<std::net::IpAddr>().is_err()
            && sni.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
    };
    if let Some(sni) = tls.sni.iter().find(|sni| !named(sni)) {
        diagnostics.say(sni.span().start, "`sni` must be a host name (RFC 6066 section 3)");
    }
}

/// A table of an upstream, as the file has it.
struct UpstreamTable<'a> {
    places: &'a ValuePlaces<'a>,
    upstream: &'a str,
    table: &'static str,
}

impl UpstreamTable<'_> {
    /// Where it says this; 0 where it does not.
    fn at(&self, key: &str) -> usize {
        self.places.at(&["upstreams", self.upstream, self.table, key])
    }

    /// Where each element of this array stands.
    fn elements(&self, key: &str) -> Vec<usize> {
        self.places.elements(&["upstreams", self.upstream, self.table, key])
    }
}

fn timeouts(timeouts: &Timeouts, of: &UpstreamTable<'_>, diagnostics: &mut Diagnostics) {
    let Timeouts { connect, first_byte, read, write, idle, total } = *timeouts;
    let always = [("connect", connect), ("read", read), ("write", write), ("idle", idle)];
    let maybe = [("first_byte", first_byte), ("total", total)];
    let said = maybe.into_iter().filter_map(|(key, period)| Some((key, period?)));
    for (key, period) in always.into_iter().chain(said) {
        lasting(period, of.at(key), "a timeout", diagnostics);
    }
}

fn lasting(period: Period, place: usize, what: &str, diagnostics: &mut Diagnostics) {
    if period.get().is_zero() {
        diagnostics.say(place, format!("{what} must be longer than nothing"));
    }
}

fn health(probe: &Probe, of: &UpstreamTable<'_>, diagnostics: &mut Diagnostics) {
    let Probe { path, interval, timeout, status, .. } = probe;
    if !path.starts_with('/') || path.contains(['#', ' ']) {
        diagnostics.say(of.at("path"), "`path` must begin with `/`, without `#` or a space");
    }
    lasting(*interval, of.at("interval"), "`interval`", diagnostics);
    lasting(*timeout, of.at("timeout"), "a timeout", diagnostics);
    for (status, place) in status.iter().zip(of.elements("status")) {
        if !(200..=599).contains(status) {
            diagnostics.say(place, "a status must be from 200 to 599");
        }
    }
}

fn outliers(outliers: &Ejection, of: &UpstreamTable<'_>, diagnostics: &mut Diagnostics) {
    let Ejection { rate, window, eject, longest, share, .. } = *outliers;
    for (key, part) in [("rate", rate), ("share", share)] {
        if !(0.0..=1.0).contains(&part) {
            diagnostics.say(of.at(key), "a part must be from 0 to 1");
        }
    }
    lasting(window, of.at("window"), "`window`", diagnostics);
    lasting(eject, of.at("eject"), "`eject`", diagnostics);
    ordered("eject", eject, longest, of, diagnostics);
}

fn breaker(limits: &BreakerLimits, of: &UpstreamTable<'_>, diagnostics: &mut Diagnostics) {
    let BreakerLimits { open, longest, .. } = *limits;
    lasting(open, of.at("open"), "`open`", diagnostics);
    ordered("open", open, longest, of, diagnostics);
}

fn ordered(key: &str, first: Period, longest: Period, of: &UpstreamTable<'_>, diagnostics: &mut Diagnostics) {
    if first > longest {
        // A default has no place; then the other one is what the file says.
        let place = [of.at("longest"), of.at(key)].into_iter().find(|&at| at > 0).unwrap_or(0);
        let hint = format!("they are {longest} and {first}");
        diagnostics.hint(place, format!("`longest` must not be shorter than `{key}`"), hint);
    }
}

fn headers(headers: &BTreeMap<Spanned<String>, Spanned<Credential>>, diagnostics: &mut Diagnostics) {
    let mut seen: Vec<HeaderName> = Vec::new();
    for (written, value) in headers {
        match fields::name(written, diagnostics) {
            Some(name) if seen.contains(&name) => {
                diagnostics.say(written.span().start, format!("`{name}` is set twice"));
            }
            Some(name) => seen.push(name),
            None => {}
        }
        fields::credential(value, diagnostics);
    }
}

fn aws(upstream: &Upstream, diagnostics: &mut Diagnostics) {
    let Some(aws) = &upstream.aws else { return };
    let place = aws.span().start;
    let Aws { service, region, access_key, secret_key, session_token, .. } = &**aws;
    if access_key.is_some() != secret_key.is_some() || session_token.is_some() && access_key.is_none() {
        diagnostics.say(place, "`access_key` and `secret_key` go together, and `session_token` with both");
    }
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if service.is_empty() || !plain(service) || **service == "s3" {
        let hint = "write it such as \"bedrock\"";
        diagnostics.hint(service.span().start, "`service` must be the name of a service other than S3", hint);
    }
    match region {
        Some(region) if !is_region(region) => {
            diagnostics.hint(region.span().start, "this is no region", "write it such as \"us-east-1\"");
        }
        None if !aws.implied => {
            let hint = "the name of the first peer does not say it";
            diagnostics.hint(place, "`region` is missing", hint);
        }
        _ => {}
    }
    for key in [access_key, secret_key, session_token].into_iter().flatten() {
        let place = key.span().start;
        match &**key {
            Credential::Supplied(supplied) => {
                let value = supplied.value().expose();
                let is_empty = value.is_empty() && *supplied.source() == SecretSource::Literal;
                if is_empty || !value.bytes().all(|b| b.is_ascii_graphic()) {
                    diagnostics.say(place, "this is no key: it is empty, or has characters that none has");
                }
            }
            Credential::Vault { prefix, .. } if !prefix.is_empty() => {
                diagnostics.say(place, "nothing stands before a key of AWS: leave out `prefix`");
            }
            Credential::Vault { .. } => {}
        }
    }
}
