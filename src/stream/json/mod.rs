//! JSON as it passes and as it lies.
//!
//! | file | noun |
//! |---|---|
//! | `lexer` | bytes → lexemes, resumable at any byte |
//! | `escape` | how a string spells a character, both ways |
//! | `path` | where a value is, and which places are ours |
//! | `document` | a whole document's leaves; a string's text with the way back |
//! | `typed` | what is no text only if it has its type |
//! | `scan` | JSON as it passes: strings → a visitor, its edits → edits of the bytes |
//! | `slots` | the rewriter made of it, and its visitors |
//! | `embedded` | JSON within a string |

mod document;
mod embedded;
mod escape;
mod lexer;
mod path;
pub(in crate::stream) mod scan;
mod slots;
mod typed;

pub(crate) use document::is_long;
pub use document::{Decoded, JsonError, JsonFault, Leaf, digits_of, walk, walk_numbers, with_digits};
pub use embedded::Embedded;
pub use escape::encode;
pub(crate) use escape::encoded;
pub(in crate::stream) use path::Trail;
pub use path::{
    LONG_NUMBER, MAX_DEPTH, Path, PathSet, PatternError, PatternFault, Segment, Take, Token, Type,
};
pub use slots::{EditorSlots, JsonSlots, Slots};
