//! Fetching what others' URLs name: nothing may reach what is not the public internet's, whatever it is called, and
//! nobody may hold us up. A canary on the loopback counts who gets through.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use portcullis::net::{AddressFuture, Allow, Client, DnsResolver, FetchLimits, NetError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

const LIMITS: FetchLimits = FetchLimits { time: Duration::from_secs(2), size: 1 << 20 };

/// A server that answers each connection's head with what `answer` says to its path.
async fn serve<F>(answer: F) -> (SocketAddr, Arc<AtomicUsize>)
where
    F: Fn(&str) -> String + Send + Sync + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, hits) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let (count, answer) = (Arc::clone(&hits), Arc::new(answer));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            let answer = Arc::clone(&answer);
            tokio::spawn(async move {
                let head = head(&mut stream).await;
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                drop(stream.write_all(answer(&path).as_bytes()).await);
            });
        }
    });
    (address, hits)
}

async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn allow(places: &[String]) -> Allow {
    Allow::new(places.iter().map(|place| place.parse().unwrap()).collect())
}

/// All of it, or why not.
async fn whole(client: &Client, url: &str) -> Result<Vec<u8>, NetError> {
    let mut fetched = client.fetch(url, LIMITS).await?;
    let mut all = Vec::new();
    while let Some(chunk) = fetched.chunk().await? {
        all.extend_from_slice(&chunk);
    }
    Ok(all)
}

/// Spellings of the loopback and of its neighbours.
fn spellings(port: u16) -> Vec<String> {
    let hosts = [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "0",
        "0.0.0.0",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "127.0.0.1..",
        "127.255.255.254",
        "localhost",
        "LOCALHOST.",
        "ip6-localhost",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "%31%32%37.0.0.1",
        "example.com@127.0.0.1",
        "user:pass@127.0.0.1",
        "127.0.0.1#@example.com",
        "example.com%23@127.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
    ];
    let mut all = Vec::new();
    for host in hosts {
        for scheme in ["http://", "https://", "HTTP:\\\\", "http:", "ftp://", "gopher://", "file://", "ws://"]
        {
            all.push(format!("{scheme}{host}:{port}/canary"));
        }
    }
    all
}

/// Rows of the published matrix; none where there are no vectors.
fn matrix(port: u16, redirector: SocketAddr) -> Vec<String> {
    let Ok(vectors) = std::env::var("PORTCULLIS_VECTORS") else {
        #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
        {
            eprintln!("skipped in part: PORTCULLIS_VECTORS is not set");
        }
        return Vec::new();
    };
    let text = std::fs::read_to_string(format!("{vectors}/ssrf/ssrf_matrix.jsonl")).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let urls = rows.filter_map(|row| row["url"].as_str().map(str::to_owned));
    let fill = |url: String| {
        url.replace("{PORT}", &port.to_string()).replace("{REDIR}", &format!("http://{redirector}"))
    };
    urls.map(fill).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_reaches_the_loopback() {
    let (canary, hits) = serve(|_| ok("canary")).await;
    let port = canary.port();
    let (redirector, _) = serve(move |path| {
        let to = match path.rsplit('/').next().unwrap_or_default() {
            "to-v4" => format!("http://127.0.0.1:{port}/canary"),
            "to-v6mapped" => format!("http://[::ffff:127.0.0.1]:{port}/canary"),
            "to-dec" => format!("http://2130706433:{port}/canary"),
            "to-name" => format!("http://localhost:{port}/canary"),
            "to-meta" => "http://169.254.169.254/latest/meta-data/".to_owned(),
            "to-file" => "file:///etc/passwd".to_owned(),
            "to-gopher" => format!("gopher://127.0.0.1:{port}/_x"),
            "to-self" => "/fine".to_owned(),
            "fine" => return ok("fine"),
            "refresh-meta" => return ok("<meta http-equiv=refresh content='0;url=http://127.0.0.1/'>"),
            _ => path.to_owned(),
        };
        let code = path.split('/').nth(1).unwrap_or_default();
        format!("HTTP/1.1 {code} Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    })
    .await;
    let client = Client::new(allow(&[redirector.to_string()])).unwrap();
    let mut urls = spellings(port);
    urls.extend(matrix(port, redirector));
    urls.push(format!("http://{redirector}/302/to-name"));
    let mut tasks = tokio::task::JoinSet::new();
    for url in urls {
        let client = client.clone();
        tasks.spawn(async move { (whole(&client, &url).await, url) });
    }
    while let Some(done) = tasks.join_next().await {
        let (result, url) = done.unwrap();
        let read_as_text = url.ends_with("refresh-meta") && result.is_ok();
        assert!(read_as_text || matches!(result, Err(NetError::Url | NetError::Inaccessible)), "{url}");
    }
    assert_eq!(hits.load(Ordering::SeqCst), 0);
    // The redirector is not refused for another reason.
    assert_eq!(whole(&client, &format!("http://{redirector}/302/to-self")).await.unwrap(), b"fine");
}

#[tokio::test(flavor = "multi_thread")]
async fn open_closed_and_forbidden_look_the_same() {
    let (open, hits) = serve(|_| ok("open")).await;
    let client = Client::new(Allow::default()).unwrap();
    for url in [format!("http://{open}/"), "http://127.0.0.1:1/".to_owned(), "http://10.0.0.1/".to_owned()] {
        let begun = Instant::now();
        assert_eq!(whole(&client, &url).await, Err(NetError::Inaccessible), "{url}");
        let took = begun.elapsed().as_millis();
        assert!((250..500).contains(&took), "{url}: {took} ms");
    }
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

/// A resolver that gives each time the next answer, and the last for ever.
struct Table(Vec<Vec<IpAddr>>, AtomicUsize);

impl DnsResolver for Table {
    fn lookup(&self, name: &str) -> AddressFuture {
        let n = self.1.fetch_add(1, Ordering::SeqCst).min(self.0.len().saturating_sub(1));
        let (found, silent) = (self.0.get(n).cloned(), name.starts_with("silent"));
        Box::pin(async move {
            if silent {
                sleep(Duration::from_secs(3600)).await;
            }
            found.ok_or(io::ErrorKind::NotFound.into())
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_checked_when_they_are_looked_up() {
    let (canary, hits) = serve(|_| ok("canary")).await;
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    let answers: [(&str, Vec<Vec<IpAddr>>); 6] = [
        ("one.example", vec![vec![ip("127.0.0.1")]]),
        ("any.example", vec![vec![ip("8.8.8.8"), ip("127.0.0.1")]]),
        ("families.example", vec![vec![ip("8.8.8.8"), ip("::1")]]),
        ("many.example", vec![vec![ip("8.8.8.8"); 10_000]]),
        ("none.example", vec![vec![]]),
        ("silent.example", vec![vec![ip("8.8.8.8")]]),
    ];
    for (name, table) in answers {
        // The ports are those that are open to all, where a test cannot listen; so the name is asked at one of them.
        let client = Client::with(Allow::default(), Arc::new(Table(table, AtomicUsize::new(0)))).unwrap();
        let begun = Instant::now();
        let url = format!("http://{name}:8080/");
        assert_eq!(whole(&client, &url).await, Err(NetError::Inaccessible), "{name}");
        assert!(begun.elapsed() < LIMITS.time + Duration::from_secs(1), "{name}");
    }
    // Allowed by its block, at a port of the canary's: what was looked up once is connected to, and not asked again.
    let table = Arc::new(Table(vec![vec![ip("127.0.0.1")], vec![ip("10.0.0.1")]], AtomicUsize::new(0)));
    let client = Client::with(allow(&["rebind.example".to_owned()]), table).unwrap();
    let url = format!("http://rebind.example:{}/", canary.port());
    assert_eq!(whole(&client, &url).await.unwrap(), b"canary");
    assert_eq!(hits.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_origins_hold_nobody_up() {
    let (origin, _) = serve(|path| match path {
        "/coded" => "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx".to_owned(),
        "/announced" => "HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\nx".to_owned(),
        "/endless" => format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(3 << 20)),
        "/short" => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx".to_owned(),
        "/long-header" => format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "x".repeat(1 << 20)),
        "/many-headers" => format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(10_000)),
        "/old" => "just a body".to_owned(),
        "/partial" => "HTTP/1.1 206 Partial\r\ncontent-length: 1\r\n\r\nx".to_owned(),
        "/continue" => "HTTP/1.1 100 Continue\r\n\r\n".repeat(1000),
        _ => String::new(),
    })
    .await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = silent.local_addr().map(|address| (address, silent)).unwrap();
    let client = Client::new(allow(&["127.0.0.1".to_owned()])).unwrap();
    let rows = [
        ("/coded", NetError::Inaccessible),
        ("/announced", NetError::TooLarge),
        ("/endless", NetError::TooLarge),
        ("/short", NetError::Inaccessible),
        ("/long-header", NetError::Inaccessible),
        ("/many-headers", NetError::Inaccessible),
        ("/old", NetError::Inaccessible),
        ("/partial", NetError::Inaccessible),
        ("/continue", NetError::Inaccessible),
        ("/nothing", NetError::Inaccessible),
    ];
    for (path, want) in rows {
        let begun = Instant::now();
        assert_eq!(whole(&client, &format!("http://{origin}{path}")).await, Err(want), "{path}");
        assert!(begun.elapsed() < LIMITS.time + Duration::from_secs(1), "{path}");
    }
    let begun = Instant::now();
    assert_eq!(whole(&client, &format!("http://{}/", silent.0)).await, Err(NetError::Inaccessible));
    assert!(begun.elapsed() < LIMITS.time + Duration::from_secs(1));
}

#[test]
fn published_addresses_are_judged_right() {
    let Ok(vectors) = std::env::var("PORTCULLIS_VECTORS") else { return };
    let text = std::fs::read_to_string(format!("{vectors}/ssrf/ip_ranges.jsonl")).unwrap();
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let address: IpAddr = row["ip"].as_str().unwrap().parse().unwrap();
        assert_eq!(portcullis::base::address::is_public(address), row["block"] == false, "{address}");
    }
}
