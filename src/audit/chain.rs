//! The form of a line, and the chain. A line is one JSON object without spaces between its members: `seq`,
//! `node`, the event's members, `prev` (the hash of the line before it), `hash` (SHA-256 of all bytes of the
//! line before `,"hash":`).

use std::fmt;
use std::io::{self, BufRead, Read};

use data_encoding::HEXLOWER;

#[cfg(test)]
use crate::audit::event::AuditEvent;
use crate::audit::event::{EventMembers, quoted};
use crate::crypto::hash::sha256;

/// The longest line, in bytes, without its line break.
pub(super) const MAX_LINE: usize = 64 << 10;

/// How much is read to tell a line of that length from a longer one: a line break, or one byte too many.
pub(super) const READ: u64 = (64 << 10) + 1;

const SEQ: &str = r#"{"seq":"#;
const NODE: &str = r#","node":"#;
const PREV: &str = r#","prev":""#;
const HASH: &str = r#","hash":""#;
const END: &str = r#""}"#;

/// Hexadecimal digits of a hash.
const DIGITS: usize = 64;

/// How many of them tell a log from others.
const SHORT: usize = 16;

type Hash = [u8; 32];

/// Where a chain stands: the number and the hash of a line. Written as `12:` and the 64 hexadecimal digits of
/// the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainLink {
    /// The line's number, from 1; 0 before the first line.
    pub seq: u64,
    /// The line's hash, SHA-256; zeros before the first line.
    pub hash: [u8; 32],
}

impl ChainLink {
    /// Before the first line of a chain.
    pub const START: Self = Self { seq: 0, hash: [0; 32] };

    /// Reads the written form; `None` if it is not exactly that.
    pub fn parse(text: &str) -> Option<Self> {
        let (seq, digits) = text.split_once(':')?;
        Some(Self { seq: number(seq.as_bytes())?, hash: hash(digits.as_bytes())? })
    }

    /// Where a chain stands behind this line, which has no line break; `None` if it is none.
    pub fn of_line(line: &str) -> Option<Self> {
        ParsedLine::parse(line.as_bytes()).map(|sealed| Self { seq: sealed.seq, hash: sealed.hash })
    }

    /// The beginning of the hash, as hexadecimal digits: enough to tell a log from others.
    pub fn short_hash(&self) -> String {
        HEXLOWER.encode(&self.hash).chars().take(SHORT).collect()
    }
}

impl fmt::Display for ChainLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, HEXLOWER.encode(&self.hash))
    }
}

/// Makes lines out of events, each linked to the one before it.
pub(super) struct Chain {
    seq: u64,
    head: Hash,
}

impl Chain {
    /// A chain that goes on after this line.
    pub(super) const fn after(last: ChainLink) -> Self {
        Self { seq: last.seq, head: last.hash }
    }

    /// The last line that was made.
    pub(super) const fn last(&self) -> ChainLink {
        ChainLink { seq: self.seq, hash: self.head }
    }

    /// The next line, with its line break. It is never longer than what is read back.
    pub(super) fn seal(&mut self, node: &str, members: &EventMembers) -> String {
        self.seq = self.seq.saturating_add(1);
        let (node, members, prev) = (quoted(node), members.as_str(), HEXLOWER.encode(&self.head));
        let mut line = format!("{SEQ}{}{NODE}{node}{members}{PREV}{prev}\"", self.seq);
        self.head = sha256(line.as_bytes());
        for piece in [HASH, &HEXLOWER.encode(&self.head), END, "\n"] {
            line.push_str(piece);
        }
        line
    }
}

/// A line taken apart. Only its form has been checked.
pub(super) struct ParsedLine<'l> {
    /// At least 1.
    pub(super) seq: u64,
    pub(super) prev: Hash,
    pub(super) hash: Hash,
    /// What the hash is of.
    pub(super) covered: &'l [u8],
}

impl<'l> ParsedLine<'l> {
    /// Takes a line, without its line break, apart; `None` if it does not begin and end as lines do.
    pub(super) fn parse(line: &'l [u8]) -> Option<Self> {
        let (rest, digits) = split_digits(line.strip_suffix(END.as_bytes())?)?;
        let covered = rest.strip_suffix(HASH.as_bytes())?;
        let after = line.strip_prefix(SEQ.as_bytes())?;
        let (seq, rest) = after.split_at_checked(after.iter().take_while(|b| b.is_ascii_digit()).count())?;
        rest.strip_prefix(NODE.as_bytes())?;
        let seq = number(seq).filter(|seq| *seq > 0)?;
        Some(Self { seq, prev: previous(covered)?, hash: hash(digits)?, covered })
    }

    /// Whether the line's hash is that of its bytes.
    pub(super) fn is_genuine(&self) -> bool {
        sha256(self.covered) == self.hash
    }
}

/// The hash of the line before, where `covered` ends with it.
fn previous(covered: &[u8]) -> Option<Hash> {
    let (rest, digits) = split_digits(covered.strip_suffix(b"\"")?)?;
    rest.strip_suffix(PREV.as_bytes())?;
    hash(digits)
}

fn split_digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    text.split_at_checked(text.len().checked_sub(DIGITS)?)
}

/// A number in the one way in which it is written: without a sign, without zeros before it.
fn number(digits: &[u8]) -> Option<u64> {
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (number.to_string().as_bytes() == digits).then_some(number)
}

fn hash(digits: &[u8]) -> Option<Hash> {
    HEXLOWER.decode(digits).ok()?.try_into().ok()
}

/// Whether this may be a line that was being written when the process or the machine stopped: the beginning
/// of the line after `after` (of any line, where that is not known), but not the whole of one. A whole line
/// that was changed afterwards is not.
pub(super) fn is_torn(line: &[u8], after: Option<ChainLink>) -> bool {
    let start = match after {
        Some(link) => format!("{SEQ}{}{NODE}\"", link.seq.saturating_add(1)),
        None => SEQ.to_owned(),
    };
    let start = start.as_bytes();
    let begins = line.starts_with(start) || (!line.is_empty() && start.starts_with(line));
    begins && is_json_beginning(line) && is_hash_beginning(line)
}

/// Whether this is JSON as far as it goes, and ends too early.
fn is_json_beginning(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(line).is_err_and(|error| error.is_eof())
}

/// Whether, if a line comes as far as its own hash, what there is of the hash is right, and the line's end is
/// missing.
fn is_hash_beginning(line: &[u8]) -> bool {
    let Some(at) = line.windows(HASH.len()).rposition(|bytes| bytes == HASH.as_bytes()) else { return true };
    let Some((covered, rest)) = line.split_at_checked(at) else { return false };
    if previous(covered).is_none() {
        // A label may have this name too; only the line's own hash stands behind `prev`.
        return true;
    }
    let whole = format!("{HASH}{}{END}", HEXLOWER.encode(&sha256(covered)));
    rest.len() < whole.len() && whole.as_bytes().starts_with(rest)
}

/// What a reader had next.
pub(super) enum NextLine {
    /// A line; the last one may be without a line break.
    Line,
    /// A line that is longer than any that is written.
    TooLong,
    /// Nothing more.
    End,
}

/// Reads the next line into `line`, without its line break.
pub(super) fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<NextLine> {
    line.clear();
    let read = Read::take(reader, READ).read_until(b'\n', line)?;
    let _line_break = line.pop_if(|byte| *byte == b'\n');
    Ok(match read {
        0 => NextLine::End,
        _ if line.len() > MAX_LINE => NextLine::TooLong,
        _ => NextLine::Line,
    })
}

/// So many lines of a chain from its start.
#[cfg(test)]
pub(super) fn samples(count: u64) -> Vec<String> {
    let mut chain = Chain::after(ChainLink::START);
    (1..=count).map(|n| chain.seal("node-1", &sample(n).members())).collect()
}

/// An event that can be told from others by its duration.
#[cfg(test)]
pub(super) fn sample(n: u64) -> AuditEvent<'static> {
    use crate::audit::event::AuditKind;
    use crate::base::clock::Timestamp;

    let event = AuditEvent::of(AuditKind::Request, Timestamp::from_millis(1000 * n));
    AuditEvent { route: "chat", took: std::time::Duration::from_micros(n), ..event }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_line_has_its_form() {
        let line = samples(1).concat();
        let members = concat!(
            r#"{"seq":1,"node":"node-1","time":"1970-01-01T00:00:01.000Z","kind":"request","route":"chat","#,
            r#""status":0,"decision":"passed","redacted":0,"restored":0,"took_us":1,"prev":""#
        );
        let expected = format!("{members}{}\"", "0".repeat(64));
        let hash = HEXLOWER.encode(&sha256(expected.as_bytes()));
        assert_eq!(line, format!("{expected},\"hash\":\"{hash}\"}}\n"));
        assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok());
    }

    #[test]
    fn a_line_is_taken_apart() {
        let lines = samples(2);
        let first = ParsedLine::parse(lines[0].trim_end().as_bytes()).unwrap();
        let second = ParsedLine::parse(lines[1].trim_end().as_bytes()).unwrap();
        assert_eq!((first.seq, first.prev, second.seq), (1, [0; 32], 2));
        assert_eq!(second.prev, first.hash);
        assert!(first.is_genuine() && second.is_genuine());
        for wrong in ["", "{}", "\"}", lines[0].as_str()] {
            assert!(ParsedLine::parse(wrong.as_bytes()).is_none());
        }
        let padded = lines[0].trim_end().replace(r#""seq":1"#, r#""seq":01"#);
        assert!(ParsedLine::parse(padded.as_bytes()).is_none());
    }

    #[test]
    fn the_longest_event_fits_into_a_line() {
        // Of one byte each, six are written.
        let long = "\u{1}".repeat(300);
        let labels: BTreeMap<String, String> =
            (0..99).map(|n| (format!("{n}{long}"), long.clone())).collect();
        let findings: BTreeMap<String, u64> = (0..99).map(|n| (format!("{n}{long}"), u64::MAX)).collect();
        let text = Some(long.as_str());
        let event = AuditEvent {
            token_name: text,
            subject: text,
            certificate: text,
            client: text,
            labels: &labels,
            method: &long,
            route: &long,
            path_protocol: text,
            model: text,
            upstream: text,
            reason: text,
            findings: &findings,
            cost_nanodollars: Some(u64::MAX),
            act: text,
            target: text,
            ..sample(u64::MAX / 1000)
        };
        let line =
            Chain::after(ChainLink { seq: u64::MAX - 1, hash: [255; 32] }).seal(&long, &event.members());
        assert!(line.len() <= MAX_LINE, "{}", line.len());
        assert_eq!(ParsedLine::parse(line.trim_end().as_bytes()).unwrap().seq, u64::MAX);
    }

    #[test]
    fn every_beginning_of_a_line_is_torn_and_nothing_else() {
        // As the line's own members are called, and a character of more than one byte.
        let labels =
            ["a", "hash", "prev"].map(|name| (name.to_owned(), "ä".to_owned() + &"0".repeat(64))).into();
        let event = AuditEvent { labels: &labels, ..sample(1) };
        let line = Chain::after(ChainLink::START).seal("node-1", &event.members());
        let line = line.trim_end().as_bytes();
        for end in 1..line.len() {
            assert!(is_torn(&line[..end], Some(ChainLink::START)), "{end}");
            assert!(is_torn(&line[..end], None), "{end}");
        }
        assert!(!is_torn(line, Some(ChainLink::START)) && !is_torn(b"", None));
        assert!(!is_torn(&line[..40], Some(ChainLink { seq: 1, hash: [0; 32] })));
        assert!(!is_torn(b"GET / HTTP/1.1", None));
    }

    #[test]
    fn links_are_read_back() {
        let link = ChainLink { seq: 12, hash: [0xab; 32] };
        assert_eq!(ChainLink::parse(&link.to_string()), Some(link));
        let upper = link.to_string().to_uppercase();
        for wrong in ["", "12", "12:ab", upper.as_str()] {
            assert_eq!(ChainLink::parse(wrong), None);
        }
    }

    #[test]
    fn lines_are_read_up_to_their_limit() {
        let (fits, long) = ("x".repeat(MAX_LINE), "x".repeat(MAX_LINE + 1));
        let text = format!("a\n\n{fits}\n{long}\n");
        let (mut reader, mut line) = (text.as_bytes(), Vec::new());
        for expected in [1, 0, MAX_LINE] {
            assert!(matches!(next_line(&mut reader, &mut line), Ok(NextLine::Line)));
            assert_eq!(line.len(), expected);
        }
        assert!(matches!(next_line(&mut reader, &mut line), Ok(NextLine::TooLong)));
        assert!(matches!(next_line(&mut "".as_bytes(), &mut line), Ok(NextLine::End)));
    }
}
