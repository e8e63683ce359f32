//! Telephone numbers: calling codes (ITU-T E.164 list of assigned codes) with the lengths that national numbers
//! have under each, and what a national form may not look like.

use super::{digits_of, number};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("phone_international", |value| international(value).into()),
    ("phone_national", |value| national(value).into()),
];

/// Calling code, shortest and longest national number. Codes are free of prefixes, so the first match is the one.
#[rustfmt::skip]
const CODES: &[(u16, u8, u8)] = &[
    (1, 10, 10), (7, 10, 10),
    (20, 8, 10), (27, 9, 9), (30, 10, 10), (31, 9, 9), (32, 8, 9), (33, 9, 9), (34, 9, 9), (36, 8, 9), (39, 6, 11),
    (40, 9, 9), (41, 9, 9), (43, 6, 13), (44, 9, 10), (45, 8, 8), (46, 7, 10), (47, 8, 8), (48, 9, 9), (49, 6, 13),
    (51, 8, 9), (52, 10, 10), (53, 8, 8), (54, 10, 11), (55, 10, 11), (56, 9, 9), (57, 8, 10), (58, 10, 10),
    (60, 8, 10), (61, 9, 9), (62, 8, 12), (63, 8, 10), (64, 8, 10), (65, 8, 8), (66, 8, 9),
    (81, 9, 10), (82, 8, 10), (84, 9, 10), (86, 10, 11),
    (90, 10, 10), (91, 10, 10), (92, 9, 10), (93, 9, 9), (94, 9, 9), (95, 7, 10), (98, 10, 10),
    (211, 9, 9), (212, 9, 9), (213, 8, 9), (216, 8, 8), (218, 8, 9),
    (220, 7, 7), (221, 9, 9), (222, 8, 8), (223, 8, 8), (224, 8, 9), (225, 8, 10), (226, 8, 8), (227, 8, 8),
    (228, 8, 8), (229, 8, 10), (230, 7, 8), (231, 7, 9), (232, 8, 8), (233, 9, 9), (234, 8, 10), (235, 8, 8),
    (236, 8, 8), (237, 8, 9), (238, 7, 7), (239, 7, 7), (240, 9, 9), (241, 7, 8), (242, 9, 9), (243, 9, 9),
    (244, 9, 9), (245, 7, 9), (246, 7, 7), (247, 5, 6), (248, 7, 7), (249, 9, 9), (250, 9, 9), (251, 9, 9),
    (252, 7, 9), (253, 8, 8), (254, 9, 10), (255, 9, 9), (256, 9, 9), (257, 8, 8), (258, 8, 9), (260, 9, 9),
    (261, 9, 9), (262, 9, 9), (263, 8, 10), (264, 8, 9), (265, 7, 9), (266, 8, 8), (267, 7, 8), (268, 8, 8),
    (269, 7, 7), (290, 4, 5), (291, 7, 7), (297, 7, 7), (298, 6, 6), (299, 6, 6),
    (350, 8, 8), (351, 9, 9), (352, 6, 11), (353, 7, 10), (354, 7, 9), (355, 8, 9), (356, 8, 8), (357, 8, 8),
    (358, 6, 12), (359, 7, 9), (370, 8, 8), (371, 8, 8), (372, 7, 8), (373, 8, 8), (374, 8, 8), (375, 9, 9),
    (376, 6, 9), (377, 8, 9), (378, 6, 10), (379, 6, 11), (380, 9, 9), (381, 8, 10), (382, 8, 9), (383, 8, 9),
    (385, 8, 9), (386, 8, 8), (387, 8, 9), (389, 8, 8), (420, 9, 9), (421, 9, 9), (423, 7, 9),
    (500, 5, 5), (501, 7, 7), (502, 8, 8), (503, 8, 8), (504, 8, 8), (505, 8, 8), (506, 8, 8), (507, 7, 8),
    (508, 6, 6), (509, 8, 8), (590, 9, 9), (591, 8, 8), (592, 7, 7), (593, 8, 9), (594, 9, 9), (595, 8, 9),
    (596, 9, 9), (597, 6, 7), (598, 8, 8), (599, 7, 8),
    (670, 7, 8), (672, 6, 6), (673, 7, 7), (674, 7, 7), (675, 7, 8), (676, 5, 7), (677, 5, 7), (678, 5, 7),
    (679, 7, 7), (680, 7, 7), (681, 6, 6), (682, 5, 5), (683, 4, 7), (685, 5, 7), (686, 5, 8), (687, 6, 6),
    (688, 5, 6), (689, 6, 8), (690, 4, 7), (691, 7, 7), (692, 7, 7),
    (800, 8, 8), (808, 8, 8), (850, 8, 10), (852, 8, 8), (853, 8, 8), (855, 8, 9), (856, 8, 10), (870, 9, 12),
    (878, 10, 12), (880, 8, 10), (881, 8, 12), (882, 7, 12), (883, 7, 12), (886, 8, 9), (888, 11, 11),
    (960, 7, 7), (961, 7, 8), (962, 8, 9), (963, 8, 9), (964, 8, 10), (965, 8, 8), (966, 8, 9), (967, 7, 9),
    (968, 8, 8), (970, 8, 9), (971, 8, 9), (972, 8, 9), (973, 8, 8), (974, 7, 8), (975, 7, 8), (976, 8, 8),
    (977, 8, 10), (979, 9, 9), (992, 9, 9), (993, 8, 8), (994, 9, 9), (995, 9, 9), (996, 9, 9), (998, 9, 9),
];

/// `+` or `00`, an assigned calling code, and as many digits as its national numbers have. A trunk zero in
/// parentheses, `(0)`, doesn't count.
pub(super) fn international(value: &[u8]) -> bool {
    let mut buffer = [0; 20];
    // An extension is not a part of the number.
    let value = value.split(|byte| matches!(byte, b'x' | b'e')).next().unwrap_or_default();
    let trunk = value.windows(3).any(|three| three == b"(0)");
    let Some(digits) = digits_of(value, &mut buffer) else { return false };
    let digits = if value.starts_with(b"00") { digits.get(2..).unwrap_or_default() } else { digits };
    let Some((code, short, long)) = (1..=3).find_map(|length| {
        let code = number(digits.get(..length)?);
        CODES.iter().find(|row| u64::from(row.0) == code).copied()
    }) else {
        return false;
    };
    let width = code.to_string().len();
    let national = digits.len() - width - usize::from(trunk && digits.get(width) == Some(&0));
    let fits = |length: usize| (usize::from(short)..=usize::from(long)).contains(&length);
    // Some write the trunk zero without parentheses.
    let zero = digits.get(width) == Some(&0) && !trunk;
    balanced(value) && (fits(national) || zero && fits(national - 1))
}

/// Seven to thirteen digits, or six in groups, that are not a date, a pair of years or an IPv4 address.
pub(super) fn national(value: &[u8]) -> bool {
    let mut buffer = [0; 16];
    let Some(digits) = digits_of(value, &mut buffer) else { return false };
    let groups = || value.split(|byte| !byte.is_ascii_digit()).filter(|group| !group.is_empty());
    let year = |group: &[u8]| group.len() == 4 && (group.starts_with(b"19") || group.starts_with(b"20"));
    let dated = groups().any(year) && groups().all(|group| group.len() == 2 || year(group));
    let dots = value.iter().filter(|&&byte| byte == b'.').count();
    let address = dots == 3 && groups().count() == 4 && groups().all(|group| group.len() <= 3);
    let enough = if groups().count() > 2 { 6 } else { 7 };
    (enough..=13).contains(&digits.len()) && balanced(value) && !dated && !address
}

fn balanced(value: &[u8]) -> bool {
    let count = |wanted| value.iter().filter(|&&byte| byte == wanted).count();
    count(b'(') == count(b')')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_free_of_prefixes() {
        for (n, (a, short, long)) in CODES.iter().enumerate() {
            assert!(short <= long && usize::from(*long) + a.to_string().len() <= 15, "{a}");
            for (b, ..) in CODES.iter().skip(n + 1) {
                assert!(!b.to_string().starts_with(&a.to_string()), "{a} {b}");
            }
        }
    }

    #[test]
    fn international_numbers_fit_their_code() {
        let valid = [
            "+1 650 253 0000",
            "+44 20 7946 0958",
            "+49 (0)30 901820",
            "+33 1 23 45 67 89",
            "0041446681800",
            "+1-312-555-0186x02751",
        ];
        for text in valid {
            assert!(international(text.as_bytes()), "{text}");
        }
        for text in ["+1 650 253 000", "+1 650 253 0000 5", "+999 12345678", "+44 20", "+1 (650 253 0000"] {
            assert!(!international(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn dates_are_not_telephone_numbers() {
        for text in ["030 901820", "555-1234", "0171/1234567", "912 34 56 78", "20 12 34"] {
            assert!(national(text.as_bytes()), "{text}");
        }
        for text in ["2026-11-21", "21.11.2026", "2020-2024", "192.168.10.12", "123456"] {
            assert!(!national(text.as_bytes()), "{text}");
        }
    }
}
