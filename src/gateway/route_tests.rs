//! Which requests take which route.

use std::time::Duration;

use futures_util::future::BoxFuture;

use super::*;
use crate::api::token::Service;
use crate::api::{ApiAnswer, ApiCall, EndpointAccess, Handler, Mount};
use crate::gateway::filters::{CorsFilter, CorsParts};
use crate::gateway::origin::OriginRule;
use crate::gateway::testing::fixed;
use crate::telemetry::Metrics;

#[test]
fn hosts_and_paths_fit_as_documented() {
    let rows: &[(&str, PathMatch, &str, &str, bool)] = &[
        ("api.example.com", PathMatch::default(), "api.example.com", "/", true),
        ("api.example.com", PathMatch::default(), "example.com", "/", false),
        ("*.example.com", PathMatch::default(), "a.b.example.com", "/x", true),
        ("*.example.com", PathMatch::default(), "example.com", "/x", false),
        ("*.example.com", PathMatch::default(), ".example.com", "/x", false),
        ("h", PathMatch::Prefix("/v1/".into()), "h", "/v1/chat", true),
        ("h", PathMatch::Prefix("/v1/".into()), "h", "/v1", false),
        ("h", PathMatch::Prefix("/v1".into()), "h", "/v1", true),
        ("h", PathMatch::Prefix("/v1".into()), "h", "/v1x", false),
        ("h", PathMatch::Pattern(Regex::new("^/v[0-9]+/x$").unwrap()), "h", "/v12/x", true),
    ];
    for (pattern, path_match, host, path, fits) in rows {
        let matches = Match { hosts: vec![(*pattern).to_owned()], path: path_match.clone(), methods: vec![] };
        let path = RequestPath::parse(path).unwrap();
        assert_eq!(matches.takes(host, &path), *fits, "{pattern} {host} {path:?}");
    }
}

fn taking(path: &str, methods: &[Method]) -> Match {
    Match { hosts: Vec::new(), path: PathMatch::Prefix(path.to_owned()), methods: methods.to_vec() }
}

/// A route of this name, with CORS or without.
fn named(name: &str, matches: Match, cors: bool) -> Arc<Route> {
    let filter = || -> Arc<dyn Filter> {
        Arc::new(CorsFilter::new(CorsParts {
            origins: vec![OriginRule::Any],
            methods: None,
            headers: None,
            expose: Vec::new(),
            credentials: false,
            max_age: Duration::ZERO,
        }))
    };
    let filters = cors.then(filter).into_iter().collect();
    let info = RouteInfo::generic(name, fixed(), Metrics::new().unwrap().route(name, &[]));
    Arc::new(Route::new(RouteParts { matches, filters, info }).unwrap())
}

fn table(
    routes: Vec<Arc<Route>>,
    endpoints: Endpoints,
    native: [Arc<Route>; 1],
    led: Vec<EndpointRoutes>,
) -> RouteTable {
    let unmatched = named("-", Match::default(), false);
    let (native, probes) = (native.into(), Vec::new());
    TableParts { endpoints, native, led, probes, routes, processed: Vec::new(), unmatched, shed: None }.into()
}

fn found(table: &RouteTable, method: Method, path: &str, preflight: Option<Method>) -> String {
    let path = RequestPath::parse(path).unwrap();
    match table.find(&method, "h", &path, preflight.as_ref()) {
        RouteMatch::Route(route) => route.info().name.clone(),
        RouteMatch::OtherMethod(allow, _) => format!("405 {allow}"),
        RouteMatch::TwoPaths => "400".to_owned(),
        RouteMatch::Nothing | RouteMatch::BadPath(_) => "404".to_owned(),
    }
}

#[test]
fn a_preflight_goes_where_the_request_would_that_it_asks_about() {
    let routes = vec![
        named("reads", taking("/a", &[Method::GET]), true),
        named("writes", taking("/a", &[Method::POST, Method::OPTIONS]), true),
        named("own", taking("/b", &[]), false),
        named("both", taking("/c", &[Method::POST, Method::OPTIONS]), true),
        named("after", taking("/d", &[Method::POST]), false),
        named("later", taking("/d", &[]), true),
    ];
    let table = table(routes, Endpoints::default(), [named("native", Match::default(), false)], Vec::new());
    let rows = [
        ("/a", Some(Method::GET), "reads"),
        ("/a", Some(Method::POST), "writes"),
        ("/a", Some(Method::PUT), "405 GET, POST, OPTIONS"),
        ("/a", None, "writes"),
        ("/b", Some(Method::POST), "own"),
        ("/c", Some(Method::POST), "both"),
        ("/c", Some(Method::OPTIONS), "both"),
        ("/c", Some(Method::DELETE), "405 POST, OPTIONS"),
        ("/d", Some(Method::PUT), "later"),
        // Nobody answers for a route that answers no preflights.
        ("/d", Some(Method::POST), "404"),
        ("/d", None, "later"),
        ("/x", Some(Method::GET), "404"),
    ];
    for (path, preflight, want) in rows {
        assert_eq!(found(&table, Method::OPTIONS, path, preflight.clone()), want, "{path} {preflight:?}");
    }
    let only_get = vec![named("reads", taking("/a", &[Method::GET]), true)];
    let table =
        self::table(only_get, Endpoints::default(), [named("native", Match::default(), false)], Vec::new());
    assert_eq!(found(&table, Method::OPTIONS, "/a", Some(Method::POST)), "405 GET");
    assert_eq!(found(&table, Method::OPTIONS, "/a", Some(Method::GET)), "reads");
    assert_eq!(found(&table, Method::OPTIONS, "/a", None), "405 GET");
}

#[test]
fn requests_that_a_route_leads_to_an_endpoint_pass_what_the_route_says() {
    struct Nothing;
    impl Handler for Nothing {
        fn call<'a>(&'a self, _: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
            unreachable!("nobody calls it")
        }
    }
    let mut endpoints = Endpoints::default();
    let mount = Mount {
        method: Method::POST,
        service: Service::Redact,
        path: "/v1/redact",
        below: false,
        bare: true,
        guard: EndpointAccess::Token,
        limit: 0,
    };
    endpoints.mount(mount, Arc::new(Nothing));
    let led = |name: &str, matches: Match| EndpointRoutes {
        matches,
        native: vec![named(name, Match::default(), name.starts_with("shared"))],
    };
    let hosted = Match { hosts: vec!["other".to_owned()], ..Match::default() };
    let led = vec![
        led("hosted", hosted),
        led("shared below", taking("/redact", &[])),
        led("put", taking("/", &[Method::PUT])),
    ];
    let table = table(Vec::new(), endpoints, [named("native", Match::default(), false)], led);
    let rows = [
        (Method::POST, "/v1/redact", None, "native"),
        (Method::POST, "/redact/v1/redact", None, "shared below"),
        (Method::OPTIONS, "/redact/v1/redact", Some(Method::POST), "shared below"),
        (Method::OPTIONS, "/redact/v1/redact", Some(Method::PUT), "405 POST"),
        (Method::OPTIONS, "/redact/v1/redact", None, "405 POST"),
        (Method::OPTIONS, "/v1/redact", Some(Method::POST), "405 POST"),
        (Method::PUT, "/redact/v1/redact", None, "405 POST"),
        (Method::GET, "/redact", None, "404"),
    ];
    for (method, path, preflight, want) in rows {
        assert_eq!(found(&table, method.clone(), path, preflight), want, "{method} {path}");
    }
}
