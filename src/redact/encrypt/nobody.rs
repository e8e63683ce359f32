//! Telephone numbers that nobody has: of the country and the length of what they stand for, in a range that its plan
//! gives to nobody. Such ranges are too small for a permutation: what stands for a number is drawn from the keyed PRF,
//! and the way back is what was noted.

use crate::crypto::fpe::Keystream;

/// The first digits of numbers within a country that are nobody's, whatever their length, by the calling code of the
/// country; the code of one digit that is not here, 1, has a plan of its own.
const NOBODY: &[(u32, &[&str])] = &[
    (7, &["2", "5"]),
    (20, &["7"]),
    (27, &["20", "24", "25", "29"]),
    (30, &["3", "4", "5"]),
    (31, &["12", "19", "27", "28"]),
    (32, &["17", "18", "20", "21"]),
    (33, &["40", "70", "71", "72"]),
    (34, &["2", "3"]),
    (36, &["39", "41", "43", "51"]),
    (39, &["2", "6", "7", "9"]),
    (40, &["4", "5", "6"]),
    (43, &["10", "20", "23", "24"]),
    (44, &["4", "6"]),
    (46, &["71"]),
    (48, &["10", "19", "20", "27"]),
    (49, &["10", "14", "19"]),
    (51, &["2", "3"]),
    (54, &["4", "5"]),
    (55, &["10", "20", "23", "25"]),
    (57, &["2", "5", "7"]),
    (60, &["2"]),
    (61, &["5", "6", "9"]),
    (62, &["10", "13", "16", "19"]),
    (63, &["10", "13", "16", "19"]),
    (64, &["10", "16", "25", "30"]),
    (65, &["2", "4", "5"]),
    (66, &["13", "15", "17", "40"]),
    (81, &["10", "21", "40", "51"]),
    (82, &["9"]),
    (84, &["4"]),
    (86, &["26", "30", "32", "36"]),
    (90, &["6", "7", "9"]),
    (91, &["10", "39", "50"]),
    (92, &["10", "13", "16", "20"]),
    (94, &["10", "13", "16"]),
    (95, &["10", "40", "3"]),
    (98, &["10", "12", "14", "16"]),
    (211, &["4", "6", "10"]),
    (212, &["2", "3", "4", "9"]),
    (213, &["42", "47", "50", "51"]),
    (234, &["3", "4", "5", "6"]),
    (241, &["10", "13", "16"]),
    (243, &["7", "70", "71"]),
    (249, &["4", "6", "13"]),
    (251, &["4", "6", "10"]),
    (252, &["50", "51", "52"]),
    (254, &["3", "9"]),
    (265, &["4", "6", "10"]),
    (291, &["4", "6", "10"]),
    (299, &["10", "13", "16"]),
    (351, &["4", "5"]),
    (353, &["3"]),
    (358, &["11", "49", "59", "69"]),
    (374, &["13", "16", "19"]),
    (375, &["6", "10", "13"]),
    (376, &["4", "40", "45"]),
    (381, &["4", "40", "45"]),
    (385, &["45", "24", "25"]),
    (386, &["10", "19", "60"]),
    (502, &["10", "13", "16"]),
    (507, &["45", "41", "42"]),
    (672, &["4", "6", "16"]),
    (677, &["10", "45"]),
    (850, &["10", "13", "16"]),
    (855, &["40", "45", "20"]),
    (878, &["4", "6", "13"]),
    (880, &["10", "20", "39", "61"]),
    (881, &["4", "40", "45"]),
    (882, &["6", "19", "40"]),
    (883, &["6", "45", "60"]),
    (961, &["20", "22", "23"]),
    (963, &["6", "10", "19"]),
    (964, &["45", "8", "9"]),
    (965, &["10", "13", "16"]),
    (966, &["2", "3", "4", "6"]),
    (967, &["10", "19", "40"]),
    (972, &["6"]),
    (973, &["4", "10", "19"]),
    (975, &["10", "13", "19"]),
    (976, &["4", "10", "16"]),
    (977, &["19", "40", "45"]),
    (979, &["4", "6", "40"]),
    (992, &["13", "16", "45"]),
    (993, &["10", "16", "19"]),
    (994, &["13", "16", "19"]),
];

/// The same in all countries that are not listed.
const ELSEWHERE: &[&str] = &["1"];

/// Tries in the lines that are kept for fiction, `555-0100` to `555-0199`, before others are drawn.
const FICTION: u32 = 8;

fn below(stream: &mut Keystream, bound: u128) -> u16 {
    (stream.block() % bound) as u16
}

/// Ten digits of the North American plan: an area whose second digit is 9 is nobody's (they are kept for longer numbers),
/// and so is each of its lines.
pub(super) fn north_american(stream: &mut Keystream, attempt: u32, national: &mut [u16]) {
    let exchange = match attempt {
        ..FICTION => [5, 5, 5, 0, 1],
        _ => [
            2 + below(stream, 8),
            below(stream, 10),
            2 + below(stream, 8),
            below(stream, 10),
            below(stream, 10),
        ],
    };
    let area = [2 + below(stream, 7), 9, below(stream, 10)];
    let line = [below(stream, 10), below(stream, 10)];
    for (digit, drawn) in national.iter_mut().zip(area.into_iter().chain(exchange).chain(line)) {
        *digit = drawn;
    }
}

/// The digits of a number within a country.
pub(super) fn national(stream: &mut Keystream, code: u32, national: &mut [u16]) {
    let known = NOBODY.iter().find(|(of, _)| *of == code).map_or(ELSEWHERE, |(_, prefixes)| prefixes);
    behind_one(stream, known, national);
}

/// The same where the country is not known: what is nobody's in most of those where it could be a number.
pub(super) fn anywhere(stream: &mut Keystream, national: &mut [u16]) {
    let known: &[&str] = match national {
        [0, ..] => &["01990"],
        [7 | 8, ..] if national.len() == 11 => &["82"],
        _ => &["10"],
    };
    behind_one(stream, known, national);
}

/// One of the prefixes, and digits behind it.
fn behind_one(stream: &mut Keystream, prefixes: &[&str], digits: &mut [u16]) {
    let chosen = prefixes.get(usize::from(below(stream, prefixes.len().max(1) as u128)));
    let mut prefix = chosen.copied().unwrap_or_default().bytes().map(|digit| u16::from(digit - b'0'));
    for digit in digits {
        *digit = prefix.next().unwrap_or_else(|| below(stream, 10));
    }
}
