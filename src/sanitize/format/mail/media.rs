//! [`Media`]: a value with parameters, of `Content-Type` and `Content-Disposition` (RFC 2045 5.1, RFC 2183, RFC 2231).

use std::collections::BTreeMap;

use encoding_rs::Encoding;

use crate::sanitize::format::mail::head;

/// A value with parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Media {
    /// In lower case.
    pub(super) value: String,
    params: Vec<(String, String)>,
    /// Whether it is written so that every reader finds the same in it.
    pub(super) plain: bool,
}

impl Media {
    /// Reads a field's value.
    pub(super) fn read(raw: &[u8]) -> Self {
        let text = String::from_utf8_lossy(raw).replace(['\r', '\n'], "");
        let mut pieces = pieces(&text);
        let mut media = Self { plain: pieces.plain, ..Self::default() };
        let mut parts = pieces.texts.drain(..);
        media.value = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let mut split: BTreeMap<String, BTreeMap<u32, (String, bool)>> = BTreeMap::new();
        for part in parts {
            let Some((name, value)) = part.split_once('=') else { continue };
            let name = name.trim().to_ascii_lowercase();
            let value = unquoted(value.trim());
            let Some((base, rest)) = name.split_once('*') else {
                media.add(name, head::decoded(value.as_bytes()));
                continue;
            };
            let (number, coded) =
                rest.strip_suffix('*').map_or((rest, rest.is_empty()), |number| (number, true));
            let number = number.parse().unwrap_or(0);
            split.entry(base.to_owned()).or_default().insert(number, (value, coded));
        }
        for (name, pieces) in split {
            media.plain &= matches!(name.as_str(), "filename" | "name");
            let value = joined(pieces.into_values());
            media.params.retain(|(other, _)| *other != name);
            media.params.push((name, value));
        }
        media
    }

    fn add(&mut self, name: String, value: String) {
        if self.get(&name).is_some() {
            self.plain = false;
        } else {
            self.params.push((name, value));
        }
    }

    /// The value of a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Sets a parameter.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        match self.params.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.params.push((name.to_owned(), value.to_owned())),
        }
    }

    /// The field's value, written plainly.
    pub(super) fn written(&self) -> String {
        let mut out = self.value.clone();
        for (name, value) in &self.params {
            if value.bytes().all(|b| matches!(b, b' '..=b'~')) {
                let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
                out.push_str(&format!("; {name}=\"{quoted}\""));
            } else {
                out.push_str(&format!("; {name}*=utf-8''"));
                for b in value.bytes() {
                    match b {
                        b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                            out.push(char::from(b))
                        }
                        _ => out.push_str(&format!("%{b:02X}")),
                    }
                }
            }
        }
        out
    }
}

struct PartNames {
    texts: Vec<String>,
    plain: bool,
}

/// What semicolons part, without comments.
fn pieces(text: &str) -> PartNames {
    let mut pieces = PartNames { texts: vec![String::new()], plain: true };
    let (mut quoted, mut comment) = (false, 0_u32);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let mut push = |c| pieces.texts.last_mut().map(|text| text.push(c)).unwrap_or_default();
        match c {
            '\\' if quoted => {
                push(c);
                chars.next().map(push).unwrap_or_default();
            }
            '"' if comment == 0 => {
                quoted = !quoted;
                push(c);
            }
            '(' if !quoted => {
                comment = comment.saturating_add(1);
                pieces.plain = false;
            }
            ')' if !quoted && comment > 0 => comment = comment.saturating_sub(1),
            ';' if !quoted && comment == 0 => pieces.texts.push(String::new()),
            c if comment == 0 => push(c),
            _ => {}
        }
    }
    pieces.plain &= !quoted && comment == 0;
    pieces
}

fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else {
        return value.split_whitespace().next().unwrap_or_default().to_owned();
    };
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    out
}

/// Pieces of a value (RFC 2231, 3 and 4).
fn joined(pieces: impl Iterator<Item = (String, bool)>) -> String {
    let mut bytes = Vec::new();
    let mut charset = None;
    for (n, (piece, coded)) in pieces.enumerate() {
        if !coded {
            bytes.extend(piece.bytes());
            continue;
        }
        let mut rest = piece.as_str();
        if n == 0 {
            let mut parts = piece.splitn(3, '\'');
            if let (Some(label), Some(_), Some(value)) = (parts.next(), parts.next(), parts.next()) {
                (charset, rest) = (Encoding::for_label(label.as_bytes()), value);
            }
        }
        let mut left = rest.bytes();
        while let Some(b) = left.next() {
            let pair = left.as_slice_pair();
            match (b, pair) {
                (b'%', Some(byte)) => {
                    bytes.push(byte);
                    left.by_ref().take(2).for_each(drop);
                }
                _ => bytes.push(b),
            }
        }
    }
    charset.unwrap_or(encoding_rs::UTF_8).decode_without_bom_handling(&bytes).0.into_owned()
}

/// The next two bytes as a byte in hexadecimal.
trait Pair {
    fn as_slice_pair(&self) -> Option<u8>;
}

impl Pair for std::str::Bytes<'_> {
    fn as_slice_pair(&self) -> Option<u8> {
        let mut ahead = self.clone();
        super::transfer::hex(ahead.next()?, ahead.next()?)
    }
}
