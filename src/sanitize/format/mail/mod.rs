//! Mail messages (RFC 5322, MIME), and mailboxes of them (RFC 4155): texts and pages cleaned by their own formats,
//! attachments taken out or cleaned, header fields redacted. Parts in which nothing changes stay byte for byte, and so does
//! a message of such parts.
//!
//! What readers may understand differently is written anew, so that all find what was found here: fields that are
//! there twice, bodies in odd encodings or unknown character sets, text around the parts. Where that cannot be told
//! (a multipart without its boundary, boundaries that begin alike) the message is [`Rejection::Malformed`](crate::sanitize::Rejection::Malformed). Encrypted
//! ones are [`Rejection::Encrypted`](crate::sanitize::Rejection::Encrypted). Signatures go when what they sign changes ([`Note::Signatures`](crate::sanitize::Note::Signatures)).
//!
//! The crate `mail-parser` decodes header values. The parts are told apart here: its tree of messages within messages
//! is as deep as a sender likes, and says less about what it skipped.
//!
//! Identifiers look like addresses: only what stands elsewhere goes from those that programs make up (`identifiers`), and
//! links to parts (`cid:`) are read the same, so that they still lead there.
//!
//! Programs for mail skip what stands before the first field: a byte order mark, blanks, the line of a mailbox. So a file
//! is mail that has the fields of a message behind these, and a message is written without them. What is only called mail
//! (`.eml`, `.mbox`) and has no fields of a message there is refused where it has those of a part, and is text elsewhere.
//!
//! | file | noun |
//! |---|---|
//! | `entity` | header and body |
//! | `form` | what messages begin with |
//! | `separator` | lines that begin the messages of a mailbox |
//! | `kind` | which files are mail |
//! | `date` | what dates consist of |
//! | `mhtml` | where a part of a page came from |
//! | `address` | addresses, plainly written |
//! | `head` | header fields |
//! | `media` | values with parameters |
//! | `utf7`, `charset_text` | texts by the character sets that are named |
//! | `new_body` | what becomes of a body |
//! | `multipart` | bodies of parts |
//! | `leaf` | bodies of content |
//! | `transfer` | transfer encodings |
//! | `message` | all of this for a message |
//! | `mailbox` | and for each one in a mailbox |

mod address;
mod charset_text;
mod date;
mod entity;
mod form;
mod head;
mod kind;
mod leaf;
mod mailbox;
mod media;
mod message;
mod mhtml;
mod multipart;
mod new_body;
mod separator;
mod transfer;
mod utf7;

pub(in crate::sanitize) use kind::kind_of;
pub(super) use mailbox::clean as clean_mailbox;
pub(super) use message::clean;
pub(super) use transfer::Transfer;

#[cfg(test)]
mod tests;
