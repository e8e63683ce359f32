//! Text strings (ISO 32000-2, 7.9.2): titles, notes, values, metadata; and the targets of links.

use lopdf::{Dictionary, Document, Object, StringFormat};

use crate::edit::spliced_text;
use crate::sanitize::format::pdf::graph;
use crate::sanitize::values::Needles;
use crate::sanitize::{RedactionMode, Rejection, Work};

/// Keys whose strings are no text.
const BYTES: &[&[u8]] =
    &[b"CharSet", b"Registry", b"Ordering", b"DA", b"CheckSum", b"Lookup", b"Cert", b"JS", b"URI", b"Panose"];

/// A text string as text: UTF-16 or UTF-8 by its mark, else PDFDocEncoding, in which what has no meaning stands for
/// itself as in Latin-1.
pub(super) fn text(object: &Object) -> Option<String> {
    let Object::String(bytes, _) = object else { return None };
    Some(decoded(bytes))
}

fn decoded(bytes: &[u8]) -> String {
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        let units: Vec<u16> =
            rest.chunks_exact(2).filter_map(|pair| pair.try_into().ok().map(u16::from_be_bytes)).collect();
        return String::from_utf16_lossy(&units);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        let units: Vec<u16> =
            rest.chunks_exact(2).filter_map(|pair| pair.try_into().ok().map(u16::from_le_bytes)).collect();
        return String::from_utf16_lossy(&units);
    }
    let string = Object::String(bytes.to_vec(), StringFormat::Literal);
    lopdf::decode_text_string(&string)
        .unwrap_or_else(|_| bytes.iter().map(|byte| char::from(*byte)).collect())
}

/// Asks about all links: one that is to be defanged, or holds what is redacted, loses its action, which strikes it out
/// wherever it is used.
///
/// # Errors
/// The host's.
pub(super) fn links(doc: &mut Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    let mut found = Vec::new();
    for object in doc.objects.values_mut() {
        dicts(object, graph::DEPTH, &mut |dict| found.extend(link(dict)));
    }
    let texts: Vec<&str> = found.iter().map(String::as_str).collect();
    let mut all = work.targets(&texts)?.into_iter();
    for object in doc.objects.values_mut() {
        dicts(object, graph::DEPTH, &mut |dict| {
            if link(dict).is_some() && all.next().flatten().is_some() {
                *dict = Dictionary::new();
            }
        });
    }
    Ok(())
}

/// The target of a link.
fn link(dict: &Dictionary) -> Option<String> {
    match dict.get(b"URI") {
        Ok(Object::String(bytes, _)) if dict.has(b"S") => Some(decoded(bytes)),
        _ => None,
    }
}

/// Removes values that were found elsewhere from all strings, the targets of links too.
pub(super) fn remove(doc: &mut Document, needles: &Needles, work: &mut Work<'_>) {
    let mut change = |bytes: &mut Vec<u8>, format: &mut StringFormat| {
        if let Object::String(new, written) = without(&decoded(bytes), needles, work) {
            (*bytes, *format) = (new, written);
        }
    };
    every(doc, &mut change);
    for object in doc.objects.values_mut() {
        dicts(object, graph::DEPTH, &mut |dict| {
            if let Ok(Object::String(bytes, format)) = dict.get_mut(b"URI") {
                change(bytes, format);
            }
        });
    }
}

/// A text without the values; null if it holds none.
fn without(text: &str, needles: &Needles, work: &mut Work<'_>) -> Object {
    let edits = needles.edits(text);
    if edits.is_empty() {
        return Object::Null;
    }
    edits.iter().for_each(|edit| work.applied(edit));
    lopdf::text_string(&spliced_text(text, &edits))
}

/// Rewrites all other text strings, where something in them is to change. The rich text of annotations (12.7.4.4), which
/// repeats their contents in markup, is left out of a redacted file.
///
/// # Errors
/// The host's.
pub(super) fn rewrite(doc: &mut Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    if work.options().redaction == RedactionMode::Apply {
        for object in doc.objects.values_mut() {
            dicts(object, graph::DEPTH, &mut |dict| {
                dict.remove(b"RC");
            });
        }
    }
    let mut found = Vec::new();
    every(doc, &mut |bytes, _| found.push(decoded(bytes)));
    let texts: Vec<&str> = found.iter().map(String::as_str).collect();
    let mut all = work.texts(&texts)?.into_iter();
    every(doc, &mut |bytes, format| {
        let Some(Some(text)) = all.next() else { return };
        if let Object::String(new, written) = lopdf::text_string(&text) {
            (*bytes, *format) = (new, written);
        }
    });
    Ok(())
}

/// Every text string of a document, in one order.
fn every(doc: &mut Document, see: &mut dyn FnMut(&mut Vec<u8>, &mut StringFormat)) {
    for object in doc.objects.values_mut() {
        strings(object, b"", graph::DEPTH, see);
    }
    // The file's own identifier follows from its content.
    for (key, value) in doc.trailer.iter_mut().filter(|(key, _)| key.as_slice() != b"ID") {
        strings(value, key, graph::DEPTH, see);
    }
}

fn strings(
    object: &mut Object,
    key: &[u8],
    depth: usize,
    see: &mut dyn FnMut(&mut Vec<u8>, &mut StringFormat),
) {
    if depth == 0 || BYTES.contains(&key) {
        return;
    }
    match object {
        // An empty one says nothing.
        Object::String(bytes, format) if !bytes.is_empty() => see(bytes, format),
        Object::Array(items) => {
            // The colours of a palette.
            let palette =
                matches!(items.first(), Some(Object::Name(name)) if name == b"Indexed" || name == b"I");
            if !(palette || key == b"ID" && is_identifier(items)) {
                items.iter_mut().for_each(|item| strings(item, key, depth - 1, see));
            }
        }
        object => {
            if let Some(dict) = graph::dict_mut(object) {
                dict.iter_mut().for_each(|(key, value)| strings(value, key, depth - 1, see));
            }
        }
    }
}

/// Whether an entry is the identifier of a file (ISO 32000-2, 14.4), another one's too: two strings of bytes. A single string may be a
/// name that somebody gave to a part of the document (14.7.2).
fn is_identifier(items: &[Object]) -> bool {
    let is_digest = |item: &Object| {
        let Object::String(bytes, _) = item else { return false };
        let marked = [b"\xfe\xff".as_slice(), b"\xff\xfe", b"\xef\xbb\xbf"];
        let text = bytes.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
        !text && !marked.iter().any(|mark| bytes.starts_with(mark))
    };
    items.len() == 2 && items.iter().all(is_digest)
}

/// Every dictionary within an object, the inner ones first.
fn dicts(object: &mut Object, depth: usize, see: &mut dyn FnMut(&mut Dictionary)) {
    if depth == 0 {
        return;
    }
    if let Object::Array(items) = object {
        items.iter_mut().for_each(|item| dicts(item, depth - 1, see));
    }
    if let Some(dict) = graph::dict_mut(object) {
        dict.iter_mut().for_each(|(_, value)| dicts(value, depth - 1, see));
        see(dict);
    }
}

#[cfg(test)]
mod tests {
    use lopdf::dictionary;

    use super::*;
    use crate::sanitize::bench::Bench;

    #[test]
    fn identifiers_that_are_words_are_read() {
        let word = || Object::string_literal("by Marlowe");
        let digest = |byte: u8| Object::String(vec![b'M', b'a', b'r', byte, 0xfe], StringFormat::Hexadecimal);
        let mut doc = Document::with_version("1.7");
        let plain = doc.add_object(dictionary! { "S" => "P", "ID" => word() });
        let typed = doc.add_object(dictionary! { "Type" => "StructElem", "ID" => word() });
        let tree = dictionary! {
            "Names" => vec![word(), plain.into(), word(), typed.into()], "Limits" => vec![word(), word()],
        };
        let tree = doc.add_object(dictionary! { "IDTree" => tree });
        let file = doc.add_object(dictionary! { "Type" => "Filespec", "ID" => vec![digest(1), digest(2)] });
        let named = doc.add_object(dictionary! { "ID" => vec![word(), word()] });
        doc.trailer.set("ID", vec![word(), word()]);
        rewrite(&mut doc, &mut Bench::redacting("Marlowe").work()).expect("strings");
        let written = |id| format!("{:?}", doc.get_object(id).expect("an object"));
        let new = format!("{:?}", Object::string_literal("by <N>"));
        for (id, count) in [(plain, 1), (typed, 1), (tree, 4), (named, 2)] {
            assert_eq!(written(id).matches(&new).count(), count, "{}", written(id));
        }
        let kept = graph::entry(&doc, doc.get_dictionary(file).expect("a file"), b"ID");
        assert_eq!(*kept, Object::Array(vec![digest(1), digest(2)]));
        assert_eq!(doc.trailer.get(b"ID").ok(), Some(&Object::Array(vec![word(), word()])));
    }
}
