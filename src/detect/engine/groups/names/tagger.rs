//! From a sequence of capitalised words to names. A pure function of the words, of what the lexicon knows of them,
//! and of a little text before.

use super::super::super::view::View;
use super::companies::company_end;
use super::correspondence::{GREETED, HONORIFICS, SENTENCE_WORDS};
use super::eponyms::{is_firm, is_model, is_thing};
use super::forms::RECORD_WORDS;
use super::homonyms::is_word;
use super::labels::{labelled, surname_first};
use super::letters::{AHEAD, is_letter, text};
use super::lexicon::{Classes, look_up, look_up_all};
use super::programs::in_program;
use super::roles::{NameList, Roles, roles};
use super::spelling::WordCase;
use super::streets::{Street, house_before, is_housed, number_before, street};
use super::surroundings::{NameLabel, Preceding, before, ends_line, in_code, in_date};
use super::unlisted::{may_be_part, unlisted};
use super::word::{JOINT, NameWord, Tagged};
use super::words::{PARTICLE, is};
use crate::detect::naming::lower;
use crate::detect::rules::NameTag;

/// The names in a sequence. Two that are joined are one company, or two names.
pub(super) fn tag(view: &View<'_>, words: &[NameWord]) -> Vec<Tagged> {
    let joint = |word: &NameWord| word.lower == JOINT;
    // `Jan Feb Mar`, `Mo Tu We`.
    let calendar = words.len() > 1 && words.iter().all(|word| word.roles.has(NameList::Month));
    if is_firm(words) || calendar {
        return Vec::new();
    }
    if let Some(around) = around_tax_number(words) {
        return around.into_iter().flat_map(|words| tag(view, words)).collect();
    }
    if !words.iter().any(joint) || company_end(view, words).is_some() {
        return tag_joined(view, words);
    }
    words.split(joint).flat_map(|words| tag_joined(view, words)).collect()
}

/// What stands around the name of the Italian tax number: `Partita IVA`, `P. IVA`.
fn around_tax_number(words: &[NameWord]) -> Option<[&[NameWord]; 2]> {
    let called = |pair: &[NameWord]| match pair {
        [first, last] => is(&first.lower, &["partita", "p"]) && last.lower == "iva",
        _ => false,
    };
    let at = words.windows(2).position(called)?;
    Some([inner(words.get(..at)?), inner(words.get(at + 2..)?)])
}

/// Words without particles at their beginning and end.
fn inner(words: &[NameWord]) -> &[NameWord] {
    let from = words.iter().position(|word| !word.particle).unwrap_or(words.len());
    let end = words.iter().rposition(|word| !word.particle).map_or(from, |last| last + 1);
    words.get(from..end).unwrap_or_default()
}

/// What stands before a title within a sequence is no part of the titled name: `Bestellung von Herrn Müller`.
fn tag_joined(view: &View<'_>, words: &[NameWord]) -> Vec<Tagged> {
    let title = |word: &NameWord| word.classes.is_title() && !word.classes.is_person();
    let house = words.first().is_some_and(|first| number_before(view, first.start).is_some());
    // The first word may be a title itself, and one at the end titles nobody.
    let within = 1..words.len().saturating_sub(1);
    let begins = within.filter(|_| !house).find(|&at| words.get(at).is_some_and(title));
    let (front, titled) = words.split_at(begins.unwrap_or(0));
    let named = front.iter().rposition(|word| !word.particle).map_or(0, |last| last + 1);
    let mut all = tag_one(view, front.get(..named).unwrap_or_default());
    all.extend(tag_one(view, titled));
    all
}

/// The names in a sequence without a title within.
fn tag_one(view: &View<'_>, words: &[NameWord]) -> Vec<Tagged> {
    let Some(first) = words.first() else { return Vec::new() };
    let before = before(view, first.start);
    if is_translated(view, words, &before) {
        return Vec::new();
    }
    let begins = before.sentence || before.has(NameList::ToPerson);
    if let Some(all) = whole(view, words, &before, begins) {
        return all;
    }
    // `POST /login`.
    if let Some((word, behind)) = words.split_first()
        && is_method(word)
        && !before.is_titled()
    {
        return tag_one(view, behind);
    }
    if let Some(all) = beside_capitals(view, words) {
        return all;
    }
    let (rest, titled) = peeled(words, begins, Classes::is_ordinary);
    let titled = titled || before.is_titled();
    let Some((first, last)) = rest.first().zip(rest.last()) else { return Vec::new() };
    let end = last.end + further(view, rest);
    let span = |(tag, score)| vec![Tagged { tag, start: first.start, end, score }];
    let other = || is_of_program(rest, &before) || is_other(view, words, rest, &before);
    if !titled && (other() || is_thing(view, rest, &before) && !before.tells_person()) {
        return Vec::new();
    }
    let place = place_of(rest);
    let to_place = before.place
        || before.ends_with(NameList::ToPlace) && !before.has(NameList::Naming)
        || in_country(view, last.end);
    let to_person = before.has(NameList::ToPerson);
    if !titled && no_name(view, rest, &before, place) {
        return Vec::new();
    }
    if !titled && let Some(start) = house_before(view, first.start) {
        match behind_number(view, rest, start, place) {
            BehindNumber::Street(street) => return vec![street],
            BehindNumber::Measure => return tag_one(view, rest.get(1..).unwrap_or_default()),
            BehindNumber::Counted => return Vec::new(),
            BehindNumber::Name => {}
        }
    }
    let cues = Cues { titled, place, to_place, to_person };
    if let [word] = rest {
        if let Some(end) = surname_first(view, word).filter(|_| !titled) {
            return vec![Tagged { tag: NameTag::Person, start: word.start, end, score: 0.7 }];
        }
        let (peeled, _) = words.split_at(words.len() - rest.len());
        return lone(view, word, peeled, &before, cues).map(span).unwrap_or_default();
    }
    if place && !titled && (!first.classes.is_given() || to_place) {
        return span((NameTag::Location, 0.75));
    }
    several(rest, cues, before.sentence).map(span).unwrap_or_default()
}

/// What is known of a sequence from its words together and from what stands before it.
#[derive(Clone, Copy)]
struct Cues {
    titled: bool,
    /// Whether the words are a place's name.
    place: bool,
    to_place: bool,
    to_person: bool,
}

/// What a sequence is as a whole: an address, what a label or its place says, a group, a company or its product.
fn whole(view: &View<'_>, words: &[NameWord], before: &Preceding<'_>, begins: bool) -> Option<Vec<Tagged>> {
    if let Some(street) = street(view, words, before) {
        let (front, _) = words.split_at(street.front);
        let named = front.iter().rposition(|word| !word.particle).map_or(0, |last| last + 1);
        let mut all = tag_one(view, front.get(..named).unwrap_or_default());
        let Street { start, end, score, .. } = street;
        all.push(Tagged { tag: NameTag::Location, start, end, score });
        return Some(all);
    }
    if let Some(name) = labelled(view, words).or_else(|| unlisted(view, words)) {
        return Some(vec![name]);
    }
    if let [word] = words
        && word.roles.has(NameList::Group)
    {
        return Some(vec![Tagged { tag: NameTag::Group, start: word.start, end: word.end, score: 0.7 }]);
    }
    if let Some(company) = company(view, words, begins) {
        return Some(vec![company]);
    }
    // `Google Cloud`, `Amazon Aurora User Guide`.
    let [maker, product, ..] = words else { return None };
    let made = maker.roles.has(NameList::Maker) || maker.roles.has(NameList::Brand);
    (made && product.roles.has(NameList::Product)).then(Vec::new)
}

/// What a word by itself is, behind those that were `peeled` off.
fn lone(
    view: &View<'_>,
    word: &NameWord,
    peeled: &[NameWord],
    before: &Preceding<'_>,
    cues: Cues,
) -> Option<(NameTag, f32)> {
    if is_greeted(view, peeled, word) {
        return Some((NameTag::Person, 0.6));
    }
    let mut told = before.roles.into_iter().chain(peeled.iter().map(|word| word.roles));
    let somebody = |roles: Roles| roles.has(NameList::ToSomebody) || roles.has(NameList::ToPersonSurely);
    let Cues { titled, place, to_place, .. } = cues;
    if place && !titled && word.roles.has(NameList::LargePlace) && !told.any(somebody) {
        return Some((NameTag::Location, if to_place { 0.75 } else { 0.6 }));
    }
    single(word, cues)
}

/// What a sequence is behind a number.
enum BehindNumber {
    /// `39 Csabai`: the house and its street.
    Street(Tagged),
    /// What is measured is no name: `200 Gramm Mehl`.
    Measure,
    /// `500 Sales rose`.
    Counted,
    /// In `on day 3 Maria Lopez wrote` the number is of the words before it.
    Name,
}

fn behind_number(view: &View<'_>, rest: &[NameWord], start: usize, place: bool) -> BehindNumber {
    match rest {
        [.., last] if is_housed(view, start, rest) || place && is_posted(view, rest) => {
            BehindNumber::Street(Tagged { tag: NameTag::Location, start, end: last.end, score: 0.55 })
        }
        [first, ..] if first.roles.has(NameList::Measure) => BehindNumber::Measure,
        [word] if !word.classes.is_given() && !place => BehindNumber::Counted,
        _ => BehindNumber::Name,
    }
}

/// Methods of HTTP (RFC 9110 section 9, RFC 5789).
const METHODS: [&str; 9] = ["connect", "delete", "get", "head", "options", "patch", "post", "put", "trace"];

/// Whether a word is a method of HTTP, as those are written.
fn is_method(word: &NameWord) -> bool {
    word.spelling == WordCase::Capitals && is(&word.lower, &METHODS)
}

/// Whether a word by itself is a program's name, or anything's, where its label says no more than that it has one.
fn is_of_program(words: &[NameWord], before: &Preceding<'_>) -> bool {
    let [word] = words else { return false };
    let technical = word.roles.has(NameList::Technical) && before.named != NameLabel::Other;
    let tool = word.roles.has(NameList::Tool) || technical && !word.classes.is_given();
    before.named == NameLabel::Thing || tool && !before.tells_person()
}

/// Labels of an address, and words for them in other languages that are names, too.
const ADDRESS_LABELS: &[&str] = &["address", "city", "place", "street", "town"];
const ADDRESS_WORDS: &[&str] =
    &["calle", "cidade", "città", "ciudad", "plaats", "rua", "rue", "stadt", "ville"];

/// Whether a word by itself is its label's translation: `city: Ville`, `token: Jeton d'accès`.
fn is_translated(view: &View<'_>, words: &[NameWord], before: &Preceding<'_>) -> bool {
    let [word] = words else { return false };
    let labelled = || before.words.first().is_some_and(|label| is(&lower(label), ADDRESS_LABELS));
    let token = || {
        let behind = text(view, word.end, word.end + AHEAD);
        word.lower == "jeton" && [" d'", " d\u{2019}", " de "].iter().any(|of| behind.starts_with(of))
    };
    is(&word.lower, ADDRESS_WORDS) && labelled() || token()
}

/// Whether what remains of a sequence is a model's name, or a word. What was peeled off stands before it.
fn is_other(view: &View<'_>, words: &[NameWord], rest: &[NameWord], front: &Preceding<'_>) -> bool {
    let peeled = rest.first().filter(|_| rest.len() < words.len());
    let near = peeled.map(|first| before(view, first.start));
    let near = near.as_ref().unwrap_or(front);
    is_model(rest, near) || is_word(view, rest, near)
}

/// The company of a sequence, which may be called by technical words: `Data Systems Ltd`.
fn company(view: &View<'_>, words: &[NameWord], begins: bool) -> Option<Tagged> {
    let (named, _) = peeled(words, begins, Classes::is_common);
    let (first, end) = named.first().zip(company_end(view, named))?;
    Some(Tagged { tag: NameTag::Organization, start: first.start, end, score: 0.8 })
}

/// Words of grammar that are given names too.
const GRAMMAR: [&str; 4] = ["in", "will", "may", "can"];

/// What remains of a sequence behind titles and common words, and whether there was a title.
/// A given name stays where a sentence `begins` with it, or is told, and a name follows.
fn peeled(words: &[NameWord], begins: bool, ordinary: fn(Classes) -> bool) -> (&[NameWord], bool) {
    let mut rest = words;
    let mut titled = false;
    let mut previous: Option<&NameWord> = None;
    while let Some((word, more)) = rest.split_first() {
        if rest.len() > 1 && place_of(rest) {
            break;
        }
        let title = word.classes.is_title();
        let named = |next: &NameWord| {
            !next.classes.is_ordinary() && next.classes.is_person() && next.spelling == WordCase::Name
        };
        // `In Germany`: a country's name may be somebody's too, but not behind such a word.
        let grammar = word.classes.is_function() || GRAMMAR.contains(&word.lower.as_str());
        let large = |next: &NameWord| {
            next.roles.has(NameList::LargePlace) || word.lower == "in" && next.classes.is_place()
        };
        let placed = grammar && more.first().is_some_and(large);
        let name = word.classes.is_given() && begins && !placed && more.first().is_some_and(named);
        let lawyers = word.spelling == WordCase::Coded && word.lower == "rae";
        let title = title || lawyers && !more.is_empty();
        let front = !more.is_empty() && word.roles.has(NameList::Front);
        // Behind a title it is a name: `Mr. Page`, `Mr White`.
        let called = || previous.is_some_and(|title| is_called(title, word));
        let name = name || titled && more.is_empty() && (word.roles.has(NameList::Homonym) || called());
        if !title && !front && (!ordinary(word.classes) || name) {
            break;
        }
        titled |= title;
        previous = Some(word);
        rest = more;
    }
    (rest, titled)
}

/// Whether a surname that is a word, too, stands behind what somebody is addressed by: `Mr White`, and no `MR Unit`.
fn is_called(title: &NameWord, word: &NameWord) -> bool {
    let spelt = |word: &NameWord| word.spelling == WordCase::Name;
    is(&title.lower, HONORIFICS)
        && spelt(title)
        && spelt(word)
        && word.classes.is_surname()
        && !is(&word.lower, SENTENCE_WORDS)
}

/// Whether a comma and a place's name that is nobody's stand behind `end`: `Paris, France`.
fn in_country(view: &View<'_>, end: usize) -> bool {
    if view.slice(end, end + 2) != b", " {
        return false;
    }
    let behind = text(view, end, end + PARTICLE);
    let word = behind.strip_prefix(", ").map(|rest| rest.split(|letter: char| !is_letter(letter)));
    let Some(word) = word.and_then(|mut words| words.next()).filter(|word| word.len() + 2 < behind.len())
    else {
        return false;
    };
    let lower = lower(word);
    let classes = look_up(&lower);
    WordCase::of(word) == WordCase::Name
        && classes.is_place()
        && (!classes.is_given() || roles(&lower).has(NameList::LargePlace))
}

/// Two words and more.
fn several(words: &[NameWord], cues: Cues, sentence: bool) -> Option<(NameTag, f32)> {
    let Cues { titled, to_place, to_person, .. } = cues;
    let (first, last) = words.first().zip(words.last())?;
    // `Title Case`, `Test Bill`: behind another word it is a word, too.
    let given =
        |(n, word): (usize, &NameWord)| word.classes.is_given() && (n == 0 || !word.classes.is_common());
    let given = words.iter().take(2).enumerate().any(given);
    let surname = last.classes.is_surname() && !last.classes.is_common();
    let initial = first.lower.chars().count() == 1;
    // `Entertainment Weekly`.
    if !titled && !given && last.roles.has(NameList::Publication) {
        return None;
    }
    if titled || given || initial && surname {
        return Some((NameTag::Person, if titled || given && surname { 0.85 } else { 0.7 }));
    }
    if surname && !first.classes.is_place() && (to_person || !sentence) {
        return Some((NameTag::Person, 0.55));
    }
    if to_place && words.iter().any(|word| word.classes.is_place()) {
        return Some((NameTag::Location, 0.6));
    }
    if to_person && words.len() == 2 && !words.iter().any(|word| word.classes.is_known()) {
        return Some((NameTag::Person, 0.5));
    }
    let places = words.len() == 2 && words.iter().all(|word| word.classes.is_place());
    places.then_some((NameTag::Location, 0.55))
}

/// Whether words are acronyms, constants or parts of code rather than a name.
fn no_name(view: &View<'_>, words: &[NameWord], before: &Preceding<'_>, place: bool) -> bool {
    if let [word] = words {
        let somebody = before.ends_with(NameList::ToPersonSurely);
        let at_place = before.ends_with(NameList::ToPlaceSurely);
        let told = at_place || somebody;
        let small = place && !told && !word.classes.is_given() && word.lower.chars().nth(2).is_none();
        return in_code(view, word.start, word.end)
            || !somebody && !before.has(NameList::ToSomebody) && in_program(view, word.start, word.end)
            || in_date(view, word)
            || before.ends_with(NameList::Declaration)
            || word.roles.has(NameList::Form) && !told && !in_country(view, word.end)
            || match word.spelling {
                // States are written in capitals: `TX`. `Tr` is a part of a program.
                WordCase::Name => small,
                WordCase::Mixed => !word.classes.is_known(),
                WordCase::Coded => true,
                WordCase::Capitals if place => {
                    let town = || before.place && word.lower.chars().nth(2).is_some();
                    !(before.comma || before.near && at_place || town() || is_posted(view, words))
                }
                WordCase::Capitals => !somebody,
            };
    }
    let short = |word: &NameWord| word.spelling == WordCase::Capitals && word.lower.len() < 4;
    !place && (words.iter().any(is_strange) || words.iter().all(short))
}

/// Whether a word of several is an acronym, a constant or a part of code.
fn is_strange(word: &NameWord) -> bool {
    match word.spelling {
        WordCase::Name => false,
        WordCase::Coded => true,
        WordCase::Mixed | WordCase::Capitals => !word.classes.is_person(),
    }
}

/// Whether a postcode of five digits begins the line that a town's name in capitals ends: `93047 REGENSBURG`.
fn is_posted(view: &View<'_>, words: &[NameWord]) -> bool {
    let Some((first, last)) = words.first().zip(words.last()) else { return false };
    let number = house_before(view, first.start).filter(|start| first.start - start == 6);
    let begins = number.is_some_and(|start| matches!(view.before(start, 1), None | Some(b'\n')));
    begins
        && words.iter().all(|word| word.spelling == WordCase::Capitals && !word.classes.is_given())
        && ends_line(view, last.end)
}

/// Ships, which are called as persons are.
const SHIPS: [&str; 5] = ["hmas", "hmcs", "hms", "rms", "uss"];

/// The full names beside words in capitals that are no part of them: `Thomas Miller DOB`. `None` where there are none.
fn beside_capitals(view: &View<'_>, words: &[NameWord]) -> Option<Vec<Tagged>> {
    let apart = |word: &NameWord| is_strange(word) && !word.classes.is_title();
    let told = words.iter().any(|word| is_strange(word) && is(&word.lower, RECORD_WORDS));
    // `Sandy Bridge CPU`, `Harry Potter DVD`.
    let acronym = |word: &NameWord| apart(word) && word.lower.len() <= 4 && !word.classes.is_function();
    let of_thing = |word: &NameWord| is(&word.lower, &SHIPS) || !told && acronym(word);
    if !words.iter().any(apart) || words.iter().any(of_thing) {
        return None;
    }
    let named = |part: &&[NameWord]| {
        part.first().is_some_and(|first| {
            let before = before(view, first.start);
            let begins = before.sentence || before.has(NameList::ToPerson);
            is_full_name(peeled(part, begins, Classes::is_ordinary).0, told)
        })
    };
    let parts = words.split(apart).map(inner).filter(named);
    let all: Vec<Tagged> = parts.flat_map(|part| tag_one(view, part)).collect();
    (!all.is_empty()).then_some(all)
}

/// Whether words are a given name and a surname, which no list need have; in capitals only where a word beside them has
/// `told` that they are somebody's.
fn is_full_name(words: &[NameWord], told: bool) -> bool {
    let [first, within @ .., last] = words else { return false };
    let ordinary = first.classes.is_ordinary();
    let given = first.classes.is_given() && (!ordinary || first.roles.has(NameList::Homonym));
    let surname = last.classes.is_surname() && !last.classes.is_ordinary();
    let common = || within.is_empty() && !first.classes.is_place() && last.classes.is_surname();
    let unknown = || !last.classes.is_known() && may_be_part(last, false, false);
    let part = |word: &NameWord| {
        let person = word.classes.is_person() || !word.classes.is_known();
        word.lower != JOINT && (word.particle || person)
    };
    let named = match first.spelling {
        WordCase::Capitals => told && surname,
        _ => surname || told && !ordinary && (common() || unknown()),
    };
    given && named && within.len() < 3 && within.iter().all(part) && !place_of(words) && !is_firm(words)
}

/// Whether a word that nothing else is known of is who a letter is for: `Dear Zbynek,`.
fn is_greeted(view: &View<'_>, front: &[NameWord], word: &NameWord) -> bool {
    // In English alone, whose common words are known: behind `Hola` and `Ciao` any word may stand.
    let greets = front.last().is_some_and(|word| matches!(word.lower.as_str(), "dear" | "hi" | "hello"));
    let alone = matches!(view.get(word.end), Some(b',' | b'!' | b'\n' | b'\r'));
    let said = GREETED.contains(&word.lower.as_str()) || word.lower.ends_with('s');
    greets && alone && word.spelling == WordCase::Name && !word.classes.is_known() && !said
}

/// Whether the words together are a place's name.
fn place_of(words: &[NameWord]) -> bool {
    match words {
        [word] => word.classes.is_place(),
        _ => look_up_all(words.iter().map(|word| word.lower.as_str())).is_place(),
    }
}

/// How many bytes of a country's name stand behind its capitals.
fn further(view: &View<'_>, words: &[NameWord]) -> usize {
    const OF_AMERICA: &[u8] = b" of America";
    let [.., united, states] = words else { return 0 };
    let ours = united.lower == "united" && states.lower == "states";
    let behind = view.slice(states.end, states.end + OF_AMERICA.len());
    if ours && behind == OF_AMERICA { OF_AMERICA.len() } else { 0 }
}

/// A word by itself.
fn single(word: &NameWord, cues: Cues) -> Option<(NameTag, f32)> {
    let Cues { titled, place, to_place, to_person } = cues;
    let classes = word.classes;
    if word.lower.chars().count() < 2 {
        return None;
    }
    if titled {
        return Some((NameTag::Person, 0.8));
    }
    if place && (to_place || !classes.is_given() && !to_person) {
        return Some((NameTag::Location, if to_place { 0.75 } else { 0.55 }));
    }
    if classes.is_given() {
        return Some((NameTag::Person, if to_person { 0.75 } else { 0.6 }));
    }
    if classes.is_surname() && to_person {
        return Some((NameTag::Person, 0.6));
    }
    // A capital where only a name can stand.
    (to_person && !classes.is_known()).then_some((NameTag::Person, 0.4))
}

#[cfg(test)]
#[path = "tagger_tests.rs"]
mod tests;
