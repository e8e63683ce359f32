//! Whether the process lives (`/healthz`) and may be sent traffic (`/readyz`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use futures_util::future::BoxFuture;
use http::StatusCode;

use crate::api::call::{ApiAnswer, ApiCall, Handler};

/// Where probes ask whether the process lives, and whether it may be sent traffic.
pub const HEALTH_PATH: &str = "/healthz";
/// See [`HEALTH_PATH`].
pub const READINESS_PATH: &str = "/readyz";

/// Whether the process takes traffic: not yet, now, or no more; and by what it finds names.
#[derive(Clone, Debug, Default)]
pub struct Ready(Arc<ReadyState>);

#[derive(Debug, Default)]
struct ReadyState {
    phase: AtomicU8,
    names_model: AtomicBool,
}

const STARTING: u8 = 0;
const READY: u8 = 1;
const DRAINING: u8 = 2;

impl Ready {
    /// The process takes traffic from now on, unless it has ended meanwhile.
    pub fn begin(&self) {
        // Who has set it already needs no word.
        let _ = self.0.phase.compare_exchange(STARTING, READY, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Whether the names model is loaded, from now on.
    pub fn find_names_by_model(&self, loaded: bool) {
        self.0.names_model.store(loaded, Ordering::Release);
    }

    /// The process ends: load balancers should look elsewhere.
    pub fn end(&self) {
        self.0.phase.store(DRAINING, Ordering::Release);
    }
}

/// `GET /healthz`: 200 as long as requests are answered at all.
pub struct Health;

impl Handler for Health {
    fn call<'a>(&'a self, _: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async { ApiAnswer::json(StatusCode::OK, r#"{"status":"alive"}"#) })
    }
}

/// `GET /readyz`: 200 while the process takes traffic, else 503; and whether the names model is loaded.
pub struct Readiness(pub Ready);

impl Handler for Readiness {
    fn call<'a>(&'a self, _: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        let state = &self.0.0;
        let (code, status) = match state.phase.load(Ordering::Acquire) {
            READY => (StatusCode::OK, "ready"),
            STARTING => (StatusCode::SERVICE_UNAVAILABLE, "starting"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "draining"),
        };
        let names_model = state.names_model.load(Ordering::Acquire);
        let body = format!(r#"{{"status":"{status}","names_model":{names_model}}}"#);
        Box::pin(async move { ApiAnswer::json(code, body) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_does_not_begin_again() {
        let ready = Ready::default();
        let state = || ready.0.phase.load(Ordering::Acquire);
        assert_eq!(state(), STARTING);
        ready.begin();
        assert_eq!(state(), READY);
        ready.end();
        ready.begin();
        assert_eq!(state(), DRAINING);
    }
}
