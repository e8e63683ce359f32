//! Which characters of a key in PEM (RFC 7468) are its own, however the lines stand there: with numbers before them, as a diff, a
//! quotation, a comment or the strings of a program has them, or all on one. What redacts and what restores both go by this.

use std::collections::HashMap;
use std::ops::Range;

/// The shortest run of characters of base 64 that is surely a line of a key: what is shorter is its last one, or stands before it.
const LINE: usize = 16;

/// The longest line of which the beginning may be passed over, in bytes.
const LONGEST: usize = 256;

/// The longest line without anything of the key, in bytes.
const STRANGE: usize = 96;

/// Where the characters of base 64 that are a key's own lie in a block, or in a piece of one: in order.
pub(super) fn own(block: &str) -> Vec<usize> {
    let Range { start, end } = body(block);
    let text = block.get(start..end).unwrap_or_default();
    own_of_body(text, end < block.len()).into_iter().map(|at| start + at).collect()
}

/// A block without what lays it out: its boundaries, and between them what is its own.
pub(super) fn without_layout(block: &str) -> String {
    let Range { start, end } = body(block);
    let own = own(block);
    let own = own.into_iter().filter_map(|at| block.as_bytes().get(at).map(|&byte| char::from(byte)));
    let [head, tail] = [block.get(..start), block.get(end..)].map(Option::unwrap_or_default);
    head.chars().chain(own).chain(tail.chars()).filter(|c| !c.is_whitespace()).collect()
}

/// What lies between the boundaries of a block (RFC 7468 section 2), of which a piece may lack either.
pub(super) fn body(block: &str) -> Range<usize> {
    let label = block.strip_prefix("-----BEGIN");
    let start =
        label.and_then(|label| Some(block.len() - label.len() + label.find("-----")? + "-----".len()));
    let start = start.unwrap_or(0);
    start..block.rfind("-----END").unwrap_or(block.len()).max(start)
}

fn own_of_body(body: &str, ended: bool) -> Vec<usize> {
    let lines: Vec<PemLine<'_>> = lines(body).collect();
    let prefixes = Prefixes::of(&lines);
    let last_long = lines.iter().rposition(PemLine::is_long);
    let added = is_added(&lines, ended);
    let mut own = Vec::with_capacity(body.len());
    for (n, line) in lines.iter().enumerate() {
        let Some((last, others)) = line.runs.split_last() else { continue };
        // What stands before the end, if the end has a line of its own.
        let before_end = ended && n > 0 && n + 1 == lines.len();
        let heading = last_long.is_some_and(|long| n < long) && !line.is_long();
        if heading || before_end && last.len() < LINE && line.is_digits(last) {
            continue;
        }
        let last = last.start + usize::from(added && line.starts_with(last, b'+'))..last.end;
        let others = others.iter().filter(|run| !prefixes.have(line, run)).cloned();
        own.extend(others.chain([last]).flatten().map(|at| line.start + at));
    }
    own
}

/// What stands before the lines of a key, which is none of its own: what several lines have.
struct Prefixes<'t> {
    /// How many lines have it, whatever its numbers are.
    prefixes: HashMap<&'t str, usize>,
    /// How many lines have a run: a folder may be as long as a line of a key.
    runs: HashMap<&'t str, usize>,
}

impl<'t> Prefixes<'t> {
    fn of(lines: &'t [PemLine<'t>]) -> Self {
        let mut all = Self { prefixes: HashMap::new(), runs: HashMap::new() };
        for line in lines.iter().filter(|line| line.runs.len() > 1) {
            *all.prefixes.entry(&line.prefix).or_default() += 1;
            for run in line.runs.iter().filter_map(|run| line.text.get(run.clone())) {
                *all.runs.entry(run).or_default() += 1;
            }
        }
        all
    }

    /// Whether this run, which is not the last of its line, is a part of one. A number alone is, too.
    fn have(&self, line: &PemLine<'_>, run: &Range<usize>) -> bool {
        let several = |count: Option<&usize>| count.is_some_and(|count| *count > 1);
        match line.text.get(run.clone()) {
            Some(text) if text.len() >= LINE => several(self.runs.get(text)),
            _ => {
                several(self.prefixes.get(line.prefix.as_str()))
                    || !line.prefix.contains(|c: char| c.is_ascii_alphabetic())
            }
        }
    }
}

/// Whether each line has the sign of a diff for what is added, which is a character of base 64 too.
fn is_added(lines: &[PemLine<'_>], ended: bool) -> bool {
    match lines.last() {
        Some(last) if ended && lines.len() > 1 => last.text.ends_with('+'),
        _ => {
            let mut long = lines.iter().filter(|line| line.is_long());
            let added = |line: &PemLine<'_>| line.runs.last().is_some_and(|run| line.starts_with(run, b'+'));
            long.next().is_some_and(added) && long.next().is_some_and(added) && long.all(added)
        }
    }
}

/// A line without its break.
struct PemLine<'t> {
    start: usize,
    text: &'t str,
    /// Runs of characters of base 64 that have a letter or digit.
    runs: Vec<Range<usize>>,
    /// What stands before the last run, whatever numbers are in it.
    prefix: String,
}

impl<'t> PemLine<'t> {
    fn of(start: usize, text: &'t str) -> Self {
        let runs: Vec<Range<usize>> = runs(text.as_bytes()).collect();
        let front = runs.last().and_then(|run| text.get(..run.start)).unwrap_or(text);
        let mut prefix = String::new();
        for c in front.trim_start().chars() {
            let c = if c.is_ascii_digit() { '0' } else { c };
            if c != '0' || !prefix.ends_with('0') {
                prefix.push(c);
            }
        }
        Self { start, text, runs, prefix }
    }

    fn is_long(&self) -> bool {
        self.runs.iter().any(|run| run.len() >= LINE)
    }

    fn is_digits(&self, run: &Range<usize>) -> bool {
        self.text.get(run.clone()).is_some_and(|run| run.bytes().all(|byte| byte.is_ascii_digit()))
    }

    fn starts_with(&self, run: &Range<usize>, sign: u8) -> bool {
        self.text.as_bytes().get(run.start) == Some(&sign)
    }
}

/// The lines of a text, of which breaks may be escaped.
fn lines(text: &str) -> impl Iterator<Item = PemLine<'_>> {
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let start = at?;
        let rest = text.get(start..)?;
        let found = line_break(rest.as_bytes());
        at = found.as_ref().map(|found| start + found.end);
        Some(PemLine::of(start, rest.get(..found.map_or(rest.len(), |found| found.start))?))
    })
}

/// The first break of a line: a character, or an escape of one, perhaps more than once.
fn line_break(text: &[u8]) -> Option<Range<usize>> {
    memchr::memchr3_iter(b'\n', b'\r', b'\\', text).find_map(|at| {
        let behind = text.get(at..)?;
        let slashes = behind.iter().take_while(|&&byte| byte == b'\\').count();
        match (slashes, behind.get(slashes)) {
            (0, _) => Some(at..at + 1),
            (_, Some(b'n' | b'r')) => Some(at..at + slashes + 1),
            _ => None,
        }
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// The runs of characters of base 64 that have a letter or digit, but for that of an escape.
fn runs(line: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let from = at + line.get(at..)?.iter().position(|&byte| is_base64(byte))?;
            let length = line.get(from..)?.iter().take_while(|&&byte| is_base64(byte)).count();
            at = from + length;
            let escaped = from.checked_sub(1).and_then(|before| line.get(before)) == Some(&b'\\');
            let run = from + usize::from(escaped)..at;
            if line.get(run.clone())?.iter().any(u8::is_ascii_alphanumeric) {
                return Some(run);
            }
        }
    })
}

/// Where a line of a key goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineStart {
    /// Behind so many bytes.
    Behind(usize),
    /// More text must be seen first.
    Wait,
}

/// How much is to be passed over at the beginning of `text`, where a line begins, so that the key `goes_on` behind it; `all` of the
/// text is there, or more may come. The last place counts at which it does: what stands before it is a number or a name, or of a
/// program, and where it is of the key nothing behind it goes on.
pub(super) fn line_start(text: &[u8], all: bool, goes_on: &dyn Fn(&[u8]) -> bool) -> LineStart {
    let window = text.get(..LONGEST).unwrap_or(text);
    let line = match line_break(window) {
        Some(found) => window.get(..found.start).unwrap_or_default(),
        None if !all && window.len() < LONGEST => return LineStart::Wait,
        None => window,
    };
    let runs: Vec<Range<usize>> = runs(line).collect();
    let end = memchr::memmem::find(line, b"-----END").map(|at| at..at + b"-----END".len());
    let signed = |run: &Range<usize>| {
        let sign = line.get(run.start) == Some(&b'+');
        [run.clone()].into_iter().chain(sign.then(|| run.start + 1..run.end))
    };
    let places = end.into_iter().chain(runs.iter().rev().flat_map(signed));
    let mut places = places.filter(|place| line.get(place.clone()).is_some_and(goes_on));
    match places.next() {
        Some(place) => LineStart::Behind(place.start),
        // What has escapes is read character by character.
        None if line.contains(&b'\\') || line.len() > STRANGE => LineStart::Behind(0),
        None => LineStart::Behind(line.len()),
    }
}

#[cfg(test)]
#[path = "pem_tests.rs"]
mod tests;
