//! Taking out what the [`Census`] found.

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::sanitize::Options;
use crate::sanitize::format::pdf::action::{self, DictionaryAction, Slot};
use crate::sanitize::format::pdf::census::{self, Census};
use crate::sanitize::format::pdf::graph;

/// Keys that lead to attached files.
const FILES: &[&[u8]] = &[b"EF", b"RF", b"AF", b"Collection"];

/// Keys that only lead to what acts.
const ACTING: &[&[u8]] = &[
    b"AA",
    b"JS",
    b"XFA",
    b"RichMediaContent",
    b"RichMediaSettings",
    b"3DD",
    b"3DA",
    b"3DV",
    b"OnInstantiate",
    b"OPI",
    b"AcroForm",
    b"NeedsRendering",
    b"Requirements",
    b"Legal",
];

/// Data of the programs that made a file, which no reader shows: previews, drafts, the web pages it was made of.
const UNSEEN: &[&[u8]] = &[b"PieceInfo", b"Thumb", b"SpiderInfo", b"Alternates"];

/// Signatures, which do not outlive a change.
const SIGNED: &[&[u8]] = &[b"Perms", b"DSS"];

/// Takes everything out of all objects; what is then no longer reachable is still there.
pub(super) fn strip(doc: &mut Document, census: &Census, options: Options) {
    let ids: Vec<ObjectId> = doc.objects.keys().copied().collect();
    let strip = Strip { census, options };
    for id in ids {
        let Some(slot) = doc.objects.get_mut(&id) else { continue };
        let mut object = std::mem::replace(slot, Object::Null);
        if !census.gone.contains(&id) {
            strip.object(doc, &mut object, b"", graph::DEPTH);
        } else {
            object = Object::Null;
        }
        doc.objects.insert(id, object);
    }
    doc.objects.retain(|id, _| !census.gone.contains(id));
    names(doc, options);
}

struct Strip<'a> {
    census: &'a Census,
    options: Options,
}

impl Strip<'_> {
    fn object(&self, doc: &Document, object: &mut Object, key: &[u8], depth: usize) {
        if depth == 0 {
            *object = Object::Null;
            return;
        }
        match object {
            Object::Array(items) => {
                // In other arrays a place has a meaning.
                if [b"Annots".as_slice(), b"Next", b"Kids", b"Fields", b"K"].contains(&key) {
                    items.retain(|item| !self.goes(doc, item, key));
                } else {
                    items
                        .iter_mut()
                        .filter(|item| self.goes(doc, item, key))
                        .for_each(|item| *item = Object::Null);
                }
                items.iter_mut().for_each(|item| self.object(doc, item, key, depth - 1));
            }
            Object::Dictionary(dict) => self.dict(doc, dict, depth),
            Object::Stream(stream) => {
                self.stream(doc, stream);
                self.dict(doc, &mut stream.dict, depth);
            }
            _ => {}
        }
    }

    fn stream(&self, doc: &Document, stream: &mut Stream) {
        if !self.options.interactive {
            return;
        }
        for key in [b"F".as_slice(), b"FFilter", b"FDecodeParms", b"Ref"] {
            stream.dict.remove(key);
        }
        if census::postscript(doc, &stream.dict) {
            let mut empty = Dictionary::new();
            empty.set("Type", Object::Name(b"XObject".to_vec()));
            empty.set("Subtype", Object::Name(b"Form".to_vec()));
            empty.set("BBox", vec![Object::Integer(0); 4]);
            *stream = Stream::new(empty, Vec::new());
        }
    }

    fn dict(&self, doc: &Document, dict: &mut Dictionary, depth: usize) {
        let unseen = UNSEEN.iter().chain(SIGNED);
        let files = FILES.iter().filter(|_| self.options.attachments);
        let acting = ACTING.iter().filter(|_| self.options.interactive);
        let mut keys: Vec<Vec<u8>> = unseen.chain(files).chain(acting).map(|key| key.to_vec()).collect();
        let follows = dict.has(b"S");
        let goes = dict.iter().filter(|(key, value)| {
            let next = key.as_slice() != b"Next" || follows;
            self.goes(doc, value, key) || (next && self.void(doc, value, key))
        });
        keys.extend(goes.map(|(key, _)| key.clone()));
        for key in keys.iter().filter(|key| dict.has(key)).collect::<Vec<_>>() {
            dict.remove(key);
        }
        for (key, value) in dict.iter_mut() {
            self.object(doc, value, key, depth - 1);
        }
    }

    /// Whether a value is, or leads to, something that goes.
    fn goes(&self, doc: &Document, value: &Object, key: &[u8]) -> bool {
        match value {
            Object::Reference(id) => self.census.gone.contains(id),
            Object::Dictionary(dict) => {
                let acts = self.options.interactive
                    && (action::verdict(doc, dict, action::slot(key)) == DictionaryAction::Acts
                        || census::media(doc, dict)
                        || census::annotation(doc, dict) == b"Widget");
                let file = self.options.attachments && census::annotation(doc, dict) == b"FileAttachment";
                acts || file || census::signature(doc, dict)
            }
            _ => false,
        }
    }

    /// Whether a value stands for an action and is none.
    fn void(&self, doc: &Document, value: &Object, key: &[u8]) -> bool {
        let slot = action::slot(key);
        let Object::Dictionary(dict) = graph::resolve(doc, value) else { return false };
        slot != Slot::Other && action::verdict(doc, dict, slot) == DictionaryAction::Void
    }
}

/// Leaves the trees of names that lead to places only, and a base for links that leads to the web.
fn names(doc: &mut Document, options: Options) {
    let keeps = |key: &[u8]| match key {
        b"Dests" => true,
        b"EmbeddedFiles" => !options.attachments,
        _ => !options.interactive,
    };
    let Ok(catalog) = doc.catalog() else { return };
    let Some(names) = graph::sub(doc, catalog, b"Names").cloned() else { return base(doc, options) };
    let kept: Dictionary = names.into_iter().filter(|(key, _)| keeps(key)).collect();
    let held = catalog.get(b"Names").ok().and_then(|names| graph::target(doc, names));
    match held.and_then(|id| doc.objects.get_mut(&id)) {
        Some(object) => *object = Object::Dictionary(kept),
        None => {
            if let Ok(catalog) = doc.catalog_mut() {
                catalog.set("Names", kept);
            }
        }
    }
    base(doc, options);
}

fn base(doc: &mut Document, options: Options) {
    let unsafe_base = doc
        .catalog()
        .ok()
        .and_then(|catalog| graph::sub(doc, catalog, b"URI"))
        .is_some_and(|uri| uri.has(b"Base") && !action::web(graph::entry(doc, uri, b"Base")));
    if options.interactive
        && unsafe_base
        && let Ok(catalog) = doc.catalog_mut()
    {
        catalog.remove(b"URI");
    }
}
