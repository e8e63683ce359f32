//! Which files a `portcullis sanitize` reads and writes.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;
use crate::cli::streams::{at, message};

/// The most files of one command.
const FILES: usize = 1_000_000;

/// How deep folders may lie in one another.
const DEPTH: usize = 128;

/// One file to clean.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CleanJob {
    pub(super) from: PathBuf,
    /// The clean file, under the original's name.
    pub(super) to: PathBuf,
    /// The original's size, in bytes.
    pub(super) size: u64,
}

/// What a command line asks for.
#[derive(Debug)]
pub(super) enum PathRequest {
    /// One file, under a name of the caller's.
    One(CleanJob),
    /// Files into a folder, in the order of their names.
    Folder(Vec<CleanJob>),
}

/// Reads what is there; nothing is made yet.
///
/// # Errors
/// A file or folder that is not there or too large a tree; a place that would mix what is clean with what is not.
pub(super) fn asked(inputs: &[PathBuf], output: &Path) -> Result<PathRequest, Failure> {
    let first = inputs.first().map(PathBuf::as_path).unwrap_or(Path::new("-"));
    if output.as_os_str() == "-" {
        return Err(wrong(output, "the clean file needs a name"));
    }
    let there = std::fs::metadata(output).ok();
    let is_folder =
        there.as_ref().is_some_and(Metadata::is_dir) || output.as_os_str().as_bytes().ends_with(b"/");
    let facts = std::fs::metadata(first).map_err(|error| at(first, &error))?;
    // What is no file can be read too, such as a pipe of the shell's.
    if inputs.len() == 1 && !facts.is_dir() && !is_folder {
        let job = CleanJob { from: first.to_owned(), to: output.to_owned(), size: facts.len() };
        writable(&job)?;
        return Ok(PathRequest::One(job));
    }
    if there.is_some() && !is_folder {
        return Err(wrong(output, "not a folder; several files, or those of a folder, go into one"));
    }
    let mut jobs = Vec::new();
    for input in inputs {
        let facts = std::fs::metadata(input).map_err(|error| at(input, &error))?;
        // A single folder's files lie in the other as they lie in it.
        let below = match (inputs, input.file_name()) {
            ([_], _) if facts.is_dir() => output.to_owned(),
            (_, Some(name)) => output.join(name),
            (_, None) => return Err(wrong(input, "a file or folder among several needs a name of its own")),
        };
        if facts.is_dir() {
            apart(input, output)?;
            walk(input, &below, DEPTH, &mut jobs)?;
        } else if facts.is_file() {
            jobs.push(CleanJob { from: input.clone(), to: below, size: facts.len() });
        } else {
            return Err(wrong(input, "neither a file nor a folder"));
        }
    }
    let mut names = BTreeSet::new();
    for job in &jobs {
        writable(job)?;
        if !names.insert(&job.to) {
            return Err(wrong(&job.to, "two files would have this name; clean them one by one"));
        }
    }
    Ok(PathRequest::Folder(jobs))
}

fn wrong(path: &Path, why: &str) -> Failure {
    Failure::Usage(format!("{}: {why}", path.display()))
}

/// Files of a folder, and of those in it. Links are not followed: they may lead anywhere.
fn walk(folder: &Path, to: &Path, depth: usize, jobs: &mut Vec<CleanJob>) -> Result<(), Failure> {
    if depth == 0 {
        return Err(wrong(folder, "folders lie too deep in one another"));
    }
    let failed = |error: std::io::Error| at(folder, &error);
    let mut entries =
        std::fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let facts = entry.metadata().map_err(|error| at(&from, &error))?;
        if facts.is_dir() {
            walk(&from, &to, depth - 1, jobs)?;
        } else if facts.is_file() {
            if jobs.len() == FILES {
                return Err(wrong(
                    folder,
                    "these are more than a million files; clean them folder by folder",
                ));
            }
            jobs.push(CleanJob { from, to, size: facts.len() });
        } else {
            let what = if facts.is_symlink() { "a link" } else { "not a file" };
            message(&format!("{}: {what}; left out", from.display()));
        }
    }
    Ok(())
}

/// Before any work: the clean file replaces a file of before, but not the one that it is made of, and nothing else.
fn writable(job: &CleanJob) -> Result<(), Failure> {
    let Ok(there) = std::fs::metadata(&job.to) else { return Ok(()) };
    let same = |one: &Metadata| (one.dev(), one.ino()) == (there.dev(), there.ino());
    if !there.is_file() {
        Err(wrong(&job.to, "not a file; name one for the clean copy"))
    } else if std::fs::metadata(&job.from).is_ok_and(|from| same(&from)) {
        Err(wrong(&job.to, "the original; name another file for the clean copy"))
    } else {
        Ok(())
    }
}

/// Neither folder lies in the other: what is clean must be told from what is not, also the next time.
fn apart(input: &Path, output: &Path) -> Result<(), Failure> {
    let from = std::fs::canonicalize(input).map_err(|error| at(input, &error))?;
    // Of a folder that is not there yet, what is there of its way.
    let there = output.ancestors().find_map(|part| Some((std::fs::canonicalize(part).ok()?, part)));
    let to = match there {
        Some((there, part)) => there.join(output.strip_prefix(part).unwrap_or(Path::new(""))),
        None => std::fs::canonicalize(".").map_err(|error| at(output, &error))?.join(output),
    };
    match to.starts_with(&from) || from.starts_with(&to) {
        true => Err(wrong(
            output,
            "name a folder for the clean files that is neither in the other one nor around it",
        )),
        false => Ok(()),
    }
}
