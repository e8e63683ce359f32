//! `portcullis detect`: what is found in files or standard input, and what is not done about it.
//!
//! On a terminal the text itself is shown, findings coloured. Elsewhere there is one JSON object a finding, with its
//! place and without its value: such reports end up in build logs and tickets. `--show` adds the value.

use std::collections::BTreeMap;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::app::{AppError, Blocks, InputParts, TextScans};
use crate::cli::args::DetectArgs;
use crate::cli::detect_options::{DetectOptions, score};
use crate::cli::detect_rows::{RowWork, rows};
use crate::cli::detect_text::{at_once, stream, whole};
use crate::cli::failure::Failure;
use crate::cli::highlight::SurrogateTally;
use crate::cli::progress::{self, Progress};
use crate::cli::streams::input;
use crate::cli::wanted;
use crate::detect::{Finding, Score};

pub(super) fn run(args: &DetectArgs) -> Result<(), Failure> {
    let mut detector = wanted::detector(&args.wanted, &args.names_model)?;
    if let Some(floor) = args.min_score {
        if !(0.0..=1.0).contains(&floor) {
            return Err(Failure::Usage("a score lies between 0 and 1".to_owned()));
        }
        detector = detector.at_least(Score::new(floor));
    }
    let look = DetectOptions { detector, names: args.names, candidates: args.candidates, values: args.show };
    let files = TextFiles::named(&args.files);
    let mut output = BufWriter::new(std::io::stdout().lock());
    let done = match args.jsonl {
        true => run_rows(look, files, args.threads.count(), &mut output),
        false => run_texts(&look, files, args.threads.count(), &mut output),
    };
    // Whoever reads the files may not have come to take it away.
    progress::clear();
    done
}

/// Texts in rows.
fn run_rows(
    look: DetectOptions,
    files: TextFiles,
    threads: usize,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let names = files.names();
    let mut blocks = Blocks::new(RowWork(look), threads, move |parts| files.read(parts)).map_err(reading)?;
    let mut bad = 0;
    for name in names {
        bad += rows(&mut blocks, &name, output)?;
        output.flush()?;
    }
    match bad {
        0 => Ok(()),
        bad => Err(AppError::Io(format!("{bad} lines could not be read")).into()),
    }
}

/// Texts, each of which is looked through as it comes; or whole, where that is needed.
fn run_texts(
    look: &DetectOptions,
    files: TextFiles,
    threads: usize,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let coloured = std::io::stdout().is_terminal() && !look.candidates;
    let mut tally = coloured.then(SurrogateTally::new);
    if look.candidates || look.detector.reads_names() {
        for file in &files.0 {
            let progress = Progress::bytes(file.as_deref());
            let name = shown(file.as_deref());
            let text = whole(progress.counting(input(file.as_ref())?), &name)?;
            let mut report = TextReport::new(look, &name, tally.as_mut(), output);
            match look.candidates {
                true => report.candidates(&text)?,
                false => at_once(&look.detector, &text, &mut |text: &str, finding: Option<&Finding>| {
                    report.take(text, finding)
                })?,
            }
            output.flush()?;
        }
    } else {
        let (scans, names) = (TextScans::lossy(look.detector.clone()), files.names());
        let mut blocks = Blocks::new(scans, threads, move |parts| files.read(parts)).map_err(reading)?;
        for name in names {
            let mut report = TextReport::new(look, &name, tally.as_mut(), output);
            stream(&look.detector, &mut blocks, &mut |text: &str, finding: Option<&Finding>| {
                report.take(text, finding)
            })?;
            output.flush()?;
        }
    }
    if let Some(tally) = tally {
        tally.legend(output)?;
        output.flush()?;
    }
    Ok(())
}

fn reading(error: std::io::Error) -> Failure {
    AppError::Io(format!("reading: {error}")).into()
}

/// What is looked through: files, or standard input.
struct TextFiles(Vec<Option<PathBuf>>);

impl TextFiles {
    /// Those that are named; standard input, if none is.
    fn named(files: &[PathBuf]) -> Self {
        Self(if files.is_empty() { vec![None] } else { files.iter().cloned().map(Some).collect() })
    }

    /// What each is called.
    fn names(&self) -> Vec<String> {
        self.0.iter().map(|file| shown(file.as_deref())).collect()
    }

    /// Reads all, one after the other.
    fn read(&self, parts: &InputParts<Failure>) {
        for file in &self.0 {
            let progress = Progress::bytes(file.as_deref());
            let text = match input(file.as_ref()) {
                Ok(text) => progress.counting(text),
                Err(error) => {
                    parts.send(Err(error));
                    return;
                }
            };
            let name = shown(file.as_deref());
            if !parts.read(text, |error| AppError::Io(format!("{name}: {error}")).into()) {
                return;
            }
        }
    }
}

/// What a file is called, or standard input.
fn shown(file: Option<&Path>) -> String {
    file.unwrap_or(Path::new("-")).display().to_string()
}

/// A line and a column, from 1 when shown; columns count code points.
#[derive(Clone, Copy, Default)]
struct LineColumn {
    line: usize,
    column: usize,
}

impl LineColumn {
    fn pass(&mut self, text: &str) {
        let tail = match text.rsplit_once('\n') {
            Some((head, tail)) => {
                self.line += head.bytes().filter(|&byte| byte == b'\n').count() + 1;
                self.column = 0;
                tail
            }
            None => text,
        };
        self.column += tail.chars().count();
    }
}

#[derive(Serialize)]
struct DetectReport<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    rule: &'a str,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
}

/// A value, and where it stands.
struct Located<'a> {
    file: &'a str,
    begin: LineColumn,
    end: LineColumn,
    value: &'a str,
}

fn report(
    output: &mut dyn Write,
    look: &DetectOptions,
    found: &Located<'_>,
    finding: &Finding,
) -> std::io::Result<()> {
    let Located { file, begin, end, value } = *found;
    let report = DetectReport {
        file,
        line: begin.line + 1,
        column: begin.column + 1,
        end_line: end.line + 1,
        end_column: end.column + 1,
        rule: look.name(finding),
        score: score(finding),
        value: look.values.then_some(value),
    };
    serde_json::to_writer(&mut *output, &report)?;
    output.write_all(b"\n")
}

/// Says of one text what is found in it: as reports, or by showing it.
struct TextReport<'a> {
    look: &'a DetectOptions,
    name: &'a str,
    /// Counts what is shown, if the text is.
    tally: Option<&'a mut SurrogateTally>,
    output: &'a mut dyn Write,
    place: LineColumn,
}

impl<'a> TextReport<'a> {
    fn new(
        look: &'a DetectOptions,
        name: &'a str,
        tally: Option<&'a mut SurrogateTally>,
        output: &'a mut dyn Write,
    ) -> Self {
        Self { look, name, tally, output, place: LineColumn::default() }
    }

    /// Takes the text in order, piece by piece, each with its finding if it is one.
    fn take(&mut self, text: &str, finding: Option<&Finding>) -> std::io::Result<()> {
        if let Some(tally) = &mut self.tally {
            return tally.write(self.output, text, finding.map(|finding| self.look.name(finding)));
        }
        let begin = self.place;
        self.place.pass(text);
        let Some(finding) = finding else { return Ok(()) };
        let found = Located { file: self.name, begin, end: self.place, value: text };
        report(self.output, self.look, &found, finding)
    }

    /// Reports every candidate of a text; they overlap.
    fn candidates(&mut self, text: &str) -> Result<(), Failure> {
        let found = self.look.find_with(&mut self.look.detector.cache(), text);
        let mut offsets: Vec<usize> = found.iter().flat_map(|one| [one.span.start, one.span.end]).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let (mut at, mut place) = (0, LineColumn::default());
        let places: BTreeMap<usize, LineColumn> = offsets
            .into_iter()
            .map(|offset| {
                place.pass(text.get(at..offset).unwrap_or_default());
                at = offset;
                (offset, place)
            })
            .collect();
        let place = |offset: usize| places.get(&offset).copied().unwrap_or_default();
        for finding in found {
            let (start, end) = (finding.span.start, finding.span.end);
            let value = text.get(start..end).unwrap_or_default();
            let found = Located { file: self.name, begin: place(start), end: place(end), value };
            report(self.output, self.look, &found, &finding)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::LineColumn;

    #[test]
    fn places_count_lines_and_characters_however_the_text_comes() {
        let text = "Grüße 😀 a\r\n\né\tb";
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let (mut place, (head, tail)) = (LineColumn::default(), text.split_at(cut));
            place.pass(head);
            place.pass(tail);
            assert_eq!((place.line, place.column), (2, 3), "cut at {cut}");
        }
    }
}
