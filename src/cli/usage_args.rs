//! What can be said after `portcullis usage`.

use clap::{Args, ValueEnum};

/// Which sums are shown.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// From this day on: 2027-01-31 [default: the first of this month].
    #[arg(long, value_name = "DAY")]
    pub(super) since: Option<String>,
    /// What is summed up, separated by commas.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "day,model")]
    pub(super) by: Vec<GroupArg>,
    /// One JSON object a line.
    #[arg(long)]
    pub(super) json: bool,
}

/// What usage is summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum GroupArg {
    /// Each day in UTC.
    Day,
    /// Each token, by its id.
    Token,
    /// Each route.
    Route,
    /// Each model.
    Model,
}
