//! Text of no other kind, Markdown among it: its links and what is redacted. It is written back in its own encoding.

use crate::sanitize::format::charset::{self, Decoded};
use crate::sanitize::format::patch::{Patches, SpelledText};
use crate::sanitize::{Rejection, ScriptPolicy, Work};

/// The largest piece of a text that is looked at by itself, in bytes.
const PIECE: usize = 8 << 20;

/// Cleans a text.
///
/// # Errors
/// The host's.
pub(super) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let decoded = charset::of_text(file);
    let pieces = pieces(&decoded.text);
    let texts: Vec<&str> = pieces.iter().map(|(_, piece)| *piece).collect();
    let mut patches = Patches::default();
    for ((at, piece), edits) in pieces.iter().zip(work.edits(&texts)?) {
        let mut text = SpelledText::default();
        text.plain(*at, piece);
        for edit in edits {
            work.applied(&edit);
            patches.edit(&text, &edit, str::to_owned);
        }
    }
    Ok(written(file, &decoded, patches))
}

/// Cleans a script, where scripts are released.
///
/// # Errors
/// [`Rejection::Script`] where they are not; the host's.
pub(super) fn clean_script(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    match work.options().policy.scripts {
        ScriptPolicy::Refuse => Err(Rejection::Script),
        ScriptPolicy::Text | ScriptPolicy::Pass => clean(file, work),
    }
}

/// A text in pieces of whole lines, so that no question is larger than it may be.
fn pieces(text: &str) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let most = rest.get(..rest.floor_char_boundary(PIECE)).unwrap_or(rest);
        let lines =
            if most.len() < rest.len() { most.rfind('\n').map(|end| end.saturating_add(1)) } else { None };
        let piece = rest.get(..lines.unwrap_or(most.len())).unwrap_or(rest);
        pieces.push((at, piece));
        at = at.saturating_add(piece.len());
    }
    pieces
}

/// The file with its changes made: byte for byte what it was if there are none, else in its encoding if that can spell
/// it, else in UTF-8 with a byte order mark.
pub(super) fn written(file: &[u8], decoded: &Decoded<'_>, patches: Patches) -> Vec<u8> {
    if patches.is_empty() {
        return file.to_vec();
    }
    let text = patches.apply(decoded.text.as_bytes());
    encoded(decoded, &String::from_utf8_lossy(&text))
}

/// A text in a file's encoding, if that can spell it, else in UTF-8 with a byte order mark.
pub(super) fn encoded(like: &Decoded<'_>, text: &str) -> Vec<u8> {
    charset::encoded(text, like.encoding, like.bom)
        .unwrap_or_else(|| [charset::BOM, text.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use crate::sanitize::FileKind;
    use crate::sanitize::bench::Bench;

    #[test]
    fn a_text_keeps_all_but_what_is_edited() {
        let mut bench = Bench::redacting("Jané");
        let text = "# Title\r\n\r\nJané, see [this](https://example.com/a_(b)) or <http://a.example>,\tversion 2.0.17\r\n";
        let want = "# Title\r\n\r\n<N>, see [this](hxxps://example[.]com/a_(b)) or <hxxp://a[.]example>,\tversion 2.0.17\r\n";
        assert_eq!(bench.text(FileKind::Text, text), want);
        for text in ["", "nothing here 1001, a@example.com\n", "é"] {
            assert_eq!(bench.text(FileKind::Text, text), text);
        }
    }

    #[test]
    fn a_large_text_is_looked_at_in_pieces_of_lines() {
        let mut bench = Bench::redacting("Jané");
        let text = "a line of some length\n".repeat(400_000) + "Jané\n" + &"x".repeat(9 << 20);
        let (clean, stats) = bench.clean(FileKind::Text, text.as_bytes()).expect("a clean file");
        assert!(clean == text.replace("Jané", "<N>").into_bytes() && stats.redacted.len() == 1);
        assert_eq!(super::pieces(&text).iter().map(|(_, piece)| *piece).collect::<String>(), text);
    }

    #[test]
    fn a_text_keeps_its_encoding() {
        let mut bench = Bench::redacting("Jané");
        let mut clean = |file: &[u8]| bench.clean(FileKind::Text, file).expect("a clean file").0;
        assert_eq!(clean(b"Jan\xe9 \x80\x81 b\xe9"), b"<N> \x80\x81 b\xe9");
        let utf16 = |text: &str| -> Vec<u8> {
            [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect()
        };
        assert_eq!(clean(&utf16("a Jané b")), utf16("a <N> b"));
        assert_eq!(clean("\u{feff}Jané".as_bytes()), "\u{feff}<N>".as_bytes());
        // Half of a surrogate pair cannot be read, and stays where nothing changes.
        let odd = b"\xff\xfea\0\x00\xd8b\0";
        assert_eq!(clean(odd), odd);
    }
}
