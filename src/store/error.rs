//! Why the store could not do what it was asked. Never holds a value, an id, a statement's text or any part of a
//! database's URL; file errors name the path, which is the operator's own setting.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sqlx::error::DatabaseError;
use sqlx::migrate::MigrateError;
use sqlx::postgres::PgDatabaseError;

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
    /// More bytes came for a file than it may have. Nothing of it was kept.
    #[error("the file is larger than {0} bytes")]
    TooLarge(u64),
    /// Whoever sends a file's bytes stopped before the end. Nothing of it was kept.
    #[error("the file's bytes ended early")]
    Interrupted,
    /// A file or folder cannot be used.
    #[error("{path}: {fault}", path = .path.display())]
    File {
        /// The path as the operator set it.
        path: PathBuf,
        /// What is wrong with it.
        fault: FileFault,
    },
}

impl StoreError {
    pub(crate) fn file(path: &Path, fault: FileFault) -> Self {
        Self::File { path: path.to_owned(), fault }
    }

    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        Self::file(path, FileFault::Io(error.kind()))
    }
}

/// What is wrong with a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// The operating system refused.
    #[error("{}", said(*.0))]
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
    /// Others on this machine may look into the folder.
    #[error("mode {mode:04o} lets others into it; set it with chmod 700")]
    OpenFolder {
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

/// The system's reason, in words that fit behind a path.
fn said(kind: io::ErrorKind) -> String {
    match kind {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::AlreadyExists => "there is one already".to_owned(),
        kind => kind.to_string(),
    }
}

impl FileFault {
    /// Whether the operating system refused for this reason.
    pub fn is(self, kind: io::ErrorKind) -> bool {
        self == Self::Io(kind)
    }
}

/// What kept the store from answering: fixed words, and the database's own code where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    what: &'static str,
    code: Option<DatabaseCode>,
}

/// A database's code for what went wrong: of all it says, the one part that holds nothing of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatabaseCode {
    /// SQLite's result code (sqlite.org/rescode.html).
    Sqlite(i32),
    /// PostgreSQL's SQLSTATE (its manual's appendix A): five digits or capitals.
    Postgres([u8; 5]),
}

impl Cause {
    pub(crate) const fn of(what: &'static str) -> Self {
        Self { what, code: None }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        match self.code {
            None => Ok(()),
            Some(DatabaseCode::Sqlite(code)) => write!(f, ", SQLite result code {code}"),
            Some(DatabaseCode::Postgres(state)) => write!(f, ", SQLSTATE {}", state.escape_ascii()),
        }
    }
}

// The low byte of SQLite's result codes; the rest of the code only says more exactly.
const BUSY: i32 = 5;
const READ_ONLY: i32 = 8;
const IO: i32 = 10;
const CANNOT_OPEN: i32 = 14;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const NOT_A_DATABASE: i32 = 26;

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let cause = |what| Self::Unavailable(Cause::of(what));
        match error {
            sqlx::Error::Database(inner) => Self::answered(inner.as_ref()),
            sqlx::Error::ColumnDecode { .. } => Self::Corrupt,
            sqlx::Error::PoolTimedOut => cause("too many are waiting, or it does not answer"),
            sqlx::Error::PoolClosed => cause("it is closed"),
            // A TLS fault within a handshake arrives as one of these.
            sqlx::Error::Tls(_) => cause("no TLS connection, or the certificate is not trusted"),
            sqlx::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                cause("no TLS connection, or the certificate is not trusted")
            }
            sqlx::Error::Io(_) => cause("it cannot be reached"),
            // Their texts may quote the URL.
            sqlx::Error::Configuration(_) => cause("its URL cannot be used"),
            sqlx::Error::Migrate(error) => match *error {
                MigrateError::Execute(inner) | MigrateError::ExecuteMigration(inner, _) => inner.into(),
                _ => cause("its schema is not one of this program's"),
            },
            _ => cause("it failed"),
        }
    }
}

impl StoreError {
    fn answered(error: &dyn DatabaseError) -> Self {
        let Some(code) = error.code() else { return Self::Unavailable(Cause::of("it failed")) };
        if error.try_downcast_ref::<PgDatabaseError>().is_some() {
            return Self::postgres(&code);
        }
        let code = code.parse::<i32>().ok();
        let cause = |what| Self::Unavailable(Cause { what, code: code.map(DatabaseCode::Sqlite) });
        match code.map(|code| code & 0xff) {
            Some(FULL) => Self::Full,
            Some(CORRUPT | NOT_A_DATABASE) => Self::Corrupt,
            Some(BUSY) => cause("another process holds it"),
            Some(READ_ONLY) => cause("its file, or file system, may only be read"),
            Some(IO) => cause("the system cannot read or write its file"),
            Some(CANNOT_OPEN) => cause(
                "its file, or one beside it, cannot be opened: a read-only file system, or no descriptor left",
            ),
            _ => cause("it failed"),
        }
    }

    fn postgres(state: &str) -> Self {
        let what = match state {
            "53100" => return Self::Full,
            "XX001" | "XX002" => return Self::Corrupt,
            // Somebody else's write came first; ours was undone.
            "40001" | "40P01" => return Self::Conflict,
            "53300" => "it has no connection left",
            "3D000" => "there is no such database",
            "42501" | "3F000" => "its user may not make or use the tables",
            "25006" => "it takes no writes",
            "57014" => "a statement took too long",
            _ if state.starts_with("28") => "it refuses the user or the password",
            _ if state.starts_with("57P") => "it is starting or stopping",
            _ => "it failed",
        };
        Self::Unavailable(Cause { what, code: state.as_bytes().try_into().ok().map(DatabaseCode::Postgres) })
    }

    /// A file store's error, without its text: that may quote an address or a key.
    pub(crate) fn files(error: &object_store::Error) -> Self {
        use object_store::Error as E;
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(cause) = source {
            let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
            if matches!(kind, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)) {
                return Self::Full;
            }
            source = cause.source();
        }
        Self::Unavailable(Cause::of(match error {
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => {
                "the file store refuses its user or key"
            }
            E::NotFound { .. } => "the file store has no such place",
            _ => "the file store failed",
        }))
    }

    /// Whether another process held the file for longer than a writer waits.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Unavailable(Cause { code: Some(DatabaseCode::Sqlite(code)), .. }) if code & 0xff == BUSY)
    }
}
