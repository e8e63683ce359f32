//! What each error becomes, in each protocol.

use super::*;
use crate::base::clock::Timestamp;
use crate::base::id::RequestId;

fn told(error: GatewayError, shape: ErrorShape) -> (ApiAnswer, serde_json::Value) {
    let id = RequestId::from_random([1; 20]);
    let t = Timestamp::from_millis(0);
    let stamp = Stamp { id: &id, received: t, answered: t };
    let answer = error.answer(&ErrorTarget { shape, stamp, call: Some("7") });
    let body = serde_json::from_slice(answer.bytes()).unwrap();
    (answer, body)
}

#[test]
fn every_shape_has_its_own_places_for_the_same_words() {
    use ErrorShape as S;
    // The shape, the status, where the message is, and a member that tells the kind of error.
    let rows = [
        (S::OpenAi, 504, "/error/message", ("/error/type", "server_error")),
        (S::OpenAi, 504, "/error/message", ("/error/code", "timeout")),
        (S::Responses, 504, "/error/message", ("/error/type", "server_error")),
        (S::Anthropic, 504, "/error/message", ("/error/type", "timeout_error")),
        (S::Anthropic, 504, "/error/message", ("/type", "error")),
        (S::Gemini, 504, "/error/message", ("/error/status", "DEADLINE_EXCEEDED")),
        (S::Gemini, 504, "/error/message", ("/error/details/0/reason", "TIMEOUT")),
        (S::Interactions, 504, "/error/message", ("/error/status", "DEADLINE_EXCEEDED")),
        (S::Ollama, 504, "/error", ("/error", "the upstream failed (timeout)")),
        (S::Cohere, 504, "/message", ("/message", "the upstream failed (timeout)")),
        (S::Mistral, 504, "/message", ("/object", "error")),
        (S::JsonRpc, 504, "/error/message", ("/jsonrpc", "2.0")),
    ];
    for (shape, status, message, (kind, word)) in rows {
        let (answer, body) = told(GatewayError::Upstream(UpstreamFailure::Timeout), shape);
        assert_eq!(answer.status, status, "{shape:?}");
        assert_eq!(body.pointer(message).unwrap(), "the upstream failed (timeout)", "{shape:?}");
        assert_eq!(body.pointer(kind).unwrap(), word, "{shape:?}");
    }
}

#[test]
fn what_is_wrong_with_a_request_is_said_as_each_protocol_says_it() {
    let bad = || GatewayError::BadBody("the body is not JSON");
    let (answer, body) = told(bad(), ErrorShape::Mistral);
    assert_eq!((answer.status.as_u16(), &body["detail"][0]["msg"]), (422, &"the body is not JSON".into()));
    let (_, body) = told(bad(), ErrorShape::JsonRpc);
    assert_eq!((&body["id"], &body["error"]["code"]), (&7.into(), &(-32600).into()));
    let (answer, body) = told(GatewayError::Api(ApiError::Unauthorized), ErrorShape::Anthropic);
    assert!(answer.headers.contains_key(WWW_AUTHENTICATE));
    assert_eq!(answer.headers["request-id"], body["request_id"].as_str().unwrap());
    let (answer, _) = told(GatewayError::Api(ApiError::TooManyRequests(9)), ErrorShape::Gemini);
    assert_eq!(answer.headers[RETRY_AFTER], "9");
}

#[test]
fn a_stream_ends_in_the_event_of_its_protocol() {
    use ErrorShape as S;
    let id = RequestId::from_random([1; 20]);
    let t = Timestamp::from_millis(0);
    let rows = [
        (S::Envelope, "event: error\ndata: {"),
        (S::OpenAi, "data: {\"error\":{"),
        (S::Responses, "event: error\ndata: {"),
        (S::Anthropic, "event: error\ndata: {"),
        (S::Gemini, "data: {\"error\":{"),
        (S::Interactions, "event: error\ndata: {"),
        (S::Ollama, "data: {\"error\":\""),
        (S::Cohere, "event: message-end\ndata: {"),
        (S::Mistral, "data: {"),
        (S::JsonRpc, "event: message\ndata: {"),
    ];
    for (shape, begin) in rows {
        let stamp = Stamp { id: &id, received: t, answered: t };
        let event =
            GatewayError::Gone.event(&ErrorTarget { shape, stamp, call: None }, Some(ContentFormat::Events));
        let event = std::str::from_utf8(&event).unwrap();
        assert!(event.starts_with(begin) && event.ends_with("}\n\n"), "{shape:?}: {event}");
        let data = event.split_once("data: ").unwrap().1;
        assert!(serde_json::from_str::<serde_json::Value>(data).is_ok(), "{shape:?}: {event}");
    }
}

#[test]
fn what_is_too_large_is_named_with_its_limit() {
    let id = RequestId::from_random([1; 20]);
    let t = Timestamp::from_millis(0);
    let stamp = Stamp { id: &id, received: t, answered: t };
    let rows = [
        (StreamError::Ratio { limit: 200 }, "decodes to more than 200 times its size"),
        (
            StreamError::TooLarge { unit: "event", limit: 300 },
            "one event of the body is larger than 300 bytes",
        ),
        (Exhausted::Request { limit: 400 }.into(), "the body is larger than 400 bytes"),
    ];
    for (error, expected) in rows {
        let answer = GatewayError::of_request(error).answer(&ErrorTarget {
            shape: ErrorShape::default(),
            stamp: Stamp { ..stamp },
            call: None,
        });
        let text = String::from_utf8_lossy(answer.bytes()).into_owned();
        assert_eq!(answer.status, 413, "{text}");
        assert!(text.contains(expected), "{text}");
    }
}
