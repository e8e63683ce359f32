//! The fresh revision, and the proof of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use lopdf::{Dictionary, Document, Object, ObjectId, SaveOptions, Stream, StringFormat};
use sha2::{Digest, Sha256};

use crate::sanitize::format::pdf::census::Census;
use crate::sanitize::format::pdf::{graph, open, pages, tail};
use crate::sanitize::{Rejection, Work};

/// How many signs of a literal string are escaped at most; with more it is written in hexadecimal, since each takes a
/// search through all of them.
const ESCAPES: usize = 64;

/// Versions that a header may name; another becomes the last of them before PDF 2.0.
const VERSIONS: &[&str] = &["1.5", "1.6", "1.7", "2.0"];

/// Writes what is reachable: numbered in the order of reading, in object streams, once, with nothing around it. The
/// same document is written the same.
///
/// # Errors
/// [`Rejection::Malformed`] without a catalog.
pub(super) fn write(doc: &mut Document) -> Result<Vec<u8>, Rejection> {
    renumber(doc)?;
    let images = tail::images(doc);
    for (id, object) in &mut doc.objects {
        tidy(object, graph::DEPTH);
        if let Object::Stream(stream) = object {
            tail::cut(stream, images.get(id).copied());
            squeeze(stream);
        }
    }
    if !VERSIONS.contains(&doc.version.as_str()) {
        doc.version = if doc.version.as_str() < "1.5" { "1.5" } else { "1.7" }.to_owned();
    }
    doc.binary_mark = vec![0xBB, 0xAD, 0xC0, 0xDE];
    // The identity follows from the content.
    let digest = Sha256::digest(save(doc)?);
    let id = Object::String(digest.iter().take(16).copied().collect(), StringFormat::Hexadecimal);
    doc.trailer.set("ID", vec![id.clone(), id]);
    save(doc)
}

fn save(doc: &mut Document) -> Result<Vec<u8>, Rejection> {
    let mut out = Vec::new();
    let options = SaveOptions::builder().use_object_streams(true).use_xref_streams(true).build();
    doc.save_with_options(&mut out, options).map_err(|_| Rejection::Malformed)?;
    Ok(out)
}

/// Numbers the objects from 1 on in the order in which the trailer leads to them, and drops all others. References to
/// nothing become nothing, instead of leading to whatever gets their number.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn renumber(doc: &mut Document) -> Result<(), Rejection> {
    let mut trailer = Dictionary::new();
    for key in ["Root", "Info"] {
        if let Ok(value @ (Object::Reference(_) | Object::Dictionary(_))) = doc.trailer.get(key.as_bytes()) {
            trailer.set(key, value.clone());
        }
    }
    doc.trailer = trailer;
    let mut queue = VecDeque::new();
    let mut seen = BTreeSet::new();
    let mut order = Vec::new();
    doc.trailer.iter().for_each(|(_, value)| references(value, graph::DEPTH, &mut queue));
    while let Some(id) = queue.pop_front() {
        let Some(object) = doc.objects.get(&id) else { continue };
        // Such streams are the file's own, and are made anew.
        let own = graph::dict(object).is_some_and(|dict| {
            [b"ObjStm".as_slice(), b"XRef"].contains(&graph::name(doc, dict, b"Type"))
                && object.as_stream().is_ok()
        });
        if !own && seen.insert(id) {
            order.push(id);
            references(object, graph::DEPTH, &mut queue);
        }
    }
    let mut numbers = BTreeMap::new();
    for (n, id) in order.iter().enumerate() {
        let n = u32::try_from(n).ok().and_then(|n| n.checked_add(1)).ok_or(Rejection::OverLimit)?;
        numbers.insert(*id, (n, 0));
    }
    let mut old = std::mem::take(&mut doc.objects);
    for (id, number) in &numbers {
        if let Some(mut object) = old.remove(id) {
            lead(&mut object, graph::DEPTH, &numbers);
            doc.objects.insert(*number, object);
        }
    }
    doc.trailer.iter_mut().for_each(|(_, value)| lead(value, graph::DEPTH, &numbers));
    doc.max_id = u32::try_from(numbers.len()).map_err(|_| Rejection::OverLimit)?;
    Ok(())
}

fn references(object: &Object, depth: usize, queue: &mut VecDeque<ObjectId>) {
    match object {
        Object::Reference(id) => queue.push_back(*id),
        Object::Array(items) if depth > 0 => items.iter().for_each(|item| references(item, depth - 1, queue)),
        object if depth > 0 => {
            graph::dict(object)
                .into_iter()
                .flatten()
                .for_each(|(_, value)| references(value, depth - 1, queue));
        }
        _ => {}
    }
}

fn lead(object: &mut Object, depth: usize, numbers: &BTreeMap<ObjectId, ObjectId>) {
    if depth == 0 {
        *object = Object::Null;
        return;
    }
    match object {
        Object::Reference(id) => match numbers.get(id) {
            Some(number) => *id = *number,
            None => *object = Object::Null,
        },
        Object::Array(items) => items.iter_mut().for_each(|item| lead(item, depth - 1, numbers)),
        object => {
            if let Some(dict) = graph::dict_mut(object) {
                dict.iter_mut().for_each(|(_, value)| lead(value, depth - 1, numbers));
                // An entry that is nothing is the same as no entry.
                dict.as_hashmap_mut().retain(|_, value| !value.is_null());
            }
        }
    }
}

/// Makes of values what can be written and read again the same.
fn tidy(object: &mut Object, depth: usize) {
    if depth == 0 {
        return;
    }
    match object {
        Object::Real(n) if !n.is_finite() => *object = Object::Integer(0),
        Object::String(bytes, format) => {
            let escaped =
                bytes.iter().filter(|byte| b"()\\\r".contains(byte)).take(ESCAPES.saturating_add(1));
            if escaped.count() > ESCAPES {
                *format = StringFormat::Hexadecimal;
            }
        }
        Object::Array(items) => items.iter_mut().for_each(|item| tidy(item, depth - 1)),
        object => {
            if let Some(dict) = graph::dict_mut(object) {
                dict.iter_mut().for_each(|(_, value)| tidy(value, depth - 1));
            }
        }
    }
}

/// Compresses a stream that is not, and states its length.
fn squeeze(stream: &mut Stream) {
    let metadata = matches!(stream.dict.get(b"Type"), Ok(Object::Name(name)) if name == b"Metadata");
    let length = i64::try_from(stream.content.len()).unwrap_or(i64::MAX);
    stream.dict.set("Length", length);
    if !metadata && !stream.dict.has(b"DecodeParms") {
        // One that cannot be compressed stays as it is.
        stream.compress().unwrap_or_default();
    }
}

/// Reads the clean file again, as another reader and as this one: both have to see the same pages, and nothing that
/// should have gone.
///
/// # Errors
/// [`Rejection::Unproven`].
pub(super) fn prove(clean: &[u8], count: usize, work: &mut Work<'_>) -> Result<(), Rejection> {
    let other = hayro_syntax::Pdf::new(Arc::new(clean.to_vec())).map_err(|_| Rejection::Unproven)?;
    let mut doc = open::open(clean, work).map_err(|_| Rejection::Unproven)?;
    let seen = pages::settle(&mut doc, work).map_err(|_| Rejection::Unproven)?;
    let options = work.options();
    let left = Census::take(&doc, options, &seen);
    let same = other.pages().len() == count && seen.len() == count;
    if same && left.is_empty(options) { Ok(()) } else { Err(Rejection::Unproven) }
}
