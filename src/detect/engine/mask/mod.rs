//! Which bytes of a text belong to a class, as a bit each: what lets the scan step over text in which nothing can
//! be. All classes are worked out together, 64 bytes at a time, once for each byte.
//!
//! | file | has |
//! |---|---|
//! | [`class`] | the classes |
//! | [`masks`] | the bits of a window |
//! | [`simd`] | vector instructions: the one file with unsafe code |
//! | [`wide`] | characters beyond ASCII that are no letters |
//! | [`runs`] | runs of a class, words with digits, colons in addresses |

mod class;
mod masks;
mod runs;
mod simd;
mod wide;

pub(crate) use class::Class;
pub(crate) use masks::{BLOCK, Masks};
pub(crate) use runs::{Colons, FirstDigits, Runs};
pub(crate) use wide::{char_at, sign_before};
