//! How often a server is asked, and what becomes of what it says.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::base::clock::{FixedClock, Timestamp};
use crate::base::secret::Secret;
use crate::gateway::introspection::ServerParts;
use crate::net::{Allow, Client, Url};

/// A server that gives the answer to all that come, and how often it was asked.
struct Asked {
    url: Url,
    times: Arc<AtomicUsize>,
    last: Arc<Mutex<String>>,
}

/// Answers with a status and a body, once `gate` is open; without one at once.
async fn server(status: u16, body: &'static str, gate: Option<Arc<Semaphore>>) -> Asked {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/introspect", listener.local_addr().unwrap())).unwrap();
    let (times, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::default()));
    let (seen, said) = (Arc::clone(&times), Arc::clone(&last));
    tokio::spawn(async move {
        while let Ok((mut tcp, _)) = listener.accept().await {
            let mut request = vec![0; 64 << 10];
            let mut read = 0;
            while !String::from_utf8_lossy(&request[..read]).contains("token_type_hint") {
                match tcp.read(&mut request[read..]).await {
                    Ok(more) if more > 0 => read += more,
                    _ => break,
                }
            }
            *said.lock().unwrap() = String::from_utf8_lossy(&request[..read]).into_owned();
            seen.fetch_add(1, Ordering::SeqCst);
            if let Some(gate) = &gate {
                drop(gate.acquire().await);
            }
            let head =
                format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            drop(tcp.write_all(format!("{head}{body}").as_bytes()).await);
            drop(tcp.shutdown().await);
        }
    });
    Asked { url, times, last }
}

fn introspector(url: &Url, cache_for: u64, clock: &Arc<FixedClock>) -> Introspector {
    let patience = Duration::from_secs(5);
    let server = AuthorizationServer::new(ServerParts {
        client: Client::new(Allow::default()).unwrap(),
        endpoint: url.clone(),
        id: "gate way",
        secret: &Secret::new("s:e+cret".to_owned()),
        timeout: patience,
    });
    let clock: SharedClock = Arc::clone(clock) as SharedClock;
    let cache_for = Duration::from_secs(cache_for);
    Introspector::new(IntrospectorParts { server, patience, cache_for, key: [7; 32], clock })
}

fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock::at(Timestamp::from_millis(1_000_000)))
}

fn is_active(outcome: &IntrospectionResult) -> Option<bool> {
    outcome.as_ref().ok().map(|standing| matches!(standing, TokenStatus::Active(_)))
}

#[tokio::test]
async fn an_answer_is_kept_for_its_time_and_no_longer_than_the_token() {
    const ACTIVE: &str = r#"{"active":true}"#;
    // The answer, how long answers are kept, seconds later, and whether the server is asked again then.
    let rows = [
        (ACTIVE, 60, 59, false),
        (ACTIVE, 60, 60, true),
        (ACTIVE, 0, 0, true),
        (r#"{"active":true,"exp":1020}"#, 60, 19, false),
        (r#"{"active":true,"exp":1020}"#, 60, 20, true),
        (r#"{"active":true,"exp":900}"#, 60, 0, true),
        (r#"{"active":false}"#, 60, 9, false),
        (r#"{"active":false}"#, 60, 10, true),
        (r#"{"active":false}"#, 2, 2, true),
    ];
    for (answer, cache_for, later, again) in rows {
        let (asked, clock) = (server(200, answer, None).await, clock());
        let introspector = introspector(&asked.url, cache_for, &clock);
        let active = Some(!answer.contains("false"));
        assert_eq!(is_active(&introspector.standing("t-1").await), active, "{answer}");
        clock.advance(Duration::from_secs(later));
        assert_eq!(is_active(&introspector.standing("t-1").await), active, "{answer}");
        let times = asked.times.load(Ordering::SeqCst);
        assert_eq!(times, 1 + usize::from(again), "{answer} {cache_for} {later}");
        assert_eq!(is_active(&introspector.standing("t-2").await), active, "{answer}");
        assert_eq!(asked.times.load(Ordering::SeqCst), times + 1, "another token is another question");
        assert!(unlocked(&introspector.asked).is_empty());
    }
}

#[tokio::test]
async fn the_server_is_told_who_asks_and_about_what() {
    let asked = server(200, r#"{"active":true}"#, None).await;
    drop(introspector(&asked.url, 60, &clock()).standing("a+b/c=&token=other").await);
    let request = unlocked(&asked.last).clone();
    let basic = format!("authorization: Basic {}", data_encoding::BASE64.encode(b"gate+way:s%3Ae%2Bcret"));
    assert!(request.starts_with("POST /introspect HTTP/1.1\r\n") && request.contains(&basic), "{request}");
    let body = "\r\n\r\ntoken=a%2Bb%2Fc%3D%26token%3Dother&token_type_hint=access_token";
    assert!(request.ends_with(body), "{request}");
    assert!(request.contains("content-type: application/x-www-form-urlencoded\r\n"), "{request}");
}

#[tokio::test]
async fn what_says_nothing_is_no_answer_and_is_not_kept() {
    let rows = [
        (200, r#"{"active":"true"}"#, IntrospectionError::Unreadable),
        (200, "", IntrospectionError::Unreadable),
        (401, r#"{"active":true}"#, IntrospectionError::Refused),
        (302, r#"{"active":true}"#, IntrospectionError::Status(302)),
        (500, r#"{"active":false}"#, IntrospectionError::Status(500)),
    ];
    for (status, body, why) in rows {
        let asked = server(status, body, None).await;
        let introspector = introspector(&asked.url, 60, &clock());
        for times in 1..=2 {
            assert_eq!(introspector.standing("t").await.err(), Some(why), "{status} {body}");
            assert_eq!(asked.times.load(Ordering::SeqCst), times, "{status} {body}");
        }
    }
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let url = Url::parse(&format!("http://{nobody}/")).unwrap();
    assert_eq!(introspector(&url, 60, &clock()).standing("t").await.err(), Some(IntrospectionError::Gone));
}

#[tokio::test]
async fn a_connection_that_is_closed_is_no_answer_yet() {
    // How many connections the server closes before it answers, and what comes of the question.
    for (closes, active) in [(0, Some(true)), (1, Some(true)), (2, None)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        tokio::spawn(async move {
            for n in 0.. {
                let Ok((mut tcp, _)) = listener.accept().await else { return };
                drop(tcp.read(&mut [0; 4096]).await);
                if n >= closes {
                    drop(
                        tcp.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{\"active\":true}")
                            .await,
                    );
                }
            }
        });
        assert_eq!(is_active(&introspector(&url, 60, &clock()).standing("t").await), active, "{closes}");
    }
}

#[tokio::test]
async fn requests_that_come_at_once_with_one_token_ask_once() {
    let gate = Arc::new(Semaphore::new(0));
    let asked = server(200, r#"{"active":true}"#, Some(Arc::clone(&gate))).await;
    let introspector = Arc::new(introspector(&asked.url, 0, &clock()));
    let ask = || {
        let introspector = Arc::clone(&introspector);
        tokio::spawn(async move { introspector.standing("t").await })
    };
    let first = ask();
    while asked.times.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let rest: Vec<_> = (0..20).map(|_| ask()).collect();
    let all_wait =
        || unlocked(&introspector.asked).values().map(|question| question.shares).sum::<usize>() == 21;
    while !all_wait() {
        tokio::task::yield_now().await;
    }
    // Who asked leaves: another one of them asks, and it is the last to be asked.
    first.abort();
    drop(first.await);
    while asked.times.load(Ordering::SeqCst) == 1 {
        gate.add_permits(1);
        tokio::task::yield_now().await;
    }
    gate.add_permits(20);
    for one in rest {
        assert_eq!(is_active(&one.await.unwrap()), Some(true));
    }
    assert_eq!(asked.times.load(Ordering::SeqCst), 2);
    assert!(unlocked(&introspector.asked).is_empty());
}
