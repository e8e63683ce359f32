use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{Remote, RemoteSetup};
use crate::base::clock::{FixedClock, SharedClock, Timestamp};
use crate::base::secret::Secret;
use crate::net::{Allow, Client, Url};
use crate::sanitize::Rejection;
use crate::sanitize::intel::{Canonical, Reputation, Score};

/// A provider that answers each question with `body`; also how often it was asked, and the last question.
async fn provider(body: &'static str) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, asked) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 64 << 10];
            let read = stream.read(&mut request).await.unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..read]).into_owned();
            assert!(
                request.starts_with("POST /intel HTTP/1.1") && request.contains("x-key: sesame"),
                "{request}"
            );
            count.fetch_add(1, Ordering::SeqCst);
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            drop(stream.write_all(format!("{head}{body}").as_bytes()).await);
        }
    });
    (address, asked)
}

fn remote(address: SocketAddr, clock: &Arc<FixedClock>) -> Remote {
    let setup = RemoteSetup {
        url: Url::parse(&format!("http://{address}/intel")).unwrap(),
        headers: vec![("x-key".to_owned(), Secret::new("sesame".to_owned()))],
        time: Duration::from_secs(2),
        cached: 1000,
        keep: Duration::from_secs(60),
    };
    Remote::new(setup, Client::new(Allow::default()).unwrap(), Arc::clone(clock) as SharedClock)
}

fn links(urls: &[&str]) -> Vec<Canonical> {
    urls.iter().map(|url| Canonical::url(url).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_scores_and_are_kept() {
    let clock = Arc::new(FixedClock::at(Timestamp::from_millis(0)));
    let (address, asked) = provider(r#"{"scores": [5, 99]}"#).await;
    let remote = remote(address, &clock);
    let all = links(&["http://b.test/", "http://a.test/", "http://b.test/"]);
    let want = [Score::new(99), Score::new(5), Score::new(99)];
    for _ in 0..3 {
        assert_eq!(remote.lookup(&all).await.unwrap(), want);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    clock.advance(Duration::from_secs(61));
    assert_eq!(remote.lookup(&all).await.unwrap(), want);
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert!(!format!("{remote:?}").contains("sesame"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_answer_is_refused_and_then_not_asked_for() {
    let clock = Arc::new(FixedClock::at(Timestamp::from_millis(0)));
    for body in [r#"{"scores": []}"#, r#"{"scores": [101]}"#, r#"{"scores": [1.5]}"#, "[]", "<html>"] {
        let (address, asked) = provider(body).await;
        let remote = remote(address, &clock);
        for _ in 0..9 {
            assert_eq!(remote.lookup(&links(&["http://a.test/"])).await, Err(Rejection::Provider), "{body}");
        }
        assert_eq!(asked.load(Ordering::SeqCst), 5, "{body}");
    }
    let gone = remote("127.0.0.1:1".parse().unwrap(), &clock);
    assert_eq!(gone.lookup(&links(&["http://a.test/"])).await, Err(Rejection::Provider));
    assert_eq!(gone.lookup(&[]).await, Ok(vec![]));
}
