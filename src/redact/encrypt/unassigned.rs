//! Beginnings of phone numbers that are assigned to nobody, by country and length.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::cipher::KeyedSymbols;

/// What is assigned to nobody: from a country's code and the digits of a number within it to beginnings, as ranges of
/// numbers of equally many digits.
type AssignedRanges = HashMap<DialCode, Vec<RangeInclusive<u32>>>;

type DialCode = (&'static str, usize);

/// The code of a number whose country is not known.
const NOWHERE: &str = "0";

static TABLE: LazyLock<AssignedRanges> = LazyLock::new(|| {
    let lines = include_str!("unassigned_phones.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(row).collect()
});

/// `CODE LENGTH FIRST-LAST …`.
fn row(line: &'static str) -> Option<(DialCode, Vec<RangeInclusive<u32>>)> {
    let mut words = line.split(' ');
    let key = (words.next()?, words.next()?.parse().ok()?);
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    Some((key, words.map(range).collect::<Option<_>>()?))
}

/// Of lengths that no number of a known country has.
const ANY: [RangeInclusive<u32>; 6] = [29..=29, 39..=39, 49..=49, 59..=59, 69..=69, 79..=79];

/// Of numbers as they are dialled within a country that is not known: behind its trunk zero no number has three more, nor
/// does one with these four lead abroad.
const BEHIND_TRUNK_ZERO: &str = "0000";

/// The fewest digits of a number whose beginning can be replaced: what is left must tell numbers apart.
const FEWEST: usize = 6;

/// What a number of nobody begins with instead of `national`, which is a number within `country`; that is empty where it
/// is not known.
pub(super) fn beginning(country: &str, national: &str, draws: &mut KeyedSymbols) -> Option<String> {
    let length = national.len();
    let ranges: &[RangeInclusive<u32>] = match (country, TABLE.get(&(country, length))) {
        _ if length < FEWEST => return None,
        ("", _) if national.starts_with('0') => {
            return (length > FEWEST + 1).then(|| BEHIND_TRUNK_ZERO.to_owned());
        }
        ("", _) => TABLE.get(&(NOWHERE, length))?,
        (_, Some(ranges)) => ranges,
        (_, None) => &ANY,
    };
    let size = |range: &RangeInclusive<u32>| range.end() - range.start() + 1;
    let mut at = draws.below(ranges.iter().map(size).sum::<u32>().max(1));
    for range in ranges {
        if at < size(range) {
            return Some((range.start() + at).to_string());
        }
        at -= size(range);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = include_str!("unassigned_phones.txt").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.count(), TABLE.len());
        for ((country, length), ranges) in &*TABLE {
            for range in ranges {
                let [first, last] = [range.start(), range.end()].map(u32::to_string);
                assert!(first.len() == last.len() && range.start() <= range.end(), "+{country} {range:?}");
                assert!(first.len() + 2 <= *length && !first.starts_with('0'), "+{country} {range:?}");
                // What begins with 1 would read as North American.
                assert!(*country != NOWHERE || !first.starts_with('1'), "{range:?}");
            }
        }
    }
}
