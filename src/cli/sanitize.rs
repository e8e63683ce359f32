//! `portcullis sanitize IN OUT`: files in, clean files out.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::app::{
    AppError, Cleaner, CleaningOutcome, CleaningRefusal, CleaningRequest, Released, release_policy,
};
use crate::base::clock::{Clock, SystemClock};
use crate::base::secret::Secret;
use crate::cli::args::{SanitizeArgs, ScriptsArg, UnreadArg};
use crate::cli::escape::file_name;
use crate::cli::failure::Failure;
use crate::cli::interrupt::{end_between_files, whole};
use crate::cli::progress::Progress;
use crate::cli::sanitize_paths::{CleanJob, PathRequest, asked};
use crate::cli::settings::here;
use crate::cli::streams::{at, complaint, message, opened, result};
use crate::config::{Config, Requirements};
use crate::sanitize::scan::ScanItem;
use crate::sanitize::{Options, RedactionMode, ReleasePolicy};

/// The longest password, in bytes.
const PASSWORD: u64 = 4096;

pub(super) fn run(args: &SanitizeArgs) -> Result<(), Failure> {
    let asked = asked(&args.inputs, &args.output)?;
    let config = here(&args.here, Requirements::SANITIZE)?;
    let password = args.password_file.as_deref().map(password).transpose()?;
    let cleaner = Cleaner::new(&config, CleaningRequest { password, ..wish(args, &config) })?;
    end_between_files()?;
    match asked {
        PathRequest::One(job) => one(&cleaner, &job, args.report),
        PathRequest::Folder(jobs) => all(&cleaner, &jobs, args.report),
    }
}

fn wish(args: &SanitizeArgs, config: &Config) -> CleaningRequest {
    let redaction = match (args.redact, args.detect_only) {
        (_, true) => RedactionMode::Detect,
        (true, false) => RedactionMode::Apply,
        (false, false) => RedactionMode::Off,
    };
    let settings = release_policy(&config.sanitize);
    let policy = ReleasePolicy {
        pass_unknown: args.pass_unknown || settings.pass_unknown,
        scripts: args.scripts.map_or(settings.scripts, ScriptsArg::scripts),
        unread: args.on_unread.map_or(settings.unread, UnreadArg::unread),
    };
    CleaningRequest {
        options: Options {
            attachments: !args.keep_attachments,
            interactive: !args.keep_interactive,
            links: !args.keep_links,
            redaction,
            policy,
            fit_names: true,
        },
        threshold: args.threshold,
        block_unable: args.block_unable,
        password: None,
    }
}

/// The one line of a file.
fn password(path: &Path) -> Result<Secret<String>, Failure> {
    let mut text = Zeroizing::new(String::new());
    let read = opened(path)?.take(PASSWORD).read_to_string(&mut text);
    read.map_err(|error| at(path, &error))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.is_empty() || line.contains(['\r', '\n']) {
        return Err(Failure::Usage(format!("{}: not a password on one line", path.display())));
    }
    Ok(Secret::new(line.to_owned()))
}

fn one(cleaner: &Cleaner, job: &CleanJob, report: bool) -> Result<(), Failure> {
    let name = file_name(&job.from);
    let begun = SystemClock.now().as_millis();
    let progress = Progress::one(&name);
    let outcome = cleaned(cleaner, job, &name)?;
    let released = match outcome {
        CleaningOutcome::Released(released) => released,
        CleaningOutcome::Refused(refused) => {
            drop(progress);
            if report {
                pretty(&reported_refusal(&refused))?;
            }
            return Err(AppError::Sanitize(format!("the file is not released: {}", refused.why)).into());
        }
    };
    written(&job.to, &released.bytes)?;
    drop(progress);
    if report {
        pretty(&reported(&released, &name))?;
    }
    if let Some(fitting) = &released.name {
        message(&format!("what {name} is should be called {fitting}"));
    }
    message(&format!(
        "{} {} bytes in {} ms",
        released.summary,
        released.bytes.len(),
        SystemClock.now().as_millis().saturating_sub(begun)
    ));
    Ok(())
}

/// Every file, whatever becomes of the others.
fn all(cleaner: &Cleaner, jobs: &[CleanJob], report: bool) -> Result<(), Failure> {
    let progress = Progress::files(jobs.iter().map(|job| job.size).sum());
    let mut taken: BTreeSet<PathBuf> = jobs.iter().map(|job| job.to.clone()).collect();
    let (mut done, mut released) = (0, 0);
    for (number, job) in (1..).zip(jobs) {
        let name = file_name(&job.from);
        progress.number(number, jobs.len());
        progress.name(&name);
        let outcome = cleaned(cleaner, job, &name).map_err(Unreleased::from);
        let outcome = outcome.and_then(|outcome| placed(outcome, job, &mut taken));
        let mut line = match outcome {
            Ok((file, to)) => {
                released += 1;
                told(&file, job, &to)
            }
            Err(Unreleased::Refused(refused)) => {
                complaint(&format!("{}: not released: {}", job.from.display(), refused.why));
                reported_refusal(&refused)
            }
            Err(Unreleased::Failed(why)) => {
                complaint(&why);
                json!({ "released": false, "why": why })
            }
            Err(Unreleased::Ended(failure)) => return Err(failure),
        };
        if report {
            insert(&mut line, "file", json!(job.from.display().to_string()));
            result(&line.to_string())?;
        }
        done += job.size;
        progress.reach(done);
    }
    drop(progress);
    match jobs.len() - released {
        0 => {
            message(&format!("{released} files, all clean"));
            Ok(())
        }
        held => Err(AppError::Sanitize(format!("{held} of {} files are not released", jobs.len())).into()),
    }
}

/// What is said of a clean file.
fn told(file: &Released, job: &CleanJob, to: &Path) -> Value {
    if to != job.to {
        message(&format!("{} is called {}, which is what it is", job.from.display(), file_name(to)));
    }
    let mut line = reported(file, &file_name(&job.from));
    insert(&mut line, "output", json!(to.display().to_string()));
    line
}

fn insert(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

/// Why there is no clean file.
enum Unreleased {
    Refused(CleaningRefusal),
    /// It cannot be read, or the clean one cannot be written; in words, with its name.
    Failed(String),
    /// No other file can be cleaned either.
    Ended(Failure),
}

impl From<Failure> for Unreleased {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::App(error) | Failure::Advised(error, _) => Self::Failed(error.to_string()),
            Failure::Usage(why) => Self::Failed(why),
            Failure::Pipe => Self::Ended(Failure::Pipe),
        }
    }
}

/// Reads a file, no more of it than may be cleaned, and cleans it.
fn cleaned(cleaner: &Cleaner, job: &CleanJob, name: &str) -> Result<CleaningOutcome, Failure> {
    let mut bytes = Vec::new();
    let file = opened(&job.from)?;
    // One byte more tells that it is too large.
    file.take(cleaner.most() + 1).read_to_end(&mut bytes).map_err(|error| at(&job.from, &error))?;
    let cleaned = cleaner.clean(ScanItem { name, bytes: bytes.into() });
    Ok(cleaned.map_err(|error| AppError::Io(format!("{}: {error}", job.from.display())))?)
}

/// Writes a clean file of a folder, under the name that fits it; where that is.
fn placed(
    outcome: CleaningOutcome,
    job: &CleanJob,
    taken: &mut BTreeSet<PathBuf>,
) -> Result<(Released, PathBuf), Unreleased> {
    let released = match outcome {
        CleaningOutcome::Released(released) => released,
        CleaningOutcome::Refused(refused) => return Err(Unreleased::Refused(refused)),
    };
    let to = released.name.as_ref().map_or_else(|| job.to.clone(), |name| job.to.with_file_name(name));
    if to != job.to && !taken.insert(to.clone()) {
        let why = "another file has the name already that fits what this one is";
        return Err(Unreleased::Failed(format!("{}: {why}", job.from.display())));
    }
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
    }
    written(&to, &released.bytes)?;
    Ok((released, to))
}

fn reported(released: &Released, name: &str) -> Value {
    let mut data = released.data.clone();
    insert(&mut data, "released", json!(true));
    insert(&mut data, "kind", json!(released.kind));
    insert(&mut data, "name", json!(released.name.as_deref().unwrap_or(name)));
    data
}

fn reported_refusal(refused: &CleaningRefusal) -> Value {
    let mut data = refused.data.clone();
    insert(&mut data, "released", json!(false));
    insert(&mut data, "kind", json!(refused.kind));
    insert(&mut data, "why", json!(refused.why));
    data
}

fn pretty(report: &Value) -> Result<(), Failure> {
    result(&serde_json::to_string_pretty(report).unwrap_or_default())
}

/// Nobody finds half a file under the name, and a failed run leaves what was there.
fn written(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let write = || {
        let mut file = std::fs::File::create_new(&part)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        written.and_then(|()| std::fs::rename(&part, path)).inspect_err(|_| drop(std::fs::remove_file(&part)))
    };
    whole(write).map_err(|error| at(path, &error))
}
