//! What a body is by its first bytes, since what its label says is not always so. Unlike a browser (WHATWG MIME
//! Sniffing) it is not after pictures: it tells apart the formats in which text is spelled otherwise than it reads.

use crate::stream::utf8::BOM;

/// How many bytes are enough to tell.
pub const ENOUGH: usize = 512;

/// What a body is said to be, as far as that matters here: prose may begin like many things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredType {
    /// Text in general. It is something else only if its beginning is that through and through.
    Text,
    /// A form.
    Form,
    /// Something else, or nothing.
    Other,
}

/// What a body seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// More bytes will tell.
    More,
    /// One JSON document or several.
    Json,
    /// An event stream.
    Events,
    /// A form (`application/x-www-form-urlencoded`).
    Form,
    /// Parts with heads of their own (RFC 2046).
    Multipart,
    /// Compressed: gzip or Zstandard, which say so themselves.
    Packed,
    /// UTF-16 or UTF-32.
    Wide,
    /// None of these.
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonFit {
    Yes,
    No,
    /// So far.
    Yet,
}

/// What begins so cannot be text in UTF-8.
const SIGNATURES: [(&[u8], Guess); 5] = [
    (b"\xFF\xFE", Guess::Wide),
    (b"\xFE\xFF", Guess::Wide),
    (b"\x00\x00\xFE\xFF", Guess::Wide),
    (b"\x1F\x8B", Guess::Packed),
    (b"\x28\xB5\x2F\xFD", Guess::Packed),
];

/// How a Zstandard frame that is skipped goes on, behind any byte from 0x50 to 0x5F (RFC 8878 section 3.1.2).
const SKIPPED: &[u8] = b"\x2A\x4D\x18";

/// The fields of an event (WHATWG HTML section 9.2.6); without a name it is a comment.
const FIELDS: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b""];

/// What a body that begins with `head` seems to be; `ended` when that is all of it. Forms are looked for under their
/// own label, or where `forms` says so: no server answers with one that does not say it.
pub fn guess(head: &[u8], ended: bool, label: DeclaredType, forms: bool) -> Guess {
    let open = !ended && head.len() < ENOUGH;
    let text = head.strip_prefix(BOM).unwrap_or(head);
    let start = text.iter().position(|b| !matches!(*b, b' ' | b'\t' | b'\n' | b'\r' | RECORD));
    let value = text.get(start.unwrap_or(text.len())..).unwrap_or_default();
    if let Some(guess) = signed(head, open) {
        return guess;
    }
    if open && (value.is_empty() || begins(head, BOM, open) == JsonFit::Yet) {
        return Guess::More;
    }
    let form = match label {
        DeclaredType::Form => JsonFit::Yes,
        _ if forms => form(text, open),
        _ => JsonFit::No,
    };
    let candidates = [
        (json(value, open, label), Guess::Json),
        (events(text, open, label), Guess::Events),
        (multipart(text, open), Guess::Multipart),
        (form, Guess::Form),
    ];
    // In order: a form is what nothing else can be.
    let fitting = candidates.into_iter().find(|(fits, _)| *fits != JsonFit::No);
    match fitting {
        Some((JsonFit::Yes, guess)) => guess,
        Some(_) => Guess::More,
        None => Guess::Other,
    }
}

/// What sets off documents of a sequence (RFC 7464).
const RECORD: u8 = 0x1E;

fn signed(head: &[u8], open: bool) -> Option<Guess> {
    if let [0x50..=0x5F, rest @ ..] = head {
        return match begins(rest, SKIPPED, open) {
            JsonFit::Yes => Some(Guess::Packed),
            JsonFit::Yet => Some(Guess::More),
            JsonFit::No => None,
        };
    }
    let (signature, guess) =
        SIGNATURES.iter().find(|(signature, _)| begins(head, signature, open) != JsonFit::No)?;
    Some(if head.starts_with(signature) { *guess } else { Guess::More })
}

fn begins(text: &[u8], with: &[u8], open: bool) -> JsonFit {
    match text.starts_with(with) {
        true => JsonFit::Yes,
        false if open && with.starts_with(text) => JsonFit::Yet,
        false => JsonFit::No,
    }
}

/// Nothing left to read: it fits so far while more may come.
fn out(open: bool) -> JsonFit {
    if open { JsonFit::Yet } else { JsonFit::No }
}

fn json(value: &[u8], open: bool, label: DeclaredType) -> JsonFit {
    let prose = label != DeclaredType::Other;
    let after = |rest: &[u8]| rest.trim_ascii_start().first().copied();
    match value {
        [b'{', rest @ ..] => match after(rest) {
            None => out(open),
            Some(b'}') => JsonFit::Yes,
            Some(b'"') if prose => string_before(rest.trim_ascii_start(), open, b":"),
            Some(b'"') => JsonFit::Yes,
            Some(_) => JsonFit::No,
        },
        [b'[', rest @ ..] => match after(rest) {
            None => out(open),
            Some(b'"') if prose => string_before(rest.trim_ascii_start(), open, b",]"),
            Some(b'{' | b'[' | b']' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => JsonFit::Yes,
            Some(_) => JsonFit::No,
        },
        // Of prose, only one string and nothing else.
        [b'"', ..] if prose => string_before(value, open, b""),
        [b'"', ..] => JsonFit::Yes,
        _ => JsonFit::No,
    }
}

/// Whether a string stands at the beginning and one of `next` behind it; or the end, if there is none.
fn string_before(text: &[u8], open: bool, next: &[u8]) -> JsonFit {
    let mut escaped = false;
    let close = text.iter().skip(1).position(|&byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    let Some(close) = close else {
        // A name or a text as long as this is no prose in quotes.
        return if open { JsonFit::Yet } else { fits(text.len() >= ENOUGH / 2 && !next.is_empty()) };
    };
    match text.get(close + 2..).unwrap_or_default().trim_ascii_start().first() {
        Some(byte) => fits(next.contains(byte)),
        None if open => JsonFit::Yet,
        None => fits(next.is_empty()),
    }
}

fn fits(yes: bool) -> JsonFit {
    if yes { JsonFit::Yes } else { JsonFit::No }
}

/// Prose may begin like one field; of it, all lines up to the first blank one must be fields, and one of them data.
fn events(text: &[u8], open: bool, label: DeclaredType) -> JsonFit {
    let blank = text.iter().position(|b| !matches!(b, b'\n' | b'\r')).unwrap_or(text.len());
    let text = text.get(blank..).unwrap_or_default();
    let mut data = false;
    for line in text.split_inclusive(|b| *b == b'\n') {
        let ended = line.strip_suffix(b"\n");
        let whole = ended.map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        let name = whole.split(|b| *b == b':').next().unwrap_or_default();
        match (whole.len() - name.len(), name) {
            (0, b"") if data => return JsonFit::Yes,
            (0, b"" | b"\r") => {}
            (0, name) => {
                let cut = ended.is_none() && FIELDS.iter().any(|field| field.starts_with(name));
                return if cut { out(open) } else { JsonFit::No };
            }
            (_, name) if !FIELDS.contains(&name) => return JsonFit::No,
            _ if label == DeclaredType::Other => return JsonFit::Yes,
            (_, name) => data |= name == b"data",
        }
    }
    if open { JsonFit::Yet } else { fits(data) }
}

/// A delimiter, and heads of the first part below it.
fn multipart(text: &[u8], open: bool) -> JsonFit {
    let Some(rest) = text.strip_prefix(b"--") else { return begins(text, b"--", open && !text.is_empty()) };
    let mut lines = rest.split_inclusive(|b| *b == b'\n');
    let Some(delimiter) = lines.next() else { return out(open) };
    if delimiter.trim_ascii().is_empty() || delimiter.len() > LONGEST_DELIMITER {
        return JsonFit::No;
    }
    for line in lines {
        let text = line.trim_ascii();
        let name = text.split(|b| *b == b':').next().unwrap_or_default();
        if text.len() > name.len() && name.to_ascii_lowercase().starts_with(b"content-") {
            return JsonFit::Yes;
        }
        let ends = text.is_empty() && line.ends_with(b"\n");
        if ends || name.iter().any(|b| !b.is_ascii_alphanumeric() && *b != b'-') {
            return JsonFit::No;
        }
    }
    out(open)
}

/// A boundary of 70 bytes, with white space behind it (RFC 2046 section 5.1.1).
const LONGEST_DELIMITER: usize = 100;

/// Only what a form is made of, among it `=` and an escape: without escapes it reads like any text.
fn form(text: &[u8], open: bool) -> JsonFit {
    let end = text.iter().rposition(|b| !matches!(b, b'\n' | b'\r')).map_or(0, |last| last + 1);
    let body = text.get(..end).unwrap_or_default();
    let mut escapes = false;
    let mut rest = body;
    while let [byte, behind @ ..] = rest {
        rest = match (byte, behind) {
            (b'%', [a, b, behind @ ..]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
                escapes = true;
                behind
            }
            (b'%', [] | [_]) if open || text.len() >= ENOUGH => &[],
            (b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'*' | b'+', _) => behind,
            (
                b'&' | b'=' | b'!' | b'$' | b'\'' | b'(' | b')' | b',' | b';' | b':' | b'@' | b'/' | b'?',
                _,
            ) => behind,
            (b'[' | b']', _) => behind,
            _ => return JsonFit::No,
        };
    }
    // What stands before a `=` names a field: `https://…?a=b` is an address.
    let name = body.split(|b| *b == b'=').next().unwrap_or_default();
    let named =
        !name.is_empty() && name.len() < body.len() && !name.iter().any(|b| matches!(b, b':' | b'/' | b'?'));
    if open { JsonFit::Yet } else { fits(named && escapes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[(&[u8], DeclaredType, Guess)] = &[
        (b"{\"a\":1}", DeclaredType::Text, Guess::Json),
        (b"\xEF\xBB\xBF \r\n{ }", DeclaredType::Text, Guess::Json),
        (b"\x1E{\"a\":1}\n", DeclaredType::Other, Guess::Json),
        (b"[ {\"a\":1}]", DeclaredType::Text, Guess::Json),
        (b"[\"a\\\"\" , 1]", DeclaredType::Text, Guess::Json),
        (b"\"jane\\u0040x.org\" \n", DeclaredType::Text, Guess::Json),
        (b"{\"a\":\"x\"}", DeclaredType::Form, Guess::Json),
        (b"\xEF\xBB\xBF {\"a\":\"x\"}", DeclaredType::Form, Guess::Json),
        (b"\xEF\xBB\xBFa=b", DeclaredType::Form, Guess::Form),
        (b" \r\n", DeclaredType::Form, Guess::Form),
        (b"\"a\",\"b\"\n", DeclaredType::Other, Guess::Json),
        (b"\"a\",\"b\"\n", DeclaredType::Text, Guess::Other),
        (b"\"Yes,\" she said", DeclaredType::Text, Guess::Other),
        (b"{\"password\" = \"x\"}", DeclaredType::Text, Guess::Other),
        (b"[\"password\" => \"x\"]", DeclaredType::Text, Guess::Other),
        (b"{name} is here", DeclaredType::Text, Guess::Other),
        (b"{\\rtf1", DeclaredType::Text, Guess::Other),
        (b"[section]\na=b", DeclaredType::Text, Guess::Other),
        (b"{", DeclaredType::Text, Guess::Other),
        (b"data: x\n\n", DeclaredType::Text, Guess::Events),
        (b"event: a\r\ndata:x\r\n\r\n", DeclaredType::Text, Guess::Events),
        (b": ping\n\ndata: x\n\n", DeclaredType::Text, Guess::Events),
        (b"\n\nid: 1\nretry: 3\ndata: [DONE]", DeclaredType::Text, Guess::Events),
        (b"data: x", DeclaredType::Other, Guess::Events),
        (b":", DeclaredType::Other, Guess::Events),
        (b"data:\n  key: value\n", DeclaredType::Text, Guess::Other),
        (b"id: 5\nname: x\n", DeclaredType::Text, Guess::Other),
        (b"datas: x\n", DeclaredType::Other, Guess::Other),
        (b"a=b%40c&d=e", DeclaredType::Text, Guess::Form),
        (b"a%5Bb%5D=c\r\n", DeclaredType::Other, Guess::Form),
        (b"https://x.com/u/jane%40b?a=b", DeclaredType::Text, Guess::Other),
        (b"a=b&c=d", DeclaredType::Text, Guess::Other),
        (b"a=b%4", DeclaredType::Text, Guess::Other),
        (b"a=b%40 c", DeclaredType::Text, Guess::Other),
        (b"=%40", DeclaredType::Text, Guess::Other),
        (b"free text", DeclaredType::Form, Guess::Form),
        (b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n", DeclaredType::Text, Guess::Multipart),
        (b"--x\nX-A: b\ncontent-type: text/plain\n\n", DeclaredType::Other, Guess::Multipart),
        (b"---\ntitle: x\n---\n\nContent-Type: y", DeclaredType::Text, Guess::Other),
        (b"-- a comment\nselect 1", DeclaredType::Text, Guess::Other),
        (b"\x1F\x8B\x08\x00", DeclaredType::Text, Guess::Packed),
        (b"\x28\xB5\x2F\xFD\x00", DeclaredType::Other, Guess::Packed),
        (b"\x5C\x2A\x4D\x18\x00", DeclaredType::Other, Guess::Packed),
        (b"Plain", DeclaredType::Text, Guess::Other),
        (b"\xFF\xFE{\x00", DeclaredType::Other, Guess::Wide),
        (b"\xFE\xFF\x00{", DeclaredType::Text, Guess::Wide),
        (b"\x00\x00\xFE\xFF", DeclaredType::Text, Guess::Wide),
        ("Grüße".as_bytes(), DeclaredType::Text, Guess::Other),
        (b"", DeclaredType::Text, Guess::Other),
        (b" \n", DeclaredType::Other, Guess::Other),
    ];

    #[test]
    fn a_body_is_known_by_how_it_begins() {
        for (body, label, expected) in ROWS {
            assert_eq!(guess(body, true, *label, true), *expected, "{} {label:?}", body.escape_ascii());
        }
    }

    #[test]
    fn what_is_told_of_a_beginning_stays_true() {
        for (body, label, expected) in ROWS {
            for at in 0..=body.len() {
                let early = guess(&body[..at], false, *label, true);
                let shown = body[..at].escape_ascii();
                assert!(early == Guess::More || early == *expected, "{shown} {label:?}: {early:?}");
            }
        }
    }

    #[test]
    fn it_never_waits_for_more_than_is_enough() {
        let long = |unit: &str| unit.repeat(ENOUGH).into_bytes();
        for (body, expected) in [
            (long(" "), Guess::Other),
            (long("data: x "), Guess::Events),
            (long("a=%40&"), Guess::Form),
            ([b"{\"", long("a").as_slice()].concat(), Guess::Json),
            ([b"\"", long("a").as_slice()].concat(), Guess::Other),
            (long("\n"), Guess::Other),
        ] {
            assert_eq!(guess(&body[..ENOUGH], false, DeclaredType::Text, true), expected);
        }
        assert_eq!(guess(b"a=%40", true, DeclaredType::Text, false), Guess::Other, "an answer is no form");
    }
}
