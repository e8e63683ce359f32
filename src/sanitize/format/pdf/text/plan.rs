//! [`PageTextPlan`]: what is to change in a document's streams, united over all places where they are shown.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lopdf::{Dictionary, ObjectId};

use crate::sanitize::format::pdf::text::reading::{direction, offset};
use crate::sanitize::format::pdf::text::record::{
    ContentSource, Glyph, GlyphPlace, MarkedContent, PageRecord, Show, UnshownText,
};

/// A link that takes the place of another.
#[derive(Clone, Debug)]
pub(super) struct Overlay {
    pub(super) text: String,
    /// How wide it is to be, in thousandths of the size.
    pub(super) width: f64,
}

/// The corners of something that is covered.
pub(super) type Quad = [[f64; 2]; 4];

/// What is to change in one source.
#[derive(Debug, Default)]
pub(super) struct SourceChange {
    /// The operators that change, by where they begin.
    pub(super) shows: BTreeMap<usize, Show>,
    /// Glyphs that go, by operator, operand and place: their length and the way they leave.
    pub(super) gone: BTreeMap<(usize, usize, usize), (usize, f64)>,
    /// Links that come, at the place of a glyph that goes.
    pub(super) overlays: BTreeMap<(usize, usize, usize), Overlay>,
    /// What marks become without their text.
    pub(super) marks: BTreeMap<usize, (Range<usize>, String)>,
    /// Strings that nothing shows and that are left empty, by where they begin.
    pub(super) emptied: BTreeMap<usize, Range<usize>>,
    /// The resources that it goes by.
    pub(super) resources: Option<Dictionary>,
}

/// What is to change.
#[derive(Debug, Default)]
pub(super) struct PageTextPlan {
    pub(super) changes: BTreeMap<ContentSource, SourceChange>,
    pub(super) covers: BTreeMap<ObjectId, Vec<Quad>>,
    /// Glyphs that a link takes the place of, and where that begins.
    linked: BTreeMap<GlyphPlace, GlyphPlace>,
    /// Glyphs of pages that are covered, by their number: a form can be shown on several pages, and twice on one.
    covered: BTreeSet<(ObjectId, usize)>,
}

impl PageTextPlan {
    fn is_gone(&self, glyph: &Glyph) -> bool {
        let (source, operator, piece, at) = glyph.spot;
        self.changes.get(&source).is_some_and(|change| change.gone.contains_key(&(operator, piece, at)))
    }

    fn remove(&mut self, record: &PageRecord<'_>, glyph: &Glyph) {
        let (source, operator, piece, at) = glyph.spot;
        let change = self.changes.entry(source).or_default();
        if let Some(show) = record.shows.get(&(source, operator)) {
            change.shows.entry(operator).or_insert_with(|| show.clone());
            change.gone.insert((operator, piece, at), (glyph.length, glyph.gap));
        }
    }

    /// Removes the glyphs of a value, and covers where they were if they are a page's. Whether anything was still
    /// there.
    pub(super) fn redact(&mut self, page: ContentSource, record: &PageRecord<'_>, which: &[usize]) -> bool {
        let glyphs: Vec<&Glyph> = which.iter().filter_map(|n| record.glyphs.get(*n)).collect();
        let mut news = false;
        for glyph in &glyphs {
            let link = self.linked.remove(&glyph.spot);
            news |= link.is_some() || !self.is_gone(glyph);
            if let Some((source, operator, piece, at)) = link
                && let Some(change) = self.changes.get_mut(&source)
            {
                change.overlays.remove(&(operator, piece, at));
            }
            self.remove(record, glyph);
        }
        if let ContentSource::Page(page) = page {
            let first = |n: &&usize| self.covered.insert((page, **n));
            let fresh: Vec<&Glyph> =
                which.iter().filter(first).filter_map(|n| record.glyphs.get(*n)).collect();
            if !fresh.is_empty() {
                self.covers.entry(page).or_default().extend(quads(&fresh));
            }
        }
        self.unmark(record, which);
        news
    }

    /// Has another link take the place of one. Whether it was still there.
    pub(super) fn relink(&mut self, record: &PageRecord<'_>, which: &[usize], with: &str) -> bool {
        let glyphs: Vec<&Glyph> = which.iter().filter_map(|n| record.glyphs.get(*n)).collect();
        let Some(first) = glyphs.first() else { return false };
        if glyphs.iter().any(|glyph| self.is_gone(glyph)) {
            return false;
        }
        let (source, operator, piece, at) = first.spot;
        let width = width(&glyphs);
        let named = record.shows.get(&(source, operator)).is_some_and(|show| {
            show.font.as_ref().is_some_and(|(font, name)| !name.is_empty() && !font.vertical)
        });
        for glyph in &glyphs {
            self.remove(record, glyph);
            self.linked.insert(glyph.spot, first.spot);
        }
        self.unmark(record, which);
        if named && width > 0.0 {
            let change = self.changes.entry(source).or_default();
            change.overlays.insert((operator, piece, at), Overlay { text: with.to_owned(), width });
            change.resources = record.resources.get(&source).copied().flatten().cloned();
        }
        true
    }

    /// Takes their text from the marks around glyphs that go.
    fn unmark(&mut self, record: &PageRecord<'_>, which: &[usize]) {
        let mut sorted = which.to_vec();
        sorted.sort_unstable();
        for mark in &record.marks {
            let next = sorted.partition_point(|n| *n < mark.glyphs.start);
            if sorted.get(next).is_some_and(|n| *n < mark.glyphs.end) {
                self.bare(mark);
            }
        }
    }

    /// Takes its text from a mark.
    pub(super) fn bare(&mut self, mark: &MarkedContent) {
        let change = self.changes.entry(mark.source).or_default();
        change.marks.insert(mark.range.start, (mark.range.clone(), mark.bare.clone()));
    }

    /// Leaves strings empty that nothing shows. Whether they were not yet.
    pub(super) fn empty(&mut self, source: ContentSource, unshown: &UnshownText) -> bool {
        let emptied = &mut self.changes.entry(source).or_default().emptied;
        let before = emptied.len();
        emptied.extend(unshown.ranges.iter().map(|range| (range.start, range.clone())));
        emptied.len() > before
    }
}

/// How wide the first line of these glyphs is, in thousandths of the size of the first.
fn width(glyphs: &[&Glyph]) -> f64 {
    let Some(first) = glyphs.first() else { return 0.0 };
    let direction = direction(first);
    let size = first.size.max(0.1);
    let line = glyphs.iter().map(|glyph| offset(direction, first.from, glyph.to));
    let end = line.take_while(|[_, across]| across.abs() < size).map(|[along, _]| along).fold(0.0, f64::max);
    let [own, _] = offset(direction, first.from, first.to);
    let width = if own > 1e-6 { end / own * -first.gap } else { glyphs.iter().map(|glyph| -glyph.gap).sum() };
    if width.is_finite() { width.clamp(0.0, 1e6) } else { 0.0 }
}

/// What covers glyphs: one for each run in a line.
fn quads(glyphs: &[&Glyph]) -> Vec<Quad> {
    let mut runs: Vec<(&Glyph, f64, f64)> = Vec::new();
    for glyph in glyphs {
        let size = glyph.size.max(0.1);
        let joined = runs.last_mut().is_some_and(|(first, end, tall)| {
            let direction = direction(first);
            let [from, across] = offset(direction, first.from, glyph.from);
            let [to, _] = offset(direction, first.from, glyph.to);
            let joins = across.abs() < size * 0.3 && (from - *end).abs() < size && to >= from;
            if joins {
                (*end, *tall) = (end.max(to), tall.max(size));
            }
            joins
        });
        if !joined {
            let [end, _] = offset(direction(glyph), glyph.from, glyph.to);
            runs.push((glyph, end, size));
        }
    }
    let quad = |(first, end, tall): (&Glyph, f64, f64)| {
        let ([ux, uy], [x, y]) = (direction(first), first.from);
        let corner = |along: f64, up: f64| [x + ux * along - uy * up, y + uy * along + ux * up];
        let (low, high) = (-tall * 0.22, tall * 0.88);
        [corner(0.0, low), corner(end, low), corner(end, high), corner(0.0, high)]
    };
    runs.into_iter().map(quad).filter(|quad| quad.iter().flatten().all(|n| n.is_finite())).collect()
}
