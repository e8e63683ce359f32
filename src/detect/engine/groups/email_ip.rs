//! Values known by a byte in their middle: e-mail addresses outward from `@` (RFC 5321 section 4.5.3.1 gives the
//! lengths), IPv6 addresses outward from `:`.

use std::ops::Range;

use super::super::group::Group;
use super::super::mask::Colons;
use super::super::pass::{Candidates, Evaluation, WindowPass};
use super::super::pattern::CompiledPattern;
use super::super::track::Track;
use super::super::view::{LOOKBACK, View};
use crate::detect::finding::Score;
use crate::detect::rules::Edge;
use crate::detect::validate::tld;

/// The longest local part that is looked for, and the longest domain of an e-mail address, in bytes. Standards allow a
/// local part 64; what has more is somebody's address all the same. Of one that is longer than this, its end is found.
const LOCAL: usize = 256;
const DOMAIN: usize = 253;
/// The longest IPv6 address in text, in bytes (RFC 4291 section 2.2, mixed form).
const IPV6: usize = 45;

/// What looks like an address and is the end of a password with the host of another address is less than that password.
const IN_USERINFO: f32 = 0.9;

fn is_local(byte: u8) -> bool {
    is_plain(byte) || byte == b'%'
}

/// A character of a local part that stands for itself in percent-encoding too.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'.' | b'_' | b'+' | b'-' | b'\'')
}

fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

fn is_wide(byte: u8) -> bool {
    is_domain(byte) || byte >= 0x80
}

fn is_ipv6(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')
}

/// Where the run of `class` before `end` begins, looking back at most `most` bytes.
fn back(view: &View<'_>, end: usize, most: usize, class: fn(u8) -> bool) -> usize {
    let before = view.slice(end.saturating_sub(most), end);
    end - before.iter().rev().take_while(|&&byte| class(byte)).count()
}

/// Where the run of `class` from `start` ends, looking at most `most` bytes on.
fn ahead(view: &View<'_>, start: usize, most: usize, class: fn(u8) -> bool) -> usize {
    start + view.slice(start, start + most).iter().take_while(|&&byte| class(byte)).count()
}

/// Letters, digits and the marks that letters of some scripts can't be without (RFC 6531 allows any).
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{963}' | '\u{966}'..='\u{dff}')
}

/// Letters of scripts that are written without spaces: what stands before an address can be a sentence.
const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// How many bytes at the end of `run` can be a local part, which is not ASCII only. An ASCII one that begins with
/// a letter ends where a script without spaces begins.
fn wide_local(run: &[u8]) -> usize {
    let ascii = run.iter().rev().take_while(|byte| byte.is_ascii()).count();
    let tail = run.get(run.len() - ascii..).unwrap_or_default();
    let mut end = run.len() - ascii;
    let mut first = true;
    while let Some(&last) = run.get(..end).unwrap_or_default().last() {
        if last.is_ascii() {
            end -= 1;
            continue;
        }
        let head = run.get(..end).unwrap_or_default();
        let width = head.iter().rev().take_while(|&&byte| byte & 0xc0 == 0x80).count() + 1;
        let bytes = head.get(head.len().saturating_sub(width)..).unwrap_or_default();
        let letter = std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next());
        let Some(letter) = letter.filter(|&letter| is_letter(letter)) else { break };
        if first && is_unspaced(letter) && tail.first().is_some_and(u8::is_ascii_alphabetic) {
            break;
        }
        first = false;
        end -= width.min(end);
    }
    run.len() - end
}

/// Where the local part begins whose run of characters is `run..at`: behind an escape's letters, what follows the
/// last two dots, at the first letter, digit or underscore.
fn local_start(view: &View<'_>, run: usize, at: usize) -> usize {
    let run = view.after_escape(run).unwrap_or(run).min(at);
    let run = if view.slice(run, at).is_ascii() { run } else { at - wide_local(view.slice(run, at)) };
    let text = view.slice(run, at);
    let dots = text.windows(2).rposition(|pair| pair == b"..").map_or(0, |n| n + 2);
    let first = text.iter().skip(dots).position(|&byte| opens(byte));
    first.map_or(at, |n| run + dots + n)
}

fn opens(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || byte == b'_'
}

/// Where the run of a percent-encoded local part begins that ends before `at`: behind an encoded character, if it
/// is not one that local parts have.
fn encoded_run(view: &View<'_>, at: usize) -> usize {
    let mut run = back(view, at, LOCAL, is_plain);
    while view.before(run, 1) == Some(b'%') {
        match view.slice(run, run + 2) {
            [b'2', b'B' | b'b' | b'D' | b'd' | b'E' | b'e'] | [b'5', b'F' | b'f'] => {
                let most = LOCAL.saturating_sub(at + 1 - run);
                run = back(view, run - 1, most, is_plain);
                if most == 0 {
                    break;
                }
            }
            [a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => return (run + 2).min(at),
            _ => break,
        }
    }
    run
}

/// Where the domain of `start..end` ends that can be one: its last label is a top-level domain, or could be that of
/// some private network. A sentence that goes on without a space (`example.com.In`) is not a part of it.
fn domain_end(view: &View<'_>, start: usize, end: usize) -> Option<usize> {
    let text = view.slice(start, end);
    let mut label = 0;
    let (mut best, mut private) = (None, None);
    let mut lower = false;
    for part in text.split(|&byte| byte == b'.') {
        let hyphens = part.iter().rev().take_while(|&&byte| matches!(byte, b'-' | b'_')).count();
        let name = part.get(..part.len() - hyphens).unwrap_or_default();
        let sentence = lower && best.is_some() && part.first().is_some_and(u8::is_ascii_uppercase);
        if part.is_empty() || matches!(part.first(), Some(b'-' | b'_')) || sentence {
            break;
        }
        // A number may follow without a space: `example.com555-0100`.
        let letters = name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let head = name.get(..letters).filter(|_| name.get(letters).is_some_and(u8::is_ascii_digit));
        if label > 0 && tld::known(name) {
            best = Some(start + label + name.len());
            lower = name.first().is_some_and(u8::is_ascii_lowercase);
        } else if label > 0 && head.is_some_and(tld::known) {
            best = best.or(Some(start + label + letters));
        } else if label > 0 && tld::private(name) {
            private = Some(start + label + name.len());
        }
        if hyphens > 0 {
            break;
        }
        label += part.len() + 1;
    }
    best.or(private)
}

/// As [`domain_end`], for a run that is not ASCII only: the letters may be the domain's or follow it.
fn wide_end(view: &View<'_>, start: usize, end: usize) -> Option<usize> {
    let text = view.slice(start, end);
    let ascii = text.iter().take_while(|byte| byte.is_ascii()).count();
    let narrow = domain_end(view, start, start + ascii);
    if ascii == text.len() {
        return narrow;
    }
    let valid = match std::str::from_utf8(text) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(text.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or(""),
    };
    let known = |c: char| is_letter(c) || matches!(c, '.' | '-' | '_');
    let stop = valid.find(|c| !known(c)).unwrap_or(valid.len());
    domain_end(view, start, start + stop).max(narrow)
}

/// Whether what begins at `start` may be the end of the password in an address (RFC 3986 section 3.2.1): `://user:` stands
/// before it, without a blank or a quote between.
fn ends_userinfo(view: &View<'_>, start: usize) -> bool {
    let dense = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>');
    let head = view.slice(back(view, start, LOOKBACK, dense), start);
    let address = head.windows(3).rposition(|bytes| bytes == b"://").and_then(|at| head.get(at + 3..));
    address.is_some_and(|text| {
        let user = text.iter().take_while(|&&byte| is_domain(byte) || matches!(byte, b'%' | b'+')).count();
        let path = text.rsplit(|&byte| byte == b'@').next().is_some_and(|behind| behind.contains(&b'/'));
        let rest = text.get(user + 1..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let port = digits > 0 && matches!(rest.get(digits), Some(b'/' | b'?' | b'#'));
        user > 0 && text.get(user) == Some(&b':') && !port && !(path && text.contains(&b'@'))
    })
}

/// The rules that take e-mail addresses.
pub(crate) struct Emails {
    rules: Vec<CompiledPattern>,
}

impl Emails {
    pub(crate) const fn new(rules: Vec<CompiledPattern>) -> Self {
        Self { rules }
    }
}

impl Group for Emails {
    fn memory(&self) -> usize {
        0
    }

    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) {
        let (view, from) = (&pass.view, track.at);
        let mut next = from;
        while let Some(at) = memchr::memchr2(b'@', b'%', view.slice(next, view.len())).map(|n| next + n) {
            let encoded = view.get(at) == Some(b'%');
            if encoded && at + 3 > view.len() && !view.complete {
                break;
            }
            next = at + 1;
            if encoded && view.slice(next, at + 3) != b"40" {
                continue;
            }
            next = if encoded { at + 3 } else { next };
            let run = if encoded { encoded_run(view, at) } else { back(view, at, LOCAL, is_local) };
            pass.step(at - run);
            let start = local_start(view, run, at);
            if start >= at || start < from || view.before(at, 1) == Some(b'.') {
                continue;
            }
            let stop = ahead(view, next, DOMAIN + 1, is_wide);
            if stop == view.len() && !view.complete && stop - next <= DOMAIN {
                track.at = start;
                return;
            }
            pass.step(stop - next);
            let Some(end) = wide_end(view, next, stop) else { continue };
            let kept = found.len();
            if !evaluate_all(pass, &self.rules, start..end, found) {
                track.at = start;
                return;
            }
            if ends_userinfo(view, start) {
                let doubted = found.get_mut(kept..).unwrap_or_default();
                doubted.iter_mut().for_each(|one| one.score = Score::new(one.score.value().min(IN_USERINFO)));
            }
        }
        track.at = view.len();
        if !view.complete {
            let run = back(view, view.len(), LOCAL, is_local);
            let begins = |&at: &usize| view.get(at).is_some_and(opens);
            track.at = (run..view.len()).find(begins).unwrap_or(view.len());
        }
    }
}

/// The rules that take IPv6 addresses.
pub(crate) struct Ipv6 {
    rules: Vec<CompiledPattern>,
}

impl Ipv6 {
    pub(crate) const fn new(rules: Vec<CompiledPattern>) -> Self {
        Self { rules }
    }
}

impl Group for Ipv6 {
    fn memory(&self) -> usize {
        0
    }

    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) {
        let (view, from) = (&pass.view, track.at);
        let mut next = from;
        for at in Colons::new(pass.masks, from) {
            if at < next {
                continue;
            }
            next = at + 1;
            let run = back(view, at, IPV6, is_ipv6);
            let stop = ahead(view, at, IPV6 + 1, is_ipv6);
            if stop == view.len() && !view.complete && stop - run <= IPV6 {
                track.at = run.max(from);
                return;
            }
            next = stop.max(next);
            pass.step(stop - run);
            let Some(start) = view.after_escape(run) else { continue };
            let text = view.slice(start, stop);
            let colons = text.iter().filter(|&&byte| byte == b':').count();
            if start < from || colons < 2 || stop - run > IPV6 {
                continue;
            }
            let start = if text.starts_with(b":") && !text.starts_with(b"::") { start + 1 } else { start };
            let Some(end) = ipv6_end(view, start, stop) else { continue };
            if !evaluate_all(pass, &self.rules, start..end, found) {
                track.at = start;
                return;
            }
        }
        track.at = open_ipv6(view);
    }
}

/// Evaluates a value as one of each of `rules`, in order; `false` if one of them needs more text.
fn evaluate_all(
    pass: &WindowPass<'_>,
    rules: &[CompiledPattern],
    value: Range<usize>,
    found: &mut Candidates,
) -> bool {
    for rule in rules {
        match pass.evaluate(rule, value.start, value.end) {
            Evaluation::Accepted(finding) => found.push(finding),
            Evaluation::Rejected | Evaluation::CheckFailed => {}
            Evaluation::NeedMore => return false,
        }
    }
    true
}

/// The end without what belongs to the sentence: a dot, or one colon.
fn ipv6_end(view: &View<'_>, start: usize, stop: usize) -> Option<usize> {
    let text = view.slice(start, stop);
    let kept = text.len() - text.iter().rev().take_while(|&&byte| byte == b'.').count();
    let text = text.get(..kept)?;
    let colon = text.ends_with(b":") && !text.ends_with(b"::");
    let end = start + text.len() - usize::from(colon);
    (end > start).then_some(end)
}

/// Where an address could begin that goes on beyond the window.
fn open_ipv6(view: &View<'_>) -> usize {
    let run = back(view, view.len(), IPV6, is_ipv6);
    let text = view.slice(run, view.len());
    let hex = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let group = hex <= 4 && text.get(hex).is_none_or(|&byte| byte == b':');
    if view.complete || !group || !view.starts(run, Edge::Word) {
        return view.len();
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> View<'_> {
        View { text: text.as_bytes(), base: 0, complete: true }
    }

    #[test]
    fn domains_end_at_the_last_label_that_can_be_one() {
        let cases = [
            ("example.com", Some(11)),
            ("example.com.", Some(11)),
            ("example.com.2024", Some(11)),
            ("example.com-", Some(11)),
            ("mail.example.co.uk", Some(18)),
            ("example.xn--p1ai", Some(16)),
            ("localhost", None),
            ("10.0.0.1", None),
            ("example..com", None),
            ("example.com.In", Some(11)),
            ("example.nosuchname", Some(18)),
            ("icon.png", None),
            ("example.com555-0100", Some(11)),
            ("bücher.de", Some(10)),
            ("example.com请回复", Some(11)),
            ("例子.中国", Some(13)),
        ];
        for (text, end) in cases {
            assert_eq!(wide_end(&whole(text), 0, text.len()), end, "{text}");
        }
    }

    #[test]
    fn local_parts_begin_behind_quotes_dots_and_escapes() {
        let cases = [
            ("'bob", 1),
            ("..bob", 2),
            ("a..bob", 3),
            (r"\nbob", 2),
            ("_x", 0),
            ("--", 2),
            ("josé", 0),
            ("“josé", 3),
            ("花子.林12", 0),
            ("请联系bob", 9),
        ];
        for (text, start) in cases {
            let view = whole(text);
            let run = usize::from(text.starts_with('\\'));
            assert_eq!(local_start(&view, run, text.len()), start, "{text}");
        }
    }
}
