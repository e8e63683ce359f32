//! [`Media`]: a value with parameters, of `Content-Type` and `Content-Disposition` (RFC 2045 5.1, RFC 2183, RFC 2231).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::sanitize::format::mail::head;
use crate::sanitize::{Rejection, Work, identifiers, name};

/// Parameters whose values are words of a technical language.
const TECHNICAL: &[&str] =
    &["charset", "delsp", "format", "method", "micalg", "protocol", "report-type", "smime-type", "type"];

/// Further parameters that are known.
const KNOWN: &[&str] = &["boundary", "filename", "name", "size", "start"];

/// The parameters that name a file: programs write names with blanks and no quotes.
const NAMES: &[&str] = &["filename", "name"];

/// A value with parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Media {
    /// In lower case.
    pub(super) value: String,
    params: Vec<(String, String)>,
    /// What stands in place of some of them for readers that do not know RFC 2231; it is not written.
    older: Vec<(String, String)>,
    /// Whether it is written so that every reader finds the same in it.
    pub(super) plain: bool,
}

/// Pieces of a parameter by their numbers, and whether each is encoded.
type SplitValue = BTreeMap<u32, (String, bool)>;

impl Media {
    /// Reads a field's value.
    pub(super) fn read(raw: &[u8]) -> Self {
        let text = match std::str::from_utf8(raw) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => WINDOWS_1252.decode_without_bom_handling(raw).0,
        };
        let text = text.replace(['\r', '\n'], "");
        let mut pieces = pieces(&text);
        let mut media = Self { plain: pieces.plain, ..Self::default() };
        let mut parts = pieces.texts.drain(..);
        media.value = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let mut seen = BTreeSet::new();
        let mut split: BTreeMap<String, SplitValue> = BTreeMap::new();
        for part in parts {
            let Some((name, value)) = part.split_once('=') else {
                media.plain &= part.trim().is_empty();
                continue;
            };
            let name = name.trim().to_ascii_lowercase();
            let (base, number) =
                name.split_once('*').map_or((name.as_str(), None), |(base, n)| (base, Some(n)));
            if !is_token(base) {
                media.plain = false;
                continue;
            }
            let (value, behind) = unquoted(base, value.trim());
            media.plain &= behind.trim().is_empty();
            let Some(number) = number else {
                if seen.insert(name.clone()) {
                    media.params.push((name, head::decoded(value.as_bytes())));
                } else {
                    media.plain = false;
                }
                continue;
            };
            let (number, coded) =
                number.strip_suffix('*').map_or((number, number.is_empty()), |number| (number, true));
            let number = number.parse().unwrap_or(0);
            let before = split.entry(base.to_owned()).or_default().insert(number, (value, coded));
            media.plain &= before.is_none();
        }
        media.join(split);
        media
    }

    /// Puts parameters together that came in pieces (RFC 2231): they stand in place of those that came whole.
    fn join(&mut self, split: BTreeMap<String, SplitValue>) {
        let whole = std::mem::take(&mut self.params).into_iter();
        (self.older, self.params) = whole.partition(|(name, _)| split.contains_key(name));
        self.plain &= !self.older.iter().any(|(_, value)| name::acts(value));
        for (name, pieces) in split {
            self.plain &= NAMES.contains(&name.as_str());
            self.params.push((name, joined(pieces.into_values())));
        }
    }

    /// Whether it says that a body consists of parts.
    pub(super) fn is_multipart(&self) -> bool {
        self.value.starts_with("multipart/")
    }

    /// The value of a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// What a parameter is to one reader or another.
    pub(super) fn all<'m>(&'m self, name: &'m str) -> impl Iterator<Item = &'m str> {
        let all = self.params.iter().chain(&self.older);
        all.filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Redacts it, but for the delimiter of parts, which the body has as well.
    ///
    /// # Errors
    /// The host's.
    pub(super) fn redact(&mut self, work: &mut Work<'_>) -> Result<(), Rejection> {
        let read = |text: &str, asked: bool| if asked { text.to_owned() } else { String::new() };
        let is_known = |name: &str| KNOWN.contains(&name) || TECHNICAL.contains(&name);
        let names = self.params.iter().map(|(name, _)| read(name, !is_known(name)));
        let values = self.params.iter().map(|(name, value)| read(value, self.is_read(name, value)));
        let older = self.older.iter().map(|(_, value)| value.clone());
        let kind = read(&self.value, !is_technical(&self.value));
        let texts: Vec<String> = names.chain(values).chain(older).chain([kind]).collect();
        if texts.iter().any(|text| !text.is_empty()) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let answers = work.names(&texts)?;
            self.answered(answers.into_iter());
        }
        let start = self.get("start").map(|id| id.trim().trim_matches(['<', '>']).to_owned());
        if let Some(start) = start
            && let Some(new) = identifiers::changed(&[&start], work)?.pop().flatten()
        {
            self.set("start", &format!("<{new}>"));
            self.plain = false;
        }
        Ok(())
    }

    /// What becomes of the names of parameters, of their values, of what older readers take, and of the value.
    fn answered(&mut self, mut answers: impl Iterator<Item = Option<String>>) {
        let count = self.params.len();
        let names: Vec<Option<String>> = answers.by_ref().take(count).collect();
        let values: Vec<Option<String>> = answers.by_ref().take(count).collect();
        let mut changed = false;
        let params = std::mem::take(&mut self.params);
        for (((name, value), named), new) in params.into_iter().zip(names).zip(values) {
            changed |= named.is_some() || new.is_some();
            // A name that is a value goes with its own.
            if named.is_none() {
                self.params.push((name, new.unwrap_or(value)));
            }
        }
        let older = answers.by_ref().take(self.older.len()).flatten().count();
        if let Some(new) = answers.next().flatten() {
            self.value = new;
            changed = true;
        }
        self.plain &= !changed && older == 0;
    }

    /// Whether anything is looked for in the value of a parameter.
    fn is_read(&self, name: &str, value: &str) -> bool {
        match name {
            "boundary" => !self.is_multipart(),
            // An identifier.
            "start" => false,
            _ => !(TECHNICAL.contains(&name) && is_technical(value)),
        }
    }

    /// Sets a parameter.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        match self.params.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.params.push((name.to_owned(), value.to_owned())),
        }
    }

    /// The same without these parameters.
    pub(super) fn without(&self, names: &[&str]) -> Self {
        let mut media = self.clone();
        media.params.retain(|(name, _)| !names.contains(&name.as_str()));
        media
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

/// A value and its parameters, as semicolons part them, without comments.
struct ParameterList {
    texts: Vec<String>,
    /// Whether every reader parts them so.
    plain: bool,
}

/// What semicolons part, without comments.
fn pieces(text: &str) -> ParameterList {
    let mut pieces = ParameterList { texts: vec![String::new()], plain: true };
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

/// The value of a parameter, and what stands behind it.
fn unquoted<'v>(name: &str, value: &'v str) -> (String, &'v str) {
    let Some(inner) = value.strip_prefix('"') else {
        let end = value.find(char::is_whitespace).unwrap_or(value.len());
        let (word, behind) = value.split_at_checked(end).unwrap_or((value, ""));
        let taken = if NAMES.contains(&name) { value } else { word };
        return (taken.to_owned(), behind);
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
    (out, chars.as_str())
}

/// Whether a text may be a parameter's name (RFC 2045, 5.1).
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&b))
}

/// Whether a text is a type, or a word of a technical language.
fn is_technical(text: &str) -> bool {
    let (kind, sub) = text.split_once('/').unwrap_or((text, "x"));
    is_token(kind) && is_token(sub) && !identifiers::has_form(text)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::bench::Bench;

    #[test]
    fn a_field_is_plain_where_all_readers_find_the_same() {
        for (raw, plain, name) in [
            ("text/plain; charset=utf-8; name=\"a b.txt\";", true, "a b.txt"),
            ("text/plain; name*=utf-8''a%20b", true, "a b"),
            ("text/plain; name*0=\"a \"; name*1=b", true, "a b"),
            ("text/plain; name=a b.txt", false, "a b.txt"),
            ("text/plain; name=\"a\" b", false, "a"),
            ("text/plain; name=a; name=b", false, "a"),
            ("text/plain; name*0=a; name*0=b", false, "b"),
            ("text/plain; name=a.exe; name*=utf-8''a.txt", false, "a.txt"),
            ("text/plain; b; name=a", false, "a"),
            ("text/plain; a@b=c; name=a", false, "a"),
            ("text/plain (b); name=a", false, "a"),
            ("text/plain; title*0=b; name=a", false, "a"),
        ] {
            let media = Media::read(raw.as_bytes());
            assert_eq!((media.plain, media.get("name")), (plain, Some(name)), "{raw}");
        }
        let media = Media::read(b"text/plain; name=a.exe; name*=utf-8''a.txt");
        assert_eq!(media.all("name").collect::<Vec<_>>(), ["a.txt", "a.exe"]);
        assert_eq!(Media::read(b"text/plain; name=\"M\xfcller\"").get("name"), Some("Müller"));
    }

    #[test]
    fn many_parameters_are_read_once() {
        let whole: String = (0..100_000).map(|n| format!("; a{n}=b")).collect();
        let split: String = (0..100_000).map(|n| format!("; a{n}*0=b")).collect();
        for params in [whole, split, "; a=b".repeat(100_000), "; a*0=b".repeat(100_000)] {
            let media = Media::read(format!("text/plain{params}; name=x").as_bytes());
            assert_eq!(media.get("name"), Some("x"));
        }
    }

    #[test]
    fn values_go_from_all_parameters() {
        for (raw, want) in [
            ("text/plain; x-note=\"Jane\"", "text/plain; x-note=\"<N>\""),
            ("text/plain; title*0=\"Ja\"; title*1=ne", "text/plain; title=\"<N>\""),
            ("text/plain; name=Jane; name*=utf-8''a", "text/plain; name=\"a\""),
            ("text/plain; type=\"Jane Doe\"", "text/plain; type=\"<N> Doe\""),
            ("multipart/mixed; boundary=Jane", "multipart/mixed; boundary=\"Jane\""),
            ("multipart/related; start=\"<Jane@a>\"", "multipart/related; start=\"<N@a>\""),
        ] {
            let mut bench = Bench::redacting("Jane");
            let mut media = Media::read(raw.as_bytes());
            media.redact(&mut bench.work()).unwrap();
            assert_eq!(media.written(), want, "{raw}");
        }
    }
}
