//! Findings in, clean text and the means to undo it out. Nothing here waits, logs, reads a clock or fetches a key.
//!
//! | file | noun |
//! |---|---|
//! | `method` | [`Method`], [`Plan`]: what becomes of a finding |
//! | `keys` | [`Keys`], handed in |
//! | `encrypt` | surrogates of the same format |
//! | `values` | the distinct values of one text, one replacement for each |
//! | `redactor` | [`Redactor`]: a whole text, and the way to the rest |
//! | `document` | a collected document in two passes, with the means to undo it |
//! | `plain` | a whole text, reversibly |
//! | `record` | [`Record`]: what was issued while text passed, for a file |
//! | `live` | [`Live`]: text as it passes, one way |
//! | `undo` | [`Undo`]: issued surrogates and what they stand for; [`Limits`] |
//! | `index` | exact strings at token boundaries |
//! | `answer` | [`Answer`]: restores, or masks, one channel of an answer |
//! | `report` | [`Report`], [`Redacted`], [`Counts`] |
//! | `error` | [`RedactError`] |

mod answer;
mod document;
mod encrypt;
mod error;
mod index;
mod keys;
mod live;
mod method;
mod plain;
mod record;
mod redactor;
mod report;
mod undo;
mod values;

pub use answer::{Answer, Answering};
pub use error::RedactError;
pub use keys::Keys;
pub use live::Live;
pub use method::{Method, Plan};
pub use record::Record;
pub use redactor::Redactor;
pub use report::{Counts, Found, Redacted, Report};
pub use undo::{Limits, Undo};
