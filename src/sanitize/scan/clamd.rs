//! [`Clamd`]: an engine in another process, over its socket.
//!
//! The protocol is clamd(8)'s `zINSTREAM`: chunks with their size before them as four bytes, big-endian; an empty
//! chunk ends them; the answer is one line that a zero byte ends. One connection for each scan.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::sanitize::scan::{ScanFailure, ScanItem, Scanner, Verdict};

/// The size of a chunk.
const CHUNK: usize = 64 << 10;

/// The longest answer.
const LONGEST: u64 = 4 << 10;

/// For a connection to come about, and for an answer to a `PING`.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Where it listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClamdAddress {
    /// A socket of this machine (`LocalSocket` in clamd.conf).
    Unix(PathBuf),
    /// Another one (`TCPSocket`): plaintext, so for a network that is trusted.
    Tcp(SocketAddr),
}

/// What there is to say of a clamd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClamdSetup {
    /// Where it listens.
    pub address: ClamdAddress,
    /// The largest part it takes, in bytes: at most `StreamMaxLength` of clamd.conf.
    pub most: usize,
    /// For one scan, from the connection to the answer.
    pub time: Duration,
    /// Scans at once: at most `MaxThreads` of clamd.conf.
    pub scans: usize,
}

/// A clamd.
#[derive(Debug)]
pub struct Clamd {
    setup: ClamdSetup,
    turns: Semaphore,
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Clamd {
    /// Over this socket. Nothing is connected yet.
    pub fn new(setup: ClamdSetup) -> Self {
        let turns = Semaphore::new(setup.scans.clamp(1, Semaphore::MAX_PERMITS));
        Self { setup, turns }
    }

    async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        let connected = async {
            Ok(match &self.setup.address {
                ClamdAddress::Unix(path) => Box::new(UnixStream::connect(path).await?) as Box<dyn Stream>,
                ClamdAddress::Tcp(address) => Box::new(TcpStream::connect(address).await?),
            })
        };
        timeout(RETRY_AFTER, connected).await.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Whether it is there and answers.
    pub async fn ping(&self) -> bool {
        let asked = async {
            let mut stream = self.connect().await?;
            stream.write_all(b"zPING\0").await?;
            answer(&mut stream).await
        };
        matches!(timeout(RETRY_AFTER, asked).await, Ok(Ok(said)) if said == "PONG")
    }

    async fn look(&self, bytes: &[u8]) -> Verdict {
        let Ok(mut stream) = self.connect().await else { return Verdict::Down(ScanFailure::Unreachable) };
        let sent = send(&mut stream, bytes).await;
        // Who closes while we write may have said why.
        let said = answer(&mut stream).await.unwrap_or_default();
        match (said.as_str(), sent) {
            ("", Ok(())) => Verdict::Down(ScanFailure::BrokenOff),
            // It hung up on this part, or it is no longer there: only another connection can tell.
            ("", Err(_)) if self.ping().await => Verdict::Unable(ScanFailure::Refused),
            ("", Err(_)) => Verdict::Down(ScanFailure::BrokenOff),
            (said, _) => read(said),
        }
    }
}

impl Scanner for Clamd {
    fn name(&self) -> &'static str {
        "clamd"
    }

    fn scan<'a>(&'a self, part: ScanItem<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            if part.bytes.len() > self.setup.most {
                return Verdict::Unable(ScanFailure::TooLarge);
            }
            let Ok(_turn) = self.turns.acquire().await else {
                return Verdict::Down(ScanFailure::Unreachable);
            };
            match timeout(self.setup.time, self.look(&part.bytes)).await {
                Ok(verdict) => verdict,
                // A part that it chokes on is told from a clamd that hangs.
                Err(_) if self.ping().await => Verdict::Unable(ScanFailure::TooLong),
                Err(_) => Verdict::Down(ScanFailure::TooLong),
            }
        })
    }
}

async fn send(stream: &mut Box<dyn Stream>, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(b"zINSTREAM\0").await?;
    for chunk in bytes.chunks(CHUNK) {
        stream.write_all(&u32::try_from(chunk.len()).unwrap_or(0).to_be_bytes()).await?;
        stream.write_all(chunk).await?;
    }
    stream.write_all(&[0; 4]).await?;
    stream.flush().await
}

/// What it says, up to the zero byte; empty if it says nothing.
async fn answer(stream: &mut Box<dyn Stream>) -> io::Result<String> {
    let mut said = Vec::new();
    stream.take(LONGEST).read_to_end(&mut said).await?;
    let said = String::from_utf8_lossy(&said);
    Ok(said.trim_end_matches(['\0', '\n']).to_owned())
}

/// What an answer means. Heuristics on limits and encryption are no findings: they say that it did not look.
fn read(said: &str) -> Verdict {
    let said = said.strip_prefix("stream: ").unwrap_or(said);
    if let Some(rule) = said.strip_suffix(" FOUND") {
        return match rule {
            rule if rule.starts_with("Heuristics.Limits.Exceeded") => Verdict::Unable(ScanFailure::TooLarge),
            rule if rule.starts_with("Heuristics.Encrypted.") => Verdict::Unable(ScanFailure::Encrypted),
            rule => Verdict::Malicious { rule: rule.to_owned() },
        };
    }
    match said {
        "OK" => Verdict::Clean,
        said if said.starts_with("INSTREAM size limit exceeded") => Verdict::Unable(ScanFailure::TooLarge),
        said if said.contains("Can't allocate memory") => Verdict::Down(ScanFailure::Refused),
        _ => Verdict::Unable(ScanFailure::Refused),
    }
}

#[cfg(test)]
#[path = "clamd_tests.rs"]
mod tests;
