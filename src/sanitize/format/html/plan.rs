//! [`HtmlPlan`]: what becomes of each part of a document, before anybody is asked.

use std::ops::Range;

use crate::sanitize::format::html::token::{HtmlSpelling, HtmlToken, HtmlTokenKind};
use crate::sanitize::format::markup::tag::{self, PlannedTag, Tag, WrittenTag};
use crate::sanitize::format::markup::value::{BitValue, MarkupQuestion};
use crate::sanitize::format::markup::{allow, entity};
use crate::sanitize::format::patch::{Patches, SpelledText};

/// Text that is read in one go: paragraphs and lines, up to the end of a cell or an item.
#[derive(Debug, Default)]
pub(super) struct TextBlock {
    pub(super) text: SpelledText,
    /// Spelled without references.
    pub(super) raw: bool,
}

/// What is to become of a document.
#[derive(Debug)]
pub(super) struct HtmlPlan<'h> {
    html: &'h str,
    /// Whether what acts goes.
    strict: bool,
    /// Whether comments go: they hold text that nobody sees, and what other programs run.
    comments: bool,
    pub(super) patches: Patches,
    pub(super) blocks: Vec<TextBlock>,
    pub(super) asking: MarkupQuestion,
    pub(super) tags: Vec<PlannedTag>,
    /// Contents of `style`.
    pub(super) sheets: Vec<(Range<usize>, BitValue)>,
    /// Declarations of a character encoding, and whether it is UTF-8.
    pub(super) charsets: Vec<(Range<usize>, bool)>,
    /// What was taken out that acts.
    pub(super) removed: u64,
    open: TextBlock,
    /// The element that goes with its content, and how many of it are open.
    hollow: Option<(String, u32)>,
    /// The `style` that is open: where its content began, what it reads, whether it is CSS only.
    style: Option<(usize, String, bool)>,
}

impl<'h> HtmlPlan<'h> {
    /// Makes it.
    pub(super) fn of(html: &'h str, tokens: &[HtmlToken], strict: bool, comments: bool) -> Self {
        let mut plan = Self {
            html,
            strict,
            comments,
            patches: Patches::default(),
            blocks: Vec::new(),
            asking: MarkupQuestion::default(),
            tags: Vec::new(),
            sheets: Vec::new(),
            charsets: Vec::new(),
            removed: 0,
            open: TextBlock::default(),
            hollow: None,
            style: None,
        };
        for token in tokens {
            plan.token(token);
        }
        plan.end_style(html.len());
        if plan.style.take().is_some() {
            plan.patches.put(html.len()..html.len(), "</style>");
        }
        plan.end_block();
        plan
    }

    fn raw(&self, range: &Range<usize>) -> &'h str {
        self.html.get(range.clone()).unwrap_or_default()
    }

    fn removed(&mut self, acting: bool) {
        self.removed = self.removed.saturating_add(u64::from(acting));
    }

    fn token(&mut self, token: &HtmlToken) {
        let range = token.range.clone();
        match &token.what {
            HtmlTokenKind::Gap => self.gap(range),
            HtmlTokenKind::Start(tag)
                if self.hollow.as_ref().is_some_and(|(name, _)| *name == tag.name) && !tag.closed =>
            {
                if let Some((_, depth)) = &mut self.hollow {
                    *depth = depth.saturating_add(1);
                }
                self.patches.cut(range);
            }
            _ if self.hollow.is_some() => self.patches.cut(range),
            HtmlTokenKind::Text(sort) if self.style.is_some() => self.css(&range, *sort),
            HtmlTokenKind::Start(_) if self.style.is_some() => {
                // Only in SVG: there, `style` is an element like any other.
                if let Some((_, _, bad)) = &mut self.style {
                    *bad = true;
                }
            }
            HtmlTokenKind::Start(tag) => self.start(tag, range),
            HtmlTokenKind::Text(sort) => self.text(range, *sort),
            HtmlTokenKind::Comment if self.style.is_none() => {
                if self.comments {
                    self.removed(self.strict && self.raw(&range).contains("[if"));
                    self.patches.cut(range);
                }
            }
            HtmlTokenKind::Comment => {}
            HtmlTokenKind::Doctype => {
                let raw = self.raw(&range);
                if self.strict
                    && raw.contains(['[', '&', '`']) | raw.get(1..).is_some_and(|raw| raw.contains('<'))
                {
                    self.patches.put(range, "<!DOCTYPE html>");
                }
            }
        }
    }

    fn start(&mut self, tag: &Tag, range: Range<usize>) {
        // `math` itself goes: there, `title` and `style` are elements like any other, and would be so no more.
        let in_math = tag.math && ["title", "style"].contains(&&*tag.name);
        if self.strict && (in_math || !allow::element(&tag.name)) {
            self.removed(allow::is_acting(&tag.name));
            if (in_math || allow::is_hollow(&tag.name)) && !tag.closed {
                self.hollow = Some((tag.name.clone(), 1));
            }
            return self.patches.cut(range);
        }
        if tag.name == "meta" && self.meta(tag, &range) {
            return;
        }
        self.part(&tag.name, range.start);
        let raw = self.raw(&range);
        let (planned, removed) = tag::plan(
            WrittenTag { tag, element: &tag.name, range: range.clone(), raw },
            self.strict,
            &mut self.asking,
        );
        self.removed = self.removed.saturating_add(removed);
        self.tags.push(planned);
        if tag.name == "style" && !tag.closed {
            self.style = Some((range.end, String::new(), false));
        }
    }

    /// Whether no more is to be done about a `meta`.
    fn meta(&mut self, tag: &Tag, range: &Range<usize>) -> bool {
        let value = |name: &str| {
            let found = tag.attributes.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, value)| entity::value(value).trim().to_lowercase())
        };
        if let Some(charset) = value("charset") {
            return self.charset(tag, range, charset == "utf-8", 1);
        }
        let Some(header) = value("http-equiv") else { return false };
        if header == "content-type" {
            let utf8 =
                value("content").is_some_and(|content| content.replace(' ', "").ends_with(";charset=utf-8"));
            return self.charset(tag, range, utf8, 2);
        }
        if self.strict {
            self.removed(matches!(header.as_str(), "refresh" | "set-cookie"));
            self.patches.cut(range.clone());
        }
        self.strict
    }

    /// A declaration that says more than the encoding, or says it oddly, goes.
    fn charset(&mut self, tag: &Tag, range: &Range<usize>, utf8: bool, attributes: usize) -> bool {
        if self.strict && !(tag.attributes.len() == attributes && tag::is_tidy(self.raw(range), tag)) {
            self.patches.cut(range.clone());
        } else {
            self.charsets.push((range.clone(), utf8));
        }
        true
    }

    fn css(&mut self, range: &Range<usize>, sort: HtmlSpelling) {
        let raw = self.raw(range);
        if let Some((_, css, _)) = &mut self.style {
            match sort {
                HtmlSpelling::Read => css.push_str(&entity::value(raw)),
                HtmlSpelling::Raw | HtmlSpelling::Literal => css.push_str(raw),
            }
        }
    }

    /// The content of a `style` ends here.
    fn end_style(&mut self, at: usize) {
        let Some((from, css, bad)) = &self.style else { return };
        let content = *from..at;
        if !self.strict {
            let mut text = SpelledText::default();
            text.plain(content.start, self.raw(&content));
            return self.blocks.push(TextBlock { text, raw: true });
        }
        if *bad || holds_markup(css) {
            self.patches.cut(content);
            return self.removed(true);
        }
        let (value, removed) = BitValue::css(css, &mut self.asking);
        self.removed = self.removed.saturating_add(removed);
        // In SVG there is more in it than what was read: comments, references.
        let anew = *css != self.raw(&content);
        self.sheets.push((content, value.anew(anew)));
    }

    fn text(&mut self, range: Range<usize>, sort: HtmlSpelling) {
        let raw = self.raw(&range);
        if sort == HtmlSpelling::Raw {
            if !self.strict {
                let mut text = SpelledText::default();
                text.plain(range.start, raw);
                return self.blocks.push(TextBlock { text, raw: true });
            }
            // No element that may stay holds such.
            return self.patches.cut(range);
        }
        let mut done = 0;
        for (at, c) in raw.char_indices() {
            let here = range.start.saturating_add(at);
            let end = here.saturating_add(c.len_utf8());
            if c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}') {
                self.piece(raw, done..at, range.start, sort);
                done = at.saturating_add(c.len_utf8());
                if self.strict {
                    self.patches.cut(here..end);
                }
            } else if self.strict
                && (c == '<' && begins_markup(raw, at)
                    || c == '&' && (sort == HtmlSpelling::Literal || is_cut(raw, at)))
            {
                self.patches.put(here..end, entity::escaped(c.encode_utf8(&mut [0; 4])));
            }
        }
        self.piece(raw, done..raw.len(), range.start, sort);
    }

    fn piece(&mut self, raw: &str, range: Range<usize>, at: usize, sort: HtmlSpelling) {
        let at = at.saturating_add(range.start);
        let piece = raw.get(range).unwrap_or_default();
        match sort {
            HtmlSpelling::Read => entity::words(&mut self.open.text, piece, at),
            HtmlSpelling::Literal | HtmlSpelling::Raw => self.open.text.plain(at, piece),
        }
    }

    /// What a tag does to the text around it: it runs on through elements within lines, goes on in another line behind a
    /// paragraph, and ends with a cell or an item.
    fn part(&mut self, name: &str, at: usize) {
        if allow::is_inline(name) {
            return;
        }
        if allow::is_apart(name) || self.open.text.is_full() {
            self.end_block();
        } else {
            self.open.text.end_line(at);
        }
    }

    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.open);
        if !block.text.text().trim().is_empty() {
            self.blocks.push(block);
        }
    }

    /// Of what no tag covers, end tags stay whose element does.
    fn gap(&mut self, range: Range<usize>) {
        let raw = self.raw(&range);
        let mut done = 0;
        for (at, _) in raw.match_indices("</") {
            if at < done {
                continue;
            }
            let name = raw.get(at.saturating_add(2)..).unwrap_or_default();
            let end = name.find('>').map_or(raw.len(), |end| at.saturating_add(end).saturating_add(3));
            let length =
                name.find(|c: char| !(c.is_ascii_alphanumeric() || "-:".contains(c))).unwrap_or(name.len());
            let name = name.get(..length).unwrap_or_default().to_ascii_lowercase();
            self.cut_if_strict(range.start.saturating_add(done)..range.start.saturating_add(at));
            done = end;
            self.end(&name, range.start.saturating_add(at)..range.start.saturating_add(end));
        }
        self.cut_if_strict(range.start.saturating_add(done)..range.end);
    }

    fn cut_if_strict(&mut self, range: Range<usize>) {
        if self.strict && !range.is_empty() {
            self.patches.cut(range);
        }
    }

    fn end(&mut self, name: &str, range: Range<usize>) {
        if let Some((hollow, depth)) = &mut self.hollow {
            if hollow == name {
                *depth = depth.saturating_sub(1);
                if *depth == 0 {
                    self.hollow = None;
                }
            }
            return self.patches.cut(range);
        }
        if self.style.is_some() {
            if name != "style" {
                // Within the content, which is written as a whole.
                return;
            }
            self.end_style(range.start);
            self.style = None;
        }
        self.part(name, range.start);
        if !self.strict {
            return;
        }
        let raw = self.raw(&range);
        if !allow::element(name) || allow::is_void(name) {
            self.patches.cut(range);
        } else if raw.len() != name.len().saturating_add(3) || !raw.ends_with('>') {
            self.patches.put(range, format!("</{name}>"));
        }
    }
}

/// Whether a style sheet is something else to some reader. `<!--` around it is an old custom.
fn holds_markup(css: &str) -> bool {
    css.match_indices('<').any(|(at, _)| {
        let rest = css.get(at.saturating_add(1)..).unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/?!".contains(c)) && !rest.starts_with("!--")
    })
}

/// Whether a `<` in text could begin markup for some reader, or once what follows it is gone.
fn begins_markup(raw: &str, at: usize) -> bool {
    let next = raw.get(at.saturating_add(1)..).and_then(|rest| rest.chars().next());
    !next.is_some_and(|c| c.is_ascii_whitespace() || c.is_ascii_digit() || c == '=')
}

/// Whether a reference could come about here once what follows the text is gone.
fn is_cut(raw: &str, at: usize) -> bool {
    let rest = raw.get(at..).unwrap_or_default();
    let tail = rest.get(1..).unwrap_or_default();
    tail.len() < 32
        && tail.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'#')
        && entity::reference(rest, entity::Context::Text).is_none()
}
