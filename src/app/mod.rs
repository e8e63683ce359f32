//! The composition root: a checked configuration → built parts → a server. The only part that knows all others.
//!
//! | file | what |
//! |---|---|
//! | `parts` | what outlives a reload: store, vault, tokens, rules, metrics |
//! | `files` | the file store, grants, the share service |
//! | `table` | a configuration's routes, built from the parts |
//! | `mint` | tokens for upstreams, and public keys |
//! | `providers` | [`Providers`]: whom sanitizing asks, built from a configuration |
//! | `admin` | metrics and health on their own listener |
//! | `serve` | the running process: signals, reload, drain |
//! | `cleaning` | one file, cleaned on the command line |
//! | `pipe` | text from standard input to standard output |

mod admin;
mod cleaning;
mod files;
mod mint;
mod parts;
mod pipe;
mod providers;
mod serve;
mod table;

pub use cleaning::{Released, Wish, clean};
pub use parts::{AppError, Opened, Parts, builtin};
pub use pipe::{Piped, redact, unredact};
pub use providers::Providers;
pub use serve::{Announce, Source, serve};
