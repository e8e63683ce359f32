//! What a value is called where it stands, and what that says of it: names such as `db_password`, in the ways of programs
//! and in the languages of the world.
//!
//! | file | has |
//! |---|---|
//! | [`case`] | lower case and capitals, quicker than by tables for most letters |
//! | [`label`] | the name of a value that is all of its text: a member of a document, a column |
//! | [`meaning`] | whether a name says that its value is a secret |
//! | [`languages`] | words for secrets in other languages than English |
//! | [`requirement`] | whether a text is what a form asks of a password |

mod case;
mod label;
mod languages;
mod meaning;
mod requirement;

pub(crate) use case::{is_upper, lower, lower_into};
pub use label::Label;
pub(crate) use label::{CredentialField, LabelMeaning, is_mark};
#[cfg(test)]
pub(crate) use languages::{DOUBTFUL, KEYS, PASSWORDS};
pub(crate) use languages::{FoldedText, is_secret_word};
pub(crate) use meaning::{Meaning, NAME, NameMeaning, meaning};
