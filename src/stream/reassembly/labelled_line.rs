//! [`LabelledLine`]: a line of a document behind what says what it is.

use crate::stream::sse::SseLine;

/// The longest label, in bytes.
const LONGEST: usize = 7;

/// A line such as `data: {…}` or `0:"…"`.
pub(super) struct LabelledLine<'l> {
    /// What stands before the colon: letters and digits.
    pub(super) label: &'l [u8],
    /// What stands behind it.
    pub(super) document: &'l [u8],
}

impl<'l> LabelledLine<'l> {
    /// Reads a line; `None` if it has no label.
    pub(super) fn parse(line: &SseLine<'l>) -> Option<Self> {
        let (label, document) = line.field();
        let is_label = (1..=LONGEST).contains(&label.len()) && label.iter().all(u8::is_ascii_alphanumeric);
        let has_colon = label.len() < line.text().len();
        (is_label && has_colon).then_some(Self { label, document })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::sse::SseLines;

    #[test]
    fn a_label_is_a_short_word_before_a_colon() {
        let rows: [(&str, Option<(&str, &str)>); 9] = [
            ("0:\"a\"\n", Some(("0", "\"a\""))),
            ("data: {}\r\n", Some(("data", "{}"))),
            ("data:  {}\r", Some(("data", " {}"))),
            ("data:", Some(("data", ""))),
            ("{\"a\":1}", None),
            (":ping", None),
            ("data", None),
            ("message1: {}", None),
            ("x-y:{}", None),
        ];
        for (text, want) in rows {
            let read = SseLines::of(text.as_bytes()).next().and_then(|line| LabelledLine::parse(&line));
            let read = read.map(|line| (line.label, line.document));
            assert_eq!(read, want.map(|(label, rest)| (label.as_bytes(), rest.as_bytes())), "{text:?}");
        }
    }
}
