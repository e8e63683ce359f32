//! Files in, clean files out: properties of the formats on files made here, and a corpus.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop, also in what several tests share"
)]

mod corpus;
mod host;
mod pdf;
mod text;
