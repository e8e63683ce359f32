//! The messages of Envoy's external processing (`envoy/service/ext_proc/v3/external_processor.proto`), with the fields that
//! are used here. Others are passed over, as protocol buffers have it.
//!
//! Bodies are slices of the bytes that came, not copies.

use std::fmt;

use bytes::Bytes;
use prost::{Enumeration, Message, Oneof};

/// `ProcessingRequest`: what the proxy shows.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct ProcessingRequest {
    /// The part of the exchange.
    #[prost(oneof = "ExchangePart", tags = "2, 3, 4, 5, 6, 7")]
    pub(super) shown: Option<ExchangePart>,
    /// Whether the proxy goes on whatever it is told.
    #[prost(bool, tag = "10")]
    pub(super) observability_mode: bool,
    /// How bodies are shown; in the first message only.
    #[prost(message, optional, tag = "11")]
    pub(super) protocol_config: Option<ProtocolConfiguration>,
}

/// A part of an exchange.
#[derive(Clone, PartialEq, Oneof)]
#[prost(skip_debug)]
pub(super) enum ExchangePart {
    /// The head of the request.
    #[prost(message, tag = "2")]
    RequestHeaders(HttpHeaders),
    /// The head of the answer.
    #[prost(message, tag = "3")]
    ResponseHeaders(HttpHeaders),
    /// Of the request's body.
    #[prost(message, tag = "4")]
    RequestBody(HttpBody),
    /// Of the answer's body.
    #[prost(message, tag = "5")]
    ResponseBody(HttpBody),
    /// What follows the request's body.
    #[prost(message, tag = "6")]
    RequestTrailers(HttpTrailers),
    /// What follows the answer's body.
    #[prost(message, tag = "7")]
    ResponseTrailers(HttpTrailers),
}

/// `ProtocolConfiguration`: how the proxy shows bodies.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct ProtocolConfiguration {
    /// That of the request.
    #[prost(enumeration = "BodySendMode", tag = "1")]
    pub(super) request_body_mode: i32,
    /// That of the answer.
    #[prost(enumeration = "BodySendMode", tag = "2")]
    pub(super) response_body_mode: i32,
}

/// `ProcessingMode.BodySendMode` (`processing_mode.proto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub(super) enum BodySendMode {
    /// Not at all.
    None = 0,
    /// Piece by piece, each of which is answered.
    Streamed = 1,
    /// As a whole.
    Buffered = 2,
    /// As much as the proxy holds.
    BufferedPartial = 3,
    /// Piece by piece, and what is answered comes when it comes.
    FullDuplexStreamed = 4,
    /// Message by message of a gRPC stream.
    Grpc = 5,
}

/// `HttpHeaders`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct HttpHeaders {
    /// The fields, pseudo-headers among them.
    #[prost(message, optional, tag = "1")]
    pub(super) headers: Option<HeaderMap>,
    /// Whether no body follows.
    #[prost(bool, tag = "3")]
    pub(super) end_of_stream: bool,
}

/// `HttpBody`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct HttpBody {
    /// The bytes.
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) body: Bytes,
    /// Whether nothing follows.
    #[prost(bool, tag = "2")]
    pub(super) end_of_stream: bool,
}

/// `HttpTrailers`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct HttpTrailers {
    /// The fields.
    #[prost(message, optional, tag = "1")]
    pub(super) trailers: Option<HeaderMap>,
}

/// `config.core.v3.HeaderMap`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct HeaderMap {
    /// The fields in order.
    #[prost(message, repeated, tag = "1")]
    pub(super) headers: Vec<HeaderValue>,
}

/// `config.core.v3.HeaderValue`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct HeaderValue {
    /// The name, in small letters.
    #[prost(string, tag = "1")]
    pub(super) key: String,
    /// The value of proxies that do not send `raw_value`.
    #[prost(string, tag = "2")]
    pub(super) value: String,
    /// The value.
    #[prost(bytes = "bytes", tag = "3")]
    pub(super) raw_value: Bytes,
}

/// `ProcessingResponse`: what the proxy is told.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct ProcessingResponse {
    /// What becomes of the part that was shown.
    #[prost(oneof = "PartAnswer", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub(super) told: Option<PartAnswer>,
    /// How the rest of the exchange is to be shown.
    #[prost(message, optional, tag = "9")]
    pub(super) mode_override: Option<ProcessingMode>,
}

/// What becomes of a part.
#[derive(Clone, PartialEq, Oneof)]
#[prost(skip_debug)]
pub(super) enum PartAnswer {
    /// The request's head.
    #[prost(message, tag = "1")]
    RequestHeaders(PartResponse),
    /// The answer's head.
    #[prost(message, tag = "2")]
    ResponseHeaders(PartResponse),
    /// Of the request's body.
    #[prost(message, tag = "3")]
    RequestBody(PartResponse),
    /// Of the answer's body.
    #[prost(message, tag = "4")]
    ResponseBody(PartResponse),
    /// What follows the request's body.
    #[prost(message, tag = "5")]
    RequestTrailers(TrailersResponse),
    /// What follows the answer's body.
    #[prost(message, tag = "6")]
    ResponseTrailers(TrailersResponse),
    /// This is the answer, in the place of all.
    #[prost(message, tag = "7")]
    Immediate(ImmediateResponse),
}

/// `HeadersResponse` and `BodyResponse`, which are the same.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct PartResponse {
    /// What is in them.
    #[prost(message, optional, tag = "1")]
    pub(super) response: Option<CommonResponse>,
}

/// `CommonResponse`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct CommonResponse {
    /// What becomes of the head.
    #[prost(message, optional, tag = "2")]
    pub(super) header_mutation: Option<HeaderMutation>,
    /// What becomes of the piece; `None`: it goes on as it is.
    #[prost(message, optional, tag = "3")]
    pub(super) body_mutation: Option<BodyMutation>,
}

/// `TrailersResponse`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct TrailersResponse {
    /// What becomes of them.
    #[prost(message, optional, tag = "1")]
    pub(super) header_mutation: Option<HeaderMutation>,
}

/// `ImmediateResponse`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct ImmediateResponse {
    /// Its status.
    #[prost(message, optional, tag = "1")]
    pub(super) status: Option<HttpStatus>,
    /// Its fields.
    #[prost(message, optional, tag = "2")]
    pub(super) headers: Option<HeaderMutation>,
    /// Its body.
    #[prost(bytes = "bytes", tag = "3")]
    pub(super) body: Bytes,
    /// Why, for the proxy's own log.
    #[prost(string, tag = "5")]
    pub(super) details: String,
}

/// `type.v3.HttpStatus`.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct HttpStatus {
    /// The number.
    #[prost(int32, tag = "1")]
    pub(super) code: i32,
}

/// `HeaderMutation`: first what goes, then what is set.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct HeaderMutation {
    /// What is set.
    #[prost(message, repeated, tag = "1")]
    pub(super) set_headers: Vec<HeaderValueOption>,
    /// Names of what goes.
    #[prost(string, repeated, tag = "2")]
    pub(super) remove_headers: Vec<String>,
}

/// `config.core.v3.HeaderValueOption`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct HeaderValueOption {
    /// The field.
    #[prost(message, optional, tag = "1")]
    pub(super) header: Option<HeaderValue>,
    /// Whether it stands beside others of its name.
    #[prost(message, optional, tag = "2")]
    pub(super) append: Option<BoolValue>,
}

/// `google.protobuf.BoolValue`.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct BoolValue {
    /// What it says.
    #[prost(bool, tag = "1")]
    pub(super) value: bool,
}

/// `BodyMutation`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct BodyMutation {
    /// What becomes of the piece.
    #[prost(oneof = "Mutation", tags = "1, 2, 3")]
    pub(super) mutation: Option<Mutation>,
}

/// What becomes of a piece.
#[derive(Clone, PartialEq, Oneof)]
#[prost(skip_debug)]
pub(super) enum Mutation {
    /// This is in its place.
    #[prost(bytes = "bytes", tag = "1")]
    Body(Bytes),
    /// Nothing is.
    #[prost(bool, tag = "2")]
    Clear(bool),
    /// The body goes on with this, whatever was shown.
    #[prost(message, tag = "3")]
    Streamed(StreamedBody),
}

/// `StreamedBodyResponse`.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(super) struct StreamedBody {
    /// The bytes.
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) body: Bytes,
    /// Whether nothing follows.
    #[prost(bool, tag = "2")]
    pub(super) end_of_stream: bool,
}

/// `ProcessingMode`.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct ProcessingMode {
    /// The answer's head.
    #[prost(enumeration = "HeaderSendMode", tag = "2")]
    pub(super) response_header_mode: i32,
    /// The request's body.
    #[prost(enumeration = "BodySendMode", tag = "3")]
    pub(super) request_body_mode: i32,
    /// The answer's body.
    #[prost(enumeration = "BodySendMode", tag = "4")]
    pub(super) response_body_mode: i32,
    /// What follows the request's body.
    #[prost(enumeration = "HeaderSendMode", tag = "5")]
    pub(super) request_trailer_mode: i32,
    /// What follows the answer's body.
    #[prost(enumeration = "HeaderSendMode", tag = "6")]
    pub(super) response_trailer_mode: i32,
}

/// `ProcessingMode.HeaderSendMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub(super) enum HeaderSendMode {
    /// As it is configured.
    Default = 0,
    /// They are shown.
    Send = 1,
    /// They are not.
    Skip = 2,
}

/// What these hold is the caller's or the upstream's: none of it is shown.
macro_rules! hidden {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    )*};
}

hidden!(
    ProcessingRequest,
    ExchangePart,
    HttpHeaders,
    HttpBody,
    HttpTrailers,
    HeaderMap,
    HeaderValue,
    ProcessingResponse,
    PartAnswer,
    PartResponse,
    CommonResponse,
    TrailersResponse,
    ImmediateResponse,
    HeaderMutation,
    HeaderValueOption,
    BodyMutation,
    Mutation,
    StreamedBody
);

/// Changes of a head; `None` where there are none.
impl HeaderMutation {
    /// Whether it changes nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.set_headers.is_empty() && self.remove_headers.is_empty()
    }

    /// Takes away all fields of this name.
    pub(super) fn remove(&mut self, name: &str) {
        self.remove_headers.push(name.to_owned());
    }

    /// Sets a field, in the place of others of its name or beside them.
    pub(super) fn set(&mut self, name: &str, value: &[u8], beside: bool) {
        let header = HeaderValue {
            key: name.to_owned(),
            value: String::new(),
            raw_value: Bytes::copy_from_slice(value),
        };
        self.set_headers
            .push(HeaderValueOption { header: Some(header), append: Some(BoolValue { value: beside }) });
    }
}

impl HeaderValue {
    /// What it says.
    pub(super) fn bytes(&self) -> &[u8] {
        if self.raw_value.is_empty() { self.value.as_bytes() } else { &self.raw_value }
    }
}
