//! Upstreams: their peers, TLS, times and fields.

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};

use crate::config::at::At;
use crate::config::mistakes::Mistakes;
use crate::config::settings::{Scheme, Timeouts, Upstream};
use crate::config::supplied::Supplied;

/// Fields that belong to one connection or to the body's framing (RFC 9110 sections 7.6.1 and 8.6, RFC 9112
/// section 6): the gateway writes them itself.
const OURS: &[&str] = &[
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

pub(super) fn all(upstreams: &BTreeMap<At<String>, At<Upstream>>, mistakes: &mut Mistakes) {
    for (name, upstream) in upstreams {
        peers(name, upstream, mistakes);
        base(upstream, mistakes);
        tls(upstream, mistakes);
        timeouts(&upstream.timeouts, mistakes);
        headers(&upstream.headers, mistakes);
    }
}

fn peers(name: &At<String>, upstream: &At<Upstream>, mistakes: &mut Mistakes) {
    let Some(first) = upstream.peers.first() else {
        // If there were some once, they have been spoken of.
        if !mistakes.lost(upstream.span().start, "peers") {
            mistakes.say(name.span().start, "`peers` names none");
        }
        return;
    };
    for (i, peer) in upstream.peers.iter().enumerate() {
        if peer.scheme() != first.scheme() {
            mistakes.say(peer.span().start, "all peers of an upstream must have the same scheme");
        }
        if upstream.peers.iter().take(i).any(|other| other == peer) {
            mistakes.say(peer.span().start, "this peer is named twice");
        }
    }
}

fn base(upstream: &Upstream, mistakes: &mut Mistakes) {
    let Some(base) = &upstream.base else { return };
    if !base.starts_with('/') || base.ends_with('/') || base.contains(['?', '#', ' ']) {
        let hint = "write it such as \"/openai\"";
        mistakes.hint(
            base.span().start,
            "`base` must begin with `/`, not end with it, and be a path only",
            hint,
        );
    }
}

fn tls(upstream: &Upstream, mistakes: &mut Mistakes) {
    let Some(tls) = &upstream.tls else { return };
    if upstream.peers.first().is_some_and(|peer| peer.scheme() == Scheme::Http) {
        mistakes.say(tls.span().start, "`tls` needs peers that begin with https://");
    }
    if let (false, Some(ca)) = (*tls.verify, &tls.ca) {
        mistakes.say(ca.span().start, "`ca` does nothing while `verify` is false");
    }
    let named = |sni: &&At<String>| {
        !sni.is_empty()
            && sni.parse::<std::net::IpAddr>().is_err()
            && sni.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
    };
    if let Some(sni) = tls.sni.iter().find(|sni| !named(sni)) {
        mistakes.say(sni.span().start, "`sni` must be a host name (RFC 6066 section 3)");
    }
}

fn timeouts(timeouts: &Timeouts, mistakes: &mut Mistakes) {
    let Timeouts { connect, read, write, idle } = timeouts;
    for period in [connect, read, write, idle].into_iter().filter(|period| period.get().is_zero()) {
        mistakes.say(period.span().start, "a timeout must be longer than nothing");
    }
}

fn headers(headers: &BTreeMap<At<String>, At<Supplied>>, mistakes: &mut Mistakes) {
    let mut seen: Vec<HeaderName> = Vec::new();
    for (written, value) in headers {
        let place = written.span().start;
        match HeaderName::from_bytes(written.as_bytes()) {
            Ok(name) if OURS.contains(&name.as_str()) => {
                mistakes.say(place, format!("`{name}` is written by the gateway itself"));
            }
            Ok(name) if seen.contains(&name) => mistakes.say(place, format!("`{name}` is set twice")),
            Ok(name) => seen.push(name),
            Err(_) => mistakes.say(place, "not a field name (RFC 9110 section 5.1)"),
        }
        if HeaderValue::from_str(value.value().expose()).is_err() {
            mistakes
                .say(value.span().start, "not a field value: line breaks and control characters are refused");
        }
    }
}
