//! [`Tag`], a start tag, and [`PlannedTag`]: one while it is being asked about.

use std::ops::Range;

use crate::sanitize::format::markup::allow::{self, AttributeRule};
use crate::sanitize::format::markup::data::Data;
use crate::sanitize::format::markup::entity;
use crate::sanitize::format::markup::uri::{AfterAddress, is_safe, is_script, of_web, srcset};
use crate::sanitize::format::markup::value::{Answers, BitValue, MarkupQuestion};
use crate::sanitize::format::patch::Patches;

/// A start tag.
#[derive(Debug)]
pub(in crate::sanitize::format) struct Tag {
    /// As it is written; of HTML in lower case.
    pub(in crate::sanitize::format) name: String,
    /// `/>`, where that ends the element.
    pub(in crate::sanitize::format) closed: bool,
    /// In MathML's namespace.
    pub(in crate::sanitize::format) math: bool,
    /// Names as they are written, and values as they are spelled; the first of each name.
    pub(in crate::sanitize::format) attributes: Vec<(String, String)>,
}

impl Tag {
    /// What the element says that its content is: the value of its attribute `name` or `key`, or what it is called
    /// itself.
    pub(in crate::sanitize::format) fn title(&self) -> String {
        let titled = |name: &str| ["name", "key"].iter().any(|known| name.eq_ignore_ascii_case(known));
        let title = self.attributes.iter().find(|(name, _)| titled(name));
        title.map_or_else(|| self.name.clone(), |(_, raw)| entity::value(raw).into_owned())
    }

    /// What an attribute's value is called: `<add key="password" value="…"/>`, `<user password="…"/>`.
    fn called(&self, attribute: &str) -> String {
        if attribute.eq_ignore_ascii_case("value") {
            self.title()
        } else {
            format!("{}.{attribute}", self.name)
        }
    }
}

/// A start tag that stays.
#[derive(Debug)]
pub(in crate::sanitize::format) struct PlannedTag {
    pub(in crate::sanitize::format) range: Range<usize>,
    /// It has to be written anew.
    anew: bool,
    attributes: Vec<Planning>,
}

#[derive(Debug)]
struct Planning {
    name: String,
    /// As it is spelled.
    raw: String,
    value: BitValue,
}

/// A tag of HTML or SVG as it stands in a file.
pub(in crate::sanitize::format) struct WrittenTag<'t> {
    pub(in crate::sanitize::format) tag: &'t Tag,
    /// The element's name in lower case, without a prefix.
    pub(in crate::sanitize::format) element: &'t str,
    /// Where the tag stands.
    pub(in crate::sanitize::format) range: Range<usize>,
    /// What stands there.
    pub(in crate::sanitize::format) raw: &'t str,
}

/// Reads a tag of HTML or SVG. With `strict`, attributes that are not allowed go; returns how many of them acted.
pub(in crate::sanitize::format) fn plan(
    written: WrittenTag<'_>,
    strict: bool,
    asking: &mut MarkupQuestion,
) -> (PlannedTag, u64) {
    let WrittenTag { tag, element, range, raw } = written;
    let read = |name: &str, read: &str, asking: &mut MarkupQuestion| {
        planned_value(element, name, read, strict, asking)
    };
    planned(tag, range, strict && !is_tidy(raw, tag), asking, read)
}

/// Reads a tag of which nothing is known: its values are text, but for those that say what names mean.
pub(in crate::sanitize::format) fn plan_data(
    tag: &Tag,
    range: Range<usize>,
    strict: bool,
    asking: &mut MarkupQuestion,
) -> (PlannedTag, u64) {
    let read = |name: &str, read: &str, asking: &mut MarkupQuestion| match name {
        _ if name.starts_with("xmlns") || name.ends_with("schemalocation") => {
            (Some(BitValue::fixed(read)), 0)
        }
        _ if strict && ADDRESSES.contains(&name) && is_script(read) => (None, 1),
        _ if ADDRESSES.contains(&name) && Data::of(read).is_some() => {
            (Some(BitValue::address(read, asking)), 0)
        }
        _ if !name.ends_with(":href") => (Some(BitValue::text(read, asking)), 0),
        _ if strict && !is_safe(read, AfterAddress::Link) => (None, 1),
        _ => (Some(BitValue::address(read, asking)), 0),
    };
    planned(tag, range, false, asking, read)
}

fn planned(
    tag: &Tag,
    range: Range<usize>,
    anew: bool,
    asking: &mut MarkupQuestion,
    read: impl Fn(&str, &str, &mut MarkupQuestion) -> (Option<BitValue>, u64),
) -> (PlannedTag, u64) {
    let mut planned = PlannedTag { range, anew, attributes: Vec::new() };
    let mut removed = 0_u64;
    for (name, raw) in &tag.attributes {
        asking.called(tag.called(name));
        let (value, acting) = read(&name.to_lowercase(), &entity::value(raw), asking);
        removed = removed.saturating_add(acting);
        match value {
            Some(value) => planned.attributes.push(Planning { name: name.clone(), raw: raw.clone(), value }),
            None => planned.anew = true,
        }
    }
    (planned, removed)
}

/// Attributes of data, in no namespace, that some reader follows: MathML's, those of feeds and of forms.
const ADDRESSES: &[&str] = &[
    "href",
    "src",
    "action",
    "formaction",
    "data",
    "url",
    "codebase",
    "from",
    "to",
    "resource",
    "uri",
    "link",
];

/// The value, if the attribute stays, and what in it acted.
fn planned_value(
    element: &str,
    name: &str,
    read: &str,
    strict: bool,
    asking: &mut MarkupQuestion,
) -> (Option<BitValue>, u64) {
    match allow::attribute(element, name) {
        AttributeRule::Removed(acting) if strict => (None, u64::from(acting)),
        AttributeRule::Removed(_) => (Some(BitValue::fixed(read)), 0),
        AttributeRule::Text if name.starts_with("xmlns") => {
            let known = !strict || allow::is_namespace(read);
            (known.then(|| BitValue::fixed(read)), 0)
        }
        AttributeRule::Text => (Some(BitValue::text(read, asking)), 0),
        AttributeRule::Address(of) if strict && !is_safe(read, of) => (None, 1),
        AttributeRule::Address(AfterAddress::Within) => (Some(BitValue::fixed(read)), 0),
        AttributeRule::Address(_) => {
            let web = of_web(read).filter(|_| strict);
            let value = BitValue::address(web.as_deref().unwrap_or(read), asking);
            (Some(value.anew(web.is_some())), 0)
        }
        AttributeRule::Addresses => {
            let safe =
                srcset(read).iter().all(|(part, address)| !address || is_safe(part, AfterAddress::Load));
            if strict && !safe { (None, 1) } else { (Some(BitValue::addresses(read, strict, asking)), 0) }
        }
        AttributeRule::Css if !strict => (Some(BitValue::text(read, asking)), 0),
        AttributeRule::Css => {
            let (value, removed) = BitValue::css(read, asking);
            (Some(value), removed)
        }
    }
}

/// Writes the tags and style sheets of a document as they become with these answers.
pub(in crate::sanitize::format) fn write(
    document: &str,
    tags: Vec<PlannedTag>,
    sheets: Vec<(Range<usize>, BitValue)>,
    answers: &Answers,
    patches: &mut Patches,
) {
    for planned in tags {
        let raw = document.get(planned.range.clone()).unwrap_or_default();
        if let Some(tag) = planned.write(raw, answers) {
            patches.put(planned.range, tag);
        }
    }
    for (range, value) in sheets {
        if let Some(css) = value.write(answers) {
            patches.put(range, css);
        }
    }
}

impl PlannedTag {
    /// The tag as it is to be written; `None` if it stays as it stands.
    pub(in crate::sanitize::format) fn write(&self, raw: &str, answers: &Answers) -> Option<String> {
        let values: Vec<Option<String>> =
            self.attributes.iter().map(|planning| planning.value.write(answers)).collect();
        if !self.anew && values.iter().all(Option::is_none) {
            return None;
        }
        let name = raw.get(1..).unwrap_or_default();
        let end =
            name.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).unwrap_or(name.len());
        let mut out = format!("<{}", name.get(..end).unwrap_or_default());
        for (planning, value) in self.attributes.iter().zip(values) {
            if !is_name(&planning.name) {
                continue;
            }
            let value = match value {
                Some(value) => entity::escaped(&value),
                None if entity::is_plain(&planning.raw) && !planning.raw.contains(odd) => {
                    planning.raw.clone()
                }
                None => entity::escaped(&entity::value(&planning.raw)),
            };
            out.push_str(&format!(" {}=\"{value}\"", planning.name));
        }
        out.push_str(if raw.ends_with("/>") { " />" } else { ">" });
        Some(out)
    }
}

fn odd(c: char) -> bool {
    matches!(c, '<' | '>' | '"' | '`') || c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}

fn is_name(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == ':');
    first && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:.-".contains(&b))
}

/// Whether a tag is written so that nobody reads it otherwise than it was read here.
pub(in crate::sanitize::format) fn is_tidy(raw: &str, tag: &Tag) -> bool {
    let Some(inner) = raw.strip_prefix('<').and_then(|raw| raw.strip_suffix('>')) else { return false };
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    let end = inner.find(|c: char| c.is_ascii_whitespace()).unwrap_or(inner.len());
    let (name, mut rest) = inner.split_at_checked(end).unwrap_or((inner, ""));
    if !is_name(name) || !name.eq_ignore_ascii_case(&tag.name) {
        return false;
    }
    for (name, value) in &tag.attributes {
        let spaced = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let Some(behind) = spaced.strip_prefix(name.as_str()).filter(|_| spaced.len() < rest.len()) else {
            return false;
        };
        if !is_name(name) {
            return false;
        }
        let assigned = behind.trim_start_matches(|c: char| c.is_ascii_whitespace());
        rest = match assigned.strip_prefix('=') {
            None if value.is_empty() => behind,
            None => return false,
            Some(text) => {
                let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
                let Some(rest) = after_value(text, value) else { return false };
                rest
            }
        };
    }
    rest.bytes().all(|b| b.is_ascii_whitespace())
}

/// What follows a value that is spelled plainly.
fn after_value<'r>(text: &'r str, value: &str) -> Option<&'r str> {
    if !entity::is_plain(value) || value.contains(|c| odd(c) && c != '"') {
        return None;
    }
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.strip_prefix(value)?.strip_prefix(quote);
        }
    }
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_.:#%+;,?@/".contains(c) || !c.is_ascii();
    let rest = text.strip_prefix(value)?;
    let whole = !value.is_empty() && !value.ends_with('/') && !rest.starts_with(bare);
    (whole && value.chars().all(bare)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tidy_tag_reads_one_way_only() {
        let tag = |attributes: &[(&str, &str)]| Tag {
            name: "a".to_owned(),
            closed: false,
            math: false,
            attributes: attributes
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        };
        for (raw, attributes) in [
            ("<a>", &[][..]),
            ("<A/>", &[]),
            ("<a b=\"c d\" e='f\"' g=1% h>", &[("b", "c d"), ("e", "f\""), ("g", "1%"), ("h", "")]),
            ("<a b = \"?x=1&amp;y\" >", &[("b", "?x=1&amp;y")]),
        ] {
            assert!(is_tidy(raw, &tag(attributes)), "{raw}");
        }
        for (raw, attributes) in [
            ("<a/b>", &[("b", "")][..]),
            ("<a b=\"c\"d>", &[("b", "c"), ("d", "")]),
            ("<a b=\"<\">", &[("b", "<")]),
            ("<a b=`c`>", &[("b", "`c`")]),
            ("<a b=\"c\" b=\"d\">", &[("b", "c")]),
            ("<a b=x/>", &[("b", "x/")]),
            ("<a b=\"&amp\">", &[("b", "&amp")]),
            ("<a \"b\">", &[("\"b\"", "")]),
        ] {
            assert!(!is_tidy(raw, &tag(attributes)), "{raw}");
        }
    }
}
