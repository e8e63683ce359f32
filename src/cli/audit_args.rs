//! What can be said after `portcullis audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Prove that no line was changed, removed, added or moved; several files are one log, the oldest first.
    Verify {
        /// The files.
        #[arg(required_unless_present = "store", conflicts_with = "store", value_name = "FILE")]
        files: Vec<PathBuf>,
        /// What the log ended with the last time, as `verify` printed it: the lines must go on from there. Of a store's logs name one.
        #[arg(long, value_name = "LINK")]
        after: Option<String>,
        #[command(flatten)]
        stored: StoredArgs,
    },
    /// Write lines of the log to standard output.
    Export {
        /// The file.
        #[arg(required_unless_present = "store", conflicts_with = "store")]
        file: Option<PathBuf>,
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
        #[command(flatten)]
        stored: StoredArgs,
    },
    /// Copy the lines of files into the store, where gateways with `store = true` have not done so; those that it has stay as they are.
    Store {
        /// The files, none of which a gateway writes any more.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// Lines of the store in place of those of files.
#[derive(Debug, Args)]
pub(super) struct StoredArgs {
    /// The lines that gateways with `store = true` have put into the store, log by log.
    #[arg(long)]
    pub(super) store: bool,
    /// Only of this log, as `verify` calls it; or of all logs of one gateway, by its name.
    #[arg(long, value_name = "LOG", requires = "store")]
    pub(super) log: Option<String>,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FormatArg {
    /// As they are.
    Jsonl,
    /// A table for spreadsheets.
    Csv,
}
