//! Standard input, output and error.

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use crate::app::{AppError, logged};
use crate::cli::escape::escaped;
use crate::cli::failure::Failure;
use crate::cli::progress::{self, is_quiet};
use crate::cli::style::{ERROR, GOOD, WARNING, errors_coloured, painted};

/// A line of the result.
pub(super) fn result(line: &str) -> Result<(), Failure> {
    let mut written = Ok(());
    progress::aside(|| written = writeln!(std::io::stdout().lock(), "{line}"));
    Ok(written?)
}

/// A line for people, in the log's form where that goes to the same place. There is nobody to tell that this failed.
pub(super) fn message(line: &str) {
    if !is_quiet() && !logged(line, false) {
        said(&escaped(line));
    }
}

/// The same, of what may not be meant: it is said also where little is.
pub(super) fn warning(line: &str) {
    if !logged(&format!("warning: {line}"), false) {
        said(&format!("{} {}", painted("warning:", WARNING, errors_coloured()), escaped(line)));
    }
}

/// The same, of something that went wrong, after which the command goes on.
pub(super) fn complaint(line: &str) {
    if !logged(line, true) {
        said(&escaped(line));
    }
}

/// What ended the command, and what can be done next.
pub(super) fn last_words(line: &str, tip: Option<&str>) {
    let whole = tip.map_or_else(|| line.to_owned(), |tip| format!("{line}; {tip}"));
    if logged(&whole, true) {
        return;
    }
    let coloured = errors_coloured();
    said(&format!("{} {}", painted("portcullis:", ERROR, coloured), escaped(line)));
    if let Some(tip) = tip {
        said(&format!("  {} {}", painted("tip:", GOOD, coloured), escaped(tip)));
    }
}

/// A line on standard error, which is complete.
pub(super) fn said(line: &str) {
    progress::aside(|| drop(writeln!(std::io::stderr().lock(), "{line}")));
}

/// The file, or standard input, which is also called `-`.
pub(super) fn input(file: Option<&PathBuf>) -> Result<Box<dyn Read + Send>, Failure> {
    let Some(path) = file.filter(|path| path.as_os_str() != "-") else {
        if std::io::stdin().is_terminal() {
            message("reading from the terminal; end with Ctrl-D");
        }
        return Ok(Box::new(std::io::stdin()));
    };
    Ok(Box::new(opened(path)?))
}

/// A file to read.
pub(super) fn opened(path: &Path) -> Result<std::fs::File, Failure> {
    let file = std::fs::File::open(path).map_err(|error| at(path, &error))?;
    match file.metadata() {
        Ok(there) if there.is_dir() => Err(at(path, &std::io::ErrorKind::IsADirectory.into())),
        _ => Ok(file),
    }
}

/// What the system says of a file, in words that fit behind its path.
pub(super) fn at(path: &Path, error: &std::io::Error) -> Failure {
    use std::io::ErrorKind;
    let why = match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "this user may not do that (permission denied)".to_owned(),
        ErrorKind::IsADirectory => "this is a folder, not a file".to_owned(),
        ErrorKind::NotADirectory => "a part of the path is a file, not a folder".to_owned(),
        ErrorKind::StorageFull => "there is no room left on the disk".to_owned(),
        _ => error.to_string(),
    };
    AppError::Io(format!("{}: {why}", path.display())).into()
}
