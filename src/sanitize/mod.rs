//! One file in → one clean file and a report.
//!
//! A file is read, disarmed and redacted by *formats*: pure, synchronous code that runs in a child process under
//! limits. What a format cannot decide (is this part malicious, is that link bad, which words are to go) it asks a
//! [`Judge`], who sits in the parent and may wait for scanners, feeds and detectors.
//!
//! | file | noun |
//! |---|---|
//! | `kind` | [`Kind`]: what a file really is, by its bytes |
//! | `written` | which kind a file of text is |
//! | `zipped` | which kind a zip file is |
//! | `options` | [`Options`]: what is to be done to it |
//! | `judge` | [`Judge`], who is asked, and [`Edit`], an answer |
//! | `unfold` | how much packed bytes may unfold to |
//! | `work` | [`Work`]: one file's way through the formats: options, judge, budget, stats; [`Values`] that go |
//! | `budget` | [`Bounds`] and what of them is used |
//! | `stats` | [`Stats`]: what was removed, and what could not be read |
//! | `rejection` | [`Rejection`]: why there is no clean file |
//! | [`link`] | links in texts, and what they look like defanged |
//! | [`mod@format`] | the formats |
//! | `session` | [`ScanSession`]: the court for one file |
//! | `pipeline` | [`sanitize`]: one file's way in order |
//! | [`sandbox`] | the process that they run in |
//! | [`intel`] | what is known of URLs and domains |
//! | [`scan`] | scanners, and the engines behind providers' names |

#[cfg(test)]
pub(crate) mod bench;
mod budget;
pub mod format;
pub mod intel;
mod judge;
mod kind;
pub mod link;
mod options;
mod pipeline;
mod rejection;
pub mod sandbox;
pub mod scan;
mod session;
mod stats;
mod unfold;
mod work;
mod written;
mod zipped;

pub use budget::Bounds;
pub use judge::{Edit, Judge, Link, Named, NewText, Part};
pub use kind::Kind;
pub use options::{Options, Redaction};
pub use pipeline::{Sanitized, sanitize};
pub use rejection::Rejection;
pub use session::{Providers, Record, ScanSession, Scores};
pub use stats::{Note, Stats};
pub use work::{Values, Work};
