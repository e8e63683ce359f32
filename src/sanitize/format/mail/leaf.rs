//! Bodies of content: texts, pages, messages, attachments.

use crate::sanitize::format::charset::BOM;
use crate::sanitize::format::mail::charset_text::{CharsetText, is_mislabelled};
use crate::sanitize::format::mail::entity::Entity;
use crate::sanitize::format::mail::form;
use crate::sanitize::format::mail::head;
use crate::sanitize::format::mail::media::Media;
use crate::sanitize::format::mail::new_body::{EntityCleaner, NewBody, PLAIN};
use crate::sanitize::format::mail::transfer::Transfer;
use crate::sanitize::{ChangedObject, FileKind, ObjectAction, ObjectKind, Rejection, Work, name};

/// What readers show as text.
const TEXTS: &[&str] = &[
    "text/plain",
    "text/markdown",
    "text/enriched",
    "text/rfc822-headers",
    "message/delivery-status",
    "message/disposition-notification",
    "message/feedback-report",
];

/// Header fields of a message that was not delivered, in place of it (RFC 6522, 4).
const HEADERS: &str = "text/rfc822-headers";

/// What became of a message, in groups of fields that are written as those of a header (RFC 3464, RFC 8098, RFC 5965).
const REPORTS: &[&str] =
    &["message/delivery-status", "message/disposition-notification", "message/feedback-report"];

/// What only names a file that lies elsewhere, or is a piece of a message of which others hold the rest (RFC 2046, 5.2.2, 5.2.3):
/// a reader fetches it, or puts it together with what was not looked at.
const ELSEWHERE: &[&str] = &["message/external-body", "message/partial"];

/// Fields of parts that a page or a reader shows where they belong (RFC 2387, RFC 2557, RFC 2183).
const SHOWING: &[&str] = &["content-id", "content-location", "content-disposition"];

/// How a text is called that is written in lines of a length that a reader parts as he likes (RFC 3676), and what that says.
const FLOWED: [(&str, &str); 2] = [("format", "flowed"), ("delsp", "yes")];

/// A decoded body, how it was encoded, and whether it can stay so.
struct LeafContent {
    bytes: Vec<u8>,
    transfer: Transfer,
    exact: bool,
}

/// How a part is written.
#[derive(Clone, Copy)]
struct WrittenPart<'p> {
    media: &'p Media,
    eol: &'p str,
}

/// Cleans a body; and what kind of file it is, where it has to be called otherwise.
///
/// # Errors
/// [`Rejection::Encrypted`]; those of the body's own format.
pub(super) fn clean(
    whole: &Entity<'_>,
    media: &Media,
    inner: EntityCleaner<'_>,
    work: &mut Work<'_>,
) -> Result<(NewBody, Option<FileKind>), Rejection> {
    let mut kind = None;
    body(whole, media, inner, &mut kind, work).map(|body| (body, kind))
}

fn body(
    whole: &Entity<'_>,
    media: &Media,
    inner: EntityCleaner<'_>,
    is: &mut Option<FileKind>,
    work: &mut Work<'_>,
) -> Result<NewBody, Rejection> {
    if matches!(media.value.as_str(), "application/pkcs7-mime" | "application/x-pkcs7-mime") {
        return Err(Rejection::Encrypted);
    }
    let placed = Media::read(whole.field("content-disposition").map_or(b"inline", |field| field.value));
    let called: Vec<&str> = placed.all("filename").chain(media.all("name")).collect();
    // Some clients take one, some the other: it is what acts under either.
    let acting = called.iter().find(|name| name::acts(name));
    let name =
        acting.or_else(|| called.iter().find(|name| !name.is_empty())).map_or("", |name| *name).to_owned();
    let transfer = Transfer::read(whole.field("content-transfer-encoding").map(|field| field.value));
    let Some((bytes, exact)) = transfer.decoded(whole.body) else {
        return left_out(&name, Rejection::Malformed, work);
    };
    work.unpacked(bytes.len())?;
    let content = LeafContent { bytes, transfer, exact };
    let attached = placed.value == "attachment";
    if matches!(media.value.as_str(), "message/rfc822" | "message/global")
        && !(attached && work.options().attachments)
    {
        if let Some(fitting) = name::fitting(&name, FileKind::Mail, work.options()) {
            work.renamed(&fitting);
            *is = Some(FileKind::Mail);
        }
        return message(content, inner, work);
    }
    if !attached && name.is_empty() && media.value == "text/html" {
        return text(FileKind::Html, content, WrittenPart { media, eol: whole.eol }, work);
    }
    if !attached && name.is_empty() && TEXTS.contains(&media.value.as_str()) {
        let reports = REPORTS.contains(&media.value.as_str());
        let content =
            if reports || media.value == HEADERS { with_heads(content, reports, work)? } else { content };
        let kind = if media.value == "text/markdown" { FileKind::Markdown } else { FileKind::Text };
        return text(kind, content, WrittenPart { media, eol: whole.eol }, work);
    }
    // A page finds its pictures by the one or the other.
    let shown = SHOWING.iter().any(|name| whole.field(name).is_some());
    let inline = !attached && shown && work.identify(&name, &content.bytes) == FileKind::Image;
    if work.options().attachments && !inline {
        work.part(&name, &content.bytes)?;
        work.detached(ChangedObject::removed(ObjectKind::Attachment).in_part(&name));
        return Ok(NewBody::Gone);
    }
    if ELSEWHERE.contains(&media.value.as_str()) && work.options().interactive {
        work.part(&name, &content.bytes)?;
        work.acting(ChangedObject::removed(ObjectKind::Reference).in_part(&name));
        return Ok(NewBody::Gone);
    }
    file(&name, content, WrittenPart { media, eol: whole.eol }, is, work)
}

/// Cleans a file that stays.
fn file(
    name: &str,
    content: LeafContent,
    part: WrittenPart<'_>,
    is: &mut Option<FileKind>,
    work: &mut Work<'_>,
) -> Result<NewBody, Rejection> {
    let text = CharsetText::of_file(name, &content.bytes, part.media, work);
    let read = text.as_ref().map(CharsetText::in_utf8);
    // Scanners see what came as well.
    if read.is_some() {
        work.part(name, &content.bytes)?;
    }
    let before = read.as_deref().unwrap_or(&content.bytes);
    let clean = work.file_of(name, before);
    // What must not be called as it is does not stay, but for a document that has lost its macros: a person wants it.
    if let Ok((kind, _)) = &clean
        && name::fitting(name, *kind, work.options()).is_some()
    {
        if *kind != FileKind::Ooxml {
            return left_out(name, Rejection::Script, work);
        }
        work.renamed(name);
        *is = Some(*kind);
    }
    let clean = match clean.map(|(_, clean)| clean) {
        Ok(clean) => clean,
        Err(rejection) if rejection.leaves_out() => return left_out(name, rejection, work),
        Err(rejection) => return Err(rejection),
    };
    let sure = text.as_ref().map_or_else(|| !is_mislabelled(part.media, before, &clean), |text| text.sure);
    if clean == before && content.exact && sure {
        return Ok(NewBody::Same);
    }
    let relabelled = (text.is_some() || !sure).then(|| in_utf8(part.media));
    let file = match text {
        Some(text) => text.file(&clean),
        None => clean,
    };
    Ok(NewBody::Changed {
        body: Transfer::Base64.encoded(&file, part.eol),
        transfer: Transfer::Base64,
        media: relabelled,
    })
}

/// A type of the same value in UTF-8.
fn in_utf8(media: &Media) -> Media {
    let mut media = media.clone();
    media.set("charset", "utf-8");
    media
}

fn left_out(name: &str, why: Rejection, work: &mut Work<'_>) -> Result<NewBody, Rejection> {
    work.leave_out(ChangedObject::left_out(ObjectKind::File).in_part(name).because(why));
    Ok(NewBody::Gone)
}

fn message(
    content: LeafContent,
    inner: EntityCleaner<'_>,
    work: &mut Work<'_>,
) -> Result<NewBody, Rejection> {
    work.part("message.eml", &content.bytes)?;
    let upright = form::upright(&content.bytes)?;
    let same = content.exact && *upright == *content.bytes;
    match inner(&upright, PLAIN, work)? {
        None if same => Ok(NewBody::Same),
        Some(body) if body.is_empty() => Ok(NewBody::Gone),
        body => Ok(NewBody::Changed {
            body: body.unwrap_or_else(|| upright.into_owned()),
            transfer: Transfer::Plain,
            media: None,
        }),
    }
}

/// A text of header fields, or of several groups of them, each cleaned as that: values may stand in encoded words, addresses
/// among comments.
fn with_heads(content: LeafContent, several: bool, work: &mut Work<'_>) -> Result<LeafContent, Rejection> {
    let (mut bytes, mut changed) = (Vec::with_capacity(content.bytes.len()), false);
    let mut rest = content.bytes.as_slice();
    loop {
        work.items(1)?;
        let entity = Entity::read(rest);
        for (field, edited) in entity.fields.iter().zip(head::edited(&entity, work)?) {
            changed |= edited.is_some();
            bytes.extend_from_slice(edited.as_deref().unwrap_or(field.raw));
        }
        bytes.extend_from_slice(entity.gap);
        let is_last = !several || entity.gap.is_empty() || entity.body.is_empty();
        rest = entity.body;
        if is_last {
            break;
        }
    }
    if !changed {
        return Ok(content);
    }
    bytes.extend_from_slice(rest);
    Ok(LeafContent { bytes, exact: false, ..content })
}

/// A text in whose lines a reader puts those together that end with a blank, without this (RFC 3676, 4); `None` where there are
/// none.
fn unflowed(text: &str) -> Option<String> {
    let (mut out, mut is_joined) = (String::with_capacity(text.len()), false);
    // How often the line before is quoted, and where it ends without its blank, where it goes on in the next.
    let mut before: Option<(usize, usize)> = None;
    for line in text.split_inclusive('\n') {
        let shown = line.trim_end_matches(['\r', '\n']);
        let depth = shown.bytes().take_while(|b| *b == b'>').count();
        let content = shown.get(depth..).unwrap_or_default();
        let content = content.strip_prefix(' ').unwrap_or(content);
        let ending = line.get(shown.len()..).unwrap_or_default();
        // What parts a text from who wrote it.
        let is_separator = content == "-- ";
        match before.filter(|(quoted, _)| *quoted == depth && !is_separator) {
            Some((_, end)) => {
                out.truncate(end);
                out.push_str(content);
                out.push_str(ending);
                is_joined = true;
            }
            None => out.push_str(line),
        }
        let goes_on = content.ends_with(' ') && !is_separator;
        let end = out.len().saturating_sub(ending.len()).saturating_sub(1);
        before = goes_on.then_some((depth, end));
    }
    is_joined.then_some(out)
}

/// A text is cleaned as UTF-8, whatever it is in, and written as that when it changes.
fn text(
    kind: FileKind,
    content: LeafContent,
    part: WrittenPart<'_>,
    work: &mut Work<'_>,
) -> Result<NewBody, Rejection> {
    let read = CharsetText::read(&content.bytes, part.media.get("charset"));
    let (shown, files) =
        if kind != FileKind::Html && work.options().attachments { stripped(&read.text) } else { (None, 0) };
    work.detached(ChangedObject::new(ObjectKind::Attachment, ObjectAction::Removed, files));
    let shown = shown.as_deref().unwrap_or(&read.text);
    let is_flowed = part.media.value == "text/plain"
        && FLOWED.iter().all(|(name, value)| {
            part.media.get(name).is_some_and(|said| said.trim().eq_ignore_ascii_case(value))
        });
    let flowing = if is_flowed { unflowed(shown) } else { None };
    let marked = [BOM, flowing.as_deref().unwrap_or(shown).as_bytes()].concat();
    let clean = work.clean(kind, &marked)?;
    if clean == marked && files == 0 && content.exact && read.sure {
        return Ok(NewBody::Same);
    }
    let clean = String::from_utf8_lossy(clean.strip_prefix(BOM).unwrap_or(&clean)).into_owned();
    // It is written in the lines that a reader shows, however long these are.
    let fixed = flowing.is_some().then(|| part.media.without(&FLOWED.map(|(name, _)| name)));
    let media = fixed.as_ref().unwrap_or(part.media);
    let as_it_stood = read.as_it_stood(&content.bytes, &clean, media);
    // Programs take patches and settings out of texts, as they stand in them.
    if let Some(relabelled) = as_it_stood
        && kind != FileKind::Html
        && content.transfer == Transfer::Plain
        && flowing.is_none()
    {
        let media = relabelled.then(|| in_utf8(media));
        return Ok(NewBody::Changed { body: clean.into_bytes(), transfer: Transfer::Plain, media });
    }
    let transfer = Transfer::for_text(&clean);
    let body = transfer.encoded(clean.as_bytes(), part.eol);
    Ok(NewBody::Changed { body, transfer, media: Some(in_utf8(media)) })
}

/// A text without the files that some readers find in it (POSIX.1-2017, uuencode), and how many those were.
fn stripped(text: &str) -> (Option<String>, u64) {
    let mut files = 0_u64;
    let mut out = String::new();
    let mut within = false;
    for line in text.split_inclusive('\n') {
        let mut words = line.split_ascii_whitespace();
        let begins = matches!(words.next(), Some("begin" | "begin-base64"))
            && line.starts_with("begin")
            && words.next().is_some_and(|mode| {
                matches!(mode.len(), 3 | 4) && mode.bytes().all(|b| matches!(b, b'0'..=b'7'))
            })
            && words.next().is_some();
        if begins && !within {
            within = true;
            files = files.saturating_add(1);
        }
        if !within {
            out.push_str(line);
        }
        if within && matches!(line.trim_ascii(), "end" | "====") {
            within = false;
        }
    }
    ((files > 0).then_some(out), files)
}
