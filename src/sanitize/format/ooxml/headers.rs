//! Headers and footers of sheets: codes in them say where a text stands, how it looks, and what is filled in (ECMA-376
//! part 1, 18.3.1.46). They are no part of the text around them, and stay as they are.

use crate::sanitize::format::ooxml::escapes;
use crate::sanitize::format::passage::is_worth;
use crate::sanitize::format::patch::{Patches, SpelledText};
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::{Chars, Tree, plain};
use crate::sanitize::{Rejection, Work};

/// How many digits a size has at most; it goes up to 409 points.
const SIZE: usize = 3;

/// How many characters a colour has: `FF0000`, `01+000`.
const COLOUR: usize = 6;

/// A header or a footer.
struct HeaderText {
    chars: Chars,
    text: String,
    sections: Vec<SpelledText>,
}

/// Whether an element is a header or a footer of a sheet.
pub(super) fn is_one(name: &str) -> bool {
    let places = ["odd", "even", "first"];
    let rest = places.iter().find_map(|place| name.strip_prefix(*place));
    matches!(rest, Some("Header" | "Footer"))
}

/// Has the texts of headers and footers looked at, and makes the edits.
///
/// # Errors
/// The host's.
pub(super) fn edit(tree: &Tree, editor: &mut XmlEditor<'_>, work: &mut Work<'_>) -> Result<(), Rejection> {
    let chars = tree.chars().iter();
    let chars = chars.filter(|chars| is_one(tree.name(chars.parent)) && !editor.is_gone(chars.parent));
    let headers: Vec<HeaderText> = chars.map(|chars| HeaderText::read(tree, *chars)).collect();
    let sections = headers.iter().flat_map(|header| &header.sections);
    let texts: Vec<&str> = sections.map(SpelledText::text).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let mut edits = work.edits(&texts)?.into_iter();
    for header in &headers {
        let mut patches = Patches::default();
        for (section, edits) in header.sections.iter().zip(edits.by_ref()) {
            for edit in &edits {
                work.applied(edit);
                patches.edit(section, edit, spelled);
            }
        }
        if !patches.is_empty() {
            let text = patches.apply(header.text.as_bytes());
            editor.set_text(header.chars.span, &String::from_utf8_lossy(&text));
        }
    }
    Ok(())
}

impl HeaderText {
    fn read(tree: &Tree, chars: Chars) -> Self {
        let text = plain(tree.slice(chars.span));
        let mut sections = sections(&text);
        sections.retain(|section| is_worth(section.text()));
        Self { chars, text, sections }
    }
}

/// The texts between codes. Codes for looks do not part a text; those for places do, and what is filled in.
fn sections(text: &str) -> Vec<SpelledText> {
    let (mut sections, mut open) = (Vec::new(), SpelledText::default());
    let mut at = 0_usize;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = if let Some(behind) = rest.strip_prefix('&') {
            let HeaderCode { length, parts } = HeaderCode::of(behind);
            if length == 0 || behind.starts_with('&') {
                // A sign by itself, or one that is meant.
                open.escape(at..at.saturating_add(1).saturating_add(length), "&");
            } else if parts {
                sections.push(std::mem::take(&mut open));
            }
            length.saturating_add(1)
        } else if let Some(c) = escapes::escape(rest) {
            open.escape(at..at.saturating_add(escapes::LENGTH), c.encode_utf8(&mut [0; 4]));
            escapes::LENGTH
        } else {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            let behind = rest.get(first..).unwrap_or_default();
            let more = behind.find(['&', '_']).unwrap_or(behind.len());
            let length = first.saturating_add(more);
            open.plain(at, rest.get(..length).unwrap_or_default());
            length
        };
        at = at.saturating_add(length);
    }
    sections.push(open);
    sections
}

/// A code.
#[derive(Debug, PartialEq, Eq)]
struct HeaderCode {
    /// How long it is behind its `&`, in bytes.
    length: usize,
    /// Whether another text begins behind it.
    parts: bool,
}

impl HeaderCode {
    /// The code that begins like this behind its `&`; of no length if none does.
    fn of(behind: &str) -> Self {
        let looks = |length| Self { length, parts: false };
        let rest = behind.get(1..).unwrap_or_default();
        match behind.bytes().next().unwrap_or_default().to_ascii_uppercase() {
            b'&' | b'B' | b'E' | b'H' | b'I' | b'O' | b'S' | b'U' | b'X' | b'Y' => looks(1),
            b'K' if is_colour(rest) => looks(COLOUR.saturating_add(1)),
            b'K' => looks(1),
            // The font and its style.
            b'"' => looks(rest.find('"').map_or(1, |end| end.saturating_add(2))),
            b'0'..=b'9' => {
                let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
                // A number that nobody parted from the size.
                looks(if digits > SIZE { SIZE.saturating_sub(1) } else { digits })
            }
            b'A'..=b'Z' => Self { length: 1, parts: true },
            _ => looks(0),
        }
    }
}

/// Whether a colour stands here: in hexadecimal, or one of the theme and how much lighter it is.
fn is_colour(text: &str) -> bool {
    let Some(colour) = text.get(..COLOUR) else { return false };
    let themed = |(at, byte): (usize, u8)| match at {
        2 => matches!(byte, b'+' | b'-'),
        _ => byte.is_ascii_digit(),
    };
    colour.bytes().all(|byte| byte.is_ascii_hexdigit()) || colour.bytes().enumerate().all(themed)
}

/// Text as headers spell it.
fn spelled(text: &str) -> String {
    escapes::encoded(text).replace('&', "&&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_no_text() {
        for (text, want) in [
            ("&C4111 1111 1111 1111", &["4111 1111 1111 1111"][..]),
            ("&Cjohn.smith@corp.example&Rx", &["john.smith@corp.example", "x"]),
            (
                "&L&\"Arial,Bold\"&14 Jane&\"Arial\" Roe&R&KFF00004111&K01+000 1111",
                &[" Jane Roe", "4111 1111"],
            ),
            ("&lPage &P of &N", &["Page ", " of "]),
            ("R&&D&B ltd", &["R&D ltd"]),
            ("&124111111111111111", &["4111111111111111"]),
            ("a & b, 5 &", &["a & b, 5 &"]),
            ("&R&D&Gx_x0040_y", &["x@y"]),
            ("&\"Arial", &["Arial"]),
            ("&KFFx &é", &["FFx &é"]),
            ("snake_case_x", &["snake_case_x"]),
            ("&L&C&R", &[]),
            ("", &[]),
        ] {
            let found = sections(text);
            let found: Vec<&str> =
                found.iter().map(SpelledText::text).filter(|text| !text.is_empty()).collect();
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn headers_and_footers_are_known() {
        for name in ["oddHeader", "evenFooter", "firstHeader"] {
            assert!(is_one(name), "{name}");
        }
        for name in ["Header", "oddheader", "headerFooter", "odd"] {
            assert!(!is_one(name), "{name}");
        }
        assert_eq!(spelled("R&D_x0041_"), "R&&D_x005F_x0041_");
    }
}
