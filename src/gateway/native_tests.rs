//! Answers of our own: fixed ones, those of handlers and of filters, and errors, over real sockets.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::StatusCode;

use crate::api::{ApiAnswer, ApiCall, BufferedBody, Handler};
use crate::gateway::filter::Stage;
use crate::gateway::layer::UnscannedPolicy;
use crate::gateway::terminal::Terminal;
use crate::gateway::testing::{
    Act, Journal, ask, fixed, gateway, noted, post, recorder, route, serve, until_noted,
};

/// Says back what it gets.
struct Echo;

impl Handler for Echo {
    fn call<'a>(&'a self, call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            match BufferedBody::read(call.body, 1 << 20, call.budget).await {
                Ok(body) => ApiAnswer::new(StatusCode::OK, "text/plain", body.bytes),
                Err(_) => ApiAnswer::new(StatusCode::PAYLOAD_TOO_LARGE, "text/plain", bytes::Bytes::new()),
            }
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_ours_pass_the_filters() {
    let echo = || Terminal::Native(Arc::new(Echo));
    let hide = Act::HideAnswer(UnscannedPolicy::Refuse);
    let head = "HEAD /x HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
    let rows = [
        (fixed(), Act::Pass, None, post("a"), "200", Some("fixed"), "log done 200 -"),
        (fixed(), Act::Answer, None, post("a"), "200", Some("filtered"), "log done 200 -"),
        (fixed(), Act::Pass, None, head.to_owned(), "200", Some(""), "log done 200 -"),
        (echo(), Act::Pass, None, post("a SECRET"), "200", Some("a SECRET"), "log done 200 -"),
        (echo(), hide, None, post("a SECRET"), "200", Some("a <\">"), "log done 200 -"),
        (echo(), Act::Pass, Some(3), post("long"), "413", Some(""), "log done 413 -"),
        (fixed(), Act::Refuse, None, post("a"), "401", None, "log done 401 unauthorized"),
        (fixed(), Act::RefuseAnswer, None, post("a"), "502", None, "log done 502 unscannable_answer"),
    ];
    for (terminal, act, max_body, request, status, body, last) in rows {
        let journal = Journal::default();
        let filters = vec![recorder("log", Stage::Observe, act, &journal)];
        let address = serve(gateway(route(filters, terminal, max_body))).await;
        let answer = ask(address, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{status}: {answer}");
        let (_, got) = answer.split_once("\r\n\r\n").unwrap();
        assert!(body.is_none_or(|body| body == got), "{answer}");
        until_noted(&journal, last).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_filters_that_were_entered_see_the_end() {
    let journal = Journal::default();
    let filters = vec![
        recorder("last", Stage::Sign, Act::Pass, &journal),
        recorder("stops", Stage::Identify, Act::Refuse, &journal),
        recorder("first", Stage::Observe, Act::Pass, &journal),
    ];
    let address = serve(gateway(route(filters, fixed(), None))).await;
    let answer = ask(address, &post("a")).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    until_noted(&journal, "first done").await;
    let want =
        ["first request", "stops request", "stops done 401 unauthorized", "first done 401 unauthorized"];
    assert_eq!(noted(&journal), want);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_is_shown_to_all_filters_and_passes_none() {
    let journal = Journal::default();
    let filters = vec![
        recorder("last", Stage::Sign, Act::Pass, &journal),
        recorder("stops", Stage::Identify, Act::Refuse, &journal),
        recorder("first", Stage::Observe, Act::Pass, &journal),
    ];
    let address = serve(gateway(route(filters, fixed(), None))).await;
    let answer = ask(address, &post("a")).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    for name in ["last", "stops", "first"] {
        assert!(answer.contains(&format!("x-error-seen: {name}\r\n")), "{answer}");
    }
    assert!(!noted(&journal).iter().any(|note| note.contains("response")), "{:?}", noted(&journal));
}
