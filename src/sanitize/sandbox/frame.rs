//! Frames: the length of a head (4 bytes, little endian), the length of what follows (8 bytes), the head as JSON, the
//! bytes.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The largest head that is read, in bytes: all texts of a large file.
const MAX_HEAD: usize = 256 << 20;

/// The lengths, before everything else.
const LENGTHS: usize = 12;

fn lengths(head: usize, bytes: usize) -> io::Result<[u8; LENGTHS]> {
    let small = u32::try_from(head).ok().filter(|_| head <= MAX_HEAD).ok_or(io::ErrorKind::InvalidInput)?;
    let mut out = [0; LENGTHS];
    let (left, right) = out.split_at_mut(4);
    left.copy_from_slice(&small.to_le_bytes());
    right.copy_from_slice(&(bytes as u64).to_le_bytes());
    Ok(out)
}

fn sizes(lengths: [u8; LENGTHS], limit: usize) -> io::Result<(usize, usize)> {
    let [a, b, c, d, rest @ ..] = lengths;
    let head = u32::from_le_bytes([a, b, c, d]) as usize;
    let bytes = usize::try_from(u64::from_le_bytes(rest)).unwrap_or(usize::MAX);
    if head > MAX_HEAD || bytes > limit { Err(io::ErrorKind::InvalidData.into()) } else { Ok((head, bytes)) }
}

fn written(head: &impl Serialize) -> io::Result<Vec<u8>> {
    serde_json::to_vec(head).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn read_head<T: DeserializeOwned>(head: &[u8]) -> io::Result<T> {
    serde_json::from_slice(head).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Writes a frame.
pub(super) fn put(to: &mut impl Write, head: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    let head = written(head)?;
    to.write_all(&lengths(head.len(), bytes.len())?)?;
    to.write_all(&head)?;
    to.write_all(bytes)?;
    to.flush()
}

/// Reads a frame of at most `limit` bytes besides its head.
pub(super) fn take<T: DeserializeOwned>(from: &mut impl Read, limit: usize) -> io::Result<(T, Vec<u8>)> {
    let mut start = [0; LENGTHS];
    from.read_exact(&mut start)?;
    let (head, bytes) = sizes(start, limit)?;
    let head = exactly(from, head)?;
    Ok((read_head(&head)?, exactly(from, bytes)?))
}

/// Room is made as bytes arrive, not as they are announced.
fn exactly(from: &mut impl Read, size: usize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    from.take(size as u64).read_to_end(&mut out)?;
    if out.len() == size { Ok(out) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Writes a frame, waiting.
pub(super) async fn send(
    to: &mut (impl AsyncWrite + Unpin),
    head: &impl Serialize,
    bytes: &[u8],
) -> io::Result<()> {
    let head = written(head)?;
    // In one piece: each write could wake the reader.
    let mut start = lengths(head.len(), bytes.len())?.to_vec();
    start.extend_from_slice(&head);
    to.write_all(&start).await?;
    to.write_all(bytes).await?;
    to.flush().await
}

/// Reads a frame, waiting.
pub(super) async fn receive<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
    limit: usize,
) -> io::Result<(T, Vec<u8>)> {
    let mut start = [0; LENGTHS];
    from.read_exact(&mut start).await?;
    let (head, bytes) = sizes(start, limit)?;
    let head = arrive(from, head).await?;
    Ok((read_head(&head)?, arrive(from, bytes).await?))
}

async fn arrive(from: &mut (impl AsyncRead + Unpin), size: usize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    from.take(size as u64).read_to_end(&mut out).await?;
    if out.len() == size { Ok(out) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        let mut pipe = Vec::new();
        put(&mut pipe, &"head", b"bytes").unwrap();
        put(&mut pipe, &[1, 2], b"").unwrap();
        let mut from = &pipe[..];
        assert_eq!(take::<String>(&mut from, 5).unwrap(), ("head".to_owned(), b"bytes".to_vec()));
        assert_eq!(take::<Vec<u8>>(&mut from, 0).unwrap(), (vec![1, 2], Vec::new()));
        assert!(take::<String>(&mut &pipe[..], 4).is_err(), "over the limit");
        assert!(take::<String>(&mut &pipe[..10], 5).is_err(), "cut off");
        assert!(take::<Vec<u8>>(&mut &pipe[..], 5).is_err(), "another head");
    }
}
