//! Surrogates that a stream of documents cuts, in places that nobody follows: put together again in one document, so that
//! whoever reads each document for itself finds them.
//!
//! The string at a place of a document goes on in the string at the same place of a later one. Where it ends with what may
//! be the beginning of what an editor replaces, its document waits, and those behind it with it. If the rest comes, it
//! moves to where the beginning stands; if not, all leave as they came, and so they do where nothing comes for a while.
//! Where each string repeats the one before and goes on, each waits until what it ends with is decided, and what is only half of
//! what is replaced goes.
//!
//! | file | noun |
//! |---|---|
//! | `reassembler` | [`Reassembler`]: the units of a stream, and which of them wait |
//! | `cut_text` | the text at one place over the documents of a stream |
//! | `place` | what tells places apart |
//! | `document` | the strings of the documents in a unit, and how edits of them are spelled |
//! | `containers` | what the members of the objects that a string is in tell of it |
//! | `member_role` | what the names of members say |
//! | `event_words` | the words by which a text ends or goes on |
//! | `labelled_line` | lines with a letter or a word before their document |
//! | `frames` | [`ReassembledEvents`], [`ReassembledMessages`]: the units of event streams |
//! | `lines`, `line_value` | [`ReassembledLines`]: those of documents one a line, and where a line ends |

mod containers;
mod cut_text;
mod document;
mod event_words;
mod frames;
mod labelled_line;
mod line_value;
mod lines;
mod member_role;
mod place;
mod reassembler;

pub use document::Followed;
pub use frames::{ReassembledEvents, ReassembledMessages};
pub use lines::{LineKind, ReassembledLines};
pub use reassembler::Reassembler;
