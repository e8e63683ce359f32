//! Gzip (RFC 1952): one file, which may lie in several members one behind the other.

use std::io::Write;

use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};

use crate::sanitize::{Rejection, Work, unfold};

/// What each member begins with (RFC 1952 2.3.1).
const MAGIC: &[u8] = b"\x1f\x8b";

/// Cleans the file within. Its name stays where it is a plain one; what lies behind the last member does not.
///
/// # Errors
/// The inner format's; [`Rejection::Malformed`], [`Rejection::OverLimit`].
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let mut content = Vec::new();
    let mut name = String::new();
    let mut rest = file;
    while rest.starts_with(MAGIC) {
        work.items(1)?;
        let mut decoder = GzDecoder::new(rest);
        let read =
            |decoder: &&mut GzDecoder<&[u8]>| rest.len().saturating_sub(decoder.get_ref().len()) as u64;
        unfold::all(&mut decoder, read, &mut content, work)?;
        if name.is_empty() {
            let stored = decoder.header().and_then(|header| header.filename()).unwrap_or_default();
            name = plain(stored);
        }
        rest = decoder.into_inner();
    }
    let redacted = work.names(&[name.as_str()])?.pop().flatten();
    let unpacked = if name.is_empty() { without_ending(work.name()) } else { name.clone() };
    let (kind, clean) = work.file_of(&unpacked, &content)?;
    let written = redacted.map_or(name, |redacted| plain(redacted.as_bytes()));
    packed(&work.fitting(&written, kind).unwrap_or(written), &clean)
}

/// What a file is called once it is unpacked, if it says no name itself.
fn without_ending(name: &str) -> String {
    let last = plain(name.as_bytes());
    match last.rsplit_once('.') {
        Some((stem, ending)) if ending.eq_ignore_ascii_case("tgz") => format!("{stem}.tar"),
        Some((stem, ending)) if ending.eq_ignore_ascii_case("svgz") => format!("{stem}.svg"),
        Some((stem, ending)) if ending.eq_ignore_ascii_case("gz") => stem.to_owned(),
        _ => String::new(),
    }
}

/// The last part of a name, if it is nothing but text.
fn plain(name: &[u8]) -> String {
    let name = std::str::from_utf8(name).unwrap_or_default();
    let last = name.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    if last.contains(char::is_control) { String::new() } else { last.to_owned() }
}

fn packed(name: &str, content: &[u8]) -> Result<Vec<u8>, Rejection> {
    let builder = if name.is_empty() { GzBuilder::new() } else { GzBuilder::new().filename(name) };
    let mut encoder = builder.mtime(0).write(Vec::new(), Compression::default());
    encoder.write_all(content).map_err(|_| Rejection::Malformed)?;
    encoder.finish().map_err(|_| Rejection::Malformed)
}
