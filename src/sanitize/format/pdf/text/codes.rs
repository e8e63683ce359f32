//! [`Codes`]: how a composite font's strings part into codes (ISO 32000-2, 9.7.5.2).

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GBK, SHIFT_JIS};

use crate::sanitize::format::pdf::text::cmap::Cmap;

/// How strings part into codes, and which character a code is.
#[derive(Debug)]
pub(super) enum Codes {
    /// One byte is a code.
    Bytes,
    /// Two bytes are a code, which is the character.
    Pairs,
    /// UTF-16, the text itself; characters are not known.
    Utf16,
    /// An encoding of East Asia, one or two bytes; characters are not known.
    Legacy(&'static Encoding),
    /// Two bytes of JIS X 0208.
    Jis,
    /// A map in the file.
    Map(Cmap),
}

/// What names of predefined maps begin with, and the encoding they are for.
const LEGACY: &[(&str, &Encoding)] = &[
    ("GB", GBK),
    ("B5", BIG5),
    ("ETen", BIG5),
    ("ETHK", BIG5),
    ("HKscs", BIG5),
    ("90", SHIFT_JIS),
    ("83pv", SHIFT_JIS),
    ("Ext-RKSJ", SHIFT_JIS),
    ("Add-RKSJ", SHIFT_JIS),
    ("EUC", EUC_JP),
    ("KSC", EUC_KR),
];

impl Codes {
    /// Those of a predefined map.
    pub(super) fn named(name: &[u8]) -> Self {
        let name = String::from_utf8_lossy(name);
        if name == "H" || name == "V" {
            return Self::Jis;
        }
        if name.contains("UCS2") || name.contains("UTF16") {
            return Self::Utf16;
        }
        let legacy = LEGACY.iter().find(|(start, _)| name.starts_with(start));
        legacy.map_or(Self::Pairs, |(_, encoding)| Self::Legacy(encoding))
    }

    /// How many bytes the next code takes.
    pub(super) fn length(&self, rest: &[u8]) -> usize {
        let first = rest.first().copied().unwrap_or(0);
        match self {
            Self::Bytes => 1,
            Self::Pairs | Self::Jis => 2,
            Self::Utf16 if (0xd8..0xdc).contains(&first) => 4,
            Self::Utf16 => 2,
            Self::Legacy(encoding) if *encoding == SHIFT_JIS && (0xa0..0xe0).contains(&first) => 1,
            Self::Legacy(_) if first <= 0x80 => 1,
            Self::Legacy(_) => 2,
            Self::Map(map) => map.length(rest),
        }
    }

    /// The character of a code, by which widths are given. Those that are not known take the default width.
    pub(super) fn character(&self, code: u32) -> u32 {
        match self {
            Self::Bytes | Self::Pairs => code,
            Self::Utf16 | Self::Legacy(_) | Self::Jis => u32::MAX,
            Self::Map(map) => map.cid(code),
        }
    }

    /// How a code reads by itself.
    pub(super) fn text(&self, bytes: &[u8]) -> Option<String> {
        let decoded = |encoding: &'static Encoding, bytes: &[u8]| {
            let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
            Some(text.into_owned())
        };
        match self {
            Self::Utf16 => decoded(encoding_rs::UTF_16BE, bytes),
            Self::Legacy(encoding) => decoded(encoding, bytes),
            Self::Jis => decoded(EUC_JP, &bytes.iter().map(|byte| byte | 0x80).collect::<Vec<_>>()),
            Self::Bytes | Self::Pairs | Self::Map(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_maps_read_by_their_encodings() {
        let read = |name: &str, bytes: &[u8]| {
            let codes = Codes::named(name.as_bytes());
            let length = codes.length(bytes);
            (length, bytes.get(..length).and_then(|code| codes.text(code)))
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(read("90ms-RKSJ-H", b"\x82\xa0x"), (2, text("あ")));
        assert_eq!(read("GBK-EUC-H", b"\xc4\xe3"), (2, text("你")));
        assert_eq!(read("UniJIS-UTF16-H", b"\xd8\x3d\xde\x00"), (4, text("\u{1f600}")));
        assert_eq!(read("KSCms-UHC-V", b"ab"), (1, text("a")));
        assert_eq!(read("H", b"\x24\x22"), (2, text("あ")));
        assert_eq!(read("Identity-H", b"\0\x41"), (2, None));
    }
}
