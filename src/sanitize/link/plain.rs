//! [`Plain`]: a link without its escapes (RFC 3986, 2.1), and the way back.

use std::ops::Range;

/// What a link reads like.
#[derive(Debug)]
pub struct Plain {
    text: String,
    /// Where each byte of it is spelled; and where the link ends.
    places: Vec<usize>,
}

impl Plain {
    /// Reads a link; nothing for one without escapes, or whose escapes are no UTF-8.
    pub fn of(link: &str) -> Option<Self> {
        let raw = link.as_bytes();
        let (mut bytes, mut places) = (Vec::with_capacity(raw.len()), Vec::with_capacity(raw.len()));
        let mut at = 0;
        while let Some(byte) = raw.get(at) {
            let escaped = (*byte == b'%').then(|| raw.get(at.checked_add(1)?..at.checked_add(3)?)).flatten();
            let escaped =
                escaped.and_then(|digits| Some((digit(digits.first()?)? << 4) | digit(digits.get(1)?)?));
            bytes.push(escaped.unwrap_or(*byte));
            places.push(at);
            at = at.saturating_add(if escaped.is_some() { 3 } else { 1 });
        }
        places.push(raw.len());
        let text = String::from_utf8(bytes).ok()?;
        (text.len() < link.len()).then_some(Self { text, places })
    }

    /// As it reads.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a part of it is spelled in the link.
    pub fn spelled(&self, range: &Range<usize>) -> Range<usize> {
        let place = |at: usize| self.places.get(at).or(self.places.last()).copied().unwrap_or(0);
        place(range.start)..place(range.end)
    }
}

fn digit(byte: &u8) -> Option<u8> {
    u8::try_from(char::from(*byte).to_digit(16)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_found_again() {
        let link = "a%20b%C3%A9%2";
        let plain = Plain::of(link).unwrap();
        assert_eq!(plain.text(), "a bé%2");
        assert_eq!(link.get(plain.spelled(&(1..5))), Some("%20b%C3%A9"));
        assert_eq!(link.get(plain.spelled(&(5..7))), Some("%2"));
        assert!(Plain::of("plain%").is_none() && Plain::of("%ff").is_none());
    }
}
