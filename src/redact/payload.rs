//! Text in an encoding within a string, and the way out again: base64 ([`Base64`], [`Payload`]) and the percent-encoding
//! of URLs ([`Percent`]).

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, Encoding};

use crate::edit::{Edit, SourceMap, spliced};

/// A run of so much text in bytes is read, and bytes of which this part, at least so many, are text.
const RUN: usize = 32;
const SHARE: (usize, usize) = (3, 4);
const SHARED: usize = 48;

/// The shortest text between other bytes that is looked through, in bytes.
const PIECE: usize = 6;

/// A run of so many digits is no chance in base64.
const NUMBER: usize = 12;

/// What a character of base64 is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    /// `+` and `/`.
    Standard,
    /// `-` and `_`.
    Url,
    Other,
}

impl Class {
    const fn of(byte: u8) -> Self {
        match byte {
            b'A'..=b'Z' => Self::Upper,
            b'a'..=b'z' => Self::Lower,
            b'0'..=b'9' => Self::Digit,
            b'+' | b'/' => Self::Standard,
            b'-' | b'_' => Self::Url,
            _ => Self::Other,
        }
    }
}

/// Whether a byte may stand in base64, line breaks and padding included.
pub(super) fn in_base64(byte: u8) -> bool {
    Class::of(byte) != Class::Other || matches!(byte, b'=' | b'\n' | b'\r')
}

/// How base64 is written.
#[derive(Clone, Copy)]
struct Base64Spelling {
    /// With the alphabet for URLs and file names.
    url: bool,
    padded: bool,
    /// After how many characters lines break, and how.
    lines: Option<(usize, &'static str)>,
}

impl Base64Spelling {
    fn encode(self, bytes: &[u8]) -> String {
        let alphabet = if self.url { BASE64URL_NOPAD } else { BASE64_NOPAD };
        let mut text = alphabet.encode(bytes);
        while self.padded && !text.len().is_multiple_of(4) {
            text.push('=');
        }
        let Some((width, end)) = self.lines else { return text };
        let lines: Vec<&[u8]> = text.as_bytes().chunks(width.max(1)).collect();
        String::from_utf8_lossy(&lines.join(end.as_bytes())).into_owned()
    }
}

/// A text all of which is base64, of either alphabet (RFC 4648).
pub(super) struct Base64<'t> {
    /// Without padding and line breaks.
    digits: Cow<'t, [u8]>,
    spelling: Base64Spelling,
    upper: usize,
    lower: usize,
    /// Those that are neither letters nor digits.
    symbols: usize,
    /// How often a character is of another class than the one before.
    turns: usize,
    /// The longest run of digits.
    number: usize,
}

impl<'t> Base64<'t> {
    /// The text as base64, in lines of equal length if it has more than one; `None` if it is not.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        let bytes = text.as_bytes();
        let Some(first) = memchr::memchr2(b'\r', b'\n', bytes) else { return Self::surveyed(bytes.into()) };
        let end = if bytes.get(first..)?.starts_with(b"\r\n") { "\r\n" } else { "\n" };
        let mut digits = Vec::with_capacity(bytes.len());
        let mut lines = text.split(end).peekable();
        while let Some(line) = lines.next() {
            let fits = if lines.peek().is_some() { line.len() == first } else { line.len() <= first };
            if !fits {
                return None;
            }
            digits.extend_from_slice(line.as_bytes());
        }
        let mut base64 = Self::surveyed(digits.into())?;
        base64.spelling.lines = Some((first, end));
        Some(base64)
    }

    /// The payload of a URL, where white space counts for nothing and characters may be percent-encoded.
    pub(super) fn in_url(text: &'t str) -> Option<Self> {
        let plain = text.bytes().all(|byte| byte != b'%' && !byte.is_ascii_whitespace());
        if plain {
            return Self::surveyed(text.as_bytes().into());
        }
        let mut digits = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((byte, length)) = unescaped(rest) {
            if !byte.is_ascii_whitespace() {
                digits.push(byte);
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        Self::surveyed(digits.into())
    }

    /// A file's: in lines, or the payload of a URL.
    pub(super) fn of_file(text: &'t str) -> Option<Self> {
        Self::of(text.trim_ascii()).or_else(|| Self::in_url(text))
    }

    /// Bytes, in the way that this is written.
    pub(super) fn encode(&self, bytes: &[u8]) -> String {
        self.spelling.encode(bytes)
    }

    fn surveyed(mut digits: Cow<'t, [u8]>) -> Option<Self> {
        let padding = digits.iter().rev().take_while(|byte| **byte == b'=').count();
        let length = digits.len() - padding;
        if padding > 2 || length % 4 == 1 {
            return None;
        }
        match &mut digits {
            Cow::Borrowed(bytes) => *bytes = bytes.get(..length)?,
            Cow::Owned(bytes) => bytes.truncate(length),
        }
        let (mut counts, mut turns, mut run, mut number) = ([0_usize; 5], 0, 0, 0);
        let mut before = Class::Other;
        for byte in digits.iter() {
            let class = Class::of(*byte);
            *counts.get_mut(class as usize)? += 1;
            turns += usize::from(class != before);
            run = if class == Class::Digit { run + 1 } else { 0 };
            number = number.max(run);
            before = class;
        }
        let [upper, lower, _, standard, for_urls] = counts;
        let url = for_urls > 0;
        // What needs no padding does not say whether it would have some.
        let padded = padding > 0 || !url && length.is_multiple_of(4);
        let spelling = Base64Spelling { url, padded, lines: None };
        let symbols = standard + for_urls;
        (standard == 0 || !url).then_some(Self { digits, spelling, upper, lower, symbols, turns, number })
    }

    /// Whether it is in lines.
    pub(super) fn is_wrapped(&self) -> bool {
        self.spelling.lines.is_some()
    }

    /// Whether its characters come as if drawn at random, where nearly two thirds are of another class than the one
    /// before, one in 32 is a symbol, and no long number stands: names joined with `/`, `-` or `_` are of the same
    /// alphabet.
    pub(super) fn is_random(&self) -> bool {
        let length = self.digits.len();
        let mixed = self.turns * 100 >= length * 45 && self.symbols * 8 <= length;
        mixed && self.upper * 5 >= length && self.lower * 5 >= length && self.number < NUMBER
    }

    /// The first bytes that it stands for.
    pub(super) fn beginning(&self) -> Vec<u8> {
        let digits = self.digits.get(..64.min(self.digits.len() / 4 * 4)).unwrap_or_default();
        decoder(self.spelling.url).decode(digits).unwrap_or_default()
    }

    /// All bytes that it stands for.
    pub(super) fn decode(&self) -> Option<Vec<u8>> {
        decoder(self.spelling.url).decode(&self.digits).ok()
    }

    /// Whether it may be bytes of which many are alike, as of sound: words have more small letters.
    pub(super) fn is_dense(&self) -> bool {
        self.lower * 5 <= self.digits.len() * 3 && self.number < NUMBER
    }
}

/// Decodes what others decode too: bits behind the last byte are not looked at.
fn decoder(url: bool) -> &'static Encoding {
    static LENIENT: LazyLock<[Encoding; 2]> = LazyLock::new(|| {
        [BASE64_NOPAD, BASE64URL_NOPAD].map(|strict| {
            let mut specification = strict.specification();
            specification.check_trailing_bits = false;
            specification.encoding().unwrap_or(strict)
        })
    });
    let [standard, for_url] = &*LENIENT;
    if url { for_url } else { standard }
}

/// How text is written in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Charset {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Charset {
    /// What the text in bytes is written in, if they are text or have some.
    fn of(bytes: &[u8]) -> Option<Self> {
        for utf16 in [Self::Utf16Le, Self::Utf16Be] {
            if utf16.fits(bytes) {
                return Some(utf16);
            }
        }
        let (mut run, mut longest, mut all) = (0, 0, 0);
        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                if is_text(c) {
                    run += c.len_utf8();
                    all += c.len_utf8();
                    longest = longest.max(run);
                } else {
                    run = 0;
                }
            }
            if !chunk.invalid().is_empty() {
                run = 0;
            }
        }
        let shared = bytes.len() >= SHARED && all * SHARE.1 >= bytes.len() * SHARE.0;
        let whole = all == bytes.len() && all > 0;
        (whole || longest >= RUN || shared).then_some(Self::Utf8)
    }

    /// Whether bytes are text in this UTF-16: they say so, or every other byte of most is zero.
    fn fits(self, bytes: &[u8]) -> bool {
        let pairs = bytes.len() / 2;
        if !bytes.len().is_multiple_of(2) || pairs < 4 {
            return false;
        }
        let (mark, zero) = if self == Self::Utf16Le { ([0xff, 0xfe], 1) } else { ([0xfe, 0xff], 0) };
        let zeros = bytes.iter().skip(zero).step_by(2).filter(|byte| **byte == 0).count();
        let says = bytes.starts_with(&mark) || zeros * SHARE.1 >= pairs * SHARE.0;
        says && self.decode(bytes).is_some_and(|text| text.chars().all(|c| is_text(c) || c == '\u{feff}'))
    }

    fn decode(self, bytes: &[u8]) -> Option<String> {
        let unit = |pair: &[u8]| {
            let pair = [*pair.first()?, *pair.get(1)?];
            Some(if self == Self::Utf16Le { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) })
        };
        char::decode_utf16(bytes.chunks(2).filter_map(unit)).collect::<Result<_, _>>().ok()
    }

    fn encode(self, text: &str, out: &mut Vec<u8>) {
        for unit in text.encode_utf16() {
            out.extend(if self == Self::Utf16Le { unit.to_le_bytes() } else { unit.to_be_bytes() });
        }
    }
}

/// Whether people write it.
fn is_text(c: char) -> bool {
    !c.is_control() || matches!(c, '\t' | '\n' | '\r')
}

/// Decoded bytes, by what they are.
enum DecodedPayload {
    Text(String),
    Bytes(Vec<u8>),
}

/// Text that stands in base64 at a place of a string.
pub(super) struct Payload {
    pieces: Vec<DecodedPayload>,
    charset: Charset,
    spelling: Base64Spelling,
    place: Range<usize>,
}

impl Payload {
    /// What stands in `base64` at `place` and is these bytes, if there is text in them.
    pub(super) fn of(bytes: Vec<u8>, base64: &Base64<'_>, place: Range<usize>) -> Option<Self> {
        let charset = Charset::of(&bytes)?;
        let spelling = base64.spelling;
        let mut pieces = Vec::new();
        if charset != Charset::Utf8 {
            pieces.push(DecodedPayload::Text(charset.decode(&bytes).unwrap_or_default()));
            return Some(Self { pieces, charset, spelling, place });
        }
        let mut other = Vec::new();
        for chunk in bytes.utf8_chunks() {
            if chunk.valid().len() < PIECE {
                other.extend_from_slice(chunk.valid().as_bytes());
            } else {
                if !other.is_empty() {
                    pieces.push(DecodedPayload::Bytes(std::mem::take(&mut other)));
                }
                pieces.push(DecodedPayload::Text(chunk.valid().to_owned()));
            }
            other.extend_from_slice(chunk.invalid());
        }
        if !other.is_empty() {
            pieces.push(DecodedPayload::Bytes(other));
        }
        Some(Self { pieces, charset, spelling, place })
    }

    /// Where it stands.
    pub(super) fn place(&self) -> Range<usize> {
        self.place.clone()
    }

    /// Whether it is text and nothing else.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.pieces.as_slice(), [DecodedPayload::Text(_)])
    }

    /// Its texts, in order.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            DecodedPayload::Text(text) => Some(text.as_str()),
            DecodedPayload::Bytes(_) => None,
        })
    }

    /// The edit of the string that writes the edits of each text; `None` if there are none.
    pub(super) fn in_source(&self, edits: &[Vec<Edit>]) -> Option<Edit> {
        if edits.iter().all(Vec::is_empty) {
            return None;
        }
        let mut bytes = Vec::new();
        let mut edits = edits.iter();
        for piece in &self.pieces {
            match piece {
                DecodedPayload::Bytes(other) => bytes.extend_from_slice(other),
                DecodedPayload::Text(text) => {
                    let edited = spliced(text.as_bytes(), edits.next().map_or(&[], Vec::as_slice));
                    match self.charset {
                        Charset::Utf8 => bytes.extend_from_slice(&edited),
                        utf16 => utf16.encode(&String::from_utf8_lossy(&edited), &mut bytes),
                    }
                }
            }
        }
        Some(Edit { range: self.place.clone(), with: self.spelling.encode(&bytes) })
    }
}

/// A URL whose text is percent-encoded (RFC 3986, section 2.1), read.
pub(super) struct Percent {
    text: String,
    map: SourceMap,
}

impl Percent {
    /// The URL read; `None` where nothing of it behind `payload` is encoded, or what is encoded is not UTF-8.
    pub(super) fn of(url: &str, payload: usize) -> Option<Self> {
        memchr::memchr(b'%', url.as_bytes().get(payload..)?)?;
        let (mut bytes, mut lengths) = (Vec::with_capacity(url.len()), Vec::with_capacity(url.len()));
        let mut rest = url.as_bytes();
        while let Some((byte, length)) = unescaped(rest) {
            bytes.push(byte);
            lengths.push(length);
            rest = rest.get(length..).unwrap_or_default();
        }
        if lengths.iter().all(|length| *length == 1) {
            return None;
        }
        let text = String::from_utf8(bytes).ok()?;
        let mut map = SourceMap::at(0);
        let mut lengths = lengths.into_iter();
        for c in text.chars() {
            let width = c.len_utf8();
            let length = lengths.by_ref().take(width).sum();
            if length == width { map.plain(width) } else { map.spelled(width, length) }
        }
        Some(Self { text, map })
    }

    /// What it reads.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// An edit of what it reads as an edit of the URL.
    pub(super) fn in_source(&self, edit: Edit) -> Edit {
        edit.through(&self.map, |with| {
            let mut out = String::with_capacity(with.len());
            for byte in with.bytes() {
                match byte {
                    b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                        out.push(char::from(byte))
                    }
                    _ => out.push_str(&format!("%{byte:02X}")),
                }
            }
            out
        })
    }
}

/// The byte that a percent-encoded text begins with, and how many spell it.
fn unescaped(text: &[u8]) -> Option<(u8, usize)> {
    let hex = |at: usize| text.get(at).and_then(|digit| char::from(*digit).to_digit(16));
    match (text.first()?, hex(1), hex(2)) {
        (b'%', Some(high), Some(low)) => Some(((high * 16 + low) as u8, 3)),
        (byte, ..) => Some((*byte, 1)),
    }
}
