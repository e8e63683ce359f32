//! Where one process hands over to the next.

use std::path::PathBuf;

use serde::Deserialize;

/// `[upgrade]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Upgrade {
    /// The Unix socket over which a successor gets the listening sockets, in a folder that nobody else may write to.
    /// Default: `upgrade.sock` in the data folder.
    pub socket: Option<PathBuf>,
    /// The file that holds the number of the process that serves. Default: `serve.pid` in the data folder.
    pub pid_file: Option<PathBuf>,
}
