//! Values known by a byte in their middle: e-mail addresses outward from `@` (RFC 5321 section 4.5.3.1 gives the
//! lengths), IPv6 addresses outward from `:`.

use super::super::rule::Edge;
use super::automaton::Compiled;
use super::judge::Judged;
use super::mask::Colons;
use super::view::View;
use super::{Found, Pass, Track};

/// The longest local part and the longest domain of an e-mail address, in bytes.
const LOCAL: usize = 64;
const DOMAIN: usize = 253;
/// The longest IPv6 address in text, in bytes (RFC 4291 section 2.2, mixed form).
const IPV6: usize = 45;

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'')
}

fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
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

/// Where the local part begins whose run of characters is `run..at`: behind an escape's letters, what follows the
/// last two dots, at the first letter, digit or underscore.
fn local_start(view: &View<'_>, run: usize, at: usize) -> usize {
    let run = view.after_escape(run).unwrap_or(run).min(at);
    let text = view.slice(run, at);
    let dots = text.windows(2).rposition(|pair| pair == b"..").map_or(0, |n| n + 2);
    let first = text.iter().skip(dots).position(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    first.map_or(at, |n| run + dots + n)
}

/// Where the domain of `start..end` ends that can be one: its last label has letters only, two at least.
fn domain_end(view: &View<'_>, start: usize, end: usize) -> Option<usize> {
    let text = view.slice(start, end);
    let mut label = 0;
    let mut best = None;
    for part in text.split(|&byte| byte == b'.') {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let hyphens = part.iter().rev().take_while(|&&byte| byte == b'-').count();
        let encoded = part.len() > 5 && part.starts_with(b"xn--");
        if label > 0 && (letters >= 2 && letters + hyphens == part.len() || encoded) {
            best = Some(start + label + part.len() - hyphens);
        }
        if part.is_empty() || part.first() == Some(&b'-') {
            break;
        }
        label += part.len() + 1;
    }
    best
}

impl Pass<'_> {
    /// Scans for e-mail addresses and offers each to `rules`.
    pub(crate) fn emails(&self, rules: &[Compiled], track: &mut Track, found: &mut Found) {
        let (view, from) = (&self.view, track.at);
        let mut next = from;
        while let Some(at) = memchr::memchr(b'@', view.slice(next, view.len())).map(|n| next + n) {
            next = at + 1;
            let run = back(view, at, LOCAL, is_local);
            let start = local_start(view, run, at);
            if start >= at || start < from || view.before(at, 1) == Some(b'.') {
                continue;
            }
            let stop = ahead(view, next, DOMAIN + 1, is_domain);
            if stop == view.len() && !view.complete && stop - next <= DOMAIN {
                track.at = start;
                return;
            }
            let Some(end) = domain_end(view, next, stop) else { continue };
            for rule in rules {
                match self.judge(rule, start, end) {
                    Judged::Yes(finding) => found.push(finding),
                    Judged::No => {}
                    Judged::NotYet => {
                        track.at = start;
                        return;
                    }
                }
            }
        }
        track.at = view.len();
        if !view.complete {
            let run = back(view, view.len(), LOCAL, is_local);
            let opens =
                |&at: &usize| view.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            track.at = (run..view.len()).find(opens).unwrap_or(view.len());
        }
    }

    /// Scans for IPv6 addresses and offers each to `rules`.
    pub(crate) fn ipv6(&self, rules: &[Compiled], track: &mut Track, found: &mut Found) {
        let (view, from) = (&self.view, track.at);
        let mut next = from;
        for at in Colons::new(self.masks, from) {
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
            let Some(start) = view.after_escape(run) else { continue };
            let text = view.slice(start, stop);
            let colons = text.iter().filter(|&&byte| byte == b':').count();
            if start < from || colons < 2 || stop - run > IPV6 {
                continue;
            }
            let start = if text.starts_with(b":") && !text.starts_with(b"::") { start + 1 } else { start };
            let Some(end) = self.ipv6_end(start, stop) else { continue };
            for rule in rules {
                match self.judge(rule, start, end) {
                    Judged::Yes(finding) => found.push(finding),
                    Judged::No => {}
                    Judged::NotYet => {
                        track.at = start;
                        return;
                    }
                }
            }
        }
        track.at = self.open_ipv6();
    }

    /// The end without what belongs to the sentence: a dot, or one colon.
    fn ipv6_end(&self, start: usize, stop: usize) -> Option<usize> {
        let text = self.view.slice(start, stop);
        let kept = text.len() - text.iter().rev().take_while(|&&byte| byte == b'.').count();
        let text = text.get(..kept)?;
        let colon = text.ends_with(b":") && !text.ends_with(b"::");
        let end = start + text.len() - usize::from(colon);
        (end > start).then_some(end)
    }

    /// Where an address could begin that goes on beyond the window.
    fn open_ipv6(&self) -> usize {
        let view = &self.view;
        let run = back(view, view.len(), IPV6, is_ipv6);
        let text = view.slice(run, view.len());
        let hex = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let group = hex <= 4 && text.get(hex).is_none_or(|&byte| byte == b':');
        if view.complete || !group || !view.starts(run, Edge::Word) {
            return view.len();
        }
        run
    }
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
        ];
        for (text, end) in cases {
            assert_eq!(domain_end(&whole(text), 0, text.len()), end, "{text}");
        }
    }

    #[test]
    fn local_parts_begin_behind_quotes_dots_and_escapes() {
        let cases = [("'bob", 1), ("..bob", 2), ("a..bob", 3), (r"\nbob", 2), ("_x", 0), ("--", 2)];
        for (text, start) in cases {
            let view = whole(text);
            let run = usize::from(text.starts_with('\\'));
            assert_eq!(local_start(&view, run, text.len()), start, "{text}");
        }
    }
}
