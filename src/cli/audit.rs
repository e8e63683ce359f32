//! `portcullis audit`: proves and exports the audit log.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use crate::app::AppError;
use crate::audit::{ExportFilter, ExportFormat, Link, export, verify};
use crate::base::clock::Timestamp;
use crate::cli::audit_args::{AuditCommand, FormatArg};
use crate::cli::failure::Failure;
use crate::cli::streams::{message, result};

pub(super) fn run(command: AuditCommand) -> Result<(), Failure> {
    match command {
        AuditCommand::Verify { files, after } => {
            let wrong =
                || Failure::Usage("--after takes what `audit verify` printed, such as 12:3fa9…".to_owned());
            let mut link = after.map(|text| Link::parse(&text).ok_or_else(wrong)).transpose()?;
            let (mut lines, mut torn) = (0, 0);
            for file in &files {
                let name = file.display();
                let proved = verify(open(file)?, link);
                let proved = proved.map_err(|broken| AppError::Io(format!("{name}: {broken}")))?;
                if let Some(first) = proved.first.filter(|first| link.is_none() && *first != Link::START) {
                    message(&format!("{name} goes on from {first}, which is not in it"));
                }
                (lines, torn) = (lines + proved.lines, torn + proved.torn);
                link = proved.last.or(link);
            }
            if torn > 0 {
                message(&format!("{torn} lines are torn: a process was ended while it wrote them"));
            }
            message(&format!("{lines} lines, all as they were written; it ends with"));
            result(&link.unwrap_or(Link::START).to_string())
        }
        AuditCommand::Export { file, format, since, until, token, route } => {
            let format = match format {
                FormatArg::Jsonl => ExportFormat::JsonLines,
                FormatArg::Csv => ExportFormat::Csv,
            };
            let (since, until) = (time(since.as_deref())?, time(until.as_deref())?);
            let filter = ExportFilter { since, until, token, route };
            let mut output = BufWriter::new(std::io::stdout().lock());
            let done = export(open(&file)?, &mut output, format, &filter);
            let name = file.display();
            let done = done.map_err(|error| AppError::Io(format!("{name}: {error}")))?;
            output.flush()?;
            message(&format!("{} lines; {} others left out", done.lines, done.left_out));
            Ok(())
        }
    }
}

fn open(file: &Path) -> Result<BufReader<File>, Failure> {
    let opened = File::open(file).map_err(|error| AppError::Io(format!("{}: {error}", file.display())));
    Ok(BufReader::new(opened?))
}

fn time(text: Option<&str>) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let whole = if text.len() == "2027-01-31".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let wrong = || Failure::Usage("a time is a date such as 2027-01-31, or 2027-01-31T12:00:00Z".to_owned());
    Timestamp::parse_iso8601(&whole).ok_or_else(wrong).map(Some)
}
