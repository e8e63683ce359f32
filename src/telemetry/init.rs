//! The process's log: to stderr, one line an event. Stdout is for results.
//!
//! Events of the libraries below us are not shown at any level: Pingora's error lines quote request buffers, and
//! a token or a value must not reach the log by way of somebody else's message.

use std::sync::OnceLock;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::telemetry::process_log::{Queued, flush_log};

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// How lines get to standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogWay {
    /// At once: for a command that ends by itself, and whose lines stand among others of its own.
    Direct,
    /// Past a queue, so that nobody waits for whoever reads them: for a process that serves. [`flush_log`] waits for the last.
    Queued,
}

/// How the log of this process looks, once it has one.
static STARTED: OnceLock<LogFormat> = OnceLock::new();

/// Whether lines for people have colours, once that is said.
static COLOURED: OnceLock<bool> = OnceLock::new();

/// Says whether lines for people have colours, before the log is started; else they do where stderr is a terminal.
pub fn colour_log(coloured: bool) {
    COLOURED.get_or_init(|| coloured);
}

/// Whether the process has a log of JSON objects, and nothing else may be written to where it goes.
pub fn logs_json() -> bool {
    STARTED.get() == Some(&LogFormat::Json)
}

/// Starts the log. `level` is `error`, `warn`, `info`, `debug` or `trace`; access lines are `info`. A second call
/// in one process (tests) changes nothing. Panics are logged by their place only: a panic's message may hold data.
pub fn start_log(format: LogFormat, level: &str, way: LogWay) {
    let level: LevelFilter = level.parse().unwrap_or(LevelFilter::INFO);
    let ours = Targets::new().with_target("portcullis", level).with_default(LevelFilter::OFF);
    let ansi = *COLOURED.get_or_init(|| std::io::IsTerminal::is_terminal(&std::io::stderr()));
    let to = match way {
        LogWay::Direct => BoxMakeWriter::new(std::io::stderr),
        LogWay::Queued => BoxMakeWriter::new(Queued::begun()),
    };
    let lines = match format {
        LogFormat::Text => fmt::layer().with_writer(to).with_ansi(ansi).boxed(),
        LogFormat::Json => fmt::layer().json().flatten_event(true).with_writer(to).boxed(),
    };
    if tracing_subscriber::registry().with(lines.with_filter(ours)).try_init().is_ok() {
        STARTED.get_or_init(|| format);
        std::panic::set_hook(Box::new(|info| {
            let (file, line) = info.location().map_or(("?", 0), |at| (at.file(), at.line()));
            tracing::error!(target: "portcullis::panic", file, line, "internal error");
            // The process ends with this one.
            if std::thread::current().name() == Some("main") {
                flush_log();
            }
        }));
    }
}
