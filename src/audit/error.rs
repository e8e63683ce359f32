//! [`AuditError`].

use std::io;
use std::path::PathBuf;

use crate::audit::verify::BrokenLine;

/// Why the audit log cannot be opened, written or exported. Holds nothing that stands in it.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file cannot be opened, read or written.
    #[error("{}: {cause}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// A folder, a device or a symbolic link has the file's name.
    #[error("{}: not a regular file (symbolic links are not followed)", .path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else holds the lock on the file.
    #[error("{}: another process writes this audit log; give each a file of its own", .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file does not end with a line that can be continued.
    #[error("{}: {broken}; move the file away to begin another", .path.display())]
    End {
        /// The file.
        path: PathBuf,
        /// Which line, and why.
        broken: BrokenLine,
    },
    /// A file came under the name whose lines are not those that were written last.
    #[error("{}: another file was put in its place, with other lines in it; move that away", .path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// There is no thread to write with.
    #[error("no thread for the audit log: {0}")]
    Thread(io::Error),
    /// As many events wait to be written as may, and did so for as long as a call waits.
    #[error("the audit log is behind: too many events wait to be written")]
    Behind,
    /// The thread that writes has ended.
    #[error("the thread that writes the audit log has ended")]
    Ended,
    /// A line that was to be exported is none.
    #[error(transparent)]
    Line(BrokenLine),
    /// What was exported cannot be written.
    #[error("the export cannot be written: {0}")]
    Export(io::Error),
}
