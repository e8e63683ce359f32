//! `health`: asks a running gateway whether it takes traffic, as a container's health check does.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::app::{AppError, with_any_certificate};
use crate::cli::failure::Failure;
use crate::cli::streams::result;

/// How long each step may take.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The longest status line, in bytes.
const LINE: u64 = 1024;

/// Asks `/readyz` at this address.
pub(super) fn run(admin: SocketAddr) -> Result<(), Failure> {
    let failed =
        |why: String, tip: &str| Err(Failure::from(AppError::Io(format!("{admin}: {why}"))).advised(tip));
    match ask(admin) {
        Ok(200) => result("ready"),
        Ok(503) => {
            failed("not ready (503)".to_owned(), "it starts, or it drains before it ends; its log says which")
        }
        Ok(status) => failed(format!("not ready ({status})"), OTHER),
        Err(error) => match error.kind() {
            ErrorKind::ConnectionRefused => failed(
                "nothing listens there".to_owned(),
                "`portcullis serve` starts a gateway; name its listener for metrics and health with --admin",
            ),
            ErrorKind::TimedOut | ErrorKind::WouldBlock => failed(
                format!("no answer within {} s", TIMEOUT.as_secs()),
                "is the address right, and does a firewall let this machine in?",
            ),
            kind if is_no_http(kind) => failed("no answer in HTTP".to_owned(), OTHER),
            _ => failed(error.to_string(), OTHER),
        },
    }
}

const OTHER: &str =
    "name the gateway's listener for metrics and health, `[admin]` in its configuration, with --admin";

/// Asks in the clear, and then over TLS: the listener may have a certificate of its own.
fn ask(admin: SocketAddr) -> io::Result<u16> {
    let plain = status(connect(admin)?, admin);
    match &plain {
        Err(error) if is_no_http(error.kind()) => secured(admin).or(plain),
        _ => plain,
    }
}

/// Whoever hangs up without a word speaks something else.
const fn is_no_http(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::InvalidData | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

fn connect(admin: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&admin, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// Nothing secret is said or learnt, and an address is in few certificates: none is refused.
fn secured(admin: SocketAddr) -> io::Result<u16> {
    status(with_any_certificate(connect(admin)?, admin.ip())?, admin)
}

/// The status of the answer to one request.
fn status(mut stream: impl Read + Write, admin: SocketAddr) -> io::Result<u16> {
    // In one piece: who answers the first of several and hangs up resets the others, and its answer with them.
    stream.write_all(
        format!("GET /readyz HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut line = String::new();
    BufReader::new(stream.take(LINE)).read_line(&mut line)?;
    let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.split(' ').next());
    status.and_then(|status| status.parse().ok()).ok_or_else(|| ErrorKind::InvalidData.into())
}
