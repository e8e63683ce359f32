//! Which peer is next, what it is sent, and what is sent again.

use std::net::SocketAddr;

use http::Method;
use http::header::HOST;
use pingora::http::RequestHeader;
use pingora::{Error, ErrorType};

use super::*;
use crate::base::units::Period;
use crate::gateway::testing::{NEVER_OUT, pool, pool_parts};

fn peers(count: u16) -> Vec<SocketAddr> {
    (1..=count).map(|n| SocketAddr::from(([127, 0, 0, 1], n))).collect()
}

async fn next(pool: &Upstream, tried: &mut TriedPeers) -> Option<u16> {
    let chosen = pool.choose(tried).await.ok()?;
    chosen.authority.to_str().unwrap().rsplit(':').next()?.parse().ok()
}

#[tokio::test]
async fn peers_take_turns_and_a_request_goes_to_each_once() {
    let pool = pool(&peers(3), NEVER_OUT);
    let mut turns = Vec::new();
    for _ in 0..6 {
        turns.extend(next(&pool, &mut TriedPeers::default()).await);
    }
    assert_eq!(turns, [1, 2, 3, 1, 2, 3]);
    let mut tried = TriedPeers::default();
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.extend(next(&pool, &mut tried).await);
    }
    seen.sort_unstable();
    assert_eq!(seen, [1, 2, 3]);
    assert!(next(&pool, &mut tried).await.is_some(), "once all were tried, any may be tried again");
}

#[tokio::test]
async fn failures_put_peers_out_within_their_share_and_checks_put_out_all() {
    let ejection = Ejection { failures: 1, share: 0.5, eject: Period::secs(60), ..NEVER_OUT };
    let pool = pool(&peers(2), ejection);
    pool.went(0, false);
    pool.went(1, false);
    let mut turns = Vec::new();
    for _ in 0..4 {
        turns.extend(next(&pool, &mut TriedPeers::default()).await);
    }
    assert_eq!(turns, [2, 2, 2, 2], "half of them may be out");
    pool.checked(0, false, 1, "");
    pool.checked(1, false, 1, "");
    let error = pool.choose(&mut TriedPeers::default()).await.err();
    assert!(matches!(error, Some(GatewayError::Unavailable(Unavailable::Down))));
    pool.checked(0, true, 1, "");
    assert_eq!(next(&pool, &mut TriedPeers::default()).await, Some(1), "out, but not down");
}

#[test]
fn only_what_cannot_have_had_an_effect_is_sent_again() {
    let pool = pool(&peers(1), NEVER_OUT);
    // The kind of error, the method, whether the head never left, whether the connection was kept, and the verdict.
    let rows = [
        (ErrorType::WriteError, Method::POST, true, false, true),
        (ErrorType::WriteError, Method::POST, false, false, false),
        (ErrorType::InvalidH2, Method::GET, true, true, false),
        (ErrorType::ConnectionClosed, Method::GET, false, true, true),
        (ErrorType::ConnectionClosed, Method::POST, false, true, false),
        (ErrorType::ConnectionClosed, Method::GET, false, false, false),
    ];
    for (kind, method, unsent, reused, again) in rows {
        let mut error = Error::new_up(kind.clone());
        error.retry = pingora::RetryType::ReusedOnly;
        let sent = SendProgress { unsent, reused };
        assert_eq!(pool.repeats(&error, &method, sent), again, "{kind:?} {method} {unsent} {reused}");
    }
}

#[tokio::test]
async fn a_lack_of_descriptors_is_refused_and_is_not_the_peers_fault() {
    let mut parts = pool_parts(&peers(1), NEVER_OUT);
    parts.sockets = UpstreamSockets::at_most(1);
    let pool = Upstream::new(parts).unwrap();
    let first = pool.admit().await.unwrap();
    assert!(matches!(pool.admit().await.err(), Some(GatewayError::Api(ApiError::Overloaded))));
    assert_eq!(pool.breaker().in_flight(), 1, "what is refused is over");
    drop(first);
    assert!(pool.admit().await.is_ok());
    let none = std::io::Error::from_raw_os_error(24);
    let none = Error::because(ErrorType::SocketError, "failed to create socket", none);
    assert!(matches!(pool.error(&none), GatewayError::Api(ApiError::Overloaded)));
}

#[tokio::test]
async fn a_head_is_made_for_the_peer() {
    let pool = pool(&peers(1), NEVER_OUT);
    let chosen = pool.choose(&mut TriedPeers::default()).await.unwrap();
    let mut head = RequestHeader::build("GET", b"/a?b", None).unwrap();
    for (name, value) in [
        ("host", "caller.example"),
        ("x-forwarded-for", "192.0.2.1"),
        ("x_forwarded_host", "evil"),
        ("connection", "x-gone"),
        ("x-gone", "1"),
        ("x-kept", "1"),
    ] {
        head.append_header(name, value).unwrap();
    }
    pool.apply_headers(&mut head, &chosen.authority, &Credentials::default()).unwrap();
    assert_eq!(head.raw_path(), b"/base/a?b");
    assert_eq!(head.headers.get(HOST).unwrap(), "127.0.0.1:1");
    let mut left: Vec<&str> = head.headers.keys().map(|name| name.as_str()).collect();
    left.sort_unstable();
    assert_eq!(left, ["host", "x-kept"]);
}
