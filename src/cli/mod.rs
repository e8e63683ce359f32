//! The command line. Results go to standard output, messages to standard error.
//!
//! Exit codes: 0 done; 1 could not be done; 2 the command line is wrong; 3 the configuration is wrong; 128 and the number of
//! the signal that ended work on files.

mod args;
mod audit;
mod audit_args;
mod detect;
mod escape;
mod failure;
mod health;
mod highlight;
mod interrupt;
mod keys;
mod keys_args;
mod manual;
mod meant;
mod memory;
mod memory_args;
mod page;
mod problem;
mod progress;
mod rules;
mod run;
mod sanitize;
mod sanitize_paths;
mod settings;
mod stored_log;
mod streams;
mod style;
mod table;
mod tokens;
mod tokens_args;
#[cfg(feature = "console")]
mod try_out;
mod usage;
mod usage_args;
mod wanted;

pub use args::Args;
pub use run::{read, run};
