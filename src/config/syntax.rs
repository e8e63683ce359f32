//! Reads TOML and goes on after errors.
//!
//! The parser recovers from a bad value by itself. From a bad structure (a bracket or a `=` that isn't there) it
//! does not: what follows is swallowed or lands in another table. So the lines at fault are blanked, which keeps
//! all offsets, and the rest is read again until nothing structural is left.

use std::ops::Range;

use toml::de::{DeTable, Error};

use crate::config::diagnostics::{Diagnostic, Diagnostics};

/// Structural errors that are looked for in one file.
const ROUNDS: usize = 32;

/// How the parser's messages begin when it could not tell where a statement ends.
const STRUCTURAL: &[&str] = &[
    "unclosed",
    "missing comma",
    "missing key for",
    "missing array",
    "missing inline",
    "missing table",
    "missing assignment",
    "key with no value",
    "unexpected `=`",
    "unexpected content",
    "unexpected key",
    "invalid key-value",
    "invalid unquoted key",
    "invalid inline",
    "extra",
    "unquoted keys",
    "keys cannot",
    // Unclosed over several lines; `is_opening` finds where.
    "invalid multi-line",
];

/// How lines of a value begin that its first line, now blanked, has opened.
const REST: [char; 7] = ['"', '\'', '{', '}', '[', ']', ','];

/// Blanks what cannot be read; `text` keeps its length. What was wrong comes back, first of each line.
pub(crate) fn mend(text: &mut String, diagnostics: &mut Diagnostics) -> Vec<Diagnostic> {
    let mut wrong: Vec<Diagnostic> = Vec::new();
    let mut blanked: Vec<Range<usize>> = Vec::new();
    for round in 0.. {
        let (_, errors) = DeTable::parse_recoverable(text);
        let first = errors.iter().filter(|e| structural(e)).min_by_key(|e| at(e));
        let Some(error) = first.filter(|_| round < ROUNDS) else {
            for error in &errors {
                let line = line_of(text, at(error));
                diagnostics.broke(line.clone(), text.get(line).unwrap_or_default());
                wrong.push(mistake(error));
            }
            break;
        };
        let SyntaxFault { lines, mistake } = fault(text, error);
        // What begins no statement and stands right below what is blanked is the rest of that.
        let begins =
            text.get(lines.clone()).is_some_and(|t| is_header(t.trim()) || !t.trim_start().starts_with(REST));
        let below = |b: &Range<usize>| text.get(b.end..lines.start).is_some_and(|t| t.trim().is_empty());
        let rest = !begins && blanked.iter().any(below);
        if !rest {
            wrong.push(mistake);
        }
        diagnostics.broke(lines.clone(), text.get(lines.clone()).unwrap_or_default());
        let blank: String = text.get(lines.clone()).unwrap_or_default().chars().map(blank).collect();
        text.replace_range(lines.clone(), &blank);
        blanked.push(lines);
    }
    wrong.sort_by_key(|m| m.at);
    let mut seen = Vec::new();
    wrong.retain(|m| {
        let line = line_of(text, m.at).start;
        let new = !seen.contains(&line);
        seen.push(line);
        new
    });
    wrong
}

/// The table of a mended text. `None`: there was more to mend than was mended.
pub(crate) fn table(mended: &str) -> Option<DeTable<'_>> {
    let (table, errors) = DeTable::parse_recoverable(mended);
    (!errors.iter().any(structural)).then(|| table.into_inner())
}

fn structural(error: &Error) -> bool {
    STRUCTURAL.iter().any(|start| error.message().starts_with(start))
}

fn at(error: &Error) -> usize {
    error.span().map_or(0, |span| span.start)
}

/// How some of the parser's messages begin, and what to say instead.
const INSTEAD: &[(&str, &str)] = &[
    ("duplicate key", "this is said already"),
    ("string values must be quoted", "text must stand in quotes"),
    ("invalid float", "not a value of TOML; text must stand in quotes"),
    ("key with no value", "a key without a value, expected `=`"),
];

fn mistake(error: &Error) -> Diagnostic {
    let message = error.message();
    let instead = INSTEAD.iter().find(|(start, _)| message.starts_with(start));
    let message = instead.map_or(message, |(_, instead)| instead).to_owned();
    Diagnostic { at: at(error), message, hint: None }
}

/// Keeps offsets: a character gives way to as many spaces as it has bytes.
fn blank(c: char) -> &'static str {
    match (c, c.len_utf8()) {
        ('\n', _) => "\n",
        (_, 1) => " ",
        (_, 2) => "  ",
        (_, 3) => "   ",
        _ => "    ",
    }
}

/// The line around a byte offset, with its line break.
fn line_of(text: &str, at: usize) -> Range<usize> {
    let at = at.min(text.len());
    let start = text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |newline| newline + 1);
    let end = text.get(at..).and_then(|t| t.find('\n')).map_or(text.len(), |newline| at + newline + 1);
    start..end
}

/// The last line with anything on it that begins at or before `at` and satisfies `is`.
fn line_up(text: &str, at: usize, is: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    let mut line = line_of(text, at);
    loop {
        let shown = text.get(line.clone())?.trim();
        if !shown.is_empty() && is(shown) {
            return Some(line);
        }
        line = line_of(text, line.start.checked_sub(1)?);
    }
}

fn is_header(line: &str) -> bool {
    let inside = line.trim_start_matches('[');
    line.starts_with('[') && inside.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Whether a value that may go on over lines begins on this line.
fn is_opening(line: &str) -> bool {
    let value = line.split_once('=').map_or("", |(_, value)| value.trim_start());
    ["[", "{", "\"\"\"", "'''"].iter().any(|open| value.starts_with(open))
}

/// A structural error: what to blank (never empty while the text isn't) and what to say.
struct SyntaxFault {
    lines: Range<usize>,
    mistake: Diagnostic,
}

/// Where an unclosed value's own line tells nothing.
const UNCLOSED: &str = "what begins here is not closed, or lacks a comma";

fn fault(text: &str, error: &Error) -> SyntaxFault {
    let mistake = mistake(error);
    let Some(own) = line_up(text, mistake.at, |_| true) else {
        return SyntaxFault { lines: 0..text.len(), mistake };
    };
    let message = error.message();
    if message.starts_with("unclosed table") || message.starts_with("unclosed array table") {
        return SyntaxFault { lines: section(text, own), mistake };
    }
    let within = ["array", "inline table", "comma", "multi-line"].iter().any(|word| message.contains(word));
    let open = line_up(text, mistake.at, is_opening).filter(|open| within && open.start < own.start);
    let Some(open) = open else { return SyntaxFault { lines: own, mistake } };
    // What stands on the own line is either the rest of the value or, swallowed by it, the next statement: then
    // the value's beginning is the place to look at.
    let swallowed = text.get(own.clone()).is_some_and(|line| is_header(line.trim()) || is_statement(line));
    let begin = text.get(open.clone()).and_then(|line| line.find(['[', '{', '"', '\''])).unwrap_or_default();
    let unclosed = || Diagnostic { at: open.start + begin, message: UNCLOSED.to_owned(), hint: None };
    SyntaxFault { lines: open.start..own.start, mistake: if swallowed { unclosed() } else { mistake } }
}

fn is_statement(line: &str) -> bool {
    let key = line.split_once('=').map_or("", |(key, _)| key.trim());
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

/// A header that cannot be read takes its entries along: they would land in the table above.
fn section(text: &str, header: Range<usize>) -> Range<usize> {
    let mut end = header.end;
    while end < text.len() {
        let line = line_of(text, end);
        if text.get(line.clone()).is_some_and(is_header) {
            break;
        }
        end = line.end;
    }
    header.start..end
}
