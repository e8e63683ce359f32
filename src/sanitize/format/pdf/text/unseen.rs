//! What of a document no page shows and people wrote all the same: names (of places, of colorants, of marks), remarks in
//! content streams and programs, words there that are no operators, streams that nothing makes use of.

use std::collections::{BTreeMap, BTreeSet};

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::edit::{self, Edit};
use crate::sanitize::format::passage::is_worth;
use crate::sanitize::format::pdf::text::lexer::PdfToken;
use crate::sanitize::format::pdf::text::notices;
use crate::sanitize::format::pdf::text::streams::ContentStreams;
use crate::sanitize::format::pdf::text::tokens::{TokenStream, texts_within};
use crate::sanitize::format::pdf::{graph, parts};
use crate::sanitize::{RedactionMode, Rejection, Work};

/// From how many digits on a name may hold a number of somebody's.
const DIGITS: usize = 7;

/// From how many bytes on a name with a digit may be somebody's key.
const KEY: usize = 20;

/// Entries of streams that say what these are for (ISO 32000-2, 8.7.3 and 8.7.4.5, 7.10, 8.10.2). Screens of printers (10.6.5)
/// are not among them: readers have their own.
const SAYING: &[&[u8]] = &[b"PatternType", b"ShadingType", b"FunctionType", b"BBox"];

/// Entries of fonts, and of maps of codes, that lead to such maps (ISO 32000-2, 9.7.5 and 9.10.3).
const MAPPING: &[&[u8]] = &[b"ToUnicode", b"Encoding", b"UseCMap"];

/// The number of functions that are programs (ISO 32000-2, 7.10.5).
const CALCULATOR: i64 = 4;

/// Kinds of external objects, which say so (ISO 32000-2, 8.8).
const DRAWN: &[&[u8]] = &[b"Image", b"Form", b"PS"];

/// Entries of dictionaries that make use of streams which do not say so themselves, and those that hold them by name.
const USING: &[&[u8]] = &[
    b"Contents",
    b"ToUnicode",
    b"CIDToGIDMap",
    b"CIDSet",
    b"FontFile",
    b"FontFile2",
    b"FontFile3",
    b"Encoding",
    b"UseCMap",
    b"DestOutputProfile",
    b"JBIG2Globals",
    b"SMask",
    b"Mask",
    b"XFA",
    b"EF",
    b"RF",
    b"CharProcs",
];

/// What names are called in whose place they stand, before their number.
const FRESH: &[u8] = b"PcName";

/// Names read from one document, by what takes their place; none if they stay.
type NewNames = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// Has all of these looked at: names with something in them get others throughout, such remarks go, and so do streams
/// that nothing makes use of.
///
/// # Errors
/// The host's; [`Rejection::OverLimit`].
pub(in crate::sanitize::format) fn redact(doc: &mut Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    if work.options().redaction != RedactionMode::Apply {
        return Ok(());
    }
    drop_unused(doc);
    notices::redact(doc, work)?;
    let contents = contents(doc, work)?;
    let names = renamed(doc, &contents, work)?;
    for (id, read) in contents {
        let mut edits = names_within(&read, &names);
        edits.extend(texts_within(&read, work)?);
        edits.sort_by_key(|edit| edit.range.start);
        if let Some(Object::Stream(stream)) = doc.objects.get_mut(&id).filter(|_| !edits.is_empty()) {
            stream.set_plain_content(edit::spliced(&read.bytes, &edits));
            stream.dict.remove(b"DecodeParms");
        }
    }
    if names.values().any(Option::is_some) {
        for object in doc.objects.values_mut() {
            rename(object, &names, graph::DEPTH);
        }
        for (_, value) in doc.trailer.iter_mut() {
            rename(value, &names, graph::DEPTH);
        }
    }
    Ok(())
}

/// What content streams and programs unfold to, those that may hold a name, a remark or a word that matters.
fn contents(doc: &Document, work: &mut Work<'_>) -> Result<BTreeMap<ObjectId, TokenStream>, Rejection> {
    let mut contents = BTreeMap::new();
    let programs = programs(doc);
    for id in ContentStreams::new(doc).ids().union(&programs) {
        let Some(Object::Stream(stream)) = doc.objects.get(id) else { continue };
        let bytes = match parts::unfold(stream, work)? {
            None if stream.dict.has(b"Filter") => continue,
            None => stream.content.clone(),
            Some(bytes) => bytes,
        };
        let read = TokenStream { bytes, program: programs.contains(id) };
        let mut tells = read.program || memchr::memchr(b'%', &read.bytes).is_some();
        read.tokens(&mut |token, range| {
            tells |= matches!(token, PdfToken::Name(name) if may_tell(name)) || read.is_word(token, range);
        });
        if tells {
            contents.insert(*id, read);
        }
    }
    Ok(contents)
}

/// Functions that are programs, and maps of codes.
fn programs(doc: &Document) -> BTreeSet<ObjectId> {
    let mut programs = BTreeSet::new();
    for (id, object) in &doc.objects {
        if let Object::Stream(stream) = object {
            let function = graph::integer(doc, &stream.dict, b"FunctionType") == Some(CALCULATOR);
            if function || graph::name(doc, &stream.dict, b"Type") == b"CMap" {
                programs.insert(*id);
            }
        }
        graph::each(object, b"", graph::DEPTH, &mut |_, dict| {
            let leads = MAPPING.iter().filter_map(|key| dict.get(key).ok());
            programs.extend(leads.filter_map(|map| graph::target(doc, map)));
        });
    }
    programs
}

/// Takes out streams that neither say what they are for nor are made use of. Metadata are among them: they repeat what the
/// document's information holds, in markup where a replacement would not be safe.
fn drop_unused(doc: &mut Document) {
    let mut used = BTreeSet::new();
    for object in doc.objects.values() {
        uses(object, b"", graph::DEPTH, &mut used);
    }
    let says = |dict: &Dictionary| {
        SAYING.iter().any(|key| dict.has(key))
            || matches!(dict.get(b"Subtype"), Ok(Object::Name(name)) if DRAWN.contains(&name.as_slice()))
    };
    doc.objects.retain(|id, object| match object {
        Object::Stream(stream) => used.contains(id) || says(&stream.dict),
        _ => true,
    });
}

/// What is referred to where streams are made use of: under certain entries, and in colour spaces, which are arrays that begin
/// with a name.
fn uses(object: &Object, key: &[u8], depth: usize, used: &mut BTreeSet<ObjectId>) {
    match object {
        Object::Reference(id) if USING.contains(&key) => {
            used.insert(*id);
        }
        Object::Array(items) if depth > 0 => {
            if matches!(items.first(), Some(Object::Name(_))) {
                used.extend(items.iter().filter_map(|item| item.as_reference().ok()));
            }
            items.iter().for_each(|item| uses(item, key, depth - 1, used));
        }
        object if depth > 0 => {
            // The procedures of glyphs, and attached files, stand in a dictionary by name.
            let within = [b"CharProcs".as_slice(), b"EF", b"RF"].contains(&key);
            for (name, value) in graph::dict(object).into_iter().flatten() {
                uses(value, if within { key } else { name }, depth - 1, used);
            }
        }
        _ => {}
    }
}

/// Whether a name may say more than what the format and the fonts are called.
fn may_tell(name: &[u8]) -> bool {
    let digits = name.iter().filter(|byte| byte.is_ascii_digit()).count();
    let key = name.len() >= KEY && digits > 0;
    (name.iter().any(|byte| matches!(byte, b'@' | b' ')) || digits >= DIGITS || key || !name.is_ascii())
        && is_worth(&String::from_utf8_lossy(name))
}

/// All names that may tell something, and what takes the place of those that do.
fn renamed(
    doc: &Document,
    contents: &BTreeMap<ObjectId, TokenStream>,
    work: &mut Work<'_>,
) -> Result<NewNames, Rejection> {
    let (mut names, mut taken) = (NewNames::new(), BTreeSet::new());
    let mut see = |name: &[u8]| {
        if name.starts_with(FRESH) {
            taken.insert(name.to_vec());
        }
        if may_tell(name) && !names.contains_key(name) {
            names.insert(name.to_vec(), None);
        }
    };
    for object in doc.objects.values().chain(doc.trailer.iter().map(|(_, value)| value)) {
        each(object, graph::DEPTH, &mut see);
    }
    for read in contents.values() {
        read.tokens(&mut |token, _| {
            if let PdfToken::Name(name) = token {
                see(name);
            }
        });
    }
    let texts: Vec<String> = names.keys().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let edits = work.edits(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let numbered = (1_u64..).map(|n| [FRESH, n.to_string().as_bytes()].concat());
    let mut fresh = numbered.filter(|name| !taken.contains(name));
    for (new, edits) in names.values_mut().zip(edits) {
        if !edits.is_empty() {
            edits.iter().for_each(|edit| work.applied(edit));
            *new = fresh.next();
        }
    }
    Ok(names)
}

/// Every name in an object, keys among them.
fn each(object: &Object, depth: usize, see: &mut dyn FnMut(&[u8])) {
    match object {
        Object::Name(name) => see(name),
        Object::Array(items) if depth > 0 => items.iter().for_each(|item| each(item, depth - 1, see)),
        object if depth > 0 => {
            for (key, value) in graph::dict(object).into_iter().flatten() {
                see(key);
                each(value, depth - 1, see);
            }
        }
        _ => {}
    }
}

fn rename(object: &mut Object, names: &NewNames, depth: usize) {
    let new = |name: &[u8]| names.get(name).cloned().flatten();
    match object {
        Object::Name(name) => {
            if let Some(new) = new(name) {
                *name = new;
            }
        }
        Object::Array(items) if depth > 0 => items.iter_mut().for_each(|item| rename(item, names, depth - 1)),
        object if depth > 0 => {
            let Some(dict) = graph::dict_mut(object) else { return };
            if dict.iter().any(|(key, _)| new(key).is_some()) {
                let old = std::mem::replace(dict, Dictionary::new());
                for (key, value) in old {
                    dict.set(new(&key).unwrap_or(key), value);
                }
            }
            dict.iter_mut().for_each(|(_, value)| rename(value, names, depth - 1));
        }
        _ => {}
    }
}

fn names_within(read: &TokenStream, names: &NewNames) -> Vec<Edit> {
    let mut edits = Vec::new();
    read.tokens(&mut |token, range| {
        if let PdfToken::Name(name) = token
            && let Some(Some(new)) = names.get(name)
        {
            edits.push(Edit { range, with: format!("/{}", String::from_utf8_lossy(new)) });
        }
    });
    edits
}

#[cfg(test)]
mod tests {
    use lopdf::{Stream, dictionary};

    use super::*;
    use crate::sanitize::bench::Bench;

    /// What becomes of a stream.
    fn redacted(dict: Dictionary, content: &[u8]) -> String {
        let mut doc = Document::with_version("1.7");
        let id = doc.add_object(Stream::new(dict, content.to_vec()));
        // So that it is made use of.
        doc.add_object(dictionary! { "ToUnicode" => id });
        redact(&mut doc, &mut Bench::redacting("Marlowe").work()).expect("no limit is met");
        let stream = doc.get_object(id).and_then(Object::as_stream).expect("a stream");
        String::from_utf8_lossy(&stream.content).into_owned()
    }

    #[test]
    fn programs_lose_what_is_read_in_them() {
        for (told, want) in [
            ("{ 1 exch %by Marlowe\nsub }", "{ 1 exch\nsub }"),
            ("%!PS\n%%Title: Marlowe\n/CMapName /A def", "\n/CMapName /A def"),
            ("/Ordering (Marlowe) def ID (Marlowe) EI", "/Ordering () def ID () EI"),
            (
                "1 beginbfchar <4d61726c6f7765> <0041> endbfchar",
                "1 beginbfchar <4d61726c6f7765> <0041> endbfchar",
            ),
        ] {
            assert_eq!(redacted(dictionary! { "FunctionType" => 4 }, told.as_bytes()), want);
            assert_eq!(redacted(Dictionary::new(), told.as_bytes()), want);
        }
    }

    #[test]
    fn screens_of_printers_go() {
        let mut doc = Document::with_version("1.7");
        let screen = Stream::new(dictionary! { "HalftoneType" => 6 }, b"by Marlowe".to_vec());
        let screen = doc.add_object(screen);
        doc.add_object(dictionary! { "HT" => screen });
        redact(&mut doc, &mut Bench::redacting("Marlowe").work()).expect("no limit is met");
        assert!(doc.get_object(screen).is_err());
    }
}
