//! What the process asks of the operating system for itself, before it holds anything secret.

use crate::app::error::AppError;
use crate::telemetry::{LogFormat, logs_json, start_log};

/// Keeps what is in memory out of core files: none is written (`RLIMIT_CORE` 0, hard, so that no child may raise it
/// again), and on Linux the process is not dumpable (`PR_SET_DUMPABLE` 0), which also keeps a program that core files
/// are piped to from getting one, and other processes of the same user from attaching to it or reading its memory.
///
/// # Errors
/// What the operating system says. Nothing secret should be read then.
pub fn without_core_dumps() -> Result<(), AppError> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let failed = |error: rustix::io::Errno| AppError::Io(format!("core dumps cannot be turned off: {error}"));
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).map_err(failed)?;
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).map_err(failed)?;
    Ok(())
}

/// Takes as many file descriptors as the operating system allows, instead of what it gives who does not ask: often 1024,
/// which is some five hundred requests.
///
/// # Errors
/// What the operating system says; then the limit is what it was.
pub(super) fn take_descriptors() -> Result<(), AppError> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let taken = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    taken.map_err(|error| AppError::Io(format!("file descriptors: {error}")))
}

/// Says a line to whoever runs the process: in the log, if that is one of JSON objects. `false`: it is not, and the line is
/// still to be said.
pub fn logged(line: &str, is_failure: bool) -> bool {
    match (logs_json(), is_failure) {
        (false, _) => return false,
        (true, true) => tracing::error!(target: "portcullis::app", "{line}"),
        (true, false) => tracing::info!(target: "portcullis::app", "{line}"),
    }
    true
}

/// Starts a log of warnings, for a command that ends by itself.
pub fn log_warnings() {
    start_log(LogFormat::Text, "warn");
}
