//! HTML: split up as browsers do, rewritten by an allow-list of elements and attributes.
//!
//! What is written reads one way only: every tag is one of the list, spelled plainly, every `<` of a text is escaped,
//! and nothing stays that switches how text is read, besides `title` (whose text is escaped) and `style` (whose CSS
//! holds no `<`). So it does not matter where a browser and this parser disagree about what was read. Tags, texts
//! and style sheets that are spelled so already stay byte for byte.
//!
//! Text is looked at in blocks: what runs on through inline elements is one text.
//!
//! | file | noun |
//! |---|---|
//! | `token` | a document's parts |
//! | `plan` | what becomes of each |
//! | `clean` | all of this for a document |

mod clean;
mod plan;
mod token;

pub(super) use clean::clean;

#[cfg(test)]
mod tests;
