//! A long body both ways through a rewriting route, and what the process holds meanwhile:
//! `cargo bench --bench flood -- [GIGABYTES] [plain|gzip|events]`. The upstream takes the request and answers with
//! as much; both are scanned. Prints throughput, findings and the rise of resident memory.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and ends where something is wrong"
)]
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use portcullis::base::clock::{Clock, SystemClock};

const PIECE: usize = 1 << 20;

/// Prose with a value in every four kilobytes or so; never the same sentence border twice in a row.
fn text() -> String {
    let values = ["jane.doe@example.com", "4111 1111 1111 1111", "536-90-4399", "+1 415 555 2671"];
    let mut text = String::with_capacity(PIECE + 8192);
    let mut n = 0usize;
    while text.len() < PIECE {
        for word in 0..600 + n % 7 {
            text.push_str(["the ", "quick ", "brown ", "fox ", "jumps ", "over ", "a dog. "][(word + n) % 7]);
        }
        text.push_str("Contact ");
        text.push_str(values[n % values.len()]);
        text.push_str(". ");
        n += 1;
    }
    text
}

fn body(mode: &str) -> (Vec<u8>, &'static str, Option<&'static str>) {
    let text = text();
    match mode {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text.as_bytes()).expect("memory");
            (encoder.finish().expect("memory"), "text/plain", Some("gzip"))
        }
        "events" => {
            let mut events = Vec::with_capacity(PIECE * 2);
            for piece in text.as_bytes().chunks(2048) {
                events.extend_from_slice(b"data: {\"text\":\"");
                events.extend_from_slice(piece);
                events.extend_from_slice(b"\"}\n\n");
            }
            (events, "text/event-stream", None)
        }
        _ => (text.into_bytes(), "text/plain", None),
    }
}

fn head(stream: &mut impl BufRead) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).expect("a head");
        if line.trim().is_empty() {
            return lines;
        }
        lines.push(line.trim().to_owned());
    }
}

/// Gives each chunk of a chunked body to `see`, framing included where `raw`.
fn chunks(stream: &mut impl BufRead, mut see: impl FnMut(&[u8])) {
    let mut piece = Vec::new();
    loop {
        let mut size = String::new();
        stream.read_line(&mut size).expect("a chunk size");
        let length = usize::from_str_radix(size.trim(), 16).expect("a chunk size");
        piece.resize(length + 2, 0);
        stream.read_exact(&mut piece).expect("a chunk");
        see(&piece[..length]);
        if length == 0 {
            return;
        }
    }
}

fn send(stream: &mut TcpStream, piece: &[u8]) {
    stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).expect("sent");
    stream.write_all(piece).and_then(|()| stream.write_all(b"\r\n")).expect("sent");
}

fn upstream(listener: &TcpListener, piece: &[u8], pieces: usize) {
    let (stream, _) = listener.accept().expect("the gateway");
    let mut out = stream.try_clone().expect("a socket");
    let mut reader = BufReader::with_capacity(256 << 10, stream);
    let request = head(&mut reader);
    let mut answer = String::from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n");
    for line in request.iter().filter(|line| line.to_ascii_lowercase().starts_with("content-")) {
        answer.push_str(line);
        answer.push_str("\r\n");
    }
    // All of the request first: Pingora does not read an answer while a write to the upstream waits.
    chunks(&mut reader, |_| {});
    out.write_all((answer + "\r\n").as_bytes()).expect("sent");
    for _ in 0..pieces {
        send(&mut out, piece);
    }
    out.write_all(b"0\r\n\r\n").expect("sent");
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

struct Gateway {
    child: Child,
    _folder: tempfile::TempDir,
    port: u16,
    admin: u16,
}

impl Gateway {
    fn start(upstream: u16) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (port, admin) = (free_port(), free_port());
        let config = folder.path().join("portcullis.toml");
        let text = format!(
            "data = \"data\"\n[log]\nlevel = \"warn\"\n[admin]\naddress = \"127.0.0.1:{admin}\"\n\
             [[listen]]\naddress = \"127.0.0.1:{port}\"\n[upstreams.echo]\npeers = [\"http://127.0.0.1:{upstream}\"]\n\
             [[routes]]\nname = \"flood\"\nupstream = \"echo\"\nauth = \"none\"\n\
             redact = {{ requests = \"replace\", answers = \"replace\", protocol = \"generic\" }}\n"
        );
        fs::write(&config, text).expect("written");
        let child = Command::new(env!("CARGO_BIN_EXE_portcullis"))
            .arg("serve")
            .arg("-c")
            .arg(&config)
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the gateway starts");
        for _ in 0..100 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Self { child, _folder: folder, port, admin }
    }

    fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or_default()
    }

    fn findings(&self) -> f64 {
        let mut stream = TcpStream::connect(("127.0.0.1", self.admin)).expect("the admin listener");
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("metrics");
        let lines = text.lines().filter(|line| line.starts_with("portcullis_findings_total"));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let gigabytes: f64 = words.first().and_then(|word| word.parse().ok()).unwrap_or(0.25);
    let modes = words.get(1).map_or(vec!["plain", "gzip", "events"], |mode| vec![mode.as_str()]);
    for mode in modes {
        run(mode, gigabytes);
    }
}

fn run(mode: &str, gigabytes: f64) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let gateway = Gateway::start(listener.local_addr().expect("an address").port());
    let (piece, media_type, coding) = body(mode);
    let plain = text().len();
    let pieces = (gigabytes * 1e9 / plain as f64).ceil() as usize;
    let before = gateway.resident();
    let (peak, received) = (AtomicU64::new(before), AtomicU64::new(0));
    let clock = SystemClock;
    let start = clock.instant();
    std::thread::scope(|scope| {
        scope.spawn(|| upstream(&listener, &piece, pieces));
        let stream = TcpStream::connect(("127.0.0.1", gateway.port)).expect("the gateway");
        let mut out = stream.try_clone().expect("a socket");
        let coding = coding.map_or_else(String::new, |coding| {
            format!("Content-Encoding: {coding}\r\nAccept-Encoding: {coding}\r\n")
        });
        let head_text = format!(
            "POST /flood HTTP/1.1\r\nHost: a\r\nContent-Type: {media_type}\r\n{coding}Transfer-Encoding: chunked\r\n\r\n"
        );
        out.write_all(head_text.as_bytes()).expect("sent");
        let (peak, received, gateway) = (&peak, &received, &gateway);
        scope.spawn(move || {
            let mut reader = BufReader::with_capacity(256 << 10, stream);
            let status = head(&mut reader);
            assert!(status.first().is_some_and(|line| line.contains(" 200 ")), "{status:?}");
            chunks(&mut reader, |chunk| {
                let before = received.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                if before >> 24 != (before + chunk.len() as u64) >> 24 {
                    peak.fetch_max(gateway.resident(), Ordering::Relaxed);
                }
            });
        });
        for _ in 0..pieces {
            send(&mut out, &piece);
        }
        out.write_all(b"0\r\n\r\n").expect("sent");
    });
    let seconds = clock.instant().duration_since(start).as_secs_f64();
    let total = pieces as f64 * plain as f64;
    let found = gateway.findings();
    let peak = peak.load(Ordering::Relaxed);
    println!(
        "{mode:<7} {:6.2} GB each way {:6.0} MB/s  findings {found:.0} (one in {:.0} bytes)  resident {} -> {} KiB (+{:.1} MiB)",
        total / 1e9,
        total / seconds / 1e6,
        total / found.max(1.0),
        before,
        peak,
        peak.saturating_sub(before) as f64 / 1024.0
    );
}
