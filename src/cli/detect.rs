//! `portcullis detect`: what is found in files or standard input, and what is not done about it.
//!
//! On a terminal the text itself is shown, findings coloured. Elsewhere there is one JSON object a finding, with its
//! place and without its value: such reports end up in build logs and tickets. `--show` adds the value.

use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::app::AppError;
use crate::cli::args::{DetectArgs, NameArg};
use crate::cli::failure::Failure;
use crate::cli::highlight::SurrogateTally;
use crate::cli::progress::Progress;
use crate::cli::streams::{complaint, input};
use crate::cli::wanted;
use crate::detect::{Cache, Detector, Finding, Scanner, Score};

/// Read at once, in bytes.
const PIECE: usize = 64 << 10;

/// How findings are looked for and called.
struct DetectOptions {
    detector: Detector,
    names: NameArg,
    candidates: bool,
    values: bool,
}

impl DetectOptions {
    fn find_with(&self, cache: &mut Cache, text: &str) -> Vec<Finding> {
        match self.candidates {
            true => self.detector.candidates_with(cache, text),
            false => self.detector.find_with(cache, text),
        }
    }

    fn name(&self, finding: &Finding) -> &str {
        let rule = self.detector.rule(finding.rule);
        match self.names {
            NameArg::Rule => rule.name(),
            NameArg::Family => rule.family().name(),
        }
    }
}

pub(super) fn run(args: &DetectArgs) -> Result<(), Failure> {
    let mut detector = wanted::detector(&args.wanted, &args.names_model)?;
    if let Some(floor) = args.min_score {
        if !(0.0..=1.0).contains(&floor) {
            return Err(Failure::Usage("a score lies between 0 and 1".to_owned()));
        }
        detector = detector.at_least(Score::new(floor));
    }
    let look = DetectOptions { detector, names: args.names, candidates: args.candidates, values: args.show };
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let coloured = std::io::stdout().is_terminal() && !args.candidates && !args.jsonl;
    let mut shown = SurrogateTally::new();
    let mut bad = 0;
    let inputs: Vec<Option<&PathBuf>> =
        if args.files.is_empty() { vec![None] } else { args.files.iter().map(Some).collect() };
    for file in inputs {
        let name = file.map_or(Path::new("-"), PathBuf::as_path).display().to_string();
        let progress = Progress::bytes(file.map(PathBuf::as_path));
        let mut from = BufReader::with_capacity(PIECE, progress.counting(input(file)?));
        let input = NamedInput { from: &mut from, name: &name };
        if args.jsonl {
            bad += rows(&look, input, &mut output)?;
        } else if args.candidates {
            whole(&look, input, &mut output)?;
        } else if coloured {
            let mut paint = |text: &str, finding: Option<&Finding>| {
                shown.write(&mut output, text, finding.map(|finding| look.name(finding)))
            };
            stream(&look.detector, input, &mut paint)?;
        } else {
            let mut place = LineColumn::default();
            let mut report = |text: &str, finding: Option<&Finding>| {
                let begin = place;
                place.pass(text);
                let Some(finding) = finding else { return Ok(()) };
                let found = Located { file: &name, begin, end: place, value: text };
                report(&mut output, &look, &found, finding)
            };
            stream(&look.detector, input, &mut report)?;
        }
        output.flush()?;
    }
    if coloured {
        shown.legend(&mut output)?;
        output.flush()?;
    }
    match bad {
        0 => Ok(()),
        bad => Err(AppError::Io(format!("{bad} lines could not be read")).into()),
    }
}

/// A text to read, and what its messages call it.
struct NamedInput<'a, R> {
    from: &'a mut BufReader<R>,
    name: &'a str,
}

#[derive(Deserialize)]
struct TextRow<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    text: String,
}

#[derive(Serialize)]
struct DetectResponse<'a> {
    id: Option<&'a RawValue>,
    spans: Vec<PointFinding<'a>>,
}

/// A finding in code points.
#[derive(Serialize)]
struct PointFinding<'a> {
    start: usize,
    end: usize,
    entity: &'a str,
    score: f64,
}

/// Three decimals: a score says no more than that.
fn score(finding: &Finding) -> f64 {
    (f64::from(finding.score.value()) * 1000.0).round() / 1000.0
}

/// A row out for each row in; how many could not be read.
fn rows(
    look: &DetectOptions,
    input: NamedInput<'_, impl Read>,
    output: &mut dyn Write,
) -> Result<usize, Failure> {
    let NamedInput { from, name } = input;
    let (mut cache, mut line, mut bad) = (look.detector.cache(), Vec::new(), 0);
    for number in 1usize.. {
        line.clear();
        if read(from.read_until(b'\n', &mut line), name)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Ok(row) = serde_json::from_slice::<TextRow<'_>>(&line) else {
            bad += 1;
            complaint(&format!("{name}:{number}: not a JSON object with a string `text`"));
            continue;
        };
        let found = look.find_with(&mut cache, &row.text);
        let points = CodePointMap::of(&row.text, &found);
        let marked = |finding: &Finding| PointFinding {
            start: points.at(finding.span.start),
            end: points.at(finding.span.end),
            entity: look.name(finding),
            score: score(finding),
        };
        let answer = DetectResponse { id: row.id, spans: found.iter().map(marked).collect() };
        serde_json::to_writer(&mut *output, &answer).map_err(std::io::Error::from)?;
        output.write_all(b"\n")?;
        // Whoever waits for this row's answer before sending the next one gets it.
        if from.buffer().is_empty() {
            output.flush()?;
        }
    }
    Ok(bad)
}

fn read<T>(read: std::io::Result<T>, name: &str) -> Result<T, Failure> {
    read.map_err(|error| AppError::Io(format!("{name}: {error}")).into())
}

/// Code points before each offset that findings begin or end at; they may overlap and nest.
struct CodePointMap(Vec<(usize, usize)>);

impl CodePointMap {
    fn of(text: &str, found: &[Finding]) -> Self {
        let mut offsets: Vec<usize> = found.iter().flat_map(|one| [one.span.start, one.span.end]).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let (mut at, mut count) = (0, 0);
        let count_to = |offset: usize| {
            count += text.get(at..offset).map_or(0, |piece| piece.chars().count());
            at = offset;
            (offset, count)
        };
        Self(offsets.into_iter().map(count_to).collect())
    }

    fn at(&self, offset: usize) -> usize {
        let known = self.0.binary_search_by_key(&offset, |&(offset, _)| offset).ok();
        known.and_then(|n| self.0.get(n)).map_or(0, |&(_, count)| count)
    }
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

/// Every candidate of a text, which is read whole: candidates overlap.
fn whole(
    look: &DetectOptions,
    input: NamedInput<'_, impl Read>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let NamedInput { from, name } = input;
    let mut bytes = Vec::new();
    read(from.read_to_end(&mut bytes), name)?;
    let text = String::from_utf8_lossy(&bytes);
    let place = |offset: usize| {
        let mut place = LineColumn::default();
        place.pass(text.get(..offset).unwrap_or(&text));
        place
    };
    for finding in look.find_with(&mut look.detector.cache(), &text) {
        let (start, end) = (finding.span.start, finding.span.end);
        let value = text.get(start..end).unwrap_or_default();
        let found = Located { file: name, begin: place(start), end: place(end), value };
        report(output, look, &found, &finding)?;
    }
    Ok(())
}

/// Takes the text in order, piece by piece, each with its finding if it is one.
type Sink<'a> = dyn FnMut(&str, Option<&Finding>) -> std::io::Result<()> + 'a;

/// Text on its way through a scanner.
struct Passing {
    scanner: Scanner,
    held: String,
    /// The text's offset that `held` begins at.
    base: usize,
}

impl Passing {
    fn give(&mut self, found: &[Finding], decided: usize, sink: &mut Sink<'_>) -> std::io::Result<()> {
        let mut at = self.base;
        let piece = |from: usize, to: usize| {
            self.held.get(from.saturating_sub(self.base)..to.saturating_sub(self.base)).unwrap_or_default()
        };
        for finding in found {
            sink(piece(at, finding.span.start), None)?;
            sink(piece(finding.span.start, finding.span.end), Some(finding))?;
            at = finding.span.end;
        }
        sink(piece(at, decided), None)?;
        self.held.drain(..decided.saturating_sub(self.base).min(self.held.len()));
        self.base = decided;
        Ok(())
    }

    fn feed(&mut self, text: &str, sink: &mut Sink<'_>) -> std::io::Result<()> {
        self.held.push_str(text);
        let mut found = Vec::new();
        let decided = self.scanner.feed(text, &mut |finding| found.push(finding));
        self.give(&found, decided, sink)
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> std::io::Result<()> {
        let mut found = Vec::new();
        self.scanner.end(&mut |finding| found.push(finding));
        self.give(&found, self.base + self.held.len(), sink)
    }
}

/// Reads to the end; bytes that are not UTF-8 become U+FFFD.
fn stream(detector: &Detector, input: NamedInput<'_, impl Read>, sink: &mut Sink<'_>) -> Result<(), Failure> {
    let NamedInput { from, name } = input;
    if detector.reads_names() {
        return at_once(detector, NamedInput { from, name }, sink);
    }
    let mut passing = Passing { scanner: detector.scanner(), held: String::new(), base: 0 };
    let mut bytes: Vec<u8> = Vec::new();
    loop {
        let piece = match from.fill_buf() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            piece => read(piece, name)?,
        };
        let (took, last) = (piece.len(), piece.is_empty());
        bytes.extend_from_slice(piece);
        from.consume(took);
        // A character's beginning waits for its end.
        let open = match std::str::from_utf8(&bytes) {
            Err(error) if !last && error.error_len().is_none() => error.valid_up_to(),
            _ if last => bytes.len(),
            _ => open_end(&bytes),
        };
        let rest = bytes.split_off(open);
        passing.feed(&String::from_utf8_lossy(&bytes), sink)?;
        bytes = rest;
        if last {
            return Ok(passing.end(sink)?);
        }
    }
}

/// The same for a detector that wants whole texts.
fn at_once(
    detector: &Detector,
    input: NamedInput<'_, impl Read>,
    sink: &mut Sink<'_>,
) -> Result<(), Failure> {
    let NamedInput { from, name } = input;
    let mut bytes = Vec::new();
    read(from.read_to_end(&mut bytes), name)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut at = 0;
    for finding in detector.find(&text) {
        let Finding { span, .. } = finding;
        sink(text.get(at..span.start).unwrap_or_default(), None)?;
        sink(text.get(span.start..span.end).unwrap_or_default(), Some(&finding))?;
        at = span.end;
    }
    Ok(sink(text.get(at..).unwrap_or_default(), None)?)
}

/// Where a character begins that the bytes end in the middle of; their end, if none.
fn open_end(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    let cut = |at: &usize| {
        let rest = bytes.get(*at..).unwrap_or_default();
        std::str::from_utf8(rest).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (tail..bytes.len()).find(cut).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Catalogue, RuleSelection};

    fn detector() -> Detector {
        let catalogue = Catalogue::builtin().unwrap();
        let selection = RuleSelection::only(&catalogue, ["EMAIL_ADDRESS"]).unwrap();
        Detector::new(&catalogue, &selection).unwrap()
    }

    /// Gives its bytes in pieces of one size.
    struct Drip(std::collections::VecDeque<u8>, usize);

    impl Read for Drip {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(into.len()).min(self.0.len());
            into.iter_mut().zip(self.0.drain(..count)).for_each(|(to, byte)| *to = byte);
            Ok(count)
        }
    }

    /// All pieces in order, and each value with line and column where it begins and ends.
    fn streamed(detector: &Detector, bytes: &[u8], size: usize) -> (String, Vec<(String, [usize; 4])>) {
        let drip: Box<dyn Read + Send> = Box::new(Drip(bytes.iter().copied().collect(), size));
        let (mut all, mut found, mut place) = (String::new(), Vec::new(), LineColumn::default());
        let mut sink = |text: &str, finding: Option<&Finding>| {
            let begin = place;
            place.pass(text);
            all.push_str(text);
            if finding.is_some() {
                found.push((text.to_owned(), [begin.line, begin.column, place.line, place.column]));
            }
            Ok(())
        };
        let input = NamedInput { from: &mut BufReader::with_capacity(size, drip), name: "test" };
        assert!(stream(detector, input, &mut sink).is_ok());
        (all, found)
    }

    #[test]
    fn pieces_of_any_size_give_the_same_places() {
        let detector = detector();
        let mut text = "Grüße 😀 ann@example.com\r\n\né\tbob@example.com".as_bytes().to_vec();
        // Broken characters: in the middle, before a whole one, at the end.
        text.extend_from_slice(b" \xff \xe2\x82A \xf0\x9f\x98");
        let places =
            [("ann@example.com".to_owned(), [0, 8, 0, 23]), ("bob@example.com".to_owned(), [2, 2, 2, 17])];
        for size in 1..=text.len() {
            let (all, found) = streamed(&detector, &text, size);
            assert_eq!(all, String::from_utf8_lossy(&text), "pieces of {size}");
            assert_eq!(found, places, "pieces of {size}");
        }
    }

    #[test]
    fn offsets_become_code_points_also_where_findings_nest() {
        let text = "é ann@example.com 😀 bob@example.com";
        let detector = detector();
        let mut found = detector.find(text);
        assert_eq!(found.len(), 2);
        let mut inner = found[0];
        inner.span.start += 4;
        inner.span.end += 1;
        found.push(inner);
        let points = CodePointMap::of(text, &found);
        let in_points: Vec<_> =
            found.iter().map(|one| (points.at(one.span.start), points.at(one.span.end))).collect();
        assert_eq!(in_points, [(2, 17), (20, 35), (6, 18)]);
    }
}
