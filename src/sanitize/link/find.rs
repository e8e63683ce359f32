//! [`find`]: links in a text, as the programs that show it would make them clickable, and a little more.

use std::ops::Range;

use crate::sanitize::Link;
use crate::sanitize::link::defang::{defang_front, is_defanged};
use crate::sanitize::link::host::{in_name, is_domain};

/// A link in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLink {
    /// Scheme and host (with userinfo and port), in bytes of the text: what defanging changes.
    pub front: Range<usize>,
    /// The link as it is written.
    pub link: Link,
}

impl FoundLink {
    /// What stands at [`front`](Self::front) once the link is defanged.
    pub fn defanged(&self, text: &str) -> String {
        defang_front(text.get(self.front.clone()).unwrap_or_default())
    }
}

/// The links of a text, in order, their fronts apart from each other: URLs with a scheme and a host, what begins
/// with `www.`, and names of hosts under a public suffix. Not the domains of mail addresses, names of files, version
/// numbers, and what is defanged already. A URL within another's path or query is a link of its own.
pub fn find(text: &str) -> Vec<FoundLink> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if !ends_word(c) {
            continue;
        }
        if let Some(word) = text.get(from..at)
            && word.contains('.') | word.contains("://")
        {
            LinkWord { word, from, found: &mut found }.read();
        }
        from = at.saturating_add(c.len_utf8());
    }
    found
}

/// What no link holds: white space, what texts and markup put around links, and the punctuation of scripts that put
/// no space after it.
fn ends_word(c: char) -> bool {
    match c {
        '<' | '>' | '"' | '`' | '{' | '}' | '|' | '^' => true,
        '\u{ab}' | '\u{bb}' | '\u{2018}'..='\u{201f}' | '\u{2039}' | '\u{203a}' => true,
        '\u{3000}'..='\u{3020}'
        | '\u{ff01}'
        | '\u{ff08}'
        | '\u{ff09}'
        | '\u{ff0c}'
        | '\u{ff1a}'
        | '\u{ff1b}' => true,
        '\u{200b}' | '\u{feff}' | '\u{fffd}' => true,
        _ => c.is_whitespace() || c.is_control(),
    }
}

/// What a name begins with. Emphasis in Markdown is written with what a name may hold, too.
fn begins(c: char) -> bool {
    in_name(c) && c != '_' && c != '-'
}

/// Whether the host of an authority is defanged.
fn dead(authority: &str) -> bool {
    let host = authority.rsplit('@').next().unwrap_or(authority);
    host.contains("[.]") || host.contains("[dot]")
}

/// One word of a text.
struct LinkWord<'t> {
    word: &'t str,
    /// Where it begins in the text.
    from: usize,
    found: &'t mut Vec<FoundLink>,
}

/// What a name in a word turned out to begin.
enum LinkStart {
    /// Nothing: read on behind it.
    Name,
    /// A link that ends there, or one that is defanged.
    Until(usize),
}

impl LinkWord<'_> {
    fn rest(&self, at: usize) -> &str {
        self.word.get(at..).unwrap_or_default()
    }

    fn read(&mut self) {
        let mut at = 0;
        while let Some(skip) = self.rest(at).find(begins) {
            let start = at.saturating_add(skip);
            let (end, defanged) = self.name(start);
            at = match self.begun(start, end, defanged) {
                LinkStart::Name => end.max(start.saturating_add(1)),
                LinkStart::Until(end) => end,
            };
            while !self.word.is_char_boundary(at) {
                at = at.saturating_add(1);
            }
        }
    }

    /// Where labels with dots between them end, and whether the dots are defanged.
    fn name(&self, start: usize) -> (usize, bool) {
        let (mut end, mut defanged) = (start, false);
        loop {
            let rest = self.rest(end);
            let label = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
            let behind = rest.get(label..).unwrap_or_default();
            end = end.saturating_add(label);
            let joins = |dot: &&str| behind.strip_prefix(*dot).is_some_and(|next| next.starts_with(in_name));
            let Some(dot) = ["[.]", "(.)", "[dot]", "(dot)", "."].into_iter().find(joins) else {
                return (end, defanged);
            };
            defanged |= dot != ".";
            end = end.saturating_add(dot.len());
        }
    }

    fn begun(&mut self, start: usize, end: usize, defanged: bool) -> LinkStart {
        let (name, behind) = (self.word.get(start..end).unwrap_or_default(), self.rest(end));
        if behind.starts_with("://") {
            return self.url(start, end);
        }
        let void = behind.starts_with("[:") && behind.get(..8).unwrap_or(behind).contains("//");
        if defanged || void {
            let more = void || behind.starts_with(['/', '?', '#', ':']);
            let close = if more { self.close(end) } else { end };
            self.within(end, close);
            return LinkStart::Until(close);
        }
        self.domain(start, start.saturating_add(name.trim_end_matches(['_', '-']).len()))
    }

    /// A scheme ends at `colon`.
    fn url(&mut self, start: usize, colon: usize) -> LinkStart {
        let before = self.word.get(start..colon).unwrap_or_default();
        // `texthttp://` is followed as `http://` by some; a scheme begins with a letter.
        let lower = before.to_ascii_lowercase();
        let known = ["https", "http", "ftps", "sftp", "ftp"].into_iter().find(|known| lower.ends_with(known));
        let scheme = match known {
            Some(known) => before.len().saturating_sub(known.len()),
            None => {
                let ascii = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
                let digits = before.bytes().skip(ascii).take_while(u8::is_ascii_digit).count();
                ascii.saturating_add(digits)
            }
        };
        let name = before.get(scheme..).unwrap_or_default();
        let host = colon.saturating_add(3);
        let authority = self.authority(host);
        let letters = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let some = self.word.get(host..authority).unwrap_or_default();
        if !letters || !some.contains(char::is_alphanumeric) && !some.contains('[') {
            return LinkStart::Until(host);
        }
        let close = if self.rest(authority).starts_with(['/', '\\', '?', '#']) {
            self.close(authority)
        } else {
            authority
        };
        if !is_defanged(name) && !dead(some) {
            self.push(start.saturating_add(scheme), authority, close, true);
        }
        self.within(authority, close);
        LinkStart::Until(close)
    }

    fn domain(&mut self, start: usize, end: usize) -> LinkStart {
        let (name, behind) = (self.word.get(start..end).unwrap_or_default(), self.rest(end));
        let before = self.word.get(..start).unwrap_or_default();
        // A mail address's domain, a path of files, code.
        let inside =
            before.ends_with(['@', '\\', '$', '#']) || before.ends_with('/') && !before.ends_with("//");
        let void = before.ends_with("[://]") || before.ends_with("[:]//");
        if inside || void || behind.starts_with(['@', '(', '=']) {
            return LinkStart::Name;
        }
        let port = behind.strip_prefix(':').map_or(0, |rest| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 { digits.saturating_add(1) } else { 0 }
        });
        let authority = end.saturating_add(port);
        let path = self.rest(authority).starts_with(['/', '?', '#']);
        let www = name.get(..4).is_some_and(|www| www.eq_ignore_ascii_case("www."));
        let is_host = is_domain(name, !path && port == 0) || www && name.len() > 4 && !name.contains("..");
        if !is_host {
            return LinkStart::Name;
        }
        let close = if path { self.close(authority) } else { authority };
        self.push(start, authority, close, www || path || port > 0);
        self.within(authority, close);
        LinkStart::Until(close)
    }

    fn push(&mut self, start: usize, authority: usize, close: usize, url: bool) {
        let written = self.word.get(start..close).unwrap_or_default().to_owned();
        let front = self.from.saturating_add(start)..self.from.saturating_add(authority);
        let link = if url { Link::Url(written) } else { Link::Domain(written) };
        self.found.push(FoundLink { front, link });
    }

    /// Links with a scheme within the path or query of another.
    fn within(&mut self, from: usize, to: usize) {
        let Some(path) = self.word.get(from..to) else { return };
        let scheme = |colon: usize| {
            let before = self.word.get(from..colon).unwrap_or_default().as_bytes();
            let ends = |scheme: &&str| {
                let tail = before.get(before.len().saturating_sub(scheme.len())..).unwrap_or_default();
                tail.eq_ignore_ascii_case(scheme.as_bytes())
            };
            ["https", "http", "ftp"]
                .into_iter()
                .find(ends)
                .map(|scheme| (colon.saturating_sub(scheme.len()), colon))
        };
        let colons = path.match_indices("://").map(|(at, _)| from.saturating_add(at));
        let begun: Vec<(usize, usize)> = colons.filter_map(scheme).collect();
        // One ends where the next begins: all that is kept of them is no longer than the word.
        let ends = begun.iter().skip(1).map(|(start, _)| *start).chain([to]);
        for ((start, colon), end) in begun.iter().copied().zip(ends.collect::<Vec<_>>()) {
            let host = colon.saturating_add(3);
            let authority = self.authority(host).min(end);
            let some = self.word.get(host..authority).unwrap_or_default();
            let rest = self.word.get(authority..end).unwrap_or_default();
            let close = authority.saturating_add(rest.find(['&', ',', ';']).unwrap_or(rest.len()));
            if some.contains(char::is_alphanumeric) && !dead(some) {
                self.push(start, authority, close, true);
            }
        }
    }

    /// Where userinfo, host and port end that begin at `from`.
    fn authority(&self, from: usize) -> usize {
        let rest = self.rest(from);
        let part = |c: char| c.is_alphanumeric() || "-._~%:@[]+$&!*".contains(c);
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let host = rest.get(..end).unwrap_or_default();
        let unopened =
            host.find(']').filter(|at| !host.get(..*at).is_some_and(|before| before.contains('[')));
        let host = host.get(..unopened.unwrap_or(end)).unwrap_or_default();
        let trimmed = |host: &str| host.trim_end_matches(['.', ':', '!', '*', '_', '~', '&', '-', '[']).len();
        let end = from.saturating_add(trimmed(host));
        if !self.rest(end).starts_with("://") {
            return end;
        }
        // `http://http://host`: what stands before the colon is the next link's scheme.
        let host = self.word.get(from..end).unwrap_or_default();
        let lower = host.to_ascii_lowercase();
        let known = ["https", "http", "ftps", "ftp"].into_iter().find(|known| lower.ends_with(known));
        let scheme = known.map_or_else(
            || host.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len(),
            |known| host.len().saturating_sub(known.len()),
        );
        from.saturating_add(trimmed(host.get(..scheme).unwrap_or_default()))
    }

    /// Where a link ends whose host ends at `from`: before the punctuation of the sentence, and before a bracket
    /// that it did not open.
    fn close(&self, from: usize) -> usize {
        let rest = self.rest(from);
        let (mut round, mut square) = (0_u32, 0_u32);
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            let depth = match c {
                '(' | '[' => {
                    let depth = if c == '(' { &mut round } else { &mut square };
                    *depth = depth.saturating_add(1);
                    continue;
                }
                ')' => &mut round,
                ']' => &mut square,
                _ => continue,
            };
            if *depth == 0 {
                end = at;
                break;
            }
            *depth = depth.saturating_sub(1);
        }
        let path = rest.get(..end).unwrap_or_default();
        let path = path.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_', '~', '(', '[']);
        from.saturating_add(path.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Edit, spliced_text};

    fn links(text: &str) -> Vec<String> {
        let written = |found: FoundLink| match found.link {
            Link::Url(url) => url,
            Link::Domain(name) => format!("={name}"),
        };
        find(text).into_iter().map(written).collect()
    }

    fn defanged(text: &str) -> String {
        let edit = |found: FoundLink| Edit { range: found.front.clone(), with: found.defanged(text) };
        spliced_text(text, &find(text).into_iter().map(edit).collect::<Vec<_>>())
    }

    #[test]
    fn links_are_found_where_they_are_written() {
        let cases: &[(&str, &[&str])] = &[
            ("see https://example.com/a?b=c#d, then", &["https://example.com/a?b=c#d"]),
            ("hello security@pangea.cloud world https://pangea.cloud", &["https://pangea.cloud"]),
            (
                "(http://example.com/a_(b)), [x](http://a.example/y)",
                &["http://example.com/a_(b)", "http://a.example/y"],
            ),
            ("www.example.com. And WWW.EXAMPLE.COM!", &["www.example.com", "WWW.EXAMPLE.COM"]),
            ("go to example.com, or example.co.uk/x.", &["=example.com", "example.co.uk/x"]),
            ("a@example.com <b@mail.example.org> me.com@x.de", &[]),
            ("version 2.0.17 of main.rs in C:\\x\\foo.com and /usr/lib/foo.com", &[]),
            (
                "http://a.example,http://b.example;ftp://c.example",
                &["http://a.example", "http://b.example", "ftp://c.example"],
            ),
            (
                "http://10.0.0.1:8080/x http://[::1]:80/ http://localhost/",
                &["http://10.0.0.1:8080/x", "http://[::1]:80/", "http://localhost/"],
            ),
            (
                "https://a.example/?u=https://b.example/x&y",
                &["https://a.example/?u=https://b.example/x&y", "https://b.example/x"],
            ),
            ("见https://example.com/路径。再见", &["https://example.com/路径"]),
            ("访问example.com吧", &["=example.com"]),
            ("https://user:pw@example.com/", &["https://user:pw@example.com/"]),
            ("texthttp://example.com", &["http://example.com"]),
            ("file:///etc/passwd http:// ://x http://<PERSON>", &[]),
            (
                "wait..example.com _example.com_ **http://a.example**",
                &["=example.com", "=example.com", "http://a.example"],
            ),
            ("console.info(x) app.name=3", &[]),
            (
                "git+https://example.com/x.git custom.scheme://host",
                &["https://example.com/x.git", "scheme://host"],
            ),
            ("https://münchen.de/ münchen.de", &["https://münchen.de/", "=münchen.de"]),
        ];
        for (text, want) in cases {
            assert_eq!(links(text), *want, "{text}");
        }
    }

    #[test]
    fn what_is_defanged_is_left_alone() {
        for text in [
            "hxxp://example[.]com/x.example.com",
            "example[.]com/www.example.com",
            "hxxps://example.com",
            "http[:]//example.com",
            "ws[://]example[.]com",
            "http://example[.]com/",
            "example(.)com",
            "a[dot]example[dot]com",
        ] {
            assert_eq!(links(text), [""; 0], "{text}");
        }
        assert_eq!(
            links("a[.]b,example.com http://a[.]b@example.com/"),
            ["=example.com", "http://a[.]b@example.com/"]
        );
    }

    #[test]
    fn once_is_enough() {
        for text in [
            "see https://example.com/?u=http://b.example/&v=www.c.example, ftp://d.example/x.y.com and www.e.example/f.com",
            "http://a.b@example.com/x http://[::1]/http://x.example ws://a.example/b.com example.com:80/x.com",
            "x[.]http://evil.com/y.com a.com/b.com//c.com git+https://u:p@a.com:1/?x.com",
        ] {
            let once = defanged(text);
            assert_eq!(links(&once), [""; 0], "{once}");
            assert_eq!(defanged(&once), once);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_and_once_is_enough(text in "([a-c.:/@()\\[\\]?&,_-]|http://|www[.]|[.]com|\\[[.]\\]|ftp://|é|例| ){0,24}") {
            let once = defanged(&text);
            proptest::prop_assert_eq!(defanged(&once), once.clone());
        }
    }
}
