//! What stands in a string of JSON in place of a value, spelled as the program that wrote the document spells it: `\/`, `\u0040`,
//! and `\u00f8` where it writes nothing beyond ASCII. A model copies what it sees, and then the value comes back as it was written.

use std::collections::HashMap;

use crate::redact::escapes::respelled;
use crate::redact::written::with_an_escape;
use crate::stream::json::{Decoded, encoded};

/// `with` in place of what `spelled` spells.
pub(super) fn spelled_as(spelled: &str, with: &str) -> String {
    if !spelled.contains('\\') {
        return encoded(with);
    }
    let (mut escapes, mut beyond) = (HashMap::new(), None);
    for (c, escape) in escapes_of(spelled) {
        if encoded(c.encode_utf8(&mut [0; 4])) != escape {
            escapes.insert(c, escape);
        }
        if !c.is_ascii() {
            beyond = Some(escape);
        }
    }
    let mut out = String::with_capacity(with.len());
    for c in with.chars() {
        match (escapes.get(&c), beyond.filter(|_| !c.is_ascii())) {
            (Some(escape), _) => out.push_str(escape),
            (None, Some(like)) => out.push_str(&respelled(like, c)),
            (None, None) => out.push_str(&encoded(c.encode_utf8(&mut [0; 4]))),
        }
    }
    match beyond {
        Some(like) => with_an_escape(out, like),
        None => out,
    }
}

/// The escapes of a string, each with what it spells.
fn escapes_of(spelled: &str) -> impl Iterator<Item = (char, &str)> {
    let mut rest = spelled;
    std::iter::from_fn(move || {
        rest = rest.get(rest.find('\\')?..)?;
        let high =
            |digits: &[u8]| matches!(digits, [b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B', ..]);
        let length = match rest.as_bytes() {
            [_, b'u', digits @ ..] if high(digits) && rest.get(6..8) == Some("\\u") => 12,
            [_, b'u', ..] => 6,
            _ => 2,
        };
        let (escape, behind) = rest.split_at_checked(length)?;
        rest = behind;
        let c = Decoded::of(escape.as_bytes()).text().chars().next()?;
        Some((c, escape))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_spelled_as_what_was_there() {
        let cases = [
            ("jo@ab.de", "x\"y@z", r#"x\"y@z"#),
            (r"jo\u0040ab.de", "xy@z.de", r"xy\u0040z.de"),
            (r"https:\/\/a.de\/b", "https://x.de/y", r"https:\/\/x.de\/y"),
            (r"81\\.169", r"10\.12", r"10\\.12"),
            (r"S\u00f8rlie", "Clairail", r"Clairai\u006c"),
            (r"S\u00D8RLIE", "Clairail", r"Clairai\u006C"),
            (r"S\u00f8rlie", "Élise", r"\u00c9lise"),
            (r"\ud83d\ude42 Jo", "\u{1f600} X", r"\ud83d\ude00 X"),
            (r"a\nb", "c\nd", r"c\nd"),
            (r"O\u0027Malley", "O'Kritos", r"O\u0027Kritos"),
            (r"\u00f8", "7", "7"),
        ];
        for (spelled, with, expected) in cases {
            assert_eq!(spelled_as(spelled, with), expected, "{spelled} {with}");
        }
    }
}
