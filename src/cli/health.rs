//! `health`: asks a running gateway whether it takes traffic, as a container's health check does.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::app::AppError;
use crate::cli::failure::Failure;
use crate::cli::streams::result;

/// How long each step may take.
const PATIENCE: Duration = Duration::from_secs(3);

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
                format!("no answer within {} s", PATIENCE.as_secs()),
                "is the address right, and does a firewall let this machine in?",
            ),
            // Whoever hangs up without a word speaks something else.
            ErrorKind::InvalidData | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                failed("no answer in HTTP".to_owned(), OTHER)
            }
            _ => failed(error.to_string(), OTHER),
        },
    }
}

const OTHER: &str =
    "name the gateway's listener for metrics and health, `[admin]` in its configuration, with --admin";

fn ask(admin: SocketAddr) -> std::io::Result<u16> {
    let mut stream = TcpStream::connect_timeout(&admin, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // In one piece: who answers the first of several and hangs up resets the others, and its answer with them.
    stream.write_all(
        format!("GET /readyz HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut line = String::new();
    BufReader::new(stream.take(LINE)).read_line(&mut line)?;
    let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.split(' ').next());
    status.and_then(|status| status.parse().ok()).ok_or_else(|| std::io::ErrorKind::InvalidData.into())
}
