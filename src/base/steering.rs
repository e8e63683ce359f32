//! Characters that change how a text is shown and are not seen themselves.

/// Whether a character is a control character, one of bidirectional text (UAX #9), or ends a line or a paragraph: what has one
/// may read as something else than it is.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is not seen at all, and says nothing of the spelling of words: what has one looks like what has none.
/// Joiners (U+200C, U+200D) do.
pub fn hides(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joiners_hide_nothing() {
        assert!(['\u{ad}', '\u{200b}', '\u{2060}', '\u{feff}', '\u{e0041}'].into_iter().all(hides));
        assert!(!['a', ' ', '\u{200c}', '\u{200d}', '\u{e9}'].into_iter().any(hides));
    }

    #[test]
    fn only_what_is_not_seen_steers() {
        for c in ['\0', '\n', '\u{7f}', '\u{9b}', '\u{61c}', '\u{200f}', '\u{2028}', '\u{202e}', '\u{2069}'] {
            assert!(steers(c), "{:x}", u32::from(c));
        }
        // Joiners belong to the spelling of words.
        for c in ['a', ' ', '\u{e9}', '\u{5d0}', '\u{540d}', '\u{200c}', '\u{200d}', '\u{1f600}', '<'] {
            assert!(!steers(c), "{:x}", u32::from(c));
        }
    }
}
