//! Redaction of text as it passes: an [`Editor`] that gives every finding its rule's method. One way.

use std::sync::Arc;

use crate::detect::{Finding, RuleId, Scanner, as_read};
use crate::redact::encoded::Whole;
use crate::redact::encrypt::Surrogates;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::method::Method;
use crate::redact::names::Labels;
use crate::redact::opaque::{Look, Named};
use crate::redact::redactor::Redactor;
use crate::redact::report::Counts;
use crate::redact::surrogate_log::SurrogateLog;
use crate::redact::undo::Spelling;
use crate::redact::values::plain;
use crate::stream::json::Path;
use crate::stream::{Edit, Editor, StreamError};

/// Finds as text comes and edits what was found, each finding by its rule's method.
pub struct Live {
    redactor: Redactor,
    scanner: Scanner,
    labels: Labels,
    surrogates: Surrogates,
    counts: Arc<Counts>,
    found: Vec<Finding>,
    /// Text that the scanner has not decided, from this offset on.
    text: String,
    from: usize,
    /// Where surrogates are kept, if the way back is wanted.
    record: Option<SurrogateLog>,
    /// The rule and end of the last edit: a long key comes in pieces that adjoin.
    last: Option<(RuleId, usize)>,
}

impl Redactor {
    /// Redacts text as it passes, one way: what is encrypted here can't be restored. `counts` takes what was
    /// replaced and how much was looked through.
    pub fn live(&self, keys: &Keys, counts: Arc<Counts>) -> Live {
        Live::new(self.clone(), keys, counts)
    }
}

impl Live {
    pub(super) fn new(redactor: Redactor, keys: &Keys, counts: Arc<Counts>) -> Self {
        let scanner = redactor.detector.scanner();
        let surrogates = Surrogates::new(keys);
        Self {
            redactor,
            scanner,
            labels: Labels::default(),
            surrogates,
            counts,
            found: Vec::new(),
            text: String::new(),
            from: 0,
            record: None,
            last: None,
        }
    }

    /// Keeps what is issued in `surrogate_log`.
    #[must_use]
    pub fn recording(self, record: SurrogateLog) -> Self {
        Self { record: Some(record), ..self }
    }

    fn begin(&mut self) {
        self.text.clear();
        self.from = 0;
        self.last = None;
    }

    fn edit(&mut self, edits: &mut Vec<Edit>) -> Result<(), RedactError> {
        let Redactor { detector, plan } = &self.redactor;
        for Finding { rule, span, .. } in self.found.drain(..) {
            let method = plan.method(rule);
            if *method == Method::DetectOnly {
                continue;
            }
            let at = span.start.saturating_sub(self.from)..span.end.saturating_sub(self.from);
            let Some(value) = self.text.get(at) else { continue };
            let adjoins = self.last == Some((rule, span.start));
            let read = as_read(value);
            let with = match plain(method, detector.rule(rule), &read, &self.surrogates)? {
                Some(_) if adjoins && matches!(method, Method::Replace | Method::Text(_)) => String::new(),
                Some(with) => with,
                None => {
                    let spelling = Spelling::of(detector.rule(rule).format());
                    let refuse = |surrogate: &str| {
                        self.record.as_ref().is_some_and(|record| record.refuses(surrogate, value, spelling))
                    };
                    let with = self.surrogates.issue(rule, detector.rule(rule), &read, &mut { refuse })?;
                    if let Some(record) = &self.record {
                        record.keep(&with, value, spelling)?;
                    }
                    with
                }
            };
            if !adjoins {
                self.counts.record(rule, 1);
            }
            edits.push(Edit { range: span.start..span.end, with });
            self.last = Some((rule, span.end));
        }
        Ok(())
    }
}

impl Editor for Live {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.scanner.begin(path.and_then(|path| self.labels.of(path)));
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.counts.scan(piece.len());
        self.text.push_str(piece);
        let decided = self.scanner.feed(piece, &mut |finding| self.found.push(finding));
        self.edit(edits)?;
        self.text.drain(..decided.saturating_sub(self.from).min(self.text.len()));
        self.from = decided;
        Ok(decided)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.scanner.end(&mut |finding| self.found.push(finding));
        self.edit(edits)?;
        self.begin();
        Ok(())
    }
}

impl Whole for Live {
    fn whole(&mut self, text: &str, look: Look, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.counts.scan(text.len());
        self.text.push_str(text);
        self.scanner.feed(text, &mut |finding| self.found.push(finding));
        self.scanner.end(&mut |finding| self.found.push(finding));
        self.found.retain(|Finding { span, .. }| look.admits(&(span.start..span.end), text.len()));
        self.edit(edits)?;
        self.begin();
        Ok(())
    }

    fn named(&mut self, path: &Path<'_>) -> Named {
        self.labels.named(path)
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Live({} bytes undecided)", self.text.len())
    }
}
