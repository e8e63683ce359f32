//! [`HtmlToken`]: what stands where in an HTML document, as browsers split it up.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;

use lol_html::html_content::{Comment, Doctype, Element, StartTag, TextChunk, TextType};
use lol_html::{DocumentContentHandlers, ElementContentHandlers, HtmlRewriter, Selector, Settings};

use crate::sanitize::format::markup::tag::Tag;
use crate::sanitize::{Rejection, Work};

/// A part of a document, and the bytes where it stands.
#[derive(Debug)]
pub(super) struct HtmlToken {
    pub(super) range: Range<usize>,
    pub(super) what: HtmlTokenKind,
}

#[derive(Debug)]
pub(super) enum HtmlTokenKind {
    Doctype,
    Comment,
    Start(Tag),
    Text(HtmlSpelling),
    /// What no other token covers: end tags, and the ends of what was never whole.
    Gap,
}

/// How text is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HtmlSpelling {
    /// With references.
    Read,
    /// As it stands: CDATA, `plaintext`.
    Literal,
    /// The content of `style`, `script`, `iframe`…
    Raw,
}

/// Splits up a document.
///
/// # Errors
/// [`Rejection::OverLimit`], [`Rejection::Malformed`].
pub(super) fn read(html: &str, work: &mut Work<'_>) -> Result<Vec<HtmlToken>, Rejection> {
    let tokens = RefCell::new(Vec::new());
    let put = |range: Range<usize>, what: HtmlTokenKind| {
        tokens.borrow_mut().push(HtmlToken { range, what });
        Ok(())
    };
    let any: Selector = "*".parse().map_err(|_| Rejection::Malformed)?;
    let start = |e: &mut Element<'_, '_>| {
        let tag = e.start_tag();
        put(tag.source_location().bytes(), HtmlTokenKind::Start(tag_of(tag)))
    };
    let document = DocumentContentHandlers::default()
        .doctype(|d: &mut Doctype<'_>| put(d.source_location().bytes(), HtmlTokenKind::Doctype))
        .comments(|c: &mut Comment<'_>| put(c.source_location().bytes(), HtmlTokenKind::Comment))
        .text(|t: &mut TextChunk<'_>| {
            put(t.source_location().bytes(), HtmlTokenKind::Text(sort(t.text_type())))
        });
    let settings = Settings::new()
        .with_strict(false)
        .append_element_content_handler((
            Cow::Borrowed(&any),
            ElementContentHandlers::default().element(start),
        ))
        .append_document_content_handler(document);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(html.as_bytes()).map_err(|_| Rejection::Malformed)?;
    rewriter.end().map_err(|_| Rejection::Malformed)?;
    let tokens = whole(tokens.take(), html.len());
    work.items(tokens.len())?;
    Ok(tokens)
}

fn tag_of(tag: &StartTag<'_>) -> Tag {
    let mut seen = HashSet::new();
    let first = tag.attributes().iter().filter(|attribute| seen.insert(attribute.name()));
    Tag {
        name: tag.name(),
        closed: tag.self_closing() && tag.namespace_uri() != "http://www.w3.org/1999/xhtml",
        math: tag.namespace_uri() == "http://www.w3.org/1998/Math/MathML",
        attributes: first.map(|attribute| (attribute.name_preserve_case(), attribute.value())).collect(),
    }
}

fn sort(text: TextType) -> HtmlSpelling {
    match text {
        TextType::Data | TextType::RCData => HtmlSpelling::Read,
        TextType::PlainText | TextType::CDataSection => HtmlSpelling::Literal,
        TextType::RawText | TextType::ScriptData => HtmlSpelling::Raw,
    }
}

/// In order, pieces of one text joined, and with what lies between them.
fn whole(mut tokens: Vec<HtmlToken>, length: usize) -> Vec<HtmlToken> {
    tokens.retain(|token| !token.range.is_empty());
    tokens.sort_by_key(|token| token.range.start);
    let mut out: Vec<HtmlToken> = Vec::with_capacity(tokens.len());
    let mut done = 0;
    for token in tokens.into_iter().chain([HtmlToken { range: length..length, what: HtmlTokenKind::Gap }]) {
        if token.range.start < done {
            continue;
        }
        if token.range.start > done {
            out.push(HtmlToken { range: done..token.range.start, what: HtmlTokenKind::Gap });
        }
        done = token.range.end;
        match (out.last_mut(), &token.what) {
            (Some(HtmlToken { range, what: HtmlTokenKind::Text(before) }), HtmlTokenKind::Text(sort))
                if before == sort && range.end == token.range.start =>
            {
                range.end = token.range.end;
            }
            _ if token.range.is_empty() => {}
            _ => out.push(token),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::bench::Bench;

    fn shown(html: &str) -> String {
        let mut bench = Bench::disarming();
        let tokens = read(html, &mut bench.work()).expect("tokens");
        let show = |token: HtmlToken| {
            let what = match token.what {
                HtmlTokenKind::Doctype => "doctype".to_owned(),
                HtmlTokenKind::Comment => "comment".to_owned(),
                HtmlTokenKind::Start(tag) => format!("{}{:?}", tag.name, tag.attributes),
                HtmlTokenKind::Text(sort) => format!("{sort:?}"),
                HtmlTokenKind::Gap => "gap".to_owned(),
            };
            format!("{what}={}", html.get(token.range).expect("a range of the page"))
        };
        tokens.into_iter().map(show).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn every_byte_is_in_one_token() {
        assert_eq!(
            shown(
                "<!doctype html><P CLASS=a class='b' x>t&amp;<!--c--></p></b><script>a<b</script><svg><![CDATA[d]]></svg>"
            ),
            "doctype=<!doctype html>|p[(\"CLASS\", \"a\"), (\"x\", \"\")]=<P CLASS=a class='b' x>|Read=t&amp;|\
             comment=<!--c-->|gap=</p></b>|script[]=<script>|Raw=a<b|gap=</script>|svg[]=<svg>|gap=<![CDATA[|\
             Literal=d|gap=]]></svg>"
        );
        let long = format!("é{}", "x".repeat(100_000));
        assert_eq!(shown(&long), format!("Read={long}"));
        assert_eq!(shown("a<b c=\"d"), "Read=a|gap=<b c=\"d");
    }
}
