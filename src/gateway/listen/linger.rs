//! The end of a connection: a close with bytes on their way here is a reset, which takes the answer away from the caller
//! (RFC 9112 section 9.6).

use std::io;
use std::time::Duration;

use pingora::protocols::Stream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How long what is on its way is still read, and how much of it, in bytes.
pub(super) const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 1 << 20;

/// What is read at once, in bytes.
const BLOCK: usize = 4 << 10;

/// Says the last words, that there will be no others, and reads what is on its way.
pub(super) async fn linger(mut inner: Stream, rest: &[u8]) -> io::Result<()> {
    inner.write_all(rest).await?;
    AsyncWriteExt::shutdown(&mut inner).await?;
    let mut block = vec![0; BLOCK];
    let mut left = LINGER_BYTES;
    while left > 0 {
        let read = inner.read(&mut block).await?;
        if read == 0 {
            break;
        }
        left = left.saturating_sub(read);
    }
    Ok(())
}
