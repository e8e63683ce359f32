//! The fresh revision, and the proof of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use flate2::{Decompress, FlushDecompress, Status};
use lopdf::{Dictionary, Document, Object, ObjectId, SaveOptions, Stream, StringFormat};
use sha2::{Digest, Sha256};

use crate::sanitize::format::pdf::census::Census;
use crate::sanitize::format::pdf::{graph, open, pages};
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
    for object in doc.objects.values_mut() {
        tidy(object, graph::DEPTH);
        if let Object::Stream(stream) = object {
            cut(stream);
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

/// Cuts off what lies behind the compressed data of a stream, which no reader shows.
fn cut(stream: &mut Stream) {
    let filter = match stream.dict.get(b"Filter") {
        Ok(Object::Array(filters)) => filters.first(),
        Ok(filter) => Some(filter),
        Err(_) => None,
    };
    let packed = matches!(filter.map(Object::as_name), Some(Ok(b"FlateDecode" | b"Fl")));
    if packed && let Some(length) = packed_length(&stream.content) {
        stream.content.truncate(length);
    }
}

/// How many bytes of packed data there are (RFC 1950, 2.2): two that say how they are packed, the data, and a checksum of four,
/// at which not every reader looks. `None` if they cannot be read to their end.
fn packed_length(content: &[u8]) -> Option<usize> {
    let [method, flags, packed @ ..] = content else { return None };
    let head = u16::from_be_bytes([*method, *flags]);
    (method & 15 == 8 && flags & 32 == 0 && head.is_multiple_of(31)).then_some(())?;
    let mut inflate = Decompress::new(false);
    let mut scratch = vec![0; 64 << 10];
    loop {
        let (read, made) = (inflate.total_in(), inflate.total_out());
        let rest = packed.get(usize::try_from(read).ok()?..)?;
        let status = inflate.decompress(rest, &mut scratch, FlushDecompress::None).ok()?;
        if status == Status::StreamEnd {
            return usize::try_from(inflate.total_in()).ok()?.checked_add(6);
        }
        if inflate.total_in() == read && inflate.total_out() == made {
            return None;
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

#[cfg(test)]
mod tests {
    use lopdf::dictionary;

    use super::*;

    #[test]
    fn what_lies_behind_packed_data_is_cut_off() {
        // Two blocks as they are, and a checksum.
        let packed: &[u8] = b"\x78\x9c\0\x02\0\xfd\xffab\x01\x01\0\xfe\xffc\x02\x4d\x01\x27";
        let trailed = [packed, b"SECRET"].concat();
        let trailed = trailed.as_slice();
        let name = |name: &str| Object::Name(name.into());
        for (filter, content, want) in [
            (name("FlateDecode"), trailed, packed),
            (vec![name("FlateDecode"), name("DCTDecode")].into(), trailed, packed),
            (name("FlateDecode"), packed, packed),
            // Without its checksum, broken, and packed otherwise.
            (name("FlateDecode"), &packed[..packed.len() - 2], &packed[..packed.len() - 2]),
            (name("FlateDecode"), &trailed[..9], &trailed[..9]),
            (name("FlateDecode"), b"SECRET", b"SECRET"),
            (vec![name("ASCII85Decode"), name("FlateDecode")].into(), trailed, trailed),
        ] {
            let mut stream = Stream::new(dictionary! { "Filter" => filter }, content.to_vec());
            cut(&mut stream);
            assert_eq!(stream.content, want, "{:?}", stream.dict);
        }
    }
}
