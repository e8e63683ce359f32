//! [`DrawList`]: what a stream draws, and how often: forms, pictures and masks, glyphs of fonts that draw them (Type 3), and what
//! is filled with a pattern (ISO 32000-2, 8.7.3, 8.10, 9.6.4 and 11.4.7).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::sanitize::Rejection;
use crate::sanitize::format::pdf::graph;
use crate::sanitize::format::pdf::text::lexer::PdfToken;
use crate::sanitize::format::pdf::text::operands::{Operand, Operators, STATES, name};

/// What is set as a font or a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Setting<T> {
    /// Nothing yet: what was set around the stream holds.
    #[default]
    Outer,
    /// What draws nothing.
    Plain,
    /// What draws.
    Draws(T),
}

impl<T> Setting<T> {
    /// What draws, if `outer` was set around the stream.
    fn or(self, outer: Option<T>) -> Option<T> {
        match self {
            Self::Outer => outer,
            Self::Plain => None,
            Self::Draws(drawn) => Some(drawn),
        }
    }
}

/// What is set where something is drawn: the number of a font, and patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DrawState {
    pub(super) font: Setting<usize>,
    pub(super) fill: Setting<ObjectId>,
    pub(super) stroke: Setting<ObjectId>,
}

/// The same, with what was set around the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct OuterState {
    pub(super) font: Option<usize>,
    pub(super) fill: Option<ObjectId>,
    pub(super) stroke: Option<ObjectId>,
}

impl DrawState {
    /// What is set, where this was set around the stream.
    pub(super) fn within(self, outer: OuterState) -> OuterState {
        OuterState {
            font: self.font.or(outer.font),
            fill: self.fill.or(outer.fill),
            stroke: self.stroke.or(outer.stroke),
        }
    }
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DrawnKind {
    /// A form, or the group of a mask.
    Form(ObjectId),
    Image,
    /// The glyph of a code in the font.
    Glyph(u8),
    /// Something in the colour for filling, or for lines.
    Fill,
    Stroke,
}

/// Something that is drawn, and what is set then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DrawnItem {
    pub(super) what: DrawnKind,
    pub(super) state: DrawState,
}

/// What a stream draws.
#[derive(Debug, Default)]
pub(super) struct DrawList {
    /// How long it is.
    pub(super) bytes: u64,
    /// Each thing, and how often.
    pub(super) items: BTreeMap<DrawnItem, u64>,
    /// Whether a name was looked for among the page's resources.
    pub(super) lent: bool,
}

/// A font that draws its glyphs.
#[derive(Debug)]
pub(super) struct DrawnFont<'a> {
    /// The resources that they go by.
    pub(super) resources: Option<&'a Dictionary>,
    /// The codes that its encoding names, and the glyph of each, if there is one.
    glyphs: BTreeMap<u8, Option<ObjectId>>,
    /// Glyphs that it does not name: which reader draws them for which code is anybody's guess.
    others: Vec<ObjectId>,
}

impl<'a> DrawnFont<'a> {
    fn of(doc: &'a Document, font: &'a Dictionary) -> Option<Self> {
        if graph::name(doc, font, b"Subtype") != b"Type3" {
            return None;
        }
        let procedures = graph::sub(doc, font, b"CharProcs")?;
        let differences: &[Object] = match graph::sub(doc, font, b"Encoding") {
            Some(encoding) => graph::array(doc, encoding, b"Differences"),
            None => &[],
        };
        let (mut names, mut glyphs, mut code) = (BTreeSet::new(), BTreeMap::new(), 0_i64);
        for item in differences {
            match graph::resolve(doc, item) {
                Object::Integer(first) => code = *first,
                Object::Name(name) => {
                    let glyph = procedures.get(name).ok().and_then(|glyph| graph::target(doc, glyph));
                    if let Ok(code) = u8::try_from(code) {
                        glyphs.insert(code, glyph);
                        names.insert(name.as_slice());
                    }
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
        let others = procedures.iter().filter(|(name, _)| !names.contains(name.as_slice()));
        let others = others.filter_map(|(_, glyph)| graph::target(doc, glyph)).collect();
        Some(Self { resources: graph::sub(doc, font, b"Resources"), glyphs, others })
    }

    /// The glyphs that a code may stand for.
    pub(super) fn glyphs(&self, code: u8) -> Vec<ObjectId> {
        match self.glyphs.get(&code) {
            Some(glyph) => glyph.iter().copied().collect(),
            None => self.others.clone(),
        }
    }
}

/// The fonts of a document that draw their glyphs, by number.
#[derive(Debug, Default)]
pub(super) struct DrawnFonts<'a> {
    all: Vec<DrawnFont<'a>>,
    known: HashMap<*const Dictionary, Option<usize>>,
}

impl<'a> DrawnFonts<'a> {
    fn number(&mut self, doc: &'a Document, font: &'a Dictionary) -> Option<usize> {
        // The document does not change while it is read.
        let key = std::ptr::from_ref(font);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let number = DrawnFont::of(doc, font).map(|font| {
            self.all.push(font);
            self.all.len().saturating_sub(1)
        });
        self.known.insert(key, number);
        number
    }

    pub(super) fn get(&self, number: usize) -> Option<&DrawnFont<'a>> {
        self.all.get(number)
    }
}

/// Reads a stream.
pub(super) struct DrawReader<'r, 'a> {
    pub(super) doc: &'a Document,
    pub(super) resources: Option<&'a Dictionary>,
    /// Those of the page, where some readers look for what is not among its own.
    pub(super) page: Option<&'a Dictionary>,
    pub(super) fonts: &'r mut DrawnFonts<'a>,
    /// What is set where it begins.
    pub(super) state: DrawState,
    pub(super) kept: Vec<DrawState>,
    pub(super) list: DrawList,
}

impl<'a> DrawReader<'_, 'a> {
    /// Reads to the end.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    pub(super) fn read(mut self, bytes: &[u8]) -> Result<DrawList, Rejection> {
        self.list.bytes = bytes.len() as u64;
        let (mut operators, mut operands) = (Operators::of(bytes), Vec::new());
        while let Some((word, _)) = operators.next(&mut operands)? {
            self.operator(word, &operands);
        }
        Ok(self.list)
    }

    fn operator(&mut self, word: &[u8], operands: &[Operand<'_>]) {
        match word {
            b"q" if self.kept.len() < STATES => self.kept.push(self.state),
            b"Q" => self.state = self.kept.pop().unwrap_or(self.state),
            b"Tf" => {
                if let Some(name) = name(operands.first()) {
                    let font = self.resource(b"Font", name);
                    self.state.font = self.font(font);
                }
            }
            b"gs" => self.graphics(name(operands.first()).unwrap_or_default()),
            b"Do" => self.external(name(operands.last()).unwrap_or_default()),
            b"scn" | b"sc" => self.state.fill = self.pattern(name(operands.last())),
            b"SCN" | b"SC" => self.state.stroke = self.pattern(name(operands.last())),
            b"g" | b"rg" | b"k" | b"cs" => self.state.fill = Setting::Plain,
            b"G" | b"RG" | b"K" | b"CS" => self.state.stroke = Setting::Plain,
            b"f" | b"F" | b"f*" | b"ID" => self.put(DrawnKind::Fill),
            b"S" | b"s" => self.put(DrawnKind::Stroke),
            b"B" | b"B*" | b"b" | b"b*" => {
                self.put(DrawnKind::Fill);
                self.put(DrawnKind::Stroke);
            }
            b"Tj" | b"TJ" | b"'" | b"\"" => self.show(operands),
            _ => {}
        }
    }

    fn resource(&mut self, kind: &[u8], name: &[u8]) -> Option<&'a Object> {
        let doc = self.doc;
        let among = |resources: Option<&'a Dictionary>| graph::sub(doc, resources?, kind)?.get(name).ok();
        let pointer = |resources: Option<&'a Dictionary>| resources.map(std::ptr::from_ref);
        let own = among(self.resources);
        if own.is_some() || pointer(self.resources) == pointer(self.page) {
            return own;
        }
        self.list.lent = true;
        among(self.page)
    }

    fn font(&mut self, font: Option<&'a Object>) -> Setting<usize> {
        let doc = self.doc;
        let font = font.and_then(|font| graph::dict(graph::resolve(doc, font)));
        let number = font.and_then(|font| self.fonts.number(doc, font));
        number.map_or(Setting::Plain, Setting::Draws)
    }

    /// The pattern of this name, if it is one of tiles.
    fn pattern(&mut self, name: Option<&[u8]>) -> Setting<ObjectId> {
        let doc = self.doc;
        let pattern = name.and_then(|name| self.resource(b"Pattern", name));
        let tiles = |id: &ObjectId| {
            let dict = doc.objects.get(id).and_then(graph::dict);
            dict.is_some_and(|dict| graph::integer(doc, dict, b"PatternType") == Some(1))
        };
        let pattern = pattern.and_then(|pattern| graph::target(doc, pattern)).filter(tiles);
        pattern.map_or(Setting::Plain, Setting::Draws)
    }

    /// A graphics state can bring a font, and a mask.
    fn graphics(&mut self, name: &[u8]) {
        let doc = self.doc;
        let state =
            self.resource(b"ExtGState", name).and_then(|state| graph::dict(graph::resolve(doc, state)));
        let Some(state) = state else { return };
        if let [font, _] = graph::array(doc, state, b"Font") {
            self.state.font = self.font(Some(font));
        }
        let mask = graph::sub(doc, state, b"SMask").and_then(|mask| mask.get(b"G").ok());
        if let Some(mask) = mask.and_then(|group| graph::target(doc, group)) {
            self.put(DrawnKind::Form(mask));
        }
    }

    fn external(&mut self, name: &[u8]) {
        let doc = self.doc;
        let Some(drawn) = self.resource(b"XObject", name) else { return };
        let (Some(id), Object::Stream(stream)) = (graph::target(doc, drawn), graph::resolve(doc, drawn))
        else {
            return;
        };
        if graph::name(doc, &stream.dict, b"Subtype") == b"Image" {
            self.put(DrawnKind::Image);
            // One of a single colour may be filled with a pattern.
            self.put(DrawnKind::Fill);
        } else {
            self.put(DrawnKind::Form(id));
        }
    }

    fn show(&mut self, operands: &[Operand<'_>]) {
        if self.state.font != Setting::Plain {
            for (token, _) in operands {
                if let PdfToken::String(codes) = token {
                    codes.iter().for_each(|code| self.put(DrawnKind::Glyph(*code)));
                }
            }
        }
        self.put(DrawnKind::Fill);
        self.put(DrawnKind::Stroke);
    }

    fn put(&mut self, what: DrawnKind) {
        let draws = match what {
            DrawnKind::Form(_) | DrawnKind::Image => true,
            DrawnKind::Glyph(_) => self.state.font != Setting::Plain,
            DrawnKind::Fill => self.state.fill != Setting::Plain,
            DrawnKind::Stroke => self.state.stroke != Setting::Plain,
        };
        if draws {
            let times = self.list.items.entry(DrawnItem { what, state: self.state }).or_default();
            *times = times.saturating_add(1);
        }
    }
}
