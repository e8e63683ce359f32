//! Collected requests: what the filters leave of them goes to a peer, and its answer comes back, over real sockets.

use crate::gateway::filter::Stage;
use crate::gateway::layer::UnscannedPolicy;
use crate::gateway::terminal::Terminal;
use crate::gateway::testing::{
    Act, Journal, NEVER_OUT, ask, gateway, named_pool, noted, nothing, pool, post, recorder, route, serve,
    until_noted, upstream,
};

const TEXT: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\nthe SECRET";

const CLOSED: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";

const EVENTS: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 900000\r\n\r\n\
    data: one SEC\n\ndata: two\n\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_collected_request_has_its_exact_length_and_so_has_its_answer() {
    let (peer, seen) = upstream(TEXT).await;
    let down = nothing().await;
    let journal = Journal::default();
    let filters = vec![
        recorder("log", Stage::Observe, Act::HideAnswer(UnscannedPolicy::Refuse), &journal),
        recorder("in", Stage::Rewrite, Act::Replace("clean"), &journal),
    ];
    let terminal = Terminal::Upstream(pool(&[down, peer], NEVER_OUT));
    let address = serve(gateway(route(filters, terminal, None))).await;
    let answer = ask(address, &post("a SECRET")).await;
    assert!(answer.contains("content-length: 7\r\n") || answer.contains("Content-Length: 7\r\n"), "{answer}");
    assert!(answer.ends_with("the <\">"), "{answer}");
    until_noted(&journal, "log done").await;
    assert_eq!(
        noted(&journal),
        [
            "log request",
            "in request",
            "log collected a SECRET",
            "in collected a SECRET",
            "in response 200",
            "log response 200",
            "in done 200 -",
            "log done 200 -"
        ]
    );
    let seen = noted(&seen);
    assert_eq!(seen.len(), 1, "the first peer is down: {seen:?}");
    assert!(seen[0].ends_with("\r\n\r\nclean"), "{seen:?}");
    assert!(seen[0].to_lowercase().contains("content-length: 5\r\n"), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collected_request_goes_to_the_address_that_can_be_reached() {
    let (peer, seen) = upstream(CLOSED).await;
    let journal = Journal::default();
    let filters = vec![recorder("in", Stage::Rewrite, Act::Replace("clean"), &journal)];
    let terminal = Terminal::Upstream(named_pool(&[2, 3, 4, 1], peer.port()));
    let address = serve(gateway(route(filters, terminal, None))).await;
    for _ in 0..8 {
        let answer = ask(address, &post("a")).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    assert_eq!(noted(&seen).len(), 8, "each is sent once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_breaks_off_ends_with_an_error_event() {
    let (peer, _) = upstream(EVENTS).await;
    let journal = Journal::default();
    let filters = vec![
        recorder("log", Stage::Observe, Act::HideAnswer(UnscannedPolicy::Refuse), &journal),
        recorder("in", Stage::Rewrite, Act::Replace("clean"), &journal),
    ];
    let terminal = Terminal::Upstream(pool(&[peer], NEVER_OUT));
    let address = serve(gateway(route(filters, terminal, None))).await;
    let answer = ask(address, &post("a")).await;
    assert!(answer.contains("one SEC") && answer.contains("two"), "what was held leaves first: {answer}");
    assert!(answer.contains("event: error\n"), "{answer}");
    until_noted(&journal, "log done 200 ").await;
    assert!(noted(&journal).last().is_some_and(|last| !last.ends_with('-')), "{:?}", noted(&journal));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_before_the_answer_is_answered() {
    let (peer, seen) = upstream(TEXT).await;
    let down = nothing().await;
    let rows = [
        (peer, "a".repeat(1001), "HTTP/1.1 413", "log done 413 too_large"),
        (down, "a".to_owned(), "HTTP/1.1 502", "log done 502 connect"),
    ];
    for (peer, body, status, last) in rows {
        let journal = Journal::default();
        let filters = vec![
            recorder("log", Stage::Observe, Act::Pass, &journal),
            recorder("in", Stage::Rewrite, Act::Replace("clean"), &journal),
        ];
        let terminal = Terminal::Upstream(pool(&[peer], NEVER_OUT));
        let address = serve(gateway(route(filters, terminal, None))).await;
        let answer = ask(address, &post(&body)).await;
        assert!(answer.starts_with(status), "{status}: {answer}");
        until_noted(&journal, last).await;
    }
    assert!(noted(&seen).is_empty(), "nothing was sent of a body that is too large");
}
