//! `portcullis audit`: proves and exports the audit log, from its files or from the store.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::app::{AppError, OpenStore, copy_audit_file};
use crate::audit::{ChainLink, ExportFilter, ExportFormat, export, verify};
use crate::base::clock::Timestamp;
use crate::cli::args::StoreArgs;
use crate::cli::audit_args::{AuditCommand, FormatArg, StoredArgs};
use crate::cli::failure::Failure;
use crate::cli::settings::placed;
use crate::cli::stored_log::StoredLog;
use crate::cli::streams::{message, opened, result};
use crate::config::Requirements;

pub(super) fn run(place: &StoreArgs, command: AuditCommand) -> Result<(), Failure> {
    match command {
        AuditCommand::Verify { files, after, stored } => {
            let wrong =
                || Failure::Usage("--after takes what `audit verify` printed, such as 12:3fa9…".to_owned());
            let after = after.map(|text| ChainLink::parse(&text).ok_or_else(wrong)).transpose()?;
            match stored.store {
                true => in_store(place, |opened| verify_store(opened, &stored, after)),
                false => verify_files(&files, after),
            }
        }
        AuditCommand::Export { file, format, since, until, token, route, stored } => {
            let (since, until) = (time(since.as_deref())?, time(until.as_deref())?);
            let format = match format {
                FormatArg::Jsonl => ExportFormat::JsonLines,
                FormatArg::Csv => ExportFormat::Csv,
            };
            let filter = ExportFilter { since, until, token, route };
            match file {
                Some(file) => write(open(&file)?, &file.display(), format, &filter),
                None => in_store(place, |opened| {
                    let logs = logs(opened, &stored)?;
                    let lines = BufReader::new(StoredLog::new(opened, &logs));
                    write(lines, &"the store", format, &filter)
                }),
            }
        }
        AuditCommand::Store { files } => in_store(place, |opened| {
            for file in &files {
                // A name that is mistyped is no empty log.
                drop(open(file)?);
                let copied = copy_audit_file(opened, file)?;
                message(&format!("{}: {copied} lines were copied", file.display()));
            }
            Ok(())
        }),
    }
}

/// Does something with the store, and closes it.
fn in_store(place: &StoreArgs, act: impl FnOnce(&OpenStore) -> Result<(), Failure>) -> Result<(), Failure> {
    let config = placed(place, Requirements::STORE)?;
    let opened = OpenStore::existing(&config)?;
    let done = act(&opened);
    opened.io.block_on(opened.records.close());
    done
}

/// The names of the logs that are asked for.
fn logs(opened: &OpenStore, stored: &StoredArgs) -> Result<Vec<String>, Failure> {
    let ends = opened.io.block_on(opened.lines.ends());
    let ends = ends.map_err(|error| AppError::Io(format!("the store: {error}")))?;
    let all = ends.into_iter().map(|end| end.log);
    let Some(wanted) = &stored.log else { return Ok(all.collect()) };
    let is = |log: &String| log == wanted || log.rsplit_once('/').is_some_and(|(node, _)| node == wanted);
    let found: Vec<String> = all.filter(is).collect();
    match found.is_empty() {
        true => {
            Err(Failure::Usage(format!("the store has no log `{wanted}`; `audit verify --store` names them")))
        }
        false => Ok(found),
    }
}

fn verify_files(files: &[PathBuf], after: Option<ChainLink>) -> Result<(), Failure> {
    let mut link = after;
    let (mut lines, mut torn) = (0, 0);
    for file in files {
        let name = file.display();
        let proved = verify(open(file)?, link);
        let proved = proved.map_err(|broken| AppError::Io(format!("{name}: {broken}")))?;
        if let Some(first) = proved.first.filter(|first| link.is_none() && *first != ChainLink::START) {
            message(&format!("{name} goes on from {first}, which is not in it"));
        }
        (lines, torn) = (lines + proved.lines, torn + proved.torn);
        link = proved.last.or(link);
    }
    if torn > 0 {
        message(&format!("{torn} lines are torn: a process was ended while it wrote them"));
    }
    message(&format!("{lines} lines, all as they were written; it ends with"));
    result(&link.unwrap_or(ChainLink::START).to_string())
}

/// Proves each log by itself, and prints its name and what it ends with.
fn verify_store(opened: &OpenStore, stored: &StoredArgs, after: Option<ChainLink>) -> Result<(), Failure> {
    let logs = logs(opened, stored)?;
    if after.is_some() && logs.len() != 1 {
        return Err(Failure::Usage("--after is of one log: name it with --log".to_owned()));
    }
    let mut lines = 0;
    for log in &logs {
        let proved = verify(BufReader::new(StoredLog::new(opened, std::slice::from_ref(log))), after);
        let proved = proved.map_err(|broken| AppError::Io(format!("{log}: {broken}")))?;
        if let Some(first) = proved.first.filter(|first| after.is_none() && *first != ChainLink::START) {
            message(&format!("{log} goes on from {first}, which is not in it"));
        }
        lines += proved.lines;
        result(&format!("{log}\t{}", proved.last.or(after).unwrap_or(ChainLink::START)))?;
    }
    message(&format!("{lines} lines in {} logs, all as they were written", logs.len()));
    Ok(())
}

/// Writes the lines that fit, to standard output.
fn write(
    lines: impl BufRead,
    name: &dyn Display,
    format: ExportFormat,
    filter: &ExportFilter,
) -> Result<(), Failure> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    let done = export(lines, &mut output, format, filter);
    let done = done.map_err(|error| AppError::Io(format!("{name}: {error}")))?;
    output.flush()?;
    message(&format!("{} lines; {} others left out", done.lines, done.left_out));
    Ok(())
}

fn open(file: &Path) -> Result<BufReader<File>, Failure> {
    Ok(BufReader::new(opened(file)?))
}

fn time(text: Option<&str>) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let whole = if text.len() == "2027-01-31".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let wrong = || Failure::Usage("a time is a date such as 2027-01-31, or 2027-01-31T12:00:00Z".to_owned());
    Timestamp::parse_iso8601(&whole).ok_or_else(wrong).map(Some)
}
