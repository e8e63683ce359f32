//! How far long work has come: a line on the terminal that is gone at the end. Where standard error is no terminal there is
//! none. It shows numbers and names of files, never what is in them.

use std::io::{IsTerminal, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::escape::escaped;
use crate::cli::table::width;

/// Work that takes no longer than this shows nothing.
const SHOWN_AFTER: Duration = Duration::from_millis(700);

/// How often the line is drawn again, where nothing comes.
const TICK: Duration = Duration::from_millis(250);

/// Times a second that it is drawn at most.
const RATE: u8 = 8;

/// What a line says, and what one on a narrow terminal does.
struct LineTemplate {
    wide: &'static str,
    narrow: &'static str,
}

/// The narrowest terminal that has room for all, in characters.
const WIDE: usize = 60;

const BYTES: LineTemplate = LineTemplate {
    wide: "{percent:>3}% {bytes} of {total_bytes} {bytes_per_sec} {eta} left {wide_bar}",
    narrow: "{percent:>3}% {bytes_per_sec} {eta} left",
};

const ENDLESS: LineTemplate =
    LineTemplate { wide: "{spinner} {bytes} {bytes_per_sec} {elapsed}", narrow: "{bytes} {bytes_per_sec}" };

const FILES: LineTemplate = LineTemplate {
    wide: "{prefix} {percent:>3}% {bytes} of {total_bytes} {eta} left {wide_msg}",
    narrow: "{prefix} {percent:>3}% {eta} left",
};

const ROWS: LineTemplate = LineTemplate {
    wide: "{spinner} {human_pos} rows, {msg} {elapsed}",
    narrow: "{spinner} {human_pos} rows {elapsed}",
};

const ONE: LineTemplate =
    LineTemplate { wide: "{spinner} {elapsed} {wide_msg}", narrow: "{spinner} {elapsed} {wide_msg}" };

/// The line that is on the terminal.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Whether only what went wrong is said.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on only what went wrong is said.
pub(super) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether only what went wrong is said.
pub(super) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Work under way; its line is gone once this is.
pub(super) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Nothing is shown.
    pub(super) const fn none() -> Self {
        Self(None)
    }

    /// Bytes of a file or of standard input, whose result goes to a file. Where it goes to the terminal, that is enough to
    /// see; what reads it from a pipe may write to the terminal too, such as a pager; and who types sees what is typed.
    pub(super) fn bytes(file: Option<&Path>) -> Self {
        let kind = std::fs::metadata("/dev/stdout").map(|there| there.file_type());
        let to_file = kind.is_ok_and(|kind| kind.is_file() || kind.is_char_device());
        let typed = named(file).is_none() && std::io::stdin().is_terminal();
        if typed || !to_file || std::io::stdout().is_terminal() {
            return Self::none();
        }
        match size(file) {
            Some(bytes) => Self::new(Some(bytes), BYTES),
            None => Self::new(None, ENDLESS),
        }
    }

    /// Files, of so many bytes together.
    pub(super) fn files(bytes: u64) -> Self {
        Self::new(Some(bytes), FILES)
    }

    /// One file, of which nothing is known before its end.
    pub(super) fn one(name: &str) -> Self {
        let progress = Self::new(None, ONE);
        progress.name(name);
        progress
    }

    /// Rows of a store.
    pub(super) fn rows() -> Self {
        Self::new(None, ROWS)
    }

    fn new(length: Option<u64>, template: LineTemplate) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if is_quiet() || dumb || !std::io::stderr().is_terminal() {
            return Self::none();
        }
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        let template = if width(std::io::stderr()) < WIDE { template.narrow } else { template.wide };
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
        bar.set_style(style.progress_chars("=> ").tick_chars("|/-\\ "));
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
        // A thread of its own: who waits for one file or one row says nothing meanwhile.
        let shown = bar.downgrade();
        let wait = move || {
            std::thread::sleep(SHOWN_AFTER);
            if let Some(bar) = shown.upgrade().filter(|bar| !bar.is_finished()) {
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(RATE));
                bar.enable_steady_tick(TICK);
            }
        };
        drop(std::thread::Builder::new().name("progress".to_owned()).spawn(wait));
        Self(Some(bar))
    }

    /// More of it is done.
    pub(super) fn add(&self, more: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(more);
        }
    }

    /// So much of it is done.
    pub(super) fn reach(&self, done: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(done);
        }
    }

    /// What is worked on now.
    pub(super) fn name(&self, name: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(escaped(name));
        }
    }

    /// Which of how many that is.
    pub(super) fn number(&self, number: usize, of: usize) {
        if let Some(bar) = &self.0 {
            bar.set_prefix(format!("{number}/{of}"));
        }
    }

    /// The same input, which is counted as it is read.
    pub(super) fn counting(&self, input: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        match &self.0 {
            Some(bar) => Box::new(CountedInput { input, bar: bar.clone() }),
            None => input,
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

struct CountedInput {
    input: Box<dyn Read + Send>,
    bar: ProgressBar,
}

impl Read for CountedInput {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(into)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}

/// Does what writes to standard error, with no line of ours there meanwhile.
pub(super) fn aside(write: impl FnOnce()) {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// The file, where it is not standard input.
fn named(file: Option<&Path>) -> Option<&Path> {
    file.filter(|path| path.as_os_str() != "-")
}

/// How many bytes will come, where that is known. Standard input may be a file as well.
fn size(file: Option<&Path>) -> Option<u64> {
    let path = named(file).unwrap_or(Path::new("/dev/stdin"));
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|there| there.len())
}

/// Takes the line away: the process ends.
pub(super) fn clear() {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(bar) = shown {
        bar.finish_and_clear();
    }
}
