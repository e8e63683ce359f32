//! Texts on their way through `detect`: as they come, or whole.

use std::io::Read;
use std::string::FromUtf8Error;

use crate::app::{AppError, Arrival, Block, Blocks, TextScans};
use crate::cli::failure::Failure;
use crate::detect::{Detector, Finding, Scanner, SpeculativeScan};

/// Takes the text in order, piece by piece, each with its finding if it is one.
pub(super) type Sink<'a> = dyn FnMut(&str, Option<&Finding>) -> std::io::Result<()> + 'a;

/// Text on its way through a scanner.
struct Passing {
    scanner: Scanner,
    held: String,
    /// The text's offset that `held` begins at.
    base: usize,
}

impl Passing {
    fn give(&mut self, found: &[Finding], decided: usize, sink: &mut Sink<'_>) -> std::io::Result<()> {
        let mut at = self.base;
        let piece = |from: usize, to: usize| {
            self.held.get(from.saturating_sub(self.base)..to.saturating_sub(self.base)).unwrap_or_default()
        };
        for finding in found {
            sink(piece(at, finding.span.start), None)?;
            sink(piece(finding.span.start, finding.span.end), Some(finding))?;
            at = finding.span.end;
        }
        sink(piece(at, decided), None)?;
        self.held.drain(..decided.saturating_sub(self.base).min(self.held.len()));
        self.base = decided;
        Ok(())
    }

    /// Takes the next piece, which `scan` has looked at if there is one.
    fn feed(
        &mut self,
        text: &str,
        scan: Option<SpeculativeScan>,
        sink: &mut Sink<'_>,
    ) -> std::io::Result<()> {
        self.held.push_str(text);
        let mut found = Vec::new();
        let decided = self.scanner.feed_scanned(text, scan, &mut |finding| found.push(finding));
        self.give(&found, decided, sink)
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> std::io::Result<()> {
        let mut found = Vec::new();
        self.scanner.end(&mut |finding| found.push(finding));
        self.give(&found, self.base + self.held.len(), sink)
    }
}

/// Gives the next text to `sink` as it comes; bytes that are not UTF-8 become U+FFFD.
pub(super) fn stream(
    detector: &Detector,
    blocks: &mut Blocks<TextScans, Failure>,
    sink: &mut Sink<'_>,
) -> Result<(), Failure> {
    let mut passing = Passing { scanner: detector.scanner(), held: String::new(), base: 0 };
    while let Arrival::Block(Block { bytes, done }) = blocks.take(None)? {
        passing.feed(&String::from_utf8_lossy(&bytes), done.flatten(), sink)?;
    }
    Ok(passing.end(sink)?)
}

/// The same for a detector that wants whole texts.
pub(super) fn at_once(detector: &Detector, text: &str, sink: &mut Sink<'_>) -> Result<(), Failure> {
    let mut at = 0;
    for finding in detector.find(text) {
        let Finding { span, .. } = finding;
        sink(text.get(at..span.start).unwrap_or_default(), None)?;
        sink(text.get(span.start..span.end).unwrap_or_default(), Some(&finding))?;
        at = span.end;
    }
    Ok(sink(text.get(at..).unwrap_or_default(), None)?)
}

/// All of a text.
pub(super) fn whole(mut from: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).map_err(|error| AppError::Io(format!("{name}: {error}")))?;
    let lossy = |error: FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
    Ok(String::from_utf8(bytes).unwrap_or_else(lossy))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::app::InputParts;
    use crate::detect::{Catalogue, RuleSelection};

    /// Gives its bytes in pieces of one size.
    struct Drip(VecDeque<u8>, usize);

    impl Read for Drip {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(into.len()).min(self.0.len());
            into.iter_mut().zip(self.0.drain(..count)).for_each(|(to, byte)| *to = byte);
            Ok(count)
        }
    }

    /// All pieces in order, and each value with the offset that it begins at.
    fn streamed(
        detector: &Detector,
        bytes: &[u8],
        size: usize,
        threads: usize,
    ) -> (String, Vec<(String, usize)>) {
        let drip = Drip(bytes.iter().copied().collect(), size);
        let read = move |parts: &InputParts<Failure>| {
            parts.read(drip, |error| AppError::Io(error.to_string()).into());
        };
        let mut blocks = Blocks::new(TextScans::lossy(detector.clone()), threads, read).unwrap();
        let (mut all, mut found) = (String::new(), Vec::new());
        let mut sink = |text: &str, finding: Option<&Finding>| {
            if finding.is_some() {
                found.push((text.to_owned(), all.len()));
            }
            all.push_str(text);
            Ok(())
        };
        assert!(stream(detector, &mut blocks, &mut sink).is_ok());
        (all, found)
    }

    #[test]
    fn pieces_of_any_size_and_threads_of_any_number_give_the_same_places() {
        let catalogue = Catalogue::builtin().unwrap();
        let selection = RuleSelection::only(&catalogue, ["EMAIL_ADDRESS"]).unwrap();
        let detector = Detector::new(&catalogue, &selection).unwrap();
        let mut text = "Grüße 😀 ann@example.com\r\n\né\tbob@example.com".as_bytes().to_vec();
        // Broken characters: in the middle, before a whole one, at the end.
        text.extend_from_slice(b" \xff \xe2\x82A \xf0\x9f\x98");
        let places = [("ann@example.com".to_owned(), 13), ("bob@example.com".to_owned(), 34)];
        for size in 1..=text.len() {
            for threads in [1, 3] {
                let (all, found) = streamed(&detector, &text, size, threads);
                assert_eq!(all, String::from_utf8_lossy(&text), "pieces of {size}");
                assert_eq!(found, places, "pieces of {size}, {threads} threads");
            }
        }
    }
}
