//! [`UnprefixedLines`]: lines of a text without what stands before each of them: signs of quotations, comments and changes, numbers, places
//! in files, names of programs, times. Whoever shows a file or a log writes that there, and a table behind it is none any more.

use std::iter::once;
use std::ops::Range;

use crate::detect::{Finding, Span};
use crate::edit::SourceMap;

/// How far a line is indented before its sign or number, in bytes.
const INDENT: usize = 24;
/// The most digits of a line's number.
const DIGITS: usize = 7;
/// The fewest digits of a number that one calls.
const CALLED: usize = 7;
/// The longest name of a program or a file, in bytes.
const NAME: usize = 160;
/// The shortest time, in bytes: `2026-03-02T11:04:22Z`.
const TIME: usize = 20;
/// What follows the time in logs of containers.
const STREAMS: [&str; 4] = ["stdout F ", "stderr F ", "stdout P ", "stderr P "];

/// What stands before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix<'t> {
    /// `> `, also several.
    Quote,
    /// `# `, `// `, ` * `: by the first byte.
    Comment(u8),
    /// `+`, `-` or a blank of a diff.
    Change,
    /// `@@ -1,3 +1,4 @@`: all of the line, with which such lines begin.
    Hunk,
    Time,
    /// The name of a program before a bar, with it.
    Program(&'t str),
    /// A number of lines one after the other, and the sign behind it.
    Number(u32, char),
    /// A number of lines that were found, in this file or in one without a name.
    Match(u32, &'t str),
}

impl Prefix<'_> {
    /// Whether the next line belongs to the one that begins so.
    fn precedes(self, next: Self) -> bool {
        match (self, next) {
            (Self::Number(one, sign), Self::Number(other, next)) => sign == next && one + 1 == other,
            (Self::Match(one, file), Self::Match(other, next)) => file == next && one < other,
            _ => self == next,
        }
    }
}

/// What stands before a line, and how long it is.
#[derive(Clone, Copy)]
struct LinePrefix<'t> {
    prefix: Prefix<'t>,
    length: usize,
}

impl<'t> LinePrefix<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let bytes = line.as_bytes();
        let indent = bytes.iter().take(INDENT).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let rest = bytes.get(indent..)?;
        let found = |prefix, length| Some(Self { prefix, length: indent + length });
        match rest.first()? {
            b'>' => found(Prefix::Quote, quotes(rest)),
            b'#' => found(Prefix::Comment(b'#'), sign(rest, 1)?),
            b'/' if rest.get(1) == Some(&b'/') => {
                let signs = if matches!(rest.get(2), Some(b'/' | b'!')) { 3 } else { 2 };
                found(Prefix::Comment(b'/'), sign(rest, signs)?)
            }
            b'*' if indent > 0 => found(Prefix::Comment(b'*'), sign(rest, 1)?),
            b'+' if indent == 0 && !is_number(rest) => found(Prefix::Change, 1),
            b'@' if rest.starts_with(b"@@ -") => found(Prefix::Hunk, rest.len()),
            b'0'..=b'9' => {
                let (prefix, length) =
                    line.get(indent..).and_then(|line| time(line).or_else(|| number(line)))?;
                found(prefix, length)
            }
            _ if indent == 0 => named(line),
            _ => None,
        }
    }
}

/// Whether a line begins with a number that one calls.
fn is_number(line: &[u8]) -> bool {
    let digit = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'(' | b')');
    line.iter().skip(1).take_while(digit).filter(|byte| byte.is_ascii_digit()).count() >= CALLED
}

/// The length of the signs of quotations with which a line begins, each perhaps with a blank behind it.
fn quotes(line: &[u8]) -> usize {
    let mut at = 0;
    while line.get(at) == Some(&b'>') {
        at += 1 + usize::from(line.get(at + 1) == Some(&b' '));
    }
    at
}

/// The length of a sign with the blank that must follow it, unless it is all of the line.
fn sign(line: &[u8], length: usize) -> Option<usize> {
    match line.get(length) {
        None => Some(length),
        Some(b' ' | b'\t') => Some(length + 1),
        Some(_) => None,
    }
}

/// A time as logs have it (RFC 3339), with the blank behind it.
fn time(line: &str) -> Option<(Prefix<'static>, usize)> {
    let bytes = line.as_bytes();
    let is = |at: usize, sign: u8| bytes.get(at) == Some(&sign);
    if bytes.len() < TIME || !(is(4, b'-') && is(7, b'-') && is(10, b'T') && is(13, b':') && is(16, b':')) {
        return None;
    }
    let zone = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b':' | b'+' | b'-' | b'Z');
    let end = bytes.iter().take(NAME).position(|byte| !zone(byte) && *byte != b'T')?;
    let rest = line.get(end..)?.strip_prefix(' ')?;
    let stream = STREAMS.iter().find(|stream| rest.starts_with(**stream)).map_or(0, |stream| stream.len());
    Some((Prefix::Time, end + 1 + stream))
}

/// A line's number, and the sign that parts it from the line.
fn number(line: &str) -> Option<(Prefix<'static>, usize)> {
    let count = line.bytes().take(DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let (digits, rest) = line.split_at_checked(count)?;
    let number: u32 = if count <= DIGITS { digits.parse().ok()? } else { return None };
    let mut signs = rest.chars();
    let (sign, length) = match signs.next()? {
        sign @ ('\t' | '|' | '\u{2192}') => (sign, sign.len_utf8()),
        ' ' if rest.starts_with(" |") => ('|', 2),
        ':' | '-' => {
            // A time of the day, a day, a range.
            let digits = rest.bytes().skip(1).take_while(u8::is_ascii_digit).count();
            let behind = rest.as_bytes().get(1 + digits);
            let ends = matches!(behind, None | Some(b' ' | b':' | b'-' | b'/' | b'.'));
            return (digits == 0 || !ends).then_some((Prefix::Match(number, ""), count + 1));
        }
        _ => return None,
    };
    let blank = sign == '|' && rest.get(length..).is_some_and(|line| line.starts_with(' '));
    Some((Prefix::Number(number, sign), count + length + usize::from(blank)))
}

/// The name of a program before a bar, or of a file before a number.
fn named(line: &str) -> Option<LinePrefix<'_>> {
    let bytes = line.as_bytes();
    let end =
        bytes.iter().take(NAME).position(|byte| byte.is_ascii_whitespace() || matches!(byte, b':' | b'|'))?;
    let name = line.get(..end).filter(|name| name.contains(|c: char| c.is_ascii_alphabetic()))?;
    if bytes.get(end) == Some(&b':') {
        let count = bytes.iter().skip(end + 1).take(DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
        let number = line.get(end + 1..end + 1 + count)?.parse().ok()?;
        let behind = end + 1 + count;
        return (bytes.get(behind) == Some(&b':'))
            .then_some(LinePrefix { prefix: Prefix::Match(number, name), length: behind + 1 });
    }
    let blanks = bytes.iter().skip(end).take(NAME).take_while(|byte| **byte == b' ').count();
    let bar = end + blanks;
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if bytes.get(bar) != Some(&b'|') || !name.bytes().all(word) {
        return None;
    }
    let length = bar + 1 + usize::from(bytes.get(bar + 1) == Some(&b' '));
    Some(LinePrefix { prefix: Prefix::Program(line.get(..bar + 1)?), length })
}

/// Lines that begin alike.
struct LineBlock<'t> {
    last: Prefix<'t>,
    /// Where its first line stands, until there is another.
    first: Option<Range<usize>>,
    /// Whether none of it has been written yet.
    fresh: bool,
}

impl<'t> LineBlock<'t> {
    /// What stands before the next line, if it belongs here.
    fn next(&self, line: &str, prefix: Option<LinePrefix<'t>>) -> Option<LinePrefix<'t>> {
        match self.last {
            Prefix::Change | Prefix::Hunk => matches!(line.as_bytes().first(), Some(b'+' | b'-' | b' '))
                .then_some(LinePrefix { prefix: Prefix::Change, length: 1 }),
            last => prefix.filter(|next| last.precedes(next.prefix)),
        }
    }
}

/// The lines of a text that begin alike, two and more one after the other, without what they begin with.
pub(super) struct UnprefixedLines {
    /// The lines, with an empty one between those that do not belong together.
    pub(super) text: String,
    map: SourceMap,
    /// Where in the text comments of programs stand, in order.
    comments: Vec<Range<usize>>,
}

impl UnprefixedLines {
    /// `None` if no lines of the text begin so.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut bare = Self { text: String::new(), map: SourceMap::at(0), comments: Vec::new() };
        let (mut block, mut end): (Option<LineBlock<'_>>, _) = (None, 0);
        for whole in text.split_inclusive('\n') {
            let start = end;
            end += whole.len();
            let line = whole.trim_end_matches(['\n', '\r']);
            let prefix = LinePrefix::of(line);
            let next = block.as_ref().and_then(|block| block.next(line, prefix));
            if let (Some(block), Some(next)) = (block.as_mut(), next) {
                block.last = next.prefix;
                for line in block.first.take().into_iter().chain(once(start + next.length..end)) {
                    bare.push(text, line, block);
                }
            } else {
                block = prefix.map(|LinePrefix { prefix, length }| LineBlock {
                    last: prefix,
                    first: (prefix != Prefix::Hunk).then_some(start + length..end),
                    fresh: true,
                });
            }
        }
        (!bare.text.is_empty()).then_some(bare)
    }

    /// Writes the line of the block that stands there in the source.
    fn push(&mut self, source: &str, line: Range<usize>, block: &mut LineBlock<'_>) {
        let skipped = line.start.saturating_sub(self.map.source_end());
        if std::mem::take(&mut block.fresh) && !self.text.is_empty() {
            self.text.push('\n');
            self.map.spelled(1, skipped);
        } else {
            self.map.spelled(0, skipped);
        }
        let start = self.text.len();
        self.map.plain(line.len());
        self.text.push_str(source.get(line).unwrap_or_default());
        if matches!(block.last, Prefix::Comment(_)) {
            match self.comments.last_mut() {
                Some(last) if last.end == start => last.end = self.text.len(),
                _ => self.comments.push(start..self.text.len()),
            }
        }
    }

    /// Whether a comment of a program stands there in the text.
    pub(super) fn is_comment(&self, at: usize) -> bool {
        let next = self.comments.partition_point(|comment| comment.end <= at);
        self.comments.get(next).is_some_and(|comment| comment.start <= at)
    }

    /// The findings as places of the source, each line of one for itself.
    pub(super) fn in_source(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let mut all = Vec::with_capacity(findings.len());
        for finding in findings {
            let Span { start, end } = finding.span;
            let mut at = start;
            for piece in self.text.get(start..end).unwrap_or_default().split_inclusive('\n') {
                let from = at + (piece.len() - piece.trim_start().len());
                at += piece.len();
                if !piece.contains(char::is_alphanumeric) {
                    continue;
                }
                let range = self.map.range(from..from + piece.trim().len());
                all.push(Finding { span: Span::new(range.start, range.end), near: None, ..finding });
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lines_begin_with_is_taken_off() {
        for (text, bare) in [
            ("> a\n> b\n", "a\nb\n"),
            ("See:\n> > a\n>>\n> > b", "a\n\nb"),
            ("  # a\n  #\n  # b\nx\n// c\r\n// d\r\n", "a\n\nb\n\nc\r\nd\r\n"),
            ("/**\n * a\n * b\n */\n", "a\nb\n"),
            ("+a\n-b\n c\nd\n", "a\nb\nc\n"),
            ("@@ -1,2 +1,2 @@\n a\n-b\n", "a\nb\n"),
            ("     9\u{2192}a\n    10\u{2192}\n    11\u{2192}b", "a\n\nb"),
            ("     1\ta\n     2\tb\n", "a\nb\n"),
            ("1 | a\n2 | b\n", "a\nb\n"),
            ("12:a\n15:b\n", "a\nb\n"),
            ("src/a.env:1:a\nsrc/a.env:7:b\nc.env:9:c\n", "a\nb\n"),
            ("web-1  | a\nweb-1  |\nweb-1  | b\n", "a\n\nb\n"),
            ("2026-03-02T11:04:22.123Z stdout F a\n2026-03-02T11:04:23+01:00 b\n", "a\nb\n"),
        ] {
            let found = UnprefixedLines::of(text).map(|lines| lines.text);
            assert_eq!(found.as_deref(), Some(bare), "{text}");
        }
    }

    #[test]
    fn lines_that_begin_otherwise_stay() {
        for text in [
            "",
            "a\nb\n",
            "> a\n",
            "# Title\n\n# Other\n",
            "#include <a>\n#include <b>\n",
            "- a\n- b\n",
            "+41 79 123 45 67\n+41 79 123 45 68\n",
            "* a\n* b\n",
            "1\u{2192}a\n3\u{2192}b\n",
            "1. a\n2. b\n",
            "10:30 a\n11:30 b\n",
            "555-1234 a\n556-1234 b\n",
            "https://a\nhttps://b\n",
            "a | b\nc | d\n",
            " a | b\n---+---\n 1 | 2\n",
            "name: a\nname: b\n",
        ] {
            assert!(UnprefixedLines::of(text).is_none(), "{text}");
        }
    }

    #[test]
    fn findings_lead_to_the_source() {
        let text = "See:\n> ab\n> cd\n\n# ef\n# gh\n";
        let lines = UnprefixedLines::of(text).unwrap();
        assert_eq!(lines.text, "ab\ncd\n\nef\ngh\n");
        let finding = crate::redact::fixture::detector().find("ssn 536-22-8471")[0];
        let places = |start, end| {
            let found = lines.in_source(vec![Finding { span: Span::new(start, end), ..finding }]);
            found.iter().map(|one| text.get(one.span.start..one.span.end).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(places(0, 2), ["ab"]);
        assert_eq!(places(1, 5), ["b", "cd"]);
        assert_eq!(places(4, 9), ["d", "ef"]);
        assert_eq!(places(7, 9), ["ef"]);
        assert_eq!([0, 4, 5, 7, 12].map(|at| lines.is_comment(at)), [false, false, false, true, true]);
    }
}
