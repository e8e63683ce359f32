//! What is read, what is not, and how what was read is written again.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const MAIL: &str = "jane.doe@harbour-post.com";

/// What `text` holds, in a word.
fn word(text: &str, named: PathHint) -> &'static str {
    match StringContent::of(text, || named) {
        StringContent::Text => "text",
        StringContent::Opaque { .. } => "opaque",
        StringContent::Key { .. } => "key",
        StringContent::Encoded { .. } => "encoded",
        StringContent::Percent(_) => "percent",
    }
}

/// Replaces `from` by `to` in every text that is shown.
fn replace(text: &str, from: &str, to: &str) -> String {
    let edits = StringContent::of(text, || PathHint::Nothing).edits(text, &mut |part| {
        let found = part.text.match_indices(from).filter(|_| part.look == ScanMode::Text);
        found.map(|(at, _)| Edit { range: at..at + from.len(), with: to.to_owned() }).collect()
    });
    String::from_utf8(crate::edit::spliced(text.as_bytes(), &edits)).unwrap()
}

fn cut(text: &str, length: usize) -> &str {
    text.get(..length).unwrap()
}

/// Bytes that look drawn at random, the same each time.
pub(in crate::redact) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn strings_are_read_or_not() {
    let (long, seal, short) =
        (BASE64.encode(&noise(300)), BASE64.encode(&noise(64)), BASE64.encode(&noise(30)));
    let huge = BASE64.encode(&noise(9000));
    let prose = BASE64.encode(format!("write to {MAIL}, please").as_bytes());
    let png = BASE64.encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01");
    let text_and_bytes = [&noise(200)[..], b"and the account of Jane Doe is 12345678", &noise(200)].concat();
    let latin = BASE64.encode(
        &[&b"Gr\xfc\xdfe an "[..], MAIL.as_bytes(), b", sch\xf6ne Gr\xfc\xdfe aus M\xfcnchen"].concat(),
    );
    let wide: Vec<u8> = format!("write to {MAIL}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let path = format!("Home/{}4111111111111111/Letters", "Documents/Backup2024/Jane/".repeat(6));
    let snake = format!("Customer_Record_Of_{}4111111111111111", "Jane_Doe_And_Her_".repeat(8));
    let (nothing, secret, sealed, bytes) =
        (PathHint::Nothing, PathHint::Secret, PathHint::Seal, PathHint::Bytes);
    let cases: &[(&str, String, PathHint, &str)] = &[
        ("prose", "Hello, how are you?".into(), nothing, "text"),
        ("a card", "4111111111111111".into(), nothing, "text"),
        ("a card in a seal", "4111111111111111".repeat(4), sealed, "text"),
        ("an AWS key", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(), nothing, "text"),
        ("an AWS key where bytes are", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(), bytes, "text"),
        ("a long path", path, nothing, "text"),
        ("long names", snake.clone(), nothing, "text"),
        ("short names", "Jane_".repeat(30), nothing, "text"),
        (
            "a number in noise",
            format!("{}41111111111111111111{}", cut(&long, 60), cut(&long, 60)),
            nothing,
            "text",
        ),
        ("long names in a seal", snake.clone(), sealed, "text"),
        ("long names where bytes are", snake, bytes, "text"),
        ("short", short, nothing, "text"),
        ("a short seal elsewhere", seal.clone(), nothing, "text"),
        ("a seal", seal.clone(), sealed, "opaque"),
        ("a seal in a secret", seal, secret, "text"),
        ("long", long.clone(), nothing, "key"),
        ("long, a secret", long.clone(), secret, "text"),
        ("long, a seal", long.clone(), sealed, "opaque"),
        ("long, bytes", long.clone(), bytes, "opaque"),
        ("long with space around it", format!(" {long}\n"), nothing, "key"),
        ("long with a space", long.replacen('e', " ", 1), nothing, "text"),
        ("of both alphabets", format!("-{}/+{}", cut(&long, 63), cut(&long, 64)), nothing, "text"),
        ("huge", huge, nothing, "opaque"),
        ("silence", "A".repeat(4000), nothing, "text"),
        ("silence where sound is", "A".repeat(4000), bytes, "opaque"),
        ("a picture", png.clone(), nothing, "opaque"),
        ("a picture that is a secret", png.clone(), secret, "text"),
        ("a picture in a URL", format!("data:image/png;base64,{png}"), nothing, "opaque"),
        ("a picture in a URL with a name", format!("DATA:image/png;name=x;Base64,{png}"), nothing, "opaque"),
        ("bytes in a URL", format!("data:application/x;base64,{long}"), nothing, "key"),
        ("a key in a URL", format!("data:;base64,{}", BASE64.encode(&noise(30))), nothing, "text"),
        ("no base64 in a URL", format!("data:;base64,{MAIL}"), nothing, "text"),
        ("text in a URL", format!("data:;base64,{prose}"), nothing, "encoded"),
        ("text in a percent-encoded URL", "data:,jane%40example.com".into(), nothing, "percent"),
        ("text in a plain URL", format!("data:text/plain,{MAIL}"), nothing, "text"),
        ("not quite a URL", "data: a, b and c".into(), nothing, "text"),
        ("text", prose.clone(), nothing, "encoded"),
        ("text in a seal", prose.clone(), sealed, "encoded"),
        ("text where bytes are", prose.clone(), bytes, "encoded"),
        ("text that is a secret", prose, secret, "encoded"),
        ("text among bytes", BASE64.encode(&text_and_bytes), nothing, "encoded"),
        ("Latin-1", latin, nothing, "encoded"),
        ("UTF-16", BASE64.encode(&wide), nothing, "encoded"),
        ("UTF-16, marked", BASE64.encode(&[&[0xff, 0xfe], &wide[..]].concat()), nothing, "encoded"),
    ];
    for (what, text, named, expected) in cases {
        assert_eq!(word(text, *named), *expected, "{what}");
    }
}

#[test]
fn what_was_read_is_written_again_as_it_was() {
    let (from, to) = (MAIL, "x@y.z");
    let plain = format!("write to {from} soon, will you?");
    let other = plain.replace(from, to);
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let lines = |text: &str, end: &str| {
        let lines: Vec<&str> =
            (0..text.len()).step_by(16).map(|at| text.get(at..text.len().min(at + 16)).unwrap()).collect();
        lines.join(end)
    };
    let latin = |text: &str| [b"M\xfcller ", text.as_bytes(), b" \xa9"].concat();
    type Write<'w> = &'w dyn Fn(&str) -> String;
    let writers: [(&str, Write<'_>); 12] = [
        ("padded", &|text| BASE64.encode(text.as_bytes())),
        ("not padded", &|text| BASE64_NOPAD.encode(text.as_bytes())),
        ("for URLs", &|text| BASE64URL_NOPAD.encode(format!("{text}🙂🙂>>???").as_bytes())),
        ("for URLs, padded", &|text| BASE64URL.encode(format!("{text}🙂🙂>>??").as_bytes())),
        ("within space", &|text| format!(" {}\n", BASE64.encode(text.as_bytes()))),
        ("in lines", &|text| lines(&BASE64.encode(text.as_bytes()), "\n")),
        ("in lines of mail", &|text| lines(&BASE64.encode(text.as_bytes()), "\r\n")),
        ("UTF-16", &|text| BASE64.encode(&wide(text))),
        ("Latin-1", &|text| BASE64.encode(&latin(text))),
        ("in a URL", &|text| format!("data:text/plain;base64,{}", BASE64.encode(text.as_bytes()))),
        ("in a URL without a type", &|text| format!("data:;base64,{}", BASE64.encode(text.as_bytes()))),
        ("plain", &|text| text.to_owned()),
    ];
    for (what, write) in writers {
        assert_eq!(replace(&write(&plain), from, to), write(&other), "{what}");
    }
    let url = "data:text/plain,Gr%C3%bc%c3%9fe%20an%20jane.doe%40harbour-post.com%2c%20100%";
    let edited = "data:text/plain,Gr%C3%bc%c3%9fe%20an%20x%40y.z%2c%20100%";
    assert_eq!(replace(url, from, to), edited);
    // Base64 that a URL spells with escapes and blanks.
    let spelled =
        format!("data:;base64,{}", BASE64.encode(plain.as_bytes()).replace('=', "%3D").replace('d', "\n d"));
    assert_eq!(replace(&spelled, from, to), format!("data:;base64,{}", BASE64.encode(other.as_bytes())));
    // The last bits mean nothing, so nobody need set them to zero.
    assert_eq!(replace("eHggamFuZUBhYi5kZR==", "jane@ab.de", "x"), BASE64.encode(b"xx x"));
}

#[test]
fn names_and_types_around_a_payload_are_read() {
    let png = BASE64.encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01");
    let url = format!("data:image/png;name={MAIL};base64,{png}");
    assert_eq!(replace(&url, MAIL, "x"), url.replace(MAIL, "x"));
}

#[test]
fn a_key_is_found_as_a_whole_only() {
    let whole = ScanMode::Whole;
    assert!(whole.admits(&(0..200), 200) && whole.admits(&(0..32), 200) && whole.admits(&(40..150), 200));
    assert!(
        !whole.admits(&(0..19), 200) && !whole.admits(&(50..66), 200) && !ScanMode::Not.admits(&(0..9), 9)
    );
}

proptest! {
    #[test]
    fn random_bytes_are_not_read(bytes in vec(any::<u8>(), 96..1200), url in any::<bool>()) {
        let text = if url { BASE64URL_NOPAD.encode(&bytes) } else { BASE64.encode(&bytes) };
        prop_assert!(matches!(word(&text, PathHint::Nothing), "key" | "opaque"), "{}", text);
        prop_assert_eq!(word(&text, PathHint::Seal), "opaque");
    }

    #[test]
    fn text_is_read(text in "[ -~äöüß語\\n]{12,600}") {
        prop_assert_eq!(word(&BASE64.encode(text.as_bytes()), PathHint::Nothing), "encoded");
        let url = format!("data:;base64,{}", BASE64.encode(text.as_bytes()));
        prop_assert_eq!(word(&url, PathHint::Nothing), "encoded");
    }

    #[test]
    fn nothing_is_lost_on_the_way(text in "\\PC{0,400}", from in "[a-z]{1,3}") {
        prop_assert_eq!(replace(&text, &from, &from), text.clone());
        let url = format!("data:;base64,{}", BASE64.encode(text.as_bytes()));
        prop_assert_eq!(replace(&url, "\u{1}", ""), url);
    }
}

#[test]
fn an_edit_of_a_token_is_written_in_base64_and_what_covers_it_counts() {
    const MAIL: &str = "From: r.cooper@harbour-post.com";
    let base64 = BASE64.encode(MAIL.as_bytes());
    let text = format!("mail jane: {base64} end");
    let all = tokens(&text);
    let mask = |range: std::ops::Range<usize>| Edit { range, with: "*".to_owned() };
    let mut see = |part: StringPart<'_>| match part.decoded {
        true => vec![mask(6..MAIL.len())],
        false if part.look == ScanMode::Not => Vec::new(),
        false => vec![mask(5..9), mask(20..24)],
    };
    let done = edits_with_tokens(&text, &all, &mut see);
    assert_eq!(
        crate::edit::spliced(text.as_bytes(), &done),
        format!("mail *: {} end", BASE64.encode(b"From: *")).into_bytes()
    );
    let mut see = |part: StringPart<'_>| match part.decoded {
        true => vec![mask(6..MAIL.len())],
        false if part.look == ScanMode::Not => Vec::new(),
        false => vec![mask(5..text.len() - 4)],
    };
    assert_eq!(edits_with_tokens(&text, &all, &mut see), [mask(5..text.len() - 4)]);
}
