//! The laws of `Rewriter`, over every rewriter of `stream`: chunking is invisible, silence is identity, only what is
//! undecided is held and the budget is given back. What they do to JSON, against `serde_json`; and what becomes of answers
//! in every LLM protocol. The frames of WebSocket have laws alike.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop, also in what several tests share"
)]

mod amazon;
mod censor;
mod corpora;
mod json;
mod protocols;
mod recorded;
mod rewriters;
mod shapes;
mod websocket;
