//! Header fields as they read (RFC 2047), redacted and written back.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;
use mail_parser::HeaderValue;
use mail_parser::parsers::MessageStream;

use crate::edit::spliced_text;
use crate::sanitize::format::mail::address::{plain_addresses, widen};
use crate::sanitize::format::mail::date::{date_front, is_date};
use crate::sanitize::format::mail::entity::{Entity, HeaderField};
use crate::sanitize::format::mail::mhtml;
use crate::sanitize::{
    ChangedObject, NamedText, ObjectAction, ObjectKind, RedactionMode, Rejection, Work, identifiers, link,
};

/// Fields that hold identifiers of messages and parts, by which these refer to each other.
const IDENTIFIERS: &[&str] = &["message-id", "in-reply-to", "references", "content-id", "resent-message-id"];

/// Fields that hold dates, numbers and the like, with remarks in parentheses (RFC 5322, 3.2.2).
const TYPED: &[&str] = &["date", "mime-version", "content-language", "content-length"];

/// Where a part came from, and what the links in it begin with (RFC 2557; RFC 2110, section 4).
const LOCATIONS: &[&str] = &["content-location", "content-base"];

/// Fields that a reader shows as text, links and all. In others a domain is a host's or an address's.
const SHOWN: &[&str] = &["subject", "comments", "keywords", "thread-topic", "content-description"];

/// Fields that hold addresses, and nothing else (RFC 5322, 3.6; RFC 8098, 2.1).
const ADDRESSES: &[&str] = &[
    "from",
    "sender",
    "reply-to",
    "to",
    "cc",
    "bcc",
    "return-path",
    "resent-from",
    "resent-sender",
    "resent-to",
    "resent-cc",
    "resent-bcc",
    "delivered-to",
    "envelope-to",
    "errors-to",
    "apparently-to",
    "mail-followup-to",
    "mail-reply-to",
    "return-receipt-to",
    "x-original-to",
    "x-forwarded-to",
    "disposition-notification-to",
];

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

/// What the fields of an entity become, in their order.
type EditedFields = [Option<Vec<u8>>];

/// What each field of an entity becomes; `None` where nothing changes.
///
/// # Errors
/// The host's.
pub(super) fn edited(entity: &Entity<'_>, work: &mut Work<'_>) -> Result<Vec<Option<Vec<u8>>>, Rejection> {
    let mut out: Vec<Option<Vec<u8>>> = vec![None; entity.fields.len()];
    // What becomes of those that say how a body is to be read is up to that.
    let others = [IDENTIFIERS, TYPED, LOCATIONS];
    let is_other = |field: &HeaderField<'_>| {
        is_signature(field) || field.structure().is_some() || others.iter().any(|others| any(field, others))
    };
    let asked = entity.fields.iter().enumerate();
    let asked =
        asked.filter(|(_, field)| !is_other(field)).map(|(at, field)| (at, field, decoded(field.value)));
    // Most have no link, and all of these are asked about at once.
    let (shown, named): (Vec<_>, Vec<_>) =
        asked.partition(|(_, field, text)| any(field, SHOWN) && !link::find(text).is_empty());
    let texts: Vec<&str> = shown.iter().map(|(_, _, text)| text.as_str()).collect();
    for ((at, field, _), answer) in shown.iter().zip(work.texts(&texts)?) {
        put(&mut out, *at, answer.map(|text| written(field.name, &text, entity.eol)));
    }
    // Addresses as plain as they may be written, and then the fields of which nothing was found so, as they are: what parts an
    // address may be a value, too.
    let structured = named.iter().filter(|(_, field, _)| !any(field, SHOWN));
    let plain = structured.filter_map(|(at, field, text)| Some((*at, *field, plain_addresses(text)?)));
    edit_named(&plain.collect::<Vec<_>>(), entity, &mut out, work)?;
    let left = named.into_iter().filter(|(at, ..)| out.get(*at).is_some_and(Option::is_none));
    let left: Vec<_> = left.collect();
    edit_named(&left, entity, &mut out, work)?;
    edit_identifiers(entity, &mut out, work)?;
    edit_typed(entity, &mut out, work)?;
    edit_locations(entity, &mut out, work)?;
    drop_named(entity, &mut out, work)?;
    Ok(out)
}

/// Fields in which no link is looked for, as they read.
fn edit_named(
    fields: &[(usize, &HeaderField<'_>, String)],
    entity: &Entity<'_>,
    out: &mut EditedFields,
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    let texts: Vec<NamedText<&str>> = fields.iter().map(|(.., text)| NamedText::nowhere(text)).collect();
    let found = work.redactions(&texts)?;
    for ((at, field, text), mut edits) in fields.iter().zip(found) {
        if edits.is_empty() {
            continue;
        }
        if !any(field, SHOWN) {
            widen(text, &mut edits, any(field, ADDRESSES));
        }
        edits.iter().for_each(|edit| work.applied(edit));
        put(out, *at, Some(written(field.name, &spliced_text(text, &edits), entity.eol)));
    }
    Ok(())
}

/// Fields go that have values in their names.
fn drop_named(entity: &Entity<'_>, out: &mut EditedFields, work: &mut Work<'_>) -> Result<(), Rejection> {
    let fields = entity.fields.iter().enumerate();
    let named: Vec<_> = fields.filter(|(_, field)| identifiers::has_form(field.name)).collect();
    let names: Vec<&str> = named.iter().map(|(_, field)| field.name).collect();
    for ((at, _), answer) in named.iter().zip(work.names(&names)?) {
        put(out, *at, answer.map(|_| Vec::new()));
    }
    Ok(())
}

fn put(out: &mut EditedFields, at: usize, new: Option<Vec<u8>>) {
    if let (Some(place), Some(new)) = (out.get_mut(at), new) {
        *place = Some(new);
    }
}

/// The fields of an entity that are called so, as they read, and which they are.
fn of_names<'e>(entity: &'e Entity<'_>, names: &[&str]) -> Vec<(usize, &'e str, String)> {
    let fields = entity.fields.iter().enumerate().filter(|(_, field)| any(field, names));
    fields.map(|(at, field)| (at, field.name, decoded(field.value))).collect()
}

/// Identifiers stay identifiers; between them may stand anything.
fn edit_identifiers(
    entity: &Entity<'_>,
    out: &mut EditedFields,
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    let fields = of_names(entity, IDENTIFIERS);
    let split: Vec<Vec<IdentifierPiece<'_>>> = fields.iter().map(|(.., text)| pieces(text)).collect();
    let texts = |is_id: bool| -> Vec<&str> {
        let all = split.iter().flatten().filter(|piece| piece.is_id == is_id);
        all.map(|piece| piece.text).collect()
    };
    let mut ids = identifiers::changed(&texts(true), work)?.into_iter();
    let others = texts(false);
    let blank = others.iter().all(|text| text.trim().is_empty());
    let others = if blank { Vec::new() } else { work.names(&others)? };
    let mut others = others.into_iter();
    for ((at, name, _), pieces) in fields.iter().zip(&split) {
        let (mut new, mut changed) = (String::new(), false);
        for piece in pieces {
            let answer = if piece.is_id { ids.next() } else { others.next() };
            let answer = answer.flatten();
            changed |= answer.is_some();
            let text = answer.as_deref().unwrap_or(piece.text);
            new.push_str(&if piece.is_bracketed { format!("<{text}>") } else { text.to_owned() });
        }
        put(out, *at, changed.then(|| written(name, &new, entity.eol)));
    }
    Ok(())
}

/// An identifier, or what stands beside it.
struct IdentifierPiece<'t> {
    text: &'t str,
    is_id: bool,
    /// It stands in `<` and `>`.
    is_bracketed: bool,
}

/// A field of identifiers in pieces.
fn pieces(text: &str) -> Vec<IdentifierPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        let Some((id, after)) = behind.split_once('>') else { break };
        pieces.push(IdentifierPiece { text: before, is_id: false, is_bracketed: false });
        pieces.push(IdentifierPiece { text: id, is_id: true, is_bracketed: true });
        rest = after;
    }
    // Some programs leave out what stands around one.
    let bare = pieces.is_empty() && !text.contains(char::is_whitespace);
    pieces.push(IdentifierPiece { text: rest, is_id: bare, is_bracketed: false });
    pieces
}

/// Of fields with remarks nothing else is read where it is what it has to be.
fn edit_typed(entity: &Entity<'_>, out: &mut EditedFields, work: &mut Work<'_>) -> Result<(), Rejection> {
    let applies = work.options().redaction == RedactionMode::Apply;
    let mut read = Vec::new();
    for (at, name, text) in of_names(entity, TYPED) {
        let (plain, remarks) = remarked(&text);
        let dated = applies && name.eq_ignore_ascii_case("date");
        // What stands in place of a zone, or behind it, is nothing that a date has, and goes with its remarks.
        if let Some(front) = date_front(plain.trim()).filter(|_| dated) {
            put(out, at, Some(written(name, front, entity.eol)));
            continue;
        }
        let asked = if is_typed(name, plain.trim()) { String::new() } else { plain.clone() };
        let asked = [asked, remarks];
        if asked.iter().any(|text| !text.trim().is_empty()) {
            read.push((at, name, plain, asked));
        }
    }
    let texts: Vec<&str> = read.iter().flat_map(|(.., asked)| asked.iter().map(String::as_str)).collect();
    let mut answers = work.names(&texts)?.into_iter();
    for (at, name, plain, _) in &read {
        let (text, remarks) = (answers.next().flatten(), answers.next().flatten());
        if text.is_some() || remarks.is_some() {
            put(out, *at, Some(written(name, text.as_deref().unwrap_or(plain), entity.eol)));
        }
    }
    Ok(())
}

/// A value without its remarks, and these.
fn remarked(text: &str) -> (String, String) {
    let (mut plain, mut remarks, mut depth) = (String::new(), String::new(), 0_u32);
    for c in text.chars() {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' if depth > 0 => {
                depth = depth.saturating_sub(1);
                remarks.push(' ');
            }
            c if depth > 0 => remarks.push(c),
            c => plain.push(c),
        }
    }
    (plain, remarks)
}

/// Whether a field holds what its name says, and nothing else.
fn is_typed(name: &str, text: &str) -> bool {
    let digits = |text: &str| text.len() <= 10 && text.bytes().all(|b| b.is_ascii_digit());
    match name.to_ascii_lowercase().as_str() {
        "date" => is_date(text),
        "content-length" => digits(text),
        "mime-version" => text.split('.').all(|part| part.len() <= 2 && digits(part)),
        // Tags of languages have parts of up to eight characters (RFC 5646, 2.1).
        _ => text
            .split(',')
            .flat_map(|tag| tag.trim().split('-'))
            .all(|part| part.len() <= 8 && part.bytes().all(|b| b.is_ascii_alphanumeric()) && !digits(part)),
    }
}

/// Bases of links go; where a part came from stays as far as it leads to no computer nearby.
fn edit_locations(entity: &Entity<'_>, out: &mut EditedFields, work: &mut Work<'_>) -> Result<(), Rejection> {
    let strict = work.options().interactive;
    let mut stay = Vec::new();
    for (at, name, text) in of_names(entity, LOCATIONS) {
        let base = name.eq_ignore_ascii_case("content-base");
        let settled = match (strict, base) {
            (true, true) => None,
            (true, false) => mhtml::kept_location(&text),
            (false, _) => Some(text.clone()),
        };
        let Some(settled) = settled else {
            work.acting(ChangedObject::removed(ObjectKind::Reference));
            put(out, at, Some(Vec::new()));
            continue;
        };
        let moved = settled != text;
        work.acting(ChangedObject::new(ObjectKind::Reference, ObjectAction::Disarmed, u64::from(moved)));
        stay.push((at, name, settled, moved));
    }
    let targets: Vec<&str> = stay.iter().map(|(_, _, settled, _)| settled.as_str()).collect();
    let answers = identifiers::targets(&targets, work)?;
    for ((at, name, settled, moved), answer) in stay.iter().zip(answers) {
        let new = answer.or_else(|| moved.then(|| settled.clone()));
        put(out, *at, new.map(|text| written(name, &text, entity.eol)));
    }
    Ok(())
}

/// A value as it reads: on one line, its encoded words decoded. What is not in UTF-8 is in Windows-1252, for most.
pub(super) fn decoded(value: &[u8]) -> String {
    let text = match std::str::from_utf8(value) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(value).0,
    };
    let mut line = text.as_bytes().trim_ascii().to_vec();
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
