//! The API as an OpenAPI 3.1 document.
//!
//! What an endpoint takes and gives is written beside the code that reads it, in its folder's `openapi.json`; a test
//! compares that with what the readers ask for, member by member, and with the table of endpoints.
//!
//! | file | noun |
//! |---|---|
//! | `asked` | (tests) what readers asked for |
//! | `described` | [`Operation`]: an endpoint as its folder describes it |
//! | `document` | [`document()`]: all of it |

#[cfg(test)]
pub(crate) mod asked;
mod described;
mod document;

pub use described::{DescriptionError, Operation};
pub use document::{Descriptions, OPENAPI_PATH, ServeDocument, document};
