//! Typed events. No field can hold text from a body, a header's value or a path: what is logged of a request is
//! which route it took, how it ended, and counts.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use serde_json::json;

use crate::base::clock::{Timestamp, micros};
use crate::base::id::{RequestId, TokenId};
use crate::telemetry::addresses::Addresses;
use crate::telemetry::process_log::ACCESS;

/// Whether a body was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyScan {
    /// There was no body, or the route redacts nothing in this direction.
    #[default]
    NotAsked,
    /// Every text was looked at.
    Scanned,
    /// The same, but there were strings that hold bytes.
    InPart,
    /// It passed unseen, for this reason.
    NotScanned(Unscanned),
}

/// Why a body passed unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unscanned {
    /// The route's policy passes content types that cannot be scanned.
    ContentType,
    /// The route's policy passes content codings that cannot be decoded.
    ContentCoding,
    /// A budget of redaction was used up, and the route's policy passes what comes then.
    Budget,
    /// The connection became another protocol (status 101).
    Upgraded,
}

impl BodyScan {
    /// The same of a body of which so many strings were not looked at.
    #[must_use]
    pub const fn without(self, strings: u64) -> Self {
        match self {
            Self::Scanned if strings > 0 => Self::InPart,
            other => other,
        }
    }

    /// The word the log and the metrics use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotAsked => "not_asked",
            Self::Scanned => "scanned",
            Self::InPart => "scanned_in_part",
            Self::NotScanned(Unscanned::ContentType) => "not_scanned_content_type",
            Self::NotScanned(Unscanned::Budget) => "not_scanned_budget",
            Self::NotScanned(Unscanned::ContentCoding) => "not_scanned_content_coding",
            Self::NotScanned(Unscanned::Upgraded) => "not_scanned_upgraded",
        }
    }
}

/// One finished request.
#[derive(Debug)]
pub struct Access<'a> {
    /// The request's id, as the caller got it.
    pub id: &'a RequestId,
    /// The route's name; `-` when none matched.
    pub route: &'a str,
    /// The method, if it is a registered one; else `-`.
    pub method: &'a str,
    /// The status sent; 0 when the caller was gone before one could be.
    pub status: u16,
    /// From the first byte of the head to the last of the answer.
    pub took: Duration,
    /// The caller's address.
    pub client: Option<IpAddr>,
    /// The API token's id, when one was proved.
    pub token: Option<&'a TokenId>,
    /// The beginning of the fingerprint of the caller's certificate, when its route asked for one.
    pub certificate: Option<&'a str>,
    /// Body bytes received.
    pub bytes_in: u64,
    /// Body bytes sent.
    pub bytes_out: u64,
    /// What was replaced, both ways together.
    pub redacted: u64,
    /// What was restored in the answer.
    pub restored: u64,
    /// What was not, since it stands in a URL.
    pub kept_in_urls: u64,
    /// Whether the request's body was looked at.
    pub request_scan: BodyScan,
    /// Whether the answer's body was looked at.
    pub answer_scan: BodyScan,
    /// Strings of the request that were not looked at, since they hold bytes: images, sound, seals.
    pub request_unscanned: u64,
    /// The same of the answer.
    pub answer_unscanned: u64,
    /// What went wrong, as a closed word; `-` when nothing did.
    pub fault: &'static str,
    /// When its head had arrived.
    pub time: Timestamp,
    /// The upstream's name, where the route ends at one.
    pub upstream: Option<&'a str>,
    /// How often it was tried there.
    pub attempts: u32,
    /// What the caller speaks: `http/1.0`, `http/1.1` or `http/2`.
    pub protocol: &'static str,
    /// The LLM protocol that it spoke, where a filter asked for it: a name from the closed list of those known.
    pub llm_protocol: Option<&'static str>,
    /// From the first byte of the head to the first of the answer's body.
    pub first_byte: Option<Duration>,
    /// What was found, by rule, both ways together.
    pub findings: &'a BTreeMap<String, u64>,
    /// What it took of a model, where that is counted.
    pub usage: Option<AccessUsage<'a>>,
}

/// What a request took of a model.
#[derive(Clone, Debug)]
pub struct AccessUsage<'a> {
    /// The model's name, as far as it is one.
    pub model: Option<&'a str>,
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Those of them that came from the provider's cache.
    pub cached_input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Whether nobody reported them.
    pub estimated: bool,
    /// What they cost in US dollars, where the price is known.
    pub cost: Option<String>,
}

/// Nothing was found.
static NOTHING: BTreeMap<String, u64> = BTreeMap::new();

impl<'a> Access<'a> {
    /// Of a request of which nothing is known but its id.
    pub fn of(id: &'a RequestId) -> Self {
        Self {
            id,
            route: "-",
            method: "-",
            status: 0,
            took: Duration::ZERO,
            client: None,
            token: None,
            certificate: None,
            bytes_in: 0,
            bytes_out: 0,
            redacted: 0,
            restored: 0,
            kept_in_urls: 0,
            request_scan: BodyScan::NotAsked,
            answer_scan: BodyScan::NotAsked,
            request_unscanned: 0,
            answer_unscanned: 0,
            fault: "-",
            time: Timestamp::from_millis(0),
            upstream: None,
            attempts: 0,
            protocol: "-",
            llm_protocol: None,
            first_byte: None,
            findings: &NOTHING,
            usage: None,
        }
    }

    fn first_byte_micros(&self) -> Option<u64> {
        self.first_byte.map(micros)
    }

    /// Writes the access log line into the process's log.
    pub(super) fn log(&self, addresses: Addresses) {
        let findings: Vec<String> =
            self.findings.iter().map(|(rule, count)| format!("{rule}={count}")).collect();
        tracing::info!(
            target: ACCESS,
            request_id = %self.id,
            route = self.route,
            method = self.method,
            status = self.status,
            took_us = micros(self.took),
            first_byte_us = self.first_byte_micros(),
            client = addresses.shown(self.client).map(tracing::field::display),
            token = self.token.map(tracing::field::display),
            certificate = self.certificate,
            protocol = self.protocol,
            llm_protocol = self.llm_protocol,
            upstream = self.upstream,
            attempts = self.attempts,
            bytes_in = self.bytes_in,
            bytes_out = self.bytes_out,
            redacted = self.redacted,
            restored = self.restored,
            kept_in_urls = self.kept_in_urls,
            findings = findings.join(",").as_str(),
            request_scan = self.request_scan.word(),
            answer_scan = self.answer_scan.word(),
            request_unscanned = self.request_unscanned,
            answer_unscanned = self.answer_unscanned,
            model = self.usage.as_ref().and_then(|usage| usage.model),
            input_tokens = self.usage.as_ref().map(|usage| usage.input_tokens),
            cached_input_tokens = self.usage.as_ref().map(|usage| usage.cached_input_tokens),
            output_tokens = self.usage.as_ref().map(|usage| usage.output_tokens),
            estimated_tokens = self.usage.as_ref().map(|usage| usage.estimated),
            cost_usd = self.usage.as_ref().and_then(|usage| usage.cost.as_deref()),
            fault = self.fault,
            "request"
        );
    }

    /// The line as one JSON object.
    pub(super) fn json(&self, addresses: Addresses) -> String {
        let mut line = json!({
            "timestamp": self.time.iso8601(),
            "level": "INFO",
            "target": "portcullis::access",
            "message": "request",
            "request_id": self.id.to_string(),
            "route": self.route,
            "method": self.method,
            "status": self.status,
            "took_us": micros(self.took),
            "first_byte_us": self.first_byte_micros(),
            "client": addresses.shown(self.client).map(|address| address.to_string()),
            "token": self.token.map(ToString::to_string),
            "certificate": self.certificate,
            "protocol": self.protocol,
            "llm_protocol": self.llm_protocol,
            "upstream": self.upstream,
            "attempts": self.attempts,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "redacted": self.redacted,
            "restored": self.restored,
            "kept_in_urls": self.kept_in_urls,
            "findings": self.findings,
            "request_scan": self.request_scan.word(),
            "answer_scan": self.answer_scan.word(),
            "request_unscanned": self.request_unscanned,
            "answer_unscanned": self.answer_unscanned,
            "fault": self.fault,
        });
        if let (Some(usage), Some(line)) = (&self.usage, line.as_object_mut()) {
            line.insert("model".to_owned(), usage.model.into());
            line.insert("input_tokens".to_owned(), usage.input_tokens.into());
            line.insert("cached_input_tokens".to_owned(), usage.cached_input_tokens.into());
            line.insert("output_tokens".to_owned(), usage.output_tokens.into());
            line.insert("estimated_tokens".to_owned(), usage.estimated.into());
            line.insert("cost_usd".to_owned(), usage.cost.as_deref().into());
        }
        line.to_string()
    }
}
