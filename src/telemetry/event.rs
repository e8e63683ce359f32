//! Typed events. No field can hold text from a body, a header's value or a path: what is logged of a request is
//! which route it took, how it ended, and counts.

use std::net::IpAddr;
use std::time::Duration;

use crate::base::id::{RequestId, TokenId};

/// Whether a body was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scan {
    /// There was no body, or the route redacts nothing in this direction.
    #[default]
    NotAsked,
    /// Every byte was looked at.
    Scanned,
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
    /// The connection became another protocol (status 101).
    Upgraded,
}

impl Scan {
    /// The word the log and the metrics use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotAsked => "not_asked",
            Self::Scanned => "scanned",
            Self::NotScanned(Unscanned::ContentType) => "not_scanned_content_type",
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
    /// Whether the request's body was looked at.
    pub request_scan: Scan,
    /// Whether the answer's body was looked at.
    pub answer_scan: Scan,
    /// What went wrong, as a closed word; `-` when nothing did.
    pub fault: &'static str,
}

impl Access<'_> {
    /// Writes the access log line.
    pub fn log(&self) {
        tracing::info!(
            target: "portcullis::access",
            request_id = %self.id,
            route = self.route,
            method = self.method,
            status = self.status,
            took_us = u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX),
            client = self.client.map(tracing::field::display),
            token = self.token.map(tracing::field::display),
            bytes_in = self.bytes_in,
            bytes_out = self.bytes_out,
            redacted = self.redacted,
            restored = self.restored,
            request_scan = self.request_scan.word(),
            answer_scan = self.answer_scan.word(),
            fault = self.fault,
            "request"
        );
    }
}
