//! Names of files and the like on their way to a terminal.

use std::fmt::Write;
use std::path::Path;

use crate::base::steering::steers;

/// Writes what could steer a terminal, or turn the order of letters about, as Rust writes it in a literal.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// The last part of a path, or all of it, where it has none.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_written_out_and_nothing_else_is() {
        for (text, shown) in [
            ("plain é 名前 😀", "plain é 名前 😀"),
            ("a\x1b[2Jb\n", "a\\u{1b}[2Jb\\n"),
            ("invoice\u{202e}fdp.exe", "invoice\\u{202e}fdp.exe"),
            ("\u{9b}1m", "\\u{9b}1m"),
        ] {
            assert_eq!(escaped(text), shown);
        }
    }
}
