//! [`ThreadsArg`]: how many threads a command has.

/// The most threads that can be asked for.
const MOST: u16 = 256;

/// How many threads look for values.
#[derive(Debug, clap::Args)]
pub(super) struct ThreadsArg {
    /// How many threads look for values, 1 to 256 [default: one for each core of the machine]; what comes out is the same with any
    /// number.
    #[arg(long = "threads", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
    count: Option<u16>,
}

impl ThreadsArg {
    /// As many as were asked for; else one for each core that the operating system tells of.
    pub(super) fn count(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from).min(usize::from(MOST));
        self.count.map_or_else(cores, usize::from)
    }
}
