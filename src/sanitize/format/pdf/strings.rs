//! Text strings (ISO 32000-2, 7.9.2): titles, notes, values, metadata; and the targets of links.

use lopdf::{Dictionary, Document, Object, StringFormat};
use sha2::{Digest, Sha256};

use crate::edit::spliced_text;
use crate::sanitize::format::pdf::graph;
use crate::sanitize::values::Needles;
use crate::sanitize::{RedactionMode, Rejection, Work};

/// Registries and collections of characters (ISO 32000-2, 9.7.3), which are no words of a document.
const COLLECTIONS: &[&[u8]] =
    &[b"Adobe", b"Identity", b"UCS", b"Japan1", b"Japan2", b"GB1", b"CNS1", b"Korea1", b"KR"];

/// How many bytes the digests of files have (MD5 and SHA-256).
const DIGESTS: &[usize] = &[16, 32];

/// As many letters and digits in a row may be read as a word.
const WORD: usize = 4;

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
    identify(doc);
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
    if depth == 0 {
        return;
    }
    match object {
        // An empty one says nothing.
        Object::String(bytes, format) if !bytes.is_empty() && !is_code(key, bytes.as_slice()) => {
            see(bytes, format)
        }
        Object::Array(items) => {
            let texts = match key {
                b"ID" if is_identifier(items) => 0,
                // All but its colours.
                _ if is_palette(items) => 3,
                _ => items.len(),
            };
            items.iter_mut().take(texts).for_each(|item| strings(item, key, depth - 1, see));
        }
        object => {
            if let Some(dict) = graph::dict_mut(object) {
                // What no action opens is read as other texts are.
                let opens = dict.has(b"S");
                for (key, value) in dict.iter_mut() {
                    let key: &[u8] = if key == b"URI" && !opens { b"" } else { key };
                    strings(value, key, depth - 1, see);
                }
            }
        }
    }
}

/// Whether a string under a key is no text but something that programs read: a script or a link, which are cleaned elsewhere; a
/// digest (ISO 32000-2, 7.11.4), a certificate (12.8.1), a class of typefaces (9.8.3.2), a collection of characters (9.7.3), the
/// names of glyphs (9.8.1), or operators (12.7.4.3). What does not look like one is text.
fn is_code(key: &[u8], bytes: &[u8]) -> bool {
    match key {
        b"JS" | b"URI" => true,
        b"CheckSum" => is_digest(bytes),
        b"Cert" => is_certificate(bytes),
        b"Panose" => bytes.len() == 12 && bytes.iter().all(|byte| *byte < 0x20),
        b"Registry" | b"Ordering" => COLLECTIONS.contains(&bytes),
        b"CharSet" => {
            let glyph = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._".contains(byte);
            bytes.starts_with(b"/") && bytes.iter().all(glyph)
        }
        b"DA" => bytes.split(u8::is_ascii_whitespace).all(is_operand),
        _ => false,
    }
}

/// Whether a string is a certificate by its beginning (X.690, 8.9): a sequence as long as the string, in which another one comes
/// first.
fn is_certificate(bytes: &[u8]) -> bool {
    let [0x30, 0x82, high, low, content @ ..] = bytes else { return false };
    let whole = content.len() == usize::from(u16::from_be_bytes([*high, *low]));
    let within = match content {
        [0x30, 0x82, high, low, within @ ..] => {
            Some((usize::from(u16::from_be_bytes([*high, *low])), within))
        }
        [0x30, 0x81, length, within @ ..] => Some((usize::from(*length), within)),
        _ => None,
    };
    whole && within.is_some_and(|(length, within)| length <= within.len())
}

/// A name, a number, or an operator of some letters.
fn is_operand(word: &[u8]) -> bool {
    match word {
        [b'/', name @ ..] => name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-_,#".contains(byte)),
        word if word.len() <= 3 && word.iter().all(u8::is_ascii_alphabetic) => true,
        word => word.len() <= 12 && word.iter().all(|byte| byte.is_ascii_digit() || b"+-.".contains(byte)),
    }
}

/// Whether an array is a space of colours that are chosen from a list (ISO 32000-2, 8.6.6.3): a base, the highest number, and
/// as many colours, of at most 32 bytes each (as many components has one of DeviceN, 8.6.6.5).
fn is_palette(items: &[Object]) -> bool {
    let [Object::Name(name), base, Object::Integer(highest @ 0..=255), Object::String(colours, _)] = items
    else {
        return false;
    };
    let counted = usize::try_from(*highest).is_ok_and(|highest| {
        let entries = highest.saturating_add(1);
        colours.len().is_multiple_of(entries) && colours.len() / entries <= 32
    });
    (name == b"Indexed" || name == b"I") && !matches!(base, Object::String(..)) && counted
}

/// Whether an entry is the identifier of a file (ISO 32000-2, 14.4), another one's too: two strings of bytes. A single
/// string may be a name that somebody gave to a part of the document (14.7.2).
fn is_identifier(items: &[Object]) -> bool {
    items.len() == 2 && items.iter().all(|item| matches!(item, Object::String(..)))
}

/// Whether that is two digests.
fn is_digests(items: &[Object]) -> bool {
    items.iter().all(|item| matches!(item, Object::String(bytes, _) if is_digest(bytes)))
}

/// Whether a string is a digest, in which nothing can be read.
fn is_digest(bytes: &[u8]) -> bool {
    let marked = [b"\xfe\xff".as_slice(), b"\xff\xfe", b"\xef\xbb\xbf"];
    // Letters of two bytes each are told from others by their zeros.
    let narrow: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    let word = narrow.split(|byte| !byte.is_ascii_alphanumeric()).any(|word| word.len() >= WORD);
    // Of a digest, most bytes are no signs of a text.
    let signs = bytes.iter().filter(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()).count();
    let text = word || signs.saturating_mul(4) > bytes.len().saturating_mul(3);
    DIGESTS.contains(&bytes.len()) && !text && !marked.iter().any(|mark| bytes.starts_with(mark))
}

/// Gives files within the document that are identified by anything but digests an identifier that follows from the
/// streams of the document.
fn identify(doc: &mut Document) {
    let is_named = |dict: &Dictionary| match dict.get(b"ID") {
        Ok(Object::Array(items)) => is_identifier(items) && !is_digests(items),
        _ => false,
    };
    let mut named = false;
    for object in doc.objects.values_mut() {
        dicts(object, graph::DEPTH, &mut |dict| named |= is_named(dict));
    }
    if !named {
        return;
    }
    let fresh = digest(doc);
    for object in doc.objects.values_mut() {
        dicts(object, graph::DEPTH, &mut |dict| {
            if is_named(dict) {
                dict.set("ID", vec![fresh.clone(), fresh.clone()]);
            }
        });
    }
}

/// A digest of the streams of a document, of bytes that are no letters.
fn digest(doc: &Document) -> Object {
    let mut hasher = Sha256::new();
    doc.objects.values().filter_map(|object| object.as_stream().ok()).for_each(|stream| {
        hasher.update(&stream.content);
    });
    // Nor does it begin with a mark of text.
    let mut bytes: Vec<u8> = hasher.finalize().iter().take(16).map(|byte| byte | 0x80).collect();
    if let Some(first) = bytes.first_mut() {
        *first &= 0xbf;
    }
    Object::String(bytes, StringFormat::Hexadecimal)
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
    use lopdf::{Stream, dictionary};

    use super::*;
    use crate::sanitize::bench::Bench;

    #[test]
    fn identifiers_that_are_words_are_read() {
        let word = || Object::string_literal("by Marlowe");
        let digest = |byte: u8| {
            Object::String([&b"Mar"[..], &[byte, 0xfe], &[0x91; 11]].concat(), StringFormat::Hexadecimal)
        };
        let mut doc = Document::with_version("1.7");
        let plain = doc.add_object(dictionary! { "S" => "P", "ID" => word() });
        let typed = doc.add_object(dictionary! { "Type" => "StructElem", "ID" => word() });
        let tree = dictionary! {
            "Names" => vec![word(), plain.into(), word(), typed.into()], "Limits" => vec![word(), word()],
        };
        let tree = doc.add_object(dictionary! { "IDTree" => tree });
        let file = doc.add_object(dictionary! { "Type" => "Filespec", "ID" => vec![digest(1), digest(2)] });
        doc.trailer.set("ID", vec![word(), word()]);
        rewrite(&mut doc, &mut Bench::redacting("Marlowe").work()).expect("strings");
        let written = |id| format!("{:?}", doc.get_object(id).expect("an object"));
        let new = format!("{:?}", Object::string_literal("by <N>"));
        for (id, count) in [(plain, 1), (typed, 1), (tree, 4)] {
            assert_eq!(written(id).matches(&new).count(), count, "{}", written(id));
        }
        let kept = graph::entry(&doc, doc.get_dictionary(file).expect("a file"), b"ID");
        assert_eq!(*kept, Object::Array(vec![digest(1), digest(2)]));
        assert_eq!(doc.trailer.get(b"ID").ok(), Some(&Object::Array(vec![word(), word()])));
    }

    #[test]
    fn only_what_looks_like_code_is_no_text() {
        let panose = [&[0, 2][..], &[5; 10]].concat();
        for (key, code) in [
            ("CharSet", &b"/A/B/a.sc"[..]),
            ("Registry", b"Adobe"),
            ("Ordering", b"Japan1"),
            ("DA", b"/Helv 12 Tf 0 0.5 -1 rg"),
            ("CheckSum", &[0x91; 16][..]),
            ("Cert", b"\x30\x82\0\x0d\x30\x81\x0aby Marlowe"),
            ("Panose", &panose[..]),
            ("JS", b"app.alert()"),
        ] {
            assert!(is_code(key.as_bytes(), code), "{key}");
            let string = Object::string_literal("by Marlowe");
            let held =
                dictionary! { key => vec![dictionary! { "A" => string.clone() }.into(), string.clone()] };
            let mut doc = Document::with_version("1.7");
            let ids = [doc.add_object(dictionary! { key => string }), doc.add_object(held)];
            rewrite(&mut doc, &mut Bench::redacting("Marlowe").work()).expect("strings");
            let left =
                ids.map(|id| format!("{:?}", doc.get_object(id).expect("an object")).contains("Marlowe"));
            assert_eq!(left, [key == "JS"; 2], "{key}");
        }
        for told in [
            &b"\x30\x82\x01\x02by Marlowe"[..],
            b"\x30\x82\0\x0aby Marlowe",
            b"\x30\x82\0\x0d\x30\x81\x0bby Marlowe",
        ] {
            assert!(!is_code(b"Cert", told), "{told:?}");
        }
        // A link that nothing opens, a base of links, and one key of anybody's.
        for key in ["URI", "Lookup"] {
            let base = dictionary! { "Base" => Object::string_literal("by Marlowe") };
            for value in [Object::string_literal("by Marlowe"), base.into()] {
                let mut doc = Document::with_version("1.7");
                let id = doc.add_object(dictionary! { key => value });
                rewrite(&mut doc, &mut Bench::redacting("Marlowe").work()).expect("strings");
                assert!(
                    !format!("{:?}", doc.get_object(id).expect("an object")).contains("Marlowe"),
                    "{key}"
                );
            }
        }
    }

    #[test]
    fn only_the_colours_of_a_palette_are_no_text() {
        let string = || Object::string_literal("by Marlowe");
        let palette = |base: Object, highest: i64, more: Option<Object>| {
            let items = [Object::Name(b"Indexed".to_vec()), base, highest.into(), string()];
            items.into_iter().chain(more).collect::<Vec<Object>>()
        };
        let grey = || Object::Name(b"DeviceGray".to_vec());
        for (items, kept) in [
            (palette(grey(), 9, None), 1),
            (palette(vec![Object::Name(b"Separation".to_vec()), string()].into(), 9, None), 1),
            (palette(grey(), 8, None), 0),
            (palette(grey(), 300, None), 0),
            (palette(string(), 9, None), 0),
            (palette(grey(), 9, Some(string())), 0),
            (vec![Object::Name(b"I".to_vec()), string()], 0),
        ] {
            let mut doc = Document::with_version("1.7");
            let said = format!("{items:?}");
            let space = doc.add_object(dictionary! { "CS" => items });
            rewrite(&mut doc, &mut Bench::redacting("Marlowe").work()).expect("strings");
            let written = format!("{:?}", doc.get_object(space).expect("an object"));
            let left = written.matches(&format!("{:?}", string())).count();
            assert_eq!(left, kept, "{said} {written}");
        }
    }

    #[test]
    fn identifiers_of_files_are_digests() {
        let string = |bytes: &[u8]| Object::String(bytes.to_vec(), StringFormat::Literal);
        let kept = [string(&[0x91; 16]), string(&[0x07; 32])];
        let told = [
            string(b"by Marlowe"),
            string(b"by Marlowe (2026"),
            string(b"by Li Wei, Bo Yu"),
            string(b"\x80Marlowe\x80\x80\x80\x80\x80\x80\x80\x80"),
            string(b"\xfe\xff\x06\x33\x06\x31\x06\x33\x06\x31\x06\x33\x06\x31\x06\x33"),
            string(b"M\0a\0r\0l\0o\0w\0e\0\0\0"),
            string(&[0x91; 5]),
            string(b""),
        ];
        for item in kept.iter().chain(&told) {
            let mut doc = Document::with_version("1.7");
            doc.add_object(Stream::new(Dictionary::new(), b"content".to_vec()));
            let pair = vec![kept[0].clone(), item.clone()];
            let file = doc.add_object(dictionary! { "EF" => dictionary! { "ID" => pair.clone() } });
            let mut bench = Bench::redacting("nothing");
            rewrite(&mut doc, &mut bench.work()).expect("strings");
            let after = doc.get_dictionary(file).cloned().expect("a file");
            let id = after.get(b"EF").and_then(Object::as_dict).and_then(|within| within.get(b"ID"));
            let id = id.and_then(Object::as_array).cloned().expect("an identifier");
            assert_eq!(id == pair, kept.contains(item), "{item:?}");
            assert!(is_identifier(&id) && is_digests(&id), "{id:?}");
            rewrite(&mut doc, &mut bench.work()).expect("strings");
            assert_eq!(doc.get_dictionary(file).ok(), Some(&after));
        }
    }
}
