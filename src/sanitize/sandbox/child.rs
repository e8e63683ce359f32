//! The child: it takes away from itself what it may not have, reads one file, and writes one answer.

use std::io::{self, Read, Write};

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::sanitize::sandbox::confinement::{self, Confinement};
use crate::sanitize::sandbox::frame;
use crate::sanitize::sandbox::message::{ChildMessage, Start};
use crate::sanitize::{Formats, Host, HostRequest, Rejection, Response, Work};

/// What a child may use.
#[derive(Clone, Copy, Debug)]
pub struct Rlimits {
    /// Address space, in bytes.
    pub memory: u64,
    /// Processor time, in seconds.
    pub seconds: u64,
    /// Whether nothing is read unless [`confinement`] holds.
    pub confined: bool,
}

/// The largest answer that is read from the parent besides its head, in bytes: none of its answers has any.
const NOTHING: usize = 0;

/// Runs the child with these formats: standard input and output are the pipe. Only for a process that does nothing else.
///
/// # Errors
/// Limits that cannot be set; a process that is to be confined and cannot; a pipe that is broken.
pub fn run(limits: Rlimits, formats: &Formats) -> io::Result<()> {
    confine(limits)?;
    let (input, output) = (io::stdin().lock(), io::stdout().lock());
    serve(input, output, formats)
}

fn confine(limits: Rlimits) -> io::Result<()> {
    let all = [
        (Resource::As, limits.memory),
        (Resource::Cpu, limits.seconds),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        (Resource::Nofile, 8),
    ];
    for (resource, most) in all {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    // A panic's message could quote the file.
    std::panic::set_hook(Box::new(|_| ()));
    match confinement::enclose() {
        Confinement { paths: true, calls: true } => Ok(()),
        _ if limits.confined => Err(io::Error::other("this process cannot be confined")),
        _ => Ok(()),
    }
}

fn serve(mut input: impl Read, output: impl Write, formats: &Formats) -> io::Result<()> {
    let (start, file): (Start, Vec<u8>) = frame::take(&mut input, usize::MAX)?;
    let mut host = PipeHost { input, output };
    let mut work = Work::new(formats, start.options, start.bounds, &mut host).called(&start.name);
    let kind = work.identify(&start.name, &file);
    let outcome = work.whole(kind, &file);
    let spot = outcome.as_ref().err().map(|rejection| work.place_of(*rejection)).unwrap_or_default();
    let stats = work.into_stats();
    let PipeHost { mut output, .. } = host;
    match outcome {
        Ok(clean) => frame::put(&mut output, &ChildMessage::Done(kind, stats), &clean),
        Err(rejection) => frame::put(&mut output, &ChildMessage::Rejected(kind, rejection, spot), &[]),
    }
}

/// The host is the parent, at the other end of the pipe.
struct PipeHost<R, W> {
    input: R,
    output: W,
}

impl<R: Read, W: Write> Host for PipeHost<R, W> {
    fn ask(&mut self, request: HostRequest<'_>) -> Result<Response, Rejection> {
        // Not waited for: the parent reads in order, and scans a part before it takes the clean file.
        let waits = !matches!(request, HostRequest::Part { .. });
        let (request, bytes) = request.detached();
        // Nobody is at the other end of a pipe that is broken.
        frame::put(&mut self.output, &ChildMessage::Request(request), &bytes)
            .map_err(|_| Rejection::Provider)?;
        if !waits {
            return Ok(Response::Part);
        }
        frame::take(&mut self.input, NOTHING).map(|(response, _)| response).map_err(|_| Rejection::Provider)
    }
}
