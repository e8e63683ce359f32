//! What browsers are told, by the fields of answers.

use std::sync::Arc;

use super::*;
use crate::gateway::testing::{Act, Journal, ask, exchange, fixed, gateway, recorder, route, serve};

type Fields = Vec<(&'static str, &'static str)>;

const APP: (&str, &str) = ("origin", "https://app.test");
const EVIL: (&str, &str) = ("origin", "https://evil.test");
const POST: (&str, &str) = ("access-control-request-method", "POST");

/// Pages of one origin and those below another, with all else as by default.
fn parts(origins: &[&str]) -> CorsParts {
    CorsParts {
        origins: origins.iter().map(|origin| OriginRule::parse(origin).unwrap()).collect(),
        methods: None,
        headers: None,
        expose: Vec::new(),
        credentials: false,
        max_age: Duration::from_secs(600),
    }
}

fn request(parts: CorsParts, method: &str, fields: &[(&'static str, &str)]) -> (Arc<CorsFilter>, Exchange) {
    let filter = Arc::new(CorsFilter::new(parts));
    let x = exchange(&route(vec![filter.clone()], fixed(), None), method, fields);
    (filter, x)
}

/// The fields of an answer but for `Vary`, as lines.
fn shown(headers: &HeaderMap) -> String {
    let mut lines: Vec<String> = headers
        .iter()
        .filter(|(name, _)| **name != VARY)
        .map(|(name, value)| format!("{}: {}", name.as_str().replace(FAMILY, ""), value.to_str().unwrap()))
        .collect();
    lines.sort_unstable();
    lines.join("\n")
}

#[tokio::test]
async fn a_preflight_is_told_what_its_page_may_do() {
    let listed = || CorsParts {
        methods: Some(vec![Method::GET, Method::POST]),
        headers: Some(vec![HeaderName::from_static("x-key"), HeaderName::from_static("content-type")]),
        credentials: true,
        ..parts(&["https://app.test"])
    };
    let asks = ("access-control-request-headers", "X-Key , authorization,*, b ad,,");
    let put = ("access-control-request-method", "PUT");
    let rows: Vec<(CorsParts, Fields, &str)> = vec![
        (
            parts(&["https://app.test"]),
            vec![APP, POST],
            "allow-methods: POST\nallow-origin: https://app.test\nmax-age: 600",
        ),
        (
            parts(&["https://app.test"]),
            vec![APP, POST, asks],
            "allow-headers: x-key, authorization\nallow-methods: POST\nallow-origin: https://app.test\nmax-age: 600",
        ),
        (
            listed(),
            vec![APP, POST, asks],
            "allow-credentials: true\nallow-headers: x-key, content-type\nallow-methods: GET, POST\n\
             allow-origin: https://app.test\nmax-age: 600",
        ),
        (listed(), vec![APP, put], ""),
        (
            CorsParts { headers: Some(Vec::new()), ..parts(&["*"]) },
            vec![EVIL, POST, asks],
            "allow-methods: POST\nallow-origin: *\nmax-age: 600",
        ),
        (parts(&["https://app.test"]), vec![EVIL, POST, asks], ""),
        (parts(&["https://app.test"]), vec![APP, APP, POST], ""),
        (parts(&["*"]), vec![APP, EVIL, POST], ""),
        (parts(&["https://app.test"]), vec![APP, POST, POST], ""),
        (parts(&["https://app.test"]), vec![("origin", "null"), POST], ""),
    ];
    for (parts, fields, want) in rows {
        let (filter, mut x) = request(parts, "OPTIONS", &fields);
        let Ok(Flow::Answer(answer)) = filter.request(&mut x, &mut RequestPlan::default()).await else {
            panic!("no answer to {fields:?}");
        };
        assert_eq!((answer.status, answer.bytes()), (StatusCode::NO_CONTENT, &b""[..]), "{fields:?}");
        assert_eq!(shown(&answer.headers), want, "{fields:?}");
        assert_eq!(answer.headers[VARY], PREFLIGHT_VARY, "{fields:?}");
        // It passes the filter once more, which leaves it as it is.
        let mut head = ResponseHeader::build(answer.status, None).unwrap();
        head.insert_header("access-control-allow-origin", "kept").unwrap();
        filter.response(&mut x, &mut head, &mut AnswerPlan::default()).await.unwrap();
        assert_eq!(shown(&head.headers), "allow-origin: kept", "{fields:?}");
    }
}

#[tokio::test]
async fn an_answer_says_who_may_read_it_whatever_the_upstream_said() {
    let exposing = || CorsParts {
        expose: vec![HeaderName::from_static("retry-after"), HeaderName::from_static("x-id")],
        credentials: true,
        ..parts(&["https://app.test", "https://*.apps.test"])
    };
    let theirs = [
        ("access-control-allow-origin", "https://other.test"),
        ("access-control-allow-origin", "*"),
        ("Access-Control-Allow-Credentials", "true"),
        ("access-control-expose-headers", "x-theirs"),
        ("access-control-allow-private-network", "true"),
        ("x-id", "1"),
    ];
    let allowed = |origin: &str| {
        format!("allow-credentials: true\nallow-origin: {origin}\nexpose-headers: retry-after, x-id\nx-id: 1")
    };
    let rows: Vec<(CorsParts, Fields, String)> = vec![
        (exposing(), vec![APP], allowed("https://app.test")),
        (exposing(), vec![("origin", "https://A.Apps.test:443")], allowed("https://A.Apps.test:443")),
        (exposing(), vec![EVIL], "x-id: 1".to_owned()),
        (exposing(), vec![APP, APP], "x-id: 1".to_owned()),
        (exposing(), vec![], "x-id: 1".to_owned()),
        (parts(&["*"]), vec![EVIL], "allow-origin: *\nx-id: 1".to_owned()),
        (parts(&["*"]), vec![], "allow-origin: *\nx-id: 1".to_owned()),
    ];
    for (parts, fields, want) in rows {
        let (filter, mut x) = request(parts, "POST", &fields);
        let flow = filter.request(&mut x, &mut RequestPlan::default()).await;
        assert!(matches!(flow, Ok(Flow::Next)), "{fields:?}");
        // What filters make of the head changes nothing of who asked.
        x.head_mut().insert_header("origin", "https://app.test").unwrap();
        let mut head = ResponseHeader::build(200, None).unwrap();
        for (name, value) in theirs {
            head.append_header(name, value).unwrap();
        }
        let mut of_error = head.headers.clone();
        filter.response(&mut x, &mut head, &mut AnswerPlan::default()).await.unwrap();
        filter.error(&x, &mut of_error);
        assert_eq!((shown(&head.headers), shown(&of_error)), (want.clone(), want), "{fields:?}");
    }
}

#[tokio::test]
async fn what_filters_make_of_a_head_makes_no_preflight_of_it() {
    // What came, what filters make of it, and what is told of an answer that shares with everybody.
    let rows: [(Fields, Fields, &str); 3] = [
        (vec![POST], vec![APP], ""),
        (vec![APP], vec![POST], "allow-origin: https://app.test"),
        (vec![], vec![APP, POST], ""),
    ];
    for (came, made, want) in rows {
        let (filter, mut x) = request(parts(&["https://app.test"]), "OPTIONS", &came);
        let flow = filter.request(&mut x, &mut RequestPlan::default()).await;
        assert!(matches!(flow, Ok(Flow::Next)), "{came:?}");
        for (name, value) in &made {
            x.head_mut().insert_header(*name, *value).unwrap();
        }
        let mut head = ResponseHeader::build(200, None).unwrap();
        head.insert_header("access-control-allow-origin", "*").unwrap();
        filter.response(&mut x, &mut head, &mut AnswerPlan::default()).await.unwrap();
        assert_eq!(shown(&head.headers), want, "{came:?} {made:?}");
    }
}

#[tokio::test]
async fn origins_that_look_like_one_that_may_call_are_told_nothing() {
    let rules = ["https://app.test", "https://*.apps.test:8443", "https://[2001:db8::1]"];
    let rows = [
        ("HTTPS://App.Test:443", true),
        ("https://a.b.apps.test:8443", true),
        ("https://[2001:DB8:0:0::1]", true),
        ("https://app.test.evil.test", false),
        ("https://evil-app.test", false),
        ("https://evilapps.test:8443", false),
        ("https://apps.test:8443", false),
        ("https://a.apps.test", false),
        ("https://a.apps.test:84430", false),
        ("https://a.apps.test:8443.evil.test", false),
        ("https://a.apps.test.:8443", false),
        ("https://app.test.", false),
        ("https://app.test:443:443", false),
        ("https://app.test@evil.test", false),
        ("https://evil.test/https://app.test", false),
        ("https://app.test/", false),
        ("https://app.test?", false),
        ("https://app.test#", false),
        ("https://app.test, https://evil.test", false),
        ("https://app.test https://evil.test", false),
        ("https:app.test", false),
        ("https:///app.test", false),
        ("https://app%2etest", false),
        ("https://app_test", false),
        ("https://\u{0430}pp.test", false),
        ("//app.test", false),
        ("app.test", false),
        ("null", false),
        ("*", false),
        ("", false),
    ];
    for (origin, allowed) in rows {
        for method in ["OPTIONS", "POST"] {
            let value = HeaderValue::from_bytes(origin.as_bytes()).unwrap();
            let (filter, mut x) = request(parts(&rules), method, &[POST]);
            let mut head = x.head().clone();
            head.insert_header("origin", value.clone()).unwrap();
            x = crate::gateway::testing::exchange_of(&route(vec![filter.clone()], fixed(), None), head);
            let told = match filter.request(&mut x, &mut RequestPlan::default()).await {
                Ok(Flow::Answer(answer)) => answer.headers,
                Ok(Flow::Next) => {
                    let mut headers = HeaderMap::new();
                    filter.error(&x, &mut headers);
                    headers
                }
                Ok(Flow::Read(_)) => panic!("it reads no bodies"),
                Err(error) => panic!("{error}"),
            };
            let shared = told.get(ACCESS_CONTROL_ALLOW_ORIGIN);
            assert_eq!(shared, allowed.then_some(&value), "{method} {origin}");
            assert!(told.contains_key(VARY), "{method} {origin}");
        }
    }
}

#[test]
fn caches_are_told_once_that_it_depends_on_who_asks() {
    let rows: [(&[&str], &[&str]); 6] = [
        (&[], &["Origin"]),
        (&["Accept-Encoding"], &["Accept-Encoding", "Origin"]),
        (&["Accept-Encoding, origin"], &["Accept-Encoding, origin"]),
        (&["Accept", "ORIGIN"], &["Accept", "ORIGIN"]),
        (&["*"], &["*"]),
        (&["X-Origin"], &["X-Origin", "Origin"]),
    ];
    for (before, after) in rows {
        for origin in [APP, EVIL] {
            let (filter, x) = request(parts(&["https://app.test"]), "GET", &[origin]);
            let mut headers = HeaderMap::new();
            for value in before {
                headers.append(VARY, value.parse().unwrap());
            }
            filter.error(&x, &mut headers);
            assert_eq!(headers.get_all(VARY).iter().collect::<Vec<_>>(), after, "{before:?} {origin:?}");
        }
    }
    let (filter, x) = request(parts(&["*"]), "GET", &[APP]);
    let mut headers = HeaderMap::new();
    filter.error(&x, &mut headers);
    assert!(!headers.contains_key(VARY), "it is the same for all");
}

#[tokio::test]
async fn a_page_that_may_not_call_opens_no_websocket() {
    let host = ("host", "gate.test:8443");
    let rows: Vec<(Fields, bool)> = vec![
        (vec![host], true),
        (vec![host, APP], true),
        (vec![host, EVIL], false),
        (vec![host, APP, APP], false),
        (vec![host, ("origin", "null")], false),
        (vec![host, ("origin", "https://gate.test:8443")], true),
        (vec![host, ("origin", "https://gate.test")], false),
        (vec![("origin", "https://gate.test")], false),
    ];
    for (fields, opens) in rows {
        let (filter, mut x) = request(parts(&["https://app.test"]), "GET", &fields);
        x.websocket = true;
        let flow = filter.request(&mut x, &mut RequestPlan::default()).await;
        assert_eq!(flow.is_ok(), opens, "{fields:?}");
        assert!(opens || matches!(flow, Err(GatewayError::ForbiddenOrigin)), "{fields:?}");
    }
    // Over TLS, the same host is another server to pages that came without.
    for (origin, opens) in [("https://gate.test:8443", true), ("http://gate.test:8443", false)] {
        for tls in [false, true] {
            let (filter, mut x) = request(parts(&["https://app.test"]), "GET", &[host, ("origin", origin)]);
            (x.websocket, x.tls) = (true, tls);
            let flow = filter.request(&mut x, &mut RequestPlan::default()).await;
            assert_eq!(flow.is_ok(), opens || !tls, "{origin} {tls}");
        }
    }
    let (filter, mut x) = request(parts(&["*"]), "GET", &[host, EVIL]);
    x.websocket = true;
    assert!(filter.request(&mut x, &mut RequestPlan::default()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preflight_is_answered_before_identification_and_a_refusal_can_be_read() {
    let stranger = recorder("auth", Stage::Identify, Act::Refuse, &Journal::default());
    let cors: Arc<dyn Filter> = Arc::new(CorsFilter::new(parts(&["https://app.test"])));
    let address = serve(gateway(route(vec![stranger, cors], fixed(), None))).await;
    let head = |method: &str, more: &str| {
        format!(
            "{method} /x HTTP/1.1\r\nhost: h\r\nconnection: close\r\norigin: https://app.test\r\n{more}\r\n"
        )
    };
    let answer =
        ask(address, &head("OPTIONS", "access-control-request-method: POST\r\n")).await.to_lowercase();
    assert!(answer.starts_with("http/1.1 204") && answer.ends_with("\r\n\r\n"), "{answer}");
    assert!(answer.contains("access-control-allow-methods: post\r\n"), "{answer}");
    assert!(!answer.contains("content-length") && !answer.contains("transfer-encoding"), "{answer}");
    for method in ["GET", "OPTIONS"] {
        let answer = ask(address, &head(method, "")).await.to_lowercase();
        assert!(answer.starts_with("http/1.1 401"), "{answer}");
        assert_eq!(
            answer.matches("access-control-allow-origin: https://app.test\r\n").count(),
            1,
            "{answer}"
        );
    }
}
