//! Metrics and health on a listener of their own, by the same chain as everything else.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::StatusCode;

use crate::api::{ApiAnswer, ApiCall, Endpoints, HEALTH_PATH, Handler, Health, READINESS_PATH, Readiness};
use crate::app::error::AppError;
use crate::app::services::Services;
use crate::gateway::filter::Filter;
use crate::gateway::route::{Match, Route, RouteParts, RouteTable, TableParts};
use crate::gateway::route_info::RouteInfo;
use crate::gateway::terminal::{StaticAnswer, Terminal};

/// `GET /metrics`: the exposition, with what the routes have counted since the last one.
struct Exposition(Arc<Services>);

impl Handler for Exposition {
    fn call<'a>(&'a self, _: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        let text = self.0.exposition();
        Box::pin(async move {
            match text {
                Ok(text) => ApiAnswer::new(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text),
                Err(_) => ApiAnswer::json(StatusCode::INTERNAL_SERVER_ERROR, r#"{"status":"error"}"#),
            }
        })
    }
}

/// The health probes, which both listeners serve.
pub(super) fn probes(parts: &Services) -> Result<Vec<(&'static str, Arc<Route>)>, AppError> {
    let health: Arc<dyn Handler> = Arc::new(Health);
    let readiness: Arc<dyn Handler> = Arc::new(Readiness(parts.ready.clone()));
    Ok(vec![
        (HEALTH_PATH, silent(parts, "healthz", health)?),
        (READINESS_PATH, silent(parts, "readyz", readiness)?),
    ])
}

/// A route without a log line: probes come every few seconds.
fn silent(parts: &Services, name: &str, handler: Arc<dyn Handler>) -> Result<Arc<Route>, AppError> {
    native(parts, name, Terminal::Native(handler), Vec::new())
}

pub(super) fn native(
    parts: &Services,
    name: &str,
    terminal: Terminal,
    filters: Vec<Arc<dyn Filter>>,
) -> Result<Arc<Route>, AppError> {
    bounded(parts, name, terminal, filters, 64 << 10)
}

/// The route of one path of ours, whose requests have bodies of at most `limit` bytes.
pub(super) fn bounded(
    parts: &Services,
    name: &str,
    terminal: Terminal,
    filters: Vec<Arc<dyn Filter>>,
    limit: usize,
) -> Result<Arc<Route>, AppError> {
    let metrics = parts.metrics.route(name, &[]);
    let info = RouteInfo { max_body: Some(limit), ..RouteInfo::generic(name, terminal, metrics) };
    let route = Route::new(RouteParts { matches: Match::default(), filters, info });
    route.map(Arc::new).map_err(|error| AppError::Route(name.to_owned(), error.to_string()))
}

/// What is not there.
pub(super) fn not_found(body: &'static str) -> StaticAnswer {
    StaticAnswer { status: StatusCode::NOT_FOUND, media_type: "application/json", body: body.into() }
}

/// The admin listener's table, with the route to the console, if that is there.
pub(super) fn table(parts: &Arc<Services>, console: Option<Arc<Route>>) -> Result<RouteTable, AppError> {
    let mut probes = probes(parts)?;
    let metrics: Arc<dyn Handler> = Arc::new(Exposition(Arc::clone(parts)));
    probes.push(("/metrics", silent(parts, "metrics", metrics)?));
    let nothing = Terminal::Fixed(not_found(r#"{"status":"not found"}"#));
    let unmatched = native(parts, "-", nothing, vec![parts.log()])?;
    // It takes every other path: a unmatched one is refused before it gets anywhere.
    let routes = console.into_iter().collect();
    let (endpoints, native_routes, led) = (Endpoints::default(), Vec::new(), Vec::new());
    Ok(TableParts {
        endpoints,
        native: native_routes,
        led,
        probes,
        routes,
        processed: Vec::new(),
        unmatched,
        shed: None,
    }
    .into())
}
