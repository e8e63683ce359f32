//! The content codings of bodies (RFC 9110 section 8.4): which a head names, and bodies out of them and into them.

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

use crate::base::budget::MemoryBudget;
use crate::stream::codec::{Coding, Decoder, Encoder, Ratio};
use crate::stream::{Pipeline, Rewriter as _, StreamError};
use crate::telemetry::Unscanned;

/// The content codings a head names.
///
/// # Errors
/// One that we cannot decode.
pub fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, Unscanned> {
    let mut all = headers.get_all(CONTENT_ENCODING).iter();
    let Some(first) = all.next() else { return Ok(Vec::new()) };
    let text = first.to_str().map_err(|_| Unscanned::ContentCoding)?;
    match all.next() {
        None => Coding::parse(text).map_err(|_| Unscanned::ContentCoding),
        Some(_) => Err(Unscanned::ContentCoding),
    }
}

/// What comes of the first bytes of a body, out of its codings.
///
/// # Errors
/// A decoder's.
pub fn beginning(body: &[u8], codings: &[Coding], budget: &MemoryBudget) -> Result<BytesMut, StreamError> {
    let mut plain = BytesMut::new();
    decoders(codings, budget)?.write(body, &mut plain)?;
    Ok(plain)
}

/// The stages that take a body out of its codings.
///
/// # Errors
/// A coding that there is no decoder for, or no room for one.
pub(super) fn decoders(codings: &[Coding], budget: &MemoryBudget) -> Result<Pipeline, StreamError> {
    let mut stages = Pipeline::default();
    for coding in codings.iter().rev() {
        stages.push(Box::new(Decoder::new(*coding, Ratio::default(), budget)?));
    }
    Ok(stages)
}

/// The stages that put a body into these codings.
///
/// # Errors
/// No room for one.
pub(super) fn encoders(codings: &[Coding], budget: &MemoryBudget) -> Result<Pipeline, StreamError> {
    let mut stages = Pipeline::default();
    for coding in codings {
        stages.push(Box::new(Encoder::new(*coding, budget)?));
    }
    Ok(stages)
}

/// How a collected body is taken out of its codings.
pub struct Unpack<'a> {
    /// The codings, in the order they were applied.
    pub codings: &'a [Coding],
    /// The most that may come of it, in bytes.
    pub limit: usize,
    /// What it may hold.
    pub budget: &'a MemoryBudget,
}

/// Takes a collected body out of its codings.
///
/// # Errors
/// A decoder's, or more than the limit.
pub fn decode(body: &Bytes, unpack: &Unpack<'_>) -> Result<Bytes, StreamError> {
    let Unpack { codings, limit, budget } = *unpack;
    if codings.is_empty() {
        return Ok(body.clone());
    }
    let mut stages = decoders(codings, budget)?;
    let mut charge = budget.charge();
    let mut plain = BytesMut::new();
    // In pieces, so that a bomb is noticed before it is unpacked.
    for piece in body.chunks(16 << 10) {
        stages.write(piece, &mut plain)?;
        if plain.len() > limit {
            return Err(StreamError::TooLarge { unit: "decoded body", limit });
        }
        charge.set(plain.len())?;
    }
    stages.finish(&mut plain)?;
    Ok(plain.freeze())
}

/// Puts a collected body into these codings.
///
/// # Errors
/// An encoder's.
pub fn encode(plain: &[u8], codings: &[Coding], budget: &MemoryBudget) -> Result<Bytes, StreamError> {
    let mut stages = encoders(codings, budget)?;
    let mut body = BytesMut::new();
    stages.write(plain, &mut body)?;
    stages.finish(&mut body)?;
    Ok(body.freeze())
}
