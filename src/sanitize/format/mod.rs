//! The formats: each reads one family of files, takes out what acts, redacts what is written, and writes one fresh
//! file. Pure and synchronous; they never wait, log or touch files, and hold on any input.

#[cfg(test)]
mod corpus_tests;
mod draft;
#[cfg(test)]
mod mutant_tests;
mod odf;
mod ole2;
mod ooxml;
mod package;
mod passage;
mod spans;

use crate::sanitize::{Kind, Note, Refusal, Work};

/// Cleans a file of this kind.
///
/// # Errors
/// Why there is no clean file.
pub fn clean(kind: Kind, file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Refusal> {
    work.unpacked(file.len())?;
    match kind {
        Kind::Ooxml => ooxml::clean(file, work),
        Kind::Odf => odf::clean(file, work),
        Kind::Ole2 => ole2::clean(file, work),
        _ if work.orders().pass_unknown => {
            work.tally().note(Note::Passed, 1);
            Ok(file.to_vec())
        }
        _ => Err(Refusal::Unsupported),
    }
}
