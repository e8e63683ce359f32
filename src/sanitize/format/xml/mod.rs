//! SVG, and other XML.
//!
//! A drawing is rewritten by the allow-list of [`markup`](crate::sanitize::format::markup): what is not on it goes with
//! its content, since nobody would see that. Of other XML, elements that browsers would show (in SVG's or HTML's
//! namespace) are treated so; everything else is data, whose texts and values are looked at. No document type is
//! kept, no entity is read, no style sheet is linked.
//!
//! | file | noun |
//! |---|---|
//! | `token` | a document's parts |
//! | `plan` | what becomes of each |
//! | `clean` | all of this for a document |

mod clean;
mod plan;
mod token;

pub(super) use clean::{clean_data, clean_drawing};

#[cfg(test)]
mod tests;
