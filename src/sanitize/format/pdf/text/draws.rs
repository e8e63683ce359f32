//! [`bound`]: how much pages draw, all in all. What is drawn draws in its turn: a few lines that each draw the one before twice
//! ask for more than any reader finishes, although nothing in them is large.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::sanitize::format::pdf::graph;
use crate::sanitize::format::pdf::text::drawn::{
    DrawList, DrawReader, DrawState, DrawnFonts, DrawnItem, DrawnKind, OuterState, Setting,
};
use crate::sanitize::format::pdf::text::record::ContentSource;
use crate::sanitize::format::pdf::text::streams::ContentStreams;
use crate::sanitize::{Rejection, Work};

/// How many forms, pictures and masks the pages of a file draw at most, each as often as it is drawn.
const DRAWN: u64 = 1_000_000;

/// How much content that takes at most, in bytes; or so many times what is written.
const CONTENT: u64 = 1 << 30;
const RATIO: u64 = 1000;

/// How deep forms lie within forms at most.
const DEPTH: usize = 100;

/// How much is looked at on the way, in things that are drawn: what draws itself in a circle is looked at on each way to it.
const TURNS: usize = 1_000_000;

/// Counts what the pages of a document draw, the appearances of annotations among it.
///
/// # Errors
/// [`Rejection::OverLimit`] if that is too much.
pub(super) fn bound(streams: &mut ContentStreams<'_>, work: &mut Work<'_>) -> Result<(), Rejection> {
    let mut drawing = Drawing {
        first: first(streams.doc),
        streams,
        fonts: DrawnFonts::default(),
        lists: HashMap::new(),
        read: BTreeSet::new(),
        written: 0,
        costs: HashMap::new(),
        open: Vec::new(),
        turns: TURNS,
    };
    let mut total = DrawCost::default();
    for page in drawing.streams.pages() {
        total = total.plus(drawing.page(page, work)?);
    }
    let most = drawing.written.saturating_mul(RATIO).max(CONTENT);
    if total.draws > DRAWN || total.bytes > most { Err(Rejection::OverLimit) } else { Ok(()) }
}

/// What is set where a stream begins: without fonts that draw, or patterns, there is nothing to look for.
fn first(doc: &Document) -> DrawState {
    let (mut glyphs, mut patterns) = (false, false);
    for object in doc.objects.values() {
        graph::each(object, b"", graph::DEPTH, &mut |_, dict| {
            glyphs |= dict.has(b"CharProcs");
            patterns |= dict.has(b"PatternType");
        });
    }
    DrawState {
        font: if glyphs { Setting::Outer } else { Setting::Plain },
        fill: if patterns { Setting::Outer } else { Setting::Plain },
        stroke: if patterns { Setting::Outer } else { Setting::Plain },
    }
}

/// What drawing something takes.
#[derive(Clone, Copy, Debug, Default)]
struct DrawCost {
    /// How much is drawn, each thing as often as it is.
    draws: u64,
    /// How much content is read for it.
    bytes: u64,
    /// Whether it draws what may draw in its turn: more than lines and pictures.
    layers: bool,
}

impl DrawCost {
    fn plus(self, other: Self) -> Self {
        Self {
            draws: self.draws.saturating_add(other.draws),
            bytes: self.bytes.saturating_add(other.bytes),
            layers: self.layers || other.layers,
        }
    }

    fn times(self, times: u64) -> Self {
        Self { draws: self.draws.saturating_mul(times), bytes: self.bytes.saturating_mul(times), ..self }
    }

    fn max(self, other: Self) -> Self {
        Self {
            draws: self.draws.max(other.draws),
            bytes: self.bytes.max(other.bytes),
            layers: self.layers || other.layers,
        }
    }

    /// Of a form, for what draws it.
    fn of_form(self) -> Self {
        Self { draws: self.draws.saturating_add(1), layers: true, ..self }
    }

    /// Of a glyph or a tile, for what draws it. These are as many as there is text, and count only where they draw more than
    /// lines and pictures.
    fn of_part(self) -> Self {
        if self.layers { self.of_form() } else { Self { draws: 0, layers: true, ..self } }
    }
}

/// What something takes, and by what that may be another where something else draws it.
#[derive(Clone, Copy)]
struct Reached {
    cost: DrawCost,
    /// What it leads back to: the outermost of the streams that are being looked at.
    back: usize,
    /// Whether it looks for names among the page's resources.
    lent: bool,
}

impl Reached {
    fn of(cost: DrawCost) -> Self {
        Self { cost, back: usize::MAX, lent: false }
    }

    /// Of this much, on the way of both.
    fn with(self, other: Self, cost: DrawCost) -> Self {
        Self { cost, back: self.back.min(other.back), lent: self.lent || other.lent }
    }
}

/// What is there where something is drawn.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// The resources of what draws it, and of the page.
    resources: Option<&'a Dictionary>,
    page: Option<&'a Dictionary>,
    state: OuterState,
}

/// Resources by which a stream goes that are not its own.
type Borrowed = Option<*const Dictionary>;

/// A document that is looked through.
struct Drawing<'s, 'a> {
    streams: &'s mut ContentStreams<'a>,
    first: DrawState,
    fonts: DrawnFonts<'a>,
    /// By the resources, and the page's where names were looked for among those.
    lists: HashMap<(ContentSource, Borrowed, Borrowed), Rc<DrawList>>,
    /// The streams that were read, and how much they are.
    read: BTreeSet<ContentSource>,
    written: u64,
    costs: HashMap<(ObjectId, Borrowed, Borrowed, OuterState), DrawCost>,
    /// What is being looked at, each drawn by the one before.
    open: Vec<ObjectId>,
    turns: usize,
}

impl<'a> Drawing<'_, 'a> {
    /// What a page takes, with its annotations.
    fn page(&mut self, page: ContentSource, work: &mut Work<'_>) -> Result<DrawCost, Rejection> {
        let ContentSource::Page(id) = page else { return Ok(DrawCost::default()) };
        let resources = self.streams.inherited(id);
        let around = Around { resources, page: resources, state: OuterState::default() };
        let list = self.list(page, around, work)?;
        let mut cost = self.sum(&list, around, work)?.cost;
        for appearance in self.appearances(id)? {
            let around = Around { resources: None, ..around };
            cost = cost.plus(self.stream(appearance, around, work)?.cost.of_form());
            if cost.draws > DRAWN {
                return Err(Rejection::OverLimit);
            }
        }
        Ok(cost)
    }

    /// The appearances of a page's annotations, all of each (ISO 32000-2, 12.5.5).
    fn appearances(&mut self, page: ObjectId) -> Result<Vec<ObjectId>, Rejection> {
        let doc = self.streams.doc;
        let Some(page) = doc.objects.get(&page).and_then(graph::dict) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for annotation in graph::array(doc, page, b"Annots") {
            self.turn(1)?;
            let looks =
                graph::dict(graph::resolve(doc, annotation)).and_then(|dict| graph::sub(doc, dict, b"AP"));
            for (_, look) in looks.into_iter().flatten() {
                self.turn(1)?;
                match graph::resolve(doc, look) {
                    Object::Stream(_) => found.extend(graph::target(doc, look)),
                    Object::Dictionary(states) => {
                        self.turn(states.len())?;
                        found.extend(states.iter().filter_map(|(_, state)| graph::target(doc, state)));
                    }
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    /// Looks at so many things more.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] when that is too much.
    fn turn(&mut self, turns: usize) -> Result<(), Rejection> {
        self.turns = self.turns.checked_sub(turns).ok_or(Rejection::OverLimit)?;
        Ok(())
    }

    /// What a stream draws by these resources.
    fn list(
        &mut self,
        source: ContentSource,
        around: Around<'a>,
        work: &mut Work<'_>,
    ) -> Result<Rc<DrawList>, Rejection> {
        let Around { resources, page, .. } = around;
        let (near, far) = (resources.map(std::ptr::from_ref), page.map(std::ptr::from_ref));
        let known = self.lists.get(&(source, near, None)).or_else(|| self.lists.get(&(source, near, far)));
        if let Some(list) = known {
            return Ok(Rc::clone(list));
        }
        let bytes = self.streams.content(source, work)?;
        // One without resources of its own is read once more with those of each that draws it.
        work.items(bytes.len() / 4096)?;
        let reader = DrawReader {
            doc: self.streams.doc,
            resources,
            page,
            fonts: &mut self.fonts,
            state: self.first,
            kept: Vec::new(),
            list: DrawList::default(),
        };
        let list = Rc::new(reader.read(&bytes)?);
        if self.read.insert(source) {
            self.written = self.written.saturating_add(list.bytes);
        }
        if matches!(source, ContentSource::Stream(_)) {
            self.lists.insert((source, near, far.filter(|_| list.lent)), Rc::clone(&list));
        }
        Ok(list)
    }

    /// What all that a stream draws takes, and the stream.
    fn sum(
        &mut self,
        list: &DrawList,
        around: Around<'a>,
        work: &mut Work<'_>,
    ) -> Result<Reached, Rejection> {
        let mut sum = Reached::of(DrawCost { bytes: list.bytes, ..DrawCost::default() });
        sum.lent = list.lent;
        for (item, times) in &list.items {
            let one = self.item(*item, around, work)?;
            sum = sum.with(one, sum.cost.plus(one.cost.times(*times)));
            // All that is asked about is drawn at least once.
            if sum.cost.draws > DRAWN {
                return Err(Rejection::OverLimit);
            }
        }
        Ok(sum)
    }

    fn item(
        &mut self,
        item: DrawnItem,
        around: Around<'a>,
        work: &mut Work<'_>,
    ) -> Result<Reached, Rejection> {
        let inside = Around { state: item.state.within(around.state), ..around };
        match item.what {
            DrawnKind::Image => Ok(Reached::of(DrawCost { draws: 1, ..DrawCost::default() })),
            DrawnKind::Form(id) => {
                let form = self.stream(id, inside, work)?;
                Ok(Reached { cost: form.cost.of_form(), ..form })
            }
            DrawnKind::Glyph(code) => self.glyph(code, inside, work),
            DrawnKind::Fill => self.tile(inside.state.fill, inside, work),
            DrawnKind::Stroke => self.tile(inside.state.stroke, inside, work),
        }
    }

    /// The most that a code may draw.
    fn glyph(&mut self, code: u8, around: Around<'a>, work: &mut Work<'_>) -> Result<Reached, Rejection> {
        let mut most = Reached::of(DrawCost::default());
        let Some(font) = around.state.font.and_then(|font| self.fonts.get(font)) else { return Ok(most) };
        let inside = Around { resources: font.resources.or(around.resources), ..around };
        let glyphs = font.glyphs(code);
        if glyphs.is_empty() {
            return Ok(most);
        }
        // Only codes that nothing is known of have several.
        self.turn(glyphs.len().saturating_sub(1))?;
        for glyph in glyphs {
            let one = self.stream(glyph, inside, work)?;
            most = most.with(one, most.cost.max(one.cost));
        }
        Ok(Reached { cost: most.cost.of_part(), ..most })
    }

    /// What a pattern takes each time that something is filled with it. It begins with nothing set.
    fn tile(
        &mut self,
        pattern: Option<ObjectId>,
        around: Around<'a>,
        work: &mut Work<'_>,
    ) -> Result<Reached, Rejection> {
        let Some(pattern) = pattern else { return Ok(Reached::of(DrawCost::default())) };
        let tile = self.stream(pattern, Around { state: OuterState::default(), ..around }, work)?;
        Ok(Reached { cost: tile.cost.of_part(), ..tile })
    }

    /// What a stream takes. What is found of one on whose way nothing was left out holds wherever it is drawn.
    fn stream(
        &mut self,
        id: ObjectId,
        around: Around<'a>,
        work: &mut Work<'_>,
    ) -> Result<Reached, Rejection> {
        // Readers do not draw a stream within itself.
        if let Some(back) = self.open.iter().position(|open| *open == id) {
            self.turn(1)?;
            return Ok(Reached { back, ..Reached::of(DrawCost::default()) });
        }
        let doc = self.streams.doc;
        let Some(Object::Stream(stream)) = doc.objects.get(&id) else {
            return Ok(Reached::of(DrawCost::default()));
        };
        let own = graph::sub(doc, &stream.dict, b"Resources");
        let near = if own.is_some() { None } else { around.resources.map(std::ptr::from_ref) };
        let far = around.page.map(std::ptr::from_ref);
        for (lent, page) in [(false, None), (true, far)] {
            if let Some(cost) = self.costs.get(&(id, near, page, around.state)) {
                return Ok(Reached { lent, ..Reached::of(*cost) });
            }
        }
        if self.open.len() >= DEPTH {
            return Err(Rejection::OverLimit);
        }
        let inside = Around { resources: own.or(around.resources), ..around };
        let list = self.list(ContentSource::Stream(id), inside, work)?;
        self.turn(list.items.len().saturating_add(1))?;
        self.open.push(id);
        let reached = self.sum(&list, inside, work)?;
        self.open.pop();
        if reached.back < self.open.len() {
            return Ok(reached);
        }
        let page = far.filter(|_| reached.lent);
        self.costs.insert((id, near, page, around.state), reached.cost);
        Ok(Reached { back: usize::MAX, ..reached })
    }
}
