//! [`CopyDestination`]: a place to which lines of the audit log are copied.

use crate::audit::{ChainLink, FollowedLine};

/// Where the log says what became of lines.
pub(super) const TARGET: &str = "portcullis::audit";

/// What came of a step; an error is in words for the log.
pub(super) type Copied<T> = Result<T, String>;

/// A place to which lines of the audit log are copied.
pub(super) trait CopyDestination: Send + 'static {
    /// The last lines that it has: of one log, or of several.
    fn ends(&mut self) -> impl Future<Output = Copied<Vec<ChainLink>>> + Send;

    /// Takes lines, of which each follows the one before. Those of which nobody knows whether they came are given again.
    fn take(&mut self, run: &[FollowedLine]) -> impl Future<Output = Copied<()>> + Send;

    /// Does what is to be done from time to time.
    fn keep_up(&mut self) -> impl Future<Output = Copied<()>> + Send {
        async { Ok(()) }
    }
}
