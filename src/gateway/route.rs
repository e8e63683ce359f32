//! Which requests pass which filters: [`Route`], [`Match`], and the [`RouteTable`] that is swapped whole on reload.
//!
//! Our own endpoints come first, by their exact paths; then the configured routes, the first that fits, in the
//! order of the file.

use std::sync::Arc;

use http::Method;
use regex::Regex;

use crate::api::{EndpointMatch, Endpoints};
use crate::base::path::{PathError, RequestPath};
use crate::gateway::filter::Filter;
use crate::gateway::llm::ProtocolChoice;
use crate::gateway::route_info::RouteInfo;
use crate::telemetry::Refusal;

/// A configuration that names one filter twice.
#[derive(Debug, thiserror::Error)]
#[error("filter `{0}` is there twice")]
pub struct DuplicateFilter(&'static str);

/// Which requests take a route, and the filters they pass, in order.
pub struct Route {
    matches: Match,
    info: Arc<RouteInfo>,
    filters: Vec<Arc<dyn Filter>>,
    answers_preflights: bool,
}

/// What a route is made from.
pub struct RouteParts {
    /// Which requests take it.
    pub matches: Match,
    /// Its filters, in any order.
    pub filters: Vec<Arc<dyn Filter>>,
    /// All else.
    pub info: RouteInfo,
}

impl Route {
    /// Sorts the filters by stage.
    ///
    /// # Errors
    /// The same filter twice.
    pub fn new(mut parts: RouteParts) -> Result<Self, DuplicateFilter> {
        parts.filters.sort_by_key(|filter| filter.stage());
        for (n, filter) in parts.filters.iter().enumerate() {
            if parts.filters.iter().take(n).any(|other| other.name() == filter.name()) {
                return Err(DuplicateFilter(filter.name()));
            }
        }
        let RouteParts { matches, filters, info } = parts;
        let answers_preflights = filters.iter().any(|filter| filter.answers_preflights());
        Ok(Self { matches, info: Arc::new(info), filters, answers_preflights })
    }

    /// What a request needs to know of it.
    pub fn info(&self) -> &Arc<RouteInfo> {
        &self.info
    }

    /// The filters in the order of their stages.
    pub fn filters(&self) -> &[Arc<dyn Filter>] {
        &self.filters
    }
}

/// Which requests a route takes. Empty lists take all.
#[derive(Clone, Debug, Default)]
pub struct Match {
    /// Host names, lower-case; `*.example.com` takes every name below it.
    pub hosts: Vec<String>,
    /// The path.
    pub path: PathMatch,
    /// Methods.
    pub methods: Vec<Method>,
}

/// Which paths a route takes, as [`RequestPath::compared`] has them.
#[derive(Clone, Debug)]
pub enum PathMatch {
    /// Those that begin with this by whole segments: `/v1` and `/v1/` take `/v1/x`, only the first takes `/v1`, and
    /// neither `/v1x`.
    Prefix(String),
    /// Those that match from end to end.
    Pattern(Regex),
}

impl Default for PathMatch {
    fn default() -> Self {
        Self::Prefix("/".to_owned())
    }
}

impl Match {
    fn takes(&self, host: &str, path: &RequestPath) -> bool {
        let path = path.compared();
        let host_fits = |pattern: &String| match pattern.strip_prefix('*') {
            Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
            None => host == pattern,
        };
        let path_fits = match &self.path {
            PathMatch::Prefix(prefix) => {
                let whole = prefix.trim_end_matches('/');
                path.strip_prefix(whole)
                    .is_some_and(|rest| rest.starts_with('/') || (rest.is_empty() && whole == prefix))
            }
            PathMatch::Pattern(pattern) => pattern.is_match(path),
        };
        path_fits && (self.hosts.is_empty() || self.hosts.iter().any(host_fits))
    }

    fn takes_method(&self, method: &Method) -> bool {
        self.methods.is_empty() || self.methods.contains(method)
    }
}

/// Where a request goes.
pub enum RouteMatch {
    /// Along this route.
    Route(Arc<Route>),
    /// Nowhere: the path takes other methods, as `Allow` says; and what is spoken there.
    OtherMethod(String, ProtocolChoice),
    /// Nowhere: nothing is there.
    Nothing,
    /// Nowhere: the path is refused.
    BadPath(PathError),
    /// Nowhere: servers that decode separators or leave out parameters would take the path for one that has another
    /// route.
    TwoPaths,
}

/// What was found, and how far down the table: the higher the more it says of the path.
struct RankedRoute {
    found: RouteMatch,
    depth: usize,
}

/// All routes of the process at one moment.
pub struct RouteTable {
    endpoints: Endpoints,
    /// One for each endpoint, in their order.
    native: Vec<Arc<Route>>,
    /// The same for requests that routes of the configuration lead to endpoints, first fit wins.
    led: Vec<EndpointRoutes>,
    /// Exact paths answered with GET or HEAD: health, public keys.
    probes: Vec<(&'static str, Arc<Route>)>,
    routes: Vec<Arc<Route>>,
    /// The same for requests that another proxy carries: none of our endpoints is among them.
    processed: Option<Box<RouteTable>>,
    /// Sees what no route takes, so that it is logged and counted.
    unmatched: Arc<Route>,
    /// None where nothing is refused: health and metrics must be seen under load too.
    shed: Option<Arc<dyn Filter>>,
}

/// Requests that a route of the configuration leads to endpoints of ours, and what they pass on their way.
pub struct EndpointRoutes {
    /// Which requests.
    pub matches: Match,
    /// A route for each endpoint, in the table's order.
    pub native: Vec<Arc<Route>>,
}

/// What a table is made from.
pub struct TableParts {
    /// The API's table.
    pub endpoints: Endpoints,
    /// A route for each endpoint, in the table's order.
    pub native: Vec<Arc<Route>>,
    /// The same for requests that routes of the configuration lead to endpoints.
    pub led: Vec<EndpointRoutes>,
    /// Exact paths for GET and HEAD.
    pub probes: Vec<(&'static str, Arc<Route>)>,
    /// The configured routes, first fit wins.
    pub routes: Vec<Arc<Route>>,
    /// Those of requests that another proxy carries, and has processed here.
    pub processed: Vec<Arc<Route>>,
    /// What is walked when nothing fits.
    pub unmatched: Arc<Route>,
    /// The filter that refuses what is too much, the same on all routes that have it.
    pub shed: Option<Arc<dyn Filter>>,
}

impl From<TableParts> for RouteTable {
    fn from(parts: TableParts) -> Self {
        let TableParts { endpoints, native, led, probes, routes, processed, unmatched, shed } = parts;
        let of_proxies = |routes| {
            Box::new(Self {
                endpoints: Endpoints::default(),
                native: Vec::new(),
                led: Vec::new(),
                probes: Vec::new(),
                routes,
                processed: None,
                unmatched: Arc::clone(&unmatched),
                shed: shed.clone(),
            })
        };
        let processed = (!processed.is_empty()).then(|| of_proxies(processed));
        Self { endpoints, native, led, probes, routes, processed, unmatched, shed }
    }
}

impl RouteTable {
    /// Finds the route of a request. `host` is lower-case and without a port; `preflight` is the method that a preflight asks
    /// about: it goes where such a request would, if preflights are answered there.
    ///
    /// A path that some servers would read as one that an earlier place of the table takes goes nowhere: who decodes
    /// `/secret%2Fx` is asked for `/secret/x`, whatever the route of `/` lets pass.
    pub fn find(
        &self,
        method: &Method,
        host: &str,
        path: &RequestPath,
        preflight: Option<&Method>,
    ) -> RouteMatch {
        let Some(asked) = preflight else { return self.find_by(method, host, path) };
        match self.find_by(asked, host, path) {
            RouteMatch::Route(route) if route.answers_preflights => RouteMatch::Route(route),
            about => match self.find_by(method, host, path) {
                // Another route would answer for itself, and the request would not go there.
                RouteMatch::Route(other) if other.answers_preflights => match about {
                    RouteMatch::Route(_) => RouteMatch::Nothing,
                    refused => refused,
                },
                found => found,
            },
        }
    }

    fn find_by(&self, method: &Method, host: &str, path: &RequestPath) -> RouteMatch {
        let place = self.place(method, host, path);
        let earlier = |other: &RequestPath| self.place(method, host, other).depth < place.depth;
        match place.found {
            RouteMatch::Route(_) if path.readings().iter().any(earlier) => RouteMatch::TwoPaths,
            found => found,
        }
    }

    fn place(&self, method: &Method, host: &str, path: &RequestPath) -> RankedRoute {
        match self.endpoints.find(method, host, path) {
            EndpointMatch::Found(index) => {
                let fits =
                    |led: &&EndpointRoutes| led.matches.takes(host, path) && led.matches.takes_method(method);
                let native = self.led.iter().find(fits).map_or(&self.native, |led| &led.native).get(index);
                let found = native.map_or(RouteMatch::Nothing, |route| RouteMatch::Route(Arc::clone(route)));
                return RankedRoute { found, depth: 0 };
            }
            EndpointMatch::OtherMethod(allow) => {
                let found = RouteMatch::OtherMethod(allow, ProtocolChoice::Generic);
                return RankedRoute { found, depth: 0 };
            }
            EndpointMatch::Nothing => {}
        }
        if let Some((_, route)) = self.probes.iter().find(|(probe, _)| *probe == path.compared()) {
            let found = match *method {
                Method::GET | Method::HEAD => RouteMatch::Route(Arc::clone(route)),
                _ => RouteMatch::OtherMethod("GET, HEAD".to_owned(), ProtocolChoice::Generic),
            };
            return RankedRoute { found, depth: 1 };
        }
        let (mut others, mut spoken): (Vec<&str>, _) = (Vec::new(), None);
        for (at, route) in self.routes.iter().enumerate().filter(|(_, r)| r.matches.takes(host, path)) {
            if route.matches.takes_method(method) {
                return RankedRoute { found: RouteMatch::Route(Arc::clone(route)), depth: at + 2 };
            }
            others.extend(route.matches.methods.iter().map(Method::as_str));
            spoken = spoken.or(Some(route.info.protocols));
        }
        let found = match spoken {
            None => RouteMatch::Nothing,
            Some(protocols) => RouteMatch::OtherMethod(others.join(", "), protocols),
        };
        RankedRoute { found, depth: usize::MAX }
    }

    /// The table of requests that another proxy carries.
    pub fn processed(&self) -> &Self {
        self.processed.as_deref().unwrap_or(self)
    }

    /// The filter that refuses what is too much, and why it would do so now.
    pub fn full(&self) -> Option<(&Arc<dyn Filter>, Refusal)> {
        let shed = self.shed.as_ref()?;
        Some((shed, shed.rejects_all()?))
    }

    /// The route of what no route takes.
    pub fn unmatched(&self) -> &Arc<Route> {
        &self.unmatched
    }
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
