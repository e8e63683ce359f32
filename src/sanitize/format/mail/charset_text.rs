//! [`CharsetText`]: the text of a part by what the part says of its characters (`charset`).

use std::borrow::Cow;

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::sanitize::format::charset::{self, BOM};
use crate::sanitize::format::mail::media::Media;
use crate::sanitize::format::mail::utf7;
use crate::sanitize::{FileKind, Work};

/// Kinds of files that no label says anything about: they have no characters, or say themselves which they have.
const OWN: &[FileKind] = &[
    FileKind::Pdf,
    FileKind::Ooxml,
    FileKind::Odf,
    FileKind::Ole2,
    FileKind::Rtf,
    FileKind::Mail,
    FileKind::Mailbox,
    FileKind::Image,
    FileKind::Zip,
    FileKind::Tar,
    FileKind::Gzip,
];

/// How an XML document begins that has a declaration.
const DECLARED: &str = "<?xml";

/// The declaration of one in UTF-8.
const IN_UTF8: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// A text as it was read.
#[derive(Debug)]
pub(super) struct CharsetText {
    /// Without a byte order mark.
    pub(super) text: String,
    /// What it was read as.
    encoding: &'static Encoding,
    /// Whether it had a byte order mark.
    marked: bool,
    /// Whether every reader reads the same.
    pub(super) sure: bool,
}

impl CharsetText {
    /// Reads a text that is shown: by its byte order mark, by its label, as UTF-8 if it is that, else as Windows-1252.
    pub(super) fn read(bytes: &[u8], label: Option<&str>) -> Self {
        let known = label.map(encoding);
        if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
            let (text, _) = encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default());
            let sure = known.map_or(encoding == UTF_8, |known| known == Some(encoding));
            return Self { text: text.into_owned(), encoding, marked: true, sure };
        }
        let utf8 = std::str::from_utf8(bytes).is_ok();
        let guessed = if utf8 { UTF_8 } else { WINDOWS_1252 };
        let (encoding, sure) = match known {
            None => (guessed, true),
            // Nobody else may know what an unknown name stands for.
            Some(None) => (guessed, false),
            // Which byte of two comes first is not said, or not well.
            Some(Some(encoding)) if is_wide(encoding) => {
                let own = Some(charset::of_text(bytes).encoding).filter(|own| is_wide(own));
                let said = label.is_some_and(|label| label.trim().eq_ignore_ascii_case(encoding.name()));
                (own.unwrap_or(encoding), said && own.is_none_or(|own| own == encoding))
            }
            Some(Some(encoding)) => (encoding, true),
        };
        let text = match label {
            Some(label) if utf7::is_label(label) => Cow::Owned(utf7::decoded(bytes)),
            _ => encoding.decode_without_bom_handling(bytes).0,
        };
        Self { text: text.into_owned(), encoding, marked: false, sure }
    }

    /// Reads a file that came as a text, by its label; `None` where it has none, or is read better by what is in it: programs
    /// write the labels of ASCII, Latin-1 and UTF-8 without looking.
    pub(super) fn of_file(name: &str, bytes: &[u8], media: &Media, work: &Work<'_>) -> Option<Self> {
        let label = label(media)?;
        let kind = work.identify(name, bytes);
        let page = matches!(kind, FileKind::Html | FileKind::Svg | FileKind::Xml);
        let usual = match encoding(label) {
            Some(encoding) if encoding == UTF_8 => !page || std::str::from_utf8(bytes).is_err(),
            known => known == Some(WINDOWS_1252),
        };
        if usual || OWN.contains(&kind) {
            return None;
        }
        let read = Self::read(bytes, Some(label)).declared();
        // What is none by its bytes becomes none by its label.
        let odd = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}');
        let data = kind == FileKind::Unknown && read.text.contains(odd);
        (!data).then_some(read)
    }

    /// A document in XML says that it is in UTF-8, since it is written in that.
    fn declared(self) -> Self {
        let head =
            self.text.strip_prefix(DECLARED).and_then(|rest| rest.split_once("?>")).map(|(head, _)| head);
        let said = head.and_then(|head| {
            let said = head.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
            said.get(1..)?.split(['"', '\'']).next()
        });
        let (Some(head), Some(said)) = (head, said) else { return self };
        let said = encoding(said);
        if said == Some(UTF_8) {
            return Self { sure: self.sure && self.encoding == UTF_8, ..self };
        }
        let behind = self.text.get(DECLARED.len().saturating_add(head.len()).saturating_add("?>".len())..);
        let text = format!("{IN_UTF8}{}", behind.unwrap_or_default());
        Self { text, sure: self.sure && said == Some(self.encoding), ..self }
    }

    /// The text in UTF-8, with a byte order mark, so that nobody takes it for anything else.
    pub(super) fn in_utf8(&self) -> Vec<u8> {
        [BOM, self.text.as_bytes()].concat()
    }

    /// A file as it is written in place of this one: with a byte order mark, where it had one, or programs would take it for
    /// what it was.
    pub(super) fn file(&self, clean: &[u8]) -> Vec<u8> {
        let text = clean.strip_prefix(BOM).unwrap_or(clean);
        let marked = self.marked || self.encoding != UTF_8 && !text.is_ascii();
        if marked { [BOM, text].concat() } else { text.to_vec() }
    }

    /// Whether what it becomes can stand where its own bytes stood, as they did: `None` where it cannot, and else whether its
    /// label has to say what it is in.
    pub(super) fn as_it_stood(&self, bytes: &[u8], clean: &str, media: &Media) -> Option<bool> {
        let same = self.sure
            && !self.marked
            && std::str::from_utf8(bytes).is_ok()
            && (self.encoding == UTF_8 || bytes.is_ascii() && self.encoding.is_ascii_compatible());
        let labelled = clean.is_ascii() || self.encoding == UTF_8 && media.get("charset").is_some();
        same.then_some(!labelled)
    }
}

/// Whether a file that came as a text has a label that has to be another one: nobody else may know what it stands for, or the
/// file is in UTF-8 now.
pub(super) fn is_mislabelled(media: &Media, before: &[u8], clean: &[u8]) -> bool {
    let Some(label) = label(media) else { return false };
    let known = encoding(label);
    let became = clean != before && !clean.is_ascii() && std::str::from_utf8(clean).is_ok();
    known.is_none() || became && known != Some(UTF_8)
}

/// What a text says of its characters; nothing for what is no text.
fn label(media: &Media) -> Option<&str> {
    let kind = media.value.as_str();
    let text = kind.starts_with("text/") || kind.ends_with("/xml") || kind.ends_with("+xml");
    media.get("charset").filter(|_| text)
}

/// The encoding of this label; `None` where readers of today know none.
fn encoding(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.trim().as_bytes()).filter(|encoding| *encoding != REPLACEMENT)
}

fn is_wide(encoding: &Encoding) -> bool {
    [UTF_16LE, UTF_16BE].contains(&encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_by_marks_and_labels() {
        let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
        for (bytes, label, want, sure) in [
            (&b"a\xc3\xa9"[..], None, "aé", true),
            (b"a\xe9", None, "aé", true),
            (b"a\xc1", Some("koi8-r"), "aа", true),
            (b"\xef\xbb\xbfa", Some("koi8-r"), "a", false),
            (b"\xef\xbb\xbfa", Some("utf-8"), "a", true),
            (&wide("ab"), Some("utf-16be"), "ab", true),
            (&wide("ab"), Some("utf-16le"), "ab", false),
            (&wide("ab"), Some("utf-16"), "ab", false),
            (&wide("\u{feff}ab"), Some("utf-16"), "ab", false),
            (&wide("\u{feff}ab"), None, "ab", false),
            (b"+ADw-", Some("UTF-7"), "<", false),
            (b"+ADw-", Some("x"), "+ADw-", false),
            (b"+ADw-", Some("us-ascii"), "+ADw-", true),
        ] {
            let read = CharsetText::read(bytes, label);
            assert_eq!((read.text.as_str(), read.sure), (want, sure), "{bytes:?} {label:?}");
        }
    }

    #[test]
    fn a_document_says_what_it_is_written_in() {
        let read = |text: &str, label: &str| CharsetText::read(text.as_bytes(), Some(label)).declared();
        let document = "<?xml version=\"1.0\" encoding='koi8-r'?><a/>";
        let (same, other) = (read(document, "koi8-r"), read(document, "utf-8"));
        assert_eq!(same.text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a/>");
        assert!(same.sure && other.text == same.text && !other.sure);
        for plain in ["<?xml version=\"1.0\"?><a/>", "<?xml version='1.0' encoding='utf-8'?><a/>", "<a/>"] {
            let read = read(plain, "utf-8");
            assert!(read.sure && read.text == plain, "{plain}");
        }
    }
}
