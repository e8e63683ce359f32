//! What the process asks of the operating system for itself, before it holds anything secret.

use std::task::Poll;

use tokio::signal::unix::{SignalKind, signal};

use crate::app::error::AppError;
use crate::telemetry::{LogFormat, LogWay, logs_json, start_log};

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

/// Makes what this process creates its owner's alone, whatever the umask was that it was started with.
pub(super) fn private_files() {
    let others = rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO;
    let before = rustix::process::umask(others);
    rustix::process::umask(before | others);
}

/// Takes as many file descriptors as the operating system allows, instead of what it gives who does not ask: often 1024,
/// which is fewer than four hundred requests.
///
/// Returns how many that are; `None`: without limit.
///
/// # Errors
/// What the operating system says; then the limit is what it was.
pub(super) fn take_descriptors() -> Result<Option<u64>, AppError> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let taken = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    taken.map_err(|error| AppError::Io(format!("file descriptors: {error}")))?;
    Ok(maximum)
}

/// What the process needs for itself: the store, logs, threads, names that are looked up, checks of upstreams.
const OWN_DESCRIPTORS: usize = 96;

/// The same where there are few: a quarter, but as many as a process at rest has.
const AT_REST: usize = 44;

/// The most connections to the listener for metrics and health.
const MOST_ADMIN: usize = 256;

/// The most connections to upstreams that are kept unused for requests whose bodies are collected, and half as many for
/// others.
const MOST_KEPT: usize = 512;

/// What the file descriptors of the process go to, so that it keeps some for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DescriptorShares {
    /// Connections of callers.
    pub(super) connections: usize,
    /// Connections to upstreams that requests have.
    pub(super) upstreams: usize,
    /// Those that are kept unused for requests whose bodies are collected, and half as many for others.
    pub(super) kept: usize,
    /// Connections to the listener for metrics and health.
    pub(super) admin: usize,
}

impl DescriptorShares {
    /// Of so many, `None`: without limit, where callers may have `wanted` connections. What those leave is for connections
    /// to upstreams, at least as many: one connection of HTTP/2 may have a hundred requests.
    pub(super) fn of(descriptors: Option<u64>, wanted: usize) -> Self {
        let all = descriptors.map_or(usize::MAX, |all| usize::try_from(all).unwrap_or(usize::MAX));
        let left = all.saturating_sub(own(all));
        let admin = (left / 16).clamp(1, MOST_ADMIN);
        let kept = (left / 12).clamp(2, MOST_KEPT);
        let left = left.saturating_sub(admin + kept + kept / 2);
        let connections = wanted.min(left / 2).max(1);
        Self { connections, upstreams: left.saturating_sub(connections).max(1), kept, admin }
    }
}

/// How many of all file descriptors the process needs for itself.
fn own(all: usize) -> usize {
    OWN_DESCRIPTORS.min((all / 4).max(AT_REST))
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

/// The ends that a shell and a supervisor ask for, with their numbers (POSIX `<signal.h>`): of the terminal, of whoever is
/// at it, of the process.
const ENDS: [(u8, SignalKind); 3] =
    [(1, SignalKind::hangup()), (2, SignalKind::interrupt()), (15, SignalKind::terminate())];

/// Has a thread of its own call `end` when this process is told to end, in place of ending at once; `end` gets the signal's
/// number. Signals that whoever started this process has it ignore (`nohup`) are ignored as before.
///
/// # Errors
/// What the operating system says.
pub fn ending_by_signal(end: impl FnOnce(u8) + Send + 'static) -> Result<(), AppError> {
    let failed = |error: std::io::Error| AppError::Io(format!("signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let ignored = ignored();
    let entered = runtime.enter();
    let mut awaited = Vec::new();
    for (number, kind) in ENDS {
        if ignored & (1 << (number - 1)) == 0 {
            awaited.push((number, signal(kind).map_err(failed)?));
        }
    }
    drop(entered);
    let run = move || {
        let first = std::future::poll_fn(|context| {
            let came = awaited
                .iter_mut()
                .find_map(|(number, signal)| signal.poll_recv(context).is_ready().then_some(*number));
            came.map_or(Poll::Pending, Poll::Ready)
        });
        end(runtime.block_on(first));
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(run).map(drop).map_err(failed)
}

/// The signals that this process ignores, the first in the lowest bit (proc_pid_status(5)); none where that is not told.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Starts a log of warnings, for a command that ends by itself.
pub fn log_warnings() {
    start_log(LogFormat::Text, "warn", LogWay::Direct);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_enough_for_all_that_takes_one() {
        for all in [64, 100, 256, 1024, 4096, 40_000, 1 << 20] {
            for wanted in [1, 100, 16_384] {
                let shares = DescriptorShares::of(Some(all), wanted);
                let DescriptorShares { connections, upstreams, kept, admin } = shares;
                let taken = own(all as usize) + connections + upstreams + kept + kept / 2 + admin;
                assert!(taken as u64 <= all, "{all}: {shares:?}");
                assert!(connections <= wanted && connections <= upstreams, "{all}: {shares:?}");
            }
        }
        let least = DescriptorShares::of(Some(64), 16_384);
        assert_eq!((least.connections, least.upstreams), (8, 8));
        let few = DescriptorShares::of(Some(1024), 16_384);
        assert_eq!((few.connections, few.upstreams, few.kept, few.admin), (377, 378, 77, 58));
    }

    #[test]
    fn enough_of_them_bound_nothing() {
        for descriptors in [Some(1 << 19), None] {
            let shares = DescriptorShares::of(descriptors, 16_384);
            assert_eq!((shares.connections, shares.kept, shares.admin), (16_384, MOST_KEPT, MOST_ADMIN));
            assert!(shares.upstreams > 400_000);
        }
    }
}
