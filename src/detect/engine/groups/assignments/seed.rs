//! The words of a wallet's seed (BIP 39), behind what says that they are.

use super::text::{NeedMore, Text, is_name, is_quote};
use super::value::{Value, piece};
use crate::detect::naming::NAME;
use crate::detect::rules::SecretKind;

/// How many words a seed has, and of how many letters they are.
const COUNTS: [usize; 5] = [12, 15, 18, 21, 24];
const LETTERS: std::ops::RangeInclusive<usize> = 3..=8;
/// Words of sentences, that are none of a seed's.
const OF_SENTENCES: [&[u8]; 12] =
    [b"the", b"and", b"for", b"are", b"your", b"was", b"but", b"not", b"has", b"our", b"its", b"should"];

impl Text<'_> {
    /// The words of a wallet's seed, numbered or not, behind what says that they are.
    pub(super) fn seed_phrase(&self, end: usize) -> Result<Option<Value>, NeedMore> {
        let mut at = self.run(end, NAME, is_name)?;
        let between = |byte: u8| {
            byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b':' | b'=' | b',' | b'*' | b'\\')
        };
        // `is`, `(12 words):`, `for my wallet:`.
        for _ in 0..4 {
            at = self.run(at, NAME, between)?;
            let word = self.run(at, NAME, |byte| !byte.is_ascii_whitespace())?;
            let text = self.view.slice(at, word);
            let says = text.ends_with(b":") || text.starts_with(b"(");
            if !says
                && !matches!(text, b"is" | b"was" | b"are" | b"for" | b"my" | b"of" | b"this" | b"words)")
            {
                break;
            }
            at = word;
        }
        let (mut first, mut last, mut count) = (at, at, 0);
        for _ in 0..=24 {
            let number = self.run(at, 3, |byte| byte.is_ascii_digit() || byte == b'.' || byte == b')')?;
            let start = self.run(number, 8, between)?;
            let stop = self.run(start, 12, |byte| byte.is_ascii_lowercase())?;
            let word = self.view.slice(start, stop);
            let parted = !self.byte(stop)?.is_some_and(|byte| byte.is_ascii_alphanumeric());
            if !LETTERS.contains(&word.len()) || OF_SENTENCES.contains(&word) || !parted {
                break;
            }
            first = if count == 0 { start } else { first };
            (last, count) = (stop, count + 1);
            at = self.run(stop, 8, between)?;
        }
        let fits = COUNTS.contains(&count);
        Ok(fits.then(|| piece(SecretKind::Password, first, last, 0.0)))
    }
}
