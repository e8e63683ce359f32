//! Requests that Pingora streams, from state to state, over real sockets.

use std::sync::Arc;

use pingora::proxy::{ProxyHttp, Session};
use tokio::io::duplex;

use crate::gateway::filter::Stage;
use crate::gateway::layer::UnscannedPolicy;
use crate::gateway::proxy::RequestCtx;
use crate::gateway::terminal::Terminal;
use crate::gateway::testing::{
    Act, Journal, NEVER_OUT, ask, fixed, gateway, named_pool, noted, nothing, pool, post, recorder, route,
    serve, until_noted, upstream,
};

const TEXT: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\nconnection: close\r\n\r\nthe SECRET";

#[tokio::test(flavor = "multi_thread")]
async fn a_streamed_request_is_rewritten_both_ways_and_logged_once() {
    let (peer, seen) = upstream(TEXT).await;
    let journal = Journal::default();
    let filters = vec![
        recorder("in", Stage::Rewrite, Act::HideRequest, &journal),
        recorder("log", Stage::Observe, Act::HideAnswer(UnscannedPolicy::Refuse), &journal),
    ];
    let terminal = Terminal::Upstream(pool(&[peer], NEVER_OUT));
    let address = serve(gateway(route(filters, terminal, None))).await;
    let answer = ask(address, &post("my SECRET!")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("the <\">"), "{answer}");
    until_noted(&journal, "log done").await;
    assert_eq!(
        noted(&journal),
        [
            "log request",
            "in request",
            "in response 200",
            "log response 200",
            "in done 200 -",
            "log done 200 -"
        ]
    );
    let seen = noted(&seen);
    assert_eq!(seen.len(), 1);
    assert!(seen[0].starts_with("POST /base/x HTTP/1.1\r\n") && seen[0].contains("my <\">!"), "{seen:?}");
    assert!(!seen[0].contains("SECRET"), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_cannot_be_reached_is_left_for_the_next() {
    let (peer, seen) = upstream(TEXT).await;
    let down = nothing().await;
    let journal = Journal::default();
    let filters = vec![recorder("in", Stage::Rewrite, Act::HideRequest, &journal)];
    let terminal = Terminal::Upstream(pool(&[down, peer], NEVER_OUT));
    let address = serve(gateway(route(filters, terminal, None))).await;
    for _ in 0..2 {
        let answer = ask(address, &post("a SECRET")).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    let seen = noted(&seen);
    assert!(seen.len() == 2 && seen.iter().all(|request| request.contains("a <\">")), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_of_a_name_that_cannot_be_reached_cost_no_request() {
    let (peer, seen) = upstream(TEXT).await;
    let journal = Journal::default();
    let filters = vec![recorder("in", Stage::Rewrite, Act::HideRequest, &journal)];
    let terminal = Terminal::Upstream(named_pool(&[2, 3, 4, 1], peer.port()));
    let address = serve(gateway(route(filters, terminal, None))).await;
    for _ in 0..8 {
        let answer = ask(address, &post("a SECRET")).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    assert_eq!(noted(&seen).len(), 8, "each is sent once");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_a_streamed_request_are_answered() {
    let (peer, _) = upstream(TEXT).await;
    let (broken, _) = upstream(b"").await;
    let down = nothing().await;
    let rows = [
        // Its body is larger than the route takes.
        (peer, Act::Pass, Some(4), "HTTP/1.1 413", "log done 413 too_large"),
        (down, Act::Pass, None, "HTTP/1.1 502", "log done 502 connect"),
        (broken, Act::Pass, None, "HTTP/1.1 502", "log done 502 "),
        (peer, Act::RefuseAnswer, None, "HTTP/1.1 502", "log done 502 unscannable_answer"),
    ];
    for (peer, act, max_body, status, last) in rows {
        let journal = Journal::default();
        let terminal = Terminal::Upstream(pool(&[peer], NEVER_OUT));
        let filters = vec![recorder("log", Stage::Observe, act, &journal)];
        let address = serve(gateway(route(filters, terminal, max_body))).await;
        let answer = ask(address, &post("a long text")).await;
        assert!(answer.starts_with(status), "{status}: {answer}");
        assert!(!answer.contains("SECRET"), "{answer}");
        until_noted(&journal, last).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_out_of_turn_is_an_error_and_no_panic() {
    let gateway = gateway(route(Vec::new(), fixed(), None));
    let (stream, _caller) = duplex(64);
    let mut session = Session::new_h1(Box::new(stream));
    let mut ctx: RequestCtx = gateway.new_ctx();
    let mut body = None;
    assert!(gateway.request_body_filter(&mut session, &mut body, true, &mut ctx).await.is_err());
    assert!(gateway.response_body_filter(&mut session, &mut body, true, &mut ctx).is_err());
    assert!(gateway.upstream_peer(&mut session, &mut ctx).await.is_err());
    gateway.logging(&mut session, None, &mut ctx).await;
    drop(Arc::new(gateway));
}
