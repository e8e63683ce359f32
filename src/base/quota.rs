//! Where pure work asks whether one value more may be used: how many different ones a caller may have is counted
//! elsewhere. The work itself reads no clock and knows no caller.

use std::sync::Arc;
use std::time::Duration;

/// The caller has had as many different values as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the caller has had as many different values as it may")]
pub struct QuotaExceeded {
    /// When it may have others, in whole seconds from now, at least 1.
    pub after: u64,
}

impl QuotaExceeded {
    /// Until more is allowed, it takes so long.
    pub fn until(wait: Duration) -> Self {
        Self { after: wait.as_secs() + 1 }
    }
}

/// What counts for a [`Quota`].
pub trait Count: Send + Sync {
    /// Counts a value. One that was counted already changes nothing.
    ///
    /// # Errors
    /// [`QuotaExceeded`]: it must not be used.
    fn count(&self, value: &str) -> Result<(), QuotaExceeded>;
}

/// How many different values may still be used. Asked before each; cheap to clone. The default lets all be used.
///
/// ```
/// use std::sync::Arc;
/// use portcullis::base::quota::{Count, Quota, QuotaExceeded};
///
/// struct Nothing;
///
/// impl Count for Nothing {
///     fn count(&self, _: &str) -> Result<(), QuotaExceeded> {
///         Err(QuotaExceeded { after: 60 })
///     }
/// }
///
/// assert_eq!(Quota::default().take("536-22-8726"), Ok(()));
/// assert_eq!(Quota::new(Arc::new(Nothing)).take("536-22-8726"), Err(QuotaExceeded { after: 60 }));
/// ```
#[derive(Clone, Default)]
pub struct Quota(Option<Arc<dyn Count>>);

impl Quota {
    /// As `count` says.
    pub fn new(count: Arc<dyn Count>) -> Self {
        Self(Some(count))
    }

    /// Whether a value may be used.
    ///
    /// # Errors
    /// [`QuotaExceeded`].
    pub fn take(&self, value: &str) -> Result<(), QuotaExceeded> {
        self.0.as_ref().map_or(Ok(()), |count| count.count(value))
    }
}

impl std::fmt::Debug for Quota {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Quota(..)")
    }
}
