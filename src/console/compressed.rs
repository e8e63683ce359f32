//! Long JSON as gzip: the figures of an hour are a tenth of their size then.

use bytes::BytesMut;
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, VARY};

use crate::api::accept_encoding::preferred;
use crate::api::{ApiAnswer, ApiCall, Body};
use crate::stream::codec::{Coding, Encoder};
use crate::stream::{Rewriter, StreamError};

/// What is shorter is not worth it, in bytes.
const LEAST: usize = 4 << 10;

/// The answer in a coding that the caller accepts; as it is where there is none, or no room for one.
pub(super) fn compressed(mut answer: ApiAnswer, call: &ApiCall<'_>) -> ApiAnswer {
    answer.headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    if answer.bytes().len() < LEAST || preferred(&call.head.headers, &[Coding::Gzip]).is_none() {
        return answer;
    }
    let gzip = || -> Result<BytesMut, StreamError> {
        let mut out = BytesMut::with_capacity(answer.bytes().len() / 4);
        let mut encoder = Encoder::new(Coding::Gzip, call.budget)?;
        encoder.write(answer.bytes(), &mut out)?;
        encoder.finish(&mut out)?;
        Ok(out)
    };
    if let Ok(out) = gzip() {
        answer.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        answer.headers.insert(CONTENT_LENGTH, HeaderValue::from(out.len()));
        answer.body = Body::Whole(out.freeze());
    }
    answer
}
