//! Which bytes of a text belong to a class, as a bit each: what lets the scan step over text in which nothing can
//! be. All classes are worked out together, 64 bytes at a time, once for each byte.
//!
//! | file | has |
//! |---|---|
//! | [`class`] | the classes |
//! | [`masks`] | the bits of a window |
//! | [`simd`] | vector instructions: the one file with unsafe code |
//! | [`non_ascii`] | characters beyond ASCII that are no letters |
//! | [`runs`] | runs of a class, words with digits, colons in addresses |

mod class;
mod masks;
mod non_ascii;
mod runs;
mod simd;

pub(crate) use class::Class;
pub(crate) use masks::{BLOCK, Masks};
pub(crate) use non_ascii::{char_at, sign_before};
pub(crate) use runs::{Colons, FirstDigits, Runs};
