//! What rules take for values and do not report, and why: to explain a decision.

use std::collections::HashSet;

use super::detector::{Cache, Detector};
use super::finding::{Finding, RuleId, Score, Span};

/// The most that is reported of one text.
const MOST: usize = 200;

/// Why something that a rule takes for a value is not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A word nearby contradicts it; without that word it would count.
    NegativeContext,
    /// Its score is below the rule's threshold.
    Threshold,
}

/// Something that a rule takes for a value and that is not reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rejected {
    /// What it would be; its score is below the rule's threshold.
    pub finding: Finding,
    /// Why it is not.
    pub why: Rejection,
}

impl Detector {
    /// What the rules that are on take for values in `text` and do not report because of their scores, in order of their
    /// starts, at most 200 of them, the best. `found` is what they report: what only lacks score and lies in one of these is left out,
    /// since that text is reported already. Of a rule's own that overlap the best is reported. It takes some times as long as to
    /// look for findings.
    pub fn rejected(&self, cache: &mut Cache, text: &str, found: &[Finding]) -> Vec<Rejected> {
        let place = |one: &Finding| (one.rule, one.span);
        let counted: HashSet<(RuleId, Span)> = self.candidates_with(cache, text).iter().map(place).collect();
        let mut low = self.at_least(Score::ANY).candidates_with(cache, text);
        low.retain(|one| {
            one.score.value() < self.rule(one.rule).threshold() && !counted.contains(&place(one))
        });
        low.sort_by(|a, b| {
            let order = b.score.value().total_cmp(&a.score.value());
            order.then(b.span.len().cmp(&a.span.len())).then(a.span.start.cmp(&b.span.start))
        });
        // Findings are in order and share no byte.
        let in_found = |span: Span| {
            let first = found.partition_point(|one| one.span.end <= span.start);
            found.get(first).is_some_and(|one| one.span.overlaps(span))
        };
        let mut reported: Vec<Rejected> = Vec::new();
        for finding in low {
            if reported.len() >= MOST {
                break;
            }
            let why = self.why(&finding);
            let known = why == Rejection::Threshold && in_found(finding.span);
            let better = reported
                .iter()
                .any(|one| one.finding.rule == finding.rule && one.finding.span.overlaps(finding.span));
            if !known && !better {
                reported.push(Rejected { finding, why });
            }
        }
        reported.sort_by_key(|one| (one.finding.span.start, one.finding.span.end, one.finding.rule));
        reported
    }

    fn why(&self, finding: &Finding) -> Rejection {
        let against = finding.near.map_or(0.0, |near| near.augment.min(0.0));
        let without = finding.score.value() - against;
        match against < 0.0 && without >= self.rule(finding.rule).threshold() {
            true => Rejection::NegativeContext,
            false => Rejection::Threshold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Catalogue, RuleSelection};

    const RULES: &str = r#"
[[rule]]
name = "STAFF_ID"
patterns = [{ regex = "HP-[0-9]{6}", score = 0.6 }]
threshold = 0.5
against = 0.4
context = { en = { negative = ["invoice"] } }

[[rule]]
name = "WEAK_ID"
patterns = [{ regex = "WK-[0-9]{3,6}", score = 0.3 }]
threshold = 0.5
augment = 0.3
context = { en = { before = ["badge"] } }
"#;

    fn results(text: &str) -> (Vec<String>, Vec<(String, String, Rejection)>) {
        let mut catalogue = Catalogue::empty();
        catalogue.extend(RULES, "test").unwrap();
        let detector = Detector::new(&catalogue, &RuleSelection::all(&catalogue)).unwrap();
        let mut cache = detector.cache();
        let found = detector.find_with(&mut cache, text);
        let rejected = detector.rejected(&mut cache, text, &found);
        let part = |span: Span| text.get(span.start..span.end).unwrap().to_owned();
        let named = |one: &Rejected| {
            (detector.rule(one.finding.rule).name().to_owned(), part(one.finding.span), one.why)
        };
        (found.iter().map(|one| part(one.span)).collect(), rejected.iter().map(named).collect())
    }

    #[test]
    fn what_does_not_count_says_why() {
        let one = |name: &str, text: &str, why| vec![(name.to_owned(), text.to_owned(), why)];
        let rows = [
            ("HP-123456", vec!["HP-123456"], Vec::new()),
            ("invoice HP-123456", vec![], one("STAFF_ID", "HP-123456", Rejection::NegativeContext)),
            ("see WK-1234", vec![], one("WEAK_ID", "WK-1234", Rejection::Threshold)),
            ("badge WK-1234", vec!["WK-1234"], Vec::new()),
            ("nothing here", vec![], Vec::new()),
        ];
        for (text, found, rejected) in rows {
            let (all, not) = results(text);
            assert_eq!((all, not), (found.into_iter().map(str::to_owned).collect(), rejected), "{text}");
        }
    }

    #[test]
    fn what_is_told_is_bounded() {
        let (_, rejected) = results(&"WK-1234 ".repeat(2 * MOST));
        assert_eq!(rejected.len(), MOST);
    }
}
