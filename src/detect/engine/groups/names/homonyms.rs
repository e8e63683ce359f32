//! Given names that are words of English, too, and mostly so where sentences, items and headings begin: `Mark each task`,
//! `Max 100 characters`, `Grace period`.

use super::super::super::view::View;
use super::letters::{AHEAD, is_any, is_letter, text};
use super::lexicon::look_up;
use super::roles::{NameList, roles};
use super::surroundings::{NameLabel, Preceding};
use super::word::NameWord;

/// Stand behind what somebody has done: `Mark completed the form`, and no `Mark completed tasks`.
const OBJECTS: &[&str] = &[
    "a", "an", "and", "at", "for", "from", "her", "him", "his", "in", "it", "me", "my", "on", "our", "that",
    "the", "their", "them", "this", "to", "us", "with",
];

/// Stand behind `and` where somebody's name stands before it: `Grace and her team`.
const OWNERS: &[&str] = &["her", "his", "i", "my", "our", "the", "their"];

/// Those that programs call members.
const MEMBERS: [&str; 3] = ["max", "sid", "val"];

/// Stand behind whose number or address something is, in a list of those: `Grace home`.
const WHERE: &[&str] = &["home", "mobile", "office", "phone", "private", "work"];

/// Stand before things.
const DETERMINERS: &[&str] = &["a", "an", "any", "each", "every", "no", "that", "the", "this", "your"];

/// Whether a sequence is the word, or begins with it, and no name.
pub(super) fn is_word(view: &View<'_>, words: &[NameWord], before: &Preceding<'_>) -> bool {
    let Some((word, more)) = words.split_first() else { return false };
    // Of `name:` alone nobody knows whose it is.
    let of_somebody = || before.named != NameLabel::Any && before.ends_with(NameList::OfSomebody);
    if !word.roles.has(NameList::Homonym) || before.tells_person() || of_somebody() {
        return false;
    }
    if !more.is_empty() {
        // `Grace Period`, `Max Tokens`; behind a label they may be somebody's.
        return before.named != NameLabel::Any
            && more.iter().all(|word| word.classes.is_ordinary() && !word.classes.is_person());
    }
    let told = before.ends_with(NameList::ToPerson);
    let ahead = text(view, word.end, word.end + AHEAD);
    // `"Max": 0`, a member's name; those of a document are read each by itself.
    let member = || ahead.starts_with("\":") || ahead.starts_with("\" :") || is_whole_text(view, word);
    if MEMBERS.contains(&word.lower.as_str()) && member() {
        return true;
    }
    let Some(rest) = ahead.strip_prefix(' ') else {
        return beside_its_like(word, before, ahead);
    };
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        return !told && counts(rest);
    }
    if rest.starts_with('`') {
        return before.item;
    }
    let mut behind = rest.split(' ').map(|word| word.trim_end_matches(|c: char| !is_letter(c)));
    let next = behind.next().unwrap_or_default();
    if !next.starts_with(|c: char| c.is_ascii_lowercase()) {
        return beside_its_like(word, before, ahead);
    }
    let known = look_up(next);
    // `Grace king`, as people write in a hurry.
    if before.named != NameLabel::Other && (is_any(next, WHERE) || known.is_person()) {
        return false;
    }
    let determined = || before.words.first().is_some_and(|word| is_any(word, DETERMINERS));
    // Words of other languages may say what somebody does.
    let english = known.is_ordinary() || next.ends_with("ed");
    let alone = before.item || before.named == NameLabel::Any;
    english && (alone || determined()) && !acts(next, behind.next().unwrap_or_default())
}

/// Whether a word is all of its text.
fn is_whole_text(view: &View<'_>, word: &NameWord) -> bool {
    view.base == 0 && word.start == 0 && view.complete && word.end == view.len()
}

/// Whether a number begins a text that is of what the next word says, and not of a telephone or a date: `100 characters`, `5 MB`.
fn counts(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let Some(unit) = rest.strip_prefix(' ') else {
        let behind = rest.strip_prefix('.').unwrap_or(rest);
        return behind.is_empty()
            || rest.starts_with(['%', ')', '\n'])
            || behind.starts_with([' ', '\n', '"']);
    };
    // `Max 3 `*``: of what is quoted.
    if unit.starts_with('`') {
        return true;
    }
    let letters = unit.split(|c: char| !is_letter(c)).next().unwrap_or_default();
    let short = letters.len() <= 3 && letters.bytes().all(|byte| byte.is_ascii_uppercase());
    !letters.is_empty() && (short || letters.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Whether the words behind a name are what somebody does.
fn acts(next: &str, then: &str) -> bool {
    match next {
        "and" | "or" => then.starts_with(char::is_uppercase) || is_any(then, OWNERS),
        _ => roles(next).has(NameList::Act) || next.ends_with("ed") && is_any(then, OBJECTS),
    }
}

/// Whether a limit stands beside the other, or before what it limits to: `Min, Max`, `| Max | Min |`, `Max # of`, `Max: 10`.
fn beside_its_like(word: &NameWord, before: &Preceding<'_>, ahead: &str) -> bool {
    let min = |word: &str| word.eq_ignore_ascii_case("min");
    let mut behind = ahead.split(|c: char| !is_letter(c)).filter(|word| !word.is_empty());
    let limits = || {
        let behind = ahead.trim_start_matches([':', '=', ' ']);
        behind.starts_with('#')
            || behind.len() < ahead.len() && behind.starts_with(|c: char| c.is_ascii_digit())
    };
    word.lower == "max"
        && (limits() || before.words.first().is_some_and(|word| min(word)) || behind.next().is_some_and(min))
}
