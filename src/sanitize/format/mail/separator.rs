//! [`separators`]: the lines of a mailbox that begin its messages (RFC 4155). No two programs agree on them: some go by the
//! line before, some by the date, some take every line that begins with `From `. So all others are quoted in what is
//! written.

use std::ops::Range;

use crate::sanitize::format::mail::date::{is_month, is_time};
use crate::sanitize::format::mail::entity::{field, line};
use crate::sanitize::format::mail::form::{FROM, HeadForm, behind_quoted, is_envelope};

/// Where the lines are that begin messages, each with its end.
pub(super) fn separators(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    candidates(text).filter_map(|at| {
        let (before, rest) = text.split_at_checked(at)?;
        let (here, behind) = line(rest);
        let begins = is_envelope(here) && (is_dated(here) || (ends_blank(before) && is_message(behind)));
        begins.then(|| at..at.saturating_add(here.len()))
    })
}

/// Whether messages stand one behind the other in a text that begins like one message: there are lines between them that
/// nothing else looks like. What stands in the parts of that message is its own.
pub(super) fn has_separators(text: &[u8], parts: &Range<usize>) -> bool {
    separators(text).filter(|at| !parts.contains(&at.start)).any(|at| {
        let known = text.get(at.end..).is_some_and(|behind| HeadForm::of(behind_quoted(behind)).is_known());
        known && text.get(at).is_some_and(is_dated)
    })
}

/// Where lines begin with `From `.
fn candidates(text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let first = text.starts_with(FROM).then_some(0_usize);
    first.into_iter().chain(memchr::memmem::find_iter(text, b"\nFrom ").map(|at| at.saturating_add(1)))
}

/// Whether a line is empty that ends a text, or there is none.
fn ends_blank(text: &[u8]) -> bool {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    let begin = memchr::memrchr(b'\n', line).map_or(0, |at| at.saturating_add(1));
    line.get(begin..).is_none_or(|line| line.trim_ascii().is_empty())
}

/// Whether a message may begin so: with any field, or with one of messages behind what readers skip.
fn is_message(text: &[u8]) -> bool {
    field(line(text).0).is_some() || HeadForm::of(behind_quoted(text)).is_known()
}

/// Whether a line says when a message came: `From jane@example.com Mon Jan  1 00:00:00 2020`.
fn is_dated(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace);
    words.clone().any(is_month) && words.any(is_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATED: &str = "From x@y.example Mon Jan  1 00:00:00 2020\n";

    fn found(text: &str) -> Vec<usize> {
        separators(text.as_bytes()).map(|range| range.start).collect()
    }

    #[test]
    fn messages_begin_at_some_lines() {
        let hello = "Subject: a\n\nhello\n";
        for (text, want) in [
            (format!("{DATED}{hello}"), vec![0]),
            (format!("{DATED}{hello}\n{DATED}{hello}{DATED}x"), vec![0, 61, 121]),
            (format!("From x\n{hello}\nFrom y\r\n>From z\n{hello}"), vec![0, 26]),
            (format!("From x\n{hello}\nFrom y\n\n{hello}"), vec![0, 26]),
            (format!("From x\n{hello}From y\n{hello}"), vec![0]),
            (format!("From x\n{hello}\nFrom here to there\nwe went\n"), vec![0]),
            (format!("From x\n{hello}\nFrom : a@b.example\nTo: c\n"), vec![0]),
            (hello.to_owned(), Vec::new()),
        ] {
            assert_eq!(found(&text), want, "{text}");
        }
        for (text, want) in [
            (format!("{hello}\n{DATED}{hello}"), [true, false]),
            (format!("{hello}\n{DATED}hello"), [false, false]),
            (format!("{hello}\nFrom x\n{hello}"), [false, false]),
        ] {
            let found = [0..0, 10..30].map(|parts| has_separators(text.as_bytes(), &parts));
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn many_lines_are_read_once() {
        let lines = "\nFrom x\n>From y\n\n".repeat(200_000);
        assert_eq!(separators(lines.as_bytes()).count(), 0);
    }
}
