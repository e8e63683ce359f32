//! `health`: asks a running gateway whether it takes traffic, as a container's health check does.

use std::io::{BufRead, BufReader, Read, Write};
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
    match ask(admin) {
        Ok(200) => result("ready"),
        Ok(status) => Err(AppError::Io(format!("{admin}: not ready ({status})")).into()),
        Err(error) => Err(AppError::Io(format!("{admin}: {error}")).into()),
    }
}

fn ask(admin: SocketAddr) -> std::io::Result<u16> {
    let mut stream = TcpStream::connect_timeout(&admin, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n")?;
    let mut line = String::new();
    BufReader::new(stream.take(LINE)).read_line(&mut line)?;
    let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.split(' ').next());
    status.and_then(|status| status.parse().ok()).ok_or_else(|| std::io::ErrorKind::InvalidData.into())
}
