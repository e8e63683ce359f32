//! Bodies of parts (RFC 2046 5.1).

use std::borrow::Cow;
use std::ops::Range;

use crate::sanitize::format::mail::entity::{Entity, line};
use crate::sanitize::format::mail::media::Media;
use crate::sanitize::format::mail::new_body::{EntityCleaner, NewBody, PLAIN};
use crate::sanitize::format::mail::transfer::Transfer;
use crate::sanitize::{Rejection, Work, identifiers};

/// How many delimiters are tried where one is to be another.
const TRIES: usize = 64;

/// What programs write before the first part for readers that know no MIME.
const PREAMBLES: &[&[u8]] = &[
    b"This is a multi-part message in MIME format.",
    b"This is a multipart message in MIME format.",
    b"This is a cryptographically signed message in MIME format.",
    b"This is an OpenPGP/MIME signed message (RFC 4880 and 3156)",
];

/// A body, split at its delimiters.
#[derive(PartialEq, Eq)]
struct Split<'b> {
    preamble: &'b [u8],
    parts: Vec<&'b [u8]>,
    /// Behind the closing delimiter; `None` where that is missing.
    epilogue: Option<&'b [u8]>,
}

/// Cleans all parts. What stands around them is shown by no reader, and goes.
///
/// # Errors
/// [`Rejection::Malformed`], [`Rejection::Encrypted`]; the parts'.
pub(super) fn clean(
    whole: &Entity<'_>,
    media: &Media,
    inner: EntityCleaner<'_>,
    work: &mut Work<'_>,
) -> Result<NewBody, Rejection> {
    if media.value == "multipart/encrypted" {
        return Err(Rejection::Encrypted);
    }
    let transfer = Transfer::read(whole.field("content-transfer-encoding").map(|field| field.value));
    let boundary = media.get("boundary").filter(|boundary| !boundary.trim().is_empty());
    let (Some(boundary), Transfer::Plain) = (boundary, transfer) else { return Err(Rejection::Malformed) };
    let split = split(whole.body, boundary.trim_end(), work)?;
    let told = identifiers::edits(&[boundary], identifiers::has_form, work)?.concat();
    told.iter().for_each(|edit| work.applied(edit));
    let mut same = told.is_empty() && split.epilogue.is_some_and(|epilogue| epilogue.trim_ascii().is_empty());
    let preamble = split.preamble.trim_ascii();
    let known = preamble.is_empty() || PREAMBLES.contains(&preamble);
    same &= known;
    // RFC 2046 5.1.5: the parts of a digest are messages.
    let default: &[u8] = if media.value == "multipart/digest" { b"message/rfc822" } else { PLAIN };
    let mut parts: Vec<Cow<'_, [u8]>> = Vec::with_capacity(split.parts.len());
    let mut signed = media.value == "multipart/signed" && split.parts.len() > 1;
    for (at, part) in split.parts.iter().enumerate() {
        if signed && at > 0 {
            // Over what stayed as it was.
            work.part("", part)?;
            parts.push(Cow::Borrowed(part));
            continue;
        }
        let before = parts.len();
        match inner(part, default, work)? {
            None => parts.push(Cow::Borrowed(part)),
            Some(written) if written.is_empty() => {}
            Some(written) => parts.push(Cow::Owned(written)),
        }
        let changed = parts.len() == before || matches!(parts.last(), Some(Cow::Owned(_)));
        if changed && signed {
            signed = false;
            work.unsign(1);
            same = false;
            break;
        }
        same &= !changed;
    }
    if same {
        return Ok(NewBody::Same);
    }
    if parts.is_empty() {
        return Ok(NewBody::Gone);
    }
    let preamble = if known { preamble } else { b"" };
    let unsigned = media.value == "multipart/signed" && !signed;
    let mut media = if unsigned { Media::read(b"multipart/mixed") } else { media.clone() };
    let delimiter = if told.is_empty() { Some(boundary.to_owned()) } else { other_boundary(&parts) };
    let Some(delimiter) = delimiter else { return Err(Rejection::Malformed) };
    media.set("boundary", &delimiter);
    let body = joined(preamble, &parts, delimiter.trim_end(), whole.eol, work)?;
    let media = (unsigned || !told.is_empty()).then_some(media);
    Ok(NewBody::Changed { body, transfer: Transfer::Plain, media })
}

/// A delimiter that stands in no part.
fn other_boundary(parts: &[Cow<'_, [u8]>]) -> Option<String> {
    let mut tried = (0..TRIES).map(|n| format!("=_part_{n}_"));
    tried.find(|boundary| parts.iter().all(|part| memchr::memmem::find(part, boundary.as_bytes()).is_none()))
}

/// Where the parts of a body stand, up to the delimiter that closes them; `None` where none does.
pub(super) fn enclosed(body: &[u8], boundary: &str) -> Option<Range<usize>> {
    let delimiter = [b"--", boundary.as_bytes()].concat();
    let (mut at, mut begin) = (0_usize, None);
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        let (here, _) = line(rest);
        match here.strip_prefix(delimiter.as_slice()).map(<[u8]>::trim_ascii_end) {
            Some(b"") => begin = begin.or(Some(at)),
            Some(b"--") => return begin.map(|begin| begin..at),
            _ => {}
        }
        at = at.saturating_add(here.len());
    }
    None
}

fn split<'b>(body: &'b [u8], boundary: &str, work: &mut Work<'_>) -> Result<Split<'b>, Rejection> {
    let delimiter = [b"--", boundary.as_bytes()].concat();
    let mut split = Split { preamble: b"", parts: Vec::new(), epilogue: None };
    let mut begun: Option<usize> = None;
    let mut rest = body;
    while !rest.is_empty() {
        let at = body.len().saturating_sub(rest.len());
        let (here, behind) = line(rest);
        rest = behind;
        let Some(tail) = here.strip_prefix(delimiter.as_slice()) else { continue };
        let closing = match tail.trim_ascii_end() {
            b"" => false,
            b"--" => true,
            // Some readers take this for the delimiter, too.
            _ => return Err(Rejection::Malformed),
        };
        work.items(1)?;
        let before = body.get(begun.unwrap_or(0)..at).unwrap_or_default();
        // The end of the line before belongs to the delimiter.
        let before = before.strip_suffix(b"\n").unwrap_or(before);
        let before = before.strip_suffix(b"\r").unwrap_or(before);
        if begun.is_some() {
            split.parts.push(before)
        } else {
            split.preamble = before
        }
        begun = Some(body.len().saturating_sub(behind.len()));
        if closing {
            split.epilogue = Some(behind);
            break;
        }
    }
    match (begun, split.epilogue) {
        (None, _) => return Err(Rejection::Malformed),
        (Some(begun), None) => split.parts.push(body.get(begun..).unwrap_or_default()),
        _ => {}
    }
    Ok(split)
}

/// The body; what was put into a part must not look like a delimiter.
fn joined(
    preamble: &[u8],
    parts: &[Cow<'_, [u8]>],
    boundary: &str,
    eol: &str,
    work: &mut Work<'_>,
) -> Result<Vec<u8>, Rejection> {
    let mut out = preamble.to_vec();
    if !preamble.is_empty() {
        out.extend(eol.bytes());
    }
    for part in parts {
        out.extend(format!("--{boundary}{eol}").into_bytes());
        out.extend(part.iter());
        out.extend(eol.bytes());
    }
    out.extend(format!("--{boundary}--{eol}").into_bytes());
    let again = split(&out, boundary, work)?;
    let same =
        again.parts.len() == parts.len() && again.parts.iter().zip(parts).all(|(a, b)| *a == b.as_ref());
    if same { Ok(out) } else { Err(Rejection::Malformed) }
}
