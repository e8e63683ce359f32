//! [`XmlPlan`]: what becomes of each part of a document, before anybody is asked.

use std::ops::Range;

use crate::sanitize::format::markup::tag::{self, PlannedTag, WrittenTag};
use crate::sanitize::format::markup::value::{BitValue, MarkupQuestion};
use crate::sanitize::format::markup::{allow, entity};
use crate::sanitize::format::passage::is_worth;
use crate::sanitize::format::patch::{Patches, SpelledText};
use crate::sanitize::format::xml::token::{Family, XmlElement, XmlToken, XmlTokenKind};

/// How a document is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct XmlOptions {
    /// All of it is a drawing; otherwise only what is in SVG's or HTML's namespace is shown by anybody.
    pub(super) drawing: bool,
    /// What acts goes.
    pub(super) strict: bool,
    /// Comments go.
    pub(super) comments: bool,
}

/// What text stands in as it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Literal {
    /// A CDATA section.
    Section,
    /// A processing instruction.
    Instruction,
}

/// What is to become of a document.
#[derive(Debug)]
pub(super) struct XmlPlan<'x> {
    xml: &'x str,
    reading: XmlOptions,
    pub(super) patches: Patches,
    pub(super) blocks: Vec<SpelledText>,
    /// What each block is called: its element, behind the one around it and a dot.
    pub(super) called: Vec<String>,
    pub(super) asking: MarkupQuestion,
    pub(super) tags: Vec<PlannedTag>,
    /// Contents of `style`.
    pub(super) sheets: Vec<(Range<usize>, BitValue)>,
    /// Where text stands as it is, and within what, in order.
    pub(super) literal: Vec<(Range<usize>, Literal)>,
    pub(super) declaration: Option<Range<usize>>,
    /// What was taken out that acts.
    pub(super) removed: u64,
    /// It belongs to a program whose macros are not known here.
    pub(super) foreign: bool,
    open: SpelledText,
    /// Elements that are open within one that goes with its content.
    hollow: u32,
    /// The `style` that is open: where its content began, what it reads, whether it is CSS only.
    style: Option<(usize, String, bool)>,
    /// Names of the elements that are open, and what they say that they hold.
    names: Vec<String>,
    titles: Vec<String>,
    /// What the block that is open is called.
    title: String,
}

impl<'x> XmlPlan<'x> {
    /// Makes it.
    pub(super) fn of(xml: &'x str, tokens: &[XmlToken], reading: XmlOptions) -> Self {
        let mut plan = Self {
            xml,
            reading,
            patches: Patches::default(),
            blocks: Vec::new(),
            called: Vec::new(),
            asking: MarkupQuestion::default(),
            tags: Vec::new(),
            sheets: Vec::new(),
            literal: Vec::new(),
            declaration: None,
            removed: 0,
            foreign: false,
            open: SpelledText::default(),
            hollow: 0,
            style: None,
            names: Vec::new(),
            titles: Vec::new(),
            title: String::new(),
        };
        for token in tokens {
            plan.token(token);
        }
        plan.end_block();
        plan
    }

    fn raw(&self, range: &Range<usize>) -> &'x str {
        self.xml.get(range.clone()).unwrap_or_default()
    }

    fn removed(&mut self, acting: bool) {
        self.removed = self.removed.saturating_add(u64::from(acting));
    }

    fn token(&mut self, token: &XmlToken) {
        let range = token.range.clone();
        if self.hollow > 0 {
            return self.within_hollow(&token.what, range);
        }
        match &token.what {
            XmlTokenKind::Declaration => self.declaration = Some(range),
            XmlTokenKind::Doctype { acts } => {
                if self.reading.strict || *acts {
                    self.removed(*acts);
                    self.patches.cut(range);
                }
            }
            XmlTokenKind::Comment => {
                if self.reading.comments || self.style.is_some() {
                    self.patches.cut(range);
                }
            }
            XmlTokenKind::Instruction(target) => self.instruction(target, range),
            XmlTokenKind::Start { element, empty } => self.start(element, *empty, range),
            XmlTokenKind::End => self.end(&range),
            XmlTokenKind::Text if self.style.is_some() => {
                let raw = self.raw(&range);
                if let Some((_, css, _)) = &mut self.style {
                    css.push_str(&entity::value(raw));
                }
            }
            XmlTokenKind::Text => {
                let raw = self.raw(&range);
                self.name_block();
                let read = if self.reading.drawing { entity::words } else { entity::spelled };
                read(&mut self.open, raw, range.start);
            }
            XmlTokenKind::Cdata => self.cdata(range),
        }
    }

    fn within_hollow(&mut self, what: &XmlTokenKind, range: Range<usize>) {
        match what {
            XmlTokenKind::Start { empty: false, .. } => self.hollow = self.hollow.saturating_add(1),
            XmlTokenKind::End => self.hollow = self.hollow.saturating_sub(1),
            _ => {}
        }
        self.patches.cut(range);
    }

    fn instruction(&mut self, target: &str, range: Range<usize>) {
        self.foreign |= target == "mso-application";
        let sheet = target == "xml-stylesheet";
        if self.reading.strict && (sheet || self.reading.drawing) {
            self.removed(sheet);
            return self.patches.cut(range);
        }
        // Programs read it, and people in the source. It does not part the text around it.
        let inside = range.start.saturating_add("<?".len())..range.end.saturating_sub("?>".len());
        let written = self.raw(&inside);
        if !is_worth(written) {
            return;
        }
        let mut text = SpelledText::default();
        text.plain(inside.start, written);
        self.literal.push((inside, Literal::Instruction));
        self.blocks.push(text);
        self.called.push(String::new());
    }

    fn start(&mut self, element: &XmlElement, empty: bool, range: Range<usize>) {
        let XmlOptions { drawing, strict, .. } = self.reading;
        self.foreign |= element.family == Family::Program;
        let shown = element.family == Family::Shown || drawing && element.family == Family::Nobody;
        if let Some((_, _, bad)) = &mut self.style {
            // It is written as a whole.
            *bad = true;
            if !empty {
                self.names.push(String::new());
                self.titles.push(String::new());
            }
            return;
        }
        let gone =
            if shown { !allow::element(&element.name) } else { drawing || element.family == Family::Acting };
        if strict && gone {
            let acting =
                if shown { allow::is_acting(&element.name) } else { element.family == Family::Acting };
            self.removed(acting);
            self.hollow = u32::from(!empty);
            return self.patches.cut(range);
        }
        self.part(&element.name, shown, range.start);
        let raw = self.raw(&range);
        let (planned, removed) = if shown {
            tag::plan(
                WrittenTag { tag: &element.tag, element: &element.name, range: range.clone(), raw },
                strict,
                &mut self.asking,
            )
        } else {
            tag::plan_data(&element.tag, range.clone(), strict, &mut self.asking)
        };
        self.removed = self.removed.saturating_add(removed);
        self.tags.push(planned);
        if !empty {
            if shown && strict && element.name == "style" {
                self.style = Some((range.end, String::new(), false));
            }
            self.names.push(element.name.clone());
            self.titles.push(element.tag.title());
        }
    }

    fn end(&mut self, range: &Range<usize>) {
        let name = self.names.pop().unwrap_or_default();
        self.titles.pop();
        if self.style.is_some() {
            if name != "style" {
                return;
            }
            let Some((from, css, bad)) = self.style.take() else { return };
            let content = from..range.start;
            if bad {
                self.removed(true);
                return self.patches.cut(content);
            }
            let (value, removed) = BitValue::css(&css, &mut self.asking);
            self.removed = self.removed.saturating_add(removed);
            self.sheets.push((content, value));
        } else {
            self.part(&name, self.reading.drawing, range.start);
        }
    }

    fn cdata(&mut self, range: Range<usize>) {
        let inside = range.start.saturating_add("<![CDATA[".len())..range.end.saturating_sub("]]>".len());
        let raw = self.raw(&inside);
        if let Some((_, css, _)) = &mut self.style {
            return css.push_str(raw);
        }
        self.name_block();
        self.open.plain(inside.start, raw);
        self.literal.push((inside, Literal::Section));
    }

    /// A block is called after the element that it begins in.
    fn name_block(&mut self) {
        if self.open.text().is_empty() {
            let from = self.titles.len().saturating_sub(2);
            self.title = self.titles.get(from..).unwrap_or_default().join(".");
        }
    }

    /// What a tag does to the text around it: only in what is shown does it run on, and go on in another line.
    fn part(&mut self, name: &str, shown: bool, at: usize) {
        if shown && allow::is_inline(name) {
            return;
        }
        if shown && self.reading.drawing && !allow::is_apart(name) && !self.open.is_full() {
            self.open.end_line(at);
        } else {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.open);
        if !block.text().trim().is_empty() {
            self.blocks.push(block);
            self.called.push(std::mem::take(&mut self.title));
        }
    }
}
