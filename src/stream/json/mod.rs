//! JSON as it passes and as it lies.
//!
//! | file | noun |
//! |---|---|
//! | `lexer` | bytes → lexemes, resumable at any byte |
//! | `tail` | whether bytes may follow those shown |
//! | `escape` | how a string spells a character, both ways |
//! | `document` | a whole document's leaves; a string's text with the way back |
//! | `numbers` | the numbers of JSON as it passes |
//! | `record_numbers` | numbers by which programs tell records apart |
//! | `typed` | what is no text only if it has its type |
//! | `scan` | JSON as it passes: strings → a visitor ([`Slots`]), its edits → edits of the bytes |
//! | `slots` | the rewriter made of it, and visitors |
//! | `embedded` | JSON within a string |

mod document;
mod embedded;
mod escape;
mod lexer;
mod numbers;
mod record_numbers;
pub(in crate::stream) mod scan;
mod slots;
mod tail;
mod typed;

pub use crate::stream::path::{JsonToken, LONG_NUMBER, MAX_DEPTH, Path, Segment, Treatment, Type};
pub use crate::stream::path_set::{PathSet, PatternError, PatternFault};
pub(crate) use document::is_long;
pub use document::{Decoded, JsonError, JsonFault, Leaf, digits_of, walk, walk_numbers, with_digits};
pub use embedded::Embedded;
pub(crate) use escape::encoded;
pub use escape::{encode, half_at_end};
pub use numbers::NumberReader;
pub(crate) use record_numbers::numbers_record;
pub use scan::Slots;
pub use slots::{EditorSlots, JsonSlots};
pub use typed::is_id;
