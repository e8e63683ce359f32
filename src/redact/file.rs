//! [`FileClass`]: what a file is by how it begins, as far as redaction cares: text is read, images and sound have none,
//! and everything else needs somebody who knows its format.

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClass {
    /// Text, of whatever kind.
    Text,
    /// An image, sound or a film: what is in it is not spelled in letters.
    Media,
    /// A document, an archive, a program, or nobody knows: text may be in it that is not read.
    Other,
}

use FileClass::{Media, Other};

/// What files begin with: at which byte, how, and what they are then.
const MAGIC: &[(usize, &[u8], FileClass)] = &[
    (0, b"\xff\xd8\xff", Media),
    (0, b"\x89PNG\r\n\x1a\n", Media),
    (0, b"GIF87a", Media),
    (0, b"GIF89a", Media),
    (0, b"%PDF-1.", Other),
    (0, b"%PDF-2.", Other),
    (0, b"{\\rtf1", Other),
    (8, b"WEBP", Media),
    (8, b"WAVE", Media),
    (8, b"AVI ", Media),
    (8, b"AIFF", Media),
    (0, b"PK\x03\x04", Other),
    (0, b"PK\x05\x06", Other),
    (0, b"\x1f\x8b\x08", Other),
    (0, b"\x28\xb5\x2f\xfd", Other),
    (0, b"\xfd7zXZ\0", Other),
    (0, b"7z\xbc\xaf\x27\x1c", Other),
    (0, b"Rar!\x1a\x07", Other),
    (0, b"OggS\0", Media),
    (0, b"fLaC\0", Media),
    (0, b"ID3\x02\0", Media),
    (0, b"ID3\x03\0", Media),
    (0, b"ID3\x04\0", Media),
    (4, b"ftyp", Media),
    (0, b"\x1a\x45\xdf\xa3", Media),
    (0, b"II*\0", Media),
    (0, b"MM\0*", Media),
    (6, b"\0\0\0\0", Media),
    (0, b"wOFF", Other),
    (0, b"wOF2", Other),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Other),
    (0, b"\0asm\x01\0\0\0", Other),
    (0, b"\x7fELF", Other),
    (0, b"SQLite format 3\0", Other),
    (0, b"\0\0\0\x0cjP  ", Media),
    (0, b"\0\0\0\x0cJXL ", Media),
    (0, b"\x93NUMPY", Other),
];

/// What bytes are that begin as files of a known kind do, and not as text may. Where the magic stands behind other bytes,
/// those must fit.
pub(super) fn magic(bytes: &[u8]) -> Option<FileClass> {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    let fits = |at: usize, magic: &[u8]| match (at, magic) {
        (0, _) => true,
        (8, b"AIFF") => begins(b"FORM"),
        (8, _) => begins(b"RIFF"),
        (4, _) => begins(b"\0\0"),
        // BMP: the reserved words behind the size.
        _ => begins(b"BM"),
    };
    let known = MAGIC.iter().find(|(at, magic, _)| {
        bytes.get(*at..).is_some_and(|rest| rest.starts_with(magic)) && fits(*at, magic)
    });
    let class = known.map(|(.., class)| *class)?;
    // Letters that a text may begin with, too; what follows them in an image, or in sound, are numbers.
    let head = bytes.get(..MEDIA_HEAD).unwrap_or(bytes);
    (class != Media || !is_text(head)).then_some(class)
}

/// In so many bytes every format of images and sound has some that no text has.
const MEDIA_HEAD: usize = 32;

/// How far into a file a PDF may begin, in bytes (ISO 32000-1, annex H.3, note 13).
const JUNK: usize = 1024;

/// How many bytes are looked at for what no text has.
const SEEN: usize = 64 << 10;

impl FileClass {
    /// What a file is, which is said to be of `media_type` and has this name (either may be empty). How it begins counts
    /// for more than what it is called.
    pub fn of(bytes: &[u8], media_type: &str, name: &str) -> Self {
        let declared = media_type.to_ascii_lowercase();
        let media_type = declared.split(';').next().unwrap_or_default().trim();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
        if let Some(class) = magic(bytes) {
            return class;
        }
        let head = bytes.get(..JUNK).unwrap_or(bytes);
        let pdf = memchr::memmem::find(head, b"%PDF-").is_some()
            && memchr::memmem::find(bytes, b"endobj").is_some();
        // Text whose words lie in encodings of its own.
        let encoded =
            media_type == "message/rfc822" || ["eml", "mht", "mhtml", "rtf"].contains(&ending.as_str());
        if pdf || encoded || is_mail(head) {
            return Other;
        }
        if is_text(bytes) {
            return if names_foreign_charset(&declared) { Other } else { Self::Text };
        }
        let (kind, _) = media_type.split_once('/').unwrap_or_default();
        let media = ["image", "audio", "video"].contains(&kind);
        // Text in UTF-16, whatever it is called.
        let wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
        let sound = SOUND.contains(&ending.as_str()) && is_sound(bytes);
        if (media || sound) && !wide { Media } else { Other }
    }
}

/// How the names of files end that may begin without a magic.
const SOUND: &[&str] = &["mp3", "mp2", "mpga", "aac"];

/// Charsets whose bytes are ASCII and whose letters are others (RFC 2152, RFC 1468, RFC 1843): `+AEA-` is `@`.
const FOREIGN: [&str; 4] = ["utf-7", "utf7", "iso-2022", "hz-gb-2312"];

/// Whether a media type in small letters names a charset in which text is not what it looks like.
fn names_foreign_charset(media_type: &str) -> bool {
    let named = media_type.split(';').filter_map(|parameter| parameter.split_once('='));
    let mut charsets = named.filter(|(name, _)| name.trim() == "charset");
    charsets.any(|(_, charset)| {
        let charset = charset.trim().trim_matches(['"', '\'']);
        FOREIGN.iter().any(|foreign| charset.contains(foreign))
    })
}

/// Whether a head begins as a mail whose words may be in an encoding (RFC 2045), or as a part of one, a mailbox (RFC 4155)
/// or a message of HTTP.
fn is_mail(head: &[u8]) -> bool {
    let head = head.to_ascii_lowercase();
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let around = |line: &[u8]| {
        line.starts_with(b"from ")
            || line.starts_with(b"--") && line.len() > 2
            || line.starts_with(b"http/1.")
            || line.ends_with(b" http/1.1")
            || line.ends_with(b" http/1.0")
    };
    let mut first = lines.next().unwrap_or_default();
    if around(first) {
        first = lines.next().unwrap_or_default();
    }
    let field = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        name.len() < line.len()
            && !name.is_empty()
            && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
    };
    field(first)
        && std::iter::once(first)
            .chain(lines)
            .take_while(|line| !line.is_empty())
            .any(|line| line.starts_with(b"mime-version:") || line.starts_with(b"content-transfer-encoding:"))
}

/// Frames of MPEG audio (ISO/IEC 11172-3, section 2.4.1.3) and of AAC (ISO/IEC 13818-7), which begin without a magic.
fn is_sound(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, second, third, ..] if second & 0xe0 == 0xe0 && third >> 4 != 0xf)
}

/// Whether bytes are text that can be read as it is: without zeros, and nearly all of it UTF-8 without control characters.
fn is_text(bytes: &[u8]) -> bool {
    if memchr::memchr(0, bytes).is_some() || bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
    {
        return false;
    }
    let seen = bytes.get(..SEEN).unwrap_or(bytes);
    let mut strange = 0;
    for chunk in seen.utf8_chunks() {
        let control = |c: &char| {
            c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{1b}' | '\u{85}')
        };
        strange += chunk.invalid().len() + chunk.valid().chars().filter(control).count();
    }
    // Letters of an older charset are a few of many.
    strange * 8 <= seen.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use FileClass::Text;

    #[test]
    fn bytes_count_for_more_than_names() {
        let rows: &[(&[u8], &str, &str, FileClass)] = &[
            (b"", "", "", Text),
            (b"a word", "image/png", "a.png", Text),
            (b"Gr\xfc\xdfe aus M\xfcnchen an alle", "text/plain", "a.txt", Text),
            ("schöne Grüße".as_bytes(), "", "", Text),
            (b"\x89PNG\r\n\x1a\n jane", "text/plain", "a.txt", Media),
            (b"RIFF\x24\x08\0\0WAVEfmt ", "", "", Media),
            (b"\xff\xfb\x90\x64\0\0", "", "a.mp3", Media),
            (b"\xff\xfb\x90\x64\0\0", "audio/mpeg", "", Media),
            (b"\xff\xfb\x90\x64\0\0", "", "", Other),
            (b"\xff\xfea\0b\0", "audio/mpeg", "a.mp3", Other),
            (b"\x01\x80\0\x7f\0", "audio/pcm", "", Media),
            (b"\x01\x80\0\x7f\0", "audio/pcm; rate=24000", "", Media),
            (b"\x01\x80\0\x7f\0", "", "a.bin", Other),
            (b"\x80\x81\x82\x83\x84\x85\x86\x87", "", "", Other),
            (b"%PDF-1.7\n", "text/plain", "a.txt", Other),
            (b"junk\n%PDF-1.7\n1 0 obj endobj", "", "", Other),
            (b"a file begins with %PDF-1.7", "", "", Text),
            (b"PK\x03\x04", "text/plain", "", Other),
            (b"{\\rtf1 a", "", "", Other),
            (b"From: a@b.org\r\nMIME-Version: 1.0\r\n\r\n=61", "", "a.txt", Other),
            (b"From: a@b.org\n\nMIME-Version: 1.0", "", "", Text),
            (b"a", "message/rfc822", "", Other),
            (b"From jane Sat Jan  3 01:05:34 1996\nMIME-Version: 1.0\n\n=61", "", "", Other),
            (b"--in\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==", "", "", Other),
            (b"POST /a HTTP/1.1\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==", "", "", Other),
            (b"Content-Transfer-Encoding: base64\n\nYQ==", "", "", Other),
            (b"--- a/file\n+++ b/file\n", "", "", Text),
            (b"From here on: MIME-Version: 1.0 is spoken", "", "", Text),
            (b"a +AEA- b", "text/plain; charset=UTF-7", "", Other),
            (b"a +AEA- b", "text/plain; Charset = \"utf-7\"", "", Other),
            (b"a", "text/plain; charset=iso-2022-jp", "", Other),
            (b"a", "text/plain; charset=iso-8859-1", "", Text),
            (b"GIF89a of Jane", "image/gif", "a.gif", Text),
            (b"RIFF of the WAVE, says Jane", "audio/wav", "", Text),
            (b"GIF89a\x01\0\x01\0\x80\0\0", "", "", Media),
            (b"a", "", "A.EML", Other),
            (b"\xff\xfea\0b\0", "text/plain", "", Other),
            (b"\x1f\x8b\x08\0", "application/json", "", Other),
        ];
        for (bytes, media_type, name, want) in rows {
            assert_eq!(
                FileClass::of(bytes, media_type, name),
                *want,
                "{} {media_type} {name}",
                bytes.escape_ascii()
            );
        }
    }

    #[test]
    fn files_are_known_by_their_magic_and_texts_are_none() {
        for (at, start, class) in MAGIC {
            let before: &[u8] = match (*at, *start) {
                (8, b"AIFF") => b"FORM\0\0\0\0",
                (8, _) => b"RIFF\0\0\0\0",
                (4, _) => b"\0\0\0\x18",
                (6, _) => b"BM\0\0\0\0",
                _ => b"",
            };
            assert_eq!(before.len(), *at);
            let file = [before, start, &[0xC5; 40]].concat();
            assert_eq!(magic(&file), Some(*class), "{}", start.escape_ascii());
        }
        for text in [
            "BMW of Jane",
            "ID3 tags",
            "RIFF and raff",
            "PK is a name",
            "1234ftyp",
            "GIF is a format",
            "%PDF",
        ] {
            assert_eq!(magic(text.as_bytes()), None, "{text}");
        }
    }
}
