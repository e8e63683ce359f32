//! [`CodeUnits`]: places as scripts count them, in UTF-16 code units (ECMA-262 section 6.1.4).

/// Code units before each of some bytes of a text.
pub(super) struct CodeUnits(Option<Vec<(usize, usize)>>);

impl CodeUnits {
    /// Of these bytes of a text, in any order.
    pub(super) fn of(text: &str, bytes: impl Iterator<Item = usize>) -> Self {
        // Each byte is one.
        if text.is_ascii() {
            return Self(None);
        }
        let mut bytes: Vec<usize> = bytes.collect();
        bytes.sort_unstable();
        bytes.dedup();
        let (mut at, mut count) = (0, 0);
        let counted = bytes.into_iter().map(|byte| {
            let piece = text.get(at..byte).unwrap_or_default();
            count += piece.chars().map(char::len_utf16).sum::<usize>();
            at = byte;
            (byte, count)
        });
        Self(Some(counted.collect()))
    }

    /// Code units before a byte that was named.
    pub(super) fn at(&self, byte: usize) -> usize {
        let Some(known) = &self.0 else { return byte };
        let found = known.binary_search_by_key(&byte, |&(byte, _)| byte).ok();
        found.and_then(|at| known.get(at)).map_or(0, |&(_, count)| count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_scripts() {
        // The last is a letter, a combining accent, and a flag of two characters that are two units each.
        for text in ["", "plain", "Gr\u{fc}\u{df}e", "\u{1f642}x\u{1f642}", "e\u{301} \u{1f1e9}\u{1f1ea}!"] {
            let bytes: Vec<usize> = (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect();
            let units = CodeUnits::of(text, bytes.iter().rev().copied());
            for at in bytes {
                assert_eq!(units.at(at), text.get(..at).unwrap().encode_utf16().count(), "{text} {at}");
            }
        }
    }
}
