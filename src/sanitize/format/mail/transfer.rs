//! Content transfer encodings (RFC 2045, section 6).

use crate::base::path::hex_digit;

/// How a body is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sanitize::format) enum Transfer {
    /// As it is: `7bit`, `8bit`, `binary`.
    Plain,
    /// `quoted-printable`.
    Quoted,
    /// `base64`.
    Base64,
    /// One that is not known.
    Other,
}

/// Lines of an encoded body are no longer, in characters.
const LINE: usize = 76;

impl Transfer {
    /// By the value of the field; without one, as it is.
    pub(super) fn read(value: Option<&[u8]>) -> Self {
        let value = String::from_utf8_lossy(value.unwrap_or_default()).trim().to_ascii_lowercase();
        match value.as_str() {
            "" | "7bit" | "8bit" | "binary" => Self::Plain,
            "quoted-printable" => Self::Quoted,
            "base64" => Self::Base64,
            _ => Self::Other,
        }
    }

    /// The field's value for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Quoted => "quoted-printable",
            Self::Base64 => "base64",
            Self::Plain | Self::Other => "8bit",
        }
    }

    /// The decoded body, and whether every reader decodes the same; `None` for an unknown encoding.
    pub(in crate::sanitize::format) fn decoded(self, body: &[u8]) -> Option<(Vec<u8>, bool)> {
        match self {
            Self::Plain => Some((body.to_vec(), true)),
            Self::Quoted => Some(unquoted(body)),
            Self::Base64 => Some(unbased(body)),
            Self::Other => None,
        }
    }

    /// The encoded body.
    pub(in crate::sanitize::format) fn encoded(self, content: &[u8], eol: &str) -> Vec<u8> {
        match self {
            Self::Quoted => quoted(content, eol),
            Self::Base64 => based(content, eol),
            Self::Plain | Self::Other => content.to_vec(),
        }
    }

    /// Which one to write a text in.
    pub(super) fn for_text(text: &str) -> Self {
        let plain = text.bytes().filter(u8::is_ascii).count();
        if plain.saturating_mul(4) >= text.len().saturating_mul(3) { Self::Quoted } else { Self::Base64 }
    }
}

/// A byte of two digits.
pub(super) fn hex(high: u8, low: u8) -> Option<u8> {
    Some((hex_digit(high)? << 4) | hex_digit(low)?)
}

fn unquoted(body: &[u8]) -> (Vec<u8>, bool) {
    let mut out = Vec::with_capacity(body.len());
    let mut exact = true;
    for line in body.split_inclusive(|b| *b == b'\n') {
        let text = line.trim_ascii_end();
        let end = line.get(text.len()..).unwrap_or_default();
        // Blanks at the end of a line were added on the way.
        let end: &[u8] = match end {
            [.., b'\r', b'\n'] => b"\r\n",
            [.., b'\n'] => b"\n",
            _ => b"",
        };
        let mut rest = text;
        let mut soft = false;
        while let Some((first, behind)) = rest.split_first() {
            rest = behind;
            match (first, behind) {
                (b'=', []) => soft = true,
                (b'=', [high, low, tail @ ..]) => match hex(*high, *low) {
                    Some(byte) => {
                        out.push(byte);
                        rest = tail;
                    }
                    None => {
                        exact = false;
                        out.push(b'=');
                    }
                },
                (b'=', _) => {
                    exact = false;
                    out.push(b'=');
                }
                (byte, _) => out.push(*byte),
            }
        }
        if !soft {
            out.extend(end);
        }
    }
    (out, exact)
}

fn quoted(content: &[u8], eol: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    for line in content.split_inclusive(|b| *b == b'\n') {
        let (text, ends) = match line.strip_suffix(b"\n") {
            Some(text) => (text.strip_suffix(b"\r").unwrap_or(text), true),
            None => (line, false),
        };
        let mut width = 0_usize;
        for (n, byte) in text.iter().enumerate() {
            let last = n.saturating_add(1) == text.len();
            let blank = matches!(byte, b' ' | b'\t');
            // A dash or a `From ` at a line's start means something on the way.
            let risky = width == 0 && matches!(byte, b'-' | b'.' | b'F');
            let literal = (blank && !last) || (byte.is_ascii_graphic() && *byte != b'=' && !risky);
            let piece = if literal { vec![*byte] } else { format!("={byte:02X}").into_bytes() };
            if width.saturating_add(piece.len()) >= LINE {
                out.extend(b"=");
                out.extend(eol.bytes());
                width = 0;
            }
            width = width.saturating_add(piece.len());
            out.extend(piece);
        }
        if ends {
            out.extend(eol.bytes());
        }
    }
    out
}

fn unbased(body: &[u8]) -> (Vec<u8>, bool) {
    let mut exact = true;
    let mut digits = Vec::with_capacity(body.len());
    let mut padding = 0_u32;
    for byte in body {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {
                exact &= padding == 0;
                digits.push(*byte);
            }
            b'=' => padding = padding.saturating_add(1),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => exact = false,
        }
    }
    let whole = digits.len().saturating_sub(usize::from(digits.len() % 4 == 1));
    exact &= whole == digits.len();
    digits.truncate(whole);
    let mut spec = data_encoding::BASE64_NOPAD.specification();
    spec.check_trailing_bits = false;
    let decoded = spec.encoding().ok().and_then(|encoding| encoding.decode(&digits).ok());
    (decoded.unwrap_or_default(), exact)
}

fn based(content: &[u8], eol: &str) -> Vec<u8> {
    let digits = data_encoding::BASE64.encode(content);
    let mut out = Vec::with_capacity(digits.len());
    for line in digits.as_bytes().chunks(LINE) {
        out.extend(line);
        out.extend(eol.bytes());
    }
    out
}
