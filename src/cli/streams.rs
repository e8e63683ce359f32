//! Standard input, output and error.

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;

use crate::app::{AppError, logged};
use crate::cli::failure::Failure;

/// A line of the result.
pub(super) fn result(line: &str) -> Result<(), Failure> {
    writeln!(std::io::stdout().lock(), "{line}")?;
    Ok(())
}

/// A line for people, in the log's form where that goes to the same place. There is nobody to tell that this failed.
pub(super) fn message(line: &str) {
    if !logged(line, false) {
        drop(writeln!(std::io::stderr().lock(), "{line}"));
    }
}

/// The same, of what ends the command.
pub(super) fn complaint(line: &str) {
    if !logged(line, true) {
        drop(writeln!(std::io::stderr().lock(), "{line}"));
    }
}

/// The file, or standard input, which is also called `-`.
pub(super) fn input(file: Option<&PathBuf>) -> Result<Box<dyn Read + Send>, Failure> {
    let Some(path) = file.filter(|path| path.as_os_str() != "-") else {
        if std::io::stdin().is_terminal() {
            message("reading from the terminal; end with Ctrl-D");
        }
        return Ok(Box::new(std::io::stdin()));
    };
    let opened =
        std::fs::File::open(path).map_err(|error| AppError::Io(format!("{}: {error}", path.display())))?;
    Ok(Box::new(opened))
}
