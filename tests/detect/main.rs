//! Detection against what others have collected: corpora of texts with marked values, and check-digit vectors. And the
//! laws of detection over all of those texts, or over our own where there are none.
//!
//! `PORTCULLIS_CORPORA` names a folder with the corpora: JSON Lines of `{id, text, spans}` in it or in its folder
//! `detect` or `detect-dev`. `PORTCULLIS_VECTORS` names one with `checksums/KIND.jsonl` of `{value, valid}`; without
//! it, the first one's folder `vectors` or `vectors-dev` is taken. What is not there is skipped, and the test says so.
//! `PORTCULLIS_THOROUGH=1` takes all texts in place of a sample.
//! `tests/detect/scores` measures precision and recall on the same corpora.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on should stop, also in what several tests share; and say what it skipped"
)]

mod corpora;
mod json;
mod literals;
mod splits;
mod vectors;
