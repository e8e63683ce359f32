//! Why the store could not do what it was asked. Never holds a value, an id or a statement's text; file errors
//! name the path, which is the operator's own setting.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The row is not at the expected version: somebody else wrote it. Read it again and decide anew.
    #[error("the row was changed by somebody else")]
    Conflict,
    /// What was read is not what was written: the file is damaged. Restore it from a copy.
    #[error("the store is damaged: a row is not what was written; restore the store from a copy")]
    Corrupt,
    /// There is no room for another row. Nothing was written; reading goes on.
    #[error("there is no room left to store anything")]
    Full,
    /// The store cannot be reached now. Whether a write took place is known only by reading again.
    #[error("the store is unavailable ({0})")]
    Unavailable(Cause),
    /// A file or folder cannot be used.
    #[error("{path}: {fault}", path = .path.display())]
    File {
        /// The path as the operator set it.
        path: PathBuf,
        /// What is wrong with it.
        fault: Fault,
    },
}

impl StoreError {
    pub(crate) fn file(path: &Path, fault: Fault) -> Self {
        Self::File { path: path.to_owned(), fault }
    }

    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        Self::file(path, Fault::Io(error.kind()))
    }
}

/// What is wrong with a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The operating system refused.
    #[error("{0}")]
    Io(io::ErrorKind),
    /// Others on this machine may read or write the file.
    #[error("mode {mode:04o} lets others at it; set it with chmod 600")]
    ExposedFile {
        /// Its permission bits.
        mode: u32,
    },
    /// Everybody on this machine may write into the folder, and so replace the files in it.
    #[error("mode {mode:04o} lets everybody write into it; set it with chmod 700")]
    ExposedFolder {
        /// Its permission bits.
        mode: u32,
    },
    /// A folder or device lies where a file should.
    #[error("not a regular file")]
    NotAFile,
    /// A file lies where a folder should.
    #[error("not a folder")]
    NotAFolder,
}

impl Fault {
    /// Whether the operating system refused for this reason.
    pub fn is(self, kind: io::ErrorKind) -> bool {
        self == Self::Io(kind)
    }
}

/// What kept the store from answering: a fixed word, and SQLite's result code where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    what: &'static str,
    code: Option<i32>,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        self.code.map_or(Ok(()), |code| write!(f, ", SQLite result code {code}"))
    }
}

// The low byte of SQLite's result codes (sqlite.org/rescode.html); the rest of the code only says more exactly.
const BUSY: i32 = 5;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const NOT_A_DATABASE: i32 = 26;

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let code = match &error {
            sqlx::Error::Database(inner) => inner.code().and_then(|code| code.parse::<i32>().ok()),
            _ => None,
        };
        match (code.map(|code| code & 0xff), error) {
            (Some(FULL), _) => Self::Full,
            (Some(CORRUPT | NOT_A_DATABASE), _) | (_, sqlx::Error::ColumnDecode { .. }) => Self::Corrupt,
            (Some(BUSY), _) => Self::Unavailable(Cause { what: "another process holds it", code }),
            (_, sqlx::Error::PoolTimedOut) => Self::Unavailable(Cause { what: "too many are waiting", code }),
            (_, sqlx::Error::PoolClosed) => Self::Unavailable(Cause { what: "it is closed", code }),
            _ => Self::Unavailable(Cause { what: "it failed", code }),
        }
    }
}

impl StoreError {
    /// Whether another process held the file for longer than a writer waits.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Unavailable(Cause { code: Some(code), .. }) if code & 0xff == BUSY)
    }
}
