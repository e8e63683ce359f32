//! [`is_date`], and what dates consist of (RFC 5322, 3.3; `asctime`).

/// Months, as dates have them.
const MONTHS: &[&[u8]] =
    &[b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Days of a week.
const DAYS: &[&[u8]] = &[b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];

/// How many letters the name of a zone has at most.
const ZONE: usize = 5;

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
        && words.next().is_none()
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

fn is_zone(word: &[u8]) -> bool {
    let named = word.len() <= ZONE && word.iter().all(u8::is_ascii_alphabetic);
    let offset = word.strip_prefix(b"+").or_else(|| word.strip_prefix(b"-"));
    named || offset.is_some_and(|offset| offset.len() == 4 && is_number(offset))
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
        ] {
            assert!(!is_date(other), "{other}");
        }
    }
}
