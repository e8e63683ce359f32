//! [`member`]: one member of an archive.

use crate::sanitize::{Note, Rejection, Work};

/// Cleans a member; `None`: it is left out, which is noted.
///
/// # Errors
/// What makes the whole archive unfit.
pub(super) fn member(name: &str, content: &[u8], work: &mut Work<'_>) -> Result<Option<Vec<u8>>, Rejection> {
    match work.file(name, content) {
        Ok(clean) => Ok(Some(clean)),
        Err(Rejection::Unsupported | Rejection::Malformed) => {
            work.stats().note(Note::Dropped, 1);
            Ok(None)
        }
        Err(rejection) => Err(rejection),
    }
}
