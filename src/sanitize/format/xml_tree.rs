//! [`Tree`]: the elements and texts of an XML document, by where they stand in it.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::attributes::Attributes;
use quick_xml::events::{BytesStart, Event};

use crate::sanitize::{Rejection, Work};

/// Elements within elements.
const MAX_DEPTH: usize = 512;

/// Attributes of one element, equals signs in their values counted as well.
const MAX_ATTRIBUTES: usize = 4096;

/// Elements that weigh as one item in the budget: a sheet's cells are elements.
const PER_ITEM: usize = 8;

/// A range of bytes of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ByteSpan {
    /// Its first byte.
    pub(super) start: u32,
    /// The byte behind its last.
    pub(super) end: u32,
}

impl ByteSpan {
    /// The same for whoever slices bytes.
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

struct TreeElement {
    tag: ByteSpan,
    // Of the qualified name, which begins one byte behind the tag.
    name: u32,
    // Empty for an element without an end tag.
    close: ByteSpan,
    parent: u32,
    // The first element behind all that are within this one.
    next: u32,
}

/// What an attribute says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeAttribute<'t> {
    /// Before the colon of its name; empty without one.
    pub(super) prefix: &'t str,
    /// Behind it.
    pub(super) name: &'t str,
    /// As it is written, with references.
    pub(super) raw: &'t str,
    /// Where that stands.
    pub(super) span: ByteSpan,
}

impl TreeAttribute<'_> {
    /// What it says, without references.
    pub(super) fn value(&self) -> String {
        unescape(self.raw).unwrap_or_default().into_owned()
    }
}

/// Characters between two tags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chars {
    /// Where they stand, with references, CDATA sections, comments and instructions among them.
    pub(super) span: ByteSpan,
    /// The element they stand in.
    pub(super) parent: usize,
}

/// A document.
pub(super) struct Tree {
    source: String,
    elements: Vec<TreeElement>,
    chars: Vec<Chars>,
    remarks: Vec<ByteSpan>,
    // Whether `source` is not what was read: another encoding, or a document type that went.
    rewritten: bool,
}

/// What becomes of a document type declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doctype {
    /// The document is refused.
    Refused,
    /// It is taken out if it declares nothing itself.
    Dropped,
}

impl Tree {
    /// Reads a document.
    ///
    /// # Errors
    /// [`Rejection::Malformed`] for what is no well-formed document, or has references that only a document type could
    /// explain; [`Rejection::Doctype`], [`Rejection::OverLimit`].
    pub(super) fn read(bytes: &[u8], doctype: Doctype, work: &mut Work<'_>) -> Result<Self, Rejection> {
        let (source, rewritten) = decoded(bytes)?;
        u32::try_from(source.len()).map_err(|_| Rejection::OverLimit)?;
        let mut tree =
            Self { source: String::new(), elements: vec![], chars: vec![], remarks: vec![], rewritten };
        let dropped = tree.parse(&source, doctype)?;
        work.items(tree.elements.len() / PER_ITEM)?;
        tree.source = source;
        let Some(span) = dropped else { return Ok(tree) };
        let text = without(&tree.source, span);
        let mut tree = Self::read(text.as_bytes(), Doctype::Refused, work)?;
        tree.rewritten = true;
        Ok(tree)
    }

    fn parse(&mut self, source: &str, doctype: Doctype) -> Result<Option<ByteSpan>, Rejection> {
        let mut reader = Reader::from_str(source);
        let mut open: Vec<u32> = Vec::new();
        let (mut dropped, mut roots, mut from) = (None, 0_u32, 0_u32);
        loop {
            let start = at(reader.buffer_position())?;
            let event = reader.read_event().map_err(|_| Rejection::Malformed)?;
            let span = ByteSpan { start, end: at(reader.buffer_position())? };
            let closed = matches!(event, Event::Empty(_));
            match event {
                Event::Start(tag) | Event::Empty(tag) => {
                    self.between(ByteSpan { start: from, end: start }, &open);
                    from = span.end;
                    roots = roots.saturating_add(u32::from(open.is_empty()));
                    let here = u32::try_from(self.elements.len()).map_err(|_| Rejection::OverLimit)?;
                    self.elements.push(element(&tag, span, open.last().copied().unwrap_or(here))?);
                    if !closed {
                        open.push(here);
                    }
                    if open.len() > MAX_DEPTH {
                        return Err(Rejection::OverLimit);
                    }
                }
                Event::End(_) => {
                    self.between(ByteSpan { start: from, end: start }, &open);
                    from = span.end;
                    let next = u32::try_from(self.elements.len()).map_err(|_| Rejection::OverLimit)?;
                    let element = open.pop().and_then(|at| self.elements.get_mut(at as usize));
                    let element = element.ok_or(Rejection::Malformed)?;
                    (element.close, element.next) = (span, next);
                }
                Event::Comment(_) | Event::PI(_) => self.remarks.push(span),
                Event::GeneralRef(name) => {
                    let known = matches!(&*name, "amp" | "lt" | "gt" | "quot" | "apos");
                    if !known && !matches!(name.resolve_char_ref(), Ok(Some(_))) {
                        return Err(Rejection::Malformed);
                    }
                }
                Event::DocType(text) => {
                    if doctype == Doctype::Refused || text.contains('[') || dropped.is_some() {
                        return Err(Rejection::Doctype);
                    }
                    dropped = Some(span);
                }
                Event::Text(text) if open.is_empty() && !text.trim().is_empty() => {
                    return Err(Rejection::Malformed);
                }
                Event::Text(_) | Event::CData(_) | Event::Decl(_) => {}
                Event::Eof => break,
            }
        }
        if open.is_empty() && roots == 1 { Ok(dropped) } else { Err(Rejection::Malformed) }
    }

    fn between(&mut self, span: ByteSpan, open: &[u32]) {
        if let Some(parent) = open.last().filter(|_| span.end > span.start) {
            self.chars.push(Chars { span, parent: *parent as usize });
        }
    }

    /// How many elements there are; they are named by their place in the order of the document.
    pub(super) fn len(&self) -> usize {
        self.elements.len()
    }

    /// The document as it is read: what spans refer to.
    pub(super) fn slice(&self, span: ByteSpan) -> &str {
        self.source.get(span.range()).unwrap_or_default()
    }

    /// All of it.
    pub(super) fn all(&self) -> ByteSpan {
        ByteSpan { start: 0, end: u32::try_from(self.source.len()).unwrap_or(u32::MAX) }
    }

    /// Whether the document differs from the bytes that were read, before any edit.
    pub(super) fn rewritten(&self) -> bool {
        self.rewritten
    }

    /// The name of an element as it is written.
    pub(super) fn qualified(&self, at: usize) -> &str {
        let Some(element) = self.elements.get(at) else { return "" };
        let start = element.tag.start.saturating_add(1);
        self.slice(ByteSpan { start, end: start.saturating_add(element.name) })
    }

    /// The name of an element without its prefix. Prefixes are the writer's to choose; what a name means in another
    /// namespace is nothing that readers of these formats know.
    pub(super) fn name(&self, at: usize) -> &str {
        let name = self.qualified(at);
        name.rsplit_once(':').map_or(name, |(_, local)| local)
    }

    /// The element around this one.
    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        self.elements.get(at).map(|element| element.parent as usize).filter(|parent| *parent != at)
    }

    /// The elements around this one, innermost first.
    pub(super) fn ancestors(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.parent(at), |at| self.parent(*at))
    }

    /// The elements within this one, however deep.
    pub(super) fn within(&self, at: usize) -> Range<usize> {
        let next = self.elements.get(at).map_or(0, |element| element.next as usize);
        at.saturating_add(1)..next.max(at.saturating_add(1))
    }

    /// The elements directly within this one.
    pub(super) fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let within = self.within(at);
        let first = (!within.is_empty()).then_some(within.start);
        std::iter::successors(first, move |at| Some(self.within(*at).end).filter(|next| *next < within.end))
    }

    /// The attributes of an element, declarations of namespaces among them.
    pub(super) fn attributes(&self, at: usize) -> impl Iterator<Item = TreeAttribute<'_>> + '_ {
        let (tag, name) =
            self.elements.get(at).map_or((ByteSpan { start: 0, end: 0 }, 0), |e| (e.tag, e.name));
        let text =
            self.slice(ByteSpan { start: tag.start.saturating_add(1), end: tag.end.saturating_sub(1) });
        let text = text.strip_suffix('/').unwrap_or(text);
        let mut attributes = Attributes::new(text, name as usize);
        attributes.with_checks(false);
        attributes.flatten().filter_map(|attribute| {
            let std::borrow::Cow::Borrowed(raw) = attribute.value else { return None };
            // Both lie in the document's one allocation.
            let start = (raw.as_ptr() as usize).checked_sub(self.source.as_ptr() as usize)?;
            let end = start.checked_add(raw.len())?;
            let span = ByteSpan { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? };
            let key = attribute.key.into_inner();
            let (prefix, name) = key.split_once(':').unwrap_or(("", key));
            Some(TreeAttribute { prefix, name, raw, span })
        })
    }

    /// What an attribute of this name says, whatever its prefix.
    pub(super) fn attribute(&self, at: usize, name: &str) -> Option<String> {
        self.attributes(at).find(|attribute| attribute.name == name).map(|attribute| attribute.value())
    }

    /// From an element's first byte to its last.
    pub(super) fn whole(&self, at: usize) -> ByteSpan {
        self.elements.get(at).map_or(ByteSpan { start: 0, end: 0 }, |element| ByteSpan {
            start: element.tag.start,
            end: element.close.end.max(element.tag.end),
        })
    }

    /// What lies between an element's tags; `None` where there is one tag only.
    pub(super) fn inner(&self, at: usize) -> Option<ByteSpan> {
        let element = self.elements.get(at)?;
        (element.close.end > 0).then_some(ByteSpan { start: element.tag.end, end: element.close.start })
    }

    /// All that is written within an element, without tags and references.
    pub(super) fn text(&self, at: usize) -> String {
        self.inner(at).map(|span| plain(self.slice(span))).unwrap_or_default()
    }

    /// The characters between tags, in the order of the document.
    pub(super) fn chars(&self) -> &[Chars] {
        &self.chars
    }

    /// Comments and processing instructions.
    pub(super) fn remarks(&self) -> &[ByteSpan] {
        &self.remarks
    }
}

fn at(position: u64) -> Result<u32, Rejection> {
    u32::try_from(position).map_err(|_| Rejection::OverLimit)
}

fn element(tag: &BytesStart<'_>, span: ByteSpan, parent: u32) -> Result<TreeElement, Rejection> {
    // That no two have the same name is found by comparing all with all.
    if tag.len() > MAX_ATTRIBUTES && tag.matches('=').take(MAX_ATTRIBUTES).count() == MAX_ATTRIBUTES {
        return Err(Rejection::OverLimit);
    }
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|_| Rejection::Malformed)?;
        if attribute.value.contains('<') || unescape(&attribute.value).is_err() {
            return Err(Rejection::Malformed);
        }
    }
    let name = u32::try_from(tag.name().into_inner().len()).map_err(|_| Rejection::OverLimit)?;
    Ok(TreeElement { tag: span, name, close: ByteSpan { start: 0, end: 0 }, parent, next: 0 })
}

fn without(text: &str, span: ByteSpan) -> String {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let behind = text.get(span.end as usize..).unwrap_or_default();
    format!("{before}{behind}")
}

/// The text of a document, and whether it was in another encoding than UTF-8. What it says of its encoding is
/// corrected then.
fn decoded(bytes: &[u8]) -> Result<(String, bool), Rejection> {
    let marked = encoding_rs::Encoding::for_bom(bytes);
    let encoding = match (marked, bytes) {
        (Some((encoding, _)), _) => encoding,
        (None, [b'<', 0, ..]) => encoding_rs::UTF_16LE,
        (None, [0, b'<', ..]) => encoding_rs::UTF_16BE,
        _ => declared(bytes)?,
    };
    let bytes = bytes.get(marked.map_or(0, |(_, length)| length)..).unwrap_or_default();
    if encoding == encoding_rs::UTF_8 {
        let text = std::str::from_utf8(bytes).map_err(|_| Rejection::Malformed)?;
        return Ok((text.to_owned(), false));
    }
    let text =
        encoding.decode_without_bom_handling_and_without_replacement(bytes).ok_or(Rejection::Malformed)?;
    let end = text.starts_with("<?xml").then(|| text.find("?>")).flatten();
    let body = end.and_then(|end| text.get(end..)).and_then(|rest| rest.strip_prefix("?>")).unwrap_or(&text);
    Ok((format!(r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>{body}"#), true))
}

/// The encoding that a declaration names.
fn declared(bytes: &[u8]) -> Result<&'static encoding_rs::Encoding, Rejection> {
    let head = bytes.get(..200).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head);
    let head = head.strip_prefix("<?xml").and_then(|head| head.split("?>").next()).unwrap_or_default();
    let Some((_, label)) = head.split_once("encoding") else { return Ok(encoding_rs::UTF_8) };
    let label = label.trim_start_matches([' ', '\t', '\r', '\n', '=']);
    let label = label.trim_start_matches(['"', '\'']).split(['"', '\'']).next().unwrap_or_default();
    let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).ok_or(Rejection::Malformed)?;
    // Its own first bytes say otherwise.
    let wide = [encoding_rs::UTF_16LE, encoding_rs::UTF_16BE];
    if wide.contains(&encoding) { Err(Rejection::Malformed) } else { Ok(encoding) }
}

/// What is written in a piece of a document: without tags, comments and instructions, references and CDATA sections
/// resolved.
pub(super) fn plain(raw: &str) -> String {
    if !raw.contains(['<', '&']) {
        return raw.to_owned();
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('<') {
        let (text, markup) = rest.split_at(at);
        out.push_str(&unescape(text).unwrap_or_default());
        let section =
            |open: &str, close: &str| markup.strip_prefix(open).and_then(|rest| rest.split_once(close));
        rest = if let Some((text, rest)) = section("<![CDATA[", "]]>") {
            out.push_str(text);
            rest
        } else if let Some((_, rest)) = section("<!--", "-->").or_else(|| section("<?", "?>")) {
            rest
        } else {
            markup.split_once('>').map_or("", |(_, rest)| rest)
        };
    }
    out.push_str(&unescape(rest).unwrap_or_default());
    out
}
