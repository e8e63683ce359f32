//! The composition root: a checked configuration → built parts → a server. The only part that knows all others.
//!
//! | file | what |
//! |---|---|
//! | `parts` | what outlives a reload: store, vault, tokens, rules, metrics |
//! | `table` | a configuration's routes, built from the parts |
//! | `mint` | tokens for upstreams, and public keys |
//! | `admin` | metrics and health on their own listener |
//! | `serve` | the running process: signals, reload, drain |
//! | `pipe` | text from standard input to standard output |
//! | `process` | what the process asks of the operating system for itself |

mod admin;
mod mint;
mod parts;
mod pipe;
mod serve;
mod table;
mod process;

pub use parts::{AppError, Opened, Parts, builtin};
pub use pipe::{Piped, redact, unredact};
pub use serve::{Announce, Source, serve};
pub use process::without_core_dumps;
