//! Names in capitals as records have them: the surname, a sign and the given name (`MILLER/THOMAS MR` of reservations,
//! `MILLER^THOMAS` of HL7 v2, chapter 2A, `MILLER, THOMAS`), and initials before the surname (`Cardholder: T MILLER`).

use super::super::super::view::View;
use super::labels::label_before;
use super::letters::{is_letter, text, word_end};
use super::lexicon::{Classes, look_up_name};
use super::roles::{NameList, roles};
use super::spelling::WordCase;
use super::surroundings::{NameLabel, before};
use super::word::{NameLook, Tagged};
use crate::detect::naming;
use crate::detect::rules::NameTag;

/// How much is read of such a name, in bytes.
const NAME: usize = 48;

/// The most initials before a surname, and given names behind the first one.
const INITIALS: usize = 2;
const FURTHER: usize = 2;

/// Titles behind the names of reservations.
const TITLES: [&str; 8] = ["CHD", "INF", "MISS", "MR", "MRS", "MS", "MSTR", "MX"];

/// What stands between the parts of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    /// Initials and the surname.
    Blank,
    Comma,
    Slash,
    Caret,
}

/// The name in capitals at `start`, if a label or a title says that it is one.
pub(super) fn recorded(view: &View<'_>, start: usize) -> NameLook {
    let Some(between) = between(view, start) else { return NameLook::Nobody };
    let labelled = label_before(view, start).is_some() && before(view, start).named != NameLabel::Thing;
    if !labelled && between != Between::Slash {
        return NameLook::Nobody;
    }
    if start + NAME >= view.len() && !view.complete {
        return NameLook::NeedMore;
    }
    let ahead = text(view, start, start + NAME);
    let length = match between {
        Between::Blank => initials(ahead),
        // `/HOME/THOMAS MS`, `A_B/THOMAS`.
        _ if matches!(view.before(start, 1), Some(b'/' | b'\\' | b'_' | b'-' | b'@')) => None,
        _ => parted(ahead, between, labelled),
    };
    let name = |length: usize| Tagged { tag: NameTag::Person, start, end: start + length, score: 0.75 };
    length.map_or(NameLook::Nobody, |length| NameLook::Name(name(length)))
}

/// What stands behind the first word, if that may begin such a name: most words are told by two bytes.
fn between(view: &View<'_>, start: usize) -> Option<Between> {
    match view.slice(start, start + 3) {
        [b'A'..=b'Z', b' ', b'A'..=b'Z'] => return Some(Between::Blank),
        [_, b'A'..=b'Z' | b'\'' | 0x80..=0xff, ..] => {}
        _ => return None,
    }
    let end = word_end(view, start);
    let between = match view.get(end)? {
        b',' => Between::Comma,
        b'/' => Between::Slash,
        b'^' => Between::Caret,
        _ => return None,
    };
    (WordCase::of(text(view, start, end)) == WordCase::Capitals).then_some(between)
}

/// The word in capitals that a text begins with, and what stands behind it.
fn capitals(text: &str) -> Option<(&str, &str)> {
    let joint = |c: char| matches!(c, '\'' | '-' | '\u{2019}');
    let end = text.find(|c: char| !is_letter(c) && !joint(c)).unwrap_or(text.len());
    let word = text.get(..end)?.trim_end_matches(joint);
    (WordCase::of(word) == WordCase::Capitals).then_some((word, text.get(word.len()..)?))
}

/// What is known of a word.
fn known(word: &str) -> Classes {
    look_up_name(&naming::lower(word))
}

/// Whether what stands behind a name goes on with it, as paths, lists of choices and code do.
fn goes_on(behind: &str) -> bool {
    behind.starts_with(|c: char| {
        c.is_alphanumeric() || matches!(c, '/' | '\\' | '_' | '^' | '(' | '[' | '=' | '@' | '-')
    })
}

/// How long the name is that a text begins with whose surname stands first.
fn parted(ahead: &str, between: Between, labelled: bool) -> Option<usize> {
    let (surname, rest) = capitals(ahead)?;
    let sign = match between {
        Between::Blank => return None,
        Between::Comma => ", ",
        Between::Slash => "/",
        Between::Caret => "^",
    };
    let (given, behind) = capitals(rest.strip_prefix(sign)?)?;
    let (further, titled) = further(behind, between);
    let [first, second] = [surname, given].map(known);
    let sure = |one: Classes| one.is_person() && !one.is_ordinary();
    let both_places = first.is_place() && second.is_place();
    let neither = !first.is_ordinary() && !second.is_ordinary();
    let surname_known = first.is_surname() && !first.is_ordinary() && second.is_given();
    let given_known = second.is_given() && !second.is_ordinary() && !second.is_place();
    let listed = surname_known || given_known && (first.is_surname() || !first.is_known());
    let named = match (between, titled) {
        _ if !labelled => titled && neither && (sure(first) || sure(second)) && !both_places,
        // `MAX/MIN`.
        (Between::Slash, false) => (surname_known || given_known && !first.is_known()) && !both_places,
        (Between::Slash, true) | (Between::Caret, _) => neither || listed,
        _ => listed,
    };
    let end = ahead.len() - behind.len() + further;
    // In HL7 more parts of the name may follow, and none.
    let whole = between == Between::Caret || !goes_on(ahead.get(end..)?);
    (named && whole).then_some(end)
}

/// How long the given names are that stand behind the first one, and whether a title stands behind them.
fn further(behind: &str, between: Between) -> (usize, bool) {
    let sign = if between == Between::Caret { '^' } else { ' ' };
    let mut rest = behind;
    for _ in 0..=FURTHER {
        let Some(next) = rest.strip_prefix(sign) else { break };
        let length = next.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(next.len());
        let (word, after) = next.split_at(length);
        if word.is_empty() || after.starts_with(is_letter) {
            break;
        }
        if between != Between::Caret && TITLES.contains(&word) {
            return (behind.len() - rest.len(), true);
        }
        rest = after;
    }
    // Without a title behind them words in capitals may be anything.
    let further = if between == Between::Caret { behind.len() - rest.len() } else { 0 };
    (further, false)
}

/// How long the initials and the surname are that a text begins with.
fn initials(ahead: &str) -> Option<usize> {
    let mut rest = ahead;
    for _ in 0..INITIALS {
        rest = match rest.as_bytes() {
            [b'A'..=b'Z', b' ', b'A'..=b'Z', ..] => rest.get(2..)?,
            _ => break,
        };
    }
    let (surname, behind) = capitals(rest)?;
    let lower = naming::lower(surname);
    let classes = look_up_name(&lower);
    let listed = classes.is_surname() && !classes.is_ordinary() && !roles(&lower).has(NameList::Homonym);
    let more = behind.strip_prefix(' ').is_some_and(|next| next.starts_with(char::is_uppercase));
    let titled = further(behind, Between::Blank) == (0, true);
    let whole = !goes_on(behind) && (!more || titled);
    (listed && whole && surname.chars().nth(2).is_some()).then_some(ahead.len() - behind.len())
}

#[cfg(test)]
mod tests {
    use super::super::introductions::tests::found;

    fn check(rows: &[(&str, &[&str])]) {
        for (text, names) in rows {
            assert_eq!(found(text), *names, "{text}");
        }
    }

    #[test]
    fn names_in_capitals_are_found_as_records_have_them() {
        check(&[
            ("Name: MILLER/THOMAS MR", &["PERSON MILLER/THOMAS"]),
            ("Passenger: MILLER/THOMAS MR\n", &["PERSON MILLER/THOMAS"]),
            ("Passenger: MILLER/THOMAS", &["PERSON MILLER/THOMAS"]),
            ("1.MILLER/THOMAS MR 2.MILLER/ANNA MRS", &["PERSON MILLER/THOMAS", "PERSON MILLER/ANNA"]),
            ("MILLER/THOMAS JAMES MR", &["PERSON MILLER/THOMAS JAMES"]),
            ("Passenger name: ZBYXQ/THOMAS, seat 4", &["PERSON ZBYXQ/THOMAS"]),
            ("Name: SUMMER/WINTER", &[]),
            ("GEORGE/FRANKLIN DR", &[]),
            ("Patient: MILLER^THOMAS", &["PERSON MILLER^THOMAS"]),
            ("Patient: MILLER^THOMAS^A\n", &["PERSON MILLER^THOMAS^A"]),
            ("Patient: MILLER^THOMAS^^^MR\n", &["PERSON MILLER^THOMAS"]),
            ("Patient: M\u{dc}LLER^J\u{dc}RGEN\n", &["PERSON M\u{dc}LLER^J\u{dc}RGEN"]),
            ("Name: MILLER, THOMAS\n", &["PERSON MILLER, THOMAS"]),
            ("Cardholder: T MILLER", &["PERSON T MILLER"]),
            ("Cardholder name: T J MILLER, Visa", &["PERSON T J MILLER"]),
            ("Name: T MILLER\nExpires", &["PERSON T MILLER"]),
            ("Patient: T MILLER MR\n", &["PERSON T MILLER"]),
            ("\"cardholder\": \"T MILLER\"", &["PERSON T MILLER"]),
        ]);
    }

    #[test]
    fn choices_paths_and_acronyms_are_no_records() {
        check(&[
            ("Name: TCP/IP\nPatient: N/A", &[]),
            ("Name: READ/WRITE, INPUT/OUTPUT", &[]),
            ("Name: CI/CD", &[]),
            ("SSL/TLS DR AND/OR MR", &[]),
            ("USR/LOCAL/BIN MS", &[]),
            ("Name: X RAY\nName: T CELL", &[]),
            ("product_name: T MILLER\n", &[]),
            ("PLAN T MILLER", &[]),
            ("Name: A^B, XOR^AND", &[]),
        ]);
    }
}
