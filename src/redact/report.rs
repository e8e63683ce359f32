//! What was done: [`Report`], the text it was done to ([`Redacted`]), and the process-wide [`RedactionCounts`].
//! Their `Debug` shows numbers only; offsets and rule names are for the caller's own answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zeroize::Zeroizing;

use crate::detect::offset::CodePointCursor;
use crate::detect::{ContextWord, Finding, Rejection, RuleId, Score, Span};
use crate::redact::file::FileClass;
use crate::stream::json::Path;

/// One finding as a report tells it.
#[derive(Clone)]
pub struct ReportedFinding {
    /// The rule.
    pub rule: RuleId,
    /// Its name.
    pub name: Arc<str>,
    /// How sure the detector is.
    pub score: Score,
    /// Bytes in the text as it was; in a document, in the decoded text of the string it lies in.
    pub span: Span,
    /// Whether it was replaced (a rule may only detect).
    pub redacted: bool,
    /// The word nearby that changed the score most.
    pub near: Option<ContextWord>,
    /// In a document whose findings are told in detail: where, and what. Spans are counted in code points there.
    pub placed: Option<Box<PlacedFinding>>,
}

/// Something that a rule takes for a value, and that does not count.
#[derive(Clone)]
pub struct Rejected {
    /// What it would be.
    pub found: ReportedFinding,
    /// Why it is not.
    pub why: Rejection,
}

/// A finding's place in a document, and its text, which is not at hand later.
#[derive(Clone)]
pub struct PlacedFinding {
    /// Keys and indexes from the root, with dots between them.
    pub key: Arc<str>,
    /// What was found.
    pub text: Zeroizing<String>,
    /// The word nearby.
    pub word: Option<Zeroizing<String>>,
}

/// A file in a string that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadFile {
    /// What it is.
    pub class: FileClass,
    /// Where the string is: a JSON pointer.
    pub at: String,
}

/// What was found and replaced.
#[derive(Clone, Default)]
pub struct Report {
    found: Vec<ReportedFinding>,
    rejected: Vec<Rejected>,
    replaced: BTreeMap<RuleId, usize>,
    left: BTreeMap<RuleId, usize>,
    names: BTreeMap<RuleId, Arc<str>>,
    unscanned: usize,
    files: Vec<UnreadFile>,
    scanned: usize,
}

impl Report {
    /// The findings in the order of the text.
    pub fn findings(&self) -> &[ReportedFinding] {
        &self.found
    }

    /// What does not count, in the order of the document, where that was asked for.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// Replacements by rule; in a document also of values that were found elsewhere in it.
    pub fn by_rule(&self) -> impl Iterator<Item = (RuleId, &str, usize)> {
        self.replaced.iter().map(|(rule, count)| (*rule, self.name(*rule), *count))
    }

    /// Findings that were left as they are, by rule.
    pub fn left(&self) -> impl Iterator<Item = (RuleId, &str, usize)> {
        self.left.iter().map(|(rule, count)| (*rule, self.name(*rule), *count))
    }

    /// Replacements in all.
    pub fn count(&self) -> usize {
        self.replaced.values().sum()
    }

    /// Strings that were not looked into because they are no text (`data:` URLs).
    pub fn unscanned(&self) -> usize {
        self.unscanned
    }

    /// Files in strings that were not read; of many, the first of each class.
    pub fn files(&self) -> &[UnreadFile] {
        &self.files
    }

    /// Bytes of text looked through.
    pub fn scanned(&self) -> usize {
        self.scanned
    }

    fn name(&self, rule: RuleId) -> &str {
        self.names.get(&rule).map_or("", |name| name)
    }

    /// A finding; with `text` in detail.
    pub(super) fn find(
        &mut self,
        finding: &Finding,
        name: &str,
        redacted: bool,
        text: Option<&mut InText<'_>>,
    ) {
        let name = Arc::clone(self.names.entry(finding.rule).or_insert_with(|| name.into()));
        let Finding { rule, span, score, near } = *finding;
        if !redacted {
            *self.left.entry(rule).or_default() += 1;
        }
        let mut found = ReportedFinding { rule, name, score, span, redacted, near, placed: None };
        if let Some(text) = text {
            text.place(&mut found);
        }
        self.found.push(found);
    }

    /// What does not count in a text.
    pub(super) fn reject(&mut self, mut rejected: Rejected, text: &mut InText<'_>) {
        text.place(&mut rejected.found);
        self.rejected.push(rejected);
    }

    /// A replacement of what the rule of this name found; returns the name, to be shared.
    pub(super) fn replace(&mut self, rule: RuleId, name: &str) -> Arc<str> {
        *self.replaced.entry(rule).or_default() += 1;
        Arc::clone(self.names.entry(rule).or_insert_with(|| name.into()))
    }

    pub(super) fn skip(&mut self, strings: usize) {
        self.unscanned += strings;
    }

    /// A file that is not read.
    pub(super) fn file(&mut self, class: FileClass, at: Option<&Path<'_>>) {
        if self.files.iter().all(|known| known.class != class) {
            self.files.push(UnreadFile { class, at: at.map(ToString::to_string).unwrap_or_default() });
        }
    }

    pub(super) fn scan(&mut self, bytes: usize) {
        self.scanned += bytes;
    }
}

/// A text of a document whose findings are told in detail.
pub(super) struct InText<'t> {
    /// Where in the document it stands.
    pub(super) key: Arc<str>,
    pub(super) text: &'t str,
    pub(super) points: CodePointCursor<'t>,
}

impl InText<'_> {
    /// Says where in the document a finding is, and what it is.
    fn place(&mut self, found: &mut ReportedFinding) {
        let part =
            |span: Span| Zeroizing::new(self.text.get(span.start..span.end).unwrap_or_default().to_owned());
        let (key, word) = (Arc::clone(&self.key), found.near.map(|near| part(near.span)));
        found.placed = Some(Box::new(PlacedFinding { key, text: part(found.span), word }));
        found.span = self.points.of(found.span);
        found.near = found.near.map(|near| ContextWord { span: self.points.of(near.span), ..near });
    }
}

impl std::fmt::Debug for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Report")
            .field("found", &self.found.len())
            .field("replaced", &self.count())
            .field("unscanned", &self.unscanned)
            .finish()
    }
}

/// Clean text or bytes, and what was done to make them so. Only this part makes one.
pub struct Redacted<T> {
    value: T,
    report: Report,
}

impl<T> Redacted<T> {
    pub(super) fn new(value: T, report: Report) -> Self {
        Self { value, report }
    }

    /// What is clean now.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// What was done.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The clean value, without the report.
    pub fn into_value(self) -> T {
        self.value
    }
}

impl<T> std::fmt::Debug for Redacted<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redacted").field("report", &self.report).finish_non_exhaustive()
    }
}

/// Counts that outlive requests, shared with the metrics.
#[derive(Debug)]
pub struct RedactionCounts {
    rules: Vec<AtomicU64>,
    /// A bit for each rule that was ever counted: there are a thousand, and a body has values of a few.
    counted: Vec<AtomicU64>,
    scanned: AtomicU64,
}

impl RedactionCounts {
    /// Zeros for a detector of `rules` rules.
    pub fn new(rules: usize) -> Self {
        let zeros = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self { rules: zeros(rules), counted: zeros(rules.div_ceil(64)), scanned: AtomicU64::new(0) }
    }

    /// Adds `n` replacements by a rule. A rule that the counts were not made for is not counted.
    pub fn record(&self, rule: RuleId, n: u64) {
        if let Some(count) = self.rules.get(rule.index()) {
            count.fetch_add(n, Ordering::Relaxed);
            // Whoever sees the bit sees the count.
            if let Some(word) = self.counted.get(rule.index() / 64) {
                word.fetch_or(1 << (rule.index() % 64), Ordering::Release);
            }
        }
    }

    /// Adds bytes of text looked through.
    pub fn scan(&self, bytes: usize) {
        self.scanned.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Adds all that a report counts.
    pub fn report(&self, report: &Report) {
        for (rule, _, count) in report.by_rule().chain(report.left()) {
            self.record(rule, count as u64);
        }
        self.scan(report.scanned());
    }

    /// What `read` says of each rule that was counted, rules of which it says zero left out.
    fn each(&self, read: impl Fn(&AtomicU64) -> u64) -> Vec<(RuleId, u64)> {
        let words = self.counted.iter().map(|word| word.load(Ordering::Acquire)).zip((0..).step_by(64));
        let rules = words.filter(|(word, _)| *word > 0).flat_map(|(word, first)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| first + bit)
        });
        let counts =
            rules.filter_map(|rule: u16| Some((RuleId::new(rule), read(self.rules.get(usize::from(rule))?))));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    /// Replacements by rule since the last call, rules without any left out: for whoever adds them up elsewhere.
    pub fn drain(&self) -> Vec<(RuleId, u64)> {
        self.each(|count| count.swap(0, Ordering::Relaxed))
    }

    /// Replacements by rule so far, rules without any left out.
    pub fn by_rule(&self) -> Vec<(RuleId, u64)> {
        self.each(|count| count.load(Ordering::Relaxed))
    }

    /// Bytes looked through so far.
    pub fn scanned(&self) -> u64 {
        self.scanned.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_counted_until_they_are_drained() {
        let counts = RedactionCounts::new(130);
        for (rule, n) in [(129, 4), (0, 1), (64, 3), (63, 2), (130, 9), (129, 1)] {
            counts.record(RuleId::new(rule), n);
        }
        let all = [(0, 1), (63, 2), (64, 3), (129, 5)].map(|(rule, n)| (RuleId::new(rule), n));
        assert_eq!(counts.by_rule(), all);
        assert_eq!(counts.drain(), all);
        assert!(counts.by_rule().is_empty() && counts.drain().is_empty());
        counts.record(RuleId::new(64), 7);
        assert_eq!(counts.drain(), [(RuleId::new(64), 7)]);
    }

    #[test]
    fn counts_add_up_and_ignore_strangers() {
        let counts = RedactionCounts::new(3);
        counts.record(RuleId::new(1), 2);
        counts.record(RuleId::new(1), 1);
        counts.record(RuleId::new(9), 5);
        counts.scan(10);
        assert_eq!(counts.by_rule(), [(RuleId::new(1), 3)]);
        assert_eq!(counts.scanned(), 10);
    }

    #[test]
    fn debug_shows_numbers_only() {
        let mut report = Report::default();
        report.replace(RuleId::new(0), "EMAIL_ADDRESS");
        let shown = format!("{:?}", Redacted::new("jane@example.com", report));
        assert_eq!(shown, "Redacted { report: Report { found: 0, replaced: 1, unscanned: 0 }, .. }");
    }
}
