//! Every shape keeps what its format promises, gives distinct values distinct surrogates, and is the same in every
//! call.

use std::collections::HashSet;

use proptest::prelude::*;
use regex::Regex;

use super::cipher::Cipher;
use super::letters::ShapedSurrogate;
use super::{number, phone, word};
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;

type Shape = fn(&Cipher<'_>, &str) -> ShapedSurrogate;

fn with_cipher<T>(run: impl FnOnce(&Cipher<'_>) -> T) -> T {
    let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
    run(&Cipher { key: &key, tweak: [9; 16] })
}

fn shaped(shape: Shape, value: &str) -> String {
    with_cipher(|cipher| shape(cipher, value).unwrap().unwrap())
}

fn text(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    word::text(cipher, value).map(Some)
}

fn github(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    word::key(cipher, value, "ghp_")
}

fn pem(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    Ok(word::pem(cipher, value))
}

fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

fn is_luhn(text: &str) -> bool {
    let odd = |(at, digit): (usize, &u32)| match digit * (1 + at as u32 % 2) {
        twice @ 10.. => twice - 9,
        once => once,
    };
    digits(text).iter().rev().enumerate().map(odd).sum::<u32>().is_multiple_of(10)
}

/// (shape, value, what the surrogate looks like).
const LAYOUTS: [(Shape, &str, &str); 29] = [
    (number::card, "4012 8888 8888 1881", r"[1-9]\d{3} \d{4} \d{4} \d{4}"),
    (number::card, "378282246310005", r"[1-9]\d{14}"),
    (number::card, "4012-8888-8888-1882", r"[1-9]\d{3}-\d{4}-\d{4}-\d{4}"),
    (number::ssn, "536-22-8726", r"\d{3}-\d{2}-\d{4}"),
    (number::ssn, "536228726", r"[1-8]\d{8}"),
    (number::ssn, "000-22-8726", r"0\d{2}-\d{2}-\d{4}"),
    (number::itin, "912-70-1234", r"9\d{2}-(5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])-\d{4}"),
    (phone::any, "+1 650 253 0000", r"\+1 [2-9]\d{2} [2-9]\d{2} \d{4}"),
    (phone::any, "(415) 555-1234", r"\([2-9]\d{2}\) [2-9]\d{2}-\d{4}"),
    (phone::any, "1-415-555-1234 ext. 77", r"1-[2-9]\d{2}-[2-9]\d{2}-\d{4} ext\. \d{2}"),
    (phone::any, "123-456-7890", r"1\d{2}-\d{3}-\d{4}"),
    (phone::any, "+44 (0)20 7946 0958", r"\+44 \(0\)2\d \d{4} \d{4}"),
    (phone::any, "+49 30 901820", r"\+49 3\d \d{6}"),
    (phone::any, "+353 1 234 5678", r"\+353 1 \d{3} \d{4}"),
    (phone::any, "0041446681800", r"00414\d{8}"),
    (phone::any, "06 12 34 56 78", r"06 \d{2} \d{2} \d{2} \d{2}"),
    (number::iban, "GB82 WEST 1234 5698 7654 32", r"GB\d{2} [A-Z]{4} \d{4} \d{4} \d{4} \d{2}"),
    (number::ip, "192.168.0.1", r"\d{1,3}(\.\d{1,3}){3}"),
    (number::ip, "2001:db8::1", r"[0-9a-f:]{3,39}"),
    (number::digits, "12345678", r"[1-9]\d{7}"),
    (number::digits, "0123-456", r"0\d{3}-\d{3}"),
    (
        word::email,
        "maria.lopez+rx@corp-mail.Example.com",
        r"\w{5}\.\w{5}\+\w{2}@[a-z0-9]{4}-[a-z0-9]{4}\.[a-z0-9]{7}\.com",
    ),
    (word::email, "jo@ab.de", r"[0-9A-Za-z]{2}@[0-9a-z]{2}\.de"),
    (
        word::url,
        "https://pangea.cloud/a%20b?id=42",
        r"https://[0-9a-z]{6}\.cloud/[a-z]%20[a-z]\?[a-z]{2}=\d{2}",
    ),
    (word::url, "http://u:p@10.1.2.3:8080/x", r"http://[a-z]:[a-z]@\d{1,3}(\.\d{1,3}){3}:8080/[a-z]"),
    (github, "ghp_abcDEF0123456789abcdefghijklmnopqrst", r"ghp_[a-z]{3}[A-Z]{3}\d{10}[a-z]{20}"),
    (
        pem,
        "-----BEGIN RSA PRIVATE KEY-----\\nMIIE+w==\\n-----END RSA PRIVATE KEY-----",
        r"-----BEGIN RSA PRIVATE KEY-----\\n[0-9A-Za-z+/]{6}==\\n-----END RSA PRIVATE KEY-----",
    ),
    (
        pem,
        "-----BEGIN X-----\nMIIE\nabcd\n-----END X-----\n",
        r"-----BEGIN X-----\n[0-9A-Za-z+/]{4}\n[0-9A-Za-z+/]{4}\n-----END X-----\n",
    ),
    (text, "José Ángel-42 王", r"[A-Z][a-z]{3} [A-Z][a-z]{4}-\d{2} [a-z]"),
];

#[test]
fn layouts_are_kept() {
    for (shape, value, layout) in LAYOUTS {
        let surrogate = shaped(shape, value);
        assert!(
            Regex::new(&format!("^(?:{layout})$")).unwrap().is_match(&surrogate),
            "{value} → {surrogate}"
        );
        assert_ne!(surrogate, value);
        assert_eq!(surrogate, shaped(shape, value), "the same in every call");
    }
}

/// (value, what its short surrogate looks like).
#[test]
fn what_is_too_long_gets_a_short_surrogate() {
    let long = "Ab1/".repeat(50_000);
    let cases = [
        (long.clone(), "", r"[0-9A-Za-z]{64}"),
        (format!("sk-proj-{long}"), "sk-proj-", r"sk-proj-[0-9A-Za-z]{64}"),
        (
            format!("-----BEGIN RSA PRIVATE KEY-----\r\n{long}\r\n-----END RSA PRIVATE KEY-----"),
            "",
            "-----BEGIN RSA PRIVATE KEY-----\r\n[0-9A-Za-z]{64}\r\n-----END RSA PRIVATE KEY-----",
        ),
        (
            format!(r"-----BEGIN PRIVATE KEY-----\n{long}\n-----END PRIVATE KEY-----\n"),
            "",
            r"-----BEGIN PRIVATE KEY-----\\n[0-9A-Za-z]{64}\\n-----END PRIVATE KEY-----\\n",
        ),
        (format!("-----BEGIN PRIVATE KEY-----{long}"), "", "-----BEGIN PRIVATE KEY-----[0-9A-Za-z]{64}"),
        (format!("-----BEGIN {long}-----"), "", r"[0-9A-Za-z]{64}"),
    ];
    for (value, prefix, layout) in cases {
        let short = |value: &str| with_cipher(|cipher| word::short(cipher, value, prefix));
        let surrogate = short(&value);
        assert!(Regex::new(&format!("^(?:{layout})$")).unwrap().is_match(&surrogate), "{surrogate}");
        assert_eq!(surrogate, short(&value), "the same in every call");
        assert_ne!(surrogate, short(&format!("{value}x")));
    }
}

#[test]
fn what_is_not_laid_out_as_its_format_says_is_left_to_text() {
    let cases: [(Shape, &str); 5] = [
        (word::email, "no address"),
        (number::iban, "GB82 WEST 1234 5698 7654 33"),
        (number::iban, "GB"),
        (number::ip, "1.2.3"),
        (number::card, ""),
    ];
    for (shape, value) in cases {
        assert_eq!(with_cipher(|cipher| shape(cipher, value)), Ok(None), "{value}");
    }
}

/// The value of a number.
type Sample = fn(u32) -> String;

/// Layouts whose maps are permutations: no two of a sample may meet.
#[test]
fn distinct_values_get_distinct_surrogates() {
    let sample: [(Shape, Sample); 7] = [
        (number::card, |n| {
            let payload = format!("401288888{n:06}");
            (0..10).map(|check| format!("{payload}{check}")).find(|card| is_luhn(card)).unwrap()
        }),
        (number::ssn, |n| format!("{:03}-{:02}-{:04}", n % 600 + 1, n / 600 + 1, n + 1)),
        (phone::any, |n| format!("+1 415 {:03} {:04}", n % 1000, n)),
        (number::digits, |n| format!("{n:06}")),
        (number::ip, |n| format!("10.0.{}.{}", n / 256, n % 256)),
        (word::email, |n| format!("u{n:03}@example.com")),
        (number::iban, |n| {
            let iban = |check| format!("GB{check:02}WEST{n:014}");
            (2..99).map(iban).find(|iban| with_cipher(|c| number::iban(c, iban)) != Ok(None)).unwrap()
        }),
    ];
    for (at, (shape, value)) in sample.into_iter().enumerate() {
        let surrogates: HashSet<String> = (0..1500).map(|n| shaped(shape, &value(n))).collect();
        assert_eq!(surrogates.len(), 1500, "sample {at}");
    }
}

fn mod_97(iban: &str) -> u32 {
    let (front, account) = iban.split_at(4);
    let number: String =
        format!("{account}{front}").chars().map(|c| c.to_digit(36).unwrap().to_string()).collect();
    number.bytes().fold(0, |rest, digit| (rest * 10 + u32::from(digit - b'0')) % 97)
}

#[test]
fn numbers_to_base_16_stay_such() {
    let rows = [
        ("8819ebf7817d8275d691f8c258a9b314700461e0808759b99653fa9f6ebf66bf", "[0-9a-f]{64}"),
        ("8F3A17C29D7E4B618C2F5E6A7B8C9D0E", "[0-9A-F]{32}"),
        ("0f3a17c2-9d7e-4b61-8c2f-5e6a7b8c9d0e", "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        ("8819ebf7817d827z", "[0-9]{4}[a-z]{3}[0-9]{4}[a-z][0-9]{3}[a-z]"),
        ("8819EBf7817d8275", "[0-9]{4}[A-Z]{2}[a-z][0-9]{4}[a-z][0-9]{4}"),
        ("1234567890123456", "[0-9]{16}"),
        ("abcdefabcdefabcd", "[a-z]{16}"),
        ("deadbeef01", "[a-z]{8}[0-9]{2}"),
    ];
    let made = |value: &str| with_cipher(|cipher| word::text(cipher, value)).unwrap();
    for (value, layout) in rows {
        let surrogate = made(value);
        assert!(Regex::new(&format!("^{layout}$")).unwrap().is_match(&surrogate), "{value}: {surrogate}");
        assert!(surrogate != value && surrogate == made(value));
    }
    let letters = |text: &str| text.bytes().any(|byte| byte.is_ascii_alphabetic());
    for n in 0..2000 {
        let surrogate = made(&format!("{n:015}a"));
        assert!(letters(&surrogate) && surrogate.bytes().any(|byte| byte.is_ascii_digit()), "{surrogate}");
    }
}

#[test]
fn escapes_of_signs_stay_and_those_of_letters_are_of_others() {
    let rows = [
        ("Kx9&amp;mQ7zLw2", "[A-Z][a-z][0-9]&amp;[a-z][A-Z][0-9][a-z][A-Z][a-z][0-9]"),
        (r"Kx9\x40mQ7", r"[A-Z][a-z][0-9]\\x40[a-z][A-Z][0-9]"),
        (r"Kx9\tmQ7", r"[A-Z][a-z][0-9]\\t[a-z][A-Z][0-9]"),
        (r"Kx9\u00fcmQ7", r"[A-Z][a-z][0-9][a-z]{2}[A-Z][0-9]"),
        (r"\u0048\u0075nter2", r"(\\u00[4-7][0-9a-f]){2}[a-z]{4}[0-9]"),
        ("%48%75nter2", "(%[4-7][0-9A-F]){2}[a-z]{4}[0-9]"),
        ("100%e9mQ7", "[0-9]{3}%e9[a-z][A-Z][0-9]"),
    ];
    for (value, layout) in rows {
        let surrogate = with_cipher(|cipher| word::text(cipher, value)).unwrap();
        assert!(Regex::new(&format!("^{layout}$")).unwrap().is_match(&surrogate), "{value}: {surrogate}");
        assert_ne!(surrogate, value);
    }
}

#[test]
fn ibans_keep_their_check_digits_right() {
    for iban in ["GB82WEST12345698765432", "DE89370400440532013000", "MT84MALT011000012345MTLCAST001S"] {
        assert_eq!(mod_97(iban), 1);
        let surrogate = shaped(number::iban, iban);
        assert_eq!((mod_97(&surrogate), surrogate.get(..2)), (1, iban.get(..2)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn cards_stay_cards(payload in "[3-6][0-9]{10,17}") {
        let card = (0..10).map(|check| format!("{payload}{check}")).find(|card| is_luhn(card));
        let surrogate = shaped(number::card, &card.unwrap());
        prop_assert!(is_luhn(&surrogate));
        prop_assert_eq!(surrogate.len(), payload.len() + 1);
    }

    #[test]
    fn social_security_numbers_stay_in_use(area in 1u32..900, group in 1u32..100, serial in 1u32..10_000) {
        prop_assume!(area != 666);
        let surrogate = shaped(number::ssn, &format!("{area:03}-{group:02}-{serial:04}"));
        let parts: Vec<u32> = surrogate.split('-').map(|part| part.parse().unwrap()).collect();
        prop_assert!((1..900).contains(&parts[0]) && parts[0] != 666 && parts[1] > 0 && parts[2] > 0);
        prop_assert_eq!(parts[0] < 100, area < 100);
    }

    #[test]
    fn phones_are_no_services(area in 200u32..1000, exchange in 200u32..1000, line in 0u32..10_000) {
        let service = |number: u32| number % 100 == 11;
        prop_assume!(!service(area) && !service(exchange));
        let surrogate = shaped(phone::any, &format!("{area}-{exchange}-{line:04}"));
        let parts: Vec<u32> = surrogate.split('-').map(|part| part.parse().unwrap()).collect();
        prop_assert!(parts[0] >= 200 && parts[1] >= 200 && !service(parts[0]) && !service(parts[1]));
    }

    /// Nothing that can be in a text makes a shape fail, or break its characters' classes.
    #[test]
    fn shapes_are_total(value in "\\PC{0,40}|[0-9A-Za-z@.:/%+ -]{0,60}", n in 0usize..LAYOUTS.len()) {
        let (shape, ..) = LAYOUTS[n];
        let surrogate = with_cipher(|cipher| shape(cipher, &value)).unwrap().unwrap_or_default();
        // A PEM body's `+` and `/` are letters of base 64; addresses are spelled anew.
        let stays = |c: &char| !c.is_alphanumeric() && !"+/:.".contains(*c);
        let kept = |text: &str| text.chars().filter(stays).collect::<String>();
        if !surrogate.is_empty() {
            prop_assert_eq!(kept(&surrogate), kept(&value));
        }
    }
}

/// A model writes a key that it has seen indented into a file of its own, and sees that in the next turn.
#[test]
fn how_a_key_is_laid_out_does_not_change_what_stands_for_it() {
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n{}\nAbn=\n-----END PRIVATE KEY-----",
        "a1nR".repeat(16),
        "bTn0".repeat(16)
    );
    let layouts: [fn(&str) -> String; 4] = [
        |key| key.replace('\n', "\n      "),
        |key| key.replace('\n', "\r\n"),
        |key| key.replace('\n', "\\n"),
        |key| key.replace('\n', ""),
    ];
    let plain = shaped(pem, &key);
    assert_ne!(plain, key);
    for layout in layouts {
        assert_eq!(shaped(pem, &layout(&key)), layout(&plain));
    }
    assert_ne!(shaped(pem, &key.replace("Abn", "Abo")), plain.replace("Abn", "Abo"));
    assert_ne!(shaped(pem, &key.replace("PRIVATE", "RSA PRIVATE")).replace("RSA ", ""), plain);
}
