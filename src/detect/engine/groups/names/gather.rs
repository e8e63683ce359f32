//! From text to a sequence of words that begin with a capital.

use super::super::super::view::View;
use super::letters::{AHEAD, BYTES, is_capital, text, word_end};
use super::lexicon::{look_up, look_up_name};
use super::roles::{NameList, roles};
use super::spelling::{WordCase, is_elided};
use super::streets::number_before;
use super::surroundings::in_code;
use super::word::{NameWord, Sequence};
use super::words::{PARTICLE, PARTICLES};

/// The most words in a sequence.
const WORDS: usize = 7;

/// What stands at a capital.
pub(super) enum AtCapital {
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
    (coded && !roles(word).has(NameList::Group)).then_some(end)
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
    behind && few && word.chars().all(char::is_uppercase) && !roles(word).has(NameList::Street)
}

/// Common words are shorter, in bytes.
const COMMON: usize = 16;

/// Gathers the words from the capital at `start` on, in place of what is in `words`.
pub(super) fn gather(view: &View<'_>, start: usize, words: &mut Sequence) -> AtCapital {
    match *view.slice(start, start + 3) {
        // One letter and a dot, and no other word: an abbreviation.
        [b'A'..=b'Z', b'.', next] if next != b' ' => return AtCapital::Nothing(start + 1),
        // One letter and a digit or a sign: a code.
        [b'A'..=b'Z', next, _]
            if next.is_ascii() && !next.is_ascii_alphabetic() && !matches!(next, b'.' | b'\'' | b'-') =>
        {
            return AtCapital::Nothing(start + 1);
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
            return AtCapital::NeedMore;
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
        let spelling = if particle { WordCase::Name } else { WordCase::of(written) };
        let opens = classes.is_function() || is_elided(&name, written);
        let classes =
            if opens && spelling == WordCase::Name && !particle { classes.as_common() } else { classes };
        let roles = roles(&name);
        words.push(NameWord { start: at, end, lower: name, classes, roles, spelling, particle });
        let gap = if dotted { end + 1 } else { end };
        if possessive > 0 || view.get(gap) != Some(b' ') {
            at = end;
            break;
        }
        let mut next = gap + 1;
        if view.slice(next, next + 2) == b"& " && is_capital(view, next + 2) {
            words.push(NameWord::joint(next));
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
    if words.is_empty() { AtCapital::Nothing(end.max(at)) } else { AtCapital::Words(end) }
}

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
    roles(word).has(NameList::Particle) && !word.bytes().any(|byte| byte.is_ascii_uppercase())
}
