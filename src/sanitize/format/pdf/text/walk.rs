//! [`read`]: a page, or a stream by itself, operator by operator (ISO 32000-2, annex A), with what it draws.

use std::ops::Range;
use std::rc::Rc;

use lopdf::{Dictionary, Object, StringFormat};

use crate::sanitize::format::passage::is_worth;
use crate::sanitize::format::pdf::text::font;
use crate::sanitize::format::pdf::text::lexer::PdfToken;
use crate::sanitize::format::pdf::text::operands::{
    self, Operand, Operators, STATES, TEXTS, name, numbers, pieces,
};
use crate::sanitize::format::pdf::text::record::{
    ContentSource, Glyph, MarkedContent, PageRecord, ReadSource, Show, ShowItem, SourceTrail, UnshownText,
};
use crate::sanitize::format::pdf::text::state::{GraphicsState, TextPosition, then};
use crate::sanitize::format::pdf::text::streams::ContentStreams;
use crate::sanitize::format::pdf::{graph, strings};
use crate::sanitize::{Rejection, Work};

/// How deep forms lie within forms. What lies deeper is read by itself.
const DEPTH: usize = 12;

/// What drawing a form takes out of the budget. One that holds nothing to be read does so once.
const DRAWN: usize = 16;

/// How many glyphs one page shows at most.
const GLYPHS: usize = 500_000;

/// Reads a page, or a stream by itself.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn read<'a>(
    streams: &mut ContentStreams<'a>,
    source: ContentSource,
    resources: Option<&'a Dictionary>,
    work: &mut Work<'_>,
) -> Result<PageRecord<'a>, Rejection> {
    let mut trail = SourceTrail::default();
    let resources = match source {
        ContentSource::Page(page) => streams.inherited(page),
        ContentSource::Stream(_) => resources,
    };
    run(streams, ReadSource { source, resources, state: GraphicsState::new() }, &mut trail, work)?;
    Ok(trail.record)
}

/// Reads a source into a record.
fn run<'a>(
    streams: &mut ContentStreams<'a>,
    step: ReadSource<'a>,
    trail: &mut SourceTrail<'a>,
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    let source = step.source;
    let stream = match source {
        ContentSource::Stream(id) => Some((id, step.resources.map(std::ptr::from_ref))),
        ContentSource::Page(_) => None,
    };
    if let Some(images) = stream.and_then(|stream| streams.wordless.get(&stream)) {
        trail.record.images = trail.record.images.saturating_add(*images);
        return Ok(());
    }
    if trail.within.len() >= DEPTH || trail.within.contains(&source) {
        trail.cut = trail.cut.saturating_add(1);
        return Ok(());
    }
    let (length, images) = (trail.length(), trail.record.images);
    let bytes = streams.content(source, work)?;
    if let ContentSource::Stream(id) = source {
        // Forms can be drawn by forms over and over.
        work.unpacked(bytes.len())?;
        work.items(DRAWN)?;
        streams.seen.insert(id);
    }
    trail.record.resources.insert(source, step.resources);
    trail.within.push(source);
    ContentWalk::new(streams, step, trail, work).through(&bytes)?;
    trail.within.pop();
    if let Some(stream) = stream.filter(|_| trail.length() == length) {
        streams.wordless.insert(stream, trail.record.images.saturating_sub(images));
    }
    Ok(())
}

/// Reads what `Do` draws.
fn draw<'a>(
    streams: &mut ContentStreams<'a>,
    name: &[u8],
    step: ReadSource<'a>,
    trail: &mut SourceTrail<'a>,
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    let ReadSource { resources, mut state, .. } = step;
    let doc = streams.doc;
    let drawn = resources.and_then(|resources| graph::sub(doc, resources, b"XObject"));
    let Some(drawn) = drawn.and_then(|drawn| drawn.get(name).ok()) else { return Ok(()) };
    let (Some(id), Object::Stream(stream)) = (graph::target(doc, drawn), graph::resolve(doc, drawn)) else {
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
    run(
        streams,
        ReadSource { source: ContentSource::Stream(id), resources: own.or(resources), state },
        trail,
        work,
    )
}

/// One way through one stream.
struct ContentWalk<'w, 'a, 'j> {
    streams: &'w mut ContentStreams<'a>,
    source: ContentSource,
    resources: Option<&'a Dictionary>,
    state: GraphicsState,
    kept: Vec<GraphicsState>,
    place: TextPosition,
    marks: Vec<Option<MarkedContent>>,
    trail: &'w mut SourceTrail<'a>,
    work: &'w mut Work<'j>,
}

impl<'w, 'a, 'j> ContentWalk<'w, 'a, 'j> {
    /// Begins on a stream.
    fn new(
        streams: &'w mut ContentStreams<'a>,
        step: ReadSource<'a>,
        trail: &'w mut SourceTrail<'a>,
        work: &'w mut Work<'j>,
    ) -> Self {
        let ReadSource { source, resources, state } = step;
        Self {
            streams,
            source,
            resources,
            state,
            kept: Vec::new(),
            place: TextPosition::new(),
            marks: Vec::new(),
            trail,
            work,
        }
    }

    /// Walks to the end.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    fn through(mut self, bytes: &[u8]) -> Result<(), Rejection> {
        let (mut operators, mut operands) = (Operators::of(bytes), Vec::new());
        while let Some((word, range)) = operators.next(&mut operands)? {
            let start = operands.first().map_or(range.start, |(_, range)| range.start);
            match word {
                b"ID" => {
                    self.image(&operands, range.start);
                    self.unshown(word, &operands, false);
                }
                b"Tj" | b"TJ" | b"'" | b"\"" => {
                    self.show(word, &operands, start..range.end)?;
                    self.unshown(word, &operands, false);
                }
                b"BDC" | b"BMC" | b"DP" | b"EMC" => self.mark(word, &operands, start..range.end),
                _ => {
                    self.operator(word, &operands)?;
                    self.unshown(word, &operands, false);
                }
            }
        }
        self.unshown(b"", &operands, false);
        while let Some(mark) = self.marks.pop() {
            self.close(mark);
        }
        Ok(())
    }

    fn operator(&mut self, word: &[u8], operands: &[Operand<'_>]) -> Result<(), Rejection> {
        let one = || numbers::<1>(operands).map_or(0.0, |[n]| n);
        match word {
            b"q" if self.kept.len() < STATES => self.kept.push(self.state.clone()),
            b"Q" => self.state = self.kept.pop().unwrap_or_else(|| self.state.clone()),
            b"cm" => {
                if let Some(matrix) = numbers::<6>(operands) {
                    self.state.space = then(&matrix, &self.state.space);
                }
            }
            b"BT" => self.place = TextPosition::new(),
            b"Tm" => {
                if let Some(matrix) = numbers::<6>(operands) {
                    self.place.set(matrix);
                }
            }
            b"Td" | b"TD" => {
                let [x, y] = numbers::<2>(operands).unwrap_or([0.0, 0.0]);
                if word == b"TD" {
                    self.state.leading = -y;
                }
                self.place.line(x, y);
            }
            b"T*" => self.place.line(0.0, -self.state.leading),
            b"Tc" => self.state.characters = one(),
            b"Tw" => self.state.words = one(),
            b"Tz" => self.state.scale = one() / 100.0,
            b"TL" => self.state.leading = one(),
            b"Ts" => self.state.rise = one(),
            b"Tf" => {
                self.state.size = one();
                if let Some(name) = name(operands.first()) {
                    let font = self.resource(b"Font", name);
                    self.state.font = Some((self.streams.font(font, self.work)?, Rc::from(name)));
                }
            }
            b"gs" => self.graphics(name(operands.first()).unwrap_or_default())?,
            b"Do" => {
                let name = name(operands.last()).unwrap_or_default();
                let step =
                    ReadSource { source: self.source, resources: self.resources, state: self.state.clone() };
                draw(self.streams, name, step, self.trail, self.work)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn resource(&self, kind: &[u8], name: &[u8]) -> Option<&'a Dictionary> {
        let doc = self.streams.doc;
        graph::sub(doc, graph::sub(doc, self.resources?, kind)?, name)
    }

    /// A graphics state can bring a font.
    fn graphics(&mut self, name: &[u8]) -> Result<(), Rejection> {
        let doc = self.streams.doc;
        let Some(dict) = self.resource(b"ExtGState", name) else { return Ok(()) };
        if let [font, size] = graph::array(doc, dict, b"Font") {
            let font = graph::dict(graph::resolve(doc, font));
            self.state.font = Some((self.streams.font(font, self.work)?, Rc::from([])));
            self.state.size = font::number(graph::resolve(doc, size));
        }
        Ok(())
    }

    fn show(&mut self, word: &[u8], operands: &[Operand<'_>], range: Range<usize>) -> Result<(), Rejection> {
        let mut before = String::new();
        if word == b"\"" {
            let [words, characters] = numbers::<2>(operands).unwrap_or([0.0, 0.0]);
            (self.state.words, self.state.characters) = (words, characters);
            before = format!("{words} Tw {characters} Tc ");
        }
        if word == b"'" || word == b"\"" {
            self.place.line(0.0, -self.state.leading);
            before.push_str("T* ");
        }
        let pieces = pieces(word, operands);
        let font = match &self.state.font {
            Some((font, _)) => Rc::clone(font),
            None => self.streams.font(None, self.work)?,
        };
        let scale = if font.vertical { 1.0 } else { self.state.scale };
        let mut shown = 0_usize;
        for (n, piece) in pieces.iter().enumerate() {
            let codes = match piece {
                ShowItem::Gap(gap) => {
                    self.place.advance(-gap / 1000.0 * self.state.size * scale, font.vertical);
                    continue;
                }
                ShowItem::Codes(codes) => codes,
            };
            let mut at = 0;
            while let Some(rest) = codes.get(at..).filter(|rest| !rest.is_empty()) {
                let code = font.code(rest);
                let words = if code.space { self.state.words } else { 0.0 };
                let extra = self.state.characters + words;
                let (from, size) = self.place.on_page(&self.state);
                self.place.advance((code.width / 1000.0 * self.state.size + extra) * scale, font.vertical);
                let (to, _) = self.place.on_page(&self.state);
                let extra = if self.state.size == 0.0 { 0.0 } else { extra * 1000.0 / self.state.size };
                self.trail.record.glyphs.push(Glyph {
                    spot: (self.source, range.start, n, at),
                    length: code.length,
                    text: code.text,
                    from,
                    to,
                    size,
                    gap: -(code.width + extra),
                });
                at = at.saturating_add(code.length);
                shown = shown.saturating_add(1);
            }
        }
        if self.trail.record.glyphs.len() > GLYPHS {
            return Err(Rejection::OverLimit);
        }
        let state = &self.state;
        self.trail.record.shows.entry((self.source, range.start)).or_insert_with(|| Show {
            range,
            pieces,
            before,
            font: state.font.clone(),
            size: state.size,
            characters: state.characters,
            words: state.words,
            scale: state.scale,
        });
        Ok(())
    }

    /// An image in the stream itself.
    fn image(&mut self, operands: &[Operand<'_>], at: usize) {
        let record = &mut self.trail.record;
        record.images = record.images.saturating_add(1);
        record.inline.insert((self.source, at), operands::dots(operands));
    }

    /// Keeps the strings that an operator does not show.
    fn unshown(&mut self, word: &[u8], operands: &[Operand<'_>], marked: bool) {
        let strings = operands::unshown(word, operands, marked);
        let Some((_, first)) = strings.first() else { return };
        let mut text = String::new();
        for (token, _) in &strings {
            if let PdfToken::String(bytes) = token {
                text.push_str(&read_string(bytes));
                text.push('\n');
            }
        }
        if is_worth(&text) {
            let ranges = strings.iter().map(|(_, range)| range.clone()).collect();
            self.trail.record.unshown.insert((self.source, first.start), UnshownText { text, ranges });
        }
    }

    fn mark(&mut self, word: &[u8], operands: &[Operand<'_>], range: Range<usize>) {
        if word == b"EMC" {
            let mark = self.marks.pop();
            self.unshown(word, operands, false);
            return self.close(mark.flatten());
        }
        let mark = self.marked(word, operands, range);
        self.unshown(word, operands, mark.is_some());
        match (word, mark) {
            (b"DP", mark) => self.close(mark),
            (_, mark) => self.marks.push(mark),
        }
    }

    fn close(&mut self, mark: Option<MarkedContent>) {
        if let Some(mut mark) = mark {
            mark.glyphs.end = self.trail.record.glyphs.len();
            self.trail.record.marks.push(mark);
        }
    }

    /// What begins marked content, if that brings text.
    fn marked(&self, word: &[u8], operands: &[Operand<'_>], range: Range<usize>) -> Option<MarkedContent> {
        let Some((PdfToken::Name(tag), _)) = operands.first() else { return None };
        if tag == b"OC" || word == b"BMC" {
            return None;
        }
        let mut text = String::new();
        let mut brings = false;
        let mut number = None;
        for pair in operands.windows(2) {
            match pair {
                [(PdfToken::Name(key), _), (PdfToken::String(bytes), _)]
                    if TEXTS.contains(&key.as_slice()) =>
                {
                    text.push_str(&read_string(bytes));
                    text.push('\n');
                    brings = true;
                }
                [(PdfToken::Name(key), _), (PdfToken::Number(n), _)] if key == b"MCID" => number = Some(*n),
                _ => {}
            }
        }
        if let Some((PdfToken::Name(list), _)) = operands.get(1)
            && let Some(list) = self.resource(b"Properties", list)
        {
            brings |= TEXTS.iter().any(|key| list.has(key));
            number = graph::integer(self.streams.doc, list, b"MCID").map(|n| n as f64);
        }
        let plain = !tag.is_empty() && tag.iter().all(u8::is_ascii_alphanumeric);
        let tag = if plain { String::from_utf8_lossy(tag).into_owned() } else { "Span".to_owned() };
        let bare = match (word, number) {
            (b"DP", _) => format!("/{tag} MP"),
            (_, Some(number)) => format!("/{tag} <</MCID {}>> BDC", number as i64),
            _ => format!("/{tag} BMC"),
        };
        let start = self.trail.record.glyphs.len();
        brings.then_some(MarkedContent { source: self.source, range, text, bare, glyphs: start..start })
    }
}

/// A text string of a stream.
fn read_string(bytes: &[u8]) -> String {
    strings::text(&Object::String(bytes.to_vec(), StringFormat::Literal)).unwrap_or_default()
}
