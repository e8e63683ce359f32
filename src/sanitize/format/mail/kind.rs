//! [`kind_of`]: which files are mail, and of which kind.

use crate::sanitize::format::mail::entity::line;
use crate::sanitize::format::mail::form::{
    FROM, HeadForm, behind_blanks, has_structure, is_envelope, with_line_feeds,
};
use crate::sanitize::format::mail::separator::{has_separators, separators};
use crate::sanitize::{FileKind, name};

/// Names' endings of messages.
const MESSAGES: &[&str] = &["eml", "mht", "mhtml"];

/// Names' endings of mailboxes.
const MAILBOXES: &[&str] = &["mbox", "mbx"];

/// The kind of a file that is mail, which its owner calls `called`; `None` where it is none. A file that only its name
/// calls mail, and in which a reader that skips what it does not know may find parts, is a message: none that can be read.
pub(in crate::sanitize) fn kind_of(file: &[u8], called: &str) -> Option<FileKind> {
    let ending = name::ending(called).map(|(_, ending)| ending).unwrap_or_default();
    let (message, mailbox) = (MESSAGES.contains(&ending.as_str()), MAILBOXES.contains(&ending.as_str()));
    let form = HeadForm::behind_envelope(file);
    let named = message || mailbox;
    if !(form.is_message() || named && form.is_known()) {
        return (named && has_structure(file)).then_some(FileKind::Mail);
    }
    let text = with_line_feeds(file);
    let text = behind_blanks(&text);
    let boxed = text.starts_with(FROM) && is_envelope(line(text).0);
    let several = match message {
        // A program that takes it for one message reads it to its end.
        true => boxed && separators(text).nth(1).is_some(),
        false => mailbox || boxed || has_separators(text),
    };
    Some(if several { FileKind::Mailbox } else { FileKind::Mail })
}
