//! [`open`]: the document in a file.

use lopdf::xref::XrefEntry;
use lopdf::{Document, Error, LoadOptions, Object};

use crate::sanitize::format::pdf::graph;
use crate::sanitize::{Rejection, Work};

/// What one stream of objects may unfold to while a file is opened, bytes.
const STREAM: usize = 64 << 20;

/// Opens a file: whatever stands before its header is skipped, a broken cross-reference table is made anew, and one
/// that needs the empty password or the one that its owner gave is decrypted.
///
/// # Errors
/// [`Rejection::Encrypted`] without a password, [`Rejection::WrongPassword`] with another, [`Rejection::Malformed`],
/// [`Rejection::OverLimit`].
pub(super) fn open(file: &[u8], work: &mut Work<'_>) -> Result<Document, Rejection> {
    let limit = work.room().min(STREAM);
    let (mut doc, password) = match identified_or(file, limit, None) {
        Err(Rejection::Encrypted) => {
            let password = work.password()?.ok_or(Rejection::Encrypted)?;
            let doc =
                identified_or(file, limit, Some(password.expose())).map_err(|rejection| match rejection {
                    Rejection::Encrypted => Rejection::WrongPassword,
                    other => other,
                });
            (doc?, Some(password))
        }
        doc => (doc?, None),
    };
    let password = password.as_ref().map(|password| password.expose().as_str());
    // The table may be readable and yet wrong.
    let lost = lost(&doc);
    if (lost > 0 || doc.catalog().is_err())
        && let Ok(anew) = read(file, limit, OpenMode { anew: true, password })
        && anew.catalog().is_ok()
        && anew.objects.len() > doc.objects.len()
    {
        doc = anew;
    }
    work.items(doc.objects.len())?;
    let size: usize = doc.objects.values().map(graph::weight).sum();
    work.items(size)?;
    doc.trailer.remove(b"Encrypt");
    shorten(&mut doc);
    Ok(doc)
}

/// How a file is read.
#[derive(Clone, Copy)]
struct OpenMode<'p> {
    /// Whether its table is made anew.
    anew: bool,
    password: Option<&'p str>,
}

/// Loads a file, also one that lacks what keys are derived from.
fn identified_or(file: &[u8], limit: usize, password: Option<&String>) -> Result<Document, Rejection> {
    let password = password.map(String::as_str);
    match load(file, limit, password) {
        Err(Rejection::Encrypted) => {
            identified(file).map_or(Err(Rejection::Encrypted), |file| load(&file, limit, password))
        }
        doc => doc,
    }
}

fn load(file: &[u8], limit: usize, password: Option<&str>) -> Result<Document, Rejection> {
    read(file, limit, OpenMode { anew: false, password }).or_else(|rejection| match rejection {
        Rejection::Malformed => read(file, limit, OpenMode { anew: true, password }),
        other => Err(other),
    })
}

fn read(file: &[u8], limit: usize, way: OpenMode<'_>) -> Result<Document, Rejection> {
    let options = LoadOptions {
        max_decompressed_size: Some(limit),
        force_reconstruct: way.anew,
        password: way.password.map(str::to_owned),
        ..LoadOptions::default()
    };
    let doc = Document::load_mem_with_options(file, options).map_err(|error| match error {
        Error::Decryption(_) | Error::InvalidPassword | Error::UnsupportedSecurityHandler(_) => {
            Rejection::Encrypted
        }
        Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { .. }) => Rejection::OverLimit,
        _ => Rejection::Malformed,
    })?;
    if doc.trailer.has(b"Encrypt") && !doc.was_encrypted() {
        return Err(Rejection::Encrypted);
    }
    Ok(doc)
}

/// How many objects are in use according to the table, and not where it says.
fn lost(doc: &Document) -> usize {
    let used = doc.reference_table.entries.iter().filter_map(|(number, entry)| match entry {
        XrefEntry::Normal { generation, .. } => Some((*number, *generation)),
        _ => None,
    });
    used.filter(|id| !doc.objects.contains_key(id)).count()
}

/// The file with an empty `/ID` in its last trailer, if it has none: without one, keys cannot be derived, although
/// files of before PDF 1.1 and some writers leave it out. Nothing that is referred to lies behind a trailer.
fn identified(file: &[u8]) -> Option<Vec<u8>> {
    let trailer = memchr::memmem::rfind(file, b"trailer")?;
    let rest = file.get(trailer..)?;
    if memchr::memmem::find(rest, b"/ID").is_some() {
        return None;
    }
    let at = trailer.checked_add(memchr::memmem::find(rest, b"<<")?)?.checked_add(2)?;
    let mut out = file.get(..at)?.to_vec();
    out.extend_from_slice(b"/ID[<><>]");
    out.extend_from_slice(file.get(at..)?);
    Some(out)
}

/// Has references to references lead to their end, so that an object has one number.
fn shorten(doc: &mut Document) {
    let ends: Vec<_> = doc
        .objects
        .iter()
        .filter(|(_, object)| matches!(object, Object::Reference(_)))
        .map(|(id, object)| (*id, doc.dereference(object).ok().and_then(|(id, _)| id)))
        .collect();
    if ends.is_empty() {
        return;
    }
    let ends: std::collections::BTreeMap<_, _> = ends.into_iter().collect();
    let lead = |object: &mut Object| {
        let Object::Reference(id) = object else { return };
        match ends.get(id) {
            Some(Some(end)) => *id = *end,
            Some(None) => *object = Object::Null,
            None => {}
        }
    };
    doc.traverse_objects(lead);
    doc.objects.retain(|_, object| !matches!(object, Object::Reference(_)));
}
