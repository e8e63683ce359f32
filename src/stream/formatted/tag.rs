//! [`MarkupTag`]: what a tag says.

use std::ops::Range;

use crate::stream::formatted::text::{FormattedText, TextSpelling};

/// A tag.
pub(super) struct MarkupTag {
    /// Its element's name without a prefix; in HTML in lower case.
    pub(super) name: String,
    /// Whether it ends an element, and whether it is one by itself.
    pub(super) closes: bool,
    pub(super) is_empty: bool,
    /// In order.
    pub(super) attributes: Vec<Attribute>,
    /// Names in it that may be values.
    pub(super) odd: Vec<FormattedText>,
}

/// From this many digits on a name may be a value.
const DIGITS: usize = 5;

/// An attribute of it.
pub(super) struct Attribute {
    /// Without a prefix; in HTML in lower case.
    pub(super) name: String,
    /// Its value; of an attribute without one, the name.
    pub(super) text: FormattedText,
}

impl MarkupTag {
    /// The tag that `bytes`, which begin at `at` of a unit, are.
    pub(super) fn parse(bytes: &[u8], at: usize, html: bool) -> Self {
        let name = |range: Range<usize>| {
            let name = String::from_utf8_lossy(bytes.get(range).unwrap_or_default());
            let local = name.rsplit_once(':').map_or(&*name, |(_, local)| local);
            if html { local.to_ascii_lowercase() } else { local.to_owned() }
        };
        let closes = bytes.get(1) == Some(&b'/');
        let begin = if closes { 2 } else { 1 };
        let end = bytes.len().saturating_sub(1);
        let is = |at: usize, those: &[u8]| {
            at < end && bytes.get(at).is_some_and(|byte| byte.is_ascii_whitespace() || those.contains(byte))
        };
        let skip = |mut from: usize, those: &[u8]| {
            while is(from, those) {
                from += 1;
            }
            from
        };
        let until = |mut from: usize, those: &[u8]| {
            while from < end && !is(from, those) {
                from += 1;
            }
            from
        };
        let mut seen = until(begin, b"/");
        let own = name(begin..seen);
        let (mut attributes, mut odd) = (Vec::new(), Vec::new());
        let mut note = |range: Range<usize>| {
            let name = bytes.get(range.clone()).unwrap_or_default();
            if name.contains(&b'@') || name.iter().filter(|byte| byte.is_ascii_digit()).count() >= DIGITS {
                odd.push(FormattedText::of(name, at + range.start, TextSpelling::Plain));
            }
        };
        note(begin..seen);
        loop {
            let from = skip(seen, b"/");
            if from >= end {
                break;
            }
            // A name may begin with `=`.
            let to = until(from + 1, b"=/");
            let equals = skip(to, b"");
            let (range, spelling) = if bytes.get(equals).filter(|_| equals < end) == Some(&b'=') {
                let begin = skip(equals + 1, b"");
                let quote = bytes.get(begin).copied().filter(|byte| matches!(byte, b'"' | b'\''));
                let behind = bytes.get(begin + 1..end).unwrap_or_default();
                let close = quote.and_then(|quote| memchr::memchr(quote, behind));
                match close {
                    Some(length) => (begin + 1..begin + 1 + length, TextSpelling::Attribute(quote)),
                    None => (begin..until(begin, b""), TextSpelling::Attribute(None)),
                }
            } else {
                (from..to, TextSpelling::Plain)
            };
            if spelling != TextSpelling::Plain {
                note(from..to);
            }
            seen = range.end + usize::from(matches!(spelling, TextSpelling::Attribute(Some(_))));
            seen = seen.max(to);
            let value = bytes.get(range.clone()).unwrap_or_default();
            attributes.push(Attribute {
                name: name(from..to),
                text: FormattedText::of(value, at + range.start, spelling),
            });
        }
        let is_empty = bytes.ends_with(b"/>") || html && VOID.contains(&own.as_str());
        Self { name: own, closes, is_empty, attributes, odd }
    }

    /// The value of the first of these attributes that is there and says something.
    pub(super) fn attribute(&self, names: &[&str]) -> Option<&str> {
        let value = |name: &&str| {
            let own = self.attributes.iter().find(|attribute| attribute.name == **name)?;
            Some(own.text.text().trim()).filter(|text| text.contains(char::is_alphabetic))
        };
        names.iter().find_map(value)
    }
}

/// Elements of HTML that hold nothing.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];
