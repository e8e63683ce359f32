//! [`verify`]: whether lines are what was written, all of them, in order.

use std::io::{self, BufRead};

use serde_json::Value;

use crate::audit::chain::{ChainLink, NextLine, ParsedLine, is_torn, next_line};

/// What was found of lines that are in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Whole lines.
    pub lines: u64,
    /// Lines that were being written when the process or the machine stopped. They count for nothing, and the
    /// line after one has its number.
    pub torn: u64,
    /// What the first whole line follows: [`ChainLink::START`] where a chain begins, else the last line of the
    /// file before. Files belong together, in this order, where the one's `last` is the next one's `first`.
    /// `None` without lines.
    pub first: Option<ChainLink>,
    /// The last whole line. `None` without lines.
    pub last: Option<ChainLink>,
}

/// A line that is not what was written there.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BrokenLine {
    /// Which line of what was read, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: LineFault,
}

/// What is wrong with a line. Says nothing of what stands in it.
#[derive(Debug, thiserror::Error)]
pub enum LineFault {
    /// It does not have the form of a line.
    #[error(
        "this is no line of an audit log; something else wrote into the file, or the line was changed: \
         compare it with a copy"
    )]
    Form,
    /// Its hash is not that of its bytes.
    #[error("the line was changed after it was written, since its hash does not fit: compare it with a copy")]
    Hash,
    /// It was linked to another line than the one that stands before it.
    #[error(
        "the line before this one is not the one that was there when this was written: compare both \
         with a copy"
    )]
    Previous,
    /// Its number is not the one that comes next.
    #[error(
        "number {expected} is due here, and this line has number {found}: lines before it were removed, \
         repeated or moved, or a file before this one is missing"
    )]
    Sequence {
        /// The number after that of the line before.
        expected: u64,
        /// The line's own number.
        found: u64,
    },
    /// It is longer than any line that is written.
    #[error(
        "the line is longer than 64 KiB, and no line of an audit log is: look at what else wrote into \
         the file"
    )]
    TooLong,
    /// It could not be read.
    #[error("it cannot be read: {0}")]
    Io(io::Error),
}

/// Reads lines to their end and checks each. Where `after` is given, the first line must follow it; else it
/// may follow anything, and [`Verified::first`] says what. Holds one line at a time.
///
/// # Errors
/// The first line that is not what was written, or that cannot be read.
pub fn verify(mut reader: impl BufRead, after: Option<ChainLink>) -> Result<Verified, BrokenLine> {
    let mut found = Verified::default();
    let mut head = after;
    let mut text = Vec::new();
    for line in 1.. {
        let checked = match next_line(&mut reader, &mut text) {
            Ok(NextLine::End) => break,
            Ok(NextLine::Line) => check(&text, head),
            Ok(NextLine::TooLong) => Err(LineFault::TooLong),
            Err(cause) => Err(LineFault::Io(cause)),
        };
        match checked.map_err(|why| BrokenLine { line, why })? {
            LineCheck::Torn => found.torn += 1,
            LineCheck::Whole { before, this } => {
                found.lines += 1;
                found.first = found.first.or(Some(before));
                found.last = Some(this);
                head = Some(this);
            }
        }
    }
    Ok(found)
}

enum LineCheck {
    Torn,
    Whole { before: ChainLink, this: ChainLink },
}

fn check(text: &[u8], head: Option<ChainLink>) -> Result<LineCheck, LineFault> {
    let Some(line) = ParsedLine::parse(text) else {
        return if is_torn(text, head) { Ok(LineCheck::Torn) } else { Err(LineFault::Form) };
    };
    if !line.is_genuine() {
        return Err(LineFault::Hash);
    }
    if serde_json::from_slice::<Value>(text).is_err() {
        return Err(LineFault::Form);
    }
    let before = ChainLink { seq: line.seq - 1, hash: line.prev };
    // Nothing comes before the first line of all.
    let expected = head.unwrap_or(if line.seq == 1 { ChainLink::START } else { before });
    if before.seq != expected.seq {
        return Err(LineFault::Sequence { expected: expected.seq.saturating_add(1), found: line.seq });
    }
    if before.hash != expected.hash {
        return Err(LineFault::Previous);
    }
    Ok(LineCheck::Whole { before, this: ChainLink { seq: line.seq, hash: line.hash } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::chain::{Chain, sample, samples};

    fn of(lines: &[&str], after: Option<ChainLink>) -> Result<Verified, (u64, LineFault)> {
        verify(lines.concat().as_bytes(), after).map_err(|broken| (broken.line, broken.why))
    }

    #[test]
    fn what_was_written_is_in_order() {
        let lines = samples(3);
        let found = verify(lines.concat().as_bytes(), None).unwrap();
        assert_eq!((found.lines, found.torn, found.first), (3, 0, Some(ChainLink::START)));
        assert_eq!(verify(&b""[..], None).unwrap(), Verified::default());
        // Killed between the line and its line break.
        assert_eq!(verify(lines.concat().trim_end().as_bytes(), None).unwrap(), found);
    }

    #[test]
    fn every_change_of_one_byte_is_found() {
        let log = samples(3).concat().into_bytes();
        for (at, was) in log.iter().enumerate() {
            for byte in [was ^ 1, was ^ 0x80, b'\n', b'"', b'\\', b'}', b',', b' ', b'0', 0] {
                if byte != *was {
                    let mut changed = log.clone();
                    changed[at] = byte;
                    assert!(verify(changed.as_slice(), None).is_err(), "byte {at} as {byte}");
                }
            }
        }
    }

    #[test]
    fn every_byte_that_is_missing_or_too_many_is_found() {
        let log = samples(3).concat().into_bytes();
        let whole = verify(log.as_slice(), None).unwrap();
        // Without its last line break the log is still whole.
        for at in 0..log.len() - 1 {
            let mut changed = log.clone();
            changed.remove(at);
            // A line without its last byte may be a torn one, which is no error, but is counted.
            assert_ne!(verify(changed.as_slice(), None).ok(), Some(whole), "without byte {at}");
            let mut changed = log.clone();
            changed.insert(at, b'0');
            assert!(verify(changed.as_slice(), None).is_err(), "one more at {at}");
        }
    }

    #[test]
    fn lines_that_are_missing_repeated_or_moved_are_found() {
        let lines = samples(4);
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| lines[n].as_str());
        let rows: [(&[&str], u64); 5] =
            [(&[a, c, d], 2), (&[a, b, b, c], 3), (&[a, c, b, d], 2), (&[a, b, c, b], 4), (&[b, a, c, d], 2)];
        for (lines, at) in rows {
            let broken = of(lines, None).unwrap_err();
            assert!(matches!(broken, (line, LineFault::Sequence { .. }) if line == at), "{broken:?}");
        }
        // The first lines are missing: nothing says so but the link to them, and what was known of the chain.
        let found = of(&[b, c, d], None).unwrap();
        assert_eq!(found.first.map(|link| link.seq), Some(1));
        let broken = of(&[b, c, d], Some(ChainLink::START)).unwrap_err();
        assert!(matches!(broken, (1, LineFault::Sequence { expected: 1, found: 2 })), "{broken:?}");
    }

    #[test]
    fn a_line_that_was_written_anew_with_its_hash_is_found_at_the_next() {
        let lines = samples(3);
        let first = of(&[lines[0].as_str()], None).unwrap().last.unwrap();
        let forged = Chain::after(first).seal("node-1", &sample(9).members());
        let broken = of(&[lines[0].as_str(), forged.as_str(), lines[2].as_str()], None).unwrap_err();
        assert!(matches!(broken, (3, LineFault::Previous)), "{broken:?}");
        let unlinked = Chain::after(ChainLink { seq: 0, hash: [1; 32] }).seal("node-1", &sample(1).members());
        assert!(matches!(of(&[unlinked.as_str()], None), Err((1, LineFault::Previous))));
    }

    #[test]
    fn torn_lines_are_named_and_passed_over() {
        let lines = samples(3);
        let [a, b, c] = [0, 1, 2].map(|n| lines[n].as_str());
        let begun = b.get(..100).unwrap();
        let found = of(&[a, begun, "\n", b, c], None).unwrap();
        assert_eq!((found.lines, found.torn), (3, 1));
        assert_eq!(of(&[a, b, c.get(..9).unwrap()], None).unwrap().torn, 1);
        // The beginning of another line than the next.
        assert!(matches!(of(&[a, c.get(..100).unwrap(), "\n", b, c], None), Err((2, LineFault::Form))));
    }

    #[test]
    fn files_go_on_from_one_to_the_next() {
        let lines = samples(4);
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| lines[n].as_str());
        let (old, new) = (of(&[a, b], None).unwrap(), of(&[c, d], None).unwrap());
        assert_eq!(old.last, new.first);
        assert_eq!(of(&[c, d], old.last).unwrap(), new);
        let other = Some(ChainLink { seq: 2, hash: [7; 32] });
        assert!(matches!(of(&[c, d], other), Err((1, LineFault::Previous))));
    }

    #[test]
    fn what_is_no_log_is_refused_in_words_without_its_content() {
        let long = "x".repeat(70_000);
        for (text, expected) in [("{\"password\":1}\n", "no line of an audit log"), (long.as_str(), "64 KiB")]
        {
            let broken = verify(text.as_bytes(), None).unwrap_err().to_string();
            assert!(broken.starts_with("line 1: ") && broken.contains(expected), "{broken}");
            assert!(!broken.contains("password"));
        }
    }
}
