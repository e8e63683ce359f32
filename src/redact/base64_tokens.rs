//! Text in base64 in the middle of a text, as tools' results have it: `Observation: {"blob": "SmFuZQ…"}`, a document printed
//! by Python, a line of YAML.

use std::ops::Range;

use crate::redact::file::magic;
use crate::redact::payload::{Base64, Payload, in_base64};

/// The shortest that is decoded, in characters without padding: thirteen bytes, as short addresses are.
const SHORTEST: usize = 18;

/// The texts that stand in `text` in base64, none with more of a name beside it (`host.`, `@`). What has bytes that are no text,
/// or is a file, stays as it is.
pub(super) fn tokens(text: &str) -> Vec<Payload> {
    let bytes = text.as_bytes();
    let at = |place: Option<usize>| place.and_then(|place| bytes.get(place)).copied();
    let named = |dot: Option<u8>, beyond: Option<u8>| match dot {
        Some(b'@') => true,
        // As in a JWS or a host's name; at the end of a sentence nothing follows.
        Some(b'.') => beyond.is_some_and(|byte| in_base64(byte) && !byte.is_ascii_whitespace()),
        _ => false,
    };
    let stands = |run: &Range<usize>| {
        let before = (at(run.start.checked_sub(1)), at(run.start.checked_sub(2)));
        !named(before.0, before.1) && !named(at(Some(run.end)), at(Some(run.end + 1)))
    };
    runs(bytes)
        .map(|run| behind_escape(bytes, run))
        .filter(|run| run.len() >= SHORTEST && stands(run))
        .filter_map(|run| {
            let base64 = Base64::of(text.get(run.clone())?)?;
            let bytes = base64.decode().filter(|bytes| magic(bytes).is_none())?;
            Payload::of(bytes, &base64, run).filter(Payload::is_text)
        })
        .collect()
}

/// A run without the letters of an escape that stands before it, as in `"blob:\\nRnJv…"`, which is Python's `repr` of two lines.
fn behind_escape(text: &[u8], run: Range<usize>) -> Range<usize> {
    if run.start.checked_sub(1).and_then(|before| text.get(before)) != Some(&b'\\') {
        return run;
    }
    let letters = match text.get(run.start) {
        Some(b'u') => 5,
        Some(b'x') => 3,
        _ => 1,
    };
    run.start + letters..run.end.max(run.start + letters)
}

/// The runs of characters of base64 that are long enough, with the padding behind them.
fn runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let within = |byte: u8| in_base64(byte) && !matches!(byte, b'=' | b'\n' | b'\r');
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            // From behind, so that of words only their ends are looked at.
            let window = text.get(at..at + SHORTEST)?;
            if let Some(other) = window.iter().rposition(|byte| !within(*byte)) {
                at += other + 1;
                continue;
            }
            let behind = text.get(at + SHORTEST..).unwrap_or_default();
            let more = behind.iter().take_while(|byte| within(**byte)).count();
            let padding = behind.iter().skip(more).take(2).take_while(|byte| **byte == b'=').count();
            let run = at..at + SHORTEST + more + padding;
            at = run.end + 1;
            return Some(run);
        }
    })
}

#[cfg(test)]
mod tests {
    use data_encoding::{BASE64, BASE64URL_NOPAD};

    use super::*;

    const MAIL: &str = "From: r.cooper@harbour-post.com";

    fn decoded(text: &str) -> Vec<String> {
        tokens(text).iter().flat_map(|token| token.texts().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    #[test]
    fn tokens_are_found_between_what_parts_them() {
        for form in [
            r#"Observation: {"id": 7, "blob": "{}"}"#,
            "{'id': 7, 'blob': '{}'}",
            "```json\n{\"blob\": \"{}\"}\n```",
            r#"{\"blob\": \"{}\"}"#,
            "id: 7\nblob: {}\nend: 1\n",
            "blob={}&x=1",
            "{}",
            "<blob>{}</blob>",
            "7,{},8",
            "{'out': 'blob:\\n{}\\n'}",
            "as \\u0022{}\\u0022",
            "Please decode {}.",
            "what is {}...",
            "“{}” – and 内容：{}。",
        ] {
            for base64 in [BASE64.encode(MAIL.as_bytes()), BASE64URL_NOPAD.encode(MAIL.as_bytes())] {
                let found = decoded(&form.replace("{}", &base64));
                assert_eq!(found, vec![MAIL; form.matches("{}").count()], "{form}");
            }
        }
    }

    #[test]
    fn what_is_no_text_in_base64_is_left() {
        for text in [
            "/usr/local/lib/python3/site-packages/numpy/core",
            "internationalization_of_everything_there_is",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x",
            "SmFuZQ==",
            "",
        ] {
            assert_eq!(decoded(text), [""; 0], "{text}");
        }
    }
}
