//! Words near a value that support or contradict it. They are looked up from the value's side, as whole words, so their
//! number costs nothing where no value is: before it within [`BEFORE`](memo) bytes, after it within [`AFTER`] bytes of
//! the same clause. The nearest word decides.
//!
//! | file | has |
//! |---|---|
//! | [`words`] | text cut into words |
//! | [`lexicon`] | the words that matter, and to which rules |
//! | [`memo`] | what the words near a value say of it |
//! | [`supported`] | the rules that words near a match support |

mod lexicon;
mod memo;
mod supported;
mod words;

pub(crate) use lexicon::Lexicon;
pub(crate) use memo::{AFTER, Memo, Surroundings, WordsAfter};
pub(crate) use supported::Supported;
