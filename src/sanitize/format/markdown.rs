//! Markdown (CommonMark 0.31): text whose readers make HTML of it. Tags that are more than plain ones are written as
//! text, links that act lead nowhere, pictures in addresses lose their metadata; all other bytes stay.
//!
//! Programs differ over what is code and what is HTML, so no `<` is spared for standing in code: one that a program may
//! take for the beginning of a tag is plain, or is escaped.

use std::ops::Range;

use crate::sanitize::format::charset;
use crate::sanitize::format::markup::uri::{self, AfterAddress};
use crate::sanitize::format::markup::{allow, data, entity};
use crate::sanitize::format::patch::Patches;
use crate::sanitize::format::text::{self, written};
use crate::sanitize::{ChangedObject, ObjectAction, ObjectKind, Rejection, Work, name};

/// Elements that switch how what follows is read.
const SWITCHES: &[&str] = &["html", "head", "body", "title", "style", "meta", "svg", "listing"];

/// How much of a destination is read, in bytes.
const ADDRESS: usize = 4096;

/// How much of one nearly always tells: a text may be nothing but beginnings of links.
const NEAR: usize = 128;

/// How many characters of it tell its scheme.
const SCHEME: usize = 24;

/// Where a destination goes that acted.
const NOWHERE: &str = "#";

/// What stands before a host that has no scheme: see [`uri::of_web`].
const WEB: &str = "https:";

/// Cleans a text in Markdown.
///
/// # Errors
/// The host's; [`Rejection::OverLimit`].
pub(super) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let decoded = charset::of_text(file);
    let mut patches = Patches::default();
    data::clean_pictures(&decoded.text, &mut patches, work)?;
    if !work.options().interactive {
        let pictures = if patches.is_empty() { None } else { Some(written(file, &decoded, patches)) };
        return text::clean(pictures.as_deref().unwrap_or(file), work);
    }
    let (mut disarmed, mut cut) = (0_u64, 0_u64);
    for at in tags(&decoded.text) {
        patches.put(at..at.saturating_add(1), "&lt;");
        disarmed = disarmed.saturating_add(1);
    }
    for at in hosts(&decoded.text) {
        patches.put(at..at, WEB);
    }
    for (range, with) in destinations(&decoded.text) {
        patches.put(range, with);
        cut = cut.saturating_add(u64::from(with == NOWHERE));
    }
    work.acting(ChangedObject::new(ObjectKind::Markup, ObjectAction::Disarmed, disarmed));
    work.acting(ChangedObject::new(ObjectKind::Reference, ObjectAction::Disarmed, cut));
    text::clean(&written(file, &decoded, patches), work)
}

/// Where tags begin that are not plain.
fn tags(text: &str) -> Vec<usize> {
    let begins = |at: &usize| {
        let rest = text.get(at.saturating_add(1)..).unwrap_or_default();
        let begins = rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        begins && !is_plain(rest)
    };
    text.match_indices('<').map(|(at, _)| at).filter(begins).collect()
}

/// Whether what follows a `<` is a tag, an address or a remark on which nothing follows.
fn is_plain(rest: &str) -> bool {
    let Some(end) =
        rest.find(['<', '>']).filter(|end| rest.get(*end..).is_some_and(|at| at.starts_with('>')))
    else {
        // A remark may hold what is no tag.
        return false;
    };
    let inner = rest.get(..end).unwrap_or_default();
    let blank = |line: &str| line.trim().is_empty();
    if inner.lines().skip(1).any(blank) {
        return false;
    }
    if let Some(remark) = inner.strip_prefix("!--") {
        return remark.ends_with("--") && !remark.contains("[if") && !remark.starts_with(['-', '>']);
    }
    if let Some(name) = inner.strip_prefix('/') {
        return is_element(name.trim_end());
    }
    is_address(inner) || is_tag(inner)
}

fn is_element(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    allow::element(&name) && !SWITCHES.contains(&name.as_str())
}

/// `<https://…>`, `<name@host>`
fn is_address(inner: &str) -> bool {
    let plain = !inner.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '='));
    let mail = inner.contains('@') && !inner.contains([':', '/']);
    let scheme = inner.split_once(':').is_some_and(|(scheme, rest)| {
        rest.starts_with("//") || matches!(scheme.to_ascii_lowercase().as_str(), "mailto" | "tel")
    });
    // In an address of this sort `=` is common, and no program takes it for an attribute without a blank.
    let query = !inner.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`'));
    (plain && mail) || (query && scheme && uri::is_safe(&entity::value(inner), AfterAddress::Link))
}

/// A tag of an element that may stay, all of whose attributes may stay, in double quotes.
fn is_tag(inner: &str) -> bool {
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    let length = inner.find(|c: char| c.is_ascii_whitespace()).unwrap_or(inner.len());
    let (name, mut rest) = inner.split_at_checked(length).unwrap_or((inner, ""));
    if !is_element(name) {
        return false;
    }
    let name = name.to_ascii_lowercase();
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return true;
        }
        let Some((key, behind)) = rest.split_once("=\"") else { return false };
        let Some((value, behind)) = behind.split_once('"') else { return false };
        if !is_attribute(&name, &key.to_ascii_lowercase(), value) {
            return false;
        }
        rest = behind;
    }
}

fn is_attribute(element: &str, key: &str, value: &str) -> bool {
    let word = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let safe = match allow::attribute(element, key) {
        allow::AttributeRule::Text => true,
        allow::AttributeRule::Address(of) => uri::is_safe(&entity::value(value), of),
        _ => false,
    };
    word && safe && !value.contains('`')
}

/// Where hosts that have no scheme begin in tags.
fn hosts(text: &str) -> Vec<usize> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices('<') {
        let from = at.saturating_add(1);
        let rest = text.get(from..).unwrap_or_default();
        let end = rest.find(['<', '>']).filter(|end| rest.get(*end..).is_some_and(|at| at.starts_with('>')));
        let inner = end.and_then(|end| rest.get(..end)).unwrap_or_default();
        if is_tag(inner) {
            out.extend(hosts_of_tag(inner).into_iter().map(|host| from.saturating_add(host)));
        }
    }
    out
}

/// The same in one tag, from its name on.
fn hosts_of_tag(tag: &str) -> Vec<usize> {
    let length = tag.find(|c: char| c.is_ascii_whitespace()).unwrap_or(tag.len());
    let (name, mut rest) = tag.split_at_checked(length).unwrap_or((tag, ""));
    let name = name.to_ascii_lowercase();
    let mut out = Vec::new();
    while let Some((key, behind)) = rest.split_once("=\"") {
        let Some((value, next)) = behind.split_once('"') else { break };
        let rule = allow::attribute(&name, &key.trim().to_ascii_lowercase());
        if matches!(rule, allow::AttributeRule::Address(_)) && is_host(value) {
            out.push(tag.len().saturating_sub(behind.len()));
        }
        rest = next;
    }
    out
}

/// Destinations of links and pictures that act (CommonMark 4.7, 6.3), and beginnings of those that lack a scheme, each with what
/// is written there.
fn destinations(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut out: Vec<(Range<usize>, &'static str)> = Vec::new();
    for (at, _) in text.match_indices(']') {
        let from = at.saturating_add(1);
        let rest = text.get(from..).unwrap_or_default();
        let Some(behind) = rest.strip_prefix(['(', ':']) else { continue };
        let inner = behind.trim_start_matches(|c: char| c.is_whitespace() || c == '<');
        let start = from.saturating_add(rest.len().saturating_sub(inner.len()));
        if out.last().is_some_and(|(last, _)| last.end > start) {
            continue;
        }
        // What a scheme may be parted by is up to the reader, so the address may reach to the end of the line; what
        // is taken out ends earlier.
        let line = |most: usize| {
            let head = inner.get(..inner.floor_char_boundary(most)).unwrap_or(inner);
            head.get(..head.find(['\n', '\r', '>']).unwrap_or(head.len())).unwrap_or_default()
        };
        let near = read(line(NEAR));
        let (address, cut) = if is_told(&near) {
            (near, false)
        } else {
            let line = line(ADDRESS);
            (read(line), line.len().saturating_add(4) > ADDRESS)
        };
        let scheme = scheme_acts(&address, cut);
        let whole = |c: char| c.is_whitespace() || "()[]<>".contains(c);
        let program = || is_program(&address) || !address.contains(whole) && is_program(&read(line(ADDRESS)));
        if scheme || program() {
            let colon = if scheme { line(ADDRESS).find([':', ';']) } else { None };
            let colon = colon.map_or(0, |colon| colon.saturating_add(1));
            // An address that was cut ends where it ends.
            let whole = text.get(start..).unwrap_or_default();
            let whole = whole.get(..whole.find(['\n', '\r', '>']).unwrap_or(whole.len())).unwrap_or_default();
            out.push((start..start.saturating_add(end_of(whole, colon)), NOWHERE));
        } else if is_host(line(NEAR)) {
            out.push((start..start, WEB));
        }
    }
    out
}

/// An address as readers take it.
fn read(line: &str) -> String {
    entity::value(line).chars().filter(|c| *c != '\\').collect()
}

/// Whether an address begins with a host that has no scheme. What follows a remark's `//` is none.
fn is_host(line: &str) -> bool {
    let web = uri::of_web(&entity::value(line)).unwrap_or_default();
    let host = web.split_once("//").map(|(_, host)| host).unwrap_or_default();
    host.starts_with(|c: char| c.is_alphanumeric() || "[%_".contains(c))
}

/// Whether the beginning of an address tells all: what its first characters are, and whether its first word has a scheme.
/// Of what holds its data (`data:`), more is looked at.
fn is_told(near: &str) -> bool {
    let word = near.split(char::is_whitespace).next().unwrap_or_default();
    let ended = word.len() < near.len()
        || word.contains(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'));
    let visible = near.chars().filter(is_visible).take(SCHEME).count() == SCHEME;
    visible && ended && !word.get(..5).is_some_and(|data| data.eq_ignore_ascii_case("data:"))
}

fn is_visible(c: &char) -> bool {
    !c.is_whitespace() && !c.is_control() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{ad}')
}

/// Where an address ends that reaches beyond `past`: at white space or a closing parenthesis that it did not open
/// (CommonMark 6.3).
fn end_of(line: &str, past: usize) -> usize {
    let mut open = 0_u32;
    for (at, c) in line.char_indices() {
        match c {
            '(' => open = open.saturating_add(1),
            ')' if open > 0 => open = open.saturating_sub(1),
            ')' if at >= past => return at,
            _ if c.is_whitespace() && at >= past => return at,
            _ => {}
        }
    }
    line.len()
}

/// Whether an address begins with a scheme that acts, or, where it is cut, might. Words before a colon are no scheme
/// unless a reader skips what parts them.
fn scheme_acts(address: &str, cut: bool) -> bool {
    let head: String =
        address.chars().filter(is_visible).take(SCHEME).collect::<String>().to_ascii_lowercase();
    let known = ["javascript:", "vbscript:", "data:text", "data:image/svg", "data:application", "file:"];
    if known.iter().any(|scheme| head.starts_with(scheme)) || (cut && head.chars().count() < SCHEME) {
        return true;
    }
    let word = address.split(char::is_whitespace).next().unwrap_or_default();
    let scheme = word.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_scheme =
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme
        && !uri::is_safe(word, AfterAddress::Link)
        && !uri::is_safe(word.trim_end_matches(')'), AfterAddress::Load)
}

/// Whether an address without a scheme leads to a program.
fn is_program(address: &str) -> bool {
    let word = address.split(char::is_whitespace).next().unwrap_or_default();
    let ends = [word.trim_end_matches(')'), word.split(')').next().unwrap_or_default()];
    ends.into_iter().any(name::starts)
}

#[cfg(test)]
mod tests {
    use crate::sanitize::FileKind;
    use crate::sanitize::bench::Bench;

    #[test]
    fn tags_that_act_become_text() {
        let mut bench = Bench::disarming();
        bench.options.links = false;
        for (markdown, want) in [
            ("a <script>alert(1)</script> b", "a &lt;script>alert(1)&lt;/script> b"),
            (
                "```\n<div>\n```\n<img src=x onerror=alert(1)>",
                "```\n<div>\n```\n&lt;img src=x onerror=alert(1)>",
            ),
            ("<a href=\"java&#115;cript:x\">y</a>", "&lt;a href=\"java&#115;cript:x\">y</a>"),
            ("<a title=\"\n\n<script>\">", "&lt;a title=\"\n\n&lt;script>\">"),
            (
                "<svg/onload=x> <!doctype html> <?php x ?>",
                "&lt;svg/onload=x> &lt;!doctype html> &lt;?php x ?>",
            ),
            ("[x](javascript:alert(1)) ok", "[x](#) ok"),
            ("![x]( <jav&#x09;ascript:a> )", "![x]( &lt;#> )"),
            ("[x](java\\script&colon;a)", "[x](#)"),
            ("[x]: JaVaScRiPt:a\n[y]: vbscript:b", "[x]: #\n[y]: #"),
            ("<javascript:alert(1)> <script", "&lt;javascript:alert(1)> &lt;script"),
            ("[x](data:text/html;base64,AAAA)", "[x](#)"),
            (&format!("[x](java{}script:a)", "&Tab;".repeat(2000)), "[x](#)"),
            (&format!("[x](java{}script:{})", "&Tab;".repeat(24), "a".repeat(200)), "[x](#)"),
            (&format!("[x]({}:{})", "a".repeat(200), "b".repeat(200)), "[x](#)"),
            ("[x](setup.exe) [y]: a/b.msi [z](x.html)", "[x](#) [y]: # [z](x.html)"),
            (&format!("[x]({}setup.exe).", "./".repeat(200)), "[x](#)."),
            ("![x](//a.example/b) [y]: //b.example", "![x](https://a.example/b) [y]: https://b.example"),
            (
                "[x](/\\\\a.example/b) [y](&#47;/a.example)",
                "[x](https:/\\\\a.example/b) [y](https:&#47;/a.example)",
            ),
            (
                "<img alt=\"a=\" src=\"//a.example/b\" /> <a href=\"/\\b.example\">//c</a>",
                "<img alt=\"a=\" src=\"https://a.example/b\" /> <a href=\"https:/\\b.example\">//c</a>",
            ),
            ("[x](//a.example/setup.exe)", "[x](https://a.example/setup.exe)"),
        ] {
            assert_eq!(bench.text(FileKind::Markdown, markdown), want, "{markdown}");
        }
    }

    #[test]
    fn what_is_plain_stays() {
        let mut bench = Bench::disarming();
        bench.options.links = false;
        for markdown in [
            "# A < B and x<3, <br> <b>bold</b> <details><summary>x</summary></details>",
            "<https://example.com/?a=b> <jane@example.com> <!-- toc -->",
            "<img src=\"https://example.com/a.png\" alt=\"a\" width=\"3\" />",
            "[a](https://example.com/x_(y)) [b](#c) [d]: e: f\n- [ ] todo: see http://x",
            "[note]: the table below: it is (short)\n",
            "a[1]: // remark\n[x](/a//b) [y](a//b) [z](//)",
            "`Vec<T>` and `a<=b`",
            "![x](data:image/png;base64,AA==)",
        ] {
            let want = markdown.replace("Vec<T>", "Vec&lt;T>");
            assert_eq!(bench.text(FileKind::Markdown, markdown), want);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_clean_after_one_cleaning(text in "([<>/a\"'=!`(){}:;&#\\]\\[ \n-]|script|href=\"|javascript:){0,20}") {
            let mut bench = Bench::disarming();
            bench.text(FileKind::Markdown, &text);
        }
    }
}
