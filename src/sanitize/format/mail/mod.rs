//! Mail messages (RFC 5322, MIME): texts and pages cleaned by their own formats, attachments taken out or cleaned,
//! header fields redacted. Parts in which nothing changes stay byte for byte, and so does a message of such parts.
//!
//! What readers may understand differently is written anew, so that all find what was found here: fields that are
//! there twice, bodies in odd encodings or unknown character sets, text around the parts. Where that cannot be told
//! (a multipart without its boundary, boundaries that begin alike) the message is [`Rejection::Malformed`](crate::sanitize::Rejection::Malformed). Encrypted
//! ones are [`Rejection::Encrypted`](crate::sanitize::Rejection::Encrypted). Signatures go when what they sign changes ([`Note::Signatures`](crate::sanitize::Note::Signatures)).
//!
//! The crate `mail-parser` decodes header values. The parts are told apart here: its tree of messages within messages
//! is as deep as a sender likes, and says less about what it skipped.
//!
//! | file | noun |
//! |---|---|
//! | `entity` | header and body |
//! | `head` | header fields |
//! | `media` | values with parameters |
//! | `new_body` | what becomes of a body |
//! | `multipart` | bodies of parts |
//! | `leaf` | bodies of content |
//! | `transfer` | transfer encodings |
//! | `message` | all of this for a message |

mod entity;
mod head;
mod leaf;
mod media;
mod message;
mod multipart;
mod new_body;
mod transfer;

pub(in crate::sanitize) use entity::is_mail;
pub(super) use message::clean;
pub(super) use transfer::Transfer;

#[cfg(test)]
mod tests;
