//! One file in → one clean file and a report.
//!
//! A file is read, disarmed and redacted by *formats*: pure, synchronous code that runs in a child process under
//! limits. What a format cannot decide (is this part malicious, is that link bad, which words are to go) it asks its
//! [`Host`]: the parent, where a [`ScanSession`] waits for scanners, feeds and detectors.
//!
//! Files import from rows above their own.
//!
//! | file | noun |
//! |---|---|
//! | `rejection` | [`Rejection`]: why there is no clean file |
//! | `kind` | [`FileKind`]: what a file really is |
//! | `options` | [`Options`]: what is to be done to it |
//! | `changed_object` | [`ChangedObject`]s that were taken out or changed: what, where, and what became of them |
//! | `rejected_file` | [`RejectedFile`]: why a file is not released, and where in it that lies |
//! | `stats` | [`Stats`]: what was removed, and what could not be read |
//! | `budget` | [`UnfoldBounds`] and what of them is used |
//! | `host` | [`Host`], which is asked, its [`HostRequest`]s and [`Response`]s, and [`Edit`] |
//! | [`link`] | links in texts, and what they look like defanged |
//! | `automaton` | `Automaton`: sequences of symbols, looked for all at once |
//! | `symbols` | a text, read by letters or by words |
//! | `values` | [`Values`] that go, looked for wherever else they stand |
//! | `column` | what the column of a table is called |
//! | `defanging` | edits that defang links, beside those that redact |
//! | `place` | `FilePath`: which file is being cleaned, and which part of it |
//! | `work` | [`Work`]: one file's way through the [`Formats`] |
//! | `generated_id` | which identifiers programs make up |
//! | `identifiers` | values in identifiers, and in names that programs give |
//! | `unfold` | how much packed bytes may unfold to |
//! | [`mod@format`] | the formats, and [`FORMATS`](format::FORMATS), their table |
//! | `text_kind`, `zip_kind`, `script` | which kind a file of text is, and a zip file; which text is a script |
//! | `name` | the name that a file of a kind has |
//! | `identify` | [`identify`]: which kind a file is, by its bytes |
//! | [`scan`] | scanners, and the engines behind providers' names |
//! | [`intel`] | what is known of URLs and domains |
//! | `session` | [`ScanSession`]: answers for one file |
//! | [`sandbox`] | the process that formats run in |
//! | `pipeline` | [`sanitize`]: one file's way in order |

mod automaton;
#[cfg(test)]
pub(crate) mod bench;
mod budget;
mod changed_object;
mod column;
mod defanging;
pub mod format;
mod generated_id;
mod host;
mod identifiers;
mod identify;
pub mod intel;
mod kind;
pub mod link;
mod name;
mod options;
mod pipeline;
mod place;
mod rejected_file;
mod rejection;
pub mod sandbox;
pub mod scan;
mod script;
mod session;
mod stats;
mod symbols;
mod text_kind;
mod unfold;
mod values;
mod work;
#[cfg(test)]
mod work_tests;
mod zip_kind;

pub use budget::UnfoldBounds;
pub use changed_object::{ChangedObject, ChangedObjects, ContentLocation, ObjectAction, ObjectKind};
pub use host::{Edit, Host, HostRequest, Link, NamedText, NewText, Response};
pub use identify::identify;
pub use kind::FileKind;
pub use options::{Options, RedactionMode, ReleasePolicy, ScriptPolicy, UnreadPolicy};
pub use pipeline::{Sanitized, sanitize};
pub use rejected_file::{RejectedFile, Threat};
pub use rejection::Rejection;
pub use session::{ScanProviders, ScanRecord, ScanSession, Scores};
pub use stats::{Note, Stats};
pub use values::Values;
pub use work::{FormatCleaner, Formats, Work};
