//! From a sequence of capitalised words to names. A pure function of the words, of what the lexicon knows of them,
//! and of a little text before.

use super::super::super::view::View;
use super::companies::company_end;
use super::eponyms::{is_firm, is_model, is_thing};
use super::homonyms::is_word;
use super::labels::{labelled, surname_first};
use super::letters::{AHEAD, BYTES, is_capital, is_letter, text, word_end};
use super::lexicon::{Classes, look_up, look_up_all, look_up_name};
use super::roles::{Role, Roles, roles};
use super::spelling::{Spelling, is_elided};
use super::streets::{house_before, is_housed, number_before, street};
use super::surroundings::{Before, before, in_code, in_date};
use super::word::{JOINT, Sequence, Tagged, Word};
use super::words::PARTICLES;
use crate::detect::naming::lower;
use crate::detect::rules::Tag;

/// The most words in a sequence.
const WORDS: usize = 7;

/// What stands at a capital.
pub(super) enum Gathered {
    /// It may go on beyond the window.
    NeedMore,
    /// Nothing of interest up to this offset.
    Nothing(usize),
    /// Words, which are where there was room for them, and where to look on.
    Words(usize),
}

/// Where the common word at `start` ends that is no part of a sequence: what most sentences begin with. `None` for
/// all else, and where the text does not tell yet.
pub(super) fn lone_common(view: &View<'_>, start: usize) -> Option<usize> {
    let letters =
        view.slice(start, start + COMMON).iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let end = start + letters;
    let next = view.slice(end, end + 2);
    // Of `Sure! Here`, `Yes. The` and `**Plan**` too: an answer should not wait for more of them.
    let alone = matches!(
        next,
        [b' ', b'a'..=b'z']
            | [b',' | b':' | b'\n' | b';' | b'!' | b'?', _]
            | [b'.', b' ' | b'\n']
            | [b'*', b'*']
    );
    if !alone || letters == COMMON {
        return None;
    }
    let mut lower = [0; COMMON];
    let word = lower.get_mut(..letters)?;
    word.copy_from_slice(view.slice(start, end));
    word.make_ascii_lowercase();
    let word = std::str::from_utf8(word).ok()?;
    let classes = look_up(word);
    if !classes.is_ordinary() || classes.is_title() {
        return None;
    }
    if next.first() != Some(&b' ') {
        return Some(end);
    }
    // A particle may follow a name only, and what it stands before may not be here yet.
    let behind = word_end(view, end + 1);
    let word = text(view, end + 1, behind);
    let other = match behind < view.len() {
        true => !is_particle(word),
        false => !PARTICLES.iter().any(|particle| particle.starts_with(word)),
    };
    let told = view.complete || end + 1 + PARTICLE < view.len();
    (other || told && !particle_before_capital(view, end + 1)).then_some(end)
}

/// Where the word at `start` ends that is a part of an identifier or of a code and no group's name: nobody's name
/// either. `None` for all else, and where the text does not tell yet.
pub(super) fn lone_code(view: &View<'_>, start: usize) -> Option<usize> {
    let letters =
        view.slice(start, start + COMMON).iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let plain = view.get(start + letters).is_none_or(|byte| byte.is_ascii());
    let end = if plain { start + letters } else { word_end(view, start) };
    let told = view.complete || end + PARTICLE < view.len();
    let single = match view.slice(end, end + 2) {
        // The word or the sequence may go on.
        [b' ', next, ..] => next.is_ascii_digit(),
        [b'.', b' ', ..] => false,
        [b'\'' | b'-', next, ..] => next.is_ascii() && !next.is_ascii_alphabetic(),
        [next, ..] => next.is_ascii(),
        [] => true,
    };
    if !(2..COMMON).contains(&(end - start)) || !told || !single {
        return None;
    }
    let word = std::str::from_utf8(view.slice(start, end)).ok()?;
    // A number and a space before it may be those of a house.
    let housed = || view.before(start, 1) == Some(b' ') && number_before(view, start).is_some();
    let coded = numbered(view, start, word) || plain && in_code(view, start, end) && !housed();
    (coded && !roles(word).has(Role::Group)).then_some(end)
}

/// Whether a few capitals are of a code and no street: behind a digit and blanks (`KL 12 KL`), or a sign of
/// assignment or a quote right behind one (`CVV 123=CVV`, `ИНН 7=ИНН`).
fn numbered(view: &View<'_>, start: usize, word: &str) -> bool {
    let front = view.slice(start.saturating_sub(4), start);
    let behind = match front {
        [.., before, b'='] => before.is_ascii_digit() || before.is_ascii_punctuation(),
        [.., before, b'"'] => before.is_ascii_digit(),
        _ => front.iter().rev().find(|&&byte| byte != b' ').is_some_and(u8::is_ascii_digit),
    };
    let few = word.chars().count() <= if word.is_ascii() { 3 } else { 4 };
    behind && few && word.chars().all(char::is_uppercase) && !roles(word).has(Role::Street)
}

/// Common words are shorter, in bytes.
const COMMON: usize = 16;

/// Gathers the words from the capital at `start` on, in place of what is in `words`.
pub(super) fn gather(view: &View<'_>, start: usize, words: &mut Sequence) -> Gathered {
    match *view.slice(start, start + 3) {
        // One letter and a dot, and no other word: an abbreviation.
        [b'A'..=b'Z', b'.', next] if next != b' ' => return Gathered::Nothing(start + 1),
        // One letter and a digit or a sign: a code.
        [b'A'..=b'Z', next, _]
            if next.is_ascii() && !next.is_ascii_alphabetic() && !matches!(next, b'.' | b'\'' | b'-') =>
        {
            return Gathered::Nothing(start + 1);
        }
        _ => {}
    }
    words.clear();
    let mut at = start;
    // A word that has not ended, or what follows it, may change all of them.
    let open = |end: usize| end >= view.len() && !view.complete;
    while words.len() < WORDS && at < start + BYTES {
        let mut end = word_end(view, at);
        if open(end + AHEAD) {
            return Gathered::NeedMore;
        }
        if end == at {
            break;
        }
        let mut written = text(view, at, end);
        let mut name = words.lower(written);
        let particle = !is_capital(view, at);
        // A possessive is no part of the name.
        let named = name.strip_suffix("'s").or_else(|| name.strip_suffix("\u{2019}s")).map(str::len);
        let possessive = named.map_or(0, |length| name.len() - length);
        name.truncate(name.len() - possessive);
        end -= possessive;
        written = written.get(..written.len() - possessive).unwrap_or_default();
        let initial = name.chars().nth(1).is_none();
        if initial && view.get(end) != Some(b'.') {
            // A letter without a dot is no initial, but mostly the pronoun.
            break;
        }
        if name.contains("''") {
            // An apostrophe in a text of SQL.
            name = name.replacen("''", "'", 1);
        }
        let classes = look_up_name(&name);
        let dotted = view.get(end) == Some(b'.') && (initial || classes.is_title());
        let spelling = if particle { Spelling::Name } else { Spelling::of(written) };
        let opens = classes.is_function() || is_elided(&name, written);
        let classes =
            if opens && spelling == Spelling::Name && !particle { classes.as_common() } else { classes };
        let roles = roles(&name);
        words.push(Word { start: at, end, lower: name, classes, roles, spelling, particle });
        let gap = if dotted { end + 1 } else { end };
        if possessive > 0 || view.get(gap) != Some(b' ') {
            at = end;
            break;
        }
        let mut next = gap + 1;
        if view.slice(next, next + 2) == b"& " && is_capital(view, next + 2) {
            words.push(Word::joint(next));
            next += 2;
        }
        if !is_capital(view, next) && !particle_before_capital(view, next) {
            at = end;
            break;
        }
        at = next;
    }
    let end = words.last().map_or(start + 1, |word| word.end).max(start + 1);
    while words.last().is_some_and(|word| word.particle) {
        words.pop();
    }
    if words.is_empty() { Gathered::Nothing(end.max(at)) } else { Gathered::Words(end) }
}

/// The longest particles with a space and a capital behind them, in bytes.
const PARTICLE: usize = 16;

/// Whether one or two particles stand at `at`, and then a capital.
fn particle_before_capital(view: &View<'_>, at: usize) -> bool {
    let mut at = at;
    for _ in 0..2 {
        let end = word_end(view, at);
        if view.get(end) != Some(b' ') || !is_particle(text(view, at, end)) {
            return false;
        }
        if is_capital(view, end + 1) {
            return true;
        }
        at = end + 1;
    }
    false
}

/// Whether a word is a particle in lower case.
fn is_particle(word: &str) -> bool {
    roles(word).has(Role::Particle) && !word.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// The names in a sequence. Two that are joined are one company, or two names.
pub(super) fn tag(view: &View<'_>, words: &[Word]) -> Vec<Tagged> {
    let joint = |word: &Word| word.lower == JOINT;
    if is_firm(words) {
        return Vec::new();
    }
    if !words.iter().any(joint) || company_end(view, words).is_some() {
        return tag_joined(view, words);
    }
    words.split(joint).flat_map(|words| tag_joined(view, words)).collect()
}

/// What stands before a title within a sequence is no part of the titled name: `Bestellung von Herrn Müller`.
fn tag_joined(view: &View<'_>, words: &[Word]) -> Vec<Tagged> {
    let title = |word: &Word| word.classes.is_title() && !word.classes.is_person();
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
fn tag_one(view: &View<'_>, words: &[Word]) -> Vec<Tagged> {
    let Some(first) = words.first() else { return Vec::new() };
    let before = before(view, first.start);
    if let Some(street) = street(view, words, &before) {
        let (front, _) = words.split_at(street.front);
        let named = front.iter().rposition(|word| !word.particle).map_or(0, |last| last + 1);
        let mut all = tag_one(view, front.get(..named).unwrap_or_default());
        all.push(Tagged { tag: Tag::Location, start: street.start, end: street.end, score: street.score });
        return all;
    }
    if let Some(name) = labelled(view, words) {
        return vec![name];
    }
    if let [word] = words
        && word.roles.has(Role::Group)
    {
        return vec![Tagged { tag: Tag::Group, start: word.start, end: word.end, score: 0.7 }];
    }
    let begins = before.sentence || before.has(Role::ToPerson);
    if let Some(company) = company(view, words, begins) {
        return vec![company];
    }
    let (rest, titled) = peeled(words, begins, Classes::is_ordinary);
    let titled = titled || before.is_titled();
    let Some((first, last)) = rest.first().zip(rest.last()) else { return Vec::new() };
    let end = last.end + further(view, rest);
    let span = |tag, score| vec![Tagged { tag, start: first.start, end, score }];
    let tool = matches!(rest, [word] if word.roles.has(Role::Tool)) && !before.has(Role::ToPersonSurely);
    let told = || before.has(Role::ToPersonSurely);
    let other = || is_other(view, words, rest, &before);
    if !titled && (tool || other() || is_thing(view, rest, &before) && !told()) {
        return Vec::new();
    }
    let place = place_of(rest);
    let to_place = before.ends_with(Role::ToPlace) && !before.has(Role::Naming) || in_country(view, last.end);
    let to_person = before.has(Role::ToPerson);
    if !titled && no_name(view, rest, &before, place) {
        return Vec::new();
    }
    if let Some(start) = house_before(view, first.start).filter(|_| !titled) {
        // `39 Csabai`: the house and its street.
        if is_housed(view, start, rest) {
            return vec![Tagged { tag: Tag::Location, start, end: last.end, score: 0.55 }];
        }
        // What is measured is no name: `200 Gramm Mehl`.
        if first.roles.has(Role::Measure) {
            return tag_one(view, rest.get(1..).unwrap_or_default());
        }
        // `500 Sales rose`; but in `on day 3 Maria Lopez wrote` the number is of the words before it.
        if let [word] = rest
            && !word.classes.is_given()
            && !place
        {
            return Vec::new();
        }
    }
    if let [word] = rest
        && let Some(end) = surname_first(view, word).filter(|_| !titled)
    {
        return vec![Tagged { tag: Tag::Person, start: word.start, end, score: 0.7 }];
    }
    if rest.len() == 1 {
        let (peeled, _) = words.split_at(words.len() - rest.len());
        let mut told = before.roles.into_iter().chain(peeled.iter().map(|word| word.roles));
        let somebody = |roles: Roles| roles.has(Role::ToSomebody) || roles.has(Role::ToPersonSurely);
        if place && !titled && first.roles.has(Role::LargePlace) && !told.any(somebody) {
            return span(Tag::Location, if to_place { 0.75 } else { 0.6 });
        }
        return single(first, titled, place, to_place, to_person)
            .map(|(tag, score)| span(tag, score))
            .unwrap_or_default();
    }
    if place && !titled && (!first.classes.is_given() || to_place) {
        return span(Tag::Location, 0.75);
    }
    several(rest, titled, to_place, to_person, before.sentence)
        .map(|(tag, score)| span(tag, score))
        .unwrap_or_default()
}

/// Whether what remains of a sequence is a model's name, or a word. What was peeled off stands before it.
fn is_other(view: &View<'_>, words: &[Word], rest: &[Word], front: &Before<'_>) -> bool {
    let peeled = rest.first().filter(|_| rest.len() < words.len());
    let near = peeled.map(|first| before(view, first.start));
    let near = near.as_ref().unwrap_or(front);
    is_model(rest, near) || is_word(view, rest, near)
}

/// The company of a sequence, which may be called by technical words: `Data Systems Ltd`.
fn company(view: &View<'_>, words: &[Word], begins: bool) -> Option<Tagged> {
    let (named, _) = peeled(words, begins, Classes::is_common);
    let (first, end) = named.first().zip(company_end(view, named))?;
    Some(Tagged { tag: Tag::Organization, start: first.start, end, score: 0.8 })
}

/// Words of grammar that are given names too.
const GRAMMAR: [&str; 4] = ["in", "will", "may", "can"];

/// What remains of a sequence behind titles and common words, and whether there was a title.
/// A given name stays where a sentence `begins` with it, or is told, and a name follows.
fn peeled(words: &[Word], begins: bool, ordinary: fn(Classes) -> bool) -> (&[Word], bool) {
    let mut rest = words;
    let mut titled = false;
    while let Some((word, more)) = rest.split_first() {
        if rest.len() > 1 && place_of(rest) {
            break;
        }
        let title = word.classes.is_title();
        let named = |next: &Word| {
            !next.classes.is_ordinary() && next.classes.is_person() && next.spelling == Spelling::Name
        };
        // `In Germany`: a country's name may be somebody's too, but not behind such a word.
        let grammar = word.classes.is_function() || GRAMMAR.contains(&word.lower.as_str());
        let large =
            |next: &Word| next.roles.has(Role::LargePlace) || word.lower == "in" && next.classes.is_place();
        let placed = grammar && more.first().is_some_and(large);
        let name = word.classes.is_given() && begins && !placed && more.first().is_some_and(named);
        let lawyers = word.spelling == Spelling::Coded && word.lower == "rae";
        let title = title || lawyers && !more.is_empty();
        let front = !more.is_empty() && word.roles.has(Role::Front);
        // Behind a title it is a name: `Mr. Page`.
        let name = name || titled && more.is_empty() && word.roles.has(Role::Homonym);
        if !title && !front && (!ordinary(word.classes) || name) {
            break;
        }
        titled |= title;
        rest = more;
    }
    (rest, titled)
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
    Spelling::of(word) == Spelling::Name
        && classes.is_place()
        && (!classes.is_given() || roles(&lower).has(Role::LargePlace))
}

/// Two words and more.
fn several(
    words: &[Word],
    titled: bool,
    to_place: bool,
    to_person: bool,
    sentence: bool,
) -> Option<(Tag, f32)> {
    let (first, last) = words.first().zip(words.last())?;
    // `Title Case`, `Test Bill`: behind another word it is a word, too.
    let given = |(n, word): (usize, &Word)| word.classes.is_given() && (n == 0 || !word.classes.is_common());
    let given = words.iter().take(2).enumerate().any(given);
    let surname = last.classes.is_surname() && !last.classes.is_common();
    let initial = first.lower.chars().count() == 1;
    if titled || given || initial && surname {
        return Some((Tag::Person, if titled || given && surname { 0.85 } else { 0.7 }));
    }
    if surname && !first.classes.is_place() && (to_person || !sentence) {
        return Some((Tag::Person, 0.55));
    }
    if to_place && words.iter().any(|word| word.classes.is_place()) {
        return Some((Tag::Location, 0.6));
    }
    if to_person && words.len() == 2 && !words.iter().any(|word| word.classes.is_known()) {
        return Some((Tag::Person, 0.5));
    }
    let places = words.len() == 2 && words.iter().all(|word| word.classes.is_place());
    places.then_some((Tag::Location, 0.55))
}

/// Whether words are acronyms, constants or parts of code rather than a name.
fn no_name(view: &View<'_>, words: &[Word], before: &Before<'_>, place: bool) -> bool {
    if let [word] = words {
        let told = before.ends_with(Role::ToPlaceSurely) || before.ends_with(Role::ToPersonSurely);
        return in_code(view, word.start, word.end)
            || in_date(view, word)
            || before.ends_with(Role::Declaration)
            || word.roles.has(Role::Form) && !told && !in_country(view, word.end)
            || match word.spelling {
                Spelling::Name => false,
                Spelling::Mixed => !word.classes.is_known(),
                Spelling::Coded => true,
                Spelling::Capitals if place => !(before.comma || before.ends_with(Role::ToPlaceSurely)),
                Spelling::Capitals => !before.ends_with(Role::ToPersonSurely),
            };
    }
    let strange = |word: &Word| match word.spelling {
        Spelling::Name => false,
        Spelling::Coded => true,
        Spelling::Mixed | Spelling::Capitals => !word.classes.is_person(),
    };
    let short = |word: &Word| word.spelling == Spelling::Capitals && word.lower.len() < 4;
    !place && (words.iter().any(strange) || words.iter().all(short))
}

/// Whether the words together are a place's name.
fn place_of(words: &[Word]) -> bool {
    match words {
        [word] => word.classes.is_place(),
        _ => look_up_all(words.iter().map(|word| word.lower.as_str())).is_place(),
    }
}

/// How many bytes of a country's name stand behind its capitals.
fn further(view: &View<'_>, words: &[Word]) -> usize {
    const OF_AMERICA: &[u8] = b" of America";
    let [.., united, states] = words else { return 0 };
    let ours = united.lower == "united" && states.lower == "states";
    let behind = view.slice(states.end, states.end + OF_AMERICA.len());
    if ours && behind == OF_AMERICA { OF_AMERICA.len() } else { 0 }
}

/// A word by itself.
fn single(word: &Word, titled: bool, place: bool, to_place: bool, to_person: bool) -> Option<(Tag, f32)> {
    let classes = word.classes;
    if word.lower.chars().count() < 2 {
        return None;
    }
    if titled {
        return Some((Tag::Person, 0.8));
    }
    if place && (to_place || !classes.is_given() && !to_person) {
        return Some((Tag::Location, if to_place { 0.75 } else { 0.55 }));
    }
    if classes.is_given() {
        return Some((Tag::Person, if to_person { 0.75 } else { 0.6 }));
    }
    if classes.is_surname() && to_person {
        return Some((Tag::Person, 0.6));
    }
    // A capital where only a name can stand.
    (to_person && !classes.is_known()).then_some((Tag::Person, 0.4))
}

#[cfg(test)]
#[path = "tagger_tests.rs"]
mod tests;
