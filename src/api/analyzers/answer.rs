//! An analyzer's answer: a list of objects with `entity_type`, `start`, `end` and `score`, of which the offsets count
//! Unicode code points (Presidio API, "Analyze text"). Nothing in it is believed that does not fit the text.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::detect::{Finding, RuleId, Score, Span, offset};
use crate::net::NetError;

/// The most findings in one text.
const MOST_FINDINGS: usize = 10_000;

/// Why an analyzer's word on a text cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalyzerFault {
    /// No whole answer.
    #[error("it cannot be reached, or its answer broke off")]
    Gone,
    /// The same, in the time that a request has for it.
    #[error("it does not answer in time")]
    Late,
    /// An answer with another status than 200.
    #[error("it answers {0}")]
    Status(u16),
    /// A larger answer than is read.
    #[error("its answer is too large")]
    TooLarge,
    /// An answer that is none.
    #[error("its answer is no list of findings")]
    Unreadable,
    /// More findings than one text may have.
    #[error("its answer has more than {MOST_FINDINGS} findings")]
    TooMany,
    /// A finding that is not in the text, or of which the score is none.
    #[error("its answer has a finding with a place or score that cannot be")]
    Misplaced,
    /// The text is longer than the analyzer is asked about.
    #[error("a text is longer than its `max_text`")]
    TooLong,
}

impl AnalyzerFault {
    /// Whether asking about other texts of the same request leads to nothing either.
    pub(super) fn is_of_server(self) -> bool {
        matches!(self, Self::Gone | Self::Late | Self::Status(_))
    }
}

impl From<NetError> for AnalyzerFault {
    fn from(error: NetError) -> Self {
        if error == NetError::TooLarge { Self::TooLarge } else { Self::Gone }
    }
}

/// One finding as it is written.
#[derive(Deserialize)]
struct AnalyzerFinding {
    entity_type: String,
    start: usize,
    end: usize,
    score: f64,
}

/// Which findings count.
pub(super) struct Counting<'c> {
    /// The rules that they are of, by the analyzer's name for what it found; of others nothing is said.
    pub(super) rules: &'c BTreeMap<String, RuleId>,
    /// From which score on.
    pub(super) threshold: f64,
}

impl Counting<'_> {
    /// The findings of an answer about `text`, with their places in bytes, in the order of these.
    ///
    /// # Errors
    /// [`AnalyzerFault::Unreadable`], [`AnalyzerFault::TooMany`], [`AnalyzerFault::Misplaced`]: of an answer of which one finding cannot be, none
    /// is believed.
    pub(super) fn read(&self, answer: &[u8], text: &str) -> Result<Vec<Finding>, AnalyzerFault> {
        let written: Vec<AnalyzerFinding> =
            serde_json::from_slice(answer).map_err(|_| AnalyzerFault::Unreadable)?;
        if written.len() > MOST_FINDINGS {
            return Err(AnalyzerFault::TooMany);
        }
        let spans: Vec<Span> = written.iter().map(|one| Span::new(one.start, one.end)).collect();
        let mut findings = Vec::new();
        for (one, place) in written.iter().zip(offset::bytes(text, &spans)) {
            let span = place.filter(|span| span.start < span.end).ok_or(AnalyzerFault::Misplaced)?;
            if !(0.0..=1.0).contains(&one.score) {
                return Err(AnalyzerFault::Misplaced);
            }
            let score = Score::new(one.score as f32);
            let rule = self.rules.get(&one.entity_type).filter(|_| one.score >= self.threshold);
            findings.extend(rule.map(|&rule| Finding { rule, span, score, near: None }));
        }
        findings.sort_by_key(|one| (one.span.start, one.span.end));
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fits_the_text_is_believed() {
        let rules = [("PERSON", 3), ("NRP", 4)];
        let rules = rules.into_iter().map(|(name, rule)| (name.to_owned(), RuleId::new(rule))).collect();
        let counting = Counting { rules: &rules, threshold: 0.4 };
        let text = "é🦀 Ada";
        let one = |entity: &str, start: &str, end: &str, score: &str| {
            format!(r#"{{"entity_type":"{entity}","start":{start},"end":{end},"score":{score}}}"#)
        };
        type Found<'f> = Result<&'f [(usize, usize, usize)], AnalyzerFault>;
        let cases: &[(String, Found<'_>)] = &[
            ("[]".to_owned(), Ok(&[])),
            (format!("[{}]", one("PERSON", "3", "6", "0.85")), Ok(&[(3, 7, 10)])),
            (format!("[{}]", one("NRP", "1", "2", "1")), Ok(&[(4, 2, 6)])),
            // Overlapping ones are real: what becomes of them is decided where all findings are.
            (
                format!("[{},{}]", one("PERSON", "3", "6", "0.4"), one("NRP", "0", "6", "0.4")),
                Ok(&[(4, 0, 10), (3, 7, 10)]),
            ),
            // Other kinds, and what is not sure enough, but sound.
            (format!("[{}]", one("URL", "3", "6", "0.85")), Ok(&[])),
            (format!("[{}]", one("PERSON", "3", "6", "0.39")), Ok(&[])),
            (
                r#"[{"entity_type":"NRP","start":0,"end":1,"score":0.5,"analysis_explanation":null,"x":[{}]}]"#
                    .to_owned(),
                Ok(&[(4, 0, 2)]),
            ),
            (format!("[{}]", one("PERSON", "3", "7", "0.85")), Err(AnalyzerFault::Misplaced)),
            (format!("[{}]", one("URL", "3", "7", "0.85")), Err(AnalyzerFault::Misplaced)),
            (format!("[{}]", one("PERSON", "3", "3", "0.85")), Err(AnalyzerFault::Misplaced)),
            (format!("[{}]", one("PERSON", "4", "3", "0.85")), Err(AnalyzerFault::Misplaced)),
            (format!("[{}]", one("PERSON", "3", "18446744073709551615", "0.8")), Err(AnalyzerFault::Misplaced)),
            (format!("[{}]", one("PERSON", "3", "6", "1.5")), Err(AnalyzerFault::Misplaced)),
            (format!("[{}]", one("PERSON", "3", "6", "-0.1")), Err(AnalyzerFault::Misplaced)),
            (format!("[{}]", one("PERSON", "-1", "6", "0.85")), Err(AnalyzerFault::Unreadable)),
            (format!("[{}]", one("PERSON", "3.0", "6", "0.85")), Err(AnalyzerFault::Unreadable)),
            (format!("[{}]", one("PERSON", "3", "6", "NaN")), Err(AnalyzerFault::Unreadable)),
            (format!("[{}]", one("PERSON", "3", "6", "1e999")), Err(AnalyzerFault::Unreadable)),
            (format!("[{}]", one("PERSON", "3", "99999999999999999999", "1")), Err(AnalyzerFault::Unreadable)),
            (r#"[{"entity_type":"NRP","start":0,"end":1}]"#.to_owned(), Err(AnalyzerFault::Unreadable)),
            (r#"{"error":"no"}"#.to_owned(), Err(AnalyzerFault::Unreadable)),
            ("null".to_owned(), Err(AnalyzerFault::Unreadable)),
            (String::new(), Err(AnalyzerFault::Unreadable)),
            ("[] []".to_owned(), Err(AnalyzerFault::Unreadable)),
            ("[".repeat(100_000), Err(AnalyzerFault::Unreadable)),
            (
                format!("[{}]", vec![one("PERSON", "3", "6", "0.85"); MOST_FINDINGS + 1].join(",")),
                Err(AnalyzerFault::TooMany),
            ),
        ];
        for (answer, want) in cases {
            let found = counting.read(answer.as_bytes(), text).map(|findings| {
                let place = |one: &Finding| (one.rule.index(), one.span.start, one.span.end);
                findings.iter().map(place).collect::<Vec<_>>()
            });
            assert_eq!(found.as_deref().map_err(|why| *why), *want, "{}", answer.get(..80).unwrap_or(answer));
        }
    }
}
