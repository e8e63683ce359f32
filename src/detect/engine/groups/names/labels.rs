//! Labels that say that a name follows, in a form, a document's member, an element, an assignment or a row of a table:
//! `First name:`, `"lastName": "`, `<surname>`, `| First name |`. What stands there is a name though nothing else is
//! known of it.

use std::borrow::Cow;

use super::super::super::mask::char_at;
use super::super::super::view::View;
use super::correspondence::{FAMILIAR, SHORT_SIGN_OFFS, SIGN_OFFS};
use super::letters::{AHEAD, is_any, is_letter, text, text_before};
use super::lexicon::look_up_name;
use super::roles::{NameList, roles};
use super::spelling::WordCase;
use super::surroundings::{ends_line, in_code, is_line_end};
use super::word::{NameLook, NameWord, Tagged};
use super::words::is;
use crate::detect::naming::{self, is_upper};
use crate::detect::rules::NameTag;

/// How much is read before a value, in bytes, and of a name behind a label.
const BEFORE: usize = 40;
const NAME: usize = 48;

/// The most words of a name behind a label, without particles and initials.
const WORDS: usize = 3;

/// What a label says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Labelled {
    /// A part of a person's name follows: `First name`.
    Part,
    /// A person follows, or something else that has a name: `Name`, `Patient`.
    Whole,
}

/// What parts a label from its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parting {
    /// A sign of assignment.
    Sign,
    /// The end of an element's tag.
    Tag,
    /// The edge of a table's cell.
    Cell,
    /// A dash between blanks.
    Dash,
}

/// What the label says that stands right before `start`, if there is one.
pub(super) fn label_before(view: &View<'_>, start: usize) -> Option<Labelled> {
    label(view, start).map(|(says, _)| says)
}

/// The same, and what parts it from what stands at `start`.
fn label(view: &View<'_>, start: usize) -> Option<(Labelled, Parting)> {
    // Most words stand behind a letter and a space.
    let near = view.slice(start.saturating_sub(2), start);
    let sign = |byte: &u8| matches!(byte, b':' | b'=' | b'>' | b'"' | b'\'' | b'\\' | b'[' | b'|');
    let spaces = near.iter().all(|byte| *byte == b' ');
    if !(spaces || near.iter().any(sign) || near.last() == Some(&b'\n') || dash_before(view, start)) {
        return None;
    }
    let before = text_before(view, start, BEFORE);
    let quote = |c: char| matches!(c, '"' | '\'' | '\\' | '\u{201c}' | '\u{201e}');
    let space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '[');
    let (named, parting) = parted(before.trim_end_matches(|c| quote(c) || space(c)))?;
    // Of `user['first_name'] = 'Jane'`, too.
    let named = named.trim_end_matches(|c| quote(c) || matches!(c, ' ' | '*' | ']'));
    let says = says(view, start, named)?;
    let holds = match parting {
        Parting::Sign => true,
        Parting::Tag => named.contains('<'),
        // What stands in a row, or before a dash, is a label at a line's beginning only.
        Parting::Cell | Parting::Dash => says == Labelled::Part && begins_line(named, before.len() == start),
    };
    holds.then_some((says, parting))
}

/// Whether a dash stands between blanks before `start`.
fn dash_before(view: &View<'_>, start: usize) -> bool {
    let near = view.slice(start.saturating_sub(5), start);
    near.ends_with(b" - ")
        || near.ends_with(" \u{2013} ".as_bytes())
        || near.ends_with(" \u{2014} ".as_bytes())
}

/// What stands before what parts a label from its value.
fn parted(front: &str) -> Option<(&str, Parting)> {
    if let Some(named) = front.strip_suffix("=>").or_else(|| front.strip_suffix([':', '='])) {
        return Some((named, Parting::Sign));
    }
    let last = front.chars().next_back()?;
    let parting = match last {
        '>' => Parting::Tag,
        '|' => Parting::Cell,
        '-' | '\u{2013}' | '\u{2014}' => Parting::Dash,
        _ => return None,
    };
    Some((front.strip_suffix(last)?, parting))
}

/// Whether a label begins its line, but for marks of items and cells. `whole`: nothing stands before the text.
fn begins_line(named: &str, whole: bool) -> bool {
    let line = named.rfind('\n').map(|at| at + 1);
    let label = named.get(line.unwrap_or(0)..).unwrap_or_default();
    let label = label.trim_start_matches(|c: char| !is_letter(c));
    let within = |c: char| is_letter(c) || is_mark(c) || matches!(c, ' ' | '_' | '-' | '\'');
    (whole || line.is_some()) && label.chars().all(within)
}

/// What a label says whose last words are those of `named`, before a value at `start`.
fn says(view: &View<'_>, start: usize, named: &str) -> Option<Labelled> {
    let mut words = LabelWords(named).map(lower);
    let last = words.next()?;
    if !is_any(&last, OF_OTHERS) {
        return of_words(&last, "");
    }
    let [second, third] = [words.next(), words.next()].map(Option::unwrap_or_default);
    // FHIR, where the names of a name are members without a telling name of their own.
    let behind = || text(view, start, start + AHEAD).contains("\"given");
    let open = || !view.complete && start + AHEAD >= view.len();
    let value = is_any(&last, &["value"]);
    let element = value && named.contains('<') && is_any(&second, &["family", "given"]);
    let array = is_any(&last, &["given"]) && view.slice(start.saturating_sub(3), start).contains(&b'[');
    if element || array || is_any(&last, &["family"]) && (open() || behind()) {
        return Some(Labelled::Part);
    }
    if value { of_words(&second, &third) } else { of_words(&last, &second) }
}

/// Last words of labels that say something with the words before them.
const OF_OTHERS: &[&str] = &["value", "name", "names", "nom", "nome", "nombre", "family", "given"];

/// Words for a name that are nobody's, as in labels that are translated: `last_name: Nom de famille`.
const WORDS_FOR_NAME: &[&str] = &["naam", "namn", "navn", "nom", "nombre", "nome"];

/// What the last words of a label say, in lower case but for letters of ASCII.
fn of_words(last: &str, second: &str) -> Option<Labelled> {
    let role = roles(last);
    let whose = |word: &str| roles(word).has(NameList::NamePart) || roles(word).has(NameList::NamedPerson);
    // `first_name`, `family.name`, `patient name`; and the `family` of a `name`.
    let part = role.has(NameList::NamePart)
        || is_any(last, &["name", "names", "nom"]) && roles(second).has(NameList::WhichName)
        || is_any(last, &["family", "given"]) && is_any(second, &["name", "names"]);
    let whole = role.has(NameList::NamedPerson) || is_any(last, &["name", "nome", "nombre"]) && whose(second);
    match (part, whole) {
        (true, _) => Some(Labelled::Part),
        (false, true) => Some(Labelled::Whole),
        (false, false) => None,
    }
}

/// A word in lower case but for letters of ASCII, which no comparison here distinguishes.
fn lower(word: &str) -> Cow<'_, str> {
    if word.is_ascii() { Cow::Borrowed(word) } else { Cow::Owned(naming::lower(word)) }
}

/// The words of a label, from the last on.
struct LabelWords<'t>(&'t str);

impl<'t> Iterator for LabelWords<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let inner = |c: char| is_letter(c) || is_mark(c) || c == '\'';
        let apart = |c: char| matches!(c, '_' | '-' | '.' | ' ' | '"' | '=') || c.is_ascii_digit();
        let rest = self.0.trim_end_matches(apart);
        let run = rest.trim_end_matches(inner).len();
        let letters = rest.get(run..).filter(|letters| !letters.is_empty())?;
        // In `firstName` a word begins with the last capital behind a small letter.
        let mut before = ' ';
        let mut from = 0;
        for (at, c) in letters.char_indices() {
            if is_upper(c) && before.is_lowercase() {
                from = at;
            }
            before = c;
        }
        self.0 = rest.get(..run + from).unwrap_or_default();
        // A quote may open it: `'first_name'`.
        letters.get(from..).map(|word| word.trim_start_matches('\''))
    }
}

/// Marks that letters of some scripts cannot be without.
fn is_mark(c: char) -> bool {
    naming::is_mark(c)
}

/// The name that begins a sequence behind a label.
pub(super) fn labelled(view: &View<'_>, words: &[NameWord]) -> Option<Tagged> {
    let first = words.first()?;
    let (label, parting) = label(view, first.start)?;
    let mut full = 0;
    let named = words.iter().take_while(|word| {
        full += usize::from(!word.particle && word.lower.chars().nth(1).is_some());
        let known = word.classes.is_person() || word.particle && word.lower != super::word::JOINT;
        let other = word.classes.is_common()
            || word.roles.has(NameList::Placeholder)
            || word.roles.has(NameList::NamePart)
            || word.roles.has(NameList::Company);
        let mixed = matches!(word.spelling, WordCase::Mixed | WordCase::Coded);
        full <= WORDS && !is_any(&word.lower, WORDS_FOR_NAME) && (known || !(other || mixed))
    });
    let mut named: Vec<&NameWord> = named.collect();
    // What a colon stands behind, or `name`, is a label of its own.
    while let Some(last) = named.last() {
        let behind = view.slice(last.end, last.end + 5);
        if !last.particle && !behind.starts_with(b":") && !behind.eq_ignore_ascii_case(b" name") {
            break;
        }
        named.pop();
    }
    let last = named.last()?;
    let placeholder = named.iter().any(|word| word.roles.has(NameList::Placeholder));
    let titled = first.classes.is_title() && !first.classes.is_person();
    // In JSON within JSON the quote behind it is escaped.
    let code = view.get(last.end) != Some(b'\\') && in_code(view, last.end, last.end);
    let translated = !first.classes.is_person() && is_before_label(view, last.end);
    if placeholder || titled || code || translated || !closes(view, last.end, parting) {
        return None;
    }
    let capitals = named.iter().all(|word| word.spelling == WordCase::Capitals || word.particle);
    let others = || words.len() > named.len() || named.iter().any(|word| word.classes.is_place());
    // `Name: GRACE PERIOD`.
    let ordinary = || named.iter().any(|word| word.classes.is_ordinary() && !word.classes.is_person());
    let whole = capitals && named.len() > 1 && !others() && !ordinary();
    let told = label == Labelled::Part || whole;
    told.then_some(Tagged { tag: NameTag::Person, start: first.start, end: last.end, score: 0.75 })
}

/// Whether a value goes on with a word for a name behind `end`, and ends there: `Votre prénom`.
fn is_before_label(view: &View<'_>, end: usize) -> bool {
    let behind = text(view, end, end + AHEAD);
    let Some(rest) = behind.strip_prefix(' ') else { return false };
    let word = rest.split(|c: char| !is_letter(c) && !is_mark(c)).next().unwrap_or_default();
    let next = lower(word);
    let closed = rest.get(word.len()..).unwrap_or_default();
    let closed = closed.is_empty() || closed.starts_with(['"', '\'', '\n', '\r', '<', '*']);
    closed && (roles(&next).has(NameList::NamePart) || is_any(&next, WORDS_FOR_NAME))
}

/// Whether what ends at `end` is the whole value of its label: behind a dash up to the line's end or a comma, in a table up
/// to the end of the row.
fn closes(view: &View<'_>, end: usize, parting: Parting) -> bool {
    match parting {
        Parting::Sign | Parting::Tag => true,
        Parting::Dash => ends_line(view, end) || matches!(view.get(end), Some(b',' | b';')),
        Parting::Cell => {
            let behind = view.slice(end, end + AHEAD);
            let blanks = behind.iter().take_while(|&&byte| byte == b' ').count();
            let cell = behind.get(blanks..).and_then(|rest| rest.strip_prefix(b"|"));
            cell.is_some_and(|rest| is_line_end(rest, behind.len() < AHEAD) && !is_ruled(rest))
        }
    }
}

/// Whether a row of dashes stands below a row that ends here, as it does below a table's head.
fn is_ruled(behind: &[u8]) -> bool {
    let gap = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'|');
    behind.iter().find(|&&byte| !gap(byte)).is_some_and(|&byte| matches!(byte, b'-' | b':'))
}

/// Whether a letter ends, or begins, with a word and a comma, so that the name behind it is no given name.
fn is_salutation(word: &str) -> bool {
    [SIGN_OFFS, SHORT_SIGN_OFFS, FAMILIAR].iter().any(|list| is(word, list))
}

/// Where a name ends whose surname stands first, at the beginning of a line or of a part of a list: `Kettler, Wolfram`.
pub(super) fn surname_first(view: &View<'_>, word: &NameWord) -> Option<usize> {
    let behind = text(view, word.end, word.end + AHEAD).strip_prefix(", ")?;
    let front = view.slice(word.start.saturating_sub(2), word.start);
    let opened = matches!(
        front,
        [] | [.., b'\n' | b'"' | b'\''] | [b'|', b' '] | [b';' | b':' | b'>' | b']', b' '] | [b' ', b' ']
    );
    let place = word.classes.is_place() && !word.classes.is_surname();
    let other = word.classes.is_ordinary() || word.classes.is_function() || word.classes.is_title() || place;
    let greeting = is_salutation(&word.lower) || word.roles.has(NameList::Month);
    if !opened || other || greeting || word.spelling != WordCase::Name || word.roles.has(NameList::Form) {
        return None;
    }
    let length = behind.find(|c: char| !is_letter(c) && c != '-').unwrap_or(behind.len());
    let (given, rest) = behind.split_at(length);
    let classes = look_up_name(&naming::lower(given));
    let known = classes.is_given() && !classes.is_common() && !classes.is_place();
    let closed = rest.is_empty() && view.complete
        || rest.starts_with(['\n', ';', '"', '\'', '<', '\r'])
        || rest.starts_with(" <")
        || rest.starts_with(" |")
        || rest.starts_with(" (");
    (known && closed && WordCase::of(given) == WordCase::Name).then_some(word.end + ", ".len() + length)
}

/// Whether a sign, or the end of a line, stands before `at`, as before what has a label.
pub(super) fn may_begin(view: &View<'_>, at: usize) -> bool {
    let sign = |byte: u8| matches!(byte, b':' | b'=' | b'>' | b'"' | b'\'' | b'\n' | b'[');
    let space = view.before(at, 1) == Some(b' ');
    view.before(at, 1 + usize::from(space)).is_some_and(sign)
}

/// Letters from here on may be of a script without capitals.
const CASELESS: char = '\u{590}';

/// Whether a letter is of a script that has no capitals.
pub(super) fn is_caseless(view: &View<'_>, at: usize) -> bool {
    char_at(view.text, at)
        .is_some_and(|c| c >= CASELESS && c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase())
}

/// The name at `start` in a script without capitals, behind a label that says that it is one.
pub(super) fn caseless(view: &View<'_>, start: usize) -> NameLook {
    if label_before(view, start) != Some(Labelled::Part) {
        return NameLook::Nobody;
    }
    if start + NAME >= view.len() && !view.complete {
        return NameLook::NeedMore;
    }
    let ahead = text(view, start, start + NAME);
    let (mut end, mut words, mut before) = (0, 1, ' ');
    for (at, c) in ahead.char_indices() {
        let letter = !c.is_ascii() && (c.is_alphabetic() || is_mark(c) || c == '\u{b7}');
        match c {
            _ if letter => end = at + c.len_utf8(),
            ' ' if before != ' ' && words < WORDS => words += 1,
            _ => break,
        }
        before = c;
    }
    let name = ahead.get(..end).unwrap_or_default();
    if name.chars().nth(1).is_none() || name.split(' ').any(|word| roles(word).has(NameList::Placeholder)) {
        return NameLook::Nobody;
    }
    NameLook::Name(Tagged { tag: NameTag::Person, start, end: start + end, score: 0.75 })
}
