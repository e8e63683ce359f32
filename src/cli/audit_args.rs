//! What can be said after `portcullis audit`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Prove that no line was changed, removed, added or moved; several files are one log, the oldest first.
    Verify {
        /// The files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// What the log ended with the last time, as `verify` printed it: the files must go on from there.
        #[arg(long, value_name = "LINK")]
        after: Option<String>,
    },
    /// Write lines of the log to standard output.
    Export {
        /// The file.
        file: PathBuf,
        /// How they are written.
        #[arg(long, value_enum, default_value_t = FormatArg::Jsonl)]
        format: FormatArg,
        /// From this time on: 2027-01-31 or 2027-01-31T12:00:00Z.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Before this time.
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Only of this token, by its id (pti_…).
        #[arg(long, value_name = "ID")]
        token: Option<String>,
        /// Only of this route.
        #[arg(long, value_name = "NAME")]
        route: Option<String>,
    },
}

/// How lines are written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FormatArg {
    /// As they are.
    Jsonl,
    /// A table for spreadsheets.
    Csv,
}
