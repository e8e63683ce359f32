//! Typed events. No field can hold text from a body, a header's value or a path: what is logged of a request is
//! which route it took, how it ended, and counts.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use serde_json::json;

use crate::base::clock::Timestamp;
use crate::base::id::{RequestId, TokenId};
use crate::telemetry::addresses::Addresses;

/// Whether a body was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scan {
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

impl Scan {
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
    pub request_scan: Scan,
    /// Whether the answer's body was looked at.
    pub answer_scan: Scan,
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
    /// What was found, by rule, both ways together.
    pub findings: &'a BTreeMap<String, u64>,
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
            bytes_in: 0,
            bytes_out: 0,
            redacted: 0,
            restored: 0,
            kept_in_urls: 0,
            request_scan: Scan::NotAsked,
            answer_scan: Scan::NotAsked,
            request_unscanned: 0,
            answer_unscanned: 0,
            fault: "-",
            time: Timestamp::from_millis(0),
            upstream: None,
            attempts: 0,
            protocol: "-",
            findings: &NOTHING,
        }
    }

    fn micros(&self) -> u64 {
        u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX)
    }

    /// Writes the access log line into the process's log.
    pub(super) fn log(&self, addresses: Addresses) {
        let findings: Vec<String> =
            self.findings.iter().map(|(rule, count)| format!("{rule}={count}")).collect();
        tracing::info!(
            target: "portcullis::access",
            request_id = %self.id,
            route = self.route,
            method = self.method,
            status = self.status,
            took_us = self.micros(),
            client = addresses.shown(self.client).map(tracing::field::display),
            token = self.token.map(tracing::field::display),
            protocol = self.protocol,
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
            fault = self.fault,
            "request"
        );
    }

    /// The line as one JSON object.
    pub(super) fn json(&self, addresses: Addresses) -> String {
        let line = json!({
            "timestamp": self.time.iso8601(),
            "level": "INFO",
            "target": "portcullis::access",
            "message": "request",
            "request_id": self.id.to_string(),
            "route": self.route,
            "method": self.method,
            "status": self.status,
            "took_us": self.micros(),
            "client": addresses.shown(self.client).map(|address| address.to_string()),
            "token": self.token.map(ToString::to_string),
            "protocol": self.protocol,
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
        line.to_string()
    }
}
