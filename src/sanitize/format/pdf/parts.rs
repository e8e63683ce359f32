//! What of a document is shown to scanners: streams as they unfold, scripts, attached files under their names.

use std::collections::BTreeMap;

use lopdf::{DecompressError, Dictionary, Document, Error, Object, ObjectId, Stream};

use crate::sanitize::budget::{FREE, RATIO};
use crate::sanitize::format::pdf::{graph, strings};
use crate::sanitize::{Rejection, Work, unfold};

/// Shows every stream and every script, reachable or not.
///
/// # Errors
/// The host's; [`Rejection::OverLimit`] if they unfold to too much.
pub(super) fn show(doc: &Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    let names = names(doc);
    for (id, object) in &doc.objects {
        if let Object::Stream(stream) = object {
            let name = names.get(id).map_or("stream", String::as_str);
            let bytes = unfold(stream, work)?;
            work.part(name, bytes.as_deref().unwrap_or(&stream.content))?;
        }
        let mut scripts = Vec::new();
        graph::each(object, b"", graph::DEPTH, &mut |_, dict| {
            if let Ok(Object::String(script, _)) = dict.get(b"JS") {
                scripts.push(script);
            }
        });
        scripts.iter().try_for_each(|script| work.part("script.js", script))?;
    }
    Ok(())
}

/// What a stream unfolds to, out of the budget; nothing if its filters are those of an image, or it is broken.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn unfold(stream: &Stream, work: &mut Work<'_>) -> Result<Option<Vec<u8>>, Rejection> {
    if !stream.dict.has(b"Filter") {
        return Ok(None);
    }
    let room = work.room();
    let free = usize::try_from(FREE).unwrap_or(usize::MAX);
    let unfolded = match stream.decompressed_content_with_limit(room.min(free)) {
        Err(Error::Decompress(DecompressError::MemoryLimitExceeded { .. }))
            if room > free && !unfold::is_bomb(&stream.content) =>
        {
            let most = usize::try_from(RATIO).unwrap_or_default().saturating_mul(stream.content.len());
            stream.decompressed_content_with_limit(room.min(most.max(free)))
        }
        unfolded => unfolded,
    };
    match unfolded {
        Ok(bytes) => {
            work.unpacked(bytes.len())?;
            Ok(Some(bytes))
        }
        Err(Error::Decompress(
            DecompressError::MemoryLimitExceeded { .. } | DecompressError::TooManyFilters { .. },
        )) => Err(Rejection::OverLimit),
        Err(_) => Ok(None),
    }
}

/// Cleans the attached files that stay.
///
/// # Errors
/// Those of their formats.
pub(super) fn keep(doc: &mut Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    for (id, name) in names(doc) {
        let Some(Object::Stream(stream)) = doc.objects.get(&id) else { continue };
        let mut clean = stream.clone();
        let bytes = unfold(stream, work)?.unwrap_or_else(|| stream.content.clone());
        let kept = work.file(&name, &bytes)?;
        if kept == bytes {
            continue;
        }
        // Size and checksum are the old file's.
        clean.dict.remove(b"Params");
        clean.dict.remove(b"DL");
        clean.set_plain_content(kept);
        doc.objects.insert(id, Object::Stream(clean));
    }
    Ok(())
}

/// The streams of attached files, and what these are called.
fn names(doc: &Document) -> BTreeMap<ObjectId, String> {
    let mut names = BTreeMap::new();
    for object in doc.objects.values() {
        graph::each(object, b"", graph::DEPTH, &mut |_, spec| {
            let Some(files) = graph::sub(doc, spec, b"EF") else { return };
            let called = [b"UF".as_slice(), b"F", b"Unix", b"DOS", b"Mac"]
                .iter()
                .find_map(|key| strings::text(graph::entry(doc, spec, key)));
            for (_, file) in files.iter() {
                if let Some(id) = graph::target(doc, file) {
                    names.insert(id, called.clone().unwrap_or_else(|| "attachment".to_owned()));
                }
            }
        });
    }
    names
}

/// What a stream entry unfolds to.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn entry(
    doc: &Document,
    dict: &Dictionary,
    key: &[u8],
    work: &mut Work<'_>,
) -> Result<Option<Vec<u8>>, Rejection> {
    let Object::Stream(stream) = graph::entry(doc, dict, key) else { return Ok(None) };
    let bytes = unfold(stream, work)?;
    Ok(Some(bytes.unwrap_or_else(|| stream.content.clone())))
}
