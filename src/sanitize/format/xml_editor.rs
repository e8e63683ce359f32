//! [`XmlEditor`]: changes to an XML document. What is not changed keeps its bytes.

use quick_xml::escape::escape;

use crate::edit::{Edit, settled, spliced_text};
use crate::sanitize::format::xml_tree::{ByteSpan, Tree, TreeAttribute};

/// Changes to a document.
pub(super) struct XmlEditor<'t> {
    tree: &'t Tree,
    gone: Vec<bool>,
    changes: Vec<(ByteSpan, String)>,
}

impl<'t> XmlEditor<'t> {
    /// Begins with none.
    pub(super) fn new(tree: &'t Tree) -> Self {
        Self { tree, gone: vec![false; tree.len()], changes: Vec::new() }
    }

    /// Takes an element out, with all within it. Whether it was there still.
    pub(super) fn cut(&mut self, at: usize) -> bool {
        let was_there = !self.is_gone(at);
        for gone in self.gone.get_mut(at..self.tree.within(at).end).unwrap_or_default() {
            *gone = true;
        }
        if was_there {
            self.changes.push((self.tree.whole(at), String::new()));
        }
        was_there
    }

    /// Takes an element out and leaves in its place what is within it.
    pub(super) fn unwrap(&mut self, at: usize) -> bool {
        let Some(inner) = self.tree.inner(at) else { return self.cut(at) };
        let whole = self.tree.whole(at);
        if std::mem::replace(self.gone.get_mut(at).unwrap_or(&mut true), true) {
            return false;
        }
        self.changes.push((ByteSpan { start: whole.start, end: inner.start }, String::new()));
        self.changes.push((ByteSpan { start: inner.end, end: whole.end }, String::new()));
        true
    }

    /// Takes an element out and leaves in its place one that is within it.
    pub(super) fn lift(&mut self, at: usize, inner: usize) {
        let (whole, kept) = (self.tree.whole(at), self.tree.whole(inner));
        let stays = inner..self.tree.within(inner).end;
        for place in at..self.tree.within(at).end {
            if let Some(gone) = self.gone.get_mut(place).filter(|_| !stays.contains(&place)) {
                *gone = true;
            }
        }
        self.changes.push((ByteSpan { start: whole.start, end: kept.start }, String::new()));
        self.changes.push((ByteSpan { start: kept.end, end: whole.end }, String::new()));
    }

    /// Whether an element is taken out.
    pub(super) fn is_gone(&self, at: usize) -> bool {
        self.gone.get(at).copied().unwrap_or(true)
    }

    /// Takes an attribute out, with its name.
    pub(super) fn drop_attribute(&mut self, at: usize, attribute: &TreeAttribute<'_>) {
        let tag = self.tree.whole(at);
        let head = self.tree.slice(ByteSpan { start: tag.start, end: attribute.span.start });
        // The name stands between the last blank before the value and the value.
        let quote = head.trim_end_matches(['"', '\'']).trim_end().trim_end_matches('=').trim_end();
        let name = quote.rfind([' ', '\t', '\r', '\n']).unwrap_or(quote.len());
        let name = quote.get(..name).unwrap_or_default().trim_end().len();
        let start = tag.start.saturating_add(u32::try_from(name).unwrap_or(u32::MAX));
        self.changes.push((ByteSpan { start, end: attribute.span.end.saturating_add(1) }, String::new()));
    }

    /// Lets an attribute say something else.
    pub(super) fn set_attribute(&mut self, attribute: &TreeAttribute<'_>, value: &str) {
        self.changes.push((attribute.span, escape(value).into_owned()));
    }

    /// Writes other text in the place of this.
    pub(super) fn set_text(&mut self, span: ByteSpan, text: &str) {
        self.changes.push((span, escape(text).into_owned()));
    }

    /// Writes markup in the place of this.
    pub(super) fn set_markup(&mut self, span: ByteSpan, markup: String) {
        self.changes.push((span, markup));
    }

    /// Adds an attribute that an element does not have.
    pub(super) fn add_attribute(&mut self, at: usize, name: &str, value: &str) {
        let start = self.tree.whole(at).start;
        let length = u32::try_from(self.tree.qualified(at).len()).unwrap_or_default();
        let end = start.saturating_add(1).saturating_add(length);
        self.changes.push((ByteSpan { start: end, end }, format!(r#" {name}="{}""#, escape(value))));
    }

    /// The document with its changes made; `None` where it stays as it was read.
    pub(super) fn finish(self) -> Option<String> {
        if self.changes.is_empty() {
            return self.tree.rewritten().then(|| self.tree.slice(self.tree.all()).to_owned());
        }
        let edit = |(span, with): (ByteSpan, String)| Edit { range: span.range(), with };
        let edits = settled(self.changes.into_iter().map(edit).collect());
        Some(spliced_text(self.tree.slice(self.tree.all()), &edits))
    }
}
