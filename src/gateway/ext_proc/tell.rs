//! What a proxy is told of a part that it has shown.

use bytes::Bytes;

use crate::gateway::ext_proc::message::{
    BodyMutation, CommonResponse, HeaderMutation, ImmediateResponse, Mutation, PartAnswer, PartResponse,
    ProcessingResponse, StreamedBody, TrailersResponse,
};

/// Which way a part goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartDirection {
    /// To the upstream.
    Request,
    /// To the caller.
    Answer,
}

fn told(told: PartAnswer) -> ProcessingResponse {
    ProcessingResponse { told: Some(told), mode_override: None }
}

fn part(header_mutation: Option<HeaderMutation>, mutation: Option<Mutation>) -> PartResponse {
    let body_mutation = mutation.map(|mutation| BodyMutation { mutation: Some(mutation) });
    PartResponse { response: Some(CommonResponse { header_mutation, body_mutation }) }
}

/// What becomes of a head.
pub(super) fn head(way: PartDirection, mutation: Option<HeaderMutation>) -> ProcessingResponse {
    let part = part(mutation, None);
    told(match way {
        PartDirection::Request => PartAnswer::RequestHeaders(part),
        PartDirection::Answer => PartAnswer::ResponseHeaders(part),
    })
}

/// What stands in the place of a piece; `None`: it goes on as it is. The head may still be changed where all of the body is
/// in one piece.
pub(super) fn piece(
    way: PartDirection,
    with: Option<Bytes>,
    mutation: Option<HeaderMutation>,
) -> ProcessingResponse {
    let with = with.map(|bytes| if bytes.is_empty() { Mutation::Clear(true) } else { Mutation::Body(bytes) });
    body(way, part(mutation, with))
}

/// The same of a request.
pub(super) fn request_piece(with: Option<Bytes>, mutation: Option<HeaderMutation>) -> ProcessingResponse {
    piece(PartDirection::Request, with, mutation)
}

/// How a body goes on, of which pieces are not answered one by one.
pub(super) fn streamed(way: PartDirection, bytes: Bytes, end_of_stream: bool) -> ProcessingResponse {
    body(way, part(None, Some(Mutation::Streamed(StreamedBody { body: bytes, end_of_stream }))))
}

fn body(way: PartDirection, part: PartResponse) -> ProcessingResponse {
    told(match way {
        PartDirection::Request => PartAnswer::RequestBody(part),
        PartDirection::Answer => PartAnswer::ResponseBody(part),
    })
}

/// What becomes of trailers.
pub(super) fn trailers(way: PartDirection, header_mutation: Option<HeaderMutation>) -> ProcessingResponse {
    let part = TrailersResponse { header_mutation };
    told(match way {
        PartDirection::Request => PartAnswer::RequestTrailers(part),
        PartDirection::Answer => PartAnswer::ResponseTrailers(part),
    })
}

/// An answer in the place of everything.
pub(super) fn immediate(answer: ImmediateResponse) -> ProcessingResponse {
    told(PartAnswer::Immediate(answer))
}
