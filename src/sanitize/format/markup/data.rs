//! [`Data`]: what an address holds itself (`data:`, RFC 2397), read as browsers read it, and cleaned as if it came alone.

use std::ops::Range;

use crate::base::path::percent_decoded;
use crate::sanitize::format::image;
use crate::sanitize::format::patch::Patches;
use crate::sanitize::{ChangedObject, ObjectKind, Rejection, Work};

/// What stands in place of an address that held what does not stay.
const NOTHING: &str = "about:blank";

/// What an address holds.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::sanitize::format) struct Data {
    /// What it says it is, in lower case, without parameters.
    kind: String,
    bytes: Vec<u8>,
}

impl Data {
    /// What an address holds; `None` if it leads somewhere.
    pub(in crate::sanitize::format) fn of(address: &str) -> Option<Self> {
        let start = address.trim_start_matches(|c: char| c <= ' ');
        // Browsers leave these out wherever they stand: of no other address so much is copied.
        let scheme: String = start.chars().filter(|c| !is_left_out(*c)).take(5).collect();
        if !scheme.eq_ignore_ascii_case("data:") {
            return None;
        }
        let read: String = start.chars().filter(|c| !is_left_out(*c)).collect();
        let read = read.split('#').next().unwrap_or_default().trim_end_matches(|c: char| c <= ' ');
        let (head, body) = read.get(5..).unwrap_or_default().split_once(',').unwrap_or_default();
        let kind = head.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let coded = head.rsplit_once(';').is_some_and(|(_, last)| last.trim().eq_ignore_ascii_case("base64"));
        let bytes = percent_decoded(body.as_bytes());
        let bytes = if coded { decoded(&bytes) } else { bytes };
        Some(Self { kind, bytes })
    }

    /// The address that it becomes; `None`: it stays.
    ///
    /// # Errors
    /// The host's; [`Rejection::OverLimit`].
    pub(in crate::sanitize::format) fn cleaned(
        &self,
        work: &mut Work<'_>,
    ) -> Result<Option<String>, Rejection> {
        let Self { kind, bytes } = self;
        if bytes.is_empty() {
            return Ok(None);
        }
        work.unpacked(bytes.len())?;
        let clean = if kind.starts_with("image/") || image::is_picture(bytes) {
            work.part("data", bytes)?;
            image::shown("", bytes, work)
        } else {
            work.attachment("", bytes)
        };
        match clean {
            Ok(clean) => Ok(clean.map(|clean| written(kind, &clean))),
            Err(rejection) if rejection.leaves_out() => {
                work.leave_out(ChangedObject::left_out(ObjectKind::File).because(rejection));
                Ok(Some(NOTHING.to_owned()))
            }
            Err(rejection) => Err(rejection),
        }
    }
}

/// A picture that a text holds in base64.
#[derive(Debug, PartialEq, Eq)]
struct EmbeddedPicture {
    /// Where its digits stand.
    range: Range<usize>,
    /// The picture.
    bytes: Vec<u8>,
}

/// Cleans the pictures that a text holds in base64, for whoever shows it as a page: what is text for us, such as style sheets
/// that stay as they are.
///
/// # Errors
/// The host's; [`Rejection::OverLimit`].
pub(in crate::sanitize::format) fn clean_pictures(
    text: &str,
    patches: &mut Patches,
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    for EmbeddedPicture { range, bytes } in pictures(text) {
        work.unpacked(bytes.len())?;
        work.part("data", &bytes)?;
        if let Some(clean) = image::picture(&bytes, work)? {
            patches.put(range, data_encoding::BASE64.encode(&clean));
        }
    }
    Ok(())
}

fn pictures(text: &str) -> Vec<EmbeddedPicture> {
    const MARK: &str = "base64,";
    let digit = |b: &u8| b.is_ascii_alphanumeric() || b"+/=%".contains(b);
    let (mut out, mut from) = (Vec::new(), 0_usize);
    while let Some(rest) = text.get(from..) {
        let found = memchr::memchr_iter(b',', rest.as_bytes())
            .find(|at| before(rest, *at).is_some_and(|word| word.eq_ignore_ascii_case(MARK)));
        let Some(at) = found else { break };
        let start = from.saturating_add(at).saturating_add(1);
        let digits = text.as_bytes().get(start..).unwrap_or_default();
        let range = start..start.saturating_add(digits.iter().take_while(|b| digit(b)).count());
        let bytes = decoded(&percent_decoded(text.get(range.clone()).unwrap_or_default().as_bytes()));
        from = range.end;
        if image::is_picture(&bytes) {
            out.push(EmbeddedPicture { range, bytes });
        }
    }
    out
}

/// The word of seven characters that ends in the comma at `at`.
fn before(text: &str, at: usize) -> Option<&str> {
    text.get(at.checked_sub(6)?..at.checked_add(1)?)
}

fn written(kind: &str, bytes: &[u8]) -> String {
    let kind = image::format(bytes).map_or(kind, |format| format.to_mime_type());
    format!("data:{kind};base64,{}", data_encoding::BASE64.encode(bytes))
}

/// What is no part of an address, wherever it stands (URL Standard: basic URL parser, step 3).
fn is_left_out(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r')
}

/// Bytes from base64, as far as it is that.
fn decoded(base64: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> =
        base64.iter().copied().filter(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/')).collect();
    let whole =
        digits.get(..digits.len().saturating_sub(usize::from(digits.len() % 4 == 1))).unwrap_or_default();
    let mut encoding = data_encoding::BASE64_NOPAD.specification();
    encoding.check_trailing_bits = false;
    encoding.encoding().ok().and_then(|encoding| encoding.decode(whole).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_browsers_read_them() {
        for (address, kind, bytes) in [
            ("data:image/png;base64,AAEC", "image/png", &[0, 1, 2][..]),
            (" d\nata:Image/PNG;x=y; BASE64 ,AA%45%43 ", "image/png", &[0, 1, 2]),
            ("data:,a%20b#c", "", b"a b"),
            ("DATA:text/plain;charset=utf-8,a", "text/plain", b"a"),
            ("data:image/png", "", b""),
        ] {
            let want = Data { kind: kind.to_owned(), bytes: bytes.to_vec() };
            assert_eq!(Data::of(address), Some(want), "{address}");
        }
        for address in ["http://a.example/data:x", "data", "database:x", "", "da\u{e9}ta:x"] {
            assert_eq!(Data::of(address), None, "{address}");
        }
    }

    #[test]
    fn pictures_are_found_in_texts() {
        let gif = data_encoding::BASE64.encode(b"GIF89a12345");
        let text = format!("é ![a](data:image/gif;base64,{gif}) base64,AAAA BASE64,{gif}\" base64,");
        let found = pictures(&text);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|held| text.get(held.range.clone()) == Some(gif.as_str())));
        assert!(found.iter().all(|held| held.bytes == b"GIF89a12345"));
    }
}
