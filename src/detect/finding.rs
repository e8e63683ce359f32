//! What detection answers with: where, which rule, how sure, and which word nearby helped.
//!
//! All offsets are bytes of the text that was scanned, counted from its beginning and on character boundaries;
//! [`offset`](super::offset) turns them into code points for reports.

/// A rule's place in its catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(u16);

impl RuleId {
    pub(crate) const fn new(index: u16) -> Self {
        Self(index)
    }

    /// The place as an index, `0..Detector::rule_count()`.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From `start` up to but not including `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Bytes in the span.
    #[expect(clippy::len_without_is_empty, reason = "a finding is never empty")]
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether the two share a byte.
    pub const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The same, where the text begins `by` bytes earlier. What wraps leads back with as much the other way.
    pub(crate) const fn moved(self, by: usize) -> Self {
        Self { start: self.start.wrapping_add(by), end: self.end.wrapping_add(by) }
    }
}

/// How sure a finding is, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score(f32);

impl Score {
    /// Below every score: what a rule takes for a value counts, whatever contradicts it.
    pub(crate) const ANY: Self = Self(f32::NEG_INFINITY);

    /// `value` moved into 0..=1; what is not a number is 0.
    pub const fn new(value: f32) -> Self {
        Self(if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) })
    }

    /// The score as a number from 0 to 1.
    pub const fn value(self) -> f32 {
        self.0
    }
}

/// The word near a value that changed its score the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextWord {
    /// The word.
    pub span: Span,
    /// What it added to the score; negative where it spoke against.
    pub augment: f32,
}

/// One value found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: RuleId,
    /// Where it is.
    pub span: Span,
    /// How sure the rule is, at least its threshold.
    pub score: Score,
    /// The word that helped, if the rule has context words and one was near.
    pub near: Option<ContextWord>,
}

impl Finding {
    /// The same, where the text begins `by` bytes earlier.
    pub(crate) fn moved(self, by: usize) -> Self {
        let near = self.near.map(|near| ContextWord { span: near.span.moved(by), ..near });
        Self { span: self.span.moved(by), near, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::{Score, Span};

    #[test]
    fn scores_stay_in_range() {
        let cases = [(-1.0, 0.0), (0.5, 0.5), (7.0, 1.0), (f32::NAN, 0.0)];
        for (given, kept) in cases {
            assert_eq!(Score::new(given).value(), kept);
        }
    }

    #[test]
    fn touching_spans_do_not_overlap() {
        assert!(!Span::new(0, 3).overlaps(Span::new(3, 5)));
        assert!(Span::new(0, 4).overlaps(Span::new(3, 5)));
    }
}
