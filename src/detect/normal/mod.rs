//! A text as people read it: a no-break space is a space, a full-width digit a digit, a soft hyphen nothing, and a
//! number that a line break parts is one number. Rules look at this view of a text; a [`SourceMap`] leads what they
//! find back to the text as it is written.
//!
//! The view is made only where a text has a character that needs it. Each decision goes by the characters nearby
//! alone, so that any split of a text gives the same view.
//!
//! | file | noun |
//! |---|---|
//! | `chars` | how single characters read |
//! | `wrapped` | numbers that a line break parts |

mod chars;
mod wrapped;

use std::borrow::Cow;

use crate::edit::SourceMap;
use chars::{CharReading, sort};
pub(crate) use wrapped::AHEAD;
use wrapped::BEHIND;

use super::finding::{ContextWord, Finding, Span};

/// How many characters in a row are left out: what follows them is undecided until more comes, and that is bounded.
const GONE: usize = 16;

/// The most bytes that a text has for one of its view, characters that are left out before it among them.
pub const WIDEST: usize = 4 * (GONE + 1);

/// Whether the text reads otherwise than it is written, or may.
pub(crate) fn needs(text: &str) -> bool {
    let bytes = text.as_bytes();
    let wraps = || memchr::memchr2_iter(b'\n', b'\r', bytes).any(|at| wrapped::may_join(bytes, at));
    if bytes.is_ascii() { wraps() } else { bytes.iter().any(|&byte| chars::may_change(byte)) || wraps() }
}

/// The text as it reads.
pub fn as_read(text: &str) -> Cow<'_, str> {
    if !needs(text) {
        return Cow::Borrowed(text);
    }
    let (mut normal, mut view) = (Normalizer::default(), Vec::new());
    normal.push(text, true, &mut view);
    String::from_utf8(view).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// How a character of a value reads; `None` where nobody reads it.
pub fn char_as_read(c: char) -> Option<char> {
    match sort(c) {
        CharReading::As(byte) => Some(char::from(byte)),
        CharReading::Dash => Some('-'),
        CharReading::Gone => None,
        CharReading::Break | CharReading::Plain => Some(c),
    }
}

/// Makes the view of one text, piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Normalizer {
    map: SourceMap,
    /// What has come and cannot be read before more comes.
    cut: String,
    /// Characters left out in a row.
    gone: usize,
    /// Where the text begins in the view, behind what was put before it.
    first: usize,
}

/// What a normalizer carries over, wherever the text begins.
#[derive(PartialEq, Eq)]
pub(crate) struct NormalizerState {
    cut: String,
    gone: usize,
    /// How much of the text spells what is kept of its view.
    kept: usize,
}

impl Normalizer {
    /// Begins another text, which stands at `first` of its view.
    pub(crate) fn begin(&mut self, first: usize) {
        self.map.restart(first, 0);
        self.cut.clear();
        (self.gone, self.first) = (0, first);
    }

    /// Appends to `view` how the next piece reads; its last characters may wait for the next, unless this is the
    /// `last`.
    pub(crate) fn push(&mut self, piece: &str, last: bool, view: &mut Vec<u8>) {
        if self.cut.is_empty() {
            let read = self.read(piece, last, view);
            self.cut.push_str(piece.get(read..).unwrap_or_default());
            return;
        }
        let mut text = std::mem::take(&mut self.cut);
        text.push_str(piece);
        let read = self.read(&text, last, view);
        text.drain(..read);
        self.cut = text;
    }

    /// Reads as far as what has come decides how the text reads; returns how far that is.
    fn read(&mut self, text: &str, last: bool, view: &mut Vec<u8>) -> usize {
        let bytes = text.as_bytes();
        // Asked once for all of it: a text can be nothing but places that are looked at.
        let ascii = bytes.is_ascii();
        let mut at = 0;
        while let Some(spot) = next(bytes, at, ascii) {
            self.plain(bytes.get(at..spot).unwrap_or_default(), view);
            let rest = text.get(spot..).unwrap_or_default();
            let Some(read) = self.spot(rest, last, view) else { return spot };
            at = spot + read;
        }
        self.plain(bytes.get(at..).unwrap_or_default(), view);
        bytes.len()
    }

    fn plain(&mut self, run: &[u8], view: &mut Vec<u8>) {
        if !run.is_empty() {
            view.extend_from_slice(run);
            self.map.plain(run.len());
            self.gone = 0;
        }
    }

    fn put(&mut self, byte: u8, length: usize, view: &mut Vec<u8>) {
        view.push(byte);
        self.map.spelled(1, length);
        self.gone = 0;
    }

    /// Reads what stands at the beginning of `rest`; how many bytes that is, or `None` before more comes.
    fn spot(&mut self, rest: &str, last: bool, view: &mut Vec<u8>) -> Option<usize> {
        let c = rest.chars().next()?;
        let length = c.len_utf8();
        match sort(c) {
            CharReading::As(byte) => self.put(byte, length, view),
            CharReading::Gone if self.gone < GONE => {
                self.map.spelled(0, length);
                self.gone += 1;
            }
            CharReading::Dash if view.last().is_some_and(|&byte| is_part(byte) || byte == b')') => {
                let digit = view.last().is_some_and(|byte| !byte.is_ascii_uppercase());
                let behind = rest.get(length..).unwrap_or_default();
                match following(behind, last)? {
                    Some(byte) if byte.is_ascii_digit() || digit && is_part(byte) => {
                        self.put(b'-', length, view);
                    }
                    _ => self.plain(rest.as_bytes().get(..length).unwrap_or_default(), view),
                }
            }
            CharReading::Break => return self.line_break(rest, last, view),
            CharReading::Gone | CharReading::Dash | CharReading::Plain => {
                self.plain(rest.as_bytes().get(..length).unwrap_or_default(), view);
            }
        }
        Some(length)
    }

    fn line_break(&mut self, rest: &str, last: bool, view: &mut Vec<u8>) -> Option<usize> {
        let length = match rest.as_bytes() {
            [b'\r'] if !last => return None,
            [b'\r', b'\n', ..] => 2,
            _ => 1,
        };
        let left = view.get(view.len().saturating_sub(BEHIND).max(self.first)..).unwrap_or_default();
        if wrapped::may_end(left) {
            let behind = rest.get(length..).unwrap_or_default();
            let blanks = wrapped::indent(behind, last)?;
            let head = peek(behind.get(blanks..).unwrap_or_default(), last)?;
            match wrapped::join(left, head.as_bytes()) {
                Some(wrapped::Join::Put(byte)) => {
                    self.put(byte, length + blanks, view);
                    return Some(length + blanks);
                }
                Some(wrapped::Join::Close) => {
                    self.map.spelled(0, length + blanks);
                    return Some(length + blanks);
                }
                None => {}
            }
        }
        self.plain(rest.as_bytes().get(..length).unwrap_or_default(), view);
        Some(length)
    }

    /// Where the view up to `at` begins in the text.
    pub(crate) fn source(&self, at: usize) -> usize {
        self.map.floor(at)
    }

    /// What it carries over, where the view up to `at` will not be asked for again; `None` behind a label.
    pub(crate) fn state(&self, at: usize) -> Option<NormalizerState> {
        let kept = self.map.source_end() - self.map.floor(at).min(self.map.source_end());
        (self.first == 0).then(|| NormalizerState { cut: self.cut.clone(), gone: self.gone, kept })
    }

    /// The text begins earlier: by `view` bytes as it reads, and `source` bytes as it is written.
    pub(crate) fn shift(&mut self, view: usize, source: usize) {
        self.map.shift(view, source);
    }

    /// What was found in the view, where it stands in the text.
    pub(crate) fn to_source(&self, finding: Finding) -> Finding {
        let span = |span: Span| {
            let source = self.map.range(span.start..span.end);
            Span::new(source.start, source.end)
        };
        let near = finding.near.filter(|near| near.span.start >= self.first);
        let near = near.map(|near| ContextWord { span: span(near.span), ..near });
        Finding { span: span(finding.span), near, ..finding }
    }

    /// What lies before `at` of the view will not be asked for again.
    pub(crate) fn forget(&mut self, at: usize) {
        self.map.forget(at);
    }
}

/// What stands beside a dash that is a hyphen: digits, and capitals beside those, as in an account number.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase()
}

/// The next byte at or behind `from` that may read otherwise than it is written; `ascii` if all are that.
fn next(bytes: &[u8], from: usize, ascii: bool) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let found = if ascii {
        memchr::memchr2(b'\n', b'\r', rest)
    } else {
        rest.iter().position(|&byte| chars::may_change(byte) || matches!(byte, b'\n' | b'\r'))
    };
    found.map(|at| from + at)
}

/// How the next character reads, if it is ASCII; `None` if it has not come.
fn following(rest: &str, last: bool) -> Option<Option<u8>> {
    let mut read = rest.chars().map(|c| (c, sort(c)));
    let next = read.by_ref().take(GONE + 1).find(|(_, sort)| *sort != CharReading::Gone);
    match next {
        Some((_, CharReading::As(byte))) => Some(Some(byte)),
        Some((c, _)) => Some(u8::try_from(c).ok().filter(u8::is_ascii)),
        None if last || rest.chars().nth(GONE).is_some() => Some(None),
        None => None,
    }
}

/// What follows a break, as far as it can be a number's.
struct NumberStart {
    bytes: [u8; AHEAD],
    length: usize,
}

impl NumberStart {
    /// Whether there was room for one more.
    fn push(&mut self, byte: u8) -> bool {
        let place = self.bytes.get_mut(self.length);
        self.length += usize::from(place.is_some());
        place.map(|place| *place = byte).is_some()
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// How the next characters read, as far as they can be a number's; `None` if too few have come.
fn peek(rest: &str, last: bool) -> Option<NumberStart> {
    let mut head = NumberStart { bytes: [0; AHEAD], length: 0 };
    for (n, c) in rest.chars().enumerate() {
        let byte = match sort(c) {
            CharReading::Gone if n < AHEAD + GONE => continue,
            CharReading::As(byte) => byte,
            CharReading::Dash => b'-',
            CharReading::Plain if c.is_ascii() => c as u8,
            CharReading::Gone | CharReading::Plain | CharReading::Break => return Some(head),
        };
        if !wrapped::is_part(byte) || !head.push(byte) {
            return Some(head);
        }
    }
    last.then_some(head)
}

#[cfg(test)]
mod tests;
