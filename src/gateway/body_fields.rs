//! Fields of a head that describe the bytes of its body, and are wrong for another one.

use http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, TRANSFER_ENCODING};
use http::{HeaderValue, Version};
use pingora::http::{RequestHeader, ResponseHeader};

/// Removes headers that describe the bytes of a body, and are wrong for a rewritten one.
pub(super) fn strip_body_headers(head: &mut ResponseHeader, version: Version) {
    head.remove_header(&ETAG);
    head.remove_header(&CONTENT_RANGE);
    strip_digests(head);
    frame_anew(head, version);
}

/// Fields that have a digest of the bytes of a body: RFC 1864, RFC 3230, RFC 9530, and those of S3 and of Google's storage.
const DIGESTS: [&str; 10] = [
    "content-md5",
    "digest",
    "content-digest",
    "repr-digest",
    "x-amz-checksum-crc32",
    "x-amz-checksum-crc32c",
    "x-amz-checksum-crc64nvme",
    "x-amz-checksum-sha1",
    "x-amz-checksum-sha256",
    "x-goog-hash",
];

/// Removes digests of the bytes of a body.
pub(super) fn strip_digests(head: &mut ResponseHeader) {
    for name in DIGESTS {
        head.remove_header(name);
    }
}

/// Removes digests of the bytes of a body from the head of a request.
pub(super) fn strip_request_digests(head: &mut RequestHeader) {
    for name in DIGESTS {
        head.remove_header(name);
    }
}

/// Has a head without a body (the answer to HEAD) say nothing of the body that was not seen: neither how long it is nor a
/// digest, by which what is in it could be tried out.
pub(super) fn strip_unseen_body(head: &mut ResponseHeader) {
    head.remove_header(&ETAG);
    head.remove_header(&CONTENT_LENGTH);
    head.remove_header(&CONTENT_RANGE);
    head.remove_header(&ACCEPT_RANGES);
    strip_digests(head);
}

/// Frames a body whose length is not known any more.
pub(super) fn frame_anew(head: &mut ResponseHeader, version: Version) {
    head.remove_header(&CONTENT_LENGTH);
    head.remove_header(&ACCEPT_RANGES);
    // A caller of HTTP/1.0 knows no chunks (RFC 9112 section 6.1): for it the body ends with the connection.
    head.remove_header(&TRANSFER_ENCODING);
    if version == Version::HTTP_11 {
        drop(head.insert_header(TRANSFER_ENCODING, HeaderValue::from_static("chunked")));
    }
}
