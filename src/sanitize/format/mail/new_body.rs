//! [`NewBody`]: what becomes of a body, and [`EntityCleaner`], who cleans the messages and parts in it.

use crate::sanitize::format::mail::media::Media;
use crate::sanitize::format::mail::transfer::Transfer;
use crate::sanitize::{Rejection, Work};

/// What becomes of a body.
pub(super) enum NewBody {
    /// It stays.
    Same,
    /// Another one, how it is encoded, and its media type where that is another, too.
    Changed { body: Vec<u8>, transfer: Transfer, media: Option<Media> },
    /// None.
    Gone,
}

/// What an entity is that does not say so itself.
pub(super) const PLAIN: &[u8] = b"text/plain";

/// Cleans an entity within another one, which says what it is, if the entity does not; `None`: it stays as it is. Nothing
/// is left of one that goes.
pub(super) type EntityCleaner<'i> =
    &'i dyn Fn(&[u8], &[u8], &mut Work<'_>) -> Result<Option<Vec<u8>>, Rejection>;
