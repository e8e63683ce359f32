//! Callers' tokens: listed, made, narrowed, rotated and revoked.
//!
//! | file | noun |
//! |---|---|
//! | `draft` | [`TokenDraft`](draft::TokenDraft): what a form says of a token |
//! | `pages` | what is shown of tokens |
//! | `section` | [`TokenPages`]: what can be done with them |

mod draft;
mod pages;
mod section;

pub(super) use section::TokenPages;
