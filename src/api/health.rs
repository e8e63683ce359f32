//! Whether the process lives (`/healthz`) and may be sent traffic (`/readyz`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;

use crate::api::call::{Answer, BoxFuture, Call, Handler};

/// Set while the process takes traffic; cleared when it begins to drain.
#[derive(Clone, Debug, Default)]
pub struct Ready(Arc<AtomicBool>);

impl Ready {
    /// The process takes traffic from now on.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// The process ends: load balancers should look elsewhere.
    pub fn end(&self) {
        self.0.store(false, Ordering::Release);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// `GET /healthz`: 200 as long as requests are answered at all.
pub struct Health;

impl Handler for Health {
    fn call<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(async { Answer::json(StatusCode::OK, r#"{"status":"alive"}"#) })
    }
}

/// `GET /readyz`: 200 while the process takes traffic, else 503.
pub struct Readiness(pub Ready);

impl Handler for Readiness {
    fn call<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Answer> {
        let (status, body) = match self.0.is_set() {
            true => (StatusCode::OK, r#"{"status":"ready"}"#),
            false => (StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"draining"}"#),
        };
        Box::pin(async move { Answer::json(status, body) })
    }
}
