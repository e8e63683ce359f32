//! [`FailureTimes`]: what the log is told of failures of a pool: why, and not a byte of what was sent or came.

use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::mem::Discriminant;
use std::sync::{Mutex, PoisonError};

use pingora::{Error, ErrorType};

use crate::base::throttle::LogThrottle;
use crate::telemetry::UpstreamFailure;

/// The longest reason, in characters: names in certificates are others' words.
const LONGEST: usize = 400;

/// What the operating system says when it, or the process, has no file descriptors left: `ENFILE`, `EMFILE`.
const NO_DESCRIPTORS: [i32; 2] = [23, 24];

/// What was told when, of each kind of failure.
#[derive(Default)]
pub(super) struct FailureTimes {
    /// By what kind of error it was: a closed list.
    kinds: Mutex<HashMap<Discriminant<ErrorType>, LogThrottle>>,
    lookups: LogThrottle,
}

impl FailureTimes {
    /// A request to `peer` failed.
    pub(super) fn failure(&self, upstream: &str, peer: &str, error: &Error) {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let due = kinds.entry(std::mem::discriminant(error.etype())).or_default().due();
        drop(kinds);
        let Some(unsaid) = due else { return };
        let kind = if is_ours(error) { "descriptors" } else { failure_of(error).word() };
        let why = reason(error);
        tracing::warn!(target: "portcullis::upstream", upstream, peer, kind, why, unsaid, "a request to the upstream failed");
    }

    /// No address was found for `peer`.
    pub(super) fn lookup(&self, upstream: &str, peer: &str, why: &str) {
        let Some(unsaid) = self.lookups.due() else { return };
        tracing::warn!(target: "portcullis::upstream", upstream, peer, kind = "dns", why, unsaid, "the upstream's name cannot be looked up");
    }
}

/// What kind of failure a Pingora error is.
pub fn failure_of(error: &Error) -> UpstreamFailure {
    match error.etype() {
        ErrorType::ConnectTimedout
        | ErrorType::ConnectRefused
        | ErrorType::ConnectNoRoute
        | ErrorType::ConnectError
        | ErrorType::BindError
        | ErrorType::SocketError => UpstreamFailure::Connect,
        ErrorType::TLSHandshakeFailure
        | ErrorType::TLSHandshakeTimedout
        | ErrorType::TLSWantX509Lookup
        | ErrorType::InvalidCert
        | ErrorType::HandshakeError => UpstreamFailure::Tls,
        ErrorType::ReadTimedout | ErrorType::WriteTimedout => UpstreamFailure::Timeout,
        _ => UpstreamFailure::Broken,
    }
}

/// Whether the failure is this machine's and not the peer's: there is no file descriptor for a connection.
pub fn is_ours(error: &Error) -> bool {
    let mut cause = error.cause.as_deref();
    while let Some(inner) = cause {
        let Some(inner) = inner.downcast_ref::<Box<Error>>() else {
            let number = inner.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
            return number.is_some_and(|number| NO_DESCRIPTORS.contains(&number));
        };
        cause = inner.cause.as_deref();
    }
    false
}

/// Why, in words for people. What Pingora says of a connection that is being made is its own and TLS's; what it says of one
/// that carries a request may quote that, and is left out.
pub(super) fn reason(error: &Error) -> String {
    let whole = match failure_of(error) {
        UpstreamFailure::Connect | UpstreamFailure::Tls => error.to_string(),
        _ => types(error),
    };
    whole.chars().take(LONGEST).collect()
}

/// The kinds of errors that led to one another, and the operating system's and TLS's own words at their end.
fn types(error: &Error) -> String {
    let mut all = vec![error.etype().as_str().to_owned()];
    let mut cause = error.cause.as_deref();
    while let Some(inner) = cause {
        cause = if let Some(inner) = inner.downcast_ref::<Box<Error>>() {
            all.push(inner.etype().as_str().to_owned());
            inner.cause.as_deref()
        } else {
            all.extend(inner.downcast_ref::<io::Error>().map(system));
            None
        };
    }
    all.dedup();
    all.join(": ")
}

fn system(error: &io::Error) -> String {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match (error.raw_os_error(), tls) {
        (None, Some(tls)) => tls.to_string(),
        (Some(_), _) => error.to_string(),
        (None, None) => match error.source().and_then(|inner| inner.downcast_ref::<io::Error>()) {
            Some(inner) => inner.kind().to_string(),
            None => error.kind().to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_descriptors_is_ours_and_nothing_else_is() {
        let failed = |number| {
            let socket = io::Error::from_raw_os_error(number);
            let inner = Error::because(ErrorType::SocketError, "failed to create socket", socket);
            Error::because(ErrorType::InternalError, "Fail to connect", inner)
        };
        assert!(is_ours(&failed(24)) && is_ours(&failed(23)));
        assert!(!is_ours(&failed(111)) && !is_ours(&Error::new_up(ErrorType::ConnectTimedout)));
        assert!(reason(&failed(24)).contains("os error 24"), "{}", reason(&failed(24)));
    }

    #[test]
    fn why_is_said_and_nothing_that_was_sent_or_came() {
        let reset = || io::Error::from_raw_os_error(104);
        let wrapped = Error::because(ErrorType::ReadError, "buf: SECRET", reset());
        let broken = Error::because(ErrorType::H1Error, "while reading SECRET", wrapped);
        assert_eq!(reason(&broken), "H1Error: ReadError: Connection reset by peer (os error 104)");
        let odd = Error::because(ErrorType::InvalidHTTPHeader, "SECRET", io::Error::other("SECRET"));
        assert_eq!(reason(&odd), "InvalidHTTPHeader: other error");
        let late = Error::explain(ErrorType::ReadTimedout, "SECRET");
        assert_eq!(reason(&late), "ReadTimedout");
        let expired = rustls::Error::InvalidCertificate(rustls::CertificateError::Expired);
        let refused =
            Error::explain(ErrorType::TLSHandshakeFailure, format!("TLS connect() failed: {expired}"));
        assert!(reason(&refused).contains("certificate: Expired"), "{}", reason(&refused));
        let refused =
            Error::because(ErrorType::ConnectRefused, "Fail to connect", io::Error::from_raw_os_error(111));
        assert!(reason(&refused).contains("Connection refused"), "{}", reason(&refused));
        let long = Error::explain(ErrorType::InvalidCert, "x".repeat(10 * LONGEST));
        assert_eq!(reason(&long).len(), LONGEST);
    }
}
