//! What words touch: identifiers, dates and quantities are no names.

use super::super::super::view::View;
use super::letters::{AHEAD, is_letter, text, text_before};
use super::roles::{NameList, Roles, roles};
use super::word::NameWord;
use super::words::is;
use crate::detect::naming::{is_upper, lower};

/// Whether the lone word `start..end` is part of an identifier, a path, a call or markup.
pub(super) fn in_code(view: &View<'_>, start: usize, end: usize) -> bool {
    let behind = match view.slice(end, end + 2) {
        [b'_' | b'(' | b'[' | b'{' | b'=' | b'\\', ..] | b"::" => true,
        [b'.' | b'/', next, ..] => next.is_ascii_alphanumeric(),
        [b'-', next, ..] => next.is_ascii_digit(),
        // The body of a type: `impl Default for Parker {`.
        [b' ', b'{'] => true,
        _ => false,
    };
    let returned = view.slice(start.saturating_sub(5), start) == b") -> ";
    let front = view.slice(start.saturating_sub(2), start);
    // The tag of a mail address (RFC 5233), also where its host has not come yet: `jane+Rome@`.
    let tag =
        matches!(front, [before, b'+'] if before.is_ascii_alphanumeric()) && view.get(end) == Some(b'@');
    behind
        || returned
        || tag
        || matches!(front, [.., b'_' | b'$' | b'<' | b'&'] | b"::" | b"</" | b"--")
        || matches!(front, [letter, b'.' | b'/' | b'-'] if letter.is_ascii_alphanumeric())
}

/// Whether a month's name that is also a person's stands in a date.
pub(super) fn in_date(view: &View<'_>, word: &NameWord) -> bool {
    if !word.roles.has(NameList::Month) {
        return false;
    }
    let near = |byte: &u8| matches!(byte, b' ' | b'/' | b'-' | b'.' | b',');
    let behind = view.slice(word.end, word.end + 3).iter().find(|byte| !near(byte));
    let front = view.slice(word.start.saturating_sub(3), word.start);
    let front = front.iter().rev().find(|byte| !near(byte));
    let digit = [behind, front].into_iter().flatten().any(u8::is_ascii_digit);
    // Or among its like: `Avril, Mai, Juin`.
    let ahead = text(view, word.end, word.end + AHEAD);
    let next = ahead.trim_start_matches([' ', ',', ';', '"', '\'', '|', '/', '\t', '\n']);
    let next = next.split(|c: char| !is_letter(c)).next().unwrap_or_default();
    digit || roles(next).has(NameList::Month) || before(view, word.start).ends_with(NameList::Month)
}

/// Whether the number from `start` on stands by itself: not the end of a version, a path or another number.
pub(super) fn lone_number(view: &View<'_>, start: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| view.get(at));
    before.is_none_or(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'"' | b'\'' | b'(' | b'>' | b':' | b','))
}

/// Whether a sentence goes on in lower case behind `end`.
pub(super) fn goes_on(view: &View<'_>, end: usize) -> bool {
    matches!(view.slice(end, end + 2), [b' ', b'a'..=b'z'])
}

/// Whether nothing but blanks stands behind the word that ends at `end` in its line, as far as is looked.
pub(super) fn ends_line(view: &View<'_>, end: usize) -> bool {
    let behind = view.slice(end, end + AHEAD);
    is_line_end(behind, behind.len() < AHEAD)
}

/// Whether a line ends behind blanks; where there are no others, whether this is the `last` of the text.
pub(super) fn is_line_end(behind: &[u8], last: bool) -> bool {
    match behind.iter().find(|&&byte| byte != b' ' && byte != b'\t') {
        Some(byte) => matches!(byte, b'\n' | b'\r'),
        None => last,
    }
}

/// What items, cells, headings and comments begin behind, beside what sentences do.
const ITEM: [char; 11] = ['#', '|', ')', ']', '/', '+', '`', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2192}'];

/// Bytes before a sequence that are looked at.
const BEFORE: usize = 24;

/// What stands before a sequence.
pub(super) struct Preceding<'t> {
    /// The last two words, the last first.
    pub(super) words: [&'t str; 2],
    /// What those have a part in.
    pub(super) roles: [Roles; 2],
    /// Whether a sentence begins with the sequence.
    pub(super) sentence: bool,
    /// Whether a sentence, an item, a cell, a heading or a comment does.
    pub(super) item: bool,
    /// Whether a word that may be a town's and a comma stand before it, as in `Austin, TX`.
    pub(super) comma: bool,
    /// Whether nothing but a space stands between it and the word before.
    pub(super) near: bool,
    /// Whose name follows, where a label right before it says that one does.
    pub(super) named: NameLabel,
    /// Whether a label right before it says that a town or a country follows.
    pub(super) place: bool,
}

/// Whose name follows behind the label `name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameLabel {
    /// There is no such label, or it says that somebody's does: `customer_name`.
    Other,
    /// Somebody's, or a thing's.
    Any,
    /// A thing's: `product_name`.
    Thing,
}

/// Who has a name, beside those whose names stand behind their words in prose.
const PERSONS: &[&str] = &[
    "attendee",
    "author",
    "child",
    "driver",
    "friend",
    "guest",
    "manager",
    "member",
    "owner",
    "parent",
    "participant",
    "people",
    "person",
    "player",
    "student",
    "teacher",
];

/// What has a name and is nobody.
const NAMED_THINGS: &[&str] = &[
    "app",
    "application",
    "browser",
    "color",
    "colour",
    "font",
    "framework",
    "language",
    "library",
    "metric",
    "package",
    "plugin",
    "product",
    "service",
    "span",
    "tool",
];

/// Labels of towns and countries.
const PLACE_LABELS: &[&str] = &[
    "birthplace",
    "cidade",
    "città",
    "city",
    "ciudad",
    "commune",
    "comune",
    "country",
    "geburtsort",
    "gemeente",
    "gemeinde",
    "heimatort",
    "hometown",
    "kommune",
    "land",
    "localidad",
    "locality",
    "località",
    "miasto",
    "miejscowość",
    "municipality",
    "municipio",
    "município",
    "město",
    "ort",
    "paese",
    "pays",
    "país",
    "plaats",
    "stad",
    "stadt",
    "town",
    "village",
    "ville",
    "wohnort",
    "woonplaats",
];

/// The segment of X12 that has a town, and what stands behind its name.
const TOWN_SEGMENT: (&str, &str) = ("N4", "*");

/// Whether a sign of assignment stands behind a label.
fn is_assigned(behind: &str) -> bool {
    behind.trim_start_matches(['"', '\'', '\\', '*', ' ']).starts_with([':', '=', '>'])
}

/// Whether a label says that a town or a country follows, by its last word: `Ort:`, `"billingCity": "`, `<city>`. `rest`
/// and `behind` stand around the label.
fn is_place_label(rest: &str, label: &str, behind: &str) -> bool {
    let (segment, sign) = TOWN_SEGMENT;
    if !is_assigned(behind) || rest.ends_with("</") {
        return label == segment && behind.starts_with(sign);
    }
    let (mut from, mut small) = (0, false);
    for (at, c) in label.char_indices() {
        if small && is_upper(c) {
            from = at;
        }
        small = c.is_lowercase();
    }
    is(&lower(label.get(from..).unwrap_or_default()), PLACE_LABELS)
}

/// Whose name follows behind two words, the last first, and what stands behind those.
fn name_label([last, whose]: [&str; 2], behind: &str) -> NameLabel {
    if !is_assigned(behind) || !last.eq_ignore_ascii_case("name") {
        return NameLabel::Other;
    }
    let whose = whose.to_ascii_lowercase();
    let one = whose.strip_suffix('s').unwrap_or(&whose);
    let is_any = |of: &[&str]| is(&whose, of) || is(one, of);
    let persons = [NameList::NamePart, NameList::NamedPerson, NameList::ToPerson, NameList::WhichName];
    let part = |word: &str| persons.iter().any(|&list| roles(word).has(list));
    match (is_any(NAMED_THINGS), is_any(PERSONS) || part(&whose) || part(one)) {
        (true, _) => NameLabel::Thing,
        (false, true) => NameLabel::Other,
        (false, false) => NameLabel::Any,
    }
}

pub(super) fn before<'t>(view: &View<'t>, start: usize) -> Preceding<'t> {
    let text = text_before(view, start, BEFORE);
    let trimmed = text.trim_end_matches(opens);
    let sentence = trimmed.is_empty() || trimmed.ends_with(['.', '!', '?', '\n', ':', ';', '>', '-', '*']);
    let item = sentence || trimmed.ends_with(ITEM);
    let town = |rest: &str| {
        let word = last_word(rest).0;
        rest.ends_with(char::is_lowercase) && word.chars().nth(1).is_some_and(char::is_lowercase)
    };
    let comma = text.strip_suffix(", ").is_some_and(town);
    let near = text.strip_suffix(' ').is_some_and(|rest| rest.ends_with(is_letter));
    let (last, rest) = last_word(trimmed);
    let words = [last, last_word(rest).0];
    let behind = trimmed.get(rest.len() + last.len()..).unwrap_or_default();
    let (named, place) = (name_label(words, behind), is_place_label(rest, last, behind));
    Preceding { words, roles: words.map(roles), sentence, item, comma, near, named, place }
}

/// Whether a sign, or a space, opens what follows it: quotes of all languages, and brackets.
const fn opens(c: char) -> bool {
    matches!(
        c,
        ' ' | '"' | '\'' | '(' | '\u{ab}' | '\u{bb}' | '\u{2018}'
            ..='\u{201f}' | '\u{2039}' | '\u{203a}' | '\u{300c}' | '\u{300e}'
    )
}

/// The last word of a text, empty where there is none, and what stands before it.
fn last_word(text: &str) -> (&str, &str) {
    let within = |letter: char| is_letter(letter) || letter.is_numeric() || letter == '\'';
    let text = text.trim_end_matches(|letter| !within(letter));
    let rest = text.trim_end_matches(within);
    (text.get(rest.len()..).unwrap_or_default(), rest)
}

impl Preceding<'_> {
    /// Whether the last word has a part in this.
    pub(super) fn ends_with(&self, role: NameList) -> bool {
        self.roles.first().is_some_and(|roles| roles.has(role))
    }

    /// Whether one of the words has.
    pub(super) fn has(&self, role: NameList) -> bool {
        self.roles.iter().any(|roles| roles.has(role))
    }

    /// Whether it says that a name follows which is a person's.
    pub(super) fn tells_person(&self) -> bool {
        self.named == NameLabel::Other && self.has(NameList::ToPersonSurely)
    }

    /// Whether these two words stand there, in any case.
    pub(super) fn say(&self, words: [&str; 2]) -> bool {
        words.iter().rev().zip(self.words).all(|(one, word)| word.eq_ignore_ascii_case(one))
    }

    /// Whether a title in lower case stands there, perhaps with a particle behind it.
    pub(super) fn is_titled(&self) -> bool {
        let small = |n: usize, role| {
            let word = self.words.get(n).copied().unwrap_or_default();
            self.roles.get(n).is_some_and(|roles| roles.has(role))
                && !word.contains(|c: char| c.is_ascii_uppercase())
        };
        small(usize::from(small(0, NameList::Particle)), NameList::LowerTitle)
    }
}
