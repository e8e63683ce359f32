//! What is seen on the way through a page.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use lopdf::{Dictionary, ObjectId};

use crate::sanitize::format::pdf::text::font::Font;
use crate::sanitize::format::pdf::text::state::GraphicsState;

/// Whose content something stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ContentSource {
    /// All content streams of a page, joined.
    Page(ObjectId),
    /// A form, a pattern, a glyph of a Type 3 font.
    Stream(ObjectId),
}

/// The place of a glyph: the source, where its operator begins, which operand of it, where in that one.
pub(super) type GlyphPlace = (ContentSource, usize, usize, usize);

/// A glyph that is shown.
#[derive(Clone, Debug)]
pub(super) struct Glyph {
    pub(super) spot: GlyphPlace,
    /// How many bytes its code takes.
    pub(super) length: usize,
    /// How it reads; none if that cannot be told.
    pub(super) text: Option<Rc<str>>,
    /// Where it begins on the page, where the next one does, and the size of its letters.
    pub(super) from: [f64; 2],
    pub(super) to: [f64; 2],
    pub(super) size: f64,
    /// The number of a `TJ` that takes the same way.
    pub(super) gap: f64,
}

/// An operand of an operator that shows text.
#[derive(Clone, Debug)]
pub(super) enum ShowItem {
    /// Codes.
    Codes(Vec<u8>),
    /// A way back.
    Gap(f64),
}

/// An operator that shows text.
#[derive(Clone, Debug)]
pub(super) struct Show {
    /// Its bytes, with its operands.
    pub(super) range: Range<usize>,
    pub(super) pieces: Vec<ShowItem>,
    /// What it does before it shows anything.
    pub(super) before: String,
    /// The state to come back to: the font, as its stream calls it, its size, spacing and scaling.
    pub(super) font: Option<(Rc<Font>, Rc<[u8]>)>,
    pub(super) size: f64,
    pub(super) characters: f64,
    pub(super) words: f64,
    pub(super) scale: f64,
}

/// Content that brings text of its own, to be read instead of its glyphs (ISO 32000-2, 14.9).
#[derive(Clone, Debug)]
pub(super) struct MarkedContent {
    pub(super) source: ContentSource,
    /// The bytes of the operator that begins it.
    pub(super) range: Range<usize>,
    /// The text, if it stands in the stream.
    pub(super) text: String,
    /// What it becomes without the text.
    pub(super) bare: String,
    /// The glyphs in it.
    pub(super) glyphs: Range<usize>,
}

/// Strings of an operator that does not show them.
#[derive(Clone, Debug)]
pub(super) struct UnshownText {
    /// What they read, each in a line.
    pub(super) text: String,
    /// Where they stand.
    pub(super) ranges: Vec<Range<usize>>,
}

/// A source, and how it is read.
#[derive(Debug)]
pub(super) struct ReadSource<'a> {
    pub(super) source: ContentSource,
    pub(super) resources: Option<&'a Dictionary>,
    pub(super) state: GraphicsState,
}

/// The way so far: what is seen, and the sources that it leads through.
#[derive(Debug, Default)]
pub(super) struct SourceTrail<'a> {
    pub(super) within: Vec<ContentSource>,
    pub(super) record: PageRecord<'a>,
    /// How many sources were left out because the way leads through them already, or is too long.
    pub(super) cut: usize,
}

impl SourceTrail<'_> {
    /// How much there is to be read so far, and how much was left out.
    pub(super) fn length(&self) -> [usize; 4] {
        let record = &self.record;
        [record.glyphs.len(), record.marks.len(), record.unshown.len(), self.cut]
    }
}

/// A page, or a stream by itself.
#[derive(Debug, Default)]
pub(super) struct PageRecord<'a> {
    /// In the order of the content.
    pub(super) glyphs: Vec<Glyph>,
    pub(super) shows: BTreeMap<(ContentSource, usize), Show>,
    pub(super) marks: Vec<MarkedContent>,
    /// Strings that nothing shows, by where the first of each operator's stands.
    pub(super) unshown: BTreeMap<(ContentSource, usize), UnshownText>,
    /// The resources that each source goes by.
    pub(super) resources: BTreeMap<ContentSource, Option<&'a Dictionary>>,
    /// How many images are painted.
    pub(super) images: usize,
    /// Those that stand in the content itself, by where they do, and how many dots each has.
    pub(super) inline: BTreeMap<(ContentSource, usize), u64>,
}
