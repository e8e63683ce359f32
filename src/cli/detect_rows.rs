//! `detect --jsonl`: texts in rows, and a row of findings for each.

use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::app::{Arrival, Block, BlockWork, Blocks};
use crate::cli::detect_options::{DetectOptions, score};
use crate::cli::failure::Failure;
use crate::cli::streams::complaint;
use crate::detect::Finding;

/// Answers the rows of a block.
pub(super) struct RowWork(pub(super) DetectOptions);

/// What became of the rows of a block.
pub(super) struct AnsweredRows {
    /// A row out for each row in.
    out: Vec<u8>,
    /// How many lines there are, and which of them could not be read, from 1.
    lines: usize,
    bad: Vec<usize>,
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

impl RowWork {
    fn answered(&self, block: &[u8]) -> serde_json::Result<AnsweredRows> {
        let look = &self.0;
        let (mut cache, mut rows) =
            (look.detector.cache(), AnsweredRows { out: Vec::new(), lines: 0, bad: Vec::new() });
        for line in block.split_inclusive(|byte| *byte == b'\n') {
            rows.lines += 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let Ok(row) = serde_json::from_slice::<TextRow<'_>>(line) else {
                rows.bad.push(rows.lines);
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
            serde_json::to_writer(&mut rows.out, &answer)?;
            rows.out.push(b'\n');
        }
        Ok(rows)
    }
}

impl BlockWork for RowWork {
    type Done = serde_json::Result<AnsweredRows>;

    const CONTEXT: usize = 0;
    const ALIGNMENT: usize = 1;

    fn whole(&self, bytes: &[u8], known: usize) -> usize {
        let fresh = bytes.get(known..).unwrap_or_default();
        fresh.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| known + at + 1)
    }

    fn work(&self, _: &[u8], block: &[u8]) -> Self::Done {
        self.answered(block)
    }
}

/// Writes a row out for each row of the next text; how many could not be read.
pub(super) fn rows(
    blocks: &mut Blocks<RowWork, Failure>,
    name: &str,
    output: &mut dyn Write,
) -> Result<usize, Failure> {
    let (mut before, mut bad) = (0, 0);
    while let Arrival::Block(Block { bytes, done }) = blocks.take(None)? {
        let rows = done.unwrap_or_else(|| blocks.work().answered(&bytes)).map_err(std::io::Error::from)?;
        output.write_all(&rows.out)?;
        for line in &rows.bad {
            complaint(&format!("{name}:{}: not a JSON object with a string `text`", before + line));
        }
        before += rows.lines;
        bad += rows.bad.len();
        // Whoever waits for these rows' answers before sending the next ones gets them.
        if blocks.is_idle() {
            output.flush()?;
        }
    }
    Ok(bad)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{InputPart, InputParts};
    use crate::cli::args::NameArg;
    use crate::detect::{Catalogue, Detector, RuleSelection};

    fn detector() -> Detector {
        let catalogue = Catalogue::builtin().unwrap();
        let selection = RuleSelection::only(&catalogue, ["EMAIL_ADDRESS"]).unwrap();
        Detector::new(&catalogue, &selection).unwrap()
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

    #[test]
    fn rows_are_the_same_however_they_come() {
        let text = concat!(
            r#"{"id": 7, "text": "é ann@example.com"}"#,
            "\r\n\nnone\n",
            r#"{"text": ""}"#,
            "\n",
            r#"{"id": [1], "text": "bob@example.com"}"#,
        );
        let expected = [
            r#"{"id":7,"spans":[{"start":2,"end":17,"entity":"EMAIL_ADDRESS","score":1.0}]}"#,
            r#"{"id":null,"spans":[]}"#,
            r#"{"id":[1],"spans":[{"start":0,"end":15,"entity":"EMAIL_ADDRESS","score":1.0}]}"#,
        ];
        let detector = detector();
        let options = || DetectOptions {
            detector: detector.clone(),
            names: NameArg::Rule,
            candidates: false,
            values: false,
        };
        for (threads, size) in
            [1, 2, 5].into_iter().flat_map(|threads| (1..60).map(move |size| (threads, size)))
        {
            let read = move |parts: &InputParts<Failure>| {
                for piece in text.as_bytes().chunks(size) {
                    parts.send(Ok(InputPart::Bytes(piece.to_vec())));
                }
                parts.send(Ok(InputPart::End));
            };
            let mut blocks = Blocks::new(RowWork(options()), threads, read).unwrap();
            let mut out = Vec::new();
            let bad = rows(&mut blocks, "test", &mut out);
            assert!(matches!(bad, Ok(1)), "{threads} threads, pieces of {size}");
            let out = String::from_utf8(out).unwrap();
            assert_eq!(out.lines().collect::<Vec<_>>(), expected, "{threads} threads, pieces of {size}");
        }
    }
}
