//! How a phone number is dialled: what stands before the number within its country (ITU-T E.164).

use std::ops::Range;

/// Country calling codes of two digits (ITU-T E.164). Those of one are 1 and 7; all others have three.
const CALLING_CODES: [&str; 44] = [
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48",
    "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81",
    "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
];

/// How many of the digits of an international number are its country's code.
fn calling_code(digits: &str) -> usize {
    match digits.get(..2) {
        _ if digits.starts_with(['1', '7']) => 1,
        Some(two) if CALLING_CODES.contains(&two) => 2,
        _ => 3,
    }
}

/// A phone number as it is dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DialledNumber<'d> {
    /// Its country's code; empty where it is not known.
    pub(super) country: &'d str,
    /// Where the number within the country begins, in digits, behind the trunk zero if there is one.
    pub(super) national: usize,
    /// Whether there is one: it is dialled within the country only.
    pub(super) trunk: bool,
}

impl<'d> DialledNumber<'d> {
    /// Of all digits of a number; whether a `+` stands before them.
    pub(super) fn of(plus: bool, digits: &'d str) -> Self {
        // No country's code begins with zero.
        let exit = match digits.strip_prefix("00") {
            Some(rest) if !plus && !rest.starts_with('0') => 2,
            _ => 0,
        };
        let code = match digits.get(exit..) {
            Some(rest) if exit > 0 || plus => calling_code(rest),
            // No area code of North America begins with 0 or 1.
            Some(rest)
                if rest.len() == 11
                    && rest.starts_with('1')
                    && !rest.get(1..).is_some_and(|area| area.starts_with(['0', '1'])) =>
            {
                1
            }
            _ => 0,
        };
        let country = match code {
            0 if digits.len() == 10 && !digits.starts_with('0') => "1",
            _ => digits.get(exit..exit + code).unwrap_or_default(),
        };
        let within = exit + code;
        let trunk = digits.get(within..).is_some_and(|national| national.starts_with('0'));
        Self { country, national: within + usize::from(trunk), trunk }
    }
}

/// Takes along a `+` before a number: its country's code follows, also where no rule knows numbers of that length there.
pub(super) fn with_plus(text: &str, span: &mut Range<usize>) {
    if text.get(..span.start).is_some_and(|before| before.ends_with('+')) {
        span.start -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_dialled() {
        let cases = [
            (true, "16502530000", "1", 1, false),
            (false, "16502530000", "1", 1, false),
            (false, "6502530000", "1", 0, false),
            (true, "442079460958", "44", 2, false),
            (true, "4402079460958", "44", 3, true),
            (false, "00442079460958", "44", 4, false),
            (false, "02079460958", "", 1, true),
            (false, "11961234567", "", 0, false),
            (false, "612345678", "", 0, false),
            (true, "353123456", "353", 3, false),
            // Nobody dials so: no country's code begins with zero.
            (false, "00002079460", "", 1, true),
            (true, "", "", 3, false),
        ];
        for (plus, digits, country, national, trunk) in cases {
            assert_eq!(
                DialledNumber::of(plus, digits),
                DialledNumber { country, national, trunk },
                "{digits}"
            );
        }
    }
}
