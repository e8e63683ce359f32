//! `portcullis sanitize IN OUT`: one file in, one clean file out.

use std::fs::Metadata;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::app::{AppError, Outcome, Refused, Released, Wish, clean, release_policy};
use crate::base::clock::{Clock, SystemClock};
use crate::cli::args::{SanitizeArgs, ScriptsArg, UnreadArg};
use crate::cli::failure::Failure;
use crate::cli::settings::here;
use crate::cli::streams::{message, result};
use crate::config::Needs;
use crate::sanitize::scan::ScanItem;
use crate::sanitize::{Options, Redaction, ReleasePolicy};

pub(super) fn run(args: &SanitizeArgs) -> Result<(), Failure> {
    writable(&args.input, &args.output)?;
    let config = here(&args.here, Needs::SANITIZE)?;
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| AppError::Io(format!("{}: {error}", path.display())))
    };
    let file = read(&args.input)?;
    let name = args.input.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let redaction = match (args.redact, args.detect_only) {
        (_, true) => Redaction::Detect,
        (true, false) => Redaction::Apply,
        (false, false) => Redaction::Off,
    };
    let settings = release_policy(&config.sanitize);
    let policy = ReleasePolicy {
        pass_unknown: args.pass_unknown,
        scripts: args.scripts.map_or(settings.scripts, ScriptsArg::scripts),
        unread: args.on_unread.map_or(settings.unread, UnreadArg::unread),
    };
    let wish = Wish {
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
    };
    let begun = SystemClock.now().as_millis();
    let size = file.len();
    if std::io::stderr().is_terminal() {
        message(&format!("cleaning {name}, {size} bytes"));
    }
    let released = match clean(&config, wish, ScanItem { name: &name, bytes: file.into() })? {
        Outcome::Released(released) => released,
        Outcome::Refused(Refused { kind, why }) => {
            if args.report {
                reported(&json!({ "released": false, "kind": kind, "why": why }))?;
            }
            return Err(AppError::Sanitize(format!("the file is not released: {why}")).into());
        }
    };
    let Released { kind, bytes, name: fitting, summary, mut data } = released;
    written(&args.output, &bytes)?;
    if args.report {
        if let Some(members) = data.as_object_mut() {
            members.insert("released".to_owned(), json!(true));
            members.insert("kind".to_owned(), json!(kind));
            members.insert("name".to_owned(), json!(fitting.as_ref().unwrap_or(&name)));
        }
        reported(&data)?;
    }
    if let Some(fitting) = fitting {
        message(&format!("what {name} is should be called {fitting}"));
    }
    message(&format!(
        "{summary} {} bytes in {} ms",
        bytes.len(),
        SystemClock.now().as_millis().saturating_sub(begun)
    ));
    Ok(())
}

fn reported(report: &Value) -> Result<(), Failure> {
    result(&serde_json::to_string_pretty(report).unwrap_or_default())
}

/// Before any work: the clean file replaces a file of before, but not the one that it is made of, and nothing else.
fn writable(input: &Path, output: &Path) -> Result<(), Failure> {
    let wrong = |why: &str| Err(Failure::Usage(format!("{}: {why}", output.display())));
    let Ok(there) = std::fs::metadata(output) else {
        return match output.as_os_str() == "-" {
            true => wrong("the clean file needs a name"),
            false => Ok(()),
        };
    };
    let same = |one: &Metadata| (one.dev(), one.ino()) == (there.dev(), there.ino());
    if !there.is_file() {
        wrong("not a file; name one for the clean copy")
    } else if std::fs::metadata(input).is_ok_and(|input| same(&input)) {
        wrong("the original; name another file for the clean copy")
    } else {
        Ok(())
    }
}

/// Nobody finds half a file under the name, and a failed run leaves what was there.
fn written(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let at = |error: std::io::Error| AppError::Io(format!("{}: {error}", path.display()));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let write = || {
        let mut file = std::fs::File::create_new(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    };
    write().map_err(|error| {
        drop(std::fs::remove_file(&part));
        Failure::from(at(error))
    })
}
