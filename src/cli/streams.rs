//! Standard input, output and error.

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use crate::app::{AppError, log_line, logged};
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
    if !log_line(line) {
        progress::aside(|| drop(writeln!(std::io::stderr().lock(), "{line}")));
    }
}

/// The file, or standard input, which is also called `-`: a text, whose bytes are UTF-8.
///
/// # Errors
/// A file that cannot be opened. Reading fails where the text begins as one of UTF-16 or UTF-32 does: nothing would be found in it.
pub(super) fn input(file: Option<&PathBuf>) -> Result<Box<dyn Read + Send>, Failure> {
    let Some(path) = file.filter(|path| path.as_os_str() != "-") else {
        if std::io::stdin().is_terminal() {
            message("reading from the terminal; end with Ctrl-D");
        }
        return Ok(Box::new(CheckedInput::new(std::io::stdin())));
    };
    Ok(Box::new(CheckedInput::new(opened(path)?)))
}

/// What is read, once its first bytes are known to be no other encoding's.
struct CheckedInput<R> {
    from: R,
    /// The first bytes, until they are known to be fine.
    first: Option<Vec<u8>>,
}

/// So many bytes tell UTF-16 without a mark by the zeros in it.
const TELLING: usize = 16;

impl<R: Read> CheckedInput<R> {
    fn new(from: R) -> Self {
        Self { from, first: Some(Vec::new()) }
    }
}

impl<R: Read> Read for CheckedInput<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.from.read(into)?;
        if let Some(first) = &mut self.first {
            first.extend(into.iter().take(read.min(TELLING - first.len())));
            if is_wide(first) {
                let why = "this is UTF-16 or UTF-32, in which nothing is found; convert it first: iconv -f UTF-16 -t UTF-8";
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, why));
            }
            self.first.take_if(|first| read == 0 || first.len() >= TELLING);
        }
        Ok(read)
    }
}

/// Whether a text that begins so has two or four bytes for a character: it has a mark that says so, or a zero beside every letter.
fn is_wide(first: &[u8]) -> bool {
    let marked = first.starts_with(&[0xff, 0xfe])
        || first.starts_with(&[0xfe, 0xff])
        || first.starts_with(&[0, 0, 0xfe, 0xff]);
    let zeros = |even: usize| first.iter().skip(even).step_by(2).all(|byte| *byte == 0);
    let letters = |even: usize| {
        first.iter().skip(even).step_by(2).all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'))
    };
    marked || first.len() >= TELLING && (zeros(0) && letters(1) || zeros(1) && letters(0))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_texts_are_refused_and_others_pass() {
        let read = |bytes: &[u8]| {
            let mut all = Vec::new();
            CheckedInput::new(bytes).read_to_end(&mut all).map(|_| all)
        };
        let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        for bytes in [
            [&[0xff, 0xfe], wide("mail jo@ab.de").as_slice()].concat(),
            wide("mail jo@ab.de"),
            vec![0xfe, 0xff],
        ] {
            assert_eq!(read(&bytes).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
        }
        for text in [
            "",
            "a",
            "mail jo@ab.de and more of it",
            "\u{feff}mail",
            "a\0b\0c",
            "\u{4e2d}\u{6587}\u{4e2d}\u{6587}\u{4e2d}\u{6587}",
        ] {
            assert_eq!(read(text.as_bytes()).unwrap(), text.as_bytes());
        }
    }
}
