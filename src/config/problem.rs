//! What is wrong with a configuration, all of it at once, each with its place.
//!
//! A message may name keys, upstreams, routes, variables and rules. It never quotes a value: that may be a secret.

use std::fmt;

/// There is no such file.
pub(crate) const MISSING: &str = "there is no such file";

/// One thing to put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file as it was named, or the command line's option.
    pub file: String,
    /// From 1; 0 if there is no place to point at.
    pub line: usize,
    /// In characters, from 1; 0 if there is no place to point at.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// All problems of one configuration, in the order of the file; at least one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// One by one.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }

    /// Whether all that is wrong is that the file is not there.
    pub fn is_missing_file(&self) -> bool {
        matches!(self.0.as_slice(), [one] if one.line == 0 && one.message == MISSING)
    }

    /// A problem with a file or an option as a whole.
    pub(crate) fn whole(file: &str, message: impl Into<String>) -> Self {
        Self(vec![Problem { file: file.to_owned(), line: 0, column: 0, message: message.into(), hint: None }])
    }

    /// `None` if there are none.
    pub(crate) fn new(mut problems: Vec<Problem>) -> Option<Self> {
        problems.sort_by(|a, b| (a.line, a.column, &a.message).cmp(&(b.line, b.column, &b.message)));
        problems.dedup();
        (!problems.is_empty()).then_some(Self(problems))
    }
}

/// One a line.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}
