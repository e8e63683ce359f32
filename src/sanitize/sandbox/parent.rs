//! [`Sandbox`]: children, each with one file. A [`ScanSession`] answers what they ask.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::BufReader;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use crate::sanitize::sandbox::frame;
use crate::sanitize::sandbox::message::{ChildMessage, Start};
use crate::sanitize::scan::ScanItem;
use crate::sanitize::{
    ContentLocation, FileKind, Options, RejectedFile, Response, ScanSession, Stats, UnfoldBounds,
};
use crate::telemetry::{ChildEnd, JobState, WorkMetrics};

/// What children may use.
#[derive(Clone, Copy, Debug)]
pub struct SandboxLimits {
    /// At once.
    pub children: usize,
    /// Address space of each, in bytes.
    pub memory: u64,
    /// For a whole file, by the clock; and processor time.
    pub time: Duration,
    /// What a file may unfold to.
    pub bounds: UnfoldBounds,
    /// The largest clean file, or part of one, in bytes.
    pub output: usize,
    /// Whether a child that cannot take away from itself all that it does not need reads nothing.
    pub confined: bool,
}

/// A clean file, as a child made it.
#[derive(Debug)]
pub struct Cleaned {
    /// What it is.
    pub kind: FileKind,
    /// The file.
    pub bytes: Bytes,
    /// What was done to it.
    pub stats: Stats,
}

/// Why a child gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// It could not be started: ours to mend.
    #[error("a child process cannot be started: {0}")]
    Start(io::Error),
    /// The file killed it, or held it longer than it may: as good as a rejection.
    #[error("the child process died of the file")]
    Died,
    /// It rejected the file.
    #[error("{}", .0.rejection)]
    Rejected(RejectedFile),
}

impl From<RejectedFile> for SandboxError {
    fn from(rejected: RejectedFile) -> Self {
        Self::Rejected(rejected)
    }
}

/// What a pipe holds, in bytes: small parts are read many at a time.
const PIPE: usize = 64 << 10;

/// Starts children. Cheap to clone.
#[derive(Clone)]
pub struct Sandbox {
    program: PathBuf,
    limits: SandboxLimits,
    places: Arc<Semaphore>,
    metrics: Option<WorkMetrics>,
}

impl Sandbox {
    /// Children of this binary, which runs as one when its first argument is `parse`.
    pub fn new(program: PathBuf, limits: SandboxLimits) -> Self {
        Self { program, limits, places: Arc::new(Semaphore::new(limits.children.max(1))), metrics: None }
    }

    /// Counts what happens.
    #[must_use]
    pub fn counted(self, metrics: WorkMetrics) -> Self {
        Self { metrics: Some(metrics), ..self }
    }

    /// Where it is counted, if it is.
    pub fn metrics(&self) -> Option<&WorkMetrics> {
        self.metrics.as_ref()
    }

    /// Has a file cleaned.
    ///
    /// # Errors
    /// Why there is no clean file.
    pub async fn clean(
        &self,
        options: Options,
        file: &ScanItem<'_>,
        session: &ScanSession,
    ) -> Result<Cleaned, SandboxError> {
        let state = |state| self.metrics.as_ref().map(|metrics| metrics.jobs.during(state));
        let waiting = state(JobState::Waiting);
        let _place = self.places.acquire().await.map_err(|_| SandboxError::Died)?;
        drop(waiting);
        let _running = state(JobState::Running);
        let mut child = self.start().map_err(SandboxError::Start)?;
        let bounds = self.limits.bounds.of_file(file.bytes.len());
        let start = Start { options, bounds, name: file.name.to_owned() };
        let talk = self.talk(&mut child, &start, &file.bytes, session);
        let outcome = tokio::time::timeout(self.limits.time, talk).await;
        drop(child.start_kill());
        // Nobody is to be left behind, nor a zombie.
        let status = child.wait().await;
        if let Some(metrics) = &self.metrics {
            match &outcome {
                Ok(Ok((ChildMessage::Done(..) | ChildMessage::Rejected(..), _))) => {}
                Err(_) => metrics.children.inc(ChildEnd::Timeout),
                // The allocator gives up with SIGABRT where there is no more memory; SIGXCPU ends what has used up its time.
                Ok(_) => metrics.children.inc(match status.ok().and_then(|status| status.signal()) {
                    Some(6) => ChildEnd::Memory,
                    Some(24) => ChildEnd::Timeout,
                    _ => ChildEnd::Died,
                }),
            }
        }
        match outcome {
            Ok(Ok((ChildMessage::Done(kind, stats), bytes))) => {
                let stats = Stats { objects: stats.objects.bounded(), ..stats };
                Ok(Cleaned { kind, bytes: Bytes::from(bytes), stats })
            }
            Ok(Ok((ChildMessage::Rejected(kind, rejection, mut spot), _))) => {
                spot.bound();
                Err(RejectedFile { spot, ..RejectedFile::new(Some(kind), rejection) }.into())
            }
            Ok(Ok(_) | Err(_)) | Err(_) => Err(SandboxError::Died),
        }
    }

    fn start(&self) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.arg("parse");
        command.arg(self.limits.memory.to_string());
        command.arg(self.limits.time.as_secs().max(1).to_string());
        if self.limits.confined {
            command.arg("--confined");
        }
        command.env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        command.spawn()
    }

    async fn talk(
        &self,
        child: &mut Child,
        start: &Start,
        file: &[u8],
        session: &ScanSession,
    ) -> io::Result<(ChildMessage<'static>, Vec<u8>)> {
        let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut from = BufReader::with_capacity(PIPE, from);
        frame::send(&mut to, start, file).await?;
        // All that it may ask, and its last word.
        for _ in 0..=start.bounds.asks {
            let (message, bytes): (ChildMessage<'static>, Vec<u8>) =
                frame::receive(&mut from, self.limits.output).await?;
            let request = match message {
                ChildMessage::Request(request) => request.attached(bytes),
                last @ (ChildMessage::Done(..) | ChildMessage::Rejected(..)) => return Ok((last, bytes)),
            };
            match session.answer(request).await {
                Ok(Response::Part) => {}
                Ok(response) => frame::send(&mut to, &response, &[]).await?,
                // The session decides: a child that was taken over does not get past it.
                Err(rejection) => {
                    let rejected =
                        ChildMessage::Rejected(FileKind::Unknown, rejection, ContentLocation::default());
                    return Ok((rejected, Vec::new()));
                }
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }
}
