//! [`AnalyzerFindings`]: what analyzers found in the texts of a request, and how it goes together with what the detector finds
//! there. [`Texts`]: the texts that analyzers are asked about. Who asks them is another part.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::detect::{Finding, RuleId, Span};
use crate::redact::carrier::{CarrierText, TextChanges};
use crate::redact::method::Method;
use crate::redact::opaque::ScanMode;

/// Words that APIs of models have around what people write: asking about them would tell nothing. In order.
const WORDS: [&str; 48] = [
    "arguments",
    "assistant",
    "call_id",
    "content",
    "data",
    "description",
    "detail",
    "developer",
    "enum",
    "format",
    "function",
    "id",
    "image_url",
    "index",
    "input",
    "input_text",
    "instructions",
    "integer",
    "items",
    "json_schema",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "name",
    "number",
    "object",
    "output",
    "output_text",
    "parameters",
    "properties",
    "required",
    "role",
    "schema",
    "stream",
    "strict",
    "string",
    "system",
    "temperature",
    "text",
    "title",
    "tool",
    "tool_call_id",
    "tool_calls",
    "tools",
    "type",
    "url",
    "user",
];

/// The texts of a body or document, each once.
#[derive(Default)]
pub struct Texts(HashSet<Arc<str>>);

impl Texts {
    /// One text.
    pub fn of(text: &str) -> Self {
        let mut texts = Self::default();
        texts.add(text);
        texts
    }

    /// Those in which something may be found.
    pub fn into_texts(self) -> Vec<Arc<str>> {
        self.0.into_iter().collect()
    }

    /// Takes a text of a carrier, and changes nothing in it.
    pub(super) fn take(&mut self, shown: CarrierText<'_>) -> TextChanges {
        // What holds bytes, or is a key as a whole, is nothing that people write.
        if shown.part.look == ScanMode::Text {
            self.add(shown.part.text);
        }
        TextChanges::new()
    }

    fn add(&mut self, text: &str) {
        let says = text.chars().any(char::is_alphanumeric) && WORDS.binary_search(&text).is_err();
        if says && !self.0.contains(text) {
            self.0.insert(text.into());
        }
    }
}

impl std::fmt::Debug for Texts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Texts({})", self.0.len())
    }
}

/// Findings by the text that they are in; their spans are bytes of it, on character boundaries.
#[derive(Default)]
pub struct AnalyzerFindings(HashMap<Arc<str>, Vec<Finding>>);

impl AnalyzerFindings {
    /// Adds what was found in a text. A span that is none of the text's does not count.
    pub fn add(&mut self, text: &Arc<str>, findings: impl IntoIterator<Item = Finding>) {
        let sound =
            |one: &Finding| one.span.start < one.span.end && text.get(one.span.start..one.span.end).is_some();
        let mut findings = findings.into_iter().filter(sound).peekable();
        if findings.peek().is_some() {
            self.0.entry(Arc::clone(text)).or_default().extend(findings);
        }
    }

    /// What was found in a text.
    pub(super) fn of(&self, text: &str) -> &[Finding] {
        self.0.get(text).map(Vec::as_slice).unwrap_or_default()
    }
}

impl std::fmt::Debug for AnalyzerFindings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reported({} texts)", self.0.len())
    }
}

/// How much a finding asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Its value stays.
    Stays,
    /// Its value goes.
    Goes,
    /// All that holds it is refused.
    Blocks,
}

impl Weight {
    pub(super) fn of(method: &Method) -> Self {
        match method {
            Method::Block => Self::Blocks,
            method if method.leaves() => Self::Stays,
            _ => Self::Goes,
        }
    }
}

/// A finding, with what decides between it and others.
#[derive(Clone, Copy)]
struct WeighedFinding {
    finding: Finding,
    weight: Weight,
    ours: bool,
}

impl WeighedFinding {
    /// What asks for most, then the longest, then the detector's.
    fn rank(&self) -> (Weight, usize, bool) {
        (self.weight, self.finding.span.len(), self.ours)
    }
}

/// What the detector found, with what analyzers reported: in order, sharing no byte. Where findings overlap, all that they
/// cover together is one, as what asks for most; what would only be reported yields to what overlaps it and asks for
/// more, and stretches nothing.
pub(super) fn merged(
    ours: Vec<Finding>,
    reported: Vec<Finding>,
    weight: &dyn Fn(RuleId) -> Weight,
) -> Vec<Finding> {
    let weighed =
        |ours: bool| move |finding: Finding| WeighedFinding { finding, weight: weight(finding.rule), ours };
    let all = ours.into_iter().map(weighed(true)).chain(reported.into_iter().map(weighed(false)));
    let (going, staying): (Vec<WeighedFinding>, Vec<WeighedFinding>) =
        all.partition(|one| one.weight > Weight::Stays);
    let (mut going, mut staying) = (joined(going), joined(staying));
    let mut before = 0;
    staying.retain(|one| {
        let passed = |other: &&WeighedFinding| other.finding.span.end <= one.finding.span.start;
        before += going.get(before..).unwrap_or_default().iter().take_while(passed).count();
        !going.get(before).is_some_and(|other| other.finding.span.overlaps(one.finding.span))
    });
    going.append(&mut staying);
    going.sort_unstable_by_key(|one| one.finding.span.start);
    going.into_iter().map(|one| one.finding).collect()
}

/// In order; of those that overlap, one that covers them all.
fn joined(mut all: Vec<WeighedFinding>) -> Vec<WeighedFinding> {
    all.sort_by_key(|one| (one.finding.span.start, Reverse(one.finding.span.end)));
    let mut joined: Vec<WeighedFinding> = Vec::with_capacity(all.len());
    // The end of the last one's own span decides nothing; which of its parts it is named after does.
    let mut best: Option<WeighedFinding> = None;
    for one in all {
        match (joined.last_mut(), &mut best) {
            (Some(last), Some(best)) if one.finding.span.start < last.finding.span.end => {
                if one.rank() > best.rank() {
                    *best = one;
                }
                let end = last.finding.span.end.max(one.finding.span.end);
                let span = Span::new(last.finding.span.start, end);
                *last = WeighedFinding { finding: Finding { span, ..best.finding }, ..*best };
            }
            _ => {
                best = Some(one);
                joined.push(one);
            }
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Score;

    fn finding(rule: u16, start: usize, end: usize) -> Finding {
        let (rule, span) = (RuleId::new(rule), Span::new(start, end));
        Finding { rule, span, score: Score::new(0.5), near: None }
    }

    /// Rules 0 to 9 are reported only, 20 and more are blocked.
    fn weight(rule: RuleId) -> Weight {
        match rule.index() {
            0..10 => Weight::Stays,
            20.. => Weight::Blocks,
            _ => Weight::Goes,
        }
    }

    fn all(ours: &[(u16, usize, usize)], theirs: &[(u16, usize, usize)]) -> Vec<(usize, usize, usize)> {
        let of = |some: &[(u16, usize, usize)]| {
            some.iter().map(|&(rule, start, end)| finding(rule, start, end)).collect()
        };
        let merged = merged(of(ours), of(theirs), &weight);
        assert!(merged.windows(2).all(|two| two[0].span.end <= two[1].span.start));
        merged.iter().map(|one| (one.rule.index(), one.span.start, one.span.end)).collect()
    }

    #[test]
    fn what_overlaps_goes_together() {
        type Case<'c> = (&'c [(u16, usize, usize)], &'c [(u16, usize, usize)], &'c [(usize, usize, usize)]);
        let cases: &[Case<'_>] = &[
            (&[], &[], &[]),
            (&[(10, 0, 5)], &[(11, 5, 9)], &[(10, 0, 5), (11, 5, 9)]),
            // A longer one names what both cover; of two as long, ours does.
            (&[(10, 0, 5)], &[(11, 3, 9)], &[(11, 0, 9)]),
            (&[(10, 3, 9)], &[(11, 3, 9)], &[(10, 3, 9)]),
            (&[(10, 4, 6)], &[(11, 0, 9)], &[(11, 0, 9)]),
            // A chain, and findings of one analyzer that overlap each other.
            (&[(10, 4, 6)], &[(11, 0, 5), (12, 5, 20)], &[(12, 0, 20)]),
            (&[], &[(11, 0, 5), (12, 0, 5), (13, 2, 4)], &[(11, 0, 5)]),
            // What is only reported does not save what goes, and is not drawn into it.
            (&[(10, 4, 6)], &[(1, 0, 20)], &[(10, 4, 6)]),
            (&[(1, 0, 20)], &[(11, 4, 6)], &[(11, 4, 6)]),
            (&[(1, 0, 4)], &[(2, 2, 9)], &[(2, 0, 9)]),
            (&[(1, 0, 4), (10, 8, 9)], &[(2, 5, 7)], &[(1, 0, 4), (2, 5, 7), (10, 8, 9)]),
            // What blocks blocks, however short.
            (&[(20, 4, 6)], &[(11, 0, 9)], &[(20, 0, 9)]),
            (&[(10, 0, 9)], &[(21, 4, 6)], &[(21, 0, 9)]),
        ];
        for (ours, theirs, want) in cases {
            assert_eq!(all(ours, theirs), *want, "{ours:?} {theirs:?}");
        }
    }

    #[test]
    fn nobody_is_asked_about_words_of_apis() {
        assert!(WORDS.is_sorted());
        let asked = |text: &str| Texts::of(text).into_texts().len();
        assert_eq!([asked("role"), asked("user"), asked("!?"), asked("")], [0; 4]);
        assert_eq!([asked("Role"), asked("maria"), asked("é"), asked("7")], [1; 4]);
    }

    #[test]
    fn a_span_of_another_text_does_not_count() {
        let mut reported = AnalyzerFindings::default();
        let all = [(0, 2), (1, 3), (2, 4), (3, 3), (4, 3), (2, 9), (usize::MAX - 1, usize::MAX)];
        reported.add(&Arc::from("aéb"), all.map(|(start, end)| finding(10, start, end)));
        let spans: Vec<_> = reported.of("aéb").iter().map(|one| (one.span.start, one.span.end)).collect();
        assert_eq!(spans, [(1, 3)]);
        assert!(reported.of("other").is_empty());
    }
}
