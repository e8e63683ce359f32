//! Messages against bytes that were written by hand, heads as they are shown, and what is told of them.

use bytes::Bytes;
use http::StatusCode;
use http::header::AUTHORIZATION;
use proptest::prelude::*;
use prost::Message;

use super::head::{ProxyHeadState, answer_becomes, answer_head, immediate, request_head};
use super::message::{
    BodySendMode, ExchangePart, HeaderMap, HeaderMutation, HeaderValue, ProcessingRequest, ProcessingResponse,
};
use super::mode::BodyModes;
use super::tell::{self, PartDirection};
use crate::api::{ApiAnswer, ApiError};
use crate::gateway::error::GatewayError;

/// `request_headers` with `:path: /` and no body; bodies buffered, answers streamed in full duplex.
const FIRST: &[u8] = &[
    0x12, 0x10, // request_headers
    0x0a, 0x0c, // headers
    0x0a, 0x0a, // a field
    0x0a, 0x05, b':', b'p', b'a', b't', b'h', // key
    0x1a, 0x01, b'/', // raw_value
    0x18, 0x01, // end_of_stream
    0x5a, 0x04, 0x08, 0x02, 0x10, 0x04, // protocol_config
];

#[test]
fn a_message_is_read_as_it_is_written() {
    let first = ProcessingRequest::decode(FIRST).unwrap();
    let modes = BodyModes::of(&first).unwrap();
    assert_eq!(
        modes,
        BodyModes { request: BodySendMode::Buffered, answer: BodySendMode::FullDuplexStreamed }
    );
    let Some(ExchangePart::RequestHeaders(shown)) = &first.shown else { panic!("{first:?}") };
    assert!(shown.end_of_stream && !first.observability_mode);
    let fields = &shown.headers.as_ref().unwrap().headers;
    assert_eq!((fields[0].key.as_str(), fields[0].bytes()), (":path", b"/".as_slice()));
    assert_eq!(first.encode_to_vec(), FIRST);
    assert_eq!(format!("{first:?} {shown:?}"), "ProcessingRequest(..) HttpHeaders(..)");
}

#[test]
fn what_is_told_is_written_as_others_read_it() {
    let mut mutation = HeaderMutation::default();
    mutation.remove("a");
    mutation.set("b", b"c", true);
    let rows: [(ProcessingResponse, &[u8]); 5] = [
        (tell::head(PartDirection::Request, None), &[0x0a, 0x02, 0x0a, 0x00]),
        (
            tell::head(PartDirection::Answer, Some(mutation)),
            &[
                0x12, 0x15, 0x0a, 0x13, 0x12, 0x11, // response_headers, response, header_mutation
                0x0a, 0x0c, 0x0a, 0x06, 0x0a, 0x01, b'b', 0x1a, 0x01, b'c', 0x12, 0x02, 0x08,
                0x01, // set
                0x12, 0x01, b'a', // remove
            ],
        ),
        (
            tell::piece(PartDirection::Request, Some(Bytes::from_static(b"hi")), None),
            &[0x1a, 0x08, 0x0a, 0x06, 0x1a, 0x04, 0x0a, 0x02, b'h', b'i'],
        ),
        (
            tell::piece(PartDirection::Answer, Some(Bytes::new()), None),
            &[0x22, 0x06, 0x0a, 0x04, 0x1a, 0x02, 0x10, 0x01],
        ),
        (
            tell::streamed(PartDirection::Answer, Bytes::from_static(b"hi"), true),
            &[0x22, 0x0c, 0x0a, 0x0a, 0x1a, 0x08, 0x1a, 0x06, 0x0a, 0x02, b'h', b'i', 0x10, 0x01],
        ),
    ];
    for (response, bytes) in rows {
        assert_eq!(response.encode_to_vec(), bytes);
    }
    let answer = ApiAnswer::new(StatusCode::UNAUTHORIZED, "text/plain", "no");
    let told = immediate(&answer, Some("unauthorized"));
    assert_eq!(
        (told.status.unwrap().code, &*told.body, told.details.as_str()),
        (401, &b"no"[..], "portcullis_unauthorized")
    );
    let names: Vec<_> = told.headers.iter().flat_map(|headers| &headers.set_headers).collect();
    assert_eq!(names.len(), 1, "the proxy says how long it is");
}

fn shown(fields: &[(&str, &[u8])]) -> HeaderMap {
    let field = |(key, value): &(&str, &[u8])| HeaderValue {
        key: (*key).to_owned(),
        value: String::new(),
        raw_value: Bytes::copy_from_slice(value),
    };
    HeaderMap { headers: fields.iter().map(field).collect() }
}

const POST: [(&str, &[u8]); 4] =
    [(":method", b"POST"), (":path", b"/a?b=c"), (":authority", b"api.test:8443"), (":scheme", b"https")];

#[test]
fn a_request_is_what_its_pseudo_headers_say() {
    let fields = [&POST[..], &[("x-raw", b"\xff\x80".as_slice()), ("x-two", b"1"), ("x-two", b"2")]].concat();
    let read = request_head(Some(&shown(&fields))).unwrap();
    assert!(read.tls);
    assert_eq!((read.head.method.as_str(), read.head.raw_path()), ("POST", b"/a?b=c".as_slice()));
    assert_eq!(read.head.headers["host"], "api.test:8443");
    assert_eq!(read.head.headers["x-raw"].as_bytes(), b"\xff\x80");
    assert_eq!(read.head.headers.get_all("x-two").iter().count(), 2);
    // As older proxies say it.
    let mut old = shown(&POST);
    old.headers[1] =
        HeaderValue { key: ":path".to_owned(), value: "/old".to_owned(), raw_value: Bytes::new() };
    assert_eq!(request_head(Some(&old)).unwrap().head.raw_path(), b"/old");
    assert!(request_head(None).is_err());
}

#[test]
fn an_answer_keeps_what_is_the_callers() {
    let fields: [(&str, &[u8]); 5] = [
        (":status", b"200"),
        ("transfer-encoding", b"chunked"),
        ("content-length", b"12"),
        ("x-envoy-upstream-service-time", b"3"),
        ("etag", b"\"a\""),
    ];
    let mut read = answer_head(Some(&shown(&fields))).unwrap();
    let names: Vec<&str> = read.head.headers.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["content-length", "etag"]);
    assert!(answer_becomes(&read.fields, &read.head).is_none(), "nothing changed");
    read.head.remove_header("etag");
    read.head.remove_header("content-length");
    read.head.append_header("transfer-encoding", "chunked").unwrap();
    read.head.append_header("x-one", "1").unwrap();
    read.head.append_header("x-one", "2").unwrap();
    let mutation = answer_becomes(&read.fields, &read.head).unwrap();
    assert_eq!(mutation.remove_headers, ["etag"]);
    let set: Vec<_> = mutation
        .set_headers
        .iter()
        .map(|set| (set.header.as_ref().unwrap().bytes().to_vec(), set.append.unwrap().value))
        .collect();
    assert_eq!(set, [(b"1".to_vec(), false), (b"2".to_vec(), true)]);
}

#[test]
fn a_request_is_told_once_what_changed() {
    let fields =
        [&POST[..], &[("authorization", b"Bearer pts_x".as_slice()), ("x-original-url", b"/b")]].concat();
    let head = request_head(Some(&shown(&fields))).unwrap().head;
    let mut told = ProxyHeadState::new(&head);
    let mut after = head;
    after.remove_header(&AUTHORIZATION);
    after.set_raw_path(b"/a?b=d").unwrap();
    let mutation = told.becomes(after.clone()).unwrap().unwrap();
    let mut gone = mutation.remove_headers.clone();
    gone.sort();
    assert_eq!(gone, ["authorization", "x-original-url"]);
    let set = mutation.set_headers[0].header.as_ref().unwrap();
    assert_eq!((set.key.as_str(), set.bytes()), (":path", b"/a?b=d".as_slice()));
    assert!(told.becomes(after).unwrap().is_none());
}

proptest! {
    /// Whatever comes is a message or none, and a message written again is the same to us.
    #[test]
    fn bytes_are_a_message_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(message) = ProcessingRequest::decode(bytes.as_slice()) {
            let again = ProcessingRequest::decode(message.encode_to_vec().as_slice());
            prop_assert!(again == Ok(message));
        }
    }

    /// Whatever a head has, it is refused as a head or read with one host and no pseudo-header.
    #[test]
    fn heads_are_read_in_one_way(
        fields in prop::collection::vec(("(:method|:path|:authority|:scheme|:x|host|x-a|X-A|)", "[ -~\\n]{0,8}"), 0..8)
    ) {
        let fields: Vec<(&str, &[u8])> = fields.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        match request_head(Some(&shown(&fields))) {
            Ok(read) => prop_assert!(read.head.headers.keys().all(|name| !name.as_str().starts_with(':'))),
            Err(GatewayError::Api(ApiError::BadRequest(_))) => {}
            Err(other) => prop_assert!(false, "{other:?}"),
        }
    }
}
