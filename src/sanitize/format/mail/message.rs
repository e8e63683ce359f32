//! [`clean`]: a message and the entities in it, each with its fields and its body.

use std::collections::BTreeSet;

use crate::sanitize::format::mail::entity::{Entity, HeaderField, has_stray};
use crate::sanitize::format::mail::form::{HeadForm, upright};
use crate::sanitize::format::mail::media::Media;
use crate::sanitize::format::mail::new_body::{NewBody, PLAIN};
use crate::sanitize::format::mail::transfer::Transfer;
use crate::sanitize::format::mail::{head, leaf, multipart};
use crate::sanitize::{FileKind, Rejection, Work, name};

/// Parts within parts.
const DEPTH: u32 = 32;

/// Cleans a message that is a file.
///
/// # Errors
/// See [`self`]; [`Rejection::Malformed`] also where it does not begin as messages do.
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    // It is only called one, and some programs find one in it all the same.
    if !HeadForm::behind_envelope(file).is_known() {
        return Err(Rejection::Malformed);
    }
    whole(file, work)
}

/// Cleans a message that is no part of another one.
///
/// # Errors
/// See [`self`].
pub(super) fn whole(raw: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let empty = |eol: &str| NewBody::Changed {
        body: eol.as_bytes().to_vec(),
        transfer: Transfer::Plain,
        media: Some(Media::read(PLAIN)),
    };
    let message = upright(raw)?;
    let clean = entity(&message, PLAIN, 0, Some(&empty), work)?;
    Ok(clean.unwrap_or_else(|| message.into_owned()))
}

type MessageCleaner<'a> = &'a dyn Fn(&str) -> NewBody;

/// Cleans an entity, which is of the media type `default` if it says none; `None`: it stays as it is. Where its body goes,
/// `instead` says what stands there: without it the entity goes too, and nothing is left of it.
fn entity(
    raw: &[u8],
    default: &[u8],
    depth: u32,
    instead: Option<MessageCleaner<'_>>,
    work: &mut Work<'_>,
) -> Result<Option<Vec<u8>>, Rejection> {
    work.items(1)?;
    if depth > DEPTH {
        return Err(Rejection::OverLimit);
    }
    let inner = |raw: &[u8], default: &[u8], work: &mut Work<'_>| {
        self::entity(raw, default, depth.saturating_add(1), None, work)
    };
    let entity = Entity::read(raw);
    let media = Media::read(entity.field("content-type").map_or(default, |field| field.value));
    let (new_body, misnamed) = if media.is_multipart() {
        (multipart::clean(&entity, &media, &inner, work)?, None)
    } else {
        leaf::clean(&entity, &media, &inner, work)?
    };
    let new_body = match (new_body, instead) {
        (NewBody::Gone, None) => return Ok(Some(Vec::new())),
        (NewBody::Gone, Some(instead)) => instead(entity.eol),
        // Behind a line that is no field some readers would go on looking for fields.
        (NewBody::Same, _) if entity.fields.is_empty() && !entity.plain => {
            NewBody::Changed { body: entity.body.to_vec(), transfer: Transfer::Plain, media: Some(media) }
        }
        (new_body, _) => new_body,
    };
    let heads = head::edited(&entity, work)?;
    let mut fields = Vec::with_capacity(entity.fields.len());
    let mut known = BTreeSet::new();
    for (field, edited) in entity.fields.iter().zip(heads) {
        let first = field.structure().is_none_or(|name| known.insert(name));
        fields.push(match edited {
            // Of several, readers pick what they like.
            _ if !first => Vec::new(),
            Some(edited) => edited,
            None => structural(&entity, field, &new_body, misnamed, work)?,
        });
    }
    let same = entity.fields.iter().zip(&fields).all(|(field, written)| field.raw == written);
    if same && entity.plain && matches!(new_body, NewBody::Same) {
        return Ok(None);
    }
    Ok(Some(assembled(&entity, fields, new_body, instead.is_some(), work)))
}

/// Fields that say how a body is to be read, as it is written; `misnamed`: of what kind a file is that gets another name.
fn structural(
    entity: &Entity<'_>,
    field: &HeaderField<'_>,
    new_body: &NewBody,
    misnamed: Option<FileKind>,
    work: &mut Work<'_>,
) -> Result<Vec<u8>, Rejection> {
    let Some(name) = field.structure() else { return Ok(field.raw.to_vec()) };
    let set = |value: &str| format!("{}: {value}{}", field.name, entity.eol).into_bytes();
    let mut media = match (name, new_body) {
        ("content-transfer-encoding", NewBody::Changed { transfer, .. }) => return Ok(set(transfer.name())),
        ("content-type", NewBody::Changed { media: Some(media), .. }) => {
            let mut media = media.clone();
            media.plain = false;
            media
        }
        ("content-type" | "content-disposition", _) => Media::read(field.value),
        _ => return Ok(field.raw.to_vec()),
    };
    media.redact(work)?;
    for param in ["name", "filename"] {
        let fitting = misnamed.zip(media.get(param));
        let fitting = fitting.and_then(|(kind, called)| name::fitting(called, kind, work.options()));
        if let Some(fitting) = fitting {
            media.set(param, &fitting);
            media.plain = false;
        }
    }
    Ok(if media.plain { field.raw.to_vec() } else { set(&media.written()) })
}

fn assembled(
    entity: &Entity<'_>,
    fields: Vec<Vec<u8>>,
    new_body: NewBody,
    whole: bool,
    work: &mut Work<'_>,
) -> Vec<u8> {
    let mut out = Vec::new();
    for (field, written) in entity.fields.iter().zip(fields) {
        if head::is_signature(field) {
            work.unsign(1);
            continue;
        }
        if has_stray(&written) {
            // The end of a line, for some.
            let text = written.trim_ascii_end().iter();
            out.extend(text.map(|b| if matches!(b, 0 | b'\r') { b' ' } else { *b }));
            out.extend(entity.eol.bytes());
            continue;
        }
        out.extend(&written);
        if !written.is_empty() && !written.ends_with(b"\n") {
            out.extend(entity.eol.bytes());
        }
    }
    if let NewBody::Changed { transfer, media, .. } = &new_body {
        let structured =
            media.is_some() || *transfer != Transfer::Plain || entity.field("content-type").is_some();
        if whole && structured && entity.field("mime-version").is_none() {
            out.extend(format!("MIME-Version: 1.0{}", entity.eol).into_bytes());
        }
        if *transfer != Transfer::Plain && entity.field("content-transfer-encoding").is_none() {
            out.extend(format!("Content-Transfer-Encoding: {}{}", transfer.name(), entity.eol).into_bytes());
        }
        if let (Some(media), None) = (media, entity.field("content-type")) {
            out.extend(format!("Content-Type: {}{}", media.written(), entity.eol).into_bytes());
        }
    }
    out.extend(if entity.gap.is_empty() { entity.eol.as_bytes() } else { entity.gap });
    match new_body {
        NewBody::Changed { body, .. } => out.extend(body),
        _ => out.extend(entity.body),
    }
    out
}
