//! Addresses of streets: by what streets are called in many languages, by the ending of their names, and where a name says
//! nothing, by what stands beside the number of the house.

use super::super::super::view::View;
use super::letters::{AHEAD, is_any, is_letter, text};
use super::lexicon::look_up;
use super::places::{NO_STREETS, STREET_ENDINGS};
use super::roles::{NameList, roles};
use super::spelling::WordCase;
use super::surroundings::{Preceding, before, goes_on, lone_number};
use super::word::NameWord;

/// Where an address stands, and which words of the sequence are of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Street {
    /// How many words stand before it.
    pub(super) front: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) score: f32,
}

/// The number of a house that ends one space before `at`.
pub(super) fn house_before(view: &View<'_>, at: usize) -> Option<usize> {
    let number = number_before(view, at).filter(|_| view.before(at, 1) == Some(b' '));
    number.filter(|&start| lone_number(view, start))
}

/// The number that ends right before `at`, or one space before.
pub(super) fn number_before(view: &View<'_>, at: usize) -> Option<usize> {
    let end = at - usize::from(view.before(at, 1) == Some(b' '));
    let digits =
        view.slice(end.saturating_sub(6), end).iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| end - digits)
}

/// What numbers of houses have behind them where several share one.
const SHARED: [&str; 3] = ["bis", "ter", "quater"];
/// The longest of those and a blank, in bytes.
const SHARE: usize = 7;

/// What streets are called in French, where a comma may stand behind the number.
const FRENCH: [&str; 8] = ["allée", "avenue", "bd", "boulevard", "chemin", "impasse", "quai", "rue"];

/// The number of a house that ends before what a street is called at `at`, also with the sign of several houses behind it
/// (`14 bis rue`) and, if a `comma` may stand there, with that (`14, rue`).
fn number_of_street(view: &View<'_>, at: usize, comma: bool) -> Option<usize> {
    if let Some(start) = number_before(view, at) {
        return Some(start);
    }
    let blank = at - usize::from(view.before(at, 1) == Some(b' '));
    let end = blank - usize::from(view.before(blank, 1) == Some(b','));
    let head = view.slice(end.saturating_sub(SHARE), end);
    let shared = SHARED.iter().find(|sign| head.ends_with(sign.as_bytes())).map_or(0, |sign| sign.len());
    if shared == 0 && (!comma || end == blank) {
        return None;
    }
    let start = number_before(view, end - shared).filter(|&start| lone_number(view, start))?;
    // `En 2014, rue de Rivoli`.
    let number = view.slice(start, end);
    let year = shared == 0 && number.len() == 4 && (number.starts_with(b"19") || number.starts_with(b"20"));
    (!year).then_some(start)
}

/// The address in a sequence of words, if a word says that it is one, or what stands behind it.
pub(super) fn street(view: &View<'_>, words: &[NameWord], front: &Preceding<'_>) -> Option<Street> {
    let first = words.first()?;
    let house = house_before(view, first.start);
    before_its_name(view, words, house)
        .or_else(|| behind_its_name(view, words, house))
        .or_else(|| if house.is_none() { beside_a_town(view, words, front) } else { None })
        .map(|street| with_flat(view, words, street))
}

/// What flats are called behind the number of a house, beside rooms.
const FLATS: [&str; 8] = ["apto", "bus", "bte", "daire", "lgh", "lok", "m", "кв"];

/// An address with the flat that stands behind it: `500 Oak Avenue, Apt 4B`, `Stalenstraat 12 bus 3`.
fn with_flat(view: &View<'_>, words: &[NameWord], street: Street) -> Street {
    let Some(last) = words.last() else { return street };
    // No more is known to have arrived.
    let until = last.end + AHEAD;
    let room = words.iter().find(|word| word.end == street.end && word.roles.has(NameList::Room));
    let start = match room {
        Some(word) => word.start,
        None => {
            let behind = text(view, street.end, until);
            let rest = behind.strip_prefix(", ").or_else(|| behind.strip_prefix(' '));
            let Some(rest) = rest else { return street };
            street.end + behind.len() - rest.len()
        }
    };
    let length = flat(text(view, start, until));
    Street { end: length.map_or(street.end, |length| start + length), ..street }
}

/// How long a flat and its number are that a text begins with: `Apt 4B`, `bus 3`, `m. 3`.
fn flat(text: &str) -> Option<usize> {
    let rest = text.trim_start_matches(is_letter);
    let word = text.get(..text.len() - rest.len())?;
    let short = rest.strip_prefix('.');
    let number = short.unwrap_or(rest).trim_start_matches([' ', '#']);
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let letter = number.bytes().skip(digits).take_while(u8::is_ascii_alphabetic).count();
    let named = roles(word).has(NameList::Room)
        || is_any(word, &FLATS) && (word.chars().nth(1).is_some() || short.is_some());
    let ends = !number.get(digits + letter..)?.starts_with(char::is_alphanumeric);
    let apart = (1..4).contains(&(rest.len() - number.len()));
    let known = named && ends && apart && (1..=5).contains(&digits) && letter < 2;
    known.then_some(text.len() - number.len() + digits + letter)
}

/// `Via Garibaldi 14`, `14 rue des Lilas`, `ul. Marszałkowska 10/12`.
fn before_its_name(view: &View<'_>, words: &[NameWord], house: Option<usize>) -> Option<Street> {
    let (first, last) = words.first().zip(words.last())?;
    let calls = |at: usize, word: &NameWord| {
        word.roles.has(NameList::StreetBefore) && (at == 0 || !word.roles.has(NameList::Street))
    };
    let named = (0..words.len()).find(|&at| words.get(at).is_some_and(|word| calls(at, word)));
    let (front, from) = match named {
        Some(at) if at + 1 < words.len() => (at, words.get(at)?.start),
        Some(_) => return None,
        None => (0, small_street_before(view, first.start)?),
    };
    let behind = house_behind(view, last.end);
    let numbered = || {
        let french = |word: &&str| view.slice(from, from + word.len()) == word.as_bytes();
        let number = number_of_street(view, from, named.is_none() && FRENCH.iter().any(french))?;
        (view.before(from, 1) == Some(b' ') && lone_number(view, number)).then_some(number)
    };
    let house = if front == 0 { house.filter(|_| named.is_some()).or_else(numbered) } else { None };
    // In other languages it is a way by which something goes: `via Jenkins 2`.
    let way = named.is_none() && view.slice(from, from + 3) == b"via" && !in_italian(view, from);
    (house.is_some() || behind.is_some() && !way).then_some(Street {
        front,
        start: house.unwrap_or(from),
        end: behind.unwrap_or(last.end),
        score: 0.85,
    })
}

/// Whether `via` at `start` is a street: at the beginning of a line or of a part of it, or behind `in`.
fn in_italian(view: &View<'_>, start: usize) -> bool {
    let front = view.slice(start.saturating_sub(4), start);
    front.trim_ascii_end().is_empty()
        || front.ends_with(b"\n")
        || front.ends_with(b", ")
        || front.ends_with(b": ")
        || front.ends_with(b" in ")
}

/// Where what a street is called stands in small letters before the capital at `at`, perhaps with particles between:
/// the `rue` of `rue des Lilas`, the `C/` of `C/ Mayor`.
fn small_street_before(view: &View<'_>, at: usize) -> Option<usize> {
    let mut at = at;
    for _ in 0..3 {
        let end = at.checked_sub(1).filter(|&end| view.get(end) == Some(b' '))?;
        let start = small_word_before(view, end);
        let word = text(view, start, end);
        let bare = word.trim_end_matches(['.', '/']);
        let roles = roles(bare);
        if roles.has(NameList::StreetBefore) && (bare.len() > 2 || bare.len() < word.len()) {
            return view.word_starts(start).then_some(start);
        }
        if !is_article(bare) && !roles.has(NameList::Particle) || bare.len() < word.len() {
            return None;
        }
        at = start;
    }
    None
}

/// Articles that stand between what a street is called and its name, and in no person's.
fn is_article(word: &str) -> bool {
    matches!(word, "des" | "les" | "los" | "las" | "dei" | "degli" | "delle" | "do" | "das")
}

/// The longest of what streets are called before their names, with a sign.
const SMALL: usize = 12;

/// Where the word begins that ends at `end`: letters and the sign of an abbreviation.
fn small_word_before(view: &View<'_>, end: usize) -> usize {
    let from = end.saturating_sub(SMALL);
    let letters = view.slice(from, end).iter().rev();
    let within = |byte: &&u8| byte.is_ascii_alphabetic() || !byte.is_ascii() || matches!(byte, b'.' | b'/');
    end - letters.take_while(within).count()
}

/// Where an address may begin that goes on with a capital at `at`.
pub(super) fn may_begin(view: &View<'_>, at: usize) -> usize {
    let from = small_street_before(view, at).unwrap_or(at);
    number_of_street(view, from, true).unwrap_or(from)
}

/// Where an address may begin whose name has not arrived: the last words of the window may be a number, what a street is
/// called, and particles.
pub(super) fn may_begin_at_end(view: &View<'_>) -> usize {
    let mut at = view.len();
    for _ in 0..4 {
        let end = at - usize::from(view.before(at, 1) == Some(b' '));
        let start = small_word_before(view, end);
        if start + SMALL <= end {
            break;
        }
        let word = text(view, start, end);
        let bare = word.trim_end_matches(['.', '/']);
        let roles = roles(bare);
        // What has arrived of the last word may be the beginning of any.
        let open = at == view.len() && end == at;
        if start == end
            || !(open
                || roles.has(NameList::StreetBefore)
                || roles.has(NameList::Particle)
                || is_article(bare))
        {
            break;
        }
        at = start;
    }
    number_of_street(view, at, true).unwrap_or(at)
}

/// `12 Main Street`, `Lindenstraße 12`, `Berliner Allee 4`, `Atatürk Cad. No: 12`.
fn behind_its_name(view: &View<'_>, words: &[NameWord], house: Option<usize>) -> Option<Street> {
    let first = words.first()?;
    let drive = |at: usize, word: &NameWord| {
        at > 0 && at + 1 == words.len() && house.is_some() && matches!(word.lower.as_str(), "dr")
    };
    let called = |at: usize, word: &NameWord| {
        word.roles.has(NameList::Street) || word.roles.has(NameList::StreetBehind) || drive(at, word)
    };
    let at = (0..words.len())
        .rev()
        .find(|&at| words.get(at).is_some_and(|word| called(at, word) || has_ending(word)))?;
    let word = words.get(at)?;
    let behind = house_behind(view, word.end);
    let alone = !called(at, word) && has_ending(word);
    if alone && behind.is_some() && house.is_none() {
        return Some(Street { front: at, start: word.start, end: behind?, score: 0.85 });
    }
    let numbered = house.is_some() || behind.is_some();
    // `Executive Suite`, `NEC Box`.
    let room = word.roles.has(NameList::Room) && !words.iter().any(|word| word.lower == "po");
    // `ARISING IN ANY WAY`, `WebSocket Close`.
    let other = |word: &NameWord| {
        matches!(word.spelling, WordCase::Mixed | WordCase::Coded)
            || NOT_IN_STREETS.contains(&word.lower.as_str())
    };
    let named = !words.iter().any(other);
    let told = !(room || word.roles.has(NameList::StreetBehind)) && words.len() > 1 && named;
    let short = word.roles.has(NameList::StreetBehind)
        && at.checked_sub(1).and_then(|at| words.get(at)).is_none_or(|word| word.classes.is_common());
    if short || !(house.is_some() || told || behind.is_some() && word.roles.has(NameList::StreetBehind)) {
        return None;
    }
    let end = behind.filter(|_| house.is_none() && !word.roles.has(NameList::Street)).unwrap_or(word.end);
    let score = if numbered { 0.85 } else { 0.6 };
    Some(Street { front: 0, start: house.unwrap_or(first.start), end, score })
}

/// Words that stand before what streets are called where there is no street.
const NOT_IN_STREETS: [&str; 10] =
    ["in", "any", "no", "for", "this", "that", "such", "what", "which", "each"];

/// The shortest name of a street that ends as streets do, in bytes.
const SHORTEST: usize = 6;

/// Whether a word ends as streets do, and is neither a name nor another thing that does.
fn has_ending(word: &NameWord) -> bool {
    let lower = word.lower.as_str();
    if lower.len() < SHORTEST {
        return false;
    }
    let other = || {
        word.classes.is_person()
            || word.classes.is_ordinary()
            || NO_STREETS.iter().any(|other| lower.ends_with(other))
    };
    // Most words end with other letters.
    let last = lower.as_bytes().last();
    let ends =
        |end: &&str| end.as_bytes().last() == last && lower.len() > end.len() + 2 && lower.ends_with(end);
    STREET_ENDINGS.iter().any(ends) && !other()
}

/// Where the number of a house ends that stands behind a street's name: `12`, `12a`, `10/12`, `12-14`, `Nr. 5`, `, 3`.
fn house_behind(view: &View<'_>, end: usize) -> Option<usize> {
    if !view.slice(end, end + 8).iter().any(u8::is_ascii_digit) {
        return None;
    }
    let ahead = text(view, end, end + AHEAD);
    let short = ahead.strip_prefix('.').unwrap_or(ahead);
    let rest = short.strip_prefix(", ").or_else(|| short.strip_prefix(' '))?;
    let signs = [
        "Nr. ", "Nr ", "nr. ", "nr ", "No: ", "No. ", "No:", "n. ", "n\u{b0} ", "n\u{ba} ", "N\u{ba} ",
        "д. ", "д.",
    ];
    let signed = || signs.iter().find_map(|sign| rest.strip_prefix(sign)).unwrap_or(rest);
    let rest = if rest.starts_with(['N', 'n', 'д']) { signed() } else { rest };
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = 0;
    for part in 0..2 {
        let number = digits(rest.get(length..)?);
        if !(1..=4).contains(&number) {
            return (part > 0).then_some(end + ahead.len() - rest.len() + length - 1);
        }
        length += number;
        let mut behind = rest.get(length..)?.chars();
        let letter = behind.next().filter(char::is_ascii_alphabetic);
        if letter.is_some() {
            if behind.next().is_some_and(char::is_alphanumeric) {
                return None;
            }
            length += 1;
        }
        match rest.get(length..)?.bytes().next() {
            Some(b'/' | b'-') if part == 0 => length += 1,
            _ => break,
        }
    }
    // A version, an amount, a share or a year is none.
    let mut behind = rest.get(length..)?.bytes();
    let (next, then) = (behind.next(), behind.next());
    let goes_on = matches!(next, Some(b'.' | b',' | b':')) && then.is_some_and(|byte| byte.is_ascii_digit());
    let other = matches!(next, Some(b'%' | b'_' | b'/' | b'-')) && then.is_some_and(|byte| byte != b' ');
    (!(goes_on || other)).then(|| end + ahead.len() - rest.len() + length)
}

/// `Am Rain 3, 69493 Hirschberg`: any name with a number, before a postcode and a town; or behind a word that says that an
/// address follows.
fn beside_a_town(view: &View<'_>, words: &[NameWord], front: &Preceding<'_>) -> Option<Street> {
    let (first, last) = words.first().zip(words.last())?;
    if words.iter().any(|word| matches!(word.spelling, WordCase::Mixed | WordCase::Coded)) {
        return None;
    }
    let end = house_behind(view, last.end).filter(|_| view.get(last.end) != Some(b','))?;
    let told = front.ends_with(NameList::ToAddress);
    (told || town_behind(view, end)).then_some(Street { front: 0, start: first.start, end, score: 0.7 })
}

/// Whether a postcode and a capital stand behind the number of a house.
fn town_behind(view: &View<'_>, end: usize) -> bool {
    let ahead = text(view, end, end + AHEAD / 2);
    let rest = ahead.trim_start_matches([',', ';', ' ', '\n', '\r', '\u{b7}', '-', '|']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let town = rest.get(digits..).and_then(|rest| rest.strip_prefix(' '));
    rest.len() < ahead.len() && digits == 5 && town.is_some_and(|town| town.starts_with(char::is_uppercase))
}

/// Whether the words behind a number are a street or a town though nothing in them says so: by a room or a flat beside
/// them, by a word that says that an address follows, or by a line that has a second number and nothing else.
pub(super) fn is_housed(view: &View<'_>, start: usize, words: &[NameWord]) -> bool {
    let Some((first, last)) = words.first().zip(words.last()) else { return false };
    let counted =
        |word: &NameWord| word.roles.has(NameList::Measure) || word.roles.has(NameList::NamedPerson);
    let plain = |word: &NameWord| word.spelling == WordCase::Name && !counted(word);
    if !words.iter().all(plain) || goes_on(view, last.end) {
        return false;
    }
    let front = before(view, start);
    let town = || is_town(view, start, first, last);
    front.ends_with(NameList::Room)
        || front.words.first() == Some(&"at")
        || front.has(NameList::ToAddress)
        || room_behind(view, last.end)
        || is_line(view, start, last.end)
        || town()
        || behind_a_house(view, start, &front)
}

/// Whether a postcode, which is no year, and a town that is known.
fn is_town(view: &View<'_>, start: usize, first: &NameWord, last: &NameWord) -> bool {
    let number = view.slice(start, first.start.saturating_sub(1));
    let year = number.len() == 4 && (number.starts_with(b"19") || number.starts_with(b"20"));
    let known = look_up(&first.lower).is_place() || look_up(&last.lower).is_place();
    known && !first.classes.is_common() && (4..=5).contains(&number.len()) && !year
}

/// Whether a postcode of five digits stands behind the number of a house: `Am Rain 3, 69493 Hirschberg`.
fn behind_a_house(view: &View<'_>, start: usize, front: &Preceding<'_>) -> bool {
    let digits = view.slice(start, start + 6).iter().take_while(|byte| byte.is_ascii_digit()).count();
    let parted = view.slice(start.saturating_sub(2), start);
    let parted = parted.ends_with(b", ") || parted.ends_with(b"\n");
    let house = front.words.first().is_some_and(|word| {
        word.len() < 6 && word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(['.', ':'])
    });
    let named = front.words.get(1).is_some_and(|word| word.starts_with(char::is_uppercase));
    digits == 5 && parted && house && named
}

/// How long a room, a flat or a box and its number are that a text begins with: `Suite 12`, `Apt. 4b`, `Unit #7`.
pub(super) fn room(text: &str) -> Option<usize> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (word, rest) = text.split_at(letters);
    let number = rest.strip_prefix('.').unwrap_or(rest).trim_start_matches([' ', '#']);
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let letter = number.bytes().skip(digits).take_while(u8::is_ascii_alphabetic).count();
    let known = (1..=5).contains(&digits) && letter < 2 && rest.len() - number.len() < 4;
    (known && roles(word).has(NameList::Room)).then_some(text.len() - number.len() + digits + letter)
}

/// Whether a room, a flat or a floor stands behind `end`, perhaps with a number before it and in the next line.
fn room_behind(view: &View<'_>, end: usize) -> bool {
    let ahead = text(view, end, end + AHEAD);
    let rest = ahead.trim_start_matches([' ', '.']).trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start_matches([' ', ',', '\n', '\r', '\t', '>', '?', '|']);
    rest.starts_with(|c: char| c.is_ascii_uppercase()) && room(rest).is_some()
}

/// Whether a line has a number, the words up to `end` and another number, and no more.
fn is_line(view: &View<'_>, start: usize, end: usize) -> bool {
    let front = view.slice(start.saturating_sub(6), start);
    let opened = front.iter().rev().find(|byte| !matches!(byte, b' ' | b'>' | b'?' | b'\t'));
    let opened = opened.map_or(front.len() == start, |&byte| byte == b'\n');
    opened && house_behind(view, end).is_some_and(|end| matches!(view.get(end), None | Some(b'\n' | b'\r')))
}
