//! [`is_date`], what dates consist of (RFC 5322, 3.3; `asctime`), and [`date_front`], what is left of one that is more.

/// Months, as dates have them.
const MONTHS: &[&[u8]] =
    &[b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Days of a week.
const DAYS: &[&[u8]] = &[b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];

/// Zones with names: those of RFC 5322, 4.3, and others that programs write. One may be a letter, too.
const ZONES: &[&[u8]] = &[
    b"UT", b"GMT", b"EST", b"EDT", b"CST", b"CDT", b"MST", b"MDT", b"PST", b"PDT", b"UTC", b"WET", b"WEST",
    b"BST", b"IST", b"CET", b"CEST", b"MET", b"MEST", b"MEZ", b"MESZ", b"EET", b"EEST", b"MSK", b"SAST",
    b"PKT", b"ICT", b"WIB", b"SGT", b"HKT", b"JST", b"KST", b"AWST", b"ACST", b"ACDT", b"AEST", b"AEDT",
    b"NZST", b"NZDT", b"HST", b"AKST", b"AKDT", b"AST", b"ADT", b"NST", b"NDT", b"BRT", b"BRST", b"CLT",
];

/// How many blanks stand in a date at most.
const BLANKS: usize = 32;

/// Whether a text is a date and nothing else: `Wed, 1 Jan 2020 10:00:00 +0000`.
pub(super) fn is_date(text: &str) -> bool {
    let words = text.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let mut words = words.map(str::as_bytes).peekable();
    let _ = words.next_if(|word| is_one(word, DAYS));
    words.next().is_some_and(|word| word.len() <= 2 && is_number(word))
        && words.next().is_some_and(is_month)
        && words.next().is_some_and(|word| matches!(word.len(), 2..=4) && is_number(word))
        && words.next().is_some_and(is_time)
        && words.next().is_none_or(is_zone)
        // Some programs name the zone as well.
        && words.next().is_none_or(is_zone)
        && words.next().is_none()
}

/// The date that a text begins with, where it is one and more: some word in place of a zone, or behind it.
pub(super) fn date_front(text: &str) -> Option<&str> {
    let ends = text.match_indices([' ', '\t']).take(BLANKS);
    let fronts = ends.filter_map(|(at, _)| text.get(..at));
    fronts.filter(|front| is_date(front)).last().filter(|_| !is_date(text)).map(str::trim_end)
}

/// Whether a word is a month.
pub(super) fn is_month(word: &[u8]) -> bool {
    is_one(word, MONTHS)
}

/// Whether a word is a time of day.
pub(super) fn is_time(word: &[u8]) -> bool {
    let mut parts = word.split(|b| *b == b':');
    matches!(parts.clone().count(), 2 | 3) && parts.all(|part| matches!(part.len(), 1 | 2) && is_number(part))
}

/// Whether a word is a zone: a name, an offset, or both (`GMT+01:00`).
fn is_zone(word: &[u8]) -> bool {
    let sign = word.iter().position(|b| matches!(b, b'+' | b'-')).unwrap_or(word.len());
    let (name, offset) = word.split_at_checked(sign).unwrap_or((word, &[]));
    match offset.split_first() {
        None => is_zone_name(name),
        Some((_, offset)) => (name.is_empty() || is_zone_name(name)) && is_offset(offset),
    }
}

fn is_zone_name(word: &[u8]) -> bool {
    // Of the letters, `J` is none.
    let letter =
        matches!(word, [letter] if letter.is_ascii_alphabetic() && !letter.eq_ignore_ascii_case(&b'J'));
    letter || is_one(word, ZONES)
}

/// Whether these are hours, and minutes perhaps.
fn is_offset(word: &[u8]) -> bool {
    let colon = word.iter().position(|b| *b == b':').unwrap_or(word.len());
    let (hours, minutes) = word.split_at_checked(colon).unwrap_or((word, &[]));
    match minutes.split_first() {
        None => matches!(hours.len(), 1 | 2 | 4) && is_number(hours),
        Some((_, minutes)) => is_time(word) && minutes.len() == 2,
    }
}

fn is_number(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_digit)
}

fn is_one(word: &[u8], all: &[&[u8]]) -> bool {
    all.iter().any(|one| word.eq_ignore_ascii_case(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_nothing_else() {
        for date in [
            "Wed, 1 Jan 2020 10:00:00 +0000",
            "1 jan 20 1:00 GMT",
            "Mon,31 Dec 2020\t23:59:59 -0700",
            "1 Jan 2020 1:00",
            "1 Jan 2020 1:00 Z",
            "1 Jan 2020 1:00 pdt",
            "1 Jan 2020 1:00 CEST",
            "1 Jan 2020 1:00 +0000 GMT",
            "1 Jan 2020 1:00 GMT+0100",
            "1 Jan 2020 1:00 UTC+2",
            "1 Jan 2020 1:00 -03:00",
        ] {
            assert!(is_date(date), "{date}");
        }
        for other in [
            "",
            "Jane",
            "1 Jan 2020",
            "1 Jane 2020 10:00",
            "4111 1111 1111 1111",
            "1 Jan 2020 10:00:00 +0000 Jane",
            "1 Jan 4111111111111111 10:00:00",
            "1 Jan 2020 10:00:00 Jane",
            "1 Jan 2020 10:00:00 J",
            "1 Jan 2020 10:00:00 Roe",
            "1 Jan 2020 10:00:00 Roe+0100",
            "1 Jan 2020 10:00:00 +4111111111",
            "1 Jan 2020 10:00:00 GMT+",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn of_a_date_that_is_more_the_front_is_left() {
        for (text, want) in [
            ("Wed,  1 Jan 2020 10:00:00 Jane", Some("Wed,  1 Jan 2020 10:00:00")),
            ("1 Jan 2020 10:00:00 +0000  Jane Roe", Some("1 Jan 2020 10:00:00 +0000")),
            ("1 Jan 2020 10:00:00 Jane +0000", Some("1 Jan 2020 10:00:00")),
            ("1 Jan 2020 10:00:00 +0000", None),
            ("Jane 1 Jan 2020 10:00:00", None),
            ("", None),
        ] {
            assert_eq!(date_front(text), want, "{text}");
        }
        assert_eq!(date_front(&"1 ".repeat(100_000)), None);
    }
}
