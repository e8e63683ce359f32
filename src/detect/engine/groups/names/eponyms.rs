//! Names that are of things: eponyms of science and medicine, units, products, companies. They are told by the thing behind
//! them, by a version, and by their like beside them.

use super::super::super::view::View;
use super::letters::{AHEAD, is_letter, text};
use super::lexicon::look_up_all;
use super::roles::{NameList, roles};
use super::surroundings::Preceding;
use super::things::{FIRMS, TYPEFACES};
use super::word::NameWord;

/// Whether words together are called as no person is: a company of the list, or a name twice with `&` between.
pub(super) fn is_firm(words: &[NameWord]) -> bool {
    match words {
        [_, _] => {}
        [one, joint, other] if joint.lower == super::word::JOINT => {
            if one.lower == other.lower {
                return true;
            }
        }
        _ => return false,
    }
    let Some(first) = words.first().filter(|word| word.roles.has(NameList::Firm)) else { return false };
    let first = first.lower.as_str();
    let from = FIRMS.partition_point(|firm| firm.split(' ').next() < Some(first));
    let alike = FIRMS.iter().skip(from).take_while(|firm| firm.split(' ').next() == Some(first));
    let same = |firm: &&str| firm.split(' ').eq(words.iter().map(|word| word.lower.as_str()));
    alike.into_iter().any(same)
}

/// Whether words are the name of a model, or of what is made of it.
pub(super) fn is_model(words: &[NameWord], before: &Preceding<'_>) -> bool {
    let named = |word: &NameWord| word.roles.has(NameList::Model) || word.roles.has(NameList::Namesake);
    let Some(at) = words.iter().take(2).position(named) else { return false };
    let (front, rest) = words.split_at(at);
    let Some((word, behind)) = rest.split_first() else { return false };
    if words.len() > 1 && look_up_all(words.iter().map(|word| word.lower.as_str())).is_place() {
        return false;
    }
    let made = match front.last() {
        Some(word) => word.roles.has(NameList::Maker),
        None => before.has(NameList::Maker),
    };
    let next = behind.first();
    let of_kind =
        next.is_some_and(|next| next.roles.has(NameList::ModelKind) || next.roles.has(NameList::Model));
    if made || of_kind || !word.roles.has(NameList::Model) {
        return made || of_kind;
    }
    match (front.last(), next) {
        (_, Some(surname)) if !surname.classes.is_ordinary() => false,
        (Some(first), _) => !first.classes.is_given() && first.lower.chars().nth(1).is_some(),
        (None, _) => !before.ends_with(NameList::OfSomebody) && !before.say(["name", "is"]),
    }
}

/// Whether a name is that of a thing: `Barrett's oesophagus`, `Gray code`, `Jackson 2.16.1`, `Ruby on Rails`.
pub(super) fn is_thing(view: &View<'_>, words: &[NameWord], before: &Preceding<'_>) -> bool {
    if is_typeface(view, words, before) {
        return true;
    }
    let (word, noun) = match words {
        [word] => (word, None),
        [word, noun] => (word, Some(noun)),
        _ => return false,
    };
    let eponym = word.roles.has(NameList::Eponym);
    if let Some(noun) = noun {
        return eponym && noun.roles.has(NameList::Thing);
    }
    let ahead = text(view, word.end, word.end + AHEAD);
    let possessive = ahead.strip_prefix("'s ").or_else(|| ahead.strip_prefix("\u{2019}s "));
    let rest = possessive.or_else(|| ahead.strip_prefix(' '));
    let next = rest.map_or("", |rest| rest.split(|c: char| !is_letter(c)).next().unwrap_or_default());
    if !next.is_empty() {
        let next = roles(next);
        if next.has(NameList::SureThing) && possessive.is_none() || eponym && next.has(NameList::Thing) {
            return true;
        }
    }
    let like = || before.has(NameList::Technical) || technical_behind(ahead);
    eponym && (rest.is_some_and(is_version) || like())
}

/// What lists of typefaces end with (CSS Fonts Level 4, section 2.1.3), of what is no other word.
const FAMILIES: [&str; 4] = ["monospace", "sans-serif", "serif", "system-ui"];

/// Whether words are what a typeface is called: `Gill Sans`, `font-family: Georgia`, `Verdana, Georgia, serif`.
fn is_typeface(view: &View<'_>, words: &[NameWord], before: &Preceding<'_>) -> bool {
    // `Gill Sans`, `Franklin Gothic Medium`.
    if words.iter().skip(1).any(|word| TYPEFACES.contains(&word.lower.as_str())) {
        return true;
    }
    let Some((first, last)) = words.first().zip(words.last()) else { return false };
    let member = || before.words.first().is_some_and(|word| word.eq_ignore_ascii_case("fontfamily"));
    let quote = |c: char| matches!(c, '"' | '\'' | '\\' | ' ');
    let ahead = text(view, last.end, last.end + AHEAD).trim_start_matches(quote);
    let next = ahead.strip_prefix(',').map_or("", |next| next.trim_start_matches(quote));
    let family = |name: &str| next.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_letter));
    let times = || view.slice(first.start.saturating_sub(TIMES.len()), first.start) == TIMES;
    before.say(["font", "family"])
        || member()
        || FAMILIES.into_iter().any(family)
        || first.lower == "roman" && times()
}

/// Stands before the last word of a typeface.
const TIMES: &[u8] = b"Times New ";

/// Whether a number with a point, or two, begins a text, and no time or date: `2.16.1`, `2.440`.
fn is_version(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let parts: Vec<&str> = text.get(..end).unwrap_or_default().split('.').collect();
    let numbers = |parts: &[&str]| parts.iter().all(|part| !part.is_empty());
    match parts.as_slice() {
        [first, second] if numbers(&parts) => first.len() < 4 && second.len() != 2,
        [_, _, third] if numbers(&parts) => third.len() < 3 && *third != "24",
        _ => false,
    }
}

/// Whether one of the next two words is technical: `, Kotlin`, ` on Rails`, `, Julia, Kotlin`.
fn technical_behind(ahead: &str) -> bool {
    let words = ahead.split(|c: char| !is_letter(c)).filter(|word| !word.is_empty());
    words.take(2).any(|word| roles(word).has(NameList::Technical))
}
