//! Rust source as text: files, code without comments and literals, paths it names, functions and their lengths.
//! Not a parser: enough to hold laws that no lint can.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// One source file.
pub(crate) struct Source {
    /// Where, from the crate's root, with `/`.
    pub(crate) path: String,
    /// With comments and the insides of literals blanked; same lines.
    pub(crate) code: String,
}

impl Source {
    /// The part it belongs to: the first folder under `src`, or the file's own name.
    pub(crate) fn part(&self) -> &str {
        let inside = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let first = inside.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Numbered lines of code.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.lines().enumerate().map(|(n, line)| (n + 1, line))
    }

    /// Functions that have a body: name, line, length in lines.
    pub(crate) fn functions(&self) -> Vec<(&str, usize, usize)> {
        words(&self.code, "fn ")
            .filter_map(|at| {
                let name = ident(self.code.get(at + 3..)?);
                let body = body(self.code.get(at..)?)?;
                let line = self.code.get(..at)?.matches('\n').count() + 1;
                (!name.is_empty()).then(|| (name, line, body.matches('\n').count() + 1))
            })
            .collect()
    }

    /// Names of types and traits that it defines; not those within functions and tests, and no associated types.
    pub(crate) fn types(&self) -> impl Iterator<Item = &str> {
        let outermost = self.code.lines().filter(|line| !line.starts_with(' '));
        outermost.filter_map(|line| {
            let mut words =
                line.split_whitespace().skip_while(|word| word.starts_with("pub") || *word == "unsafe");
            // `pub(in crate::gateway)` is two words.
            let kind = words.find(|word| !word.ends_with(')'))?;
            let name = ident(words.next()?);
            ["struct", "enum", "trait", "union", "type"].contains(&kind).then_some(name)
        })
    }

    /// Whether code names `krate` as a path's first segment.
    pub(crate) fn uses(&self, krate: &str) -> bool {
        words(&self.code, krate).any(|at| {
            let before = self.code.get(..at).unwrap_or_default();
            let after = self.code.get(at + krate.len()..).unwrap_or_default();
            let path = after.starts_with("::") || (before.ends_with("use ") && after.starts_with([';', ' ']));
            path && !before.ends_with(':')
        })
    }
}

/// A pattern of these tests, which is right.
pub(crate) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"))
}

/// All files under `folder` whose name has one of these endings, in order of their paths.
pub(crate) fn files(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if path.is_dir() {
                open.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The crate's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A path as the messages show it.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// Reads every Rust file under `folder`.
pub(crate) fn sources(folder: &str) -> Vec<Source> {
    files(folder, &[".rs"])
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).unwrap_or_default();
            Source { path: shown(path), code: code(&text) }
        })
        .collect()
}

/// Where `word` stands in `text` and does not continue an identifier.
pub(crate) fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// The identifier that `text` begins with.
pub(crate) fn ident(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// A function from its `fn` to the brace that closes its body; `None` for a declaration.
fn body(text: &str) -> Option<&str> {
    // A `;` inside `[u8; 32]` of the signature ends nothing.
    let mut nested = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => nested += 1,
            ')' | ']' => nested -= 1,
            ';' if nested == 0 => return None,
            '{' => return text.get(..at + block(text.get(at..)?)),
            _ => {}
        }
    }
    None
}

/// How long the block is that `text` begins with.
pub(crate) fn block(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Blanks comments and what is inside literals.
pub(crate) fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut after_word = false;
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment(rest),
            'r' | 'b' | 'c' if !after_word => raw(rest),
            '"' => literal(rest, '"'),
            '\'' if is_char(rest) => literal(rest, '\''),
            _ => 0,
        };
        after_word = c.is_alphanumeric() || c == '_';
        let taken = skipped.max(c.len_utf8());
        let (piece, left) = rest.split_at(taken);
        match skipped {
            0 => out.push_str(piece),
            _ => out.extend(piece.chars().map(|c| if c == '\n' { '\n' } else { ' ' })),
        }
        rest = left;
    }
    out
}

/// The length of a block comment; they nest.
fn comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a raw string, `0` if this is none.
fn raw(text: &str) -> usize {
    let after = text.trim_start_matches(['b', 'c']);
    let Some(after) = after.strip_prefix('r') else { return 0 };
    let hashes = after.len() - after.trim_start_matches('#').len();
    if text.len() - after.len() > 2 || !after.trim_start_matches('#').starts_with('"') {
        return 0;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let open = text.len() - after.len() + hashes + 1;
    text.get(open..).and_then(|inside| inside.find(&close)).map_or(text.len(), |at| open + at + close.len())
}

/// The length of a literal in these quotes, with its escapes.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Whether a quote opens a character and not a lifetime.
fn is_char(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    chars.next() == Some('\\') || chars.next() == Some('\'')
}
