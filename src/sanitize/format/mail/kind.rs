//! [`kind_of`]: which files are mail, and of which kind.

use std::ops::Range;

use crate::sanitize::format::mail::entity::{Entity, line};
use crate::sanitize::format::mail::form::{
    FROM, HeadForm, behind_blanks, behind_quoted, has_structure, is_envelope, with_line_feeds,
};
use crate::sanitize::format::mail::media::Media;
use crate::sanitize::format::mail::multipart::enclosed;
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
        false => mailbox || boxed || has_separators(text, &parts(text)),
    };
    Some(if several { FileKind::Mailbox } else { FileKind::Mail })
}

/// Where the parts of a text stand that begins like one message.
fn parts(text: &[u8]) -> Range<usize> {
    let entity = Entity::read(behind_quoted(text));
    let media = entity.field("content-type").map(|field| Media::read(field.value)).unwrap_or_default();
    let boundary = media.get("boundary").map(str::trim_end).filter(|boundary| !boundary.is_empty());
    let parts =
        boundary.filter(|_| media.is_multipart()).and_then(|boundary| enclosed(entity.body, boundary));
    let before = text.len().saturating_sub(entity.body.len());
    parts.map_or(0..0, |parts| before.saturating_add(parts.start)..before.saturating_add(parts.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_in_a_part_of_a_message_makes_no_mailbox_of_it() {
        const PATCH: &str = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: a\nSubject: b\n\nx\n";
        let kind = |text: &str, name: &str| kind_of(text.as_bytes(), name);
        let message = |end: &str| {
            format!(
                "From: a\nTo: b\nContent-Type: multipart/mixed;\n boundary=\"b 1\"\n\n--b 1\n\nhi\n--b 1\n\n{PATCH}{end}"
            )
        };
        let closed = message("--b 1--\n");
        for name in ["1700000000.M1P2.host:2,S", "mail", "x.txt", "x.eml"] {
            assert_eq!(kind(&closed, name), Some(FileKind::Mail), "{name}");
            assert_eq!(kind(&format!(">From x\n{closed}"), name), Some(FileKind::Mail), "{name}");
        }
        assert_eq!(kind(&closed, "x.mbox"), Some(FileKind::Mailbox));
        for several in [message(""), message("--b--\n"), format!("{closed}\n{PATCH}"), PATCH.to_owned()] {
            assert_eq!(kind(&several, "mail"), Some(FileKind::Mailbox), "{several}");
        }
    }
}
