//! Which answers are compressed, what their heads say, and that every decoder reads them, piece by piece.

use std::io::Read;

use http::header::{ACCEPT_RANGES, TRANSFER_ENCODING, VARY};
use proptest::prelude::*;

use super::*;

type Fields = &'static [(&'static str, &'static str)];

const GZIP: Compression = Compression { coding: Some(Coding::Gzip), min: 1024 };
const NONE: Compression = Compression { coding: None, min: 1024 };

fn head(status: u16, fields: Fields) -> ResponseHeader {
    let mut head = ResponseHeader::build(status, None).unwrap();
    for (name, value) in fields {
        head.append_header(*name, *value).unwrap();
    }
    head
}

fn shown(head: &ResponseHeader) -> Vec<String> {
    let line =
        |(name, value): (&http::HeaderName, &HeaderValue)| format!("{name}: {}", value.to_str().unwrap());
    let mut lines: Vec<String> = head.headers.iter().map(line).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn what_would_become_smaller_and_may_be_changed_is_compressed() {
    const JSON: (&str, &str) = ("content-type", "application/json");
    let rows: [(u16, Fields, bool); 30] = [
        (200, &[JSON], true),
        (200, &[("content-type", "Text/Event-Stream; charset=utf-8")], true),
        (200, &[("content-type", "text/html")], true),
        (200, &[("content-type", "application/problem+json")], true),
        (200, &[("content-type", "image/svg+xml")], true),
        (404, &[JSON], true),
        (201, &[JSON], true),
        (200, &[JSON, ("content-length", "1024")], true),
        (200, &[JSON, ("content-length", "1023")], false),
        (200, &[JSON, ("content-length", "0")], false),
        (200, &[("content-type", "image/png")], false),
        (200, &[("content-type", "video/mp4")], false),
        (200, &[("content-type", "application/zip")], false),
        (200, &[("content-type", "application/pdf")], false),
        (200, &[("content-type", "application/octet-stream")], false),
        (200, &[("content-type", "application/vnd.amazon.eventstream")], false),
        (200, &[("content-type", "multipart/byteranges; boundary=x")], false),
        (200, &[("content-type", "textual/plain")], false),
        (200, &[], false),
        (200, &[JSON, JSON], false),
        (200, &[JSON, ("content-encoding", "gzip")], false),
        (200, &[JSON, ("content-encoding", "identity")], false),
        (200, &[JSON, ("cache-control", "no-transform")], false),
        (200, &[JSON, ("cache-control", "max-age=1"), ("cache-control", "private, No-Transform")], false),
        (200, &[JSON, ("cache-control", "no-transformation, max-age=1")], true),
        (204, &[JSON], false),
        (205, &[JSON], false),
        (206, &[JSON, ("content-range", "bytes 0-9999/20000"), ("content-length", "10000")], false),
        (103, &[JSON], false),
        (304, &[], true),
    ];
    for (status, fields, suits) in rows {
        assert_eq!(GZIP.suits(&head(status, fields)), suits, "{status} {fields:?}");
        assert_eq!(NONE.suits(&head(status, fields)), suits, "caches must know: {status} {fields:?}");
    }
    let all = Compression { min: 0, ..GZIP };
    assert!(all.suits(&head(200, &[JSON, ("content-length", "1")])));
    assert!(!all.suits(&head(200, &[JSON, ("content-length", "0")])));
}

#[test]
fn a_head_says_what_became_of_its_body() {
    const FIELDS: Fields = &[
        ("content-type", "text/plain"),
        ("content-length", "5000"),
        ("accept-ranges", "bytes"),
        ("content-digest", "sha-256=:x:"),
        ("repr-digest", "sha-256=:x:"),
        ("content-md5", "x"),
        ("etag", "\"a\""),
        ("vary", "origin"),
    ];
    const COMPRESSED: [&str; 6] = [
        "content-encoding: gzip",
        "content-type: text/plain",
        "etag: W/\"a\"",
        "transfer-encoding: chunked",
        "vary: Accept-Encoding",
        "vary: origin",
    ];
    let budget = MemoryBudget::unlimited();
    for (version, chunked) in [(Version::HTTP_11, true), (Version::HTTP_10, false), (Version::HTTP_2, false)]
    {
        let mut begun = head(200, FIELDS);
        assert!(GZIP.begin(&mut begun, version, &budget).is_some());
        let want = COMPRESSED.iter().filter(|line| chunked || !line.starts_with("transfer-encoding"));
        assert_eq!(shown(&begun), want.copied().collect::<Vec<_>>(), "{version:?}");
    }
    let mut other = head(200, FIELDS);
    assert!(NONE.begin(&mut other, Version::HTTP_11, &budget).is_none());
    assert_eq!(other.headers.get_all(VARY).iter().count(), 2);
    assert!(other.headers.contains_key(CONTENT_LENGTH) && other.headers.contains_key(ACCEPT_RANGES));
    assert_eq!(other.headers[ETAG], "\"a\"");
    // Where memory is short, answers go as they are.
    let (small, busy) = (MemoryBudget::process(10), MemoryBudget::process(64 << 20));
    let mut held = busy.request(64 << 20).charge();
    held.set(32 << 20).unwrap();
    for budget in [small, busy] {
        let mut poor = head(200, FIELDS);
        assert!(GZIP.begin(&mut poor, Version::HTTP_11, &budget).is_none());
        assert!(poor.headers.contains_key(CONTENT_LENGTH) && !poor.headers.contains_key(CONTENT_ENCODING));
    }
}

#[test]
fn a_head_without_a_body_says_what_it_would_say_with_one() {
    const ETAG_AND_LENGTH: Fields =
        &[("content-type", "text/plain"), ("content-length", "5000"), ("etag", "\"a\"")];
    let mut asked_for_head = head(200, ETAG_AND_LENGTH);
    GZIP.announce(&mut asked_for_head);
    let want =
        ["content-encoding: gzip", "content-type: text/plain", "etag: W/\"a\"", "vary: Accept-Encoding"];
    assert_eq!(shown(&asked_for_head), want);
    assert!(!asked_for_head.headers.contains_key(TRANSFER_ENCODING));
    let rows: [(Compression, Fields, &[&str]); 3] = [
        (GZIP, &[("etag", "\"a\"")], &["etag: W/\"a\"", "vary: Accept-Encoding"]),
        (GZIP, &[("etag", "W/\"a\"")], &["etag: W/\"a\"", "vary: Accept-Encoding"]),
        (NONE, &[("etag", "\"a\"")], &["etag: \"a\"", "vary: Accept-Encoding"]),
    ];
    for (compression, fields, want) in rows {
        let mut not_modified = head(304, fields);
        compression.announce(&mut not_modified);
        assert_eq!(shown(&not_modified), want, "{compression:?} {fields:?}");
    }
}

/// What somebody else's decoder makes of bytes, of which there may come more.
fn decoded(coding: Coding, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    // At the end of what there is a decoder complains that there is no more; what it has said by then counts.
    match coding {
        Coding::Gzip => drop(flate2::bufread::GzDecoder::new(bytes).read_to_end(&mut out)),
        Coding::Br => drop(brotli::Decompressor::new(bytes, 4096).read_to_end(&mut out)),
        Coding::Zstd => {
            let decoder = zstd::stream::read::Decoder::new(bytes);
            drop(decoder.and_then(|mut decoder| decoder.read_to_end(&mut out)));
        }
        Coding::Deflate => unreachable!("it is not offered"),
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// However a body is cut: after each piece all of it so far can be read, and in the end nothing else was said.
    #[test]
    fn every_piece_can_be_read_when_it_has_left(
        pieces in prop::collection::vec(prop::collection::vec(prop::num::u8::ANY, 0..600), 0..8),
        long in prop::collection::vec(97_u8..101, 0..70_000),
    ) {
        for coding in [Coding::Gzip, Coding::Br, Coding::Zstd] {
            let encoder = Encoder::new(coding, &MemoryBudget::unlimited()).unwrap();
            let mut compressor = Compressor(Some(encoder));
            let (mut plain, mut wire) = (Vec::new(), Vec::new());
            for piece in pieces.iter().chain([&long]) {
                plain.extend_from_slice(piece);
                let mut chunk = Some(Bytes::from(piece.clone()));
                compressor.write(&mut chunk, false).unwrap();
                wire.extend_from_slice(&chunk.unwrap_or_default());
                prop_assert_eq!(&decoded(coding, &wire), &plain, "{:?}", coding);
            }
            let mut last = None;
            compressor.write(&mut last, true).unwrap();
            wire.extend_from_slice(&last.take().unwrap_or_default());
            prop_assert_eq!(&decoded(coding, &wire), &plain, "{:?}", coding);
            // Nothing comes after the end.
            compressor.write(&mut last, true).unwrap();
            prop_assert_eq!(last, None);
        }
    }
}

#[test]
fn an_end_is_an_end_to_strict_decoders() {
    let text = b"data: one\n\ndata: two\n\n".repeat(100);
    for coding in [Coding::Gzip, Coding::Br, Coding::Zstd] {
        let encoder = Encoder::new(coding, &MemoryBudget::unlimited()).unwrap();
        let (mut compressor, mut wire) = (Compressor(Some(encoder)), Vec::new());
        for (n, piece) in text.chunks(300).enumerate() {
            let mut chunk = Some(Bytes::copy_from_slice(piece));
            compressor.write(&mut chunk, n + 1 == text.chunks(300).count()).unwrap();
            wire.extend_from_slice(&chunk.unwrap());
        }
        let mut out = Vec::new();
        let whole = match coding {
            Coding::Gzip => flate2::read::MultiGzDecoder::new(wire.as_slice()).read_to_end(&mut out),
            Coding::Br => brotli::Decompressor::new(wire.as_slice(), 4096).read_to_end(&mut out),
            _ => zstd::stream::read::Decoder::new(wire.as_slice()).unwrap().read_to_end(&mut out),
        };
        assert_eq!((whole.ok(), &out), (Some(text.len()), &text), "{coding:?}");
    }
}
