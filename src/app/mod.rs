//! The composition root: a checked configuration → built parts → a server. The only part that knows all others.
//!
//! | file | what |
//! |---|---|
//! | `parts` | what outlives a reload: store, vault, tokens, rules, metrics |
//! | `master` | the master key, as the configuration says, and another in its place |
//! | `table` | a configuration's routes, built from the parts |
//! | `mint` | tokens for upstreams, and public keys |
//! | `admin` | metrics and health on their own listener |
//! | `serve` | the running process: signals, reload, drain |
//! | `upkeep` | what it does every second |
//! | `process` | what the process asks of the operating system for itself |
//! | `pipe` | text from standard input to standard output |

mod admin;
mod master;
mod mint;
mod parts;
mod pipe;
mod process;
mod serve;
mod table;
mod upkeep;

pub use master::{NewMaster, Replaced, replace_master};
pub use parts::{AppError, Opened, Parts, builtin};
pub use pipe::{Piped, redact, unredact};
pub use process::{log_warnings, without_core_dumps};
pub use serve::{Announce, Source, serve};
