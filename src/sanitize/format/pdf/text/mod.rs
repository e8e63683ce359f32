//! The text that pages show: read as their readers do, rewritten where something is to go, and proven to be gone.
//!
//! Text is told by the codes of fonts; what cannot be told, and what is drawn instead of written, is noted, and never
//! counted as redacted.
//!
//! | file | noun |
//! |---|---|
//! | `lexer` | the tokens of a content stream |
//! | `cmap` | maps of codes |
//! | `codes` | how strings part into codes |
//! | `simple` | encodings of one-byte codes |
//! | `outlines` | the characters that a font program knows |
//! | `metrics` | widths of the standard fonts |
//! | `font` | what the codes of a font are, and how they read |
//! | `state` | where text is shown |
//! | `record` | what is seen on the way through a page |
//! | `streams` | the content of pages and of what they draw |
//! | `operands` | what operators of a stream are given |
//! | `walk` | the way through one stream |
//! | `drawn` | what one stream draws, and how often |
//! | `draws` | how much all pages draw, which is bounded |
//! | `reading` | a page's text in one order |
//! | `plan` | what is to change |
//! | `inline` | images within content streams |
//! | `splice` | a change, written into a stream |
//! | `rewrite` | all of this for a document |
//! | `tokens` | what may be read of a stream besides what it shows |
//! | `notices` | what programs of fonts say of their makers |
//! | `unseen` | names, remarks and streams that no page shows |
//! | `absent` | the proof that values are gone |

mod absent;
mod cmap;
mod codes;
mod drawn;
mod draws;
mod font;
mod inline;
mod lexer;
mod metrics;
mod notices;
mod operands;
mod outlines;
mod plan;
mod reading;
mod record;
mod rewrite;
mod simple;
mod splice;
mod state;
mod streams;
mod tokens;
mod unseen;
mod walk;

pub(super) use absent::absent;
pub(super) use inline::strip as strip_inline;
pub(super) use rewrite::rewrite;
pub(super) use unseen::redact as redact_unseen;

#[cfg(test)]
mod draws_tests;
#[cfg(test)]
mod tests;
