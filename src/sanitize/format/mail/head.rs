//! Header fields as they read (RFC 2047), redacted and written back.

use mail_parser::HeaderValue;
use mail_parser::parsers::MessageStream;

use crate::sanitize::format::mail::entity::{Entity, HeaderField};
use crate::sanitize::{Rejection, Work};

/// Fields that name no one: numbers, dates, structure and signatures, which edits would only break.
const KEPT: &[&str] = &[
    "date",
    "message-id",
    "in-reply-to",
    "references",
    "mime-version",
    "content-id",
    "content-type",
    "content-transfer-encoding",
    "content-disposition",
    "content-language",
    "content-length",
];

/// Fields that a reader shows as text, links and all. In others a domain is a host's or an address's.
const SHOWN: &[&str] = &["subject", "comments", "keywords", "thread-topic", "content-description"];

/// Signatures over header and body (RFC 6376, RFC 8617, RFC 4870).
const SIGNATURES: &[&str] = &[
    "dkim-signature",
    "x-google-dkim-signature",
    "domainkey-signature",
    "arc-seal",
    "arc-message-signature",
    "arc-authentication-results",
];

/// The longest line of a header, in bytes, as far as there is a blank to fold it at (RFC 5322 2.1.1).
const LINE: usize = 76;

fn any(field: &HeaderField<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| field.is(name))
}

/// Whether a field is a signature, which a change to the message breaks.
pub(super) fn is_signature(field: &HeaderField<'_>) -> bool {
    any(field, SIGNATURES)
}

/// What each field of an entity becomes; `None` where nothing changes.
///
/// # Errors
/// The host's.
pub(super) fn edited(entity: &Entity<'_>, work: &mut Work<'_>) -> Result<Vec<Option<Vec<u8>>>, Rejection> {
    let mut out: Vec<Option<Vec<u8>>> = vec![None; entity.fields.len()];
    for shown in [true, false] {
        let asked = entity.fields.iter().enumerate();
        let asked = asked
            .filter(|(_, field)| any(field, SHOWN) == shown && !any(field, KEPT) && !is_signature(field));
        let asked: Vec<(usize, &HeaderField<'_>, String)> =
            asked.map(|(at, field)| (at, field, decoded(field.value))).collect();
        let texts: Vec<&str> = asked.iter().map(|(_, _, text)| text.as_str()).collect();
        let answers = if shown { work.texts(&texts)? } else { work.names(&texts)? };
        for ((at, field, _), answer) in asked.iter().zip(answers) {
            if let (Some(place), Some(text)) = (out.get_mut(*at), answer) {
                *place = Some(written(field.name, &text, entity.eol));
            }
        }
    }
    Ok(out)
}

/// A value as it reads: on one line, its encoded words decoded.
pub(super) fn decoded(value: &[u8]) -> String {
    let mut line = value.trim_ascii().to_vec();
    line.push(b'\n');
    match MessageStream::new(&line).parse_unstructured() {
        HeaderValue::Text(text) => text.into_owned(),
        _ => String::new(),
    }
}

/// A field of this text.
pub(super) fn written(name: &str, text: &str, eol: &str) -> Vec<u8> {
    let mut out = format!("{name}:");
    let mut width = out.len();
    for word in words(text) {
        if width.saturating_add(word.len()) >= LINE && width > name.len().saturating_add(1) {
            out.push_str(eol);
            width = 0;
        }
        out.push(' ');
        out.push_str(&word);
        width = width.saturating_add(word.len()).saturating_add(1);
    }
    out.push_str(eol);
    out.into_bytes()
}

/// Words as they are written: a run of those that ASCII cannot spell becomes encoded words.
fn words(text: &str) -> Vec<String> {
    let plain = |word: &str| word.bytes().all(|b| b.is_ascii_graphic()) && !word.contains("=?");
    let mut out = Vec::new();
    let mut run = String::new();
    for word in text.split_ascii_whitespace() {
        if plain(word) {
            encode(&mut out, &mut run);
            out.push(word.to_owned());
        } else {
            if !run.is_empty() {
                run.push(' ');
            }
            run.push_str(word);
        }
    }
    encode(&mut out, &mut run);
    out
}

/// An encoded word has at most 75 characters (RFC 2047, section 2), none of them cut in two.
fn encode(out: &mut Vec<String>, run: &mut String) {
    let mut rest = std::mem::take(run);
    while !rest.is_empty() {
        let behind = rest.split_off(rest.floor_char_boundary(42));
        out.push(format!("=?utf-8?B?{}?=", data_encoding::BASE64.encode(rest.as_bytes())));
        rest = behind;
    }
}
