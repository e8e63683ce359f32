//! Changes to texts, and the way from a text to the bytes that spell it.
//!
//! A text is often not what lies in the file or the message: a JSON string spells it with escapes, a person wrote it
//! with no-break spaces, a stream brought it in pieces. Whoever looks at a text says what to change in it ([`Edit`]);
//! a [`SourceMap`] leads each change to what spells the text. Maps are applied one after another: from what was read
//! to the decoded string, from there to the document.
//!
//! ```
//! use portcullis::edit::{Edit, SourceMap, spliced};
//!
//! // `4·1` of which a reader sees "41": the dot (two bytes) is left out.
//! let source = "4\u{b7}1!";
//! let mut map = SourceMap::at(0);
//! map.plain(1);
//! map.spelled(0, 2);
//! map.plain(2);
//! let edit = Edit { range: 0..2, with: "**".to_owned() }.through(&map, |with| with);
//! assert_eq!(spliced(source.as_bytes(), &[edit]), b"**!");
//! ```
//!
//! | file | noun |
//! |---|---|
//! | `change` | [`Edit`] |
//! | `map` | [`SourceMap`] |
//! | `reference` | [`reference()`]: `&amp;` and its kind |
//! | `splice` | edits applied: [`splice`], [`spliced`], [`spliced_text`]; made such as can be: [`settled`] |

mod change;
mod map;
mod reference;
mod splice;

pub use change::Edit;
pub use map::SourceMap;
pub use reference::{REFERENCES, reference};
pub use splice::{Pieces, settled, splice, spliced, spliced_text};
