//! A master key from a program of the operator's: a KMS client, a TPM tool, a password store. It is run without a shell,
//! with a time limit; its standard output is the key and goes nowhere else, its standard error is logged.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use zeroize::Zeroize;

use crate::base::secret::Secret;

/// How long the program may take.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// The most bytes that are read of its output: far more than any way to write a key takes.
pub const OUTPUT: usize = 4 << 10;

/// The most bytes that are logged of what it complains about.
const COMPLAINTS: u64 = 4 << 10;

/// How often an exit is looked for once the output has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Why the program gave no key. Never holds its output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// No program is named.
    #[error("no program is named")]
    Empty,
    /// It could not be started.
    #[error("it cannot be started: {0}")]
    Start(std::io::ErrorKind),
    /// It failed; what it wrote to standard error is in the log.
    #[error("it failed ({0}); what it complained about is in the log")]
    Failed(ExitStatus),
    /// It took too long, and was killed.
    #[error("it did not end within {} s and was killed", .0.as_secs_f32())]
    Slow(Duration),
    /// It wrote more than a key.
    #[error("it wrote more than {OUTPUT} bytes to standard output, which is more than a key")]
    Large,
    /// Its output could not be read, or is not text.
    #[error("its output is not text")]
    NotText,
}

/// What the program writes to standard output, if it succeeds. Blocks.
///
/// # Errors
/// Why there is nothing.
pub fn output(command: &[String], patience: Duration) -> Result<Secret<String>, HookError> {
    let (program, args) = command.split_first().ok_or(HookError::Empty)?;
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // So that whatever it started can be ended with it.
        .process_group(0)
        .spawn()
        .map_err(|error| HookError::Start(error.kind()))?;
    let output = child.stdout.take().map(|pipe| beside(move || bounded(pipe)));
    let complaints = child.stderr.take().map(|pipe| beside(move || complaints(pipe)));
    let ended = output.ok_or(HookError::NotText).and_then(|output| {
        let output = match output.recv_timeout(patience) {
            Ok(output) => output?,
            Err(RecvTimeoutError::Timeout) => return Err(HookError::Slow(patience)),
            Err(RecvTimeoutError::Disconnected) => return Err(HookError::NotText),
        };
        let status = exit(&mut child, patience)?;
        Ok((output, status))
    });
    if ended.is_err() {
        end(&mut child);
    }
    // A program that it left behind may hold the pipe open: what was said until now is not waited for.
    let said = complaints.and_then(|complaints| complaints.recv_timeout(Duration::from_millis(200)).ok());
    for line in said.iter().flat_map(|said| said.lines()).filter(|line| !line.trim().is_empty()) {
        tracing::warn!(target: "portcullis::vault", line, "the master key's command");
    }
    match ended? {
        (output, status) if status.success() => Ok(output),
        (_, status) => Err(HookError::Failed(status)),
    }
}

fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (done, told) = channel();
    std::thread::spawn(move || drop(done.send(work())));
    told
}

fn bounded(pipe: impl Read) -> Result<Secret<String>, HookError> {
    // Its final size at once: growing would leave copies behind.
    let mut bytes = Vec::with_capacity(OUTPUT + 1);
    let read = pipe.take(OUTPUT as u64 + 1).read_to_end(&mut bytes);
    if read.is_err() || bytes.len() > OUTPUT {
        bytes.zeroize();
        return Err(if read.is_err() { HookError::NotText } else { HookError::Large });
    }
    String::from_utf8(bytes).map(Secret::new).map_err(|error| {
        error.into_bytes().zeroize();
        HookError::NotText
    })
}

fn complaints(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    drop(pipe.by_ref().take(COMPLAINTS).read_to_end(&mut bytes));
    // The rest is read too: a full pipe would stop the program.
    drop(std::io::copy(&mut pipe, &mut std::io::sink()));
    let text = String::from_utf8_lossy(&bytes);
    text.chars().map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn exit(child: &mut Child, patience: Duration) -> Result<ExitStatus, HookError> {
    let mut waited = Duration::ZERO;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if waited < patience => std::thread::sleep(POLL_INTERVAL),
            Ok(None) => return Err(HookError::Slow(patience)),
            Err(error) => return Err(HookError::Start(error.kind())),
        }
        waited += POLL_INTERVAL;
    }
}

fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // It may be gone already.
        let _ = kill_process_group(group, Signal::KILL);
    }
    drop(child.kill());
    drop(child.wait());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Result<Secret<String>, HookError> {
        let command = ["sh", "-c", script].map(str::to_owned);
        output(&command, Duration::from_millis(1500))
    }

    #[test]
    fn what_it_writes_is_the_key_and_the_rest_an_error() {
        assert_eq!(sh("echo hunter2; echo oops >&2").unwrap().expose(), "hunter2\n");
        let failed = sh("echo hunter2; exit 7").unwrap_err();
        assert_eq!(failed.to_string(), "it failed (exit status: 7); what it complained about is in the log");
        assert_eq!(sh("head -c 5000 /dev/zero"), Err(HookError::Large));
        assert_eq!(sh("printf '\\377'"), Err(HookError::NotText));
        assert_eq!(output(&[], TIMEOUT), Err(HookError::Empty));
        let missing = output(&["/no/such/program".to_owned()], TIMEOUT);
        assert_eq!(missing, Err(HookError::Start(std::io::ErrorKind::NotFound)));
    }

    #[test]
    fn no_shell_reads_its_arguments() {
        let command = ["echo", "$HOME; `id` *"].map(str::to_owned);
        assert_eq!(output(&command, TIMEOUT).unwrap().expose(), "$HOME; `id` *\n");
    }

    #[test]
    fn one_that_hangs_is_killed_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let script = format!("(sleep 3; touch {}) & sleep 60", mark.display());
        assert!(matches!(sh(&script), Err(HookError::Slow(_))));
        // Closed output, but no end.
        assert!(matches!(sh("exec >&-; sleep 60"), Err(HookError::Slow(_))));
        std::thread::sleep(Duration::from_millis(400));
        assert!(!mark.exists());
    }

    #[test]
    fn a_full_pipe_of_complaints_does_not_stop_it() {
        assert_eq!(sh("head -c 500000 /dev/zero >&2; echo key").unwrap().expose(), "key\n");
    }
}
