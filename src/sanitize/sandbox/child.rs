//! The child: it takes away from itself what it may not have, reads one file, and writes one answer.

use std::io::{self, Read, Write};

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::sanitize::sandbox::frame;
use crate::sanitize::sandbox::message::{Ask, Reply, Start};
use crate::sanitize::{Edit, Judge, Kind, Link, Named, Part, Rejection, Work, format};

/// What a child may use.
#[derive(Clone, Copy, Debug)]
pub struct Rlimits {
    /// Address space, in bytes.
    pub memory: u64,
    /// Processor time, in seconds.
    pub seconds: u64,
}

/// The largest answer that is read from the parent besides its head, in bytes: none of its answers has any.
const NOTHING: usize = 0;

/// Runs the child: standard input and output are the pipe. Only for a process that does nothing else.
///
/// # Errors
/// Limits that cannot be set; a pipe that is broken.
pub fn run(limits: Rlimits) -> io::Result<()> {
    confine(limits)?;
    let (input, output) = (io::stdin().lock(), io::stdout().lock());
    serve(input, output)
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
    Ok(())
}

fn serve(mut input: impl Read, output: impl Write) -> io::Result<()> {
    let (start, file): (Start, Vec<u8>) = frame::take(&mut input, usize::MAX)?;
    let mut judge = Remote { input, output };
    let kind = Kind::of(&file, &start.name);
    let mut work = Work::new(start.options, start.bounds, &mut judge);
    let outcome = format::clean(kind, &file, &mut work);
    let stats = work.into_stats();
    let Remote { mut output, .. } = judge;
    match outcome {
        Ok(clean) => frame::put(&mut output, &Ask::Done(kind, stats), &clean),
        Err(rejection) => frame::put(&mut output, &Ask::Rejected(kind, rejection), &[]),
    }
}

/// The judge is at the other end of the pipe.
struct Remote<R, W> {
    input: R,
    output: W,
}

impl<R: Read, W: Write> Remote<R, W> {
    /// A pipe that is broken has nobody at its end to be told so.
    fn ask(&mut self, ask: &Ask, bytes: &[u8]) -> Result<Reply, Rejection> {
        frame::put(&mut self.output, ask, bytes).map_err(|_| Rejection::Provider)?;
        match frame::take(&mut self.input, NOTHING) {
            Ok((Reply::Rejected(rejection), _)) => Err(rejection),
            Ok((reply, _)) => Ok(reply),
            Err(_) => Err(Rejection::Provider),
        }
    }
}

impl<R: Read, W: Write> Judge for Remote<R, W> {
    fn part(&mut self, part: Part<'_>) -> Result<(), Rejection> {
        // Not waited for: the parent reads in order, and looks at it before it takes the clean file.
        frame::put(&mut self.output, &Ask::Part(part.name.to_owned()), part.bytes)
            .map_err(|_| Rejection::Provider)
    }

    fn links(&mut self, links: &[Link]) -> Result<Vec<bool>, Rejection> {
        match self.ask(&Ask::Links(links.to_vec()), &[])? {
            Reply::Links(answers) => Ok(answers),
            _ => Err(Rejection::Provider),
        }
    }

    fn texts(&mut self, texts: &[Named<&str>]) -> Result<Vec<Vec<Edit>>, Rejection> {
        let texts = texts.iter().map(|text| text.kept()).collect();
        match self.ask(&Ask::Texts(texts), &[])? {
            Reply::Texts(edits) => Ok(edits),
            _ => Err(Rejection::Provider),
        }
    }
}
