//! Rich Text Format (RTF Specification 1.9.1): objects give way to the image that shows them, fields stay that only
//! show what is in the document, templates, connections and forms go, and so do properties of shapes that lead out of the
//! file; pictures are cleaned. Text is read across its runs, with its code pages and `\u`. Names of fonts and styles lose only
//! what has a form of its own, and those of styles what was found elsewhere.
//!
//! | file | noun |
//! |---|---|
//! | `token` | a file's parts |
//! | `group` | what a group is for |
//! | `open_group` | a group that is being read |
//! | `picture` | an image, in hexadecimal |
//! | `decoder` | characters, put together |
//! | `changes` | changes and texts |
//! | `plan` | what becomes of each part |
//! | `clean` | all of this for a file |

mod changes;
mod clean;
mod decoder;
mod group;
mod open_group;
mod picture;
mod plan;
mod token;

pub(super) use clean::clean;

#[cfg(test)]
mod tests;
