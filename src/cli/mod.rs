//! The command line. Results go to standard output, messages to standard error.
//!
//! Exit codes: 0 done; 1 could not be done; 2 the command line is wrong; 3 the configuration is wrong; 128 and the number of
//! the signal that ended work on files.
//!
//! | module | what |
//! |---|---|
//! | `args` | the command line as clap parses it: commands and their arguments |
//! | `audit_args`, `keys_args`, `memory_args`, `tokens_args`, `usage_args` | the arguments of these commands |
//! | `run` | parses the command line, calls the command, maps failures to exit codes |
//! | `settings` | loads the configuration that a command needs |
//! | `meant` | suggestions for a command line that does not parse |
//! | `manual` | `completions`, `man`: shell completions and the manual page |
//! | `try_out` | `try`: a gateway with an empty data folder, and its console in a browser |
//! | `health` | `health`: asks a running gateway whether it is ready |
//! | `detect` | `detect`: findings in files or standard input |
//! | `detect_options` | how it looks for them, and what it calls them |
//! | `detect_text`, `detect_rows` | texts on their way through it, and texts in rows |
//! | `threads_arg` | how many threads a command has |
//! | `highlight` | text with its findings coloured and named, for `detect` on a terminal |
//! | `rules` | `rules`: lists, shows and tests rules |
//! | `page` | the reference page of the rules, in Markdown |
//! | `wanted` | the selection of rules that arguments ask for |
//! | `sanitize` | `sanitize`: cleans files |
//! | `sanitize_paths` | which files `sanitize` reads and writes |
//! | `tokens` | `tokens`: API tokens, in the store |
//! | `keys` | `keys`: keys of the vault, in the store |
//! | `memory` | `memory`: what is remembered of callers, in the store |
//! | `usage` | `usage`: reports of model usage, from the store |
//! | `audit` | `audit`: verifies and exports the audit log |
//! | `stored_log` | logs in the store, read like files |
//! | `streams` | standard input, output and error |
//! | `table` | rows as TSV, as a table or as blocks |
//! | `style` | colours, and whether they are used |
//! | `escape` | escapes control characters in names before they are printed |
//! | `progress` | the progress line on a terminal |
//! | `problem` | prints problems of a configuration |
//! | `failure` | `Failure`: why a command failed |
//! | `interrupt` | keeps a signal from leaving half-written files |

mod args;
mod audit;
mod audit_args;
mod detect;
mod detect_options;
mod detect_rows;
mod detect_text;
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
mod threads_arg;
mod tokens;
mod tokens_args;
#[cfg(feature = "console")]
mod try_out;
mod usage;
mod usage_args;
mod wanted;

pub use args::Args;
pub use run::{read, run};
