//! [`HeadForm`]: what a text begins with, as far as messages begin so, and [`upright`]: a message that every reader finds the
//! same in.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::sanitize::Rejection;
use crate::sanitize::format::charset::BOM;
use crate::sanitize::format::mail::entity::{Entity, field, line};

/// How the line begins that a mailbox has before each message.
pub(super) const FROM: &[u8] = b"From ";

/// Fields that messages and their parts have, and other texts with fields hardly do.
const STRONG: &[&str] = &[
    "from",
    "received",
    "return-path",
    "message-id",
    "mime-version",
    "delivered-to",
    "content-type",
    "content-transfer-encoding",
    "content-disposition",
];

/// Further fields that messages have.
const USUAL: &[&str] = &["to", "cc", "subject", "date", "reply-to", "sender"];

/// The fields that a text begins with.
#[derive(Debug, Default)]
pub(super) struct HeadForm {
    /// Those of messages.
    known: BTreeSet<&'static str>,
    /// Whether a body of parts follows.
    parts: bool,
    /// Whether something else than an empty line ends them.
    broken: bool,
}

impl HeadForm {
    /// Of a text that begins with its fields.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut form = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let (here, behind) = any_line(rest);
            let folded = here.starts_with(b" ") || here.starts_with(b"\t");
            if !folded {
                if here.trim_ascii().is_empty() {
                    break;
                }
                let Some(field) = field(here) else {
                    form.broken = true;
                    break;
                };
                let names = STRONG.iter().chain(USUAL).copied();
                form.known.extend(names.filter(|name| field.is(name)).take(1));
                // The value may stand in the next line.
                let value = rest.get(here.len().saturating_sub(field.value.len())..).unwrap_or_default();
                let value = value.trim_ascii_start().get(..b"multipart/".len()).unwrap_or_default();
                form.parts |= field.is("content-type") && value.eq_ignore_ascii_case(b"multipart/");
            }
            rest = behind;
        }
        form
    }

    /// Of a file, behind what readers skip.
    pub(super) fn behind_envelope(file: &[u8]) -> Self {
        Self::of(behind_envelope(file))
    }

    /// Whether there are fields of a message.
    pub(super) fn is_known(&self) -> bool {
        !self.known.is_empty()
    }

    /// Whether nothing but a message begins so.
    pub(super) fn is_message(&self) -> bool {
        let strong = self.known.iter().any(|name| STRONG.contains(name));
        !self.broken && (self.parts || (strong && self.known.len() > 1))
    }
}

/// A line with its end, which is a carriage return for some, and what follows.
fn any_line(text: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr2(b'\n', b'\r', text).map_or(text.len(), |at| {
        let both = text.get(at..at.saturating_add(2)).is_some_and(|end| end == b"\r\n");
        at.saturating_add(if both { 2 } else { 1 })
    });
    text.split_at_checked(end).unwrap_or((text, &[]))
}

/// What stands behind byte order marks, blanks, and lines such as `skipped`.
fn behind(raw: &[u8], skipped: impl Fn(&[u8]) -> bool) -> &[u8] {
    let mut rest = raw;
    loop {
        let text = rest.strip_prefix(BOM).unwrap_or(rest).trim_ascii_start();
        let (here, follows) = any_line(text);
        let next = if skipped(here) { follows } else { text };
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

/// What stands behind byte order marks and blanks.
pub(super) fn behind_blanks(raw: &[u8]) -> &[u8] {
    behind(raw, |_| false)
}

/// The same, and behind lines of a mailbox that were quoted on the way (`>From jane@example.com …`).
pub(super) fn behind_quoted(raw: &[u8]) -> &[u8] {
    behind(raw, is_quoted)
}

/// The same, and behind lines of a mailbox: there a message's fields begin.
fn behind_envelope(raw: &[u8]) -> &[u8] {
    behind(raw, |line| is_quoted(line) || is_envelope(line))
}

/// Whether a line may stand before a message in a mailbox; `From : jane@example.com` is a field.
pub(super) fn is_envelope(line: &[u8]) -> bool {
    line.starts_with(FROM) && field(line).is_none()
}

fn is_quoted(line: &[u8]) -> bool {
    let marks = line.iter().take_while(|b| **b == b'>').count();
    marks > 0 && line.get(marks..).is_some_and(|line| line.starts_with(FROM))
}

/// A text with line feeds, where it has carriage returns alone.
pub(super) fn with_line_feeds(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\n', raw).is_some() || memchr::memchr(b'\r', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.iter().map(|b| if *b == b'\r' { b'\n' } else { *b }).collect())
}

/// A message as it may stand anywhere: it begins with its fields, and has one if it had none.
///
/// # Errors
/// [`Rejection::Malformed`] where a line that is no field parts those that say how the body is to be read: some readers stop
/// there, and some do not.
pub(super) fn upright(raw: &[u8]) -> Result<Cow<'_, [u8]>, Rejection> {
    let message = match with_line_feeds(raw) {
        Cow::Borrowed(text) => Cow::Borrowed(from_fields(text)),
        Cow::Owned(text) => Cow::Owned(from_fields(&text).to_vec()),
    };
    let head = {
        let entity = Entity::read(&message);
        let behind = match entity.fields.as_slice() {
            [] => behind_envelope(&message),
            _ if entity.gap.is_empty() => entity.body,
            _ => b"",
        };
        if is_torn(behind) {
            return Err(Rejection::Malformed);
        }
        let bare = entity.fields.is_empty() && !entity.body.trim_ascii().is_empty();
        bare.then(|| head_before(&entity))
    };
    Ok(match head {
        Some(head) => Cow::Owned([head.as_bytes(), &*message].concat()),
        None => message,
    })
}

/// The fields of a text that has none: it is one.
fn head_before(entity: &Entity<'_>) -> String {
    let eol = entity.eol;
    let gap = if entity.gap.is_empty() { eol } else { "" };
    format!("MIME-Version: 1.0{eol}Content-Type: text/plain{eol}{gap}")
}

/// A text from where a message's fields begin in it; all of it where none do.
fn from_fields(text: &[u8]) -> &[u8] {
    let behind = behind_envelope(text);
    if HeadForm::of(behind).is_known() { behind } else { text }
}

/// Whether fields that say how a body is to be read stand among lines, up to an empty one, that begin with one that is none.
fn is_torn(lines: &[u8]) -> bool {
    let mut rest = lines;
    while !rest.is_empty() {
        let (here, behind) = line(rest);
        if here.trim_ascii().is_empty() {
            return false;
        }
        if is_structure(here) {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether a line says how a body is to be read.
fn is_structure(line: &[u8]) -> bool {
    field(line.trim_ascii_start()).is_some_and(|field| field.structure().is_some())
}

/// Whether anything in a text says how a body is to be read. Zeros are of a wider encoding, or skipped.
pub(super) fn has_structure(text: &[u8]) -> bool {
    let zeros = memchr::memchr(0, text).is_some();
    let read: Cow<'_, [u8]> = if zeros {
        Cow::Owned(text.iter().copied().filter(|b| *b != 0).collect())
    } else {
        Cow::Borrowed(text)
    };
    read.split(|b| matches!(b, b'\n' | b'\r')).any(is_structure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_what_readers_skip() {
        let fields = "From: a\nSubject: b\n\nhello";
        for before in [
            "",
            "\u{feff}",
            "\n\r\n \t",
            "From x@y.example Mon Jan  1 00:00:00 2020\n",
            ">From x\n>>From y\n",
            "\u{feff}\nFrom x\r\n\n>From y\n ",
            "From x\r",
        ] {
            let text = format!("{before}{fields}");
            assert!(HeadForm::behind_envelope(text.as_bytes()).is_message(), "{text}");
            assert_eq!(upright(text.as_bytes()).as_deref(), Ok(fields.as_bytes()), "{text}");
        }
        for other in [
            "hello\nFrom: a\nSubject: b\n",
            "From here\nto there",
            "From: here\nTo\n\nhello",
            "a: b\nc: d",
            "",
        ] {
            assert!(!HeadForm::behind_envelope(other.as_bytes()).is_message(), "{other}");
        }
        let long = format!("x: {}\nContent-Type:\n multipart/mixed; boundary=b\n\n", "y".repeat(200_000));
        assert!(HeadForm::of(long.as_bytes()).is_message());
        assert!(HeadForm::of(b"From : a\nTo : b\n").is_message());
    }

    #[test]
    fn a_message_begins_with_its_fields() {
        for (raw, want) in [
            ("hello", Some("MIME-Version: 1.0\nContent-Type: text/plain\n\nhello")),
            ("\r\nX: y\r\n", Some("MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nX: y\r\n")),
            ("\nContent-Type: text/html\n\nx", Some("Content-Type: text/html\n\nx")),
            ("From: a\rSubject: b\r\rhi\r", Some("From: a\nSubject: b\n\nhi\n")),
            ("Subject: a\njunk\nmore\n\nContent-Type: b", Some("Subject: a\njunk\nmore\n\nContent-Type: b")),
            ("Subject: a\njunk\nContent-Type: text/html\n\nx", None),
            ("junk\n MIME-Version: 1.0\n\nx", None),
            ("\n>From x\n\njunk\nMIME-Version: 1.0\n\nx", None),
            ("", Some("")),
        ] {
            let upright = upright(raw.as_bytes()).ok();
            assert_eq!(upright.as_deref(), want.map(str::as_bytes), "{raw}");
        }
    }

    #[test]
    fn structure_is_found_in_any_line() {
        for text in
            ["x\n content-TYPE : y", "C\0o\0n\0t\0e\0n\0t\0-\0T\0y\0p\0e\0:\0", "a\rMIME-Version: 1.0"]
        {
            assert!(has_structure(text.as_bytes()), "{text}");
        }
        assert!(!has_structure(b"Dear Jane,\nthe Content-Type: is x\nFrom: me"));
    }
}
