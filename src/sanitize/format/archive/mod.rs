//! Archives: every member is cleaned as a file of its own, and what is left is packed anew, in the same order.
//!
//! Only plain files are written. A folder is there by the names of its files; links and devices are left out
//! ([`Note::Dropped`](crate::sanitize::Note::Dropped)), since what they lead to is not in the archive, and so are members that cannot be rewritten, and scripts.
//! A member whose name does not fit what it is gets one that does ([`Note::Renamed`](crate::sanitize::Note::Renamed)).
//! A name that leads out of the folder to which an archive is unpacked, or that two members share, makes the whole
//! archive [`Rejection::Traversal`](crate::sanitize::Rejection::Traversal) or [`Rejection::DuplicateName`](crate::sanitize::Rejection::DuplicateName): nobody packs such a file by accident. So does a malicious member, or an encrypted
//! one, decide for all ([`Rejection::Malicious`](crate::sanitize::Rejection::Malicious), [`Rejection::Encrypted`](crate::sanitize::Rejection::Encrypted)). Comments, owners and what else is attached to
//! members do not stay.
//!
//! | file | noun |
//! |---|---|
//! | `zip` | zip archives |
//! | `tar` | tar archives |
//! | `gzip` | one file in gzip |
//! | `member` | one member, cleaned |
//! | `names` | members' names |

mod gzip;
mod member;
mod names;
mod tar;
mod zip;

pub(super) use gzip::clean as gzip;
pub(super) use tar::clean as tar;
pub(super) use zip::clean as zip;

#[cfg(test)]
mod tests;
