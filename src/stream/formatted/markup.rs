//! Markup: XML, and HTML as browsers take it. A unit is a tag that parts texts, or all between two of them: text, with
//! tags within it that do not part it, and remarks.

use crate::stream::formatted::lexer::{MarkupLexer, Token, TokenKind};
use crate::stream::formatted::place::DocumentPlace;
use crate::stream::formatted::reader::{FormatReader, SeeText};
use crate::stream::formatted::tag::MarkupTag;
use crate::stream::formatted::text::{FormattedText, TextSpelling};
use crate::stream::path::PathTracker;

/// Elements within a line of text.
const INLINE: &[&str] = &[
    "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt",
    "u", "var", "wbr",
];

/// Elements of HTML that hold no markup.
const RAW: &[&str] = &["script", "style"];

/// The most tokens of one unit: each takes more memory than its bytes do.
const MANY: usize = 4096;

const OPEN_CDATA: usize = "<![CDATA[".len();
const CLOSE_CDATA: usize = "]]>".len();

/// Reads markup.
pub(super) struct Markup {
    html: bool,
    lexer: MarkupLexer,
    place: DocumentPlace,
    /// Those of the unit so far.
    tokens: Vec<Token>,
    /// How many elements within the text are open.
    inline: usize,
    /// Whether there is text but blanks in it.
    has_text: bool,
    /// The element whose content is no markup, if that comes next.
    raw: Option<String>,
    /// Whether the unit is such content.
    is_raw: bool,
}

impl Markup {
    pub(super) fn new(html: bool) -> Self {
        Self {
            html,
            lexer: MarkupLexer::new(html),
            place: DocumentPlace::new(html),
            tokens: Vec::new(),
            inline: 0,
            has_text: false,
            raw: None,
            is_raw: false,
        }
    }

    /// Adds a token to the unit; text that follows text is one.
    fn push(&mut self, held: &[u8], token: Token) {
        let is_text = token.kind == TokenKind::Text;
        self.has_text |=
            is_text && held.get(token.range.clone()).is_some_and(|text| !text.trim_ascii().is_empty());
        match self.tokens.last_mut() {
            Some(last) if is_text && last.kind == TokenKind::Text => last.range.end = token.range.end,
            _ => self.tokens.push(token),
        }
    }

    fn end(&self) -> usize {
        self.tokens.last().map_or(0, |last| last.range.end)
    }

    /// Whether a token is within the text of its unit.
    fn joins(&mut self, held: &[u8], token: &Token) -> bool {
        match token.kind {
            TokenKind::Text | TokenKind::Comment => true,
            TokenKind::Cdata | TokenKind::Declaration => false,
            TokenKind::Tag => {
                let bytes = held.get(token.range.clone()).unwrap_or_default();
                let tag = MarkupTag::parse(bytes, token.range.start, self.html);
                if !INLINE.contains(&tag.name.as_str()) {
                    return false;
                }
                // In XML such names may be anything's, unless they stand within text.
                let joins = if tag.closes { self.inline > 0 } else { self.has_text };
                match (tag.closes, tag.is_empty) {
                    (true, _) => self.inline = self.inline.saturating_sub(1),
                    (false, false) => self.inline += usize::from(joins),
                    (false, true) => {}
                }
                self.html || joins
            }
        }
    }

    /// A tag that parts texts.
    fn tag(&mut self, unit: &[u8], see: SeeText<'_>) {
        let tag = MarkupTag::parse(unit, 0, self.html);
        self.attributes(&tag, see);
        self.place.tag(&tag);
        self.raw = None;
        if self.html && !tag.closes && RAW.contains(&tag.name.as_str()) {
            self.raw = Some(tag.name);
        }
    }

    fn attributes(&self, tag: &MarkupTag, see: SeeText<'_>) {
        for name in &tag.odd {
            see(&PathTracker::default().path(), name);
        }
        for attribute in &tag.attributes {
            see(&self.place.attribute(tag, attribute).path(), &attribute.text);
        }
    }

    /// Text between tags.
    fn run(&mut self, unit: &[u8], tokens: &[Token], see: SeeText<'_>) {
        let mut text = FormattedText::at(0, TextSpelling::Text);
        for token in tokens {
            let bytes = unit.get(token.range.clone()).unwrap_or_default();
            match token.kind {
                TokenKind::Text => text.push(bytes),
                TokenKind::Tag => {
                    let tag = MarkupTag::parse(bytes, token.range.start, self.html);
                    text.mark(if tag.name == "br" { "\n" } else { "" }, bytes.len());
                    self.attributes(&tag, see);
                }
                TokenKind::Comment | TokenKind::Cdata | TokenKind::Declaration => {
                    text.mark("", bytes.len());
                    remark(bytes, token.range.start, see);
                }
            }
        }
        see(&self.place.text().path(), &text);
        self.place.seen(text.text());
    }

    fn content(
        &mut self,
        unit: &[u8],
        range: std::ops::Range<usize>,
        spelling: TextSpelling,
        see: SeeText<'_>,
    ) {
        let text = FormattedText::of(unit.get(range.clone()).unwrap_or_default(), range.start, spelling);
        see(&self.place.text().path(), &text);
        self.place.seen(text.text());
    }
}

/// What stands in a comment, a declaration or an instruction.
fn remark(bytes: &[u8], at: usize, see: SeeText<'_>) {
    let begin = if bytes.starts_with(b"<!--") { 4 } else { 2 };
    let end = bytes.len().saturating_sub(if bytes.ends_with(b"-->") { 3 } else { 1 }).max(begin);
    let inner = bytes.get(begin..end).unwrap_or_default();
    see(&PathTracker::default().path(), &FormattedText::of(inner, at + begin, TextSpelling::Remark));
}

impl FormatReader for Markup {
    fn unit(&mut self, held: &[u8], ended: bool) -> Option<usize> {
        loop {
            let at = self.end();
            if let Some(name) = &self.raw {
                let content = self.lexer.raw(held, at, name, ended)?;
                self.raw = None;
                if !content.range.is_empty() {
                    self.is_raw = true;
                    let end = content.range.end;
                    self.tokens.push(content);
                    return Some(end);
                }
            }
            let Some(token) = self.lexer.token(held, at, ended) else {
                return (ended && at > 0 && at == held.len()).then_some(at);
            };
            let alone = self.tokens.is_empty();
            if self.tokens.len() < MANY && self.joins(held, &token) {
                self.push(held, token);
            } else if alone {
                let end = token.range.end;
                self.tokens.push(token);
                return Some(end);
            } else {
                return Some(at);
            }
        }
    }

    fn texts(&mut self, unit: &[u8], see: SeeText<'_>) {
        let tokens = std::mem::take(&mut self.tokens);
        (self.inline, self.has_text) = (0, false);
        let is_raw = std::mem::take(&mut self.is_raw);
        match tokens.first().map(|first| first.kind) {
            _ if is_raw => self.content(unit, 0..unit.len(), TextSpelling::Raw, see),
            Some(TokenKind::Tag) if tokens.len() == 1 && !self.is_inline(unit) => self.tag(unit, see),
            Some(TokenKind::Cdata) => {
                let end = unit.len().saturating_sub(CLOSE_CDATA).max(OPEN_CDATA);
                self.content(unit, OPEN_CDATA..end, TextSpelling::Cdata, see);
            }
            Some(TokenKind::Declaration) => remark(unit, 0, see),
            _ => self.run(unit, &tokens, see),
        }
    }
}

impl Markup {
    /// Whether a unit is nothing but a tag that parts no text.
    fn is_inline(&self, unit: &[u8]) -> bool {
        self.html && INLINE.contains(&MarkupTag::parse(unit, 0, true).name.as_str())
    }
}
