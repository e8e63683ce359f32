//! [`Reader`]: the content of pages and of what they draw, and what is needed to read it, kept from page to page.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::sanitize::format::pdf::text::font::Font;
use crate::sanitize::format::pdf::text::record::{Record, Source, Step, Trail};
use crate::sanitize::format::pdf::text::state::{State, then};
use crate::sanitize::format::pdf::text::walk::Walk;
use crate::sanitize::format::pdf::{graph, parts};
use crate::sanitize::{Rejection, Work};

/// How deep forms lie within forms. What lies deeper is read by itself.
const DEPTH: usize = 12;

/// What drawing a form takes out of the budget.
const DRAWN: usize = 16;

/// How high the nodes above a page reach.
const NODES: usize = 60;

/// Reads a document's pages and streams.
pub(super) struct Reader<'a> {
    pub(super) doc: &'a Document,
    fonts: HashMap<*const Dictionary, Rc<Font>>,
    contents: BTreeMap<Source, Rc<Vec<u8>>>,
    missing: Rc<Font>,
    /// Streams that were read as part of a page.
    seen: BTreeSet<ObjectId>,
    /// Streams whose filters could not be undone.
    pub(super) broken: BTreeSet<ObjectId>,
}

impl<'a> Reader<'a> {
    /// Begins on a document.
    pub(super) fn new(doc: &'a Document) -> Self {
        Self {
            doc,
            fonts: HashMap::new(),
            contents: BTreeMap::new(),
            missing: Rc::new(Font::missing()),
            seen: BTreeSet::new(),
            broken: BTreeSet::new(),
        }
    }

    /// The pages of a document.
    pub(super) fn pages(&self) -> Vec<Source> {
        self.doc.get_pages().into_values().map(Source::Page).collect()
    }

    /// Streams that show something, and of which no page that was read made use: appearances, patterns, glyphs, masks.
    /// With the resources that they go by.
    pub(super) fn stray(&self) -> Vec<(Source, Option<&'a Dictionary>)> {
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
        for (id, object) in &doc.objects {
            let Object::Stream(stream) = object else { continue };
            let form = graph::name(doc, &stream.dict, b"Subtype") == b"Form";
            let pattern = graph::integer(doc, &stream.dict, b"PatternType") == Some(1);
            if form || pattern {
                found.insert(*id, graph::sub(doc, &stream.dict, b"Resources"));
            }
        }
        found.retain(|id, _| {
            !self.seen.contains(id) && matches!(doc.objects.get(id), Some(Object::Stream(_)))
        });
        found.into_iter().map(|(id, resources)| (Source::Stream(id), resources)).collect()
    }

    /// Reads a page, or a stream by itself.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    pub(super) fn read(
        &mut self,
        source: Source,
        resources: Option<&'a Dictionary>,
        work: &mut Work<'_>,
    ) -> Result<Record<'a>, Rejection> {
        let mut trail = Trail::default();
        let resources = match source {
            Source::Page(page) => self.inherited(page),
            Source::Stream(_) => resources,
        };
        self.run(Step { source, resources, state: State::new() }, &mut trail, work)?;
        Ok(trail.record)
    }

    /// Reads a source into a record.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    pub(super) fn run(
        &mut self,
        step: Step<'a>,
        trail: &mut Trail<'a>,
        work: &mut Work<'_>,
    ) -> Result<(), Rejection> {
        let source = step.source;
        if trail.within.len() >= DEPTH || trail.within.contains(&source) {
            return Ok(());
        }
        let bytes = self.content(source, work)?;
        if let Source::Stream(id) = source {
            // Forms can be drawn by forms over and over.
            work.unpacked(bytes.len())?;
            work.items(DRAWN)?;
            self.seen.insert(id);
        }
        trail.record.resources.insert(source, step.resources);
        trail.within.push(source);
        Walk::new(self, step, trail, work).through(&bytes)?;
        trail.within.pop();
        Ok(())
    }

    /// Reads what `Do` draws.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    pub(super) fn draw(
        &mut self,
        name: &[u8],
        step: Step<'a>,
        trail: &mut Trail<'a>,
        work: &mut Work<'_>,
    ) -> Result<(), Rejection> {
        let Step { resources, mut state, .. } = step;
        let doc = self.doc;
        let drawn = resources.and_then(|resources| graph::sub(doc, resources, b"XObject"));
        let Some(drawn) = drawn.and_then(|drawn| drawn.get(name).ok()) else { return Ok(()) };
        let (Some(id), Object::Stream(stream)) = (graph::target(doc, drawn), graph::resolve(doc, drawn))
        else {
            return Ok(());
        };
        if graph::name(doc, &stream.dict, b"Subtype") == b"Image" {
            trail.record.images = trail.record.images.saturating_add(1);
            return Ok(());
        }
        if let Some(matrix) = graph::numbers::<6>(doc, &stream.dict, b"Matrix") {
            state.space = then(&matrix, &state.space);
        }
        let own = graph::sub(doc, &stream.dict, b"Resources");
        self.run(Step { source: Source::Stream(id), resources: own.or(resources), state }, trail, work)
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
    pub(super) fn content(&mut self, source: Source, work: &mut Work<'_>) -> Result<Rc<Vec<u8>>, Rejection> {
        if let Some(bytes) = self.contents.get(&source) {
            return Ok(Rc::clone(bytes));
        }
        let streams = match source {
            Source::Stream(id) => vec![id],
            Source::Page(page) => self.contents_of(page),
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
            if matches!(source, Source::Page(_)) {
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

    fn inherited(&self, page: ObjectId) -> Option<&'a Dictionary> {
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
