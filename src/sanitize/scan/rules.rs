//! [`Rules`]: YARA rules and SHA-256 lists, built in or from a folder.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use boreal::Compiler;
use boreal::compiler::CompilerParams;
use boreal::scanner::{ScanError, ScanParams, Scanner};
use sha2::{Digest, Sha256};

use crate::base::regular_file;
use crate::sanitize::scan::{ScanFailure, Verdict};

/// The built-in rules, by file.
const BUILTIN: &[(&str, &str)] = &[
    ("documents.yar", include_str!("../../../conf/scan/documents.yar")),
    ("files.yar", include_str!("../../../conf/scan/files.yar")),
];

/// The largest file of rules or list of digests.
const LARGEST: u64 = 256 << 20;

/// What a digest's rule is called.
const LISTED: &str = "sha256";

/// What is looked for; made once, then only read.
pub struct Rules {
    yara: Scanner,
    digests: HashSet<[u8; 32]>,
}

/// What is wrong with a file of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// The folder, or a file in it, cannot be read.
    #[error("{file}: {why}")]
    Unreadable {
        /// Its path.
        file: String,
        /// The kind of failure.
        why: io::ErrorKind,
    },
    /// There is neither a rule nor a digest in the folder.
    #[error("{folder}: there are no rules (*.yar, *.sha256) in this folder")]
    Empty {
        /// Its path.
        folder: String,
    },
    /// A rule that does not compile; the file's name, line and column are at the message's beginning.
    #[error("{0}")]
    Rule(String),
    /// A line that is no digest.
    #[error("{file}:{line}: not a SHA-256 digest in hexadecimal")]
    Digest {
        /// The file's path.
        file: String,
        /// From 1.
        line: usize,
    },
}

impl Rules {
    /// The built-in ones.
    ///
    /// # Errors
    /// None that a test has not seen.
    pub fn builtin() -> Result<Self, RulesError> {
        let mut making = Making::new();
        for (name, text) in BUILTIN {
            making.rules(name, text)?;
        }
        Ok(making.done())
    }

    /// Those of a folder: `*.yar` and `*.yara` are rules of YARA's language (without `include`), `*.sha256` lists of
    /// digests as `sha256sum` writes them. Other files are not read, nor folders in it.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn folder(folder: &Path) -> Result<Self, RulesError> {
        let unreadable = |path: &Path, error: &io::Error| RulesError::Unreadable {
            file: path.display().to_string(),
            why: error.kind(),
        };
        let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let mut making = Making::new();
        for path in paths {
            let kind = path.extension().map(|kind| kind.to_string_lossy().to_ascii_lowercase());
            let file = path.display().to_string();
            match kind.as_deref() {
                Some("yar" | "yara") => {
                    making.rules(&file, &text(&path).map_err(|error| unreadable(&path, &error))?)?;
                }
                Some("sha256") => {
                    making.digests(&file, &text(&path).map_err(|error| unreadable(&path, &error))?)?;
                }
                _ => {}
            }
        }
        if making.empty() {
            return Err(RulesError::Empty { folder: folder.display().to_string() });
        }
        Ok(making.done())
    }

    /// How many rules there are, and how many digests.
    pub fn len(&self) -> (usize, usize) {
        (self.yara.rules().count(), self.digests.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == (0, 0)
    }

    /// Looks at bytes for at most this long.
    pub(super) fn look(&self, bytes: &[u8], time: Duration) -> Verdict {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        if self.digests.contains(&digest) {
            return Verdict::Malicious { rule: LISTED.to_owned() };
        }
        // A clone shares the rules; its parameters are its own.
        let mut yara = self.yara.clone();
        yara.set_scan_params(ScanParams::default().timeout_duration(Some(time)));
        let (found, error) = match yara.scan_mem(bytes) {
            Ok(found) => (found, None),
            Err((error, found)) => (found, Some(error)),
        };
        match (found.rules.first(), error) {
            (Some(rule), _) => Verdict::Malicious { rule: rule.name.to_owned() },
            (None, None) => Verdict::Clean,
            (None, Some(ScanError::Timeout)) => Verdict::Unable(ScanFailure::TooLong),
            (None, Some(_)) => Verdict::Unable(ScanFailure::Refused),
        }
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rules, digests) = self.len();
        write!(f, "Rules({rules} rules, {digests} digests)")
    }
}

struct Making {
    compiler: Compiler,
    digests: HashSet<[u8; 32]>,
    files: usize,
}

impl Making {
    fn new() -> Self {
        let mut compiler = Compiler::new();
        // Rules read no other files.
        compiler.set_params(CompilerParams::default().disable_includes(true));
        Self { compiler, digests: HashSet::new(), files: 0 }
    }

    fn rules(&mut self, file: &str, text: &str) -> Result<(), RulesError> {
        // Each file is a namespace: two may have rules of one name.
        let added = self.compiler.add_rules_str_in_namespace(text, file);
        self.files += 1;
        added.map(drop).map_err(|error| {
            let said = error.to_string();
            RulesError::Rule(format!("{file}:{}", said.strip_prefix("mem:").unwrap_or(&said)))
        })
    }

    fn digests(&mut self, file: &str, text: &str) -> Result<(), RulesError> {
        for (n, line) in text.lines().enumerate() {
            let Some(word) = line.split_whitespace().next().filter(|word| !word.starts_with('#')) else {
                continue;
            };
            let digest = data_encoding::HEXLOWER_PERMISSIVE.decode(word.as_bytes()).ok();
            let digest = digest.and_then(|digest| <[u8; 32]>::try_from(digest).ok());
            let digest = digest.ok_or_else(|| RulesError::Digest { file: file.to_owned(), line: n + 1 })?;
            self.digests.insert(digest);
        }
        Ok(())
    }

    fn empty(&self) -> bool {
        self.files == 0 && self.digests.is_empty()
    }

    fn done(self) -> Rules {
        Rules { yara: self.compiler.finalize(), digests: self.digests }
    }
}

/// A file of text of a bounded size.
fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = regular_file::open(path, OpenOptions::new().read(true))?;
    let read = file.take(LARGEST + 1).read_to_string(&mut text)?;
    if read as u64 > LARGEST { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
