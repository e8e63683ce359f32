//! Lines of a live text: what is said once nothing more comes for a moment, and what waits all the same.

use crate::stream::{Edit, Editor, StreamError};

/// The most of a text that is kept to be context, in bytes.
const KEPT: usize = 64 << 10;

/// How much of the text before a pause is context of what comes after it, in bytes.
const CONTEXT: usize = 256;

/// Lines of an armour longer than this are none, in bytes.
const LINE: usize = 1 << 10;

/// An editor for a text in several channels, each of which goes on where the one before has stopped: what was said there
/// is context, and cannot be edited any more.
pub(super) struct Continued<E> {
    editor: E,
    /// The end of the channel's text, what was edited last not included: it has been counted.
    said: String,
    /// Of the editor's own channel, what was said in the one before.
    before: usize,
    /// Where `said` ends in the channel.
    at: usize,
}

impl<E: Editor> Continued<E> {
    pub(super) fn new(editor: E) -> Self {
        Self { editor, said: String::new(), before: 0, at: 0 }
    }

    /// Begins the next channel with the end of the one before as context.
    pub(super) fn go_on(&mut self) -> Result<(), StreamError> {
        let begin = self.said.len().saturating_sub(CONTEXT);
        let begin = (begin..=self.said.len()).find(|at| self.said.is_char_boundary(*at)).unwrap_or_default();
        self.said.drain(..begin);
        self.before = self.said.len();
        if self.before > 0 {
            self.editor.feed(&self.said, &mut Vec::new())?;
        }
        Ok(())
    }

    /// The editor's edits from `known` on, in the channel's own offsets.
    fn rebase(&mut self, known: usize, edits: &mut Vec<Edit>) {
        let before = self.before;
        let mut last = 0;
        let ours = edits.split_off(known).into_iter().filter(|edit| edit.range.end > before).map(|edit| {
            Edit { range: edit.range.start.saturating_sub(before)..edit.range.end - before, with: edit.with }
        });
        edits.extend(ours.inspect(|edit| last = edit.range.end));
        let behind = self.at.saturating_sub(last).min(self.said.len());
        if last > 0 {
            self.said.drain(..self.said.len() - behind);
        }
    }
}

impl<E: Editor> Editor for &mut Continued<E> {
    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        let known = edits.len();
        self.said.push_str(piece);
        self.at += piece.len();
        let decided = self.editor.feed(piece, edits)?;
        self.rebase(known, edits);
        let excess = self.said.len().saturating_sub(KEPT);
        let excess =
            (excess..=self.said.len()).find(|at| self.said.is_char_boundary(*at)).unwrap_or_default();
        self.said.drain(..excess);
        Ok(decided.saturating_sub(self.before))
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        let known = edits.len();
        self.editor.end(edits)?;
        self.rebase(known, edits);
        (self.before, self.at) = (0, 0);
        Ok(())
    }
}

/// Follows lines, and knows whether one is under way that the next ones belong to: of a key in its armour (RFC 7468,
/// RFC 9580 section 6.2), which is found as a whole.
#[derive(Default)]
pub(super) struct Armour {
    /// The line under way, as far as it matters.
    line: Vec<u8>,
    open: bool,
}

impl Armour {
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece.get(..LINE.min(piece.len())).unwrap_or_default());
            self.line.truncate(LINE);
            if piece.ends_with(b"\n") {
                self.ended();
            }
        }
    }

    fn ended(&mut self) {
        let line = std::mem::take(&mut self.line);
        let has = |word: &[u8]| line.windows(word.len()).rposition(|window| window == word);
        match (has(b"-----BEGIN "), has(b"-----END ")) {
            (Some(begin), end) => {
                self.open = end.is_none_or(|end| end < begin) && has(b" PRIVATE KEY") > Some(begin)
            }
            (None, Some(_)) => self.open = false,
            (None, None) => self.open = self.open && is_within(line.trim_ascii()),
        }
    }

    /// Whether all that has come are whole lines which none to come belongs to.
    pub(super) fn is_between(&self) -> bool {
        self.line.is_empty() && !self.open
    }
}

/// Whether an armour may have this line.
fn is_within(line: &[u8]) -> bool {
    const HEADERS: [&[u8]; 7] =
        [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Hash:", b"Charset:", b"MessageID:"];
    let is_code = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(byte);
    line.iter().all(is_code) || HEADERS.iter().any(|header| line.starts_with(header))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::BytesMut;

    use super::*;
    use crate::base::budget::MemoryBudget;
    use crate::detect::{Catalogue, Detector, RuleSelection};
    use crate::redact::{Keys, Method, MethodPlan, RedactionCounts, Redactor};
    use crate::stream::{Rewriter, TextBody};

    /// What comes out for each of `pieces`, a pause after each, and how many values were found.
    fn paused(pieces: &[&str]) -> (Vec<String>, u64) {
        let catalogue = Catalogue::builtin().unwrap();
        let detector = Detector::new(&catalogue, &RuleSelection::defaults(&catalogue)).unwrap();
        let counts = Arc::new(RedactionCounts::new(detector.rule_count()));
        let redactor = Redactor::new(detector, MethodPlan::all(Method::Replace));
        let mut editor = Continued::new(redactor.live(&Keys::default(), Arc::clone(&counts)));
        let said = pieces.iter().map(|piece| {
            editor.go_on().unwrap();
            let mut body = TextBody::new(&mut editor, &MemoryBudget::unlimited());
            let mut out = BytesMut::new();
            body.write(piece.as_bytes(), &mut out).unwrap();
            body.finish(&mut out).unwrap();
            String::from_utf8(out.to_vec()).unwrap()
        });
        let said = said.collect();
        (said, counts.by_rule().iter().map(|(_, count)| count).sum())
    }

    #[test]
    fn what_was_said_before_a_pause_is_context_and_counts_once() {
        let (said, count) = paused(&[
            "mail jane.doe@harbour-post.com\n",
            "plain\n",
            "",
            "her social security number:\n",
            "536-90-4399 and bob@harbour-post.com\n",
            "\u{e9}\u{e9}\n",
        ]);
        let shown: Vec<&str> = said.iter().map(String::as_str).collect();
        assert_eq!(shown[..4], ["mail <EMAIL_ADDRESS>\n", "plain\n", "", "her social security number:\n"]);
        assert_eq!(shown[4..], ["<US_SSN> and <EMAIL_ADDRESS>\n", "\u{e9}\u{e9}\n"]);
        assert_eq!(count, 3);
    }

    #[test]
    fn an_armour_is_one_thing_until_it_ends_or_is_none() {
        let rows: [(&str, bool); 10] = [
            ("", true),
            ("a line\n", true),
            ("half a line", false),
            ("-----BEGIN RSA PRIVATE KEY-----\n", false),
            ("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE+/=\n", false),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n", true),
            ("expected -----BEGIN RSA PRIVATE KEY-----\n2026-11-22 INFO: ready\n", true),
            ("k: \"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\"\n", true),
            ("-----BEGIN CERTIFICATE-----\nMIIE\n", true),
            ("-----END X-----, -----BEGIN PGP PRIVATE KEY BLOCK-----\n", false),
        ];
        for (text, between) in rows {
            for size in 1..=text.len().max(1) {
                let mut armour = Armour::default();
                text.as_bytes().chunks(size).for_each(|piece| armour.pass(piece));
                assert_eq!(armour.is_between(), between, "{text:?} in pieces of {size}");
            }
        }
    }
}
