//! [`LinkText`]: a link without its escapes (RFC 3986, 2.1), and the way back.

use crate::base::path::hex_digit;
use crate::edit::SourceMap;

/// What a link reads like.
#[derive(Debug)]
pub struct LinkText {
    text: String,
    map: SourceMap,
}

impl LinkText {
    /// Reads a link; nothing for one without escapes, or whose escapes are no UTF-8.
    pub fn of(link: &str) -> Option<Self> {
        let raw = link.as_bytes();
        let (mut bytes, mut map) = (Vec::with_capacity(raw.len()), SourceMap::default());
        let mut at = 0;
        while let Some(byte) = raw.get(at) {
            let escaped = (*byte == b'%').then(|| raw.get(at.checked_add(1)?..at.checked_add(3)?)).flatten();
            let escaped = escaped
                .and_then(|digits| Some((hex_digit(*digits.first()?)? << 4) | hex_digit(*digits.get(1)?)?));
            bytes.push(escaped.unwrap_or(*byte));
            match escaped {
                Some(_) => map.spelled(1, 3),
                None => map.plain(1),
            }
            at = map.source_end();
        }
        let text = String::from_utf8(bytes).ok()?;
        (text.len() < link.len()).then_some(Self { text, map })
    }

    /// As it reads.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the link spells it.
    pub fn map(&self) -> &SourceMap {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_found_again() {
        let link = "a%20b%C3%A9%2";
        let plain = LinkText::of(link).unwrap();
        assert_eq!(plain.text(), "a bé%2");
        assert_eq!(link.get(plain.map().range(1..5)), Some("%20b%C3%A9"));
        assert_eq!(link.get(plain.map().range(5..7)), Some("%2"));
        assert!(LinkText::of("plain%").is_none() && LinkText::of("%ff").is_none());
    }
}
