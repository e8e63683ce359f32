//! The command line. Results go to standard output, messages to standard error.
//!
//! Exit codes: 0 done; 1 could not be done; 2 the command line is wrong; 3 the configuration is wrong.

mod args;
mod audit;
mod audit_args;
mod detect;
mod failure;
mod health;
mod keys;
mod keys_args;
mod memory;
mod memory_args;
mod page;
mod rules;
mod run;
mod sanitize;
mod settings;
mod shown;
mod stored_log;
mod streams;
mod tokens;
mod tokens_args;
#[cfg(feature = "console")]
mod try_out;
mod usage;
mod usage_args;
mod wanted;

pub use args::Args;
pub use run::{read, run};
