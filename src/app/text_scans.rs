//! [`TextScans`]: blocks of a text, looked through before the scanner of the text comes to them.

use crate::app::blocks::BlockWork;
use crate::detect::{Detector, SpeculativeScan};
use crate::stream::complete;

/// Looks through blocks of a text for whoever scans the text.
#[derive(Debug)]
pub struct TextScans {
    detector: Option<Detector>,
    /// Whether bytes that are not UTF-8 are read as U+FFFD; if not, they part texts.
    lossy: bool,
}

impl TextScans {
    /// Looks for nothing.
    pub fn none() -> Self {
        Self { detector: None, lossy: false }
    }

    /// For a text that is parted by bytes that are not UTF-8.
    pub fn parted(detector: Detector) -> Self {
        Self { detector: Some(detector), lossy: false }
    }

    /// For a text in which bytes that are not UTF-8 are U+FFFD.
    pub fn lossy(detector: Detector) -> Self {
        Self { detector: Some(detector), lossy: true }
    }
}

impl BlockWork for TextScans {
    type Done = Option<SpeculativeScan>;

    const CONTEXT: usize = SpeculativeScan::CONTEXT;
    const ALIGNMENT: usize = SpeculativeScan::ALIGNMENT;

    fn whole(&self, bytes: &[u8], _: usize) -> usize {
        complete(bytes)
    }

    fn work(&self, context: &[u8], block: &[u8]) -> Self::Done {
        let detector = self.detector.as_ref()?;
        if self.lossy {
            let context = String::from_utf8_lossy(context);
            return SpeculativeScan::new(detector, &context, String::from_utf8_lossy(block).into_owned());
        }
        let piece = str::from_utf8(block).ok()?;
        SpeculativeScan::new(detector, last_text(context), piece.to_owned())
    }
}

/// What stands behind the last byte that is not UTF-8.
fn last_text(bytes: &[u8]) -> &str {
    let last = bytes.utf8_chunks().last();
    last.filter(|chunk| chunk.invalid().is_empty()).map_or("", |chunk| chunk.valid())
}

#[cfg(test)]
mod tests {
    use super::last_text;

    #[test]
    fn a_text_begins_behind_what_is_none() {
        let rows: [(&[u8], &str); 6] = [
            (b"", ""),
            (b"abc", "abc"),
            (b"\xffabc", "abc"),
            (b"ab\xffc\xfed", "d"),
            (b"abc\xff", ""),
            (b"\x9f\x98\x80 a", " a"),
        ];
        for (bytes, text) in rows {
            assert_eq!(last_text(bytes), text, "{}", bytes.escape_ascii());
        }
    }
}
