//! [`LivePages`]: what is answered.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::console::live::history::History;
use crate::console::live::{page, requests};
use crate::console::running::RunningConfig;
use crate::console::visit::{PageContext, PageReply, PageRequest, Section, Visit};
use crate::telemetry::RecentRequests;

/// The section of figures and requests as they come.
pub(in crate::console) struct LivePages {
    /// The last hour.
    pub(in crate::console) history: Arc<History>,
    /// The last requests.
    pub(in crate::console) recent: Arc<RecentRequests>,
    /// What runs: it says what is counted.
    pub(in crate::console) running: Arc<RunningConfig>,
}

impl LivePages {
    /// What the page says of the configuration: whether the last one that was read is in use, and which upstreams have a breaker
    /// and are checked.
    fn config(&self) -> Value {
        let failed = self.running.attempts().first().is_some_and(|attempt| attempt.failed.is_some());
        let config = self.running.config();
        let upstreams: Map<String, Value> = config
            .iter()
            .flat_map(|config| &config.upstreams)
            .map(|(name, one)| {
                let known = json!({ "breaker": one.breaker.is_some(), "checked": one.health.is_some() });
                (name.to_string(), known)
            })
            .collect();
        json!({ "unused": failed, "upstreams": upstreams })
    }

    fn reply(&self, visit: &Visit<'_>) -> PageReply {
        // What is no number is from no page of ours, and gets all there is.
        let number = |name| visit.query.text(name).parse().unwrap_or(0);
        match (visit.asked, visit.rest) {
            (PageRequest::Show, "") => PageReply::Page(PageContext {
                title: "Live".to_owned(),
                content: page::page(self.running.config().as_deref()),
                scripts: &["charts.js", "requests.js", "live.js"],
            }),
            (PageRequest::Show, "figures.json") => {
                PageReply::Json(StatusCode::OK, self.history.figures(number("since"), &self.config()))
            }
            (PageRequest::Show, "requests.json") => {
                let part = match number("before") {
                    0 => self.recent.after(number("after"), requests::MOST),
                    before => self.recent.before(before, requests::MOST),
                };
                let config = self.running.config();
                let catalogue = config.as_ref().map(|config| &config.catalogue);
                PageReply::Json(StatusCode::OK, requests::shown(&part, self.history.begun(), catalogue))
            }
            _ => PageReply::NotFound,
        }
    }
}

impl Section for LivePages {
    fn path(&self) -> &'static str {
        "/live"
    }

    fn name(&self) -> &'static str {
        "Live"
    }

    fn call<'v>(&'v self, visit: Visit<'v>) -> BoxFuture<'v, PageReply> {
        let reply = self.reply(&visit);
        Box::pin(async move { reply })
    }
}
