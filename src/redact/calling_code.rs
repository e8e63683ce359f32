//! Where the country's code of an international number ends (ITU-T E.164).

/// Country calling codes of two digits (ITU-T E.164). Those of one are 1 and 7; all others have three.
const CALLING_CODES: [u16; 44] = [
    20, 27, 30, 31, 32, 33, 34, 36, 39, 40, 41, 43, 44, 45, 46, 47, 48, 49, 51, 52, 53, 54, 55, 56, 57, 58,
    60, 61, 62, 63, 64, 65, 66, 81, 82, 84, 86, 90, 91, 92, 93, 94, 95, 98,
];

/// How many of the digits of an international number are its country's code.
pub(super) fn calling_code(digits: &[u16]) -> usize {
    match digits {
        [1 | 7, ..] => 1,
        [a, b, ..] if CALLING_CODES.contains(&(a * 10 + b)) => 2,
        _ => 3,
    }
}

/// The same of a text's digits.
pub(super) fn calling_code_of(text: &str) -> usize {
    let digits = text.chars().filter_map(|c| c.to_digit(10)).map(|digit| digit as u16);
    calling_code(&digits.collect::<Vec<u16>>())
}
