//! What `Content-Type` says of a body (RFC 9110 section 8.3), as far as rewriting cares.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};

use crate::redact::FileClass;
use crate::stream::formatted::TextFormat;

/// Where text is in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentFormat {
    /// JSON, one document or a sequence of them (RFC 8259, NDJSON).
    Json,
    /// An event stream (WHATWG HTML, section 9.2).
    Events,
    /// An Amazon event stream, which is made of binary messages (Smithy, "Amazon Event Stream Specification").
    AmazonEventStream,
    /// A form (WHATWG URL, section 5.1).
    Form,
    /// A table, or markup.
    Formatted(TextFormat),
    /// All of it.
    Text,
}

/// What a head says of where text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredFormat {
    /// There.
    As(ContentFormat),
    /// Nothing that can be made sense of: no header, an empty one, two types.
    Nothing,
    /// Bytes (`application/octet-stream`), which may be anything.
    Bytes,
    /// A type of which nothing is known here, which may be anything too.
    Unlisted,
    /// Something that has no text of its own, or text in a charset in which ASCII is not ASCII.
    Opaque,
}

impl DeclaredFormat {
    /// Reads a head. Two headers, or a list in one, say nothing unless they agree.
    pub fn of(headers: &HeaderMap) -> Self {
        let mut declared = headers.get_all(CONTENT_TYPE).iter().map(one);
        match declared.next() {
            Some(first) if declared.all(|other| other == first) => first,
            _ => Self::Nothing,
        }
    }
}

/// Whether a head names a charset in which a reader could read something else than we do.
pub fn is_foreign(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_TYPE).iter().any(|value| {
        value.to_str().map_or(true, |text| charsets(text).any(|charset| encoding(charset).is_none()))
    })
}

/// Whether a body is said to be sound.
pub fn is_sound(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media_type.split('/').next().unwrap_or_default().trim().eq_ignore_ascii_case("audio")
}

/// Whether a body is an image, sound or a film: it begins as one does, and its head says so, or says no more than that it is
/// bytes.
pub fn is_media(headers: &HeaderMap, head: &[u8]) -> bool {
    let mut declared = headers.get_all(CONTENT_TYPE).iter();
    let (first, second) = (declared.next(), declared.next());
    let media_type = first.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = media_type.split('/').next().unwrap_or_default().trim().to_ascii_lowercase();
    let name = match DeclaredFormat::of(headers) {
        DeclaredFormat::Opaque if matches!(kind.as_str(), "image" | "video") => "",
        // Frames of MPEG audio begin so, and much else does.
        DeclaredFormat::Opaque if kind == "audio" => "sound.mp3",
        DeclaredFormat::Bytes => "",
        DeclaredFormat::Nothing if first.is_none() => "",
        _ => return false,
    };
    second.is_none() && FileClass::of(head, "", name) == FileClass::Media
}

/// Whether a body is said to be one JSON document a line.
pub fn is_lines(headers: &HeaderMap) -> bool {
    is_lines_type(headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default())
}

/// The same of a media type.
pub fn is_lines_type(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    LINES.iter().any(|known| essence.eq_ignore_ascii_case(known))
}

/// What NDJSON is called.
const LINES: [&str; 12] = [
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/jsonlines",
    "application/json-lines",
    "application/x-jsonl",
    "application/x-jsonlines",
    "application/x-json-lines",
    "application/x-json-stream",
    "application/nljson",
    "application/x-nljson",
    "application/stream+json",
];

/// What JSON is called, beside `application/json` and what ends with `+json`: by its older names, in sequences (RFC 7464), by
/// JSON-RPC, and by services of AWS.
const JSONS: [&str; 8] = [
    "application/json-seq",
    "application/json-rpc",
    "application/jsonrequest",
    "application/x-json",
    "text/json",
    "text/x-json",
    "application/x-amz-json-1.0",
    "application/x-amz-json-1.1",
];

/// What event streams are called.
const EVENTS: [&str; 4] =
    ["text/event-stream", "text/x-event-stream", "application/event-stream", "application/x-event-stream"];

/// What has no text that could be read as it passes: archives, documents, programs, messages of RPC.
const PACKED: [&str; 34] = [
    "application/cbor",
    "application/dns-message",
    "application/epub+zip",
    "application/gzip",
    "application/java-archive",
    "application/msgpack",
    "application/msword",
    "application/ogg",
    "application/pdf",
    "application/pgp-encrypted",
    "application/pkcs7-mime",
    "application/postscript",
    "application/protobuf",
    "application/rtf",
    "application/vnd.apache.arrow.file",
    "application/vnd.apache.arrow.stream",
    "application/vnd.apache.parquet",
    "application/vnd.google.protobuf",
    "application/vnd.msgpack",
    "application/vnd.rar",
    "application/wasm",
    "application/x-7z-compressed",
    "application/x-bzip2",
    "application/x-gzip",
    "application/x-msgpack",
    "application/x-parquet",
    "application/x-protobuf",
    "application/x-rar-compressed",
    "application/x-rpm",
    "application/x-tar",
    "application/x-wheel+zip",
    "application/x-zip-compressed",
    "application/zip",
    "application/zstd",
];

/// How types begin and end of such.
const PACKED_BEGIN: [&str; 8] = [
    "application/connect+",
    "application/grpc",
    "application/vnd.debian.",
    "application/vnd.ms-",
    "application/vnd.oasis.",
    "application/vnd.openxmlformats-",
    "application/vnd.sqlite3",
    "application/x-git-",
];
const PACKED_END: [&str; 9] =
    ["+zip", "+gzip", "+zstd", "+cbor", "+msgpack", "+protobuf", ".tar", "tar.gzip", "tar.gz"];

fn is_packed(essence: &str) -> bool {
    PACKED.contains(&essence)
        || PACKED_BEGIN.iter().any(|begin| essence.starts_with(begin))
        || PACKED_END.iter().any(|end| essence.ends_with(end))
}

/// Text that is no `text/…`.
const TEXTS: [&str; 14] = [
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json5",
    "application/ldif",
    "application/openmetrics-text",
    "application/sql",
    "application/toml",
    "application/typescript",
    "application/x-javascript",
    "application/x-sh",
    "application/x-subrip",
    "application/x-yaml",
    "application/yaml",
];

fn one(value: &HeaderValue) -> DeclaredFormat {
    let Ok(text) = value.to_str() else { return DeclaredFormat::Nothing };
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    // Every one of these keeps ASCII as it is; what is not UTF-8 passes byte for byte.
    let readable =
        |charset| matches!(encoding(charset), Some(known) if [UTF_8, WINDOWS_1252].contains(&known));
    if !charsets(text).all(readable) {
        return DeclaredFormat::Opaque;
    }
    if let Some(format) = TextFormat::of(&essence) {
        return DeclaredFormat::As(ContentFormat::Formatted(format));
    }
    match essence.as_str() {
        "" => DeclaredFormat::Nothing,
        "application/json" => DeclaredFormat::As(ContentFormat::Json),
        json if JSONS.contains(&json) || LINES.contains(&json) => DeclaredFormat::As(ContentFormat::Json),
        events if EVENTS.contains(&events) => DeclaredFormat::As(ContentFormat::Events),
        "application/vnd.amazon.eventstream" => DeclaredFormat::As(ContentFormat::AmazonEventStream),
        "application/x-www-form-urlencoded" => DeclaredFormat::As(ContentFormat::Form),
        text if TEXTS.contains(&text) || text.ends_with("+yaml") => DeclaredFormat::As(ContentFormat::Text),
        "application/octet-stream" | "binary/octet-stream" => DeclaredFormat::Bytes,
        // Also where the messages of a call are JSON: there are lengths between them.
        other if is_packed(other) => DeclaredFormat::Opaque,
        other if other.ends_with("+json") => DeclaredFormat::As(ContentFormat::Json),
        other if other.starts_with("text/") => DeclaredFormat::As(ContentFormat::Text),
        other if other.matches('/').count() != 1 || other.contains([',', ' ', '*']) => {
            DeclaredFormat::Nothing
        }
        other if other.starts_with("application/") => DeclaredFormat::Unlisted,
        _ => DeclaredFormat::Opaque,
    }
}

/// The values of `charset`; an empty one is none.
fn charsets(text: &str) -> impl Iterator<Item = &str> {
    // In a list of types, parameters end where the next one begins.
    let parameters = text.split([';', ',']).filter_map(|part| part.split_once('='));
    let charset = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charset
        .map(|(_, value)| value.trim().trim_matches(['"', '\'']).trim())
        .filter(|charset| !charset.is_empty())
}

/// The charset that a label names, if ASCII is ASCII in it; also as Python spells some: `latin-1`, `utf_8`.
fn encoding(label: &str) -> Option<&'static Encoding> {
    let plain = || label.replace(['-', '_'], "");
    let known = Encoding::for_label(label.as_bytes()).or_else(|| Encoding::for_label(plain().as_bytes()));
    known.filter(|known| known.is_ascii_compatible())
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: DeclaredFormat = DeclaredFormat::As(ContentFormat::Json);
    const TEXT: DeclaredFormat = DeclaredFormat::As(ContentFormat::Text);

    const fn formatted(format: TextFormat) -> DeclaredFormat {
        DeclaredFormat::As(ContentFormat::Formatted(format))
    }

    const ROWS: &[(&[&str], DeclaredFormat, bool)] = &[
        (&["application/json"], JSON, false),
        (&["Application/Problem+JSON; charset=utf-8"], JSON, false),
        (&["application/json;charset=utf8"], JSON, false),
        (&["application/json ; CHARSET = \"Latin1\" ; x=y"], JSON, false),
        (&["application/json; charset="], JSON, false),
        (&["application/x-ndjson"], JSON, false),
        (&["text/json"], JSON, false),
        (&["text/event-stream; charset=utf-8"], DeclaredFormat::As(ContentFormat::Events), false),
        (
            &["application/vnd.amazon.eventstream"],
            DeclaredFormat::As(ContentFormat::AmazonEventStream),
            false,
        ),
        (&["application/x-www-form-urlencoded"], DeclaredFormat::As(ContentFormat::Form), false),
        (&["text/plain"], TEXT, false),
        (&["application/yaml"], TEXT, false),
        (&["application/x-yaml; charset=latin-1"], TEXT, false),
        (&["application/openapi+yaml"], TEXT, false),
        (&["text/html; charset=\"UTF-8\""], formatted(TextFormat::Html), false),
        (&["image/svg+xml"], formatted(TextFormat::Xml), false),
        (&["Text/CSV; header=present"], formatted(TextFormat::Csv), false),
        (&["application/grpc"], DeclaredFormat::Opaque, false),
        (&["application/grpc+proto"], DeclaredFormat::Opaque, false),
        (&["text/plain; charset=utf-16"], DeclaredFormat::Opaque, true),
        (&["application/json; charset=utf-7"], DeclaredFormat::Opaque, true),
        (&["application/json; charset=cp037"], DeclaredFormat::Opaque, true),
        (&["application/json; x=y; charset=iso-2022-jp"], DeclaredFormat::Opaque, true),
        (&["application/json; charset=utf-8; charset=utf-16"], DeclaredFormat::Opaque, true),
        (&["application/json; charset=shift_jis"], DeclaredFormat::Opaque, false),
        (&["multipart/form-data; boundary=x"], DeclaredFormat::Opaque, false),
        (&["image/png"], DeclaredFormat::Opaque, false),
        (&["application/x-amz-json-1.1"], JSON, false),
        (&["application/x-amz-json-1.0; charset=utf-8"], JSON, false),
        (&["application/jsonlines"], JSON, false),
        (&["application/x-json-stream"], JSON, false),
        (&["application/json-rpc"], JSON, false),
        (&["application/json5"], TEXT, false),
        (&["application/x-event-stream"], DeclaredFormat::As(ContentFormat::Events), false),
        (&["application/vnd.example.v2"], DeclaredFormat::Unlisted, false),
        (&["application/connect+json"], DeclaredFormat::Opaque, false),
        (&["application/grpc-web+json"], DeclaredFormat::Opaque, false),
        (&["application/vnd.oci.image.layer.v1.tar"], DeclaredFormat::Opaque, false),
        (&["application/dns-message"], DeclaredFormat::Opaque, false),
        (&["application/x-anything"], DeclaredFormat::Unlisted, false),
        (&["application/pdf"], DeclaredFormat::Opaque, false),
        (&["application/vnd.ms-excel"], DeclaredFormat::Opaque, false),
        (
            &["application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
            DeclaredFormat::Opaque,
            false,
        ),
        (&["application/x-protobuf"], DeclaredFormat::Opaque, false),
        (&["application/octet-stream"], DeclaredFormat::Bytes, false),
        (&[], DeclaredFormat::Nothing, false),
        (&[""], DeclaredFormat::Nothing, false),
        (&["; charset=utf-8"], DeclaredFormat::Nothing, false),
        (&["json"], DeclaredFormat::Nothing, false),
        (&["*/*"], DeclaredFormat::Nothing, false),
        (&["application/json, text/plain"], DeclaredFormat::Nothing, false),
        (&["application/json, text/plain; charset=utf-32"], DeclaredFormat::Opaque, true),
        (&["application/json", "application/json; charset=utf-8"], JSON, false),
        (&["application/json", "text/plain"], DeclaredFormat::Nothing, false),
        (&["text/plain", "text/plain; charset=utf-16le"], DeclaredFormat::Nothing, true),
    ];

    #[test]
    fn media_are_what_both_the_head_and_the_first_bytes_call_so() {
        let (png, mp3, wav): (&[u8], &[u8], &[u8]) =
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\xff\xfb\x90\x64\0\0", b"RIFF\x24\x08\0\0WAVEfmt ");
        let rows: [(&[&str], &[u8], bool); 17] = [
            (&["image/png"], png, true),
            (&["Audio/WAV; codecs=audio/pcm; samplerate=16000"], wav, true),
            (&["audio/mpeg"], mp3, true),
            (&["video/mp4"], b"\0\0\0\x18ftypmp42\0\0\0\0", true),
            (&["application/octet-stream"], wav, true),
            (&["binary/octet-stream"], png, true),
            (&[], png, true),
            (&["application/octet-stream"], mp3, false),
            (&["image/png"], mp3, false),
            (&["image/png"], b"name: Jane Doe", false),
            (&["audio/wav"], b"RIFF of the WAVE, says Jane, and goes on", false),
            (&["audio/pcm"], b"\x01\x80\0\x7f\0", false),
            (&["audio/mpeg"], b"\xff\xfea\0b\0", false),
            (&["image/svg+xml"], png, false),
            (&["application/json"], png, false),
            (&["application/pdf"], png, false),
            (&["image/png", "audio/wav"], png, false),
        ];
        for (types, head, media) in rows {
            let mut headers = HeaderMap::new();
            for value in types {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(value));
            }
            assert_eq!(is_media(&headers, head), media, "{types:?} {}", head.escape_ascii());
        }
    }

    #[test]
    fn a_head_says_where_text_is() {
        for (values, declared, foreign) in ROWS {
            let mut headers = HeaderMap::new();
            for value in *values {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(value));
            }
            assert_eq!(
                (DeclaredFormat::of(&headers), is_foreign(&headers)),
                (*declared, *foreign),
                "{values:?}"
            );
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_bytes(b"application/json; charset=\xFF").unwrap());
        assert_eq!((DeclaredFormat::of(&headers), is_foreign(&headers)), (DeclaredFormat::Nothing, true));
    }
}
