//! [`clean`]: the messages of a mailbox, each cleaned as if it came alone, and put together again.

use std::borrow::Cow;
use std::ops::Range;

use crate::sanitize::format::mail::entity::{Entity, has_stray};
use crate::sanitize::format::mail::form::{FROM, behind_blanks, with_line_feeds};
use crate::sanitize::format::mail::message;
use crate::sanitize::format::mail::separator::separators;
use crate::sanitize::{ChangedObject, ObjectKind, Rejection, Work};

/// The most messages.
const MOST: usize = 10_000;

/// The line before a message that has none.
const NOBODY: &[u8] = b"From MAILER-DAEMON Thu Jan  1 00:00:00 1970\n";

/// A message and the line before it, with its end; that is empty where there is none.
struct BoxedMessage<'f> {
    separator: &'f [u8],
    raw: &'f [u8],
}

/// Cleans a mailbox. A message that cannot be read is left out, but for the only one.
///
/// # Errors
/// [`Rejection::OverLimit`] for too many messages; what makes the whole mailbox unfit.
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let text = with_line_feeds(file);
    let messages = messages(behind_blanks(&text))?;
    let separators = written(&messages, work)?;
    let mut out = Vec::with_capacity(text.len());
    let mut left_out = None;
    for (at, (message, separator)) in messages.iter().zip(separators).enumerate() {
        match cleaned(message, work) {
            Ok(clean) => put(&mut out, &separator, &clean),
            Err(why) if why.leaves_out() => {
                let name = format!("message {}", at.saturating_add(1));
                work.leave_out(ChangedObject::left_out(ObjectKind::File).in_part(&name).because(why));
                left_out = Some(why);
            }
            Err(why) => return Err(why),
        }
    }
    match left_out {
        Some(why) if out.is_empty() => Err(why),
        _ => Ok(out),
    }
}

/// Those that are not empty.
fn messages(text: &[u8]) -> Result<Vec<BoxedMessage<'_>>, Rejection> {
    let lines: Vec<Range<usize>> = separators(text).take(MOST.saturating_add(1)).collect();
    if lines.len() > MOST {
        return Err(Rejection::OverLimit);
    }
    // What stands before the first of these lines is a message, too.
    let begins = std::iter::once(0..0).chain(lines.iter().cloned());
    let ends = lines.iter().map(|line| line.start).chain(std::iter::once(text.len()));
    let messages = begins.zip(ends).map(|(line, end)| BoxedMessage {
        raw: text.get(line.end..end).unwrap_or_default(),
        separator: text.get(line).unwrap_or_default(),
    });
    Ok(messages.filter(|message| !message.raw.trim_ascii().is_empty()).collect())
}

/// The lines before messages: they name who sent them.
fn written(messages: &[BoxedMessage<'_>], work: &mut Work<'_>) -> Result<Vec<Vec<u8>>, Rejection> {
    let said = messages.iter().map(|message| message.separator.strip_prefix(FROM).unwrap_or_default());
    let said: Vec<Cow<'_, str>> = said.map(|said| String::from_utf8_lossy(said.trim_ascii_end())).collect();
    let said: Vec<&str> = said.iter().map(|said| &**said).collect();
    let redacted = work.names(&said)?;
    let written = messages.iter().zip(redacted);
    Ok(written.map(|(message, redacted)| separator(message.separator, redacted)).collect())
}

fn separator(raw: &[u8], redacted: Option<String>) -> Vec<u8> {
    let eol: &[u8] = if raw.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
    match redacted {
        Some(said) => [FROM, said.replace(char::is_control, " ").as_bytes(), eol].concat(),
        None if raw.is_empty() => NOBODY.to_vec(),
        // The end of a line, for some.
        None if has_stray(raw) => {
            let said = raw.trim_ascii_end().iter();
            said.map(|b| if matches!(b, 0 | b'\r') { b' ' } else { *b }).chain(eol.iter().copied()).collect()
        }
        None => raw.to_vec(),
    }
}

fn cleaned(message: &BoxedMessage<'_>, work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    work.part("message.eml", message.raw)?;
    let clean = message::whole(message.raw, work)?;
    Ok(without_length(&clean))
}

/// A message without a field that some programs take for where the next one begins.
fn without_length(message: &[u8]) -> Vec<u8> {
    let entity = Entity::read(message);
    let fields = entity.fields.iter().filter(|field| !field.is("content-length")).map(|field| field.raw);
    fields.chain([entity.gap, entity.body]).collect::<Vec<_>>().concat()
}

/// Adds a message behind an empty line. Of its own lines none begins as if another one came.
fn put(out: &mut Vec<u8>, separator: &[u8], message: &[u8]) {
    let eol: &[u8] = if separator.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
    if !out.is_empty() && !out.ends_with(b"\n") {
        out.extend(eol);
    }
    if !out.is_empty() && !out.ends_with(b"\n\n") && !out.ends_with(b"\n\r\n") {
        out.extend(eol);
    }
    out.extend(separator);
    let mut from = 0;
    for at in memchr::memmem::find_iter(message, FROM) {
        let before = at.checked_sub(1).and_then(|before| message.get(before));
        if before.is_none_or(|before| matches!(before, b'\n' | b'\r')) {
            out.extend(message.get(from..at).unwrap_or_default());
            out.push(b'>');
            from = at;
        }
    }
    out.extend(message.get(from..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::bench::Bench;
    use crate::sanitize::{FileKind, Note, Options, Stats};

    const FROM_X: &str = "From x@y.example Mon Jan  1 00:00:00 2020\n";

    /// Cleaned, and what comes out once more: the same then.
    fn cleaned(bench: &mut Bench, mailbox: &str) -> (String, Stats) {
        let (clean, stats) = bench.clean(FileKind::Mailbox, mailbox.as_bytes()).expect("a clean mailbox");
        let (again, rest) = bench.clean(FileKind::Mailbox, &clean).expect("a clean mailbox");
        let (clean, again) = (String::from_utf8_lossy(&clean), String::from_utf8_lossy(&again));
        assert_eq!(clean, again, "a clean mailbox is a fixed point");
        assert!(rest.untouched(), "{rest:?}");
        (clean.into_owned(), stats)
    }

    #[test]
    fn a_mailbox_with_nothing_to_remove_keeps_its_bytes() {
        let one = format!("{FROM_X}Subject: a\n\nhello\n>From here\n");
        for mailbox in [one.clone(), format!("{one}\n{one}\n{FROM_X}To: b\n\nx"), one.replace('\n', "\r\n")] {
            let (clean, stats) = cleaned(&mut Bench::redacting("Mary"), &mailbox);
            assert_eq!(clean, mailbox);
            assert!(stats.untouched() && stats.notes.is_empty(), "{stats:?}");
        }
    }

    #[test]
    fn each_message_is_cleaned() {
        let page = "Subject: a\nContent-Type: text/html\n\n<p>Jane<script>x</script></p>\n";
        let file = "From: b\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nhi\n--b\n\
            Content-Type: application/octet-stream; name=a.exe\nContent-Transfer-Encoding: base64\n\nTVo=\n--b--\n";
        let mailbox = format!("\u{feff}\n{FROM_X}{page}{FROM_X}>From z\n{file}\n\nFrom Jane\n{page}\n");
        let mut bench = Bench::redacting("Jane");
        let (clean, stats) = cleaned(&mut bench, &mailbox);
        assert!(!clean.contains("script") && !clean.contains("a.exe") && !clean.contains("Jane"), "{clean}");
        assert_eq!(
            (clean.matches("\n\nFrom ").count(), clean.matches("\nFrom <N>\n").count()),
            (2, 1),
            "{clean}"
        );
        assert!(clean.starts_with(&format!("{FROM_X}Subject: a\n")), "{clean}");
        assert_eq!((stats.interactive, stats.attachments, stats.redacted.get("N")), (2, 1, Some(&3)));
        assert!(bench.parts.contains(&b"MZ".to_vec()));
    }

    #[test]
    fn what_programs_take_for_another_message_is_quoted() {
        let hidden = "From here\nContent-Type: text/html\n\n<script>x</script>\n";
        let mailbox = format!("{FROM_X}Subject: a\nContent-Length: 5\n\nhello\n{hidden}");
        let (clean, _) = cleaned(&mut Bench::disarming(), &mailbox);
        assert_eq!(clean, format!("{FROM_X}Subject: a\n\nhello\n>{hidden}"));
        let odd = format!("{FROM_X}Subject: a\n\nhello\rFrom here\n\nFrom there\n");
        let (clean, _) = cleaned(&mut Bench::disarming(), &odd);
        assert_eq!(clean, odd.replace("\rFrom", "\r>From").replace("\nFrom there", "\n>From there"));
        let (clean, _) =
            cleaned(&mut Bench::disarming(), &format!("To: a\n\nx\n\n{FROM_X}{FROM_X}To: b\n\ny\n"));
        let nobody = String::from_utf8_lossy(NOBODY);
        assert_eq!(clean, format!("{nobody}To: a\n\nx\n\n{FROM_X}To: b\n\ny\n"));
    }

    #[test]
    fn messages_that_cannot_be_read_are_left_out_and_there_are_not_too_many() {
        let torn = "Subject: a\njunk\nContent-Type: text/html\n\n<script>x</script>\n";
        let (clean, stats) =
            cleaned(&mut Bench::disarming(), &format!("{FROM_X}{torn}\n{FROM_X}Subject: b\n\nhi\n"));
        assert_eq!(clean, format!("{FROM_X}Subject: b\n\nhi\n"));
        assert_eq!(stats.notes.get(&Note::Dropped), Some(&1));
        let alone = format!("{FROM_X}{torn}");
        let refused = Bench::disarming().clean(FileKind::Mailbox, alone.as_bytes()).err();
        assert_eq!(refused, Some(Rejection::Malformed));
        let many = format!("{FROM_X}\n").repeat(MOST + 1);
        let refused = Bench::disarming().clean(FileKind::Mailbox, many.as_bytes()).err();
        assert_eq!(refused, Some(Rejection::OverLimit));
    }

    #[test]
    fn as_many_messages_as_there_may_be_are_redacted() {
        let message = format!("{FROM_X}Subject: a\nFrom: Jane\n\nhello Jane\n\n");
        let (clean, stats) = Bench::redacting("Jane")
            .clean(FileKind::Mailbox, message.repeat(MOST).as_bytes())
            .expect("a clean mailbox");
        let clean = String::from_utf8_lossy(&clean);
        assert_eq!(clean.matches("hello <N>").count(), MOST);
        assert_eq!(stats.redacted.get("N"), Some(&(2 * MOST as u64)));
    }

    #[test]
    fn a_patch_stays_one() {
        let patch = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
            From: Jane <jane@b.example>\nDate: Tue, 1 Jan 2020 10:00:00 +0000\nSubject: [PATCH] fix\n\n\
            --- a/x\n+++ b/x\n@@ -1 +1 @@\n-mail=old\n+mail=Jane =3D\n-- \n2.30\n";
        for text in [patch.to_owned(), format!("{patch}\n{patch}"), patch.replace("old", "für")] {
            let (clean, _) = cleaned(&mut Bench::redacting("Jane"), &text);
            let label =
                "Subject: [PATCH] fix\nMIME-Version: 1.0\nContent-Type: text/plain; charset=\"utf-8\"\n";
            let labelled = if text.is_ascii() { "Subject: [PATCH] fix\n" } else { label };
            let want = text.replace("Jane", "<N>").replace("Subject: [PATCH] fix\n", labelled);
            assert_eq!(clean, want);
        }
    }

    #[test]
    fn a_mailbox_within_a_message_is_cleaned() {
        let page = "Subject: q\nContent-Type: text/html\n\n<script>x</script>hi\n";
        let mail = format!(
            "From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/mbox; name=a.mbox\n\
             Content-Disposition: attachment; filename=a.mbox\n\nFrom x Mon\n{page}\n{FROM_X}{page}\n--b--\n"
        );
        let mut bench = Bench::disarming();
        bench.options = Options { attachments: false, ..bench.options };
        let (clean, stats) = bench.clean(FileKind::Mail, mail.as_bytes()).expect("a clean message");
        assert_eq!((stats.interactive, stats.notes.get(&Note::Dropped)), (2, None));
        let clean = String::from_utf8_lossy(&clean);
        let body = clean.split("\n\n").nth(2).map(|body| body.split("--b--").next().unwrap_or_default());
        let body = body.map(|body| body.replace('\n', "")).unwrap_or_default();
        let inner = data_encoding::BASE64.decode(body.as_bytes()).expect("base64");
        let inner = String::from_utf8_lossy(&inner).into_owned();
        assert_eq!((inner.matches("From ").count(), inner.contains("script")), (2, false), "{inner}");
    }
}
