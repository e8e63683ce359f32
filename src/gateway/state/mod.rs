//! The states of a request, each of which owns what exists by then:
//!
//! ```text
//! Received ─► Routed ─┬─► Collected ──┬─► Answering ─► Done
//!                     ├─► Streaming ──┤
//!                     └─► (our own) ──┘
//! ```
//!
//! | file | state |
//! |---|---|
//! | `received` | [`Received`]: the head was read; [`Routed`]: the request half of its filters has passed it |
//! | `streaming` | [`Streaming`]: Pingora sends the body on as it comes |
//! | `answering` | [`Answering`]: the head of an answer has passed the filters |
//! | `active` | [`RequestState`], which holds one of them, [`HeadOutcome`], what is left to do then, and [`ActiveRequest`], which moves it on |
//!
//! A request whose body was collected is `Collected` while [`relay`](super::relay) has that body.

mod active;
mod answering;
mod received;
mod streaming;

pub(super) use active::{ActiveRequest, HeadOutcome, InvalidState, RequestState};
pub(super) use answering::{Answering, PAUSE};
pub(super) use received::{Received, Routed, Routing};
pub(super) use streaming::Streaming;

#[cfg(test)]
mod tests;
