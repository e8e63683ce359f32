//! Character references, as HTML and XML spell characters (HTML Standard, "Named character references", "Numeric
//! character reference state"). Of the names, those of Latin 1 and of signs; what has another name stays text.

use std::borrow::Cow;

use crate::sanitize::format::patch::SpelledText;

/// The longest name that is looked for, in bytes.
const LONGEST: usize = 10;

/// Names that browsers take without a semicolon.
const BARE: &[&str] = &["amp", "lt", "gt", "quot", "nbsp", "copy", "reg", "AMP", "LT", "GT", "QUOT"];

/// Signs by name; Latin 1 follows.
const NAMES: &[(&str, char)] = &[
    ("AMP", '&'),
    ("GT", '>'),
    ("LT", '<'),
    ("NewLine", '\n'),
    ("QUOT", '"'),
    ("Tab", '\t'),
    ("amp", '&'),
    ("apos", '\''),
    ("ast", '*'),
    ("bsol", '\\'),
    ("bull", '•'),
    ("colon", ':'),
    ("comma", ','),
    ("commat", '@'),
    ("dash", '‐'),
    ("dollar", '$'),
    ("emsp", '\u{2003}'),
    ("ensp", '\u{2002}'),
    ("equals", '='),
    ("euro", '€'),
    ("excl", '!'),
    ("grave", '`'),
    ("gt", '>'),
    ("hellip", '…'),
    ("horbar", '―'),
    ("hyphen", '‐'),
    ("lbrace", '{'),
    ("lbrack", '['),
    ("lcub", '{'),
    ("ldquo", '“'),
    ("lowbar", '_'),
    ("lpar", '('),
    ("lsqb", '['),
    ("lsquo", '‘'),
    ("lt", '<'),
    ("mdash", '—'),
    ("midast", '*'),
    ("ndash", '–'),
    ("num", '#'),
    ("percnt", '%'),
    ("period", '.'),
    ("plus", '+'),
    ("quest", '?'),
    ("quot", '"'),
    ("rbrace", '}'),
    ("rbrack", ']'),
    ("rcub", '}'),
    ("rdquo", '”'),
    ("rpar", ')'),
    ("rsqb", ']'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("semi", ';'),
    ("shy", '\u{ad}'),
    ("sol", '/'),
    ("thinsp", '\u{2009}'),
    ("tilde", '˜'),
    ("trade", '™'),
    ("verbar", '|'),
    ("vert", '|'),
    ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
    ("UnderBar", '_'),
    ("Hat", '^'),
    ("DiacriticalGrave", '`'),
];

/// From U+00A0 on.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 \
    sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml \
    Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml \
    times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil \
    egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash \
    ugrave uacute ucirc uuml yacute thorn yuml";

/// Where a reference stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sanitize::format) enum Context {
    /// In text.
    Text,
    /// In an attribute's value, where `&lt=` is no reference.
    Value,
}

/// The character that `text` begins with, if that is a reference, and the reference's length in bytes.
pub(in crate::sanitize::format) fn reference(text: &str, place: Context) -> Option<(char, usize)> {
    let rest = text.strip_prefix('&')?;
    if let Some(number) = rest.strip_prefix('#') {
        return numeric(number).map(|(c, length)| (c, length.saturating_add(2)));
    }
    let length = rest.bytes().take(LONGEST.saturating_add(8)).take_while(u8::is_ascii_alphanumeric).count();
    let name = rest.get(..length)?;
    let closed = rest.get(length..)?.starts_with(';');
    if closed && let Some(c) = named(name) {
        return Some((c, length.saturating_add(2)));
    }
    let bare = BARE.iter().find(|bare| name.starts_with(**bare))?;
    let open = place == Context::Value && (name.len() > bare.len() || rest.get(length..)?.starts_with('='));
    if open { None } else { named(bare).map(|c| (c, bare.len().saturating_add(1))) }
}

fn named(name: &str) -> Option<char> {
    let sign = NAMES.iter().find(|(known, _)| *known == name).map(|(_, c)| *c);
    let latin = || LATIN.split_whitespace().position(|known| known == name);
    sign.or_else(|| latin().and_then(|at| char::from_u32(0xa0_u32.saturating_add(u32::try_from(at).ok()?))))
}

/// What stands behind `&#`.
fn numeric(text: &str) -> Option<(char, usize)> {
    let (digits, radix, prefix) = match text.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 1),
        None => (text, 10, 0),
    };
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let number = digits.get(..length).filter(|number| !number.is_empty())?;
    let code = u32::from_str_radix(number.trim_start_matches('0'), radix);
    let code = if number.trim_start_matches('0').is_empty() { 0 } else { code.unwrap_or(u32::MAX) };
    let c = match code {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9f => {
            let byte = [u8::try_from(code).unwrap_or(b'?')];
            let (text, _, _) = encoding_rs::WINDOWS_1252.decode(&byte);
            text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    let semicolon = usize::from(digits.get(length..).is_some_and(|rest| rest.starts_with(';')));
    Some((c, length.saturating_add(prefix).saturating_add(semicolon)))
}

/// Reads text that begins at byte `at` of its file.
pub(in crate::sanitize::format) fn spelled(text: &mut SpelledText, raw: &str, at: usize) {
    let mut done = 0;
    for (amp, _) in raw.match_indices('&') {
        let (Some(before), Some(rest)) = (raw.get(done..amp), raw.get(amp..)) else { continue };
        if let Some((c, length)) = reference(rest, Context::Text) {
            text.plain(at.saturating_add(done), before);
            done = amp.saturating_add(length);
            text.escape(at.saturating_add(amp)..at.saturating_add(done), c.encode_utf8(&mut [0; 4]));
        }
    }
    text.plain(at.saturating_add(done), raw.get(done..).unwrap_or_default());
}

/// The same for text whose blanks are one for its readers, however many they are (CSS Text 3, 4.1.1).
pub(in crate::sanitize::format) fn words(text: &mut SpelledText, raw: &str, at: usize) {
    let is_blank = |c: char| c.is_ascii_whitespace();
    let mut from = 0;
    while let Some(rest) = raw.get(from..).filter(|rest| !rest.is_empty()) {
        let blanks = rest.find(|c| !is_blank(c)).unwrap_or(rest.len());
        let (run, rest) = rest.split_at_checked(blanks).unwrap_or((rest, ""));
        if !run.is_empty() && !text.text().ends_with(is_blank) {
            let line = run.find('\n');
            let place = at.saturating_add(from).saturating_add(line.unwrap_or(0));
            match line {
                Some(_) => text.plain(place, "\n"),
                None if run.starts_with(' ') => text.plain(place, " "),
                None => text.escape(place..place.saturating_add(1), " "),
            }
        }
        from = from.saturating_add(blanks);
        let word = rest.find(is_blank).unwrap_or(rest.len());
        spelled(text, rest.get(..word).unwrap_or_default(), at.saturating_add(from));
        from = from.saturating_add(word);
    }
}

/// An attribute's value as it reads.
pub(in crate::sanitize::format) fn value(raw: &str) -> Cow<'_, str> {
    if !raw.contains('&') {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(amp) = rest.find('&') {
        let (before, from) = rest.split_at_checked(amp).unwrap_or((rest, ""));
        out.push_str(before);
        let (c, length) = reference(from, Context::Value).unwrap_or(('&', 1));
        out.push(c);
        rest = from.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether every `&` of a value is read alike by everybody: a reference with a semicolon, or before what no name
/// begins with, or what `=` follows.
pub(in crate::sanitize::format) fn is_plain(raw: &str) -> bool {
    raw.match_indices('&').all(|(at, _)| {
        let rest = raw.get(at..).unwrap_or_default();
        if let Some((_, length)) = reference(rest, Context::Value) {
            return rest.get(..length).is_some_and(|whole| whole.ends_with(';'));
        }
        let name = rest.get(1..).unwrap_or_default();
        let length = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
        match name.get(length..).and_then(|rest| rest.chars().next()) {
            Some('#') if length == 0 => false,
            Some('=') => true,
            _ => length == 0,
        }
    })
}

/// Text as markup spells it, in text and in quotes alike.
pub(in crate::sanitize::format) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '`' => out.push_str("&#96;"),
            '\t' | '\n' | '\r' => out.push(c),
            _ if c.is_control() => {}
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_read_as_browsers_do() {
        for (raw, text) in [
            ("java&#115;cript&colon;x", "javascript:x"),
            ("java&#x73cript:&Tab;&NewLine;", "java\u{73c}ript:\t\n"),
            ("&#0000106&#97;", "ja"),
            ("a?x=1&copy=2&lt=3&ampx&amp;y&lt;&gt", "a?x=1&copy=2&lt=3&ampx&y<>"),
            (
                "Jos&eacute;&nbsp;&commat;&unknown;&#x110000;&#0;&#150;",
                "José\u{a0}@&unknown;\u{fffd}\u{fffd}–",
            ),
            ("&yuml;&nbsp&", "ÿ\u{a0}&"),
        ] {
            assert_eq!(value(raw), text, "{raw}");
        }
        let mut text = SpelledText::default();
        spelled(&mut text, "a&lt=b&ampx", 5);
        assert_eq!(text.text(), "a<=b&x");
    }

    #[test]
    fn a_value_is_plain_if_nobody_can_read_it_otherwise() {
        for plain in ["a b", "a&amp;b", "?a=1&b=2", "a & b", "&#58;"] {
            assert!(is_plain(plain), "{plain}");
        }
        for odd in ["&amp", "&unknown;", "&#58x", "&lt b", "&#", "&half"] {
            assert!(!is_plain(odd), "{odd}");
        }
    }
}
