//! Where long, pure work asks whether to go on: who waits for its outcome may have left, its time may be used up, or it
//! may be another's turn. The work itself reads no clock and knows no thread.

use std::sync::Arc;

/// The work is not wanted any more, or has taken too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work was stopped")]
pub struct Stopped;

/// What answers at a [`Checkpoint`]. It may block the thread of the work until it is its turn again.
pub trait GoOn: Send + Sync {
    /// Whether the work goes on; once it does not, it never does again.
    ///
    /// # Errors
    /// [`Stopped`].
    fn go_on(&self) -> Result<(), Stopped>;
}

/// Asked by long work every so often: every 32 KiB of text, every value that is encrypted. Cheap to clone; the default
/// lets everything go on.
///
/// ```
/// use std::sync::Arc;
/// use portcullis::base::checkpoint::{Checkpoint, GoOn, Stopped};
///
/// struct Never;
///
/// impl GoOn for Never {
///     fn go_on(&self) -> Result<(), Stopped> {
///         Err(Stopped)
///     }
/// }
///
/// assert_eq!(Checkpoint::default().pass(), Ok(()));
/// assert_eq!(Checkpoint::new(Arc::new(Never)).pass(), Err(Stopped));
/// ```
#[derive(Clone, Default)]
pub struct Checkpoint(Option<Arc<dyn GoOn>>);

impl Checkpoint {
    /// Asks `go_on` each time.
    pub fn new(go_on: Arc<dyn GoOn>) -> Self {
        Self(Some(go_on))
    }

    /// Whether the work goes on.
    ///
    /// # Errors
    /// [`Stopped`]: what was done so far is of no use.
    pub fn pass(&self) -> Result<(), Stopped> {
        self.0.as_ref().map_or(Ok(()), |asked| asked.go_on())
    }
}

impl std::fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Checkpoint(..)")
    }
}
