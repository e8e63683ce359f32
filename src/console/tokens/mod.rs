//! Callers' tokens: listed, made, narrowed, rotated and revoked.
//!
//! | file | noun |
//! |---|---|
//! | `texts` | [`FieldTexts`](texts::FieldTexts): what the fields of the form say of a token |
//! | `draft` | [`TokenDraft`](draft::TokenDraft): what a form says of a token |
//! | `form_ids` | [`FormIds`](form_ids::FormIds): forms that may be sent once |
//! | `fields` | the fields of the form |
//! | `pages` | what is shown of tokens |
//! | `list` | the page of all tokens |
//! | `section` | [`TokenPages`]: what can be done with them |

mod draft;
mod fields;
mod form_ids;
mod list;
mod pages;
mod section;
mod texts;

pub(super) use section::{TokenPages, TokenPagesParts};
