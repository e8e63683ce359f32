//! [`ContentStreams`]: the content of pages and of what they draw, and what is needed to read it, kept from page to page.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::sanitize::format::pdf::text::font::Font;
use crate::sanitize::format::pdf::text::record::ContentSource;
use crate::sanitize::format::pdf::{graph, parts};
use crate::sanitize::{Rejection, Work};

/// How high the nodes above a page reach.
const NODES: usize = 60;

/// A stream, and the resources by which it goes.
pub(super) type StreamUse = (ObjectId, Option<*const Dictionary>);

/// The content streams of a document.
pub(super) struct ContentStreams<'a> {
    pub(super) doc: &'a Document,
    fonts: HashMap<*const Dictionary, Rc<Font>>,
    contents: BTreeMap<ContentSource, Rc<Vec<u8>>>,
    missing: Rc<Font>,
    /// Streams that were read as part of a page.
    pub(super) seen: BTreeSet<ObjectId>,
    /// Streams that hold nothing to be read, with all that they draw, and how many images they paint.
    pub(super) wordless: HashMap<StreamUse, usize>,
    /// Streams whose filters could not be undone.
    pub(super) broken: BTreeSet<ObjectId>,
}

impl<'a> ContentStreams<'a> {
    /// Begins on a document.
    pub(super) fn new(doc: &'a Document) -> Self {
        Self {
            doc,
            fonts: HashMap::new(),
            contents: BTreeMap::new(),
            missing: Rc::new(Font::missing()),
            seen: BTreeSet::new(),
            wordless: HashMap::new(),
            broken: BTreeSet::new(),
        }
    }

    /// The pages of a document.
    pub(super) fn pages(&self) -> Vec<ContentSource> {
        self.doc.get_pages().into_values().map(ContentSource::Page).collect()
    }

    /// Streams that show something, and of which no page that was read made use: appearances, patterns, glyphs, masks.
    /// With the resources that they go by.
    pub(super) fn stray(&self) -> Vec<(ContentSource, Option<&'a Dictionary>)> {
        let doc = self.doc;
        let mut found = self.glyphs();
        for (id, object) in &doc.objects {
            let Object::Stream(stream) = object else { continue };
            let form = is_form(doc, stream);
            let pattern = graph::integer(doc, &stream.dict, b"PatternType") == Some(1);
            if form || pattern {
                found.insert(*id, graph::sub(doc, &stream.dict, b"Resources"));
            }
        }
        found.retain(|id, _| {
            !self.seen.contains(id) && matches!(doc.objects.get(id), Some(Object::Stream(_)))
        });
        found.into_iter().map(|(id, resources)| (ContentSource::Stream(id), resources)).collect()
    }

    /// The glyphs of fonts that draw them (Type 3), with the resources that they go by. What is a form as well is none.
    pub(super) fn glyphs(&self) -> BTreeMap<ObjectId, Option<&'a Dictionary>> {
        let doc = self.doc;
        let mut found = BTreeMap::new();
        for object in doc.objects.values() {
            graph::each(object, b"", graph::DEPTH, &mut |_, font| {
                let resources = graph::sub(doc, font, b"Resources");
                let glyphs = graph::sub(doc, font, b"CharProcs");
                for (_, glyph) in glyphs.into_iter().flatten() {
                    if let Some(id) = graph::target(doc, glyph) {
                        found.insert(id, resources);
                    }
                }
            });
        }
        let form =
            |id: &ObjectId| matches!(doc.objects.get(id), Some(Object::Stream(glyph)) if is_form(doc, glyph));
        found.retain(|id, _| !form(id));
        found
    }

    /// The streams of all pages, and all others that show something.
    pub(super) fn ids(&self) -> BTreeSet<ObjectId> {
        let sources = self.pages().into_iter().chain(self.stray().into_iter().map(|(source, _)| source));
        let of = |source| match source {
            ContentSource::Page(page) => self.contents_of(page),
            ContentSource::Stream(id) => vec![id],
        };
        sources.flat_map(of).collect()
    }

    /// The font of this dictionary; what readers take instead if there is none.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    pub(super) fn font(
        &mut self,
        font: Option<&'a Dictionary>,
        work: &mut Work<'_>,
    ) -> Result<Rc<Font>, Rejection> {
        let Some(dict) = font else { return Ok(Rc::clone(&self.missing)) };
        // The document does not change while it is read.
        let key = std::ptr::from_ref(dict);
        if let Some(font) = self.fonts.get(&key) {
            return Ok(Rc::clone(font));
        }
        work.items(1024)?;
        let font = Rc::new(Font::read(self.doc, dict, work)?);
        self.fonts.insert(key, Rc::clone(&font));
        Ok(font)
    }

    /// What a source unfolds to.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    pub(super) fn content(
        &mut self,
        source: ContentSource,
        work: &mut Work<'_>,
    ) -> Result<Rc<Vec<u8>>, Rejection> {
        if let Some(bytes) = self.contents.get(&source) {
            return Ok(Rc::clone(bytes));
        }
        let streams = match source {
            ContentSource::Stream(id) => vec![id],
            ContentSource::Page(page) => self.contents_of(page),
        };
        let mut out = Vec::new();
        for id in streams {
            let Some(Object::Stream(stream)) = self.doc.objects.get(&id) else { continue };
            match parts::unfold(stream, work)? {
                Some(bytes) => out.extend_from_slice(&bytes),
                None if stream.dict.has(b"Filter") => {
                    self.broken.insert(id);
                }
                None => out.extend_from_slice(&stream.content),
            }
            if matches!(source, ContentSource::Page(_)) {
                out.push(b'\n');
            }
        }
        let out = Rc::new(out);
        self.contents.insert(source, Rc::clone(&out));
        Ok(out)
    }

    fn contents_of(&self, page: ObjectId) -> Vec<ObjectId> {
        let Some(page) = self.doc.objects.get(&page).and_then(graph::dict) else { return Vec::new() };
        match (graph::entry(self.doc, page, b"Contents"), page.get(b"Contents")) {
            (Object::Array(all), _) => all.iter().filter_map(|one| graph::target(self.doc, one)).collect(),
            (_, Ok(one)) => graph::target(self.doc, one).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The resources that a page, or a node above it, has.
    pub(super) fn inherited(&self, page: ObjectId) -> Option<&'a Dictionary> {
        let mut node = self.doc.objects.get(&page).and_then(graph::dict)?;
        for _ in 0..NODES {
            if let Some(resources) = graph::sub(self.doc, node, b"Resources") {
                return Some(resources);
            }
            node = graph::sub(self.doc, node, b"Parent")?;
        }
        None
    }
}

fn is_form(doc: &Document, stream: &Stream) -> bool {
    graph::name(doc, &stream.dict, b"Subtype") == b"Form"
}
