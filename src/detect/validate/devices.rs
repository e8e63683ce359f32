//! Numbers of devices, vehicles, places and books.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::digits::luhn;
use super::{digits_of, number};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("coordinates", |value| coordinates(value).into()),
    ("iccid", |value| iccid(value).into()),
    ("imei", |value| imei(value).into()),
    ("imsi", |value| imsi(value).into()),
    ("isbn", |value| isbn(value).into()),
    ("mac", |value| mac(value).into()),
    ("mac_address", |value| mac_address(value).into()),
    ("mac_of_a_maker", |value| mac_of_a_maker(value).into()),
    ("vin", |value| vin(value).into()),
    ("vin_shape", |value| vin_shape(value).into()),
];

/// An IMEI of 14 digits, of 15 with the Luhn digit, or of 16 with the software version (3GPP TS 23.003 section 6).
fn imei(value: &[u8]) -> bool {
    let mut buffer = [0; 16];
    let Some(digits) = digits_of(value, &mut buffer) else { return false };
    number(digits) != 0
        && match digits.len() {
            14 | 16 => true,
            15 => luhn(digits),
            _ => false,
        }
}

/// Mobile country codes that are assigned (ITU-T E.212), as first and last of each range.
#[rustfmt::skip]
const MOBILE_COUNTRIES: &[(u16, u16)] = &[
    (1, 1), (202, 202), (204, 204), (206, 206), (208, 208), (212, 214), (216, 216), (218, 222), (226, 226), (228, 228),
    (230, 232), (234, 235), (238, 238), (240, 240), (242, 242), (244, 244), (246, 248), (250, 250), (255, 255),
    (257, 257), (259, 260), (262, 262), (266, 266), (268, 268), (270, 270), (272, 272), (274, 274), (276, 276),
    (278, 278), (280, 280), (282, 284), (286, 286), (288, 290), (292, 295), (297, 297), (302, 302), (308, 308),
    (310, 314), (316, 316), (330, 330), (334, 334), (338, 338), (340, 340), (342, 342), (344, 344), (346, 346),
    (348, 348), (350, 350), (352, 352), (354, 354), (356, 356), (358, 358), (360, 360), (362, 366), (368, 368),
    (370, 370), (372, 372), (374, 374), (376, 376), (400, 402), (404, 405), (410, 410), (412, 422), (424, 429),
    (432, 432), (434, 434), (436, 438), (440, 441), (450, 450), (452, 452), (454, 457), (460, 460), (466, 467),
    (470, 470), (472, 472), (502, 502), (505, 505), (510, 510), (514, 515), (520, 520), (525, 525), (528, 528),
    (530, 530), (536, 537), (539, 555), (602, 643), (645, 655), (657, 659), (702, 702), (704, 704), (706, 706),
    (708, 708), (710, 710), (712, 712), (714, 714), (716, 716), (722, 722), (724, 724), (730, 730), (732, 732),
    (734, 734), (736, 736), (738, 738), (740, 740), (742, 742), (744, 744), (746, 746), (748, 748), (750, 750),
    (901, 902), (991, 991), (995, 995), (999, 999),
];

/// An IMSI (ITU-T E.212): an assigned country, 14 or 15 digits.
fn imsi(value: &[u8]) -> bool {
    let mut buffer = [0; 15];
    let Some(digits) = digits_of(value, &mut buffer) else { return false };
    let country = number(digits.get(..3).unwrap_or_default());
    let assigned =
        MOBILE_COUNTRIES.iter().any(|&(low, high)| (u64::from(low)..=u64::from(high)).contains(&country));
    matches!(digits.len(), 14 | 15) && value.iter().all(u8::is_ascii_digit) && assigned
}

/// The number of a SIM (ITU-T E.118): 89, 19 or 20 digits, the last by Luhn; some issuers leave it out.
fn iccid(value: &[u8]) -> bool {
    let mut buffer = [0; 20];
    digits_of(value, &mut buffer)
        .is_some_and(|digits| matches!(digits.len(), 19 | 20) && digits.starts_with(&[8, 9]) && luhn(digits))
}

/// An ISBN of ten or thirteen digits (ISO 2108), or of nine as before 1970.
fn isbn(value: &[u8]) -> bool {
    let symbols: Vec<u8> = value.iter().copied().filter(|byte| !matches!(byte, b'-' | b' ')).collect();
    let last = if symbols.len() == 9 { 8 } else { 9 };
    let ten = |n: usize, byte: u8| match byte {
        b'0'..=b'9' => Some(u32::from(byte - b'0')),
        b'X' | b'x' if n == last => Some(10),
        _ => None,
    };
    let values: Option<Vec<u32>> = symbols.iter().enumerate().map(|(n, &byte)| ten(n, byte)).collect();
    let Some(values) = values else { return false };
    match values.len() {
        9 | 10 => {
            let weighted = values.iter().rev().zip(1..).map(|(value, weight)| value * weight);
            weighted.sum::<u32>().is_multiple_of(11)
        }
        13 => {
            let sum: u32 =
                values.iter().zip([1, 3].into_iter().cycle()).map(|(value, weight)| value * weight).sum();
            (symbols.starts_with(b"978") || symbols.starts_with(b"979")) && sum.is_multiple_of(10)
        }
        _ => false,
    }
}

/// The blocks of 24 bits that the IEEE Registration Authority has assigned: ascending, each the distance to the one
/// before in groups of seven bits.
static MAKERS: LazyLock<HashSet<u32>> = LazyLock::new(|| {
    let (mut last, mut distance, mut shift) = (u32::MAX, 0u32, 0u32);
    let mut all = HashSet::new();
    for &byte in include_bytes!("oui.bin") {
        distance |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            last = last.wrapping_add(distance);
            all.insert(last);
            (distance, shift) = (0, 0);
        }
    }
    all
});

/// The bytes that the hexadecimal digits of `value` write, and how many.
fn hex(value: &[u8]) -> Option<([u8; 8], usize)> {
    let (mut bytes, mut n) = ([0u8; 8], 0);
    for &byte in value {
        let Some(digit) = char::from(byte).to_digit(16) else { continue };
        let place = bytes.get_mut(n / 2)?;
        *place = *place << 4 | u8::try_from(digit).ok()?;
        n += 1;
    }
    (n % 2 == 0).then_some((bytes, n / 2))
}

/// Whether someone has the block of the address, or it is one that everyone may use (IEEE 802 section 8.2).
fn assigned(bytes: [u8; 8]) -> bool {
    let [a, b, c, ..] = bytes;
    a & 2 != 0 || MAKERS.contains(&u32::from_be_bytes([0, a, b, c]))
}

/// The bytes of a MAC address whose pairs may lack a leading zero.
fn padded(value: &[u8]) -> Option<[u8; 8]> {
    let mut bytes = [0; 8];
    for (place, pair) in bytes.iter_mut().zip(value.split(|byte| matches!(byte, b':' | b'-'))) {
        *place = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// A MAC address of six bytes in pairs, of an assigned block.
fn mac(value: &[u8]) -> bool {
    let pairs = || value.split(|byte| matches!(byte, b':' | b'-'));
    pairs().count() == 6
        && pairs().all(|pair| matches!(pair.len(), 1 | 2) && pair.iter().all(u8::is_ascii_hexdigit))
        && padded(value).is_some_and(assigned)
}

/// An address of six or eight bytes (EUI-48, EUI-64) in pairs with one separator or in fours with dots, not all
/// zeros.
fn mac_address(value: &[u8]) -> bool {
    let Some(&separator) = value.iter().find(|byte| !byte.is_ascii_hexdigit()) else { return false };
    let width = if separator == b'.' { 4 } else { 2 };
    let groups = || value.split(|&byte| byte == separator);
    matches!(separator, b':' | b'-' | b'.' | b' ')
        && matches!(groups().count() * width, 12 | 16)
        && groups().all(|group| group.len() == width && group.iter().all(u8::is_ascii_hexdigit))
        && hex(value).is_some_and(|(bytes, _)| bytes != [0; 8])
}

/// Twelve or sixteen hexadecimal digits whose block a maker has.
fn mac_of_a_maker(value: &[u8]) -> bool {
    hex(value).is_some_and(|(bytes, length)| matches!(length, 6 | 8) && bytes != [0; 8] && assigned(bytes))
}

/// Values of the letters in a VIN, from A on (49 CFR 565.15); I, O and Q don't occur.
const TRANSLITERATED: &[u8; 26] = b"12345678012345070923456789";
const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/// A vehicle identification number (ISO 3779): its letters and digits, four digits at the end.
fn vin_shape(value: &[u8]) -> bool {
    let legal =
        |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() && !matches!(byte, b'I' | b'O' | b'Q');
    value.len() == 17
        && value.iter().all(legal)
        && value.iter().any(u8::is_ascii_uppercase)
        && value.iter().skip(13).all(u8::is_ascii_digit)
}

/// A vehicle identification number with the check digit that it has in North America and China.
fn vin(value: &[u8]) -> bool {
    let of = |byte: u8| match byte {
        b'0'..=b'9' => Some(u32::from(byte - b'0')),
        _ => TRANSLITERATED.get(usize::from(byte.wrapping_sub(b'A'))).map(|&digit| u32::from(digit - b'0')),
    };
    let sum = value.iter().zip(WEIGHTS).try_fold(0, |sum, (&byte, weight)| Some(sum + of(byte)? * weight));
    let check = sum.and_then(|sum| if sum % 11 == 10 { Some('X') } else { char::from_digit(sum % 11, 10) });
    vin_shape(value) && check.is_some() && check == value.get(8).map(|&byte| char::from(byte))
}

/// Two numbers, of which the first can be a latitude and the second a longitude (ISO 6709), or degrees, minutes and
/// seconds of both.
fn coordinates(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let balanced = text.starts_with('(') == text.ends_with(')');
    let halves = text.find(',').or_else(|| text.find(['N', 'S', 'n', 's']));
    let Some((north, east)) = halves.and_then(|at| text.split_at_checked(at)) else { return false };
    let within = |half: &str, most: f64| {
        let mut parts = half.split(|c: char| !c.is_ascii_digit() && c != '.').filter(|part| !part.is_empty());
        let mut part =
            |most: f64| parts.next().map_or(Some(0.0), |part| part.parse().ok().filter(|n: &f64| *n <= most));
        let (degrees, minutes, seconds) = (part(most), part(59.0), part(59.999_999));
        match (degrees, minutes, seconds) {
            (Some(degrees), Some(minutes), Some(seconds)) => {
                degrees + minutes / 60.0 + seconds / 3600.0 <= most
            }
            _ => false,
        }
    };
    balanced && within(north, 90.0) && within(east, 180.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices() {
        assert!(imei(b"358240057319063") && imei(b"49-015420-323751-8") && !imei(b"490154203237517"));
        assert!(imsi(b"310150123456789") && !imsi(b"999") && !imsi(b"492150123456789"));
        assert!(
            iccid(b"8944501234567890122") == luhn(&[8, 9, 4, 4, 5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 2])
        );
    }

    #[test]
    fn mac_addresses() {
        for address in ["00:00:5E:00:53:01", "00-00-5e-00-53-af", "0000.5e00.5301", "02:00:00:00:00:00:00:01"]
        {
            assert!(mac_address(address.as_bytes()), "{address}");
        }
        for address in ["00:00:00:00:00:00", "00:00:5E:00:53", "00:00-5E:00:53:01", "12:34:56", "0000.5e00"] {
            assert!(!mac_address(address.as_bytes()), "{address}");
        }
        assert!(mac(b"00:00:5E:00:53:01") && !mac(b"0000.5e00.5301") && mac(b"02:00:00:00:00:00"));
        assert!(mac_of_a_maker(b"00005e005301") && !mac_of_a_maker(b"000000000000"));
    }

    #[test]
    fn vehicles_books_and_places() {
        // 49 CFR 565's and ISBN-13's textbook values.
        assert!(vin(b"1M8GDM9AXKP042788") && !vin(b"1M8GDM9A1KP042788") && !vin(b"11111111111111111"));
        assert!(
            isbn(b"0-306-40615-2")
                && isbn(b"978-0-306-40615-7")
                && isbn(b"097522980X")
                && !isbn(b"0306406153")
        );
        for place in ["48.8584, 2.2945", "(-33.8568, 151.2153)", "40°26′46″N 79°58′56″W", "90,180"]
        {
            assert!(coordinates(place.as_bytes()), "{place}");
        }
        for place in ["95.0, 10.0", "(10.5, 20.5", "10.5, 181.0", "40°61′46″N 79°58′56″W"] {
            assert!(!coordinates(place.as_bytes()), "{place}");
        }
    }
}
