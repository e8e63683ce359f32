//! [`ListenError`]: why a gateway cannot listen.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// A gateway cannot listen as it is configured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// A certificate, key, authority or list of revoked certificates cannot be used.
    #[error("{}: {why}", .file.display())]
    Certificate {
        /// The file that is wrong, as far as it is one.
        file: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The address cannot be bound.
    #[error("{address}: {why}")]
    Bind {
        /// Which address.
        address: SocketAddr,
        /// What the system says.
        why: std::io::Error,
    },
}

impl ListenError {
    /// A file that cannot be used.
    pub(super) fn of_file(file: &Path, why: &'static str) -> Self {
        Self::Certificate { file: file.to_owned(), why }
    }
}
