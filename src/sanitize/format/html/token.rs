//! [`Token`]: what stands where in an HTML document, as browsers split it up.

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
pub(super) struct Token {
    pub(super) range: Range<usize>,
    pub(super) what: TokenKind,
}

#[derive(Debug)]
pub(super) enum TokenKind {
    Doctype,
    Comment,
    Start(Tag),
    Text(Sort),
    /// What no other token covers: end tags, and the ends of what was never whole.
    Gap,
}

/// How text is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
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
pub(super) fn read(html: &str, work: &mut Work<'_>) -> Result<Vec<Token>, Rejection> {
    let tokens = RefCell::new(Vec::new());
    let put = |range: Range<usize>, what: TokenKind| {
        tokens.borrow_mut().push(Token { range, what });
        Ok(())
    };
    let any: Selector = "*".parse().map_err(|_| Rejection::Malformed)?;
    let start = |e: &mut Element<'_, '_>| {
        let tag = e.start_tag();
        put(tag.source_location().bytes(), TokenKind::Start(tag_of(tag)))
    };
    let document = DocumentContentHandlers::default()
        .doctype(|d: &mut Doctype<'_>| put(d.source_location().bytes(), TokenKind::Doctype))
        .comments(|c: &mut Comment<'_>| put(c.source_location().bytes(), TokenKind::Comment))
        .text(|t: &mut TextChunk<'_>| put(t.source_location().bytes(), TokenKind::Text(sort(t.text_type()))));
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

fn sort(text: TextType) -> Sort {
    match text {
        TextType::Data | TextType::RCData => Sort::Read,
        TextType::PlainText | TextType::CDataSection => Sort::Literal,
        TextType::RawText | TextType::ScriptData => Sort::Raw,
    }
}

/// In order, pieces of one text joined, and with what lies between them.
fn whole(mut tokens: Vec<Token>, length: usize) -> Vec<Token> {
    tokens.retain(|token| !token.range.is_empty());
    tokens.sort_by_key(|token| token.range.start);
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut done = 0;
    for token in tokens.into_iter().chain([Token { range: length..length, what: TokenKind::Gap }]) {
        if token.range.start < done {
            continue;
        }
        if token.range.start > done {
            out.push(Token { range: done..token.range.start, what: TokenKind::Gap });
        }
        done = token.range.end;
        match (out.last_mut(), &token.what) {
            (Some(Token { range, what: TokenKind::Text(before) }), TokenKind::Text(sort))
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
        let show = |token: Token| {
            let what = match token.what {
                TokenKind::Doctype => "doctype".to_owned(),
                TokenKind::Comment => "comment".to_owned(),
                TokenKind::Start(tag) => format!("{}{:?}", tag.name, tag.attributes),
                TokenKind::Text(sort) => format!("{sort:?}"),
                TokenKind::Gap => "gap".to_owned(),
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
