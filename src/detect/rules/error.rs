//! Why rules do not load.

/// Why a rule does not load. Holds places and kinds, never text of the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: rule {number}: {fault}")]
pub struct RuleError {
    /// The file or object the rule stands in, as the caller named it.
    pub origin: String,
    /// Which rule of it, counted from 1; 0 where the whole is at fault.
    pub number: usize,
    /// What is wrong.
    pub fault: RuleFault,
}

impl RuleError {
    /// The error with the line of the rule at fault, as compilers write it; `text` is the rule file.
    pub fn placed(&self, text: &str) -> String {
        if let RuleFault::Syntax { line, column } = self.fault {
            return format!(
                "{}:{line}:{column}: not a rule file from here on: not TOML, or a field unknown or of the wrong kind",
                self.origin
            );
        }
        let begins = |(_, line): &(usize, &str)| {
            let line: String = line.chars().filter(|c| !c.is_whitespace()).collect();
            line.starts_with("[[rule]]")
        };
        let number = self.number.checked_sub(1);
        let line = number.and_then(|number| text.lines().enumerate().filter(begins).nth(number));
        match line {
            Some((line, _)) => format!("{}:{}: {}", self.origin, line + 1, self.fault),
            None => self.to_string(),
        }
    }

    /// A fault of many rules together, or of a selection of them.
    pub(crate) const fn together(fault: RuleFault) -> Self {
        Self { origin: String::new(), number: 0, fault }
    }
}

/// What is wrong with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFault {
    /// A field of a rule that has defaults is not known or not of its kind.
    #[error("a field is missing, unknown or not of its kind")]
    Fields,
    /// Not TOML, or not a rule's fields.
    #[error("not a rule file at line {line}, column {column}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
    },
    /// No rule can have this name ([`is_name`](super::is_name)).
    #[error("the name must be 2 to 64 letters, digits, _, - and /, a letter first, such as COUNTRY_THING")]
    Name,
    /// Another rule has this name.
    #[error("another rule has the same name")]
    Duplicate,
    /// A score, a threshold or what words add or take off is not between 0 and 1.
    #[error("score, threshold, augment and against must lie between 0 and 1")]
    Number,
    /// The anchor needs patterns or prefixes that are not there, or a prefix is shorter than three bytes.
    #[error("the anchor needs patterns, and prefixes of at least 3 ASCII bytes where it is `prefix`")]
    Anchor,
    /// A pattern is not a regular expression.
    #[error("pattern {0} is not a regular expression that can be used here")]
    Pattern(usize),
    /// A pattern matches the empty text.
    #[error("pattern {0} matches the empty text")]
    Empty(usize),
    /// A pattern takes too long, to compile or to look for.
    #[error("pattern {0} would cost too much: bound its repetitions, and do not nest them")]
    Costly(usize),
    /// A pattern found by its digits has no upper length, or one over the limit.
    #[error("pattern {0} needs an upper length of at most 64 bytes")]
    Unbounded(usize),
    /// The patterns together are too large.
    #[error("the patterns need more memory than is allowed")]
    TooLarge,
    /// The selection names a rule that is not in the catalogue it was given with.
    #[error("the selection was made from another catalogue")]
    Selection,
    /// More rules than a catalogue can hold.
    #[error("a catalogue holds at most 65535 rules")]
    TooMany,
    /// A literal is empty, or begins or ends with white space.
    #[error("a literal is empty, or begins or ends with white space")]
    Literal,
    /// There is no validator of that name.
    #[error("there is no check of that name")]
    Check,
    /// An example that must match does not, or not as marked.
    #[error("example {0} of `matches` is not found as it is written")]
    Match(usize),
    /// An example that must not match does.
    #[error("example {0} of `misses` is found")]
    Miss(usize),
}

/// A name that no rule has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("name {n} of the list is not a rule", n = .index + 1)]
pub struct UnknownRule {
    /// Which of the names given, counted from 0.
    pub index: usize,
}
